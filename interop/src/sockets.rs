//! TLS with other people's programs over real sockets: Go, Node, OpenSSL, Python, Bouncy Castle and tlslite-ng, as clients and as
//! servers.
//!
//! Each meets us over every group that it knows, and with every kind of certificate; and once over a group that it was not told of, with
//! a root that did not sign, and with another group than was expected: all three must be noticed. What was met is in
//! `docs/interop.md`, written with `GAMBESON_BLESS=1`.

mod chromium;
mod conversation;
pub mod heavy;
mod peers;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gambeson_pki::{Algorithm, Form};
use gambeson_rustls::{Builder, Group, MLKEM512, Preset, Scheme, X448_MLKEM1024};
use libtest_mimic::Trial;

use crate::tls::Chain;
use crate::tools::{Result, check, unavailable};
pub(crate) use conversation::patient;
use conversation::{as_client, as_server, over};
use peers::{FINDERS, Find, Peer};

/// Tests with each peer that is here, in both roles.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let scratch = scratch.join("sockets");
    let mut trials = with_peers("sockets", &scratch, &FINDERS);
    trials.extend(chromium::trials(&scratch));
    trials
}

/// The newest Node of the tests, from npm.
///
/// # Errors
/// npm does not find it.
pub fn newest_node(scratch: &Path) -> Result<PathBuf> {
    let [.., (_, version)] = peers::NODES;
    peers::node(&scratch.join("sockets/node"), version)
}

fn with_peers(area: &str, scratch: &Path, finders: &[(&str, Find)]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, find) in finders {
        let folder = scratch.join(name);
        match fs::create_dir_all(&folder).map_err(Into::into).and_then(|()| find(&folder)) {
            Ok(peers) => trials.extend(peers.into_iter().flat_map(|peer| both(area, peer, &folder))),
            Err(reason) => {
                trials.push(unavailable(&format!("{area}::{name}"), reason.message().unwrap_or_default()));
            }
        }
    }
    trials
}

fn both(area: &str, peer: Peer, folder: &Path) -> [Trial; 2] {
    let name = peer.name.to_lowercase().replace([' ', '.', '-'], "_");
    let (peer, folder) = (Arc::new(peer), folder.join(&name));
    let (again, beside) = (Arc::clone(&peer), folder.clone());
    [
        Trial::test(format!("{area}::{name}_as_client"), move || {
            let checks_paths = peer.verifies_chains;
            meetings(&peer, &folder.join("client"), as_client, checks_paths)
        }),
        Trial::test(format!("{area}::{name}_as_server"), move || {
            meetings(&again, &beside.join("server"), as_server, true)
        }),
    ]
}

/// Every group with one kind of certificate, and every kind with one group, and what must not succeed.
fn meetings(peer: &Peer, folder: &Path, meet: fn(&Peer, &Meeting) -> Result, checks_paths: bool) -> Result {
    fs::create_dir_all(folder)?;
    let mut met = 0;
    let first = (peer.groups[0], peer.algorithms[0]);
    let groups = peer.groups.iter().map(|number| (*number, first.1));
    let kinds = peer.algorithms[1..].iter().map(|algorithm| (first.0, *algorithm));
    for (number, algorithm) in groups.chain(kinds) {
        let group = Group::by_number(number).ok_or_else(|| format!("{number:#06x} is no group of ours"))?;
        let meeting = Meeting::new(group, algorithm, folder)?;
        meet(peer, &meeting).map_err(|error| {
            format!("{} over {group} with {algorithm}: {}", peer.name, error.message().unwrap_or_default())
        })?;
        met += 1;
    }
    check(met == peer.groups.len() + peer.algorithms.len() - 1, "all were met")?;
    mistakes(peer, folder, meet, checks_paths)?;
    recorded(&peer.name, peer.groups, peer.algorithms)
}

/// What must fail does, and what is not as expected is noticed.
fn mistakes(peer: &Peer, folder: &Path, meet: fn(&Peer, &Meeting) -> Result, checks_paths: bool) -> Result {
    let group = Group::by_number(peer.groups[0]).ok_or("a group of ours")?;
    let meeting = || Meeting::new(group, peer.algorithms[0], folder);
    // Nobody knows the first but our provider, which is told of it here; it is not told of the second.
    let other = if group.number() == X448_MLKEM1024.number() { &MLKEM512 } else { &X448_MLKEM1024 };
    let apart = Meeting { ours: vec![other], expected: other, ..meeting()? };
    check(meet(peer, &apart).is_err(), format!("{}: they met without a common group", peer.name))?;
    let expected = Meeting { ours: vec![other, group], expected: other, ..meeting()? };
    let error = meet(peer, &expected).err();
    let noticed = error.as_ref().and_then(|error| error.message()).unwrap_or_default();
    let right = noticed.contains(&over(Some(group.number())));
    check(right, format!("{}: another group was not noticed: {noticed}", peer.name))?;
    if !checks_paths {
        return Ok(());
    }
    let mut stranger = meeting()?;
    stranger.chain.root = Chain::new(peer.algorithms[0])?.root;
    fs::write(&stranger.roots, stranger.chain.root.to_pem())?;
    check(meet(peer, &stranger).is_err(), format!("{}: a root that did not sign was taken", peer.name))
}

/// One chain over one group.
struct Meeting {
    /// What the peer is told.
    group: &'static Group,
    /// What we offer.
    ours: Vec<&'static Group>,
    /// Over what it must come.
    expected: &'static Group,
    chain: Chain,
    /// Files for the peer.
    roots: PathBuf,
    sent: PathBuf,
    key: PathBuf,
}

impl Meeting {
    fn new(group: &'static Group, algorithm: Algorithm, folder: &Path) -> Result<Self> {
        let chain = Chain::new(algorithm)?;
        let path = |name: &str| folder.join(name);
        let (roots, sent, key) = (path("root.pem"), path("chain.pem"), path("key.pem"));
        fs::write(&roots, chain.root.to_pem())?;
        fs::write(&sent, chain.pem()?)?;
        // The form that all of them read.
        fs::write(&key, chain.key.to_pkcs8_pem(Form::Both)?.as_bytes())?;
        Ok(Self { group, ours: vec![group], expected: group, chain, roots, sent, key })
    }

    fn provider(&self) -> Result<Arc<rustls::crypto::CryptoProvider>> {
        let builder = Builder::new(Preset::Default).groups(&self.ours);
        Ok(Arc::new(builder.scheme(Scheme::MLDSA87_ED448).build()?))
    }
}

/// Whether the table in the docs has what was just seen; it is rewritten where that is asked for.
fn recorded(who: &str, groups: &[u16], algorithms: &[Algorithm]) -> Result {
    let name = |number: &u16| Group::by_number(*number).map_or(String::new(), ToString::to_string);
    let groups: Vec<String> = groups.iter().map(name).collect();
    let algorithms: Vec<String> = algorithms.iter().map(ToString::to_string).collect();
    let row = format!("| {who} | {} | {} |", groups.join(", "), algorithms.join(", "));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/interop.md");
    let page = fs::read_to_string(path)?;
    eprintln!("{row}");
    if page.lines().any(|line| line == row) {
        return Ok(());
    }
    if std::env::var_os("GAMBESON_BLESS").is_none() {
        // Another machine has other versions of what its distribution brings.
        let kind = who.split(' ').next().unwrap_or_default();
        let known = page.lines().any(|line| line.starts_with(&format!("| {kind} ")));
        return check(known, format!("docs/interop.md has no row {row}"));
    }
    let mut lines: Vec<&str> = page.lines().filter(|line| !line.starts_with(&format!("| {who} |"))).collect();
    lines.push(&row);
    Ok(fs::write(path, format!("{}\n", lines.join("\n")))?)
}
