//! A sealed file, then changed as the data says: it opens to the plaintext or not at all.
#![no_main]

use gambeson_age::{Format, Identity, open, seal};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fn sealed() -> &'static (Vec<u8>, Vec<u8>, Identity) {
    static SEALED: OnceLock<(Vec<u8>, Vec<u8>, Identity)> = OnceLock::new();
    SEALED.get_or_init(|| {
        let identity = Identity::from_seed(&[7; 32]);
        let plain: Vec<u8> = (0..70_000_u32).map(|i| i.to_le_bytes()[1]).collect();
        let mut file = Vec::new();
        seal(&[identity.recipient()], &plain[..], &mut file, Format::Binary).expect("it can be sealed");
        (plain, file, identity)
    })
}

fuzz_target!(|data: &[u8]| {
    let (plain, file, identity) = sealed();
    let mut changed = file.clone();
    for edit in data.chunks_exact(4) {
        let at = u32::from_le_bytes([edit[0], edit[1], edit[2] & 1, 0]) as usize;
        match (edit[2] >> 1, changed.get_mut(at)) {
            (0, _) => changed.truncate(at.max(1)),
            (1, _) => changed.insert(at.min(changed.len()), edit[3]),
            (_, Some(byte)) => *byte = edit[3],
            (_, None) => changed.push(edit[3]),
        }
    }
    let mut opened = Vec::new();
    let outcome = open(std::slice::from_ref(identity), &changed[..], &mut opened);
    assert!(plain.starts_with(&opened), "what comes out is authentic");
    if outcome.is_ok() {
        assert!(opened == *plain, "what is said to be whole is whole");
        assert!(changed == *file, "no other file opens");
    }
});
