//! Child processes.

use std::ffi::OsStr;
use std::process::Command;

/// Returns a command for a foreign program, without the secrets of the environment.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    gambeson_slim::stock::command(program)
}

/// Returns a command for a program of gambeson, with the whole environment.
pub(crate) fn own(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Adds all files below a folder to `found`.
#[cfg(test)]
pub(crate) fn sources(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sources;
    use std::fs;
    use std::path::Path;

    #[test]
    fn programs_are_started_here_alone() {
        let mut found = Vec::new();
        for folder in ["src", "../slim/src"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
        }
        assert!(found.len() > 100, "{}", found.len());
        let allowed = ["cli/src/child.rs", "slim/src/stock.rs", "slim/src/engine/file/tests.rs"];
        for path in found.iter().filter(|path| !allowed.iter().any(|allowed| path.ends_with(allowed))) {
            let text = fs::read_to_string(path).unwrap_or_default();
            assert!(!text.contains("Command::new("), "{}: use crate::child", path.display());
        }
    }

    #[test]
    fn the_secrets_of_the_environment_are_known() {
        let secrets =
            [crate::passphrase::VARIABLE, crate::passphrase::NEW_VARIABLE, crate::args::slim::NODE_AUTH];
        assert_eq!(gambeson_slim::stock::SECRET_VARIABLES, secrets);
    }
}
