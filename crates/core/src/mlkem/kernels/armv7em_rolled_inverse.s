// In front of armv7em_rolled.s: the butterflies of FIPS 203, Algorithm 10 (NTT^-1), of which the first layer has its factors at every
// second place.

    .macro factor
    cmp r2, #4
    it eq
    subeq r1, r1, #2
    ldrsh r6, [r1, #-2]!
    .endm

    .macro butterfly
    uadd16 r7, r4, r5
    usub16 r5, r5, r4
    str r7, [r0]
    multiply
    str r5, [r0, r2]
    add r0, r0, #4
    .endm

    .macro layer
    lsl r2, r2, #1
    .endm
