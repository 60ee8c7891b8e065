//! The public-key encryption below the mechanism, HQC-PKE, and what keys hold for it.

use alloc::vec;
use alloc::vec::Vec;

use super::hash::{self, Sponge};
use super::kernels::{self, Kernels};
use super::params::{ParameterSet, Params, SEED};
use super::product::scratch_len;
use super::sample::{self, Stream};
use super::words::{Words, add, from_bytes, to_bytes};
use crate::secret::{Secret, declassify};

/// An encapsulation key, expanded.
#[derive(Debug)]
pub struct Public {
    pub set: ParameterSet,
    /// H(ek).
    pub hash: [u8; SEED],
    h: Words,
    s: Words,
}

impl Public {
    /// Expands keys, whose hashes run side by side.
    pub(super) fn expand(keys: &[(ParameterSet, &[u8])]) -> Vec<Self> {
        let mut made: Vec<_> = keys
            .iter()
            .map(|(set, ek)| {
                let params = set.params;
                let words = params.shape.words();
                let mut public =
                    Self { set: *set, hash: [0; SEED], h: Words::new(words), s: Words::new(words) };
                from_bytes(&mut public.s, &ek[SEED..], params.n);
                (public, vec![0; params.vector_len()])
            })
            .collect();
        let mut sponges = Vec::with_capacity(2 * keys.len());
        for ((_, ek), (public, h)) in keys.iter().zip(&mut made) {
            sponges.push(Sponge::h(ek, &mut public.hash));
            sponges.push(Sponge::xof(&ek[..SEED], h));
        }
        hash::run(&mut sponges);
        let finished = made.into_iter().map(|(mut public, h)| {
            from_bytes(&mut public.h, &h, public.set.params.n);
            public
        });
        finished.collect()
    }
}

/// The memory of operations with keys of one set.
pub(super) struct Room {
    vector: Words,
    product: Words,
    scratch: Words,
}

impl Room {
    pub(super) fn new(params: &Params) -> Self {
        let words = params.shape.words();
        Self {
            vector: Words::new(words),
            product: Words::new(words),
            scratch: Words::new(scratch_len(params.shape)),
        }
    }
}

/// Bytes of XOF(θ) that an encryption reads.
pub(super) fn randomness_len(set: ParameterSet) -> usize {
    3 * set.profile().read_len(4 * set.params.w_r)
}

/// The secret vectors of a key, y and then x, from seed_dk; `ahead` is the beginning of its XOF.
fn secrets(set: ParameterSet, seed: &[u8; SEED], ahead: &[u8], y: &mut [u64], x: Option<&mut [u64]>) {
    let kernels = kernels::active();
    let mut stream = Stream::new(set, seed, ahead);
    let mut positions = Secret::new([[0; 16]; 10]);
    for vector in core::iter::once(y).chain(x) {
        sample::positions(set, &mut stream, positions.expose_mut());
        (kernels.write)(vector, positions.expose(), set.params.w);
    }
}

/// y of seed_dk, which decryption needs.
pub(super) fn decryption_vector(set: ParameterSet, seed: &[u8; SEED]) -> Words {
    let mut ahead = Secret::new(vec![0; sample::ahead_len(set)]);
    hash::xof(seed).squeeze(ahead.expose_mut());
    let mut y = Words::new(set.params.shape.words());
    secrets(set, seed, ahead.expose(), &mut y, None);
    y
}

/// HQC-PKE.KeyGen: s = x + y·h to the end of `ek`, which begins with seed_ek; with what the keys hold.
pub(super) fn generate(set: ParameterSet, seed_dk: &[u8; SEED], ek: &mut [u8]) -> (Public, Words) {
    let params = set.params;
    let words = params.shape.words();
    let mut ahead = Secret::new(vec![0; sample::ahead_len(set)]);
    let mut h_bytes = vec![0; params.vector_len()];
    let (seed_ek, s_bytes) = ek.split_at_mut(SEED);
    // public: part of the encapsulation key
    declassify(seed_ek);
    hash::run(&mut [Sponge::xof(seed_ek, &mut h_bytes), Sponge::xof(seed_dk, ahead.expose_mut())]);
    let mut public = Public { set, hash: [0; SEED], h: Words::new(words), s: Words::new(words) };
    from_bytes(&mut public.h, &h_bytes, params.n);
    let (mut y, mut room) = (Words::new(words), Room::new(params));
    secrets(set, seed_dk, ahead.expose(), &mut y, Some(&mut room.vector));
    (kernels::active().multiply)(params, &mut public.s, &y, &public.h, &mut room.scratch);
    add(&mut public.s, &room.vector);
    // public: part of the encapsulation key
    declassify(&*public.s);
    to_bytes(s_bytes, &public.s);
    hash::run(&mut [Sponge::h(ek, &mut public.hash)]);
    (public, y)
}

/// HQC-PKE.Encrypt: u and v of the message to `c`, with XOF(θ) for randomness.
pub(super) fn encrypt(public: &Public, m: &[u8], randomness: &[u8], c: &mut [u8], room: &mut Room) {
    let (set, kernels) = (public.set, kernels::active());
    let params = set.params;
    let mut reads = randomness.chunks_exact(set.profile().read_len(4 * params.w_r));
    let mut next = || &reads.next().expect("three reads")[..4 * params.w_r];
    let (r2, e, r1) = (next(), next(), next());
    let (u, v) = c.split_at_mut(params.vector_len());
    let Room { vector, product, scratch } = room;
    let mut r_2 = Words::new(params.shape.words());
    (kernels.sample)(params, &mut r_2, r2);
    (kernels.multiply)(params, product, &public.h, &r_2, scratch);
    (kernels.sample)(params, vector, r1);
    add(product, vector);
    to_bytes(u, product);
    (kernels.multiply)(params, product, &public.s, &r_2, scratch);
    (kernels.sample)(params, vector, e);
    add(product, vector);
    let codeword = &mut vector[..params.code_words()];
    (kernels.encode)(params, codeword, m);
    add(product, codeword);
    to_bytes(&mut v[..params.code_len()], product);
}

/// HQC-PKE.Decrypt: the message of a ciphertext.
pub(super) fn decrypt(set: ParameterSet, y: &[u64], c: &[u8], m: &mut [u8], room: &mut Room) {
    let (params, Kernels { multiply, decode, .. }) = (set.params, kernels::active());
    let (u, v) = c.split_at(params.vector_len());
    let Room { vector, product, scratch } = room;
    from_bytes(vector, u, params.n);
    multiply(params, product, y, vector, scratch);
    from_bytes(vector, &v[..params.code_len()], usize::MAX);
    add(product, vector);
    decode(params, &product[..params.code_words()], m);
}
