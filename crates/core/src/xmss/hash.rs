//! RFC 8391, §5.1, and SP 800-208, §5 and §6.2: the functions of a parameter set, many at once.

use sha2::{Digest as _, Sha256, Sha512};

use super::columns::{self, Columns, Row};
use super::params::{Family, MAX_N, Params};
use crate::many::{Function, Input};
use crate::secret::Secret;
use crate::sha2_lanes::{INITIAL_512, LANES_32, MaskedChain, Rows32, active};
use crate::sha3::{Shake128, Shake256};

/// The most hashes of a batch.
const BATCH: usize = LANES_32;

/// A kind of hash: the number before its key.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    F = 0,
    H = 1,
    Msg = 2,
    Prf = 3,
    #[cfg(feature = "alloc")]
    PrfKeygen = 4,
}

/// RFC 8391, §2.5: layer, tree in two words, type, three words of the type, and keyAndMask.
#[derive(Clone, Copy)]
pub(super) struct Address([u32; 8]);

impl Address {
    const ZERO: Self = Self([0; 8]);

    const fn new(layer: u32, tree: u64, kind: u32, words: [u32; 3]) -> Self {
        let [a, b, c] = words;
        Self([layer, (tree >> 32) as u32, tree as u32, kind, a, b, c, 0])
    }

    /// An OTS hash address; `step` is its hash address.
    pub(super) const fn chain(layer: u32, tree: u64, leaf: u32, chain: u32, step: u32) -> Self {
        Self::new(layer, tree, 0, [leaf, chain, step])
    }

    /// An L-tree address.
    pub(super) const fn l_tree(layer: u32, tree: u64, leaf: u32, height: u32, index: u32) -> Self {
        Self::new(layer, tree, 1, [leaf, height, index])
    }

    /// A hash tree address.
    pub(super) const fn node(layer: u32, tree: u64, height: u32, index: u32) -> Self {
        Self::new(layer, tree, 2, [0, height, index])
    }

    /// toByte(index, 32), which takes the place of an address in PRF(SK_PRF, ·).
    #[cfg(feature = "alloc")]
    const fn index(index: u64) -> Self {
        Self([0, 0, 0, 0, 0, 0, (index >> 32) as u32, index as u32])
    }

    pub(super) fn with_mask(mut self, mask: u32) -> Self {
        self.0[7] = mask;
        self
    }

    pub(super) fn bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(self.0) {
            *bytes = word.to_be_bytes();
        }
        bytes
    }
}

/// The start of messages: toByte(kind, padding) ‖ parts.
struct Prefix {
    bytes: [u8; 2 * MAX_N],
    len: usize,
}

impl Prefix {
    fn new(params: &Params, kind: Kind, parts: &[&[u8]]) -> Self {
        let mut prefix = Self { bytes: [0; 2 * MAX_N], len: params.padding() };
        prefix.bytes[prefix.len - 1] = kind as u8;
        for part in parts {
            prefix.bytes[prefix.len..][..part.len()].copy_from_slice(part);
            prefix.len += part.len();
        }
        prefix
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn columns(&self) -> Columns {
        let mut columns = Columns::new();
        columns.add_bytes(self.as_bytes());
        columns
    }
}

/// The hashes with one key of PRF: SEED, or SK_PRF.
pub(super) struct Hash {
    pub params: &'static Params,
    /// The start of the messages of PRF.
    prf: Prefix,
    columns: Option<HashColumns>,
}

/// The starts of the messages of SHA-256.
struct HashColumns {
    f: Columns,
    h: Columns,
    prf: Columns,
}

impl Hash {
    pub(super) fn new(params: &'static Params, key: &[u8]) -> Self {
        let prefix = |kind, parts: &[&[u8]]| Prefix::new(params, kind, parts);
        let prf = prefix(Kind::Prf, &[key]);
        let columns = (params.family == Family::Sha256).then(|| HashColumns {
            f: prefix(Kind::F, &[]).columns(),
            h: prefix(Kind::H, &[]).columns(),
            prf: prf.columns(),
        });
        Self { params, prf, columns }
    }

    /// SEED.
    #[cfg(feature = "alloc")]
    fn seed(&self) -> &[u8] {
        &self.prf.as_bytes()[self.params.padding()..]
    }

    /// Computes chains of n-byte values, each from its address as many steps as its number says: RFC 8391, Algorithm 2. A job has the place of
    /// its value first. Those with the most steps should come first, so that lanes end together.
    ///
    /// Variable time in the numbers of steps, which signatures show.
    pub(super) fn chains(&self, mut jobs: impl Iterator<Item = (usize, Address, u32)>, values: &mut [u8]) {
        // The place of a value, its address, and the steps that are left.
        let mut lanes = [(0, Address::ZERO, 0); BATCH];
        let mut busy = 0;
        let mut scratch = [Columns::new(), Columns::new()];
        loop {
            while busy < BATCH
                && let Some(job) = jobs.next()
            {
                if job.2 > 0 {
                    lanes[busy] = job;
                    busy += 1;
                }
            }
            let Some(steps) = lanes[..busy].iter().map(|lane| lane.2).min() else { break };
            self.steps(&mut lanes[..busy], steps, &mut scratch, values);
            let mut lane = 0;
            while lane < busy {
                lanes[lane].2 -= steps;
                if lanes[lane].2 > 0 {
                    lane += 1;
                } else {
                    busy -= 1;
                    lanes[lane] = lanes[busy];
                }
            }
        }
    }

    /// The next steps of chains that stand in lanes.
    fn steps(
        &self,
        lanes: &mut [(usize, Address, u32)],
        steps: u32,
        [mask, hash]: &mut [Columns; 2],
        values: &mut [u8],
    ) {
        let (n, busy) = (self.params.n, lanes.len());
        if let (Some(HashColumns { prf, .. }), 32) = (&self.columns, n) {
            let addresses = rows(lanes.iter().map(|lane| lane.1));
            let mut chain = MaskedChain { address: addresses, value: Rows32::ZERO };
            for (lane, (place, ..)) in lanes.iter().enumerate() {
                columns::load(&mut chain.value.0, lane, &values[place * n..][..n]);
            }
            (active().masked_chain)(&prf.first_lane(), &mut chain, steps as usize, busy);
            for (lane, (place, address, _)) in lanes.iter_mut().enumerate() {
                columns::store(&chain.value.0, lane, &mut values[*place * n..][..n]);
                address.0[6] += steps;
            }
            return;
        }
        if let Some(HashColumns { f, .. }) = &self.columns {
            let words = n >> 2;
            let mut value = Rows32::<8>::ZERO;
            let value = &mut value.0[..words];
            for (lane, (chain, ..)) in lanes.iter().enumerate() {
                columns::load(value, lane, &values[chain * n..][..n]);
            }
            let mut addresses = rows(lanes.iter().map(|lane| lane.1));
            for _ in 0..steps {
                columns::xor(value, self.prf_columns(mask, &mut addresses, 1, busy));
                hash.set(f);
                hash.add(&self.prf_columns(mask, &mut addresses, 0, busy)[..words], busy);
                hash.add(value, busy);
                value.copy_from_slice(&hash.hashes(busy)[..words]);
                addresses.0[6].iter_mut().for_each(|step| *step += 1);
            }
            for (lane, (chain, address, _)) in lanes.iter_mut().enumerate() {
                columns::store(value, lane, &mut values[*chain * n..][..n]);
                address.0[6] += steps;
            }
            return;
        }
        let mut buffer = Secret::new([0; 2 * BATCH * MAX_N]);
        let buffer = &mut buffer.expose_mut()[..2 * busy * n];
        for _ in 0..steps {
            self.prf::<2>(lanes.iter().map(|lane| lane.1), busy, buffer);
            for ((chain, address, _), parts) in lanes.iter_mut().zip(buffer.chunks_exact_mut(2 * n)) {
                xor(&mut parts[n..], &values[*chain * n..][..n]);
                address.0[6] += 1;
            }
            self.masked(Kind::F, busy, 2 * n, buffer);
            for ((chain, ..), value) in lanes.iter().zip(buffer.chunks_exact(n)) {
                values[chain * n..][..n].copy_from_slice(value);
            }
        }
    }

    /// Hashes pairs of neighbours in `nodes`, each with its address, the place of the left node and the place of the result, which is not behind
    /// its pair: RFC 8391, Algorithm 7 (RAND_HASH).
    pub(super) fn pairs(&self, mut jobs: impl Iterator<Item = (Address, usize, usize)>, nodes: &mut [u8]) {
        let n = self.params.n;
        let mut lanes = [(Address::ZERO, 0, 0); BATCH];
        loop {
            let mut busy = 0;
            while busy < BATCH
                && let Some(job) = jobs.next()
            {
                lanes[busy] = job;
                busy += 1;
            }
            let lanes = &lanes[..busy];
            if busy == 0 {
                break;
            }
            if let Some(HashColumns { h, .. }) = &self.columns {
                let words = n >> 2;
                let mut pairs = Rows32::<16>::ZERO;
                let pairs = &mut pairs.0[..2 * words];
                for (lane, (_, from, _)) in lanes.iter().enumerate() {
                    columns::load(pairs, lane, &nodes[from * n..][..2 * n]);
                }
                let mut addresses = rows(lanes.iter().map(|lane| lane.0));
                let (mut mask, mut hash) = (Columns::new(), Columns::new());
                for (i, part) in (1..).zip(pairs.chunks_exact_mut(words)) {
                    columns::xor(part, self.prf_columns(&mut mask, &mut addresses, i, busy));
                }
                hash.set(h);
                hash.add(&self.prf_columns(&mut mask, &mut addresses, 0, busy)[..words], busy);
                hash.add(pairs, busy);
                let hashes = hash.hashes(busy);
                for (lane, (.., to)) in lanes.iter().enumerate() {
                    columns::store(hashes, lane, &mut nodes[to * n..][..n]);
                }
                continue;
            }
            let mut buffer = [0; 3 * BATCH * MAX_N];
            let buffer = &mut buffer[..3 * busy * n];
            self.prf::<3>(lanes.iter().map(|lane| lane.0), busy, buffer);
            for ((_, from, _), parts) in lanes.iter().zip(buffer.chunks_exact_mut(3 * n)) {
                xor(&mut parts[n..], &nodes[from * n..][..2 * n]);
            }
            self.masked(Kind::H, busy, 3 * n, buffer);
            for ((.., to), node) in lanes.iter().zip(buffer.chunks_exact(n)) {
                nodes[to * n..][..n].copy_from_slice(node);
            }
        }
    }

    /// Hashes a node with its sibling, the parent with its own sibling, and so on. A step has the address of the parent, the sibling, and true if
    /// that is the left one. Keys and masks of all steps are computed together.
    pub(super) fn climb<'s>(
        &self,
        node: &mut [u8],
        mut steps: impl Iterator<Item = (Address, &'s [u8], bool)>,
    ) {
        let (n, words) = (self.params.n, self.params.n >> 2);
        let mut batch = [(Address::ZERO, &[][..], false); BATCH];
        loop {
            let mut busy = 0;
            while busy < BATCH
                && let Some(step) = steps.next()
            {
                batch[busy] = step;
                busy += 1;
            }
            let batch = &batch[..busy];
            if busy == 0 {
                break;
            }
            if let Some(HashColumns { h, .. }) = &self.columns {
                let mut addresses = rows(batch.iter().map(|step| step.0));
                let [mut hash, mut left, mut right, mut single] = [(); 4].map(|()| Columns::new());
                hash.set(h);
                hash.add(&self.prf_columns(&mut left, &mut addresses, 0, busy)[..words], busy);
                let left = self.prf_columns(&mut left, &mut addresses, 1, busy);
                let right = self.prf_columns(&mut right, &mut addresses, 2, busy);
                let mut rows = Rows32::<16>::ZERO;
                for (lane, (_, sibling, is_left)) in batch.iter().enumerate() {
                    for (rows, part) in rows.0.chunks_exact_mut(words).zip(pair(node, sibling, *is_left)) {
                        columns::load(rows, 0, part);
                    }
                    let masks = left[..words].iter().chain(&right[..words]);
                    rows.0.iter_mut().zip(masks).for_each(|(row, mask)| row[0] ^= mask[lane]);
                    single.set_lane(&hash, lane);
                    single.add(&rows.0[..2 * words], 1);
                    columns::store(single.hashes(1), 0, node);
                }
                continue;
            }
            let mut buffer = [0; 3 * BATCH * MAX_N];
            self.prf::<3>(batch.iter().map(|step| step.0), busy, &mut buffer);
            for ((_, sibling, is_left), parts) in batch.iter().zip(buffer.chunks_exact_mut(3 * n)) {
                for (mask, part) in parts[n..].chunks_exact_mut(n).zip(pair(node, sibling, *is_left)) {
                    xor(mask, part);
                }
                self.masked(Kind::H, 1, 3 * n, parts);
                node.copy_from_slice(&parts[..n]);
            }
        }
    }

    /// PRF of addresses with this keyAndMask.
    fn prf_columns<'c>(
        &self,
        hash: &'c mut Columns,
        addresses: &mut Rows32<8>,
        mask: u32,
        busy: usize,
    ) -> &'c [Row; 8] {
        hash.set(&self.columns.as_ref().expect("the family is SHA-256").prf);
        addresses.0[7] = [mask; LANES_32];
        hash.add(&addresses.0, busy);
        hash.hashes(busy)
    }

    /// PRF of `count` addresses, each with keyAndMask 0 to N - 1, one after the other; not of SHA-256.
    fn prf<const N: usize>(&self, addresses: impl Iterator<Item = Address>, count: usize, buffer: &mut [u8]) {
        let (n, prefix) = (self.params.n, self.prf.as_bytes());
        let mut all = addresses.flat_map(|address| (0..N as u32).map(move |mask| address.with_mask(mask)));
        let mut head = || all.next().unwrap_or(Address::ZERO).bytes();
        let function = match self.params.family {
            Family::Shake128 => {
                for out in buffer[..N * count * n].chunks_exact_mut(n) {
                    shake128(&[prefix, &head()], out);
                }
                return;
            }
            Family::Sha256 | Family::Sha512 => {
                Function::sha_512_behind(prefix.first_chunk().expect("128 bytes"))
            }
            Family::Shake256 => Function::Shake256(prefix),
        };
        function.many(n, N * count, &mut head, Input::Common(&[]), buffer);
    }

    /// F or H of messages of `len` bytes in place; not of SHA-256.
    fn masked(&self, kind: Kind, count: usize, len: usize, buffer: &mut [u8]) {
        let prefix = Prefix::new(self.params, kind, &[]);
        let (n, input) = (self.params.n, Input::InPlace(len));
        match self.params.family {
            Family::Sha256 | Family::Sha512 => {
                let head: [u8; MAX_N] = *prefix.bytes.first_chunk().expect("64 of 128 bytes");
                Function::Sha512(INITIAL_512, 0).many(n, count, &mut || head, input, buffer);
            }
            Family::Shake128 => {
                let mut out = [0; MAX_N];
                for i in 0..count {
                    shake128(&[prefix.as_bytes(), &buffer[i * len..][..len]], &mut out[..n]);
                    buffer[i * n..][..n].copy_from_slice(&out[..n]);
                }
            }
            Family::Shake256 => {
                Function::Shake256(prefix.as_bytes()).many(n, count, &mut || [], input, buffer);
            }
        }
    }

    /// Hashes r ‖ root ‖ toByte(index, n) ‖ message: RFC 8391, Algorithm 12, H_msg.
    pub(super) fn message(&self, r: &[u8], root: &[u8], index: u64, message: &[u8]) -> [u8; MAX_N] {
        let n = self.params.n;
        let mut number = [0; MAX_N];
        number[n - 8..n].copy_from_slice(&index.to_be_bytes());
        let prefix = Prefix::new(self.params, Kind::Msg, &[]);
        let parts = [prefix.as_bytes(), r, root, &number[..n], message];
        let mut digest = [0; MAX_N];
        match self.params.family {
            Family::Sha256 => {
                let hasher = parts.iter().fold(Sha256::new(), |hasher, part| hasher.chain_update(part));
                digest[..32].copy_from_slice(&hasher.finalize());
            }
            Family::Sha512 => {
                let hasher = parts.iter().fold(Sha512::new(), |hasher, part| hasher.chain_update(part));
                digest.copy_from_slice(&hasher.finalize());
            }
            Family::Shake128 => shake128(&parts, &mut digest),
            Family::Shake256 => {
                let mut hasher = Shake256::new();
                parts.iter().for_each(|part| _ = hasher.update(part));
                hasher.finalize_xof().squeeze(&mut digest);
            }
        }
        digest
    }
}

/// Signing, in the sets of SP 800-208.
#[cfg(feature = "alloc")]
impl Hash {
    /// PRF_keygen of S_XMSS, SEED and the address of each value: SP 800-208, §6.2.
    pub(super) fn secrets(
        &self,
        secret: &[u8],
        count: usize,
        mut addresses: impl Iterator<Item = Address>,
        values: &mut [u8],
    ) {
        let n = self.params.n;
        let prefix = Prefix::new(self.params, Kind::PrfKeygen, &[secret, self.seed()]);
        if self.columns.is_none() {
            let mut head = || addresses.next().unwrap_or(Address::ZERO).bytes();
            let function = Function::Shake256(prefix.as_bytes());
            return function.many(n, count, &mut head, Input::Common(&[]), values);
        }
        let (columns, mut hash) = (prefix.columns(), Columns::new());
        for values in values[..count * n].chunks_mut(BATCH * n) {
            let busy = values.chunks_exact(n).len();
            hash.set(&columns);
            hash.add(&rows(addresses.by_ref().take(busy)).0, busy);
            let hashes = hash.hashes(busy);
            for (lane, value) in values.chunks_exact_mut(n).enumerate() {
                columns::store(hashes, lane, value);
            }
        }
    }

    /// PRF of the index of a signature with the key SK_PRF: r of RFC 8391, Algorithm 12.
    pub(super) fn randomizer(params: &'static Params, sk_prf: &[u8], index: u64) -> [u8; MAX_N] {
        let mut r = [0; MAX_N];
        let hash = Self::new(params, sk_prf);
        let index = Address::index(index);
        if let Some(HashColumns { prf, .. }) = &hash.columns {
            let mut columns = Columns::new();
            columns.set(prf);
            columns.add(&rows([index].into_iter()).0, 1);
            columns::store(columns.hashes(1), 0, &mut r);
        } else {
            Function::Shake256(hash.prf.as_bytes()).many(
                params.n,
                1,
                &mut || index.bytes(),
                Input::Common(&[]),
                &mut r,
            );
        }
        r
    }
}

/// A node and its sibling, the left one first.
const fn pair<'n>(node: &'n [u8], sibling: &'n [u8], is_left: bool) -> [&'n [u8]; 2] {
    if is_left { [sibling, node] } else { [node, sibling] }
}

/// Addresses as columns.
fn rows(addresses: impl Iterator<Item = Address>) -> Rows32<8> {
    let mut rows = Rows32::ZERO;
    for (lane, address) in addresses.enumerate() {
        rows.0.iter_mut().zip(address.0).for_each(|(row, word)| row[lane] = word);
    }
    rows
}

/// SHAKE128 of a message in parts. Its sets are not approved, so that its messages are not hashed side by side.
fn shake128(parts: &[&[u8]], out: &mut [u8]) {
    let mut hasher = Shake128::new();
    parts.iter().for_each(|part| _ = hasher.update(part));
    hasher.finalize_xof().squeeze(out);
}

fn xor(bytes: &mut [u8], other: &[u8]) {
    bytes.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
}
