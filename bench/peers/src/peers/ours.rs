//! Ours.
//!
//! `oneshot` and `seed` take the doors that a program after speed takes for a key that it uses once; `compact` never
//! expands anything.

use std::rc::Rc;

use gambeson::Bytes;
use gambeson::mldsa::{self, ExpandedSigningKey, SigningKey, VerifyingKey};
use gambeson::mlkem::{self, DecapsulationKey, EncapsulationKey, ExpandedDecapsulationKey};

use super::{Form, KemPeer, KemSet, KemVerb, SignaturePeer, SignatureSet, SignatureVerb, Work};
use crate::cases::{KemCases, SignatureCases};

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
        }
    }
}

fn kem<P: mlkem::ParameterSet>(verb: KemVerb, form: Form, cases: Rc<KemCases>) -> Option<Work> {
    let public = |bytes: &[u8]| EncapsulationKey::<P>::try_from(bytes).expect("a good key");
    let private =
        |bytes: &[u8]| ExpandedDecapsulationKey::<P>::from_expanded_bytes(bytes).expect("a good key");
    let ciphertext = |bytes: &[u8]| P::Ciphertext::try_from(bytes).expect("the right length");
    match (verb, form) {
        (KemVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            let mut private = P::ExpandedKeyBytes::zeroed();
            ExpandedDecapsulationKey::<P>::expanded_bytes_from_seed(&cases.all[i].seed, &mut private);
            let bytes = private.as_ref();
            let public = &bytes[bytes.len() - 64 - P::EncapsulationKeyBytes::LEN..][..P::EncapsulationKeyBytes::LEN];
            answer.set(public, bytes);
        }),
        (KemVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
            let (_, public) = DecapsulationKey::<P>::pair_from_seed(&cases.all[i].seed);
            answer.set(public.as_bytes(), []);
        }),
        (KemVerb::Encaps, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let (c, k) = public(&case.public).expand_and_encapsulate_deterministic(&case.m);
            answer.set(c, k.expose());
        }),
        (KemVerb::Encaps, Form::Compact) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let (c, k) = public(&case.public).encapsulate_deterministic(&case.m);
            answer.set(c, k.expose());
        }),
        (KemVerb::Encaps, Form::Expanded) => {
            let keys: Vec<_> = cases.all.iter().map(|case| public(&case.public).expand()).collect();
            Work::exact(move |i, answer| {
                let (c, k) = keys[i].encapsulate_deterministic(&cases.all[i].m);
                answer.set(c, k.expose());
            })
        }
        (KemVerb::Decaps, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let c = ciphertext(&case.ciphertext);
            let k = ExpandedDecapsulationKey::<P>::decapsulate_from_bytes(&case.private, &c);
            answer.set([], k.expect("a good key").expose());
        }),
        (KemVerb::Decaps, Form::Seed) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let key = ExpandedDecapsulationKey::<P>::from_seed(&case.seed);
            answer.set([], key.decapsulate(&ciphertext(&case.ciphertext)).expose());
        }),
        (KemVerb::Decaps, Form::Compact) => {
            let keys: Vec<_> =
                cases.all.iter().map(|case| DecapsulationKey::<P>::from_seed(&case.seed)).collect();
            Work::exact(move |i, answer| {
                let k = keys[i].decapsulate(&ciphertext(&cases.all[i].ciphertext));
                answer.set([], k.expose());
            })
        }
        (KemVerb::Decaps, Form::Expanded) => {
            let keys: Vec<_> = cases.all.iter().map(|case| private(&case.private)).collect();
            Work::exact(move |i, answer| {
                let k = keys[i].decapsulate(&ciphertext(&cases.all[i].ciphertext));
                answer.set([], k.expose());
            })
        }
        _ => None,
    }
}

fn signature<P: mldsa::ParameterSet>(
    verb: SignatureVerb,
    form: Form,
    cases: Rc<SignatureCases>,
) -> Option<Work> {
    let public = |bytes: &[u8]| VerifyingKey::<P>::try_from(bytes).expect("the right length");
    let private = |bytes: &[u8]| ExpandedSigningKey::<P>::from_expanded_bytes(bytes).expect("a good key");
    match (verb, form) {
        (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
            let key = ExpandedSigningKey::<P>::from_seed(&cases.key(i).seed);
            answer.set(key.verifying_key().as_bytes(), key.to_expanded_bytes().expose());
        }),
        (SignatureVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
            let key = SigningKey::<P>::from_seed(&cases.key(i).seed);
            answer.set(key.verifying_key().as_bytes(), []);
        }),
        (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
            let key = private(&cases.key(i).private);
            answer.set(key.sign_deterministic(&cases.all[i].message), []);
        }),
        (SignatureVerb::Sign, Form::Seed) => Work::exact(move |i, answer| {
            let key = ExpandedSigningKey::<P>::from_seed(&cases.key(i).seed);
            answer.set(key.sign_deterministic(&cases.all[i].message), []);
        }),
        (SignatureVerb::Sign, Form::Compact) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| SigningKey::<P>::from_seed(&key.seed)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set(keys[case.key].sign_deterministic(&case.message), []);
            })
        }
        (SignatureVerb::Sign, Form::Expanded) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| private(&key.private)).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                answer.set(keys[case.key].sign_deterministic(&case.message), []);
            })
        }
        (SignatureVerb::Verify, Form::Oneshot) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let verdict = public(&cases.key(i).public).expand().verify(&case.message, &case.signature);
            answer.set([u8::from(verdict.is_ok())], []);
        }),
        (SignatureVerb::Verify, Form::Compact) => Work::exact(move |i, answer| {
            let case = &cases.all[i];
            let verdict = public(&cases.key(i).public).verify(&case.message, &case.signature);
            answer.set([u8::from(verdict.is_ok())], []);
        }),
        (SignatureVerb::Verify, Form::Expanded) => {
            let keys: Vec<_> = cases.keys.iter().map(|key| public(&key.public).expand()).collect();
            Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let verdict = keys[case.key].verify(&case.message, &case.signature);
                answer.set([u8::from(verdict.is_ok())], []);
            })
        }
        _ => None,
    }
}
