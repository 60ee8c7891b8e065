//! `gambeson tls proxy` between the two halves of a program that knows nothing of TLS: an agent of the official A2A SDK and its client.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;

use crate::running::Running;
use crate::tools::{Result, check, command, gambeson, python_with, succeed, unavailable};

const PACKAGES: [&str; 3] = ["a2a-sdk[http-server]==1.3.0", "uvicorn==0.54.0", "httpx==0.28.1"];

/// The tests.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let name = "proxy::a2a_client_and_agent_meet_over_hybrid_tls";
    let scratch = scratch.join("proxy");
    match fs::create_dir_all(&scratch)
        .map_err(Into::into)
        .and_then(|()| python_with(&scratch.join("python"), &PACKAGES))
    {
        Ok(python) => vec![Trial::test(name, move || meet(&scratch, &python))],
        Err(reason) => vec![unavailable(name, reason.message().unwrap_or_default())],
    }
}

fn meet(scratch: &Path, python: &Path) -> Result {
    let program = gambeson()?;
    let pki = scratch.join("pki");
    let _ = fs::remove_dir_all(&pki);
    let new = ["cert", "new", "--levels", "3", "--alg", "ml-dsa-65", "-o"];
    succeed(command(&program).args(new).arg(&pki), b"")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/agent.py");

    // The client calls the near proxy without TLS; so the agent's card must name that, and its port is known first.
    let near_port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let near_address = format!("http://127.0.0.1:{near_port}");
    let mut agent = Running::start(command(python).arg(&script).args(["serve", &near_address]))?;
    let agent_port = agent.line()?;
    let agent_port = agent_port.trim();

    let proxy = |listen: &str, connect: &str| {
        let mut proxy = command(&program);
        proxy.args(["tls", "proxy", "--json", "--listen", listen, "--connect", connect]);
        proxy
    };
    let mut far = proxy("127.0.0.1:0", &format!("127.0.0.1:{agent_port}"));
    far.arg("--cert").arg(pki.join("server.pem")).arg("--key").arg(pki.join("server.key"));
    let mut far = Running::start(&mut far)?;
    let far_address = far.json()?["address"].as_str().unwrap_or_default().to_owned();
    let mut near = proxy(&format!("127.0.0.1:{near_port}"), &far_address);
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
        told["bytes_up"].as_u64() > Some(500) && near.json()?["server"]["group"] == "X25519MLKEM768",
        told.to_string(),
    )
}
