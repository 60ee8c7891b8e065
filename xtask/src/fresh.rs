//! `cargo xtask fresh`: the README's two commands in a minimal Debian, in a clone of HEAD.
//!
//! The root has `ca-certificates`, `gcc`, `libc6-dev` and `mount`, which every installed Debian has. The Rust toolchain and cargo's home are bound into it, and the configuration of
//! apt, pip, npm, Go and Maven is copied. All mounts are made in a mount namespace, which ends with the command, however that ends.

use crate::run::{Workspace, cargo_home, installed, is_root, tail};
use anyhow::{Context, Result, ensure};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const PACKAGES: &str = "ca-certificates,gcc,libc6-dev,mount";
/// The folder of the clone in the root.
const CLONE: &str = "/gambeson";
/// The folder of the clone with the planted build script.
const PLANTED: &str = "/planted";
/// A build script that needs cmake.
const BUILD_SCRIPT: &str = r#"//! Planted.
fn main() {
    assert!(std::process::Command::new("cmake").status().is_ok(), "planted: {} does not start", "cmake");
}
"#;
/// The words with which it fails. They do not stand in it, because the compiler prints lines that it refuses.
const NO_CMAKE: &str = "planted: cmake does not start";
/// The most that a command may take.
const LONGEST: Duration = Duration::from_secs(3 * 60 * 60);

/// Files and folders of configuration, in `/` and in the home folder.
const OF_THE_SYSTEM: [&str; 9] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/ssl",
    "/usr/local/share/ca-certificates",
    "/etc/pip.conf",
    "/etc/npmrc",
    "/usr/local/etc/npmrc",
    "/etc/gitconfig",
    "/etc/maven",
];
const OF_THE_USER: [&str; 8] = [
    ".gitconfig",
    ".pip",
    ".config/pip",
    ".npmrc",
    ".config/go/env",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".mavenrc",
];

/// Beginnings and ends of the names of variables that configure downloads.
const BEGINNINGS: [&str; 15] = [
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTR",
    "CARGO_SOURCE_",
    "RUSTUP_",
    "PIP_",
    "NPM_CONFIG_",
    "npm_config_",
    "NODE_EXTRA_",
    "GOPROXY",
    "GONO",
    "GOSUMDB",
    "GOFLAGS",
    "MAVEN_",
    "SSL_CERT_",
];
const ENDS: [&str; 3] = ["_proxy", "_PROXY", "_CA_BUNDLE"];

/// Returns what this machine lacks.
pub fn missing() -> Option<&'static str> {
    let program =
        ["mmdebstrap", "git", "unshare", "pivot_root"].into_iter().find(|program| !installed(program));
    program.or((!is_root()).then_some("the right to change the root (run it as root)"))
}

/// Runs both commands, or the demonstration alone. Returns a sentence with the minutes of each.
pub fn run(workspace: &Workspace, demo: bool) -> Result<String> {
    let readme = fs::read_to_string(workspace.root.join("README.md"))?;
    let [first, second] = commands(&readme)?;
    let machine = Machine::make(workspace)?;
    machine.clone_into(CLONE)?;
    machine.canary(&first)?;
    let mut said = vec![machine.timed("fresh-1", &first, &[])?];
    if !demo {
        said.push(machine.timed("fresh-2", &second, &[("CI", "true")])?);
    }
    Ok(format!("{}; a planted build script that calls cmake failed", said.join("; ")))
}

/// Returns the README's commands, without their comments.
fn commands(readme: &str) -> Result<[String; 2]> {
    let section = readme.split_once("\n## Two commands\n").map(|(_, rest)| rest);
    let block = section.and_then(|rest| rest.split_once("```sh\n")?.1.split_once("```"));
    let (block, _) = block.context("README.md: no block of commands below \"Two commands\"")?;
    let commands = block.lines().map(|line| line.split(" #").next().unwrap_or_default().trim().to_owned());
    let commands: Vec<String> = commands.filter(|command| !command.is_empty()).collect();
    commands.try_into().map_err(|commands| anyhow::anyhow!("README.md: not two commands: {commands:?}"))
}

/// A minimal Debian.
struct Machine<'a> {
    workspace: &'a Workspace,
    root: PathBuf,
    /// The user's home folder, which has the same path in the root.
    home: PathBuf,
    /// Folders that are bound into the root.
    bound: Vec<PathBuf>,
    variables: Vec<(String, String)>,
}

impl<'a> Machine<'a> {
    fn make(workspace: &'a Workspace) -> Result<Self> {
        let root = workspace.target.join("fresh");
        if root.exists() {
            fs::remove_dir_all(&root).with_context(|| root.display().to_string())?;
        }
        let release = fs::read_to_string("/etc/os-release")?;
        let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
        let codename = codename.context("/etc/os-release names no release of Debian")?.trim_matches('"');
        let mut make = workspace.command("mmdebstrap", &["--variant=apt", "--include", PACKAGES]);
        for options in files(&["/etc/apt/apt.conf".as_ref(), "/etc/apt/apt.conf.d".as_ref()]) {
            if fs::read_to_string(&options)?.contains("Acquire") {
                make.arg(format!("--aptopt={}", options.display()));
            }
        }
        make.arg(codename).arg(&root);
        // This machine's own sources of that release, if it has any.
        for sources in files(&["/etc/apt/sources.list".as_ref(), "/etc/apt/sources.list.d".as_ref()]) {
            if fs::read_to_string(&sources)?.split_whitespace().any(|word| word == codename) {
                make.arg(sources);
            }
        }
        workspace.logged("fresh-root", &mut make)?;
        let home = PathBuf::from(env::var_os("HOME").context("HOME is not set")?);
        let cargo = cargo_home().context("cargo has no home")?;
        let rustup = env::var_os("RUSTUP_HOME").map_or_else(|| home.join(".rustup"), PathBuf::from);
        // Those of this environment that configure downloads.
        let usable = |(name, value): &(String, String)| configures(name) && !value.contains('\'');
        let mut variables: Vec<(String, String)> = env::vars().filter(usable).collect();
        let mut bound: Vec<PathBuf> = vec![cargo.clone(), rustup.clone()];
        // A folder that a variable names.
        bound.extend(variables.iter().map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_dir()));
        bound.retain(|path| {
            path.is_absolute() && !path.starts_with("/etc") && !path.starts_with("/usr/share")
        });
        let path =
            format!("{}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", cargo.display());
        variables.extend([
            ("CARGO_HOME".into(), cargo.display().to_string()),
            ("RUSTUP_HOME".into(), rustup.display().to_string()),
            ("HOME".into(), home.display().to_string()),
            ("PATH".into(), path),
            ("LANG".into(), "C.UTF-8".into()),
        ]);
        let machine = Self { workspace, root, home, bound, variables };
        machine.configure()?;
        Ok(machine)
    }

    /// Copies the configuration, and makes the folders that others are bound to.
    fn configure(&self) -> Result<()> {
        let of_the_user = OF_THE_USER.map(|path| self.home.join(path));
        let named = self.variables.iter().map(|(_, value)| PathBuf::from(value));
        let named = named.filter(|path| path.is_absolute() && path.is_file());
        let all = OF_THE_SYSTEM.map(PathBuf::from).into_iter().chain(of_the_user).chain(named);
        for path in all.filter(|path| path.exists()) {
            let to = self.inside(&path);
            fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            let mut copy =
                self.workspace.command("cp", &["--archive", "--dereference", "--no-target-directory"]);
            // Links into folders that the root does not have are left out.
            self.workspace.tried("fresh-copy", copy.arg(&path).arg(&to))?;
        }
        for folder in &self.bound {
            fs::create_dir_all(self.inside(folder))?;
        }
        Ok(())
    }

    /// Returns the path, outside, of a path in the root.
    fn inside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Clones HEAD.
    fn clone_into(&self, folder: &str) -> Result<()> {
        let to = self.inside(folder.as_ref());
        let mut clone = self.workspace.command("git", &["clone", "--quiet", "--no-hardlinks"]);
        self.workspace.logged("fresh-clone", clone.arg(&self.workspace.root).arg(&to))?;
        ensure!(!to.with_file_name("shared").exists(), "the clone has vectors beside it");
        Ok(())
    }

    /// Runs a command in a clone, as a user types it. Returns whether it ended well, and its output.
    fn tried(&self, log: &str, folder: &str, command: &str, more: &[(&str, &str)]) -> Result<(bool, String)> {
        let root = self.root.display();
        let mut script = format!(
            "set -e\nmount --make-rprivate /\nmount --bind '{root}' '{root}'\nmount -t proc proc '{root}/proc'\n\
             mount --rbind /dev '{root}/dev'\nmount --rbind /sys '{root}/sys'\n"
        );
        for folder in &self.bound {
            script += &format!("mount --bind '{}' '{}'\n", folder.display(), self.inside(folder).display());
        }
        let variables = self.variables.iter().map(|(name, value)| (&**name, &**value));
        let variables: Vec<String> =
            variables.chain(more.iter().copied()).map(|(name, value)| format!("'{name}={value}'")).collect();
        // Not by `chroot` alone: Linux makes no user namespaces for a process whose root is not that of its mounts.
        script += &format!(
            "mkdir -p '{root}/.old'\ncd '{root}'\npivot_root . .old\n\
             exec chroot . /usr/bin/env --ignore-environment {} /bin/sh -c 'umount -l /.old && cd {folder} && {command}'\n",
            variables.join(" ")
        );
        // The namespaces end with their first process, and what was mounted and started in them with them.
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", &script]);
        self.workspace.tried_within(LONGEST, log, unshare.current_dir("/"))
    }

    /// Runs a command in the clone. Returns its minutes as a sentence.
    fn timed(&self, log: &str, command: &str, more: &[(&str, &str)]) -> Result<String> {
        let begun = Instant::now();
        let (success, text) = self.tried(log, CLONE, command, more)?;
        let minutes = begun.elapsed().as_secs_f64() / 60.0;
        ensure!(success, "{command}: failed after {minutes:.1} min:\n{}", tail(&text, 60));
        Ok(format!("{command}: {minutes:.1} min"))
    }

    /// A build script that calls cmake must fail: the root has none.
    fn canary(&self, command: &str) -> Result<()> {
        self.clone_into(PLANTED)?;
        fs::write(self.inside(PLANTED.as_ref()).join("xtask/build.rs"), BUILD_SCRIPT)?;
        let (success, text) = self.tried("fresh-canary", PLANTED, command, &[])?;
        let seen = !success && text.contains(NO_CMAKE);
        ensure!(seen, "canary: a planted build script that calls cmake did not fail:\n{}", tail(&text, 40));
        Ok(())
    }
}

/// Returns the files among paths, and those in the folders among them, in order.
fn files(paths: &[&Path]) -> Vec<PathBuf> {
    let below = |path: &&Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.chain([path.to_path_buf()]).filter(|path| path.is_file()).collect::<Vec<_>>()
    };
    let mut files: Vec<PathBuf> = paths.iter().flat_map(below).collect();
    files.sort();
    files
}

/// Returns true if a variable of this name configures downloads.
fn configures(name: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_two_commands_below_their_heading() {
        let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
        assert_eq!(commands(&readme).unwrap(), ["cargo xtask demo", "cargo xtask test"]);
        assert!(commands("\n## Two commands\n\n```sh\none # a\n```\n").is_err());
        assert!(commands("```sh\none\ntwo\n```\n").is_err());
    }

    #[test]
    fn the_planted_script_does_not_hold_the_words_with_which_it_fails() {
        assert!(!BUILD_SCRIPT.contains(NO_CMAKE) && BUILD_SCRIPT.contains("planted: "));
    }

    #[test]
    fn variables_of_downloads_are_told_from_others() {
        for name in
            ["PIP_INDEX_URL", "https_proxy", "HTTPS_PROXY", "GOPROXY", "SSL_CERT_FILE", "CARGO_HTTP_CAINFO"]
        {
            assert!(configures(name), "{name}");
        }
        for name in ["RUSTC_WRAPPER", "CARGO_TARGET_DIR", "RUSTFLAGS", "CI", "PATH", "GOPATH"] {
            assert!(!configures(name), "{name}");
        }
    }
}
