//! wolfSSL at its best, built once from the sources that `wolfssl-sys` carries.
//!
//! That crate builds them without ML-DSA, so nothing here links it: it is a dependency for a target that does not
//! exist, which `cargo metadata` downloads and cargo never builds. The library is under the GPL: it stays in this
//! workspace, whose programs are not published.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The version whose options are written down here.
const VERSION: &str = "5.9.4";

/// Every parameter set, all assembly, and nothing of TLS.
const CONFIGURE: &[&str] = &[
    "--enable-cryptonly",
    "--enable-mlkem=yes,all",
    "--enable-dilithium",
    "--enable-intelasm",
    "--enable-experimental",
    "--enable-static",
    "--disable-shared",
    "--disable-examples",
    "--disable-crypttests",
    "--disable-benchmark",
    "--disable-dependency-tracking",
];

/// Keys keep what can be computed ahead, and a SHA-3 of one message runs the scalar code with BMI2, which is faster
/// than the AVX2 code. The options that do not conform to FIPS 204 (`…_SIGN_CHECK_Y`, `…_SIGN_CHECK_W0`) stay off.
const FLAGS: &[&str] = &[
    "-O3",
    "-DWOLFSSL_MLKEM_CACHE_A",
    "-DWC_MLDSA_CACHE_MATRIX_A",
    "-DWC_MLDSA_CACHE_PRIV_VECTORS",
    "-DWC_MLDSA_CACHE_PUB_VECTORS",
    "-DWOLFSSL_SHA3_NO_AVX2",
];

/// The C compilers, best first.
const COMPILERS: &[&str] = &[
    "clang", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "gcc", "cc",
];

/// Builds the library and the shim, and tells cargo to link both.
pub fn build() -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=BENCH_WOLFSSL_CC");
    let absent: Vec<&str> =
        ["autoconf", "automake", "libtoolize", "make"].into_iter().filter(|tool| !runs(tool)).collect();
    if !absent.is_empty() {
        return Err(format!(
            "{} not found; Debian has them: apt-get install autoconf automake libtool make clang",
            absent.join(", ")
        ));
    }
    let compiler = match std::env::var("BENCH_WOLFSSL_CC") {
        Ok(compiler) => compiler,
        Err(_) => {
            let found = COMPILERS.iter().find(|compiler| runs(compiler));
            (*found.ok_or("no C compiler found: apt-get install clang")?).to_owned()
        }
    };
    let name = first_line(&compiler);
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("wolfssl");
    let installed = folder.join("installed");
    // What stands in the stamp was built; anything else is built from the beginning.
    let stamp = folder.join("stamp");
    let recipe = format!("{VERSION}\n{compiler}: {name}\n{CONFIGURE:?}\n{FLAGS:?}\n");
    if std::fs::read_to_string(&stamp).ok().as_ref() != Some(&recipe) {
        let _ = std::fs::remove_dir_all(&folder);
        let tree = folder.join("tree");
        copy(&sources()?, &tree).map_err(at("copying the sources"))?;
        let mut configure = Command::new("./configure");
        configure.arg(format!("CC={compiler}")).arg(format!("CFLAGS={}", FLAGS.join(" ")));
        configure.arg(format!("--prefix={}", installed.display())).args(CONFIGURE);
        run(&tree, "autogen", &mut Command::new("./autogen.sh"))?;
        run(&tree, "configure", &mut configure)?;
        let jobs = std::env::var("NUM_JOBS").unwrap_or_else(|_| "1".into());
        // Cargo's job server speaks to make through these; the flag -j counts instead.
        let mut make = Command::new("make");
        make.arg(format!("-j{jobs}")).arg("install").env_remove("MAKEFLAGS").env_remove("CARGO_MAKEFLAGS");
        run(&tree, "make", &mut make)?;
        std::fs::remove_dir_all(&tree).map_err(at("removing the tree"))?;
        std::fs::write(&stamp, recipe).map_err(at("writing the stamp"))?;
    }
    let shim = "src/peers/wolfssl/shim.c";
    println!("cargo::rerun-if-changed={shim}");
    cc::Build::new()
        .compiler(&compiler)
        .file(shim)
        .include(installed.join("include"))
        .flag("-Wall")
        .flag("-Wextra")
        .opt_level(3)
        .try_compile("bench_wolfssl")
        .map_err(at("compiling the shim"))?;
    println!("cargo::rustc-link-search=native={}", installed.join("lib").display());
    println!("cargo::rustc-link-lib=static=wolfssl");
    println!("cargo::rustc-env=BENCH_WOLFSSL={VERSION}, {name}, {}", FLAGS.join(" "));
    println!("cargo::rustc-cfg=wolfssl");
    Ok(())
}

fn runs(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn first_line(compiler: &str) -> String {
    let output = Command::new(compiler).arg("--version").output().ok();
    let output =
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    output.lines().next().unwrap_or("unknown compiler").to_owned()
}

fn at<E: Display>(what: &str) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}

/// The folder `wolfssl-src` of the package.
fn sources() -> Result<PathBuf, String> {
    let output = Command::new(std::env::var_os("CARGO").ok_or("no CARGO")?)
        .args(["metadata", "--format-version", "1", "--locked"])
        .output()
        .map_err(at("cargo metadata"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(at("cargo metadata"))?;
    let manifest = (metadata["packages"].as_array().into_iter().flatten())
        .find(|package| package["name"] == "wolfssl-sys")
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("cargo metadata does not know wolfssl-sys")?;
    let folder = Path::new(manifest).with_file_name("wolfssl-src");
    let header =
        std::fs::read_to_string(folder.join("wolfssl/version.h")).map_err(at("wolfssl/version.h"))?;
    if header.contains(&format!("LIBWOLFSSL_VERSION_STRING \"{VERSION}\"")) {
        Ok(folder)
    } else {
        Err(format!("{} is not of version {VERSION}", folder.display()))
    }
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
fn run(tree: &Path, step: &str, command: &mut Command) -> Result<(), String> {
    let output = command.current_dir(tree).output().map_err(at(step))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    Err(format!("{step} failed: {}", last.into_iter().rev().collect::<Vec<_>>().join(" | ")))
}
