//! Errors of rustls and webpki, in words.

use rustls::{AlertDescription, CertificateError, Error, ExtendedKeyPurpose, InconsistentKeys, OtherError};
use std::fmt::Debug;
use webpki::Error as Found;

/// Names of a certificate that are told where it is for another name.
const MAX_NAMES: usize = 8;

/// Describes an error of rustls in words, without the identifiers of its code.
///
/// ```
/// use gambeson_rustls::{explain, rustls::{AlertDescription, CertificateError, Error}};
///
/// assert_eq!(explain(&CertificateError::UnknownIssuer.into()), "its issuer is not known");
/// assert_eq!(explain(&Error::AlertReceived(AlertDescription::UnknownCA)), "it sent the alert unknown_ca");
/// ```
#[must_use]
pub fn explain(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(why) => of_certificate(why),
        Error::InappropriateMessage { got_type, .. } => {
            format!("it sent an unexpected message: {}", spelled(got_type))
        }
        Error::InappropriateHandshakeMessage { got_type, .. } => {
            format!("it sent an unexpected message of the handshake: {}", spelled(got_type))
        }
        Error::InvalidMessage(why) => format!("it sent a malformed message: {}", spelled(why)),
        Error::PeerIncompatible(why) => spelled(why),
        Error::PeerMisbehaved(why) => format!("it broke the rules of TLS: {}", spelled(why)),
        Error::AlertReceived(alert) => format!("it sent the alert {}", alert_name(*alert)),
        Error::InvalidCertRevocationList(why) => {
            format!("a revocation list is not valid: {}", spelled(why))
        }
        Error::InvalidEncryptedClientHello(why) => {
            format!("the encrypted ClientHello failed: {}", spelled(why))
        }
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the private key is not that of the certificate".into()
        }
        Error::InconsistentKeys(why) => {
            format!("the private key cannot be compared with the certificate: {}", spelled(why))
        }
        Error::General(why) => why.clone(),
        Error::Other(OtherError(why)) => why.to_string(),
        // The rest has no parts.
        error => error.to_string(),
    }
}

/// The fault of a certificate.
fn of_certificate(why: &CertificateError) -> String {
    match why {
        CertificateError::Other(OtherError(inner)) => match inner.downcast_ref() {
            Some(found) => of_webpki(found),
            None => inner.to_string(),
        },
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names = presented.iter().take(MAX_NAMES).map(|name| bare(name)).collect::<Vec<_>>();
            let names = match (names.as_slice(), presented.len() - names.len()) {
                ([], _) => "no name".to_owned(),
                (names, 0) => names.join(", "),
                (names, more) => format!("{} and {more} more", names.join(", ")),
            };
            format!("it is for {names}, not for {}", expected.to_str())
        }
        CertificateError::InvalidPurpose => "it is for another purpose".into(),
        CertificateError::InvalidPurposeContext { required, .. } => {
            let purpose = match required {
                ExtendedKeyPurpose::ClientAuth => "clientAuth",
                ExtendedKeyPurpose::ServerAuth => "serverAuth",
                ExtendedKeyPurpose::Other(_) => "this purpose",
            };
            format!("it is not for {purpose}: its key usage or its extended key usage does not allow this")
        }
        why => plain(why).to_owned(),
    }
}

/// Words for an error without parts.
fn plain(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::BadEncoding => "it is not a certificate, or has fields that are not understood",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
        CertificateError::Revoked => "it was revoked: it is in a revocation list of its issuer",
        CertificateError::UnhandledCriticalExtension => CRITICAL,
        CertificateError::UnknownIssuer => "its issuer is not known",
        CertificateError::UnknownRevocationStatus => "its revocation status is unknown",
        CertificateError::ExpiredRevocationList | CertificateError::ExpiredRevocationListContext { .. } => {
            "the revocation list of its issuer has expired"
        }
        CertificateError::BadSignature => "its signature is not one of its issuer",
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => {
            "it is signed with an algorithm that is not supported"
        }
        CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => OTHER_KEY,
        CertificateError::NotValidForName => "it is for another name",
        CertificateError::InvalidOcspResponse => "the answer about its revocation is not valid",
        CertificateError::ApplicationVerificationFailure => "this program does not accept it",
        _ => "it is not valid",
    }
}

const CRITICAL: &str = "it has a critical extension that is not supported";
const OTHER_KEY: &str = "its key is of another algorithm than the signature of the handshake";

/// What webpki has found, where rustls has no name for it.
fn of_webpki(found: &Found) -> String {
    let words = match found {
        Found::UnsupportedCriticalExtension => CRITICAL,
        Found::UnsupportedCertVersion => "it is not a certificate of version 3",
        Found::InvalidSerialNumber => "its serial number is malformed",
        Found::MalformedExtensions | Found::ExtensionValueInvalid => "it has a malformed extension",
        Found::SignatureAlgorithmMismatch => "it names two different signature algorithms",
        Found::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => OTHER_KEY,
        found => return format!("it is not valid: {}", spelled(found)),
    };
    words.to_owned()
}

/// The name of a certificate without the kind around it, which rustls writes as `DnsName("example.com")`.
fn bare(name: &str) -> &str {
    let inside = name.split_once('(').map_or(name, |(_, rest)| rest.strip_suffix(')').unwrap_or(rest));
    inside.trim_matches('"')
}

/// The registered name of an alert (RFC 8446, section 6.2), or its number.
fn alert_name(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::Unknown(number) => number.to_string(),
        alert => words(&format!("{alert:?}")).join("_").to_lowercase(),
    }
}

/// An identifier of code as words, without its parts: `NoKxGroupsInCommon` as "no key exchange groups in common".
fn spelled(identifier: &impl Debug) -> String {
    let text = format!("{identifier:?}");
    let name = text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let words = words(name).into_iter().map(|word| match word {
        "Kx" => "key exchange".to_owned(),
        "Tls12" => "TLS 1.2".to_owned(),
        "Tls13" => "TLS 1.3".to_owned(),
        "Or13" => "or 1.3".to_owned(),
        word if word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) => {
            word.to_owned()
        }
        word => word.to_lowercase(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The words of an identifier: each begins with a capital letter behind a small one, or before one.
fn words(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let begins = |at: usize| {
        let after_small = !bytes[at - 1].is_ascii_uppercase();
        let before_small = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        bytes[at].is_ascii_uppercase() && (after_small || before_small)
    };
    let mut starts: Vec<usize> = (1..bytes.len()).filter(|at| begins(*at)).collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([name.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| name.get(*start..end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{ContentType, HandshakeType, InvalidMessage, PeerIncompatible, PeerMisbehaved};
    use std::sync::Arc;

    /// Returns true if a word has a capital letter behind a small one.
    fn has_identifier(text: &str) -> bool {
        text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
    }

    #[test]
    fn no_identifier_of_a_library_is_in_the_words() {
        let found = [
            Found::UnsupportedCriticalExtension,
            Found::UnsupportedCertVersion,
            Found::InvalidSerialNumber,
            Found::MalformedExtensions,
            Found::SignatureAlgorithmMismatch,
            Found::CertRevoked,
            Found::CaUsedAsEndEntity,
            Found::PathLenConstraintViolated,
        ];
        let found = found.map(|found| CertificateError::Other(OtherError(Arc::new(found))));
        let own = [
            CertificateError::BadEncoding,
            CertificateError::Expired,
            CertificateError::NotValidYet,
            CertificateError::Revoked,
            CertificateError::UnhandledCriticalExtension,
            CertificateError::UnknownIssuer,
            CertificateError::UnknownRevocationStatus,
            CertificateError::ExpiredRevocationList,
            CertificateError::BadSignature,
            CertificateError::NotValidForName,
            CertificateError::InvalidPurpose,
            CertificateError::InvalidOcspResponse,
            CertificateError::ApplicationVerificationFailure,
        ];
        let certificates = found.into_iter().chain(own).map(Error::InvalidCertificate);
        let others = [
            Error::PeerIncompatible(PeerIncompatible::NoKxGroupsInCommon),
            Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13),
            Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(None)),
            Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedKxGroup),
            Error::InvalidMessage(InvalidMessage::MissingData("SessionID")),
            Error::AlertReceived(AlertDescription::HandshakeFailure),
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch),
            Error::InconsistentKeys(InconsistentKeys::Unknown),
            Error::InappropriateMessage { expect_types: vec![], got_type: ContentType::ApplicationData },
            Error::InappropriateHandshakeMessage {
                expect_types: vec![],
                got_type: HandshakeType::ClientHello,
            },
        ];
        for error in certificates.chain(others) {
            let words = explain(&error);
            assert!(!has_identifier(&words) && !words.contains("Other"), "{words}");
        }
    }

    #[test]
    fn identifiers_are_spelled() {
        let spelt = |error: Error| explain(&error);
        let none = PeerIncompatible::NoKxGroupsInCommon;
        assert_eq!(spelt(none.into()), "no key exchange groups in common");
        let version = PeerIncompatible::ServerDoesNotSupportTls12Or13;
        assert_eq!(spelt(version.into()), "server does not support TLS 1.2 or 1.3");
        assert_eq!(spelt(PeerIncompatible::Tls12NotOffered.into()), "TLS 1.2 not offered");
        for (alert, name) in [
            (AlertDescription::HandshakeFailure, "handshake_failure"),
            (AlertDescription::UnknownCA, "unknown_ca"),
            (AlertDescription::CertificateRequired, "certificate_required"),
            (AlertDescription::UnknownPSKIdentity, "unknown_psk_identity"),
            (AlertDescription::Unknown(200), "200"),
        ] {
            assert_eq!(spelt(Error::AlertReceived(alert)), format!("it sent the alert {name}"));
        }
        assert_eq!(bare("DnsName(\"example.com\")"), "example.com");
    }
}
