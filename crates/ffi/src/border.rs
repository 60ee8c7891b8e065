//! Where C's pointers come in, and panics stop. All that is unsafe about arguments is here.
#![expect(unsafe_code, reason = "C hands in pointers")]
#![expect(clippy::mut_from_ref, reason = "`claim` sees to it that two references never meet")]

use core::cell::Cell;
use core::mem::MaybeUninit;

use gambeson::Bytes;
use gambeson::secret::{Secret, StackGuard};
use zeroize::Zeroize;

use crate::error::gambeson_error;

/// The frames of this interface, at most, and those of a hash: seeds on their way stand there, and digests. Below them, the core scrubs what
/// it used. On processors of 32 bits words are half as large, and a sponge's state has one form.
pub(crate) const FRAMES: usize = if cfg!(target_pointer_width = "64") { 1280 } else { 1024 };
/// The same for a call in a workspace: descriptors, a seed on its way.
pub(crate) const FRAMES_IN: usize = 384;

/// A function that C calls: its name in two parts, its arguments, its work; with a name for its frames, if they are not [`FRAMES`].
macro_rules! door {
    ($(#[$attribute:meta])* $set:literal $name:literal => $($rest:tt)*) => {
        $crate::border::door! { $(#[$attribute])* $set $name [FRAMES] => $($rest)* }
    };
    ($(#[$attribute:meta])* $set:literal $name:literal [$frames:ident] => $function:ident($($argument:ident: $type:ty),*), |$border:ident| $work:block) => {
        $(#[$attribute])*
        #[unsafe(export_name = concat!("gambeson_", $set, $name))]
        #[must_use]
        pub unsafe extern "C" fn $function($($argument: $type),*) -> $crate::error::gambeson_error {
            // SAFETY: the caller's promise, at the head of the header.
            unsafe { $crate::border::Border::call::<{ $crate::border::$frames }>(|$border| $work) }
        }
    };
}
pub(crate) use door;

/// The pointers of one call.
///
/// It refuses what overlaps where one of the two is written, so that no two references to one byte exist, whatever C hands in.
pub struct Border {
    regions: [Cell<Region>; REGIONS],
    count: Cell<usize>,
}

/// Pointers of one call, at most: two descriptors and what they name (message, context, bytes), key, signature, workspace.
const REGIONS: usize = 8;

#[derive(Clone, Copy)]
struct Region {
    start: usize,
    /// Twice the length, which is at most `isize::MAX`, and 1 if the region is written.
    tagged_len: usize,
}

const NOTHING: Region = Region { start: 0, tagged_len: 0 };

impl Border {
    /// Does the work of one call. A panic, which is a mistake of ours, becomes an error.
    ///
    /// # Safety
    /// Each pointer that `work` gives to the border is null, or names as many bytes as are asked for with it, which nobody else
    /// writes (or, if they are written, touches) before the call returns.
    pub unsafe fn call<const N: usize>(
        work: impl FnOnce(&Self) -> Result<(), gambeson_error>,
    ) -> gambeson_error {
        let border = Self { regions: [const { Cell::new(NOTHING) }; REGIONS], count: Cell::new(0) };
        let outcome = stopped(|| {
            let _guard = StackGuard::<N>;
            apart(work, &border)
        });
        outcome.err().unwrap_or(gambeson_error::None)
    }

    /// As many bytes as `B` has, if C says that there are so many.
    pub fn read_exactly<B: Bytes>(&self, start: *const u8, len: usize) -> Result<&B, gambeson_error> {
        self.claim_exactly(start.addr(), len, B::LEN)?;
        // SAFETY: `call`'s caller promised it; not null, `B` is an array of bytes, and nothing that is written overlaps it.
        Ok(unsafe { &*start.cast::<B>() })
    }

    /// Any number of bytes to read; null will do for none. Not inlined: one text for all calls.
    #[inline(never)]
    pub fn read_slice(&self, start: *const u8, len: usize) -> Result<&[u8], gambeson_error> {
        if len == 0 {
            return Ok(&[]);
        }
        self.claim(start.addr(), len, false)?;
        // SAFETY: `call`'s caller promised it; not null, no longer than an object can be, and nothing that is written overlaps it.
        Ok(unsafe { core::slice::from_raw_parts(start, len) })
    }

    /// `B::LEN` bytes to write.
    pub fn write<B: Bytes>(&self, start: *mut u8) -> Result<&mut B, gambeson_error> {
        self.claim(start.addr(), B::LEN, true)?;
        // SAFETY: `call`'s caller promised it; not null, `B` is an array of bytes, and nothing else of this call overlaps it.
        Ok(unsafe { &mut *start.cast::<B>() })
    }

    /// A shared secret to write.
    pub fn write_secret(&self, start: *mut u8) -> Result<&mut Secret<[u8; 32]>, gambeson_error> {
        self.claim(start.addr(), 32, true)?;
        // SAFETY: as for `write`; a `Secret` is what it holds, and one behind a reference is not dropped.
        Ok(unsafe { &mut *start.cast::<Secret<[u8; 32]>>() })
    }

    /// Any number of bytes to write; null will do for none.
    pub fn write_slice(&self, start: *mut u8, len: usize) -> Result<&mut [u8], gambeson_error> {
        if len == 0 {
            return Ok(&mut []);
        }
        self.claim(start.addr(), len, true)?;
        // SAFETY: as for `read_slice`, and nothing else of this call overlaps it.
        Ok(unsafe { core::slice::from_raw_parts_mut(start, len) })
    }

    /// A copy of a descriptor of C's.
    pub fn descriptor<D: Descriptor>(&self, descriptor: *const D) -> Result<D, gambeson_error> {
        if !descriptor.is_aligned() {
            return Err(gambeson_error::State);
        }
        self.claim(descriptor.addr(), size_of::<D>(), false)?;
        // SAFETY: `call`'s caller promised it; aligned, not null, and `Descriptor` promises that any bytes are one.
        Ok(unsafe { descriptor.read() })
    }

    /// A key that an earlier call put in C's object.
    pub fn key<K: Key>(&self, object: *const K::Object) -> Result<&K, gambeson_error> {
        self.claim(object.addr(), size_of::<K>(), false)?;
        // SAFETY: `call`'s caller promised it; `Key` promises that any bytes are one.
        Ok(unsafe { &*object.cast::<K>() })
    }

    /// The place for a key, or for a workspace. Where C's object is larger, as that of a workspace is on processors of 32 bits, its end is zeros.
    pub fn place<K: Key>(&self, object: *mut K::Object) -> Result<&mut MaybeUninit<K>, gambeson_error> {
        if !object.is_aligned() {
            return Err(gambeson_error::State);
        }
        self.claim(object.addr(), size_of::<K::Object>(), true)?;
        // SAFETY: `call`'s caller promised it; `Key` promises size and alignment, and nothing else of this call overlaps it.
        unsafe {
            object.cast::<u8>().add(size_of::<K>()).write_bytes(0, size_of::<K::Object>() - size_of::<K>());
            Ok(&mut *object.cast::<MaybeUninit<K>>())
        }
    }

    /// A context of C's.
    pub fn context<O: Object>(&self, object: *mut O) -> Result<&mut Context<O::Memory>, gambeson_error> {
        let context = object.cast::<Context<O::Memory>>();
        if !context.is_aligned() {
            return Err(gambeson_error::State);
        }
        self.claim(context.addr(), size_of::<O>(), true)?;
        // SAFETY: `call`'s caller promised it; aligned, any bytes are one, and nothing else of this call overlaps it.
        Ok(unsafe { &mut *context })
    }

    /// Notes a region to read whose length C says, unless it is another than `expected`.
    #[inline(never)]
    fn claim_exactly(&self, start: usize, len: usize, expected: usize) -> Result<(), gambeson_error> {
        if len != expected && start != 0 {
            return Err(gambeson_error::Length);
        }
        self.claim(start, expected, false)
    }

    /// Notes a region, unless it is null, no object, or overlaps another of which one is written.
    #[inline(never)]
    fn claim(&self, start: usize, len: usize, is_written: bool) -> Result<(), gambeson_error> {
        if start == 0 {
            return Err(gambeson_error::Null);
        }
        if len > isize::MAX as usize || start.checked_add(len).is_none() {
            return Err(gambeson_error::Length);
        }
        let tag = usize::from(is_written);
        let overlaps = |other: Region| {
            (other.tagged_len | tag) & 1 == 1
                && start < other.start + other.tagged_len / 2
                && other.start < start + len
        };
        if self.regions.iter().any(|other| overlaps(other.get())) {
            return Err(gambeson_error::Overlap);
        }
        let free = self.regions.get(self.count.get()).ok_or(gambeson_error::Internal)?;
        free.set(Region { start, tagged_len: 2 * len + tag });
        self.count.set(self.count.get() + 1);
        Ok(())
    }
}

/// In a frame of its own, which the guard above it scrubs.
#[inline(never)]
fn apart(
    work: impl FnOnce(&Border) -> Result<(), gambeson_error>,
    border: &Border,
) -> Result<(), gambeson_error> {
    work(border)
}

/// Stops a panic: it must not unwind into C.
#[cfg(feature = "std")]
pub fn stopped(work: impl FnOnce() -> Result<(), gambeson_error>) -> Result<(), gambeson_error> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(Err(gambeson_error::Internal))
}

/// On bare metal nothing unwinds.
#[cfg(not(feature = "std"))]
pub fn stopped(work: impl FnOnce() -> Result<(), gambeson_error>) -> Result<(), gambeson_error> {
    work()
}

/// A key that lies in an object of C's, or a workspace.
///
/// # Safety
/// `Self` is no larger than `Object` and aligned no more strictly, and any bytes are a valid `Self`.
pub unsafe trait Key: Sized {
    /// What C sees of it.
    type Object;
}

/// A structure of C's that says what a call is to work on.
///
/// # Safety
/// Whatever C writes into its members is a valid `Self`.
pub unsafe trait Descriptor: Copy {}

/// An object of C's for a hash that takes its input in pieces.
///
/// # Safety
/// `Self` and `Context<Self::Memory>` have one size and one alignment, and any bytes are a `Memory`.
pub unsafe trait Object {
    /// Where the value stands: words, behind one that tells what it is.
    type Memory: Zeroize;
}

/// What such an object is to us, aligned to 8.
#[repr(C)]
pub struct Context<M> {
    /// Which value is in it; 0, or anything else: none.
    tag: u64,
    value: M,
}

/// What a context can hold.
///
/// # Safety
/// No other type has this tag.
pub unsafe trait Held: Sized {
    /// Tells what is in a context; not a number that memory holds by chance.
    const TAG: u64;
}

impl<M: Zeroize> Context<M> {
    /// Puts a value in, whatever was there before.
    pub fn put<T: Held>(&mut self, value: T) {
        const { assert!(size_of::<T>() <= size_of::<M>() && align_of::<T>() <= align_of::<M>()) };
        self.tag = T::TAG;
        // SAFETY: large and aligned enough, as was just asserted.
        unsafe { (&raw mut self.value).cast::<T>().write(value) };
    }

    /// The value, if one of this type is in it.
    pub fn get<T: Held>(&mut self) -> Result<&mut T, gambeson_error> {
        if self.tag != T::TAG {
            return Err(gambeson_error::State);
        }
        // SAFETY: the tag says that `put` wrote such a value, which C has not touched, or copied whole.
        Ok(unsafe { &mut *(&raw mut self.value).cast::<T>() })
    }

    /// Wipes it: there is no value in it.
    pub fn wipe(&mut self) {
        self.tag = 0;
        self.value.zeroize();
    }
}
