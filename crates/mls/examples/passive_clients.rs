//! Makes the files of `vectors/mls`: passive clients on every post-quantum and hybrid suite; on those that OpenMLS 0.9.2 has as it
//! has them; and on all of the draft under numbers that it takes.
//!
//! ```sh
//! cargo run --release -p gambeson-mls --features vectors --example passive_clients -- vectors/mls
//! ```
//!
//! In each case somebody founds a group, takes in somebody else and the passive client, who has nothing but what the case tells:
//! the private keys of its key package, the Welcome, the messages. Three epochs follow: one with a path of the founder and a
//! pre-shared key, one with an update of the second member and a path of the founder, one in which the second member leaves by a
//! path of the founder. In each the founder or the second member says something. Every key is new at every run; the counts are not.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use gambeson_mls::vectors::{Verdict, judge};
use gambeson_mls::{Preset, Provider, SUITES, Suite};
use mls_rs::client_builder::MlsConfig;
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::psk::{ExternalPskId, PreSharedKey};
use mls_rs::storage_provider::in_memory::{InMemoryKeyPackageStorage, InMemoryPreSharedKeyStorage};
use mls_rs::{CipherSuite, CipherSuiteProvider, Client, CryptoProvider, Group, MlsMessage};
use serde_json::{Value, json};

const PSK: (&[u8], &[u8]) = (b"a pre-shared key", &[0x5a; 48]);

/// For as long as the files are read: OpenMLS takes none that are good for more than three months, but looks at no clock for those
/// that are in a tree already.
const LIFETIME: std::time::Duration = std::time::Duration::from_secs(30 * 24 * 60 * 60);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("the folder for the files is to be named")?;
    let folder = Path::new(&folder);
    write(folder, "passive-client", each(&Provider::new(Preset::All), "labeled"))?;
    write(folder, "passive-client-openmls", each(&Provider::openmls(), "plain"))?;
    let of_the_draft = SUITES.iter().filter(|suite| (0xf001..=0xf00b).contains(&suite.number()));
    write(folder, "passive-client-renumbered", of_the_draft.map(renumbered))
}

/// A suite, and the provider that has it under the number on the wire.
struct Setting {
    provider: Provider,
    suite: u16,
    number: Option<u16>,
    derivation: &'static str,
}

/// Of RFC 9420 there are files of the working group.
fn each(provider: &Provider, derivation: &'static str) -> impl Iterator<Item = Setting> {
    let suites = provider.supported_cipher_suites().into_iter().map(u16::from).filter(|suite| *suite > 7);
    suites.map(move |suite| Setting { provider: provider.clone(), suite, number: None, derivation })
}

/// A suite under the number that OpenMLS has for it, and if it has none, for the one that differs in the KEM alone.
fn renumbered(suite: &'static Suite) -> Setting {
    let number = match suite.number() {
        0xf003 => Some(0x0002),
        0xf004 => Some(0x0050),
        0xf005 => Some(0x0042),
        _ => suite.openmls_number(),
    };
    let provider = Provider::of([suite]).with_numbers(|_| number);
    Setting { provider, suite: suite.number(), number, derivation: "labeled" }
}

fn write(folder: &Path, kind: &str, suites: impl Iterator<Item = Setting>) -> Result<(), Box<dyn Error>> {
    let mut cases = Vec::new();
    for Setting { provider, suite, number, derivation } in suites {
        let mut case = followed(&provider, number.unwrap_or(suite).into())?;
        case["cipher_suite"] = suite.into();
        case["derivation"] = derivation.into();
        if let Some(number) = number {
            case["number"] = number.into();
        }
        match judge(kind, &case) {
            Some(Verdict::Holds) => cases.push(case),
            other => return Err(format!("suite {suite:#06x}: {other:?}").into()),
        }
    }
    let path = folder.join(kind).with_extension("json.gz");
    let mut file = flate2::write::GzEncoder::new(std::fs::File::create(&path)?, flate2::Compression::best());
    file.write_all(serde_json::to_string(&cases)?.as_bytes())?;
    file.finish()?;
    println!("{}: {} cases", path.display(), cases.len());
    Ok(())
}

/// What a client leaves for the file.
struct Kept {
    signing: Vec<u8>,
    packages: InMemoryKeyPackageStorage,
}

fn client(
    provider: &Provider,
    suite: CipherSuite,
    name: &str,
) -> Result<(Client<impl MlsConfig + use<>>, Kept), Box<dyn Error>> {
    let keys = provider.cipher_suite_provider(suite).ok_or("a suite of the provider")?;
    let (secret, public) = keys.signature_key_generate()?;
    let credential = BasicCredential::new(name.as_bytes().to_vec()).into_credential();
    let mut psks = InMemoryPreSharedKeyStorage::default();
    psks.insert(ExternalPskId::new(PSK.0.to_vec()), PreSharedKey::new(PSK.1.to_vec()));
    let kept = Kept { signing: secret.as_bytes().to_vec(), packages: InMemoryKeyPackageStorage::new() };
    let client = Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(provider.clone())
        .key_package_repo(kept.packages.clone())
        .key_package_lifetime(LIFETIME)
        .psk_store(psks)
        .signing_identity(SigningIdentity::new(credential, public), secret, suite)
        .build();
    Ok((client, kept))
}

fn key_package(client: &Client<impl MlsConfig>) -> Result<MlsMessage, Box<dyn Error>> {
    Ok(client.generate_key_package_message(Default::default(), Default::default(), None)?)
}

fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

fn message(message: &MlsMessage) -> Result<String, Box<dyn Error>> {
    Ok(hex(&message.to_bytes()?))
}

/// An epoch as the file tells it, once every member that stays is in it.
fn epoch(
    members: [&Group<impl MlsConfig>; 2],
    proposals: &[&MlsMessage],
    commit: &MlsMessage,
    told: (&MlsMessage, &str),
) -> Result<Value, Box<dyn Error>> {
    let [authenticator, other] = [members[0].epoch_authenticator()?, members[1].epoch_authenticator()?];
    if *authenticator != *other {
        return Err("two members of one epoch have two authenticators".into());
    }
    let proposals = proposals.iter().map(|proposal| message(proposal)).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({
        "proposals": proposals,
        "commit": message(commit)?,
        "epoch_authenticator": hex(&authenticator),
        "said": [{"message": message(told.0)?, "data": hex(told.1.as_bytes())}],
    }))
}

fn followed(provider: &Provider, suite: CipherSuite) -> Result<Value, Box<dyn Error>> {
    let ((founder, _), (second, _)) =
        (client(provider, suite, "founder")?, client(provider, suite, "second")?);
    let (passive, kept) = client(provider, suite, "passive")?;
    let mut a = founder.group_builder()?.build()?;
    let package = key_package(&passive)?;
    let begun = a.commit_builder().add_member(key_package(&second)?)?.add_member(package.clone())?.build()?;
    a.apply_pending_commit()?;
    let welcome = begun.welcome_messages.first().ok_or("a Welcome")?;
    let (mut b, _) = second.join_group(None, welcome, None)?;
    let joined = a.epoch_authenticator()?;

    let id = ExternalPskId::new(PSK.0.to_vec());
    let commit = a.commit_builder().add_external_psk(id)?.build()?.commit_message;
    a.apply_pending_commit()?;
    b.process_incoming_message(commit.clone())?;
    let told = b.encrypt_application_message(b"from the second", Vec::new())?;
    let first = epoch([&a, &b], &[], &commit, (&told, "from the second"))?;

    let proposal = b.propose_update(Vec::new())?;
    a.process_incoming_message(proposal.clone())?;
    let commit = a.commit(Vec::new())?.commit_message;
    a.apply_pending_commit()?;
    b.process_incoming_message(commit.clone())?;
    let told = a.encrypt_application_message(b"from the founder", Vec::new())?;
    let second = epoch([&a, &b], &[&proposal], &commit, (&told, "from the founder"))?;

    let commit = a.commit_builder().remove_member(b.current_member_index())?.build()?.commit_message;
    a.apply_pending_commit()?;
    let told = a.encrypt_application_message(b"between two", Vec::new())?;
    let third = epoch([&a, &a], &[], &commit, (&told, "between two"))?;

    let packages = kept.packages.key_packages();
    let (_, private) = packages.first().ok_or("the private keys of the key package")?;
    Ok(json!({
        "external_psks": [{"psk_id": hex(PSK.0), "psk": hex(PSK.1)}],
        "key_package": message(&package)?,
        "signature_priv": hex(&kept.signing),
        "init_priv": hex(&private.init_key),
        "encryption_priv": hex(&private.leaf_node_key),
        "welcome": message(welcome)?,
        "ratchet_tree": null,
        "initial_epoch_authenticator": hex(&joined),
        "epochs": [first, second, third],
    }))
}
