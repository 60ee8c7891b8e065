#![doc = include_str!("../README.md")]
//!
//! # What a reader may rely on
//!
//! * **Nothing unauthenticated comes out.** [`open`] and [`Decryptor`] release a chunk of 64 KiB only after its tag
//!   was verified. A file that was cut or extended is found out only at its end: treat the output as unfinished
//!   until `Ok` is there, and throw it away on an error.
//! * **Memory is constant**: two buffers of one chunk, and the header once, at most 16 MiB. A header has at most 1,024 stanzas, with at most
//!   64 arguments each, and a file as many recipients; others are refused before a key is tried.
//! * **Parsing is strict**: there is one encoding of a header, and any other is an error. Armor may have CRLF line
//!   ends and white space around it, nothing else.
//! * **Errors are told apart**: [`Error::NoMatch`] is a wrong identity, [`Error::Header`] a malformed header,
//!   [`Error::HeaderMac`] a changed one, [`Error::Payload`] a changed, cut or extended body.
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `keys` | [`Identity`], [`Recipient`], Bech32, key files |
//! | `header` | the textual header: parsing, writing, its MAC |
//! | `passphrase` | [`Passphrase`]: the stanza of the kind scrypt |
//! | `scrypt` | from a passphrase to a key |
//! | `stream` | [`Encryptor`], [`Decryptor`], [`seal`], [`open`]: the payload in chunks |
//! | [`armor`] | the ASCII form |
//! | `error` | [`Error`] and its parts |
//!
//! Sources: c2sp.org/age (the file format), RFC 9180 (HPKE), draft-ietf-hpke-pq (MLKEM768-X25519 in it), BIP 173
//! (Bech32), RFC 7468 (armor), RFC 7914 (scrypt).
#![warn(missing_debug_implementations)]

pub mod armor;
mod error;
mod header;
mod keys;
mod passphrase;
mod scrypt;
mod stream;

pub use error::{ArmorError, Error, HeaderError, PayloadError};
pub use header::{FileKey, Stanza, UnwrapFileKey};
pub use keys::{Identity, IdentityFile, KeyError, KeyFileError, Recipient};
pub use passphrase::Passphrase;
pub use stream::{Decryptor, Encryptor, Format, open, seal, seal_with};
