//! The command `sim`: a channel of thousands in virtual time.

use crate::args::sim::Sim;
use crate::console::Console;
use crate::error::{Error, Status};

#[cfg(not(feature = "sim"))]
pub(crate) fn sim(_: Console, _: &Sim) -> Result<Status, Error> {
    let how = "this gambeson was built without the simulator; \
               in a clone of the repository, cargo install --locked --path crates/cli --features sim builds one that has it";
    Err(Error::outside(how).because("without-sim"))
}

#[cfg(feature = "sim")]
pub(crate) use simulated::sim;

#[cfg(feature = "sim")]
mod simulated {
    use super::{Console, Error, Sim, Status};
    use crate::args::sim::Churn;
    use crate::console::counted;
    use gambeson_mls::Suite;
    use gambeson_slim::faults::Faults;
    use gambeson_slim::sim::{Options, Report, Rhythm, run};
    use serde_json::{Map, Value, json};
    use std::fs;

    /// The suite of most channels.
    const POST_QUANTUM: u16 = 0xf00a;
    /// It, and the classical one.
    const SIDE_BY_SIDE: [u16; 2] = [POST_QUANTUM, 1];

    /// What is promised of 10,000 members with the suite of most channels: of the processor time that mls-rs over AWS-LC took before there was this
    /// project, 1.2 to 2.1 s, at most 60 % to join, and of 0.12 to 0.2 s not more to process an update. The larger ones count: what else the
    /// machine does makes up the difference.
    const LARGE: usize = 10_000;
    const JOIN_MS: f64 = 0.6 * 2_100.0;
    const UPDATE_MS: f64 = 200.0;
    /// What is promised of an hour: how much more memory is resident in minutes 50 to 60 than in 20 to 30.
    const GROWTH: f64 = 1.05;
    const HOUR: u64 = 60;
    /// And of an hour of so many members, in how many seconds of the clock it is simulated.
    const MANY: usize = 5_000;
    const SECONDS: f64 = 1_800.0;

    pub(crate) fn sim(console: Console, asked: &Sim) -> Result<Status, Error> {
        if asked.full < 4 || asked.members < asked.full {
            let message = "--full is at least 4, and at most --members";
            return Err(Error::usage(message));
        }
        let numbers = if asked.suite.is_empty() { &SIDE_BY_SIDE[..] } else { &asked.suite };
        let suites = numbers.iter().map(|number| {
            Suite::by_number(*number).ok_or_else(|| Error::usage(format!("unknown suite 0x{number:04x}")))
        });
        let suites = suites.collect::<Result<Vec<_>, _>>()?;
        let large = asked.members == LARGE && numbers.contains(&POST_QUANTUM);
        if asked.check && !large && asked.minutes < HOUR {
            let message =
                "--check: goals exist for --members 10000 with suite 0xf00a and for --minutes 60 only";
            return Err(Error::usage(message));
        }
        if let Some(folder) = &asked.out {
            fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
            for kind in ["md", "svg"] {
                let file = folder.join(format!("sim-{}.{kind}", asked.members));
                crate::files::refuse_existing(&file, asked.force)?;
            }
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
            partition: asked.partition / 100.0,
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
            console.report_lines(report.to_string().lines(), told(&report, asked.seed))?;
            reports.push(report);
        }
        if let Some(folder) = &asked.out {
            let files = Report::write(&reports, &again(asked), folder);
            let files = files.map_err(|error| Error::outside(error.to_string()))?;
            console.report(
                format_args!("{} in {}", files.join(" and "), folder.display()),
                json!({"type": "plots", "plots": files, "folder": folder.display().to_string()}),
            )?;
        }
        let promises: Vec<Promise> = reports.iter().flat_map(Promise::of).collect();
        for promise in &promises {
            promise.tell(console)?;
        }
        let missed = asked.check && promises.iter().any(|promise| !promise.holds());
        Ok(if missed { Status::NotVerified } else { Status::Done })
    }

    /// The command that was given, as far as figures depend on it.
    fn again(asked: &Sim) -> String {
        let Sim { members, minutes, full, seed, leave, loss, partition, .. } = asked;
        let mut line = format!(
            "gambeson sim --members {members} --minutes {minutes} --full {full} --seed {seed} --leave {leave} --loss {loss} \
             --partition {partition}"
        );
        if asked.churn == Churn::Bursts {
            line += " --churn bursts";
        }
        asked.suite.iter().for_each(|number| line += &format!(" --suite {number:#x}"));
        line
    }

    /// A figure that this project promises.
    struct Promise {
        what: String,
        figure: f64,
        goal: f64,
    }

    impl Promise {
        /// Those of a channel of this size; where one has no figure, it is missed.
        fn of(report: &Report) -> Vec<Self> {
            let (members, _, minutes) = report.size;
            let mut promises = Vec::new();
            let mut add = |what: &str, figure: Option<f64>, goal| {
                let what = format!("{what}, {}, {}", counted(members, "member"), report.suite);
                promises.push(Self { what, figure: figure.unwrap_or(f64::INFINITY), goal });
            };
            let suite = Suite::by_name(report.suite).map(Suite::number);
            if members == LARGE && suite == Some(POST_QUANTUM) {
                let half = |name: &str| report.samples.get(name).map(|sample| sample.at(0.5));
                add("join, half, CPU ms", half("join, CPU ms"), JOIN_MS);
                add("process an update, half, CPU ms", half("commit (update): process, CPU ms"), UPDATE_MS);
            }
            if minutes >= HOUR {
                let figure = |name: &str| {
                    report.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
                };
                let mean = |from: &str| figure(&format!("resident memory in minutes {from}, MB"));
                let growth = mean("50 to 60").zip(mean("20 to 30")).map(|(last, first)| last / first);
                add("resident memory of minutes 50 to 60, of that of 20 to 30", growth, GROWTH);
                if (members, minutes) == (MANY, HOUR) {
                    add("wall time, s", figure("wall time of the simulation, s"), SECONDS);
                }
            }
            promises
        }

        /// What is no number does not hold.
        fn holds(&self) -> bool {
            self.figure <= self.goal
        }

        fn tell(&self, console: Console) -> Result<(), Error> {
            let Self { what, figure, goal } = self;
            let verdict = if self.holds() { "holds" } else { "MISSED" };
            console.report(
                format_args!("{what}: {figure:.2}, at most {goal}: {verdict}"),
                json!({"type": "promise", "name": what, "figure": figure, "goal": goal, "ok": self.holds()}),
            )
        }
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
        json!({"type": "simulation", "suite": report.suite, "groupSize": members, "full": full, "minutes": minutes, "seed": seed,
            "samples": samples.collect::<Map<_, _>>(), "figures": figures.collect::<Map<_, _>>()})
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use gambeson_slim::sim::{Figure, Mark};

        #[test]
        fn a_promise_that_is_missed_or_has_no_figure_does_not_hold() {
            let options = Options { members: 4, full: 4, minutes: 1, ..Options::default() };
            let mut report = run(&options, Suite::by_number(1).unwrap(), &mut |_| {}).unwrap();
            assert!(Promise::of(&report).is_empty());
            // Its figures, under the size and the suite of which something is promised.
            report.suite = Suite::by_number(POST_QUANTUM).unwrap().name();
            report.size = (LARGE, 4, HOUR);
            let update = report.samples["join, CPU ms"].clone();
            report.samples.insert("commit (update): process, CPU ms".to_owned(), update);
            let holds = |report: &Report| Promise::of(report).iter().map(Promise::holds).collect::<Vec<_>>();
            assert_eq!(holds(&report), [true, true, false]);
            for (minutes, value) in [("20 to 30", 100.0), ("50 to 60", 104.0)] {
                let name = format!("resident memory in minutes {minutes}, MB");
                report.figures.push(Figure { name, mark: Mark::Measured, value });
            }
            assert_eq!(holds(&report), [true, true, true]);
            report.figures.last_mut().unwrap().value = 106.0;
            report.samples.clear();
            assert_eq!(holds(&report), [false, false, false]);
            report.size = (MANY, 4, HOUR);
            assert_eq!(holds(&report), [false, true]);
            let wall = report.figures.iter_mut().find(|figure| figure.name.starts_with("wall time"));
            wall.unwrap().value = SECONDS + 1.0;
            assert_eq!(holds(&report), [false, false]);
        }
    }
}
