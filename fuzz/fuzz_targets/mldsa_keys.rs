//! ML-DSA keys from any bytes: a key that is accepted is itself again, and signs what it verifies.
#![no_main]

use gambeson::mldsa::*;
use gambeson::{Bytes, Compact};
use libfuzzer_sys::fuzz_target;

fn import<P: PreparedSet>(data: &[u8]) {
    if let Ok(key) = VerifyingKey::<Compact<P>>::try_from(data) {
        assert_eq!(key.as_bytes().as_ref(), data);
        assert!(key.verify(b"m", &[]).is_err());
    }
    if let Ok(key) = SigningKey::<P>::from_encoded(data) {
        let exported = key.to_encoded();
        let exported: &[u8] = exported.expose().as_ref();
        assert_eq!(exported, data);
        let signature = key.sign_deterministic(b"m");
        key.verifying_key().verify(b"m", signature.as_ref()).expect("our own signature");
    }
}

/// An honest key, changed as the data says.
fn changed<P: PreparedSet>(data: &[u8]) {
    let key = SigningKey::<P>::from_seed(&[5; 32]);
    let exported = key.to_encoded();
    let exported: &[u8] = exported.expose().as_ref();
    let mut bytes = exported.to_vec();
    for edit in data.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
        if let Some(byte) = bytes.get_mut(at) {
            *byte = edit[2];
        }
    }
    import::<P>(&bytes);
}

fuzz_target!(|data: &[u8]| {
    assert!(
        VerifyingKey::<MlDsa44>::try_from(data).is_ok()
            == (data.len() == <MlDsa44 as ParameterSet>::VerifyingKeyBytes::LEN)
    );
    import::<MlDsa44>(data);
    import::<MlDsa65>(data);
    import::<MlDsa87>(data);
    changed::<MlDsa44>(data);
    changed::<MlDsa65>(data);
    changed::<MlDsa87>(data);
});
