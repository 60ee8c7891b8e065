//! Tells the crate what Rust does not: whether the target has the DSP instructions of Armv7E-M or the registers of RV32I, and
//! whether the program is to be small: by its level, unless `--cfg gambeson_fast` says otherwise.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(gambeson_dsp, gambeson_fast, gambeson_rv32, gambeson_size)");
    let of = |name| env::var(name).unwrap_or_default();
    // `target_feature = "dsp"` is hidden from stable Rust.
    if ["thumbv7em-", "thumbv7neon-"].iter().any(|family| of("TARGET").starts_with(family)) {
        println!("cargo:rustc-cfg=gambeson_dsp");
    }
    // `--cfg gambeson_fast` keeps the assembly of speed where the Rust around it is built for size.
    let size =
        matches!(of("OPT_LEVEL").as_str(), "s" | "z") && env::var_os("CARGO_CFG_GAMBESON_FAST").is_none();
    if size {
        println!("cargo:rustc-cfg=gambeson_size");
    }
    // So is RV32E's half of the registers; and the kernel is large.
    if ["riscv32i", "riscv32g"].iter().any(|family| of("TARGET").starts_with(family)) && !size {
        println!("cargo:rustc-cfg=gambeson_rv32");
    }
}
