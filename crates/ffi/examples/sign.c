// Signs a file by ML-DSA-65 as it is read, and verifies it: `sign FILE`. README.md has the line that compiles this.

#include <stdio.h>

#include "gambeson.h"

static const uint8_t context[] = "example.org/release";

// The message representative of a file, in pieces: no file is too large.
static gambeson_error represent(uint8_t mu[GAMBESON_MLDSA_MU_BYTES], const uint8_t *vk, size_t vk_len, FILE *file)
{
    uint8_t piece[4096];
    gambeson_mldsa_mu_ctx hash;
    rewind(file);
    gambeson_error error = gambeson_mldsa65_mu_init(&hash, vk, vk_len, context, sizeof context - 1);
    for (size_t len; !error && (len = fread(piece, 1, sizeof piece, file)) > 0;)
        error = gambeson_mldsa_mu_update(&hash, piece, len);
    return error ? error : gambeson_mldsa_mu_final(&hash, mu);
}

int main(int argc, char **argv)
{
    if (argc != 2) return fprintf(stderr, "sign FILE\n"), 2;
    FILE *file = fopen(argv[1], "rb");
    if (!file) return perror(argv[1]), 1;

    // To store the key, take its 32-byte seed: gambeson_mldsa65_key_seed.
    gambeson_mldsa65_key key;
    uint8_t vk[GAMBESON_MLDSA65_VK_BYTES], signature[GAMBESON_MLDSA65_SIGNATURE_BYTES], mu[GAMBESON_MLDSA_MU_BYTES];
    gambeson_error error = gambeson_mldsa65_key_generate(&key, vk, NULL);
    if (!error) error = represent(mu, vk, sizeof vk, file);
    gambeson_message message = gambeson_message_mu(mu);
    if (!error) error = gambeson_mldsa65_key_sign(&key, signature, &message, NULL);
    gambeson_wipe(&key, sizeof key);

    // Who verifies has the public key, the signature and the file.
    if (!error) error = represent(mu, vk, sizeof vk, file);
    if (!error) error = gambeson_mldsa65_verify(signature, sizeof signature, &message, vk, sizeof vk);
    if (error) return fprintf(stderr, "%s: %s\n", argv[1], gambeson_strerror(error)), 1;
    if (ferror(file)) return perror(argv[1]), 1;
    fclose(file);
    printf("%s: signed in %d bytes, and verified\n", argv[1], GAMBESON_MLDSA65_SIGNATURE_BYTES);
    return 0;
}
