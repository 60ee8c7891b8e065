//! Verification by a key that is used once.

use super::dsa::{self, VerifyingForm};
use super::errors::InvalidSignature;
use super::forms::ParameterSet;
use super::kernels::Kernels;
#[cfg(feature = "alloc")]
use super::lanes::is_wide;
use super::message::Message;
use super::public::PublicKey;
use super::ring::Poly;
use super::sample::sample_a;
use super::small;
use crate::Bytes;
use crate::small::Stack;

#[cfg(feature = "alloc")]
mod side_by_side;

impl PublicKey<'_> {
    /// Verifies once: on the heap where the table in force is for vectors, and all sponges run side by side there; else on the stack.
    pub(super) fn verify<P: ParameterSet>(
        &self,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if signature.len() != P::Signature::LEN {
            return Err(InvalidSignature);
        }
        if P::SMALL {
            return small::verify::<P>(self.0, message, signature, Stack);
        }
        #[cfg(feature = "alloc")]
        if is_wide() {
            return self.verify_once::<P>(message, signature);
        }
        self.verify_on_stack::<P>(message, signature)
    }

    /// Verifies `signature` over `message`, on the stack.
    fn verify_on_stack<P: ParameterSet>(
        &self,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        dsa::verify::<P>(self, &self.represent(message), signature)
    }

    /// μ, in a frame that is gone when the work begins.
    #[inline(never)]
    fn represent(&self, message: &Message<'_>) -> [u8; 64] {
        message.representative(&self.tr())
    }
}

impl<P> VerifyingForm<P> for PublicKey<'_> {
    fn row(&self, kernels: &Kernels, row: usize, factors: &[Poly], w: &mut Poly, scratch: &mut Poly) {
        let (c_hat, z_hat) = factors.split_last().expect("more than one");
        self.minus_t1_2d_hat(kernels, row, w);
        (kernels.multiply)(w, c_hat);
        for (column, z_hat) in z_hat.iter().enumerate() {
            sample_a(kernels, self.rho(), row, column, scratch);
            (kernels.multiply_add)(w, scratch, z_hat);
        }
    }
}
