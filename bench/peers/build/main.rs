//! Tells the program which compiler built it (the report names it), and builds the libraries that are not Rust.

use std::process::Command;

mod sources;
mod wolfssl;
mod wolfssl_tree;

/// A library that is a peer: its name, its feature, and its build.
type Library = (&'static str, &'static str, fn() -> Result<(), String>);

const LIBRARIES: [Library; 3] = [
    ("wolfSSL", "wolfssl", wolfssl::build),
    ("OpenSSL", "openssl4", sources::openssl),
    ("Botan", "botan", sources::botan),
];

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=BENCH_COMPILER={}", version.as_deref().unwrap_or("rustc (unknown)"));
    println!("cargo::rerun-if-changed=build");

    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    let here = target("ARCH") == "x86_64" && target("OS") == "linux";
    for (name, feature, build) in LIBRARIES {
        println!("cargo::rustc-check-cfg=cfg({feature})");
        let wanted = std::env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_some();
        if wanted
            && here
            && let Err(error) = build()
        {
            println!("cargo::error={name}: {error}");
            println!(
                "cargo::error=It is a peer of the default features: `--no-default-features` does without it."
            );
        }
    }
}
