//! ML-DSA under every level that this machine can run.

use crate::LIMIT;
use gambeson::Compact;
use gambeson::cpu::{self, Level};
use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, PreparedSet, SigningKey, VerifyingKeyRef};
use gambeson::sha3::Shake128;

// Peers take minutes to build; the gate for aarch64 leaves them out.
#[cfg(not(gambeson_without_peers))]
mod differential;
#[cfg(not(gambeson_without_peers))]
#[path = "../suite/mldsa/stream.rs"]
mod stream;
#[path = "../suite/mldsa/wycheproof.rs"]
mod wycheproof;

/// The accumulated runs of C2SP/CCTV, a hundred steps, as in `mldsa/accumulated.rs`; every door must agree.
fn accumulate<P: PreparedSet>(digest: &str) {
    let mut seeds = Shake128::new().finalize_xof();
    let mut accumulator = Shake128::new();
    for step in 0..100 {
        let mut seed = [0; 32];
        seeds.squeeze(&mut seed);
        let key = SigningKey::<P>::from_seed(&seed);
        let public = key.verifying_key();
        let signature = key.sign_deterministic(b"");
        accumulator.update(public.as_bytes().as_ref()).update(signature.as_ref());
        let once = VerifyingKeyRef::<P>::from_ref(public.as_bytes());
        once.verify(b"", signature.as_ref()).expect("our own signature verifies");
        public.verify(b"", signature.as_ref()).expect("at the first use as well");
        public.prepare();
        public.verify(b"", signature.as_ref()).expect("by the prepared key as well");
        assert!(once.verify(b"x", signature.as_ref()).is_err());
        assert!(public.verify(b"x", signature.as_ref()).is_err());
        if step < 5 {
            let compact = SigningKey::<Compact<P>>::from_seed(&seed);
            assert_eq!(compact.verifying_key().as_bytes(), public.as_bytes());
            assert_eq!(compact.sign_deterministic(b""), signature);
            compact.verifying_key().verify(b"", signature.as_ref()).expect("by the compact key as well");
            let bytes = key.to_encoded();
            let imported = SigningKey::<P>::from_encoded(bytes.expose()).expect("our own key");
            assert_eq!(imported.verifying_key(), public);
            assert_eq!(imported.sign_deterministic(b""), signature);
        }
    }
    let mut out = [0; 32];
    accumulator.finalize_xof().squeeze(&mut out);
    let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, digest, "{} under {}", P::NAME, cpu::level());
}

/// Signs and verifies with keys that were made under other levels.
fn across_levels<P: PreparedSet>(levels: &[Level]) {
    let under = |level: &Level| {
        cpu::limit(*level);
        SigningKey::<P>::from_seed(&[9; 32])
    };
    let keys: Vec<_> = levels.iter().map(under).collect();
    let prepared = levels.iter().zip(&keys).map(|(level, key)| {
        cpu::limit(*level);
        let public = key.verifying_key();
        public.prepare();
        public
    });
    let prepared: Vec<_> = prepared.collect();
    let expected = keys[0].sign_deterministic(b"across");
    for level in levels {
        cpu::limit(*level);
        for (key, public) in keys.iter().zip(&prepared) {
            assert_eq!(key.sign_deterministic(b"across"), expected);
            public.verify(b"across", expected.as_ref()).expect("our own signature verifies");
            assert_eq!(key.to_encoded().expose(), keys[0].to_encoded().expose());
        }
    }
}

#[test]
fn every_level_gives_the_published_digests_and_takes_the_keys_of_the_others() {
    let _limit = LIMIT.lock();
    let levels: Vec<Level> = Level::ALL
        .iter()
        .copied()
        .filter(|level| {
            cpu::limit(*level);
            cpu::level() == *level
        })
        .collect();
    // Under emulation, which takes minutes of it, the table of the processor alone: the portable one is tested everywhere else.
    let alone = if cfg!(gambeson_without_peers) { levels.len() - 1 } else { 0 };
    for level in &levels[alone..] {
        cpu::limit(*level);
        println!("{level}: the table of {}", mldsa::kernels());
        accumulate::<MlDsa44>("d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4");
        accumulate::<MlDsa65>("8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199");
        wycheproof::run_all();
        #[cfg(not(gambeson_without_peers))]
        differential::run_all();
        accumulate::<MlDsa87>("8c3ad714777622b8f21ce31bb35f71394f23bc0fcf3c78ace5d608990f3b061b");
    }
    across_levels::<MlDsa44>(&levels);
    across_levels::<MlDsa65>(&levels);
    across_levels::<MlDsa87>(&levels);
}
