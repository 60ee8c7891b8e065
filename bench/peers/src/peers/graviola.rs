//! `graviola`: ML-KEM-768 with assembly, for AVX2 and for AVX-512 (Keccak of eight lanes, sampling). It looks at the
//! processor itself and cannot be told to stop below AVX-512: where there is that, it does not run with the limit AVX2.
//!
//! The other forms than `default` are measured through its hidden deterministic doors, which spare it its randomness.
//! A decapsulation key can be made from a seed, not imported from the standard's encoding; it keeps the matrix, an
//! encapsulation key does not.
//!
//! `default`: the example of the documentation of graviola 0.4.4, the module `key_agreement::mlkem768`
//! (<https://docs.rs/graviola/0.4.4/graviola/key_agreement/mlkem768/>). The sender makes the encapsulation key from
//! bytes. `decaps` consumes its key, so that a second call would want another key: `decaps_internal`, all that it
//! calls, borrows it.

use std::rc::Rc;

use gambeson::cpu::Level;
use graviola::key_agreement::mlkem768::{Ciphertext, DecapKey, EncapKey, Message};

use super::{Form, KemPeer, KemSet, KemVerb, Peer, Work};
use crate::cases::KemCases;

/// The peer, where the processor has what it needs.
pub fn peer() -> Option<Peer> {
    graviola::util::is_cpu_supported().then(|| Peer {
        name: "graviola",
        packages: &["graviola"],
        level: level(),
        note: "ML-KEM-768 only; private keys from seeds only; the matrix is kept for decapsulation",
        kem: Some(Box::new(Graviola)),
        signature: None,
    })
}

/// What it asks the processor for.
fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        return Level::Avx512;
    }
    super::vector_level()
}

struct Graviola;

impl KemPeer for Graviola {
    fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work> {
        if set != KemSet::MlKem768 {
            return None;
        }
        let cases = cases.clone();
        let public = |bytes: &[u8]| {
            EncapKey::from_bytes(bytes.try_into().expect("the right length")).expect("a good key")
        };
        let ciphertext =
            |bytes: &[u8]| Ciphertext::from(<[u8; 1088]>::try_from(bytes).expect("the right length"));
        match (verb, form) {
            (KemVerb::Keygen, Form::Default) => Work::key(
                || DecapKey::generate().expect("randomness"),
                |key, answer| answer.set(key.encapsulation_key().as_bytes(), key.as_bytes()),
            ),
            (KemVerb::Encaps, Form::Default) => Work::random(move |i, answer| {
                let (k, c) = public(&cases.all[i].public).encaps().expect("randomness");
                answer.set(c.as_ref(), k.as_ref());
            }),
            (KemVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
                let key = DecapKey::keygen_internal(&cases.all[i].seed);
                answer.set(key.encapsulation_key().as_bytes(), key.as_bytes());
            }),
            (KemVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
                let key = DecapKey::keygen_internal(&cases.all[i].seed);
                answer.set(key.encapsulation_key().as_bytes(), []);
            }),
            (KemVerb::Encaps, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let (k, c) = public(&case.public).encaps_internal(Message(case.m));
                answer.set(c.as_ref(), k.as_ref());
            }),
            (KemVerb::Decaps, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let key = DecapKey::keygen_internal(&case.seed);
                answer.set([], key.decaps_internal(&ciphertext(&case.ciphertext)).as_ref());
            }),
            (KemVerb::Decaps, Form::Default | Form::Prepared) => {
                let keys: Vec<_> =
                    (cases.all.iter()).map(|case| DecapKey::keygen_internal(&case.seed)).collect();
                Work::exact(move |i, answer| {
                    answer.set([], keys[i].decaps_internal(&ciphertext(&cases.all[i].ciphertext)).as_ref());
                })
            }
            _ => None,
        }
    }
}
