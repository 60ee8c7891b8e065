//! The real program, run in a folder of its own.

#![allow(dead_code, clippy::unwrap_used)]

pub mod agents;
pub mod proxying;
pub mod reports;
pub mod serving;

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder in which the program runs; it is gone when the test ends.
pub struct Folder(tempfile::TempDir);

/// What the program left behind.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Outcome {
    /// Standard output, which is text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// The one JSON object on standard output.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// The JSON objects on standard output, one a line.
    pub fn rows(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The program must have ended with `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            code,
            "stdout: {}\nstderr: {}",
            String::from_utf8_lossy(&self.stdout),
            self.stderr
        );
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// The program must have told of `what` on standard error.
    #[track_caller]
    pub fn tells(self, what: &str) -> Self {
        assert!(self.stderr.contains(what), "no {what:?} in {}", self.stderr);
        self
    }
}

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        self.names_in(".")
    }

    /// The names in a folder below, sorted.
    pub fn names_in(&self, below: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(below))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Changes one bit of the byte in the middle of a file.
    pub fn tamper(&self, name: &str) {
        let mut bytes = self.read(name);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        self.write(name, bytes);
    }

    #[cfg(unix)]
    pub fn mode(&self, name: &str) -> u32 {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    pub fn command(&self) -> Command {
        let mut command = program();
        command.current_dir(self.0.path());
        command
    }

    /// Runs the program with the words of `arguments` and nothing on standard input.
    pub fn run(&self, arguments: &str) -> Outcome {
        self.run_with(arguments, b"", &[])
    }

    /// The same, with standard input and more of the environment.
    pub fn run_with(&self, arguments: &str, input: &[u8], environment: &[(&str, &str)]) -> Outcome {
        let mut command = self.command();
        command.args(arguments.split_whitespace()).envs(environment.iter().copied());
        finish(command, input)
    }

    /// Runs the program with arguments that may hold spaces or be empty.
    pub fn run_arguments(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.command();
        command.args(arguments);
        finish(command, b"")
    }
}

/// The program, without the variables of its environment that tests set.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gambeson"));
    for variable in ["GAMBESON_PASSPHRASE", "GAMBESON_HOME", "GAMBESON_SLIM_BRIDGE"] {
        command.env_remove(variable);
    }
    command
}

/// Runs `command` with `input` on standard input until it ends.
pub fn finish(mut command: Command, input: &[u8]) -> Outcome {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A program that does not read all of it is the test's business, not this thread's.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    reports::check(&command, &output.stdout, &stderr);
    Outcome {
        code: output.status.code().expect("the program ended by itself"),
        stdout: output.stdout,
        stderr,
    }
}

/// `len` bytes without a pattern that anything could compress or confuse.
pub fn noise(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    gambeson::sha3::Shake128::digest_into(b"noise", &mut bytes);
    bytes
}

/// Copies a folder and all that is in it.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// Whether `path` is there at all, also as a dangling link.
pub fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether a test that cannot run, or not whole, has failed.
pub fn must_run() -> bool {
    std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1")
}

/// Whether a program is on this machine; where all must run, it has to be.
pub fn has_program(program: &str, arguments: &[&str]) -> bool {
    let there =
        Command::new(program).args(arguments).stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    assert!(there || !must_run(), "{program} is missing");
    if !there {
        println!("skipped: {program} is not on this machine");
    }
    there
}
