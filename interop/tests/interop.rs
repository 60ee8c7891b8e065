//! The tests, with their own `main`: which there are depends on the peers that are found.

use std::path::Path;

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let shim = Path::new(env!("CARGO_BIN_EXE_bogo-shim"));
    libtest_mimic::run(&arguments, gambeson_interop::trials(scratch, shim)).exit();
}
