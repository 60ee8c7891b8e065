// An accumulated run of one set of ML-KEM, which `set` and `SET` name; included once for each.

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define CALL(name) JOIN(JOIN(gambeson_, set, _), name, )
#define SMALL(name) JOIN(JOIN(gambeson_small_, set, _), name, )
#define EK JOIN(GAMBESON_, SET, _EK_BYTES)
#define DK JOIN(GAMBESON_, SET, _DK_BYTES)
#define CIPHERTEXT JOIN(GAMBESON_, SET, _CIPHERTEXT_BYTES)

// `published` takes what the published digests take; `compact` leaves dk out.
static void JOIN(run_, set, )(int steps, const char *published, const char *compact)
{
    uint8_t ek[EK], same_ek[EK], c[CIPHERTEXT], same_c[CIPHERTEXT], random_c[CIPHERTEXT];
    uint8_t seed[64], same_seed[64], m[32], k[32], same_k[32], rejected[32], digest[32];
    CALL(key) key, small;
    gambeson_shake128_ctx in, out, out_with_dk;
    CHECK(!gambeson_shake128_init(&in) && !gambeson_shake128_init(&out) && !gambeson_shake128_init(&out_with_dk));
    for (int step = 0; step < steps; step++) {
        CHECK(!gambeson_shake128_squeeze(&in, seed, sizeof seed));
        CHECK(!gambeson_shake128_squeeze(&in, m, sizeof m));
        CHECK(!gambeson_shake128_squeeze(&in, random_c, sizeof random_c));

        CHECK(!CALL(key_generate)(&key, ek, GIVEN(seed, 64)));
        CHECK(!CALL(check_ek)(ek, sizeof ek));
        CHECK(!CALL(encapsulate)(c, k, ek, sizeof ek, GIVEN(m, 32)));
        CHECK(!CALL(key_decapsulate)(&key, same_k, c, sizeof c) && same(k, same_k, sizeof k));
        CHECK(!CALL(key_decapsulate)(&key, rejected, random_c, sizeof random_c));
        CHECK(!CALL(key_public)(&key, same_ek) && same(ek, same_ek, sizeof ek));
        CHECK(!CALL(key_seed)(&key, same_seed) && same(seed, same_seed, sizeof seed));

        CHECK(!SMALL(key_generate)(&small, same_ek, GIVEN(seed, 64)) && same(ek, same_ek, sizeof ek));
        CHECK(same(&key, &small, sizeof key));
        CHECK(!SMALL(encapsulate)(same_c, same_k, ek, sizeof ek, GIVEN(m, 32)));
        CHECK(same(c, same_c, sizeof c) && same(k, same_k, sizeof k));
        CHECK(!SMALL(key_decapsulate)(&small, same_k, c, sizeof c) && same(k, same_k, sizeof k));
        CHECK(!SMALL(key_decapsulate)(&small, same_k, random_c, sizeof c) && same(rejected, same_k, sizeof k));

        // In a workspace, which does not begin as zeros, and ends so.
        SMALL(workspace) work;
        gambeson_shake128_ctx noise = in;
        CHECK(!gambeson_shake128_squeeze(&noise, (uint8_t *)&work, sizeof work));
        CHECK(!SMALL(key_generate_in)(&small, NULL, GIVEN(seed, 64), &work) && zeros(&work, sizeof work));
        CHECK(!SMALL(key_public_in)(&small, same_ek, &work) && same(ek, same_ek, sizeof ek));
        CHECK(!SMALL(key_generate_in)(&small, same_ek, GIVEN(seed, 64), &work) && same(ek, same_ek, sizeof ek));
        CHECK(!SMALL(encapsulate_in)(same_c, same_k, ek, sizeof ek, GIVEN(m, 32), &work));
        CHECK(same(c, same_c, sizeof c) && same(k, same_k, sizeof k) && zeros(&work, sizeof work));
        CHECK(!SMALL(key_decapsulate_in)(&small, same_k, c, sizeof c, &work) && same(k, same_k, sizeof k));
        CHECK(!SMALL(key_decapsulate_in)(&small, same_k, random_c, sizeof c, &work) && same(rejected, same_k, sizeof k));
        CHECK(zeros(&work, sizeof work));

        gambeson_shake128_ctx *both[2] = {&out, &out_with_dk};
        for (int i = 0; i < 2; i++) CHECK(!gambeson_shake128_update(both[i], ek, sizeof ek));
#if IS_HOSTED
        uint8_t dk[DK];
        CHECK(!CALL(keypair)(same_ek, dk, GIVEN(seed, 64)) && same(ek, same_ek, sizeof ek));
        CHECK(!CALL(check_dk)(dk, sizeof dk));
        CHECK(!CALL(decapsulate)(same_k, c, sizeof c, dk, sizeof dk) && same(k, same_k, sizeof k));
        CHECK(!SMALL(decapsulate)(same_k, random_c, sizeof c, dk, sizeof dk) && same(rejected, same_k, sizeof k));
        CHECK(!SMALL(decapsulate_in)(same_k, c, sizeof c, dk, sizeof dk, &work) && same(k, same_k, sizeof k));
        CHECK(!SMALL(decapsulate_in)(same_k, random_c, sizeof c, dk, sizeof dk, &work));
        CHECK(same(rejected, same_k, sizeof k) && zeros(&work, sizeof work));
        CHECK(!gambeson_shake128_update(&out_with_dk, dk, sizeof dk));
#endif
        for (int i = 0; i < 2; i++) {
            CHECK(!gambeson_shake128_update(both[i], c, sizeof c));
            CHECK(!gambeson_shake128_update(both[i], k, sizeof k));
            CHECK(!gambeson_shake128_update(both[i], rejected, sizeof rejected));
        }
    }
    CHECK(!gambeson_shake128_squeeze(&out, digest, sizeof digest) && is(digest, compact));
    CHECK(!gambeson_shake128_squeeze(&out_with_dk, digest, sizeof digest));
    CHECK(!IS_HOSTED || is(digest, published));
}

#undef JOIN_
#undef JOIN
#undef CALL
#undef SMALL
#undef EK
#undef DK
#undef CIPHERTEXT
#undef set
#undef SET
