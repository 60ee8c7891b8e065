//! Questions to the program `openssl`, whose library most programs of a machine use.

use super::configuration::Existing;
use super::groups;
use crate::child;
use std::path::Path;

/// Runs `openssl` with a configuration: what it wrote, or the last line of its errors.
fn openssl(configuration: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = child::command("openssl").args(arguments).env("OPENSSL_CONF", configuration).output();
    let output = output.map_err(|error| format!("openssl: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("openssl {}: {}", arguments.join(" "), error.lines().next_back().unwrap_or_default()))
}

/// Returns true if there is a program `openssl` that knows providers: not LibreSSL, nor one before 3.0.
pub(super) fn knows_providers(configuration: &Path) -> bool {
    let version = openssl(configuration, &["version"]).unwrap_or_default();
    let number = version.strip_prefix("OpenSSL ").and_then(|rest| rest.split('.').next()?.parse().ok());
    number.is_some_and(|major: u32| major >= 3)
}

/// Asks for the provider, which must be the one of this project.
pub(super) fn loads(configuration: &Path) -> Result<(), String> {
    let list = openssl(configuration, &["list", "-providers"])?;
    let ours = list.split("\n  ").skip_while(|line| line.trim() != "gambeson").skip(1);
    let ours: Vec<&str> = ours.take(3).collect();
    let has = |part: &str| ours.iter().any(|line| line.contains(part));
    match (has("status: active"), has("name: gambeson: ")) {
        (true, true) => Ok(()),
        (true, false) => Err("the module is another provider".into()),
        (false, _) => Err("openssl list -providers does not show it as active".into()),
    }
}

/// Asks for the provider and for a key of it; the version of the library.
pub(super) fn active(configuration: &Path) -> Result<String, String> {
    loads(configuration)?;
    openssl(configuration, &["genpkey", "-algorithm", "MLDSA65-Ed25519-SHA512", "-out", "/dev/null"])?;
    Ok(openssl(configuration, &["version"])?.trim().to_owned())
}

/// Asks whether the library takes a list of groups; if not, says which name of it is wrong.
pub(super) fn takes_groups(configuration: &Path, list: &str) -> Result<(), String> {
    if takes(configuration, list) {
        return Ok(());
    }
    // In newer versions a name may have a mark before it, and slashes separate, too.
    let mut names = list.split([':', '/']).map(|name| name.trim().trim_start_matches(['?', '*', '-']));
    match names.find(|name| !name.is_empty() && !takes(configuration, name)) {
        Some(name) => Err(groups::unknown(name)),
        None => Err(format!("OpenSSL does not take the list of groups {list:?}")),
    }
}

/// Asks the same of all lists of groups that the configuration in a file has for programs that do not choose by themselves.
pub(super) fn takes_groups_of(configuration: &Path, file: &Path, existing: &Existing) -> Result<(), String> {
    existing.groups().try_for_each(|(name, list)| {
        let wrong = |problem| format!("{}: {name} = {list}: {problem}", file.display());
        takes_groups(configuration, list).map_err(wrong)
    })
}

/// A client that could connect to nothing reads its groups before.
fn takes(configuration: &Path, groups: &str) -> bool {
    let mut client = child::command("openssl");
    client.args(["s_client", "-groups", groups, "-unix", "/dev/null/none"]);
    client.env("OPENSSL_CONF", configuration).stdin(std::process::Stdio::null());
    let said = client.output().map(|output| output.stderr).unwrap_or_default();
    !String::from_utf8_lossy(&said).contains("-groups")
}
