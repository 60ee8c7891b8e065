//! `openssl genpkey`, `req`, `x509`, `verify`, `pkey`, `pkcs12`, `dgst` with the keys of the provider, against `gambeson-pki`.

use crate::host::{Host, SIGNATURES, are_there};
use gambeson_pki::{
    Algorithm, Certificate, Encryption, Form, PrivateKey, PublicKey, Purpose, Request, Template, Verifier,
};

/// Signatures, ML-KEM and composite KEMs: all whose keys have a form in files.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    let classical = [Algorithm::Ed25519, Algorithm::Ed448, Algorithm::EcdsaP256, Algorithm::EcdsaP384];
    // The provider has no stateful signatures.
    Algorithm::ALL.iter().copied().filter(move |it| !classical.contains(it) && !it.is_stateful())
}

#[test]
fn the_provider_is_active_and_lists_its_algorithms() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    let providers = host.openssl(&["list", "-providers"]);
    assert!(
        providers.contains("gambeson: post-quantum") && providers.contains("status: active"),
        "{providers}"
    );
    let ours = |what: &str| {
        let list = host.openssl(&["list", what]);
        list.lines().filter(|line| line.contains("@ gambeson")).map(str::to_owned).collect::<Vec<_>>()
    };
    let (kems, signatures) = (ours("-kem-algorithms"), ours("-signature-algorithms"));
    assert_eq!(kems.len(), 13, "five groups, three of ML-KEM, five composites: {kems:#?}");
    assert_eq!(signatures.len(), SIGNATURES.len(), "{signatures:#?}");
    for name in SIGNATURES {
        assert!(signatures.iter().any(|line| line.contains(name)), "{name}");
    }
}

/// PKCS#8 with the seed of ML-KEM or ML-DSA alone, without tag and length, as liboqs wrote it.
fn with_bare_seed(key: &PrivateKey) -> Option<Vec<u8>> {
    let seed = key.seed().filter(|_| key.algorithm().has_forms())?;
    let mut der = key.to_pkcs8_der(Form::Seed).expect("a file").to_vec();
    let tag = der.len() - seed.len() - 2;
    der.drain(tag..tag + 2);
    // The lengths of the SEQUENCE and of the OCTET STRING, each of one byte.
    for length in [1, tag - 1] {
        der[length] -= 2;
    }
    Some(der)
}

#[test]
fn keys_of_either_side_are_read_by_the_other() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    let mut count = 0;
    for algorithm in algorithms() {
        let ours = PrivateKey::generate(algorithm).expect("a key");
        host.write("ours.pub", ours.public_key().to_spki_pem());
        for form in [Form::Seed, Form::Expanded, Form::Both] {
            host.write("ours.pem", ours.to_pkcs8_pem(form).expect("a file").as_bytes());
            host.openssl(&["pkey", "-in", "ours.pem", "-pubout", "-out", "again.pub"]);
            assert_eq!(host.read("again.pub"), host.read("ours.pub"), "{algorithm} {form:?}");
        }
        if let Some(bare) = with_bare_seed(&ours) {
            host.write("bare.der", bare);
            host.openssl(&["pkey", "-inform", "DER", "-in", "bare.der", "-pubout", "-out", "again.pub"]);
            assert_eq!(host.read("again.pub"), host.read("ours.pub"), "{algorithm}, the bare seed");
        }
        host.write("ours.pem", ours.to_pkcs8_pem(Form::Seed).expect("a file").as_bytes());
        host.openssl(&["pkey", "-in", "ours.pem", "-check", "-out", "again.pem"]);
        let again = String::from_utf8(host.read("again.pem")).expect("text");
        assert!(again.ends_with(&*ours.to_pkcs8_pem(Form::Seed).expect("a file")), "{again}");
        host.openssl(&["pkey", "-in", "ours.pem", "-outform", "DER", "-out", "ours.der"]);
        assert_eq!(host.read("ours.der"), *ours.to_pkcs8_der(Form::Seed).expect("a file"));
        host.openssl(&["pkey", "-pubin", "-in", "ours.pub", "-outform", "DER", "-out", "again.der"]);
        assert_eq!(host.read("again.der"), ours.public_key().to_spki_der());
        let encrypted = ours.to_encrypted_pkcs8_pem(Form::Seed, b"correct horse", Encryption::Scrypt);
        host.write("ours.enc", encrypted.expect("a file"));
        host.openssl(&["pkey", "-in", "ours.enc", "-passin", "pass:correct horse", "-out", "again.pem"]);
        assert_eq!(host.read("again.pem"), ours.to_pkcs8_pem(Form::Seed).expect("a file").as_bytes());

        host.openssl(&[
            "genpkey",
            "-algorithm",
            algorithm.name(),
            "-aes256",
            "-pass",
            "pass:x",
            "-out",
            "its.enc",
        ]);
        let its = PrivateKey::read(&host.read("its.enc"), Some(b"x")).expect("its key");
        assert_eq!(its.algorithm(), algorithm);
        let public = ["pkey", "-in", "its.enc", "-passin", "pass:x", "-pubout", "-out", "its.pub"];
        host.openssl(&public);
        assert_eq!(PublicKey::read(&host.read("its.pub")).expect("its public key"), its.public_key());
        // The core encrypts by itself here.
        let topk8 = [
            "pkcs8", "-topk8", "-in", "its.enc", "-passin", "pass:x", "-passout", "pass:y", "-out", "two.enc",
        ];
        host.openssl(&topk8);
        let two = PrivateKey::read(&host.read("two.enc"), Some(b"y")).expect("its key again");
        assert_eq!(two.public_key(), its.public_key());
        count += 1;
    }
    assert_eq!(count, 30, "every algorithm whose keys have a form");
}

#[test]
fn texts_name_the_algorithm_and_show_the_seed_of_private_keys_alone() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    let seed = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let option = format!("hexseed:{seed}");
    host.openssl(&["genpkey", "-algorithm", "ML-DSA-65", "-pkeyopt", &option, "-out", "key.pem"]);
    let bytes: Vec<u8> = (0..32).collect();
    let ours = PrivateKey::from_seed(Algorithm::MlDsa65, &bytes).expect("a key");
    assert_eq!(host.read("key.pem"), ours.to_pkcs8_pem(Form::Seed).expect("a file").as_bytes());
    let text = host.openssl(&["pkey", "-in", "key.pem", "-noout", "-text"]);
    assert!(text.starts_with("ML-DSA-65 Private-Key:\nseed:\n    00:01:02:"), "{text}");
    assert!(text.contains("    1e:1f\npub:\n"), "{text}");
    let text = host.openssl(&["pkey", "-in", "key.pem", "-noout", "-text_pub"]);
    assert!(text.starts_with("ML-DSA-65 Public-Key:\npub:\n") && !text.contains("seed"), "{text}");
}

#[test]
fn openssl_verifies_our_chains() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    for algorithm in algorithms().filter(|algorithm| algorithm.signs()) {
        let generate = || PrivateKey::generate(algorithm).expect("a key");
        let (root_key, middle_key, key) = (generate(), generate(), generate());
        let name = |name: &str| name.parse().expect("a name");
        let root =
            Template::authority(name("CN=Root")).path_length(1).self_signed(&root_key).expect("a root");
        let middle = Template::authority(name("CN=Middle"))
            .path_length(0)
            .issue(&middle_key.public_key(), &root, &root_key)
            .expect("an authority");
        let leaf = Template::new(name("CN=Leaf")).alt_name("example.com".parse().expect("a name"));
        let leaf = leaf.purpose(Purpose::ServerAuth);
        host.write("request.pem", Request::new(&leaf, &key).expect("a request").to_pem());
        let leaf = leaf.issue(&key.public_key(), &middle, &middle_key).expect("a certificate");
        for (file, certificate) in [("root.pem", &root), ("middle.pem", &middle), ("leaf.pem", &leaf)] {
            host.write(file, certificate.to_pem());
        }
        host.openssl(&["req", "-in", "request.pem", "-noout", "-verify"]);
        let verify = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "root.pem"];
        let with = |more: &[&'static str]| [&verify[..], more].concat();
        host.openssl(&with(&["-untrusted", "middle.pem", "-verify_hostname", "example.com", "leaf.pem"]));
        host.refuses(&with(&["leaf.pem"]), "unable to get local issuer certificate");
        let mut forged = leaf.as_der().to_vec();
        *forged.last_mut().expect("a signature") ^= 1;
        host.write("forged.der", forged);
        host.openssl(&["x509", "-inform", "DER", "-in", "forged.der", "-out", "forged.pem"]);
        host.refuses(&with(&["-untrusted", "middle.pem", "forged.pem"]), "certificate signature failure");
        let shown = host.openssl(&["x509", "-in", "leaf.pem", "-noout", "-text"]);
        assert!(shown.contains(&format!("Signature Algorithm: {algorithm}")), "{shown}");
        assert!(shown.contains(&format!("Public Key Algorithm: {algorithm}")), "{shown}");
    }
}

#[test]
fn we_verify_chains_and_requests_that_openssl_makes() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    let authority =
        ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"];
    let name = "subjectAltName=DNS:example.com";
    for algorithm in SIGNATURES {
        // Without a cipher named it asks for 3DES, and needs a passphrase.
        let root = ["req", "-x509", "-newkey", algorithm, "-passout", "pass:x", "-keyout", "root.key"];
        host.openssl(&[&root[..], &authority, &["-subj", "/CN=Root", "-out", "root.pem"]].concat());
        let request =
            ["req", "-new", "-newkey", algorithm, "-nodes", "-keyout", "leaf.key", "-subj", "/CN=Leaf"];
        host.openssl(&[&request[..], &["-addext", name, "-out", "leaf.csr"]].concat());
        let sign =
            ["x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key", "-passin", "pass:x"];
        host.openssl(&[&sign[..], &["-copy_extensions", "copyall", "-out", "leaf.pem"]].concat());
        let request = Request::read(&host.read("leaf.csr")).expect("its request");
        assert_eq!(request.public_key().algorithm().name(), algorithm);
        let read = |file: &str| Certificate::read(&host.read(file)).expect("its certificate");
        let (roots, leaf) = ([read("root.pem")], read("leaf.pem"));
        let verifier = Verifier::new(&roots).name("example.com".parse().expect("a name"));
        assert_eq!(verifier.verify(&leaf, &[]).expect("its chain").len(), 2);
        // A root of the same name, with another key.
        let other = PrivateKey::generate(algorithm.parse().expect("an algorithm")).expect("a key");
        let other = Template::authority("CN=Root".parse().expect("a name")).self_signed(&other);
        assert!(Verifier::new(&[other.expect("a root")]).verify(&leaf, &[]).is_err(), "{algorithm}");
        assert!(PrivateKey::read(&host.read("root.key"), Some(b"x")).is_ok(), "{algorithm}");
    }
}

#[test]
fn pkcs12_takes_keys_and_gives_them_back() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    for algorithm in ["ML-DSA-65", "SLH-DSA-SHA2-128f", "MLDSA87-Ed448-SHAKE256", "MLDSA44-ECDSA-P256-SHA256"]
    {
        let new = [
            "req", "-x509", "-newkey", algorithm, "-nodes", "-keyout", "a.key", "-subj", "/CN=A", "-out",
            "a.pem",
        ];
        host.openssl(&new);
        host.openssl(&[
            "pkcs12", "-export", "-inkey", "a.key", "-in", "a.pem", "-passout", "pass:x", "-out", "a.p12",
        ]);
        host.openssl(&["pkcs12", "-in", "a.p12", "-passin", "pass:x", "-nodes", "-nocerts", "-out", "b.key"]);
        host.openssl(&["pkey", "-in", "b.key", "-out", "d.key"]);
        assert_eq!(host.read("d.key"), host.read("a.key"), "{algorithm}");
        host.openssl(&["pkcs12", "-in", "a.p12", "-passin", "pass:x", "-passout", "pass:y", "-out", "c.pem"]);
        host.openssl(&["pkey", "-in", "c.pem", "-passin", "pass:y", "-out", "c.key"]);
        assert_eq!(host.read("c.key"), host.read("a.key"), "{algorithm}");
        host.refuses(&["pkcs12", "-in", "a.p12", "-passin", "pass:z", "-noout"], "invalid password");
    }
}

#[test]
fn files_are_signed_in_one_call_and_in_pieces_with_one_verdict() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    // Longer than the buffer with which `dgst` reads.
    let message: Vec<u8> = (0..100_000_u32).map(|i| i as u8).collect();
    host.write("message", &message);
    for algorithm in SIGNATURES {
        host.openssl(&["genpkey", "-algorithm", algorithm, "-out", "key.pem"]);
        host.openssl(&["pkey", "-in", "key.pem", "-pubout", "-out", "key.pub"]);
        host.openssl(&["dgst", "-sign", "key.pem", "-out", "pieces", "message"]);
        let one = ["pkeyutl", "-sign", "-rawin", "-inkey", "key.pem", "-in", "message", "-out", "one"];
        host.openssl(&one);
        let public = PublicKey::read(&host.read("key.pub")).expect("its public key");
        for signature in ["pieces", "one"] {
            public.verify(&message, &host.read(signature)).expect("its signature");
            let verify = ["dgst", "-verify", "key.pub", "-signature", signature, "message"];
            assert!(host.openssl(&verify).contains("Verified OK"));
            let mut wrong = host.read(signature);
            wrong[7] ^= 1;
            host.write("wrong", wrong);
            host.refuses(
                &["dgst", "-verify", "key.pub", "-signature", "wrong", "message"],
                "Verification failure",
            );
        }
        let ours =
            PrivateKey::read(&host.read("key.pem"), None).expect("its key").sign(&message).expect("ours");
        host.write("ours", ours);
        assert!(
            host.openssl(&["dgst", "-verify", "key.pub", "-signature", "ours", "message"]).contains("OK")
        );
    }
}

#[test]
fn mistakes_are_named_and_nothing_crashes() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    host.refuses(
        &["genpkey", "-algorithm", "ML-DSA-65", "-pkeyopt", "hexseed:00"],
        "the seed has 1 bytes, where 32 are needed",
    );
    host.refuses(
        &["genpkey", "-algorithm", "MLDSA65-Ed25519-SHA512", "-pkeyopt", "hexseed:00"],
        "no seed and no expanded key",
    );
    host.refuses(
        &["genpkey", "-algorithm", "SLH-DSA-SHAKE-192f", "-pkeyopt", "hexseed:00"],
        "the seed has 1 bytes, where 72 are needed",
    );
    host.openssl(&["genpkey", "-algorithm", "ML-DSA-65", "-out", "key.pem"]);
    host.write("message", b"message");
    host.refuses(&["dgst", "-sha256", "-sign", "key.pem", "message"], "sha256 cannot be chosen");
    host.refuses(
        &["pkey", "-in", "key.pem", "-camellia256", "-passout", "pass:x"],
        "keys are encrypted with AES-256-CBC, not CAMELLIA-256-CBC",
    );
    host.openssl(&["genpkey", "-algorithm", "ML-KEM-768", "-out", "kem.pem"]);
    host.refuses(&["dgst", "-sign", "kem.pem", "message"], "operation not supported");
    // Damaged files: a seed that does not fit the key beside it, a short one, a public key of another length.
    let key = PrivateKey::generate(Algorithm::MlDsa44).expect("a key");
    let mut both = key.to_pkcs8_der(Form::Both).expect("a file").to_vec();
    *both.last_mut().expect("a file") ^= 1;
    host.write("both.der", &both);
    // OpenSSL 3.0 drops what decoders report.
    host.refuses(&["pkey", "-inform", "DER", "-in", "both.der", "-noout"], "Could not read key");
    let mut public = key.public_key().to_spki_der();
    // One byte less: in the bit string, and in what is around it.
    public.pop();
    for at in [2, 18] {
        let len = u16::from_be_bytes([public[at], public[at + 1]]) - 1;
        public[at..at + 2].copy_from_slice(&len.to_be_bytes());
    }
    host.write("public.der", &public);
    host.refuses(&["pkey", "-pubin", "-inform", "DER", "-in", "public.der", "-noout"], "Could not read");
}
