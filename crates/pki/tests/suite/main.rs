//! Tests of keys and certificates, as one test program: a file for each subject.
#![allow(clippy::unwrap_used)] // A test may fail that way.

mod certificates;
mod chains;
mod constraints;
mod files_of_others;
mod hash_based;
mod keys;
mod one_form;
#[cfg(feature = "pkcs12")]
mod pkcs12;
mod purposes;
