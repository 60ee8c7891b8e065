//! The same algorithms in the least memory (FIPS 204, §6): a row or a column at a time.
//!
//! No polynomial of the matrix exists, but for the eight candidates that a squeeze gave: they are multiplied as they come. The
//! two halves of a transform do not meet after its first layer, and the products want one half after the other: so a factor is
//! transformed by halves, from packed bytes. A signing keeps w in the bytes that z will take, 24 bits a coefficient, and on
//! the stack what does not fit there; y is hashed again for z. Products with the challenge are sums at its places.
//!
//! # Layout
//!
//! * `sampling`: polynomials from hashes; `sums`: w; `challenge`: products with c;
//! * `key_gen`, `private_key`, `sign`, `verify`; `representative`: what the last two share.

use super::kernels::Multiplicand;
use super::params::sealed::Parameters;
use super::ring::Poly;
use crate::small::words;

mod challenge;
mod key_gen;
mod private_key;
mod representative;
mod sampling;
mod sign;
mod sums;
mod verify;

pub(super) use key_gen::{hash_of_public_key, key_gen, public_key};
pub(super) use private_key::{EncodedParts, s_outside};
pub(super) use sign::{sign_encoded, sign_seed};
pub(super) use verify::verify;

/// How deep the operations go, and some to spare (`cargo xtask stack`, `firmware bench`): on processors of 64 bits, with any number of codegen units, on Armv7E-M, and on
/// others of 32 bits; and how much deeper on these in a build for size.
const fn depth(wide: usize, armv7em: usize, narrow: usize, for_size: usize) -> usize {
    let (depth, more) = if cfg!(target_pointer_width = "64") {
        (wide, 0)
    } else if cfg!(gambeson_dsp) {
        (armv7em, 8)
    } else {
        (narrow, for_size)
    };
    if cfg!(gambeson_size) { depth + more } else { depth }
}
pub(super) const KEY_GEN: usize = depth(2880, 2272, 2368, 176);
pub(super) const TR: usize = depth(3136, 2560, 2688, 176);
pub(super) const SIGN_44: usize = depth(4160, 3504, 3584, 0);
pub(super) const SIGN_65: usize = depth(4800, 4160, 4256, 0);
pub(super) const SIGN_87: usize = depth(5056, 4416, 4512, 0);
pub(super) const SIGN_ENCODED_44: usize = depth(3456, 2704, 2848, 0);
pub(super) const SIGN_ENCODED_65: usize = depth(4096, 3344, 3488, 0);
pub(super) const SIGN_ENCODED_87: usize = depth(4352, 3600, 3760, 0);

/// The same in a workspace, of every set.
pub(super) const KEY_GEN_IN_WORKSPACE: usize = depth(1280, 480, 640, 0);
pub(super) const IN_WORKSPACE: usize = depth(1280, 720, 800, 0);

/// Words of a workspace: signing from the seed takes most, where t0 is made again.
pub(super) const fn workspace<P: Parameters>() -> usize {
    let of_t0 = words::<(Poly, [u8; 128])>() + words::<Multiplicand>();
    words::<sign::OfSeed<P>>() + words::<P::Spill>() + words::<challenge::Challenge>() + of_t0
}

#[cfg(test)]
mod tests {
    use super::super::forms::ParameterSet;
    use super::super::message::Message;
    use super::super::{MlDsa44, MlDsa65, MlDsa87};
    use super::*;
    use crate::Bytes;
    use crate::Small;
    use crate::small::tests::most_words;

    #[test]
    fn no_word_of_a_workspace_is_too_many() {
        fn test<P: ParameterSet>() {
            let room = workspace::<P>();
            let (mut pk, mut signature, mut tr) =
                (P::VerifyingKeyBytes::zeroed(), P::Signature::zeroed(), [0; 64]);
            let of_keys = [
                most_words(room, |memory| hash_of_public_key::<Small<P>>(&[1; 32], &mut tr, memory)),
                most_words(room, |memory| public_key::<Small<P>>(&[1; 32], pk.as_mut(), memory)),
                most_words(room, |memory| key_gen::<Small<P>>(&[1; 32], pk.as_mut(), &mut tr, memory)),
            ];
            let message = Message::from(b"message");
            let of_signing = most_words(room, |memory| {
                let key = (&[1; 32], &tr);
                sign_seed::<Small<P>>(key, &message, &[0; 32], signature.as_mut(), memory);
            });
            let of_verification = most_words(room, |memory| {
                let verdict = verify::<Small<P>>(pk.as_ref(), &message, signature.as_ref(), memory);
                assert_eq!(verdict, Ok(()));
            });
            assert!(of_keys.into_iter().max() < Some(room) && of_verification < room);
            assert_eq!(of_signing, room, "{}", P::NAME);
        }
        test::<MlDsa44>();
        test::<MlDsa65>();
        test::<MlDsa87>();
    }
}
