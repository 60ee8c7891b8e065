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
    CALL(key) key, small;
    gambeson_shake128_ctx in, out;
    gambeson_mldsa_mu_ctx hash;
    CHECK(!gambeson_shake128_init(&in) && !gambeson_shake128_init(&out));
    for (int step = 0; step < steps; step++) {
        CHECK(!gambeson_shake128_squeeze(&in, seed, sizeof seed));
        CHECK(!CALL(key_generate)(&key, vk, GIVEN(seed, 32)));
        CHECK(!CALL(key_sign)(&key, signature, PURE(NULL, 0, NULL, 0), GIVEN(zero, 32)));
        CHECK(!CALL(verify)(signature, sizeof signature, PURE(NULL, 0, NULL, 0), vk, sizeof vk));

        CHECK(!SMALL(key_generate)(&small, same_vk, GIVEN(seed, 32)) && same(vk, same_vk, sizeof vk));
        CHECK(same(&key, &small, sizeof key));
        CHECK(!SMALL(key_sign)(&small, same_signature, PURE(NULL, 0, NULL, 0), GIVEN(zero, 32)));
        CHECK(same(signature, same_signature, sizeof signature));
        CHECK(!SMALL(verify)(signature, sizeof signature, PURE(NULL, 0, NULL, 0), vk, sizeof vk));

        // In a workspace, which does not begin as zeros, and ends so.
        SMALL(workspace) work;
        gambeson_shake128_ctx noise = in;
        CHECK(!gambeson_shake128_squeeze(&noise, (uint8_t *)&work, sizeof work));
        CHECK(!SMALL(key_generate_in)(&small, NULL, GIVEN(seed, 32), &work) && zeros(&work, sizeof work));
        CHECK(!SMALL(key_public_in)(&small, same_vk, &work) && same(vk, same_vk, sizeof vk));
        CHECK(!SMALL(key_generate_in)(&small, same_vk, GIVEN(seed, 32), &work) && same(vk, same_vk, sizeof vk));
        CHECK(!SMALL(key_sign_in)(&small, same_signature, PURE(NULL, 0, NULL, 0), GIVEN(zero, 32), &work));
        CHECK(same(signature, same_signature, sizeof signature) && zeros(&work, sizeof work));
        CHECK(!SMALL(verify_in)(signature, sizeof signature, PURE(NULL, 0, NULL, 0), vk, sizeof vk, &work));
        CHECK(zeros(&work, sizeof work));
        if (step == 0) {
            CHECK(!CALL(key_public)(&key, same_vk) && same(vk, same_vk, sizeof vk));
            CHECK(!CALL(key_seed)(&key, same_seed) && same(seed, same_seed, sizeof seed));

            // In pieces, and in a context.
            CHECK(!CALL(mu_init)(&hash, vk, sizeof vk, NULL, 0) && !gambeson_mldsa_mu_final(&hash, mu));
            CHECK(!CALL(key_sign)(&key, same_signature, MU(mu), GIVEN(zero, 32)));
            CHECK(same(signature, same_signature, sizeof signature));
            CHECK(!SMALL(key_sign_in)(&small, same_signature, MU(mu), GIVEN(zero, 32), &work));
            CHECK(same(signature, same_signature, sizeof signature));
            CHECK(!SMALL(verify_in)(signature, SIGNATURE, MU(mu), vk, sizeof vk, &work));
            CHECK(!CALL(mu_init)(&hash, vk, sizeof vk, seed, 9));
            CHECK(!gambeson_mldsa_mu_update(&hash, vk, 100) && !gambeson_mldsa_mu_update(&hash, vk + 100, VK - 100));
            CHECK(!gambeson_mldsa_mu_final(&hash, mu));
            CHECK(!CALL(key_sign)(&key, same_signature, PURE(vk, sizeof vk, seed, 9), GIVEN(seed, 32)));
            CHECK(!CALL(verify)(same_signature, SIGNATURE, MU(mu), vk, sizeof vk));
            CHECK(!CALL(verify)(same_signature, SIGNATURE, PURE(vk, VK, seed, 9), vk, VK));
            CHECK(CALL(verify)(same_signature, SIGNATURE, PURE(vk, VK, seed, 8), vk, VK) == GAMBESON_ERROR_SIGNATURE);
            same_signature[99] ^= 1;
            CHECK(CALL(verify)(same_signature, SIGNATURE, PURE(vk, VK, seed, 9), vk, VK) == GAMBESON_ERROR_SIGNATURE);
            CHECK(SMALL(verify_in)(same_signature, SIGNATURE, PURE(vk, VK, seed, 9), vk, VK, &work) == GAMBESON_ERROR_SIGNATURE);
            CHECK(zeros(&work, sizeof work));

            // Of a digest: μ is made here as FIPS 204 has it, and the signature is the one of μ.
            for (int prehash = 1; prehash <= 12; prehash++) {
                uint8_t tr[64], hashed[64], of_mu[SIGNATURE];
                size_t len = digest_of(prehash, hashed, vk, VK);
                CHECK(!gambeson_shake256(tr, sizeof tr, vk, VK));
                represent(mu, tr, seed, 9, prehash, hashed, len);
                CHECK(!CALL(key_sign)(&key, of_mu, MU(mu), GIVEN(seed, 32)));
                CHECK(!CALL(key_sign)(&key, same_signature, PREHASHED(prehash, hashed, len, seed, 9), GIVEN(seed, 32)));
                CHECK(same(of_mu, same_signature, SIGNATURE));
                CHECK(!SMALL(key_sign)(&small, same_signature, PREHASHED(prehash, hashed, len, seed, 9), GIVEN(seed, 32)));
                CHECK(same(of_mu, same_signature, SIGNATURE));
                CHECK(!CALL(verify)(of_mu, SIGNATURE, PREHASHED(prehash, hashed, len, seed, 9), vk, VK));
                CHECK(!SMALL(verify)(of_mu, SIGNATURE, PREHASHED(prehash, hashed, len, seed, 9), vk, VK));
                hashed[0] ^= 1;
                CHECK(CALL(verify)(of_mu, SIGNATURE, PREHASHED(prehash, hashed, len, seed, 9), vk, VK) == GAMBESON_ERROR_SIGNATURE);
            }
        }
#if IS_HOSTED
        uint8_t sk[SK];
        CHECK(!CALL(keypair)(same_vk, sk, GIVEN(seed, 32)) && same(vk, same_vk, sizeof vk));
        CHECK(!CALL(check_sk)(sk, sizeof sk));
        CHECK(!CALL(sign)(same_signature, PURE(NULL, 0, NULL, 0), sk, sizeof sk, GIVEN(zero, 32)));
        CHECK(same(signature, same_signature, sizeof signature));
        CHECK(!SMALL(sign)(same_signature, PURE(NULL, 0, NULL, 0), sk, sizeof sk, GIVEN(zero, 32)));
        CHECK(same(signature, same_signature, sizeof signature));
        CHECK(!SMALL(sign_in)(same_signature, PURE(NULL, 0, NULL, 0), sk, sizeof sk, GIVEN(zero, 32), &work));
        CHECK(same(signature, same_signature, sizeof signature) && zeros(&work, sizeof work));
        CHECK(!CALL(mu_init)(&hash, vk, sizeof vk, NULL, 0) && !gambeson_mldsa_mu_final(&hash, mu));
        CHECK(!SMALL(sign_in)(same_signature, MU(mu), sk, sizeof sk, GIVEN(zero, 32), &work));
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
