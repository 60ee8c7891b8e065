//! One agent in a process of its own: it is told what to do on its standard input, a word a line, and says what is done.

use gambeson_identity::{Agent, CardContent, CardLog, Did, MasterSeed, Role, Timestamp};
use gambeson_mls::Preset;
use gambeson_slim::datapath::DatapathLink;
use gambeson_slim::delivery::{Client, Patience};
use gambeson_slim::{
    Admit, Cards, Channel, Clock, Event, Keys, Me, MemoryStore, Name, Node, Options, Services, SystemClock,
};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};
use tokio::time::sleep;

/// The first agent makes the channel.
pub const OWNER: usize = 0;

/// Who an agent is in a test: a number, under a seed that no other test has.
pub fn identity(seed: u64, number: usize) -> Agent {
    let seed =
        blake3::derive_key("gambeson tests of channels in processes", format!("{seed} {number}").as_bytes());
    Agent::from_seed(MasterSeed::from_bytes(&seed))
}

/// The name on which the test's delivery service listens.
pub fn service() -> Name {
    Name::new("gambeson", "tests", "delivery")
}

/// What an agent is told of itself: words in a line.
pub struct Part {
    pub seed: u64,
    pub number: usize,
    pub agents: usize,
    pub messages: usize,
    pub every: Duration,
    /// The nodes in the order in which this agent asks them.
    pub nodes: Vec<String>,
    /// Where it writes what it hears.
    pub heard: String,
}

impl Part {
    pub fn line(&self) -> String {
        let Self { seed, number, agents, messages, every, nodes, heard } = self;
        format!("{seed} {number} {agents} {messages} {} {} {heard}", every.as_millis(), nodes.join(","))
    }

    fn parse(line: &str) -> Self {
        let words: Vec<&str> = line.splitn(7, ' ').collect();
        Self {
            seed: words[0].parse().unwrap(),
            number: words[1].parse().unwrap(),
            agents: words[2].parse().unwrap(),
            messages: words[3].parse().unwrap(),
            every: Duration::from_millis(words[4].parse().unwrap()),
            nodes: words[5].split(',').map(str::to_owned).collect(),
            heard: words[6].to_owned(),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn live(line: &str) {
    let part = Part::parse(line);
    let (node, client) = open(&part).await;
    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    while client.left(node.me().did().as_str()).await.unwrap() == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    say("offered");
    let channel = if part.number == OWNER {
        order(&mut orders, "create").await;
        let channel = node.create(node.policy().unwrap().sign(node.me().agent()).unwrap()).await.unwrap();
        let others: Vec<Did> =
            (1..part.agents).map(|number| identity(part.seed, number).did().clone()).collect();
        channel.invite(&others).await.unwrap();
        channel
    } else {
        loop {
            if let Some(channel) = node.channels().pop() {
                break channel;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    channel.until(|status| status.members.len() == part.agents).await.unwrap();
    say("joined");
    order(&mut orders, "talk").await;
    tokio::join!(speak(&channel, &part), hear(&channel, &part, &mut orders));
    // What went wrong beside any call is told to who looks into why a test fails.
    for (_, report) in node.reports() {
        eprintln!("agent {}: {report}", part.number);
    }
}

async fn open(part: &Part) -> (Node, Client) {
    let agent = Arc::new(identity(part.seed, part.number));
    let now = Timestamp(SystemClock.now() / 1000);
    let content = CardContent { groups: vec![Role::GroupMlDsa65], ..CardContent::default() };
    let log = CardLog::new(agent.first_card(now, now.after(86_400), &content).unwrap()).unwrap();
    let link = async || DatapathLink::connect(&part.nodes).await.unwrap();
    let patience = Patience { deadline: Duration::from_secs(60), ..Patience::default() };
    let client = Client::new(link().await, service(), patience).await.unwrap();
    let me = Me::new(agent, &log, Preset::Default).unwrap();
    let owner = identity(part.seed, OWNER).did().clone();
    let options = Options { admit: Admit::From([owner].into()), key_packages: 1, ..Options::default() };
    let (services, store) = (Services::of(Arc::new(client.clone())), Arc::new(MemoryStore::new()));
    let link = Arc::new(link().await);
    let node =
        Node::open(me, &log, Arc::new(Cards::default()), link, services, store, options).await.unwrap();
    (node, client)
}

type Orders = tokio::io::Lines<BufReader<Stdin>>;

/// Waits for a word. Nobody gives orders any more: the test has ended.
async fn order(orders: &mut Orders, word: &str) {
    match orders.next_line().await {
        Ok(Some(line)) => assert_eq!(line, word),
        _ => std::process::exit(1),
    }
}

fn say(word: &str) {
    println!("{word}");
}

async fn speak(channel: &Channel, part: &Part) {
    for number in 0..part.messages {
        channel.send(number.to_string()).await.unwrap();
        sleep(part.every).await;
    }
}

/// Writes down who said what, and goes on after the last message: one that comes twice is heard.
async fn hear(channel: &Channel, part: &Part, orders: &mut Orders) {
    let mut file = File::create(&part.heard).unwrap();
    let (mut count, all) = (0, part.agents * part.messages);
    loop {
        let next = tokio::select! {
            next = channel.next() => next.unwrap(),
            () = order(orders, "end") => break,
        };
        match next.event {
            Event::Message { id, bytes, .. } => {
                writeln!(file, "{} {}", id.sender, String::from_utf8_lossy(&bytes)).unwrap();
                count += 1;
                if count == all {
                    say("heard");
                }
            }
            Event::Warning(warning) => eprintln!("agent {}: {warning:?}", part.number),
            _ => {}
        }
    }
    file.sync_all().unwrap();
}
