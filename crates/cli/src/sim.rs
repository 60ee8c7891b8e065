//! The command `sim`: a channel of thousands in virtual time.

use crate::args::sim::Sim;
use crate::console::Console;
use crate::error::{Error, Status};

#[cfg(not(feature = "sim"))]
pub(crate) fn sim(_: Console, _: &Sim) -> Result<Status, Error> {
    let how = "this gambeson was built without the simulator; cargo install gambeson-cli --features sim builds one that has it";
    Err(Error::outside(how).because("without-sim"))
}

#[cfg(feature = "sim")]
pub(crate) use simulated::sim;

#[cfg(feature = "sim")]
mod simulated {
    use super::{Console, Error, Sim, Status};
    use crate::args::sim::Churn;
    use gambeson_mls::Suite;
    use gambeson_slim::faults::Faults;
    use gambeson_slim::sim::{Options, Report, Rhythm, run};
    use serde_json::{Map, Value, json};
    use std::fs;

    /// The post-quantum suite and the classical one.
    const SIDE_BY_SIDE: [u16; 2] = [0xf00a, 1];

    pub(crate) fn sim(console: Console, asked: &Sim) -> Result<Status, Error> {
        if asked.full < 4 || asked.members < asked.full {
            let message = "--full is at least 4, and at most --members";
            return Err(Error::usage(message));
        }
        let numbers = if asked.suite.is_empty() { &SIDE_BY_SIDE[..] } else { &asked.suite };
        let suites = numbers.iter().map(|number| {
            Suite::by_number(*number).ok_or_else(|| Error::usage(format!("there is no suite 0x{number:04x}")))
        });
        let suites = suites.collect::<Result<Vec<_>, _>>()?;
        if let Some(folder) = &asked.out {
            fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
        }
        let standard = Options::default();
        let options = Options {
            members: asked.members,
            full: asked.full,
            minutes: asked.minutes,
            churn: asked.leave / 100.0,
            rhythm: match asked.churn {
                Churn::Steady => Rhythm::Steady,
                Churn::Bursts => Rhythm::Bursts,
            },
            faults: Faults { loss: asked.loss / 100.0, ..standard.faults },
            seed: asked.seed,
            ..standard
        };
        let mut reports = Vec::new();
        for suite in suites {
            let bar = console.steps_bar(asked.minutes, suite.name());
            let report = run(&options, suite, &mut |line| {
                bar.suspend(|| drop(console.say(line)));
                bar.inc(1);
            });
            bar.finish_and_clear();
            let report =
                report.map_err(|error| Error::not_verified(error.to_string()).because("simulation"))?;
            console.report(&report, told(&report, asked.seed))?;
            reports.push(report);
        }
        if let Some(folder) = &asked.out {
            let files = Report::plots(&reports, folder).map_err(|error| Error::outside(error.to_string()))?;
            console.report(
                format_args!("{} plots in {}", files.len(), folder.display()),
                json!({"plots": files, "folder": folder.display().to_string()}),
            )?;
        }
        Ok(Status::Done)
    }

    /// A report for programs.
    fn told(report: &Report, seed: u64) -> Value {
        let samples = report.samples.iter().map(|(name, sample)| {
            let value = json!({"mark": "measured", "values": sample.count(), "half": sample.at(0.5),
                "most": sample.at(0.99), "largest": sample.at(1.0)});
            (name.clone(), value)
        });
        let figures = report.figures.iter().map(|figure| {
            (figure.name.clone(), json!({"mark": figure.mark.to_string(), "value": figure.value}))
        });
        let (members, full, minutes) = report.size;
        json!({"suite": report.suite, "members": members, "full": full, "minutes": minutes, "seed": seed,
            "samples": samples.collect::<Map<_, _>>(), "figures": figures.collect::<Map<_, _>>()})
    }
}
