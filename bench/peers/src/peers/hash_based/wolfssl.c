/* wolfSSL's SLH-DSA, LMS and XMSS. Private keys of LMS and XMSS are saved to memory. */

#include "table.h"

#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/random.h>
#include <wolfssl/wolfcrypt/wc_lms.h>
#include <wolfssl/wolfcrypt/wc_slhdsa.h>
#include <wolfssl/wolfcrypt/wc_xmss.h>

#include <stdlib.h>
#include <string.h>

#define SAVED_LEN 8192

struct key {
    enum { SLH_DSA, LMS, XMSS } kind;
    union {
        SlhDsaKey slh_dsa;
        LmsKey lms;
        XmssKey xmss;
    } of;
    unsigned char saved[SAVED_LEN];
};

static const struct {
    const char *name;
    enum SlhDsaParam param;
} sets[] = {
    {"SLH-DSA-SHA2-128s", SLHDSA_SHA2_128S}, {"SLH-DSA-SHA2-128f", SLHDSA_SHA2_128F},
    {"SLH-DSA-SHA2-192s", SLHDSA_SHA2_192S}, {"SLH-DSA-SHA2-256s", SLHDSA_SHA2_256S},
    {"SLH-DSA-SHA2-256f", SLHDSA_SHA2_256F}, {"SLH-DSA-SHAKE-128f", SLHDSA_SHAKE128F},
};

static WC_RNG *generator(void) {
    static WC_RNG rng;
    static int ready;
    if (!ready) ready = wc_InitRng(&rng) == 0;
    return ready ? &rng : NULL;
}

static int save(const byte *bytes, word32 len, void *context) {
    if (len > SAVED_LEN) return WC_LMS_RC_WRITE_FAIL;
    memcpy(context, bytes, len);
    return WC_LMS_RC_SAVED_TO_NV_MEMORY;
}

static int load(byte *bytes, word32 len, void *context) {
    if (len > SAVED_LEN) return WC_LMS_RC_READ_FAIL;
    memcpy(bytes, context, len);
    return WC_LMS_RC_READ_TO_MEMORY;
}

static enum wc_XmssRc save_xmss(const byte *bytes, word32 len, void *context) {
    if (len > SAVED_LEN) return WC_XMSS_RC_WRITE_FAIL;
    memcpy(context, bytes, len);
    return WC_XMSS_RC_SAVED_TO_NV_MEMORY;
}

static enum wc_XmssRc load_xmss(byte *bytes, word32 len, void *context) {
    if (len > SAVED_LEN) return WC_XMSS_RC_READ_FAIL;
    memcpy(bytes, context, len);
    return WC_XMSS_RC_READ_TO_MEMORY;
}

static void destroy(void *opaque) {
    struct key *key = opaque;
    if (key->kind == SLH_DSA) wc_SlhDsaKey_Free(&key->of.slh_dsa);
    if (key->kind == LMS) wc_LmsKey_Free(&key->of.lms);
    if (key->kind == XMSS) wc_XmssKey_Free(&key->of.xmss);
    free(key);
}

/* A key object of this set, without a key. */
static struct key *of_set(const char *set, int private_key) {
    struct key *key = calloc(1, sizeof(*key));
    int error = 1;
    if (key == NULL) return NULL;
    if (strncmp(set, "LMS", 3) == 0) {
        key->kind = LMS;
        error = wc_LmsKey_Init(&key->of.lms, NULL, INVALID_DEVID);
        if (error == 0) error = wc_LmsKey_SetLmsParm(&key->of.lms, WC_LMS_PARM_L1_H10_W8);
        if (error == 0 && private_key) error = wc_LmsKey_SetWriteCb(&key->of.lms, save);
        if (error == 0 && private_key) error = wc_LmsKey_SetReadCb(&key->of.lms, load);
        if (error == 0 && private_key) error = wc_LmsKey_SetContext(&key->of.lms, key->saved);
    } else if (strncmp(set, "XMSS", 4) == 0) {
        key->kind = XMSS;
        error = wc_XmssKey_Init(&key->of.xmss, NULL, INVALID_DEVID);
        if (error == 0) error = wc_XmssKey_SetParamStr(&key->of.xmss, set);
        if (error == 0 && private_key) error = wc_XmssKey_SetWriteCb(&key->of.xmss, save_xmss);
        if (error == 0 && private_key) error = wc_XmssKey_SetReadCb(&key->of.xmss, load_xmss);
        if (error == 0 && private_key) error = wc_XmssKey_SetContext(&key->of.xmss, key->saved);
    } else {
        key->kind = SLH_DSA;
        for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
            if (strcmp(sets[i].name, set) == 0)
                error = wc_SlhDsaKey_Init(&key->of.slh_dsa, sets[i].param, NULL, INVALID_DEVID);
        }
    }
    if (error == 0) return key;
    free(key);
    return NULL;
}

static void *unless(int error, struct key *key) {
    if (error == 0) return key;
    destroy(key);
    return NULL;
}

static void *generate(const char *set, const unsigned char *seed, size_t seed_len) {
    struct key *key = of_set(set, 1);
    WC_RNG *rng = generator();
    word32 n = (word32)(seed_len / 3);
    if (key == NULL || rng == NULL) return NULL;
    switch (key->kind) {
    case LMS:
        return unless(wc_LmsKey_MakeKey(&key->of.lms, rng), key);
    case XMSS:
        return unless(wc_XmssKey_MakeKey(&key->of.xmss, rng), key);
    default:
        if (seed_len == 0) return unless(wc_SlhDsaKey_MakeKey(&key->of.slh_dsa, rng), key);
        return unless(
            wc_SlhDsaKey_MakeKeyWithRandom(&key->of.slh_dsa, seed, n, seed + n, n, seed + 2 * n, n), key);
    }
}

static void *import_private(const char *set, const unsigned char *bytes, size_t len) {
    struct key *key = of_set(set, 1);
    if (key == NULL) return NULL;
    if (key->kind != SLH_DSA) return unless(1, key);
    return unless(wc_SlhDsaKey_ImportPrivate(&key->of.slh_dsa, bytes, (word32)len), key);
}

static void *import_public(const char *set, const unsigned char *bytes, size_t len) {
    struct key *key = of_set(set, 0);
    if (key == NULL) return NULL;
    if (key->kind == LMS) return unless(wc_LmsKey_ImportPubRaw(&key->of.lms, bytes, (word32)len), key);
    if (key->kind == XMSS) return unless(wc_XmssKey_ImportPubRaw(&key->of.xmss, bytes, (word32)len), key);
    return unless(wc_SlhDsaKey_ImportPublic(&key->of.slh_dsa, bytes, (word32)len), key);
}

static int export_public(void *opaque, unsigned char *bytes, size_t len) {
    struct key *key = opaque;
    word32 length = (word32)len;
    if (key->kind == LMS) return wc_LmsKey_ExportPubRaw(&key->of.lms, bytes, &length);
    if (key->kind == XMSS) return wc_XmssKey_ExportPubRaw(&key->of.xmss, bytes, &length);
    return wc_SlhDsaKey_ExportPublic(&key->of.slh_dsa, bytes, &length);
}

static int export_private(void *opaque, unsigned char *bytes, size_t len) {
    struct key *key = opaque;
    word32 length = (word32)len;
    return key->kind == SLH_DSA ? wc_SlhDsaKey_ExportPrivate(&key->of.slh_dsa, bytes, &length) : 1;
}

static int sign(void *opaque, int hedged, const unsigned char *message, size_t message_len, unsigned char *signature,
                size_t signature_len) {
    struct key *key = opaque;
    word32 length = (word32)signature_len;
    if (key->kind == LMS) return wc_LmsKey_Sign(&key->of.lms, signature, &length, message, (int)message_len);
    if (key->kind == XMSS) return wc_XmssKey_Sign(&key->of.xmss, signature, &length, message, (int)message_len);
    if (hedged)
        return wc_SlhDsaKey_Sign(&key->of.slh_dsa, NULL, 0, message, (word32)message_len, signature, &length,
                                 generator());
    return wc_SlhDsaKey_SignDeterministic(&key->of.slh_dsa, NULL, 0, message, (word32)message_len, signature, &length);
}

static int verify(void *opaque, const unsigned char *message, size_t message_len, const unsigned char *signature,
                  size_t signature_len) {
    struct key *key = opaque;
    word32 length = (word32)signature_len;
    if (key->kind == LMS) return wc_LmsKey_Verify(&key->of.lms, signature, length, message, (int)message_len);
    if (key->kind == XMSS) return wc_XmssKey_Verify(&key->of.xmss, signature, length, message, (int)message_len);
    return wc_SlhDsaKey_Verify(&key->of.slh_dsa, NULL, 0, message, (word32)message_len, signature, length);
}

const struct bench_hash_based bench_wolfssl_hash_based = {
    .generate = generate,
    .import_private = import_private,
    .import_public = import_public,
    .destroy = destroy,
    .export_public = export_public,
    .export_private = export_private,
    .sign = sign,
    .verify = verify,
};
