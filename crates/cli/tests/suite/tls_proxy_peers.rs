//! `tls proxy` and others: servers and clients that agree on protocols, load balancers, nginx, curl, systemd.

// Memory and descriptors are looked up in /proc, and all of 127/8 is this machine.

use crate::program::proxying::{TERMINATE, backend, echo, once, proxy, there_and_back, told};
use crate::program::serving::{Server, nginx, trust, trusting, with_chain};
use crate::program::{Folder, has_program};
use gambeson_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use gambeson_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Serves one connection over TLS with these protocols, and tells which was agreed on.
fn tls_once(folder: &Folder, protocols: &[&[u8]]) -> (SocketAddr, JoinHandle<Option<Vec<u8>>>) {
    let chain = CertificateDer::pem_file_iter(folder.path("pki/server.pem")).unwrap();
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.path("pki/server.key")).unwrap();
    let mut config = ServerConfig::builder_with_provider(gambeson_rustls::provider().unwrap().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    once(move |socket| {
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), socket);
        let mut got = vec![0; 5];
        stream.read_exact(&mut got).unwrap();
        stream.write_all(&got).unwrap();
        stream.conn.alpn_protocol().map(<[u8]>::to_vec)
    })
}

#[test]
fn the_protocol_is_what_server_and_client_agree_on() {
    let folder = with_chain("ml-dsa-44");
    let towards = "--tls --ca pki/root.pem --name localhost";
    for (offered, taken, more, agreed) in [
        (&[&b"h2"[..], b"http/1.1"][..], &[&b"http/1.1"[..]][..], "", Some(&b"http/1.1"[..])),
        (&[b"http/1.1", b"h2"], &[b"h2", b"http/1.1"], "", Some(b"h2")),
        (&[b"h2"], &[], "", None),
        (&[], &[b"h2"], "", None),
        // The command line knows better.
        (&[b"h2", b"http/1.1"], &[b"h2", b"http/1.1"], "--alpn http/1.1", Some(b"http/1.1")),
        // The server is not asked for what the client does not speak.
        (&[b"http/1.1"], &[b"h2", b"http/1.1"], "--alpn h2,http/1.1", Some(b"http/1.1")),
        (&[], &[b"h2", b"http/1.1"], "--alpn h2,http/1.1", None),
    ] {
        let (address, serving) = tls_once(&folder, taken);
        let mut proxy = proxy(&folder, address, &format!("{TERMINATE} {towards} {more}"));
        let mut config = trusting(trust(&folder));
        config.alpn_protocols = offered.iter().map(|protocol| protocol.to_vec()).collect();
        let mut client = proxy.call_with(config);
        there_and_back(&mut client, b"12345");
        let expected = agreed.map(<[u8]>::to_vec);
        assert_eq!(client.conn.alpn_protocol().map(<[u8]>::to_vec), expected);
        assert_eq!(serving.join().unwrap(), expected);
        drop(client);
        let told = told(&mut proxy);
        let name = agreed.map(|agreed| String::from_utf8(agreed.to_vec()).unwrap());
        assert_eq!(told["client"]["alpn"].as_str(), name.as_deref(), "{told}");
        assert_eq!(told["server"]["alpn"].as_str(), name.as_deref(), "{told}");
    }
}

/// A header of the PROXY protocol, version 2, from 192.0.2.1 port 4660.
fn balancer_header() -> Vec<u8> {
    let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c".to_vec();
    header.extend_from_slice(&[192, 0, 2, 1, 198, 51, 100, 2, 0x12, 0x34, 1, 187]);
    header
}

#[test]
fn balancers_tell_who_calls_and_nobody_else_does() {
    let folder = with_chain("ml-dsa-44");
    let mut proxy =
        proxy(&folder, echo(), &format!("{TERMINATE} --accept-proxy 127.0.0.1 --handshake-timeout 5"));
    let mut client = proxy.call(&folder);
    client.sock.write_all(&balancer_header()).unwrap();
    there_and_back(&mut client, b"hello");
    drop(client);
    let told = self::told(&mut proxy);
    assert_eq!(told["peer"], "192.0.2.1:4660");
    assert!(told["balancer"].as_str().unwrap().starts_with("127.0.0.1:"));
    // Without a header, with one of version 1, with half of one.
    for (sent, part) in [
        (&b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03abcdefgh"[..], "prefix"),
        (b"PROXY TCP4 192.0.2.1 198.51.100.2 4660 443\r\n", "prefix"),
        (&balancer_header()[..20], "early eof"),
    ] {
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
        client.write_all(sent).unwrap();
        // It may have been sent away already.
        let _ = client.shutdown(Shutdown::Write);
        let told = self::told(&mut proxy);
        assert_eq!((&told["end"], &told["side"]), (&"proxy-header".into(), &"client".into()), "{told}");
        assert!(told["detail"].as_str().unwrap().to_lowercase().contains(part), "{part}: {told}");
    }
    let mut proxy = self::proxy(&folder, echo(), &format!("{TERMINATE} --accept-proxy 192.0.2.7"));
    let mut client = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    let _ = client.write_all(&balancer_header());
    assert_eq!(self::told(&mut proxy)["end"], "not-a-balancer");
}

#[test]
fn nginx_learns_who_has_called_and_curl_speaks_its_protocol() {
    if !has_program("nginx", &["-v"]) || !has_program("curl", &["--version"]) {
        return;
    }
    // What the OpenSSL of Debian 12 can verify in a handshake.
    let folder = with_chain("ecdsa-p256");
    // An address on which nothing else of these tests listens. HTTP/2 at one port, HTTP/1.1 at the other, as nginx 1.22 has it.
    let [newer, older] = [8002, 8001].map(|port| SocketAddr::from(([127, 82, 66, 7], port)));
    let server = format!(
        "server {{ listen {newer} http2 proxy_protocol; listen {older} proxy_protocol;
         location / {{ return 200 \"$proxy_protocol_addr $proxy_protocol_port $server_protocol\\n\"; }} }}"
    );
    let mut nginx = nginx(Command::new("nginx"), &folder, &server, newer);
    for (address, alpn, version, protocol) in
        [(newer, "h2", "2", "HTTP/2.0"), (older, "http/1.1", "1.1", "HTTP/1.1")]
    {
        let more = format!("{TERMINATE} --alpn {alpn} --send-proxy --accept-proxy 127.0.0.1");
        let behind = proxy(&folder, address, &more);
        // A balancer in front tells of somebody far away; so does the proxy, to nginx.
        let front = backend(move |mut socket| {
            let mut proxy = TcpStream::connect(("127.0.0.1", behind.port)).unwrap();
            proxy.write_all(&balancer_header()).unwrap();
            let (mut from, mut to) = (socket.try_clone().unwrap(), proxy.try_clone().unwrap());
            let up = thread::spawn(move || std::io::copy(&mut from, &mut to));
            let _ = std::io::copy(&mut proxy, &mut socket);
            drop(socket);
            let _ = up.join();
        });
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--max-time", "30", "--cacert"]).arg(folder.path("pki/root.pem"));
        curl.args(["-w", "%{http_version}", &format!("https://localhost:{}/", front.port())]);
        let got = curl.output().unwrap();
        let text = String::from_utf8_lossy(&got.stdout).into_owned();
        assert_eq!(text, format!("192.0.2.1 4660 {protocol}\n{version}"), "{got:?}");
    }
    Command::new("kill").args(["-TERM", &nginx.id().to_string()]).status().unwrap();
    assert_eq!(nginx.wait().unwrap().code(), Some(0));
}

#[test]
fn systemd_is_told_and_takes_the_unit() {
    let folder = with_chain("ml-dsa-44");
    let socket = std::os::unix::net::UnixDatagram::bind(folder.path("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let next = || {
        let mut buffer = [0; 1000];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    let mut command = folder.command();
    let line = format!("tls proxy --listen 127.0.0.1:0 --connect {} {TERMINATE}", echo());
    command.args(line.split_whitespace()).env("NOTIFY_SOCKET", folder.path("notify"));
    let mut proxy = Server::spawn(command);
    assert_eq!(next().trim(), "READY=1");
    proxy.signal(Signal::HUP);
    let reloading = next();
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert_eq!(next().trim(), "READY=1");
    proxy.signal(Signal::TERM);
    assert_eq!(next().trim(), "STOPPING=1");
    assert_eq!(proxy.child.wait().unwrap().code(), Some(0));

    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/gambeson-tls-proxy@.service");
    let text = std::fs::read_to_string(unit).unwrap();
    assert!(text.contains("\nExecReload=/bin/kill -HUP $MAINPID\n"));
    if !has_program("systemd-analyze", &["--version"]) {
        return;
    }
    // It looks whether the program is there: ours is elsewhere in a test.
    let here = text.replace("/usr/bin/gambeson", env!("CARGO_BIN_EXE_gambeson"));
    folder.write("gambeson-tls-proxy@test.service", here);
    let judged = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(folder.path("gambeson-tls-proxy@test.service"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&judged.stderr);
    assert!(judged.status.success() && !said.contains("gambeson-tls-proxy"), "{said}");
}
