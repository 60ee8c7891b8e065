//! One answer against one `expect`.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Whether an answer is the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Passed,
    /// It is not; the text says where they differ.
    Failed(String),
    /// The implementation says that it cannot do this (error `unsupported`).
    Unsupported,
}

/// Errors that never satisfy `"expect":{"error":"any"}`: they say that nothing was tested.
const NEVER_EXPECTED: [&str; 4] = ["internal", "bad-json", "bad-request", "unsupported"];

/// Errors by which a `verify` may refuse instead of answering `"testPassed":false`.
const REFUSALS: [&str; 3] = ["bad-length", "bad-key", "bad-context"];

/// Judges `answer` by the field `expect` of `request`.
///
/// * `"expect":{"ek":…}`: every field given must be equal; more fields may come back.
/// * `"expect":{"testPassed":false}`: for `verify` also met by the errors `bad-length`, `bad-key` and
///   `bad-context`.
/// * `"expect":{"error":"any"}`: any error but `internal`, `bad-json`, `bad-request`, `unsupported`.
/// * `"expect":{"error":["bad-length","bad-key"]}`: one of these.
/// * A name that ends in `Sha256` compares the SHA-256 of the returned bytes.
///
/// The answer must carry the `id` of the request.
pub fn judge(request: &Value, answer: &Value) -> Verdict {
    match judged(request, answer) {
        Ok(verdict) => verdict,
        Err(why) => Verdict::Failed(why),
    }
}

fn judged(request: &Value, answer: &Value) -> Result<Verdict, String> {
    let Some(expect) = request.get("expect").and_then(Value::as_object).filter(|e| !e.is_empty()) else {
        return Err("`expect` is not an object with a field".to_owned());
    };
    let Some(answer) = answer.as_object() else { return Err("the answer is not an object".to_owned()) };
    if request.get("id").is_some_and(|id| answer.get("id") != Some(id)) {
        return Err(format!("the answer's id is {}", shown(answer.get("id"))));
    }
    if let Some(name) = expect.keys().find(|name| *name != "error" && expect.contains_key("error")) {
        return Err(format!("`expect` has `{name}` beside `error`, which no answer has"));
    }
    match (expect.get("error"), answer.get("error").and_then(Value::as_str)) {
        (Some(expected), Some(error)) => expected_error(expected, error),
        (_, Some("unsupported")) => Ok(Verdict::Unsupported),
        (None, Some(error)) => {
            let refusal = request.get("op").and_then(Value::as_str) == Some("verify")
                && expect.get("testPassed") == Some(&Value::Bool(false))
                && expect.len() == 1
                && REFUSALS.contains(&error);
            if refusal { Ok(Verdict::Passed) } else { Err(format!("error {error}{}", detail(answer))) }
        }
        (Some(expected), None) => Err(format!("a result where error {expected} was expected")),
        (None, None) => {
            expect.iter().try_for_each(|(name, value)| equal(answer, name, value))?;
            Ok(Verdict::Passed)
        }
    }
}

/// `expected` is `"any"`, one code, or a list of codes.
fn expected_error(expected: &Value, error: &str) -> Result<Verdict, String> {
    let met = match expected {
        Value::String(any) if any == "any" => !NEVER_EXPECTED.contains(&error),
        Value::String(code) => code == error,
        Value::Array(codes) => codes.iter().any(|code| code.as_str() == Some(error)),
        _ => false,
    };
    if met {
        Ok(Verdict::Passed)
    } else if error == "unsupported" {
        Ok(Verdict::Unsupported)
    } else {
        Err(format!("error {error} where error {expected} was expected"))
    }
}

fn equal(answer: &Map<String, Value>, name: &str, expected: &Value) -> Result<(), String> {
    if let Some(field) = name.strip_suffix("Sha256") {
        let bytes = answer.get(field).and_then(Value::as_str).and_then(decoded);
        let digest = bytes.map(|bytes| encoded(&Sha256::digest(bytes)));
        return match digest {
            Some(digest) if expected.as_str().is_some_and(|e| e.eq_ignore_ascii_case(&digest)) => Ok(()),
            Some(digest) => Err(format!("{name} is {digest}, expected {}", shown(Some(expected)))),
            None => Err(format!("no byte string {field} in the answer")),
        };
    }
    let given = answer.get(name);
    let same = match (given, expected) {
        // The answer is in lower case, whatever the file is in.
        (Some(Value::String(given)), Value::String(expected)) => *given == expected.to_ascii_lowercase(),
        (given, expected) => given == Some(expected),
    };
    if same { Ok(()) } else { Err(format!("{name} is {}, expected {}", shown(given), shown(Some(expected)))) }
}

fn detail(answer: &Map<String, Value>) -> String {
    answer.get("detail").and_then(Value::as_str).map(|text| format!(" ({text})")).unwrap_or_default()
}

/// A value for a person: at most its first 40 characters.
fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else { return "missing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.len()),
        None => text,
    }
}

fn decoded(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        hex.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
    let digits = digits?;
    digits.len().is_multiple_of(2).then(|| digits.chunks_exact(2).map(|d| d[0] << 4 | d[1]).collect())
}

fn encoded(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Verdict, judge};
    use serde_json::{Value, json};

    fn verdict(op: &str, expect: Value, answer: Value) -> Verdict {
        judge(&json!({"op": op, "expect": expect}), &answer)
    }

    fn passes(op: &str, expect: Value, answer: Value) -> bool {
        match verdict(op, expect, answer) {
            Verdict::Passed => true,
            Verdict::Failed(_) => false,
            Verdict::Unsupported => panic!("unsupported"),
        }
    }

    #[test]
    fn every_expected_field_must_be_equal_and_more_may_come() {
        assert!(passes("keygen", json!({"ek": "AB"}), json!({"ek": "ab", "dk": "00"})));
        assert!(!passes("keygen", json!({"ek": "ab"}), json!({"ek": "AB"})), "answers are in lower case");
        assert!(!passes("keygen", json!({"ek": "ab", "dk": "00"}), json!({"ek": "ab"})));
        assert!(
            !passes("keygen", json!({}), json!({"ek": "ab"})),
            "a test that expects nothing tests nothing"
        );
        assert!(!passes("keygen", json!({"ek": "ab"}), json!({"error": "bad-length"})));
    }

    #[test]
    fn a_refused_verification_may_be_an_error_and_a_refused_check_may_not() {
        for error in ["bad-length", "bad-key", "bad-context"] {
            assert!(passes("verify", json!({"testPassed": false}), json!({"error": error})));
            assert!(!passes("verify", json!({"testPassed": true}), json!({"error": error})));
            assert!(!passes("checkEk", json!({"testPassed": false}), json!({"error": error})));
        }
        for error in ["internal", "bad-json", "bad-request", "bad-hex"] {
            assert!(!passes("verify", json!({"testPassed": false}), json!({"error": error})));
        }
        assert!(passes("verify", json!({"testPassed": false}), json!({"testPassed": false})));
        assert!(!passes("verify", json!({"testPassed": false}), json!({"testPassed": true})));
    }

    #[test]
    fn expected_errors_are_any_or_listed() {
        assert!(passes("encaps", json!({"error": "any"}), json!({"error": "bad-key"})));
        assert!(!passes("encaps", json!({"error": "any"}), json!({"error": "internal"})));
        assert!(!passes("encaps", json!({"error": "any"}), json!({"error": "bad-request"})));
        assert!(!passes("encaps", json!({"error": "any"}), json!({"error": "bad-json"})));
        assert!(!passes("encaps", json!({"error": "any"}), json!({"c": "00"})));
        assert!(passes("encaps", json!({"error": ["bad-length", "bad-key"]}), json!({"error": "bad-key"})));
        assert!(!passes("encaps", json!({"error": ["bad-length"]}), json!({"error": "bad-key"})));
        let unsupported = json!({"error": "unsupported"});
        assert_eq!(verdict("encaps", json!({"error": "any"}), unsupported.clone()), Verdict::Unsupported);
        assert_eq!(verdict("encaps", json!({"c": "00"}), unsupported.clone()), Verdict::Unsupported);
        assert!(passes("encaps", json!({"error": ["unsupported"]}), unsupported));
    }

    #[test]
    fn an_expectation_that_no_answer_can_meet_is_a_failure() {
        assert!(!passes("encaps", json!({"error": "any", "c": "00"}), json!({"error": "bad-key"})));
        let both = json!({"testPassed": false, "reason": "bad-key"});
        assert!(!passes("verify", both.clone(), json!({"error": "bad-key"})));
        assert!(!passes("verify", both, json!({"testPassed": false})));
        assert!(!passes("keygen", json!({"ek": "ab", "other": null}), json!({"ek": "ab"})));
    }

    #[test]
    fn a_name_that_ends_in_sha256_compares_the_digest() {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(passes("sign", json!({"signatureSha256": digest}), json!({"signature": "616263"})));
        assert!(!passes("sign", json!({"signatureSha256": digest}), json!({"signature": "616264"})));
        assert!(!passes("sign", json!({"signatureSha256": digest}), json!({"pk": "616263"})));
    }

    #[test]
    fn the_id_comes_back() {
        let request = json!({"id": "a", "expect": {"k": ""}});
        assert_eq!(judge(&request, &json!({"id": "a", "k": ""})), Verdict::Passed);
        assert!(matches!(judge(&request, &json!({"id": "b", "k": ""})), Verdict::Failed(_)));
        assert!(matches!(judge(&request, &json!({"k": ""})), Verdict::Failed(_)));
    }
}
