//! Writes the JavaScript that loads a WebAssembly module, and the module without what only that needed:
//! `gambeson-typescript-bind MODULE FOLDER`. `cargo xtask typescript` calls it.

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: gambeson-typescript-bind MODULE FOLDER";
    let (module, folder) = (arguments.next().context(usage)?, arguments.next().context(usage)?);
    Bindgen::new()
        .input_path(module)
        .out_name("gambeson")
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)
}
