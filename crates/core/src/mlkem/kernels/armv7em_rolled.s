// Butterflies of words, layer by layer. r0: 256 coefficients; r1: a place among the factors, times 2^16; r2: bytes between the words of a
// butterfly in the first layer, and r3: in the layer behind the last. Macros: `factor` loads r6; `butterfly` takes r4 and r5, stores them
// and moves on; `layer` changes r2.

    push {r4-r10, lr}
    add lr, r0, #512
    movw r9, #3329
    movw r10, #0xcff

    // r5 * r6 * 2^-16 of both halves (Montgomery).
    .macro multiply
    smulbb r7, r6, r5
    smulbt r8, r6, r5
    smulbb r5, r7, r10
    smlabb r7, r5, r9, r7
    smulbb r5, r8, r10
    smlabb r8, r5, r9, r8
    pkhtb r5, r8, r7, asr #16
    .endm
    .p2align 2
2:
    sub r0, lr, #512
    .p2align 2
3:
    factor
    add r12, r0, r2
    .p2align 2
4:
    ldr r4, [r0]
    ldr r5, [r0, r2]
    butterfly
    cmp r0, r12
    bne 4b
    add r0, r0, r2
    cmp r0, lr
    bne 3b
    layer
    cmp r2, r3
    bne 2b
    pop {r4-r10, pc}
    .purgem factor
    .purgem butterfly
    .purgem layer
    .purgem multiply
