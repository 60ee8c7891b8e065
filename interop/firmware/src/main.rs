//! Puts what firmware made, the file `made` of a folder, to RustCrypto and liboqs, and writes their answers beside it: the file
//! `answers`. Nothing of ours is linked.
//!
//! For every parameter set, first of one profile, then of the other, `made` has:
//! * ML-KEM: the seed of a key, its encapsulation key, a ciphertext and the secret in it;
//! * ML-DSA: the seed of a key, its verifying key, a message of 32 bytes and its deterministic signature;
//!
//! and `answers` has the number of peers in a byte, then of each peer:
//! * ML-KEM: a ciphertext for that key and the secret in it, an encapsulation and a decapsulation key of the peer's;
//! * ML-DSA: a verifying and a signing key of the peer's, and its signature of the same message.

#[cfg(feature = "liboqs")]
mod liboqs;
mod rustcrypto;

use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::{env, fs};

/// The name of a parameter set of ML-KEM, and bytes of an encapsulation key and of a ciphertext (FIPS 203, Table 3).
const KEM: [(&str, usize, usize); 3] =
    [("ML-KEM-512", 800, 768), ("ML-KEM-768", 1184, 1088), ("ML-KEM-1024", 1568, 1568)];
/// The same of ML-DSA, of a verifying key and of a signature (FIPS 204, Table 2).
const DSA: [(&str, usize, usize); 3] =
    [("ML-DSA-44", 1312, 2420), ("ML-DSA-65", 1952, 3309), ("ML-DSA-87", 2592, 4627)];

const PROFILES: [&str; 2] = ["fast", "small"];

/// An implementation of both standards. Bytes have the right length; what it refuses is an error.
trait Peer {
    fn name(&self) -> &'static str;

    /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal).
    fn kem_pair(&self, set: &str, seed: &[u8; 64]) -> Result<(Vec<u8>, Vec<u8>)>;

    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    fn encapsulate(&self, set: &str, ek: &[u8]) -> Result<(Vec<u8>, Vec<u8>)>;

    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    fn decapsulate(&self, set: &str, dk: &[u8], c: &[u8]) -> Result<Vec<u8>>;

    /// FIPS 204, Algorithm 1 (ML-DSA.KeyGen).
    fn dsa_pair(&self, set: &str) -> Result<(Vec<u8>, Vec<u8>)>;

    /// The verifying key of a seed, where the peer has a door for that.
    fn verifying_key(&self, set: &str, seed: &[u8; 32]) -> Option<Vec<u8>>;

    /// FIPS 204, Algorithm 2 (ML-DSA.Sign).
    fn sign(&self, set: &str, sk: &[u8], message: &[u8]) -> Result<Vec<u8>>;

    /// FIPS 204, Algorithm 3 (ML-DSA.Verify).
    fn verify(&self, set: &str, vk: &[u8], message: &[u8], signature: &[u8]) -> Result<()>;
}

fn main() -> Result<()> {
    let folder = env::args_os().nth(1).context("the folder with the file `made`")?;
    let made = fs::read(Path::new(&folder).join("made"))?;
    #[cfg(feature = "liboqs")]
    let liboqs = liboqs::Liboqs::new();
    let peers: &[&dyn Peer] = &[
        &rustcrypto::RustCrypto,
        #[cfg(feature = "liboqs")]
        &liboqs,
    ];
    let (accepted, answers) = answer(&made, peers)?;
    // One bit of any piece, and no peer accepts the whole.
    let mut refused = 0;
    for (at, peer) in places().into_iter().flat_map(|at| peers.iter().map(move |peer| (at, *peer))) {
        let mut changed = made.clone();
        changed[at] ^= 1;
        let name = peer.name();
        ensure!(answer(&changed, &[peer]).is_err(), "canary: {name} accepts all with byte {at} changed");
        refused += 1;
    }
    fs::write(Path::new(&folder).join("answers"), answers)?;
    println!("accepted {accepted}, refused {refused}");
    Ok(())
}

/// A byte of each piece but the seeds.
fn places() -> Vec<usize> {
    let (mut places, mut at) = (Vec::new(), 0);
    for _ in PROFILES {
        let kem = KEM.map(|(_, ek, c)| [64, ek, c, 32]);
        for pieces in kem.into_iter().chain(DSA.map(|(_, vk, signature)| [32, vk, 32, signature])) {
            for (number, piece) in pieces.into_iter().enumerate() {
                if number > 0 {
                    places.push(at + piece / 2);
                }
                at += piece;
            }
        }
    }
    places
}

/// How many pieces were accepted, each by a peer, and the answers.
fn answer(made: &[u8], peers: &[&dyn Peer]) -> Result<(usize, Vec<u8>)> {
    let (mut rest, mut accepted, mut answers) = (made, 0, vec![u8::try_from(peers.len())?]);
    let mut next = |count: usize| -> Result<&[u8]> {
        let (next, after) = rest.split_at_checked(count).context("the file is too short")?;
        rest = after;
        Ok(next)
    };
    for profile in PROFILES {
        for (set, ek, c) in KEM {
            let (seed, ek, c, shared) = (next(64)?.try_into()?, next(ek)?, next(c)?, next(32)?);
            for peer in peers {
                let by = || format!("{} {profile} by {}", set, peer.name());
                let (public, private) = peer.kem_pair(set, seed)?;
                ensure!(public == ek, "{}: the encapsulation key", by());
                ensure!(peer.decapsulate(set, &private, c)? == shared, "{}: the secret", by());
                accepted += 2;
                let (c, shared) = peer.encapsulate(set, ek)?;
                let (public, private) = peer.kem_pair(set, &seed.map(|byte| !byte))?;
                answers.extend([c, shared, public, private].concat());
            }
        }
        for (set, vk, signature) in DSA {
            let (seed, vk, message, signature) =
                (next(32)?.try_into()?, next(vk)?, next(32)?, next(signature)?);
            for peer in peers {
                if peer.verifying_key(set, seed).is_some_and(|public| public != vk) {
                    bail!("{set} {profile} by {}: the verifying key", peer.name());
                }
                peer.verify(set, vk, message, signature)
                    .with_context(|| format!("{set} {profile} by {}", peer.name()))?;
                accepted += 1;
                let (public, private) = peer.dsa_pair(set)?;
                let signature = peer.sign(set, &private, message)?;
                answers.extend([public, private, signature].concat());
            }
        }
    }
    ensure!(rest.is_empty(), "the file is too long");
    Ok((accepted, answers))
}
