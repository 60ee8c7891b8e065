//! RustCrypto `ml-kem`, `ml-dsa`, `slh-dsa` and `lms-signature`: portable Rust.
//!
//! Their hashes (`shake`, `sha3` over `keccak` 0.2) run the portable permutation on x86-64: `keccak` has vector code
//! only behind a `cfg` that needs nightly, and its run-time choice exists on aarch64 alone (the SHA-3 instructions).
//!
//! Inputs of their doors: `oneshot` imports private keys in the standard's encoding (deprecated there, but it is what
//! the other peers take), `seed` and `compact` import the seed, which they recommend. `ml-kem` keeps no matrix in its
//! key objects and samples it in every call; `ml-dsa` keeps the matrix and the transformed vectors.
//!
//! `default`: the examples at the head of the documentation of ml-kem 0.3.4 and ml-dsa 0.1.2
//! (<https://docs.rs/ml-kem/0.3.4>, <https://docs.rs/ml-dsa/0.1.2>). Key generation of ML-KEM makes both keys; a
//! signature is deterministic, and is not encoded; the verifying key is taken from the signing key, as README.md takes
//! ours. SLH-DSA: the example at the head of the documentation of slh-dsa 0.2.0-rc.5, which signs hedged.
//!
//! The SHA-256 and SHA-512 of `slh-dsa` and `lms-signature` use the SHA extensions and AVX2 whatever the limit. An LMS key keeps its whole
//! tree.
#![allow(deprecated, reason = "the import of private keys in the standard's encoding")]

use std::hint::black_box;
use std::rc::Rc;

use gambeson::cpu::Level;

use super::{Form, KemPeer, KemSet, KemVerb, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work};
use crate::cases::{KemCases, SignatureCases};

/// The peer.
pub fn peer() -> Peer {
    Peer {
        name: "RustCrypto",
        packages: &["ml-kem", "ml-dsa", "slh-dsa", "lms-signature"],
        level: if cfg!(target_arch = "aarch64") { Level::Neon } else { Level::Portable },
        note: "ML-KEM key objects keep no matrix, ML-DSA ones do",
        kem: Some(Box::new(RustCrypto)),
        signature: Some(Box::new(RustCrypto)),
    }
}

struct RustCrypto;

impl KemPeer for RustCrypto {
    fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work> {
        match set {
            KemSet::MlKem512 => ml_kem_512::work(verb, form, cases.clone()),
            KemSet::MlKem768 => ml_kem_768::work(verb, form, cases.clone()),
            KemSet::MlKem1024 => ml_kem_1024::work(verb, form, cases.clone()),
        }
    }
}

impl SignaturePeer for RustCrypto {
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work> {
        match set {
            SignatureSet::MlDsa44 => signature::<ml_dsa::MlDsa44>(verb, form, cases.clone()),
            SignatureSet::MlDsa65 => signature::<ml_dsa::MlDsa65>(verb, form, cases.clone()),
            SignatureSet::MlDsa87 => signature::<ml_dsa::MlDsa87>(verb, form, cases.clone()),
            SignatureSet::SlhDsaSha2_128s => slh_dsa::<slh_dsa::Sha2_128s>(verb, form, cases.clone()),
            SignatureSet::SlhDsaSha2_128f => slh_dsa::<slh_dsa::Sha2_128f>(verb, form, cases.clone()),
            SignatureSet::SlhDsaSha2_192s => slh_dsa::<slh_dsa::Sha2_192s>(verb, form, cases.clone()),
            SignatureSet::SlhDsaSha2_256s => slh_dsa::<slh_dsa::Sha2_256s>(verb, form, cases.clone()),
            SignatureSet::SlhDsaSha2_256f => slh_dsa::<slh_dsa::Sha2_256f>(verb, form, cases.clone()),
            SignatureSet::SlhDsaShake128f => slh_dsa::<slh_dsa::Shake128f>(verb, form, cases.clone()),
            SignatureSet::LmsSha256H10W8 => lms(verb, form, cases.clone()),
            SignatureSet::XmssSha2_10_256 => None,
        }
    }
}

macro_rules! kem {
    ($($set:ident $name:ident),*) => {$(
        mod $set {
            use super::*;
            use ml_kem::$set::{Ciphertext, DecapsulationKey, EncapsulationKey, ExpandedDecapsulationKey};
            use ml_kem::kem::{Encapsulate as _, Kem as _};
            use ml_kem::{B32, Decapsulate as _, ExpandedKeyEncoding as _, KeyExport as _, Seed};

            pub fn work(verb: KemVerb, form: Form, cases: Rc<KemCases>) -> Option<Work> {
                let public = |bytes: &[u8]| {
                    EncapsulationKey::new(bytes.try_into().expect("the right length")).expect("a good key")
                };
                let private = |bytes: &[u8]| {
                    let bytes: &ExpandedDecapsulationKey = bytes.try_into().expect("the right length");
                    DecapsulationKey::from_expanded_bytes(bytes).expect("a good key")
                };
                let ciphertext = |bytes: &[u8]| Ciphertext::try_from(bytes).expect("the right length");
                match (verb, form) {
                    (KemVerb::Keygen, Form::Default) => {
                        Work::key(ml_kem::$name::generate_keypair, |(private, public), answer| {
                            answer.set(public.to_bytes(), private.to_expanded_bytes());
                        })
                    }
                    (KemVerb::Encaps, Form::Default) => {
                        let keys: Vec<_> = cases.all.iter().map(|case| public(&case.public)).collect();
                        Work::random(move |i, answer| {
                            let (c, k) = keys[i].encapsulate();
                            answer.set(c, k);
                        })
                    }
                    (KemVerb::Decaps, Form::Default) => {
                        let key = |seed| DecapsulationKey::from_seed(Seed::from(seed));
                        let held: Vec<_> = (cases.all.iter())
                            .map(|case| (key(case.seed), ciphertext(&case.ciphertext)))
                            .collect();
                        Work::exact(move |i, answer| {
                            let (key, c) = &held[i];
                            answer.set([], key.decapsulate(c));
                        })
                    }
                    (KemVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
                        let key = DecapsulationKey::from_seed(Seed::from(cases.all[i].seed));
                        answer.set(key.encapsulation_key().to_bytes(), key.to_expanded_bytes());
                    }),
                    (KemVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
                        let key = DecapsulationKey::from_seed(Seed::from(cases.all[i].seed));
                        answer.set(key.encapsulation_key().to_bytes(), []);
                    }),
                    (KemVerb::Encaps, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                        let case = &cases.all[i];
                        let (c, k) = public(&case.public).encapsulate_deterministic(&B32::from(case.m));
                        answer.set(c, k);
                    }),
                    (KemVerb::Encaps, Form::Prepared) => {
                        let keys: Vec<_> = cases.all.iter().map(|case| public(&case.public)).collect();
                        Work::exact(move |i, answer| {
                            let (c, k) = keys[i].encapsulate_deterministic(&B32::from(cases.all[i].m));
                            answer.set(c, k);
                        })
                    }
                    (KemVerb::Decaps, Form::Oneshot) => Work::exact(move |i, answer| {
                        let case = &cases.all[i];
                        answer.set([], private(&case.private).decapsulate(&ciphertext(&case.ciphertext)));
                    }),
                    (KemVerb::Decaps, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
                        let case = &cases.all[i];
                        let key = DecapsulationKey::from_seed(Seed::from(case.seed));
                        answer.set([], key.decapsulate(&ciphertext(&case.ciphertext)));
                    }),
                    (KemVerb::Decaps, Form::Prepared) => {
                        let keys: Vec<_> = cases.all.iter().map(|case| private(&case.private)).collect();
                        Work::exact(move |i, answer| {
                            answer.set([], keys[i].decapsulate(&ciphertext(&cases.all[i].ciphertext)));
                        })
                    }
                    _ => None,
                }
            }
        }
    )*};
}

kem!(ml_kem_512 MlKem512, ml_kem_768 MlKem768, ml_kem_1024 MlKem1024);

fn signature<P: ml_dsa::MlDsaParams + 'static>(
    verb: SignatureVerb,
    form: Form,
    cases: Rc<SignatureCases>,
) -> Option<Work> {
    use ml_dsa::{EncodedSignature, ExpandedSigningKey, Seed, Signature, SigningKey, VerifyingKey};
    use ml_dsa::{Generate as _, Keypair as _, Signer as _, Verifier as _};

    let public = |bytes: &[u8]| VerifyingKey::<P>::decode(bytes.try_into().expect("the right length"));
    let private =
        |bytes: &[u8]| ExpandedSigningKey::<P>::from_expanded(bytes.try_into().expect("the right length"));
    let sign = |key: &ExpandedSigningKey<P>, message: &[u8]| {
        key.sign_deterministic(message, &[]).expect("an empty context is short enough").encode()
    };
    let verify = |key: &VerifyingKey<P>, message: &[u8], signature: &[u8]| {
        let signature: &EncodedSignature<P> = signature.try_into().expect("the right length");
        Signature::decode(signature)
            .is_some_and(|signature| key.verify_with_context(message, &[], &signature))
    };
    let generated = |cases: &SignatureCases| -> Vec<_> {
        cases.keys.iter().map(|key| SigningKey::<P>::from_seed(&Seed::from(key.xi()))).collect()
    };
    match (verb, form) {
        (SignatureVerb::Keygen, Form::Default) => Work::key(SigningKey::<P>::generate, |key, answer| {
            answer.set(key.verifying_key().encode(), key.expanded_key().to_expanded());
        }),
        (SignatureVerb::Sign, Form::Default) => {
            let keys = Rc::new(generated(&cases));
            let sign = move |i: usize| keys[cases.all[i].key].sign(&cases.all[i].message);
            let again = sign.clone();
            let work = Work::unencoded(
                move |i| {
                    black_box(&sign(i));
                },
                move |i, answer| answer.set(again(i).encode(), []),
            );
            work.map(|work| Work { random: false, ..work })
        }
        (SignatureVerb::Verify, Form::Default) => {
            let keys = generated(&cases);
            let decoded = |bytes: &[u8]| Signature::<P>::decode(bytes.try_into().expect("the right length"));
            let signatures: Vec<_> = cases.all.iter().map(|case| decoded(&case.signature)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let valid = signatures[i].as_ref().is_some_and(|signature| {
                    keys[case.key].verifying_key().verify(&case.message, signature).is_ok()
                });
                answer.set([u8::from(valid)], []);
            })
        }
        (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            let key = SigningKey::<P>::from_seed(&Seed::from(cases.key(i).xi()));
            answer.set(AsRef::<VerifyingKey<P>>::as_ref(&key).encode(), key.expanded_key().to_expanded());
        }),
        (SignatureVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
            let key = SigningKey::<P>::from_seed(&Seed::from(cases.key(i).xi()));
            answer.set(AsRef::<VerifyingKey<P>>::as_ref(&key).encode(), []);
        }),
        (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
            answer.set(sign(&private(&cases.key(i).private), &cases.all[i].message), []);
        }),
        (SignatureVerb::Sign, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
            let key = SigningKey::<P>::from_seed(&Seed::from(cases.key(i).xi()));
            answer.set(sign(key.expanded_key(), &cases.all[i].message), []);
        }),
        (SignatureVerb::Sign, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| private(&key.private)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set(sign(&keys[case.key], &case.message), []);
            })
        }
        (SignatureVerb::Verify, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let valid = verify(&public(&cases.key(i).public), &case.message, &case.signature);
            answer.set([u8::from(valid)], []);
        }),
        (SignatureVerb::Verify, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| public(&key.public)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set([u8::from(verify(&keys[case.key], &case.message, &case.signature))], []);
            })
        }
        _ => None,
    }
}

fn slh_dsa<P: slh_dsa::ParameterSet + 'static>(
    verb: SignatureVerb,
    form: Form,
    cases: Rc<SignatureCases>,
) -> Option<Work> {
    use getrandom::SysRng;
    use getrandom::rand_core::UnwrapErr;
    use slh_dsa::signature::{Keypair as _, RandomizedSigner as _, Signer as _, Verifier as _};
    use slh_dsa::{Signature, SigningKey, VerifyingKey};

    let public = |bytes: &[u8]| VerifyingKey::<P>::try_from(bytes).expect("the right length");
    let private = |bytes: &[u8]| SigningKey::<P>::try_from(bytes).expect("the right length");
    let verify = |key: &VerifyingKey<P>, message: &[u8], signature: &[u8]| {
        Signature::<P>::try_from(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
    };
    match (verb, form) {
        (SignatureVerb::Keygen, Form::Default) => Work::key(
            || SigningKey::<P>::new(&mut UnwrapErr(SysRng)),
            |key, answer| answer.set(key.verifying_key().to_vec(), key.to_vec()),
        ),
        (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            let seed = &cases.key(i).seed;
            let (sk_seed, rest) = seed.split_at(seed.len() / 3);
            let (sk_prf, pk_seed) = rest.split_at(seed.len() / 3);
            let key = SigningKey::<P>::slh_keygen_internal(sk_seed, sk_prf, pk_seed);
            answer.set(key.verifying_key().to_vec(), key.to_vec());
        }),
        (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
            let key = private(&cases.key(i).private);
            answer.set(key.sign(&cases.all[i].message).to_vec(), []);
        }),
        (SignatureVerb::Sign, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| private(&key.private)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set(keys[case.key].sign(&case.message).to_vec(), []);
            })
        }
        (SignatureVerb::Sign, Form::Default) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| private(&key.private)).collect();
            Work::random(move |i, answer| {
                let case = &cases.all[i];
                let signature = keys[case.key].sign_with_rng(&mut UnwrapErr(SysRng), &case.message);
                answer.set(signature.to_vec(), []);
            })
        }
        (SignatureVerb::Verify, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let valid = verify(&public(&cases.key(i).public), &case.message, &case.signature);
            answer.set([u8::from(valid)], []);
        }),
        (SignatureVerb::Verify, Form::Default | Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| public(&key.public)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set([u8::from(verify(&keys[case.key], &case.message, &case.signature))], []);
            })
        }
        _ => None,
    }
}

fn lms(verb: SignatureVerb, form: Form, cases: Rc<SignatureCases>) -> Option<Work> {
    use getrandom::SysRng;
    use lms_signature::lms::{LmsSha256M32H10, Signature, SigningKey, VerifyingKey};
    use lms_signature::ots::LmsOtsSha256N32W8;
    use slh_dsa::signature::{RandomizedSignerMut as _, Verifier as _};

    type Set = LmsSha256M32H10<LmsOtsSha256N32W8>;
    /// The bytes of HSS before a key or a signature.
    const LEVELS: usize = 4;
    let make = |seed: &[u8]| {
        let (identifier, seed) = seed.split_first_chunk().expect("long enough");
        SigningKey::<Set>::new_from_seed(*identifier, seed).expect("a seed of 32 bytes")
    };
    let encoded = |key: &VerifyingKey<Set>| {
        let bytes: ml_kem::array::Array<u8, _> = key.clone().into();
        [&1_u32.to_be_bytes()[..], bytes.as_slice()].concat()
    };
    let public = |bytes: &[u8]| VerifyingKey::<Set>::try_from(&bytes[LEVELS..]).expect("a good key");
    let verify = |key: &VerifyingKey<Set>, message: &[u8], signature: &[u8]| {
        Signature::<Set>::try_from(&signature[LEVELS..])
            .is_ok_and(|signature| key.verify(message, &signature).is_ok())
    };
    match (verb, form) {
        (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            answer.set(encoded(&make(&cases.key(i).seed).public()), []);
        }),
        (SignatureVerb::Sign, Form::Prepared) => {
            let key = Rc::new(std::cell::RefCell::new(make(&cases.key(0).seed)));
            let sign = move |key: &std::cell::RefCell<SigningKey<Set>>, message: &[u8]| {
                key.borrow_mut().sign_with_rng(&mut getrandom::rand_core::UnwrapErr(SysRng), message)
            };
            let (same, again) = (key.clone(), cases.clone());
            Work::unencoded(
                move |i| {
                    black_box(&sign(&key, &cases.all[i].message));
                },
                move |i, answer| {
                    let signature: Vec<u8> = sign(&same, &again.all[i].message).into();
                    answer.set(0_u32.to_be_bytes(), encoded(&same.borrow().public()));
                    answer.add(signature, []);
                },
            )
        }
        (SignatureVerb::Verify, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let valid = verify(&public(&cases.key(i).public), &case.message, &case.signature);
            answer.set([u8::from(valid)], []);
        }),
        (SignatureVerb::Verify, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| public(&key.public)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set([u8::from(verify(&keys[case.key], &case.message, &case.signature))], []);
            })
        }
        _ => None,
    }
}
