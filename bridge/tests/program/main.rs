//! `gambeson channel bridge` and `gambeson-slim-bridge` over a stock node, with a stock client.
//!
//! Cargo builds programs of this package only. So this test program is `gambeson` too, if [`GAMBESON`] is set.

#![allow(clippy::unwrap_used)] // A test may fail that way.

mod processes;

use base64ct::{Base64, Encoding};
use clap::Parser;
use gambeson_cli::Cli;
use libtest_mimic::{Arguments, Trial};
use processes::{Folder, GAMBESON, PYTHON, Stock, Up, dashboard, soon};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{ExitCode, Stdio};

fn main() -> ExitCode {
    if std::env::var_os(GAMBESON).is_some() {
        return ExitCode::from(gambeson_cli::run(&Cli::parse()).code());
    }
    let name = "a_member_that_is_a_bridge_forwards_to_and_from_classical_clients_until_it_is_told_to_end";
    let trial = match std::env::var_os(PYTHON) {
        Some(_) => Trial::test(name, || {
            forwards_until_it_is_told_to_end();
            Ok(())
        }),
        None if std::env::var_os("CI").is_some() => {
            Trial::test(name, || Err("no Python with slim-bindings is here".into()))
        }
        None => Trial::test(format!("{name} (skipped)"), || Ok(())).with_ignored_flag(true),
    };
    let no_home = Trial::test("a_missing_agent_and_wrong_options_are_told_with_the_exit_status", || {
        wrong_command_lines();
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial, no_home]).exit_code()
}

fn wrong_command_lines() {
    let folder = Folder::new();
    folder.channel("", "bridge --home nobody --name a/b/c --session a/b/d --secret none").exits(3);
    folder.channel("", "bridge --name a/b --session a/b/d --secret none").exits(2);
    let mut bridge = folder.bridge();
    assert_eq!(bridge.stderr(Stdio::null()).status().unwrap().code(), Some(2));
}

fn forwards_until_it_is_told_to_end() {
    let folder = Folder::new();
    let up = Up::start(&folder);
    let nodes = up.endpoints.as_str();
    let dids = ["alice", "bob"].map(|home| folder.agent(home));
    folder.channel(nodes, "create --home alice").exits(0);
    let line = format!("join --home bob --from {} --wait 120", dids[0]);
    std::thread::scope(|scope| {
        let joining = scope.spawn(|| folder.channel(nodes, &line).exits(0));
        let invite = format!("invite --home alice {}", dids[1]);
        assert!(soon(|| folder.channel(nodes, &invite).code == 0));
        joining.join().unwrap();
    });
    let secret = "a secret of the stock clients, of 32 bytes and more";
    std::fs::write(folder.path("secret"), format!("{secret}\n")).unwrap();
    let line = "bridge --home bob --name acme/bridges/one --session acme/talks/plan --secret secret";
    let refused = folder.channel(nodes, line).exits(2);
    assert!(refused.stderr.contains("policy --bridge yes"), "{}", refused.stderr);
    folder.channel(nodes, "policy --home alice --bridge yes").exits(0);

    let mut command = folder.gambeson();
    command.args(format!("channel {line} --json --slim {nodes}").split_whitespace());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut reports = BufReader::new(child.stdout.take().unwrap());
    let mut report = || {
        let mut line = String::new();
        reports.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    assert_eq!(report()["says"], "waiting");
    let watched =
        dashboard(&folder, &format!("channel top --home alice --slim {nodes}"), "the far end is classical");
    let node = nodes.split(',').next().unwrap();
    let mut mona = Stock::start(node, "acme/agents/mona", secret);
    mona.call(&json!({"do": "create", "channel": "acme/talks/plan", "invite": ["acme/bridges/one"]}));
    let opened = report();
    assert_eq!(opened["says"], "open");
    assert_eq!(opened["farEnd"]["clients"], json!(["acme/agents/mona"]), "{opened}");
    assert!(watched().contains("BRIDGED by 1"));

    // A member that is away receives what the client sends, and sends to the client.
    mona.call(&json!({"do": "send", "kind": "text/plain", "payload": "aGVsbG8gZnJvbSBTTElN"}));
    let carried = || {
        let past = folder.channel(nodes, "history --home alice").exits(0).rows();
        past.into_iter().find(|row| row["says"] == "said")
    };
    assert!(soon(|| carried().is_some()), "the client's message comes to the channel");
    let said = carried().unwrap();
    assert_eq!((&said["text"], &said["speaker"]), (&"hello from SLIM".into(), &"acme/agents/mona".into()));
    folder.channel_with(nodes, "send --home alice", b"hello from MLS").exits(0);
    let heard = || {
        let heard = mona.call(&json!({"do": "receive"}));
        Base64::decode_vec(heard["payload"].as_str().unwrap()).unwrap()
    };
    // The prefix names the sender.
    assert!(std::iter::repeat_with(heard).take(5).any(|said| said.ends_with(b"] hello from MLS")));

    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let closed = report();
    assert_eq!((&closed["says"], &closed["reason"]), (&"closed".into(), &"it was stopped".into()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let past = folder.channel(nodes, "history --home alice").exits(0).rows();
    assert!(past.iter().any(|row| row["says"] == "closed"), "the members are told: {past:?}");
    folder.channel_with(nodes, "send --home bob", b"still here").exits(0);
}
