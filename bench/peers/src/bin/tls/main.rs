//! `gambeson tls bench --matrix` with other people's TLS beside ours: rustls over AWS-LC, and the OpenSSL of the system.
//!
//! ```text
//! cargo run --manifest-path bench/peers/Cargo.toml --release --bin gambeson-bench-tls -- --check
//! ```
//!
//! Everybody has the same chain and key of a row, the same cipher suite, and a turn in each round.

mod aws_lc;
#[cfg(feature = "openssl")]
mod openssl;
#[cfg(not(feature = "openssl"))]
mod openssl {
    pub fn stack() -> Option<gambeson_cli::tls_bench::Stack> {
        None
    }
}

use std::process::ExitCode;

use clap::Parser;
use gambeson_cli::args::tls::TlsBench;

/// Measures handshakes in memory, ours beside those of others: processor time of both sides, and bytes.
#[derive(Parser)]
struct Arguments {
    /// One JSON object a line instead of a table.
    #[arg(long)]
    json: bool,
    /// Handshakes of each row, one of every row in turn.
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rounds: u32,
    /// Exit with status 1 when a number that this project promises is missed.
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    let Arguments { json, rounds, check } = Arguments::parse();
    let options = TlsBench { matrix: true, preset: String::new(), rounds, check, planted: 0 };
    let others: Vec<_> = std::iter::once(aws_lc::STACK).chain(openssl::stack()).collect();
    if !json {
        let stacks: Vec<_> = others.iter().map(|stack| stack.name).collect();
        println!(
            "{}, {}; {rounds} rounds; beside ours: {}",
            processor(),
            env!("BENCH_COMPILER"),
            stacks.join("; ")
        );
    }
    gambeson_cli::bench_tls(json, &options, &others).code().into()
}

/// What Linux calls it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.into())
}
