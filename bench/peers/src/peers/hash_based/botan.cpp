/* Botan's SLH-DSA, HSS/LMS and XMSS. A key keeps its signer and its verifier. */

#include "table.h"

#include <botan/hss_lms.h>
#include <botan/pubkey.h>
#include <botan/slh_dsa.h>
#include <botan/system_rng.h>
#include <botan/xmss.h>

#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string_view>

namespace {

using Bytes = std::span<const uint8_t>;

/* Gives the bytes of a seed, in their order. */
class Seed final : public Botan::RandomNumberGenerator {
  public:
    explicit Seed(Bytes bytes) : left(bytes) {}
    bool accepts_input() const override { return false; }
    std::string name() const override { return "seed"; }
    void clear() override {}
    bool is_seeded() const override { return true; }

  private:
    void fill_bytes_with_input(std::span<uint8_t> output, Bytes /*input*/) override {
        if (output.size() > left.size()) throw std::runtime_error("the seed has ended");
        std::memcpy(output.data(), left.data(), output.size());
        left = left.subspan(output.size());
    }

    Bytes left;
};

struct Key {
    std::unique_ptr<Botan::Private_Key> private_key;
    std::unique_ptr<Botan::Public_Key> public_key;
    std::unique_ptr<Botan::PK_Signer> signers[2];
    std::unique_ptr<Botan::PK_Verifier> verifier;

    const Botan::Public_Key &any() const { return public_key ? *public_key : *private_key; }
};

bool begins(const char *set, std::string_view with) { return std::string_view(set).starts_with(with); }

void *made(auto make) {
    try {
        return make().release();
    } catch (const std::exception &) {
        return nullptr;
    }
}

int done(auto work) {
    try {
        return work();
    } catch (const std::exception &) {
        return 1;
    }
}

int copied(Bytes from, unsigned char *to, size_t len) {
    if (from.size() != len) return 1;
    std::memcpy(to, from.data(), len);
    return 0;
}

void *generate(const char *set, const unsigned char *seed, size_t seed_len) {
    return made([&] {
        auto key = std::make_unique<Key>();
        auto &rng = Botan::system_rng();
        if (begins(set, "LMS")) {
            key->private_key = std::make_unique<Botan::HSS_LMS_PrivateKey>(rng, "HSS-LMS(SHA-256,HW(10,8))");
        } else if (begins(set, "XMSS")) {
            key->private_key =
                std::make_unique<Botan::XMSS_PrivateKey>(Botan::XMSS_Parameters::XMSS_SHA2_10_256, rng);
        } else {
            const auto parameters = Botan::SLH_DSA_Parameters::create(set);
            Seed given(Bytes(seed, seed_len));
            if (seed_len == 0) {
                key->private_key = std::make_unique<Botan::SLH_DSA_PrivateKey>(rng, parameters);
            } else {
                key->private_key = std::make_unique<Botan::SLH_DSA_PrivateKey>(given, parameters);
            }
        }
        return key;
    });
}

void *import_private(const char *set, const unsigned char *bytes, size_t len) {
    return made([&] {
        auto key = std::make_unique<Key>();
        const auto parameters = Botan::SLH_DSA_Parameters::create(set);
        key->private_key = std::make_unique<Botan::SLH_DSA_PrivateKey>(Bytes(bytes, len), parameters);
        return key;
    });
}

void *import_public(const char *set, const unsigned char *bytes, size_t len) {
    return made([&] {
        auto key = std::make_unique<Key>();
        const Bytes given(bytes, len);
        if (begins(set, "LMS")) {
            key->public_key = std::make_unique<Botan::HSS_LMS_PublicKey>(given);
        } else if (begins(set, "XMSS")) {
            key->public_key = std::make_unique<Botan::XMSS_PublicKey>(given);
        } else {
            const auto parameters = Botan::SLH_DSA_Parameters::create(set);
            key->public_key = std::make_unique<Botan::SLH_DSA_PublicKey>(given, parameters);
        }
        return key;
    });
}

void destroy(void *key) { delete static_cast<Key *>(key); }

int export_public(void *opaque, unsigned char *bytes, size_t len) {
    return done([&] { return copied(static_cast<Key *>(opaque)->any().raw_public_key_bits(), bytes, len); });
}

int export_private(void *opaque, unsigned char *bytes, size_t len) {
    return done([&] { return copied(static_cast<Key *>(opaque)->private_key->raw_private_key_bits(), bytes, len); });
}

int sign(void *opaque, int hedged, const unsigned char *message, size_t message_len, unsigned char *signature,
         size_t signature_len) {
    return done([&] {
        auto *key = static_cast<Key *>(opaque);
        auto &signer = key->signers[hedged != 0];
        if (!signer) {
            const bool stateful = key->private_key->stateful_operation();
            signer = std::make_unique<Botan::PK_Signer>(
                *key->private_key, Botan::system_rng(),
                stateful ? "" : (hedged != 0 ? "Randomized" : "Deterministic"));
        }
        const auto made = signer->sign_message(message, message_len, Botan::system_rng());
        return copied(made, signature, signature_len);
    });
}

int verify(void *opaque, const unsigned char *message, size_t message_len, const unsigned char *signature,
           size_t signature_len) {
    return done([&] {
        auto *key = static_cast<Key *>(opaque);
        if (!key->verifier) key->verifier = std::make_unique<Botan::PK_Verifier>(key->any(), "");
        return key->verifier->verify_message(message, message_len, signature, signature_len) ? 0 : 1;
    });
}

}  // namespace

extern "C" {
extern const bench_hash_based bench_botan_hash_based;
const bench_hash_based bench_botan_hash_based = {
    .generate = generate,
    .import_private = import_private,
    .import_public = import_public,
    .destroy = destroy,
    .export_public = export_public,
    .export_private = export_private,
    .sign = sign,
    .verify = verify,
};
}
