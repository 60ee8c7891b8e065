// Every call of one set of ML-KEM in one schedule that draws randomness; included once for each. `set` names both, `plain` the set alone.

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define CALL(name) JOIN(JOIN(gambeson_, set, _), name, )
#define KEYPAIR(door) JOIN(JOIN(gambeson_, plain, _keypair), door, )
#define EK JOIN(GAMBESON_, SET, _EK_BYTES)
#define DK JOIN(GAMBESON_, SET, _DK_BYTES)
#define CIPHERTEXT JOIN(GAMBESON_, SET, _CIPHERTEXT_BYTES)

#define CHECK_SHARED(call) CHECK(!(call) && !CALL(key_decapsulate)(&key, same_k, c, CIPHERTEXT) && same(k, same_k, sizeof k))

static void JOIN(doors_, set, )(void)
{
    uint8_t ek[EK], same_ek[EK], c[CIPHERTEXT], k[32], same_k[32], seed[64];
    CALL(key) key;
    int calls = 0;
    CHECK(!CALL(key_generate_with)(&key, ek, fill, &calls) && !CALL(check_ek)(ek, EK));
    CHECK_SHARED(CALL(encapsulate_with)(c, k, ek, EK, fill, &calls));
    CHECK(!CALL(key_generate)(&key, ek) && calls == 2);
    CHECK_SHARED(CALL(encapsulate)(c, k, ek, EK));
    CHECK(!CALL(key_seed)(&key, seed) && !CALL(key_from_seed)(&key, NULL, seed));
    CHECK(!CALL(key_public)(&key, same_ek) && same(ek, same_ek, EK));
    CHECK_SHARED(CALL(encapsulate)(c, k, same_ek, EK));

#if IS_HOSTED
    uint8_t dk[DK];
    CHECK(!KEYPAIR(_with)(ek, dk, fill, &calls) && !KEYPAIR()(ek, dk) && !CALL(check_dk)(dk, DK));
    CHECK(!CALL(encapsulate)(c, k, ek, EK) && calls == 3);
    CHECK(!CALL(decapsulate)(same_k, c, CIPHERTEXT, dk, DK) && same(k, same_k, sizeof k));
    CHECK(CALL(decapsulate)(same_k, c, CIPHERTEXT, dk, DK - 1) == GAMBESON_ERROR_LENGTH);
#endif
}

#undef JOIN_
#undef JOIN
#undef CALL
#undef KEYPAIR
#undef EK
#undef DK
#undef CIPHERTEXT
#undef CHECK_SHARED
#undef set
#undef plain
#undef SET
