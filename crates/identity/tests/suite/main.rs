//! Tests of the public interface, as one test program: a file for each subject. `SUBJECT_vectors` writes and reads `vectors/SUBJECT.json`.
#![allow(clippy::unwrap_used)] // A test may fail that way.

mod a2a;
mod a2a_vectors;
mod action_vectors;
mod backup_drill;
mod card_log_vectors;
mod cards;
mod data_integrity_vectors;
mod delegation_vectors;
mod did_vectors;
mod groups;
mod http_vectors;
mod json_vectors;
mod jws_vectors;
mod kdf_vectors;
mod kept_vectors;
mod log_vectors;
mod memory;
mod narrowing;
mod recovery;
mod recovery_vectors;
mod sd_jwt_vectors;
mod statements;
mod status_vectors;
mod tlog;
mod vc_api;
mod vc_jwt_vectors;
mod vc_vectors;
mod vector_file;
mod world;
