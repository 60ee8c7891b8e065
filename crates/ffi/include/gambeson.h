// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// gambeson: ML-KEM (FIPS 203), ML-DSA and HashML-DSA (FIPS 204), SLH-DSA and HashSLH-DSA (FIPS 205), verification by LMS and HSS (RFC 8554),
// XMSS and XMSS^MT (RFC 8391), SHA-3 and SHAKE (FIPS 202).
//
// Written by `cargo xtask c header` from crates/ffi/src.
//
// Calls return GAMBESON_OK, which is 0, or one of gambeson_error; what they may return is listed with each, without
// `GAMBESON_ERROR_`. For all of them:
//
// - Buffers are the caller's, and none is kept. An array in brackets has that many bytes. What comes from elsewhere has a length
//   beside it, and another than the set's is refused. Outputs need not be initialised, and are not to be used after an error.
//   Bytes and keys may lie at any address; an object whose name ends in _ctx or _workspace is aligned to 8 bytes, as the compiler does it.
//   Until the call returns, outputs may hold secrets, public ones too (ek, vk, ciphertext, signature): not for memory that others read.
// - A null pointer is refused; so are buffers that overlap where one is written. A pointer that names fewer bytes than said is
//   the caller's mistake, which nobody can see.
// - While a call runs, nobody else may write what it reads, nor touch what it writes. Otherwise threads and interrupts need no care: there
//   is no lock, and no state between calls but what gambeson_set_keccak sets. The caller's functions may make calls of their own on other
//   buffers, but `permute` none that hashes.
// - Time and addresses do not depend on secrets. ML-DSA's signing takes as many attempts as it takes, which tells nothing of the key.
// - The stack that a call used is wiped before it returns, and so are the library's copies of secrets. The caller's own (seeds,
//   keys, shared secrets, hashes of secrets) are the caller's to wipe: gambeson_wipe.
// - Stack, at most, measured on x86-64: hashes 2 kB, those of HashML-DSA 3.2 kB, ML-KEM 20 kB (_small_: 3.1 kB), ML-DSA 26 kB, signing
//   by the standard's sk 39, 60 and 95 kB (_small_: 6 kB), SLH-DSA 49 kB; docs/memory.md has each call.
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
// What is signed or verified is a gambeson_message, and randomness is a gambeson_randomness: structures that the caller fills, by the functions
// at the end of this header, by designated initialisers, or member by member after zeroing them. Where a call takes a gambeson_randomness, a null
// pointer is the default: the operating system's randomness, or gambeson_port_entropy on bare metal; signing by it is hedged. A structure is read
// before the call does anything, and is subject to the same rules as a buffer; it is aligned as the compiler does it.

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

// The message itself, in a context: ML-DSA and SLH-DSA.
#define GAMBESON_MESSAGE_PURE 0

// A digest of the message, in a context: HashML-DSA and HashSLH-DSA, whose signatures are not those of the message itself.
#define GAMBESON_MESSAGE_PREHASHED 1

// The message representative μ, 64 bytes, of a message in pieces (_mu_init): the signature is the message's. It takes no context, which is in μ.
// ML-DSA alone has it.
#define GAMBESON_MESSAGE_MU 2

// The system's randomness: the operating system's, or gambeson_port_entropy on bare metal. It takes no other member.
#define GAMBESON_RANDOMNESS_SYSTEM 0

// The randomness of `fill`, which is called once, with `ctx`, for as many bytes as the call takes.
#define GAMBESON_RANDOMNESS_CALLBACK 1

// `bytes` themselves, whose `len` is as many as the call takes: a stored seed, coins, `rnd`.
#define GAMBESON_RANDOMNESS_BYTES 2

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

// A public key of a set of SLH-DSA-…-128: PK.seed ‖ PK.root.
#define GAMBESON_SLHDSA_128_VK_BYTES 32

// A private key: SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root, whose second half is the public key.
#define GAMBESON_SLHDSA_128_SK_BYTES 64

// The randomness of a key: SK.seed ‖ SK.prf ‖ PK.seed.
#define GAMBESON_SLHDSA_128_SEED_BYTES 48

// The randomness of a signature, opt_rand.
#define GAMBESON_SLHDSA_128_RND_BYTES 16

// A public key of a set of SLH-DSA-…-192: PK.seed ‖ PK.root.
#define GAMBESON_SLHDSA_192_VK_BYTES 48

// A private key: SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root, whose second half is the public key.
#define GAMBESON_SLHDSA_192_SK_BYTES 96

// The randomness of a key: SK.seed ‖ SK.prf ‖ PK.seed.
#define GAMBESON_SLHDSA_192_SEED_BYTES 72

// The randomness of a signature, opt_rand.
#define GAMBESON_SLHDSA_192_RND_BYTES 24

// A public key of a set of SLH-DSA-…-256: PK.seed ‖ PK.root.
#define GAMBESON_SLHDSA_256_VK_BYTES 64

// A private key: SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root, whose second half is the public key.
#define GAMBESON_SLHDSA_256_SK_BYTES 128

// The randomness of a key: SK.seed ‖ SK.prf ‖ PK.seed.
#define GAMBESON_SLHDSA_256_SEED_BYTES 96

// The randomness of a signature, opt_rand.
#define GAMBESON_SLHDSA_256_RND_BYTES 32

// A signature.
#define GAMBESON_SLHDSA_128S_SIGNATURE_BYTES 7856

// A signature.
#define GAMBESON_SLHDSA_128F_SIGNATURE_BYTES 17088

// A signature.
#define GAMBESON_SLHDSA_192S_SIGNATURE_BYTES 16224

// A signature.
#define GAMBESON_SLHDSA_192F_SIGNATURE_BYTES 35664

// A signature.
#define GAMBESON_SLHDSA_256S_SIGNATURE_BYTES 29792

// A signature.
#define GAMBESON_SLHDSA_256F_SIGNATURE_BYTES 49856

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
    // The bytes are not a key of the parameter set (FIPS 203, §7.2 and §7.3; FIPS 204, Algorithm 25 (skDecode); PK.root of SLH-DSA; the types
    // of LMS and HSS; the OIDs of XMSS).
    GAMBESON_ERROR_KEY = -4,
    // The signature is not one of this message, in this context, by this key.
    GAMBESON_ERROR_SIGNATURE = -5,
    // The context string of ML-DSA or SLH-DSA has more than 255 bytes.
    GAMBESON_ERROR_CONTEXT = -6,
    // The source of randomness failed: no key was made, nothing was encapsulated or signed.
    GAMBESON_ERROR_RANDOM = -7,
    // The hash was not started, or has ended; or an object or a descriptor is not aligned.
    GAMBESON_ERROR_STATE = -8,
    // The function is not `Keccak-f[1600]`.
    GAMBESON_ERROR_KECCAK = -9,
    // A mistake in this library: please report it.
    GAMBESON_ERROR_INTERNAL = -10,
    // No pre-hash function has this number.
    GAMBESON_ERROR_PREHASH = -11,
    // A descriptor is of no known kind, or has a member set that its kind does not take.
    GAMBESON_ERROR_DESCRIPTOR = -12,
    // No parameter set of SLH-DSA has this number.
    GAMBESON_ERROR_SET = -13,
    // The caller's function did not read the signature.
    GAMBESON_ERROR_READ = -14
} gambeson_error;

// The hash functions of HashML-DSA (FIPS 204, §5.4.1) and HashSLH-DSA (FIPS 205, §10.2.2), by the last number of their object
// identifiers: the others are 2.16.840.1.101.3.4.2.
//
// A digest should have at least 32 bytes for category 1 and ML-DSA-44, 48 for category 3, 64 for category 5; shorter ones are not
// refused.
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

// The parameter sets of SLH-DSA (FIPS 205, §11), by the last number of their object identifiers: the others are
// 2.16.840.1.101.3.4.3. Those whose names end in S have small signatures, those in F sign fast.
typedef enum gambeson_slhdsa {
    // SLH-DSA-SHA2-128s.
    GAMBESON_SLHDSA_SHA2_128S = 20,
    // SLH-DSA-SHA2-128f.
    GAMBESON_SLHDSA_SHA2_128F = 21,
    // SLH-DSA-SHA2-192s.
    GAMBESON_SLHDSA_SHA2_192S = 22,
    // SLH-DSA-SHA2-192f.
    GAMBESON_SLHDSA_SHA2_192F = 23,
    // SLH-DSA-SHA2-256s.
    GAMBESON_SLHDSA_SHA2_256S = 24,
    // SLH-DSA-SHA2-256f.
    GAMBESON_SLHDSA_SHA2_256F = 25,
    // SLH-DSA-SHAKE-128s.
    GAMBESON_SLHDSA_SHAKE_128S = 26,
    // SLH-DSA-SHAKE-128f.
    GAMBESON_SLHDSA_SHAKE_128F = 27,
    // SLH-DSA-SHAKE-192s.
    GAMBESON_SLHDSA_SHAKE_192S = 28,
    // SLH-DSA-SHAKE-192f.
    GAMBESON_SLHDSA_SHAKE_192F = 29,
    // SLH-DSA-SHAKE-256s.
    GAMBESON_SLHDSA_SHAKE_256S = 30,
    // SLH-DSA-SHAKE-256f.
    GAMBESON_SLHDSA_SHAKE_256F = 31
} gambeson_slhdsa;

// A permutation of the platform: a hardware unit, or assembly.
typedef struct gambeson_keccak {
    // Applies `Keccak-f[1600]` to each of `count` states, 25 words each, one after the other: lane (x, y) is word x + 5y.
    void (*permute)(void *ctx, uint64_t *states, size_t count);
    // What `permute` is called with.
    void *ctx;
} gambeson_keccak;

// μ of a message in pieces, for GAMBESON_MESSAGE_MU.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_mldsa_mu_ctx {
    // The library's.
    uint64_t opaque[27];
} gambeson_mldsa_mu_ctx;

// A private key of ML-DSA-44 in 96 bytes, for both schedules: its seed and the hash of its public half. Each use makes the
// rest again. Secret: to be wiped. It may be copied.
typedef struct gambeson_mldsa44_key {
    // The library's.
    uint8_t opaque[96];
} gambeson_mldsa44_key;

// A private key of ML-DSA-65 in 96 bytes, for both schedules: its seed and the hash of its public half. Each use makes the
// rest again. Secret: to be wiped. It may be copied.
typedef struct gambeson_mldsa65_key {
    // The library's.
    uint8_t opaque[96];
} gambeson_mldsa65_key;

// A private key of ML-DSA-87 in 96 bytes, for both schedules: its seed and the hash of its public half. Each use makes the
// rest again. Secret: to be wiped. It may be copied.
typedef struct gambeson_mldsa87_key {
    // The library's.
    uint8_t opaque[96];
} gambeson_mldsa87_key;

// A caller's source of randomness: writes `len` bytes to `out`, and returns 0; any other number says that it failed. `ctx` is the member of
// the descriptor. It must return, without `longjmp` or exception.
typedef int (*gambeson_fill)(void *ctx, uint8_t *out, size_t len);

// The randomness of a call. A null pointer to one is the system's randomness.
//
// One of zeros is the system's, too. A member that the kind does not take must be zero: a call refuses bytes without their kind, rather than
// draw others.
typedef struct gambeson_randomness {
    // One of GAMBESON_RANDOMNESS_….
    int kind;
    // CALLBACK: the function.
    gambeson_fill fill;
    // CALLBACK: the first argument of the function.
    void *ctx;
    // BYTES: the bytes. Secret, unless `rnd` is 32 zeros.
    const uint8_t *bytes;
    // BYTES: their number.
    size_t len;
} gambeson_randomness;

// What is signed or verified.
//
// One of zeros with `data` and `len` is the message itself without a context. A member that the kind does not take must be zero: a call refuses
// it rather than to ignore it.
typedef struct gambeson_message {
    // One of GAMBESON_MESSAGE_….
    int kind;
    // PREHASHED: the function that made the digest, one of gambeson_prehash.
    int prehash;
    // The message, the digest or μ. Null will do for an empty message.
    const uint8_t *data;
    // Its length; that of the hash function for a digest, 64 for μ.
    size_t len;
    // PURE and PREHASHED: the context string. Null will do for none.
    const uint8_t *context;
    // Its length, at most 255.
    size_t context_len;
} gambeson_message;

// Memory for the calls of ML-DSA-44 in the least memory that end in `_in`, in place of the stack. It need not be initialised; the calls wipe it.
typedef struct gambeson_small_mldsa44_workspace {
    // The library's.
    uint64_t opaque[376];
} gambeson_small_mldsa44_workspace;

// Memory for the calls of ML-DSA-65 in the least memory that end in `_in`, in place of the stack. It need not be initialised; the calls wipe it.
typedef struct gambeson_small_mldsa65_workspace {
    // The library's.
    uint64_t opaque[457];
} gambeson_small_mldsa65_workspace;

// Memory for the calls of ML-DSA-87 in the least memory that end in `_in`, in place of the stack. It need not be initialised; the calls wipe it.
typedef struct gambeson_small_mldsa87_workspace {
    // The library's.
    uint64_t opaque[489];
} gambeson_small_mldsa87_workspace;

// A decapsulation key of ML-KEM-512 in 96 bytes, for both schedules: its seed and the hash of its public half. Each use makes the
// rest again. Secret: to be wiped. It may be copied.
typedef struct gambeson_mlkem512_key {
    // The library's.
    uint8_t opaque[96];
} gambeson_mlkem512_key;

// A decapsulation key of ML-KEM-768 in 96 bytes, for both schedules: its seed and the hash of its public half. Each use makes the
// rest again. Secret: to be wiped. It may be copied.
typedef struct gambeson_mlkem768_key {
    // The library's.
    uint8_t opaque[96];
} gambeson_mlkem768_key;

// A decapsulation key of ML-KEM-1024 in 96 bytes, for both schedules: its seed and the hash of its public half. Each use makes the
// rest again. Secret: to be wiped. It may be copied.
typedef struct gambeson_mlkem1024_key {
    // The library's.
    uint8_t opaque[96];
} gambeson_mlkem1024_key;

// Memory for the calls of ML-KEM-512 in the least memory that end in `_in`, in place of the stack. It need not be initialised; the calls wipe it.
typedef struct gambeson_small_mlkem512_workspace {
    // The library's.
    uint64_t opaque[230];
} gambeson_small_mlkem512_workspace;

// Memory for the calls of ML-KEM-768 in the least memory that end in `_in`, in place of the stack. It need not be initialised; the calls wipe it.
typedef struct gambeson_small_mlkem768_workspace {
    // The library's.
    uint64_t opaque[230];
} gambeson_small_mlkem768_workspace;

// Memory for the calls of ML-KEM-1024 in the least memory that end in `_in`, in place of the stack. It need not be initialised; the calls wipe it.
typedef struct gambeson_small_mlkem1024_workspace {
    // The library's.
    uint64_t opaque[230];
} gambeson_small_mlkem1024_workspace;

// A digest of a message in pieces, for GAMBESON_MESSAGE_PREHASHED.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_prehash_ctx {
    // The library's.
    uint64_t opaque[31];
} gambeson_prehash_ctx;

// SHA3-224 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_sha3_224_ctx {
    // The library's.
    uint64_t opaque[27];
} gambeson_sha3_224_ctx;

// SHA3-256 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_sha3_256_ctx {
    // The library's.
    uint64_t opaque[27];
} gambeson_sha3_256_ctx;

// SHA3-384 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_sha3_384_ctx {
    // The library's.
    uint64_t opaque[27];
} gambeson_sha3_384_ctx;

// SHA3-512 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_sha3_512_ctx {
    // The library's.
    uint64_t opaque[27];
} gambeson_sha3_512_ctx;

// SHAKE128 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_shake128_ctx {
    // The library's.
    uint64_t opaque[27];
} gambeson_shake128_ctx;

// SHAKE256 in pieces.
//
// It may be copied, to go on from there twice; gambeson_wipe ends it early.
typedef struct gambeson_shake256_ctx {
    // The library's.
    uint64_t opaque[27];
} gambeson_shake256_ctx;

// A caller's source of a signature: writes the `len` bytes from `offset` on to `out`, and returns 0; any other number ends the call with the error
// READ. `ctx` is the argument of the call. It must return, without `longjmp` or exception. Offsets ascend without gaps, but for HSS with two levels
// or more.
typedef int (*gambeson_read)(void *ctx, size_t offset, uint8_t *out, size_t len);

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

// Verifies a signature by LMS. A key with unknown types, or with one-time signatures of another hash function or length than its tree, is
// refused.
//
// RFC 8554, Algorithm 6. Errors: NULL, LENGTH, KEY, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_lms_verify(const uint8_t *signature,
                                        size_t signature_len,
                                        const uint8_t *message,
                                        size_t message_len,
                                        const uint8_t *vk,
                                        size_t vk_len);

// Verifies a signature by HSS, of 1 to 8 levels. Trees below the highest may be of other types, so that a signature of a wrong length is one that
// is not valid.
//
// RFC 8554, §6.3. Errors: NULL, LENGTH, KEY, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_hss_verify(const uint8_t *signature,
                                        size_t signature_len,
                                        const uint8_t *message,
                                        size_t message_len,
                                        const uint8_t *vk,
                                        size_t vk_len);

// Takes the next piece of the message; any pieces give μ of the whole. Errors: NULL, LENGTH, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa_mu_update(struct gambeson_mldsa_mu_ctx *hash,
                                             const uint8_t *data,
                                             size_t len);

// Ends the hash, gives μ, and wipes `hash`. Errors: NULL, OVERLAP, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa_mu_final(struct gambeson_mldsa_mu_ctx *hash,
                                            uint8_t mu[GAMBESON_MLDSA_MU_BYTES]);

// Copies out the seed of a key: 32 secret bytes to store.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_seed(const struct gambeson_mldsa44_key *key,
                                              uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                             const uint8_t *vk,
                                             size_t vk_len,
                                             const uint8_t *context,
                                             size_t context_len);

// Copies out the seed of a key: 32 secret bytes to store.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_seed(const struct gambeson_mldsa65_key *key,
                                              uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                             const uint8_t *vk,
                                             size_t vk_len,
                                             const uint8_t *context,
                                             size_t context_len);

// Copies out the seed of a key: 32 secret bytes to store.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_seed(const struct gambeson_mldsa87_key *key,
                                              uint8_t seed[GAMBESON_MLDSA_SEED_BYTES]);

// Starts μ of a message in pieces, for this public key and in this context, whatever was in `hash` before.
//
// Errors: NULL, LENGTH, OVERLAP, CONTEXT, STATE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_mu_init(struct gambeson_mldsa_mu_ctx *hash,
                                             const uint8_t *vk,
                                             size_t vk_len,
                                             const uint8_t *context,
                                             size_t context_len);

// Makes a key of 32 bytes of randomness, the seed ξ: the private half in `key`, the public half in `vk` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_generate(struct gambeson_mldsa44_key *key,
                                                  uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                  const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_public(const struct gambeson_mldsa44_key *key,
                                                uint8_t vk[GAMBESON_MLDSA44_VK_BYTES]);

// Signs, hedged by 32 bytes of randomness, `rnd`. 32 zero bytes as GAMBESON_RANDOMNESS_BYTES are the deterministic variant, where one
// message has one signature.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign), Algorithm 4 (HashML-DSA.Sign), and Algorithm 7 (ML-DSA.Sign_internal) from line 7 for μ. Errors:
// NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_key_sign(const struct gambeson_mldsa44_key *key,
                                              uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                              const struct gambeson_message *message,
                                              const struct gambeson_randomness *randomness);

// Verifies a signature.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify), Algorithm 5 (HashML-DSA.Verify), and Algorithm 8 (ML-DSA.Verify_internal) from line 8 for μ.
// Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_verify(const uint8_t *signature,
                                            size_t signature_len,
                                            const struct gambeson_message *message,
                                            const uint8_t *vk,
                                            size_t vk_len);

// Makes a key of 32 bytes of randomness, the seed ξ: the private half in `key`, the public half in `vk` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_generate(struct gambeson_mldsa65_key *key,
                                                  uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                  const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_public(const struct gambeson_mldsa65_key *key,
                                                uint8_t vk[GAMBESON_MLDSA65_VK_BYTES]);

// Signs, hedged by 32 bytes of randomness, `rnd`. 32 zero bytes as GAMBESON_RANDOMNESS_BYTES are the deterministic variant, where one
// message has one signature.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign), Algorithm 4 (HashML-DSA.Sign), and Algorithm 7 (ML-DSA.Sign_internal) from line 7 for μ. Errors:
// NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_key_sign(const struct gambeson_mldsa65_key *key,
                                              uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                              const struct gambeson_message *message,
                                              const struct gambeson_randomness *randomness);

// Verifies a signature.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify), Algorithm 5 (HashML-DSA.Verify), and Algorithm 8 (ML-DSA.Verify_internal) from line 8 for μ.
// Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_verify(const uint8_t *signature,
                                            size_t signature_len,
                                            const struct gambeson_message *message,
                                            const uint8_t *vk,
                                            size_t vk_len);

// Makes a key of 32 bytes of randomness, the seed ξ: the private half in `key`, the public half in `vk` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_generate(struct gambeson_mldsa87_key *key,
                                                  uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                  const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_public(const struct gambeson_mldsa87_key *key,
                                                uint8_t vk[GAMBESON_MLDSA87_VK_BYTES]);

// Signs, hedged by 32 bytes of randomness, `rnd`. 32 zero bytes as GAMBESON_RANDOMNESS_BYTES are the deterministic variant, where one
// message has one signature.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign), Algorithm 4 (HashML-DSA.Sign), and Algorithm 7 (ML-DSA.Sign_internal) from line 7 for μ. Errors:
// NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_key_sign(const struct gambeson_mldsa87_key *key,
                                              uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                              const struct gambeson_message *message,
                                              const struct gambeson_randomness *randomness);

// Verifies a signature.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify), Algorithm 5 (HashML-DSA.Verify), and Algorithm 8 (ML-DSA.Verify_internal) from line 8 for μ.
// Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_verify(const uint8_t *signature,
                                            size_t signature_len,
                                            const struct gambeson_message *message,
                                            const uint8_t *vk,
                                            size_t vk_len);

// Makes both keys in the forms of FIPS 204, of 32 bytes of randomness, the seed ξ.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_keypair(uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                             uint8_t sk[GAMBESON_MLDSA44_SK_BYTES],
                                             const struct gambeson_randomness *randomness);

// Makes both keys in the forms of FIPS 204, of 32 bytes of randomness, the seed ξ.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_keypair(uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                             uint8_t sk[GAMBESON_MLDSA65_SK_BYTES],
                                             const struct gambeson_randomness *randomness);

// Makes both keys in the forms of FIPS 204, of 32 bytes of randomness, the seed ξ.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_keypair(uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                             uint8_t sk[GAMBESON_MLDSA87_SK_BYTES],
                                             const struct gambeson_randomness *randomness);

// Checks that the bytes are a private key whose parts belong together. `_sign` checks it, too.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_check_sk(const uint8_t *sk,
                                              size_t sk_len);

// Does what `_key_sign` does, with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa44_sign(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                          const struct gambeson_message *message,
                                          const uint8_t *sk,
                                          size_t sk_len,
                                          const struct gambeson_randomness *randomness);

// Checks that the bytes are a private key whose parts belong together. `_sign` checks it, too.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_check_sk(const uint8_t *sk,
                                              size_t sk_len);

// Does what `_key_sign` does, with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa65_sign(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                          const struct gambeson_message *message,
                                          const uint8_t *sk,
                                          size_t sk_len,
                                          const struct gambeson_randomness *randomness);

// Checks that the bytes are a private key whose parts belong together. `_sign` checks it, too.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_check_sk(const uint8_t *sk,
                                              size_t sk_len);

// Does what `_key_sign` does, with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mldsa87_sign(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                          const struct gambeson_message *message,
                                          const uint8_t *sk,
                                          size_t sk_len,
                                          const struct gambeson_randomness *randomness);

// Makes a key of 32 bytes of randomness, the seed ξ: the private half in `key`, the public half in `vk` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_generate(struct gambeson_mldsa44_key *key,
                                                        uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                        const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_public(const struct gambeson_mldsa44_key *key,
                                                      uint8_t vk[GAMBESON_MLDSA44_VK_BYTES]);

// Signs, hedged by 32 bytes of randomness, `rnd`. 32 zero bytes as GAMBESON_RANDOMNESS_BYTES are the deterministic variant, where one
// message has one signature.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign), Algorithm 4 (HashML-DSA.Sign), and Algorithm 7 (ML-DSA.Sign_internal) from line 7 for μ. Errors:
// NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 3584.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign(const struct gambeson_mldsa44_key *key,
                                                    uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                    const struct gambeson_message *message,
                                                    const struct gambeson_randomness *randomness);

// Verifies a signature.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify), Algorithm 5 (HashML-DSA.Verify), and Algorithm 8 (ML-DSA.Verify_internal) from line 8 for μ.
// Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_verify(const uint8_t *signature,
                                                  size_t signature_len,
                                                  const struct gambeson_message *message,
                                                  const uint8_t *vk,
                                                  size_t vk_len);

// Makes a key of 32 bytes of randomness, the seed ξ: the private half in `key`, the public half in `vk` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_generate(struct gambeson_mldsa65_key *key,
                                                        uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                        const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_public(const struct gambeson_mldsa65_key *key,
                                                      uint8_t vk[GAMBESON_MLDSA65_VK_BYTES]);

// Signs, hedged by 32 bytes of randomness, `rnd`. 32 zero bytes as GAMBESON_RANDOMNESS_BYTES are the deterministic variant, where one
// message has one signature.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign), Algorithm 4 (HashML-DSA.Sign), and Algorithm 7 (ML-DSA.Sign_internal) from line 7 for μ. Errors:
// NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 4224.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign(const struct gambeson_mldsa65_key *key,
                                                    uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                    const struct gambeson_message *message,
                                                    const struct gambeson_randomness *randomness);

// Verifies a signature.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify), Algorithm 5 (HashML-DSA.Verify), and Algorithm 8 (ML-DSA.Verify_internal) from line 8 for μ.
// Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_verify(const uint8_t *signature,
                                                  size_t signature_len,
                                                  const struct gambeson_message *message,
                                                  const uint8_t *vk,
                                                  size_t vk_len);

// Makes a key of 32 bytes of randomness, the seed ξ: the private half in `key`, the public half in `vk` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen); of a stored seed Algorithm 6 (ML-DSA.KeyGen_internal). Errors: NULL, LENGTH, OVERLAP,
// RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_generate(struct gambeson_mldsa87_key *key,
                                                        uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                        const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 2560.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_public(const struct gambeson_mldsa87_key *key,
                                                      uint8_t vk[GAMBESON_MLDSA87_VK_BYTES]);

// Signs, hedged by 32 bytes of randomness, `rnd`. 32 zero bytes as GAMBESON_RANDOMNESS_BYTES are the deterministic variant, where one
// message has one signature.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign), Algorithm 4 (HashML-DSA.Sign), and Algorithm 7 (ML-DSA.Sign_internal) from line 7 for μ. Errors:
// NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 4480.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign(const struct gambeson_mldsa87_key *key,
                                                    uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                    const struct gambeson_message *message,
                                                    const struct gambeson_randomness *randomness);

// Verifies a signature.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify), Algorithm 5 (HashML-DSA.Verify), and Algorithm 8 (ML-DSA.Verify_internal) from line 8 for μ.
// Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 2432.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_verify(const uint8_t *signature,
                                                  size_t signature_len,
                                                  const struct gambeson_message *message,
                                                  const uint8_t *vk,
                                                  size_t vk_len);

// Checks that the bytes are a private key: of s1 and s2 every coefficient; t0 and tr are not made again. `_sign` checks it, too.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_check_sk(const uint8_t *sk,
                                                    size_t sk_len);

// Does what `_key_sign` does, with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 2816.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                const struct gambeson_message *message,
                                                const uint8_t *sk,
                                                size_t sk_len,
                                                const struct gambeson_randomness *randomness);

// Checks that the bytes are a private key: of s1 and s2 every coefficient; t0 and tr are not made again. `_sign` checks it, too.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_check_sk(const uint8_t *sk,
                                                    size_t sk_len);

// Does what `_key_sign` does, with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 3456.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                const struct gambeson_message *message,
                                                const uint8_t *sk,
                                                size_t sk_len,
                                                const struct gambeson_randomness *randomness);

// Checks that the bytes are a private key: of s1 and s2 every coefficient; t0 and tr are not made again. `_sign` checks it, too.
//
// FIPS 204, Algorithm 25 (skDecode). Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_check_sk(const uint8_t *sk,
                                                    size_t sk_len);

// Does what `_key_sign` does, with a key in the form of FIPS 204, which is checked first.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 3712.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                const struct gambeson_message *message,
                                                const uint8_t *sk,
                                                size_t sk_len,
                                                const struct gambeson_randomness *randomness);

// Does what `_key_generate` does, in a workspace.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_generate_in(struct gambeson_mldsa44_key *key,
                                                           uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                           const struct gambeson_randomness *randomness,
                                                           struct gambeson_small_mldsa44_workspace *workspace);

// Does what `_key_public` does, in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_public_in(const struct gambeson_mldsa44_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA44_VK_BYTES],
                                                         struct gambeson_small_mldsa44_workspace *workspace);

// Does what `_key_sign` does, in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_key_sign_in(const struct gambeson_mldsa44_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                       const struct gambeson_message *message,
                                                       const struct gambeson_randomness *randomness,
                                                       struct gambeson_small_mldsa44_workspace *workspace);

// Does what `_sign` does, in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_sign_in(uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES],
                                                   const struct gambeson_message *message,
                                                   const uint8_t *sk,
                                                   size_t sk_len,
                                                   const struct gambeson_randomness *randomness,
                                                   struct gambeson_small_mldsa44_workspace *workspace);

// Does what `_verify` does, in a workspace.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, OVERLAP, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa44_verify_in(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const struct gambeson_message *message,
                                                     const uint8_t *vk,
                                                     size_t vk_len,
                                                     struct gambeson_small_mldsa44_workspace *workspace);

// Does what `_key_generate` does, in a workspace.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_generate_in(struct gambeson_mldsa65_key *key,
                                                           uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                           const struct gambeson_randomness *randomness,
                                                           struct gambeson_small_mldsa65_workspace *workspace);

// Does what `_key_public` does, in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_public_in(const struct gambeson_mldsa65_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA65_VK_BYTES],
                                                         struct gambeson_small_mldsa65_workspace *workspace);

// Does what `_key_sign` does, in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_key_sign_in(const struct gambeson_mldsa65_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                       const struct gambeson_message *message,
                                                       const struct gambeson_randomness *randomness,
                                                       struct gambeson_small_mldsa65_workspace *workspace);

// Does what `_sign` does, in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_sign_in(uint8_t signature[GAMBESON_MLDSA65_SIGNATURE_BYTES],
                                                   const struct gambeson_message *message,
                                                   const uint8_t *sk,
                                                   size_t sk_len,
                                                   const struct gambeson_randomness *randomness,
                                                   struct gambeson_small_mldsa65_workspace *workspace);

// Does what `_verify` does, in a workspace.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, OVERLAP, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa65_verify_in(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const struct gambeson_message *message,
                                                     const uint8_t *vk,
                                                     size_t vk_len,
                                                     struct gambeson_small_mldsa65_workspace *workspace);

// Does what `_key_generate` does, in a workspace.
//
// FIPS 204, Algorithm 1 (ML-DSA.KeyGen). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_generate_in(struct gambeson_mldsa87_key *key,
                                                           uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                           const struct gambeson_randomness *randomness,
                                                           struct gambeson_small_mldsa87_workspace *workspace);

// Does what `_key_public` does, in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_public_in(const struct gambeson_mldsa87_key *key,
                                                         uint8_t vk[GAMBESON_MLDSA87_VK_BYTES],
                                                         struct gambeson_small_mldsa87_workspace *workspace);

// Does what `_key_sign` does, in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_key_sign_in(const struct gambeson_mldsa87_key *key,
                                                       uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                       const struct gambeson_message *message,
                                                       const struct gambeson_randomness *randomness,
                                                       struct gambeson_small_mldsa87_workspace *workspace);

// Does what `_sign` does, in a workspace.
//
// FIPS 204, Algorithm 2 (ML-DSA.Sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_sign_in(uint8_t signature[GAMBESON_MLDSA87_SIGNATURE_BYTES],
                                                   const struct gambeson_message *message,
                                                   const uint8_t *sk,
                                                   size_t sk_len,
                                                   const struct gambeson_randomness *randomness,
                                                   struct gambeson_small_mldsa87_workspace *workspace);

// Does what `_verify` does, in a workspace.
//
// FIPS 204, Algorithm 3 (ML-DSA.Verify). Errors: NULL, LENGTH, OVERLAP, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR.
// Stack on a Cortex-M4: at most 832.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mldsa87_verify_in(const uint8_t *signature,
                                                     size_t signature_len,
                                                     const struct gambeson_message *message,
                                                     const uint8_t *vk,
                                                     size_t vk_len,
                                                     struct gambeson_small_mldsa87_workspace *workspace);

// Copies out the seed of a key: 64 secret bytes to store.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_seed(const struct gambeson_mlkem512_key *key,
                                               uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// Checks that the bytes are an encapsulation key. The encapsulation checks it, too.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_check_ek(const uint8_t *ek,
                                               size_t ek_len);

// Checks that the bytes are a decapsulation key. The decapsulation checks it, too.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_check_dk(const uint8_t *dk,
                                               size_t dk_len);

// Copies out the seed of a key: 64 secret bytes to store.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_seed(const struct gambeson_mlkem768_key *key,
                                               uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// Checks that the bytes are an encapsulation key. The encapsulation checks it, too.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_check_ek(const uint8_t *ek,
                                               size_t ek_len);

// Checks that the bytes are a decapsulation key. The decapsulation checks it, too.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_check_dk(const uint8_t *dk,
                                               size_t dk_len);

// Copies out the seed of a key: 64 secret bytes to store.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_seed(const struct gambeson_mlkem1024_key *key,
                                                uint8_t seed[GAMBESON_MLKEM_SEED_BYTES]);

// Checks that the bytes are an encapsulation key. The encapsulation checks it, too.
//
// FIPS 203, §7.2. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_check_ek(const uint8_t *ek,
                                                size_t ek_len);

// Checks that the bytes are a decapsulation key. The decapsulation checks it, too.
//
// FIPS 203, §7.3, and §7.2 for the encapsulation key inside. Errors: NULL, LENGTH, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_check_dk(const uint8_t *dk,
                                                size_t dk_len);

// Makes a key of 64 bytes of randomness, the seed d ‖ z: the private half in `key`, the public half in `ek` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_generate(struct gambeson_mlkem512_key *key,
                                                   uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                   const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_public(const struct gambeson_mlkem512_key *key,
                                                 uint8_t ek[GAMBESON_MLKEM512_EK_BYTES]);

// Makes the shared secret that a ciphertext carries. A ciphertext that no encapsulation made is no error: its secret is one that
// nobody else knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_key_decapsulate(const struct gambeson_mlkem512_key *key,
                                                      uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                      const uint8_t *ciphertext,
                                                      size_t ciphertext_len);

// Makes a shared secret of 32 bytes of randomness, and the ciphertext that carries it to the holder of the private half.
// GAMBESON_RANDOMNESS_BYTES gives the coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps); of given coins Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP,
// KEY, RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                  uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                  const uint8_t *ek,
                                                  size_t ek_len,
                                                  const struct gambeson_randomness *randomness);

// Does what `_key_decapsulate` does, with a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                  const uint8_t *ciphertext,
                                                  size_t ciphertext_len,
                                                  const uint8_t *dk,
                                                  size_t dk_len);

// Makes a key of 64 bytes of randomness, the seed d ‖ z: the private half in `key`, the public half in `ek` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_generate(struct gambeson_mlkem768_key *key,
                                                   uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                   const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_public(const struct gambeson_mlkem768_key *key,
                                                 uint8_t ek[GAMBESON_MLKEM768_EK_BYTES]);

// Makes the shared secret that a ciphertext carries. A ciphertext that no encapsulation made is no error: its secret is one that
// nobody else knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_key_decapsulate(const struct gambeson_mlkem768_key *key,
                                                      uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                      const uint8_t *ciphertext,
                                                      size_t ciphertext_len);

// Makes a shared secret of 32 bytes of randomness, and the ciphertext that carries it to the holder of the private half.
// GAMBESON_RANDOMNESS_BYTES gives the coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps); of given coins Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP,
// KEY, RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                  uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                  const uint8_t *ek,
                                                  size_t ek_len,
                                                  const struct gambeson_randomness *randomness);

// Does what `_key_decapsulate` does, with a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                  const uint8_t *ciphertext,
                                                  size_t ciphertext_len,
                                                  const uint8_t *dk,
                                                  size_t dk_len);

// Makes a key of 64 bytes of randomness, the seed d ‖ z: the private half in `key`, the public half in `ek` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_generate(struct gambeson_mlkem1024_key *key,
                                                    uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                    const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_public(const struct gambeson_mlkem1024_key *key,
                                                  uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES]);

// Makes the shared secret that a ciphertext carries. A ciphertext that no encapsulation made is no error: its secret is one that
// nobody else knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_key_decapsulate(const struct gambeson_mlkem1024_key *key,
                                                       uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                       const uint8_t *ciphertext,
                                                       size_t ciphertext_len);

// Makes a shared secret of 32 bytes of randomness, and the ciphertext that carries it to the holder of the private half.
// GAMBESON_RANDOMNESS_BYTES gives the coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps); of given coins Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP,
// KEY, RANDOM, STATE, DESCRIPTOR.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                   uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                   const uint8_t *ek,
                                                   size_t ek_len,
                                                   const struct gambeson_randomness *randomness);

// Does what `_key_decapsulate` does, with a key in the form of FIPS 203, which is checked first.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, KEY.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_decapsulate(uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                   const uint8_t *ciphertext,
                                                   size_t ciphertext_len,
                                                   const uint8_t *dk,
                                                   size_t dk_len);

// Makes both keys in the forms of FIPS 203, of 64 bytes of randomness, the seed d ‖ z.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem512_keypair(uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                              uint8_t dk[GAMBESON_MLKEM512_DK_BYTES],
                                              const struct gambeson_randomness *randomness);

// Makes both keys in the forms of FIPS 203, of 64 bytes of randomness, the seed d ‖ z.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem768_keypair(uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                              uint8_t dk[GAMBESON_MLKEM768_DK_BYTES],
                                              const struct gambeson_randomness *randomness);

// Makes both keys in the forms of FIPS 203, of 64 bytes of randomness, the seed d ‖ z.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
GAMBESON_HOSTED
GAMBESON_MUST_USE
enum gambeson_error gambeson_mlkem1024_keypair(uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                               uint8_t dk[GAMBESON_MLKEM1024_DK_BYTES],
                                               const struct gambeson_randomness *randomness);

// Makes a key of 64 bytes of randomness, the seed d ‖ z: the private half in `key`, the public half in `ek` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_generate(struct gambeson_mlkem512_key *key,
                                                         uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                         const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_public(const struct gambeson_mlkem512_key *key,
                                                       uint8_t ek[GAMBESON_MLKEM512_EK_BYTES]);

// Makes the shared secret that a ciphertext carries. A ciphertext that no encapsulation made is no error: its secret is one that
// nobody else knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
// Stack on a Cortex-M4: at most 2240.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_decapsulate(const struct gambeson_mlkem512_key *key,
                                                            uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                            const uint8_t *ciphertext,
                                                            size_t ciphertext_len);

// Makes a shared secret of 32 bytes of randomness, and the ciphertext that carries it to the holder of the private half.
// GAMBESON_RANDOMNESS_BYTES gives the coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps); of given coins Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP,
// KEY, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 1728.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                        uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                        const uint8_t *ek,
                                                        size_t ek_len,
                                                        const struct gambeson_randomness *randomness);

// Does what `_key_decapsulate` does, with a key in the form of FIPS 203, which is checked first.
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

// Makes a key of 64 bytes of randomness, the seed d ‖ z: the private half in `key`, the public half in `ek` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_generate(struct gambeson_mlkem768_key *key,
                                                         uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                         const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_public(const struct gambeson_mlkem768_key *key,
                                                       uint8_t ek[GAMBESON_MLKEM768_EK_BYTES]);

// Makes the shared secret that a ciphertext carries. A ciphertext that no encapsulation made is no error: its secret is one that
// nobody else knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
// Stack on a Cortex-M4: at most 2240.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_decapsulate(const struct gambeson_mlkem768_key *key,
                                                            uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                            const uint8_t *ciphertext,
                                                            size_t ciphertext_len);

// Makes a shared secret of 32 bytes of randomness, and the ciphertext that carries it to the holder of the private half.
// GAMBESON_RANDOMNESS_BYTES gives the coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps); of given coins Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP,
// KEY, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 1792.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                        uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                        const uint8_t *ek,
                                                        size_t ek_len,
                                                        const struct gambeson_randomness *randomness);

// Does what `_key_decapsulate` does, with a key in the form of FIPS 203, which is checked first.
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

// Makes a key of 64 bytes of randomness, the seed d ‖ z: the private half in `key`, the public half in `ek` unless that is null.
// GAMBESON_RANDOMNESS_BYTES gives the key of a stored seed.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen); of a stored seed Algorithm 16 (ML-KEM.KeyGen_internal). Errors: NULL, LENGTH,
// OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_generate(struct gambeson_mlkem1024_key *key,
                                                          uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                          const struct gambeson_randomness *randomness);

// Makes the public half of a key again.
//
// Errors: NULL, OVERLAP.
// Stack on a Cortex-M4: at most 1280.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_public(const struct gambeson_mlkem1024_key *key,
                                                        uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES]);

// Makes the shared secret that a ciphertext carries. A ciphertext that no encapsulation made is no error: its secret is one that
// nobody else knows.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP.
// Stack on a Cortex-M4: at most 2240.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_decapsulate(const struct gambeson_mlkem1024_key *key,
                                                             uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                             const uint8_t *ciphertext,
                                                             size_t ciphertext_len);

// Makes a shared secret of 32 bytes of randomness, and the ciphertext that carries it to the holder of the private half.
// GAMBESON_RANDOMNESS_BYTES gives the coins, which must be random, secret and used once.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps); of given coins Algorithm 17 (ML-KEM.Encaps_internal). Errors: NULL, LENGTH, OVERLAP,
// KEY, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 1728.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_encapsulate(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                         uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                         const uint8_t *ek,
                                                         size_t ek_len,
                                                         const struct gambeson_randomness *randomness);

// Does what `_key_decapsulate` does, with a key in the form of FIPS 203, which is checked first.
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

// Does what `_key_generate` does, in a workspace.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_generate_in(struct gambeson_mlkem512_key *key,
                                                            uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                            const struct gambeson_randomness *randomness,
                                                            struct gambeson_small_mlkem512_workspace *workspace);

// Does what `_key_public` does, in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_public_in(const struct gambeson_mlkem512_key *key,
                                                          uint8_t ek[GAMBESON_MLKEM512_EK_BYTES],
                                                          struct gambeson_small_mlkem512_workspace *workspace);

// Does what `_key_decapsulate` does, in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_key_decapsulate_in(const struct gambeson_mlkem512_key *key,
                                                               uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                               const uint8_t *ciphertext,
                                                               size_t ciphertext_len,
                                                               struct gambeson_small_mlkem512_workspace *workspace);

// Does what `_encapsulate` does, in a workspace.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem512_encapsulate_in(uint8_t ciphertext[GAMBESON_MLKEM512_CIPHERTEXT_BYTES],
                                                           uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                           const uint8_t *ek,
                                                           size_t ek_len,
                                                           const struct gambeson_randomness *randomness,
                                                           struct gambeson_small_mlkem512_workspace *workspace);

// Does what `_decapsulate` does, in a workspace.
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

// Does what `_key_generate` does, in a workspace.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_generate_in(struct gambeson_mlkem768_key *key,
                                                            uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                            const struct gambeson_randomness *randomness,
                                                            struct gambeson_small_mlkem768_workspace *workspace);

// Does what `_key_public` does, in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_public_in(const struct gambeson_mlkem768_key *key,
                                                          uint8_t ek[GAMBESON_MLKEM768_EK_BYTES],
                                                          struct gambeson_small_mlkem768_workspace *workspace);

// Does what `_key_decapsulate` does, in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_key_decapsulate_in(const struct gambeson_mlkem768_key *key,
                                                               uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                               const uint8_t *ciphertext,
                                                               size_t ciphertext_len,
                                                               struct gambeson_small_mlkem768_workspace *workspace);

// Does what `_encapsulate` does, in a workspace.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem768_encapsulate_in(uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES],
                                                           uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                           const uint8_t *ek,
                                                           size_t ek_len,
                                                           const struct gambeson_randomness *randomness,
                                                           struct gambeson_small_mlkem768_workspace *workspace);

// Does what `_decapsulate` does, in a workspace.
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

// Does what `_key_generate` does, in a workspace.
//
// FIPS 203, Algorithm 19 (ML-KEM.KeyGen). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_generate_in(struct gambeson_mlkem1024_key *key,
                                                             uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                             const struct gambeson_randomness *randomness,
                                                             struct gambeson_small_mlkem1024_workspace *workspace);

// Does what `_key_public` does, in a workspace.
//
// Errors: NULL, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_public_in(const struct gambeson_mlkem1024_key *key,
                                                           uint8_t ek[GAMBESON_MLKEM1024_EK_BYTES],
                                                           struct gambeson_small_mlkem1024_workspace *workspace);

// Does what `_key_decapsulate` does, in a workspace.
//
// FIPS 203, Algorithm 21 (ML-KEM.Decaps). Errors: NULL, LENGTH, OVERLAP, STATE.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_key_decapsulate_in(const struct gambeson_mlkem1024_key *key,
                                                                uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                                const uint8_t *ciphertext,
                                                                size_t ciphertext_len,
                                                                struct gambeson_small_mlkem1024_workspace *workspace);

// Does what `_encapsulate` does, in a workspace.
//
// FIPS 203, Algorithm 20 (ML-KEM.Encaps). Errors: NULL, LENGTH, OVERLAP, KEY, RANDOM, STATE, DESCRIPTOR.
// Stack on a Cortex-M4: at most 640.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_small_mlkem1024_encapsulate_in(uint8_t ciphertext[GAMBESON_MLKEM1024_CIPHERTEXT_BYTES],
                                                            uint8_t shared[GAMBESON_MLKEM_SHARED_BYTES],
                                                            const uint8_t *ek,
                                                            size_t ek_len,
                                                            const struct gambeson_randomness *randomness,
                                                            struct gambeson_small_mlkem1024_workspace *workspace);

// Does what `_decapsulate` does, in a workspace.
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

// Makes both keys of `set`, one of gambeson_slhdsa, of GAMBESON_SLHDSA_…_SEED_BYTES of randomness. `sk` is to be stored; its second half is `vk`.
//
// FIPS 205, Algorithm 21 (slh_keygen); of given bytes Algorithm 18 (slh_keygen_internal). Errors: NULL, LENGTH, OVERLAP, RANDOM, STATE,
// DESCRIPTOR, SET.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_slhdsa_keypair(int set,
                                            uint8_t *vk,
                                            size_t vk_len,
                                            uint8_t *sk,
                                            size_t sk_len,
                                            const struct gambeson_randomness *randomness);

// Signs, hedged by GAMBESON_SLHDSA_…_RND_BYTES of randomness. PK.seed, the first half of vk, as GAMBESON_RANDOMNESS_BYTES is the deterministic
// variant, where one message has one signature. `sk` is checked first, which takes the time of a key generation: an eighth of the whole for
// sets in S, a twentieth for those in F.
//
// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign). Errors: NULL, LENGTH, OVERLAP, KEY, CONTEXT, RANDOM, STATE, PREHASH,
// DESCRIPTOR, SET.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_slhdsa_sign(int set,
                                         uint8_t *signature,
                                         size_t signature_len,
                                         const struct gambeson_message *message,
                                         const uint8_t *sk,
                                         size_t sk_len,
                                         const struct gambeson_randomness *randomness);

// Verifies a signature.
//
// FIPS 205, Algorithm 24 (slh_verify) and Algorithm 25 (hash_slh_verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR,
// SET.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_slhdsa_verify(int set,
                                           const uint8_t *signature,
                                           size_t signature_len,
                                           const struct gambeson_message *message,
                                           const uint8_t *vk,
                                           size_t vk_len);

// Verifies a signature by LMS, of which `read` gives one piece after the other: at most 32 bytes on a processor of 32 bits. Bytes behind the
// signature are not read.
//
// RFC 8554, Algorithm 6. Errors: NULL, LENGTH, KEY, SIGNATURE, READ.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_lms_verify_streamed(gambeson_read read,
                                                 void *ctx,
                                                 const uint8_t *message,
                                                 size_t message_len,
                                                 const uint8_t *vk,
                                                 size_t vk_len);

// Verifies a signature by HSS, as gambeson_lms_verify_streamed. The key of each lower tree stands behind its signature, and is read before it.
//
// RFC 8554, §6.3. Errors: NULL, LENGTH, KEY, SIGNATURE, READ.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_hss_verify_streamed(gambeson_read read,
                                                 void *ctx,
                                                 const uint8_t *message,
                                                 size_t message_len,
                                                 const uint8_t *vk,
                                                 size_t vk_len);

// Verifies a signature by XMSS, of which `read` gives one piece after the other: at most 64 bytes. Bytes behind the signature are not read.
//
// RFC 8391, Algorithm 14 (XMSS_verify). Errors: NULL, LENGTH, KEY, SIGNATURE, READ.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_xmss_verify_streamed(gambeson_read read,
                                                  void *ctx,
                                                  const uint8_t *message,
                                                  size_t message_len,
                                                  const uint8_t *vk,
                                                  size_t vk_len);

// Verifies a signature by XMSS^MT, as gambeson_xmss_verify_streamed.
//
// RFC 8391, Algorithm 17 (XMSSMT_verify). Errors: NULL, LENGTH, KEY, SIGNATURE, READ.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_xmssmt_verify_streamed(gambeson_read read,
                                                    void *ctx,
                                                    const uint8_t *message,
                                                    size_t message_len,
                                                    const uint8_t *vk,
                                                    size_t vk_len);

// Verifies a signature by SLH-DSA, of which `read` gives one piece after the other: at most 32 bytes. Bytes behind the signature are not read.
//
// FIPS 205, Algorithm 24 (slh_verify) and Algorithm 25 (hash_slh_verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR,
// SET, READ.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_slhdsa_verify_streamed(int set,
                                                    gambeson_read read,
                                                    void *ctx,
                                                    const struct gambeson_message *message,
                                                    const uint8_t *vk,
                                                    size_t vk_len);

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

// Verifies a signature by XMSS, with every set of RFC 8391 and SP 800-208. A key with an unknown OID is refused.
//
// RFC 8391, Algorithm 14 (XMSS_verify). Errors: NULL, LENGTH, KEY, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_xmss_verify(const uint8_t *signature,
                                         size_t signature_len,
                                         const uint8_t *message,
                                         size_t message_len,
                                         const uint8_t *vk,
                                         size_t vk_len);

// Verifies a signature by XMSS^MT, whose OIDs are counted apart from those of XMSS.
//
// RFC 8391, Algorithm 17 (XMSSMT_verify). Errors: NULL, LENGTH, KEY, SIGNATURE.
GAMBESON_API
GAMBESON_MUST_USE
enum gambeson_error gambeson_xmssmt_verify(const uint8_t *signature,
                                           size_t signature_len,
                                           const uint8_t *message,
                                           size_t message_len,
                                           const uint8_t *vk,
                                           size_t vk_len);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

// Functions that fill a structure; they call nothing.

// The message itself, in a context; each may be null if it has no bytes.
static inline gambeson_message gambeson_message_pure(const uint8_t *message,
                                                     size_t len,
                                                     const uint8_t *context,
                                                     size_t context_len)
{
    gambeson_message described;
    described.kind = GAMBESON_MESSAGE_PURE;
    described.prehash = 0;
    described.data = message;
    described.len = len;
    described.context = context;
    described.context_len = context_len;
    return described;
}

// A digest that `prehash`, one of gambeson_prehash, made of the message, in a context: HashML-DSA and HashSLH-DSA.
static inline gambeson_message gambeson_message_prehashed(int prehash,
                                                          const uint8_t *digest,
                                                          size_t len,
                                                          const uint8_t *context,
                                                          size_t context_len)
{
    gambeson_message described = gambeson_message_pure(digest, len, context, context_len);
    described.kind = GAMBESON_MESSAGE_PREHASHED;
    described.prehash = prehash;
    return described;
}

// The message representative of a message in pieces, GAMBESON_MLDSA_MU_BYTES.
static inline gambeson_message gambeson_message_mu(const uint8_t *mu)
{
    gambeson_message described = gambeson_message_pure(mu, GAMBESON_MLDSA_MU_BYTES, NULL, 0);
    described.kind = GAMBESON_MESSAGE_MU;
    return described;
}

// The randomness of a function of the caller's.
static inline gambeson_randomness gambeson_randomness_callback(gambeson_fill fill,
                                                               void *ctx)
{
    gambeson_randomness described;
    described.kind = GAMBESON_RANDOMNESS_CALLBACK;
    described.fill = fill;
    described.ctx = ctx;
    described.bytes = NULL;
    described.len = 0;
    return described;
}

// Given bytes: a stored seed, coins, `rnd`.
static inline gambeson_randomness gambeson_randomness_bytes(const uint8_t *bytes,
                                                            size_t len)
{
    gambeson_randomness described = gambeson_randomness_callback(NULL, NULL);
    described.kind = GAMBESON_RANDOMNESS_BYTES;
    described.bytes = bytes;
    described.len = len;
    return described;
}

#endif  /* GAMBESON_H */
