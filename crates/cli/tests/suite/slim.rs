//! Nodes and channels on the command line.

use crate::program::Folder;

#[test]
fn slim_up_refuses_limits_that_its_engine_does_not_know() {
    let folder = Folder::new();
    for line in
        ["memory --store 64", "memory --keep 1", "nats --channel 1", "nats --keep 1", "memory --keep-blobs 1"]
    {
        let refused = folder.run(&format!("slim up --data . --engine {line}")).exits(2);
        refused.tells(line.split(' ').nth(1).unwrap());
    }
    folder.run("slim up --store 0").exits(2);
    assert!(folder.names().is_empty());
}

#[test]
fn slim_up_listens_for_other_machines_only_if_all_clients_are_trusted() {
    let folder = Folder::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:46357", "[::ffff:192.0.2.1]:46357"] {
        let line = format!("slim up --engine memory --slim ./none --listen {address}");
        folder.run(&line).exits(2).tells("--trust-every-client");
        // Then it goes on, to a node that is not there.
        folder.run(&format!("{line} --trust-every-client")).exits(3);
    }
    folder.run("slim up --engine memory --slim ./none --listen [::ffff:127.0.0.1]:0").exits(3);
    let help = folder.run("slim up --help").exits(0);
    assert!(help.text().contains("trust each other"), "{}", help.text());
}

#[cfg(unix)]
#[test]
fn programs_of_others_get_no_secret_of_the_environment() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let secrets = [("GAMBESON_PASSPHRASE", "hush"), ("GAMBESON_SLIM_AUTH", "bearer hush")];
    for name in ["slim", "nats-server", "python3"] {
        let told = folder.path(&format!("{name}.env"));
        folder.write(name, format!("#!/bin/sh\nenv > {}\nexit 1\n", told.display()));
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let here = folder.path(".").canonicalize().unwrap();
    let (path, home) = (here.to_str().unwrap(), here.join("home"));
    for (line, program, path) in [
        ("slim up --engine memory --slim ./slim", "slim", "/nowhere"),
        ("slim up --engine nats --data data --slim ./slim", "nats-server", path),
        ("slim up --engine memory", "python3", path),
    ] {
        // With `slim` in PATH the wheel is not installed.
        if program == "python3" {
            std::fs::remove_file(folder.path("slim")).unwrap();
        }
        let mut command = folder.command();
        command.args(line.split(' ')).envs(secrets).env_remove("GAMBESON_SLIM_PYTHON");
        command.envs([("PATH", path), ("HOME", home.to_str().unwrap()), ("XDG_DATA_HOME", "")]);
        let ended = command.output().unwrap();
        let told = folder.path(&format!("{program}.env"));
        let why = String::from_utf8_lossy(&ended.stderr);
        assert!(told.exists(), "{line}: {program} was not started: {why}");
        let environment = std::fs::read_to_string(told).unwrap();
        assert!(!environment.contains("hush"), "{program}: {environment}");
    }
}

#[test]
fn options_of_nodes_that_make_no_sense_are_refused_before_anybody_is_called() {
    let folder = Folder::new();
    folder.write("auth", b"alice sesame\n");
    folder.write("colon", b"basic alice\n");
    folder.write("empty.pem", b"");
    for (options, told) in [
        ("--node-ca empty.pem", "https://"),
        ("--slim https://localhost:1 --node-ca empty.pem", "no PEM certificate"),
        ("--slim https://localhost:1 --node-cert empty.pem", "--node-key"),
        ("--node-auth auth", "basic USER:PASSWORD or bearer TOKEN"),
        ("--node-auth colon", "basic USER:PASSWORD"),
    ] {
        folder.run(&format!("slim doctor {options}")).exits(2).tells(told);
    }
    folder.run("slim doctor --node-auth missing").exits(3).tells("missing");
}

#[cfg(not(feature = "sim"))]
#[test]
fn without_the_simulator_the_command_says_how_to_get_it() {
    Folder::new().run("sim --members 8").exits(3).tells("--features sim");
}

#[cfg(feature = "sim")]
#[test]
fn sim_tells_of_suites_side_by_side_marks_each_figure_and_draws() {
    let folder = Folder::new();
    let ran =
        folder.run("sim --json --members 12 --full 4 --minutes 4 --leave 20 --seed 7 --out plots").exits(0);
    let rows = ran.rows();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["suite"], "MLS_192_MLKEM768_AES256GCM_SHA384_MLDSA65");
    for row in &rows[..2] {
        let figures = row["figures"].as_object().unwrap();
        assert_eq!(figures["whole members in one epoch at the end"]["value"], 4.0);
        assert_eq!(figures["bytes in, GB all members and hour"]["mark"], "multiplied");
        assert_eq!(figures["bytes in, MB a whole member and hour"]["mark"], "measured");
        assert!(!row["samples"].as_object().unwrap().is_empty());
    }
    assert_eq!(rows[2]["plots"], serde_json::json!(["sim-12.md", "sim-12.svg"]));
    let [page, picture] = ["md", "svg"].map(|kind| folder.read(&format!("plots/sim-12.{kind}")));
    let page = String::from_utf8(page).unwrap();
    assert!(
        page.contains(
            "gambeson sim --members 12 --minutes 4 --full 4 --seed 7 --leave 20 --loss 1 --partition 5`"
        ),
        "{page}"
    );
    assert!(page.contains("| 0xf00a: values |") && page.contains("| 0x1: values |"), "{page}");
    assert!(String::from_utf8(picture).unwrap().contains("<svg"));
    folder.run("sim --members 8 --full 4 --minutes 1 --suite 1 --check").exits(2).tells("goals exist for");
    folder.run("sim --members 8 --full 3").exits(2).tells("at least 4");
    folder.run("sim --suite 0x7777").exits(2).tells("unknown suite");
}

#[cfg(unix)]
mod with_slim {
    use crate::program::{self, Folder};
    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    use serde_json::{Value, json};
    use std::ffi::OsString;
    use std::fs::{self, Permissions};
    use std::io::{BufRead, BufReader};
    use std::net::TcpStream;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, ChildStdout, Command, Stdio};
    use std::time::{Duration, Instant};
    use tungstenite::client::IntoClientRequest;
    use tungstenite::{Message, WebSocket};

    /// The environment variable that names a Python with the wheel.
    const PYTHON: &str = "GAMBESON_SLIM_PYTHON";

    /// What nodes are made of, which `cargo xtask test` brings.
    fn python(test: &str) -> Option<OsString> {
        let python = std::env::var_os(PYTHON);
        if python.is_none() {
            assert!(std::env::var_os("CI").is_none(), "no Python with slim-bindings is here");
            println!("test {test} (skipped): no Python with slim-bindings is here");
        }
        python
    }

    /// `slim up`, which ends with its test.
    struct Up {
        child: Child,
        reports: BufReader<ChildStdout>,
        nodes: Vec<i32>,
        endpoints: String,
        /// What it said besides.
        said: Vec<Value>,
    }

    impl Up {
        /// None where there is nothing to make nodes of.
        fn start(test: &str, folder: &Folder, more: &str) -> Option<Self> {
            python(test)?;
            Some(Self::run(folder.command(), more))
        }

        fn run(mut command: Command, more: &str) -> Self {
            command.env(program::agents::PASSPHRASE.0, program::agents::PASSPHRASE.1);
            command.args("slim up --json --listen 127.0.0.1:0 --data .".split_whitespace());
            let mut child = command.args(more.split_whitespace()).stdout(Stdio::piped()).spawn().unwrap();
            let reports = BufReader::new(child.stdout.take().unwrap());
            let mut up =
                Self { child, reports, nodes: Vec::new(), endpoints: String::new(), said: Vec::new() };
            while up.endpoints.is_empty() {
                let report = up.next();
                if report["type"] == "node" {
                    let pid = report["pid"].as_i64().unwrap();
                    assert_eq!(report["version"].as_str().unwrap().split('.').count(), 3, "{report}");
                    up.nodes.push(pid.try_into().unwrap());
                }
                if let Some(join) = report["join"].as_str() {
                    up.endpoints = join.strip_prefix("export GAMBESON_SLIM=").unwrap().to_owned();
                }
                up.said.push(report);
            }
            up
        }

        fn next(&mut self) -> Value {
            let mut line = String::new();
            self.reports.read_line(&mut line).unwrap();
            program::reports::check_line(&line)
        }

        fn signal(&self, signal: Signal) {
            kill_process(Pid::from_child(&self.child), signal).unwrap();
        }
    }

    impl Drop for Up {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    /// A Python that makes environments of itself, writes down what is installed in them, and else is the one with the wheel. The word in
    /// the file `pip` says what becomes of an installation.
    const STAND_IN: &str = r#"#!/bin/sh
PATH=/usr/bin:/bin
case "$1 $2" in
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip")
    echo "$*" >> installed
    case "$(cat pip)" in
    refuses) echo "ERROR: No matching distribution found" >&2 && exit 1 ;;
    dies) kill -KILL $PPID ;;
    esac ;;
*) exec "$WITH_THE_WHEEL" "$@" ;;
esac
"#;

    #[test]
    fn the_wheel_is_installed_once_and_an_installation_that_fails_or_is_killed_leaves_none() {
        let test = "the_wheel_is_installed_once_and_an_installation_that_fails_or_is_killed_leaves_none";
        let folder = Folder::new();
        let Some(python) = python(test) else { return };
        fs::create_dir(folder.path("bin")).unwrap();
        folder.write("bin/python3", STAND_IN);
        fs::set_permissions(folder.path("bin/python3"), Permissions::from_mode(0o700)).unwrap();
        let command = || {
            let mut command = folder.command();
            command.env_remove(PYTHON).env("WITH_THE_WHEEL", &python).env("PATH", folder.path("bin"));
            command.env("HOME", folder.path("home")).env("XDG_DATA_HOME", folder.path("data"));
            command
        };
        let up = |pip: &str| {
            folder.write("pip", pip);
            let mut command = command();
            command.args("slim up --listen 127.0.0.1:0 --engine memory".split_whitespace());
            command
        };
        let failed = program::finish(up("refuses"), b"").exits(3).tells("No matching distribution found");
        failed.tells("cargo install agntcy-slim");
        assert!(folder.names_in("data/gambeson").is_empty());
        let killed = up("dies").stderr(Stdio::null()).status().unwrap();
        assert_eq!(killed.signal(), Some(Signal::KILL.as_raw()));
        folder.write("pip", "installs");
        for _ in 0..2 {
            let mut up = Up::run(command(), "--engine memory");
            up.signal(Signal::TERM);
            assert_eq!(up.child.wait().unwrap().code(), Some(0));
        }
        let installed = String::from_utf8(folder.read("installed")).unwrap();
        let installed: Vec<&str> = installed.lines().collect();
        assert_eq!(installed.len(), 3, "what failed is done again, what is whole is not: {installed:?}");
        assert!(installed.iter().all(|line| line.contains("--only-binary :all: slim-bindings==")));
    }

    /// What the program `slim` does with its command line, by the node of the wheel.
    const NODE_IN_PATH: &str = r#"#!/bin/sh
[ "$1" = --config ] && exec "$WITH_THE_WHEEL" "$NODE" "$2"
"#;

    #[test]
    fn a_program_slim_in_path_is_the_node_its_join_line_leads_there_and_nothing_stays_among_temporary_files()
    {
        let test = "a_program_slim_in_path_is_the_node_its_join_line_leads_there_and_nothing_stays_among_temporary_files";
        let folder = Folder::new();
        let Some(python) = python(test) else { return };
        program::agents::agent(&folder, "init --channels --home alice").exits(0);
        for made in ["bin", "tmp"] {
            fs::create_dir(folder.path(made)).unwrap();
        }
        folder.write("bin/slim", NODE_IN_PATH);
        fs::set_permissions(folder.path("bin/slim"), Permissions::from_mode(0o700)).unwrap();
        let mut command = folder.command();
        command.env_remove(PYTHON).env("WITH_THE_WHEEL", &python).env("PATH", folder.path("bin"));
        command.env("NODE", concat!(env!("CARGO_MANIFEST_DIR"), "/../slim/src/stock_node.py"));
        command.env("TMPDIR", folder.path("tmp")).env("HOME", folder.path("home"));
        let mut up = Up::run(command, "--engine memory");
        assert!(!folder.names_in("tmp").is_empty(), "the node's configuration stands there");
        let doctor = "slim doctor --json --home alice";
        let report = folder.run_with(doctor, b"", &[("GAMBESON_SLIM", &up.endpoints)]).exits(0).json();
        assert!(report["sees"]["nodes"].as_str().unwrap().contains("no content"), "{report}");
        up.signal(Signal::TERM);
        assert_eq!(up.child.wait().unwrap().code(), Some(0));
        assert!(soon(|| !up.nodes.iter().any(|pid| runs(*pid))));
        assert_eq!(folder.names_in("tmp"), [""; 0]);
        assert!(!folder.path("home").exists(), "nothing was installed");
    }

    fn soon(mut so: impl FnMut() -> bool) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(120) {
            if so() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }

    fn runs(pid: i32) -> bool {
        test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
    }

    /// What `slim doctor` looks at.
    const CHECKS: [&str; 7] = [
        "identity",
        "node",
        "small frame",
        "largest frame",
        "delivery service",
        "largest blob",
        "log and clock",
    ];

    #[test]
    fn slim_up_starts_a_mesh_that_doctor_finds_well_and_leaves_nothing_when_it_ends() {
        let test = "slim_up_starts_a_mesh_that_doctor_finds_well_and_leaves_nothing_when_it_ends";
        let folder = Folder::new();
        program::agents::agent(&folder, "init --channels --home alice").exits(0);
        for signal in [Signal::TERM, Signal::INT] {
            let Some(mut up) = Up::start(test, &folder, "--nodes 3") else { return };
            assert_eq!(up.nodes.len(), 3);
            let endpoints: Vec<&str> = up.endpoints.split(',').collect();
            assert_eq!(endpoints.len(), 3);
            // The delivery service is at one of them: from the others only a mesh leads there.
            let begun = Instant::now();
            for endpoint in endpoints {
                let doctor = format!("slim doctor --json --home alice --slim {endpoint}");
                let mut told = folder.run(&doctor);
                while told.code != 0 && begun.elapsed() < Duration::from_secs(120) {
                    told = folder.run(&doctor);
                }
                let report = told.exits(0).json();
                let checks = report["checks"].as_array().unwrap().iter();
                let names: Vec<&str> = checks.map(|check| check["name"].as_str().unwrap()).collect();
                assert_eq!(names, CHECKS, "{report}");
            }
            let taken = folder.run("slim up --listen 127.0.0.1:0 --data .").exits(3);
            taken.tells("another slim up may have it open");
            up.signal(signal);
            assert!(soon(|| up.child.try_wait().unwrap().is_some()));
            assert_eq!(up.child.wait().unwrap().code(), Some(0));
            assert!(soon(|| !up.nodes.iter().any(|pid| runs(*pid))), "no node outlives it");
            assert_eq!(folder.names(), ["alice", "delivery.redb"]);
        }
    }

    #[test]
    fn a_node_that_dies_is_started_again_and_killing_slim_up_leaves_no_node() {
        let test = "a_node_that_dies_is_started_again_and_killing_slim_up_leaves_no_node";
        let folder = Folder::new();
        program::agents::agent(&folder, "init --channels --home alice").exits(0);
        let Some(mut up) = Up::start(test, &folder, "--nodes 2 --engine memory") else { return };
        kill_process(Pid::from_raw(up.nodes[0]).unwrap(), Signal::KILL).unwrap();
        let report = up.next();
        assert_eq!(report["type"], "restarted", "{report}");
        up.nodes[0] = report["pid"].as_i64().unwrap().try_into().unwrap();
        // The service has gone to the other node, and is found from this one as soon as the two have met.
        let doctor = format!("slim doctor --home alice --slim {}", up.endpoints);
        assert!(soon(|| folder.run(&doctor).code == 0));
        up.signal(Signal::KILL);
        assert!(soon(|| !up.nodes.iter().any(|pid| runs(*pid))));
        assert_eq!(folder.names(), ["alice"], "with --engine memory there is no file");
    }

    /// Runs a command of an agent to its end, on these nodes.
    fn channel(folder: &Folder, nodes: &str, line: &str, input: &[u8]) -> program::Outcome {
        let line = format!("channel {line} --json --slim {nodes}");
        folder.run_with(&line, input, &[program::agents::PASSPHRASE])
    }

    #[test]
    fn three_agents_in_processes_of_their_own_talk_and_who_is_removed_hears_no_more() {
        let test = "three_agents_in_processes_of_their_own_talk_and_who_is_removed_hears_no_more";
        let folder = Folder::new();
        let Some(up) = Up::start(test, &folder, "--engine memory") else { return };
        let nodes = up.endpoints.as_str();
        let dids = ["alice", "bob", "carol"].map(|home| {
            program::agents::agent(&folder, &format!("init --channels --home {home}")).exits(0);
            program::agents::did(&folder, home)
        });
        let id = channel(&folder, nodes, "create --home alice", b"").exits(0).json()["channel"].clone();
        std::thread::scope(|scope| {
            let joining = ["bob", "carol"].map(|home| {
                let line = format!("join --home {home} --from {} --wait 120", dids[0]);
                scope.spawn({
                    let folder = &folder;
                    move || channel(folder, nodes, &line, b"").exits(0).json()
                })
            });
            // Who is to be invited publishes key packages first.
            let invite = format!("invite --home alice {} {}", dids[1], dids[2]);
            let mut answers = Vec::new();
            let invited = soon(|| {
                let answer = channel(&folder, nodes, &invite, b"");
                answers.push(answer.stderr.clone());
                answer.code == 0
            });
            assert!(invited, "the answers: {answers:?}");
            for joined in joining {
                assert_eq!(joined.join().unwrap()["channel"], id);
            }
        });
        let authenticators = ["alice", "bob", "carol"].map(|home| {
            // The two may have been invited one after the other.
            let members =
                || channel(&folder, nodes, &format!("members --home {home}"), b"").exits(0).rows().len();
            assert!(soon(|| members() == 3), "{home} knows {} members", members());
            let verified = channel(&folder, nodes, &format!("verify --home {home}"), b"").exits(0).json();
            verified["authenticator"].as_str().unwrap().to_owned()
        });
        assert_eq!(authenticators[0].len(), 32);
        assert!(authenticators.iter().all(|one| *one == authenticators[0]), "{authenticators:?}");
        channel(&folder, nodes, "send --causal --home alice", b"hello").exits(0);
        for home in ["bob", "carol"] {
            let told =
                channel(&folder, nodes, &format!("tail --causal --count 1 --home {home}"), b"").exits(0);
            let messages: Vec<_> = told.rows().into_iter().filter(|row| row["type"] == "message").collect();
            assert_eq!(messages.len(), 1);
            assert_eq!(
                (&messages[0]["text"], &messages[0]["sender"]),
                (&"hello".into(), &dids[0].clone().into())
            );
        }
        channel(&folder, nodes, &format!("remove --home alice {}", dids[2]), b"").exits(0);
        channel(&folder, nodes, "send --home alice", b"without carol").exits(0);
        let told = channel(&folder, nodes, "tail --count 1 --home bob", b"").exits(0);
        assert!(told.rows().iter().any(|row| row["text"] == "without carol"), "{}", told.text());
        let told = channel(&folder, nodes, "tail --home carol", b"").exits(0);
        assert!(!told.text().contains("without carol"), "{}", told.text());
    }

    #[test]
    fn an_agent_rules_its_channel_looks_back_at_it_takes_it_out_and_ends_it() {
        let test = "an_agent_rules_its_channel_looks_back_at_it_takes_it_out_and_ends_it";
        let folder = Folder::new();
        let Some(up) = Up::start(test, &folder, "--engine memory") else { return };
        program::agents::agent(&folder, "init --channels --home alice").exits(0);
        let run = |line: &str, input: &[u8]| {
            channel(&folder, &up.endpoints, &format!("{line} --home alice"), input)
        };
        let create = "create --others listener --may-remove-owner moderator --delegate no --max-message 4096";
        let id = run(create, b"").exits(0).json()["channel"].clone();
        assert_eq!(run("list", b"").exits(0).json()["channel"], id);
        assert_eq!(run("send --lines", b"one\ntwo\n").exits(0).json()["messages"], 2);
        for line in ["send", "send --lines"] {
            run(line, b"").exits(2).tells("standard input is empty");
        }
        run(&format!("invite {}", program::agents::did(&folder, "alice")), b"")
            .exits(2)
            .tells("is already a member");
        assert_eq!(run("rotate", b"").exits(0).json()["epoch"], 1);
        let policy = |line: &str| run(line, b"").exits(0).json()["policy"].clone();
        let rules = policy("policy");
        assert_eq!((&rules["others"], &rules["version"]), (&"listener".into(), &1.into()), "{rules}");
        let changed = policy("policy --others member --retention 3600 --rotate-messages 500");
        let others = (&changed["others"], &changed["retention"], &changed["rotateMessages"]);
        assert_eq!(others, (&"member".into(), &3600.into(), &500.into()), "{changed}");
        assert_eq!(changed["version"], 2);
        assert_eq!(policy("policy"), changed);
        for (name, set) in
            [("removeOwner", json!("moderator")), ("delegate", json!(false)), ("maxMessage", json!(4096))]
        {
            assert_eq!((&rules[name], &changed[name]), (&set, &set));
        }
        let all = "policy --may-add member --may-remove owner --may-remove-owner owner --may-rotate member --may-change moderator \
                   --delegate yes --rejoin no --max-message 8192";
        let changed = policy(all);
        let names = ["add", "remove", "removeOwner", "rotate", "change", "delegate", "rejoin", "maxMessage"];
        let set = json!(["member", "owner", "owner", "member", "moderator", true, false, 8192]);
        assert_eq!(json!(names.map(|name| &changed[name])), set, "{changed}");
        run("policy --may-change listener", b"")
            .exits(2)
            .tells("only moderators and owners may change the policy");
        // Nobody else is there to make a checkpoint.
        run("rejoin", b"").exits(3).tells("no recent checkpoint");

        let past = run("history", b"").exits(0).rows();
        let events: Vec<&str> = past.iter().map(|row| row["type"].as_str().unwrap()).collect();
        assert_eq!(events, ["message", "message", "rotated", "policy", "policy"]);
        assert_eq!((&past[0]["text"], &past[1]["text"]), (&"one".into(), &"two".into()));
        assert_eq!(run("history --from 2 --limit 1", b"").exits(0).rows(), past[1..2]);
        assert_eq!(run("export --out all.jsonl", b"").exits(0).json()["events"], 5);
        let kept = String::from_utf8(folder.read("all.jsonl")).unwrap();
        let kept: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(kept, past);
        run("export --out all.jsonl", b"").exits(3).tells("--force replaces it");
        // None of these needs a node; with --live they do.
        let offline =
            |line: &str| channel(&folder, "http://127.0.0.1:1", &format!("{line} --home alice"), b"");
        let alice = program::agents::did(&folder, "alice");
        let listed = json!({"type": "channel", "channel": id, "epoch": 3, "members": [&alice]});
        assert_eq!(offline("list").exits(0).json(), listed);
        assert_eq!(offline("history").exits(0).rows(), past);
        assert_eq!(offline("history --channel ffff --limit 1").code, run("history --channel ffff", b"").code);
        assert_eq!(
            offline("members").exits(0).json(),
            json!({"type": "member", "did": &alice, "role": "owner"})
        );
        assert_eq!(offline("policy").exits(0).json()["policy"], changed);
        assert_eq!(offline("export --out again.jsonl").exits(0).json()["events"], 5);
        assert_eq!(folder.read("again.jsonl"), folder.read("all.jsonl"));
        assert_eq!(run("history --live", b"").exits(0).rows(), past);
        assert_eq!(run("members --live", b"").exits(0).json()["behind"], 0);
        for line in ["history --live", "members --live", "policy --others listener", "send"] {
            assert_eq!(offline(line).code, 3, "{line}");
        }

        let other = run("create", b"").exits(0).json()["channel"].clone();
        run("members", b"").exits(2).tells("several channels");
        let left = run(&format!("leave --channel {}", other.as_str().unwrap()), b"").exits(0).json();
        assert_eq!(left["channel"], other);
        assert_eq!(run("close", b"").exits(0).json()["channel"], id);
        assert!(run("list", b"").exits(0).rows().is_empty());
        run("send", b"to nobody").exits(2).tells("in no channel");
    }

    /// A client of a gateway.
    struct Client {
        socket: WebSocket<TcpStream>,
        calls: u64,
    }

    impl Client {
        /// Shows the token; tells whose it is.
        fn welcomed(url: &str, token: &str) -> (Self, Value) {
            let mut request = url.into_client_request().unwrap();
            request.headers_mut().insert("Sec-WebSocket-Protocol", "gambeson.channel.1".parse().unwrap());
            let stream = TcpStream::connect(url.trim_start_matches("ws://").trim_end_matches('/')).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let socket = tungstenite::client(request, stream).unwrap().0;
            let mut client = Self { socket, calls: 0 };
            client.say(&json!({"hello": {"token": token, "session": "0123456789abcdef0123456789abcdef"}}));
            let welcome = client.hear();
            (client, welcome)
        }

        fn say(&mut self, what: &Value) {
            self.socket.send(Message::text(what.to_string())).unwrap();
        }

        /// The next frame; how the connection ends is a number.
        fn hear(&mut self) -> Value {
            loop {
                match self.socket.read().unwrap() {
                    Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                    Message::Close(Some(end)) => return u16::from(end.code).into(),
                    _ => {}
                }
            }
        }

        /// What came of a call.
        fn call(&mut self, what: &Value) -> Value {
            self.calls += 1;
            self.say(&json!({"call": {"id": self.calls, "settled": self.calls - 1, "do": what}}));
            loop {
                let answer = self.hear()["answer"].clone();
                if answer["id"] == self.calls {
                    return answer;
                }
            }
        }

        /// The same of a call that succeeds.
        #[track_caller]
        fn done(&mut self, what: &Value) -> Value {
            let answer = self.call(what);
            assert!(answer["failed"].is_null(), "{answer}");
            answer["done"].clone()
        }
    }

    #[test]
    fn programs_without_mls_speak_for_agents_through_the_gateway_of_slim_up() {
        let test = "programs_without_mls_speak_for_agents_through_the_gateway_of_slim_up";
        let folder = Folder::new();
        let dids = ["alice", "bob"].map(|home| {
            program::agents::agent(&folder, &format!("init --channels --home {home}")).exits(0);
            program::agents::did(&folder, home)
        });
        let before = folder.names_in("alice");
        let more = "--engine memory --websocket --agent alice --agent bob --causal --bundle 300";
        let Some(mut up) = Up::start(test, &folder, more) else { return };
        let gateways: Vec<_> = up.said.iter().filter(|said| said["type"] == "gateway").collect();
        let mut clients: Vec<Client> = Vec::new();
        for (gateway, (home, did)) in gateways.iter().zip(["alice", "bob"].iter().zip(&dids)) {
            let file = format!("{home}/gateway.token");
            assert!(gateway["tokenFile"].as_str().unwrap().ends_with(&file), "{gateway}");
            assert_eq!(folder.mode(&file), 0o600);
            let token = String::from_utf8(folder.read(&file)).unwrap();
            let url = gateway["url"].as_str().unwrap();
            let (client, welcome) = Client::welcomed(url, &token);
            assert_eq!(welcome["welcome"]["did"], **did);
            clients.push(client);
            assert_eq!(Client::welcomed(url, &"x".repeat(43)).1, 4401, "a token of nobody");
        }
        let [alice, bob] = clients.as_mut_slice() else { panic!("two agents are let in") };
        let made = alice.done(&json!({"create": {}}))["channel"].clone();
        // Bob's key packages go to the delivery service beside what he does here.
        let invite = json!({"invite": {"channel": made, "dids": [dids[1]]}});
        assert!(soon(|| alice.call(&invite)["failed"].is_null()));
        let joined = bob.done(&json!({"join": {"channel": made, "wait": 60_000}}));
        assert_eq!(joined["channel"], made, "{joined}");
        bob.say(&json!({"receive": {"channel": made}}));
        let sent = alice.done(&json!({"send": {"channel": made, "bytes": "aGVsbG8="}}));
        assert_eq!(sent["sender"], dids[0], "{sent}");
        let heard = loop {
            let heard = bob.hear()["occurrence"]["event"].clone();
            if heard["kind"] == "message" {
                break heard;
            }
        };
        assert_eq!((&heard["from"], &heard["bytes"]), (&dids[0].clone().into(), &"aGVsbG8=".into()));
        // What is said without waiting for each goes in one bundle.
        let calls = alice.calls;
        for place in 1..=3 {
            let send = json!({"send": {"channel": made, "bytes": "aGVsbG8="}});
            alice.say(&json!({"call": {"id": calls + place, "settled": calls, "do": send}}));
        }
        let answers: Vec<Value> = (0..3).map(|_| alice.hear()["answer"]["done"].clone()).collect();
        alice.calls += 3;
        assert!(answers.iter().all(|id| id["counter"] == answers[0]["counter"]), "{answers:?}");
        // The agents' channels are open here, and nowhere else.
        let second = channel(&folder, &up.endpoints, "list --home alice", b"");
        assert!(second.code == 3 && second.stderr.contains("another program has"), "{second:?}");
        up.signal(Signal::TERM);
        assert!(soon(|| up.child.try_wait().unwrap().is_some()));
        assert_eq!(up.child.wait().unwrap().code(), Some(0));
        let mut after = folder.names_in("alice");
        after.retain(|name| !before.contains(name));
        assert_eq!(after, ["channels.redb"], "no token is left");
        let refused = folder.run("slim up --websocket 0.0.0.0:0").exits(2);
        refused.tells("not a loopback address");
    }

    /// The options of a bridge: the last is the file of the shared secret.
    const BRIDGE: &str = "channel bridge --name a/b/c --session a/b/d --secret none --json";

    /// Stands in for `gambeson-slim-bridge`: writes down its arguments and hands on its standard input.
    const BRIDGE_STAND_IN: &str = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.arguments\"\ncat\nexit 7\n";

    fn write_program(folder: &Folder, name: &str, script: &str) {
        folder.write(name, script);
        fs::set_permissions(folder.path(name), Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn without_gambeson_slim_bridge_the_command_says_how_to_build_it() {
        let folder = Folder::new();
        fs::create_dir(folder.path("empty")).unwrap();
        let missing =
            folder.run_with(BRIDGE, b"", &[("PATH", folder.path("empty").to_str().unwrap())]).exits(3);
        assert_eq!(missing.json()["reason"], "without-bridge");
        let missing = missing.tells("cargo build --release --manifest-path bridge/Cargo.toml");
        missing.tells("GAMBESON_SLIM_BRIDGE");
        let named = folder.path("gone/gambeson-slim-bridge");
        let missing = folder.run_with(BRIDGE, b"", &[("GAMBESON_SLIM_BRIDGE", named.to_str().unwrap())]);
        missing.exits(3).tells("gone/gambeson-slim-bridge: not found").tells("bridge/Cargo.toml");
        folder.write("no-program", "not executable");
        let named = folder.path("no-program");
        let refused = folder.run_with(BRIDGE, b"", &[("GAMBESON_SLIM_BRIDGE", named.to_str().unwrap())]);
        refused.exits(3).tells("no-program: ");
    }

    #[test]
    fn gambeson_slim_bridge_gets_the_options_and_the_streams_and_its_exit_status_is_the_commands() {
        let folder = Folder::new();
        fs::create_dir(folder.path("bin")).unwrap();
        write_program(&folder, "bin/gambeson-slim-bridge", BRIDGE_STAND_IN);
        write_program(&folder, "named", BRIDGE_STAND_IN);
        let path = format!("{}:/usr/bin:/bin", folder.path("bin").display());
        let line = format!("{BRIDGE} --home alice --slim one,two --invite a/b/e --invite a/b/f --causal");
        let given = [
            "--json",
            "--home=alice",
            "--slim=one",
            "--slim=two",
            "--causal",
            "--name=a/b/c",
            "--session=a/b/d",
            "--invite=a/b/e",
            "--invite=a/b/f",
            "--secret=none",
        ];
        let arguments = |of: &str| {
            let text = String::from_utf8(folder.read(&format!("{of}.arguments"))).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let ran = folder.run_with(&line, b"through", &[("PATH", &path)]).exits(7);
        assert_eq!((ran.text(), ran.stderr.as_str()), ("through", ""));
        assert_eq!(arguments("bin/gambeson-slim-bridge"), given);
        // The environment variable goes before PATH.
        let named = folder.path("named");
        let environment = [("PATH", path.as_str()), ("GAMBESON_SLIM_BRIDGE", named.to_str().unwrap())];
        folder.run_with(&line, b"", &environment).exits(7);
        assert_eq!(arguments("named"), given);
    }

    #[test]
    fn a_gambeson_slim_bridge_beside_the_program_goes_before_one_in_path_and_gets_its_signals() {
        let folder = Folder::new();
        for name in ["beside", "bin"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        fs::copy(env!("CARGO_BIN_EXE_gambeson"), folder.path("beside/gambeson")).unwrap();
        write_program(&folder, "bin/gambeson-slim-bridge", BRIDGE_STAND_IN);
        write_program(
            &folder,
            "beside/gambeson-slim-bridge",
            "#!/bin/sh\ntrap 'echo ended; exit 9' TERM\necho started\nwhile :; do sleep 0.1; done\n",
        );
        let mut command = Command::new(folder.path("beside/gambeson"));
        command.env_remove("GAMBESON_SLIM_BRIDGE").args(BRIDGE.split_whitespace());
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.path("bin").display()));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut reports = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(reports.next().unwrap().unwrap(), "started");
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(reports.next().unwrap().unwrap(), "ended");
        assert_eq!(child.wait().unwrap().code(), Some(9));
    }

    #[test]
    fn over_nats_a_channel_is_there_again_after_slim_up_has_ended_and_no_server_is_left() {
        let test = "over_nats_a_channel_is_there_again_after_slim_up_has_ended_and_no_server_is_left";
        let folder = Folder::new();
        program::agents::agent(&folder, "init --channels --home alice").exits(0);
        if std::process::Command::new("nats-server").arg("--version").output().is_err() {
            assert!(std::env::var_os("CI").is_none(), "no nats-server is here");
            println!("test {test} (skipped): no nats-server is here");
            return;
        }
        for round in 0..2 {
            let Some(mut up) = Up::start(test, &folder, "--engine nats") else { return };
            let said = up.said.iter().find(|said| said["type"] == "nats").unwrap();
            let server = said["pid"].as_i64().unwrap().try_into().unwrap();
            assert!(runs(server));
            let nodes = up.endpoints.as_str();
            if round == 0 {
                channel(&folder, nodes, "create --home alice", b"").exits(0);
                channel(&folder, nodes, "send --home alice", b"kept").exits(0);
                let taken = folder.run("slim up --engine nats --listen 127.0.0.1:0 --data .").exits(3);
                taken.tells("another one runs");
            } else {
                let verified = channel(&folder, nodes, "verify --home alice", b"").exits(0).json();
                assert_eq!((&verified["forked"], &verified["verified"]), (&false.into(), &true.into()));
                channel(&folder, nodes, "send --home alice", b"goes on").exits(0);
            }
            up.signal(Signal::TERM);
            assert!(soon(|| up.child.try_wait().unwrap().is_some()));
            assert_eq!(up.child.wait().unwrap().code(), Some(0));
            assert!(!runs(server));
        }
    }

    #[test]
    fn doctor_says_what_is_wrong_and_what_to_do() {
        let folder = Folder::new();
        program::agents::agent(&folder, "init --home alice").exits(0);
        let report = folder.run("slim doctor --home alice --slim 127.0.0.1:1").exits(1);
        for told in ["agent rotate --channels", "no SLIM node answers", "slim up starts one", "NOT WELL"] {
            assert!(report.text().contains(told), "{}", report.text());
        }
        program::agents::agent(&folder, "rotate --channels --home alice").exits(0);
        let report = folder.run("slim doctor --home alice --slim 127.0.0.1:1").exits(1);
        assert!(report.text().contains("with keys for channels"), "{}", report.text());
    }

    #[test]
    fn who_waits_for_a_friends_invitation_is_not_stopped_by_anothers() {
        let test = "who_waits_for_a_friends_invitation_is_not_stopped_by_anothers";
        let folder = Folder::new();
        let Some(up) = Up::start(test, &folder, "--engine memory") else { return };
        let run = |line: &str| channel(&folder, &up.endpoints, line, b"");
        let [alice, bob, mallory] = ["alice", "bob", "mallory"].map(|home| {
            program::agents::agent(&folder, &format!("init --channels --home {home}")).exits(0);
            program::agents::did(&folder, home)
        });
        let [anothers, friends] = ["mallory", "alice"].map(|home| {
            let made = run(&format!("create --home {home}")).exits(0).json()["channel"].clone();
            let invite = format!("invite --home {home} {bob}");
            // Who is to be invited publishes key packages first.
            assert!(soon(|| run("join --home bob --wait 3").code != 0 && run(&invite).code == 0));
            made
        });
        // Neither is from this agent itself.
        run(&format!("join --home bob --wait 10 --from {bob}"))
            .exits(1)
            .tells("no invitation came within 10 s");
        let told = run("join --home bob").exits(1).rows();
        let told: Vec<_> = told.iter().map(|row| (&row["channel"], &row["by"])).collect();
        assert_eq!(told, [(&anothers, &json!(mallory)), (&friends, &json!(alice))]);
        let joined = run(&format!("join --home bob --wait 120 --from {alice}")).exits(0).json();
        assert_eq!(joined["channel"], friends);
    }

    #[test]
    fn a_line_that_is_no_text_ends_talk_with_an_error_and_what_was_said_before_it_is_sent() {
        let test = "a_line_that_is_no_text_ends_talk_with_an_error_and_what_was_said_before_it_is_sent";
        let folder = Folder::new();
        let Some(up) = Up::start(test, &folder, "--engine memory") else { return };
        let nodes = up.endpoints.as_str();
        program::agents::agent(&folder, "init --channels --home alice").exits(0);
        channel(&folder, nodes, "create --home alice", b"").exits(0);
        folder.write("lines", b"one\n\xff\ntwo\n");
        let mut command = folder.command();
        command.env(program::agents::PASSPHRASE.0, program::agents::PASSPHRASE.1);
        command.args(format!("channel tail --talk --home alice --slim {nodes}").split_whitespace());
        command.stdin(fs::File::open(folder.path("lines")).unwrap()).stdout(Stdio::null());
        command.stderr(fs::File::create(folder.path("told")).unwrap());
        let mut child = command.spawn().unwrap();
        let ended = soon(|| child.try_wait().unwrap().is_some());
        let _ = child.kill();
        assert_eq!((ended, child.wait().unwrap().code()), (true, Some(3)));
        let told = String::from_utf8(folder.read("told")).unwrap();
        assert!(told.contains("standard input"), "{told}");
        let said = |text: &str| {
            let past = channel(&folder, nodes, "history --home alice", b"").exits(0).rows();
            past.iter().any(|row| row["text"] == text)
        };
        assert!(soon(|| said("one")));
        assert!(!said("two"));
    }
}
