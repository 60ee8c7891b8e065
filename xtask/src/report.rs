//! Results of steps: counted, printed, with their minutes at the end and in `target/xtask/steps.json`.

use crate::run::{Workspace, processor_minutes, tail};
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The result of a step that ended well.
#[derive(Default)]
pub struct Done {
    pub passed: usize,
    pub skipped: usize,
    /// Rows of a benchmark that miss a promise and are listed in `docs/open-promises.toml`.
    pub open: usize,
    /// A sentence about it.
    pub note: String,
}

impl From<(usize, String)> for Done {
    fn from((passed, note): (usize, String)) -> Self {
        Self { passed, note, ..Self::default() }
    }
}

impl From<String> for Done {
    fn from(note: String) -> Self {
        Self { passed: 1, note, ..Self::default() }
    }
}

impl From<&str> for Done {
    fn from(note: &str) -> Self {
        Self::from(note.to_owned())
    }
}

/// A failed run of tests: how many passed and failed before the error.
#[derive(Debug)]
struct TestsFailed {
    passed: usize,
    failed: usize,
    text: String,
}

impl std::fmt::Display for TestsFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for TestsFailed {}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Passed,
    Failed,
    /// A tool is missing; a failure in continuous integration.
    Missing,
}

impl Outcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Failed => "FAILED",
            Self::Missing => "skipped",
        }
    }
}

/// Sums over steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    pub open: usize,
}

/// A step that ended, with its minutes by the clock and of the processors.
struct Ended {
    name: &'static str,
    group: &'static str,
    clock: f64,
    processors: f64,
    outcome: Outcome,
    counts: Counts,
}

/// The results of a run, from several threads.
pub struct Report {
    ci: bool,
    /// The history of runs, whose last is this one.
    history: PathBuf,
    runs: Vec<Value>,
    begun: Instant,
    ended: Mutex<Vec<Ended>>,
}

impl Report {
    /// Begins a run, which `target/xtask/steps.json` describes by these words.
    pub fn new(workspace: &Workspace, words: &str) -> Self {
        let history = workspace.target.join("xtask/steps.json");
        // One that cannot be read begins anew.
        let text = fs::read_to_string(&history).unwrap_or_default();
        let mut runs: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        let commit = workspace.git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
        runs.push(json!({"run": words, "date": date("+%FT%TZ"), "commit": commit, "ci": workspace.ci}));
        Self { ci: workspace.ci, history, runs, begun: Instant::now(), ended: Mutex::default() }
    }

    /// Runs one step and counts it.
    pub fn step(
        &self,
        workspace: &Workspace,
        [name, group]: [&'static str; 2],
        missing: Option<&str>,
        work: impl FnOnce(&Workspace) -> Result<Done>,
    ) {
        let metered = workspace.metered();
        let start = Instant::now();
        let outcome = match missing {
            None => {
                println!("-- {name} begins");
                work(&metered)
            }
            Some(missing) if self.ci => Err(anyhow::anyhow!("could not run: {missing} is not here")),
            Some(missing) => {
                println!("== {name}\n   skipped: {missing} is not here");
                let counts = Counts { skipped: 1, ..Counts::default() };
                let (clock, processors, outcome) = (0.0, 0.0, Outcome::Missing);
                return self.add(Ended { name, group, clock, processors, outcome, counts });
            }
        };
        let clock = minutes(start.elapsed());
        let (outcome, counts) = match outcome {
            Ok(Done { passed, skipped, open, note }) => {
                println!("== {name}\n   ok ({clock:.1} min): {note}");
                (Outcome::Passed, Counts { passed, failed: 0, skipped, open })
            }
            Err(error) => {
                let tests = error.downcast_ref::<TestsFailed>();
                let (passed, failed) = tests.map_or((0, 1), |tests| (tests.passed, tests.failed.max(1)));
                println!("== {name}\n   FAILED ({clock:.1} min): {error:#}");
                (Outcome::Failed, Counts { passed, failed, ..Counts::default() })
            }
        };
        self.add(Ended { name, group, clock, processors: metered.processor_minutes(), outcome, counts });
    }

    /// Keeps a result, and writes the history: of a run that is ended from outside it has the steps so far.
    fn add(&self, step: Ended) {
        let mut ended = self.ended.lock().expect("no step panics with it");
        ended.push(step);
        let steps = ended.iter().map(|step| {
            let Counts { passed, failed, skipped, open } = step.counts;
            json!({"name": step.name, "group": step.group, "minutes": rounded(step.clock), "processor_minutes": rounded(step.processors),
                "outcome": step.outcome.word(), "passed": passed, "failed": failed, "skipped": skipped, "open": open})
        });
        let mut runs = self.runs.clone();
        if let Some(run) = runs.last_mut() {
            run["minutes"] = rounded(minutes(self.begun.elapsed())).into();
            run["processor_minutes"] = rounded(processor_minutes()).into();
            run["steps"] = steps.collect();
        }
        let lines: Vec<String> = runs.iter().map(Value::to_string).collect();
        if let Err(error) = fs::write(&self.history, format!("[\n{}\n]\n", lines.join(",\n"))) {
            eprintln!("{}: {error}", self.history.display());
        }
    }

    /// The sums of a group, or of all steps; and the steps of it that a tool is missing for.
    pub fn sums(&self, group: Option<&str>) -> (Counts, Vec<&'static str>) {
        let ended = self.ended.lock().expect("no step panics with it");
        let (mut sums, mut missing) = (Counts::default(), Vec::new());
        for step in ended.iter().filter(|step| group.is_none_or(|group| step.group == group)) {
            sums.passed += step.counts.passed;
            sums.failed += step.counts.failed;
            sums.skipped += step.counts.skipped;
            sums.open += step.counts.open;
            missing.extend((step.outcome == Outcome::Missing).then_some(step.name));
        }
        (sums, missing)
    }

    /// Prints the table of steps, and returns whether no step failed and at least one ran.
    pub fn end(&self) -> bool {
        println!("\n   clock  processors");
        let ended = self.ended.lock().expect("no step panics with it");
        for Ended { name, clock, processors, outcome, .. } in ended.iter() {
            println!("{clock:6.1} min {processors:6.1} min  {:<7}  {name}", outcome.word());
        }
        println!("{:6.1} min {:6.1} min  in all", minutes(self.begun.elapsed()), processor_minutes());
        let any = !ended.is_empty();
        drop(ended);
        let (Counts { passed, failed, skipped, open }, missing) = self.sums(None);
        if !missing.is_empty() {
            println!("not run, because a tool is missing: {}", missing.join(", "));
        }
        println!("{passed} passed, {failed} failed, {skipped} skipped, {open} open promises");
        failed == 0 && any
    }
}

fn minutes(time: Duration) -> f64 {
    time.as_secs_f64() / 60.0
}

fn rounded(minutes: f64) -> f64 {
    (minutes * 100.0).round() / 100.0
}

/// The time now, in UTC, in a format of `date`.
pub fn date(format: &str) -> String {
    let output = Command::new("date").args(["-u", format]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// Runs tests and counts them; that none ran is a failure.
pub fn counted(name: &str, workspace: &Workspace, test: &mut Command, note: &str) -> Result<Done> {
    let (success, text) = workspace.tried(name, test)?;
    judged(success, &text, note)
}

/// Counts the tests in what their programs wrote.
pub fn judged(success: bool, text: &str, note: &str) -> Result<Done> {
    let (passed, failed, ignored) = test_results(text);
    if !success || passed == 0 || failed != 0 {
        let text = format!("{passed} tests passed, {failed} failed\n{}", failures(text));
        return Err(TestsFailed { passed, failed, text }.into());
    }
    let skipped = skips(text);
    skipped.iter().for_each(|test| println!("   {test}"));
    // Some are ignored by the harness; others returned at once, which the harness takes for passing.
    let ignored_ones = skipped.iter().filter(|line| line.ends_with(" ignored")).count();
    let left = ignored.saturating_sub(ignored_ones);
    let passed = passed.saturating_sub(skipped.len() - ignored_ones);
    Ok(Done {
        passed,
        skipped: skipped.len(),
        open: 0,
        note: format!("{passed} tests, {} skipped, {left} left for --full, {note}", skipped.len()),
    })
}

/// The tests that say that they cannot run here: in their name, or in a line of their own (`gambeson_vectors::shared`).
fn skips(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("test ") && line.contains("(skipped)")).collect()
}

/// Passed, failed and ignored tests of all the programs that a `cargo test` ran.
pub fn test_results(text: &str) -> (usize, usize, usize) {
    let mut sums = (0, 0, 0);
    for line in text.lines().filter(|line| line.starts_with("test result: ")) {
        let count = |word: &str| {
            let before = line.split(word).next().unwrap_or_default().trim_end();
            before.rsplit(' ').next().and_then(|number| number.parse::<usize>().ok()).unwrap_or(0)
        };
        sums = (sums.0 + count("passed;"), sums.1 + count("failed;"), sums.2 + count("ignored;"));
    }
    sums
}

/// What explains the failures: their output if there is some, else the end of the text.
fn failures(text: &str) -> String {
    let failing: Vec<&str> =
        text.lines().filter(|line| line.starts_with("test ") && line.ends_with("FAILED")).collect();
    let end = tail(text, 100);
    format!("{}\n{end}", failing.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use std::env;

    const TEXT: &str = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\
        test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
        test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 1.2s\n";

    #[test]
    fn results_are_summed() {
        assert_eq!(test_results(TEXT), (13, 1, 3));
    }

    #[test]
    fn tests_that_cannot_run_are_counted() {
        let text = "test a ... ok\ntest stock age (skipped) ... ignored\ntest b ... ignored\n\n\
            test all_vectors (skipped): ../shared/vectors is not there\ntest all_vectors ... ok\n";
        assert_eq!(skips(text).len(), 2);
    }

    #[test]
    fn a_test_that_returned_without_its_vectors_counts_as_skipped_and_not_as_passed() {
        let workspace = workspace("counted", true);
        let text = "test a ... ok\ntest b (skipped): not there\ntest b ... ok\ntest c (skipped) ... ignored\n\
            test result: ok. 2 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out\n";
        let done = counted("counted", &workspace, Command::new("printf").arg(text.replace('\n', "\\n")), "x")
            .unwrap();
        assert_eq!((done.passed, done.skipped), (1, 2));
        assert!(done.note.contains("1 left for --full"), "{}", done.note);
    }

    #[test]
    fn failing_tests_are_named() {
        assert!(failures(TEXT).starts_with("test b ... FAILED"));
    }

    /// One with a target folder of its own, so that the history is this test's.
    fn workspace(name: &str, ci: bool) -> Workspace {
        let target = env::temp_dir().join(format!("gambeson-report-{name}-{}", std::process::id()));
        fs::create_dir_all(target.join("xtask")).unwrap();
        Workspace::at(".".into(), target, ci)
    }

    #[test]
    fn a_step_without_its_tool_is_skipped_and_fails_in_ci() {
        for (ci, expected) in [(false, (0, 0, 1)), (true, (0, 1, 0))] {
            let workspace = workspace("tool", ci);
            let report = Report::new(&workspace, "a test");
            report.step(&workspace, ["a step", "a group"], Some("a tool"), |_| Ok(Done::default()));
            let (sums, missing) = report.sums(None);
            assert_eq!((sums.passed, sums.failed, sums.skipped), expected);
            assert_eq!(missing.len(), usize::from(!ci));
            assert_eq!(report.end(), !ci);
        }
    }

    #[test]
    fn results_are_counted_by_group_and_kept_in_a_history() {
        let workspace = workspace("history", false);
        for run in 1..=2 {
            let report = Report::new(&workspace, "a test");
            report.step(&workspace, ["tests", "one"], None, |_| {
                Err(TestsFailed { passed: 5, failed: 2, text: String::new() }.into())
            });
            report.step(&workspace, ["plain", "one"], None, |_| bail!("no"));
            report.step(&workspace, ["good", "two"], None, |_| {
                Ok(Done { passed: 3, skipped: 1, open: 4, note: String::new() })
            });
            assert_eq!(report.sums(Some("one")).0, Counts { passed: 5, failed: 3, skipped: 0, open: 0 });
            assert_eq!(report.sums(Some("two")).0, Counts { passed: 3, failed: 0, skipped: 1, open: 4 });
            let text = fs::read_to_string(workspace.target.join("xtask/steps.json")).unwrap();
            let runs: Vec<Value> = serde_json::from_str(&text).unwrap();
            assert_eq!((runs.len(), runs[run - 1]["steps"].as_array().unwrap().len()), (run, 3));
            assert_eq!(runs[0]["steps"][2]["open"], 4);
            assert!(!report.end());
        }
        fs::remove_dir_all(&workspace.target).unwrap();
    }

    #[test]
    fn a_run_of_no_step_is_a_failure() {
        assert!(!Report::new(&workspace("none", false), "a test").end());
    }
}
