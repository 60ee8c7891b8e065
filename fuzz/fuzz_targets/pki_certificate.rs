//! Certificates, requests and revocation lists: what is read is told about, written as it came, and put to a verifier.
#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use gambeson_pki::{Algorithm, Certificate, PrivateKey, Request, RevocationList, Template, Verifier};
use libfuzzer_sys::fuzz_target;

/// A root whose signature no input has: what is looked for is what happens before and after the signature.
static ROOTS: LazyLock<[Certificate; 1]> = LazyLock::new(|| {
    let key = PrivateKey::from_seed(Algorithm::Ed25519, &[7; 32]).expect("a seed of 32 bytes");
    let name = "CN=Root".parse().expect("a name");
    let times = (UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(4_000_000_000));
    [Template::authority(name).valid(times.0, times.1).self_signed(&key).expect("a key that signs")]
});

fuzz_target!(|data: &[u8]| {
    if let Ok(list) = RevocationList::read(data) {
        assert_eq!(RevocationList::read(list.to_pem().as_bytes()), Ok(list.clone()));
        assert!(list.revoked().iter().all(|entry| list.find(&entry.serial).is_some()));
    }
    if let Ok(request) = Request::read(data) {
        assert_eq!(Request::read(request.to_pem().as_bytes()), Ok(request));
    }
    let Ok(certificates) = Certificate::read_all(data) else { return };
    for certificate in &certificates {
        assert_eq!(Certificate::from_der(certificate.as_der()).as_ref(), Ok(certificate));
        let _ = (certificate.subject().to_string(), certificate.not_before(), certificate.not_after());
        if let Ok(key) = certificate.public_key() {
            let _ = certificate.verify_signature(&key);
        }
    }
    let (leaf, others) = certificates.split_first().expect("a file without certificates is an error");
    let at = leaf.not_before();
    let _ = Verifier::new(&*ROOTS).at(at).name("example.com".parse().expect("a name")).verify(leaf, others);
    let _ = Verifier::new(&*ROOTS).at(at).verify(leaf, others);
    // Everything that is given is trusted, so that the search goes on.
    let _ = Verifier::new(others).at(at).verify(leaf, &certificates);
    // And every signature holds, so that names are put to constraints.
    let _ = Verifier::new(others).signatures(&|_| Ok(())).at(at).verify(leaf, &certificates);
});
