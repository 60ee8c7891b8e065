//! Identities and recipients as text.

use gambeson_age::{Identity, IdentityFile, KeyError, KeyFileError, Recipient};

/// The example of c2sp.org/age.
const IDENTITY: &str = "AGE-SECRET-KEY-PQ-1XX76JRALNLXDMEW0CRK45QMCCH4X06SE84UN3VPM33W6HWDX0H3SK3ZQFR";

fn identity() -> Identity {
    IDENTITY.parse().unwrap()
}

#[test]
fn the_example_of_the_specification() {
    let recipient = identity().recipient().to_string();
    assert!(
        recipient.starts_with("age1pq1x34nzsvr0rxjsgdn8zgyhfe8j7ceq5r9rdelkjuh3y235jzxshfg87pzf5zrqtzdxz95p")
    );
    assert!(recipient.ends_with("gjtqmwze9pyyzk3tlhl53k2ykx3qheyty7saeq0d3fzv49zc0k"));
    assert_eq!(recipient.len(), 1959);
    assert_eq!(recipient.parse::<Recipient>().unwrap(), identity().recipient());
    assert_eq!(*identity().encode(), IDENTITY);
}

#[test]
fn text_and_bytes_go_round() {
    for n in 0..8 {
        let identity = Identity::from_seed(&[n; 32]);
        assert_eq!(identity.encode().parse::<Identity>().unwrap().seed().expose(), &[n; 32]);
        let recipient = identity.recipient();
        assert_eq!(recipient.to_string().parse(), Ok(recipient.clone()));
        assert_eq!(Recipient::from(recipient.encapsulation_key().clone()), recipient);
    }
    let fresh = Identity::generate().unwrap();
    assert_eq!(fresh.encode().parse::<Identity>().unwrap().recipient(), fresh.recipient());
}

#[test]
fn what_a_quantum_computer_breaks_is_refused_by_name() {
    for (text, kind) in [
        ("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj", "X25519"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN me", "SSH"),
        ("ssh-rsa AAAAB3NzaC1yc2E", "SSH"),
        ("ecdsa-sha2-nistp256 AAAA", "SSH"),
        ("github:somebody", "SSH"),
        ("age1tag1qt8lw0ual6avlwmwatk888yqnmdamm7xfd0wak53ut6elz5c4swx2yqdj4e", "P-256"),
    ] {
        let error = text.parse::<Recipient>().unwrap_err();
        assert!(matches!(error, KeyError::NotPostQuantum(name) if name.contains(kind)), "{text}: {error}");
        assert!(error.to_string().contains("age1pq1"), "it says what to ask for");
    }
    for text in [
        "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
    ] {
        assert!(matches!(text.parse::<Identity>(), Err(KeyError::NotPostQuantum(_))), "{text}");
    }
}

#[test]
fn keys_on_the_wrong_side_are_told_apart() {
    let recipient = identity().recipient().to_string();
    assert_eq!(IDENTITY.parse::<Recipient>(), Err(KeyError::IsIdentity));
    assert_eq!("AGE-SECRET-KEY-1GFPYYSJZ".parse::<Recipient>(), Err(KeyError::IsIdentity));
    assert_eq!(recipient.parse::<Identity>().err(), Some(KeyError::IsRecipient));
    let x25519 = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
    assert_eq!(x25519.parse::<Identity>().err(), Some(KeyError::IsRecipient));
    assert_eq!("age1yubikey1qwt50d05nh5v".parse::<Recipient>(), Err(KeyError::Plugin));
    assert_eq!("AGE-PLUGIN-YUBIKEY-1QJK".parse::<Identity>().err(), Some(KeyError::Plugin));
    for text in ["", "hello", "age", "pq1abc", "Quilted Linen", "ägé1"] {
        assert_eq!(text.parse::<Recipient>(), Err(KeyError::Unknown), "{text}");
        assert_eq!(text.parse::<Identity>().err(), Some(KeyError::Unknown), "{text}");
    }
}

#[test]
fn every_mistyped_character_is_noticed() {
    for at in 19..IDENTITY.len() {
        let mut text = IDENTITY.as_bytes().to_vec();
        text[at] = if text[at] == b'Q' { b'P' } else { b'Q' };
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.parse::<Identity>().err(), Some(KeyError::Checksum), "character {at}");
        assert_eq!(IDENTITY[..at].parse::<Identity>().err(), Some(KeyError::Checksum), "cut at {at}");
    }
    let recipient = identity().recipient().to_string();
    for at in (7..recipient.len()).step_by(61) {
        let mut text = recipient.clone().into_bytes();
        text[at] = if text[at] == b'q' { b'p' } else { b'q' };
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.parse::<Recipient>(), Err(KeyError::Checksum), "character {at}");
        assert_eq!(recipient[..at].parse::<Recipient>(), Err(KeyError::Checksum), "cut at {at}");
    }
}

#[test]
fn case_is_part_of_the_kind() {
    assert_eq!(IDENTITY.to_lowercase().parse::<Identity>().err(), Some(KeyError::Case));
    let recipient = identity().recipient().to_string();
    assert_eq!(recipient.to_uppercase().parse::<Recipient>(), Err(KeyError::Case));
    let mixed = format!("{}x{}", &IDENTITY[..20], &IDENTITY[21..]);
    assert_eq!(mixed.parse::<Identity>().err(), Some(KeyError::Checksum));
}

#[test]
fn a_right_checksum_over_wrong_bytes_is_refused() {
    let text =
        |hrp: &str, bytes: &[u8]| bech32::encode::<Long>(bech32::Hrp::parse(hrp).unwrap(), bytes).unwrap();
    let short = text("age1pq", &[0; 1215]);
    assert_eq!(short.parse::<Recipient>(), Err(KeyError::Length { actual: 1215 }));
    let unreduced = text("age1pq", &[0xff; 1216]);
    assert_eq!(unreduced.parse::<Recipient>(), Err(KeyError::Modulus));
    let long = text("AGE-SECRET-KEY-PQ-", &[0; 33]).to_uppercase();
    assert_eq!(long.parse::<Identity>().err(), Some(KeyError::Length { actual: 33 }));
    assert_eq!(
        text("AGE-SECRET-KEY-PQ-", &[]).to_uppercase().parse::<Identity>().err(),
        Some(KeyError::Length { actual: 0 })
    );
}

#[test]
fn padding_bits_are_part_of_the_text() {
    // 32 bytes are 51 characters and a bit; the last data character has four bits of padding. Set one, and fix the checksum.
    use bech32::primitives::iter::{ByteIterExt, Fe32IterExt};
    let mut data: Vec<bech32::Fe32> = [7u8; 32].iter().copied().bytes_to_fes().collect();
    let last = data.last_mut().unwrap();
    *last = bech32::Fe32::try_from(last.to_u8() | 1).unwrap();
    let hrp = bech32::Hrp::parse("AGE-SECRET-KEY-PQ-").unwrap();
    let text: String = data.into_iter().with_checksum::<Long>(&hrp).chars().collect();
    assert_eq!(text.to_uppercase().parse::<Identity>().err(), Some(KeyError::Checksum));
}

#[test]
fn key_files_have_comments_and_empty_lines() {
    let (a, b) = (Identity::from_seed(&[1; 32]), Identity::from_seed(&[2; 32]));
    let text = format!("# created: today\r\n\n{}\n  {}  \n#end", *a.encode(), *b.encode());
    let identities = Identity::parse_file(&text).unwrap();
    assert_eq!(identities.len(), 2);
    assert_eq!(identities[1].recipient(), b.recipient());

    let text = format!("{}\n{}\n", a.recipient(), b.recipient());
    assert_eq!(Recipient::parse_file(&text), Ok(vec![a.recipient(), b.recipient()]));

    for empty in ["", "\n# nothing\n"] {
        assert_eq!(Recipient::parse_file(empty), Err(KeyFileError::Empty));
        assert_eq!(Identity::parse_file(empty).err(), Some(KeyFileError::Empty));
    }
    let text = format!("# two\n{}\nssh-rsa AAAA\n", a.recipient());
    let error = Recipient::parse_file(&text).unwrap_err();
    assert!(matches!(error, KeyFileError::Line { number: 3, error: KeyError::NotPostQuantum(_) }));
    assert!(error.to_string().starts_with("line 3: "));
}

/// The example of c2sp.org/age, and what stock age and its plugins write.
#[test]
fn identities_of_other_kinds_are_passed_over_in_a_file() {
    let (a, b) = (Identity::from_seed(&[1; 32]), Identity::from_seed(&[2; 32]));
    let x25519 = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
    let plugin = "AGE-PLUGIN-YUBIKEY-1AAAAAAAAAAAAAAAAAAAAAAA";
    let ssh =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\nAAAA\n-----END OPENSSH PRIVATE KEY-----";
    for text in [
        format!("{x25519}\n{}\n", *a.encode()),
        format!("\u{feff}{}\r\n{x25519}\r\n", *a.encode()),
        format!("# two\n{plugin}\n{}\n{x25519}\n", *a.encode()),
        format!("{ssh}\n{}\n", *a.encode()),
        format!("{ssh}\n{ssh}\n{}\n{x25519}\n", *a.encode()),
    ] {
        let identities = Identity::parse_file(&text).unwrap();
        assert_eq!(identities.len(), 1, "{text}");
        assert_eq!(identities[0].recipient(), a.recipient());
    }
    let both = format!("{}\n{x25519}\n{}\n", *a.encode(), *b.encode());
    let file = IdentityFile::parse(&both).unwrap();
    assert_eq!((file.identities.len(), file.passed_over.len()), (2, 1));
    assert!(matches!(
        file.passed_over[0],
        KeyFileError::Line { number: 2, error: KeyError::NotPostQuantum(_) }
    ));
    // None of ours is there: the first says what it is.
    for (text, number) in
        [(x25519.to_owned(), 1), (format!("# one\n{plugin}\n{x25519}"), 2), (ssh.to_owned(), 1)]
    {
        let error = Identity::parse_file(&text).unwrap_err();
        assert!(matches!(error, KeyFileError::Line { number: found, .. } if found == number), "{error}");
        assert!(IdentityFile::parse(&text).unwrap().identities.is_empty());
    }
    // A line that is no identity of any kind, or a damaged one, is not passed over.
    let mut cut = (*a.encode()).clone();
    cut.pop();
    for other in [
        "hello",
        &cut,
        &a.recipient().to_string(),
        "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
    ] {
        let error = Identity::parse_file(&format!("{}\n{other}\n", *a.encode())).unwrap_err();
        assert!(matches!(error, KeyFileError::Line { number: 2, .. }), "{error}");
    }
    // Recipients are all meant.
    let classical = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    let recipients = format!("{}\n{classical}\n", a.recipient());
    assert!(matches!(Recipient::parse_file(&recipients), Err(KeyFileError::Line { number: 2, .. })));
}

/// c2sp.org/age: recipients with a tag are native, and no plugin's.
#[test]
fn recipients_with_a_tag_are_called_what_they_are() {
    let text =
        |hrp: &str, bytes: &[u8]| bech32::encode::<Long>(bech32::Hrp::parse(hrp).unwrap(), bytes).unwrap();
    let tag = text("age1tag", &[2; 33]);
    let tagpq = text("age1tagpq", &[2; 1249]);
    assert!(matches!(tag.parse::<Recipient>(), Err(KeyError::NotPostQuantum(_))));
    let error = tagpq.parse::<Recipient>().unwrap_err();
    assert!(matches!(error, KeyError::Unsupported(_)));
    assert!(error.to_string().contains("age1tagpq1") && error.to_string().contains("ML-KEM-768"), "{error}");
    for recipient in [&tag, &tagpq, "age1tagpq1m3e4wvp6hzcrn9"] {
        assert!(!matches!(recipient.parse::<Recipient>(), Ok(_) | Err(KeyError::Plugin)));
        assert_eq!(recipient.parse::<Identity>().err(), Some(KeyError::IsRecipient));
    }
    assert_eq!(text("age1yubikey", &[2; 33]).parse::<Recipient>(), Err(KeyError::Plugin));
}

#[test]
fn debug_and_errors_show_no_secret() {
    assert!(!format!("{:?}", identity()).contains("3ZQFR"));
    for error in [
        KeyError::IsIdentity,
        KeyError::IsRecipient,
        KeyError::Plugin,
        KeyError::Unsupported("a kind"),
        KeyError::Unknown,
        KeyError::Case,
        KeyError::Checksum,
        KeyError::Length { actual: 3 },
        KeyError::Modulus,
    ] {
        assert!(!error.to_string().is_empty());
    }
    assert_eq!(KeyFileError::Empty.to_string(), "there is no key in the file");
}

/// Bech32 without a length limit, once more for the tests.
enum Long {}

impl bech32::Checksum for Long {
    type MidstateRepr = <bech32::Bech32 as bech32::Checksum>::MidstateRepr;
    type CorrectionField = <bech32::Bech32 as bech32::Checksum>::CorrectionField;
    const ROOT_GENERATOR: Self::CorrectionField = bech32::Bech32::ROOT_GENERATOR;
    const ROOT_EXPONENTS: core::ops::RangeInclusive<usize> = bech32::Bech32::ROOT_EXPONENTS;
    const CODE_LENGTH: usize = 4096;
    const CHECKSUM_LENGTH: usize = 6;
    const GENERATOR_SH: [u32; 5] = bech32::Bech32::GENERATOR_SH;
    const TARGET_RESIDUE: u32 = 1;
}

#[test]
fn the_checksum_constants_are_consistent() {
    <Long as bech32::Checksum>::sanity_check();
}
