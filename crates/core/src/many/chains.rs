//! Chains of hashes side by side.

use super::messages::permute;
use crate::secret::wipe;
use crate::sha2_lanes::{self, Chain, Form, LANES_32, Rows32};
use crate::sha3::{self, Aligned, LANES, State, absorb_at, from_byte, squeeze};

/// The most lanes of a function.
const ALL: usize = if LANES_32 > LANES { LANES_32 } else { LANES };

/// Lanes with a head and a value each.
pub(super) trait Lanes<const HEAD: usize> {
    /// The number of lanes.
    fn count(&self) -> usize;

    fn set_head(&mut self, lane: usize, head: &[u8; HEAD]);

    fn set_value(&mut self, lane: usize, value: &[u8]);

    /// Puts the same value in all lanes.
    fn set_values(&mut self, value: &[u8]);

    /// Takes back the counts of one step and flips bits of a byte of all heads.
    fn next_hash(&mut self, byte: usize, bits: u8);

    /// Takes `steps` steps in the first `busy` lanes.
    fn run(&mut self, steps: u32, busy: usize);

    /// Writes the value of a lane.
    fn value(&self, lane: usize, out: &mut [u8]);

    /// Puts the chain of lane `from` in another.
    fn replace(&mut self, lane: usize, from: usize);

    fn wipe(&mut self);
}

/// A chain to run.
pub(crate) struct Job<const HEAD: usize> {
    /// The place of its value among the values.
    pub index: usize,
    pub head: [u8; HEAD],
    pub steps: u32,
}

/// Runs chains to their ends; lanes are filled again as soon as theirs end.
pub(super) fn run<const HEAD: usize>(
    lanes: &mut impl Lanes<HEAD>,
    n: usize,
    jobs: &mut dyn FnMut() -> Option<Job<HEAD>>,
    values: &mut [u8],
) {
    let all = lanes.count();
    // The chain of each lane, and its steps that are left.
    let mut running = [(0, 0); ALL];
    let mut busy = 0;
    // The next chain with a step, in this lane.
    macro_rules! begin {
        ($lane:expr) => {
            loop {
                let Some(Job { index, head, steps }) = jobs() else { break None };
                if steps > 0 {
                    lanes.set_head($lane, &head);
                    lanes.set_value($lane, &values[index * n..][..n]);
                    break Some((index, steps));
                }
            }
        };
    }
    loop {
        while busy < all
            && let Some(job) = begin!(busy)
        {
            running[busy] = job;
            busy += 1;
        }
        let Some(steps) = running[..busy].iter().map(|(_, left)| *left).min() else { break };
        lanes.run(steps, busy);
        for lane in (0..busy).rev() {
            let (index, left) = &mut running[lane];
            *left -= steps;
            if *left > 0 {
                continue;
            }
            lanes.value(lane, &mut values[*index * n..][..n]);
            if let Some(job) = begin!(lane) {
                running[lane] = job;
                continue;
            }
            busy -= 1;
            if lane < busy {
                running[lane] = running[busy];
                lanes.replace(lane, busy);
            }
        }
    }
    lanes.wipe();
}

/// Chains that begin with the hash of a head and a seed.
pub(crate) struct FromSeed<'s> {
    pub seed: &'s [u8],
    /// The byte of the head in which the first hash differs from the steps, and in which bits.
    pub byte: usize,
    pub bits: u8,
    /// Steps behind the first hash.
    pub steps: u32,
}

/// Runs `count` chains, to `values` in their order. `take` receives the number of a chain and its value after the steps that its head comes
/// with, if it comes with such.
pub(super) fn run_from_seed<const HEAD: usize>(
    lanes: &mut impl Lanes<HEAD>,
    FromSeed { seed, byte, bits, steps }: FromSeed<'_>,
    count: usize,
    head: &mut dyn FnMut() -> ([u8; HEAD], Option<u32>),
    values: &mut [u8],
    take: &mut dyn FnMut(usize, &[u8]),
) {
    let n = seed.len();
    let mut first = 0;
    while first < count {
        let busy = lanes.count().min(count - first);
        let mut stops = [None; ALL];
        for (lane, stop) in stops[..busy].iter_mut().enumerate() {
            let head = head();
            *stop = head.1;
            lanes.set_head(lane, &head.0);
        }
        lanes.set_values(seed);
        lanes.run(1, busy);
        lanes.next_hash(byte, bits);
        let mut done = 0;
        loop {
            let mut next = steps;
            for (lane, stop) in stops[..busy].iter_mut().enumerate() {
                if *stop == Some(done) {
                    let mut value = [0; 32];
                    lanes.value(lane, &mut value[..n]);
                    take(first + lane, &value[..n]);
                    *stop = None;
                }
                next = next.min(stop.unwrap_or(steps));
            }
            if done == steps {
                break;
            }
            lanes.run(next - done, busy);
            done = next;
        }
        for lane in 0..busy {
            lanes.value(lane, &mut values[(first + lane) * n..][..n]);
        }
        first += busy;
    }
    lanes.wipe();
}

pub(super) struct Sha256 {
    form: Form,
    chain: Chain,
}

impl Sha256 {
    pub(super) const fn new(form: Form) -> Self {
        Self { form, chain: Chain { head: Rows32::ZERO, value: Rows32::ZERO } }
    }
}

impl<const HEAD: usize> Lanes<HEAD> for Sha256 {
    fn count(&self) -> usize {
        LANES_32
    }

    fn set_head(&mut self, lane: usize, head: &[u8; HEAD]) {
        let (words, last) = head.as_chunks();
        for (row, word) in self.chain.head.0.iter_mut().zip(words) {
            row[lane] = u32::from_be_bytes(*word);
        }
        let word = last.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        self.chain.head.0[5][lane] = word << (32 - self.form.bits);
    }

    fn set_value(&mut self, lane: usize, value: &[u8]) {
        for (row, word) in self.chain.value.0.iter_mut().zip(value.as_chunks().0) {
            row[lane] = u32::from_be_bytes(*word);
        }
    }

    fn set_values(&mut self, value: &[u8]) {
        for (row, word) in self.chain.value.0.iter_mut().zip(value.as_chunks().0) {
            *row = [u32::from_be_bytes(*word); LANES_32];
        }
    }

    fn next_hash(&mut self, byte: usize, bits: u8) {
        let step = 1 << (32 - self.form.bits);
        self.chain.head.0[5].iter_mut().for_each(|word| *word = word.wrapping_sub(step));
        let bits = u32::from(bits) << (24 - 8 * (byte & 3));
        self.chain.head.0[byte >> 2].iter_mut().for_each(|word| *word ^= bits);
    }

    fn run(&mut self, steps: u32, busy: usize) {
        (sha2_lanes::active().chain)(&self.form, &mut self.chain, steps as usize, busy);
    }

    fn value(&self, lane: usize, out: &mut [u8]) {
        for (bytes, row) in out.as_chunks_mut().0.iter_mut().zip(&self.chain.value.0) {
            *bytes = row[lane].to_be_bytes();
        }
    }

    fn replace(&mut self, lane: usize, from: usize) {
        for row in self.chain.head.0.iter_mut().chain(&mut self.chain.value.0) {
            row[lane] = row[from];
        }
    }

    fn wipe(&mut self) {
        wipe(self.chain.value.0.as_flattened_mut());
    }
}

pub(super) struct Shake256<const HEAD: usize> {
    /// The bytes before the head and of a value.
    prefix: usize,
    n: usize,
    heads: [[u8; HEAD]; LANES],
    values: [[u8; 32]; LANES],
    /// The only block of the next step of each chain.
    states: [Aligned; LANES],
}

impl<const HEAD: usize> Shake256<HEAD> {
    pub(super) fn new(prefix: &[u8], n: usize) -> Self {
        let mut state = State::new();
        absorb_at(&mut state, 0, prefix);
        let end = prefix.len() + HEAD + n;
        state.0[end >> 3] ^= from_byte(0x1f, end & 7);
        // The last bit is the last in either form of a lane.
        state.0[(sha3::Shake256::RATE >> 3) - 1] ^= 1 << 63;
        Self {
            prefix: prefix.len(),
            n,
            heads: [[0; HEAD]; LANES],
            values: [[0; 32]; LANES],
            states: [(); LANES].map(|()| Aligned(state.clone())),
        }
    }
}

impl<const HEAD: usize> Lanes<HEAD> for Shake256<HEAD> {
    fn count(&self) -> usize {
        sha3::lanes()
    }

    fn set_head(&mut self, lane: usize, head: &[u8; HEAD]) {
        let mut difference = *head;
        difference.iter_mut().zip(&self.heads[lane]).for_each(|(byte, old)| *byte ^= old);
        absorb_at(&mut self.states[lane].0, self.prefix, &difference);
        self.heads[lane] = *head;
    }

    fn set_value(&mut self, lane: usize, value: &[u8]) {
        let mut difference = self.values[lane];
        let difference = &mut difference[..self.n];
        difference.iter_mut().zip(value).for_each(|(byte, new)| *byte ^= new);
        absorb_at(&mut self.states[lane].0, self.prefix + HEAD, difference);
        self.values[lane][..self.n].copy_from_slice(value);
    }

    fn set_values(&mut self, value: &[u8]) {
        (0..LANES).for_each(|lane| self.set_value(lane, value));
    }

    fn next_hash(&mut self, byte: usize, bits: u8) {
        for lane in 0..LANES {
            let mut head = self.heads[lane];
            head[HEAD - 1] = head[HEAD - 1].wrapping_sub(1);
            head[byte] ^= bits;
            self.set_head(lane, &head);
        }
    }

    fn run(&mut self, steps: u32, busy: usize) {
        let (before, n) = (self.prefix + HEAD, self.n);
        if before & 7 == 0
            && busy > 1
            && let Some(chain) = sha3::chain_steps()
        {
            chain(&mut self.states, before >> 3, n >> 3, steps);
            let states = &self.states[..sha3::lanes()];
            for ((value, head), state) in self.values.iter_mut().zip(&mut self.heads).zip(states) {
                for (bytes, word) in value[..n].as_chunks_mut().0.iter_mut().zip(&state.0.0[before >> 3..]) {
                    *bytes = word.to_le_bytes();
                }
                head[HEAD - 1] = head[HEAD - 1].wrapping_add(steps as u8);
            }
            return;
        }
        for _ in 0..steps {
            let mut states = self.states.clone();
            permute(&mut states, busy);
            for (lane, state) in states[..busy].iter_mut().enumerate() {
                let mut value = [0; 32];
                squeeze(&state.0, &mut value[..n]);
                self.set_value(lane, &value[..n]);
                let mut head = self.heads[lane];
                head[HEAD - 1] = head[HEAD - 1].wrapping_add(1);
                self.set_head(lane, &head);
                wipe(&mut state.0.0);
            }
        }
    }

    fn value(&self, lane: usize, out: &mut [u8]) {
        out.copy_from_slice(&self.values[lane][..self.n]);
    }

    fn replace(&mut self, lane: usize, from: usize) {
        self.heads[lane] = self.heads[from];
        self.values[lane] = self.values[from];
        self.states[lane] = self.states[from].clone();
    }

    fn wipe(&mut self) {
        wipe(self.values.as_flattened_mut());
        self.states.iter_mut().for_each(|state| wipe(&mut state.0.0));
    }
}
