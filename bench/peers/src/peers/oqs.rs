//! liboqs as the crate `oqs` bundles it, in the distribution build, which chooses its AVX2 back ends at run time:
//! mlkem-native, the reference team's AVX2 ML-DSA, and XKCP's Keccak of four lanes.
//!
//! There are no key objects: every form starts from bytes, so that there is no prepared one. In all but `default` its
//! randomness is given to it, near free of cost: signatures are deterministic. (Its build for one processor, the
//! feature `non_portable`, has the same Keccak under names that pqcrypto has too, so that the two cannot be linked
//! into one program.)
//!
//! `default`: the examples of the documentation of oqs 0.11.0, of `kem::Kem` and `sig::Sig`
//! (<https://docs.rs/oqs/0.11.0/oqs/kem/struct.Kem.html>, <https://docs.rs/oqs/0.11.0/oqs/sig/struct.Sig.html>), with
//! the randomness that liboqs draws from the operating system, so that signatures are hedged.

use std::rc::Rc;

use oqs::kem::{self, Kem};
use oqs::sig::{self, Sig};

use super::{Form, KemPeer, KemSet, KemVerb, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work};
use crate::cases::{KemCases, SignatureCases};

mod randomness;

/// The peer.
pub fn peer() -> Peer {
    oqs::init();
    Peer {
        name: "oqs",
        packages: &["oqs", "oqs-sys"],
        level: super::vector_level(),
        note: "distribution build; no key objects; randomness given but in `default`",
        kem: Some(Box::new(Oqs)),
        signature: Some(Box::new(Oqs)),
    }
}

struct Oqs;

impl KemPeer for Oqs {
    fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work> {
        let kem = Kem::new(match set {
            KemSet::MlKem512 => kem::Algorithm::MlKem512,
            KemSet::MlKem768 => kem::Algorithm::MlKem768,
            KemSet::MlKem1024 => kem::Algorithm::MlKem1024,
        });
        let kem = kem.expect("the feature ml_kem");
        let cases = cases.clone();
        match (verb, form) {
            (KemVerb::Keygen, Form::Default) => Work::key(
                move || {
                    randomness::of_the_system();
                    kem.keypair().expect("a key pair")
                },
                |(public, private), answer| answer.set(public, private),
            ),
            (KemVerb::Encaps, Form::Default) => Work::random(move |i, answer| {
                let public = kem.public_key_from_bytes(&cases.all[i].public).expect("the right length");
                randomness::of_the_system();
                let (c, k) = kem.encapsulate(public).expect("a good key");
                answer.set(c, k);
            }),
            (KemVerb::Keygen, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                let seed = kem.keypair_seed_from_bytes(&cases.all[i].seed).expect("64 bytes");
                let (public, private) = kem.keypair_derand(seed).expect("a key pair");
                answer.set(public, if form == Form::Oneshot { private.as_ref() } else { &[] });
            }),
            (KemVerb::Encaps, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let public = kem.public_key_from_bytes(&case.public).expect("the right length");
                randomness::next(case.m);
                let (c, k) = kem.encapsulate(public).expect("a good key");
                answer.set(c, k);
            }),
            (KemVerb::Decaps, Form::Default | Form::Oneshot) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let private = kem.secret_key_from_bytes(&case.private).expect("the right length");
                let ciphertext = kem.ciphertext_from_bytes(&case.ciphertext).expect("the right length");
                answer.set([], kem.decapsulate(private, ciphertext).expect("a good key"));
            }),
            (KemVerb::Decaps, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let seed = kem.keypair_seed_from_bytes(&case.seed).expect("64 bytes");
                let (_, private) = kem.keypair_derand(seed).expect("a key pair");
                let ciphertext = kem.ciphertext_from_bytes(&case.ciphertext).expect("the right length");
                answer.set([], kem.decapsulate(&private, ciphertext).expect("a good key"));
            }),
            _ => None,
        }
    }
}

impl SignaturePeer for Oqs {
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work> {
        let scheme = Sig::new(match set {
            SignatureSet::MlDsa44 => sig::Algorithm::MlDsa44,
            SignatureSet::MlDsa65 => sig::Algorithm::MlDsa65,
            SignatureSet::MlDsa87 => sig::Algorithm::MlDsa87,
            _ => return None,
        });
        let scheme = scheme.expect("the feature ml_dsa");
        let cases = cases.clone();
        match (verb, form) {
            (SignatureVerb::Keygen, Form::Default) => Work::key(
                move || {
                    randomness::of_the_system();
                    scheme.keypair().expect("a key pair")
                },
                |(public, private), answer| answer.set(public, private),
            ),
            (SignatureVerb::Sign, Form::Default) => Work::random(move |i, answer| {
                let private = scheme.secret_key_from_bytes(&cases.key(i).private).expect("the right length");
                randomness::of_the_system();
                answer.set(scheme.sign(&cases.all[i].message, private).expect("a signature"), []);
            }),
            (SignatureVerb::Keygen, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                randomness::next(cases.key(i).xi());
                let (public, private) = scheme.keypair().expect("a key pair");
                answer.set(public, if form == Form::Oneshot { private.as_ref() } else { &[] });
            }),
            (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
                let private = scheme.secret_key_from_bytes(&cases.key(i).private).expect("the right length");
                randomness::next([0; 32]);
                answer.set(scheme.sign(&cases.all[i].message, private).expect("a signature"), []);
            }),
            (SignatureVerb::Sign, Form::Seed | Form::Compact) => Work::exact(move |i, answer| {
                randomness::next(cases.key(i).xi());
                let (_, private) = scheme.keypair().expect("a key pair");
                randomness::next([0; 32]);
                answer.set(scheme.sign(&cases.all[i].message, &private).expect("a signature"), []);
            }),
            (SignatureVerb::Verify, Form::Default | Form::Oneshot | Form::Compact) => {
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    let public =
                        scheme.public_key_from_bytes(&cases.key(i).public).expect("the right length");
                    let signature = scheme.signature_from_bytes(&case.signature).expect("the right length");
                    answer.set([u8::from(scheme.verify(&case.message, signature, public).is_ok())], []);
                })
            }
            _ => None,
        }
    }
}
