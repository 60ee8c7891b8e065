//! ML-DSA: what a call does, for every set; and the calls, set by set.
#![expect(unsafe_code, reason = "the calls come from C")]

#[cfg(feature = "std")]
use gambeson::mldsa::PreparedSet;
use gambeson::mldsa::{
    Digest, Message, MlDsa44, MlDsa65, MlDsa87, MuHasher, ParameterSet, SigningKey, SigningKeyRef,
    VerifyingKeyRef,
};
use gambeson::{Bytes, Compact, Small, Workspace};

use crate::border::{Border, Held, Key, door};
use crate::error::gambeson_error;
use crate::prehash::digest_of;
use crate::random::Source;
use crate::sha3::context;

type Outcome = Result<(), gambeson_error>;

/// Makes a key in C's object and, where C wants it, its public half.
pub fn make<P: ParameterSet, O>(border: &Border, key: *mut O, vk: *mut u8, source: Source<'_>) -> Outcome
where
    SigningKey<P>: Key<Object = O>,
{
    let key = border.place::<SigningKey<P>>(key)?;
    let vk = if vk.is_null() { None } else { Some(border.write::<P::VerifyingKeyBytes>(vk)?) };
    let seed = source.draw()?;
    key.write(match vk {
        Some(vk) => SigningKey::from_seed_into(seed.expose(), vk),
        None => SigningKey::from_seed(seed.expose()),
    });
    Ok(())
}

/// Makes a key as [`make`] does, in a workspace.
pub fn make_in<P: ParameterSet, O, W>(
    border: &Border,
    (key, vk): (*mut O, *mut u8),
    seed: *const u8,
    workspace: *mut W,
) -> Outcome
where
    SigningKey<Small<P>>: Key<Object = O>,
    Workspace<P>: Key<Object = W>,
{
    let key = border.place::<SigningKey<Small<P>>>(key)?;
    let vk = if vk.is_null() { None } else { Some(border.write::<P::VerifyingKeyBytes>(vk)?) };
    let seed = border.read::<[u8; 32]>(seed)?;
    key.write(SigningKey::from_seed_in(seed, vk, Workspace::at(border.place(workspace)?)));
    Ok(())
}

/// Makes both keys in the forms of FIPS 204.
#[cfg(feature = "std")]
pub fn keypair<P: ParameterSet>(border: &Border, vk: *mut u8, sk: *mut u8, source: Source<'_>) -> Outcome {
    let (vk, sk) = (border.write(vk)?, border.write(sk)?);
    SigningKey::<P>::encoded_from_seed(source.draw()?.expose(), sk, vk);
    Ok(())
}

/// A message of C's in its context.
pub fn pure<'a>(
    border: &'a Border,
    (message, message_len): (*const u8, usize),
    (context, context_len): (*const u8, usize),
) -> Result<Message<'a>, gambeson_error> {
    let (message, context) =
        (border.read_slice(message, message_len)?, border.read_slice(context, context_len)?);
    Message::pure(message, context).map_err(|_| gambeson_error::Context)
}

/// A digest of C's in its context.
pub fn prehashed<'a>(
    border: &'a Border,
    digest: &'a Digest,
    (context, context_len): (*const u8, usize),
) -> Result<Message<'a>, gambeson_error> {
    let context = border.read_slice(context, context_len)?;
    Message::prehashed(digest, context).map_err(|_| gambeson_error::Context)
}

/// Signs with a key that lies in an object of C's. Randomness is drawn last, so that none is for a call that fails.
pub fn sign<P: ParameterSet, O>(
    border: &Border,
    key: *const O,
    signature: *mut u8,
    message: Message<'_>,
    source: Source<'_>,
) -> Outcome
where
    SigningKey<P>: Key<Object = O>,
{
    let key = border.key::<SigningKey<P>>(key)?;
    let signature = border.write::<P::Signature>(signature)?;
    key.sign_with_rnd_into(source.draw()?.expose(), message, signature);
    Ok(())
}

/// Signs with a key in the form of FIPS 204, where its bytes are.
pub fn sign_borrowed<P: ParameterSet>(
    border: &Border,
    (sk, sk_len): (*const u8, usize),
    signature: *mut u8,
    message: Message<'_>,
    source: Source<'_>,
) -> Outcome {
    let sk = border.read_exactly::<P::SigningKeyBytes>(sk, sk_len)?;
    let signature = border.write::<P::Signature>(signature)?;
    let key = SigningKeyRef::<P>::from_ref(sk.as_ref()).map_err(|_| gambeson_error::Key)?;
    key.sign_with_rnd_into(source.draw()?.expose(), message, signature);
    Ok(())
}

/// Checks the coefficients of such a key.
pub fn check_borrowed<P: ParameterSet>(sk: &P::SigningKeyBytes) -> Outcome {
    SigningKeyRef::<P>::from_ref(sk.as_ref()).map(drop).map_err(|_| gambeson_error::Key)
}

/// Checks all of such a key.
#[cfg(feature = "std")]
pub fn check_encoded<P: PreparedSet>(sk: &P::SigningKeyBytes) -> Outcome {
    SigningKey::<P>::from_encoded(sk.as_ref()).map(drop).map_err(|_| gambeson_error::Key)
}

/// Signs with a key in the form of FIPS 204, of which all is checked, on the heap.
#[cfg(feature = "std")]
pub fn sign_encoded<P: PreparedSet>(
    border: &Border,
    (sk, sk_len): (*const u8, usize),
    signature: *mut u8,
    message: Message<'_>,
    source: Source<'_>,
) -> Outcome {
    let sk = border.read_exactly::<P::SigningKeyBytes>(sk, sk_len)?;
    let signature = border.write::<P::Signature>(signature)?;
    let key = SigningKey::<P>::from_encoded(sk.as_ref()).map_err(|_| gambeson_error::Key)?;
    *signature = key.sign_with_rnd(source.draw()?.expose(), message);
    Ok(())
}

/// Signs as [`sign`] does, in a workspace.
pub fn sign_in<P: ParameterSet, O, W>(
    border: &Border,
    key: *const O,
    signature: *mut u8,
    message: Message<'_>,
    rnd: *const u8,
    workspace: *mut W,
) -> Outcome
where
    SigningKey<Small<P>>: Key<Object = O>,
    Workspace<P>: Key<Object = W>,
{
    let key = border.key::<SigningKey<Small<P>>>(key)?;
    let (signature, rnd) = (border.write(signature)?, border.read(rnd)?);
    key.sign_with_rnd_in(rnd, message, signature, Workspace::at(border.place(workspace)?));
    Ok(())
}

/// Signs as [`sign_borrowed`] does, in a workspace.
pub fn sign_borrowed_in<P: ParameterSet, W>(
    border: &Border,
    (sk, sk_len): (*const u8, usize),
    signature: *mut u8,
    message: Message<'_>,
    rnd: *const u8,
    workspace: *mut W,
) -> Outcome
where
    Workspace<P>: Key<Object = W>,
{
    let sk = border.read_exactly::<P::SigningKeyBytes>(sk, sk_len)?;
    let (signature, rnd) = (border.write(signature)?, border.read(rnd)?);
    let workspace = Workspace::at(border.place(workspace)?);
    let key = SigningKeyRef::<Small<P>>::from_ref(sk.as_ref()).map_err(|_| gambeson_error::Key)?;
    key.sign_with_rnd_in(rnd, message, signature, workspace);
    Ok(())
}

/// Verifies in a workspace.
pub fn verify_in<P: ParameterSet, W>(
    border: &Border,
    (vk, vk_len): (*const u8, usize),
    (signature, signature_len): (*const u8, usize),
    message: Message<'_>,
    workspace: *mut W,
) -> Outcome
where
    Workspace<P>: Key<Object = W>,
{
    let vk = border.read_exactly::<P::VerifyingKeyBytes>(vk, vk_len)?;
    let signature = border.read_exactly::<P::Signature>(signature, signature_len)?;
    let workspace = Workspace::at(border.place(workspace)?);
    let verdict = VerifyingKeyRef::<Small<P>>::from_ref(vk).verify_in(message, signature.as_ref(), workspace);
    verdict.map_err(|_| gambeson_error::Signature)
}

/// Verifies.
pub fn verify<P: ParameterSet>(
    border: &Border,
    (vk, vk_len): (*const u8, usize),
    (signature, signature_len): (*const u8, usize),
    message: Message<'_>,
) -> Outcome {
    let vk = border.read_exactly::<P::VerifyingKeyBytes>(vk, vk_len)?;
    let signature = border.read_exactly::<P::Signature>(signature, signature_len)?;
    let verdict = VerifyingKeyRef::<P>::from_ref(vk).verify(message, signature.as_ref());
    verdict.map_err(|_| gambeson_error::Signature)
}

// SAFETY: no other tag is equal.
unsafe impl Held for MuHasher {
    const TAG: u64 = u64::from_le_bytes(*b"gbMLDSAm");
}

context! {
    /// μ of a message in pieces, for `_sign_mu` and `_verify_mu`.
    gambeson_mldsa_mu_ctx, 27
}

door! {
    /// Takes the next piece of the message; any pieces give μ of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
    "mldsa" "_mu_update" => mu_update(hash: *mut gambeson_mldsa_mu_ctx, data: *const u8, len: usize), |border| {
        border.context(hash)?.get::<MuHasher>()?.update(border.read_slice(data, len)?);
        Ok(())
    }
}

door! {
    /// μ of what was given; `hash` is wiped. Errors: NULL, OVERLAP, STATE.
    /// cbindgen:ptrs-as-arrays=[[mu; GAMBESON_MLDSA_MU_BYTES]]
    "mldsa" "_mu_final" => mu_final(hash: *mut gambeson_mldsa_mu_ctx, mu: *mut u8), |border| {
        let (context, mu) = (border.context(hash)?, border.write(mu)?);
        *mu = context.get::<MuHasher>()?.finalize();
        context.wipe();
        Ok(())
    }
}

macro_rules! mldsa {
    ($module:ident, $set:ty, $held:ty, $text:literal, $name:literal, $sizes:literal, $key:ident) => {
        #[doc = concat!(" A private key of ", $text, " in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;")]
        /// may be copied; to be wiped.
        #[repr(C)]
        #[derive(Debug)]
        pub struct $key {
            /// Nobody else's.
            pub opaque: [u8; 96],
        }

        // SAFETY: asserted below; a `SigningKey` is a seed and a hash.
        unsafe impl Key for SigningKey<$held> {
            type Object = $key;
        }

        const _: () = {
            assert!(size_of::<SigningKey<$held>>() == 96 && align_of::<SigningKey<$held>>() == 1);
        };

        #[doc = concat!("Calls of ", $text, ".")]
        pub mod $module {
            use core::ffi::{c_int, c_void};

            use super::*;
            use crate::random::gambeson_fill;

            door! {
                /// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `vk`
                /// unless that is null.
                ///
                /// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES]]")]
                $name "_key_generate" => key_generate(key: *mut $key, vk: *mut u8), |border| {
                    make::<$held, _>(border, key, vk, Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, OVERLAP, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES]]")]
                $name "_key_generate_with" => key_generate_with(key: *mut $key, vk: *mut u8, fill: gambeson_fill, fill_ctx: *mut c_void), |border| {
                    make::<$held, _>(border, key, vk, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The key of a seed ξ, which is random or was stored.
                ///
                /// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES], [seed; GAMBESON_MLDSA_SEED_BYTES]]")]
                $name "_key_from_seed" => key_from_seed(key: *mut $key, vk: *mut u8, seed: *const u8), |border| {
                    make::<$held, _>(border, key, vk, Source::Given(border.read::<[u8; 32]>(seed)?))
                }
            }

            door! {
                /// The seed of a key: what to store, in secret.
                ///
                /// Errors: NULL, OVERLAP.
                /// cbindgen:ptrs-as-arrays=[[seed; GAMBESON_MLDSA_SEED_BYTES]]
                $name "_key_seed" => key_seed(key: *const $key, seed: *mut u8), |border| {
                    let key = border.key::<SigningKey<$held>>(key)?;
                    *border.write(seed)? = *key.seed().ok_or(gambeson_error::Key)?.expose();
                    Ok(())
                }
            }

            door! {
                /// The public half of a key, made again.
                ///
                /// Errors: NULL, OVERLAP.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES]]")]
                $name "_key_public" => key_public(key: *const $key, vk: *mut u8), |border| {
                    let key = border.key::<SigningKey<$held>>(key)?;
                    key.verifying_key_into(border.write(vk)?);
                    Ok(())
                }
            }

            door! {
                /// Signs a message in a context of at most 255 bytes, hedged: with the operating system's randomness, or the port's. Message
                /// and context may be null if they have no bytes.
                ///
                /// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_key_sign" => key_sign(
                    key: *const $key, signature: *mut u8, message: *const u8, message_len: usize,
                    context: *const u8, context_len: usize
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    super::sign::<$held, _>(border, key, signature, message, Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_key_sign_with" => key_sign_with(
                    key: *const $key, signature: *mut u8, message: *const u8, message_len: usize,
                    context: *const u8, context_len: usize, fill: gambeson_fill, fill_ctx: *mut c_void
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    super::sign::<$held, _>(border, key, signature, message, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The same with `rnd`, which is random and secret; or 32 zero bytes: the deterministic variant, where one message has one
                /// signature.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_key_sign_with_rnd" => key_sign_with_rnd(
                    key: *const $key, signature: *mut u8, message: *const u8, message_len: usize,
                    context: *const u8, context_len: usize, rnd: *const u8
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    super::sign::<$held, _>(border, key, signature, message, Source::Given(border.read::<[u8; 32]>(rnd)?))
                }
            }

            door! {
                /// Signs μ, which `_mu_final` made of the message for this key's public half: the signature is the message's.
                ///
                /// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [mu; GAMBESON_MLDSA_MU_BYTES]]")]
                $name "_key_sign_mu" => key_sign_mu(key: *const $key, signature: *mut u8, mu: *const u8), |border| {
                    super::sign::<$held, _>(border, key, signature, Message::mu(border.read(mu)?), Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, OVERLAP, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [mu; GAMBESON_MLDSA_MU_BYTES]]")]
                $name "_key_sign_mu_with" => key_sign_mu_with(
                    key: *const $key, signature: *mut u8, mu: *const u8, fill: gambeson_fill, fill_ctx: *mut c_void
                ), |border| {
                    let message = Message::mu(border.read(mu)?);
                    super::sign::<$held, _>(border, key, signature, message, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The same with `rnd`, as `_key_sign_with_rnd`.
                ///
                /// Errors: NULL, OVERLAP.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [mu; GAMBESON_MLDSA_MU_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_key_sign_mu_with_rnd" => key_sign_mu_with_rnd(
                    key: *const $key, signature: *mut u8, mu: *const u8, rnd: *const u8
                ), |border| {
                    let message = Message::mu(border.read(mu)?);
                    super::sign::<$held, _>(border, key, signature, message, Source::Given(border.read::<[u8; 32]>(rnd)?))
                }
            }

            door! {
                /// Signs a digest of the message in a context, hedged: HashML-DSA, whose signatures are not those of the message itself. `prehash` is
                /// the one of gambeson_prehash that made the digest, and `digest_len` its length.
                ///
                /// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_key_sign_prehashed" => key_sign_prehashed(
                    key: *const $key, signature: *mut u8, prehash: c_int, digest: *const u8, digest_len: usize,
                    context: *const u8, context_len: usize
                ), |border| {
                    let digest = digest_of(border, prehash, (digest, digest_len))?;
                    let message = prehashed(border, &digest, (context, context_len))?;
                    super::sign::<$held, _>(border, key, signature, message, Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_key_sign_prehashed_with" => key_sign_prehashed_with(
                    key: *const $key, signature: *mut u8, prehash: c_int, digest: *const u8, digest_len: usize,
                    context: *const u8, context_len: usize, fill: gambeson_fill, fill_ctx: *mut c_void
                ), |border| {
                    let digest = digest_of(border, prehash, (digest, digest_len))?;
                    let message = prehashed(border, &digest, (context, context_len))?;
                    super::sign::<$held, _>(border, key, signature, message, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The same with `rnd`, as `_key_sign_with_rnd`.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, CONTEXT, PREHASH.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_key_sign_prehashed_with_rnd" => key_sign_prehashed_with_rnd(
                    key: *const $key, signature: *mut u8, prehash: c_int, digest: *const u8, digest_len: usize,
                    context: *const u8, context_len: usize, rnd: *const u8
                ), |border| {
                    let digest = digest_of(border, prehash, (digest, digest_len))?;
                    let message = prehashed(border, &digest, (context, context_len))?;
                    super::sign::<$held, _>(border, key, signature, message, Source::Given(border.read::<[u8; 32]>(rnd)?))
                }
            }

            door! {
                /// Verifies a signature over a message in its context.
                ///
                /// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE.
                $name "_verify" => verify(
                    signature: *const u8, signature_len: usize, message: *const u8, message_len: usize,
                    context: *const u8, context_len: usize, vk: *const u8, vk_len: usize
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    super::verify::<$set>(border, (vk, vk_len), (signature, signature_len), message)
                }
            }

            door! {
                /// Verifies a signature over the message that `_mu_final` made μ of.
                ///
                /// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, SIGNATURE.
                /// cbindgen:ptrs-as-arrays=[[mu; GAMBESON_MLDSA_MU_BYTES]]
                $name "_verify_mu" => verify_mu(
                    signature: *const u8, signature_len: usize, mu: *const u8, vk: *const u8, vk_len: usize
                ), |border| {
                    let message = Message::mu(border.read(mu)?);
                    super::verify::<$set>(border, (vk, vk_len), (signature, signature_len), message)
                }
            }

            door! {
                /// Verifies a signature over a digest of the message in its context, which `prehash` made.
                ///
                /// FIPS 204, Algorithm 5 (HashML-DSA.Verify), whose PH_M the caller has. Errors: NULL, LENGTH, CONTEXT, SIGNATURE, PREHASH.
                $name "_verify_prehashed" => verify_prehashed(
                    signature: *const u8, signature_len: usize, prehash: c_int, digest: *const u8, digest_len: usize,
                    context: *const u8, context_len: usize, vk: *const u8, vk_len: usize
                ), |border| {
                    let digest = digest_of(border, prehash, (digest, digest_len))?;
                    let message = prehashed(border, &digest, (context, context_len))?;
                    super::verify::<$set>(border, (vk, vk_len), (signature, signature_len), message)
                }
            }

            door! {
                /// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
                $name "_mu_init" => mu_init(
                    hash: *mut gambeson_mldsa_mu_ctx, vk: *const u8, vk_len: usize, context: *const u8, context_len: usize
                ), |border| {
                    let vk = border.read_exactly(vk, vk_len)?;
                    let context = border.read_slice(context, context_len)?;
                    let hasher = VerifyingKeyRef::<$set>::from_ref(vk).mu_hasher(context);
                    border.context(hash)?.put(hasher.map_err(|_| gambeson_error::Context)?);
                    Ok(())
                }
            }

        }
    };
}

/// Calls with the private key of FIPS 204. `$sign` and `$check` say how much of it is checked.
macro_rules! mldsa_encoded {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal, $prefix:literal, $sign:ident, $check:ident, $checks:literal) => {
        #[doc = concat!("Calls of ", $text, " with the private key of FIPS 204.")]
        pub mod $module {
            use core::ffi::{c_int, c_void};

            use super::*;
            use crate::random::gambeson_fill;

            door! {
                #[doc = concat!(" Whether these are the bytes of a private key", $checks, ". `sign` asks that itself.")]
                ///
                /// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                $name "_check_sk" => check_sk(sk: *const u8, sk_len: usize), |border| {
                    let sk = border.read_exactly::<<$set as ParameterSet>::SigningKeyBytes>(sk, sk_len)?;
                    $check::<$set>(sk)
                }
            }

            door! {
                /// `_key_sign` with a key in the form of FIPS 204, which is checked first.
                ///
                /// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_sign" => sign(
                    signature: *mut u8, message: *const u8, message_len: usize, context: *const u8, context_len: usize,
                    sk: *const u8, sk_len: usize
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    $sign::<$set>(border, (sk, sk_len), signature, message, Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_sign_with" => sign_with(
                    signature: *mut u8, message: *const u8, message_len: usize, context: *const u8, context_len: usize,
                    sk: *const u8, sk_len: usize, fill: gambeson_fill, fill_ctx: *mut c_void
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    $sign::<$set>(border, (sk, sk_len), signature, message, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The same with `rnd`, as `_key_sign_with_rnd`.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_sign_with_rnd" => sign_with_rnd(
                    signature: *mut u8, message: *const u8, message_len: usize, context: *const u8, context_len: usize,
                    sk: *const u8, sk_len: usize, rnd: *const u8
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    $sign::<$set>(border, (sk, sk_len), signature, message, Source::Given(border.read::<[u8; 32]>(rnd)?))
                }
            }

            door! {
                /// `_key_sign_mu` with a key in the form of FIPS 204, which is checked first.
                ///
                /// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [mu; GAMBESON_MLDSA_MU_BYTES]]")]
                $name "_sign_mu" => sign_mu(signature: *mut u8, mu: *const u8, sk: *const u8, sk_len: usize), |border| {
                    $sign::<$set>(border, (sk, sk_len), signature, Message::mu(border.read(mu)?), Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [mu; GAMBESON_MLDSA_MU_BYTES]]")]
                $name "_sign_mu_with" => sign_mu_with(
                    signature: *mut u8, mu: *const u8, sk: *const u8, sk_len: usize, fill: gambeson_fill, fill_ctx: *mut c_void
                ), |border| {
                    let message = Message::mu(border.read(mu)?);
                    $sign::<$set>(border, (sk, sk_len), signature, message, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The same with `rnd`, as `_key_sign_with_rnd`.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, KEY.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [mu; GAMBESON_MLDSA_MU_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_sign_mu_with_rnd" => sign_mu_with_rnd(
                    signature: *mut u8, mu: *const u8, sk: *const u8, sk_len: usize, rnd: *const u8
                ), |border| {
                    let message = Message::mu(border.read(mu)?);
                    $sign::<$set>(border, (sk, sk_len), signature, message, Source::Given(border.read::<[u8; 32]>(rnd)?))
                }
            }

            door! {
                /// `_key_sign_prehashed` with a key in the form of FIPS 204, which is checked first.
                ///
                /// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_sign_prehashed" => sign_prehashed(
                    signature: *mut u8, prehash: c_int, digest: *const u8, digest_len: usize, context: *const u8, context_len: usize,
                    sk: *const u8, sk_len: usize
                ), |border| {
                    let digest = digest_of(border, prehash, (digest, digest_len))?;
                    let message = prehashed(border, &digest, (context, context_len))?;
                    $sign::<$set>(border, (sk, sk_len), signature, message, Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_sign_prehashed_with" => sign_prehashed_with(
                    signature: *mut u8, prehash: c_int, digest: *const u8, digest_len: usize, context: *const u8, context_len: usize,
                    sk: *const u8, sk_len: usize, fill: gambeson_fill, fill_ctx: *mut c_void
                ), |border| {
                    let digest = digest_of(border, prehash, (digest, digest_len))?;
                    let message = prehashed(border, &digest, (context, context_len))?;
                    $sign::<$set>(border, (sk, sk_len), signature, message, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The same with `rnd`, as `_key_sign_with_rnd`.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, PREHASH.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_sign_prehashed_with_rnd" => sign_prehashed_with_rnd(
                    signature: *mut u8, prehash: c_int, digest: *const u8, digest_len: usize, context: *const u8, context_len: usize,
                    sk: *const u8, sk_len: usize, rnd: *const u8
                ), |border| {
                    let digest = digest_of(border, prehash, (digest, digest_len))?;
                    let message = prehashed(border, &digest, (context, context_len))?;
                    $sign::<$set>(border, (sk, sk_len), signature, message, Source::Given(border.read::<[u8; 32]>(rnd)?))
                }
            }
        }
    };
}

/// What works in memory of C's.
macro_rules! mldsa_in_workspace {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal, $key:ident, $workspace:ident, $words:literal, $bytes:ident) => {
        #[doc = concat!(" Memory in which calls of ", $text, " work that end in `_in`, instead of on the stack. It need not be initialised, and is")]
        /// wiped before they return.
        #[repr(C)]
        #[derive(Debug)]
        pub struct $workspace {
            /// Nobody else's.
            pub opaque: [u64; $words],
        }

        // SAFETY: asserted below; a workspace is integers.
        unsafe impl Key for Workspace<$set> {
            type Object = $workspace;
        }

        const _: () = {
            assert!(size_of::<Workspace<$set>>() <= size_of::<$workspace>());
            assert!(align_of::<Workspace<$set>>() <= align_of::<$workspace>());
            assert!(size_of::<$workspace>() == crate::sizes::$bytes);
        };

        #[doc = concat!("Calls of ", $text, " in a workspace.")]
        pub mod $module {
            use super::*;

            door! {
                /// `_key_from_seed` in a workspace.
                ///
                /// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES], [seed; GAMBESON_MLDSA_SEED_BYTES]]")]
                $name "_key_from_seed_in" [FRAMES_IN] => key_from_seed_in(key: *mut $key, vk: *mut u8, seed: *const u8, workspace: *mut $workspace), |border| {
                    make_in::<$set, _, _>(border, (key, vk), seed, workspace)
                }
            }

            door! {
                /// `_key_public` in a workspace.
                ///
                /// Errors: NULL, OVERLAP, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES]]")]
                $name "_key_public_in" [FRAMES_IN] => key_public_in(key: *const $key, vk: *mut u8, workspace: *mut $workspace), |border| {
                    let key = border.key::<SigningKey<Small<$set>>>(key)?;
                    key.verifying_key_in(border.write(vk)?, Workspace::at(border.place(workspace)?));
                    Ok(())
                }
            }

            door! {
                /// `_key_sign_with_rnd` in a workspace.
                ///
                /// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_key_sign_with_rnd_in" [FRAMES_IN] => key_sign_with_rnd_in(
                    key: *const $key, signature: *mut u8, message: *const u8, message_len: usize,
                    context: *const u8, context_len: usize, rnd: *const u8, workspace: *mut $workspace
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    super::sign_in::<$set, _, _>(border, key, signature, message, rnd, workspace)
                }
            }

            door! {
                /// `_key_sign_mu_with_rnd` in a workspace.
                ///
                /// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [mu; GAMBESON_MLDSA_MU_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_key_sign_mu_with_rnd_in" [FRAMES_IN] => key_sign_mu_with_rnd_in(
                    key: *const $key, signature: *mut u8, mu: *const u8, rnd: *const u8, workspace: *mut $workspace
                ), |border| {
                    let message = Message::mu(border.read(mu)?);
                    super::sign_in::<$set, _, _>(border, key, signature, message, rnd, workspace)
                }
            }

            door! {
                /// `_sign_with_rnd` in a workspace.
                ///
                /// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_sign_with_rnd_in" [FRAMES_IN] => sign_with_rnd_in(
                    signature: *mut u8, message: *const u8, message_len: usize, context: *const u8, context_len: usize,
                    sk: *const u8, sk_len: usize, rnd: *const u8, workspace: *mut $workspace
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    sign_borrowed_in::<$set, _>(border, (sk, sk_len), signature, message, rnd, workspace)
                }
            }

            door! {
                /// `_sign_mu_with_rnd` in a workspace.
                ///
                /// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES], [mu; GAMBESON_MLDSA_MU_BYTES], [rnd; GAMBESON_MLDSA_RND_BYTES]]")]
                $name "_sign_mu_with_rnd_in" [FRAMES_IN] => sign_mu_with_rnd_in(
                    signature: *mut u8, mu: *const u8, sk: *const u8, sk_len: usize, rnd: *const u8, workspace: *mut $workspace
                ), |border| {
                    let message = Message::mu(border.read(mu)?);
                    sign_borrowed_in::<$set, _>(border, (sk, sk_len), signature, message, rnd, workspace)
                }
            }

            door! {
                /// `_verify` in a workspace.
                ///
                /// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, OVERLAP, CONTEXT, SIGNATURE, STATE.
                $name "_verify_in" [FRAMES_IN] => verify_in(
                    signature: *const u8, signature_len: usize, message: *const u8, message_len: usize,
                    context: *const u8, context_len: usize, vk: *const u8, vk_len: usize, workspace: *mut $workspace
                ), |border| {
                    let message = pure(border, (message, message_len), (context, context_len))?;
                    super::verify_in::<$set, _>(border, (vk, vk_len), (signature, signature_len), message, workspace)
                }
            }

            door! {
                /// `_verify_mu` in a workspace.
                ///
                /// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, OVERLAP, SIGNATURE, STATE.
                /// cbindgen:ptrs-as-arrays=[[mu; GAMBESON_MLDSA_MU_BYTES]]
                $name "_verify_mu_in" [FRAMES_IN] => verify_mu_in(
                    signature: *const u8, signature_len: usize, mu: *const u8, vk: *const u8, vk_len: usize, workspace: *mut $workspace
                ), |border| {
                    let message = Message::mu(border.read(mu)?);
                    super::verify_in::<$set, _>(border, (vk, vk_len), (signature, signature_len), message, workspace)
                }
            }
        }
    };
}

/// What takes the heap.
#[cfg(feature = "std")]
macro_rules! mldsa_hosted {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal) => {
        #[doc = concat!("Calls of ", $text, " that take the heap.")]
        pub mod $module {
            use core::ffi::c_void;

            use super::*;
            use crate::random::gambeson_fill;

            door! {
                /// New keys in the forms of FIPS 204, with the operating system's randomness.
                ///
                /// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
                /// cbindgen:prefix=GAMBESON_HOSTED
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES], [sk; GAMBESON_", $sizes, "_SK_BYTES]]")]
                $name "_keypair" => keypair(vk: *mut u8, sk: *mut u8), |border| {
                    super::keypair::<$set>(border, vk, sk, Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, OVERLAP, RANDOM.
                /// cbindgen:prefix=GAMBESON_HOSTED
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES], [sk; GAMBESON_", $sizes, "_SK_BYTES]]")]
                $name "_keypair_with" => keypair_with(vk: *mut u8, sk: *mut u8, fill: gambeson_fill, fill_ctx: *mut c_void), |border| {
                    super::keypair::<$set>(border, vk, sk, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The keys of a seed ξ in the forms of FIPS 204.
                ///
                /// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
                /// cbindgen:prefix=GAMBESON_HOSTED
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES], [sk; GAMBESON_", $sizes, "_SK_BYTES], [seed; GAMBESON_MLDSA_SEED_BYTES]]")]
                $name "_keypair_from_seed" => keypair_from_seed(vk: *mut u8, sk: *mut u8, seed: *const u8), |border| {
                    super::keypair::<$set>(border, vk, sk, Source::Given(border.read::<[u8; 32]>(seed)?))
                }
            }
        }
    };
}

/// What the header defines, held against the core.
macro_rules! sizes {
    ($set:ty, $vk:ident, $sk:ident, $signature:ident) => {
        const _: () = {
            assert!(<$set as ParameterSet>::VerifyingKeyBytes::LEN == crate::sizes::$vk);
            assert!(<$set as ParameterSet>::SigningKeyBytes::LEN == crate::sizes::$sk);
            assert!(<$set as ParameterSet>::Signature::LEN == crate::sizes::$signature);
        };
    };
}

mldsa! { mldsa44, MlDsa44, Compact<MlDsa44>, "ML-DSA-44", "mldsa44", "MLDSA44", gambeson_mldsa44_key }
mldsa! { mldsa65, MlDsa65, Compact<MlDsa65>, "ML-DSA-65", "mldsa65", "MLDSA65", gambeson_mldsa65_key }
mldsa! { mldsa87, MlDsa87, Compact<MlDsa87>, "ML-DSA-87", "mldsa87", "MLDSA87", gambeson_mldsa87_key }
#[cfg(feature = "std")]
mldsa_hosted! { mldsa44_hosted, MlDsa44, "ML-DSA-44", "mldsa44", "MLDSA44" }
#[cfg(feature = "std")]
mldsa_hosted! { mldsa65_hosted, MlDsa65, "ML-DSA-65", "mldsa65", "MLDSA65" }
#[cfg(feature = "std")]
mldsa_hosted! { mldsa87_hosted, MlDsa87, "ML-DSA-87", "mldsa87", "MLDSA87" }
#[cfg(feature = "std")]
mldsa_encoded! { mldsa44_encoded, MlDsa44, "ML-DSA-44", "mldsa44", "MLDSA44", "GAMBESON_HOSTED", sign_encoded, check_encoded, " whose parts belong together" }
#[cfg(feature = "std")]
mldsa_encoded! { mldsa65_encoded, MlDsa65, "ML-DSA-65", "mldsa65", "MLDSA65", "GAMBESON_HOSTED", sign_encoded, check_encoded, " whose parts belong together" }
#[cfg(feature = "std")]
mldsa_encoded! { mldsa87_encoded, MlDsa87, "ML-DSA-87", "mldsa87", "MLDSA87", "GAMBESON_HOSTED", sign_encoded, check_encoded, " whose parts belong together" }
mldsa! { small_mldsa44, Small<MlDsa44>, Small<MlDsa44>, "ML-DSA-44 in the least memory", "small_mldsa44", "MLDSA44", gambeson_small_mldsa44_key }
mldsa! { small_mldsa65, Small<MlDsa65>, Small<MlDsa65>, "ML-DSA-65 in the least memory", "small_mldsa65", "MLDSA65", gambeson_small_mldsa65_key }
mldsa! { small_mldsa87, Small<MlDsa87>, Small<MlDsa87>, "ML-DSA-87 in the least memory", "small_mldsa87", "MLDSA87", gambeson_small_mldsa87_key }
mldsa_encoded! { small_mldsa44_encoded, Small<MlDsa44>, "ML-DSA-44 in the least memory", "small_mldsa44", "MLDSA44", "GAMBESON_API", sign_borrowed, check_borrowed, ": of s1 and s2 every coefficient; t0 and tr are not made again" }
mldsa_encoded! { small_mldsa65_encoded, Small<MlDsa65>, "ML-DSA-65 in the least memory", "small_mldsa65", "MLDSA65", "GAMBESON_API", sign_borrowed, check_borrowed, ": of s1 and s2 every coefficient; t0 and tr are not made again" }
mldsa_encoded! { small_mldsa87_encoded, Small<MlDsa87>, "ML-DSA-87 in the least memory", "small_mldsa87", "MLDSA87", "GAMBESON_API", sign_borrowed, check_borrowed, ": of s1 and s2 every coefficient; t0 and tr are not made again" }
mldsa_in_workspace! { small_mldsa44_in, MlDsa44, "ML-DSA-44 in the least memory", "small_mldsa44", "MLDSA44", gambeson_small_mldsa44_key, gambeson_small_mldsa44_workspace, 376, GAMBESON_SMALL_MLDSA44_WORKSPACE_BYTES }
mldsa_in_workspace! { small_mldsa65_in, MlDsa65, "ML-DSA-65 in the least memory", "small_mldsa65", "MLDSA65", gambeson_small_mldsa65_key, gambeson_small_mldsa65_workspace, 457, GAMBESON_SMALL_MLDSA65_WORKSPACE_BYTES }
mldsa_in_workspace! { small_mldsa87_in, MlDsa87, "ML-DSA-87 in the least memory", "small_mldsa87", "MLDSA87", gambeson_small_mldsa87_key, gambeson_small_mldsa87_workspace, 489, GAMBESON_SMALL_MLDSA87_WORKSPACE_BYTES }

sizes! { MlDsa44, GAMBESON_MLDSA44_VK_BYTES, GAMBESON_MLDSA44_SK_BYTES, GAMBESON_MLDSA44_SIGNATURE_BYTES }
sizes! { MlDsa65, GAMBESON_MLDSA65_VK_BYTES, GAMBESON_MLDSA65_SK_BYTES, GAMBESON_MLDSA65_SIGNATURE_BYTES }
sizes! { MlDsa87, GAMBESON_MLDSA87_VK_BYTES, GAMBESON_MLDSA87_SK_BYTES, GAMBESON_MLDSA87_SIGNATURE_BYTES }
