//! The contract of the vector harness: every error, the order of answers, and nothing that ends the process.

use crate::program::{self, finish, program};
use gambeson_vectors::{Counts, Verdict, judge};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// The answers to `input`, one a line; the program must have ended well.
fn serve(input: &[u8]) -> Vec<Value> {
    let mut command = program();
    command.args(["vectors", "serve"]);
    finish(command, input).exits(0).rows()
}

/// The answers to these requests.
fn ask(requests: &[Value]) -> Vec<Value> {
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let answers = serve(input.as_bytes());
    assert_eq!(answers.len(), requests.len());
    answers
}

fn ask_one(request: Value) -> Value {
    ask(&[request]).remove(0)
}

#[track_caller]
fn errs(request: Value, code: &str) {
    let answer = ask_one(request);
    assert_eq!(answer["error"], code, "{answer}");
    assert!(answer["detail"].is_string());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `n` bytes in hexadecimal.
fn bytes(n: usize) -> String {
    "5a".repeat(n)
}

#[test]
fn answers_come_in_order_with_their_ids() {
    let mut requests = Vec::new();
    for i in 0..200 {
        // Quick and slow ones in turn.
        requests.push(match i % 3 {
            0 => json!({"id": i, "alg": "SHA3-256", "op": "hash", "message": "00"}),
            1 => json!({"id": format!("s{i}"), "alg": "ML-DSA-44", "op": "sign", "seed": bytes(32), "message": ""}),
            _ => json!({"id": i, "alg": "nonsense", "op": "hash"}),
        });
    }
    for (request, answer) in requests.iter().zip(ask(&requests)) {
        assert_eq!(request["id"], answer["id"]);
    }
}

#[test]
fn ids_are_copied_digit_by_digit() {
    let mut command = program();
    command.args(["vectors", "serve"]);
    let ids = ["1", "-7", "1.50", "123456789012345678901234567890", "1e400", "\"\"", "\"é\\n\""];
    let input: String = ids.iter().map(|id| format!("{{\"id\":{id},\"op\":\"info\"}}\n")).collect();
    let output = finish(command, input.as_bytes()).exits(0);
    for (line, id) in output.text().lines().zip(ids) {
        let expected = format!("\"id\":{}", id.replace("e400", "e+400"));
        assert!(line.contains(&format!("\"id\":{id}")) || line.contains(&expected), "{id}: {line}");
    }
    // Other types are no ids.
    for id in [json!(null), json!([1]), json!({}), json!(true)] {
        let answer = ask_one(json!({"id": id, "op": "info"}));
        assert!(answer.get("id").is_none() && answer.get("error").is_none());
    }
}

#[test]
fn lines_that_are_no_objects_are_bad_json() {
    let lines: [&[u8]; 14] = [
        b"",
        b" ",
        b"{",
        b"[]",
        b"1",
        b"\"op\"",
        b"null",
        b"{\"op\":\"info\"",
        b"{\"op\":\"info\"}x",
        b"\xff\xfe",
        b"{\"op\":\"\xff\"}",
        b"{'op':'info'}",
        b"\0",
        b"{\"a\":1e}",
    ];
    let answers = serve(&lines.join(&b'\n'));
    assert_eq!(answers.len(), lines.len());
    for (answer, line) in answers.iter().zip(lines) {
        assert_eq!(answer["error"], "bad-json", "{:?}", String::from_utf8_lossy(line));
    }
    let deep = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    assert_eq!(serve(deep.as_bytes())[0]["error"], "bad-json");
    let deep = format!("{{\"op\":\"info\",\"x\":{deep}}}");
    assert_eq!(serve(deep.as_bytes())[0]["error"], "bad-json");
}

#[test]
fn line_ends_and_the_end_of_input_are_taken_as_they_come() {
    assert!(serve(b"").is_empty());
    for input in
        ["{\"op\":\"info\"}", "{\"op\":\"info\"}\n", "{\"op\":\"info\"}\r\n", " {\"op\":\"info\"} \n"]
    {
        let answers = serve(input.as_bytes());
        assert_eq!(answers.len(), 1, "{input:?}");
        assert_eq!(answers[0]["name"], "gambeson");
    }
}

#[test]
fn lines_up_to_64_mib_are_requests_and_longer_ones_are_refused() {
    const MAX: usize = 64 << 20;
    let line = |length: usize| {
        let start = r#"{"id":1,"alg":"SHA3-256","op":"hash","message":""#;
        let end = r#""}"#;
        let digits = length - start.len() - end.len();
        // An odd number of digits would be bad-hex: white space fills up.
        format!("{start}{}{end}{}", "0".repeat(digits & !1), " ".repeat(digits & 1))
    };
    let input = format!("{}\n{}\n{{\"id\":3,\"op\":\"info\"}}\n", line(MAX), line(MAX + 1));
    let answers = serve(input.as_bytes());
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["md"].as_str().unwrap().len(), 64);
    assert_eq!(answers[1]["error"], "bad-request");
    assert_eq!(answers[2]["id"], 3);
    // Also without an end, and as the last.
    assert_eq!(serve(line(MAX + 1).as_bytes())[0]["error"], "bad-request");
    assert!(serve(line(MAX).as_bytes())[0].get("error").is_none());
}

#[test]
fn an_answer_comes_before_the_next_request() {
    let mut command = program();
    command.args(["vectors", "serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for i in 0..3 {
        // The beginning of the next request is no reason to wait.
        stdin.write_all(format!("{{\"id\":{i},\"op\":\"info\"}}\n  ").as_bytes()).unwrap();
        stdin.flush().unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], i);
    }
    drop(stdin);
    assert_eq!(answers.count(), 1, "the white space after the last line is a line too");
    assert!(child.wait().unwrap().success());
}

#[test]
fn info_lists_what_there_is() {
    for request in [json!({"op": "info"}), json!({"op": "info", "alg": "whatever"})] {
        let info = ask_one(request);
        assert_eq!(info["name"], "gambeson");
        assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(info["algs"]["ML-KEM-768"], json!(["keygen", "encaps", "decaps", "checkEk", "checkDk"]));
        assert_eq!(info["algs"]["ML-DSA-65"], json!(["keygen", "sign", "verify"]));
        assert_eq!(info["algs"]["X-Wing"], json!(["keygen", "encaps", "decaps"]));
        assert_eq!(info["algs"]["KMAC-256"], json!(["mac"]));
        assert_eq!(info["algs"]["X448MLKEM1024"], json!(["keygen", "encaps", "decaps"]));
        assert_eq!(info["algs"]["MLDSA87-Ed448-SHAKE256"], json!(["pubkey", "sign", "verify"]));
        for (name, operations) in [
            ("Ed25519", json!(["verify"])),
            ("ECDSA-P256", json!(["verify"])),
            ("ECDSA-P384", json!(["verify"])),
            ("ECDH-P256", json!(["dh", "checkPk"])),
            ("ECDH-P384", json!(["dh", "checkPk"])),
            ("AES-128-GCM", json!(["encrypt", "decrypt"])),
            ("AES-256-GCM", json!(["encrypt", "decrypt"])),
            ("ChaCha20-Poly1305", json!(["encrypt", "decrypt"])),
            ("HKDF-SHA2-256", json!(["derive"])),
            ("HKDF-SHA2-384", json!(["derive"])),
            ("HKDF-SHA2-512", json!(["derive"])),
            ("HMAC-SHA2-256", json!(["mac", "verify"])),
            ("HMAC-SHA2-384", json!(["mac", "verify"])),
            ("HMAC-SHA2-512", json!(["mac", "verify"])),
        ] {
            assert_eq!(info["algs"][name], operations, "{name}");
        }
    }
}

/// RFC 8032, section 7.1; RFC 5869, A.1; RFC 4231, section 4.2; and Wycheproof's first cases.
#[test]
fn borrowed_operations_answer_published_vectors_through_every_door() {
    let signature = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";
    let pk = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let ed25519 = json!({"alg": "Ed25519", "op": "verify", "pk": pk, "message": "", "signature": signature});
    let okm = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
    let hkdf = json!({"alg": "HKDF-SHA2-256", "op": "derive", "ikm": "0b".repeat(22), "salt": "000102030405060708090a0b0c", "info": "f0f1f2f3f4f5f6f7f8f9", "outLen": 336});
    let (mac, key) = ("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", "0b".repeat(20));
    let hmac = json!({"alg": "HMAC-SHA2-256", "op": "mac", "key": key, "message": "4869205468657265", "macLen": 256});
    let check = json!({"alg": "HMAC-SHA2-256", "op": "verify", "key": key, "message": "4869205468657265", "mac": &mac[..32]});
    let gcm = json!({"alg": "AES-128-GCM", "key": "5b9604fe14eadba931b0ccf34843dab9", "iv": "028318abc1824029138141a2"});
    let (pt, ct, tag) = (
        "001d0c231287c1182784554ca3a21908",
        "26073cc1d851beff176384dc9896d5ff",
        "0a3ea7a5487cb5f7d70fb6c58d038554",
    );
    let with = |request: &Value, fields: &[(&str, &str)]| {
        let mut request = request.clone();
        fields.iter().for_each(|(name, value)| request[*name] = (*value).into());
        request
    };
    let (encrypt, decrypt) = (
        with(&gcm, &[("op", "encrypt"), ("pt", pt)]),
        with(&gcm, &[("op", "decrypt"), ("ct", ct), ("tag", tag)]),
    );
    let point = "0462d5bd3372af75fe85a040715d0f502428e07046868b0bfdfa61d731afe44f26ac333a93a9e70a81cd5a95b5bf8d13990eb741c8c38872b4a07d275a014e30cf";
    let (scalar, k) = (
        "0612465c89a023ab17855b0a6bcebfd3febb53aef84138647b5352e02c10c346",
        "53020d908b0219328b658b525f26780e3ae12bcd952bb25a93bc0895e1714285",
    );
    let dh = json!({"alg": "ECDH-P256", "op": "dh", "sk": scalar, "pk": point});
    let check_pk = json!({"alg": "ECDH-P256", "op": "checkPk", "pk": point});
    for (request, doors, name, expected) in [
        (&ed25519, &["pki", "mls", "rustls"][..], "testPassed", true.into()),
        (&hkdf, &["mls", "rustls"], "okm", okm.into()),
        (&hmac, &["mls"], "mac", mac.into()),
        (&check, &["mls"], "testPassed", true.into()),
        (&encrypt, &["mls"], "ct", ct.into()),
        (&encrypt, &["mls"], "tag", tag.into()),
        (&decrypt, &["mls"], "pt", Value::from(pt)),
        (&dh, &["hybrid"], "k", k.into()),
        (&check_pk, &["hybrid", "mls", "rustls"], "testPassed", true.into()),
    ] {
        assert_eq!(ask_one(request.clone())[name], expected, "{request}");
        for door in ["pki", "mls", "rustls", "hybrid"] {
            let answer = ask_one(with(request, &[("through", door)]));
            match doors.contains(&door) {
                true => assert_eq!(answer[name], expected, "{door}: {request}"),
                false => assert_eq!(answer["error"], "unsupported", "{door}: {request}"),
            }
        }
    }
    for refused in [
        with(&ed25519, &[("message", "00")]),
        with(&ed25519, &[("signature", "00")]),
        // A point of low order, whose signature holds without the strict rules.
        with(
            &ed25519,
            &[
                ("pk", &"00".repeat(32)),
                ("signature", &"00".repeat(64)),
                ("message", "656432353531397665637473203131"),
            ],
        ),
        with(&check, &[("mac", "")]),
        with(&check, &[("mac", &mac.replace("b034", "b035"))]),
        with(&decrypt, &[("tag", &tag.replace("0a3e", "0a3f"))]),
        with(&decrypt, &[("aad", "00")]),
        with(&check_pk, &[("pk", &point.replace("cf", "ce"))]),
        with(&check_pk, &[("pk", "00")]),
    ] {
        assert_eq!(ask_one(refused.clone())["testPassed"], false, "{refused}");
    }
    errs(with(&ed25519, &[("pk", "00")]), "bad-length");
    errs(with(&encrypt, &[("key", "00")]), "bad-length");
    errs(with(&encrypt, &[("iv", "00")]), "bad-length");
    errs(with(&decrypt, &[("tag", "00")]), "bad-length");
    errs(with(&dh, &[("sk", "00")]), "bad-length");
    errs(with(&dh, &[("sk", &"00".repeat(32))]), "bad-key");
    errs(with(&dh, &[("pk", &point.replace("cf", "ce"))]), "bad-key");
    errs(with(&dh, &[("pk", &point[..64])]), "bad-length");
    errs(with(&ed25519, &[("through", "nowhere")]), "unsupported");
    errs(
        with(
            &json!({"alg": "ECDSA-P256", "op": "verify", "pk": point, "message": "", "signature": ""}),
            &[("hashAlg", "SHA3-256")],
        ),
        "unsupported",
    );
    let mut long = hkdf.clone();
    long["outLen"] = (8 * (255 * 32 + 1)).into();
    errs(long, "bad-length");
    let mut long = hmac;
    long["macLen"] = 264.into();
    errs(long, "bad-length");
}

#[test]
fn wrong_requests_get_the_code_of_their_mistake() {
    let hash = |field: &str, value: Value| {
        let mut request = json!({"alg": "SHAKE-128", "op": "hash", "message": "00", "outLen": 8});
        request[field] = value;
        request
    };
    errs(json!({}), "bad-request");
    errs(json!({"alg": "SHA3-256"}), "bad-request");
    errs(json!({"op": "hash"}), "bad-request");
    errs(json!({"alg": "SHA3-256", "op": 1}), "bad-request");
    errs(json!({"alg": ["SHA3-256"], "op": "hash"}), "bad-request");
    errs(json!({"alg": "SHA3-256", "op": "hash"}), "bad-request");
    errs(json!({"alg": "MD5", "op": "hash", "message": ""}), "unsupported");
    errs(json!({"alg": "SHA3-256", "op": "sign", "message": ""}), "unsupported");
    errs(hash("message", json!("0")), "bad-hex");
    errs(hash("message", json!("0g")), "bad-hex");
    errs(hash("message", json!("éé")), "bad-hex");
    errs(hash("message", json!(0)), "bad-request");
    errs(hash("message", json!(null)), "bad-request");
    for wrong in [json!(-8), json!(7), json!("8"), json!(8.5), json!(1e30), json!(1_u64 << 62), json!(null)] {
        errs(hash("outLen", wrong), "bad-request");
    }
    for wrong in [json!([2]), json!([1, 1]), json!([-1]), json!(["1"]), json!(1), json!([1.5])] {
        errs(hash("absorb", wrong.clone()), "bad-request");
        errs(hash("squeeze", wrong), "bad-request");
    }
    // More than an answer can hold, and as much as one can.
    errs(hash("outLen", json!(8_u64 * (32 << 20))), "bad-request");
    let long = ask_one(hash("outLen", json!(8 * (20 << 20))));
    assert_eq!(long["md"].as_str().unwrap().len(), 2 * (20 << 20));
}

#[test]
fn wrong_inputs_get_the_code_of_the_rule() {
    let kem = |op: &str, fields: Value| {
        let mut request = json!({"alg": "ML-KEM-512", "op": op});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        request
    };
    let made = ask_one(kem("keygen", json!({"d": bytes(32), "z": bytes(32)})));
    let (ek, dk) = (made["ek"].as_str().unwrap(), made["dk"].as_str().unwrap());
    errs(kem("keygen", json!({"d": bytes(31), "z": bytes(32)})), "bad-length");
    errs(kem("keygen", json!({"d": bytes(32)})), "bad-request");
    errs(kem("encaps", json!({"ek": &ek[2..], "m": bytes(32)})), "bad-length");
    errs(kem("encaps", json!({"ek": format!("ffff{}", &ek[4..]), "m": bytes(32)})), "bad-key");
    errs(kem("encaps", json!({"ek": ek, "m": bytes(33)})), "bad-length");
    errs(kem("decaps", json!({"dk": dk, "c": bytes(767)})), "bad-length");
    errs(kem("decaps", json!({"dk": &dk[2..], "c": bytes(768)})), "bad-length");
    errs(kem("decaps", json!({"dk": dk, "d": bytes(32), "z": bytes(32), "c": bytes(768)})), "bad-request");
    errs(kem("decaps", json!({"c": bytes(768)})), "bad-request");
    // The stored hash is before the last 32 bytes.
    let at = dk.len() - 128;
    let flipped = if dk[at..].starts_with('0') { '1' } else { '0' };
    let wrong_hash = format!("{}{flipped}{}", &dk[..at], &dk[at + 1..]);
    errs(kem("decaps", json!({"dk": wrong_hash, "c": bytes(768)})), "bad-key");
    let answers = ask(&[
        kem("checkEk", json!({"ek": ek})),
        kem("checkEk", json!({"ek": &ek[2..]})),
        kem("checkEk", json!({"ek": format!("ffff{}", &ek[4..])})),
        kem("checkDk", json!({"dk": dk})),
        kem("checkDk", json!({"dk": &dk[2..]})),
        kem("checkDk", json!({"dk": wrong_hash})),
    ]);
    let passed: Vec<bool> = answers.iter().map(|answer| answer["testPassed"].as_bool().unwrap()).collect();
    assert_eq!(passed, [true, false, false, true, false, false]);
    // An unreduced key inside, with its own hash: §7.3 asks no more, but the library does not take it.
    let inside = 2 * 768..2 * (768 + 800);
    let unreduced = format!("ffff{}", &dk[inside.start + 4..inside.end]);
    let digest = ask_one(json!({"alg": "SHA3-256", "op": "hash", "message": unreduced}))["md"].clone();
    let unreduced =
        format!("{}{unreduced}{}{}", &dk[..inside.start], digest.as_str().unwrap(), &dk[dk.len() - 64..]);
    assert_eq!(ask_one(kem("checkDk", json!({"dk": unreduced})))["testPassed"], true);
    errs(kem("decaps", json!({"dk": unreduced, "c": bytes(768)})), "bad-key");
    // A changed ciphertext is no error.
    assert!(ask_one(kem("decaps", json!({"dk": dk, "c": bytes(768)})))["k"].is_string());
    let seeded = ask_one(kem("decaps", json!({"d": bytes(32), "z": bytes(32), "c": bytes(768)})));
    assert_eq!(seeded["k"], ask_one(kem("decaps", json!({"dk": dk, "c": bytes(768)})))["k"]);

    let wing = ask_one(json!({"alg": "X-Wing", "op": "keygen", "seed": bytes(32)}));
    let ek = wing["ek"].as_str().unwrap();
    errs(json!({"alg": "X-Wing", "op": "keygen", "seed": bytes(33)}), "bad-length");
    errs(json!({"alg": "X-Wing", "op": "encaps", "ek": &ek[2..], "eseed": bytes(64)}), "bad-length");
    let unreduced = format!("ffff{}", &ek[4..]);
    errs(json!({"alg": "X-Wing", "op": "encaps", "ek": unreduced, "eseed": bytes(64)}), "bad-key");
    errs(json!({"alg": "X-Wing", "op": "decaps", "dk": bytes(32), "c": bytes(1119)}), "bad-length");
    // No check of the X25519 share in X-Wing itself.
    assert!(
        ask_one(json!({"alg": "X-Wing", "op": "decaps", "dk": bytes(32), "c": "00".repeat(1120)}))["k"]
            .is_string()
    );
    for (alg, length) in [("X25519", 32), ("X448", 56)] {
        errs(json!({"alg": alg, "op": "dh", "sk": bytes(length), "pk": "00".repeat(length)}), "bad-key");
        errs(json!({"alg": alg, "op": "dh", "sk": bytes(length), "pk": bytes(length + 1)}), "bad-length");
    }
}

#[test]
fn hybrids_get_the_code_of_the_rule() {
    let with = |alg: &str, op: &str, fields: Value| {
        let mut request = json!({"alg": alg, "op": op});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        request
    };
    for (alg, x, c, low) in [
        ("X25519MLKEM768", 32, 1120, true),
        ("SecP256r1MLKEM768", 32, 1153, false),
        ("SecP384r1MLKEM1024", 48, 1665, false),
        ("X448MLKEM768", 56, 1144, true),
        ("X448MLKEM1024", 56, 1624, true),
        ("MLKEM768-X25519-SHA3-256", 32, 1120, true),
        ("MLKEM768-ECDH-P256-SHA3-256", 32, 1153, false),
        ("MLKEM768-ECDH-P384-SHA3-256", 48, 1185, false),
        ("MLKEM1024-ECDH-P384-SHA3-256", 48, 1665, false),
        ("MLKEM1024-X448-SHA3-256", 56, 1624, true),
    ] {
        let parts = json!({"d": bytes(32), "z": bytes(32), "x": bytes(x)});
        let made = ask_one(with(alg, "keygen", parts.clone()));
        let (ek, dk) = (made["ek"].as_str().unwrap(), made["dk"].as_str().unwrap());
        let sent = ask_one(with(alg, "encaps", json!({"ek": ek, "m": bytes(32), "x": bytes(x)})));
        assert_eq!(sent["c"].as_str().unwrap().len(), 2 * c, "{alg}");
        let mut by_parts = with(alg, "decaps", parts.clone());
        by_parts["c"] = sent["c"].clone();
        assert_eq!(ask_one(by_parts)["k"], sent["k"], "{alg}");
        assert_eq!(ask_one(with(alg, "decaps", json!({"dk": dk, "c": sent["c"]})))["k"], sent["k"], "{alg}");

        errs(with(alg, "keygen", json!({"d": bytes(31), "z": bytes(32), "x": bytes(x)})), "bad-length");
        errs(with(alg, "keygen", json!({"d": bytes(32), "z": bytes(32), "x": bytes(x + 1)})), "bad-length");
        errs(with(alg, "keygen", json!({"d": bytes(32), "z": bytes(32)})), "bad-request");
        errs(with(alg, "encaps", json!({"ek": &ek[2..], "m": bytes(32), "x": bytes(x)})), "bad-length");
        errs(with(alg, "encaps", json!({"ek": ek, "m": bytes(33), "x": bytes(x)})), "bad-length");
        errs(with(alg, "encaps", json!({"ek": ek, "m": bytes(32), "x": bytes(x - 1)})), "bad-length");
        errs(
            with(alg, "encaps", json!({"ek": "ff".repeat(ek.len() / 2), "m": bytes(32), "x": bytes(x)})),
            "bad-key",
        );
        errs(with(alg, "decaps", json!({"dk": dk, "c": bytes(c - 1)})), "bad-length");
        errs(with(alg, "decaps", json!({"dk": &dk[2..], "c": bytes(c)})), "bad-length");
        errs(with(alg, "decaps", json!({"dk": dk, "d": bytes(32), "c": bytes(c)})), "bad-request");
        // A share of low order, or no point.
        errs(with(alg, "decaps", json!({"dk": dk, "c": "00".repeat(c)})), "bad-key");
        if !low {
            let zero = json!({"d": bytes(32), "z": bytes(32), "x": "00".repeat(x)});
            errs(with(alg, "keygen", zero), "bad-key");
            errs(with(alg, "encaps", json!({"ek": ek, "m": bytes(32), "x": "ff".repeat(x)})), "bad-key");
        }
    }
    errs(with("X25519MLKEM768", "checkEk", json!({"ek": ""})), "unsupported");
}

#[test]
fn composites_get_the_code_of_the_rule() {
    let with = |alg: &str, op: &str, fields: Value| {
        let mut request = json!({"alg": alg, "op": op});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        request
    };
    let p256 = format!("{}303102010104 20{}a00a06082a8648ce3d030107", bytes(32), bytes(32)).replace(' ', "");
    let p384 = format!("{}303e02010104 30{}a00706052b81040022", bytes(32), bytes(48)).replace(' ', "");
    for (alg, sk) in [
        ("MLDSA87-Ed448-SHAKE256", bytes(89)),
        ("MLDSA87-ECDSA-P384-SHA512", p384.clone()),
        ("MLDSA65-Ed25519-SHA512", bytes(64)),
        ("MLDSA65-ECDSA-P384-SHA512", p384),
        ("MLDSA65-ECDSA-P256-SHA512", p256.clone()),
        ("MLDSA44-Ed25519-SHA512", bytes(64)),
        ("MLDSA44-ECDSA-P256-SHA256", p256),
        ("Ed448", bytes(57)),
    ] {
        let pk = ask_one(with(alg, "pubkey", json!({"sk": sk})))["pk"].clone();
        let pk = pk.as_str().unwrap();
        let sign = |rnd: Value| {
            let mut request = with(alg, "sign", json!({"sk": sk, "message": "00", "context": "01"}));
            if !rnd.is_null() {
                request["rnd"] = rnd;
            }
            ask_one(request)["signature"].as_str().unwrap().to_owned()
        };
        let signature = sign(Value::Null);
        assert_eq!(signature, sign(Value::Null), "{alg}: no rnd is the deterministic variant");
        assert_eq!(signature == sign(bytes(32).into()), alg == "Ed448", "{alg}");
        let verdict = |message: &str, context: &str, signature: &str| {
            let fields = json!({"pk": pk, "message": message, "context": context, "signature": signature});
            ask_one(with(alg, "verify", fields))["testPassed"].clone()
        };
        assert_eq!(verdict("00", "01", &signature), true);
        for (message, context, signature) in [
            ("01", "01", &signature[..]),
            ("00", "", &signature),
            ("00", "01", ""),
            ("00", "01", &signature[2..]),
            ("00", "01", &format!("{signature}00")),
            ("00", &bytes(256), &signature),
        ] {
            assert_eq!(verdict(message, context, signature), false, "{alg}");
        }
        errs(with(alg, "pubkey", json!({"sk": &sk[2..]})), "bad-length");
        errs(with(alg, "pubkey", json!({})), "bad-request");
        errs(with(alg, "sign", json!({"sk": sk, "message": "", "context": bytes(256)})), "bad-context");
        let verify = |pk: &str| with(alg, "verify", json!({"pk": pk, "message": "", "signature": ""}));
        errs(verify(&pk[2..]), "bad-length");
        errs(verify(&"ff".repeat(pk.len() / 2)), "bad-key");
        if alg.contains("ECDSA") {
            errs(with(alg, "sign", json!({"sk": "00".repeat(sk.len() / 2), "message": ""})), "bad-key");
        }
    }
    errs(
        with("MLDSA65-Ed25519-SHA512", "sign", json!({"sk": bytes(64), "message": "", "rnd": bytes(31)})),
        "bad-length",
    );
    errs(json!({"alg": "MLDSA65-ECDSA-brainpoolP256r1-SHA512", "op": "verify"}), "unsupported");
}

#[test]
fn signatures_get_the_code_of_the_rule() {
    let dsa = |op: &str, fields: Value| {
        let mut request = json!({"alg": "ML-DSA-44", "op": op});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        request
    };
    let seed = bytes(32);
    let made = ask_one(dsa("keygen", json!({"seed": seed})));
    let (pk, sk) = (made["pk"].as_str().unwrap(), made["sk"].as_str().unwrap());
    errs(dsa("keygen", json!({"seed": bytes(33)})), "bad-length");
    errs(dsa("sign", json!({"seed": seed, "sk": sk, "message": ""})), "bad-request");
    errs(dsa("sign", json!({"message": ""})), "bad-request");
    errs(dsa("sign", json!({"seed": seed})), "bad-request");
    errs(dsa("sign", json!({"seed": seed, "mu": bytes(64)})), "bad-request");
    errs(dsa("sign", json!({"seed": seed, "message": "", "externalMu": true})), "bad-request");
    errs(
        dsa("sign", json!({"seed": seed, "message": "", "mu": bytes(64), "externalMu": true})),
        "bad-request",
    );
    errs(dsa("sign", json!({"seed": seed, "mu": bytes(63), "externalMu": true})), "bad-length");
    errs(dsa("sign", json!({"seed": seed, "message": "", "rnd": bytes(31)})), "bad-length");
    errs(dsa("sign", json!({"seed": seed, "message": "", "context": bytes(256)})), "bad-context");
    errs(dsa("sign", json!({"sk": &sk[2..], "message": ""})), "bad-length");
    // Seven in three bits of s1, which begins after rho, K and tr, is no coefficient.
    let out_of_range = format!("{}ffffff{}", &sk[..256], &sk[262..]);
    errs(dsa("sign", json!({"sk": out_of_range, "message": ""})), "bad-key");
    errs(dsa("sign", json!({"seed": seed, "message": "", "signatureInterface": "strange"})), "unsupported");
    errs(dsa("sign", json!({"seed": seed, "message": "", "preHash": "strange"})), "unsupported");
    errs(dsa("sign", json!({"seed": seed, "message": "", "preHash": "preHash"})), "bad-request");
    errs(
        dsa("sign", json!({"seed": seed, "message": "", "preHash": "preHash", "hashAlg": "MD5"})),
        "unsupported",
    );
    errs(
        dsa("verify", json!({"pk": pk, "signature": "", "mu": bytes(63), "externalMu": true})),
        "bad-length",
    );
    errs(dsa("verify", json!({"pk": pk, "signature": "", "message": "", "rnd": bytes(31)})), "bad-length");
    errs(dsa("verify", json!({"pk": pk, "message": ""})), "bad-request");

    let by_seed = ask_one(dsa("sign", json!({"seed": seed, "message": "00"})))["signature"].clone();
    let by_sk =
        ask_one(dsa("sign", json!({"sk": sk, "message": "00", "rnd": "00".repeat(32)})))["signature"].clone();
    assert_eq!(by_seed, by_sk, "no rnd is the deterministic variant");
    let signature = by_seed.as_str().unwrap();
    let verdict = |signature: &str| {
        ask_one(dsa("verify", json!({"pk": pk, "message": "00", "signature": signature})))["testPassed"]
            .clone()
    };
    assert_eq!(verdict(signature), true);
    for wrong in ["", &signature[2..], &format!("{signature}00"), &"ff".repeat(2420), &"00".repeat(2420)] {
        assert_eq!(verdict(wrong), false);
    }
    // Every form of message signs and verifies.
    let hashes = [
        "SHA2-224",
        "SHA2-256",
        "SHA2-384",
        "SHA2-512",
        "SHA2-512/224",
        "SHA2-512/256",
        "SHA3-224",
        "SHA3-256",
        "SHA3-384",
        "SHA3-512",
        "SHAKE-128",
        "SHAKE-256",
    ];
    let mut forms = vec![
        json!({"message": "00", "context": "01"}),
        json!({"message": "00", "signatureInterface": "internal"}),
        json!({"message": "00", "signatureInterface": "internal", "preHash": "none"}),
        json!({"mu": bytes(64), "externalMu": true}),
        json!({"mu": bytes(64), "externalMu": true, "signatureInterface": "internal"}),
    ];
    forms.extend(
        hashes.map(|hash| json!({"message": "00", "preHash": "preHash", "hashAlg": hash, "context": "01"})),
    );
    let mut seen = Vec::new();
    for form in forms {
        let mut request = dsa("sign", form.clone());
        request["seed"] = seed.clone().into();
        let signature = ask_one(request)["signature"].clone();
        let mut request = dsa("verify", form.clone());
        request["pk"] = pk.into();
        request["signature"] = signature.clone();
        assert_eq!(ask_one(request)["testPassed"], true, "{form}");
        seen.push(signature.to_string());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(
        seen.len(),
        3 + hashes.len(),
        "only internal with `none`, and μ with either interface, are the same"
    );
}

#[test]
fn hashing_in_any_pieces_gives_one_digest() {
    let message = hex(&program::noise(500));
    for (alg, rate) in [
        ("SHA3-224", 144),
        ("SHA3-256", 136),
        ("SHA3-384", 104),
        ("SHA3-512", 72),
        ("SHAKE-128", 168),
        ("SHAKE-256", 136),
        ("cSHAKE-128", 168),
        ("cSHAKE-256", 136),
    ] {
        let request = |extra: Value| {
            let mut request = json!({"alg": alg, "op": "hash", "message": message});
            if !alg.starts_with("SHA3") {
                request["outLen"] = json!(8 * 400);
            }
            request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            request
        };
        let whole = ask_one(request(json!({})))["md"].clone();
        for absorb in [
            json!([]),
            json!([0, 0]),
            json!([rate - 1, 1, 0, rate + 1]),
            json!([rate, rate]),
            json!([500]),
            json!([1, 499, 0]),
        ] {
            assert_eq!(ask_one(request(json!({"absorb": absorb})))["md"], whole, "{alg} {absorb}");
        }
        if !alg.starts_with("SHA3") {
            for squeeze in [
                json!([]),
                json!([0, 1, 0]),
                json!([rate - 1, 2]),
                json!([rate]),
                json!([rate + 1, 0]),
                json!([400]),
            ] {
                assert_eq!(ask_one(request(json!({"squeeze": squeeze})))["md"], whole, "{alg} {squeeze}");
            }
        }
    }
    let empty = ask_one(json!({"alg": "SHAKE-128", "op": "hash", "message": "", "outLen": 0}));
    assert_eq!(empty["md"], "");
    let mac = json!({"alg": "KMAC-128", "op": "mac", "key": "00", "message": message, "macLen": 256});
    let mut pieces = mac.clone();
    pieces["absorb"] = json!([1, 0, 200]);
    assert_eq!(ask_one(mac)["mac"], ask_one(pieces)["mac"]);
}

#[test]
fn fields_without_meaning_are_ignored_and_answers_are_in_lower_case() {
    let answer = ask_one(json!({
        "alg": "SHA3-256", "op": "hash", "message": "ABcd", "expect": {"md": "00"}, "flags": ["x"], "comment": 1, "more": {}
    }));
    let md = answer["md"].as_str().unwrap();
    assert_eq!(md, md.to_lowercase());
    assert_eq!(answer, ask_one(json!({"alg": "SHA3-256", "op": "hash", "message": "abCD"})));
}

#[test]
fn a_reader_that_goes_away_ends_the_program() {
    let mut command = program();
    command.args(["vectors", "serve"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..100 {
        if stdin.write_all(b"{\"op\":\"info\"}\n").is_err() {
            break;
        }
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

/// Every vector beside this repository of an algorithm that exists, through the pipe and judged here.
#[test]
fn shared_vectors() {
    let Some(folder) = gambeson_vectors::shared() else { return };
    let algorithms = ask_one(json!({"op": "info"}))["algs"].clone();
    let mut total = Counts::default();
    // Trees of 2^15 to 2^25 leaves stand in folders named tall.
    let is_tall = |path: &std::path::Path| path.parent().is_some_and(|folder| folder.ends_with("tall"));
    for path in gambeson_vectors::files(&folder).unwrap().into_iter().filter(|path| !is_tall(path)) {
        let lines: Vec<Vec<u8>> = gambeson_vectors::lines(&path).unwrap().map(Result::unwrap).collect();
        let parsed = lines.iter().map(|line| serde_json::from_slice(line).unwrap());
        let tests: Vec<Value> = parsed.map(|line| gambeson_vectors::request(&line).unwrap_or(line)).collect();
        let known: Vec<bool> = tests
            .iter()
            .map(|test| test["alg"].as_str().is_some_and(|alg| algorithms.get(alg).is_some()))
            .collect();
        let input: Vec<Vec<u8>> = tests
            .iter()
            .zip(&known)
            .filter(|(_, known)| **known)
            .map(|(test, _)| test.to_string().into())
            .collect();
        let answers = serve(&input.join(&b'\n'));
        assert_eq!(answers.len(), input.len());
        let mut counts = Counts { skipped: (tests.len() - input.len()) as u64, ..Counts::default() };
        let asked = tests.iter().zip(known).filter(|(_, known)| *known).map(|(test, _)| test);
        for (test, answer) in asked.zip(&answers) {
            match judge(test, answer) {
                Verdict::Passed => counts.passed += 1,
                Verdict::Unsupported => counts.unsupported += 1,
                Verdict::Failed(why) => {
                    println!("{} {}: {why}", path.display(), test["id"]);
                    counts.failed += 1;
                }
            }
        }
        let name = path.strip_prefix(&folder).unwrap().display();
        println!(
            "{name}: {} passed, {} failed, {} unsupported, {} skipped",
            counts.passed, counts.failed, counts.unsupported, counts.skipped
        );
        total.add(&counts);
    }
    println!(
        "all: {} passed, {} failed, {} unsupported, {} skipped",
        total.passed, total.failed, total.unsupported, total.skipped
    );
    assert_eq!((total.failed, total.unsupported), (0, 0));
    assert!(total.passed >= 4220, "every vector of what exists ran: {}", total.passed);
}
