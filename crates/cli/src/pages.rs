//! Shell completions and manual pages, made from the command line's own description.

use crate::args::Cli;
use crate::console::{Console, counted};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use serde_json::json;
use std::io::{self, Write};
use std::path::Path;

/// Writes the completion script for `shell` to standard output.
pub(crate) fn completions(shell: Shell) -> Result<Status, Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gambeson", &mut script);
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(&script)
        .and_then(|()| stdout.flush())
        .map_err(|e| Error::stream(&"standard output", &e))?;
    Ok(Status::Done)
}

/// Writes a page for each command into `folder`; older ones are replaced with `force` alone.
pub(crate) fn man(console: Console, folder: &Path, force: bool) -> Result<Status, Error> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    page(folder, &command, force, &mut pages)?;
    console.report(
        format_args!("{} in {}", counted(pages.len(), "page"), folder.display()),
        json!({"type": "pages", "pages": pages}),
    )?;
    Ok(Status::Done)
}

/// The page of `command`, and those below it.
fn page(folder: &Path, command: &Command, force: bool, pages: &mut Vec<String>) -> Result<(), Error> {
    let man = clap_mangen::Man::new(command.clone().version(env!("CARGO_PKG_VERSION")));
    let file = man.get_filename();
    let path = folder.join(&file);
    let mut text = Vec::new();
    man.render(&mut text).map_err(|e| Error::io(&path, &e))?;
    files::write(&path, &text, Access::Shared, force)?;
    pages.push(file);
    command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
        .try_for_each(|below| page(folder, below, force, pages))
}
