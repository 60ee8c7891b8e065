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

fn given(bytes: &mut &[u8]) -> *mut c_void {
    ptr::from_mut(bytes).cast()
}

/// Declares the calls of an algorithm by their names in C as the fields of a table, and a table for every set: in the schedule of speed, then
/// in that of the least memory.
macro_rules! tables {
    ($(#[$about:meta])* $Table:ident, $(#[$every:meta])* $ALL:ident = $sets:tt, $functions:tt) => {
        tables!(@struct [$(#[$about])*] $Table $functions);
        tables!(@all [$(#[$every])*] $ALL $Table $sets $functions);
    };
    (@struct [$($about:tt)*] $Table:ident { $($function:ident($($argument:ty),*);)* }) => {
        $($about)*
        #[derive(Debug)]
        pub struct $Table {
            /// The set, and the calls for its keys.
            pub keys: Keys,
            $($function: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }
    };
    (@all [$($about:tt)*] $ALL:ident $Table:ident [$($set:tt),*] $functions:tt) => {
        $($about)*
        pub const $ALL: [$Table; 6] = [$(
            tables!(@table $Table false "" $set $functions),
            tables!(@table $Table true "small_" $set $functions),
        )*];
    };
    (@table $Table:ident $is_small:literal $infix:literal ($set:literal, $name:literal, $sizes:expr) {
        $($function:ident($($argument:ty),*);)*
    }) => {{
        unsafe extern "C" {
            $(#[link_name = concat!("gambeson_", $infix, $name, "_", stringify!($function))]
            fn $function($(_: $argument),*) -> c_int;)*
        }
        $Table { keys: keys!($is_small, $infix, $set, $name, $sizes), $($function,)* }
    }};
}

/// A set of either algorithm in one schedule, and the calls for its keys.
#[derive(Debug)]
pub struct Keys {
    /// The standard's name of the set.
    pub set: &'static str,
    /// True for the schedule with the least memory.
    pub is_small: bool,
    /// Bytes of a public key, a private key in the standard's form, a ciphertext or signature, a seed.
    pub sizes: [usize; 4],
    key_generate: unsafe extern "C" fn(*mut Key, *mut u8) -> c_int,
    key_generate_with: unsafe extern "C" fn(*mut Key, *mut u8, Fill, *mut c_void) -> c_int,
    key_from_seed: unsafe extern "C" fn(*mut Key, *mut u8, Bytes) -> c_int,
    key_seed: unsafe extern "C" fn(*const Key, *mut u8) -> c_int,
    key_public: unsafe extern "C" fn(*const Key, *mut u8) -> c_int,
    keypair_from_seed: unsafe extern "C" fn(*mut u8, *mut u8, Bytes) -> c_int,
}

macro_rules! keys {
    ($is_small:literal, $infix:literal, $set:literal, $name:literal, $sizes:expr) => {{
        unsafe extern "C" {
            #[link_name = concat!("gambeson_", $infix, $name, "_key_generate")]
            fn key_generate(_: *mut Key, _: *mut u8) -> c_int;
            #[link_name = concat!("gambeson_", $infix, $name, "_key_generate_with")]
            fn key_generate_with(_: *mut Key, _: *mut u8, _: Fill, _: *mut c_void) -> c_int;
            #[link_name = concat!("gambeson_", $infix, $name, "_key_from_seed")]
            fn key_from_seed(_: *mut Key, _: *mut u8, _: Bytes) -> c_int;
            #[link_name = concat!("gambeson_", $infix, $name, "_key_seed")]
            fn key_seed(_: *const Key, _: *mut u8) -> c_int;
            #[link_name = concat!("gambeson_", $infix, $name, "_key_public")]
            fn key_public(_: *const Key, _: *mut u8) -> c_int;
            // The standard's keys have no schedule.
            #[link_name = concat!("gambeson_", $name, "_keypair_from_seed")]
            fn keypair_from_seed(_: *mut u8, _: *mut u8, _: Bytes) -> c_int;
        }
        Keys {
            set: $set,
            is_small: $is_small,
            sizes: $sizes,
            key_generate,
            key_generate_with,
            key_from_seed,
            key_seed,
            key_public,
            keypair_from_seed,
        }
    }};
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
        key_decapsulate(*const Key, *mut u8, Bytes, usize);
        encapsulate_with(*mut u8, *mut u8, Bytes, usize, Fill, *mut c_void);
        encapsulate_deterministic(*mut u8, *mut u8, Bytes, usize, Bytes);
        check_dk(Bytes, usize);
        decapsulate(*mut u8, Bytes, usize, Bytes, usize);
    }
}

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
        key_sign_with(*const Key, *mut u8, Bytes, usize, Bytes, usize, Fill, *mut c_void);
        key_sign_with_rnd(*const Key, *mut u8, Bytes, usize, Bytes, usize, Bytes);
        key_sign_mu_with_rnd(*const Key, *mut u8, Bytes, Bytes);
        key_sign_prehashed_with_rnd(*const Key, *mut u8, c_int, Bytes, usize, Bytes, usize, Bytes);
        verify(Bytes, usize, Bytes, usize, Bytes, usize, Bytes, usize);
        verify_prehashed(Bytes, usize, c_int, Bytes, usize, Bytes, usize, Bytes, usize);
        mu_init(*mut Hash, Bytes, usize, Bytes, usize);
        check_sk(Bytes, usize);
        sign_with_rnd(*mut u8, Bytes, usize, Bytes, usize, Bytes, usize, Bytes);
        sign_mu_with_rnd(*mut u8, Bytes, Bytes, usize, Bytes);
        sign_prehashed_with_rnd(*mut u8, c_int, Bytes, usize, Bytes, usize, Bytes, usize, Bytes);
    }
}

// SAFETY, in all of what follows: every pointer names as many bytes as gambeson.h says, or as the length beside it, and no two of
// them overlap, for they are borrowed.

impl Keys {
    /// Fails unless a buffer is as long as `sizes` has it.
    fn fits(&self, size: usize, buffer: &[u8]) {
        assert_eq!(buffer.len(), self.sizes[size], "{}: a buffer of another set", self.set);
    }

    /// A key of the system's randomness.
    pub fn key_generate(&self, key: &mut Key, public: &mut [u8]) {
        self.fits(PUBLIC, public);
        // SAFETY: as above.
        well(unsafe { (self.key_generate)(key, public.as_mut_ptr()) });
    }

    /// A key of the caller's randomness, without its public half.
    pub fn key_generate_with(&self, key: &mut Key, mut seed: &[u8]) {
        // SAFETY: as above.
        well(unsafe { (self.key_generate_with)(key, ptr::null_mut(), give, given(&mut seed)) });
    }

    /// The key of a seed.
    pub fn key_from_seed(&self, key: &mut Key, public: &mut [u8], seed: &[u8]) {
        self.fits(PUBLIC, public);
        self.fits(SEED, seed);
        // SAFETY: as above.
        well(unsafe { (self.key_from_seed)(key, public.as_mut_ptr(), seed.as_ptr()) });
    }

    /// The seed of a key.
    pub fn key_seed(&self, key: &Key, seed: &mut [u8]) {
        self.fits(SEED, seed);
        // SAFETY: as above.
        well(unsafe { (self.key_seed)(key, seed.as_mut_ptr()) });
    }

    /// The public half, made again.
    pub fn key_public(&self, key: &Key, public: &mut [u8]) {
        self.fits(PUBLIC, public);
        // SAFETY: as above.
        well(unsafe { (self.key_public)(key, public.as_mut_ptr()) });
    }

    /// Both keys in the standard's forms, which have no schedule.
    pub fn keypair_from_seed(&self, public: &mut [u8], private: &mut [u8], seed: &[u8]) {
        self.fits(PUBLIC, public);
        self.fits(PRIVATE, private);
        self.fits(SEED, seed);
        let (public, private) = (public.as_mut_ptr(), private.as_mut_ptr());
        // SAFETY: as above.
        well(unsafe { (self.keypair_from_seed)(public, private, seed.as_ptr()) });
    }
}

/// Places in `Keys::sizes`.
const PUBLIC: usize = 0;
const PRIVATE: usize = 1;
const OUTPUT: usize = 2;
const SEED: usize = 3;

impl Kem {
    /// The shared secret in a ciphertext.
    pub fn key_decapsulate(&self, key: &Key, shared: &mut [u8; 32], c: &[u8]) {
        // SAFETY: as above.
        well(unsafe { (self.key_decapsulate)(key, shared.as_mut_ptr(), c.as_ptr(), c.len()) });
    }

    /// A shared secret of the caller's randomness.
    pub fn encapsulate_with(&self, c: &mut [u8], shared: &mut [u8; 32], ek: &[u8], mut m: &[u8]) {
        self.keys.fits(OUTPUT, c);
        let (c, shared) = (c.as_mut_ptr(), shared.as_mut_ptr());
        // SAFETY: as above.
        well(unsafe { (self.encapsulate_with)(c, shared, ek.as_ptr(), ek.len(), give, given(&mut m)) });
    }

    /// A shared secret of given coins.
    pub fn encapsulate_deterministic(&self, c: &mut [u8], shared: &mut [u8; 32], ek: &[u8], m: &[u8; 32]) {
        self.keys.fits(OUTPUT, c);
        let (c, shared) = (c.as_mut_ptr(), shared.as_mut_ptr());
        // SAFETY: as above.
        well(unsafe { (self.encapsulate_deterministic)(c, shared, ek.as_ptr(), ek.len(), m.as_ptr()) });
    }

    /// Checks a private key in the standard's form.
    pub fn check_dk(&self, dk: &[u8]) {
        // SAFETY: as above.
        well(unsafe { (self.check_dk)(dk.as_ptr(), dk.len()) });
    }

    /// The shared secret in a ciphertext, by such a key.
    pub fn decapsulate(&self, shared: &mut [u8; 32], c: &[u8], dk: &[u8]) {
        let shared = shared.as_mut_ptr();
        // SAFETY: as above.
        well(unsafe { (self.decapsulate)(shared, c.as_ptr(), c.len(), dk.as_ptr(), dk.len()) });
    }
}

/// What the gates sign with: a context.
const CONTEXT: &[u8] = b"gate";

impl Dsa {
    /// Signs, with the caller's randomness.
    pub fn key_sign_with(&self, key: &Key, signature: &mut [u8], message: &[u8], mut rnd: &[u8]) {
        self.keys.fits(OUTPUT, signature);
        let (message, len) = (message.as_ptr(), message.len());
        let (context, signature) = (CONTEXT.as_ptr(), signature.as_mut_ptr());
        // SAFETY: as above.
        well(unsafe {
            (self.key_sign_with)(key, signature, message, len, context, CONTEXT.len(), give, given(&mut rnd))
        });
    }

    /// Signs.
    pub fn key_sign_with_rnd(&self, key: &Key, signature: &mut [u8], message: &[u8], rnd: &[u8; 32]) {
        self.keys.fits(OUTPUT, signature);
        let (message, len) = (message.as_ptr(), message.len());
        let (context, signature) = (CONTEXT.as_ptr(), signature.as_mut_ptr());
        // SAFETY: as above.
        well(unsafe {
            (self.key_sign_with_rnd)(key, signature, message, len, context, CONTEXT.len(), rnd.as_ptr())
        });
    }

    /// Signs μ.
    pub fn key_sign_mu_with_rnd(&self, key: &Key, signature: &mut [u8], mu: &[u8; 64], rnd: &[u8; 32]) {
        self.keys.fits(OUTPUT, signature);
        // SAFETY: as above.
        well(unsafe { (self.key_sign_mu_with_rnd)(key, signature.as_mut_ptr(), mu.as_ptr(), rnd.as_ptr()) });
    }

    /// Signs a digest.
    pub fn key_sign_prehashed_with_rnd(
        &self,
        key: &Key,
        signature: &mut [u8],
        (prehash, digest): (c_int, &[u8]),
        rnd: &[u8; 32],
    ) {
        self.keys.fits(OUTPUT, signature);
        let (digest, len) = (digest.as_ptr(), digest.len());
        let (context, signature) = (CONTEXT.as_ptr(), signature.as_mut_ptr());
        let sign = self.key_sign_prehashed_with_rnd;
        // SAFETY: as above.
        well(unsafe { sign(key, signature, prehash, digest, len, context, CONTEXT.len(), rnd.as_ptr()) });
    }

    /// Verifies.
    pub fn verify(&self, signature: &[u8], message: &[u8], vk: &[u8]) {
        let (s, len) = (signature.as_ptr(), signature.len());
        let (m, m_len, context) = (message.as_ptr(), message.len(), CONTEXT.as_ptr());
        // SAFETY: as above.
        well(unsafe { (self.verify)(s, len, m, m_len, context, CONTEXT.len(), vk.as_ptr(), vk.len()) });
    }

    /// Verifies a signature over a digest.
    pub fn verify_prehashed(&self, signature: &[u8], (prehash, digest): (c_int, &[u8]), vk: &[u8]) {
        let (s, len) = (signature.as_ptr(), signature.len());
        let (d, d_len, context) = (digest.as_ptr(), digest.len(), CONTEXT.as_ptr());
        let (vk, vk_len) = (vk.as_ptr(), vk.len());
        // SAFETY: as above.
        well(unsafe {
            (self.verify_prehashed)(s, len, prehash, d, d_len, context, CONTEXT.len(), vk, vk_len)
        });
    }

    /// μ of a message in two pieces.
    pub fn mu(&self, hash: &mut Hash, vk: &[u8], message: &[u8], mu: &mut [u8; 64]) {
        unsafe extern "C" {
            fn gambeson_mldsa_mu_update(hash: *mut Hash, data: Bytes, len: usize) -> c_int;
            fn gambeson_mldsa_mu_final(hash: *mut Hash, mu: *mut u8) -> c_int;
        }
        let (context, context_len) = (CONTEXT.as_ptr(), CONTEXT.len());
        // SAFETY: as above.
        well(unsafe { (self.mu_init)(hash, vk.as_ptr(), vk.len(), context, context_len) });
        // SAFETY: as above.
        in_two_pieces(message, |data, len| unsafe { gambeson_mldsa_mu_update(hash, data, len) });
        // SAFETY: as above.
        well(unsafe { gambeson_mldsa_mu_final(hash, mu.as_mut_ptr()) });
    }

    /// Checks a private key in the standard's form.
    pub fn check_sk(&self, sk: &[u8]) {
        // SAFETY: as above.
        well(unsafe { (self.check_sk)(sk.as_ptr(), sk.len()) });
    }

    /// Signs with such a key.
    pub fn sign_with_rnd(&self, signature: &mut [u8], message: &[u8], sk: &[u8], rnd: &[u8; 32]) {
        self.keys.fits(OUTPUT, signature);
        let (m, len, context, sign) = (message.as_ptr(), message.len(), CONTEXT.as_ptr(), self.sign_with_rnd);
        let (signature, sk, sk_len) = (signature.as_mut_ptr(), sk.as_ptr(), sk.len());
        // SAFETY: as above.
        well(unsafe { sign(signature, m, len, context, CONTEXT.len(), sk, sk_len, rnd.as_ptr()) });
    }

    /// Signs μ with such a key.
    pub fn sign_mu_with_rnd(&self, signature: &mut [u8], mu: &[u8; 64], sk: &[u8], rnd: &[u8; 32]) {
        self.keys.fits(OUTPUT, signature);
        let (signature, mu, sk, sk_len) = (signature.as_mut_ptr(), mu.as_ptr(), sk.as_ptr(), sk.len());
        // SAFETY: as above.
        well(unsafe { (self.sign_mu_with_rnd)(signature, mu, sk, sk_len, rnd.as_ptr()) });
    }

    /// Signs a digest with such a key.
    pub fn sign_prehashed_with_rnd(
        &self,
        signature: &mut [u8],
        (prehash, digest): (c_int, &[u8]),
        sk: &[u8],
        rnd: &[u8; 32],
    ) {
        self.keys.fits(OUTPUT, signature);
        let (digest, len, context) = (digest.as_ptr(), digest.len(), CONTEXT.as_ptr());
        let (s, sk, sk_len, rnd) = (signature.as_mut_ptr(), sk.as_ptr(), sk.len(), rnd.as_ptr());
        let sign = self.sign_prehashed_with_rnd;
        // SAFETY: as above.
        well(unsafe { sign(s, prehash, digest, len, context, CONTEXT.len(), sk, sk_len, rnd) });
    }
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
