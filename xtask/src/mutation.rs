//! Mutations: instructions of a built program that are replaced by others, which its tests must notice.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// Two half-words that only our kernels have: where an instruction begins with such, each `value` under its mask, `change` is added to them
/// by XOR.
#[derive(Clone, Copy)]
pub struct Mutation {
    pub mask: [u16; 2],
    pub value: [u16; 2],
    pub change: [u16; 2],
}

impl Mutation {
    /// Returns the instruction instead of one that begins with these half-words, if that is to be changed.
    pub fn changed(&self, found: [u16; 2]) -> Option<[u16; 2]> {
        let masked = [found[0] & self.mask[0], found[1] & self.mask[1]];
        (masked == self.value).then(|| [found[0] ^ self.change[0], found[1] ^ self.change[1]])
    }
}

/// Returns the half-words of an instruction of one word, in their order in memory.
pub const fn halves(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}

/// Copies a program and applies the mutations to the copy, each at least once. Returns its path, and how many instructions were changed.
pub fn broken(program: &Path, mutations: &[Mutation]) -> Result<(PathBuf, usize)> {
    let mut file = fs::read(program)?;
    let halves_of = length(&file).context("a processor whose instructions are not known here")?;
    let mut changed = vec![0; mutations.len()];
    for (start, length) in executable_sections(&file).context("not an ELF file")? {
        let code = file.get_mut(start..start + length).context("a section beyond the file")?;
        let halves = code.as_chunks_mut::<2>().0;
        let mut at = 0;
        while let Some(&[first, second]) = halves.get(at..).and_then(<[_]>::first_chunk) {
            let found = [first, second].map(u16::from_le_bytes);
            for (mutation, count) in mutations.iter().zip(&mut changed) {
                if let Some(other) = mutation.changed(found) {
                    [halves[at], halves[at + 1]] = other.map(u16::to_le_bytes);
                    *count += 1;
                }
            }
            // Between its halves, an instruction of somebody else's may look like it.
            at += halves_of(found[0]);
        }
    }
    for (Mutation { value, .. }, count) in mutations.iter().zip(&changed) {
        ensure!(*count > 0, "canary: the kernels have no instruction {value:x?}");
    }
    let path = program.with_extension("broken");
    // Copied for its permissions.
    fs::copy(program, &path)?;
    fs::write(&path, file)?;
    Ok((path, changed.iter().sum()))
}

/// How many half-words an instruction has, by its first: of Thumb (Arm v7-M ARM, A5.1), A64 and RISC-V (unprivileged ISA, 1.5).
fn length(file: &[u8]) -> Option<fn(u16) -> usize> {
    match file.get(0x12..)?.first_chunk()? {
        [40, 0] => Some(|first| if first >> 11 >= 0b11101 { 2 } else { 1 }),
        [183, 0] => Some(|_| 2),
        [243, 0] => Some(|first| if first & 3 == 3 { 2 } else { 1 }),
        _ => None,
    }
}

/// Offset and length of each section with instructions (System V ABI, chapter 4; little-endian).
fn executable_sections(file: &[u8]) -> Option<Vec<(usize, usize)>> {
    const EXECUTABLE: usize = 4;
    // Bytes of an address; where the header has the place of the table, and the size and number of its entries.
    let (word, table, sizes) = match file.get(..6)? {
        b"\x7fELF\x01\x01" => (4, 0x20, 0x2e),
        b"\x7fELF\x02\x01" => (8, 0x28, 0x3a),
        _ => return None,
    };
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let bytes = file.get(at..at + bytes)?.iter().rev();
        Some(bytes.fold(0, |number, byte| (number << 8) | usize::from(*byte)))
    };
    let (table, size, count) = (number(table, word)?, number(sizes, 2)?, number(sizes + 2, 2)?);
    let mut sections = Vec::new();
    for header in (0..count).map(|i| table + i * size) {
        if number(header + 8, word)? & EXECUTABLE != 0 {
            sections.push((number(header + 8 + 2 * word, word)?, number(header + 8 + 3 * word, word)?));
        }
    }
    Some(sections)
}
