//! Sizes in bytes, as C's compiler wants them; each is compared with the core's where its set is listed.

/// The seed d ‖ z of an ML-KEM key, for every set: what to store.
pub const GAMBESON_MLKEM_SEED_BYTES: usize = 64;
/// The randomness of an encapsulation.
pub const GAMBESON_MLKEM_COINS_BYTES: usize = 32;
/// A shared secret.
pub const GAMBESON_MLKEM_SHARED_BYTES: usize = 32;
/// An encapsulation key.
pub const GAMBESON_MLKEM512_EK_BYTES: usize = 800;
/// A decapsulation key in the form of FIPS 203: dk_PKE ‖ ek ‖ H(ek) ‖ z.
pub const GAMBESON_MLKEM512_DK_BYTES: usize = 1632;
/// A ciphertext.
pub const GAMBESON_MLKEM512_CIPHERTEXT_BYTES: usize = 768;
/// The workspace of calls that end in `_in`.
pub const GAMBESON_SMALL_MLKEM512_WORKSPACE_BYTES: usize = 1840;
/// An encapsulation key.
pub const GAMBESON_MLKEM768_EK_BYTES: usize = 1184;
/// A decapsulation key in the form of FIPS 203: dk_PKE ‖ ek ‖ H(ek) ‖ z.
pub const GAMBESON_MLKEM768_DK_BYTES: usize = 2400;
/// A ciphertext.
pub const GAMBESON_MLKEM768_CIPHERTEXT_BYTES: usize = 1088;
/// The workspace of calls that end in `_in`.
pub const GAMBESON_SMALL_MLKEM768_WORKSPACE_BYTES: usize = 1840;
/// An encapsulation key.
pub const GAMBESON_MLKEM1024_EK_BYTES: usize = 1568;
/// A decapsulation key in the form of FIPS 203: dk_PKE ‖ ek ‖ H(ek) ‖ z.
pub const GAMBESON_MLKEM1024_DK_BYTES: usize = 3168;
/// A ciphertext.
pub const GAMBESON_MLKEM1024_CIPHERTEXT_BYTES: usize = 1568;
/// The workspace of calls that end in `_in`.
pub const GAMBESON_SMALL_MLKEM1024_WORKSPACE_BYTES: usize = 1840;

/// The seed ξ of an ML-DSA key, for every set: what to store.
pub const GAMBESON_MLDSA_SEED_BYTES: usize = 32;
/// The randomness of a signature.
pub const GAMBESON_MLDSA_RND_BYTES: usize = 32;
/// The message representative μ.
pub const GAMBESON_MLDSA_MU_BYTES: usize = 64;
/// The longest context string.
pub const GAMBESON_MLDSA_CONTEXT_MAX_BYTES: usize = 255;
/// The longest digest of HashML-DSA.
pub const GAMBESON_PREHASH_MAX_BYTES: usize = 64;
/// A digest of SHA-256.
pub const GAMBESON_PREHASH_SHA2_256_BYTES: usize = 32;
/// A digest of SHA-384.
pub const GAMBESON_PREHASH_SHA2_384_BYTES: usize = 48;
/// A digest of SHA-512.
pub const GAMBESON_PREHASH_SHA2_512_BYTES: usize = 64;
/// A digest of SHA-224.
pub const GAMBESON_PREHASH_SHA2_224_BYTES: usize = 28;
/// A digest of SHA-512/224.
pub const GAMBESON_PREHASH_SHA2_512_224_BYTES: usize = 28;
/// A digest of SHA-512/256.
pub const GAMBESON_PREHASH_SHA2_512_256_BYTES: usize = 32;
/// A public key of a set of SLH-DSA-…-128: PK.seed ‖ PK.root.
pub const GAMBESON_SLHDSA_128_VK_BYTES: usize = 32;
/// A private key: SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root, whose second half is the public key.
pub const GAMBESON_SLHDSA_128_SK_BYTES: usize = 64;
/// The randomness of a key: SK.seed ‖ SK.prf ‖ PK.seed.
pub const GAMBESON_SLHDSA_128_SEED_BYTES: usize = 48;
/// The randomness of a signature, opt_rand.
pub const GAMBESON_SLHDSA_128_RND_BYTES: usize = 16;
/// A public key of a set of SLH-DSA-…-192: PK.seed ‖ PK.root.
pub const GAMBESON_SLHDSA_192_VK_BYTES: usize = 48;
/// A private key: SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root, whose second half is the public key.
pub const GAMBESON_SLHDSA_192_SK_BYTES: usize = 96;
/// The randomness of a key: SK.seed ‖ SK.prf ‖ PK.seed.
pub const GAMBESON_SLHDSA_192_SEED_BYTES: usize = 72;
/// The randomness of a signature, opt_rand.
pub const GAMBESON_SLHDSA_192_RND_BYTES: usize = 24;
/// A public key of a set of SLH-DSA-…-256: PK.seed ‖ PK.root.
pub const GAMBESON_SLHDSA_256_VK_BYTES: usize = 64;
/// A private key: SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root, whose second half is the public key.
pub const GAMBESON_SLHDSA_256_SK_BYTES: usize = 128;
/// The randomness of a key: SK.seed ‖ SK.prf ‖ PK.seed.
pub const GAMBESON_SLHDSA_256_SEED_BYTES: usize = 96;
/// The randomness of a signature, opt_rand.
pub const GAMBESON_SLHDSA_256_RND_BYTES: usize = 32;
/// A signature.
pub const GAMBESON_SLHDSA_128S_SIGNATURE_BYTES: usize = 7856;
/// A signature.
pub const GAMBESON_SLHDSA_128F_SIGNATURE_BYTES: usize = 17_088;
/// A signature.
pub const GAMBESON_SLHDSA_192S_SIGNATURE_BYTES: usize = 16_224;
/// A signature.
pub const GAMBESON_SLHDSA_192F_SIGNATURE_BYTES: usize = 35_664;
/// A signature.
pub const GAMBESON_SLHDSA_256S_SIGNATURE_BYTES: usize = 29_792;
/// A signature.
pub const GAMBESON_SLHDSA_256F_SIGNATURE_BYTES: usize = 49_856;

/// A digest of SHA3-224.
pub const GAMBESON_PREHASH_SHA3_224_BYTES: usize = 28;
/// A digest of SHA3-256.
pub const GAMBESON_PREHASH_SHA3_256_BYTES: usize = 32;
/// A digest of SHA3-384.
pub const GAMBESON_PREHASH_SHA3_384_BYTES: usize = 48;
/// A digest of SHA3-512.
pub const GAMBESON_PREHASH_SHA3_512_BYTES: usize = 64;
/// A digest of SHAKE128 for HashML-DSA.
pub const GAMBESON_PREHASH_SHAKE128_BYTES: usize = 32;
/// A digest of SHAKE256 for HashML-DSA.
pub const GAMBESON_PREHASH_SHAKE256_BYTES: usize = 64;
/// A public key.
pub const GAMBESON_MLDSA44_VK_BYTES: usize = 1312;
/// A private key in the form of FIPS 204.
pub const GAMBESON_MLDSA44_SK_BYTES: usize = 2560;
/// A signature.
pub const GAMBESON_MLDSA44_SIGNATURE_BYTES: usize = 2420;
/// The workspace of calls that end in `_in`.
pub const GAMBESON_SMALL_MLDSA44_WORKSPACE_BYTES: usize = 3008;
/// A public key.
pub const GAMBESON_MLDSA65_VK_BYTES: usize = 1952;
/// A private key in the form of FIPS 204.
pub const GAMBESON_MLDSA65_SK_BYTES: usize = 4032;
/// A signature.
pub const GAMBESON_MLDSA65_SIGNATURE_BYTES: usize = 3309;
/// The workspace of calls that end in `_in`.
pub const GAMBESON_SMALL_MLDSA65_WORKSPACE_BYTES: usize = 3656;
/// A public key.
pub const GAMBESON_MLDSA87_VK_BYTES: usize = 2592;
/// A private key in the form of FIPS 204.
pub const GAMBESON_MLDSA87_SK_BYTES: usize = 4896;
/// A signature.
pub const GAMBESON_MLDSA87_SIGNATURE_BYTES: usize = 4627;
/// The workspace of calls that end in `_in`.
pub const GAMBESON_SMALL_MLDSA87_WORKSPACE_BYTES: usize = 3912;

/// A digest of SHA3-224.
pub const GAMBESON_SHA3_224_BYTES: usize = 28;
/// A digest of SHA3-256.
pub const GAMBESON_SHA3_256_BYTES: usize = 32;
/// A digest of SHA3-384.
pub const GAMBESON_SHA3_384_BYTES: usize = 48;
/// A digest of SHA3-512.
pub const GAMBESON_SHA3_512_BYTES: usize = 64;

/// The version of this header: major.
pub const GAMBESON_VERSION_MAJOR: usize = 0;
/// The version of this header: minor.
pub const GAMBESON_VERSION_MINOR: usize = 1;
/// The version of this header: patch.
pub const GAMBESON_VERSION_PATCH: usize = 0;
