//! Certificates: made, requested, signed, shown, verified, revoked.

use crate::program::{self, Folder, finish, has_program};
use std::process::Command;

const SIGNERS: [&str; 26] = [
    "ml-dsa-44",
    "ml-dsa-65",
    "ml-dsa-87",
    "slh-dsa-sha2-128s",
    "slh-dsa-sha2-128f",
    "slh-dsa-sha2-192s",
    "slh-dsa-sha2-192f",
    "slh-dsa-sha2-256s",
    "slh-dsa-sha2-256f",
    "slh-dsa-shake-128s",
    "slh-dsa-shake-128f",
    "slh-dsa-shake-192s",
    "slh-dsa-shake-192f",
    "slh-dsa-shake-256s",
    "slh-dsa-shake-256f",
    "mldsa87-ed448",
    "mldsa87-ecdsa-p384",
    "mldsa65-ed25519",
    "mldsa65-ecdsa-p384",
    "mldsa65-ecdsa-p256",
    "mldsa44-ed25519",
    "mldsa44-ecdsa-p256",
    "ed25519",
    "ed448",
    "ecdsa-p256",
    "ecdsa-p384",
];
const RECEIVERS: [&str; 8] = [
    "ml-kem-512",
    "ml-kem-768",
    "ml-kem-1024",
    "mlkem1024-x448",
    "mlkem1024-ecdh-p384",
    "mlkem768-ecdh-p384",
    "mlkem768-ecdh-p256",
    "mlkem768-x25519",
];

/// A root, an authority and a server in the folder `pki`.
fn with_chain() -> Folder {
    let folder = Folder::new();
    folder.run("cert new --levels 3 --alg ed25519 --name example.com -o pki").exits(0);
    folder
}

#[test]
fn a_chain_of_three_levels_is_made_in_one_command() {
    let folder = Folder::new();
    let report = folder.run("cert new --levels 3 -o pki --json").exits(0).json();
    assert_eq!(report["alg"], "ML-DSA-65");
    assert_eq!(report["levels"], 3);
    for file in ["root", "authority", "server"] {
        assert!(folder.exists(&format!("pki/{file}.pem")));
        #[cfg(unix)]
        assert_eq!(folder.mode(&format!("pki/{file}.key")), 0o600);
        let key = folder.run(&format!("key show pki/{file}.key --json")).exits(0).json();
        assert_eq!(key["alg"], "ML-DSA-65");
    }
    for name in ["localhost", "127.0.0.1", "::1"] {
        for purpose in ["server", "client"] {
            let verify =
                format!("cert verify pki/server.pem --roots pki/root.pem --name {name} --purpose {purpose}");
            let report = folder.run(&format!("{verify} --json")).exits(0).json();
            assert_eq!(report["chain"][1], "CN=gambeson Authority");
            assert_eq!(report["chain"][2], "CN=gambeson Root");
        }
    }
    let rows = folder.run("cert show pki/server.pem --json").exits(0).rows();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["issuer"], rows[1]["subject"]);
    assert_eq!(rows[0]["keyUsage"][0], "digitalSignature");
    assert_eq!(rows[0]["authority"], false);
    assert_eq!((&rows[1]["authority"], &rows[1]["pathLength"]), (&true.into(), &0.into()));
    // Nothing is overwritten without a word.
    folder.run("cert new --levels 3 -o pki").exits(3).tells("exists");
    folder.run("cert new --levels 3 -o pki --force").exits(0);
}

#[test]
fn every_algorithm_that_signs_makes_chains_of_every_length() {
    let folder = Folder::new();
    let mut ran = 0;
    for algorithm in SIGNERS {
        for levels in 1..=3 {
            let out = format!("{algorithm}-{levels}");
            folder.run(&format!("cert new --alg {algorithm} --levels {levels} -o {out}")).exits(0);
            let root = if levels == 1 { "server" } else { "root" };
            let verify =
                format!("cert verify {out}/server.pem --roots {out}/{root}.pem --name localhost --json");
            let report = folder.run(&verify).exits(0).json();
            assert_eq!(report["chain"].as_array().unwrap().len(), levels);
            ran += 1;
        }
    }
    assert_eq!(ran, 78);
    for algorithm in RECEIVERS {
        folder.run(&format!("cert new --alg {algorithm} -o no")).exits(2).tells("must sign");
    }
    folder.run("cert new --levels 4 -o no").exits(2);
    assert!(!folder.exists("no"));
}

#[test]
fn certificates_of_slh_dsa_by_bouncy_castle_are_shown_and_verified() {
    let folder = with_chain();
    let chain = include_str!("../../../pki/tests/data/SLH-DSA-SHA2-128s.pem");
    folder.write("slh-dsa.pem", chain);
    for row in folder.run("cert show slh-dsa.pem --json").exits(0).rows() {
        assert_eq!(
            (&row["alg"], &row["signatureAlg"]),
            (&"SLH-DSA-SHA2-128s".into(), &"SLH-DSA-SHA2-128s".into())
        );
    }
    let text = folder.run("cert show slh-dsa.pem").exits(0).text().to_owned();
    assert_eq!(text.matches("\n  key          SLH-DSA-SHA2-128s\n").count(), 2, "{text}");
    folder.write("slh-dsa-root.pem", chain.split_inclusive("-----END CERTIFICATE-----\n").nth(1).unwrap());
    let verify = "cert verify slh-dsa.pem --roots slh-dsa-root.pem --at 2026-11-25T13:30:00Z --json";
    assert_eq!(folder.run(verify).exits(0).json()["chain"].as_array().unwrap().len(), 2);
    folder.write("slh-dsa.key", include_str!("../../../pki/tests/data/SLH-DSA-SHAKE-256f.priv"));
    assert_eq!(folder.run("key show slh-dsa.key --json").exits(0).json()["alg"], "SLH-DSA-SHAKE-256f");
}

/// The certificates of SLH-DSA with the identifier of HashSLH-DSA, which is not supported.
#[test]
fn certificates_of_hash_slh_dsa_are_shown_by_name_and_refused() {
    let folder = with_chain();
    let file = include_bytes!("../../../pki/tests/data/SLH-DSA-SHA2-128s.pem");
    let renamed = |certificate: gambeson_pki::Certificate| {
        let mut der = certificate.as_der().to_vec();
        let arcs = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3];
        let places: Vec<_> = (0..der.len() - 8).filter(|at| der[*at..].starts_with(&arcs)).collect();
        places.into_iter().for_each(|at| der[at + 8] = 35);
        gambeson_pki::Certificate::from_der(&der).unwrap().to_pem()
    };
    let chain: Vec<_> = gambeson_pki::Certificate::read_all(file).unwrap().into_iter().map(renamed).collect();
    folder.write("slh-dsa.pem", chain.concat());
    for row in folder.run("cert show slh-dsa.pem --json").exits(0).rows() {
        let name = "HashSLH-DSA-SHA2-128s-with-SHA256";
        assert_eq!((&row["alg"], &row["signatureAlg"]), (&name.into(), &name.into()));
    }
    folder.write("slh-dsa-root.pem", &chain[1]);
    let verify = "cert verify slh-dsa.pem --roots slh-dsa-root.pem --at 2026-11-25T13:30:00Z --json";
    let report = folder.run(verify).exits(1).json();
    assert_eq!((&report["reason"], &report["subject"]), (&"key".into(), &"CN=Root".into()), "{report}");
    let detail = report["detail"].as_str().unwrap();
    assert!(detail.contains("HashSLH-DSA-SHA2-128s") && detail.contains("not supported"), "{detail}");
}

#[test]
fn the_certificates_of_rfc_9802_are_shown_and_verified() {
    let folder = with_chain();
    for (name, file, at) in [
        ("HSS", include_str!("../../../pki/tests/data/HSS.pem"), "2026-11-25T13:30:00Z"),
        ("XMSS", include_str!("../../../pki/tests/data/XMSS.pem"), "2024-07-09T00:00:00Z"),
        ("XMSSMT", include_str!("../../../pki/tests/data/XMSSMT.pem"), "2024-07-09T00:00:00Z"),
    ] {
        folder.write("c.pem", file);
        let shown = folder.run("cert show c.pem --json").exits(0).json();
        assert_eq!((&shown["alg"], &shown["signatureAlg"]), (&name.into(), &name.into()));
        let verify = format!("cert verify c.pem --roots c.pem --at {at}");
        folder.run(&verify).exits(0);
        folder.run(&verify.replace("--roots c.pem", "--roots pki/root.pem")).exits(1);
    }
}

#[test]
fn a_request_is_signed_and_its_certificate_verified() {
    let folder = with_chain();
    folder.run("key gen --alg ml-dsa-65 -o client.key -p client.pub").exits(0);
    folder.run("cert csr -k client.key --name did:web:example.com --purpose client -o client.csr").exits(0);
    let request = folder.run("cert show client.csr --json").exits(0).json();
    assert_eq!(request["type"], "request");
    assert_eq!(request["subject"], "CN=did:web:example.com");
    assert_eq!(request["alg"], "ML-DSA-65");
    assert_eq!(request["names"][0], "did:web:example.com");
    assert_eq!(request["purposes"][0], "clientAuth");
    let sign = "cert sign client.csr --issuer pki/authority.pem -k pki/authority.key -o client.pem";
    folder.run(sign).exits(0);
    let verify = "cert verify client.pem --roots pki/root.pem --others pki/authority.pem";
    folder.run(&format!("{verify} --purpose client --name did:web:example.com")).exits(0);
    let report = folder.run(&format!("{verify} --purpose server --json")).exits(1).json();
    assert_eq!(report["reason"], "purpose");

    // What the authority says stands before what was asked for.
    folder.run(&format!("{sign} --force --name example.net --purpose server")).exits(0);
    folder.run(&format!("{verify} --purpose server --name example.net")).exits(0);
    let report = folder.run(&format!("{verify} --name did:web:example.com --json")).exits(1).json();
    assert_eq!(report["reason"], "name");

    // A request that was changed is none; another's key does not sign; a server is no authority.
    let der = folder.read("client.csr");
    let text = String::from_utf8(der).unwrap();
    let place = text.len() / 2;
    let other = if text.as_bytes()[place] == b'A' { "B" } else { "A" };
    folder.write("forged.csr", [&text[..place], other, &text[place + 1..]].concat());
    let forged = "cert sign forged.csr --issuer pki/authority.pem -k pki/authority.key -o no.pem";
    folder.run(forged).exits(3).tells("forged.csr");
    folder.run("cert sign client.csr --issuer pki/authority.pem -k pki/root.key -o no.pem").exits(2);
    let by_server = "cert sign client.csr --issuer pki/server.pem -k pki/server.key -o no.pem";
    folder.run(by_server).exits(2).tells("not that of an authority");
    folder.run("cert sign --issuer pki/root.pem -k pki/root.key -o no.pem").exits(2);
    assert!(!folder.exists("no.pem"));
}

#[test]
fn an_authority_is_made_only_when_its_issuer_says_so() {
    let folder = with_chain();
    folder.run("key gen --alg mldsa65-ed25519 -o more.key -p more.pub").exits(0);
    folder.run("cert csr -k more.key --subject CN=More -o more.csr").exits(0);
    let by = |issuer: &str| {
        format!("cert sign more.csr --issuer pki/{issuer}.pem -k pki/{issuer}.key -o {issuer}.out")
    };
    // The authority of the chain has a path length of zero.
    folder.run(&format!("{} --authority", by("authority"))).exits(2).tells("path length");
    folder.run(&format!("{} --authority --path-length 0 --days 5", by("root"))).exits(0);
    let shown = folder.run("cert show root.out --json").exits(0).json();
    assert_eq!((&shown["authority"], &shown["pathLength"]), (&true.into(), &0.into()));
    assert_eq!(shown["keyUsage"][0], "keyCertSign");
}

#[test]
fn keys_that_cannot_sign_requests_get_certificates_too() {
    let folder = with_chain();
    let mut ran = 0;
    for algorithm in RECEIVERS {
        folder.run(&format!("key gen --alg {algorithm} -o kem.key -p kem.pub --force")).exits(0);
        folder.run("cert csr -k kem.key --name example.com -o no.csr").exits(2).tells("does not sign");
        let sign =
            "cert sign --public kem.pub --subject CN=Mail --issuer pki/authority.pem -k pki/authority.key";
        folder.run(&format!("{sign} -o kem.pem --force")).exits(0);
        let shown = folder.run("cert show kem.pem --json").exits(0).json();
        assert_eq!(shown["keyUsage"][0], "keyEncipherment");
        assert!(shown["alg"].as_str().unwrap().to_lowercase().starts_with(algorithm));
        folder.run("cert verify kem.pem --roots pki/root.pem --others pki/authority.pem").exits(0);
        ran += 1;
    }
    assert_eq!(ran, 8);
}

#[test]
fn what_does_not_lead_to_a_root_is_told_with_a_reason() {
    let folder = with_chain();
    folder.run("cert new --levels 3 --alg ed25519 -o other").exits(0);
    let refused = |arguments: &str, reason: &str| {
        let report = folder.run(&format!("cert verify {arguments} --json")).exits(1).json();
        assert_eq!(report["verified"], false);
        assert_eq!(report["reason"], reason, "{arguments}");
    };
    refused("pki/server.pem --roots other/root.pem", "signature");
    refused("pki/server.pem --roots pki/root.pem --name example.org", "name");
    refused("pki/server.pem --roots pki/root.pem --at 2020-01-01T00:00:00Z", "not-yet-valid");
    refused("pki/server.pem --roots pki/root.pem --at 2060-01-01T00:00:00Z", "expired");
    refused("pki/server.pem --roots pki/root.pem --purpose email", "purpose");
    refused("pki/server.pem --roots pki/root.pem --require-crl", "no-revocation-list");
    // Truncated: the server's certificate alone.
    let pem = String::from_utf8(folder.read("pki/server.pem")).unwrap();
    let end = pem.find("-----END CERTIFICATE-----").unwrap() + 26;
    folder.write("leaf.pem", &pem[..end]);
    refused("leaf.pem --roots pki/root.pem", "unknown-issuer");
    folder.run("cert verify leaf.pem --roots pki/root.pem --others pki/authority.pem").exits(0);
    let report = folder.run("cert verify leaf.pem --roots pki/root.pem").exits(1);
    assert!(report.text().contains("NOT VERIFIED") && report.text().contains("gambeson Authority"));
    // Files of something else.
    folder.run("cert verify pki/root.key --roots pki/root.pem").exits(3).tells("no certificate");
    folder.write("noise", program::noise(500));
    folder.run("cert show noise").exits(3);
    folder.run("cert show missing").exits(3);
}

#[test]
fn what_is_revoked_stays_revoked() {
    let folder = with_chain();
    let crl = "cert crl --issuer pki/authority.pem -k pki/authority.key";
    folder.run(&format!("{crl} -o one.crl")).exits(0);
    let verify = "cert verify pki/server.pem --roots pki/root.pem";
    folder.run(&format!("{verify} --crl one.crl")).exits(0);
    // The authority itself has no list: its issuer is the root.
    folder.run("cert crl --issuer pki/root.pem -k pki/root.key -o root.crl").exits(0);
    let report = folder.run(&format!("{verify} --crl one.crl --require-crl --json")).exits(1).json();
    assert_eq!(
        (&report["reason"], &report["subject"]),
        (&"no-revocation-list".into(), &"CN=gambeson Authority".into())
    );
    folder.run(&format!("{verify} --crl one.crl --crl root.crl --require-crl")).exits(0);
    // A list that is looked up for nothing.
    let unused = folder.run("cert verify pki/root.pem --roots pki/root.pem --crl one.crl").exits(3);
    unused.tells(
        "one.crl: the revocation list of CN=gambeson Authority applies to no certificate of this chain",
    );

    let revoke = "--revoke pki/server.pem --reason key-compromise --previous one.crl -o two.crl";
    let report = folder.run(&format!("{crl} {revoke} --json")).exits(0).json();
    assert_eq!((&report["number"], &report["revokedEntries"]), (&"02".into(), &1.into()));
    let report = folder.run(&format!("{verify} --crl two.crl --json")).exits(1).json();
    assert_eq!(report["reason"], "revoked");
    folder.run(&format!("{crl} --previous two.crl -o three.crl")).exits(0);
    let shown = folder.run("cert show three.crl --json").exits(0).json();
    assert_eq!(shown["number"], "03");
    assert_eq!(shown["revoked"][0]["reason"], "keyCompromise");
    let report =
        folder.run(&format!("{verify} --crl three.crl --at 2060-01-01T00:00:00Z --json")).exits(1).json();
    assert_eq!(report["reason"], "expired");

    // Another issuer's certificate, another issuer's list.
    folder.run(&format!("{crl} --revoke pki/authority.pem -o no.crl")).exits(2).tells("not issued by");
    let forged = folder.run(&format!("{crl} --previous root.crl -o no.crl")).exits(1);
    assert!(forged.stderr.contains("is not a revocation list of"));
    folder.run(&format!("{crl} --previous one.crl -o one.crl")).exits(3).tells("exists");
}

/// The applicant asks, and the authority decides knowing what it signs.
#[test]
fn a_request_is_shown_before_it_is_signed_and_unusual_purposes_are_named() {
    let folder = with_chain();
    folder.run("key gen --alg ed25519 -o k").exits(0);
    let sign = "--issuer pki/authority.pem -k pki/authority.key --force -o signed.pem";
    folder.run("cert csr -k k --subject CN=Applicant --name bank.example --purpose client -o r").exits(0);
    let told = folder.run(&format!("cert sign r {sign}")).exits(0);
    for line in ["CN=Applicant", "bank.example", "clientAuth"] {
        assert!(told.stderr.contains(line), "{line}: {}", told.stderr);
    }
    for (purpose, name) in [
        ("code-signing", "codeSigning"),
        ("email", "emailProtection"),
        ("time-stamping", "timeStamping"),
        ("ocsp-signing", "OCSPSigning"),
    ] {
        // Time stamps have no purpose beside theirs.
        let beside = if purpose == "time-stamping" { "" } else { "--purpose server" };
        let asked = format!("cert csr -k k --subject CN=A {beside} --purpose {purpose} --force -o r");
        folder.run(&asked).exits(0);
        folder.write("signed.pem", "");
        let refused = folder.run(&format!("cert sign r {sign}")).exits(2);
        refused.tells(name).tells(&format!("--purpose {purpose}"));
        assert!(folder.read("signed.pem").is_empty());
        folder.run(&format!("cert sign r --purpose {purpose} {sign}")).exits(0);
        let shown = folder.run("cert show signed.pem").exits(0);
        assert!(shown.text().contains(name) && !shown.text().contains("serverAuth"), "{}", shown.text());
    }
}

/// The path length of an authority is that of the request, or shorter.
#[test]
fn the_path_length_of_a_request_is_kept_or_said() {
    use gambeson_pki::{PrivateKey, Request, Template};

    let folder = Folder::new();
    folder.run("cert new --levels 2 --alg ed25519 -o pki").exits(0);
    let key = PrivateKey::generate(gambeson_pki::Algorithm::Ed25519).unwrap();
    let asks = Template::authority("CN=Below".parse().unwrap());
    folder.write("r.csr", Request::new(&asks.clone().path_length(0), &key).unwrap().to_pem());
    folder.write("any.csr", Request::new(&asks, &key).unwrap().to_pem());
    let shown = folder.run("cert show r.csr").exits(0);
    assert!(shown.text().contains("(CA:TRUE): may issue end certificates only"), "{}", shown.text());
    assert_eq!(folder.run("cert show r.csr --json").exits(0).json()["pathLength"], 0);
    let root = gambeson_pki::Certificate::read(&folder.read("pki/root.pem")).unwrap();
    let root_key = PrivateKey::read(&folder.read("pki/root.key"), None).unwrap();
    let root = Template::authority(root.subject()).self_signed(&root_key).unwrap();
    folder.write("root.pem", root.to_pem());
    let sign = |more: &str| {
        folder.run(&format!(
            "cert sign --issuer root.pem -k pki/root.key --authority --force -o out {more} --json"
        ))
    };
    let kept = sign("r.csr").exits(0).json();
    assert_eq!((&kept["pathLength"], &kept["leftOut"]), (&0.into(), &serde_json::json!([])));
    assert_eq!(sign("any.csr").exits(0).json()["pathLength"], serde_json::Value::Null);
    let more = sign("r.csr --path-length 3").exits(0).json();
    assert_eq!((&more["pathLength"], &more["leftOut"]), (&3.into(), &serde_json::json!(["path length 0"])));
    assert_eq!(sign("any.csr --path-length 2").exits(0).json()["pathLength"], 2);
    let told =
        folder.run("cert sign r.csr --issuer root.pem -k pki/root.key --authority --force -o out").exits(0);
    assert!(told.stderr.contains("AN AUTHORITY: may issue end certificates only"), "{}", told.stderr);
}

/// One name reads as one.
#[test]
fn names_with_commas_and_spaces_stand_between_quotation_marks() {
    let folder = Folder::new();
    let key = gambeson_pki::PrivateKey::generate(gambeson_pki::Algorithm::Ed25519).unwrap();
    let subject = "CN=Two \\<- CN\\=Trusted Root".parse().unwrap();
    let template = gambeson_pki::Template::new(subject).alt_name("https://u.com/,bank.com".parse().unwrap());
    let template = template.alt_name("plain.example".parse().unwrap());
    folder.write("one.pem", template.self_signed(&key).unwrap().to_pem());
    folder.write("one.csr", gambeson_pki::Request::new(&template, &key).unwrap().to_pem());
    for file in ["one.pem", "one.csr"] {
        let shown = folder.run(&format!("cert show {file}")).exits(0);
        let line = "  names        \"https://u.com/,bank.com\", plain.example";
        assert!(shown.text().lines().any(|found| found == line), "{}", shown.text());
    }
    let verified = folder.run("cert verify one.pem --roots one.pem").exits(0);
    assert!(verified.text().starts_with("verified: \""), "{}", verified.text());
}

/// RFC 3161, section 2.3.
#[test]
fn certificates_for_time_stamps_have_no_other_purpose() {
    let folder = Folder::new();
    folder.run("cert new --levels 2 --alg ed25519 -o pki").exits(0);
    folder.run("key gen --alg ed25519 -o k").exits(0);
    let csr = "cert csr -k k --subject CN=Stamps --force -o r";
    folder.run(&format!("{csr} --purpose time-stamping --purpose code-signing")).exits(2).tells("RFC 3161");
    folder.run(&format!("{csr} --purpose time-stamping")).exits(0);
    let sign =
        "cert sign r --issuer pki/root.pem -k pki/root.key --force -o stamps.pem --purpose time-stamping";
    folder.run(&format!("{sign} --purpose server")).exits(2).tells("RFC 3161");
    folder.run(sign).exits(0);
    let verify = "cert verify stamps.pem --roots pki/root.pem --purpose";
    folder.run(&format!("{verify} time-stamping")).exits(0);
    for other in ["code-signing", "email", "ocsp-signing", "server", "client"] {
        assert_eq!(folder.run(&format!("{verify} {other} --json")).exits(1).json()["reason"], "purpose");
    }
}

#[test]
fn text_of_strangers_leaves_json_json() {
    let folder = Folder::new();
    folder.run("key gen --alg ed25519 -o k").exits(0);
    let name = "a\u{200f}b\u{202e}c\u{2066}\u{9b}d";
    folder.run(&format!("cert csr -k k --subject CN={name} -o request")).exits(0);
    let shown = folder.run("cert show request --json").exits(0);
    assert_eq!(shown.json()["subject"], format!("CN={name}"));
    assert!(shown.text().contains("a\\u200fb\\u202ec\\u2066\\u009bd"), "{}", shown.text());
    let refused = folder.run(&format!("cert show {name} --json")).exits(3);
    assert!(refused.json()["detail"].as_str().unwrap().contains(name));
}

#[test]
fn names_of_any_kind_go_into_a_certificate() {
    let folder = Folder::new();
    let mut command = folder.command();
    command.args(["cert", "new", "--alg", "ecdsa-p256", "-o", "one", "--days", "1"]);
    command.args(["--subject", "CN=A Server,O=Quilted\\, Inc.,C=NL", "--name", "*.example.com"]);
    finish(command, b"").exits(0);
    let shown = folder.run("cert show one/server.pem --json").exits(0).json();
    assert_eq!(shown["subject"], "CN=A Server,O=Quilted\\, Inc.,C=NL");
    assert_eq!(shown["signatureAlg"], "ECDSA with SHA-256");
    folder.run("cert verify one/server.pem --roots one/server.pem --name www.example.com").exits(0);
    folder.run("cert verify one/server.pem --roots one/server.pem --name example.com").exits(1);
    for wrong in
        ["cert new -o two --subject Server", "cert new -o two --name a..b", "cert new -o two --days 0"]
    {
        folder.run(wrong).exits(2);
    }
    assert!(!folder.exists("two"));
    let text = folder.run("cert show one/server.pem").exits(0);
    assert!(text.text().contains("names        *.example.com"), "{}", text.text());
}

#[test]
fn passphrases_open_the_keys_of_authorities() {
    let folder = Folder::new();
    let secret = [("GAMBESON_PASSPHRASE", "correct horse")];
    folder.run_with("key gen --alg ed448 -o k.key --encrypt", b"", &secret).exits(0);
    folder.run_with("cert csr -k k.key --name example.com -o k.csr", b"", &secret).exits(0);
    let wrong = [("GAMBESON_PASSPHRASE", "wrong")];
    folder.run_with("cert csr -k k.key --name example.com -o no.csr", b"", &wrong).exits(1);
    let request = folder.run_with("cert csr -k k.key --name example.com", b"", &secret).exits(0);
    assert!(request.text().starts_with("-----BEGIN CERTIFICATE REQUEST-----"));
}

#[test]
fn a_key_and_its_chain_go_into_one_file() {
    let folder = with_chain();
    let secret = [("GAMBESON_PASSPHRASE", "correct horse")];
    let pkcs12 = "cert pkcs12 pki/server.pem -k pki/server.key --others pki/root.pem";
    let report = folder.run_with(&format!("{pkcs12} -o one.p12 --json"), b"", &secret).exits(0).json();
    assert_eq!((&report["length"], &report["alg"]), (&3.into(), &"Ed25519".into()));
    assert_eq!(report["name"], "CN=example.com");
    assert_eq!(folder.read("one.p12")[0], 0x30);
    #[cfg(unix)]
    assert_eq!(folder.mode("one.p12"), 0o600);
    folder.run_with(&format!("{pkcs12} -o one.p12"), b"", &secret).exits(3).tells("exists");

    // A passphrase that opens the key protects the file too; a wrong one does not open the key.
    folder.run_with("key convert pki/server.key -o locked.key --encrypt", b"", &secret).exits(0);
    let locked = "cert pkcs12 pki/server.pem -k locked.key --name server";
    let report = folder.run_with(&format!("{locked} -o two.p12 --json"), b"", &secret).exits(0).json();
    assert_eq!((&report["name"], &report["length"]), (&"server".into(), &2.into()));
    folder.run_with(&format!("{locked} -o no.p12"), b"", &[("GAMBESON_PASSPHRASE", "wrong")]).exits(1);

    let refused = |arguments: &str, passphrase: &str, words: &str| {
        let secret = [("GAMBESON_PASSPHRASE", passphrase)];
        folder.run_with(&format!("cert pkcs12 {arguments} -o no.p12"), b"", &secret).exits(2).tells(words);
    };
    refused("pki/server.pem -k pki/root.key", "correct horse", "not that of the certificate");
    refused("pki/server.pem -k pki/server.key --form both --name \u{1f40e}", "correct horse", "cannot hold");
    refused("pki/server.pem -k pki/server.key", "", "empty passphrase");
    assert!(!folder.exists("no.p12"));
}

#[test]
fn a_request_without_purposes_gets_those_of_tls() {
    if !has_program("openssl", &["version"]) {
        return;
    }
    let folder = with_chain();
    let mut openssl = Command::new("openssl");
    openssl
        .args(["req", "-new", "-newkey", "ed25519", "-nodes", "-keyout", "k", "-subj", "/CN=a", "-out", "r"]);
    assert!(openssl.current_dir(folder.path(".")).output().unwrap().status.success());
    folder
        .run("cert sign r --issuer pki/authority.pem --key pki/authority.key -o signed.pem")
        .exits(0)
        .tells("serverAuth");
    let signed = folder.run("cert show signed.pem --json").exits(0).json();
    assert_eq!(signed["purposes"], serde_json::json!(["serverAuth", "clientAuth"]), "{signed}");
}

#[test]
fn keys_of_authorities_are_encrypted_where_that_is_asked_for_and_said_where_not() {
    let folder = Folder::new();
    let plain = folder.run("cert new --alg ml-dsa-44 --levels 3 -o plain").exits(0);
    assert!(plain.text().contains("root.key and authority.key have no passphrase"), "{}", plain.text());
    let passphrase = [("GAMBESON_PASSPHRASE", "six words that nobody else knows")];
    let made =
        folder.run_with("cert new --alg ml-dsa-44 --levels 3 --encrypt -o pki --json", b"", &passphrase);
    assert_eq!(made.exits(0).json()["encryptedKeys"], serde_json::json!(["root.key", "authority.key"]));
    let told = folder.run_with("cert new --alg ml-dsa-44 --encrypt -o told", b"", &passphrase).exits(0);
    assert!(
        told.text().contains("server.key has no passphrase, so that servers can read it"),
        "{}",
        told.text()
    );
    for name in ["root", "authority"] {
        assert!(folder.read(&format!("pki/{name}.key")).starts_with(b"-----BEGIN ENCRYPTED"));
    }
    assert!(folder.read("pki/server.key").starts_with(b"-----BEGIN PRIVATE"));
    folder.run("key gen --alg ml-dsa-44 -o k -p k.pub").exits(0);
    let sign = "cert sign --public k.pub --subject CN=x --issuer pki/root.pem -k pki/root.key";
    folder.run_with(sign, b"", &passphrase).exits(0);
    folder.run(sign).exits(2);
}

#[test]
fn a_request_without_a_name_is_nobodys() {
    let folder = Folder::new();
    folder.run("key gen --alg ml-dsa-44 -o k").exits(0);
    folder.run("cert csr -k k -o r.csr").exits(2).tells("--name").tells("--subject");
    assert!(!folder.exists("r.csr"));
}

#[test]
fn a_verified_chain_says_how_old_the_lists_are() {
    let folder = with_chain();
    let crl = "cert crl --issuer pki/authority.pem -k pki/authority.key -o pki/authority.crl";
    folder.run(crl).exits(0);
    let made = folder.run("cert show pki/authority.crl --json").exits(0).json()["thisUpdate"].clone();
    let line = "cert verify pki/server.pem --roots pki/root.pem";
    let told = folder.run(&format!("{line} --crl pki/authority.crl --json")).exits(0).json();
    assert_eq!(told["revocationAsOf"], made, "{told}");
    let text = folder.run(&format!("{line} --crl pki/authority.crl")).exits(0);
    assert!(
        text.text().contains(&format!("not revoked as of the list of {}", made.as_str().unwrap())),
        "{}",
        text.text()
    );
    let told = folder.run(&format!("{line} --json")).exits(0).json();
    assert!(told["revocationAsOf"].is_null(), "{told}");
    let text = folder.run(line).exits(0);
    assert!(text.text().contains("revocation NOT checked"), "{}", text.text());
}

#[test]
fn a_root_that_another_authority_issued_is_told() {
    let folder = with_chain();
    let told = "warning: pki/authority.pem: CN=gambeson Authority is no root (CN=gambeson Root issued it); it is trusted as one";
    folder.run("cert verify pki/server.pem --roots pki/authority.pem").exits(0).tells(told);
    let report = folder.run("cert verify pki/server.pem --roots pki/root.pem").exits(0);
    assert_eq!(report.stderr, "");
}

#[test]
fn an_unknown_issuer_and_a_chain_in_another_order_say_what_to_do() {
    let folder = with_chain();
    let chain = String::from_utf8(folder.read("pki/server.pem")).unwrap();
    let (server, authority) = chain.split_at(chain.rfind("-----BEGIN").unwrap());
    folder.write("server.pem", server);
    folder.write("turned.pem", format!("{authority}{server}"));
    let refused = folder.run("cert verify server.pem --roots pki/root.pem").exits(1);
    assert!(
        refused.text().contains("is not known (unknown-issuer); --others names certificates"),
        "{}",
        refused.text()
    );
    let order = "turned.pem begins with the certificate of an authority, CN=gambeson Authority: put that of its holder first";
    let refused = folder.run("cert verify turned.pem --roots pki/root.pem --name example.com").exits(1);
    assert!(refused.text().contains(order), "{}", refused.text());
    folder.run("tls serve --cert turned.pem --key pki/server.key --listen 127.0.0.1:0").exits(3).tells(order);
}
