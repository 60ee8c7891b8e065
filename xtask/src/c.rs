//! The C interface: its header, its archives, and programs of C and C++ that use them, here and on a Cortex-M4.

use crate::run::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::fs;

const HEADER: &str = "crates/ffi/include/gambeson.h";

/// Compares the header with what the sources say, or (`bless`) writes it.
pub fn header(workspace: &Workspace, bless: bool) -> Result<String> {
    let written = generated(workspace)?;
    let path = workspace.root.join(HEADER);
    if bless {
        fs::write(&path, &written)?;
    }
    ensure!(fs::read_to_string(&path)? == written, "{HEADER} is not what the sources say: cargo xtask c header");
    let calls = written.matches("gambeson_error gambeson_").count();
    Ok(format!("{calls} calls in {HEADER}, as the sources have them"))
}

/// The header that the sources make. The calls stand in macros, so that the compiler writes them out first.
fn generated(workspace: &Workspace) -> Result<String> {
    let arguments = ["rustc", "--quiet", "-p", "gambeson-ffi", "--lib", "--profile", "check", "--"];
    let mut expand = workspace.cargo(&arguments);
    let output = expand.arg("-Zunpretty=expanded").env("RUSTC_BOOTSTRAP", "gambeson_c").output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let source = workspace.target.join("xtask/gambeson_c.rs");
    fs::write(&source, output.stdout)?;
    let config = cbindgen::Config::from_file(workspace.root.join("crates/ffi/cbindgen.toml"));
    let config = config.map_err(anyhow::Error::msg)?;
    let bindings = cbindgen::Builder::new().with_config(config).with_src(&source).generate()?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    String::from_utf8(header).context("cbindgen writes UTF-8")
}
