//! `gambeson tls proxy` between two halves that know nothing of TLS: an agent of the official A2A SDK and its client; a load balancer and a
//! server that speak the PROXY protocol.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::running::Running;
use crate::tools::{Result, check, command, exists, gambeson, go, python_with, succeed, unavailable};

const PACKAGES: [&str; 3] = ["a2a-sdk[http-server]==1.3.0", "uvicorn==0.54.0", "httpx==0.28.1"];

const GO_MODULE: &str = "github.com/pires/go-proxyproto@v0.15.0";

/// The tests.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let scratch = scratch.join("proxy");
    let agents = "proxy::a2a_client_and_agent_meet_over_hybrid_tls";
    let headers = "proxy::go_tells_and_is_told_who_calls";
    if let Err(error) = fs::create_dir_all(&scratch) {
        return vec![unavailable("proxy", &error.to_string())];
    }
    let beside = scratch.clone();
    vec![
        match python_with(&scratch.join("python"), &PACKAGES) {
            Ok(python) => Trial::test(agents, move || meet(&scratch.join("a2a"), &python)),
            Err(reason) => unavailable(agents, reason.message().unwrap_or_default()),
        },
        match go_peer(&beside.join("go")) {
            Ok(peer) => Trial::test(headers, move || introduce(&beside.join("header"), &peer)),
            Err(reason) => unavailable(headers, reason.message().unwrap_or_default()),
        },
    ]
}

/// Builds the load balancer and server with the module.
fn go_peer(folder: &Path) -> Result<PathBuf> {
    let program = folder.join("proxyproto");
    if !exists(&program) {
        // What an earlier run left half done.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder)?;
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/proxyproto.go"), folder.join("main.go"))?;
        for arguments in [&["mod", "init", "peer"][..], &["get", GO_MODULE], &["build", "-o", "proxyproto"]] {
            succeed(go().args(arguments).current_dir(folder), b"")?;
        }
    }
    Ok(program)
}

/// A chain for localhost in `folder`.
fn chain(program: &Path, folder: &Path) -> Result<PathBuf> {
    let pki = folder.join("pki");
    let _ = fs::remove_dir_all(&pki);
    fs::create_dir_all(folder)?;
    let new = ["cert", "new", "--levels", "3", "--alg", "ml-dsa-65", "-o"];
    succeed(command(program).args(new).arg(&pki), b"")?;
    Ok(pki)
}

/// `tls proxy` from one address to another.
fn proxy(program: &Path, listen: &str, connect: &str) -> Command {
    let mut proxy = command(program);
    proxy.args(["tls", "proxy", "--json", "--listen", listen, "--connect", connect]);
    proxy
}

/// The same, in front of a server.
fn in_front(program: &Path, connect: &str, pki: &Path) -> Command {
    let mut proxy = proxy(program, "127.0.0.1:0", connect);
    proxy.arg("--cert").arg(pki.join("server.pem")).arg("--key").arg(pki.join("server.key"));
    proxy
}

/// A balancer tells us who calls; we tell a server, and how TLS is.
fn introduce(folder: &Path, peer: &Path) -> Result {
    let program = gambeson()?;
    let pki = chain(&program, folder)?;
    let mut server = Running::start(command(peer).arg("serve"))?;
    let mut between = in_front(&program, server.line()?.trim(), &pki);
    let mut between = Running::start(between.args(["--send-proxy", "--accept-proxy", "127.0.0.1"]))?;
    let address = between.json()?["address"].as_str().unwrap_or_default().to_owned();
    let mut balancer = Running::start(command(peer).arg("balance").arg(&address))?;
    let mut get = command(&program);
    get.args(["tls", "get", "https://localhost/", "--connect-to", balancer.line()?.trim(), "--ca"]);
    let told = succeed(get.arg(pki.join("root.pem")), b"")?;
    let told: Value = serde_json::from_slice(&told).map_err(|error| error.to_string())?;
    let expected = json!({
        "version": 2, "from": "192.0.2.1:4660", "to": "198.51.100.2:443", "authority": "localhost", "ssl": true,
        "certificate": false, "ssl_version": "TLSv1.3", "cipher": told["cipher"], "group": "X25519MLKEM768",
        "scheme": "mldsa65",
    });
    check(
        told == expected && told["cipher"].as_str().is_some_and(|suite| suite.starts_with("TLS_")),
        told.to_string(),
    )?;
    let logged = between.json()?;
    check(
        logged["peer"] == "192.0.2.1:4660" && logged["client"]["suite"] == told["cipher"],
        logged.to_string(),
    )
}

fn meet(scratch: &Path, python: &Path) -> Result {
    let program = gambeson()?;
    let pki = chain(&program, scratch)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/agent.py");

    // The client calls the near proxy without TLS; so the agent's card must name that, and its port is known first.
    let near_port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let near_address = format!("http://127.0.0.1:{near_port}");
    let mut agent = Running::start(command(python).arg(&script).args(["serve", &near_address]))?;
    let agent_port = agent.line()?;
    let agent_port = agent_port.trim();

    let mut far = in_front(&program, &format!("127.0.0.1:{agent_port}"), &pki);
    let mut far = Running::start(&mut far)?;
    let far_address = far.json()?["address"].as_str().unwrap_or_default().to_owned();
    let mut near = proxy(&program, &format!("127.0.0.1:{near_port}"), &far_address);
    near.args(["--tls", "--name", "localhost", "--ca"]).arg(pki.join("root.pem"));
    let mut near = Running::start(&mut near)?;
    near.json()?;

    let text = "a question in UTF-8: für Sie";
    let answers = succeed(command(python).arg(&script).args(["ask", &near_address, text]), b"")?;
    let answers = String::from_utf8_lossy(&answers).into_owned();
    // The card, one answer at once, one as a stream of events.
    check(answers == format!("Echo\nyou said {text}\nyou said {text}\n"), &answers)?;
    let told = far.json()?;
    let shaken = |part: &str| told["client"][part].as_str().unwrap_or_default().to_owned();
    check(shaken("group") == "X25519MLKEM768" && shaken("scheme") == "mldsa65", told.to_string())?;
    check(
        told["bytesUp"].as_u64() > Some(500) && near.json()?["server"]["group"] == "X25519MLKEM768",
        told.to_string(),
    )
}
