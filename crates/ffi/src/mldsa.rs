//! ML-DSA: the work of a call, for every set; and the calls, set by set.
#![expect(unsafe_code, reason = "the calls come from C")]

#[cfg(feature = "std")]
use gambeson::mldsa::PreparedSet;
use gambeson::mldsa::{
    Message, MlDsa44, MlDsa65, MlDsa87, MuHasher, ParameterSet, SigningKey, SigningKeyRef, VerifyingKeyRef,
};
use gambeson::secret::Secret;
use gambeson::{Bytes, Compact, Small, Workspace};

use crate::border::{Border, Held, Key, door};
use crate::error::gambeson_error;
use crate::message::{self, gambeson_message};
use crate::random::{draw, gambeson_randomness};
use crate::sha3::context;

type Outcome = Result<(), gambeson_error>;

/// Makes a key in C's object and, where C wants it, its public half.
pub fn make<P: ParameterSet, O>(
    border: &Border,
    (key, vk): (*mut O, *mut u8),
    randomness: *const gambeson_randomness,
) -> Outcome
where
    SigningKey<P>: Key<Object = O>,
{
    let key = border.place::<SigningKey<P>>(key)?;
    let vk = if vk.is_null() { None } else { Some(border.write::<P::VerifyingKeyBytes>(vk)?) };
    let mut seed = Secret::new([0; 32]);
    draw(border, randomness, seed.expose_mut())?;
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
    randomness: *const gambeson_randomness,
    workspace: *mut W,
) -> Outcome
where
    SigningKey<Small<P>>: Key<Object = O>,
    Workspace<P>: Key<Object = W>,
{
    let key = border.place::<SigningKey<Small<P>>>(key)?;
    let vk = if vk.is_null() { None } else { Some(border.write::<P::VerifyingKeyBytes>(vk)?) };
    let workspace = border.place(workspace)?;
    let mut seed = Secret::new([0; 32]);
    draw(border, randomness, seed.expose_mut())?;
    key.write(SigningKey::from_seed_in(seed.expose(), vk, Workspace::at(workspace)));
    Ok(())
}

/// Makes both keys in the forms of FIPS 204.
#[cfg(feature = "std")]
pub fn keypair<P: ParameterSet>(
    border: &Border,
    (vk, sk): (*mut u8, *mut u8),
    randomness: *const gambeson_randomness,
) -> Outcome {
    let (vk, sk) = (border.write(vk)?, border.write(sk)?);
    let mut seed = Secret::new([0; 32]);
    draw(border, randomness, seed.expose_mut())?;
    SigningKey::<P>::encoded_from_seed(seed.expose(), sk, vk);
    Ok(())
}

/// Signs with a key that lies in an object of C's.
pub fn sign<P: ParameterSet, O>(
    border: &Border,
    key: *const O,
    signature: *mut u8,
    message: *const gambeson_message,
    randomness: *const gambeson_randomness,
) -> Outcome
where
    SigningKey<P>: Key<Object = O>,
{
    let mut described = Message::from(&[]);
    message::read(border, message, &mut described)?;
    let key = border.key::<SigningKey<P>>(key)?;
    let signature = border.write::<P::Signature>(signature)?;
    let mut rnd = Secret::new([0; 32]);
    draw(border, randomness, rnd.expose_mut())?;
    key.sign_with_rnd_into(rnd.expose(), described, signature);
    Ok(())
}

/// Signs as [`sign`] does, in a workspace.
pub fn sign_in<P: ParameterSet, O, W>(
    border: &Border,
    key: *const O,
    signature: *mut u8,
    (message, randomness): (*const gambeson_message, *const gambeson_randomness),
    workspace: *mut W,
) -> Outcome
where
    SigningKey<Small<P>>: Key<Object = O>,
    Workspace<P>: Key<Object = W>,
{
    let mut described = Message::from(&[]);
    message::read(border, message, &mut described)?;
    let key = border.key::<SigningKey<Small<P>>>(key)?;
    let (signature, workspace) = (border.write(signature)?, border.place(workspace)?);
    let mut rnd = Secret::new([0; 32]);
    draw(border, randomness, rnd.expose_mut())?;
    key.sign_with_rnd_in(rnd.expose(), described, signature, Workspace::at(workspace));
    Ok(())
}

/// Signs with a key in the form of FIPS 204, where its bytes are.
pub fn sign_borrowed<P: ParameterSet>(
    border: &Border,
    (sk, sk_len): (*const u8, usize),
    signature: *mut u8,
    message: *const gambeson_message,
    randomness: *const gambeson_randomness,
) -> Outcome {
    let mut described = Message::from(&[]);
    message::read(border, message, &mut described)?;
    let sk = border.read_exactly::<P::SigningKeyBytes>(sk, sk_len)?;
    let signature = border.write::<P::Signature>(signature)?;
    let key = SigningKeyRef::<P>::from_ref(sk.as_ref()).map_err(|_| gambeson_error::Key)?;
    let mut rnd = Secret::new([0; 32]);
    draw(border, randomness, rnd.expose_mut())?;
    key.sign_with_rnd_into(rnd.expose(), described, signature);
    Ok(())
}

/// Signs as [`sign_borrowed`] does, in a workspace.
pub fn sign_borrowed_in<P: ParameterSet, W>(
    border: &Border,
    (sk, sk_len): (*const u8, usize),
    signature: *mut u8,
    (message, randomness): (*const gambeson_message, *const gambeson_randomness),
    workspace: *mut W,
) -> Outcome
where
    Workspace<P>: Key<Object = W>,
{
    let mut described = Message::from(&[]);
    message::read(border, message, &mut described)?;
    let sk = border.read_exactly::<P::SigningKeyBytes>(sk, sk_len)?;
    let (signature, workspace) = (border.write(signature)?, border.place(workspace)?);
    let key = SigningKeyRef::<Small<P>>::from_ref(sk.as_ref()).map_err(|_| gambeson_error::Key)?;
    let mut rnd = Secret::new([0; 32]);
    draw(border, randomness, rnd.expose_mut())?;
    key.sign_with_rnd_in(rnd.expose(), described, signature, Workspace::at(workspace));
    Ok(())
}

/// Signs with a key in the form of FIPS 204, of which all is checked, on the heap.
#[cfg(feature = "std")]
pub fn sign_encoded<P: PreparedSet>(
    border: &Border,
    (sk, sk_len): (*const u8, usize),
    signature: *mut u8,
    message: *const gambeson_message,
    randomness: *const gambeson_randomness,
) -> Outcome {
    let mut described = Message::from(&[]);
    message::read(border, message, &mut described)?;
    let sk = border.read_exactly::<P::SigningKeyBytes>(sk, sk_len)?;
    let signature = border.write::<P::Signature>(signature)?;
    let key = SigningKey::<P>::from_encoded(sk.as_ref()).map_err(|_| gambeson_error::Key)?;
    let mut rnd = Secret::new([0; 32]);
    draw(border, randomness, rnd.expose_mut())?;
    *signature = key.sign_with_rnd(rnd.expose(), described);
    Ok(())
}

/// Checks the coefficients of a key in the form of FIPS 204.
pub fn check_borrowed<P: ParameterSet>(sk: &P::SigningKeyBytes) -> Outcome {
    SigningKeyRef::<P>::from_ref(sk.as_ref()).map(drop).map_err(|_| gambeson_error::Key)
}

/// Checks all of such a key.
#[cfg(feature = "std")]
pub fn check_encoded<P: PreparedSet>(sk: &P::SigningKeyBytes) -> Outcome {
    SigningKey::<P>::from_encoded(sk.as_ref()).map(drop).map_err(|_| gambeson_error::Key)
}

/// Verifies.
pub fn verify<P: ParameterSet>(
    border: &Border,
    (vk, vk_len): (*const u8, usize),
    (signature, signature_len): (*const u8, usize),
    message: *const gambeson_message,
) -> Outcome {
    let mut described = Message::from(&[]);
    message::read(border, message, &mut described)?;
    let vk = border.read_exactly::<P::VerifyingKeyBytes>(vk, vk_len)?;
    let signature = border.read_exactly::<P::Signature>(signature, signature_len)?;
    let verdict = VerifyingKeyRef::<P>::from_ref(vk).verify(described, signature.as_ref());
    verdict.map_err(|_| gambeson_error::Signature)
}

/// Verifies in a workspace.
pub fn verify_in<P: ParameterSet, W>(
    border: &Border,
    (vk, vk_len): (*const u8, usize),
    (signature, signature_len): (*const u8, usize),
    message: *const gambeson_message,
    workspace: *mut W,
) -> Outcome
where
    Workspace<P>: Key<Object = W>,
{
    let mut described = Message::from(&[]);
    message::read(border, message, &mut described)?;
    let vk = border.read_exactly::<P::VerifyingKeyBytes>(vk, vk_len)?;
    let signature = border.read_exactly::<P::Signature>(signature, signature_len)?;
    let workspace = Workspace::at(border.place(workspace)?);
    let verdict =
        VerifyingKeyRef::<Small<P>>::from_ref(vk).verify_in(described, signature.as_ref(), workspace);
    verdict.map_err(|_| gambeson_error::Signature)
}

// SAFETY: no other tag is equal.
unsafe impl Held for MuHasher {
    const TAG: u64 = u64::from_le_bytes(*b"gbMLDSAm");
}

context! {
    /// μ of a message in pieces, for GAMBESON_MESSAGE_MU.
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
    /// Ends the hash, gives μ, and wipes `hash`. Errors: NULL, OVERLAP, STATE.
    /// cbindgen:ptrs-as-arrays=[[mu; GAMBESON_MLDSA_MU_BYTES]]
    "mldsa" "_mu_final" => mu_final(hash: *mut gambeson_mldsa_mu_ctx, mu: *mut u8), |border| {
        let (context, mu) = (border.context(hash)?, border.write(mu)?);
        *mu = context.get::<MuHasher>()?.finalize();
        context.wipe();
        Ok(())
    }
}

/// The key of a set, and the calls that have no schedule.
macro_rules! mldsa_key {
    ($module:ident, $set:ty, $text:literal, $name:literal, $key:ident) => {
        #[doc = concat!(" A private key of ", $text, " in 96 bytes, for both schedules: its seed and the hash of its public half. Each use makes the")]
        /// rest again. Secret: to be wiped. It may be copied.
        #[repr(C)]
        #[derive(Debug)]
        pub struct $key {
            /// The library's.
            pub opaque: [u8; 96],
        }

        // SAFETY: asserted below; a `SigningKey` is a seed and a hash, in one order for both schedules.
        unsafe impl Key for SigningKey<Compact<$set>> {
            type Object = $key;
        }

        // SAFETY: as above.
        unsafe impl Key for SigningKey<Small<$set>> {
            type Object = $key;
        }

        const _: () = {
            type Fast = SigningKey<Compact<$set>>;
            type Least = SigningKey<Small<$set>>;
            assert!(size_of::<Fast>() == 96 && align_of::<Fast>() == 1);
            assert!(size_of::<Least>() == 96 && align_of::<Least>() == 1);
        };

        #[doc = concat!("Calls of ", $text, " for both schedules.")]
        pub mod $module {
            use super::*;

            door! {
                /// Copies out the seed of a key: 32 secret bytes to store.
                ///
                /// Errors: NULL, OVERLAP.
                /// cbindgen:ptrs-as-arrays=[[seed; GAMBESON_MLDSA_SEED_BYTES]]
                $name "_key_seed" => key_seed(key: *const $key, seed: *mut u8), |border| {
                    let key = border.key::<SigningKey<Compact<$set>>>(key)?;
                    *border.write(seed)? = *key.seed().ok_or(gambeson_error::Key)?.expose();
                    Ok(())
                }
            }

            door! {
                /// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, CONTEXT, STATE.
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

/// The calls of a set in one schedule.
macro_rules! mldsa {
    ($module:ident, $set:ty, $held:ty, $text:literal, $name:literal, $sizes:literal, $key:ident) => {
        #[doc = concat!("Calls of ", $text, ".")]
        pub mod $module {
            use super::*;

            door! {
                /// Makes a key of 32 bytes of randomness, the seed ξ: the private half in `key`, the public half in `vk` unless that is null.
                /// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
                ///
                /// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
                /// RANDOM, STATE, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES]]")]
                $name "_key_generate" => key_generate(key: *mut $key, vk: *mut u8, randomness: *const gambeson_randomness), |border| {
                    make::<$held, _>(border, (key, vk), randomness)
                }
            }

            door! {
                /// Makes the public half of a key again.
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
                /// Signs, hedged by 32 bytes of randomness, `rnd`. 32 zero bytes as GAMBESON_RANDOMNESS_BYTES are the deterministic variant, where one
                /// message has one signature.
                ///
                /// FIPS 204, Algorithm 2 (ML-DSA.Sign), Algorithm 4 (HashML-DSA.Sign), and Algorithm 7 (ML-DSA.Sign_internal) from line 7 for μ. Errors:
                /// NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_key_sign" => key_sign(
                    key: *const $key, signature: *mut u8, message: *const gambeson_message, randomness: *const gambeson_randomness
                ), |border| {
                    super::sign::<$held, _>(border, key, signature, message, randomness)
                }
            }

            door! {
                /// Verifies a signature.
                ///
                /// FIPS 204, Algorithm 3 (ML-DSA.Verify), Algorithm 5 (HashML-DSA.Verify), and Algorithm 8 (ML-DSA.Verify_internal) from line 8 for μ.
                /// Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
                $name "_verify" => verify(
                    signature: *const u8, signature_len: usize, message: *const gambeson_message, vk: *const u8, vk_len: usize
                ), |border| {
                    super::verify::<$set>(border, (vk, vk_len), (signature, signature_len), message)
                }
            }
        }
    };
}

/// The calls with the private key of FIPS 204. `$sign` and `$check` say how much of it is checked.
macro_rules! mldsa_encoded {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal, $prefix:literal, $sign:ident, $check:ident, $checks:literal) => {
        #[doc = concat!("Calls of ", $text, " with the private key of FIPS 204.")]
        pub mod $module {
            use super::*;

            door! {
                #[doc = concat!(" Checks that the bytes are a private key", $checks, ". `_sign` checks it, too.")]
                ///
                /// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                $name "_check_sk" => check_sk(sk: *const u8, sk_len: usize), |border| {
                    let sk = border.read_exactly::<<$set as ParameterSet>::SigningKeyBytes>(sk, sk_len)?;
                    $check::<$set>(sk)
                }
            }

            door! {
                /// Does what `_key_sign` does, with a key in the form of FIPS 204, which is checked first.
                ///
                /// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
                #[doc = concat!("cbindgen:prefix=", $prefix)]
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_sign" => sign(
                    signature: *mut u8, message: *const gambeson_message, sk: *const u8, sk_len: usize,
                    randomness: *const gambeson_randomness
                ), |border| {
                    $sign::<$set>(border, (sk, sk_len), signature, message, randomness)
                }
            }
        }
    };
}

/// The calls that work in memory of C's.
macro_rules! mldsa_in_workspace {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal, $key:ident, $workspace:ident, $words:literal, $bytes:ident) => {
        #[doc = concat!(" Memory for the calls of ", $text, " that end in `_in`, in place of the stack. It need not be initialised; the calls wipe it.")]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $workspace {
            /// The library's.
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
                /// Does what `_key_generate` does, in a workspace.
                ///
                /// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES]]")]
                $name "_key_generate_in" [FRAMES_IN] => key_generate_in(
                    key: *mut $key, vk: *mut u8, randomness: *const gambeson_randomness, workspace: *mut $workspace
                ), |border| {
                    make_in::<$set, _, _>(border, (key, vk), randomness, workspace)
                }
            }

            door! {
                /// Does what `_key_public` does, in a workspace.
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
                /// Does what `_key_sign` does, in a workspace.
                ///
                /// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_key_sign_in" [FRAMES_IN] => key_sign_in(
                    key: *const $key, signature: *mut u8, message: *const gambeson_message, randomness: *const gambeson_randomness,
                    workspace: *mut $workspace
                ), |border| {
                    super::sign_in::<$set, _, _>(border, key, signature, (message, randomness), workspace)
                }
            }

            door! {
                /// Does what `_sign` does, in a workspace.
                ///
                /// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[signature; GAMBESON_", $sizes, "_SIGNATURE_BYTES]]")]
                $name "_sign_in" [FRAMES_IN] => sign_in(
                    signature: *mut u8, message: *const gambeson_message, sk: *const u8, sk_len: usize,
                    randomness: *const gambeson_randomness, workspace: *mut $workspace
                ), |border| {
                    sign_borrowed_in::<$set, _>(border, (sk, sk_len), signature, (message, randomness), workspace)
                }
            }

            door! {
                /// Does what `_verify` does, in a workspace.
                ///
                /// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, OVERLAP, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
                $name "_verify_in" [FRAMES_IN] => verify_in(
                    signature: *const u8, signature_len: usize, message: *const gambeson_message, vk: *const u8, vk_len: usize,
                    workspace: *mut $workspace
                ), |border| {
                    super::verify_in::<$set, _>(border, (vk, vk_len), (signature, signature_len), message, workspace)
                }
            }
        }
    };
}

/// The call that takes the heap.
#[cfg(feature = "std")]
macro_rules! mldsa_hosted {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal) => {
        #[doc = concat!("Calls of ", $text, " that take the heap.")]
        pub mod $module {
            use super::*;

            door! {
                /// Makes both keys in the forms of FIPS 204, of 32 bytes of randomness, the seed ξ.
                ///
                /// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
                /// RANDOM, STATE, DESCRIPTOR.
                /// cbindgen:prefix=GAMBESON_HOSTED
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[vk; GAMBESON_", $sizes, "_VK_BYTES], [sk; GAMBESON_", $sizes, "_SK_BYTES]]")]
                $name "_keypair" => keypair(vk: *mut u8, sk: *mut u8, randomness: *const gambeson_randomness), |border| {
                    super::keypair::<$set>(border, (vk, sk), randomness)
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

mldsa_key! { mldsa44_key, MlDsa44, "ML-DSA-44", "mldsa44", gambeson_mldsa44_key }
mldsa_key! { mldsa65_key, MlDsa65, "ML-DSA-65", "mldsa65", gambeson_mldsa65_key }
mldsa_key! { mldsa87_key, MlDsa87, "ML-DSA-87", "mldsa87", gambeson_mldsa87_key }
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
mldsa! { small_mldsa44, Small<MlDsa44>, Small<MlDsa44>, "ML-DSA-44 in the least memory", "small_mldsa44", "MLDSA44", gambeson_mldsa44_key }
mldsa! { small_mldsa65, Small<MlDsa65>, Small<MlDsa65>, "ML-DSA-65 in the least memory", "small_mldsa65", "MLDSA65", gambeson_mldsa65_key }
mldsa! { small_mldsa87, Small<MlDsa87>, Small<MlDsa87>, "ML-DSA-87 in the least memory", "small_mldsa87", "MLDSA87", gambeson_mldsa87_key }
mldsa_encoded! { small_mldsa44_encoded, Small<MlDsa44>, "ML-DSA-44 in the least memory", "small_mldsa44", "MLDSA44", "GAMBESON_API", sign_borrowed, check_borrowed, ": of s1 and s2 every coefficient; t0 and tr are not made again" }
mldsa_encoded! { small_mldsa65_encoded, Small<MlDsa65>, "ML-DSA-65 in the least memory", "small_mldsa65", "MLDSA65", "GAMBESON_API", sign_borrowed, check_borrowed, ": of s1 and s2 every coefficient; t0 and tr are not made again" }
mldsa_encoded! { small_mldsa87_encoded, Small<MlDsa87>, "ML-DSA-87 in the least memory", "small_mldsa87", "MLDSA87", "GAMBESON_API", sign_borrowed, check_borrowed, ": of s1 and s2 every coefficient; t0 and tr are not made again" }
mldsa_in_workspace! { small_mldsa44_in, MlDsa44, "ML-DSA-44 in the least memory", "small_mldsa44", "MLDSA44", gambeson_mldsa44_key, gambeson_small_mldsa44_workspace, 376, GAMBESON_SMALL_MLDSA44_WORKSPACE_BYTES }
mldsa_in_workspace! { small_mldsa65_in, MlDsa65, "ML-DSA-65 in the least memory", "small_mldsa65", "MLDSA65", gambeson_mldsa65_key, gambeson_small_mldsa65_workspace, 457, GAMBESON_SMALL_MLDSA65_WORKSPACE_BYTES }
mldsa_in_workspace! { small_mldsa87_in, MlDsa87, "ML-DSA-87 in the least memory", "small_mldsa87", "MLDSA87", gambeson_mldsa87_key, gambeson_small_mldsa87_workspace, 489, GAMBESON_SMALL_MLDSA87_WORKSPACE_BYTES }

sizes! { MlDsa44, GAMBESON_MLDSA44_VK_BYTES, GAMBESON_MLDSA44_SK_BYTES, GAMBESON_MLDSA44_SIGNATURE_BYTES }
sizes! { MlDsa65, GAMBESON_MLDSA65_VK_BYTES, GAMBESON_MLDSA65_SK_BYTES, GAMBESON_MLDSA65_SIGNATURE_BYTES }
sizes! { MlDsa87, GAMBESON_MLDSA87_VK_BYTES, GAMBESON_MLDSA87_SK_BYTES, GAMBESON_MLDSA87_SIGNATURE_BYTES }
