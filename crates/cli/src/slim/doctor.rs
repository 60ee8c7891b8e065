//! `slim doctor`: checks of the node, the delivery service and the clocks, and a list of who can see what.

use super::{failed, link, runtime, service};
use crate::agent;
use crate::args::slim::SlimDoctor;
use crate::console::{Console, duration};
use crate::error::{Error, Status};
use bytes::Bytes;
use gambeson_slim::datapath::{DatapathLink, NodeOptions};
use gambeson_slim::delivery::{Client, Patience};
use gambeson_slim::{Blobs, ChannelId, Entry, EntryId, EntryKind, Link, Log, MAX_BLOB, MAX_FRAME, Name, To};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::timeout;

/// Clocks that differ by more make key packages and cards look too young or too old.
const SKEW: Duration = Duration::from_secs(60);

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who sees what, whatever the state of things is.
const WHO_SEES: [(&str, &str); 4] = [
    ("nodes", "names on the link, sizes, times, addresses; no content, and no DID"),
    ("the delivery service", "channel ids, sizes, times, the DIDs of key packages and inboxes; no content"),
    (
        "anyone at a node",
        "may listen on any name that it knows; a channel's name follows from its secrets, and changes \
             with every removal",
    ),
    ("members", "everything from their joining until their leaving"),
];

/// What an examination found, or what is wrong and what to do about it.
type Finding = Result<String, String>;

pub(super) fn doctor(console: Console, options: &SlimDoctor) -> Result<Status, Error> {
    let runtime = runtime()?;
    let nodes = options.nodes.options()?;
    let findings = runtime.block_on(examine(options, &nodes));
    runtime.shutdown_timeout(Duration::from_secs(1));
    let mut report = Vec::new();
    for (name, finding) in &findings {
        let (mark, text) = match finding {
            Ok(text) => ("ok", text),
            Err(text) => ("BAD", text),
        };
        console.say(format_args!("{mark:>4}  {name:<22} {text}"))?;
        report.push(json!({"name": name, "ok": finding.is_ok(), "detail": text}));
    }
    let well = findings.iter().all(|(_, finding)| finding.is_ok());
    console.say_lines(["", "      who sees what"])?;
    for (who, what) in WHO_SEES {
        console.say(format_args!("      {who:<22} {what}"))?;
    }
    console.say("")?;
    console.report(
        if well { "all is well" } else { "NOT WELL: see above" },
        json!({"type": "doctor", "checks": report, "sees": BTreeMap::from(WHO_SEES), "ok": well}),
    )?;
    Ok(if well { Status::Done } else { Status::NotVerified })
}

async fn examine(options: &SlimDoctor, nodes: &[NodeOptions]) -> Vec<(&'static str, Finding)> {
    let mut findings = vec![("identity", agent::card_in_short(options.home.as_deref()))];
    let begun = Instant::now();
    let links = async { Ok((link(nodes).await?, link(nodes).await?, link(nodes).await?)) };
    let (one, other, third) = match links.await {
        Ok(links) => links,
        Err(error) => {
            let error: Error = error;
            findings.push(("node", Err(error.to_string())));
            return findings;
        }
    };
    let took = duration(begun.elapsed().as_nanos() as f64 / 3.0);
    findings.push((
        "node",
        match one.connected() {
            Some(node) => {
                let mac = if node.post_quantum { "X25519 and ML-KEM-768" } else { "X25519 alone" };
                let untested = if node.tested { "" } else { "; gambeson was not tested with this version" };
                let (version, at) = (&node.version, &node.endpoint);
                Ok(format!("SLIM {version} at {at}, connected in {took}, header MAC from {mac}{untested}"))
            }
            None => {
                Err("the connection is lost again and again: check that the node does not restart".to_owned())
            }
        },
    ));
    for (name, len) in [("small frame", 64), ("largest frame", MAX_FRAME)] {
        findings.push((name, round_trip(&one, &other, len).await));
    }
    let client = Client::new(third, service(), Patience { deadline: PATIENCE, ..Patience::default() }).await;
    let client = match client.map_err(failed) {
        Ok(client) => client,
        Err(error) => {
            findings.push(("delivery service", Err(error.to_string())));
            return findings;
        }
    };
    findings.push((
        "delivery service",
        match client.ping().await {
            Ok(took) => Ok(format!("answers in {}", duration(took.as_nanos() as f64))),
            Err(error) => {
                findings.push(("delivery service", Err(format!("{error}; gambeson slim up starts one"))));
                return findings;
            }
        },
    ));
    findings.push(("largest blob", blob(&client).await));
    findings.push(("log and clock", clock(&client).await));
    findings
}

/// A frame from one link to another.
async fn round_trip(from: &DatapathLink, to: &DatapathLink, len: usize) -> Finding {
    let said = |error: gambeson_slim::Error| error.to_string();
    let mut frame = vec![0; len];
    getrandom::fill(&mut frame).map_err(|_| "the operating system's random generator failed")?;
    let (frame, name) = (Bytes::from(frame), Name::new("gambeson", "doctor", format!("{:016x}", random()?)));
    let here = name.clone().with_instance(1);
    to.subscribe(&here).await.map_err(said)?;
    let begun = Instant::now();
    from.publish(&name, To::All, frame.clone()).await.map_err(said)?;
    let arrived = timeout(PATIENCE, to.receive()).await;
    let took = duration(begun.elapsed().as_nanos() as f64);
    let _ = to.unsubscribe(&here).await;
    match arrived {
        Ok(Ok(arrived)) if arrived.frame == frame => {
            Ok(format!("{len} bytes from one link to another in {took}"))
        }
        Ok(Ok(_)) => Err("the bytes that arrived are not those that were sent".to_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!(
            "{len} bytes did not arrive within {} s: the node may be overloaded",
            PATIENCE.as_secs()
        )),
    }
}

async fn blob(client: &Client) -> Finding {
    let said = |error: gambeson_slim::Error| error.to_string();
    let bytes = Bytes::from_static(&[0x67; MAX_BLOB]);
    let begun = Instant::now();
    let id = client.put(bytes.clone()).await.map_err(said)?;
    match client.get(&id).await.map_err(said)? {
        Some(back) if back == bytes => {
            Ok(format!("{MAX_BLOB} bytes there and back in {}", duration(begun.elapsed().as_nanos() as f64)))
        }
        _ => Err("the service returned other bytes than it received".to_owned()),
    }
}

/// An entry in a log of the doctor's own, and when it was taken by the service's clock.
async fn clock(client: &Client) -> Finding {
    let said = |error: gambeson_slim::Error| error.to_string();
    let channel = ChannelId(*blake3::hash(b"gambeson slim doctor").as_bytes());
    let mut id = [0; 16];
    id[..8].copy_from_slice(&random()?.to_be_bytes());
    let entry = Entry { id: EntryId(id), kind: EntryKind::Receipt, content: Bytes::from_static(b"doctor") };
    let before = now();
    let place = match client.append(&channel, entry, 0).await.map_err(said)? {
        gambeson_slim::Placed::At(place) => place,
        gambeson_slim::Placed::After(_) => return Err("the log treats an entry as a commit".to_owned()),
    };
    let after = now();
    let page = client.read(&channel, place, 1).await.map_err(said)?;
    let at = page.records.first().filter(|record| record.place == place).map(|record| record.at);
    let at = Duration::from_millis(at.ok_or("the log lacks the entry that it has just accepted")?);
    let skew = if at < before { before - at } else { at.saturating_sub(after) };
    if skew > SKEW {
        return Err(format!(
            "the service's clock and this one differ by {} s: set the one that is wrong",
            skew.as_secs()
        ));
    }
    Ok(format!(
        "an entry at place {place}; clocks differ by at most {}",
        duration((skew + (after - before)).as_nanos() as f64)
    ))
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn random() -> Result<u64, String> {
    getrandom::u64().map_err(|_| "the operating system's random generator failed".to_owned())
}
