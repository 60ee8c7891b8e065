use super::*;
use crate::link::MAX_FRAME;

fn calls() -> Vec<Call> {
    let channel = ChannelId([1; 32]);
    let did = String::from("did:example:ä");
    let largest = Entry { id: EntryId([2; 16]), kind: EntryKind::Commit, content: vec![3; MAX_ENTRY].into() };
    let packages = KeyPackages {
        once: vec![Bytes::new(), vec![4; MAX_KEY_PACKAGE].into(), vec![5; MAX_KEY_PACKAGE].into()],
        last_resort: Some(vec![6; MAX_KEY_PACKAGE].into()),
    };
    let asks = [
        Ask::Append(channel, largest, 7),
        Ask::Read(channel, 8, 9),
        Ask::Prune(channel, u64::MAX),
        Ask::Put(vec![10; MAX_BLOB].into()),
        Ask::Put(Bytes::new()),
        Ask::Get(vec![BlobId([11; 32]); MAX_ASKED]),
        Ask::Has(vec![BlobId([12; 32]); MAX_ASKED]),
        Ask::Has(Vec::new()),
        Ask::Publish(did.clone(), packages),
        Ask::Publish(String::new(), KeyPackages::default()),
        Ask::Take(did.clone()),
        Ask::Left("x".repeat(MAX_DID)),
    ];
    asks.map(|ask| Call { id: CallId([13; 16]), caller: 14, ask }).into()
}

fn replies() -> Vec<Reply> {
    let content = Bytes::from(vec![1; 1_000]);
    let record = |place| Record {
        place,
        at: 2,
        entry: Entry { id: EntryId([3; 16]), kind: EntryKind::Receipt, content: content.clone() },
    };
    let refusals = [
        Refusal::EntryTooLarge(1),
        Refusal::BlobTooLarge(2),
        Refusal::BlobMismatch(BlobId([3; 32])),
        Refusal::TooManyKeyPackages(4),
        Refusal::KeyPackageTooLarge(5),
        Refusal::DidTooLong(6),
        Refusal::NotAllowed,
        Refusal::IdTaken,
        Refusal::Service("ä".repeat(128)),
    ];
    let full = Quota::ALL.map(Refusal::Full);
    let head = Head { first: 1, last: 2, commit: 3 };
    let answers = [
        Answer::Placed(Placed::At(1)),
        Answer::Placed(Placed::After(u64::MAX)),
        Answer::Page(Page { head, records: (1..200).map(record).collect() }),
        Answer::Page(Page::default()),
        Answer::Done,
        Answer::Kept(BlobId([4; 32])),
        Answer::Bytes(None),
        Answer::Bytes(Some(vec![5; MAX_KEY_PACKAGE].into())),
        Answer::Blobs(vec![
            Some(vec![8; MAX_BLOB].into()),
            None,
            Some(vec![9; MAX_PAGE - MAX_BLOB - 15].into()),
        ]),
        Answer::Blobs(vec![None; MAX_ASKED]),
        Answer::Has(vec![true, false, true]),
        Answer::Left(6),
        Answer::Busy,
    ];
    let all = answers.into_iter().chain(refusals.into_iter().chain(full).map(Answer::Refused));
    all.map(|answer| Reply { id: CallId([7; 16]), answer }).collect()
}

#[test]
fn what_is_encoded_is_decoded_and_fits_into_a_frame() {
    for call in calls() {
        let frame = call.encode();
        assert!(frame.len() <= MAX_FRAME, "{}", frame.len());
        assert_eq!(Call::decode(&frame).unwrap(), call);
        assert_eq!(Call::origin(&frame), Some((call.id, call.caller)));
        assert!(Reply::decode(&frame).is_err(), "a call is no reply");
    }
    for reply in replies() {
        let frame = reply.encode();
        assert!(frame.len() <= MAX_FRAME, "{}", frame.len());
        assert_eq!(Reply::decode(&frame).unwrap(), reply);
        assert!(Call::decode(&frame).is_err(), "a reply is no call");
    }
}

#[test]
fn a_frame_that_is_cut_or_continued_is_malformed() {
    let frames =
        calls().iter().map(Call::encode).chain(replies().iter().map(Reply::encode)).collect::<Vec<_>>();
    for frame in frames {
        let both = |frame: Bytes| (Call::decode(&frame).is_err(), Reply::decode(&frame).is_err());
        for end in (0..frame.len()).step_by(1 + frame.len() / 300) {
            assert_eq!(both(frame.slice(..end)), (true, true), "cut at {end}");
        }
        assert_eq!(both([&frame[..], &[0]].concat().into()), (true, true), "continued");
    }
}

#[test]
fn lengths_kinds_flags_and_texts_that_cannot_be_are_refused() {
    let call = |kind: u8, fields: &[u8]| {
        Call::decode(&[&MAGIC[..], &[kind], &[0; 32], fields].concat().into()).unwrap_err().to_string()
    };
    let reply = |kind: u8, fields: &[u8]| {
        Reply::decode(&[&MAGIC[..], &[kind], &[0; 16], fields].concat().into()).unwrap_err().to_string()
    };
    let entry = [&[0; 32 + 8 + 16][..], &[9, 0, 0, 0, 0]].concat();
    for (error, says) in [
        (call(0, &[]), "no such call"),
        (call(10, &[]), "no such call"),
        (call(1, &entry), "unknown kind of entry"),
        (call(4, &[0, 2, 0, 1]), "longer than it may be"),
        (call(4, &[0, 0, 0, 1]), "ends too early"),
        (call(6, &[0, 0, 16, 1]), "longer than it may be"),
        (call(7, &[0, 0, 0, 0, 2]), "neither 0 nor 1"),
        (call(8, &[0, 0, 0, 1, 255]), "not UTF-8"),
        (call(9, &[0, 0, 8, 1]), "longer than it may be"),
        (reply(128, &[]), "unknown kind of answer"),
        (reply(129, &[3]), "unknown outcome"),
        (reply(134, &[0, 0, 0, 1, 7]), "neither 0 nor 1"),
        (reply(137, &[6, 0, 0, 0, 0, 0, 0, 0, 99]), "unknown quota"),
        (reply(137, &[7, 0, 0, 0, 0, 0, 0, 0, 1]), "unknown refusal"),
        (reply(137, &[10, 0, 0, 0, 0, 0, 0, 0, 1]), "unknown refusal"),
    ] {
        assert!(error.contains(says), "{error} does not say {says}");
    }
    assert!(Call::decode(&Bytes::from_static(b"GDS2")).unwrap_err().to_string().contains("does not begin"));
}

#[test]
fn as_many_records_as_fit_are_sent_and_at_least_one() {
    let entry = |len: usize| Entry {
        id: EntryId([1; 16]),
        kind: EntryKind::Application,
        content: vec![0; len].into(),
    };
    for (len, expected) in [(MAX_ENTRY, 3), (0, 1_000), (20_000, 12)] {
        let mut records: Vec<_> =
            (0..1_000).map(|place| Record { place, at: 0, entry: entry(len) }).collect();
        fitting(&mut records);
        let sent = records.len();
        let answer = Answer::Page(Page { head: Head::default(), records });
        assert!(Reply { id: CallId([0; 16]), answer }.encode().len() <= MAX_FRAME);
        assert_eq!(sent, expected, "of {len} bytes each");
    }
}
