//! Agents in a folder, each in a folder of its own below.

use super::{Folder, Outcome};

/// The passphrase of everybody here.
pub const PASSPHRASE: (&str, &str) = ("GAMBESON_PASSPHRASE", "correct horse");

/// Runs `agent` with the passphrase.
pub fn agent(folder: &Folder, arguments: &str) -> Outcome {
    agent_with(folder, arguments, b"")
}

/// The same, with standard input.
pub fn agent_with(folder: &Folder, arguments: &str, input: &[u8]) -> Outcome {
    folder.run_with(&format!("agent {arguments}"), input, &[PASSPHRASE])
}

/// A folder with the agents alice and bob, who do not know each other.
pub fn two() -> Folder {
    let folder = Folder::new();
    agent(&folder, "init --home alice").exits(0);
    agent(&folder, "init --home bob").exits(0);
    folder
}

/// A folder with the agents alice and bob, who know each other.
pub fn acquainted() -> Folder {
    let folder = two();
    for (one, other) in [("alice", "bob"), ("bob", "alice")] {
        folder.run(&format!("agent card --home {one} -o {one}.card")).exits(0);
        folder.run(&format!("agent card --home {other} --add {one}.card")).exits(0);
    }
    folder
}

/// The DID of an agent.
pub fn did(folder: &Folder, home: &str) -> String {
    folder.run(&format!("agent show --did --home {home}")).exits(0).text().trim_end().to_owned()
}
