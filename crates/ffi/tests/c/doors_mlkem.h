// Every call of one set of ML-KEM in one schedule that draws randomness, from every kind of it; included once for each. `set` names both, `plain` the set alone.

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define CALL(name) JOIN(JOIN(gambeson_, set, _), name, )
#define PLAIN(name) JOIN(JOIN(gambeson_, plain, _), name, )
#define EK JOIN(GAMBESON_, SET, _EK_BYTES)
#define DK JOIN(GAMBESON_, SET, _DK_BYTES)
#define CIPHERTEXT JOIN(GAMBESON_, SET, _CIPHERTEXT_BYTES)

#define CHECK_SHARED(call) CHECK(!(call) && !CALL(key_decapsulate)(&key, same_k, c, CIPHERTEXT) && same(k, same_k, sizeof k))

static void JOIN(doors_, set, )(void)
{
    uint8_t ek[EK], same_ek[EK], c[CIPHERTEXT], k[32], same_k[32], seed[64];
    PLAIN(key) key;
    int calls = 0;
    CHECK(!CALL(key_generate)(&key, ek, WITH(fill, &calls)) && !PLAIN(check_ek)(ek, EK));
    CHECK_SHARED(CALL(encapsulate)(c, k, ek, EK, WITH(fill, &calls)));
    CHECK(!CALL(key_generate)(&key, ek, NULL) && calls == 2);
    CHECK_SHARED(CALL(encapsulate)(c, k, ek, EK, NULL));
    CHECK_SHARED(CALL(encapsulate)(c, k, ek, EK, &(gambeson_randomness){.kind = GAMBESON_RANDOMNESS_SYSTEM}));
    CHECK(!PLAIN(key_seed)(&key, seed) && !CALL(key_generate)(&key, NULL, GIVEN(seed, 64)));
    CHECK(!CALL(key_public)(&key, same_ek) && same(ek, same_ek, EK));
    CHECK_SHARED(CALL(encapsulate)(c, k, same_ek, EK, NULL));
    CHECK_SHARED(CALL(encapsulate)(c, k, ek, EK, GIVEN(seed, 32)));
    CHECK(CALL(encapsulate)(c, k, ek, EK, GIVEN(seed, 64)) == GAMBESON_ERROR_LENGTH);
    CHECK(CALL(key_generate)(&key, ek, GIVEN(seed, 32)) == GAMBESON_ERROR_LENGTH);

#if IS_HOSTED
    uint8_t dk[DK];
    CHECK(!PLAIN(keypair)(ek, dk, WITH(fill, &calls)) && !PLAIN(keypair)(ek, dk, NULL) && !PLAIN(check_dk)(dk, DK));
    CHECK(!CALL(encapsulate)(c, k, ek, EK, NULL) && calls == 3);
    CHECK(!CALL(decapsulate)(same_k, c, CIPHERTEXT, dk, DK) && same(k, same_k, sizeof k));
    CHECK(CALL(decapsulate)(same_k, c, CIPHERTEXT, dk, DK - 1) == GAMBESON_ERROR_LENGTH);
#endif
}

#undef JOIN_
#undef JOIN
#undef CALL
#undef PLAIN
#undef EK
#undef DK
#undef CIPHERTEXT
#undef CHECK_SHARED
#undef set
#undef plain
#undef SET
