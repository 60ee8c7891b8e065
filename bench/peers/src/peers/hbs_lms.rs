//! `hbs-lms`: LMS in portable Rust, whose SHA-256 uses the SHA extensions.
//!
//! Signing keeps the tree in auxiliary data, as in hash-sigs, whose keys it shares.

use std::cell::RefCell;
use std::rc::Rc;

use gambeson::cpu::Level;
use hbs_lms::signature::Verifier as _;
use hbs_lms::{
    HssParameter, LmotsAlgorithm, LmsAlgorithm, Seed, Sha256_256, SigningKey, VerifierSignature,
    VerifyingKey, keygen,
};

use super::{Form, PROBE, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work};
use crate::cases::SignatureCases;

/// Bytes of auxiliary data that hold a whole tree of 1024 leaves.
const AUXILIARY: usize = 100_000;

/// The peer.
pub fn peer() -> Peer {
    Peer {
        name: "hbs-lms",
        packages: &["hbs-lms"],
        level: Level::Portable,
        note: "LMS alone; the tree in auxiliary data; SHA-256 uses the SHA extensions whatever the limit",
        kem: None,
        signature: Some(Box::new(HbsLms)),
    }
}

struct HbsLms;

/// A key pair of the library's own, with its auxiliary data.
struct Pair {
    signing: SigningKey<Sha256_256>,
    verifying: VerifyingKey<Sha256_256>,
    auxiliary: Vec<u8>,
}

impl Pair {
    fn generate(auxiliary: usize) -> Self {
        let mut seed = Seed::<Sha256_256>::default();
        getrandom::fill(seed.as_mut_slice()).expect("randomness");
        let mut auxiliary = vec![0; auxiliary];
        let parameters = [HssParameter::new(LmotsAlgorithm::LmotsW8, LmsAlgorithm::LmsH10)];
        let mut rest = &mut auxiliary[..];
        let data = (!rest.is_empty()).then_some(&mut rest);
        let (signing, verifying) = keygen(&parameters, &seed, data).expect("a key pair");
        Self { signing, verifying, auxiliary }
    }

    fn sign(&mut self, message: &[u8]) -> impl AsRef<[u8]> + use<> {
        let mut rest = &mut self.auxiliary[..];
        let data = (!rest.is_empty()).then_some(&mut rest);
        self.signing.try_sign_with_aux(message, data).expect("a leaf")
    }
}

fn verify(key: &VerifyingKey<Sha256_256>, message: &[u8], signature: &[u8]) -> bool {
    let signature = VerifierSignature::from_ref(signature).expect("any bytes");
    key.verify(message, &signature).is_ok()
}

impl SignaturePeer for HbsLms {
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work> {
        if set != SignatureSet::LmsSha256H10W8 {
            return None;
        }
        let cases = cases.clone();
        let import = |bytes: &[u8]| VerifyingKey::<Sha256_256>::from_bytes(bytes).expect("not too long");
        match (verb, form) {
            (SignatureVerb::Keygen, Form::Oneshot) => Work::key(
                || RefCell::new(Pair::generate(0)),
                |pair, answer| {
                    let signature = pair.borrow_mut().sign(&PROBE);
                    answer.set(pair.borrow().verifying.as_slice(), signature);
                },
            ),
            (SignatureVerb::Sign, Form::Prepared) => {
                let pair = Rc::new(RefCell::new(Pair::generate(AUXILIARY)));
                let (same, again) = (pair.clone(), cases.clone());
                Work::unencoded(
                    move |i| drop(pair.borrow_mut().sign(&cases.all[i].message)),
                    move |i, answer| {
                        let signature = same.borrow_mut().sign(&again.all[i].message);
                        answer.set(signature, same.borrow().verifying.as_slice());
                    },
                )
            }
            (SignatureVerb::Verify, Form::Oneshot) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let key = import(&cases.key(i).public);
                answer.set([u8::from(verify(&key, &case.message, &case.signature))], []);
            }),
            (SignatureVerb::Verify, Form::Prepared) => {
                let keys: Vec<_> = cases.keys.iter().map(|key| import(&key.public)).collect();
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    answer.set([u8::from(verify(&keys[case.key], &case.message, &case.signature))], []);
                })
            }
            _ => None,
        }
    }
}
