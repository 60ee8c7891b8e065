//! What certificates, requests and revocation lists have in common: a body, an algorithm and a signature.

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use der::asn1::{AnyRef, BitString};
use der::pem::LineEnding;
use der::referenced::{OwnedToRef, RefToOwned};
use der::{DateTime, Decode, Document, Reader, SliceReader};
use spki::{AlgorithmIdentifierOwned, EncodePublicKey};
use x509_cert::spki::{DynSignatureAlgorithmIdentifier, SignatureBitStringEncoding};
use x509_cert::time::Time;

use crate::error::Error;
use crate::private::PrivateKey;
use crate::public::{PublicKey, text_of};

/// The bytes of a file, and where in them the signed part stands: it is verified as it came, not as it would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    der: Vec<u8>,
    body: Range<usize>,
}

impl Signed {
    pub(crate) fn new(der: &[u8]) -> Result<Self, Error> {
        let outer = AnyRef::from_der(der).map_err(|_| Error::Der)?;
        let mut reader = SliceReader::new(outer.value()).map_err(|_| Error::Der)?;
        let body = reader.tlv_bytes().map_err(|_| Error::Der)?.len();
        let start = der.len() - outer.value().len();
        Ok(Self { der: der.to_vec(), body: start..start + body })
    }

    pub(crate) fn as_der(&self) -> &[u8] {
        &self.der
    }

    pub(crate) fn to_pem(&self, label: &'static str) -> String {
        let document = Document::try_from(&self.der[..]).expect("it was read from DER");
        document.to_pem(label, LineEnding::LF).expect("a file is short enough for PEM")
    }

    pub(crate) fn verify(
        &self,
        key: &PublicKey,
        algorithm: &AlgorithmIdentifierOwned,
        signature: &BitString,
    ) -> Result<(), Error> {
        let signature = signature.as_bytes().ok_or(Error::Der)?;
        key.verify_as(&algorithm.owned_to_ref(), &self.der[self.body.clone()], signature)
    }
}

/// The blocks of PEM with that label; text around them and other blocks are passed over.
pub(crate) fn pem_blocks(text: &str, label: &str) -> Result<Vec<Vec<u8>>, Error> {
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(&begin) {
        let block = &rest[at..];
        let len = block.find(&end).ok_or(Error::Pem)? + end.len();
        let (_, document) = Document::from_pem(&block[..len]).map_err(|_| Error::Pem)?;
        blocks.push(document.as_bytes().to_vec());
        rest = &block[len..];
    }
    Ok(blocks)
}

/// The DER of a file: the file itself, or the first block of PEM with that label in it.
pub(crate) fn der_of<'a>(file: &'a [u8], label: &str) -> Result<Cow<'a, [u8]>, Error> {
    let Some(text) = text_of(file)? else { return Ok(Cow::Borrowed(file)) };
    pem_blocks(text, label)?.into_iter().next().map(Cow::Owned).ok_or(Error::Pem)
}

/// A time as files have it: whole seconds, two digits of a year until 2049 (RFC 5280, §4.1.2.5).
pub(crate) fn time(at: SystemTime) -> Result<Time, Error> {
    let since = at.duration_since(UNIX_EPOCH).map_err(|_| Error::Time)?;
    let whole = Duration::from_secs(since.as_secs());
    DateTime::from_unix_duration(whole).map(Time::from).map_err(|_| Error::Time)
}

/// A serial number without the zeros in front, of which DER writes one where the first bit is set.
pub(crate) fn without_zeros(serial: &[u8]) -> &[u8] {
    let zeros = serial.iter().take_while(|byte| **byte == 0).count();
    &serial[zeros.min(serial.len().saturating_sub(1))..]
}

/// A private key as the builder of certificates wants it.
pub(crate) struct Signer<'a>(pub(crate) &'a PrivateKey);

/// A public key in DER, as the builder wants it.
#[derive(Clone)]
pub(crate) struct Spki(Document);

/// A signature, as the builder wants it.
pub(crate) struct Signature(Vec<u8>);

impl signature::Keypair for Signer<'_> {
    type VerifyingKey = Spki;

    fn verifying_key(&self) -> Spki {
        let der = self.0.public_key().to_spki_der();
        Spki(Document::try_from(der).expect("DER was just written"))
    }
}

impl EncodePublicKey for Spki {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        Ok(self.0.clone())
    }
}

impl DynSignatureAlgorithmIdentifier for Signer<'_> {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        Ok(self.0.algorithm().signature_identifier().ref_to_owned())
    }
}

impl signature::Signer<Signature> for Signer<'_> {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, signature::Error> {
        self.0.sign(message).map(Signature).map_err(|_| signature::Error::new())
    }
}

impl SignatureBitStringEncoding for Signature {
    fn to_bitstring(&self) -> der::Result<BitString> {
        BitString::from_bytes(&self.0)
    }
}
