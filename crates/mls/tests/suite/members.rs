//! Members of groups, for the tests that make them.

use gambeson_mls::mls_rs_core::crypto::{SignaturePublicKey, SignatureSecretKey};
use mls_rs::client_builder::MlsConfig;
use mls_rs::group::ReceivedMessage;
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::{CipherSuite, CipherSuiteProvider, Client, CryptoProvider, Group, MlsMessage};

/// A client with a new key.
pub fn client<P: CryptoProvider + Clone>(
    provider: &P,
    suite: CipherSuite,
    name: &str,
) -> Client<impl MlsConfig> {
    let (secret, public) = provider.cipher_suite_provider(suite).unwrap().signature_key_generate().unwrap();
    member(provider, suite, name, secret, public)
}

/// A client with that key.
pub fn member<P: CryptoProvider + Clone>(
    provider: &P,
    suite: CipherSuite,
    name: &str,
    secret: SignatureSecretKey,
    public: SignaturePublicKey,
) -> Client<impl MlsConfig> {
    let credential = BasicCredential::new(name.as_bytes().to_vec()).into_credential();
    Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(provider.clone())
        .signing_identity(SigningIdentity::new(credential, public), secret, suite)
        .build()
}

/// A new key package.
pub fn key_package(client: &Client<impl MlsConfig>) -> MlsMessage {
    client.generate_key_package_message(Default::default(), Default::default(), None).unwrap()
}

/// What is said and committed, as bytes over the wire.
pub fn deliver(message: &MlsMessage, to: &mut Group<impl MlsConfig>) -> ReceivedMessage {
    to.process_incoming_message(MlsMessage::from_bytes(&message.to_bytes().unwrap()).unwrap()).unwrap()
}
