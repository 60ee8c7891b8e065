//! Key generation and encapsulation from any seeds, and encapsulation to any key: the same as RustCrypto's.
#![no_main]

use gambeson::mlkem::*;
use gambeson::{Bytes, Compact};
use libfuzzer_sys::fuzz_target;

macro_rules! differential {
    ($ours:ty, $theirs:ident, $seed:expr, $m:expr, $data:expr) => {{
        use ml_kem::kem::{Decapsulate, KeyExport};
        let key = DecapsulationKey::<$ours>::from_seed(&$seed);
        // Both in their compact form, this one and the changed one below.
        let public = EncapsulationKey::<Compact<$ours>>::from_bytes(key.encapsulation_key().as_bytes());
        let public = public.expect("our own key");
        let (c, k) = public.encapsulate_deterministic(&$m);
        let their_key = ml_kem::$theirs::DecapsulationKey::from_seed($seed.into());
        let their_public = their_key.encapsulation_key();
        assert_eq!(their_public.to_bytes().as_slice(), public.as_bytes());
        let (their_c, their_k) = their_public.encapsulate_deterministic(&$m.into());
        assert_eq!((their_c.as_slice(), their_k.as_slice()), (&c[..], &k.expose()[..]));
        assert_eq!(their_key.decapsulate(&c.into()).as_slice(), key.decapsulate(&c).expose());
        // Both take or refuse the same keys.
        let mut bytes = *public.as_bytes();
        for edit in $data.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = edit[2];
            }
        }
        let ours = EncapsulationKey::<Compact<$ours>>::from_bytes(&bytes).ok();
        let theirs = ml_kem::$theirs::EncapsulationKey::new(&bytes.into()).ok();
        assert_eq!(ours.is_some(), theirs.is_some());
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            let (c, k) = ours.encapsulate_deterministic(&$m);
            let (their_c, their_k) = theirs.encapsulate_deterministic(&$m.into());
            assert_eq!((their_c.as_slice(), their_k.as_slice()), (&c[..], &k.expose()[..]));
        }
    }};
}

fuzz_target!(|data: &[u8]| {
    let (mut seed, mut m) = (<[u8; 64]>::zeroed(), [0; 32]);
    gambeson::sha3::Shake128::digest_into(data, &mut seed);
    gambeson::sha3::Shake256::digest_into(data, &mut m);
    differential!(MlKem512, ml_kem_512, seed, m, data);
    differential!(MlKem768, ml_kem_768, seed, m, data);
    differential!(MlKem1024, ml_kem_1024, seed, m, data);
});
