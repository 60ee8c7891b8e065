//! What a person does who has the 32 bytes of a seed, the page `docs/spec/kdf.md`, and a program for age files.

use gambeson_age::Identity;
use gambeson_identity::{Agent, MasterSeed, Timestamp, backup::Backup};

#[test]
fn the_seed_and_age_alone_open_a_backup() {
    let seed = [9; 32];
    let agent = Agent::from_seed(MasterSeed::from_bytes(&seed));
    let mut backup = Backup::new(&agent, Timestamp(1_795_330_800));
    backup.add_credential("employer.jwt", b"eyJ").unwrap();
    let file = backup.seal(&agent).unwrap();

    let material = [&seed[..], &[0; 8]].concat();
    let key = blake3::derive_key("gambeson 2026-11-21 v1 m/3' backup X-Wing seed", &material);
    let identity = Identity::from_seed(&key);
    assert_eq!(
        identity.recipient().encapsulation_key().as_bytes()[..],
        agent.public_key(gambeson_identity::Role::Backup)
    );
    let mut archive = Vec::new();
    gambeson_age::open(&[&identity], &file[..], &mut archive).unwrap();
    assert!(archive.starts_with(b"gambeson backup\x01"));
    assert!(archive.windows(12).any(|window| window == b"employer.jwt"));
}
