//! Gives the shared library its name at run time.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let of = |name: &str| env::var(name).unwrap_or_default();
    if of("CARGO_CFG_TARGET_OS") == "linux" {
        // Before 1.0 every minor version may break what was linked with the last one.
        let version = match of("CARGO_PKG_VERSION_MAJOR").as_str() {
            "0" => format!("0.{}", of("CARGO_PKG_VERSION_MINOR")),
            major => major.to_owned(),
        };
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgambeson_c.so.{version}");
    }
}
