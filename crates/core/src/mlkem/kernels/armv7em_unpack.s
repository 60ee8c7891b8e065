// ByteDecode_d and Decompress_d (FIPS 203, §4.2.1), d being known, `many` coefficients in whole words. r0: 256 coefficients; r1: words. What is
// done with two coefficients before they are stored, those that stood at r0 being there, says the macro `other`: in r6.

    push {r4-r7, lr}
    movw r12, #3329
    mov lr, #1 << (d - 1)
    add r2, r0, #512

    // The next number: \x. Words stand in r4 and r5 by turns.
    .macro take x
    .if (bit >> 5) & 1
    take_of \x, r5, r4
    .else
    take_of \x, r4, r5
    .endif
    .set bit, bit + d
    .endm

    .macro take_of x, word, next
    .set place, bit & 31
    .if place == 0
    ldr \word, [r1], #4
    .endif
    .if place + d <= 32
    ubfx \x, \word, #place, #d
    .else
    lsr \x, \word, #place
    ldr \next, [r1], #4
    bfi \x, \next, #32 - place, #place + d - 32
    .endif
    .endm
2:
    .set bit, 0
    .rept many / 2
    take r6
    take r7
    smlabb r6, r6, r12, lr
    smlabb r7, r7, r12, lr
    lsr r6, r6, #d
    pkhbt r6, r6, r7, lsl #16 - d
    other
    str r6, [r0], #4
    .endr
    cmp r0, r2
    bne 2b
    pop {r4-r7, pc}
    .purgem take
    .purgem take_of
    .purgem other
