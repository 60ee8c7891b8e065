//! JSON that has one meaning: strict reading, and the canonical form that signatures cover.

use crate::{Error, Reason, Result};
use core::fmt;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Arrays and objects inside each other.
pub const MAX_DEPTH: usize = 32;

/// The greatest integer that every reader of JSON keeps: 2^53 - 1 (RFC 7493, §2.2).
const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Reads JSON that two readers cannot understand differently (I-JSON, RFC 7493).
///
/// ```
/// use gambeson_identity::{Reason, json};
///
/// assert!(json::parse(br#"{"a": [1, 2.5, "x"]}"#, 1024).is_ok());
/// assert_eq!(json::parse(br#"{"a": 1, "a": 2}"#, 1024).unwrap_err().reason(), Reason::BadJson);
/// ```
///
/// # Errors
///
/// [`Reason::TooLarge`] above `max_len` bytes, before anything is read; [`Reason::BadJson`] if it is not JSON in UTF-8,
/// has a key twice in one object, a number beyond ±(2^53 − 1), a noncharacter of Unicode, or more than [`MAX_DEPTH`]
/// levels.
pub fn parse(text: &[u8], max_len: usize) -> Result<Value> {
    if text.len() > max_len {
        return Err(Error::new(
            Reason::TooLarge,
            format_args!("the JSON has {} bytes; the limit is {max_len}", text.len()),
        ));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = Strict(MAX_DEPTH).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| Error::new(Reason::BadJson, error))
}

/// As [`parse`], for what must be an object.
///
/// # Errors
///
/// As there; [`Reason::BadForm`] if it is another value.
pub fn parse_object(text: &[u8], max_len: usize) -> Result<Map<String, Value>> {
    match parse(text, max_len)? {
        Value::Object(object) => Ok(object),
        _ => Err(Error::new(Reason::BadForm, "expected a JSON object")),
    }
}

/// The canonical form (RFC 8785, JCS): no spaces, keys in the order of their UTF-16 code units, numbers as ECMAScript
/// writes them.
///
/// # Errors
///
/// [`Reason::BadJson`] for a number or a text that [`parse`] would refuse, or a depth beyond [`MAX_DEPTH`].
pub fn canonicalize(value: &Value) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write(value, MAX_DEPTH, &mut out)?;
    Ok(out)
}

/// As [`canonicalize`], for an object that is not in a [`Value`].
///
/// # Errors
///
/// As there.
pub fn canonicalize_object(object: &Map<String, Value>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write_object(object, MAX_DEPTH, &mut out)?;
    Ok(out)
}

/// The canonical form at any depth, for what is read next and not signed. `Display` of a value has tables of 10 KiB for floats, a second
/// set beside those of the canonical form: too much for WebAssembly.
///
/// # Errors
///
/// [`Reason::BadJson`] for a number or a text that [`parse`] would refuse.
pub fn text(value: &Value) -> Result<String> {
    let mut out = Vec::new();
    write(value, usize::MAX, &mut out)?;
    Ok(String::from_utf8(out).expect("parts of UTF-8"))
}

fn write(value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out)?,
        Value::String(text) => write_string(text, out)?,
        Value::Array(items) => {
            let depth = deeper(depth)?;
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, depth, out)?;
            }
            out.push(b']');
        }
        Value::Object(object) => write_object(object, depth, out)?,
    }
    Ok(())
}

fn write_object(object: &Map<String, Value>, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    let depth = deeper(depth)?;
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push(b'{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(name, out)?;
        out.push(b':');
        write(value, depth, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn deeper(depth: usize) -> Result<usize> {
    depth
        .checked_sub(1)
        .ok_or_else(|| Error::new(Reason::BadJson, format_args!("deeper than {MAX_DEPTH} levels")))
}

/// RFC 8785, §3.2.2.2: what serde_json escapes is what ECMAScript escapes.
fn write_string(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let text = characters(text).map_err(|what| Error::new(Reason::BadJson, what))?;
    // Most texts are long keys and signatures: without a branch a byte, and nothing to escape.
    let escaped = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    if text.bytes().fold(false, |any, byte| any | escaped(byte)) {
        serde_json::to_writer(out, text).expect("writing a string to memory cannot fail");
    } else {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
    Ok(())
}

/// RFC 8785, §3.2.2.3.
fn write_number(number: &Number, out: &mut Vec<u8>) -> Result<()> {
    let float = exact(number).ok_or_else(|| Error::new(Reason::BadJson, inexact(number)))?;
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(float).as_bytes());
    Ok(())
}

/// The number as every reader has it; `None` beyond the integers that a reader of floats keeps, however it is written.
fn exact(number: &Number) -> Option<f64> {
    let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    if magnitude.is_some_and(|magnitude| magnitude > MAX_INTEGER) {
        return None;
    }
    number.as_f64().filter(|float| float.abs() <= MAX_INTEGER as f64)
}

/// As `Display` of the number has it; that would bring tables of 10 KiB for floats into WebAssembly.
fn inexact(number: &Number) -> String {
    let integer = number.as_u64().map(|integer| integer.to_string());
    let integer = integer.or_else(|| number.as_i64().map(|integer| integer.to_string()));
    let digits = integer
        .unwrap_or_else(|| ryu_js::Buffer::new().format(number.as_f64().unwrap_or_default()).to_owned());
    format!("the number {digits} is not exact in every reader of JSON")
}

/// Refuses code points that are assigned to nothing for ever (RFC 7493, §2.1): U+FDD0 to U+FDEF, and the last two of each
/// plane.
fn characters(text: &str) -> Result<&str, &'static str> {
    let none = |c: char| matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe;
    match !text.is_ascii() && text.chars().any(none) {
        true => Err("a noncharacter of Unicode in a text"),
        false => Ok(text),
    }
}

/// Reads a [`Value`] of at most this depth.
#[derive(Clone, Copy)]
struct Strict(usize);

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        self.0
            .checked_sub(1)
            .map(Self)
            .ok_or_else(|| E::custom(format_args!("deeper than {MAX_DEPTH} levels")))
    }

    fn number<E: serde::de::Error>(number: Number) -> Result<Value, E> {
        match exact(&number) {
            Some(_) => Ok(Value::Number(number)),
            None => Err(E::custom(inexact(&number))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        Self::number(value.into())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        Self::number(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // An integer too long for 64 bits arrives as a float, as do 1.0 and 1e0, which are the number 1.
        if value.fract() == 0.0 {
            return match value.abs() <= MAX_INTEGER as f64 {
                true => Ok(Value::Number((value as i64).into())),
                false => {
                    let mut digits = ryu_js::Buffer::new();
                    let digits = digits.format(value);
                    Err(E::custom(format_args!("the number {digits} is not exact in every reader of JSON")))
                }
            };
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number beyond the range of a double"))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        characters(text).map(|text| Value::String(text.to_owned())).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inside = self.deeper()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            characters(&name).map_err(serde::de::Error::custom)?;
            let value = members.next_value_seed(inside)?;
            if object.contains_key(&name) {
                return Err(serde::de::Error::custom(format_args!(
                    "the key {name:?} stands twice in one object"
                )));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn canonical(text: &str) -> String {
        String::from_utf8(canonicalize(&parse(text.as_bytes(), 4096).unwrap()).unwrap()).unwrap()
    }

    /// RFC 8785, §3.2.3 and Appendix B, in part.
    #[test]
    fn the_canonical_form_is_that_of_rfc_8785() {
        let sorted = canonical(
            "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,\"\\u00f6\":7}",
        );
        assert_eq!(sorted, "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}");
        assert_eq!(
            canonical("[333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001, -0.0, 1e0]"),
            "[333333333.3333333,4.5,0.002,1e-27,0,1]"
        );
        assert_eq!(
            canonical(r#""\u0000\b\t\n\u000b\f\r\"\\\/é\u001f""#),
            r#""\u0000\b\t\n\u000b\f\r\"\\/é\u001f""#
        );
    }

    #[test]
    fn a_number_has_one_value_however_it_is_spelled() {
        for text in ["1", "1.0", "1e0", "10E-1"] {
            assert_eq!(parse(text.as_bytes(), 8), Ok(Value::from(1)), "{text}");
        }
        assert_eq!(parse(b"-0.0", 8), Ok(Value::from(0)));
        assert_eq!(parse(b"-9007199254740991.0", 32), Ok(Value::from(-9_007_199_254_740_991_i64)));
    }

    #[test]
    fn what_readers_would_understand_differently_is_refused() {
        let deep = format!("{}{}", "[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1));
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"x":{"a":1,"\u0061":1}}"#,
            "9007199254740992",
            "-9007199254740992",
            "123456789012345678901234567890",
            "1e400",
            "[1,]",
            "01",
            "nan",
            "\"\\ud800\"",
            "\"\u{1}\"",
            "1 2",
            "",
            &deep,
        ] {
            assert_eq!(parse(text.as_bytes(), 4096).unwrap_err().reason(), Reason::BadJson, "{text}");
        }
        assert_eq!(parse(b"\"\xff\"", 4096).unwrap_err().reason(), Reason::BadJson);
        assert_eq!(parse(b"1234", 3).unwrap_err().reason(), Reason::TooLarge);
        assert_eq!(parse_object(b"[]", 3).unwrap_err().reason(), Reason::BadForm);
        let deepest = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert_eq!(canonical(&deepest), deepest);
        // What cannot be read again is not signed either.
        for value in [u64::MAX.into(), 1e20.into(), (-1e300).into(), "\u{fdd0}".into(), "a\u{1ffff}".into()] {
            let value: Value = value;
            assert_eq!(canonicalize(&value).unwrap_err().reason(), Reason::BadJson, "{value}");
            assert_eq!(parse(value.to_string().as_bytes(), 4096).unwrap_err().reason(), Reason::BadJson);
        }
        assert_eq!(canonicalize(&json!({"\u{ffff}": 1})).unwrap_err().reason(), Reason::BadJson);
        assert!(canonicalize(&"\u{fdcf}\u{fdf0}\u{fffd}\u{10fffd}".into()).is_ok());
    }
}
