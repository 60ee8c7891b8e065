//! A channel of thousands on one machine, in virtual time: what members compute, send and wait for.
//!
//! All leaves have real keys, cards and key packages. A few members ([`Options::full`]) are whole: each has its own group of MLS, its own
//! links with faults, and speaks to the delivery service as everyone does; they commit, receive, join, leave, fall silent or
//! are parted, and come back. The others are leaves in the tree and do nothing: they are added and removed, and never commit, so inner nodes above them stay
//! blank and commits are as large as they can be at this size. In a channel where members rotate their keys they are smaller.
//!
//! Time is tokio's paused clock: waiting costs none, and computing takes none of it. What is computed is measured as processor time of
//! the thread, and is added where a figure says so. The seed decides who does what when, and what the links do; keys are random.
//!
//! Each figure is marked: `measured` of whole members, or `multiplied` from those to all.
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `world` | who comes, goes, commits and falls silent |
//! | `whole` | a whole member |
//! | `report` | figures, and as text |
//! | `page` | those of several suites side by side, as a page and a picture |

mod held;
mod page;
mod report;
mod whole;
mod world;

use std::time::Duration;

use gambeson_mls::Suite;

use crate::error::{Error, Result};
use crate::faults::Faults;

pub use report::{Figure, Mark, Report, Sample};

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Options {
    /// Members at the beginning; as many join as leave.
    pub members: usize,
    /// So many of them are whole, at least 4.
    pub full: usize,
    /// Virtual minutes.
    pub minutes: u64,
    /// How many members leave in a minute, of 1; as many join.
    pub churn: f64,
    /// When they do.
    pub rhythm: Rhythm,
    /// Who comes and goes is gathered for so long into one commit.
    pub gather: Duration,
    /// Messages of 1 KiB that a whole member says in a minute.
    pub messages: f64,
    /// Whole members that fall silent in a minute, of 1, for one to six minutes each.
    pub away: f64,
    /// How often in a minute, of 1, the half of those whole members that may not commit is parted from the service and all others, for one to
    /// three minutes.
    pub partition: f64,
    /// What links do.
    pub faults: Faults,
    /// Decides who does what when.
    pub seed: u64,
}

/// When members come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rhythm {
    /// At any time alike.
    Steady,
    /// All of ten minutes within one.
    Bursts,
}

impl Default for Options {
    fn default() -> Self {
        let (soonest, latest) = (Duration::from_millis(5), Duration::from_millis(80));
        Self {
            members: 1_000,
            full: 16,
            minutes: 60,
            churn: 0.01,
            rhythm: Rhythm::Steady,
            gather: Duration::from_secs(20),
            messages: 1.0,
            away: 0.02,
            partition: 0.05,
            faults: Faults { loss: 0.01, repeated: 0.01, soonest, latest },
            seed: 1,
        }
    }
}

/// Simulates a channel of this suite. `tell` is called once a virtual minute with a line about it.
///
/// # Errors
/// [`Error::Simulation`]: members disagree, or one could not go on; the first of what was found.
pub fn run(options: &Options, suite: &'static Suite, tell: &mut dyn FnMut(&str)) -> Result<Report> {
    if options.full < 4 || options.members < options.full {
        return Err(Error::Simulation(
            "at least 4 members are whole, and at most as many as there are".into(),
        ));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| Error::Simulation(error.to_string()))?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, world::run(options.clone(), suite, tell))
}
