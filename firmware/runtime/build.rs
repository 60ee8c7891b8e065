//! Lays the memory map of the board where the linker finds it.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=GAMBESON_BOARD");
    println!("cargo:rerun-if-changed=memory");
    let usual = match env::var("CARGO_CFG_TARGET_ARCH")?.as_str() {
        "arm" => "mps2-an386",
        "riscv32" => "virt",
        _ => return Ok(()),
    };
    let board = env::var("GAMBESON_BOARD").unwrap_or_else(|_| usual.into());
    let map = Path::new("memory").join(format!("{board}.x"));
    let folder = env::var("OUT_DIR")?;
    fs::copy(&map, Path::new(&folder).join("memory.x"))
        .map_err(|error| format!("{}: {error}", map.display()))?;
    println!("cargo:rustc-link-search={folder}");
    Ok(())
}
