//! The table for people: on the terminal, or in Markdown between two markers of a file.

use std::fmt::Write as _;
use std::path::Path;

use gambeson::cpu::Level;

use crate::peers::{Form, Peer};
use crate::row::{Permutation, Row};
use crate::thresholds;

/// What a reader needs in order to judge the figures, or to measure them again.
pub struct Context {
    /// The machine's name and its processor.
    pub machine: String,
    /// The compiler and its settings.
    pub compiler: &'static str,
    /// The command line.
    pub command: String,
    /// The limit, if one was asked for.
    pub limit: Option<Level>,
}

impl Context {
    /// Looks at this machine; `name` stands in for its host name.
    pub fn new(name: Option<String>, limit: Option<Level>) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let info = read("/proc/cpuinfo");
        let field = |name: &str| {
            (info.lines().filter_map(|line| line.split_once(':')))
                .find(|(key, _)| key.trim() == name)
                .map(|(_, value)| value.trim().to_owned())
        };
        let name = name.unwrap_or_else(|| read("/proc/sys/kernel/hostname").trim().to_owned());
        let processor = field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
        let model = match (field("cpu family"), field("model")) {
            (Some(family), Some(model)) => format!(" (family {family}, model {model})"),
            _ => String::new(),
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let system = std::env::consts::OS;
        let quoted = |argument: String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
            if argument.chars().all(plain) { argument } else { format!("'{argument}'") }
        };
        let arguments: Vec<String> = std::env::args().skip(1).map(quoted).collect();
        Self {
            machine: format!("{name}: {processor}{model}, {threads} logical processors, {system}"),
            compiler: env!("BENCH_COMPILER"),
            command: format!(
                "cargo run --manifest-path bench/peers/Cargo.toml --release -- {}",
                arguments.join(" ")
            ),
            limit,
        }
    }
}

/// What was measured.
pub struct Results<'a> {
    /// The columns.
    pub peers: &'a [Peer],
    /// The lines.
    pub rows: &'a [Row],
    /// The lines of the permutation alone.
    pub permutations: &'a [Permutation],
}

/// The locked version of a package, from this workspace's lock file.
fn version(package: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let name = format!("name = \"{package}\"");
    (lock.lines().skip_while(|line| *line != name).nth(1))
        .and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
        .unwrap_or("unknown")
}

/// `name`, its packages with their versions, its level, and what to know of it.
fn describe(peer: &Peer) -> String {
    let mut facts: Vec<String> =
        peer.packages.iter().map(|package| format!("{package} {}", version(package))).collect();
    facts.push(format!("level {}", peer.level));
    format!("{}: {}; {}", peer.name, facts.join(", "), peer.note)
}

/// The whole report, as a terminal shows it.
pub fn terminal(context: &Context, results: &Results) -> String {
    let mut out = String::new();
    for line in facts(context, results) {
        let _ = writeln!(out, "{line}");
    }
    for table in tables(results) {
        let widths: Vec<usize> = (0..table[0].len())
            .map(|column| table.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
            .collect();
        let _ = writeln!(out);
        for line in &table {
            for (column, cell) in line.iter().enumerate() {
                let width = widths[column];
                let _ = if column < 2 {
                    write!(out, "{cell:<width$}  ")
                } else {
                    write!(out, "{cell:>width$}  ")
                };
            }
            let _ = writeln!(out);
        }
    }
    out
}

/// Writes the report into `file`, between the markers of this limit, and leaves what stands around them.
pub fn markdown(file: &Path, context: &Context, results: &Results) -> std::io::Result<()> {
    let key = context.limit.map_or("every level".to_owned(), |level| format!("limit {level}"));
    let (begin, end) =
        (format!("<!-- bench/peers, {key}: begin -->"), format!("<!-- bench/peers, {key}: end -->"));
    let mut section = format!("{begin}\n");
    for fact in facts(context, results) {
        let _ = writeln!(section, "* {fact}");
    }
    for table in tables(results) {
        let _ = writeln!(section);
        for (number, line) in table.iter().enumerate() {
            let _ = writeln!(section, "| {} |", line.join(" | "));
            if number == 0 {
                let rules: Vec<&str> =
                    (0..line.len()).map(|column| if column < 2 { "---" } else { "---:" }).collect();
                let _ = writeln!(section, "| {} |", rules.join(" | "));
            }
        }
    }
    let _ = write!(section, "{end}");
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let text = match (text.find(&begin), text.find(&end)) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{section}{}", &text[..from], &text[to + end.len()..])
        }
        _ if text.is_empty() => format!("{section}\n"),
        _ => format!("{}\n\n{section}\n", text.trim_end()),
    };
    std::fs::write(file, text)
}

fn facts(context: &Context, results: &Results) -> Vec<String> {
    let mut facts = vec![
        format!("Machine: {}", context.machine),
        format!("Compiler: {}; cargo's release profile, no target-cpu, for all alike", context.compiler),
        format!("Command: `{}`", context.command),
        format!("gambeson {} (kernels: {})", version("gambeson"), gambeson::mlkem::kernels()),
    ];
    facts.extend(results.peers.iter().map(describe));
    facts.push(
        "Times are microseconds; in brackets the peer's time over ours, above 1 where we are faster.".into(),
    );
    facts.push(
        "`*`: the peer draws its own randomness there, at its own cost; its signatures are hedged.".into(),
    );
    if results.rows.iter().any(|row| row.form == Form::Default) {
        facts.push("`default`: everybody's calls are those of its first documented example; ours draws randomness too.".into());
    }
    if results.rows.iter().any(|row| row.form == Form::Batch64) {
        facts.push(
            "`batch64`: ours is an operation of a batch of 64, the peers' one alone (`oneshot`).".into(),
        );
    }
    if results.rows.iter().any(|row| row.form == Form::Batch8) {
        facts.push(
            "`batch8`: ours is an operation of a batch of 8 under one key; its rival is our operation alone, which is hedged where it signs, as the batch is.".into(),
        );
    }
    if results.rows.iter().any(|row| row.bound.is_some()) {
        facts.push(
            "`kernels`: the compressions of a hash-based operation, by its parameters, and the share of our time that our kernels alone take for them on this machine.".into(),
        );
    }
    if let Some(row) = results.permutations.first() {
        facts.push(format!("The core's clock, while Keccak ran alone: {:.2} GHz.", row.ghz));
    }
    facts
}

fn tables(results: &Results) -> Vec<Vec<Vec<String>>> {
    let mut tables = Vec::new();
    if !results.rows.is_empty() {
        tables.push(contests(results.peers, results.rows));
    }
    if !results.permutations.is_empty() {
        tables.push(permutations(results.permutations));
    }
    tables
}

fn permutations(rows: &[Permutation]) -> Vec<Vec<String>> {
    let head = ["permutation", "kernels", "states", "ns each", "core cycles each", "at most"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        table.push(vec![
            "Keccak-f[1600]".into(),
            row.kernels.to_string(),
            row.states.to_string(),
            format!("{:.1}", row.ns),
            format!("{:.0}", row.cycles),
            thresholds::cycles(row).map_or(String::new(), |limit| format!("{limit:.0}")),
        ]);
    }
    table
}

fn contests(peers: &[Peer], rows: &[Row]) -> Vec<Vec<String>> {
    let mut head = vec!["operation".to_owned(), "form".into(), "gambeson".into()];
    head.extend(peers.iter().map(|peer| peer.name.to_owned()));
    let bounds = rows.iter().any(|row| row.bound.is_some());
    head.extend(["fastest peer".into(), "promised".into()]);
    head.extend(bounds.then(|| "kernels".into()));
    let mut table = vec![head];
    for row in rows {
        let mut line = vec![row.op.clone(), row.form.name().into(), micros(row.ours_ns)];
        for peer in peers {
            line.push(row.peers.iter().find(|time| time.name == peer.name).map_or("".into(), |time| {
                let star = if time.random { "*" } else { "" };
                format!("{}{star} ({:.2})", micros(time.ns), time.ns / row.ours_ns)
            }));
        }
        line.push(row.ratio_to_fastest_peer().map_or("".into(), |ratio| format!("{ratio:.2}")));
        line.push(thresholds::ratio(row).map_or("".into(), |ratio| format!("{ratio:.2}")));
        line.extend(bounds.then(|| {
            row.bound.map_or("".into(), |bound| {
                format!("{:.0} ({:.2})", bound.compressions, bound.ns / row.ours_ns)
            })
        }));
        table.push(line);
    }
    table
}

fn micros(ns: f64) -> String {
    let micros = ns / 1000.0;
    if micros < 100.0 { format!("{micros:.2}") } else { format!("{micros:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_report_replaces_the_first_and_leaves_the_rest() {
        let file = std::env::temp_dir().join(format!("gambeson-bench-{}.md", std::process::id()));
        let context = |limit| Context { machine: "m".into(), compiler: "c", command: "x".into(), limit };
        let key = "bench/peers, limit portable";
        std::fs::write(
            &file,
            format!("# Before\n\n<!-- {key}: begin -->\nold\n<!-- {key}: end -->\n\nafter\n"),
        )
        .expect("a file");
        let nothing = Results { peers: &[], rows: &[], permutations: &[] };
        markdown(&file, &context(Some(Level::Portable)), &nothing).expect("written");
        markdown(&file, &context(None), &nothing).expect("appended");
        let text = std::fs::read_to_string(&file).expect("the file");
        std::fs::remove_file(&file).expect("removed");
        assert!(text.starts_with("# Before\n\n<!-- bench/peers, limit portable: begin -->\n* Machine: m\n"));
        assert!(!text.contains("old"));
        assert!(text.contains("end -->\n\nafter\n"));
        assert!(text.contains("<!-- bench/peers, every level: begin -->"));
    }

    #[test]
    fn the_lock_file_knows_every_package_that_the_report_names() {
        for peer in crate::peers::all(None) {
            for package in peer.packages {
                assert_ne!(version(package), "unknown", "{package}");
            }
        }
    }
}
