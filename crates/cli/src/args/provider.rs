//! The command line of `gambeson provider`.

use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// `gambeson provider …`
#[derive(Debug, Subcommand)]
pub enum ProviderCommand {
    /// Run one command whose OpenSSL has our algorithms; nothing else on this machine changes
    ///
    /// The exit status is that of the command; 127 if there is no such program, 126 if it cannot be run. A program that is linked with another library for TLS is refused; where no program has used OpenSSL, a line
    /// on standard error says so at the end.
    Run(ProviderRun),
    /// Put the module and a configuration into a folder, and try them
    Install(ProviderInstall),
    /// Ask OpenSSL whether the installed provider works
    Status(ProviderPlace),
    /// Remove what was installed, and restore what was there before
    Uninstall(ProviderPlace),
}

/// The module, and what it is told.
#[derive(Debug, Args)]
pub struct ProviderOptions {
    /// The module [default: libgambeson_openssl.so beside this program, or in ../lib]
    #[arg(long, value_name = "FILE")]
    pub module: Option<PathBuf>,
    /// The groups of TLS, best first, with colons between them, for programs that do not choose by themselves
    #[arg(
        long,
        value_name = "LIST",
        value_parser = crate::provider::groups::list,
        default_value = "X25519MLKEM768:X448MLKEM1024:SecP256r1MLKEM768:SecP384r1MLKEM1024:X25519:P-256:X448:P-384:P-521"
    )]
    pub groups: String,
    /// The number of composite signatures in TLS, 0xfe00 to 0xffff (OpenSSL 3.2 and newer) [default: none]
    #[arg(long, value_name = "NUMBER", value_parser = private_use)]
    pub composite_sigalg: Option<u16>,
}

/// `gambeson provider run`
#[derive(Debug, Args)]
pub struct ProviderRun {
    /// The module, and what it is told
    #[command(flatten)]
    pub options: ProviderOptions,
    /// Give the command the secrets of the environment, too: GAMBESON_PASSPHRASE, GAMBESON_NEW_PASSPHRASE and GAMBESON_SLIM_AUTH
    #[arg(long)]
    pub keep_environment: bool,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub command: Vec<OsString>,
}

/// Where it is installed.
#[derive(Debug, Args)]
pub struct ProviderPlace {
    /// The folder: DIR/lib gets the module, DIR/etc the configuration
    #[arg(long, value_name = "DIR")]
    pub prefix: PathBuf,
    /// A configuration of OpenSSL that is changed, too, so that all its readers have the provider; `status` and `uninstall` know it
    /// from the installation
    #[arg(long, value_name = "FILE")]
    pub conf: Option<PathBuf>,
}

/// `gambeson provider install`
#[derive(Debug, Args)]
pub struct ProviderInstall {
    /// Where it goes
    #[command(flatten)]
    pub place: ProviderPlace,
    /// The module, and what it is told
    #[command(flatten)]
    pub options: ProviderOptions,
}

/// A number of a signature scheme that TLS 1.3 leaves for private use (RFC 8446).
pub(crate) fn private_use(text: &str) -> Result<u16, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number
        .ok()
        .filter(|number| *number >= 0xfe00)
        .ok_or_else(|| "only 0xfe00 to 0xffff are for private use".to_owned())
}
