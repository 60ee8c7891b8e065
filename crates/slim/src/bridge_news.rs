//! What a bridge tells the members of its channel: whom it brings in touch with, and what those say.

use bytes::Bytes;

use crate::wire::{Malformed, Reader, Writer};

/// How a message begins that is a bridge's word, and none of an application; the last byte is its version.
const MARK: &[u8] = b"\0gambeson bridge\x01";
/// How many clients of a session are named; there may be more.
pub const MAX_NAMED_CLIENTS: usize = 256;

/// News of a bridge. All that is behind one is classical, and known by what SLIM says of it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BridgeNews {
    /// The bridge stands, and this is behind it now. It is said again when something of it changes, and once a minute.
    Open(FarEnd),
    /// A client said something.
    Said(FarMessage),
    /// Something was not carried: why.
    Missed(String),
    /// The bridge stands no more: why.
    Closed(String),
}

/// What is behind a bridge: a session of stock SLIM clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// The name of the session.
    pub session: String,
    /// Whether it has SLIM's own MLS, which is classical. If not, SLIM's nodes can read all that is carried.
    pub encrypted: bool,
    /// The names of its clients, without the bridge: the first [`MAX_NAMED_CLIENTS`].
    pub clients: Vec<String>,
}

/// What somebody behind a bridge said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarMessage {
    /// The name of the client. The bridge says so, and it was told by SLIM.
    pub from: String,
    /// What the client calls the kind of its payload.
    pub kind: String,
    /// The payload.
    pub bytes: Bytes,
}

impl BridgeNews {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let head = |kind: u8| Writer::default().put(MARK).u8(kind);
        match self {
            Self::Open(FarEnd { session, encrypted, clients }) => {
                let named = &clients[..clients.len().min(MAX_NAMED_CLIENTS)];
                let to = text(head(1), session).u8(u8::from(*encrypted)).count(named.len());
                to.each(named, |to, client| text(to, client))
            }
            Self::Said(FarMessage { from, kind, bytes }) => text(text(head(2), from), kind).bytes(bytes),
            Self::Missed(reason) => text(head(3), reason),
            Self::Closed(reason) => text(head(4), reason),
        }
        .finish()
    }

    /// Whether a message is a bridge's word.
    pub(crate) fn is_in(message: &[u8]) -> bool {
        message.starts_with(MARK)
    }

    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(bytes.clone());
        if fields.take(MARK.len())? != MARK {
            return Err(Malformed);
        }
        let news = match fields.u8()? {
            1 => {
                let session = fields.text()?;
                let encrypted = match fields.u8()? {
                    0 => false,
                    1 => true,
                    _ => return Err(Malformed),
                };
                let count = fields.count(2)?;
                if count > MAX_NAMED_CLIENTS {
                    return Err(Malformed);
                }
                let clients = (0..count).map(|_| fields.text()).collect::<Result<_, _>>()?;
                Self::Open(FarEnd { session, encrypted, clients })
            }
            2 => {
                Self::Said(FarMessage { from: fields.text()?, kind: fields.text()?, bytes: fields.bytes()? })
            }
            3 => Self::Missed(fields.text()?),
            4 => Self::Closed(fields.text()?),
            _ => return Err(Malformed),
        };
        fields.end()?;
        Ok(news)
    }
}

/// What others chose, cut to what is written.
fn text(to: Writer, text: &str) -> Writer {
    to.cut(text, 1_024)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    fn one_of_each() -> Vec<BridgeNews> {
        let clients = vec!["acme/agents/bob".to_owned(), String::new()];
        vec![
            BridgeNews::Open(FarEnd { session: "acme/talks/plan".to_owned(), encrypted: true, clients }),
            BridgeNews::Said(FarMessage {
                from: "acme/agents/bob".to_owned(),
                kind: "text/plain".to_owned(),
                bytes: Bytes::from_static(b"hello"),
            }),
            BridgeNews::Missed("too large".to_owned()),
            BridgeNews::Closed("the session is over".to_owned()),
        ]
    }

    #[test]
    fn news_are_read_as_they_were_written() {
        for news in one_of_each() {
            assert_eq!(BridgeNews::parse(&news.to_bytes().into()).unwrap(), news);
        }
    }

    #[test]
    fn news_that_are_cut_or_go_on_are_refused() {
        for news in one_of_each() {
            let mut bytes = news.to_bytes();
            for len in 0..bytes.len() {
                assert_eq!(BridgeNews::parse(&Bytes::copy_from_slice(&bytes[..len])), Err(Malformed));
            }
            bytes.push(0);
            assert_eq!(BridgeNews::parse(&bytes.into()), Err(Malformed));
        }
        for rest in [&[5, 0, 0][..], &[1, 0, 0, 2, 0, 0, 0, 0]] {
            assert_eq!(BridgeNews::parse(&[MARK, rest].concat().into()), Err(Malformed));
        }
        assert!(!BridgeNews::is_in(b"\0gambeson bridge\x02"));
    }

    #[test]
    fn names_that_are_too_long_are_cut_between_letters_and_too_many_are_left_out() {
        let clients = vec!["ä".repeat(600); MAX_NAMED_CLIENTS + 1];
        let open = BridgeNews::Open(FarEnd { session: "é".repeat(1_024), encrypted: false, clients });
        match BridgeNews::parse(&open.to_bytes().into()).unwrap() {
            BridgeNews::Open(end) => {
                assert_eq!((end.session.len(), end.clients.len()), (1_024, MAX_NAMED_CLIENTS));
                assert_eq!(end.clients[0].len(), 1_024);
            }
            other => panic!("{other:?}"),
        }
    }
}
