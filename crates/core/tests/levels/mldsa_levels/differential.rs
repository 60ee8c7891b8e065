//! Against two independent implementations, RustCrypto `ml-dsa` and `libcrux-ml-dsa`: random keys, messages and
//! contexts, both ways.

use gambeson::Compact;
use gambeson::mldsa::{
    Message, MlDsa44, MlDsa65, MlDsa87, PreHash, PreparedSet, SigningKey, VerifyingKey, VerifyingKeyRef,
};

use super::stream::Stream;

/// One run of another implementation.
struct Theirs {
    public: Vec<u8>,
    private: Vec<u8>,
    signature: Vec<u8>,
}

/// What a test needs of another implementation.
trait Peer {
    /// The key of `seed`, and its signature.
    fn run(seed: &[u8; 32], message: &[u8], context: &[u8]) -> Theirs;
    /// Its verdict.
    fn verify(public: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> bool;
}

struct RustCrypto<P>(P);

impl<P: ml_dsa::MlDsaParams> Peer for RustCrypto<P> {
    fn run(seed: &[u8; 32], message: &[u8], context: &[u8]) -> Theirs {
        let key = ml_dsa::SigningKey::<P>::from_seed(&(*seed).into());
        let expanded = key.expanded_key();
        #[allow(deprecated)]
        let private = expanded.to_expanded().to_vec();
        Theirs {
            public: expanded.verifying_key().encode().to_vec(),
            private,
            signature: expanded
                .sign_deterministic(message, context)
                .expect("a short context")
                .encode()
                .to_vec(),
        }
    }

    fn verify(public: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> bool {
        let key = ml_dsa::VerifyingKey::<P>::decode(public.try_into().expect("the right length"));
        ml_dsa::Signature::<P>::decode(signature.try_into().expect("the right length"))
            .is_some_and(|signature| key.verify_with_context(message, context, &signature))
    }
}

struct Libcrux<P>(P);

macro_rules! libcrux {
    ($($set:ident, $module:ident, $public:ident, $signature:ident;)*) => {$(
        impl Peer for Libcrux<$set> {
            fn run(seed: &[u8; 32], message: &[u8], context: &[u8]) -> Theirs {
                use libcrux_ml_dsa::$module::portable;
                let key = portable::generate_key_pair(*seed);
                let signature =
                    portable::sign(&key.signing_key, message, context, [0; 32]).expect("a short context");
                Theirs {
                    public: key.verification_key.as_slice().to_vec(),
                    private: key.signing_key.as_slice().to_vec(),
                    signature: signature.as_slice().to_vec(),
                }
            }

            fn verify(public: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> bool {
                use libcrux_ml_dsa::$module::{$public, $signature, portable};
                let public = $public::new(public.try_into().expect("the right length"));
                let signature = $signature::new(signature.try_into().expect("the right length"));
                portable::verify(&public, message, context, &signature).is_ok()
            }
        }
    )*};
}

libcrux! {
    MlDsa44, ml_dsa_44, MLDSA44VerificationKey, MLDSA44Signature;
    MlDsa65, ml_dsa_65, MLDSA65VerificationKey, MLDSA65Signature;
    MlDsa87, ml_dsa_87, MLDSA87VerificationKey, MLDSA87Signature;
}

fn agree<P: PreparedSet, Q: Peer>(rounds: usize) {
    let mut stream = Stream::new(P::NAME);
    for _ in 0..rounds {
        let seed = stream.array();
        let (length, context_length) = (stream.below(500), stream.below(256));
        let (message, context) = (stream.vec(length), stream.vec(context_length));
        let theirs = Q::run(&seed, &message, &context);

        let key = SigningKey::<Compact<P>>::from_seed(&seed);
        let prepared = SigningKey::<P>::from_seed(&seed);
        let public = key.verifying_key();
        let ours = Message::pure(&message, &context).expect("agreed inputs");
        assert_eq!(public.as_bytes().as_ref(), theirs.public);
        assert_eq!(*prepared.to_encoded().expose(), theirs.private);
        assert_eq!(key.sign_deterministic(ours).as_ref(), theirs.signature);
        assert_eq!(prepared.sign_deterministic(ours).as_ref(), theirs.signature);

        // Hedged signatures differ, and verify there.
        let hedged = prepared.sign(ours).expect("agreed inputs");
        assert_ne!(hedged.as_ref(), theirs.signature);
        assert!(Q::verify(&theirs.public, &message, &context, hedged.as_ref()));
        let imported = SigningKey::<P>::from_encoded(&theirs.private).expect("agreed inputs");
        assert_eq!(imported.sign_deterministic(ours).as_ref(), theirs.signature);

        // The same verdict on signatures with one bit changed, wherever it is.
        let once = VerifyingKeyRef::<P>::try_from(&theirs.public[..]).expect("agreed inputs");
        let public = VerifyingKey::<P>::try_from(&theirs.public[..]).expect("agreed inputs");
        assert_eq!(once.verify(ours, &theirs.signature), Ok(()));
        assert_eq!(public.verify(ours, &theirs.signature), Ok(()));
        for _ in 0..8 {
            let mut signature = theirs.signature.clone();
            let bit = stream.below(8 * signature.len());
            signature[bit >> 3] ^= 1 << (bit & 7);
            assert!(once.verify(ours, &signature).is_err());
            assert!(public.verify(ours, &signature).is_err());
            assert!(!Q::verify(&theirs.public, &message, &context, &signature));
        }
    }
}

fn rustcrypto_agrees_on_keys_signatures_and_verdicts() {
    agree::<MlDsa44, RustCrypto<ml_dsa::MlDsa44>>(12);
    agree::<MlDsa65, RustCrypto<ml_dsa::MlDsa65>>(12);
    agree::<MlDsa87, RustCrypto<ml_dsa::MlDsa87>>(12);
}

fn libcrux_agrees_on_keys_signatures_and_verdicts() {
    agree::<MlDsa44, Libcrux<MlDsa44>>(12);
    agree::<MlDsa65, Libcrux<MlDsa65>>(12);
    agree::<MlDsa87, Libcrux<MlDsa87>>(12);
}

fn libcrux_agrees_on_prehashed_messages() {
    use libcrux_ml_dsa::ml_dsa_65::portable;
    let mut stream = Stream::new("prehash");
    for _ in 0..12 {
        let seed = stream.array();
        let message = stream.vec(100);
        let theirs = portable::generate_key_pair(seed);
        let signature =
            portable::sign_pre_hashed_shake128(&theirs.signing_key, &message, b"context", [0; 32])
                .expect("agreed inputs");
        let digest = PreHash::Shake128.digest(&message);
        let ours = SigningKey::<MlDsa65>::from_seed(&seed)
            .sign_deterministic(Message::prehashed(&digest, b"context").expect("agreed inputs"));
        assert_eq!(ours, *signature.as_ref());
    }
}

/// Under the tables in force.
pub fn run_all() {
    rustcrypto_agrees_on_keys_signatures_and_verdicts();
    libcrux_agrees_on_keys_signatures_and_verdicts();
    libcrux_agrees_on_prehashed_messages();
}
