//! The operations of this project, in the forms of their keys.

use super::{Case, LONG, Lengths, Work};
use gambeson::cpu::{self, Level};
use gambeson::lms::{self, LmotsType, LmsType};
use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{self, MlKem512, MlKem768, MlKem1024};
use gambeson::sha3::{self, Sha3_256, Shake128, Shake256};
use gambeson::slhdsa;
use gambeson::stateful::{Signer, StatefulKey, TreeOptions, hazmat::MemoryStore};
use gambeson::xmss;
use gambeson::{Bytes, Compact};
use gambeson_hybrid::xwing;
use std::hint::black_box;

/// How many keys and inputs rotate.
const ROTATION: u8 = 16;

/// `N` bytes that depend on `i`.
pub(super) fn seed<const N: usize>(i: u8) -> [u8; N] {
    let mut seed = [0; N];
    Shake128::digest_into(&[i], &mut seed);
    seed
}

/// Work that goes round `items`.
pub(super) fn rotating<T: 'static>(make: impl Fn(u8) -> T, run: impl Fn(&T) + 'static) -> Work {
    let items: Vec<T> = (0..ROTATION).map(make).collect();
    let mut next = 0;
    Box::new(move || {
        next = (next + 1) % items.len();
        run(&items[next]);
    })
}

pub(super) fn kem_keygen<P: mlkem::ParameterSet + 'static>() -> Work {
    rotating(seed::<64>, |seed| {
        let dk = mlkem::DecapsulationKey::<P>::from_seed(seed);
        black_box(dk.encapsulation_key());
    })
}

pub(super) fn kem_encaps<P: mlkem::ParameterSet + 'static>() -> Work {
    rotating(
        |i| {
            let ek = mlkem::DecapsulationKey::<P>::from_seed(&seed(i)).encapsulation_key();
            ek.prepare();
            (ek, seed(i))
        },
        |(ek, m)| {
            black_box(ek.encapsulate_deterministic(m));
        },
    )
}

pub(super) fn kem_decaps<P: mlkem::ParameterSet + 'static>() -> Work {
    rotating(
        |i| {
            let dk = mlkem::DecapsulationKey::<P>::from_seed(&seed(i));
            let (c, _) = dk.encapsulation_key().encapsulate_deterministic(&seed(i));
            (dk, c)
        },
        |(dk, c)| {
            black_box(dk.decapsulate(c));
        },
    )
}

pub(super) fn dsa_keygen<P: mldsa::ParameterSet + 'static>() -> Work {
    rotating(seed::<32>, |seed| {
        let sk = mldsa::SigningKey::<P>::from_seed(seed);
        black_box(sk.verifying_key());
    })
}

/// The randomness of the next signature, so that the number of attempts varies as in real use.
fn counter() -> impl FnMut() -> [u8; 32] {
    let mut count = 0_u64;
    move || {
        count += 1;
        let mut rnd = [0; 32];
        rnd[..8].copy_from_slice(&count.to_le_bytes());
        rnd
    }
}

pub(super) fn dsa_sign<P: mldsa::ParameterSet + 'static>() -> Work {
    let keys: Vec<_> = (0..ROTATION).map(|i| mldsa::SigningKey::<P>::from_seed(&seed(i))).collect();
    let (mut rnd, mut next) = (counter(), 0);
    Box::new(move || {
        next = (next + 1) % keys.len();
        black_box(keys[next].sign_with_rnd(&rnd(), &[0; 32]));
    })
}

pub(super) fn dsa_verify<P: mldsa::ParameterSet + 'static>() -> Work {
    rotating(
        |i| {
            let sk = mldsa::SigningKey::<P>::from_seed(&seed(i));
            let pk = sk.verifying_key();
            pk.prepare();
            (pk, sk.sign_deterministic(&[0; 32]))
        },
        |(pk, signature)| {
            let _ = black_box(pk.verify(&[0; 32], signature.as_ref()));
        },
    )
}

fn dsa_lengths<P: mldsa::ParameterSet>() -> Lengths {
    Lengths { verifying_key: P::VerifyingKeyBytes::LEN, signature: P::Signature::LEN }
}

fn xwing_keygen() -> Work {
    rotating(seed::<32>, |seed| {
        black_box(xwing::DecapsulationKey::from_seed(seed).encapsulation_key());
    })
}

fn xwing_encaps() -> Work {
    rotating(
        |i| (xwing::DecapsulationKey::from_seed(&seed(i)).encapsulation_key(), seed(i)),
        |(ek, eseed)| {
            black_box(ek.encapsulate_deterministic(eseed));
        },
    )
}

fn xwing_decaps() -> Work {
    rotating(
        |i| {
            let dk = xwing::DecapsulationKey::from_seed(&seed(i));
            let (c, _) = dk.encapsulation_key().encapsulate_deterministic(&seed(i));
            (dk, c)
        },
        |(dk, c)| {
            black_box(dk.decapsulate(c));
        },
    )
}

/// A key of SLH-DSA.
fn slh_key(set: slhdsa::ParameterSet) -> slhdsa::SigningKey {
    let [sk_seed, sk_prf, pk_seed] = [1, 2, 3].map(seed::<32>);
    let n = set.seed_len();
    slhdsa::SigningKey::from_seeds(set, &sk_seed[..n], &sk_prf[..n], &pk_seed[..n]).expect("seeds of n bytes")
}

fn slh_keygen(set: slhdsa::ParameterSet) -> Work {
    Box::new(move || {
        black_box(slh_key(black_box(set)).verifying_key());
    })
}

fn slh_sign(set: slhdsa::ParameterSet) -> Work {
    let (key, mut rnd) = (slh_key(set), counter());
    let mut signature = vec![0; set.signature_len()];
    Box::new(move || {
        key.sign_with_randomness_into(&[0; 32], &rnd()[..set.seed_len()], &mut signature)
            .expect("lengths of the set");
        black_box(&signature);
    })
}

fn slh_verify(set: slhdsa::ParameterSet) -> Work {
    let key = slh_key(set);
    let (signature, key) = (key.sign_deterministic(&[0; 32]), key.verifying_key());
    Box::new(move || {
        let _ = black_box(key.verify(&[0; 32], &signature));
    })
}

/// The table of SHA-256 and SHA-512 in many lanes.
fn sha2_kernels() -> Level {
    match cpu::level() {
        level @ (Level::Neon | Level::Avx2 | Level::Avx512) => level,
        _ => Level::Portable,
    }
}

fn lms_key(tree: LmsType, one_time: LmotsType) -> lms::SigningKey {
    // A verifying key is two codes, I of 16 bytes and a node.
    let n = tree.verifying_key_len() - 24;
    lms::SigningKey::from_seed(tree, one_time, &seed(1), &seed::<32>(2)[..n], TreeOptions::new())
        .expect("types that go together")
}

fn xmss_key(set: xmss::ParameterSet) -> xmss::SigningKey {
    // A verifying key is the OID, a node and SEED.
    let n = (set.verifying_key_len() - 4) / 2;
    let [secret, sk_prf, public] = [1, 2, 3].map(seed::<32>);
    xmss::SigningKey::from_seeds(set, &secret[..n], &sk_prf[..n], &public[..n], TreeOptions::new())
        .expect("seeds of n bytes")
}

fn stateful_keygen<K: 'static>(key: impl Fn() -> K + 'static) -> Work {
    Box::new(move || {
        black_box(key());
    })
}

/// Signs with one leaf after the other, the nodes of the tree in memory. A key without leaves is replaced by a new one: one call in a thousand,
/// which does not move the median.
fn stateful_sign<K: StatefulKey + 'static>(key: impl Fn() -> K + 'static) -> Work {
    let signer = move || Signer::new(key(), MemoryStore::new(0));
    let mut current = signer();
    Box::new(move || {
        let index = current.reserve_one().unwrap_or_else(|_| {
            current = signer();
            current.reserve_one().expect("a leaf of a new key")
        });
        black_box(current.sign(index, &[0; 32]).expect("an index of this store"));
    })
}

/// Signatures of the first leaves: what a verification takes depends on the digits of each.
fn stateful_signatures<K: StatefulKey>(key: K) -> Vec<Vec<u8>> {
    let mut signer = Signer::new(key, MemoryStore::new(0));
    let indices = signer.reserve(ROTATION.into()).expect("leaves of a new key");
    indices.map(|index| signer.sign(index, &[0; 32]).expect("an index of this store")).collect()
}

fn lms_verify(key: lms::SigningKey) -> Work {
    let verifying_key = *key.verifying_key();
    let signatures = stateful_signatures(key);
    rotating(
        move |i| signatures[usize::from(i)].clone(),
        move |signature| {
            let _ = black_box(verifying_key.verify(&[0; 32], signature));
        },
    )
}

fn xmss_verify(key: xmss::SigningKey) -> Work {
    let verifying_key = *key.verifying_key();
    let signatures = stateful_signatures(key);
    rotating(
        move |i| signatures[usize::from(i)].clone(),
        move |signature| {
            let _ = black_box(verifying_key.verify(&[0; 32], signature));
        },
    )
}

fn sha3_256() -> Work {
    let data = [0x5a; LONG as usize];
    Box::new(move || {
        black_box(Sha3_256::digest(&data));
    })
}

fn shake128() -> Work {
    let data = [0x5a; LONG as usize];
    Box::new(move || Shake128::digest_into(&data, &mut black_box([0; 32])))
}

fn shake256() -> Work {
    let data = [0x5a; LONG as usize];
    Box::new(move || Shake256::digest_into(&data, &mut black_box([0; 32])))
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    macro_rules! case {
        ($algorithm:expr, $operation:literal, $form:literal, $kernels:path, $bytes:expr, $prepare:expr) => {
            case!($algorithm, $operation, $form, $kernels, $bytes, None, $prepare)
        };
        ($algorithm:expr, $operation:literal, $form:literal, $kernels:path, $bytes:expr, $lengths:expr, $prepare:expr) => {
            cases.push(Case {
                algorithm: $algorithm,
                operation: $operation,
                form: $form,
                by: "gambeson",
                kernels: Some($kernels),
                bytes: $bytes,
                lengths: $lengths,
                prepare: $prepare,
                published_us: None,
            })
        };
    }
    macro_rules! mlkem {
        ($($name:literal, $set:ty;)*) => {$(
            case!($name, "keygen", "compact", mlkem::kernels, None, kem_keygen::<Compact<$set>>);
            case!($name, "keygen", "prepared", mlkem::kernels, None, kem_keygen::<$set>);
            case!($name, "encaps", "compact", mlkem::kernels, None, kem_encaps::<Compact<$set>>);
            case!($name, "encaps", "prepared", mlkem::kernels, None, kem_encaps::<$set>);
            case!($name, "decaps", "compact", mlkem::kernels, None, kem_decaps::<Compact<$set>>);
            case!($name, "decaps", "prepared", mlkem::kernels, None, kem_decaps::<$set>);
        )*};
    }
    macro_rules! mldsa {
        ($($name:literal, $set:ty;)*) => {$(
            let lengths = Some(dsa_lengths::<$set>());
            case!($name, "keygen", "compact", mldsa::kernels, None, lengths, dsa_keygen::<Compact<$set>>);
            case!($name, "keygen", "prepared", mldsa::kernels, None, lengths, dsa_keygen::<$set>);
            case!($name, "sign", "compact", mldsa::kernels, None, lengths, dsa_sign::<Compact<$set>>);
            case!($name, "sign", "prepared", mldsa::kernels, None, lengths, dsa_sign::<$set>);
            case!($name, "verify", "compact", mldsa::kernels, None, lengths, dsa_verify::<Compact<$set>>);
            case!($name, "verify", "prepared", mldsa::kernels, None, lengths, dsa_verify::<$set>);
        )*};
    }
    macro_rules! slhdsa {
        ($($set:ident, $kernels:path;)*) => {$(
            const $set: slhdsa::ParameterSet = slhdsa::ParameterSet::$set;
            let lengths =
                Some(Lengths { verifying_key: $set.verifying_key_len(), signature: $set.signature_len() });
            case!($set.name(), "keygen", "compact", $kernels, None, lengths, || slh_keygen($set));
            case!($set.name(), "sign", "compact", $kernels, None, lengths, || slh_sign($set));
            case!($set.name(), "verify", "compact", $kernels, None, lengths, || slh_verify($set));
        )*};
    }
    macro_rules! lms {
        ($($name:literal, $tree:ident, $one_time:ident;)*) => {$(
            const $tree: fn() -> lms::SigningKey = || lms_key(LmsType::$tree, LmotsType::$one_time);
            let lengths = LmsType::$tree.signature_len(LmotsType::$one_time).map(|signature| Lengths {
                verifying_key: LmsType::$tree.verifying_key_len(),
                signature,
            });
            case!($name, "keygen", "compact", sha2_kernels, None, lengths, || stateful_keygen($tree));
            case!($name, "sign", "compact", sha2_kernels, None, lengths, || stateful_sign($tree));
            case!($name, "verify", "compact", sha2_kernels, None, lengths, || lms_verify($tree()));
        )*};
    }
    macro_rules! xmss {
        ($($set:ident;)*) => {$(
            const $set: xmss::ParameterSet = xmss::ParameterSet::$set;
            let lengths =
                Some(Lengths { verifying_key: $set.verifying_key_len(), signature: $set.signature_len() });
            case!($set.name(), "keygen", "compact", sha2_kernels, None, lengths, || stateful_keygen(|| xmss_key($set)));
            case!($set.name(), "sign", "compact", sha2_kernels, None, lengths, || stateful_sign(|| xmss_key($set)));
            case!($set.name(), "verify", "compact", sha2_kernels, None, lengths, || xmss_verify(xmss_key($set)));
        )*};
    }
    mlkem! { "ML-KEM-512", MlKem512; "ML-KEM-768", MlKem768; "ML-KEM-1024", MlKem1024; }
    case!("X-Wing", "keygen", "compact", mlkem::kernels, None, xwing_keygen);
    case!("X-Wing", "encaps", "compact", mlkem::kernels, None, xwing_encaps);
    case!("X-Wing", "decaps", "compact", mlkem::kernels, None, xwing_decaps);
    mldsa! { "ML-DSA-44", MlDsa44; "ML-DSA-65", MlDsa65; "ML-DSA-87", MlDsa87; }
    slhdsa! {
        SHA2_128S, sha2_kernels; SHA2_128F, sha2_kernels; SHA2_192S, sha2_kernels;
        SHA2_192F, sha2_kernels; SHA2_256S, sha2_kernels; SHA2_256F, sha2_kernels;
        SHAKE_128S, sha3::kernels; SHAKE_128F, sha3::kernels; SHAKE_192S, sha3::kernels;
        SHAKE_192F, sha3::kernels; SHAKE_256S, sha3::kernels; SHAKE_256F, sha3::kernels;
    }
    lms! {
        "LMS-SHA256-192-H10-W8", SHA256_M24_H10, SHA256_N24_W8;
        "LMS-SHA256-H10-W8", SHA256_M32_H10, SHA256_N32_W8;
    }
    xmss! { SHA2_10_192; SHA2_10_256; }
    case!("SHA3-256", "hash", "16 KiB", sha3::kernels, Some(LONG), sha3_256);
    case!("SHAKE128", "hash", "16 KiB", sha3::kernels, Some(LONG), shake128);
    case!("SHAKE256", "hash", "16 KiB", sha3::kernels, Some(LONG), shake256);
    cases
}
