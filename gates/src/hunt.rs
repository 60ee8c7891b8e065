//! What operations leave behind: dead stack, freed heap and the vector registers, searched for pieces of secrets.

use crate::operations::{Instrument, Name, shown};
use crate::{heap, registers, stack};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

/// The windows that must not be found, by what they are a piece of. Only hashes of secrets are kept.
#[derive(Debug, Default)]
pub struct Hunt {
    bytes: HashMap<u64, &'static str>,
    /// Windows of coefficients: the width of a coefficient in memory, the modulus, the length of the window.
    coefficients: HashMap<Window, HashMap<u64, &'static str>>,
}

/// A run of coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Bytes of a coefficient in memory.
    pub width: usize,
    /// What its residue is of.
    pub modulus: u32,
    /// How many coefficients tell a polynomial.
    pub length: usize,
}

impl Hunt {
    /// Every eight bytes of a secret.
    pub fn bytes(&mut self, name: &'static str, secret: &[u8]) {
        for window in secret.windows(8) {
            self.bytes.insert(word(window), name);
        }
    }

    /// Every window of a polynomial, whatever representative of the residue is stored, plain or times 2^±(8·width).
    pub fn polynomial(&mut self, name: &'static str, window: Window, polynomial: &[u32]) {
        let modulus = u64::from(window.modulus);
        let r = power(2, 8 * window.width as u64, modulus);
        let inverse = power(r, modulus - 2, modulus);
        for factor in [1, r, inverse] {
            let scaled: Vec<u32> =
                polynomial.iter().map(|c| (u64::from(*c) * factor % modulus) as u32).collect();
            for piece in scaled.windows(window.length) {
                self.insert(name, window, piece);
            }
        }
    }

    fn insert(&mut self, name: &'static str, window: Window, piece: &[u32]) {
        // Runs of zeros and of one value are not a secret's mark.
        let mut distinct: Vec<u32> = piece.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let zeros = piece.iter().filter(|c| **c == 0).count();
        if distinct.len() < 3 || 2 * zeros > piece.len() {
            return;
        }
        self.coefficients.entry(window).or_default().insert(mix(piece), name);
    }

    /// Which secret's pieces stand in the memory, how many, and how many bytes before its end the last and the first of them begin.
    fn search(&self, memory: &[u8]) -> Vec<(&'static str, Pieces)> {
        // Most of the stack was never touched. Coefficients stay aligned.
        let touched = memory.iter().position(|byte| *byte != 0).unwrap_or(memory.len());
        let memory = &memory[touched & !15..];
        let mut found: HashMap<&'static str, Pieces> = HashMap::new();
        let mut note = |name, start| found.entry(name).or_default().note(memory.len() - start);
        for (start, window) in memory.windows(8).enumerate() {
            if let Some(name) = self.bytes.get(&word(window)) {
                note(name, start);
            }
        }
        for (window, known) in &self.coefficients {
            let residues: Vec<u32> =
                memory.chunks_exact(window.width).map(|bytes| residue(bytes, window.modulus)).collect();
            for (start, piece) in residues.windows(window.length).enumerate() {
                if piece.iter().all(|c| *c == piece[0]) {
                    continue;
                }
                if let Some(name) = known.get(&mix(piece)) {
                    note(name, start * window.width);
                }
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by_key(|(name, _)| *name);
        found
    }
}

/// The pieces of one secret in a memory.
#[derive(Debug, Default)]
struct Pieces {
    count: usize,
    /// The least and the greatest distance from the memory's end to a piece's beginning, in bytes.
    distance: Option<(usize, usize)>,
}

impl Pieces {
    fn note(&mut self, distance: usize) {
        self.count += 1;
        let (least, greatest) = self.distance.unwrap_or((distance, distance));
        self.distance = Some((least.min(distance), greatest.max(distance)));
    }
}

fn word(window: &[u8]) -> u64 {
    u64::from_le_bytes(window.try_into().expect("eight bytes"))
}

fn residue(bytes: &[u8], modulus: u32) -> u32 {
    let value = match *bytes {
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => unreachable!("coefficients are two or four bytes wide"),
    };
    value.rem_euclid(i64::from(modulus)) as u32
}

fn mix(piece: &[u32]) -> u64 {
    piece.iter().fold(0xcbf2_9ce4_8422_2325, |state: u64, c| {
        (state ^ u64::from(*c)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

/// Counts operations, and those that left a piece of a secret.
#[derive(Debug, Default)]
pub struct Gate {
    /// Operations that ran.
    pub ran: usize,
    /// Operations that left something.
    pub failed: usize,
    hunt: Hunt,
}

impl Gate {
    fn count(&mut self, name: Name<'_>, found: &[String]) {
        self.ran += 1;
        let name = shown(name);
        println!("ran {name}");
        if !found.is_empty() {
            self.failed += 1;
            println!("{name}: {}", found.join(", "));
        }
    }
}

impl Instrument for Gate {
    const SEARCHES: bool = true;

    fn run<R>(&mut self, name: Name<'_>, work: impl Fn() -> R + Sync) -> R {
        let found = hunted(&self.hunt, || _ = black_box(&work()));
        self.count(name, &found);
        work()
    }

    /// The workspace lies on the stack that is searched.
    fn run_in<W: Send + Default, O: Send, R>(
        &mut self,
        name: Name<'_>,
        out: &mut O,
        work: impl Fn(&mut O, &mut W) -> R + Sync,
    ) -> R {
        self.run_into(name, out, |out| {
            let mut workspace = W::default();
            let result = work(out, &mut workspace);
            black_box(&workspace);
            result
        })
    }

    fn run_fresh(&mut self, name: Name<'_>, work: impl Fn(&dyn Fn(&[u8])) + Sync) {
        let kept = Kept::new();
        let found = searched(
            || kept.hunt(),
            || {
                kept.len.store(0, Relaxed);
                work(&|secret| kept.keep(secret));
            },
        );
        self.count(name, &found);
    }

    fn secrets(&mut self, add: impl FnOnce(&mut Hunt)) {
        self.hunt = Hunt::default();
        add(&mut self.hunt);
    }

    fn batch(&self) -> usize {
        9
    }
}

/// Runs the operation and tells what of the secrets it left where.
pub fn hunted(hunt: &Hunt, operation: impl Fn() + Sync) -> Vec<String> {
    searched(|| hunt, operation)
}

/// Like [`hunted`], for secrets that are known when the operation has run: `known` is called after each run.
fn searched<H: Borrow<Hunt> + Send>(
    known: impl Fn() -> H + Sync,
    operation: impl Fn() + Sync,
) -> Vec<String> {
    let places = stack::on_fresh_stack(|| {
        // Once to warm up, so that what is initialised on first use does not count.
        operation();
        let dead = stack::residue(&operation);
        let dead = ("on the stack", known(), dead);
        let freed = heap::freed(&operation);
        let freed = ("in freed heap", known(), freed);
        let vectors = registers::after(&operation);
        [dead, freed, ("in vector registers", known(), vectors)]
    });
    let mut found = Vec::new();
    for (place, hunt, memory) in places {
        for (secret, Pieces { count, distance }) in hunt.borrow().search(&memory) {
            let (least, greatest) = distance.unwrap_or_default();
            found.push(format!(
                "{count} pieces of {secret} {place}, {least} to {greatest} bytes from its end"
            ));
        }
    }
    found
}

/// What an operation drew for itself, to be looked for once it has run: kept under a mask and byte by byte, so that keeping it leaves
/// nothing that could be found.
pub struct Kept {
    bytes: Vec<AtomicU8>,
    len: AtomicUsize,
}

impl Kept {
    const MASK: u8 = 0xa7;

    fn new() -> Self {
        Self { bytes: (0..16 << 10).map(|_| AtomicU8::new(0)).collect(), len: AtomicUsize::new(0) }
    }

    /// Keeps a secret of this run.
    pub fn keep(&self, secret: &[u8]) {
        for byte in secret {
            let at = self.len.fetch_add(1, Relaxed);
            self.bytes[at].store(byte ^ Self::MASK, Relaxed);
        }
    }

    /// What was kept since the last time.
    fn hunt(&self) -> Hunt {
        let len = self.len.swap(0, Relaxed);
        assert!(len >= 32, "the operation kept nothing");
        let secrets: Vec<u8> = self.bytes[..len].iter().map(|byte| byte.load(Relaxed) ^ Self::MASK).collect();
        let mut hunt = Hunt::default();
        hunt.bytes("what it drew", &secrets);
        hunt
    }
}

/// base^exponent modulo modulus.
pub fn power(base: u64, exponent: u64, modulus: u64) -> u64 {
    (0..64).rev().fold(1, |result, bit| {
        let square = result * result % modulus;
        if exponent >> bit & 1 == 1 { square * base % modulus } else { square }
    })
}
