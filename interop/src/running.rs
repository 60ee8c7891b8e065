//! Programs that run until the test ends, and what they say.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::tools::Result;

/// A program of which all three streams are ours. It is stopped with the test.
pub(crate) struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Running {
    /// Starts it.
    pub(crate) fn start(program: &mut Command) -> Result<Self> {
        let name = program.get_program().to_string_lossy().into_owned();
        let piped = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(|error| format!("{name}: {error}"))?;
        let output = BufReader::new(child.stdout.take().ok_or("it was piped")?);
        Ok(Self { child, output })
    }

    /// What it reads; once.
    pub(crate) fn input(&mut self) -> Result<ChildStdin> {
        Ok(self.child.stdin.take().ok_or("it was piped")?)
    }

    /// The next line, with its end; empty when there is no more.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }

    /// The next line, which is JSON.
    pub(crate) fn json(&mut self) -> Result<serde_json::Value> {
        let line = self.line()?;
        Ok(serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?)
    }

    /// Stops it, and tells what it said of errors.
    pub(crate) fn end(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut said = String::new();
        if let Some(errors) = &mut self.child.stderr {
            let _ = errors.read_to_string(&mut said);
        }
        said
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
