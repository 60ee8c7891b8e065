//! The arguments of `cargo xtask`.

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Builds, tests and measures this project.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Build the program as it is released, and run its demonstration
    Demo {
        /// Arguments of `gambeson demo`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run the checks that a change must pass, and print the minutes of each
    Test(Selection),
    /// Run the same checks as `test`
    Ci,
    /// Run the README's two commands in a minimal Debian, in a clone of HEAD, and print their minutes (as root)
    Fresh {
        /// Run the first of them alone
        #[arg(long)]
        demo: bool,
    },
    /// Check the dependencies between packages against ARCHITECTURE.md
    Layers,
    /// Check that no C code is below gambeson-mls, and no build tool of C beyond `cc` below the program
    #[command(name = "without-c")]
    WithoutC,
    /// Check the citations of standards against docs/spec-index.toml
    Cite,
    /// Check the list of values that are declared public
    Declassified,
    /// Compare the public API with docs/public-api
    Api(Bless),
    /// Compare THIRD-PARTY-NOTICES with the crates in the Python and npm packages
    Notices(Bless),
    /// Build core and hybrid for a target without an operating system
    #[command(name = "no-std")]
    NoStd,
    /// Run the core's tests on aarch64 under QEMU, and compare traces of its operations, on two processors
    Aarch64 {
        /// Print a table of the instructions of each operation instead
        #[arg(long)]
        count: bool,
    },
    /// Run the core's tests with the kernels for Armv7E-M under QEMU
    Thumb,
    /// Test the C interface here and on a Cortex-M4, or make its files
    C {
        #[command(subcommand)]
        command: Option<C>,
    },
    /// Run every operation on secrets under valgrind, at four optimisation levels
    Ct,
    /// Step through the AVX-512 kernels, and compare the traces of eight secrets
    Step,
    /// Search the primitives for division instructions
    Divisions,
    /// Test TLS with OpenSSL 3.6 and 4 and wolfSSL, which are built first, and write docs/interop.md
    Interop {
        /// Build the peers: needs a C compiler, perl and autotools, and takes minutes
        #[arg(long, required = true)]
        heavy: bool,
    },
    /// Search dead stack, freed heap and registers for secrets
    Residue,
    /// Measure stack and heap of every operation
    Stack(Stack),
    /// Run the programs for small devices under QEMU
    Firmware {
        #[command(subcommand)]
        command: Option<Firmware>,
    },
    /// Measure signature algorithms, and write the table and the plot of docs/choosing.md
    Choosing,
    /// Compare the instructions of handshakes under callgrind with docs/performance/instructions.json
    Instructions(Bless),
    /// Compare the answers of `gambeson vectors serve` in builds with checks and without
    Answers,
    /// Check vectors/*.json by a Python and a Node program that share no code with this project
    Independent,
    /// Run fuzz targets
    Fuzz {
        /// Seconds for each target
        #[arg(default_value_t = 60)]
        seconds: u32,
        /// Beginnings of the names of targets [default: all targets]
        names: Vec<String>,
    },
    /// Build and test the npm package
    Typescript {
        #[command(subcommand)]
        command: Option<Typescript>,
    },
    /// Build and test the Python package
    Python {
        #[command(subcommand)]
        command: Option<Python>,
    },
}

#[derive(Args, Default)]
pub struct Selection {
    /// Run every group, but those that docs/full-runs.md says were green with the same inputs
    #[arg(long)]
    pub full: bool,
    /// Run one group, and write its row in docs/full-runs.md if it is green
    #[arg(long, value_name = "NAME", conflicts_with = "full")]
    pub group: Option<String>,
    /// Run the steps with this in their names
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// With --full: run the groups that were green, too
    #[arg(long, requires = "full")]
    pub again: bool,
    /// Print name, tier and group of each step, and run none
    #[arg(long)]
    pub list: bool,
}

#[derive(Args)]
pub struct Bless {
    /// Write the files instead of comparing with them
    #[arg(long)]
    pub bless: bool,
}

#[derive(Subcommand)]
pub enum C {
    /// Write crates/ffi/include/gambeson.h
    Header,
    /// Install libraries, headers and files for pkg-config and CMake
    Install {
        /// Folder for them
        #[arg(long, value_name = "DIR")]
        prefix: PathBuf,
    },
    /// Build the archive without a heap, and print its path
    Bare {
        /// Target triple of the compiler
        #[arg(long)]
        target: String,
    },
}

#[derive(Args)]
pub struct Stack {
    /// Measure the schedule with the least stack under valgrind's massif, and its speed
    #[arg(long)]
    pub massif: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Fail if an operation takes more than its limit
    #[arg(long)]
    pub check: bool,
    /// Write the page to a file
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum Firmware {
    /// Run the self-test on all published vectors
    Vectors,
    /// Compare the traces of all levels
    Trace,
    /// Compare the permutation with the host's
    Keccak,
    /// Exchange keys, ciphertexts and signatures with RustCrypto and liboqs
    Peers,
    /// Measure stack, code, instructions and cycles of every operation, and write docs/embedded
    Bench(Bench),
}

#[derive(Args)]
pub struct Bench {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Fail if a row misses a limit, or if docs/embedded/missed.toml does not have the rows that do
    #[arg(long)]
    pub check: bool,
    /// Measure the rows with this in their names, and write nothing
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
}

#[derive(Subcommand)]
pub enum Typescript {
    /// Run the core's tests as WebAssembly
    Core,
    /// Build the page that verifies in a browser
    Page,
    /// Measure the package beside its peers
    Bench {
        /// Fail if a row is slower than liboqs-js or node:crypto
        #[arg(long)]
        check: bool,
    },
    /// Print the bytes that a page loads
    Size {
        /// Fail if they are more than promised
        #[arg(long)]
        check: bool,
    },
}

#[derive(Subcommand)]
pub enum Python {
    /// Measure the package beside its peers and native Rust
    Bench {
        /// Fail if a row is more than 10 % slower than native Rust
        #[arg(long)]
        check: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_holds() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn arguments_are_read_and_unknown_ones_refused() {
        let parse = |text: &str| Arguments::try_parse_from(["xtask"].into_iter().chain(text.split(' ')));
        for good in [
            "test --full --only ml-kem",
            "test --group memory",
            "firmware bench --json --check --only ml-kem",
            "stack --massif --markdown docs/embedded/x86-64.md",
            "typescript size --check",
            "fuzz 5 mldsa mlkem",
            "c bare --target thumbv7em-none-eabi",
            "interop --heavy",
        ] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in ["test --ful", "ct --check", "stack --mark x", "c bare", "interop", "test --again"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let Ok(Arguments { command: Command::Demo { arguments } }) = parse("demo --json file") else {
            panic!("demo hands its arguments on");
        };
        assert_eq!(arguments, ["--json", "file"]);
    }
}
