// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// gambeson: ML-KEM (FIPS 203), ML-DSA and HashML-DSA (FIPS 204), SHA-3 and SHAKE (FIPS 202).
//
// Written by `cargo xtask c header` from crates/ffi/src.
//
// Calls return GAMBESON_OK, which is 0, or one of gambeson_error; what they may return is listed with each, without
// `GAMBESON_ERROR_`. For all of them:
//
// - Buffers are the caller's, and none is kept. An array in brackets has that many bytes. What comes from elsewhere has a length
//   beside it, and another than the set's is refused. Outputs need not be initialised, and are not to be used after an error.
//   Bytes and keys may lie at any address; an object whose name ends in _ctx is aligned to 8 bytes, as the compiler does it.
//   Until the call returns, outputs may hold secrets, public ones too (ek, vk, ciphertext, signature): not for memory that others read.
// - A null pointer is refused; so are buffers that overlap where one is written. A pointer that names fewer bytes than said is
//   the caller's mistake, which nobody can see.
// - While a call runs, nobody else may write what it reads, nor touch what it writes. Otherwise threads and interrupts need no care: there
//   is no lock, and no state between calls but what gambeson_set_keccak sets. The caller's functions may make calls of their own on other
//   buffers, but `permute` none that hashes.
// - Time and addresses do not depend on secrets. ML-DSA's signing takes as many attempts as it takes, which tells nothing of the key.
// - The stack that a call used is wiped before it returns, and so are the library's copies of secrets. The caller's own (seeds,
//   keys, shared secrets, hashes of secrets) are the caller's to wipe: gambeson_wipe.
// - Stack, at most, measured on x86-64: hashes 2 kB, those of HashML-DSA 2.7 kB, ML-KEM 20 kB (_small_: 3.1 kB), ML-DSA 26 kB, signing
//   by the standard's sk 39, 60 and 95 kB (_small_: 6 kB); docs/memory.md has each call.
// - Stack on a Cortex-M4, in bytes: what the core takes of it is beside each call of _small_, and this interface adds 1,024 at most, 384 to calls
//   that end in _in. Calls of _small_ that say nothing take no more than that. Of the others docs/embedded/README.md has what was
//   measured (profile fast).
// - Calls that end in _in work in memory of the caller's, an object of the type ..._workspace on a heap or static, and take of the
//   stack only frames: docs/embedded/README.md has those of the core on small devices (profile workspace), and this interface
//   wipes 384 bytes. One workspace serves one call at a time. It need not be initialised, and is wiped.
// - Calls marked GAMBESON_HOSTED may take heap, and are not in the library for bare metal, which takes none. In the hosted one so may ML-DSA
//   where the processor has wide vectors; _small_ does not. At most 47, 68 and 104 kB for the three sets, until the call returns. Heap that the
//   system refuses ends the program.
//
// Names end in _generate, _encapsulate, _sign, _keypair where the operating system gives the randomness (on bare metal:
// gambeson_port_entropy), in _with where the caller's function does, and in _from_seed, _deterministic, _with_rnd where the
// caller brings it.

#ifndef GAMBESON_H
#define GAMBESON_H

#include <stddef.h>
#include <stdint.h>

// What stands before every call: nothing, unless the platform says otherwise (gambeson_port.h).
#ifndef GAMBESON_API
#define GAMBESON_API
#endif

// What stands before a call that the library for bare metal does not have: there, using it is an error.
#if defined(__unix__) || defined(__APPLE__) || defined(_WIN32) || !defined(__GNUC__)
#define GAMBESON_HOSTED GAMBESON_API
#else
#define GAMBESON_HOSTED GAMBESON_API __attribute__((error("in the hosted library only")))
#endif

#ifndef GAMBESON_MUST_USE
#ifdef __GNUC__
#define GAMBESON_MUST_USE __attribute__((warn_unused_result))
#else
#define GAMBESON_MUST_USE
#endif
#endif

// The call did what it says. The same number as `GAMBESON_ERROR_NONE`.
#define GAMBESON_OK 0

// The seed d ‖ z of an ML-KEM key, for every set: what to store.
#define GAMBESON_MLKEM_SEED_BYTES 64

// The randomness of an encapsulation.
#define GAMBESON_MLKEM_COINS_BYTES 32

// A shared secret.
#define GAMBESON_MLKEM_SHARED_BYTES 32

// An encapsulation key.
#define GAMBESON_MLKEM512_EK_BYTES 800

// A decapsulation key in the form of FIPS 203: dk_PKE ‖ ek ‖ H(ek) ‖ z.
#define GAMBESON_MLKEM512_DK_BYTES 1632

// A ciphertext.
#define GAMBESON_MLKEM512_CIPHERTEXT_BYTES 768

// The workspace of calls that end in `_in`.
#define GAMBESON_SMALL_MLKEM512_WORKSPACE_BYTES 1840

// An encapsulation key.
#define GAMBESON_MLKEM768_EK_BYTES 1184

// A decapsulation key in the form of FIPS 203: dk_PKE ‖ ek ‖ H(ek) ‖ z.
#define GAMBESON_MLKEM768_DK_BYTES 2400

// A ciphertext.
#define GAMBESON_MLKEM768_CIPHERTEXT_BYTES 1088

// The workspace of calls that end in `_in`.
#define GAMBESON_SMALL_MLKEM768_WORKSPACE_BYTES 1840

// An encapsulation key.
#define GAMBESON_MLKEM1024_EK_BYTES 1568

// A decapsulation key in the form of FIPS 203: dk_PKE ‖ ek ‖ H(ek) ‖ z.
#define GAMBESON_MLKEM1024_DK_BYTES 3168

// A ciphertext.
#define GAMBESON_MLKEM1024_CIPHERTEXT_BYTES 1568

// The workspace of calls that end in `_in`.
#define GAMBESON_SMALL_MLKEM1024_WORKSPACE_BYTES 1840

// The seed ξ of an ML-DSA key, for every set: what to store.
#define GAMBESON_MLDSA_SEED_BYTES 32

// The randomness of a signature.
#define GAMBESON_MLDSA_RND_BYTES 32

// The message representative μ.
#define GAMBESON_MLDSA_MU_BYTES 64

// The longest context string.
#define GAMBESON_MLDSA_CONTEXT_MAX_BYTES 255

// The longest digest of HashML-DSA.
#define GAMBESON_PREHASH_MAX_BYTES 64

// A digest of SHA-256.
#define GAMBESON_PREHASH_SHA2_256_BYTES 32

// A digest of SHA-384.
#define GAMBESON_PREHASH_SHA2_384_BYTES 48

// A digest of SHA-512.
#define GAMBESON_PREHASH_SHA2_512_BYTES 64

// A digest of SHA-224.
#define GAMBESON_PREHASH_SHA2_224_BYTES 28

// A digest of SHA-512/224.
#define GAMBESON_PREHASH_SHA2_512_224_BYTES 28

// A digest of SHA-512/256.
#define GAMBESON_PREHASH_SHA2_512_256_BYTES 32

// A digest of SHA3-224.
#define GAMBESON_PREHASH_SHA3_224_BYTES 28

// A digest of SHA3-256.
#define GAMBESON_PREHASH_SHA3_256_BYTES 32

// A digest of SHA3-384.
#define GAMBESON_PREHASH_SHA3_384_BYTES 48

// A digest of SHA3-512.
#define GAMBESON_PREHASH_SHA3_512_BYTES 64

// A digest of SHAKE128 for HashML-DSA.
#define GAMBESON_PREHASH_SHAKE128_BYTES 32

// A digest of SHAKE256 for HashML-DSA.
#define GAMBESON_PREHASH_SHAKE256_BYTES 64

// A public key.
#define GAMBESON_MLDSA44_VK_BYTES 1312

// A private key in the form of FIPS 204.
#define GAMBESON_MLDSA44_SK_BYTES 2560

// A signature.
#define GAMBESON_MLDSA44_SIGNATURE_BYTES 2420

// The workspace of calls that end in `_in`.
#define GAMBESON_SMALL_MLDSA44_WORKSPACE_BYTES 3008

// A public key.
#define GAMBESON_MLDSA65_VK_BYTES 1952

// A private key in the form of FIPS 204.
#define GAMBESON_MLDSA65_SK_BYTES 4032

// A signature.
#define GAMBESON_MLDSA65_SIGNATURE_BYTES 3309

// The workspace of calls that end in `_in`.
#define GAMBESON_SMALL_MLDSA65_WORKSPACE_BYTES 3656

// A public key.
#define GAMBESON_MLDSA87_VK_BYTES 2592

// A private key in the form of FIPS 204.
#define GAMBESON_MLDSA87_SK_BYTES 4896

// A signature.
#define GAMBESON_MLDSA87_SIGNATURE_BYTES 4627

// The workspace of calls that end in `_in`.
#define GAMBESON_SMALL_MLDSA87_WORKSPACE_BYTES 3912

// A digest of SHA3-224.
#define GAMBESON_SHA3_224_BYTES 28

// A digest of SHA3-256.
#define GAMBESON_SHA3_256_BYTES 32

// A digest of SHA3-384.
#define GAMBESON_SHA3_384_BYTES 48

// A digest of SHA3-512.
#define GAMBESON_SHA3_512_BYTES 64

// The version of this header: major.
#define GAMBESON_VERSION_MAJOR 0

// The version of this header: minor.
#define GAMBESON_VERSION_MINOR 1

// The version of this header: patch.
#define GAMBESON_VERSION_PATCH 0

// What a call came to. After any error the outputs are not to be used. They hold no secret then, unless the error is INTERNAL.
typedef enum gambeson_error {
    // The call did what it says.
    GAMBESON_ERROR_NONE = 0,
    // A pointer is null that must not be.
    GAMBESON_ERROR_NULL = -1,
    // A length is not that of the parameter set or of the hash function, or is longer than memory.
    GAMBESON_ERROR_LENGTH = -2,
    // Two buffers overlap, and one of them is written.
    GAMBESON_ERROR_OVERLAP = -3,
    // The bytes are not a key of the parameter set (FIPS 203, §7.2 and §7.3; FIPS 204, Algorithm 25 (skDecode)).
    GAMBESON_ERROR_KEY = -4,
    // The signature is not one of this message, in this context, by this key.
    GAMBESON_ERROR_SIGNATURE = -5,
    // The context string of ML-DSA has more than 255 bytes.
    GAMBESON_ERROR_CONTEXT = -6,
    // The source of randomness failed: no key was made, nothing was encapsulated or signed.
    GAMBESON_ERROR_RANDOM = -7,
    // The hash was not started, or has ended; or an object is not aligned.
    GAMBESON_ERROR_STATE = -8,
    // The function is not `Keccak-f[1600]`.
    GAMBESON_ERROR_KECCAK = -9,
    // A mistake in this library: please report it.
    GAMBESON_ERROR_INTERNAL = -10,
    // No hash function of HashML-DSA has this number.
    GAMBESON_ERROR_PREHASH = -11
} gambeson_error;

// The hash functions of HashML-DSA (FIPS 204, §5.4.1), by the last number of their object identifiers: the others are
// 2.16.840.1.101.3.4.2.
//
// A digest should have at least 32 bytes for ML-DSA-44, 48 for ML-DSA-65, 64 for ML-DSA-87; shorter ones are not refused.
typedef enum gambeson_prehash {
    // SHA-256.
    GAMBESON_PREHASH_SHA2_256 = 1,
    // SHA-384.
    GAMBESON_PREHASH_SHA2_384 = 2,
    // SHA-512.
    GAMBESON_PREHASH_SHA2_512 = 3,
    // SHA-224.
    GAMBESON_PREHASH_SHA2_224 = 4,
    // SHA-512/224.
    GAMBESON_PREHASH_SHA2_512_224 = 5,
    // SHA-512/256.
    GAMBESON_PREHASH_SHA2_512_256 = 6,
    // SHA3-224.
    GAMBESON_PREHASH_SHA3_224 = 7,
    // SHA3-256.
    GAMBESON_PREHASH_SHA3_256 = 8,
    // SHA3-384.
    GAMBESON_PREHASH_SHA3_384 = 9,
    // SHA3-512.
    GAMBESON_PREHASH_SHA3_512 = 10,
    // SHAKE128 with 32 bytes of output.
    GAMBESON_PREHASH_SHAKE128 = 11,
    // SHAKE256 with 64 bytes of output.
    GAMBESON_PREHASH_SHAKE256 = 12
} gambeson_prehash;

// A permutation of the platform: a hardware unit, or assembly.
typedef struct gambeson_keccak {
    // Applies `Keccak-f[1600]` to each of `count` states, 25 words each, one after the other: lane (x, y) is word x + 5y.
    void (*permute)(void *ctx, uint64_t *states, size_t count);
    // What `permute` is called with.
    void *ctx;
} gambeson_keccak;

// μ of a message in pieces, for `_sign_mu` and `_verify_mu`.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_mldsa_mu_ctx {
    // Nobody else's.
    uint64_t opaque[27];
} gambeson_mldsa_mu_ctx;

// A private key of ML-DSA-44 in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_mldsa44_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_mldsa44_key;

// A caller's source of randomness: writes `len` bytes to `out`, and returns 0; any other number says that it failed. `ctx` is what was
// given beside it. It must return, without `longjmp` or exception.
typedef int (*gambeson_fill)(void *ctx, uint8_t *out, size_t len);

// A private key of ML-DSA-65 in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_mldsa65_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_mldsa65_key;

// A private key of ML-DSA-87 in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_mldsa87_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_mldsa87_key;

// A private key of ML-DSA-44 in the least memory in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_small_mldsa44_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_small_mldsa44_key;

// A private key of ML-DSA-65 in the least memory in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_small_mldsa65_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_small_mldsa65_key;

// A private key of ML-DSA-87 in the least memory in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_small_mldsa87_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_small_mldsa87_key;

// Memory in which calls of ML-DSA-44 in the least memory work that end in `_in`, instead of on the stack. It need not be initialised, and is
// wiped before they return.
typedef struct gambeson_small_mldsa44_workspace {
    // Nobody else's.
    uint64_t opaque[376];
} gambeson_small_mldsa44_workspace;

// Memory in which calls of ML-DSA-65 in the least memory work that end in `_in`, instead of on the stack. It need not be initialised, and is
// wiped before they return.
typedef struct gambeson_small_mldsa65_workspace {
    // Nobody else's.
    uint64_t opaque[457];
} gambeson_small_mldsa65_workspace;

// Memory in which calls of ML-DSA-87 in the least memory work that end in `_in`, instead of on the stack. It need not be initialised, and is
// wiped before they return.
typedef struct gambeson_small_mldsa87_workspace {
    // Nobody else's.
    uint64_t opaque[489];
} gambeson_small_mldsa87_workspace;

// A decapsulation key of ML-KEM-512 in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_mlkem512_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_mlkem512_key;

// A decapsulation key of ML-KEM-768 in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_mlkem768_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_mlkem768_key;

// A decapsulation key of ML-KEM-1024 in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_mlkem1024_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_mlkem1024_key;

// A decapsulation key of ML-KEM-512 in the least memory in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_small_mlkem512_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_small_mlkem512_key;

// A decapsulation key of ML-KEM-768 in the least memory in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_small_mlkem768_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_small_mlkem768_key;

// A decapsulation key of ML-KEM-1024 in the least memory in 96 bytes, remade at each use: its seed and the hash of its public half. Secret;
// may be copied; to be wiped.
typedef struct gambeson_small_mlkem1024_key {
    // Nobody else's.
    uint8_t opaque[96];
} gambeson_small_mlkem1024_key;

// Memory in which calls of ML-KEM-512 in the least memory work that end in `_in`, instead of on the stack. It need not be initialised, and is
// wiped before they return.
typedef struct gambeson_small_mlkem512_workspace {
    // Nobody else's.
    uint64_t opaque[230];
} gambeson_small_mlkem512_workspace;

// Memory in which calls of ML-KEM-768 in the least memory work that end in `_in`, instead of on the stack. It need not be initialised, and is
// wiped before they return.
typedef struct gambeson_small_mlkem768_workspace {
    // Nobody else's.
    uint64_t opaque[230];
} gambeson_small_mlkem768_workspace;

// Memory in which calls of ML-KEM-1024 in the least memory work that end in `_in`, instead of on the stack. It need not be initialised, and is
// wiped before they return.
typedef struct gambeson_small_mlkem1024_workspace {
    // Nobody else's.
    uint64_t opaque[230];
} gambeson_small_mlkem1024_workspace;

// A digest of a message in pieces, for `_sign_prehashed` and `_verify_prehashed`.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_prehash_ctx {
    // Nobody else's.
    uint64_t opaque[31];
} gambeson_prehash_ctx;

// SHA3-224 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_sha3_224_ctx {
    // Nobody else's.
    uint64_t opaque[27];
} gambeson_sha3_224_ctx;

// SHA3-256 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_sha3_256_ctx {
    // Nobody else's.
    uint64_t opaque[27];
} gambeson_sha3_256_ctx;

// SHA3-384 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_sha3_384_ctx {
    // Nobody else's.
    uint64_t opaque[27];
} gambeson_sha3_384_ctx;

// SHA3-512 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_sha3_512_ctx {
    // Nobody else's.
    uint64_t opaque[27];
} gambeson_sha3_512_ctx;

// SHAKE128 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_shake128_ctx {
    // Nobody else's.
    uint64_t opaque[27];
} gambeson_shake128_ctx;

// SHAKE256 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_shake256_ctx {
    // Nobody else's.
    uint64_t opaque[27];
} gambeson_shake256_ctx;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// A sentence about an error, without a full stop; for any other number it says that it is unknown.
//
// It is there as long as the program runs.
GAMBESON_API GAMBESON_MUST_USE const char *gambeson_strerror(int error);

// Makes every hash of this program run through `keccak->permute`, which is tried first: on failure all stays as it was. Null takes the
// permutation out again.
//
// Call it at start-up, before other threads hash. `*keccak` and what its `ctx` points to must stay as long as it is plugged in; the
// function is called by every thread that hashes, at once if there are several. Its time and addresses must not depend on the state.
// Stack: that of a hash, and the function's.
//
// Errors: NULL if `permute` is null, STATE if `*keccak` is not aligned, KECCAK if it is not `Keccak-f[1600]`.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_set_keccak(const struct gambeson_keccak *keccak);

// Takes the next piece of the message; any pieces give μ of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa_mu_update(struct gambeson_mldsa_mu_ctx *hash,
                                             const uint8_t *data,
                                             size_t len);

// μ of what was given; `hash` is wiped. Errors: NULL, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa_mu_final(struct gambeson_mldsa_mu_ctx *hash,
                                            uint8_t mu[GAMBESON_MLDSA_MU_BYTES]);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `vk`
// unless that is null.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_generate(struct gambeson_mldsa44_key *key,
                                                  uint8_t vk[GAMBESON_MLDSA44_VK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_generate_with(struct gambeson_mldsa44_key *key,
                                                       uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                       gambeson_fill fill,
                                                       void *fill_ctx);

// The key of a seed ξ, which is random or was stored.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_from_seed(struct gambeson_mldsa44_key *key,
                                                   uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                   const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_seed(const struct gambeson_mldsa44_key *key,
                                              uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_public(const struct gambeson_mldsa44_key *key,
                                                uint8_t vk[GAMBESON_MLDSA44_VK_BYTES]);

// Signs a message in a context of at most 255 bytes, hedged: with the operating system's randomness, or the port's. Message
// and context may be null if they have no bytes.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign(const struct gambeson_mldsa44_key *key,
                                              uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                              const uint8_t *message,
                                              size_t message_len,
                                              const uint8_t *context,
                                              size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign_with(const struct gambeson_mldsa44_key *key,
                                                   uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                   const uint8_t *message,
                                                   size_t message_len,
                                                   const uint8_t *context,
                                                   size_t context_len,
                                                   gambeson_fill fill,
                                                   void *fill_ctx);

// The same with `rnd`, which is random and secret; or 32 zero bytes: the deterministic variant, where one message has one
// signature.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign_with_rnd(const struct gambeson_mldsa44_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                       const uint8_t *message,
                                                       size_t message_len,
                                                       const uint8_t *context,
                                                       size_t context_len,
                                                       const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs μ, which `_mu_final` made of the message for this key's public half: the signature is the message's.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign_mu(const struct gambeson_mldsa44_key *key,
                                                 uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                 const uint8_t mu[GAMBESON_MLDSA_MU_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign_mu_with(const struct gambeson_mldsa44_key *key,
                                                      uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                      const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                      gambeson_fill fill,
                                                      void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign_mu_with_rnd(const struct gambeson_mldsa44_key *key,
                                                          uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                          const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                          const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs a digest of the message in a context, hedged: HashML-DSA, whose signatures are not those of the message itself. `prehash` is
// the one of gambeson_prehash that made the digest, and `digest_len` its length.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign_prehashed(const struct gambeson_mldsa44_key *key,
                                                        uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                        int prehash,
                                                        const uint8_t *digest,
                                                        size_t digest_len,
                                                        const uint8_t *context,
                                                        size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign_prehashed_with(const struct gambeson_mldsa44_key *key,
                                                             uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                             int prehash,
                                                             const uint8_t *digest,
                                                             size_t digest_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             gambeson_fill fill,
                                                             void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign_prehashed_with_rnd(const struct gambeson_mldsa44_key *key,
                                                                 uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                                 int prehash,
                                                                 const uint8_t *digest,
                                                                 size_t digest_len,
                                                                 const uint8_t *context,
                                                                 size_t context_len,
                                                                 const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Verifies a signature over a message in its context.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_verify(const uint8_t *signature,
                                            size_t signature_len,
                                            const uint8_t *message,
                                            size_t message_len,
                                            const uint8_t *context,
                                            size_t context_len,
                                            const uint8_t *vk,
                                            size_t vk_len);

// Verifies a signature over the message that `_mu_final` made μ of.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_verify_mu(const uint8_t *signature,
                                               size_t signature_len,
                                               const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                               const uint8_t *vk,
                                               size_t vk_len);

// Verifies a signature over a digest of the message in its context, which `prehash` made.
//
// FIPS 204, Algorithm 5 (HashML-DSA.Verify), whose PH_M the caller has. Errors: NULL, LENGTH, CONTEXT, SIGNATURE, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_verify_prehashed(const uint8_t *signature,
                                                      size_t signature_len,
                                                      int prehash,
                                                      const uint8_t *digest,
                                                      size_t digest_len,
                                                      const uint8_t *context,
                                                      size_t context_len,
                                                      const uint8_t *vk,
                                                      size_t vk_len);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                             const uint8_t *vk,
                                             size_t vk_len,
                                             const uint8_t *context,
                                             size_t context_len);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `vk`
// unless that is null.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_generate(struct gambeson_mldsa65_key *key,
                                                  uint8_t vk[GAMBESON_MLDSA65_VK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_generate_with(struct gambeson_mldsa65_key *key,
                                                       uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                       gambeson_fill fill,
                                                       void *fill_ctx);

// The key of a seed ξ, which is random or was stored.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_from_seed(struct gambeson_mldsa65_key *key,
                                                   uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                   const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_seed(const struct gambeson_mldsa65_key *key,
                                              uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_public(const struct gambeson_mldsa65_key *key,
                                                uint8_t vk[GAMBESON_MLDSA65_VK_BYTES]);

// Signs a message in a context of at most 255 bytes, hedged: with the operating system's randomness, or the port's. Message
// and context may be null if they have no bytes.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign(const struct gambeson_mldsa65_key *key,
                                              uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                              const uint8_t *message,
                                              size_t message_len,
                                              const uint8_t *context,
                                              size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign_with(const struct gambeson_mldsa65_key *key,
                                                   uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                   const uint8_t *message,
                                                   size_t message_len,
                                                   const uint8_t *context,
                                                   size_t context_len,
                                                   gambeson_fill fill,
                                                   void *fill_ctx);

// The same with `rnd`, which is random and secret; or 32 zero bytes: the deterministic variant, where one message has one
// signature.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign_with_rnd(const struct gambeson_mldsa65_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                       const uint8_t *message,
                                                       size_t message_len,
                                                       const uint8_t *context,
                                                       size_t context_len,
                                                       const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs μ, which `_mu_final` made of the message for this key's public half: the signature is the message's.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign_mu(const struct gambeson_mldsa65_key *key,
                                                 uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                 const uint8_t mu[GAMBESON_MLDSA_MU_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign_mu_with(const struct gambeson_mldsa65_key *key,
                                                      uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                      const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                      gambeson_fill fill,
                                                      void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign_mu_with_rnd(const struct gambeson_mldsa65_key *key,
                                                          uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                          const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                          const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs a digest of the message in a context, hedged: HashML-DSA, whose signatures are not those of the message itself. `prehash` is
// the one of gambeson_prehash that made the digest, and `digest_len` its length.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign_prehashed(const struct gambeson_mldsa65_key *key,
                                                        uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                        int prehash,
                                                        const uint8_t *digest,
                                                        size_t digest_len,
                                                        const uint8_t *context,
                                                        size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign_prehashed_with(const struct gambeson_mldsa65_key *key,
                                                             uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                             int prehash,
                                                             const uint8_t *digest,
                                                             size_t digest_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             gambeson_fill fill,
                                                             void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign_prehashed_with_rnd(const struct gambeson_mldsa65_key *key,
                                                                 uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                                 int prehash,
                                                                 const uint8_t *digest,
                                                                 size_t digest_len,
                                                                 const uint8_t *context,
                                                                 size_t context_len,
                                                                 const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Verifies a signature over a message in its context.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_verify(const uint8_t *signature,
                                            size_t signature_len,
                                            const uint8_t *message,
                                            size_t message_len,
                                            const uint8_t *context,
                                            size_t context_len,
                                            const uint8_t *vk,
                                            size_t vk_len);

// Verifies a signature over the message that `_mu_final` made μ of.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_verify_mu(const uint8_t *signature,
                                               size_t signature_len,
                                               const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                               const uint8_t *vk,
                                               size_t vk_len);

// Verifies a signature over a digest of the message in its context, which `prehash` made.
//
// FIPS 204, Algorithm 5 (HashML-DSA.Verify), whose PH_M the caller has. Errors: NULL, LENGTH, CONTEXT, SIGNATURE, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_verify_prehashed(const uint8_t *signature,
                                                      size_t signature_len,
                                                      int prehash,
                                                      const uint8_t *digest,
                                                      size_t digest_len,
                                                      const uint8_t *context,
                                                      size_t context_len,
                                                      const uint8_t *vk,
                                                      size_t vk_len);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                             const uint8_t *vk,
                                             size_t vk_len,
                                             const uint8_t *context,
                                             size_t context_len);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `vk`
// unless that is null.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_generate(struct gambeson_mldsa87_key *key,
                                                  uint8_t vk[GAMBESON_MLDSA87_VK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_generate_with(struct gambeson_mldsa87_key *key,
                                                       uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                       gambeson_fill fill,
                                                       void *fill_ctx);

// The key of a seed ξ, which is random or was stored.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_from_seed(struct gambeson_mldsa87_key *key,
                                                   uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                   const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_seed(const struct gambeson_mldsa87_key *key,
                                              uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_public(const struct gambeson_mldsa87_key *key,
                                                uint8_t vk[GAMBESON_MLDSA87_VK_BYTES]);

// Signs a message in a context of at most 255 bytes, hedged: with the operating system's randomness, or the port's. Message
// and context may be null if they have no bytes.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign(const struct gambeson_mldsa87_key *key,
                                              uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                              const uint8_t *message,
                                              size_t message_len,
                                              const uint8_t *context,
                                              size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign_with(const struct gambeson_mldsa87_key *key,
                                                   uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                   const uint8_t *message,
                                                   size_t message_len,
                                                   const uint8_t *context,
                                                   size_t context_len,
                                                   gambeson_fill fill,
                                                   void *fill_ctx);

// The same with `rnd`, which is random and secret; or 32 zero bytes: the deterministic variant, where one message has one
// signature.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign_with_rnd(const struct gambeson_mldsa87_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                       const uint8_t *message,
                                                       size_t message_len,
                                                       const uint8_t *context,
                                                       size_t context_len,
                                                       const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs μ, which `_mu_final` made of the message for this key's public half: the signature is the message's.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign_mu(const struct gambeson_mldsa87_key *key,
                                                 uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                 const uint8_t mu[GAMBESON_MLDSA_MU_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign_mu_with(const struct gambeson_mldsa87_key *key,
                                                      uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                      const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                      gambeson_fill fill,
                                                      void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign_mu_with_rnd(const struct gambeson_mldsa87_key *key,
                                                          uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                          const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                          const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs a digest of the message in a context, hedged: HashML-DSA, whose signatures are not those of the message itself. `prehash` is
// the one of gambeson_prehash that made the digest, and `digest_len` its length.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign_prehashed(const struct gambeson_mldsa87_key *key,
                                                        uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                        int prehash,
                                                        const uint8_t *digest,
                                                        size_t digest_len,
                                                        const uint8_t *context,
                                                        size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign_prehashed_with(const struct gambeson_mldsa87_key *key,
                                                             uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                             int prehash,
                                                             const uint8_t *digest,
                                                             size_t digest_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             gambeson_fill fill,
                                                             void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign_prehashed_with_rnd(const struct gambeson_mldsa87_key *key,
                                                                 uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                                 int prehash,
                                                                 const uint8_t *digest,
                                                                 size_t digest_len,
                                                                 const uint8_t *context,
                                                                 size_t context_len,
                                                                 const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Verifies a signature over a message in its context.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_verify(const uint8_t *signature,
                                            size_t signature_len,
                                            const uint8_t *message,
                                            size_t message_len,
                                            const uint8_t *context,
                                            size_t context_len,
                                            const uint8_t *vk,
                                            size_t vk_len);

// Verifies a signature over the message that `_mu_final` made μ of.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_verify_mu(const uint8_t *signature,
                                               size_t signature_len,
                                               const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                               const uint8_t *vk,
                                               size_t vk_len);

// Verifies a signature over a digest of the message in its context, which `prehash` made.
//
// FIPS 204, Algorithm 5 (HashML-DSA.Verify), whose PH_M the caller has. Errors: NULL, LENGTH, CONTEXT, SIGNATURE, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_verify_prehashed(const uint8_t *signature,
                                                      size_t signature_len,
                                                      int prehash,
                                                      const uint8_t *digest,
                                                      size_t digest_len,
                                                      const uint8_t *context,
                                                      size_t context_len,
                                                      const uint8_t *vk,
                                                      size_t vk_len);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                             const uint8_t *vk,
                                             size_t vk_len,
                                             const uint8_t *context,
                                             size_t context_len);

// New keys in the forms of FIPS 204, with the operating system's randomness.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_keypair(uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                             uint8_t sk[GAMBESON_MLDSA44_SK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_keypair_with(uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                  uint8_t sk[GAMBESON_MLDSA44_SK_BYTES],
                                                  gambeson_fill fill,
                                                  void *fill_ctx);

// The keys of a seed ξ in the forms of FIPS 204.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_keypair_from_seed(uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                       uint8_t sk[GAMBESON_MLDSA44_SK_BYTES],
                                                       const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// New keys in the forms of FIPS 204, with the operating system's randomness.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_keypair(uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                             uint8_t sk[GAMBESON_MLDSA65_SK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_keypair_with(uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                  uint8_t sk[GAMBESON_MLDSA65_SK_BYTES],
                                                  gambeson_fill fill,
                                                  void *fill_ctx);

// The keys of a seed ξ in the forms of FIPS 204.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_keypair_from_seed(uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                       uint8_t sk[GAMBESON_MLDSA65_SK_BYTES],
                                                       const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// New keys in the forms of FIPS 204, with the operating system's randomness.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_keypair(uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                             uint8_t sk[GAMBESON_MLDSA87_SK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_keypair_with(uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                  uint8_t sk[GAMBESON_MLDSA87_SK_BYTES],
                                                  gambeson_fill fill,
                                                  void *fill_ctx);

// The keys of a seed ξ in the forms of FIPS 204.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_keypair_from_seed(uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                       uint8_t sk[GAMBESON_MLDSA87_SK_BYTES],
                                                       const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// Whether these are the bytes of a private key whose parts belong together. `sign` asks that itself.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_check_sk(const uint8_t *sk,
                                              size_t sk_len);

// `_key_sign` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                          const uint8_t *message,
                                          size_t message_len,
                                          const uint8_t *context,
                                          size_t context_len,
                                          const uint8_t *sk,
                                          size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign_with(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                               const uint8_t *message,
                                               size_t message_len,
                                               const uint8_t *context,
                                               size_t context_len,
                                               const uint8_t *sk,
                                               size_t sk_len,
                                               gambeson_fill fill,
                                               void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign_with_rnd(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                   const uint8_t *message,
                                                   size_t message_len,
                                                   const uint8_t *context,
                                                   size_t context_len,
                                                   const uint8_t *sk,
                                                   size_t sk_len,
                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_mu` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign_mu(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                             const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                             const uint8_t *sk,
                                             size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign_mu_with(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                  const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                  const uint8_t *sk,
                                                  size_t sk_len,
                                                  gambeson_fill fill,
                                                  void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign_mu_with_rnd(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                      const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                      const uint8_t *sk,
                                                      size_t sk_len,
                                                      const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_prehashed` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign_prehashed(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                    int prehash,
                                                    const uint8_t *digest,
                                                    size_t digest_len,
                                                    const uint8_t *context,
                                                    size_t context_len,
                                                    const uint8_t *sk,
                                                    size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign_prehashed_with(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                         int prehash,
                                                         const uint8_t *digest,
                                                         size_t digest_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         const uint8_t *sk,
                                                         size_t sk_len,
                                                         gambeson_fill fill,
                                                         void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign_prehashed_with_rnd(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                             int prehash,
                                                             const uint8_t *digest,
                                                             size_t digest_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             const uint8_t *sk,
                                                             size_t sk_len,
                                                             const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Whether these are the bytes of a private key whose parts belong together. `sign` asks that itself.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_check_sk(const uint8_t *sk,
                                              size_t sk_len);

// `_key_sign` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                          const uint8_t *message,
                                          size_t message_len,
                                          const uint8_t *context,
                                          size_t context_len,
                                          const uint8_t *sk,
                                          size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign_with(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                               const uint8_t *message,
                                               size_t message_len,
                                               const uint8_t *context,
                                               size_t context_len,
                                               const uint8_t *sk,
                                               size_t sk_len,
                                               gambeson_fill fill,
                                               void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign_with_rnd(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                   const uint8_t *message,
                                                   size_t message_len,
                                                   const uint8_t *context,
                                                   size_t context_len,
                                                   const uint8_t *sk,
                                                   size_t sk_len,
                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_mu` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign_mu(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                             const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                             const uint8_t *sk,
                                             size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign_mu_with(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                  const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                  const uint8_t *sk,
                                                  size_t sk_len,
                                                  gambeson_fill fill,
                                                  void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign_mu_with_rnd(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                      const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                      const uint8_t *sk,
                                                      size_t sk_len,
                                                      const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_prehashed` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign_prehashed(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                    int prehash,
                                                    const uint8_t *digest,
                                                    size_t digest_len,
                                                    const uint8_t *context,
                                                    size_t context_len,
                                                    const uint8_t *sk,
                                                    size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign_prehashed_with(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                         int prehash,
                                                         const uint8_t *digest,
                                                         size_t digest_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         const uint8_t *sk,
                                                         size_t sk_len,
                                                         gambeson_fill fill,
                                                         void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign_prehashed_with_rnd(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                             int prehash,
                                                             const uint8_t *digest,
                                                             size_t digest_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             const uint8_t *sk,
                                                             size_t sk_len,
                                                             const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Whether these are the bytes of a private key whose parts belong together. `sign` asks that itself.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_check_sk(const uint8_t *sk,
                                              size_t sk_len);

// `_key_sign` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                          const uint8_t *message,
                                          size_t message_len,
                                          const uint8_t *context,
                                          size_t context_len,
                                          const uint8_t *sk,
                                          size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign_with(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                               const uint8_t *message,
                                               size_t message_len,
                                               const uint8_t *context,
                                               size_t context_len,
                                               const uint8_t *sk,
                                               size_t sk_len,
                                               gambeson_fill fill,
                                               void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign_with_rnd(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                   const uint8_t *message,
                                                   size_t message_len,
                                                   const uint8_t *context,
                                                   size_t context_len,
                                                   const uint8_t *sk,
                                                   size_t sk_len,
                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_mu` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign_mu(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                             const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                             const uint8_t *sk,
                                             size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign_mu_with(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                  const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                  const uint8_t *sk,
                                                  size_t sk_len,
                                                  gambeson_fill fill,
                                                  void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign_mu_with_rnd(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                      const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                      const uint8_t *sk,
                                                      size_t sk_len,
                                                      const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_prehashed` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign_prehashed(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                    int prehash,
                                                    const uint8_t *digest,
                                                    size_t digest_len,
                                                    const uint8_t *context,
                                                    size_t context_len,
                                                    const uint8_t *sk,
                                                    size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign_prehashed_with(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                         int prehash,
                                                         const uint8_t *digest,
                                                         size_t digest_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         const uint8_t *sk,
                                                         size_t sk_len,
                                                         gambeson_fill fill,
                                                         void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, PREHASH.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign_prehashed_with_rnd(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                             int prehash,
                                                             const uint8_t *digest,
                                                             size_t digest_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             const uint8_t *sk,
                                                             size_t sk_len,
                                                             const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `vk`
// unless that is null.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_generate(struct gambeson_small_mldsa44_key *key,
                                                        uint8_t vk[GAMBESON_MLDSA44_VK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_generate_with(struct gambeson_small_mldsa44_key *key,
                                                             uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                             gambeson_fill fill,
                                                             void *fill_ctx);

// The key of a seed ξ, which is random or was stored.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_from_seed(struct gambeson_small_mldsa44_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                         const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_seed(const struct gambeson_small_mldsa44_key *key,
                                                    uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_public(const struct gambeson_small_mldsa44_key *key,
                                                      uint8_t vk[GAMBESON_MLDSA44_VK_BYTES]);

// Signs a message in a context of at most 255 bytes, hedged: with the operating system's randomness, or the port's. Message
// and context may be null if they have no bytes.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign(const struct gambeson_small_mldsa44_key *key,
                                                    uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                    const uint8_t *message,
                                                    size_t message_len,
                                                    const uint8_t *context,
                                                    size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_with(const struct gambeson_small_mldsa44_key *key,
                                                         uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                         const uint8_t *message,
                                                         size_t message_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         gambeson_fill fill,
                                                         void *fill_ctx);

// The same with `rnd`, which is random and secret; or 32 zero bytes: the deterministic variant, where one message has one
// signature.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_with_rnd(const struct gambeson_small_mldsa44_key *key,
                                                             uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                             const uint8_t *message,
                                                             size_t message_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs μ, which `_mu_final` made of the message for this key's public half: the signature is the message's.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_mu(const struct gambeson_small_mldsa44_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                       const uint8_t mu[GAMBESON_MLDSA_MU_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_mu_with(const struct gambeson_small_mldsa44_key *key,
                                                            uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                            const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                            gambeson_fill fill,
                                                            void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_mu_with_rnd(const struct gambeson_small_mldsa44_key *key,
                                                                uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                                const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                                const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs a digest of the message in a context, hedged: HashML-DSA, whose signatures are not those of the message itself. `prehash` is
// the one of gambeson_prehash that made the digest, and `digest_len` its length.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_prehashed(const struct gambeson_small_mldsa44_key *key,
                                                              uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                              int prehash,
                                                              const uint8_t *digest,
                                                              size_t digest_len,
                                                              const uint8_t *context,
                                                              size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_prehashed_with(const struct gambeson_small_mldsa44_key *key,
                                                                   uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                                   int prehash,
                                                                   const uint8_t *digest,
                                                                   size_t digest_len,
                                                                   const uint8_t *context,
                                                                   size_t context_len,
                                                                   gambeson_fill fill,
                                                                   void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, PREHASH.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_prehashed_with_rnd(const struct gambeson_small_mldsa44_key *key,
                                                                       uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                                       int prehash,
                                                                       const uint8_t *digest,
                                                                       size_t digest_len,
                                                                       const uint8_t *context,
                                                                       size_t context_len,
                                                                       const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Verifies a signature over a message in its context.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_verify(const uint8_t *signature,
                                                  size_t signature_len,
                                                  const uint8_t *message,
                                                  size_t message_len,
                                                  const uint8_t *context,
                                                  size_t context_len,
                                                  const uint8_t *vk,
                                                  size_t vk_len);

// Verifies a signature over the message that `_mu_final` made μ of.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, SIGNATURE.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_verify_mu(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                     const uint8_t *vk,
                                                     size_t vk_len);

// Verifies a signature over a digest of the message in its context, which `prehash` made.
//
// FIPS 204, Algorithm 5 (HashML-DSA.Verify), whose PH_M the caller has. Errors: NULL, LENGTH, CONTEXT, SIGNATURE, PREHASH.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_verify_prehashed(const uint8_t *signature,
                                                            size_t signature_len,
                                                            int prehash,
                                                            const uint8_t *digest,
                                                            size_t digest_len,
                                                            const uint8_t *context,
                                                            size_t context_len,
                                                            const uint8_t *vk,
                                                            size_t vk_len);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                                   const uint8_t *vk,
                                                   size_t vk_len,
                                                   const uint8_t *context,
                                                   size_t context_len);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `vk`
// unless that is null.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_generate(struct gambeson_small_mldsa65_key *key,
                                                        uint8_t vk[GAMBESON_MLDSA65_VK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_generate_with(struct gambeson_small_mldsa65_key *key,
                                                             uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                             gambeson_fill fill,
                                                             void *fill_ctx);

// The key of a seed ξ, which is random or was stored.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_from_seed(struct gambeson_small_mldsa65_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                         const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_seed(const struct gambeson_small_mldsa65_key *key,
                                                    uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_public(const struct gambeson_small_mldsa65_key *key,
                                                      uint8_t vk[GAMBESON_MLDSA65_VK_BYTES]);

// Signs a message in a context of at most 255 bytes, hedged: with the operating system's randomness, or the port's. Message
// and context may be null if they have no bytes.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign(const struct gambeson_small_mldsa65_key *key,
                                                    uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                    const uint8_t *message,
                                                    size_t message_len,
                                                    const uint8_t *context,
                                                    size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_with(const struct gambeson_small_mldsa65_key *key,
                                                         uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                         const uint8_t *message,
                                                         size_t message_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         gambeson_fill fill,
                                                         void *fill_ctx);

// The same with `rnd`, which is random and secret; or 32 zero bytes: the deterministic variant, where one message has one
// signature.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_with_rnd(const struct gambeson_small_mldsa65_key *key,
                                                             uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                             const uint8_t *message,
                                                             size_t message_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs μ, which `_mu_final` made of the message for this key's public half: the signature is the message's.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_mu(const struct gambeson_small_mldsa65_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                       const uint8_t mu[GAMBESON_MLDSA_MU_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_mu_with(const struct gambeson_small_mldsa65_key *key,
                                                            uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                            const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                            gambeson_fill fill,
                                                            void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_mu_with_rnd(const struct gambeson_small_mldsa65_key *key,
                                                                uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                                const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                                const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs a digest of the message in a context, hedged: HashML-DSA, whose signatures are not those of the message itself. `prehash` is
// the one of gambeson_prehash that made the digest, and `digest_len` its length.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_prehashed(const struct gambeson_small_mldsa65_key *key,
                                                              uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                              int prehash,
                                                              const uint8_t *digest,
                                                              size_t digest_len,
                                                              const uint8_t *context,
                                                              size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_prehashed_with(const struct gambeson_small_mldsa65_key *key,
                                                                   uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                                   int prehash,
                                                                   const uint8_t *digest,
                                                                   size_t digest_len,
                                                                   const uint8_t *context,
                                                                   size_t context_len,
                                                                   gambeson_fill fill,
                                                                   void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, PREHASH.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_prehashed_with_rnd(const struct gambeson_small_mldsa65_key *key,
                                                                       uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                                       int prehash,
                                                                       const uint8_t *digest,
                                                                       size_t digest_len,
                                                                       const uint8_t *context,
                                                                       size_t context_len,
                                                                       const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Verifies a signature over a message in its context.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_verify(const uint8_t *signature,
                                                  size_t signature_len,
                                                  const uint8_t *message,
                                                  size_t message_len,
                                                  const uint8_t *context,
                                                  size_t context_len,
                                                  const uint8_t *vk,
                                                  size_t vk_len);

// Verifies a signature over the message that `_mu_final` made μ of.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, SIGNATURE.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_verify_mu(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                     const uint8_t *vk,
                                                     size_t vk_len);

// Verifies a signature over a digest of the message in its context, which `prehash` made.
//
// FIPS 204, Algorithm 5 (HashML-DSA.Verify), whose PH_M the caller has. Errors: NULL, LENGTH, CONTEXT, SIGNATURE, PREHASH.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_verify_prehashed(const uint8_t *signature,
                                                            size_t signature_len,
                                                            int prehash,
                                                            const uint8_t *digest,
                                                            size_t digest_len,
                                                            const uint8_t *context,
                                                            size_t context_len,
                                                            const uint8_t *vk,
                                                            size_t vk_len);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                                   const uint8_t *vk,
                                                   size_t vk_len,
                                                   const uint8_t *context,
                                                   size_t context_len);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `vk`
// unless that is null.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_generate(struct gambeson_small_mldsa87_key *key,
                                                        uint8_t vk[GAMBESON_MLDSA87_VK_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_generate_with(struct gambeson_small_mldsa87_key *key,
                                                             uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                             gambeson_fill fill,
                                                             void *fill_ctx);

// The key of a seed ξ, which is random or was stored.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_from_seed(struct gambeson_small_mldsa87_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                         const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_seed(const struct gambeson_small_mldsa87_key *key,
                                                    uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_public(const struct gambeson_small_mldsa87_key *key,
                                                      uint8_t vk[GAMBESON_MLDSA87_VK_BYTES]);

// Signs a message in a context of at most 255 bytes, hedged: with the operating system's randomness, or the port's. Message
// and context may be null if they have no bytes.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign(const struct gambeson_small_mldsa87_key *key,
                                                    uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                    const uint8_t *message,
                                                    size_t message_len,
                                                    const uint8_t *context,
                                                    size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_with(const struct gambeson_small_mldsa87_key *key,
                                                         uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                         const uint8_t *message,
                                                         size_t message_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         gambeson_fill fill,
                                                         void *fill_ctx);

// The same with `rnd`, which is random and secret; or 32 zero bytes: the deterministic variant, where one message has one
// signature.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_with_rnd(const struct gambeson_small_mldsa87_key *key,
                                                             uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                             const uint8_t *message,
                                                             size_t message_len,
                                                             const uint8_t *context,
                                                             size_t context_len,
                                                             const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs μ, which `_mu_final` made of the message for this key's public half: the signature is the message's.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_mu(const struct gambeson_small_mldsa87_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                       const uint8_t mu[GAMBESON_MLDSA_MU_BYTES]);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_mu_with(const struct gambeson_small_mldsa87_key *key,
                                                            uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                            const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                            gambeson_fill fill,
                                                            void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_mu_with_rnd(const struct gambeson_small_mldsa87_key *key,
                                                                uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                                const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                                const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Signs a digest of the message in a context, hedged: HashML-DSA, whose signatures are not those of the message itself. `prehash` is
// the one of gambeson_prehash that made the digest, and `digest_len` its length.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_prehashed(const struct gambeson_small_mldsa87_key *key,
                                                              uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                              int prehash,
                                                              const uint8_t *digest,
                                                              size_t digest_len,
                                                              const uint8_t *context,
                                                              size_t context_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_prehashed_with(const struct gambeson_small_mldsa87_key *key,
                                                                   uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                                   int prehash,
                                                                   const uint8_t *digest,
                                                                   size_t digest_len,
                                                                   const uint8_t *context,
                                                                   size_t context_len,
                                                                   gambeson_fill fill,
                                                                   void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, PREHASH.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_prehashed_with_rnd(const struct gambeson_small_mldsa87_key *key,
                                                                       uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                                       int prehash,
                                                                       const uint8_t *digest,
                                                                       size_t digest_len,
                                                                       const uint8_t *context,
                                                                       size_t context_len,
                                                                       const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Verifies a signature over a message in its context.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_verify(const uint8_t *signature,
                                                  size_t signature_len,
                                                  const uint8_t *message,
                                                  size_t message_len,
                                                  const uint8_t *context,
                                                  size_t context_len,
                                                  const uint8_t *vk,
                                                  size_t vk_len);

// Verifies a signature over the message that `_mu_final` made μ of.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, SIGNATURE.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_verify_mu(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                     const uint8_t *vk,
                                                     size_t vk_len);

// Verifies a signature over a digest of the message in its context, which `prehash` made.
//
// FIPS 204, Algorithm 5 (HashML-DSA.Verify), whose PH_M the caller has. Errors: NULL, LENGTH, CONTEXT, SIGNATURE, PREHASH.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_verify_prehashed(const uint8_t *signature,
                                                            size_t signature_len,
                                                            int prehash,
                                                            const uint8_t *digest,
                                                            size_t digest_len,
                                                            const uint8_t *context,
                                                            size_t context_len,
                                                            const uint8_t *vk,
                                                            size_t vk_len);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                                   const uint8_t *vk,
                                                   size_t vk_len,
                                                   const uint8_t *context,
                                                   size_t context_len);

// Whether these are the bytes of a private key: of s1 and s2 every coefficient; t0 and tr are not made again. `sign` asks that itself.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_check_sk(const uint8_t *sk,
                                                    size_t sk_len);

// `_key_sign` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                const uint8_t *message,
                                                size_t message_len,
                                                const uint8_t *context,
                                                size_t context_len,
                                                const uint8_t *sk,
                                                size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_with(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                     const uint8_t *message,
                                                     size_t message_len,
                                                     const uint8_t *context,
                                                     size_t context_len,
                                                     const uint8_t *sk,
                                                     size_t sk_len,
                                                     gambeson_fill fill,
                                                     void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_with_rnd(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                         const uint8_t *message,
                                                         size_t message_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         const uint8_t *sk,
                                                         size_t sk_len,
                                                         const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_mu` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_mu(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                   const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                   const uint8_t *sk,
                                                   size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_mu_with(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                        const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                        const uint8_t *sk,
                                                        size_t sk_len,
                                                        gambeson_fill fill,
                                                        void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_mu_with_rnd(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                            const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                            const uint8_t *sk,
                                                            size_t sk_len,
                                                            const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_prehashed` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_prehashed(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                          int prehash,
                                                          const uint8_t *digest,
                                                          size_t digest_len,
                                                          const uint8_t *context,
                                                          size_t context_len,
                                                          const uint8_t *sk,
                                                          size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_prehashed_with(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                               int prehash,
                                                               const uint8_t *digest,
                                                               size_t digest_len,
                                                               const uint8_t *context,
                                                               size_t context_len,
                                                               const uint8_t *sk,
                                                               size_t sk_len,
                                                               gambeson_fill fill,
                                                               void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, PREHASH.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_prehashed_with_rnd(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                                   int prehash,
                                                                   const uint8_t *digest,
                                                                   size_t digest_len,
                                                                   const uint8_t *context,
                                                                   size_t context_len,
                                                                   const uint8_t *sk,
                                                                   size_t sk_len,
                                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Whether these are the bytes of a private key: of s1 and s2 every coefficient; t0 and tr are not made again. `sign` asks that itself.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_check_sk(const uint8_t *sk,
                                                    size_t sk_len);

// `_key_sign` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                const uint8_t *message,
                                                size_t message_len,
                                                const uint8_t *context,
                                                size_t context_len,
                                                const uint8_t *sk,
                                                size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_with(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                     const uint8_t *message,
                                                     size_t message_len,
                                                     const uint8_t *context,
                                                     size_t context_len,
                                                     const uint8_t *sk,
                                                     size_t sk_len,
                                                     gambeson_fill fill,
                                                     void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_with_rnd(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                         const uint8_t *message,
                                                         size_t message_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         const uint8_t *sk,
                                                         size_t sk_len,
                                                         const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_mu` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_mu(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                   const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                   const uint8_t *sk,
                                                   size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_mu_with(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                        const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                        const uint8_t *sk,
                                                        size_t sk_len,
                                                        gambeson_fill fill,
                                                        void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_mu_with_rnd(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                            const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                            const uint8_t *sk,
                                                            size_t sk_len,
                                                            const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_prehashed` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_prehashed(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                          int prehash,
                                                          const uint8_t *digest,
                                                          size_t digest_len,
                                                          const uint8_t *context,
                                                          size_t context_len,
                                                          const uint8_t *sk,
                                                          size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_prehashed_with(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                               int prehash,
                                                               const uint8_t *digest,
                                                               size_t digest_len,
                                                               const uint8_t *context,
                                                               size_t context_len,
                                                               const uint8_t *sk,
                                                               size_t sk_len,
                                                               gambeson_fill fill,
                                                               void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, PREHASH.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_prehashed_with_rnd(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                                   int prehash,
                                                                   const uint8_t *digest,
                                                                   size_t digest_len,
                                                                   const uint8_t *context,
                                                                   size_t context_len,
                                                                   const uint8_t *sk,
                                                                   size_t sk_len,
                                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// Whether these are the bytes of a private key: of s1 and s2 every coefficient; t0 and tr are not made again. `sign` asks that itself.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_check_sk(const uint8_t *sk,
                                                    size_t sk_len);

// `_key_sign` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                const uint8_t *message,
                                                size_t message_len,
                                                const uint8_t *context,
                                                size_t context_len,
                                                const uint8_t *sk,
                                                size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_with(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                     const uint8_t *message,
                                                     size_t message_len,
                                                     const uint8_t *context,
                                                     size_t context_len,
                                                     const uint8_t *sk,
                                                     size_t sk_len,
                                                     gambeson_fill fill,
                                                     void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_with_rnd(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                         const uint8_t *message,
                                                         size_t message_len,
                                                         const uint8_t *context,
                                                         size_t context_len,
                                                         const uint8_t *sk,
                                                         size_t sk_len,
                                                         const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_mu` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_mu(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                   const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                   const uint8_t *sk,
                                                   size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_mu_with(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                        const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                        const uint8_t *sk,
                                                        size_t sk_len,
                                                        gambeson_fill fill,
                                                        void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_mu_with_rnd(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                            const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                            const uint8_t *sk,
                                                            size_t sk_len,
                                                            const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_sign_prehashed` with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 4 (HashML-DSA.Sign), whose PH_M the caller has. Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_prehashed(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                          int prehash,
                                                          const uint8_t *digest,
                                                          size_t digest_len,
                                                          const uint8_t *context,
                                                          size_t context_len,
                                                          const uint8_t *sk,
                                                          size_t sk_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, PREHASH.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_prehashed_with(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                               int prehash,
                                                               const uint8_t *digest,
                                                               size_t digest_len,
                                                               const uint8_t *context,
                                                               size_t context_len,
                                                               const uint8_t *sk,
                                                               size_t sk_len,
                                                               gambeson_fill fill,
                                                               void *fill_ctx);

// The same with `rnd`, as `_key_sign_with_rnd`.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, PREHASH.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_prehashed_with_rnd(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                                   int prehash,
                                                                   const uint8_t *digest,
                                                                   size_t digest_len,
                                                                   const uint8_t *context,
                                                                   size_t context_len,
                                                                   const uint8_t *sk,
                                                                   size_t sk_len,
                                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES]);

// `_key_from_seed` in a workspace.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_from_seed_in(struct gambeson_small_mldsa44_key *key,
                                                            uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                            const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES],
                                                            struct gambeson_small_mldsa44_workspace *workspace);

// `_key_public` in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_public_in(const struct gambeson_small_mldsa44_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                         struct gambeson_small_mldsa44_workspace *workspace);

// `_key_sign_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_with_rnd_in(const struct gambeson_small_mldsa44_key *key,
                                                                uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                                const uint8_t *message,
                                                                size_t message_len,
                                                                const uint8_t *context,
                                                                size_t context_len,
                                                                const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                                struct gambeson_small_mldsa44_workspace *workspace);

// `_key_sign_mu_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_mu_with_rnd_in(const struct gambeson_small_mldsa44_key *key,
                                                                   uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                                   const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                                   struct gambeson_small_mldsa44_workspace *workspace);

// `_sign_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_with_rnd_in(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                            const uint8_t *message,
                                                            size_t message_len,
                                                            const uint8_t *context,
                                                            size_t context_len,
                                                            const uint8_t *sk,
                                                            size_t sk_len,
                                                            const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                            struct gambeson_small_mldsa44_workspace *workspace);

// `_sign_mu_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_mu_with_rnd_in(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                               const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                               const uint8_t *sk,
                                                               size_t sk_len,
                                                               const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                               struct gambeson_small_mldsa44_workspace *workspace);

// `_verify` in a workspace.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, OVERLAP, CONTEXT, SIGNATURE, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_verify_in(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const uint8_t *message,
                                                     size_t message_len,
                                                     const uint8_t *context,
                                                     size_t context_len,
                                                     const uint8_t *vk,
                                                     size_t vk_len,
                                                     struct gambeson_small_mldsa44_workspace *workspace);

// `_verify_mu` in a workspace.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, OVERLAP, SIGNATURE, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_verify_mu_in(const uint8_t *signature,
                                                        size_t signature_len,
                                                        const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                        const uint8_t *vk,
                                                        size_t vk_len,
                                                        struct gambeson_small_mldsa44_workspace *workspace);

// `_key_from_seed` in a workspace.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_from_seed_in(struct gambeson_small_mldsa65_key *key,
                                                            uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                            const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES],
                                                            struct gambeson_small_mldsa65_workspace *workspace);

// `_key_public` in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_public_in(const struct gambeson_small_mldsa65_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                         struct gambeson_small_mldsa65_workspace *workspace);

// `_key_sign_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_with_rnd_in(const struct gambeson_small_mldsa65_key *key,
                                                                uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                                const uint8_t *message,
                                                                size_t message_len,
                                                                const uint8_t *context,
                                                                size_t context_len,
                                                                const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                                struct gambeson_small_mldsa65_workspace *workspace);

// `_key_sign_mu_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_mu_with_rnd_in(const struct gambeson_small_mldsa65_key *key,
                                                                   uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                                   const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                                   struct gambeson_small_mldsa65_workspace *workspace);

// `_sign_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_with_rnd_in(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                            const uint8_t *message,
                                                            size_t message_len,
                                                            const uint8_t *context,
                                                            size_t context_len,
                                                            const uint8_t *sk,
                                                            size_t sk_len,
                                                            const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                            struct gambeson_small_mldsa65_workspace *workspace);

// `_sign_mu_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_mu_with_rnd_in(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                               const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                               const uint8_t *sk,
                                                               size_t sk_len,
                                                               const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                               struct gambeson_small_mldsa65_workspace *workspace);

// `_verify` in a workspace.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, OVERLAP, CONTEXT, SIGNATURE, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_verify_in(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const uint8_t *message,
                                                     size_t message_len,
                                                     const uint8_t *context,
                                                     size_t context_len,
                                                     const uint8_t *vk,
                                                     size_t vk_len,
                                                     struct gambeson_small_mldsa65_workspace *workspace);

// `_verify_mu` in a workspace.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, OVERLAP, SIGNATURE, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_verify_mu_in(const uint8_t *signature,
                                                        size_t signature_len,
                                                        const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                        const uint8_t *vk,
                                                        size_t vk_len,
                                                        struct gambeson_small_mldsa65_workspace *workspace);

// `_key_from_seed` in a workspace.
//
// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_from_seed_in(struct gambeson_small_mldsa87_key *key,
                                                            uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                            const uint8_t seed[GAMBESON_MLDSA_SEED_BYTES],
                                                            struct gambeson_small_mldsa87_workspace *workspace);

// `_key_public` in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_public_in(const struct gambeson_small_mldsa87_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                         struct gambeson_small_mldsa87_workspace *workspace);

// `_key_sign_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_with_rnd_in(const struct gambeson_small_mldsa87_key *key,
                                                                uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                                const uint8_t *message,
                                                                size_t message_len,
                                                                const uint8_t *context,
                                                                size_t context_len,
                                                                const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                                struct gambeson_small_mldsa87_workspace *workspace);

// `_key_sign_mu_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_mu_with_rnd_in(const struct gambeson_small_mldsa87_key *key,
                                                                   uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                                   const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                                   const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                                   struct gambeson_small_mldsa87_workspace *workspace);

// `_sign_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_with_rnd_in(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                            const uint8_t *message,
                                                            size_t message_len,
                                                            const uint8_t *context,
                                                            size_t context_len,
                                                            const uint8_t *sk,
                                                            size_t sk_len,
                                                            const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                            struct gambeson_small_mldsa87_workspace *workspace);

// `_sign_mu_with_rnd` in a workspace.
//
// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7. Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_mu_with_rnd_in(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                               const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                               const uint8_t *sk,
                                                               size_t sk_len,
                                                               const uint8_t rnd[GAMBESON_MLDSA_RND_BYTES],
                                                               struct gambeson_small_mldsa87_workspace *workspace);

// `_verify` in a workspace.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, OVERLAP, CONTEXT, SIGNATURE, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_verify_in(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const uint8_t *message,
                                                     size_t message_len,
                                                     const uint8_t *context,
                                                     size_t context_len,
                                                     const uint8_t *vk,
                                                     size_t vk_len,
                                                     struct gambeson_small_mldsa87_workspace *workspace);

// `_verify_mu` in a workspace.
//
// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 8. Errors: NULL, LENGTH, OVERLAP, SIGNATURE, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_verify_mu_in(const uint8_t *signature,
                                                        size_t signature_len,
                                                        const uint8_t mu[GAMBESON_MLDSA_MU_BYTES],
                                                        const uint8_t *vk,
                                                        size_t vk_len,
                                                        struct gambeson_small_mldsa87_workspace *workspace);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `ek` unless
// that is null.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_generate(struct gambeson_mlkem512_key *key,
                                                   uint8_t ek[GAMBESON_MLKEM512_EK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_generate_with(struct gambeson_mlkem512_key *key,
                                                        uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                        gambeson_fill fill,
                                                        void *fill_ctx);

// The key of a seed d ‖ z, which is random or was stored.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_from_seed(struct gambeson_mlkem512_key *key,
                                                    uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                    const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_seed(const struct gambeson_mlkem512_key *key,
                                               uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_public(const struct gambeson_mlkem512_key *key,
                                                 uint8_t ek[GAMBESON_MLKEM512_EK_BYTES]);

// The shared secret that a ciphertext carries. One that no encapsulation made is no error: it gives a secret that nobody else
// knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_decapsulate(const struct gambeson_mlkem512_key *key,
                                                      uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                      const uint8_t *ciphertext,
                                                      size_t ciphertext_len);

// Whether these are the bytes of an encapsulation key. `encapsulate` asks that itself.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_check_ek(const uint8_t *ek,
                                               size_t ek_len);

// A fresh shared secret for the holder of the private half, and the ciphertext that carries it there, with the operating
// system's randomness, or the port's.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                  uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                  const uint8_t *ek,
                                                  size_t ek_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_encapsulate_with(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                       uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                       const uint8_t *ek,
                                                       size_t ek_len,
                                                       gambeson_fill fill,
                                                       void *fill_ctx);

// The same with coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_encapsulate_deterministic(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                                uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                const uint8_t *ek,
                                                                size_t ek_len,
                                                                const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES]);

// Whether these are the bytes of a decapsulation key. `decapsulate` asks that itself.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_check_dk(const uint8_t *dk,
                                               size_t dk_len);

// `key_decapsulate` for a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                  const uint8_t *ciphertext,
                                                  size_t ciphertext_len,
                                                  const uint8_t *dk,
                                                  size_t dk_len);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `ek` unless
// that is null.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_generate(struct gambeson_mlkem768_key *key,
                                                   uint8_t ek[GAMBESON_MLKEM768_EK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_generate_with(struct gambeson_mlkem768_key *key,
                                                        uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                        gambeson_fill fill,
                                                        void *fill_ctx);

// The key of a seed d ‖ z, which is random or was stored.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_from_seed(struct gambeson_mlkem768_key *key,
                                                    uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                    const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_seed(const struct gambeson_mlkem768_key *key,
                                               uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_public(const struct gambeson_mlkem768_key *key,
                                                 uint8_t ek[GAMBESON_MLKEM768_EK_BYTES]);

// The shared secret that a ciphertext carries. One that no encapsulation made is no error: it gives a secret that nobody else
// knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_decapsulate(const struct gambeson_mlkem768_key *key,
                                                      uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                      const uint8_t *ciphertext,
                                                      size_t ciphertext_len);

// Whether these are the bytes of an encapsulation key. `encapsulate` asks that itself.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_check_ek(const uint8_t *ek,
                                               size_t ek_len);

// A fresh shared secret for the holder of the private half, and the ciphertext that carries it there, with the operating
// system's randomness, or the port's.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                  uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                  const uint8_t *ek,
                                                  size_t ek_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_encapsulate_with(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                       uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                       const uint8_t *ek,
                                                       size_t ek_len,
                                                       gambeson_fill fill,
                                                       void *fill_ctx);

// The same with coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_encapsulate_deterministic(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                                uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                const uint8_t *ek,
                                                                size_t ek_len,
                                                                const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES]);

// Whether these are the bytes of a decapsulation key. `decapsulate` asks that itself.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_check_dk(const uint8_t *dk,
                                               size_t dk_len);

// `key_decapsulate` for a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                  const uint8_t *ciphertext,
                                                  size_t ciphertext_len,
                                                  const uint8_t *dk,
                                                  size_t dk_len);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `ek` unless
// that is null.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_generate(struct gambeson_mlkem1024_key *key,
                                                    uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_generate_with(struct gambeson_mlkem1024_key *key,
                                                         uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                         gambeson_fill fill,
                                                         void *fill_ctx);

// The key of a seed d ‖ z, which is random or was stored.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_from_seed(struct gambeson_mlkem1024_key *key,
                                                     uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                     const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_seed(const struct gambeson_mlkem1024_key *key,
                                                uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_public(const struct gambeson_mlkem1024_key *key,
                                                  uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES]);

// The shared secret that a ciphertext carries. One that no encapsulation made is no error: it gives a secret that nobody else
// knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_decapsulate(const struct gambeson_mlkem1024_key *key,
                                                       uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                       const uint8_t *ciphertext,
                                                       size_t ciphertext_len);

// Whether these are the bytes of an encapsulation key. `encapsulate` asks that itself.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_check_ek(const uint8_t *ek,
                                                size_t ek_len);

// A fresh shared secret for the holder of the private half, and the ciphertext that carries it there, with the operating
// system's randomness, or the port's.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                   uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                   const uint8_t *ek,
                                                   size_t ek_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_encapsulate_with(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                        uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                        const uint8_t *ek,
                                                        size_t ek_len,
                                                        gambeson_fill fill,
                                                        void *fill_ctx);

// The same with coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_encapsulate_deterministic(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                                 uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                 const uint8_t *ek,
                                                                 size_t ek_len,
                                                                 const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES]);

// Whether these are the bytes of a decapsulation key. `decapsulate` asks that itself.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_check_dk(const uint8_t *dk,
                                                size_t dk_len);

// `key_decapsulate` for a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                   const uint8_t *ciphertext,
                                                   size_t ciphertext_len,
                                                   const uint8_t *dk,
                                                   size_t dk_len);

// New keys in the forms of FIPS 203, with the operating system's randomness.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_keypair(uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                              uint8_t dk[GAMBESON_MLKEM512_DK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_keypair_with(uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                   uint8_t dk[GAMBESON_MLKEM512_DK_BYTES],
                                                   gambeson_fill fill,
                                                   void *fill_ctx);

// The keys of a seed d ‖ z in the forms of FIPS 203.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_keypair_from_seed(uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                        uint8_t dk[GAMBESON_MLKEM512_DK_BYTES],
                                                        const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// New keys in the forms of FIPS 203, with the operating system's randomness.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_keypair(uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                              uint8_t dk[GAMBESON_MLKEM768_DK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_keypair_with(uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                   uint8_t dk[GAMBESON_MLKEM768_DK_BYTES],
                                                   gambeson_fill fill,
                                                   void *fill_ctx);

// The keys of a seed d ‖ z in the forms of FIPS 203.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_keypair_from_seed(uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                        uint8_t dk[GAMBESON_MLKEM768_DK_BYTES],
                                                        const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// New keys in the forms of FIPS 203, with the operating system's randomness.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_keypair(uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                               uint8_t dk[GAMBESON_MLKEM1024_DK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_keypair_with(uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                    uint8_t dk[GAMBESON_MLKEM1024_DK_BYTES],
                                                    gambeson_fill fill,
                                                    void *fill_ctx);

// The keys of a seed d ‖ z in the forms of FIPS 203.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_keypair_from_seed(uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                         uint8_t dk[GAMBESON_MLKEM1024_DK_BYTES],
                                                         const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `ek` unless
// that is null.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_generate(struct gambeson_small_mlkem512_key *key,
                                                         uint8_t ek[GAMBESON_MLKEM512_EK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_generate_with(struct gambeson_small_mlkem512_key *key,
                                                              uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                              gambeson_fill fill,
                                                              void *fill_ctx);

// The key of a seed d ‖ z, which is random or was stored.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_from_seed(struct gambeson_small_mlkem512_key *key,
                                                          uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                          const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_seed(const struct gambeson_small_mlkem512_key *key,
                                                     uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_public(const struct gambeson_small_mlkem512_key *key,
                                                       uint8_t ek[GAMBESON_MLKEM512_EK_BYTES]);

// The shared secret that a ciphertext carries. One that no encapsulation made is no error: it gives a secret that nobody else
// knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
// Stack on a Cortex-M4: at most 2240.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_decapsulate(const struct gambeson_small_mlkem512_key *key,
                                                            uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                            const uint8_t *ciphertext,
                                                            size_t ciphertext_len);

// Whether these are the bytes of an encapsulation key. `encapsulate` asks that itself.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_check_ek(const uint8_t *ek,
                                                     size_t ek_len);

// A fresh shared secret for the holder of the private half, and the ciphertext that carries it there, with the operating
// system's randomness, or the port's.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 1728.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                        uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                        const uint8_t *ek,
                                                        size_t ek_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 1728.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_encapsulate_with(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                             uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                             const uint8_t *ek,
                                                             size_t ek_len,
                                                             gambeson_fill fill,
                                                             void *fill_ctx);

// The same with coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 1728.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_encapsulate_deterministic(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                                      uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                      const uint8_t *ek,
                                                                      size_t ek_len,
                                                                      const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES]);

// Whether these are the bytes of a decapsulation key. `decapsulate` asks that itself.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_check_dk(const uint8_t *dk,
                                                     size_t dk_len);

// `key_decapsulate` for a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 1856.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                        const uint8_t *ciphertext,
                                                        size_t ciphertext_len,
                                                        const uint8_t *dk,
                                                        size_t dk_len);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `ek` unless
// that is null.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_generate(struct gambeson_small_mlkem768_key *key,
                                                         uint8_t ek[GAMBESON_MLKEM768_EK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_generate_with(struct gambeson_small_mlkem768_key *key,
                                                              uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                              gambeson_fill fill,
                                                              void *fill_ctx);

// The key of a seed d ‖ z, which is random or was stored.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_from_seed(struct gambeson_small_mlkem768_key *key,
                                                          uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                          const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_seed(const struct gambeson_small_mlkem768_key *key,
                                                     uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_public(const struct gambeson_small_mlkem768_key *key,
                                                       uint8_t ek[GAMBESON_MLKEM768_EK_BYTES]);

// The shared secret that a ciphertext carries. One that no encapsulation made is no error: it gives a secret that nobody else
// knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
// Stack on a Cortex-M4: at most 2240.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_decapsulate(const struct gambeson_small_mlkem768_key *key,
                                                            uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                            const uint8_t *ciphertext,
                                                            size_t ciphertext_len);

// Whether these are the bytes of an encapsulation key. `encapsulate` asks that itself.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_check_ek(const uint8_t *ek,
                                                     size_t ek_len);

// A fresh shared secret for the holder of the private half, and the ciphertext that carries it there, with the operating
// system's randomness, or the port's.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 1792.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                        uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                        const uint8_t *ek,
                                                        size_t ek_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 1792.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_encapsulate_with(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                             uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                             const uint8_t *ek,
                                                             size_t ek_len,
                                                             gambeson_fill fill,
                                                             void *fill_ctx);

// The same with coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 1792.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_encapsulate_deterministic(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                                      uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                      const uint8_t *ek,
                                                                      size_t ek_len,
                                                                      const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES]);

// Whether these are the bytes of a decapsulation key. `decapsulate` asks that itself.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_check_dk(const uint8_t *dk,
                                                     size_t dk_len);

// `key_decapsulate` for a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 1984.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                        const uint8_t *ciphertext,
                                                        size_t ciphertext_len,
                                                        const uint8_t *dk,
                                                        size_t dk_len);

// A new key, with the operating system's randomness, or the port's: the private half to `key`, the public one to `ek` unless
// that is null.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_generate(struct gambeson_small_mlkem1024_key *key,
                                                          uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES]);

// The same with the caller's randomness: 64 bytes are asked for, once.
//
// Errors: NULL, OVERLAP, RANDOM.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_generate_with(struct gambeson_small_mlkem1024_key *key,
                                                               uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                               gambeson_fill fill,
                                                               void *fill_ctx);

// The key of a seed d ‖ z, which is random or was stored.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_from_seed(struct gambeson_small_mlkem1024_key *key,
                                                           uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                           const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The seed of a key: what to store, in secret.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_seed(const struct gambeson_small_mlkem1024_key *key,
                                                      uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// The public half of a key, made again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_public(const struct gambeson_small_mlkem1024_key *key,
                                                        uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES]);

// The shared secret that a ciphertext carries. One that no encapsulation made is no error: it gives a secret that nobody else
// knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
// Stack on a Cortex-M4: at most 2240.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_decapsulate(const struct gambeson_small_mlkem1024_key *key,
                                                             uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                             const uint8_t *ciphertext,
                                                             size_t ciphertext_len);

// Whether these are the bytes of an encapsulation key. `encapsulate` asks that itself.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_check_ek(const uint8_t *ek,
                                                      size_t ek_len);

// A fresh shared secret for the holder of the private half, and the ciphertext that carries it there, with the operating
// system's randomness, or the port's.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 1728.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                         uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                         const uint8_t *ek,
                                                         size_t ek_len);

// The same with the caller's randomness: 32 bytes are asked for, once.
//
// Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM.
// Stack on a Cortex-M4: at most 1728.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_encapsulate_with(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                              uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                              const uint8_t *ek,
                                                              size_t ek_len,
                                                              gambeson_fill fill,
                                                              void *fill_ctx);

// The same with coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 1728.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_encapsulate_deterministic(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                                       uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                       const uint8_t *ek,
                                                                       size_t ek_len,
                                                                       const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES]);

// Whether these are the bytes of a decapsulation key. `decapsulate` asks that itself.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_check_dk(const uint8_t *dk,
                                                      size_t dk_len);

// `key_decapsulate` for a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
// Stack on a Cortex-M4: at most 2112.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                         const uint8_t *ciphertext,
                                                         size_t ciphertext_len,
                                                         const uint8_t *dk,
                                                         size_t dk_len);

// `_key_from_seed` in a workspace.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_from_seed_in(struct gambeson_small_mlkem512_key *key,
                                                             uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                             const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES],
                                                             struct gambeson_small_mlkem512_workspace *workspace);

// `_key_public` in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_public_in(const struct gambeson_small_mlkem512_key *key,
                                                          uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                          struct gambeson_small_mlkem512_workspace *workspace);

// `_key_decapsulate` in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_decapsulate_in(const struct gambeson_small_mlkem512_key *key,
                                                               uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                               const uint8_t *ciphertext,
                                                               size_t ciphertext_len,
                                                               struct gambeson_small_mlkem512_workspace *workspace);

// `_encapsulate_deterministic` in a workspace.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_encapsulate_deterministic_in(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                                         uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                         const uint8_t *ek,
                                                                         size_t ek_len,
                                                                         const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES],
                                                                         struct gambeson_small_mlkem512_workspace *workspace);

// `_decapsulate` in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_decapsulate_in(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                           const uint8_t *ciphertext,
                                                           size_t ciphertext_len,
                                                           const uint8_t *dk,
                                                           size_t dk_len,
                                                           struct gambeson_small_mlkem512_workspace *workspace);

// `_key_from_seed` in a workspace.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_from_seed_in(struct gambeson_small_mlkem768_key *key,
                                                             uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                             const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES],
                                                             struct gambeson_small_mlkem768_workspace *workspace);

// `_key_public` in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_public_in(const struct gambeson_small_mlkem768_key *key,
                                                          uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                          struct gambeson_small_mlkem768_workspace *workspace);

// `_key_decapsulate` in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_decapsulate_in(const struct gambeson_small_mlkem768_key *key,
                                                               uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                               const uint8_t *ciphertext,
                                                               size_t ciphertext_len,
                                                               struct gambeson_small_mlkem768_workspace *workspace);

// `_encapsulate_deterministic` in a workspace.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_encapsulate_deterministic_in(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                                         uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                         const uint8_t *ek,
                                                                         size_t ek_len,
                                                                         const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES],
                                                                         struct gambeson_small_mlkem768_workspace *workspace);

// `_decapsulate` in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_decapsulate_in(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                           const uint8_t *ciphertext,
                                                           size_t ciphertext_len,
                                                           const uint8_t *dk,
                                                           size_t dk_len,
                                                           struct gambeson_small_mlkem768_workspace *workspace);

// `_key_from_seed` in a workspace.
//
// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_from_seed_in(struct gambeson_small_mlkem1024_key *key,
                                                              uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                              const uint8_t seed[GAMBESON_MLKEM_SEED_BYTES],
                                                              struct gambeson_small_mlkem1024_workspace *workspace);

// `_key_public` in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_public_in(const struct gambeson_small_mlkem1024_key *key,
                                                           uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                           struct gambeson_small_mlkem1024_workspace *workspace);

// `_key_decapsulate` in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_decapsulate_in(const struct gambeson_small_mlkem1024_key *key,
                                                                uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                const uint8_t *ciphertext,
                                                                size_t ciphertext_len,
                                                                struct gambeson_small_mlkem1024_workspace *workspace);

// `_encapsulate_deterministic` in a workspace.
//
// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_encapsulate_deterministic_in(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                                          uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                          const uint8_t *ek,
                                                                          size_t ek_len,
                                                                          const uint8_t coins[GAMBESON_MLKEM_COINS_BYTES],
                                                                          struct gambeson_small_mlkem1024_workspace *workspace);

// `_decapsulate` in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_decapsulate_in(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                            const uint8_t *ciphertext,
                                                            size_t ciphertext_len,
                                                            const uint8_t *dk,
                                                            size_t dk_len,
                                                            struct gambeson_small_mlkem1024_workspace *workspace);

// Starts a digest in pieces by one of gambeson_prehash, whatever was in `hash` before. Errors: NULL, STATE, PREHASH.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_prehash_init(struct gambeson_prehash_ctx *hash,
                                          int prehash);

// Takes the next piece of the message; any pieces give the digest of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_prehash_update(struct gambeson_prehash_ctx *hash,
                                            const uint8_t *data,
                                            size_t len);

// The digest of what was given, `digest_len` bytes, which must be the function's (GAMBESON_PREHASH_…_BYTES); `hash` is wiped. With
// another length it stays as it was.
//
// Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_prehash_final(struct gambeson_prehash_ctx *hash,
                                           uint8_t *digest,
                                           size_t digest_len);

// SHA3-224 of `data`, which may be null if `len` is 0 (FIPS 202, §6.1).
//
// Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_224(uint8_t digest[GAMBESON_SHA3_224_BYTES],
                                      const uint8_t *data,
                                      size_t len);

// Starts a hash in pieces, whatever was in `hash` before. Errors: NULL.
GAMBESON_API GAMBESON_MUST_USE enum gambeson_error gambeson_sha3_224_init(struct gambeson_sha3_224_ctx *hash);

// Takes the next piece; any pieces give the digest of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_224_update(struct gambeson_sha3_224_ctx *hash,
                                             const uint8_t *data,
                                             size_t len);

// The digest of what was given; `hash` is wiped. Errors: NULL, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_224_final(struct gambeson_sha3_224_ctx *hash,
                                            uint8_t digest[GAMBESON_SHA3_224_BYTES]);

// SHA3-256 of `data`, which may be null if `len` is 0 (FIPS 202, §6.1).
//
// Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_256(uint8_t digest[GAMBESON_SHA3_256_BYTES],
                                      const uint8_t *data,
                                      size_t len);

// Starts a hash in pieces, whatever was in `hash` before. Errors: NULL.
GAMBESON_API GAMBESON_MUST_USE enum gambeson_error gambeson_sha3_256_init(struct gambeson_sha3_256_ctx *hash);

// Takes the next piece; any pieces give the digest of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_256_update(struct gambeson_sha3_256_ctx *hash,
                                             const uint8_t *data,
                                             size_t len);

// The digest of what was given; `hash` is wiped. Errors: NULL, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_256_final(struct gambeson_sha3_256_ctx *hash,
                                            uint8_t digest[GAMBESON_SHA3_256_BYTES]);

// SHA3-384 of `data`, which may be null if `len` is 0 (FIPS 202, §6.1).
//
// Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_384(uint8_t digest[GAMBESON_SHA3_384_BYTES],
                                      const uint8_t *data,
                                      size_t len);

// Starts a hash in pieces, whatever was in `hash` before. Errors: NULL.
GAMBESON_API GAMBESON_MUST_USE enum gambeson_error gambeson_sha3_384_init(struct gambeson_sha3_384_ctx *hash);

// Takes the next piece; any pieces give the digest of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_384_update(struct gambeson_sha3_384_ctx *hash,
                                             const uint8_t *data,
                                             size_t len);

// The digest of what was given; `hash` is wiped. Errors: NULL, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_384_final(struct gambeson_sha3_384_ctx *hash,
                                            uint8_t digest[GAMBESON_SHA3_384_BYTES]);

// SHA3-512 of `data`, which may be null if `len` is 0 (FIPS 202, §6.1).
//
// Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_512(uint8_t digest[GAMBESON_SHA3_512_BYTES],
                                      const uint8_t *data,
                                      size_t len);

// Starts a hash in pieces, whatever was in `hash` before. Errors: NULL.
GAMBESON_API GAMBESON_MUST_USE enum gambeson_error gambeson_sha3_512_init(struct gambeson_sha3_512_ctx *hash);

// Takes the next piece; any pieces give the digest of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_512_update(struct gambeson_sha3_512_ctx *hash,
                                             const uint8_t *data,
                                             size_t len);

// The digest of what was given; `hash` is wiped. Errors: NULL, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_sha3_512_final(struct gambeson_sha3_512_ctx *hash,
                                            uint8_t digest[GAMBESON_SHA3_512_BYTES]);

// SHAKE128 of `data`: `out_len` bytes, as many as are wanted; either may be null if it has none (FIPS 202, §6.2).
//
// Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_shake128(uint8_t *out,
                                      size_t out_len,
                                      const uint8_t *data,
                                      size_t len);

// Starts a hash in pieces, whatever was in `hash` before. Errors: NULL.
GAMBESON_API GAMBESON_MUST_USE enum gambeson_error gambeson_shake128_init(struct gambeson_shake128_ctx *hash);

// Takes the next piece of the input, which ends with the first `squeeze`. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_shake128_update(struct gambeson_shake128_ctx *hash,
                                             const uint8_t *data,
                                             size_t len);

// The next `len` bytes of the output; any pieces give the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_shake128_squeeze(struct gambeson_shake128_ctx *hash,
                                              uint8_t *out,
                                              size_t len);

// SHAKE256 of `data`: `out_len` bytes, as many as are wanted; either may be null if it has none (FIPS 202, §6.2).
//
// Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_shake256(uint8_t *out,
                                      size_t out_len,
                                      const uint8_t *data,
                                      size_t len);

// Starts a hash in pieces, whatever was in `hash` before. Errors: NULL.
GAMBESON_API GAMBESON_MUST_USE enum gambeson_error gambeson_shake256_init(struct gambeson_shake256_ctx *hash);

// Takes the next piece of the input, which ends with the first `squeeze`. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_shake256_update(struct gambeson_shake256_ctx *hash,
                                             const uint8_t *data,
                                             size_t len);

// The next `len` bytes of the output; any pieces give the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_shake256_squeeze(struct gambeson_shake256_ctx *hash,
                                              uint8_t *out,
                                              size_t len);

// The version of the library that runs, such as "0.1.0"; the header's own is in `GAMBESON_VERSION_MAJOR`, `_MINOR`, `_PATCH`.
//
// It is there as long as the program runs.
GAMBESON_API
GAMBESON_MUST_USE
const char *gambeson_version(void);

// Overwrites secrets with zeros; the compiler does not leave it out. For seeds, keys, shared secrets, and hashes that are not to be
// finished. Null will do for no bytes.
GAMBESON_API
void gambeson_wipe(void *secret,
                   size_t len);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GAMBESON_H */
