//! An agent in processes of its own: `gambeson agent` and `gambeson channel`, on a folder of theirs.

use crate::child;
use crate::error::Error;
use crate::passphrase::VARIABLE;
use gambeson_identity::Did;
use gambeson_slim::ChannelId;
use serde_json::Value;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub(super) struct Apart {
    pub(super) did: Did,
    place: Place,
    running: Running,
}

impl Apart {
    /// An agent that waits for an invitation of `inviter`.
    pub(super) async fn new(home: PathBuf, endpoint: String, inviter: &Did) -> Result<Self, Error> {
        let passphrase = getrandom::u64().map_err(|_| Error::randomness(gambeson::RngError))?;
        let place = Place { home, endpoint, passphrase: passphrase.to_string() };
        let words = place.home.with_extension("words").display().to_string();
        let mut made = place.start(&["agent", "init", "--channels", "--words", &words])?;
        let did = made.outcome().await?["did"].as_str().and_then(|did| did.parse().ok());
        let did = did.ok_or_else(|| Error::outside("gambeson agent init printed no DID"))?;
        let running = place.channel(&["join", "--from", inviter.as_str()])?;
        Ok(Self { did, place, running })
    }

    pub(super) async fn joined(&mut self, id: &ChannelId) -> Result<(), Error> {
        if self.running.outcome().await?["channel"] != id.to_string() {
            return Err(Error::outside("gambeson channel join joined another channel"));
        }
        self.starts()
    }

    /// Listens from now on.
    pub(super) fn starts(&mut self) -> Result<(), Error> {
        self.running = self.place.channel(&["tail"])?;
        Ok(())
    }

    pub(super) async fn hears(&mut self, from: &Did, words: &str) -> Result<(), Error> {
        while let Some(row) = self.running.rows.recv().await {
            if row["type"] == "message" && row["sender"] == from.as_str() && row["text"] == words {
                return Ok(());
            }
        }
        Err(Error::outside("gambeson channel tail has ended"))
    }

    /// Kills what runs; tells which process that was.
    pub(super) fn killed(&mut self) -> Result<u32, Error> {
        self.running.kill().map_err(|error| Error::stream(&"a process of an agent", &error))?;
        Ok(self.running.child.id())
    }

    pub(super) async fn leaves(&mut self) -> Result<(), Error> {
        self.killed()?;
        self.running = self.place.channel(&["leave"])?;
        self.running.outcome().await.map(drop)
    }
}

/// Where the agent is, and its node.
struct Place {
    home: PathBuf,
    endpoint: String,
    passphrase: String,
}

impl Place {
    fn start(&self, arguments: &[&str]) -> Result<Running, Error> {
        let started = std::env::current_exe().and_then(|program| {
            let mut command = child::own(program);
            command.args(arguments).arg("--json").arg("--home").arg(&self.home);
            Running::new(command.env(VARIABLE, &self.passphrase))
        });
        started.map_err(|error| Error::stream(&"a second process of this program", &error))
    }

    fn channel(&self, arguments: &[&str]) -> Result<Running, Error> {
        self.start(&[&["channel", "--slim", &self.endpoint], arguments].concat())
    }
}

/// A process, which ends with this value, and what it tells.
struct Running {
    child: Child,
    rows: UnboundedReceiver<Value>,
}

impl Running {
    fn new(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let (sender, rows) = unbounded_channel();
        let output = child.stdout.take();
        thread::spawn(move || {
            for line in
                output.into_iter().flat_map(|output| BufReader::new(output).lines()).map_while(Result::ok)
            {
                let row = serde_json::from_str(&line).unwrap_or(Value::Null);
                if sender.send(row).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, rows })
    }

    /// Waits for the end, and for its only row.
    async fn outcome(&mut self) -> Result<Value, Error> {
        let row = self.rows.recv().await;
        while self.rows.recv().await.is_some() {}
        let ended = self.child.wait().map_err(|error| Error::stream(&"a process of an agent", &error))?;
        // Why not, it has said itself.
        row.filter(|_| ended.success())
            .ok_or_else(|| Error::outside(format!("an agent's process ended: {ended}")))
    }

    fn kill(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(drop)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
