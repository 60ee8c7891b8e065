//! Keys and deterministic signatures from any seed, message and context: the same as RustCrypto's.
#![no_main]

use gambeson::Compact;
use gambeson::mldsa::*;
use libfuzzer_sys::fuzz_target;

macro_rules! differential {
    ($set:ident, $seed:expr, $message:expr, $context:expr) => {{
        let compact = SigningKey::<Compact<$set>>::from_seed(&$seed);
        let prepared = SigningKey::<$set>::from_seed(&$seed);
        let theirs = ml_dsa::SigningKey::<ml_dsa::$set>::from_seed(&$seed.into());
        let public = compact.verifying_key();
        let their_public = AsRef::<ml_dsa::VerifyingKey<ml_dsa::$set>>::as_ref(&theirs);
        assert_eq!(their_public.encode().as_slice(), public.as_bytes());
        let message = || Message::pure($message, $context).expect("the context is short enough");
        let signature = compact.sign_deterministic(message());
        assert!(signature == prepared.sign_deterministic(message()));
        let their_signature = theirs.expanded_key().sign_deterministic($message, $context).expect("the same");
        assert_eq!(their_signature.encode().as_slice(), &signature[..]);
        public.verify(message(), &signature).expect("our own signature");
    }};
}

fuzz_target!(|data: &[u8]| {
    let mut seed = [0; 32];
    gambeson::sha3::Shake256::digest_into(data, &mut seed);
    let (context, message) = data.split_at(data.len().min(255) >> 1);
    differential!(MlDsa44, seed, message, context);
    differential!(MlDsa65, seed, message, context);
    differential!(MlDsa87, seed, message, context);
});
