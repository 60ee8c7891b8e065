//! The program `gambeson`.

use clap::Parser;
use gambeson_cli::Cli;
use gambeson_identity::text::one_line;
use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| {
        // Once more with arguments that are one line each: the message quotes them, and they may be others' text.
        let arguments = env::args_os().map(|argument| one_line(argument.to_string_lossy()));
        Cli::try_parse_from(arguments).err().unwrap_or(error).exit()
    });
    ExitCode::from(gambeson_cli::run(&cli).code())
}
