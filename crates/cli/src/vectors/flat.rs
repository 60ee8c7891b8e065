//! Lines that are not requests: tests of ACVP, a line each, with their group's fields in them.

use serde_json::{Map, Value};

/// The request that such a line stands for, with its expectation; `None` for other lines.
///
/// A verdict is a verification, a message otherwise a signature, and anything else a key generation.
pub fn request(line: &Value) -> Option<Value> {
    let line = line.as_object().filter(|line| !line.contains_key("alg"))?;
    let alg = match (line.get("parameterSet"), line.get("lmsMode")) {
        (Some(set), _) => set.as_str()?,
        (None, Some(_)) => "LMS",
        (None, None) => return None,
    };
    let (op, expected): (_, &[&str]) = if line.contains_key("testPassed") {
        ("verify", &["testPassed"])
    } else if line.contains_key("message") {
        ("sign", &["signature", "signatureSha256"])
    } else {
        ("keygen", &["pk", "sk"])
    };
    let named = line.iter().map(|(name, value)| match name.as_str() {
        "publicKey" => ("pk".to_owned(), value.clone()),
        "tcId" => ("id".to_owned(), value.clone()),
        _ => (name.clone(), value.clone()),
    });
    let (expect, mut request): (Map<_, _>, Map<_, _>) =
        named.partition(|(name, _)| expected.contains(&name.as_str()));
    request.insert("alg".into(), alg.into());
    request.insert("op".into(), op.into());
    request.insert("expect".into(), expect.into());
    Some(request.into())
}

#[cfg(test)]
mod tests {
    use super::request;
    use serde_json::json;

    #[test]
    fn lines_of_acvp_are_requests_by_what_they_hold() {
        let of = |line| request(&line).map(|it| (it["alg"].clone(), it["op"].clone(), it["expect"].clone()));
        let key = json!({"parameterSet": "S", "tcId": 3, "skSeed": "00", "pk": "01", "sk": "02"});
        assert_eq!(of(key.clone()), Some(("S".into(), "keygen".into(), json!({"pk": "01", "sk": "02"}))));
        assert_eq!(request(&key).unwrap()["id"], 3);
        let signature = json!({"parameterSet": "S", "sk": "02", "message": "", "signatureSha256": "03"});
        assert_eq!(of(signature), Some(("S".into(), "sign".into(), json!({"signatureSha256": "03"}))));
        let verdict =
            json!({"parameterSet": "S", "pk": "01", "message": "", "signature": "04", "testPassed": false});
        assert_eq!(of(verdict), Some(("S".into(), "verify".into(), json!({"testPassed": false}))));
        let key = json!({"lmsMode": "L", "lmOtsMode": "O", "i": "", "seed": "", "publicKey": "05"});
        assert_eq!(of(key), Some(("LMS".into(), "keygen".into(), json!({"pk": "05"}))));
        assert_eq!(request(&json!({"alg": "S", "op": "sign", "parameterSet": "S"})), None);
        assert_eq!(request(&json!({"tcId": 1})), None);
    }
}
