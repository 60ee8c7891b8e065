//! FIPS 202: hashes at once, and in pieces.
#![expect(unsafe_code, reason = "the calls come from C")]

use gambeson::sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256, Squeeze};

use crate::border::{Held, door};

/// The memory of a context, as C sees it.
macro_rules! context {
    ($(#[$attribute:meta])* $context:ident, $words:literal) => {
        $(#[$attribute])*
        ///
        /// It may be copied, to go on from there twice; gambeson_wipe ends it early.
        #[repr(C)]
        #[derive(Debug)]
        pub struct $context {
            /// The library's.
            pub opaque: [u64; $words],
        }

        // SAFETY: asserted below; words that nobody has written are words, too.
        unsafe impl $crate::border::Object for $context {
            type Memory = [core::mem::MaybeUninit<u64>; $words - 1];
        }

        const _: () = {
            type Inside = $crate::border::Context<<$context as $crate::border::Object>::Memory>;
            assert!(size_of::<$context>() == size_of::<Inside>() && align_of::<$context>() == align_of::<Inside>());
        };
    };
}
pub(crate) use context;

/// What hashes; C asks for the same of each.
trait Hash: Held {
    fn start() -> Self;
    fn absorb(&mut self, data: &[u8]);
}

macro_rules! hash {
    ($($hash:ty, $tag:literal;)*) => {$(
        // SAFETY: no other tag is equal.
        unsafe impl Held for $hash {
            const TAG: u64 = u64::from_le_bytes(*$tag);
        }

        impl Hash for $hash {
            fn start() -> Self {
                Self::new()
            }

            fn absorb(&mut self, data: &[u8]) {
                self.update(data);
            }
        }
    )*};
}

hash! {
    Sha3_224, b"gbSHA224";
    Sha3_256, b"gbSHA256";
    Sha3_384, b"gbSHA384";
    Sha3_512, b"gbSHA512";
    Shake128, b"gbSHAK-1";
    Shake256, b"gbSHAK-2";
}

/// A SHAKE whose input has ended: of which of the two, the rate inside knows.
struct Output<const BITS: u64>(Squeeze);

// SAFETY: no other tag is equal.
unsafe impl<const BITS: u64> Held for Output<BITS> {
    const TAG: u64 = u64::from_le_bytes(*b"gbSQUEEZ") ^ BITS;
}

macro_rules! sha3 {
    ($module:ident, $hash:ident, $name:literal, $text:literal, $sizes:literal, $context:ident) => {
        context! {
            #[doc = concat!(" ", $text, " in pieces.")]
            $context, 27
        }

        #[doc = concat!("Calls of ", $text, ".")]
        pub mod $module {
            use super::*;

            door! {
                #[doc = concat!(" ", $text, " of `data`, which may be null if `len` is 0 (FIPS 202, §6.1).")]
                ///
                /// Errors: NULL, LENGTH, OVERLAP.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[digest; GAMBESON_", $sizes, "_BYTES]]")]
                $name "" => digest(digest: *mut u8, data: *const u8, len: usize), |border| {
                    *border.write(digest)? = $hash::digest(border.read_slice(data, len)?);
                    Ok(())
                }
            }

            door! {
                /// Starts a hash in pieces, whatever was in `hash` before. Errors: NULL.
                $name "_init" => init(hash: *mut $context), |border| {
                    border.context(hash)?.put($hash::start());
                    Ok(())
                }
            }

            door! {
                /// Takes the next piece; any pieces give the digest of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
                $name "_update" => update(hash: *mut $context, data: *const u8, len: usize), |border| {
                    border.context(hash)?.get::<$hash>()?.absorb(border.read_slice(data, len)?);
                    Ok(())
                }
            }

            door! {
                /// The digest of what was given; `hash` is wiped. Errors: NULL, OVERLAP, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[digest; GAMBESON_", $sizes, "_BYTES]]")]
                $name "_final" => finish(hash: *mut $context, digest: *mut u8), |border| {
                    let (context, digest) = (border.context(hash)?, border.write(digest)?);
                    *digest = context.get::<$hash>()?.finalize();
                    context.wipe();
                    Ok(())
                }
            }
        }
    };
}

sha3!(sha3_224, Sha3_224, "sha3_224", "SHA3-224", "SHA3_224", gambeson_sha3_224_ctx);
sha3!(sha3_256, Sha3_256, "sha3_256", "SHA3-256", "SHA3_256", gambeson_sha3_256_ctx);
sha3!(sha3_384, Sha3_384, "sha3_384", "SHA3-384", "SHA3_384", gambeson_sha3_384_ctx);
sha3!(sha3_512, Sha3_512, "sha3_512", "SHA3-512", "SHA3_512", gambeson_sha3_512_ctx);

macro_rules! shake {
    ($module:ident, $hash:ident, $bits:literal, $name:literal, $text:literal, $context:ident) => {
        context! {
            #[doc = concat!(" ", $text, " in pieces.")]
            $context, 27
        }

        #[doc = concat!("Calls of ", $text, ".")]
        pub mod $module {
            use super::*;

            door! {
                #[doc = concat!(" ", $text, " of `data`: `out_len` bytes, as many as are wanted; either may be null if it has none (FIPS 202, §6.2).")]
                ///
                /// Errors: NULL, LENGTH, OVERLAP.
                $name "" => digest(out: *mut u8, out_len: usize, data: *const u8, len: usize), |border| {
                    let (data, out) = (border.read_slice(data, len)?, border.write_slice(out, out_len)?);
                    $hash::digest_into(data, out);
                    Ok(())
                }
            }

            door! {
                /// Starts a hash in pieces, whatever was in `hash` before. Errors: NULL.
                $name "_init" => init(hash: *mut $context), |border| {
                    border.context(hash)?.put($hash::start());
                    Ok(())
                }
            }

            door! {
                /// Takes the next piece of the input, which ends with the first `squeeze`. Errors: NULL, LENGTH, OVERLAP, STATE.
                $name "_update" => update(hash: *mut $context, data: *const u8, len: usize), |border| {
                    border.context(hash)?.get::<$hash>()?.absorb(border.read_slice(data, len)?);
                    Ok(())
                }
            }

            door! {
                /// The next `len` bytes of the output; any pieces give the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
                $name "_squeeze" => squeeze(hash: *mut $context, out: *mut u8, len: usize), |border| {
                    let context = border.context(hash)?;
                    let out = border.write_slice(out, len)?;
                    if let Ok(hash) = context.get::<$hash>() {
                        let output = Output::<$bits>(hash.finalize_xof());
                        context.put(output);
                    }
                    context.get::<Output<$bits>>()?.0.squeeze(out);
                    Ok(())
                }
            }
        }
    };
}

shake!(shake128, Shake128, 128, "shake128", "SHAKE128", gambeson_shake128_ctx);
shake!(shake256, Shake256, 256, "shake256", "SHAKE256", gambeson_shake256_ctx);
