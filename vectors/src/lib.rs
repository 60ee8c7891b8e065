//! Files of published test vectors: finding, reading, judging and counting them.
//!
//! A file `FAMILY/NAME.jsonl.gz` is gzip over lines; a line is one request of the vector harness
//! (`{"id":…, "alg":"ML-KEM-768", "op":"keygen", …}`) with one more field, `expect`, that says what the
//! answer must be. [`run`] puts every line of a file to an implementation and counts:
//!
//! ```
//! use gambeson_vectors::{Verdict, judge};
//!
//! let request = serde_json::json!({"id": 1, "op": "hash", "expect": {"md": "00ff"}});
//! assert_eq!(judge(&request, &serde_json::json!({"id": 1, "md": "00ff"})), Verdict::Passed);
//! assert!(matches!(judge(&request, &serde_json::json!({"id": 1, "md": "00fe"})), Verdict::Failed(_)));
//! ```
//!
//! The text is that of the program's `vectors check`, included from there: the program is published and this crate
//! is not, so it cannot be the other way round.
//!
//! # Layout
//!
//! * [`files`], [`lines`]: what is below a folder, and the lines of one file
//! * [`request`]: a line of ACVP as a request
//! * [`judge`]: one answer against one `expect`
//! * [`run`], [`Counts`]: a whole file
//! * [`shared`]: where the vectors lie that are too many for this repository

#[path = "../../crates/cli/src/vectors/flat.rs"]
mod flat;
#[path = "../../crates/cli/src/vectors/judge.rs"]
mod judge;
#[path = "../../crates/cli/src/vectors/read.rs"]
mod read;
#[path = "../../crates/cli/src/vectors/run.rs"]
mod run;

pub use flat::request;
pub use judge::{Verdict, judge};
pub use read::{Lines, MAX_LINE, content, files_ending, lines};
pub use run::{Counts, Report, run};

use std::io;
use std::path::{Path, PathBuf};

/// Every `*.jsonl.gz` below `folder`, in the order of their names.
///
/// # Errors
/// `folder`, or a folder below it, cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files_ending(folder, ".jsonl.gz")
}

/// The folder `shared/vectors` beside this repository, if there is one.
///
/// Those vectors are too many to live here. A test that does not find them and returns has passed, for the test harness; so its
/// name is written past it, to standard error, as `test NAME (skipped): …`, and `cargo xtask test` counts it as skipped.
pub fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors");
    let found = folder.canonicalize().ok().filter(|folder| folder.is_dir());
    if found.is_none() {
        let thread = std::thread::current();
        let said = format!(
            "\ntest {} (skipped): ../shared/vectors is not there\n",
            thread.name().unwrap_or("without a name")
        );
        // Not `eprintln!`, which the harness catches. Nobody is left to hear of a failure.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
    }
    found
}
