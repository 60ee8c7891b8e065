//! Memory objects and manifests, and what is wrong with them.

use crate::world::reason;
use gambeson_identity::Reason;
use gambeson_identity::memory::{DirectoryObjects, MAX_OBJECT, Manifest, MemoryObjects, ObjectId, Objects};

/// The vector of BLAKE3 for no input, and the name's one form.
#[test]
fn names() {
    let empty = "b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    assert_eq!(ObjectId::of(b"").to_string(), empty);
    assert_eq!(empty.parse::<ObjectId>().unwrap(), ObjectId::of(b""));
    for bad in [
        "",
        "b3:",
        &empty[3..],
        &empty[..66],
        &format!("{empty}0"),
        &empty.to_uppercase(),
        &empty.replace('f', "F"),
        &empty.replace('f', "g"),
        "b3:äf1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f326",
    ] {
        assert_eq!(reason(bad.parse::<ObjectId>()), Reason::BadForm, "{bad}");
    }
    assert_eq!(reason(ObjectId::of(b"").check(b"x")), Reason::WrongHash);
}

fn round_trips(mut objects: impl Objects) {
    let id = objects.put(b"one").unwrap();
    assert_eq!(objects.put(b"one").unwrap(), id);
    assert_eq!(objects.get(&id).unwrap().unwrap(), b"one");
    assert_eq!(objects.get(&ObjectId::of(b"two")).unwrap(), None);
    assert_eq!(reason(objects.put(&vec![0; MAX_OBJECT + 1])), Reason::TooLarge);
    for size in [0, 1, MAX_OBJECT - 1, MAX_OBJECT, MAX_OBJECT + 1, 2 * MAX_OBJECT + 5] {
        let bytes: Vec<u8> = (0..size).map(|i| (i / 1000) as u8).collect();
        let id = Manifest::store(&bytes, &mut objects).unwrap();
        assert!(Manifest::load(&id, &objects, u64::MAX).unwrap() == bytes, "{size}");
    }
    let ids = objects.ids().unwrap();
    assert!(ids.is_sorted() && ids.contains(&id));
}

#[test]
fn objects_of_any_size_are_kept_in_memory_and_in_a_folder() {
    round_trips(MemoryObjects::default());
    let folder = tempfile::tempdir().unwrap();
    round_trips(DirectoryObjects::new(folder.path().join("objects")));
}

#[test]
fn a_folder_that_was_tampered_with_gives_nothing_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut objects = DirectoryObjects::new(folder.path());
    assert_eq!(objects.ids().unwrap(), []);
    let id = objects.put(b"one").unwrap();
    let name = id.to_string();
    let path = folder.path().join(&name[3..5]).join(&name[5..]);
    for bad in [&b"onf"[..], b"", b"one ", &vec![0; MAX_OBJECT + 2]] {
        std::fs::write(&path, bad).unwrap();
        assert_eq!(reason(objects.get(&id)), Reason::WrongHash);
    }
    objects.put(b"one").unwrap();
    assert_eq!(objects.get(&id).unwrap().unwrap(), b"one", "written anew");
    std::fs::write(folder.path().join(&name[3..5]).join("foreign"), b"").unwrap();
    std::fs::write(folder.path().join("ab"), b"").unwrap();
    assert_eq!(objects.ids().unwrap(), [id]);
}

#[test]
fn a_manifest_has_one_form() {
    let mut objects = MemoryObjects::default();
    let bytes = vec![3; MAX_OBJECT + 10];
    let id = Manifest::store(&bytes, &mut objects).unwrap();
    let text = objects.get(&id).unwrap().unwrap();
    assert_eq!(Manifest::parse(&text).unwrap().size, bytes.len() as u64);
    for at in 0..text.len() {
        let mut bad = text.clone();
        bad[at] ^= 1;
        // A changed digit of a name is a manifest of other objects, which are not here.
        let missing = Manifest::parse(&bad).and_then(|manifest| {
            let other = objects.clone().put(&manifest.to_json()?)?;
            assert_ne!(other, id);
            let mut objects = objects.clone();
            objects.put(&manifest.to_json()?)?;
            Manifest::load(&other, &objects, u64::MAX).map(drop)
        });
        assert!(missing.is_err(), "byte {at}");
    }
    let text = String::from_utf8(text).unwrap();
    for bad in [
        text.replace(":1048586", ": 1048586"),
        text.replace("1048586", "1048576"),
        text.replace("1048586", "2097153"),
        text.replace("1048586", "\"1048586\""),
        text.replace("-v1", "-v2"),
        text.replace("\"type\"", "\"a\":1,\"type\""),
        text.replace("b3:", ""),
        "{}".to_owned(),
        "[]".to_owned(),
    ] {
        assert_eq!(reason(Manifest::parse(bad.as_bytes())), Reason::BadForm, "{bad}");
    }
    assert_eq!(reason(Manifest::parse(b"{")), Reason::BadJson);
    assert_eq!(reason(Manifest::parse(&vec![b' '; MAX_OBJECT + 1])), Reason::TooLarge);
    assert_eq!(reason(Manifest::load(&ObjectId::of(b"no"), &objects, 0)), Reason::WrongHash);

    // 8 GiB out of one object and a manifest of 600 KB.
    let chunk = objects.put(&vec![0; MAX_OBJECT]).unwrap();
    let bomb = Manifest { size: 8 << 30, chunks: vec![chunk; 8192] };
    let id = objects.put(&bomb.to_json().unwrap()).unwrap();
    assert_eq!(reason(Manifest::load(&id, &objects, (8 << 30) - 1)), Reason::TooLarge);

    // Objects of other lengths than their places demand, whose sum is right.
    let (a, b) = (objects.put(b"12345").unwrap(), objects.put(&vec![0; MAX_OBJECT]).unwrap());
    let swapped = Manifest { size: MAX_OBJECT as u64 + 5, chunks: vec![a, b] };
    let id = objects.put(&swapped.to_json().unwrap()).unwrap();
    assert_eq!(reason(Manifest::load(&id, &objects, u64::MAX)), Reason::BadForm);
}
