//! Verification of changed signatures and of any bytes: both our forms and RustCrypto's agree, and no change passes.
#![no_main]

use gambeson::mldsa::*;
use gambeson::{Bytes, Compact};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

macro_rules! verify {
    ($set:ident, $data:expr) => {{
        type Signature = <$set as ParameterSet>::Signature;
        static KEY: OnceLock<(VerifyingKey<Compact<$set>>, VerifyingKey<$set>, Signature)> = OnceLock::new();
        let (key, prepared, honest) = KEY.get_or_init(|| {
            let key = SigningKey::<Compact<$set>>::from_seed(&[17; 32]);
            let public = key.verifying_key();
            let prepared = VerifyingKey::<$set>::from_bytes(public.as_bytes());
            prepared.prepare();
            (public, prepared, key.sign_deterministic(b"message"))
        });
        let mut changed = *honest;
        for edit in $data.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
            if let Some(byte) = changed.get_mut(at) {
                *byte = edit[2];
            }
        }
        let mut raw = Signature::zeroed();
        let length = $data.len().min(raw.len());
        raw[..length].copy_from_slice(&$data[..length]);
        // Any key at all.
        let mut any = <$set as ParameterSet>::VerifyingKeyBytes::zeroed();
        let length = $data.len().min(any.len());
        any[..length].copy_from_slice(&$data[..length]);
        for (bytes, signature) in [(*key.as_bytes(), changed), (*key.as_bytes(), raw), (any, changed)] {
            let ours =
                VerifyingKey::<Compact<$set>>::from_bytes(&bytes).verify(b"message", &signature).is_ok();
            if bytes == *key.as_bytes() {
                assert_eq!(ours, prepared.verify(b"message", &signature).is_ok());
                assert_eq!(ours, signature == *honest, "only the honest signature passes");
            }
            let their_key = ml_dsa::VerifyingKey::<ml_dsa::$set>::decode(&bytes.into());
            let theirs = ml_dsa::Signature::<ml_dsa::$set>::decode(&signature.into())
                .is_some_and(|signature| their_key.verify_with_context(b"message", &[], &signature));
            assert_eq!(ours, theirs);
        }
        assert!(key.verify(b"message", $data).is_err() || $data == &honest[..]);
    }};
}

fuzz_target!(|data: &[u8]| {
    verify!(MlDsa44, data);
    verify!(MlDsa65, data);
    verify!(MlDsa87, data);
});
