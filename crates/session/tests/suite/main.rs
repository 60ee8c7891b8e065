//! Tests of sessions, as one test program: a file for each subject.
#![allow(clippy::unwrap_used)] // A test may fail that way.

mod agents;
mod refusals;
mod session_vectors;
mod sessions;
