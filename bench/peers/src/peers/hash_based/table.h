/* A C library's hash-based signatures as a table of functions. Keys are opaque. Functions with an integer return 0, or the
 * error of the library.
 *
 * Sets have the names of the benchmark: "SLH-DSA-SHA2-128s", "LMS-SHA256-H10-W8", "XMSS-SHA2_10_256". Keys and signatures
 * of LMS are those of HSS with one level. */

#ifndef BENCH_HASH_BASED_H
#define BENCH_HASH_BASED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bench_hash_based {
    /* A new key pair: of SK.seed, SK.prf and PK.seed, or of the library's randomness if there is no seed. NULL on an error. */
    void *(*generate)(const char *set, const unsigned char *seed, size_t seed_len);
    void *(*import_private)(const char *set, const unsigned char *bytes, size_t len);
    void *(*import_public)(const char *set, const unsigned char *bytes, size_t len);
    void (*destroy)(void *key);
    int (*export_public)(void *key, unsigned char *bytes, size_t len);
    int (*export_private)(void *key, unsigned char *bytes, size_t len);
    /* SLH-DSA: pure, with an empty context. */
    int (*sign)(void *key, int hedged, const unsigned char *message, size_t message_len, unsigned char *signature,
                size_t signature_len);
    /* 0 for a valid signature. */
    int (*verify)(void *key, const unsigned char *message, size_t message_len, const unsigned char *signature,
                  size_t signature_len);
};

#ifdef __cplusplus
}
#endif

#endif
