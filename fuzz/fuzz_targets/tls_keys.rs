//! The provider of rustls: private keys of any bytes, raw public keys with any signature, shares of any group. What is loaded signs, and
//! what it signed verifies.
#![no_main]

use gambeson_pki::PublicKey;
use gambeson_rustls::rustls::SignatureScheme;
use gambeson_rustls::rustls::crypto::{CryptoProvider, SupportedKxGroup};
use gambeson_rustls::rustls::pki_types::{
    PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer,
};
use gambeson_rustls::{Builder, GROUPS, Preset, Scheme};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fn provider() -> &'static CryptoProvider {
    static PROVIDER: OnceLock<CryptoProvider> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        let builder = Builder::new(Preset::Default).groups(GROUPS).scheme(Scheme::MLDSA87_ED448);
        builder.build().expect("this processor")
    })
}

/// Whether one of the scheme's algorithms takes the signature, of a raw key.
fn verifies(
    provider: &CryptoProvider,
    spki: &[u8],
    message: &[u8],
    signature: &[u8],
    scheme: SignatureScheme,
) -> Option<bool> {
    // RSA is the base's alone.
    let key = PublicKey::from_spki_der(spki).ok()?;
    let known = provider.signature_verification_algorithms.mapping;
    let (_, algorithms) = known.iter().find(|(known, _)| *known == scheme)?;
    let takes = |key| algorithms.iter().any(|it| it.verify_signature(key, message, signature).is_ok());
    Some(takes(key.as_bytes()))
}

fuzz_target!(|data: &[u8]| {
    let Some((&what, data)) = data.split_first() else { return };
    let provider = provider();
    match what % 4 {
        0..=2 => {
            let file: PrivateKeyDer<'static> = match what % 4 {
                0 => PrivatePkcs8KeyDer::from(data.to_vec()).into(),
                1 => PrivateSec1KeyDer::from(data.to_vec()).into(),
                _ => PrivatePkcs1KeyDer::from(data.to_vec()).into(),
            };
            let Ok(key) = provider.key_provider.load_private_key(file) else { return };
            let offered = provider.signature_verification_algorithms.supported_schemes();
            let signer = key.choose_scheme(&offered).expect("a scheme of the provider");
            let signature = signer.sign(b"message").expect("a key that was loaded signs");
            let public = key.public_key().expect("it tells its public half");
            assert_ne!(verifies(provider, &public, b"message", &signature, signer.scheme()), Some(false));
            assert_ne!(verifies(provider, &public, b"another", &signature, signer.scheme()), Some(true));
        }
        _ => {
            let Some((&which, share)) = data.split_first() else { return };
            let group = GROUPS[usize::from(which) % GROUPS.len()];
            if let Ok(done) = group.start_and_complete(share) {
                assert!(!done.secret.secret_bytes().is_empty());
            }
            // Any key is read, and nothing is signed for it.
            for scheme in provider.signature_verification_algorithms.supported_schemes() {
                assert_ne!(verifies(provider, share, b"message", data, scheme), Some(true));
            }
            if which & 0x80 != 0 {
                let started = group.start().expect("random bytes");
                let _ = started.complete(share);
            }
        }
    }
});
