//! XMSS and XMSS^MT: published answers, and the inputs that verification refuses.
//!
//! `SIGNATURES` is of the vectors of post-quantum-cryptography/KAT (f238e34, MIT), one of each set of height 10.

use gambeson::stateful::{Signer, TreeOptions, hazmat::MemoryStore};
use gambeson::xmss::{
    InvalidSignature, ParameterSet, SigningKey, SigningKeyError, StreamError, VerifyingKey, VerifyingKeyError,
};
use sha2::{Digest, Sha256};

use crate::streamed::{EndsAt, Flash};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..][..2], 16).expect("hexadecimal")).collect()
}

/// Set; S_XMSS, SK_PRF and SEED; index, message, verifying key, and the SHA-256 of the signature.
type Signed = (ParameterSet, [&'static str; 3], u64, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const SIGNATURES: &[Signed] = &[
    (ParameterSet::SHA2_10_192, ["acff388e4f15120cb13ca77155540beab6d7c64a5b3fed40", "2b29c3ab2389cb74184b201fc5cac2c663b8a3efbab800d5", "a72e67e54b7bcb2d1ff0c7fb680d5afd25e6c664441d6278"], 859, "ba2c7a2074c5dd79f226c20d53f8fba64f50322786c75b1c445d309dec90adb06db15537616e44ed3192e9d71d2885bc5296bfd9271293fc96d29f9ee6bde2b61dfa2806d7d47b0f7830f18b20ec83894e158e27f3de7ba7da76a48733b47979a6ce9dc505ff314e8c3adbebc357d81cf5b477782a6670d756171a27e8a70286", "0000000d8168a61e076b4a584ddd642bee7551aea008919a7bbf6b6ea72e67e54b7bcb2d1ff0c7fb680d5afd25e6c664441d6278", "051e51a95ec88efece2177613de8349a98ffa22b719f6b18eb61d01b44d4e9ec"),
    (ParameterSet::SHA2_10_256, ["2719c7548fc8f9843572ca6bcaf6445e64da9f5987aab18f5fdc04266e8cc7a0", "b9caf7bb4a00f01ab283da649081954d2f92b0df57340b35b15f1dbb68e01198", "e2e53640a27febc7dacf064929f79124f7f95d3cfd8b9367b1b027cf0af9e6eb"], 813, "544617a3fc7aebf5bf12fa471b3a86b1b742265bdd6c0ae46773820dc3ed2b1e53e60c5e1112c29b7437f5678bc54ca28e8aeacc2839802717bec08d03f4235c9d1f282523698742585f055c71b4965ffa3288836be05699b7d7644a16d75db36daffca066de840ce159c3e1e1db9c11a98b6992155ad7f40b8554ca09992f28", "0000000188d42b1fe5c4c90614b213cadefec52812f737a598be27b395589700307a040ae2e53640a27febc7dacf064929f79124f7f95d3cfd8b9367b1b027cf0af9e6eb", "48655e0f43cf54855efc2c9ad1c2be9a551064b8ee92d287443417f7ad0ce12a"),
    (ParameterSet::SHAKE256_10_192, ["95832f6c31dc829fcc848e7929ba510a199ad73fc3870e57", "9b668c3564f2b8551cfeb52ba157c2c97ea652a94a8a40e5", "b8b68ed92df7da035b6c467fcbc0ca3830cd96c3fcdfd739"], 713, "d3f342e4b6a37ccaa8f015f4bb4c271b7d7ade04da709ee6d9c104342458df45e4543425436eec027e65247043a935996d367bcd32a978721dbeea9b22a7b59f8162237341d7330ad71931d2abfa938fb50b55f771fe1ced63e78982c0e6d2de0e2e30be40e94a93107da29c198ca46ce6d0fbbf6bc56b4a42025bbf85952520", "000000137edba0302db3e07c4cf85356e846ee66a76075351af0f6bfb8b68ed92df7da035b6c467fcbc0ca3830cd96c3fcdfd739", "f47985619ef3ac0546cec029b91e2a794374f6c73ea1d8302769c6e5f9cd4fb5"),
    (ParameterSet::SHAKE256_10_256, ["fa50619c032b9c319272742b18a23e6ef145cfea54dc4b52d383cc7dbf5f5f59", "4f985718d9f179b73073aecead4c14c718182609c02e490dcfd5982a29c10a4c", "a00c130cd3d4b7c47d3d3a96018d5742388e5ac445648f3bb4518fe248da5f8b"], 682, "5195bdc73f0d561a418f626a8cff2a9c670cbaf6795b9e9dcce0956b6bddf9623c390436c26b13aec70b7d8edeace218164a2c4aef0defc34c3a2eccdc8b92cb39c0a637893a0972cc3ce542d219776997ed2264baa7d4c4cd848d95c27347f112a2b4644feaee60d7008416108254df5a1bffd9c0f7f69e88a89e8ef74bc093", "00000010f28a5efb6a91bd08b7ec77939343deeda2bda366deb90ee7f775f957ce56024ca00c130cd3d4b7c47d3d3a96018d5742388e5ac445648f3bb4518fe248da5f8b", "c7b6fbcdc330ca71d90921683a3decb72af81cfe48bd30e67e311a111bd8748f"),
];

/// Places in each part of a signature: the index, r, and the chains and the path of each layer.
fn places(set: ParameterSet, n: usize) -> Vec<usize> {
    let layers = set.layers() as usize;
    let index = if set.is_multi_tree() { (set.height() as usize).div_ceil(8) } else { 4 };
    let layer = (set.signature_len() - index - n) / layers;
    let mut places = vec![index - 1, index];
    for start in (0..layers).map(|i| index + n + i * layer) {
        places.extend([start, start + (2 * n + 3) * n, start + layer - 1]);
    }
    places
}

/// The result for a signature behind a callback, the bytes that were read, and the longest piece.
fn streamed(
    key: &VerifyingKey,
    message: &[u8],
    bytes: &[u8],
) -> (Result<(), StreamError<EndsAt>>, usize, usize) {
    let mut flash = Flash::new(bytes);
    let (first, second) = message.split_at(message.len() / 3);
    let result = key.verify_streamed(&[first, &[], second], |out| flash.next(out));
    (result, flash.read, flash.longest)
}

/// A signature behind a callback has the same verdict.
fn streams(key: &VerifyingKey, message: &[u8], signature: &[u8]) {
    let set = key.parameter_set();
    let (end, n) = (signature.len(), (set.verifying_key_len() - 4) / 2);
    let behind = [signature, b"behind it"].concat();
    assert_eq!(streamed(key, message, &behind), (Ok(()), end, n), "{set}");
    assert_eq!(streamed(key, b"another message", signature), (Err(StreamError::Invalid), end, n), "{set}");
    for place in places(set, n) {
        let mut wrong = signature.to_vec();
        wrong[place] ^= 1;
        assert_eq!(streamed(key, message, &wrong).0, Err(StreamError::Invalid), "{set} {place}");
        let cut = streamed(key, message, &signature[..place]).0;
        assert_eq!(cut, Err(StreamError::Read(EndsAt(place))), "{set} {place}");
    }
    // An index that the key does not have, if the bytes can hold one.
    let index = if set.is_multi_tree() { (set.height() as usize).div_ceil(8) } else { 4 };
    if index * 8 > set.height() as usize {
        let mut wrong = signature.to_vec();
        wrong[0] |= 0x80;
        assert_eq!(streamed(key, message, &wrong), (Err(StreamError::Invalid), index, index), "{set}");
    }
}

fn refuses_changes(key: &VerifyingKey, message: &[u8], signature: &[u8]) {
    streams(key, message, signature);
    let set = key.parameter_set();
    for place in places(set, (set.verifying_key_len() - 4) / 2) {
        let mut wrong = signature.to_vec();
        wrong[place] ^= 1;
        assert_eq!(key.verify(message, &wrong), Err(InvalidSignature), "{set} {place}");
    }
    // An index that the key does not have.
    let mut wrong = signature.to_vec();
    wrong[0] |= 0x80;
    assert_eq!(key.verify(message, &wrong), Err(InvalidSignature), "{set}");
    for wrong in [&signature[..signature.len() - 1], &[signature, &[0]].concat(), &[]] {
        assert_eq!(key.verify(message, wrong), Err(InvalidSignature), "{set}");
    }
    assert_eq!(key.verify(b"another message", signature), Err(InvalidSignature), "{set}");
}

/// The signature of a message with this index.
fn sign(key: SigningKey, index: u64, message: &[u8]) -> Vec<u8> {
    let mut signer = Signer::new(key, MemoryStore::new(index));
    let index = signer.reserve_one().expect("the key has leaves left");
    signer.sign(index, message).expect("the index of this store")
}

#[test]
fn keys_and_signatures_are_the_published_ones_and_verify() {
    assert_eq!(SIGNATURES.len(), 4);
    for (set, parts, index, message, public, digest) in SIGNATURES.iter().copied() {
        let [secret, sk_prf, seed] = parts.map(bytes);
        let key = SigningKey::from_seeds(set, &secret, &sk_prf, &seed, TreeOptions::new()).unwrap();
        let (message, public) = (bytes(message), bytes(public));
        assert_eq!(key.verifying_key().to_bytes(), public, "{set}");
        assert_eq!(key.expose_secrets(), [secret, sk_prf].concat());
        let signature = sign(key, index, &message);
        assert_eq!(Sha256::digest(&signature).as_slice(), bytes(digest), "{set}");
        let public = VerifyingKey::from_bytes(&public).unwrap();
        assert_eq!(public.parameter_set(), set);
        assert_eq!(public.verify(&message, &signature), Ok(()), "{set}");
        refuses_changes(&public, &message, &signature);
    }
}

#[test]
fn signatures_of_liboqs_verify() {
    let mut ran = 0;
    for line in include_str!("xmss/liboqs.txt").lines().skip(1) {
        let [name, key, message, signature] = *line.split(' ').collect::<Vec<_>>() else { panic!("{line}") };
        let (encoded, message, signature) = (bytes(key), bytes(message), bytes(signature));
        let key = if name.starts_with("XMSSMT") {
            VerifyingKey::from_mt_bytes(&encoded).unwrap()
        } else {
            VerifyingKey::from_bytes(&encoded).unwrap()
        };
        assert_eq!(key.parameter_set().name(), name);
        assert_eq!(key.to_bytes(), encoded);
        assert_eq!(key.verify(&message, &signature), Ok(()), "{name}");
        refuses_changes(&key, &message, &signature);
        ran += 1;
    }
    assert_eq!(ran, 5);
}

/// The sets of XMSS^MT whose trees have 32 leaves: the first and the last leaf, and steps from one tree to the next in one layer and in two.
#[test]
fn signatures_of_many_trees_verify() {
    let sets = ParameterSet::XMSS_MT.iter().copied();
    let sets: Vec<_> = sets.filter(|set| set.is_approved() && set.height() / set.layers() == 5).collect();
    assert_eq!(sets.len(), 12);
    for set in sets {
        let n = (set.verifying_key_len() - 4) / 2;
        let seeds = [[1; 32], [2; 32], [3; 32]];
        let [secret, sk_prf, seed] = seeds.each_ref().map(|seed| &seed[..n]);
        let key = || SigningKey::from_seeds(set, secret, sk_prf, seed, TreeOptions::new()).unwrap();
        let last = (1 << set.height()) - 1;
        let public = VerifyingKey::from_mt_bytes(&key().verifying_key().to_bytes()).unwrap();
        let mut signer = Signer::new(key(), MemoryStore::new(0));
        let mut used = 0;
        // In the sets with many layers, each of these computes as many trees.
        let indices: &[u64] =
            if set.layers() == 4 { &[0, 31, 32, 1023, 1024, last / 3, last] } else { &[last / 3, last] };
        for index in indices.iter().copied() {
            // A store has no way to jump: the reserved leaves between are lost.
            let index = signer.reserve(index + 1 - used).unwrap().last().unwrap();
            used = index.index() + 1;
            let signature = signer.sign(index, b"message").unwrap();
            assert_eq!(signature.len(), set.signature_len());
            assert_eq!(public.verify(b"message", &signature), Ok(()), "{set} {used}");
            if used - 1 == last / 3 {
                // A key that went there at once signs the same.
                assert_eq!(sign(key(), last / 3, b"message"), signature);
                refuses_changes(&public, b"message", &signature);
            }
        }
        assert!(signer.reserve_one().is_err());
    }
}

#[test]
fn sets_outside_sp_800_208_and_seeds_of_another_length_do_not_sign() {
    let part = [0; 64];
    let key = |set, lens: [usize; 3]| {
        let [secret, sk_prf, seed] = lens.map(|len| &part[..len]);
        SigningKey::from_seeds(set, secret, sk_prf, seed, TreeOptions::new()).unwrap_err()
    };
    let mut refused = 0;
    let all = ParameterSet::XMSS.iter().chain(ParameterSet::XMSS_MT).copied();
    for set in all.filter(|set| !set.is_approved()) {
        let n = (set.verifying_key_len() - 4) / 2;
        assert_eq!(key(set, [n; 3]), SigningKeyError::VerifyOnly(set));
        refused += 1;
    }
    assert_eq!(refused, 9 + 24);
    for (lens, actual) in [([24; 3], 24), ([32, 31, 32], 31), ([32, 32, 33], 33)] {
        let error = key(ParameterSet::SHA2_10_256, lens);
        assert_eq!(error, SigningKeyError::SeedLength { expected: 32, actual });
    }
    assert_eq!(
        key(ParameterSet::SHAKE_10_256, [32; 3]).to_string(),
        "XMSS-SHAKE_10_256 is not a set of SP 800-208: its keys only verify"
    );
}

#[test]
fn sets_have_the_sizes_and_numbers_of_the_standards() {
    let check = |sets: &[ParameterSet], first: u32, sizes: &[usize]| {
        for (i, size) in (0..).zip(sizes) {
            let set = sets[(first + i - 1) as usize];
            assert_eq!((set.oid(), set.signature_len()), (first + i, *size), "{set}");
        }
    };
    let (xmss, mt) = (ParameterSet::XMSS, ParameterSet::XMSS_MT);
    assert_eq!((xmss.len(), mt.len()), (21, 56));
    for first in [0x01, 0x07, 0x10] {
        check(xmss, first, &[2500, 2692, 2820]);
    }
    for first in [0x04, 0x0a] {
        check(xmss, first, &[9092, 9476, 9732]);
    }
    for first in [0x0d, 0x13] {
        check(xmss, first, &[1492, 1636, 1732]);
    }
    for first in [0x01, 0x11, 0x29] {
        check(mt, first, &[4963, 9251, 5605, 9893, 18469, 8392, 14824, 27688]);
    }
    for first in [0x09, 0x19] {
        check(mt, first, &[18115, 34883, 19397, 36165, 69701, 29064, 54216, 104520]);
    }
    for first in [0x21, 0x31] {
        check(mt, first, &[2955, 5403, 3437, 5885, 10781, 5144, 8816, 16160]);
    }
    for set in xmss {
        assert_eq!(ParameterSet::of_oid(set.oid()), Some(*set));
    }
    for set in mt {
        assert_eq!(ParameterSet::of_mt_oid(set.oid()), Some(*set));
    }
    assert_eq!((ParameterSet::of_oid(0), ParameterSet::of_oid(0x16)), (None, None));
    assert_eq!((ParameterSet::of_mt_oid(0), ParameterSet::of_mt_oid(0x39)), (None, None));
    assert_ne!(ParameterSet::SHA2_10_256, ParameterSet::MT_SHA2_20_2_256);
}

#[test]
fn errors_of_keys_name_the_fault() {
    let mut key = [0; 68];
    let error = |key: &[u8]| VerifyingKey::from_bytes(key).unwrap_err();
    assert_eq!(error(&key), VerifyingKeyError::Oid(0));
    assert_eq!(error(&key[..3]), VerifyingKeyError::Length { expected: 4, actual: 3 });
    key[3] = 0x0d;
    assert_eq!(error(&key), VerifyingKeyError::Length { expected: 52, actual: 68 });
    key[3] = 0x19;
    assert_eq!(error(&key).to_string(), "0x19 is the OID of no parameter set");
    assert_eq!(
        VerifyingKey::from_mt_bytes(&key).unwrap_err().to_string(),
        "the verifying key has 68 bytes, not 132"
    );
}
