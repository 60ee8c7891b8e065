//! Published vectors of LMS and HSS in forms of their own: NIST's ACVP samples, RFC 8554 and Bouncy Castle.

use flate2::read::GzDecoder;
use gambeson::lms::{HssSigningKey, HssVerifyingKey, LmotsType, LmsType, SigningKey, VerifyingKey};
use gambeson::stateful::{Signer, TreeOptions, hazmat::MemoryStore};
use serde_json::Value;
use std::fs::File;
use std::io::Read;

/// A file of `../shared/vectors/lms`, if that folder is there.
fn file(name: &str) -> Option<String> {
    let path = gambeson_vectors::shared()?.join("lms").join(name);
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("the file of vectors")).read_to_string(&mut text).expect("a text");
    Some(text)
}

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let (digits, []) = hex.as_bytes().as_chunks::<2>() else { panic!("{hex}: an odd number of digits") };
    let digit = |digit: u8| char::from(digit).to_digit(16).expect("a hexadecimal digit") as u8;
    digits.iter().map(|[high, low]| digit(*high) << 4 | digit(*low)).collect()
}

/// The bytes of a member, if it is there.
fn member(value: &Value, name: &str) -> Option<Vec<u8>> {
    value[name].as_str().map(bytes)
}

/// Pairs of a test and its expected result, with the group of each.
fn pairs(mode: &str) -> Option<Vec<[Value; 4]>> {
    let read = |kind: &str| -> Option<Value> {
        Some(serde_json::from_str(&file(&format!("acvp-LMS-{mode}.{kind}.json.gz"))?).expect("JSON"))
    };
    let (prompt, expected) = (read("prompt")?, read("expectedResults")?);
    let list = |value: &Value, name: &str| value[name].as_array().expect("a list").clone();
    let groups = list(&prompt, "testGroups").into_iter().zip(list(&expected, "testGroups"));
    let pairs = groups.flat_map(|(group, results)| {
        assert_eq!(group["tgId"], results["tgId"]);
        let tests = list(&group, "tests").into_iter().zip(list(&results, "tests"));
        tests.map(move |(test, result)| {
            assert_eq!(test["tcId"], result["tcId"]);
            [group.clone(), results.clone(), test, result]
        })
    });
    Some(pairs.collect())
}

#[test]
fn samples_of_acvp() {
    let Some(keys) = pairs("keyGen-1.0") else { return };
    for [group, _, test, result] in &keys {
        let lms = LmsType::ALL.iter().find(|it| group["lmsMode"] == it.name()).expect("a type");
        let ots = LmotsType::ALL.iter().find(|it| group["lmOtsMode"] == it.name()).expect("a type");
        let identifier = member(test, "i").and_then(|it| it.try_into().ok()).expect("16 bytes");
        let seed = member(test, "seed").expect("a seed");
        let key = SigningKey::from_seed(*lms, *ots, &identifier, &seed, TreeOptions::new())
            .expect("types that fit");
        assert_eq!(Some(key.verifying_key().to_bytes()), member(result, "publicKey"), "{test}");
    }
    let mut counts = vec![keys.len()];
    for mode in ["sigGen-1.0", "sigGen-SP800-208", "sigVer-1.0", "sigVer-SP800-208"] {
        let pairs = pairs(mode).expect("the folder is there");
        for [group, results, test, result] in &pairs {
            let key = member(group, "publicKey").or_else(|| member(results, "publicKey")).expect("a key");
            let key = VerifyingKey::from_bytes(&key).expect("a key of LMS");
            let signature =
                member(test, "signature").or_else(|| member(result, "signature")).expect("a signature");
            let is_valid = key.verify(&member(test, "message").expect("a message"), &signature).is_ok();
            assert_eq!(is_valid, result["testPassed"].as_bool().unwrap_or(true), "{mode} {}", test["tcId"]);
        }
        counts.push(pairs.len());
    }
    assert_eq!(counts, [9, 20, 42, 8, 8]);
}

/// RFC 8554, Appendix F, Test Case 1: the digits after `$`, by headings. The tests of the core have Test Case 2.
#[test]
fn the_first_test_case_of_the_rfc() {
    let Some(text) = file("rfc8554-testcase_1.txt.gz") else { return };
    let part = |name: &str| {
        let (_, rest) = text.split_once(&format!("Test Case 1 {name}")).expect("the heading");
        let part = rest.split("Test Case").next().unwrap_or(rest);
        let digits = part.lines().filter_map(|line| line.split_once('$')?.1.split_whitespace().next());
        bytes(&digits.collect::<String>())
    };
    let key = HssVerifyingKey::from_bytes(&part("Public Key")).expect("a key of HSS");
    assert_eq!(key.levels(), 2);
    let (message, mut signature) = (part("Message"), part("Signature"));
    key.verify(&message, &signature).expect("the signature of the RFC");
    signature[100] ^= 1;
    assert!(key.verify(&message, &signature).is_err());
}

#[test]
fn keys_and_signatures_of_bouncy_castle() {
    let Some(text) = file("bc-depth_1.txt.gz") else { return };
    let (mut verified, mut signed) = (0, 0);
    for vector in text.split("\n\n").filter(|vector| vector.contains("Signature:")) {
        let all = |name: &'static str| {
            let lines = vector.lines().filter_map(move |line| line.split_once(": "));
            lines.filter(move |(key, _)| *key == name).map(|(_, value)| value.trim())
        };
        let one = |name: &'static str| bytes(all(name).next().expect("a member"));
        let (public, message, signature) = (one("HSSPublicKey"), one("Message"), one("Signature"));
        let key = HssVerifyingKey::from_bytes(&public).expect("a key of HSS");
        key.verify(&message, &signature).expect("the published signature");
        verified += 1;
        let code = |name: &'static str| all(name).map(|code| code.parse::<u32>().expect("a number")).next();
        let lms = LmsType::ALL.iter().find(|it| Some(it.code()) == code("LMType")).expect("a type");
        let ots = LmotsType::ALL.iter().find(|it| Some(it.code()) == code("LMOtsType")).expect("a type");
        // The keys of lower trees are derived in another way there.
        if key.levels() > 1 || lms.height() > 10 {
            continue;
        }
        let random = one("Rand");
        let (seed, identifier) = random.split_last_chunk().expect("SEED and I");
        let private = HssSigningKey::from_seed(&[(*lms, *ots)], identifier, seed, TreeOptions::new());
        let private = private.expect("types that fit");
        assert_eq!(private.verifying_key().to_bytes(), public);
        let leaf = u32::from_be_bytes(*signature[4..].first_chunk().expect("a leaf"));
        let mut signer = Signer::new(private, MemoryStore::new(leaf.into()));
        let index = signer.reserve_one().expect("a leaf of the key");
        assert_eq!(signer.sign(index, &message).as_ref(), Ok(&signature), "{lms} {ots}");
        signed += 1;
    }
    assert_eq!((verified, signed), (10, 5));
}
