//! The program `gambeson`: post-quantum keys, signatures and sealed files on the command line.
//!
//! There is no arithmetic and no policy here: commands turn files and arguments into the types of the libraries,
//! call them, and turn what comes back into files, sentences and exit statuses. [`run`] is the whole program:
//!
//! ```
//! use clap::Parser;
//! use gambeson_cli::{Cli, Status};
//!
//! let cli = Cli::parse_from(["gambeson", "doctor"]);
//! assert_eq!(gambeson_cli::run(&cli), Status::Done);
//! ```
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`args`] | the command line |
//! | `console`, `files`, `unfinished`, `passphrase` | reports and progress; files in and out, also when interrupted; passphrases |
//! | `guard` | files that no output replaces |
//! | `listener` | sockets that listen until they are asked to end |
//! | `keyfile`, `keys` | what a key file can hold; the commands `key …` |
//! | `cert` | `cert …`: certificates, requests, revocation lists, chains |
//! | `tls` | `tls …`: a server, a client, a scan, and what a handshake costs |
//! | `provider` | `provider …`: OpenSSL programs with our algorithms |
//! | `agent` | `agent …`: an identity from one seed, and all that it does |
//! | `slim` | `slim …`: nodes of SLIM, the delivery service of channels; `channel …` is in `agent` |
//! | `sim` | a channel of thousands in virtual time |
//! | `signatures`, `kem`, `sealing` | `sign`, `verify`; `kem …`; `seal`, `open` |
//! | `harness`, `vectors`, `check` | `vectors serve`; files of test vectors; `vectors check` |
//! | `bench`, `demo`, `doctor`, `pages` | the commands of these names; `completions` and `man` |

mod agent;
pub mod args;
mod bench;
mod beside;
mod cert;
mod check;
mod child;
mod console;
mod demo;
mod dial;
mod doctor;
mod error;
mod files;
mod guard;
mod harness;
mod http;
mod https;
mod identities;
mod kem;
mod keyfile;
mod keys;
mod listener;
mod pages;
mod passphrase;
mod provider;
mod sealing;
mod signatures;
mod sim;
mod slim;
mod tls;
mod unfinished;
mod vectors;
mod wire;

pub use args::Cli;
pub use error::{Error, Status};

use args::{Command, KemCommand, KeyCommand, VectorsCommand};
use clap::error::ErrorKind;
use console::Console;
use std::io::{self, BufWriter};

/// The answer of `vectors serve` to one line: a door for the fuzz targets, no part of the interface.
#[doc(hidden)]
#[must_use]
pub fn respond(line: &[u8]) -> String {
    harness::respond(line)
}

/// Whether these bytes are a header of the PROXY protocol, or why not: a door for the fuzz targets, no part of the interface.
///
/// # Errors
/// What does not hold.
#[doc(hidden)]
pub fn proxy_header(bytes: &[u8]) -> Result<(), String> {
    tls::proxy_header(bytes)
}

/// What the client of HTTP makes of the bytes of a server, the body or the kind of failure: a door for the fuzz targets, no part of the interface.
///
/// # Errors
/// Why there is no body.
#[doc(hidden)]
pub fn http_answer(bytes: &[u8], max_len: u64) -> Result<Vec<u8>, &'static str> {
    https::answer(bytes, max_len)
}

/// What the servers of HTTP write for the bytes of a client: a door for the fuzz targets, no part of the interface.
#[doc(hidden)]
#[must_use]
pub fn http_request(bytes: &[u8]) -> Vec<u8> {
    agent::answered(bytes)
}

/// Whose TLS `tls bench` measures beside ours: a door for a program that has others, no part of the interface.
#[doc(hidden)]
pub use tls::bench as tls_bench;

/// `tls bench` with rows of others beside ours.
#[doc(hidden)]
#[must_use]
pub fn bench_tls(json: bool, options: &args::tls::TlsBench, others: &[tls_bench::Stack]) -> Status {
    let console = Console::new(json);
    ended(console, json, tls_bench::bench(console, options, others))
}

/// Whose groups `bench mls` measures beside ours: a door for a program that has others, no part of the interface.
#[doc(hidden)]
pub use bench::mls as mls_bench;

/// `bench mls` with rows of others beside ours.
#[doc(hidden)]
#[must_use]
pub fn bench_mls(json: bool, options: &args::Bench, others: &[mls_bench::Contender]) -> Status {
    let console = Console::new(json);
    ended(console, json, mls_bench::bench(console, options, others))
}

/// What the program `gambeson-slim-bridge` shares with this one: no part of the interface.
#[doc(hidden)]
pub use agent::channel::bridge as slim_bridge;

/// Does what the command line says, reports, and returns the exit status.
pub fn run(cli: &Cli) -> Status {
    let console = Console::new(cli.json).beside_data(cli.command.fills_stdout());
    ended(console, cli.json, dispatch(console, &cli.command))
}

/// Reports an error of the command line as `--json` reports all errors, and returns the exit status.
pub fn misused(error: &clap::Error) -> Status {
    let message = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a command is missing".to_owned(),
        _ => {
            // The message is the first paragraph, which may list arguments in lines of their own; hints and usage come after it.
            let text = error.to_string();
            let message = text.split("\n\n").next().unwrap_or_default();
            message
                .strip_prefix("error: ")
                .unwrap_or(message)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        }
    };
    ended(Console::new(true), true, Err(Error::usage(message).because("usage")))
}

/// Reports why there is no result, and returns the exit status.
fn ended(console: Console, json: bool, outcome: Result<Status, Error>) -> Status {
    outcome.unwrap_or_else(|error| {
        if !error.is_quiet() {
            console::write_to_stderr(format_args!("gambeson: {error}"));
            if json {
                let _ = console.report_json(error.report());
            }
        }
        error.status()
    })
}

fn dispatch(console: Console, command: &Command) -> Result<Status, Error> {
    match command {
        Command::Agent(options) => agent::agent(console, options),
        Command::Channel(options) => agent::channel(console, options),
        Command::Slim(command) => slim::slim(console, command),
        Command::Sim(options) => sim::sim(console, options),
        Command::Key(KeyCommand::Gen(options)) => keys::generate(console, options),
        Command::Key(KeyCommand::Public(options)) => keys::public(console, options),
        Command::Key(KeyCommand::Show(options)) => keys::show(console, options),
        Command::Key(KeyCommand::Convert(options)) => keys::convert(console, options),
        Command::Key(KeyCommand::Passwd(options)) => keys::passwd(console, options),
        Command::Cert(command) => cert::cert(console, command),
        Command::Tls(command) => tls::tls(console, command),
        Command::Provider(command) => provider::provider(console, command),
        Command::Sign(options) => signatures::sign(console, options),
        Command::Verify(options) => signatures::verify(console, options),
        Command::Kem(KemCommand::Encaps(options)) => kem::encaps(console, options),
        Command::Kem(KemCommand::Decaps(options)) => kem::decaps(console, options),
        Command::Seal(options) => sealing::seal(console, options, None),
        Command::Open(options) => sealing::open(console, options),
        Command::Bench(options) => bench::bench(console, options),
        Command::Vectors(VectorsCommand::Serve) => {
            harness::serve(io::stdin(), BufWriter::with_capacity(1 << 16, io::stdout()))
                .map_err(|e| Error::stream(&"vectors serve", &e))?;
            Ok(Status::Done)
        }
        Command::Vectors(VectorsCommand::Check { folder, limit, skip }) => {
            if let Some(level) = limit {
                gambeson::cpu::limit(*level);
            }
            check::check(console, folder, skip)
        }
        Command::Demo(options) => demo::demo(console, options),
        Command::Doctor => doctor::doctor(console),
        Command::Completions { shell } => pages::completions(*shell),
        Command::Man { folder, force } => pages::man(console, folder, *force),
    }
}
