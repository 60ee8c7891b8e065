//! A value that is made when it is needed for the second time.

#![allow(unsafe_code)] // An atomic pointer owns the value.

use core::fmt;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// The owner of a value: a count, which clones share.
#[cfg(target_has_atomic = "ptr")]
mod owner {
    use super::{AtomicPtr, Ordering};
    use alloc::sync::Arc;

    pub type Owner<T> = Arc<T>;

    pub fn into_raw<T>(value: T) -> *mut T {
        Arc::into_raw(Arc::new(value)).cast_mut()
    }

    /// # Safety
    /// The pointer came from `into_raw` or `share`, and is not used again.
    pub unsafe fn release<T>(value: *mut T) {
        // SAFETY: the caller's promise.
        drop(unsafe { Arc::from_raw(value) });
    }

    /// The pointer of a clone.
    ///
    /// # Safety
    /// The pointer came from `into_raw` or `share`, and is not released meanwhile.
    pub unsafe fn share<T>(value: *mut T) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { Arc::increment_strong_count(value) };
        value
    }

    pub fn exchange<T>(place: &AtomicPtr<T>, from: *mut T, to: *mut T) -> Result<*mut T, *mut T> {
        place.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// The owner on a processor without compare-and-exchange: each place has a value of its own, and a clone none. Of two threads that make the value at once
/// each has its own; the memory of the one that was stored first is never released.
#[cfg(not(target_has_atomic = "ptr"))]
mod owner {
    use super::{AtomicPtr, Ordering};
    use alloc::boxed::Box;

    pub type Owner<T> = Box<T>;

    pub fn into_raw<T>(value: T) -> *mut T {
        Box::into_raw(Box::new(value))
    }

    /// # Safety
    /// The pointer came from `into_raw`, and is not used again.
    pub unsafe fn release<T>(value: *mut T) {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(value) });
    }

    /// The pointer of a clone, which has no value.
    ///
    /// # Safety
    /// None is asked of the caller here.
    pub unsafe fn share<T>(_value: *mut T) -> *mut T {
        core::ptr::null_mut()
    }

    pub fn exchange<T>(place: &AtomicPtr<T>, from: *mut T, to: *mut T) -> Result<*mut T, *mut T> {
        match place.load(Ordering::Acquire) {
            found if found == from => {
                place.store(to, Ordering::Release);
                Ok(found)
            }
            found => Err(found),
        }
    }
}

/// A place for a value that is made at the second use, and shared by all clones that are made afterwards.
///
/// It is null at first, [`USED`](Self::USED) after the first use, and then the pointer of the value until it is dropped.
pub(crate) struct AtSecondUse<T> {
    place: AtomicPtr<T>,
    owned: PhantomData<owner::Owner<T>>,
}

impl<T> AtSecondUse<T> {
    /// A place that was not used yet.
    // A constant in place of a function: forms of keys have it as one.
    #[allow(clippy::declare_interior_mutable_const)]
    pub(crate) const NEW: Self = Self { place: AtomicPtr::new(ptr::null_mut()), owned: PhantomData };

    /// The address that stands for one use: no value of `T`, which is aligned to more than a byte, has it.
    const USED: *mut T = {
        assert!(align_of::<T>() > 1);
        ptr::without_provenance_mut(1)
    };

    /// The value, if it was made.
    pub(crate) fn get(&self) -> Option<&T> {
        self.of(self.place.load(Ordering::Acquire))
    }

    /// The pointer of the value, if it was made.
    fn pointer(&self) -> Option<*mut T> {
        let place = self.place.load(Ordering::Acquire);
        self.of(place).map(|_| place)
    }

    /// The value, which is made now if this is the second use.
    pub(crate) fn at_second_use(&self, make: impl FnOnce() -> T) -> Option<&T> {
        let place = self.place.load(Ordering::Acquire);
        if place.is_null() {
            // Two uses at once are both first ones.
            _ = owner::exchange(&self.place, place, Self::USED);
            return None;
        }
        self.of(place).or_else(|| Some(self.set(make())))
    }

    /// The value, which is made now unless it is there.
    pub(crate) fn now(&self, make: impl FnOnce() -> T) -> &T {
        self.get().unwrap_or_else(|| self.set(make()))
    }

    /// Takes `value` unless another thread was faster, and returns the one that is there.
    fn set(&self, value: T) -> &T {
        let own = owner::into_raw(value);
        let mut place = self.place.load(Ordering::Acquire);
        loop {
            if let Some(faster) = self.of(place) {
                // SAFETY: `own` came from `into_raw`, and nobody else has it.
                unsafe { owner::release(own) };
                return faster;
            }
            match owner::exchange(&self.place, place, own) {
                // SAFETY: the value lives until this place is dropped.
                Ok(_) => return unsafe { &*own },
                Err(found) => place = found,
            }
        }
    }

    fn of(&self, place: *mut T) -> Option<&T> {
        // SAFETY: what is neither null nor `USED` came from `into_raw`, and is released by `drop`, when nobody borrows this place.
        (!place.is_null() && place != Self::USED).then(|| unsafe { &*place })
    }
}

/// The clone has the value, if it was made.
impl<T> Clone for AtSecondUse<T> {
    fn clone(&self) -> Self {
        let Some(pointer) = self.pointer() else { return Self::NEW };
        // SAFETY: it came from `into_raw`, and this place, which is borrowed, releases it later.
        Self { place: AtomicPtr::new(unsafe { owner::share(pointer) }), owned: PhantomData }
    }
}

impl<T> Drop for AtSecondUse<T> {
    fn drop(&mut self) {
        if let Some(pointer) = self.pointer() {
            // SAFETY: it came from `into_raw`, and this is its only release by this place.
            unsafe { owner::release(pointer) };
        }
    }
}

impl<T> fmt::Debug for AtSecondUse<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.get().is_some() { "prepared" } else { "not prepared" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::vec::Vec;

    #[test]
    fn the_second_use_makes_the_value_and_clones_share_it() {
        let place = AtSecondUse::<Vec<u32>>::NEW;
        assert!(place.at_second_use(|| unreachable!("the first use")).is_none());
        assert!(place.clone().get().is_none());
        assert_eq!(place.at_second_use(|| [7].into()), Some(&[7].into()));
        let clone = place.clone();
        assert_eq!(
            place.at_second_use(|| unreachable!("it is there")).unwrap().as_ptr(),
            clone.get().unwrap().as_ptr()
        );
        drop(place);
        assert_eq!(clone.now(|| unreachable!("it is there")), &[7]);
    }

    #[test]
    fn of_several_threads_one_gives_the_value() {
        for _ in 0..200 {
            let place = AtSecondUse::<Vec<u32>>::NEW;
            let addresses: Vec<_> = thread::scope(|scope| {
                let place = &place;
                let use_it = move |name| {
                    place.at_second_use(|| [name].into());
                    place.now(|| [name].into()).as_ptr().addr()
                };
                let threads: Vec<_> = (0..4).map(|name| scope.spawn(move || use_it(name))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(addresses.iter().all(|address| *address == addresses[0]));
        }
    }
}
