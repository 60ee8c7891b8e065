//! HQC under every level that this machine can run.

#[path = "../suite/hqc/vectors.rs"]
mod vectors;

use crate::LIMIT;
use gambeson::cpu::{self, Level};
use gambeson::hqc::{self, DecapsulationKey, EncapsulationKeyRef, ParameterSet, Profile};
use gambeson::sha3::Shake128;

/// The sets in both profiles.
fn sets() -> impl Iterator<Item = ParameterSet> {
    let profiles = [Profile::Reference2026, Profile::V5_0_0];
    profiles
        .into_iter()
        .flat_map(|profile| ParameterSet::ALL.iter().map(move |set| set.with_profile(profile)))
}

/// Keys, ciphertexts, secrets and rejection secrets, in one digest.
fn accumulate() -> [u8; 32] {
    let (mut input, mut output) = (Shake128::new().update(b"hqc").finalize_xof(), Shake128::new());
    for set in sets() {
        for _ in 0..12 {
            let (mut seed, mut m, mut salt) = ([0; 32], vec![0; set.message_len()], [0; 16]);
            for bytes in [&mut seed[..], &mut m, &mut salt] {
                input.squeeze(bytes);
            }
            let dk = DecapsulationKey::from_seed(set, &seed);
            let ek = dk.encapsulation_key();
            let (mut c, shared) = ek.encapsulate_deterministic(&m, &salt).expect("a message of this length");
            output.update(dk.to_encoded().expose()).update(&c).update(shared.expose());
            assert_eq!(
                dk.decapsulate(&c).expect("the length of the set").expose(),
                shared.expose(),
                "{set:?}"
            );
            let once = EncapsulationKeyRef::from_ref(set, ek.as_bytes()).expect("our own key");
            assert_eq!(once.encapsulate_deterministic(&m, &salt).expect("as above").0, c);
            c[7] ^= 16;
            output.update(dk.decapsulate(&c).expect("the length of the set").expose());
            // Nothing but noise, of which the decoder makes anything.
            input.squeeze(&mut c);
            output.update(dk.decapsulate(&c).expect("the length of the set").expose());
        }
    }
    let mut digest = [0; 32];
    output.finalize_xof().squeeze(&mut digest);
    digest
}

#[test]
fn every_table_of_hqc_gives_the_results_of_the_portable_one_and_the_published_ones() {
    let _limit = LIMIT.lock();
    cpu::limit(Level::Portable);
    assert_eq!(hqc::kernels(), Level::Portable);
    let expected = accumulate();
    // A key that one table made serves another: nothing in it depends on the table.
    let keys: Vec<_> = sets().map(|set| DecapsulationKey::from_seed(set, &[7; 32])).collect();
    let publics: Vec<_> = keys.iter().map(DecapsulationKey::encapsulation_key).collect();
    publics.iter().for_each(hqc::EncapsulationKey::prepare);
    let mut ran = 0;
    for level in Level::ALL.iter().copied() {
        cpu::limit(level);
        if cpu::level() != level {
            continue;
        }
        println!("{level}: {}", hqc::kernels());
        assert_eq!(accumulate(), expected, "{level}");
        vectors::run_all();
        let messages: Vec<_> = publics.iter().map(|ek| vec![8; ek.parameter_set().message_len()]).collect();
        let items: Vec<_> =
            publics.iter().zip(&messages).map(|(ek, m)| (ek, m.as_slice(), &[9; 16])).collect();
        let sent = hqc::encapsulate_many_deterministic(&items).unwrap();
        let received: Vec<_> = keys.iter().zip(&sent).map(|(dk, (c, _))| (dk, c.as_slice())).collect();
        for (shared, (_, sent)) in hqc::decapsulate_many(&received).into_iter().zip(&sent) {
            assert_eq!(shared.unwrap().expose(), sent.expose(), "{level}");
        }
        ran += 1;
    }
    cpu::limit(Level::Avx512);
    assert!(ran >= 1);
}
