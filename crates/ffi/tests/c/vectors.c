// Published signatures, from standard input: a line for each, with the set, the number of the pre-hash function or 0, the verdict (0 or 1),
// and in hexadecimal, or `-` for nothing, message, context, public key and signature. `cargo xtask test` writes them from published files.

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

LOCAL int checks;

void failed(const char *file, int line, const char *check)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, check);
    exit(1);
}

typedef gambeson_error verify(const uint8_t *, size_t, const gambeson_message *, const uint8_t *, size_t);
typedef gambeson_error verify_bytes(const uint8_t *, size_t, const uint8_t *, size_t, const uint8_t *, size_t);

// An algorithm: a call in two schedules, or the number of a set of SLH-DSA, or a call that takes no descriptor.
static const struct {
    const char *name;
    verify *verify[2];
    int slhdsa;
    verify_bytes *verify_bytes;
} sets[] = {
    {"ML-DSA-44", {gambeson_mldsa44_verify, gambeson_small_mldsa44_verify}, 0, NULL},
    {"ML-DSA-65", {gambeson_mldsa65_verify, gambeson_small_mldsa65_verify}, 0, NULL},
    {"ML-DSA-87", {gambeson_mldsa87_verify, gambeson_small_mldsa87_verify}, 0, NULL},
    {"SLH-DSA-SHA2-128s", {NULL, NULL}, GAMBESON_SLHDSA_SHA2_128S, NULL},
    {"SLH-DSA-SHA2-128f", {NULL, NULL}, GAMBESON_SLHDSA_SHA2_128F, NULL},
    {"SLH-DSA-SHA2-192s", {NULL, NULL}, GAMBESON_SLHDSA_SHA2_192S, NULL},
    {"SLH-DSA-SHA2-192f", {NULL, NULL}, GAMBESON_SLHDSA_SHA2_192F, NULL},
    {"SLH-DSA-SHA2-256s", {NULL, NULL}, GAMBESON_SLHDSA_SHA2_256S, NULL},
    {"SLH-DSA-SHA2-256f", {NULL, NULL}, GAMBESON_SLHDSA_SHA2_256F, NULL},
    {"SLH-DSA-SHAKE-128s", {NULL, NULL}, GAMBESON_SLHDSA_SHAKE_128S, NULL},
    {"SLH-DSA-SHAKE-128f", {NULL, NULL}, GAMBESON_SLHDSA_SHAKE_128F, NULL},
    {"SLH-DSA-SHAKE-192s", {NULL, NULL}, GAMBESON_SLHDSA_SHAKE_192S, NULL},
    {"SLH-DSA-SHAKE-192f", {NULL, NULL}, GAMBESON_SLHDSA_SHAKE_192F, NULL},
    {"SLH-DSA-SHAKE-256s", {NULL, NULL}, GAMBESON_SLHDSA_SHAKE_256S, NULL},
    {"SLH-DSA-SHAKE-256f", {NULL, NULL}, GAMBESON_SLHDSA_SHAKE_256F, NULL},
    {"LMS", {NULL, NULL}, 0, gambeson_lms_verify},
    {"HSS", {NULL, NULL}, 0, gambeson_hss_verify},
    {"XMSS", {NULL, NULL}, 0, gambeson_xmss_verify},
    {"XMSSMT", {NULL, NULL}, 0, gambeson_xmssmt_verify},
};
enum { SETS = sizeof sets / sizeof sets[0] };

// Whether a call gave this verdict. A signature of another length than the set's is refused before it is verified.
static int is_verdict(gambeson_error error, int is_valid)
{
    return is_valid ? !error : error == GAMBESON_ERROR_SIGNATURE || error == GAMBESON_ERROR_LENGTH;
}

static int nibble(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

// The next field of a line, which becomes the bytes that it stands for.
static const uint8_t *bytes(size_t *len)
{
    char *field = strtok(NULL, " \n");
    CHECK(field);
    *len = strcmp(field, "-") ? strlen(field) / 2 : 0;
    uint8_t *out = (uint8_t *)field;
    for (size_t i = 0; i < *len; i++) out[i] = (uint8_t)(nibble(field[2 * i]) << 4 | nibble(field[2 * i + 1]));
    return out;
}

static int number(void)
{
    const char *field = strtok(NULL, " ");
    CHECK(field);
    return atoi(field);
}

int main(void)
{
    static const size_t lengths[13] = {0, 32, 48, 64, 28, 28, 32, 28, 32, 48, 64, 32, 64};
    char *line = NULL;
    size_t room = 0, lines = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *name = strtok(line, " ");
        int set = 0, prehash = number(), is_valid = number();
        while (set < SETS && strcmp(sets[set].name, name)) set++;
        CHECK(set < SETS);
        size_t message_len, context_len, vk_len, signature_len;
        const uint8_t *message = bytes(&message_len), *context = bytes(&context_len);
        const uint8_t *vk = bytes(&vk_len), *signature = bytes(&signature_len);
        uint8_t digest[GAMBESON_PREHASH_MAX_BYTES];
        gambeson_message described = gambeson_message_pure(message, message_len, context, context_len);
        if (prehash) {
            gambeson_prehash_ctx hash;
            CHECK(!gambeson_prehash_init(&hash, prehash) && !gambeson_prehash_update(&hash, message, message_len));
            CHECK(!gambeson_prehash_final(&hash, digest, lengths[prehash]));
            described = gambeson_message_prehashed(prehash, digest, lengths[prehash], context, context_len);
        }
        for (int schedule = 0; schedule < 2 && sets[set].verify[schedule]; schedule++) {
            gambeson_error error = sets[set].verify[schedule](signature, signature_len, &described, vk, vk_len);
            CHECK(error == (is_valid ? GAMBESON_OK : GAMBESON_ERROR_SIGNATURE));
        }
        if (sets[set].slhdsa) {
            CHECK(is_verdict(gambeson_slhdsa_verify(sets[set].slhdsa, signature, signature_len, &described, vk, vk_len), is_valid));
        }
        if (sets[set].verify_bytes) {
            CHECK(is_verdict(sets[set].verify_bytes(signature, signature_len, message, message_len, vk, vk_len), is_valid));
        }
        lines++;
    }
    free(line);
    printf("%zu signatures\n", lines);
    return 0;
}
