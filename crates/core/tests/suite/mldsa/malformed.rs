//! Signatures broken on purpose, at the places where other libraries failed.

use gambeson::Bytes;
use gambeson::mldsa::{
    InvalidSignature, ParameterSet, PreparedSet, SigningKey, VerifyingKey, VerifyingKeyRef,
};
use gambeson::sha3::{Shake128, Shake256};

use super::{FormOf, Stream, for_each_set};

/// Where the parts of a signature are, and the bound of z: FIPS 204, Tables 1 and 2.
struct Shape {
    c_tilde: usize,
    l: usize,
    z_bits: usize,
    gamma1_beta: i32,
    omega: usize,
    k: usize,
}

impl Shape {
    fn of<P: ParameterSet>() -> Self {
        match P::NAME {
            "ML-DSA-44" => {
                Self { c_tilde: 32, l: 4, z_bits: 18, gamma1_beta: (1 << 17) - 78, omega: 80, k: 4 }
            }
            "ML-DSA-65" => {
                Self { c_tilde: 48, l: 5, z_bits: 20, gamma1_beta: (1 << 19) - 196, omega: 55, k: 6 }
            }
            _ => Self { c_tilde: 64, l: 7, z_bits: 20, gamma1_beta: (1 << 19) - 120, omega: 75, k: 8 },
        }
    }

    fn hint(&self) -> usize {
        self.c_tilde + self.l * 32 * self.z_bits
    }

    /// Puts `z` in the place of the coefficient `index` of z.
    fn set_z(&self, signature: &mut [u8], index: usize, z: i32) {
        let number = ((1 << (self.z_bits - 1)) - z) as u32;
        for bit in 0..self.z_bits {
            let at = 8 * self.c_tilde + index * self.z_bits + bit;
            signature[at >> 3] &= !(1 << (at & 7));
            signature[at >> 3] |= ((number >> bit & 1) as u8) << (at & 7);
        }
    }
}

/// The verdict of the key, of one that is used once, and of a prepared one, which must agree.
fn verify<P: PreparedSet, F: FormOf<P>>(
    key: &VerifyingKey<F>,
    signature: &[u8],
) -> Result<(), InvalidSignature> {
    let verdict = key.verify(b"m", signature);
    assert_eq!(verdict, VerifyingKeyRef::<F>::from_ref(key.as_bytes()).verify(b"m", signature));
    assert_eq!(verdict, prepared::<P>(key.as_bytes()).verify(b"m", signature));
    verdict
}

fn prepared<P: PreparedSet>(vk: &P::VerifyingKeyBytes) -> VerifyingKey<P> {
    let key = VerifyingKey::from_bytes(vk);
    key.prepare();
    key
}

#[test]
fn a_signature_of_another_length_is_refused() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let key = SigningKey::<F>::from_seed(&[1; 32]);
        let signature = key.sign_deterministic(b"m");
        let signature = signature.as_ref();
        let public = key.verifying_key();
        for length in [0, 1, 31, 32, 100, signature.len() - 1] {
            assert_eq!(verify::<P, F>(&public, &signature[..length]), Err(InvalidSignature));
        }
        assert_eq!(verify::<P, F>(&public, &[signature, &[0]].concat()), Err(InvalidSignature));
        assert_eq!(verify::<P, F>(&public, signature), Ok(()));
    }
    for_each_set!(test);
}

#[test]
fn any_changed_byte_is_refused() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let key = SigningKey::<F>::from_seed(&[2; 32]);
        let public = prepared::<P>(key.verifying_key().as_bytes());
        let mut signature = key.sign_deterministic(b"m");
        let signature = signature.as_mut();
        for at in (0..signature.len()).step_by(3) {
            signature[at] ^= 0x10;
            assert_eq!(public.verify(b"m", signature), Err(InvalidSignature), "byte {at}");
            if at % 31 == 0 {
                assert_eq!(key.verifying_key().verify(b"m", signature), Err(InvalidSignature), "byte {at}");
            }
            signature[at] ^= 0x10;
        }
        assert_eq!(public.verify(b"m", signature), Ok(()));
    }
    for_each_set!(test);
}

#[test]
fn a_hint_out_of_form_is_refused() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let shape = Shape::of::<P>();
        let key = SigningKey::<F>::from_seed(&[3; 32]);
        let public = key.verifying_key();
        let valid = key.sign_deterministic(b"m");
        let hint = &valid.as_ref()[shape.hint()..];
        let ends = shape.omega;
        let last = usize::from(hint[ends + shape.k - 1]);
        assert!(last < shape.omega, "the case needs room behind the last place");
        let row = (0..shape.k)
            .find(|row| hint[ends + row] - if *row == 0 { 0 } else { hint[ends + row - 1] } >= 2)
            .expect("the case needs a row with two places");
        let first = if row == 0 { 0 } else { usize::from(hint[ends + row - 1]) };

        let refused = |name: &str, change: &dyn Fn(&mut [u8])| {
            let mut signature = valid;
            change(&mut signature.as_mut()[shape.hint()..]);
            assert_ne!(signature, valid, "{name}: nothing changed");
            assert_eq!(verify::<P, F>(&public, signature.as_ref()), Err(InvalidSignature), "{name}");
        };
        refused("two places swapped", &|hint| hint.swap(first, first + 1));
        refused("a place twice", &|hint| hint[first + 1] = hint[first]);
        refused("a place twice, at the end", &|hint| {
            hint[last] = hint[last - 1];
            hint[ends + shape.k - 1] += 1;
        });
        refused("an end before its start", &|hint| {
            hint[ends + shape.k - 1] = 0;
            hint[ends + shape.k - 2] = 1;
        });
        refused("an end beyond ω", &|hint| hint[ends + shape.k - 1] = shape.omega as u8 + 1);
        refused("every end 255", &|hint| hint[ends..].fill(255));
        refused("the first end 255", &|hint| hint[ends] = 255);
        refused("a place behind the last", &|hint| hint[last] = 1);
        refused("a place at the very end", &|hint| hint[shape.omega - 1] = 255);
        refused("one place less", &|hint| hint[ends + shape.k - 1] -= 1);
        refused("orderly places, the last end too large", &|hint| {
            for (place, at) in hint[..ends].iter_mut().zip(0..) {
                *place = at;
            }
            hint[ends..].fill(0);
            hint[ends + shape.k - 1] = shape.omega as u8 + 1;
        });
        refused("no place at all", &|hint| hint.fill(0));
        refused("all places in the first row", &|hint| {
            for (place, at) in hint[..ends].iter_mut().zip(0..) {
                *place = at;
            }
            hint[ends..].fill(shape.omega as u8);
        });
    }
    for_each_set!(test);
}

#[test]
fn random_bytes_are_refused_without_panic() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let shape = Shape::of::<P>();
        let mut stream = Stream::new("random signatures");
        let key = SigningKey::<F>::from_seed(&[4; 32]);
        let public = prepared::<P>(key.verifying_key().as_bytes());
        let valid = key.sign_deterministic(b"m");
        for _ in 0..300 {
            let bytes = stream.vec(P::Signature::LEN);
            assert_eq!(public.verify(b"m", &bytes), Err(InvalidSignature));
            // Only the hint random, and only its ends.
            let mut signature = valid;
            signature.as_mut()[shape.hint()..].copy_from_slice(&bytes[shape.hint()..]);
            assert_eq!(public.verify(b"m", signature.as_ref()), Err(InvalidSignature));
            let mut signature = valid;
            let ends = shape.hint() + shape.omega;
            for end in &mut signature.as_mut()[ends..] {
                *end = stream.below(shape.omega + 2) as u8;
            }
            if signature != valid {
                assert_eq!(public.verify(b"m", signature.as_ref()), Err(InvalidSignature));
            }
        }
    }
    for_each_set!(test);
}

/// With t1 = 0 and no hint, w′ = A·z: whoever knows c̃ can answer it, and a test can build signatures with any z.
/// The hash of w1 decides, except where the bound of z does.
#[test]
fn z_below_the_bound_is_accepted_and_at_the_bound_refused() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let shape = Shape::of::<P>();
        let mut bytes = P::VerifyingKeyBytes::zeroed();
        bytes.as_mut()[..32].copy_from_slice(&[5; 32]);
        let public = VerifyingKey::<F>::from_bytes(&bytes);
        let mu = public.mu_hasher(b"").unwrap().update(b"m").finalize();
        let (bound, last) = (shape.gamma1_beta, 256 * shape.l - 1);
        for index in [0, 1, 255, 256, last] {
            for (z, small) in [
                (bound - 1, true),
                (bound, false),
                (bound + 1, false),
                (1 - bound, true),
                (-bound, false),
                (-bound - 1, false),
                (1 << (shape.z_bits - 1), false),
                (1 - (1 << (shape.z_bits - 1)), false),
            ] {
                let mut signature = P::Signature::zeroed();
                let signature = signature.as_mut();
                (0..=last).for_each(|index| shape.set_z(signature, index, 0));
                shape.set_z(signature, index, z);
                let c_tilde = challenge_of_zero_key::<P>(&mu, index, z);
                signature[..shape.c_tilde].copy_from_slice(&c_tilde[..shape.c_tilde]);
                assert_eq!(verify::<P, F>(&public, signature).is_ok(), small, "{} z[{index}] = {z}", P::NAME);
            }
        }
    }
    for_each_set!(test);
}

/// With t1 = 0 and z = 0, w′ = 0: every r0 is 0, where a hint makes r1 one less, which wraps (FIPS 204, Algorithm 40
/// (UseHint)). Several libraries have gone up instead.
#[test]
fn a_hint_at_r0_equal_to_zero_goes_down() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let shape = Shape::of::<P>();
        let public = VerifyingKey::<F>::from_bytes(&P::VerifyingKeyBytes::zeroed());
        let mu = public.mu_hasher(b"").unwrap().update(b"m").finalize();
        let (highest, width) = if shape.z_bits == 18 { (43u32, 6) } else { (15, 4) };
        for hinted in [&[][..], &[0], &[255], &[3, 7, 128, 254]] {
            for value in [highest, 1, 0] {
                let mut signature = P::Signature::zeroed();
                let signature = signature.as_mut();
                (0..256 * shape.l).for_each(|index| shape.set_z(signature, index, 0));
                // The same places in the first and in the last row.
                let hint = &mut signature[shape.hint()..];
                hint[..hinted.len()].copy_from_slice(hinted);
                hint[hinted.len()..2 * hinted.len()].copy_from_slice(hinted);
                hint[shape.omega..].fill(hinted.len() as u8);
                hint[shape.omega + shape.k - 1] = 2 * hinted.len() as u8;

                let mut row = vec![0; 32 * width];
                for place in hinted {
                    for bit in 0..width {
                        let at = usize::from(*place) * width + bit;
                        row[at >> 3] |= ((value >> bit & 1) as u8) << (at & 7);
                    }
                }
                let mut hasher = Shake256::new();
                hasher.update(&mu).update(&row);
                (2..shape.k).for_each(|_| _ = hasher.update(&vec![0; 32 * width]));
                hasher.update(&row).finalize_xof().squeeze(&mut signature[..shape.c_tilde]);
                let valid = hinted.is_empty() || value == highest;
                assert_eq!(
                    verify::<P, F>(&public, signature).is_ok(),
                    valid,
                    "{} {hinted:?} {value}",
                    P::NAME
                );
            }
        }
    }
    for_each_set!(test);
}

/// H(μ ‖ w1Encode(HighBits(A·z))) for ρ = 05…05 and z zero except for one coefficient, computed in the plainest way:
/// the product with a monomial in T_q, row by row, with `i64` and `rem_euclid`.
fn challenge_of_zero_key<P: ParameterSet>(mu: &[u8; 64], index: usize, z: i32) -> [u8; 64] {
    const Q: i64 = 8_380_417;
    fn power(mut base: i64, mut exponent: u32) -> i64 {
        let mut result = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result * base % Q;
            }
            base = base * base % Q;
            exponent >>= 1;
        }
        result
    }
    let shape = Shape::of::<P>();
    // T_q: entry i is the value at ζ^(2·BitRev8(i) + 1) (FIPS 204, §2.5).
    let points: Vec<i64> =
        (0..256u32).map(|i| power(1753, 2 * u32::from((i as u8).reverse_bits()) + 1)).collect();
    let (column, degree) = ((index >> 8) as u8, (index & 255) as u32);
    let z_hat: Vec<i64> = points.iter().map(|x| (i64::from(z) * power(*x, degree)).rem_euclid(Q)).collect();
    let inverses: Vec<i64> = points.iter().map(|x| power(*x, Q as u32 - 2)).collect();

    let mut hasher = Shake256::new();
    hasher.update(mu);
    for row in 0..shape.k as u8 {
        let mut xof = Shake128::new().update(&[5; 32]).update(&[column, row]).finalize_xof();
        let mut w_hat = Vec::new();
        while w_hat.len() < 256 {
            let mut bytes = [0; 3];
            xof.squeeze(&mut bytes);
            let a = i64::from(bytes[0]) | i64::from(bytes[1]) << 8 | i64::from(bytes[2] & 0x7f) << 16;
            if a < Q {
                w_hat.push(a * z_hat[w_hat.len()] % Q);
            }
        }
        // The inverse transform by its definition: the n-th coefficient is the mean of the values times x^-n.
        let mut powers = vec![power(256, Q as u32 - 2); 256];
        let mut packed = Vec::new();
        let (mut bits, mut count) = (0u32, 0);
        for _ in 0..256 {
            let w = w_hat.iter().zip(&powers).map(|(w, x)| w * x % Q).sum::<i64>() % Q;
            powers.iter_mut().zip(&inverses).for_each(|(x, inverse)| *x = *x * inverse % Q);
            let (alpha, width) = if shape.z_bits == 18 { ((Q - 1) / 44, 6) } else { ((Q - 1) / 16, 4) };
            let mut r0 = w % alpha;
            if r0 > alpha / 2 {
                r0 -= alpha;
            }
            let r1 = if w - r0 == Q - 1 { 0 } else { (w - r0) / alpha };
            bits |= (r1 as u32) << count;
            count += width;
            while count >= 8 {
                packed.push(bits as u8);
                bits >>= 8;
                count -= 8;
            }
        }
        hasher.update(&packed);
    }
    let mut out = [0; 64];
    hasher.finalize_xof().squeeze(&mut out);
    // SHAKE: c̃ of each length is a prefix of this.
    out
}
