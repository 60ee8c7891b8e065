//! `gambeson bench mls` with other people's MLS beside ours: mls-rs over AWS-LC, and OpenMLS over RustCrypto.
//!
//! ```text
//! cargo run --manifest-path bench/peers/mls/Cargo.toml --release -- --check
//! ```
//!
//! Everybody has groups of the same size on the suite of most channels and on suite 1 of RFC 9420, and a turn in each row of each round.
//! Before anything is measured, groups of each are seen to agree.

mod aws_lc;
mod openmls;
mod page;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use gambeson_cli::args::{Bench, BenchSubject};
use gambeson_cli::mls_bench::Failure;

/// Measures groups of MLS, ours beside those of others: processor time, and bytes.
#[derive(Parser)]
struct Arguments {
    /// One JSON object a line instead of a table.
    #[arg(long)]
    json: bool,
    /// How many members a group has beside its creator.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    members: u32,
    /// Leave OpenMLS out, which takes by far the longest.
    #[arg(long)]
    without_openmls: bool,
    /// Exit with status 1 when a number that this project promises is missed.
    #[arg(long)]
    check: bool,
    /// Write the figures into this folder: a page, and a picture.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Arguments { json, members, without_openmls, check, out } = Arguments::parse();
    if let Some(folder) = out {
        return match written(&folder, members, without_openmls, check) {
            Ok(code) => code,
            Err(error) => {
                eprintln!("{}: {error}", folder.display());
                ExitCode::FAILURE
            }
        };
    }
    let options =
        Bench { subject: Some(BenchSubject::Mls), check, members, seconds: 0.5, op: None, limit: None };
    let mut others = Vec::from(aws_lc::contenders());
    if !without_openmls {
        others.extend(openmls::contenders());
    }
    gambeson_cli::bench_mls(json, &options, &others).code().into()
}

/// Runs this program once more for its reports, and writes them down: its status, which tells of a promise that is missed.
fn written(folder: &Path, members: u32, without_openmls: bool, check: bool) -> Result<ExitCode, Failure> {
    let mut run = Command::new(std::env::current_exe()?);
    run.args(["--json", "--members", &members.to_string()]).stderr(Stdio::inherit());
    if without_openmls {
        run.arg("--without-openmls");
    }
    if check {
        run.arg("--check");
    }
    let output = run.output()?;
    let code = match output.status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(1) if check => ExitCode::FAILURE,
        _ => return Err("the run failed".into()),
    };
    page::write(folder, members, &String::from_utf8(output.stdout)?)?;
    Ok(code)
}
