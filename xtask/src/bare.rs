//! The core and the combinations on a processor without an operating system.

use crate::run::Workspace;
use anyhow::{Result, bail, ensure};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "thumbv7em-none-eabi";
/// Debian's compiler, whose package of sources lets it build `core` for any target.
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library/core/Cargo.toml";

/// How another target than this machine's can be built for.
pub enum Compiler {
    Rustup,
    Debian,
}

impl Compiler {
    pub fn for_target(target: &str) -> Option<Self> {
        let targets = Command::new("rustup").args(["target", "list", "--installed"]).output();
        let listed = targets
            .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line == target));
        listed.then_some(Self::Rustup).or(Self::is_debians_here().then_some(Self::Debian))
    }

    /// Whether Debian's compiler is here, with its sources.
    pub fn is_debians_here() -> bool {
        Path::new(DEBIAN_CARGO).exists() && Path::new(DEBIAN_SOURCES).exists()
    }

    /// A cargo command for that target; the parts of the standard library are built where they have to be.
    pub fn cargo(&self, workspace: &Workspace, library: &str, arguments: &[&str]) -> Command {
        if matches!(self, Self::Rustup) {
            return workspace.cargo(arguments);
        }
        let mut build = workspace.command(DEBIAN_CARGO, arguments);
        build.arg(format!("-Zbuild-std={library}")).env("RUSTC_BOOTSTRAP", "1").env("PATH", "/usr/bin:/bin");
        for (name, _) in env::vars().filter(|(name, _)| name == "CARGO" || name.starts_with("RUSTUP")) {
            build.env_remove(name);
        }
        build.env("RUSTC", "/usr/bin/rustc").env("RUSTDOC", "/usr/bin/rustdoc");
        build
    }
}

/// Returns what this machine lacks.
pub fn missing() -> Option<&'static str> {
    Compiler::for_target(TARGET).is_none().then_some("a compiler for a bare target")
}

/// The object with every operation, once built.
pub fn object(workspace: &Workspace) -> Option<PathBuf> {
    let path = workspace.apart("bare").join(TARGET).join("release/libgambeson_bare.a");
    path.exists().then_some(path)
}

/// Checks that no dependency asks for `std`, then builds everything for the bare target.
pub fn check(workspace: &Workspace) -> Result<String> {
    for (package, features) in [("gambeson", ""), ("gambeson-hybrid", ""), ("gambeson-hybrid", "curves")] {
        let select = ["-p", package, "--no-default-features", "--features", features];
        let mut tree = workspace.cargo(&["tree", "-e", "normal,features", "--prefix", "none"]);
        let tree = workspace.logged("no-std-tree", tree.args(select))?;
        if let Some(line) = tree.lines().find(|line| line.contains("feature \"std\"")) {
            bail!("{package} with {features:?} alone still asks for std: {line}");
        }
        let mut check = workspace.linted(&["check", "--quiet", "--lib", "--release"]);
        workspace.logged("no-std-host", check.args(select))?;
    }
    let manifest = "gates/bare/Cargo.toml";
    let arguments =
        ["build", "--quiet", "--release", "--locked", "--manifest-path", manifest, "--target", TARGET];
    let Some(compiler) = Compiler::for_target(TARGET) else {
        bail!("no compiler for {TARGET}: neither rustup's target nor Debian's rust-web-src")
    };
    let mut build = compiler.cargo(workspace, "core", &arguments);
    build.env("RUSTFLAGS", "-Csymbol-mangling-version=v0").env("CARGO_TARGET_DIR", workspace.apart("bare"));
    workspace.logged("no-std", &mut build)?;
    ensure!(object(workspace).is_some(), "the build for {TARGET} left no object");
    Ok(format!("core and hybrid built for {TARGET} without alloc"))
}
