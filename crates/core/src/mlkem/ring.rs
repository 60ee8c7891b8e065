//! Arithmetic in R_q = Z_q\[X\]/(X^256 + 1) and T_q (FIPS 203, §2.4 and §4.3), with the kernels in force.

use super::kernels::active;
#[cfg(feature = "alloc")]
use super::kernels::loops;
pub(crate) use super::poly::{Ntt, Poly};
#[cfg(feature = "alloc")]
use crate::sha3::INTERLEAVED;

impl Poly {
    /// |self| and |other| < 8q in sum.
    pub(crate) fn add(&mut self, other: &Self) {
        (active().add)(&mut self.0, &other.0);
    }

    /// `other − self`: |self| and |other| < 8q in sum.
    pub(crate) fn subtract_from(&mut self, other: &Self) {
        (active().subtract_from)(&mut self.0, &other.0);
    }
}

impl Ntt {
    /// Fills the memory with an element of R_q, |coefficient| ≤ q, and transforms it.
    ///
    /// FIPS 203, Algorithm 9 (NTT). |coefficient| ≤ q/2 + 1 on return.
    pub(crate) fn transform(&mut self, fill: impl FnOnce(&mut Poly)) {
        fill(&mut self.0);
        (active().ntt)(&mut self.0.0);
    }

    /// The element of R_q, in the same memory. |coefficient| ≤ 8q on entry, < q on return.
    ///
    /// FIPS 203, Algorithm 10 (NTT^-1), times R = 2^16: it takes away the factor that the products leave.
    pub(crate) fn inverse(&mut self) -> &mut Poly {
        (active().inverse_ntt)(&mut self.0.0);
        &mut self.0
    }

    /// Adds `a ∘ b` · R^-1, R = 2^16. |coefficient| of `a` ≤ 8q, of `b` ≤ q; of the sum < 2q more on return.
    ///
    /// FIPS 203, Algorithm 11 (MultiplyNTTs), accumulated.
    pub(crate) fn multiply_add(&mut self, a: &Self, b: &Self) {
        (active().multiply_add)(&mut self.0.0, &a.0.0, &b.0.0);
    }

    /// Adds the inner product of every `stride`-th element of `a` and the elements of `b`, four at most, times R^-1.
    /// |coefficient| ≤ q in both; of the sum < 2q more for each product.
    #[cfg(feature = "alloc")]
    pub(crate) fn add_inner_product(&mut self, a: &[Self], stride: usize, b: &[Self]) {
        (active().inner_product)(&mut self.0.0, a, stride, b);
    }

    /// The element of R_q of such a product, in place of what was here. The elements of `b` were transformed as factors.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn product_in_r_q(&mut self, a: &[Self], stride: usize, b: &[Self]) -> &mut Poly {
        if INTERLEAVED {
            loops::row(self, a, stride, b);
            loops::inverse_of_row(&mut self.0.0);
            return &mut self.0;
        }
        self.clear();
        self.add_inner_product(a, stride, b);
        self.inverse()
    }

    /// [`transform`](Self::transform) of what only multiplies reduced coefficients.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn transform_factor(&mut self, fill: impl FnOnce(&mut Poly)) {
        fill(&mut self.0);
        if INTERLEAVED { loops::ntt_of_factor(&mut self.0.0) } else { (active().ntt)(&mut self.0.0) }
    }

    /// If a kernel does it at once: makes ŷ in its place Âᵀ ∘ ŷ, and this t̂ᵀ ∘ ŷ, times R^-1, of Â by rows, then t̂.
    /// |coefficient| ≤ q on entry, < q on return.
    #[cfg(feature = "alloc")]
    pub(crate) fn encryption_products(&mut self, y: &mut [Self], elements: &[Self]) -> bool {
        if INTERLEAVED {
            return false;
        }
        let Some(products) = active().encryption_products else { return false };
        products(&mut self.0.0, y, elements);
        true
    }

    /// Multiplies by R = 2^16. |coefficient| < q on return.
    pub(crate) fn scale(&mut self) {
        (active().scale)(&mut self.0.0);
    }

    /// |coefficient| ≤ q/2 + 1 on return.
    pub(crate) fn reduce(&mut self) {
        (active().reduce)(&mut self.0.0);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }
}
