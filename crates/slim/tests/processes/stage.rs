//! Nodes, the delivery service and the agents of a test, and what happens to the nodes meanwhile.

use crate::AGENT;
use crate::agent::{Part, identity, service};
use gambeson_slim::datapath::DatapathLink;
use gambeson_slim::delivery::{Rules, serve};
use gambeson_slim::memory::MemoryService;
use gambeson_slim::stock::{self, Maker, Node};
use libtest_mimic::Failed;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long a test may wait for all agents to say that something is done.
const PATIENCE: Duration = Duration::from_secs(240);
/// For so long after the last message another one would be heard.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// What is on stage: nodes, and a delivery service.
pub struct Stage {
    maker: Maker,
    nodes: usize,
}

/// Who talks how much.
pub struct Play {
    pub agents: usize,
    /// So many messages of each agent,
    pub messages: usize,
    /// one in this time.
    pub every: Duration,
}

/// The nodes and agents, to those who kill or stop them.
pub struct Running<'a> {
    nodes: &'a mut [Node],
    runtime: &'a Runtime,
    agents: &'a [Agent],
    /// What each agent has heard.
    heard: &'a [String],
}

impl Running<'_> {
    /// Each is killed once under load, and comes back before the next.
    pub fn each_in_turn(&mut self) {
        for at in 0..self.nodes.len() {
            thread::sleep(Duration::from_secs(1));
            self.nodes[at].kill();
            thread::sleep(Duration::from_secs(1));
            self.runtime.block_on(self.nodes[at].restart()).unwrap();
            thread::sleep(Duration::from_secs(1));
        }
    }

    /// The first is killed under load, and stays away.
    pub fn first_for_ever(&mut self) {
        thread::sleep(Duration::from_secs(3));
        self.nodes[0].kill();
    }

    /// The last agent's process is stopped, and reads nothing, until the others have each heard so many messages: of each other.
    pub fn last_reads_nothing(&mut self, messages: usize) {
        let (last, others) = self.agents.split_last().unwrap();
        last.signal("STOP");
        let begun = Instant::now();
        let heard =
            |file: &String| fs::read_to_string(file).is_ok_and(|text| text.lines().count() >= messages);
        let mut all = false;
        while !all && begun.elapsed() < PATIENCE / 2 {
            thread::sleep(Duration::from_millis(100));
            all = self.heard[..others.len()].iter().all(heard);
        }
        println!("  the others had heard each other after {:.1} s", begun.elapsed().as_secs_f64());
        last.signal("CONT");
        assert!(all, "the others hear each other");
    }
}

/// An agent's process, which ends with the value.
struct Agent {
    child: Child,
    orders: ChildStdin,
    words: Receiver<String>,
}

impl Agent {
    fn start(part: &Part) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(AGENT, part.line()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (orders, said) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (teller, words) = channel();
        thread::spawn(move || {
            BufReader::new(said).lines().map_while(Result::ok).all(|line| teller.send(line).is_ok())
        });
        Self { child, orders, words }
    }

    fn order(&mut self, word: &str) {
        writeln!(self.orders, "{word}").unwrap();
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    fn says(&self, word: &str, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        self.words.recv_timeout(left).is_ok_and(|said| said == word)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Stage {
    /// What nodes can be made of here.
    pub fn maker() -> Option<Maker> {
        let wheel = std::env::var_os("GAMBESON_SLIM_PYTHON").map(|python| Maker::Wheel(python.into()));
        wheel.or_else(Maker::installed)
    }

    /// One node.
    pub fn new(maker: Maker) -> Self {
        Self { maker, nodes: 1 }
    }

    /// A mesh of three.
    #[must_use]
    pub fn mesh(self) -> Self {
        Self { nodes: 3, ..self }
    }

    /// The agents come together and talk, while something happens to the nodes; what each has heard is looked at.
    pub fn play(self, play: &Play, meanwhile: impl FnOnce(&mut Running<'_>)) -> Result<(), Failed> {
        let runtime = Runtime::new()?;
        let folder = tempfile::tempdir()?;
        let on = Ipv4Addr::LOCALHOST.into();
        let mut nodes = runtime.block_on(stock::start(&self.maker, self.nodes, on, folder.path()))?;
        let endpoints: Vec<String> = nodes.iter().map(Node::endpoint).collect();
        // At the node that dies, too.
        let _server = runtime.block_on(async {
            let link = DatapathLink::connect(&endpoints).await?;
            serve(link, service(), Arc::new(MemoryService::new()), Rules::default()).await
        })?;
        let seed = getrandom::u64()?;
        let files: Vec<String> = (0..play.agents)
            .map(|number| folder.path().join(number.to_string()).to_string_lossy().into_owned())
            .collect();
        let mut agents: Vec<Agent> = (0..play.agents)
            .map(|number| {
                let mut nodes = endpoints.clone();
                nodes.rotate_left(number % self.nodes);
                let heard = files[number].clone();
                let Play { agents, messages, every } = *play;
                Agent::start(&Part { seed, number, agents, messages, every, nodes, heard })
            })
            .collect();
        let begun = Instant::now();
        all_say(&agents, "offered")?;
        let offered = begun.elapsed();
        agents[crate::agent::OWNER].order("create");
        all_say(&agents, "joined")?;
        let joined = begun.elapsed() - offered;
        let talking = Instant::now();
        agents.iter_mut().for_each(|agent| agent.order("talk"));
        meanwhile(&mut Running { nodes: &mut nodes, runtime: &runtime, agents: &agents, heard: &files });
        let heard = all_say(&agents, "heard");
        let talked = talking.elapsed();
        thread::sleep(AFTERWARDS);
        for agent in &mut agents {
            agent.order("end");
            // Who has ended badly says so in what it has heard.
            let _ = agent.child.wait();
        }
        let dids: Vec<String> =
            (0..play.agents).map(|number| identity(seed, number).did().as_str().to_owned()).collect();
        for (number, file) in files.iter().enumerate() {
            whole(Path::new(file), &dids, play.messages)
                .map_err(|wrong| format!("agent {number} of {}: {wrong}", play.agents))?;
        }
        heard?;
        println!(
            "  {} processes over {} nodes: offered after {:.1} s, joined {:.1} s later, {} messages heard by all after {:.1} s",
            play.agents,
            self.nodes,
            offered.as_secs_f64(),
            joined.as_secs_f64(),
            play.agents * play.messages,
            talked.as_secs_f64(),
        );
        Ok(())
    }
}

fn all_say(agents: &[Agent], word: &str) -> Result<(), Failed> {
    let until = Instant::now() + PATIENCE;
    let missing: Vec<usize> = (0..agents.len()).filter(|number| !agents[*number].says(word, until)).collect();
    match missing[..] {
        [] => Ok(()),
        _ => Err(format!("agents {missing:?} did not say {word:?}").into()),
    }
}

/// Whether everything that everybody said was heard once, in the order of its sender.
fn whole(heard: &Path, dids: &[String], messages: usize) -> Result<(), String> {
    let text = fs::read_to_string(heard).map_err(|error| error.to_string())?;
    let mut next: HashMap<&str, usize> = dids.iter().map(|did| (did.as_str(), 0)).collect();
    for line in text.lines() {
        let (sender, number) = line.split_once(' ').ok_or_else(|| format!("it wrote {line:?}"))?;
        let expected = next.get_mut(sender).ok_or_else(|| format!("it heard a stranger: {line:?}"))?;
        if number != expected.to_string() {
            return Err(format!("it heard message {number} of {sender}, not {expected}"));
        }
        *expected += 1;
    }
    match next.iter().find(|(_, count)| **count != messages) {
        Some((sender, count)) => Err(format!("it heard {count} of {messages} messages of {sender}")),
        None => Ok(()),
    }
}
