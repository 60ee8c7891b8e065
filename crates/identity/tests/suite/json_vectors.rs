//! `vectors/json.json`: what is read as JSON and as a time, and how it is written.

use crate::vector_file;
use crate::world::hex;
use gambeson_identity::{Reason, Timestamp, json};
use serde_json::{Value, json};

fn good(id: &str, text: &str) -> Value {
    let value = json::parse(text.as_bytes(), 4096).unwrap();
    let canonical = String::from_utf8(json::canonicalize(&value).unwrap()).unwrap();
    assert_eq!(
        json::parse(canonical.as_bytes(), 4096),
        Ok(value),
        "{id}: the canonical form is the same value"
    );
    json!({"id": id, "kind": "json", "text": text, "canonical": canonical})
}

fn refused(id: &str, text: &[u8], max: Option<usize>, object: bool, reason: Reason) -> Value {
    let max_len = max.unwrap_or(4096);
    let found = match object {
        true => json::parse_object(text, max_len).unwrap_err(),
        false => json::parse(text, max_len).unwrap_err(),
    };
    assert_eq!(found.reason(), reason, "{id}");
    let mut vector = json!({"id": id, "kind": "json", "result": "reject", "reason": reason.code()});
    // The file is I-JSON itself.
    match core::str::from_utf8(text).ok().filter(|text| json::canonicalize(&Value::from(*text)).is_ok()) {
        Some(text) => vector["text"] = text.into(),
        None => vector["hex"] = hex(text).into(),
    }
    if let Some(max) = max {
        vector["max"] = max.into();
    }
    if object {
        vector["object"] = true.into();
    }
    vector
}

#[test]
fn the_vectors_of_json_and_time() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let mut vectors = vec![
        good("literals", " [null , true,\tfalse\r\n] "),
        good("a-scalar", "\"x\""),
        good("an-object-in-order", r#"{"b":1,"a":{"d":[],"c":{}}}"#),
        good(
            "keys-by-utf-16",
            "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,\"\\u00f6\":7,\"\":8}",
        ),
        good("strings-beside-noncharacters", "\"\u{fdcf}\u{fdf0}\u{fffd}\u{10fffd}\""),
        good("strings", r#""\u0000\b\t\n\u000b\f\r\"\\\/\u00e9\u001f\u007f\u2028\ud83d\ude00""#),
        good("numbers-of-one-value", "[1, 1.0, 1e0, 10E-1, 0.1e+1, -0, -0.0, 0e9, -1]"),
        good(
            "numbers-large-and-small",
            "[9007199254740991, -9007199254740991, 1e15, 123456789012345.6, 1e-400]",
        ),
        good(
            "numbers-with-fractions",
            "[333333333.33333329, 4.50, 2e-3, 0.000001, 0.0000001, 1e-27, 5e-324, 2.2250738585072014e-308, 0.1, -0.5]",
        ),
        good(
            "numbers-of-17-digits",
            "[1.7976931348623157e-300, 0.30000000000000004, 4.4501477170144023e-308]",
        ),
        good("deepest-arrays", &nested(json::MAX_DEPTH)),
        good("deepest-objects", &objects(json::MAX_DEPTH)),
    ];
    for (id, text) in [
        ("nothing", &b""[..]),
        ("white-space-alone", b" "),
        ("a-key-twice", br#"{"a":1,"a":1}"#),
        ("a-key-twice-behind-an-escape", br#"[{"x":{"a":1,"\u0061":2}}]"#),
        ("an-integer-above-2-53", b"9007199254740992"),
        ("an-integer-below", b"-9007199254740992"),
        ("an-integer-of-30-digits", b"123456789012345678901234567890"),
        ("a-whole-number-with-exponent", b"1e16"),
        ("a-whole-number-with-fraction", b"9007199254740992.0"),
        ("a-number-that-rounds-up", b"9007199254740991.9"),
        ("a-number-beyond-doubles", b"1e400"),
        ("nan", b"NaN"),
        ("infinity", b"-Infinity"),
        ("a-leading-zero", b"01"),
        ("a-sign-plus", b"+1"),
        ("a-number-without-fraction-digits", b"1."),
        ("a-number-without-integer-digits", b".5"),
        ("a-hexadecimal-number", b"0x10"),
        ("a-comma-at-the-end", b"[1,]"),
        ("a-comma-at-the-end-of-an-object", br#"{"a":1,}"#),
        ("a-missing-comma", b"[1 2]"),
        ("a-missing-value", br#"{"a":}"#),
        ("a-key-without-quotes", b"{a:1}"),
        ("single-quotes", b"['a']"),
        ("a-comment", b"[1 /* one */]"),
        ("two-values", b"1 2"),
        ("an-open-array", b"[1"),
        ("an-open-string", br#""abc"#),
        ("a-lone-surrogate", br#""\ud800""#),
        ("a-low-surrogate", br#""\udc00""#),
        ("two-high-surrogates", br#""\ud83d\ud83d""#),
        ("a-noncharacter", "\"\u{fdd0}\"".as_bytes()),
        ("a-noncharacter-behind-an-escape", br#""\uffff""#),
        ("a-noncharacter-of-another-plane", br#""a\ud83f\udffe""#),
        ("a-noncharacter-in-a-key", "{\"\u{10ffff}\":1}".as_bytes()),
        ("a-short-escape", br#""\u12""#),
        ("an-unknown-escape", br#""\x41""#),
        ("a-control-character", b"\"\x01\""),
        ("a-line-feed-in-a-string", b"\"a\nb\""),
        ("a-no-break-space", b"\xc2\xa01"),
        ("a-form-feed", b"\x0c1"),
        ("a-byte-order-mark", b"\xef\xbb\xbf1"),
        ("utf-8-invalid", b"\"\xff\""),
        ("utf-8-overlong", b"\"\xc0\xaf\""),
        ("utf-8-surrogate", b"\"\xed\xa0\x80\""),
        ("upper-case-literal", b"True"),
        ("a-null-byte", b"1\x00"),
    ] {
        vectors.push(refused(id, text, None, false, Reason::BadJson));
    }
    vectors.push(refused(
        "too-deep-arrays",
        nested(json::MAX_DEPTH + 1).as_bytes(),
        None,
        false,
        Reason::BadJson,
    ));
    vectors.push(refused(
        "too-deep-objects",
        objects(json::MAX_DEPTH + 1).as_bytes(),
        None,
        false,
        Reason::BadJson,
    ));
    vectors.push(refused("too-large", b"[1,2]", Some(4), false, Reason::TooLarge));
    vectors.push(refused("too-large-before-it-is-read", b"[[[[[", Some(4), false, Reason::TooLarge));
    vectors.push(refused("not-an-object", b"[]", None, true, Reason::BadForm));
    vectors.push(refused("neither-an-object-nor-json", b"[", None, true, Reason::BadJson));

    for text in [
        "1970-01-01T00:00:00Z",
        "2026-11-22T07:00:00Z",
        "9999-12-31T23:59:59Z",
        "2024-02-29T23:59:59.999999999Z",
        "1970-01-01T01:00:00.9+01:00",
        "2026-11-22T07:00:00-23:59",
        "2026-11-22T07:00:00-00:00",
        "2026-11-22T07:00:00.1234567890123Z",
    ] {
        let time: Timestamp = text.parse().unwrap();
        vectors.push(json!({
            "id": format!("time-{text}"), "kind": "time", "text": text, "seconds": time.0, "written": time.to_string(),
        }));
    }
    for text in [
        "",
        "2026-11-22",
        "2026-11-22T07:00:00",
        "2026-11-22T07:00Z",
        "2026-11-22 07:00:00Z",
        "2026-11-22t07:00:00Z",
        "2026-11-22T07:00:00z",
        "2026-11-22T07:00:00.Z",
        "2026-11-22T07:00:00,5Z",
        "2016-12-31T23:59:60Z",
        "2026-11-22T24:00:00Z",
        "2026-11-22T07:60:00Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-11-00T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "+2026-11-22T07:00:00Z",
        "12026-11-22T07:00:00Z",
        "26-11-22T07:00:00Z",
        "2026-11-22T07:00:00+0100",
        "2026-11-22T07:00:00+24:00",
        "2026-11-22T07:00:00+01:60",
        "2026-11-22T07:00:00+01",
        "2026-11-22T07:00:00Z ",
        " 2026-11-22T07:00:00Z",
        "20261122T070000Z",
        "2026-11-22T07:00:00Z+01:00",
        "2026-11-22T7:00:00Z",
        "1795330800",
    ] {
        let reason =
            text.parse::<Timestamp>().map_or_else(|error| error.reason(), |time| panic!("{text} is {time}"));
        vectors.push(json!({
            "id": format!("time-refused-{text}"), "kind": "time", "text": text, "result": "reject", "reason": reason.code(),
        }));
    }
    vector_file::committed("json", vectors, 12 + 47 + 6 + 8 + 32);
}
