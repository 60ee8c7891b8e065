// Every call of one set of ML-DSA in one schedule that draws randomness; included once for each. `set` names both, `plain` the set alone.

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define CALL(name) JOIN(JOIN(gambeson_, set, _), name, )
#define KEYPAIR(door) JOIN(JOIN(gambeson_, plain, _keypair), door, )
#define VK JOIN(GAMBESON_, SET, _VK_BYTES)
#define SK JOIN(GAMBESON_, SET, _SK_BYTES)
#define SIGNATURE JOIN(GAMBESON_, SET, _SIGNATURE_BYTES)

// What each call signs.
#define MESSAGE message, sizeof message, context, sizeof context
#define DIGEST GAMBESON_PREHASH_SHA3_384, digest, sizeof digest, context, sizeof context
#define CHECK_MESSAGE(call) CHECK(!(call) && !CALL(verify)(signature, SIGNATURE, MESSAGE, vk, VK))
#define CHECK_MU(call) CHECK(!(call) && !CALL(verify_mu)(signature, SIGNATURE, mu, vk, VK))
#define CHECK_DIGEST(call) CHECK(!(call) && !CALL(verify_prehashed)(signature, SIGNATURE, DIGEST, vk, VK))

static void JOIN(doors_, set, )(void)
{
    static const uint8_t context[] = {'d', 'o', 'o', 'r'}, message[9] = {3}, digest[48] = {4};
    uint8_t vk[VK], same_vk[VK], signature[SIGNATURE], mu[64], seed[32];
    CALL(key) key;
    gambeson_mldsa_mu_ctx hash;
    int calls = 0;

    CHECK(!CALL(key_generate_with)(&key, vk, fill, &calls) && calls == 1);
    CHECK(!CALL(key_generate)(&key, vk) && !CALL(key_seed)(&key, seed) && !CALL(key_from_seed)(&key, NULL, seed));
    CHECK(!CALL(key_public)(&key, same_vk) && same(vk, same_vk, VK));
    CHECK(!CALL(mu_init)(&hash, vk, VK, context, sizeof context));
    CHECK(!gambeson_mldsa_mu_update(&hash, message, sizeof message) && !gambeson_mldsa_mu_final(&hash, mu));
    CHECK_MESSAGE(CALL(key_sign)(&key, signature, MESSAGE));
    CHECK_MESSAGE(CALL(key_sign_with)(&key, signature, MESSAGE, fill, &calls));
    CHECK_MU(CALL(key_sign_mu)(&key, signature, mu));
    CHECK_MU(CALL(key_sign_mu_with)(&key, signature, mu, fill, &calls));
    CHECK_MU(CALL(key_sign_mu_with_rnd)(&key, signature, mu, seed));
    CHECK_DIGEST(CALL(key_sign_prehashed)(&key, signature, DIGEST));
    CHECK_DIGEST(CALL(key_sign_prehashed_with)(&key, signature, DIGEST, fill, &calls));
    CHECK(calls == 4);
    signature[99] ^= 1;
    CHECK(CALL(verify_prehashed)(signature, SIGNATURE, DIGEST, vk, VK) == GAMBESON_ERROR_SIGNATURE);

#if IS_HOSTED
    uint8_t sk[SK], rnd[32] = {5};
    CHECK(!KEYPAIR(_with)(vk, sk, fill, &calls) && !KEYPAIR()(vk, sk) && !CALL(check_sk)(sk, SK));
    CHECK(!CALL(mu_init)(&hash, vk, VK, context, sizeof context));
    CHECK(!gambeson_mldsa_mu_update(&hash, message, sizeof message) && !gambeson_mldsa_mu_final(&hash, mu));
    CHECK_MESSAGE(CALL(sign)(signature, MESSAGE, sk, SK));
    CHECK_MESSAGE(CALL(sign_with)(signature, MESSAGE, sk, SK, fill, &calls));
    CHECK_MU(CALL(sign_mu)(signature, mu, sk, SK));
    CHECK_MU(CALL(sign_mu_with)(signature, mu, sk, SK, fill, &calls));
    CHECK_MU(CALL(sign_mu_with_rnd)(signature, mu, sk, SK, rnd));
    CHECK_DIGEST(CALL(sign_prehashed)(signature, DIGEST, sk, SK));
    CHECK_DIGEST(CALL(sign_prehashed_with)(signature, DIGEST, sk, SK, fill, &calls));
    CHECK_DIGEST(CALL(sign_prehashed_with_rnd)(signature, DIGEST, sk, SK, rnd));
    CHECK(calls == 8);
    CHECK(CALL(sign_prehashed)(signature, DIGEST, sk, SK - 1) == GAMBESON_ERROR_LENGTH);
#endif
}

#undef JOIN_
#undef JOIN
#undef CALL
#undef KEYPAIR
#undef VK
#undef SK
#undef SIGNATURE
#undef MESSAGE
#undef DIGEST
#undef CHECK_MESSAGE
#undef CHECK_MU
#undef CHECK_DIGEST
#undef set
#undef plain
#undef SET
