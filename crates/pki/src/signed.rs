//! What certificates, requests and revocation lists have in common: a body, an algorithm and a signature.

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use der::asn1::BitString;
use der::pem::LineEnding;
use der::referenced::{OwnedToRef, RefToOwned};
use der::{DateTime, Decode, Document};
use spki::{AlgorithmIdentifierOwned, EncodePublicKey};
use x509_cert::spki::{DynSignatureAlgorithmIdentifier, SignatureBitStringEncoding};
use x509_cert::time::Time;

use crate::chain::SignedData;
use crate::error::Error;
use crate::fields::{Fields, malformed};
use crate::outline;
use crate::private::PrivateKey;
use crate::public::PublicKey;

/// The bytes of a file, and where in them the signed part stands: it is verified as it came, not as it would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    der: Vec<u8>,
    body: Range<usize>,
    algorithm: AlgorithmIdentifierOwned,
    algorithm_der: Vec<u8>,
    signature: BitString,
}

impl Signed {
    /// Reads the outline of a file; `object` is what it should be.
    pub(crate) fn read(object: &'static str, der: &[u8]) -> Result<Self, Error> {
        let read = || {
            let mut fields = Fields::of_file(object, der)?;
            let start = der.len() - fields.left();
            let body = fields.read_whole("signed part")?.len();
            let algorithm_der = fields.read_whole("signature algorithm")?.to_vec();
            let algorithm = AlgorithmIdentifierOwned::from_der(&algorithm_der);
            let algorithm = algorithm.map_err(|_| malformed(object, "signature algorithm"))?;
            let signature = fields.read("signature")?;
            fields.end()?;
            Ok(Self { der: der.to_vec(), body: start..start + body, algorithm, algorithm_der, signature })
        };
        // What is known by its outline is named, before a field of it is missed.
        match outline::of_another(der) {
            Some(found) if !found.ends_with(object) => Err(Error::AnotherFile { expected: object, found }),
            _ => read(),
        }
    }

    pub(crate) fn as_der(&self) -> &[u8] {
        &self.der
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.der[self.body.clone()]
    }

    pub(crate) const fn algorithm(&self) -> &AlgorithmIdentifierOwned {
        &self.algorithm
    }

    pub(crate) fn to_pem(&self, label: &'static str) -> String {
        let document = Document::try_from(&self.der[..]).expect("it was read from DER");
        document.to_pem(label, LineEnding::LF).expect("a file is short enough for PEM")
    }

    /// The signature, as others verify it under `key`, a `SubjectPublicKeyInfo`.
    pub(crate) fn data<'a>(&'a self, key: &'a [u8]) -> Result<SignedData<'a>, Error> {
        let signature = self.signature.as_bytes().ok_or(Error::Der)?;
        Ok(SignedData { key, algorithm: &self.algorithm_der, message: self.body(), signature })
    }

    pub(crate) fn verify(&self, key: &PublicKey) -> Result<(), Error> {
        let signature = self.signature.as_bytes().ok_or(Error::Der)?;
        key.verify_as(&self.algorithm.owned_to_ref(), self.body(), signature)
    }
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
