//! The seed in words, files and shares, and what is wrong with them.

use crate::world::reason;
use gambeson_identity::{Agent, MasterSeed, Reason, Suite, recovery};
use gambeson_keystore::{Passphrase, Protection};

const CHEAP: Protection = Protection::Argon2id { memory: 8, passes: 1, lanes: 1 };

/// The vectors of BIP-39 with 256 bits (trezor/python-mnemonic, `vectors.json`): entropy and words.
const BIP39: [(&str, &str); 8] = [
    (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon art",
    ),
    (
        "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
        "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth title",
    ),
    (
        "8080808080808080808080808080808080808080808080808080808080808080",
        "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless",
    ),
    (
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo vote",
    ),
    (
        "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c",
        "hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length",
    ),
    (
        "9f6a2878b2520799a44ef18bc7df394e7061a224d2c33cd015b157d746869863",
        "panda eyebrow bullet gorilla call smoke muffin taste mesh discover soft ostrich alcohol speed nation flash devote level hobby quick inner drive ghost inside",
    ),
    (
        "066dca1a2bb7e8a1db2832148ce9933eea0f3ac9548d793112d9a95c9407efad",
        "all hour make first leader extend hole alien behind guard gospel lava path output census museum junior mass reopen famous sing advance salt reform",
    ),
    (
        "f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f",
        "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group space point ten exist slush involve unfold",
    ),
];

fn seed(hex: &str) -> MasterSeed {
    let bytes: Vec<u8> = hex
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    MasterSeed::from_bytes(&bytes.try_into().unwrap())
}

/// Seeds show no bytes: their agents tell whether they are one.
fn did(seed: MasterSeed) -> String {
    Agent::from_seed(seed).did().to_string()
}

#[test]
fn the_vectors_of_bip_39() {
    let mut ran = 0;
    for (entropy, words) in BIP39 {
        assert_eq!(*recovery::words(&seed(entropy)), words);
        assert_eq!(did(recovery::from_words(words).unwrap()), did(seed(entropy)));
        ran += 1;
    }
    assert_eq!(ran, 8);
}

#[test]
fn words_are_read_in_any_case_and_spacing() {
    let (entropy, words) = BIP39[7];
    for text in
        [words.to_uppercase(), words.replace(' ', "\n"), format!("  {} \t\n", words.replace(' ', "   "))]
    {
        assert_eq!(did(recovery::from_words(&text).unwrap()), did(seed(entropy)));
    }
}

#[test]
fn words_that_are_wrong_are_refused_without_being_repeated() {
    let words: Vec<_> = BIP39[7].1.split(' ').collect();
    let mut refused = 0;
    for at in 0..24 {
        let mut unknown = words.clone();
        unknown[at] = "secretword";
        let error = recovery::from_words(&unknown.join(" ")).err().unwrap();
        assert_eq!(error.reason(), Reason::BadWords);
        assert!(
            error.detail().contains(&format!("word {} ", at + 1)) && !error.detail().contains("secretword")
        );
        let mut missing = words.clone();
        missing.remove(at);
        assert_eq!(reason(recovery::from_words(&missing.join(" "))), Reason::BadWords);
        refused += 1;
    }
    assert_eq!(refused, 24);
    let mut exchanged = words.clone();
    exchanged.swap(0, 1);
    // Twelve good words are half a seed.
    let half =
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
    for text in [&exchanged.join(" "), "", half, &"a ".repeat(3000), &words.join("-")] {
        assert_eq!(reason(recovery::from_words(text)), Reason::BadWords);
    }
}

#[test]
fn an_age_file_gives_the_seed_back_to_its_passphrase_alone() {
    let (entropy, words) = BIP39[4];
    let passphrase = gambeson_age::Passphrase::new("correct horse").unwrap().work_factor(4);
    let file = recovery::age_file(&seed(entropy), &passphrase).unwrap();
    assert!(file.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----\n"));
    assert_eq!(did(recovery::from_age_file(&file, &passphrase).unwrap()), did(seed(entropy)));

    let mut text = Vec::new();
    gambeson_age::open(&[&passphrase], &file[..], &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        ["# gambeson: the master seed of an agent, 24 words of BIP-39", words]
    );

    let other = gambeson_age::Passphrase::new("wrong horse").unwrap();
    assert_eq!(reason(recovery::from_age_file(&file, &other)), Reason::WrongPassphrase);
    let bounded = gambeson_age::Passphrase::new("correct horse").unwrap().max_work_factor(3);
    assert_eq!(reason(recovery::from_age_file(&file, &bounded)), Reason::TooMuchWork);
    assert_eq!(reason(recovery::from_age_file(b"not age", &passphrase)), Reason::BadForm);
    for at in 0..file.len() {
        let mut bad = file.clone();
        bad[at] ^= 1;
        // A changed work factor of up to 2^20 would be worked off: the bound of this test is lower.
        let passphrase = gambeson_age::Passphrase::new("correct horse").unwrap().max_work_factor(8);
        assert!(recovery::from_age_file(&bad, &passphrase).is_err(), "byte {at}");
    }
    let mut sealed = Vec::new();
    // The words, and a comment that is cut where reading ends.
    let long = format!("{words}\n#{}", "a".repeat(5000));
    for plaintext in [&b"not words"[..], b"\xff", &vec![b'a'; 5000], long.as_bytes()] {
        sealed.clear();
        let mut file =
            gambeson_age::Encryptor::with_passphrase(&passphrase, &mut sealed, gambeson_age::Format::Binary)
                .unwrap();
        std::io::Write::write_all(&mut file, plaintext).unwrap();
        file.finish().unwrap();
        assert_eq!(reason(recovery::from_age_file(&sealed, &passphrase)), Reason::BadWords);
    }
}

#[test]
fn a_protected_file_gives_back_seed_and_suite() {
    let passphrase = Passphrase::new("correct horse").unwrap();
    for (suite, protection) in
        [(Suite::Default, CHEAP), (Suite::Cnsa2, Protection::Pbkdf2 { iterations: 1000 })]
    {
        let file = recovery::protect(&seed(BIP39[4].0), suite, &passphrase, Some(protection)).unwrap();
        assert_eq!(file.len(), 200);
        let (opened, found) = recovery::unprotect(&file, &passphrase).unwrap();
        assert_eq!((did(opened), found), (did(seed(BIP39[4].0)), suite));
        let other = Passphrase::new("wrong horse").unwrap();
        assert_eq!(reason(recovery::unprotect(&file, &other)), Reason::WrongPassphrase);
        for at in (0..20).chain(28..file.len()) {
            let mut bad = file.clone();
            bad[at] ^= 1;
            let found = reason(recovery::unprotect(&bad, &passphrase));
            let expected = [Reason::BadForm, Reason::WrongPassphrase, Reason::TooMuchWork];
            assert!(expected.contains(&found), "byte {at}: {found:?}");
        }
    }
    let dear = Protection::Argon2id { memory: u32::MAX, passes: 1, lanes: 1 };
    assert_eq!(
        reason(recovery::protect(&seed(BIP39[0].0), Suite::Default, &passphrase, Some(dear))),
        Reason::TooMuchWork
    );
    let short = gambeson_keystore::seal(&[1; 31], "agent master seed", &passphrase, CHEAP).unwrap();
    assert_eq!(reason(recovery::unprotect(&short, &passphrase)), Reason::BadForm);
    let other = gambeson_keystore::seal(&[1; 32], "another purpose", &passphrase, CHEAP).unwrap();
    assert_eq!(reason(recovery::unprotect(&other, &passphrase)), Reason::BadForm);
}

#[cfg(feature = "shares")]
#[test]
fn any_three_of_five_shares_give_the_seed_back_and_two_do_not() {
    let shares = recovery::shares(&seed(BIP39[5].0), 3, 5).unwrap();
    assert_eq!(shares.len(), 5);
    assert!(shares.iter().all(|share| share.split(' ').count() == 46));
    let pick = |which: &[usize]| {
        recovery::from_shares(&which.iter().map(|i| shares[*i].as_str()).collect::<Vec<_>>())
    };
    let mut ran = 0;
    for a in 0..5 {
        for b in a + 1..5 {
            assert_eq!(reason(pick(&[b, a])), Reason::BadShares);
            for c in b + 1..5 {
                assert_eq!(did(pick(&[c, a, b]).unwrap()), did(seed(BIP39[5].0)));
                ran += 1;
            }
        }
    }
    assert_eq!(ran, 10);
    assert_eq!(reason(pick(&[0, 1, 1])), Reason::BadShares);
    let others = recovery::shares(&seed(BIP39[5].0), 3, 5).unwrap();
    assert_eq!(
        reason(recovery::from_shares(&[&shares[0], &shares[1], &others[2]].map(|share| share.as_str()))),
        Reason::BadShares
    );

    let one = shares[0].split(' ').collect::<Vec<_>>();
    for at in 0..one.len() {
        let mut bad = one.clone();
        bad[at] = if bad[at] == "able" { "acid" } else { "able" };
        let bad = [bad.join(" "), shares[1].to_string(), shares[2].to_string()];
        assert_eq!(reason(recovery::from_shares(&bad)), Reason::BadShares, "word {at}");
    }
    let upper = [&shares[0], &shares[1], &shares[2]].map(|share| share.to_uppercase().replace(' ', "\n "));
    assert_eq!(did(recovery::from_shares(&upper).unwrap()), did(seed(BIP39[5].0)));
}

#[cfg(feature = "shares")]
#[test]
fn numbers_of_shares_that_make_no_sense_are_refused() {
    let shares = |threshold, count| recovery::shares(&seed(BIP39[5].0), threshold, count);
    for (threshold, count) in [(0, 0), (0, 1), (1, 2), (3, 2), (2, 17), (17, 17), (usize::MAX, usize::MAX)] {
        assert_eq!(reason(shares(threshold, count)), Reason::BadShares, "{threshold} of {count}");
    }
    assert_eq!(shares(1, 1).unwrap().len(), 1);
    assert_eq!(shares(16, 16).unwrap().len(), 16);
    assert_eq!(reason(recovery::from_shares::<&str>(&[])), Reason::BadShares);
    assert_eq!(reason(recovery::from_shares(&["able"; 17])), Reason::BadShares);
    assert_eq!(reason(recovery::from_shares(&["a".repeat(2000)])), Reason::BadShares);
}
