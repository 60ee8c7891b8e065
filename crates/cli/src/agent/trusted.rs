//! Checks that nobody but the user can change the files in an agent's folder or replace the folder, as StrictModes of OpenSSH does.

use crate::error::Error;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

const STICKY: u32 = 0o1000;
/// The most links on the way to a folder, as Linux has it.
const MAX_LINKS: usize = 40;

/// Refuses a folder of an agent if a user other than root and the caller can change what is in it, at any depth, or can replace it: because of
/// a folder above it or a link on the way. A folder that is not there yet is made in the first one above it that is.
pub(super) fn refuse_writable_by_others(folder: &Path) -> Result<(), Error> {
    let folder = std::path::absolute(folder).map_err(|e| Error::io(folder, &e))?;
    match way_to(&folder)? {
        Some(folder) => refuse_contents(&folder, true, &mut BTreeSet::new()),
        None => Ok(()),
    }
}

/// Checks every folder and link on the way to a path. Returns the path without links, if there is something.
fn way_to(path: &Path) -> Result<Option<PathBuf>, Error> {
    let mut names = names_of(path);
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    while let Some(name) = names.pop_front() {
        refuse_above(&at)?;
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&name);
        let Ok(metadata) = fs::symlink_metadata(&next) else { return Ok(None) };
        if !metadata.is_symlink() {
            at = next;
            continue;
        }
        refuse_owner(&next, &metadata, "is a symbolic link of another user, who can redirect it")?;
        links += 1;
        if links > MAX_LINKS {
            return Err(Error::outside(format!("{}: too many symbolic links", path.display())));
        }
        let target = fs::read_link(&next).map_err(|e| Error::io(&next, &e))?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        for name in names_of(&target).into_iter().rev() {
            names.push_front(name);
        }
    }
    Ok(Some(at))
}

fn names_of(path: &Path) -> VecDeque<OsString> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.map(|part| part.as_os_str().to_owned()).collect()
}

/// Refuses a folder above, in which others can replace what is not theirs.
fn refuse_above(folder: &Path) -> Result<(), Error> {
    let metadata = fs::metadata(folder).map_err(|e| Error::io(folder, &e))?;
    refuse_owner(folder, &metadata, "is a folder of another user, who can replace what is in it")?;
    let by_others =
        metadata.mode() & 0o002 != 0 || metadata.mode() & 0o020 != 0 && !is_volume_group(metadata.gid());
    match by_others && metadata.mode() & STICKY == 0 {
        true => Err(refused(
            folder,
            "others may write into it, so what is there may not be this agent's; mend that with chmod go-w, or chmod +t where others \
             must write",
        )),
        false => Ok(()),
    }
}

/// Refuses what is in an agent's folder, at any depth, if others may write it or it is theirs; `reached`: if others may enter the folders above.
fn refuse_contents(path: &Path, reached: bool, seen: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    if !seen.insert(path.to_path_buf()) {
        return Ok(());
    }
    if metadata.mode() & 0o022 != 0 && (reached || metadata.is_dir()) {
        return Err(refused(
            path,
            "others may write into it, so what is there may not be this agent's; mend that with chmod go-w",
        ));
    }
    refuse_owner(path, &metadata, "it is another user's, who may write into it; mend that with chown")?;
    if !metadata.is_dir() {
        return Ok(());
    }
    let reached = reached && metadata.mode() & 0o011 != 0;
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            refuse_contents(&entry.path(), reached, seen)?;
        } else if let Some(target) = way_to(&entry.path())? {
            // Others reach the target on its own way.
            refuse_contents(&target, true, seen)?;
        }
    }
    Ok(())
}

/// Refuses what is neither root's nor the caller's.
fn refuse_owner(path: &Path, metadata: &Metadata, what: &str) -> Result<(), Error> {
    let owner = metadata.uid();
    match owner == 0 || owner == rustix::process::geteuid().as_raw() || is_unmapped(owner) {
        true => Ok(()),
        false => Err(refused(path, what)),
    }
}

fn refused(path: &Path, what: &str) -> Error {
    Error::outside(format!("{}: {what}", path.display())).because("permissions")
}

/// Returns true in a namespace of users (a container without root) for the number that stands for users without one there, as root of
/// the machine is.
fn is_unmapped(owner: u32) -> bool {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let map = read("/proc/self/uid_map");
    let all = map.split_whitespace().eq(["0", "0", "4294967295"]);
    !map.is_empty() && !all && read("/proc/sys/fs/overflowuid").trim().parse() == Ok(owner)
}

/// Returns true for a group of the caller without a name, as orchestrators of containers give it to the processes of one volume.
fn is_volume_group(group: u32) -> bool {
    let gid = nix::unistd::Gid::from_raw(group);
    let of_caller = nix::unistd::getegid() == gid
        || rustix::process::getgroups().is_ok_and(|groups| groups.iter().any(|it| it.as_raw() == group));
    of_caller && matches!(nix::unistd::Group::from_gid(gid), Ok(None))
}
