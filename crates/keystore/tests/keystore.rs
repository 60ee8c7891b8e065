//! Sealing, opening and saving, and every way in which a file can be wrong.

#![allow(clippy::unwrap_used)] // A test may fail that way.

use std::fs;
use std::io::Write;

use base64ct::{Base64, Encoding};
use gambeson_keystore::file::{self, Access, Existing, NewFile};
use gambeson_keystore::{Error, MAX_SECRET_LEN, OVERHEAD, Passphrase, Protection, is_sealed, open, seal};

const CHEAP: Protection = Protection::Argon2id { memory: 8, passes: 1, lanes: 1 };
const CHEAP_CNSA2: Protection = Protection::Pbkdf2 { iterations: 1000 };
const BOTH: [Protection; 2] = [CHEAP, CHEAP_CNSA2];
const PURPOSE: &str = "master seed";

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text).unwrap()
}

fn sealed(protection: Protection) -> Vec<u8> {
    seal(b"secret", PURPOSE, &passphrase("correct"), protection).unwrap()
}

/// The code of the refusal, or `opened`.
fn outcome(file: &[u8]) -> &'static str {
    open(file, PURPOSE, &passphrase("correct")).map_or_else(|error| error.code(), |_| "opened")
}

#[test]
fn what_is_sealed_opens_with_its_passphrase_and_purpose_alone() {
    for protection in BOTH {
        for secret in [&b""[..], b"s", &[7; 32], &[9; 5000]] {
            let file = seal(secret, PURPOSE, &passphrase("correct"), protection).unwrap();
            assert_eq!(file.len(), secret.len() + OVERHEAD);
            assert!(is_sealed(&file));
            assert_eq!(open(&file, PURPOSE, &passphrase("correct")).unwrap().expose(), secret);
            assert_eq!(open(&file, PURPOSE, &passphrase("correcT")).unwrap_err().code(), "wrong-passphrase");
            assert_eq!(
                open(&file, "master-seed", &passphrase("correct")).unwrap_err().code(),
                "other-purpose"
            );
        }
        assert_ne!(sealed(protection), sealed(protection), "salt and nonce are new each time");
    }
}

#[test]
fn the_defaults_are_those_of_the_specification() {
    assert_eq!(Protection::default(), Protection::Argon2id { memory: 65536, passes: 3, lanes: 4 });
    assert_eq!(Protection::CNSA2, Protection::Pbkdf2 { iterations: 600_000 });
    for protection in [Protection::DEFAULT, Protection::CNSA2] {
        let file = sealed(protection);
        assert_eq!(outcome(&file), "opened");
    }
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let mut refused = 0;
    for protection in BOTH {
        let file = sealed(protection);
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut bad = file.clone();
                bad[at] ^= 1 << bit;
                // Costs that stay within their bounds are worked off, and give other keys: not the dearest of them here.
                let word = at.min(28) / 4 * 4;
                let cost = u32::from_be_bytes(bad[word..word + 4].try_into().unwrap());
                if (20..28).contains(&at) && (1 << 17..=10_000_000).contains(&cost) {
                    continue;
                }
                let expected: &[&str] = match at {
                    0..15 | 17..20 => &["format"],
                    15 => &["version"],
                    16 => &["version", "format", "cost"],
                    20..32 => &["wrong-passphrase", "cost", "format"],
                    32..64 => &["other-purpose"],
                    64..96 | 120..152 => &["wrong-passphrase"],
                    96..120 => &["damaged", "format"],
                    _ => &["damaged"],
                };
                let code = outcome(&bad);
                assert!(expected.contains(&code), "byte {at}, bit {bit}: {code}");
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 2 * 8 * (6 + OVERHEAD) - 4 * 7, "all but the dearest costs");
}

#[test]
fn no_cut_and_no_addition_goes_unnoticed() {
    for protection in BOTH {
        let file = sealed(protection);
        for len in 0..file.len() {
            let code = outcome(&file[..len]);
            assert_eq!(code, if len < OVERHEAD { "format" } else { "damaged" }, "{len}");
        }
        assert_eq!(outcome(&[&file[..], &[0]].concat()), "damaged");
    }
}

#[test]
fn costs_out_of_bounds_are_refused_before_memory_is_taken() {
    let argon2id = |memory, passes, lanes| Protection::Argon2id { memory, passes, lanes };
    let pbkdf2 = |iterations| Protection::Pbkdf2 { iterations };
    for protection in [
        argon2id((1 << 20) + 1, 1, 1),
        argon2id(u32::MAX, 1, 1),
        argon2id(1 << 20, 5, 1),
        argon2id(8, 65, 1),
        argon2id(8, u32::MAX, 1),
        argon2id(8, 0, 1),
        argon2id(8, 1, 0),
        argon2id(7, 1, 1),
        argon2id(127, 1, 16),
        argon2id(136, 1, 17),
        argon2id(8, 1, u32::MAX),
        argon2id(0, 0, 0),
        pbkdf2(0),
        pbkdf2(999),
        pbkdf2(10_000_001),
        pbkdf2(u32::MAX),
    ] {
        let refused = seal(b"", PURPOSE, &passphrase("a"), protection).unwrap_err();
        assert_eq!(refused.code(), "cost", "{protection:?}");
        // The same in a file.
        let (mut file, costs) = match protection {
            Protection::Argon2id { memory, passes, lanes } => (sealed(CHEAP), [memory, passes, lanes]),
            Protection::Pbkdf2 { iterations } => (sealed(CHEAP_CNSA2), [0, iterations, 0]),
        };
        for (i, cost) in costs.into_iter().enumerate() {
            file[20 + 4 * i..24 + 4 * i].copy_from_slice(&cost.to_be_bytes());
        }
        assert_eq!(outcome(&file), "cost", "{protection:?}");
    }
}

#[test]
fn what_cannot_be_sealed_is_an_error() {
    assert_eq!(Passphrase::new("").unwrap_err().code(), "empty-passphrase");
    let too_long = vec![0; MAX_SECRET_LEN + 1];
    assert_eq!(seal(&too_long, PURPOSE, &passphrase("a"), CHEAP).unwrap_err().code(), "too-long");
    assert!(seal(&too_long[1..], PURPOSE, &passphrase("a"), CHEAP).is_ok());
    for purpose in ["", "Seed", "seed\0", "séed", "a_b", "123456789012345678901234567890123"] {
        assert_eq!(seal(b"", purpose, &passphrase("a"), CHEAP).unwrap_err().code(), "purpose", "{purpose}");
    }
    assert!(seal(b"", "12345678901234567890123456789012", &passphrase("a"), CHEAP).is_ok());
}

/// Written once, and opened by Python's `cryptography` 50, `pynacl` and `argon2-cffi` 25 from the page `docs/spec/keystore.md`.
#[test]
fn files_of_the_first_version_open() {
    for (file, text) in
        [(include_str!("data/argon2id.b64"), "default"), (include_str!("data/pbkdf2.b64"), "cnsa2")]
    {
        let file = Base64::decode_vec(file.trim()).unwrap();
        let opened = open(&file, PURPOSE, &passphrase("correct horse")).unwrap();
        assert_eq!(opened.expose(), format!("suite {text}").as_bytes());
    }
}

#[test]
fn a_file_is_written_for_its_owner_and_not_overwritten_unless_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    file::save(&path, b"one", Access::Private, Existing::Keep).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    }
    assert!(matches!(file::save(&path, b"two", Access::Private, Existing::Keep), Err(Error::Exists)));
    assert_eq!(fs::read(&path).unwrap(), b"one");
    file::save(&path, b"two", Access::Private, Existing::Replace).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays behind");
}

#[test]
fn a_failure_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    // A folder with something in it: no file can take its name.
    let path = folder.path().join("taken");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), b"kept").unwrap();
    for existing in [Existing::Keep, Existing::Replace] {
        assert!(file::save(&path, b"new", Access::Private, existing).is_err());
        assert_eq!(fs::read(path.join("inside")).unwrap(), b"kept");
    }
    assert!(matches!(
        file::save(&folder.path().join("no/folder"), b"new", Access::Private, Existing::Keep),
        Err(Error::Io(_))
    ));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays behind");
}

#[test]
fn a_file_has_its_name_when_it_is_whole_and_leaves_nothing_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    let begun = |existing| {
        let mut file = NewFile::create(&path, Access::Private, existing).unwrap();
        file.write_all(b"half").unwrap();
        assert!(file.unfinished().exists());
        file
    };
    drop(begun(Existing::Keep));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let (first, second) = (begun(Existing::Keep), begun(Existing::Keep));
    first.finish().unwrap();
    assert!(matches!(second.finish(), Err(Error::Exists)), "the second of two at once");
    drop(begun(Existing::Replace));
    assert_eq!(fs::read(&path).unwrap(), b"half");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn folders_are_made_with_those_above_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/c");
    for _ in 0..2 {
        file::create_folders(&path, Access::Private).unwrap();
    }
    assert!(path.is_dir());
    fs::write(path.join("file"), b"").unwrap();
    assert!(matches!(file::create_folders(&path.join("file/d"), Access::Private), Err(Error::Io(_))));
    assert!(matches!(file::create_folders(&path.join("file"), Access::Private), Err(Error::Io(_))));
}

#[cfg(unix)]
#[test]
fn who_may_read_is_said_and_nobody_gains_by_a_replacement() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = folder.path().join("shared");
    file::save(&path, b"one", Access::Shared, Existing::Keep).unwrap();
    let usual = folder.path().join("usual");
    fs::write(&usual, b"").unwrap();
    assert_eq!(mode(&path), mode(&usual), "as the umask has it");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    file::save(&path, b"two", Access::Shared, Existing::Replace).unwrap();
    assert_eq!(mode(&path), 0o640);
    file::save(&path, b"three", Access::Private, Existing::Replace).unwrap();
    assert_eq!(mode(&path), 0o600);
    file::create_folders(&folder.path().join("own"), Access::Private).unwrap();
    assert_eq!(mode(&folder.path().join("own")), 0o700);

    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    file::save(&link, b"four", Access::Private, Existing::Replace).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&path).unwrap(), b"four");
}

#[test]
fn a_relative_name_without_a_folder_is_written() {
    // The working directory of a test is its package's folder.
    let name = format!(".keystore-test-{}", std::process::id());
    file::save(name.as_ref(), b"here", Access::Private, Existing::Keep).unwrap();
    assert_eq!(fs::read(&name).unwrap(), b"here");
    fs::remove_file(name).unwrap();
}

#[test]
fn debug_shows_no_secret_and_errors_say_what_is_wrong() {
    assert_eq!(format!("{:?}", passphrase("hidden")), "Passphrase([redacted])");
    for (error, part) in [
        (Error::Exists, "already"),
        (Error::Random, "random"),
        (Error::Memory, "memory"),
        (Error::EmptyPassphrase, "empty"),
        (Error::TooLong, "1048576"),
        (Error::Purpose, "32"),
        (Error::Cost, "work"),
        (Error::Format, "not a sealed"),
        (Error::Version, "version"),
        (Error::OtherPurpose, "purpose"),
        (Error::WrongPassphrase, "wrong"),
        (Error::Damaged, "changed"),
        (Error::Io(std::io::Error::other("disk")), "disk"),
    ] {
        assert!(error.to_string().contains(part) && !error.code().is_empty(), "{error}");
    }
}
