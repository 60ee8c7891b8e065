// What the tests in C share: a count of checks, and how a failure is told.

#ifndef CHECKS_H
#define CHECKS_H

#include <stddef.h>
#include <stdint.h>

#include "gambeson.h"

#ifdef __unix__
#define IS_HOSTED 1
#define LOCAL __thread
#else
#define IS_HOSTED 0
#define LOCAL
#endif

// How many checks this thread has made.
extern LOCAL int checks;

// Supplied by main.c, or by start.c on bare metal: tells it, and ends the program.
void failed(const char *file, int line, const char *check);

#define CHECK(condition)                                         \
    do {                                                         \
        checks++;                                                \
        if (!(condition)) failed(__FILE__, __LINE__, #condition); \
    } while (0)

// Descriptors that stand in the argument list of a call.
#define PURE(message, message_len, string, string_len) \
    (&(gambeson_message){.data = (message), .len = (message_len), .context = (string), .context_len = (string_len)})
#define PREHASHED(function, digest, digest_len, string, string_len) \
    (&(gambeson_message){GAMBESON_MESSAGE_PREHASHED, (function), (digest), (digest_len), (string), (string_len)})
#define MU(mu) (&(gambeson_message){.kind = GAMBESON_MESSAGE_MU, .data = (mu), .len = 64})
#define WITH(function, argument) \
    (&(gambeson_randomness){.kind = GAMBESON_RANDOMNESS_CALLBACK, .fill = (function), .ctx = (argument)})
#define GIVEN(given, given_len) \
    (&(gambeson_randomness){.kind = GAMBESON_RANDOMNESS_BYTES, .bytes = (given), .len = (given_len)})

// Known answers of every set and hash: 10 steps of the accumulated runs, or (`all`) as many as there are published digests for.
void answers(int all);

// Every error, and what is refused.
void misuse(void);

// SLH-DSA, LMS, HSS, XMSS and XMSS^MT: known answers and what is refused; with every parameter set (`all`), or with those of 128f.
void hash_based(int all);

// Every call that draws randomness, of every set.
void doors(void);

// A caller's randomness for tests, none at all: the bytes 0, 1, 2, and so on. `ctx` counts the calls.
int fill(void *ctx, uint8_t *out, size_t len);

int same(const void *a, const void *b, size_t len);

int zeros(const void *a, size_t len);

// Whether bytes have this hexadecimal form.
int is(const uint8_t *bytes, const char *hex);

#endif
