//! FIPS 204, §5.4.1, FIPS 205, §10.2.2: the hash functions of HashML-DSA and HashSLH-DSA, by their identifiers; and digests of messages in
//! pieces.
#![expect(unsafe_code, reason = "the calls come from C")]

use core::ffi::c_int;

use gambeson::mldsa::{Digest, PreHash, PreHasher};
use gambeson::secret::StackGuard;

use crate::border::{Held, door};
use crate::error::gambeson_error;
use crate::sha3::context;
use crate::sizes;

macro_rules! functions {
    ($($(#[$attribute:meta])* $function:ident = $arc:literal, $len:ident;)*) => {
        /// The hash functions of HashML-DSA (FIPS 204, §5.4.1) and HashSLH-DSA (FIPS 205, §10.2.2), by the last number of their object
        /// identifiers: the others are 2.16.840.1.101.3.4.2.
        ///
        /// A digest should have at least 32 bytes for category 1 and ML-DSA-44, 48 for category 3, 64 for category 5; shorter ones are not
        /// refused.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum gambeson_prehash {
            $($(#[$attribute])* $function = $arc,)*
        }

        /// The function with this number; any may come from C.
        pub fn function(prehash: c_int) -> Result<PreHash, gambeson_error> {
            let mut all = PreHash::ALL.into_iter();
            all.find(|function| *function as c_int == prehash).ok_or(gambeson_error::Prehash)
        }

        const _: () = {
            $(assert!(PreHash::$function as c_int == gambeson_prehash::$function as c_int);)*
            $(assert!(PreHash::$function.digest_len() == sizes::$len);)*
        };
    };
}

functions! {
    /// SHA-256.
    Sha2_256 = 1, GAMBESON_PREHASH_SHA2_256_BYTES;
    /// SHA-384.
    Sha2_384 = 2, GAMBESON_PREHASH_SHA2_384_BYTES;
    /// SHA-512.
    Sha2_512 = 3, GAMBESON_PREHASH_SHA2_512_BYTES;
    /// SHA-224.
    Sha2_224 = 4, GAMBESON_PREHASH_SHA2_224_BYTES;
    /// SHA-512/224.
    Sha2_512_224 = 5, GAMBESON_PREHASH_SHA2_512_224_BYTES;
    /// SHA-512/256.
    Sha2_512_256 = 6, GAMBESON_PREHASH_SHA2_512_256_BYTES;
    /// SHA3-224.
    Sha3_224 = 7, GAMBESON_PREHASH_SHA3_224_BYTES;
    /// SHA3-256.
    Sha3_256 = 8, GAMBESON_PREHASH_SHA3_256_BYTES;
    /// SHA3-384.
    Sha3_384 = 9, GAMBESON_PREHASH_SHA3_384_BYTES;
    /// SHA3-512.
    Sha3_512 = 10, GAMBESON_PREHASH_SHA3_512_BYTES;
    /// SHAKE128 with 32 bytes of output.
    Shake128 = 11, GAMBESON_PREHASH_SHAKE128_BYTES;
    /// SHAKE256 with 64 bytes of output.
    Shake256 = 12, GAMBESON_PREHASH_SHAKE256_BYTES;
}

/// A hash, which may want more than the 8 bytes of alignment that C's object has: it is moved out for each piece, and back.
#[repr(C, packed(8))]
struct Pieces(PreHasher);

// SAFETY: no other tag is equal.
unsafe impl Held for Pieces {
    const TAG: u64 = u64::from_le_bytes(*b"gbPREHSH");
}

/// The frames of SHA-2's functions, at most.
const FRAMES: usize = 2048;

impl Pieces {
    fn absorb(&mut self, data: &[u8]) {
        #[inline(never)]
        fn work(hash: &mut Pieces, data: &[u8]) {
            let place = &raw mut hash.0;
            // SAFETY: a hash is there, and the one that is moved out is moved back; a panic on the way would leave two, which own nothing.
            let mut hasher = unsafe { place.read_unaligned() };
            hasher.update(data);
            // SAFETY: as above.
            unsafe { place.write_unaligned(hasher) };
        }
        let _guard = StackGuard::<FRAMES>;
        work(self, data);
    }

    /// The digest; the context is to be wiped.
    fn finish(&mut self) -> Digest {
        #[inline(never)]
        fn work(hash: &mut Pieces) -> Digest {
            // SAFETY: a hash is there, and is wiped next; both own nothing.
            unsafe { (&raw mut hash.0).read_unaligned() }.finalize()
        }
        let _guard = StackGuard::<FRAMES>;
        work(self)
    }
}

context! {
    /// A digest of a message in pieces, for GAMBESON_MESSAGE_PREHASHED.
    gambeson_prehash_ctx, 31
}

door! {
    /// Starts a digest in pieces by one of gambeson_prehash, whatever was in `hash` before. Errors: NULL, STATE, PREHASH.
    "prehash" "_init" => init(hash: *mut gambeson_prehash_ctx, prehash: c_int), |border| {
        border.context(hash)?.put(Pieces(function(prehash)?.hasher()));
        Ok(())
    }
}

door! {
    /// Takes the next piece of the message; any pieces give the digest of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
    "prehash" "_update" => update(hash: *mut gambeson_prehash_ctx, data: *const u8, len: usize), |border| {
        border.context(hash)?.get::<Pieces>()?.absorb(border.read_slice(data, len)?);
        Ok(())
    }
}

door! {
    /// The digest of what was given, `digest_len` bytes, which must be the function's (GAMBESON_PREHASH_…_BYTES); `hash` is wiped. With
    /// another length it stays as it was.
    ///
    /// Errors: NULL, LENGTH, OVERLAP, STATE.
    "prehash" "_final" => finish(hash: *mut gambeson_prehash_ctx, digest: *mut u8, digest_len: usize), |border| {
        let (context, digest) = (border.context(hash)?, border.write_slice(digest, digest_len)?);
        let made = context.get::<Pieces>()?.finish();
        if made.as_bytes().len() != digest.len() {
            return Err(gambeson_error::Length);
        }
        digest.copy_from_slice(made.as_bytes());
        context.wipe();
        Ok(())
    }
}
