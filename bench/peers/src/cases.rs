//! The inputs of every run: the same for ours and for every peer, and the answers that all must give.

use std::rc::Rc;

use gambeson::Compact;
use gambeson::mldsa::{self, SigningKey};
use gambeson::mlkem::{self, DecapsulationKey};
use gambeson::sha3::Shake256;

use crate::peers::{KemSet, SignatureSet};

/// Keys that rotate, so that no branch predictor and no cache learns one of them.
pub const KEYS: usize = 16;
/// Messages signed under each key: the mean over all is near the mean number of attempts.
pub const MESSAGES: usize = 8;

/// One key pair and one encapsulation to it.
#[derive(Clone)]
pub struct KemCase {
    /// d‖z
    pub seed: [u8; 64],
    /// The randomness of the encapsulation.
    pub m: [u8; 32],
    /// The encapsulation key.
    pub public: Vec<u8>,
    /// The decapsulation key in the standard's encoding.
    pub private: Vec<u8>,
    /// What encapsulation with `m` gives.
    pub ciphertext: Vec<u8>,
    /// What encapsulation with `m` gives, or for a tampered ciphertext the rejection secret.
    pub secret: Vec<u8>,
}

/// Cases of one parameter set.
pub struct KemCases {
    /// Good ones, each with its own key, and last the first one with a tampered ciphertext, which is never timed.
    pub all: Vec<KemCase>,
}

/// One message under one key.
#[derive(Clone)]
pub struct SignatureCase {
    /// The number of the key.
    pub key: usize,
    /// What is signed, with an empty context.
    pub message: [u8; 32],
    /// The deterministic signature.
    pub signature: Vec<u8>,
    /// Whether the signature is good.
    pub valid: bool,
}

/// A key pair.
pub struct SignatureKey {
    /// ξ
    pub seed: [u8; 32],
    /// The verifying key.
    pub public: Vec<u8>,
    /// The signing key in the standard's encoding.
    pub private: Vec<u8>,
}

/// Cases of one parameter set.
pub struct SignatureCases {
    /// The key pairs.
    pub keys: Vec<SignatureKey>,
    /// Good ones, key by key in turn, and last one with a tampered signature, which is never timed.
    pub all: Vec<SignatureCase>,
}

/// Bytes that anybody can make again: SHAKE256 of a label.
fn bytes<const N: usize>(label: &str) -> [u8; N] {
    let mut out = [0; N];
    Shake256::digest_into(label.as_bytes(), &mut out);
    out
}

impl KemCases {
    /// The cases of `set` under that many keys.
    pub fn new(set: KemSet, keys: usize) -> Rc<Self> {
        match set {
            KemSet::MlKem512 => Self::of::<mlkem::MlKem512>(keys),
            KemSet::MlKem768 => Self::of::<mlkem::MlKem768>(keys),
            KemSet::MlKem1024 => Self::of::<mlkem::MlKem1024>(keys),
        }
    }

    fn of<P: mlkem::PreparedSet>(keys: usize) -> Rc<Self> {
        let mut all: Vec<KemCase> = (0..keys)
            .map(|i| {
                let seed: [u8; 64] = bytes(&format!("{} key {i}", P::NAME));
                let m: [u8; 32] = bytes(&format!("{} encapsulation {i}", P::NAME));
                let key = DecapsulationKey::<P>::from_seed(&seed);
                let public = key.encapsulation_key();
                let (ciphertext, secret) = public.encapsulate_deterministic(&m);
                KemCase {
                    seed,
                    m,
                    public: public.as_bytes().as_ref().to_vec(),
                    private: AsRef::<[u8]>::as_ref(key.to_encoded().expose()).to_vec(),
                    ciphertext: ciphertext.as_ref().to_vec(),
                    secret: secret.expose().to_vec(),
                }
            })
            .collect();
        let mut tampered = all[0].clone();
        tampered.ciphertext[7] ^= 1;
        let ciphertext =
            P::Ciphertext::try_from(&tampered.ciphertext[..]).expect("the length did not change");
        let key = DecapsulationKey::<Compact<P>>::from_seed(&tampered.seed);
        tampered.secret = key.decapsulate(&ciphertext).expose().to_vec();
        assert_ne!(tampered.secret, all[0].secret, "a tampered ciphertext gives the rejection secret");
        all.push(tampered);
        Rc::new(Self { all })
    }
}

impl SignatureCases {
    /// The cases of `set`: that many keys, and that many messages under each.
    pub fn new(set: SignatureSet, keys: usize, messages: usize) -> Rc<Self> {
        match set {
            SignatureSet::MlDsa44 => Self::of::<mldsa::MlDsa44>(keys, messages),
            SignatureSet::MlDsa65 => Self::of::<mldsa::MlDsa65>(keys, messages),
            SignatureSet::MlDsa87 => Self::of::<mldsa::MlDsa87>(keys, messages),
        }
    }

    fn of<P: mldsa::PreparedSet>(count: usize, messages: usize) -> Rc<Self> {
        let mut keys = Vec::new();
        let mut signers = Vec::new();
        for i in 0..count {
            let seed: [u8; 32] = bytes(&format!("{} key {i}", P::NAME));
            let signer = SigningKey::<P>::from_seed(&seed);
            keys.push(SignatureKey {
                seed,
                public: signer.verifying_key().as_bytes().as_ref().to_vec(),
                private: AsRef::<[u8]>::as_ref(signer.to_encoded().expose()).to_vec(),
            });
            signers.push(signer);
        }
        let mut all: Vec<SignatureCase> = (0..count * messages)
            .map(|i| {
                let message: [u8; 32] = bytes(&format!("{} message {i}", P::NAME));
                let signature = signers[i % count].sign_deterministic(&message).as_ref().to_vec();
                SignatureCase { key: i % count, message, signature, valid: true }
            })
            .collect();
        let mut tampered = all[0].clone();
        tampered.signature[7] ^= 1;
        tampered.valid = false;
        all.push(tampered);
        Rc::new(Self { keys, all })
    }

    /// The key of case `i`.
    pub fn key(&self, i: usize) -> &SignatureKey {
        &self.keys[self.all[i].key]
    }
}
