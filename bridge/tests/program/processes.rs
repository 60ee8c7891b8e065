//! The processes of a test: `gambeson`, `gambeson-slim-bridge`, and a stock client.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Environment variable that makes the test program be `gambeson`.
pub const GAMBESON: &str = "GAMBESON_BRIDGE_TEST_IS_GAMBESON";
/// Environment variable that names a Python with the wheel `slim-bindings`.
pub const PYTHON: &str = "GAMBESON_SLIM_PYTHON";
/// The passphrase of all agents.
const PASSPHRASE: (&str, &str) = ("GAMBESON_PASSPHRASE", "correct horse");

/// Waits until `so` holds; false if it does not within two minutes.
pub fn soon(mut so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        if so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// Output and exit status of a process.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Panics unless the exit status is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// The JSON objects on standard output, one a line.
    pub fn rows(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A temporary folder, in which the programs run.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program `gambeson`, which finds `gambeson-slim-bridge`.
    pub fn gambeson(&self) -> Command {
        let mut command = self.program(std::env::current_exe().unwrap());
        command.env(GAMBESON, "1").env("GAMBESON_SLIM_BRIDGE", env!("CARGO_BIN_EXE_gambeson-slim-bridge"));
        command
    }

    /// The program `gambeson-slim-bridge`.
    pub fn bridge(&self) -> Command {
        self.program(env!("CARGO_BIN_EXE_gambeson-slim-bridge").into())
    }

    fn program(&self, path: PathBuf) -> Command {
        let mut command = Command::new(path);
        command.current_dir(self.0.path()).env_remove("GAMBESON_HOME").env(PASSPHRASE.0, PASSPHRASE.1);
        command
    }

    /// Makes an agent with keys for channels, and returns its DID.
    pub fn agent(&self, home: &str) -> String {
        self.run(&format!("agent init --channels --home {home}"), b"").exits(0);
        let shown = self.run(&format!("agent show --did --home {home}"), b"").exits(0);
        shown.stdout.trim_end().to_owned()
    }

    /// Runs `gambeson channel …` on these nodes, until it ends.
    pub fn channel(&self, nodes: &str, line: &str) -> Outcome {
        self.channel_with(nodes, line, b"")
    }

    /// The same, with standard input.
    pub fn channel_with(&self, nodes: &str, line: &str, input: &[u8]) -> Outcome {
        self.run(&format!("channel {line} --json --slim={nodes}"), input)
    }

    fn run(&self, line: &str, input: &[u8]) -> Outcome {
        let mut command = self.gambeson();
        command.args(line.split_whitespace()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The program may end without reading it.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        Outcome { code: output.status.code().unwrap(), stdout, stderr }
    }
}

/// `gambeson slim up` with one node; it ends with this value.
pub struct Up {
    child: Child,
    pub endpoints: String,
}

impl Up {
    pub fn start(folder: &Folder) -> Self {
        let mut command = folder.gambeson();
        command.args("slim up --json --listen 127.0.0.1:0 --data . --engine memory".split_whitespace());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let reports = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut up = Self { child, endpoints: String::new() };
        for report in reports {
            let report: Value = serde_json::from_str(&report.unwrap()).unwrap();
            if let Some(join) = report["join"].as_str() {
                up.endpoints = join.strip_prefix("export GAMBESON_SLIM=").unwrap().to_owned();
                return up;
            }
        }
        panic!("slim up ended");
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A stock client of SLIM, which reads calls and writes answers as lines of JSON.
pub struct Stock {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Stock {
    pub fn start(node: &str, name: &str, secret: &str) -> Self {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stock/agent.py");
        let mut command = Command::new(std::env::var_os(PYTHON).unwrap());
        command.env("RUST_LOG", "error").args([program, node, name, secret]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut stock = Self { child, answers };
        assert!(stock.answer()["ready"].is_string());
        stock
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub fn call(&mut self, call: &Value) -> Value {
        writeln!(self.child.stdin.as_mut().unwrap(), "{call}").unwrap();
        let answer = self.answer();
        assert!(answer.get("done").is_some(), "{call}: {answer}");
        answer["done"].clone()
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the dashboard on a terminal of its own. The returned function waits until it shows the text `until`, presses `q`, and returns
/// what was drawn.
pub fn dashboard(folder: &Folder, line: &str, until: &str) -> impl FnOnce() -> String + use<> {
    let mut screen = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    tcsetwinsize(&screen, Winsize { ws_row: 40, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
    let terminal = File::options().read(true).write(true).open(name).unwrap();
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(std::env::current_exe().unwrap()).args(line.split_whitespace());
    command.env(PASSPHRASE.0, PASSPHRASE.1).env("TERM", "xterm").env(GAMBESON, "1");
    command.current_dir(folder.path(""));
    command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    drop(command);
    let (until, mut keyboard) = (until.to_owned(), screen.try_clone().unwrap());
    let (told, drawn) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut some = [0; 4_096];
        // Linux tells of a terminal that is closed by an error.
        while let Ok(len @ 1..) = screen.read(&mut some) {
            let _ = told.send(String::from_utf8_lossy(&some[..len]).into_owned());
        }
    });
    move || {
        let mut shown = String::new();
        while !shown.contains(&until) {
            let more = drawn.recv_timeout(Duration::from_secs(60));
            shown += &more.unwrap_or_else(|error| panic!("{error}: {shown}"));
        }
        keyboard.write_all(b"q").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{shown}");
        shown
    }
}
