//! Tests of the providers for rustls, as one test program: a file for each subject.
#![allow(clippy::unwrap_used)] // A test may fail that way.

mod chains;
mod handshakes;
mod loopback;
mod providers;
mod raw_keys;
mod refusals;
mod shares;
mod slh_dsa;
