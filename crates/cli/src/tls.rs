//! The commands `tls …`.
//!
//! # Layout
//!
//! * `bench`: `tls bench`
//! * this file: which command it is

mod bench;

use crate::args::tls::TlsCommand;
use crate::console::Console;
use crate::error::{Error, Status};

pub(crate) fn tls(console: Console, command: &TlsCommand) -> Result<Status, Error> {
    match command {
        TlsCommand::Bench(options) => bench::bench(console, options),
    }
}
