//! What a file in DER is, told from its outline alone.

use der::asn1::{AnyRef, ObjectIdentifier};
use der::{Decode, Reader, SliceReader, Tag, TagNumber, Tagged};

/// Returns true for one value in DER, whole and with nothing behind it.
pub(crate) fn is_whole(file: &[u8]) -> bool {
    AnyRef::from_der(file).is_ok()
}

/// What keys are called, of those below.
pub(crate) const KEYS: [&str; 3] = [PRIVATE, ENCRYPTED, PUBLIC];
const PRIVATE: &str = "a private key";
const ENCRYPTED: &str = "an encrypted private key";
const PUBLIC: &str = "a public key";

/// What this file is, in words; `None` where its outline is that of nothing that is known.
pub(crate) fn of_another(der: &[u8]) -> Option<&'static str> {
    let outer = values(AnyRef::from_der(der).ok()?)?;
    let tags: Vec<Tag> = outer.iter().map(Tagged::tag).collect();
    match &tags[..] {
        [Tag::Sequence, Tag::Sequence, Tag::BitString] => of_signed(outer[0]),
        [Tag::Integer, Tag::Integer, Tag::Integer, ..] => Some("an RSA private key (PKCS#1)"),
        [Tag::Integer, Tag::Integer] => Some("an RSA public key (PKCS#1)"),
        [Tag::Integer, Tag::Sequence, Tag::OctetString, ..] => Some(PRIVATE),
        [Tag::Sequence, Tag::OctetString] => Some(ENCRYPTED),
        [Tag::Sequence, Tag::BitString] => Some(PUBLIC),
        [Tag::Integer, Tag::Sequence] | [Tag::Integer, Tag::Sequence, Tag::Sequence] => {
            Some("a file of keys and certificates (PKCS#12)")
        }
        [Tag::ObjectIdentifier, ..] => {
            let cms = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
            let found = outer[0].decode_as::<ObjectIdentifier>().ok()?;
            (found == cms).then_some("a message of PKCS#7 (CMS)")
        }
        _ => None,
    }
}

/// What is signed: a certificate has a validity behind two other SEQUENCEs, a request a key behind its subject, a list a time.
fn of_signed(body: AnyRef<'_>) -> Option<&'static str> {
    let inner = values(body)?;
    let tags: Vec<Tag> = inner.iter().map(Tagged::tag).collect();
    let tags = tags
        .strip_prefix(&[Tag::ContextSpecific { constructed: true, number: TagNumber(0) }])
        .unwrap_or(&tags);
    match tags {
        [Tag::Integer, Tag::Sequence, Tag::Sequence, Tag::Sequence, ..] => Some("a certificate"),
        [Tag::Integer, Tag::Sequence, Tag::Sequence, Tag::UtcTime | Tag::GeneralizedTime, ..]
        | [Tag::Sequence, Tag::Sequence, Tag::UtcTime | Tag::GeneralizedTime, ..] => {
            Some("a revocation list")
        }
        [Tag::Integer, Tag::Sequence, Tag::Sequence, ..] => Some("a certificate request"),
        _ => None,
    }
}

/// The first values in a SEQUENCE, of which no more than six are looked at.
fn values(any: AnyRef<'_>) -> Option<Vec<AnyRef<'_>>> {
    if any.tag() != Tag::Sequence {
        return None;
    }
    let mut reader = SliceReader::new(any.value()).ok()?;
    let mut values = Vec::new();
    while !reader.is_finished() && values.len() < 6 {
        values.push(reader.decode::<AnyRef<'_>>().ok()?);
    }
    Some(values)
}

/// Returns true for an `ECPrivateKey` (RFC 5915, §3): a version and an OCTET STRING, behind which stand tags of context alone.
pub(crate) fn is_ec_private_key(der: &[u8]) -> bool {
    let outer = AnyRef::from_der(der).ok().and_then(values).unwrap_or_default();
    matches!(&outer[..], [version, scalar, ..] if version.tag() == Tag::Integer && scalar.tag() == Tag::OctetString)
}

/// The parameters inside an `ECPrivateKey`, if it has some.
pub(crate) fn curve_of(der: &[u8]) -> Option<&[u8]> {
    let tag = Tag::ContextSpecific { constructed: true, number: TagNumber(0) };
    let outer = AnyRef::from_der(der).ok().and_then(values)?;
    outer.iter().find(|value| value.tag() == tag).map(|value| value.value())
}
