//! The names that stand in extensions (`GeneralName` of RFC 5280, §4.2.1.6), of every form.

use std::fmt;
use std::net::IpAddr;

use der::asn1::{AnyRef, Ia5StringRef, ObjectIdentifier};
use der::{Decode, Reader, SliceReader, Tag, TagNumber, Tagged};

use crate::name::Name;

/// A name, as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GeneralName {
    Email(String),
    Dns(String),
    Directory(Name),
    Uri(String),
    /// An address, or for a constraint an address and a mask.
    Ip(Vec<u8>),
    /// `otherName`: its type, and its value where that is text.
    Other(ObjectIdentifier, Option<String>),
    RegisteredId(ObjectIdentifier),
    /// One of a form that is not read, by its tag: `x400Address`, `ediPartyName`.
    Unread(u32),
}

/// `id-on-SmtpUTF8Mailbox` (RFC 9598, §3)
pub(crate) const SMTP_UTF8_MAILBOX: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.8.9");

/// Types of `otherName` that have a name: RFC 6120, RFC 4985, RFC 9598, and the user principal name of Windows.
const OTHERS: [(ObjectIdentifier, &str); 4] = [
    (ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.8.5"), "XMPP"),
    (ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.8.7"), "SRV"),
    (SMTP_UTF8_MAILBOX, "SmtpUTF8Mailbox"),
    (ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.20.2.3"), "UPN"),
];

impl GeneralName {
    /// Reads one name.
    pub(crate) fn read(name: AnyRef<'_>) -> Option<Self> {
        let Tag::ContextSpecific { number: TagNumber(number), .. } = name.tag() else { return None };
        let text = || Ia5StringRef::new(name.value()).ok().map(|text| text.as_str().to_owned());
        match number {
            0 => {
                let mut reader = SliceReader::new(name.value()).ok()?;
                let (oid, value): (_, AnyRef<'_>) = (reader.decode().ok()?, reader.decode().ok()?);
                let value = AnyRef::from_der(value.value()).ok().filter(|_| reader.is_finished())?;
                let is_text = matches!(value.tag(), Tag::Utf8String | Tag::Ia5String | Tag::PrintableString);
                let value = std::str::from_utf8(value.value()).ok().filter(|_| is_text);
                Some(Self::Other(oid, value.map(str::to_owned)))
            }
            1 => text().map(Self::Email),
            2 => text().map(Self::Dns),
            4 => Decode::from_der(name.value()).ok().map(|name| Self::Directory(Name(name))),
            6 => text().map(Self::Uri),
            7 => Some(Self::Ip(name.value().to_vec())),
            8 => ObjectIdentifier::from_bytes(name.value()).ok().map(Self::RegisteredId),
            3 | 5 => Some(Self::Unread(number)),
            _ => None,
        }
    }

    /// Reads `GeneralNames`, which are one at least.
    pub(crate) fn read_all(der: &[u8]) -> Option<Vec<Self>> {
        let outside = AnyRef::from_der(der).ok().filter(|any| any.tag() == Tag::Sequence)?;
        let mut reader = SliceReader::new(outside.value()).ok()?;
        let mut names = Vec::new();
        while !reader.is_finished() {
            names.push(Self::read(reader.decode().ok()?)?);
        }
        (!names.is_empty()).then_some(names)
    }

    /// The form, as the standard calls it.
    pub(crate) const fn form(&self) -> &'static str {
        match self {
            Self::Email(_) => "rfc822Name",
            Self::Dns(_) => "dNSName",
            Self::Directory(_) => "directoryName",
            Self::Uri(_) => "uniformResourceIdentifier",
            Self::Ip(_) => "iPAddress",
            Self::Other(..) => "otherName",
            Self::RegisteredId(_) => "registeredID",
            Self::Unread(3) => "x400Address",
            Self::Unread(_) => "ediPartyName",
        }
    }

    pub(crate) fn address(bytes: &[u8]) -> Option<IpAddr> {
        let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
        four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
    }
}

impl fmt::Display for GeneralName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Email(text) | Self::Dns(text) | Self::Uri(text) => f.write_str(text),
            Self::Directory(name) => write!(f, "directoryName:{name}"),
            Self::Ip(bytes) => match Self::address(bytes) {
                Some(address) => address.fmt(f),
                None => write!(f, "iPAddress of {} bytes", bytes.len()),
            },
            Self::Other(oid, value) => {
                match OTHERS.iter().find(|(known, _)| known == oid) {
                    Some((_, name)) => f.write_str(name)?,
                    None => write!(f, "otherName {oid}")?,
                }
                value.as_ref().map_or(Ok(()), |value| write!(f, ":{value}"))
            }
            Self::RegisteredId(oid) => write!(f, "registeredID:{oid}"),
            Self::Unread(_) => f.write_str(self.form()),
        }
    }
}
