//! `gambeson tls bench`.

use crate::program::Folder;

const PRESETS: [&str; 5] =
    ["classical-448", "fully-hybrid", "default", "ecdsa-x25519", "mldsa65-x25519mlkem768"];

#[test]
fn the_matrix_has_every_preset_with_and_without_verification_and_compares_them() {
    let rows = Folder::new().run("--json tls bench --matrix --rounds 2").exits(0).rows();
    let all: Vec<_> = rows.iter().filter(|row| row["clientUs"].is_f64()).collect();
    let (presets, sessions) = all.split_at(PRESETS.len() * 2 * 2);
    for (at, row) in presets.iter().enumerate() {
        assert_eq!(row["preset"], PRESETS[at / 4]);
        assert_eq!(row["verify"], at % 4 < 2);
        assert_eq!(row["messageBytes"], if at % 2 == 0 { 0 } else { 15 });
        assert_eq!(row["stack"], "rustls, gambeson");
    }
    for (at, row) in sessions.iter().enumerate() {
        assert_eq!(row["preset"], if at < 2 { "session" } else { "session-known" });
        assert_eq!((&row["verify"], &row["stack"]), (&true.into(), &"rustls, gambeson".into()));
        assert_eq!(row["messageBytes"], if at % 2 == 0 { 0 } else { 15 });
    }
    assert_eq!(sessions.len(), 4);
    for row in &all {
        for number in ["clientUs", "serverUs", "handshakesPerSecond"] {
            assert!(row[number].as_f64().unwrap() > 0.0, "{number} in {row}");
        }
        assert!(row["kernels"]["mlkem"].is_string() && row["kernels"]["mldsa"].is_string(), "{row}");
    }
    let bytes = |preset: &str| {
        let row = presets.iter().find(|row| row["preset"] == preset).unwrap();
        (row["bytesUp"].as_u64().unwrap(), row["bytesDown"].as_u64().unwrap())
    };
    let (classical, hybrid) = (bytes("classical-448"), bytes("fully-hybrid"));
    // An ML-KEM-1024 key goes up, a ciphertext of the same length down.
    assert_eq!(hybrid.0 - classical.0, 1568);
    // Two certificates with key and signature, and one signature more.
    assert!(hybrid.1 - classical.1 > 1568 + 3 * 4627 + 2 * 2592, "{hybrid:?}");
    assert!(bytes("default").0 - bytes("ecdsa-x25519").0 > 1216, "the hybrid's share beside the curve's");

    let ratios: Vec<_> = rows.iter().filter(|row| row["name"] == "fully-hybrid/classical-448").collect();
    assert_eq!(ratios.len(), 4);
    for row in ratios {
        assert!(row["cpuRatio"].is_f64() || row["cpuRatio"].is_null(), "{row}");
        assert!(row["measured"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(rows.iter().filter(|row| row["name"] == "default/ecdsa-x25519").count(), 2);
    let operations: Vec<_> =
        rows.iter().filter(|row| row["type"] == "operations" && row["preset"] == "classical-448").collect();
    assert_eq!(operations.len(), 2);
    let sum = |at: usize| operations[at]["cpuUs"].as_f64().unwrap();
    assert!(sum(0) > sum(1) && sum(1) > 0.0, "verification of a chain adds two operations");
    for (preset, cards) in [("session", true), ("session-known", false)] {
        let row = rows.iter().find(|row| row["type"] == "operations" && row["preset"] == preset).unwrap();
        assert!(row["overhead"].as_f64().unwrap() > 0.0, "{row}");
        assert!((12_000..=14_500).contains(&row["bytesBesideCards"].as_u64().unwrap()), "{row}");
        assert_eq!(row["bytesOfCards"].as_u64().unwrap() > 0, cards, "{row}");
    }
    assert_eq!(rows.len(), 20 + 4 + 4 + 2 + 2 + 2);
}

#[test]
fn without_the_matrix_the_default_is_measured_alone() {
    let rows = Folder::new().run("--json tls bench --rounds 1").exits(0).rows();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row["preset"] == "default"));
}

#[test]
fn a_row_is_measured_alone_and_one_that_is_not_there_is_refused() {
    let rows = Folder::new().run("--json tls bench --preset session --rounds 1").exits(0).rows();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["preset"] == "session"));
    Folder::new().run("tls bench --preset ssl3").exits(2).tells("classical-448");
    Folder::new().run("tls bench --matrix --preset session").exits(2).tells("--preset");
}

#[test]
fn the_check_belongs_to_the_matrix() {
    Folder::new().run("tls bench --check").exits(2).tells("--matrix");
    Folder::new().run("tls bench --rounds 0").exits(2).tells("--rounds");
}
