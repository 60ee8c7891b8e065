//! The project's own commands: `cargo xtask COMMAND`.
//!
//! # Layout
//!
//! * `args`: the arguments
//! * `steps`: the steps of `test` as data; `test` runs them, `report` counts them, `checks` has those that are a few commands
//! * `full_runs`, `promises`: docs/full-runs.md and docs/open-promises.toml
//! * `demo`, `fresh`: the README's commands, here and in a minimal Debian
//! * `layers`, `without_c`, `cite`, `declassified`, `api`, `notices`: checks of sources and metadata
//! * `constant_time`, `residue`, `stack`, `massif`, `answers`: checks of programs, each with a planted mistake that it must catch
//! * `python`, `typescript`: the packages for those languages; `slim`: the stock node that their tests meet
//! * `c`: the C interface
//! * `bare`, `aarch64`, `thumb`, `mutation`, `fuzzing`: other targets and toolchains
//! * `firmware`: programs for small devices, and their measurements
//! * `choosing`: the figures of docs/choosing.md
//! * `independent`: the vectors, read by programs that share no code with this project
//! * `instructions`: instruction counts of handshakes, against those recorded
//! * `programs`: programs of tests, built and run side by side
//! * `run`: starting programs; `table`: tables for a terminal and in Markdown
//!
//! The package `xtask-tools` has the parts that need large libraries.

mod aarch64;
mod answers;
mod api;
mod args;
mod bare;
mod c;
mod checks;
mod choosing;
mod cite;
mod constant_time;
mod declassified;
mod demo;
mod firmware;
mod fresh;
mod full_runs;
mod fuzzing;
mod independent;
mod instructions;
mod layers;
mod massif;
mod mutation;
mod notices;
mod programs;
mod promises;
mod python;
mod report;
mod residue;
mod run;
mod slim;
mod stack;
mod steps;
mod table;
mod test;
mod thumb;
mod typescript;
mod without_c;

use crate::args::{Arguments, C, Command, Firmware, Python, Selection, Stack, Typescript};
use crate::constant_time::Extent;
use crate::run::{Workspace, provide};
use anyhow::{Result, bail};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command and prints its result. Returns whether it found nothing wrong.
fn run(command: Command) -> Result<bool> {
    let workspace = &Workspace::find()?;
    let said = match command {
        Command::Demo { arguments } => return demo::run(workspace, &arguments),
        Command::Test(Selection { list: true, .. }) => {
            test::list();
            return Ok(true);
        }
        Command::Test(selection) => return test::run(workspace, &selection),
        Command::Ci => return test::run(workspace, &Selection::default()),
        Command::Fresh { demo } => {
            here(fresh::missing())?;
            fresh::run(workspace, demo)?
        }
        Command::Layers => layers::check(workspace)?,
        Command::WithoutC => without_c::check(workspace)?,
        Command::Cite => cite::check(workspace)?,
        Command::Declassified => declassified::check(workspace)?,
        Command::Api(args) => api::check(workspace, args.bless)?,
        Command::Notices(args) => notices::check(workspace, args.bless)?,
        Command::NoStd => bare::check(workspace)?,
        Command::Aarch64 { count: true } => aarch64::count(workspace)?,
        Command::Aarch64 { count: false } => {
            format!("{}\n{}", aarch64::check(workspace)?.1, aarch64::check_the_others(workspace)?.1)
        }
        Command::Thumb => thumb::check(workspace)?.1,
        Command::C { command } => match command {
            None => format!("{}\n{}", c::host(workspace)?, c::cortex_m4(workspace)?),
            Some(C::Header) => c::header(workspace, true)?,
            Some(C::Install { prefix }) => c::install(workspace, &prefix)?,
            Some(C::Bare { target }) => c::bare(workspace, &target)?.display().to_string(),
        },
        Command::Ct => constant_time::check(workspace, Extent::Everything)?.0,
        Command::Step => constant_time::step(workspace, Extent::Everything)?
            .unwrap_or_else(|| String::from("skipped: this machine has no AVX-512")),
        Command::Divisions => constant_time::divisions(workspace, Extent::Everything)?,
        Command::Interop { .. } => checks::heavy(workspace)?,
        Command::Residue => residue::check(workspace)?,
        Command::Stack(args) => return stack(workspace, &args),
        Command::Firmware { command } => {
            provide(workspace, &steps::tools_of_firmware());
            here(firmware::missing())?;
            match command {
                None => firmware::check(workspace)?.1,
                Some(Firmware::Vectors) => firmware::vectors(workspace)?,
                Some(Firmware::Trace) => firmware::constant_time(workspace)?,
                Some(Firmware::Keccak) => firmware::keccak(workspace)?,
                Some(Firmware::Peers) => firmware::exchange::check(workspace, true)?,
                Some(Firmware::Bench(args)) => return firmware::bench(workspace, &args),
            }
        }
        Command::Choosing => choosing::write(workspace)?,
        Command::Instructions(args) => {
            here(instructions::missing())?;
            instructions::check(workspace, args.bless)?
        }
        Command::Answers => {
            let same = answers::compare(workspace, Some(&demo::build(workspace)?))?;
            format!("{same}\n{}", answers::canary(workspace)?)
        }
        Command::Independent => {
            here(independent::missing())?;
            independent::check(workspace)?.1
        }
        Command::Fuzz { seconds, names } => fuzzing::run(workspace, seconds, &names)?,
        Command::Typescript { command } => match command {
            None => typescript::check(workspace)?.note,
            Some(Typescript::Core) => typescript::core(workspace)?.1,
            Some(Typescript::Page) => typescript::page(workspace)?,
            Some(Typescript::Bench { check }) => return typescript::bench(workspace, check),
            Some(Typescript::Size { check }) => return typescript::size(workspace, check),
        },
        Command::Python { command: None } => python::check_published(workspace)?.1,
        Command::Python { command: Some(Python::Bench { check }) } => return python::bench(workspace, check),
    };
    println!("{said}");
    Ok(true)
}

/// Fails if something is missing.
fn here(missing: Option<&str>) -> Result<()> {
    missing.map_or(Ok(()), |missing| bail!("{missing} is not here"))
}

fn stack(workspace: &Workspace, args: &Stack) -> Result<bool> {
    let (json, table, page, judged) = if args.massif {
        here(massif::missing())?;
        let (rows, speeds) = (massif::measure(workspace)?, massif::speeds(workspace)?);
        let (json, table) = (massif::json(&rows, &speeds)?, massif::table(&rows, &speeds));
        (json, table, massif::markdown(&rows, &speeds), massif::check(&rows))
    } else {
        let rows = stack::measure(workspace)?;
        (stack::json(&rows), stack::table(&rows), stack::markdown(&rows), stack::check(&rows))
    };
    match args.json {
        true => println!("{json}"),
        false => print!("{table}"),
    }
    if let Some(file) = &args.markdown {
        std::fs::write(file, page)?;
    }
    if args.check {
        eprintln!("{}", judged?);
    }
    Ok(true)
}
