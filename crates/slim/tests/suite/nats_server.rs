//! `nats-server` on a port of its choice.

use crate::world::held::Held;
use gambeson_slim::Services;
use gambeson_slim::engine::{Limits, Nats, Retention};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A server. It ends when this is dropped, and with the process too: then its shell has no input any more.
pub struct Running {
    shell: Child,
    pub port: u16,
    folder: TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// A server on a port of its choice; `None`, and a line that says why, if there is none on this machine.
pub async fn server() -> Option<Running> {
    let quiet = |program: &str| {
        let mut command = Command::new(program);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    if let Err(error) = quiet("nats-server").arg("--version").status() {
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1");
        assert!(!ci, "nats-server does not start, and CI skips nothing: {error}");
        eprintln!("skipped: nats-server does not start ({error})");
        return None;
    }
    let folder = TempDir::new().unwrap();
    // A server promises its streams no more than its disk has, unless it is told what it may; hardly any of it is used.
    let config = folder.path().join("nats.conf");
    let store = folder.path().join("store");
    let told = format!("jetstream {{ store_dir: {:?}, max_file_store: 64GB }}", store.display().to_string());
    std::fs::write(&config, told).unwrap();
    let shell = quiet("sh")
        .args(["-c", r#""$@" & read -r _; kill $!; wait"#, "sh", "nats-server"])
        .args(["--addr", "127.0.0.1", "--port", "-1", "--config"])
        .arg(config)
        .arg("--ports_file_dir")
        .arg(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut running = Running { shell, port: 0, folder };
    for _ in 0..600 {
        // {"nats":["nats://127.0.0.1:40123"], …}
        let files = std::fs::read_dir(running.folder.path()).unwrap().map(|file| file.unwrap().path());
        let ports = files.filter(|file| file.extension().is_some_and(|kind| kind == "ports"));
        let text: String = ports.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
        let digits = text.split("127.0.0.1:").nth(1).unwrap_or_default();
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        if let Ok(port) = digits.parse() {
            running.port = port;
            return Some(running);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nats-server has not said its port in 30 seconds");
}

/// Enough for ten agents: the fault suite opens some two hundred services on one server.
pub const SMALL: Limits =
    Limits { channels: 100, entries: 10_000, bytes: 1 << 24, dids: 100, store: 1 << 25 };

/// Where connections live: the tests' own runtimes have a clock that jumps.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
/// One server for all tests; it ends with the process, whose death it is told.
static SERVER: LazyLock<Running> =
    LazyLock::new(|| RUNTIME.block_on(server()).expect("nats-server starts (apt-get install nats-server)"));

/// Returns a service of its own on the one server.
pub fn services() -> Services {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let prefix = format!("faults{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let open = std::thread::spawn(move || {
        let address = format!("127.0.0.1:{}", SERVER.port);
        RUNTIME.block_on(async {
            let client = async_nats::connect(address).await.unwrap();
            Nats::open(client, &prefix, 1, SMALL, Retention::default()).await.unwrap()
        })
    });
    Services::of(Arc::new(Held::new(open.join().unwrap())))
}
