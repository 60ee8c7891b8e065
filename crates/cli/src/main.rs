//! The program `gambeson`.

use clap::Parser;
use gambeson_cli::Cli;
use gambeson_identity::text::one_line;
use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => ExitCode::from(gambeson_cli::run(&cli).code()),
        Err(error) => {
            // Once more with arguments that are one line each: the message quotes them, and they may be others' text.
            let arguments = env::args_os().map(|argument| one_line(argument.to_string_lossy()));
            let error = Cli::try_parse_from(arguments).err().unwrap_or(error);
            // Arguments behind `--` are another program's.
            let json =
                env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
            match error.use_stderr() && json {
                true => ExitCode::from(gambeson_cli::misused(&error).code()),
                false => error.exit(),
            }
        }
    }
}
