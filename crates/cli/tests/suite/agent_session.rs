//! Sessions between agents, over real sockets: `agent listen` and `agent connect`.

use crate::program::agents::{PASSPHRASE, acquainted, agent, did, two};
use crate::program::reports::check_line;
use crate::program::{Folder, Outcome, copy_folder, noise};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// An agent that listens on a port of its own.
struct Listener {
    child: Child,
    /// Standard error; standard output, when what is received goes into a file.
    reports: BufReader<Box<dyn Read>>,
    /// The other one of the two.
    rest: Box<dyn Read>,
    address: String,
}

impl Listener {
    fn start(folder: &Folder, arguments: &str, input: &[u8]) -> Self {
        folder.write("listener.in", input);
        Self::reading(folder, arguments, std::fs::File::open(folder.path("listener.in")).unwrap())
    }

    fn reading(folder: &Folder, arguments: &str, input: impl Into<Stdio>) -> Self {
        let arguments = format!("--json agent listen 127.0.0.1:0 {arguments}");
        let mut child = folder
            .command()
            .args(arguments.split_whitespace())
            .envs([PASSPHRASE])
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (reports, rest): (Box<dyn Read>, Box<dyn Read>) = match arguments.contains("--receive") {
            true => (Box::new(stdout), Box::new(stderr)),
            false => (Box::new(stderr), Box::new(stdout)),
        };
        let mut listener = Self { reports: BufReader::new(reports), rest, child, address: String::new() };
        listener.address = listener.tells()["address"].as_str().unwrap().to_owned();
        listener
    }

    /// The next line that it reports.
    fn tells(&mut self) -> Value {
        let mut line = String::new();
        self.reports.read_line(&mut line).unwrap();
        check_line(&line)
    }

    fn ends(mut self) -> (Option<i32>, Vec<u8>) {
        let (mut rest, mut reports) = (Vec::new(), String::new());
        self.rest.read_to_end(&mut rest).unwrap();
        self.reports.read_to_string(&mut reports).unwrap();
        assert!(!reports.contains("panicked"), "{reports}");
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn call(folder: &Folder, home: &str, target: &str, more: &str, input: &[u8]) -> Outcome {
    folder.run_with(&format!("--json agent connect {target} --home {home} {more}"), input, &[PASSPHRASE])
}

#[test]
fn bytes_go_both_ways_through_pipes_between_agents_that_never_met() {
    let folder = two();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    let (up, down) = (noise(1_000_003), noise(700_001));
    let mut listener = Listener::start(&folder, &format!("--home alice --from {bob}"), &down);
    let outcome = call(&folder, "bob", &format!("{alice}@{}", listener.address), "", &up).exits(0);
    assert!(outcome.stdout == down, "{} bytes came", outcome.stdout.len());
    let told: Value = serde_json::from_str(outcome.stderr.trim()).unwrap();
    assert_eq!(told["did"], alice);
    assert_eq!(told["key"], format!("{alice}#identity-0"));
    assert_eq!(listener.tells()["did"], bob);
    let (code, received) = listener.ends();
    assert_eq!(code, Some(0));
    assert!(received == up, "{} bytes came", received.len());
    // They know each other's cards now, and hashes are enough.
    let mut listener = Listener::start(&folder, &format!("--home alice --from {bob} --hash"), b"again");
    let outcome = call(&folder, "bob", &format!("{alice}@{}", listener.address), "--hash", b"").exits(0);
    assert_eq!(outcome.stdout, b"again");
    assert_eq!(listener.tells()["did"], bob);
    assert_eq!(listener.ends(), (Some(0), Vec::new()));
}

#[test]
fn files_go_through_and_nothing_is_overwritten() {
    let folder = acquainted();
    let (alice, up) = (did(&folder, "alice"), noise(100_000));
    folder.write("up", &up);
    let listener = Listener::start(&folder, "--home alice --anybody --receive got", b"thanks");
    let target = format!("{alice}@{}", listener.address);
    call(&folder, "bob", &target, "--send missing --receive down", b"").exits(3).tells("missing");
    call(&folder, "bob", &target, "--send up --receive up", b"").exits(3).tells("exists");
    call(&folder, "bob", &target, "--send up --receive down", b"").exits(0);
    assert_eq!(listener.ends(), (Some(0), Vec::new()));
    assert_eq!(folder.read("down"), b"thanks");
    assert!(folder.read("got") == up);
}

#[test]
fn whoever_is_not_expected_is_refused_and_the_others_still_come() {
    let folder = two();
    agent(&folder, "init --home carol").exits(0);
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|home| did(&folder, home));
    let mut listener = Listener::start(&folder, &format!("--home alice --from {bob}"), b"hello");
    let address = listener.address.clone();

    let refused = |outcome: Outcome, reason: &str| {
        assert!(outcome.stdout.is_empty(), "no byte came");
        let told = outcome.exits(1).stderr;
        let report: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
        assert_eq!(report["reason"], reason, "{told}");
    };
    // Carol is not invited; Bob does not take Alice for Carol.
    refused(call(&folder, "carol", &format!("{alice}@{address}"), "", b"secret"), "refused-by-peer");
    assert_eq!(listener.tells()["reason"], "not-admitted");
    refused(call(&folder, "bob", &format!("{carol}@{address}"), "", b"secret"), "other-peer");
    assert_eq!(listener.tells()["reason"], "refused-by-peer");
    // Somebody who speaks something else.
    let mut stranger = TcpStream::connect(&address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(listener.tells()["reason"], "tls");
    drop(stranger);
    // A card that is over.
    let late = format!("{alice}@{address} --at 2090-01-01T00:00:00Z");
    refused(call(&folder, "bob", &late, "", b"secret"), "expired");
    assert_eq!(listener.tells()["reason"], "refused-by-peer");
    // A hash of cards that Alice has never seen.
    refused(call(&folder, "bob", &format!("{alice}@{address}"), "--hash", b"secret"), "refused-by-peer");
    assert_eq!(listener.tells()["reason"], "unknown-cards");

    let outcome = call(&folder, "bob", &format!("{alice}@{address}"), "", b"good morning").exits(0);
    assert_eq!(outcome.stdout, b"hello");
    assert_eq!(listener.tells()["did"], bob);
    assert_eq!(listener.ends(), (Some(0), b"good morning".to_vec()));
}

#[test]
fn an_identity_key_that_was_replaced_opens_nothing_any_more() {
    let folder = acquainted();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    // Somebody copies Bob before he notices and replaces his keys.
    let thief = folder.path("thief");
    std::fs::create_dir(&thief).unwrap();
    copy_folder(&folder.path("bob"), &thief);
    agent(&folder, "rotate --home bob identity --compromised").exits(0);
    folder.run("agent card --home bob -o bob.card --force").exits(0);
    folder.run("agent card --home alice --add bob.card").exits(0);
    let mut listener = Listener::start(&folder, &format!("--home alice --from {bob}"), b"for Bob alone");
    let target = format!("{alice}@{}", listener.address);
    let outcome = call(&folder, "thief", &target, "", b"").exits(1);
    assert!(outcome.stdout.is_empty());
    assert_eq!(listener.tells()["reason"], "stale-card");
    let outcome = call(&folder, "bob", &target, "", b"").exits(0);
    assert_eq!(outcome.stdout, b"for Bob alone");
    assert_eq!(listener.tells()["key"], format!("{bob}#identity-1"));
}

#[test]
fn newer_cards_of_those_who_are_known_are_kept_even_where_anybody_may_come() {
    let folder = acquainted();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    let thief = folder.path("thief");
    std::fs::create_dir(&thief).unwrap();
    copy_folder(&folder.path("bob"), &thief);
    agent(&folder, "rotate --home bob identity --compromised").exits(0);
    let mut listener = Listener::start(&folder, "--home alice --anybody", b"");
    call(&folder, "bob", &format!("{alice}@{}", listener.address), "", b"").exits(0);
    assert_eq!(listener.tells()["key"], format!("{bob}#identity-1"));
    assert_eq!(listener.ends().0, Some(0));
    let mut listener = Listener::start(&folder, "--home alice --anybody", b"for Bob alone");
    call(&folder, "thief", &format!("{alice}@{}", listener.address), "", b"").exits(1);
    assert_eq!(listener.tells()["reason"], "stale-card");
    // Those who were never met are not.
    agent(&folder, "init --home carol").exits(0);
    call(&folder, "carol", &format!("{alice}@{}", listener.address), "", b"").exits(0);
    assert_eq!(listener.ends().0, Some(0));
    let known = std::fs::read_dir(folder.path("alice/cards")).unwrap().count();
    let before = std::fs::read_dir(folder.path("thief/cards")).unwrap().count();
    assert_eq!(known, before, "Alice and Bob");
}

#[test]
fn strangers_who_say_nothing_keep_nobody_out() {
    let folder = acquainted();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    let mut listener = Listener::start(&folder, &format!("--home alice --from {bob}"), b"hello");
    // More than are heard at a time.
    let silent: Vec<_> = (0..70).map(|_| TcpStream::connect(&listener.address).unwrap()).collect();
    let begun = Instant::now();
    let outcome = call(&folder, "bob", &format!("{alice}@{}", listener.address), "", b"").exits(0);
    assert_eq!(outcome.stdout, b"hello");
    assert!(begun.elapsed() < Duration::from_secs(9), "they were not waited for");
    let mut evicted = 0;
    while let told @ Value::Object(_) = listener.tells() {
        if told["type"] == "session" {
            break;
        }
        assert_eq!(told["reason"], "closed-early");
        evicted += 1;
    }
    assert!((6..=7).contains(&evicted), "the oldest had to go: {evicted}");
    assert_eq!(listener.ends().0, Some(0));
    drop(silent);
}

#[test]
fn what_could_not_all_be_sent_looks_cut_on_the_other_side() {
    let folder = acquainted();
    let alice = did(&folder, "alice");
    // Somebody who never says goodbye of itself.
    let (open, _kept) = std::io::pipe().unwrap();
    let mut listener = Listener::reading(&folder, "--home alice --anybody --receive got", open);
    // A folder is opened and not read.
    std::fs::create_dir(folder.path("unreadable")).unwrap();
    let target = format!("{alice}@{}", listener.address);
    if cfg!(unix) {
        call(&folder, "bob", &target, "--send unreadable", b"").exits(3).tells("the input");
        assert_eq!(listener.tells()["type"], "session");
        assert_eq!(listener.tells()["reason"], "truncated");
        assert_eq!(listener.ends().0, Some(1));
        assert!(!folder.exists("got"));
    }
}

#[cfg(unix)]
#[test]
fn a_person_at_the_keyboard_says_goodbye_when_the_other_side_does() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let folder = acquainted();
    let alice = did(&folder, "alice");
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
    let terminal = std::fs::File::options().read(true).write(true).open(name).unwrap();
    let listener = Listener::reading(&folder, "--home alice --anybody --receive got", terminal);
    let target = format!("{alice}@{}", listener.address);
    call(&folder, "bob", &target, "--receive down", b"hello").exits(0);
    assert_eq!(listener.ends().0, Some(0));
    assert_eq!(folder.read("got"), b"hello");
    assert_eq!(folder.read("down"), b"");
}

#[cfg(unix)]
#[test]
fn who_listens_ends_in_peace_when_asked_before_anybody_has_come() {
    use rustix::process::{Pid, Signal, kill_process};

    let folder = two();
    for signal in [Signal::TERM, Signal::INT] {
        let listener = Listener::start(&folder, "--home alice --anybody --receive got", b"");
        // Somebody who says nothing is not waited for.
        let _silent = TcpStream::connect(&listener.address).unwrap();
        kill_process(Pid::from_child(&listener.child), signal).unwrap();
        let begun = Instant::now();
        assert_eq!(listener.ends().0, Some(0));
        assert!(begun.elapsed() < Duration::from_secs(8));
        assert!(folder.names().iter().all(|name| !name.contains("got")), "{:?}", folder.names());
    }
}

/// A caller in the background, whose standard input stays open as long as the pipe that is returned.
#[cfg(unix)]
fn caller(folder: &Folder, target: &str, receive: &str) -> (Child, std::io::PipeWriter) {
    let (open, kept) = std::io::pipe().unwrap();
    let arguments = format!("--json agent connect {target} --home bob --receive {receive}");
    let mut command = folder.command();
    command.args(arguments.split_whitespace()).envs([PASSPHRASE]);
    (command.stdin(open).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap(), kept)
}

#[cfg(unix)]
#[test]
fn who_is_asked_to_end_in_a_session_sends_what_was_read_and_says_goodbye() {
    use rustix::process::{Pid, Signal, kill_process};

    let folder = acquainted();
    let alice = did(&folder, "alice");
    for signal in [Signal::TERM, Signal::INT] {
        // Neither side would ever say goodbye of itself.
        let (open, mut kept) = std::io::pipe().unwrap();
        let mut listener = Listener::reading(&folder, "--home alice --anybody --receive got --force", open);
        let target = format!("{alice}@{}", listener.address);
        let (mut caller, said) = caller(&folder, &target, "down --force");
        assert_eq!(listener.tells()["type"], "session");
        let down = noise(300_000);
        kept.write_all(&down).unwrap();
        // The pipe holds 64 KiB: when all of it was taken, the last of it is read, or about to be.
        std::thread::sleep(Duration::from_millis(500));
        kill_process(Pid::from_child(&listener.child), signal).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        // The caller has seen a whole stream, and ends as it likes.
        drop(said);
        assert_eq!(caller.wait().unwrap().code(), Some(0));
        assert!(folder.read("down") == down);
        assert_eq!(listener.ends().0, Some(0));
    }
}

#[cfg(unix)]
#[test]
fn a_side_that_never_says_goodbye_is_not_waited_for_by_who_was_asked_to_end() {
    use rustix::process::{Pid, Signal, kill_process};

    let folder = acquainted();
    let alice = did(&folder, "alice");
    let (open, _kept) = std::io::pipe().unwrap();
    let mut listener = Listener::reading(&folder, "--home alice --anybody --receive got", open);
    let (mut caller, said) = caller(&folder, &format!("{alice}@{}", listener.address), "down");
    assert_eq!(listener.tells()["type"], "session");
    kill_process(Pid::from_child(&listener.child), Signal::TERM).unwrap();
    let begun = Instant::now();
    assert_eq!(listener.tells()["reason"], "truncated");
    assert_eq!(listener.ends().0, Some(1));
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert!(!folder.exists("got"), "what may be cut is not kept");
    drop(said);
    caller.wait().unwrap();
}

#[test]
fn a_second_caller_learns_that_another_came_first() {
    use gambeson_identity::{Agent, CardContent, CardLog, CardStore, MasterSeed, Timestamp};
    use gambeson_session::{Endpoint, Error, Expected};
    use std::sync::Arc;

    let folder = acquainted();
    let alice = did(&folder, "alice");
    let (open, kept) = std::io::pipe().unwrap();
    let mut listener = Listener::reading(&folder, "--home alice --anybody --receive got", open);
    // One that is connected, and says nothing yet.
    let mut late = TcpStream::connect(&listener.address).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let target = format!("{alice}@{}", listener.address);
    let first = std::thread::scope(|scope| {
        let first = scope.spawn(|| call(&folder, "bob", &target, "", b"hello"));
        assert_eq!(listener.tells()["type"], "session");

        let now = Timestamp(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs());
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[9; 32]));
        let card = agent.first_card(now, now.after(3600), &CardContent::default()).unwrap();
        let cards = CardLog::new(card).unwrap();
        let endpoint = Endpoint::new(Arc::new(agent), &cards).unwrap();
        let expected = Expected::did(alice.parse().unwrap());
        let mut session = endpoint.connect(expected, Arc::new(CardStore::default())).unwrap();
        let error = loop {
            // What the listener refused already it reads no further: why, it has said.
            while session.wants_write() && session.write_tls(&mut late).is_ok() {}
            session.read_tls(&mut late).unwrap();
            if let Err(error) = session.process(now) {
                break error;
            }
        };
        assert!(matches!(&error, Error::RefusedByPeer(code) if code == "busy"), "{error}");
        let told = listener.tells();
        assert_eq!((&told["reason"], told["peer"].is_string()), (&"busy".into(), true));
        // Whoever comes now finds nobody who listens.
        call(&folder, "bob", &target, "", b"").exits(3).tells("refused");
        drop(kept);
        first.join().unwrap()
    });
    first.exits(0);
    assert_eq!(listener.ends().0, Some(0));
    assert_eq!(folder.read("got"), b"hello");
}

#[test]
fn a_call_names_an_agent_and_a_place() {
    let folder = two();
    let alice = did(&folder, "alice");
    for wrong in
        ["127.0.0.1:7000", "did:web:a@", &format!("{alice}@:1"), &format!("{alice}@host"), "x@host:1"]
    {
        call(&folder, "bob", wrong, "", b"").exits(2);
    }
    folder.run("agent listen 127.0.0.1:0 --home alice").exits(2).tells("--from");
    // Nobody is there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    call(&folder, "bob", &format!("{alice}@{free}"), "", b"").exits(3).tells("refused");
}
