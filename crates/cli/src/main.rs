//! The program `gambeson`.

use clap::Parser;
use gambeson_cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gambeson_cli::run(&Cli::parse()).code())
}
