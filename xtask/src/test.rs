//! `cargo xtask test`: runs steps, at most two beside each other, while their tools are installed.

use crate::args::Selection;
use crate::full_runs::{self, Begun};
use crate::report::Report;
use crate::run::{Tool, Workspace, provide};
use crate::steps::{self, Lane, ORDINARY, STEPS, Step};
use crate::{independent, python, slim, typescript};
use anyhow::{Result, ensure};
use std::collections::VecDeque;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Instant;

impl Selection {
    /// Returns the groups, and the steps of each.
    fn steps(&self) -> Result<Vec<(&'static str, Vec<&'static Step>)>> {
        let groups = steps::groups();
        if let Some(group) = &self.group {
            ensure!(groups.contains(&&**group), "there is no group {group:?}, only {}", groups.join(", "));
        }
        let is_chosen = |group: &&&str| match &self.group {
            Some(chosen) => **group == chosen,
            None => self.full || **group == ORDINARY,
        };
        let is_named = |step: &&Step| self.only.as_ref().is_none_or(|only| step.name.contains(only.as_str()));
        let of_group = |group: &str| -> Vec<&Step> {
            STEPS.iter().filter(|step| step.group == group).filter(is_named).collect()
        };
        let chosen = groups.iter().filter(is_chosen).map(|group| (*group, of_group(group)));
        let chosen: Vec<(&str, Vec<&Step>)> = chosen.filter(|(_, steps)| !steps.is_empty()).collect();
        let only = self.only.as_deref().unwrap_or_default();
        let any = !chosen.is_empty();
        ensure!(any, "no step of these groups has {only:?} in its name: cargo xtask test --list");
        Ok(chosen)
    }

    /// The selection as it was typed.
    fn words(&self) -> String {
        let mut words = vec![String::from("test")];
        words.extend(self.full.then(|| String::from("--full")));
        words.extend(self.group.as_ref().map(|group| format!("--group {group}")));
        words.extend(self.only.as_ref().map(|only| format!("--only {only}")));
        words.join(" ")
    }

    /// Whether a green group gets a row: whole groups that were asked for by name or by `--full`.
    const fn is_recorded(&self) -> bool {
        self.only.is_none() && (self.full || self.group.is_some())
    }
}

/// Prints name, tier and group of each step.
pub fn list() {
    for Step { name, group, .. } in STEPS {
        let tier = if *group == ORDINARY { "ordinary" } else { "full" };
        println!("{name:<36} {tier:<9} {group}");
    }
}

/// Runs the selected steps. Returns whether all is well.
pub fn run(workspace: &Workspace, selection: &Selection) -> Result<bool> {
    full_runs::check(workspace, &steps::groups())?;
    let mut chosen = selection.steps()?;
    if selection.full && selection.only.is_none() && !selection.again {
        chosen.retain(|(group, _)| {
            let fresh = full_runs::is_fresh(workspace, group, &steps::inputs(group)).unwrap_or(false);
            if fresh {
                let file = full_runs::FILE;
                println!("{group}: green with these inputs, {file} says (--again runs it again)");
            }
            !fresh
        });
        if chosen.is_empty() {
            return Ok(true);
        }
    }
    let report = Report::new(workspace, &selection.words());
    let all: Vec<&Step> = chosen.iter().flat_map(|(_, steps)| steps).copied().collect();
    let tools = Tools::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            install(workspace, &all);
            tools.0.set(())
        });
        if selection.only.is_none() {
            scope.spawn(|| prepare(workspace, &tools, &all));
        }
        for (group, steps) in &chosen {
            run_group(workspace, &report, &tools, selection, group, steps);
        }
    });
    let well = report.end();
    print_stale(workspace);
    Ok(well)
}

/// The installation of tools, which goes on while steps run that have theirs: filled when it ends.
#[derive(Default)]
struct Tools(OnceLock<()>);

impl Tools {
    /// Returns what this machine lacks for a step, after the installation if it lacks something now.
    fn missing(&self, step: &Step) -> Option<&'static str> {
        step.missing()?;
        self.0.wait();
        step.missing()
    }
}

/// Installs the tools of steps, where that is allowed.
fn install(workspace: &Workspace, steps: &[&Step]) {
    let mut tools: Vec<&Tool> = steps.iter().flat_map(|step| step.tools()).collect();
    tools.sort_unstable_by_key(|tool| tool.program);
    tools.dedup_by_key(|tool| tool.program);
    let missing = provide(workspace, &tools);
    if !missing.is_empty() {
        println!("not here and not installable: {}", missing.join(", "));
    }
}

type Prepare = fn(&Workspace) -> Result<()>;

/// Fetches the packages of Python and Node that steps ask for later. A step that finds one missing fetches it itself, and reports the error.
fn prepare(workspace: &Workspace, tools: &Tools, steps: &[&Step]) {
    tools.0.wait();
    let python = |workspace: &Workspace| slim::python(workspace).map(drop);
    let all: [(&str, Prepare); 4] = [
        ("demo", python),
        ("independent programs", independent::prepare),
        ("python", python::prepare),
        ("typescript", typescript::prepare),
    ];
    for (name, prepare) in all {
        if steps.iter().any(|step| step.name == name && step.missing().is_none()) {
            _ = prepare(workspace);
        }
    }
}

/// Runs the steps of a group, and records it if it is green.
fn run_group(
    workspace: &Workspace,
    report: &Report,
    tools: &Tools,
    selection: &Selection,
    group: &'static str,
    steps: &[&'static Step],
) {
    let inputs = steps::inputs(group);
    let begun = Begun::now(workspace, &inputs);
    let start = Instant::now();
    let run = |step: &Step| report.step(workspace, [step.name, step.group], tools.missing(step), step.run);
    for beside in steps.chunk_by(|one, other| one.lane != Lane::All && other.lane != Lane::All) {
        in_lanes(beside, &run);
    }
    let (counts, missing) = report.sums(Some(group));
    if !selection.is_recorded() || counts.failed > 0 {
        return;
    }
    if !missing.is_empty() {
        return println!("no row for {group}: not run were {}", missing.join(", "));
    }
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    match begun.and_then(|begun| begun.record(workspace, group, &inputs, minutes, counts)) {
        Ok(()) => println!("{group} is green: {}", full_runs::FILE),
        Err(error) => println!("{error:#}"),
    }
}

/// Runs steps one after another in each of two lanes; a lane that has no more takes from the other.
fn in_lanes(steps: &[&'static Step], run: &(impl Fn(&Step) + Sync)) {
    if let [step] = steps {
        return run(step);
    }
    let of = |lane| steps.iter().copied().filter(|step| step.lane == lane).collect::<VecDeque<_>>();
    let queues = Mutex::new([of(Lane::Host), of(Lane::Apart)]);
    let next = |lane: usize| {
        let mut queues = queues.lock().expect("nobody panics with it");
        queues[lane].pop_front().or_else(|| queues[1 - lane].pop_front())
    };
    thread::scope(|scope| {
        for lane in 0..2 {
            let next = &next;
            scope.spawn(move || {
                while let Some(step) = next(lane) {
                    run(step);
                }
            });
        }
    });
}

/// Prints the groups of `--full` whose inputs are not those of their last green run.
fn print_stale(workspace: &Workspace) {
    let groups = steps::groups().into_iter().filter(|group| *group != ORDINARY);
    let is_fresh = |group: &str| full_runs::is_fresh(workspace, group, &steps::inputs(group));
    let stale = groups.map(|group| Ok((!is_fresh(group)?).then_some(group)));
    let stale: Result<Vec<Option<&str>>> = stale.collect();
    match stale.map(|stale| stale.into_iter().flatten().collect::<Vec<_>>()) {
        Ok(stale) if stale.is_empty() => println!("no group of --full is stale"),
        Ok(stale) => println!("stale groups of --full: {}", stale.join(", ")),
        Err(error) => println!("whether groups of --full are stale is not known: {error:#}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_selected_by_tier_group_and_name() {
        let names = |selection: Selection| {
            let steps = selection.steps().map(|groups| groups.into_iter().flat_map(|(_, steps)| steps));
            steps.map(|steps| steps.map(|step| step.name).collect::<Vec<_>>())
        };
        let only = |only: &str| Selection { only: Some(only.into()), ..Selection::default() };
        assert_eq!(names(only("residue")).unwrap(), ["residue"]);
        assert!(names(only("massif")).is_err(), "a step of --full");
        assert_eq!(names(Selection { full: true, ..only("massif") }).unwrap(), ["stack under massif"]);
        let group = |group: &str| Selection { group: Some(group.into()), ..Selection::default() };
        assert_eq!(names(group("dependencies")).unwrap(), ["cargo-deny"]);
        assert!(names(group("typo")).is_err() && names(only("typo")).is_err());
        let full = Selection { full: true, ..Selection::default() };
        assert_eq!(names(full).unwrap().len(), STEPS.len());
        assert!(names(Selection::default()).unwrap().len() < STEPS.len());
    }

    #[test]
    fn whole_groups_that_were_asked_for_are_recorded() {
        let full = || Selection { full: true, ..Selection::default() };
        let group = Selection { group: Some("a".into()), ..Selection::default() };
        assert!(full().is_recorded() && group.is_recorded());
        let only = Selection { only: Some("a".into()), ..full() };
        assert!(!Selection::default().is_recorded() && !only.is_recorded());
    }

    #[test]
    fn every_step_of_both_lanes_runs_once() {
        let steps: Vec<&Step> = STEPS.iter().filter(|step| step.lane != Lane::All).collect();
        let ran = Mutex::new(Vec::new());
        in_lanes(&steps, &|step| ran.lock().unwrap().push(step.name));
        let mut ran = ran.into_inner().unwrap();
        let mut names: Vec<_> = steps.iter().map(|step| step.name).collect();
        ran.sort_unstable();
        names.sort_unstable();
        assert_eq!(ran, names);
    }

    #[test]
    fn continuous_integration_runs_the_tests() {
        let script = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/run")).unwrap();
        assert!(script.contains("\nexport CI=true\n") && script.ends_with("\ncargo xtask test\n"));
    }
}
