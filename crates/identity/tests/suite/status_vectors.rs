//! `vectors/status.json`: status lists, and credentials whose status stands in them.

use crate::vector_file;
use crate::world::{DAY, NOW, World, expect, forge, forged_list, judge};
use gambeson_identity::vc::{
    Credential, MAX_ENTRIES, MIN_ENTRIES, Status, StatusEntry, StatusList, StatusListCredential,
    StatusPurpose, StatusResolver, StatusStore, UNDEFINED_TERMS,
};
use gambeson_identity::{Agent, Did, Error, Reason, Role, Timestamp, Verified};
use serde_json::{Value, json};
use std::io::Write;

const REVOKED: &str = "https://issuer.example/status/revoked";
const SUSPENDED: &str = "https://issuer.example/status/suspended";
const FOREIGN: &str = "https://holder.example/status";

fn list(purpose: StatusPurpose, set: &[usize]) -> StatusList {
    let mut list = StatusList::new(purpose, MIN_ENTRIES).unwrap();
    for index in set {
        list.set(*index, true).unwrap();
    }
    list
}

fn entry(list: &str, index: usize, purpose: StatusPurpose) -> StatusEntry {
    StatusEntry { list: list.into(), index, purpose }
}

fn lists(world: &World) -> Vec<(&'static str, String, Timestamp)> {
    use StatusPurpose::{Revocation, Suspension};
    let hour = (NOW, NOW.after(3600));
    vec![
        (
            "revoked",
            list(Revocation, &[0, 7, 8, 94_567, 131_071])
                .issue(&world.issuer, REVOKED, hour, Some(300_000))
                .unwrap(),
            NOW,
        ),
        ("suspended", list(Suspension, &[5]).issue(&world.issuer, SUSPENDED, hour, None).unwrap(), NOW),
        ("foreign", list(Revocation, &[]).issue(&world.holder, FOREIGN, hour, None).unwrap(), NOW),
    ]
}

fn encoded(bytes: &[u8]) -> String {
    use base64ct::{Base64UrlUnpadded, Encoding};
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(bytes).unwrap();
    format!("u{}", Base64UrlUnpadded::encode_string(&gzip.finish().unwrap()))
}

/// Credentials of lists that are none.
fn bad_lists(issuer: &Agent) -> Vec<(&'static str, String, &'static str)> {
    let good = list(StatusPurpose::Revocation, &[]).encode();
    let issue = |change: &dyn Fn(&mut Value)| {
        let mut subject = json!({
            "id": format!("{REVOKED}#list"),
            "type": "BitstringStatusList",
            "statusPurpose": "revocation",
            "encodedList": good,
        });
        change(&mut subject);
        let (from, until) = (NOW.to_string(), NOW.after(60).to_string());
        forged_list(issuer, subject, json!({"id": REVOKED, "validFrom": from, "validUntil": until}))
    };
    let plain = Credential::builder().subject(json!({"id": "urn:a:b"})).issue(issuer).unwrap();
    let without_id = forged_list(
        issuer,
        json!({"type": "BitstringStatusList", "statusPurpose": "revocation", "encodedList": good}),
        json!({}),
    );
    let trailing = {
        use base64ct::{Base64UrlUnpadded, Encoding};
        let mut packed = Base64UrlUnpadded::decode_vec(&good[1..]).unwrap();
        packed.push(0);
        format!("u{}", Base64UrlUnpadded::encode_string(&packed))
    };
    vec![
        ("another-credential", plain, "bad-type"),
        ("subject-of-another-type", issue(&|it| it["type"] = "List".into()), "bad-type"),
        ("list-without-url", without_id, "bad-form"),
        ("no-purpose", issue(&|it| drop(it.as_object_mut().unwrap().remove("statusPurpose"))), "bad-form"),
        (
            "purpose-twice",
            issue(&|it| it["statusPurpose"] = json!(["revocation", "refresh", "revocation"])),
            "bad-form",
        ),
        ("purpose-is-a-number", issue(&|it| it["statusPurpose"] = json!(["revocation", 1])), "bad-form"),
        ("no-list", issue(&|it| drop(it.as_object_mut().unwrap().remove("encodedList"))), "bad-form"),
        ("ttl-is-text", issue(&|it| it["ttl"] = "5 minutes".into()), "bad-form"),
        ("another-base", issue(&|it| it["encodedList"] = "zAAAA".into()), "bad-encoding"),
        ("not-gzip", issue(&|it| it["encodedList"] = "uAAAAAAAA".into()), "bad-encoding"),
        ("bytes-after-gzip", issue(&|it| it["encodedList"] = trailing.clone().into()), "bad-encoding"),
        (
            "too-few-entries",
            issue(&|it| it["encodedList"] = encoded(&[0; MIN_ENTRIES / 8 - 1]).into()),
            "out-of-range",
        ),
        (
            "too-many-entries",
            issue(&|it| it["encodedList"] = encoded(&vec![0; MAX_ENTRIES / 8 + 1]).into()),
            "too-large",
        ),
    ]
}

fn credentials(world: &World) -> Vec<(&'static str, Value, Timestamp, &'static str, Option<&'static str>)> {
    use StatusPurpose::{Revocation, Suspension};
    let revocation = |index| entry(REVOKED, index, Revocation).to_json();
    let suspension = |index| entry(SUSPENDED, index, Suspension).to_json();
    let with = |mut value: Value, name: &str, member: Value| {
        value[name] = member;
        value
    };
    let late = NOW.after(3601);
    let unknown = entry("https://issuer.example/status/9", 1, Revocation).to_json();
    let other_kind = json!({"type": "https://example.com/OtherStatus"});
    vec![
        ("neither-revoked-nor-suspended", json!([revocation(1), suspension(1)]), NOW, "required", None),
        ("beside-a-revoked-one", revocation(94_568), NOW, "required", None),
        (
            "purpose-that-does-not-bear-on-validity",
            with(revocation(0), "statusPurpose", "refresh".into()),
            NOW,
            "required",
            None,
        ),
        (
            "message-of-two-bits",
            with(with(revocation(0), "statusPurpose", "message".into()), "statusSize", 2.into()),
            NOW,
            "required",
            None,
        ),
        (
            "purpose-that-nobody-knows-let-pass",
            with(revocation(0), "statusPurpose", "revoked".into()),
            NOW,
            "if-known",
            None,
        ),
        (
            "purpose-that-nobody-knows",
            with(revocation(1), "statusPurpose", "revoked".into()),
            NOW,
            "required",
            Some("unknown-status"),
        ),
        (
            "purpose-in-capitals",
            with(revocation(0), "statusPurpose", "Revocation".into()),
            NOW,
            "required",
            Some("unknown-status"),
        ),
        ("status-size-one", with(revocation(1), "statusSize", 1.into()), NOW, "required", None),
        ("unknown-list-let-pass", unknown.clone(), NOW, "if-known", None),
        ("unknown-kind-let-pass", other_kind.clone(), NOW, "if-known", None),
        ("old-list-let-pass", revocation(1), late, "if-known", None),
        ("nobody-asks", revocation(0), NOW, "ignored", None),
        ("first-entry", revocation(0), NOW, "required", Some("revoked")),
        ("last-bit-of-a-byte", revocation(7), NOW, "required", Some("revoked")),
        ("first-bit-of-a-byte", revocation(8), NOW, "required", Some("revoked")),
        ("middle-entry", revocation(94_567), NOW, "if-known", Some("revoked")),
        ("last-entry", revocation(131_071), NOW, "required", Some("revoked")),
        ("suspended", json!([revocation(1), suspension(5)]), NOW, "required", Some("suspended")),
        ("revoked-in-an-old-list", revocation(0), late, "if-known", Some("revoked")),
        ("suspended-in-an-old-list", suspension(5), late, "if-known", None),
        ("old-list", revocation(1), late, "required", Some("unknown-status")),
        ("unknown-list", unknown, NOW, "required", Some("unknown-status")),
        ("unknown-kind", other_kind, NOW, "required", Some("unknown-status")),
        (
            "list-of-another-issuer",
            entry(FOREIGN, 1, Revocation).to_json(),
            NOW,
            "required",
            Some("unknown-status"),
        ),
        (
            "list-for-another-purpose",
            entry(REVOKED, 1, Suspension).to_json(),
            NOW,
            "required",
            Some("bad-form"),
        ),
        ("beyond-the-list", revocation(131_072), NOW, "required", Some("out-of-range")),
        (
            "index-is-a-number",
            with(revocation(1), "statusListIndex", 1.into()),
            NOW,
            "required",
            Some("bad-form"),
        ),
        (
            "index-with-a-zero-before",
            with(revocation(1), "statusListIndex", "01".into()),
            NOW,
            "required",
            Some("bad-form"),
        ),
        (
            "index-is-negative",
            with(revocation(1), "statusListIndex", "-1".into()),
            NOW,
            "required",
            Some("bad-form"),
        ),
        (
            "no-purpose-in-the-entry",
            with(revocation(1), "statusPurpose", Value::Null),
            NOW,
            "required",
            Some("bad-form"),
        ),
        (
            "list-is-no-url",
            with(revocation(1), "statusListCredential", "status".into()),
            NOW,
            "required",
            Some("bad-form"),
        ),
        (
            "index-is-true",
            with(revocation(1), "statusListIndex", true.into()),
            NOW,
            "required",
            Some("bad-form"),
        ),
        ("id-of-the-entry", with(revocation(1), "id", format!("{REVOKED}#1").into()), NOW, "required", None),
        ("id-is-the-list", with(revocation(1), "id", REVOKED.into()), NOW, "required", Some("bad-form")),
        ("status-size-two", with(revocation(1), "statusSize", 2.into()), NOW, "required", Some("bad-form")),
    ]
    .into_iter()
    .map(|(id, status, now, asked, reason)| {
        // Forged, for an issuer refuses what a verifier refuses.
        let credential = json!({
            "@context": ["https://www.w3.org/ns/credentials/v2", UNDEFINED_TERMS], "type": ["VerifiableCredential"],
            "issuer": world.issuer.did().as_str(), "credentialSubject": {"id": world.holder.did().as_str(), "a": 1},
            "credentialStatus": status,
        });
        let header = json!({"typ": "vc+jwt", "cty": "vc"});
        let token = forge(&world.issuer, Role::Signing, header, credential.to_string().as_bytes());
        (id, Value::from(token), now, asked, reason)
    })
    .collect()
}

#[test]
fn the_vectors_of_status_hold() {
    let world = World::new();
    let mut store = StatusStore::default();
    let mut vectors = world.logs(&["issuer", "holder"]);
    for (id, token, now) in lists(&world) {
        store.add(&token, &world.cards, now).unwrap();
        let list = StatusListCredential::verify(&token, &world.cards, now).unwrap();
        let purpose = [StatusPurpose::Revocation, StatusPurpose::Suspension]
            .into_iter()
            .find(|it| list.list(*it).is_some());
        let bits = list.list(purpose.unwrap()).unwrap();
        let set: Vec<usize> = (0..bits.entries()).filter(|index| bits.is_set(*index).unwrap()).collect();
        vectors.push(json!({
            "id": format!("list-{id}"), "kind": "list", "token": token, "now": now.0, "url": list.url(),
            "purpose": purpose.unwrap().name(), "entries": bits.entries(), "set": set,
        }));
    }
    for (id, token, reason) in bad_lists(&world.issuer) {
        let vector = expect(
            json!({"id": format!("list-{id}"), "kind": "list", "token": token, "now": NOW.0}),
            Some(reason),
        );
        judge(&vector, StatusListCredential::verify(&token, &world.cards, NOW));
        vectors.push(vector);
    }
    for (id, token, now, asked, reason) in credentials(&world) {
        let vector = json!({"id": id, "kind": "credential", "token": token, "now": now.0, "status": asked});
        let vector = expect(vector, reason);
        let status = match asked {
            "required" => Status::Required(&store),
            "if-known" => Status::IfKnown(&store),
            _ => Status::Ignored,
        };
        judge(&vector, Credential::verify(token.as_str().unwrap(), &world.cards, now, status));
        vectors.push(vector);
    }
    vector_file::committed("status", vectors, 53);
}

#[test]
fn a_list_is_at_least_16_kib_and_a_revocation_is_for_good() {
    for entries in [0, MIN_ENTRIES - 8, MIN_ENTRIES + 1, MAX_ENTRIES + 8] {
        let refused = StatusList::new(StatusPurpose::Revocation, entries).unwrap_err();
        assert_eq!(refused.reason(), Reason::OutOfRange, "{entries}");
    }
    let mut revoked = list(StatusPurpose::Revocation, &[3]);
    assert_eq!(revoked.set(3, false).unwrap_err().reason(), Reason::Irreversible);
    assert_eq!(revoked.set(MIN_ENTRIES, true).unwrap_err().reason(), Reason::OutOfRange);
    assert!(revoked.is_set(3).unwrap());
    let mut suspended = list(StatusPurpose::Suspension, &[3]);
    suspended.set(3, false).unwrap();
    assert_eq!(suspended, list(StatusPurpose::Suspension, &[]));
    let again = StatusList::decode(StatusPurpose::Revocation, &revoked.encode()).unwrap();
    assert_eq!(again, revoked);
}

/// Bitstring Status List 1.0, Example 3: an empty list of another implementation.
#[test]
fn the_list_of_the_standards_example_is_read() {
    let example = "uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA";
    let list = StatusList::decode(StatusPurpose::Revocation, example).unwrap();
    assert_eq!(list, self::list(StatusPurpose::Revocation, &[]));
}

#[test]
fn a_store_takes_newer_lists_and_tells_which_are_due() {
    let world = World::new();
    let mut store = StatusStore::default();
    let issue = |from: Timestamp| {
        list(StatusPurpose::Revocation, &[])
            .issue(&world.issuer, REVOKED, (from, from.after(DAY)), Some(300_000))
            .unwrap()
    };
    store.add(&issue(NOW), &world.cards, NOW).unwrap();
    let older = issue(Timestamp(NOW.0 - 1));
    assert_eq!(store.add(&older, &world.cards, NOW).unwrap_err().reason(), Reason::StaleStatus);
    assert_eq!(store.due(NOW.after(299)).count(), 0);
    assert_eq!(store.due(NOW.after(300)).collect::<Vec<_>>(), [REVOKED]);
    store.add(&issue(NOW.after(300)), &world.cards, NOW.after(300)).unwrap();
    assert_eq!(store.due(NOW.after(300)).count(), 0);
}

#[test]
fn a_store_does_not_go_back_and_no_revocation_is_lost() {
    use StatusPurpose::{Revocation, Suspension};
    let world = World::new();
    let from = |purpose, set: &[usize], from: Timestamp| {
        list(purpose, set).issue(&world.issuer, REVOKED, (from, from.after(DAY)), None).unwrap()
    };
    let timeless = |set: &[usize]| {
        let subject = json!({
            "type": "BitstringStatusList", "statusPurpose": "revocation", "encodedList": list(Revocation, set).encode(),
        });
        forged_list(&world.issuer, subject, json!({"id": REVOKED}))
    };
    let (later, second) = (NOW.after(1), [1, 2]);
    let order = |lists: &[String]| {
        let mut store = StatusStore::default();
        let add = |list: &String| store.add(list, &world.cards, later).map_err(|error| error.reason());
        lists.iter().map(add).collect::<Vec<_>>()
    };
    let revoked = |set: &[usize], at| from(Revocation, set, at);
    let suspended = |set: &[usize], at| from(Suspension, set, at);
    let (first, same) = (revoked(&[1], NOW), revoked(&[1], NOW));
    assert_eq!(order(&[first.clone(), same, revoked(&second, NOW)]), [Ok(()); 3]);
    assert_eq!(order(&[revoked(&second, NOW), first.clone()]), [Ok(()), Err(Reason::StaleStatus)]);
    assert_eq!(order(&[timeless(&second), timeless(&[1])]), [Ok(()), Err(Reason::StaleStatus)]);
    assert_eq!(order(&[first.clone(), timeless(&second)]), [Ok(()), Err(Reason::StaleStatus)]);
    assert_eq!(order(&[revoked(&second, NOW), revoked(&[1], later)]), [Ok(()), Err(Reason::StaleStatus)]);
    assert_eq!(order(&[first, suspended(&[], later)]), [Ok(()), Err(Reason::StaleStatus)]);
    assert_eq!(order(&[suspended(&[1], NOW), suspended(&[], NOW)]), [Ok(()), Err(Reason::StaleStatus)]);
    assert_eq!(order(&[suspended(&[1], NOW), suspended(&[], later)]), [Ok(()), Ok(())]);
}

#[test]
fn what_others_say_of_a_url_neither_blocks_nor_answers_for_the_issuer() {
    let world = World::new();
    let issue = |agent: &Agent, set: &[usize]| {
        list(StatusPurpose::Revocation, set).issue(agent, REVOKED, (NOW, NOW.after(DAY)), None).unwrap()
    };
    let mut store = StatusStore::default();
    store.add(&issue(&world.holder, &[3]), &world.cards, NOW).unwrap();
    let status = entry(REVOKED, 3, StatusPurpose::Revocation);
    let draft = Credential::builder().subject(json!({"id": world.holder.did().as_str(), "a": 1}));
    let token = draft.status(&status).issue(&world.issuer).unwrap();
    let verify = |store: &StatusStore| {
        let found = Credential::verify(&token, &world.cards, NOW, Status::Required(store));
        found.map(drop).map_err(|error| error.reason())
    };
    assert_eq!(verify(&store), Err(Reason::UnknownStatus));
    store.add(&issue(&world.issuer, &[]), &world.cards, NOW).unwrap();
    assert_eq!(verify(&store), Ok(()));

    /// A keeper that gives another issuer's list.
    struct Careless(std::sync::Arc<Verified<StatusListCredential>>);
    impl StatusResolver for Careless {
        fn status_list(
            &self,
            _: &Did,
            _: &str,
            _: Timestamp,
        ) -> Result<std::sync::Arc<Verified<StatusListCredential>>, Error> {
            Ok(self.0.clone())
        }
    }
    let foreign = StatusListCredential::verify(&issue(&world.holder, &[]), &world.cards, NOW).unwrap();
    let careless = Careless(foreign.into());
    let found = Credential::verify(&token, &world.cards, NOW, Status::Required(&careless));
    assert_eq!(found.unwrap_err().reason(), Reason::WrongIssuer);
}

#[test]
fn a_list_for_both_purposes_is_one_list() {
    let world = World::new();
    let subject = json!({
        "type": "BitstringStatusList", "statusPurpose": ["suspension", "refresh", "revocation"],
        "encodedList": list(StatusPurpose::Revocation, &[7]).encode(),
    });
    let token = forged_list(&world.issuer, subject, json!({"id": REVOKED}));
    let found = StatusListCredential::verify(&token, &world.cards, NOW).unwrap();
    for purpose in [StatusPurpose::Revocation, StatusPurpose::Suspension] {
        assert!(found.list(purpose).unwrap().is_set(7).unwrap(), "{purpose:?}");
        assert_eq!(found.list(purpose).unwrap().purpose(), purpose);
    }
}
