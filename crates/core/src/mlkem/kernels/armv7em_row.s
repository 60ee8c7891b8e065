// Sums of \terms products (FIPS 203, Algorithm 11 (MultiplyNTTs)), reduced once (Plantard). r0: the sum; r1, r2: the factors, the
// former as far apart as the stack says; r3: ζ of each two pairs, times 2^32.

    push {r4-r11, lr}
    ldr r10, [sp, #36]
    // -q^-1 modulo 2^32; q; 8q. Above q: how many turns are left behind this one.
    movw r11, #0x0cff
    movt r11, #0x9457
    movw r12, #3329
    lsl lr, r12, #3
    movt r12, #63

    // t * 2^-32 in the upper half, for t in \t.
    .macro reduce t
    mul \t, \t, r11
    smlatb \t, \t, r12, lr
    .endm

    .macro add_term
    smlabb r6, r4, r5, r6
    smlatt r7, r4, r5, r7
    smladx r8, r4, r5, r8
    .endm

    // r9: the factor of the pair.
    .macro pair
    ldr r4, [r1, r10]
    ldr r5, [r2, #512]
    smulbb r6, r4, r5
    smultt r7, r4, r5
    smuadx r8, r4, r5
    .if terms > 2
    ldr r4, [r1, r10, lsl #1]
    ldr r5, [r2, #1024]
    add_term
    .endif
    .if terms > 3
    add r4, r1, r10
    ldr r4, [r4, r10, lsl #1]
    ldr r5, [r2, #1536]
    add_term
    .endif
    ldr r4, [r1], #4
    ldr r5, [r2], #4
    add_term
    reduce r7
    smlatb r6, r7, r9, r6
    reduce r6
    reduce r8
    pkhtb r8, r8, r6, asr #16
    str r8, [r0], #4
    .endm
2:
    ldrsh r9, [r3], #2
    pair
    rsb r9, r9, #0
    pair
    subs r12, r12, #0x10000
    bpl 2b
    pop {r4-r11, pc}
    .purgem reduce
    .purgem add_term
    .purgem pair
