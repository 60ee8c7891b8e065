//! The steps of `cargo xtask test` as data: names, groups, tools, inputs and functions.

use crate::constant_time::Extent::{Everything, Released};
use crate::report::Done;
use crate::run::{Tool, Workspace, installed};
use crate::{
    aarch64, answers, api, bare, c, checks, cite, declassified, firmware, fresh, fuzzing, independent,
    instructions, layers, massif, notices, python, residue, slim, thumb, typescript, without_c,
};
use anyhow::Result;

/// The group of the steps that every change must pass; the others are run by `--full` alone.
pub const ORDINARY: &str = "ordinary";

/// When a step runs beside others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lane {
    /// Alone: it keeps all processors busy, or measures time.
    All,
    /// Beside a step of the other lane; it waits for one thread, or for the lock of the target folder for this machine.
    Host,
    /// Beside a step of the other lane; it waits for one thread, and builds in a target folder of its own.
    Apart,
}

/// A step.
pub struct Step {
    pub name: &'static str,
    pub group: &'static str,
    pub lane: Lane,
    /// Programs that it needs, each of which is in [`TOOLS`].
    needs: &'static [&'static str],
    /// Names what else this machine lacks.
    lacks: fn() -> Option<&'static str>,
    /// Paths of the files that its outcome depends on, as git takes them.
    pub inputs: &'static [&'static str],
    pub run: fn(&Workspace) -> Result<Done>,
}

type Run = fn(&Workspace) -> Result<Done>;

const fn step(name: &'static str, run: Run) -> Step {
    Step { name, group: ORDINARY, lane: Lane::All, needs: &[], lacks: || None, inputs: &["."], run }
}

/// A step of `--full`.
const fn full(group: &'static str, name: &'static str, inputs: &'static [&'static str], run: Run) -> Step {
    Step { group, inputs, ..step(name, run) }
}

impl Step {
    const fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    const fn lacks(self, lacks: fn() -> Option<&'static str>) -> Self {
        Self { lacks, ..self }
    }

    /// Needs what all steps on these tools need.
    const fn on(self, Tools(needs, lacks): Tools) -> Self {
        Self { needs, lacks, ..self }
    }

    const fn lane(self, lane: Lane) -> Self {
        Self { lane, ..self }
    }

    /// Returns what this machine lacks for it.
    pub fn missing(&self) -> Option<&'static str> {
        self.needs.iter().copied().find(|program| !installed(program)).or_else(self.lacks)
    }

    /// Returns the tools that it needs.
    pub fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        TOOLS.iter().filter(|tool| self.needs.contains(&tool.program))
    }
}

/// Returns the tools of the steps for small devices.
pub fn tools_of_firmware() -> Vec<&'static Tool> {
    TOOLS.iter().filter(|tool| FIRMWARE.0.contains(&tool.program)).collect()
}

/// Returns the names of all groups, in the order in which they run.
pub fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> = STEPS.iter().map(|step| step.group).collect();
    groups.dedup();
    groups
}

/// Returns the inputs of a group: those of its steps.
pub fn inputs(group: &str) -> Vec<&'static str> {
    let steps = STEPS.iter().filter(|step| step.group == group);
    let mut inputs: Vec<&str> = steps.flat_map(|step| step.inputs.iter().copied()).collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs
}

/// Tools of steps, and Debian's packages of them.
const TOOLS: &[Tool] = &[
    tool("valgrind", &["valgrind"]),
    tool("objdump", &["binutils"]),
    tool("arm-none-eabi-objdump", &["binutils-arm-none-eabi"]),
    tool("arm-none-eabi-gcc", &["gcc-arm-none-eabi"]),
    tool("qemu-system-arm", &["qemu-system-arm"]),
    tool("riscv64-unknown-elf-ld", &["binutils-riscv64-unknown-elf"]),
    tool("qemu-system-riscv32", &["qemu-system-misc"]),
    tool("qemu-aarch64", &["qemu-user"]),
    tool("qemu-arm", &["qemu-user"]),
    tool("aarch64-linux-gnu-gcc", &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"]),
    tool("arm-linux-gnueabihf-gcc", &["gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross"]),
    tool("/usr/bin/cargo", &["rustc-web", "cargo-web", "rust-web-src"]),
    tool("/usr/lib/rustlib/src/rust/library/core/Cargo.toml", &["rust-web-src"]),
    tool("/usr/lib/wasm32-wasi", &["wasi-libc"]),
    tool("python3", &["python3", "python3-venv"]),
    tool("java", &["default-jdk-headless"]),
    tool("mvn", &["maven"]),
    tool("cc", &["build-essential"]),
    tool("c++", &["build-essential"]),
    tool("cmake", &["cmake"]),
    tool("pkg-config", &["pkg-config"]),
    tool("clang", &["clang", "libclang-dev"]),
    tool("gzip", &["gzip"]),
    tool("node", &["nodejs"]),
    tool("npm", &["npm"]),
    tool("chromium", &["chromium"]),
    tool("openssl", &["openssl"]),
    tool("curl", &["curl"]),
    tool("nginx", &["nginx-light"]),
    tool("nats-server", &["nats-server"]),
    tool("git", &["git"]),
    tool("mmdebstrap", &["mmdebstrap"]),
];

const fn tool(program: &'static str, packages: &'static [&'static str]) -> Tool {
    Tool { program, packages }
}

/// Debian's compiler with the sources of the standard library, for targets that rustup's lacks.
const DEBIAN: [&str; 2] = ["/usr/bin/cargo", "/usr/lib/rustlib/src/rust/library/core/Cargo.toml"];
/// Programs that steps need, and a function that names what else this machine lacks for them.
#[derive(Clone, Copy)]
struct Tools(&'static [&'static str], fn() -> Option<&'static str>);

const FIRMWARE: Tools = Tools(
    &[
        DEBIAN[0],
        DEBIAN[1],
        "arm-none-eabi-objdump",
        "qemu-system-arm",
        "riscv64-unknown-elf-ld",
        "qemu-system-riscv32",
    ],
    firmware::missing,
);
const WEB: Tools = Tools(
    &[DEBIAN[0], DEBIAN[1], "/usr/lib/wasm32-wasi", "node", "npm", "chromium", "python3"],
    typescript::missing,
);
const AARCH64: Tools =
    Tools(&[DEBIAN[0], DEBIAN[1], "qemu-aarch64", "aarch64-linux-gnu-gcc"], aarch64::missing);

/// What every build takes.
macro_rules! inputs {
    ($($path:literal),*) => { &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", $($path),*] };
}
const OF_CORE: &[&str] = inputs!["crates/core", "crates/hybrid", "vectors", "gates"];
const OF_CT: &[&str] = inputs![
    "crates/core",
    "crates/hybrid",
    "crates/pki",
    "crates/mls",
    "crates/ffi",
    // They choose features of the libraries below them in the build at level 3.
    "crates/age",
    "crates/identity",
    "crates/keystore",
    "crates/rustls",
    "crates/session",
    "gates",
    "docs/divisions.toml",
    "xtask/src/constant_time.rs",
    "xtask/src/residue.rs"
];
const OF_FIRMWARE: &[&str] = inputs![
    "crates/core",
    "crates/hybrid",
    "crates/ffi",
    "firmware",
    "interop/firmware",
    "docs/embedded",
    "docs/open-promises.toml",
    "xtask/src/firmware",
    "xtask/src/firmware.rs",
    "xtask/tools"
];
const OF_LIBRARIES: &[&str] = inputs!["crates", "vectors", "xtask/src/checks.rs", "xtask/src/answers.rs"];
const OF_BINDINGS: &[&str] = inputs![
    "crates",
    "bindings",
    "vectors",
    "docs/open-promises.toml",
    "xtask/src/python.rs",
    "xtask/src/typescript.rs"
];
const OF_SPEED: &[&str] = inputs![
    "crates/core",
    "crates/hybrid",
    "crates/identity",
    "crates/rustls",
    "bench",
    "docs/open-promises.toml",
    "docs/performance/instructions.json",
    "xtask/src/instructions.rs"
];

/// All steps; those of a group stand together, in the order in which they begin.
pub const STEPS: &[Step] = &[
    step("fmt", checks::fmt),
    step("layers", |it| layers::check(it).map(Done::from)),
    step("without C", |it| without_c::check(it).map(Done::from)),
    step("cite", |it| cite::check(it).map(Done::from)),
    step("notices", |it| notices::check(it, false).map(Done::from)),
    step("declassified", |it| declassified::check(it).map(Done::from)),
    step("clippy", checks::clippy).needs(&["cc"]).lacks(checks::clippy_missing),
    step("tests of the workspace", checks::tests_of_the_workspace)
        .needs(&["cc", "gzip", "openssl", "curl", "nginx", "npm", "python3"]),
    step("channels over SLIM and NATS", |_| Ok("among the tests of the workspace".into()))
        .needs(&["nats-server", "python3"]),
    step("channels", checks::channels_without_nodes),
    step("vectors serve", |it| answers::compare(it, None).map(Done::from)).needs(&["gzip"]),
    step("vectors check", |it| answers::canary(it).map(Done::from)).needs(&["gzip"]),
    step("identity vectors", |it| answers::subjects(it).map(Done::from)),
    step("shared vectors", checks::shared_vectors).needs(&["gzip"]),
    step("demo", checks::demonstration).needs(&["python3"]),
    // Two lanes, the longest first.
    step("interop", checks::interop).needs(&["python3", "java", "mvn", "cc"]).lane(Lane::Host),
    step("firmware", |it| firmware::check(it).map(Done::from)).on(FIRMWARE).lane(Lane::Apart),
    step("typescript", typescript::check).on(WEB).lane(Lane::Apart),
    step("residue", |it| residue::check(it).map(Done::from)).lane(Lane::Host),
    step("constant time, step by step", |it| checks::by_steps(it, Released)).lane(Lane::Host),
    step("aarch64 under qemu", |it| aarch64::check(it).map(Done::from)).on(AARCH64).lane(Lane::Apart),
    step("python", |it| python::check(it).map(Done::from)).needs(&["python3"]).lane(Lane::Host),
    step("firmware and RustCrypto", |it| firmware::exchange::check(it, false).map(Done::from))
        .on(FIRMWARE)
        .lacks(|| firmware::exchange::missing(false))
        .lane(Lane::Apart),
    step("C on Cortex-M4", |it| c::cortex_m4(it).map(Done::from))
        .needs(&[DEBIAN[0], DEBIAN[1], "arm-none-eabi-gcc", "qemu-system-arm"])
        .lacks(c::missing_for_cortex_m4)
        .lane(Lane::Apart),
    step("no_std", |it| bare::check(it).map(Done::from))
        .needs(&DEBIAN)
        .lacks(bare::missing)
        .lane(Lane::Apart),
    step("tests of the core without features", checks::core_without_features).lane(Lane::Host),
    step("public API", |it| api::check(it, false).map(Done::from)).lane(Lane::Host),
    step("publish --dry-run", |it| checks::published(it, false).map(Done::from)).lane(Lane::Host),
    step("C", |it| c::host(it).map(Done::from))
        .needs(&["cc", "c++", "pkg-config", "cmake"])
        .lacks(c::missing)
        .lane(Lane::Host),
    step("independent programs", |it| independent::check(it).map(Done::from))
        .needs(&["python3", "npm"])
        .lacks(independent::missing)
        .lane(Lane::Host),
    step("tests of xtask", checks::tests_of_xtask).needs(&["git"]).lane(Lane::Host),
    step("semver-checks", checks::semver).lane(Lane::Host),
    step("constant time", |it| checks::by_valgrind(it, Released)).needs(&["valgrind"]),
    step("divisions", |it| checks::divisions(it, Released)).needs(&["objdump", "arm-none-eabi-objdump"]),
    step("stack", checks::stack_of_operations),
    //
    full("constant-time", "constant time at every level", OF_CT, |it| checks::by_valgrind(it, Everything))
        .needs(&["valgrind"]),
    full("constant-time", "step by step at every level", OF_CT, |it| checks::by_steps(it, Everything)),
    full("constant-time", "divisions at every level", OF_CT, |it| checks::divisions(it, Everything))
        .needs(&["objdump", "arm-none-eabi-objdump"]),
    //
    full("memory", "residue in 16 codegen units", OF_CT, |it| residue::check_as_by_users(it).map(Done::from)),
    full("memory", "stack under massif", OF_CORE, checks::stack_under_massif)
        .needs(&["valgrind"])
        .lacks(massif::missing),
    //
    full("processors", "aarch64, the other tests", OF_CORE, |it| {
        aarch64::check_the_others(it).map(Done::from)
    })
    .on(AARCH64)
    .lane(Lane::Apart),
    full("processors", "Armv7E-M under qemu", OF_CORE, |it| thumb::check(it).map(Done::from))
        .needs(&[DEBIAN[0], DEBIAN[1], "qemu-arm", "arm-linux-gnueabihf-gcc"])
        .lacks(thumb::missing)
        .lane(Lane::Apart),
    full("processors", "core as WebAssembly", OF_CORE, |it| typescript::core(it).map(Done::from))
        .on(WEB)
        .lane(Lane::Host),
    //
    full("firmware", "firmware vectors", OF_FIRMWARE, |it| firmware::vectors(it).map(Done::from))
        .on(FIRMWARE),
    full("firmware", "firmware traces", OF_FIRMWARE, |it| firmware::constant_time(it).map(Done::from))
        .on(FIRMWARE),
    full("firmware", "firmware for boards", OF_FIRMWARE, |it| firmware::boards(it).map(Done::from))
        .on(FIRMWARE),
    full("firmware", "firmware and liboqs", OF_FIRMWARE, |it| {
        firmware::exchange::check(it, true).map(Done::from)
    })
    .needs(&["cc", "cmake", "clang"])
    .lacks(|| firmware::exchange::missing(true)),
    full("firmware", "firmware bench", OF_FIRMWARE, |it| checks::own_bench(it, "firmware bench"))
        .on(FIRMWARE),
    //
    full("bogo", "BoGo with AWS-LC", inputs!["crates", "interop"], checks::bogo_baseline)
        .needs(&["python3", "cc"]),
    //
    full("builds", "TLS over ring, MLS with rayon", OF_LIBRARIES, checks::ring_and_rayon).needs(&["cc"]),
    full("builds", "clippy with every feature", OF_LIBRARIES, checks::clippy_with_every_feature)
        .needs(&["cc"]),
    full("builds", "rustdoc", OF_LIBRARIES, checks::rustdoc),
    full("builds", "packages", OF_LIBRARIES, |it| checks::published(it, true).map(Done::from)),
    full("builds", "answers of the release", OF_LIBRARIES, checks::answers_of_the_release).needs(&["gzip"]),
    //
    full("long-tests", "ignored tests", OF_LIBRARIES, checks::ignored_tests),
    full("long-tests", "faults on other engines", OF_LIBRARIES, checks::faults_on_other_engines)
        .needs(&["nats-server", "python3"]),
    full("long-tests", "older nodes of SLIM", OF_LIBRARIES, checks::older_nodes)
        .needs(&["nats-server", "python3"]),
    full("long-tests", "a hundred processes", OF_LIBRARIES, checks::a_hundred_processes)
        .needs(&["nats-server", "python3"])
        .lacks(slim::missing),
    //
    full("speed", "peers", OF_SPEED, checks::peers_portable),
    full("speed", "peers with avx2", OF_SPEED, |it| checks::peers_with(it, "avx2"))
        .needs(&["cc", "cmake", "clang"]),
    full("speed", "peers with avx512", OF_SPEED, |it| checks::peers_with(it, "avx512"))
        .needs(&["cc", "cmake", "clang"]),
    full("speed", "instructions", OF_SPEED, |it| instructions::check(it, false).map(Done::from))
        .needs(&["valgrind"])
        .lacks(instructions::missing),
    full("speed", "one key derivation", OF_SPEED, checks::one_key_derivation),
    full("speed", "refused http messages", OF_SPEED, checks::refused_http),
    //
    full("bindings", "published wheel", OF_BINDINGS, |it| python::check_published(it).map(Done::from))
        .needs(&["python3"]),
    full("bindings", "python bench", OF_BINDINGS, |it| checks::own_bench(it, "python bench"))
        .needs(&["python3"]),
    full("bindings", "typescript on the pinned Node", OF_BINDINGS, typescript::check_on_the_pinned_node)
        .on(WEB),
    full("bindings", "typescript bench", OF_BINDINGS, |it| checks::own_bench(it, "typescript bench")).on(WEB),
    full("bindings", "typescript size", OF_BINDINGS, |it| checks::own_bench(it, "typescript size")).on(WEB),
    //
    full("bridge", "tests of the bridge", inputs!["crates", "bridge"], checks::bridge)
        .needs(&["cc", "cmake", "clang", "python3"]),
    full("bridge", "clippy of the bridge", inputs!["crates", "bridge"], checks::clippy_of_the_bridge)
        .needs(&["cc", "cmake", "clang"]),
    full("bridge", "beside sessions", inputs!["docs/open-promises.toml"], checks::beside_sessions)
        .needs(&["cc", "cmake", "clang", "python3"]),
    //
    full("dependencies", "cargo-deny", inputs!["deny.toml"], checks::deny),
    //
    full("fuzzing", "address sanitizer", OF_CORE, checks::address_sanitizer).lacks(checks::nightly_missing),
    full("fuzzing", "fuzz targets", inputs!["crates", "fuzz"], |it| {
        fuzzing::run(it, 60, &[]).map(Done::from)
    })
    .lacks(checks::nightly_missing),
    //
    full("fresh", "fresh machine", &["."], |it| fresh::run(it, false).map(Done::from))
        .needs(&["mmdebstrap", "git"])
        .lacks(fresh::missing),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_groups_stand_together() {
        let names: BTreeSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
        let groups = groups();
        assert_eq!(groups.iter().collect::<BTreeSet<_>>().len(), groups.len(), "{groups:?}");
        assert_eq!(groups[0], ORDINARY);
        // A name is looked for in the output of --list, and a group is a word.
        assert!(groups.iter().all(|group| !group.contains(' ')));
    }

    #[test]
    fn every_tool_has_a_package_and_a_step() {
        let needed: BTreeSet<_> = STEPS.iter().flat_map(|step| step.needs).copied().collect();
        assert_eq!(needed, TOOLS.iter().map(|tool| tool.program).collect());
    }

    /// A path without files would never make its group stale.
    #[test]
    fn every_input_has_files() {
        let workspace = Workspace::find().unwrap();
        for group in groups() {
            for input in inputs(group) {
                let files = workspace.git(&["ls-files", "--", input]).unwrap();
                assert!(!files.is_empty(), "{group}: {input}");
            }
        }
    }

    /// Those of the run that every change must pass; a step that moves to another group is moved here too.
    #[test]
    fn the_ordinary_run_has_what_it_promises() {
        let ordinary: Vec<_> = STEPS.iter().filter(|it| it.group == ORDINARY).map(|it| it.name).collect();
        for name in [
            "fmt",
            "layers",
            "clippy",
            "tests of the workspace",
            "identity vectors",
            "shared vectors",
            "constant time",
            "constant time, step by step",
            "residue",
            "divisions",
            "aarch64 under qemu",
            "firmware",
            "interop",
            "independent programs",
            "public API",
            "python",
            "typescript",
        ] {
            assert!(ordinary.contains(&name), "{name}");
        }
    }
}
