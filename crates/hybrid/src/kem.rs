//! Hybrid key encapsulation by name: ML-KEM and an elliptic curve, of TLS 1.3, of X.509 and X-Wing, in one table.
//!
//! ```
//! use gambeson_hybrid::kem::{DecapsulationKey, EncapsulationKey, X25519_MLKEM768};
//!
//! // Client: its key share goes to the server.
//! let ours = DecapsulationKey::generate(&X25519_MLKEM768)?;
//! let share = ours.encapsulation_key();
//!
//! // Server: its own share goes back.
//! let theirs = EncapsulationKey::from_bytes(&X25519_MLKEM768, share.as_bytes())?;
//! let (ciphertext, sent) = theirs.encapsulate()?;
//!
//! assert_eq!(ours.decapsulate(ciphertext.as_bytes())?.expose(), sent.expose());
//! # Ok::<(), gambeson_hybrid::kem::Error>(())
//! ```
//!
//! | [`HybridKem`] | TLS group | encapsulation key | ciphertext | secret | private key | first |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | [`X25519_MLKEM768`] | 0x11EC | 1216 | 1120 | 64 | 96 | ML-KEM |
//! | [`SECP256R1_MLKEM768`] | 0x11EB | 1249 | 1153 | 64 | 96 | curve |
//! | [`SECP384R1_MLKEM1024`] | 0x11ED | 1665 | 1665 | 80 | 112 | curve |
//! | [`X448_MLKEM768`] | 0x2FB7, unregistered | 1240 | 1144 | 88 | 120 | ML-KEM |
//! | [`X448_MLKEM1024`] | 0xFE48, private use | 1624 | 1624 | 88 | 120 | ML-KEM |
//! | [`X_WING`] | | 1216 | 1120 | 32 | 32 | ML-KEM |
//! | [`MLKEM768_P256`] | | 1249 | 1153 | 32 | 32 | ML-KEM |
//! | [`MLKEM1024_P384`] | | 1665 | 1665 | 32 | 32 | ML-KEM |
//! | [`MLKEM768_X25519_SHA3_256`] | | 1216 | 1120 | 32 | 96 | ML-KEM |
//! | [`MLKEM768_ECDH_P256_SHA3_256`] | | 1249 | 1153 | 32 | 115 | ML-KEM |
//! | [`MLKEM768_ECDH_P384_SHA3_256`] | | 1281 | 1185 | 32 | 128 | ML-KEM |
//! | [`MLKEM1024_ECDH_P384_SHA3_256`] | | 1665 | 1665 | 32 | 128 | ML-KEM |
//! | [`MLKEM1024_X448_SHA3_256`] | | 1624 | 1624 | 32 | 120 | ML-KEM |
//!
//! The groups of TLS concatenate shares and secrets, in the order of the last column; the others hash the two secrets
//! with the curve's share, its public key and a label.
//!
//! # What is refused
//!
//! Any other length; an ML-KEM key with a coefficient that is not below q (FIPS 203, §7.2); a point that is not on its
//! curve; and a share with which X25519 or X448 gives all zeros (RFC 7748, §6), except in X-Wing, whose draft has no
//! such check ([`xwing`](crate::xwing) has doors that do refuse it). Decapsulation fails for no other reason: a changed
//! ciphertext yields a secret that nobody else has.
//!
//! # Private keys
//!
//! For TLS: d ‖ z of ML-KEM, then the curve's scalar. For X-Wing and the two of HPKE: a seed. For X.509: what the draft puts into PKCS#8,
//! which is d ‖ z, then the raw scalar of X25519 or X448, or the `ECPrivateKey` of RFC 5915 with the curve's name.
//!
//! # Memory
//!
//! No heap is needed. With feature `alloc` a [`DecapsulationKey`] keeps the expanded ML-KEM key (8 or 14 KiB) there, which
//! makes decapsulation faster.
//!
//! Sources: RFC 10024 (the first three groups); wolfSSL for the order and number of X448MLKEM768, OpenSSL 4 for the order of
//! X448MLKEM1024; draft-connolly-cfrg-xwing-kem-09; draft-irtf-cfrg-concrete-hybrid-kems-03;
//! draft-ietf-lamps-pq-composite-kem-17. The combinations of the last with RSA, brainpool curves and P-521 are left out.

pub(crate) mod curve;
mod error;
mod ml_kem;

use core::fmt;

use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{Secret, StackGuard};
use gambeson::sha3::{Sha3_256, Shake256};

pub use curve::Curve;
pub use error::Error;
pub use ml_kem::MlKem;

/// Bytes of stack that the work of any door uses, and a margin for other compilers.
const DEPTH: usize = 24 << 10;

/// Longest of its kind in the table.
const MAX_SHARE: usize = 1665;
const MAX_SECRET: usize = 88;
const MAX_PRIVATE: usize = 128;

/// One hybrid key encapsulation mechanism: what it is made of, and how.
///
/// They exist as statics of this module, and in [`KEMS`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HybridKem {
    name: &'static str,
    group: Option<u16>,
    oid: Option<&'static [u8]>,
    ml_kem: MlKem,
    curve: Curve,
    combiner: Combiner,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Combiner {
    /// TLS: shares and secrets one after the other, ML-KEM's first.
    MlKemFirst,
    /// TLS: the curve's first.
    CurveFirst,
    /// X-Wing and draft-irtf-cfrg-concrete-hybrid-kems: one seed, a hash under this label, no look at the curve's secret.
    Seeded(&'static [u8]),
    /// draft-ietf-lamps-pq-composite-kem: the same hash, the private keys side by side.
    Composite(&'static [u8]),
}

/// `1.3.6.1.5.5.7.6.` and one more arc, in DER.
macro_rules! pkix_alg {
    ($arc:literal) => {
        &[0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, $arc]
    };
}

macro_rules! table {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $ml_kem:ident, $curve:ident, $combiner:expr, group: $group:expr, oid: $oid:expr
       $(, feature: $feature:literal)?;)*) => {
        $($(#[$doc])*
        $(#[cfg(feature = $feature)])?
        pub static $id: HybridKem = HybridKem {
            name: $name,
            group: $group,
            oid: $oid,
            ml_kem: MlKem::$ml_kem,
            curve: Curve::$curve,
            combiner: $combiner,
        };)*

        /// Every mechanism, the groups of TLS first.
        pub static KEMS: &[&HybridKem] = &[$($(#[cfg(feature = $feature)])? &$id),*];
    };
}

table! {
    /// The group of TLS that everybody has.
    X25519_MLKEM768 = "X25519MLKEM768", MlKem768, X25519, Combiner::MlKemFirst, group: Some(0x11ec), oid: None;
    /// The group of TLS with the curve of NIST, P-256.
    SECP256R1_MLKEM768 = "SecP256r1MLKEM768", MlKem768, P256, Combiner::CurveFirst, group: Some(0x11eb), oid: None;
    /// The group of TLS that CNSA 2.0 profiles take.
    SECP384R1_MLKEM1024 = "SecP384r1MLKEM1024", MlKem1024, P384, Combiner::CurveFirst, group: Some(0x11ed), oid: None;
    /// With the number and the order of wolfSSL; it is not registered.
    X448_MLKEM768 = "X448MLKEM768", MlKem768, X448, Combiner::MlKemFirst, group: Some(0x2fb7), oid: None,
        feature: "curve448";
    /// The strongest on both sides, in the order of OpenSSL 4. It has no registered number: ours is one for private use.
    X448_MLKEM1024 = "X448MLKEM1024", MlKem1024, X448, Combiner::MlKemFirst, group: Some(0xfe48), oid: None,
        feature: "curve448";
    /// The same as [`xwing`](crate::xwing), by name.
    X_WING = "X-Wing", MlKem768, X25519, Combiner::Seeded(crate::xwing::LABEL), group: None, oid: None;
    /// The hybrid of HPKE with P-256, KEM 0x0050.
    MLKEM768_P256 = "MLKEM768-P256", MlKem768, P256, Combiner::Seeded(b"MLKEM768-P256"), group: None, oid: None;
    /// The hybrid of HPKE with P-384, KEM 0x0051.
    MLKEM1024_P384 = "MLKEM1024-P384", MlKem1024, P384, Combiner::Seeded(b"MLKEM1024-P384"), group: None, oid: None;
    /// `id-MLKEM768-X25519-SHA3-256` of X.509.
    MLKEM768_X25519_SHA3_256 = "MLKEM768-X25519-SHA3-256", MlKem768, X25519, Combiner::Composite(crate::xwing::LABEL),
        group: None, oid: Some(pkix_alg!(58));
    /// `id-MLKEM768-ECDH-P256-SHA3-256` of X.509.
    MLKEM768_ECDH_P256_SHA3_256 = "MLKEM768-ECDH-P256-SHA3-256", MlKem768, P256, Combiner::Composite(b"MLKEM768-P256"),
        group: None, oid: Some(pkix_alg!(59));
    /// `id-MLKEM768-ECDH-P384-SHA3-256` of X.509.
    MLKEM768_ECDH_P384_SHA3_256 = "MLKEM768-ECDH-P384-SHA3-256", MlKem768, P384, Combiner::Composite(b"MLKEM768-P384"),
        group: None, oid: Some(pkix_alg!(60));
    /// `id-MLKEM1024-ECDH-P384-SHA3-256` of X.509.
    MLKEM1024_ECDH_P384_SHA3_256 = "MLKEM1024-ECDH-P384-SHA3-256", MlKem1024, P384, Combiner::Composite(b"MLKEM1024-P384"),
        group: None, oid: Some(pkix_alg!(63));
    /// `id-MLKEM1024-X448-SHA3-256` of X.509.
    MLKEM1024_X448_SHA3_256 = "MLKEM1024-X448-SHA3-256", MlKem1024, X448, Combiner::Composite(b"MLKEM1024-X448"),
        group: None, oid: Some(pkix_alg!(65)), feature: "curve448";
}

impl HybridKem {
    /// The mechanism of that name: TLS's, OpenSSL's, or the draft's without `id-`.
    ///
    /// ```
    /// use gambeson_hybrid::kem::HybridKem;
    ///
    /// assert_eq!(HybridKem::by_name("X25519MLKEM768"), HybridKem::by_group(0x11ec));
    /// ```
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        KEMS.iter().copied().find(|kem| kem.name == name)
    }

    /// The mechanism of that named group of TLS.
    #[must_use]
    pub fn by_group(group: u16) -> Option<&'static Self> {
        KEMS.iter().copied().find(|kem| kem.group == Some(group))
    }

    /// The mechanism of that object identifier, in DER with tag and length.
    #[must_use]
    pub fn by_oid(oid: &[u8]) -> Option<&'static Self> {
        KEMS.iter().copied().find(|kem| kem.oid == Some(oid))
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The number of the named group of TLS; the composite ones and X-Wing have none.
    #[must_use]
    pub const fn group(&self) -> Option<u16> {
        self.group
    }

    /// The object identifier in DER, with tag and length; only the composite ones have one.
    #[must_use]
    pub const fn oid(&self) -> Option<&'static [u8]> {
        self.oid
    }

    /// The parameter set of ML-KEM.
    #[must_use]
    pub const fn ml_kem(&self) -> MlKem {
        self.ml_kem
    }

    /// The curve.
    #[must_use]
    pub const fn curve(&self) -> Curve {
        self.curve
    }

    /// Whether the curve's part of a share stands before ML-KEM's.
    #[must_use]
    pub const fn curve_first(&self) -> bool {
        matches!(self.combiner, Combiner::CurveFirst)
    }

    /// Bytes of an encapsulation key, which is a client's key share in TLS.
    #[must_use]
    pub const fn encapsulation_key_len(&self) -> usize {
        self.ml_kem.encapsulation_key_len() + self.curve.public_len()
    }

    /// Bytes of a ciphertext, which is a server's key share in TLS.
    #[must_use]
    pub const fn ciphertext_len(&self) -> usize {
        self.ml_kem.ciphertext_len() + self.curve.public_len()
    }

    /// Bytes of the shared secret.
    #[must_use]
    pub const fn shared_secret_len(&self) -> usize {
        match self.combiner {
            Combiner::MlKemFirst | Combiner::CurveFirst => 32 + self.curve.secret_len(),
            Combiner::Seeded(_) | Combiner::Composite(_) => 32,
        }
    }

    /// Bytes of a private key.
    #[must_use]
    pub const fn private_key_len(&self) -> usize {
        let ((seed, scalar), (head, tail)) = (self.parts(), self.wrapping());
        seed + head.len() + scalar + tail.len()
    }

    /// Bytes of the randomness of one encapsulation: m of ML-KEM and the ephemeral scalar.
    #[must_use]
    pub const fn randomness_len(&self) -> usize {
        32 + self.curve.secret_len()
    }

    /// What stands around the curve's scalar in a private key.
    const fn wrapping(&self) -> (&'static [u8], &'static [u8]) {
        match self.combiner {
            Combiner::Composite(_) => self.curve.private_key_wrapping(),
            _ => (&[], &[]),
        }
    }

    /// Bytes of the seed, and of the scalar beside it.
    const fn parts(&self) -> (usize, usize) {
        match self.combiner {
            Combiner::Seeded(_) => (32, 0),
            _ => (64, self.curve.secret_len()),
        }
    }

    /// The parts of a share, ML-KEM's first.
    fn split<'a>(&self, share: &'a [u8], expected: usize) -> Result<(&'a [u8], &'a [u8]), Error> {
        if share.len() != expected {
            return Err(Error::Length { expected, actual: share.len() });
        }
        let curve = self.curve.public_len();
        Ok(if self.curve_first() {
            let (x, m) = share.split_at(curve);
            (m, x)
        } else {
            share.split_at(expected - curve)
        })
    }

    /// The same for a share that is to be written.
    fn split_mut<'a>(&self, share: &'a mut [u8]) -> (&'a mut [u8], &'a mut [u8]) {
        let curve = self.curve.public_len();
        if self.curve_first() {
            let (x, m) = share.split_at_mut(curve);
            (m, x)
        } else {
            share.split_at_mut(share.len() - curve)
        }
    }

    /// What both sides do once they have both secrets.
    fn combine(&self, ss_m: &[u8; 32], ss_x: &[u8], c_x: &[u8], x_public: &[u8], out: &mut SharedSecret) {
        let out = &mut out.bytes.expose_mut()[..self.shared_secret_len()];
        match self.combiner {
            Combiner::MlKemFirst => {
                out[..32].copy_from_slice(ss_m);
                out[32..].copy_from_slice(ss_x);
            }
            Combiner::CurveFirst => {
                out[..ss_x.len()].copy_from_slice(ss_x);
                out[ss_x.len()..].copy_from_slice(ss_m);
            }
            Combiner::Seeded(label) | Combiner::Composite(label) => {
                out.copy_from_slice(&hash(ss_m, ss_x, c_x, x_public, label));
            }
        }
    }

    /// Computes the curve's secret, and refuses one that is all zero where the mechanism does.
    fn agree(&self, scalar: &[u8], public: &[u8], out: &mut CurveSecret) -> Result<(), Error> {
        let out = &mut out.expose_mut()[..self.curve.secret_len()];
        self.curve.agree(scalar, public, out)?;
        if !matches!(self.combiner, Combiner::Seeded(_)) && self.curve.is_all_zero(out) {
            return Err(Error::NonContributory);
        }
        Ok(())
    }
}

impl fmt::Debug for HybridKem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HybridKem({})", self.name)
    }
}

impl fmt::Display for HybridKem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// The combiner of X-Wing (§5.3), of draft-irtf-cfrg-concrete-hybrid-kems and of draft-ietf-lamps-pq-composite-kem (§3.4): SHA3-256 of both secrets, the curve's
/// ciphertext and public key, and the label.
pub(crate) fn hash(ss_m: &[u8; 32], ss_x: &[u8], c_x: &[u8], x_public: &[u8], label: &[u8]) -> [u8; 32] {
    let mut hash = Sha3_256::new();
    hash.update(ss_m).update(ss_x).update(c_x).update(x_public).update(label);
    hash.finalize()
}

/// A scalar of any curve, or what it agrees on, in the first bytes.
type CurveSecret = Secret<[u8; 56]>;

/// The private key: wiped when dropped, without `Clone` or a readable `Debug`.
pub struct DecapsulationKey {
    kem: &'static HybridKem,
    /// As [`HybridKem::private_key_len`] counts it.
    private: Secret<[u8; MAX_PRIVATE]>,
    ml_kem: ml_kem::Private,
    scalar: CurveSecret,
    x_public: [u8; 97],
}

impl DecapsulationKey {
    /// Makes a key from the operating system's generator.
    ///
    /// # Errors
    /// [`Error::Random`] when that generator fails.
    #[cfg(feature = "getrandom")]
    pub fn generate(kem: &'static HybridKem) -> Result<Self, Error> {
        Self::generate_with(kem, &mut crate::System)
    }

    /// Makes a key from the caller's generator.
    ///
    /// # Errors
    /// [`Error::Random`] when the generator fails.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(
        kem: &'static HybridKem,
        rng: &mut R,
    ) -> Result<Self, Error> {
        let mut parts = Secret::new([0; 64 + 56]);
        let (seed, scalar) = kem.parts();
        let parts = &mut parts.expose_mut()[..seed + scalar];
        let (seed, x) = parts.split_at_mut(seed);
        rng.try_fill_bytes(seed).map_err(|_| Error::Random)?;
        if !x.is_empty() {
            kem.curve.draw(rng, x)?;
        }
        Self::from_parts(kem, parts)
    }

    /// The key of a private key's bytes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Scalar`] when the curve's part is not a scalar of the curve, or not in its `ECPrivateKey`.
    pub fn from_bytes(kem: &'static HybridKem, private: &[u8]) -> Result<Self, Error> {
        let expected = kem.private_key_len();
        if private.len() != expected {
            return Err(Error::Length { expected, actual: private.len() });
        }
        let _guard = StackGuard::<DEPTH>;
        Self::expanded(kem, private)
    }

    /// The key of d ‖ z of ML-KEM, then the curve's raw scalar; of X-Wing, of its seed.
    ///
    /// Only for the composite mechanisms with P-256 and P-384 is this another form than [`from_bytes`](Self::from_bytes) takes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Scalar`] when the scalar is not one of the curve.
    pub fn from_parts(kem: &'static HybridKem, parts: &[u8]) -> Result<Self, Error> {
        let (seed, scalar) = kem.parts();
        if parts.len() != seed + scalar {
            return Err(Error::Length { expected: seed + scalar, actual: parts.len() });
        }
        let (seed, x) = parts.split_at(seed);
        let (head, tail) = kem.wrapping();
        let mut private = Secret::new([0; MAX_PRIVATE]);
        let private = &mut private.expose_mut()[..kem.private_key_len()];
        let mut at = 0;
        for part in [seed, head, x, tail] {
            private[at..][..part.len()].copy_from_slice(part);
            at += part.len();
        }
        Self::from_bytes(kem, private)
    }

    #[inline(never)]
    fn expanded(kem: &'static HybridKem, private: &[u8]) -> Result<Self, Error> {
        let mut parts = Secret::new([0; 64 + 56]);
        let parts = &mut parts.expose_mut()[..64 + kem.curve.secret_len()];
        if matches!(kem.combiner, Combiner::Seeded(_)) {
            // `expandDecapsulationKey` of the drafts; theirs stops after four scalars of P-256, and one of P-384, out of range.
            let mut seed = Shake256::new().update(private).finalize_xof();
            let (d_z, x) = parts.split_at_mut(64);
            seed.squeeze(d_z);
            let fill = |x: &mut [u8]| {
                seed.squeeze(x);
                Ok(())
            };
            kem.curve.first_scalar(fill, x)?;
        } else {
            let (head, tail) = kem.wrapping();
            let (d_z, x) = private.split_at(64);
            let x = x.strip_prefix(head).and_then(|x| x.strip_suffix(tail)).ok_or(Error::Scalar)?;
            parts[..64].copy_from_slice(d_z);
            parts[64..].copy_from_slice(x);
        }
        let (d_z, x) = parts.split_first_chunk::<64>().expect("64 bytes and a scalar");
        let mut key = Self {
            kem,
            private: Secret::new([0; MAX_PRIVATE]),
            ml_kem: ml_kem::Private::from_seed(kem.ml_kem, d_z),
            scalar: Secret::new([0; 56]),
            x_public: [0; 97],
        };
        kem.curve.public_key(x, &mut key.x_public[..kem.curve.public_len()])?;
        key.scalar.expose_mut()[..x.len()].copy_from_slice(x);
        key.private.expose_mut()[..private.len()].copy_from_slice(private);
        Ok(key)
    }

    /// The mechanism.
    #[must_use]
    pub const fn kem(&self) -> &'static HybridKem {
        self.kem
    }

    /// The private key's bytes, all that has to be kept.
    #[must_use]
    pub fn expose_bytes(&self) -> &[u8] {
        &self.private.expose()[..self.kem.private_key_len()]
    }

    /// The public half.
    #[must_use]
    pub fn encapsulation_key(&self) -> EncapsulationKey {
        let mut key = EncapsulationKey { kem: self.kem, bytes: [0; MAX_SHARE] };
        let (m, x) = self.kem.split_mut(&mut key.bytes[..self.kem.encapsulation_key_len()]);
        self.ml_kem.encapsulation_key(m);
        x.copy_from_slice(self.x_public());
        key
    }

    /// Finds the shared secret of a ciphertext.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Point`] and [`Error::NonContributory`], by the ciphertext's public bytes alone.
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<SharedSecret, Error> {
        let _guard = StackGuard::<DEPTH>;
        self.decapsulated(ciphertext)
    }

    #[inline(never)]
    fn decapsulated(&self, ciphertext: &[u8]) -> Result<SharedSecret, Error> {
        let (c_m, c_x) = self.kem.split(ciphertext, self.kem.ciphertext_len())?;
        let mut ss_x = Secret::new([0; 56]);
        let scalar = &self.scalar.expose()[..self.kem.curve.secret_len()];
        self.kem.agree(scalar, c_x, &mut ss_x)?;
        let ss_m = self.ml_kem.decapsulate(c_m);
        let ss_x = &ss_x.expose()[..self.kem.curve.secret_len()];
        let mut secret = SharedSecret { kem: self.kem, bytes: Secret::new([0; MAX_SECRET]) };
        self.kem.combine(ss_m.expose(), ss_x, c_x, self.x_public(), &mut secret);
        Ok(secret)
    }

    fn x_public(&self) -> &[u8] {
        &self.x_public[..self.kem.curve.public_len()]
    }
}

impl fmt::Debug for DecapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kem::DecapsulationKey({}, [redacted])", self.kem)
    }
}

/// The public key: its bytes, which have passed every check that does not need a private key.
#[derive(Clone, PartialEq, Eq)]
pub struct EncapsulationKey {
    kem: &'static HybridKem,
    bytes: [u8; MAX_SHARE],
}

impl EncapsulationKey {
    /// Checks and takes the bytes of a key.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Modulus`] when a coefficient of the ML-KEM part is not below q; [`Error::Point`].
    pub fn from_bytes(kem: &'static HybridKem, bytes: &[u8]) -> Result<Self, Error> {
        let (m, x) = kem.split(bytes, kem.encapsulation_key_len())?;
        kem.ml_kem.check(m)?;
        kem.curve.check(x)?;
        let mut key = Self { kem, bytes: [0; MAX_SHARE] };
        key.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(key)
    }

    /// The mechanism.
    #[must_use]
    pub const fn kem(&self) -> &'static HybridKem {
        self.kem
    }

    /// The bytes of the key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.kem.encapsulation_key_len()]
    }

    /// Makes a shared secret and the ciphertext that carries it, with the operating system's randomness.
    ///
    /// # Errors
    /// [`Error::Random`] when that generator fails; [`Error::NonContributory`] when the curve's part of this key is a point
    /// of low order.
    #[cfg(feature = "getrandom")]
    pub fn encapsulate(&self) -> Result<(Ciphertext, SharedSecret), Error> {
        self.encapsulate_with(&mut crate::System)
    }

    /// Makes a shared secret and its ciphertext with the caller's randomness.
    ///
    /// # Errors
    /// The same.
    pub fn encapsulate_with<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> Result<(Ciphertext, SharedSecret), Error> {
        let mut randomness = Secret::new([0; 32 + 56]);
        let randomness = &mut randomness.expose_mut()[..self.kem.randomness_len()];
        let (m, x) = randomness.split_at_mut(32);
        rng.try_fill_bytes(m).map_err(|_| Error::Random)?;
        self.kem.curve.draw(rng, x)?;
        self.encapsulate_deterministic(randomness)
    }

    /// Makes the shared secret and the ciphertext of m of ML-KEM, then the ephemeral scalar of the curve.
    ///
    /// They must be fresh and secret for every call outside tests.
    ///
    /// # Errors
    /// [`Error::Length`] of the randomness; [`Error::Scalar`]; [`Error::NonContributory`].
    pub fn encapsulate_deterministic(&self, randomness: &[u8]) -> Result<(Ciphertext, SharedSecret), Error> {
        let expected = self.kem.randomness_len();
        if randomness.len() != expected {
            return Err(Error::Length { expected, actual: randomness.len() });
        }
        let _guard = StackGuard::<DEPTH>;
        self.encapsulated(randomness)
    }

    #[inline(never)]
    fn encapsulated(&self, randomness: &[u8]) -> Result<(Ciphertext, SharedSecret), Error> {
        let (m, x) = randomness.split_first_chunk::<32>().expect("32 bytes and a scalar");
        let (m_public, x_public) = self.kem.split(self.as_bytes(), self.kem.encapsulation_key_len())?;
        let mut ciphertext = Ciphertext { kem: self.kem, bytes: [0; MAX_SHARE] };
        let (c_m, c_x) = self.kem.split_mut(&mut ciphertext.bytes[..self.kem.ciphertext_len()]);
        let mut ss_x = Secret::new([0; 56]);
        self.kem.curve.public_key(x, c_x)?;
        self.kem.agree(x, x_public, &mut ss_x)?;
        let ss_m = self.kem.ml_kem.encapsulate(m_public, m, c_m)?;
        let ss_x = &ss_x.expose()[..self.kem.curve.secret_len()];
        let mut secret = SharedSecret { kem: self.kem, bytes: Secret::new([0; MAX_SECRET]) };
        self.kem.combine(ss_m.expose(), ss_x, c_x, x_public, &mut secret);
        Ok((ciphertext, secret))
    }
}

impl fmt::Debug for EncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kem::EncapsulationKey({}, {:02x?}..)", self.kem, &self.bytes[..8])
    }
}

/// What goes back to the owner of the key: a server's key share in TLS.
#[derive(Clone, PartialEq, Eq)]
pub struct Ciphertext {
    kem: &'static HybridKem,
    bytes: [u8; MAX_SHARE],
}

impl Ciphertext {
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.kem.ciphertext_len()]
    }
}

impl AsRef<[u8]> for Ciphertext {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kem::Ciphertext({}, {:02x?}..)", self.kem, &self.bytes[..8])
    }
}

/// What both sides share: 32 to 88 bytes, wiped when dropped.
pub struct SharedSecret {
    kem: &'static HybridKem,
    bytes: Secret<[u8; MAX_SECRET]>,
}

impl SharedSecret {
    /// Shows the secret.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.bytes.expose()[..self.kem.shared_secret_len()]
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("kem::SharedSecret([redacted])")
    }
}
