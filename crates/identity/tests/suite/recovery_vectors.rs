//! `vectors/recovery.json`: seeds in words, files and shares, and what is to be refused.

use crate::vector_file;
use crate::world::hex;
use base64ct::{Base64, Encoding};
use gambeson_identity::{Agent, MasterSeed, Reason, Result, Suite, recovery};
use gambeson_keystore::Passphrase;
use serde_json::{Value, json};

const SEED: &str = "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c";
const WORDS: &str = "hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length";
const PASSPHRASE: &str = "correct horse";

fn seed(hex: &str) -> MasterSeed {
    let bytes: Vec<u8> = hex
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    MasterSeed::from_bytes(&bytes.try_into().unwrap())
}

fn did(seed: MasterSeed) -> String {
    Agent::from_seed(seed).did().to_string()
}

fn rejected<T>(mut vector: Value, found: Result<T>, reason: Reason) -> Value {
    assert_eq!(found.err().map(|error| error.reason()), Some(reason), "{}", vector["id"]);
    vector["result"] = "reject".into();
    vector["reason"] = reason.code().into();
    vector
}

fn words(all: &mut Vec<Value>) {
    for (id, entropy) in [
        ("zeros", "00".repeat(32)),
        ("7f", "7f".repeat(32)),
        ("80", "80".repeat(32)),
        ("ones", "ff".repeat(32)),
        ("mixed", SEED.to_owned()),
    ] {
        let words = recovery::words(&seed(&entropy));
        all.push(json!({"id": format!("words-{id}"), "kind": "words", "words": *words, "expect": {"seed": entropy}}));
    }
    for (id, text) in [("upper-case", WORDS.to_uppercase()), ("lines", WORDS.replace(' ', "\r\n"))] {
        assert_eq!(did(recovery::from_words(&text).unwrap()), did(seed(SEED)));
        all.push(
            json!({"id": format!("words-{id}"), "kind": "words", "words": text, "expect": {"seed": SEED}}),
        );
    }
    for (id, text) in [
        ("none", String::new()),
        ("twelve", "abandon ".repeat(11) + "about"),
        ("twenty-three", WORDS.replacen("hamster ", "", 1)),
        ("twenty-five", format!("{WORDS} length")),
        ("unknown", WORDS.replacen("hamster", "hampster", 1)),
        ("checksum", WORDS.replacen("diagram", "dial", 1)),
        ("exchanged", WORDS.replacen("hamster diagram", "diagram hamster", 1)),
        ("hyphens", WORDS.replace(' ', "-")),
        ("too-long", format!("{WORDS}{}", " ".repeat(4000))),
    ] {
        let vector = json!({"id": format!("words-{id}"), "kind": "words", "words": text});
        all.push(rejected(vector, recovery::from_words(&text), Reason::BadWords));
    }
}

fn age_files(all: &mut Vec<Value>) {
    let file = include_str!("../data/seed.age");
    let open = |file: &str, passphrase: &str, max: u8| {
        let passphrase = gambeson_age::Passphrase::new(passphrase).unwrap().max_work_factor(max);
        recovery::from_age_file(file.as_bytes(), &passphrase)
    };
    assert_eq!(did(open(file, PASSPHRASE, 10).unwrap()), did(seed(SEED)));
    all.push(json!({
        "id": "age", "kind": "age", "file": file, "passphrase": PASSPHRASE, "max_work_factor": 20, "expect": {"seed": SEED},
    }));
    let cut = &file[..file.len() / 2];
    for (id, edit, file, passphrase, max, reason) in [
        (
            "other-passphrase",
            json!({"passphrase": "wrong horse"}),
            file,
            "wrong horse",
            20,
            Reason::WrongPassphrase,
        ),
        ("too-much-work", json!({"max_work_factor": 9}), file, PASSPHRASE, 9, Reason::TooMuchWork),
        ("cut", json!({"keep": cut.len()}), cut, PASSPHRASE, 20, Reason::BadForm),
        ("nothing", json!({"keep": 0}), "", PASSPHRASE, 20, Reason::BadForm),
    ] {
        let mut vector = json!({"id": format!("age-{id}"), "kind": "age", "of": "age"});
        vector.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
        all.push(rejected(vector, open(file, passphrase, max), reason));
    }
}

fn protected(all: &mut Vec<Value>) {
    for (name, suite, text) in [
        ("default", Suite::Default, include_str!("../data/seed-default.b64")),
        ("cnsa2", Suite::Cnsa2, include_str!("../data/seed-cnsa2.b64")),
    ] {
        let file = Base64::decode_vec(text.trim()).unwrap();
        let open = |file: &[u8], text: &str| recovery::unprotect(file, &Passphrase::new(text).unwrap());
        let (opened, found) = open(&file, PASSPHRASE).unwrap();
        assert_eq!((did(opened), found), (did(seed(SEED)), suite));
        let id = format!("keystore-{name}");
        all.push(json!({
            "id": id, "kind": "keystore", "file": hex(&file), "passphrase": PASSPHRASE, "expect": {"seed": SEED, "suite": name},
        }));
        let mut add = |what: &str, edit: Value, bad: &[u8], passphrase: &str, reason: Reason| {
            let mut vector = json!({"id": format!("{id}-{what}"), "kind": "keystore", "of": id});
            vector.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
            all.push(rejected(vector, open(bad, passphrase), reason));
        };
        let other = json!({"passphrase": "wrong horse"});
        add("other-passphrase", other, &file, "wrong horse", Reason::WrongPassphrase);
        add("cut", json!({"keep": 167}), &file[..167], PASSPHRASE, Reason::BadForm);
        for (what, at, reason) in [
            ("magic", 0, Reason::BadForm),
            ("version", 15, Reason::BadForm),
            ("reserved", 17, Reason::BadForm),
            ("cost", 24, Reason::TooMuchWork),
            ("purpose", 32, Reason::BadForm),
            ("salt", 64, Reason::WrongPassphrase),
            ("nonce", 96, Reason::BadForm),
            ("commitment", 151, Reason::WrongPassphrase),
            ("ciphertext", 152, Reason::BadForm),
            ("tag", 199, Reason::BadForm),
        ] {
            let mut bad = file.clone();
            bad[at] ^= 1;
            add(&format!("changed-{what}"), json!({"flip": at}), &bad, PASSPHRASE, reason);
        }
    }
}

/// Without the feature the shares are written down all the same: every build makes the same file.
fn shares(all: &mut Vec<Value>) {
    let shares: Vec<&str> = include_str!("../data/shares.txt").lines().collect();
    let good = |pick: &[usize]| pick.iter().map(|i| shares[*i].to_owned()).collect::<Vec<_>>();
    for pick in [&[0, 1][..], &[2, 0], &[1, 2]] {
        let texts = good(pick);
        #[cfg(feature = "shares")]
        assert_eq!(did(recovery::from_shares(&texts).unwrap()), did(seed(SEED)));
        let id = pick.iter().map(|i| format!("-{i}")).collect::<String>();
        all.push(
            json!({"id": format!("shares{id}"), "kind": "shares", "shares": texts, "expect": {"seed": SEED}}),
        );
    }
    let mistyped = shares[0].replacen("tuna", "taco", 1);
    for (id, texts) in [
        ("none", Vec::new()),
        ("one", good(&[0])),
        ("twice", good(&[1, 1])),
        ("mistyped", vec![mistyped, shares[1].to_owned()]),
        ("cut", vec![shares[0][..100].to_owned(), shares[1].to_owned()]),
    ] {
        #[cfg(feature = "shares")]
        assert_eq!(
            recovery::from_shares(&texts).err().map(|error| error.reason()),
            Some(Reason::BadShares),
            "{id}"
        );
        all.push(json!({
            "id": format!("shares-{id}"), "kind": "shares", "shares": texts, "result": "reject", "reason": Reason::BadShares.code(),
        }));
    }
}

#[test]
fn the_vectors_are_those_that_are_committed() {
    let mut all = Vec::new();
    words(&mut all);
    age_files(&mut all);
    protected(&mut all);
    shares(&mut all);
    vector_file::committed("recovery", all, 55);
}
