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
    /// The peers that have this form; for a batch, the same operation in its form `oneshot`.
    pub peers: Vec<Time>,
}

impl Row {
    /// The fastest peer's time over ours: above 1, we are faster. A scaled time counts like a measured one.
    pub fn ratio_to_fastest_peer(&self) -> Option<f64> {
        self.peers.iter().map(|peer| peer.ns / self.ours_ns).min_by(f64::total_cmp)
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
        if self.form == Form::Batch64 {
            line["peers_form"] = Form::Oneshot.name().into();
        }
        line.to_string()
    }
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
