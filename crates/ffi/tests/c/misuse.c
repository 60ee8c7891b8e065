// Every error, and what is refused. One set of each algorithm: the others are the same text.

#include "checks.h"

int fill(void *ctx, uint8_t *out, size_t len)
{
    int *calls = (int *)ctx;
    (*calls)++;
    for (size_t i = 0; i < len; i++) out[i] = (uint8_t)i;
    return 0;
}

static int broken(void *ctx, uint8_t *out, size_t len)
{
    (void)out, (void)len;
    (*(int *)ctx)++;
    return 7;
}

static void errors(void)
{
    const char *unknown = gambeson_strerror(1);
    for (int error = 0; error >= GAMBESON_ERROR_PREHASH; error--) {
        CHECK(gambeson_strerror(error) != unknown);
        CHECK(error == 0 || gambeson_strerror(error) != gambeson_strerror(error + 1));
    }
    CHECK(gambeson_strerror(GAMBESON_ERROR_PREHASH - 1) == unknown);
    const char *version = gambeson_version();
    CHECK(version[0] == '0' + GAMBESON_VERSION_MAJOR && version[1] == '.');
    CHECK(version[2] == '0' + GAMBESON_VERSION_MINOR && version[3] == '.');
    CHECK(version[4] == '0' + GAMBESON_VERSION_PATCH && version[5] == 0);
}

static void mlkem(void)
{
    uint8_t ek[GAMBESON_MLKEM768_EK_BYTES], c[GAMBESON_MLKEM768_CIPHERTEXT_BYTES], other[GAMBESON_MLKEM768_EK_BYTES];
    uint8_t seed[64] = {1}, expected[64], k[32], same_k[32], m[32] = {2};
    gambeson_mlkem768_key key;
    int calls = 0;

    // The caller's randomness: all of it in one call, and its failure is the answer.
    CHECK(!gambeson_mlkem768_key_generate_with(&key, ek, fill, &calls) && calls == 1);
    for (int i = 0; i < 64; i++) expected[i] = (uint8_t)i;
    CHECK(!gambeson_mlkem768_key_seed(&key, seed) && same(seed, expected, 64));
    CHECK(!gambeson_mlkem768_encapsulate_with(c, k, ek, sizeof ek, fill, &calls) && calls == 2);
    CHECK(!gambeson_mlkem768_key_decapsulate(&key, same_k, c, sizeof c) && same(k, same_k, 32));
    CHECK(!gambeson_mlkem768_encapsulate_deterministic(c, same_k, ek, sizeof ek, expected) && same(k, same_k, 32));
    CHECK(gambeson_mlkem768_key_generate_with(&key, ek, broken, &calls) == GAMBESON_ERROR_RANDOM && calls == 3);
    CHECK(gambeson_mlkem768_encapsulate_with(c, k, ek, sizeof ek, broken, &calls) == GAMBESON_ERROR_RANDOM);
    CHECK(gambeson_mlkem768_key_generate_with(&key, ek, NULL, &calls) == GAMBESON_ERROR_NULL);

    // The system's: two keys are not the same.
    CHECK(!gambeson_mlkem768_key_generate(&key, ek) && !gambeson_mlkem768_key_generate(&key, other));
    CHECK(!same(ek, other, sizeof ek));
    CHECK(!gambeson_mlkem768_encapsulate(c, k, other, sizeof other));
    CHECK(!gambeson_mlkem768_key_decapsulate(&key, same_k, c, sizeof c) && same(k, same_k, 32));
    CHECK(!gambeson_mlkem768_key_generate(&key, NULL));

    // Null, lengths.
    CHECK(gambeson_mlkem768_key_generate(NULL, ek) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_key_from_seed(&key, ek, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_key_public(&key, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate_deterministic(NULL, k, ek, sizeof ek, m) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate_deterministic(c, NULL, ek, sizeof ek, m) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate_deterministic(c, k, NULL, sizeof ek, m) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate_deterministic(c, k, ek, sizeof ek, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate_deterministic(c, k, ek, sizeof ek - 1, m) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mlkem768_key_decapsulate(&key, k, c, sizeof c + 1) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mlkem768_key_decapsulate(&key, k, NULL, sizeof c) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_check_ek(ek, 0) == GAMBESON_ERROR_LENGTH);

    // Buffers that overlap: of one call, in part, an output over an input. Two inputs may be one.
    CHECK(gambeson_mlkem768_encapsulate_deterministic(c, c + 1000, ek, sizeof ek, m) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mlkem768_encapsulate_deterministic(c, m, ek, sizeof ek, m) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mlkem768_encapsulate_deterministic(ek, k, ek, sizeof ek, m) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mlkem768_key_seed(&key, key.opaque + 1) == GAMBESON_ERROR_OVERLAP);
    CHECK(!gambeson_mlkem768_encapsulate_deterministic(c, k, ek, sizeof ek, ek));

    // A coefficient of q, and one of q - 1.
    for (int i = 0; i < 384 * 3; i++) ek[i] = 0;
    ek[0] = 0x00, ek[1] = 0x0d;
    CHECK(!gambeson_mlkem768_check_ek(ek, sizeof ek));
    ek[0] = 0x01;
    CHECK(gambeson_mlkem768_check_ek(ek, sizeof ek) == GAMBESON_ERROR_KEY);
    CHECK(gambeson_mlkem768_encapsulate_with(c, k, ek, sizeof ek, fill, &calls) == GAMBESON_ERROR_KEY && calls == 4);

#if IS_HOSTED
    uint8_t dk[GAMBESON_MLKEM768_DK_BYTES];
    CHECK(!gambeson_mlkem768_keypair(ek, dk) && !gambeson_mlkem768_check_dk(dk, sizeof dk));
    CHECK(!gambeson_mlkem768_keypair_with(ek, dk, fill, &calls) && calls == 5);
    CHECK(!gambeson_mlkem768_encapsulate(c, k, ek, sizeof ek));
    CHECK(!gambeson_mlkem768_decapsulate(same_k, c, sizeof c, dk, sizeof dk) && same(k, same_k, 32));
    CHECK(gambeson_mlkem768_decapsulate(same_k, c, sizeof c, dk, sizeof dk - 1) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mlkem768_decapsulate(dk, c, sizeof c, dk, sizeof dk) == GAMBESON_ERROR_OVERLAP);
    dk[2350] ^= 1;
    CHECK(gambeson_mlkem768_check_dk(dk, sizeof dk) == GAMBESON_ERROR_KEY);
    CHECK(gambeson_mlkem768_decapsulate(same_k, c, sizeof c, dk, sizeof dk) == GAMBESON_ERROR_KEY);
#endif
    gambeson_wipe(&key, sizeof key);
    gambeson_wipe(NULL, 1);
    CHECK(zeros(&key, sizeof key));
}

static void workspaces(void)
{
    gambeson_small_mlkem768_workspace work[2];
    gambeson_small_mldsa44_workspace other;
    gambeson_small_mlkem768_key key;
    uint8_t ek[GAMBESON_MLKEM768_EK_BYTES], c[GAMBESON_MLKEM768_CIPHERTEXT_BYTES], k[32], same_k[32], seed[64] = {4};
    void *crooked = (uint8_t *)work + 4;
    CHECK(sizeof work[0] == GAMBESON_SMALL_MLKEM768_WORKSPACE_BYTES);
    CHECK(sizeof other == GAMBESON_SMALL_MLDSA44_WORKSPACE_BYTES);

    CHECK(gambeson_small_mlkem768_key_from_seed_in(&key, ek, seed, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_small_mlkem768_key_from_seed_in(&key, ek, NULL, work) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_small_mlkem768_key_from_seed_in(NULL, ek, seed, work) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_small_mlkem768_key_from_seed_in(&key, ek, seed, (gambeson_small_mlkem768_workspace *)crooked) ==
          GAMBESON_ERROR_STATE);
    CHECK(gambeson_small_mlkem768_key_from_seed_in(&key, (uint8_t *)work, seed, work) == GAMBESON_ERROR_OVERLAP);
    CHECK(!gambeson_small_mlkem768_key_from_seed_in(&key, ek, seed, work));
    CHECK(!gambeson_small_mlkem768_encapsulate_deterministic_in(c, k, ek, sizeof ek, seed, work));
    CHECK(!gambeson_small_mlkem768_key_decapsulate_in(&key, same_k, c, sizeof c, work) && same(k, same_k, 32));
    CHECK(gambeson_small_mlkem768_key_decapsulate_in(&key, k, c, sizeof c - 1, work) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_small_mlkem768_key_decapsulate_in(&key, k, (uint8_t *)work, sizeof c, work) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_small_mlkem768_encapsulate_deterministic_in(c, k, ek, 3, seed, work) == GAMBESON_ERROR_LENGTH);
    ek[0] = 0xff, ek[1] = 0xff;
    CHECK(gambeson_small_mlkem768_encapsulate_deterministic_in(c, k, ek, sizeof ek, seed, work) == GAMBESON_ERROR_KEY);
    // One that is refused is wiped as well as one that is not.
    static uint8_t dk[GAMBESON_MLKEM768_DK_BYTES];
    work[0].opaque[0] = 1;
    CHECK(gambeson_small_mlkem768_decapsulate_in(k, c, sizeof c, dk, sizeof dk, work) == GAMBESON_ERROR_KEY);
    CHECK(zeros(work, sizeof work[0]));

    gambeson_small_mldsa44_key signer;
    uint8_t vk[GAMBESON_MLDSA44_VK_BYTES], signature[GAMBESON_MLDSA44_SIGNATURE_BYTES];
    CHECK(!gambeson_small_mldsa44_key_from_seed_in(&signer, vk, seed, &other));
    CHECK(gambeson_small_mldsa44_key_sign_with_rnd_in(&signer, signature, seed, 64, ek, 256, seed, &other) ==
          GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_small_mldsa44_key_sign_with_rnd_in(&signer, signature, seed, 64, ek, 255, NULL, &other) ==
          GAMBESON_ERROR_NULL);
    CHECK(!gambeson_small_mldsa44_key_sign_with_rnd_in(&signer, signature, seed, 64, ek, 255, seed, &other));
    CHECK(!gambeson_small_mldsa44_verify_in(signature, sizeof signature, seed, 64, ek, 255, vk, sizeof vk, &other));
    CHECK(gambeson_small_mldsa44_verify_in(signature, sizeof signature, seed, 63, ek, 255, vk, sizeof vk, &other) ==
          GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_small_mldsa44_verify_in(signature, 1, seed, 64, ek, 255, vk, sizeof vk, &other) == GAMBESON_ERROR_LENGTH);
}

static void mldsa(void)
{
    uint8_t vk[GAMBESON_MLDSA44_VK_BYTES], signature[GAMBESON_MLDSA44_SIGNATURE_BYTES], rnd[32] = {0}, mu[64];
    uint8_t message[300] = {3};
    gambeson_mldsa44_key key;
    gambeson_mldsa_mu_ctx hash;
    gambeson_sha3_256_ctx another;
    int calls = 0;

    CHECK(!gambeson_mldsa44_key_generate_with(&key, vk, fill, &calls) && calls == 1);
    CHECK(!gambeson_mldsa44_key_generate(&key, vk));
    CHECK(!gambeson_mldsa44_key_sign(&key, signature, message, 300, message, 255));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, message, 300, message, 255, vk, sizeof vk));
    CHECK(!gambeson_mldsa44_key_sign_with(&key, signature, message, 300, NULL, 0, fill, &calls) && calls == 2);
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, message, 300, NULL, 0, vk, sizeof vk));
    CHECK(gambeson_mldsa44_key_sign_with(&key, signature, message, 300, NULL, 0, broken, &calls) == GAMBESON_ERROR_RANDOM);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, message, 300, message, 256) == GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, NULL, 1, NULL, 0) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, message, SIZE_MAX, NULL, 0) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, signature, 1, NULL, 0) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mldsa44_key_sign_with_rnd(&key, signature, message, 1, NULL, 0, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa44_verify(signature, 0, message, 300, NULL, 0, vk, sizeof vk) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa44_verify(signature, sizeof signature, message, 300, NULL, 0, vk, 3) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa44_verify(signature, sizeof signature, message, 9, message, 256, vk, sizeof vk) == GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_mldsa44_verify(signature, sizeof signature, message, 9, NULL, 0, vk, sizeof vk) == GAMBESON_ERROR_SIGNATURE);

    CHECK(gambeson_mldsa44_mu_init(&hash, vk, sizeof vk, message, 256) == GAMBESON_ERROR_CONTEXT);
    CHECK(!gambeson_mldsa44_mu_init(&hash, vk, sizeof vk, NULL, 0) && !gambeson_mldsa_mu_update(&hash, message, 9));
    CHECK(!gambeson_mldsa_mu_final(&hash, mu) && gambeson_mldsa_mu_final(&hash, mu) == GAMBESON_ERROR_STATE);
    CHECK(!gambeson_mldsa44_key_sign_mu(&key, signature, mu));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, message, 9, NULL, 0, vk, sizeof vk));
    CHECK(!gambeson_mldsa44_key_sign_mu_with(&key, signature, mu, fill, &calls));
    CHECK(!gambeson_mldsa44_verify_mu(signature, sizeof signature, mu, vk, sizeof vk));
    mu[0] ^= 1;
    CHECK(gambeson_mldsa44_verify_mu(signature, sizeof signature, mu, vk, sizeof vk) == GAMBESON_ERROR_SIGNATURE);
    // One kind of hash is not another.
    CHECK(!gambeson_sha3_256_init(&another));
    CHECK(gambeson_mldsa_mu_update((gambeson_mldsa_mu_ctx *)&another, message, 1) == GAMBESON_ERROR_STATE);

#if IS_HOSTED
    uint8_t sk[GAMBESON_MLDSA44_SK_BYTES];
    CHECK(!gambeson_mldsa44_keypair(vk, sk) && !gambeson_mldsa44_check_sk(sk, sizeof sk));
    CHECK(!gambeson_mldsa44_sign(signature, message, 9, NULL, 0, sk, sizeof sk));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, message, 9, NULL, 0, vk, sizeof vk));
    CHECK(!gambeson_mldsa44_keypair_with(vk, sk, fill, &calls));
    CHECK(!gambeson_mldsa44_sign_with(signature, message, 9, NULL, 0, sk, sizeof sk, fill, &calls));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, message, 9, NULL, 0, vk, sizeof vk));
    CHECK(gambeson_mldsa44_sign(signature, message, 9, NULL, 0, sk, 32) == GAMBESON_ERROR_LENGTH);
    sk[2000] ^= 1;
    CHECK(gambeson_mldsa44_check_sk(sk, sizeof sk) == GAMBESON_ERROR_KEY);
    CHECK(gambeson_mldsa44_sign_with_rnd(signature, message, 9, NULL, 0, sk, sizeof sk, rnd) == GAMBESON_ERROR_KEY);
#endif
    (void)rnd;
}

static void prehash(void)
{
    uint8_t vk[GAMBESON_MLDSA65_VK_BYTES], signature[GAMBESON_MLDSA65_SIGNATURE_BYTES], digest[65] = {0}, rnd[32] = {0};
    gambeson_mldsa65_key key;
    gambeson_prehash_ctx hash, copy;
    CHECK(!gambeson_mldsa65_key_generate(&key, vk));

    // Numbers of no function, lengths of another, null, and what is written over what is read.
    static const int none[5] = {0, -1, 13, 257, 0x7fffffff};
    for (int i = 0; i < 5; i++) {
        CHECK(gambeson_prehash_init(&hash, none[i]) == GAMBESON_ERROR_PREHASH);
        CHECK(gambeson_mldsa65_key_sign_prehashed(&key, signature, none[i], digest, 32, NULL, 0) == GAMBESON_ERROR_PREHASH);
        CHECK(gambeson_mldsa65_verify_prehashed(signature, sizeof signature, none[i], digest, 32, NULL, 0, vk, sizeof vk) ==
              GAMBESON_ERROR_PREHASH);
    }
    CHECK(gambeson_mldsa65_key_sign_prehashed(&key, signature, GAMBESON_PREHASH_SHA2_512, digest, 65, NULL, 0) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa65_key_sign_prehashed(&key, signature, GAMBESON_PREHASH_SHA2_512, digest, 32, NULL, 0) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa65_key_sign_prehashed(&key, signature, GAMBESON_PREHASH_SHA2_512, digest, 0, NULL, 0) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa65_key_sign_prehashed(&key, signature, GAMBESON_PREHASH_SHA2_512, NULL, 64, NULL, 0) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa65_key_sign_prehashed(&key, signature, GAMBESON_PREHASH_SHA2_512, NULL, 0, NULL, 0) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa65_key_sign_prehashed(&key, signature, GAMBESON_PREHASH_SHA2_512, signature, 64, NULL, 0) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mldsa65_key_sign_prehashed_with_rnd(&key, signature, GAMBESON_PREHASH_SHA2_512, digest, 64, vk, 256, rnd) ==
          GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_mldsa65_key_sign_prehashed_with(&key, signature, GAMBESON_PREHASH_SHA2_512, digest, 64, NULL, 0, NULL, NULL) ==
          GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa65_verify_prehashed(signature, sizeof signature, GAMBESON_PREHASH_SHA2_512, digest, 32, NULL, 0, vk, sizeof vk) ==
          GAMBESON_ERROR_LENGTH);

    // A digest is not the message: neither's signature is the other's.
    CHECK(!gambeson_mldsa65_key_sign_prehashed(&key, signature, GAMBESON_PREHASH_SHA2_512, digest, 64, NULL, 0));
    CHECK(gambeson_mldsa65_verify(signature, sizeof signature, digest, 64, NULL, 0, vk, sizeof vk) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_mldsa65_verify_prehashed(signature, sizeof signature, GAMBESON_PREHASH_SHA3_512, digest, 64, NULL, 0, vk, sizeof vk) ==
          GAMBESON_ERROR_SIGNATURE);
    CHECK(!gambeson_mldsa65_key_sign(&key, signature, digest, 64, NULL, 0));
    CHECK(gambeson_mldsa65_verify_prehashed(signature, sizeof signature, GAMBESON_PREHASH_SHA2_512, digest, 64, NULL, 0, vk, sizeof vk) ==
          GAMBESON_ERROR_SIGNATURE);

    // A hash that was not started, or has ended; a wrong length leaves it as it was; a copy goes on.
    for (int i = 0; i < 31; i++) hash.opaque[i] = 0;
    CHECK(gambeson_prehash_update(&hash, rnd, 1) == GAMBESON_ERROR_STATE);
    CHECK(gambeson_prehash_init(NULL, GAMBESON_PREHASH_SHA2_256) == GAMBESON_ERROR_NULL);
    CHECK(!gambeson_prehash_init(&hash, GAMBESON_PREHASH_SHA2_256) && !gambeson_prehash_update(&hash, (const uint8_t *)"ab", 2));
    CHECK(gambeson_prehash_update(&hash, NULL, 1) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_prehash_final(&hash, digest, 64) == GAMBESON_ERROR_LENGTH);
    copy = hash;
    CHECK(!gambeson_prehash_update(&hash, (const uint8_t *)"c", 1) && !gambeson_prehash_final(&hash, digest, 32));
    CHECK(is(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    CHECK(gambeson_prehash_final(&hash, digest, 32) == GAMBESON_ERROR_STATE);
    CHECK(gambeson_prehash_final(&copy, (uint8_t *)copy.opaque, 32) == GAMBESON_ERROR_OVERLAP);
    CHECK(!gambeson_prehash_update(&copy, (const uint8_t *)"c", 1) && !gambeson_prehash_final(&copy, digest + 1, 32));
    CHECK(same(digest + 1, "\xba\x78\x16\xbf", 4));
    CHECK(gambeson_prehash_init((gambeson_prehash_ctx *)((uint8_t *)&hash + 4), GAMBESON_PREHASH_SHA2_256) == GAMBESON_ERROR_STATE);
}

// Keccak-f[1600] from the table of round constants, plainly (FIPS 202, §3).
static void keccak(uint64_t a[25])
{
    static const uint64_t round_constants[24] = {
        0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
        0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
        0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
        0x000000000000800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
    for (int round = 0; round < 24; round++) {
        uint64_t b[25], c[5];
        for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (int i = 0; i < 25; i++) {
            uint64_t next = c[(i + 1) % 5];
            a[i] ^= c[(i + 4) % 5] ^ (next << 1 | next >> 63);
        }
        // rho and pi: along the path (x, y) -> (y, 2x + 3y).
        b[0] = a[0];
        for (int t = 0, x = 1, y = 0; t < 24; t++) {
            int offset = (t + 1) * (t + 2) / 2 % 64, to = y + 5 * ((2 * x + 3 * y) % 5);
            uint64_t lane = a[x + 5 * y];
            b[to] = offset ? lane << offset | lane >> (64 - offset) : lane;
            x = to % 5, y = to / 5;
        }
        for (int y = 0; y < 25; y += 5) {
            for (int x = 0; x < 5; x++) a[y + x] = b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5]);
        }
        a[0] ^= round_constants[round];
    }
}

static void permute(void *ctx, uint64_t *states, size_t count)
{
    int *calls = (int *)ctx;
    for (size_t i = 0; i < count; i++, (*calls)++) keccak(states + 25 * i);
}

static void wrong(void *ctx, uint64_t *states, size_t count)
{
    permute(ctx, states, count);
    states[25 * count - 1] ^= 1;
}

static void plugged(void)
{
    static int calls;
    static gambeson_keccak right = {permute, &calls}, bad = {wrong, &calls}, none = {NULL, NULL};
    uint8_t digest[32];
    CHECK(gambeson_set_keccak(&none) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_set_keccak((const gambeson_keccak *)((const uint8_t *)&right + 1)) == GAMBESON_ERROR_STATE);
    CHECK(gambeson_set_keccak(&bad) == GAMBESON_ERROR_KECCAK);
    calls = 0;
    CHECK(!gambeson_sha3_256(digest, NULL, 0) && calls == 0);
    CHECK(!gambeson_set_keccak(&right) && calls > 0);
    // A wrong one leaves the right one where it is.
    CHECK(gambeson_set_keccak(&bad) == GAMBESON_ERROR_KECCAK);
    calls = 0;
    CHECK(!gambeson_sha3_256(digest, NULL, 0) && calls == 1);
    CHECK(is(digest, "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"));
    mlkem();
    CHECK(calls > 100);
    CHECK(!gambeson_set_keccak(NULL));
    calls = 0;
    CHECK(!gambeson_sha3_256(digest, NULL, 0) && calls == 0);
}

void misuse(void)
{
    errors();
    mlkem();
    mldsa();
    workspaces();
    prehash();
    plugged();
}
