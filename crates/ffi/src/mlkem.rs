//! ML-KEM: the work of a call, for every set; and the calls, set by set.
#![expect(unsafe_code, reason = "the calls come from C")]

use gambeson::mlkem::{
    DecapsulationKey, DecapsulationKeyRef, EncapsulationKeyRef, MlKem512, MlKem768, MlKem1024, ParameterSet,
};
use gambeson::secret::Secret;
use gambeson::{Bytes, Compact, Small, Workspace};

use crate::border::{Border, Key, door};
use crate::error::gambeson_error;
use crate::random::{draw, gambeson_randomness};

type Outcome = Result<(), gambeson_error>;

/// Makes a key in C's object and, where C wants it, its public half.
pub fn make<P: ParameterSet, O>(
    border: &Border,
    (key, ek): (*mut O, *mut u8),
    randomness: *const gambeson_randomness,
) -> Outcome
where
    DecapsulationKey<P>: Key<Object = O>,
{
    let key = border.place::<DecapsulationKey<P>>(key)?;
    let ek = if ek.is_null() { None } else { Some(border.write::<P::EncapsulationKeyBytes>(ek)?) };
    let mut seed = Secret::new([0; 64]);
    draw(border, randomness, seed.expose_mut())?;
    key.write(match ek {
        Some(ek) => DecapsulationKey::from_seed_into(seed.expose(), ek),
        None => DecapsulationKey::from_seed(seed.expose()),
    });
    Ok(())
}

/// Makes a key as [`make`] does, in a workspace.
pub fn make_in<P: ParameterSet, O, W>(
    border: &Border,
    (key, ek): (*mut O, *mut u8),
    randomness: *const gambeson_randomness,
    workspace: *mut W,
) -> Outcome
where
    DecapsulationKey<Small<P>>: Key<Object = O>,
    Workspace<P>: Key<Object = W>,
{
    let key = border.place::<DecapsulationKey<Small<P>>>(key)?;
    let ek = if ek.is_null() { None } else { Some(border.write::<P::EncapsulationKeyBytes>(ek)?) };
    let workspace = border.place(workspace)?;
    let mut seed = Secret::new([0; 64]);
    draw(border, randomness, seed.expose_mut())?;
    key.write(DecapsulationKey::from_seed_in(seed.expose(), ek, Workspace::at(workspace)));
    Ok(())
}

/// Encapsulates.
pub fn encapsulate<P: ParameterSet>(
    border: &Border,
    (c, shared): (*mut u8, *mut u8),
    (ek, ek_len): (*const u8, usize),
    randomness: *const gambeson_randomness,
) -> Outcome {
    let ek = border.read_exactly::<P::EncapsulationKeyBytes>(ek, ek_len)?;
    let (c, shared) = (border.write::<P::Ciphertext>(c)?, border.write_secret(shared)?);
    let ek = EncapsulationKeyRef::<P>::from_ref(ek).map_err(|_| gambeson_error::Key)?;
    let mut m = Secret::new([0; 32]);
    draw(border, randomness, m.expose_mut())?;
    ek.encapsulate_deterministic_into(m.expose(), c, shared);
    Ok(())
}

/// Encapsulates as [`encapsulate`] does, in a workspace.
pub fn encapsulate_in<P: ParameterSet, W>(
    border: &Border,
    (c, shared): (*mut u8, *mut u8),
    (ek, ek_len): (*const u8, usize),
    randomness: *const gambeson_randomness,
    workspace: *mut W,
) -> Outcome
where
    Workspace<P>: Key<Object = W>,
{
    let ek = border.read_exactly::<P::EncapsulationKeyBytes>(ek, ek_len)?;
    let (c, shared) = (border.write::<P::Ciphertext>(c)?, border.write_secret(shared)?);
    let ek = EncapsulationKeyRef::<Small<P>>::from_ref(ek).map_err(|_| gambeson_error::Key)?;
    let workspace = border.place(workspace)?;
    let mut m = Secret::new([0; 32]);
    draw(border, randomness, m.expose_mut())?;
    ek.encapsulate_deterministic_in(m.expose(), c, shared, Workspace::at(workspace));
    Ok(())
}

/// Decapsulates with a key in the form of FIPS 203, which is checked first.
pub fn decapsulate<P: ParameterSet>(
    border: &Border,
    shared: *mut u8,
    (c, c_len): (*const u8, usize),
    (dk, dk_len): (*const u8, usize),
) -> Outcome {
    let c = border.read_exactly::<P::Ciphertext>(c, c_len)?;
    let dk = border.read_exactly::<P::DecapsulationKeyBytes>(dk, dk_len)?;
    let shared = border.write_secret(shared)?;
    let key = DecapsulationKeyRef::<P>::from_ref(dk.as_ref()).map_err(|_| gambeson_error::Key)?;
    key.decapsulate_into(c, shared);
    Ok(())
}

/// Decapsulates as [`decapsulate`] does, in a workspace.
pub fn decapsulate_in<P: ParameterSet, W>(
    border: &Border,
    shared: *mut u8,
    (c, c_len): (*const u8, usize),
    (dk, dk_len): (*const u8, usize),
    workspace: *mut W,
) -> Outcome
where
    Workspace<P>: Key<Object = W>,
{
    let c = border.read_exactly::<P::Ciphertext>(c, c_len)?;
    let dk = border.read_exactly::<P::DecapsulationKeyBytes>(dk, dk_len)?;
    let shared = border.write_secret(shared)?;
    let workspace = Workspace::at(border.place::<Workspace<P>>(workspace)?);
    let key = DecapsulationKeyRef::<Small<P>>::from_ref_in(dk.as_ref(), workspace)
        .map_err(|_| gambeson_error::Key)?;
    key.decapsulate_in(c, shared, workspace);
    Ok(())
}

/// Makes both keys in the forms of FIPS 203.
#[cfg(feature = "std")]
pub fn keypair<P: ParameterSet>(
    border: &Border,
    (ek, dk): (*mut u8, *mut u8),
    randomness: *const gambeson_randomness,
) -> Outcome {
    /// In a frame of its own, which is large: the seed's would lie below what is scrubbed.
    #[inline(never)]
    fn work<P: ParameterSet>(seed: &[u8; 64], dk: &mut P::DecapsulationKeyBytes) {
        DecapsulationKey::<P>::encoded_from_seed(seed, dk);
    }
    let ek = border.write::<P::EncapsulationKeyBytes>(ek)?.as_mut();
    let dk = border.write::<P::DecapsulationKeyBytes>(dk)?;
    let mut seed = Secret::new([0; 64]);
    draw(border, randomness, seed.expose_mut())?;
    work::<P>(seed.expose(), dk);
    // ek stands after dk_PKE, which is as long as its t̂.
    ek.copy_from_slice(&dk.as_ref()[ek.len() - 32..][..ek.len()]);
    Ok(())
}

/// The key of a set, and the calls that have no schedule.
macro_rules! mlkem_key {
    ($module:ident, $set:ty, $text:literal, $name:literal, $key:ident) => {
        #[doc = concat!(" A decapsulation key of ", $text, " in 96 bytes, for both schedules: its seed and the hash of its public half. Each use makes the")]
        /// rest again. Secret: to be wiped. It may be copied.
        #[repr(C)]
        #[derive(Debug)]
        pub struct $key {
            /// The library's.
            pub opaque: [u8; 96],
        }

        // SAFETY: asserted below; a `DecapsulationKey` is a seed and a hash, in one order for both schedules.
        unsafe impl Key for DecapsulationKey<Compact<$set>> {
            type Object = $key;
        }

        // SAFETY: as above.
        unsafe impl Key for DecapsulationKey<Small<$set>> {
            type Object = $key;
        }

        const _: () = {
            type Fast = DecapsulationKey<Compact<$set>>;
            type Least = DecapsulationKey<Small<$set>>;
            assert!(size_of::<Fast>() == 96 && align_of::<Fast>() == 1);
            assert!(size_of::<Least>() == 96 && align_of::<Least>() == 1);
        };

        #[doc = concat!("Calls of ", $text, " for both schedules.")]
        pub mod $module {
            use super::*;

            door! {
                /// Copies out the seed of a key: 64 secret bytes to store.
                ///
                /// Errors: NULL, OVERLAP.
                /// cbindgen:ptrs-as-arrays=[[seed; GAMBESON_MLKEM_SEED_BYTES]]
                $name "_key_seed" => key_seed(key: *const $key, seed: *mut u8), |border| {
                    let key = border.key::<DecapsulationKey<Compact<$set>>>(key)?;
                    *border.write(seed)? = *key.seed().ok_or(gambeson_error::Key)?.expose();
                    Ok(())
                }
            }

            door! {
                /// Checks that the bytes are an encapsulation key. The encapsulation checks it, too.
                ///
                /// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
                $name "_check_ek" => check_ek(ek: *const u8, ek_len: usize), |border| {
                    let ek = border.read_exactly(ek, ek_len)?;
                    EncapsulationKeyRef::<$set>::from_ref(ek).map(drop).map_err(|_| gambeson_error::Key)
                }
            }

            door! {
                /// Checks that the bytes are a decapsulation key. The decapsulation checks it, too.
                ///
                /// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
                $name "_check_dk" => check_dk(dk: *const u8, dk_len: usize), |border| {
                    let dk = border.read_exactly::<<$set as ParameterSet>::DecapsulationKeyBytes>(dk, dk_len)?;
                    DecapsulationKeyRef::<$set>::from_ref(dk).map(drop).map_err(|_| gambeson_error::Key)
                }
            }
        }
    };
}

/// The calls of a set in one schedule.
macro_rules! mlkem {
    ($module:ident, $set:ty, $held:ty, $text:literal, $name:literal, $sizes:literal, $key:ident) => {
        #[doc = concat!("Calls of ", $text, ".")]
        pub mod $module {
            use super::*;

            door! {
                /// Makes a key of 64 bytes of randomness, the seed d ‖ z: the private half in `key`, the public half in `ek` unless that is null.
                /// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
                ///
                /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
                /// OVERLAP, RANDOM, STATE, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES]]")]
                $name "_key_generate" => key_generate(key: *mut $key, ek: *mut u8, randomness: *const gambeson_randomness), |border| {
                    make::<$held, _>(border, (key, ek), randomness)
                }
            }

            door! {
                /// Makes the public half of a key again.
                ///
                /// Errors: NULL, OVERLAP.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES]]")]
                $name "_key_public" => key_public(key: *const $key, ek: *mut u8), |border| {
                    let key = border.key::<DecapsulationKey<$held>>(key)?;
                    key.encapsulation_key_into(border.write(ek)?);
                    Ok(())
                }
            }

            door! {
                /// Makes the shared secret that a ciphertext carries. A ciphertext that no encapsulation made is no error: its secret is one that
                /// nobody else knows.
                ///
                /// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
                /// cbindgen:ptrs-as-arrays=[[shared; GAMBESON_MLKEM_SHARED_BYTES]]
                $name "_key_decapsulate" => key_decapsulate(key: *const $key, shared: *mut u8, ciphertext: *const u8, ciphertext_len: usize), |border| {
                    let key = border.key::<DecapsulationKey<$held>>(key)?;
                    let c = border.read_exactly(ciphertext, ciphertext_len)?;
                    key.decapsulate_into(c, border.write_secret(shared)?);
                    Ok(())
                }
            }

            door! {
                /// Makes a shared secret of 32 bytes of randomness, and the ciphertext that carries it to the holder of the private half.
                /// GAMBESON_RANDOMNESS_BYTES gives the coins, which must be random, secret and used once.
                ///
                /// FIPS 203, Algorithm 20 (ML-KEM.Encaps); of given coins Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP,
                /// KEY, RANDOM, STATE, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ciphertext; GAMBESON_", $sizes, "_CIPHERTEXT_BYTES], [shared; GAMBESON_MLKEM_SHARED_BYTES]]")]
                $name "_encapsulate" => encapsulate(
                    ciphertext: *mut u8, shared: *mut u8, ek: *const u8, ek_len: usize, randomness: *const gambeson_randomness
                ), |border| {
                    super::encapsulate::<$set>(border, (ciphertext, shared), (ek, ek_len), randomness)
                }
            }

            door! {
                /// Does what `_key_decapsulate` does, with a key in the form of FIPS 203, which is checked first.
                ///
                /// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
                /// cbindgen:ptrs-as-arrays=[[shared; GAMBESON_MLKEM_SHARED_BYTES]]
                $name "_decapsulate" => decapsulate(shared: *mut u8, ciphertext: *const u8, ciphertext_len: usize, dk: *const u8, dk_len: usize), |border| {
                    super::decapsulate::<$set>(border, shared, (ciphertext, ciphertext_len), (dk, dk_len))
                }
            }
        }
    };
}

/// The calls that work in memory of C's.
macro_rules! mlkem_in_workspace {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal, $key:ident, $workspace:ident, $bytes:ident) => {
        #[doc = concat!(" Memory for the calls of ", $text, " that end in `_in`, in place of the stack. It need not be initialised; the calls wipe it.")]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $workspace {
            /// The library's.
            pub opaque: [u64; 230],
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
                /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES]]")]
                $name "_key_generate_in" [FRAMES_IN] => key_generate_in(
                    key: *mut $key, ek: *mut u8, randomness: *const gambeson_randomness, workspace: *mut $workspace
                ), |border| {
                    make_in::<$set, _, _>(border, (key, ek), randomness, workspace)
                }
            }

            door! {
                /// Does what `_key_public` does, in a workspace.
                ///
                /// Errors: NULL, OVERLAP, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES]]")]
                $name "_key_public_in" [FRAMES_IN] => key_public_in(key: *const $key, ek: *mut u8, workspace: *mut $workspace), |border| {
                    let key = border.key::<DecapsulationKey<Small<$set>>>(key)?;
                    key.encapsulation_key_in(border.write(ek)?, Workspace::at(border.place(workspace)?));
                    Ok(())
                }
            }

            door! {
                /// Does what `_key_decapsulate` does, in a workspace.
                ///
                /// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, STATE.
                /// cbindgen:ptrs-as-arrays=[[shared; GAMBESON_MLKEM_SHARED_BYTES]]
                $name "_key_decapsulate_in" [FRAMES_IN] => key_decapsulate_in(
                    key: *const $key, shared: *mut u8, ciphertext: *const u8, ciphertext_len: usize, workspace: *mut $workspace
                ), |border| {
                    let key = border.key::<DecapsulationKey<Small<$set>>>(key)?;
                    let c = border.read_exactly(ciphertext, ciphertext_len)?;
                    let shared = border.write_secret(shared)?;
                    key.decapsulate_in(c, shared, Workspace::at(border.place(workspace)?));
                    Ok(())
                }
            }

            door! {
                /// Does what `_encapsulate` does, in a workspace.
                ///
                /// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM, STATE, DESCRIPTOR.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ciphertext; GAMBESON_", $sizes, "_CIPHERTEXT_BYTES], [shared; GAMBESON_MLKEM_SHARED_BYTES]]")]
                $name "_encapsulate_in" [FRAMES_IN] => encapsulate_in(
                    ciphertext: *mut u8, shared: *mut u8, ek: *const u8, ek_len: usize, randomness: *const gambeson_randomness,
                    workspace: *mut $workspace
                ), |border| {
                    super::encapsulate_in::<$set, _>(border, (ciphertext, shared), (ek, ek_len), randomness, workspace)
                }
            }

            door! {
                /// Does what `_decapsulate` does, in a workspace.
                ///
                /// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
                /// cbindgen:ptrs-as-arrays=[[shared; GAMBESON_MLKEM_SHARED_BYTES]]
                $name "_decapsulate_in" [FRAMES_IN] => decapsulate_in(
                    shared: *mut u8, ciphertext: *const u8, ciphertext_len: usize, dk: *const u8, dk_len: usize, workspace: *mut $workspace
                ), |border| {
                    super::decapsulate_in::<$set, _>(border, shared, (ciphertext, ciphertext_len), (dk, dk_len), workspace)
                }
            }
        }
    };
}

/// The call that takes the heap.
#[cfg(feature = "std")]
macro_rules! mlkem_hosted {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal) => {
        #[doc = concat!("Calls of ", $text, " that take the heap.")]
        pub mod $module {
            use super::*;

            door! {
                /// Makes both keys in the forms of FIPS 203, of 64 bytes of randomness, the seed d ‖ z.
                ///
                /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
                /// OVERLAP, RANDOM, STATE, DESCRIPTOR.
                /// cbindgen:prefix=GAMBESON_HOSTED
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES], [dk; GAMBESON_", $sizes, "_DK_BYTES]]")]
                $name "_keypair" => keypair(ek: *mut u8, dk: *mut u8, randomness: *const gambeson_randomness), |border| {
                    super::keypair::<$set>(border, (ek, dk), randomness)
                }
            }
        }
    };
}

/// What the header defines, held against the core.
macro_rules! sizes {
    ($set:ty, $ek:ident, $dk:ident, $c:ident) => {
        const _: () = {
            assert!(<$set as ParameterSet>::EncapsulationKeyBytes::LEN == crate::sizes::$ek);
            assert!(<$set as ParameterSet>::DecapsulationKeyBytes::LEN == crate::sizes::$dk);
            assert!(<$set as ParameterSet>::Ciphertext::LEN == crate::sizes::$c);
        };
    };
}

mlkem_key! { mlkem512_key, MlKem512, "ML-KEM-512", "mlkem512", gambeson_mlkem512_key }
mlkem_key! { mlkem768_key, MlKem768, "ML-KEM-768", "mlkem768", gambeson_mlkem768_key }
mlkem_key! { mlkem1024_key, MlKem1024, "ML-KEM-1024", "mlkem1024", gambeson_mlkem1024_key }
mlkem! { mlkem512, MlKem512, Compact<MlKem512>, "ML-KEM-512", "mlkem512", "MLKEM512", gambeson_mlkem512_key }
mlkem! { mlkem768, MlKem768, Compact<MlKem768>, "ML-KEM-768", "mlkem768", "MLKEM768", gambeson_mlkem768_key }
mlkem! { mlkem1024, MlKem1024, Compact<MlKem1024>, "ML-KEM-1024", "mlkem1024", "MLKEM1024", gambeson_mlkem1024_key }
#[cfg(feature = "std")]
mlkem_hosted! { mlkem512_hosted, MlKem512, "ML-KEM-512", "mlkem512", "MLKEM512" }
#[cfg(feature = "std")]
mlkem_hosted! { mlkem768_hosted, MlKem768, "ML-KEM-768", "mlkem768", "MLKEM768" }
#[cfg(feature = "std")]
mlkem_hosted! { mlkem1024_hosted, MlKem1024, "ML-KEM-1024", "mlkem1024", "MLKEM1024" }
mlkem! { small_mlkem512, Small<MlKem512>, Small<MlKem512>, "ML-KEM-512 in the least memory", "small_mlkem512", "MLKEM512", gambeson_mlkem512_key }
mlkem! { small_mlkem768, Small<MlKem768>, Small<MlKem768>, "ML-KEM-768 in the least memory", "small_mlkem768", "MLKEM768", gambeson_mlkem768_key }
mlkem! { small_mlkem1024, Small<MlKem1024>, Small<MlKem1024>, "ML-KEM-1024 in the least memory", "small_mlkem1024", "MLKEM1024", gambeson_mlkem1024_key }
mlkem_in_workspace! { small_mlkem512_in, MlKem512, "ML-KEM-512 in the least memory", "small_mlkem512", "MLKEM512", gambeson_mlkem512_key, gambeson_small_mlkem512_workspace, GAMBESON_SMALL_MLKEM512_WORKSPACE_BYTES }
mlkem_in_workspace! { small_mlkem768_in, MlKem768, "ML-KEM-768 in the least memory", "small_mlkem768", "MLKEM768", gambeson_mlkem768_key, gambeson_small_mlkem768_workspace, GAMBESON_SMALL_MLKEM768_WORKSPACE_BYTES }
mlkem_in_workspace! { small_mlkem1024_in, MlKem1024, "ML-KEM-1024 in the least memory", "small_mlkem1024", "MLKEM1024", gambeson_mlkem1024_key, gambeson_small_mlkem1024_workspace, GAMBESON_SMALL_MLKEM1024_WORKSPACE_BYTES }

sizes! { MlKem512, GAMBESON_MLKEM512_EK_BYTES, GAMBESON_MLKEM512_DK_BYTES, GAMBESON_MLKEM512_CIPHERTEXT_BYTES }
sizes! { MlKem768, GAMBESON_MLKEM768_EK_BYTES, GAMBESON_MLKEM768_DK_BYTES, GAMBESON_MLKEM768_CIPHERTEXT_BYTES }
sizes! { MlKem1024, GAMBESON_MLKEM1024_EK_BYTES, GAMBESON_MLKEM1024_DK_BYTES, GAMBESON_MLKEM1024_CIPHERTEXT_BYTES }
