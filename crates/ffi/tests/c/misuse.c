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
    for (int error = 0; error >= GAMBESON_ERROR_SET; error--) {
        CHECK(gambeson_strerror(error) != unknown);
        CHECK(error == 0 || gambeson_strerror(error) != gambeson_strerror(error + 1));
    }
    CHECK(gambeson_strerror(GAMBESON_ERROR_SET - 1) == unknown);
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
    CHECK(!gambeson_mlkem768_key_generate(&key, ek, WITH(fill, &calls)) && calls == 1);
    for (int i = 0; i < 64; i++) expected[i] = (uint8_t)i;
    CHECK(!gambeson_mlkem768_key_seed(&key, seed) && same(seed, expected, 64));
    CHECK(!gambeson_mlkem768_encapsulate(c, k, ek, sizeof ek, WITH(fill, &calls)) && calls == 2);
    CHECK(!gambeson_mlkem768_key_decapsulate(&key, same_k, c, sizeof c) && same(k, same_k, 32));
    CHECK(!gambeson_mlkem768_encapsulate(c, same_k, ek, sizeof ek, GIVEN(expected, 32)) && same(k, same_k, 32));
    CHECK(gambeson_mlkem768_key_generate(&key, ek, WITH(broken, &calls)) == GAMBESON_ERROR_RANDOM && calls == 3);
    CHECK(gambeson_mlkem768_encapsulate(c, k, ek, sizeof ek, WITH(broken, &calls)) == GAMBESON_ERROR_RANDOM);
    CHECK(gambeson_mlkem768_key_generate(&key, ek, WITH(NULL, &calls)) == GAMBESON_ERROR_NULL);

    // The system's: two keys are not the same.
    CHECK(!gambeson_mlkem768_key_generate(&key, ek, NULL) && !gambeson_mlkem768_key_generate(&key, other, NULL));
    CHECK(!same(ek, other, sizeof ek));
    CHECK(!gambeson_mlkem768_encapsulate(c, k, other, sizeof other, NULL));
    CHECK(!gambeson_mlkem768_key_decapsulate(&key, same_k, c, sizeof c) && same(k, same_k, 32));
    CHECK(!gambeson_mlkem768_key_generate(&key, NULL, NULL));

    // Null, lengths.
    CHECK(gambeson_mlkem768_key_generate(NULL, ek, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_key_generate(&key, ek, GIVEN(NULL, 64)) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_key_public(&key, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate(NULL, k, ek, sizeof ek, GIVEN(m, 32)) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate(c, NULL, ek, sizeof ek, GIVEN(m, 32)) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate(c, k, NULL, sizeof ek, GIVEN(m, 32)) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate(c, k, ek, sizeof ek, GIVEN(NULL, 32)) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_encapsulate(c, k, ek, sizeof ek - 1, GIVEN(m, 32)) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mlkem768_key_decapsulate(&key, k, c, sizeof c + 1) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mlkem768_key_decapsulate(&key, k, NULL, sizeof c) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mlkem768_check_ek(ek, 0) == GAMBESON_ERROR_LENGTH);

    // Buffers that overlap: of one call, in part, an output over an input. Two inputs may be one.
    CHECK(gambeson_mlkem768_encapsulate(c, c + 1000, ek, sizeof ek, GIVEN(m, 32)) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mlkem768_encapsulate(c, m, ek, sizeof ek, GIVEN(m, 32)) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mlkem768_encapsulate(ek, k, ek, sizeof ek, GIVEN(m, 32)) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mlkem768_key_seed(&key, key.opaque + 1) == GAMBESON_ERROR_OVERLAP);
    CHECK(!gambeson_mlkem768_encapsulate(c, k, ek, sizeof ek, GIVEN(ek, 32)));

    // A coefficient of q, and one of q - 1.
    for (int i = 0; i < 384 * 3; i++) ek[i] = 0;
    ek[0] = 0x00, ek[1] = 0x0d;
    CHECK(!gambeson_mlkem768_check_ek(ek, sizeof ek));
    ek[0] = 0x01;
    CHECK(gambeson_mlkem768_check_ek(ek, sizeof ek) == GAMBESON_ERROR_KEY);
    CHECK(gambeson_mlkem768_encapsulate(c, k, ek, sizeof ek, WITH(fill, &calls)) == GAMBESON_ERROR_KEY && calls == 4);

#if IS_HOSTED
    uint8_t dk[GAMBESON_MLKEM768_DK_BYTES];
    CHECK(!gambeson_mlkem768_keypair(ek, dk, NULL) && !gambeson_mlkem768_check_dk(dk, sizeof dk));
    CHECK(!gambeson_mlkem768_keypair(ek, dk, WITH(fill, &calls)) && calls == 5);
    CHECK(!gambeson_mlkem768_encapsulate(c, k, ek, sizeof ek, NULL));
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
    gambeson_mlkem768_key key;
    uint8_t ek[GAMBESON_MLKEM768_EK_BYTES], c[GAMBESON_MLKEM768_CIPHERTEXT_BYTES], k[32], same_k[32], seed[64] = {4};
    void *crooked = (uint8_t *)work + 4;
    CHECK(sizeof work[0] == GAMBESON_SMALL_MLKEM768_WORKSPACE_BYTES);
    CHECK(sizeof other == GAMBESON_SMALL_MLDSA44_WORKSPACE_BYTES);

    CHECK(gambeson_small_mlkem768_key_generate_in(&key, ek, GIVEN(seed, 64), NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_small_mlkem768_key_generate_in(&key, ek, GIVEN(NULL, 64), work) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_small_mlkem768_key_generate_in(NULL, ek, GIVEN(seed, 64), work) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_small_mlkem768_key_generate_in(&key, ek, GIVEN(seed, 64), (gambeson_small_mlkem768_workspace *)crooked) ==
          GAMBESON_ERROR_STATE);
    CHECK(gambeson_small_mlkem768_key_generate_in(&key, (uint8_t *)work, GIVEN(seed, 64), work) == GAMBESON_ERROR_OVERLAP);
    CHECK(!gambeson_small_mlkem768_key_generate_in(&key, ek, GIVEN(seed, 64), work));
    CHECK(!gambeson_small_mlkem768_encapsulate_in(c, k, ek, sizeof ek, GIVEN(seed, 32), work));
    CHECK(!gambeson_small_mlkem768_key_decapsulate_in(&key, same_k, c, sizeof c, work) && same(k, same_k, 32));
    CHECK(gambeson_small_mlkem768_key_decapsulate_in(&key, k, c, sizeof c - 1, work) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_small_mlkem768_key_decapsulate_in(&key, k, (uint8_t *)work, sizeof c, work) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_small_mlkem768_encapsulate_in(c, k, ek, 3, GIVEN(seed, 32), work) == GAMBESON_ERROR_LENGTH);
    ek[0] = 0xff, ek[1] = 0xff;
    CHECK(gambeson_small_mlkem768_encapsulate_in(c, k, ek, sizeof ek, GIVEN(seed, 32), work) == GAMBESON_ERROR_KEY);
    // One that is refused is wiped as well as one that is not.
    static uint8_t dk[GAMBESON_MLKEM768_DK_BYTES];
    work[0].opaque[0] = 1;
    CHECK(gambeson_small_mlkem768_decapsulate_in(k, c, sizeof c, dk, sizeof dk, work) == GAMBESON_ERROR_KEY);
    CHECK(zeros(work, sizeof work[0]));

    gambeson_mldsa44_key signer;
    uint8_t vk[GAMBESON_MLDSA44_VK_BYTES], signature[GAMBESON_MLDSA44_SIGNATURE_BYTES];
    CHECK(!gambeson_small_mldsa44_key_generate_in(&signer, vk, GIVEN(seed, 32), &other));
    CHECK(gambeson_small_mldsa44_key_sign_in(&signer, signature, PURE(seed, 64, ek, 256), GIVEN(seed, 32), &other) ==
          GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_small_mldsa44_key_sign_in(&signer, signature, PURE(seed, 64, ek, 255), GIVEN(NULL, 32), &other) ==
          GAMBESON_ERROR_NULL);
    CHECK(!gambeson_small_mldsa44_key_sign_in(&signer, signature, PURE(seed, 64, ek, 255), GIVEN(seed, 32), &other));
    CHECK(!gambeson_small_mldsa44_verify_in(signature, sizeof signature, PURE(seed, 64, ek, 255), vk, sizeof vk, &other));
    CHECK(gambeson_small_mldsa44_verify_in(signature, sizeof signature, PURE(seed, 63, ek, 255), vk, sizeof vk, &other) ==
          GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_small_mldsa44_verify_in(signature, 1, PURE(seed, 64, ek, 255), vk, sizeof vk, &other) == GAMBESON_ERROR_LENGTH);
}

static void mldsa(void)
{
    uint8_t vk[GAMBESON_MLDSA44_VK_BYTES], signature[GAMBESON_MLDSA44_SIGNATURE_BYTES], rnd[32] = {0}, mu[64];
    uint8_t message[300] = {3};
    gambeson_mldsa44_key key;
    gambeson_mldsa_mu_ctx hash;
    gambeson_sha3_256_ctx another;
    int calls = 0;

    CHECK(!gambeson_mldsa44_key_generate(&key, vk, WITH(fill, &calls)) && calls == 1);
    CHECK(!gambeson_mldsa44_key_generate(&key, vk, NULL));
    CHECK(!gambeson_mldsa44_key_sign(&key, signature, PURE(message, 300, message, 255), NULL));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, PURE(message, 300, message, 255), vk, sizeof vk));
    CHECK(!gambeson_mldsa44_key_sign(&key, signature, PURE(message, 300, NULL, 0), WITH(fill, &calls)) && calls == 2);
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, PURE(message, 300, NULL, 0), vk, sizeof vk));
    CHECK(gambeson_mldsa44_key_sign(&key, signature, PURE(message, 300, NULL, 0), WITH(broken, &calls)) == GAMBESON_ERROR_RANDOM);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, PURE(message, 300, message, 256), NULL) == GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, PURE(NULL, 1, NULL, 0), NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, PURE(message, SIZE_MAX, NULL, 0), NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, PURE(signature, 1, NULL, 0), NULL) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mldsa44_key_sign(&key, signature, PURE(message, 1, NULL, 0), GIVEN(NULL, 32)) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa44_verify(signature, 0, PURE(message, 300, NULL, 0), vk, sizeof vk) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa44_verify(signature, sizeof signature, PURE(message, 300, NULL, 0), vk, 3) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa44_verify(signature, sizeof signature, PURE(message, 9, message, 256), vk, sizeof vk) == GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_mldsa44_verify(signature, sizeof signature, PURE(message, 9, NULL, 0), vk, sizeof vk) == GAMBESON_ERROR_SIGNATURE);

    CHECK(gambeson_mldsa44_mu_init(&hash, vk, sizeof vk, message, 256) == GAMBESON_ERROR_CONTEXT);
    CHECK(!gambeson_mldsa44_mu_init(&hash, vk, sizeof vk, NULL, 0) && !gambeson_mldsa_mu_update(&hash, message, 9));
    CHECK(!gambeson_mldsa_mu_final(&hash, mu) && gambeson_mldsa_mu_final(&hash, mu) == GAMBESON_ERROR_STATE);
    CHECK(!gambeson_mldsa44_key_sign(&key, signature, MU(mu), NULL));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, PURE(message, 9, NULL, 0), vk, sizeof vk));
    CHECK(!gambeson_mldsa44_key_sign(&key, signature, MU(mu), WITH(fill, &calls)));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, MU(mu), vk, sizeof vk));
    mu[0] ^= 1;
    CHECK(gambeson_mldsa44_verify(signature, sizeof signature, MU(mu), vk, sizeof vk) == GAMBESON_ERROR_SIGNATURE);
    // One kind of hash is not another.
    CHECK(!gambeson_sha3_256_init(&another));
    CHECK(gambeson_mldsa_mu_update((gambeson_mldsa_mu_ctx *)&another, message, 1) == GAMBESON_ERROR_STATE);

#if IS_HOSTED
    uint8_t sk[GAMBESON_MLDSA44_SK_BYTES];
    CHECK(!gambeson_mldsa44_keypair(vk, sk, NULL) && !gambeson_mldsa44_check_sk(sk, sizeof sk));
    CHECK(!gambeson_mldsa44_sign(signature, PURE(message, 9, NULL, 0), sk, sizeof sk, NULL));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, PURE(message, 9, NULL, 0), vk, sizeof vk));
    CHECK(!gambeson_mldsa44_keypair(vk, sk, WITH(fill, &calls)));
    CHECK(!gambeson_mldsa44_sign(signature, PURE(message, 9, NULL, 0), sk, sizeof sk, WITH(fill, &calls)));
    CHECK(!gambeson_mldsa44_verify(signature, sizeof signature, PURE(message, 9, NULL, 0), vk, sizeof vk));
    CHECK(gambeson_mldsa44_sign(signature, PURE(message, 9, NULL, 0), sk, 32, NULL) == GAMBESON_ERROR_LENGTH);
    sk[2000] ^= 1;
    CHECK(gambeson_mldsa44_check_sk(sk, sizeof sk) == GAMBESON_ERROR_KEY);
    CHECK(gambeson_mldsa44_sign(signature, PURE(message, 9, NULL, 0), sk, sizeof sk, GIVEN(rnd, 32)) == GAMBESON_ERROR_KEY);
#endif
    (void)rnd;
}

// Descriptors: null, crooked, of no kind, with members of another kind, and written over.
static void descriptors(void)
{
    union {
        uint8_t signature[GAMBESON_MLDSA44_SIGNATURE_BYTES];
        gambeson_message message;
        gambeson_randomness randomness;
    } out;
    uint8_t vk[GAMBESON_MLDSA44_VK_BYTES], bytes[64] = {5}, same_vk[GAMBESON_MLDSA44_VK_BYTES];
    gambeson_small_mldsa44_workspace work;
    gambeson_mldsa44_key key, other;
    int calls = 0;
    CHECK(!gambeson_mldsa44_key_generate(&key, vk, GIVEN(bytes, 32)));

    // A message.
    uint8_t place[sizeof(gambeson_randomness) + 8];
    const uint8_t *crooked = place + ((uintptr_t)place % 2 == 0);
    CHECK(gambeson_mldsa44_key_sign(&key, out.signature, NULL, NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa44_verify(out.signature, sizeof out.signature, NULL, vk, sizeof vk) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa44_key_sign(&key, out.signature, (const gambeson_message *)(const void *)crooked, NULL) == GAMBESON_ERROR_STATE);
    for (int kind = -1; kind <= 256; kind += kind == -1 ? 4 : 253) {
        gambeson_message none = {.kind = kind, .data = bytes, .len = 64};
        CHECK(gambeson_mldsa44_key_sign(&key, out.signature, &none, NULL) == GAMBESON_ERROR_DESCRIPTOR);
        CHECK(gambeson_mldsa44_verify(out.signature, sizeof out.signature, &none, vk, sizeof vk) == GAMBESON_ERROR_DESCRIPTOR);
        CHECK(gambeson_small_mldsa44_verify_in(out.signature, sizeof out.signature, &none, vk, sizeof vk, &work) == GAMBESON_ERROR_DESCRIPTOR);
    }
    gambeson_message strange[3] = {
        {.kind = GAMBESON_MESSAGE_PURE, .prehash = GAMBESON_PREHASH_SHA2_512, .data = bytes, .len = 64},
        {.kind = GAMBESON_MESSAGE_MU, .prehash = GAMBESON_PREHASH_SHA2_512, .data = bytes, .len = 64},
        {.kind = GAMBESON_MESSAGE_MU, .data = bytes, .len = 64, .context = bytes, .context_len = 1},
    };
    for (int i = 0; i < 3; i++) {
        CHECK(gambeson_mldsa44_key_sign(&key, out.signature, &strange[i], NULL) == GAMBESON_ERROR_DESCRIPTOR);
    }
    gambeson_message mu = gambeson_message_mu(bytes);
    CHECK(!gambeson_mldsa44_key_sign(&key, out.signature, &mu, NULL));
    mu.len = 63;
    CHECK(gambeson_mldsa44_key_sign(&key, out.signature, &mu, NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa44_key_sign(&key, out.signature, MU(NULL), NULL) == GAMBESON_ERROR_NULL);
    out.message = gambeson_message_pure(bytes, 64, NULL, 0);
    CHECK(gambeson_mldsa44_key_sign(&key, out.signature, &out.message, NULL) == GAMBESON_ERROR_OVERLAP);

    // Randomness: bytes without their kind are no other key.
    CHECK(gambeson_mldsa44_key_generate(&other, NULL, (const gambeson_randomness *)(const void *)crooked) == GAMBESON_ERROR_STATE);
    gambeson_randomness refused[6] = {
        {.bytes = bytes, .len = 32},
        {.fill = fill, .ctx = &calls},
        {.kind = GAMBESON_RANDOMNESS_CALLBACK, .fill = fill, .ctx = &calls, .bytes = bytes, .len = 32},
        {.kind = GAMBESON_RANDOMNESS_BYTES, .fill = fill, .bytes = bytes, .len = 32},
        {.kind = 3, .bytes = bytes, .len = 32},
        {.kind = -1},
    };
    for (int i = 0; i < 6; i++) {
        CHECK(gambeson_mldsa44_key_generate(&other, NULL, &refused[i]) == GAMBESON_ERROR_DESCRIPTOR);
        CHECK(gambeson_mldsa44_key_sign(&key, out.signature, PURE(bytes, 64, NULL, 0), &refused[i]) == GAMBESON_ERROR_DESCRIPTOR);
        CHECK(gambeson_small_mldsa44_key_generate_in(&other, NULL, &refused[i], &work) == GAMBESON_ERROR_DESCRIPTOR);
    }
    out.randomness = gambeson_randomness_bytes(bytes, 32);
    CHECK(gambeson_mldsa44_key_sign(&key, out.signature, PURE(bytes, 64, NULL, 0), &out.randomness) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mldsa44_key_sign(&key, out.signature, PURE(NULL, 0, NULL, 0), GIVEN(out.signature, 32)) == GAMBESON_ERROR_OVERLAP);
    CHECK(calls == 0);

    // Every door of a workspace.
    CHECK(!gambeson_small_mldsa44_key_generate_in(&other, same_vk, GIVEN(bytes, 32), &work) && same(vk, same_vk, sizeof vk));
    CHECK(!gambeson_small_mldsa44_key_sign_in(&other, out.signature, PURE(bytes, 64, bytes, 3), WITH(fill, &calls), &work) && calls == 1);
    CHECK(!gambeson_mldsa44_verify(out.signature, sizeof out.signature, PURE(bytes, 64, bytes, 3), vk, sizeof vk));
    CHECK(!gambeson_small_mldsa44_key_sign_in(&other, out.signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, bytes, 64, bytes, 3), NULL, &work));
    CHECK(!gambeson_small_mldsa44_verify_in(out.signature, sizeof out.signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, bytes, 64, bytes, 3), vk,
                                            sizeof vk, &work));
    CHECK(!gambeson_small_mldsa44_key_generate_in(&other, same_vk, NULL, &work) && !same(vk, same_vk, sizeof vk));

    // The functions of the header fill what the macros of these tests do.
    gambeson_message digest = gambeson_message_prehashed(GAMBESON_PREHASH_SHA2_512, bytes, 64, vk, 9);
    gambeson_randomness callback = gambeson_randomness_callback(fill, &calls);
    CHECK(digest.kind == GAMBESON_MESSAGE_PREHASHED && digest.prehash == GAMBESON_PREHASH_SHA2_512 && digest.data == bytes);
    CHECK(digest.len == 64 && digest.context == vk && digest.context_len == 9);
    CHECK(!gambeson_mldsa44_key_generate(&other, same_vk, &callback) && calls == 2);
    CHECK(callback.kind == GAMBESON_RANDOMNESS_CALLBACK && callback.ctx == &calls && !callback.bytes);
}

static void prehash(void)
{
    uint8_t vk[GAMBESON_MLDSA65_VK_BYTES], signature[GAMBESON_MLDSA65_SIGNATURE_BYTES], digest[65] = {0}, rnd[32] = {0};
    gambeson_mldsa65_key key;
    gambeson_prehash_ctx hash, copy;
    CHECK(!gambeson_mldsa65_key_generate(&key, vk, NULL));

    // Numbers of no function, lengths of another, null, and what is written over what is read.
    static const int none[5] = {0, -1, 13, 257, 0x7fffffff};
    for (int i = 0; i < 5; i++) {
        CHECK(gambeson_prehash_init(&hash, none[i]) == GAMBESON_ERROR_PREHASH);
        CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(none[i], digest, 32, NULL, 0), NULL) == GAMBESON_ERROR_PREHASH);
        CHECK(gambeson_mldsa65_verify(signature, sizeof signature, PREHASHED(none[i], digest, 32, NULL, 0), vk, sizeof vk) ==
              GAMBESON_ERROR_PREHASH);
    }
    CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, digest, 65, NULL, 0), NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, digest, 32, NULL, 0), NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, digest, 0, NULL, 0), NULL) == GAMBESON_ERROR_LENGTH);
    CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, NULL, 64, NULL, 0), NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, NULL, 0, NULL, 0), NULL) == GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, signature, 64, NULL, 0), NULL) == GAMBESON_ERROR_OVERLAP);
    CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, digest, 64, vk, 256), GIVEN(rnd, 32)) ==
          GAMBESON_ERROR_CONTEXT);
    CHECK(gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, digest, 64, NULL, 0), WITH(NULL, NULL)) ==
          GAMBESON_ERROR_NULL);
    CHECK(gambeson_mldsa65_verify(signature, sizeof signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, digest, 32, NULL, 0), vk, sizeof vk) ==
          GAMBESON_ERROR_LENGTH);

    // A digest is not the message: neither's signature is the other's.
    CHECK(!gambeson_mldsa65_key_sign(&key, signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, digest, 64, NULL, 0), NULL));
    CHECK(gambeson_mldsa65_verify(signature, sizeof signature, PURE(digest, 64, NULL, 0), vk, sizeof vk) == GAMBESON_ERROR_SIGNATURE);
    CHECK(gambeson_mldsa65_verify(signature, sizeof signature, PREHASHED(GAMBESON_PREHASH_SHA3_512, digest, 64, NULL, 0), vk, sizeof vk) ==
          GAMBESON_ERROR_SIGNATURE);
    CHECK(!gambeson_mldsa65_key_sign(&key, signature, PURE(digest, 64, NULL, 0), NULL));
    CHECK(gambeson_mldsa65_verify(signature, sizeof signature, PREHASHED(GAMBESON_PREHASH_SHA2_512, digest, 64, NULL, 0), vk, sizeof vk) ==
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
    descriptors();
    prehash();
    plugged();
}
