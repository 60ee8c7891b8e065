//! FIPS 205, §11: the functions of the two families.

use sha2::{Sha256, Sha512};

use super::address::Address;
use super::params::{Family, Params};
use crate::many::{Function, Input, Messages};
use crate::secret::wipe;
use crate::sha3::Shake256;

/// The functions of a key, behind PK.seed.
pub(super) struct Hash<'a> {
    pub params: &'static Params,
    pk_seed: &'a [u8],
    /// F and PRF.
    short: Function<'a>,
    /// H and T_l.
    long: Function<'a>,
}

impl<'a> Hash<'a> {
    pub(super) fn new(params: &'static Params, pk_seed: &'a [u8]) -> Self {
        let (short, long) = match params.family {
            Family::Shake => (Function::Shake256(pk_seed), Function::Shake256(pk_seed)),
            Family::Sha2 => {
                let mut block = [0; 128];
                block[..pk_seed.len()].copy_from_slice(pk_seed);
                let short = Function::sha_256_behind(block.first_chunk().expect("64 of 128 bytes"));
                // In category 1 all are SHA-256.
                (short, if params.n == 16 { short } else { Function::sha_512_behind(&block) })
            }
        };
        Self { params, pk_seed, short, long }
    }

    /// PRF of SK.seed with `count` addresses, which are asked for in their order: n bytes each, one after the other, to the start of `out`.
    pub(super) fn prf(&self, sk_seed: &[u8], count: usize, address: impl FnMut() -> Address, out: &mut [u8]) {
        let n = self.params.n;
        for i in 0..count {
            out[i * n..][..n].copy_from_slice(sk_seed);
        }
        self.f(count, address, out);
    }

    /// F of `count` values with an address each, in place.
    pub(super) fn f(&self, count: usize, mut address: impl FnMut() -> Address, values: &mut [u8]) {
        self.chains(count, || (address(), 1, None), values, &mut |_, _| ());
    }

    /// Chains of F, each from its address on and as many steps as it has, over values of n bytes, one after the other. `take` receives the
    /// number of a chain and its value after the steps of the third part, if there are such.
    ///
    /// FIPS 205, Algorithm 5 (chain).
    pub(super) fn chains(
        &self,
        count: usize,
        mut address: impl FnMut() -> (Address, u32, Option<u32>),
        values: &mut [u8],
        take: &mut dyn FnMut(usize, &[u8]),
    ) {
        let n = self.params.n;
        match self.params.family {
            Family::Sha2 => {
                let mut head = || {
                    let (address, steps, stop) = address();
                    (address.compressed(), steps, stop)
                };
                self.short.chains_through(n, count, &mut head, values, take);
            }
            Family::Shake => {
                let mut head = || {
                    let (address, steps, stop) = address();
                    (address.bytes(), steps, stop)
                };
                self.short.chains_through(n, count, &mut head, values, take);
            }
        }
    }

    /// H or T_l of `count` messages of `len` bytes with an address each, in place.
    pub(super) fn long(
        &self,
        count: usize,
        mut address: impl FnMut() -> Address,
        len: usize,
        buffer: &mut [u8],
    ) {
        let (n, input) = (self.params.n, Input::InPlace(len));
        match self.params.family {
            Family::Sha2 => self.long.many(n, count, &mut || address().compressed(), input, buffer),
            Family::Shake => self.long.many(n, count, &mut || address().bytes(), input, buffer),
        }
    }

    /// The most messages of T_l side by side.
    pub(super) const fn lanes(&self) -> usize {
        self.long.lanes()
    }

    /// T_l of `count` messages in pieces, with an address each.
    pub(super) fn messages(&self, count: usize, mut address: impl FnMut() -> Address) -> Messages {
        match self.params.family {
            Family::Sha2 => Messages::new(self.long, count, &mut || address().compressed()),
            Family::Shake => Messages::new(self.long, count, &mut || address().bytes()),
        }
    }

    /// PRF_msg: the randomiser R of a message in pieces, to `r`.
    pub(super) fn prf_msg(&self, sk_prf: &[u8], randomness: &[u8], message: &[&[u8]], r: &mut [u8]) {
        match (self.params.family, self.params.n) {
            (Family::Shake, _) => {
                let mut hasher = Shake256::new();
                hasher.update(sk_prf).update(randomness);
                message.iter().for_each(|piece| _ = hasher.update(piece));
                hasher.finalize_xof().squeeze(r);
            }
            (Family::Sha2, 16) => r.copy_from_slice(&hmac::<Sha256, 64>(sk_prf, randomness, message)[..16]),
            (Family::Sha2, n) => r.copy_from_slice(&hmac::<Sha512, 128>(sk_prf, randomness, message)[..n]),
        }
    }

    /// H_msg: the digest of a message in pieces, to `digest`.
    pub(super) fn h_msg(&self, r: &[u8], pk_root: &[u8], message: &[&[u8]], digest: &mut [u8]) {
        match (self.params.family, self.params.n) {
            (Family::Shake, _) => {
                let mut hasher = Shake256::new();
                hasher.update(r).update(self.pk_seed).update(pk_root);
                message.iter().for_each(|piece| _ = hasher.update(piece));
                hasher.finalize_xof().squeeze(digest);
            }
            (Family::Sha2, 16) => mgf1_of::<Sha256>(r, self.pk_seed, pk_root, message, digest),
            (Family::Sha2, _) => mgf1_of::<Sha512>(r, self.pk_seed, pk_root, message, digest),
        }
    }
}

/// HMAC (FIPS 198-1) of the randomness and a message in pieces; the key is shorter than a block.
fn hmac<D: sha2::Digest, const BLOCK: usize>(
    key: &[u8],
    randomness: &[u8],
    message: &[&[u8]],
) -> sha2::digest::Output<D> {
    let padded = |pad: u8| {
        let mut block = [pad; BLOCK];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        let hasher = D::new_with_prefix(block);
        wipe(&mut block);
        hasher
    };
    let mut inner = padded(0x36).chain_update(randomness);
    message.iter().for_each(|piece| inner.update(piece));
    padded(0x5c).chain_update(inner.finalize()).finalize()
}

/// MGF1 (RFC 8017, Appendix B.2.1) of R ‖ PK.seed ‖ hash(R ‖ PK.seed ‖ PK.root ‖ M).
fn mgf1_of<D: sha2::Digest>(r: &[u8], pk_seed: &[u8], pk_root: &[u8], message: &[&[u8]], out: &mut [u8]) {
    let mut inner = D::new().chain_update(r).chain_update(pk_seed).chain_update(pk_root);
    message.iter().for_each(|piece| inner.update(piece));
    let inner = inner.finalize();
    for (counter, out) in (0_u32..).zip(out.chunks_mut(<D as sha2::Digest>::output_size())) {
        let block = D::new()
            .chain_update(r)
            .chain_update(pk_seed)
            .chain_update(&inner)
            .chain_update(counter.to_be_bytes())
            .finalize();
        out.copy_from_slice(&block[..out.len()]);
    }
}
