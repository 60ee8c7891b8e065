// Two parties agree on a key by ML-KEM-768. README.md has the line that compiles this.

#include <stdio.h>
#include <string.h>

#include "gambeson.h"

static int stop(const char *what, gambeson_error error)
{
    fprintf(stderr, "%s: %s\n", what, gambeson_strerror(error));
    return 1;
}

int main(void)
{
    // The receiver makes a key; NULL is the system's randomness. To store it, take its 64-byte seed: gambeson_mlkem768_key_seed.
    gambeson_mlkem768_key key;
    uint8_t ek[GAMBESON_MLKEM768_EK_BYTES];
    gambeson_error error = gambeson_mlkem768_key_generate(&key, ek, NULL);
    if (error) return stop("key generation", error);

    // The sender has received ek, which may be anything: a wrong one is refused.
    uint8_t ciphertext[GAMBESON_MLKEM768_CIPHERTEXT_BYTES], senders[GAMBESON_MLKEM_SHARED_BYTES];
    error = gambeson_mlkem768_encapsulate(ciphertext, senders, ek, sizeof ek, NULL);
    if (error) return stop("encapsulation", error);

    // The receiver has received the ciphertext. One that was tampered with gives another secret, and no error.
    uint8_t receivers[GAMBESON_MLKEM_SHARED_BYTES];
    error = gambeson_mlkem768_key_decapsulate(&key, receivers, ciphertext, sizeof ciphertext);
    if (error) return stop("decapsulation", error);

    int agree = memcmp(senders, receivers, sizeof senders) == 0;
    printf("gambeson %s: the two secrets are %s\n", gambeson_version(), agree ? "the same" : "different");

    gambeson_wipe(&key, sizeof key);
    gambeson_wipe(senders, sizeof senders);
    gambeson_wipe(receivers, sizeof receivers);
    return !agree;
}
