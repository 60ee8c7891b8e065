//! Tests of the `gambeson` program, as one test program: a file for each group of commands.
#![allow(clippy::unwrap_used)] // A test may fail that way.

mod agent;
mod agent_authority;
mod agent_exchange;
mod agent_recovery;
mod agent_session;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod agent_web;
mod cert;
mod check;
mod files_of_others;
mod foreign_text;
mod keys;
mod lms_files;
mod messages;
mod outputs;
mod program;
mod programs;
mod provider;
mod provider_refusals;
#[cfg(unix)]
mod readme;
mod reports;
mod sealing;
mod serve;
mod signatures;
mod slim;
mod tall;
mod tls;
mod tls_bench;
mod tls_http;
#[cfg(target_os = "linux")]
mod tls_proxy;
#[cfg(target_os = "linux")]
mod tls_proxy_peers;
