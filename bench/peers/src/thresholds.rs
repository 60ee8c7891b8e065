//! The numbers that this project promises, as data: `--check` fails when a row misses one.

use gambeson::cpu::Level;

use crate::peers::Form;
use crate::row::{Permutation, Row};

/// A promise about one operation: the fastest peer's time over ours is at least this.
#[derive(Clone, Copy)]
pub struct Promise {
    /// `ML-KEM-768 decaps`
    pub op: &'static str,
    /// What it starts from.
    pub form: Form,
    /// With the AVX-512 tables, against every peer.
    pub avx512: f64,
    /// With the AVX2 tables, against the peers at or below AVX2; none for a batch under one key.
    pub avx2: Option<f64>,
    /// Why the row is open, if it is: `--check` prints it, and fails all the same.
    pub open: Option<&'static str>,
}

/// The hash of the public key waits for its last row: after that its permutations run alone.
const CHAIN: &str = "open: half of the time is permutations, and the last of H(ek) or tr run alone; floor in docs/decisions/0017";
/// The same, and a rival that did not run here.
const SCALED: &str = "open: half of the time is permutations, those of H(ek) in a chain (docs/decisions/0017); liboqs 0.16, where it leads, is scaled from another processor";

/// What runs on each of the two processors say.
const ONE_STATE: &str =
    "open: 1.27 to 1.32 on Emerald Rapids, 1.15 on Zen 4, where one state takes 1,011 cycles instead of 795";
/// The same time in runs of one day, beside which wolfSSL's moves.
const RIVAL: &str = "open: 1.26 to 1.33 in runs of one day, in which ours is the same share of RustCrypto's time and wolfSSL's is not";
/// What was to give the rest did not.
const TRIED: &str = "open: three batch sponges and six other ways were built and measured, none faster than what stands (docs/decisions/0017)";
/// The same, and a rival that did not run here.
const TRIED_SCALED: &str = "open: what was built and measured is in docs/decisions/0017; liboqs 0.16, where it leads, is scaled from another processor";

/// Against the fastest peer. wolfSSL must be among the measured ones, or the row is missed.
pub const PROMISES: &[Promise] = &[
    promise("ML-KEM-512 keygen", Form::Oneshot, 1.15, 1.0).open(SCALED),
    promise("ML-KEM-512 encaps", Form::Oneshot, 1.4, 1.0).open(SCALED),
    promise("ML-KEM-512 decaps", Form::Oneshot, 1.6, 1.0).open(TRIED_SCALED),
    promise("ML-KEM-768 keygen", Form::Oneshot, 1.35, 1.0).open(SCALED),
    promise("ML-KEM-768 encaps", Form::Oneshot, 1.6, 1.0).open(SCALED),
    promise("ML-KEM-768 encaps", Form::Prepared, 1.1, 1.0).open(TRIED),
    promise("ML-KEM-768 encaps", Form::Batch64, 2.0, 1.2).open(TRIED_SCALED),
    promise("ML-KEM-768 decaps", Form::Oneshot, 1.7, 1.0),
    promise("ML-KEM-768 decaps", Form::Prepared, 1.25, 1.0).open(ONE_STATE),
    promise("ML-KEM-768 decaps", Form::Batch64, 2.0, 1.2).open(TRIED_SCALED),
    promise("ML-KEM-1024 keygen", Form::Oneshot, 1.25, 1.0).open(CHAIN),
    promise("ML-KEM-1024 encaps", Form::Oneshot, 1.3, 1.0).open(RIVAL),
    promise("ML-KEM-1024 decaps", Form::Oneshot, 1.5, 1.0),
    promise("ML-DSA-44 keygen", Form::Oneshot, 1.3, 1.0).open(CHAIN),
    promise("ML-DSA-44 sign", Form::Oneshot, 1.1, 1.0).open(TRIED_SCALED),
    promise("ML-DSA-44 sign", Form::Prepared, 1.15, 1.0),
    promise("ML-DSA-44 verify", Form::Oneshot, 1.3, 1.0),
    promise("ML-DSA-65 keygen", Form::Oneshot, 1.35, 1.0).open(CHAIN),
    promise("ML-DSA-65 sign", Form::Oneshot, 1.1, 1.0),
    promise("ML-DSA-65 sign", Form::Prepared, 1.1, 1.0),
    promise("ML-DSA-65 verify", Form::Oneshot, 1.3, 1.0),
    promise("ML-DSA-65 verify", Form::Prepared, 1.4, 1.0),
    promise("ML-DSA-65 verify", Form::Batch64, 1.6, 1.1).open(TRIED),
    promise("ML-DSA-87 keygen", Form::Oneshot, 1.2, 1.0).open(CHAIN),
    promise("ML-DSA-87 sign", Form::Oneshot, 1.1, 1.0).open(TRIED),
    promise("ML-DSA-87 sign", Form::Prepared, 1.0, 1.0),
    promise("ML-DSA-87 verify", Form::Oneshot, 1.3, 1.0).open(TRIED),
    promise("SLH-DSA-SHA2-128s keygen", Form::Oneshot, 2.8, 1.4),
    promise("SLH-DSA-SHA2-128s sign", Form::Prepared, 2.8, 1.4),
    promise("SLH-DSA-SHA2-128f sign", Form::Prepared, 2.8, 1.4),
    batch_of_eight("SLH-DSA-SHA2-128f sign", 1.0),
    promise("SLH-DSA-SHA2-128f verify", Form::Oneshot, 2.0, 1.0),
    batch_of_eight("SLH-DSA-SHA2-128f verify", 1.5),
    promise("SLH-DSA-SHA2-192s sign", Form::Prepared, 2.5, 1.3),
    promise("SLH-DSA-SHA2-256s sign", Form::Prepared, 2.5, 1.3),
    promise("SLH-DSA-SHA2-256f sign", Form::Prepared, 2.3, 1.2),
    batch_of_eight("SLH-DSA-SHA2-256f sign", 1.0),
    batch_of_eight("SLH-DSA-SHA2-256f verify", 1.5),
    promise("SLH-DSA-SHAKE-128f sign", Form::Prepared, 2.2, 0.95),
    batch_of_eight("SLH-DSA-SHAKE-128f sign", 1.0),
    promise("SLH-DSA-SHAKE-128f verify", Form::Oneshot, 2.0, 1.0),
    batch_of_eight("SLH-DSA-SHAKE-128f verify", 1.5),
    promise("LMS-SHA256-H10-W8 keygen", Form::Oneshot, 2.8, 1.4),
    promise("LMS-SHA256-H10-W8 sign", Form::Prepared, 6.0, 4.0),
    promise("LMS-SHA256-H10-W8 verify", Form::Oneshot, 2.0, 1.0),
    promise("XMSS-SHA2_10_256 keygen", Form::Oneshot, 2.8, 1.3),
    promise("XMSS-SHA2_10_256 sign", Form::Prepared, 15.0, 8.0),
    promise("XMSS-SHA2_10_256 verify", Form::Oneshot, 2.0, 1.0),
];

/// A hash-based row whose ratio is missed holds if our kernels alone take this share of our time: SHA-NI beside AVX-512 differs from
/// processor to processor.
const KERNEL_SHARE: f64 = 0.75;

const fn promise(op: &'static str, form: Form, avx512: f64, avx2: f64) -> Promise {
    Promise { op, form, avx512, avx2: Some(avx2), open: None }
}

/// A promise about a batch under one key, against our operation alone.
const fn batch_of_eight(op: &'static str, avx512: f64) -> Promise {
    Promise { op, form: Form::Batch8, avx512, avx2: None, open: None }
}

impl Promise {
    const fn open(self, reason: &'static str) -> Self {
        Self { open: Some(reason), ..self }
    }

    fn at(&self, level: Level) -> Option<f64> {
        match level {
            Level::Avx512 => Some(self.avx512),
            Level::Avx2 => self.avx2,
            _ => None,
        }
    }
}

/// The promise about `op` in `form`. About every operation in the form `default` it is that no peer's first documented example is
/// faster than ours, in the middle of three runs.
fn of(op: &str, form: Form) -> Option<Promise> {
    match form {
        Form::Default => Some(promise("any operation", form, 1.0, 1.0)),
        _ => PROMISES.iter().find(|promise| promise.op == op && promise.form == form).copied(),
    }
}

/// Core cycles that one permutation takes at most: states in a call, table, cycles, and why the row is open.
pub const CYCLES: &[(usize, Level, f64, &str)] = &[
    (
        8,
        Level::Avx512,
        160.0,
        "open: in place it takes 144, by its ports 135; the rest brings words to lanes and back",
    ),
    (
        4,
        Level::Avx512,
        200.0,
        "open: in place it takes 194, by its ports 180; the rest brings words to lanes and back",
    ),
    (4, Level::Avx2, 410.0, TRIED),
    (1, Level::Avx512, 800.0, TRIED),
];

/// With the portable tables every row is at least as fast as this peer.
const PORTABLE: &str = "RustCrypto";
/// The peer without which the others are no measure.
const STRONGEST: &str = "wolfSSL";

/// The ratio that is promised about `row`'s fastest peer.
pub fn ratio(row: &Row) -> Option<f64> {
    of(&row.op, row.form)?.at(row.kernels)
}

/// The cycles that are promised about `row`.
pub fn cycles(row: &Permutation) -> Option<f64> {
    promised(row).map(|(limit, _)| limit)
}

fn promised(row: &Permutation) -> Option<(f64, &'static str)> {
    let same = |line: &&(usize, Level, f64, &str)| (line.0, line.1) == (row.states, row.kernels);
    CYCLES.iter().find(same).map(|line| (line.2, line.3))
}

/// The verdict on what was measured.
pub struct Verdict {
    /// Promises that were judged.
    pub judged: usize,
    /// Those that were missed, in words.
    pub missed: Vec<String>,
}

/// Judges the rows, and the promises for tables of `level` whose operations are `wanted` but have no row.
pub fn judge(
    rows: &[Row],
    permutations: &[Permutation],
    level: Level,
    wanted: impl Fn(&str) -> bool,
) -> Verdict {
    let mut verdict = Verdict { judged: 0, missed: Vec::new() };
    let mut say = |said: Option<String>| {
        verdict.judged += 1;
        verdict.missed.extend(said);
    };
    for row in rows.iter().filter(|row| row.kernels == Level::Portable) {
        // The SHA-2 of that peer uses the SHA extensions whatever the limit.
        if row.form != Form::Batch64 && row.bound.is_none() {
            say(against(row, |name| name == PORTABLE, PORTABLE, 1.0));
        }
    }
    let operations = crate::operations()
        .flat_map(|(set, verb, forms)| forms.iter().map(move |&form| (format!("{set} {verb}"), form)));
    for (op, form) in operations.filter(|(op, _)| wanted(op)) {
        let Some(promise) = of(&op, form) else { continue };
        let Some(ratio) = promise.at(level) else { continue };
        let row = rows.iter().find(|row| row.op == op && row.form == form);
        let said = match row {
            Some(row) if row.kernels != level => {
                Some(format!("{} ({}): ran the {} table", row.op, row.form.name(), row.kernels))
            }
            Some(row)
                if form != Form::Batch8 && !row.peers.iter().any(|peer| peer.name.starts_with(STRONGEST)) =>
            {
                Some(format!("{} ({}): {STRONGEST} was not measured", row.op, row.form.name()))
            }
            Some(row) if row.kernel_share().is_some_and(|share| share >= KERNEL_SHARE) => None,
            Some(row) => {
                let open = promise.open.map(|reason| format!("; {reason}")).unwrap_or_default();
                against(row, |_| true, "the fastest peer", ratio).map(|said| said + &open)
            }
            None => Some(format!("{op} ({}): was not measured", form.name())),
        };
        say(said);
    }
    for row in permutations {
        if let Some((limit, open)) = promised(row) {
            let (op, cycles) = (row.op(), row.cycles);
            say((cycles > limit).then(|| {
                format!("{op}: {cycles:.0} cycles a permutation, at most {limit:.0} promised; {open}")
            }));
        }
    }
    verdict
}

/// What `row` says about the peers of that name, if it is less than `wanted`.
fn against(row: &Row, named: impl Fn(&str) -> bool, who: &str, wanted: f64) -> Option<String> {
    let op = format!("{} ({})", row.op, row.form.name());
    let rivals = row.peers.iter().filter(|peer| named(peer.name));
    let Some(fastest) = rivals.min_by(|a, b| a.ns.total_cmp(&b.ns)) else {
        return Some(format!("{op}: {who} was not measured"));
    };
    let ratio = fastest.ns / row.ours_ns;
    (ratio < wanted)
        .then(|| format!("{op}: {ratio:.3} against {}, at least {wanted:.2} promised", fastest.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::SINGLE;
    use crate::row::{Bound, Time};

    fn row(op: &str, form: Form, kernels: Level, ours_ns: f64, rivals: &[(&'static str, f64)]) -> Row {
        let time = |&(name, ns)| Time { name, level: kernels, ns, random: false, scaled: false };
        Row { op: op.into(), form, kernels, ours_ns, bound: None, peers: rivals.iter().map(time).collect() }
    }

    fn missed(rows: &[Row], permutations: &[Permutation], level: Level) -> Vec<String> {
        let here = |op: &str| rows.iter().any(|row| row.op == op);
        judge(rows, permutations, level, here).missed
    }

    #[test]
    fn portable_rows_are_compared_with_one_peer() {
        let of = |ours, rival| row("ML-KEM-512 decaps", Form::Seed, Level::Portable, ours, &[(rival, 100.0)]);
        assert_eq!(missed(&[of(101.0, "RustCrypto")], &[], Level::Portable).len(), 1);
        assert_eq!(missed(&[of(99.0, "RustCrypto")], &[], Level::Portable).len(), 0);
        assert_eq!(missed(&[of(1.0, "another")], &[], Level::Portable).len(), 1);
    }

    #[test]
    fn vector_rows_are_compared_with_the_fastest_peer_at_their_level() {
        let op = "ML-DSA-87 verify";
        let of = |level, ours, rivals| row(op, Form::Oneshot, level, ours, rivals);
        let rivals: &[_] = &[("wolfSSL", 150.0), ("liboqs-0.16 (scaled)", 130.0)];
        assert_eq!(missed(&[of(Level::Avx512, 99.0, rivals)], &[], Level::Avx512).len(), 0);
        assert_eq!(missed(&[of(Level::Avx512, 101.0, rivals)], &[], Level::Avx512).len(), 1);
        let rivals: &[_] = &[("wolfSSL-avx2", 150.0), ("oqs", 100.0)];
        assert_eq!(missed(&[of(Level::Avx2, 99.0, rivals)], &[], Level::Avx2).len(), 0);
        assert_eq!(missed(&[of(Level::Avx2, 101.0, rivals)], &[], Level::Avx2).len(), 1);
    }

    #[test]
    fn a_row_that_is_absent_or_lacks_its_rival_is_missed() {
        let verify = |form| row("ML-DSA-65 verify", form, Level::Avx512, 1.0, &[("wolfSSL", 100.0)]);
        let rows = [verify(Form::Default), verify(Form::Oneshot), verify(Form::Prepared)];
        let said = missed(&rows, &[], Level::Avx512);
        assert_eq!(said, ["ML-DSA-65 verify (batch64): was not measured"]);
        let alone = row("ML-DSA-87 sign", Form::Prepared, Level::Avx512, 1.0, &[("oqs", 100.0)]);
        assert!(missed(&[alone], &[], Level::Avx512).iter().any(|said| said.contains("wolfSSL was not")));
        let lower = row("ML-DSA-44 keygen", Form::Oneshot, Level::Avx2, 1.0, &[("wolfSSL", 100.0)]);
        assert_eq!(
            missed(&[lower], &[], Level::Avx512),
            [
                "ML-DSA-44 keygen (default): was not measured",
                "ML-DSA-44 keygen (oneshot): ran the avx2 table"
            ]
        );
    }

    #[test]
    fn the_rows_of_the_examples_are_as_fast_as_every_peer_with_either_table() {
        let operations: Vec<String> = (crate::operations())
            .filter(|(_, _, forms)| forms.contains(&Form::Default))
            .map(|(set, verb, _)| format!("{set} {verb}"))
            .collect();
        assert_eq!(operations.len(), 36);
        for op in &operations {
            let said = |level, ours, rivals: &[_]| {
                let row = row(op, Form::Default, level, ours, rivals);
                let only = |name: &str| name == op;
                let missed = judge(&[row], &[], level, only).missed;
                missed.into_iter().filter(|said| said.contains("(default)")).count()
            };
            for (level, strongest) in [(Level::Avx2, "wolfSSL-avx2"), (Level::Avx512, "wolfSSL")] {
                assert_eq!(said(level, 100.0, &[(strongest, 100.0), ("oqs", 150.0)]), 0, "{op}");
                assert_eq!(said(level, 100.0, &[(strongest, 99.0), ("oqs", 150.0)]), 1, "{op}");
                assert_eq!(said(level, 100.0, &[(strongest, 150.0), ("oqs", 99.0)]), 1, "{op}");
                assert_eq!(said(level, 100.0, &[("oqs", 150.0)]), 1, "{op}: the strongest was not there");
                let absent = judge(&[], &[], level, |name| name == op).missed;
                assert!(absent.contains(&format!("{op} (default): was not measured")));
            }
        }
    }

    #[test]
    fn a_hash_based_row_holds_by_its_ratio_or_by_the_share_of_the_kernels() {
        let of = |rival, bound| Row {
            bound: Some(Bound { compressions: 1.0, ns: bound }),
            ..row("LMS-SHA256-H10-W8 keygen", Form::Oneshot, Level::Avx512, 100.0, &[("wolfSSL", rival)])
        };
        assert_eq!(missed(&[of(281.0, 10.0)], &[], Level::Avx512).len(), 0);
        assert_eq!(missed(&[of(200.0, 75.0)], &[], Level::Avx512).len(), 0);
        assert_eq!(missed(&[of(200.0, 74.0)], &[], Level::Avx512).len(), 1);
    }

    #[test]
    fn a_batch_of_eight_is_compared_with_one_operation_alone() {
        let op = "SLH-DSA-SHA2-128f verify";
        let of = |level, alone| row(op, Form::Batch8, level, 100.0, &[(SINGLE, alone)]);
        let said = |level, alone| {
            let said = missed(&[of(level, alone)], &[], level);
            said.into_iter().filter(|said| said.contains("(batch8)")).count()
        };
        assert_eq!(said(Level::Avx512, 150.0), 0);
        assert_eq!(said(Level::Avx512, 149.0), 1);
        assert_eq!(said(Level::Avx2, 50.0), 0, "no promise");
    }

    #[test]
    fn permutations_have_a_number_of_cycles() {
        let of = |states, kernels, cycles| Permutation { states, kernels, ns: 1.0, cycles, ghz: 1.0 };
        assert_eq!(missed(&[], &[of(8, Level::Avx512, 159.0)], Level::Avx512).len(), 0);
        assert_eq!(missed(&[], &[of(8, Level::Avx512, 161.0)], Level::Avx512).len(), 1);
        assert_eq!(missed(&[], &[of(4, Level::Avx2, 411.0)], Level::Avx512).len(), 1);
        assert_eq!(missed(&[], &[of(1, Level::Avx512, 801.0)], Level::Avx512).len(), 1);
        assert_eq!(missed(&[], &[of(1, Level::Portable, 2000.0)], Level::Portable).len(), 0);
    }

    #[test]
    fn every_promise_is_there_once_and_names_an_operation_that_exists() {
        for (i, promise) in PROMISES.iter().enumerate() {
            let twin = |other: &Promise| (other.op, other.form) == (promise.op, promise.form);
            assert_eq!(PROMISES.iter().position(twin), Some(i), "{}", promise.op);
            let (set, verb) = promise.op.split_once(' ').expect("a set and a verb");
            assert!(
                crate::operations()
                    .any(|(s, v, forms)| (s, v) == (set, verb) && forms.contains(&promise.form))
            );
        }
    }
}
