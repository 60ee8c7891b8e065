//! Instructions that are turned into others, in a built program: what it tests must see it.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// Two half-words that only our kernels have: where an instruction begins with such, each `value` under its mask, the first is changed.
pub struct Mutation {
    pub mask: [u16; 2],
    pub value: [u16; 2],
    pub change: u16,
}

impl Mutation {
    /// A copy of the program with such instructions changed, and how many were.
    pub fn broken(&self, program: &Path) -> Result<(PathBuf, usize)> {
        let mut file = fs::read(program)?;
        let halves_of = length(&file).context("a processor whose instructions are not known here")?;
        let mut changed = 0;
        for (start, length) in executable_sections(&file).context("not a 32-bit ELF file")? {
            let code = file.get_mut(start..start + length).context("a section beyond the file")?;
            let halves = code.as_chunks_mut::<2>().0;
            let mut at = 0;
            while let Some(&[first, second]) = halves.get(at..).and_then(<[_]>::first_chunk) {
                let found = [first, second].map(u16::from_le_bytes);
                if [found[0] & self.mask[0], found[1] & self.mask[1]] == self.value {
                    halves[at] = (found[0] ^ self.change).to_le_bytes();
                    changed += 1;
                }
                // Between its halves, an instruction of somebody else's may look like it.
                at += halves_of(found[0]);
            }
        }
        ensure!(changed > 0, "canary: the kernels have no instruction {:x?}", self.value);
        let path = program.with_extension("broken");
        // Copied for its permissions.
        fs::copy(program, &path)?;
        fs::write(&path, file)?;
        Ok((path, changed))
    }
}

/// How many half-words an instruction has, by its first: of Thumb (Arm v7-M ARM, A5.1) and of RISC-V (unprivileged ISA, 1.5).
fn length(file: &[u8]) -> Option<fn(u16) -> usize> {
    match file.get(0x12..)?.first_chunk()? {
        [40, 0] => Some(|first| if first >> 11 >= 0b11101 { 2 } else { 1 }),
        [243, 0] => Some(|first| if first & 3 == 3 { 2 } else { 1 }),
        _ => None,
    }
}

/// Offset and length of each section with instructions (System V ABI, chapter 4; 32-bit, little-endian).
fn executable_sections(file: &[u8]) -> Option<Vec<(usize, usize)>> {
    const EXECUTABLE: u32 = 4;
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(*file.get(at..)?.first_chunk()?)));
    let word = |at: usize| Some(u32::from_le_bytes(*file.get(at..)?.first_chunk()?));
    if !file.starts_with(b"\x7fELF\x01\x01") {
        return None;
    }
    let (table, size, count) = (word(0x20)? as usize, half(0x2e)?, half(0x30)?);
    let mut sections = Vec::new();
    for header in (0..count).map(|i| table + i * size) {
        if word(header + 8)? & EXECUTABLE != 0 {
            sections.push((word(header + 0x10)? as usize, word(header + 0x14)? as usize));
        }
    }
    Some(sections)
}
