//! Leaf keys of other algorithms than ML-DSA, out of 32 derived bytes.
//!
//! The key is the front of SHAKE256(derived bytes): of a composite the seed of ML-DSA, then the seed of Ed25519 or a scalar; of ECDSA a
//! scalar. Of Ed25519 alone it is the derived bytes themselves. A scalar is the first string of its length that is one, big-endian and from 1
//! to the order less 1, as `DeriveKeyPair` of RFC 9180 (§7.1.3) picks it: no bias, and nothing about the scalar shows in how many are passed over.

use super::{Agent, Role};
use crate::entropy::Hedge;
use crate::{Purpose, Result};
use ed25519_dalek::Signer as _;
use gambeson::rand_core::{TryCryptoRng, TryRng};
use gambeson::secret::{Secret, StackGuard, WipedBox};
use gambeson::sha3::{Shake256, Squeeze};
use gambeson_hybrid::composite;

/// How much stack is wiped below what works with a private key, in bytes; what makes and signs composites wipes its own.
const DEPTH: usize = 16 << 10;

/// A private key, wiped when dropped.
pub(super) enum LeafKey {
    Ed25519(WipedBox<ed25519_dalek::SigningKey>),
    P256(WipedBox<p256::ecdsa::SigningKey>),
    P384(WipedBox<p384::ecdsa::SigningKey>),
    P521(WipedBox<p521::ecdsa::SigningKey>),
    Composite(WipedBox<composite::SigningKey>),
}

impl LeafKey {
    /// The key of a role whose algorithm is not ML-DSA.
    fn of(agent: &Agent, role: Role, index: u64) -> Self {
        let derived = agent.seed.derive_32(agent.suite, role.purpose(), index);
        let _guard = StackGuard::<DEPTH>;
        Self::from_derived(role, derived.expose())
    }

    #[inline(never)]
    fn from_derived(role: Role, derived: &[u8; 32]) -> Self {
        let mut stream = Stream(Shake256::new().update(derived).finalize_xof());
        let composite = |algorithm, stream: &mut Stream| {
            let key = composite::SigningKey::generate_with(algorithm, stream);
            Self::Composite(WipedBox::new(key.expect("sixteen strings in a row that are no scalars")))
        };
        match role {
            Role::GroupEd25519 => {
                Self::Ed25519(WipedBox::new(ed25519_dalek::SigningKey::from_bytes(derived)))
            }
            Role::GroupEcdsaP256 => {
                Self::P256(stream.scalar::<32, _>(0xff, p256::ecdsa::SigningKey::from_slice))
            }
            Role::GroupEcdsaP384 => {
                Self::P384(stream.scalar::<48, _>(0xff, p384::ecdsa::SigningKey::from_slice))
            }
            Role::GroupEcdsaP521 => {
                Self::P521(stream.scalar::<66, _>(0x01, p521::ecdsa::SigningKey::from_slice))
            }
            Role::GroupMlDsa65Ed25519 => composite(&composite::MLDSA65_ED25519_SHA512, &mut stream),
            Role::GroupMlDsa87EcdsaP384 => composite(&composite::MLDSA87_ECDSA_P384_SHA512, &mut stream),
            _ => panic!("{role:?} has no leaf key of its own kind"),
        }
    }

    /// As MLS sends it (RFC 9420, §5.1.1): raw, or the uncompressed point.
    fn public(&self) -> Vec<u8> {
        match self {
            Self::Ed25519(key) => key.verifying_key().to_bytes().to_vec(),
            Self::P256(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::P384(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::P521(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::Composite(key) => key.verifying_key().as_bytes().to_vec(),
        }
    }

    /// ECDSA in DER, with the nonce of RFC 6979; composites in the empty context, hedged.
    #[inline(never)]
    fn sign(&self, hedge: &Hedge, message: &[u8]) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Ed25519(key) => key.sign(message).to_bytes().to_vec(),
            Self::P256(key) => {
                let signature: p256::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
            Self::P384(key) => {
                let signature: p384::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
            Self::P521(key) => {
                let signature: p521::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
            Self::Composite(key) => {
                let digest = key.algorithm().pre_hash().digest(message);
                let rnd = match hedge.is_deterministic() {
                    true => None,
                    false => Some(hedge.draw(&[b"", message])?),
                };
                let signature = key.sign_digest(&digest, b"", rnd.as_ref().map(Secret::expose));
                signature.expect("the empty context, and the algorithm's hash").as_bytes().to_vec()
            }
        })
    }
}

/// The output of SHAKE256, as a generator that never fails.
struct Stream(Squeeze);

impl Stream {
    /// The first string that is a scalar; `mask` clears what a first byte has beyond the bits of the order.
    fn scalar<const N: usize, K>(
        &mut self,
        mask: u8,
        key: impl Fn(&[u8]) -> core::result::Result<K, p256::ecdsa::Error>,
    ) -> WipedBox<K> {
        let mut scalar = Secret::new([0; N]);
        let scalar = scalar.expose_mut();
        loop {
            self.0.squeeze(scalar);
            scalar[0] &= mask;
            if let Ok(key) = key(scalar) {
                return WipedBox::new(key);
            }
        }
    }
}

impl TryRng for Stream {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> core::result::Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> core::result::Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> core::result::Result<(), Self::Error> {
        self.0.squeeze(out);
        Ok(())
    }
}

impl TryCryptoRng for Stream {}

/// Works with a leaf's key: the present one is kept, an earlier one is made anew.
fn with<T>(agent: &Agent, role: Role, index: u64, work: impl FnOnce(&LeafKey) -> T) -> T {
    if index == agent.index(role) {
        work(agent.leaves[role.position()].get_or_init(|| LeafKey::of(agent, role, index)))
    } else {
        work(&LeafKey::of(agent, role, index))
    }
}

#[allow(clippy::unnecessary_wraps, reason = "without feature `groups` there is no such key")]
pub(super) fn public(agent: &Agent, role: Role, index: u64) -> Result<Vec<u8>> {
    Ok(with(agent, role, index, LeafKey::public))
}

pub(super) fn sign(agent: &Agent, role: Role, index: u64, message: &[u8]) -> Result<Vec<u8>> {
    let hedge = agent.hedge(Purpose::SigningHedge);
    with(agent, role, index, |key| {
        let _guard = StackGuard::<DEPTH>;
        key.sign(&hedge, message)
    })
}

/// Whether bytes of the right number are a public key of the role: points are on their curves.
#[allow(clippy::unnecessary_wraps, reason = "without feature `groups` nothing can tell")]
pub(super) fn is_public(role: Role, bytes: &[u8]) -> Result<bool> {
    let composite = |algorithm| composite::VerifyingKey::from_bytes(algorithm, bytes).is_ok();
    let ed25519 = |bytes: &[u8; 32]| ed25519_dalek::VerifyingKey::from_bytes(bytes).is_ok();
    Ok(match role {
        Role::GroupEd25519 => bytes.try_into().is_ok_and(ed25519),
        Role::GroupEcdsaP256 => p256::PublicKey::from_sec1_bytes(bytes).is_ok(),
        Role::GroupEcdsaP384 => p384::PublicKey::from_sec1_bytes(bytes).is_ok(),
        Role::GroupEcdsaP521 => p521::PublicKey::from_sec1_bytes(bytes).is_ok(),
        Role::GroupMlDsa65Ed25519 => composite(&composite::MLDSA65_ED25519_SHA512),
        Role::GroupMlDsa87EcdsaP384 => composite(&composite::MLDSA87_ECDSA_P384_SHA512),
        _ => true,
    })
}
