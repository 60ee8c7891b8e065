//! ML-KEM by every door.

use super::agreed;
use super::case::{Case, OfKem};
use alloc::vec::Vec;
use gambeson::mlkem::{
    DecapsulationKey, DecapsulationKeyRef, EncapsulationKey, EncapsulationKeyRef, ParameterSet, PreparedSet,
    SharedSecret,
};
use gambeson::sha3::Shake128;
use gambeson::{Bytes, Compact, Small, Workspace};

/// Steps of a digest in which every door is asked; later ones ask a door in turn.
const BY_ALL: usize = 100;

/// Whether what the case gives is accepted, and gives what the case expects.
pub fn run<P: PreparedSet>(kind: OfKem, case: &Case) -> bool {
    let expects = |number, found: &[u8]| case.field(number).is_none_or(|expected| expected == found);
    match kind {
        OfKem::Accumulated => {
            let (steps, digest) = case.steps();
            accumulated::<P>(steps) == digest
        }
        OfKem::Encapsulation => {
            let Ok(ek) = P::EncapsulationKeyBytes::try_from(case.known(0)) else { return false };
            let m = case.known(1).try_into().expect("32 bytes");
            encapsulated::<P>(None, &ek, m).is_some_and(|(c, k)| expects(2, c.as_ref()) && expects(3, &k))
        }
        OfKem::Decapsulation => {
            let Ok(c) = P::Ciphertext::try_from(case.known(1)) else { return false };
            decapsulated_by_dk::<P>(None, case.known(0), &c).is_some_and(|k| expects(2, &k))
        }
        OfKem::Seed => {
            let Ok(seed) = case.known(0).try_into() else { return false };
            let (ek, dk) = keys::<P>(None, seed);
            let right = expects(1, ek.as_ref()) && expects(2, &dk);
            match case.field(3).map(P::Ciphertext::try_from) {
                None => right,
                Some(Ok(c)) => right && expects(4, &decapsulated::<P>(None, seed, &c)),
                Some(Err(_)) => false,
            }
        }
    }
}

/// The digest of many steps: key, ciphertext, and the secret of a random ciphertext, which is rejected (C2SP/CCTV, `ML-KEM/README.md`).
fn accumulated<P: PreparedSet>(steps: usize) -> [u8; 32] {
    let mut input = Shake128::new().finalize_xof();
    let mut output = Shake128::new();
    for step in 0..steps {
        let (mut seed, mut m, mut random_c) = ([0; 64], [0; 32], P::Ciphertext::zeroed());
        input.squeeze(&mut seed);
        input.squeeze(&mut m);
        input.squeeze(random_c.as_mut());
        let only = (step >= BY_ALL).then_some(step);
        let (ek, dk) = keys::<P>(only, &seed);
        let (c, k) = encapsulated::<P>(only, &ek, &m).expect("our own key");
        let rejection = decapsulated::<P>(only, &seed, &random_c);
        output.update(ek.as_ref()).update(&dk).update(c.as_ref()).update(&k).update(&rejection);
        assert!(decapsulated::<P>(only, &seed, &c) == k, "the secret of step {step} is another");
        for (c, expected) in [(c, k), (random_c, rejection)] {
            let found = decapsulated_by_dk::<P>(only, &dk, &c);
            assert!(found == Some(expected), "the secret by dk of step {step} is another");
        }
    }
    let mut digest = [0; 32];
    output.finalize_xof().squeeze(&mut digest);
    digest
}

/// What `work` writes.
fn shared(work: impl FnOnce(&mut SharedSecret)) -> [u8; 32] {
    let mut shared = SharedSecret::new([0; 32]);
    work(&mut shared);
    *shared.expose()
}

/// ek and dk.
fn keys<P: PreparedSet>(only: Option<usize>, seed: &[u8; 64]) -> (P::EncapsulationKeyBytes, Vec<u8>) {
    let written = |work: &dyn Fn(&mut P::EncapsulationKeyBytes)| {
        let mut ek = P::EncapsulationKeyBytes::zeroed();
        work(&mut ek);
        ek
    };
    let prepared = DecapsulationKey::<P>::from_seed(seed);
    let ek = agreed(
        only,
        [
            &|| written(&|ek| _ = DecapsulationKey::<Compact<P>>::from_seed_into(seed, ek)),
            &|| written(&|ek| _ = DecapsulationKey::<Small<P>>::from_seed_into(seed, ek)),
            &|| {
                written(&|ek| {
                    _ = DecapsulationKey::<Small<P>>::from_seed_in(seed, Some(ek), &mut Workspace::default())
                })
            },
            &|| *prepared.encapsulation_key().as_bytes(),
        ],
    );
    // One that was made without its public key makes the same later.
    let again = |seed| *DecapsulationKey::<Compact<P>>::from_seed(seed).encapsulation_key().as_bytes();
    assert!(only.is_some() || again(seed) == ek, "the public key made later is another");
    (ek, prepared.to_encoded().expose().to_vec())
}

/// c and K, if the key is one.
fn encapsulated<P: PreparedSet>(
    only: Option<usize>,
    ek: &P::EncapsulationKeyBytes,
    m: &[u8; 32],
) -> Option<(P::Ciphertext, [u8; 32])> {
    fn by<P: ParameterSet>(ek: &P::EncapsulationKeyBytes, m: &[u8; 32]) -> Option<(P::Ciphertext, [u8; 32])> {
        let ek = EncapsulationKeyRef::<P>::from_ref(ek).ok()?;
        let mut c = P::Ciphertext::zeroed();
        let k = shared(|k| ek.encapsulate_deterministic_into(m, &mut c, k));
        Some((c, k))
    }
    agreed(
        only,
        [
            &|| by::<Compact<P>>(ek, m),
            &|| by::<Small<P>>(ek, m),
            &|| {
                let ek = EncapsulationKeyRef::<Small<P>>::from_ref(ek).ok()?;
                let mut c = P::Ciphertext::zeroed();
                let k = shared(|k| ek.encapsulate_deterministic_in(m, &mut c, k, &mut Workspace::default()));
                Some((c, k))
            },
            &|| {
                let ek = EncapsulationKey::<P>::from_bytes(ek).ok()?;
                ek.prepare();
                let (c, k) = ek.encapsulate_deterministic(m);
                Some((c, *k.expose()))
            },
        ],
    )
}

/// K by the key of the seed.
fn decapsulated<P: PreparedSet>(only: Option<usize>, seed: &[u8; 64], c: &P::Ciphertext) -> [u8; 32] {
    agreed(
        only,
        [
            &|| shared(|k| DecapsulationKey::<Compact<P>>::from_seed(seed).decapsulate_into(c, k)),
            &|| shared(|k| DecapsulationKey::<Small<P>>::from_seed(seed).decapsulate_into(c, k)),
            &|| {
                let workspace = &mut Workspace::default();
                let dk = DecapsulationKey::<Small<P>>::from_seed_in(seed, None, workspace);
                shared(|k| dk.decapsulate_in(c, k, workspace))
            },
            &|| *DecapsulationKey::<P>::from_seed(seed).decapsulate(c).expose(),
        ],
    )
}

/// The same by the key in the standard's encoding, if it is one.
fn decapsulated_by_dk<P: PreparedSet>(only: Option<usize>, dk: &[u8], c: &P::Ciphertext) -> Option<[u8; 32]> {
    agreed(
        only,
        [
            &|| {
                let dk = DecapsulationKeyRef::<Compact<P>>::from_ref(dk).ok()?;
                Some(shared(|k| dk.decapsulate_into(c, k)))
            },
            &|| {
                let dk = DecapsulationKeyRef::<Small<P>>::from_ref(dk).ok()?;
                Some(shared(|k| dk.decapsulate_into(c, k)))
            },
            &|| {
                let workspace = &mut Workspace::default();
                let dk = DecapsulationKeyRef::<Small<P>>::from_ref_in(dk, workspace).ok()?;
                Some(shared(|k| dk.decapsulate_in(c, k, workspace)))
            },
            &|| Some(*DecapsulationKey::<P>::from_encoded(dk).ok()?.decapsulate(c).expose()),
        ],
    )
}
