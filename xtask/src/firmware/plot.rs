//! The least stack of each operation as a picture, which `xtask-tools` draws.

use super::rows::{Peer, Row, SETS};
use crate::run::Workspace;
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Draws the rows of the Cortex-M4 into a file of SVG.
pub fn write(workspace: &Workspace, file: &Path, rows: &[Row], peers: &[Peer]) -> Result<()> {
    let input = workspace.target.join("xtask/firmware/plot.json");
    fs::write(&input, picture(rows, peers).to_string())?;
    let arguments = ["--input".as_ref(), input.as_ref(), "--output".as_ref(), file.as_ref()];
    workspace.tool("plot", &arguments).map(drop)
}

/// The labels of the lines, and the marks: line, implementation (small, fast, pqm4 m4fstack, others), bytes.
fn picture(rows: &[Row], peers: &[Peer]) -> Value {
    let lines = SETS.iter().flat_map(|(alg, ops)| ops.iter().map(move |op| (*alg, *op)));
    let (mut labels, mut marks) = (Vec::new(), Vec::new());
    for (line, (alg, op)) in lines.enumerate() {
        labels.push(format!("{alg} {op}"));
        let mut mark = |by: usize, bytes: u64| marks.push(json!({"line": line, "by": by, "bytes": bytes}));
        for peer in peers.iter().filter(|peer| peer.target == "cortex-m4" && peer.alg == alg && peer.op == op)
        {
            mark(if peer.peer == "pqm4 m4fstack" { 2 } else { 3 }, peer.stack + peer.heap);
        }
        for row in rows.iter().filter(|row| row.target == "cortex-m4" && row.alg == alg && row.op == op) {
            if row.failed.is_none() && ["small", "fast"].contains(&row.profile) {
                mark(usize::from(row.profile == "fast"), row.stack + row.beside());
            }
        }
    }
    json!({"lines": labels, "marks": marks})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_peer_has_a_mark() {
        let peers = super::super::rows::peers(include_str!("../../../docs/embedded/peers.csv")).unwrap();
        assert!(picture(&[], &peers)["marks"].as_array().unwrap().len() > 50);
    }
}
