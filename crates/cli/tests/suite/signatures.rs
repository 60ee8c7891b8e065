//! Signatures over files and streams.

use crate::program::{Folder, noise};
use gambeson::stateful::{Signer, StatefulKey, TreeOptions, hazmat::MemoryStore};
use gambeson_pki::{Algorithm, PublicKey};

/// Longer than any buffer on the way.
const LONG: usize = 5 << 20;

fn with_keys() -> Folder {
    let folder = Folder::new();
    folder.run("key gen --alg ml-dsa-65 -o k.key -p k.pub").exits(0);
    folder.run("key gen --alg ml-dsa-65 -o other.key -p other.pub").exits(0);
    folder
}

#[test]
fn an_older_signature_is_replaced_with_force_alone() {
    let folder = Folder::new();
    folder.run("key gen --alg ml-dsa-65 -o k.key").exits(0);
    folder.write("file", "content");
    folder.write("file.sig", "older");
    folder.run("sign -k k.key file").exits(3).tells("file.sig: exists already; --force replaces it");
    folder.run("sign -k k.key missing -o file.sig").exits(3).tells("file.sig: exists already");
    assert_eq!(folder.read("file.sig"), b"older");
    folder.run("sign -k k.key file --force").exits(0);
    assert_ne!(folder.read("file.sig"), b"older");
}

#[test]
fn a_long_file_and_the_same_stream_verify() {
    let folder = with_keys();
    let content = noise(LONG);
    folder.write("file", &content);
    folder.run("sign -k k.key file").exits(0);
    folder.run("verify -k k.pub file").exits(0);
    // A private key's public half serves as well.
    folder.run("verify -k k.key file").exits(0);
    folder.run_with("verify -k k.pub -s file.sig -", &content, &[]).exits(0);
    // Signed as a stream, verified as a file.
    folder.run_with("sign -k k.key - -o stream.sig", &content, &[]).exits(0);
    folder.run("verify -k k.pub -s stream.sig file").exits(0);
    let signature = folder.run_with("sign -k k.key - -o -", &content, &[]).exits(0).stdout;
    assert_eq!(signature.len(), 3309);
    folder.run_with("verify -k k.pub -s - file", &signature, &[]).exits(0);
    let report = folder.run("verify -k k.pub file --json").exits(0).json();
    assert_eq!(report["verified"], true);
    assert_eq!(report["bytes"], LONG);
}

#[test]
fn every_algorithm_signs() {
    let folder = Folder::new();
    folder.write("file", "");
    let of_slh_dsa = [
        ("128s", 7_856),
        ("128f", 17_088),
        ("192s", 16_224),
        ("192f", 35_664),
        ("256s", 29_792),
        ("256f", 49_856),
    ];
    let named = |family: &str| of_slh_dsa.map(|(set, length)| (format!("slh-dsa-{family}-{set}"), length));
    let of_ml_dsa = [("ml-dsa-44", 2420), ("ml-dsa-65", 3309), ("ml-dsa-87", 4627)];
    let of_ml_dsa = of_ml_dsa.map(|(name, length)| (name.to_owned(), length));
    let mut ran = 0;
    for (algorithm, length) in of_ml_dsa.into_iter().chain(named("sha2")).chain(named("shake")) {
        folder.run(&format!("key gen --alg {algorithm} -o k.key -p k.pub --force")).exits(0);
        folder.run("sign -k k.key file --force").exits(0);
        assert_eq!(folder.read("file.sig").len(), length);
        folder.run("verify -k k.pub file").exits(0);
        ran += 1;
    }
    assert_eq!(ran, 15);
}

#[test]
fn slh_dsa_signs_files_and_streams_as_the_library_does() {
    use gambeson::slhdsa::{Message, ParameterSet, SigningKey};
    let folder = Folder::new();
    folder.run("key gen --alg slh-dsa-shake-128f -o k.key -p k.pub").exits(0);
    let content = noise(100_000);
    folder.write("file", &content);
    folder.run("sign -k k.key file --deterministic --context ctx").exits(0);
    let der = gambeson_pki::PrivateKey::read(&folder.read("k.key"), None).unwrap().to_expanded_bytes();
    let key = SigningKey::from_bytes(ParameterSet::SHAKE_128F, &der).unwrap();
    let expected = key.sign_deterministic(Message::pure(&content, b"ctx").unwrap());
    assert_eq!(folder.read("file.sig"), expected);
    folder.run("verify -k k.pub file --context ctx").exits(0);
    folder.run_with("verify -k k.pub -s file.sig - --context ctx", &content, &[]).exits(0);
    assert_eq!(folder.run("verify -k k.pub file --json").exits(1).json()["reason"], "bad-signature");

    let signature = folder.run_with("sign -k k.key - -o -", &content, &[]).exits(0).stdout;
    folder.write("file.sig", &signature);
    folder.run("verify -k k.key file").exits(0);
    let reason = |line: &str| folder.run(&format!("{line} --json")).exits(1).json()["reason"].clone();
    assert_eq!(reason("verify -k k.pub file --context ctx"), "context");
    folder.write("file.sig", &signature[1..]);
    assert_eq!(reason("verify -k k.pub file"), "signature-length");
    folder.write("file.sig", &signature);
    folder.tamper("file.sig");
    assert_eq!(reason("verify -k k.pub file"), "bad-signature");
    folder.run("key gen --alg ml-dsa-44 -o other.key").exits(0);
    folder.write("file.sig", &signature);
    let told = folder.run("verify -k other.key file").exits(1);
    assert!(told.text().contains("that of an SLH-DSA 128f signature"), "{}", told.text());
}

/// A public key of HSS in the file `hss.pub`, with one tree of 2^5 leaves, and signatures by it in files that end with `.sig`.
fn with_hss(signed: &[(&str, &[u8])]) -> Folder {
    use gambeson::lms::{HssSigningKey, LmotsType, LmsType};
    let levels = [(LmsType::SHA256_M24_H5, LmotsType::SHA256_N24_W4)];
    let key = HssSigningKey::generate(&levels, TreeOptions::new()).unwrap();
    let public = key.verifying_key().to_bytes();
    with_stateful(Algorithm::Hss, &public, "hss.pub", key, signed)
}

/// The public key in `file`, and signatures by it in files that end with `.sig`.
fn with_stateful(
    algorithm: Algorithm,
    public: &[u8],
    file: &str,
    key: impl StatefulKey,
    signed: &[(&str, &[u8])],
) -> Folder {
    let folder = Folder::new();
    folder.write(file, PublicKey::from_bytes(algorithm, public).unwrap().to_spki_pem());
    let mut signer = Signer::new(key, MemoryStore::new(0));
    for (name, content) in signed {
        let index = signer.reserve_one().unwrap();
        let signature = signer.sign(index, content).unwrap();
        folder.write(name, content);
        folder.write(&format!("{name}.sig"), signature);
    }
    folder
}

#[test]
fn signatures_of_xmss_are_verified() {
    use gambeson::xmss::{ParameterSet, SigningKey};
    for (algorithm, set, public_bytes) in [
        (Algorithm::Xmss, ParameterSet::SHA2_10_192, 52),
        (Algorithm::XmssMt, ParameterSet::MT_SHAKE256_20_4_256, 68),
    ] {
        let key = SigningKey::generate(set, TreeOptions::new()).unwrap();
        let public = key.verifying_key().to_bytes();
        let folder =
            with_stateful(algorithm, &public, "k.pub", key, &[("file", b"firmware"), ("empty", b"")]);
        let rows = folder.run("verify -k k.pub file empty --json").exits(0).rows();
        assert!(rows.iter().all(|row| row["alg"] == algorithm.name() && row["verified"] == true), "{rows:?}");
        let shown = folder.run("key show k.pub --json").exits(0).json();
        assert_eq!((&shown["alg"], &shown["publicBytes"]), (&algorithm.name().into(), &public_bytes.into()));
        folder.tamper("file.sig");
        folder.run("verify -k k.pub file").exits(1);
        folder.write("empty.sig", &folder.read("empty.sig")[1..]);
        folder.run("verify -k k.pub empty").exits(1);
    }
}

#[test]
fn signatures_of_hss_are_verified_and_not_made() {
    let long = noise(LONG);
    let folder = with_hss(&[("file", b"firmware"), ("long", &long), ("empty", b"")]);
    let rows = folder.run("verify -k hss.pub file long empty --json").exits(0).rows();
    assert!(rows.iter().all(|row| row["alg"] == "HSS" && row["verified"] == true), "{rows:?}");
    let shown = folder.run("key show hss.pub --json").exits(0).json();
    assert_eq!((&shown["alg"], &shown["publicBytes"]), (&"HSS".into(), &52.into()));
    folder.run("key convert hss.pub -o hss.der --format der").exits(0);
    folder.run("verify -k hss.der file").exits(0);
    folder.run("verify -k hss.pub file --context c").exits(2).tells("HSS signatures have no context");
    folder
        .run("sign -k hss.pub file -o other.sig")
        .exits(2)
        .tells("signing with HSS keys needs the key store");
    folder.tamper("file");
    let refused = folder.run("verify -k hss.pub file --json").exits(1).json();
    assert_eq!((&refused["verified"], &refused["reason"]), (&false.into(), &"bad-signature".into()));
    for wrong in [&folder.read("long.sig")[1..], b""] {
        folder.write("long.sig", wrong);
        folder.run("verify -k hss.pub long").exits(1);
    }
}

#[test]
fn a_certificate_names_the_key_of_hss_that_signs_firmware() {
    let folder = with_hss(&[("image", b"firmware")]);
    folder.run("cert new --alg slh-dsa-sha2-128f --levels 2 -o pki").exits(0);
    let issue = "cert sign --public hss.pub --subject CN=Firmware --purpose code-signing --issuer pki/root.pem -k pki/root.key -o hss.pem";
    folder.run(issue).exits(0);
    let shown = folder.run("cert show hss.pem --json").exits(0).json();
    assert_eq!((&shown["alg"], &shown["signatureAlg"]), (&"HSS".into(), &"SLH-DSA-SHA2-128f".into()));
    assert_eq!(shown["keyUsage"], serde_json::json!(["digitalSignature"]));
    let told = folder.run("verify image --cert hss.pem --roots pki/root.pem").exits(0);
    assert!(told.text().contains("CN=Firmware"), "{}", told.text());
    folder.run("cert csr -k hss.pub --subject CN=Firmware").exits(2).tells("HSS keys needs the key store");
}

#[test]
fn whatever_is_changed_does_not_verify() {
    let folder = with_keys();
    folder.write("file", noise(LONG));
    folder.run("sign -k k.key file").exits(0);
    folder.tamper("file");
    let report = folder.run("verify -k k.pub file --json").exits(1).json();
    assert_eq!(report["verified"], false);
    folder.tamper("file");
    folder.tamper("file.sig");
    folder.run("verify -k k.pub file").exits(1);
    folder.tamper("file.sig");
    folder.run("verify -k k.pub file").exits(0);
    folder.run("verify -k other.pub file").exits(1);
    folder.run("verify -k k.pub file --context other").exits(1);
    let signature = folder.read("file.sig");
    for wrong in [&signature[..3308], &signature[..1], b"", &[&signature[..], b"x"].concat()] {
        folder.write("file.sig", wrong);
        folder.run("verify -k k.pub file").exits(1);
    }
}

#[test]
fn a_file_and_its_signature_are_named_in_either_order() {
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("sign -k k.key file").exits(0);
    for names in ["file file.sig", "file.sig file", "-s file.sig file", "file -s file.sig", "file"] {
        folder.run(&format!("verify -k k.pub {names}")).exits(0);
    }
    folder.run("verify -k k.pub file.sig").exits(2).tells("file.sig: is a signature: name the file too");
    folder.run("verify -k k.pub file other -s file.sig").exits(2).tells("--signature goes with one file");
    folder.run("verify -k k.pub").exits(2);
}

#[test]
fn several_files_are_signed_and_verified_at_once() {
    let folder = with_keys();
    for name in ["a", "b", "c"] {
        folder.write(name, name);
    }
    let signed = folder.run("sign -k k.key a b c --json").exits(0);
    assert_eq!(signed.rows().len(), 3);
    let verified = folder.run("verify -k k.pub a b c --json").exits(0);
    assert!(verified.rows().iter().all(|row| row["verified"] == true));
    folder.write("b", "B");
    let verified = folder.run("verify -k k.pub a b c --json").exits(1).rows();
    assert_eq!(verified.iter().map(|row| row["verified"] == true).collect::<Vec<_>>(), [true, false, true]);
    folder.run("sign -k k.key a b -o one.sig").exits(2).tells("--out goes with one file");
    // One that exists stops all of them before a signature is made.
    std::fs::remove_file(folder.path("a.sig")).unwrap();
    folder.run("sign -k k.key a b").exits(3).tells("b.sig: exists already");
    assert!(!folder.exists("a.sig"));
    folder.run("sign -k k.key - a").exits(2);
}

#[test]
fn refusals_tell_reasons_apart() {
    let folder = with_keys();
    folder.write("file", "content");
    let refused = |more: &str, reason: &str, words: &str| {
        let line = format!("verify -k k.pub file {more}");
        assert_eq!(folder.run(&format!("{line} --json")).exits(1).json()["reason"], reason, "{more}");
        let told = folder.run(&line).exits(1);
        assert!(told.text().contains(words), "{more}: {}", told.text());
    };
    folder.write("file.sig", [0; 10]);
    refused("", "signature-length", "has 10 bytes; a signature by an ML-DSA-65 key has 3309");
    folder.run("key gen --alg ml-dsa-44 -o k44.key").exits(0);
    folder.run("sign -k k44.key file --force").exits(0);
    refused("", "signature-length", "that of an ML-DSA-44 signature");
    folder.run("sign -k k.key file --force").exits(0);
    refused("--context release", "context", "was made without a context");
    folder.run("sign -k k.key file --force --context release").exits(0);
    refused("", "bad-signature", "--context");
    refused("--context other", "bad-signature", "another key, another file or another context");
}

#[test]
fn a_file_is_verified_by_a_certificate() {
    let folder = Folder::new();
    folder.run("cert new --levels 2 -o pki").exits(0);
    folder.run("cert new --levels 2 -o other").exits(0);
    folder.write("file", "content");
    folder.run("sign -k pki/server.key file").exits(0);
    let line = "verify file --cert pki/server.pem --roots pki/root.pem";
    let told = folder.run(line).exits(0);
    assert!(told.text().contains("localhost"), "{}", told.text());
    folder.run("verify file --cert pki/server.pem").exits(2).tells("--roots");
    let other = folder.run("verify file --cert pki/server.pem --roots other/root.pem --json").exits(1).json();
    assert_eq!((&other["verified"], &other["reason"]), (&false.into(), &"signature".into()));
    folder.write("file", "more");
    assert_eq!(folder.run(&format!("{line} --json")).exits(1).json()["reason"], "bad-signature");
    folder.run(&format!("{line} -k pki/server.key")).exits(2);
}

#[test]
fn contexts_bind() {
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("sign -k k.key file --context release").exits(0);
    folder.run("verify -k k.pub file --context release").exits(0);
    folder.run("verify -k k.pub file --context-hex 72656c65617365").exits(0);
    folder.run("verify -k k.pub file").exits(1);
    folder.run("sign -k k.key file --context-hex 0g").exits(2).tells("--context-hex");
    let long = "x".repeat(256);
    folder.run(&format!("sign -k k.key file --context {long}")).exits(2).tells("256 bytes");
    folder.run(&format!("verify -k k.pub file --context {long}")).exits(2);
    folder.run(&format!("sign -k k.key file --force --context {}", &long[1..])).exits(0);
    folder.run("sign -k k.key file --context a --context-hex 00").exits(2);
}

#[test]
fn signatures_are_hedged_unless_deterministic() {
    let folder = with_keys();
    folder.write("file", "content");
    for name in ["a", "b"] {
        folder.run(&format!("sign -k k.key file -o {name}")).exits(0);
        folder.run(&format!("sign -k k.key file -o d{name} --deterministic")).exits(0);
    }
    assert_ne!(folder.read("a"), folder.read("b"));
    assert_eq!(folder.read("da"), folder.read("db"));
}

#[test]
fn the_streamed_signature_is_that_of_the_library() {
    use gambeson::mldsa::{Message, MlDsa65, SigningKey};
    let folder = Folder::new();
    let pem = gambeson_pki::PrivateKey::from_seed(gambeson_pki::Algorithm::MlDsa65, &[5; 32]).unwrap();
    folder.write("k.key", pem.to_pkcs8_pem(gambeson_pki::Form::Seed).unwrap().as_bytes());
    let content = noise(100_000);
    folder.write("file", &content);
    folder.run("sign -k k.key file --deterministic --context ctx").exits(0);
    let message = Message::pure(&content, b"ctx").unwrap();
    let expected = SigningKey::<MlDsa65>::from_seed(&[5; 32]).sign_deterministic(message);
    assert_eq!(folder.read("file.sig"), expected);
}

#[test]
fn wrong_usage_and_missing_files_are_told_apart() {
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("sign file").exits(2);
    folder.run("sign -k k.key").exits(2);
    folder.run("sign -k k.key -").exits(2).tells("name the signature's file");
    folder.run("verify -k k.pub -s - -").exits(2).tells("standard input");
    folder.run("sign -k - - -o s").exits(2).tells("standard input");
    folder.run("sign -k k.key file -o file").exits(2).tells("input and the output");
    folder.run("sign -k k.key file -o k.key").exits(2);
    folder.run("frobnicate").exits(2);
    folder.run("sign -k k.key missing").exits(3).tells("missing");
    folder.run("sign -k missing.key file").exits(3).tells("missing.key");
    folder.run("verify -k k.pub file").exits(3).tells("file.sig");
    folder.run("sign -k k.key file -o nowhere/s").exits(3).tells("nowhere/s");
    assert_eq!(folder.read("file"), b"content");
    assert!(!folder.exists("file.sig") && !folder.exists("missing.sig"));
}

#[test]
fn a_missing_signature_is_named_with_the_option_for_another() {
    let folder = with_keys();
    folder.write("file", "content");
    folder
        .run("verify -k k.pub file")
        .exits(3)
        .tells("file.sig: does not exist; --signature names another file");
    folder.run("verify -k k.pub missing").exits(3).tells("missing: does not exist");
}

#[cfg(unix)]
#[test]
fn a_private_key_that_every_user_can_read_is_told() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let folder = with_keys();
    folder.write("file", "content");
    let share = |name: &str, mode| {
        set_permissions(folder.path(name), Permissions::from_mode(mode)).unwrap();
    };
    share("k.key", 0o640);
    assert!(!folder.run("sign -k k.key file --force").exits(0).stderr.contains("warning"));
    share("k.key", 0o644);
    let told = "warning: k.key: every user of this machine can read this private key (mode 644); `chmod 600 k.key` prevents it";
    folder.run("sign -k k.key file --force").exits(0).tells(told);
    // A public key is for everybody.
    assert!(!folder.run("verify -k k.pub file").exits(0).stderr.contains("warning"));
    folder.run("key gen --alg x-wing -o age.key -p age.pub").exits(0);
    share("age.key", 0o604);
    folder.run("seal -R age.pub file -o sealed").exits(0);
    let told = "warning: age.key: every user of this machine can read this private key (mode 604)";
    folder.run("open -i age.key sealed -o opened").exits(0).tells(told);
}
