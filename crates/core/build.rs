//! Tells the crate two things that Rust does not: whether the target has the DSP instructions of Armv7E-M, and whether the
//! program is to be small.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(gambeson_dsp, gambeson_size)");
    let of = |name| env::var(name).unwrap_or_default();
    // `target_feature = "dsp"` is hidden from stable Rust.
    if ["thumbv7em-", "thumbv7neon-"].iter().any(|family| of("TARGET").starts_with(family)) {
        println!("cargo:rustc-cfg=gambeson_dsp");
    }
    if matches!(of("OPT_LEVEL").as_str(), "s" | "z") {
        println!("cargo:rustc-cfg=gambeson_size");
    }
}
