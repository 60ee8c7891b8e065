//! The fields of a request, and the refusals that a wrong one meets.

use serde_json::{Map, Value};

/// The code of an answer that is not a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// The line is not a JSON object.
    BadJson,
    /// A needed field is missing, of the wrong type, or contradicts another.
    BadRequest,
    /// Not implemented here.
    Unsupported,
    /// Not hexadecimal digits, or an odd number of them.
    BadHex,
    /// A byte string of the wrong length.
    BadLength,
    /// A key of the right length that the standard's input check rejects.
    BadKey,
    /// A context of more than 255 bytes.
    BadContext,
    /// A stateful key without leaves left, or without the named one.
    Exhausted,
    /// A failure of this program.
    Internal,
}

impl Code {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::BadJson => "bad-json",
            Self::BadRequest => "bad-request",
            Self::Unsupported => "unsupported",
            Self::BadHex => "bad-hex",
            Self::BadLength => "bad-length",
            Self::BadKey => "bad-key",
            Self::BadContext => "bad-context",
            Self::Exhausted => "exhausted",
            Self::Internal => "internal",
        }
    }
}

/// Why a request has no result. The text never quotes the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub code: Code,
    pub detail: String,
}

impl Refusal {
    pub(super) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }

    pub(super) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, detail)
    }

    pub(super) fn unsupported(detail: impl Into<String>) -> Self {
        Self::new(Code::Unsupported, detail)
    }

    pub(super) fn bad_length(name: &str, expected: usize, actual: usize) -> Self {
        Self::new(Code::BadLength, format!("`{name}` has {actual} bytes, not {expected}"))
    }

    pub(super) fn bad_key(detail: impl Into<String>) -> Self {
        Self::new(Code::BadKey, detail)
    }
}

/// The fields of a request, read by name and type.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub &'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// Whether the field is given.
    pub(super) fn has(self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A text, if given.
    pub(super) fn text(self, name: &str) -> Result<Option<&'a str>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::bad_request(format!("`{name}` is not a string"))),
        }
    }

    /// Any value, if given.
    pub(super) fn value(self, name: &str) -> Option<&'a Value> {
        self.0.get(name)
    }

    /// A truth value, `false` if not given.
    pub(super) fn flag(self, name: &str) -> Result<bool, Refusal> {
        match self.0.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Refusal::bad_request(format!("`{name}` is not a truth value"))),
        }
    }

    /// Bytes in hexadecimal, if given.
    pub(super) fn optional(self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        decode(text).map(Some).ok_or_else(|| {
            Refusal::new(Code::BadHex, format!("`{name}` is not an even number of hexadecimal digits"))
        })
    }

    /// Bytes in hexadecimal.
    pub(super) fn bytes(self, name: &str) -> Result<Vec<u8>, Refusal> {
        self.optional(name)?.ok_or_else(|| Refusal::bad_request(format!("`{name}` is missing")))
    }

    /// Exactly `N` bytes in hexadecimal, if given.
    pub(super) fn optional_array<const N: usize>(self, name: &str) -> Result<Option<[u8; N]>, Refusal> {
        let Some(bytes) = self.optional(name)? else { return Ok(None) };
        exactly(name, &bytes).map(Some)
    }

    /// Exactly `N` bytes in hexadecimal.
    pub(super) fn array<const N: usize>(self, name: &str) -> Result<[u8; N], Refusal> {
        exactly(name, &self.bytes(name)?)
    }

    /// A length in bits that is whole bytes, as bytes; at most [`MAX_OUTPUT`].
    pub(super) fn bits(self, name: &str) -> Result<usize, Refusal> {
        let value = self.0.get(name).ok_or_else(|| Refusal::bad_request(format!("`{name}` is missing")))?;
        let bits = value
            .as_u64()
            .ok_or_else(|| Refusal::bad_request(format!("`{name}` is not a number of bits")))?;
        if !bits.is_multiple_of(8) {
            return Err(Refusal::bad_request(format!("`{name}` is not a multiple of 8")));
        }
        match usize::try_from(bits / 8) {
            Ok(bytes) if bytes <= MAX_OUTPUT => Ok(bytes),
            _ => Err(Refusal::bad_request(format!("`{name}` asks for more than {MAX_OUTPUT} bytes"))),
        }
    }

    /// Byte counts for the pieces of `total` bytes, in order; what they leave comes in one last piece.
    pub(super) fn pieces(self, name: &str, total: usize) -> Result<Vec<usize>, Refusal> {
        let wrong = || Refusal::bad_request(format!("`{name}` is not a list of byte counts"));
        let mut pieces = Vec::new();
        let mut left = total;
        if let Some(value) = self.0.get(name) {
            for count in value.as_array().ok_or_else(wrong)? {
                let count = count.as_u64().ok_or_else(wrong)?;
                let count = usize::try_from(count).ok().filter(|&count| count <= left);
                let count = count.ok_or_else(|| {
                    Refusal::bad_request(format!(
                        "`{name}` counts more than the {total} bytes of the message"
                    ))
                })?;
                pieces.push(count);
                left -= count;
            }
        }
        pieces.push(left);
        Ok(pieces)
    }
}

/// The longest output that an answer of one 64 MiB line can carry in hexadecimal, in bytes.
pub(super) const MAX_OUTPUT: usize = (64 << 20) / 2 - 4096;

/// `bytes` as an array, or the refusal `bad-length`.
pub(super) fn exactly<const N: usize>(name: &str, bytes: &[u8]) -> Result<[u8; N], Refusal> {
    bytes.try_into().map_err(|_| Refusal::bad_length(name, N, bytes.len()))
}

/// The bytes that `text` spells; `None` for an odd length or a character that is no digit.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        b'A'..=b'F' => Some(c - b'A' + 10),
        _ => None,
    };
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// `bytes` in hexadecimal, lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{decode, hex};

    #[test]
    fn hexadecimal_goes_both_ways_in_either_case() {
        assert_eq!(decode("00fFA5"), Some(vec![0, 255, 0xa5]));
        assert_eq!(decode(""), Some(Vec::new()));
        for wrong in ["0", "0g", "é", " 0", "+1"] {
            assert_eq!(decode(wrong), None, "{wrong:?}");
        }
        assert_eq!(hex(&[0, 255, 0xa5]), "00ffa5");
    }
}
