//! The mechanism, HQC-KEM: one operation or many, whose hashes run side by side.

use alloc::vec;
use alloc::vec::Vec;

use super::hash::{self, Sponge};
use super::params::{MAX_K, ParameterSet, SALT, SEED};
use super::pke::{self, Public, Room};
use super::words::Words;
use crate::secret::{Secret, difference, mask_nonzero, select_bytes};

/// The operations that share their permutations.
pub(super) const GROUP: usize = 8;

/// An encapsulation key, of bytes or expanded.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    Bytes(ParameterSet, &'a [u8]),
    Expanded(&'a Public),
}

impl<'a> Source<'a> {
    pub(super) const fn set(self) -> ParameterSet {
        match self {
            Self::Bytes(set, _) => set,
            Self::Expanded(public) => public.set,
        }
    }

    /// Expands those of bytes, side by side.
    fn expanded(sources: &[Self]) -> Vec<Public> {
        let bytes: Vec<_> = sources
            .iter()
            .filter_map(|source| match source {
                Self::Bytes(set, ek) => Some((*set, *ek)),
                Self::Expanded(_) => None,
            })
            .collect();
        Public::expand(&bytes)
    }

    /// The expanded key: this one's, or the next of those.
    fn public<'b>(self, made: &mut impl Iterator<Item = &'b Public>) -> &'b Public
    where
        'a: 'b,
    {
        match self {
            Self::Bytes(..) => made.next().expect("one for each key of bytes"),
            Self::Expanded(public) => public,
        }
    }
}

/// An encapsulation of the message m with a salt, which becomes the end of the ciphertext.
pub(super) struct Encapsulation<'a> {
    pub source: Source<'a>,
    pub m: &'a [u8],
    pub salt: &'a [u8; SALT],
    pub c: &'a mut [u8],
    pub shared: &'a mut [u8; SEED],
}

/// A decapsulation: the key as its bytes ek ‖ seed_dk ‖ σ ‖ seed_KEM, and as what was made of them, if it was.
pub(super) struct Decapsulation<'a> {
    pub set: ParameterSet,
    pub encoded: &'a [u8],
    pub made: Option<(&'a Public, &'a Words)>,
    pub c: &'a [u8],
    pub shared: &'a mut [u8; SEED],
}

/// Outputs of the hashes for an encryption: the shared secret and θ, then XOF(θ).
struct Hashed {
    digest: Secret<[u8; 2 * SEED]>,
    randomness: Secret<Vec<u8>>,
}

impl Hashed {
    fn new(public: &Public, m: &[u8], salt: &[u8]) -> Self {
        let mut digest = Secret::new([0; 2 * SEED]);
        hash::g(&public.hash, m, salt, digest.expose_mut());
        Self { digest, randomness: Secret::new(vec![0; pke::randomness_len(public.set)]) }
    }

    fn sponge(&mut self) -> Sponge<'_> {
        Sponge::xof(&self.digest.expose()[SEED..], self.randomness.expose_mut())
    }

    fn shared(&self) -> &[u8; SEED] {
        self.digest.expose().first_chunk().expect("the first half")
    }
}

/// HQC-KEM.Encaps of each.
#[inline(never)]
pub(super) fn encapsulate(tasks: &mut [Encapsulation<'_>]) {
    for group in tasks.chunks_mut(GROUP) {
        let sources: Vec<_> = group.iter().map(|task| task.source).collect();
        let made = Source::expanded(&sources);
        let mut made = made.iter();
        let publics: Vec<_> = sources.into_iter().map(|source| source.public(&mut made)).collect();
        let mut hashed: Vec<_> = publics
            .iter()
            .zip(&*group)
            .map(|(public, task)| Hashed::new(public, task.m, task.salt))
            .collect();
        let mut sponges: Vec<_> = hashed.iter_mut().map(Hashed::sponge).collect();
        hash::run(&mut sponges);
        drop(sponges);
        let mut room = None;
        for ((task, public), hashed) in group.iter_mut().zip(publics).zip(&hashed) {
            let room = room_of(&mut room, public.set);
            let (c, salt) = task.c.split_at_mut(task.c.len() - SALT);
            pke::encrypt(public, task.m, hashed.randomness.expose(), c, room);
            salt.copy_from_slice(task.salt);
            *task.shared = *hashed.shared();
        }
    }
}

/// Room for the set; that of the operation before, if it is large enough.
fn room_of(room: &mut Option<(ParameterSet, Room)>, set: ParameterSet) -> &mut Room {
    if room.as_ref().is_none_or(|(of, _)| of.name() != set.name()) {
        *room = None;
    }
    &mut room.get_or_insert_with(|| (set, Room::new(set.params))).1
}

/// HQC-KEM.Decaps of each.
#[inline(never)]
pub(super) fn decapsulate(tasks: &mut [Decapsulation<'_>]) {
    for group in tasks.chunks_mut(GROUP) {
        let sources: Vec<_> = group
            .iter()
            .map(|task| match task.made {
                Some((public, _)) => Source::Expanded(public),
                None => Source::Bytes(task.set, &task.encoded[..task.set.encapsulation_key_len()]),
            })
            .collect();
        let made = Source::expanded(&sources);
        let mut made = made.iter();
        let publics: Vec<_> = sources.into_iter().map(|source| source.public(&mut made)).collect();
        let mut rejections = Secret::new(vec![[0; SEED]; group.len()]);
        let mut messages = Secret::new(vec![[0; MAX_K]; group.len()]);
        let mut hashed = Vec::with_capacity(group.len());
        let mut room = None;
        for ((task, public), m) in group.iter().zip(&publics).zip(messages.expose_mut()) {
            let (set, m) = (task.set, &mut m[..task.set.params.k]);
            let fresh;
            let y = match task.made {
                Some((_, y)) => y,
                None => {
                    fresh = pke::decryption_vector(set, seed_dk(set, task.encoded));
                    &fresh
                }
            };
            pke::decrypt(set, y, task.c, m, room_of(&mut room, set));
            let salt = &task.c[task.c.len() - SALT..];
            hashed.push(Hashed::new(public, m, salt));
        }
        let mut sponges = Vec::with_capacity(2 * GROUP);
        for (((task, public), rejection), hashed) in
            group.iter().zip(&publics).zip(rejections.expose_mut()).zip(&mut hashed)
        {
            sponges.push(Sponge::j(&public.hash, sigma(task.set, task.encoded), task.c, rejection));
            sponges.push(hashed.sponge());
        }
        hash::run(&mut sponges);
        drop(sponges);
        for ((((task, public), hashed), m), rejection) in
            group.iter_mut().zip(publics).zip(&hashed).zip(messages.expose()).zip(rejections.expose())
        {
            let room = room_of(&mut room, task.set);
            let given = &task.c[..task.c.len() - SALT];
            let mut c = Secret::new(vec![0; given.len()]);
            let m = &m[..task.set.params.k];
            pke::encrypt(public, m, hashed.randomness.expose(), c.expose_mut(), room);
            *task.shared = *hashed.shared();
            select_bytes(task.shared, rejection, mask_nonzero(difference(c.expose(), given)));
        }
    }
}

/// seed_dk, in the bytes of a key.
fn seed_dk(set: ParameterSet, encoded: &[u8]) -> &[u8; SEED] {
    encoded[set.encapsulation_key_len()..].first_chunk().expect("seed_dk stands behind the public key")
}

/// σ, in the bytes of a key.
fn sigma(set: ParameterSet, encoded: &[u8]) -> &[u8] {
    &encoded[set.encapsulation_key_len() + SEED..][..set.params.k]
}

/// HQC-KEM.KeyGen: the bytes of the key of seed_KEM to `encoded`, and what is made of them.
#[inline(never)]
pub(super) fn generate(set: ParameterSet, seed: &[u8; SEED], encoded: &mut [u8]) -> (Public, Words) {
    let mut expanded = Secret::new([0; SEED + MAX_K]);
    let expanded = &mut expanded.expose_mut()[..SEED + set.params.k];
    hash::xof(seed).squeeze(expanded);
    let (seed_pke, sigma) = expanded.split_at(SEED);
    let mut seeds = Secret::new([0; 2 * SEED]);
    hash::i(seed_pke, seeds.expose_mut());
    let (seed_dk, seed_ek) = seeds.expose().split_first_chunk().expect("two seeds");
    let (ek, secrets) = encoded.split_at_mut(set.encapsulation_key_len());
    ek[..SEED].copy_from_slice(seed_ek);
    secrets[..SEED].copy_from_slice(seed_dk);
    secrets[SEED..][..sigma.len()].copy_from_slice(sigma);
    secrets[SEED + sigma.len()..].copy_from_slice(seed);
    pke::generate(set, seed_dk, ek)
}
