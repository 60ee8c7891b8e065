//! What steps say: counted, printed, and with their minutes at the end.

use crate::run::{Workspace, side_by_side, tail};
use anyhow::{Result, anyhow, bail};
use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What a step says when it ends well: how many checks passed and how many could not run, and a sentence.
pub struct Done {
    pub passed: usize,
    pub skipped: usize,
    pub note: String,
}

impl From<(usize, String)> for Done {
    fn from((passed, note): (usize, String)) -> Self {
        Self { passed, skipped: 0, note }
    }
}

impl From<String> for Done {
    fn from(note: String) -> Self {
        Self { passed: 1, skipped: 0, note }
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

/// What the steps of a run said.
pub struct Report<'a> {
    pub workspace: &'a Workspace,
    only: Option<String>,
    passed: usize,
    failed: usize,
    skipped: usize,
    minutes: Vec<Minutes>,
}

/// How long a step took by the clock, and of the processors if it had them for itself; its name, and how it ended.
struct Minutes {
    clock: f64,
    processors: Option<f64>,
    name: String,
    word: &'static str,
}

/// A step that runs beside another.
pub struct Step<'a> {
    name: &'static str,
    missing: Option<&'static str>,
    work: Box<dyn FnOnce() -> Result<Done> + Send + 'a>,
}

impl<'a> Step<'a> {
    pub fn new<D: Into<Done>>(
        name: &'static str,
        missing: Option<&'static str>,
        work: impl FnOnce() -> Result<D> + Send + 'a,
    ) -> Self {
        Self { name, missing, work: Box::new(|| work().map(Into::into)) }
    }
}

impl<'a> Report<'a> {
    /// Of all steps, or of those with `only` in their name.
    pub fn new(workspace: &'a Workspace, only: Option<String>) -> Self {
        Self { workspace, only, passed: 0, failed: 0, skipped: 0, minutes: Vec::new() }
    }

    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }

    /// Runs one step; `missing` names what this machine lacks for it.
    pub fn step<D: Into<Done>>(
        &mut self,
        name: &str,
        missing: Option<&str>,
        work: impl FnOnce() -> Result<D>,
    ) {
        if !self.wants(name) {
            return;
        }
        println!("== {name}");
        let (start, before) = (Instant::now(), processor_minutes());
        let outcome = match missing {
            None => work().map(Into::into),
            Some(missing) if self.workspace.ci => Err(anyhow!("could not run: {missing} is not here")),
            Some(missing) => return self.skip(name, &format!("{missing} is not here")),
        };
        self.ended(name, start.elapsed(), Some(processor_minutes() - before), outcome);
    }

    /// Runs steps two at a time, for those that wait for one thread of a compiler or an emulator.
    pub fn together(&mut self, steps: Vec<Step<'_>>) {
        let (can, cannot): (Vec<_>, Vec<_>) =
            steps.into_iter().filter(|step| self.wants(step.name)).partition(|step| step.missing.is_none());
        for Step { name, missing, .. } in cannot {
            self.step(name, missing, || Ok(String::new()));
        }
        let can: Vec<_> = can.into_iter().map(|step| (step.name, Mutex::new(Some(step.work)))).collect();
        let report = Mutex::new(self);
        let ran = side_by_side(&can, |_, (name, work)| {
            let work = work.lock().expect("nobody panics with it").take();
            let start = Instant::now();
            let outcome = work.map_or_else(|| bail!("it ran before"), |work| work());
            println!("== {name}");
            report.lock().expect("nobody panics with it").ended(name, start.elapsed(), None, outcome);
            Ok(())
        });
        ran.expect("a step's error is in the report");
    }

    /// Counts and prints what a step said.
    fn ended(&mut self, name: &str, took: Duration, processors: Option<f64>, outcome: Result<Done>) {
        let clock = took.as_secs_f64() / 60.0;
        let word = match outcome {
            Ok(done) => {
                self.passed += done.passed;
                self.skipped += done.skipped;
                println!("   ok ({clock:.1} min): {}", done.note);
                "ok"
            }
            Err(error) => {
                let tests = error.downcast_ref::<TestsFailed>();
                self.passed += tests.map_or(0, |tests| tests.passed);
                self.failed += tests.map_or(1, |tests| tests.failed.max(1));
                println!("   FAILED ({clock:.1} min): {error:#}");
                "FAILED"
            }
        };
        self.minutes.push(Minutes { clock, processors, name: name.to_owned(), word });
    }

    /// Counts a step that cannot run, in CI too, because nothing that may be installed would change it.
    pub fn skip(&mut self, name: &str, why: &str) {
        self.skipped += 1;
        println!("   skipped: {why}");
        self.minutes.push(Minutes { clock: 0.0, processors: None, name: name.to_owned(), word: "skipped" });
    }

    /// Prints what there was, and returns whether all is well.
    pub fn end(&self, start: Instant) -> bool {
        println!("\n   clock  processors");
        for Minutes { clock, processors, name, word } in &self.minutes {
            let processors = processors.map_or_else(String::new, |minutes| format!("{minutes:.1} min"));
            println!("{clock:6.1} min {processors:>10}  {word:<7}  {name}");
        }
        println!("{:6.1} min {:6.1} min  in all", start.elapsed().as_secs_f64() / 60.0, processor_minutes());
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
        if self.minutes.is_empty() {
            println!("no step has {:?} in its name", self.only.as_deref().unwrap_or_default());
        }
        self.failed == 0 && !self.minutes.is_empty()
    }
}

/// What the programs that ended below this one took of the processors; 0 where the system does not tell it as Linux does.
fn processor_minutes() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may have blanks: the 14th and 15th are the user's and the system's ticks of those waited for.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS / 60.0
}

/// Ticks a second, as Linux tells programs on every processor that it runs on here.
const TICKS: f64 = 100.0;

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
    use std::collections::BTreeSet;
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
        let workspace = Workspace { root: ".".into(), target: env::temp_dir(), ci: true };
        fs::create_dir_all(workspace.target.join("xtask")).unwrap();
        let text = "test a ... ok\ntest b (skipped): not there\ntest b ... ok\ntest c (skipped) ... ignored\n\
            test result: ok. 2 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out\n";
        let done = counted("counted", &workspace, Command::new("printf").arg(text.replace('\n', "\\n")), "x")
            .unwrap();
        assert_eq!((done.passed, done.skipped), (1, 2));
        assert!(done.note.contains("1 left for --full"), "{}", done.note);
    }

    #[test]
    fn a_name_that_no_step_has_is_a_mistake() {
        let workspace = Workspace { root: ".".into(), target: ".".into(), ci: false };
        let mut report = Report { only: Some("typo".into()), ..report(&workspace) };
        report.step("fmt", None, || Ok(String::new()));
        assert!(!report.end(Instant::now()));
        let mut report = Report { only: Some("fm".into()), ..report };
        report.step("fmt", None, || Ok(String::new()));
        assert!(report.end(Instant::now()));
    }

    #[test]
    fn a_step_has_minutes_of_the_processors() {
        let before = processor_minutes();
        assert!(
            Command::new("sh")
                .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
                .status()
                .unwrap()
                .success()
        );
        let took = processor_minutes() - before;
        assert!(cfg!(not(target_os = "linux")) || (0.0001..1.0).contains(&took), "{took}");
    }

    #[test]
    fn steps_beside_each_other_are_counted_like_others() {
        let workspace = Workspace { root: ".".into(), target: ".".into(), ci: true };
        let mut report = report(&workspace);
        report.together(vec![
            Step::new("good", None, || Ok((3, String::new()))),
            Step::new("bad", None, || -> Result<String> { bail!("no") }),
            Step::new("absent", Some("a tool"), || Ok(String::new())),
        ]);
        assert_eq!((report.passed, report.failed, report.skipped), (3, 2, 0));
        let names: BTreeSet<_> =
            report.minutes.iter().map(|minutes| (&*minutes.name, minutes.word)).collect();
        assert_eq!(names, BTreeSet::from([("good", "ok"), ("bad", "FAILED"), ("absent", "FAILED")]));
        let mut one = Report { only: Some("go".into()), ..self::report(&workspace) };
        one.together(vec![
            Step::new("good", None, || Ok((3, String::new()))),
            Step::new("bad", None, || -> Result<String> { bail!("no") }),
        ]);
        assert_eq!((one.passed, one.failed), (3, 0));
    }

    #[test]
    fn failing_tests_are_named() {
        assert!(failures(TEXT).starts_with("test b ... FAILED"));
    }

    fn report(workspace: &Workspace) -> Report<'_> {
        Report::new(workspace, None)
    }

    #[test]
    fn what_cannot_run_is_skipped_here_and_fails_in_ci() {
        for (ci, expected) in [(false, (0, 0, 1)), (true, (0, 1, 0))] {
            let workspace = Workspace { root: ".".into(), target: ".".into(), ci };
            let mut report = report(&workspace);
            report.step("a step", Some("a tool"), || Ok(String::new()));
            assert_eq!((report.passed, report.failed, report.skipped), expected);
        }
    }

    #[test]
    fn failed_tests_are_counted_one_by_one() {
        let workspace = Workspace { root: ".".into(), target: ".".into(), ci: false };
        let mut report = report(&workspace);
        report.step("tests", None, || -> Result<Done> {
            Err(TestsFailed { passed: 5, failed: 2, text: String::new() }.into())
        });
        report.step("plain", None, || -> Result<String> { bail!("no") });
        report.step("good", None, || Ok(Done { passed: 3, skipped: 1, note: String::new() }));
        assert_eq!((report.passed, report.failed, report.skipped), (8, 3, 1));
    }
}
