/* wolfSSL behind plain functions: the sizes of its structures, its macros and its build options stay on this side.
 *
 * Every function returns 0, or the library's error. Keys are opaque; `*_reset` scrubs one and makes it ready for the
 * next import, so that a form which imports each time pays for Init and Free, but not for allocating the object. */

#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/cpuid.h>
#include <wolfssl/wolfcrypt/random.h>
#include <wolfssl/wolfcrypt/wc_mldsa.h>
#include <wolfssl/wolfcrypt/wc_mlkem.h>

#include <stdlib.h>

#ifndef WOLFSSL_MLKEM_CACHE_A
#error "ML-KEM keys must keep the matrix"
#endif
#if !defined(WC_MLDSA_CACHE_MATRIX_A) || !defined(WC_MLDSA_CACHE_PRIV_VECTORS) || !defined(WC_MLDSA_CACHE_PUB_VECTORS)
#error "ML-DSA keys must keep the matrix and the vectors"
#endif
#if defined(WOLFSSL_MLDSA_SIGN_CHECK_Y) || defined(WOLFSSL_MLDSA_SIGN_CHECK_W0)
#error "these options do not conform to FIPS 204"
#endif

/* 0 for neither, 2 for AVX2 with BMI2, 3 for AVX-512 (F and BW) too: what the library will choose. */
int bench_wolfssl_level(void) {
    cpuid_flags_t flags = cpuid_get_flags();
    if (!IS_INTEL_AVX2(flags) || !IS_INTEL_BMI2(flags)) return 0;
    return USE_INTEL_AVX512(flags) ? 3 : 2;
}

/* To be called before anything else: each file of the library remembers the flags at its first use. */
void bench_wolfssl_without_avx512(void) {
    /* Clearing does not detect: without this, all the other flags would count as set. */
    (void)cpuid_get_flags();
    cpuid_clear_flag(CPUID_AVX512 | CPUID_AVX512_VBMI | CPUID_AVX512_VBMI2 | CPUID_AVX512_IFMA | CPUID_AVX512_VL
                     | CPUID_AVX512_DQ | CPUID_AVX512_BW);
}

/* The library's generator, seeded by the operating system. */
WC_RNG *bench_wolfssl_rng_new(void) {
    WC_RNG *rng = malloc(sizeof(*rng));
    if (rng == NULL || wc_InitRng(rng) == 0) return rng;
    free(rng);
    return NULL;
}

void bench_wolfssl_rng_delete(WC_RNG *rng) {
    (void)wc_FreeRng(rng);
    free(rng);
}

/* k is 2, 3 or 4. */
struct kem {
    MlKemKey key;
    int type;
};

void *bench_wolfssl_kem_new(int k) {
    static const int types[] = {WC_ML_KEM_512, WC_ML_KEM_768, WC_ML_KEM_1024};
    struct kem *it;
    if (k < 2 || k > 4 || posix_memalign((void **)&it, 64, sizeof(*it)) != 0) return NULL;
    it->type = types[k - 2];
    if (wc_MlKemKey_Init(&it->key, it->type, NULL, INVALID_DEVID) == 0) return it;
    free(it);
    return NULL;
}

void bench_wolfssl_kem_delete(struct kem *it) {
    wc_MlKemKey_Free(&it->key);
    free(it);
}

int bench_wolfssl_kem_reset(struct kem *it) {
    wc_MlKemKey_Free(&it->key);
    return wc_MlKemKey_Init(&it->key, it->type, NULL, INVALID_DEVID);
}

int bench_wolfssl_kem_export(struct kem *it, unsigned char *public_key, size_t public_len, unsigned char *private_key,
                             size_t private_len) {
    int error = wc_MlKemKey_EncodePublicKey(&it->key, public_key, (word32)public_len);
    if (error == 0 && private_len != 0)
        error = wc_MlKemKey_EncodePrivateKey(&it->key, private_key, (word32)private_len);
    return error;
}

int bench_wolfssl_kem_generate(struct kem *it, const unsigned char *seed, unsigned char *public_key,
                               size_t public_len, unsigned char *private_key, size_t private_len) {
    int error = wc_MlKemKey_MakeKeyWithRandom(&it->key, seed, WC_ML_KEM_MAKEKEY_RAND_SZ);
    return error != 0 ? error : bench_wolfssl_kem_export(it, public_key, public_len, private_key, private_len);
}

int bench_wolfssl_kem_make(struct kem *it, WC_RNG *rng) { return wc_MlKemKey_MakeKey(&it->key, rng); }

int bench_wolfssl_kem_import_public(struct kem *it, const unsigned char *bytes, size_t len) {
    return wc_MlKemKey_DecodePublicKey(&it->key, bytes, (word32)len);
}

int bench_wolfssl_kem_import_private(struct kem *it, const unsigned char *bytes, size_t len) {
    return wc_MlKemKey_DecodePrivateKey(&it->key, bytes, (word32)len);
}

int bench_wolfssl_kem_encapsulate(struct kem *it, const unsigned char *m, unsigned char *ciphertext,
                                  unsigned char *secret) {
    return wc_MlKemKey_EncapsulateWithRandom(&it->key, ciphertext, secret, m, WC_ML_KEM_ENC_RAND_SZ);
}

int bench_wolfssl_kem_encapsulate_random(struct kem *it, unsigned char *ciphertext, unsigned char *secret, WC_RNG *rng) {
    return wc_MlKemKey_Encapsulate(&it->key, ciphertext, secret, rng);
}

int bench_wolfssl_kem_decapsulate(struct kem *it, const unsigned char *ciphertext, size_t len,
                                  unsigned char *secret) {
    return wc_MlKemKey_Decapsulate(&it->key, secret, ciphertext, (word32)len);
}

/* level is 44, 65 or 87. */
struct dsa {
    wc_MlDsaKey key;
    int level;
};

static int dsa_init(struct dsa *it) {
    int error = wc_MlDsaKey_Init(&it->key, NULL, INVALID_DEVID);
    byte level = it->level == 44 ? WC_ML_DSA_44 : it->level == 65 ? WC_ML_DSA_65 : WC_ML_DSA_87;
    return error != 0 ? error : wc_MlDsaKey_SetParams(&it->key, level);
}

void *bench_wolfssl_dsa_new(int level) {
    struct dsa *it;
    if (posix_memalign((void **)&it, 64, sizeof(*it)) != 0) return NULL;
    it->level = level;
    if (dsa_init(it) == 0) return it;
    free(it);
    return NULL;
}

void bench_wolfssl_dsa_delete(struct dsa *it) {
    wc_MlDsaKey_Free(&it->key);
    free(it);
}

int bench_wolfssl_dsa_reset(struct dsa *it) {
    wc_MlDsaKey_Free(&it->key);
    return dsa_init(it);
}

int bench_wolfssl_dsa_generate(struct dsa *it, const unsigned char *seed) {
    return wc_MlDsaKey_MakeKeyFromSeed(&it->key, seed);
}

int bench_wolfssl_dsa_make(struct dsa *it, WC_RNG *rng) { return wc_MlDsaKey_MakeKey(&it->key, rng); }

int bench_wolfssl_dsa_export_public(struct dsa *it, unsigned char *bytes, size_t len) {
    word32 length = (word32)len;
    return wc_MlDsaKey_ExportPubRaw(&it->key, bytes, &length);
}

int bench_wolfssl_dsa_export_private(struct dsa *it, unsigned char *bytes, size_t len) {
    word32 length = (word32)len;
    return wc_MlDsaKey_ExportPrivRaw(&it->key, bytes, &length);
}

int bench_wolfssl_dsa_import_public(struct dsa *it, const unsigned char *bytes, size_t len) {
    return wc_MlDsaKey_ImportPubRaw(&it->key, bytes, (word32)len);
}

int bench_wolfssl_dsa_import_private(struct dsa *it, const unsigned char *bytes, size_t len) {
    return wc_MlDsaKey_ImportPrivRaw(&it->key, bytes, (word32)len);
}

/* The empty context, and rnd of zeros: the deterministic variant. */
int bench_wolfssl_dsa_sign(struct dsa *it, const unsigned char *message, size_t message_len, unsigned char *signature,
                           size_t signature_len) {
    static const unsigned char rnd[MLDSA_RND_SZ];
    word32 length = (word32)signature_len;
    return wc_MlDsaKey_SignCtxWithSeed(&it->key, NULL, 0, signature, &length, message, (word32)message_len, rnd);
}

/* The empty context, hedged. */
int bench_wolfssl_dsa_sign_random(struct dsa *it, const unsigned char *message, size_t message_len,
                                  unsigned char *signature, size_t signature_len, WC_RNG *rng) {
    word32 length = (word32)signature_len;
    return wc_MlDsaKey_SignCtx(&it->key, NULL, 0, signature, &length, message, (word32)message_len, rng);
}

/* 0 also for a signature that is not valid: the verdict is `*valid`. */
int bench_wolfssl_dsa_verify(struct dsa *it, const unsigned char *message, size_t message_len,
                             const unsigned char *signature, size_t signature_len, int *valid) {
    *valid = 0;
    return wc_MlDsaKey_VerifyCtx(&it->key, signature, (word32)signature_len, NULL, 0, message, (word32)message_len,
                                 valid);
}
