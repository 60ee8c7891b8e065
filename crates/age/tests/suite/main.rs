//! Tests of age files, as one test program: a file for each subject.
#![allow(clippy::unwrap_used)] // A test may fail that way.

mod files;
mod keys;
