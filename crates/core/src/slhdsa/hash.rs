//! FIPS 205, §11: the functions of the two families, many at once.

use sha2::{Sha256, Sha512};

use super::address::Address;
use super::params::{Family, Params};
use crate::engine::{self, Absorber, Sponges};
use crate::secret::wipe;
use crate::sha2_lanes::{Chain, INITIAL_256, INITIAL_512, LANES_32, LANES_64, Rows32, Rows64, active};
use crate::sha3::{LANES, Shake256, State, squeeze};

/// The functions of a key: with PK.seed, and the states of SHA-2 behind it.
pub(super) struct Hash<'a> {
    pub params: &'static Params,
    pub pk_seed: &'a [u8],
    prefix_256: [u32; 8],
    prefix_512: [u64; 8],
}

/// The message of a hash.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// So many bytes for each, one after the other, where the results take their place.
    InPlace(usize),
    /// One message for all addresses: PRF hashes SK.seed.
    Common(&'a [u8]),
}

impl Input<'_> {
    const fn len(&self) -> usize {
        match self {
            Self::InPlace(len) => *len,
            Self::Common(bytes) => bytes.len(),
        }
    }

    fn of<'b>(&'b self, buffer: &'b [u8], i: usize) -> &'b [u8] {
        match self {
            Self::InPlace(len) => &buffer[i * len..][..*len],
            Self::Common(bytes) => bytes,
        }
    }
}

impl<'a> Hash<'a> {
    pub(super) fn new(params: &'static Params, pk_seed: &'a [u8]) -> Self {
        let mut hash = Self { params, pk_seed, prefix_256: INITIAL_256, prefix_512: INITIAL_512 };
        if params.family == Family::Sha2 {
            let mut block = [0; 128];
            block[..pk_seed.len()].copy_from_slice(pk_seed);
            let (mut state, mut rows) = (Rows32(INITIAL_256.map(|word| [word; LANES_32])), Rows32::ZERO);
            load_32(&mut rows, 0, block.first_chunk().expect("64 of 128 bytes"));
            (active().compress_32)(&mut state, &rows, 1);
            hash.prefix_256 = state.0.map(|row| row[0]);
            let (mut state, mut rows) = (Rows64(INITIAL_512.map(|word| [word; LANES_64])), Rows64::ZERO);
            load_64(&mut rows, 0, &block);
            (active().compress_64)(&mut state, &rows, 1);
            hash.prefix_512 = state.0.map(|row| row[0]);
        }
        hash
    }

    /// F, H, T_l or PRF of `count` messages, with the address of each, which are asked for in their order: n bytes each, one after the
    /// other, to the start of `buffer`.
    pub(super) fn many(
        &self,
        count: usize,
        mut address: impl FnMut() -> Address,
        input: Input<'_>,
        buffer: &mut [u8],
    ) {
        let n = self.params.n;
        match self.params.family {
            Family::Shake => {
                engine::run::<_, { 1 + LANES }>(&mut Messages {
                    hash: self,
                    address,
                    input,
                    count,
                    next: 0,
                    buffer,
                });
            }
            // F and PRF are SHA-256 in every set; the others only in category 1.
            Family::Sha2 if n == 16 || input.len() == n => {
                for first in (0..count).step_by(LANES_32) {
                    let busy = LANES_32.min(count - first);
                    let mut addresses = [[0; 22]; LANES_32];
                    addresses[..busy].fill_with(|| address().compressed());
                    let mut state = Rows32(self.prefix_256.map(|word| [word; LANES_32]));
                    let mut rows = Rows32::ZERO;
                    for number in 0..blocks::<64>(input.len()) {
                        for (lane, address) in addresses[..busy].iter().enumerate() {
                            load_32(&mut rows, lane, &block(address, input.of(buffer, first + lane), number));
                        }
                        (active().compress_32)(&mut state, &rows, busy);
                    }
                    for (lane, out) in buffer[first * n..(first + busy) * n].chunks_exact_mut(n).enumerate() {
                        for (bytes, row) in out.as_chunks_mut().0.iter_mut().zip(&state.0) {
                            *bytes = row[lane].to_be_bytes();
                        }
                    }
                    wipe(rows.0.as_flattened_mut());
                    wipe(state.0.as_flattened_mut());
                }
            }
            Family::Sha2 => {
                for first in (0..count).step_by(LANES_64) {
                    let busy = LANES_64.min(count - first);
                    let mut addresses = [[0; 22]; LANES_64];
                    addresses[..busy].fill_with(|| address().compressed());
                    let mut state = Rows64(self.prefix_512.map(|word| [word; LANES_64]));
                    let mut rows = Rows64::ZERO;
                    for number in 0..blocks::<128>(input.len()) {
                        for (lane, address) in addresses[..busy].iter().enumerate() {
                            load_64(&mut rows, lane, &block(address, input.of(buffer, first + lane), number));
                        }
                        (active().compress_64)(&mut state, &rows, busy);
                    }
                    for (lane, out) in buffer[first * n..(first + busy) * n].chunks_exact_mut(n).enumerate() {
                        for (bytes, row) in out.as_chunks_mut().0.iter_mut().zip(&state.0) {
                            *bytes = row[lane].to_be_bytes();
                        }
                    }
                    wipe(rows.0.as_flattened_mut());
                    wipe(state.0.as_flattened_mut());
                }
            }
        }
    }

    /// Chains of F, each from its address on and as many steps as it has, over values of n bytes, one after the other.
    ///
    /// FIPS 205, Algorithm 5 (chain). Variable time in the steps, which a signature shows.
    pub(super) fn chains(&self, count: usize, address: impl FnMut() -> (Address, u32), values: &mut [u8]) {
        match self.params.family {
            Family::Sha2 => self.chains_of_sha2(count, address, values),
            Family::Shake => {
                engine::run::<_, { 1 + LANES }>(&mut Chains { hash: self, address, count, next: 0, values });
            }
        }
    }

    fn chains_of_sha2(&self, count: usize, mut address: impl FnMut() -> (Address, u32), values: &mut [u8]) {
        let (n, words) = (self.params.n, self.params.n >> 2);
        let mut chain = Chain { address: Rows32::ZERO, value: Rows32::ZERO };
        // The chain of each lane, and its steps that are left.
        let mut lanes = [(0, 0); LANES_32];
        let (mut busy, mut next) = (0, 0);
        let mut begin = |chain: &mut Chain, lane: usize, values: &[u8]| {
            while next < count {
                let (address, steps) = address();
                next += 1;
                if steps > 0 {
                    let compressed = address.compressed();
                    let (head, end) = compressed.as_chunks();
                    for (row, word) in chain.address.0.iter_mut().zip(head) {
                        row[lane] = u32::from_be_bytes(*word);
                    }
                    chain.address.0[5][lane] = u32::from_be_bytes([end[0], end[1], 0, 0]);
                    let value = &values[(next - 1) * n..][..n];
                    for (row, word) in chain.value.0.iter_mut().zip(value.as_chunks().0) {
                        row[lane] = u32::from_be_bytes(*word);
                    }
                    return Some((next - 1, steps));
                }
            }
            None
        };
        loop {
            while busy < LANES_32
                && let Some(job) = begin(&mut chain, busy, values)
            {
                lanes[busy] = job;
                busy += 1;
            }
            let Some(steps) = lanes[..busy].iter().map(|(_, left)| *left).min() else { break };
            (active().chain)(&self.prefix_256, &mut chain, words, steps as usize, busy);
            for lane in (0..busy).rev() {
                lanes[lane].1 -= steps;
                if lanes[lane].1 > 0 {
                    continue;
                }
                let out = &mut values[lanes[lane].0 * n..][..n];
                for (bytes, row) in out.as_chunks_mut().0.iter_mut().zip(&chain.value.0) {
                    *bytes = row[lane].to_be_bytes();
                }
                if let Some(job) = begin(&mut chain, lane, values) {
                    lanes[lane] = job;
                    continue;
                }
                busy -= 1;
                lanes[lane] = lanes[busy];
                for row in chain.address.0.iter_mut().chain(&mut chain.value.0) {
                    row[lane] = row[busy];
                }
            }
        }
        wipe(chain.value.0.as_flattened_mut());
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

fn load_32(rows: &mut Rows32<16>, lane: usize, block: &[u8; 64]) {
    for (row, word) in rows.0.iter_mut().zip(block.as_chunks().0) {
        row[lane] = u32::from_be_bytes(*word);
    }
}

fn load_64(rows: &mut Rows64<16>, lane: usize, block: &[u8; 128]) {
    for (row, word) in rows.0.iter_mut().zip(block.as_chunks().0) {
        row[lane] = u64::from_be_bytes(*word);
    }
}

/// The blocks of ADRSc, a message of so many bytes and the padding of SHA-2, which has a byte and the length in an eighth of a block.
const fn blocks<const BLOCK: usize>(len: usize) -> usize {
    (22 + len + 1 + (BLOCK >> 3)).next_multiple_of(BLOCK) >> BLOCK.trailing_zeros()
}

/// One of these blocks, behind the prefix.
fn block<const BLOCK: usize>(address: &[u8; 22], message: &[u8], number: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let start = number * BLOCK;
    let place = if number == 0 { 22 } else { 0 };
    block[..place].copy_from_slice(&address[..place]);
    let rest = &message[(start + place - 22).min(message.len())..];
    let piece = &rest[..rest.len().min(BLOCK - place)];
    block[place..place + piece.len()].copy_from_slice(piece);
    let end = 22 + message.len();
    if let Some(byte) = block.get_mut(end.wrapping_sub(start)) {
        *byte = 0x80;
    }
    if number + 1 == blocks::<BLOCK>(message.len()) {
        let bits = 8 * (BLOCK + end) as u64;
        block[BLOCK - 8..].copy_from_slice(&bits.to_be_bytes());
    }
    block
}

/// Messages of SHAKE256 side by side.
struct Messages<'h, 'i, 'b, A> {
    hash: &'h Hash<'h>,
    address: A,
    input: Input<'i>,
    count: usize,
    next: usize,
    buffer: &'b mut [u8],
}

impl<A: FnMut() -> Address> Messages<'_, '_, '_, A> {
    fn feed(&mut self, job: &mut (usize, [u8; 32], Absorber), state: &mut State) -> bool {
        let (i, address, absorber) = job;
        absorber.feed(state, &[self.hash.pk_seed, address, self.input.of(self.buffer, *i)], true)
    }
}

impl<A: FnMut() -> Address> Sponges for Messages<'_, '_, '_, A> {
    /// The number of the message, its address, and its progress.
    type Job = (usize, [u8; 32], Absorber);
    const IDLE: Self::Job = (0, [0; 32], Absorber::SHAKE);

    fn begin(&mut self, state: &mut State) -> Option<Self::Job> {
        if self.next == self.count {
            return None;
        }
        let mut job = (self.next, (self.address)().bytes(), Absorber::SHAKE);
        self.next += 1;
        state.0 = [0; 25];
        self.feed(&mut job, state);
        Some(job)
    }

    fn step(&mut self, job: &mut Self::Job, state: &mut State) -> bool {
        if self.feed(job, state) {
            return true;
        }
        let n = self.hash.params.n;
        squeeze(state, &mut self.buffer[job.0 * n..][..n]);
        false
    }
}

/// Chains of SHAKE256 side by side.
struct Chains<'h, 'b, A> {
    hash: &'h Hash<'h>,
    address: A,
    count: usize,
    next: usize,
    values: &'b mut [u8],
}

impl<A> Chains<'_, '_, A> {
    fn load(&self, i: usize, address: &Address, state: &mut State) {
        let value = &self.values[i * self.hash.params.n..][..self.hash.params.n];
        state.0 = [0; 25];
        let mut absorber = Absorber::SHAKE;
        absorber.feed(state, &[self.hash.pk_seed, &address.bytes(), value], true);
    }
}

impl<A: FnMut() -> (Address, u32)> Sponges for Chains<'_, '_, A> {
    /// The number of the chain, the address of its next step, and the steps that are left.
    type Job = (usize, Address, u32);
    const IDLE: Self::Job = (0, Address::NONE, 0);

    fn begin(&mut self, state: &mut State) -> Option<Self::Job> {
        while self.next < self.count {
            let (address, steps) = (self.address)();
            self.next += 1;
            if steps > 0 {
                self.load(self.next - 1, &address, state);
                return Some((self.next - 1, address, steps));
            }
        }
        None
    }

    fn step(&mut self, (i, address, left): &mut Self::Job, state: &mut State) -> bool {
        let n = self.hash.params.n;
        squeeze(state, &mut self.values[*i * n..][..n]);
        *left -= 1;
        if *left == 0 {
            return false;
        }
        *address = address.further(1);
        self.load(*i, address, state);
        true
    }
}
