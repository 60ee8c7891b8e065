//! Whole files: found, read, judged and counted.

#![allow(clippy::unwrap_used)]

use flate2::{Compression, write::GzEncoder};
use gambeson_vectors::{Counts, files, run};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder that is gone when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gambeson-vectors-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut gzip = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn echo(path: &Path) -> Result<gambeson_vectors::Report, String> {
    run(
        path,
        |alg| alg == "ECHO",
        |line| {
            let request: serde_json::Value = serde_json::from_slice(line).unwrap();
            request["answer"].to_string()
        },
    )
}

#[test]
fn files_are_found_below_the_folder_in_order() {
    let folder = Folder::new("found");
    let second = folder.file("b/c.jsonl.gz", "");
    let first = folder.file("a.jsonl.gz", "");
    folder.file("b/c.json.gz", "");
    assert_eq!(files(&folder.0).unwrap(), [first, second]);
    assert!(files(&folder.0.join("missing")).is_err());
}

#[test]
fn tests_are_counted_by_what_became_of_them() {
    let folder = Folder::new("counted");
    let path = folder.file(
        "a.jsonl.gz",
        r#"{"alg":"ECHO","expect":{"k":"00"},"answer":{"k":"00"}}
{"alg":"ECHO","id":7,"expect":{"k":"00"},"answer":{"id":7,"k":"01"}}
{"alg":"ECHO","expect":{"k":"00"},"answer":{"error":"unsupported"}}
{"alg":"OTHER","expect":{"k":"00"}}
{"tcId":1}"#,
    );
    let report = echo(&path).unwrap();
    assert_eq!(report.counts, Counts { passed: 1, failed: 1, unsupported: 1, skipped: 2 });
    assert_eq!(report.counts.total(), 5);
    assert_eq!(report.complaints.len(), 2);
    assert!(report.complaints[0].contains("a.jsonl.gz:2 (7)"), "{}", report.complaints[0]);
}

#[test]
fn an_unreadable_line_is_an_error() {
    let folder = Folder::new("unreadable");
    for (name, text) in [
        ("json", "{\"alg\":\"ECHO\"\n"),
        ("list", "[]\n"),
        ("blank", "{\"tcId\":1}\n\n{\"tcId\":2}\n"),
        ("expectless", "{\"alg\":\"ECHO\",\"answer\":{}}\n"),
    ] {
        let path = folder.file(&format!("{name}.jsonl.gz"), text);
        assert!(echo(&path).is_err(), "{name}");
    }
    let plain = folder.0.join("plain.jsonl.gz");
    fs::write(&plain, "{\"tcId\":1}\n").unwrap();
    assert!(echo(&plain).is_err(), "not gzip");
    let whole = folder.file("whole.jsonl.gz", "{\"tcId\":1}\n");
    let bytes = fs::read(&whole).unwrap();
    fs::write(&whole, &bytes[..bytes.len() - 6]).unwrap();
    assert!(echo(&whole).is_err(), "cut short");
}
