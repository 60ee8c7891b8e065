//! Builds a TLS library below a folder, and prints where it is installed: `openssl`, `openssl-3.6` or `wolfssl`, and FOLDER. The
//! interop tests compile their programs in C against it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[path = "../../../bench/peers/build/wolfssl_tree.rs"]
mod wolfssl_tree;

/// All of TLS 1.3 that it has in common with us.
const WOLFSSL: &[&str] = &[
    "--enable-tls13",
    "--enable-mlkem=yes,all",
    "--enable-tls-mlkem-standalone",
    "--enable-pqc-hybrids",
    "--enable-extra-pqc-hybrids",
    "--enable-mldsa",
    "--enable-curve25519",
    "--enable-curve448",
    "--enable-ed25519",
    "--enable-ed448",
    "--enable-sni",
    "--enable-experimental",
    "--enable-static",
    "--disable-shared",
    "--disable-oldtls",
    "--disable-examples",
    "--disable-crypttests",
    "--disable-benchmark",
    "--disable-dependency-tracking",
];

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let made = match &arguments[..] {
        [library, folder] if library == "openssl" => {
            let build = |at: &Path, target: &str| {
                openssl_src::Build::new().out_dir(at).target(target).host(target).try_build().map(drop)
            };
            openssl(Path::new(folder), openssl_src::version(), build)
        }
        [library, folder] if library == "openssl-3.6" => {
            let build = |at: &Path, target: &str| {
                openssl_src_3::Build::new().out_dir(at).target(target).host(target).try_build().map(drop)
            };
            openssl(Path::new(folder), openssl_src_3::version(), build)
        }
        [library, folder] if library == "wolfssl" => wolfssl(Path::new(folder)),
        _ => Err("openssl, openssl-3.6 or wolfssl, and a folder".into()),
    };
    match made {
        Ok(installed) => {
            println!("{}", installed.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The static libraries, which load providers of others, as `openssl-src` builds them.
fn openssl(
    folder: &Path,
    version: &str,
    build: impl FnOnce(&Path, &str) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let version = version.split('+').next_back().unwrap_or_default();
    let folder = folder.join(format!("openssl-{version}"));
    let (installed, stamp) = (folder.join("install"), folder.join("stamp"));
    if !stamp.exists() {
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        build(&folder, &target)?;
        std::fs::write(&stamp, version).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    Ok(installed)
}

/// The static library. It is under the GPL: nothing of ours is linked with it but a program that stays in that folder.
fn wolfssl(folder: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let recipe = wolfssl_tree::Recipe { compiler: "cc", configure: WOLFSSL, flags: &["-O2"] };
    let folder = folder.join(format!("wolfssl-{}", wolfssl_tree::VERSION));
    recipe.install(Path::new(&cargo), &manifest, &folder, 2)
}
