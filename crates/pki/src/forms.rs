//! The forms of private keys of ML-KEM and ML-DSA inside PKCS#8 (RFC 9935, §6; RFC 9881, §6).

use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode, Encode, Reader, Tag, TagNumber, Tagged};
use gambeson::Bytes;
use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, SigningKey};
use gambeson::mlkem::{self, DecapsulationKey, MlKem512, MlKem768, MlKem1024};
use gambeson::secret::equal;
use zeroize::Zeroizing;

use crate::algorithm::Algorithm;
use crate::error::Error;

/// `[0] IMPLICIT OCTET STRING`
const SEED_TAG: Tag = Tag::ContextSpecific { constructed: false, number: TagNumber(0) };

/// The CHOICE inside the OCTET STRING of PKCS#8.
pub(crate) enum Parts<'a> {
    Seed(&'a [u8]),
    Expanded(&'a [u8]),
    Both { seed: &'a [u8], expanded: &'a [u8] },
}

impl<'a> Parts<'a> {
    /// Reads the CHOICE, or what older programs have in its place: bare bytes (liboqs), or more in an OCTET STRING than the expanded key
    /// (oqs-provider). No two of these forms have one length, so that the length tells them apart, as for OpenSSL. The public key is beside
    /// the parts where it follows the expanded key.
    pub(crate) fn read(algorithm: Algorithm, inner: &'a [u8]) -> Result<(Self, Option<&'a [u8]>), Error> {
        if let Some(found) = Self::of_bare(algorithm, inner) {
            return Ok(found);
        }
        match Self::decode(inner)? {
            Self::Expanded(bytes) => {
                Ok(Self::of_bare(algorithm, bytes).unwrap_or((Self::Expanded(bytes), None)))
            }
            parts => Ok((parts, None)),
        }
    }

    /// A seed, an expanded key, or an expanded key and its public key, one behind the other.
    fn of_bare(algorithm: Algorithm, bytes: &'a [u8]) -> Option<(Self, Option<&'a [u8]>)> {
        let Lengths { seed, expanded, public } = lengths(algorithm);
        match bytes.len() {
            len if len == seed => Some((Self::Seed(bytes), None)),
            len if len == expanded => Some((Self::Expanded(bytes), None)),
            len if len == expanded + public => {
                let (expanded, public) = bytes.split_at(expanded);
                Some((Self::Expanded(expanded), Some(public)))
            }
            _ => None,
        }
    }

    fn decode(der: &'a [u8]) -> Result<Self, Error> {
        let any = AnyRef::from_der(der).map_err(|_| Error::PrivateKey)?;
        match any.tag() {
            SEED_TAG => Ok(Self::Seed(any.value())),
            Tag::OctetString => Ok(Self::Expanded(any.value())),
            Tag::Sequence => any
                .sequence(|reader| {
                    let seed = reader.decode::<&OctetStringRef>()?.as_bytes();
                    let expanded = reader.decode::<&OctetStringRef>()?.as_bytes();
                    Ok::<_, der::Error>(Self::Both { seed, expanded })
                })
                .map_err(|_| Error::PrivateKey),
            _ => Err(Error::PrivateKey),
        }
    }

    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        match self {
            Self::Seed(seed) => tlv(SEED_TAG, &[seed]),
            Self::Expanded(expanded) => tlv(Tag::OctetString, &[expanded]),
            Self::Both { seed, expanded } => {
                let (seed, expanded) = (tlv(Tag::OctetString, &[seed]), tlv(Tag::OctetString, &[expanded]));
                tlv(Tag::Sequence, &[&seed, &expanded])
            }
        }
    }
}

/// Tag, length, value; in one allocation, so that no copy of a secret is left behind.
fn tlv(tag: Tag, values: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let len: usize = values.iter().map(|value| value.len()).sum();
    let len = der::Length::try_from(len).expect("a key is short enough for DER");
    let header = der::Header::new(tag, len).to_der().expect("a key is short enough for DER");
    let mut out =
        Zeroizing::new(Vec::with_capacity(header.len() + usize::try_from(len).expect("it was one")));
    out.extend_from_slice(&header);
    values.iter().for_each(|value| out.extend_from_slice(value));
    out
}

pub(crate) fn kem<P: mlkem::PreparedSet>(parts: &Parts<'_>) -> Result<DecapsulationKey<P>, Error> {
    let from_seed = |seed: &[u8]| {
        let error = Error::SeedLength { expected: 64, actual: seed.len() };
        Ok::<_, Error>(DecapsulationKey::<P>::from_seed(seed.try_into().map_err(|_| error)?))
    };
    Ok(match parts {
        Parts::Seed(seed) => from_seed(seed)?,
        Parts::Expanded(bytes) => DecapsulationKey::from_encoded(bytes)?,
        Parts::Both { seed, expanded } => {
            let key = from_seed(seed)?;
            check_expanded(key.to_encoded().expose(), expanded)?;
            key
        }
    })
}

pub(crate) fn dsa<P: mldsa::PreparedSet>(parts: &Parts<'_>) -> Result<SigningKey<P>, Error> {
    let from_seed = |seed: &[u8]| {
        let error = Error::SeedLength { expected: 32, actual: seed.len() };
        Ok::<_, Error>(SigningKey::<P>::from_seed(seed.try_into().map_err(|_| error)?))
    };
    Ok(match parts {
        Parts::Seed(seed) => from_seed(seed)?,
        Parts::Expanded(bytes) => SigningKey::from_encoded(bytes)?,
        Parts::Both { seed, expanded } => {
            let key = from_seed(seed)?;
            check_expanded(key.to_encoded().expose().as_ref(), expanded)?;
            key
        }
    })
}

fn check_expanded(made: &[u8], found: &[u8]) -> Result<(), Error> {
    if equal(made, found) { Ok(()) } else { Err(Error::SeedMismatch) }
}

/// The lengths of a key's parts.
pub(crate) struct Lengths {
    pub(crate) seed: usize,
    expanded: usize,
    public: usize,
}

/// Those of ML-KEM (FIPS 203, Table 3) and ML-DSA (FIPS 204, Table 2); `algorithm` is one of them.
pub(crate) fn lengths(algorithm: Algorithm) -> Lengths {
    fn kem<P: mlkem::ParameterSet>() -> Lengths {
        let (expanded, public) = (P::DecapsulationKeyBytes::LEN, P::EncapsulationKeyBytes::LEN);
        Lengths { seed: 64, expanded, public }
    }
    fn dsa<P: mldsa::ParameterSet>() -> Lengths {
        let (expanded, public) = (P::SigningKeyBytes::LEN, P::VerifyingKeyBytes::LEN);
        Lengths { seed: 32, expanded, public }
    }
    match algorithm {
        Algorithm::MlKem512 => kem::<MlKem512>(),
        Algorithm::MlKem768 => kem::<MlKem768>(),
        Algorithm::MlKem1024 => kem::<MlKem1024>(),
        Algorithm::MlDsa44 => dsa::<MlDsa44>(),
        Algorithm::MlDsa65 => dsa::<MlDsa65>(),
        _ => dsa::<MlDsa87>(),
    }
}
