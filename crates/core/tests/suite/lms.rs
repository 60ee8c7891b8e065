//! LMS and HSS: published answers, and what verification refuses.
//!
//! `SIGNATURES` is of the vectors of post-quantum-cryptography/KAT (f238e34, MIT), one of each type of one-time signature.

use gambeson::lms::hazmat::{one_time_signature, sign_with_randomizer};
use gambeson::lms::{
    HssSigningKey, HssVerifyingKey, InvalidSignature, LmotsType, LmsType, SigningKey, SigningKeyError,
    StreamError, VerifyingKey, VerifyingKeyError,
};
use gambeson::stateful::hazmat::MemoryStore;
use gambeson::stateful::{ForeignIndex, Reserve, ReserveError, Signer, StoreId, TreeOptions};
use sha2::{Digest, Sha256};

use crate::streamed::{EndsAt, Flash};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..][..2], 16).expect("hexadecimal")).collect()
}

/// Type of the tree and of the one-time signature, I, SEED, q, message, verifying key, and the SHA-256 of the signature.
type Signed = (LmsType, LmotsType, &'static str, &'static str, u32, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const SIGNATURES: &[Signed] = &[
    (LmsType::SHA256_M24_H5, LmotsType::SHA256_N24_W1, "e70eccc064aa1f88fb88cd0adea11ef4", "6667e3a4c024886c4e625670fa1fd991b8f6cffde47cd546", 15, "ba78d971ad97d1e665e1f416434aa5bd4f295b22a5d4c0a56ca7979694633c0fd4ed435a717439b0718566a2ef86a77d478ed4a1e3d396fdd34be6e648426bcc84e39cebc8ec4b24cb3ff53cd294f0528de0d90030c1f371d80b47bc9804f066c13836e0d9355d208e0463d6446f091b077feb38a92c05bbc37521250cd9282e", "0000000a00000005e70eccc064aa1f88fb88cd0adea11ef4128f5dd8487c7f645922099453e319a4b9f960534a16bf4a", "d414c9eb8b5f64f5f13e647d0c8a5ed856092a3c6790a813c8a158d843533a0e"),
    (LmsType::SHA256_M24_H5, LmotsType::SHA256_N24_W2, "ee37b23802f4930c5bd46fe86b831f17", "a047fbdd8c5ac6dfbb42ad3c842671611dbaae4bdeadd42d", 11, "fd5fb0bdad189ff4a83dbcfcb4f7ff5a7c2c9593916adef18907f82bc7519faebf4b88cd2121b4018cb8939ff3be1de21916f66dd4723f852dd2de611a2bad3cddafbad1d91870739a6906d0f00bc368691257758d7c5e791d61e592954e6b928983abb62687f4708c84ea32eb5de7136473b085bd37bf8866e158ce88fdf784", "0000000a00000006ee37b23802f4930c5bd46fe86b831f177fc88c198f87675b394eeedf7ac6b1f65e681f4015048240", "fa80d7830f985014266a8b3354d3e13d8ff059d692bf63d87d13c49adf825f22"),
    (LmsType::SHA256_M24_H5, LmotsType::SHA256_N24_W4, "da091c167605e58cbbe5199c132bfa9d", "8390e6d6216d1577eae5ed500fdbfdb9e40f0986f84970a2", 6, "147d51fdec48858f7b185d5957150b7b33e6bda832aab668cb2342cc1b1fc7fa3cb5a1b0da4a4ef7ab0b1692aff9c1d94a9571c8838a3ab52e2b483a3f319a91ab0c5318ef5511a4ae41336d60e594145d81fdb6b172068fce9006ebeffc38de787677430d1e5b474c223b8a1a09463416373778101308235060374a9d5dc7e9", "0000000a00000007da091c167605e58cbbe5199c132bfa9d4576c1cee2127f031e4427e68e61ab8fc53a5a31806a8927", "3b956b1063d58f594f727ab26873d8fb5621313a0f0b250f2fa92d8fd7506685"),
    (LmsType::SHA256_M24_H5, LmotsType::SHA256_N24_W8, "b6283cd8b3ab3c799f8efdab50722351", "c4ad172edef0156e622ef19d34cab2dc23e83e3d2a0bf114", 19, "78ab40c01f9c55312ccbba1c7b3f624e9d582247748717169205591607de849fc9ed0dbc47e55aafca12b99a9c574cbc796275b1a976f6866888a6794b1f43e6665773c7fcdbb01209ccbe6a0d809e387fa4354bc4eaf63cb50a98f8f8637b887dc71a3b8fcb61afae399ba0b3ab9000809eddc7a7c1ad819203935d8a5f4ca5", "0000000a00000008b6283cd8b3ab3c799f8efdab5072235140941a5e57c5467fc5ad2897041ea00c8fdcce00e5ce4341", "29dac10168220e3e698b6fbee36ccdbf174472ef5845565e67be4099c4223390"),
    (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W1, "ddfdeba43db6c5d6a92f90627821224d", "bf9e8d6d3ca6b115413c7824cc6b29a8e5934e2e70659cb7bd773d73e29453c8", 26, "36f6c9cc3489864a26b32d73cd90e6f1391362dd8f54d6ce6393743dbc9613b09163eddbc05b6e84f95e8f96ffdf491a4987149425eaa224d28928a20d80a9b6492c5316aa30784ea888c83179a9578b3681bd654c5ddde57a980c39aa170cc290093f576b7f9c06ed61f203cf1cbddec2d2b91a4239bf8884bf95463765b09a", "0000000500000001ddfdeba43db6c5d6a92f90627821224d72adfd078eb460d73ff132ac75410586ab724402dbb6322a271ada3febb4d835", "eed13c110804cdf9a1205925d8a6f4f97f1bb0f3b98fcf3c6e9544b75bd86e20"),
    (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W2, "c1e050f53c4e1318c3619dc035e85aaf", "8c5273b95b49877eb1d0b3a0ce0ca2b6188e00bbd6571c4e87b0f0c8ff3e8c76", 20, "ccfbeda095f439d50cb27e3c8a3fbccf57d4df0332aebc9440d0a8e27167e79cd1a6b33edb8c1adaa42e9febf17f847d3e1bf5093157298039c92db0cede03ab9e70bc0ebcfaea4cde115b5c2ef65d6d8076c17413850c8db46f38c6d8f9ebff8acee24eed05f3ff90098f3ee4deef728f05a9b9dd8d7a80bea913b0f97a556e", "0000000500000002c1e050f53c4e1318c3619dc035e85aafcd59d3ca64fdbdda9520e1d4e76cdba51c2f4537507749ccb5acd136f461601f", "2349e63fcb307bd746ddab357f9bb308aaaf6b1c9a8c621ef7ec4b2e275c5525"),
    (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W4, "42a7020393f023dacbd9fb4d8502197d", "0c1487a28005c53f08f07baf6164532d8d0da0c9b924358c45bdeef22c9a19c9", 17, "fa8f46d0fe8872009c352b0370f6bb8eacec6245405a2441f09d2e84341ce2546711f0d8d41dae802d04a6d988a93cb758b96ef103b9e9eb681aedad089f04430eb4adacad13481bde65ff2a458c5bde4a3723385ff10914bd9eec1c388de62c2eec65e48887ee7cf2cee30ccea7895437263aeecb332f749835339c8f3ae9c1", "000000050000000342a7020393f023dacbd9fb4d8502197d2d73b6a82723292b5e6c52e720b220e559dedd7eb9c6c0ba72715a45e33a6b86", "47ee373b60a97165e82b05c5dc15330b91a12f557eee28df7d16e552ab68d4c3"),
    (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8, "847d037bdbb6352c2b5b0ada6e834de6", "a273f6cceaa6cac319692472d3dd714b17e6a81951cc1bdc6039d43a28b620e2", 31, "14420f2138623de5deaa4f688e5d695bf5ef72cec1c39aaefa906888c3e72457013f72d8c4fe70ff1ead326a49e8c4062ec12b30bc78fc871ad31fa9615c92101498515263971d211f2e47bd4ab4821939cae456f738f05391d56fe120902e656b7c1ecb02fdd012182369accb8d5c8ab540398fc1fe8c3364544f33a9354589", "0000000500000004847d037bdbb6352c2b5b0ada6e834de6fd73ed1769bd79295d8e23b6974afa4f1cdc16ee69e02c9403bb2ca705ecfb9f", "20a7bb9432d1e0243f91cfe86bf42ca91df68d3ccc90179f612d54f29e7e7843"),
    (LmsType::SHAKE_M24_H5, LmotsType::SHAKE_N24_W1, "5143f2e2c47c9248f3b1e30e50e77ce6", "5f9c7e58ae593e236c347a20855f40b83350de9eddced46b", 13, "a558905516ac3a8287f686138858aacffcb493126b16e916a808ae21702a1e4453488edd61bb949319701509a5b0dc5a31b0ed27f005213435f210ab4053f39d002cc464b3db80e9db84188c4b1e09b8b3ee7564c81f7018ad42b8e2a4701832fd6128ae699048a615b546611dcf76eed4b51c5885f0fe29db2ef5fb81959f22", "000000140000000d5143f2e2c47c9248f3b1e30e50e77ce659ad091a84b607c789460a03965dbca4cd79255a54e4b8f3", "6be85a8355d3a76f762a9c76439c94e03be8111904d9f37b1a7d06233d0dcced"),
    (LmsType::SHAKE_M24_H5, LmotsType::SHAKE_N24_W2, "9212e66ed0f008fa31896ffe8d3c6b8f", "d425fff621f66f37ed3989413d9d1da455de534cb60f87be", 28, "2c5ff8901336b161b10b933b0c5188bd44337cf0be7205695cd1b73ae89e12bd8e477b17ff7c66b3dca4230b2634c2e8cd1aff2f0394e0a877f70c7ae98e05d517b96fce3a55d843637f849e1a7c61684ba0c8ed732a77fe15b66dd7bfc93361423e88879c0d899608735a7a93f65ee4cfcb431cef4713a0410cdcc3ebe1b6bd", "000000140000000e9212e66ed0f008fa31896ffe8d3c6b8f915d2cd4d9f05d1ebcff67fd78613cc84dd52e79cf414a83", "f097bf4014d48c56f751f6794f10235213adb7c3e745f878384049896c0e8696"),
    (LmsType::SHAKE_M24_H5, LmotsType::SHAKE_N24_W4, "fe4c814fb51fd922022e1e8461ca532a", "251b783dafd354148301d197ae7c801b933841b1d73eba65", 7, "5a65d0f92d0c2ee3dd87e82bc0c6e53cf8f44c1fa1cec3a606b3043e2fa95cff629761e4f7dddf793f1eb3fb7177b1ad3c927eb367918ebc4ac7d60c866e0190825aa2717322ce77a8b3b12f8a0e6ddcc08aac313adf590408d406c654872df04d3e09df547137e8c3b992c0969691518d2b93b35e4fcf8c3af6e3ab0a92303b", "000000140000000ffe4c814fb51fd922022e1e8461ca532a213ce005162cbfb9660a0493cdb8e2d1bdf6c65fe6970411", "36c42f8e9ab5a27e77e07f1ce6be27773dc1178697c024f5110e11ff6bae9854"),
    (LmsType::SHAKE_M24_H5, LmotsType::SHAKE_N24_W8, "91389b7bc189d8d0fed9acf6c7ba0e2f", "e1cfb199e724808f2ca59729b87bc00b934613bd891ff31d", 21, "754f3500c57d0e7ccda3d61aa2cf787125454327b1be8d17a43305eafbf7994cb6b73ef5edd4d0f044d61b172c5bac5ae267af49d912c6b34423d4966e5252e9bb03764f295ad9d58f1c3a7872d23a78c9733d4de054502c06674fc7a95f0d7e4e8ee967d475cd1fb58f9e293fcd1b93eb7df57bd0a177a46b4ac4f7798f652d", "000000140000001091389b7bc189d8d0fed9acf6c7ba0e2f042576e88a3adf13f8563568c0b6d8a794b2ec2d629ab28b", "c5f4a585f4f78def864c150f7dd588d51870fa9d4616ba29a746d4e4d3261f7a"),
    (LmsType::SHAKE_M32_H5, LmotsType::SHAKE_N32_W1, "a515c1e49d8bfdcd1bb45b2c970cb9d7", "359fa709f9dcc108662e89949a6204878bd90eddb29ecded7b010565b3d4ef6b", 18, "254e1f04a1a142f3aa1246388f0cf02120828fd1b58ecf3a15f95a3262d50fb4b3152ae372c9e082218c11133abea87cdd64e10e1502d04f3291cd8224647fbc2680f73789ce850290a4d385de02cce27b7f97e1913535aa4db3b2f8cb7127f511f01507a123fb754672434aad1d03e48a98f34c5a91ac3c88985b8543cb74d4", "0000000f00000009a515c1e49d8bfdcd1bb45b2c970cb9d78bc7614a10f08505735326b3b1d43d4de6111613be83a0c17f17c8736ba76596", "3ebd0e45b0c69d13ad54470f7e6e73686989e7b72c365b4047bd743e8a045c2b"),
    (LmsType::SHAKE_M32_H5, LmotsType::SHAKE_N32_W2, "f022dd97245ad44577bef11c63baf964", "83913f20f4e87aabe959f74f7c3b4521ea18738fba9c9da0704539af5928e32b", 18, "527c955998c84418c1de7de5e49516d78061a8e5e06428a122dd097f5480373d5ce2108e8116f7ce82647c14971ca4de26d26ce41dddeb620a16708f97c67d3ef2150189733caaed46c5c2cbc633b7926da046d1be2a535d6c84ca2b033d94442f43474faf117f6ca42b0f703b57e6d54174cd2b0bad813a64b09bf2a94e1855", "0000000f0000000af022dd97245ad44577bef11c63baf964a424fd7305d9bb215149c4569a0eb47347868e4e485fc4424c47f4e131198864", "a5cbed38ad592fe57af10b85ce97b36b17955fae86ae72994e97547a5b5890f4"),
    (LmsType::SHAKE_M32_H5, LmotsType::SHAKE_N32_W4, "c4f310b0bfd72a9d519580bf268336ac", "478291fd97cd464f2b5e410123db682e45710828a4aa6dc0e21c86a01ee8e276", 20, "25f850c7a5445de672fe49d68888ad32f25df008e59f89bb9fbd5aa184569ee32e9932d9183ef4b2eddc5b3d4e6fa939ff894a87b7d94d57d169059af74bc2ce3c974632c1adbc3ce4a7e233f65a25a55751ed4724da7a74cbf487d47bd95ad00f52987315018bedd16f62324e194b583e8173511bd220d40a5c334c9b8dac46", "0000000f0000000bc4f310b0bfd72a9d519580bf268336ac7d7f0b8eb887903db5e3581ebc6982ac6b79ed6c2b06fd39e16691bb05e7e0b4", "63a0e206b5be69ffb64ae8520786f4375f45035581e444522ac5b3ab581763c4"),
    (LmsType::SHAKE_M32_H5, LmotsType::SHAKE_N32_W8, "18983bb202a24e93ba600623b70b0853", "3f7a9f6ad7858ad3ad864a85f1f763eb2fe484b85acebc8434a3f1e67b6e468b", 2, "12f711e0613c15b3fcfcc9e0bd08a3f6c8337bd8e5688f46c366001ba0a0fbc1257de13ed49c6b10a549b816fbab4382bea7f3bed4c2b7f435e57dcc4dbbfdb412c58c008a619ebbf24f9a9c5cc42c40334dd69d550d86b17d6c9f72575d6040e614da27ec77d0944448cc5b743560d458d42aaefbe3c9ecec79785bf6e204be", "0000000f0000000c18983bb202a24e93ba600623b70b0853b6ac18463c0edf74272ad3518c4f7386274d444fcdd40743c59a62e37f8ddc7b", "b5589d8754f7d5ce5701013f4f866a0de5a85875cffde6c1caec85c59505c5e9"),
    (LmsType::SHA256_M24_H10, LmotsType::SHA256_N24_W1, "9c466234dd1e95c413ea74133f40c621", "7d9e50538cdbc0bb6e3a22326d1da27fc47b7ab713b65d95", 942, "9faf859d7322b907d2815de91f7f44c6380f8855421d3f71226c25726eb3c56792906ba54f492927564de74e07317a659a1b69d97967c20a54d5e69d4a1054bad0651b99e5dee1a2e801bc05279446090a7082c26d95ccae2a508331eb122913520fe34d3b84d51dddd76e4615ec5bd806d2b07424a6c9b3b2571ebbfbbf7957", "0000000b000000059c466234dd1e95c413ea74133f40c62101cd42cf374c601c1f357821c66e606e9aeaaa3124d34655", "c7a73cdf039c0c31930c5ad52d90f065cc6e18a870081abbd3c059080ab3ecdc"),
];

#[test]
fn keys_and_signatures_are_the_published_ones_and_verify() {
    assert_eq!(SIGNATURES.len(), 17);
    for (lms, ots, i, seed, q, message, key, digest) in SIGNATURES.iter().copied() {
        let (i, seed): ([u8; 16], _) = (bytes(i).try_into().unwrap(), bytes(seed));
        let private = SigningKey::from_seed(lms, ots, &i, &seed, TreeOptions::new()).unwrap();
        assert_eq!(private.verifying_key().to_bytes(), bytes(key), "{lms} {ots}");
        let message = bytes(message);
        let mut signer = Signer::new(private, MemoryStore::new(q.into()));
        let index = signer.reserve_one().unwrap();
        let signature = signer.sign(index, &message).unwrap();
        let one_time = one_time_signature(lms, ots, (&i, &seed), q, &message).unwrap();
        assert_eq!(signature[4..4 + one_time.len()], one_time);
        assert_eq!(Sha256::digest(&signature).as_slice(), bytes(digest), "{lms} {ots}");
        assert_eq!(Some(signature.len()), lms.signature_len(ots));
        let key = VerifyingKey::from_bytes(&bytes(key)).unwrap();
        assert_eq!((key.lms_type(), key.lmots_type()), (lms, ots));
        assert_eq!(key.verify(&message, &signature), Ok(()), "{lms} {ots}");
        // The leaf, the types, C, a chain and the path.
        let end = signature.len();
        let path = end - key.lms_type().height() as usize * seed.len();
        for place in [3, 7, 8, 8 + seed.len(), path - 1, path, end - 1] {
            let mut wrong = signature.clone();
            wrong[place] ^= 1;
            assert_eq!(key.verify(&message, &wrong), Err(InvalidSignature), "{lms} {ots} {place}");
        }
        for wrong in [&signature[..end - 1], &[&signature[..], &[0]].concat(), &[]] {
            assert_eq!(key.verify(&message, wrong), Err(InvalidSignature));
        }
        assert_eq!(key.verify(b"another message", &signature), Err(InvalidSignature));
    }
}

/// The verifying key, and the signature of a message by a leaf.
fn signed(
    lms: LmsType,
    ots: LmotsType,
    identifier: &[u8; 16],
    seed: &[u8],
    leaf: u32,
    message: &[u8],
) -> (VerifyingKey, Vec<u8>) {
    let private =
        SigningKey::from_seed(lms, ots, identifier, seed, TreeOptions::new()).expect("types that fit");
    let key = *private.verifying_key();
    let mut signer = Signer::new(private, MemoryStore::new(leaf.into()));
    let index = signer.reserve_one().expect("a leaf of the tree");
    (key, signer.sign(index, message).expect("an index of the same store"))
}

/// The result for a signature behind a callback, and the bytes that were read.
fn streamed(key: &VerifyingKey, message: &[u8], bytes: &[u8]) -> (Result<(), StreamError<EndsAt>>, usize) {
    let mut flash = Flash::new(bytes);
    let (first, second) = message.split_at(message.len() / 3);
    let result = key.verify_streamed(&[first, &[], second], |out| flash.next(out));
    (result, flash.read)
}

#[test]
fn a_streamed_signature_is_verified_to_its_last_byte_and_no_further() {
    for (lms, ots, i, seed, q, message, key, _) in SIGNATURES.iter().copied() {
        let (message, seed) = (bytes(message), bytes(seed));
        let signature = signed(lms, ots, &bytes(i).try_into().unwrap(), &seed, q, &message).1;
        let key = VerifyingKey::of_types(lms, ots, &bytes(key)).unwrap();
        let end = signature.len();
        let verified = streamed(&key, &message, &[&signature[..], b"behind it"].concat());
        assert_eq!(verified, (Ok(()), end), "{lms} {ots}");
        assert_eq!(streamed(&key, b"another message", &signature), (Err(StreamError::Invalid), end));
        let path = end - key.lms_type().height() as usize * seed.len();
        for place in [3, 7, 8, 8 + seed.len(), path - 1, path, end - 1] {
            let mut wrong = signature.clone();
            wrong[place] ^= 1;
            assert_eq!(streamed(&key, &message, &wrong).0, Err(StreamError::Invalid), "{lms} {ots} {place}");
        }
    }
}

#[test]
fn a_streamed_signature_that_is_truncated_anywhere_gives_the_error_of_the_callback() {
    let (lms, ots) = (LmsType::SHA256_M24_H5, LmotsType::SHA256_N24_W8);
    let (key, signature) = signed(lms, ots, &[7; 16], &[8; 24], 21, b"message");
    assert_eq!(signature.len(), 780);
    for end in 0..signature.len() {
        let result = streamed(&key, b"message", &signature[..end]).0;
        assert_eq!(result, Err(StreamError::Read(EndsAt(end))));
    }
}

const H5_W8: (LmsType, LmotsType) = (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8);

fn key(seed: &[u8; 32]) -> SigningKey {
    SigningKey::from_seed(H5_W8.0, H5_W8.1, &[0; 16], seed, TreeOptions::new()).expect("types and length fit")
}

#[test]
fn types_and_seeds_that_do_not_fit_are_refused() {
    let (lms, ots) = H5_W8;
    let error = |lms, ots, seed: &[u8]| {
        SigningKey::from_seed(lms, ots, &[0; 16], seed, TreeOptions::new()).map(|_| ()).unwrap_err()
    };
    let (short, shake) = (LmotsType::SHA256_N24_W8, LmotsType::SHAKE_N32_W8);
    assert_eq!(error(lms, short, &[0; 32]), SigningKeyError::Types(lms, short));
    assert_eq!(error(lms, shake, &[0; 32]), SigningKeyError::Types(lms, shake));
    assert_eq!(error(lms, ots, &[0; 24]), SigningKeyError::SeedLength { expected: 32, actual: 24 });
    let levels = |levels: &[(LmsType, LmotsType)]| {
        HssSigningKey::from_seed(levels, &[0; 16], &[0; 32], TreeOptions::new()).map(|_| ()).unwrap_err()
    };
    assert_eq!(levels(&[]), SigningKeyError::LevelCount(0));
    assert_eq!(levels(&[H5_W8; 9]), SigningKeyError::LevelCount(9));
    assert_eq!(levels(&[H5_W8, (lms, shake)]), SigningKeyError::Types(lms, shake));
    assert_eq!(levels(&[H5_W8, (LmsType::SHAKE_M32_H5, shake)]), SigningKeyError::Levels);
}

/// A store that returns the ranges of a list.
struct Listed(Vec<core::ops::Range<u64>>);

impl Reserve for Listed {
    type Error = &'static str;

    fn id(&self) -> StoreId {
        StoreId([7; 16])
    }

    fn reserve(&mut self, _: u64) -> Result<core::ops::Range<u64>, &'static str> {
        if self.0.is_empty() { Err("no space on the device") } else { Ok(self.0.remove(0)) }
    }
}

#[test]
fn ranges_that_a_store_may_not_return_are_refused() {
    let reversed = core::ops::Range { start: 3, end: 2 };
    let mut signer = Signer::new(key(&[1; 32]), Listed(vec![0..2, 1..2, 5..7, reversed, 6..8, 31..33]));
    let invalid =
        |from, to, expected_from| Some(ReserveError::InvalidRange { returned: (from, to), expected_from });
    let indices: Vec<u64> = signer.reserve(2).unwrap().map(|index| index.index()).collect();
    assert_eq!(indices, [0, 1]);
    // An index again, two for one, and an end before the start.
    assert_eq!(signer.reserve(1).err(), invalid(1, 2, 2));
    assert_eq!(signer.reserve(1).err(), invalid(5, 7, 2));
    assert_eq!(signer.reserve(1).err(), invalid(3, 2, 2));
    // Skipped indices are lost.
    let indices: Vec<u64> = signer.reserve(2).unwrap().map(|index| index.index()).collect();
    assert_eq!(indices, [6, 7]);
    assert_eq!(signer.reserve(25).err(), Some(ReserveError::Exhausted { capacity: 32 }));
    assert_eq!(signer.reserve(2).err(), Some(ReserveError::Exhausted { capacity: 32 }));
    let mut empty = Signer::new(key(&[1; 32]), Listed(Vec::new()));
    assert_eq!(empty.reserve(1).err(), Some(ReserveError::Store("no space on the device")));
}

#[test]
fn an_index_of_another_store_does_not_sign() {
    let (mut one, mut other) =
        (Signer::new(key(&[1; 32]), MemoryStore::new(0)), Signer::new(key(&[2; 32]), MemoryStore::new(0)));
    let index = one.reserve_one().unwrap();
    assert_eq!(other.sign(index, b"message"), Err(ForeignIndex));
    let index = other.reserve_one().unwrap();
    assert!(other.sign(index, b"message").is_ok());
}

#[test]
fn a_key_of_three_levels_signs_across_its_trees_with_every_cache() {
    let types = [H5_W8, (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W4), H5_W8];
    for cache_bytes in [0, 1 << 20] {
        let options = TreeOptions::new().cache_bytes(cache_bytes);
        let private = HssSigningKey::from_seed(&types, &[3; 16], &[4; 32], options).unwrap();
        let verifying = *private.verifying_key();
        assert_eq!(HssVerifyingKey::from_bytes(&verifying.to_bytes()), Ok(verifying));
        let mut signer = Signer::new(private, MemoryStore::new(30));
        // The second tree of the last level begins at 32, and that of the middle one at 1,024.
        let mut signatures = Vec::new();
        for count in [1, 1, 1, 991, 1] {
            let index = signer.reserve(count).unwrap().last().unwrap();
            let signature = signer.sign(index, b"message").unwrap();
            assert_eq!(verifying.verify(b"message", &signature), Ok(()), "{count}");
            signatures.push(signature);
        }
        // The signature of the top tree over the middle key is one and the same until the middle tree changes.
        let top = 4..4 + types[0].0.signature_len(types[0].1).unwrap();
        assert_eq!(signatures[0][top.clone()], signatures[3][top.clone()]);
        assert_ne!(signatures[3][top.clone()], signatures[4][top]);
        let rest = 32_768 - 1_025;
        assert_eq!(signer.reserve(rest + 1).err(), Some(ReserveError::Exhausted { capacity: 32_768 }));
        let last = signer.reserve(rest).unwrap().last().unwrap();
        assert_eq!(verifying.verify(b"", &signer.sign(last, b"").unwrap()), Ok(()));
    }
}

#[test]
fn faults_of_keys_are_told() {
    let private = SigningKey::from_seed(
        LmsType::SHA256_M24_H5,
        LmotsType::SHA256_N24_W8,
        &[0; 16],
        &[0; 24],
        TreeOptions::new(),
    );
    let mut key = private.unwrap().verifying_key().to_bytes();
    let error = |key: &[u8]| VerifyingKey::from_bytes(key).unwrap_err();
    assert_eq!(error(&key[..47]), VerifyingKeyError::Length { expected: 48, actual: 47 });
    assert_eq!(error(&key[..7]), VerifyingKeyError::Length { expected: 24, actual: 7 });
    let of_types = |lms, ots| VerifyingKey::of_types(lms, ots, &key);
    let (lms, ots) = (LmsType::SHA256_M24_H5, LmotsType::SHA256_N24_W8);
    assert_eq!(of_types(lms, ots), VerifyingKey::from_bytes(&key));
    assert_eq!(of_types(LmsType::SHA256_M24_H10, ots), Err(VerifyingKeyError::LmsType(0x0a)));
    assert_eq!(of_types(lms, LmotsType::SHA256_N24_W4), Err(VerifyingKeyError::LmotsType(0x08)));
    key[7] = 4;
    assert_eq!(error(&key), VerifyingKeyError::LmotsType(4));
    key[3] = 0x19;
    assert_eq!(error(&key), VerifyingKeyError::LmsType(0x19));
    let levels =
        |levels: u8| HssVerifyingKey::from_bytes(&[&[0, 0, 0, levels][..], &key].concat()).unwrap_err();
    assert_eq!(levels(0), VerifyingKeyError::Levels(0));
    assert_eq!(levels(9), VerifyingKeyError::Levels(9));
    assert_eq!(levels(1), VerifyingKeyError::LmsType(0x19));
}

/// As `streamed`, of several levels.
fn streamed_hss(
    key: &HssVerifyingKey,
    message: &[u8],
    bytes: &[u8],
) -> (Result<(), StreamError<EndsAt>>, usize) {
    let mut flash = Flash::new(bytes);
    let result = key.verify_streamed(&[message], |offset, out| flash.at(offset, out));
    (result, flash.read)
}

/// RFC 8554, Appendix F, Test Case 2: two levels, and the seeds that both keys are of.
#[test]
fn the_signature_of_two_levels_of_the_rfc_is_made_and_verified() {
    let mut parts = [String::new(), String::new(), String::new()];
    let mut part = 0;
    for line in include_str!("lms/rfc8554.txt").lines().skip(1) {
        match line {
            "# Message" => part = 1,
            "# Signature" => part = 2,
            "# Public key" => part = 0,
            line => parts[part].push_str(line),
        }
    }
    let [key, message, signature] = parts.each_ref().map(|part| bytes(part));
    let hss = HssVerifyingKey::from_bytes(&key).unwrap();
    assert_eq!(hss.levels(), 2);
    assert_eq!(hss.verify(&message, &signature), Ok(()));
    // In each signature, and in the key of the lower tree.
    let first = LmsType::SHA256_M32_H10.signature_len(LmotsType::SHA256_N32_W4).unwrap();
    for place in [3, 4, 100, 4 + first - 1, 4 + first, 4 + first + 30, 4 + first + 56, signature.len() - 1] {
        let mut wrong = signature.clone();
        wrong[place] ^= 1;
        assert_eq!(hss.verify(&message, &wrong), Err(InvalidSignature), "{place}");
        assert_eq!(streamed_hss(&hss, &message, &wrong).0, Err(StreamError::Invalid), "{place}");
    }
    assert_eq!(hss.verify(&message[1..], &signature), Err(InvalidSignature));
    for wrong in [&signature[..signature.len() - 1], &[&signature[..], &[0]].concat(), &[]] {
        assert_eq!(hss.verify(&message, wrong), Err(InvalidSignature));
    }
    let behind = [&signature[..], b"behind it"].concat();
    assert_eq!(streamed_hss(&hss, &message, &behind), (Ok(()), signature.len()));
    for end in (0..signature.len()).step_by(7).chain([signature.len() - 1]) {
        let result = streamed_hss(&hss, &message, &signature[..end]).0;
        assert_eq!(result, Err(StreamError::Read(EndsAt(end))));
    }

    let top = (
        bytes("d08fabd4a2091ff0a8cb4ed834e74534"),
        bytes("558b8966c48ae9cb898b423c83443aae014a72f1b1ab5cc85cf1d892903b5439"),
    );
    let i: [u8; 16] = top.0.try_into().unwrap();
    let (lms, ots) = (LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W4);
    let private = SigningKey::from_seed(lms, ots, &i, &top.1, TreeOptions::new()).unwrap();
    assert_eq!(private.verifying_key().to_bytes(), key[4..]);
    let c = &signature[12..44];
    let of_key = &signature[4 + first..][..56];
    let mut signer = Signer::new(private, MemoryStore::new(3));
    let index = signer.reserve_one().unwrap();
    let made = sign_with_randomizer(&mut signer, index, c, of_key).unwrap();
    assert_eq!(made, signature[4..4 + first]);
}
