// FIPS 203, Algorithm 11 (MultiplyNTTs). r0: the sum; r1, r2: the factors of the product; r3: ζ of each two pairs, times 2^16.

    push {r3-r11, lr}
    movw r12, #3329
    movw lr, #0xcff
    add r4, r3, #128
    str r4, [sp]

    // t * 2^-16 in the upper half, for t in \t (Montgomery).
    .macro reduce t
    smulbb r11, \t, lr
    smlabb \t, r11, r12, \t
    .endm

    // r10: the factor of the pair \a, \b.
    .macro pair a, b, sum
    smultt r9, \a, \b
    reduce r9
    smulbb r11, \a, \b
    smlatb r9, r9, r10, r11
    reduce r9
    smuadx \a, \a, \b
    reduce \a
    pkhtb r9, \a, r9, asr #16
    uadd16 \sum, \sum, r9
    .endm
    .p2align 2
2:
    ldr r4, [r1], #4
    ldr r5, [r1], #4
    ldr r6, [r2], #4
    ldr r7, [r2], #4
    ldrsh r10, [r3], #2
    ldr r8, [r0]
    pair r4, r6, r8
    ldr r6, [r0, #4]
    rsb r10, r10, #0
    pair r5, r7, r6
    ldr r4, [sp]
    str r8, [r0], #4
    str r6, [r0], #4
    cmp r3, r4
    bne 2b
    pop {r3-r11, pc}
    .purgem reduce
    .purgem pair
