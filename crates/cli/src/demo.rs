//! The command `demo`: the whole job on a real file, and what happens to whoever tampers.
//!
//! Alice signs a file and seals it to Bob; Bob opens it and verifies the signature. Then one byte of each thing
//! that travels is changed, and a stranger tries his key: all of that must be refused. Then the life of two agents, and a channel of three.

mod apart;
mod bob;
mod life;
mod talk;

use crate::args::Demo;
use crate::console::{Console, duration, grouped};
use crate::error::{Error, Status};
use crate::files;
use crate::unfinished::Unfinished;
use gambeson::mldsa::{MlDsa65, SigningKey, VerifyingKey};
use gambeson_age::{Format, Identity};
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

/// The context of Alice's signature.
const CONTEXT: &[u8] = b"gambeson demo";

/// A byte in the first recipient's stanza of a sealed file: the first line of the header has 22.
const STANZA: u64 = 100;

pub(crate) fn demo(console: Console, options: &Demo) -> Result<Status, Error> {
    let original = match &options.file {
        Some(file) => file.clone(),
        None => std::env::current_exe().map_err(|e| Error::stream(&"the path of this program", &e))?,
    };
    let folder = tempfile::tempdir().map_err(|e| Error::stream(&"a temporary folder", &e))?;
    let _unfinished = Unfinished::new(folder.path());
    let sealed = folder.path().join("sealed.age");
    let opened = folder.path().join("opened");
    let (length, digest) = measured(&original)?;
    console.say_lines([format!("{}: {} bytes", original.display(), grouped(length)), String::new()])?;
    let mut show = Show { console, well: true };

    let alice = show.makes("Alice makes an ML-DSA-65 key", || {
        let key = SigningKey::<MlDsa65>::generate().map_err(Error::randomness)?;
        Ok((
            format!("public key {} bytes, seed 32", grouped(key.verifying_key().as_bytes().len() as u64)),
            key,
        ))
    })?;
    let bob = show.makes("Bob makes an X-Wing identity", || {
        let identity = Identity::generate().map_err(Error::randomness)?;
        let recipient = identity.recipient();
        let text: String = recipient.to_string().chars().take(16).collect();
        let bytes = recipient.encapsulation_key().as_bytes().len();
        Ok((format!("recipient {} bytes, {text}…", grouped(bytes as u64)), identity))
    })?;
    let mut signature = show.makes("Alice signs the file", || {
        let mut mu = alice.mu_hasher(CONTEXT).map_err(|e| Error::usage(e.to_string()))?;
        files::for_each(open(&original)?, |piece| {
            mu.update(piece);
        })?;
        let signature =
            alice.sign(gambeson::mldsa::Message::mu(&mu.finalize())).map_err(Error::randomness)?;
        Ok((format!("signature {} bytes", grouped(signature.len() as u64)), signature))
    })?;
    show.makes("Alice seals the file to Bob", || {
        let output = File::create(&sealed).map_err(|e| Error::io(&sealed, &e))?;
        gambeson_age::seal(&[bob.recipient()], open(&original)?, output, Format::Binary)
            .map_err(|e| Error::outside(format!("{}: {e}", sealed.display())))?;
        let (bytes, _) = measured(&sealed)?;
        Ok((
            format!("{} bytes, {} more than the file", grouped(bytes), grouped(bytes.saturating_sub(length))),
            (),
        ))
    })?;

    let bob = [bob];
    let alice = alice.verifying_key();
    let unseal = |identities: &[Identity]| -> Result<String, String> {
        let output = File::create(&opened).map_err(|e| e.to_string())?;
        let input = File::open(&sealed).map_err(|e| e.to_string())?;
        let bytes = gambeson_age::open(identities, input, output).map_err(|e| e.to_string())?;
        Ok(format!("{} bytes", grouped(bytes)))
    };
    show.expects("Bob opens the sealed file", true, || unseal(&bob))?;
    show.expects("it is the file that Alice sealed", true, || match measured(&opened) {
        Ok(copy) if copy == (length, digest) => Ok("same length, same SHA3-256".to_owned()),
        Ok(_) => Err("its SHA3-256 differs".to_owned()),
        Err(e) => Err(e.to_string()),
    })?;
    show.expects("Bob verifies Alice's signature", true, || verify(&alice, &opened, &signature))?;

    console.say("")?;
    flip(&opened, length / 2)?;
    show.expects("one byte of the file changed", false, || verify(&alice, &opened, &signature))?;
    flip(&opened, length / 2)?;
    if length == 0 {
        // An empty file got a byte instead.
        File::create(&opened).map_err(|e| Error::io(&opened, &e))?;
    }
    let middle = signature.len() / 2;
    signature[middle] ^= 1;
    show.expects("one byte of the signature changed", false, || verify(&alice, &opened, &signature))?;
    signature[middle] ^= 1;
    show.expects("both as they were again", true, || verify(&alice, &opened, &signature))?;
    let last = fs::metadata(&sealed).map_err(|e| Error::io(&sealed, &e))?.len().saturating_sub(1);
    flip(&sealed, last)?;
    show.expects("one byte of the sealed body changed", false, || unseal(&bob))?;
    flip(&sealed, last)?;
    flip(&sealed, STANZA)?;
    show.expects("one byte of the sealed header changed", false, || unseal(&bob))?;
    flip(&sealed, STANZA)?;
    let stranger = [Identity::generate().map_err(Error::randomness)?];
    show.expects("a stranger's identity", false, || unseal(&stranger))?;
    show.expects("Bob's identity again", true, || unseal(&bob))?;

    console.say("")?;
    life::live(&mut show)?;
    console.say("")?;
    talk::talk(&mut show)?;

    let verdict = if show.well { "every step behaved" } else { "NOT WELL: a step did not behave" };
    console.report_lines(
        ["", verdict],
        json!({"type": "demo", "file": original.display().to_string(), "bytes": length, "ok": show.well}),
    )?;
    Ok(if show.well { Status::Done } else { Status::NotVerified })
}

/// Tells of each step as it is done.
struct Show {
    console: Console,
    well: bool,
}

impl Show {
    /// A step that must give something.
    fn makes<T>(
        &mut self,
        name: &str,
        step: impl FnOnce() -> Result<(String, T), Error>,
    ) -> Result<T, Error> {
        let start = Instant::now();
        let (detail, made) = step()?;
        self.tell(name, true, &detail, start)?;
        Ok(made)
    }

    /// A step that must succeed, or must be refused.
    fn expects(
        &mut self,
        name: &str,
        success: bool,
        step: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let outcome = step();
        let behaved = outcome.is_ok() == success;
        self.well &= behaved;
        let detail = match &outcome {
            Ok(text) => text.clone(),
            Err(text) => format!("refused: {text}"),
        };
        self.tell(name, behaved, &detail, start)
    }

    fn tell(&self, name: &str, behaved: bool, detail: &str, start: Instant) -> Result<(), Error> {
        let ns = start.elapsed().as_nanos() as f64;
        let mark = if behaved { "ok" } else { "BAD" };
        self.console.report(
            format_args!("{mark:>4}  {name:<42} {:>8}   {detail}", duration(ns)),
            json!({"type": "step", "name": name, "ok": behaved, "ns": ns, "detail": detail}),
        )
    }
}

fn verify(key: &VerifyingKey<MlDsa65>, file: &Path, signature: &[u8]) -> Result<String, String> {
    let mut mu = key.mu_hasher(CONTEXT).map_err(|e| e.to_string())?;
    let input = File::open(file).map_err(|e| e.to_string())?;
    files::for_each(input, |piece| {
        mu.update(piece);
    })
    .map_err(|e| e.to_string())?;
    key.verify(gambeson::mldsa::Message::mu(&mu.finalize()), signature).map_err(|e| e.to_string())?;
    Ok("the signature is Alice's".to_owned())
}

fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|e| Error::io(path, &e))
}

/// The length of a file and its SHA3-256.
fn measured(path: &Path) -> Result<(u64, [u8; 32]), Error> {
    let mut hasher = gambeson::sha3::Sha3_256::new();
    let length = files::for_each(open(path)?, |piece| {
        hasher.update(piece);
    })
    .map_err(|e| Error::outside(format!("{}: {e}", path.display())))?;
    Ok((length, hasher.finalize()))
}

/// Changes one bit of the byte at `place`, or writes one there if the file ends before.
fn flip(path: &Path, place: u64) -> Result<(), Error> {
    let wrong = |e| Error::io(path, &e);
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(wrong)?;
    let mut byte = [0];
    file.seek(SeekFrom::Start(place)).and_then(|_| file.read(&mut byte)).map_err(wrong)?;
    byte[0] ^= 1;
    file.seek(SeekFrom::Start(place)).and_then(|_| file.write_all(&byte)).map_err(wrong)
}
