//! `channel send`, `channel tail`.

use super::open::Open;
use super::tell;
use crate::args::channel::{Send, Tail};
use crate::error::{Error, Status};
use crate::slim::failed;
use crate::unfinished::Unfinished;
use gambeson_slim::{Channel, Event};
use serde_json::json;
use std::io::{self, BufRead, Read, stdin};
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

pub(super) async fn send(open: &Open, options: &Send) -> Result<Status, Error> {
    let channel = open.current(&options.which).await?;
    let mut said = 0;
    if options.lines {
        for line in stdin().lock().lines() {
            said += say(&channel, line.map_err(unread)?.into_bytes()).await?;
        }
        if said == 0 {
            return Err(nothing_to_send());
        }
    } else {
        let mut message = Vec::new();
        stdin().lock().read_to_end(&mut message).map_err(unread)?;
        if message.is_empty() {
            return Err(nothing_to_send());
        }
        said += say(&channel, message).await?;
    }
    taken(&channel, Duration::from_secs(options.wait)).await?;
    open.session.console.report(
        format_args!("{said} {} in the log", if said == 1 { "message is" } else { "messages are" }),
        json!({"type": "sent", "channel": channel.id().to_string(), "messages": said}),
    )?;
    Ok(Status::Done)
}

fn nothing_to_send() -> Error {
    Error::usage("standard input is empty, so there is no message to send")
}

async fn say(channel: &Channel, message: Vec<u8>) -> Result<u64, Error> {
    channel.send(message).await.map_err(failed)?;
    Ok(1)
}

/// Waits until the log has taken everything.
async fn taken(channel: &Channel, patience: Duration) -> Result<(), Error> {
    match timeout(patience, channel.until(|status| status.unsent == 0)).await {
        Ok(taken) => taken.map_err(failed),
        Err(_) => {
            let next = "they are stored here, and are sent when any channel command runs again";
            let message =
                format!("the log did not accept the messages within {} s; {next}", patience.as_secs());
            Err(Error::outside(message).because("unsent"))
        }
    }
}

pub(super) async fn tail(open: &Open, options: &Tail) -> Result<Status, Error> {
    let channel = open.channel(&options.which)?;
    let ending = watch::Sender::new(false);
    let told = ending.clone();
    let _signals = Unfinished::service(move || {
        told.send_replace(true);
    });
    let mut ended = ending.subscribe();
    let mut lines = options.talk.then(lines);
    let mut left = options.count.unwrap_or(u64::MAX);
    let mut wrong = None;
    while left > 0 {
        let line = async {
            match &mut lines {
                Some(lines) => lines.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            occurrence = channel.next() => match occurrence {
                Ok(occurrence) => {
                    tell::occurrence(open.session.console, &occurrence)?;
                    left -= u64::from(matches!(occurrence.event, Event::Message { .. }));
                }
                Err(gambeson_slim::Error::Over) => break,
                Err(error) => return Err(failed(error)),
            },
            line = line => match line {
                Some(Ok(line)) => drop(channel.send(line.into_bytes()).await.map_err(failed)?),
                Some(Err(error)) => {
                    wrong = Some(unread(error));
                    break;
                }
                None => lines = None,
            },
            _ = ended.wait_for(|ended| *ended) => break,
        }
    }
    // What was shown is not shown again.
    let _ = channel.acknowledge().await;
    if options.talk && !channel.status().over {
        taken(&channel, Duration::from_secs(30)).await?;
    }
    wrong.map_or(Ok(Status::Done), Err)
}

/// Standard input could not be read, or a line of it is no text.
fn unread(error: io::Error) -> Error {
    Error::stream(&"standard input", &error)
}

/// The lines of standard input, read by a thread that ends with them or with the program.
fn lines() -> mpsc::Receiver<io::Result<String>> {
    let (sender, receiver) = mpsc::channel(16);
    thread::spawn(move || {
        for line in stdin().lock().lines() {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
