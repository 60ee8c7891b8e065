//! Files of test vectors: finding, reading, judging and counting them.
//!
//! The development crate `gambeson-vectors` is made of the same text, so that the program and the tests cannot differ
//! in what they call passed.

mod flat;
mod judge;
mod read;
mod run;

pub(crate) use flat::request;
pub(crate) use judge::{Verdict, judge};
pub(crate) use read::{content, files_ending, lines};
pub(crate) use run::{Counts, Report, run};
