//! Running other programs: the folders of the project, and the installation of tools.

use crate::checks;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use serde_json::Value;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The project's folders, and the mode of this run.
#[derive(Clone)]
pub struct Workspace {
    /// The folder with the root `Cargo.toml`.
    pub root: PathBuf,
    /// The target folder of builds for this machine.
    pub target: PathBuf,
    /// Whether a missing tool is a failure (`CI=true`).
    pub ci: bool,
    /// Processor time of the commands that ran through this value, in ticks of Linux.
    ticks: Arc<AtomicU64>,
}

/// Makes a build one under clippy, if that is installed: its driver compiles the packages of the workspace, so that they are compiled once to be
/// linted and to be run. A warning fails the build.
pub fn lint(build: &mut Command) {
    if installed(CLIPPY) {
        // As `cargo clippy -- -D warnings` sets them; the driver takes the words in capitals for the blank between its arguments.
        build.env("RUSTC_WORKSPACE_WRAPPER", CLIPPY);
        build.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    }
}

/// Clippy's compiler.
pub const CLIPPY: &str = "clippy-driver";

impl Workspace {
    pub fn at(root: PathBuf, target: PathBuf, ci: bool) -> Self {
        Self { root, target, ci, ticks: Arc::default() }
    }

    /// The same workspace, with a count of processor time of its own.
    pub fn metered(&self) -> Self {
        Self { ticks: Arc::default(), ..self.clone() }
    }

    /// Minutes of the processors that the commands took that ran through this value.
    pub fn processor_minutes(&self) -> f64 {
        minutes(self.ticks.load(Ordering::Relaxed))
    }

    pub fn find() -> Result<Self> {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?.to_owned();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let target = if target.is_absolute() { target } else { root.join(target) };
        fs::create_dir_all(target.join("xtask"))?;
        Ok(Self::at(root, target, env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1")))
    }

    /// The test vectors shared by all projects of the team, where they lie beside this checkout.
    pub fn shared_vectors(&self) -> Option<PathBuf> {
        let path = self.root.parent()?.join("shared/vectors");
        path.is_dir().then_some(path)
    }

    /// A cargo command in this workspace, with the flags that a user's own command has: both share what they build.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        self.command("cargo", arguments)
    }

    /// A cargo command that builds under clippy.
    pub fn linted(&self, arguments: &[&str]) -> Command {
        let mut cargo = self.cargo(arguments);
        lint(&mut cargo);
        cargo
    }

    /// A target folder for builds that share nothing with the others, so that they do not wait for each other's lock.
    pub fn apart(&self, name: &str) -> PathBuf {
        self.target.join("apart").join(name)
    }

    /// Makes a build one of artifacts that others get: they name no folder of this machine. Its target folder is `apart(FOR_OTHERS)`.
    pub fn for_others<'a>(&self, build: &'a mut Command) -> &'a mut Command {
        build.env("RUSTFLAGS", self.without_paths()).env("CARGO_TARGET_DIR", self.apart(FOR_OTHERS))
    }

    /// Builds `xtask-tools` and runs one of its commands.
    pub fn tool(&self, name: &str, arguments: &[&OsStr]) -> Result<String> {
        let mut build = checks::everything(self, &["build", "--quiet", "--bin", "xtask-tools"]);
        self.logged("tools-build", &mut build)?;
        let mut tool = self.command(self.built("checked", "xtask-tools"), &[name]);
        self.logged(&format!("tool-{name}"), tool.args(arguments))
    }

    /// The output of git, without the end of its last line.
    pub fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command("git", arguments).output().context("git does not start")?;
        if !output.status.success() {
            bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
    }

    /// Returns cargo's metadata of the workspace in a folder.
    pub fn metadata(&self, folder: &str, options: &[&str]) -> Result<Value> {
        let mut command = self.command("cargo", &["metadata", "--format-version", "1"]);
        let output = command.args(options).current_dir(self.root.join(folder)).output()?;
        if !output.status.success() {
            bail!("cargo metadata {folder}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// A command in this workspace.
    pub fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .stdin(Stdio::null());
        // Cargo hands its own build's flags down; a build started from here chooses for itself.
        for (name, _) in env::vars() {
            if name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" || name == "CARGO_MANIFEST_PATH"
            {
                command.env_remove(name);
            }
        }
        command
    }

    /// Runs to the end with the output in `target/xtask/NAME.log`; an error shows the end of it.
    pub fn logged(&self, name: &str, command: &mut Command) -> Result<String> {
        let (success, text) = self.tried(name, command)?;
        if !success {
            bail!("{}\n{}", shown(command), tail(&text, 80));
        }
        Ok(text)
    }

    /// Says that a command which takes minutes begins, and where its output goes.
    pub fn announce(&self, work: &str, name: &str) {
        println!("   {work}; its output goes to {}", self.log(name).display());
    }

    fn log(&self, name: &str) -> PathBuf {
        self.target.join("xtask").join(format!("{name}.log"))
    }

    /// Like `logged`, but failing is an answer.
    pub fn tried(&self, name: &str, command: &mut Command) -> Result<(bool, String)> {
        self.tried_within(LONGEST, name, command)
    }

    /// Like `tried`. In continuous integration, where nobody looks on, a command that does not end in time fails, with all that it
    /// started.
    pub fn tried_within(&self, most: Duration, name: &str, command: &mut Command) -> Result<(bool, String)> {
        let path = self.log(name);
        let mut log = File::options().create(true).truncate(true).read(true).write(true).open(&path)?;
        command.stdout(log.try_clone()?).stderr(log.try_clone()?);
        if self.ci {
            command.process_group(0);
        }
        let mut child = command.spawn().with_context(|| format!("{} does not start", shown(command)))?;
        let status = self.ended_within(self.ci.then_some(most), &mut child)?;
        let mut text = Vec::new();
        log.seek(SeekFrom::Start(0))?;
        log.read_to_end(&mut text)?;
        let mut text = String::from_utf8_lossy(&text).into_owned();
        if status.is_none() {
            text += &format!("\nended after {most:?}: it did not end by itself\n");
        }
        Ok((status.is_some_and(|status| status.success()), text))
    }

    /// Waits for a command, which is the leader of a process group if there is a limit, and counts its processor time. Returns no status
    /// if the time was over, and the group was killed.
    fn ended_within(&self, most: Option<Duration>, child: &mut Child) -> Result<Option<ExitStatus>> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            // Linux keeps the counts of a process that has ended until somebody asks for its status.
            match Stat::of(child.id()) {
                Some(stat) if !stat.ended => {}
                stat => {
                    self.ticks.fetch_add(stat.map_or(0, |stat| stat.ticks), Ordering::Relaxed);
                    return Ok(Some(child.wait()?));
                }
            }
            if most.is_some_and(|most| start.elapsed() >= most) {
                kill_process_group(Pid::from_child(child), Signal::KILL)?;
                child.wait()?;
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(20));
        }
    }

    /// Flags for the compiler that leave the folders of this machine out of what it makes.
    pub fn without_paths(&self) -> String {
        let sources = cargo_home().map(|home| home.join("registry/src"));
        let folders = [Some(self.root.clone()), sources];
        let flags = folders.into_iter().flatten().filter(|path| !path.to_string_lossy().contains(' '));
        flags.map(|path| format!("--remap-path-prefix={}=", path.display())).collect::<Vec<_>>().join(" ")
    }

    /// Fails if a file that is to be published names a folder of this machine.
    pub fn names_no_folder(&self, file: &Path) -> Result<()> {
        let bytes = fs::read(file).with_context(|| file.display().to_string())?;
        let folders = [Some(self.root.clone()), Some(self.target.clone()), cargo_home()];
        // A path of a file begins so; `./gambeson_bg.js` is none in a folder /gambeson.
        let folders = folders.into_iter().flatten().map(|path| format!("{}/", path.to_string_lossy()));
        for folder in folders.chain([String::from("registry/src")]) {
            if bytes.windows(folder.len()).any(|window| window == folder.as_bytes()) {
                bail!("{} names {folder}, a folder of this machine", file.display());
            }
        }
        Ok(())
    }

    /// The path of a program that cargo built.
    pub fn built(&self, profile: &str, program: &str) -> PathBuf {
        self.target.join(profile).join(program)
    }
}

/// The target folder, below `apart`, of artifacts that others get.
pub const FOR_OTHERS: &str = "published";

/// How long a command may take in continuous integration; the longest takes half of that.
const LONGEST: Duration = Duration::from_secs(40 * 60);

/// A line of `/proc/PID/stat`.
struct Stat {
    ended: bool,
    /// Ticks of the process and of its children that ended.
    ticks: u64,
}

impl Stat {
    fn of(process: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Behind the name, which may have blanks.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Some(Self { ended: matches!(fields[0], "Z" | "X"), ticks })
    }
}

/// Minutes of ticks, of which Linux tells programs 100 a second on every processor that it runs on here.
fn minutes(ticks: u64) -> f64 {
    ticks as f64 / 6000.0
}

/// Minutes of the processors that this program and the programs that it waited for took.
pub fn processor_minutes() -> f64 {
    Stat::of(std::process::id()).map_or(0.0, |stat| minutes(stat.ticks))
}

/// Where cargo keeps what it fetched.
pub fn cargo_home() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))
}

/// Does work on every item, on as many as there are processors at once; the work is told which processor is its own.
/// The results stand in the order of the items.
pub fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(usize, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let all = |hand_on: &dyn Fn(_)| {
        items.iter().for_each(hand_on);
        Ok(())
    };
    as_made(all, |processor, item| work(processor, item))
}

/// Like `side_by_side`, on items that are handed on one by one: the work on one begins while the next is made.
pub fn as_made<T: Send, R: Send>(
    make: impl FnOnce(&dyn Fn(T)) -> Result<()>,
    work: impl Fn(usize, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = mpsc::channel();
    let (items, results) = (Mutex::new(receiver.into_iter().enumerate()), Mutex::new(Vec::new()));
    let next = || items.lock().expect("nobody panics with it").next();
    thread::scope(|scope| {
        for processor in 0..processors {
            let (next, results, work) = (&next, &results, &work);
            scope.spawn(move || {
                while let Some((number, item)) = next() {
                    let result = work(processor, &item);
                    results.lock().expect("no work panics with the lock").push((number, result));
                }
            });
        }
        let made = make(&|item| sender.send(item).expect("who works waits for the last item"));
        drop(sender);
        made
    })?;
    let mut results = results.into_inner().expect("every thread has ended");
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Whether a program is found in PATH (or at its path).
pub fn installed(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Whether this user may install for all.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// A tool that a step needs, and the Debian packages that bring it.
pub struct Tool {
    pub program: &'static str,
    pub packages: &'static [&'static str],
}

/// Installs what is missing, where that is allowed (root on a Debian system). Returns the programs that stay missing.
pub fn provide(workspace: &Workspace, tools: &[&Tool]) -> Vec<&'static str> {
    let missing: Vec<&Tool> = tools.iter().copied().filter(|tool| !installed(tool.program)).collect();
    if !missing.is_empty() && is_root() && installed("apt-get") {
        let packages = missing.iter().flat_map(|tool| tool.packages.iter().copied());
        let mut install = workspace.command("apt-get", &["install", "-y", "--no-install-recommends"]);
        install.args(packages).env("DEBIAN_FRONTEND", "noninteractive");
        let updated = workspace.tried("apt-update", &mut workspace.command("apt-get", &["update"]));
        let outcome = updated.and_then(|_| workspace.logged("apt-install", &mut install));
        if let Err(error) = outcome {
            eprintln!("apt-get install: {error:#}");
        }
    }
    missing.into_iter().filter(|tool| !installed(tool.program)).map(|tool| tool.program).collect()
}

/// Returns a program from crates.io, `NAME` or `NAME@VERSION`: this machine's, or one that is built into the target folder once.
pub fn cargo_tool(workspace: &Workspace, package: &str) -> Result<PathBuf> {
    let name = package.split('@').next().unwrap_or_default();
    if installed(name) {
        return Ok(name.into());
    }
    let root = workspace.target.join("tools");
    let program = root.join("bin").join(name);
    if !program.exists() {
        let mut install = workspace.cargo(&["install", "--quiet", "--locked", package, "--root"]);
        workspace.logged(&format!("install-{name}"), install.arg(&root))?;
    }
    Ok(program)
}

/// Makes `mark` a file of the text `wanted`, after `install`, unless it is that already. One installation goes on at a time.
pub fn install_once(mark: &Path, wanted: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    if fs::read_to_string(mark).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    install()?;
    fs::write(mark, wanted).with_context(|| mark.display().to_string())
}

/// Returns the files in a folder whose names end so, in order.
pub fn files_in(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let (mut files, _) = entries(folder)?;
    files.retain(|path| path.to_string_lossy().ends_with(end));
    Ok(files)
}

/// Returns the files in a folder, and those in the folders below it, whose names end so, in order.
pub fn files_below(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        files.extend(files_in(&folder, end)?);
        folders.extend(entries(&folder)?.1);
    }
    files.sort();
    Ok(files)
}

/// Returns the files and the folders in a folder, in order.
fn entries(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths.into_iter().partition(|path| !path.is_dir()))
}

/// Makes a folder, or removes what is in it.
pub fn empty_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_are_found_in_what_is_published() {
        let folder = env::temp_dir();
        let workspace = Workspace::at("/home/somebody/gambeson".into(), "/elsewhere".into(), false);
        let file = folder.join("gambeson-published");
        let home = cargo_home().unwrap();
        for (text, good) in [
            ("src/lib.rs".to_owned(), true),
            ("a\0/home/somebody/gambeson/src/lib.rs\0".into(), false),
            (format!("x{}/registry", home.display()), false),
            ("/registry/src/index.crates.io/serde".into(), false),
        ] {
            fs::write(&file, &text).unwrap();
            assert_eq!(workspace.names_no_folder(&file).is_ok(), good, "{text}");
        }
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn what_does_not_end_is_ended_with_all_that_it_started() {
        let target = env::temp_dir().join(format!("gambeson-ended-{}", std::process::id()));
        fs::create_dir_all(target.join("xtask")).unwrap();
        let workspace = Workspace::at("/".into(), target.clone(), true);
        let run = |most, script: &str| {
            let mut command = workspace.command("sh", &["-c", script]);
            workspace.tried_within(Duration::from_millis(most), "ended", &mut command).unwrap()
        };
        assert_eq!(run(60_000, "echo a"), (true, "a\n".into()));
        assert_eq!(run(60_000, "echo b; exit 3"), (false, "b\n".into()));
        let (success, text) = run(3_000, "sleep 300 & echo $!; wait");
        assert!(!success && text.ends_with("did not end by itself\n"), "{text}");
        let below: u32 = text.lines().next().unwrap().parse().unwrap();
        // It ends a moment after it was told to, and may stay as one that nobody has asked for yet.
        let ended = || {
            let state = fs::read_to_string(format!("/proc/{below}/stat"));
            state.map_or(true, |state| state.contains(") Z") || state.contains(") X"))
        };
        let start = Instant::now();
        while !ended() && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(ended(), "what was started below goes on");
        fs::remove_dir_all(target).unwrap();
    }

    #[test]
    fn processor_time_is_counted_for_each_value() {
        let target = env::temp_dir().join(format!("gambeson-metered-{}", std::process::id()));
        fs::create_dir_all(target.join("xtask")).unwrap();
        let workspace = Workspace::at("/".into(), target.clone(), false);
        let metered = workspace.metered();
        // In a child of the child, too.
        let busy = "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; true";
        metered.logged("busy", &mut metered.command("sh", &["-c", busy])).unwrap();
        let took = metered.processor_minutes();
        assert!((0.0001..1.0).contains(&took) && workspace.processor_minutes() == 0.0, "{took}");
        fs::remove_dir_all(target).unwrap();
    }

    #[test]
    fn tail_keeps_the_end() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 5), "a");
    }

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(side_by_side(&items, |_, item| Ok(*item)).unwrap(), items);
        assert!(side_by_side(&items, |_, item| if *item == 50 { bail!("no") } else { Ok(()) }).is_err());
    }

    #[test]
    fn work_begins_while_more_is_made() {
        let (begun, wait) = mpsc::channel();
        let made = as_made(
            |hand_on| {
                hand_on(1);
                wait.recv_timeout(Duration::from_secs(60))?;
                hand_on(2);
                Ok(())
            },
            |_, item| Ok(begun.send(()).map(|()| *item)?),
        );
        assert_eq!(made.unwrap(), [1, 2]);
        let half = |hand_on: &dyn Fn(u32)| {
            hand_on(1);
            bail!("no more")
        };
        assert!(as_made(half, |_, item| Ok(*item)).is_err());
    }

    #[test]
    fn a_program_that_does_not_exist_is_not_installed() {
        assert!(installed("sh"));
        assert!(!installed("gambeson-no-such-program"));
    }
}
