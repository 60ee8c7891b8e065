//! Room for the work: a call that comes on a stack too small for it has a thread do it, on a stack of its own.
//!
//! OpenSSL runs each job of `SSL_MODE_ASYNC` on 32 KiB out of its heap (`ASYNC_start_job(3)`), and nothing stops whoever goes beyond
//! them. Other programs have threads and fibres of any size.
#![expect(unsafe_code, reason = "asks the system for the bounds of a stack, and lends work to a thread")]

use std::hint::black_box;
use std::ops::Range;
use std::{io, ptr, thread};

/// Bytes of stack: more than the work of any call uses.
const NEEDED: usize = 96 << 10;
/// Bytes of the stack of a thread that works for another.
const OWN: usize = 4 * NEEDED;

/// Work on its way to a thread, or what came of it on its way back.
struct Lent<T>(T);

// SAFETY: whoever lends waits for what comes back, so that one thread at a time has it; and nothing that the work here touches belongs
// to a thread as such.
unsafe impl<T> Send for Lent<T> {}

impl<F> Lent<F> {
    fn done<R>(self) -> Lent<R>
    where
        F: FnOnce() -> R,
    {
        Lent((self.0)())
    }
}

/// Does the work here if there is room, else in a thread. It does not panic.
///
/// # Errors
/// The system has no thread.
pub fn with_room<R>(work: impl FnOnce() -> R) -> io::Result<R> {
    if has_room() {
        return Ok(work());
    }
    let work = Lent(work);
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(OWN).spawn_scoped(scope, || work.done())?;
        let done = thread.join().map_err(|_| io::Error::other("the thread panicked"))?;
        Ok(done.0)
    })
}

/// Whether this runs on the stack that the system gave to the thread, and there is room on it.
fn has_room() -> bool {
    thread_local!(static BOUNDS: Option<Range<usize>> = bounds());
    let mut here = 0_u8;
    let here = ptr::from_mut(black_box(&mut here)).addr();
    // One whose bounds cannot be told is taken for large.
    BOUNDS.with(|stack| {
        stack.as_ref().is_none_or(|stack| stack.contains(&here) && here - stack.start >= NEEDED)
    })
}

/// The addresses of the stack that the system gave to this thread, where it tells.
#[cfg(target_os = "linux")]
fn bounds() -> Option<Range<usize>> {
    use std::mem::MaybeUninit;

    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the place is one for attributes, which are read and destroyed only if they were written.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let (mut start, mut len) = (ptr::null_mut(), 0);
        let told = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut start, &raw mut len);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (told == 0).then(|| start.addr()..start.addr().saturating_add(len))
    }
}

#[cfg(not(target_os = "linux"))]
fn bounds() -> Option<Range<usize>> {
    None
}
