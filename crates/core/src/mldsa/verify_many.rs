//! Verification of many signatures on the heap, eight at a time.

use alloc::vec;
use alloc::vec::Vec;

use super::dsa::{VerifyingForm, high_bits_vartime, read_vartime};
use super::errors::InvalidSignature;
use super::forms::ParameterSet;
use super::kernels::{Kernels, active};
use super::keys::VerifyingKey;
use super::lanes::{
    INPUT, KEPT, challenges_vartime, expand_many, hash_side_by_side, polynomials, represent_side_by_side,
};
use super::message::Message;
use super::prepared::{PreparedPublic, VerificationTable};
use super::public::PublicKey;
use super::ring::Poly;
use super::sample::set_challenge_vartime;
use crate::Bytes;
use crate::sha3::{LANES, squeeze};

/// Verifies each signature over its message by its key, as [`VerifyingKey::verify`]; the verdicts come in the order
/// of the items.
///
/// The hashes of eight items run side by side. Up to 100 KiB of heap, however many there are, and the verdicts.
///
/// ```
/// use gambeson::mldsa::{self, InvalidSignature, Message, MlDsa44, SigningKey};
///
/// let keys = [1, 2].map(|seed| SigningKey::<MlDsa44>::from_seed(&[seed; 32]));
/// let public = [keys[0].verifying_key(), keys[1].verifying_key()];
/// let signature = keys[0].sign_deterministic(b"message");
///
/// let message = Message::from(b"message");
/// let verdicts =
///     mldsa::verify_many(&[(&public[0], message, &signature), (&public[1], message, &signature)]);
/// assert_eq!(verdicts, [Ok(()), Err(InvalidSignature)]);
/// ```
#[must_use]
pub fn verify_many<P: ParameterSet>(
    items: &[(&VerifyingKey<P>, Message<'_>, &[u8])],
) -> Vec<Result<(), InvalidSignature>> {
    let mut keys = ManyKeys { items, matrix: Vec::new() };
    verify_groups::<P>(items.iter().map(|(_, _, signature)| *signature), &mut keys)
}

impl<P: ParameterSet<Public = PreparedPublic>> VerifyingKey<P> {
    /// Verifies each signature over its message by this key, which is prepared; the verdicts come in the order of the items.
    ///
    /// The hashes of eight items run side by side. Up to 70 KiB of heap, however many there are, and the verdicts.
    #[must_use]
    pub fn verify_many(&self, items: &[(Message<'_>, &[u8])]) -> Vec<Result<(), InvalidSignature>> {
        let key = self.form.now::<P>(self.public());
        verify_groups::<P>(items.iter().map(|(_, signature)| *signature), &mut OneKey { key, items })
    }
}

/// The places of a group's keys and messages.
trait Signers<P: ParameterSet> {
    /// μ of each of these items.
    fn representatives(&self, items: &[usize], mu: &mut [[u8; 64]]);

    /// Each row of Â ∘ ẑ - ĉ ∘ NTT(2^d·t1) of each of these items, from its L + 1 factors, to `take`: of which item, and which row.
    fn rows(
        &mut self,
        kernels: &Kernels,
        items: &[usize],
        factors: &[Poly],
        take: impl FnMut(usize, usize, &mut Poly),
    );
}

struct ManyKeys<'a, P: ParameterSet> {
    items: &'a [(&'a VerifyingKey<P>, Message<'a>, &'a [u8])],
    /// Rows of a matrix, and of -2^d·t1.
    matrix: Vec<Poly>,
}

impl<P: ParameterSet> Signers<P> for ManyKeys<'_, P> {
    fn representatives(&self, items: &[usize], mu: &mut [[u8; 64]]) {
        let mut tr = [[0; 64]; LANES];
        let key = |i: usize| self.items[items[i]].0.as_bytes().as_ref();
        hash_side_by_side(items.len(), |i, feed| feed(&[key(i)]), |i, state| squeeze(state, &mut tr[i]));
        represent_side_by_side(|i| (&tr[i], &self.items[items[i]].1), mu);
    }

    fn rows(
        &mut self,
        kernels: &Kernels,
        items: &[usize],
        factors: &[Poly],
        mut take: impl FnMut(usize, usize, &mut Poly),
    ) {
        if self.matrix.is_empty() {
            self.matrix = polynomials(KEPT * (P::L + 1));
        }
        let keys: Vec<_> = items.iter().map(|item| self.items[*item].0.public()).collect();
        let mut w = Poly::ZERO;
        let rho = keys.iter().map(PublicKey::rho);
        expand_many::<P>(kernels, rho, &mut self.matrix, |i, row, a| {
            keys[i].minus_t1_2d_hat(kernels, row, &mut a[P::L]);
            (kernels.inner_product)(&mut w, a, 1, &factors[i * (P::L + 1)..][..P::L + 1]);
            take(i, row, &mut w);
        });
    }
}

struct OneKey<'a> {
    key: &'a VerificationTable,
    items: &'a [(Message<'a>, &'a [u8])],
}

impl<P: ParameterSet> Signers<P> for OneKey<'_> {
    fn representatives(&self, items: &[usize], mu: &mut [[u8; 64]]) {
        represent_side_by_side(|i| (self.key.tr(), &self.items[items[i]].0), mu);
    }

    fn rows(
        &mut self,
        kernels: &Kernels,
        _: &[usize],
        factors: &[Poly],
        mut take: impl FnMut(usize, usize, &mut Poly),
    ) {
        let (mut w, mut scratch) = (Poly::ZERO, Poly::ZERO);
        for (i, factors) in factors.chunks_exact(P::L + 1).enumerate() {
            for row in 0..P::K {
                VerifyingForm::<P>::row(self.key, kernels, row, factors, &mut w, &mut scratch);
                take(i, row, &mut w);
            }
        }
    }
}

/// Judges group after group of those signatures whose form is right.
fn verify_groups<'a, P: ParameterSet>(
    signatures: impl ExactSizeIterator<Item = &'a [u8]>,
    signers: &mut impl Signers<P>,
) -> Vec<Result<(), InvalidSignature>> {
    let kernels = active();
    let mut verdicts = vec![Err(InvalidSignature); signatures.len()];
    let mut signatures = signatures.enumerate();
    let mut factors = polynomials(LANES.min(verdicts.len()) * (P::L + 1));
    loop {
        let mut items = [0; LANES];
        let mut read = [const { None }; LANES];
        let mut count = 0;
        for (item, signature) in &mut signatures {
            if signature.len() == P::Signature::LEN
                && let Some(parts) =
                    read_vartime::<P>(kernels, signature, &mut factors[count * (P::L + 1)..][..P::L])
            {
                (items[count], read[count]) = (item, Some(parts));
                count += 1;
                if count == LANES {
                    break;
                }
            }
        }
        if count == 0 {
            return verdicts;
        }
        let (items, factors) = (&items[..count], &mut factors[..count * (P::L + 1)]);
        let c_tilde = read.map(|parts| parts.map_or(&[][..], |(c_tilde, _)| c_tilde));
        challenges_vartime::<P>(&c_tilde[..count], |i, places| {
            let c_hat = &mut factors[i * (P::L + 1) + P::L];
            set_challenge_vartime(places, c_hat);
            (kernels.ntt)(c_hat);
        });
        let mut mu = [[0; 64]; LANES];
        signers.representatives(items, &mut mu[..count]);
        let mut inputs = [[0; INPUT]; LANES];
        for (input, mu) in inputs.iter_mut().zip(&mu) {
            input[..64].copy_from_slice(mu);
        }
        let mut scratch = Poly::ZERO;
        signers.rows(kernels, items, factors, |i, row, w| {
            let Some((_, hint)) = &read[i] else { return };
            let packed = &mut inputs[i][64 + row * P::W1_BYTES..][..P::W1_BYTES];
            high_bits_vartime::<P>(kernels, w, &mut scratch, hint.row(row), packed);
        });
        let input = |i: usize| &inputs[i][..64 + P::K * P::W1_BYTES];
        hash_side_by_side(
            count,
            |i, feed| feed(&[input(i)]),
            |i, state| {
                let mut expected = [0; 64];
                squeeze(state, &mut expected);
                if expected[..P::C_TILDE] == *c_tilde[i] {
                    verdicts[items[i]] = Ok(());
                }
            },
        );
    }
}
