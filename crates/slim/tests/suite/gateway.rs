//! What clients of a gateway have under way: how much, and for how long.

use std::sync::Arc;
use std::time::Duration;

use crate::world::World;
use futures_util::{SinkExt, StreamExt};
use gambeson_slim::FileStore;
use gambeson_slim::gateway::{Gateway, SUBPROTOCOL, Token};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

/// How long anything may take.
const SOON: Duration = Duration::from_secs(30);

/// A client that says what it is told to.
struct Client(WebSocketStream<TcpStream>);

impl Client {
    async fn welcomed(gateway: &Gateway, token: &Token) -> Self {
        let mut request = gateway.url().into_client_request().unwrap();
        request.headers_mut().insert("Sec-WebSocket-Protocol", SUBPROTOCOL.parse().unwrap());
        let stream = TcpStream::connect(gateway.address()).await.unwrap();
        let mut client = Self(client_async(request, stream).await.unwrap().0);
        client.say(&json!({ "hello": { "token": token.reveal(), "session": "07".repeat(16) } })).await;
        assert_eq!(client.hear().await["welcome"]["resumed"], false);
        client
    }

    async fn say(&mut self, frame: &Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    /// The next frame.
    async fn hear(&mut self) -> Value {
        loop {
            match timeout(SOON, self.0.next()).await.unwrap().unwrap().unwrap() {
                Message::Text(frame) => return serde_json::from_str(&frame).unwrap(),
                Message::Ping(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_that_waits_lets_other_calls_pass_and_ends_with_the_gateway_which_frees_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FileStore::open(folder.path().join("store"));
    let world = World::new(310);
    let mut alice = world.agent("alice");
    alice.store = Arc::new(open().unwrap());
    let node = Arc::new(alice.node().await);
    drop(alice);
    let token = Token::random().unwrap();
    let agents = vec![(token.clone(), Arc::clone(&node))];
    let gateway = Gateway::start("127.0.0.1:0".parse().unwrap(), agents, vec![]).await.unwrap();
    let mut client = Client::welcomed(&gateway, &token).await;
    let join = json!({ "join": { "channel": "07".repeat(32), "wait": 86_400_000 } });
    client.say(&json!({ "call": { "id": 1, "settled": 0, "do": join } })).await;
    for id in 2..=202 {
        let call = json!({ "id": id, "settled": 0, "open": [1], "do": { "channels": {} } });
        client.say(&json!({ "call": call })).await;
        assert_eq!(client.hear().await, json!({ "answer": { "id": id, "done": [] } }));
    }
    assert!(open().is_err(), "one has it open at a time");
    drop((gateway, node));
    let closed = async {
        while open().is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, closed).await.expect("nothing holds the store");
}
