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
pub(crate) enum Message {
    /// Type 1: all cards, oldest first, one a line.
    Cards(Vec<u8>),
    /// Type 2: the DID, a line feed, and the hash of the newest card.
    Hash(Did, String),
    /// Type 3, empty: the other's cards are taken.
    Ready,
    /// Type 4: they are refused, for the reason with this code.
    Refused(String),
}

impl Message {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (kind, body) = match self {
            Self::Cards(lines) => (1, lines.clone()),
            Self::Hash(did, hash) => (2, format!("{did}\n{hash}").into_bytes()),
            Self::Ready => (3, Vec::new()),
            Self::Refused(code) => (4, code.clone().into_bytes()),
        };
        let len = u32::try_from(body.len()).expect("bodies are shorter than MAX_CARDS_LEN");
        let mut out = Vec::with_capacity(HEADER + body.len());
        out.push(kind);
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(&body);
        out
    }

    /// Takes a message from the front of `bytes`, or leaves them as they are when it is not whole.
    pub(crate) fn take(bytes: &mut Vec<u8>) -> Result<Option<Self>> {
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
        let message = Self::read(kind, body)?;
        bytes.drain(..HEADER + len);
        Ok(Some(message))
    }

    fn read(kind: u8, body: &[u8]) -> Result<Self> {
        let text = || std::str::from_utf8(body).map_err(|_| Error::BadMessage);
        Ok(match kind {
            1 => Self::Cards(body.to_vec()),
            2 => {
                let (did, hash) = text()?.split_once('\n').ok_or(Error::BadMessage)?;
                Self::Hash(did.parse()?, hash.to_owned())
            }
            3 => Self::Ready,
            _ => {
                let of_code = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                match !body.is_empty() && body.iter().copied().all(of_code) {
                    true => Self::Refused(text()?.to_owned()),
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
            Message::Cards(vec![7; 100_000]),
            Message::Hash(did, "u123".into()),
            Message::Ready,
            Message::Refused("other-peer".into()),
        ];
        let wire: Vec<u8> = all.iter().flat_map(Message::encode).collect();
        let (mut inbox, mut found) = (Vec::new(), Vec::new());
        for byte in wire {
            inbox.push(byte);
            found.extend(Message::take(&mut inbox).unwrap());
        }
        assert_eq!(found, all);
        assert!(inbox.is_empty());
    }

    #[test]
    fn what_is_no_message_is_refused_as_soon_as_that_is_seen() {
        let code = |bytes: &[u8]| Message::take(&mut bytes.to_vec()).unwrap_err().code();
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
        assert!(Message::take(&mut vec![1, 0, 0x40, 0, 0]).unwrap().is_none());
    }
}
