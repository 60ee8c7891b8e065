//! Keys of leaves of groups (MLS), under `m/5'`: ML-DSA, and those that nothing else here has: Ed25519 (RFC 8032), ECDSA (FIPS 186-5) and
//! composites (draft-ietf-lamps-pq-composite-sigs).

#[cfg(not(feature = "groups"))]
use absent as leaf;

#[cfg(feature = "groups")]
use super::leaf;
use super::{Agent, Role, signing_key};
use crate::{Error, Purpose, Reason, Result, SigningKey, encoding};
use serde_json::{Map, Value, json};

impl Agent {
    /// Signs what MLS signs with the key of a leaf: ML-DSA and composites in the empty context, hedged; Ed25519; or ECDSA, whose signatures are in
    /// DER. The key stays here; its public half stands in the cards that ask for it ([`CardContent::groups`](crate::CardContent::groups)). `index` is
    /// [`Agent::index`], or an earlier one while a leaf still has the key of an earlier card.
    ///
    /// ```
    /// use gambeson_identity::{Agent, Role};
    ///
    /// let agent = Agent::generate()?;
    /// let signature = agent.sign_in_group(Role::GroupMlDsa65, 0, b"LeafNodeTBS")?;
    /// assert_eq!(signature.len(), 3309);
    /// # Ok::<(), gambeson_identity::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::WrongPurpose`] for a role that is not one of groups; [`Reason::BadAlgorithm`] for another algorithm than ML-DSA without feature
    /// `groups`; [`Reason::NoRandomness`].
    pub fn sign_in_group(&self, role: Role, index: u64, message: &[u8]) -> Result<Vec<u8>> {
        match self.earlier_group_key(role, index)? {
            Some(key) => key.sign(b"", message),
            None if role.leaf_form().is_some() => leaf::sign(self, role, index, message),
            None => self.key(role).sign(b"", message),
        }
    }

    /// The public key of a leaf with this index, as MLS sends it (RFC 9420, §5.1.1): points are uncompressed.
    ///
    /// # Errors
    ///
    /// As [`Agent::sign_in_group`].
    pub fn group_public_key(&self, role: Role, index: u64) -> Result<Vec<u8>> {
        match self.earlier_group_key(role, index)? {
            Some(key) => Ok(key.verifying_key().as_bytes().to_vec()),
            None if role.leaf_form().is_some() => leaf::public(self, role, index),
            None => Ok(self.public_key(role)),
        }
    }

    /// A key of ML-DSA for groups whose index is not the present one.
    fn earlier_group_key(&self, role: Role, index: u64) -> Result<Option<SigningKey>> {
        if !Role::GROUPS.contains(&role) {
            return Err(Error::new(Reason::WrongPurpose, format_args!("{role:?} is not a role of groups")));
        }
        let other = role.leaf_form().is_none() && index != self.index(role);
        Ok(other.then(|| signing_key(&self.seed, self.suite, role, index, self.hedge(Purpose::SigningHedge))))
    }
}

/// How a leaf key that is not one of ML-DSA stands in a JWK. Lengths are bytes.
#[derive(Clone, Copy)]
pub(crate) enum LeafForm {
    /// `kty` OKP, with `crv` and `x` (RFC 8037, §2).
    Okp { crv: &'static str, len: usize },
    /// `kty` EC, with `crv`, `x`, `y` (RFC 7518, §6.2.1) and `alg`; the length is that of a coordinate.
    Ec { crv: &'static str, alg: &'static str, len: usize },
    /// `kty` AKP (RFC 9964), with the `alg` of draft-ietf-jose-pq-composite-sigs, and `pub`.
    Akp { alg: &'static str, len: usize },
}

impl Role {
    /// Of roles of groups whose algorithm is not ML-DSA.
    pub(crate) const fn leaf_form(self) -> Option<LeafForm> {
        Some(match self {
            Self::GroupEd25519 => LeafForm::Okp { crv: "Ed25519", len: 32 },
            Self::GroupEcdsaP256 => LeafForm::Ec { crv: "P-256", alg: "ES256", len: 32 },
            Self::GroupEcdsaP384 => LeafForm::Ec { crv: "P-384", alg: "ES384", len: 48 },
            Self::GroupEcdsaP521 => LeafForm::Ec { crv: "P-521", alg: "ES512", len: 66 },
            Self::GroupMlDsa65Ed25519 => LeafForm::Akp { alg: "ML-DSA-65-Ed25519", len: 1952 + 32 },
            Self::GroupMlDsa87EcdsaP384 => LeafForm::Akp { alg: "ML-DSA-87-ES384", len: 2592 + 97 },
            _ => return None,
        })
    }
}

impl LeafForm {
    /// The JWK of a public key as MLS sends it.
    fn to_jwk(self, public: &[u8]) -> Value {
        match self {
            Self::Okp { crv, .. } => json!({"kty": "OKP", "crv": crv, "x": encoding::encode(public)}),
            Self::Ec { crv, alg, len } => {
                // SEC 1, 2.3.3: 4, x, y.
                let (x, y) = public[1..].split_at(len);
                json!({"kty": "EC", "crv": crv, "alg": alg, "x": encoding::encode(x), "y": encoding::encode(y)})
            }
            Self::Akp { alg, .. } => json!({"kty": "AKP", "alg": alg, "pub": encoding::encode(public)}),
        }
    }

    /// The public key of such a JWK, as MLS sends it; `None` if it is another. Members beyond these are left alone. Whether a point is on its
    /// curve is for [`is_public`] to say.
    fn read(self, jwk: &Map<String, Value>) -> Option<Vec<u8>> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let bytes = |name, len| encoding::decode(text(name)?, len).ok().filter(|bytes| bytes.len() == len);
        match self {
            Self::Okp { crv, len } if (text("kty"), text("crv")) == (Some("OKP"), Some(crv)) => {
                bytes("x", len)
            }
            Self::Ec { crv, alg, len }
                if (text("kty"), text("crv"), text("alg")) == (Some("EC"), Some(crv), Some(alg)) =>
            {
                Some([&[4][..], &bytes("x", len)?, &bytes("y", len)?].concat())
            }
            Self::Akp { alg, len } if (text("kty"), text("alg")) == (Some("AKP"), Some(alg)) => {
                bytes("pub", len)
            }
            _ => None,
        }
    }
}

/// The role of groups whose leaf key a JWK holds, and the key as MLS sends it.
pub(crate) fn from_jwk(jwk: &Map<String, Value>) -> Option<(Role, Vec<u8>)> {
    Role::GROUPS.into_iter().find_map(|role| Some((role, role.leaf_form()?.read(jwk)?)))
}

/// The JWK of an agent's present leaf key, of a role whose algorithm is not ML-DSA.
pub(super) fn jwk(agent: &Agent, role: Role, form: LeafForm) -> Result<Value> {
    leaf::public(agent, role, agent.index(role)).map(|public| form.to_jwk(&public))
}

/// Whether a key that [`from_jwk`] found is one: points are on their curves.
pub(crate) fn is_public(role: Role, public: &[u8]) -> Result<bool> {
    leaf::is_public(role, public)
}

/// What stands in for the keys without the feature.
#[cfg(not(feature = "groups"))]
mod absent {
    use super::{Agent, Error, Reason, Result, Role};

    fn error() -> Error {
        Error::new(Reason::BadAlgorithm, "built without feature groups")
    }

    pub(super) fn public(_: &Agent, _: Role, _: u64) -> Result<Vec<u8>> {
        Err(error())
    }

    pub(super) fn sign(_: &Agent, _: Role, _: u64, _: &[u8]) -> Result<Vec<u8>> {
        Err(error())
    }

    pub(super) fn is_public(_: Role, _: &[u8]) -> Result<bool> {
        Err(error())
    }
}
