//! `slim up --engine nats`: a NATS server with JetStream, on a port of this machine that only this program gets into.

use super::failed;
use crate::child;
use crate::error::Error;
use gambeson_slim::engine::{Limits, Nats, Retention};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long the server may take until it listens, and until it has ended.
const PATIENCE: Duration = Duration::from_secs(30);
/// The streams' names begin with it.
const PREFIX: &str = "gambeson";
/// What its streams may have in all, in MiB, unless another number is given: JetStream promises only what the disk has.
const STORE: u64 = 1_024;

/// A server, which ends with this value.
pub(super) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Asked to end, it writes down what it has.
        #[cfg(unix)]
        let asked = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.0),
            rustix::process::Signal::TERM,
        )
        .is_ok();
        #[cfg(not(unix))]
        let asked = false;
        let begun = Instant::now();
        while asked && begun.elapsed() < PATIENCE && matches!(self.0.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// The number of its process.
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

/// Starts a server that keeps things in the folder `data`, so many MiB at most; what it needs while it runs is in `folder`.
pub(super) async fn start(
    data: &Path,
    folder: &Path,
    store: Option<u64>,
    retention: Retention,
) -> Result<(Server, Nats), Error> {
    let wrong = |what: String| Error::outside(format!("nats-server: {what}")).because("no-nats");
    // A password in a file that nobody else reads: an argument would be seen.
    let mut password = [0; 32];
    getrandom::fill(&mut password)
        .map_err(|_| Error::outside("the operating system's random generator failed"))?;
    let password = base16ct::lower::encode_string(&password);
    fs::create_dir_all(data).map_err(|error| Error::io(data, &error))?;
    // Two servers on one folder destroy it. The lock is the server's standard input: it holds as long as the server runs, whatever
    // becomes of this program.
    let lock = data.join("lock");
    let held = fs::File::options().create(true).truncate(false).read(true).write(true).open(&lock);
    let held = held.map_err(|error| Error::io(&lock, &error))?;
    held.try_lock().map_err(|_| {
        let next = "end it with the slim up that started it, or name another folder with --data";
        wrong(format!("another one runs on {}: {next}", data.display()))
    })?;
    let (configuration, log) = (folder.join("nats.conf"), folder.join("nats.log"));
    let quoted = |path: &Path| serde_json::Value::from(path.to_string_lossy()).to_string();
    let text = format!(
        "host: 127.0.0.1\nport: -1\nports_file_dir: {}\njetstream {{ store_dir: {} }}\n\
         authorization {{ user: gambeson, password: \"{password}\" }}\n",
        quoted(folder),
        quoted(data),
    );
    crate::files::write_own(&configuration, text.as_bytes(), crate::files::Access::Private, true)?;
    let output = fs::File::create(&log).map_err(|error| Error::io(&log, &error))?;
    let mut command = child::command("nats-server");
    command.arg("--config").arg(&configuration);
    // What a terminal sends to this program is no news for the server: it ends after the delivery service.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.stdin(held).stdout(Stdio::null()).stderr(output).spawn();
    let child = child.map_err(|error| {
        wrong(format!("{error}; it must be in PATH (on Debian: apt-get install nats-server)"))
    })?;
    let ports = folder.join(format!("nats-server_{}.ports", child.id()));
    let (mut server, begun) = (Server(child), Instant::now());
    let address = loop {
        // Such as {"nats":["nats://127.0.0.1:40123"]}.
        let text = fs::read_to_string(&ports).unwrap_or_default();
        let said: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(url) = said["nats"][0].as_str() {
            break url.trim_start_matches("nats://").to_owned();
        }
        if server.has_ended() || begun.elapsed() > PATIENCE {
            let log = fs::read_to_string(&log).unwrap_or_default();
            return Err(wrong(format!("did not come up: {}", log.lines().last().unwrap_or_default())));
        }
        sleep(Duration::from_millis(20)).await;
    };
    let limits = Limits { store: store.unwrap_or(STORE) << 20, ..Limits::default() };
    let nats =
        Nats::connect(&address, "gambeson", &password, PREFIX, limits, retention).await.map_err(failed)?;
    Ok((server, nats))
}
