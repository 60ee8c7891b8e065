//! Lines that are not requests: tests of ACVP, a line each, with their group's fields in them.

use serde_json::{Map, Value};

/// The request that such a line stands for, with its expectation; `None` for other lines.
///
/// A verdict is a verification, a message otherwise a signature, and anything else a key generation.
pub fn request(line: &Value) -> Option<Value> {
    let line = line.as_object().filter(|line| !line.contains_key("alg"))?;
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    let liboqs = text("name").filter(|_| line.contains_key("sm"));
    let alg = match (line.get("parameterSet"), line.get("lmsMode"), line.get("param"), liboqs) {
        (Some(set), ..) => set.as_str()?,
        (_, Some(_), ..) => "LMS",
        (.., Some(_), _) => "XMSS",
        (.., Some(name)) if name.starts_with("XMSSMT") => "XMSSMT",
        (.., Some(_)) => "XMSS",
        _ => return None,
    };
    let (op, expected): (_, &[&str]) = if line.contains_key("testPassed") || liboqs.is_some() {
        ("verify", &["testPassed"])
    } else if line.contains_key("message") {
        ("sign", &["signature", "signatureSha256"])
    } else {
        ("keygen", &["pk", "sk"])
    };
    let named = line.iter().map(|(name, value)| {
        let name = match name.as_str() {
            "publicKey" => "pk",
            "tcId" => "id",
            "S_XMSS" => "skSeed",
            "SK_PRF" => "skPrf",
            "I" => "pkSeed",
            "q" if alg == "XMSS" => "idx",
            "param" | "name" if alg.starts_with("XMSS") => "params",
            "msg" => "message",
            "sm" => "signature",
            name => name,
        };
        (name.to_owned(), value.clone())
    });
    let (mut expect, mut request): (Map<_, _>, Map<_, _>) =
        named.partition(|(name, _)| expected.contains(&name.as_str()));
    if let Some(name) = liboqs {
        // liboqs writes 20-2 where RFC 8391 writes 20/2.
        let (layer, trees) = name.split_once('_')?;
        request.insert("params".into(), format!("{layer}_{}", trees.replace('-', "/")).into());
        expect.insert("testPassed".into(), true.into());
    }
    if line.contains_key("param") {
        // These signatures stand before their messages.
        let message = text("message").unwrap_or_default();
        for fields in [&mut expect, &mut request] {
            if let Some(Value::String(signature)) = fields.get_mut("signature") {
                *signature = signature.strip_suffix(message)?.to_owned();
            }
        }
    }
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
        let key = json!({"param": "X", "S_XMSS": "00", "SK_PRF": "01", "I": "02", "publicKey": "05"});
        assert_eq!(of(key.clone()), Some(("XMSS".into(), "keygen".into(), json!({"pk": "05"}))));
        let fields = ["params", "skSeed", "skPrf", "pkSeed"].map(|name| request(&key).unwrap()[name].clone());
        assert_eq!(fields, ["X", "00", "01", "02"]);
        let signature = json!({"param": "X", "q": 7, "message": "06", "signature": "0706"});
        assert_eq!(request(&signature).unwrap()["idx"], 7);
        assert_eq!(of(signature), Some(("XMSS".into(), "sign".into(), json!({"signature": "07"}))));
        let verdict =
            json!({"param": "X", "publicKey": "", "message": "06", "signature": "0706", "testPassed": true});
        assert_eq!(request(&verdict).unwrap()["signature"], "07");
        let liboqs = json!({"name": "XMSSMT-SHA2_20-2_256", "pk": "", "msg": "06", "sm": "07"});
        let request_of_it = request(&liboqs).unwrap();
        let fields = ["params", "message", "signature"].map(|name| request_of_it[name].clone());
        assert_eq!(fields, ["XMSSMT-SHA2_20/2_256", "06", "07"]);
        assert_eq!(of(liboqs), Some(("XMSSMT".into(), "verify".into(), json!({"testPassed": true}))));
        assert_eq!(request(&json!({"alg": "S", "op": "sign", "parameterSet": "S"})), None);
        assert_eq!(request(&json!({"tcId": 1})), None);
    }
}
