//! The numbers that this project promises, as data: `--check` fails when a row misses one.

use gambeson::cpu::Level;

use crate::peers::Form;
use crate::row::Row;

/// Which peer a row must be faster than.
#[derive(Clone, Copy)]
pub enum Against {
    /// This one, which must have been measured.
    Peer(&'static str),
}

/// A promise about some rows.
pub struct Threshold {
    /// The kernel table that ran.
    pub kernels: Level,
    /// The operations, by the last word of their names.
    pub verbs: &'static [&'static str],
    /// The forms.
    pub forms: &'static [Form],
    /// The rival.
    pub against: Against,
    /// The rival's time over ours is at least this.
    pub ratio: f64,
}

/// All promises. Rows that no line names are measured and printed, not judged.
pub const THRESHOLDS: &[Threshold] = &[Threshold {
    kernels: Level::Portable,
    verbs: &["keygen", "encaps", "decaps", "sign", "verify"],
    forms: &[Form::Oneshot, Form::Seed, Form::Expanded, Form::Compact],
    against: Against::Peer("RustCrypto"),
    ratio: 1.0,
}];

/// The promises about `row`.
pub fn of(row: &Row) -> impl Iterator<Item = &'static Threshold> {
    let verb = row.op.rsplit(' ').next().unwrap_or_default().to_owned();
    let (kernels, form) = (row.kernels, row.form);
    THRESHOLDS.iter().filter(move |threshold| {
        threshold.kernels == kernels
            && threshold.verbs.contains(&verb.as_str())
            && threshold.forms.contains(&form)
    })
}

/// What `row` misses, in words.
pub fn missed(row: &Row) -> Vec<String> {
    of(row)
        .filter_map(|threshold| {
            let Against::Peer(name) = threshold.against;
            let Some(rival) = row.peers.iter().find(|peer| peer.name == name) else {
                return Some(format!("{} ({}): {name} was not measured", row.op, row.form.name()));
            };
            let ratio = rival.ns / row.ours_ns;
            let wanted = threshold.ratio;
            (ratio < wanted).then(|| {
                format!(
                    "{} ({}): {ratio:.3} against {name}, at least {wanted:.2} promised",
                    row.op,
                    row.form.name()
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Time;

    fn row(op: &str, form: Form, ours_ns: f64, rival: &'static str) -> Row {
        let peers = vec![Time { name: rival, level: Level::Portable, ns: 100.0, random: false }];
        Row { op: op.into(), form, kernels: Level::Portable, ours_ns, peers }
    }

    #[test]
    fn a_slower_row_is_missed_and_a_faster_one_is_not() {
        assert_eq!(missed(&row("ML-KEM-768 decaps", Form::Oneshot, 101.0, "RustCrypto")).len(), 1);
        assert_eq!(missed(&row("ML-KEM-768 decaps", Form::Oneshot, 99.0, "RustCrypto")).len(), 0);
    }

    #[test]
    fn a_rival_that_was_not_measured_is_a_miss() {
        assert_eq!(missed(&row("ML-DSA-65 sign", Form::Expanded, 1.0, "another")).len(), 1);
    }
}
