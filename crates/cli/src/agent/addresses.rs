//! Which addresses a `did:web` may lead to: whoever names a DID chooses the host, and shall reach nothing of this machine or of its own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The environment variable that, being `1`, lets documents be fetched from the machine itself and from private networks.
pub(super) const VARIABLE: &str = "GAMBESON_WEB_PRIVATE";

/// Resolves names to public addresses alone, unless private ones are allowed. What is connected to is what was looked at.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    private: bool,
}

impl Addresses {
    /// Public ones, and private ones too if the environment says so.
    pub(super) fn of_environment() -> Self {
        Self::default().allow_private(std::env::var_os(VARIABLE).is_some_and(|value| value == "1"))
    }

    /// Whether loopback, link-local and private addresses may be connected to.
    pub(super) fn allow_private(self, private: bool) -> Self {
        Self { private }
    }
}

impl Resolver for Addresses {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = DefaultResolver::default().resolve(uri, config, timeout)?;
        if self.private {
            return Ok(found);
        }
        let mut public = self.empty();
        found.iter().filter(|address| is_public(address.ip())).for_each(|address| public.push(*address));
        match public.is_empty() {
            true => Err(ureq::Error::Other(
                format!("its address is not public; {VARIABLE}=1 allows others").into(),
            )),
            false => Ok(public),
        }
    }
}

/// Whether an address is one of the public internet (the special-purpose registries of IANA, RFC 6890).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = a == 0
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a >= 240
        || (a, b & 0xc0) == (100, 64)
        || (a, b, c) == (192, 0, 0)
        // The anycast of 6to4 relays (RFC 7526).
        || (a, b, c) == (192, 88, 99)
        || (a, b & 0xfe) == (198, 18);
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let inner = |high: u16, low: u16| {
        let ([w, x], [y, z]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(w, x, y, z))
    };
    match [a, b, c, d, e, f] {
        // An IPv4 address in other clothes: mapped, translated, 6to4.
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => inner(g, h),
        [0x2002, high, low, ..] => inner(high, low),
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        // For documentation (RFC 9637).
        [0x3fff, second, ..] if second < 0x1000 => false,
        // All that was given out so far.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_public_internet_is_public() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.0",
            "192.88.99.255",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:a9fe:a9fe",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:c058:6301::",
            "3fff::1",
            "3fff:fff:ffff::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().expect(address)), "{address}");
        }
        for address in [
            "1.1.1.1",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.88.98.255",
            "192.88.100.0",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
            "3fff:1000::1",
            "2001:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(address.parse().expect(address)), "{address}");
        }
    }

    #[test]
    fn a_name_that_leads_home_is_not_resolved_unless_that_is_asked_for() {
        // Nobody listens there: to be refused by the machine is to have been let through here.
        let asked = |addresses: Addresses| {
            let connector = ureq::unversioned::transport::DefaultConnector::default();
            let agent = ureq::Agent::with_parts(Config::default(), connector, addresses);
            agent.get("http://localhost:1/did.json").call().expect_err("nothing is there").to_string()
        };
        assert!(asked(Addresses::default()).contains("not public"));
        assert!(!asked(Addresses::default().allow_private(true)).contains("not public"));
    }
}
