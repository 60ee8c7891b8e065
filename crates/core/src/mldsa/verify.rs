//! Verification with the heap: one signature by a key that is used once, and many signatures, eight at a time.

use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::compact::PublicKey;
use super::dsa::{high_bits_vartime, read_factors_vartime, read_vartime};
use super::encode::Hint;
use super::kernels::{Kernels, active};
use super::keys::{InvalidSignature, VerifyingKey};
use super::lanes::{
    Absorber, Beside, INPUT, KEPT, absorb_message, challenges_vartime, expand, expand_many,
    hash_side_by_side, represent_side_by_side,
};
use super::message::Message;
use super::params::ParameterSet;
use super::prepared::{Prepared, Public, polynomials};
use super::ring::Poly;
use super::sample::set_challenge_vartime;
use crate::Bytes;
use crate::sha3::{Aligned, LANES, State, squeeze};

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

impl PublicKey<'_> {
    /// Verifies once: the rows of the matrix are used as they come, while tr, and after it c̃, are hashed beside them.
    #[inline(never)]
    pub(super) fn verify_once<P: ParameterSet>(
        &self,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        debug_assert_eq!(signature.len(), P::Signature::LEN);
        let kernels = active();
        let mut factors = P::FACTORS;
        let (c_tilde, hint) = read_factors_vartime::<P>(kernels, signature, factors.as_mut())?;

        let mut matrix = polynomials(KEPT * (P::L + 1));
        let mut once = Once::<P> {
            kernels,
            key: *self,
            message,
            factors: factors.as_ref(),
            hint,
            absorber: Absorber::default(),
            step: Step::Key,
            input: [0; INPUT],
            rows: 0,
            expected: [0; 64],
            set: PhantomData,
        };
        expand::<P>(kernels, self.rho(), None, &mut [], &mut matrix, KEPT, &mut once);
        if once.expected[..P::C_TILDE] == *c_tilde { Ok(()) } else { Err(InvalidSignature) }
    }
}

impl<P: ParameterSet<Public = Public>> VerifyingKey<P> {
    /// Verifies each signature over its message by this key, which is prepared; the verdicts come in the order of the items.
    ///
    /// The hashes of eight items run side by side. Up to 70 KiB of heap, however many there are, and the verdicts.
    #[must_use]
    pub fn verify_many(&self, items: &[(Message<'_>, &[u8])]) -> Vec<Result<(), InvalidSignature>> {
        let key = self.form.now::<P>(self.public());
        verify_groups::<P>(items.iter().map(|(_, signature)| *signature), &mut OneKey { key, items })
    }
}

/// What is hashed.
enum Step {
    /// The public key, to tr.
    Key,
    /// tr and the message, to μ.
    Message,
    /// μ and w1, to c̃.
    Input,
}

/// One verification on its way.
struct Once<'a, P: ParameterSet> {
    kernels: &'a Kernels,
    key: PublicKey<'a>,
    message: &'a Message<'a>,
    factors: &'a [Poly],
    hint: Hint<'a>,
    step: Step,
    /// Of the public key, then of the input.
    absorber: Absorber,
    /// μ and all of w1, packed: what c̃ is the hash of.
    input: [u8; INPUT],
    /// How many rows of w1 stand in the input.
    rows: usize,
    expected: [u8; 64],
    set: PhantomData<P>,
}

impl<P: ParameterSet> Beside for Once<'_, P> {
    fn row(&mut self, a: &mut [Poly], stride: usize, _: &mut [Poly], row: usize) {
        let (mut w, mut scratch) = (Poly::ZERO, Poly::ZERO);
        // t1 is one more column of the matrix.
        self.key.minus_t1_2d_hat(self.kernels, row, &mut a[P::L * stride]);
        (self.kernels.inner_product)(&mut w, a, stride, self.factors);
        let packed = &mut self.input[64 + row * P::W1_BYTES..][..P::W1_BYTES];
        high_bits_vartime::<P>(self.kernels, &mut w, &mut scratch, self.hint.row(row), packed);
        self.rows = row + 1;
    }

    fn feed(&mut self, hash: &mut State) -> bool {
        if let Step::Key = self.step {
            if self.absorber.feed(hash, self.key.0, true) {
                return true;
            }
            let mut tr = [0; 64];
            squeeze(hash, &mut tr);
            *hash = State::new();
            (self.step, self.absorber) = (Step::Input, Absorber::default());
            let (mu, _) = self.input.split_first_chunk_mut().expect("μ is in the input");
            if absorb_message(hash, &tr, self.message, mu) {
                self.step = Step::Message;
                return true;
            }
        }
        if let Step::Message = self.step {
            squeeze(hash, &mut self.input[..64]);
            *hash = State::new();
            self.step = Step::Input;
        }
        if self.absorber.is_padded {
            squeeze(hash, &mut self.expected);
        }
        let known = &self.input[..64 + self.rows * P::W1_BYTES];
        self.absorber.feed(hash, known, self.rows == P::K)
    }

    fn outlasts(&self, lanes: usize) -> bool {
        // 18 blocks, beside 80 of the matrix in seven lanes.
        P::K == 4 && lanes == 8
    }
}

/// Where the items of a group have their keys and messages.
trait Source<P: ParameterSet> {
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

impl<P: ParameterSet> Source<P> for ManyKeys<'_, P> {
    fn representatives(&self, items: &[usize], mu: &mut [[u8; 64]]) {
        let mut states = [const { Aligned(State::new()) }; LANES];
        hash_side_by_side(items.iter().map(|i| self.items[*i].0.as_bytes().as_ref()), &mut states);
        let mut tr = [[0; 64]; LANES];
        states.iter().zip(&mut tr).for_each(|(state, tr)| squeeze(&state.0, tr));
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
    key: &'a Prepared,
    items: &'a [(Message<'a>, &'a [u8])],
}

impl<P: ParameterSet> Source<P> for OneKey<'_> {
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
        let mut w = Poly::ZERO;
        for (i, factors) in factors.chunks_exact(P::L + 1).enumerate() {
            for row in 0..P::K {
                self.key.product::<P>(kernels, row, factors, &mut w);
                take(i, row, &mut w);
            }
        }
    }
}

/// Judges group after group of those signatures whose form is right.
fn verify_groups<'a, P: ParameterSet>(
    signatures: impl ExactSizeIterator<Item = &'a [u8]>,
    source: &mut impl Source<P>,
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
        let parts = read.iter().flatten();
        challenges_vartime::<P>(parts.clone().map(|(c_tilde, _)| *c_tilde), |i, places| {
            let c_hat = &mut factors[i * (P::L + 1) + P::L];
            set_challenge_vartime(places, c_hat);
            (kernels.ntt)(c_hat);
        });
        let mut mu = [[0; 64]; LANES];
        source.representatives(items, &mut mu[..count]);
        let mut inputs = [[0; INPUT]; LANES];
        for (input, mu) in inputs.iter_mut().zip(&mu) {
            input[..64].copy_from_slice(mu);
        }
        let mut scratch = Poly::ZERO;
        source.rows(kernels, items, factors, |i, row, w| {
            let Some((_, hint)) = &read[i] else { return };
            let packed = &mut inputs[i][64 + row * P::W1_BYTES..][..P::W1_BYTES];
            high_bits_vartime::<P>(kernels, w, &mut scratch, hint.row(row), packed);
        });
        let mut states = [const { Aligned(State::new()) }; LANES];
        hash_side_by_side(inputs[..count].iter().map(|input| &input[..64 + P::K * P::W1_BYTES]), &mut states);
        for ((item, state), (c_tilde, _)) in items.iter().zip(&states).zip(parts) {
            let mut expected = [0; 64];
            squeeze(&state.0, &mut expected);
            if expected[..P::C_TILDE] == **c_tilde {
                verdicts[*item] = Ok(());
            }
        }
    }
}
