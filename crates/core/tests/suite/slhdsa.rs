//! SLH-DSA: the published answers of key generation and signing, one of each kind a set, and what verification refuses.
//!
//! Answers from NIST's ACVP server, FIPS 205 sample files (public domain).

use gambeson::slhdsa::{
    self, InvalidSignature, Message, ParameterSet, PreHash, SigningKey, StreamError, VerifyingKey,
};
use sha2::{Digest, Sha256};

use crate::streamed::{EndsAt, Flash};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..][..2], 16).expect("hexadecimal")).collect()
}

fn set(name: &str) -> ParameterSet {
    *ParameterSet::ALL.iter().find(|set| set.name() == name).expect("a set of FIPS 205")
}

/// Set, SK.seed, SK.prf, PK.seed and PK.root.
#[rustfmt::skip]
const KEYS: [[&str; 5]; 12] = [
    ["SLH-DSA-SHA2-128s", "ac379f047faab2004f3ae32350ac9a3d", "829fff0aa59e956a87f3971c4d58e710", "0566d240cc519834322eafbcc73c79f5", "a4b84f02e8bf0cbd54017b2d3c494b57"],
    ["SLH-DSA-SHAKE-128s", "2a2ccf3cd8f9f86e131be654cff6c0b4", "fdfceb1aa2f0ba2c3c1388194f6116c7", "890cc7f4a46fe6c34d3f26a62ff962e1", "e8c88d2bdcba6f66e50403e77fa92efe"],
    ["SLH-DSA-SHA2-128f", "aed6f6f5c5408bbffa1136bc9049a701", "4d4ce0711e176a0c8a023508a692c207", "74d98d5000af53b98f36389a1292bed3", "f4a650c56c426fcfdb88e3355459440c"],
    ["SLH-DSA-SHAKE-128f", "cd4a308c03d970508572c0815d7488b7", "f3fd6d2dcc7e5120fa544846aedded81", "bc435c3e66e4c2e4fbc09779da5f74d4", "4ea0e0df05c2457bcc81f59928433390"],
    ["SLH-DSA-SHA2-192s", "3bfaed208b7dc795bf3647f86e4b48bf9adb8d6784c50155", "a20311739497c3fcb860ee47e09ede036f7ae8a939155bc0", "a67856a81a6adbced7f1a2780cc48a06681ba5e8c7938506", "bd031bc8124f95f0bae2becb2a3fbbaec453c04a6e918ffb"],
    ["SLH-DSA-SHAKE-192s", "915173ee0d17f30877e1d463e3dec914e71f436867ad7615", "ed782e7033c4963a7ff0b67181de0f0ea7efabb326d40a86", "520660f654d537da6934f96e5ee01b24a2f36102f68dcd10", "aa206fc79803e63850da5e86969569fc8fb021b6c40616e2"],
    ["SLH-DSA-SHA2-192f", "45d7131c727df1cc51db85b44e37868215df8aec5d1b552f", "92bc5fc8a2969fe0a522492082e994de1ddc90fa984f847b", "8330589c20701aa9f11b473b67e1d67e1c6a2eb6c86265ed", "13a3ea895c4eeeadde8a796bba5233f0d86ee5cbf2a6f99c"],
    ["SLH-DSA-SHAKE-192f", "855000fdfffba76962809c69432452f3dc79428f662c59b1", "43b1fc381c300b5ecec7571b5de2fca16737e4c14911f683", "124623ba6ca1bc1b0e1a303099e2a608b0ac41715bc788a1", "9873c783378f935794abc0313243efc3f4a10a619cb1b1fe"],
    ["SLH-DSA-SHA2-256s", "2fbeab9a6a80fd817e7efcdf834efbd4f0a36195d7598408a6a151e93de6a557", "5d0b37d1ecbc68265b0afeecbba783dd27eafdbdf3143e4af3e5057fd5c2dada", "1322f94917ae67d0db420203178d591283c08be8a1385a16ce70cd9fbafd2ac6", "40041eab68a4a653f89cab7585f6b410603326dbbaaf733e7e72cb6097a4a452"],
    ["SLH-DSA-SHAKE-256s", "7d88445a7b0022f12e9e2d74755431505ff6db1c38a8ce44864d34cff1a12ce0", "ff2cd133ad00728eb29dd0ce881c41c640f2e28861555b59d4e0baa0447bb542", "87a133b92eb6c81771ae002819b4c0300fa63cd7181c805096bfb16067f52a45", "cc785237c24d9235b6bc3194b79e5a9f953388ea745d7cfb87826a94e5b271d5"],
    ["SLH-DSA-SHA2-256f", "b8abc485122be003cf36d677bee7f47ea1017c39d96d0c56a87a7adad24f731a", "9222684ffacf803d44cb98222c44b3c519698b798d8f7a759fe2fa6ef173cf64", "0d50e82bedb42e03cc967e7fd24c12777855a946fd49471184330f096a75b561", "7fb65fbd08d05f24f20cb3875e28fac4a52a2513c7ef447b8e9328632a684cf7"],
    ["SLH-DSA-SHAKE-256f", "3de4b54a5f5fb98d6638fb3d8899355cc3582e8a397d0990cad032d78ee9e199", "da7f71d21d0182a99de34e2796fe5dde046d9c9e961dce24c2562728be7d9632", "b3ef3825a515e0b2e4164db7ec805b4cf1c7a2de6e63d7df359b99b1f3063f25", "aec38ff53c46aad930166957ca0db5c5466d0cbe9a11970987a230ebbb5450a4"],
];

#[test]
fn keys_of_seeds_are_the_published_ones() {
    for [name, sk_seed, sk_prf, pk_seed, root] in KEYS {
        let key =
            SigningKey::from_seeds(set(name), &bytes(sk_seed), &bytes(sk_prf), &bytes(pk_seed)).unwrap();
        assert_eq!(key.verifying_key().as_bytes(), bytes(&format!("{pk_seed}{root}")), "{name}");
        assert_eq!(key.expose_bytes(), bytes(&format!("{sk_seed}{sk_prf}{pk_seed}{root}")), "{name}");
    }
}

/// A signature by its digest.
struct Signed {
    set: &'static str,
    sk: &'static str,
    message: &'static str,
    context: &'static str,
    /// The name of the function, or nothing.
    pre_hash: &'static str,
    /// opt_rand, or nothing in the deterministic variant.
    randomness: &'static str,
    sha256: &'static str,
}

#[rustfmt::skip]
const SIGNATURES: &[Signed] = &[
    Signed { set: "SLH-DSA-SHA2-128s", sk: "4678d1f07c682516f24fdf63ae47241be4acda3ef56150c458c6bc477f14e75ea8b8365a9fc2a6877d2a6237c687ab41e38f37e0274fffbd77655a1db6c446c1", message: "1b", context: "caa7b50b2763d195bfa1e5793e17a7cd5dfbd8a163bf6d876cec512cfc97aa9d1d76e7700cbacd1f2d8371766fdfae3cb0ea", pre_hash: "", randomness: "", sha256: "0d6dc439e181e2a50ecdc4d6e9dcd7a0644feafebc0e6138a78a91cb748bb22c" },
    Signed { set: "SLH-DSA-SHA2-128s", sk: "ed4f8fd247518ffbd1c95e31a0d2e08509af8177ac12a0a2467a4bdcc77375bcd188c114e11c8e57fd68ee398b554a17b4aea6eebc0e9719e24761fc0ee58631", message: "9b", context: "2e38d7726af193db2613203dd3b0c8227fde5397d85e9fb262be3a58d857d805ac292ad5de659824cf336361f8d8945aaeccafc01d01", pre_hash: "SHAKE-256", randomness: "", sha256: "88a80c023573915898ff048195eee1c1543efbbcd162ceb8fd0ae8ea35f9a224" },
    Signed { set: "SLH-DSA-SHAKE-128s", sk: "576f8db0e71d438043ca7593fad24a9c52e9b3a6487fed60b9765f3c673b0b08dfb31367335035721abbe78f1a5d736a1d907c8a2cbdb5f8ec82f9f82b8d4017", message: "7d", context: "2d189f90cce1d7ea24d09c7c6c46a05ad9665a260a9e625d4a9d5037b0cf060ed2ad79d46494c69fae9d879c1580", pre_hash: "", randomness: "458792e83ab836df9765020d80f2dbd3", sha256: "0abdd392131636c53f79fdda16856d7db59bdc4cb3f7616586a50109235de90e" },
    Signed { set: "SLH-DSA-SHA2-128f", sk: "d5213ba4bb6470f1b9eda88cbc94e6277a58a951ef7f2b81461dbac41b5a6b83fa495fb834defea7cc96a81309479135a67029e90668c5a58b96e60111491f3d", message: "3f", context: "", pre_hash: "", randomness: "", sha256: "d3537e05ae63876bf78015ff86cc9e284f91cabfac191298fbaa375596351d55" },
    Signed { set: "SLH-DSA-SHA2-128f", sk: "ae15866bac9eda6085a54b288376fca0bc2dc0ee5a1034468bec94f8963a4df0fcee5914a34e87c4785bdfea9e7fc2890ced4ee74f76f0a4b0cb821a60c4ebf9", message: "a7", context: "321a15ef6b6c98c9523dcb9fa7675ca1baaba527cba2", pre_hash: "SHAKE-128", randomness: "05a79620f1f5775c0f934e9c027bcb9c", sha256: "a849e7c9bba9a59355318cbe5acd2d8da728878b2b7c61e17ce9a0d77595d000" },
    Signed { set: "SLH-DSA-SHAKE-128f", sk: "23b67d76f712bf69bc11504b6916ae4dd803898f16023470bc7be16ecb4f94b2c0220d26f040f499d209385b8ef3387ce96c94ede698a703ea5827e96d37bafa", message: "45", context: "63816b7d09879fa1b60090deabe230e316fc9654a9b6e07af1bf498a92a3b737e4dd5ac4c994cb74a6a0d597d7060c9378d12205e3e378be", pre_hash: "", randomness: "", sha256: "9a251374a67bca2b95aa583195650dea4017d2c05e4fa12c81bbe6e7930edf4d" },
    Signed { set: "SLH-DSA-SHAKE-128f", sk: "f6e8f3cab19bc694fba252b9c8c6ef5d7a109d8e3a4232f352880dbf4e96673c3dcac1cc5404dd02b4823d54a2639493d84614abf0c4c91f75ebef107a5adbd7", message: "02", context: "7fb3fbecde087abd4868bc2da6e052d4468cb7a03cd21038f0e9a90c4f3a47884d0b1561948377ce9009ca8d7942a916", pre_hash: "SHA3-384", randomness: "", sha256: "9316889a6b623f01bc2f2932846a12c95f17734c8047543b29c5bcd8613694b3" },
    Signed { set: "SLH-DSA-SHA2-192s", sk: "79a1a38b64d1a59e4d236d4012209ca5beae42413cc45d243700447e16c44060107fd043a8001a3dee5d471127702881cd0a7a6d26d4323e5eac87d218bb4bbb8042930efd1cb1dedb85cd7427ed248c356404e28619484e1117dc9f6cedda63", message: "9b", context: "eee6", pre_hash: "", randomness: "38a611fda9b3acfc683c515fd18bf03e4ba6a244fe53127f", sha256: "7eb79b2d10a5e310a7009e71c6405990bab4618d9ee2f6ef2db772560fc97de4" },
    Signed { set: "SLH-DSA-SHAKE-192s", sk: "e27dab8383088e3131abbe8e6ded6b90dcee880fda4a5cc531d997761c9609c243d9731685141d874d462000e0840e43bd1b25a970e6a0256fdb0d04009668df196a3a75b9f0b92f5397c11c0662575e61162157c6f0cb05224e0b80822c8758", message: "41", context: "adff67bc18e8693af6ed92c331fec5fdd09b", pre_hash: "", randomness: "", sha256: "4cc5a38c13a4f1dbde4c38ec8ee769be6b0aecd6616a4df05c1dd1e7fc7c3c76" },
    Signed { set: "SLH-DSA-SHAKE-192s", sk: "661616a26b2a2951328ad9ab180d5fe898588e0df1b227f6f121e1880905b4b5f7cdefb957b8f9c5a10f40ebb4e6fef061783320b2536b4fa7ada3a80f004c11df2068fc5fad761dd9d3bcbca5e5d2cf50393d6ff0388a5238cf2d2e3f66dad6", message: "82", context: "", pre_hash: "SHA2-384", randomness: "", sha256: "f0c0b88a82d717c9c5d77dddfe8c4631dd68e97c6087048ad14ad410c7b00aa4" },
    Signed { set: "SLH-DSA-SHA2-192f", sk: "c6284483158d888ac6f90727677fd2900856236f5029b72b393bdbcd4192921e58a7ad1728e879b5ce963f22cafbbbacdcaed01eadb2b03c50e58c28b3a3638ee667cd5ac288485e5973c7e58a37508b7dd69e94b71c045995c744b23254ba19", message: "cd", context: "", pre_hash: "SHA2-256", randomness: "", sha256: "3827ff2b1dc67bad096f87062dedf3f84f39a808405cc47e845df5dbf72c544a" },
    Signed { set: "SLH-DSA-SHA2-256s", sk: "ea6c803a4879049115a18cea44f93b3cac7e9a0335821336bebec62a328e7146b684754c25a078cfb90af0ceb5a945f2cae633ac00c576f6d12873559646f2c2818403d3ddc68ce8d21cb6d7f456af1e5e69a1c6744e2712c856e853107397a79b2e8e160b71b6aa50553fcfd182f2693d34e1d9b18eb03852931995b7491ea2", message: "67", context: "", pre_hash: "", randomness: "a1fdbfbe02e0da2ca5252db2b8f715d852ce5b815b929c99d95cdd4c446080db", sha256: "52cf9084167f5948b337bc2c498462492f8d3945b3d7e46486dc1ca2607626da" },
    Signed { set: "SLH-DSA-SHAKE-256s", sk: "d2bdc926a9746213cdb18004c2f6ef8c70324eecf48f9cd041042375e4ad0909061b5bae13d1df5888a9b4a8cac8351a5589fbb0c7f0e36b3d8e997d26f7db2d108e7ac89dcd6f317929f201f18e1fd9171de9902156b961f3f20c5711c7bddf2d4d0a16d0b14fb9d207561fc26303541c78b188e6feee0d6fe6dc0f2cbf448c", message: "ea", context: "c4b7f3f63c22bfeed8ed12afa2", pre_hash: "", randomness: "", sha256: "40982f9aee02678ab3a36b26c0ffa4101c7ae39a14f755d1d885e8f4aa9d8416" },
    Signed { set: "SLH-DSA-SHAKE-256s", sk: "e3e4b342f211a722c1c8b74d44a154a9e4a9d9a15e356974716f80b9bb439736c02e7d6e129882ce7f02645d8759dd9f33e423466d9656c7e5c79119d26c1c1f4976b5f89703ec1abb855d5a6553ddc3ff7a5b20f77cbb8c18cad76d853f52858f6a8f5fad0af2e6df203d7bb86d67e6427875d2e20e66276567cf888b02cc64", message: "f0", context: "02065ba48f20d3be97351859ed56128c4ff02032c6f6f41880ee530c8c7340d76cc261e7eff258198ecdace691a09dc5bb87", pre_hash: "SHA2-224", randomness: "", sha256: "d29fbf2480ae27afe94260e56b84b26a9cedf2741b500a872b647301096c67f1" },
    Signed { set: "SLH-DSA-SHA2-256f", sk: "760a91eb234223f00f31deb8e82abde1cee2acde801e20b2d363a58ac9b1936021e8406266d9a262820b549dc0785588c3b39e02a6db844cb885332fe89420c70c551e5a8d85111472d94a18959a7e70510c8a02339b7238ad9efa18bdb8a716e9b59484dc90bf96c04bb2fe09c831ec5439bb0bee83d3faf1c67e7d39fb9ea7", message: "f4", context: "", pre_hash: "", randomness: "1e0aae0652400e67c1b778669407f58c462b74de099802fdaa23b59dace50be8", sha256: "6f51aed4cf11a9794dcbbf4a5821d5b19f0c2e13515cb3862017bf2460fe1910" },
    Signed { set: "SLH-DSA-SHA2-256f", sk: "6fca1055e16637ac4d829411f97b2b970edbdc0bf06b746b66f017344ec739de5b110fb1fca179b74a3cd713a81fd2d1b519fae750442308a68e2d7f79cd48bef9f5928b06c2820be75c21f0820fb01db2653150edf0d49c6a8f620fc331fbaaec3c564b43d932e657680d190922a90a101602e891487b1db9ec089512a8ecd4", message: "41", context: "b8c6", pre_hash: "SHA2-256", randomness: "847d6c135a19b0cab9011abb479315291803cdcb5f237d6352c3a0e93744bbf7", sha256: "6380572d4fb65106c98a533209c81c13f369b7af5974ced764366345a86161b5" },
];

#[test]
fn signatures_are_the_published_ones_and_verify() {
    assert_eq!(SIGNATURES.len(), 16);
    for Signed { set: name, sk, message, context, pre_hash, randomness, sha256 } in SIGNATURES {
        let key = SigningKey::from_bytes(set(name), &bytes(sk)).unwrap();
        let (message, context) = (bytes(message), bytes(context));
        let digest = pre_hash.parse::<PreHash>().ok().map(|function| function.digest(&message));
        let message = match &digest {
            Some(digest) => Message::prehashed(digest, &context).unwrap(),
            None => Message::pure(&message, &context).unwrap(),
        };
        let mut signature = if randomness.is_empty() {
            key.sign_deterministic(message)
        } else {
            key.sign_with_randomness(message, &bytes(randomness)).unwrap()
        };
        assert_eq!(Sha256::digest(&signature).as_slice(), bytes(sha256), "{name} {pre_hash}");
        let public = VerifyingKey::from_bytes(set(name), key.verifying_key().as_bytes()).unwrap();
        assert_eq!(public.verify(message, &signature), Ok(()), "{name} {pre_hash}");
        let mut flash = Flash::new(&signature);
        assert_eq!(public.verify_streamed(message, |out| flash.next(out)), Ok(()), "{name} {pre_hash}");
        assert_eq!((flash.read, flash.longest), (signature.len(), public.parameter_set().seed_len()));
        // A byte of R, of FORS and of the highest tree.
        let end = signature.len() - 1;
        for place in [0, end / 8, end] {
            signature[place] ^= 1;
            assert_eq!(public.verify(message, &signature), Err(InvalidSignature), "{name} {place}");
            let mut flash = Flash::new(&signature);
            let result = public.verify_streamed(message, |out| flash.next(out));
            assert_eq!(result, Err(StreamError::Invalid), "{name} {place}");
            signature[place] ^= 1;
        }
        assert_eq!(public.verify(b"another message", &signature), Err(InvalidSignature));
        assert_eq!(public.verify(message, &signature[1..]), Err(InvalidSignature));
    }
}

#[test]
fn a_streamed_signature_that_is_truncated_gives_the_error_of_the_callback_and_bytes_behind_it_are_not_read() {
    for set in [ParameterSet::SHA2_128F, ParameterSet::SHAKE_128F] {
        let key = SigningKey::from_seeds(set, &[1; 16], &[2; 16], &[3; 16]).unwrap();
        let (signature, public) = (key.sign_deterministic(b"message"), key.verifying_key());
        for end in (0..signature.len()).step_by(61).chain(signature.len() - 17..signature.len()) {
            let mut flash = Flash::new(&signature[..end]);
            let result = public.verify_streamed(b"message", |out| flash.next(out));
            assert_eq!(result, Err(StreamError::Read(EndsAt(end))), "{set}");
        }
        let behind = [&signature[..], b"behind it"].concat();
        let mut flash = Flash::new(&behind);
        assert_eq!(public.verify_streamed(b"message", |out| flash.next(out)), Ok(()), "{set}");
        assert_eq!(flash.read, signature.len());
    }
}

#[test]
fn wrong_lengths_are_told_with_their_input() {
    let set = ParameterSet::SHA2_128F;
    let key = SigningKey::from_seeds(set, &[1; 16], &[2; 16], &[3; 16]).unwrap();
    let told = |error: gambeson::slhdsa::LengthError| (error.input, error.expected, error.actual);
    let seeds = |a: usize, b: usize, c: usize| {
        told(SigningKey::from_seeds(set, &[0; 17][..a], &[0; 17][..b], &[0; 17][..c]).unwrap_err())
    };
    assert_eq!(seeds(15, 16, 16), ("SK.seed", 16, 15));
    assert_eq!(seeds(16, 17, 16), ("SK.prf", 16, 17));
    assert_eq!(seeds(16, 16, 0), ("PK.seed", 16, 0));
    assert_eq!(told(VerifyingKey::from_bytes(set, &[0; 33]).unwrap_err()), ("verifying key", 32, 33));
    assert_eq!(told(key.sign_with_randomness(b"", &[0; 15]).unwrap_err()), ("randomness", 16, 15));
    let short = key.sign_with_randomness_into(b"", &[0; 16], &mut [0; 17_087]);
    assert_eq!(told(short.unwrap_err()), ("signature", 17_088, 17_087));
    let mut bytes = key.expose_bytes().to_vec();
    bytes[63] ^= 1;
    let error = SigningKey::from_bytes(set, &bytes).unwrap_err();
    assert_eq!(error.to_string(), "the public key in the signing key does not follow from its seeds");
    let error = SigningKey::from_bytes(set, &bytes[1..]).unwrap_err();
    assert_eq!(error.to_string(), "the signing key has 63 bytes, and the parameter set 64");
    assert_eq!(format!("{key:?}"), "SigningKey<SLH-DSA-SHA2-128f>([redacted])");
}

fn key(set: ParameterSet, seed: u8) -> SigningKey {
    let n = set.seed_len();
    SigningKey::from_seeds(set, &[seed; 32][..n], &[2; 32][..n], &[3; 32][..n])
        .expect("seeds of the set's length")
}

#[test]
fn a_prepared_key_gives_the_signatures_of_the_key() {
    for set in ["SHA2-128f", "SHAKE-128f", "SHA2-192f", "SHAKE-192f", "SHA2-256f", "SHAKE-256f", "SHA2-128s"]
    {
        let key = key(self::set(&format!("SLH-DSA-{set}")), 1);
        let prepared = key.prepare();
        assert_eq!(prepared.parameter_set(), key.parameter_set());
        assert_eq!(prepared.verifying_key(), key.verifying_key());
        assert_eq!(prepared.signing_key().expose_bytes(), key.expose_bytes());
        // The highest tree signs with another leaf each time.
        for message in [&b"one"[..], b"two", b"three"] {
            let expected = key.sign_deterministic(message);
            assert!(prepared.sign_deterministic(message) == expected, "{set}");
            assert_eq!(key.verifying_key().verify(message, &expected), Ok(()));
        }
        let randomness = &[7; 32][..key.parameter_set().seed_len()];
        let expected = key.sign_with_randomness(b"message", randomness).unwrap();
        assert!(prepared.sign_with_randomness(b"message", randomness).unwrap() == expected);
        let mut signature = vec![0; expected.len()];
        prepared.sign_with_randomness_into(b"message", randomness, &mut signature).unwrap();
        assert!(signature == expected);
        let error = prepared.sign_with_randomness(b"message", &randomness[1..]).unwrap_err();
        assert_eq!((error.input, error.actual), ("randomness", randomness.len() - 1));
        let error =
            prepared.sign_with_randomness_into(b"message", randomness, &mut signature[1..]).unwrap_err();
        assert_eq!((error.input, error.expected), ("signature", expected.len()));
        let hedged = prepared.sign(b"message").unwrap();
        assert!(hedged != prepared.sign(b"message").unwrap());
        assert_eq!(key.verifying_key().verify(b"message", &hedged), Ok(()));
    }
    let prepared = key(ParameterSet::SHA2_128F, 1).prepare();
    assert_eq!(format!("{prepared:?}"), "PreparedSigningKey<SLH-DSA-SHA2-128f>([redacted])");
}

#[test]
fn many_messages_are_signed_in_their_order() {
    let key = key(ParameterSet::SHAKE_128F, 1);
    let messages: Vec<[u8; 1]> = (0..3).map(|i| [i]).collect();
    let messages: Vec<_> = messages.iter().map(Message::from).collect();
    for signatures in [key.sign_many(&messages), key.prepare().sign_many(&messages)] {
        let signatures = signatures.unwrap();
        assert_eq!(signatures.len(), 3);
        for (message, signature) in messages.iter().zip(&signatures) {
            assert_eq!(key.verifying_key().verify(*message, signature), Ok(()));
        }
    }
    assert_eq!(key.sign_many(&[]), Ok(vec![]));
}

#[test]
fn many_signatures_have_the_verdicts_that_each_has_alone() {
    for set in ["SHA2-128f", "SHAKE-128f", "SHA2-192f", "SHA2-256f", "SHAKE-256f"] {
        let set = self::set(&format!("SLH-DSA-{set}"));
        let key = key(set, 1).prepare();
        let public = key.verifying_key();
        let messages: Vec<[u8; 1]> = (0..11).map(|i| [i]).collect();
        let mut signatures: Vec<_> = messages.iter().map(|message| key.sign_deterministic(message)).collect();
        // A byte of R, of FORS and of the hypertree; a byte too many and too few; that of another message.
        let end = signatures[0].len() - 1;
        signatures[1][0] ^= 1;
        signatures[3][set.seed_len() + 5] ^= 1;
        signatures[4][end] ^= 128;
        signatures[6].push(0);
        signatures[7].pop();
        signatures.swap(8, 9);
        let items: Vec<_> =
            messages.iter().map(Message::from).zip(signatures.iter().map(Vec::as_slice)).collect();
        let alone: Vec<_> =
            items.iter().map(|(message, signature)| public.verify(*message, signature)).collect();
        let valid = [true, false, true, false, false, true, false, false, false, false, true];
        assert!(alone.iter().map(Result::is_ok).eq(valid), "{set}");
        assert_eq!(public.verify_many(&items), alone, "{set}");
        for count in [0, 1, 2, 8, 9] {
            assert_eq!(public.verify_many(&items[..count]), alone[..count], "{set} {count}");
        }
    }
}

#[test]
fn signatures_of_several_keys_and_sets_are_verified_at_once() {
    let keys = [(ParameterSet::SHA2_128F, 1), (ParameterSet::SHA2_128F, 2), (ParameterSet::SHAKE_192F, 1)]
        .map(|(set, seed)| key(set, seed));
    let signatures = keys.each_ref().map(|key| key.sign_deterministic(b"message"));
    let public = keys.each_ref().map(SigningKey::verifying_key);
    let order = [(0, 0), (0, 1), (1, 1), (2, 2), (2, 0), (0, 0), (1, 0)];
    let items = order
        .map(|(key, signature)| (&public[key], Message::from(b"message"), signatures[signature].as_slice()));
    let verdicts = slhdsa::verify_many(&items);
    assert!(verdicts.iter().map(Result::is_ok).eq(order.map(|(key, signature)| key == signature)));
    assert_eq!(slhdsa::verify_many(&[]), []);
}
