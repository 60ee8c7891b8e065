//! Bridges between channels of ours and sessions of stock agents.

use super::*;
use gambeson_slim::{BridgeNews, Channel, Event, FarEnd, Node, SignedPolicy, Warning};
use gambeson_slim_bridge::{Bridge, Error, MAX_CARRIED, METADATA, METADATA_FROM};
use nearby::Nearby;

/// A channel of alice and as many others, with or without the right to bridge.
async fn channel(others: usize, bridging: bool) -> (Vec<Node>, Vec<Channel>, SignedPolicy) {
    let mut nearby = Nearby::new();
    let mut nodes = vec![nearby.agent().await.unwrap()];
    let mut policy = nodes[0].policy().unwrap();
    policy.bridge = bridging;
    let policy = policy.sign(nodes[0].me().agent()).unwrap();
    let mut channels = vec![nodes[0].create(policy.clone()).await.unwrap()];
    for _ in 0..others {
        let node = nearby.agent().await.unwrap();
        channels[0].invite(&[node.me().did().clone()]).await.unwrap();
        channels.push(timeout(SOON, node.joined(&channels[0].id())).await.unwrap());
        nodes.push(node);
    }
    (nodes, channels, policy)
}

/// The next news of bridges that a member sees.
async fn news(of: &Channel) -> (String, BridgeNews) {
    let next = async {
        loop {
            if let Event::Bridge { id, news } = of.next().await.unwrap().event {
                return (id.sender, news);
            }
        }
    };
    timeout(SOON, next).await.expect("news of a bridge")
}

async fn said(of: &Channel) -> (String, Vec<u8>) {
    loop {
        match news(of).await.1 {
            BridgeNews::Said(said) => return (said.from, said.bytes.to_vec()),
            BridgeNews::Open(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// What a stock agent hears that is not the bridge's own word.
async fn heard(stock: &mut Agent) -> agent::Heard {
    loop {
        let heard = stock.receive().await;
        if !heard.payload.starts_with(b"[gambeson bridge] ") {
            return heard;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_agents_and_members_talk_through_a_bridge_and_both_sides_see_what_it_is() {
    let test = "stock_agents_and_members_talk_through_a_bridge_and_both_sides_see_what_it_is";
    let Some(stock) = Stock::start(test).await else { return };
    let (nodes, channels, _) = channel(1, true).await;
    let [alice, bridging] = &channels[..] else { panic!("two members") };
    let us = StockAgent::connect(&stock.endpoint, &bridge(), SECRET).await.unwrap();
    let mut mona = Agent::start(&stock, "acme/agents/mona", SECRET).await;
    let (session, ()) =
        tokio::join!(us.accept(|_, _| true), mona.create("acme/talks/plan", &["acme/bridges/one"]));
    let bridge = Bridge::start(bridging.clone(), session.unwrap()).await.unwrap();

    let end = FarEnd {
        session: "acme/talks/plan".to_owned(),
        encrypted: true,
        clients: vec!["acme/agents/mona".to_owned()],
    };
    let bridger = nodes[1].me().did().as_str().to_owned();
    assert_eq!(news(alice).await, (bridger.clone(), BridgeNews::Open(end.clone())));
    assert_eq!(bridge.far_end(), end);
    let shown = |status: &gambeson_slim::Status| {
        status.members.iter().find(|member| member.did == bridger).and_then(|member| member.bridge.clone())
            == Some(end.clone())
    };
    timeout(SOON, alice.until(shown)).await.expect("the list of members shows it").unwrap();
    let notice = String::from_utf8(mona.receive().await.payload).unwrap();
    assert!(notice.starts_with("[gambeson bridge] ") && notice.contains("not post-quantum"), "{notice}");

    mona.send("text/plain", b"hello from SLIM").await;
    assert_eq!(said(alice).await, ("acme/agents/mona".to_owned(), b"hello from SLIM".to_vec()));

    let did = nodes[0].did().as_str();
    alice.send(&b"hello from MLS"[..]).await.unwrap();
    let text = heard(&mut mona).await;
    let marked = format!("[{did} through a gambeson bridge] hello from MLS");
    assert_eq!((text.kind.as_str(), text.payload), ("text/plain", marked.into_bytes()));
    assert_eq!(text.metadata[METADATA], alice.id().to_string());
    assert_eq!(text.metadata[METADATA_FROM], did);
    alice.send(&b"{\"a\":1}"[..]).await.unwrap();
    let json = heard(&mut mona).await;
    assert_eq!((json.kind.as_str(), json.payload), ("application/json", b"{\"a\":1}".to_vec()));

    // Too much is said to be so on both sides.
    mona.send("application/octet-stream", &vec![0xff; MAX_CARRIED + 1]).await;
    match news(alice).await.1 {
        BridgeNews::Missed(reason) => assert!(reason.contains(&format!("{}", MAX_CARRIED + 1)), "{reason}"),
        other => panic!("{other:?}"),
    }
    let notice = String::from_utf8(mona.receive().await.payload).unwrap();
    assert!(notice.starts_with("[gambeson bridge] Not carried"), "{notice}");

    // The moderator ends the session: the bridge ends, and the channel goes on.
    mona.leave().await;
    timeout(SOON, bridge.ended()).await.unwrap();
    assert!(matches!(news(alice).await.1, BridgeNews::Closed(_)));
    timeout(SOON, alice.until(|status| status.bridges.is_empty())).await.unwrap().unwrap();
    bridging.send(&b"still here"[..]).await.unwrap();
    let next = async {
        loop {
            if let Event::Message { bytes, .. } = alice.next().await.unwrap().event
                && bytes == b"still here"[..]
            {
                return;
            }
        }
    };
    timeout(SOON, next).await.expect("the channel goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_bridge_stands_that_the_policy_does_not_allow() {
    let Some(stock) = Stock::start("no_bridge_stands_that_the_policy_does_not_allow").await else { return };
    let us = StockAgent::connect(&stock.endpoint, &bridge(), SECRET).await.unwrap();
    let mut bob = Agent::start(&stock, "acme/agents/bob", SECRET).await;
    let bobs = [Name::new("acme", "agents", "bob")];

    let (_nodes, channels, _) = channel(0, false).await;
    let name = Name::new("acme", "talks", "one");
    let (session, ()) = tokio::join!(us.create(&name, &bobs), bob.accept());
    let refused = Bridge::start(channels[0].clone(), session.unwrap()).await;
    assert!(matches!(&refused, Err(Error::NotAllowed(reason)) if reason.contains("policy")), "{refused:?}");

    let (nodes, channels, signed) = channel(0, true).await;
    let name = Name::new("acme", "talks", "two");
    let (session, ()) = tokio::join!(us.create(&name, &bobs), bob.accept());
    let bridge = Bridge::start(channels[0].clone(), session.unwrap()).await.unwrap();
    let mut forbidding = signed.policy().next(nodes[0].policy().unwrap().issued);
    forbidding.bridge = false;
    channels[0].change(forbidding.sign(nodes[0].me().agent()).unwrap()).await.unwrap();
    let reason = timeout(SOON, bridge.ended()).await.unwrap();
    assert!(reason.contains("policy"), "{reason}");
    assert!(channels[0].status().bridges.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_through_a_bridge_goes_through_no_other_and_a_session_has_one_bridge() {
    let test = "what_came_through_a_bridge_goes_through_no_other_and_a_session_has_one_bridge";
    let Some(stock) = Stock::start(test).await else { return };
    let (_nodes, channels, _) = channel(2, true).await;
    let mut sessions = Vec::new();
    let mut clients = Vec::new();
    let mut us = Vec::new();
    for (service, client) in [("one", "bob"), ("two", "carol")] {
        let agent = StockAgent::connect(&stock.endpoint, &Name::new("acme", "bridges", service), SECRET)
            .await
            .unwrap();
        let mut stock_client = Agent::start(&stock, &format!("acme/agents/{client}"), SECRET).await;
        let (name, invited) = (Name::new("acme", "talks", service), [Name::new("acme", "agents", client)]);
        let (session, ()) = tokio::join!(agent.create(&name, &invited), stock_client.accept());
        sessions.push(session.unwrap());
        clients.push(stock_client);
        us.push(agent);
    }
    let second = sessions.pop().unwrap();
    let first = Bridge::start(channels[1].clone(), sessions.pop().unwrap()).await.unwrap();
    let _second = Bridge::start(channels[2].clone(), second).await.unwrap();
    // Both stand: each client has had the notice.
    for client in &mut clients {
        assert!(client.receive().await.payload.starts_with(b"[gambeson bridge] "));
    }
    clients[0].send("text/plain", b"once around?").await;
    assert_eq!(said(&channels[0]).await.1, b"once around?");
    channels[0].send(&b"the last word"[..]).await.unwrap();
    // At the other bridge's client, the member's word is the next thing: the first client's did not go through.
    for client in &mut clients {
        assert!(heard(client).await.payload.ends_with(b"the last word"));
    }

    // Another session of the name that is bridged already, by another member.
    let (name, invited) = (Name::new("acme", "talks", "one"), [Name::new("acme", "agents", "carol")]);
    let (session, ()) = tokio::join!(us[1].create(&name, &invited), clients[1].accept());
    let twice = Bridge::start(channels[0].clone(), session.unwrap()).await;
    assert!(matches!(&twice, Err(Error::NotAllowed(reason)) if reason.contains("already")), "{twice:?}");
    first.stop().await;
    assert!(!channels[1].status().bridges.values().any(|end| end.session == "acme/talks/one"));
    let warned = channels[0].history(0, 1_000).await.unwrap();
    assert!(!warned.iter().any(|it| matches!(it.event, Event::Warning(Warning::ForbiddenBridge { .. }))));
}
