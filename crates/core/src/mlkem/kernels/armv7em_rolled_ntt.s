// In front of armv7em_rolled.s: the butterflies of FIPS 203, Algorithm 9 (NTT), of which the last layer has its factors at every second
// place.

    .macro factor
    ldrsh r6, [r1], #2
    cmp r2, #4
    it eq
    addeq r1, r1, #2
    .endm

    .macro butterfly
    multiply
    usub16 r7, r4, r5
    uadd16 r4, r4, r5
    str r7, [r0, r2]
    str r4, [r0], #4
    .endm

    .macro layer
    lsr r2, r2, #1
    .endm
