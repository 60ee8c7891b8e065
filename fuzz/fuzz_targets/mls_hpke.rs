//! HPKE of every suite of MLS, by bytes: what was sealed opens unchanged or not at all, and bytes of any length as keys and ciphertexts
//! are refused or work.
#![no_main]

use gambeson_mls::mls_rs_core::crypto::{
    CipherSuiteProvider, CryptoProvider, HpkeCiphertext, HpkePublicKey, HpkeSecretKey,
};
use gambeson_mls::{Preset, Provider, SuiteProvider};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

struct Made {
    suite: SuiteProvider,
    private: HpkeSecretKey,
    public: HpkePublicKey,
    sealed: HpkeCiphertext,
}

fn made() -> &'static [Made] {
    static MADE: OnceLock<Vec<Made>> = OnceLock::new();
    MADE.get_or_init(|| {
        let provider = Provider::new(Preset::All);
        let suites = provider.supported_cipher_suites();
        let made = suites.into_iter().map(|number| {
            let suite = provider.cipher_suite_provider(number).expect("a suite of the provider");
            let (private, public) = suite.kem_derive(&[7; 80]).expect("a key");
            let sealed =
                suite.hpke_seal(&public, b"info", Some(b"aad"), b"message").expect("a key of its own");
            Made { suite, private, public, sealed }
        });
        made.collect()
    })
}

fuzz_target!(|data: &[u8]| {
    let Some(([which, what], data)) = data.split_first_chunk() else { return };
    let Made { suite, private, public, sealed } = &made()[usize::from(*which) % made().len()];
    let open = |sealed: &HpkeCiphertext, private: &HpkeSecretKey| {
        suite.hpke_open(sealed, private, public, b"info", Some(b"aad"))
    };
    match what % 4 {
        // Changed as the data says.
        0 => {
            let mut changed = sealed.clone();
            for edit in data.chunks_exact(3) {
                let at = usize::from(u16::from_be_bytes([edit[0], edit[1]]));
                let part = if at & 1 == 0 { &mut changed.kem_output } else { &mut changed.ciphertext };
                let len = part.len();
                part[(at >> 1) % len] = edit[2];
            }
            match open(&changed, private) {
                Ok(opened) => assert!(*opened == *b"message" && changed == *sealed),
                Err(_) => assert!(changed != *sealed),
            }
        }
        // Of other lengths.
        1 => {
            let at = data.first().map_or(0, |at| usize::from(*at)) * data.len() / 255;
            let (kem_output, ciphertext) = data.split_at(at.min(data.len()));
            let strange = HpkeCiphertext { kem_output: kem_output.into(), ciphertext: ciphertext.into() };
            assert!(open(&strange, private).is_err());
        }
        // Another private key.
        2 => {
            assert!(open(sealed, &data.to_vec().into()).is_err());
        }
        // Another public key.
        _ => {
            let public = data.to_vec().into();
            let sealed = suite.hpke_seal(&public, b"info", None, b"message");
            assert!(sealed.is_err() || suite.kem_public_key_validate(&public).is_ok());
        }
    }
});
