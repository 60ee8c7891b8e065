//! The curves: those of the base, and X448.

use gambeson::secret::StackGuard;
use gambeson_hybrid::kem::{self, HybridKem};
use gambeson_hybrid::x448;
use rustls::crypto::{ActiveKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, ProtocolVersion};

use super::{DEPTH, INVALID_KEY_SHARE};

#[derive(Clone, Copy)]
pub(super) enum Curve {
    X25519,
    X448,
    P256,
    P384,
}

impl Curve {
    pub(super) const fn of(kem: &HybridKem) -> Self {
        match kem.curve() {
            kem::Curve::X25519 => Self::X25519,
            kem::Curve::X448 => Self::X448,
            kem::Curve::P256 => Self::P256,
            kem::Curve::P384 => Self::P384,
        }
    }

    /// The base's X25519, P-256 and P-384 are faster than those of `gambeson-hybrid`, which must run anywhere (decision 21).
    pub(super) fn group(self) -> Result<&'static dyn SupportedKxGroup, Error> {
        let base = crate::base::active()?;
        Ok(match self {
            Self::X25519 => base.x25519,
            Self::X448 => &Alone,
            Self::P256 => base.p256,
            Self::P384 => base.p384,
        })
    }

    /// The first half of an exchange, whose second half scrubs what it leaves, too.
    pub(super) fn start(self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(Guarded(self.group()?.start()?)))
    }
}

/// An exchange of the base, which leaves the shared secret in registers and on the stack.
struct Guarded(Box<dyn ActiveKeyExchange>);

impl ActiveKeyExchange for Guarded {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        #[inline(never)]
        fn completed(exchange: Box<dyn ActiveKeyExchange>, peer: &[u8]) -> Result<SharedSecret, Error> {
            exchange.complete(peer)
        }
        let _guard = StackGuard::<DEPTH>;
        completed(self.0, peer)
    }

    fn pub_key(&self) -> &[u8] {
        self.0.pub_key()
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.0.group()
    }
}

/// X448 by itself.
#[derive(Debug)]
struct Alone;

impl SupportedKxGroup for Alone {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        #[inline(never)]
        fn started() -> Result<Active, Error> {
            let key = Box::new(x448::SecretKey::generate().map_err(|_| GetRandomFailed)?);
            Ok(Active { share: key.public_key(), key })
        }
        let _guard = StackGuard::<DEPTH>;
        Ok(Box::new(started()?))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X448
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

struct Active {
    share: [u8; 56],
    key: Box<x448::SecretKey>,
}

impl Active {
    /// Refuses what gives all zeros (RFC 8446, §7.4.2).
    #[inline(never)]
    fn completed(&self, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = peer.try_into().map_err(|_| INVALID_KEY_SHARE)?;
        let secret = self.key.diffie_hellman(peer).map_err(|_| INVALID_KEY_SHARE)?;
        Ok(SharedSecret::from(&secret.expose()[..]))
    }
}

impl ActiveKeyExchange for Active {
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
        NamedGroup::X448
    }
}
