//! What the rows must keep to, and the reasons of those that do not.

use super::rows::{self, Peer, Row};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Compact rows on the Cortex-M4: set, operation, and the most of bytes of stack, those hoped for, thousands of cycles, bytes of the key.
const COMPACT: &[(&str, &str, [u64; 4])] = &[
    ("ML-KEM-512", "keygen", [1280, 1024, 410, 96]),
    ("ML-KEM-512", "encaps", [1728, 1536, 410, 800]),
    ("ML-KEM-512", "decaps", [2240, 1984, 640, 96]),
    ("ML-KEM-512", "decaps-dk", [1856, 1664, 447, 1632]),
    ("ML-KEM-768", "keygen", [1280, 1024, 668, 96]),
    ("ML-KEM-768", "encaps", [1792, 1600, 690, 1184]),
    ("ML-KEM-768", "decaps", [2240, 1984, 940, 96]),
    ("ML-KEM-768", "decaps-dk", [1984, 1664, 740, 2400]),
    ("ML-KEM-1024", "keygen", [1280, 1024, 1060, 96]),
    ("ML-KEM-1024", "encaps", [1728, 1536, 1080, 1568]),
    ("ML-KEM-1024", "decaps", [2240, 1984, 1440, 96]),
    ("ML-KEM-1024", "decaps-dk", [2112, 1664, 1145, 3168]),
    ("ML-DSA-44", "keygen", [2560, 2240, 1790, 128]),
    ("ML-DSA-65", "keygen", [2560, 2240, 3383, 128]),
    ("ML-DSA-87", "keygen", [2560, 2240, 5814, 128]),
    ("ML-DSA-44", "sign", [2816, 2432, 9000, 2560]),
    ("ML-DSA-65", "sign", [3456, 3072, 22_000, 4032]),
    ("ML-DSA-87", "sign", [3712, 3264, 28_000, 4896]),
    ("ML-DSA-44", "sign-seed", [3584, 3072, 12_500, 128]),
    ("ML-DSA-65", "sign-seed", [4224, 3712, 28_500, 128]),
    ("ML-DSA-87", "sign-seed", [4480, 3968, 38_000, 128]),
    ("ML-DSA-44", "verify", [2432, 2112, 2400, 1312]),
    ("ML-DSA-65", "verify", [2432, 2112, 4300, 1952]),
    ("ML-DSA-87", "verify", [2432, 2112, 7400, 2592]),
];

/// What RV32 may take of the stack beyond the Cortex-M4.
const WIDER: u64 = 256;

/// What an operation in a workspace may take of the stack on the Cortex-M4: its frames.
const FRAMES: [(&str, u64); 2] = [("ML-KEM", 640), ("ML-DSA", 832)];

/// Fast rows on the Cortex-M4: set, operation, peer, and the most of its cycles.
const FAST: &[(&str, &str, &str, f64)] = &[
    ("ML-KEM", "keygen", "pqm4 m4fspeed", 1.05),
    ("ML-KEM", "encaps", "pqm4 m4fspeed", 1.05),
    ("ML-KEM", "decaps-dk", "pqm4 m4fspeed", 1.05),
    ("ML-KEM", "keygen", "mlkem-native -O3", 0.60),
    ("ML-KEM", "encaps", "mlkem-native -O3", 0.56),
    ("ML-KEM", "decaps-dk", "mlkem-native -O3", 0.48),
    ("ML-DSA", "keygen", "pqm4 m4f", 1.10),
    ("ML-DSA", "sign", "pqm4 m4f", 1.10),
    ("ML-DSA", "verify", "pqm4 m4f", 1.10),
    ("ML-DSA", "keygen", "mldsa-native -O3", 0.62),
    ("ML-DSA", "sign", "mldsa-native -O3", 0.62),
    ("ML-DSA", "verify", "mldsa-native -O3", 0.62),
    ("ML-KEM", "encaps-prepared", "pqm4 m4fspeed", 0.45),
    ("ML-KEM", "decaps-prepared", "pqm4 m4fspeed", 0.50),
    ("ML-DSA", "sign-prepared", "pqm4 m4f", 0.70),
    ("ML-DSA", "verify-prepared", "pqm4 m4f", 0.50),
];

/// The operation that a peer, which has no prepared keys, is measured by.
fn of_peers(op: &str) -> &str {
    match op {
        "decaps-prepared" => "decaps-dk",
        _ => op.strip_suffix("-prepared").unwrap_or(op),
    }
}

/// One permutation: cycles on the Cortex-M4, which are those of pqm4's assembly, and instructions on RV32.
const PERMUTATION: [(&str, u64); 2] = [("cortex-m4", 9800), ("rv32imac", 12_800)];

/// The speed variants, whose stack a fast row may take.
const SPEED: [&str; 2] = ["pqm4 m4fspeed", "pqm4 m4f"];

/// The smallest code of others: what a build for size may take of their cycles on the Cortex-M4 is all, and a fast one of their instructions on
/// RV32 this part.
const SMALLEST: [&str; 2] = ["mlkem-native -Os", "mldsa-native reduced -Os"];
const RV32_RATIO: f64 = 0.80;

/// Code by profile: of one set with these operations, joined by `+`.
const CODE: &[(&str, &str, [u64; 2])] = &[
    ("ML-KEM", "keygen+encaps+decaps", [8400, 20_000]),
    ("ML-KEM", "encaps+decaps", [7400, u64::MAX]),
    ("ML-KEM", "keygen", [5600, u64::MAX]),
    ("ML-DSA", "keygen+sign-seed+verify", [11_000, 24_000]),
    ("ML-DSA", "verify", [6500, u64::MAX]),
    (rows::BOTH.0, rows::BOTH.1, [16_500, 40_000]),
];

/// Verification of streamed signatures on the Cortex-M4: the most of bytes of stack, and of code beside SHA-256.
const STREAMED: &[(&str, [u64; 2])] = &[
    ("LMS-SHA256-H10-W8", [1024, 4096]),
    ("LMS-SHA256-H10-W4", [1024, 4096]),
    ("LMS-SHAKE-H10-W8", [1088, u64::MAX]),
    ("XMSS-SHA2_10_256", [1536, u64::MAX]),
    ("SLH-DSA-SHA2-128s", [2048, u64::MAX]),
];

/// A row's figure against its limit.
#[derive(Debug)]
pub struct Verdict<'a> {
    pub row: &'a Row,
    /// What is limited, with its unit.
    pub what: String,
    pub measured: u64,
    pub most: u64,
    /// Why it is missed, where the row itself tells.
    why: Option<&'a str>,
}

impl Verdict<'_> {
    pub const fn is_met(&self) -> bool {
        self.measured <= self.most
    }
}

fn verdict(row: &Row, what: impl Into<String>, measured: u64, most: u64) -> Verdict<'_> {
    Verdict { row, what: what.into(), measured, most, why: None }
}

/// What is hoped for, of a row that has a limit.
pub fn stretch(row: &Row) -> Option<u64> {
    of_compact(row).filter(|_| row.profile == "small").map(|[_, stretch, ..]| stretch)
}

/// The most that an operation of the core in the least memory may take of a Cortex-M4's stack: its frames alone where memory is the
/// caller's. `gambeson.h` has it beside each call.
pub fn stack_on_cortex_m4(alg: &str, op: &str, in_workspace: bool) -> Option<u64> {
    let (.., [stack, ..]) = COMPACT.iter().find(|limit| (limit.0, limit.1) == (alg, op))?;
    let of_frames = || FRAMES.iter().find(|(set, _)| alg.starts_with(set)).map(|(_, most)| *most);
    if in_workspace { of_frames() } else { Some(*stack) }
}

fn of_compact(row: &Row) -> Option<[u64; 4]> {
    let is_compact = ["small", rows::SIZE].contains(&row.profile);
    let limit = COMPACT.iter().find(|(alg, op, _)| is_compact && *alg == row.alg && *op == row.op);
    limit.map(|(.., most)| *most)
}

/// Every limit that binds one of the rows.
pub fn judge<'a>(rows: &'a [Row], peers: &[Peer]) -> Vec<Verdict<'a>> {
    let of_all = rows.iter().flat_map(|row| of_row(row, peers));
    of_all.chain(rows.iter().flat_map(|row| of_streamed(row, rows))).collect()
}

fn of_streamed<'a>(row: &'a Row, rows: &[Row]) -> Vec<Verdict<'a>> {
    let limit = STREAMED.iter().find(|(alg, _)| *alg == row.alg && row.target == "cortex-m4");
    let Some((_, [stack, code])) = limit.filter(|_| row.failed.is_none()) else { return Vec::new() };
    let mut verdicts = vec![verdict(row, "bytes of stack", row.stack + row.statics, *stack)];
    let hash = rows.iter().find(|other| other.target == row.target && other.alg == "SHA-256");
    if let Some(hash) = hash.filter(|_| *code != u64::MAX) {
        let beside = row.code.saturating_sub(hash.code);
        verdicts.push(verdict(row, "bytes of code beside SHA-256", beside, *code));
    }
    verdicts
}

fn of_row<'a>(row: &'a Row, peers: &[Peer]) -> Vec<Verdict<'a>> {
    let same =
        |peer: &&Peer| peer.target == row.target && peer.alg == row.alg && peer.op == of_peers(&row.op);
    let peers: Vec<&Peer> = peers.iter().filter(same).collect();
    let mut verdicts = Vec::new();
    if let Some(why) = &row.failed {
        let failed = verdict(row, "program that fails", 1, 0);
        verdicts.push(Verdict { why: Some(why), ..failed });
    } else if let Some((target, most)) =
        PERMUTATION.iter().find(|(target, _)| row.alg == rows::PERMUTATION.0 && *target == row.target)
    {
        let cycles = *target == "cortex-m4";
        let (what, measured) =
            if cycles { ("cycles", row.cycles) } else { ("instructions", row.instructions) };
        verdicts.push(verdict(row, what, measured, *most));
    } else if !row.is_of_code() {
        // A key on the heap is not the stack's; whoever has none has nothing else there.
        let stack = row.stack + row.statics + row.workspace;
        match (row.target, of_compact(row)) {
            (_, None) if row.profile == rows::WORKSPACE => {
                let wider = if row.target == "cortex-m4" { 0 } else { WIDER };
                for (_, most) in FRAMES.iter().filter(|(set, _)| row.alg.starts_with(set)) {
                    let stack = row.stack + row.statics;
                    verdicts.push(verdict(row, "bytes of stack", stack, most + wider));
                }
            }
            ("cortex-m4", Some([most, _, kcycles, key])) => {
                verdicts.push(verdict(row, "bytes of stack", stack, most));
                verdicts.push(verdict(row, "bytes of key", row.key, key));
                let cycles = thousands(row.cycles);
                if row.profile == "small" {
                    verdicts.push(verdict(row, "thousand cycles", cycles, kcycles));
                } else {
                    for peer in peers.iter().filter(|peer| SMALLEST.contains(&peer.peer.as_str())) {
                        let what = format!("thousand cycles ({})", peer.peer);
                        verdicts.push(verdict(row, what, cycles, peer.kcycles));
                    }
                }
            }
            ("rv32imac", Some([most, ..])) => {
                verdicts.push(verdict(row, "bytes of stack", stack, most + WIDER))
            }
            ("cortex-m4", None) => {
                for (set, op, name, ratio) in FAST {
                    let is_its = row.alg.starts_with(set) && row.op == *op;
                    for peer in peers.iter().filter(|peer| is_its && peer.peer == *name) {
                        let what = format!("thousand cycles ({ratio} of {name})");
                        let most = (peer.kcycles as f64 * ratio).floor() as u64;
                        verdicts.push(verdict(row, what, thousands(row.cycles), most));
                    }
                }
                for peer in peers.iter().filter(|peer| SPEED.contains(&peer.peer.as_str())) {
                    verdicts.push(verdict(row, format!("bytes of stack ({})", peer.peer), stack, peer.stack));
                }
            }
            ("rv32imac", None) if of_peers(&row.op) == row.op => {
                for peer in peers.iter().filter(|peer| SMALLEST.contains(&peer.peer.as_str())) {
                    let what = format!("thousand instructions ({RV32_RATIO} of {})", peer.peer);
                    let most = (peer.kinstructions as f64 * RV32_RATIO).floor() as u64;
                    verdicts.push(verdict(row, what, thousands(row.instructions), most));
                }
            }
            _ => {}
        }
    }
    for (set, ops, most) in CODE {
        let most = match row.profile {
            "small" => most[0],
            "fast" => most[1],
            _ => u64::MAX,
        };
        let is_its = row.target == "cortex-m4" && row.alg.starts_with(set) && row.op == *ops;
        if is_its && most != u64::MAX {
            verdicts.push(verdict(row, "bytes of code", row.code, most));
        }
    }
    verdicts
}

fn thousands(number: u64) -> u64 {
    (number as f64 / 1000.0).round() as u64
}

/// Why rows miss a limit: `docs/embedded/missed.toml`.
#[derive(Deserialize)]
pub struct Missed {
    #[serde(default)]
    reason: Vec<Reason>,
}

/// Of the rows that these fields select; one that is not there selects all.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    target: Option<String>,
    profile: Option<String>,
    alg: Option<String>,
    op: Option<String>,
    /// The beginning of what is limited.
    what: Option<String>,
    text: String,
}

pub const MISSED: &str = "docs/embedded/missed.toml";

/// What stands where a reason is missing; `faults` tells of it.
const UNKNOWN: &str = "nobody knows yet why";

impl Missed {
    pub fn read(text: &str) -> Result<Self> {
        let missed: Self = toml::from_str(text).context(MISSED)?;
        let has_text = missed.reason.iter().all(|reason| !reason.text.is_empty());
        ensure!(has_text, "{MISSED}: a reason without a text");
        Ok(missed)
    }

    /// The reason of a row that misses its limit.
    pub fn reason<'a>(&'a self, verdict: &Verdict<'a>) -> &'a str {
        let listed = || self.place(verdict).map_or(UNKNOWN, |place| &self.reason[place].text);
        verdict.why.unwrap_or_else(listed)
    }

    /// What does not fit the verdicts: a limit that is missed without a reason, and, where these are `all`, a reason of none that is.
    pub fn faults(&self, verdicts: &[Verdict<'_>], all: bool) -> Vec<String> {
        let mut bound = vec![!all; self.reason.len()];
        let mut faults = Vec::new();
        for verdict in verdicts.iter().filter(|verdict| !verdict.is_met() && verdict.why.is_none()) {
            match self.place(verdict) {
                Some(place) => bound[place] = true,
                None => {
                    let (name, what) = (verdict.row.name(), &verdict.what);
                    faults.push(format!("{MISSED} has no reason for {name}: {what}"));
                }
            }
        }
        for (reason, _) in self.reason.iter().zip(bound).filter(|(_, bound)| !bound) {
            faults.push(format!("{MISSED}: no row is missed that has the reason {:?}", reason.text));
        }
        faults
    }

    /// The first reason that selects the verdict.
    fn place(&self, Verdict { row, what, .. }: &Verdict<'_>) -> Option<usize> {
        let fits =
            |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| is.starts_with(wanted));
        let of = |reason: &Reason| {
            fits(&reason.target, row.target)
                && fits(&reason.profile, row.profile)
                && fits(&reason.alg, &row.alg)
                && reason.op.as_ref().is_none_or(|op| *op == row.op)
                && fits(&reason.what, what)
        };
        self.reason.iter().position(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(target: &'static str, profile: &'static str, op: &str, stack: u64, cycles: u64) -> Row {
        Row {
            target,
            profile,
            alg: "ML-KEM-768".into(),
            op: op.into(),
            stack,
            key: 96,
            code: 5601,
            instructions: cycles,
            cycles,
            ..Row::default()
        }
    }

    fn missed(row: Row) -> Vec<String> {
        let peers = super::super::rows::peers(include_str!("../../../docs/embedded/peers.csv")).unwrap();
        let rows = [row];
        let verdicts = judge(&rows, &peers);
        assert!(!verdicts.is_empty(), "a row that no limit binds");
        verdicts.into_iter().filter(|verdict| !verdict.is_met()).map(|verdict| verdict.what).collect()
    }

    #[test]
    fn limits_bind_to_the_byte() {
        assert_eq!(missed(row("cortex-m4", "small", "encaps", 1792, 690_499)), ["bytes of key"; 0]);
        assert_eq!(missed(row("cortex-m4", "small", "encaps", 1793, 690_000)), ["bytes of stack"]);
        assert_eq!(missed(row("cortex-m4", "small", "encaps", 1792, 690_501)), ["thousand cycles"]);
        assert_eq!(missed(row("rv32imac", "small", "encaps", 2048, 9_000_000)), ["bytes of stack"; 0]);
        assert_eq!(missed(row("rv32imac", "small", "encaps", 2049, 1)), ["bytes of stack"]);
        assert_eq!(missed(row("cortex-m4", "small", "keygen", 1280, 1)), ["bytes of code"]);
    }

    #[test]
    fn what_is_built_for_size_is_as_fast_as_the_smallest_of_others() {
        let of = |op, stack, cycles| row("cortex-m4", "size", op, stack, cycles);
        assert_eq!(missed(of("encaps", 1792, 1_246_499)), ["bytes of key"; 0]);
        assert_eq!(
            missed(of("encaps", 1793, 1_247_000)),
            ["bytes of stack", "thousand cycles (mlkem-native -Os)"]
        );
        // The peer has no key of 96 bytes, and code is told of another row.
        assert_eq!(missed(of("decaps", 2240, 9_000_000)), [""; 0]);
        assert_eq!(missed(of("keygen", 1280, 1)), [""; 0]);
        assert_eq!(missed(row("rv32imac", "size", "encaps", 2049, 9_000_000)), ["bytes of stack"]);
    }

    #[test]
    fn a_workspace_leaves_only_frames_to_the_stack() {
        let of = |target, alg: &str, stack| Row {
            alg: alg.into(),
            workspace: 1840,
            ..row(target, "workspace", "encaps", stack, 1)
        };
        assert_eq!(missed(of("cortex-m4", "ML-KEM-768", 640)), [""; 0]);
        assert_eq!(missed(of("cortex-m4", "ML-KEM-768", 641)), ["bytes of stack"]);
        assert_eq!(missed(of("rv32emc", "ML-DSA-65", 832 + WIDER)), [""; 0]);
        assert_eq!(missed(of("rv32emc", "ML-DSA-65", 833 + WIDER)), ["bytes of stack"]);
    }

    #[test]
    fn a_program_that_fails_misses_with_its_own_reason() {
        let row = row("rv32emc", "workspace", "encaps", 0, 0);
        let failed = [Row { failed: Some("left on the stack".into()), ..row }];
        let verdicts = judge(&failed, &[]);
        assert_eq!((verdicts.len(), verdicts[0].is_met()), (1, false));
        let missed = Missed::read("[[reason]]\ntext = \"another\"\n").unwrap();
        assert_eq!(missed.reason(&verdicts[0]), "left on the stack");
    }

    #[test]
    fn fast_rows_are_held_against_the_peers() {
        assert_eq!(missed(row("cortex-m4", "fast", "decaps-dk", 6452, 732_000)), [""; 0]);
        assert_eq!(missed(row("cortex-m4", "fast", "decaps-dk", 6453, 738_000)).len(), 3);
        assert_eq!(missed(row("rv32imac", "fast", "encaps", 1, 910_000)), [""; 0]);
        assert_eq!(missed(row("rv32imac", "fast", "encaps", 1, 912_000)).len(), 1);
    }

    #[test]
    fn streamed_verification_has_limits_of_stack_and_of_code_beside_the_hash() {
        let of = |alg: &str, stack, code| Row {
            alg: alg.into(),
            op: "verify".into(),
            code,
            ..row("cortex-m4", "small", "verify", stack, 1)
        };
        let missed = |stack, code| {
            let rows = [of("SHA-256", 1, 3000), of("LMS-SHA256-H10-W8", stack, code)];
            judge(&rows, &[]).iter().filter(|verdict| !verdict.is_met()).count()
        };
        assert_eq!([missed(1024, 7096), missed(1025, 7096), missed(1024, 7097)], [0, 1, 1]);
    }

    #[test]
    fn the_permutation_the_keys_on_the_heap_and_the_pair_have_limits_of_their_own() {
        let of = |target, alg: &str, op, code, count| {
            let row = row(target, "fast", op, 100, count);
            Row { alg: alg.into(), code, heap: 7328, ..row }
        };
        assert_eq!(missed(of("cortex-m4", "Keccak-f[1600]", "permute", 1, 9800)), [""; 0]);
        assert_eq!(missed(of("cortex-m4", "Keccak-f[1600]", "permute", 1, 9801)), ["cycles"]);
        assert_eq!(missed(of("rv32imac", "Keccak-f[1600]", "permute", 1, 12_801)), ["instructions"]);
        assert_eq!(missed(of("cortex-m4", "ML-KEM-768", "encaps-prepared", 1, 293_000)), [""; 0]);
        assert_eq!(missed(of("cortex-m4", "ML-KEM-768", "encaps-prepared", 1, 294_000)).len(), 1);
        assert_eq!(missed(of("cortex-m4", "ML-KEM-768", "decaps-prepared", 1, 350_000)).len(), 1);
        let (alg, ops) = rows::BOTH;
        assert_eq!(missed(of("cortex-m4", alg, ops, 40_000, 0)), [""; 0]);
        assert_eq!(missed(of("cortex-m4", alg, ops, 40_001, 0)), ["bytes of code"]);
    }

    #[test]
    fn reasons_are_of_the_rows_that_they_select() {
        let missed = Missed::read(include_str!("../../../docs/embedded/missed.toml")).unwrap();
        let row = row("cortex-m4", "none", "nothing", 1, 1);
        let verdict = verdict(&row, "nothing", 2, 1);
        assert_eq!(missed.reason(&verdict), UNKNOWN);
        let text = "[[reason]]\nprofile = \"none\"\ntext = \"planted\"\n";
        assert_eq!(Missed::read(text).unwrap().reason(&verdict), "planted");
    }

    #[test]
    fn a_missed_row_without_a_reason_and_a_reason_without_one_are_faults() {
        let row = row("cortex-m4", "small", "nothing", 1, 1);
        let verdicts = [verdict(&row, "bytes", 2, 1), verdict(&row, "cycles", 1, 1)];
        let missed = |reasons: &[(&str, &str)]| {
            let of = |(what, text): &(&str, &str)| format!("[[reason]]\nwhat = {what:?}\ntext = {text:?}\n");
            Missed::read(&reasons.iter().map(of).collect::<String>()).unwrap()
        };
        assert_eq!(missed(&[("bytes", "so")]).faults(&verdicts, true), [""; 0]);
        let without = missed(&[("cycles", "met")]).faults(&verdicts, true);
        assert_eq!(without.len(), 2);
        assert!(without[0].ends_with("no reason for cortex-m4 small ML-KEM-768 nothing: bytes"));
        assert!(without[1].ends_with("that has the reason \"met\""), "{without:?}");
        // Of a part of the rows, a reason may be another's.
        assert_eq!(missed(&[("bytes", "so"), ("cycles", "met")]).faults(&verdicts, false), [""; 0]);
        // One behind another that selects its row binds nothing.
        assert_eq!(missed(&[("b", "so"), ("bytes", "hidden")]).faults(&verdicts, true).len(), 1);
    }
}
