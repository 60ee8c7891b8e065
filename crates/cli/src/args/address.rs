//! Addresses on the command line, as other servers take them.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

/// An address to listen on: `8443` on 127.0.0.1, `:8443` on every IPv4 address, `HOST:8443` or `[ADDRESS]:8443` there.
pub fn listen(text: &str) -> Result<SocketAddr, String> {
    let on = |ip: Ipv4Addr, port: &str| port.parse().map(|port: u16| SocketAddr::from((ip, port)));
    let known = match text.strip_prefix(':') {
        Some(port) => on(Ipv4Addr::UNSPECIFIED, port).ok(),
        None => on(Ipv4Addr::LOCALHOST, text).ok().or_else(|| text.parse().ok()),
    };
    match known {
        Some(address) => Ok(address),
        None => named(text).map_err(|why| {
            format!("{why}; expected PORT, :PORT or HOST:PORT, such as 8443 or 127.0.0.1:8443")
        }),
    }
}

/// An address to connect to: `HOST:PORT` or `[ADDRESS]:PORT`.
pub fn connect(text: &str) -> Result<SocketAddr, String> {
    match text.parse() {
        Ok(address) => Ok(address),
        Err(_) => named(text).map_err(|why| format!("{why}; expected HOST:PORT, such as 127.0.0.1:8443")),
    }
}

/// The first address of a name, IPv4 before IPv6: servers of this program listen there unless they are told otherwise.
fn named(text: &str) -> Result<SocketAddr, String> {
    let parts = text.rsplit_once(':').filter(|(host, _)| !host.is_empty() && !host.contains(':'));
    let parts = parts.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let Some((host, port)) = parts else { return Err("no address with a port".to_owned()) };
    let mut found: Vec<SocketAddr> = match (host, port).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(_) => return Err(format!("the host {host} is unknown")),
    };
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied().ok_or_else(|| format!("the host {host} has no address"))
}

#[cfg(test)]
mod tests {
    use super::{connect, listen};

    #[test]
    fn ports_names_and_addresses_are_taken() {
        for (text, address) in [
            ("8443", "127.0.0.1:8443"),
            (":8443", "0.0.0.0:8443"),
            ("localhost:8443", "127.0.0.1:8443"),
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("[::1]:8443", "[::1]:8443"),
        ] {
            assert_eq!(listen(text).map(|it| it.to_string()).as_deref(), Ok(address), "{text}");
        }
        assert_eq!(connect("localhost:1").map(|it| it.to_string()).as_deref(), Ok("127.0.0.1:1"));
        for text in
            ["", ":", "x", "70000", ":70000", "localhost", "::1:8443", "1:2:3", "localhost:70000", "-1"]
        {
            assert!(listen(text).is_err(), "{text}");
            assert!(connect(text).is_err(), "{text}");
        }
        assert!(connect("8443").is_err());
    }
}
