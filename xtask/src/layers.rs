//! The arrows between packages: ARCHITECTURE.md's table as data, held against `cargo metadata`; and between the modules of the core.

mod modules;

use crate::run::Workspace;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CORE: &str = "gambeson";
const HYBRID: &str = "gambeson-hybrid";
const PKI: &str = "gambeson-pki";
const AGE: &str = "gambeson-age";
const KEYSTORE: &str = "gambeson-keystore";
const IDENTITY: &str = "gambeson-identity";
const RUSTLS: &str = "gambeson-rustls";
const SESSION: &str = "gambeson-session";
const MLS: &str = "gambeson-mls";
const SLIM: &str = "gambeson-slim";

/// Every library, lowest first.
const LIBRARIES: &[&str] = &[CORE, HYBRID, PKI, AGE, KEYSTORE, IDENTITY, RUSTLS, SESSION, MLS, SLIM];

/// A package and what it may stand on.
const ARROWS: &[(&str, &[&str])] = &[
    (CORE, &[]),
    (HYBRID, &[CORE]),
    (PKI, &[CORE, HYBRID]),
    (AGE, &[CORE, HYBRID]),
    (KEYSTORE, &[CORE, HYBRID, PKI]),
    (IDENTITY, &[CORE, HYBRID, PKI, AGE, KEYSTORE]),
    (RUSTLS, &[CORE, HYBRID, PKI]),
    (MLS, &[CORE, HYBRID]),
    (SESSION, &[RUSTLS, IDENTITY, CORE, HYBRID, PKI, AGE, KEYSTORE]),
    (SLIM, &[MLS, RUSTLS, IDENTITY, CORE, HYBRID, PKI, AGE, KEYSTORE]),
    ("gambeson-ffi", &[CORE]),
    ("gambeson-pkcs11", LIBRARIES),
    ("gambeson-openssl", &[CORE, HYBRID, PKI]),
    ("gambeson-cli", LIBRARIES),
    ("gambeson-python", LIBRARIES),
    ("gambeson-typescript", LIBRARIES),
    ("gambeson-firmware", &[CORE, HYBRID]),
    // Development only; nothing that is published may depend on these.
    ("gambeson-vectors", LIBRARIES),
    ("gambeson-interop", &[CORE, HYBRID, PKI, AGE, RUSTLS, MLS]),
    ("gambeson-gates", &[CORE, HYBRID, PKI, IDENTITY, RUSTLS, MLS, SESSION, "gambeson-ffi"]),
    ("xtask", &[]),
    ("xtask-tools", &[]),
];

/// What `crates/core` may use of other people's code; the last three are optional, for the traits of RustCrypto.
const CORE_DEPENDENCIES: [&str; 9] = [
    "zeroize",
    "subtle",
    "rand_core",
    "cpufeatures",
    "getrandom",
    "sha2",
    "kem",
    "signature",
    "hybrid-array",
];

/// Checks the workspace, then a copy of its metadata with a wrong arrow in it, which must be refused; then the modules of the core.
pub fn check(workspace: &Workspace) -> Result<String> {
    let metadata = workspace.metadata("", &["--no-deps"])?;
    let (arrows, errors) = wrong_arrows(&metadata);
    ensure!(errors.is_empty(), "{}", errors.join("\n"));
    let mut planted = metadata;
    let packages = planted["packages"].as_array_mut().into_iter().flatten();
    let mut core = packages.filter(|package| package["name"] == CORE);
    let dependencies = core.next().and_then(|core| core["dependencies"].as_array_mut());
    dependencies.context("the core is in the metadata")?.push(json!({"name": HYBRID, "kind": null}));
    let seen = !wrong_arrows(&planted).1.is_empty();
    ensure!(seen, "canary: the arrow {CORE} -> {HYBRID} was planted in the metadata and not refused");
    let modules = modules::check(workspace)?;
    Ok(format!("{arrows} arrows, all allowed; the planted one was refused. {modules}"))
}

/// The number of arrows between our packages, and a sentence for each that the table does not allow.
fn wrong_arrows(metadata: &Value) -> (usize, Vec<String>) {
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let ours: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let (mut count, mut errors) = (0, Vec::new());
    for package in &packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ARROWS.iter().find(|(package, _)| *package == name) else {
            errors.push(format!("{name}: not in the table of layers"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let target = dependency["name"].as_str().unwrap_or_default();
            if dependency["kind"] == "dev" {
                continue;
            }
            if ours.contains(target) || ARROWS.iter().any(|(package, _)| *package == target) {
                count += 1;
                if !allowed.contains(&target) {
                    errors.push(format!("{name} -> {target}: not an arrow of ARCHITECTURE.md"));
                }
            } else if name == CORE && !CORE_DEPENDENCIES.contains(&target) {
                errors.push(format!("{name} -> {target}: the core's dependencies are a closed list"));
            }
        }
    }
    (count, errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
        json!({"name": name, "dependencies": dependencies})
    }

    #[test]
    fn arrows_of_the_table_pass() {
        let metadata = json!({"packages": [package(CORE, &[("zeroize", None)]), package(AGE, &[(CORE, None), (HYBRID, None)])]});
        assert_eq!(wrong_arrows(&metadata), (2, vec![]));
    }

    #[test]
    fn an_upward_arrow_a_build_arrow_and_an_unknown_package_are_refused() {
        let metadata = json!({"packages": [
            package(CORE, &[(HYBRID, None)]), package(PKI, &[(AGE, Some("build"))]), package("surprise", &[]),
        ]});
        assert_eq!(wrong_arrows(&metadata).1.len(), 3);
    }

    #[test]
    fn a_development_arrow_is_free() {
        let metadata = json!({"packages": [package(CORE, &[("gambeson-vectors", Some("dev"))])]});
        assert_eq!(wrong_arrows(&metadata), (0, vec![]));
    }

    #[test]
    fn the_core_takes_no_new_dependency() {
        let metadata = json!({"packages": [package(CORE, &[("rayon", None)])]});
        assert_eq!(wrong_arrows(&metadata).1.len(), 1);
    }

    #[test]
    fn the_table_has_no_cycle() {
        for (from, targets) in ARROWS {
            for target in *targets {
                let back =
                    ARROWS.iter().find(|(package, _)| package == target).expect("every target is listed");
                assert!(!back.1.contains(from), "{from} <-> {target}");
            }
        }
    }
}
