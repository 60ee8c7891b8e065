//! wolfSSL at its best, built once from the sources that `wolfssl-sys` carries.
//!
//! That crate builds them without ML-DSA, so nothing here links it: it is a dependency for a target that does not
//! exist, which `cargo metadata` downloads and cargo never builds. The library is under the GPL: it stays in this
//! workspace, whose programs are not published.

use std::path::{Path, PathBuf};

use crate::wolfssl_tree::{Recipe, VERSION, at, first_line, runs};

/// Every parameter set, all assembly, and nothing of TLS.
const CONFIGURE: &[&str] = &[
    "--enable-cryptonly",
    "--enable-mlkem=yes,all",
    "--enable-dilithium",
    "--enable-slhdsa=yes,sha2",
    "--enable-lms",
    "--enable-xmss",
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

/// The C compiler: that of the environment, or the best one that is there.
pub fn compiler() -> Result<String, String> {
    println!("cargo::rerun-if-env-changed=BENCH_WOLFSSL_CC");
    if let Ok(compiler) = std::env::var("BENCH_WOLFSSL_CC") {
        return Ok(compiler);
    }
    let found = COMPILERS.iter().find(|compiler| runs(compiler));
    Ok((*found.ok_or("no C compiler found: apt-get install clang")?).to_owned())
}

/// Builds the library and the shims, and tells cargo to link them.
pub fn build() -> Result<(), String> {
    let compiler = compiler()?;
    let name = first_line(&compiler);
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("wolfssl");
    let jobs = std::env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let cargo = PathBuf::from(std::env::var_os("CARGO").ok_or("no CARGO")?);
    let recipe = Recipe { compiler: &compiler, configure: CONFIGURE, flags: FLAGS };
    let installed = recipe.install(&cargo, Path::new("Cargo.toml"), &folder, jobs)?;
    let shims = ["src/peers/wolfssl/shim.c", "src/peers/hash_based/wolfssl.c"];
    for shim in shims {
        println!("cargo::rerun-if-changed={shim}");
    }
    cc::Build::new()
        .compiler(&compiler)
        .files(shims)
        .include(installed.join("include"))
        .flag("-Wall")
        .flag("-Wextra")
        .opt_level(3)
        .try_compile("bench_wolfssl")
        .map_err(at("compiling the shims"))?;
    println!("cargo::rustc-link-search=native={}", installed.join("lib").display());
    println!("cargo::rustc-link-lib=static=wolfssl");
    println!("cargo::rustc-env=BENCH_WOLFSSL={VERSION}, {name}, {}", FLAGS.join(" "));
    println!("cargo::rustc-cfg=wolfssl");
    Ok(())
}
