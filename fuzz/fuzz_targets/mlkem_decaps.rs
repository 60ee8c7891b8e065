//! Decapsulation of any ciphertext: compact, prepared and RustCrypto's agree.
#![no_main]

use gambeson::mlkem::*;
use gambeson::{Bytes, Compact};
use libfuzzer_sys::fuzz_target;

macro_rules! decaps {
    ($ours:ty, $theirs:ident, $data:expr) => {{
        use ml_kem::kem::Decapsulate;
        let seed = [11; 64];
        let compact = DecapsulationKey::<Compact<$ours>>::from_seed(&seed);
        // An honest ciphertext, changed as the data says.
        let (mut c, _) = compact.encapsulation_key().encapsulate_deterministic(&[13; 32]);
        for edit in $data.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
            if let Some(byte) = c.get_mut(at) {
                *byte = edit[2];
            }
        }
        let mut raw = <$ours as ParameterSet>::Ciphertext::zeroed();
        let length = $data.len().min(raw.len());
        raw[..length].copy_from_slice(&$data[..length]);
        let prepared = DecapsulationKey::<$ours>::from_seed(&seed);
        let theirs = ml_kem::$theirs::DecapsulationKey::from_seed(seed.into());
        for c in [c, raw] {
            let k = compact.decapsulate(&c);
            assert_eq!(k.expose(), prepared.decapsulate(&c).expose());
            assert_eq!(theirs.decapsulate(&c.into()).as_slice(), k.expose());
        }
    }};
}

fuzz_target!(|data: &[u8]| {
    decaps!(MlKem512, ml_kem_512, data);
    decaps!(MlKem768, ml_kem_768, data);
    decaps!(MlKem1024, ml_kem_1024, data);
});
