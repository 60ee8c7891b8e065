// Known answers. The accumulated runs are those of C2SP/CCTV: keys, ciphertexts, secrets and signatures of many seeds in one digest.
// The digests of 100 steps of ML-DSA are published there; those of 1,000 steps of ML-KEM were computed with an independent implementation
// that meets the published ones of 10,000. Those of 10 steps, and those that leave dk out, this program printed when it met the others.

#include "checks.h"

int same(const void *a, const void *b, size_t len)
{
    const uint8_t *x = (const uint8_t *)a, *y = (const uint8_t *)b;
    for (size_t i = 0; i < len; i++) {
        if (x[i] != y[i]) return 0;
    }
    return 1;
}

int zeros(const void *a, size_t len)
{
    const uint8_t *x = (const uint8_t *)a;
    for (size_t i = 0; i < len; i++) {
        if (x[i]) return 0;
    }
    return 1;
}

static int nibble(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

int is(const uint8_t *bytes, const char *hex)
{
    for (; *hex; hex += 2) {
        if (*bytes++ != (nibble(hex[0]) << 4 | nibble(hex[1]))) return 0;
    }
    return 1;
}

#define set mlkem512
#define SET MLKEM512
#include "answers_mlkem.h"
#define set mlkem768
#define SET MLKEM768
#include "answers_mlkem.h"
#define set mlkem1024
#define SET MLKEM1024
#include "answers_mlkem.h"

// The digest for HashML-DSA, in two pieces, and its length.
static size_t digest_of(int prehash, uint8_t digest[GAMBESON_PREHASH_MAX_BYTES], const uint8_t *message, size_t len)
{
    static const size_t lengths[13] = {
        [GAMBESON_PREHASH_SHA2_256] = GAMBESON_PREHASH_SHA2_256_BYTES,
        [GAMBESON_PREHASH_SHA2_384] = GAMBESON_PREHASH_SHA2_384_BYTES,
        [GAMBESON_PREHASH_SHA2_512] = GAMBESON_PREHASH_SHA2_512_BYTES,
        [GAMBESON_PREHASH_SHA2_224] = GAMBESON_PREHASH_SHA2_224_BYTES,
        [GAMBESON_PREHASH_SHA2_512_224] = GAMBESON_PREHASH_SHA2_512_224_BYTES,
        [GAMBESON_PREHASH_SHA2_512_256] = GAMBESON_PREHASH_SHA2_512_256_BYTES,
        [GAMBESON_PREHASH_SHA3_224] = GAMBESON_PREHASH_SHA3_224_BYTES,
        [GAMBESON_PREHASH_SHA3_256] = GAMBESON_PREHASH_SHA3_256_BYTES,
        [GAMBESON_PREHASH_SHA3_384] = GAMBESON_PREHASH_SHA3_384_BYTES,
        [GAMBESON_PREHASH_SHA3_512] = GAMBESON_PREHASH_SHA3_512_BYTES,
        [GAMBESON_PREHASH_SHAKE128] = GAMBESON_PREHASH_SHAKE128_BYTES,
        [GAMBESON_PREHASH_SHAKE256] = GAMBESON_PREHASH_SHAKE256_BYTES,
    };
    gambeson_prehash_ctx hash;
    CHECK(!gambeson_prehash_init(&hash, prehash) && !gambeson_prehash_update(&hash, message, len / 3));
    CHECK(!gambeson_prehash_update(&hash, message + len / 3, len - len / 3));
    CHECK(!gambeson_prehash_final(&hash, digest, lengths[prehash]));
    return lengths[prehash];
}

// FIPS 204, Algorithm 4, and Algorithm 7, line 6: H(tr || 1 || length of the context || context || OID || digest, 64).
static void represent(uint8_t mu[64], const uint8_t tr[64], const uint8_t *context, uint8_t context_len, int prehash,
                      const uint8_t *digest, size_t digest_len)
{
    uint8_t oid[11] = {0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, (uint8_t)prehash}, head[2] = {1, context_len};
    gambeson_shake256_ctx hash;
    CHECK(!gambeson_shake256_init(&hash) && !gambeson_shake256_update(&hash, tr, 64));
    CHECK(!gambeson_shake256_update(&hash, head, 2) && !gambeson_shake256_update(&hash, context, context_len));
    CHECK(!gambeson_shake256_update(&hash, oid, 11) && !gambeson_shake256_update(&hash, digest, digest_len));
    CHECK(!gambeson_shake256_squeeze(&hash, mu, 64));
}

// The SHA-2 of "abc", as FIPS 180-4's examples have them.
static void prehashes(void)
{
    static const struct { int prehash; const char *of_abc; } known[6] = {
        {GAMBESON_PREHASH_SHA2_224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
        {GAMBESON_PREHASH_SHA2_256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {GAMBESON_PREHASH_SHA2_384, "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"},
        {GAMBESON_PREHASH_SHA2_512, "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                                    "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
        {GAMBESON_PREHASH_SHA2_512_224, "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"},
        {GAMBESON_PREHASH_SHA2_512_256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"},
    };
    uint8_t digest[GAMBESON_PREHASH_MAX_BYTES], same_digest[64], message[200];
    for (int i = 0; i < 6; i++) {
        digest_of(known[i].prehash, digest, (const uint8_t *)"abc", 3);
        CHECK(is(digest, known[i].of_abc));
    }
    // The others are those of FIPS 202.
    for (int i = 0; i < 200; i++) message[i] = 0xa3;
    CHECK(digest_of(GAMBESON_PREHASH_SHA3_224, digest, message, 200) == 28 && !gambeson_sha3_224(same_digest, message, 200));
    CHECK(same(digest, same_digest, 28));
    CHECK(digest_of(GAMBESON_PREHASH_SHA3_256, digest, message, 200) == 32 && !gambeson_sha3_256(same_digest, message, 200));
    CHECK(same(digest, same_digest, 32));
    CHECK(digest_of(GAMBESON_PREHASH_SHA3_384, digest, message, 200) == 48 && !gambeson_sha3_384(same_digest, message, 200));
    CHECK(same(digest, same_digest, 48));
    CHECK(digest_of(GAMBESON_PREHASH_SHA3_512, digest, message, 200) == 64 && !gambeson_sha3_512(same_digest, message, 200));
    CHECK(same(digest, same_digest, 64));
    CHECK(digest_of(GAMBESON_PREHASH_SHAKE128, digest, message, 200) == 32 && !gambeson_shake128(same_digest, 32, message, 200));
    CHECK(same(digest, same_digest, 32));
    CHECK(digest_of(GAMBESON_PREHASH_SHAKE256, digest, message, 200) == 64 && !gambeson_shake256(same_digest, 64, message, 200));
    CHECK(same(digest, same_digest, 64));
}

#define set mldsa44
#define SET MLDSA44
#include "answers_mldsa.h"
#define set mldsa65
#define SET MLDSA65
#include "answers_mldsa.h"
#define set mldsa87
#define SET MLDSA87
#include "answers_mldsa.h"

// A hash of "abc" at once, and of NIST's example of 200 bytes a3 in pieces, and from a copy.
#define HASH(function, bytes, of_abc, of_a3)                                                 \
    do {                                                                                     \
        uint8_t digest[bytes], message[200];                                                 \
        gambeson_##function##_ctx hash, copy;                                                \
        CHECK(!gambeson_##function(digest, (const uint8_t *)"abc", 3) && is(digest, of_abc)); \
        for (int i = 0; i < 200; i++) message[i] = 0xa3;                                     \
        CHECK(!gambeson_##function##_init(&hash));                                           \
        CHECK(!gambeson_##function##_update(&hash, message, 71));                            \
        copy = hash;                                                                         \
        CHECK(!gambeson_##function##_update(&hash, NULL, 0));                                \
        CHECK(!gambeson_##function##_update(&hash, message + 71, 129));                      \
        CHECK(!gambeson_##function##_final(&hash, digest) && is(digest, of_a3));             \
        CHECK(!gambeson_##function##_update(&copy, message, 129));                           \
        CHECK(!gambeson_##function##_final(&copy, digest) && is(digest, of_a3));             \
        CHECK(gambeson_##function##_final(&hash, digest) == GAMBESON_ERROR_STATE);           \
    } while (0)

#define SHAKE(function, of_abc, of_a3)                                                       \
    do {                                                                                     \
        uint8_t out[32], message[200];                                                       \
        gambeson_##function##_ctx hash;                                                      \
        CHECK(!gambeson_##function(out, 32, (const uint8_t *)"abc", 3) && is(out, of_abc));  \
        for (int i = 0; i < 200; i++) message[i] = 0xa3;                                     \
        CHECK(!gambeson_##function##_init(&hash));                                           \
        CHECK(!gambeson_##function##_update(&hash, message, 199));                           \
        CHECK(!gambeson_##function##_update(&hash, message, 1));                             \
        CHECK(!gambeson_##function##_squeeze(&hash, out, 5));                                \
        CHECK(!gambeson_##function##_squeeze(&hash, out + 5, 27) && is(out, of_a3));         \
        CHECK(gambeson_##function##_update(&hash, message, 1) == GAMBESON_ERROR_STATE);      \
        gambeson_wipe(&hash, sizeof hash);                                                   \
        CHECK(gambeson_##function##_squeeze(&hash, out, 5) == GAMBESON_ERROR_STATE);         \
    } while (0)

static void hashes(void)
{
    HASH(sha3_224, 28, "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf",
         "9376816aba503f72f96ce7eb65ac095deee3be4bf9bbc2a1cb7e11e0");
    HASH(sha3_256, 32, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
         "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787");
    HASH(sha3_384, 48,
         "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
         "1881de2ca7e41ef95dc4732b8f5f002b189cc1e42b74168ed1732649ce1dbcdd76197a31fd55ee989f2d7050dd473e8f");
    HASH(sha3_512, 64,
         "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e"
         "10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
         "e76dfad22084a8b1467fcf2ffa58361bec7628edf5f3fdc0e4805dc48caeeca8"
         "1b7c13c30adf52a3659584739a2df46be589c51ca1a4a8416df6545a1ce8ba00");
    SHAKE(shake128, "5881092dd818bf5cf8a3ddb793fbcba74097d5c526a6d35f97b83351940f2cc8",
          "131ab8d2b594946b9c81333f9bb6e0ce75c3b93104fa3469d3917457385da037");
    SHAKE(shake256, "483366601360a8771c6863080cc4114d8db44530f8f1e1ee4f94ea37e78b5739",
          "cd8a920ed141aa0407a22d59288652e9d9f1a7ee0c1e7c1ca699424da84a904d");
}

void answers(int all)
{
    hashes();
    prehashes();
    run_mlkem512(10, "3dd07a86fcec47735136b0034d3282cc90a16ccf01e49e1b66a87afcae696690", "4dfc0763671ffc6fac05500debfc30e2f46ed9b2e98c3eeefd7c5f513733b345");
    run_mlkem768(10, "3313043a4b8d07165cc64e27ff58f11d8527cae5db1767f85529b6a505faa833", "44e1a1bc922dc324121d983f0fbc987fa85f2d046030319a0dbe6af4c865f6c6");
    run_mlkem1024(10, "e9f17641909d966e70ce0b84ce53c582d5e69db5644b12b20b9e86dbc4dabd9d", "27afc271af270f79af1d5d10a00e0c1fa603b4db8f818e7e421485f407c69057");
    run_mldsa44(10, "d19584e024776014f52a5b4c9ee30693567885bee04c686216f663de1bd993cf");
    run_mldsa65(10, "398351aef50dce93182a9f9e17eec3924581136dd1ce988a483cba48f9b2d116");
    run_mldsa87(10, "648f7336b336480f77cd5694fe6a3eac73a12dc6f83d7e819af0a83f9c11886f");
    if (!all) return;
    run_mlkem512(1000, "9144b1054d29546b0f7fdd2e48dbb6d68c573dd468845c5e97eb2dba77a8f1e9", "1f52919e618f26d802b33dacdc8e0a18005e5e40ebbd473e85faf97f599a2b05");
    run_mlkem768(1000, "5706194c22e3e0977b570e636de7364abce0609b341433cc4eb48062080b7c76", "78d7c03e462a9b629602564d7a25a61fe1082beaea54b3b6d13d3d7bea50b43d");
    run_mlkem1024(1000, "df23d235ef494a38b2de2deda2704bb1312dd88ef6987ec4fc6f08fe5963ed7f", "070478698bfcade6270900c5b7249235ac3873ef2ab94913e059b3913ee809cb");
    run_mldsa44(100, "d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4");
    run_mldsa65(100, "8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199");
    run_mldsa87(100, "8c3ad714777622b8f21ce31bb35f71394f23bc0fcf3c78ace5d608990f3b061b");
}
