//! Who a member is: its DID and its identity card, by hash.

use std::fmt;

use gambeson_identity::{Card, Did};

use crate::refusal::{Reason, Refusal};

/// The BLAKE3 hash of the canonical document of an identity card.
///
/// Cards of suite `default` have it as their own hash ([`Card::hash`]); those of `cnsa2`, whose own is SHA-384, have this one besides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CardHash(pub [u8; 32]);

impl CardHash {
    /// The hash of a card.
    #[must_use]
    pub fn of(card: &Card) -> Self {
        Self(*blake3::hash(card.canonical()).as_bytes())
    }
}

impl fmt::Display for CardHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CardHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What stands in a leaf: credential type 0xF1D0, DID ‖ hash of the card.
///
/// The card vouches for the leaf's signature key, so the leaf needs no other proof, and the card itself never enters the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The DID, a `did:gambeson`.
    pub did: Did,
    /// The card that lists the leaf's key.
    pub card: CardHash,
}

impl Credential {
    /// The credential's type, of the range for private use (RFC 9420, section 17.5).
    pub const TYPE: u16 = 0xf1d0;

    /// The bytes: the DID in UTF-8, then the 32 of the hash.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.did.as_str().as_bytes(), &self.card.0].concat()
    }

    /// Reads these bytes.
    ///
    /// # Errors
    /// [`Reason::BadCredential`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let bad = |what: &str| Refusal::new(Reason::BadCredential, what);
        let (did, card) = bytes
            .split_last_chunk::<32>()
            .ok_or_else(|| bad("the credential does not end with the hash of a card"))?;
        let did = std::str::from_utf8(did).ok().and_then(|did| did.parse::<Did>().ok());
        let did = did.filter(|did| did.method() == gambeson_identity::Method::Gambeson);
        let did = did.ok_or_else(|| bad("the credential does not begin with a did:gambeson"))?;
        Ok(Self { did, card: CardHash(*card) })
    }
}
