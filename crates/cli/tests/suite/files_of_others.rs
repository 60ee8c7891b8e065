//! Files as other programs write them, in every command that reads them.

use crate::program::Folder;
use crate::program::serving::{Server, with_chain};
use gambeson_pki::PrivateKey;

/// The shapes of PEM that editors, mail and other programs leave behind.
fn shapes(pem: &str) -> Vec<(&'static str, String)> {
    let lines: Vec<&str> = pem.lines().collect();
    let (first, last) = (lines[0], lines[lines.len() - 1]);
    let body = lines[1..lines.len() - 1].concat();
    let rows = |width| {
        let rows = body.as_bytes().chunks(width).map(|row| format!("{}\r\n", String::from_utf8_lossy(row)));
        format!("{first}\r\n{}{last}\r\n", rows.collect::<String>())
    };
    vec![
        ("blank", format!("{pem}\n\n")),
        ("bom", format!("\u{feff}{pem}")),
        ("seventy", rows(70)),
        ("long", rows(usize::MAX)),
        ("spaces", pem.replace('\n', "   \n")),
        ("comment", format!("Bag Attributes\n    friendlyName: x\n{pem}# the end\n")),
    ]
}

#[test]
fn every_command_reads_pem_of_every_shape() {
    let folder = with_chain("ml-dsa-44");
    let text = |file: &str| String::from_utf8(folder.read(file)).unwrap();
    let files = ["pki/root.pem", "pki/authority.pem", "pki/server.key"].map(text);
    folder.run("key public pki/server.key -o server.pub").exits(0);
    folder.run("cert csr -k pki/server.key --name localhost -o r.csr").exits(0);
    folder.run("cert crl --issuer pki/root.pem -k pki/root.key -o root.crl").exits(0);
    let leaf = text("pki/server.pem");
    let leaf = leaf.split_inclusive("-----END CERTIFICATE-----\n").next().unwrap();
    let others = [text("server.pub"), text("r.csr"), text("root.crl"), leaf.to_owned()];
    let mut ran = 0;
    for index in 0..6 {
        let shape = |pem: &str| shapes(pem).swap_remove(index);
        let name = shape("a\nb\nc\n").0;
        for (file, pem) in ["root", "authority", "key"].iter().zip(&files) {
            folder.write(&format!("{name}.{file}"), shape(pem).1);
        }
        for (file, pem) in ["pub", "csr", "crl", "leaf"].iter().zip(&others) {
            folder.write(&format!("{name}.{file}"), shape(pem).1);
        }
        for line in [
            format!("key show {name}.key"),
            format!("key show {name}.pub"),
            format!("cert show {name}.root"),
            format!("cert show {name}.csr"),
            format!("cert show {name}.crl"),
            format!("cert sign {name}.csr --issuer {name}.authority -k pki/authority.key -o out --force"),
            format!("cert verify {name}.leaf --roots {name}.root --others {name}.authority --crl {name}.crl"),
            format!("sign -k {name}.key {name}.root -o {name}.sig"),
            format!("verify -k {name}.pub {name}.root -s {name}.sig"),
        ] {
            folder.run(&line).exits(0);
            ran += 1;
        }
        folder.write(&format!("{name}.chain"), format!("{}{}", shape(leaf).1, shape(&files[1]).1));
        let serve = format!("tls serve --listen 127.0.0.1:0 --cert {name}.chain --key {name}.key");
        let server = Server::run(&folder, &serve);
        let get = format!("tls get https://localhost:{}/ --crl {name}.crl", server.port);
        folder.run(&format!("{get} --ca {name}.root")).exits(0);
    }
    assert_eq!(ran, 6 * 9);
}

#[test]
fn one_file_may_hold_a_key_and_its_certificate_and_not_two_keys() {
    let folder = with_chain("ml-dsa-44");
    folder.write("both", [folder.read("pki/server.key"), folder.read("pki/server.pem")].concat());
    let private = |file: &str| {
        let shown = folder.run(&format!("key show {file}")).exits(0);
        assert!(shown.text().contains("private ML-DSA-44"), "{}", shown.text());
    };
    private("both");
    folder.run("cert show both").exits(0);
    let server = Server::run(&folder, "tls serve --listen 127.0.0.1:0 --cert both --key both");
    server.get(&folder, "/", "").exits(0);
    folder.run("key public pki/server.key -o pub").exits(0);
    folder.write("pair", [folder.read("pub"), folder.read("pki/server.key")].concat());
    private("pair");
    folder.write("no-pair", [folder.read("pub"), folder.read("pki/root.key")].concat());
    folder.run("key show no-pair").exits(3).tells("no-pair: the public key in the file is not that");

    folder.write("keys", [folder.read("pki/server.key"), folder.read("pki/root.key")].concat());
    folder.run("key show keys").exits(3).tells("keys: holds two private keys");
    folder.run("cert csr -k keys --name a.example -o no").exits(3).tells("holds two private keys");
    folder.write("publics", [folder.read("pub"), folder.read("pub")].concat());
    folder.run("key show publics").exits(3).tells("publics: holds two public keys");
    folder.run("cert csr -k pki/server.key --name a.example -o r.csr").exits(0);
    folder.write("requests", [folder.read("r.csr"), folder.read("r.csr")].concat());
    folder.run("cert show requests").exits(3).tells("requests: holds two certificate requests");
    let sign = "cert sign requests --issuer pki/root.pem -k pki/root.key -o no";
    folder.run(sign).exits(3).tells("requests: holds two certificate requests");
    assert!(!folder.exists("no"));
}

#[test]
fn every_list_of_a_file_counts() {
    let folder = with_chain("ed25519");
    folder.run("cert crl --issuer pki/root.pem -k pki/root.key -o root.crl").exits(0);
    let authority = "cert crl --issuer pki/authority.pem -k pki/authority.key";
    folder.run(&format!("{authority} --revoke pki/server.pem -o authority.crl")).exits(0);
    folder.write("all.crl", [folder.read("root.crl"), folder.read("authority.crl")].concat());
    let verify = "cert verify pki/server.pem --roots pki/root.pem --crl all.crl --json";
    assert_eq!(folder.run(verify).exits(1).json()["reason"], "revoked");
    assert_eq!(folder.run("cert show all.crl --json").exits(0).rows().len(), 2);
    let server = Server::start(&folder, "");
    server.get(&folder, "/", "--crl all.crl").exits(1).tells("revoked");
}

#[test]
fn requests_of_keytool_and_windows_are_signed() {
    let folder = with_chain("ed25519");
    folder.run("cert csr -k pki/server.key --name a.example -o r.csr").exits(0);
    let text = String::from_utf8(folder.read("r.csr")).unwrap();
    folder.write("new.csr", text.replace("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"));
    assert_eq!(folder.run("cert show new.csr --json").exits(0).json()["names"][0], "a.example");
    folder.run("cert sign new.csr --issuer pki/root.pem -k pki/root.key -o out").exits(0);
}

/// The request with other bytes in it, under a new signature of the Ed25519 key of `key`.
fn changed(folder: &Folder, request: &str, key: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let der = gambeson_pki::Request::read(&folder.read(request)).unwrap().as_der().to_vec();
    let at = der.windows(old.len()).position(|window| window == old).unwrap();
    let mut der = [&der[..at], new, &der[at + old.len()..]].concat();
    let header = |der: &[u8]| if der[1] < 0x80 { 2 } else { 2 + usize::from(der[1] & 0x7f) };
    let outer = header(&der);
    // The algorithm has 7 bytes, the bit string 3 before the signature of 64.
    let (body, signature) = (der[outer..der.len() - 74].to_vec(), der.len() - 64);
    let key = PrivateKey::read(&folder.read(key), None).unwrap();
    der[signature..].copy_from_slice(&key.sign(&body).unwrap());
    der
}

#[test]
fn a_bad_name_is_a_fault_of_the_request() {
    let folder = with_chain("ed25519");
    folder.run("cert csr -k pki/server.key --name axb.example -o r.csr").exits(0);
    folder.write(
        "bad.csr",
        changed(&folder, "r.csr", "pki/server.key", b"\x82\x0baxb.example", b"\x82\x0ba b.example"),
    );
    let sign = "--issuer pki/root.pem -k pki/root.key -o no";
    folder.run(&format!("cert sign bad.csr {sign}")).exits(2).tells("bad.csr: ").tells("a b.example");
    let subject = changed(&folder, "r.csr", "pki/server.key", b"\x0c\x0baxb", b"\x0c\x0b\xff\xffb");
    folder.write("subject.csr", subject);
    folder
        .run(&format!("cert sign subject.csr {sign}"))
        .exits(3)
        .tells("subject.csr: the subject of the certificate request");
    assert!(!folder.exists("no"));
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let folder = with_chain("ed25519");
    folder.run("cert csr -k pki/server.key --name a.example -o r.csr").exits(0);
    for (line, told) in [
        ("key show pki/root.pem", "a PEM file of a CERTIFICATE"),
        ("key show r.csr", "a PEM file of a CERTIFICATE REQUEST"),
        ("cert show pki/root.key", "a PEM file of a PRIVATE KEY"),
        ("cert verify pki/root.key --roots pki/root.pem", "holds no certificate"),
        ("tls get https://localhost:1/ --ca pki/root.key", "holds no certificate"),
        ("cert verify pki/server.pem --roots pki/root.pem --crl pki/root.pem", "a PEM file of a CERTIFICATE"),
    ] {
        folder.run(line).exits(3).tells(told);
    }
    let root = String::from_utf8(folder.read("pki/root.pem")).unwrap();
    let root = gambeson_pki::Certificate::read(root.as_bytes()).unwrap();
    folder.write("root.der", root.as_der());
    folder.run("key show root.der").exits(3).tells("root.der: is a certificate, where a private key");
    let mut bad = root.as_der().to_vec();
    let at = bad.windows(2).position(|window| window == [0x17, 0x0d]).unwrap();
    bad[at + 4..at + 6].copy_from_slice(b"13");
    folder.write("bad.der", &bad);
    for line in [
        "cert show bad.der",
        "cert verify bad.der --roots pki/root.pem",
        "tls get https://localhost:1/ --ca bad.der",
    ] {
        folder.run(line).exits(3).tells("bad.der: the notBefore of the certificate");
    }
    bad[at + 2..at + 6].copy_from_slice(b"6101");
    folder.write("old.der", &bad);
    let shown = folder.run("cert show old.der").exits(0);
    assert!(shown.text().contains("valid        1961-01-"), "{}", shown.text());
}

/// A key of each form, as JDK (expanded alone), OpenSSL (both) and others (the seed, bare bytes) write it.
#[test]
fn every_form_of_a_key_of_ml_dsa_serves() {
    let folder = with_chain("ml-dsa-65");
    for form in ["seed", "expanded", "both"] {
        folder.run(&format!("key convert pki/server.key --form {form} -o {form}.key")).exits(0);
        let serve = format!("tls serve --listen 127.0.0.1:0 --cert pki/server.pem --key {form}.key");
        let server = Server::run(&folder, &serve);
        server.get(&folder, "/", "").exits(0);
        let proxy = format!("tls proxy --listen 127.0.0.1:0 --connect localhost:{}", server.port);
        let proxy = format!("{proxy} --cert pki/server.pem --key {form}.key --tls --ca pki/root.pem");
        let own = format!("--own-cert pki/server.pem --own-key {form}.key --access-log {form}.log");
        let proxy = Server::run(&folder, &format!("{proxy} {own}"));
        proxy.get(&folder, "/", "").exits(0);
        folder.run(&format!("sign -k {form}.key pki/root.pem -o {form}.sig")).exits(0);
        folder.run(&format!("cert csr -k {form}.key --name a.example -o {form}.csr")).exits(0);
        folder.run(&format!("key show {form}.key")).exits(0);
    }
}

/// From `openssl req -new -key` with `subjectAltName = DNS:a.example, otherName:1.3.6.1.5.5.7.8.7;IA5STRING:_xmpp.a.example,
/// otherName:msUPN;UTF8:alice@a.example, RID:1.2.3.4`, `basicConstraints = CA:TRUE`, `keyUsage = digitalSignature, keyCertSign`,
/// `tlsfeature = status_request` and `certificatePolicies = 1.2.3.4`.
const ASKS_FOR_MUCH: &str = include_str!("files_of_others/asks-for-much.csr");

#[test]
fn what_a_request_asks_for_is_shown_and_what_is_left_out_is_said() {
    let folder = with_chain("ed25519");
    folder.write("r.csr", ASKS_FOR_MUCH);
    let others = ["SRV:_xmpp.a.example", "UPN:alice@a.example", "registeredID:1.2.3.4"];
    let more = ["tlsFeature (must-staple)", "certificatePolicies", "keyCertSign", "CA:TRUE"];
    let shown = folder.run("cert show r.csr").exits(0);
    for text in others.iter().chain(&more) {
        assert!(shown.text().contains(text), "{text}: {}", shown.text());
    }
    let report = folder.run("cert show r.csr --json").exits(0).json();
    assert_eq!(report["otherNames"], serde_json::json!(others));
    assert_eq!(report["authority"], true);
    let sign = "cert sign r.csr --issuer pki/root.pem -k pki/root.key --force -o out";
    let told = folder.run(sign).exits(0);
    for text in others.iter().chain(&more) {
        assert!(told.stderr.contains(text), "{text}: {}", told.stderr);
    }
    assert!(
        told.stderr.contains("left out") && told.text().contains("without everything that was asked for")
    );
    let report = folder.run(&format!("{sign} --json")).exits(0).json();
    let left_out = report["leftOut"].as_array().unwrap();
    assert_eq!(left_out.len(), 7, "{left_out:?}");
    assert_eq!(report["names"], serde_json::json!(["a.example"]));
    // An authority has no names of machines but those that are given.
    let told = folder.run(&format!("{sign} --authority")).exits(0);
    assert!(
        told.stderr.contains("name \"a.example\"") && !told.stderr.contains("CA:TRUE"),
        "{}",
        told.stderr
    );
    folder.run("cert csr -k pki/server.key --subject CN=Plain -o plain.csr").exits(0);
    let report = folder.run(&format!("{} --json", sign.replace("r.csr", "plain.csr"))).exits(0).json();
    assert_eq!(report["leftOut"], serde_json::json!([]));
    // A certificate that has all of it.
    folder.write("full.pem", include_str!("files_of_others/has-much.pem"));
    let shown = folder.run("cert show full.pem").exits(0);
    for text in others.iter().chain(&more[..2]) {
        assert!(shown.text().contains(text), "{text}: {}", shown.text());
    }
}
