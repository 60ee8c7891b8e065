//! OpenSSL's libcrypto and Botan, built once from the sources that `openssl-src` and `botan-src` carry.
//!
//! Only the program that measures links them: another program of this package has the OpenSSL of the system.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::wolfssl::compiler;
use crate::wolfssl_tree::{at, first_line, package, run, runs};

/// The program that measures.
const PROGRAM: &str = "gambeson-bench-peers";

/// SLH-DSA, LMS and everything that libcrypto does not build without, with all assembly.
const OPENSSL: &[&str] = &[
    "linux-x86_64",
    "no-shared",
    "no-module",
    "no-apps",
    "no-docs",
    "no-tests",
    "no-legacy",
    "no-dso",
    "no-tls",
    "no-dtls",
    "no-quic",
    "no-cmp",
    "no-cms",
    "no-ct",
    "no-ts",
    "no-ocsp",
    "no-srp",
    "no-sm2",
    "no-sm3",
    "no-sm4",
    "no-aria",
    "no-camellia",
    "no-bf",
    "no-cast",
    "no-idea",
    "no-rc2",
    "no-rc4",
    "no-seed",
    "no-ml-dsa",
    "no-ml-kem",
    "enable-lms",
];

/// The schemes and every implementation of their hash functions for this architecture. Threads are off: time is that of one.
const BOTAN: &[&str] = &[
    "--minimized-build",
    "--enable-modules=slh_dsa_sha2,slh_dsa_shake,hss_lms,xmss,system_rng,sha2_32_x86,sha2_32_avx2,sha2_32_simd,sha2_64_x86,sha2_64_avx2,sha2_64_avx512,keccak_perm_bmi2,keccak_perm_avx512",
    "--without-os-features=threads",
    "--build-targets=static",
    "--amalgamation",
    "--without-documentation",
    "--no-install-python-module",
];

/// A library built below the folder of the build script's output.
struct Library {
    folder: PathBuf,
    /// The recipe: another one begins from nothing, the same one continues.
    stamp: String,
}

impl Library {
    /// The library, and whether it has been built.
    fn new(name: &str, stamp: String) -> Result<(Self, bool), String> {
        let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join(name);
        let is = |file: &str| std::fs::read_to_string(folder.join(file)).is_ok_and(|found| found == stamp);
        if !is("recipe") {
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).map_err(at("creating a folder"))?;
            std::fs::write(folder.join("recipe"), &stamp).map_err(at("writing the recipe"))?;
        }
        let built = is("built");
        Ok((Self { folder, stamp }, built))
    }

    /// Runs `make` in a folder of the tree.
    fn make(&self, tree: &Path, targets: &[&str]) -> Result<(), String> {
        let jobs = std::env::var("NUM_JOBS").unwrap_or_else(|_| "1".into());
        // Cargo's job server speaks to make through these; the flag -j counts instead.
        let mut make = Command::new("make");
        make.arg(format!("-j{jobs}")).args(targets).env_remove("MAKEFLAGS").env_remove("CARGO_MAKEFLAGS");
        run(tree, "make", &mut make)
    }

    fn built(&self) -> Result<(), String> {
        std::fs::write(self.folder.join("built"), &self.stamp).map_err(at("writing the stamp"))
    }
}

/// The folder of the package, whose name and version the stamp begins with.
fn sources(name: &str) -> Result<(PathBuf, String), String> {
    let cargo = PathBuf::from(std::env::var_os("CARGO").ok_or("no CARGO")?);
    let folder = package(&cargo, Path::new("Cargo.toml"), name)?;
    let version = folder.file_name().map(OsStr::to_string_lossy).unwrap_or_default().into_owned();
    Ok((folder, version))
}

fn needs(tools: &[&str]) -> Result<(), String> {
    let absent: Vec<&str> = tools.iter().copied().filter(|tool| !runs(tool)).collect();
    if absent.is_empty() { Ok(()) } else { Err(format!("{} not found", absent.join(", "))) }
}

/// Passes an argument to the linker of the program that measures.
fn link(argument: impl AsRef<OsStr>) {
    println!("cargo::rustc-link-arg-bin={PROGRAM}={}", argument.as_ref().display());
}

/// OpenSSL's libcrypto and its shim.
pub fn openssl() -> Result<(), String> {
    needs(&["perl", "make"])?;
    let compiler = compiler()?;
    let (package, version) = sources("openssl-src")?;
    let stamp = format!("{version}\n{compiler}: {}\n{OPENSSL:?}\n", first_line(&compiler));
    let (library, built) = Library::new("openssl", stamp)?;
    let source = package.join("openssl");
    let tree = library.folder.join("tree");
    if !built {
        if !tree.join("Makefile").exists() {
            std::fs::create_dir_all(&tree).map_err(at("creating a folder"))?;
            let mut configure = Command::new("perl");
            configure.arg(source.join("Configure")).args(OPENSSL).arg(format!("CC={compiler}"));
            run(&tree, "Configure", &mut configure)?;
        }
        library.make(&tree, &["build_generated"])?;
        library.make(&tree, &["libcrypto.a"])?;
        library.built()?;
    }
    let shim = "src/peers/hash_based/openssl.c";
    println!("cargo::rerun-if-changed={shim}");
    cc::Build::new()
        .compiler(&compiler)
        .file(shim)
        .includes([tree.join("include"), source.join("include")])
        .flag("-Wall")
        .flag("-Wextra")
        .opt_level(3)
        .try_compile("bench_openssl")
        .map_err(at("compiling the shim"))?;
    link(tree.join("libcrypto.a"));
    println!("cargo::rustc-env=BENCH_OPENSSL={version}, {}", first_line(&compiler));
    println!("cargo::rustc-cfg=openssl4");
    Ok(())
}

/// Botan and its shim.
pub fn botan() -> Result<(), String> {
    needs(&["tar", "xz", "python3", "make"])?;
    let compiler = compiler()?;
    let (clang, plus) = match compiler.split_once("clang") {
        Some((_, suffix)) => ("clang", format!("clang++{suffix}")),
        None => ("gcc", "g++".to_owned()),
    };
    needs(&[&plus])?;
    let (package, version) = sources("botan-src")?;
    let stamp = format!("{version}\n{plus}: {}\n{BOTAN:?}\n", first_line(&plus));
    let (library, built) = Library::new("botan", stamp)?;
    let tree = library.folder.join("tree");
    if !built {
        let vendor = std::fs::read_dir(package.join("vendor")).map_err(at("botan-src"))?;
        let archive = (vendor.flatten().map(|entry| entry.path()))
            .find(|path| path.extension() == Some(OsStr::new("xz")))
            .ok_or("no archive in botan-src")?;
        std::fs::create_dir_all(&tree).map_err(at("creating a folder"))?;
        let mut tar = Command::new("tar");
        run(&tree, "tar", tar.args(["-xJ", "--strip-components=1", "-f"]).arg(archive))?;
        let mut configure = Command::new("python3");
        configure
            .arg("configure.py")
            .args(BOTAN)
            .arg(format!("--cc={clang}"))
            .arg(format!("--cc-bin={plus}"));
        run(&tree, "configure.py", &mut configure)?;
        library.make(&tree, &["libs"])?;
        library.built()?;
    }
    let shim = "src/peers/hash_based/botan.cpp";
    println!("cargo::rerun-if-changed={shim}");
    cc::Build::new()
        .compiler(&plus)
        .cpp(true)
        .std("c++20")
        .file(shim)
        .include(tree.join("build/include/public"))
        .flag("-Wall")
        .flag("-Wextra")
        .opt_level(3)
        .cpp_link_stdlib(None)
        .try_compile("bench_botan")
        .map_err(at("compiling the shim"))?;
    link(tree.join("libbotan-3.a"));
    link("-lstdc++");
    println!("cargo::rustc-env=BENCH_BOTAN={version}, {}", first_line(&plus));
    println!("cargo::rustc-cfg=botan");
    Ok(())
}
