//! `pqcrypto-mlkem`, `pqcrypto-mldsa`, `pqcrypto-sphincsplus`: PQClean's AVX2 code, chosen at run time.
//!
//! It draws its own randomness from the operating system and pays for it; signatures are hedged. Keys are their bytes,
//! so that there is no prepared form. Decapsulation leaves out the check of H(ek) and encapsulation that of the
//! modulus.
//!
//! `default`: the examples of the documentation of pqcrypto-mlkem 0.1.1 and pqcrypto-mldsa 0.1.2, at the head of each
//! module (<https://docs.rs/pqcrypto-mlkem/0.1.1/pqcrypto_mlkem/mlkem768/>,
//! <https://docs.rs/pqcrypto-mldsa/0.1.2/pqcrypto_mldsa/mldsa65/>). `sign` gives the signature with the message behind
//! it, and `open` takes that.
//!
//! SPHINCS+ is that of round 3: other outputs than SLH-DSA, of the same sizes and nearly the same work. Its keys and signatures are its own,
//! and are checked by its round trip; the key is bytes in `prepared` too.

use std::hint::black_box;
use std::rc::Rc;

use pqcrypto_traits::kem::{Ciphertext as _, PublicKey as _, SecretKey as _, SharedSecret as _};
use pqcrypto_traits::sign::{DetachedSignature as _, PublicKey as _, SecretKey as _, SignedMessage as _};

use super::{Form, KemPeer, KemSet, KemVerb, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work};
use crate::cases::{KemCases, SignatureCase, SignatureCases};

/// The peer.
pub fn peer() -> Peer {
    Peer {
        name: "pqcrypto",
        packages: &["pqcrypto-mlkem", "pqcrypto-mldsa", "pqcrypto-sphincsplus"],
        level: super::vector_level(),
        note: "PQClean; own randomness, hedged signatures, no key checks; in the rows of SLH-DSA it is SPHINCS+ of round 3",
        kem: Some(Box::new(PqClean)),
        signature: Some(Box::new(PqClean)),
    }
}

struct PqClean;

macro_rules! kem {
    ($module:ident, $verb:expr, $form:expr, $cases:expr) => {{
        use pqcrypto_mlkem::$module::{Ciphertext, PublicKey, SecretKey, decapsulate, encapsulate, keypair};
        let cases = $cases.clone();
        match ($verb, $form) {
            (KemVerb::Keygen, Form::Default) => Work::key(keypair, |(public, private), answer| {
                answer.set(public.as_bytes(), private.as_bytes());
            }),
            (KemVerb::Encaps, Form::Default) => {
                let key = |bytes| PublicKey::from_bytes(bytes).expect("the right length");
                let keys: Vec<_> = cases.all.iter().map(|case| key(&case.public)).collect();
                Work::random(move |i, answer| {
                    let (k, c) = encapsulate(&keys[i]);
                    answer.set(c.as_bytes(), k.as_bytes());
                })
            }
            (KemVerb::Decaps, Form::Default) => {
                let key = |bytes| SecretKey::from_bytes(bytes).expect("the right length");
                let ciphertext = |bytes| Ciphertext::from_bytes(bytes).expect("the right length");
                let held: Vec<_> =
                    cases.all.iter().map(|case| (key(&case.private), ciphertext(&case.ciphertext))).collect();
                Work::exact(move |i, answer| {
                    let (key, c) = &held[i];
                    answer.set([], decapsulate(c, key).as_bytes());
                })
            }
            (KemVerb::Keygen, Form::Oneshot) => Work::random(move |_, answer| {
                let (public, private) = keypair();
                answer.set(public.as_bytes(), private.as_bytes());
            }),
            (KemVerb::Encaps, Form::Oneshot | Form::Compact) => Work::random(move |i, answer| {
                let key = PublicKey::from_bytes(&cases.all[i].public).expect("the right length");
                let (k, c) = encapsulate(&key);
                answer.set(c.as_bytes(), k.as_bytes());
            }),
            (KemVerb::Decaps, Form::Oneshot) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let key = SecretKey::from_bytes(&case.private).expect("the right length");
                let c = Ciphertext::from_bytes(&case.ciphertext).expect("the right length");
                answer.set([], decapsulate(&c, &key).as_bytes());
            }),
            _ => None,
        }
    }};
}

macro_rules! signature {
    ($module:ident, $verb:expr, $form:expr, $cases:expr) => {{
        use pqcrypto_mldsa::$module::{
            DetachedSignature, PublicKey, SecretKey, SignedMessage, detached_sign, keypair, open, sign,
            verify_detached_signature,
        };
        let cases = $cases.clone();
        match ($verb, $form) {
            (SignatureVerb::Keygen, Form::Default) => Work::key(keypair, |(public, private), answer| {
                answer.set(public.as_bytes(), private.as_bytes());
            }),
            (SignatureVerb::Sign, Form::Default) => {
                let key = |bytes| SecretKey::from_bytes(bytes).expect("the right length");
                let keys: Vec<_> = cases.keys.iter().map(|of| key(&of.private)).collect();
                Work::random(move |i, answer| {
                    let case = &cases.all[i];
                    let signed = sign(&case.message, &keys[case.key]);
                    answer.set(signed.as_bytes().strip_suffix(&case.message).unwrap_or_default(), []);
                })
            }
            (SignatureVerb::Verify, Form::Default) => {
                let key = |bytes| PublicKey::from_bytes(bytes).expect("the right length");
                let keys: Vec<_> = cases.keys.iter().map(|of| key(&of.public)).collect();
                let signed: Vec<_> = (cases.all.iter())
                    .map(|case| SignedMessage::from_bytes(&[&case.signature[..], &case.message].concat()))
                    .map(|signed| signed.expect("long enough"))
                    .collect();
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    let message = open(&signed[i], &keys[case.key]);
                    answer.set([u8::from(message.is_ok_and(|message| message == case.message))], []);
                })
            }
            (SignatureVerb::Keygen, Form::Oneshot) => Work::random(move |_, answer| {
                let (public, private) = keypair();
                answer.set(public.as_bytes(), private.as_bytes());
            }),
            (SignatureVerb::Sign, Form::Oneshot) => Work::random(move |i, answer| {
                let key = SecretKey::from_bytes(&cases.key(i).private).expect("the right length");
                answer.set(detached_sign(&cases.all[i].message, &key).as_bytes(), []);
            }),
            (SignatureVerb::Verify, Form::Oneshot | Form::Compact) => Work::exact(move |i, answer| {
                let case = &cases.all[i];
                let key = PublicKey::from_bytes(&cases.key(i).public).expect("the right length");
                let signature = DetachedSignature::from_bytes(&case.signature).expect("the right length");
                let verdict = verify_detached_signature(&signature, &case.message, &key);
                answer.set([u8::from(verdict.is_ok())], []);
            }),
            _ => None,
        }
    }};
}

macro_rules! sphincs {
    ($module:ident, $verb:expr, $form:expr, $cases:expr) => {{
        use pqcrypto_sphincsplus::$module::{
            DetachedSignature, PublicKey, SecretKey, detached_sign, keypair, verify_detached_signature,
        };
        let cases = $cases.clone();
        let imported = |bytes: &[u8]| DetachedSignature::from_bytes(bytes).expect("the right length");
        let tampered = move |signature: &DetachedSignature| {
            let mut bytes = signature.as_bytes().to_vec();
            bytes[7] ^= 1;
            imported(&bytes)
        };
        let round_trip = move |public: &PublicKey, secret: &SecretKey, message: &[u8]| {
            let signature = detached_sign(message, secret);
            verify_detached_signature(&signature, message, public).is_ok()
                && verify_detached_signature(&tampered(&signature), message, public).is_err()
        };
        match ($verb, $form) {
            (SignatureVerb::Keygen, Form::Default | Form::Oneshot) => Work::apart(
                |_| {
                    black_box(&keypair());
                },
                move |i| {
                    let (public, secret) = keypair();
                    round_trip(&public, &secret, &cases.all[i].message)
                },
            ),
            (SignatureVerb::Sign, Form::Default | Form::Oneshot | Form::Prepared) => {
                let (public, secret) = keypair();
                let again = cases.clone();
                Work::apart(
                    move |i| {
                        black_box(&detached_sign(&cases.all[i].message, &secret));
                    },
                    move |i| round_trip(&public, &secret, &again.all[i].message),
                )
            }
            (SignatureVerb::Verify, Form::Default | Form::Oneshot | Form::Prepared) => {
                let (public, secret) = keypair();
                let signed = |case: &SignatureCase| {
                    let signature = detached_sign(&case.message, &secret);
                    if case.valid { signature } else { tampered(&signature) }
                };
                let signatures: Vec<_> = cases.all.iter().map(signed).collect();
                Work::exact(move |i, answer| {
                    let verdict = verify_detached_signature(&signatures[i], &cases.all[i].message, &public);
                    answer.set([u8::from(verdict.is_ok())], []);
                })
            }
            _ => None,
        }
    }};
}

impl KemPeer for PqClean {
    fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work> {
        match set {
            KemSet::MlKem512 => kem!(mlkem512, verb, form, cases),
            KemSet::MlKem768 => kem!(mlkem768, verb, form, cases),
            KemSet::MlKem1024 => kem!(mlkem1024, verb, form, cases),
        }
    }
}

impl SignaturePeer for PqClean {
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work> {
        match set {
            SignatureSet::MlDsa44 => signature!(mldsa44, verb, form, cases),
            SignatureSet::MlDsa65 => signature!(mldsa65, verb, form, cases),
            SignatureSet::MlDsa87 => signature!(mldsa87, verb, form, cases),
            SignatureSet::SlhDsaSha2_128s => sphincs!(sphincssha2128ssimple, verb, form, cases),
            SignatureSet::SlhDsaSha2_128f => sphincs!(sphincssha2128fsimple, verb, form, cases),
            SignatureSet::SlhDsaSha2_192s => sphincs!(sphincssha2192ssimple, verb, form, cases),
            SignatureSet::SlhDsaSha2_256s => sphincs!(sphincssha2256ssimple, verb, form, cases),
            SignatureSet::SlhDsaSha2_256f => sphincs!(sphincssha2256fsimple, verb, form, cases),
            SignatureSet::SlhDsaShake128f => sphincs!(sphincsshake128fsimple, verb, form, cases),
            _ => None,
        }
    }
}
