//! Ours.
//!
//! `default` is the example of README.md, "A minute for a Rust developer": `generate()`; `from_bytes` and
//! `encapsulate()`; `decapsulate`; `sign`, which is hedged; `verifying_key().verify`. `oneshot` takes the fastest door
//! for a key that is used once: there are some from bytes, otherwise the key is imported and so prepared, as for
//! `seed`. `compact` never prepares anything, and `batch64` is one call.
//!
//! SLH-DSA's import of a signing key makes PK.root again, which no peer does: `oneshot` contains that. A prepared signing key keeps the
//! highest tree. `batch8` is one call with one key; `sign_many` prepares it. LMS is that of HSS with one level. Keys
//! of LMS and XMSS are made of their seeds and keep their whole tree; the store that counts the leaves is in memory.

use std::rc::Rc;

use gambeson::cpu::Level;
use gambeson::mldsa::{self, Message, SigningKey, VerifyingKey, VerifyingKeyRef};
use gambeson::mlkem::{self, DecapsulationKey, EncapsulationKey, EncapsulationKeyRef};
use gambeson::{Bytes, Compact, slhdsa};

use super::{
    BATCH, EIGHT, Family, Form, KemPeer, KemSet, KemVerb, SignaturePeer, SignatureSet, SignatureVerb, Work,
};
use crate::cases::{KemCases, SignatureCases, slh_dsa_set};
use crate::stateful::{Signer, Verifier};

/// This project.
pub struct Ours;

impl KemPeer for Ours {
    fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work> {
        match set {
            KemSet::MlKem512 => kem::<mlkem::MlKem512>(verb, form, cases.clone()),
            KemSet::MlKem768 => kem::<mlkem::MlKem768>(verb, form, cases.clone()),
            KemSet::MlKem1024 => kem::<mlkem::MlKem1024>(verb, form, cases.clone()),
        }
    }
}

impl SignaturePeer for Ours {
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work> {
        match set {
            SignatureSet::MlDsa44 => signature::<mldsa::MlDsa44>(verb, form, cases.clone()),
            SignatureSet::MlDsa65 => signature::<mldsa::MlDsa65>(verb, form, cases.clone()),
            SignatureSet::MlDsa87 => signature::<mldsa::MlDsa87>(verb, form, cases.clone()),
            _ => match set.family() {
                Family::SlhDsa => slh_dsa(slh_dsa_set(set), verb, form, cases.clone()),
                _ => stateful(set, verb, form, cases.clone()),
            },
        }
    }
}

fn kem<P: mlkem::PreparedSet>(verb: KemVerb, form: Form, cases: Rc<KemCases>) -> Option<Work> {
    let private = |bytes: &[u8]| DecapsulationKey::<P>::from_encoded(bytes).expect("a good key");
    let ciphertext = |bytes: &[u8]| P::Ciphertext::try_from(bytes).expect("the right length");
    match (verb, form) {
        (KemVerb::Keygen, Form::Default) => Work::key(
            || DecapsulationKey::<P>::generate().expect("randomness"),
            |key, answer| answer.set(key.encapsulation_key().as_bytes(), key.to_encoded().expose()),
        ),
        (KemVerb::Encaps, Form::Default) => {
            let published =
                |bytes: &[u8]| P::EncapsulationKeyBytes::try_from(bytes).expect("the right length");
            let published: Vec<_> = cases.all.iter().map(|case| published(&case.public)).collect();
            Work::random(move |i, answer| {
                let key = EncapsulationKey::<P>::from_bytes(&published[i]).expect("a good key");
                let (c, k) = key.encapsulate().expect("randomness");
                answer.set(c, k.expose());
            })
        }
        (KemVerb::Decaps, Form::Default) => {
            let key = |seed| DecapsulationKey::<P>::from_seed(seed);
            let held: Vec<_> =
                cases.all.iter().map(|case| (key(&case.seed), ciphertext(&case.ciphertext))).collect();
            Work::exact(move |i, answer| {
                let (key, c) = &held[i];
                answer.set([], key.decapsulate(c).expose());
            })
        }
        (KemVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            let mut private = P::DecapsulationKeyBytes::zeroed();
            DecapsulationKey::<P>::encoded_from_seed(&cases.all[i].seed, &mut private);
            let bytes = private.as_ref();
            let public =
                &bytes[bytes.len() - 64 - P::EncapsulationKeyBytes::LEN..][..P::EncapsulationKeyBytes::LEN];
            answer.set(public, bytes);
        }),
        (KemVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
            let key = DecapsulationKey::<Compact<P>>::from_seed(&cases.all[i].seed);
            answer.set(key.encapsulation_key().as_bytes(), []);
        }),
        (KemVerb::Encaps, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let key = EncapsulationKeyRef::<P>::try_from(&case.public[..]).expect("a good key");
            let (c, k) = key.encapsulate_deterministic(&case.m);
            answer.set(c, k.expose());
        }),
        (KemVerb::Encaps, Form::Compact) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let key = EncapsulationKey::<Compact<P>>::try_from(&case.public[..]).expect("a good key");
            let (c, k) = key.encapsulate_deterministic(&case.m);
            answer.set(c, k.expose());
        }),
        (KemVerb::Encaps, Form::Prepared) => {
            let prepared = |bytes: &[u8]| {
                let key = EncapsulationKey::<P>::try_from(bytes).expect("a good key");
                key.prepare();
                key
            };
            let keys: Vec<_> = cases.all.iter().map(|case| prepared(&case.public)).collect();
            Work::exact(move |i, answer| {
                let (c, k) = keys[i].encapsulate_deterministic(&cases.all[i].m);
                answer.set(c, k.expose());
            })
        }
        (KemVerb::Decaps, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let c = ciphertext(&case.ciphertext);
            let k = DecapsulationKey::<P>::decapsulate_encoded(&case.private, &c);
            answer.set([], k.expect("a good key").expose());
        }),
        (KemVerb::Encaps, Form::Batch64) => Work::batch(BATCH, move |_, answer| {
            let cases = &cases.all[..BATCH];
            let public = |bytes| EncapsulationKeyRef::<P>::try_from(bytes).expect("a good key");
            let items: Vec<_> = cases.iter().map(|case| (public(&case.public[..]), &case.m)).collect();
            answer.set([], []);
            for (c, k) in mlkem::encapsulate_many_deterministic(&items) {
                answer.add(c, k.expose());
            }
        }),
        (KemVerb::Decaps, Form::Batch64) => Work::batch(BATCH, move |asked, answer| {
            let cases = chosen(&cases.all, BATCH, asked);
            let c: Vec<_> = cases.iter().map(|case| ciphertext(&case.ciphertext)).collect();
            let items: Vec<_> = cases.iter().zip(&c).map(|(case, c)| (&case.private[..], c)).collect();
            answer.set([], []);
            for k in mlkem::decapsulate_many_encoded::<P>(&items) {
                answer.add([], k.expect("a good key").expose());
            }
        }),
        (KemVerb::Decaps, Form::Seed) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let key = DecapsulationKey::<P>::from_seed(&case.seed);
            answer.set([], key.decapsulate(&ciphertext(&case.ciphertext)).expose());
        }),
        (KemVerb::Decaps, Form::Compact) => {
            let key = |seed| DecapsulationKey::<Compact<P>>::from_seed(seed);
            let keys: Vec<_> = cases.all.iter().map(|case| key(&case.seed)).collect();
            Work::exact(move |i, answer| {
                let k = keys[i].decapsulate(&ciphertext(&cases.all[i].ciphertext));
                answer.set([], k.expose());
            })
        }
        (KemVerb::Decaps, Form::Prepared) => {
            let keys: Vec<_> = cases.all.iter().map(|case| private(&case.private)).collect();
            Work::exact(move |i, answer| {
                let k = keys[i].decapsulate(&ciphertext(&cases.all[i].ciphertext));
                answer.set([], k.expose());
            })
        }
        _ => None,
    }
}

/// The good cases of a batch; the tampered one, if that is asked for, in the place of the last.
fn chosen<T>(all: &[T], batch: usize, asked: usize) -> Vec<&T> {
    (0..batch).map(|i| if asked == batch && i + 1 == batch { &all[asked] } else { &all[i] }).collect()
}

fn signature<P: mldsa::PreparedSet>(
    verb: SignatureVerb,
    form: Form,
    cases: Rc<SignatureCases>,
) -> Option<Work> {
    let compact = |bytes: &[u8]| VerifyingKey::<Compact<P>>::try_from(bytes).expect("the right length");
    let prepared = |bytes: &[u8]| {
        let key = VerifyingKey::<P>::try_from(bytes).expect("the right length");
        key.prepare();
        key
    };
    let private = |bytes: &[u8]| SigningKey::<P>::from_encoded(bytes).expect("a good key");
    let generated = |cases: &SignatureCases| -> Vec<_> {
        cases.keys.iter().map(|key| SigningKey::<P>::from_seed(&key.xi())).collect()
    };
    match (verb, form) {
        (SignatureVerb::Keygen, Form::Default) => Work::key(
            || SigningKey::<P>::generate().expect("randomness"),
            |key, answer| answer.set(key.verifying_key().as_bytes(), key.to_encoded().expose()),
        ),
        (SignatureVerb::Sign, Form::Default) => {
            let keys = generated(&cases);
            Work::random(move |i, answer| {
                let case = &cases.all[i];
                answer.set(keys[case.key].sign(&case.message).expect("randomness"), []);
            })
        }
        (SignatureVerb::Verify, Form::Default) => {
            let keys = generated(&cases);
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let verdict = keys[case.key].verifying_key().verify(&case.message, &case.signature);
                answer.set([u8::from(verdict.is_ok())], []);
            })
        }
        (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            let (mut private, mut public) = (P::SigningKeyBytes::zeroed(), P::VerifyingKeyBytes::zeroed());
            let seed = &cases.key(i).xi();
            SigningKey::<P>::encoded_from_seed(seed, &mut private, &mut public);
            answer.set(public, private);
        }),
        (SignatureVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
            let key = SigningKey::<Compact<P>>::from_seed(&cases.key(i).xi());
            answer.set(key.verifying_key().as_bytes(), []);
        }),
        (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
            let key = private(&cases.key(i).private);
            answer.set(key.sign_deterministic(&cases.all[i].message), []);
        }),
        (SignatureVerb::Sign, Form::Seed) => Work::exact(move |i, answer| {
            let key = SigningKey::<P>::from_seed(&cases.key(i).xi());
            answer.set(key.sign_deterministic(&cases.all[i].message), []);
        }),
        (SignatureVerb::Sign, Form::Compact) => {
            let keys: Vec<_> =
                cases.keys.iter().map(|key| SigningKey::<Compact<P>>::from_seed(&key.xi())).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set(keys[case.key].sign_deterministic(&case.message), []);
            })
        }
        (SignatureVerb::Sign, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| private(&key.private)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set(keys[case.key].sign_deterministic(&case.message), []);
            })
        }
        (SignatureVerb::Verify, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let public = &cases.key(i).public[..];
            // Without wide tables a verification from bytes is the compact one.
            let verdict = if mldsa::kernels() == Level::Portable {
                prepared(public).verify(&case.message, &case.signature)
            } else {
                let key = VerifyingKeyRef::<P>::try_from(public).expect("the right length");
                key.verify(&case.message, &case.signature)
            };
            answer.set([u8::from(verdict.is_ok())], []);
        }),
        (SignatureVerb::Verify, Form::Batch64) => Work::batch(BATCH, move |asked, answer| {
            let chosen = chosen(&cases.all, BATCH, asked);
            let keys: Vec<_> = chosen.iter().map(|case| compact(&cases.keys[case.key].public)).collect();
            let items: Vec<(_, Message, &[u8])> = (keys.iter().zip(&chosen))
                .map(|(key, case)| (key, (&case.message).into(), &case.signature[..]))
                .collect();
            answer.set([], []);
            for verdict in mldsa::verify_many(&items) {
                answer.add([u8::from(verdict.is_ok())], []);
            }
        }),
        (SignatureVerb::Verify, Form::Compact) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let verdict = compact(&cases.key(i).public).verify(&case.message, &case.signature);
            answer.set([u8::from(verdict.is_ok())], []);
        }),
        (SignatureVerb::Verify, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| prepared(&key.public)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let verdict = keys[case.key].verify(&case.message, &case.signature);
                answer.set([u8::from(verdict.is_ok())], []);
            })
        }
        _ => None,
    }
}

fn slh_dsa(
    set: slhdsa::ParameterSet,
    verb: SignatureVerb,
    form: Form,
    cases: Rc<SignatureCases>,
) -> Option<Work> {
    use slhdsa::{Message, SigningKey, VerifyingKey};

    let private = move |bytes: &[u8]| SigningKey::from_bytes(set, bytes).expect("a good key");
    let public = move |bytes: &[u8]| VerifyingKey::from_bytes(set, bytes).expect("the right length");
    match (verb, form) {
        (SignatureVerb::Keygen, Form::Default) => Work::key(
            move || SigningKey::generate(set).expect("randomness"),
            |key, answer| answer.set(key.verifying_key().as_bytes(), key.expose_bytes()),
        ),
        (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            let (sk_seed, rest) = cases.key(i).seed.split_at(set.seed_len());
            let (sk_prf, pk_seed) = rest.split_at(set.seed_len());
            let key = SigningKey::from_seeds(set, sk_seed, sk_prf, pk_seed).expect("the right lengths");
            answer.set(key.verifying_key().as_bytes(), key.expose_bytes());
        }),
        (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
            let key = private(&cases.key(i).private);
            answer.set(key.sign_deterministic(&cases.all[i].message), []);
        }),
        (SignatureVerb::Sign, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| private(&key.private).prepare()).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set(keys[case.key].sign_deterministic(&case.message), []);
            })
        }
        (SignatureVerb::Sign, Form::Default) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| private(&key.private)).collect();
            Work::random(move |i, answer| {
                let case = &cases.all[i];
                answer.set(keys[case.key].sign(&case.message).expect("randomness"), []);
            })
        }
        (SignatureVerb::Sign, Form::Batch8) => {
            let key = private(&cases.keys[0].private);
            let batch = Work::batch(EIGHT, move |_, answer| {
                let messages: Vec<Message> =
                    cases.all[..EIGHT].iter().map(|case| (&case.message).into()).collect();
                answer.set(key.sign_many(&messages).expect("randomness").concat(), []);
            });
            batch.map(|work| Work { random: true, ..work })
        }
        (SignatureVerb::Verify, Form::Batch8) => {
            let key = public(&cases.keys[0].public);
            Work::batch(EIGHT, move |asked, answer| {
                let items: Vec<(Message, &[u8])> = chosen(&cases.all, EIGHT, asked)
                    .into_iter()
                    .map(|case| ((&case.message).into(), &case.signature[..]))
                    .collect();
                answer.set([], []);
                for verdict in key.verify_many(&items) {
                    answer.add([u8::from(verdict.is_ok())], []);
                }
            })
        }
        (SignatureVerb::Verify, Form::Default | Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let verdict = public(&cases.key(i).public).verify(&case.message, &case.signature);
            answer.set([u8::from(verdict.is_ok())], []);
        }),
        (SignatureVerb::Verify, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| public(&key.public)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let verdict = keys[case.key].verify(&case.message, &case.signature);
                answer.set([u8::from(verdict.is_ok())], []);
            })
        }
        _ => None,
    }
}

fn stateful(set: SignatureSet, verb: SignatureVerb, form: Form, cases: Rc<SignatureCases>) -> Option<Work> {
    let public = move |bytes: &[u8]| Verifier::new(set, bytes).expect("a good key");
    match (verb, form) {
        (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            answer.set(Signer::new(set, &cases.key(i).seed).public(), []);
        }),
        (SignatureVerb::Sign, Form::Prepared) => {
            let mut signer = Signer::new(set, &cases.keys[0].seed);
            Work::exact(move |i, answer| answer.set(signer.sign(&cases.all[i].message), []))
        }
        (SignatureVerb::Verify, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let valid = public(&cases.key(i).public).verify(&case.message, &case.signature);
            answer.set([u8::from(valid)], []);
        }),
        (SignatureVerb::Verify, Form::Prepared) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| public(&key.public)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set([u8::from(keys[case.key].verify(&case.message, &case.signature))], []);
            })
        }
        _ => None,
    }
}
