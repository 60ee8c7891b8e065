//! The rows for people: on the terminal, and as docs/embedded/README.md.

use super::image;
use super::limits::{self, Missed, Verdict};
use super::rows::{self, Peer, Row};
use crate::table::{Table, grouped};
use serde::Serialize;

/// A line a row; what one misses stands behind it, and `red` colours it.
pub fn text(rows: &[Row], verdicts: &[Verdict<'_>], missed: &Missed, red: impl Fn(&str) -> String) -> String {
    let heads =
        &["target", "profile", "set", "operation", "stack", "heap", "key", "code", "kinsns", "kcycles"];
    let name = |row: &Row| [row.target.to_owned(), row.profile.to_owned(), row.alg.clone(), row.op.clone()];
    let cells = rows.iter().map(|row| name(row).into_iter().chain(cells(row)).collect()).collect();
    let mut lines = Table { heads, words: 4, rows: cells }.lines();
    for (line, row) in lines[1..].iter_mut().zip(rows) {
        let misses = misses(row, verdicts, missed);
        if !misses.is_empty() {
            *line = red(&format!("{line}  missed: {}", misses.join(" | ")));
        }
    }
    lines.join("\n") + "\n"
}

/// An object a row, of its figures and of what it misses.
pub fn json(row: &Row, verdicts: &[Verdict<'_>], missed: &Missed) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Told<'a> {
        #[serde(flatten)]
        row: &'a Row,
        missed: Vec<String>,
    }
    serde_json::to_string(&Told { row, missed: misses(row, verdicts, missed) })
}

/// The limits that a row misses, each with its reason.
fn misses(row: &Row, verdicts: &[Verdict<'_>], missed: &Missed) -> Vec<String> {
    let of_row = verdicts.iter().filter(|verdict| verdict.row.name() == row.name() && !verdict.is_met());
    of_row.map(|verdict| figures(verdict, missed)).collect()
}

/// Stack, heap and static memory, key, code, thousands of instructions and of cycles; nothing where nothing was measured.
fn cells(row: &Row) -> [String; 6] {
    let code = grouped(row.code);
    if row.is_of_code() {
        let none = String::new;
        return [none(), none(), none(), code, none(), none()];
    }
    let [stack, beside, key] = [row.stack, row.beside(), row.key].map(grouped);
    [stack, beside, key, code, thousands(row.instructions), thousands(row.cycles)]
}

/// A row whose limit is missed, by how much, and why.
pub fn sentence(verdict: &Verdict<'_>, missed: &Missed) -> String {
    format!("{}: {}", verdict.row.name(), figures(verdict, missed))
}

fn figures(verdict: &Verdict<'_>, missed: &Missed) -> String {
    let Verdict { what, measured, most, .. } = verdict;
    format!("{measured} {what}, at most {most}: {}", missed.reason(verdict))
}

/// With two decimals below ten.
fn thousands(number: u64) -> String {
    match number as f64 / 1000.0 {
        few if few < 10.0 => format!("{few:.2}"),
        many => grouped(many.round() as u64),
    }
}

const HEAD: &str = "# Small devices\n\n\
`cargo xtask firmware bench` measured every row of this page and wrote it. The programs of `firmware/` run under QEMU: `mps2-an386`, \
a Cortex-M4, and `virt`, RV32IMAC; one set each on `virt` as RV32EMC, the class of the CHERIoT Ibex core. A plugin of ours counts retired instructions, which are exact, and cycles by a model of a Cortex-M4 \
without wait states: against 45 figures that pqm4 published of a board it errs by 1.04 % (root mean square) and by 1.9 % at most. \
The model for RV32 was compared with no silicon. **Stack** is bytes below the caller's stack pointer, all frames and the Keccak \
state included; painted and seen by the plugin, which must agree. Keys, messages and outputs are the caller's buffers. What a program keeps \
in memory of its own beside them is no stack and would count as such: every row of ours has none unless the table \
says so. **Code** is `.text` and `.rodata` of a program with that operation alone, less an empty one, which copies, clears and compares \
bytes as the peers' does.\n\n\
ML-KEM: ten keys. ML-DSA: ten keys, one key that signs fifty messages without randomness, ten signatures that are verified; the same for \
every peer. Profile `small` is `Small<P>`, `fast` is `Compact<P>`, but for the rows that end with `-prepared`, which are the plain set; `workspace` is `Small<P>` in memory of the caller's, whose bytes are in the column of the heap, \
so that the stack is frames alone (one set each: frames do not depend on it). These run at `opt-level = 3`; but the code of `small` and `workspace` is \
that of a build for size, at `\"s\"`, where permutation and transforms are rolled. What such a build of `small` takes beside its code are the rows `size`. \
On the Cortex-M4 `fast` is built for size with `--cfg gambeson_fast`, which keeps the assembly of speed (decision 38): code, stack and cycles are that one build's. Operations joined by `+` are one program, of which only the code is told. \
`decaps` takes the key of 96 bytes, `decaps-dk` \
the standard's bytes; `sign-seed` the key that holds the seed, `sign` the standard's bytes; what ends with `-prepared` a prepared key. Its bytes \
are in the column of the heap with all that the operation takes there, and the allocator is in its code.\n\n\
LMS, XMSS and SLH-DSA: two signatures of messages of 32 bytes, which lie in flash and are read through a callback. The key is of the types that \
the program names, so that it holds no other hash function of LMS. SHA-256 is the digest of 64 bytes, by the crate `sha2`.\n\n\
The permutation is that of a sponge, whose lanes are interleaved. X25519, P-256 and RSA-2048 (ECDSA and PKCS #1 v1.5 with SHA-256) are the work of \
crates that are named, at `opt-level = 3`, on keys and messages of the same stream; keys are held as their own objects, and the code that reads a key is counted.\n\n\
Peers (`peers.csv` has versions): theirs are other implementations' own figures in the same emulator, on the same inputs; their code is that of all three operations. \
[x86-64.md](x86-64.md) has our least stack on a desk, beside a published low-memory library's.\n\n\
![Stack of each operation](stack.svg)\n";

/// The page.
pub fn markdown(rows: &[Row], peers: &[Peer], verdicts: &[Verdict<'_>], missed: &Missed) -> String {
    let mut text = String::from(HEAD);
    for target in image::MEASURED {
        for alg in rows::algorithms() {
            let is_here = |row: &&Row| row.target == target.name && row.alg == alg;
            if !rows.iter().any(|row| is_here(&row)) {
                continue;
            }
            text += &format!(
                "\n## {alg}, {}\n\n| | operation | stack | heap, static, workspace | key | code | kinstructions | kcycles | stack hoped for |\n\
                 | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
                target.name
            );
            for row in rows.iter().filter(is_here) {
                let hoped = limits::stretch(row).map_or_else(String::new, grouped);
                text += &format!("| {} | {} | {} | {hoped} |\n", row.by(), row.op, cells(row).join(" | "));
            }
            for peer in peers.iter().filter(|peer| peer.target == target.name && peer.alg == alg) {
                let Peer { stack, heap, key, code, kinstructions, kcycles, .. } = *peer;
                let figures = [stack, heap, key, code, kinstructions, kcycles].map(grouped).join(" | ");
                text += &format!("| {} | {} | {figures} | |\n", peer.peer, peer.op);
            }
        }
    }
    text += "\n## Limits that are missed\n\n";
    let failed: Vec<&Verdict<'_>> = verdicts.iter().filter(|verdict| !verdict.is_met()).collect();
    text += &format!("Of {} limits {} are missed.\n", verdicts.len(), failed.len());
    if !failed.is_empty() {
        text += "\n| row | measured | at most | why |\n| --- | ---: | ---: | --- |\n";
    }
    for verdict in failed {
        let Verdict { row: Row { target, profile, alg, op, .. }, what, measured, most, .. } = verdict;
        let (measured, most, why) = (grouped(*measured), grouped(*most), missed.reason(verdict));
        text += &format!("| {target}, {profile}, {alg} {op}: {what} | {measured} | {most} | {why} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_misses_is_on_the_page_with_its_reason() {
        let rows = [Row {
            target: "cortex-m4",
            profile: "small",
            alg: "ML-KEM-768".into(),
            op: "keygen".into(),
            stack: 1281,
            key: 96,
            code: 100,
            instructions: 600_000,
            cycles: 660_000,
            ..Row::default()
        }];
        let verdicts = limits::judge(&rows, &[]);
        let missed = Missed::read("[[reason]]\ntext = \"planted\"\n").unwrap();
        let page = markdown(&rows, &[], &verdicts, &missed);
        let reason = "| cortex-m4, small, ML-KEM-768 keygen: bytes of stack | 1,281 | 1,280 | planted |";
        assert!(page.contains(reason));
        assert!(page.contains("| **gambeson, small** | keygen | 1,281 | 0 | 96 | 100 | 600 | 660 | 1,024 |"));
        let told = text(&rows, &verdicts, &missed, |line| format!("red {line}"));
        let line = told.lines().last().unwrap();
        let reason = "1281 bytes of stack, at most 1280: planted";
        assert!(line.starts_with("red cortex-m4") && line.ends_with(&format!("missed: {reason}")), "{line}");
        let told: serde_json::Value =
            serde_json::from_str(&json(&rows[0], &verdicts, &missed).unwrap()).unwrap();
        assert_eq!((&told["stack"], &told["missed"][0]), (&1281.into(), &reason.into()));

        // A program that failed has no figures but that of its code, and its own reason.
        let failed = [Row { failed: Some("left on the stack".into()), ..rows[0].clone() }];
        let verdicts = limits::judge(&failed, &[]);
        let page = markdown(&failed, &[], &verdicts, &missed);
        assert!(page.contains("| **gambeson, small** | keygen |  |  |  | 100 |  |  | 1,024 |"), "{page}");
        assert!(page.contains("keygen: program that fails | 1 | 0 | left on the stack |"), "{page}");
    }
}
