//! `vectors/kdf.json`, and the tables of `docs/spec/kdf.md`.

use crate::vector_file;
use crate::world::hex;
use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{self, MlKem768, MlKem1024};
use gambeson::sha3::{Shake256, Squeeze};
use gambeson_hybrid::{composite, xwing};
use gambeson_identity::{Agent, MasterSeed, Path, Purpose, Suite};
use p256::elliptic_curve::sec1::ToSec1Point;
use serde_json::{Value, json};

const SUITES: [Suite; 2] = [Suite::Default, Suite::Cnsa2];

fn stream(key: &[u8]) -> Squeeze {
    Shake256::new().update(key).finalize_xof()
}

/// The public point of the first string of `N` bytes that is a scalar.
fn point<const N: usize>(stream: &mut Squeeze, mask: u8, of: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut candidates = core::iter::repeat_with(|| {
        let mut bytes = [0; N];
        stream.squeeze(&mut bytes);
        bytes[0] &= mask;
        bytes
    });
    candidates.find_map(|bytes| of(&bytes)).expect("a scalar")
}

fn p256(stream: &mut Squeeze) -> Vec<u8> {
    point::<32>(stream, 0xff, |bytes| {
        Some(p256::SecretKey::from_slice(bytes).ok()?.public_key().to_sec1_point(false).as_bytes().to_vec())
    })
}

fn p384(stream: &mut Squeeze) -> Vec<u8> {
    point::<48>(stream, 0xff, |bytes| {
        Some(p384::SecretKey::from_slice(bytes).ok()?.public_key().to_sec1_point(false).as_bytes().to_vec())
    })
}

fn p521(stream: &mut Squeeze) -> Vec<u8> {
    point::<66>(stream, 1, |bytes| {
        Some(p521::SecretKey::from_slice(bytes).ok()?.public_key().to_sec1_point(false).as_bytes().to_vec())
    })
}

/// The two seeds of a composite with Ed25519, and the public key.
fn ml_dsa_65_ed25519(stream: &mut Squeeze) -> Vec<u8> {
    let mut seeds = [0; 64];
    stream.squeeze(&mut seeds);
    let key = composite::SigningKey::from_bytes(&composite::MLDSA65_ED25519_SHA512, &seeds);
    key.expect("two seeds").verifying_key().as_bytes().to_vec()
}

fn ml_dsa_87_p384(stream: &mut Squeeze) -> Vec<u8> {
    let mut seed = [0; 32];
    stream.squeeze(&mut seed);
    let mut public = mldsa::SigningKey::<MlDsa87>::from_seed(&seed).verifying_key().as_bytes().to_vec();
    public.extend(p384(stream));
    public
}

/// The algorithm and the public key of a derived seed, for what is a pair of keys.
fn pair(suite: Suite, purpose: Purpose, key: &[u8]) -> Option<(&'static str, Vec<u8>)> {
    let short = || key.try_into().expect("32 bytes");
    let long = || key.try_into().expect("64 bytes");
    let mldsa44 = || {
        ("ML-DSA-44", mldsa::SigningKey::<MlDsa44>::from_seed(short()).verifying_key().as_bytes().to_vec())
    };
    let mldsa65 = || {
        ("ML-DSA-65", mldsa::SigningKey::<MlDsa65>::from_seed(short()).verifying_key().as_bytes().to_vec())
    };
    let mldsa87 = || {
        ("ML-DSA-87", mldsa::SigningKey::<MlDsa87>::from_seed(short()).verifying_key().as_bytes().to_vec())
    };
    Some(match (purpose, suite) {
        (Purpose::Identity | Purpose::Signing | Purpose::Did, Suite::Default) => mldsa65(),
        (Purpose::Identity | Purpose::Signing | Purpose::Did, Suite::Cnsa2) => mldsa87(),
        (Purpose::DataIntegrity | Purpose::Log | Purpose::GroupMlDsa44, _) => mldsa44(),
        (Purpose::GroupMlDsa65, _) => mldsa65(),
        (Purpose::GroupMlDsa87, _) => mldsa87(),
        (Purpose::GroupEcdsaP256, _) => ("ECDSA-P256-SHA256", p256(&mut stream(key))),
        (Purpose::GroupEcdsaP384, _) => ("ECDSA-P384-SHA384", p384(&mut stream(key))),
        (Purpose::GroupEcdsaP521, _) => ("ECDSA-P521-SHA512", p521(&mut stream(key))),
        (Purpose::GroupMlDsa65Ed25519, _) => ("MLDSA65-Ed25519-SHA512", ml_dsa_65_ed25519(&mut stream(key))),
        (Purpose::GroupMlDsa87EcdsaP384, _) => {
            ("MLDSA87-ECDSA-P384-SHA512", ml_dsa_87_p384(&mut stream(key)))
        }
        (Purpose::Backup | Purpose::Sealed, Suite::Default) => {
            let key = xwing::DecapsulationKey::from_seed(short());
            ("X-Wing", key.encapsulation_key().as_bytes().to_vec())
        }
        (Purpose::Encapsulation, Suite::Default) => {
            let key = mlkem::DecapsulationKey::<MlKem768>::from_seed(long());
            ("ML-KEM-768", key.encapsulation_key().as_bytes().to_vec())
        }
        (Purpose::Backup | Purpose::Sealed | Purpose::Encapsulation, Suite::Cnsa2) => {
            let key = mlkem::DecapsulationKey::<MlKem1024>::from_seed(long());
            ("ML-KEM-1024", key.encapsulation_key().as_bytes().to_vec())
        }
        _ => return None,
    })
}

fn key(suite: Suite, seed: &[u8; 32], name: &str, purpose: Purpose, index: u64) -> Value {
    let master = MasterSeed::from_bytes(seed);
    let key = master.derived(suite, purpose, index);
    let mut vector = json!({
        "id": format!("{}-{name}-{purpose:?}-{index}", suite.name()),
        "kind": "key",
        "suite": suite.name(),
        "seed": hex(seed),
        "purpose": format!("{purpose:?}"),
        "path": purpose.role().map(|role| Path { role, index }.to_string()),
        "index": index.to_string(),
        "context": purpose.context(suite),
        "length": purpose.output_len(suite),
        "key": hex(&key),
    });
    if let Some((algorithm, public)) = pair(suite, purpose, &key) {
        vector["algorithm"] = algorithm.into();
        vector["public_key_blake3"] = blake3::hash(&public).to_hex().as_str().into();
    }
    if purpose == Purpose::Did && index == 0 {
        vector["did"] = Agent::with_suite(master, suite).did().as_str().into();
    }
    vector
}

#[test]
fn the_vectors_of_derivation() {
    let counted: [u8; 32] = core::array::from_fn(|at| at as u8);
    let other = [0xA5; 32];
    let mut vectors = Vec::new();
    for suite in SUITES {
        for purpose in Purpose::ALL {
            for (seed, name, index) in [
                (&counted, "counted", 0),
                (&counted, "counted", 1),
                (&other, "a5", 0),
                (&other, "a5", u64::MAX),
            ] {
                vectors.push(key(suite, seed, name, *purpose, index));
            }
        }
    }
    for text in ["m/0'", "m/1'/0'", "m/4'/12'", "m/5'/9007199254740993'", "m/7'/18446744073709551615'"] {
        let path: Path = text.parse().unwrap();
        vectors.push(json!({
            "id": format!("path-{text}"), "kind": "path", "path": text, "role": path.role, "index": path.index.to_string(),
        }));
    }
    for text in [
        "",
        "m",
        "m/",
        "1'",
        "/m/1'",
        "M/1'",
        "m/8'",
        "m/10'",
        "m/1",
        "m/1h",
        "m/1H",
        "m/1''",
        "m/01'",
        "m/+1'",
        "m/-1'",
        "m/ 1'",
        "m/1' ",
        "m//1'",
        "m/1'/",
        "m/1'/1",
        "m/1'/00'",
        "m/1'/-1'",
        "m/1'/1e3'",
        "m/1'/0x1'",
        "m/1'/18446744073709551616'",
        "m/1'/99999999999999999999999'",
        "m/1'/1'/1'",
        "m/\u{661}'",
        "m/1\u{2019}",
    ] {
        assert!(text.parse::<Path>().is_err(), "{text}");
        vectors.push(json!({
            "id": format!("path-refused-{text}"), "kind": "path", "path": text, "result": "reject",
            "reason": text.parse::<Path>().unwrap_err().reason().code(),
        }));
    }
    vector_file::committed("kdf", vectors, 2 * 23 * 4 + 5 + 29);
}

#[test]
fn the_page_lists_every_context() {
    let page = include_str!("../../../../docs/spec/kdf.md");
    for suite in SUITES {
        let heading = format!("## Suite `{}`", suite.name());
        let (_, section) = page.split_once(&heading).expect("a section for the suite");
        let section = section.split("\n## ").next().unwrap_or_default();
        let rows: Vec<Vec<&str>> = section
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(|line| {
                line.trim_matches('|').split(" | ").map(|cell| cell.trim_matches([' ', '`'])).collect()
            })
            .collect();
        let expected: Vec<Vec<String>> = Purpose::ALL
            .iter()
            .map(|purpose| {
                vec![
                    format!("{purpose:?}"),
                    purpose.role().map_or("none".into(), |role| format!("m/{role}'")),
                    purpose.output_len(suite).to_string(),
                    purpose.context(suite).to_owned(),
                ]
            })
            .collect();
        assert_eq!(rows, expected, "docs/spec/kdf.md, suite {}", suite.name());
    }
}
