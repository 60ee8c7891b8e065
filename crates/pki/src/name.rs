//! Names: distinguished ones (RFC 4514), and those by which machines are called.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::str::FromStr;

use der::asn1::{Ia5String, Ia5StringRef, ObjectIdentifier, PrintableStringRef, Utf8StringRef};
use der::{Encode, Tag, Tagged};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::ext::pkix::name::GeneralName as Written;
use x509_cert::name::RelativeDistinguishedName;

use crate::error::Error;
use crate::general_name::GeneralName;

/// A distinguished name: the subject or the issuer of a certificate.
///
/// Two are the same when they mean the same (RFC 5280, §7.1): PrintableString and UTF8String are compared by their text, in which the case of ASCII
/// letters and the number of spaces mean nothing, nor do spaces at its ends; strings of other types by their bytes.
///
/// ```
/// use gambeson_pki::Name;
///
/// let name: Name = "CN=Example Root,O=Example,C=NL".parse()?;
/// assert_eq!(name.to_string(), "CN=Example Root,O=Example,C=NL");
/// assert!("Example Root".parse::<Name>().is_err());
/// # Ok::<(), gambeson_pki::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Name(pub(crate) x509_cert::name::Name);

/// An attribute of a name as it is compared: its type, the tag of its value, and the value.
type Attribute = (ObjectIdentifier, Tag, Vec<u8>);

fn compared(attribute: &AttributeTypeAndValue) -> Attribute {
    let value = attribute.value.value();
    let text = match attribute.value.tag() {
        Tag::PrintableString | Tag::Utf8String => std::str::from_utf8(value).ok(),
        _ => None,
    };
    match text {
        Some(text) => {
            let words: Vec<_> = text.split(' ').filter(|word| !word.is_empty()).collect();
            (attribute.oid, Tag::Utf8String, words.join(" ").to_ascii_lowercase().into_bytes())
        }
        None => (attribute.oid, attribute.value.tag(), value.to_vec()),
    }
}

/// The text of a value of any string type (X.680, 41), or `None`.
fn text_of(attribute: &AttributeTypeAndValue) -> Option<String> {
    let value = attribute.value.value();
    match attribute.value.tag() {
        Tag::PrintableString | Tag::Utf8String => std::str::from_utf8(value).ok().map(str::to_owned),
        Tag::Ia5String | Tag::VisibleString | Tag::TeletexString => {
            Some(value.iter().copied().map(char::from).collect())
        }
        Tag::BmpString => {
            let (units, odd) = value.as_chunks::<2>();
            let units: Vec<u16> = units.iter().copied().map(u16::from_be_bytes).collect();
            odd.is_empty().then(|| String::from_utf16(&units).ok())?
        }
        _ => None,
    }
}

/// The text without what RFC 4518 gives no meaning: case, the number of spaces, and characters that are not seen.
fn loosely(text: &str) -> String {
    let seen = |c: &char| {
        !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
            && (!c.is_control() || c.is_whitespace())
    };
    let text: String = text.chars().filter(seen).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether two sets of attributes may mean the same.
fn may_be(set: &RelativeDistinguishedName, other: &RelativeDistinguishedName) -> bool {
    let may_be_one = |one: &AttributeTypeAndValue, other: &AttributeTypeAndValue| {
        let texts = (text_of(one), text_of(other));
        one.oid == other.oid
            && match texts {
                (Some(one), Some(other)) => loosely(&one) == loosely(&other),
                _ => true,
            }
    };
    set.len() == other.len() && other.iter().all(|other| set.iter().any(|one| may_be_one(one, other)))
}

fn compared_set(set: &RelativeDistinguishedName) -> Vec<Attribute> {
    let mut set: Vec<_> = set.iter().map(compared).collect();
    set.sort_unstable();
    set
}

impl Name {
    /// Whether nothing is in it; such a subject is named by its alternative names alone.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name in DER.
    #[must_use]
    pub fn to_der(&self) -> Vec<u8> {
        self.0.to_der().expect("it was read from DER or from text")
    }

    /// Whether its strings hold what their types say, as far as characters go: UTF-8, or ASCII.
    pub(crate) fn is_text(&self) -> bool {
        self.0.iter().all(|attribute| match attribute.value.tag() {
            Tag::Utf8String => std::str::from_utf8(attribute.value.value()).is_ok(),
            Tag::PrintableString | Tag::Ia5String => attribute.value.value().is_ascii(),
            _ => true,
        })
    }

    /// Whether the first sets of attributes are those of `base`.
    pub(crate) fn begins_with(&self, base: &Self) -> bool {
        self.compared().starts_with(&base.compared())
    }

    /// Whether the first sets of attributes may mean those of `base`: strings of other types are compared too, more loosely, and what cannot be
    /// compared may mean anything.
    pub(crate) fn may_begin_with(&self, base: &Self) -> bool {
        let (sets, bases) = (self.0.as_ref(), base.0.as_ref());
        sets.len() >= bases.len() && sets.iter().zip(bases.iter()).all(|(set, base)| may_be(set, base))
    }

    /// How many attributes it has.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().count()
    }

    /// The values of the attributes of one type; nothing in place of one that is not text.
    pub(crate) fn texts_of(&self, oid: ObjectIdentifier) -> Vec<String> {
        let values = self.0.iter().filter(|attribute| attribute.oid == oid);
        values.map(|attribute| text_of(attribute).unwrap_or_default()).collect()
    }

    /// Its sets of attributes in their order, each set in one order.
    fn compared(&self) -> Vec<Vec<Attribute>> {
        self.0.as_ref().iter().map(compared_set).collect()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.0.as_ref(), other.0.as_ref());
        let same = |(one, other): (&RelativeDistinguishedName, &RelativeDistinguishedName)| {
            one == other || compared_set(one) == compared_set(other)
        };
        one.len() == other.len() && one.iter().zip(other.iter()).all(same)
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.compared().hash(state);
    }
}

impl FromStr for Name {
    type Err = Error;

    /// Reads RFC 4514, such as `CN=Example,O=Company`; nothing at all is the empty name.
    fn from_str(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let name = text.parse::<x509_cert::name::Name>().map_err(|_| Error::Name)?;
        // The parser takes any bytes for a string.
        let is_text = name.iter().all(|attribute| match attribute.value.tag() {
            Tag::PrintableString => PrintableStringRef::try_from(&attribute.value).is_ok(),
            Tag::Ia5String => Ia5StringRef::try_from(&attribute.value).is_ok(),
            Tag::Utf8String => Utf8StringRef::try_from(&attribute.value).is_ok(),
            _ => true,
        });
        if is_text { Ok(Self(name)) } else { Err(Error::Name) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A name of a machine, a person or a service: what stands in the extension subjectAltName, and what a caller expects there.
///
/// As text: an IP address, a URI (with a colon), an address of mail (with an at sign), or a DNS name.
///
/// ```
/// use gambeson_pki::AltName;
///
/// assert_eq!("::1".parse(), Ok(AltName::Ip("::1".parse().expect("an address"))));
/// assert_eq!("did:web:example.com".parse(), Ok(AltName::Uri("did:web:example.com".into())));
/// assert_eq!("localhost".parse(), Ok(AltName::Dns("localhost".into())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AltName {
    /// A DNS name in ASCII; in a certificate its first label may be `*`.
    Dns(String),
    /// An IP address
    Ip(IpAddr),
    /// A URI
    Uri(String),
    /// An address of mail
    Email(String),
}

impl AltName {
    /// `None` for kinds that nobody here asks for: names of directories, registered identifiers and the like.
    pub(crate) fn of(name: &GeneralName) -> Option<Self> {
        match name {
            GeneralName::Dns(name) => Some(Self::Dns(name.clone())),
            GeneralName::Uri(uri) => Some(Self::Uri(uri.clone())),
            GeneralName::Email(address) => Some(Self::Email(address.clone())),
            GeneralName::Ip(bytes) => GeneralName::address(bytes).map(Self::Ip),
            _ => None,
        }
    }

    pub(crate) fn to_general(&self) -> Result<Written, Error> {
        let wrong = || Error::AltName { text: self.to_string() };
        let ascii = |text: &str| Ia5String::new(text).map_err(|_| wrong());
        match self {
            Self::Dns(name) if is_dns(name) => ascii(name).map(Written::DnsName),
            Self::Ip(address) => Ok(Written::from(*address)),
            Self::Uri(uri) if is_uri(uri) => ascii(uri).map(Written::UniformResourceIdentifier),
            Self::Email(address) if is_email(address) => ascii(address).map(Written::Rfc822Name),
            _ => Err(wrong()),
        }
    }

    /// Whether this name of a certificate is the one that the caller expects (RFC 9525, §6): a first label `*` stands for one label
    /// of a DNS name, before at least two others.
    pub(crate) fn covers(&self, expected: &Self) -> bool {
        match (self, expected) {
            (Self::Dns(pattern), Self::Dns(name)) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                if !is_dns(name) || name.starts_with('*') {
                    return false;
                }
                match pattern.strip_prefix("*.") {
                    None => pattern.eq_ignore_ascii_case(name),
                    Some(parent) => name
                        .split_once('.')
                        .is_some_and(|(_, above)| parent.contains('.') && parent.eq_ignore_ascii_case(above)),
                }
            }
            (one, other) => one == other,
        }
    }
}

impl FromStr for AltName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let name = match text.parse() {
            Ok(address) => Self::Ip(address),
            Err(_) if text.contains(':') => Self::Uri(text.to_owned()),
            Err(_) if text.contains('@') => Self::Email(text.to_owned()),
            Err(_) => Self::Dns(text.to_owned()),
        };
        name.to_general().map(|_| name)
    }
}

impl fmt::Display for AltName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(text) | Self::Uri(text) | Self::Email(text) => f.write_str(text),
            Self::Ip(address) => address.fmt(f),
        }
    }
}

fn is_dns(name: &str) -> bool {
    let is_label = |label: &str| {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=63).contains(&label.len())
            && label.bytes().all(inside)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.strip_prefix("*.").unwrap_or(name).split('.').all(is_label)
}

fn is_uri(uri: &str) -> bool {
    let (scheme, rest) = uri.split_once(':').unwrap_or_default();
    let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(in_scheme)
        && !rest.is_empty()
        && uri.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_email(address: &str) -> bool {
    let (local, domain) = address.rsplit_once('@').unwrap_or_default();
    !local.is_empty() && local.bytes().all(|byte| byte.is_ascii_graphic()) && is_dns(domain)
}
