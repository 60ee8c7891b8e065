//! Programs for small devices: built, sized, and run under QEMU.

use crate::bare::Compiler;
use crate::run::Workspace;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A processor, and the machine of QEMU that has it.
pub struct Target {
    /// As in the rows.
    pub name: &'static str,
    triple: &'static str,
    /// The prefix of binutils.
    binutils: &'static str,
    emulator: &'static str,
    machine: &'static [&'static str],
    /// What the plugin has to know: the mark and the bounds of the stack (`firmware/runtime/memory`).
    places: &'static str,
}

pub const CORTEX_M4: Target = Target {
    name: "cortex-m4",
    triple: "thumbv7em-none-eabi",
    binutils: "arm-none-eabi",
    emulator: "qemu-system-arm",
    machine: &["-M", "mps2-an386", "-cpu", "cortex-m4"],
    places: "mark=21f00000,low=20300000,high=20400000",
};

pub const RV32: Target = Target {
    name: "rv32imac",
    triple: "riscv32imac-unknown-none-elf",
    binutils: "riscv64-unknown-elf",
    emulator: "qemu-system-riscv32",
    machine: &["-M", "virt", "-bios", "none"],
    places: "mark=80f00000,low=80700000,high=80800000",
};

/// The class of the CHERIoT Ibex core: sixteen registers, no atomic instructions. This QEMU refuses no other register, but the compiler
/// knows none.
pub const RV32EMC: Target = Target {
    name: "rv32emc",
    triple: "riscv32emc-unknown-none-elf",
    machine: &[
        "-M",
        "virt",
        "-bios",
        "none",
        "-cpu",
        "rv32,e=on,i=off,g=off,a=off,f=off,d=off,h=off,s=off,u=off",
    ],
    ..RV32
};

/// Where everything runs.
pub const TARGETS: [&Target; 2] = [&CORTEX_M4, &RV32];
/// Where something is measured.
pub const MEASURED: [&Target; 3] = [&CORTEX_M4, &RV32, &RV32EMC];

/// What this machine lacks.
pub fn missing() -> Option<&'static str> {
    if let Some(target) = MEASURED.iter().find(|target| Compiler::for_target(target.triple).is_none()) {
        return Some(target.triple);
    }
    let linkers = ["arm-none-eabi-ld", "riscv64-unknown-elf-ld"];
    let mut programs = linkers.into_iter().chain([CORTEX_M4.emulator, RV32.emulator]);
    programs.find(|program| !crate::run::installed(program))
}

/// A program that was built.
#[derive(Clone)]
pub struct Image {
    pub target: &'static Target,
    pub path: PathBuf,
}

/// Among the variables: that a build for size keeps the assembly of speed.
pub const FAST: (&str, &str) = ("GAMBESON_FAST", "1");

/// Builds a package of `firmware/` and sets the program aside under a name of its own.
///
/// `package` may be followed by features, as `package/feature`; `variables` are the environment, among them `GAMBESON_ROW` and
/// `CARGO_PROFILE_RELEASE_OPT_LEVEL`.
pub fn build(
    workspace: &Workspace,
    target: &'static Target,
    package: &str,
    name: &str,
    variables: &[(&str, &str)],
) -> Result<Image> {
    let (package, features) = package.split_once('/').unwrap_or((package, ""));
    let compiler = Compiler::for_target(target.triple).context(target.triple)?;
    let arguments =
        ["build", "--quiet", "--release", "--locked", "--package", package, "--features", features];
    let mut cargo = compiler.cargo(workspace, "core,alloc", &arguments);
    cargo.args(["--target", target.triple]);
    // The flags and the linker are those of `firmware/.cargo/config.toml`.
    cargo.current_dir(workspace.root.join("firmware")).env_remove("RUSTFLAGS");
    let target_folder = workspace.apart("firmware");
    cargo.env("CARGO_TARGET_DIR", &target_folder);
    // Doors for gates, which no other program calls.
    let fast = if variables.contains(&FAST) { ", '--cfg=gambeson_fast'" } else { "" };
    cargo.arg("--config").arg(format!("target.{}.rustflags=['--cfg=gambeson_ct'{fast}]", target.triple));
    cargo.envs(variables.iter().copied());
    workspace.logged(&format!("firmware-build-{}-{package}", target.name), &mut cargo)?;
    let folder = workspace.target.join("xtask/firmware").join(target.name);
    fs::create_dir_all(&folder)?;
    let path = folder.join(name.replace(' ', "-"));
    fs::copy(target_folder.join(target.triple).join("release").join(package), &path)?;
    Ok(Image { target, path })
}

/// The plugin for QEMU, built for this machine.
pub fn plugin(workspace: &Workspace) -> Result<PathBuf> {
    let package = "gambeson-firmware-plugin";
    let mut cargo = workspace.cargo(&["build", "--quiet", "--locked", "--profile", "host"]);
    cargo.args(["--manifest-path", "firmware/Cargo.toml", "--package", package]);
    workspace.logged("firmware-plugin", &mut cargo)?;
    Ok(workspace.target.join("host").join(format!("lib{}.so", package.replace('-', "_"))))
}

/// Ten times what the longest takes.
const LONGEST: Duration = Duration::from_secs(20 * 60);

impl Image {
    /// What the program and the plugin printed, and whether the program ended well.
    pub fn tried(
        &self,
        workspace: &Workspace,
        plugin: Option<&Path>,
        list: Option<&Path>,
    ) -> Result<(bool, String)> {
        let Target { emulator, machine, places, name, .. } = self.target;
        let mut qemu = workspace.command(emulator, machine);
        // A program's files lie beside it.
        qemu.current_dir(self.path.parent().context("a program lies in a folder")?);
        qemu.args(["-nographic", "-monitor", "none", "-serial", "none"])
            .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
            .arg(&self.path);
        if let Some(plugin) = plugin {
            let list = list.map_or_else(String::new, |file| format!(",list={}", file.display()));
            qemu.arg("-plugin").arg(format!("{},{places}{list}", plugin.display()));
        }
        let file = self.path.file_name().context("a program has a name")?.to_string_lossy();
        workspace.tried_within(LONGEST, &format!("firmware-{name}-{file}"), &mut qemu)
    }

    /// Like `tried`, but failing is an error.
    pub fn run(&self, workspace: &Workspace, plugin: Option<&Path>) -> Result<String> {
        let (well, text) = self.tried(workspace, plugin, None)?;
        ensure!(well, "{} fails:\n{}", self.path.display(), crate::run::tail(&text, 20));
        Ok(text)
    }

    /// Bytes of code with what it reads, and of what it writes.
    pub fn sizes(&self, workspace: &Workspace) -> Result<(u64, u64)> {
        Ok(sizes(&self.sections(workspace)?))
    }

    /// The sections: name, bytes, address.
    pub fn sections(&self, workspace: &Workspace) -> Result<Vec<(String, u64, u64)>> {
        let mut size = workspace.command(format!("{}-size", self.target.binutils), &["-A"]);
        let text = workspace.logged("firmware-size", size.arg(&self.path))?;
        Ok(sections(&text))
    }

    /// The disassembly, without the bytes of instructions.
    pub fn disassembly(&self, workspace: &Workspace) -> Result<String> {
        let mut objdump = workspace
            .command(format!("{}-objdump", self.target.binutils), &["-d", "-C", "--no-show-raw-insn"]);
        workspace.logged(&format!("firmware-{}-objdump", self.target.name), objdump.arg(&self.path))
    }
}

/// The table of `size -A`.
fn sections(text: &str) -> Vec<(String, u64, u64)> {
    let of_line = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [name, bytes, address] => Some((name.to_owned(), bytes.parse().ok()?, address.parse().ok()?)),
        _ => None,
    };
    text.lines().filter_map(of_line).collect()
}

/// The sums of `.text` and `.rodata`, and of `.data` and `.bss`.
fn sizes(sections: &[(String, u64, u64)]) -> (u64, u64) {
    let sum = |names: [&str; 2]| {
        let named = sections.iter().filter(|(name, ..)| names.contains(&name.as_str()));
        named.map(|(_, bytes, _)| bytes).sum()
    };
    (sum([".text", ".rodata"]), sum([".data", ".bss"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_summed() {
        let text = "x  :\nsection size addr\n.vector_table 1024 0\n.text 100 1024\n.rodata 20 2000\n.inputs 999 3000\n\
            .data 3 0\n.bss 4 0\n.debug_info 5 0\nTotal 7\n";
        assert_eq!(sizes(&sections(text)), (120, 7));
        assert_eq!(sections(text)[1], (".text".into(), 100, 1024));
    }
}
