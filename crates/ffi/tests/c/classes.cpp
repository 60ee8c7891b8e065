// The header in C++11: arrays that wipe themselves, sizes known when it is compiled, a callback without a capture.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "gambeson.h"

static int checks;

#define CHECK(condition)                                                         \
    do {                                                                         \
        checks++;                                                                \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                        \
        }                                                                        \
    } while (0)

template <std::size_t N> struct Secret : std::array<uint8_t, N> {
    ~Secret() { gambeson_wipe(this->data(), N); }
};

static_assert(GAMBESON_MLKEM1024_EK_BYTES == 384 * 4 + 32, "FIPS 203, Table 3");
static_assert(sizeof(gambeson_mlkem1024_key) == 96 && sizeof(gambeson_mldsa87_key) == 96, "keys are their seeds");
static_assert(sizeof(gambeson_shake256_ctx) == 216 && alignof(gambeson_shake256_ctx) == 8, "a sponge and what it is");

int main()
{
    gambeson_mlkem1024_key key;
    std::array<uint8_t, GAMBESON_MLKEM1024_EK_BYTES> ek;
    std::array<uint8_t, GAMBESON_MLKEM1024_CIPHERTEXT_BYTES> c;
    Secret<GAMBESON_MLKEM_SHARED_BYTES> ours, theirs;
    CHECK(gambeson_mlkem1024_key_generate(&key, ek.data(), nullptr) == GAMBESON_OK);
    CHECK(gambeson_mlkem1024_encapsulate(c.data(), ours.data(), ek.data(), ek.size(), nullptr) == GAMBESON_OK);
    CHECK(gambeson_mlkem1024_key_decapsulate(&key, theirs.data(), c.data(), c.size()) == GAMBESON_OK);
    CHECK(ours == theirs);

    std::mt19937 numbers(1);
    gambeson_fill fill = [](void *ctx, uint8_t *out, std::size_t len) {
        std::mt19937 &numbers = *static_cast<std::mt19937 *>(ctx);
        for (std::size_t i = 0; i < len; i++) out[i] = static_cast<uint8_t>(numbers());
        return 0;
    };
    gambeson_mldsa65_key signer;
    std::array<uint8_t, GAMBESON_MLDSA65_VK_BYTES> vk;
    std::vector<uint8_t> signature(GAMBESON_MLDSA65_SIGNATURE_BYTES), message(1000, 7);
    gambeson_randomness randomness = gambeson_randomness_callback(fill, &numbers);
    gambeson_message described = gambeson_message_pure(message.data(), message.size(), nullptr, 0);
    CHECK(!gambeson_mldsa65_key_generate(&signer, vk.data(), &randomness));
    CHECK(!gambeson_mldsa65_key_sign(&signer, signature.data(), &described, nullptr));
    CHECK(!gambeson_mldsa65_verify(signature.data(), signature.size(), &described, vk.data(), vk.size()));
    message[999] = 8;
    CHECK(gambeson_mldsa65_verify(signature.data(), signature.size(), &described, vk.data(), vk.size()) == GAMBESON_ERROR_SIGNATURE);
    gambeson_wipe(&key, sizeof key);
    gambeson_wipe(&signer, sizeof signer);
    std::printf("%d checks\n", checks);
}
