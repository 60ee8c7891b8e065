//! The command line of `gambeson sim`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// When members come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Churn {
    /// At any time alike
    Steady,
    /// All of ten minutes within one
    Bursts,
}

/// `gambeson sim`
#[derive(Debug, Args)]
pub struct Sim {
    /// Members of the channel
    #[arg(long, value_name = "N", default_value = "1000")]
    pub members: usize,
    /// Virtual minutes
    #[arg(long, value_name = "N", default_value = "60", value_parser = clap::value_parser!(u64).range(1..))]
    pub minutes: u64,
    /// How many members are whole, with an MLS group each; the others are leaves with real keys
    #[arg(long, value_name = "K", default_value = "16")]
    pub full: usize,
    /// Decides who does what when, and what the links do; keys are random
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// When members come and go
    #[arg(long, value_enum, value_name = "HOW", default_value = "steady")]
    pub churn: Churn,
    /// How many members of a hundred leave in a minute, while as many join
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub leave: f64,
    /// How many frames of a hundred a link loses
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub loss: f64,
    /// How often in a hundred minutes half of the whole members are parted from the delivery service and all others, for one to three minutes
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = percent)]
    pub partition: f64,
    /// An MLS suite's number, such as 0xf00a (may be given again) [default: 0xf00a and the classical 1, side by side]
    #[arg(long, value_name = "NUMBER", value_parser = suite)]
    pub suite: Vec<u16>,
    /// Write a page and a picture of it (SVG) into this folder, which is made if there is none
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a page and a picture that exist
    #[arg(long)]
    pub force: bool,
    /// Exit with status 1 when a number is missed that this project promises of such a channel: of 10,000 members, of an hour, or of an hour of 5,000
    #[arg(long)]
    pub check: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|value| (0.0..=100.0).contains(value)).ok_or("expected 0 to 100".to_owned())
}

fn suite(text: &str) -> Result<u16, String> {
    let digits =
        text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u16::from_str_radix(digits, 16));
    digits.map_err(|_| "expected a number such as 0xf00a or 1".to_owned())
}
