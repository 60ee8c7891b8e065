//! liboqs 0.16, which no registry has: wolfSSL's time of this run, times the ratio of the two where both could run.
//!
//! The ratios were measured on Intel Sapphire Rapids, in interleaved rounds of one process, both libraries at their
//! best: wolfSSL 5.9.4 as it is built here, and liboqs 0.16-dev (8979276ad) in its distribution build, whose Keccak
//! runs in 256-bit AVX-512VL registers. They are good to 5 % there, and less on another processor.

use gambeson::cpu::Level;

use crate::peers::{Form, Peer};
use crate::row::{Row, Time};

/// The name in the report.
pub const NAME: &str = "liboqs-0.16 (scaled)";
/// Whose time is scaled.
const BASE: &str = "wolfSSL";

/// The operation, the form of wolfSSL's whose time is the base, and liboqs' time over that.
///
/// liboqs has no key objects: its forms are `oneshot` (and a batch is compared with that). It was measured signing from
/// key bytes, beside a wolfSSL that kept its key.
const RATIOS: &[(&str, Form, f64)] = &[
    ("ML-KEM-512 keygen", Form::Oneshot, 1.0 / 1.26),
    ("ML-KEM-512 encaps", Form::Oneshot, 1.0 / 1.09),
    ("ML-KEM-512 decaps", Form::Oneshot, 1.0 / 1.13),
    ("ML-KEM-768 keygen", Form::Oneshot, 1.0 / 1.02),
    ("ML-KEM-768 encaps", Form::Oneshot, 1.0 / 1.01),
    ("ML-KEM-768 decaps", Form::Oneshot, 1.0 / 1.05),
    ("ML-KEM-1024 keygen", Form::Oneshot, 1.05),
    ("ML-KEM-1024 encaps", Form::Oneshot, 1.17),
    ("ML-KEM-1024 decaps", Form::Oneshot, 1.06),
    ("ML-DSA-44 keygen", Form::Oneshot, 1.26),
    ("ML-DSA-44 sign", Form::Prepared, 1.27),
    ("ML-DSA-44 verify", Form::Oneshot, 1.13),
    ("ML-DSA-65 keygen", Form::Oneshot, 1.32),
    ("ML-DSA-65 sign", Form::Prepared, 1.53),
    ("ML-DSA-65 verify", Form::Oneshot, 1.18),
    ("ML-DSA-87 keygen", Form::Oneshot, 1.31),
    ("ML-DSA-87 sign", Form::Prepared, 1.86),
    ("ML-DSA-87 verify", Form::Oneshot, 1.12),
];

/// The column of the tables, if its base is among `peers`.
pub fn peer(peers: &[Peer]) -> Option<Peer> {
    peers.iter().any(|peer| peer.name == BASE).then_some(Peer {
        name: NAME,
        packages: &[],
        level: Level::Avx512,
        note: "did not run here: wolfSSL's time of this run, times the ratio of the two on Sapphire Rapids",
        kem: None,
        signature: None,
    })
}

/// Adds the scaled time to the rows of one operation.
pub fn add(rows: &mut [Row]) {
    let ratio = RATIOS.iter().find(|(op, ..)| rows.iter().any(|row| row.op == *op));
    let Some(&(_, base_form, ratio)) = ratio else { return };
    let base = |row: &Row| row.peers.iter().find(|peer| peer.name == BASE).map(|peer| peer.ns);
    let kept = rows.iter().find(|row| row.form == Form::Prepared).and_then(base);
    for row in rows.iter_mut().filter(|row| matches!(row.form, Form::Oneshot | Form::Batch64)) {
        let base = if base_form == Form::Prepared { kept } else { base(row) };
        let Some(base) = base else { continue };
        let ns = base * ratio;
        row.peers.push(Time { name: NAME, level: Level::Avx512, ns, random: false, scaled: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(form: Form, wolfssl: Option<f64>) -> Row {
        let time = |ns| Time { name: BASE, level: Level::Avx512, ns, random: false, scaled: false };
        let peers = wolfssl.map(time).into_iter().collect();
        Row { op: "ML-DSA-65 sign".into(), form, kernels: Level::Avx512, ours_ns: 90.0, bound: None, peers }
    }

    #[test]
    fn a_signature_from_bytes_is_scaled_from_the_kept_key() {
        let mut rows = [
            row(Form::Default, Some(150.0)),
            row(Form::Oneshot, Some(150.0)),
            row(Form::Prepared, Some(100.0)),
        ];
        add(&mut rows);
        let [default, oneshot, prepared] = &rows;
        assert_eq!(default.peers.len(), 1, "nobody measured its example");
        assert_eq!(oneshot.peers.len(), 2);
        assert_eq!((oneshot.peers[1].name, oneshot.peers[1].ns), (NAME, 153.0));
        assert!(oneshot.json().contains("\"scaled\":true"));
        assert_eq!(prepared.peers.len(), 1, "liboqs has no key objects");
    }

    #[test]
    fn without_the_base_there_is_nothing_to_scale() {
        let mut rows = [row(Form::Oneshot, None), row(Form::Prepared, None)];
        add(&mut rows);
        assert!(rows.iter().all(|row| row.peers.is_empty()));
    }
}
