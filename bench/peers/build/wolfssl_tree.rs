//! wolfSSL's library, configured, made and installed from the sources that `wolfssl-sys` carries. The interop tests share this.
//!
//! That crate is a dependency for a target that does not exist: `cargo metadata` downloads it, and cargo never builds it. Other libraries
//! whose sources a crate carries are found and made with the same functions.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The version whose options are known.
pub const VERSION: &str = "5.9.4";

/// How the library is built.
pub struct Recipe<'a> {
    /// The C compiler.
    pub compiler: &'a str,
    /// What `configure` is told.
    pub configure: &'a [&'a str],
    /// What the compiler is told.
    pub flags: &'a [&'a str],
}

impl Recipe<'_> {
    /// Builds below the folder with so many processes, unless that has been done; returns where it is installed. The manifest names
    /// `wolfssl-sys`.
    pub fn install(
        &self,
        cargo: &Path,
        manifest: &Path,
        folder: &Path,
        jobs: usize,
    ) -> Result<PathBuf, String> {
        let absent: Vec<&str> =
            ["autoconf", "automake", "libtoolize", "make"].into_iter().filter(|tool| !runs(tool)).collect();
        if !absent.is_empty() {
            return Err(format!(
                "{} not found; Debian has them: apt-get install autoconf automake libtool make clang",
                absent.join(", ")
            ));
        }
        let Self { compiler, configure: options, flags } = self;
        let installed = folder.join("installed");
        // What stands in the stamp was built; anything else is built from the beginning.
        let stamp = folder.join("stamp");
        let recipe = format!("{VERSION}\n{compiler}: {}\n{options:?}\n{flags:?}\n", first_line(compiler));
        if std::fs::read_to_string(&stamp).ok().as_ref() != Some(&recipe) {
            let _ = std::fs::remove_dir_all(folder);
            let tree = folder.join("tree");
            copy(&sources(cargo, manifest)?, &tree).map_err(at("copying the sources"))?;
            let mut configure = Command::new("./configure");
            configure.arg(format!("CC={compiler}")).arg(format!("CFLAGS={}", flags.join(" ")));
            configure.arg(format!("--prefix={}", installed.display())).args(*options);
            run(&tree, "autogen", &mut Command::new("./autogen.sh"))?;
            run(&tree, "configure", &mut configure)?;
            // Cargo's job server speaks to make through these; the flag -j counts instead.
            let mut make = Command::new("make");
            make.arg(format!("-j{jobs}"))
                .arg("install")
                .env_remove("MAKEFLAGS")
                .env_remove("CARGO_MAKEFLAGS");
            run(&tree, "make", &mut make)?;
            std::fs::remove_dir_all(&tree).map_err(at("removing the tree"))?;
            std::fs::write(&stamp, recipe).map_err(at("writing the stamp"))?;
        }
        Ok(installed)
    }
}

/// Whether there is such a program.
pub fn runs(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// What the compiler calls itself.
pub fn first_line(compiler: &str) -> String {
    let output = Command::new(compiler).arg("--version").output().ok();
    let output =
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    output.lines().next().unwrap_or("unknown compiler").to_owned()
}

/// An error with the step in which it came.
pub fn at<E: Display>(what: &str) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}

/// The folder `wolfssl-src` of the package.
fn sources(cargo: &Path, manifest: &Path) -> Result<PathBuf, String> {
    let folder = package(cargo, manifest, "wolfssl-sys")?.join("wolfssl-src");
    let header =
        std::fs::read_to_string(folder.join("wolfssl/version.h")).map_err(at("wolfssl/version.h"))?;
    if header.contains(&format!("LIBWOLFSSL_VERSION_STRING \"{VERSION}\"")) {
        Ok(folder)
    } else {
        Err(format!("{} is not of version {VERSION}", folder.display()))
    }
}

/// The folder of a package that the manifest names.
pub fn package(cargo: &Path, manifest: &Path, name: &str) -> Result<PathBuf, String> {
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(at("cargo metadata"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(at("cargo metadata"))?;
    let manifest = (metadata["packages"].as_array().into_iter().flatten())
        .find(|package| package["name"] == name)
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or_else(|| format!("cargo metadata does not know {name}"))?;
    Ok(Path::new(manifest).with_file_name(""))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Runs one step; what it printed is the error if it fails.
pub fn run(tree: &Path, step: &str, command: &mut Command) -> Result<(), String> {
    let output = command.current_dir(tree).output().map_err(at(step))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    Err(format!("{step} failed: {}", last.into_iter().rev().collect::<Vec<_>>().join(" | ")))
}
