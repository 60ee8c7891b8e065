//! What this project promises of groups, and what `--check` judges.

use serde_json::json;

use super::{
    ADD_ALL, ADD_ALL_KNOWN, ADD_ONE, ADD_ONE_MEMBER, BUNDLE, BUNDLE_SENT, CLASSICAL, Figure, JOIN, Measured,
    OURS, PAYLOAD, POST_QUANTUM, RECEIVE, SEND, WARM_UP_COMMITS, WELCOME,
};
use crate::console::Console;
use crate::error::{Error, Status};

/// Whose mls-rs is the yardstick where one row is compared with another library's.
pub const AWS_LC: &str = "mls-rs, AWS-LC";

/// By how much the suite of most channels may take longer than suite 1 in the same run.
const JOIN_OVER_CLASSICAL: f64 = 1.7;
const ADD_ALL_OVER_CLASSICAL: f64 = 2.0;
const ADD_ALL_KNOWN_OVER_CLASSICAL: f64 = 1.6;
/// Bytes that a joiner receives besides the tree.
const WELCOME_BYTES: usize = 6_000;
/// Bytes of an update after the warm-up, and of the warm-up.
const UPDATE_BYTES: usize = 40_000;
const WARM_UP_BYTES: usize = 6_000_000;
/// Microseconds of a message.
const SEND_US: f64 = 100.0;
const RECEIVE_US: f64 = 60.0;
/// Bytes of a bundle beyond its payloads, for each.
const OVER_PAYLOAD: usize = 400;

/// Prints every promise with its figure. With `check`, one that is missed fails.
pub(super) fn compare(console: Console, check: bool, all: &[Measured]) -> Result<Status, Error> {
    let of = |by: &str, suite: u16, row: &str| -> Option<Figure> {
        all.iter().find(|measured| measured.by == by && measured.suite == suite)?.figure(row)
    };
    let mut missed = 0_u32;
    let mut judge = |what: &str, figure: Option<f64>, goal: f64, unit: &str| -> Result<(), Error> {
        let Some(figure) = figure else { return Ok(()) };
        let holds = figure <= goal;
        missed += u32::from(!holds);
        let verdict = if holds { "holds" } else { "MISSED" };
        console.report(
            format_args!("{what}: {figure:.2}{unit}, at most {goal}{unit}: {verdict}"),
            json!({"type": "promise", "name": what, "figure": figure, "goal": goal, "unit": unit.trim(), "ok": holds}),
        )
    };
    console.say("")?;
    let over = |row: &str| Some(of(OURS, POST_QUANTUM, row)?.us / of(OURS, CLASSICAL, row)?.us);
    judge("join, of suite 1", over(JOIN), JOIN_OVER_CLASSICAL, "")?;
    judge("add everyone, key packages unknown, of suite 1", over(ADD_ALL), ADD_ALL_OVER_CLASSICAL, "")?;
    let known = over(ADD_ALL_KNOWN);
    judge("add everyone, key packages known, of suite 1", known, ADD_ALL_KNOWN_OVER_CLASSICAL, "")?;
    for row in [ADD_ONE, ADD_ONE_MEMBER] {
        let ratio = of(AWS_LC, POST_QUANTUM, row)
            .zip(of(OURS, POST_QUANTUM, row))
            .map(|(theirs, ours)| ours.us / theirs.us);
        judge(&format!("{row}, of mls-rs with AWS-LC"), ratio, 1.0, "")?;
    }
    let bytes = |row: &str| Some(of(OURS, POST_QUANTUM, row)?.bytes as f64);
    judge("a joiner besides the tree", bytes(WELCOME), WELCOME_BYTES as f64, " bytes")?;
    let warm_up =
        all.iter().find(|one| one.by == OURS && one.suite == POST_QUANTUM).and_then(|one| one.warm_up);
    judge("commits of the warm-up", warm_up.map(|one| one.commits as f64), WARM_UP_COMMITS as f64, "")?;
    judge("the warm-up", warm_up.map(|one| one.bytes as f64), WARM_UP_BYTES as f64, " bytes")?;
    judge("an update after it", warm_up.map(|one| one.update.bytes as f64), UPDATE_BYTES as f64, " bytes")?;
    let us = |row: &str| Some(of(OURS, POST_QUANTUM, row)?.us);
    judge("1 KiB message, send", us(SEND), SEND_US, " us")?;
    judge("1 KiB message, receive", us(RECEIVE), RECEIVE_US, " us")?;
    let beyond = bytes(BUNDLE_SENT).map(|bytes| bytes / BUNDLE as f64 - PAYLOAD as f64);
    judge("a bundle of 20, over each payload", beyond, OVER_PAYLOAD as f64, " bytes")?;
    Ok(if check && missed > 0 { Status::NotVerified } else { Status::Done })
}
