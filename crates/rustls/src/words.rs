//! What rustls and webpki say of certificates, in words.

use rustls::{CertificateError, Error, OtherError};
use webpki::Error as Found;

/// Describes an error of rustls: what was found wrong with a certificate in words, and all else as rustls does.
///
/// ```
/// use gambeson_rustls::{explain, rustls::{CertificateError, Error}};
///
/// assert_eq!(explain(&Error::DecryptError), Error::DecryptError.to_string());
/// assert_eq!(explain(&CertificateError::BadEncoding.into()), "it is not a certificate, or has fields that are not understood");
/// ```
#[must_use]
pub fn explain(error: &Error) -> String {
    let Error::InvalidCertificate(why) = error else { return error.to_string() };
    match why {
        CertificateError::Other(OtherError(inner)) => match inner.downcast_ref() {
            Some(found) => {
                in_words(found).map_or_else(|| format!("it does not hold ({found})"), str::to_owned)
            }
            None => inner.to_string(),
        },
        CertificateError::BadEncoding => {
            "it is not a certificate, or has fields that are not understood".into()
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => {
            "it is signed with an algorithm that is not supported".into()
        }
        CertificateError::UnhandledCriticalExtension => CRITICAL.into(),
        _ => error.to_string(),
    }
}

const CRITICAL: &str = "it has a critical extension that is not supported";

/// What webpki has found, where rustls has no name for it.
const fn in_words(found: &Found) -> Option<&'static str> {
    Some(match found {
        Found::UnsupportedCriticalExtension => CRITICAL,
        Found::UnsupportedCertVersion => "it is not a certificate of version 3",
        Found::InvalidSerialNumber => "its serial number is malformed",
        Found::MalformedExtensions | Found::ExtensionValueInvalid => "it has a malformed extension",
        Found::SignatureAlgorithmMismatch => "it names two different signature algorithms",
        Found::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            "its key is of another algorithm than the signature of the handshake"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn no_name_of_a_library_is_in_the_words() {
        for found in [
            Found::UnsupportedCriticalExtension,
            Found::UnsupportedCertVersion,
            Found::InvalidSerialNumber,
            Found::MalformedExtensions,
            Found::SignatureAlgorithmMismatch,
        ] {
            let name = found.to_string();
            let words = explain(&CertificateError::Other(OtherError(Arc::new(found))).into());
            assert!(!words.contains("Other") && !words.contains(&name), "{words}");
        }
        // What is not named here keeps the library's name, and nothing around it.
        let other = CertificateError::Other(OtherError(Arc::new(Found::CertRevoked)));
        assert_eq!(explain(&other.into()), "it does not hold (CertRevoked)");
    }
}
