//! ML-KEM keys from any bytes: a key that is accepted is itself again, and works.
#![no_main]

use gambeson::mlkem::*;
use gambeson::{Bytes, Compact};
use libfuzzer_sys::fuzz_target;

fn import<P: PreparedSet>(data: &[u8]) {
    let compact = EncapsulationKey::<Compact<P>>::try_from(data);
    let plain = EncapsulationKey::<P>::try_from(data);
    assert_eq!(compact.is_ok(), plain.is_ok());
    if let (Ok(compact), Ok(plain)) = (compact, plain) {
        assert_eq!(compact.as_bytes().as_ref(), data);
        let (c, k) = compact.encapsulate_deterministic(&[3; 32]);
        // From the bytes, then prepared.
        for _ in 0..2 {
            let (c2, k2) = plain.encapsulate_deterministic(&[3; 32]);
            assert!(c == c2 && k.expose() == k2.expose());
        }
    }
    if let Ok(key) = DecapsulationKey::<P>::from_encoded(data) {
        let exported = key.to_encoded();
        let exported: &[u8] = exported.expose().as_ref();
        // Unreduced coefficients of s are taken modulo q.
        assert_eq!(exported.len(), data.len());
        let (c, _) = key.encapsulation_key().encapsulate_deterministic(&[3; 32]);
        let again = DecapsulationKey::<P>::from_encoded(exported).expect("our own export");
        assert_eq!(key.decapsulate(&c).expose(), again.decapsulate(&c).expose());
    }
}

/// Gives the data a key's length, and its hash the right value, so that the checks behind are reached.
fn mended<P: ParameterSet>(data: &[u8]) -> Vec<u8> {
    let mut bytes = P::DecapsulationKeyBytes::zeroed();
    let bytes = bytes.as_mut();
    let length = data.len().min(bytes.len());
    bytes[..length].copy_from_slice(&data[..length]);
    let key_length = size_of::<P::EncapsulationKeyBytes>();
    let end = bytes.len() - 64;
    let hash = gambeson::sha3::Sha3_256::digest(&bytes[end - key_length..end]);
    bytes[end..end + 32].copy_from_slice(&hash);
    bytes.to_vec()
}

fuzz_target!(|data: &[u8]| {
    import::<MlKem512>(data);
    import::<MlKem768>(data);
    import::<MlKem1024>(data);
    import::<MlKem512>(&mended::<MlKem512>(data));
    import::<MlKem768>(&mended::<MlKem768>(data));
    import::<MlKem1024>(&mended::<MlKem1024>(data));
});
