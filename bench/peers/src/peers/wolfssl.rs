//! wolfSSL with its assembly, built by this workspace's build script: see there for the options.
//!
//! Its caches are on: an ML-KEM key object keeps H(ek), and the matrix if it made the key itself; an ML-DSA one keeps
//! the matrix and the decoded vectors. `oneshot` imports into an object that is scrubbed after each use and whose
//! memory stays. Randomness is an argument, in all but `default`. ML-KEM's forms `seed` and `prepared` make the key
//! pair from its seed.
//!
//! `default`: the examples of the manual of wolfSSL 5.9.4, in its sources `doc/dox_comments/header_files/wc_mlkem.h`
//! and `wc_mldsa.h`: those of `wc_MlKemKey_MakeKey`, `wc_MlKemKey_Encapsulate` (whose key "holds the recipient's
//! public key", and so was imported before) and `wc_MlDsaKey_MakeKey`. Decapsulation and signing have none and are
//! called as they are described, with the key that was made. The one example that verifies, of
//! `wc_MlDsaKey_SetPrecompA`, imports the public key before it does; what it precomputes is of another build. The
//! generator is initialised once.
//!
//! Its level is the processor's, or AVX2 after [`peer`] was called with that limit: wolfSSL looks at the processor
//! once.

use std::rc::Rc;

use gambeson::cpu::Level;

use super::{
    Form, KemPeer, KemSet, KemVerb, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work, hash_based,
};
use crate::cases::{KemCase, KemCases, SignatureCases, SignatureKey};

mod ffi;

/// The peer; `limit` is what the run is limited to. There is none without AVX2: the library's C code is not its best.
pub fn peer(limit: Option<Level>) -> Option<Peer> {
    if limit == Some(Level::Avx2) {
        ffi::without_avx512();
    }
    let (name, level) = match ffi::level() {
        3 => ("wolfSSL", Level::Avx512),
        2 => ("wolfSSL-avx2", Level::Avx2),
        _ => return None,
    };
    Some(Peer {
        name,
        packages: &[],
        level,
        note: concat!("wolfSSL ", env!("BENCH_WOLFSSL"), "; randomness as an argument but in `default`"),
        kem: Some(Box::new(WolfSsl)),
        signature: Some(Box::new(WolfSsl)),
    })
}

struct WolfSsl;

impl KemPeer for WolfSsl {
    fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work> {
        let k = match set {
            KemSet::MlKem512 => 2,
            KemSet::MlKem768 => 3,
            KemSet::MlKem1024 => 4,
        };
        let cases = cases.clone();
        let mut public = vec![0; cases.all[0].public.len()];
        let mut private = vec![0; cases.all[0].private.len()];
        let mut ciphertext = vec![0; cases.all[0].ciphertext.len()];
        let mut secret = [0; 32];
        let mut key = ffi::Kem::new(k);
        let mut rng = ffi::Rng::new();
        match (verb, form) {
            (KemVerb::Keygen, Form::Default) => {
                let (mut encoded, mut its_rng) = (ffi::Kem::new(k), ffi::Rng::new());
                Work::unencoded(
                    move |_| {
                        key.make(&mut rng);
                        key.reset();
                    },
                    move |_, answer| {
                        encoded.make(&mut its_rng);
                        encoded.export(&mut public, &mut private);
                        answer.set(&public, &private);
                        encoded.reset();
                    },
                )
            }
            (KemVerb::Encaps, Form::Default) => {
                let imported = |case: &KemCase| {
                    let mut key = ffi::Kem::new(k);
                    key.import_public(&case.public);
                    key
                };
                let mut keys: Vec<_> = cases.all.iter().map(imported).collect();
                Work::random(move |i, answer| {
                    keys[i].encapsulate_random(&mut ciphertext, &mut secret, &mut rng);
                    answer.set(&ciphertext, secret);
                })
            }
            (KemVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
                key.generate(&cases.all[i].seed, &mut public, &mut private);
                answer.set(&public, &private);
                key.reset();
            }),
            (KemVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
                key.generate(&cases.all[i].seed, &mut public, &mut []);
                answer.set(&public, []);
                key.reset();
            }),
            (KemVerb::Encaps, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                key.import_public(&case.public);
                key.encapsulate(&case.m, &mut ciphertext, &mut secret);
                answer.set(&ciphertext, secret);
                key.reset();
            }),
            (KemVerb::Encaps, Form::Prepared) => {
                let mut keys = pairs(k, &cases);
                Work::exact(move |i, answer| {
                    keys[i].encapsulate(&cases.all[i].m, &mut ciphertext, &mut secret);
                    answer.set(&ciphertext, secret);
                })
            }
            (KemVerb::Decaps, Form::Oneshot) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                key.import_private(&case.private);
                key.decapsulate(&case.ciphertext, &mut secret);
                answer.set([], secret);
                key.reset();
            }),
            (KemVerb::Decaps, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                key.generate(&case.seed, &mut public, &mut []);
                key.decapsulate(&case.ciphertext, &mut secret);
                answer.set([], secret);
                key.reset();
            }),
            (KemVerb::Decaps, Form::Default | Form::Prepared) => {
                let mut keys = pairs(k, &cases);
                Work::exact(move |i, answer| {
                    keys[i].decapsulate(&cases.all[i].ciphertext, &mut secret);
                    answer.set([], secret);
                })
            }
            _ => None,
        }
    }
}

/// Keys that keep their matrix: only those do that the library made itself.
fn pairs(k: usize, cases: &KemCases) -> Vec<ffi::Kem> {
    (cases.all.iter())
        .map(|case| {
            let mut key = ffi::Kem::new(k);
            // Encoding computes H(ek), which stays too.
            key.generate(&case.seed, &mut vec![0; case.public.len()], &mut vec![0; case.private.len()]);
            key
        })
        .collect()
}

impl SignaturePeer for WolfSsl {
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work> {
        let level = match set {
            SignatureSet::MlDsa44 => 44,
            SignatureSet::MlDsa65 => 65,
            SignatureSet::MlDsa87 => 87,
            _ => return hash_based::wolfssl().work(set, verb, form, cases),
        };
        let cases = cases.clone();
        let mut public = vec![0; cases.keys[0].public.len()];
        let mut private = vec![0; cases.keys[0].private.len()];
        let mut signature = vec![0; cases.all[0].signature.len()];
        let mut key = ffi::Dsa::new(level);
        let mut rng = ffi::Rng::new();
        match (verb, form) {
            (SignatureVerb::Keygen, Form::Default) => {
                let (mut encoded, mut its_rng) = (ffi::Dsa::new(level), ffi::Rng::new());
                Work::unencoded(
                    move |_| {
                        key.make(&mut rng);
                        key.reset();
                    },
                    move |_, answer| {
                        encoded.make(&mut its_rng);
                        encoded.export_public(&mut public);
                        encoded.export_private(&mut private);
                        answer.set(&public, &private);
                        encoded.reset();
                    },
                )
            }
            (SignatureVerb::Sign, Form::Default) => {
                let mut keys = held(level, &cases, |key, of| key.generate(&of.xi()));
                Work::random(move |i, answer| {
                    let case = &cases.all[i];
                    keys[case.key].sign_random(&case.message, &mut signature, &mut rng);
                    answer.set(&signature, []);
                })
            }
            (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
                key.generate(&cases.key(i).xi());
                key.export_public(&mut public);
                key.export_private(&mut private);
                answer.set(&public, &private);
                key.reset();
            }),
            (SignatureVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
                key.generate(&cases.key(i).xi());
                key.export_public(&mut public);
                answer.set(&public, []);
                key.reset();
            }),
            (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
                key.import_private(&cases.key(i).private);
                key.sign(&cases.all[i].message, &mut signature);
                answer.set(&signature, []);
                key.reset();
            }),
            (SignatureVerb::Sign, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
                key.generate(&cases.key(i).xi());
                key.sign(&cases.all[i].message, &mut signature);
                answer.set(&signature, []);
                key.reset();
            }),
            (SignatureVerb::Sign, Form::Prepared) => {
                let mut keys = held(level, &cases, |key, of| key.import_private(&of.private));
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    keys[case.key].sign(&case.message, &mut signature);
                    answer.set(&signature, []);
                })
            }
            (SignatureVerb::Verify, Form::Default | Form::Oneshot | Form::Compact) => {
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    key.import_public(&cases.key(i).public);
                    answer.set([u8::from(key.verify(&case.message, &case.signature))], []);
                    key.reset();
                })
            }
            (SignatureVerb::Verify, Form::Prepared) => {
                let mut keys = held(level, &cases, |key, of| key.import_public(&of.public));
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    answer.set([u8::from(keys[case.key].verify(&case.message, &case.signature))], []);
                })
            }
            _ => None,
        }
    }
}

/// Keys that keep what the library caches when `fill` makes or imports them.
fn held(level: i32, cases: &SignatureCases, fill: fn(&mut ffi::Dsa, &SignatureKey)) -> Vec<ffi::Dsa> {
    (cases.keys.iter())
        .map(|of| {
            let mut key = ffi::Dsa::new(level);
            fill(&mut key, of);
            key
        })
        .collect()
}
