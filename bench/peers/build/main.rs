//! Tells the program which compiler built it (the report names it), and builds wolfSSL.

use std::process::Command;

mod wolfssl;
mod wolfssl_tree;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=BENCH_COMPILER={}", version.as_deref().unwrap_or("rustc (unknown)"));
    println!("cargo::rerun-if-changed=build");

    println!("cargo::rustc-check-cfg=cfg(wolfssl)");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    let wanted = std::env::var_os("CARGO_FEATURE_WOLFSSL").is_some();
    if wanted
        && target("ARCH") == "x86_64"
        && target("OS") == "linux"
        && let Err(error) = wolfssl::build()
    {
        println!("cargo::error=wolfSSL: {error}");
        println!(
            "cargo::error=It is a peer of the default features: `--no-default-features` does without it."
        );
    }
}
