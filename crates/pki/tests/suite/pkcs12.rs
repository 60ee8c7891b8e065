//! PKCS#12: what is written is read again by the crate below; OpenSSL and Bouncy Castle read it in the workspace `interop`.

use gambeson_pki::{Algorithm, Certificate, Error, Form, PrivateKey, Template};
use p12_keystore::{KeyStore, Pkcs12ImportPolicy};

const PASSPHRASE: &str = "correct horse, \u{e9}t\u{e9}";

/// A key, and its certificate below a root.
fn chain_of(algorithm: Algorithm) -> (PrivateKey, [Certificate; 2]) {
    let issuer_key = PrivateKey::generate(Algorithm::Ed25519).unwrap();
    let root = Template::authority("CN=Root".parse().unwrap()).self_signed(&issuer_key).unwrap();
    let key = PrivateKey::generate(algorithm).unwrap();
    let template = Template::new("CN=Leaf".parse().unwrap());
    let leaf = template.issue(&key.public_key(), &root, &issuer_key).unwrap();
    (key, [leaf, root])
}

#[test]
fn keys_of_every_algorithm_come_back_with_their_chain() {
    let mut ran = 0;
    for algorithm in Algorithm::ALL.iter().copied().filter(|algorithm| !algorithm.is_stateful()) {
        let (key, chain) = chain_of(algorithm);
        let file = key.to_pkcs12(Form::Seed, &chain, "entry", PASSPHRASE).unwrap();
        let store = KeyStore::from_pkcs12(&file, PASSPHRASE, Pkcs12ImportPolicy::Strict).unwrap();
        let (name, entry) = store.private_key_chain().unwrap();
        assert_eq!(name, "entry");
        assert_eq!(entry.key().as_der(), &**key.to_pkcs8_der(Form::Seed).unwrap(), "{algorithm}");
        let certificates: Vec<_> = entry.certs().iter().map(|one| one.as_der().to_vec()).collect();
        assert_eq!(certificates, chain.each_ref().map(|one| one.as_der().to_vec()), "{algorithm}");
        ran += 1;
    }
    assert_eq!(ran, 34);
}

#[test]
fn no_derivation_takes_more_than_dotnet_allows() {
    let (key, chain) = chain_of(Algorithm::Ed25519);
    let file = key.to_pkcs12(Form::Seed, &chain, "entry", PASSPHRASE).unwrap();
    // 300,000 as an INTEGER, of the certificates, the key and the MAC.
    let found = file.windows(5).filter(|window| *window == [2, 3, 0x04, 0x93, 0xe0]);
    assert_eq!(found.count(), 3);
}

#[test]
fn each_form_of_a_key_is_written() {
    let (key, chain) = chain_of(Algorithm::MlDsa44);
    for form in [Form::Seed, Form::Expanded, Form::Both] {
        let file = key.to_pkcs12(form, &chain, "entry", PASSPHRASE).unwrap();
        let store = KeyStore::from_pkcs12(&file, PASSPHRASE, Pkcs12ImportPolicy::Strict).unwrap();
        let (_, entry) = store.private_key_chain().unwrap();
        assert_eq!(entry.key().as_der(), &**key.to_pkcs8_der(form).unwrap());
    }
    let expanded = PrivateKey::from_expanded_bytes(Algorithm::MlDsa44, &key.to_expanded_bytes()).unwrap();
    assert_eq!(expanded.to_pkcs12(Form::Seed, &chain, "entry", PASSPHRASE), Err(Error::NoSeed));
}

#[test]
fn a_wrong_passphrase_and_a_changed_file_do_not_open() {
    let (key, chain) = chain_of(Algorithm::EcdsaP256);
    let file = key.to_pkcs12(Form::Seed, &chain, "entry", PASSPHRASE).unwrap();
    let open = |file: &[u8], passphrase: &str| {
        KeyStore::from_pkcs12(file, passphrase, Pkcs12ImportPolicy::Strict).is_ok()
    };
    assert!(open(&file, PASSPHRASE));
    assert!(!open(&file, "wrong"));
    for place in [100, file.len() / 2, file.len() - 100] {
        let mut changed = file.clone();
        changed[place] ^= 1;
        assert!(!open(&changed, PASSPHRASE), "byte {place}");
    }
    let again = key.to_pkcs12(Form::Seed, &chain, "entry", PASSPHRASE).unwrap();
    assert_ne!(file, again, "salts are new each time");
}

#[test]
fn what_makes_no_such_file_is_refused() {
    let (key, chain) = chain_of(Algorithm::Ed25519);
    let refused = |chain: &[Certificate], name: &str, passphrase: &str| {
        key.to_pkcs12(Form::Seed, chain, name, passphrase).unwrap_err()
    };
    assert_eq!(refused(&chain, "entry", ""), Error::EmptyPassphrase);
    assert_eq!(refused(&[], "entry", PASSPHRASE), Error::KeyMismatch);
    let [leaf, root] = chain.clone();
    assert_eq!(refused(&[root, leaf], "entry", PASSPHRASE), Error::KeyMismatch);
    assert_eq!(refused(&chain, "a horse: \u{1f40e}", PASSPHRASE), Error::Entry);
    assert_eq!(refused(&chain, "entry", "\u{1f40e}"), Error::Entry);
}
