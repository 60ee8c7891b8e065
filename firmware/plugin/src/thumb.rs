//! Armv7E-M: the encodings (Armv7-M Architecture Reference Manual, A5.2 to A5.3 and A6), and cycles of a Cortex-M4 without wait
//! states, as its Technical Reference Manual has them, corrected by what was published of programs on boards.

use crate::instruction::{Instruction, Kind, Retired};

const SP: u8 = 13;
const PC: u8 = 15;

/// Reads the instruction.
pub fn decode(address: u32, bytes: &[u8]) -> Instruction {
    let half = |at: usize| u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (kind, base) = match bytes.len() {
        2 => narrow(half(0)),
        _ => wide(half(0), half(2)),
    };
    Instruction { address, size: bytes.len() as u32, kind, base }
}

const fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

const fn register(word: u32, low: u32) -> u16 {
    1 << bits(word, low, 3)
}

/// A5.2, 16 bits.
fn narrow(code: u32) -> (Kind, u16) {
    let is_load = bits(code, 11, 1) == 1;
    let low_target = Kind::Load { target: bits(code, 0, 3) as u8 };
    let upper_target = Kind::Load { target: bits(code, 8, 3) as u8 };
    match bits(code, 12, 4) {
        // LDR (literal)
        0b0100 if is_load => (upper_target, 0),
        // BX, BLX; MOV and ADD to the program counter
        0b0100 if bits(code, 8, 4) == 0b0111 => (Kind::Jump, 0),
        0b0100 if bits(code, 8, 4) == 0b0110 && bits(code, 0, 3) | bits(code, 7, 1) << 3 == u32::from(PC) => {
            (Kind::Jump, 0)
        }
        // Register offset: STR, STRH, STRB, then the loads.
        0b0101 => {
            let kind = if bits(code, 9, 3) < 3 { Kind::StoreIndexed } else { low_target };
            (kind, register(code, 3) | register(code, 6))
        }
        0b0110..=0b1000 => (if is_load { low_target } else { Kind::Store }, register(code, 3)),
        0b1001 => (if is_load { upper_target } else { Kind::Store }, 1 << SP),
        0b1011 => match bits(code, 8, 4) {
            0b0100 | 0b0101 | 0b1100 => (Kind::Several, 0),
            0b1101 => (Kind::LoadPc, 0),
            // CBZ, CBNZ
            0b0001 | 0b0011 | 0b1001 | 0b1011 => (Kind::Branch, 0),
            0b1111 if bits(code, 0, 4) != 0 => (Kind::If, 0),
            _ => (Kind::Other, 0),
        },
        0b1100 => (Kind::Several, 0),
        // B with a condition; 14 is undefined, 15 is SVC.
        0b1101 if bits(code, 8, 4) < 14 => (Kind::Branch, 0),
        0b1110 if !is_load => (Kind::Branch, 0),
        _ => (Kind::Other, 0),
    }
}

/// A5.3, 32 bits.
fn wide(first: u32, second: u32) -> (Kind, u16) {
    let kind = match bits(first, 9, 7) {
        // LDM, STM
        0b111_0100 if bits(first, 6, 1) == 0 => {
            let pops = bits(first, 4, 1) == 1 && bits(second, 15, 1) == 1;
            if pops { Kind::LoadPc } else { Kind::Several }
        }
        // TBB, TBH; LDRD, STRD and exclusives
        0b111_0100 if bits(first, 4, 12) == 0xe8d && bits(second, 5, 11) == 0b111_1000_0000 => {
            Kind::TableBranch
        }
        0b111_0100 => Kind::Several,
        // Floating point: loads and stores, except the moves of two registers (MCRR, MRRC).
        0b111_0110 | 0b111_1110 if bits(first, 5, 11) != 0b111_0110_0010 => Kind::Several,
        0b111_0111 | 0b111_1111 if divides(first, second) => Kind::FloatDivide,
        // Branches and miscellaneous control: MSR, MRS, hints and barriers have no condition.
        0b111_1000..=0b111_1011 if bits(second, 15, 1) == 1 => {
            let control = bits(second, 12, 1) == 0 && bits(second, 14, 1) == 0 && bits(first, 7, 3) == 0b111;
            if control { Kind::System } else { Kind::Branch }
        }
        0b111_1100 => return single(first, second),
        // SDIV, UDIV
        0b111_1101 if matches!(bits(first, 4, 12), 0xfb9 | 0xfbb) && bits(second, 4, 4) == 15 => Kind::Divide,
        _ => Kind::Other,
    };
    (kind, 0)
}

/// VDIV and VSQRT.
const fn divides(first: u32, second: u32) -> bool {
    let quotient = first & 0xffb0 == 0xee80 && second & 0x0e50 == 0x0a00;
    let root = first & 0xffbf == 0xeeb1 && second & 0xc0 == 0xc0;
    quotient || root
}

/// A5.3.7 to A5.3.10: one word or less. The second half says whether the offset is a register.
const fn single(first: u32, second: u32) -> (Kind, u16) {
    let indexed = bits(first, 7, 1) == 0 && bits(second, 11, 1) == 0;
    let mut base = 1 << bits(first, 0, 4);
    if indexed {
        base |= 1 << bits(second, 0, 4);
    }
    let target = bits(second, 12, 4) as u8;
    let kind = match (bits(first, 4, 1) == 1, bits(first, 6, 1) == 1) {
        // PLD and PLI, or LDR to the program counter
        (true, word) if target == PC => {
            if word {
                Kind::LoadPc
            } else {
                Kind::Other
            }
        }
        (true, _) => Kind::Load { target },
        (false, _) if indexed => Kind::StoreIndexed,
        (false, _) => Kind::Store,
    };
    (kind, base)
}

/// What a branch that is taken adds: the pipeline fills again.
const REFILL: u32 = 2;

/// And what it adds when it leads to 32 bits that no single fetch brings.
const SPLIT: u32 = 3;

/// The cycles of an instruction.
pub fn cycles(retired: &Retired<'_>) -> u32 {
    let Retired { instruction, before, next, words, unaligned } = *retired;
    let taken = retired.taken();
    let refill = if taken { REFILL } else { 0 };
    let split = if taken && next.address % 4 == 2 && next.size == 4 { SPLIT } else { 0 };
    // A load behind a load takes one cycle, unless it waits for its address.
    let follows = match before.map(|before| before.kind) {
        Some(Kind::Load { target }) => target > PC || instruction.base >> target & 1 == 0,
        _ => false,
    };
    let access = if follows { 1 } else { 2 };
    split
        + match instruction.kind {
            Kind::Load { .. } | Kind::StoreIndexed if words > 0 => access + unaligned,
            Kind::Load { .. } | Kind::StoreIndexed => 1,
            Kind::Store => 1 + unaligned,
            Kind::Several => 1 + words,
            Kind::LoadPc if words > 0 => 1 + words + refill,
            Kind::LoadPc => 1,
            Kind::TableBranch => 2 + REFILL,
            Kind::Divide => 6,
            Kind::FloatDivide => 14,
            // It is folded into an instruction of 16 bits before it.
            Kind::If => u32::from(before.is_none_or(|before| before.size != 2)),
            Kind::System => 2,
            Kind::Branch | Kind::Jump | Kind::Other | Kind::MultiplyHigh => 1 + refill,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(halves: &[u16]) -> Kind {
        decode(0, &halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<_>>()).kind
    }

    #[test]
    fn instructions_are_told_apart() {
        for (halves, expected) in [
            (&[0x6848_u16][..], Kind::Load { target: 0 }), // ldr r0, [r1, #4]
            (&[0x5088], Kind::StoreIndexed),               // str r0, [r1, r2]
            (&[0x9001], Kind::Store),                      // str r0, [sp, #4]
            (&[0xb510], Kind::Several),                    // push {r4, lr}
            (&[0xbd10], Kind::LoadPc),                     // pop {r4, pc}
            (&[0xbf18], Kind::If),                         // it ne
            (&[0xbf00], Kind::Other),                      // nop
            (&[0x4770], Kind::Jump),                       // bx lr
            (&[0x46f7], Kind::Jump),                       // mov pc, lr
            (&[0x4608], Kind::Other),                      // mov r0, r1
            (&[0xd1fe], Kind::Branch),                     // bne
            (&[0xb100], Kind::Branch),                     // cbz r0
            (&[0xdfab], Kind::Other),                      // svc
            (&[0xf000, 0xf800], Kind::Branch),             // bl
            (&[0xf3bf, 0x8f4f], Kind::System),             // dsb
            (&[0xe8d1, 0xf002], Kind::TableBranch),        // tbb [r1, r2]
            (&[0xe9d1, 0x2300], Kind::Several),            // ldrd r2, r3, [r1]
            (&[0xe8bd, 0x8ff0], Kind::LoadPc),             // pop {r4-r11, pc}
            (&[0xfbb1, 0xf0f2], Kind::Divide),             // udiv r0, r1, r2
            (&[0xfba1, 0x0102], Kind::Other),              // umull r0, r1, r1, r2
            (&[0xed91, 0x0a00], Kind::Several),            // vldr s0, [r1]
            (&[0xee10, 0x0a10], Kind::Other),              // vmov r0, s0
            (&[0xec51, 0x0b10], Kind::Other),              // vmov r0, r1, d0
            (&[0xee80, 0x0a20], Kind::FloatDivide),        // vdiv.f32 s0, s0, s1
            (&[0xf851, 0x0022], Kind::Load { target: 0 }), // ldr.w r0, [r1, r2, lsl #2]
            (&[0xf841, 0x0022], Kind::StoreIndexed),       // str.w r0, [r1, r2, lsl #2]
            (&[0xf8c1, 0x0100], Kind::Store),              // str.w r0, [r1, #256]
        ] {
            assert_eq!(kind(halves), expected, "{halves:04x?}");
        }
    }

    fn at(address: u32, halves: &[u16]) -> Instruction {
        decode(address, &halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<_>>())
    }

    #[test]
    fn a_load_behind_a_load_waits_only_for_its_address() {
        let (first, free, bound) = (at(0, &[0x6848]), at(2, &[0x684b]), at(2, &[0x6803]));
        let next = at(4, &[0xbf00]);
        let cost = |instruction, before| {
            cycles(&Retired { instruction, before, next: &next, words: 1, unaligned: 0 })
        };
        assert_eq!((cost(&free, None), cost(&free, Some(&first)), cost(&bound, Some(&first))), (2, 1, 2));
    }

    #[test]
    fn branches_cost_what_the_pipeline_does() {
        let branch = at(0, &[0xd1fe]);
        let cost = |next: &Instruction| {
            cycles(&Retired { instruction: &branch, before: None, next, words: 0, unaligned: 0 })
        };
        assert_eq!(cost(&at(2, &[0xbf00])), 1, "not taken");
        assert_eq!(cost(&at(0x40, &[0xbf00])), 3);
        assert_eq!(cost(&at(0x42, &[0xf000, 0xf800])), 6, "to an instruction in two words");
    }
}
