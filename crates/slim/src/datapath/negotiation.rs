//! The negotiation that begins a connection: versions, and the key of the header's MAC.
//!
//! Both ends send one message. The key is HKDF-SHA256 (RFC 5869) of an X25519 secret (RFC 7748) and, if the node takes part in it, of an
//! ML-KEM-768 secret (FIPS 203), with the connection's identifier as salt. Nothing in it names the node: that is the task of TLS.

use std::fmt;

use gambeson::mlkem::{DecapsulationKey, MlKem768, SharedSecret};
use gambeson::secret::Secret;
use hkdf::Hkdf;
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};

use super::mac::HeaderMac;
use super::proto::{EDGE, Kind, Link, Message, Negotiation, PROTOCOL_VERSION};

const CLASSICAL: &[u8] = b"SLIM-DP-inter-node-hmac-v1";
const HYBRID: &[u8] = b"SLIM-DP-inter-node-hmac-v1-pq";

/// Length of the longest version that a node may name, in bytes.
const MAX_VERSION: usize = 64;

/// This end's half of a negotiation.
pub(super) struct Offer {
    link_id: String,
    x25519: StaticSecret,
    ml_kem: DecapsulationKey<MlKem768>,
}

/// Outcome of a negotiation.
pub(super) struct Agreed {
    pub(super) mac: HeaderMac,
    /// The node's version, in printable characters.
    pub(super) version: String,
    /// The key depends on ML-KEM-768, too.
    pub(super) hybrid: bool,
}

/// The system's random generator failed.
#[derive(Debug)]
pub(super) struct NoRandomness;

impl Offer {
    /// Draws fresh keys.
    pub(super) fn new() -> Result<Self, NoRandomness> {
        let mut link_id = [0; 16];
        getrandom::fill(&mut link_id).map_err(|_| NoRandomness)?;
        let mut x25519 = Secret::new([0; 32]);
        getrandom::fill(x25519.expose_mut()).map_err(|_| NoRandomness)?;
        Ok(Self {
            link_id: base16ct::lower::encode_string(&link_id),
            x25519: StaticSecret::from(*x25519.expose()),
            ml_kem: DecapsulationKey::generate().map_err(|_| NoRandomness)?,
        })
    }

    /// Returns the request. Nodes before ML-KEM skip its field.
    pub(super) fn request(&self) -> Message {
        let negotiation = Negotiation {
            link_id: self.link_id.clone(),
            version: PROTOCOL_VERSION.to_owned(),
            is_reply: false,
            x25519: PublicKey::from(&self.x25519).to_bytes().to_vec(),
            connection_type: EDGE,
            ml_kem: Some(self.ml_kem.encapsulation_key().as_bytes().to_vec()),
        };
        Message { kind: Some(Kind::Link(Link { negotiation: Some(negotiation) })) }
    }

    /// Takes the node's first message.
    ///
    /// # Errors
    /// [`Refused`]: the node and this link do not go together.
    pub(super) fn accept(self, reply: Message, hybrid_only: bool) -> Result<Agreed, Refused> {
        let Some(Kind::Link(Link { negotiation: Some(reply) })) = reply.kind else {
            return Err(Refused::NoNegotiation);
        };
        if !is_version(&reply.version) {
            return Err(Refused::NoVersion);
        }
        if !reply.is_reply || reply.link_id != self.link_id {
            return Err(Refused::OtherLink);
        }
        let Ok(theirs) = <[u8; 32]>::try_from(reply.x25519.as_slice()) else {
            return Err(Refused::NoMac(reply.version));
        };
        let ml_kem = match reply.ml_kem.as_deref() {
            None | Some([]) if hybrid_only => return Err(Refused::NotHybrid(reply.version)),
            None | Some([]) => None,
            Some(ciphertext) => {
                let ciphertext = ciphertext.try_into().map_err(|_| Refused::BadKey)?;
                Some(self.ml_kem.decapsulate(ciphertext))
            }
        };
        let hybrid = ml_kem.is_some();
        let key = derive(&self.x25519, theirs, ml_kem.as_ref(), &self.link_id).ok_or(Refused::BadKey)?;
        Ok(Agreed { mac: HeaderMac::new(key.expose(), &self.link_id), version: reply.version, hybrid })
    }
}

/// Derives the key of header MACs; `None` if the other end's X25519 key is a point of low order, which makes a secret that everybody
/// knows.
pub(super) fn derive(
    ours: &StaticSecret,
    theirs: [u8; 32],
    ml_kem: Option<&SharedSecret>,
    link_id: &str,
) -> Option<Secret<[u8; 32]>> {
    let x25519 = ours.diffie_hellman(&PublicKey::from(theirs));
    if !x25519.was_contributory() {
        return None;
    }
    let mut both = Secret::new([0; 64]);
    let (first, second) = both.expose_mut().split_at_mut(32);
    first.copy_from_slice(x25519.as_bytes());
    let (secret, info) = match ml_kem {
        Some(ml_kem) => {
            second.copy_from_slice(ml_kem.expose());
            (&both.expose()[..], HYBRID)
        }
        None => (x25519.as_bytes().as_slice(), CLASSICAL),
    };
    let mut key = Secret::new([0; 32]);
    let expanded = Hkdf::<Sha256>::new(Some(link_id.as_bytes()), secret).expand(info, key.expose_mut());
    expanded.expect("HKDF gives 32 bytes");
    Some(key)
}

/// A version has three numbers with dots between them, as in `3.4.6` and `3.5.0-rc.1`.
fn is_version(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let numbers = || core.split('.').map(|number| number.parse::<u32>());
    text.len() <= MAX_VERSION
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte))
        && numbers().count() == 3
        && numbers().all(|number| number.is_ok())
}

/// Why a connection to a node is not used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The node's first message is another one, or did not come.
    NoNegotiation,
    /// The node names no version.
    NoVersion,
    /// The reply is that to another request.
    OtherLink,
    /// A node of this version has no keys for MACs.
    NoMac(String),
    /// A node of this version has no ML-KEM, which was asked for.
    NotHybrid(String),
    /// The node's key or ciphertext is none.
    BadKey,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNegotiation => f.write_str(
                "the node does not negotiate the link: SLIM before 2.0 does not and is not supported",
            ),
            Self::NoVersion => f.write_str("the node names no version of SLIM"),
            Self::OtherLink => f.write_str("the node answers another link's negotiation"),
            Self::NoMac(version) => write!(
                f,
                "SLIM {version} has no header MAC (is require_header_mac off, or is this version too old?)"
            ),
            Self::NotHybrid(version) => {
                write!(f, "SLIM {version} does not take part in ML-KEM-768, which the options require")
            }
            Self::BadKey => f.write_str("the node's key for header MACs is invalid"),
        }
    }
}
