//! What is measured between the marks.

use crate::instruction::{Instruction, Retired};
use std::ops::Range;

/// How an instruction set is read and counted.
pub struct Model {
    /// Reads an instruction.
    pub decode: fn(u32, &[u8]) -> Instruction,
    /// Its cycles.
    pub cycles: fn(&Retired<'_>) -> u32,
}

/// The addresses that mean something.
pub struct Places {
    /// A store here begins a region; one four bytes above ends it.
    pub mark: u64,
    /// The stack.
    pub stack: Range<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// The store that tells the stack pointer is awaited.
    Begun,
    Inside,
}

/// A region as it goes on.
pub struct Region {
    model: Model,
    places: Places,
    state: State,
    /// The instruction that runs, and the one before.
    now: Option<&'static Instruction>,
    before: Option<&'static Instruction>,
    words: u32,
    unaligned: u32,
    instructions: u64,
    cycles: u64,
    sp: u64,
    lowest: u64,
    trace: u64,
    /// The trace itself, where it is asked for.
    pub list: Option<Vec<u64>>,
}

/// What a region came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Figures {
    /// Retired.
    pub instructions: u64,
    /// By the model.
    pub cycles: u64,
    /// Bytes below the stack pointer that were written.
    pub stack: u64,
    /// The hash of all addresses.
    pub trace: u64,
}

/// What an entry of the list is.
const INSTRUCTION: u64 = 0;
const LOAD: u64 = 1;
const STORE: u64 = 2;
const END: u64 = 3;

impl Region {
    /// Before the first region.
    pub const fn new(model: Model, places: Places) -> Self {
        Self {
            model,
            places,
            state: State::Outside,
            now: None,
            before: None,
            words: 0,
            unaligned: 0,
            instructions: 0,
            cycles: 0,
            sp: 0,
            lowest: 0,
            trace: 0,
            list: None,
        }
    }

    /// Reads an instruction.
    pub fn decode(&self, address: u32, bytes: &[u8]) -> Instruction {
        (self.model.decode)(address, bytes)
    }

    /// An instruction begins.
    pub fn execute(&mut self, instruction: &'static Instruction) {
        if self.state == State::Outside {
            return;
        }
        if let Some(now) = self.now {
            let (words, unaligned) = (self.words, self.unaligned);
            let retired =
                Retired { instruction: now, before: self.before, next: instruction, words, unaligned };
            self.instructions += 1;
            self.cycles += u64::from((self.model.cycles)(&retired));
            self.before = self.now;
        }
        self.now = Some(instruction);
        (self.words, self.unaligned) = (0, 0);
        self.note(INSTRUCTION, u64::from(instruction.address));
    }

    /// The instruction that runs loads or stores 2 to the power of `shift` bytes. At the end of a region: its figures.
    pub fn access(&mut self, address: u64, shift: u32, store: bool) -> Option<Figures> {
        if store && address == self.places.mark {
            self.state = State::Begun;
            (self.now, self.before) = (None, None);
            return None;
        }
        if self.state == State::Outside {
            return None;
        }
        if store && address == self.places.mark + 4 {
            self.state = State::Outside;
            self.note(END, 0);
            let (instructions, cycles, trace) = (self.instructions, self.cycles, self.trace);
            return Some(Figures { instructions, cycles, stack: self.sp - self.lowest, trace });
        }
        let size = 1_u64 << shift;
        self.words += u32::try_from(size / 4).unwrap_or(0).max(1);
        if !address.is_multiple_of(size) {
            self.unaligned += if size == 4 && address % 2 == 1 { 2 } else { 1 };
        }
        if store && self.places.stack.contains(&address) {
            if self.state == State::Begun {
                self.state = State::Inside;
                (self.instructions, self.cycles, self.before) = (0, 0, None);
                (self.sp, self.lowest, self.trace) = (address + 4, address + 4, 0);
            } else {
                self.lowest = self.lowest.min(address);
            }
        }
        self.note(if store { STORE } else { LOAD }, address);
        None
    }

    /// One step more of the trace.
    fn note(&mut self, kind: u64, address: u64) {
        let entry = kind << 32 | address & 0xffff_ffff;
        // The mixing step of splitmix64: who differs once differs at the end, except for one in 2^64.
        let mixed = (self.trace ^ entry).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.trace = mixed ^ mixed >> 29;
        if let (Some(list), State::Inside) = (&mut self.list, self.state) {
            list.push(entry);
        } else if let (Some(list), END) = (&mut self.list, kind) {
            list.push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::Kind;

    const MARK: u64 = 0x21f0_0000;

    fn region() -> Region {
        let model = Model { decode: crate::thumb::decode, cycles: crate::thumb::cycles };
        Region::new(model, Places { mark: MARK, stack: 0x2030_0000..0x2040_0000 })
    }

    /// A region in which one instruction stores to `address`.
    fn figures(region: &mut Region, address: u64) -> Figures {
        let other = |address| Instruction { address, size: 2, kind: Kind::Store, base: 0 };
        let code: &'static [Instruction] = [0, 2, 4, 6].map(other).to_vec().leak();
        region.execute(&code[0]);
        assert_eq!(region.access(MARK, 2, true), None);
        region.execute(&code[1]);
        region.access(0x2030_0ffc, 2, true);
        region.execute(&code[2]);
        region.access(address, 2, true);
        region.execute(&code[3]);
        region.access(MARK + 4, 2, true).expect("the end")
    }

    #[test]
    fn the_lowest_store_is_found_and_what_is_no_stack_is_not() {
        let mut region = region();
        assert_eq!(figures(&mut region, 0x2030_0800).stack, 0x800);
        assert_eq!(figures(&mut region, 0x2030_1800).stack, 0, "above the caller");
        assert_eq!(figures(&mut region, 0x2000_0000).stack, 0);
        let counted = figures(&mut region, 0x2030_0800);
        assert_eq!((counted.instructions, counted.cycles), (2, 2), "the store of the stack pointer, and one");
    }

    #[test]
    fn traces_are_equal_where_all_addresses_are() {
        let mut region = region();
        let [first, same, other] =
            [0x2030_0800, 0x2030_0800, 0x2030_0804].map(|at| figures(&mut region, at).trace);
        assert_eq!(first, same);
        assert_ne!(first, other);
    }

    #[test]
    fn the_list_has_the_entries_of_each_region() {
        let mut region = region();
        region.list = Some(Vec::new());
        figures(&mut region, 0x2030_0800);
        let expected =
            [(STORE, 0x2030_0ffc), (INSTRUCTION, 4), (STORE, 0x2030_0800), (INSTRUCTION, 6), (END, 0)];
        assert_eq!(region.list.expect("asked for"), expected.map(|(kind, at)| kind << 32 | at));
    }
}
