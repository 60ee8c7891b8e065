//! Bytes that claim to be a sealed secret, with costs made cheap: they open as what was sealed, or not at all.
#![no_main]

use gambeson_keystore::{Passphrase, Protection, open, seal};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fn sealed() -> &'static (Vec<u8>, Passphrase) {
    static SEALED: OnceLock<(Vec<u8>, Passphrase)> = OnceLock::new();
    SEALED.get_or_init(|| {
        let passphrase = Passphrase::new("passphrase").expect("it is not empty");
        let cheap = Protection::Argon2id { memory: 8, passes: 1, lanes: 1 };
        (seal(b"secret", "purpose", &passphrase, cheap).expect("it can be sealed"), passphrase)
    })
}

fuzz_target!(|data: &[u8]| {
    let (file, passphrase) = sealed();
    let _ = gambeson_keystore::is_sealed(data);
    // Costs within their bounds take seconds: only files whose costs are ours, or refused, are tried.
    let mut changed = file.clone();
    for edit in data.chunks_exact(3) {
        let at = usize::from(edit[0]) % (changed.len() + 1);
        match (edit[1] % 4, changed.get_mut(at)) {
            (0, _) => changed.truncate(at),
            (1, _) => changed.insert(at, edit[2]),
            (_, Some(byte)) if !(20..32).contains(&at) => *byte = edit[2],
            _ => {}
        }
    }
    if changed.get(20..32) == file.get(20..32) {
        if let Ok(secret) = open(&changed, "purpose", passphrase) {
            assert!(secret.expose() == b"secret" && changed == *file);
        }
    }
});
