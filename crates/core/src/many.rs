//! Many hashes of short messages at once: a head, which differs from one to the next, and a few values of n bytes.

mod chains;
mod messages;

pub(crate) use chains::{FromSeed, Job};
pub(crate) use messages::Messages;

use crate::sha2_lanes::{Form, INITIAL_256, INITIAL_512, LANES_32, LANES_64, Single, behind};
use crate::sha3::{LANES, Shake256};

/// A function and the bytes that all messages begin with.
#[derive(Clone, Copy)]
pub(crate) enum Function<'a> {
    /// SHA-256, its state, and the bytes that led to it: whole blocks.
    Sha256([u32; 8], usize),
    /// SHA-512, with the same two.
    Sha512([u64; 8], usize),
    Shake256(&'a [u8]),
}

/// The message behind the head.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// Messages of this number of bytes, one after the other; the results overwrite them.
    InPlace(usize),
    /// One message for all heads, such as a seed.
    Common(&'a [u8]),
}

impl Input<'_> {
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
        Self::Sha256(behind(INITIAL_256, block), 64)
    }

    /// SHA-512 behind a block.
    pub(crate) fn sha_512_behind(block: &[u8; 128]) -> Self {
        Self::Sha512(behind(INITIAL_512, block), 128)
    }

    /// The messages that are hashed side by side.
    pub(crate) const fn lanes(&self) -> usize {
        match self {
            Self::Sha256(..) => LANES_32,
            Self::Sha512(..) => LANES_64,
            Self::Shake256(_) => LANES,
        }
    }

    /// The hashes of `count` messages; calls `head` once for each, in their order. They have n bytes each, one after the other, to the start
    /// of `buffer`.
    pub(crate) fn many<const HEAD: usize>(
        self,
        n: usize,
        count: usize,
        head: &mut dyn FnMut() -> [u8; HEAD],
        input: Input<'_>,
        buffer: &mut [u8],
    ) {
        if let (1, Input::InPlace(len)) = (count, input) {
            return self.one(n, &head(), len, buffer);
        }
        let mut first = 0;
        while first < count {
            let busy = self.lanes().min(count - first);
            let mut messages = Messages::new(self, busy, head);
            messages.update(|i| input.of(buffer, first + i));
            messages.finish(n, &mut buffer[first * n..]);
            first += busy;
        }
    }

    /// The hash of a head and `len` bytes of the buffer, n bytes, to its start. The bytes are public, as nodes of trees are: no copy is wiped.
    fn one(self, n: usize, head: &[u8], len: usize, buffer: &mut [u8]) {
        macro_rules! hash {
            ($hash:expr) => {{
                let mut hash = $hash;
                hash.update(head);
                hash.update(&buffer[..len]);
                hash
            }};
        }
        match self {
            Self::Sha256(state, before) => hash!(Single::new(state, before)).finish(&mut buffer[..n]),
            Self::Sha512(state, before) => hash!(Single::new(state, before)).finish(&mut buffer[..n]),
            Self::Shake256(prefix) => {
                let mut hash = Shake256::new();
                hash.update(prefix);
                hash!(hash).finalize_xof().squeeze(&mut buffer[..n]);
            }
        }
    }

    /// Chains of hashes: each value of n bytes becomes the hash of its head and itself, as many times as its head says; the head's last byte
    /// counts the steps. Calls `head` in the order of the values.
    ///
    /// Variable time in the numbers of steps, which signatures show.
    #[cfg(feature = "alloc")]
    pub(crate) fn chains<const HEAD: usize>(
        self,
        n: usize,
        count: usize,
        head: &mut dyn FnMut() -> ([u8; HEAD], u32),
        values: &mut [u8],
    ) {
        let mut index = 0;
        let mut jobs = || {
            (index < count).then(|| {
                let (head, steps) = head();
                index += 1;
                Job { index: index - 1, head, steps }
            })
        };
        self.run_chains(n, &mut jobs, values);
    }

    /// Chains of [`chains`](Self::chains) in any order: [`longest_first`] lets lanes end together.
    pub(crate) fn run_chains<const HEAD: usize>(
        self,
        n: usize,
        jobs: &mut dyn FnMut() -> Option<Job<HEAD>>,
        values: &mut [u8],
    ) {
        match self {
            Self::Sha256(prefix, before) => {
                chains::run(&mut sha_256::<HEAD>(prefix, before, n), n, jobs, values);
            }
            Self::Shake256(prefix) => chains::run(&mut chains::Shake256::new(prefix, n), n, jobs, values),
            Self::Sha512(..) => unreachable!("no standard has such chains"),
        }
    }

    /// Chains that begin with the hash of a seed, `count` of them, to `values`. Heads come in the order of the values, maybe with a number of
    /// steps; `take` receives the number of the chain and its value then.
    ///
    /// Variable time in the numbers of steps, which signatures show.
    pub(crate) fn chains_from_seed<const HEAD: usize>(
        self,
        chains: FromSeed<'_>,
        count: usize,
        head: &mut dyn FnMut() -> ([u8; HEAD], Option<u32>),
        values: &mut [u8],
        take: &mut dyn FnMut(usize, &[u8]),
    ) {
        let n = chains.seed.len();
        match self {
            Self::Sha256(prefix, before) => {
                let lanes = &mut sha_256::<HEAD>(prefix, before, n);
                chains::run_from_seed(lanes, chains, count, head, values, take);
            }
            Self::Shake256(prefix) => {
                let lanes = &mut chains::Shake256::new(prefix, n);
                chains::run_from_seed(lanes, chains, count, head, values, take);
            }
            Self::Sha512(..) => unreachable!("no standard has such chains"),
        }
    }
}

/// Writes the names of chains to the start of `order`, those with the most steps first, and returns them. A chain comes with the number of
/// its steps, which is less than `ALL`.
///
/// Variable time in the numbers of steps, which signatures show.
pub(crate) fn longest_first<const ALL: usize>(
    chains: impl Iterator<Item = (u16, usize)> + Clone,
    order: &mut [u16],
) -> &[u16] {
    let mut places = [0_u16; ALL];
    chains.clone().for_each(|(_, steps)| places[steps] += 1);
    let mut before = 0;
    for place in places.iter_mut().rev() {
        (before, *place) = (before + *place, before);
    }
    for (name, steps) in chains {
        let place = &mut places[steps];
        order[usize::from(*place)] = name;
        *place += 1;
    }
    &order[..before.into()]
}

const fn sha_256<const HEAD: usize>(prefix: [u32; 8], before: usize, n: usize) -> chains::Sha256 {
    let len = (before + HEAD + n) as u32;
    chains::Sha256::new(Form { prefix, len, words: n >> 2, bits: 8 * (HEAD as u32 - 20) })
}
