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
    /// The peers that have this form.
    pub peers: Vec<Time>,
}

impl Row {
    /// The fastest peer's time over ours: above 1, we are faster.
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
                (peer.name.to_owned(), value)
            })
            .collect();
        json!({
            "op": self.op,
            "form": self.form.name(),
            "kernels": self.kernels.to_string(),
            "ours_ns": rounded(self.ours_ns, 10.0),
            "peers": peers,
            "ratio_to_fastest_peer": self.ratio_to_fastest_peer().map(|ratio| rounded(ratio, 1000.0)),
        })
        .to_string()
    }
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
