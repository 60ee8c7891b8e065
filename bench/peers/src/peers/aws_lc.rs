//! `aws-lc-rs`: AWS-LC, whose ML-KEM and ML-DSA are mlkem-native and mldsa-native with AVX2 (or NEON) assembly.
//!
//! It draws its own randomness for key generation, encapsulation and signing (which is hedged), and pays for it;
//! ML-DSA keys can be made from a seed. ML-KEM private keys import in the standard's encoding only. Key objects keep
//! bytes: the matrix is sampled in every call. The import of an ML-DSA private key also computes the public key.
//!
//! `default`: the examples of the documentation of aws-lc-rs 1.19.0, the modules `kem`
//! (<https://docs.rs/aws-lc-rs/1.19.0/aws_lc_rs/kem/>, "Example") and `signature`
//! (<https://docs.rs/aws-lc-rs/1.19.0/aws_lc_rs/signature/>, "Signing and verifying with ML-DSA-44"). The sender makes
//! the encapsulation key from bytes; the verifier has the public key as DER. A `DecapsulationKey` that stands for a
//! generated one is imported: nothing imports seeds there, and both hold the same bytes.

use std::rc::Rc;

use aws_lc_rs::encoding::{AsDer as _, AsRawBytes as _};
use aws_lc_rs::kem::{self, DecapsulationKey, EncapsulationKey};
use aws_lc_rs::signature::{
    self, KeyPair as _, ParsedPublicKey, PqdsaKeyPair, PqdsaSigningAlgorithm, PqdsaVerificationAlgorithm,
    UnparsedPublicKey,
};

use super::{Answer, Form, KemPeer, KemSet, KemVerb, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work};
use crate::cases::{KemCases, SignatureCases};

/// The peer.
pub fn peer() -> Peer {
    Peer {
        name: "aws-lc-rs",
        packages: &["aws-lc-rs", "aws-lc-sys"],
        level: super::vector_level(),
        note: "own randomness, hedged signatures, no matrix kept",
        kem: Some(Box::new(AwsLc)),
        signature: Some(Box::new(AwsLc)),
    }
}

struct AwsLc;

impl KemPeer for AwsLc {
    fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work> {
        let algorithm = match set {
            KemSet::MlKem512 => &kem::ML_KEM_512,
            KemSet::MlKem768 => &kem::ML_KEM_768,
            KemSet::MlKem1024 => &kem::ML_KEM_1024,
        };
        let cases = cases.clone();
        let public = move |bytes: &[u8]| EncapsulationKey::new(algorithm, bytes).expect("a good key");
        let private = move |bytes: &[u8]| DecapsulationKey::new(algorithm, bytes).expect("a good key");
        let generate = move || DecapsulationKey::generate(algorithm).expect("randomness");
        let encode = |key: &DecapsulationKey, answer: &mut Answer| {
            let public = key.encapsulation_key().expect("a generated key has it");
            answer.set(
                public.key_bytes().expect("an encoding").as_ref(),
                key.key_bytes().expect("an encoding").as_ref(),
            );
        };
        match (verb, form) {
            (KemVerb::Keygen, Form::Default) => Work::key(generate, encode),
            (KemVerb::Keygen, Form::Oneshot) => Work::random(move |_, answer| encode(&generate(), answer)),
            (KemVerb::Encaps, Form::Default | Form::Oneshot | Form::Compact) => {
                Work::random(move |i, answer| {
                    let (c, k) = public(&cases.all[i].public).encapsulate().expect("randomness");
                    answer.set(c, k);
                })
            }
            (KemVerb::Encaps, Form::Prepared) => {
                let keys: Vec<_> = cases.all.iter().map(|case| public(&case.public)).collect();
                Work::random(move |i, answer| {
                    let (c, k) = keys[i].encapsulate().expect("randomness");
                    answer.set(c, k);
                })
            }
            (KemVerb::Decaps, Form::Oneshot) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let k = private(&case.private).decapsulate(case.ciphertext[..].into());
                answer.set([], k.expect("a good key"));
            }),
            (KemVerb::Decaps, Form::Default | Form::Prepared) => {
                let keys: Vec<_> = cases.all.iter().map(|case| private(&case.private)).collect();
                Work::exact(move |i, answer| {
                    let k = keys[i].decapsulate(cases.all[i].ciphertext[..].into());
                    answer.set([], k.expect("a good key"));
                })
            }
            _ => None,
        }
    }
}

impl SignaturePeer for AwsLc {
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work> {
        let (signing, verifying): (&'static PqdsaSigningAlgorithm, &'static PqdsaVerificationAlgorithm) =
            match set {
                SignatureSet::MlDsa44 => (&signature::ML_DSA_44_SIGNING, &signature::ML_DSA_44),
                SignatureSet::MlDsa65 => (&signature::ML_DSA_65_SIGNING, &signature::ML_DSA_65),
                SignatureSet::MlDsa87 => (&signature::ML_DSA_87_SIGNING, &signature::ML_DSA_87),
                _ => return None,
            };
        let cases = cases.clone();
        let from_seed = move |seed: &[u8]| PqdsaKeyPair::from_seed(signing, seed).expect("a good seed");
        let private =
            move |bytes: &[u8]| PqdsaKeyPair::from_raw_private_key(signing, bytes).expect("a good key");
        let mut buffer = vec![0; signing.signature_len()];
        match (verb, form) {
            (SignatureVerb::Keygen, Form::Default) => Work::key(
                move || PqdsaKeyPair::generate(signing).expect("randomness"),
                |key, answer| {
                    answer.set(
                        key.public_key(),
                        key.private_key().as_raw_bytes().expect("an encoding").as_ref(),
                    );
                },
            ),
            (SignatureVerb::Sign, Form::Default) => {
                let keys: Vec<_> = cases.keys.iter().map(|key| from_seed(&key.seed)).collect();
                Work::random(move |i, answer| {
                    let case = &cases.all[i];
                    let length = keys[case.key].sign(&case.message, &mut buffer).expect("randomness");
                    answer.set(&buffer[..length], []);
                })
            }
            (SignatureVerb::Verify, Form::Default) => {
                let der = |seed: &[u8]| from_seed(seed).public_key().as_der().expect("an encoding");
                let keys: Vec<_> = cases.keys.iter().map(|key| der(&key.seed)).collect();
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    let key = UnparsedPublicKey::new(verifying, keys[case.key].as_ref());
                    answer.set([u8::from(key.verify(&case.message, &case.signature).is_ok())], []);
                })
            }
            (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
                let key = from_seed(&cases.key(i).seed);
                let private = key.private_key().as_raw_bytes().expect("an encoding");
                answer.set(key.public_key(), private.as_ref());
            }),
            (SignatureVerb::Keygen, Form::Compact) => Work::exact(move |i, answer| {
                answer.set(from_seed(&cases.key(i).seed).public_key(), []);
            }),
            (SignatureVerb::Sign, Form::Oneshot) => Work::random(move |i, answer| {
                let key = private(&cases.key(i).private);
                let length = key.sign(&cases.all[i].message, &mut buffer).expect("randomness");
                answer.set(&buffer[..length], []);
            }),
            (SignatureVerb::Sign, Form::Seed | Form::Compact) => Work::random(move |i, answer| {
                let key = from_seed(&cases.key(i).seed);
                let length = key.sign(&cases.all[i].message, &mut buffer).expect("randomness");
                answer.set(&buffer[..length], []);
            }),
            (SignatureVerb::Sign, Form::Prepared) => {
                let keys: Vec<_> = cases.keys.iter().map(|key| private(&key.private)).collect();
                Work::random(move |i, answer| {
                    let case = &cases.all[i];
                    let length = keys[case.key].sign(&case.message, &mut buffer).expect("randomness");
                    answer.set(&buffer[..length], []);
                })
            }
            (SignatureVerb::Verify, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let key = UnparsedPublicKey::new(verifying, &cases.key(i).public);
                answer.set([u8::from(key.verify(&case.message, &case.signature).is_ok())], []);
            }),
            (SignatureVerb::Verify, Form::Prepared) => {
                let keys: Vec<_> = (cases.keys.iter())
                    .map(|key| ParsedPublicKey::new(verifying, &key.public).expect("a good key"))
                    .collect();
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    let verdict = keys[case.key].verify_sig(&case.message, &case.signature);
                    answer.set([u8::from(verdict.is_ok())], []);
                })
            }
            _ => None,
        }
    }
}
