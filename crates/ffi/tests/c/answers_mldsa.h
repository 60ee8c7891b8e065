// An accumulated run of one set of ML-DSA, which `set` and `SET` name; included once for each.

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define CALL(name) JOIN(JOIN(gambeson_, set, _), name, )
#define SMALL(name) JOIN(JOIN(gambeson_small_, set, _), name, )
#define VK JOIN(GAMBESON_, SET, _VK_BYTES)
#define SK JOIN(GAMBESON_, SET, _SK_BYTES)
#define SIGNATURE JOIN(GAMBESON_, SET, _SIGNATURE_BYTES)

static void JOIN(run_, set, )(int steps, const char *published)
{
    static const uint8_t zero[32] = {0};
    uint8_t vk[VK], same_vk[VK], signature[SIGNATURE], same_signature[SIGNATURE];
    uint8_t seed[32], same_seed[32], mu[64], digest[32];
    CALL(key) key;
    SMALL(key) small;
    gambeson_shake128_ctx in, out;
    gambeson_mldsa_mu_ctx hash;
    CHECK(!gambeson_shake128_init(&in) && !gambeson_shake128_init(&out));
    for (int step = 0; step < steps; step++) {
        CHECK(!gambeson_shake128_squeeze(&in, seed, sizeof seed));
        CHECK(!CALL(key_from_seed)(&key, vk, seed));
        CHECK(!CALL(key_sign_with_rnd)(&key, signature, NULL, 0, NULL, 0, zero));
        CHECK(!CALL(verify)(signature, sizeof signature, NULL, 0, NULL, 0, vk, sizeof vk));

        CHECK(!SMALL(key_from_seed)(&small, same_vk, seed) && same(vk, same_vk, sizeof vk));
        CHECK(!SMALL(key_sign_with_rnd)(&small, same_signature, NULL, 0, NULL, 0, zero));
        CHECK(same(signature, same_signature, sizeof signature));
        CHECK(!SMALL(verify)(signature, sizeof signature, NULL, 0, NULL, 0, vk, sizeof vk));

        // In a workspace, which does not begin as zeros, and ends so.
        SMALL(workspace) work;
        gambeson_shake128_ctx noise = in;
        CHECK(!gambeson_shake128_squeeze(&noise, (uint8_t *)&work, sizeof work));
        CHECK(!SMALL(key_from_seed_in)(&small, NULL, seed, &work) && zeros(&work, sizeof work));
        CHECK(!SMALL(key_public_in)(&small, same_vk, &work) && same(vk, same_vk, sizeof vk));
        CHECK(!SMALL(key_from_seed_in)(&small, same_vk, seed, &work) && same(vk, same_vk, sizeof vk));
        CHECK(!SMALL(key_sign_with_rnd_in)(&small, same_signature, NULL, 0, NULL, 0, zero, &work));
        CHECK(same(signature, same_signature, sizeof signature) && zeros(&work, sizeof work));
        CHECK(!SMALL(verify_in)(signature, sizeof signature, NULL, 0, NULL, 0, vk, sizeof vk, &work));
        CHECK(zeros(&work, sizeof work));
        if (step == 0) {
            CHECK(!CALL(key_public)(&key, same_vk) && same(vk, same_vk, sizeof vk));
            CHECK(!CALL(key_seed)(&key, same_seed) && same(seed, same_seed, sizeof seed));

            // In pieces, and in a context.
            CHECK(!CALL(mu_init)(&hash, vk, sizeof vk, NULL, 0) && !gambeson_mldsa_mu_final(&hash, mu));
            CHECK(!CALL(key_sign_mu_with_rnd)(&key, same_signature, mu, zero));
            CHECK(same(signature, same_signature, sizeof signature));
            CHECK(!SMALL(key_sign_mu_with_rnd_in)(&small, same_signature, mu, zero, &work));
            CHECK(same(signature, same_signature, sizeof signature));
            CHECK(!SMALL(verify_mu_in)(signature, SIGNATURE, mu, vk, sizeof vk, &work));
            CHECK(!CALL(mu_init)(&hash, vk, sizeof vk, seed, 9));
            CHECK(!gambeson_mldsa_mu_update(&hash, vk, 100) && !gambeson_mldsa_mu_update(&hash, vk + 100, VK - 100));
            CHECK(!gambeson_mldsa_mu_final(&hash, mu));
            CHECK(!CALL(key_sign_with_rnd)(&key, same_signature, vk, sizeof vk, seed, 9, seed));
            CHECK(!CALL(verify_mu)(same_signature, SIGNATURE, mu, vk, sizeof vk));
            CHECK(!CALL(verify)(same_signature, SIGNATURE, vk, VK, seed, 9, vk, VK));
            CHECK(CALL(verify)(same_signature, SIGNATURE, vk, VK, seed, 8, vk, VK) == GAMBESON_ERROR_SIGNATURE);
            same_signature[99] ^= 1;
            CHECK(CALL(verify)(same_signature, SIGNATURE, vk, VK, seed, 9, vk, VK) == GAMBESON_ERROR_SIGNATURE);
            CHECK(SMALL(verify_in)(same_signature, SIGNATURE, vk, VK, seed, 9, vk, VK, &work) == GAMBESON_ERROR_SIGNATURE);
            CHECK(zeros(&work, sizeof work));

            // Of a digest: μ is made here as FIPS 204 has it, and the signature is the one of μ.
            for (int prehash = 1; prehash <= 12; prehash++) {
                uint8_t tr[64], hashed[64], of_mu[SIGNATURE];
                size_t len = digest_of(prehash, hashed, vk, VK);
                CHECK(!gambeson_shake256(tr, sizeof tr, vk, VK));
                represent(mu, tr, seed, 9, prehash, hashed, len);
                CHECK(!CALL(key_sign_mu_with_rnd)(&key, of_mu, mu, seed));
                CHECK(!CALL(key_sign_prehashed_with_rnd)(&key, same_signature, prehash, hashed, len, seed, 9, seed));
                CHECK(same(of_mu, same_signature, SIGNATURE));
                CHECK(!SMALL(key_sign_prehashed_with_rnd)(&small, same_signature, prehash, hashed, len, seed, 9, seed));
                CHECK(same(of_mu, same_signature, SIGNATURE));
                CHECK(!CALL(verify_prehashed)(of_mu, SIGNATURE, prehash, hashed, len, seed, 9, vk, VK));
                CHECK(!SMALL(verify_prehashed)(of_mu, SIGNATURE, prehash, hashed, len, seed, 9, vk, VK));
                hashed[0] ^= 1;
                CHECK(CALL(verify_prehashed)(of_mu, SIGNATURE, prehash, hashed, len, seed, 9, vk, VK) == GAMBESON_ERROR_SIGNATURE);
            }
        }
#if IS_HOSTED
        uint8_t sk[SK];
        CHECK(!CALL(keypair_from_seed)(same_vk, sk, seed) && same(vk, same_vk, sizeof vk));
        CHECK(!CALL(check_sk)(sk, sizeof sk));
        CHECK(!CALL(sign_with_rnd)(same_signature, NULL, 0, NULL, 0, sk, sizeof sk, zero));
        CHECK(same(signature, same_signature, sizeof signature));
        CHECK(!SMALL(sign_with_rnd)(same_signature, NULL, 0, NULL, 0, sk, sizeof sk, zero));
        CHECK(same(signature, same_signature, sizeof signature));
        CHECK(!SMALL(sign_with_rnd_in)(same_signature, NULL, 0, NULL, 0, sk, sizeof sk, zero, &work));
        CHECK(same(signature, same_signature, sizeof signature) && zeros(&work, sizeof work));
        CHECK(!CALL(mu_init)(&hash, vk, sizeof vk, NULL, 0) && !gambeson_mldsa_mu_final(&hash, mu));
        CHECK(!SMALL(sign_mu_with_rnd_in)(same_signature, mu, sk, sizeof sk, zero, &work));
        CHECK(same(signature, same_signature, sizeof signature));
#endif
        CHECK(!gambeson_shake128_update(&out, vk, sizeof vk));
        CHECK(!gambeson_shake128_update(&out, signature, sizeof signature));
    }
    CHECK(!gambeson_shake128_squeeze(&out, digest, sizeof digest) && is(digest, published));
}

#undef JOIN_
#undef JOIN
#undef CALL
#undef SMALL
#undef VK
#undef SK
#undef SIGNATURE
#undef set
#undef SET
