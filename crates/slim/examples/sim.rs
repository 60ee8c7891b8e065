//! `cargo run --release -p gambeson-slim --features sim --example sim -- MEMBERS MINUTES FOLDER`: a channel in virtual time, with the
//! post-quantum suite and the classical one side by side, and plots in the folder.
#![allow(clippy::unwrap_used)] // An example may fail that way.

use gambeson_mls::Suite;
use gambeson_slim::sim::{Options, Report, run};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let members = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let minutes = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let options = Options { members, minutes, ..Options::default() };
    let mut reports = Vec::new();
    for number in [0xf00a, 1] {
        let suite = Suite::by_number(number).ok_or("no such suite")?;
        let start = Instant::now();
        let report = run(&options, suite, &mut |line| eprintln!("{line}"))?;
        println!("{report}{:.0} s of wall time\n", start.elapsed().as_secs_f64());
        reports.push(report);
    }
    if let Some(folder) = arguments.next() {
        for file in Report::plots(&reports, Path::new(&folder))? {
            println!("{file}");
        }
    }
    Ok(())
}
