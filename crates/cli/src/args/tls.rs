//! The command line of `gambeson tls`.

use clap::{Args, Subcommand};

/// `gambeson tls …`
#[derive(Debug, Subcommand)]
pub enum TlsCommand {
    /// Measure handshakes in memory: processor time of both sides, and bytes
    Bench(TlsBench),
}

/// `gambeson tls bench`
#[derive(Debug, Args)]
pub struct TlsBench {
    /// Measure every preset, with and without verification of the chain, and compare them
    #[arg(long)]
    pub matrix: bool,
    /// Handshakes of each row, one of every row in turn
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: u32,
    /// Fail unless fully-hybrid costs less than twice classical-448, and that no more than 1.25 times its curve operations
    #[arg(long, requires = "matrix")]
    pub check: bool,
}
