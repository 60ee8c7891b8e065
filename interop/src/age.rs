//! Stock `age` and `age-keygen`, both ways.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use gambeson_age::{Encryptor, Format, Identity, Passphrase, Recipient, open, seal};
use libtest_mimic::Trial;

use crate::tools::{Result, check, command, exists, gambeson, go, run, succeed, unavailable};

const VERSION: &str = "v1.3.1";
const CHUNK: usize = 64 * 1024;
const SIZES: [usize; 7] = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 5 * 1024 * 1024 + 3];
const FORMATS: [Format; 2] = [Format::Binary, Format::Armored];

/// The tests with our library, and with our program if it can be built.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let age = match Age::build(scratch) {
        Ok(age) => Arc::new(age),
        Err(reason) => return vec![unavailable("age", reason.message().unwrap_or_default())],
    };
    let mut trials = Vec::new();
    let mut add = |name: &str, test: fn(&Age) -> Result| {
        let age = Arc::clone(&age);
        trials.push(Trial::test(format!("age::{name}"), move || test(&age)));
    };
    add("is_the_version_that_we_name", the_version);
    add("age_opens_what_we_seal", age_opens_ours);
    add("we_open_what_age_seals", we_open_ages);
    add("keys_go_both_ways", keys);
    add("age_refuses_ours_when_it_was_changed_or_is_for_another", age_refuses);
    add("several_recipients_both_ways", several);
    add("passphrases_both_ways", passphrases);

    match gambeson() {
        Ok(program) => {
            let mut add = |name: &str, test: fn(&Age, &Path) -> Result| {
                let (age, program) = (Arc::clone(&age), program.clone());
                trials.push(Trial::test(format!("age::{name}"), move || test(&age, &program)));
            };
            add("our_program_and_age_open_each_others_files", our_program);
            add("age_opens_what_an_agent_seals", an_agent_seals);
            add("an_agent_opens_what_age_seals", an_agent_opens);
            add("age_opens_a_backup_of_which_only_the_words_are_left", a_drill);
        }
        Err(reason) => {
            for name in ["our_program", "an_agent_seals", "an_agent_opens", "a_drill"] {
                trials.push(unavailable(&format!("age::{name}"), reason.message().unwrap_or_default()));
            }
        }
    }
    trials
}

/// The two programs, and a folder for files.
struct Age {
    age: PathBuf,
    keygen: PathBuf,
    /// The plugin with which age takes a passphrase without a terminal, found on the path.
    bin: PathBuf,
    files: PathBuf,
}

impl Age {
    /// Builds both from the Go module proxy, unless they are there.
    fn build(scratch: &Path) -> Result<Self> {
        let bin = scratch.join(format!("age-{VERSION}"));
        let (age, keygen, files) = (bin.join("age"), bin.join("age-keygen"), scratch.join("age-files"));
        if !exists(&age) || !exists(&keygen) || !exists(&bin.join("age-plugin-batchpass")) {
            let packages = ["age", "age-keygen", "age-plugin-batchpass"]
                .map(|name| format!("filippo.io/age/cmd/{name}@{VERSION}"));
            succeed(go().current_dir(scratch).env("GOBIN", &bin).arg("install").args(packages), b"")?;
        }
        std::fs::create_dir_all(&files).map_err(|error| error.to_string())?;
        Ok(Self { age, keygen, bin, files })
    }

    fn run(&self) -> Command {
        command(&self.age)
    }

    /// Writes a file for a test, and returns its path.
    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.files.join(name);
        std::fs::write(&path, contents).map_err(|error| error.to_string())?;
        Ok(path)
    }

    fn identity_file(&self, name: &str, identities: &[&Identity]) -> Result<PathBuf> {
        let lines: Vec<String> =
            identities.iter().map(|identity| format!("{}\n", *identity.encode())).collect();
        self.file(name, lines.concat())
    }
}

fn plaintext(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i / 5 + i / CHUNK) as u8).collect()
}

fn sealed(recipients: &[Recipient], plaintext: &[u8], format: Format) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    seal(recipients, plaintext, &mut file, format).map_err(|error| error.to_string())?;
    Ok(file)
}

fn opened(identity: &Identity, file: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    open(&[identity], file, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

fn generate() -> Result<Identity> {
    Ok(Identity::generate().map_err(|error| error.to_string())?)
}

fn the_version(age: &Age) -> Result {
    let version = succeed(age.run().arg("--version"), b"")?;
    check(version.trim_ascii() == VERSION.as_bytes(), "another version of age")
}

fn age_opens_ours(age: &Age) -> Result {
    let identity = generate()?;
    let key = age.identity_file("ours.key", &[&identity])?;
    let mut ran = 0;
    for size in SIZES {
        for format in FORMATS {
            let plaintext = plaintext(size);
            let file = sealed(&[identity.recipient()], &plaintext, format)?;
            let out = succeed(age.run().arg("-d").arg("-i").arg(&key), &file)?;
            check(out == plaintext, format!("{size} bytes, {format:?}"))?;
            ran += 1;
        }
    }
    check(ran == 14, "every size in both formats")
}

fn passphrases(age: &Age) -> Result {
    const TEXT: &str = "zwölf Boxkämpfer";
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(age.bin.clone()).chain(std::env::split_paths(&path)))
        .map_err(|error| error.to_string())?;
    let stock = |passphrase: &str, argument: &str| {
        let mut command = age.run();
        command.env("PATH", &path).env("AGE_PASSPHRASE", passphrase).env("AGE_PASSPHRASE_WORK_FACTOR", "11");
        command.args([argument, "-j", "batchpass"]);
        command
    };
    let ours = Passphrase::new(TEXT).map_err(|error| error.to_string())?.work_factor(11);
    let mut ran = 0;
    for size in [0, 1, CHUNK + 1] {
        for format in FORMATS {
            let plaintext = plaintext(size);
            let mut file =
                Encryptor::with_passphrase(&ours, Vec::new(), format).map_err(|error| error.to_string())?;
            std::io::Write::write_all(&mut file, &plaintext).map_err(|error| error.to_string())?;
            let file = file.finish().map_err(|error| error.to_string())?;
            check(
                succeed(&mut stock(TEXT, "-d"), &file)? == plaintext,
                format!("ours, {size} bytes, {format:?}"),
            )?;
            check(
                !run(&mut stock("another", "-d"), &file)?.status.success(),
                "another passphrase opened it",
            )?;

            let mut seal = stock(TEXT, "-e");
            if format == Format::Armored {
                seal.arg("-a");
            }
            let file = succeed(&mut seal, &plaintext)?;
            let mut out = Vec::new();
            open(&[&ours], &file[..], &mut out).map_err(|error| error.to_string())?;
            check(out == plaintext, format!("theirs, {size} bytes, {format:?}"))?;
            ran += 1;
        }
    }
    check(ran == 6, "every size in both formats")
}

fn we_open_ages(age: &Age) -> Result {
    let identity = generate()?;
    let recipient = identity.recipient().to_string();
    let file_of_recipients = age.file("ours.pub", format!("# ours\n{recipient}\n"))?;
    let mut ran = 0;
    for size in SIZES {
        for format in FORMATS {
            let plaintext = plaintext(size);
            let mut seal = age.run();
            if format == Format::Armored {
                seal.arg("-a").arg("-R").arg(&file_of_recipients);
            } else {
                seal.arg("-r").arg(&recipient);
            }
            let file = succeed(&mut seal, &plaintext)?;
            check(opened(&identity, &file)? == plaintext, format!("{size} bytes, {format:?}"))?;
            ran += 1;
        }
    }
    check(ran == 14, "every size in both formats")
}

fn keys(age: &Age) -> Result {
    let text = String::from_utf8(succeed(command(&age.keygen).arg("-pq"), b"")?).expect("age writes text");
    let theirs = Identity::parse_file(&text).map_err(|error| error.to_string())?;
    check(theirs.len() == 1, "one identity")?;
    let line = format!("# public key: {}\n", theirs[0].recipient());
    check(text.contains(&line), "the recipient that age-keygen names is ours")?;

    let ours = generate()?;
    let path = age.identity_file("ours-y.key", &[&ours])?;
    let recipient = succeed(command(&age.keygen).arg("-y").arg(path), b"")?;
    check(
        recipient.trim_ascii() == ours.recipient().to_string().as_bytes(),
        "age-keygen -y of our identity",
    )?;

    let classical = succeed(&mut command(&age.keygen), b"")?;
    let classical = String::from_utf8(classical).expect("age writes text");
    check(Identity::parse_file(&classical).is_err(), "an X25519 identity is refused")
}

fn age_refuses(age: &Age) -> Result {
    let (ours, other) = (generate()?, generate()?);
    let key = age.identity_file("refuses.key", &[&ours])?;
    let file = sealed(&[ours.recipient()], b"quilted linen", Format::Binary)?;
    let for_another = sealed(&[other.recipient()], b"quilted linen", Format::Binary)?;
    let mut changed = file.clone();
    *changed.last_mut().expect("a file is not empty") ^= 1;
    let mut header = file.clone();
    header[1600] ^= 1;
    for (name, file) in [("another", &for_another), ("changed", &changed), ("header", &header)] {
        let output = run(age.run().arg("-d").arg("-i").arg(&key), file)?;
        check(!output.status.success() && output.stdout.is_empty(), format!("age opened it: {name}"))?;
        check(opened(&ours, file).is_err(), format!("we opened it: {name}"))?;
    }
    Ok(())
}

fn several(age: &Age) -> Result {
    let identities = [generate()?, generate()?, generate()?];
    let recipients: Vec<Recipient> = identities.iter().map(Identity::recipient).collect();
    let plaintext = plaintext(100_000);

    let ours = sealed(&recipients, &plaintext, Format::Armored)?;
    let mut seal = age.run();
    recipients.iter().for_each(|recipient| {
        seal.arg("-r").arg(recipient.to_string());
    });
    let theirs = succeed(&mut seal, &plaintext)?;
    for (index, identity) in identities.iter().enumerate() {
        let key = age.identity_file(&format!("several-{index}.key"), &[identity])?;
        let out = succeed(age.run().arg("-d").arg("-i").arg(key), &ours)?;
        check(out == plaintext, format!("age opens ours as recipient {index}"))?;
        check(opened(identity, &theirs)? == plaintext, format!("we open age's as recipient {index}"))?;
    }
    Ok(())
}

fn our_program(age: &Age, program: &Path) -> Result {
    let identity = generate()?;
    let key = age.identity_file("program.key", &[&identity])?;
    let plaintext = plaintext(200_000);
    let input = age.file("program.txt", &plaintext)?;
    let output = age.files.join("program.out");
    for armored in [false, true] {
        let _ = std::fs::remove_file(&output);
        let mut seal = command(program);
        seal.arg("seal").arg("-r").arg(identity.recipient().to_string());
        if armored {
            seal.arg("-a");
        }
        succeed(seal.arg(&input).arg("-o").arg(&output), b"")?;
        let out = succeed(age.run().arg("-d").arg("-i").arg(&key).arg(&output), b"")?;
        check(out == plaintext, "age opens what `gambeson seal` wrote")?;

        let mut seal = age.run();
        seal.arg("-r").arg(identity.recipient().to_string());
        if armored {
            seal.arg("-a");
        }
        let theirs = age.file("program.age", succeed(&mut seal, &plaintext)?)?;
        let _ = std::fs::remove_file(&output);
        succeed(command(program).arg("open").arg("-i").arg(&key).arg(theirs).arg("-o").arg(&output), b"")?;
        let out = std::fs::read(&output).map_err(|error| error.to_string())?;
        check(out == plaintext, "`gambeson open` opens what age wrote")?;
    }
    Ok(())
}

/// Our program as an agent of its own, in a home that was not there before.
fn an_agent(
    age: &Age,
    program: &Path,
    name: &str,
    words: &Path,
) -> Result<impl Fn(&[&str]) -> Result<Vec<u8>> + use<>> {
    let home = age.files.join(name);
    let _ = std::fs::remove_dir_all(&home);
    let _ = std::fs::remove_file(words);
    let program = program.to_owned();
    let agent = move |arguments: &[&str]| {
        let mut command = command(&program);
        command.arg("agent").args(arguments).arg("--home").arg(&home);
        succeed(command.env("GAMBESON_PASSPHRASE", "zwölf Boxkämpfer"), b"")
    };
    agent(&["init", "--words", text(words)?])?;
    Ok(agent)
}

fn text(path: &Path) -> Result<&str> {
    Ok(path.to_str().ok_or("a path that is no text")?)
}

fn an_agent_seals(age: &Age, program: &Path) -> Result {
    let agent = an_agent(age, program, "sealing-agent", &age.files.join("sealing.words"))?;
    let identity = generate()?;
    let key = age.identity_file("agent.key", &[&identity])?;
    let plaintext = plaintext(CHUNK + 1);
    let input = age.file("agent.txt", &plaintext)?;
    let output = age.files.join("agent.age");
    let recipient = identity.recipient().to_string();
    agent(&["seal", text(&input)?, "-r", &recipient, "-o", text(&output)?, "--force"])?;
    let out = succeed(age.run().arg("-d").arg("-i").arg(&key).arg(&output), b"")?;
    check(out == plaintext, "age opens what `gambeson agent seal` wrote")
}

/// Stock age seals to the recipient that an agent shows: by name and by file, for it alone and among others.
fn an_agent_opens(age: &Age, program: &Path) -> Result {
    let agent = an_agent(age, program, "opening-agent", &age.files.join("opening.words"))?;
    let recipient = String::from_utf8(agent(&["show", "--recipient"])?).map_err(|error| error.to_string())?;
    let recipients = age.files.join("agent.pub");
    agent(&["card", "--recipient", "-o", text(&recipients)?, "--force"])?;
    let other = generate()?.recipient().to_string();
    let classical = succeed(&mut command(&age.keygen), b"")?;
    let classical = age.file("classical.key", classical)?;
    let classical = String::from_utf8(succeed(command(&age.keygen).arg("-y").arg(classical), b"")?);
    let classical = classical.map_err(|error| error.to_string())?;
    let output = age.files.join("opening.out");
    let mut ran = 0;
    for size in SIZES {
        for format in FORMATS {
            let plaintext = plaintext(size);
            let mut seal = age.run();
            if format == Format::Armored {
                seal.arg("-a").arg("-R").arg(&recipients);
            } else {
                seal.arg("-r").arg(&other).arg("-r").arg(recipient.trim());
            }
            let file = age.file("to-an-agent.age", succeed(&mut seal, &plaintext)?)?;
            agent(&["open", text(&file)?, "-o", text(&output)?, "--force"])?;
            let out = std::fs::read(&output).map_err(|error| error.to_string())?;
            check(out == plaintext, format!("{size} bytes, {format:?}"))?;
            ran += 1;
        }
    }
    check(ran == 14, "every size in both formats")?;

    // After a rotation age seals to the new recipient, and what was sealed to the old one still opens.
    agent(&["rotate", "backup"])?;
    let rotated = String::from_utf8(agent(&["show", "--recipient"])?).map_err(|error| error.to_string())?;
    check(rotated != recipient, "another recipient")?;
    for recipient in [&recipient, &rotated] {
        let file = succeed(age.run().arg("-r").arg(recipient.trim()), b"quilted linen")?;
        let file = age.file("rotated.age", file)?;
        check(agent(&["open", text(&file)?])? == b"quilted linen", "before and after a rotation")?;
    }
    let file = succeed(age.run().arg("-r").arg(classical.trim()), b"quilted linen")?;
    let file = age.file("to-somebody.age", file)?;
    check(agent(&["open", text(&file)?]).is_err(), "an age file to somebody else does not open")
}

/// The page docs/spec/kdf.md by hand: words, entropy, `derive_key`, age identity; then stock age.
fn a_drill(age: &Age, program: &Path) -> Result {
    let words = age.files.join("drill.words");
    let agent = an_agent(age, program, "drill-agent", &words)?;
    let backup = age.files.join("drill.backup");
    agent(&["backup", "-o", text(&backup)?, "--force"])?;

    let words = std::fs::read_to_string(&words).map_err(|error| error.to_string())?;
    let entropy = bip39::Mnemonic::parse(words.trim()).map_err(|error| error.to_string())?.to_entropy();
    check(entropy.len() == 32, "24 words")?;
    let material = [&entropy[..], &[0; 8]].concat();
    let seed = blake3::derive_key("gambeson 2026-11-21 v1 m/3' backup X-Wing seed", &material);
    let key = age.identity_file("drill.key", &[&Identity::from_seed(&seed)])?;
    let archive = succeed(age.run().arg("-d").arg("-i").arg(&key).arg(&backup), b"")?;
    check(archive.starts_with(b"gambeson backup"), "the archive that docs/spec/backup.md describes")
}
