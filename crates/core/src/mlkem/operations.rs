//! The operations whose sponges are [`lanes`] of the same permutations, alone or many at once: each is prepared, hashed beside the
//! others, and finished.

use alloc::vec::Vec;

use super::DecapsulationKeyError;
use super::encode::{self, Comparer, Sink, Writer, put_compressed};
use super::encoded::check;
use super::lanes::{self, Chain, Hashed, Operation};
use super::params::{ParameterSet, Parts, Source};
use super::pke::{DecryptionKey, Prepared, decrypt_with, encrypt};
use super::ring::Ntt;
use crate::secret::{Secret, mask_nonzero, select_bytes};
use crate::workspace::{Memory, Stack, Zero};

/// How many operations share their permutations.
const GROUP: usize = 8;

/// An operation, before and after its sponges run.
pub(super) trait Task {
    /// The key. For one of bytes, Â and t̂ are still to be made, in room of the caller's.
    fn source(&self) -> Source<'_>;

    /// Does what precedes the sponges, and says which they are.
    fn prepare<'a>(&'a self, hashed: &'a mut Hashed, room: &'a mut [Ntt]) -> Operation<'a>;

    /// Does what follows them.
    fn finish(self, hashed: &Hashed, room: &[Ntt]);
}

/// Does one.
#[inline(never)]
pub(super) fn one(task: impl Task, room: &mut [Ntt]) {
    let mut hashed = Hashed::ZERO;
    task.prepare(&mut hashed, room).run();
    task.finish(&hashed, room);
}

/// Does many, a group at a time.
#[inline(never)]
pub(super) fn many<P: ParameterSet, T: Task>(tasks: &mut dyn Iterator<Item = T>) {
    let mut rooms: Vec<P::Elements> = Vec::new();
    let is_fresh = |task: &T| matches!(task.source(), Source::Bytes(_));
    // The first group is the largest: what is in it never moves.
    let mut hashed: Vec<Hashed> = Vec::new();
    loop {
        let group: Vec<T> = tasks.take(GROUP).collect();
        if group.is_empty() {
            return;
        }
        let fresh = group.iter().filter(|task| is_fresh(task)).count();
        rooms.resize_with(rooms.len().max(fresh), || P::Elements::ZERO);
        hashed.resize_with(hashed.len().max(group.len()), || Hashed::ZERO);
        let mut free = rooms.iter_mut();
        let mut operations = Vec::with_capacity(GROUP);
        for (task, hashed) in group.iter().zip(&mut hashed) {
            let room = if is_fresh(task) { free.next() } else { None };
            operations.push(task.prepare(hashed, room.map_or(&mut [], AsMut::as_mut)));
        }
        lanes::run(&mut operations);
        drop(operations);
        let mut used = rooms.iter();
        for (task, hashed) in group.into_iter().zip(&hashed) {
            let room = if is_fresh(&task) { used.next() } else { None };
            task.finish(hashed, room.map_or(&[], AsRef::as_ref));
        }
    }
}

impl<'a> Source<'a> {
    /// Adds the sponges of an encryption; `h` is H(ek) if it is known of bytes.
    #[inline(always)]
    fn hash<P: ParameterSet>(
        self,
        operation: Operation<'a>,
        h: Option<&[u8; 32]>,
        room: &'a mut [Ntt],
    ) -> Operation<'a> {
        match self {
            Self::Prepared { h, .. } => operation.secrets::<P>(Some(h)),
            Self::Bytes(ek) => {
                decode_t::<P>(room, ek);
                operation.h(Chain::h(ek)).matrix::<P>(rho(ek), room).secrets::<P>(h)
            }
        }
    }

    /// Â by rows, then t̂.
    #[inline(always)]
    const fn elements(self, room: &'a [Ntt]) -> &'a [Ntt] {
        match self {
            Self::Prepared { elements, .. } => elements,
            Self::Bytes(_) => room,
        }
    }
}

/// ρ, with which the bytes of a key end.
pub(super) fn rho(ek: &[u8]) -> &[u8; 32] {
    ek.last_chunk().expect("a key ends with ρ")
}

/// t̂, from the bytes of a key.
pub(super) fn decode_t<P: ParameterSet>(elements: &mut [Ntt], ek: &[u8]) {
    for (j, t) in elements[P::K * P::K..].iter_mut().enumerate() {
        encode::decode(t, ek, j);
    }
}

/// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal), of `m`.
pub(super) struct Encapsulation<'a, P: ParameterSet> {
    pub source: Source<'a>,
    pub m: &'a [u8; 32],
    pub c: &'a mut P::Ciphertext,
    pub shared: &'a mut [u8; 32],
}

impl<P: ParameterSet> Task for Encapsulation<'_, P> {
    #[inline(always)]
    fn source(&self) -> Source<'_> {
        self.source
    }

    #[inline(always)]
    fn prepare<'a>(&'a self, hashed: &'a mut Hashed, room: &'a mut [Ntt]) -> Operation<'a> {
        hashed.m = *self.m;
        self.source.hash::<P>(Operation::new(hashed), None, room)
    }

    #[inline(always)]
    fn finish(self, hashed: &Hashed, room: &[Ntt]) {
        encrypt_hashed::<P>(self.source.elements(room), hashed, &mut Writer(self.c.as_mut()));
        *self.shared = hashed.k;
    }
}

/// FIPS 203, Algorithm 18 (ML-KEM.Decaps_internal), of `c`.
pub(super) struct Decapsulation<'a, P: ParameterSet, K> {
    pub key: &'a K,
    pub parts: Parts<'a>,
    pub c: &'a P::Ciphertext,
    pub shared: &'a mut [u8; 32],
    /// The result of the check of a key of bytes.
    pub verdict: &'a mut Result<(), DecapsulationKeyError>,
}

impl<P: ParameterSet, K: DecryptionKey> Task for Decapsulation<'_, P, K> {
    #[inline(always)]
    fn source(&self) -> Source<'_> {
        self.parts.source
    }

    #[inline(always)]
    fn prepare<'a>(&'a self, hashed: &'a mut Hashed, room: &'a mut [Ntt]) -> Operation<'a> {
        let (Parts { source, h, z }, c) = (self.parts, self.c.as_ref());
        decrypt_with::<P>(self.key, c, &mut hashed.m);
        source.hash::<P>(Operation::new(hashed).j(z, c), Some(h), room)
    }

    #[inline(always)]
    fn finish(self, hashed: &Hashed, room: &[Ntt]) {
        let Parts { source, h, .. } = self.parts;
        if let Source::Bytes(ek) = source {
            *self.verdict = check::<P>(ek, h, &hashed.hash);
            if self.verdict.is_err() {
                return;
            }
        }
        let mut comparer = Comparer::new(self.c.as_ref());
        encrypt_hashed::<P>(source.elements(room), hashed, &mut comparer);
        *self.shared = hashed.k;
        select_bytes(self.shared, &hashed.rejection, mask_nonzero(comparer.difference()));
    }
}

/// Encrypts the message of which the noise was hashed.
#[inline(never)]
fn encrypt_hashed<P: ParameterSet>(elements: &[Ntt], hashed: &Hashed, sink: &mut impl Sink) {
    Stack.lend(|(y, u): &mut (Secret<P::Vector>, Secret<Ntt>), _| {
        let mut products = Prepared::new(elements, y.expose_mut().as_mut(), u.expose_mut());
        encrypt::<P, _>(&mut products, &hashed.m, &mut &*hashed, |f, d| put_compressed(sink, f, d));
    });
}
