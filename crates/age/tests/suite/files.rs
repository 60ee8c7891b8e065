//! Sealing and opening whole files, and every way in which a file can be wrong.

use std::io::{self, Read, Write};

use base64ct::{Base64Unpadded, Encoding};
use gambeson_age::armor::{ArmorReader, ArmorWriter};
use gambeson_age::{
    ArmorError, Decryptor, Encryptor, Error, FileKey, Format, HeaderError, Identity, Passphrase,
    PayloadError, Recipient, Stanza, UnwrapFileKey, open, seal,
};
use sha2::Digest;

const CHUNK: usize = 65536;
const SEALED: usize = CHUNK + 16;

fn identity(n: u8) -> Identity {
    Identity::from_seed(&[n; 32])
}

fn sealed(plaintext: &[u8], format: Format) -> Vec<u8> {
    let mut file = Vec::new();
    let count = seal(&[identity(1).recipient()], plaintext, &mut file, format).unwrap();
    assert_eq!(count, plaintext.len() as u64);
    file
}

fn text(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i / 7 + i / CHUNK) as u8).collect()
}

/// What comes out of a file, and how it ends.
fn opened(file: &[u8]) -> (Vec<u8>, Result<u64, Error>) {
    opened_by(&[identity(1)], file)
}

fn opened_by<I: UnwrapFileKey>(identities: &[I], file: &[u8]) -> (Vec<u8>, Result<u64, Error>) {
    let mut out = Vec::new();
    let end = open(identities, file, &mut out);
    (out, end)
}

fn header_len(file: &[u8]) -> usize {
    let mac = file.windows(5).position(|window| window == b"\n--- ").unwrap() + 1;
    mac + file[mac..].iter().position(|byte| *byte == b'\n').unwrap() + 1
}

#[test]
fn every_size_goes_round_in_both_formats() {
    let mut ran = 0;
    for size in [0, 1, 15, 16, 47, 48, 49, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 77] {
        for format in [Format::Binary, Format::Armored] {
            let plaintext = text(size);
            let file = sealed(&plaintext, format);
            if format == Format::Binary {
                let chunks = size.div_ceil(CHUNK).max(1);
                assert_eq!(file.len(), header_len(&file) + 16 + size + 16 * chunks);
            }
            let (out, end) = opened(&file);
            assert_eq!(end.unwrap(), size as u64);
            assert!(out == plaintext, "{size} {format:?}");
            ran += 1;
        }
    }
    assert_eq!(ran, 24);
}

#[test]
fn the_layout_is_that_of_the_specification() {
    let file = sealed(b"hello", Format::Binary);
    let header = std::str::from_utf8(&file[..header_len(&file)]).unwrap();
    let lines: Vec<&str> = header.lines().collect();
    assert_eq!(lines[0], "age-encryption.org/v1");
    let enc = lines[1].strip_prefix("-> mlkem768x25519 ").unwrap();
    assert_eq!(Base64Unpadded::decode_vec(enc).unwrap().len(), 1120);
    assert_eq!(Base64Unpadded::decode_vec(lines[2]).unwrap().len(), 32);
    assert_eq!(Base64Unpadded::decode_vec(lines[3].strip_prefix("--- ").unwrap()).unwrap().len(), 32);
    assert_eq!(lines.len(), 4);

    let armored = String::from_utf8(sealed(&text(1000), Format::Armored)).unwrap();
    let lines: Vec<&str> = armored.lines().collect();
    assert_eq!(lines[0], "-----BEGIN AGE ENCRYPTED FILE-----");
    assert_eq!(lines[lines.len() - 1], "-----END AGE ENCRYPTED FILE-----");
    assert!(lines[1..lines.len() - 2].iter().all(|line| line.len() == 64));
    assert!(armored.ends_with('\n'));
}

/// Files that others wrote: the strings of HPKE, of the key schedules and of the stanza are theirs.
#[test]
fn published_files_open() {
    for file in [&include_bytes!("../data/cctv-hybrid")[..], include_bytes!("../data/cctv-armor_hybrid")] {
        let head = file.windows(2).position(|window| window == b"\n\n").unwrap();
        let (head, mut file) = (std::str::from_utf8(&file[..head]).unwrap(), &file[head + 2..]);
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let mut inflated = Vec::new();
        if !field("compressed: ").is_empty() {
            flate2::read::ZlibDecoder::new(file).read_to_end(&mut inflated).unwrap();
            file = &inflated;
        }
        let identity: Identity = field("identity: ").parse().unwrap();
        let (out, end) = opened_by(&[identity], file);
        assert_eq!(end.unwrap(), out.len() as u64);
        let hash: String = sha2::Sha256::digest(&out).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, field("payload: "));
    }
}

#[test]
fn two_files_of_one_text_share_nothing() {
    let (a, b) = (sealed(b"same", Format::Binary), sealed(b"same", Format::Binary));
    assert_eq!(a.len(), b.len());
    assert_ne!(a[header_len(&a)..], b[header_len(&b)..]);
    assert_ne!(a[..header_len(&a)], b[..header_len(&b)]);
}

#[test]
fn each_of_several_recipients_opens_the_file_and_nobody_else() {
    let recipients: Vec<Recipient> = (1..=3).map(|n| identity(n).recipient()).collect();
    let mut file = Vec::new();
    seal(&recipients, &b"for three"[..], &mut file, Format::Binary).unwrap();
    for n in 1..=3 {
        let (out, end) = opened_by(&[identity(9), identity(n)], &file);
        assert_eq!((out.as_slice(), end.unwrap()), (&b"for three"[..], 9));
    }
    let (out, end) = opened_by(&[identity(8), identity(9)], &file);
    assert!(out.is_empty() && matches!(end, Err(Error::NoMatch)));
    let none: [Identity; 0] = [];
    assert!(matches!(opened_by(&none, &file).1, Err(Error::NoMatch)));
}

#[test]
fn nobody_to_seal_to_is_an_error_before_anything_is_written() {
    let mut file = Vec::new();
    assert!(matches!(seal(&[], &b"x"[..], &mut file, Format::Binary), Err(Error::NoRecipients)));
    assert!(file.is_empty());
}

#[test]
fn a_recipient_of_low_order_is_refused() {
    let mut key = *identity(1).recipient().encapsulation_key().as_bytes();
    key[1184..].fill(0);
    let bad = Recipient::from(gambeson_hybrid::xwing::EncapsulationKey::from_bytes(&key).unwrap());
    let result = seal(&[identity(1).recipient(), bad], &b"x"[..], io::sink(), Format::Binary);
    assert!(matches!(result, Err(Error::LowOrderRecipient { index: 1 })));
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let file = sealed(b"quilted linen", Format::Binary);
    let enc_start = 22 + "-> mlkem768x25519 ".len();
    let enc_end = enc_start + 1494;
    let body = enc_end + 1..enc_end + 1 + 43;
    let mac = body.end + 1 + 4..header_len(&file) - 1;
    assert_eq!((file[enc_end], file[body.end], file[mac.end]), (b'\n', b'\n', b'\n'));
    let payload = header_len(&file);
    let mut seen = std::collections::BTreeMap::new();
    for at in 0..file.len() {
        if (enc_start..enc_end).contains(&at) && at % 41 != 0 {
            continue; // one of 41: each costs a decapsulation
        }
        let mut bad = file.clone();
        bad[at] ^= 1 << (at % 8);
        let (out, end) = opened(&bad);
        assert!(out.is_empty(), "byte {at} released something");
        let error = end.expect_err("a flipped bit is noticed");
        let (region, right) = match at {
            0..22 => ("version", matches!(error, Error::Header(_))),
            _ if at < enc_start => ("kind", matches!(error, Error::Header(_) | Error::NoMatch)),
            _ if at < enc_end => ("enc", matches!(error, Error::Header(_) | Error::NoMatch)),
            _ if body.contains(&at) => ("body", matches!(error, Error::Header(_) | Error::NoMatch)),
            _ if mac.contains(&at) => ("mac", matches!(error, Error::Header(_) | Error::HeaderMac)),
            _ if at < payload => ("marks", matches!(error, Error::Header(_))),
            _ => ("payload", matches!(error, Error::Payload(PayloadError::Chunk { index: 0 }))),
        };
        assert!(right, "byte {at} ({region}): {error:?}");
        *seen.entry(region).or_insert(0) += 1;
    }
    assert_eq!(seen["payload"], 16 + 13 + 16);
    assert_eq!(seen.len(), 7, "{seen:?}");
}

#[test]
fn no_cut_goes_unnoticed() {
    let file = sealed(b"quilted linen", Format::Binary);
    let header = header_len(&file);
    for len in 0..file.len() {
        let (out, end) = opened(&file[..len]);
        assert!(out.is_empty());
        match (len, end.unwrap_err()) {
            (0, Error::Header(HeaderError::NotAge)) => {}
            (1.., Error::Header(HeaderError::Truncated)) if len < header + 16 => {}
            (_, Error::Payload(PayloadError::Truncated)) if len < header + 16 + 16 => {}
            (_, Error::Payload(PayloadError::Chunk { index: 0 })) if len >= header + 16 + 16 => {}
            (len, error) => panic!("cut at {len} of {}: {error:?}", file.len()),
        }
    }
    let armored = sealed(b"quilted linen", Format::Armored);
    for len in (1..armored.len() - 1).step_by(13) {
        let (out, end) = opened(&armored[..len]);
        assert!(out.is_empty() && end.is_err(), "cut at {len}");
    }
    let (out, end) = opened(&armored[..armored.len() - 1]);
    assert_eq!((out.as_slice(), end.is_ok()), (&b"quilted linen"[..], true), "the last line end may lack");
}

/// Chunks of a file of three and a bit, to be put together wrongly.
fn chunks() -> (Vec<u8>, Vec<Vec<u8>>) {
    let file = sealed(&text(3 * CHUNK + 100), Format::Binary);
    let (start, payload) = file.split_at(header_len(&file) + 16);
    (start.to_vec(), payload.chunks(SEALED).map(<[u8]>::to_vec).collect())
}

#[test]
fn chunks_that_are_moved_dropped_doubled_or_added_are_noticed() {
    let (start, chunks) = chunks();
    let plaintext = text(3 * CHUNK + 100);
    let chunk_error = |index| PayloadError::Chunk { index };
    for (name, order, released, error) in [
        ("swapped", vec![1, 0, 2, 3], 0, chunk_error(0)),
        ("first dropped", vec![1, 2, 3], 0, chunk_error(0)),
        ("middle dropped", vec![0, 2, 3], 1, chunk_error(1)),
        ("doubled", vec![0, 1, 1, 2, 3], 2, chunk_error(2)),
        ("last dropped", vec![0, 1, 2], 3, PayloadError::Truncated),
        ("two dropped", vec![0, 1], 2, PayloadError::Truncated),
        ("all dropped", vec![], 0, PayloadError::Truncated),
        ("last doubled", vec![0, 1, 2, 3, 3], 3, chunk_error(3)),
        ("last first", vec![3, 0, 1, 2], 0, chunk_error(0)),
    ] {
        let file = order.iter().fold(start.clone(), |file, i: &usize| [file, chunks[*i].clone()].concat());
        let (out, end) = opened(&file);
        assert!(out == plaintext[..released * CHUNK], "{name}: {} bytes came out", out.len());
        assert!(matches!(end, Err(Error::Payload(found)) if found == error), "{name}: {end:?}");
    }
}

#[test]
fn data_after_a_full_last_chunk_is_noticed() {
    let file = sealed(&text(CHUNK), Format::Binary);
    for tail in [1, 16, 40, SEALED] {
        let (out, end) = opened(&[file.clone(), vec![0; tail]].concat());
        assert!(out == text(CHUNK), "the authentic chunk comes out");
        assert!(matches!(end, Err(Error::Payload(PayloadError::TrailingData))), "{end:?}");
    }
}

#[test]
fn a_reader_that_goes_on_after_an_error_gets_the_error_again() {
    let (start, chunks) = chunks();
    let file = [start, chunks[1].clone()].concat();
    let mut decryptor = Decryptor::new(&[identity(1)], &file[..]).unwrap();
    for _ in 0..3 {
        let error = decryptor.read(&mut [0; 10]).unwrap_err();
        assert!(matches!(Error::from(error), Error::Payload(PayloadError::Chunk { index: 0 })));
    }
    assert_eq!(decryptor.read(&mut []).unwrap(), 0);
    assert_eq!(format!("{decryptor:?}"), "Decryptor([redacted])");
}

/// An identity that knows the file key by itself, so that headers can be written by hand.
struct Known([u8; 16]);

impl UnwrapFileKey for Known {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        Ok(stanzas.iter().any(|stanza| stanza.kind() == "known").then(|| FileKey::new(self.0)))
    }
}

/// A header written by hand under the file key 16 × 7, with a right MAC, and an empty payload with a bad tag.
fn by_hand(stanzas: &str) -> Vec<u8> {
    use hmac::{KeyInit, Mac};
    let mut key = [0; 32];
    hkdf::Hkdf::<sha2::Sha256>::new(None, &[7; 16]).expand(b"header", &mut key).unwrap();
    let covered = format!("age-encryption.org/v1\n{stanzas}---");
    let mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(&key).unwrap().chain_update(&covered).finalize();
    let mac = Base64Unpadded::encode_string(&mac.into_bytes());
    [format!("{covered} {mac}\n").as_bytes(), &[0; 32]].concat()
}

#[test]
fn headers_that_are_well_formed() {
    let wide = "A".repeat(64);
    for stanzas in [
        "-> known\n\n".to_owned(),
        "-> known a b c\nAAAA\n".to_owned(),
        format!("-> known\n{wide}\n{wide}\n\n"),
        format!("-> x ! ~ -> ---\n{wide}\nAA\n-> known\n\n-> y\n\n"),
    ] {
        // The header is read and its MAC fits: the first thing that is wrong is the payload.
        let (_, end) = opened_by(&[Known([7; 16])], &by_hand(&stanzas));
        assert!(matches!(end, Err(Error::Payload(PayloadError::Chunk { index: 0 }))), "{stanzas}: {end:?}");
        // The same with another file key: the MAC does not fit.
        let (_, end) = opened_by(&[Known([8; 16])], &by_hand(&stanzas));
        assert!(matches!(end, Err(Error::HeaderMac)), "{stanzas}: {end:?}");
        assert!(matches!(opened(&by_hand(&stanzas)).1, Err(Error::NoMatch)), "{stanzas}: foreign stanzas");
    }
}

#[test]
fn a_header_has_at_most_1024_stanzas_of_at_most_64_arguments() {
    let known = |file: &[u8]| opened_by(&[Known([7; 16])], file).1;
    let read =
        |end: &Result<u64, Error>| matches!(end, Err(Error::Payload(PayloadError::Chunk { index: 0 })));
    let many = |count: usize| by_hand(&"-> known\n\n".repeat(count));
    assert!(read(&known(&many(1024))));
    for count in [1025, 5000] {
        let end = known(&many(count));
        assert!(matches!(end, Err(Error::Header(HeaderError::TooManyStanzas))), "{count}: {end:?}");
    }
    let wide = |count: usize| by_hand(&format!("-> known{}\n\n", " a".repeat(count - 1)));
    assert!(read(&known(&wide(64))));
    for count in [65, 5000] {
        let end = known(&wide(count));
        assert!(matches!(end, Err(Error::Header(HeaderError::TooManyArguments))), "{count}: {end:?}");
    }
    // They are refused where they stand, though neither header nor line ends.
    let endless = |line: &'static str| {
        let start = &b"age-encryption.org/v1\n"[..];
        let mut lines = line.as_bytes().iter().cycle().copied();
        let rest = std::iter::repeat_with(move || lines.next().unwrap()).take(1 << 20).collect::<Vec<_>>();
        known(&[start, &rest].concat())
    };
    assert!(matches!(endless("-> x\n\n"), Err(Error::Header(HeaderError::TooManyStanzas))));
    // A writer makes no file that a reader refuses.
    let recipients = vec![identity(1).recipient(); 1025];
    let sealed = |count: usize| seal(&recipients[..count], &b"x"[..], Vec::new(), Format::Binary);
    assert!(matches!(sealed(1025), Err(Error::TooManyRecipients { count: 1025 })));
    assert!(sealed(3).is_ok());
}

/// Arguments and bodies are given as they were written.
#[test]
fn stanzas_are_handed_on_whole() {
    struct Seen(std::cell::RefCell<Vec<(Vec<String>, Vec<u8>)>>);
    impl UnwrapFileKey for Seen {
        fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
            let seen = stanzas.iter().map(|it| (it.args().map(str::to_owned).collect(), it.body()));
            self.0.borrow_mut().extend(seen);
            assert_eq!(stanzas[0].body_of::<0>(), Some([]));
            assert_eq!((stanzas[1].body_of::<48>(), stanzas[1].body_of::<49>()), (Some([0; 48]), None));
            assert_eq!((stanzas[2].body_of::<50>(), stanzas[2].body_of::<51>()), (None, Some([0; 51])));
            assert_eq!(format!("{:?}", stanzas[1]), "Stanza(b, 66 characters)");
            Ok(None)
        }
    }
    let wide = "A".repeat(64);
    let file = by_hand(&format!("-> a ---\n\n-> b -> x\n{wide}\n\n-> c\n{wide}\nAAAA\n"));
    let seen = Seen(Default::default());
    assert!(matches!(opened_by(&[&seen], &file).1, Err(Error::NoMatch)));
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let expected = [
        (texts(&["a", "---"]), vec![]),
        (texts(&["b", "->", "x"]), vec![0; 48]),
        (texts(&["c"]), vec![0; 51]),
    ];
    assert_eq!(*seen.0.borrow(), expected);
}

#[test]
fn headers_that_are_malformed() {
    use HeaderError::{ArgumentLine, BodyLine, NoStanza};
    let wide = "A".repeat(64);
    for (stanzas, error) in [
        (String::new(), NoStanza),
        ("\n-> known\n\n".to_owned(), ArgumentLine),
        ("->\n\n".to_owned(), ArgumentLine),
        ("-> \n\n".to_owned(), ArgumentLine),
        ("->known\n\n".to_owned(), ArgumentLine),
        ("-> known \n\n".to_owned(), ArgumentLine),
        ("-> known  x\n\n".to_owned(), ArgumentLine),
        ("->  known\n\n".to_owned(), ArgumentLine),
        ("-> known\tx\n\n".to_owned(), ArgumentLine),
        ("-> known\r\n\n".to_owned(), ArgumentLine),
        ("-> knöwn\n\n".to_owned(), ArgumentLine),
        ("known\n\n".to_owned(), ArgumentLine),
        ("-> known\n".to_owned(), BodyLine),
        ("-> known\nA\n".to_owned(), BodyLine),
        ("-> known\nAA==\n".to_owned(), BodyLine),
        ("-> known\nAB\n".to_owned(), BodyLine),
        ("-> known\nAA \n".to_owned(), BodyLine),
        ("-> known\nAA\r\n".to_owned(), BodyLine),
        ("-> known\nA-_A\n".to_owned(), BodyLine),
        (format!("-> known\n{wide}AAAA\n\n"), BodyLine),
        (format!("-> known\n{wide}\n"), BodyLine),
        ("-> known\nAA\nAA\n".to_owned(), ArgumentLine),
    ] {
        let (_, end) = opened_by(&[Known([7; 16])], &by_hand(&stanzas));
        assert!(matches!(end, Err(Error::Header(found)) if found == error), "{stanzas:?}: {end:?}");
    }
    let good = String::from_utf8(by_hand("-> known\n\n")).unwrap();
    let mac = good.lines().nth(3).unwrap().to_owned();
    for bad in [
        mac.replace("--- ", "---"),
        mac.replace("--- ", "---  "),
        format!("{mac} "),
        format!("{mac}="),
        format!("{mac}AA"),
        format!("{mac}\r"),
        mac[..mac.len() - 2].to_owned(),
        "--- ".to_owned(),
        "---".to_owned(),
        "----".to_owned(),
    ] {
        let (_, end) = opened_by(&[Known([7; 16])], good.replace(&mac, &bad).as_bytes());
        assert!(matches!(end, Err(Error::Header(HeaderError::MacLine))), "{bad:?}: {end:?}");
    }
    for (bad, error) in [
        ("age-encryption.org/v2\n", HeaderError::Version),
        ("age-encryption.org/v1234\n", HeaderError::Version),
        ("age-encryption.org/v1\r\n", HeaderError::NotAge),
        ("AGE-encryption.org/v1\n", HeaderError::NotAge),
        ("%PDF-1.7\n", HeaderError::NotAge),
    ] {
        let (_, end) = opened_by(&[Known([7; 16])], good.replace("age-encryption.org/v1\n", bad).as_bytes());
        assert!(matches!(end, Err(Error::Header(found)) if found == error), "{bad:?}: {end:?}");
    }
}

#[test]
fn our_stanzas_have_one_shape() {
    let file = sealed(b"", Format::Binary);
    let header = String::from_utf8(file[..header_len(&file)].to_vec()).unwrap();
    let lines: Vec<&str> = header.lines().collect();
    let enc = lines[1].rsplit(' ').next().unwrap();
    let bytes = Base64Unpadded::decode_vec(enc).unwrap();
    let with =
        |bytes: &[u8]| format!("-> mlkem768x25519 {}\n{}\n", Base64Unpadded::encode_string(bytes), lines[2]);
    let mut low_order = bytes.clone();
    low_order[1088..].fill(0);
    for (stanza, what) in [
        (format!("-> mlkem768x25519 {enc} x\n{}\n", lines[2]), "two arguments"),
        (format!("-> mlkem768x25519\n{}\n", lines[2]), "two arguments"),
        (with(&bytes[..1119]), "ciphertext"),
        (with(&[&bytes[..], &[0]].concat()), "ciphertext"),
        (format!("-> mlkem768x25519 {enc}=\n{}\n", lines[2]), "ciphertext"),
        (format!("-> mlkem768x25519 {enc}\n{}AAAA\n", &lines[2][..40]), "32 bytes"),
        (format!("-> mlkem768x25519 {enc}\n\n"), "32 bytes"),
        (with(&low_order), "low order"),
    ] {
        let (_, end) = opened(&by_hand(&stanza));
        assert!(
            matches!(end, Err(Error::Header(HeaderError::Stanza(text))) if text.contains(what)),
            "{what}: {end:?}"
        );
    }
    let upper = header.replace("mlkem768x25519", "MLKEM768X25519");
    assert!(matches!(opened(upper.as_bytes()).1, Err(Error::NoMatch)), "another kind");
}

/// A chunk sealed by hand under the file key 16 × 7 and the payload nonce 16 × 0.
fn chunk_by_hand(index: u8, last: bool, plaintext: &[u8]) -> Vec<u8> {
    use chacha20poly1305::aead::{AeadInOut, KeyInit};
    let mut key = [0; 32];
    hkdf::Hkdf::<sha2::Sha256>::new(Some(&[0; 16]), &[7; 16]).expand(b"payload", &mut key).unwrap();
    let mut nonce = [0; 12];
    (nonce[10], nonce[11]) = (index, last.into());
    let mut chunk = plaintext.to_vec();
    let aead = chacha20poly1305::ChaCha20Poly1305::new(&key.into());
    let tag = aead.encrypt_inout_detached(&nonce.into(), b"", chunk.as_mut_slice().into()).unwrap();
    [&chunk[..], &tag].concat()
}

#[test]
fn payloads_that_no_honest_writer_makes() {
    let start = by_hand("-> known\n\n");
    let start = &start[..start.len() - 16];
    let (full, known) = (text(CHUNK), [Known([7; 16])]);
    let first = chunk_by_hand(0, false, &full);
    for (name, chunks, released, error) in [
        ("honest, one empty chunk", vec![chunk_by_hand(0, true, b"")], 0, None),
        ("honest, a full last chunk", vec![chunk_by_hand(0, true, &full)], CHUNK, None),
        ("honest, two chunks", vec![first.clone(), chunk_by_hand(1, true, b"x")], CHUNK + 1, None),
        (
            "an empty last chunk after another",
            vec![first.clone(), chunk_by_hand(1, true, b"")],
            CHUNK,
            Some(PayloadError::EmptyLastChunk),
        ),
        ("no last chunk", vec![first.clone()], CHUNK, Some(PayloadError::Truncated)),
        (
            "a short chunk that is not the last",
            vec![chunk_by_hand(0, false, b"x")],
            0,
            Some(PayloadError::Chunk { index: 0 }),
        ),
        (
            "two last chunks",
            vec![chunk_by_hand(0, true, &full), chunk_by_hand(1, true, b"x")],
            CHUNK,
            Some(PayloadError::TrailingData),
        ),
        (
            "a number left out",
            vec![first.clone(), chunk_by_hand(2, true, b"x")],
            CHUNK,
            Some(PayloadError::Chunk { index: 1 }),
        ),
    ] {
        let (out, end) = opened_by(&known, &[start, &chunks.concat()].concat());
        assert_eq!(out.len(), released, "{name}");
        let found = match end {
            Ok(_) => None,
            Err(Error::Payload(error)) => Some(error),
            Err(error) => panic!("{name}: {error:?}"),
        };
        assert_eq!(found, error, "{name}");
    }
}

#[test]
fn an_endless_header_is_given_up() {
    let start = io::Cursor::new(b"age-encryption.org/v1\n-> ".to_vec());
    let end = open(&[identity(1)], start.chain(io::repeat(b'x')), io::sink());
    assert!(matches!(end, Err(Error::Header(HeaderError::TooLong))), "{end:?}");
}

#[test]
fn armor_is_strict() {
    let armor = |text: &str| {
        let mut out = Vec::new();
        ArmorReader::new(text.as_bytes()).read_to_end(&mut out).map(|_| out).map_err(
            |error| match Error::from(error) {
                Error::Armor(error) => error,
                other => panic!("{other:?}"),
            },
        )
    };
    let (begin, end) = ("-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----");
    let full = "QUFB".repeat(16);
    for (text, bytes) in [
        (format!("{begin}\nQUE=\n{end}\n"), 2),
        (format!("{begin}\nQUE=\n{end}"), 2),
        (format!("{begin}\r\nQUE=\r\n{end}\r\n"), 2),
        (format!("\n \t\r\n\n{begin}\nQUE=\n{end}\n\n \n"), 2),
        (format!("{begin}\n{full}\n{end}\n"), 48),
        (format!("{begin}\n{full}\nQQ==\n{end}\n"), 49),
        (format!("{begin}\n{end}\n"), 0),
    ] {
        assert_eq!(armor(&text).map(|out| out.len()), Ok(bytes), "{text}");
    }
    let spaces = " ".repeat(1025);
    for (text, error) in [
        (String::new(), ArmorError::Truncated),
        ("\n\n".to_owned(), ArmorError::Truncated),
        (format!(" {begin}\nQUE=\n{end}\n"), ArmorError::Begin),
        (format!("{begin} \nQUE=\n{end}\n"), ArmorError::Begin),
        (format!("x\n{begin}\nQUE=\n{end}\n"), ArmorError::Begin),
        (format!("{}\nQUE=\n{end}\n", begin.to_lowercase()), ArmorError::Begin),
        (format!("{}\nQUE=\n{end}\n", begin.replace("FILE", "MAIL")), ArmorError::Begin),
        (format!("{begin}\nComment: x\n\nQUE=\n{end}\n"), ArmorError::Base64),
        (format!("{begin}\n\nQUE=\n{end}\n"), ArmorError::EmptyLine),
        (format!("{begin}\n{full}\n\n{end}\n"), ArmorError::EmptyLine),
        (format!("{begin}\nQUE=\n\n{end}\n"), ArmorError::End),
        (format!("{begin}\nQUE=\nQUE=\n{end}\n"), ArmorError::End),
        (format!("{begin}\nQUE=\n=abcd\n{end}\n"), ArmorError::End),
        (format!("{begin}\n{full}QUFB\n{end}\n"), ArmorError::LongLine),
        (format!("{begin}\nQUE\n{end}\n"), ArmorError::Base64),
        (format!("{begin}\nQUF=\n{end}\n"), ArmorError::Base64),
        (format!("{begin}\nQU*=\n{end}\n"), ArmorError::Base64),
        (format!("{begin}\n QUE=\n{end}\n"), ArmorError::Base64),
        (format!("{begin}\nQUE= \n{end}\n"), ArmorError::Base64),
        (format!("{begin}\nQUE=\n{end} \n"), ArmorError::End),
        (format!("{begin}\nQUE=\n"), ArmorError::Truncated),
        (format!("{begin}\nQUE="), ArmorError::Truncated),
        (begin.to_owned(), ArmorError::Truncated),
        (format!("{begin}\nQUE=\n{end}\nx"), ArmorError::TrailingData),
        (format!("{spaces}\n{begin}\nQUE=\n{end}\n"), ArmorError::Whitespace),
        (format!("{begin}\nQUE=\n{end}\n{spaces}"), ArmorError::Whitespace),
    ] {
        assert_eq!(armor(&text), Err(error), "{text}");
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn armor_goes_round_in_any_pieces() {
    for size in [0, 1, 47, 48, 49, 6143, 6144, 6145, 20_000] {
        for piece in [1, 7, 48, 5000] {
            let mut writer = ArmorWriter::new(Vec::new());
            text(size).chunks(piece).for_each(|piece| writer.write_all(piece).unwrap());
            writer.flush().unwrap();
            let armored = writer.finish().unwrap();
            let mut out = Vec::new();
            ArmorReader::new(io::BufReader::with_capacity(piece, &armored[..]))
                .read_to_end(&mut out)
                .unwrap();
            assert!(out == text(size));
        }
    }
}

#[test]
fn the_format_can_be_demanded() {
    let (binary, armored) = (sealed(b"x", Format::Binary), sealed(b"x", Format::Armored));
    let id = [identity(1)];
    assert!(Decryptor::with_format(&id, &binary[..], Format::Binary).is_ok());
    assert!(Decryptor::with_format(&id, &armored[..], Format::Armored).is_ok());
    let error = Decryptor::with_format(&id, &binary[..], Format::Armored).unwrap_err();
    assert!(matches!(error, Error::Armor(ArmorError::Begin)), "{error:?}");
    let error = Decryptor::with_format(&id, &armored[..], Format::Binary).unwrap_err();
    assert!(matches!(error, Error::Header(HeaderError::NotAge)), "{error:?}");
}

/// Gives one byte a call, with interruptions; fails after `left`.
struct Dribble<R>(R, usize);

impl<R: Read> Read for Dribble<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1.checked_sub(1).ok_or_else(|| io::Error::other("the disk is gone"))?;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = out.len().min(1);
        self.0.read(&mut out[..len])
    }
}

#[test]
fn slow_and_failing_inputs() {
    for format in [Format::Binary, Format::Armored] {
        let plaintext = text(3000);
        let mut file = Vec::new();
        seal(&[identity(1).recipient()], Dribble(&plaintext[..], usize::MAX), &mut file, format).unwrap();
        let mut out = Vec::new();
        open(&[identity(1)], Dribble(&file[..], usize::MAX), &mut out).unwrap();
        assert!(out == plaintext);

        for left in [0, 1, 100, 3000, 6000] {
            let end = open(&[identity(1)], Dribble(&file[..], left), io::sink());
            assert!(
                matches!(&end, Err(Error::Io(error)) if error.to_string() == "the disk is gone"),
                "{end:?}"
            );
        }
        let end = seal(&[identity(1).recipient()], Dribble(&plaintext[..], 50), io::sink(), format);
        assert!(matches!(end, Err(Error::Io(_))));
    }
}

/// Takes `0` bytes, then fails.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let taken = data.len().min(self.0);
        self.0 -= taken;
        if taken == 0 && !data.is_empty() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported() {
    let plaintext = text(2 * CHUNK);
    for format in [Format::Binary, Format::Armored] {
        let file = sealed(&plaintext, format);
        for room in [0, 30, 3000, CHUNK, file.len() - 1] {
            let end = seal(&[identity(1).recipient()], &plaintext[..], Full(room), format);
            assert!(
                matches!(&end, Err(Error::Io(error)) if error.kind() == io::ErrorKind::StorageFull),
                "{end:?}"
            );
        }
        let end = open(&[identity(1)], &file[..], Full(CHUNK));
        assert!(
            matches!(&end, Err(Error::Io(error)) if error.kind() == io::ErrorKind::StorageFull),
            "{end:?}"
        );
    }
}

#[test]
fn an_encryptor_that_is_dropped_leaves_no_whole_file() {
    let mut file = Vec::new();
    let mut encryptor = Encryptor::new(&[identity(1).recipient()], &mut file, Format::Binary).unwrap();
    encryptor.write_all(&text(CHUNK + 5)).unwrap();
    encryptor.flush().unwrap();
    assert_eq!(format!("{encryptor:?}"), "Encryptor([redacted])");
    drop(encryptor);
    let (out, end) = opened(&file);
    assert_eq!(out.len(), CHUNK);
    assert!(matches!(end, Err(Error::Payload(PayloadError::Truncated))));
}

#[test]
fn boxed_identities_of_several_kinds_work_together() {
    let file = sealed(b"x", Format::Binary);
    let identities: [Box<dyn UnwrapFileKey>; 2] = [Box::new(Known([7; 16])), Box::new(identity(1))];
    assert_eq!(opened_by(&identities, &file).1.unwrap(), 1);
    assert_eq!(opened_by(&[&identity(1)], &file).1.unwrap(), 1);
}

#[test]
fn errors_say_what_is_wrong_and_travel_through_io() {
    for error in [
        Error::Io(io::ErrorKind::StorageFull.into()),
        Error::Random(gambeson::RngError),
        Error::NoRecipients,
        Error::TooManyRecipients { count: 1025 },
        Error::LowOrderRecipient { index: 0 },
        Error::Armor(ArmorError::Begin),
        Error::Header(HeaderError::Truncated),
        Error::NoMatch,
        Error::HeaderMac,
        Error::Payload(PayloadError::Chunk { index: 3 }),
    ] {
        let said = error.to_string();
        assert!(!said.is_empty());
        let _ = std::error::Error::source(&error);
        assert_eq!(Error::from(io::Error::from(error)).to_string(), said);
    }
    for error in [PayloadError::Truncated, PayloadError::TrailingData, PayloadError::EmptyLastChunk] {
        assert!(!error.to_string().is_empty());
    }
    use HeaderError::{
        ArgumentLine, BodyLine, MacLine, NoStanza, NotAge, TooLong, TooManyArguments, TooManyStanzas, Version,
    };
    let counts = [TooManyStanzas, TooManyArguments];
    for error in
        [NotAge, Version, TooLong, NoStanza, ArgumentLine, BodyLine, MacLine, HeaderError::Stanza("x")]
            .into_iter()
            .chain(counts)
    {
        assert!(!error.to_string().is_empty());
    }
}

fn sealed_by(passphrase: &Passphrase, plaintext: &[u8]) -> Vec<u8> {
    let mut file = Encryptor::with_passphrase(passphrase, Vec::new(), Format::Binary).unwrap();
    file.write_all(plaintext).unwrap();
    file.finish().unwrap()
}

#[test]
fn a_passphrase_opens_what_it_sealed_and_no_other_does() {
    let passphrase = Passphrase::new("correct horse").unwrap().work_factor(4);
    let file = sealed_by(&passphrase, b"plaintext");
    let header = String::from_utf8(file[..header_len(&file)].to_vec()).unwrap();
    let args: Vec<&str> = header.lines().nth(1).unwrap().split(' ').collect();
    assert_eq!((args.len(), args[1], args[2].len(), args[3]), (4, "scrypt", 22, "4"));

    assert_eq!(opened_by(&[passphrase], &file).0, b"plaintext");
    let other = Passphrase::new("correct horsf").unwrap();
    assert!(matches!(opened_by(&[other], &file).1, Err(Error::NoMatch)));
    assert!(matches!(opened(&file).1, Err(Error::NoMatch)), "an identity of another kind");
    assert!(matches!(Passphrase::new("").err(), Some(Error::EmptyPassphrase)));
}

#[test]
fn the_work_of_a_passphrase_is_bounded_before_it_is_done() {
    let file = sealed_by(&Passphrase::new("a").unwrap().work_factor(5), b"");
    let opened_with = |max: u8| opened_by(&[Passphrase::new("a").unwrap().max_work_factor(max)], &file).1;
    assert!(matches!(opened_with(4), Err(Error::Header(HeaderError::WorkFactor))));
    assert!(matches!(opened_with(5), Ok(0)));
    assert_eq!((Passphrase::WORK_FACTOR, Passphrase::MAX_WORK_FACTOR), (18, 20));
    for work in ["21", "22", "30", "64", "255", "256", "99999999999999999999"] {
        let header = by_hand(&format!("-> scrypt {} {work}\n{}\n", "A".repeat(22), "A".repeat(43)));
        let (_, end) = opened_by(&[Passphrase::new("a").unwrap()], &header);
        assert!(matches!(end, Err(Error::Header(HeaderError::WorkFactor))), "{work}: {end:?}");
    }
}

#[test]
fn passphrase_stanzas_have_one_shape_and_stand_alone() {
    let (salt, body) = ("A".repeat(22), "A".repeat(43));
    for (stanzas, what) in [
        (format!("-> scrypt {salt}\n{body}\n"), "three arguments"),
        (format!("-> scrypt {salt} 4 x\n{body}\n"), "three arguments"),
        (format!("-> scrypt {} 4\n{body}\n", &salt[..21]), "16 bytes"),
        (format!("-> scrypt {salt}AA 4\n{body}\n"), "16 bytes"),
        (format!("-> scrypt {salt}== 4\n{body}\n"), "16 bytes"),
        (format!("-> scrypt {salt} 04\n{body}\n"), "decimal"),
        (format!("-> scrypt {salt} 0\n{body}\n"), "decimal"),
        (format!("-> scrypt {salt} +4\n{body}\n"), "decimal"),
        (format!("-> scrypt {salt} 4.\n{body}\n"), "decimal"),
        (format!("-> scrypt {salt} 4\n\n"), "32 bytes"),
        (format!("-> scrypt {salt} 4\n{}\n", &body[..42]), "32 bytes"),
        (format!("-> scrypt {salt} 4\n{body}\n-> scrypt {salt} 4\n{body}\n"), "alone"),
        (format!("-> known\n\n-> scrypt {salt} 4\n{body}\n"), "alone"),
    ] {
        let (_, end) = opened_by(&[Passphrase::new("a").unwrap()], &by_hand(&stanzas));
        assert!(
            matches!(end, Err(Error::Header(HeaderError::Stanza(text))) if text.contains(what)),
            "{stanzas}: {end:?}"
        );
        if what == "alone" {
            let (_, end) = opened_by(&[Known([7; 16])], &by_hand(&stanzas));
            assert!(matches!(end, Err(Error::Header(HeaderError::Stanza(_)))), "whoever reads it: {end:?}");
        }
    }
}

#[test]
fn no_flipped_bit_of_a_passphrase_header_goes_unnoticed() {
    let passphrase = Passphrase::new("a").unwrap().work_factor(1).max_work_factor(9);
    let file = sealed_by(&passphrase, b"plaintext");
    let mut refused = 0;
    for at in 0..header_len(&file) {
        for bit in [1, 4] {
            let mut bad = file.clone();
            bad[at] ^= bit;
            assert!(opened_by(&[&passphrase], &bad).1.is_err(), "bit {bit} of byte {at}");
            refused += 1;
        }
    }
    assert_eq!(refused, 2 * header_len(&file));
    assert_eq!(format!("{passphrase:?}"), "Passphrase([redacted])");
}

/// Counts, in the place of a generator.
struct Counting(u8);

impl gambeson::rand_core::TryRng for Counting {
    type Error = gambeson::RngError;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Err(gambeson::RngError)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Err(gambeson::RngError)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
        for byte in out {
            // Eighty bytes for the file key and what wraps it, sixteen for the nonce.
            *byte = self.0.checked_sub(1).ok_or(gambeson::RngError)?;
            self.0 -= 1;
        }
        Ok(())
    }
}

impl gambeson::rand_core::TryCryptoRng for Counting {}

#[test]
fn all_randomness_of_a_file_comes_from_the_generator_that_is_given() {
    let identity = Identity::from_seed(&[3; 32]);
    let sealed = |count| {
        let mut file = Vec::new();
        let recipients = [identity.recipient()];
        gambeson_age::seal_with(&recipients, &b"linen"[..], &mut file, Format::Binary, &mut Counting(count))?;
        Ok::<_, Error>(file)
    };
    assert_eq!(sealed(96).unwrap(), sealed(96).unwrap());
    assert_ne!(sealed(96).unwrap(), sealed(97).unwrap());
    assert!(matches!(sealed(95), Err(Error::Random(_))), "one byte too few");
    assert_eq!(opened_by(&[&identity], &sealed(96).unwrap()).0, b"linen");
}
