// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a platform without an operating system supplies to gambeson, in one place. Include it where you define it: the
// compiler then compares.

#ifndef GAMBESON_PORT_H
#define GAMBESON_PORT_H

// The attribute of the library's calls. Define it before gambeson.h is included where calls cross a border: the export of a shared
// library, or of a compartment, such as
//
//     #define GAMBESON_API __attribute__((cheri_libcall))
//
// Without one the calls are ordinary functions.
#include "gambeson.h"

#ifdef __cplusplus
extern "C" {
#endif

// Entropy: writes `len` random bytes (32 or 64) to `out`, and returns 0; any other number says that there are none, and then nothing
// is made. Needed by the calls that ask the system for randomness: _key_generate, _encapsulate, and those that end in _sign, _sign_mu or
// _sign_prehashed. A program that uses none of them, and is linked with --gc-sections, need not define it. Called by every thread, and from
// every interrupt, that uses these calls.
int gambeson_port_entropy(uint8_t *out, size_t len);

#ifdef __cplusplus
}
#endif

// Keccak: a hardware unit, or assembly, is handed over at start-up by gambeson_set_keccak, which tries it first. Without one the
// library's own runs.
//
// Wipe: nothing to supply, and no hook. Other libraries have one (mbedtls_platform_zeroize, ForceZero) because a compiler may leave out the
// memset of what nobody reads again. Here no compiler can: the writes are assembly, or are observed. A function of the
// platform's could do no more, and could do less: what a call used of the stack is wiped last, below the frame that is left, where a
// function would have a frame of its own, and one that does nothing would pass every test of results. For the caller's own secrets there
// is gambeson_wipe. What is not the stack's or an object's is the platform's concern: caches, and memory that others see while a
// call runs (DMA, a debugger, another core).
//
// Memory: nothing to supply. There is no heap and no thread-local storage; the constant tables are read-only, and two pointers, which
// gambeson_set_keccak writes, are all the static memory. The C library gives memcpy, memmove, memset and memcmp, or the archive does.

#endif
