//! The border to JavaScript: a verb, JSON, and bytes beside it. One function for all verbs of an object, because glue for each would be
//! larger than what it carries.

use gambeson_identity::{DidUrl, Error, Reason, Result, Timestamp, json};
use serde_json::{Map, Value};

/// The longest JSON that JavaScript may hand over, in bytes.
pub const MAX_JSON: usize = 64 << 20;

/// What an object is asked, with a verb.
pub struct Input<'a> {
    members: Map<String, Value>,
    bytes: &'a [u8],
}

/// What it answers: JSON, and bytes that go with it.
pub type Answer = (Value, Vec<u8>);

/// An answer without bytes.
pub fn said(value: impl Into<Value>) -> Result<Answer> {
    Ok((value.into(), Vec::new()))
}

/// An answer of bytes alone.
pub fn given(bytes: impl Into<Vec<u8>>) -> Result<Answer> {
    Ok((Value::Null, bytes.into()))
}

/// An object of JSON.
pub fn object(members: Vec<(&str, Value)>) -> Value {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An answer as it crosses: a line of JSON, and the bytes after its end.
pub fn written((value, bytes): Answer) -> Result<Vec<u8>> {
    let mut line = json::text(&value)?.into_bytes();
    if !bytes.is_empty() {
        line.push(b'\n');
        line.extend_from_slice(&bytes);
    }
    Ok(line)
}

/// A mistake in what was handed over.
pub fn bad(what: impl core::fmt::Display) -> Error {
    Error::new(Reason::BadForm, what)
}

/// The refusal of a verb that the module does not have.
pub const NO_VERB: &str = "the whole module can do that, or none: `await init(\"whole\")`";

/// Texts of a list.
pub fn texts<'a>(list: impl IntoIterator<Item = &'a str>) -> Value {
    list.into_iter().map(Value::from).collect()
}

impl<'a> Input<'a> {
    /// Reads what JavaScript hands over.
    pub fn read(members: &str, bytes: &'a [u8]) -> Result<Self> {
        Ok(Self { members: json::parse_object(members.as_bytes(), MAX_JSON)?, bytes })
    }

    /// What stands in a member that is an object.
    pub fn inside(&self, name: &str) -> Option<Self> {
        let members = self.member(name)?.as_object()?.clone();
        Some(Self { members, bytes: self.bytes })
    }

    /// All the bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes, cut into pieces of the lengths that are named.
    pub fn pieces(&self) -> Result<Vec<&'a [u8]>> {
        let mut rest = self.bytes;
        let cut = |length: &Value| {
            let (piece, after) = rest.split_at_checked(usize::try_from(length.as_u64()?).ok()?)?;
            rest = after;
            Some(piece)
        };
        let pieces: Option<Vec<_>> = self.list("pieces")?.iter().map(cut).collect();
        pieces.ok_or_else(|| bad("the bytes are shorter than their pieces"))
    }

    /// That many pieces.
    pub fn exactly<const N: usize>(&self) -> Result<[&'a [u8]; N]> {
        self.pieces()?.try_into().map_err(|_| bad(format_args!("{N} strings of bytes are needed")))
    }

    pub fn text(&self, name: &str) -> Result<&str> {
        self.text_if(name)?.ok_or_else(|| missing(name))
    }

    pub fn text_if(&self, name: &str) -> Result<Option<&str>> {
        match self.member(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(bad(format_args!("{name:?} must be a string"))),
        }
    }

    /// JSON that stands in a text: it is read as strictly, and at most as deep, as if it had come alone.
    pub fn json(&self, name: &str, max_len: usize) -> Result<Map<String, Value>> {
        json::parse_object(self.text(name)?.as_bytes(), max_len)
    }

    pub fn number(&self, name: &str) -> Result<u64> {
        self.number_if(name)?.ok_or_else(|| missing(name))
    }

    /// A number, or one beyond what JavaScript counts exactly in a text.
    pub fn number_if(&self, name: &str) -> Result<Option<u64>> {
        let number = match self.member(name) {
            None => return Ok(None),
            Some(Value::String(digits)) => digits.parse().ok(),
            Some(value) => value.as_u64(),
        };
        number.map(Some).ok_or_else(|| bad(format_args!("{name:?} must be an integer")))
    }

    pub fn size(&self, name: &str) -> Result<usize> {
        usize::try_from(self.number(name)?).map_err(|_| bad(format_args!("{name:?} is too large")))
    }

    pub fn time(&self, name: &str) -> Result<Timestamp> {
        self.number(name).map(Timestamp)
    }

    pub fn now(&self) -> Result<Timestamp> {
        self.time("now")
    }

    /// Whether a member says so; nothing else passes for a yes or a no.
    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.member(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(bad(format_args!("{name:?} must be true or false"))),
        }
    }

    pub fn list(&self, name: &str) -> Result<&[Value]> {
        match self.member(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(bad(format_args!("{name:?} must be a list"))),
        }
    }

    pub fn texts<'s>(&'s self, name: &str) -> Result<Vec<&'s str>> {
        let text = |item: &'s Value| {
            item.as_str().ok_or_else(|| bad(format_args!("{name:?} must be a list of strings")))
        };
        self.list(name)?.iter().map(text).collect()
    }

    pub fn owned(&self, name: &str) -> Result<Vec<String>> {
        Ok(self.texts(name)?.into_iter().map(str::to_owned).collect())
    }

    /// The URL of a key.
    pub fn url(&self, name: &str) -> Result<DidUrl> {
        DidUrl::of_key(self.text(name)?)
    }

    /// A member that is there and says something.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }
}

fn missing(name: &str) -> Error {
    bad(format_args!("{name:?} is missing"))
}
