//! Tells the program which compiler built it: the report names it.

use std::process::Command;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=BENCH_COMPILER={}", version.as_deref().unwrap_or("rustc (unknown)"));
    println!("cargo::rerun-if-changed=build.rs");
}
