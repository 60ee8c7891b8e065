//! RV32IMAC: the encodings (The RISC-V Instruction Set Manual, volume I, chapters 2, 13 and 28), and cycles of a small core in the way
//! of Ibex. Nothing of this model was compared with silicon.

use crate::instruction::{Instruction, Kind, Retired};

/// Reads the instruction.
pub fn decode(address: u32, bytes: &[u8]) -> Instruction {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    let word = u32::from_le_bytes(word);
    let kind = if bytes.len() == 2 { compressed(word) } else { full(word) };
    Instruction { address, size: bytes.len() as u32, kind, base: 0 }
}

/// The target of a load counts for nothing here.
const LOAD: Kind = Kind::Load { target: 0 };

const fn full(word: u32) -> Kind {
    match word & 0x7f {
        0x03 => LOAD,
        0x23 => Kind::Store,
        0x63 => Kind::Branch,
        0x67 | 0x6f => Kind::Jump,
        0x33 if word >> 25 == 1 => match word >> 12 & 7 {
            0 => Kind::Other,
            1..=3 => Kind::MultiplyHigh,
            _ => Kind::Divide,
        },
        _ => Kind::Other,
    }
}

const fn compressed(code: u32) -> Kind {
    match (code & 3, code >> 13 & 7) {
        (0 | 2, 1..=3) => LOAD,
        (0 | 2, 5..=7) => Kind::Store,
        // C.JAL, C.J
        (1, 1 | 5) => Kind::Jump,
        (1, 6 | 7) => Kind::Branch,
        // C.JR and C.JALR name no second register; C.EBREAK names none at all.
        (2, 4) if code >> 2 & 31 == 0 && code >> 7 & 31 != 0 => Kind::Jump,
        _ => Kind::Other,
    }
}

/// The cycles of an instruction.
pub const fn cycles(retired: &Retired<'_>) -> u32 {
    match retired.instruction.kind {
        Kind::Load { .. } | Kind::Store => 2 + retired.unaligned,
        Kind::Branch if retired.taken() => 3,
        Kind::Jump | Kind::MultiplyHigh => 2,
        Kind::Divide => 37,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_told_apart() {
        for (bytes, expected) in [
            (&0x0042_a303_u32.to_le_bytes()[..], LOAD),           // lw t1, 4(t0)
            (&0x0062_a223_u32.to_le_bytes(), Kind::Store),        // sw t1, 4(t0)
            (&0x0262_83b3_u32.to_le_bytes(), Kind::Other),        // mul t2, t0, t1
            (&0x0262_b3b3_u32.to_le_bytes(), Kind::MultiplyHigh), // mulhu t2, t0, t1
            (&0x0262_d3b3_u32.to_le_bytes(), Kind::Divide),       // divu t2, t0, t1
            (&0x0062_83b3_u32.to_le_bytes(), Kind::Other),        // add t2, t0, t1
            (&0x0000_8067_u32.to_le_bytes(), Kind::Jump),         // jalr ra
            (&0x0062_8463_u32.to_le_bytes(), Kind::Branch),       // beq t0, t1
            (&0x8082_u16.to_le_bytes(), Kind::Jump),              // c.jr ra
            (&0x852e_u16.to_le_bytes(), Kind::Other),             // c.mv a0, a1
            (&0x9002_u16.to_le_bytes(), Kind::Other),             // c.ebreak
            (&0x4502_u16.to_le_bytes(), LOAD),                    // c.lwsp a0, 0(sp)
            (&0xc02a_u16.to_le_bytes(), Kind::Store),             // c.swsp a0, 0(sp)
            (&0xc101_u16.to_le_bytes(), Kind::Branch),            // c.beqz a0
            (&0xa001_u16.to_le_bytes(), Kind::Jump),              // c.j
        ] {
            assert_eq!(decode(0, bytes).kind, expected, "{bytes:02x?}");
        }
    }
}
