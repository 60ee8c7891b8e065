//! Signed images of firmware: [`sign`] makes one on a desk, [`Update::verified`] accepts it on a device.
//!
//! An image is a version (4 bytes, little-endian), the length of the program (4 bytes), the program, and a signature of all before
//! it by ML-DSA-65 in the context [`CONTEXT`]: 3317 bytes more than the program. No heap.

#![no_std]

use core::fmt;
use gambeson::Bytes;
use gambeson::mldsa::{ContextTooLong, Message, MlDsa65, ParameterSet, SigningKey, VerifyingKey};

type Set = MlDsa65;

/// The public key of whoever makes the firmware: 1952 bytes.
pub type PublicKey = VerifyingKey<Set>;

/// What separates these signatures from all others by the same key.
pub const CONTEXT: &[u8] = b"gambeson firmware image, version 1";

/// Bytes of the version and the length.
const HEADER: usize = 8;

/// Bytes of the signature.
const SIGNATURE: usize = <Set as ParameterSet>::Signature::LEN;

/// Bytes of the image of a program of `length` bytes.
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
    signed[..4].copy_from_slice(&version.to_le_bytes());
    signed[4..HEADER].copy_from_slice(&length.to_le_bytes());
    signed[HEADER..].copy_from_slice(program);
    signature.copy_from_slice(key.sign_deterministic(message(signed).map_err(|_| ImageLength)?).as_ref());
    Ok(())
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
    pub fn verified(image: &'a [u8], key: &PublicKey, installed: u32) -> Result<Self, Refusal> {
        let at = image.len().checked_sub(SIGNATURE).ok_or(Refusal::Truncated)?;
        let (signed, signature) = image.split_at(at);
        let (header, program) = signed.split_at_checked(HEADER).ok_or(Refusal::Truncated)?;
        let message = message(signed).map_err(|_| Refusal::Signature)?;
        key.verify(message, signature).map_err(|_| Refusal::Signature)?;
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

    fn signed(version: u32) -> (Vec<u8>, PublicKey) {
        let key = SigningKey::from_seed(&[7; 32]);
        let mut image = vec![0; image_length(PROGRAM.len())];
        sign(&key, version, PROGRAM, &mut image).unwrap();
        (image, key.verifying_key())
    }

    #[test]
    fn a_newer_image_is_accepted_and_an_older_or_equal_one_is_not() {
        let (image, key) = signed(5);
        assert_eq!(Update::verified(&image, &key, 4), Ok(Update { version: 5, program: PROGRAM }));
        for installed in [5, 6, u32::MAX] {
            let refusal = Refusal::NotNewer { offered: 5, installed };
            assert_eq!(Update::verified(&image, &key, installed), Err(refusal));
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_is_refused() {
        let (mut image, key) = signed(5);
        for bit in (0..8 * image.len()).step_by(97).chain([0, 8 * image.len() - 1]) {
            image[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Update::verified(&image, &key, 4), Err(Refusal::Signature), "bit {bit}");
            image[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn no_length_is_accepted_but_the_right_one() {
        let (image, key) = signed(5);
        for length in [0, 1, SIGNATURE - 1, SIGNATURE, SIGNATURE + HEADER, image.len() - 1] {
            assert!(Update::verified(&image[..length], &key, 4).is_err(), "{length} bytes");
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
            assert_eq!(Update::verified(&image, &key, 4), Err(Refusal::Truncated), "{length} bytes");
        }
    }

    #[test]
    fn another_use_of_the_key_makes_no_image() {
        let (mut image, key) = signed(5);
        let at = image.len() - SIGNATURE;
        let other = SigningKey::<Set>::from_seed(&[7; 32]).sign_deterministic(&image[..at]);
        image[at..].copy_from_slice(&other);
        assert_eq!(Update::verified(&image, &key, 4), Err(Refusal::Signature));
    }
}
