//! Signed images of firmware: [`sign`] makes one on a desk, [`Update::verified`] accepts it on a device.
//!
//! An image is a version (4 bytes, little-endian), the length of the program (4 bytes), the program, and a signature of all before it: by ML-DSA-65
//! in the context [`CONTEXT`], 3317 bytes, or by LMS, 1,292 to 2,988 bytes with nodes of 32 bytes, which is read piece by piece. No heap.
//!
//! A key of LMS signs images alone, for LMS has no contexts; its signatures come from a store that uses no leaf twice.

#![no_std]

use core::fmt;
use gambeson::Bytes;
use gambeson::lms;
use gambeson::mldsa::{ContextTooLong, Message, MlDsa65, ParameterSet, SigningKey, VerifyingKey};

type Set = MlDsa65;

/// The public key of the maker of the firmware.
#[derive(Clone, Copy, Debug)]
pub enum PublicKey<'a> {
    /// Of ML-DSA-65: 1952 bytes.
    MlDsa65(&'a VerifyingKey<Set>),
    /// Of LMS: with these types the length of its signatures is known.
    Lms(&'a lms::VerifyingKey),
}

impl PublicKey<'_> {
    /// Bytes of a signature.
    fn signature_length(&self) -> usize {
        match self {
            Self::MlDsa65(_) => SIGNATURE,
            Self::Lms(key) => key.lms_type().signature_len(key.lmots_type()).unwrap_or(usize::MAX),
        }
    }

    fn verify(&self, signed: &[u8], signature: &[u8]) -> Result<(), Refusal> {
        match self {
            Self::MlDsa65(key) => {
                let message = message(signed).map_err(|_| Refusal::Signature)?;
                key.verify(message, signature).map_err(|_| Refusal::Signature)
            }
            Self::Lms(key) => {
                let mut rest = signature;
                let read = |piece: &mut [u8]| {
                    let (next, behind) = rest.split_at_checked(piece.len()).ok_or(Refusal::Truncated)?;
                    piece.copy_from_slice(next);
                    rest = behind;
                    Ok(())
                };
                key.verify_streamed(&[signed], read).map_err(|error| match error {
                    lms::StreamError::Read(refusal) => refusal,
                    lms::StreamError::Invalid => Refusal::Signature,
                })
            }
        }
    }
}

/// What separates these signatures from all others by the same key.
pub const CONTEXT: &[u8] = b"gambeson firmware image, version 1";

/// Bytes of the version and the length.
pub const HEADER: usize = 8;

/// Bytes of the signature.
const SIGNATURE: usize = <Set as ParameterSet>::Signature::LEN;

/// Bytes of the image of a program of `length` bytes, with a signature by ML-DSA-65.
#[must_use]
pub const fn image_length(length: usize) -> usize {
    HEADER + length + SIGNATURE
}

/// Writes the image of `program` to `image`, with a signature that needs no randomness.
///
/// # Errors
///
/// [`ImageLength`] unless `image` has [`image_length`] bytes for the program, which must be shorter than 4 GiB.
pub fn sign(
    key: &SigningKey<Set>,
    version: u32,
    program: &[u8],
    image: &mut [u8],
) -> Result<(), ImageLength> {
    let length = u32::try_from(program.len()).map_err(|_| ImageLength)?;
    if image.len() != image_length(program.len()) {
        return Err(ImageLength);
    }
    let (signed, signature) = image.split_at_mut(HEADER + program.len());
    signed[..HEADER].copy_from_slice(&header(version, length));
    signed[HEADER..].copy_from_slice(program);
    signature.copy_from_slice(key.sign_deterministic(message(signed).map_err(|_| ImageLength)?).as_ref());
    Ok(())
}

/// The first bytes of an image: the version, and the length of the program in bytes.
#[must_use]
pub fn header(version: u32, length: u32) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&version.to_le_bytes());
    header[4..].copy_from_slice(&length.to_le_bytes());
    header
}

fn message(signed: &[u8]) -> Result<Message<'_>, ContextTooLong> {
    Message::pure(signed, CONTEXT)
}

/// The buffer has not the length of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLength;

impl fmt::Display for ImageLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the buffer has not the length of the image")
    }
}

impl core::error::Error for ImageLength {}

/// A program that may be installed.
#[derive(Debug, PartialEq, Eq)]
pub struct Update<'a> {
    /// Its version, above the one that runs.
    pub version: u32,
    /// Its bytes.
    pub program: &'a [u8],
}

impl<'a> Update<'a> {
    /// The update in `image`, for a device that runs version `installed`.
    ///
    /// The signature is verified before anything of the image is believed but its length.
    ///
    /// # Errors
    ///
    /// [`Refusal`]. No input makes it panic.
    pub fn verified(image: &'a [u8], key: PublicKey<'_>, installed: u32) -> Result<Self, Refusal> {
        let at = image.len().checked_sub(key.signature_length()).ok_or(Refusal::Truncated)?;
        let (signed, signature) = image.split_at(at);
        let (header, program) = signed.split_at_checked(HEADER).ok_or(Refusal::Truncated)?;
        key.verify(signed, signature)?;
        let [version, length] = header.as_chunks::<4>().0 else { return Err(Refusal::Truncated) };
        if usize::try_from(u32::from_le_bytes(*length)) != Ok(program.len()) {
            return Err(Refusal::Truncated);
        }
        match u32::from_le_bytes(*version) {
            version if version > installed => Ok(Self { version, program }),
            offered => Err(Refusal::NotNewer { offered, installed }),
        }
    }
}

/// Why an image is not installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is shorter than every image, or has not the length that its own header says.
    Truncated,
    /// The signature is not one of this image by this key.
    Signature,
    /// It is signed, and not newer than what runs: somebody may want an old mistake back.
    NotNewer {
        /// The version of the image.
        offered: u32,
        /// The version that runs.
        installed: u32,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the image is cut off, or has not the length that it says"),
            Self::Signature => f.write_str("the signature is not one of this image by the maker's key"),
            Self::NotNewer { offered, installed } => {
                write!(f, "the image has version {offered}, and {installed} runs")
            }
        }
    }
}

impl core::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec;
    use std::vec::Vec;

    const PROGRAM: &[u8] = b"a program";

    fn signed(version: u32) -> (Vec<u8>, VerifyingKey<Set>) {
        let key = SigningKey::from_seed(&[7; 32]);
        let mut image = vec![0; image_length(PROGRAM.len())];
        sign(&key, version, PROGRAM, &mut image).unwrap();
        (image, key.verifying_key())
    }

    #[test]
    fn a_newer_image_is_accepted_and_an_older_or_equal_one_is_not() {
        let (image, key) = signed(5);
        assert_eq!(
            Update::verified(&image, PublicKey::MlDsa65(&key), 4),
            Ok(Update { version: 5, program: PROGRAM })
        );
        for installed in [5, 6, u32::MAX] {
            let refusal = Refusal::NotNewer { offered: 5, installed };
            assert_eq!(Update::verified(&image, PublicKey::MlDsa65(&key), installed), Err(refusal));
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_is_refused() {
        let (mut image, key) = signed(5);
        for bit in (0..8 * image.len()).step_by(97).chain([0, 8 * image.len() - 1]) {
            image[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                Update::verified(&image, PublicKey::MlDsa65(&key), 4),
                Err(Refusal::Signature),
                "bit {bit}"
            );
            image[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn no_length_is_accepted_but_the_right_one() {
        let (image, key) = signed(5);
        for length in [0, 1, SIGNATURE - 1, SIGNATURE, SIGNATURE + HEADER, image.len() - 1] {
            assert!(
                Update::verified(&image[..length], PublicKey::MlDsa65(&key), 4).is_err(),
                "{length} bytes"
            );
        }
        let mut buffer = vec![0; image.len() + 1];
        assert_eq!(sign(&SigningKey::from_seed(&[7; 32]), 1, PROGRAM, &mut buffer), Err(ImageLength));
    }

    #[test]
    fn a_signed_header_that_tells_another_length_is_refused() {
        let (mut image, key) = signed(5);
        let at = image.len() - SIGNATURE;
        for length in [0, PROGRAM.len() - 1, PROGRAM.len() + 1, u32::MAX as usize] {
            image[4..HEADER].copy_from_slice(&(length as u32).to_le_bytes());
            let message = message(&image[..at]).unwrap();
            let signature = SigningKey::<Set>::from_seed(&[7; 32]).sign_deterministic(message);
            image[at..].copy_from_slice(&signature);
            assert_eq!(
                Update::verified(&image, PublicKey::MlDsa65(&key), 4),
                Err(Refusal::Truncated),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn an_image_that_lms_signed_is_accepted_and_a_changed_one_is_not() {
        use gambeson::stateful::hazmat::MemoryStore;
        use gambeson::stateful::{Signer, TreeOptions};
        use lms::{LmotsType, LmsType};
        for (tree, one_time) in [
            (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W4),
            (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8),
            (LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W4),
            (LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W8),
        ] {
            let secret =
                lms::SigningKey::from_seed(tree, one_time, &[1; 16], &[2; 32], TreeOptions::new()).unwrap();
            let key =
                lms::VerifyingKey::of_types(tree, one_time, &secret.verifying_key().to_bytes()).unwrap();
            let mut signer = Signer::new(secret, MemoryStore::new(9));
            let mut image = [&header(5, PROGRAM.len() as u32)[..], PROGRAM].concat();
            let at = image.len();
            let index = signer.reserve_one().unwrap();
            image.extend(signer.sign(index, &image).unwrap());
            let key = PublicKey::Lms(&key);
            assert_eq!(Update::verified(&image, key, 4), Ok(Update { version: 5, program: PROGRAM }));
            let refusal = Refusal::NotNewer { offered: 5, installed: 5 };
            assert_eq!(Update::verified(&image, key, 5), Err(refusal));
            for place in [0, HEADER, at, at + 12, image.len() - 1] {
                image[place] ^= 1;
                assert_eq!(Update::verified(&image, key, 4), Err(Refusal::Signature), "{tree} {place}");
                image[place] ^= 1;
            }
            for length in [0, at, image.len() - 1] {
                assert!(Update::verified(&image[..length], key, 4).is_err(), "{length} bytes");
            }
        }
    }

    #[test]
    fn another_use_of_the_key_makes_no_image() {
        let (mut image, key) = signed(5);
        let at = image.len() - SIGNATURE;
        let other = SigningKey::<Set>::from_seed(&[7; 32]).sign_deterministic(&image[..at]);
        image[at..].copy_from_slice(&other);
        assert_eq!(Update::verified(&image, PublicKey::MlDsa65(&key), 4), Err(Refusal::Signature));
    }
}
