//! Verification on the heap: hashes run beside the sampling of the matrix.

use core::marker::PhantomData;

use crate::mldsa::dsa::{high_bits_vartime, read_factors_vartime};
use crate::mldsa::encode::Hint;
use crate::mldsa::errors::InvalidSignature;
use crate::mldsa::forms::ParameterSet;
use crate::mldsa::kernels::{Kernels, active};
use crate::mldsa::lanes::{Absorber, Beside, INPUT, KEPT, absorb_message, expand, polynomials};
use crate::mldsa::message::Message;
use crate::mldsa::public::PublicKey;
use crate::mldsa::ring::Poly;
use crate::sha3::{State, squeeze};
use crate::small::Zero;

impl PublicKey<'_> {
    /// Verifies once: the rows of the matrix are used as they come, while tr, and after it c̃, are hashed beside them.
    #[inline(never)]
    pub(super) fn verify_once<P: ParameterSet>(
        &self,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let kernels = active();
        let mut factors = P::Factors::ZERO;
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

/// The hashes of a verification.
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
    /// The number of rows of w1 in the input.
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
            if self.absorber.feed(hash, &[self.key.0], true) {
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
        self.absorber.feed(hash, &[known], self.rows == P::K)
    }

    fn outlasts(&self, lanes: usize) -> bool {
        // 18 blocks, beside 80 of the matrix in seven lanes.
        P::K == 4 && lanes == 8
    }
}
