//! Programs of tests: built by one command of cargo, found in what it says, and run side by side.

use crate::run::{Workspace, side_by_side, tail};
use anyhow::{Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// A program of tests that cargo built.
pub struct Program {
    /// As the target is called that it was made of.
    pub name: String,
    pub path: PathBuf,
    /// The folder of its package, where cargo runs it.
    package: PathBuf,
}

/// Runs a `cargo test` that only builds; the programs that it made. The log has this name.
pub fn build(workspace: &Workspace, log: &str, test: &mut Command) -> Result<Vec<Program>> {
    test.args(["--no-run", "--quiet", "--message-format", "json-render-diagnostics"]);
    let text = workspace.logged(log, test)?;
    let programs: Vec<Program> = text.lines().filter_map(of_tests).collect();
    ensure!(!programs.is_empty(), "no program of tests was built:\n{}", tail(&text, 40));
    Ok(programs)
}

/// Reads a message of cargo's, of which a program of tests has all parts.
fn of_tests(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    message["profile"]["test"].as_bool().filter(|is_test| *is_test)?;
    let package = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let name = message["target"]["name"].as_str()?.to_owned();
    Some(Program { name, path: message["executable"].as_str()?.into(), package })
}

impl Program {
    /// Returns the folder of its package and its name: programs of several packages are called `suite`.
    pub fn label(&self) -> String {
        let folder = self.package.file_name().unwrap_or_default();
        format!("{}-{}", folder.display(), self.name)
    }

    /// Runs it as cargo does, in the folder of its package.
    pub fn command(&self, workspace: &Workspace) -> Command {
        let mut command = workspace.command(&self.path, &[]);
        command.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        command
    }
}

/// Runs commands, each with the name of its log, as many at once as there are processors: many tests wait for others. Whether all
/// ended well, and all that they wrote: last what those did that failed.
pub fn run(workspace: &Workspace, commands: Vec<(String, Command)>) -> Result<(bool, String)> {
    let commands: Vec<_> = commands.into_iter().map(|(log, command)| (log, Mutex::new(command))).collect();
    let mut ended = side_by_side(&commands, |_, (log, command)| {
        workspace.tried(log, &mut command.lock().expect("nobody panics with it"))
    })?;
    ended.sort_by_key(|(success, _)| !success);
    let success = ended.iter().all(|(success, _)| *success);
    Ok((success, ended.into_iter().map(|(_, text)| text + "\n").collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_of_tests_are_told_from_others() {
        let line = |test: bool| {
            json!({"reason": "compiler-artifact", "manifest_path": "/a/Cargo.toml", "target": {"name": "n"},
                "profile": {"test": test}, "executable": "/t/n-1"})
            .to_string()
        };
        let program = of_tests(&line(true)).unwrap();
        assert_eq!((&*program.name, program.package.to_str()), ("n", Some("/a")));
        assert_eq!(program.label(), "a-n");
        assert!(of_tests(&line(false)).is_none() && of_tests("warning: x").is_none());
    }

    #[test]
    fn one_that_fails_is_seen_and_stands_last() {
        let target = std::env::temp_dir().join(format!("gambeson-programs-{}", std::process::id()));
        std::fs::create_dir_all(target.join("xtask")).unwrap();
        let workspace = Workspace::at("/".into(), target.clone(), true);
        let shell = |log: &str, script| (log.to_owned(), workspace.command("sh", &["-c", script]));
        let bad = shell("bad", "echo a; exit 101");
        let (success, text) = run(&workspace, vec![bad, shell("good", "echo b")]).unwrap();
        assert_eq!((success, &*text), (false, "b\n\na\n\n"));
        let (success, _) = run(&workspace, vec![shell("good", "true")]).unwrap();
        assert!(success);
        std::fs::remove_dir_all(target).unwrap();
    }
}
