//! The core and the combinations on a processor without an operating system.

use crate::run::Workspace;
use anyhow::{Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "thumbv7em-none-eabi";
/// Debian's compiler, whose package of sources lets it build `core` for any target.
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library/core/Cargo.toml";

/// How the bare target can be built for on this machine.
enum Compiler {
    Rustup,
    Debian,
}

fn compiler() -> Option<Compiler> {
    let targets = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let listed = targets
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line == TARGET));
    if listed {
        Some(Compiler::Rustup)
    } else if Path::new(DEBIAN_CARGO).exists() && Path::new(DEBIAN_SOURCES).exists() {
        Some(Compiler::Debian)
    } else {
        None
    }
}

/// Whether a compiler for the bare target is there.
pub fn possible() -> bool {
    compiler().is_some()
}

/// The object with every operation, once built.
pub fn object(workspace: &Workspace) -> Option<PathBuf> {
    let path = workspace.target.join(TARGET).join("release/libgambeson_bare.a");
    path.exists().then_some(path)
}

/// Checks that no dependency asks for `std`, then builds everything for the bare target.
pub fn check(workspace: &Workspace) -> Result<String> {
    for package in ["gambeson", "gambeson-hybrid"] {
        let arguments =
            ["tree", "-p", package, "--no-default-features", "-e", "normal,features", "--prefix", "none"];
        let tree = workspace.logged("no-std-tree", &mut workspace.cargo(&arguments))?;
        if let Some(line) = tree.lines().find(|line| line.contains("feature \"std\"")) {
            bail!("{package} without features still asks for std: {line}");
        }
        let arguments = ["check", "--quiet", "-p", package, "--lib", "--no-default-features", "--release"];
        workspace.logged("no-std-host", &mut workspace.cargo(&arguments))?;
    }
    let manifest = "gates/bare/Cargo.toml";
    let arguments =
        ["build", "--quiet", "--release", "--locked", "--manifest-path", manifest, "--target", TARGET];
    let mut build = match compiler() {
        None => bail!("no compiler for {TARGET}: neither rustup's target nor Debian's rust-web-src"),
        Some(Compiler::Rustup) => workspace.cargo(&arguments),
        Some(Compiler::Debian) => {
            let mut build = workspace.command(DEBIAN_CARGO, &arguments);
            build.args(["-Zbuild-std=core"]).env("RUSTC_BOOTSTRAP", "1").env("PATH", "/usr/bin:/bin");
            for (name, _) in env::vars().filter(|(name, _)| name == "CARGO" || name.starts_with("RUSTUP")) {
                build.env_remove(name);
            }
            build.env("RUSTC", "/usr/bin/rustc").env("RUSTDOC", "/usr/bin/rustdoc");
            build
        }
    };
    build.env("RUSTFLAGS", "-Csymbol-mangling-version=v0");
    workspace.logged("no-std", &mut build)?;
    match object(workspace) {
        Some(_) => Ok(format!("core and hybrid built for {TARGET} without alloc")),
        None => bail!("the build for {TARGET} left no object"),
    }
}
