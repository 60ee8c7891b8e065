//! Signers that stand outside mls-rs, and generators of the caller's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::members::{deliver, key_package, member};
use gambeson::RngError;
use gambeson_mls::mls_rs_core::crypto::{
    CipherSuiteProvider, CryptoProvider, SignaturePublicKey, SignatureSecretKey,
};
use gambeson_mls::{Error, Preset, Provider, Result, SUITES, Signer};
use mls_rs::MlsMessage;

/// A signer that counts what it signs, and refuses on request.
struct Counted {
    within: Arc<dyn Signer>,
    signed: AtomicUsize,
    at_most: usize,
}

impl Signer for Counted {
    fn public_key(&self) -> &[u8] {
        self.within.public_key()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>> {
        if self.signed.fetch_add(1, Ordering::Relaxed) >= self.at_most {
            return Err(Error::Signer);
        }
        self.within.sign(message)
    }
}

fn counted(provider: &Provider, suite: u16, at_most: usize) -> Arc<Counted> {
    let suite = provider.cipher_suite_provider(suite.into()).unwrap();
    let (secret, _) = suite.signature_key_generate().unwrap();
    let within = suite.expanded_signer(&secret).unwrap();
    Arc::new(Counted { within, signed: AtomicUsize::new(0), at_most })
}

#[test]
fn a_registered_signer_signs_for_every_suite_and_its_handle_is_no_key() {
    let provider = Provider::new(Preset::All);
    for suite in SUITES {
        let signer = counted(&provider, suite.number(), 1);
        let handle = provider.clone().register_signer(signer.clone());
        let of = provider.cipher_suite_provider(suite.cipher_suite()).unwrap();
        let public = SignaturePublicKey::new_slice(signer.public_key());
        assert_eq!(of.signature_key_derive_public(&handle).unwrap(), public);
        let signature = of.sign(&handle, b"message").unwrap();
        of.verify(&public, &signature, b"message").unwrap();
        assert_eq!(of.sign(&handle, b"message"), Err(Error::Signer), "{suite}: it refuses the second");
        assert_eq!(signer.signed.load(Ordering::Relaxed), 2);
        assert_eq!(provider.register_signer(signer), handle, "{suite}: one signer has one handle");
    }
}

#[test]
fn a_handle_of_nobody_and_a_signer_of_another_suite_are_refused() {
    let provider = Provider::new(Preset::All);
    let of = |number: u16| provider.cipher_suite_provider(number.into()).unwrap();
    let handle = provider.register_signer(counted(&provider, 0xf00a, 1));
    let wrong = |result| matches!(result, Err(Error::Length { expected: 2592, actual: 1952, .. }));
    assert!(wrong(of(0xf00b).sign(&handle, b"message")));
    let stranger = Provider::new(Preset::Default);
    let stranger = stranger.cipher_suite_provider(0xf00a.into()).unwrap();
    assert_eq!(stranger.sign(&handle, b"message"), Err(Error::UnknownSigner));
    assert!(provider.forget_signer(&handle));
    assert!(!provider.forget_signer(&handle));
    assert_eq!(of(0xf00a).sign(&handle, b"message"), Err(Error::UnknownSigner));
    assert_eq!(of(0xf00a).signature_key_derive_public(&handle), Err(Error::UnknownSigner));
    assert!(Error::UnknownSigner.to_string().contains("not registered"));
    assert!(Error::Signer.to_string().contains("did not sign"));
    let short = SignatureSecretKey::new_slice(&[0; 31]);
    assert!(matches!(of(0xf00a).expanded_signer(&short).err(), Some(Error::Length { .. })));
    assert!(format!("{provider:?}").contains("Signers(0)"));
}

#[test]
fn a_group_lives_by_its_members_signers_alone() {
    let provider = Provider::new(Preset::Default);
    let (for_alice, for_bob) =
        (counted(&provider, 0xf00a, usize::MAX), counted(&provider, 0xf00a, usize::MAX));
    let with = |signer: &Arc<Counted>, name| {
        let handle = provider.register_signer(signer.clone());
        member(&provider, 0xf00a.into(), name, handle, signer.public_key().to_vec().into())
    };
    let (alice, bob) = (with(&for_alice, "alice"), with(&for_bob, "bob"));
    let mut a = alice.group_builder().unwrap().build().unwrap();
    let commit = a.commit_builder().add_member(key_package(&bob)).unwrap().build().unwrap();
    a.apply_pending_commit().unwrap();
    let (mut b, _) = bob.join_group(None, &commit.welcome_messages[0], None).unwrap();
    let before = for_bob.signed.load(Ordering::Relaxed);
    let commit: MlsMessage = b.commit(vec![]).unwrap().commit_message;
    b.apply_pending_commit().unwrap();
    deliver(&commit, &mut a);
    assert!(a.epoch_authenticator().unwrap() == b.epoch_authenticator().unwrap());
    assert!(for_bob.signed.load(Ordering::Relaxed) > before && for_alice.signed.load(Ordering::Relaxed) > 0);
}

#[test]
fn every_random_byte_comes_from_the_callers_generator() {
    // Never so outside a test: it repeats, so that what was drawn from elsewhere shows.
    let fixed = || {
        Provider::new(Preset::All).with_hedge(|out| {
            out.iter_mut().zip((1..=251).cycle()).for_each(|(byte, n)| *byte = n);
            Ok(())
        })
    };
    for suite in SUITES {
        let draw = |provider: Provider| {
            let suite = provider.cipher_suite_provider(suite.cipher_suite()).unwrap();
            let (secret, signing) = suite.signature_key_generate().unwrap();
            let (private, public) = suite.kem_generate().unwrap();
            let psk = gambeson_mls::mls_rs_core::crypto::HpkePsk::new(b"name", &[7; 32]);
            let mut bytes = [0; 8];
            suite.random_bytes(&mut bytes).unwrap();
            (
                suite.sign(&secret, b"message").unwrap(),
                suite.expanded_signer(&secret).unwrap().sign(b"message").unwrap(),
                suite.hpke_seal(&public, b"", None, b"text").unwrap(),
                suite.hpke_seal_psk(&public, b"", None, b"text", psk).unwrap(),
                suite.hpke_setup_s(&public, b"").unwrap().0,
                (secret, signing, private, public, bytes),
            )
        };
        assert!(draw(fixed()) == draw(fixed()), "{suite}: something is drawn from elsewhere");
        assert!(draw(fixed()).5.1 != draw(Provider::new(Preset::All)).5.1);
    }
}

#[test]
fn a_generator_that_fails_fails_the_operation() {
    let provider = Provider::new(Preset::All).with_hedge(|_| Err(RngError));
    for suite in SUITES {
        let broken = provider.cipher_suite_provider(suite.cipher_suite()).unwrap();
        let good = Provider::new(Preset::All).cipher_suite_provider(suite.cipher_suite()).unwrap();
        let (secret, _) = good.signature_key_generate().unwrap();
        let (_, public) = good.kem_generate().unwrap();
        assert_eq!(broken.random_bytes(&mut [0]), Err(Error::Random));
        assert_eq!(broken.signature_key_generate().err(), Some(Error::Random), "{suite}");
        assert_eq!(broken.kem_generate().err(), Some(Error::Random), "{suite}");
        assert!(broken.hpke_seal(&public, b"", None, b"").is_err(), "{suite}");
        let hedged = suite.name().contains("MLDSA");
        assert_eq!(broken.sign(&secret, b"message").err(), hedged.then_some(Error::Random), "{suite}");
    }
}
