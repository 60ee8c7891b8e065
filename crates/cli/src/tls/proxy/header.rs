//! The header of the PROXY protocol, version 2: who has called, told before anything else (HAProxy's proxy-protocol.txt,
//! section 2.2).

use super::super::{group_name, scheme_name};
use super::connection::Facts;
use crate::error::Error;
use ppp::v2::{Addresses, Builder, Command, Header, Protocol, Type, Version};
use std::borrow::Cow;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The bytes before those whose number they tell.
const PREFIX: usize = 16;
/// The most bytes after the prefix: all that the standard names fits, and a chain of certificates does not.
const MAX_REST: usize = 4096;

/// The longest name of a protocol, in bytes (RFC 7301).
const MAX_PROTOCOL: usize = 255;

/// Types that the standard has and `ppp` does not name: of the group and the scheme of a handshake.
const SSL_GROUP: u8 = 0x26;
const SSL_SIG_SCHEME: u8 = 0x27;
/// `PP2_CLIENT_SSL`, `PP2_CLIENT_CERT_CONN` and `PP2_CLIENT_CERT_SESS`.
const CLIENT_SSL: u8 = 1;
const CLIENT_CERT: u8 = 2 | 4;

const CRC32C: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);

/// Who has called, as a load balancer tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Caller {
    /// The addresses of the caller and of what it called; none where the balancer calls for itself, or does not know.
    pub addresses: Option<(SocketAddr, SocketAddr)>,
    /// The protocol that was agreed on.
    pub alpn: Option<Vec<u8>>,
}

/// Reads the header that a balancer sends, and no byte behind it.
pub(super) async fn read(socket: &mut (impl AsyncRead + Unpin)) -> io::Result<Caller> {
    let bad = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut header = vec![0; PREFIX];
    socket.read_exact(&mut header).await?;
    // Whoever sends something else is not waited for.
    match Header::try_from(&header[..]) {
        Ok(_) | Err(ppp::v2::ParseError::Partial(..)) => {}
        Err(error) => return Err(bad(error.to_string())),
    }
    let rest = usize::from(u16::from_be_bytes([header[14], header[15]]));
    if rest > MAX_REST {
        return Err(bad(format!("it has {rest} bytes, more than {MAX_REST}")));
    }
    header.resize(PREFIX + rest, 0);
    socket.read_exact(&mut header[PREFIX..]).await?;
    parse(&header).map_err(bad)
}

/// What a whole header tells.
pub(super) fn parse(bytes: &[u8]) -> Result<Caller, String> {
    let header = Header::try_from(bytes).map_err(|error| error.to_string())?;
    if header.len() != bytes.len() {
        return Err("bytes follow it".into());
    }
    let mut caller = Caller::default();
    let mut checked = false;
    for field in header.tlvs() {
        let field = field.map_err(|error| error.to_string())?;
        match field.kind {
            kind if kind == Type::CRC32C as u8 => {
                let told = <[u8; 4]>::try_from(&field.value[..]).map_err(|_| "its checksum is no CRC32C")?;
                let Cow::Borrowed(value) = &field.value else {
                    return Err("its checksum cannot be located".into());
                };
                // The checksum counts itself as zeros.
                let at = value.as_ptr() as usize - bytes.as_ptr() as usize;
                let mut digest = CRC32C.digest();
                digest.update(&bytes[..at]);
                digest.update(&[0; 4]);
                digest.update(&bytes[at + 4..]);
                if std::mem::replace(&mut checked, true) || digest.finalize() != u32::from_be_bytes(told) {
                    return Err("its checksum is wrong".into());
                }
            }
            kind if kind == Type::ALPN as u8 => {
                if !(1..=MAX_PROTOCOL).contains(&field.value.len()) {
                    return Err(format!("it names a protocol of {} bytes", field.value.len()));
                }
                let earlier = caller.alpn.replace(field.value.into_owned());
                if earlier.is_some() {
                    return Err("it names two protocols".into());
                }
            }
            _ => {}
        }
    }
    match (header.command, header.protocol) {
        (Command::Local, _) => return Ok(Caller::default()),
        (Command::Proxy, Protocol::Datagram) => return Err("it is for datagrams".into()),
        (Command::Proxy, _) => {}
    }
    caller.addresses = match header.addresses {
        Addresses::IPv4(told) => Some((
            (told.source_address, told.source_port).into(),
            (told.destination_address, told.destination_port).into(),
        )),
        Addresses::IPv6(told) => Some((
            (told.source_address, told.source_port).into(),
            (told.destination_address, told.destination_port).into(),
        )),
        Addresses::Unspecified | Addresses::Unix(_) => None,
    };
    Ok(caller)
}

/// The header for the server: who called what, the name and the protocol that the client asked for, and how its TLS is.
pub(super) fn write(from: SocketAddr, to: SocketAddr, tls: Option<&Facts>) -> Result<Vec<u8>, Error> {
    let addresses = Addresses::from(alike(from, to));
    let told = |error: io::Error| Error::outside(format!("PROXY protocol: {error}"));
    let mut header = Builder::with_addresses(Version::Two | Command::Proxy, Protocol::Stream, addresses);
    let Some(tls) = tls else { return header.build().map_err(told) };
    if let Some(alpn) = &tls.alpn {
        header = header.write_tlv(Type::ALPN, &alpn[..]).map_err(told)?;
    }
    if let Some(name) = &tls.name {
        header = header.write_tlv(Type::Authority, name.as_bytes()).map_err(told)?;
    }
    let mut ssl = vec![CLIENT_SSL | if tls.client_certificate { CLIENT_CERT } else { 0 }];
    // Zero where a certificate was shown and holds.
    ssl.extend_from_slice(&u32::from(!tls.client_certificate).to_be_bytes());
    let mut field = |kind: u8, value: &str| {
        ssl.push(kind);
        ssl.extend_from_slice(&(value.len() as u16).to_be_bytes());
        ssl.extend_from_slice(value.as_bytes());
    };
    field(Type::SSLVersion as u8, "TLSv1.3");
    if let Some(suite) = tls.suite {
        field(Type::SSLCipher as u8, &super::suite_name(suite));
    }
    if let Some(group) = tls.group {
        field(SSL_GROUP, &group_name(group));
    }
    if let Some(scheme) = tls.scheme {
        field(SSL_SIG_SCHEME, &scheme_name(scheme));
    }
    header.write_tlv(Type::SSL, &ssl[..]).and_then(Builder::build).map_err(told)
}

/// Both addresses of one family: of two families, as IPv6 writes IPv4.
fn alike(from: SocketAddr, to: SocketAddr) -> (SocketAddr, SocketAddr) {
    let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let mapped = |address: SocketAddr| match address {
        SocketAddr::V4(v4) => SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port()),
        SocketAddr::V6(_) => address,
    };
    match (plain(from), plain(to)) {
        (from, to) if from.is_ipv4() == to.is_ipv4() => (from, to),
        (from, to) => (mapped(from), mapped(to)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use gambeson_rustls::rustls::{CipherSuite, NamedGroup, SignatureScheme};

    const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

    /// A header with this command, family and rest.
    fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let mut header = SIGNATURE.to_vec();
        header.extend_from_slice(&[command, family]);
        header.extend_from_slice(&(rest.len() as u16).to_be_bytes());
        header.extend_from_slice(rest);
        header
    }

    const V4: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 2, 0x12, 0x34, 1, 187];

    #[test]
    fn a_header_tells_who_has_called() {
        let told = parse(&header(0x21, 0x11, &V4)).unwrap();
        let expected = ("192.0.2.1:4660".parse().unwrap(), "198.51.100.2:443".parse().unwrap());
        assert_eq!(told, Caller { addresses: Some(expected), alpn: None });
        let mut with_alpn = V4.to_vec();
        with_alpn.extend_from_slice(b"\x01\0\x02h2\x04\0\0\xe0\0\x01x");
        assert_eq!(parse(&header(0x21, 0x11, &with_alpn)).unwrap().alpn, Some(b"h2".to_vec()));
        let mut v6 = vec![0; 36];
        (v6[15], v6[31], v6[33], v6[35]) = (1, 2, 7, 9);
        let told = parse(&header(0x21, 0x21, &v6)).unwrap();
        assert_eq!(told.addresses.unwrap().0, "[::1]:7".parse().unwrap());
        // A balancer that calls for itself, a family that it does not know, and sockets without addresses.
        assert_eq!(parse(&header(0x20, 0x11, &V4)).unwrap(), Caller::default());
        assert_eq!(parse(&header(0x21, 0x00, &[])).unwrap(), Caller::default());
        assert_eq!(parse(&header(0x21, 0x31, &[0; 216])).unwrap(), Caller::default());
    }

    #[test]
    fn other_headers_are_refused() {
        let with = |rest: &[u8]| [&V4[..], rest].concat();
        let mut behind = header(0x21, 0x11, &V4);
        behind.push(0);
        let cases: [(Vec<u8>, &str); 13] = [
            (b"PROXY TCP4 192.0.2.1 198.51.100.2 4660 443\r\n".to_vec(), "prefix"),
            (header(0x11, 0x11, &V4), "version"),
            (header(0x22, 0x11, &V4), "command"),
            (header(0x21, 0x41, &V4), "address family"),
            (header(0x21, 0x13, &V4), "protocol"),
            (header(0x21, 0x12, &V4), "datagrams"),
            (header(0x21, 0x11, &V4[..11]), "length"),
            (header(0x21, 0x11, &with(b"\x01\0\x03h2")), "length"),
            (header(0x21, 0x11, &with(b"\x01\0\x02h2\x01\0\x02h3")), "two protocols"),
            // TLS has no room for such a name in its own message.
            (header(0x21, 0x11, &with(b"\x01\0\0")), "protocol of 0 bytes"),
            (
                header(0x21, 0x11, &with(&[&b"\x01\x01\0"[..], &[b'h'; 256]].concat())),
                "protocol of 256 bytes",
            ),
            (header(0x21, 0x11, &with(b"\x03\0\x03abc")), "no CRC32C"),
            (behind, "bytes follow"),
        ];
        for (bytes, part) in cases {
            let told = parse(&bytes).unwrap_err();
            assert!(told.to_lowercase().contains(&part.to_lowercase()), "{part}: {told}");
        }
    }

    #[test]
    fn a_checksum_must_hold() {
        let mut rest = V4.to_vec();
        rest.extend_from_slice(b"\x03\0\x04\0\0\0\0\x04\0\x02xy");
        let mut bytes = header(0x21, 0x11, &rest);
        let sum = bitwise_crc32c(&bytes).to_be_bytes();
        bytes[31..35].copy_from_slice(&sum);
        assert!(parse(&bytes).unwrap().addresses.is_some());
        // Without the type at 28 there is no checksum.
        for at in (0..bytes.len()).filter(|at| *at != 28) {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(parse(&other).is_err(), "{at}");
        }
        let twice = [&rest[..], &rest[12..19]].concat();
        assert!(parse(&header(0x21, 0x11, &twice)).unwrap_err().contains("checksum"));
    }

    /// CRC32C by its reflected polynomial, bit by bit.
    fn bitwise_crc32c(bytes: &[u8]) -> u32 {
        let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
        !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
    }

    #[test]
    fn the_header_that_is_sent_is_the_standards_byte_by_byte() {
        let (from, to) = ("192.0.2.1:4660".parse().unwrap(), "198.51.100.2:443".parse().unwrap());
        assert_eq!(write(from, to, None).unwrap(), header(0x21, 0x11, &V4));
        let facts = Facts {
            alpn: Some(b"h2".to_vec()),
            name: Some("example.com".into()),
            suite: Some(CipherSuite::TLS13_AES_128_GCM_SHA256),
            group: Some(NamedGroup::X25519MLKEM768),
            scheme: Some(SignatureScheme::ED25519),
            ..Facts::default()
        };
        let mut rest = V4.to_vec();
        rest.extend_from_slice(b"\x01\0\x02h2\x02\0\x0bexample.com");
        rest.extend_from_slice(b"\x20\0\x4f\x01\0\0\0\x01\x21\0\x07TLSv1.3\x23\0\x16TLS_AES_128_GCM_SHA256");
        rest.extend_from_slice(b"\x26\0\x0eX25519MLKEM768\x27\0\x07ed25519");
        let length = rest.len() - 12 - 5 - 14 - 3;
        rest[12 + 5 + 14 + 2] = length as u8;
        assert_eq!(write(from, to, Some(&facts)).unwrap(), header(0x21, 0x11, &rest));
        let shown = Facts { client_certificate: true, ..Facts::default() };
        let sent = write(from, to, Some(&shown)).unwrap();
        assert_eq!(sent[28..36], [0x20, 0, 15, 7, 0, 0, 0, 0]);
        // One address of each family.
        let sent = write("[2001:db8::1]:7".parse().unwrap(), to, None).unwrap();
        assert_eq!((sent[13], sent.len()), (0x21, 16 + 36));
        assert_eq!(sent[32..48], *b"\0\0\0\0\0\0\0\0\0\0\xff\xff\xc6\x33\x64\x02");
        let sent = write("[::ffff:192.0.2.1]:4660".parse().unwrap(), to, None).unwrap();
        assert_eq!(sent, header(0x21, 0x11, &V4));
    }

    #[tokio::test]
    async fn no_byte_behind_a_header_is_taken_and_long_ones_are_not_waited_for() {
        let mut bytes = header(0x21, 0x11, &V4);
        bytes.extend_from_slice(b"next");
        let mut stream = &bytes[..];
        assert!(read(&mut stream).await.unwrap().addresses.is_some());
        assert_eq!(stream, b"next");
        let mut long = header(0x21, 0x11, &V4);
        long[14..16].copy_from_slice(&4097_u16.to_be_bytes());
        assert!(read(&mut &long[..]).await.unwrap_err().to_string().contains("4097 bytes"));
        assert!(read(&mut &b"GET / HTTP/1.1\r\nHost: x\r\n"[..]).await.is_err());
    }
}
