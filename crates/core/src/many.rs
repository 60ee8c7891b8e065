//! Many hashes of short messages at once: a head, which differs from one to the next, and a few values of n bytes.

use crate::engine::{self, Absorber, Sponges};
use crate::secret::wipe;
use crate::sha2_lanes::{Chain, Form, INITIAL_256, INITIAL_512, LANES_32, LANES_64, Rows32, Rows64, active};
use crate::sha3::{LANES, Shake128, State, squeeze};

/// A function, with what all messages begin with.
#[derive(Clone, Copy)]
pub(crate) enum Function<'a> {
    /// SHA-256, its state, and the bytes that led to it: whole blocks.
    Sha256([u32; 8], usize),
    /// SHA-512, likewise.
    Sha512([u64; 8], usize),
    Shake256(&'a [u8]),
    /// SHAKE128, whose messages are hashed one after the other: no approved set has it.
    Shake128(&'a [u8]),
}

/// The message behind the head.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// So many bytes for each, one after the other, where the results take their place.
    InPlace(usize),
    /// The same for all, such as a seed.
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

impl Function<'_> {
    pub(crate) const SHA_256: Self = Self::Sha256(INITIAL_256, 0);

    /// SHA-256 behind a block.
    pub(crate) fn sha_256_behind(block: &[u8; 64]) -> Self {
        let (mut state, mut rows) = (Rows32(INITIAL_256.map(|word| [word; LANES_32])), Rows32::ZERO);
        load_32(&mut rows, 0, block);
        (active().compress_32)(&mut state, &rows, 1);
        Self::Sha256(state.0.map(|row| row[0]), 64)
    }

    /// SHA-512 behind a block.
    pub(crate) fn sha_512_behind(block: &[u8; 128]) -> Self {
        let (mut state, mut rows) = (Rows64(INITIAL_512.map(|word| [word; LANES_64])), Rows64::ZERO);
        load_64(&mut rows, 0, block);
        (active().compress_64)(&mut state, &rows, 1);
        Self::Sha512(state.0.map(|row| row[0]), 128)
    }

    /// The hashes of `count` messages, whose heads are asked for in their order: n bytes each, one after the other, to the start
    /// of `buffer`.
    pub(crate) fn many<const HEAD: usize>(
        self,
        n: usize,
        count: usize,
        head: &mut dyn FnMut() -> [u8; HEAD],
        input: Input<'_>,
        buffer: &mut [u8],
    ) {
        match self {
            Self::Shake256(prefix) => {
                let mut messages = Messages { prefix, n, head, input, count, next: 0, buffer };
                engine::run::<_, { 1 + LANES }>(&mut messages);
            }
            Self::Shake128(prefix) => {
                for i in 0..count {
                    let mut hasher = Shake128::new();
                    hasher.update(prefix).update(&head()).update(input.of(buffer, i));
                    hasher.finalize_xof().squeeze(&mut buffer[i * n..][..n]);
                }
            }
            Self::Sha256(prefix, before) => {
                for first in (0..count).step_by(LANES_32) {
                    let busy = LANES_32.min(count - first);
                    let mut heads = [[0; HEAD]; LANES_32];
                    heads[..busy].fill_with(&mut *head);
                    let mut state = Rows32(prefix.map(|word| [word; LANES_32]));
                    let mut rows = Rows32::ZERO;
                    for number in 0..blocks::<64>(HEAD + input.len()) {
                        for (lane, head) in heads[..busy].iter().enumerate() {
                            let block = block(before, head, input.of(buffer, first + lane), number);
                            load_32(&mut rows, lane, &block);
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
            Self::Sha512(prefix, before) => {
                for first in (0..count).step_by(LANES_64) {
                    let busy = LANES_64.min(count - first);
                    let mut heads = [[0; HEAD]; LANES_64];
                    heads[..busy].fill_with(&mut *head);
                    let mut state = Rows64(prefix.map(|word| [word; LANES_64]));
                    let mut rows = Rows64::ZERO;
                    for number in 0..blocks::<128>(HEAD + input.len()) {
                        for (lane, head) in heads[..busy].iter().enumerate() {
                            let block = block(before, head, input.of(buffer, first + lane), number);
                            load_64(&mut rows, lane, &block);
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

    /// Chains of hashes: each value of n bytes becomes the hash of its head and itself, as many times as its head says; the head's last byte
    /// counts the steps. Heads are asked for in the order of the values.
    ///
    /// Variable time in the numbers of steps, which signatures show.
    pub(crate) fn chains<const HEAD: usize>(
        self,
        n: usize,
        count: usize,
        head: &mut dyn FnMut() -> ([u8; HEAD], u32),
        values: &mut [u8],
    ) {
        match self {
            Self::Sha256(prefix, before) => {
                let len = (before + HEAD + n) as u32;
                let form = Form { prefix, len, words: n >> 2, bits: 8 * (HEAD as u32 - 20) };
                chains_of_sha_256(&form, n, count, head, values);
            }
            Self::Shake256(prefix) => {
                engine::run::<_, { 1 + LANES }>(&mut Chains { prefix, n, head, count, next: 0, values });
            }
            Self::Sha512(..) | Self::Shake128(_) => unreachable!("no standard has such chains"),
        }
    }
}

fn chains_of_sha_256<const HEAD: usize>(
    form: &Form,
    n: usize,
    count: usize,
    head: &mut dyn FnMut() -> ([u8; HEAD], u32),
    values: &mut [u8],
) {
    let mut chain = Chain { head: Rows32::ZERO, value: Rows32::ZERO };
    // The chain of each lane, and its steps that are left.
    let mut lanes = [(0, 0); LANES_32];
    let (mut busy, mut next) = (0, 0);
    let mut begin = |chain: &mut Chain, lane: usize, values: &[u8]| {
        while next < count {
            let (head, steps) = head();
            next += 1;
            if steps > 0 {
                let mut whole = [0; 24];
                whole[..HEAD].copy_from_slice(&head);
                for (row, word) in chain.head.0.iter_mut().zip(whole.as_chunks().0) {
                    row[lane] = u32::from_be_bytes(*word);
                }
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
        (active().chain)(form, &mut chain, steps as usize, busy);
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
            for row in chain.head.0.iter_mut().chain(&mut chain.value.0) {
                row[lane] = row[busy];
            }
        }
    }
    wipe(chain.value.0.as_flattened_mut());
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

/// The blocks of a message of so many bytes and the padding of SHA-2, which has a byte and the length in an eighth of a block.
const fn blocks<const BLOCK: usize>(len: usize) -> usize {
    (len + 1 + (BLOCK >> 3)).next_multiple_of(BLOCK) >> BLOCK.trailing_zeros()
}

/// One of these blocks of head ‖ message, behind so many bytes.
fn block<const BLOCK: usize>(before: usize, head: &[u8], message: &[u8], number: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let start = number * BLOCK;
    let place = if number == 0 { head.len() } else { 0 };
    block[..place].copy_from_slice(&head[..place]);
    let rest = &message[(start + place - head.len()).min(message.len())..];
    let piece = &rest[..rest.len().min(BLOCK - place)];
    block[place..place + piece.len()].copy_from_slice(piece);
    let end = head.len() + message.len();
    if let Some(byte) = block.get_mut(end.wrapping_sub(start)) {
        *byte = 0x80;
    }
    if number + 1 == blocks::<BLOCK>(end) {
        let bits = 8 * (before + end) as u64;
        block[BLOCK - 8..].copy_from_slice(&bits.to_be_bytes());
    }
    block
}

/// Messages of SHAKE256 side by side.
struct Messages<'p, 'i, 'b, 'h, const HEAD: usize> {
    prefix: &'p [u8],
    n: usize,
    head: &'h mut dyn FnMut() -> [u8; HEAD],
    input: Input<'i>,
    count: usize,
    next: usize,
    buffer: &'b mut [u8],
}

impl<const HEAD: usize> Messages<'_, '_, '_, '_, HEAD> {
    fn feed(&self, job: &mut (usize, [u8; HEAD], Absorber), state: &mut State) -> bool {
        let (i, head, absorber) = job;
        absorber.feed(state, &[self.prefix, head, self.input.of(self.buffer, *i)], true)
    }
}

impl<const HEAD: usize> Sponges for Messages<'_, '_, '_, '_, HEAD> {
    /// Which message, its head, and how far it is.
    type Job = (usize, [u8; HEAD], Absorber);
    const IDLE: Self::Job = (0, [0; HEAD], Absorber::SHAKE);

    fn begin(&mut self, state: &mut State) -> Option<Self::Job> {
        if self.next == self.count {
            return None;
        }
        let mut job = (self.next, (self.head)(), Absorber::SHAKE);
        self.next += 1;
        state.0 = [0; 25];
        self.feed(&mut job, state);
        Some(job)
    }

    fn step(&mut self, job: &mut Self::Job, state: &mut State) -> bool {
        if self.feed(job, state) {
            return true;
        }
        squeeze(state, &mut self.buffer[job.0 * self.n..][..self.n]);
        false
    }
}

/// Chains of SHAKE256 side by side.
struct Chains<'p, 'b, 'h, const HEAD: usize> {
    prefix: &'p [u8],
    n: usize,
    head: &'h mut dyn FnMut() -> ([u8; HEAD], u32),
    count: usize,
    next: usize,
    values: &'b mut [u8],
}

impl<const HEAD: usize> Chains<'_, '_, '_, HEAD> {
    fn load(&self, i: usize, head: &[u8; HEAD], state: &mut State) {
        state.0 = [0; 25];
        let mut absorber = Absorber::SHAKE;
        absorber.feed(state, &[self.prefix, head, &self.values[i * self.n..][..self.n]], true);
    }
}

impl<const HEAD: usize> Sponges for Chains<'_, '_, '_, HEAD> {
    /// Which chain, the head of its next step, and how many steps are left.
    type Job = (usize, [u8; HEAD], u32);
    const IDLE: Self::Job = (0, [0; HEAD], 0);

    fn begin(&mut self, state: &mut State) -> Option<Self::Job> {
        while self.next < self.count {
            let (head, steps) = (self.head)();
            self.next += 1;
            if steps > 0 {
                self.load(self.next - 1, &head, state);
                return Some((self.next - 1, head, steps));
            }
        }
        None
    }

    fn step(&mut self, (i, head, left): &mut Self::Job, state: &mut State) -> bool {
        squeeze(state, &mut self.values[*i * self.n..][..self.n]);
        *left -= 1;
        if *left == 0 {
            return false;
        }
        head[HEAD - 1] += 1;
        self.load(*i, head, state);
        true
    }
}
