// Every call of one set of ML-DSA in one schedule that draws randomness, of every kind of message and from every kind of
// randomness; included once for each. `set` names both, `plain` the set alone.

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define CALL(name) JOIN(JOIN(gambeson_, set, _), name, )
#define PLAIN(name) JOIN(JOIN(gambeson_, plain, _), name, )
#define VK JOIN(GAMBESON_, SET, _VK_BYTES)
#define SK JOIN(GAMBESON_, SET, _SK_BYTES)
#define SIGNATURE JOIN(GAMBESON_, SET, _SIGNATURE_BYTES)

// Each kind of message, which is signed and verified.
#define MESSAGE PURE(message, sizeof message, context, sizeof context)
#define DIGEST PREHASHED(GAMBESON_PREHASH_SHA3_384, digest, sizeof digest, context, sizeof context)
#define REPRESENTATIVE MU(mu)
#define CHECK_KEY(described, randomness) \
    CHECK(!CALL(key_sign)(&key, signature, described, randomness) && !CALL(verify)(signature, SIGNATURE, described, vk, VK))
#define CHECK_SK(described, randomness) \
    CHECK(!CALL(sign)(signature, described, sk, SK, randomness) && !CALL(verify)(signature, SIGNATURE, described, vk, VK))

static void JOIN(doors_, set, )(void)
{
    static const uint8_t context[] = {'d', 'o', 'o', 'r'}, message[9] = {3}, digest[48] = {4};
    uint8_t vk[VK], same_vk[VK], signature[SIGNATURE], mu[64], seed[32];
    PLAIN(key) key;
    gambeson_mldsa_mu_ctx hash;
    int calls = 0;

    CHECK(!CALL(key_generate)(&key, vk, WITH(fill, &calls)) && calls == 1);
    CHECK(!CALL(key_generate)(&key, vk, NULL));
    CHECK(!PLAIN(key_seed)(&key, seed) && !CALL(key_generate)(&key, NULL, GIVEN(seed, 32)));
    CHECK(!CALL(key_public)(&key, same_vk) && same(vk, same_vk, VK));
    CHECK(!PLAIN(mu_init)(&hash, vk, VK, context, sizeof context));
    CHECK(!gambeson_mldsa_mu_update(&hash, message, sizeof message) && !gambeson_mldsa_mu_final(&hash, mu));
    CHECK_KEY(MESSAGE, NULL);
    CHECK_KEY(MESSAGE, WITH(fill, &calls));
    CHECK_KEY(MESSAGE, GIVEN(seed, 32));
    CHECK_KEY(REPRESENTATIVE, NULL);
    CHECK_KEY(REPRESENTATIVE, WITH(fill, &calls));
    CHECK_KEY(REPRESENTATIVE, GIVEN(seed, 32));
    CHECK_KEY(DIGEST, NULL);
    CHECK_KEY(DIGEST, WITH(fill, &calls));
    CHECK_KEY(DIGEST, GIVEN(seed, 32));
    CHECK(calls == 4);
    signature[99] ^= 1;
    CHECK(CALL(verify)(signature, SIGNATURE, DIGEST, vk, VK) == GAMBESON_ERROR_SIGNATURE);
    CHECK(CALL(key_sign)(&key, signature, MESSAGE, GIVEN(seed, 31)) == GAMBESON_ERROR_LENGTH);

#if IS_HOSTED
    uint8_t sk[SK], rnd[32] = {5};
    CHECK(!PLAIN(keypair)(vk, sk, WITH(fill, &calls)) && !PLAIN(keypair)(vk, sk, NULL) && !CALL(check_sk)(sk, SK));
    CHECK(!PLAIN(mu_init)(&hash, vk, VK, context, sizeof context));
    CHECK(!gambeson_mldsa_mu_update(&hash, message, sizeof message) && !gambeson_mldsa_mu_final(&hash, mu));
    CHECK_SK(MESSAGE, NULL);
    CHECK_SK(MESSAGE, WITH(fill, &calls));
    CHECK_SK(MESSAGE, GIVEN(rnd, 32));
    CHECK_SK(REPRESENTATIVE, NULL);
    CHECK_SK(REPRESENTATIVE, WITH(fill, &calls));
    CHECK_SK(REPRESENTATIVE, GIVEN(rnd, 32));
    CHECK_SK(DIGEST, NULL);
    CHECK_SK(DIGEST, WITH(fill, &calls));
    CHECK_SK(DIGEST, GIVEN(rnd, 32));
    CHECK(calls == 8);
    CHECK(CALL(sign)(signature, DIGEST, sk, SK - 1, NULL) == GAMBESON_ERROR_LENGTH);
#endif
}

#undef JOIN_
#undef JOIN
#undef CALL
#undef PLAIN
#undef VK
#undef SK
#undef SIGNATURE
#undef MESSAGE
#undef DIGEST
#undef REPRESENTATIVE
#undef CHECK_KEY
#undef CHECK_SK
#undef set
#undef plain
#undef SET
