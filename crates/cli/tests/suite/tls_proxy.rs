//! `tls proxy` over real sockets.

// Memory and descriptors are looked up in /proc, and all of 127/8 is this machine.

use crate::program::proxying::{TERMINATE, backend, echo, event, once, proxy, soon, there_and_back, told};
use crate::program::serving::{Server, free_port, trust, trusting, with_chain};
use crate::program::{Folder, noise};
use gambeson_rustls::rustls::pki_types::{CertificateDer, pem::PemObject};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The memory of a process, in bytes.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn a_server_without_tls_gets_it() {
    let folder = with_chain("ml-dsa-65");
    let mut proxy = proxy(&folder, echo(), TERMINATE);
    let mut client = proxy.call(&folder);
    there_and_back(&mut client, b"hello");
    // More than all buffers on the way hold, so that both directions must flow at a time.
    let large = noise(3_000_000);
    let mut there = client.sock.try_clone().unwrap();
    there.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    for piece in large.chunks(50_000) {
        there_and_back(&mut client, piece);
    }
    // The client has no more to say, and gets the end from the server through the proxy.
    client.conn.send_close_notify();
    client.conn.write_tls(&mut there).unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0, "a goodbye of TLS, and not a cut connection");
    let told = told(&mut proxy);
    assert_eq!((&told["end"], &told["side"]), (&"closed".into(), &Value::Null));
    assert_eq!((&told["bytesUp"], &told["bytesDown"]), (&3_000_005.into(), &3_000_005.into()));
    assert_eq!(
        (&told["client"]["group"], &told["client"]["scheme"], &told["client"]["name"]),
        (&"X25519MLKEM768".into(), &"mldsa65".into(), &"localhost".into())
    );
    assert!(told["client"]["suite"].as_str().unwrap().starts_with("TLS_"));
    assert!(told["peer"].as_str().unwrap().starts_with("127.0.0.1:") && told["server"].is_null());
    let time = told["time"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z') && time.starts_with("20"), "{time}");
    assert!(told["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_client_without_tls_gets_it() {
    let folder = with_chain("ml-dsa-65");
    let server = Server::start(&folder, "--echo");
    let address = SocketAddr::from(([127, 0, 0, 1], server.port));
    let mut proxy = proxy(&folder, address, "--tls --ca pki/root.pem --name localhost");
    let mut client = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    there_and_back(&mut client, &noise(200_000));
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
    let told = told(&mut proxy);
    assert_eq!((&told["end"], &told["bytesUp"]), (&"closed".into(), &200_000.into()));
    assert_eq!(
        (&told["server"]["group"], &told["server"]["scheme"], &told["server"]["resumed"]),
        (&"X25519MLKEM768".into(), &"mldsa65".into(), &false.into())
    );
    // A second connection resumes the session: nobody signs.
    let mut client = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    there_and_back(&mut client, b"again");
    drop(client);
    let told = self::told(&mut proxy);
    assert_eq!((&told["server"]["resumed"], &told["server"]["scheme"]), (&true.into(), &Value::Null));
}

#[test]
fn a_server_that_does_not_hold_gets_no_byte_and_the_check_is_named() {
    let folder = with_chain("ml-dsa-65");
    folder.run("cert new --levels 3 --alg ml-dsa-65 -o other").exits(0);
    folder.run("cert new --levels 3 --alg ed448 -o classical").exits(0);
    let server = Server::start(&folder, "--echo");
    let classical = Server::run(
        &folder,
        "tls serve --listen 127.0.0.1:0 --cert classical/server.pem --key classical/server.key --preset classical-448",
    );
    // Without what stands between.
    let pem = String::from_utf8(folder.read("pki/server.pem")).unwrap();
    folder.write("leaf.pem", pem.split_inclusive("-----END CERTIFICATE-----\n").next().unwrap());
    let truncated =
        Server::run(&folder, "tls serve --listen 127.0.0.1:0 --cert leaf.pem --key pki/server.key");
    let plain = backend(|mut socket| {
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = socket.read(&mut [0; 4096]);
    });
    let at = |server: &Server| SocketAddr::from(([127, 0, 0, 1], server.port));
    let nobody = SocketAddr::from(([127, 0, 0, 1], free_port()));
    for (address, more, code) in [
        (at(&server), "--ca other/root.pem --name localhost", "bad-signature"),
        (at(&server), "--ca leaf.pem --name localhost", "unknown-issuer"),
        (at(&server), "--ca pki/root.pem --name example.com", "wrong-name"),
        (at(&server), "--ca pki/root.pem", ""),
        (at(&truncated), "--ca pki/root.pem --name localhost", "unknown-issuer"),
        (at(&classical), "--ca classical/root.pem --name localhost --offer cnsa2", "alert"),
        (plain, "--ca pki/root.pem --name localhost", "not-tls"),
        (nobody, "--ca pki/root.pem --name localhost", "connect"),
    ] {
        let mut proxy = proxy(&folder, address, &format!("--tls {more}"));
        if !code.is_empty() {
            // Whoever has said nothing yet does not take that for an answer without a byte.
            let mut silent = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
            let end = silent.read(&mut [0; 1]).map_err(|error| error.kind());
            assert_eq!(end, Err(ErrorKind::ConnectionReset), "{more}");
            told(&mut proxy);
        }
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
        let _ = client.write_all(b"secret");
        let mut got = Vec::new();
        // A reset, or an end; in no case an answer.
        let _ = client.shutdown(Shutdown::Write);
        let _ = client.read_to_end(&mut got);
        let told = told(&mut proxy);
        if code.is_empty() {
            // The certificate of the chain is also for 127.0.0.1.
            assert_eq!((&told["end"], &got[..]), (&"closed".into(), &b"secret"[..]), "{told}");
            continue;
        }
        assert_eq!((&told["end"], &told["side"]), (&code.into(), &"server".into()), "{more}: {told}");
        assert!(!told["detail"].as_str().unwrap().is_empty() && got.is_empty(), "{told}");
        assert_eq!(told["bytesUp"], 0);
    }
}

#[test]
fn a_client_with_which_nothing_can_be_agreed_is_told_so() {
    let folder = with_chain("ml-dsa-87");
    let mut proxy = proxy(&folder, echo(), &format!("{TERMINATE} --preset cnsa2"));
    // Another group, an older version, and no TLS at all.
    proxy.get(&folder, "/", "-o x --preset classical-448 --json").exits(1);
    let told = self::told(&mut proxy);
    assert_eq!((&told["end"], &told["side"]), (&"incompatible".into(), &"client".into()), "{told}");
    assert!(told["detail"].as_str().unwrap().contains("no key exchange groups in common"), "{told}");
    // A ClientHello of TLS 1.2, without the extension that tells of newer versions.
    let mut old = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    let mut hello = vec![22, 3, 1, 0, 57, 1, 0, 0, 53, 3, 3];
    hello.extend_from_slice(&[7; 32]);
    hello.extend_from_slice(&[0, 0, 2, 0xc0, 0x2b, 1, 0, 0, 10, 0, 13, 0, 6, 0, 4, 4, 3, 8, 4]);
    hello[4] = hello.len() as u8 - 5;
    hello[8] = hello.len() as u8 - 9;
    let at = hello.len() - 11;
    hello[at] = 10;
    old.write_all(&hello).unwrap();
    let mut alert = [0; 7];
    old.read_exact(&mut alert).unwrap();
    // protocol_version, or that an extension is missing: in no case a handshake.
    assert_eq!((alert[0], alert[5]), (21, 2));
    let told = self::told(&mut proxy);
    assert_eq!((&told["end"], &told["side"]), (&"incompatible".into(), &"client".into()), "{told}");
    let mut plain = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(self::told(&mut proxy)["end"], "not-tls");
    drop(TcpStream::connect(("127.0.0.1", proxy.port)).unwrap());
    assert_eq!(self::told(&mut proxy)["end"], "cut");
}

#[test]
fn clients_show_certificates_where_they_are_asked_for() {
    let folder = with_chain("ml-dsa-65");
    folder.run("key gen --alg ml-dsa-44 -o client.key").exits(0);
    folder.run("cert csr -k client.key --name client.example --purpose client -o client.csr").exits(0);
    folder.run("cert sign client.csr --issuer pki/authority.pem -k pki/authority.key -o client.pem").exits(0);
    let client = [folder.read("client.pem"), folder.read("pki/authority.pem")].concat();
    folder.write("client.pem", client);
    let (address, asking) = once(|mut socket| {
        let mut header = vec![0; 16];
        socket.read_exact(&mut header).unwrap();
        let mut rest = vec![0; usize::from(u16::from_be_bytes([header[14], header[15]]))];
        socket.read_exact(&mut rest).unwrap();
        rest
    });
    let mut front = proxy(&folder, address, &format!("{TERMINATE} --client-ca pki/root.pem --send-proxy"));
    let front_address = SocketAddr::from(([127, 0, 0, 1], front.port));
    let without = proxy(&folder, front_address, "--tls --ca pki/root.pem --name localhost");
    let mut call = TcpStream::connect(("127.0.0.1", without.port)).unwrap();
    let _ = call.read(&mut [0; 1]);
    let told = told(&mut front);
    assert_eq!((&told["end"], &told["side"]), (&"handshake".into(), &"client".into()), "{told}");
    assert!(told["detail"].as_str().unwrap().contains("no certificates"), "{told}");

    let own = "--own-cert client.pem --own-key client.key";
    let with = proxy(&folder, front_address, &format!("--tls --ca pki/root.pem --name localhost {own}"));
    let _call = TcpStream::connect(("127.0.0.1", with.port)).unwrap();
    let rest = asking.join().unwrap();
    // PP2_CLIENT_SSL with a certificate in this connection, which holds.
    let ssl = rest.windows(8).find(|field| field[0] == 0x20).unwrap();
    assert_eq!(ssl[3..], [7, 0, 0, 0, 0]);

    // In every connection: a session that is resumed rests on a certificate that may have ended since.
    let mut front = proxy(&folder, echo(), &format!("{TERMINATE} --client-ca pki/root.pem"));
    let front_address = SocketAddr::from(([127, 0, 0, 1], front.port));
    let with = proxy(&folder, front_address, &format!("--tls --ca pki/root.pem --name localhost {own}"));
    for _ in 0..2 {
        there_and_back(&mut TcpStream::connect(("127.0.0.1", with.port)).unwrap(), b"x");
        let told = self::told(&mut front);
        assert_eq!((&told["client"]["resumed"], &told["end"]), (&false.into(), &"closed".into()), "{told}");
    }
}

/// With TLS on both sides, too: who shows no certificate causes no handshake with the server behind.
#[test]
fn strangers_reach_nothing_behind_the_proxy() {
    let folder = with_chain("ml-dsa-65");
    folder.run("key gen --alg ml-dsa-44 -o client.key").exits(0);
    folder.run("cert csr -k client.key --name client.example --purpose client -o client.csr").exits(0);
    folder.run("cert sign client.csr --issuer pki/authority.pem -k pki/authority.key -o client.pem").exits(0);
    let crl = "cert crl --issuer pki/authority.pem -k pki/authority.key";
    folder.run(&format!("{crl} -o clients.crl")).exits(0);
    let client = [folder.read("client.pem"), folder.read("pki/authority.pem")].concat();
    folder.write("client.chain.pem", client);
    // Behind the proxy a server of TLS tells of each connection.
    let mut behind = Server::start(&folder, "--echo");
    let address = SocketAddr::from(([127, 0, 0, 1], behind.port));
    let sides = "--client-ca pki/root.pem --tls --ca pki/root.pem --name localhost --crl clients.crl";
    let mut front = proxy(&folder, address, &format!("{TERMINATE} {sides}"));
    let mut stranger = front.call(&folder);
    let _ = stranger.write_all(b"x").and_then(|()| stranger.read(&mut [0; 1]));
    let told = told(&mut front);
    assert_eq!((&told["side"], &told["server"]), (&"client".into(), &Value::Null), "{told}");
    // Not even a connection: the next that it tells of is the client's.
    let own = "--own-cert client.chain.pem --own-key client.key";
    let front_address = SocketAddr::from(([127, 0, 0, 1], front.port));
    let with = proxy(&folder, front_address, &format!("--tls --ca pki/root.pem --name localhost {own}"));
    there_and_back(&mut TcpStream::connect(("127.0.0.1", with.port)).unwrap(), b"x");
    assert_eq!(behind.tells()["bytes"], 1);
    assert_eq!(self::told(&mut front)["end"], "closed");

    // A list that came since, and tells of the client.
    folder.run(&format!("{crl} --revoke client.pem --previous clients.crl -o clients.crl --force")).exits(0);
    front.signal(Signal::HUP);
    event(&mut front, "reloaded");
    let mut call = TcpStream::connect(("127.0.0.1", with.port)).unwrap();
    let _ = call.write_all(b"x").and_then(|()| call.read(&mut [0; 1]));
    let told = self::told(&mut front);
    assert_eq!((&told["end"], &told["side"]), (&"revoked".into(), &"client".into()), "{told}");
    // One that does not hold changes nothing.
    folder.write("clients.crl", "noise");
    front.signal(Signal::HUP);
    assert!(event(&mut front, "reload-failed")["detail"].as_str().unwrap().contains("clients.crl"));
}

#[test]
fn a_server_asks_clients_for_certificates_and_looks_at_lists() {
    let folder = with_chain("ml-dsa-65");
    folder.run("key gen --alg ml-dsa-44 -o client.key").exits(0);
    folder.run("cert csr -k client.key --name client.example --purpose client -o client.csr").exits(0);
    folder.run("cert sign client.csr --issuer pki/authority.pem -k pki/authority.key -o client.pem").exits(0);
    let crl = "cert crl --issuer pki/authority.pem -k pki/authority.key";
    folder.run(&format!("{crl} -o clients.crl")).exits(0);
    let client = [folder.read("client.pem"), folder.read("pki/authority.pem")].concat();
    folder.write("client.chain.pem", client);
    let mut server = Server::start(&folder, "--echo --client-ca pki/root.pem --crl clients.crl");
    let mut stranger = server.call(&folder);
    let _ = stranger.write_all(b"x").and_then(|()| stranger.read(&mut [0; 1]));
    assert!(server.tells()["detail"].as_str().unwrap().contains("no certificates"));
    let address = SocketAddr::from(([127, 0, 0, 1], server.port));
    let own = "--own-cert client.chain.pem --own-key client.key";
    let with = proxy(&folder, address, &format!("--tls --ca pki/root.pem --name localhost {own}"));
    there_and_back(&mut TcpStream::connect(("127.0.0.1", with.port)).unwrap(), b"x");
    assert_eq!(server.tells()["bytes"], 1);
    folder.run(&format!("{crl} --revoke client.pem --previous clients.crl -o clients.crl --force")).exits(0);
    server.signal(Signal::HUP);
    event(&mut server, "reloaded");
    let mut call = TcpStream::connect(("127.0.0.1", with.port)).unwrap();
    let _ = call.write_all(b"x").and_then(|()| call.read(&mut [0; 1]));
    assert!(server.tells()["detail"].as_str().unwrap().contains("revoked"));
}

/// A list that nobody would look into, or that is of no authority here, is a mistake.
#[test]
fn revocation_lists_that_apply_to_nobody_are_refused_at_the_start() {
    let folder = with_chain("ecdsa-p256");
    folder.run("cert new --levels 3 --alg ecdsa-p256 -o other").exits(0);
    for (issuer, list) in [("pki/root", "root.crl"), ("pki/authority", "authority.crl")] {
        folder.run(&format!("cert crl --issuer {issuer}.pem -k {issuer}.key -o {list}")).exits(0);
    }
    let key = gambeson_pki::PrivateKey::read(&folder.read("other/root.key"), None).unwrap();
    let stranger =
        gambeson_pki::Template::authority("CN=Stranger".parse().unwrap()).self_signed(&key).unwrap();
    folder.write("stranger.pem", stranger.to_pem());
    folder.run("cert crl --issuer stranger.pem -k other/root.key -o stranger.crl").exits(0);
    let start = |more: &str| folder.run(&format!("tls proxy -l 127.0.0.1:0 --connect 127.0.0.1:1 {more}"));
    start(&format!("{TERMINATE} --crl root.crl")).exits(2).tells("--client-ca").tells("--tls");
    start(&format!("{TERMINATE} --crl absent.crl")).exits(2).tells("--client-ca");
    for sides in [
        format!("{TERMINATE} --client-ca pki/root.pem"),
        "--tls --ca pki/root.pem --name localhost".to_owned(),
        "--tls --name localhost".to_owned(),
    ] {
        for lists in ["--crl stranger.crl", "--crl root.crl --crl stranger.crl"] {
            let refused = start(&format!("{sides} {lists}")).exits(3);
            assert!(refused.stderr.contains(".crl: the revocation list of CN="), "{}", refused.stderr);
        }
        let refused = start(&format!("{sides} --crl stranger.crl")).exits(3);
        assert!(refused.stderr.contains("CN=Stranger"), "{}", refused.stderr);
    }
    let serve =
        "tls serve -l 127.0.0.1:0 --cert pki/server.pem --key pki/server.key --client-ca pki/root.pem";
    folder.run(&format!("{serve} --crl stranger.crl")).exits(3).tells("CN=Stranger");
    // The list of an authority between stands with its certificate, where no other file has that.
    let client = "--tls --ca pki/root.pem --name localhost";
    start(&format!("{client} --crl authority.crl")).exits(3).tells("CN=gambeson Authority");
    folder.write("both.pem", [folder.read("authority.crl"), folder.read("pki/authority.pem")].concat());
    drop(proxy(&folder, echo(), &format!("{client} --crl both.pem --crl root.crl")));
    drop(Server::start(&folder, "--client-ca pki/root.pem --crl authority.crl"));
}

/// A revocation stays when an older list comes back, or the list goes.
#[test]
fn an_older_list_does_not_replace_a_newer_one() {
    let folder = with_chain("ml-dsa-65");
    folder.run("key gen --alg ml-dsa-44 -o client.key").exits(0);
    folder.run("cert csr -k client.key --name client.example --purpose client -o client.csr").exits(0);
    folder.run("cert sign client.csr --issuer pki/authority.pem -k pki/authority.key -o client.pem").exits(0);
    let crl = "cert crl --issuer pki/authority.pem -k pki/authority.key";
    folder.run(&format!("{crl} -o old.crl")).exits(0);
    folder.run(&format!("{crl} --revoke client.pem --previous old.crl -o new.crl")).exits(0);
    folder.run(&format!("{crl} --revoke client.pem --previous new.crl -o newest.crl")).exits(0);
    folder.run("cert crl --issuer pki/root.pem -k pki/root.key -o root.crl").exits(0);
    let client = [folder.read("client.pem"), folder.read("pki/authority.pem")].concat();
    folder.write("client.chain.pem", client);
    folder.write("cur.crl", folder.read("new.crl"));
    let mut front = proxy(&folder, echo(), &format!("{TERMINATE} --client-ca pki/root.pem --crl cur.crl"));
    let own = "--own-cert client.chain.pem --own-key client.key";
    let address = SocketAddr::from(([127, 0, 0, 1], front.port));
    let mut with = proxy(&folder, address, &format!("--tls --ca pki/root.pem --name localhost {own}"));
    let mut call = || {
        let mut call = TcpStream::connect(("127.0.0.1", with.port)).unwrap();
        let _ = call.write_all(b"x").and_then(|()| call.read(&mut [0; 1]));
        told(&mut with)
    };
    // RFC 8446, section 6.2: certificate_revoked.
    let end = call();
    assert!(end["detail"].as_str().unwrap().contains("certificate_revoked"), "{end}");
    assert_eq!(told(&mut front)["end"], "revoked");
    let mut kept = |front: &mut Server, file: &str, what: &str| {
        folder.write("cur.crl", folder.read(file));
        front.signal(Signal::HUP);
        let said = event(front, "older-list");
        let error = said["detail"].as_str().unwrap();
        assert!(error.contains(what) && error.contains("CN=gambeson Authority"), "{error}");
        event(front, "reloaded");
        call();
        assert_eq!(told(front)["end"], "revoked", "{file}");
    };
    kept(&mut front, "old.crl", "is older");
    folder.write("cur.crl", folder.read("newest.crl"));
    front.signal(Signal::HUP);
    assert_eq!(front.tells()["type"], "reloaded", "a newer list is taken without a word");
    kept(&mut front, "new.crl", "is older");
    kept(&mut front, "root.crl", "is no longer there");
    // `tls serve` does so, too.
    folder.write("cur.crl", folder.read("new.crl"));
    let mut server = Server::start(&folder, "--echo --client-ca pki/root.pem --crl cur.crl");
    folder.write("cur.crl", folder.read("old.crl"));
    server.signal(Signal::HUP);
    event(&mut server, "older-list");
    event(&mut server, "reloaded");
    let address = SocketAddr::from(([127, 0, 0, 1], server.port));
    let with = proxy(&folder, address, &format!("--tls --ca pki/root.pem --name localhost {own}"));
    let mut call = TcpStream::connect(("127.0.0.1", with.port)).unwrap();
    let _ = call.write_all(b"x").and_then(|()| call.read(&mut [0; 1]));
    assert!(server.tells()["detail"].as_str().unwrap().contains("revoked"));
}

#[test]
fn files_that_no_client_could_take_are_refused_at_the_start() {
    let folder = with_chain("ml-dsa-44");
    folder.run("cert new --levels 3 --alg ml-dsa-44 -o other").exits(0);
    let pem = String::from_utf8(folder.read("pki/server.pem")).unwrap();
    let parts: Vec<&str> = pem.split_inclusive("-----END CERTIFICATE-----\n").collect();
    folder.write("reversed.pem", [parts[1], parts[0]].concat());
    let other = String::from_utf8(folder.read("other/authority.pem")).unwrap();
    folder.write("mixed.pem", [parts[0], &other].concat());
    folder.run("key gen --alg ml-dsa-44 -o old.key").exits(0);
    folder.write("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let start =
        |more: &str| folder.run(&format!("tls proxy --listen 127.0.0.1:0 --connect 127.0.0.1:1 {more}"));
    start("--cert reversed.pem --key pki/server.key").exits(3).tells("put that of its holder first");
    start("--cert mixed.pem --key pki/server.key").exits(3).tells("is not signed by certificate 2");
    start("--cert broken.pem --key pki/server.key").exits(3).tells("broken.pem");
    start("--cert pki/server.pem --key other/server.key").exits(3).tells("pki/server.pem");
    start("--cert pki/server.key --key pki/server.key").exits(3).tells("no certificate");
    start("--cert absent.pem --key pki/server.key").exits(3).tells("absent.pem");
    start(&format!("{TERMINATE} --client-ca absent.pem")).exits(3).tells("absent.pem");
    start("--tls --ca pki/server.key").exits(3).tells("pki/server.key");
    start("--tls --own-cert mixed.pem --own-key pki/server.key").exits(3).tells("mixed.pem");
    // Nothing to do, halves of a pair, and what is no server.
    start("").exits(2);
    start("--cert pki/server.pem").exits(2);
    start("--tls --own-cert pki/server.pem").exits(2);
    folder.run(&format!("tls proxy --connect nowhere {TERMINATE}")).exits(2).tells("not HOST:PORT");
    start(&format!("{TERMINATE} --alpn h2,,http/1.1")).exits(2).tells("1 to 255 bytes");
    start(&format!("{TERMINATE} --key-log")).exits(2).tells("SSLKEYLOGFILE names no file");
    start(&format!("{TERMINATE} --access-log no/such/folder")).exits(3).tells("no/such/folder");
    start(&format!("{TERMINATE} --connections 1000000")).exits(2).tells("raise the hard limit");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    folder
        .run(&format!("tls proxy --listen {taken} --connect 127.0.0.1:1 {TERMINATE}"))
        .exits(3)
        .tells("in use");
    start(&format!("{TERMINATE} --metrics {taken}")).exits(3).tells("in use");
}

/// The subject of the first certificate that a server shows, to whoever trusts `root`.
fn shown(proxy: &Server, folder: &Folder, root: &str) -> String {
    let mut roots = trust(folder);
    roots.add(CertificateDer::from_pem_file(folder.path(root)).unwrap()).unwrap();
    let config = trusting(roots);
    let mut client = proxy.call_with(config);
    there_and_back(&mut client, b"x");
    let shown = client.conn.peer_certificates().unwrap()[0].to_vec();
    gambeson_pki::Certificate::from_der(&shown).unwrap().to_pem()
}

#[test]
fn other_certificates_are_taken_while_connections_go_on() {
    let folder = with_chain("ml-dsa-65");
    folder.run("cert new --levels 3 --alg ml-dsa-44 -o next").exits(0);
    let first = |name: &str| {
        let pem = String::from_utf8(folder.read(name)).unwrap();
        pem.split_inclusive("-----END CERTIFICATE-----\n").next().unwrap().to_owned()
    };
    let (old, new) = (first("pki/server.pem"), first("next/server.pem"));
    folder.write("server.pem", folder.read("pki/server.pem"));
    folder.write("server.key", folder.read("pki/server.key"));
    let line = "--cert server.pem --key server.key --access-log access.log --metrics 127.0.0.1:0";
    let mut proxy = proxy(&folder, echo(), line);
    let mut running = proxy.call(&folder);
    there_and_back(&mut running, b"before");
    assert_eq!(shown(&proxy, &folder, "next/root.pem"), old);

    // The new certificate with the old key.
    folder.write("server.pem", folder.read("next/server.pem"));
    proxy.signal(Signal::HUP);
    let failed = event(&mut proxy, "reload-failed");
    assert!(failed["detail"].as_str().unwrap().contains("server.pem"), "{failed}");
    assert_eq!(shown(&proxy, &folder, "next/root.pem"), old);

    // Now with its own, while a transfer runs; and the log is moved away.
    folder.write("server.key", folder.read("next/server.key"));
    soon("the log is written", || {
        folder.read("access.log").iter().filter(|byte| **byte == b'\n').count() == 2
    });
    std::fs::rename(folder.path("access.log"), folder.path("access.log.1")).unwrap();
    let large = noise(1_000_000);
    let (half, rest) = large.split_at(500_000);
    for piece in half.chunks(20_000) {
        there_and_back(&mut running, piece);
    }
    proxy.signal(Signal::HUP);
    event(&mut proxy, "reloaded");
    assert_eq!(shown(&proxy, &folder, "next/root.pem"), new);
    for piece in rest.chunks(20_000) {
        there_and_back(&mut running, piece);
    }
    drop(running);
    soon("the new log is written", || {
        folder.exists("access.log")
            && folder.read("access.log").iter().filter(|byte| **byte == b'\n').count() == 2
    });
    let lines = String::from_utf8(folder.read("access.log")).unwrap();
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!((&last["bytesUp"], &last["client"]["scheme"]), (&1_000_006.into(), &"mldsa65".into()));
    let counters = metrics(&proxy);
    for line in ["reloads_total{result=\"failed\"} 1", "reloads_total{result=\"ok\"} 1"] {
        assert!(counters.contains(line), "{counters}");
    }
}

/// The counters of a proxy.
fn metrics(proxy: &Server) -> String {
    ask(proxy, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
}

fn ask(proxy: &Server, request: &str) -> String {
    let mut reader = TcpStream::connect(proxy.begun["metrics"].as_str().unwrap()).unwrap();
    reader.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    reader.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn counters_count() {
    let folder = with_chain("ml-dsa-44");
    let mut proxy = proxy(&folder, echo(), &format!("{TERMINATE} --metrics 127.0.0.1:0 --connections 7"));
    let mut client = proxy.call(&folder);
    there_and_back(&mut client, b"12345");
    let counters = metrics(&proxy);
    let name = |rest: &str| format!("\ngambeson_tls_proxy_{rest}\n");
    for line in [
        "connections 1",
        "connections_limit 7",
        "accepted_total 1",
        "relayed_bytes_total{direction=\"up\"} 5",
        "relayed_bytes_total{direction=\"down\"} 5",
        "handshakes_total{side=\"client\",group=\"X25519MLKEM768\",scheme=\"mldsa44\"} 1",
        "handshake_duration_seconds_count{side=\"client\"} 1",
    ] {
        assert!(counters.contains(&name(line)), "{line}: {counters}");
    }
    assert!(counters.starts_with("HTTP/1.1 200 OK\r\n") && counters.ends_with("# EOF\n"));
    let expires =
        counters.lines().find(|line| line.starts_with("gambeson_tls_proxy_certificate_expiry")).unwrap();
    let expires: u64 = expires.rsplit(' ').next().unwrap().parse().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert!(expires > now, "{expires}");
    drop(client);
    proxy.get(&folder, "/", "-o x --preset classical-448").exits(1);
    told(&mut proxy);
    told(&mut proxy);
    soon("both are gone", || metrics(&proxy).contains(&name("connections 0")));
    let counters = metrics(&proxy);
    for line in [
        "connections 0",
        "ended_total{end=\"incompatible\"} 1",
        "handshake_failures_total{side=\"client\",reason=\"incompatible\"} 1",
    ] {
        assert!(counters.contains(&name(line)), "{line}: {counters}");
    }
    assert!(ask(&proxy, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask(&proxy, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(ask(&proxy, "\x16\x03\x01\r\n\r\n").starts_with("HTTP/1.1 400 "));
    assert!(ask(&proxy, &format!("GET /{} HTTP/1.1\r\n", "x".repeat(9000))).starts_with("HTTP/1.1 431 "));
}

#[test]
fn who_ends_it_lets_connections_come_to_their_end_but_not_for_ever() {
    let folder = with_chain("ml-dsa-44");
    let mut proxy = proxy(&folder, echo(), &format!("{TERMINATE} --drain-timeout 60"));
    let mut client = proxy.call(&folder);
    there_and_back(&mut client, b"before");
    proxy.signal(Signal::TERM);
    assert_eq!(event(&mut proxy, "draining")["connections"], 1);
    soon("no more callers", || TcpStream::connect(("127.0.0.1", proxy.port)).is_err());
    there_and_back(&mut client, &noise(100_000));
    client.conn.send_close_notify();
    client.flush().unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
    assert_eq!(told(&mut proxy)["end"], "closed");
    assert_eq!(proxy.child.wait().unwrap().code(), Some(0));

    // One that does not end.
    let mut proxy = self::proxy(&folder, echo(), &format!("{TERMINATE} --drain-timeout 1"));
    let mut client = proxy.call(&folder);
    there_and_back(&mut client, b"before");
    proxy.signal(Signal::INT);
    let stopped = told(&mut proxy);
    assert_eq!((&stopped["end"], &stopped["bytesUp"]), (&"stopped".into(), &6.into()));
    assert_eq!(client.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::UnexpectedEof, "no goodbye");
    assert_eq!(event(&mut proxy, "ended")["connections"], 1);
    assert_eq!(proxy.child.wait().unwrap().code(), Some(0));

    // And one who asks twice.
    let mut proxy = self::proxy(&folder, echo(), &format!("{TERMINATE} --drain-timeout 3600"));
    let mut client = proxy.call(&folder);
    there_and_back(&mut client, b"before");
    proxy.signal(Signal::TERM);
    event(&mut proxy, "draining");
    proxy.signal(Signal::TERM);
    assert_eq!(proxy.child.wait().unwrap().code(), Some(130));
}

#[test]
fn whoever_finds_no_place_is_told_so() {
    let folder = with_chain("ml-dsa-44");
    let mut proxy = proxy(&folder, echo(), &format!("{TERMINATE} --connections 2 --metrics 127.0.0.1:0"));
    let mut clients = [proxy.call(&folder), proxy.call(&folder)];
    clients.iter_mut().for_each(|client| there_and_back(client, b"here"));
    let refused = proxy.get(&folder, "/", "-o x --json").exits(1);
    assert_eq!(refused.json()["reason"], "alert");
    refused.tells("alert internal_error");
    let told = event(&mut proxy, "refused");
    assert_eq!((&told["limit"], &told["times"]), (&2.into(), &1.into()));
    assert!(metrics(&proxy).contains("gambeson_tls_proxy_refused_total{reason=\"connections\"} 1\n"));
    // The others do not notice, and who leaves makes room.
    clients.iter_mut().for_each(|client| there_and_back(client, b"still here"));
    let [first, _second] = clients;
    drop(first);
    self::told(&mut proxy);
    soon("there is room", || metrics(&proxy).contains("\ngambeson_tls_proxy_connections 1\n"));
    there_and_back(&mut proxy.call(&folder), b"now");

    // One without TLS is told by a reset: an end would look like an answer without a byte.
    let server = Server::start(&folder, "--echo");
    let address = SocketAddr::from(([127, 0, 0, 1], server.port));
    let line = "--tls --ca pki/root.pem --name localhost --connections 1";
    let proxy = self::proxy(&folder, address, line);
    let mut first = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    there_and_back(&mut first, b"here");
    let mut second = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    let end = second.read(&mut [0; 1]).map_err(|error| error.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    there_and_back(&mut first, b"still here");
}

#[test]
fn whoever_does_not_read_the_log_does_not_keep_the_proxy_from_its_end() {
    let folder = with_chain("ml-dsa-44");
    let mut proxy = proxy(&folder, echo(), TERMINATE);
    // More lines than a pipe holds.
    for _ in 0..1000 {
        drop(TcpStream::connect(("127.0.0.1", proxy.port)).unwrap());
    }
    proxy.signal(Signal::TERM);
    soon("it ends", || proxy.child.try_wait().unwrap().is_some());
    assert_eq!(proxy.child.wait().unwrap().code(), Some(0));
}

#[test]
fn slow_readers_are_not_read_for() {
    const ALL: usize = 64 << 20;
    let folder = with_chain("ml-dsa-44");
    let bytes = Arc::new(noise(1 << 20));
    let sent = Arc::clone(&bytes);
    let (count, counted) = std::sync::mpsc::channel();
    let address = backend(move |mut socket| {
        // What nobody has read when a socket is closed makes it a reset.
        socket.read_exact(&mut [0; 2]).unwrap();
        for _ in 0..ALL >> 20 {
            for piece in sent.chunks(64 << 10) {
                socket.write_all(piece).unwrap();
                count.send(piece.len()).unwrap();
            }
        }
    });
    let proxy = proxy(&folder, address, TERMINATE);
    let before = memory(proxy.child.id());
    let mut client = proxy.call(&folder);
    client.write_all(b"go").unwrap();
    // Until nothing moves any more.
    let mut moved = 0;
    while let Ok(length) = counted.recv_timeout(Duration::from_secs(2)) {
        moved += length;
    }
    // What the sockets of the system hold: twice its most for sending and receiving on loopback.
    assert!(moved < ALL * 3 / 4, "{moved} bytes are on the way");
    let grown = memory(proxy.child.id()).saturating_sub(before);
    assert!(grown < 8 << 20, "the proxy has taken {grown} bytes");
    let mut got = vec![0; 1 << 20];
    for _ in 0..ALL >> 20 {
        client.read_exact(&mut got).unwrap();
        assert!(got == *bytes);
    }
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn the_silent_have_to_go() {
    let folder = with_chain("ml-dsa-44");
    let limits = "--handshake-timeout 1 --idle-timeout 1 --connect-timeout 1";
    let mut proxy = proxy(&folder, echo(), &format!("{TERMINATE} {limits}"));
    let silent = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    assert_eq!(told(&mut proxy)["end"], "handshake-timeout");
    drop(silent);
    // A byte now and then makes no handshake.
    let mut dripping = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    let begun = Instant::now();
    dripping.write_all(&[22, 3, 1, 0x40, 0]).unwrap();
    while dripping.write_all(&[0]).is_ok() && begun.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(told(&mut proxy)["end"], "handshake-timeout");
    let mut client = proxy.call(&folder);
    there_and_back(&mut client, b"x");
    assert_eq!(client.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::UnexpectedEof, "no goodbye");
    assert_eq!(told(&mut proxy)["end"], "idle");
    // A server that speaks no TLS, nor anything else.
    let address = backend(|socket| {
        thread::sleep(Duration::from_secs(30));
        drop(socket);
    });
    let mut proxy = self::proxy(&folder, address, &format!("--tls --ca pki/root.pem {limits}"));
    let _client = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
    let told = told(&mut proxy);
    assert_eq!((&told["end"], &told["side"]), (&"handshake-timeout".into(), &"server".into()));
}

#[test]
fn what_was_cut_is_not_taken_for_whole() {
    let folder = with_chain("ml-dsa-44");
    let (address, reading) = once(|mut socket| {
        let mut got = Vec::new();
        (socket.read_to_end(&mut got).map_err(|error| error.kind()), got)
    });
    let mut proxy = proxy(&folder, address, TERMINATE);
    let mut client = proxy.call(&folder);
    client.write_all(b"half of it").unwrap();
    thread::sleep(Duration::from_millis(300));
    // TCP ends, and TLS has not.
    client.sock.shutdown(Shutdown::Write).unwrap();
    let told = told(&mut proxy);
    assert_eq!((&told["end"], &told["side"]), (&"no-goodbye".into(), &"client".into()), "{told}");
    assert_eq!(reading.join().unwrap(), (Err(ErrorKind::ConnectionReset), b"half of it".to_vec()));
}

#[test]
fn secrets_are_written_where_both_the_command_line_and_the_environment_say_so() {
    use std::os::unix::fs::PermissionsExt;

    let folder = with_chain("ml-dsa-44");
    let run = |more: &str| {
        let mut command = folder.command();
        let line = format!("tls proxy --listen 127.0.0.1:0 --connect {} {TERMINATE} {more}", echo());
        command.args(line.split_whitespace()).env("SSLKEYLOGFILE", folder.path("keys"));
        let proxy = Server::spawn(command);
        assert_eq!(proxy.begun["keyLog"], !more.is_empty());
        there_and_back(&mut proxy.call(&folder), b"x");
    };
    run("");
    assert!(!folder.exists("keys"));
    run("--key-log");
    let keys = String::from_utf8(folder.read("keys")).unwrap();
    for label in ["CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_TRAFFIC_SECRET_0 "] {
        assert!(keys.lines().any(|line| line.starts_with(label)), "{keys}");
    }
    assert_eq!(std::fs::metadata(folder.path("keys")).unwrap().permissions().mode() & 0o777, 0o600);
}
