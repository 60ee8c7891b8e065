//! The MAC that protects the routing header of a message between the two ends of a connection.
//!
//! It is HMAC-SHA256 (RFC 2104) under a key of the connection. Payload and session header are not covered: a channel's messages are
//! protected by MLS, from member to member.

use gambeson::secret::equal;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::proto::{Header, WireName};

/// Length of a tag in bytes.
pub(super) const TAG_LEN: usize = 32;

const DOMAIN: &[u8] = b"SLIM-DP-HDR-v1\0";

/// A connection's key, ready for use. It is wiped when dropped.
pub(super) struct HeaderMac {
    /// The key, the domain and the connection's identifier are absorbed.
    begun: Hmac<Sha256>,
}

impl HeaderMac {
    pub(super) fn new(key: &[u8; 32], link_id: &str) -> Self {
        let mut begun = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
        begun.update(DOMAIN);
        absorb_bytes(&mut begun, link_id.as_bytes());
        Self { begun }
    }

    /// Sets the header's tag.
    pub(super) fn sign(&self, header: &mut Header) {
        header.mac = Some(self.tag(header).to_vec());
    }

    /// Returns true if the header's tag is the right one. The comparison takes constant time.
    pub(super) fn verify(&self, header: &Header) -> bool {
        header.mac.as_deref().is_some_and(|tag| equal(tag, &self.tag(header)))
    }

    fn tag(&self, header: &Header) -> [u8; TAG_LEN] {
        let mut mac = self.begun.clone();
        absorb_name(&mut mac, header.source.as_ref());
        absorb_name(&mut mac, header.destination.as_ref());
        absorb_bytes(&mut mac, header.identity.as_bytes());
        mac.update(&header.fanout.to_le_bytes());
        absorb_option(&mut mac, header.recv_from.map(u64::to_le_bytes));
        absorb_option(&mut mac, header.forward_to.map(u64::to_le_bytes));
        absorb_option(&mut mac, header.error.map(|error| [u8::from(error)]));
        mac.update(&header.ttl.to_le_bytes());
        mac.finalize().into_bytes().into()
    }
}

/// Each optional field begins with a byte that says whether it is there.
fn absorb_option<const N: usize>(mac: &mut Hmac<Sha256>, field: Option<[u8; N]>) {
    match field {
        Some(bytes) => {
            mac.update(&[1]);
            mac.update(&bytes);
        }
        None => mac.update(&[0]),
    }
}

fn absorb_bytes(mac: &mut Hmac<Sha256>, bytes: &[u8]) {
    mac.update(&(bytes.len() as u32).to_le_bytes());
    mac.update(bytes);
}

fn absorb_name(mac: &mut Hmac<Sha256>, name: Option<&WireName>) {
    let Some(name) = name else {
        mac.update(&[0]);
        return;
    };
    mac.update(&[1]);
    if let Some(code) = &name.code {
        mac.update(&[1]);
        for component in [code.organisation, code.namespace, code.service] {
            mac.update(&component.to_le_bytes());
        }
        if let Some(instance) = &code.instance {
            mac.update(&[1]);
            mac.update(&instance.high.to_le_bytes());
            mac.update(&instance.low.to_le_bytes());
        } else {
            mac.update(&[0]);
        }
    } else {
        mac.update(&[0]);
    }
    if let Some(text) = &name.text {
        mac.update(&[1]);
        for component in [&text.organisation, &text.namespace, &text.service] {
            absorb_bytes(mac, component.as_bytes());
        }
    } else {
        mac.update(&[0]);
    }
}
