//! `libcrux-ml-kem` and `libcrux-ml-dsa`, twice: their portable modules, and their AVX2 ones (feature `simd256`).
//!
//! The input checks of FIPS 203 are functions of their own there; `oneshot` calls them, as ours and others check too.
//! Private keys import in the standard's encoding. ML-KEM's «unpacked» keys keep the matrix; ML-DSA keys are their
//! bytes, so that there is no prepared form of it.
//!
//! `default`: the examples of the READMEs of libcrux-ml-kem 0.0.11 and libcrux-ml-dsa 0.0.11, which are the front
//! pages of their documentation (<https://docs.rs/libcrux-ml-kem/0.0.11>,
//! <https://crates.io/crates/libcrux-ml-dsa/0.0.11>). They fill arrays from the operating system's generator
//! of the crate rand (its `SysRng` is getrandom's), check no keys, and call functions that choose the module at run
//! time: each of the two peers calls its own module. The example of ML-DSA is older than the argument for the context,
//! which is empty here.

use std::rc::Rc;

use gambeson::cpu::Level;
use ml_dsa::common::getrandom::SysRng;
use ml_dsa::common::getrandom::rand_core::TryRng as _;

use super::{Form, KemPeer, KemSet, KemVerb, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work};
use crate::cases::{KemCases, SignatureCases};

/// The examples' function of this name.
fn random_array<const L: usize>() -> [u8; L] {
    let mut bytes = [0; L];
    SysRng.try_fill_bytes(&mut bytes).expect("randomness");
    bytes
}

const PACKAGES: &[&str] = &["libcrux-ml-kem", "libcrux-ml-dsa"];
const NOTE: &str = "ML-KEM «unpacked» keys keep the matrix, ML-DSA has no key objects";

/// The portable modules.
pub fn portable() -> Peer {
    Peer {
        name: "libcrux-portable",
        packages: PACKAGES,
        level: Level::Portable,
        note: NOTE,
        kem: Some(Box::new(portable::Libcrux)),
        signature: Some(Box::new(portable::Libcrux)),
    }
}

/// The AVX2 modules, where the processor has it.
#[cfg(target_arch = "x86_64")]
pub fn avx2() -> Option<Peer> {
    (super::vector_level() == Level::Avx2).then(|| Peer {
        name: "libcrux",
        packages: PACKAGES,
        level: Level::Avx2,
        note: NOTE,
        kem: Some(Box::new(avx2::Libcrux)),
        signature: Some(Box::new(avx2::Libcrux)),
    })
}

/// There are none on this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub fn avx2() -> Option<Peer> {
    None
}

macro_rules! kem {
    ($set:ident, $module:ident, $public:ident, $private:ident, $ciphertext:ident, $verb:expr, $form:expr, $cases:expr) => {{
        use libcrux_ml_kem::$set::{self as set, $module as door};
        let cases = $cases.clone();
        let public = |bytes: &[u8]| {
            let key = set::$public::try_from(bytes).expect("the right length");
            assert!(door::validate_public_key(&key), "a good key");
            key
        };
        let private = |bytes: &[u8]| {
            let key = set::$private::try_from(bytes).expect("the right length");
            assert!(door::validate_private_key_only(&key), "a good key");
            key
        };
        let ciphertext = |bytes: &[u8]| set::$ciphertext::try_from(bytes).expect("the right length");
        match ($verb, $form) {
            (KemVerb::Keygen, Form::Default) => Work::key(
                || door::generate_key_pair(random_array()),
                |pair, answer| answer.set(pair.pk(), pair.sk()),
            ),
            (KemVerb::Encaps, Form::Default) => {
                let pair = |seed| door::generate_key_pair(seed);
                let pairs: Vec<_> = cases.all.iter().map(|case| pair(case.seed)).collect();
                Work::random(move |i, answer| {
                    let (c, k) = door::encapsulate(pairs[i].public_key(), random_array());
                    answer.set(c, k);
                })
            }
            (KemVerb::Decaps, Form::Default) => {
                let pair = |seed| door::generate_key_pair(seed);
                let held: Vec<_> =
                    cases.all.iter().map(|case| (pair(case.seed), ciphertext(&case.ciphertext))).collect();
                Work::exact(move |i, answer| {
                    let (pair, c) = &held[i];
                    answer.set([], door::decapsulate(pair.private_key(), c));
                })
            }
            (KemVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
                let pair = door::generate_key_pair(cases.all[i].seed);
                answer.set(pair.pk(), pair.sk());
            }),
            (KemVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
                answer.set(door::generate_key_pair(cases.all[i].seed).pk(), []);
            }),
            (KemVerb::Encaps, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let (c, k) = door::encapsulate(&public(&case.public), case.m);
                answer.set(c, k);
            }),
            (KemVerb::Encaps, Form::Prepared) => {
                let keys: Vec<_> = (cases.all.iter())
                    .map(|case| {
                        let mut key = door::unpacked::init_public_key();
                        door::unpacked::unpacked_public_key(&public(&case.public), &mut key);
                        key
                    })
                    .collect();
                Work::exact(move |i, answer| {
                    let (c, k) = door::unpacked::encapsulate(&keys[i], cases.all[i].m);
                    answer.set(c, k);
                })
            }
            (KemVerb::Decaps, Form::Oneshot) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let k = door::decapsulate(&private(&case.private), &ciphertext(&case.ciphertext));
                answer.set([], k);
            }),
            (KemVerb::Decaps, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let key = door::unpacked::generate_key_pair(case.seed);
                answer.set([], door::unpacked::decapsulate(&key, &ciphertext(&case.ciphertext)));
            }),
            (KemVerb::Decaps, Form::Prepared) => {
                let keys: Vec<_> = (cases.all.iter())
                    .map(|case| {
                        let mut key = door::unpacked::init_key_pair();
                        door::unpacked::key_pair_from_private_mut(&private(&case.private), &mut key);
                        key
                    })
                    .collect();
                Work::exact(move |i, answer| {
                    let k = door::unpacked::decapsulate(&keys[i], &ciphertext(&cases.all[i].ciphertext));
                    answer.set([], k);
                })
            }
            _ => None,
        }
    }};
}

macro_rules! signature {
    ($set:ident, $module:ident, $public:ident, $private:ident, $signature:ident, $verb:expr, $form:expr, $cases:expr) => {{
        use libcrux_ml_dsa::$set::{self as set, $module as door};
        let cases = $cases.clone();
        match ($verb, $form) {
            (SignatureVerb::Keygen, Form::Default) => Work::key(
                || door::generate_key_pair(random_array()),
                |pair, answer| answer.set(pair.verification_key.as_slice(), pair.signing_key.as_slice()),
            ),
            (SignatureVerb::Sign, Form::Default) => {
                let pair = |seed| door::generate_key_pair(seed);
                let pairs: Vec<_> = cases.keys.iter().map(|key| pair(key.xi())).collect();
                Work::random(move |i, answer| {
                    let case = &cases.all[i];
                    let key = &pairs[case.key].signing_key;
                    let signature = door::sign(key, &case.message, &[], random_array()).expect("a signature");
                    answer.set(signature.as_slice(), []);
                })
            }
            (SignatureVerb::Verify, Form::Default) => {
                let pair = |seed| door::generate_key_pair(seed);
                let pairs: Vec<_> = cases.keys.iter().map(|key| pair(key.xi())).collect();
                let signature =
                    |bytes: &[u8]| set::$signature::new(bytes.try_into().expect("the right length"));
                let signatures: Vec<_> = cases.all.iter().map(|case| signature(&case.signature)).collect();
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    let key = &pairs[case.key].verification_key;
                    let verdict = door::verify(key, &case.message, &[], &signatures[i]);
                    answer.set([u8::from(verdict.is_ok())], []);
                })
            }
            (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
                let pair = door::generate_key_pair(cases.key(i).xi());
                answer.set(pair.verification_key.as_slice(), pair.signing_key.as_slice());
            }),
            (SignatureVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
                let pair = door::generate_key_pair(cases.key(i).xi());
                answer.set(pair.verification_key.as_slice(), []);
            }),
            (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
                let bytes = cases.key(i).private[..].try_into().expect("the right length");
                let key = set::$private::new(bytes);
                let signature = door::sign(&key, &cases.all[i].message, &[], [0; 32]).expect("a signature");
                answer.set(signature.as_slice(), []);
            }),
            (SignatureVerb::Sign, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
                let key = door::generate_key_pair(cases.key(i).xi()).signing_key;
                let signature = door::sign(&key, &cases.all[i].message, &[], [0; 32]).expect("a signature");
                answer.set(signature.as_slice(), []);
            }),
            (SignatureVerb::Verify, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let key = set::$public::new(cases.key(i).public[..].try_into().expect("the right length"));
                let signature =
                    set::$signature::new(case.signature[..].try_into().expect("the right length"));
                let verdict = door::verify(&key, &case.message, &[], &signature);
                answer.set([u8::from(verdict.is_ok())], []);
            }),
            _ => None,
        }
    }};
}

macro_rules! peer {
    ($module:ident) => {
        mod $module {
            use super::*;

            pub struct Libcrux;

            #[rustfmt::skip]
            impl KemPeer for Libcrux {
                fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work> {
                    match set {
                        KemSet::MlKem512 => kem!(mlkem512, $module, MlKem512PublicKey, MlKem512PrivateKey, MlKem512Ciphertext, verb, form, cases),
                        KemSet::MlKem768 => kem!(mlkem768, $module, MlKem768PublicKey, MlKem768PrivateKey, MlKem768Ciphertext, verb, form, cases),
                        KemSet::MlKem1024 => kem!(mlkem1024, $module, MlKem1024PublicKey, MlKem1024PrivateKey, MlKem1024Ciphertext, verb, form, cases),
                    }
                }
            }

            #[rustfmt::skip]
            impl SignaturePeer for Libcrux {
                fn work(&self, set: SignatureSet, verb: SignatureVerb, form: Form, cases: &Rc<SignatureCases>) -> Option<Work> {
                    match set {
                        SignatureSet::MlDsa44 => signature!(ml_dsa_44, $module, MLDSA44VerificationKey, MLDSA44SigningKey, MLDSA44Signature, verb, form, cases),
                        SignatureSet::MlDsa65 => signature!(ml_dsa_65, $module, MLDSA65VerificationKey, MLDSA65SigningKey, MLDSA65Signature, verb, form, cases),
                        SignatureSet::MlDsa87 => signature!(ml_dsa_87, $module, MLDSA87VerificationKey, MLDSA87SigningKey, MLDSA87Signature, verb, form, cases),
                        _ => None,
                    }
                }
            }
        }
    };
}

peer!(portable);
#[cfg(target_arch = "x86_64")]
peer!(avx2);
