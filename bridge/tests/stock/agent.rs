//! A stock node, and stock agents at it, as processes.

use std::collections::HashMap;
use std::ffi::OsString;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

const NODE: &str = "import sys, asyncio, slim_bindings as slim
async def main():
    slim.initialize_with_defaults()
    await slim.get_global_service().run_server_async(slim.new_insecure_server_config(sys.argv[1]))
    await asyncio.to_thread(sys.stdin.read)
asyncio.run(main())";

/// A node; it ends with this.
pub struct Stock {
    pub endpoint: String,
    python: OsString,
    _node: Child,
}

impl Stock {
    /// None where no Python with the wheel is, which `cargo xtask test` brings.
    pub async fn start(test: &str) -> Option<Self> {
        let Some(python) = std::env::var_os("GAMBESON_SLIM_PYTHON") else {
            assert!(std::env::var_os("CI").is_none(), "no Python with slim-bindings is here");
            println!("test {test} (skipped): no Python with slim-bindings is here");
            return None;
        };
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut node = Command::new(&python);
        node.args(["-c", NODE, &address.to_string()]).stdin(Stdio::piped()).kill_on_drop(true);
        let node = node.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let up = async {
            while TcpStream::connect(address).await.is_err() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(Duration::from_secs(30), up).await.expect("the node comes up");
        Some(Self { endpoint: format!("http://{address}"), python, _node: node })
    }
}

/// What an agent got.
pub struct Heard {
    pub from: String,
    pub kind: String,
    pub payload: Vec<u8>,
    pub metadata: HashMap<String, String>,
}

/// A stock agent; it ends with this.
pub struct Agent {
    _process: Child,
    calls: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Agent {
    pub async fn start(stock: &Stock, name: &str, secret: &str) -> Self {
        let mut process = Command::new(&stock.python);
        process.env("RUST_LOG", "error").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stock/agent.py"));
        process.args([&stock.endpoint, name, secret]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = process.kill_on_drop(true).spawn().unwrap();
        let calls = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut agent = Self { _process: process, calls, answers };
        assert!(agent.answer().await["ready"].is_string());
        agent
    }

    async fn answer(&mut self) -> Value {
        let line =
            timeout(Duration::from_secs(60), self.answers.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn call(&mut self, call: Value) -> Value {
        self.calls.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        let answer = self.answer().await;
        answer.get("done").unwrap_or_else(|| panic!("{call}: {answer}")).clone()
    }

    pub async fn create(&mut self, channel: &str, invite: &[&str]) {
        self.call(json!({ "do": "create", "channel": channel, "invite": invite })).await;
    }

    pub async fn invite(&mut self, client: &str) {
        self.call(json!({ "do": "invite", "client": client })).await;
    }

    pub async fn accept(&mut self) {
        self.call(json!({ "do": "accept" })).await;
    }

    pub async fn send(&mut self, kind: &str, payload: &[u8]) {
        self.call(json!({ "do": "send", "kind": kind, "payload": Base64::encode_string(payload) })).await;
    }

    pub async fn receive(&mut self) -> Heard {
        let heard = self.call(json!({ "do": "receive" })).await;
        let text = |key: &str| heard[key].as_str().unwrap_or_else(|| panic!("{heard}")).to_owned();
        Heard {
            from: text("from"),
            kind: text("kind"),
            payload: Base64::decode_vec(&text("payload")).unwrap(),
            metadata: serde_json::from_value(heard["metadata"].clone()).unwrap(),
        }
    }

    pub async fn members(&mut self) -> Vec<String> {
        serde_json::from_value(self.call(json!({ "do": "members" })).await).unwrap()
    }

    pub async fn leave(&mut self) {
        self.call(json!({ "do": "leave" })).await;
    }
}
