//! Thousands of random operations, their results in one digest: the scheme of C2SP/CCTV (`ML-KEM/README.md`,
//! accumulated vectors). The figures for 10,000 steps are published there; those for 1,000 were computed with an
//! independent implementation that meets them.

use gambeson::mlkem::*;
use gambeson::sha3::Shake128;
use gambeson::{Bytes, Compact, Small, Workspace};

use super::FormOf;

fn accumulate<P: PreparedSet, F: FormOf<P>>(steps: usize) -> String {
    let mut input = Shake128::new().finalize_xof();
    let mut output = Shake128::new();
    let mut workspace = Workspace::new();
    for step in 0..steps {
        let (mut seed, mut m, mut random_c) = ([0; 64], [0; 32], P::Ciphertext::zeroed());
        input.squeeze(&mut seed);
        input.squeeze(&mut m);
        input.squeeze(random_c.as_mut());

        let prepared = DecapsulationKey::<P>::from_seed(&seed);
        let compact = DecapsulationKey::<F>::from_seed(&seed);
        let ek = compact.encapsulation_key();
        let (c, k) = ek.encapsulate_deterministic(&m);
        let rejection = compact.decapsulate(&random_c);
        output.update(ek.as_bytes().as_ref()).update(prepared.to_encoded().expose());
        output.update(c.as_ref()).update(k.expose()).update(rejection.expose());

        assert_eq!(compact.decapsulate(&c).expose(), k.expose(), "step {step}");
        assert_eq!(prepared.decapsulate(&c).expose(), k.expose(), "step {step}");
        assert_eq!(prepared.decapsulate(&random_c).expose(), rejection.expose(), "step {step}");
        let prepared_ek = prepared.encapsulation_key();
        assert_eq!(prepared_ek.encapsulate_deterministic(&m).0, c, "step {step}");
        assert_eq!(prepared_ek.as_bytes(), ek.as_bytes(), "step {step}");
        into_the_callers_memory::<F>(&seed, &m, prepared.to_encoded().expose(), &c, &k);
        into_the_callers_memory::<F>(&seed, &m, prepared.to_encoded().expose(), &random_c, &rejection);
        let dk = prepared.to_encoded();
        let made = in_a_workspace::<P>(&seed, &m, dk.expose(), &random_c, &mut workspace);
        assert_eq!(made, (*ek.as_bytes(), c, *k.expose(), *rejection.expose()), "step {step}");
    }
    let mut digest = [0; 32];
    output.finalize_xof().squeeze(&mut digest);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The doors that write where the caller says: what they find there does not matter.
fn into_the_callers_memory<P: ParameterSet>(
    seed: &[u8; 64],
    m: &[u8; 32],
    dk: &[u8],
    c: &P::Ciphertext,
    expected: &SharedSecret,
) {
    let mut ek = P::EncapsulationKeyBytes::zeroed();
    ek.as_mut().fill(0xa5);
    let key = DecapsulationKey::<P>::from_seed_into(seed, &mut ek);
    let mut again = P::EncapsulationKeyBytes::zeroed();
    again.as_mut().fill(0x5a);
    key.encapsulation_key_into(&mut again);
    assert_eq!(ek.as_ref(), &dk[dk.len() - 64 - ek.as_ref().len()..][..ek.as_ref().len()]);
    assert_eq!(ek, again);

    let mut shared = SharedSecret::new([0xa5; 32]);
    key.decapsulate_into(c, &mut shared);
    assert_eq!(shared.expose(), expected.expose());
    let mut shared = SharedSecret::new([0xa5; 32]);
    DecapsulationKeyRef::<P>::from_ref(dk).expect("a key").decapsulate_into(c, &mut shared);
    assert_eq!(shared.expose(), expected.expose());

    let mut made = P::Ciphertext::zeroed();
    made.as_mut().fill(0xa5);
    let (again, k) = key.encapsulation_key().encapsulate_deterministic(m);
    EncapsulationKeyRef::<P>::from_ref(&ek).expect("a key").encapsulate_deterministic_into(
        m,
        &mut made,
        &mut shared,
    );
    assert_eq!((made, shared.expose()), (again, k.expose()));
}

/// By the doors that work in a workspace: ek, the ciphertext of `m`, its secret, and that of `random_c`.
fn in_a_workspace<P: ParameterSet>(
    seed: &[u8; 64],
    m: &[u8; 32],
    dk: &[u8],
    random_c: &P::Ciphertext,
    workspace: &mut Workspace<P>,
) -> (P::EncapsulationKeyBytes, P::Ciphertext, [u8; 32], [u8; 32]) {
    let (mut ek, mut again) = (P::EncapsulationKeyBytes::zeroed(), P::EncapsulationKeyBytes::zeroed());
    let key = DecapsulationKey::<Small<P>>::from_seed_in(seed, Some(&mut ek), workspace);
    DecapsulationKey::<Small<P>>::from_seed_in(seed, None, workspace)
        .encapsulation_key_in(&mut again, workspace);
    assert_eq!(ek, again);
    let encoded = DecapsulationKeyRef::<Small<P>>::from_ref_in(dk, workspace).expect("a key");
    let mut c = P::Ciphertext::zeroed();
    let [mut k, mut rejection, mut same] = [const { SharedSecret::new([0xa5; 32]) }; 3];
    let public = EncapsulationKeyRef::<Small<P>>::from_ref(&ek).expect("a key");
    public.encapsulate_deterministic_in(m, &mut c, &mut k, workspace);
    key.decapsulate_in(random_c, &mut rejection, workspace);
    for (c, expected) in [(&c, &k), (random_c, &rejection)] {
        encoded.decapsulate_in(c, &mut same, workspace);
        assert_eq!(same.expose(), expected.expose());
    }
    key.decapsulate_in(&c, &mut same, workspace);
    assert_eq!(same.expose(), k.expose());
    // H(ek) inside is part of the check.
    let mut wrong = dk.to_vec();
    wrong[dk.len() - 40] ^= 1;
    assert!(DecapsulationKeyRef::<Small<P>>::from_ref_in(&wrong, workspace).is_err());
    (ek, c, *k.expose(), *rejection.expose())
}

#[test]
fn a_thousand_steps_have_the_digest() {
    let digests = [
        "9144b1054d29546b0f7fdd2e48dbb6d68c573dd468845c5e97eb2dba77a8f1e9",
        "5706194c22e3e0977b570e636de7364abce0609b341433cc4eb48062080b7c76",
        "df23d235ef494a38b2de2deda2704bb1312dd88ef6987ec4fc6f08fe5963ed7f",
    ];
    let of_compact = [
        accumulate::<MlKem512, Compact<MlKem512>>(1000),
        accumulate::<MlKem768, Compact<MlKem768>>(1000),
        accumulate::<MlKem1024, Compact<MlKem1024>>(1000),
    ];
    assert_eq!(of_compact, digests);
    let of_small = [
        accumulate::<MlKem512, Small<MlKem512>>(1000),
        accumulate::<MlKem768, Small<MlKem768>>(1000),
        accumulate::<MlKem1024, Small<MlKem1024>>(1000),
    ];
    assert_eq!(of_small, digests);
    let of_prepared = [
        accumulate::<MlKem512, MlKem512>(1000),
        accumulate::<MlKem768, MlKem768>(1000),
        accumulate::<MlKem1024, MlKem1024>(1000),
    ];
    assert_eq!(of_prepared, digests);
}

#[test]
#[ignore = "a minute: run by `cargo xtask test --full`"]
fn ten_thousand_steps_have_the_published_digest() {
    let digests = [
        accumulate::<MlKem512, Compact<MlKem512>>(10_000),
        accumulate::<MlKem768, Compact<MlKem768>>(10_000),
        accumulate::<MlKem1024, Compact<MlKem1024>>(10_000),
    ];
    assert_eq!(
        digests,
        [
            "705dcffc87f4e67e35a09dcaa31772e86f3341bd3ccf1e78a5fef99ae6a35a13",
            "f959d18d3d1180121433bf0e05f11e7908cf9d03edc150b2b07cb90bef5bc1c1",
            "e3bf82b013307b2e9d47dde791ff6dfc82e694e6382404abdb948b908b75bad5",
        ]
    );
}
