//! Stock agents, each a Python with the wheel `slim-bindings`, at a stock node, and ours between them.
#![allow(clippy::unwrap_used)]

mod agent;
mod bridges;
#[path = "../../../crates/slim/tests/nearby/mod.rs"]
mod nearby;

use std::collections::HashMap;
use std::time::Duration;

use agent::{Agent, Stock};
use gambeson_slim::Name;
use gambeson_slim_bridge::{FromStock, MAX_STOCK_PAYLOAD, StockAgent, StockMessage, StockSession};
use tokio::time::timeout;

/// How long something may take on a busy machine.
const SOON: Duration = Duration::from_secs(60);

const SECRET: &str = "a secret of the stock clients, of 32 bytes and more";

fn bridge() -> Name {
    Name::new("acme", "bridges", "one")
}

async fn message(session: &StockSession) -> StockMessage {
    match timeout(Duration::from_secs(30), session.receive()).await.unwrap() {
        Some(FromStock::Message(message)) => message,
        other => panic!("{other:?}"),
    }
}

fn names(of: &[gambeson_slim_bridge::StockClient]) -> Vec<String> {
    let mut names: Vec<String> = of.iter().map(|client| client.name.clone().everyone().to_string()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_agents_talk_with_us_in_a_session_that_a_stock_moderator_opened() {
    let Some(stock) =
        Stock::start("stock_agents_talk_with_us_in_a_session_that_a_stock_moderator_opened").await
    else {
        return;
    };
    let us = StockAgent::connect(&stock.endpoint, &bridge(), SECRET).await.unwrap();
    let mut moderator = Agent::start(&stock, "acme/agents/mona", SECRET).await;
    let mut bob = Agent::start(&stock, "acme/agents/bob", SECRET).await;
    let (session, _) = tokio::join!(us.accept(|_, _| true), async {
        moderator.create("acme/talks/plan", &["acme/bridges/one"]).await;
        tokio::join!(moderator.invite("acme/agents/bob"), bob.accept());
    });
    let session = session.unwrap();
    assert_eq!(session.name().to_string(), "acme/talks/plan");
    assert!(session.is_encrypted());

    moderator.send("text/plain", b"hello").await;
    let said = message(&session).await;
    assert_eq!((said.kind.as_str(), &said.payload[..]), ("text/plain", &b"hello"[..]));
    assert_eq!(said.from.clone().everyone().to_string(), "acme/agents/mona");
    assert!(said.subject.is_some(), "SLIM's MLS says who it is");
    assert_eq!(bob.receive().await.payload, b"hello");

    let metadata = HashMap::from([("gambeson-bridge".to_owned(), "yes".to_owned())]);
    session.send("text/plain", b"hello from afar", metadata.clone()).await.unwrap();
    for stock in [&mut moderator, &mut bob] {
        let heard = stock.receive().await;
        assert_eq!((heard.kind.as_str(), &heard.payload[..]), ("text/plain", &b"hello from afar"[..]));
        assert_eq!(heard.from, "acme/bridges/one");
        assert_eq!(heard.metadata.get("gambeson-bridge"), metadata.get("gambeson-bridge"));
    }
    let members = names(&session.members().await.unwrap());
    assert_eq!(members, ["acme/agents/bob", "acme/agents/mona", "acme/bridges/one"]);

    moderator.leave().await;
    let ended = async { while session.receive().await.is_some() {} };
    timeout(Duration::from_secs(30), ended).await.expect("the session ends with its moderator");
}

#[tokio::test(flavor = "multi_thread")]
async fn we_open_a_session_and_invite_stock_agents() {
    let Some(stock) = Stock::start("we_open_a_session_and_invite_stock_agents").await else { return };
    let us = StockAgent::connect(&stock.endpoint, &bridge(), SECRET).await.unwrap();
    let mut alice = Agent::start(&stock, "acme/agents/alice", SECRET).await;
    let mut bob = Agent::start(&stock, "acme/agents/bob", SECRET).await;
    let clients = ["alice", "bob"].map(|client| Name::new("acme", "agents", client));
    let channel = Name::new("acme", "talks", "ours");
    let (session, (), ()) = tokio::join!(us.create(&channel, &clients), alice.accept(), bob.accept());
    let session = session.unwrap();

    let large = vec![b'x'; MAX_STOCK_PAYLOAD];
    session.send("application/octet-stream", &large, HashMap::new()).await.unwrap();
    assert_eq!(alice.receive().await.payload, large);
    assert_eq!(bob.receive().await.payload, large);
    let above = vec![b'x'; MAX_STOCK_PAYLOAD + 1];
    let refused = session.send("application/octet-stream", &above, HashMap::new()).await;
    assert!(matches!(refused, Err(gambeson_slim_bridge::Error::PayloadTooLarge(len)) if len == above.len()));
    alice.send("application/octet-stream", &above).await;
    alice.send("text/plain", b"after it").await;
    let said = timeout(Duration::from_secs(30), session.receive()).await.unwrap();
    assert!(matches!(said, Some(FromStock::TooLarge { len, .. }) if len == above.len()), "{said:?}");
    assert_eq!(message(&session).await.payload, &b"after it"[..]);

    alice.leave().await;
    let left = async {
        while names(&session.members().await.unwrap()).iter().any(|name| name.ends_with("alice")) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(30), left).await.expect("who left is no member");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_that_is_not_wanted_is_left_again() {
    let Some(stock) = Stock::start("an_invitation_that_is_not_wanted_is_left_again").await else { return };
    let us = StockAgent::connect(&stock.endpoint, &bridge(), SECRET).await.unwrap();
    let mut moderator = Agent::start(&stock, "acme/agents/mona", SECRET).await;
    let mut bob = Agent::start(&stock, "acme/agents/bob", SECRET).await;
    let accepting = us.accept(|name, _| name.parts()[2] == "wanted");
    let inviting = async {
        moderator.create("acme/talks/unwanted", &["acme/agents/bob"]).await;
        bob.accept().await;
        moderator.invite("acme/bridges/one").await;
        let left = async { while moderator.members().await.contains(&"acme/bridges/one".to_owned()) {} };
        timeout(Duration::from_secs(30), left).await.expect("the bridge leaves");
        moderator.create("acme/talks/wanted", &["acme/bridges/one"]).await;
    };
    let (session, ()) = tokio::join!(accepting, inviting);
    assert_eq!(session.unwrap().name().to_string(), "acme/talks/wanted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_not_there_and_a_short_secret_are_refused() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = StockAgent::connect(&format!("http://{nobody}"), &bridge(), SECRET).await;
    assert!(matches!(refused, Err(gambeson_slim_bridge::Error::NoNode(_))), "{refused:?}");
    let Some(stock) = Stock::start("a_node_that_is_not_there_and_a_short_secret_are_refused").await else {
        return;
    };
    let refused = StockAgent::connect(&stock.endpoint, &bridge(), "too short").await;
    assert!(matches!(refused, Err(gambeson_slim_bridge::Error::Stock(_))), "{refused:?}");
}
