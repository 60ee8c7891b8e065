//! The same over nodes of SLIM that run as processes of their own, and what happens when one of them dies or does not answer.

mod options;

use super::*;
use gambeson_slim::datapath::{DatapathLink, QUEUE_FRAMES};
use gambeson_slim::stock::{self, Maker, Node};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;

/// How long a link may take to notice that its node is gone, or here again: it pauses up to eight seconds between two tries.
const BACK: Duration = Duration::from_secs(60);

/// What nodes can be made of here.
fn maker(test: &str) -> Option<Maker> {
    let wheel = std::env::var_os("GAMBESON_SLIM_PYTHON").map(|python| Maker::Wheel(python.into()));
    let maker = wheel.or_else(Maker::installed);
    if maker.is_none() {
        assert!(std::env::var_os("CI").is_none(), "neither slim nor a Python with slim-bindings is here");
        println!("test {test} (skipped): neither slim nor a Python with slim-bindings is here");
    }
    maker
}

/// So many nodes, which end with the value; none where there is nothing to make them of, which `cargo xtask test` brings.
async fn nodes(test: &str, count: usize) -> Option<(Vec<Node>, TempDir)> {
    let maker = maker(test)?;
    let folder = tempfile::tempdir().unwrap();
    let nodes = stock::start(&maker, count, Ipv4Addr::LOCALHOST.into(), folder.path()).await.unwrap();
    Some((nodes, folder))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_over_a_stock_node_does_what_links_do() {
    let Some((nodes, _folder)) = nodes("a_link_over_a_stock_node_does_what_links_do", 1).await else {
        return;
    };
    let endpoint = nodes[0].endpoint();
    holds(async || DatapathLink::connect([&endpoint]).await.unwrap()).await;
    let link = DatapathLink::connect([&endpoint]).await.unwrap();
    let connected = link.connected().unwrap();
    assert_eq!((connected.endpoint.as_str(), connected.version.split('.').count()), (endpoint.as_str(), 3));
}

/// Publishes until every listener has heard something, then until none hears: what the nodes of a mesh know of each other's
/// listeners takes them a moment, and so does what a link subscribes to again.
async fn acquainted(sender: &DatapathLink, name: &Name, listeners: &[&DatapathLink]) {
    for listener in listeners {
        let begun = Instant::now();
        loop {
            sender.publish(name, To::All, Bytes::from_static(b"?")).await.unwrap();
            if timeout(Duration::from_millis(100), listener.receive()).await.is_ok() {
                break;
            }
            assert!(begun.elapsed() < BACK, "the nodes do not know each other");
        }
    }
    for listener in listeners {
        while !silent(*listener).await {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_at_three_nodes_of_a_mesh_hear_each_other() {
    let Some((nodes, _folder)) = nodes("links_at_three_nodes_of_a_mesh_hear_each_other", 3).await else {
        return;
    };
    let name = name();
    let mut links = Vec::new();
    for (instance, node) in nodes.iter().enumerate() {
        let link = DatapathLink::connect([node.endpoint()]).await.unwrap();
        link.subscribe(&name.clone().with_instance(instance as u128)).await.unwrap();
        links.push(link);
    }
    for sender in 0..3 {
        let others: Vec<_> = (0..3).filter(|at| *at != sender).map(|at| &links[at]).collect();
        acquainted(&links[sender], &name, &others).await;
        for number in 0..200_u32 {
            links[sender].publish(&name, To::All, number.to_be_bytes().to_vec().into()).await.unwrap();
        }
        for other in others {
            for number in 0..200_u32 {
                assert_eq!(next(other).await.frame, number.to_be_bytes()[..], "once, and in order");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_node_of_a_mesh_is_left_for_the_next_under_load_and_nothing_blocks() {
    let test = "a_killed_node_of_a_mesh_is_left_for_the_next_under_load_and_nothing_blocks";
    let Some((mut nodes, _folder)) = nodes(test, 3).await else { return };
    let name = name();
    let mut endpoints: Vec<String> = nodes.iter().map(Node::endpoint).collect();
    let sender = DatapathLink::connect([&endpoints[2]]).await.unwrap();
    let link = Arc::new(DatapathLink::connect(&endpoints).await.unwrap());
    let old = name.clone().with_instance(1);
    link.subscribe(&old).await.unwrap();
    acquainted(&sender, &name, &[&link]).await;
    let load = {
        let (name, link) = (name.clone(), Arc::clone(&link));
        tokio::spawn(async move {
            let mut slowest = Duration::ZERO;
            for _ in 0..300 {
                for (from, to) in [(&sender, &name), (&*link, &name)] {
                    let begun = Instant::now();
                    from.publish(to, To::All, vec![7; 4096].into()).await.unwrap();
                    slowest = slowest.max(begun.elapsed());
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            (sender, slowest)
        })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    nodes[0].kill();
    timeout(SOON, link.gap()).await.expect("the loss is told");
    let later = name.clone().with_instance(2);
    link.subscribe(&later).await.unwrap();
    assert_eq!(link.connected().unwrap().endpoint, endpoints.remove(1), "the next node has it");
    let (sender, slowest) = load.await.unwrap();
    assert!(slowest < Duration::from_secs(4), "nobody waits for the dead: {slowest:?}");
    while !silent(&*link).await {}
    acquainted(&sender, &name, &[&link]).await;
    link.unsubscribe(&old).await.unwrap();
    link.unsubscribe(&later).await.unwrap();
    sender.publish(&name, To::All, Bytes::from_static(b"!")).await.unwrap();
    assert!(silent(&*link).await, "both subscriptions ended at the node that took them over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_comes_back_finds_its_listeners_again() {
    let Some((mut nodes, _folder)) = nodes("a_node_that_comes_back_finds_its_listeners_again", 1).await
    else {
        return;
    };
    let name = name();
    let sender = DatapathLink::connect([nodes[0].endpoint()]).await.unwrap();
    let link = DatapathLink::connect([nodes[0].endpoint()]).await.unwrap();
    link.subscribe(&name.clone().with_instance(1)).await.unwrap();
    for round in 0..2_u8 {
        nodes[0].kill();
        for lost in [&sender, &link] {
            timeout(BACK, lost.gap()).await.expect("the loss is told");
            assert!(lost.connected().is_none());
        }
        let refused = timeout(BACK, sender.publish(&name, To::All, Bytes::from_static(b"to nobody"))).await;
        assert!(
            matches!(refused, Ok(Err(Error::LinkBusy(_)))),
            "it waits for its deadline only: {refused:?}"
        );
        nodes[0].restart().await.unwrap();
        for found in [&sender, &link] {
            timeout(BACK, found.gap()).await.expect("that it listens again is told");
        }
        sender.publish(&name, To::All, vec![round].into()).await.unwrap();
        assert_eq!(next(&link).await.frame, vec![round]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_of_a_mesh_that_comes_back_knows_the_listeners_at_the_others() {
    let test = "a_node_of_a_mesh_that_comes_back_knows_the_listeners_at_the_others";
    let Some((mut nodes, _folder)) = nodes(test, 3).await else { return };
    let name = name();
    let link = DatapathLink::connect([nodes[1].endpoint()]).await.unwrap();
    link.subscribe(&name.clone().with_instance(1)).await.unwrap();
    nodes[0].kill();
    nodes[0].restart().await.unwrap();
    let sender = DatapathLink::connect([nodes[0].endpoint()]).await.unwrap();
    acquainted(&sender, &name, &[&link]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_receive_stops_nobody_and_learns_that_frames_are_lost() {
    let test = "who_does_not_receive_stops_nobody_and_learns_that_frames_are_lost";
    let Some((nodes, _folder)) = nodes(test, 1).await else { return };
    let name = name();
    let mut links = Vec::new();
    for instance in 0..3 {
        let link = DatapathLink::connect([nodes[0].endpoint()]).await.unwrap();
        link.subscribe(&name.clone().with_instance(instance)).await.unwrap();
        links.push(link);
    }
    let [sender, reader, sleeper] = <[_; 3]>::try_from(links).unwrap();
    let count = QUEUE_FRAMES as u32 + 100;
    let reading = tokio::spawn(async move {
        for number in 0..count {
            assert_eq!(next(&reader).await.frame, number.to_be_bytes()[..]);
        }
    });
    for number in 0..count {
        sender.publish(&name, To::All, number.to_be_bytes().to_vec().into()).await.unwrap();
    }
    reading.await.unwrap();
    timeout(SOON, sleeper.gap()).await.expect("the loss is told");
    assert_eq!(next(&sleeper).await.frame, 0_u32.to_be_bytes()[..], "what it has is the oldest");
}

#[tokio::test]
async fn without_a_node_the_error_names_who_was_asked() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = format!("127.0.0.1:{port}");
    let error = DatapathLink::connect([&endpoint]).await.unwrap_err();
    assert!(matches!(&error, Error::NoNode(asked) if asked.contains(&endpoint)), "{error}");
}

/// A listener on a name that stops reading: what the node sends it stays in the connection, and the node still counts it as a listener.
async fn deaf(node: &Node, name: &Name) -> DatapathLink {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let address = node.endpoint().trim_start_matches("http://").parse().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(async move {
        // One connection: the link finds nobody when it comes again.
        let (near, _) = listener.accept().await.unwrap();
        drop(listener);
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 << 10).unwrap();
        let far = socket.connect(address).await.unwrap();
        let ((mut from_link, mut to_link), (mut from_node, mut to_node)) =
            (near.into_split(), far.into_split());
        tokio::spawn(async move {
            let _ = tokio::io::copy(&mut from_link, &mut to_node).await;
            // The node's end stays open.
            std::future::pending::<()>().await;
        });
        tokio::select! {
            _ = tokio::io::copy(&mut from_node, &mut to_link) => {}
            _ = stopped => {}
        }
        std::future::pending::<()>().await;
    });
    let link = DatapathLink::connect([endpoint]).await.unwrap();
    link.subscribe(&name.clone().with_instance(9)).await.unwrap();
    let _ = stop.send(());
    link
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_never_reads_stops_a_link_on_its_name_only() {
    let test = "a_listener_that_never_reads_stops_a_link_on_its_name_only";
    let Some((nodes, _folder)) = nodes(test, 1).await else { return };
    let [blocked, other] = [name(), name()];
    let reader = DatapathLink::connect([nodes[0].endpoint()]).await.unwrap();
    reader.subscribe(&other.clone().with_instance(1)).await.unwrap();
    let sender = DatapathLink::connect([nodes[0].endpoint()]).await.unwrap();
    let _deaf = deaf(&nodes[0], &blocked).await;
    let frame = Bytes::from(vec![0; 16 << 10]);
    let begun = Instant::now();
    while !matches!(sender.publish(&blocked, To::All, frame.clone()).await, Err(Error::LinkBusy(_))) {
        assert!(begun.elapsed() < SOON, "who does not read stops who publishes: else this tests nothing");
    }
    // Nothing else goes either, until the link takes another connection.
    let begun = Instant::now();
    let subscribed = other.clone().with_instance(2);
    assert!(timeout(Duration::from_secs(1), sender.subscribe(&subscribed)).await.is_err());
    while timeout(Duration::from_millis(100), reader.receive()).await.is_err() {
        assert!(begun.elapsed() < BACK, "the link goes on");
        let _ =
            timeout(Duration::from_secs(2), sender.publish(&other, To::All, Bytes::from_static(b"on"))).await;
    }
    acquainted(&reader, &other, &[&sender]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_on_which_little_is_said_finds_out_by_what_it_subscribes_to_that_nothing_goes() {
    let test = "a_link_on_which_little_is_said_finds_out_by_what_it_subscribes_to_that_nothing_goes";
    let Some((nodes, _folder)) = nodes(test, 1).await else { return };
    let [blocked, other] = [name(), name()];
    let [flooding, sender, reader] = {
        let link = async || DatapathLink::connect([nodes[0].endpoint()]).await.unwrap();
        [link().await, link().await, link().await]
    };
    reader.subscribe(&other.clone().with_instance(1)).await.unwrap();
    let _deaf = deaf(&nodes[0], &blocked).await;
    let frame = Bytes::from(vec![0; 16 << 10]);
    while !matches!(flooding.publish(&blocked, To::All, frame.clone()).await, Err(Error::LinkBusy(_))) {}
    // It goes as far as the node.
    sender.publish(&blocked, To::All, Bytes::from_static(b"little")).await.unwrap();
    let subscribed = other.clone().with_instance(2);
    assert!(timeout(Duration::from_secs(1), sender.subscribe(&subscribed)).await.is_err());
    let begun = Instant::now();
    while timeout(Duration::from_secs(1), reader.receive()).await.is_err() {
        assert!(begun.elapsed() < 2 * BACK, "the link goes on");
        let _ =
            timeout(Duration::from_secs(2), sender.publish(&other, To::All, Bytes::from_static(b"on"))).await;
    }
    acquainted(&reader, &other, &[&sender]).await;
}
