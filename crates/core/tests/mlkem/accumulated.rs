//! Thousands of random operations, their results in one digest: the scheme of C2SP/CCTV (`ML-KEM/README.md`,
//! accumulated vectors). The figures for 10,000 steps are published there; those for 1,000 were computed with an
//! independent implementation that meets them.

use gambeson::Bytes;
use gambeson::mlkem::*;
use gambeson::sha3::Shake128;

fn accumulate<P: ParameterSet>(steps: usize) -> String {
    let mut input = Shake128::new().finalize_xof();
    let mut output = Shake128::new();
    for step in 0..steps {
        let (mut seed, mut m, mut random_c) = ([0; 64], [0; 32], P::Ciphertext::zeroed());
        input.squeeze(&mut seed);
        input.squeeze(&mut m);
        input.squeeze(random_c.as_mut());

        let expanded = ExpandedDecapsulationKey::<P>::from_seed(&seed);
        let compact = DecapsulationKey::<P>::from_seed(&seed);
        let ek = compact.encapsulation_key();
        let (c, k) = ek.encapsulate_deterministic(&m);
        let rejection = compact.decapsulate(&random_c);
        output.update(ek.as_bytes().as_ref()).update(expanded.to_expanded_bytes().expose());
        output.update(c.as_ref()).update(k.expose()).update(rejection.expose());

        assert_eq!(compact.decapsulate(&c).expose(), k.expose(), "step {step}");
        assert_eq!(expanded.decapsulate(&c).expose(), k.expose(), "step {step}");
        assert_eq!(expanded.decapsulate(&random_c).expose(), rejection.expose(), "step {step}");
        let (expanded_c, _) = expanded.expanded_encapsulation_key().encapsulate_deterministic(&m);
        assert_eq!(expanded_c, c, "step {step}");
        assert_eq!(expanded.encapsulation_key(), ek, "step {step}");
    }
    let mut digest = [0; 32];
    output.finalize_xof().squeeze(&mut digest);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_thousand_steps_have_the_digest() {
    let digests = [accumulate::<MlKem512>(1000), accumulate::<MlKem768>(1000), accumulate::<MlKem1024>(1000)];
    assert_eq!(
        digests,
        [
            "9144b1054d29546b0f7fdd2e48dbb6d68c573dd468845c5e97eb2dba77a8f1e9",
            "5706194c22e3e0977b570e636de7364abce0609b341433cc4eb48062080b7c76",
            "df23d235ef494a38b2de2deda2704bb1312dd88ef6987ec4fc6f08fe5963ed7f",
        ]
    );
}

#[test]
#[ignore = "a minute: run by `cargo xtask test --full`"]
fn ten_thousand_steps_have_the_published_digest() {
    let digests =
        [accumulate::<MlKem512>(10_000), accumulate::<MlKem768>(10_000), accumulate::<MlKem1024>(10_000)];
    assert_eq!(
        digests,
        [
            "705dcffc87f4e67e35a09dcaa31772e86f3341bd3ccf1e78a5fef99ae6a35a13",
            "f959d18d3d1180121433bf0e05f11e7908cf9d03edc150b2b07cb90bef5bc1c1",
            "e3bf82b013307b2e9d47dde791ff6dfc82e694e6382404abdb948b908b75bad5",
        ]
    );
}
