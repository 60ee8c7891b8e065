//! Every kernel table that this machine can run gives the same accumulated digests, passes Wycheproof, and agrees with
//! other implementations.

use crate::LIMIT;
use gambeson::cpu::{self, Level};
use gambeson::mlkem::{
    self, DecapsulationKey, EncapsulationKeyRef, MlKem512, MlKem768, MlKem1024, PreparedSet,
};
use gambeson::sha3::{self, Shake128};
use gambeson::{Bytes, Compact};

// Peers take minutes to build; the gate for aarch64 leaves them out.
#[cfg(not(gambeson_without_peers))]
mod differential;
#[path = "../suite/mlkem/wycheproof.rs"]
mod wycheproof;

/// What others published, and what they compute, under the tables in force.
fn others() {
    wycheproof::run_all();
    #[cfg(not(gambeson_without_peers))]
    differential::run_all();
}

/// Keys, ciphertexts and secrets of both forms, in one digest.
fn accumulate<P: PreparedSet>(steps: usize) -> [u8; 32] {
    let mut input = Shake128::new().update(P::NAME.as_bytes()).finalize_xof();
    let mut output = Shake128::new();
    for _ in 0..steps {
        let (mut seed, mut m, mut random_c) = ([0; 64], [0; 32], P::Ciphertext::zeroed());
        input.squeeze(&mut seed);
        input.squeeze(&mut m);
        input.squeeze(random_c.as_mut());
        let compact = DecapsulationKey::<Compact<P>>::from_seed(&seed);
        let prepared = DecapsulationKey::<P>::from_seed(&seed);
        let ek = prepared.encapsulation_key();
        let (c, k) = ek.encapsulate_deterministic(&m);
        let once = EncapsulationKeyRef::<P>::from_ref(ek.as_bytes()).expect("our own key");
        assert_eq!(once.encapsulate_deterministic(&m).0, c);
        output.update(prepared.to_encoded().expose()).update(c.as_ref()).update(k.expose());
        output.update(prepared.decapsulate(&random_c).expose());
        assert_eq!(compact.decapsulate(&c).expose(), k.expose());
        assert_eq!(compact.encapsulation_key().encapsulate_deterministic(&m).0, c);
        assert_eq!(prepared.decapsulate(&c).expose(), k.expose());
        let imported = DecapsulationKey::<P>::from_encoded(prepared.to_encoded().expose());
        assert_eq!(imported.expect("our own key").decapsulate(&c).expose(), k.expose());
    }
    let mut digest = [0; 32];
    output.finalize_xof().squeeze(&mut digest);
    digest
}

#[test]
fn every_table_gives_the_results_of_the_portable_one() {
    let _limit = LIMIT.lock();
    let run = || [accumulate::<MlKem512>(300), accumulate::<MlKem768>(300), accumulate::<MlKem1024>(300)];
    cpu::limit(Level::Portable);
    assert_eq!([sha3::kernels(), mlkem::kernels()], [Level::Portable; 2]);
    let expected = run();
    others();
    // A key that one table made serves another: nothing in it depends on the table.
    let made_by_portable = DecapsulationKey::<MlKem768>::from_seed(&[7; 64]);
    let (c, k) = made_by_portable.encapsulation_key().encapsulate_deterministic(&[8; 32]);
    let mut ran = 1;
    for level in [Level::Neon, Level::Avx2, Level::Avx512] {
        cpu::limit(level);
        if cpu::level() != level {
            println!("{level}: not on this machine");
            continue;
        }
        println!("{level}: sha3 {}, mlkem {}", sha3::kernels(), mlkem::kernels());
        assert!(run() == expected, "{level}");
        others();
        assert_eq!(made_by_portable.decapsulate(&c).expose(), k.expose(), "{level}");
        ran += 1;
    }
    assert!(ran >= 1);
    println!("{ran} tables ran");
}
