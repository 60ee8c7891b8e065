//! Where OpenSSL's calls come in: objects behind its untyped pointers, and panics that stop here.
#![expect(unsafe_code, reason = "OpenSSL hands objects back as untyped pointers")]

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use gambeson::secret::StackGuard;

use crate::abi::Opaque;
use crate::core::Core;
use crate::error::{Error, Reason};
use crate::provider::Provider;
use crate::stack::with_room;

/// An object that we made and OpenSSL hands back to look at.
///
/// # Safety
/// `object` is null, or came from [`own`] for the same `T`, [`disown`] has not had it, and no [`exclusive`] of it exists.
pub unsafe fn shared<'a, T: Sync>(object: *const c_void) -> Option<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { object.cast::<T>().as_ref() }
}

/// An object that we made and OpenSSL hands back to work with. It never gives a context to two threads at once.
///
/// # Safety
/// As for [`shared`], and no other reference to it exists.
pub unsafe fn exclusive<'a, T: Send>(object: Opaque) -> Option<&'a mut T> {
    // SAFETY: the caller's promise.
    unsafe { object.cast::<T>().as_mut() }
}

/// Leaves an object to OpenSSL, which may hand it back in another thread.
pub fn own<T: Send>(object: T) -> Opaque {
    Box::into_raw(Box::new(object)).cast()
}

/// Takes an object back, to drop it.
///
/// # Safety
/// `object` is null, or came from [`own`] for the same `T` and is not used any more.
pub unsafe fn disown<T>(object: Opaque) -> Option<Box<T>> {
    if object.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { Box::from_raw(object.cast()) })
}

/// Drops an object; a panic while doing so ends here.
///
/// # Safety
/// As for [`disown`].
pub unsafe fn release<T>(object: Opaque) {
    // SAFETY: the caller's promise.
    let object = unsafe { disown::<T>(object) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
}

/// The provider behind the pointer that `OSSL_provider_init` gave to OpenSSL.
///
/// # Safety
/// `context` is that pointer, before teardown.
pub unsafe fn provider(context: Opaque) -> Option<Arc<Provider>> {
    // SAFETY: the caller's promise.
    unsafe { shared::<Arc<Provider>>(context) }.cloned()
}

/// Bytes that OpenSSL hands in; none for null.
///
/// # Safety
/// Unless null, `len` bytes are there for `'a`, and nobody writes to them.
pub unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// A text that OpenSSL hands in; none for null.
///
/// # Safety
/// Unless null, it ends with NUL and stays for `'a`.
pub unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_str().ok()
}

/// A place for a result of variable length, as OpenSSL describes it: without `data` it asks for the length alone.
pub struct Output {
    data: *mut u8,
    len: *mut usize,
    capacity: Option<usize>,
}

impl Output {
    /// # Safety
    /// `len`, unless null, can be read and written; `data`, unless null, has room for `capacity` bytes, or for as many as `len` says
    /// when that is `None`.
    pub const unsafe fn new(data: *mut u8, len: *mut usize, capacity: Option<usize>) -> Self {
        Self { data, len, capacity }
    }

    /// Whether only the length is asked for.
    pub const fn is_question(&self) -> bool {
        self.data.is_null()
    }

    /// Tells the longest length that the result can have.
    pub fn answer(&self, len: usize) -> Result<(), Error> {
        if !self.is_asked() {
            return Err(Error::new(Reason::Parameter, "no place for the length of the result"));
        }
        // SAFETY: `new`'s caller promised it.
        unsafe { self.len.write(len) };
        Ok(())
    }

    /// Tells it, unless the caller has no place for it, as one that asks for the length of something else has not.
    pub fn answer_if_asked(&self, len: usize) {
        // The one error is that there is no place.
        let _ = self.answer(len);
    }

    /// Whether there is a place for the length.
    pub const fn is_asked(&self) -> bool {
        !self.len.is_null()
    }

    /// Whether `len` bytes fit.
    pub fn check(&self, len: usize) -> Result<(), Error> {
        if !self.is_asked() {
            return Err(Error::new(Reason::Parameter, "no place for the length of the result"));
        }
        // SAFETY: `new`'s caller promised it.
        let room = self.capacity.unwrap_or_else(|| unsafe { self.len.read() });
        if room < len {
            return Err(Error::new(Reason::BufferTooSmall, format!("{len} bytes where {room} fit")));
        }
        Ok(())
    }

    /// Writes the result.
    pub fn write(&self, result: &[u8]) -> Result<(), Error> {
        self.check(result.len())?;
        // SAFETY: so many bytes fit, and `new`'s caller promised that they are ours.
        unsafe { ptr::copy_nonoverlapping(result.as_ptr(), self.data, result.len()) };
        self.answer(result.len())
    }
}

impl Provider {
    /// Does the work of a call that answers with 1 or 0.
    pub fn check(&self, work: impl FnOnce() -> Result<(), Error>) -> c_int {
        c_int::from(self.core().caught(work).is_some())
    }

    /// Answers a question with 1 or 0; no is no error.
    pub fn answer(&self, work: impl FnOnce() -> bool) -> c_int {
        c_int::from(self.core().caught(|| Ok(work())) == Some(true))
    }

    /// Does the work of a call that answers with an object or null.
    pub fn make<T: Send>(&self, work: impl FnOnce() -> Result<T, Error>) -> Opaque {
        self.core().caught(work).map_or(ptr::null_mut(), own)
    }
}

impl Core {
    /// Tells OpenSSL of an error, or of a panic; what the work left on the stack is overwritten.
    pub fn caught<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Option<T> {
        let done = with_room(|| {
            let _guard = StackGuard::<DEPTH>;
            unwound(work)
        });
        let error = match done {
            Ok(Ok(Ok(value))) => return Some(value),
            Ok(Ok(Err(error))) => error,
            Ok(Err(_)) => Error::new(Reason::Internal, "the provider panicked; please report this"),
            Err(error) => {
                Error::new(Reason::Stack, format!("this stack is too small, and there is no other: {error}"))
            }
        };
        self.report(&error);
        None
    }
}

/// Bytes of stack between a call and the doors of the libraries, which overwrite their own, and a margin for other compilers.
const DEPTH: usize = 16 << 10;

#[inline(never)]
fn unwound<T>(work: impl FnOnce() -> Result<T, Error>) -> std::thread::Result<Result<T, Error>> {
    catch_unwind(AssertUnwindSafe(work))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Dispatch;

    #[test]
    fn a_panic_is_an_answer_of_no() {
        let (mut out, mut context) = (ptr::null(), ptr::null_mut());
        let core = ptr::dangling_mut::<u8>().cast();
        let functions = [Dispatch::END];
        // SAFETY: a handle that nobody looks at, a table that ends, and places for pointers.
        let done =
            unsafe { crate::OSSL_provider_init(core, functions.as_ptr(), &raw mut out, &raw mut context) };
        assert_eq!(done, 1);
        // SAFETY: this is what was given.
        let provider = unsafe { provider(context) }.expect("it is there");
        assert_eq!(provider.check(|| panic!("a defect")), 0);
        assert!(provider.make(|| -> Result<(), Error> { panic!("a defect") }).is_null());
        assert_eq!(provider.answer(|| panic!("a defect")), 0);
        assert_eq!(
            (provider.check(|| Ok(())), provider.answer(|| true), provider.answer(|| false)),
            (1, 1, 0)
        );
        // SAFETY: once, at the end.
        unsafe { release::<Arc<Provider>>(context) };
        // SAFETY: the pointers are null.
        assert!(unsafe { shared::<u8>(ptr::null()).is_none() && disown::<u8>(ptr::null_mut()).is_none() });
        // SAFETY: nobody was there to look at.
        assert_eq!(unsafe { bytes(ptr::null(), 7) }, b"");
    }

    #[test]
    fn outputs_that_do_not_fit_are_left_alone() {
        let (mut place, mut len) = ([7; 4], 3);
        // SAFETY: the place has three bytes, and one more.
        let output = unsafe { Output::new(place.as_mut_ptr(), &raw mut len, None) };
        assert_eq!(output.write(&[1; 4]).expect_err("one too many").reason, Reason::BufferTooSmall);
        output.write(&[1, 2]).expect("they fit");
        assert_eq!((place, len), ([1, 2, 7, 7], 2));
        // SAFETY: the place has four bytes.
        let output = unsafe { Output::new(place.as_mut_ptr(), ptr::null_mut(), Some(4)) };
        assert_eq!(output.write(&[3]).expect_err("no place for the length").reason, Reason::Parameter);
        assert_eq!(place, [1, 2, 7, 7]);
    }
}
