//! Keys that are filled where they stand.
//!
//! A plain move of a key from a variable leaves a copy in the frame, above what a [`StackGuard`] scrubs.

#![allow(unsafe_code)] // The value is moved out of a variable, which is wiped then.

use core::hint::black_box;
use core::mem::ManuallyDrop;
use core::ptr;

use crate::secret::{StackGuard, clear_bytes};

/// A key that holds the form `F` of itself, and nothing else.
pub trait Holds<F> {
    /// The key with this form.
    fn of(form: F) -> Self;

    /// The form.
    fn form(&mut self) -> &mut F;
}

/// The key with what `fill` made of the form `empty`. The variable that it was made in is wiped, and so are the vector registers that the move
/// went through.
#[inline(always)]
pub fn filled<F, K: Holds<F>>(empty: F, fill: impl FnOnce(&mut F)) -> K {
    struct Moved<K>(ManuallyDrop<K>);

    impl<K> Drop for Moved<K> {
        fn drop(&mut self) {
            let start = &raw mut self.0;
            // SAFETY: the bytes are this variable's, whose value was moved out and is not used again.
            unsafe { clear_bytes(start.cast(), size_of::<K>()) };
            black_box(start);
        }
    }

    let _registers = StackGuard::<0>;
    let mut made = Moved(ManuallyDrop::new(K::of(empty)));
    fill(made.0.form());
    // SAFETY: a value that is not used again where it stands.
    unsafe { ptr::read(&*made.0) }
}
