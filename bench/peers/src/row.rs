//! One operation in one form: what ours and every peer took.

use gambeson::cpu::Level;
use serde_json::{Map, Value, json};

use crate::peers::Form;

/// What a peer took.
pub struct Time {
    /// Its name.
    pub name: &'static str,
    /// The instructions that it uses.
    pub level: Level,
    /// Nanoseconds an operation.
    pub ns: f64,
    /// It drew its own randomness.
    pub random: bool,
    /// It did not run here: another peer's time of this run, times a ratio measured elsewhere.
    pub scaled: bool,
}

/// The lower bound of a hash-based operation.
#[derive(Clone, Copy)]
pub struct Bound {
    /// Compressions, by the parameters.
    pub compressions: f64,
    /// Nanoseconds that the kernels alone take for them.
    pub ns: f64,
}

/// One line of the report.
pub struct Row {
    /// `ML-KEM-768 decaps`
    pub op: String,
    /// What it starts from.
    pub form: Form,
    /// The kernel table that ran.
    pub kernels: Level,
    /// Nanoseconds an operation, ours.
    pub ours_ns: f64,
    /// Of hash-based operations, the time of their compressions.
    pub bound: Option<Bound>,
    /// The peers that have this form; for a batch, the same operation in its form `oneshot`.
    pub peers: Vec<Time>,
}

impl Row {
    /// The fastest peer's time over ours: above 1, we are faster. A scaled time counts like a measured one.
    pub fn ratio_to_fastest_peer(&self) -> Option<f64> {
        self.peers.iter().map(|peer| peer.ns / self.ours_ns).min_by(f64::total_cmp)
    }

    /// The share of our time that the kernels alone take, if the operation is hash-based.
    pub fn kernel_share(&self) -> Option<f64> {
        self.bound.map(|bound| bound.ns / self.ours_ns)
    }

    /// The line of `--json`.
    pub fn json(&self) -> String {
        let peers: Map<String, Value> = (self.peers.iter())
            .map(|peer| {
                let mut value = json!({ "ns": rounded(peer.ns, 10.0), "level": peer.level.to_string() });
                if peer.random {
                    value["own_randomness"] = Value::Bool(true);
                }
                if peer.scaled {
                    value["scaled"] = Value::Bool(true);
                }
                (peer.name.to_owned(), value)
            })
            .collect();
        let mut line = json!({
            "op": self.op,
            "form": self.form.name(),
            "kernels": self.kernels.to_string(),
            "ours_ns": rounded(self.ours_ns, 10.0),
            "peers": peers,
            "ratio_to_fastest_peer": self.ratio_to_fastest_peer().map(|ratio| rounded(ratio, 1000.0)),
        });
        if let Some(bound) = self.bound {
            line["compressions"] = bound.compressions.round().into();
            line["kernel_ns"] = rounded(bound.ns, 10.0).into();
            line["kernel_share"] = self.kernel_share().map(|share| rounded(share, 1000.0)).into();
        }
        if self.form == Form::Batch64 {
            line["peers_form"] = Form::Oneshot.name().into();
        }
        line.to_string()
    }
}

/// The rows in their order, and of those that were measured more than once the run with the middle ratio.
pub fn middles(rows: Vec<Row>) -> Vec<Row> {
    let mut runs: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match runs.iter_mut().find(|of| (&of[0].op, of[0].form) == (&row.op, row.form)) {
            Some(of) => of.push(row),
            None => runs.push(vec![row]),
        }
    }
    let ratio = |row: &Row| row.ratio_to_fastest_peer().unwrap_or_default();
    (runs.into_iter())
        .map(|mut of| {
            of.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
            of.swap_remove(of.len() / 2)
        })
        .collect()
}

/// Keccak-f\[1600\] of several states at once: no peer offers that alone, so that the row counts cycles.
pub struct Permutation {
    /// States in a call.
    pub states: usize,
    /// The kernel table that ran.
    pub kernels: Level,
    /// Nanoseconds a permutation.
    pub ns: f64,
    /// Core cycles a permutation.
    pub cycles: f64,
    /// Core cycles a nanosecond, while it ran.
    pub ghz: f64,
}

impl Permutation {
    /// `Keccak-f[1600] x8 avx512`
    pub fn op(&self) -> String {
        format!("Keccak-f[1600] x{} {}", self.states, self.kernels)
    }

    /// The line of `--json`.
    pub fn json(&self) -> String {
        json!({
            "op": self.op(),
            "form": "permutation",
            "kernels": self.kernels.to_string(),
            "ours_ns": rounded(self.ns, 10.0),
            "ours_cycles": rounded(self.cycles, 10.0),
            "core_ghz": rounded(self.ghz, 1000.0),
            "peers": {},
            "ratio_to_fastest_peer": null,
        })
        .to_string()
    }
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_three_runs_the_one_with_the_middle_ratio_is_kept_whole() {
        let run = |form, ours_ns, rivals: [f64; 2]| {
            let time = |(name, ns)| Time { name, level: Level::Avx2, ns, random: true, scaled: false };
            let peers = ["a", "b"].into_iter().zip(rivals).map(time).collect();
            Row { op: "ML-KEM-768 encaps".into(), form, kernels: Level::Avx2, ours_ns, bound: None, peers }
        };
        // The ratios to the fastest peer are 0.9, 1.2 and 1.1.
        let rows = vec![
            run(Form::Default, 100.0, [90.0, 200.0]),
            run(Form::Oneshot, 50.0, [60.0, 70.0]),
            run(Form::Default, 100.0, [300.0, 120.0]),
            run(Form::Default, 200.0, [220.0, 900.0]),
        ];
        let kept: Vec<_> = middles(rows).iter().map(|row| (row.form, row.ours_ns, row.peers[1].ns)).collect();
        assert_eq!(kept, [(Form::Default, 200.0, 900.0), (Form::Oneshot, 50.0, 70.0)]);
    }
}
