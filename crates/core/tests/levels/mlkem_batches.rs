//! The functions for many operations give the results of those for one, under every level that this machine can run.

use crate::LIMIT;
use std::convert::Infallible;

use gambeson::cpu::{self, Level};
use gambeson::mlkem::{
    self, DecapsulationKey, DecapsulationKeyError, EncapsulationKey, EncapsulationKeyRef, MlKem512, MlKem768,
    MlKem1024, ParameterSet, PreparedSet, Recipient,
};
use gambeson::rand_core::{TryCryptoRng, TryRng};
use gambeson::sha3::{Sha3_256, Shake128, Squeeze};
use gambeson::{Bytes, RngError};

const MOST: usize = 64;

/// Every number of operations that leaves other lanes empty, and several groups.
fn counts() -> impl Iterator<Item = usize> {
    (0..=17).chain([MOST])
}

struct Case<P: PreparedSet> {
    key: DecapsulationKey<P>,
    public: EncapsulationKey<P>,
    private: Vec<u8>,
    m: [u8; 32],
    c: P::Ciphertext,
    k: [u8; 32],
}

impl<P: PreparedSet> Case<P> {
    /// The encapsulation key without what is prepared of it.
    fn once(&self) -> EncapsulationKeyRef<'_, P> {
        EncapsulationKeyRef::from_ref(self.public.as_bytes()).expect("our own key")
    }
}

/// Cases whose results the portable table gave.
fn cases<P: PreparedSet>() -> Vec<Case<P>> {
    let mut input = Shake128::new().update(P::NAME.as_bytes()).finalize_xof();
    let case = |_| {
        let (mut seed, mut m) = ([0; 64], [0; 32]);
        input.squeeze(&mut seed);
        input.squeeze(&mut m);
        let key = DecapsulationKey::<P>::from_seed(&seed);
        let public = key.encapsulation_key();
        let (c, k) = public.encapsulate_deterministic(&m);
        let private = key.to_encoded().expose().to_vec();
        Case { key, public, private, m, c, k: *k.expose() }
    };
    (0..MOST).map(case).collect()
}

fn same<C: PartialEq>(sent: &[(C, mlkem::SharedSecret)], expected: &[(C, [u8; 32])]) {
    assert_eq!(sent.len(), expected.len());
    for (i, (ours, expected)) in sent.iter().zip(expected).enumerate() {
        assert!(ours.0 == expected.0 && ours.1.expose() == &expected.1, "{i} of {}", sent.len());
    }
}

fn encapsulations<P: PreparedSet>(cases: &[Case<P>]) {
    let expected: Vec<_> = cases.iter().map(|case| (case.c, case.k)).collect();
    for n in counts() {
        let once: Vec<_> = cases[..n].iter().map(|case| (case.once(), &case.m)).collect();
        same(&mlkem::encapsulate_many_deterministic(&once), &expected[..n]);
        let prepared: Vec<_> = cases[..n].iter().map(|case| (&case.public, &case.m)).collect();
        same(&mlkem::encapsulate_many_deterministic(&prepared), &expected[..n]);
        // One key many times, so that the group reads one matrix.
        let often: Vec<_> = cases[..n].iter().map(|case| (&cases[0].public, &case.m)).collect();
        let alone: Vec<_> = (cases[..n].iter())
            .map(|case| cases[0].public.encapsulate_deterministic(&case.m))
            .map(|(c, k)| (c, *k.expose()))
            .collect();
        same(&mlkem::encapsulate_many_deterministic(&often), &alone);
    }
    for (case, expected) in cases.iter().zip(&expected) {
        same(&[case.once().encapsulate_deterministic(&case.m)], &[*expected]);
    }
}

fn decapsulations<P: PreparedSet>(cases: &[Case<P>]) {
    // What is to be expected of each case with its ciphertext spoilt.
    let spoilt: Vec<_> = (cases.iter().enumerate())
        .map(|(i, case)| {
            let mut c = case.c;
            let length = c.as_ref().len();
            c.as_mut()[i * 97 % length] ^= 1 << (i & 7);
            let k = *case.key.decapsulate(&c).expose();
            assert_ne!(k, case.k);
            assert_eq!(
                DecapsulationKey::<P>::decapsulate_encoded(&case.private, &c).expect("our own key").expose(),
                &k
            );
            (c, k)
        })
        .collect();
    // For each number of operations all good ones, and one spoilt in each lane in turn.
    for n in counts() {
        for wrong in (0..n.min(17)).map(Some).chain([None]) {
            let of = |i: usize| if wrong == Some(i) { spoilt[i] } else { (cases[i].c, cases[i].k) };
            let expected: Vec<_> = (0..n).map(of).collect();
            let items: Vec<_> = cases.iter().zip(&expected).map(|(case, (c, _))| (&case.key, c)).collect();
            let ours = mlkem::decapsulate_many(&items);
            assert!(ours.iter().map(|k| *k.expose()).eq(expected.iter().map(|(_, k)| *k)), "{n}, {wrong:?}");
            let items: Vec<_> =
                cases.iter().zip(&expected).map(|(case, (c, _))| (&case.private[..], c)).collect();
            let ours = mlkem::decapsulate_many_encoded::<P>(&items);
            let ours = ours.into_iter().map(|k| *k.expect("our own key").expose());
            assert!(ours.eq(expected.iter().map(|(_, k)| *k)), "{n}, {wrong:?}");
        }
    }
}

/// Keys of every kind that import refuses, each in every lane: the other operations of the group are not disturbed.
fn refusals<P: PreparedSet>(cases: &[Case<P>]) {
    let good = &cases[0].private;
    let start = good.len() - P::EncapsulationKeyBytes::LEN - 64;
    let mut hash = good.clone();
    hash[start] ^= 1;
    let mut modulus = good.clone();
    modulus[start..start + 2].fill(0xff);
    let h = Sha3_256::digest(&modulus[start..start + P::EncapsulationKeyBytes::LEN]);
    let at = good.len() - 64;
    modulus[at..at + 32].copy_from_slice(&h);
    let (expected, actual) = (good.len(), good.len() - 1);
    for (bad, error) in [
        (&good[1..], DecapsulationKeyError::Length { expected, actual }),
        (&hash, DecapsulationKeyError::Hash),
        (&modulus, DecapsulationKeyError::Modulus),
    ] {
        assert_eq!(DecapsulationKey::<P>::from_encoded(bad).err(), Some(error));
        assert_eq!(DecapsulationKey::<P>::decapsulate_encoded(bad, &cases[0].c).err(), Some(error));
        for n in [1, 2, 9] {
            for place in 0..n {
                let items: Vec<_> = (cases[..n].iter().enumerate())
                    .map(|(i, case)| (if i == place { bad } else { &case.private[..] }, &case.c))
                    .collect();
                let ours = mlkem::decapsulate_many_encoded::<P>(&items);
                for (i, (ours, case)) in ours.iter().zip(cases).enumerate() {
                    match ours {
                        Ok(k) => assert!(i != place && k.expose() == &case.k),
                        Err(found) => assert!(i == place && *found == error),
                    }
                }
            }
        }
    }
}

#[test]
fn many_operations_give_the_results_of_each_alone() {
    let _limit = LIMIT.lock();
    cpu::limit(Level::Portable);
    let sets = (cases::<MlKem512>(), cases::<MlKem768>(), cases::<MlKem1024>());
    let mut ran = 0;
    for level in Level::ALL.iter().copied() {
        cpu::limit(level);
        if cpu::level() != level {
            println!("{level}: not on this machine");
            continue;
        }
        println!("{level}: mlkem {}", mlkem::kernels());
        encapsulations(&sets.0);
        encapsulations(&sets.1);
        encapsulations(&sets.2);
        decapsulations(&sets.0);
        decapsulations(&sets.1);
        decapsulations(&sets.2);
        refusals(&sets.0);
        refusals(&sets.1);
        refusals(&sets.2);
        randomness(&sets.0);
        randomness(&sets.1);
        randomness(&sets.2);
        ran += 1;
    }
    assert!(ran >= 1);
    println!("{ran} tables ran");
}

struct Stream(Squeeze);

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("bytes are asked for")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("bytes are asked for")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.squeeze(out);
        Ok(())
    }
}

impl TryCryptoRng for Stream {}

/// A generator that gives three messages, and then no more.
struct Failing(usize);

impl TryRng for Failing {
    type Error = RngError;

    fn try_next_u32(&mut self) -> Result<u32, RngError> {
        unreachable!("bytes are asked for")
    }

    fn try_next_u64(&mut self) -> Result<u64, RngError> {
        unreachable!("bytes are asked for")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), RngError> {
        out.fill(5);
        self.0 = self.0.checked_sub(1).ok_or(RngError)?;
        Ok(())
    }
}

impl TryCryptoRng for Failing {}

fn randomness<P: PreparedSet>(cases: &[Case<P>]) {
    fn sends<K: Recipient>(
        keys: &[K],
    ) -> Vec<(<K::Parameters as ParameterSet>::Ciphertext, mlkem::SharedSecret)> {
        let mut rng = Stream(Shake128::new().finalize_xof());
        let Ok(sent) = mlkem::encapsulate_many_with(keys, &mut rng);
        assert_eq!(mlkem::encapsulate_many_with(&keys[..4], &mut Failing(3)).err(), Some(RngError));
        assert!(mlkem::encapsulate_many_with(&keys[..3], &mut Failing(3)).is_ok());
        sent
    }
    let mut rng = Stream(Shake128::new().finalize_xof());
    let expected: Vec<_> = (cases[..11].iter())
        .map(|case| {
            let Ok((c, k)) = case.public.encapsulate_with(&mut rng);
            (c, *k.expose())
        })
        .collect();
    let once: Vec<_> = cases[..11].iter().map(Case::once).collect();
    same(&sends(&once), &expected);
    let prepared: Vec<&EncapsulationKey<P>> = cases[..11].iter().map(|case| &case.public).collect();
    same(&sends(&prepared), &expected);
    let Ok((c, k)) = cases[0].once().encapsulate_with(&mut Stream(Shake128::new().finalize_xof()));
    same(&[(c, k)], &expected[..1]);

    // The operating system's: each secret is another.
    let sent = mlkem::encapsulate_many(&once).expect("the operating system has randomness");
    for (i, (c, k)) in sent.iter().enumerate() {
        assert_eq!(cases[i].key.decapsulate(c).expose(), k.expose());
        assert!(sent[..i].iter().all(|(_, other)| other.expose() != k.expose()));
    }
    let (c, k) = cases[0].once().encapsulate().expect("the operating system has randomness");
    assert_eq!(cases[0].key.decapsulate(&c).expose(), k.expose());
}
