//! `docs/full-runs.md`: the last green run of each group of `cargo xtask test --full`.
//!
//! A group is stale when its inputs, the files under version control that its steps declare, are not those of its row.

use crate::report::{Counts, date};
use crate::run::Workspace;
use anyhow::{Context, Result, anyhow, bail, ensure};
use std::fs;
use std::process::Stdio;
use std::thread;

pub const FILE: &str = "docs/full-runs.md";
/// The pathspec that leaves the file out: its rows are no input.
const NOT_THE_FILE: &str = ":(exclude)docs/full-runs.md";

const COLUMNS: [&str; 9] =
    ["group", "commit", "date", "minutes", "passed", "skipped", "open", "machine", "inputs"];

const HEAD: &str = "\
# Full runs

`cargo xtask test --full` writes a row when every step of a group passed, and replaces the group's row before it. Run one group by
`cargo xtask test --group NAME`; `cargo xtask test --list` has the steps of each. *Passed* and *skipped* count checks, *open* the rows of
benchmarks that [open-promises.toml](open-promises.toml) lists. *Inputs* is the hash of the files that the group depends on;
`cargo xtask test` names the groups whose inputs have changed since.
";

/// A row, a cell for each column.
type Row = [String; COLUMNS.len()];

/// Reads the rows of the table in a text.
fn rows(text: &str) -> Result<Vec<Row>> {
    let lines = text.lines().filter(|line| line.starts_with("| ")).skip(2);
    let row = |line: &str| {
        let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        Row::try_from(cells.collect::<Vec<_>>())
            .map_err(|cells| anyhow!("{FILE}: {} cells, expected {}: {line}", cells.len(), COLUMNS.len()))
    };
    lines.map(row).collect()
}

/// Writes the file with these rows.
fn text(rows: &[Row]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = COLUMNS.map(str::to_owned);
    let rule = COLUMNS.map(|column| match column {
        "minutes" | "passed" | "skipped" | "open" => "---:".to_owned(),
        _ => "---".to_owned(),
    });
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{HEAD}\n{}{}{rows}", line(&head), line(&rule))
}

/// Puts a row in the place of its group's, or at the end.
fn replaced(mut rows: Vec<Row>, row: Row) -> Vec<Row> {
    match rows.iter_mut().find(|old| old[0] == row[0]) {
        Some(old) => *old = row,
        None => rows.push(row),
    }
    rows
}

fn read(workspace: &Workspace) -> Result<Vec<Row>> {
    let path = workspace.root.join(FILE);
    if path.exists() { rows(&fs::read_to_string(path)?) } else { Ok(Vec::new()) }
}

/// Returns the hash of what git's index has of these paths.
fn hash(workspace: &Workspace, inputs: &[&str]) -> Result<String> {
    let mut list = workspace.command("git", &["ls-files", "--stage", "--"]);
    let mut list = list.args(inputs).arg(NOT_THE_FILE).stdout(Stdio::piped()).spawn()?;
    let listed = list.stdout.take().context("a pipe was asked for")?;
    let mut hash = workspace.command("git", &["hash-object", "--stdin"]);
    let output = hash.stdin(listed).output()?;
    ensure!(list.wait()?.success() && output.status.success(), "git does not list the inputs");
    Ok(String::from_utf8(output.stdout)?.trim().chars().take(16).collect())
}

/// Returns the changes of these paths that are not committed, as git prints them.
fn uncommitted(workspace: &Workspace, inputs: &[&str]) -> Result<String> {
    let status = ["status", "--porcelain", "--"];
    workspace.git(&[&status[..], inputs, &[NOT_THE_FILE]].concat())
}

/// Returns whether the group's row is of its inputs as they are now.
pub fn is_fresh(workspace: &Workspace, group: &str, inputs: &[&str]) -> Result<bool> {
    let rows = read(workspace)?;
    let Some([.., of_row]) = rows.iter().find(|row| row[0] == group) else { return Ok(false) };
    Ok(*of_row == hash(workspace, inputs)? && uncommitted(workspace, inputs)?.is_empty())
}

/// The state of a group's inputs when its run began.
pub struct Begun {
    commit: String,
    inputs: String,
}

impl Begun {
    pub fn now(workspace: &Workspace, inputs: &[&str]) -> Result<Self> {
        let commit = workspace.git(&["rev-parse", "--short=12", "HEAD"])?;
        Ok(Self { commit, inputs: hash(workspace, inputs)? })
    }

    /// Writes the row of a group that ended green after so many minutes. Refuses if the tree has changes that are not committed, or if the
    /// inputs changed in the meantime.
    pub fn record(
        self,
        workspace: &Workspace,
        group: &str,
        inputs: &[&str],
        minutes: f64,
        counts: Counts,
    ) -> Result<()> {
        let changed = uncommitted(workspace, &["."])?;
        ensure!(changed.is_empty(), "no row for {group}: not committed are\n{changed}");
        let is_same = hash(workspace, inputs)? == self.inputs;
        ensure!(is_same, "no row for {group}: its inputs changed during the run");
        let Counts { passed, failed, skipped, open } = counts;
        ensure!(failed == 0 && passed > 0, "no row for {group}: {passed} passed, {failed} failed");
        let minutes = format!("{minutes:.1}");
        let [passed, skipped, open] = [passed, skipped, open].map(|count| count.to_string());
        let date = date("+%F");
        let row =
            [group.to_owned(), self.commit, date, minutes, passed, skipped, open, machine(), self.inputs];
        let rows = replaced(read(workspace)?, row);
        fs::write(workspace.root.join(FILE), text(&rows)).context(FILE)
    }
}

/// Returns the processor's model and how many there are.
pub fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processors = thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {processors} processors", model.map_or("unknown", |(_, model)| model.trim()))
}

/// Fails if a row is of no group: its group was renamed.
pub fn check(workspace: &Workspace, groups: &[&str]) -> Result<()> {
    match read(workspace)?.iter().find(|row| !groups.contains(&&*row[0])) {
        Some([group, ..]) => bail!("{FILE}: there is no group {group}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const GREEN: Counts = Counts { passed: 5, failed: 0, skipped: 2, open: 1 };
    const INPUTS: &[&str] = &["crates/core", "*.toml"];

    /// A repository with one commit.
    struct Repository(Workspace);

    impl Repository {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("gambeson-full-runs-{name}-{}", std::process::id()));
            fs::create_dir_all(root.join("crates/core")).unwrap();
            fs::create_dir_all(root.join("docs")).unwrap();
            let repository = Self(Workspace::at(root.clone(), PathBuf::from("/nowhere"), false));
            repository.git(&["init", "--quiet"]);
            for file in ["crates/core/lib.rs", "Cargo.toml", "README.md"] {
                fs::write(root.join(file), "one\n").unwrap();
            }
            repository.commit();
            repository
        }

        fn git(&self, arguments: &[&str]) {
            let identity =
                ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"];
            self.0.git(&[&identity, arguments].concat()).unwrap();
        }

        fn commit(&self) {
            self.git(&["add", "--all"]);
            self.git(&["commit", "--quiet", "--message", "a"]);
        }

        fn change(&self, file: &str) {
            fs::write(self.0.root.join(file), "two\n").unwrap();
        }

        fn record(&self, counts: Counts) -> Result<()> {
            Begun::now(&self.0, INPUTS)?.record(&self.0, "a group", INPUTS, 1.25, counts)
        }

        fn is_fresh(&self) -> bool {
            is_fresh(&self.0, "a group", INPUTS).unwrap()
        }
    }

    impl Drop for Repository {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0.root);
        }
    }

    #[test]
    fn a_changed_input_makes_a_group_stale_and_another_file_does_not() {
        let repository = Repository::new("stale");
        assert!(!repository.is_fresh(), "it never ran");
        repository.record(GREEN).unwrap();
        assert!(repository.is_fresh());
        // The row is committed after the run, with other files.
        repository.change("README.md");
        repository.commit();
        assert!(repository.is_fresh());
        // The canary.
        repository.change("crates/core/lib.rs");
        assert!(!repository.is_fresh(), "a change that is not committed");
        repository.commit();
        assert!(!repository.is_fresh(), "a change that is committed");
        repository.record(GREEN).unwrap();
        assert!(repository.is_fresh());
        repository.change("crates/core/new.rs");
        assert!(!repository.is_fresh(), "a new file");
    }

    #[test]
    fn a_row_is_refused_where_it_would_be_of_no_commit_or_of_no_green_run() {
        let repository = Repository::new("refused");
        let begun = Begun::now(&repository.0, INPUTS).unwrap();
        repository.change("Cargo.toml");
        assert!(repository.record(GREEN).is_err_and(|error| error.to_string().contains("Cargo.toml")));
        repository.commit();
        let recorded = begun.record(&repository.0, "a group", INPUTS, 1.0, GREEN);
        assert!(recorded.is_err(), "changed during the run");
        assert!(repository.record(Counts { failed: 1, ..GREEN }).is_err());
        assert!(repository.record(Counts { passed: 0, ..GREEN }).is_err());
        repository.record(GREEN).unwrap();
        repository.record(GREEN).expect("the file is no change");
        assert!(check(&repository.0, &["a group"]).is_ok() && check(&repository.0, &["another"]).is_err());
    }

    #[test]
    fn a_group_has_one_row_in_its_place() {
        let row = |group: &str, commit: &str| {
            COLUMNS.map(|column| match column {
                "group" => group.to_owned(),
                "commit" => commit.to_owned(),
                column => format!("a {column}"),
            })
        };
        let two = replaced(replaced(Vec::new(), row("a", "1")), row("b", "1"));
        let again = replaced(two, row("a", "2"));
        assert_eq!(again, [row("a", "2"), row("b", "1")]);
        assert_eq!(rows(&text(&again)).unwrap(), again);
        assert!(rows(&format!("{}| a | b |\n", text(&again))).is_err());
    }
}
