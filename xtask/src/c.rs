//! The C interface: its header, its archives, and programs of C and C++ that use them, here and on a Cortex-M4.

use crate::answers;
use crate::bare::Compiler;
use crate::run::{FOR_OTHERS, Workspace, installed};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "crates/ffi";
const HEADER: &str = "crates/ffi/include/gambeson.h";
const INCLUDE: &str = "-Icrates/ffi/include";
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

const CORTEX_M4: &str = "thumbv7em-none-eabi";
const CORTEX_M4_COMPILER: &str = "arm-none-eabi-gcc";
const CORTEX_M4_EMULATOR: &str = "qemu-system-arm";
/// The class of the CHERIoT Ibex core: sixteen registers, no atomic instructions.
const RV32EMC: &str = "riscv32emc-unknown-none-elf";

/// What this machine lacks for programs that run here.
pub fn missing() -> Option<&'static str> {
    ["cc", "c++", "nm", "readelf", "pkg-config", "cmake"].into_iter().find(|tool| !installed(tool))
}

/// What this machine lacks for programs on a Cortex-M4.
pub fn missing_for_cortex_m4() -> Option<&'static str> {
    let mut tools = [CORTEX_M4_COMPILER, "arm-none-eabi-ar", CORTEX_M4_EMULATOR, "nm"].into_iter();
    let sources = (!Compiler::is_debians_here()).then_some("Debian's rust-web-src");
    tools.find(|tool| !installed(tool)).or(sources)
}

/// Compares the header with what the sources say, or (`bless`) writes it.
pub fn header(workspace: &Workspace, bless: bool) -> Result<String> {
    let written = generated(workspace)?;
    let path = workspace.root.join(HEADER);
    if bless {
        fs::write(&path, &written)?;
    }
    let is_written = fs::read_to_string(&path)? == written;
    ensure!(is_written, "{HEADER} is not what the sources say: cargo xtask c header");
    Ok(format!("{} calls in {HEADER}, as the sources have them", Calls::of(&written).hosted.len()))
}

/// The header that the sources make. The calls stand in macros, so that the compiler writes them out first.
fn generated(workspace: &Workspace) -> Result<String> {
    let arguments = ["rustc", "--quiet", "-p", "gambeson-ffi", "--lib", "--profile", "check", "--"];
    let mut expand = workspace.cargo(&arguments);
    let output = expand.arg("-Zunpretty=expanded").env("RUSTC_BOOTSTRAP", "gambeson_c").output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let source = workspace.target.join("xtask/gambeson_c.rs");
    fs::write(&source, output.stdout)?;
    let config = workspace.root.join(FOLDER).join("cbindgen.toml");
    let header = workspace.target.join("xtask/gambeson.h");
    let [source, config, output] = [&source, &config, &header].map(|path| path.as_os_str());
    let options = ["--source".as_ref(), source, "--config".as_ref(), config, "--output".as_ref(), output];
    workspace.tool("header", &options)?;
    // A comma behind the last enumerator is of C99 and C++11.
    with_stack(&fs::read_to_string(header)?.replace(",\n}", "\n}"))
}

/// The call in the least memory that only compares: frames of the interface.
const SHALLOW: &str = "check_sk";

/// How many calls in the least memory have their stack beside them.
const DEEP: usize = 60;

/// The operation of the bench that a call of `small_` goes as deep as, and whether in a workspace; `None` if it is a shallow one.
fn deepest(call: &str) -> Result<Option<(&'static str, bool)>> {
    let (call, in_workspace) = call.strip_suffix("_in").map_or((call, false), |call| (call, true));
    let operations = [
        ("key_generate", "keygen"),
        ("key_public", "keygen"),
        ("encapsulate", "encaps"),
        ("key_decapsulate", "decaps"),
        ("decapsulate", "decaps-dk"),
        ("key_sign", "sign-seed"),
        ("sign", "sign"),
        ("verify", "verify"),
    ];
    if call == SHALLOW {
        return Ok(None);
    }
    let operation = operations.iter().find(|(begins, _)| call.starts_with(begins));
    let (_, operation) = operation.with_context(|| format!("how deep {call} goes is not said"))?;
    Ok(Some((operation, in_workspace)))
}

/// Says in front of each call in the least memory what it may take of the stack: the limit that `firmware bench --check` holds the core to.
fn with_stack(header: &str) -> Result<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut said = 0;
    for line in header.lines() {
        let declared = line.split_once("gambeson_small_").filter(|_| !line.starts_with("//"));
        if let Some((set, call)) = declared.and_then(|(_, rest)| rest.split_once('(')?.0.split_once('_')) {
            let (family, number) = set.split_at(5);
            let algorithm = format!("ML-{}-{number}", family[2..].to_uppercase());
            if let Some((operation, in_workspace)) = deepest(call)? {
                let stack = crate::firmware::stack_on_cortex_m4(&algorithm, operation, in_workspace);
                let stack = stack.with_context(|| format!("{algorithm} has no limit for {operation}"))?;
                let comment = lines.iter().rposition(|line| line.starts_with("//")).context("a comment")?;
                lines.insert(comment + 1, format!("// Stack on a Cortex-M4: at most {stack}."));
                said += 1;
            }
        }
        lines.push(line.to_owned());
    }
    ensure!(said == DEEP, "{said} calls have their stack beside them, not {DEEP}");
    Ok(lines.join("\n") + "\n")
}

/// The functions that a header declares.
struct Calls {
    /// All that the libraries offer.
    hosted: BTreeSet<String>,
    /// Those that take no heap.
    bare: BTreeSet<String>,
}

impl Calls {
    fn of(header: &str) -> Self {
        let (mut hosted, mut bare, mut takes_heap) = (BTreeSet::new(), BTreeSet::new(), false);
        let declares =
            |line: &&str| !["//", "#", " ", "static inline"].iter().any(|other| line.starts_with(other));
        for line in header.lines().filter(declares) {
            takes_heap |= line.starts_with("GAMBESON_HOSTED");
            let name = line.split_once('(').and_then(|(before, _)| before.rsplit([' ', '*']).next());
            if let Some(name) = name.filter(|name| name.starts_with("gambeson_")) {
                hosted.insert(name.to_owned());
                if !takes_heap {
                    bare.insert(name.to_owned());
                }
                takes_heap = false;
            }
        }
        Self { hosted, bare }
    }
}

/// The names that a library defines for others, of those that pass.
fn defined(workspace: &Workspace, arguments: &[&str], library: &Path) -> Result<BTreeSet<String>> {
    let mut nm = Command::new("nm");
    let output = nm.args(["-g", "--defined-only"]).args(arguments).arg(library).output()?;
    ensure!(output.status.success(), "nm {}: {}", library.display(), String::from_utf8_lossy(&output.stderr));
    fs::write(workspace.target.join("xtask/nm.log"), &output.stdout)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.split(' ').nth(2));
    Ok(names.map(str::to_owned).collect())
}

/// Fails unless a library offers what the header declares and, of that, nothing else.
fn offers(library: &str, declared: &BTreeSet<String>, defined: &BTreeSet<String>) -> Result<()> {
    let missing: Vec<&String> = declared.difference(defined).collect();
    let unknown: Vec<&String> = defined.difference(declared).collect();
    ensure!(missing.is_empty(), "{library} lacks what the header declares: {missing:?}");
    ensure!(unknown.is_empty(), "{library} offers what the header does not declare: {unknown:?}");
    Ok(())
}

/// Checks the header and the libraries, and runs programs of C and C++ with both.
pub fn host(workspace: &Workspace) -> Result<String> {
    header(workspace, false)?;
    let header = fs::read_to_string(workspace.root.join(HEADER))?;
    let calls = Calls::of(&header);
    ensure!(Calls::of(&format!("{header}\nvoid gambeson_planted(void);")).hosted != calls.hosted, "canary");

    by_every_standard(workspace)?;

    let folder = workspace.target.join("xtask/c");
    _ = fs::remove_dir_all(&folder);
    let prefix = folder.join("installed");
    install(workspace, &prefix)?;
    let (archive, shared) =
        (prefix.join("lib/libgambeson_c.a"), prefix.join(format!("lib/libgambeson_c.so.{VERSION}")));

    offers("the shared library", &calls.hosted, &defined(workspace, &["-D"], &shared)?)?;
    for library in [&archive, &shared] {
        workspace.names_no_folder(library)?;
    }
    let mut in_archive = defined(workspace, &[], &archive)?;
    in_archive.retain(|name| name.starts_with("gambeson_"));
    offers("the archive", &calls.hosted, &in_archive)?;
    let mut readelf = workspace.command("readelf", &["-d"]);
    let dynamic = workspace.logged("c-readelf", readelf.arg(&shared))?;
    let soname = format!("[libgambeson_c.so.{}]", so_version());
    ensure!(dynamic.contains(&soname), "the shared library is not called {soname}:\n{dynamic}");

    let mut checks = 0;
    let in_c = ["main.c", "answers.c", "doors.c", "misuse.c", "hash_based.c"];
    for (compiler, standard, sources) in
        [("cc", "-std=c99", &in_c[..]), ("c++", "-std=c++11", &["classes.cpp"])]
    {
        for (kind, library) in [("static", &archive), ("shared", &shared)] {
            let program = folder.join(format!("{compiler}-{kind}"));
            let sources = sources.iter().map(|name| format!("{FOLDER}/tests/c/{name}"));
            compile(workspace, compiler, sources.chain([standard.to_owned()]), library, &program)?;
            checks += checks_of(&run(workspace, &program, &prefix)?)?;
            if (compiler, kind) == ("cc", "shared") {
                every_call_is_made(workspace, &calls, &program)?;
            }
        }
    }
    let signatures = published(workspace, &folder, &archive)?;
    as_installed(workspace, &folder, &prefix)?;
    as_in_the_readme(workspace, &folder)?;
    Ok(format!(
        "{} calls, each made by the tests; {checks} checks in C and C++, static and shared; {signatures}; pkg-config, CMake, the README's \
         lines",
        calls.hosted.len()
    ))
}

/// Compiles the headers alone, by every standard that they are for.
fn by_every_standard(workspace: &Workspace) -> Result<()> {
    let in_c = ["c99", "c11", "c17"].map(|standard| ("cc", "c", standard));
    let in_cpp =
        ["c++98", "c++03", "c++11", "c++14", "c++17", "c++20"].map(|standard| ("c++", "c++", standard));
    for (compiler, language, standard) in in_c.into_iter().chain(in_cpp) {
        for header in ["gambeson.h", "gambeson_port.h"] {
            let mut compile = workspace.command(compiler, &STRICT);
            compile.args(["-fsyntax-only", INCLUDE, "-x", language, &format!("-std={standard}")]);
            workspace.logged("c-standards", compile.args(["-include", header, "/dev/null"]))?;
        }
    }
    Ok(())
}

/// Compiles a program with a library.
fn compile(
    workspace: &Workspace,
    compiler: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    library: &Path,
    program: &Path,
) -> Result<()> {
    let mut compile = workspace.command(compiler, &STRICT);
    compile.args(["-O1", INCLUDE]).args(arguments).arg(library);
    compile.args(["-lm", "-ldl", "-pthread", "-o"]).arg(program);
    workspace.logged("c-compile", &mut compile).map(drop)
}

/// Fails unless the program, which is linked with the shared library, makes every call that the header declares.
fn every_call_is_made(workspace: &Workspace, calls: &Calls, program: &Path) -> Result<()> {
    let mut nm = workspace.command("nm", &["-D", "--undefined-only", "--format=just-symbols"]);
    let made = workspace.logged("c-nm", nm.arg(program))?;
    let made: BTreeSet<&str> = made.lines().map(str::trim).collect();
    let left: Vec<&String> = calls.hosted.iter().filter(|name| !made.contains(name.as_str())).collect();
    ensure!(left.is_empty(), "the tests in C do not call {left:?}");
    Ok(())
}

/// The hash functions of HashML-DSA by NIST's names, in the order of their identifiers.
pub const PREHASHES: [&str; 12] = [
    "SHA2-256",
    "SHA2-384",
    "SHA2-512",
    "SHA2-224",
    "SHA2-512/224",
    "SHA2-512/256",
    "SHA3-224",
    "SHA3-256",
    "SHA3-384",
    "SHA3-512",
    "SHAKE-128",
    "SHAKE-256",
];

/// How many of ACVP's signatures by ML-DSA are of messages, and how many of digests; the others are of the internal interface.
const PUBLISHED: (usize, usize) = (28, 32);
/// How many of ACVP's signatures by SLH-DSA are of messages, and how many of digests.
const PUBLISHED_SLH_DSA: (usize, usize) = (13, 9);
/// Signatures by LMS, and those of RFC 8554 by HSS.
const PUBLISHED_LMS: (usize, usize) = (320, 2);
/// Signatures by XMSS and XMSS^MT.
const PUBLISHED_XMSS: usize = 101;

/// Verifies published signatures in C, those by ML-DSA in both schedules; and sees that a wrong verdict is noticed.
fn published(workspace: &Workspace, folder: &Path, archive: &Path) -> Result<String> {
    let Some(vectors) = workspace.shared_vectors() else {
        return Ok(String::from("skipped: ../shared/vectors is not there"));
    };
    let mut lines = signatures(&answers::unpacked(&vectors.join("ml-dsa/acvp-sigver.jsonl.gz"))?)?;
    lines.extend(of_slhdsa(&answers::unpacked(&vectors.join("slh-dsa/acvp-sigVer-sample.jsonl.gz"))?)?);
    lines.extend(of_lms(&vectors.join("lms"))?);
    lines.extend(of_xmss(&vectors.join("xmss"))?);
    let program = folder.join("vectors");
    compile(workspace, "cc", ["-std=c99", "crates/ffi/tests/c/vectors.c"], archive, &program)?;
    let input = folder.join("signatures.txt");
    let verified = |lines: &[String]| -> Result<(bool, String)> {
        fs::write(&input, lines.join("\n"))?;
        workspace.tried("c-vectors", workspace.command(&program, &[]).stdin(fs::File::open(&input)?))
    };
    let (success, text) = verified(&lines)?;
    let said = format!("{} published signatures", lines.len());
    ensure!(success && text == format!("{} signatures\n", lines.len()), "{said}: {text}");
    let refused = lines.iter_mut().find(|line| line.contains(" 0 0 "));
    let refused = refused.context("none of the signatures of messages is to be refused")?;
    *refused = refused.replacen(" 0 0 ", " 0 1 ", 1);
    ensure!(!verified(&lines)?.0, "canary: a wrong verdict was not noticed");
    Ok(said)
}

/// The lines of `vectors.c`, from ACVP's.
fn signatures(requests: &str) -> Result<Vec<String>> {
    let (mut lines, mut used) = (Vec::new(), BTreeMap::new());
    for request in requests.lines() {
        let request: Value = serde_json::from_str(request)?;
        if request["signatureInterface"] != "external" {
            continue;
        }
        let prehash = match request["hashAlg"].as_str() {
            Some(name) => prehash(name)?,
            None => 0,
        };
        *used.entry(prehash).or_insert(0) += 1;
        let bytes = ["message", "context", "pk", "signature"].map(|name| hex(&request, name)).join(" ");
        let is_valid = u8::from(request["expect"]["testPassed"] == true);
        lines.push(format!("{} {prehash} {is_valid} {bytes}", hex(&request, "alg")));
    }
    let pure = used.get(&0).copied().unwrap_or(0);
    let known = (pure, lines.len() - pure) == PUBLISHED && used.len() == 1 + PREHASHES.len();
    ensure!(known, "ACVP has others: {used:?}");
    Ok(lines)
}

/// The number of a hash function that ACVP names, from 1.
fn prehash(name: &str) -> Result<usize> {
    PREHASHES.iter().position(|known| *known == name).map(|place| 1 + place).context("an unknown function")
}

/// The value of a member in hexadecimal, or `-` for nothing.
fn hex<'a>(request: &'a Value, name: &str) -> &'a str {
    request[name].as_str().filter(|hex| !hex.is_empty()).unwrap_or("-")
}

/// The lines of `vectors.c` from ACVP's signatures by SLH-DSA.
fn of_slhdsa(requests: &str) -> Result<Vec<String>> {
    let (mut lines, mut prehashed) = (Vec::new(), 0);
    for request in requests.lines() {
        let request: Value = serde_json::from_str(request)?;
        if request["signatureInterface"] != "external" {
            continue;
        }
        let function = match request["hashAlg"].as_str() {
            Some(name) => prehash(name)?,
            None => 0,
        };
        prehashed += usize::from(function != 0);
        let bytes = ["message", "context", "pk", "signature"]
            .map(|name| hex(&request, name))
            .join(" ")
            .to_lowercase();
        let is_valid = u8::from(request["testPassed"] == true);
        lines.push(format!("{} {function} {is_valid} {bytes}", hex(&request, "parameterSet")));
    }
    let all = (lines.len() - prehashed, prehashed);
    ensure!(all == PUBLISHED_SLH_DSA, "ACVP has others by SLH-DSA: {all:?}");
    Ok(lines)
}

/// The lines of `vectors.c` from the signatures by LMS of post-quantum-cryptography/KAT, and from RFC 8554's by HSS.
fn of_lms(folder: &Path) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for request in answers::unpacked(&folder.join("kat-sigVer.jsonl.gz"))?.lines() {
        let request: Value = serde_json::from_str(request)?;
        let [message, key, signature] =
            ["message", "publicKey", "signature"].map(|name| hex(&request, name).to_lowercase());
        lines
            .push(format!("LMS 0 {} {message} - {key} {signature}", u8::from(request["testPassed"] == true)));
    }
    let by_lms = lines.len();
    for case in 1..=2 {
        let text = answers::unpacked(&folder.join(format!("rfc8554-testcase_{case}.txt.gz")))?;
        // Key, message and signature begin with a line of their own; what comes after them repeats parts of the signature.
        let mut sections = Vec::new();
        for line in text.lines() {
            if line.starts_with('!') {
                sections.push(String::new());
            }
            let hex = line.split_once('$').and_then(|(_, hex)| hex.split_whitespace().next());
            if let Some((hex, section)) = hex.zip(sections.last_mut()) {
                section.push_str(hex);
            }
        }
        let [key, message, signature, ..] = sections.as_slice() else { bail!("RFC 8554 has another form") };
        let bytes = [message, "-", key, signature].join(" ").to_lowercase();
        lines.push(format!("HSS 0 1 {bytes}"));
    }
    let all = (by_lms, lines.len() - by_lms);
    ensure!(all == PUBLISHED_LMS, "there are others by LMS: {all:?}");
    Ok(lines)
}

/// The lines of `vectors.c` from the signatures by XMSS and XMSS^MT of liboqs, and by XMSS of post-quantum-cryptography/KAT, which has the
/// message behind the signature.
fn of_xmss(folder: &Path) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for request in answers::unpacked(&folder.join("liboqs-verify.jsonl.gz"))?.lines() {
        let request: Value = serde_json::from_str(request)?;
        let (name, _) = hex(&request, "name").split_once('-').context("a name has no family")?;
        let [message, key, signature] = ["msg", "pk", "sm"].map(|name| hex(&request, name).to_lowercase());
        lines.push(format!("{name} 0 1 {message} - {key} {signature}"));
    }
    for request in answers::unpacked(&folder.join("kat-sigVer.jsonl.gz"))?.lines() {
        let request: Value = serde_json::from_str(request)?;
        let names = ["message", "publicKey", "signature"];
        let [message, key, signed] = names.map(|name| hex(&request, name).to_lowercase());
        let signature = signed.strip_suffix(&message).context("the message is behind the signature")?;
        let is_valid = u8::from(request["testPassed"] == true);
        lines.push(format!("XMSS 0 {is_valid} {message} - {key} {signature}"));
    }
    ensure!(lines.len() == PUBLISHED_XMSS, "there are others by XMSS: {}", lines.len());
    Ok(lines)
}

fn run(workspace: &Workspace, program: &Path, prefix: &Path) -> Result<String> {
    let mut command = workspace.command(program, &[]);
    workspace.logged("c-run", command.env("LD_LIBRARY_PATH", prefix.join("lib")))
}

/// How many checks a program says that it made.
fn checks_of(text: &str) -> Result<usize> {
    let last = text.lines().last().and_then(|line| line.strip_suffix(" checks"));
    let count: usize = last.with_context(|| format!("no count of checks:\n{text}"))?.parse()?;
    ensure!(count > 0, "no check was made");
    Ok(count)
}

/// The example, compiled as pkg-config and CMake say, in a folder that was moved after the installation.
fn as_installed(workspace: &Workspace, folder: &Path, prefix: &Path) -> Result<()> {
    let moved = folder.join("moved");
    fs::rename(prefix, &moved)?;
    let mut config = workspace.command("pkg-config", &["--cflags", "--libs", "gambeson"]);
    config.env("PKG_CONFIG_PATH", moved.join("lib/pkgconfig"));
    let flags = workspace.logged("c-pkg-config", &mut config)?;
    let program = folder.join("kem-pkg-config");
    let mut compile = workspace.command("cc", &["crates/ffi/examples/kem.c", "-o"]);
    compile.arg(&program).args(flags.split_whitespace());
    workspace.logged("c-compile", &mut compile)?;
    agrees(&run(workspace, &program, &moved)?)?;

    let build = folder.join("cmake");
    let mut configure = workspace.command("cmake", &["-S", "crates/ffi/tests/c/installed", "-B"]);
    configure.arg(&build).arg(format!("-DCMAKE_PREFIX_PATH={}", moved.display()));
    workspace.logged("c-cmake", &mut configure)?;
    workspace.logged("c-cmake-build", workspace.command("cmake", &["--build"]).arg(&build))?;
    for program in ["kem_gambeson", "kem_gambeson_static"] {
        agrees(&run(workspace, &build.join(program), &moved)?)?;
    }
    Ok(())
}

fn agrees(text: &str) -> Result<()> {
    ensure!(text.ends_with("the two secrets are the same\n"), "the example says:\n{text}");
    Ok(())
}

/// The first lines of the README, as a reader runs them, but for the target folder; and the other example.
fn as_in_the_readme(workspace: &Workspace, folder: &Path) -> Result<()> {
    let readme = fs::read_to_string(workspace.root.join(FOLDER).join("README.md"))?;
    let lines = readme.split_once("```sh\n").and_then(|(_, rest)| rest.split_once("```"));
    let (lines, _) = lines.context("the README begins with lines for the shell")?;
    let front = fs::read_to_string(workspace.root.join("README.md"))?;
    ensure!(front.contains(lines), "README.md has other lines for C than {FOLDER}/README.md");
    let lines = lines.replace("target/", &format!("{}/", workspace.target.display()));
    let mut shell = workspace.command("sh", &["-ec", &lines]);
    agrees(&workspace.logged("c-readme", &mut shell)?)?;

    let program = folder.join("sign");
    let archive = workspace.built("release", "libgambeson_c.a");
    compile(workspace, "cc", ["crates/ffi/examples/sign.c"], &archive, &program)?;
    let said = workspace.logged("c-sign", &mut workspace.command(&program, &[HEADER]))?;
    ensure!(said.ends_with("and verified\n"), "the example says:\n{said}");
    Ok(())
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The part of the version that the shared library's name has: build.rs of gambeson-ffi gives it that.
fn so_version() -> String {
    match VERSION.split('.').collect::<Vec<_>>().as_slice() {
        ["0", minor, ..] => format!("0.{minor}"),
        parts => parts.first().copied().unwrap_or_default().to_owned(),
    }
}

/// Builds the libraries and puts them into a folder, with their headers and files for pkg-config and CMake.
pub fn install(workspace: &Workspace, prefix: &Path) -> Result<String> {
    ensure!(cfg!(target_os = "linux"), "the layout of an installation is known for Linux only");
    let build = ["build", "--release", "--quiet", "-p", "gambeson-ffi"];
    workspace.logged("c-build", workspace.for_others(&mut workspace.cargo(&build)))?;
    let built = workspace.apart(FOR_OTHERS).join("release");
    let so_version = so_version();
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let (pkg_config, cmake) = (lib.join("pkgconfig"), lib.join("cmake/gambeson"));
    for folder in [&include, &pkg_config, &cmake] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let ffi = workspace.root.join(FOLDER);
    for name in ["gambeson.h", "gambeson_port.h"] {
        fs::copy(ffi.join("include").join(name), include.join(name))?;
    }
    fs::copy(built.join("libgambeson_c.a"), lib.join("libgambeson_c.a"))?;
    let shared = format!("libgambeson_c.so.{VERSION}");
    fs::copy(built.join("libgambeson_c.so"), lib.join(&shared))?;
    for name in [format!("libgambeson_c.so.{so_version}"), String::from("libgambeson_c.so")] {
        let link = lib.join(name);
        _ = fs::remove_file(&link);
        symlink(&shared, link)?;
    }
    let files = [&pkg_config, &cmake, &cmake].into_iter();
    for (folder, name) in files.zip(["gambeson.pc", "gambesonConfig.cmake", "gambesonConfigVersion.cmake"]) {
        let text = fs::read_to_string(ffi.join("pkg").join(format!("{name}.in")))?;
        fs::write(folder.join(name), text.replace("@VERSION@", VERSION).replace("@SOVERSION@", &so_version))?;
    }
    Ok(format!("gambeson {VERSION} in {}", prefix.display()))
}

/// Builds the archive for a target without an operating system.
pub fn bare(workspace: &Workspace, target: &str) -> Result<PathBuf> {
    ensure!(Compiler::is_debians_here(), "Debian's rustc-web, cargo-web and rust-web-src are not here");
    let arguments = ["rustc", "--quiet", "-p", "gambeson-ffi", "--lib", "--no-default-features"];
    let mut build = Compiler::Debian.cargo(workspace, "core", &arguments);
    build.args(["--crate-type", "staticlib", "--profile", "bare", "--target", target]);
    build.env("RUSTFLAGS", "-Zunstable-options -Cpanic=immediate-abort");
    let folder = workspace.apart("c");
    workspace.logged(&format!("c-{target}"), build.env("CARGO_TARGET_DIR", &folder))?;
    Ok(folder.join(target).join("bare/libgambeson_c.a"))
}

/// Fails if a file has a symbol of the code that panics.
fn cannot_panic(file: &Path) -> Result<()> {
    let output = Command::new("nm").arg(file).output()?;
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(names.contains("gambeson_"), "nm sees nothing in {}", file.display());
    let panics: Vec<&str> = names.lines().filter(|line| line.contains("panicking")).collect();
    ensure!(panics.is_empty(), "{} can panic:\n{}", file.display(), panics.join("\n"));
    Ok(())
}

/// The tests in C on a Cortex-M4 under qemu; and that the archives for it and for RV32EMC cannot panic.
pub fn cortex_m4(workspace: &Workspace) -> Result<String> {
    let folder = workspace.target.join("xtask/c-cortex-m4");
    fs::create_dir_all(&folder)?;
    let calls = Calls::of(&fs::read_to_string(workspace.root.join(HEADER))?);
    let archives = [bare(workspace, CORTEX_M4)?, bare(workspace, RV32EMC)?];
    for archive in &archives {
        cannot_panic(archive)?;
        let mut names = defined(workspace, &[], archive)?;
        names.retain(|name| name.starts_with("gambeson_"));
        offers(&archive.display().to_string(), &calls.bare, &names)?;
    }
    let [archive, _] = archives;
    canary(workspace, &folder, &archive)?;

    let program = folder.join("tests.elf");
    let mut compile =
        workspace.command(CORTEX_M4_COMPILER, &["-std=c11", "-mcpu=cortex-m4", "-mthumb", "-O2"]);
    compile.args(["-ffreestanding", "-nostdlib", "-ffunction-sections", "-Wall", "-Wextra", INCLUDE]);
    compile.args(["-Wl,--gc-sections", "-T", "crates/ffi/tests/c/cortex_m4/memory.ld"]);
    for source in ["cortex_m4/start.c", "answers.c", "doors.c", "misuse.c", "hash_based.c"] {
        compile.arg(format!("{FOLDER}/tests/c/{source}"));
    }
    compile.arg(&archive).args(["-lgcc", "-o"]).arg(&program);
    workspace.logged("c-cortex-m4", &mut compile)?;
    cannot_panic(&program)?;
    let mut emulate = workspace.command(CORTEX_M4_EMULATOR, &["-machine", "mps2-an386", "-cpu", "cortex-m4"]);
    emulate.args(["-nographic", "-semihosting-config", "enable=on,target=native", "-kernel"]).arg(&program);
    let checks = checks_of(&workspace.logged("c-cortex-m4-run", &mut emulate)?)?;
    Ok(format!(
        "{} calls without a heap, {checks} checks under qemu; no symbol of core::panicking here or for RV32EMC, a planted one was seen",
        calls.bare.len()
    ))
}

/// An archive with a function that panics, by name, must be refused.
fn canary(workspace: &Workspace, folder: &Path, archive: &Path) -> Result<()> {
    let (source, object) = (folder.join("planted.c"), folder.join("planted.o"));
    let planted = folder.join("planted.a");
    fs::write(&source, "void _RNvNtCs0_4core9panicking9panic_fmt(void) {}\n")?;
    let mut compile = workspace.command(CORTEX_M4_COMPILER, &["-mcpu=cortex-m4", "-mthumb", "-c", "-o"]);
    workspace.logged("c-canary", compile.arg(&object).arg(&source))?;
    fs::copy(archive, &planted)?;
    let mut add = workspace.command("arm-none-eabi-ar", &["rS"]);
    workspace.logged("c-canary", add.arg(&planted).arg(&object))?;
    let seen = cannot_panic(&planted).is_err();
    ensure!(seen, "canary: a function of core::panicking was put into the archive, and not seen");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_the_limit_of_its_operation() {
        let of = |call| deepest(call).unwrap();
        assert_eq!(of("key_decapsulate"), Some(("decaps", false)));
        assert_eq!(of("decapsulate_in"), Some(("decaps-dk", true)));
        assert_eq!(of("key_sign_in"), Some(("sign-seed", true)));
        assert_eq!(of("verify"), Some(("verify", false)));
        assert_eq!(of("check_sk"), None);
        assert!(deepest("planted").is_err());
        let stack = crate::firmware::stack_on_cortex_m4;
        assert_eq!(stack("ML-KEM-768", "encaps", false), Some(1792));
        assert_eq!(stack("ML-DSA-44", "sign", true), Some(832));
        assert_eq!(stack("ML-DSA-44", "planted", false), None);
        // Fewer calls than there are: something was not read.
        assert!(with_stack("// A.\nint gambeson_small_mlkem512_key_generate(void);\n").is_err());
    }

    #[test]
    fn calls_are_told_from_types_and_comments() {
        let header = "// gambeson_comment(\ntypedef int (*gambeson_fill)(void *ctx);\n\
            GAMBESON_HOSTED\nGAMBESON_MUST_USE\nenum gambeson_error gambeson_keypair(uint8_t *ek,\n    uint8_t *dk);\n\
            GAMBESON_API const char *gambeson_version(void);\nstatic inline gambeson_message gambeson_message_mu(const uint8_t *mu)\n{\n\
            \x20   gambeson_message described = gambeson_message_pure(mu);\n}\n";
        let calls = Calls::of(header);
        assert!(calls.hosted.iter().eq(["gambeson_keypair", "gambeson_version"]));
        assert!(calls.bare.iter().eq(["gambeson_version"]));
    }

    #[test]
    fn a_call_more_or_less_is_refused() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert!(offers("it", &names(&["a", "b"]), &names(&["a", "b"])).is_ok());
        assert!(offers("it", &names(&["a", "b"]), &names(&["a"])).is_err());
        assert!(offers("it", &names(&["a"]), &names(&["a", "b"])).is_err());
    }

    #[test]
    fn signatures_are_told_by_their_functions() {
        let request = r#"{"alg":"ML-DSA-44","signatureInterface":"external","context":"","message":"00","pk":"1","signature":"2"}"#;
        assert!(signatures(request).is_err(), "one is not all");
        assert!(signatures(&request.replace("\"pk\"", "\"hashAlg\":\"MD5\",\"pk\"")).is_err());
    }

    #[test]
    fn a_count_of_checks_is_asked_for() {
        assert_eq!(checks_of("a line\n12 checks\n").unwrap(), 12);
        assert!(checks_of("0 checks\n").is_err());
        assert!(checks_of("").is_err());
    }
}
