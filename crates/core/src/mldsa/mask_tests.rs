//! Masks of signatures, recovered with the private key: no coefficients repeat, within a signature or between two.
//!
//! A signature whose mask y repeats leaks the key: z - z′ = (c - c′)·s1, and s1 follows from one such pair. Such signatures verify,
//! so only known answers and this test see the fault. Both faults are planted here with every table of kernels.

use std::collections::HashSet;
use std::vec::Vec;

use super::dsa::{Seeds, SigningForm, sign};
use super::encode;
use super::kernels::{Kernels, PORTABLE, tests::tables};
use super::message::Message;
use super::params::{ParameterSet, sealed::Parameters};
use super::ring::{Poly, Q};
use super::sample::{EachMask, Masks, sample_a};
use super::{MlDsa44, MlDsa65, MlDsa87, SigningKey};
use crate::Bytes;

/// Consecutive coefficients that are compared: 72 bits or more.
const WINDOW: usize = 4;
/// Signatures by each form of the key.
const SIGNATURES: u8 = 4;

/// Faults of a mask that leave a signature valid.
#[derive(Clone, Copy)]
enum Fault {
    None,
    /// The second half of each polynomial is its first half.
    RepeatedHalf,
    /// Every second polynomial is the one before it.
    RepeatedPolynomial,
    /// The masks do not depend on ρ″, so all messages have the same.
    SharedByMessages,
}

/// Masks with a planted fault; the number is that of a [`Fault`].
struct FaultyMasks<'a, const FAULT: u8> {
    masks: EachMask<'a>,
    /// A polynomial that is to come once more.
    pending: Option<Vec<u8>>,
}

impl<'a, const FAULT: u8> Masks<'a> for FaultyMasks<'a, FAULT> {
    fn new(rho_second: &'a [u8; 64]) -> Self {
        let shared = FAULT == Fault::SharedByMessages as u8;
        Self { masks: EachMask::new(if shared { &[7; 64] } else { rho_second }), pending: None }
    }

    fn next(&mut self, packed: &mut [u8]) {
        if let Some(pending) = self.pending.take() {
            packed.copy_from_slice(&pending);
            return;
        }
        self.masks.next(packed);
        if FAULT == Fault::RepeatedPolynomial as u8 {
            self.pending = Some(packed.to_vec());
        }
        if FAULT == Fault::RepeatedHalf as u8 {
            let (low, high) = packed.split_at_mut(packed.len() >> 1);
            high.copy_from_slice(low);
        }
    }

    fn challenge<P: Parameters>(
        &mut self,
        mu: &[u8; 64],
        pack_row: impl FnMut(usize, &mut [u8]),
        c_tilde: &mut [u8],
    ) {
        self.masks.challenge::<P>(mu, pack_row, c_tilde);
    }
}

/// A key that signs with a table of kernels and with faulty masks.
struct Faulty<P, const FAULT: u8> {
    seeds: Seeds<P>,
    kernels: &'static Kernels,
}

impl<P: Parameters, const FAULT: u8> SigningForm for Faulty<P, FAULT> {
    type Masks<'a> = FaultyMasks<'a, FAULT>;

    type Challenge = Poly;
    const NO_CHALLENGE: Poly = Poly::ZERO;

    fn commit(&self, _: &Kernels, masks: &mut Self::Masks<'_>, z: &mut [u8], w: &mut [Poly]) {
        let (kernels, mut a, mut y_hat) = (self.kernels, Poly::ZERO, Poly::ZERO);
        w.iter_mut().for_each(|w| w.0.fill(0));
        for (column, packed) in z.chunks_exact_mut(P::Z_BYTES).enumerate() {
            masks.next(packed);
            encode::unpack_z::<P>(kernels, packed, &mut y_hat);
            (kernels.ntt)(&mut y_hat);
            for (row, w) in w.iter_mut().enumerate() {
                sample_a(kernels, &self.seeds.rho, row, column, &mut a);
                (kernels.multiply_add)(w, &a, &y_hat);
            }
        }
        w.iter_mut().for_each(|w| (kernels.inverse_ntt)(w));
    }

    fn challenge(&self, _: &Kernels, c_tilde: &[u8], c: &mut Poly) {
        self.seeds.challenge(self.kernels, c_tilde, c);
    }

    fn add_cs1(&self, _: &Kernels, c: &Poly, column: usize, p: &mut Poly, bound: i32) -> u32 {
        self.seeds.add_cs1(self.kernels, c, column, p, bound)
    }

    fn subtract_cs2(&self, _: &Kernels, c: &Poly, row: usize, p: &mut Poly, bound: i32) -> u32 {
        self.seeds.subtract_cs2(self.kernels, c, row, p, bound)
    }

    fn ct0(&self, _: &Kernels, c: &mut Poly, row: usize, out: &mut Poly) {
        self.seeds.ct0(self.kernels, c, row, out);
    }

    fn k(&self) -> &[u8; 32] {
        self.seeds.k()
    }
}

/// The coefficients of y = z - c·s1 of a signature, polynomial after polynomial.
fn mask<P: ParameterSet>(seeds: &Seeds<P>, signature: &[u8]) -> Vec<i32> {
    let (mut c, mut z) = (Poly::ZERO, Poly::ZERO);
    let (c_tilde, rest) = signature.split_at(P::C_TILDE);
    seeds.challenge(&PORTABLE, c_tilde, &mut c);
    let mut coefficients = Vec::new();
    for (column, packed) in rest[..P::L * P::Z_BYTES].chunks_exact(P::Z_BYTES).enumerate() {
        let mut product = Poly::ZERO;
        seeds.add_cs1(&PORTABLE, &c, column, &mut product, Q);
        encode::unpack_z::<P>(&PORTABLE, packed, &mut z);
        coefficients.extend(z.0.iter().zip(&product.0).map(|(z, product)| (z - product).rem_euclid(Q)));
    }
    coefficients
}

/// Returns true if a window of coefficients stands in the masks twice.
fn repeats(masks: &[Vec<i32>]) -> bool {
    let mut seen = HashSet::new();
    masks.iter().flat_map(|mask| mask.windows(WINDOW)).any(|window| !seen.insert(window))
}

/// Masks of signatures of some messages; each signature verifies.
fn masks<P: ParameterSet>(
    seed: &[u8; 32],
    mut signature_of: impl FnMut(&[u8; 64]) -> P::Signature,
) -> Vec<Vec<i32>> {
    let seeds = Seeds::<P>::new(seed);
    let public = SigningKey::<P>::from_seed(seed).verifying_key();
    let messages = (0..SIGNATURES).map(|number| {
        let mu = Message::internal(&[number]).representative(&public.public().tr());
        let signature = signature_of(&mu);
        public.verify(Message::mu(&mu), signature.as_ref()).expect("the fault leaves signatures valid");
        mask(&seeds, signature.as_ref())
    });
    messages.collect()
}

/// Masks of signatures with a planted fault.
fn faulty<P: ParameterSet, const FAULT: u8>(kernels: &'static Kernels, seed: &[u8; 32]) -> Vec<Vec<i32>> {
    masks::<P>(seed, |mu| {
        let key = Faulty::<P, FAULT> { seeds: Seeds::new(seed), kernels };
        let mut signature = P::Signature::zeroed();
        sign::<P, _>(&key, mu, &[0; 32], signature.as_mut(), &mut |_| ());
        signature
    })
}

fn masks_repeat_only_where_a_fault_is_planted<P: ParameterSet>() {
    let seed = [29; 32];
    let key = SigningKey::<crate::Compact<P>>::from_seed(&seed);
    let compact = masks::<P>(&seed, |mu| key.sign_with_rnd(&[0; 32], Message::mu(mu)));
    assert!(!repeats(&compact), "{}", P::NAME);
    #[cfg(feature = "alloc")]
    {
        let key = SigningKey::<P>::from_seed(&seed);
        let prepared = masks::<P>(&seed, |mu| key.sign_with_rnd(&[0; 32], Message::mu(mu)));
        assert_eq!(prepared, compact, "{}", P::NAME);
    }
    let tables = tables();
    for kernels in &tables {
        let name = kernels.level;
        assert_eq!(faulty::<P, { Fault::None as u8 }>(kernels, &seed), compact, "{} {name}", P::NAME);
        for planted in [
            faulty::<P, { Fault::RepeatedHalf as u8 }>(kernels, &seed),
            faulty::<P, { Fault::RepeatedPolynomial as u8 }>(kernels, &seed),
        ] {
            assert!(
                planted.iter().all(|mask| repeats(core::slice::from_ref(mask))),
                "canary: {} {name}",
                P::NAME
            );
        }
        let shared = faulty::<P, { Fault::SharedByMessages as u8 }>(kernels, &seed);
        assert!(shared.iter().all(|mask| !repeats(core::slice::from_ref(mask))), "{} {name}", P::NAME);
        assert!(repeats(&shared), "canary: {} {name}", P::NAME);
    }
    assert!(tables.len() > 1);
}

#[test]
fn masks_of_ml_dsa_44_repeat_only_where_a_fault_is_planted() {
    masks_repeat_only_where_a_fault_is_planted::<MlDsa44>();
}

#[test]
fn masks_of_ml_dsa_65_repeat_only_where_a_fault_is_planted() {
    masks_repeat_only_where_a_fault_is_planted::<MlDsa65>();
}

#[test]
fn masks_of_ml_dsa_87_repeat_only_where_a_fault_is_planted() {
    masks_repeat_only_where_a_fault_is_planted::<MlDsa87>();
}
