//! Agents in processes of their own, over nodes of SLIM as their makers ship them: three and a hundred, while nodes die.
//!
//! Each agent writes what it hears into a file. What holds is asserted from these files: every member has heard every message of every
//! other once, and in the order of its sender.

#![allow(clippy::unwrap_used)] // A test may fail that way.

mod agent;
mod stage;

use libtest_mimic::{Arguments, Failed, Trial};
use stage::{Play, Stage};
use std::process::ExitCode;
use std::time::Duration;

/// What this program is told to be, when it is an agent.
const AGENT: &str = "GAMBESON_TEST_AGENT";

fn main() -> ExitCode {
    if let Ok(line) = std::env::var(AGENT) {
        agent::live(&line);
        return ExitCode::SUCCESS;
    }
    let mut arguments = Arguments::from_args();
    // Each fills the machine.
    arguments.test_threads = Some(1);
    let trials = [
        trial("three_processes_talk_through_one_node", |stage| {
            stage.play(&Play { agents: 3, messages: 200, every: Duration::from_millis(10) }, |_| {})
        }),
        trial("three_processes_talk_through_one_node_that_is_killed_and_comes_back", |stage| {
            stage.play(&Play { agents: 3, messages: 200, every: Duration::from_millis(40) }, |running| {
                running.each_in_turn()
            })
        }),
        trial("three_processes_talk_through_a_mesh_of_which_every_node_is_killed_in_turn", |stage| {
            stage
                .mesh()
                .play(&Play { agents: 3, messages: 400, every: Duration::from_millis(40) }, |running| {
                    running.each_in_turn()
                })
        }),
        trial(
            "a_process_that_reads_nothing_stops_no_other_and_has_heard_everything_when_it_goes_on",
            |stage| {
                // A node that waits for it takes no more than about a thousand frames for all of them.
                let messages = 1000;
                stage.play(&Play { agents: 3, messages, every: Duration::from_millis(2) }, |running| {
                    running.last_reads_nothing(2 * messages);
                })
            },
        ),
        trial("a_hundred_processes_talk_through_a_mesh_of_which_a_node_is_killed_under_load", |stage| {
            stage.mesh().play(&Play { agents: 100, messages: 6, every: Duration::from_secs(1) }, |running| {
                running.first_for_ever()
            })
        })
        .with_ignored_flag(true),
        trial("a_hundred_processes_talk_through_one_node", |stage| {
            stage.play(&Play { agents: 100, messages: 10, every: Duration::from_secs(1) }, |_| {})
        })
        .with_ignored_flag(true),
    ];
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

/// A test that needs nodes; without anything to make them of, which `cargo xtask test` brings, it is skipped.
fn trial(name: &'static str, play: impl FnOnce(Stage) -> Result<(), Failed> + Send + 'static) -> Trial {
    match Stage::maker() {
        Some(maker) => Trial::test(name, move || play(Stage::new(maker))),
        None if std::env::var_os("CI").is_some() => {
            Trial::test(name, || Err("neither slim nor a Python with slim-bindings is here".into()))
        }
        None => Trial::test(format!("{name} (skipped)"), || Ok(())).with_ignored_flag(true),
    }
}
