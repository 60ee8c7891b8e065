//! `gate-massif OPERATION [PADDING]`: one operation with nothing above it on the stack, its keys and buffers in statics. The padding
//! is not read: it moves the stack.
//!
//! Ends with status 0 if what came out is right, 1 if it is wrong, 2 if no operation has that name.
#![no_std]
#![no_main]

mod start;

use core::cell::UnsafeCell;
use core::hint::black_box;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use gambeson::cpu::{self, Level};
use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, SigningKey, VerifyingKeyRef};
use gambeson::mlkem::{
    self, DecapsulationKey, EncapsulationKeyRef, MlKem512, MlKem768, MlKem1024, SharedSecret,
};
use gambeson::{Bytes, Small};

include!("inputs.rs");

/// Bytes of the frame that the measurement must see.
const PLANTED: usize = 20_000;

// The key objects, as docs/embedded/x86-64.md has them.
const _: () = assert!(size_of::<DecapsulationKey<Small<MlKem1024>>>() == 96);
const _: () = assert!(size_of::<SigningKey<Small<MlDsa87>>>() == 96);

struct Operation {
    name: &'static str,
    run: fn() -> bool,
}

/// Memory of an operation, borrowed once.
struct Static<T> {
    value: UnsafeCell<T>,
    borrowed: AtomicBool,
}

// SAFETY: `only` hands out one borrow, to whoever asks first.
unsafe impl<T: Send> Sync for Static<T> {}

impl<T> Static<T> {
    const fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), borrowed: AtomicBool::new(false) }
    }

    /// The one borrow of it.
    #[expect(clippy::mut_from_ref)]
    fn only(&self) -> &mut T {
        assert!(!self.borrowed.swap(true, Relaxed), "an operation runs once");
        // SAFETY: there is no other borrow, for the flag was not set.
        unsafe { &mut *self.value.get() }
    }
}

macro_rules! made {
    ($name:literal, $what:literal) => {
        *include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".", $what))
    };
}

macro_rules! kem {
    ($set:ident, $name:literal) => {{
        static MEMORY: Static<Kem<Small<$set>>> = Static::new(Kem {
            ek: made!($name, "ek"),
            c: made!($name, "c"),
            shared: made!($name, "shared"),
            dk: MaybeUninit::uninit(),
            made_ek: [0; _],
            made_c: [0; _],
            made_shared: SharedSecret::new([0; 32]),
        });
        &[
            Operation { name: concat!($name, " keygen"), run: || MEMORY.only().keygen() },
            Operation { name: concat!($name, " encaps"), run: || MEMORY.only().encaps() },
            Operation { name: concat!($name, " decaps"), run: || MEMORY.only().decaps() },
        ]
    }};
}

macro_rules! signature {
    ($set:ident, $name:literal) => {{
        static MEMORY: Static<Dsa<Small<$set>>> = Static::new(Dsa {
            vk: made!($name, "vk"),
            signature: made!($name, "signature"),
            key: MaybeUninit::uninit(),
            made_vk: [0; _],
            made_signature: [0; _],
        });
        &[
            Operation { name: concat!($name, " keygen"), run: || MEMORY.only().keygen() },
            Operation { name: concat!($name, " sign"), run: || MEMORY.only().sign() },
            Operation { name: concat!($name, " verify"), run: || MEMORY.only().verify() },
        ]
    }};
}

static OPERATIONS: [&[Operation]; 7] = [
    &[Operation { name: "nothing", run: || true }, Operation { name: "canary", run: big_frame }],
    kem!(MlKem512, "ML-KEM-512"),
    kem!(MlKem768, "ML-KEM-768"),
    kem!(MlKem1024, "ML-KEM-1024"),
    signature!(MlDsa44, "ML-DSA-44"),
    signature!(MlDsa65, "ML-DSA-65"),
    signature!(MlDsa87, "ML-DSA-87"),
];

/// The operation of that name. The entry calls it and then `run`, above which the search has left nothing.
extern "C" fn find(name: *const u8) -> Option<&'static Operation> {
    // SAFETY: the kernel ends every argument with a zero byte; no byte of ours is one, so that nothing behind it is read.
    let is_called = |byte: usize| unsafe { *name.add(byte) };
    OPERATIONS.iter().copied().flatten().find(|operation| {
        let bytes = operation.name.as_bytes();
        bytes.iter().enumerate().all(|(at, byte)| is_called(at) == *byte) && is_called(bytes.len()) == 0
    })
}

/// Runs it; returns the status of the process.
extern "C" fn run(operation: Option<&Operation>) -> i32 {
    operation.map_or(2, |operation| i32::from(!(operation.run)()))
}

/// Bytes that the operation takes or must make, its key object, and what it makes.
struct Kem<P: mlkem::ParameterSet> {
    ek: P::EncapsulationKeyBytes,
    c: P::Ciphertext,
    shared: [u8; 32],
    dk: MaybeUninit<DecapsulationKey<P>>,
    made_ek: P::EncapsulationKeyBytes,
    made_c: P::Ciphertext,
    made_shared: SharedSecret,
}

impl<P: mlkem::ParameterSet> Kem<P> {
    fn keygen(&mut self) -> bool {
        cpu::limit(Level::Portable);
        make(&mut self.dk, || DecapsulationKey::from_seed_into(&KEM_SEED, &mut self.made_ek));
        equal(&self.made_ek, &self.ek)
    }

    fn encaps(&mut self) -> bool {
        cpu::limit(Level::Portable);
        let Ok(ek) = EncapsulationKeyRef::<P>::from_ref(&self.ek) else { return false };
        ek.encapsulate_deterministic_into(&M, &mut self.made_c, &mut self.made_shared);
        equal(&self.made_c, &self.c) && equal(self.made_shared.expose(), &self.shared)
    }

    /// With the key made first, which is in the peak too.
    fn decaps(&mut self) -> bool {
        cpu::limit(Level::Portable);
        make(&mut self.dk, || DecapsulationKey::from_seed(&KEM_SEED))
            .decapsulate_into(&self.c, &mut self.made_shared);
        equal(self.made_shared.expose(), &self.shared)
    }
}

/// The same for signatures.
struct Dsa<P: mldsa::ParameterSet> {
    vk: P::VerifyingKeyBytes,
    signature: P::Signature,
    key: MaybeUninit<SigningKey<P>>,
    made_vk: P::VerifyingKeyBytes,
    made_signature: P::Signature,
}

impl<P: mldsa::ParameterSet> Dsa<P> {
    fn keygen(&mut self) -> bool {
        cpu::limit(Level::Portable);
        make(&mut self.key, || SigningKey::from_seed_into(&DSA_SEED, &mut self.made_vk));
        equal(&self.made_vk, &self.vk)
    }

    /// With the key made first, which is in the peak too.
    fn sign(&mut self) -> bool {
        cpu::limit(Level::Portable);
        let key = make(&mut self.key, || SigningKey::from_seed(&DSA_SEED));
        key.sign_with_rnd_into(&RND, MESSAGE, &mut self.made_signature);
        equal(&self.made_signature, &self.signature)
    }

    fn verify(&mut self) -> bool {
        cpu::limit(Level::Portable);
        VerifyingKeyRef::<P>::from_ref(&self.vk).verify(MESSAGE, self.signature.as_ref()).is_ok()
    }
}

/// The key, whose way to its static takes no part in the frame of what comes after.
#[inline(never)]
fn make<T>(key: &mut MaybeUninit<T>, make: impl FnOnce() -> T) -> &mut T {
    key.write(make())
}

fn equal<B: Bytes>(a: &B, b: &B) -> bool {
    a.as_ref() == b.as_ref()
}

/// The frame that the measurement must see.
#[inline(never)]
fn big_frame() -> bool {
    black_box([1_u8; PLANTED])[PLANTED / 2] == 1
}
