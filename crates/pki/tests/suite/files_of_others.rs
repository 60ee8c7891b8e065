//! Files as other programs write them: PEM of every shape, old encodings, and what is wrong with the rest.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use der::{Decode, Reader, SliceReader};
use gambeson_pki::{
    Algorithm, Certificate, Encryption, Error, Form, Name, PrivateKey, PublicKey, Request, RevocationList,
    Template, Verifier,
};

fn key(algorithm: Algorithm) -> PrivateKey {
    PrivateKey::generate(algorithm).unwrap()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Tag, length, value.
fn tlv(tag: u8, values: &[&[u8]]) -> Vec<u8> {
    let value = values.concat();
    let length = match value.len() {
        length @ 0..128 => vec![length as u8],
        length @ 128..256 => vec![0x81, length as u8],
        length => vec![0x82, (length >> 8) as u8, length as u8],
    };
    [&[tag][..], &length, &value].concat()
}

/// The text of a file in every shape that RFC 7468 lets a reader take, and that OpenSSL or Python take.
fn shapes(pem: &str) -> Vec<(&'static str, Vec<u8>)> {
    let lines: Vec<&str> = pem.lines().collect();
    let (begin, end) = (lines[0], lines[lines.len() - 1]);
    let body = lines[1..lines.len() - 1].concat();
    let columns = |width: usize, separator: &str| {
        let rows: Vec<_> =
            body.as_bytes().chunks(width).map(|row| std::str::from_utf8(row).unwrap()).collect();
        format!("{begin}{separator}{}{separator}{end}{separator}", rows.join(separator))
    };
    let bytes = |text: String| text.into_bytes();
    vec![
        ("as it is", bytes(pem.to_owned())),
        ("a blank line behind", bytes(format!("{pem}\n"))),
        ("blank lines around", bytes(format!("\n \n\t\n{pem}\n\n"))),
        ("no line feed at the end", bytes(pem.trim_end().to_owned())),
        ("a byte order mark", bytes(format!("\u{feff}{pem}"))),
        ("a byte order mark after a line", bytes(format!("# a comment\n\u{feff}{pem}"))),
        ("70 columns", bytes(columns(70, "\n"))),
        ("76 columns", bytes(columns(76, "\r\n"))),
        ("one column", bytes(columns(1, "\n"))),
        ("one long line", bytes(columns(usize::MAX, "\n"))),
        ("old Macintosh line ends", bytes(columns(64, "\r"))),
        ("all in one line", bytes(format!("{begin}{body}{end}"))),
        ("trailing spaces", bytes(lines.join("  \t\n"))),
        ("indented", bytes(lines.iter().map(|line| format!("    {line}\n")).collect())),
        ("blank lines inside", bytes(lines.join("\n\n"))),
        ("form feeds", bytes(lines.join("\x0c\n\x0b"))),
        ("a comment before and behind", bytes(format!("Bag Attributes\n    x: y\n{pem}subject=/CN=x\n"))),
        ("a comment that is not UTF-8", [b"K\xfcche\n", pem.as_bytes()].concat()),
        ("a comment that begins like DER", bytes(format!("0 is a number\n{pem}"))),
        ("a BEGIN line in a comment", bytes(format!("see {begin}\n{pem}"))),
        ("another block before", bytes(format!("-----BEGIN OTHER-----\nAAAA\n-----END OTHER-----\n{pem}"))),
        ("another block, cut off", bytes(format!("-----BEGIN OTHER-----\nAAAA\n{pem}"))),
        (
            "another block that is none",
            bytes(format!("-----BEGIN OTHER-----\n*\n-----END OTHER-----\n{pem}")),
        ),
        ("headers", bytes(pem.replacen('\n', "\nComment: written elsewhere\nX: y\n\n", 1))),
    ]
}

#[test]
fn keys_certificates_requests_and_lists_are_read_in_every_shape_of_pem() {
    let private = key(Algorithm::Ed25519);
    let root = Template::authority(name("CN=Root")).self_signed(&private).unwrap();
    let request = Request::new(&Template::new(name("CN=Asks")), &private).unwrap();
    let now = SystemTime::now();
    let list = RevocationList::new(&root, &private, 1, (now, now + Duration::from_secs(60)), &[]).unwrap();
    let encrypted = private.to_encrypted_pkcs8_pem(Form::Seed, b"pass", Encryption::Pbkdf2).unwrap();
    type Reads = fn(&[u8]) -> Result<(), gambeson_pki::Error>;
    let readers: [(String, Reads); 6] = [
        (private.to_pkcs8_pem(Form::Seed).unwrap().to_string(), |file| {
            PrivateKey::read(file, None).map(drop)
        }),
        (encrypted, |file| match PrivateKey::read(file, None) {
            Err(gambeson_pki::Error::Encrypted) => Ok(()),
            other => other.map(drop),
        }),
        (private.public_key().to_spki_pem(), |file| PublicKey::read(file).map(drop)),
        (root.to_pem(), |file| Certificate::read_all(file).map(drop)),
        (request.to_pem(), |file| Request::read(file).map(drop)),
        (list.to_pem(), |file| RevocationList::read(file).map(drop)),
    ];
    let mut ran = 0;
    for (pem, read) in &readers {
        for (shape, file) in shapes(pem) {
            assert_eq!(read(&file), Ok(()), "{shape}: {}", String::from_utf8_lossy(&file));
            ran += 1;
        }
    }
    assert_eq!(ran, 6 * 24);
}

#[test]
fn text_that_is_no_pem_stays_refused() {
    let pem = key(Algorithm::Ed25519).to_pkcs8_pem(Form::Seed).unwrap();
    for (what, file) in [
        ("no END line", pem.lines().take(2).collect::<Vec<_>>().join("\n")),
        ("another END line", pem.replace("END PRIVATE", "END PUBLIC")),
        ("a letter that is none of base64", pem.replacen('M', "*", 1)),
        ("something behind the padding", pem.replacen("-----END", "====\n-----END", 1)),
        ("half of the base64", pem.replacen("MC4CAQ", "MC4CA", 1)),
        ("no dashes", pem.replace("-----", "---")),
        ("nothing inside", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n".to_owned()),
    ] {
        assert!(PrivateKey::read(file.as_bytes(), None).is_err(), "{what}");
    }
    // Many BEGIN lines cost one pass.
    let begins = "-----BEGIN PRIVATE KEY-----\n".repeat(200_000);
    let start = std::time::Instant::now();
    assert!(PrivateKey::read(begins.as_bytes(), None).is_err());
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_file_may_hold_a_key_and_a_certificate_and_not_two_keys() {
    let private = key(Algorithm::MlDsa44);
    let certificate = Template::new(name("CN=Both")).self_signed(&private).unwrap().to_pem();
    let pem = private.to_pkcs8_pem(Form::Seed).unwrap();
    for file in [format!("{}{certificate}", *pem), format!("{certificate}{}", *pem)] {
        assert_eq!(PrivateKey::read(file.as_bytes(), None).unwrap().public_key(), private.public_key());
        assert_eq!(PrivateKey::from_pkcs8_pem(&file).unwrap().public_key(), private.public_key());
        assert_eq!(Certificate::read_all(file.as_bytes()).unwrap().len(), 1);
    }
    let says =
        |error: gambeson_pki::Error, words: &str| assert!(error.to_string().contains(words), "{error}");
    let encrypted = private.to_encrypted_pkcs8_pem(Form::Seed, b"pass", Encryption::Pbkdf2).unwrap();
    for second in [&pem[..], &encrypted] {
        let two = format!("{}{second}", *pem);
        says(PrivateKey::read(two.as_bytes(), None).unwrap_err(), "two private keys");
    }
    let public = private.public_key().to_spki_pem();
    says(PublicKey::read(format!("{public}{public}").as_bytes()).unwrap_err(), "two public keys");
    let request = Request::new(&Template::new(name("CN=Asks")), &private).unwrap().to_pem();
    says(Request::read(format!("{request}{request}").as_bytes()).unwrap_err(), "two certificate requests");
    let three = format!("{request}{request}{request}");
    says(Request::read(three.as_bytes()).unwrap_err(), "3 certificate requests");
    let list = format!("{V1_LIST}{V1_LIST}");
    says(RevocationList::read(list.as_bytes()).unwrap_err(), "two revocation lists");
}

#[test]
fn old_labels_are_read() {
    let private = key(Algorithm::Ed25519);
    let request = Request::new(&Template::new(name("CN=Asks")), &private).unwrap().to_pem();
    let old = request.replace("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST");
    assert_eq!(Request::read(old.as_bytes()).unwrap().subject(), name("CN=Asks"));
    let root = Template::authority(name("CN=Root")).self_signed(&private).unwrap().to_pem();
    for label in ["X509 CERTIFICATE", "X.509 CERTIFICATE"] {
        let old = root.replace("CERTIFICATE", label);
        assert_eq!(Certificate::read(old.as_bytes()).unwrap().subject(), name("CN=Root"));
    }
}

/// From `openssl ecparam -name prime256v1 -genkey`.
const EC_WITH_PARAMETERS: &str = "-----BEGIN EC PARAMETERS-----
BggqhkjOPQMBBw==
-----END EC PARAMETERS-----
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIKJ7TbIJDeSuiwsziaVo9dlPfmZqf9I2rh2x7QLoQiCzoAoGCCqGSM49
AwEHoUQDQgAEnpzACUf4bzbRtdPDHOFTm/h4yYXw1/l3HROs+f52sPPc6UJc4o8O
4UHOA4rDEvAtJtFGOrw0deAaNORMi2YlFw==
-----END EC PRIVATE KEY-----
";

#[test]
fn a_key_of_openssl_ecparam_is_read() {
    let read = PrivateKey::read(EC_WITH_PARAMETERS.as_bytes(), None).unwrap();
    assert_eq!(read.algorithm(), Algorithm::EcdsaP256);
    assert_eq!(read.public_key().as_bytes()[..4], [4, 0x9e, 0x9c, 0xc0]);
    // The parameters before PKCS#8, as `openssl genpkey -outform PEM` of old wrote them.
    let parameters = EC_WITH_PARAMETERS.split("-----BEGIN EC PRIVATE").next().unwrap();
    let file = format!("{parameters}{}", *read.to_pkcs8_pem(Form::Seed).unwrap());
    assert_eq!(PrivateKey::read(file.as_bytes(), None).unwrap().public_key(), read.public_key());
    // P-521 and the explicit parameters of a curve are not here.
    let other = EC_WITH_PARAMETERS.replace("oAoGCCqGSM49\nAwEH", "oAoGCCqGSM49\nAwEG");
    let error = PrivateKey::read(other.as_bytes(), None).unwrap_err().to_string();
    assert!(error.contains("1.2.840.10045.3.1.6"), "{error}");
}

#[test]
fn the_old_encryption_of_pem_is_refused_by_name() {
    let old = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,EF17BE946DA9F8E018B234CFC22ABD55

MHcCAQEEIKJ7TbIJDeSuiwsziaVo9dlPfmZqf9I2rh2x7QLoQiCzoAoGCCqGSM49
-----END EC PRIVATE KEY-----
";
    for passphrase in [None, Some(&b"pass"[..])] {
        let error = PrivateKey::read(old.as_bytes(), passphrase).unwrap_err().to_string();
        assert!(error.contains("DEK-Info: AES-128-CBC") && error.contains("openssl pkcs8"), "{error}");
    }
}

#[test]
fn long_salts_are_read() {
    // PBKDF2 and scrypt of Python's hashlib, AES-256-CBC of `openssl enc`; the key is Ed25519's with the seed 07…07.
    for file in [
        "MIHVMIGQBgkqhkiG9w0BBQ0wgYIwYQYJKoZIhvcNAQUMMFQEQFpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWloCAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBAJCQkJCQkJCQkJCQkJCQkJBEAd/T9kJQYXe1vmMaH2QB8oKojx/iZ9fg8sZnOcqabUtlfz37CpJe18dWzl8xn4O9c7Zftx3pmNss/W9O6cRYKh",
        "MIHMMIGHBgkqhkiG9w0BBQ0wejBZBgkrBgEEAdpHBAswTARAWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWgICBAACAQgCAQEwHQYJYIZIAWUDBAEqBBAJCQkJCQkJCQkJCQkJCQkJBEAa3jUVwdCe5yo3Eq/44ZKk+BKE2wS8c8l7LyFCURpos7KksTckr2qlEQv7H/94KdXVqFrTgW1GWv80ADoYv0Dy",
    ] {
        let pem =
            format!("-----BEGIN ENCRYPTED PRIVATE KEY-----\n{file}\n-----END ENCRYPTED PRIVATE KEY-----\n");
        let read = PrivateKey::read(pem.as_bytes(), Some(b"pass")).unwrap();
        assert_eq!(read.seed(), Some(&[7; 32][..]));
    }
}

#[test]
fn old_encryption_is_refused_by_its_name() {
    let oid = |bytes: &[u8]| tlv(0x06, &[bytes]);
    let parameters = tlv(0x30, &[&tlv(0x04, &[&[1; 8]]), &tlv(0x02, &[&[8, 0]])]);
    let pkcs5 = |last: u8| oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, last]);
    let pkcs12 = |last: u8| oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, last]);
    for (scheme, named) in [
        (pkcs5(1), "pbeWithMD2AndDES-CBC"),
        (pkcs5(3), "pbeWithMD5AndDES-CBC"),
        (pkcs5(10), "pbeWithSHA1AndDES-CBC"),
        (pkcs5(11), "pbeWithSHA1AndRC2-CBC"),
        (pkcs12(1), "pbeWithSHAAnd128BitRC4"),
        (pkcs12(3), "pbeWithSHAAnd3-KeyTripleDES-CBC"),
        (pkcs12(6), "pbeWithSHAAnd40BitRC2-CBC"),
    ] {
        let file = tlv(0x30, &[&tlv(0x30, &[&scheme, &parameters]), &tlv(0x04, &[&[5; 16]])]);
        for error in [
            PrivateKey::from_encrypted_pkcs8_der(&file, b"pass").unwrap_err(),
            PrivateKey::read(&file, Some(b"pass")).unwrap_err(),
            // Before anybody is asked for a passphrase.
            PrivateKey::read(&file, None).unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(error.contains("PBES1") && error.contains(named), "{error}");
        }
    }
    // PBES2 with Triple DES, and with HMAC-SHA1, which is its default.
    let aes = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a];
    let des3 = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 3, 7];
    let sha256 = tlv(0x30, &[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 9]), &[5, 0]]);
    let pbes2 = |cipher: &[u8], iv: usize, hmac: &[u8]| {
        let parameters = tlv(0x30, &[&tlv(0x04, &[&[1; 8]]), &tlv(0x02, &[&[8, 0]]), hmac]);
        let kdf = tlv(0x30, &[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 12]), &parameters]);
        let cipher = tlv(0x30, &[&oid(cipher), &tlv(0x04, &[&vec![9; iv]])]);
        let scheme = tlv(0x30, &[&pkcs5(13), &tlv(0x30, &[&kdf, &cipher])]);
        tlv(0x30, &[&scheme, &tlv(0x04, &[&[5; 16]])])
    };
    for (file, named) in [(pbes2(&aes, 16, &[]), "HMAC-SHA1"), (pbes2(&des3, 8, &sha256), "DES-EDE3-CBC")] {
        let error = PrivateKey::from_encrypted_pkcs8_der(&file, b"pass").unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

/// From `openssl ca -gencrl` without `crl_extensions`, and the certificate of its issuer.
const V1_LIST: &str = "-----BEGIN X509 CRL-----
MIGAMDQwBQYDK2VwMA0xCzAJBgNVBAMMAlYxFw0yNjExMjkxODAxMjFaFw0yNjEy
MjkxODAxMjFaMAUGAytlcANBAAEgGpRfsvc7puyEjygUKSZF0/GI0D8aCz7XBQoV
ICUPCzvNDtnkkgqzM/OjdcKgR7pwFuYAQd+WHH3GunL2oA0=
-----END X509 CRL-----
";

#[test]
fn a_revocation_list_of_version_1_is_read() {
    let list = RevocationList::read(V1_LIST.as_bytes()).unwrap();
    assert_eq!((list.issuer(), list.number(), list.revoked().len()), (name("CN=V1"), None, 0));
    assert_eq!(list.this_update(), UNIX_EPOCH + Duration::from_secs(1_795_975_281));
}

/// The body of `der`, changed, under a new signature of an Ed25519 key.
fn signed_again(der: &[u8], key: &PrivateKey, old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut outer = SliceReader::new(der).unwrap();
    let header = der::Header::decode(&mut outer).unwrap();
    assert_eq!(header.tag(), der::Tag::Sequence);
    let body = outer.tlv_bytes().unwrap();
    let algorithm = outer.tlv_bytes().unwrap();
    let mut inside = SliceReader::new(body).unwrap();
    der::Header::decode(&mut inside).unwrap();
    let content = inside.read_slice(inside.remaining_len()).unwrap();
    let at = content.windows(old.len()).position(|window| window == old).expect("the old bytes are there");
    let content = [&content[..at], new, &content[at + old.len()..]].concat();
    let body = tlv(0x30, &[&content]);
    let signature = key.sign(&body).unwrap();
    tlv(0x30, &[&body, algorithm, &tlv(0x03, &[&[0], &signature])])
}

fn dated(key: &PrivateKey) -> Template {
    let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
    assert!(key.algorithm() == Algorithm::Ed25519);
    // 2001-09-09T01:46:40Z and 2033-05-18T03:33:20Z
    Template::authority(name("CN=Dated")).valid(at(1_000_000_000), at(2_000_000_000))
}

#[test]
fn certificates_with_dates_before_1970_are_read_and_verified() {
    let key = key(Algorithm::Ed25519);
    let root = dated(&key).self_signed(&key).unwrap();
    let before = |seconds: u64| UNIX_EPOCH - Duration::from_secs(seconds);
    for (written, begins) in [
        (tlv(0x17, &[b"500101000000Z"]), before(631_152_000)),
        (tlv(0x17, &[b"691231235959Z"]), before(1)),
        (tlv(0x18, &[b"19000101000000Z"]), before(2_208_988_800)),
        (tlv(0x18, &[b"00010101000000Z"]), before(62_135_596_800)),
    ] {
        let valid = |begins: &[u8]| tlv(0x30, &[begins, &tlv(0x17, &[b"330518033320Z"])]);
        let (now, then) = (valid(&tlv(0x17, &[b"010909014640Z"])), valid(&written));
        let old = signed_again(root.as_der(), &key, &now, &then);
        let old = Certificate::from_der(&old).unwrap();
        assert_eq!(old.not_before(), begins);
        let leaf = Template::new(name("CN=Leaf")).issue(&key.public_key(), &old, &key).unwrap();
        let roots = [old];
        Verifier::new(&roots).at(SystemTime::now()).verify(&leaf, &[]).unwrap();
        let early = Verifier::new(&roots).at(UNIX_EPOCH - Duration::from_secs(3_000_000_000));
        assert!(early.verify(&roots[0], &[]).is_ok() == (begins < before(3_000_000_000)));
    }
    let ended = tlv(0x17, &[b"690101000000Z"]);
    let ended = signed_again(root.as_der(), &key, &tlv(0x17, &[b"330518033320Z"]), &ended);
    let ended = signed_again(&ended, &key, b"010909014640Z", b"500101000000Z");
    let roots = [Certificate::from_der(&ended).unwrap()];
    let error = Verifier::new(&roots).verify(&roots[0], &[]).unwrap_err();
    assert_eq!(error.failure().code(), "expired");
    let list = RevocationList::read(V1_LIST.as_bytes()).unwrap();
    let der: Vec<u8> = list.as_der().to_vec();
    let at = der.windows(13).position(|window| window == b"261129180121Z").unwrap();
    let old = [&der[..at], b"600101000000Z", &der[at + 13..]].concat();
    assert_eq!(RevocationList::from_der(&old).unwrap().this_update(), before(315_619_200));
}

#[test]
fn an_error_names_the_object_and_its_field() {
    let key = key(Algorithm::Ed25519);
    let root = dated(&key).self_signed(&key).unwrap();
    let serial = tlv(0x02, &[root.serial()]);
    let begins = tlv(0x17, &[b"010909014640Z"]);
    let ends = tlv(0x17, &[b"330518033320Z"]);
    for (old, new, field) in [
        (&serial, tlv(0x02, &[&[0x41; 24]]), "serial number"),
        (&serial, tlv(0x02, &[]), "serial number"),
        (&serial, tlv(0x04, &[&[0x41; 20]]), "serial number"),
        (&begins, tlv(0x17, &[b"011309014640Z"]), "notBefore"),
        (&begins, tlv(0x17, &[b"0109090146Z"]), "notBefore"),
        (&begins, tlv(0x17, &[b"010909014640+0100"]), "notBefore"),
        (&begins, tlv(0x18, &[b"20010229014640Z"]), "notBefore"),
        (&ends, tlv(0x17, &[b"330518246060Z"]), "notAfter"),
        (&ends, tlv(0x18, &[b"20330518033320.5Z"]), "notAfter"),
    ] {
        let der = signed_again(root.as_der(), &key, old, &new);
        let error = Certificate::from_der(&der).unwrap_err().to_string();
        assert!(error.contains("certificate") && error.contains(field), "{field}: {error}");
    }
    // In a file of several, which one it is.
    let bad = signed_again(root.as_der(), &key, &serial, &tlv(0x02, &[&[0x41; 24]]));
    let bad = gambeson_pki_pem(&bad, "CERTIFICATE");
    let file = format!("{}{bad}", root.to_pem());
    let error = Certificate::read_all(file.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("certificate 2") && error.contains("serial number"), "{error}");

    let request = Request::new(&Template::new(name("CN=Asks")), &key).unwrap();
    let subject = signed_again(request.as_der(), &key, b"\x0c\x04Asks", b"\x0c\x04\xff\xffks");
    let error = Request::from_der(&subject).unwrap_err().to_string();
    assert!(error.contains("request") && error.contains("subject"), "{error}");
    for (error, object) in [
        (Certificate::from_der(b"\x30\x03abc").unwrap_err(), "certificate"),
        (Request::from_der(b"\x30\x03abc").unwrap_err(), "request"),
        (RevocationList::from_der(b"\x30\x03abc").unwrap_err(), "revocation list"),
    ] {
        let error = error.to_string();
        assert!(error.contains(object) && !error.contains("key"), "{error}");
    }
}

fn gambeson_pki_pem(der: &[u8], label: &str) -> String {
    use base64ct::{Base64, Encoding};
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", Base64::encode_string(der))
}

#[test]
fn an_error_says_what_the_file_is() {
    let key = key(Algorithm::Ed25519);
    let root = dated(&key).self_signed(&key).unwrap();
    let request = Request::new(&Template::new(name("CN=Asks")), &key).unwrap();
    let rsa = tlv(0x30, &[&tlv(0x02, &[&[0]]), &tlv(0x02, &[&[0x41; 32]]), &tlv(0x02, &[&[1, 0, 1]])]);
    let pkcs7 = tlv(0x30, &[&tlv(0x06, &[&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2]]), &tlv(0xa0, &[])]);
    let list = RevocationList::read(V1_LIST.as_bytes()).unwrap();
    for (file, found) in [
        (root.as_der(), "a certificate"),
        (request.as_der(), "a certificate request"),
        (list.as_der(), "a revocation list"),
        (&rsa, "RSA"),
        (&pkcs7, "PKCS#7"),
    ] {
        let error = PrivateKey::read(file, None).unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
        let error = PublicKey::read(file).unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
    }
    let private = key.to_pkcs8_der(Form::Seed).unwrap();
    let error = Certificate::read(&private).unwrap_err().to_string();
    assert!(error.contains("a private key"), "{error}");
    let error = Certificate::read(key.to_pkcs8_pem(Form::Seed).unwrap().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("PRIVATE KEY") && error.contains("CERTIFICATE"), "{error}");
    // Keys of RSA and of other curves are named.
    let rsa = tlv(0x30, &[&[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0]]);
    let rsa = tlv(0x30, &[&[2, 1, 0], &rsa, &tlv(0x04, &[&[1; 8]])]);
    let error = PrivateKey::from_pkcs8_der(&rsa).unwrap_err().to_string();
    assert!(error.contains("RSA"), "{error}");
}

/// Private keys as liboqs and oqs-provider wrote them, which OpenSSL 3.5 reads: `bare-seed`, `bare-priv`, `priv ‖ pub`, `oqskeypair`.
#[test]
fn raw_keys_inside_pkcs8_are_read_and_never_written() {
    let mut ran = 0;
    for algorithm in Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.has_forms()) {
        let key = key(algorithm);
        let (seed, expanded) = (key.seed().unwrap(), key.to_expanded_bytes());
        let public = key.public_key();
        let identifier = tlv(0x30, &[&tlv(0x06, &[&oid_of(algorithm)])]);
        let pkcs8 = |inner: &[u8]| tlv(0x30, &[&[2, 1, 0], &identifier, &tlv(0x04, &[inner])]);
        let pair = [&expanded[..], public.as_bytes()].concat();
        for (inner, has_seed) in [
            (seed.to_vec(), true),
            (tlv(0x04, &[seed]), true),
            (expanded.to_vec(), false),
            (pair.clone(), false),
            (tlv(0x04, &[&pair]), false),
        ] {
            let read = PrivateKey::from_pkcs8_der(&pkcs8(&inner)).unwrap();
            assert_eq!((read.public_key(), read.seed().is_some()), (key.public_key(), has_seed));
            let form = if has_seed { Form::Seed } else { Form::Expanded };
            assert_eq!(*read.to_pkcs8_der(form).unwrap(), *key.to_pkcs8_der(form).unwrap());
            ran += 1;
        }
        // Halves that do not fit, and lengths that are those of nothing.
        let other = PrivateKey::generate(algorithm).unwrap();
        let swapped = [&expanded[..], other.public_key().as_bytes()].concat();
        for inner in [&swapped[..], &tlv(0x04, &[&swapped])] {
            assert!(PrivateKey::from_pkcs8_der(&pkcs8(inner)).is_err());
        }
        for inner in [&seed[1..], &expanded[1..], &pair[1..], &[&pair[..], &[0]].concat()] {
            assert!(PrivateKey::from_pkcs8_der(&pkcs8(inner)).is_err());
        }
    }
    assert_eq!(ran, 6 * 5);
}

/// The bytes of an algorithm's object identifier.
fn oid_of(algorithm: Algorithm) -> Vec<u8> {
    der::asn1::ObjectIdentifier::new_unwrap(algorithm.oid()).as_bytes().to_vec()
}

/// Each object in DER, read as each other one, is named.
#[test]
fn objects_in_der_are_told_apart() {
    let key = key(Algorithm::Ed25519);
    let name = || "CN=Example".parse::<Name>().unwrap();
    let root = Template::authority(name()).self_signed(&key).unwrap();
    let request = Request::new(&Template::new(name()), &key).unwrap();
    let now = SystemTime::now();
    let times = (now, now + Duration::from_secs(60));
    let list = RevocationList::new(&root, &key, 1, times, &[]).unwrap();
    let another = |result: Result<(), Error>, found: &str| match result {
        Err(Error::AnotherFile { found: told, .. }) => assert_eq!(told, found),
        other => panic!("{found}: {other:?}"),
    };
    another(Certificate::read_all(request.as_der()).map(drop), "a certificate request");
    another(Certificate::read_all(list.as_der()).map(drop), "a revocation list");
    another(Request::read(root.as_der()).map(drop), "a certificate");
    another(Request::read(list.as_der()).map(drop), "a revocation list");
    another(RevocationList::read(root.as_der()).map(drop), "a certificate");
    another(RevocationList::read(request.as_der()).map(drop), "a certificate request");
}
