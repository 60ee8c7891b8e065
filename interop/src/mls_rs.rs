//! mls-rs with a provider as its makers ship it, over AWS-LC: groups of members of both providers, on the suites of RFC 9420 that we have.

use gambeson_mls::{Preset, Provider};
use libtest_mimic::Trial;
use mls_rs::client_builder::MlsConfig;
use mls_rs::group::ReceivedMessage;
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::{CipherSuite, CipherSuiteProvider, Client, CryptoProvider, Group, MlsMessage};
use mls_rs_crypto_awslc::AwsLcCryptoProvider;

use crate::tools::{Result, check};

/// The suites: 5 is that of P-521.
const SUITES: [u16; 5] = [1, 2, 3, 5, 7];

/// The tests: a suite that the stock provider does not have fails.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let trial = |number: u16| {
        let (ours, theirs) = (|| Provider::new(Preset::All), AwsLcCryptoProvider::new);
        [
            Trial::test(format!("mls_rs::a_stock_member_lives_in_our_group_on_suite_{number}"), move || {
                life(&ours(), &theirs(), number.into())
            }),
            Trial::test(
                format!("mls_rs::we_live_in_the_group_of_a_stock_member_on_suite_{number}"),
                move || life(&theirs(), &ours(), number.into()),
            ),
        ]
    };
    SUITES.into_iter().flat_map(trial).collect()
}

fn client<P: CryptoProvider + Clone>(
    provider: &P,
    suite: CipherSuite,
    name: &str,
) -> Result<Client<impl MlsConfig + use<P>>> {
    let with_suite = provider.cipher_suite_provider(suite).ok_or("the provider does not have the suite")?;
    let (secret, public) = with_suite.signature_key_generate().map_err(|error| format!("{error:?}"))?;
    let credential = BasicCredential::new(name.as_bytes().to_vec()).into_credential();
    Ok(Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(provider.clone())
        .signing_identity(SigningIdentity::new(credential, public), secret, suite)
        .build())
}

fn key_package(client: &Client<impl MlsConfig>) -> Result<MlsMessage> {
    over(&client.generate_key_package_message(Default::default(), Default::default(), None)?)
}

/// What another member gets: bytes.
fn over(message: &MlsMessage) -> Result<MlsMessage> {
    Ok(MlsMessage::from_bytes(&message.to_bytes()?)?)
}

/// What an application says in a message; nothing, if it is a commit.
fn take(group: &mut Group<impl MlsConfig>, message: &MlsMessage) -> Result<Vec<u8>> {
    match group.process_incoming_message(over(message)?)? {
        ReceivedMessage::ApplicationMessage(said) => Ok(said.data().to_vec()),
        ReceivedMessage::Commit(_) => Ok(Vec::new()),
        other => Err(format!("neither a commit nor a message: {other:?}").into()),
    }
}

/// Three members of two providers: `first` makes a group and adds one of each, all speak, those of both providers update, and each
/// provider's member removes one.
fn life<A: CryptoProvider + Clone, B: CryptoProvider + Clone>(
    first: &A,
    second: &B,
    suite: CipherSuite,
) -> Result {
    let (alice, bob, carol) =
        (client(first, suite, "alice")?, client(second, suite, "bob")?, client(first, suite, "carol")?);
    let mut a = alice.group_builder()?.build()?;
    let builder = a.commit_builder().add_member(key_package(&bob)?)?.add_member(key_package(&carol)?)?;
    let added = builder.build()?;
    a.apply_pending_commit()?;
    let welcome = over(added.welcome_messages.first().ok_or("a Welcome")?)?;
    let (mut b, _) = bob.join_group(None, &welcome, None)?;
    let (mut c, _) = carol.join_group(None, &welcome, None)?;
    agree(&a, &b, "the Welcome")?;
    agree(&a, &c, "the Welcome")?;

    let said = a.encrypt_application_message(b"from alice", Vec::new())?;
    check(take(&mut b, &said)? == b"from alice", "bob hears alice")?;
    check(take(&mut c, &said)? == b"from alice", "carol hears alice")?;
    let said = b.encrypt_application_message(b"from bob", Vec::new())?;
    check(take(&mut a, &said)? == b"from bob", "alice hears bob")?;
    check(take(&mut c, &said)? == b"from bob", "carol hears bob")?;

    // An empty commit has a path: every node above the committer gets a key that the others derive.
    let update = b.commit(Vec::new())?.commit_message;
    b.apply_pending_commit()?;
    take(&mut a, &update)?;
    take(&mut c, &update)?;
    agree(&a, &b, "an update by bob")?;
    agree(&a, &c, "an update by bob")?;
    let update = a.commit(Vec::new())?.commit_message;
    a.apply_pending_commit()?;
    take(&mut b, &update)?;
    take(&mut c, &update)?;
    agree(&a, &b, "an update by alice")?;
    agree(&a, &c, "an update by alice")?;

    let removal = b.commit_builder().remove_member(c.current_member_index())?.build()?.commit_message;
    b.apply_pending_commit()?;
    take(&mut a, &removal)?;
    take(&mut c, &removal)?;
    agree(&a, &b, "the removal of carol")?;
    let said = b.encrypt_application_message(b"without carol", Vec::new())?;
    check(take(&mut a, &said)? == b"without carol", "alice hears bob without carol")?;
    check(take(&mut c, &said).is_err(), "who was removed reads")?;

    let removal = a.commit_builder().remove_member(b.current_member_index())?.build()?.commit_message;
    a.apply_pending_commit()?;
    take(&mut b, &removal)?;
    let said = a.encrypt_application_message(b"alone", Vec::new())?;
    check(take(&mut b, &said).is_err(), "who was removed reads")
}

fn agree(one: &Group<impl MlsConfig>, other: &Group<impl MlsConfig>, after: &str) -> Result {
    let same = *one.epoch_authenticator()? == *other.epoch_authenticator()?;
    check(same, format!("the epoch authenticators differ after {after}"))
}
