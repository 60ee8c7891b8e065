//! The schedule for the least memory, and where its variables stand.

#![allow(unsafe_code)] // Memory of the caller's becomes variables.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use zeroize::Zeroize;

use crate::secret::{Secret, StackGuard, clear_bytes, wipe};
use crate::sha3::Sponge;

/// A parameter set, worked in the order that takes the least stack: `DecapsulationKey<Small<MlKem768>>`.
///
/// The plain parameter set is worked in the order that takes the least time. Keys, ciphertexts and signatures are the same
/// bytes; one type or the other names its schedule, so that a program holds the code of those that it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Small<P>(PhantomData<P>);

/// A parameter set whose keys are small at rest: `DecapsulationKey<Compact<MlKem768>>` is 96 bytes, and its operations make the
/// rest again each time.
///
/// Keys, ciphertexts and signatures are the same bytes as those of the plain set, whose keys keep on the heap what operations
/// need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compact<P>(PhantomData<P>);

/// Memory of the caller's in which the operations of a [`Small`] parameter set work, so that of the stack they take the frames of
/// their functions alone: for systems that have little stack, and a heap of their own.
///
/// The doors are those that end in `_in`, of keys of `Small<P>`. One workspace does for all operations of `P`, one after the
/// other. It is all zeros before and after each of them, also after one that failed.
///
/// ```
/// use gambeson::mlkem::{DecapsulationKey, EncapsulationKeyRef, MlKem768, SharedSecret};
/// use gambeson::{Small, Workspace};
///
/// let mut workspace = Workspace::<MlKem768>::new();
/// let (mut ek, mut c) = ([0; 1184], [0; 1088]);
/// let [mut ours, mut theirs] = [const { SharedSecret::new([0; 32]) }; 2];
///
/// let dk = DecapsulationKey::<Small<MlKem768>>::from_seed_in(&[7; 64], Some(&mut ek), &mut workspace);
/// let key = EncapsulationKeyRef::<Small<MlKem768>>::from_ref(&ek)?;
/// key.encapsulate_deterministic_in(&[8; 32], &mut c, &mut theirs, &mut workspace);
/// dk.decapsulate_in(&c, &mut ours, &mut workspace);
/// assert_eq!(ours.expose(), theirs.expose());
/// # Ok::<(), gambeson::mlkem::InvalidEncapsulationKey>(())
/// ```
///
/// Bytes; and those of the stack below the door at most, on a Cortex-M4 (`cargo xtask firmware bench`), where the stack alone
/// would be up to 2.2 or 4.5 KB:
///
/// | | ML-KEM-512, -768, -1024 | ML-DSA-44 | ML-DSA-65 | ML-DSA-87 |
/// | --- | --- | --- | --- | --- |
/// | workspace, on 32-bit processors | 1840 | 2952 | 3600 | 3856 |
/// | stack | 640 | 832 | 832 | 832 |
#[repr(transparent)]
pub struct Workspace<P: Worked>(P::Words);

impl<P: Worked> Workspace<P> {
    /// A workspace, for a static or a field.
    #[must_use]
    pub const fn new() -> Self {
        Self(P::Words::ZERO)
    }

    /// A workspace in memory that is there, as an allocator gives it: unlike a move of [`new`](Self::new), this takes no stack.
    ///
    /// ```
    /// use gambeson::{Workspace, mldsa::MlDsa65};
    ///
    /// let mut memory = Box::<Workspace<MlDsa65>>::new_uninit();
    /// let workspace: &mut Workspace<MlDsa65> = Workspace::at(&mut memory);
    /// # _ = workspace;
    /// ```
    pub fn at(memory: &mut MaybeUninit<Self>) -> &mut Self {
        // SAFETY: as many bytes as a workspace has are written; integers that are zero are its value.
        unsafe {
            memory.as_mut_ptr().write_bytes(0, 1);
            memory.assume_init_mut()
        }
    }

    /// Does `work` in it, then wipes it, and `DEPTH` bytes of the stack. `work` must call a function that is not inlined.
    #[inline(always)]
    pub(crate) fn run<const DEPTH: usize, R>(&mut self, work: impl FnOnce(Borrowed<'_>) -> R) -> R {
        struct Wiped<'a>(&'a mut [u64]);
        impl Drop for Wiped<'_> {
            fn drop(&mut self) {
                wipe(self.0);
            }
        }
        let _guard = StackGuard::<DEPTH>;
        let words = Wiped(self.0.as_mut());
        work(Borrowed(words.0))
    }
}

impl<P: Worked> Default for Workspace<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Worked> fmt::Debug for Workspace<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}

/// A parameter set that has a workspace: each.
pub trait Worked {
    /// Its memory.
    type Words: Zero + AsMut<[u64]> + Send + Sync + 'static;
}

impl<P: Worked> Worked for Compact<P> {
    type Words = P::Words;
}

impl<P: Worked> Worked for Small<P> {
    type Words = P::Words;
}

/// What can be lent.
///
/// # Safety
///
/// A value whose bytes are all zero is [`ZERO`](Self::ZERO).
pub unsafe trait Zero {
    /// With all numbers zero.
    const ZERO: Self;
}

macro_rules! zero {
    ($($number:ty)*) => {$(
        // SAFETY: an integer.
        unsafe impl Zero for $number {
            const ZERO: Self = 0;
        }
    )*};
}
zero! { u8 i32 u32 u64 }

// SAFETY: this and what follows hold nothing else.
unsafe impl<T: Zero, const N: usize> Zero for [T; N] {
    const ZERO: Self = [const { T::ZERO }; N];
}

// SAFETY: as above.
unsafe impl<A: Zero, B: Zero> Zero for (A, B) {
    const ZERO: Self = (A::ZERO, B::ZERO);
}

// SAFETY: as above.
unsafe impl<A: Zero, B: Zero, C: Zero> Zero for (A, B, C) {
    const ZERO: Self = (A::ZERO, B::ZERO, C::ZERO);
}

// SAFETY: as above.
unsafe impl<T: Zero + Zeroize + 'static> Zero for Secret<T> {
    const ZERO: Self = Self::new(T::ZERO);
}

/// To be started.
// SAFETY: a sponge is integers.
unsafe impl Zero for Sponge {
    const ZERO: Self = Self::new(0);
}

/// Where the larger variables of an operation stand: one text of the algorithm, and no trace of this on the [`Stack`].
pub(crate) trait Memory: Sized {
    /// The same memory, for a part of the operation.
    type Part<'a>: Memory
    where
        Self: 'a;

    /// Lends all of it to a part.
    fn part(&mut self) -> Self::Part<'_>;

    /// Does `work` with a variable, and the memory that is left.
    fn lend<T: Zero, R>(self, work: impl FnOnce(&mut T, Self) -> R) -> R;
}

/// The stack of whoever lends.
pub(crate) struct Stack;

impl Memory for Stack {
    type Part<'a> = Self;

    #[inline(always)]
    fn part(&mut self) -> Self {
        Self
    }

    #[inline(always)]
    fn lend<T: Zero, R>(self, work: impl FnOnce(&mut T, Self) -> R) -> R {
        /// Aligned for whole words. Dropped, also where `work` does not end.
        #[repr(align(8))]
        struct Variable<T>(MaybeUninit<T>);
        impl<T> Drop for Variable<T> {
            fn drop(&mut self) {
                // SAFETY: it was written.
                unsafe { self.0.assume_init_drop() }
            }
        }
        let mut variable = Variable::<T>(MaybeUninit::uninit());
        // SAFETY: as many bytes as it has are written, and that makes it a `T`. Not `T::ZERO`, which would be the compiler's `memset`.
        let zero = unsafe {
            clear_bytes(variable.0.as_mut_ptr().cast(), size_of::<T>());
            variable.0.assume_init_mut()
        };
        work(zero, self)
    }
}

/// A workspace, or what is left of it. What was lent is wiped with the whole.
pub(crate) struct Borrowed<'w>(pub(crate) &'w mut [u64]);

impl<'w> Memory for Borrowed<'w> {
    type Part<'a>
        = Borrowed<'a>
    where
        'w: 'a;

    #[inline(always)]
    fn part(&mut self) -> Borrowed<'_> {
        Borrowed(self.0)
    }

    #[inline(always)]
    fn lend<T: Zero, R>(self, work: impl FnOnce(&mut T, Self) -> R) -> R {
        let skipped = if align_of::<T>() > 8 { self.0.as_ptr().align_offset(align_of::<T>()) } else { 0 };
        let (place, rest) = self.0[skipped..].split_at_mut((size_of::<T>() + 7) >> 3);
        let place: *mut T = place.as_mut_ptr().cast();
        // SAFETY: these words are as long as a `T` and aligned for one, they are nobody else's, and it is written first.
        let variable = unsafe {
            clear_bytes(place.cast(), size_of::<T>());
            &mut *place
        };
        work(variable, Borrowed(rest))
    }
}

/// Words that lending a `T` takes at most.
pub(crate) const fn words<T>() -> usize {
    let gap = if align_of::<T>() > 8 { (align_of::<T>() >> 3) - 1 } else { 0 };
    gap + ((size_of::<T>() + 7) >> 3)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::vec;

    use super::*;
    use crate::Bytes;
    use crate::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, SigningKey, VerifyingKeyRef};
    use crate::mlkem::{self, DecapsulationKey, MlKem512, MlKem768, MlKem1024, SharedSecret};

    impl<P: Worked> Workspace<P> {
        /// Whether it is wiped. Then something else stands in it, so that the next wiping is seen.
        fn is_wiped(&mut self) -> bool {
            let words = self.0.as_mut();
            let wiped = words.iter().all(|word| *word == 0);
            words.fill(0x5aa5_0ff0_1234_8765);
            wiped
        }
    }

    #[test]
    fn a_workspace_is_wiped_whatever_comes_out() {
        fn of_kem<P: mlkem::ParameterSet>() {
            let mut memory = MaybeUninit::uninit();
            let workspace = Workspace::<P>::at(&mut memory);
            assert!(workspace.is_wiped());
            let mut ek = P::EncapsulationKeyBytes::zeroed();
            let key = DecapsulationKey::<Small<P>>::from_seed_in(&[1; 64], None, workspace);
            assert!(workspace.is_wiped());
            key.encapsulation_key_in(&mut ek, workspace);
            assert!(workspace.is_wiped());
            _ = DecapsulationKey::<Small<P>>::from_seed_in(&[1; 64], Some(&mut ek), workspace);
            assert!(workspace.is_wiped());
            let (mut c, mut shared) = (P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
            let public = mlkem::EncapsulationKeyRef::<Small<P>>::from_ref(&ek).expect("a key");
            public.encapsulate_deterministic_in(&[2; 32], &mut c, &mut shared, workspace);
            assert!(workspace.is_wiped());
            key.decapsulate_in(&c, &mut shared, workspace);
            assert!(workspace.is_wiped());
            #[cfg(feature = "alloc")]
            {
                let mut dk = P::DecapsulationKeyBytes::zeroed();
                DecapsulationKey::<P>::encoded_from_seed(&[1; 64], &mut dk);
                let dk = dk.as_mut();
                let encoded =
                    mlkem::DecapsulationKeyRef::<Small<P>>::from_ref_in(dk, workspace).expect("a key");
                assert!(workspace.is_wiped());
                encoded.decapsulate_in(&c, &mut shared, workspace);
                assert!(workspace.is_wiped());
                // H(ek) is another.
                dk[P::DecapsulationKeyBytes::LEN - 40] ^= 1;
                let refused = mlkem::DecapsulationKeyRef::<Small<P>>::from_ref_in(dk, workspace).is_err();
                assert!(refused && workspace.is_wiped());
            }
        }
        fn of_signatures<P: mldsa::ParameterSet>() {
            let workspace = &mut Workspace::<P>::new();
            let (mut vk, mut signature) = (P::VerifyingKeyBytes::zeroed(), P::Signature::zeroed());
            let key = SigningKey::<Small<P>>::from_seed_in(&[1; 32], None, workspace);
            assert!(workspace.is_wiped());
            key.verifying_key_in(&mut vk, workspace);
            assert!(workspace.is_wiped());
            _ = SigningKey::<Small<P>>::from_seed_in(&[1; 32], Some(&mut vk), workspace);
            assert!(workspace.is_wiped());
            #[cfg(feature = "alloc")]
            {
                let mut sk = P::SigningKeyBytes::zeroed();
                SigningKey::<P>::encoded_from_seed(&[1; 32], &mut sk, &mut vk);
                let encoded = mldsa::SigningKeyRef::<Small<P>>::from_ref(sk.as_ref()).expect("a key");
                encoded.sign_with_rnd_in(&[0; 32], b"message", &mut signature, workspace);
                assert!(workspace.is_wiped());
            }
            key.sign_with_rnd_in(&[0; 32], b"message", &mut signature, workspace);
            assert!(workspace.is_wiped());
            let public = VerifyingKeyRef::<Small<P>>::from_ref(&vk);
            let mut verify = |signature: &[u8]| {
                let verdict = public.verify_in(b"message", signature, workspace);
                (verdict.is_ok(), workspace.is_wiped())
            };
            assert_eq!(verify(signature.as_ref()), (true, true));
            // Another challenge, a hint that is malformed, a length.
            signature.as_mut()[0] ^= 1;
            assert_eq!(verify(signature.as_ref()), (false, true));
            *signature.as_mut().last_mut().expect("bytes") = 0xff;
            assert_eq!(verify(signature.as_ref()), (false, true));
            assert_eq!(verify(&signature.as_ref()[1..]), (false, true));
        }
        of_kem::<MlKem512>();
        of_kem::<MlKem768>();
        of_kem::<MlKem1024>();
        of_signatures::<MlDsa44>();
        of_signatures::<MlDsa65>();
        of_signatures::<MlDsa87>();
    }

    #[test]
    #[cfg(panic = "unwind")]
    fn a_workspace_is_wiped_where_the_work_does_not_end() {
        use std::panic::{AssertUnwindSafe, catch_unwind};

        let mut workspace = Workspace::<MlKem768>::new();
        let work = |memory: Borrowed<'_>| {
            memory.lend(|words: &mut [u64; 9], _| {
                words.fill(7);
                panic!("planted");
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(|| workspace.run::<0, _>(work))).is_err());
        assert!(workspace.is_wiped());
    }

    /// The most words that `work` takes of so many, wherever in a line of 64 bytes its memory begins.
    pub(crate) fn most_words(room: usize, mut work: impl FnMut(Borrowed<'_>)) -> usize {
        const PAINT: u64 = 0x9669_a55a_c33c_f00f;
        let used = (0..8).map(|place| {
            let mut words = vec![PAINT; room + 15];
            let start = words.as_ptr().align_offset(64) + place;
            let words = &mut words[start..start + room];
            work(Borrowed(words));
            words.iter().rposition(|word| *word != PAINT).map_or(0, |last| last + 1)
        });
        used.max().expect("eight times")
    }
}
