//! Arrays of cases that others publish, of MLS and of HPKE: the members of a case tell its kind.

use super::form::Suites;
use super::hpke;
use crate::vectors::Report;
use gambeson_mls::vectors::{self as mls, Verdict};
use serde_json::Value;

/// Returns true for a case of a kind that is known here.
pub(super) fn is_case(case: &Value) -> bool {
    is_hpke(case) || mls::kind(case).is_some()
}

fn is_hpke(case: &Value) -> bool {
    ["mode", "kem_id", "kdf_id", "aead_id"].iter().all(|name| case.get(name).is_some())
}

/// Judges the cases of an array. Beside the report, how many of each suite hold.
pub(super) fn check(cases: &[Value]) -> (Report, Suites) {
    let (mut report, mut suites) = (Report::default(), Suites::new());
    for (at, case) in cases.iter().enumerate() {
        let (suite, verdict) = match is_hpke(case) {
            true => (of_hpke(case), Some(run(case))),
            false => (number(&case["cipher_suite"]), mls::kind(case).and_then(|kind| mls::judge(kind, case))),
        };
        match verdict {
            Some(Verdict::Holds) => {
                report.counts.passed += 1;
                *suites.entry(suite).or_default() += 1;
            }
            Some(Verdict::Fails(why)) => {
                report.counts.failed += 1;
                report.complaints.push(format!("case {} ({suite}): {why}", at + 1));
            }
            Some(Verdict::OtherSuite) => report.counts.skipped += 1,
            None => {
                report.counts.unsupported += 1;
                report.complaints.push(format!("case {} ({suite}): unknown kind", at + 1));
            }
        }
    }
    (report, suites)
}

fn run(case: &Value) -> Verdict {
    hpke::judge(case)
        .map_or(Verdict::OtherSuite, |judged| judged.map_or_else(Verdict::Fails, |()| Verdict::Holds))
}

fn of_hpke(case: &Value) -> String {
    ["kem_id", "kdf_id", "aead_id"].map(|name| number(&case[name])).join(" ")
}

/// As suites are written.
fn number(value: &Value) -> String {
    value.as_u64().map_or_else(|| "none".into(), |number| format!("{number:#06x}"))
}
