//! Chains of hashes side by side.

use super::messages::permute;
use crate::engine::BLOCK;
use crate::secret::wipe;
use crate::sha2_lanes::{self, Chain, Form, LANES_32, Rows32};
use crate::sha3::{self, Aligned, LANES, State, absorb_at, from_byte, squeeze};

/// The most lanes of a function.
const ALL: usize = if LANES_32 > LANES { LANES_32 } else { LANES };

/// Lanes with a head and a value each.
pub(super) trait Lanes<const HEAD: usize> {
    /// The number of lanes.
    fn count(&self) -> usize;

    /// Puts a chain in a lane.
    fn load(&mut self, lane: usize, head: &[u8; HEAD], value: &[u8]);

    /// Goes so many steps in the first `busy` lanes.
    fn run(&mut self, steps: u32, busy: usize);

    /// Writes the value of a lane.
    fn value(&self, lane: usize, out: &mut [u8]);

    /// Puts the chain of lane `from` in another.
    fn replace(&mut self, lane: usize, from: usize);

    fn wipe(&mut self);
}

/// A chain in its lane.
#[derive(Clone, Copy)]
struct Job {
    chain: usize,
    /// The steps that are left.
    left: u32,
    /// The steps to the value that is taken; `u32::MAX` or not much less if none is.
    stop: u32,
}

/// Runs chains to their ends; lanes are filled again as soon as theirs end.
pub(super) fn run<const HEAD: usize>(
    lanes: &mut impl Lanes<HEAD>,
    n: usize,
    count: usize,
    head: &mut dyn FnMut() -> ([u8; HEAD], u32, Option<u32>),
    values: &mut [u8],
    take: &mut dyn FnMut(usize, &[u8]),
) {
    let all = lanes.count();
    let mut jobs = [Job { chain: 0, left: 0, stop: 0 }; ALL];
    let (mut busy, mut next) = (0, 0);
    // The next chain with a step, in this lane.
    macro_rules! begin {
        ($lane:expr) => {
            loop {
                if next == count {
                    break None;
                }
                let (head, left, stop) = head();
                let value = &values[next * n..][..n];
                if stop == Some(0) {
                    take(next, value);
                }
                next += 1;
                if left > 0 {
                    lanes.load($lane, &head, value);
                    break Some(Job {
                        chain: next - 1,
                        left,
                        stop: stop.filter(|stop| *stop > 0).unwrap_or(u32::MAX),
                    });
                }
            }
        };
    }
    loop {
        while busy < all
            && let Some(job) = begin!(busy)
        {
            jobs[busy] = job;
            busy += 1;
        }
        let Some(steps) = jobs[..busy].iter().map(|job| job.left.min(job.stop)).min() else { break };
        lanes.run(steps, busy);
        for lane in (0..busy).rev() {
            let job = &mut jobs[lane];
            (job.left, job.stop) = (job.left - steps, job.stop - steps);
            if job.left > 0 && job.stop > 0 {
                continue;
            }
            let mut value = [0; 32];
            lanes.value(lane, &mut value[..n]);
            if job.stop == 0 {
                take(job.chain, &value[..n]);
                job.stop = u32::MAX;
            }
            if job.left > 0 {
                continue;
            }
            values[job.chain * n..][..n].copy_from_slice(&value[..n]);
            if let Some(job) = begin!(lane) {
                jobs[lane] = job;
                continue;
            }
            busy -= 1;
            jobs[lane] = jobs[busy];
            lanes.replace(lane, busy);
        }
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

    fn load(&mut self, lane: usize, head: &[u8; HEAD], value: &[u8]) {
        let mut whole = [0; 24];
        whole[..HEAD].copy_from_slice(head);
        for (row, word) in self.chain.head.0.iter_mut().zip(whole.as_chunks().0) {
            row[lane] = u32::from_be_bytes(*word);
        }
        for (row, word) in self.chain.value.0.iter_mut().zip(value.as_chunks().0) {
            row[lane] = u32::from_be_bytes(*word);
        }
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

pub(super) struct Shake256<'p, const HEAD: usize> {
    prefix: &'p [u8],
    n: usize,
    heads: [[u8; HEAD]; LANES],
    values: [[u8; 32]; LANES],
    states: [Aligned; LANES],
}

impl<'p, const HEAD: usize> Shake256<'p, HEAD> {
    pub(super) const fn new(prefix: &'p [u8], n: usize) -> Self {
        Self {
            prefix,
            n,
            heads: [[0; HEAD]; LANES],
            values: [[0; 32]; LANES],
            states: [const { Aligned(State::new()) }; LANES],
        }
    }

    /// The bytes before the value.
    const fn before(&self) -> usize {
        self.prefix.len() + HEAD
    }

    /// The only block of the next step of each chain.
    fn set_blocks(&mut self, busy: usize) {
        let before = self.before();
        let end = before + self.n;
        for (lane, state) in self.states[..busy].iter_mut().enumerate() {
            let state = &mut state.0;
            state.0 = [0; 25];
            absorb_at(state, 0, self.prefix);
            absorb_at(state, self.prefix.len(), &self.heads[lane]);
            absorb_at(state, before, &self.values[lane][..self.n]);
            state.0[end >> 3] ^= from_byte(0x1f, end & 7);
            // The last bit is the last in either form of a lane.
            state.0[(BLOCK >> 3) - 1] ^= 1 << 63;
        }
    }
}

impl<const HEAD: usize> Lanes<HEAD> for Shake256<'_, HEAD> {
    fn count(&self) -> usize {
        sha3::lanes()
    }

    fn load(&mut self, lane: usize, head: &[u8; HEAD], value: &[u8]) {
        self.heads[lane] = *head;
        self.values[lane][..self.n].copy_from_slice(value);
    }

    fn run(&mut self, steps: u32, busy: usize) {
        let (before, n) = (self.before(), self.n);
        if before & 7 == 0
            && busy > 1
            && let Some(chain) = sha3::chain_steps()
        {
            self.set_blocks(busy);
            chain(&mut self.states, before >> 3, n >> 3, steps);
            for (value, state) in self.values[..busy].iter_mut().zip(&self.states) {
                for (bytes, word) in value[..n].as_chunks_mut().0.iter_mut().zip(&state.0.0[before >> 3..]) {
                    *bytes = word.to_le_bytes();
                }
            }
            self.heads[..busy]
                .iter_mut()
                .for_each(|head| head[HEAD - 1] = head[HEAD - 1].wrapping_add(steps as u8));
            return;
        }
        for _ in 0..steps {
            self.set_blocks(busy);
            permute(&mut self.states, busy);
            for ((value, head), state) in
                self.values.iter_mut().zip(&mut self.heads).zip(&self.states[..busy])
            {
                squeeze(&state.0, &mut value[..n]);
                head[HEAD - 1] = head[HEAD - 1].wrapping_add(1);
            }
        }
    }

    fn value(&self, lane: usize, out: &mut [u8]) {
        out.copy_from_slice(&self.values[lane][..self.n]);
    }

    fn replace(&mut self, lane: usize, from: usize) {
        self.heads[lane] = self.heads[from];
        self.values[lane] = self.values[from];
    }

    fn wipe(&mut self) {
        wipe(self.values.as_flattened_mut());
        self.states.iter_mut().for_each(|state| wipe(&mut state.0.0));
    }
}
