//! The memory that reading a header takes: at most twice the header.

#![allow(unsafe_code, clippy::unwrap_used)] // A global allocator is an unsafe trait; a test may fail that way.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use gambeson_age::{Error, HeaderError, Identity, open};

/// An allocator that counts; what grows is there twice for a moment.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static HEAP: Counting = Counting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(LIVE.fetch_add(layout.size(), SeqCst) + layout.size(), SeqCst);
        // SAFETY: the caller's promise about the layout is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

/// A header whose text is made as it is read: pieces, each so many times.
struct Made {
    pieces: Vec<(Vec<u8>, usize)>,
    at: (usize, usize, usize),
}

impl Read for Made {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let (piece, times, offset) = self.at;
            let Some((text, count)) = self.pieces.get(piece) else { return Ok(0) };
            if times == *count {
                self.at = (piece + 1, 0, 0);
            } else if offset == text.len() {
                self.at = (piece, times + 1, 0);
            } else {
                let taken = out.len().min(text.len() - offset);
                out[..taken].copy_from_slice(&text[offset..offset + taken]);
                self.at.2 += taken;
                return Ok(taken);
            }
        }
    }
}

/// Peak memory of a reading above the memory before it, and its result.
fn peak(pieces: &[(&str, usize)]) -> (usize, Result<u64, Error>) {
    let owned = |(text, count): &(&str, usize)| (text.as_bytes().to_vec(), *count);
    let pieces = [("age-encryption.org/v1\n", 1)].iter().chain(pieces).map(owned).collect();
    let (file, identities) = (Made { pieces, at: (0, 0, 0) }, [Identity::from_seed(&[1; 32])]);
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    let end = open(&identities, file, io::sink());
    (PEAK.load(SeqCst) - before, end)
}

#[test]
fn a_header_takes_at_most_twice_its_length() {
    const LENGTH: usize = 16 << 20;
    // Buffers that every file takes.
    const IDLE: usize = 1 << 20;
    let mac = ("--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", 1);
    let line = format!("{}\n", "A".repeat(64));
    let lines = LENGTH / 65 - 10;
    let args = LENGTH / 1024 - 20;
    let short_args = format!("-> x{}\n\n", " a".repeat(63));
    let long_args = format!("-> {}\n\n", "a".repeat(args));
    let bodies = format!("-> x\n{}\n", line.repeat(args / 65));
    for (name, pieces) in [
        ("one body", vec![("-> x\n", 1), (&line, lines), ("\n", 1), mac]),
        ("one argument", vec![("-> ", 1), ("a", LENGTH - 100), ("\n\n", 1), mac]),
        ("long arguments", vec![(&long_args, 1024), mac]),
        ("many arguments", vec![(&short_args, 1024), mac]),
        ("bodies", vec![(&bodies, 1024), mac]),
        ("small stanzas", vec![("-> x\n\n", 1024), mac]),
    ] {
        let length = pieces.iter().map(|(text, count)| text.len() * count).sum::<usize>();
        let (peak, end) = peak(&pieces);
        assert!(matches!(end, Err(Error::NoMatch)), "{name}: {end:?}");
        assert!(peak <= 2 * length + IDLE, "{name}: {peak} bytes for a header of {length}");
    }
    for (name, pieces, error) in [
        ("stanzas", vec![("-> x\n\n", LENGTH / 6)], HeaderError::TooManyStanzas),
        (
            "arguments",
            vec![("-> x", 1), (" a", LENGTH / 2 - 50), ("\n\n", 1), mac],
            HeaderError::TooManyArguments,
        ),
        ("lines", vec![("-> x\n", 1), (&line, LENGTH / 65 + 1)], HeaderError::TooLong),
        ("one line", vec![("-> ", 1), ("a", LENGTH)], HeaderError::TooLong),
    ] {
        let (peak, end) = peak(&pieces);
        assert!(matches!(&end, Err(Error::Header(found)) if *found == error), "{name}: {end:?}");
        assert!(peak <= 2 * LENGTH + IDLE, "{name}: {peak} bytes");
    }
}
