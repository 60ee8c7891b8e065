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
// is made. A call that takes a gambeson_randomness calls it where that is null or of kind SYSTEM. A program that makes such calls defines it, and
// one that always brings its randomness defines it to return 1; a program without such calls that is linked with --gc-sections need not define it.
// It is called by every thread, and from every interrupt, that makes these calls.
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
