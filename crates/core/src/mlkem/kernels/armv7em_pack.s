// Compress_d and ByteEncode_d (FIPS 203, §4.2.1), d being known, `many` coefficients in whole words. r0: 256 coefficients; r1: words. What
// is done with each word stands in the macro `word`: its address in r1, it in r8, the result in lr.

    push {r4-r8, lr}
    // 2^42 / q: x times that, less 16 bits, is x * 2^26 / q.
    movw r3, #0xdda0
    movt r3, #0x4ebe
    mov r5, #1 << (25 - d)
    add r7, r0, #512
    mov lr, #0

    // \x, of 26 bits, at the place of the word that it begins in.
    .macro put x
    .set place, bit & 31
    .if place == 0
    ubfx r8, \x, #26 - d, #d
    .else
    ubfx \x, \x, #26 - d, #d
    orr r8, r8, \x, lsl #place
    .endif
    .if place + d >= 32
    word
    .endif
    .if place + d > 32
    lsr r8, \x, #32 - place
    .endif
    .set bit, bit + d
    .endm
2:
    .set bit, 0
    .rept many / 2
    ldr r4, [r0], #4
    smlawb r6, r3, r4, r5
    smlawt r4, r3, r4, r5
    put r6
    put r4
    .endr
    cmp r0, r7
    bne 2b
    mov r0, lr
    pop {r4-r8, pc}
    .purgem put
    .purgem word
