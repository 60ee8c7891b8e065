//! What is said before applications speak: one's cards, or their hash; then whether the other's are taken.
//!
//! A message has a type (1 byte), the length of its body (4 bytes, the highest first), and the body.

use gambeson_identity::Did;

use crate::error::{Error, Result};

/// The longest cards that are read, in bytes: logs of nearly two hundred cards.
pub const MAX_CARDS_LEN: usize = 4 << 20;

/// The longest body of all other messages.
const MAX_SHORT: usize = 512;

const HEADER: usize = 5;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// Type 1: all cards, oldest first, one a line.
    Cards(&'a [u8]),
    /// Type 2: the DID, a line feed, and the hash of the newest card.
    Hash(Did, &'a str),
    /// Type 3, empty: the other's cards are taken.
    Ready,
    /// Type 4: they are refused, for the reason with this code.
    Refused(&'a str),
}

impl<'a> Message<'a> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let hash;
        let (kind, body) = match self {
            Self::Cards(lines) => (1, *lines),
            Self::Hash(did, newest) => {
                hash = format!("{did}\n{newest}");
                (2, hash.as_bytes())
            }
            Self::Ready => (3, &[][..]),
            Self::Refused(code) => (4, code.as_bytes()),
        };
        let len = u32::try_from(body.len()).expect("bodies are shorter than MAX_CARDS_LEN");
        let mut out = Vec::with_capacity(HEADER + body.len());
        out.push(kind);
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(body);
        out
    }

    /// The message at the front of `bytes` and its length, if it is whole.
    pub(crate) fn first(bytes: &'a [u8]) -> Result<Option<(Self, usize)>> {
        // What is no message is refused at its first byte: nothing is collected that nobody will read.
        let limit = match bytes.first() {
            None => return Ok(None),
            Some(1) => MAX_CARDS_LEN,
            Some(2 | 4) => MAX_SHORT,
            Some(3) => 0,
            Some(_) => return Err(Error::BadMessage),
        };
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else { return Ok(None) };
        let [kind, len @ ..] = *header;
        let len = usize::try_from(u32::from_be_bytes(len)).unwrap_or(usize::MAX);
        if len > limit {
            return Err(if kind == 1 { Error::TooLong { len } } else { Error::BadMessage });
        }
        let Some(body) = rest.get(..len) else { return Ok(None) };
        Ok(Some((Self::read(kind, body)?, HEADER + len)))
    }

    fn read(kind: u8, body: &'a [u8]) -> Result<Self> {
        let text = || std::str::from_utf8(body).map_err(|_| Error::BadMessage);
        Ok(match kind {
            1 => Self::Cards(body),
            2 => {
                let (did, hash) = text()?.split_once('\n').ok_or(Error::BadMessage)?;
                Self::Hash(did.parse()?, hash)
            }
            3 => Self::Ready,
            _ => {
                let of_code = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                match !body.is_empty() && body.iter().copied().all(of_code) {
                    true => Self::Refused(text()?),
                    false => return Err(Error::BadMessage),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use gambeson_identity::Agent;

    #[test]
    fn messages_come_back_whole_and_one_by_one() {
        let did = Agent::generate().unwrap().did().clone();
        let all = [
            Message::Cards(&[7; 100_000]),
            Message::Hash(did, "u123"),
            Message::Ready,
            Message::Refused("other-peer"),
        ];
        let wire: Vec<u8> = all.iter().flat_map(Message::encode).collect();
        let (mut from, mut found) = (0, Vec::new());
        for to in 1..=wire.len() {
            if let Some((message, len)) = Message::first(&wire[from..to]).unwrap() {
                found.push(message);
                from += len;
            }
        }
        assert_eq!(found, all);
        assert_eq!(from, wire.len());
    }

    #[test]
    fn what_is_no_message_is_refused_as_soon_as_that_is_seen() {
        let code = |bytes: &[u8]| Message::first(bytes).unwrap_err().code();
        assert_eq!(code(b"GET / HTTP/1.1"), "bad-message");
        assert_eq!(code(&[0]), "bad-message");
        assert_eq!(code(&[1, 0, 0x40, 0, 1]), "too-large");
        assert_eq!(code(&[2, 0, 0, 2, 1]), "bad-message");
        assert_eq!(code(&[3, 0, 0, 0, 1]), "bad-message");
        assert_eq!(code(&[2, 0, 0, 0, 2, b'a', b'b']), "bad-message");
        assert_eq!(code(b"\x02\0\0\0\x03a\nb"), "bad-did");
        assert_eq!(code(&[2, 0, 0, 0, 1, 0xff]), "bad-message");
        assert_eq!(code(&[4, 0, 0, 0, 0]), "bad-message");
        assert_eq!(code(&[4, 0, 0, 0, 1, b'!']), "bad-message");
        assert!(Message::first(&[1, 0, 0x40, 0, 0]).unwrap().is_none());
    }
}
