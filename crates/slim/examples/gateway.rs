//! A gateway for agents that talk over memory: for tests of clients, and to try one.
//!
//! `gateway AGENTS [ORIGIN…]` prints a line of JSON with the gateway's address, and the DID and token of each agent. The agents take
//! invitations of the first by themselves, and others ask. On standard input, each line is a wish: `restart` ends the gateway and its
//! connections and starts it again at its address, `ok` says that it is done; the end of the input is the end.

#[path = "../tests/nearby/mod.rs"]
mod nearby;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use gambeson_slim::gateway::{Gateway, Token};
use nearby::Nearby;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::time::sleep;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().ok_or("how many agents?")?.parse()?;
    let origins: Vec<String> = arguments.collect();
    let mut nearby = Nearby::new();
    let mut agents = Vec::new();
    for _ in 0..count {
        agents.push((Token::random()?, Arc::new(nearby.agent().await?)));
    }
    let mut gateway = Gateway::start("127.0.0.1:0".parse()?, agents.clone(), origins.clone()).await?;
    let listed: Vec<_> = agents
        .iter()
        .map(|(token, node)| json!({ "did": node.me().did().as_str(), "token": token.reveal() }))
        .collect();
    println!("{}", json!({ "url": gateway.url(), "agents": listed }));
    let mut wishes = BufReader::new(stdin()).lines();
    while let Some(wish) = wishes.next_line().await? {
        if wish == "restart" {
            let address = gateway.address();
            drop(gateway);
            // Its connections end with its task, in a moment.
            gateway = loop {
                match Gateway::start(address, agents.clone(), origins.clone()).await {
                    Ok(gateway) => break gateway,
                    Err(gambeson_slim::Error::NoGateway(_)) => sleep(Duration::from_millis(20)).await,
                    Err(error) => return Err(error.into()),
                }
            };
            println!("ok");
        }
    }
    Ok(())
}
