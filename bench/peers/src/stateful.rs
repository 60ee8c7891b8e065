//! Our keys of LMS and XMSS, each with its whole tree and with a store in memory that counts its leaves.

use gambeson::lms::{HssSigningKey, HssVerifyingKey, LmotsType, LmsType};
use gambeson::stateful::hazmat::MemoryStore;
use gambeson::stateful::{StatefulKey, TreeOptions};
use gambeson::xmss::{self, ParameterSet};

use crate::peers::{Family, SignatureSet};

/// HSS with one tree, as the rows of LMS have it.
const LMS: [(LmsType, LmotsType); 1] = [(LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W8)];

/// A private key that signs with its leaves in their order.
pub enum Signer {
    /// LMS, as HSS with one level.
    Lms(gambeson::stateful::Signer<HssSigningKey, MemoryStore>),
    /// XMSS.
    Xmss(gambeson::stateful::Signer<xmss::SigningKey, MemoryStore>),
}

/// Bytes of the seed: I and SEED, or S_XMSS, SK_PRF and SEED.
pub fn seed_len(set: SignatureSet) -> usize {
    if set.family() == Family::Lms { 48 } else { 96 }
}

impl Signer {
    /// The key of a seed.
    pub fn new(set: SignatureSet, seed: &[u8]) -> Self {
        let options = TreeOptions::new();
        if set.family() == Family::Lms {
            let (identifier, seed) = seed.split_first_chunk().expect("long enough");
            let key = HssSigningKey::from_seed(&LMS, identifier, seed, options).expect("a good seed");
            return Self::Lms(gambeson::stateful::Signer::new(key, MemoryStore::new(0)));
        }
        let parts: [&[u8]; 3] = std::array::from_fn(|i| &seed[32 * i..][..32]);
        let [secret, sk_prf, seed] = parts;
        let key = xmss::SigningKey::from_seeds(ParameterSet::SHA2_10_256, secret, sk_prf, seed, options);
        Self::Xmss(gambeson::stateful::Signer::new(key.expect("a good seed"), MemoryStore::new(0)))
    }

    /// The encoded verifying key.
    pub fn public(&self) -> Vec<u8> {
        match self {
            Self::Lms(signer) => signer.key().verifying_key().to_bytes(),
            Self::Xmss(signer) => signer.key().verifying_key().to_bytes(),
        }
    }

    /// A signature with the next leaf.
    pub fn sign(&mut self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Lms(signer) => next(signer, message),
            Self::Xmss(signer) => next(signer, message),
        }
    }
}

fn next<K: StatefulKey>(signer: &mut gambeson::stateful::Signer<K, MemoryStore>, message: &[u8]) -> Vec<u8> {
    let index = signer.reserve_one().expect("a leaf");
    signer.sign(index, message).expect("its own index")
}

/// A verifying key.
pub enum Verifier {
    /// HSS.
    Lms(HssVerifyingKey),
    /// XMSS.
    Xmss(xmss::VerifyingKey),
}

impl Verifier {
    /// The key with these bytes.
    pub fn new(set: SignatureSet, bytes: &[u8]) -> Result<Self, String> {
        match set.family() {
            Family::Lms => {
                HssVerifyingKey::from_bytes(bytes).map(Self::Lms).map_err(|error| error.to_string())
            }
            _ => xmss::VerifyingKey::from_bytes(bytes).map(Self::Xmss).map_err(|error| error.to_string()),
        }
    }

    /// Returns true if the signature is valid.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Lms(key) => key.verify(message, signature).is_ok(),
            Self::Xmss(key) => key.verify(message, signature).is_ok(),
        }
    }
}
