//! The rows of the bench: one operation of one parameter set, measured.

use super::image::{self, Image, Target};
use crate::run::Workspace;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// How the core is asked to work: `small` is `Small<P>`, `size` the same built for size, `workspace` in memory of the caller's, `fast`
/// the plain set. With the compiler's level for what is run, and that for the bytes of code: at `s` the permutation is rolled, a third less
/// code for nearly twice the cycles.
const PROFILES: [(&str, &str, &str); 4] =
    [("small", "3", "s"), (SIZE, "s", "s"), (WORKSPACE, "3", "s"), ("fast", "3", "3")];
pub const SIZE: &str = "size";
/// The level of `fast` on the Cortex-M4: for size, with the assembly of speed (decision 38).
pub const FAST_FOR_SIZE: &str = "s-fast";
pub const WORKSPACE: &str = "workspace";

const KEM: [&str; 4] = ["keygen", "encaps", "decaps", "decaps-dk"];
const DSA: [&str; 4] = ["keygen", "sign", "sign-seed", "verify"];

/// Parameter sets with their operations.
pub const SETS: [(&str, &[&str]); 6] = [
    ("ML-KEM-512", &KEM),
    ("ML-KEM-768", &KEM),
    ("ML-KEM-1024", &KEM),
    ("ML-DSA-44", &DSA),
    ("ML-DSA-65", &DSA),
    ("ML-DSA-87", &DSA),
];

/// Programs with several operations, of which only the code is of interest.
const KEM_CODE: [&str; 2] = ["keygen+encaps+decaps", "encaps+decaps"];
const DSA_CODE: [&str; 1] = ["keygen+sign-seed+verify"];
/// Of one set each, with one FIPS 202.
pub const BOTH: (&str, &str) = ("ML-KEM-768+ML-DSA-65", "keygen+encaps+decaps,keygen+sign-seed+verify");

/// Verification of hash-based signatures that are read piece by piece, and the hash function of most.
pub const HASH_BASED: [(&str, &[&str]); 6] = [
    ("SHA-256", &["digest"]),
    ("LMS-SHA256-H10-W8", &["verify"]),
    ("LMS-SHA256-H10-W4", &["verify"]),
    ("LMS-SHAKE-H10-W8", &["verify"]),
    ("XMSS-SHA2_10_256", &["verify"]),
    ("SLH-DSA-SHA2-128s", &["verify"]),
];

/// With keys on the heap, whose schedule is that of speed.
const KEM_PREPARED: [&str; 2] = ["encaps-prepared", "decaps-prepared"];
const DSA_PREPARED: [&str; 2] = ["sign-prepared", "verify-prepared"];

/// What has one profile.
pub const PERMUTATION: (&str, &[&str]) = ("Keccak-f[1600]", &["permute"]);
/// The same of well-kept crates, which know no profiles.
pub const CLASSICAL: [(&str, &[&str], &str); 3] = [
    ("X25519", &["keygen", "agree"], "x25519-dalek 3.0.0"),
    ("P-256", &["keygen", "agree", "sign", "verify"], "p256 0.14.0"),
    ("RSA-2048", &["sign", "verify"], "rsa 0.10.0-rc.20"),
];

/// The rows of a profile: what they are of, and the operation. Where only the least memory counts, those of one set each; so in a
/// workspace, for frames do not depend on the set.
fn of_profile(target: &Target, profile: &str) -> Vec<(&'static str, &'static str)> {
    if target.name == image::RV32EMC.name || profile == WORKSPACE {
        let of_one = |(alg, ops): (_, &'static [_])| ops.iter().map(move |op| (alg, *op));
        let rows = SETS.into_iter().filter(|(alg, _)| BOTH.0.split('+').any(|one| one == *alg));
        return if profile == "fast" { Vec::new() } else { rows.flat_map(of_one).collect() };
    }
    let mut rows = Vec::new();
    for (alg, ops) in SETS {
        let (code, prepared): (&[&str], &[&str]) = match alg.starts_with("ML-KEM") {
            true => (&KEM_CODE, &KEM_PREPARED),
            false => (&DSA_CODE, &DSA_PREPARED),
        };
        // Their code is told of `small`, of the same programs.
        let code = if profile == SIZE { &[] } else { code };
        let prepared = if profile == "fast" { prepared } else { &[] };
        rows.extend(ops.iter().chain(prepared).chain(code).map(|op| (alg, *op)));
    }
    if profile != SIZE {
        rows.push(BOTH);
    }
    if profile == "small" {
        rows.extend(HASH_BASED.into_iter().flat_map(|(alg, ops)| ops.iter().map(move |op| (alg, *op))));
    }
    if profile == "fast" {
        let others = CLASSICAL.map(|(alg, ops, _)| (alg, ops));
        for (alg, ops) in [PERMUTATION].into_iter().chain(others) {
            rows.extend(ops.iter().map(|op| (alg, *op)));
        }
    }
    rows
}

/// What the rows are of, in their order.
pub fn algorithms() -> impl Iterator<Item = &'static str> {
    let ours = SETS.iter().map(|(alg, _)| *alg).chain([BOTH.0, PERMUTATION.0]);
    let ours = ours.chain(HASH_BASED.iter().map(|(alg, _)| *alg));
    ours.chain(CLASSICAL.iter().map(|(alg, ..)| *alg))
}

/// A row. Sizes are bytes, the stack that below the caller's; instructions and cycles are the mean of all inputs, stack and heap the
/// most of any. A row of several operations, joined by `+`, is of code alone, and the others are 0.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub target: &'static str,
    pub profile: &'static str,
    pub alg: String,
    pub op: String,
    pub stack: u64,
    #[serde(rename = "static")]
    pub statics: u64,
    pub workspace: u64,
    /// What the key has on the heap, and the operation takes.
    pub heap: u64,
    pub key: u64,
    pub code: u64,
    pub instructions: u64,
    pub cycles: u64,
    /// Why its program failed; then only the code is known.
    #[serde(skip)]
    pub failed: Option<String>,
}

impl Row {
    /// Target, profile, set and operation.
    pub fn name(&self) -> String {
        [self.target, self.profile, &self.alg, &self.op].join(" ")
    }

    /// Whose work it is.
    pub fn by(&self) -> String {
        match CLASSICAL.iter().find(|(alg, ..)| *alg == self.alg) {
            Some((.., version)) => (*version).into(),
            None => format!("**gambeson, {}**", self.profile),
        }
    }

    /// Whether it tells only of code.
    pub fn is_of_code(&self) -> bool {
        self.op.contains('+') || self.failed.is_some()
    }

    /// Bytes of memory, other than stack and key, that it needs.
    pub fn beside(&self) -> u64 {
        self.statics + self.workspace + self.heap
    }
}

/// A row that is still to be measured, built.
pub struct Built {
    image: Image,
    /// The one whose code is told, if it is another and no row of its own. It is run, too: its frames are others.
    sized: Option<Image>,
    /// With the code that its own program adds to an empty one.
    row: Row,
    /// What it keeps in memory beyond an empty one.
    statics: u64,
}

/// The environment that chooses a row, and a level.
pub fn variables<'a>(row: &'a str, level: &'a str) -> Vec<(&'a str, &'a str)> {
    let (level, fast) = if level == FAST_FOR_SIZE { ("s", Some(image::FAST)) } else { (level, None) };
    let chosen = [("GAMBESON_ROW", row), ("CARGO_PROFILE_RELEASE_OPT_LEVEL", level)];
    chosen.into_iter().chain(fast).collect()
}

pub const PACKAGE: &str = "gambeson-firmware-bench";

/// Builds every row whose name has `only` in it.
pub fn build(workspace: &Workspace, target: &'static Target, only: &str) -> Result<Vec<Built>> {
    let (mut built, mut images) = (Vec::new(), HashMap::new());
    for (profile, level, size) in PROFILES {
        // Where all that is hot is assembly, the rest may be small.
        let for_size = profile == "fast" && target.name == image::CORTEX_M4.name;
        let wanted = |(alg, op): &(&str, &str)| {
            format!("{} {alg} {op} {profile}", target.name).to_lowercase().contains(only)
        };
        let rows: Vec<_> = of_profile(target, profile).into_iter().filter(wanted).collect();
        if rows.is_empty() {
            continue;
        }
        let mut image = |row: &str, level| image(workspace, target, row, level, &mut images);
        for (alg, op) in rows {
            let is_ours = !CLASSICAL.iter().any(|(other, ..)| *other == alg);
            let (level, size) =
                if for_size && is_ours { (FAST_FOR_SIZE, FAST_FOR_SIZE) } else { (level, size) };
            let (empty_code, _) = image("nothing", size)?.sizes(workspace)?;
            let (_, empty_writes) = image("nothing", level)?.sizes(workspace)?;
            let schedule = if profile == SIZE { "small" } else { profile };
            let name = format!("{alg} {op} {schedule}").to_lowercase();
            let (mut run, mut sized) = (image(&name, size)?, None);
            let (code, mut writes) = run.sizes(workspace)?;
            if level != size && !op.contains('+') {
                sized = Some(std::mem::replace(&mut run, image(&name, level)?));
                (_, writes) = run.sizes(workspace)?;
            }
            // That of `small` is a row of its own.
            sized = sized.filter(|_| profile == WORKSPACE);
            let (code, statics) = (code.saturating_sub(empty_code), writes.saturating_sub(empty_writes));
            let row =
                Row { target: target.name, profile, alg: alg.into(), op: op.into(), code, ..Row::default() };
            built.push(Built { image: run, sized, row, statics });
        }
    }
    Ok(built)
}

/// The program of a row, built if it is not among those that are.
fn image(
    workspace: &Workspace,
    target: &'static Target,
    row: &str,
    level: &str,
    images: &mut HashMap<String, Image>,
) -> Result<Image> {
    let name = format!("{row} {level}");
    if let Some(image) = images.get(&name) {
        return Ok(image.clone());
    }
    let classical = CLASSICAL.iter().any(|(alg, ..)| row.starts_with(&alg.to_lowercase()));
    let package = if classical { format!("{PACKAGE}/classical") } else { PACKAGE.into() };
    let image = image::build(workspace, target, &package, &name, &variables(row, level))?;
    images.insert(name, image.clone());
    Ok(image)
}

impl Built {
    /// Runs it on all its inputs. A program that fails is a row, too, with the reason.
    pub fn measure(&self, workspace: &Workspace, plugin: &Path) -> Result<Row> {
        if let Some(sized) = &self.sized {
            let (well, text) = sized.tried(workspace, None, None)?;
            if !well {
                return Ok(self.failed(&format!("built for size: {}", last_words(&text))));
            }
        }
        let is_of_code = self.row.is_of_code();
        let (well, text) = self.image.tried(workspace, (!is_of_code).then_some(plugin), None)?;
        Ok(match (well, is_of_code) {
            (false, _) => self.failed(last_words(&text)),
            (true, true) => self.row.clone(),
            (true, false) => self.figures(&text).unwrap_or_else(|error| self.failed(&format!("{error:#}"))),
        })
    }

    /// The row of what program and plugin printed.
    fn figures(&self, text: &str) -> Result<Row> {
        let regions = regions(text)?;
        let painted: Vec<u64> = numbers(text, "painted=")?;
        let (seen, counted) = (regions.len(), painted.len());
        ensure!(seen > 0 && seen == counted, "the plugin saw {seen} regions, the program {counted}");
        for (region, painted) in regions.iter().zip(&painted) {
            let stack = region.stack;
            ensure!(stack == *painted, "the plugin saw {stack} bytes of stack, the paint {painted}");
        }
        let mean = |of: fn(&Region) -> u64| {
            let sum: u64 = regions.iter().map(of).sum();
            (sum as f64 / regions.len() as f64).round() as u64
        };
        let only = |field| numbers(text, field)?.first().copied().context("the program says its sizes");
        Ok(Row {
            stack: regions.iter().map(|region| region.stack).max().unwrap_or(0),
            statics: self.statics,
            heap: numbers(text, "heap=")?.into_iter().max().unwrap_or(0),
            workspace: only("workspace=")?,
            key: only("key=")?,
            instructions: mean(|region| region.instructions),
            cycles: mean(|region| region.cycles),
            ..self.row.clone()
        })
    }

    fn failed(&self, why: &str) -> Row {
        Row { failed: Some(why.into()), ..self.row.clone() }
    }
}

/// The last line of a program that failed; between those of programs stand the plugin's.
fn last_words(text: &str) -> &str {
    let said = |line: &&str| !line.trim().is_empty() && !line.starts_with("@region ");
    text.lines().rev().find(said).unwrap_or("the program fails without a word")
}

/// What the plugin says of a region.
#[derive(Debug, PartialEq, Eq)]
pub struct Region {
    pub instructions: u64,
    pub cycles: u64,
    pub stack: u64,
    pub trace: String,
}

/// All regions of a run, in their order.
pub fn regions(text: &str) -> Result<Vec<Region>> {
    let read = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let field =
            |name: &str| words.iter().find_map(|word| word.strip_prefix(name)).context(line.to_owned());
        Ok(Region {
            instructions: field("instructions=")?.parse()?,
            cycles: field("cycles=")?.parse()?,
            stack: field("stack=")?.parse()?,
            trace: field("trace=")?.to_owned(),
        })
    };
    text.lines().filter(|line| line.starts_with("@region ")).map(read).collect()
}

/// The numbers of the lines that begin with `field`.
fn numbers(text: &str, field: &str) -> Result<Vec<u64>> {
    let read = |rest: &str| rest.parse().with_context(|| format!("{field}{rest}"));
    text.lines().filter_map(|line| line.strip_prefix(field)).map(read).collect()
}

/// A row of `docs/embedded/peers.csv`.
#[derive(Clone, Debug)]
pub struct Peer {
    pub target: String,
    pub peer: String,
    pub alg: String,
    pub op: String,
    pub stack: u64,
    pub heap: u64,
    pub kinstructions: u64,
    pub kcycles: u64,
    pub key: u64,
    pub code: u64,
}

pub const PEERS: &str = "docs/embedded/peers.csv";

/// The peers, as they were measured.
pub fn peers(text: &str) -> Result<Vec<Peer>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let columns = "target,peer,alg,op,stack,heap,kinstructions,kcycles,key,code";
    ensure!(lines.next() == Some(columns), "{PEERS}: the columns are not known");
    let read = |line: &str| {
        let mut cells = line.split(',').map(str::to_owned);
        let [target, peer, alg, op] = [(); 4].map(|()| cells.next().unwrap_or_default());
        let numbers: Vec<u64> = cells.map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let [stack, heap, kinstructions, kcycles, key, code] = numbers[..] else { return None };
        Some(Peer { target, peer, alg, op, stack, heap, kinstructions, kcycles, key, code })
    };
    lines.map(|line| read(line).with_context(|| format!("{PEERS}: {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_read_and_a_broken_one_is_an_error() {
        let text = "key=96\n@region instructions=12 cycles=30 stack=8 trace=00ff\npainted=8\n";
        let expected = Region { instructions: 12, cycles: 30, stack: 8, trace: "00ff".into() };
        assert_eq!(regions(text).unwrap(), [expected]);
        assert_eq!(numbers(text, "painted=").unwrap(), [8]);
        assert!(regions("@region instructions=12\n").is_err());
    }

    #[test]
    fn a_program_that_fails_is_a_row_with_its_last_words() {
        let image = Image { target: &image::CORTEX_M4, path: "none".into() };
        let built = Built { image, sized: None, row: Row { code: 5000, ..Row::default() }, statics: 0 };
        let region = |stack| format!("@region instructions=1 cycles=2 stack={stack} trace=0\n");
        let said = format!("key=96\nworkspace=0\n{}painted=8\n", region(8));
        assert_eq!(built.figures(&said).unwrap().failed, None);
        let other = built.figures(&said.replace("painted=8", "painted=12")).unwrap_err();
        assert_eq!(other.to_string(), "the plugin saw 8 bytes of stack, the paint 12");
        let text = format!("{said}{}left on the stack: 12 bytes of 12\n\n{}", region(12), region(12));
        let row = built.failed(last_words(&text));
        assert_eq!(row.failed.as_deref(), Some("left on the stack: 12 bytes of 12"));
        assert_eq!((row.stack, row.cycles, row.code), (0, 0, 5000));
    }

    #[test]
    fn every_peer_is_read() {
        let text = include_str!("../../../docs/embedded/peers.csv");
        let peers = peers(text).unwrap();
        assert_eq!(peers.len(), 216);
        let record = peers.iter().filter(|peer| peer.target == "cortex-m4" && peer.alg == "ML-KEM-768");
        let record = record.filter(|peer| peer.op == "keygen").map(|peer| peer.stack + peer.heap);
        assert_eq!(record.min(), Some(2816));
    }
}
