// FIPS 204, Algorithm 42 (NTT^-1), layer by layer, between armv7em_rolled.s and its end. r1: the factors, then k of a block; r2: bytes of
// the coefficients; r4 and r5: those of a butterfly; r6: a factor; r12: the end of a block; lr: that of the coefficients.

    begin
    add lr, r0, r2
    // To -q..q.
    .p2align 2
2:
    ldr r4, [r0]
    lsr r5, r4, #23
    sub r4, r4, r9
    mls r4, r5, r9, r4
    str r4, [r0], #4
    cmp r0, lr
    bne 2b

    mov r1, #255
    mov r2, #4
    .p2align 2
3:
    ldr r0, [sp]
    .p2align 2
4:
    // Of the even ones each has its place, and the next one is that times the first.
    ldr r3, [sp, #4]
    bic r6, r1, #1
    ldr r6, [r3, r6, lsl #1]
    tst r1, #1
    beq 9f
    ldr r5, [r3, #512]
    multiply r5, r6
    mov r6, r5
9:
    add r12, r0, r2
    sub r1, r1, #1
    .p2align 2
5:
    ldr r4, [r0]
    ldr r5, [r0, r2]
    sub r5, r5, r4
    add r4, r5, r4, lsl #1
    multiply r5, r6
    str r5, [r0, r2]
    str r4, [r0], #4
    cmp r0, r12
    bne 5b
    add r0, r0, r2
    cmp r0, lr
    bne 4b
    lsl r2, r2, #1
    cmp r1, #0
    bne 3b

    // 2^32 / 256, and the representative mod± q of what is between -q and q.
    ldr r0, [sp]
    ldr r3, [sp, #4]
    ldr r6, [r3, #516]
    lsr r8, r9, #1
    .p2align 2
6:
    ldr r5, [r0]
    multiply r5, r6
    and r3, r9, r5, asr #31
    add r5, r5, r3
    sub r3, r8, r5
    and r3, r9, r3, asr #31
    sub r5, r5, r3
    str r5, [r0], #4
    cmp r0, lr
    bne 6b
