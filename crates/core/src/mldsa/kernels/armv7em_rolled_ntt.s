// FIPS 204, Algorithm 41 (NTT), layer by layer, between armv7em_rolled.s and its end. r1: the factors; r2: bytes of the coefficients; r3: k
// of the first block, which doubles with each layer.

    begin
    .p2align 2
2:
    ldr r0, [sp]
    ldr r1, [sp, #12]
    lsl r3, r1, #1
    str r3, [sp, #12]
    lsr r2, r2, #1
    // 6q makes all positive, in the last layer.
    mov r8, #0
    cmp r2, #4
    itt eq
    addeq r8, r9, r9, lsl #1
    lsleq r8, r8, #1
    .p2align 2
3:
    factor
    add r1, r1, #1
    .p2align 2
4:
    ldr r4, [r0]
    ldr r5, [r0, r2]
    multiply
    add r4, r4, r8
    add r4, r4, r5
    sub r5, r4, r5, lsl #1
    str r5, [r0, r2]
    str r4, [r0], #4
    cmp r0, r12
    bne 4b
    add r0, r0, r2
    cmp r0, lr
    bne 3b
    cmp r2, #4
    bne 2b
