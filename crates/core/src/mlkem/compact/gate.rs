//! For the gate that steps through machine code: operations behind G, with one ρ for all secrets, since the time in
//! which the matrix is sampled depends on ρ; and single kernels.

#[cfg(feature = "alloc")]
use alloc::vec;

use super::*;
use crate::mlkem::kernels::active;
#[cfg(feature = "alloc")]
use crate::mlkem::prepared;
use crate::mlkem::ring::{Coefficients, Ntt, Poly};

fn key<P: ParameterSet>(rho: &[u8; 32], sigma: &[u8; 32]) -> Remade<P> {
    Remade { rho: *rho, sigma: Secret::new(*sigma), parameters: PhantomData }
}

/// The encapsulation key.
///
/// FIPS 203, Algorithm 13 (K-PKE.KeyGen), from line 2 on.
pub fn key_generation<P: ParameterSet>(rho: &[u8; 32], sigma: &[u8; 32]) -> P::EncapsulationKeyBytes {
    let mut ek = P::EncapsulationKeyBytes::zeroed();
    let (rows, end) = ek.as_mut().split_at_mut(384 * P::K);
    key::<P>(rho, sigma).public_rows(&mut Writer(rows));
    end.copy_from_slice(rho);
    ek
}

/// The encapsulation key as prepared keys make it, and its hash.
#[cfg(feature = "alloc")]
pub fn prepared_key_generation<P: ParameterSet>(
    rho: &[u8; 32],
    sigma: &[u8; 32],
) -> (P::EncapsulationKeyBytes, [u8; 32]) {
    let mut ek = P::EncapsulationKeyBytes::zeroed();
    let mut elements = vec![Ntt::ZERO; P::K * (P::K + 1)];
    let mut s = Secret::new(vec![Ntt::ZERO; P::K].into_boxed_slice());
    let h = prepared::generate_behind_g::<P>(rho, sigma, &mut elements, s.expose_mut(), ek.as_mut());
    (ek, h)
}

/// The shared secret of `c`, by the key whose encapsulation key has the hash `h`.
pub fn decapsulate<P: ParameterSet>(
    rho: &[u8; 32],
    sigma: &[u8; 32],
    h: &[u8; 32],
    z: &[u8; 32],
    c: &P::Ciphertext,
) -> [u8; 32] {
    let mut shared = [0; 32];
    kem::decaps(&key::<P>(rho, sigma), h, z, c.as_ref(), &mut shared);
    shared
}

/// The kernels that see secrets and have one trace.
pub const NAMES: [&str; 21] = [
    "ntt",
    "inverse_ntt",
    "multiply_add",
    "inner_product",
    "encryption_products 2",
    "encryption_products 3",
    "encryption_products 4",
    "scale",
    "add",
    "subtract_from",
    "reduce",
    "noise2",
    "noise3",
    "encode",
    "decode",
    "compress 1",
    "compress 4",
    "compress 5",
    "compress 10",
    "compress 11",
    "decompress 1",
];

/// Runs the `n`-th of them in the table in force, on polynomials made of `secret`.
pub fn run(n: usize, secret: &[u8; 1152]) {
    let kernels = active();
    let [mut a, mut b, mut c] = [const { Ntt::ZERO }; 3];
    for (polynomial, bytes) in [&mut a, &mut b, &mut c].into_iter().zip(secret.as_chunks().0) {
        // Below q.
        (kernels.decode)(&mut polynomial.0.0, bytes);
    }
    let (a, b, mut bytes) = (&mut a.0.0, &b.0.0, [0; 384]);
    match NAMES[n] {
        "ntt" => (kernels.ntt)(a),
        "inverse_ntt" => (kernels.inverse_ntt)(a),
        "multiply_add" => (kernels.multiply_add)(a, b, &c.0.0),
        "inner_product" => {
            let factors = [Ntt(Poly(*b)), c.clone(), Ntt(Poly(*b)), c.clone()];
            (kernels.inner_product)(a, &factors, 1, &factors);
        }
        "encryption_products 2" => products::<2>(a, [b, &c.0.0]),
        "encryption_products 3" => products::<3>(a, [b, &c.0.0]),
        "encryption_products 4" => products::<4>(a, [b, &c.0.0]),
        "scale" => (kernels.scale)(a),
        "add" => (kernels.add)(a, b),
        "subtract_from" => (kernels.subtract_from)(a, b),
        "reduce" => (kernels.reduce)(a),
        "noise2" => (kernels.noise2)(a, secret.first_chunk().expect("128 of 1152")),
        "noise3" => (kernels.noise3)(a, secret.first_chunk().expect("192 of 1152")),
        "encode" => (kernels.encode)(&mut bytes, a),
        "decode" => (kernels.decode)(a, secret.first_chunk().expect("384 of 1152")),
        "compress 1" => (kernels.compress)(&mut bytes[..32], a),
        "compress 4" => (kernels.compress)(&mut bytes[..32 * 4], a),
        "compress 5" => (kernels.compress)(&mut bytes[..32 * 5], a),
        "compress 10" => (kernels.compress)(&mut bytes[..32 * 10], a),
        "compress 11" => (kernels.compress)(&mut bytes[..32 * 11], a),
        "decompress 1" => (kernels.decompress)(a, &secret[..32]),
        name => unreachable!("{name} is not called"),
    }
    core::hint::black_box((a, b, &c, &bytes));
}

/// The products of an encryption of rank K, where a kernel makes them.
fn products<const K: usize>(v: &mut Coefficients, y: [&Coefficients; 2]) {
    let of = |i: usize| Ntt(Poly(*y[i & 1]));
    let elements: [_; 20] = core::array::from_fn(of);
    let mut y: [_; K] = core::array::from_fn(of);
    if let Some(products) = active().encryption_products {
        products(v, &mut y, &elements[..K * (K + 1)]);
    }
    core::hint::black_box(&y);
}
