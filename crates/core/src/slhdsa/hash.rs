//! FIPS 205, §11: the functions of the two families.

use sha2::{Sha256, Sha512};

use super::address::{Address, Kind};
use super::params::{Family, Params};
use crate::many::{FromSeed, Function, Input, Job, Messages};
use crate::secret::wipe;
use crate::sha3::Shake256;

/// The functions of a key, behind PK.seed.
pub(super) struct Hash<'a> {
    pub params: &'static Params,
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
        Self { params, short, long }
    }

    /// Chains of F from PRF of SK.seed on, `count` of them, to `values`, n bytes each. The addresses of PRF come in their order, maybe with a
    /// number of steps; those of F have another type. `take` receives the number of the chain and its value after these steps.
    pub(super) fn secret_chains(
        &self,
        sk_seed: &[u8],
        (of_prf, of_f, steps): (Kind, Kind, u32),
        count: usize,
        mut address: impl FnMut() -> (Address, Option<u32>),
        values: &mut [u8],
        take: &mut dyn FnMut(usize, &[u8]),
    ) {
        let bits = of_prf as u8 ^ of_f as u8;
        match self.params.family {
            Family::Sha2 => {
                let chains = FromSeed { seed: sk_seed, byte: Address::KIND_COMPRESSED, bits, steps };
                let mut head = || {
                    let (address, stop) = address();
                    (address.compressed(), stop)
                };
                self.short.chains_from_seed(chains, count, &mut head, values, take);
            }
            Family::Shake => {
                let chains = FromSeed { seed: sk_seed, byte: Address::KIND, bits, steps };
                let mut head = || {
                    let (address, stop) = address();
                    (address.bytes(), stop)
                };
                self.short.chains_from_seed(chains, count, &mut head, values, take);
            }
        }
    }

    /// Chains of F: the place of each value, its address and its steps.
    ///
    /// FIPS 205, Algorithm 5 (chain).
    pub(super) fn chains(&self, mut chain: impl FnMut() -> Option<(usize, Address, u32)>, values: &mut [u8]) {
        let n = self.params.n;
        match self.params.family {
            Family::Sha2 => {
                let mut jobs = || {
                    let (index, address, steps) = chain()?;
                    Some(Job { index, head: address.compressed(), steps })
                };
                self.short.run_chains(n, &mut jobs, values);
            }
            Family::Shake => {
                let mut jobs = || {
                    let (index, address, steps) = chain()?;
                    Some(Job { index, head: address.bytes(), steps })
                };
                self.short.run_chains(n, &mut jobs, values);
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
