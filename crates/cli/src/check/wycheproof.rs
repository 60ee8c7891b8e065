//! Files of Project Wycheproof (C2SP/wycheproof, `testvectors_v1`), put to the harness.
//!
//! A case with the result `acceptable` may be refused; if it is not, its values must be right.

use super::asked::{Expected, Step, put};
use crate::harness::{from_hex, lists};
use crate::vectors::Report;
use gambeson_pki::PublicKey;
use serde_json::{Value, json};

/// Makes the steps of a case of a group; `None` for parameters that the product does not have.
type Steps = fn(&str, &Value, &Value) -> Option<Vec<Step>>;

/// The steps by the type of a group, and what the names of the algorithms begin with whose files have such groups.
const TYPES: [(&str, &str, Steps); 14] = [
    ("AeadTest", "", aead),
    ("EcdhEcpointTest", "ECDH", ecdh),
    ("EcdhTest", "ECDH", ecdh),
    ("EcdsaVerify", "ECDSA", ecdsa),
    ("EddsaVerify", "EDDSA", eddsa),
    ("HkdfTest", "HKDF-", hkdf),
    ("MLKEMDecapsValidationTest", "ML-KEM", decapsulation),
    ("MLKEMEncapsTest", "ML-KEM", encapsulation),
    ("MLKEMKeyGen", "ML-KEM", key_generation),
    ("MLKEMTest", "ML-KEM", decapsulation),
    ("MacTest", "", mac),
    ("MlDsaSign", "ML-DSA-", ml_dsa_sign),
    ("MlDsaVerify", "ML-DSA-", ml_dsa_verify),
    ("XdhComp", "XDH", xdh),
];

/// Names of algorithms that stand for several, whose groups say which.
const FAMILIES: [&str; 5] = ["ECDH", "ECDSA", "EDDSA", "ML-KEM", "XDH"];

/// Results of tests.
const RESULTS: [&str; 3] = ["valid", "acceptable", "invalid"];

/// Algorithms of Wycheproof that the harness calls something else.
const NAMES: [(&str, &str); 9] = [
    ("CHACHA20-POLY1305", "ChaCha20-Poly1305"),
    ("HKDF-SHA-256", "HKDF-SHA2-256"),
    ("HKDF-SHA-384", "HKDF-SHA2-384"),
    ("HKDF-SHA-512", "HKDF-SHA2-512"),
    ("HMACSHA256", "HMAC-SHA2-256"),
    ("HMACSHA384", "HMAC-SHA2-384"),
    ("HMACSHA512", "HMAC-SHA2-512"),
    ("KMAC128", "KMAC-128"),
    ("KMAC256", "KMAC-256"),
];

/// Returns true for such a file.
pub(super) fn is_file(document: &Value) -> bool {
    document["algorithm"].is_string()
        && document["numberOfTests"].is_u64()
        && document["testGroups"].is_array()
}

/// Judges a file; `None` if it has a type of test that is not known here.
///
/// # Errors
/// It does not have as many tests as it says.
pub(super) fn check(file: &Value) -> Option<Result<Report, String>> {
    let named = file["algorithm"].as_str()?;
    let algorithm = NAMES.iter().find(|(theirs, _)| *theirs == named).map_or(named, |(_, ours)| ours);
    let mut report = Report::default();
    for group in file["testGroups"].as_array()? {
        let (kind, prefix, steps) = TYPES.iter().find(|(name, ..)| group["type"] == *name)?;
        let fits = match FAMILIES.contains(prefix) {
            true => named == *prefix,
            false => named.starts_with(prefix),
        };
        for test in group["tests"].as_array().into_iter().flatten() {
            let name = format!("test {}", test["tcId"]);
            let result = test["result"].as_str().unwrap_or_default();
            let unknown = match (fits, RESULTS.contains(&result)) {
                (true, true) => {
                    put(&mut report, &name, steps(algorithm, group, test));
                    continue;
                }
                (false, _) => format!("unknown `algorithm` {} for {kind}", file["algorithm"]),
                (true, false) => {
                    format!("unknown `result` {} (expected {})", test["result"], RESULTS.join(", "))
                }
            };
            report.counts.failed += 1;
            report.complaints.push(format!("{name}: {unknown}"));
        }
    }
    let (counted, told) = (report.counts.total(), file["numberOfTests"].as_u64());
    Some(match told == Some(counted) {
        true => Ok(report),
        false => {
            Err(format!("the file has {counted} tests; its `numberOfTests` is {}", file["numberOfTests"]))
        }
    })
}

/// Returns the expected answer of a test: these fields if its result is valid, else a refusal.
fn expected(test: &Value, fields: Value) -> Expected {
    match test["result"].as_str() {
        Some("valid") => Expected::Fields(fields),
        Some("acceptable") => Expected::FieldsOrRefused(fields),
        _ => Expected::Refused,
    }
}

/// A request to an algorithm that the harness has.
fn ask(algorithm: &str, mut request: Value) -> Option<Value> {
    request["alg"] = algorithm.into();
    lists(algorithm).then_some(request)
}

fn one(algorithm: &str, request: Value, expected: Expected) -> Option<Vec<Step>> {
    Some(vec![(ask(algorithm, request)?, expected)])
}

fn verification(algorithm: &str, test: &Value, key: &Value, more: Value) -> Option<Vec<Step>> {
    let mut request = json!({"op": "verify", "pk": key, "message": test["msg"], "signature": test["sig"]});
    for (name, value) in more.as_object().into_iter().flatten() {
        request[name] = value.clone();
    }
    one(algorithm, request, expected(test, json!({"testPassed": true})))
}

fn eddsa(_: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let algorithm = match group["publicKey"]["curve"].as_str()? {
        "edwards25519" => "Ed25519",
        "edwards448" => "Ed448",
        _ => return None,
    };
    verification(algorithm, test, &group["publicKey"]["pk"], json!({}))
}

fn ecdsa(_: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let algorithm = match group["publicKey"]["curve"].as_str()? {
        "secp256r1" => "ECDSA-P256",
        "secp384r1" => "ECDSA-P384",
        _ => return None,
    };
    let hash = match group["sha"].as_str()? {
        "SHA-256" => "SHA2-256",
        "SHA-384" => "SHA2-384",
        "SHA-512" => "SHA2-512",
        _ => return None,
    };
    verification(algorithm, test, &group["publicKey"]["uncompressed"], json!({"hashAlg": hash}))
}

fn ecdh(_: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let (algorithm, len) = match group["curve"].as_str()? {
        "secp256r1" => ("ECDH-P256", 32),
        "secp384r1" => ("ECDH-P384", 48),
        _ => return None,
    };
    let public = test["public"].as_str()?;
    let key = match group["encoding"] == "asn" {
        // A public key that `pki` cannot read ends a test that is not valid.
        true => match from_hex(public).and_then(|der| PublicKey::from_spki_der(&der).ok()) {
            Some(key) => crate::harness::hex(key.as_bytes()),
            None if test["result"] == "valid" => public.to_owned(),
            None => return Some(Vec::new()),
        },
        false => public.to_owned(),
    };
    let agree = json!({"op": "dh", "sk": scalar(test["private"].as_str()?, len), "pk": key});
    let mut steps = one(algorithm, agree, expected(test, json!({"k": test["shared"]})))?;
    // Whose own key is not the test's; an acceptable point may be taken or not.
    if test["result"] != "acceptable" {
        let check = ask(algorithm, json!({"op": "checkPk", "pk": key}))?;
        steps.push((check, expected(test, json!({"testPassed": true}))));
    }
    Some(steps)
}

/// A number as Java writes it, as `len` bytes in hexadecimal.
fn scalar(number: &str, len: usize) -> String {
    format!("{:0>width$}", number.trim_start_matches('0'), width = 2 * len)
}

fn xdh(_: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let algorithm = match group["curve"].as_str()? {
        "curve25519" => "X25519",
        "curve448" => "X448",
        _ => return None,
    };
    let request = json!({"op": "dh", "sk": test["private"], "pk": test["public"]});
    one(algorithm, request, expected(test, json!({"k": test["shared"]})))
}

/// Nonces of 96 bits and tags of 128 alone.
fn aead(algorithm: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let aes = format!("AES-{}-GCM", group["keySize"]);
    let algorithm = if algorithm == "AES-GCM" { &aes } else { algorithm };
    let with = |op: &str, name: &str, value: &Value| {
        let mut request = json!({"op": op, "key": test["key"], "iv": test["iv"], "aad": test["aad"]});
        request[name] = value.clone();
        ask(algorithm, request)
    };
    let mut decrypt = with("decrypt", "ct", &test["ct"])?;
    decrypt["tag"] = test["tag"].clone();
    let nonce = group["ivSize"] == 96;
    if group["tagSize"] != 128 || !nonce && test["result"] == "valid" {
        return None;
    }
    let mut steps = vec![(decrypt, expected(test, json!({"pt": test["msg"]})))];
    if test["result"] == "valid" {
        let sealed = json!({"ct": test["ct"], "tag": test["tag"]});
        steps.push((with("encrypt", "pt", &test["msg"])?, Expected::Fields(sealed)));
    }
    Some(steps)
}

fn hkdf(algorithm: &str, _: &Value, test: &Value) -> Option<Vec<Step>> {
    let len = 8 * test["size"].as_u64()?;
    let request = json!({"op": "derive", "ikm": test["ikm"], "salt": test["salt"], "info": test["info"], "outLen": len});
    one(algorithm, request, expected(test, json!({"okm": test["okm"]})))
}

/// HMAC and KMAC: the code of the right message, and of HMAC its verification.
fn mac(algorithm: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let request =
        json!({"op": "mac", "key": test["key"], "message": test["msg"], "macLen": group["tagSize"]});
    let fields = json!({"mac": test["tag"]});
    let made = if test["result"] == "invalid" { Expected::Other(fields) } else { expected(test, fields) };
    let mut steps = one(algorithm, request, made)?;
    if algorithm.starts_with("HMAC") {
        let verify = json!({"op": "verify", "key": test["key"], "message": test["msg"], "mac": test["tag"]});
        steps.push((ask(algorithm, verify)?, expected(test, json!({"testPassed": true}))));
    }
    Some(steps)
}

fn parameter_set(group: &Value) -> &str {
    group["parameterSet"].as_str().unwrap_or_default()
}

/// d and z.
fn seed(test: &Value) -> (&str, &str) {
    let seed = test["seed"].as_str().unwrap_or_default();
    seed.split_at_checked(64).unwrap_or((seed, ""))
}

fn key_generation(_: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let (d, z) = seed(test);
    let keys = json!({"ek": test["ek"], "dk": test["dk"]});
    one(parameter_set(group), json!({"op": "keygen", "d": d, "z": z}), expected(test, keys))
}

fn encapsulation(_: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let request = json!({"op": "encaps", "ek": test["ek"], "m": test["m"]});
    one(parameter_set(group), request, expected(test, json!({"c": test["c"], "k": test["K"]})))
}

/// With a key from its seed, or as it is stored.
fn decapsulation(_: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let algorithm = parameter_set(group);
    let secret = expected(test, json!({"k": test["K"]}));
    if test["seed"].is_null() {
        return one(algorithm, json!({"op": "decaps", "dk": test["dk"], "c": test["c"]}), secret);
    }
    let (d, z) = seed(test);
    let mut steps = one(algorithm, json!({"op": "decaps", "d": d, "z": z, "c": test["c"]}), secret)?;
    if test["result"] == "valid" {
        let keys = Expected::Fields(json!({"ek": test["ek"]}));
        steps.push((ask(algorithm, json!({"op": "keygen", "d": d, "z": z}))?, keys));
    }
    Some(steps)
}

fn ml_dsa_verify(algorithm: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    verification(algorithm, test, &group["publicKey"], context(test))
}

fn context(test: &Value) -> Value {
    test.get("ctx").map_or_else(|| json!({}), |context| json!({"context": context}))
}

/// The signature of the message and of µ, deterministic unless the test has `rnd`.
fn ml_dsa_sign(algorithm: &str, group: &Value, test: &Value) -> Option<Vec<Step>> {
    let (name, key) = match group.get("privateSeed") {
        Some(seed) => ("seed", seed),
        None => ("sk", &group["privateKey"]),
    };
    let mut steps = Vec::new();
    let mut with = |mut request: Value| {
        request["op"] = "sign".into();
        request[name] = key.clone();
        if let Some(rnd) = test.get("rnd") {
            request["rnd"] = rnd.clone();
        }
        steps.push((ask(algorithm, request)?, expected(test, json!({"signature": test["sig"]}))));
        Some(())
    };
    if test.get("msg").is_some() {
        let mut request = context(test);
        request["message"] = test["msg"].clone();
        with(request)?;
    }
    if test.get("mu").is_some() && test["result"] == "valid" || test.get("msg").is_none() {
        with(json!({"mu": test["mu"], "externalMu": true, "signatureInterface": "internal"}))?;
    }
    Some(steps)
}
