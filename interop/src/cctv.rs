//! The age test vectors of C2SP/CCTV: every file must end as it says, and release exactly the plaintext it says.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use gambeson_age::armor::{ArmorReader, ArmorWriter};
use gambeson_age::{Decryptor, Error, Format, Identity, Passphrase, UnwrapFileKey};
use libtest_mimic::Trial;
use sha2::{Digest, Sha256};

use crate::legacy::X25519Identity;
use crate::tools::{Result, check, go, succeed, unavailable};

const MODULE: &str = "c2sp.org/CCTV/age@v0.0.0-20251208015420-e9274a7bdbfd";
/// The hash of the module's files, as in a `go.sum`.
const SUM: &str = "h1:ZLsPO6WdZ5zatV4UfVpr7oAwLGRZ+sebTUruuM4Ra3M=";

/// How many files each family has.
const FAMILIES: [(&str, usize); 10] = [
    ("armor", 33),
    ("empty", 1),
    ("header", 1),
    ("hmac", 8),
    ("hybrid", 18),
    ("scrypt", 25),
    ("stanza", 14),
    ("stream", 28),
    ("version", 1),
    ("x25519", 14),
];

/// One test a file, one that counts them, one that encodes the armored ones again.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let files = match files(scratch) {
        Ok(files) => files,
        Err(reason) => return vec![unavailable("cctv", reason.message().unwrap_or_default())],
    };
    let mut trials: Vec<Trial> = files
        .iter()
        .cloned()
        .map(|path| Trial::test(format!("cctv::{}", name(&path)), move || Vector::read(&path)?.run()))
        .collect();
    trials.push(Trial::test("cctv::every_file_of_every_family_is_there", move || {
        let mut found = BTreeMap::new();
        for path in &files {
            let name = name(path);
            *found.entry(name.split('_').next().unwrap_or_default().to_owned()).or_insert(0) += 1;
        }
        let expected = FAMILIES.map(|(family, count)| (family.to_owned(), count)).into();
        check(found == expected, format!("the vectors have changed: {found:?}"))?;
        check(files.len() == 143, format!("{} files", files.len()))
    }));
    trials
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Fetches the module through the Go module proxy, and lists its files.
fn files(scratch: &Path) -> Result<Vec<PathBuf>> {
    let answer = succeed(go().current_dir(scratch).args(["mod", "download", "-json", MODULE]), b"")?;
    let answer: serde_json::Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    check(answer["Sum"] == SUM, format!("another sum for {MODULE}: {}", answer["Sum"]))?;
    let folder = Path::new(answer["Dir"].as_str().unwrap_or_default()).join("testdata");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>().map_err(text)?;
    files.sort();
    Ok(files)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// A test file: lines of `key: value`, an empty line, an age file.
struct Vector {
    expect: String,
    payload: Option<String>,
    identities: Vec<Box<dyn UnwrapFileKey>>,
    format: Format,
    file: Vec<u8>,
}

impl Vector {
    fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(text)?;
        let mut vector = Self {
            expect: String::new(),
            payload: None,
            identities: Vec::new(),
            format: Format::Binary,
            file: Vec::new(),
        };
        let mut rest = &bytes[..];
        let mut compressed = false;
        loop {
            let end = rest.iter().position(|byte| *byte == b'\n').ok_or("no empty line")?;
            let line = std::str::from_utf8(&rest[..end]).map_err(text)?;
            rest = &rest[end + 1..];
            if line.is_empty() {
                break;
            }
            let (key, value) = line.split_once(": ").ok_or("not a line of the head")?;
            match key {
                "expect" => vector.expect = value.to_owned(),
                "payload" => vector.payload = Some(value.to_owned()),
                "identity" => vector.identities.push(identity(value)?),
                "passphrase" => vector.identities.push(Box::new(Passphrase::new(value).map_err(text)?)),
                "armored" => vector.format = Format::Armored,
                "compressed" => compressed = value == "zlib",
                "file key" | "comment" => {}
                _ => return Err(format!("unknown key {key}").into()),
            }
        }
        if compressed {
            flate2::read::ZlibDecoder::new(rest).read_to_end(&mut vector.file).map_err(text)?;
        } else {
            vector.file = rest.to_owned();
        }
        Ok(vector)
    }

    fn run(&self) -> Result {
        let mut plaintext = Vec::new();
        let end = self.decrypt(Some(self.format), &mut plaintext);
        let found = class(&end);
        check(found == self.expect, format!("expected {}, found {found}: {end:?}", self.expect))?;
        let hash = hex::encode(Sha256::digest(&plaintext));
        match &self.payload {
            Some(payload) => check(hash == *payload, format!("{} other bytes came out", plaintext.len()))?,
            None => check(plaintext.is_empty(), "something came out")?,
        }
        check((found == "success") == end.is_ok(), "success and only success is Ok")?;

        // Where the format is guessed, what is not armor at its first byte is a bad header instead.
        let mut again = Vec::new();
        let guessed = class(&self.decrypt(None, &mut again));
        let also = self.expect == "armor failure" && guessed == "header failure";
        check(guessed == self.expect || also, format!("{guessed} when the format is guessed"))?;
        check(again == plaintext, "other bytes came out when the format is guessed")?;

        if self.format == Format::Armored && self.expect != "armor failure" {
            self.armor_again()
        } else {
            Ok(())
        }
    }

    fn decrypt(&self, format: Option<Format>, out: &mut Vec<u8>) -> std::result::Result<(), Error> {
        let mut decryptor = match format {
            Some(format) => Decryptor::with_format(&self.identities, &self.file[..], format)?,
            None => Decryptor::new(&self.identities, &self.file[..])?,
        };
        decryptor.read_to_end(out)?;
        Ok(())
    }

    /// What is decoded from armor encodes to the same, but for line ends and the white space around.
    fn armor_again(&self) -> Result {
        let mut bytes = Vec::new();
        ArmorReader::new(&self.file[..]).read_to_end(&mut bytes).map_err(text)?;
        let mut writer = ArmorWriter::new(Vec::new());
        writer.write_all(&bytes).map_err(text)?;
        let again = String::from_utf8(writer.finish().map_err(text)?).map_err(text)?;
        let original = String::from_utf8_lossy(&self.file).replace("\r\n", "\n");
        check(again.trim() == original.trim(), "another armor")
    }
}

fn identity(value: &str) -> Result<Box<dyn UnwrapFileKey>> {
    if let Ok(ours) = value.parse::<Identity>() {
        return Ok(Box::new(ours));
    }
    Ok(Box::new(X25519Identity::parse(value).ok_or("an unknown kind of identity")?))
}

/// The words of the test files.
fn class(end: &std::result::Result<(), Error>) -> &'static str {
    match end {
        Ok(()) => "success",
        Err(Error::Armor(_)) => "armor failure",
        Err(Error::Header(_)) => "header failure",
        Err(Error::NoMatch) => "no match",
        Err(Error::HeaderMac) => "HMAC failure",
        Err(Error::Payload(_)) => "payload failure",
        Err(_) => "another error",
    }
}
