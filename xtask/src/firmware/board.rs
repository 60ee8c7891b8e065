//! Programs for a board: with the memory map of an STM32F407 they are built and not run.

use super::image::{self, CORTEX_M4};
use super::rows;
use crate::run::Workspace;
use anyhow::{Result, ensure};

/// What a device does, and the operations with the most stack of either algorithm.
const PROGRAMS: [(&str, &str); 3] = [
    ("gambeson-firmware-demo", ""),
    (rows::PACKAGE, "ml-kem-1024 decaps small"),
    (rows::PACKAGE, "ml-dsa-87 sign-seed small"),
];

/// Flash, and the SRAM that the map gives to programs (RM0090, section 2.3).
const MEMORY: [std::ops::Range<u64>; 2] = [0x0800_0000..0x0810_0000, 0x2000_0000..0x2001_fff0];

/// A board, and whether the programs that are built for it lie in the memory of an STM32F407.
const BOARDS: [(&str, bool); 2] = [("stm32f407", true), ("mps2-an386", false)];

/// Checks that every section lies in the board's memory, and the vectors where its processor looks for them; on QEMU's machine they do not.
/// Without `full` the demonstration is built for both boards, and the program with the most stack for the real one.
pub fn check(workspace: &Workspace, full: bool) -> Result<String> {
    let mut fitting = 0;
    for (number, (package, row)) in PROGRAMS.into_iter().enumerate() {
        for (board, expected) in BOARDS {
            let ordinary = number == 0 || (number == 2 && expected);
            if !full && !ordinary {
                continue;
            }
            fitting += usize::from(expected);
            let mut variables = rows::variables(row, "3");
            variables.push(("GAMBESON_BOARD", board));
            let image = image::build(
                workspace,
                &CORTEX_M4,
                package,
                &format!("{package} {row} {board}"),
                &variables,
            )?;
            let fits = fits(&image.sections(workspace)?);
            ensure!(
                fits == expected,
                "{package} {row}: a section for {board}: in the memory of an STM32F407: {fits}"
            );
        }
    }
    Ok(format!("{fitting} programs fit an STM32F407"))
}

/// Whether all that a program has in memory, each with its bytes and its address, lies in the board's.
fn fits(sections: &[(String, u64, u64)]) -> bool {
    let here = |(_, bytes, start): &&(String, u64, u64)| {
        MEMORY.iter().any(|memory| memory.contains(start) && start + bytes <= memory.end)
    };
    // At 0 stands what is not loaded; and QEMU's vectors.
    let loaded =
        |(name, bytes, start): &&(String, u64, u64)| *bytes > 0 && (*start > 0 || name == ".vector_table");
    let vectors = sections.iter().find(|(name, ..)| name == ".vector_table");
    vectors.is_some_and(|(.., start)| *start == MEMORY[0].start)
        && sections.iter().filter(loaded).all(|section| here(&section))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beyond_the_memory_does_not_fit() {
        let fit = |sections: &[(&str, u64, u64)]| {
            let owned = sections.iter().map(|(name, bytes, start)| ((*name).to_owned(), *bytes, *start));
            fits(&owned.collect::<Vec<_>>())
        };
        let vectors = (".vector_table", 1024, 0x0800_0000);
        assert!(fit(&[
            vectors,
            (".text", 0xf_fc00, 0x0800_0400),
            (".debug_info", 9, 0),
            (".bss", 8, 0x2001_ffe8)
        ]));
        assert!(!fit(&[vectors, (".text", 0xf_fc01, 0x0800_0400)]));
        assert!(!fit(&[vectors, (".bss", 9, 0x2001_ffe8)]));
        assert!(!fit(&[(".vector_table", 1024, 0), (".text", 1, 0x0800_0400)]));
        assert!(!fit(&[(".text", 1, 0x0800_0400)]));
    }
}
