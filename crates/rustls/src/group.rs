//! Key exchange: hybrids, ML-KEM, and curves, one struct for all of them.

mod curve;
mod ml_kem;

use std::fmt;

use gambeson::secret::StackGuard;
use gambeson_hybrid::kem::{self, HybridKem};
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

use curve::Curve;
use ml_kem::MlKem;

/// Bytes of stack that copies of secrets may stand in: while they are handed from one function to the next, and where the base's curves
/// worked. The doors of the cores scrub their own.
const DEPTH: usize = 16 << 10;

/// What everything that a peer can do wrong here becomes: alert `illegal_parameter`, as RFC 8446 (§4.2.8.2) and RFC 10024 say.
const INVALID_KEY_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

/// A group of TLS: a hybrid, ML-KEM alone, or a curve.
///
/// All are for TLS 1.3 alone, except [`X25519`], [`P256`] and [`P384`]. A provider takes them from
/// [`Builder::groups`](crate::Builder::groups).
///
/// ```
/// use gambeson_rustls::{Group, X448_MLKEM1024};
///
/// let group = Group::by_name("x448mlkem1024").expect("names are those of IANA or OpenSSL, in any case");
/// assert_eq!((group, group.number()), (&X448_MLKEM1024, 0xfe48));
/// ```
#[derive(Clone, Copy)]
pub struct Group {
    name: &'static str,
    number: u16,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Curve(Curve),
    MlKem(MlKem),
    Hybrid(Hybrid),
}

/// Where the parts of a share and of a secret stand.
#[derive(Clone, Copy)]
struct Hybrid {
    ml_kem: MlKem,
    curve: Curve,
    /// Bytes of the curve's share.
    curve_len: usize,
    curve_first: bool,
}

const fn hybrid(kem: &HybridKem) -> Group {
    let (Some(number), curve, ml_kem) = (kem.group(), Curve::of(kem), MlKem::of(kem)) else {
        panic!("no group of TLS");
    };
    let curve_len = kem.curve().public_len();
    let kind = Kind::Hybrid(Hybrid { ml_kem, curve, curve_len, curve_first: kem.curve_first() });
    Group { name: kem.name(), number, kind }
}

const fn ml_kem(name: &'static str, number: u16, ml_kem: MlKem) -> Group {
    Group { name, number, kind: Kind::MlKem(ml_kem) }
}

const fn curve(name: &'static str, number: u16, curve: Curve) -> Group {
    Group { name, number, kind: Kind::Curve(curve) }
}

/// X25519MLKEM768, 0x11EC (RFC 10024): what everybody has.
pub static X25519_MLKEM768: Group = hybrid(&kem::X25519_MLKEM768);
/// SecP256r1MLKEM768, 0x11EB (RFC 10024).
pub static SECP256R1_MLKEM768: Group = hybrid(&kem::SECP256R1_MLKEM768);
/// SecP384r1MLKEM1024, 0x11ED (RFC 10024): what CNSA 2.0 profiles take.
pub static SECP384R1_MLKEM1024: Group = hybrid(&kem::SECP384R1_MLKEM1024);
/// X448MLKEM768, 0x2FB7, the unregistered number of wolfSSL.
pub static X448_MLKEM768: Group = hybrid(&kem::X448_MLKEM768);
/// X448MLKEM1024, 0xFE48: the strongest on both sides; the number is ours, from the range for private use.
pub static X448_MLKEM1024: Group = hybrid(&kem::X448_MLKEM1024);
/// MLKEM512, 0x0200 (draft-ietf-tls-mlkem).
pub static MLKEM512: Group = ml_kem("MLKEM512", 0x0200, MlKem::MlKem512);
/// MLKEM768, 0x0201 (draft-ietf-tls-mlkem).
pub static MLKEM768: Group = ml_kem("MLKEM768", 0x0201, MlKem::MlKem768);
/// MLKEM1024, 0x0202 (draft-ietf-tls-mlkem).
pub static MLKEM1024: Group = ml_kem("MLKEM1024", 0x0202, MlKem::MlKem1024);
/// x25519, 0x001D (RFC 8446).
pub static X25519: Group = curve("X25519", 0x001d, Curve::X25519);
/// x448, 0x001E (RFC 8446).
pub static X448: Group = curve("X448", 0x001e, Curve::X448);
/// secp256r1, 0x0017 (RFC 8446).
pub static P256: Group = curve("P-256", 0x0017, Curve::P256);
/// secp384r1, 0x0018 (RFC 8446).
pub static P384: Group = curve("P-384", 0x0018, Curve::P384);

/// Every group, hybrids first.
pub static GROUPS: &[&Group] = &[
    &X25519_MLKEM768,
    &SECP256R1_MLKEM768,
    &SECP384R1_MLKEM1024,
    &X448_MLKEM1024,
    &X448_MLKEM768,
    &MLKEM768,
    &MLKEM1024,
    &MLKEM512,
    &X25519,
    &P256,
    &P384,
    &X448,
];

impl Group {
    /// The group of that name, IANA's or OpenSSL's, in any case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        let name = match name.to_ascii_lowercase().as_str() {
            "secp256r1" | "prime256v1" => P256.name,
            "secp384r1" => P384.name,
            _ => name,
        };
        GROUPS.iter().copied().find(|group| group.name.eq_ignore_ascii_case(name))
    }

    /// The group of that number.
    #[must_use]
    pub fn by_number(number: u16) -> Option<&'static Self> {
        GROUPS.iter().copied().find(|group| group.number == number)
    }

    /// The number in `supported_groups`.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// Whether ML-KEM is in it.
    #[must_use]
    pub const fn is_post_quantum(&self) -> bool {
        !matches!(self.kind, Kind::Curve(_))
    }
}

impl Group {
    #[inline(never)]
    fn started(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        match self.kind {
            Kind::Curve(curve) => curve.start(),
            Kind::MlKem(set) => {
                let key = set.generate()?;
                Ok(Box::new(ActiveMlKem { name: self.name(), share: key.encapsulation_key(), key }))
            }
            Kind::Hybrid(layout) => {
                let (curve, ml_kem) = (layout.curve.group()?.start()?, layout.ml_kem.generate()?);
                let share = layout.join(&ml_kem.encapsulation_key(), curve.pub_key());
                Ok(Box::new(ActiveHybrid { name: self.name(), layout, share, curve, ml_kem }))
            }
        }
    }

    #[inline(never)]
    fn answered(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        match self.kind {
            Kind::Curve(curve) => curve.group()?.start_and_complete(peer),
            Kind::MlKem(set) => {
                let (pub_key, secret) = set.encapsulate(peer)?;
                Ok(CompletedKeyExchange {
                    group: self.name(),
                    pub_key,
                    secret: SharedSecret::from(&secret.expose()[..]),
                })
            }
            Kind::Hybrid(layout) => {
                let (m, x) = layout.split(peer, layout.ml_kem.encapsulation_key_len())?;
                let (ciphertext, ss_m) = layout.ml_kem.encapsulate(m)?;
                let curve = layout.curve.group()?.start_and_complete(x)?;
                Ok(CompletedKeyExchange {
                    group: self.name(),
                    pub_key: layout.join(&ciphertext, &curve.pub_key),
                    secret: SharedSecret::from(layout.join(ss_m.expose(), curve.secret.secret_bytes())),
                })
            }
        }
    }
}

impl SupportedKxGroup for Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let _guard = StackGuard::<DEPTH>;
        self.started()
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let _guard = StackGuard::<DEPTH>;
        self.answered(peer)
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::from(self.number)
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
            || matches!(self.kind, Kind::Curve(Curve::X25519 | Curve::P256 | Curve::P384))
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Group {}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({})", self.name)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Hybrid {
    /// ML-KEM's part of a share and the curve's; `m_len` is the length of the first.
    fn split<'a>(&self, share: &'a [u8], m_len: usize) -> Result<(&'a [u8], &'a [u8]), Error> {
        if share.len() != m_len + self.curve_len {
            return Err(INVALID_KEY_SHARE);
        }
        Ok(if self.curve_first {
            let (x, m) = share.split_at(self.curve_len);
            (m, x)
        } else {
            share.split_at(m_len)
        })
    }

    #[inline(never)]
    fn completed(self, key: &ml_kem::Private, c: &[u8], ss_x: &SharedSecret) -> Result<SharedSecret, Error> {
        let ss_m = key.decapsulate(c)?;
        Ok(SharedSecret::from(self.join(ss_m.expose(), ss_x.secret_bytes())))
    }

    /// Both parts in one allocation, so that no copy of a secret is left behind.
    fn join(&self, m: &[u8], x: &[u8]) -> Vec<u8> {
        if self.curve_first { [x, m].concat() } else { [m, x].concat() }
    }
}

struct ActiveMlKem {
    name: NamedGroup,
    share: Vec<u8>,
    key: Box<ml_kem::Private>,
}

impl ActiveMlKem {
    #[inline(never)]
    fn completed(&self, peer: &[u8]) -> Result<SharedSecret, Error> {
        Ok(SharedSecret::from(&self.key.decapsulate(peer)?.expose()[..]))
    }
}

impl ActiveKeyExchange for ActiveMlKem {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let _guard = StackGuard::<DEPTH>;
        self.completed(peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.name
    }
}

struct ActiveHybrid {
    name: NamedGroup,
    layout: Hybrid,
    share: Vec<u8>,
    /// Of the base, or X448: what it leaves on the stack is scrubbed here.
    curve: Box<dyn ActiveKeyExchange>,
    ml_kem: Box<ml_kem::Private>,
}

impl ActiveKeyExchange for ActiveHybrid {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let _guard = StackGuard::<DEPTH>;
        let (c, x) = self.layout.split(peer, self.layout.ml_kem.ciphertext_len())?;
        let ss_x = self.curve.complete(x)?;
        self.layout.completed(&self.ml_kem, c, &ss_x)
    }

    /// For a server that knows the curve alone: the share is there already.
    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.curve.group(), self.curve.pub_key()))
    }

    fn complete_hybrid_component(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let _guard = StackGuard::<DEPTH>;
        self.curve.complete(peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.name
    }
}
