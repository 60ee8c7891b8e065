//! The files of vectors: `vectors/SUBJECT.json`, written by the tests of this crate and read by every other reader.

use serde_json::{Value, json};
use std::path::Path;

/// Holds the committed file of a subject against what is made here; `GAMBESON_BLESS=1` writes it.
///
/// A vector is an object with an `id` of its own; one that must be refused has `"result": "reject"` and a `reason`.
pub fn committed(subject: &str, vectors: Vec<Value>, expected_count: usize) {
    assert_eq!(vectors.len(), expected_count, "{subject}: the number of vectors");
    let mut ids: Vec<_> = vectors.iter().map(|vector| vector["id"].as_str().expect("an id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), expected_count, "{subject}: every vector has an id of its own");
    let file = json!({"version": 1, "subject": subject, "count": expected_count, "vectors": vectors});
    let text = serde_json::to_string_pretty(&file).expect("JSON") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../vectors/{subject}.json"));
    if std::env::var_os("GAMBESON_BLESS").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "vectors/{subject}.json is not what this version makes; GAMBESON_BLESS=1 writes it"
    );
}
