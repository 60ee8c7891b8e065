//! The measurement: what TLS in front of a server costs, beside nginx.

use super::load::{Role, memory, proxy, raise_limit};
use crate::program::serving::{Ended, Server, free_port, nginx, with_chain};
use crate::program::{Folder, has_program};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// Rounds of each contestant, one of every contestant in turn.
const ROUNDS: usize = 5;
/// Connections that are open while memory is looked at.
const OPEN: usize = 1000;
const STREAMS: usize = 4;
const MEBIBYTES: usize = 32;

/// Who terminates TLS.
enum Program {
    Ours(Server),
    Nginx(Ended),
}

struct Contestant {
    name: &'static str,
    certificate: &'static str,
    group: &'static str,
    program: Program,
    clients: Role,
    /// What each round gave.
    rounds: Vec<Round>,
    _folder: Folder,
}

struct Round {
    handshakes_per_second: f64,
    microseconds: f64,
    kibibytes: f64,
    mebibytes_per_second: f64,
    milliseconds_per_gibibyte: f64,
}

impl Contestant {
    fn ours(certificate: &'static str, group: &'static str, server: u16) -> Self {
        let folder = with_chain(certificate);
        let ours = proxy(&folder, server, "");
        let clients = Role::clients(&folder, ours.port, group);
        let program = Program::Ours(ours);
        Self { name: "gambeson", certificate, group, program, clients, rounds: Vec::new(), _folder: folder }
    }

    /// nginx of the machine, if it has the module that relays bytes.
    fn nginx(server: u16) -> Option<Self> {
        const MODULE: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";
        if !has_program("nginx", &["-v"]) || !fs::exists(MODULE).unwrap() {
            println!("nginx with its module `stream` is not on this machine: without it");
            return None;
        }
        let folder = with_chain("ecdsa-p256");
        let port = free_port();
        let stream = format!(
            "}} stream {{ ssl_protocols TLSv1.3; ssl_certificate pki/server.pem; ssl_certificate_key pki/server.key;
             ssl_session_cache off; ssl_session_tickets off;
             server {{ listen 127.0.0.1:{port} ssl backlog=4096; proxy_pass 127.0.0.1:{server}; }}"
        );
        let mut command = Command::new("nginx");
        let main = format!("load_module {MODULE}; worker_processes auto; worker_rlimit_nofile 20000;");
        command.args(["-g", &main]);
        let nginx = nginx(command, &folder, &stream, ([127, 0, 0, 1], port).into());
        let clients = Role::clients(&folder, port, "X25519");
        let (name, certificate, group) = ("nginx", "ecdsa-p256", "X25519");
        Some(Self {
            name,
            certificate,
            group,
            program: Program::Nginx(nginx),
            clients,
            rounds: Vec::new(),
            _folder: folder,
        })
    }

    /// Its processes: nginx has workers.
    fn processes(&self) -> Vec<u32> {
        let first = match &self.program {
            Program::Ours(server) => server.child.id(),
            Program::Nginx(master) => master.id(),
        };
        let children = fs::read_to_string(format!("/proc/{first}/task/{first}/children")).unwrap_or_default();
        std::iter::once(first).chain(children.split_whitespace().map(|id| id.parse().unwrap())).collect()
    }

    /// Processor time of all its processes, in seconds.
    fn processor(&self) -> f64 {
        let ticks = |process: &u32| -> u64 {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
            fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
        };
        // In hundredths of a second, on every Linux.
        self.processes().iter().map(ticks).sum::<u64>() as f64 / 100.0
    }

    fn memory(&self) -> f64 {
        self.processes().iter().map(|process| memory(*process)).sum::<usize>() as f64
    }

    fn round(&mut self) {
        let before = self.processor();
        let (handshakes, seconds) = self.clients.does("handshakes 2");
        let spent = self.processor() - before;
        let empty = self.memory();
        assert_eq!(self.clients.does(&format!("open {OPEN}")).0, OPEN);
        let kibibytes = (self.memory() - empty) / OPEN as f64;
        self.clients.does("close");
        let before = self.processor();
        let (mebibytes, flowing) = self.clients.does(&format!("flow {STREAMS} {MEBIBYTES}"));
        let flow = self.processor() - before;
        self.rounds.push(Round {
            handshakes_per_second: handshakes as f64 / seconds,
            microseconds: spent * 1e6 / handshakes as f64,
            kibibytes,
            mebibytes_per_second: mebibytes as f64 / flowing,
            milliseconds_per_gibibyte: flow * 1e3 / (mebibytes as f64 / 1024.0),
        });
    }

    fn median(&self, what: impl Fn(&Round) -> f64) -> f64 {
        let mut all: Vec<f64> = self.rounds.iter().map(what).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    }
}

/// Prints the table; with `GAMBESON_BLESS=1`, writes it into the documentation.
pub fn measure() {
    raise_limit();
    let (_server, port) = Role::server();
    let mut contestants = vec![
        Contestant::ours("ml-dsa-65", "X25519MLKEM768", port),
        Contestant::ours("ecdsa-p256", "X25519MLKEM768", port),
        Contestant::ours("ecdsa-p256", "X25519", port),
    ];
    contestants.extend(Contestant::nginx(port));
    for round in 1..=ROUNDS {
        contestants.iter_mut().for_each(Contestant::round);
        eprintln!("round {round} of {ROUNDS}");
    }
    let mut table = String::from(
        "| program | certificate | group | CPU a handshake, µs | handshakes a second | memory of the first open connections, KiB each | \
         CPU a GiB there and back, ms | MiB a second |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for contestant in &contestants {
        writeln!(
            table,
            "| {} | {} | {} | {:.0} | {:.0} | {:.1} | {:.0} | {:.0} |",
            contestant.name,
            contestant.certificate,
            contestant.group,
            contestant.median(|round| round.microseconds),
            contestant.median(|round| round.handshakes_per_second),
            // The first round: later ones find the memory of earlier ones.
            contestant.rounds[0].kibibytes,
            contestant.median(|round| round.milliseconds_per_gibibyte),
            contestant.median(|round| round.mebibytes_per_second),
        )
        .unwrap();
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        model.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown").to_owned();
    let text = format!(
        "* Machine: {model}, {processors} logical processors, linux\n* Rounds: {ROUNDS}, medians\n\n{table}"
    );
    print!("{text}");
    if std::env::var_os("GAMBESON_BLESS").is_some() {
        const BEGIN: &str = "<!-- tls_proxy_load: begin -->\n";
        const END: &str = "<!-- tls_proxy_load: end -->";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance/proxy.md");
        let page = fs::read_to_string(path).unwrap();
        let (head, rest) = page.split_once(BEGIN).unwrap();
        let tail = rest.split_once(END).unwrap().1;
        fs::write(path, format!("{head}{BEGIN}{text}{END}{tail}")).unwrap();
    }
}
