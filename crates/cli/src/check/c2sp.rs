//! Vectors of C2SP: `httpsig-pq`, and the edge cases of Ed25519 of CCTV.

use super::asked::{Expected, Step, put};
use crate::harness::hex;
use crate::vectors::Report;
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

/// Members of every vector of `httpsig-pq`.
const HTTP: [&str; 4] =
    ["private_key_seed_hex", "public_key_base64", "signature_base_base64", "deterministic_signature_base64"];

/// Whether a document is that of C2SP `httpsig-pq`.
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
