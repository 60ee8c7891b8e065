//! Vectors of C2SP: `httpsig-pq`, and the edge cases of Ed25519 of CCTV.

use super::asked::{Expected, Step, put};
use crate::harness::hex;
use crate::vectors::Report;
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

/// Members of every vector of `httpsig-pq`.
const HTTP: [&str; 4] =
    ["private_key_seed_hex", "public_key_base64", "signature_base_base64", "deterministic_signature_base64"];

/// Returns true for the document of C2SP `httpsig-pq`.
pub(super) fn is_http(document: &Value) -> bool {
    HTTP.iter().all(|name| document["vectors"][0][name].is_string())
}

/// Key generation, the deterministic signature of the signature base, and its verification.
pub(super) fn http(document: &Value) -> Result<Report, String> {
    let mut report = Report::default();
    for vector in document["vectors"].as_array().into_iter().flatten() {
        let name = vector["id"].as_str().unwrap_or("no id");
        put(
            &mut report,
            name,
            Some(signed(vector).ok_or_else(|| format!("{name}: members are missing or damaged"))?),
        );
    }
    Ok(report)
}

fn signed(vector: &Value) -> Option<Vec<Step>> {
    let bytes = |name: &str| Some(hex(&Base64::decode_vec(vector[name].as_str()?).ok()?));
    let algorithm = vector["algorithm"].as_str()?.to_ascii_uppercase();
    let (seed, key) = (vector["private_key_seed_hex"].as_str()?, bytes("public_key_base64")?);
    let (message, signature) = (bytes("signature_base_base64")?, bytes("deterministic_signature_base64")?);
    Some(vec![
        (json!({"alg": algorithm, "op": "keygen", "seed": seed}), Expected::Fields(json!({"pk": key}))),
        (
            json!({"alg": algorithm, "op": "sign", "seed": seed, "message": message}),
            Expected::Fields(json!({"signature": signature})),
        ),
        (
            json!({"alg": algorithm, "op": "verify", "pk": key, "message": message, "signature": signature}),
            Expected::Fields(json!({"testPassed": true})),
        ),
    ])
}

/// Members of the edge cases of Ed25519 of CCTV (`ed25519`), and as they were first published.
const SIGNATURE: [&[&str]; 2] = [&["key", "sig", "msg", "flags"], &["A", "R", "S", "M", "Flags"]];

/// Returns true for one of those cases.
pub(super) fn is_signature(case: &Value) -> bool {
    SIGNATURE.iter().any(|members| members.iter().all(|name| case.get(name).is_some()))
}

/// Edge cases of Ed25519: signatures with points of low order or in another encoding are refused, of the others those that hold without the
/// cofactor are accepted (RFC 8032, section 5.1.7; the strict rules of `ed25519-dalek`).
pub(super) fn signatures(cases: &[Value]) -> Result<Report, String> {
    let mut report = Report::default();
    for (at, case) in cases.iter().enumerate() {
        let name = format!("case {at}");
        let step = verified(case).ok_or_else(|| format!("{name}: members are missing or damaged"))?;
        put(&mut report, &name, Some(vec![step]));
    }
    Ok(report)
}

fn verified(case: &Value) -> Option<Step> {
    let either = |one: &str, other: &str| case.get(one).or_else(|| case.get(other));
    let text = |one: &str, other: &str| either(one, other).and_then(Value::as_str);
    let signature = match text("sig", "") {
        Some(signature) => signature.to_owned(),
        None => format!("{}{}", text("R", "")?, text("S", "")?),
    };
    let flags: Vec<&str> = match either("flags", "Flags")? {
        Value::Null => Vec::new(),
        flags => flags.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?,
    };
    // A component of low order does no harm where the point has another.
    let harmless = |flag: &&str| {
        let flag = flag.replace('_', "").to_ascii_lowercase();
        ["lowordercomponenta", "lowordercomponentr"].contains(&&*flag)
    };
    let valid = flags.iter().all(harmless);
    let (key, message) = (text("key", "A")?, hex(text("msg", "M")?.as_bytes()));
    let request =
        json!({"alg": "Ed25519", "op": "verify", "pk": key, "message": message, "signature": signature});
    Some((request, if valid { Expected::Fields(json!({"testPassed": true})) } else { Expected::Refused }))
}
