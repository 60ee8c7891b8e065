//! An instruction, as far as its cycles depend on it.

/// What an instruction does that costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that is named below.
    Other,
    /// One word or less into `target`.
    Load { target: u8 },
    /// The address is a register and a constant.
    Store,
    /// The address is a sum of registers.
    StoreIndexed,
    /// Several words, either way.
    Several,
    /// To a place that the instruction names.
    Branch,
    /// To a place that a register holds.
    Jump,
    /// Several words, the last of which may be the program counter.
    LoadPc,
    /// By a table in the code.
    TableBranch,
    /// IT (Armv7-M).
    If,
    /// Of floating-point numbers: a quotient or a root.
    FloatDivide,
    /// Integers.
    Divide,
    /// The upper half of a product (RISC-V).
    MultiplyHigh,
    /// Special registers and barriers.
    System,
}

/// Where it stands and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its own address.
    pub address: u32,
    /// 2 or 4 bytes.
    pub size: u32,
    /// What it does.
    pub kind: Kind,
    /// The registers that make up the address it loads from or stores to: bit n is register n.
    pub base: u16,
}

/// An instruction that has run, and what happened.
#[derive(Clone, Copy, Debug)]
pub struct Retired<'a> {
    /// Itself.
    pub instruction: &'a Instruction,
    /// The one before it in the region.
    pub before: Option<&'a Instruction>,
    /// The one after it, unless it is not known.
    pub next: &'a Instruction,
    /// Words loaded and stored; none where its condition failed.
    pub words: u32,
    /// Cycles for accesses that are not aligned.
    pub unaligned: u32,
}

impl Retired<'_> {
    /// Whether the next instruction is not the one that follows in memory.
    pub const fn taken(&self) -> bool {
        self.next.address != self.instruction.address.wrapping_add(self.instruction.size)
    }
}
