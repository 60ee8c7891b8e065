//! ML-KEM: what a call does, for every set; and the calls, set by set.
#![expect(unsafe_code, reason = "the calls come from C")]

use gambeson::mlkem::{
    DecapsulationKey, DecapsulationKeyRef, EncapsulationKeyRef, MlKem512, MlKem768, MlKem1024, ParameterSet,
};
use gambeson::{Bytes, Compact, Small, Workspace};

use crate::border::{Border, Key, door};
use crate::error::gambeson_error;
use crate::random::Source;

type Outcome = Result<(), gambeson_error>;

/// Makes a key in C's object and, where C wants it, its public half.
pub fn make<P: ParameterSet, O>(border: &Border, key: *mut O, ek: *mut u8, source: Source<'_>) -> Outcome
where
    DecapsulationKey<P>: Key<Object = O>,
{
    let key = border.place::<DecapsulationKey<P>>(key)?;
    let ek = if ek.is_null() { None } else { Some(border.write::<P::EncapsulationKeyBytes>(ek)?) };
    let seed = source.draw()?;
    key.write(match ek {
        Some(ek) => DecapsulationKey::from_seed_into(seed.expose(), ek),
        None => DecapsulationKey::from_seed(seed.expose()),
    });
    Ok(())
}

/// Encapsulates. Randomness is drawn last, so that none is for a call that fails.
pub fn encapsulate<P: ParameterSet>(
    border: &Border,
    (c, shared): (*mut u8, *mut u8),
    (ek, ek_len): (*const u8, usize),
    source: Source<'_>,
) -> Outcome {
    let ek = border.read_exactly::<P::EncapsulationKeyBytes>(ek, ek_len)?;
    let c = border.write::<P::Ciphertext>(c)?;
    let shared = border.write_secret(shared)?;
    let ek = EncapsulationKeyRef::<P>::from_ref(ek).map_err(|_| gambeson_error::Key)?;
    ek.encapsulate_deterministic_into(source.draw()?.expose(), c, shared);
    Ok(())
}

/// Makes a key as [`make`] does, in a workspace.
pub fn make_in<P: ParameterSet, O, W>(
    border: &Border,
    (key, ek): (*mut O, *mut u8),
    seed: *const u8,
    workspace: *mut W,
) -> Outcome
where
    DecapsulationKey<Small<P>>: Key<Object = O>,
    Workspace<P>: Key<Object = W>,
{
    let key = border.place::<DecapsulationKey<Small<P>>>(key)?;
    let ek = if ek.is_null() { None } else { Some(border.write::<P::EncapsulationKeyBytes>(ek)?) };
    let seed = border.read::<[u8; 64]>(seed)?;
    key.write(DecapsulationKey::from_seed_in(seed, ek, Workspace::at(border.place(workspace)?)));
    Ok(())
}

/// Makes both keys in the forms of FIPS 203.
#[cfg(feature = "std")]
pub fn keypair<P: ParameterSet>(border: &Border, ek: *mut u8, dk: *mut u8, source: Source<'_>) -> Outcome {
    /// In a frame of its own, which is large: the seed's would lie below what is scrubbed.
    #[inline(never)]
    fn work<P: ParameterSet>(seed: &[u8; 64], dk: &mut P::DecapsulationKeyBytes) {
        DecapsulationKey::<P>::encoded_from_seed(seed, dk);
    }
    let ek = border.write::<P::EncapsulationKeyBytes>(ek)?.as_mut();
    let dk = border.write::<P::DecapsulationKeyBytes>(dk)?;
    work::<P>(source.draw()?.expose(), dk);
    // ek stands after dk_PKE, which is as long as its t̂.
    ek.copy_from_slice(&dk.as_ref()[ek.len() - 32..][..ek.len()]);
    Ok(())
}

macro_rules! mlkem {
    ($module:ident, $set:ty, $held:ty, $text:literal, $name:literal, $sizes:literal, $key:ident) => {
        #[doc = concat!(" A decapsulation key of ", $text, " in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;")]
        /// may be copied; to be wiped.
        #[repr(C)]
        #[derive(Debug)]
        pub struct $key {
            /// Nobody else's.
            pub opaque: [u8; 96],
        }

        // SAFETY: asserted below; a `DecapsulationKey` is a seed and a hash.
        unsafe impl Key for DecapsulationKey<$held> {
            type Object = $key;
        }

        const _: () = {
            assert!(size_of::<DecapsulationKey<$held>>() == 96 && align_of::<DecapsulationKey<$held>>() == 1);
        };

        #[doc = concat!("Calls of ", $text, ".")]
        pub mod $module {
            use core::ffi::c_void;

            use super::*;
            use crate::random::gambeson_fill;

            door! {
                /// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `ek` unless
                /// that is null.
                ///
                /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES]]")]
                $name "_key_generate" => key_generate(key: *mut $key, ek: *mut u8), |border| {
                    make::<$held, _>(border, key, ek, Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 64 bytes are asked for, once.
                ///
                /// Errors: NULL, OVERLAP, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES]]")]
                $name "_key_generate_with" => key_generate_with(key: *mut $key, ek: *mut u8, fill: gambeson_fill, fill_ctx: *mut c_void), |border| {
                    make::<$held, _>(border, key, ek, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The key of a seed d ‖ z, which is random or was stored.
                ///
                /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES], [seed; GAMBESON_MLKEM_SEED_BYTES]]")]
                $name "_key_from_seed" => key_from_seed(key: *mut $key, ek: *mut u8, seed: *const u8), |border| {
                    make::<$held, _>(border, key, ek, Source::Given(border.read::<[u8; 64]>(seed)?))
                }
            }

            door! {
                /// The seed of a key: what to store, in secret.
                ///
                /// Errors: NULL, OVERLAP.
                /// cbindgen:ptrs-as-arrays=[[seed; GAMBESON_MLKEM_SEED_BYTES]]
                $name "_key_seed" => key_seed(key: *const $key, seed: *mut u8), |border| {
                    let key = border.key::<DecapsulationKey<$held>>(key)?;
                    *border.write(seed)? = *key.seed().ok_or(gambeson_error::Key)?.expose();
                    Ok(())
                }
            }

            door! {
                /// The public half of a key, made again.
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
                /// The shared secret that a ciphertext carries. One that no encapsulation made is no error: it gives a secret that nobody else
                /// knows.
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
                /// Whether these are the bytes of an encapsulation key. `encapsulate` asks that itself.
                ///
                /// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
                $name "_check_ek" => check_ek(ek: *const u8, ek_len: usize), |border| {
                    let ek = border.read_exactly(ek, ek_len)?;
                    EncapsulationKeyRef::<$set>::from_ref(ek).map(drop).map_err(|_| gambeson_error::Key)
                }
            }

            door! {
                /// A fresh shared secret for the holder of the private half, and the ciphertext that carries it there, with the operating
                /// system's randomness, or the port's.
                ///
                /// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ciphertext; GAMBESON_", $sizes, "_CIPHERTEXT_BYTES], [shared; GAMBESON_MLKEM_SHARED_BYTES]]")]
                $name "_encapsulate" => encapsulate(ciphertext: *mut u8, shared: *mut u8, ek: *const u8, ek_len: usize), |border| {
                    super::encapsulate::<$set>(border, (ciphertext, shared), (ek, ek_len), Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 32 bytes are asked for, once.
                ///
                /// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ciphertext; GAMBESON_", $sizes, "_CIPHERTEXT_BYTES], [shared; GAMBESON_MLKEM_SHARED_BYTES]]")]
                $name "_encapsulate_with" => encapsulate_with(ciphertext: *mut u8, shared: *mut u8, ek: *const u8, ek_len: usize, fill: gambeson_fill, fill_ctx: *mut c_void), |border| {
                    let source = Source::Caller(fill, fill_ctx);
                    super::encapsulate::<$set>(border, (ciphertext, shared), (ek, ek_len), source)
                }
            }

            door! {
                /// The same with coins, which must be random, secret and used once.
                ///
                /// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ciphertext; GAMBESON_", $sizes, "_CIPHERTEXT_BYTES], [shared; GAMBESON_MLKEM_SHARED_BYTES], [coins; GAMBESON_MLKEM_COINS_BYTES]]")]
                $name "_encapsulate_deterministic" => encapsulate_deterministic(ciphertext: *mut u8, shared: *mut u8, ek: *const u8, ek_len: usize, coins: *const u8), |border| {
                    let source = Source::Given(border.read::<[u8; 32]>(coins)?);
                    super::encapsulate::<$set>(border, (ciphertext, shared), (ek, ek_len), source)
                }
            }

            door! {
                /// Whether these are the bytes of a decapsulation key. `decapsulate` asks that itself.
                ///
                /// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
                $name "_check_dk" => check_dk(dk: *const u8, dk_len: usize), |border| {
                    let dk = border.read_exactly::<<$set as ParameterSet>::DecapsulationKeyBytes>(dk, dk_len)?;
                    DecapsulationKeyRef::<$set>::from_ref(dk).map(drop).map_err(|_| gambeson_error::Key)
                }
            }

            door! {
                /// `key_decapsulate` for a key in the form of FIPS 203, which is checked first.
                ///
                /// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
                /// cbindgen:ptrs-as-arrays=[[shared; GAMBESON_MLKEM_SHARED_BYTES]]
                $name "_decapsulate" => decapsulate(shared: *mut u8, ciphertext: *const u8, ciphertext_len: usize, dk: *const u8, dk_len: usize), |border| {
                    let c = border.read_exactly(ciphertext, ciphertext_len)?;
                    let dk = border.read_exactly::<<$set as ParameterSet>::DecapsulationKeyBytes>(dk, dk_len)?;
                    let shared = border.write_secret(shared)?;
                    let key = DecapsulationKeyRef::<$set>::from_ref(dk).map_err(|_| gambeson_error::Key)?;
                    key.decapsulate_into(c, shared);
                    Ok(())
                }
            }
        }
    };
}

/// What works in memory of C's.
macro_rules! mlkem_in_workspace {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal, $key:ident, $workspace:ident, $bytes:ident) => {
        #[doc = concat!(" Memory in which calls of ", $text, " work that end in `_in`, instead of on the stack. It need not be initialised, and is")]
        /// wiped before they return.
        #[repr(C)]
        #[derive(Debug)]
        pub struct $workspace {
            /// Nobody else's.
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
                /// `_key_from_seed` in a workspace.
                ///
                /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES], [seed; GAMBESON_MLKEM_SEED_BYTES]]")]
                $name "_key_from_seed_in" [FRAMES_IN] => key_from_seed_in(key: *mut $key, ek: *mut u8, seed: *const u8, workspace: *mut $workspace), |border| {
                    make_in::<$set, _, _>(border, (key, ek), seed, workspace)
                }
            }

            door! {
                /// `_key_public` in a workspace.
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
                /// `_key_decapsulate` in a workspace.
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
                /// `_encapsulate_deterministic` in a workspace.
                ///
                /// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ciphertext; GAMBESON_", $sizes, "_CIPHERTEXT_BYTES], [shared; GAMBESON_MLKEM_SHARED_BYTES], [coins; GAMBESON_MLKEM_COINS_BYTES]]")]
                $name "_encapsulate_deterministic_in" [FRAMES_IN] => encapsulate_deterministic_in(
                    ciphertext: *mut u8, shared: *mut u8, ek: *const u8, ek_len: usize, coins: *const u8, workspace: *mut $workspace
                ), |border| {
                    let (c, shared) = (border.write(ciphertext)?, border.write_secret(shared)?);
                    let (ek, m) = (border.read_exactly(ek, ek_len)?, border.read(coins)?);
                    let ek = EncapsulationKeyRef::<Small<$set>>::from_ref(ek).map_err(|_| gambeson_error::Key)?;
                    ek.encapsulate_deterministic_in(m, c, shared, Workspace::at(border.place(workspace)?));
                    Ok(())
                }
            }

            door! {
                /// `_decapsulate` in a workspace.
                ///
                /// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
                /// cbindgen:ptrs-as-arrays=[[shared; GAMBESON_MLKEM_SHARED_BYTES]]
                $name "_decapsulate_in" [FRAMES_IN] => decapsulate_in(
                    shared: *mut u8, ciphertext: *const u8, ciphertext_len: usize, dk: *const u8, dk_len: usize, workspace: *mut $workspace
                ), |border| {
                    let c = border.read_exactly::<<$set as ParameterSet>::Ciphertext>(ciphertext, ciphertext_len)?;
                    let dk = border.read_exactly::<<$set as ParameterSet>::DecapsulationKeyBytes>(dk, dk_len)?;
                    let shared = border.write_secret(shared)?;
                    let workspace = Workspace::at(border.place::<Workspace<$set>>(workspace)?);
                    let key = DecapsulationKeyRef::<Small<$set>>::from_ref_in(dk, workspace).map_err(|_| gambeson_error::Key)?;
                    key.decapsulate_in(c, shared, workspace);
                    Ok(())
                }
            }
        }
    };
}

/// What takes the heap.
#[cfg(feature = "std")]
macro_rules! mlkem_hosted {
    ($module:ident, $set:ty, $text:literal, $name:literal, $sizes:literal) => {
        #[doc = concat!("Calls of ", $text, " that take the heap.")]
        pub mod $module {
            use core::ffi::c_void;

            use super::*;
            use crate::random::gambeson_fill;

            door! {
                /// New keys in the forms of FIPS 203, with the operating system's randomness.
                ///
                /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
                /// cbindgen:prefix=GAMBESON_HOSTED
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES], [dk; GAMBESON_", $sizes, "_DK_BYTES]]")]
                $name "_keypair" => keypair(ek: *mut u8, dk: *mut u8), |border| {
                    super::keypair::<$set>(border, ek, dk, Source::System)
                }
            }

            door! {
                /// The same with the caller's randomness: 64 bytes are asked for, once.
                ///
                /// Errors: NULL, OVERLAP, RANDOM.
                /// cbindgen:prefix=GAMBESON_HOSTED
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES], [dk; GAMBESON_", $sizes, "_DK_BYTES]]")]
                $name "_keypair_with" => keypair_with(ek: *mut u8, dk: *mut u8, fill: gambeson_fill, fill_ctx: *mut c_void), |border| {
                    super::keypair::<$set>(border, ek, dk, Source::Caller(fill, fill_ctx))
                }
            }

            door! {
                /// The keys of a seed d ‖ z in the forms of FIPS 203.
                ///
                /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
                /// cbindgen:prefix=GAMBESON_HOSTED
                #[doc = concat!("cbindgen:ptrs-as-arrays=[[ek; GAMBESON_", $sizes, "_EK_BYTES], [dk; GAMBESON_", $sizes, "_DK_BYTES], [seed; GAMBESON_MLKEM_SEED_BYTES]]")]
                $name "_keypair_from_seed" => keypair_from_seed(ek: *mut u8, dk: *mut u8, seed: *const u8), |border| {
                    super::keypair::<$set>(border, ek, dk, Source::Given(border.read::<[u8; 64]>(seed)?))
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

mlkem! { mlkem512, MlKem512, Compact<MlKem512>, "ML-KEM-512", "mlkem512", "MLKEM512", gambeson_mlkem512_key }
mlkem! { mlkem768, MlKem768, Compact<MlKem768>, "ML-KEM-768", "mlkem768", "MLKEM768", gambeson_mlkem768_key }
mlkem! { mlkem1024, MlKem1024, Compact<MlKem1024>, "ML-KEM-1024", "mlkem1024", "MLKEM1024", gambeson_mlkem1024_key }
#[cfg(feature = "std")]
mlkem_hosted! { mlkem512_hosted, MlKem512, "ML-KEM-512", "mlkem512", "MLKEM512" }
#[cfg(feature = "std")]
mlkem_hosted! { mlkem768_hosted, MlKem768, "ML-KEM-768", "mlkem768", "MLKEM768" }
#[cfg(feature = "std")]
mlkem_hosted! { mlkem1024_hosted, MlKem1024, "ML-KEM-1024", "mlkem1024", "MLKEM1024" }
mlkem! { small_mlkem512, Small<MlKem512>, Small<MlKem512>, "ML-KEM-512 in the least memory", "small_mlkem512", "MLKEM512", gambeson_small_mlkem512_key }
mlkem! { small_mlkem768, Small<MlKem768>, Small<MlKem768>, "ML-KEM-768 in the least memory", "small_mlkem768", "MLKEM768", gambeson_small_mlkem768_key }
mlkem! { small_mlkem1024, Small<MlKem1024>, Small<MlKem1024>, "ML-KEM-1024 in the least memory", "small_mlkem1024", "MLKEM1024", gambeson_small_mlkem1024_key }
mlkem_in_workspace! { small_mlkem512_in, MlKem512, "ML-KEM-512 in the least memory", "small_mlkem512", "MLKEM512", gambeson_small_mlkem512_key, gambeson_small_mlkem512_workspace, GAMBESON_SMALL_MLKEM512_WORKSPACE_BYTES }
mlkem_in_workspace! { small_mlkem768_in, MlKem768, "ML-KEM-768 in the least memory", "small_mlkem768", "MLKEM768", gambeson_small_mlkem768_key, gambeson_small_mlkem768_workspace, GAMBESON_SMALL_MLKEM768_WORKSPACE_BYTES }
mlkem_in_workspace! { small_mlkem1024_in, MlKem1024, "ML-KEM-1024 in the least memory", "small_mlkem1024", "MLKEM1024", gambeson_small_mlkem1024_key, gambeson_small_mlkem1024_workspace, GAMBESON_SMALL_MLKEM1024_WORKSPACE_BYTES }

sizes! { MlKem512, GAMBESON_MLKEM512_EK_BYTES, GAMBESON_MLKEM512_DK_BYTES, GAMBESON_MLKEM512_CIPHERTEXT_BYTES }
sizes! { MlKem768, GAMBESON_MLKEM768_EK_BYTES, GAMBESON_MLKEM768_DK_BYTES, GAMBESON_MLKEM768_CIPHERTEXT_BYTES }
sizes! { MlKem1024, GAMBESON_MLKEM1024_EK_BYTES, GAMBESON_MLKEM1024_DK_BYTES, GAMBESON_MLKEM1024_CIPHERTEXT_BYTES }
