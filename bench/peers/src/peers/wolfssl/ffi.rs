//! The border to `shim.c`: keys as owned boxes, lengths checked before a pointer crosses.
#![allow(unsafe_code, reason = "wolfSSL is a C library")]

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// The key objects of one parameter set are not interchangeable with those of another: `k` and `level` travel with
/// them, and the sizes are checked against these.
mod raw {
    use super::{c_int, c_void};

    unsafe extern "C" {
        pub fn bench_wolfssl_level() -> c_int;
        pub fn bench_wolfssl_without_avx512();

        pub fn bench_wolfssl_rng_new() -> *mut c_void;
        pub fn bench_wolfssl_rng_delete(rng: *mut c_void);

        pub fn bench_wolfssl_kem_new(k: c_int) -> *mut c_void;
        pub fn bench_wolfssl_kem_delete(key: *mut c_void);
        pub fn bench_wolfssl_kem_reset(key: *mut c_void) -> c_int;
        pub fn bench_wolfssl_kem_generate(
            key: *mut c_void,
            seed: *const u8,
            public: *mut u8,
            public_len: usize,
            private: *mut u8,
            private_len: usize,
        ) -> c_int;
        pub fn bench_wolfssl_kem_make(key: *mut c_void, rng: *mut c_void) -> c_int;
        pub fn bench_wolfssl_kem_export(
            key: *mut c_void,
            public: *mut u8,
            public_len: usize,
            private: *mut u8,
            private_len: usize,
        ) -> c_int;
        pub fn bench_wolfssl_kem_import_public(key: *mut c_void, bytes: *const u8, len: usize) -> c_int;
        pub fn bench_wolfssl_kem_import_private(key: *mut c_void, bytes: *const u8, len: usize) -> c_int;
        pub fn bench_wolfssl_kem_encapsulate(
            key: *mut c_void,
            m: *const u8,
            ciphertext: *mut u8,
            secret: *mut u8,
        ) -> c_int;
        pub fn bench_wolfssl_kem_encapsulate_random(
            key: *mut c_void,
            ciphertext: *mut u8,
            secret: *mut u8,
            rng: *mut c_void,
        ) -> c_int;
        pub fn bench_wolfssl_kem_decapsulate(
            key: *mut c_void,
            ciphertext: *const u8,
            len: usize,
            secret: *mut u8,
        ) -> c_int;

        pub fn bench_wolfssl_dsa_new(level: c_int) -> *mut c_void;
        pub fn bench_wolfssl_dsa_delete(key: *mut c_void);
        pub fn bench_wolfssl_dsa_reset(key: *mut c_void) -> c_int;
        pub fn bench_wolfssl_dsa_generate(key: *mut c_void, seed: *const u8) -> c_int;
        pub fn bench_wolfssl_dsa_make(key: *mut c_void, rng: *mut c_void) -> c_int;
        pub fn bench_wolfssl_dsa_export_public(key: *mut c_void, bytes: *mut u8, len: usize) -> c_int;
        pub fn bench_wolfssl_dsa_export_private(key: *mut c_void, bytes: *mut u8, len: usize) -> c_int;
        pub fn bench_wolfssl_dsa_import_public(key: *mut c_void, bytes: *const u8, len: usize) -> c_int;
        pub fn bench_wolfssl_dsa_import_private(key: *mut c_void, bytes: *const u8, len: usize) -> c_int;
        pub fn bench_wolfssl_dsa_sign(
            key: *mut c_void,
            message: *const u8,
            message_len: usize,
            signature: *mut u8,
            signature_len: usize,
        ) -> c_int;
        pub fn bench_wolfssl_dsa_sign_random(
            key: *mut c_void,
            message: *const u8,
            message_len: usize,
            signature: *mut u8,
            signature_len: usize,
            rng: *mut c_void,
        ) -> c_int;
        pub fn bench_wolfssl_dsa_verify(
            key: *mut c_void,
            message: *const u8,
            message_len: usize,
            signature: *const u8,
            signature_len: usize,
            valid: *mut c_int,
        ) -> c_int;
    }
}

/// What wolfSSL will choose: 0 for neither, 2 for AVX2 with BMI2, 3 for AVX-512 too.
pub fn level() -> i32 {
    // SAFETY: no arguments; the flags of the library are atomic.
    unsafe { raw::bench_wolfssl_level() }
}

/// Lets wolfSSL believe that there is no AVX-512. Call it before anything else.
pub fn without_avx512() {
    // SAFETY: no arguments; the flags of the library are atomic.
    unsafe { raw::bench_wolfssl_without_avx512() }
}

fn check(error: c_int) {
    assert_eq!(error, 0, "wolfSSL refuses");
}

/// The library's generator, which the operating system seeds.
pub struct Rng {
    rng: NonNull<c_void>,
}

impl Rng {
    /// A new one.
    pub fn new() -> Self {
        // SAFETY: no arguments.
        let rng = unsafe { raw::bench_wolfssl_rng_new() };
        Self { rng: NonNull::new(rng).expect("memory, and randomness") }
    }
}

impl Drop for Rng {
    fn drop(&mut self) {
        // SAFETY: `rng` came from `new` and is not used again.
        unsafe { raw::bench_wolfssl_rng_delete(self.rng.as_ptr()) };
    }
}

/// An ML-KEM key object. The matrix is kept in it, once it was made.
pub struct Kem {
    key: NonNull<c_void>,
    k: usize,
}

impl Kem {
    /// An empty one; `k` is 2, 3 or 4.
    pub fn new(k: usize) -> Self {
        // SAFETY: the shim refuses any other k with a null pointer.
        let key = unsafe { raw::bench_wolfssl_kem_new(k as c_int) };
        Self { key: NonNull::new(key).expect("memory, and ML-KEM in the library"), k }
    }

    /// Scrubs it, for the next import.
    pub fn reset(&mut self) {
        // SAFETY: `key` came from `new` and lives.
        check(unsafe { raw::bench_wolfssl_kem_reset(self.key.as_ptr()) });
    }

    /// Makes a key pair and encodes it; `private` may be empty.
    pub fn generate(&mut self, seed: &[u8; 64], public: &mut [u8], private: &mut [u8]) {
        // SAFETY: `key` lives; the seed has the 64 bytes that the shim reads; the lengths are those of the slices.
        check(unsafe {
            raw::bench_wolfssl_kem_generate(
                self.key.as_ptr(),
                seed.as_ptr(),
                public.as_mut_ptr(),
                public.len(),
                private.as_mut_ptr(),
                private.len(),
            )
        });
    }

    /// Makes a key pair.
    pub fn make(&mut self, rng: &mut Rng) {
        // SAFETY: both live.
        check(unsafe { raw::bench_wolfssl_kem_make(self.key.as_ptr(), rng.rng.as_ptr()) });
    }

    /// Encodes a key pair.
    pub fn export(&mut self, public: &mut [u8], private: &mut [u8]) {
        // SAFETY: `key` lives; the lengths are those of the slices.
        check(unsafe {
            raw::bench_wolfssl_kem_export(
                self.key.as_ptr(),
                public.as_mut_ptr(),
                public.len(),
                private.as_mut_ptr(),
                private.len(),
            )
        });
    }

    /// From the encoded encapsulation key.
    pub fn import_public(&mut self, bytes: &[u8]) {
        // SAFETY: `key` lives; the length is that of the slice.
        check(unsafe {
            raw::bench_wolfssl_kem_import_public(self.key.as_ptr(), bytes.as_ptr(), bytes.len())
        });
    }

    /// From the decapsulation key in the standard's encoding.
    pub fn import_private(&mut self, bytes: &[u8]) {
        // SAFETY: `key` lives; the length is that of the slice.
        check(unsafe {
            raw::bench_wolfssl_kem_import_private(self.key.as_ptr(), bytes.as_ptr(), bytes.len())
        });
    }

    /// Writes a ciphertext, whose length must be that of the parameter set, and a secret.
    pub fn encapsulate(&mut self, m: &[u8; 32], ciphertext: &mut [u8], secret: &mut [u8; 32]) {
        assert_eq!(ciphertext.len(), [768, 1088, 1568][self.k - 2]);
        // SAFETY: `key` lives; the ciphertext has the length of its parameter set; m and the secret have 32 bytes.
        check(unsafe {
            raw::bench_wolfssl_kem_encapsulate(
                self.key.as_ptr(),
                m.as_ptr(),
                ciphertext.as_mut_ptr(),
                secret.as_mut_ptr(),
            )
        });
    }

    /// Encapsulates with the generator's randomness.
    pub fn encapsulate_random(&mut self, ciphertext: &mut [u8], secret: &mut [u8; 32], rng: &mut Rng) {
        assert_eq!(ciphertext.len(), [768, 1088, 1568][self.k - 2]);
        // SAFETY: both live; the ciphertext has the length of its parameter set; the secret has 32 bytes.
        check(unsafe {
            raw::bench_wolfssl_kem_encapsulate_random(
                self.key.as_ptr(),
                ciphertext.as_mut_ptr(),
                secret.as_mut_ptr(),
                rng.rng.as_ptr(),
            )
        });
    }

    /// Writes the secret.
    pub fn decapsulate(&mut self, ciphertext: &[u8], secret: &mut [u8; 32]) {
        // SAFETY: `key` lives; the library checks the ciphertext's length; the secret has 32 bytes.
        check(unsafe {
            raw::bench_wolfssl_kem_decapsulate(
                self.key.as_ptr(),
                ciphertext.as_ptr(),
                ciphertext.len(),
                secret.as_mut_ptr(),
            )
        });
    }
}

impl Drop for Kem {
    fn drop(&mut self) {
        // SAFETY: `key` came from `new` and is not used again.
        unsafe { raw::bench_wolfssl_kem_delete(self.key.as_ptr()) };
    }
}

/// An ML-DSA key object. The matrix and the decoded vectors are kept in it.
pub struct Dsa {
    key: NonNull<c_void>,
}

impl Dsa {
    /// An empty one; `level` is 44, 65 or 87.
    pub fn new(level: i32) -> Self {
        // SAFETY: the library refuses a level that it does not know.
        let key = unsafe { raw::bench_wolfssl_dsa_new(level) };
        Self { key: NonNull::new(key).expect("memory, and ML-DSA in the library") }
    }

    /// Scrubs it, for the next import.
    pub fn reset(&mut self) {
        // SAFETY: `key` came from `new` and lives.
        check(unsafe { raw::bench_wolfssl_dsa_reset(self.key.as_ptr()) });
    }

    /// Makes a key pair.
    pub fn generate(&mut self, seed: &[u8; 32]) {
        // SAFETY: `key` lives; the seed has the 32 bytes that the library reads.
        check(unsafe { raw::bench_wolfssl_dsa_generate(self.key.as_ptr(), seed.as_ptr()) });
    }

    /// Makes a key pair.
    pub fn make(&mut self, rng: &mut Rng) {
        // SAFETY: both live.
        check(unsafe { raw::bench_wolfssl_dsa_make(self.key.as_ptr(), rng.rng.as_ptr()) });
    }

    /// Writes the verifying key.
    pub fn export_public(&mut self, bytes: &mut [u8]) {
        // SAFETY: `key` lives; the length is that of the slice, and the library checks it.
        check(unsafe {
            raw::bench_wolfssl_dsa_export_public(self.key.as_ptr(), bytes.as_mut_ptr(), bytes.len())
        });
    }

    /// Writes the signing key in the standard's encoding.
    pub fn export_private(&mut self, bytes: &mut [u8]) {
        // SAFETY: `key` lives; the length is that of the slice, and the library checks it.
        check(unsafe {
            raw::bench_wolfssl_dsa_export_private(self.key.as_ptr(), bytes.as_mut_ptr(), bytes.len())
        });
    }

    /// From the encoded verifying key.
    pub fn import_public(&mut self, bytes: &[u8]) {
        // SAFETY: `key` lives; the length is that of the slice.
        check(unsafe {
            raw::bench_wolfssl_dsa_import_public(self.key.as_ptr(), bytes.as_ptr(), bytes.len())
        });
    }

    /// From the signing key in the standard's encoding.
    pub fn import_private(&mut self, bytes: &[u8]) {
        // SAFETY: `key` lives; the length is that of the slice.
        check(unsafe {
            raw::bench_wolfssl_dsa_import_private(self.key.as_ptr(), bytes.as_ptr(), bytes.len())
        });
    }

    /// Signs with the empty context and without randomness.
    pub fn sign(&mut self, message: &[u8], signature: &mut [u8]) {
        // SAFETY: `key` lives; the lengths are those of the slices, and the library checks the signature's.
        check(unsafe {
            raw::bench_wolfssl_dsa_sign(
                self.key.as_ptr(),
                message.as_ptr(),
                message.len(),
                signature.as_mut_ptr(),
                signature.len(),
            )
        });
    }

    /// Signs with the empty context, hedged.
    pub fn sign_random(&mut self, message: &[u8], signature: &mut [u8], rng: &mut Rng) {
        // SAFETY: both live; the lengths are those of the slices, and the library checks the signature's.
        check(unsafe {
            raw::bench_wolfssl_dsa_sign_random(
                self.key.as_ptr(),
                message.as_ptr(),
                message.len(),
                signature.as_mut_ptr(),
                signature.len(),
                rng.rng.as_ptr(),
            )
        });
    }

    /// Whether the signature is good, with the empty context.
    pub fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool {
        let mut valid = 0;
        // SAFETY: `key` lives; the lengths are those of the slices; `valid` outlives the call.
        let error = unsafe {
            raw::bench_wolfssl_dsa_verify(
                self.key.as_ptr(),
                message.as_ptr(),
                message.len(),
                signature.as_ptr(),
                signature.len(),
                &mut valid,
            )
        };
        error == 0 && valid == 1
    }
}

impl Drop for Dsa {
    fn drop(&mut self) {
        // SAFETY: `key` came from `new` and is not used again.
        unsafe { raw::bench_wolfssl_dsa_delete(self.key.as_ptr()) };
    }
}
