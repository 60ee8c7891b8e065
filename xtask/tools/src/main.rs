//! The parts of `cargo xtask` that need large libraries: `xtask` compiles and runs this program where a command asks for one of them.
//!
//! Each command reads files and writes files; what it prints is a result for `xtask`.

mod choosing;
mod plot;
mod vectors;

use anyhow::{Context, Error, Result};
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Parser)]
enum Tool {
    /// Write the C header of a crate, by cbindgen
    Header {
        /// Source of the crate with its macros expanded
        #[arg(long)]
        source: PathBuf,
        /// Configuration of cbindgen
        #[arg(long)]
        config: PathBuf,
        /// File for the header
        #[arg(long)]
        output: PathBuf,
    },
    /// Write the public API of a library as text, an item a line
    PublicApi {
        /// JSON of rustdoc
        #[arg(long)]
        json: PathBuf,
        /// File for the text
        #[arg(long)]
        output: PathBuf,
    },
    /// Write the files of cases that the self-test of firmware reads, and print the line that it must print
    Vectors {
        /// Folder for the files
        #[arg(long)]
        output: PathBuf,
        /// Write all published cases, not a part of the valid ones
        #[arg(long)]
        whole: bool,
    },
    /// Draw signature sizes and verification times
    Choosing {
        /// Parameter sets, in JSON
        #[arg(long)]
        input: PathBuf,
        /// File for the SVG
        #[arg(long)]
        output: PathBuf,
    },
    /// Draw the stack of each operation
    Plot {
        /// Lines and marks, in JSON
        #[arg(long)]
        input: PathBuf,
        /// File for the SVG
        #[arg(long)]
        output: PathBuf,
    },
}

fn main() -> Result<()> {
    match Tool::parse() {
        Tool::Header { source, config, output } => header(&source, &config, &output),
        Tool::PublicApi { json, output } => public_api(&json, &output),
        Tool::Vectors { output, whole } => {
            println!("{}", vectors::write(&output, whole)?);
            Ok(())
        }
        Tool::Choosing { input, output } => choosing::write(&input, &output),
        Tool::Plot { input, output } => plot::write(&input, &output),
    }
}

fn header(source: &Path, config: &Path, output: &Path) -> Result<()> {
    let config = cbindgen::Config::from_file(config).map_err(Error::msg)?;
    let bindings = cbindgen::Builder::new().with_config(config).with_src(source).generate()?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    fs::write(output, header).with_context(|| output.display().to_string())
}

fn public_api(json: &Path, output: &Path) -> Result<()> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()
        .with_context(|| format!("{}: not a format that this version of public-api reads", json.display()))?;
    fs::write(output, api.to_string()).with_context(|| output.display().to_string())
}
