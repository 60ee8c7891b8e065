//! Logs: `tree`, `inclusion`, `consistency`, `proof`.

use super::identity::{File, Found, bad, by_formula, text};
use super::secrets::of;
use crate::harness::{from_hex, hex};
use base64ct::{Base64, Encoding};
use gambeson::mldsa::{self, MlDsa44};
use gambeson_identity::tlog::{
    Hash, Log, MemoryStorage, Proof, SignedCheckpoint, key_id, verifier_key, verify_consistency,
    verify_inclusion,
};
use gambeson_identity::{Agent, Algorithm, MasterSeed, Purpose, Role, Suite, Timestamp, VerifyingKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The largest log that is made for a vector.
const MAX_SIZE: u64 = 1 << 20;

/// Above this many entries a vector lists neither bundles of entries nor the tiles of leaves.
const LISTED: u64 = 1000;

/// A vector that is not in its form is none that is known here, whatever reason it gives.
pub(super) fn log(file: &File, vector: &Value) -> Option<Found> {
    match text(vector, "kind") {
        "tree" => tree(vector),
        "inclusion" => {
            let (leaf, root, path) = (hash(vector, "leaf")?, hash(vector, "root")?, hashes(vector)?);
            let (index, size) = (number(vector, "index")?, number(vector, "size")?);
            Some(verify_inclusion(&leaf, index, size, &path, &root).and_then(|()| told(vector, &true.into())))
        }
        "consistency" => {
            let (old, new) = (hash(vector, "old_root")?, hash(vector, "new_root")?);
            let old = (number(vector, "old_size")?, &old);
            let new = (number(vector, "new_size")?, &new);
            let path = hashes(vector)?;
            Some(verify_consistency(old, new, &path).and_then(|()| told(vector, &true.into())))
        }
        "proof" => proof(file, vector),
        _ => None,
    }
}

/// What was found is all that the vector expects.
fn told(vector: &Value, found: &Value) -> Found {
    match vector["expect"] == *found {
        true => Ok(Vec::new()),
        false => Err(bad(&format!("found is {found}"))),
    }
}

fn tree(vector: &Value) -> Option<Found> {
    let size = number(vector, "size").filter(|size| *size <= MAX_SIZE)?;
    let seed: [u8; 32] = from_hex(text(vector, "seed"))?.try_into().ok()?;
    let now: Timestamp = text(vector, "now").parse().ok()?;
    let origin = text(vector, "origin");
    let entries = (0..size).map(|n| format!("entry {n}").repeat((n % 5) as usize)).collect::<Vec<_>>();
    let entries = entries.iter().map(String::as_bytes).collect::<Vec<_>>();
    let made = || {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&seed));
        let key = agent.key(Role::Log);
        let mut log = Log::create(MemoryStorage::default(), origin, key, now)?;
        if size > 0 {
            log.append(&entries, key, now)?;
        }
        log.audit()?;
        // The library signs with other randomness each time: the checkpoint of the vector is made by the formula, and
        // the library must take it for its own.
        let checkpoint = checkpoint(origin, size, &log.checkpoint().root, &seed, now)?;
        let read = SignedCheckpoint::parse(checkpoint.as_bytes())?;
        if read.verify(origin, &key.verifying_key(), now)?.0 != log.checkpoint() {
            return Err(bad("the checkpoint differs"));
        }
        let left_out = |name: &str| name.starts_with("tile/0/") || name.starts_with("tile/entries/");
        let files = log.storage().files().filter(|(name, _)| size <= LISTED || !left_out(name));
        let files = files.map(|(name, contents)| {
            let contents = if name == "checkpoint" { checkpoint.as_bytes() } else { contents };
            json!({"name": name, "sha256": hex(&Sha256::digest(contents))})
        });
        let files: Value = files.collect();
        told(vector, &json!({"root": hex(&log.checkpoint().root), "files": files}))
    };
    Some(made())
}

/// What `docs/spec/log.md` says of a checkpoint, with a signature of the deterministic variant.
fn checkpoint(
    origin: &str,
    size: u64,
    root: &Hash,
    seed: &[u8; 32],
    now: Timestamp,
) -> Result<String, gambeson_identity::Error> {
    let (context, len) = (Purpose::Log.context(Suite::Default), Purpose::Log.output_len(Suite::Default));
    let seed = by_formula(Suite::Default, context, seed, 0, len)?;
    let seed: &[u8; 32] = seed[..].try_into().map_err(|_| bad("a seed must have 32 bytes"))?;
    let key = mldsa::SigningKey::<MlDsa44>::from_seed(seed);
    let public = VerifyingKey::from_bytes(Algorithm::MlDsa44, key.verifying_key().as_bytes())?;
    let time = now.0.to_be_bytes();
    let name = [&[u8::try_from(origin.len()).unwrap_or(u8::MAX)], origin.as_bytes()].concat();
    let (start, end) = ([0; 8], size.to_be_bytes());
    let signed = [b"subtree/v1\n\0", &name[..], &time, &name, &start, &end, root].concat();
    let signature = key.sign_deterministic(&signed[..]);
    let line = [&key_id(origin, &public)?[..], &time, &signature].concat();
    let (root, line) = (Base64::encode_string(root), Base64::encode_string(&line));
    Ok(format!("{origin}\n{size}\n{root}\n\n\u{2014} {origin} {line}\n"))
}

fn proof(file: &File, vector: &Value) -> Option<Found> {
    let given = |name: &str| of(file, vector, name).as_str();
    let mut proof = given("proof")?.to_owned();
    if let Some(edit) = vector.get("edit") {
        let (from, to) = (edit[0].as_str()?, edit[1].as_str()?);
        proof = Some(proof.replacen(from, to, 1)).filter(|edited| *edited != proof)?;
    }
    proof += text(vector, "append");
    let (origin, key) = key(given("key")?)?;
    let (entry, now) = (from_hex(given("entry")?)?, given("now")?.parse().ok()?);
    let judged = Proof::parse(proof.as_bytes()).and_then(|proof| proof.verify(&entry, origin, &key, now));
    Some(judged.and_then(|included| {
        let found = json!({
            "index": included.index.to_string(),
            "size": included.checkpoint.size.to_string(),
            "root": hex(&included.checkpoint.root),
            "signed": included.signed.to_string(),
        });
        told(vector, &found)
    }))
}

/// A verifier key (c2sp.org/signed-note): origin, `+`, identifier, `+`, the type and the key in Base64.
fn key(text: &str) -> Option<(&str, VerifyingKey)> {
    let mut parts = text.splitn(3, '+');
    let (origin, _, base64) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = Base64::decode_vec(base64).ok()?;
    let key = VerifyingKey::from_bytes(Algorithm::MlDsa44, bytes.strip_prefix(&[6])?).ok()?;
    (verifier_key(origin, &key).ok()? == text).then_some((origin, key))
}

fn number(vector: &Value, name: &str) -> Option<u64> {
    text(vector, name).parse().ok()
}

fn hash(vector: &Value, name: &str) -> Option<Hash> {
    from_hex(text(vector, name))?.try_into().ok()
}

fn hashes(vector: &Value) -> Option<Vec<Hash>> {
    let path = vector["path"].as_array()?.iter();
    path.map(|hash| from_hex(hash.as_str()?)?.try_into().ok()).collect()
}
