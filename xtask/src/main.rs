//! The project's own commands: `cargo xtask COMMAND`.
//!
//! # Layout
//!
//! * `test`: the steps of `test` and `ci`, and their count
//! * `layers`, `cite`, `declassified`, `api`, `notices`: what is read from sources and metadata
//! * `constant_time`, `residue`, `stack`, `massif`, `answers`: what is run, each with a planted mistake that it must catch
//! * `python`, `typescript`: the packages for those languages
//! * `c`: the C interface
//! * `bare`, `aarch64`, `thumb`, `fuzzing`: other targets, other toolchains
//! * `firmware`: programs for small devices, and what they take
//! * `independent`: the vectors, read by programs that share no code with this project
//! * `instructions`: of handshakes, held against those recorded
//! * `programs`: programs of tests, built and run side by side
//! * `run`: starting programs

mod aarch64;
mod answers;
mod api;
mod bare;
mod c;
mod cite;
mod constant_time;
mod declassified;
mod firmware;
mod fuzzing;
mod independent;
mod instructions;
mod layers;
mod massif;
mod mutation;
mod notices;
mod programs;
mod python;
mod report;
mod residue;
mod run;
mod slim;
mod stack;
mod test;
mod thumb;
mod typescript;
mod without_c;

use crate::constant_time::{Extent, Stepped};
use anyhow::{Context, Result, bail};
use run::Workspace;
use std::env;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  demo [ARGUMENT…]        build the program and show what it does
  test [--full] [--only NAME]
                          every check, with minutes; --full adds peers, benches, cargo-deny, fuzzing and the long tests
  ci                      what .ci/run runs
  layers                  the arrows between packages
  without-c               no C code below gambeson-mls
  cite                    citations of the standards
  declassified            the list of values declared public
  api [--bless]           the public API against docs/public-api
  notices [--bless]       what other people wrote and the Python and npm packages hold, with its licences
  no-std                  core and hybrid for a bare target
  aarch64 [--count]       the core's tests on aarch64 under qemu, and one trace for all secrets;
                          with --count, a table of the instructions of each operation instead
  thumb                   the core's tests with the kernels for Armv7E-M, under qemu
  c [header | install --prefix DIR | bare --target TARGET]
                          the C interface: its tests here and on a Cortex-M4; header: writes gambeson.h; install: libraries,
                          headers, files for pkg-config and CMake; bare: the archive without a heap, and where it is
  ct                      secrets under valgrind, at four optimisation levels, portable and AVX2
  step                    AVX-512: one trace for eight secrets, instruction by instruction
  divisions               no division instruction in the primitives
  interop --heavy         OpenSSL 3.6 and 4 and wolfSSL, built below the target folder (C compiler, perl, autotools; minutes),
                          against us in TLS; what was met is written into docs/interop.md
  residue                 no secret in dead stack or freed heap
  stack [--json] [--check] [--markdown FILE]
                          stack and heap of every operation
  stack --massif [--json] [--check] [--markdown FILE]
                          the least stack of every operation under valgrind's massif, and its speed, beside a published low-memory
                          library's
  firmware [vectors | trace | keccak | peers]
                          the vectors, the demonstration, equal traces and the permutation on Cortex-M4 and RV32 under QEMU; vectors,
                          trace: only these, and all of them; keccak: only the last; peers: what such programs made, put to RustCrypto
                          and liboqs, and the other way round
  firmware bench [--json] [--check] [--only TEXT]
                          stack, code, instructions and cycles of every operation on Cortex-M4 and RV32, beside the peers';
                          all of them written into docs/embedded; --check: within the limits
  instructions [--bless]  of handshakes under callgrind, against docs/performance/instructions.json
  answers                 `vectors serve` in release and checked builds
  independent             vectors/*.json by a Python and a Node program that share no code with us
  fuzz [SECONDS [NAME…]]  every fuzz target, or those whose names begin so
  typescript [core | page | bench [--check] | size [--check]]
                          the npm package: built, tested, its size; core: the core's tests as WebAssembly; page: the
                          page that verifies; bench: beside its peers, --check: at least as fast as liboqs-js; size: what
                          a page loads, --check: as little as was promised
  python [bench [--check]]
                          the Python package: wheel, types, tests; or its speed beside its peers and native Rust";

fn main() -> ExitCode {
    match command(env::args().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What stands after an option.
fn option<'a>(arguments: &'a [String], name: &str) -> Result<&'a str> {
    let at = arguments.iter().position(|argument| argument == name);
    let value = at.and_then(|at| arguments.get(at + 1));
    Ok(value.with_context(|| format!("{name} needs a value"))?)
}

/// The first argument that looks like an option and is none of the command's.
fn mistaken<'a>(name: &str, rest: &'a [String]) -> Option<&'a String> {
    let heads = USAGE.lines().filter(|line| line.split_whitespace().next() == Some(name));
    let known: Vec<_> = heads.flat_map(|head| head.split([' ', '[', ']'])).collect();
    rest.iter().find(|argument| argument.starts_with("--") && !known.contains(&argument.as_str()))
}

fn command(arguments: Vec<String>) -> Result<bool> {
    let Some((name, rest)) = arguments.split_first() else { bail!("{USAGE}") };
    // The program knows its own.
    if name != "demo"
        && let Some(argument) = mistaken(name, rest)
    {
        bail!("cargo xtask {name} has no option {argument}\n\n{USAGE}");
    }
    let has = |flag: &str| rest.iter().any(|argument| argument == flag);
    let workspace = &Workspace::find()?;
    if name == "firmware" {
        firmware::provide(workspace);
    }
    let said = match name.as_str() {
        "demo" => {
            eprintln!("building the program");
            let mut demo = workspace.cargo(&["run", "--quiet", "--release", "-p", "gambeson-cli"]);
            match slim::missing() {
                Some(missing) => eprintln!("without nodes of SLIM: not here is {missing}"),
                None => _ = demo.args(["--features", "slim"]).env(slim::PYTHON, slim::python(workspace)?),
            }
            return Ok(demo.args(["--", "demo"]).args(rest).status()?.success());
        }
        "test" => {
            let only = match rest.iter().position(|argument| argument == "--only") {
                Some(at) => Some(rest.get(at + 1).context("--only needs a part of a step's name")?.clone()),
                None => None,
            };
            return test::run(workspace, has("--full"), only);
        }
        "ci" => return test::run(workspace, false, None),
        "layers" => layers::check(workspace)?,
        "without-c" => without_c::check(workspace)?,
        "cite" => cite::check(workspace)?,
        "declassified" => declassified::check(workspace)?,
        "api" => api::check(workspace, has("--bless"))?,
        "notices" => notices::check(workspace, has("--bless"))?,
        "no-std" => bare::check(workspace)?,
        "aarch64" if has("--count") => aarch64::count(workspace)?,
        "aarch64" => aarch64::check(workspace)?.1,
        "thumb" => thumb::check(workspace)?.1,
        "ct" => constant_time::check(workspace, Extent::Everything)?.0,
        "step" => match constant_time::step(workspace, Extent::Everything)? {
            Stepped::Alike(said) => said,
            Stepped::NotHere => String::from("skipped: this machine has no AVX-512"),
        },
        "divisions" => constant_time::divisions(workspace, Extent::Everything)?,
        "c" if has("header") => c::header(workspace, true)?,
        "c" if has("install") => c::install(workspace, option(rest, "--prefix")?.as_ref())?,
        "c" if has("bare") => c::bare(workspace, option(rest, "--target")?)?.display().to_string(),
        "c" => format!("{}\n{}", c::host(workspace)?, c::cortex_m4(workspace)?),
        "residue" => residue::check(workspace)?,
        "stack" if has("--massif") => {
            if let Some(missing) = massif::missing() {
                bail!("{missing} is not here");
            }
            let (rows, speeds) = (massif::measure(workspace)?, massif::speeds(workspace)?);
            if has("--json") {
                println!("{}", massif::json(&rows, &speeds)?);
            } else {
                print!("{}", massif::table(&rows, &speeds));
            }
            if has("--markdown") {
                std::fs::write(option(rest, "--markdown")?, massif::markdown(&rows, &speeds))?;
            }
            if has("--check") {
                eprintln!("{}", massif::check(&rows)?);
            }
            return Ok(true);
        }
        "stack" => {
            let rows = stack::measure(workspace)?;
            if has("--json") {
                rows.iter().for_each(|row| println!("{row}"));
            } else {
                print!("{}", stack::table(&rows));
            }
            if has("--markdown") {
                std::fs::write(option(rest, "--markdown")?, stack::markdown(&rows))?;
            }
            if has("--check") {
                eprintln!("{}", stack::check(&rows)?);
            }
            return Ok(true);
        }
        "interop" if has("--heavy") => test::heavy(workspace)?,
        "instructions" => match instructions::missing() {
            Some(missing) => bail!("{missing} is not here"),
            None => instructions::check(workspace, has("--bless"))?,
        },
        "firmware" if rest.first().is_some_and(|first| first == "bench") => {
            let only = rest.iter().position(|argument| argument == "--only");
            let only =
                only.map(|at| rest.get(at + 1).cloned().context("--only needs a part of a row's name"));
            let asked =
                firmware::Bench { json: has("--json"), check: has("--check"), only: only.transpose()? };
            return firmware::bench(workspace, &asked);
        }
        "firmware" if firmware::missing().is_some() => {
            bail!("{} is not here", firmware::missing().unwrap_or_default())
        }
        "firmware" if rest.first().is_some_and(|first| first == "vectors") => firmware::vectors(workspace)?,
        "firmware" if rest.first().is_some_and(|first| first == "trace") => {
            firmware::constant_time(workspace)?
        }
        "firmware" if rest.first().is_some_and(|first| first == "keccak") => firmware::keccak(workspace)?,
        "firmware" if rest.first().is_some_and(|first| first == "peers") => {
            firmware::exchange::check(workspace, true)?
        }
        "firmware" => firmware::check(workspace, true)?.1,
        "answers" => {
            answers::build(workspace)?;
            let same = answers::compare(workspace, &answers::plain(workspace))?;
            format!("{same}\n{}", answers::canary(workspace)?)
        }
        "independent" => match independent::missing() {
            Some(missing) => bail!("{missing} is not here"),
            None => independent::check(workspace)?.1,
        },
        "typescript" if has("bench") => return typescript::bench(workspace, has("--check")),
        "typescript" if has("size") => return typescript::size(workspace, has("--check")),
        "typescript" if has("page") => typescript::page(workspace)?,
        "typescript" if has("core") => typescript::core(workspace)?.1,
        "typescript" => typescript::check(workspace)?.note,
        "python" if has("bench") => return python::bench(workspace, has("--check")),
        "python" => python::check(workspace, "release")?.1,
        "fuzz" => {
            let seconds = rest.first().map_or(Ok(60), |seconds| seconds.parse())?;
            fuzzing::run(workspace, seconds, rest.get(1..).unwrap_or_default())?
        }
        _ => bail!("{USAGE}"),
    };
    println!("{said}");
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_a_command_does_not_have_is_a_mistake() {
        let arguments = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let mistake = |text| mistaken("firmware", &arguments(text)).cloned();
        assert_eq!(mistake("bench --json --check --only ml-kem"), None);
        assert_eq!(mistake("bench --help").as_deref(), Some("--help"));
        assert_eq!(mistaken("typescript", &arguments("size --check")), None);
        assert!(
            mistaken("test", &arguments("--ful")).is_some()
                && mistaken("ct", &arguments("--check")).is_some()
        );
        assert!(
            command(arguments("stack --mark x")).is_err_and(|error| error.to_string().contains("--mark"))
        );
    }
}
