//! The C interface, called as C calls it: by the names and types of gambeson.h, with objects and buffers of the caller's.
//!
//! It is linked from `gambeson-ffi` as a Rust library, so that the limit on tables and the allocator of a gate hold for it, too: the code of
//! the calls is that of the archive.

use gambeson::mldsa::PreHash;
use gambeson_c as _;
use std::ffi::{c_int, c_void};
use std::ptr;

/// A caller's source of randomness.
type Fill = unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int;

type Bytes = *const u8;

/// A key of any set.
pub type Key = [u8; 96];
/// An object for a hash in pieces, as large as the largest.
pub type Hash = [u64; 31];

/// What a call gives; a negative number is a mistake of the gate.
fn well(error: c_int) {
    assert_eq!(error, 0, "a call of the C interface refuses what it was given");
}

/// Gives the bytes that `ctx`, a slice, names.
unsafe extern "C" fn give(ctx: *mut c_void, out: *mut u8, len: usize) -> c_int {
    // SAFETY: `given` points to a slice that outlives the call.
    let bytes = unsafe { *ctx.cast::<&[u8]>() };
    assert_eq!(bytes.len(), len, "as many as are asked for");
    // SAFETY: the library asks for `len` bytes at `out`, which is its own.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), out, len) };
    0
}

/// The randomness of a call: null is the system's.
#[derive(Debug)]
#[repr(C)]
pub struct Randomness {
    kind: c_int,
    fill: Option<Fill>,
    ctx: *mut c_void,
    bytes: Bytes,
    len: usize,
}

impl Randomness {
    /// That of a function of the caller's, which gives `bytes`.
    pub const fn callback(bytes: &mut &[u8]) -> Self {
        Self { kind: 1, fill: Some(give), ctx: ptr::from_mut(bytes).cast(), bytes: ptr::null(), len: 0 }
    }

    /// Bytes themselves.
    pub const fn bytes(bytes: &[u8]) -> Self {
        Self { kind: 2, fill: None, ctx: ptr::null_mut(), bytes: bytes.as_ptr(), len: bytes.len() }
    }
}

/// What is signed or verified.
#[derive(Debug)]
#[repr(C)]
pub struct Message {
    kind: c_int,
    prehash: c_int,
    data: Bytes,
    len: usize,
    context: Bytes,
    context_len: usize,
}

impl Message {
    /// The message itself.
    pub const fn pure(message: &[u8]) -> Self {
        let (context, context_len) = (CONTEXT.as_ptr(), CONTEXT.len());
        Self { kind: 0, prehash: 0, data: message.as_ptr(), len: message.len(), context, context_len }
    }

    /// A digest that the function of this number made.
    pub const fn prehashed(prehash: c_int, digest: &[u8]) -> Self {
        Self { kind: 1, prehash, ..Self::pure(digest) }
    }

    /// μ.
    pub const fn mu(mu: &[u8; 64]) -> Self {
        Self { kind: 2, context: ptr::null(), context_len: 0, ..Self::pure(mu) }
    }
}

// SAFETY, in all of what follows: every pointer names as many bytes as gambeson.h says, or as the length beside it, and no two of
// them overlap, for they are borrowed.

/// Declares calls, each by its name in C and the types of its arguments there, by the arguments of a method, and by what these are in C.
/// The calls are the fields of a table that has the methods. The schedule's infix is in a call's name, unless it has one of its own.
macro_rules! calls {
    (@struct [$($about:tt)*] $Table:ident { $($head:tt)* } {$(
        $(#[$doc:meta])*
        $function:ident $([$own:literal])? ($($c:ty),*)
            = (&$self:ident $(, $argument:ident: $type:ty)*) => ($($value:expr),*);
    )*}) => {
        $($about)*
        #[derive(Debug)]
        pub struct $Table {
            $($head)*
            $($function: unsafe extern "C" fn($($c),*) -> c_int,)*
        }

        impl $Table {$(
            $(#[$doc])*
            pub fn $function(&$self, $($argument: $type),*) {
                // SAFETY: as above.
                well(unsafe { ($self.$function)($($value),*) });
            }
        )*}
    };
    (@table $Table:ident { $($head:tt)* } $infix:literal $name:literal {$(
        $(#[$doc:meta])*
        $function:ident $([$own:literal])? ($($c:ty),*) = $arguments:tt => $values:tt;
    )*}) => {{
        unsafe extern "C" {$(
            #[link_name = concat!("gambeson_", calls!(@infix $infix $($own)?), $name, "_", stringify!($function))]
            fn $function($(_: $c),*) -> c_int;
        )*}
        $Table { $($head)* $($function,)* }
    }};
    (@infix $infix:literal) => { $infix };
    (@infix $infix:literal $own:literal) => { $own };
}

/// Hands the calls for keys, which both algorithms have, to `calls!`.
macro_rules! keys {
    ($($head:tt)*) => {
        calls! { $($head)* {
            /// A key and, where it is wanted, its public half.
            key_generate(*mut Key, *mut u8, *const Randomness)
                = (&self, key: &mut Key, public: Option<&mut [u8]>, randomness: Option<&Randomness>)
                => (key, public.map_or(ptr::null_mut(), |public| self.sized_mut(PUBLIC, public)),
                    randomness.map_or(ptr::null(), ptr::from_ref));
            /// The seed of a key, which has no schedule.
            key_seed[""](*const Key, *mut u8)
                = (&self, key: &Key, seed: &mut [u8]) => (key, self.sized_mut(SEED, seed));
            /// The public half, made again.
            key_public(*const Key, *mut u8)
                = (&self, key: &Key, public: &mut [u8]) => (key, self.sized_mut(PUBLIC, public));
            /// Both keys in the standard's forms, which have no schedule.
            keypair[""](*mut u8, *mut u8, *const Randomness)
                = (&self, public: &mut [u8], private: &mut [u8], randomness: &Randomness)
                => (self.sized_mut(PUBLIC, public), self.sized_mut(PRIVATE, private), randomness);
        } }
    };
}

keys! {
    @struct [/// A set of either algorithm in one schedule, and the calls for its keys.
    ]
    Keys {
        /// The standard's name of the set.
        pub set: &'static str,
        /// True for the schedule with the least memory.
        pub is_small: bool,
        /// Bytes of a public key, a private key in the standard's form, a ciphertext or signature, a seed.
        pub sizes: [usize; 4],
    }
}

/// Places in `Keys::sizes`.
const PUBLIC: usize = 0;
const PRIVATE: usize = 1;
const OUTPUT: usize = 2;
const SEED: usize = 3;

impl Keys {
    /// A buffer in C, which is as long as `sizes` has it.
    fn sized(&self, size: usize, buffer: &[u8]) -> Bytes {
        assert_eq!(buffer.len(), self.sizes[size], "{}: a buffer of another set", self.set);
        buffer.as_ptr()
    }

    fn sized_mut(&self, size: usize, buffer: &mut [u8]) -> *mut u8 {
        self.sized(size, buffer);
        buffer.as_mut_ptr()
    }
}

/// Declares the calls of an algorithm as the fields of a table, and a table for every set: in the schedule of speed, then in that of the
/// least memory.
macro_rules! tables {
    (
        $(#[$about:meta])* $Table:ident,
        $(#[$every:meta])* $ALL:ident = [$(($set:literal, $name:literal, $sizes:expr)),*],
        $calls:tt
    ) => {
        calls! {
            @struct [$(#[$about])*] $Table {
                /// The set, and the calls for its keys.
                pub keys: Keys,
            } $calls
        }

        $(#[$every])*
        pub const $ALL: [$Table; 6] = [$(
            tables!(@table $Table $set false "" $name $sizes, $calls),
            tables!(@table $Table $set true "small_" $name $sizes, $calls),
        )*];
    };
    (@table $Table:ident $set:literal $is_small:literal $infix:literal $name:literal $sizes:expr, $calls:tt) => {
        calls!(@table $Table {
            keys: keys!(@table Keys { set: $set, is_small: $is_small, sizes: $sizes, } $infix $name),
        } $infix $name $calls)
    };
}

tables! {
    /// The calls of ML-KEM for one set in one schedule.
    Kem,
    /// Every set of ML-KEM in both schedules.
    KEMS = [
        ("ML-KEM-512", "mlkem512", [800, 1632, 768, 64]),
        ("ML-KEM-768", "mlkem768", [1184, 2400, 1088, 64]),
        ("ML-KEM-1024", "mlkem1024", [1568, 3168, 1568, 64])
    ],
    {
        /// The shared secret in a ciphertext.
        key_decapsulate(*const Key, *mut u8, Bytes, usize)
            = (&self, key: &Key, shared: &mut [u8; 32], c: &[u8])
            => (key, shared.as_mut_ptr(), c.as_ptr(), c.len());
        /// A shared secret.
        encapsulate(*mut u8, *mut u8, Bytes, usize, *const Randomness)
            = (&self, c: &mut [u8], shared: &mut [u8; 32], ek: &[u8], randomness: &Randomness)
            => (self.keys.sized_mut(OUTPUT, c), shared.as_mut_ptr(), ek.as_ptr(), ek.len(), randomness);
        /// Checks a private key in the standard's form, which has no schedule.
        check_dk[""](Bytes, usize) = (&self, dk: &[u8]) => (dk.as_ptr(), dk.len());
        /// The shared secret in a ciphertext, by such a key.
        decapsulate(*mut u8, Bytes, usize, Bytes, usize)
            = (&self, shared: &mut [u8; 32], c: &[u8], dk: &[u8])
            => (shared.as_mut_ptr(), c.as_ptr(), c.len(), dk.as_ptr(), dk.len());
    }
}

/// The context of every signature.
const CONTEXT: &[u8] = b"gate";

tables! {
    /// The calls of ML-DSA for one set in one schedule.
    Dsa,
    /// Every set of ML-DSA in both schedules.
    DSAS = [
        ("ML-DSA-44", "mldsa44", [1312, 2560, 2420, 32]),
        ("ML-DSA-65", "mldsa65", [1952, 4032, 3309, 32]),
        ("ML-DSA-87", "mldsa87", [2592, 4896, 4627, 32])
    ],
    {
        /// Signs.
        key_sign(*const Key, *mut u8, *const Message, *const Randomness)
            = (&self, key: &Key, signature: &mut [u8], message: &Message, randomness: &Randomness)
            => (key, self.keys.sized_mut(OUTPUT, signature), message, randomness);
        /// Verifies.
        verify(Bytes, usize, *const Message, Bytes, usize)
            = (&self, signature: &[u8], message: &Message, vk: &[u8])
            => (signature.as_ptr(), signature.len(), message, vk.as_ptr(), vk.len());
        /// Begins μ, which has no schedule.
        mu_init[""](*mut Hash, Bytes, usize, Bytes, usize)
            = (&self, hash: &mut Hash, vk: &[u8])
            => (hash, vk.as_ptr(), vk.len(), CONTEXT.as_ptr(), CONTEXT.len());
        /// Checks a private key in the standard's form.
        check_sk(Bytes, usize) = (&self, sk: &[u8]) => (sk.as_ptr(), sk.len());
        /// Signs with such a key.
        sign(*mut u8, *const Message, Bytes, usize, *const Randomness)
            = (&self, signature: &mut [u8], message: &Message, sk: &[u8], randomness: &Randomness)
            => (self.keys.sized_mut(OUTPUT, signature), message, sk.as_ptr(), sk.len(), randomness);
    }
}

impl Dsa {
    /// μ of a message in two pieces.
    pub fn mu(&self, hash: &mut Hash, vk: &[u8], message: &[u8], mu: &mut [u8; 64]) {
        unsafe extern "C" {
            fn gambeson_mldsa_mu_update(hash: *mut Hash, data: Bytes, len: usize) -> c_int;
            fn gambeson_mldsa_mu_final(hash: *mut Hash, mu: *mut u8) -> c_int;
        }
        self.mu_init(hash, vk);
        // SAFETY: as above.
        in_two_pieces(message, |data, len| unsafe { gambeson_mldsa_mu_update(hash, data, len) });
        // SAFETY: as above.
        well(unsafe { gambeson_mldsa_mu_final(hash, mu.as_mut_ptr()) });
    }
}

unsafe extern "C" {
    fn gambeson_slhdsa_keypair(
        _: c_int,
        _: *mut u8,
        _: usize,
        _: *mut u8,
        _: usize,
        _: *const Randomness,
    ) -> c_int;
    fn gambeson_slhdsa_sign(
        _: c_int,
        _: *mut u8,
        _: usize,
        _: *const Message,
        _: Bytes,
        _: usize,
        _: *const Randomness,
    ) -> c_int;
    fn gambeson_slhdsa_verify(_: c_int, _: Bytes, _: usize, _: *const Message, _: Bytes, _: usize) -> c_int;
}

/// Both keys of a set of SLH-DSA, which has this number.
pub fn slhdsa_keypair(set: c_int, vk: &mut [u8], sk: &mut [u8], randomness: &Randomness) {
    let (vk, vk_len, sk, sk_len) = (vk.as_mut_ptr(), vk.len(), sk.as_mut_ptr(), sk.len());
    // SAFETY: as above.
    well(unsafe { gambeson_slhdsa_keypair(set, vk, vk_len, sk, sk_len, randomness) });
}

/// Signs by SLH-DSA.
pub fn slhdsa_sign(set: c_int, signature: &mut [u8], message: &Message, sk: &[u8], randomness: &Randomness) {
    let (signature, len) = (signature.as_mut_ptr(), signature.len());
    // SAFETY: as above.
    well(unsafe { gambeson_slhdsa_sign(set, signature, len, message, sk.as_ptr(), sk.len(), randomness) });
}

/// Verifies by SLH-DSA.
pub fn slhdsa_verify(set: c_int, signature: &[u8], message: &Message, vk: &[u8]) {
    let (signature, len) = (signature.as_ptr(), signature.len());
    // SAFETY: as above.
    well(unsafe { gambeson_slhdsa_verify(set, signature, len, message, vk.as_ptr(), vk.len()) });
}

/// The calls of one hash.
#[derive(Debug)]
pub struct Hasher {
    /// The standard's name of the hash.
    pub name: &'static str,
    /// Bytes of a digest; of a SHAKE, as many as the gates ask for.
    pub len: usize,
    whole: fn(&mut [u8], &[u8]) -> c_int,
    init: unsafe extern "C" fn(*mut Hash) -> c_int,
    update: unsafe extern "C" fn(*mut Hash, Bytes, usize) -> c_int,
    end: fn(&mut Hash, &mut [u8]) -> c_int,
}

/// Bytes of a buffer, for calls that ask for them.
const fn length(buffer: &[u8]) -> usize {
    buffer.len()
}

macro_rules! hasher {
    ($name:literal, $prefix:literal, $len:literal, $end:literal $(, $length:ident)?) => {{
        unsafe extern "C" {
            #[link_name = concat!("gambeson_", $prefix)]
            fn whole(_: *mut u8, $($length: usize,)? _: Bytes, _: usize) -> c_int;
            #[link_name = concat!("gambeson_", $prefix, "_init")]
            fn init(_: *mut Hash) -> c_int;
            #[link_name = concat!("gambeson_", $prefix, "_update")]
            fn update(_: *mut Hash, _: Bytes, _: usize) -> c_int;
            #[link_name = concat!("gambeson_", $prefix, $end)]
            fn end(_: *mut Hash, _: *mut u8, $($length: usize)?) -> c_int;
        }
        Hasher {
            name: $name,
            len: $len,
            whole: |out, data| {
                // SAFETY: as above.
                unsafe { whole(out.as_mut_ptr(), $($length(out),)? data.as_ptr(), data.len()) }
            },
            init,
            update,
            end: |hash, out| {
                // SAFETY: as above.
                unsafe { end(hash, out.as_mut_ptr(), $($length(out))?) }
            },
        }
    }};
}

/// Every hash of FIPS 202.
pub const HASHES: [Hasher; 6] = [
    hasher!("SHA3-224", "sha3_224", 28, "_final"),
    hasher!("SHA3-256", "sha3_256", 32, "_final"),
    hasher!("SHA3-384", "sha3_384", 48, "_final"),
    hasher!("SHA3-512", "sha3_512", 64, "_final"),
    hasher!("SHAKE128", "shake128", 200, "_squeeze", length),
    hasher!("SHAKE256", "shake256", 200, "_squeeze", length),
];

impl Hasher {
    /// At once.
    pub fn whole(&self, out: &mut [u8], data: &[u8]) {
        assert_eq!(out.len(), self.len, "{}", self.name);
        well((self.whole)(out, data));
    }

    /// In two pieces.
    pub fn pieces(&self, hash: &mut Hash, out: &mut [u8], data: &[u8]) {
        assert_eq!(out.len(), self.len, "{}", self.name);
        // SAFETY: as above.
        well(unsafe { (self.init)(hash) });
        // SAFETY: as above.
        in_two_pieces(data, |data, len| unsafe { (self.update)(hash, data, len) });
        well((self.end)(hash, out));
    }
}

/// Calls `update` on both halves of the data. Inlined: the stack of the calls is measured, and has no frame of this one.
#[inline(always)]
fn in_two_pieces(data: &[u8], mut update: impl FnMut(Bytes, usize) -> c_int) {
    let (first, second) = data.split_at(data.len() >> 1);
    for piece in [first, second] {
        well(update(piece.as_ptr(), piece.len()));
    }
}

/// Every hash function of HashML-DSA, and the last number of its identifier, by which C knows it.
pub const PREHASHES: [(PreHash, c_int); 12] = [
    (PreHash::Sha2_256, 1),
    (PreHash::Sha2_384, 2),
    (PreHash::Sha2_512, 3),
    (PreHash::Sha2_224, 4),
    (PreHash::Sha2_512_224, 5),
    (PreHash::Sha2_512_256, 6),
    (PreHash::Sha3_224, 7),
    (PreHash::Sha3_256, 8),
    (PreHash::Sha3_384, 9),
    (PreHash::Sha3_512, 10),
    (PreHash::Shake128, 11),
    (PreHash::Shake256, 12),
];

/// The number of one of them.
pub fn prehash_number(function: PreHash) -> c_int {
    let known = PREHASHES.iter().find(|(known, _)| *known == function);
    known.expect("all are known").1
}

/// A digest for HashML-DSA, in two pieces; `prehash` is the last number of the function's identifier.
pub fn prehash(hash: &mut Hash, prehash: c_int, data: &[u8], digest: &mut [u8]) {
    unsafe extern "C" {
        fn gambeson_prehash_init(hash: *mut Hash, prehash: c_int) -> c_int;
        fn gambeson_prehash_update(hash: *mut Hash, data: Bytes, len: usize) -> c_int;
        fn gambeson_prehash_final(hash: *mut Hash, digest: *mut u8, len: usize) -> c_int;
    }
    // SAFETY: as above.
    well(unsafe { gambeson_prehash_init(hash, prehash) });
    // SAFETY: as above.
    in_two_pieces(data, |data, len| unsafe { gambeson_prehash_update(hash, data, len) });
    // SAFETY: as above.
    well(unsafe { gambeson_prehash_final(hash, digest.as_mut_ptr(), digest.len()) });
}

/// Wipes what is the caller's.
pub fn wipe<T: Copy>(secret: &mut [T]) {
    unsafe extern "C" {
        fn gambeson_wipe(secret: *mut c_void, len: usize);
    }
    // SAFETY: as above; the gates wipe bytes and words, which may be zero.
    unsafe { gambeson_wipe(secret.as_mut_ptr().cast(), size_of_val(secret)) };
}

/// What [`plugged`] plugs in: applied to each of `count` states.
pub type Permutation = unsafe extern "C" fn(ctx: *mut c_void, states: *mut u64, count: usize);

/// Runs `work` with a permutation of the caller's.
pub fn plugged<R>(permutation: Permutation, work: impl FnOnce() -> R) -> R {
    #[repr(C)]
    struct Keccak(Permutation, *mut c_void);
    unsafe extern "C" {
        fn gambeson_set_keccak(keccak: *const Keccak) -> c_int;
    }
    let keccak = Keccak(permutation, ptr::null_mut());
    // SAFETY: it stays until it is taken out, below; no other thread hashes.
    well(unsafe { gambeson_set_keccak(&keccak) });
    let result = work();
    // SAFETY: null takes it out.
    well(unsafe { gambeson_set_keccak(ptr::null()) });
    result
}
