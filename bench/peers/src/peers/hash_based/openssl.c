/* OpenSSL's SLH-DSA, and its LMS, which verifies alone: through EVP, with algorithms that are fetched once. */

#include "table.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <stdlib.h>
#include <string.h>

struct key {
    EVP_PKEY *pkey;
    /* The algorithm, and a context of the key: both for signing and for verifying. */
    EVP_SIGNATURE *algorithm;
    EVP_PKEY_CTX *context;
    /* The bytes of HSS before a key or a signature of LMS. */
    size_t levels;
};

static void destroy(void *opaque) {
    struct key *key = opaque;
    EVP_PKEY_CTX_free(key->context);
    EVP_PKEY_free(key->pkey);
    free(key);
}

/* The algorithms that have been used; they stay until the program ends. */
static EVP_SIGNATURE *algorithm(const char *name) {
    static struct {
        char name[32];
        EVP_SIGNATURE *algorithm;
    } fetched[16];
    for (size_t i = 0; i < sizeof(fetched) / sizeof(fetched[0]); i++) {
        if (fetched[i].algorithm == NULL) {
            strncpy(fetched[i].name, name, sizeof(fetched[i].name) - 1);
            return fetched[i].algorithm = EVP_SIGNATURE_fetch(NULL, name, NULL);
        }
        if (strcmp(fetched[i].name, name) == 0) return fetched[i].algorithm;
    }
    return NULL;
}

static void *with(const char *name, EVP_PKEY *pkey) {
    struct key *key = pkey == NULL ? NULL : calloc(1, sizeof(*key));
    if (key == NULL) return NULL;
    key->pkey = pkey;
    key->levels = strcmp(name, "LMS") == 0 ? 4 : 0;
    key->algorithm = algorithm(name);
    key->context = EVP_PKEY_CTX_new_from_pkey(NULL, pkey, NULL);
    if (key->algorithm != NULL && key->context != NULL) return key;
    destroy(key);
    return NULL;
}

static void *generate(const char *set, const unsigned char *seed, size_t seed_len) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, set, NULL);
    EVP_PKEY *pkey = NULL;
    OSSL_PARAM parameters[2];
    parameters[0] = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_SLH_DSA_SEED, (void *)seed, seed_len);
    parameters[1] = OSSL_PARAM_construct_end();
    if (context != NULL && EVP_PKEY_keygen_init(context) == 1
        && (seed_len == 0 || EVP_PKEY_CTX_set_params(context, parameters) == 1))
        (void)EVP_PKEY_generate(context, &pkey);
    EVP_PKEY_CTX_free(context);
    return with(set, pkey);
}

static void *import_private(const char *set, const unsigned char *bytes, size_t len) {
    return with(set, EVP_PKEY_new_raw_private_key_ex(NULL, set, NULL, bytes, len));
}

static void *import_public(const char *set, const unsigned char *bytes, size_t len) {
    EVP_PKEY_CTX *context;
    EVP_PKEY *pkey = NULL;
    OSSL_PARAM parameters[2];
    if (strncmp(set, "LMS", 3) != 0) return with(set, EVP_PKEY_new_raw_public_key_ex(NULL, set, NULL, bytes, len));
    parameters[0] = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)(bytes + 4), len - 4);
    parameters[1] = OSSL_PARAM_construct_end();
    context = EVP_PKEY_CTX_new_from_name(NULL, "LMS", NULL);
    if (context != NULL && EVP_PKEY_fromdata_init(context) == 1)
        (void)EVP_PKEY_fromdata(context, &pkey, EVP_PKEY_PUBLIC_KEY, parameters);
    EVP_PKEY_CTX_free(context);
    return with("LMS", pkey);
}

static int export_public(void *opaque, unsigned char *bytes, size_t len) {
    struct key *key = opaque;
    return EVP_PKEY_get_raw_public_key(key->pkey, bytes, &len) == 1 ? 0 : 1;
}

static int export_private(void *opaque, unsigned char *bytes, size_t len) {
    struct key *key = opaque;
    return EVP_PKEY_get_raw_private_key(key->pkey, bytes, &len) == 1 ? 0 : 1;
}

static int sign(void *opaque, int hedged, const unsigned char *message, size_t message_len, unsigned char *signature,
                size_t signature_len) {
    struct key *key = opaque;
    int deterministic = !hedged;
    OSSL_PARAM parameters[2];
    parameters[0] = OSSL_PARAM_construct_int(OSSL_SIGNATURE_PARAM_DETERMINISTIC, &deterministic);
    parameters[1] = OSSL_PARAM_construct_end();
    if (EVP_PKEY_sign_message_init(key->context, key->algorithm, parameters) != 1) return 1;
    return EVP_PKEY_sign(key->context, signature, &signature_len, message, message_len) == 1 ? 0 : 1;
}

static int verify(void *opaque, const unsigned char *message, size_t message_len, const unsigned char *signature,
                  size_t signature_len) {
    struct key *key = opaque;
    if (EVP_PKEY_verify_message_init(key->context, key->algorithm, NULL) != 1) return 1;
    return EVP_PKEY_verify(key->context, signature + key->levels, signature_len - key->levels, message, message_len) == 1
               ? 0
               : 1;
}

const struct bench_hash_based bench_openssl_hash_based = {
    .generate = generate,
    .import_private = import_private,
    .import_public = import_public,
    .destroy = destroy,
    .export_public = export_public,
    .export_private = export_private,
    .sign = sign,
    .verify = verify,
};
