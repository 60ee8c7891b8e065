//! SLH-DSA (FIPS 205): three calls for every set, which the caller names by its number.
#![expect(unsafe_code, reason = "the calls come from C")]

use core::ffi::c_int;

use gambeson::secret::Secret;
use gambeson::slhdsa::{Message, ParameterSet, SigningKey, SigningKeyError, VerifyingKey};

use crate::border::door;
use crate::error::gambeson_error;
use crate::message::{self, gambeson_message};
use crate::random::{draw, gambeson_randomness};
use crate::sizes;

macro_rules! sets {
    ($($text:literal $set:ident $core:ident = $arc:literal, $sizes:ident, $signature:ident;)*) => {
        /// The parameter sets of SLH-DSA (FIPS 205, §11), by the last number of their object identifiers: the others are
        /// 2.16.840.1.101.3.4.3. Those whose names end in S have small signatures, those in F sign fast.
        #[repr(C)]
        #[allow(non_camel_case_types, reason = "the names that C sees")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum gambeson_slhdsa {
            $(#[doc = concat!(" ", $text, ".")] $set = $arc,)*
        }

        /// The set with this number; any may come from C.
        fn parameter_set(set: c_int) -> Result<ParameterSet, gambeson_error> {
            match set {
                $(it if it == gambeson_slhdsa::$set as c_int => Ok(ParameterSet::$core),)*
                _ => Err(gambeson_error::Set),
            }
        }

        const _: () = {
            $(assert!(ParameterSet::$core.signature_len() == sizes::$signature);)*
            $(assert!(ParameterSet::$core.verifying_key_len() == $sizes[0]);)*
            $(assert!(ParameterSet::$core.signing_key_len() == $sizes[1]);)*
            $(assert!(ParameterSet::$core.seed_len() * 3 == $sizes[2]);)*
            $(assert!(ParameterSet::$core.seed_len() == $sizes[3]);)*
        };
    };
}

const N16: [usize; 4] = [
    sizes::GAMBESON_SLHDSA_128_VK_BYTES,
    sizes::GAMBESON_SLHDSA_128_SK_BYTES,
    sizes::GAMBESON_SLHDSA_128_SEED_BYTES,
    sizes::GAMBESON_SLHDSA_128_RND_BYTES,
];
const N24: [usize; 4] = [
    sizes::GAMBESON_SLHDSA_192_VK_BYTES,
    sizes::GAMBESON_SLHDSA_192_SK_BYTES,
    sizes::GAMBESON_SLHDSA_192_SEED_BYTES,
    sizes::GAMBESON_SLHDSA_192_RND_BYTES,
];
const N32: [usize; 4] = [
    sizes::GAMBESON_SLHDSA_256_VK_BYTES,
    sizes::GAMBESON_SLHDSA_256_SK_BYTES,
    sizes::GAMBESON_SLHDSA_256_SEED_BYTES,
    sizes::GAMBESON_SLHDSA_256_RND_BYTES,
];

sets! {
    "SLH-DSA-SHA2-128s" Sha2_128s SHA2_128S = 20, N16, GAMBESON_SLHDSA_128S_SIGNATURE_BYTES;
    "SLH-DSA-SHA2-128f" Sha2_128f SHA2_128F = 21, N16, GAMBESON_SLHDSA_128F_SIGNATURE_BYTES;
    "SLH-DSA-SHA2-192s" Sha2_192s SHA2_192S = 22, N24, GAMBESON_SLHDSA_192S_SIGNATURE_BYTES;
    "SLH-DSA-SHA2-192f" Sha2_192f SHA2_192F = 23, N24, GAMBESON_SLHDSA_192F_SIGNATURE_BYTES;
    "SLH-DSA-SHA2-256s" Sha2_256s SHA2_256S = 24, N32, GAMBESON_SLHDSA_256S_SIGNATURE_BYTES;
    "SLH-DSA-SHA2-256f" Sha2_256f SHA2_256F = 25, N32, GAMBESON_SLHDSA_256F_SIGNATURE_BYTES;
    "SLH-DSA-SHAKE-128s" Shake_128s SHAKE_128S = 26, N16, GAMBESON_SLHDSA_128S_SIGNATURE_BYTES;
    "SLH-DSA-SHAKE-128f" Shake_128f SHAKE_128F = 27, N16, GAMBESON_SLHDSA_128F_SIGNATURE_BYTES;
    "SLH-DSA-SHAKE-192s" Shake_192s SHAKE_192S = 28, N24, GAMBESON_SLHDSA_192S_SIGNATURE_BYTES;
    "SLH-DSA-SHAKE-192f" Shake_192f SHAKE_192F = 29, N24, GAMBESON_SLHDSA_192F_SIGNATURE_BYTES;
    "SLH-DSA-SHAKE-256s" Shake_256s SHAKE_256S = 30, N32, GAMBESON_SLHDSA_256S_SIGNATURE_BYTES;
    "SLH-DSA-SHAKE-256f" Shake_256f SHAKE_256F = 31, N32, GAMBESON_SLHDSA_256F_SIGNATURE_BYTES;
}

/// Refuses a length that is not the set's.
fn exactly(len: usize, expected: usize) -> Result<(), gambeson_error> {
    if len == expected { Ok(()) } else { Err(gambeson_error::Length) }
}

door! {
    /// Makes both keys of `set`, one of gambeson_slhdsa, of GAMBESON_SLHDSA_…_SEED_BYTES of randomness. `sk` is to be stored; its second half is `vk`.
    ///
    /// FIPS 205, Algorithm 21 (slh_keygen); of given bytes Algorithm 18 (slh_keygen_internal). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE,
    /// DESCRIPTOR, SET.
    "slhdsa" "_keypair" => keypair(
        set: c_int, vk: *mut u8, vk_len: usize, sk: *mut u8, sk_len: usize, randomness: *const gambeson_randomness
    ), |border| {
        let set = parameter_set(set)?;
        exactly(vk_len, set.verifying_key_len())?;
        exactly(sk_len, set.signing_key_len())?;
        let (vk, sk) = (border.write_slice(vk, vk_len)?, border.write_slice(sk, sk_len)?);
        let n = set.seed_len();
        let mut seeds = Secret::new([0; 96]);
        let seeds = &mut seeds.expose_mut()[..3 * n];
        draw(border, randomness, seeds)?;
        let [sk_seed, sk_prf, pk_seed] = [0, 1, 2].map(|part| &seeds[part * n..][..n]);
        let key = SigningKey::from_seeds(set, sk_seed, sk_prf, pk_seed).map_err(|_| gambeson_error::Internal)?;
        vk.copy_from_slice(key.verifying_key().as_bytes());
        sk.copy_from_slice(key.expose_bytes());
        Ok(())
    }
}

door! {
    /// Signs, hedged by GAMBESON_SLHDSA_…_RND_BYTES of randomness. PK.seed, the first half of vk, as GAMBESON_RANDOMNESS_BYTES is the deterministic
    /// variant, where one message has one signature. `sk` is checked first, which takes the time of a key generation: an eighth of the whole for
    /// sets in S, a twentieth for those in F.
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH,
    /// DESCRIPTOR, SET.
    "slhdsa" "_sign" => sign(
        set: c_int, signature: *mut u8, signature_len: usize, message: *const gambeson_message, sk: *const u8, sk_len: usize,
        randomness: *const gambeson_randomness
    ), |border| {
        let set = parameter_set(set)?;
        exactly(signature_len, set.signature_len())?;
        let mut described = Message::from(&[]);
        message::read(border, message, &mut described)?;
        let (signature, sk) = (border.write_slice(signature, signature_len)?, border.read_slice(sk, sk_len)?);
        let key = SigningKey::from_bytes(set, sk).map_err(|error| match error {
            SigningKeyError::Length(_) => gambeson_error::Length,
            _ => gambeson_error::Key,
        })?;
        let mut rnd = Secret::new([0; 32]);
        let rnd = &mut rnd.expose_mut()[..set.seed_len()];
        draw(border, randomness, rnd)?;
        key.sign_with_randomness_into(described, rnd, signature).map_err(|_| gambeson_error::Internal)
    }
}

door! {
    /// Verifies a signature.
    ///
    /// FIPS 205, Algorithm 24 (slh_verify) and Algorithm 25 (hash_slh_verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR,
    /// SET.
    "slhdsa" "_verify" => verify(
        set: c_int, signature: *const u8, signature_len: usize, message: *const gambeson_message, vk: *const u8, vk_len: usize
    ), |border| {
        let set = parameter_set(set)?;
        exactly(signature_len, set.signature_len())?;
        let mut described = Message::from(&[]);
        message::read(border, message, &mut described)?;
        let (signature, vk) = (border.read_slice(signature, signature_len)?, border.read_slice(vk, vk_len)?);
        let key = VerifyingKey::from_bytes(set, vk).map_err(|_| gambeson_error::Length)?;
        key.verify(described, signature).map_err(|_| gambeson_error::Signature)
    }
}
