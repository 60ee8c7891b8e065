// FIPS 204, Algorithm 41 (NTT), by two layers at a time, between armv7em_rolled.s and its end. r1: the factors; r2: the end of the
// coefficients; r3: k of the first block, which is four times as much in the next two layers; behind these, on the stack, the bytes between
// the coefficients of the second layer. At sp is k; r6, r8 and r11: the factors of block k, and of the blocks that it becomes; r4, r5, r12
// and lr: coefficients; r1: where the last block ends that it becomes.

    begin
    push {r3}
    ldr r2, [sp, #56]
    .p2align 2
2:
    ldr r0, [sp, #4]
    .p2align 2
3:
    // Of the even ones each has its place, and the next one is that times the first.
    ldr r1, [sp]
    ldr r4, [sp, #8]
    adds r3, r1, #1
    str r3, [sp]
    ldr r8, [r4, r1, lsl #2]
    ldr r11, [r4, #512]
    lsrs r1, r1, #1
    ldr r6, [r4, r1, lsl #2]
    bcc 4f
    multiply r6, r11
4:
    multiply r11, r8
    add r1, r0, r2
    .p2align 2
5:
    add r3, r0, r2
    ldr r4, [r0]
    ldr r5, [r0, r2]
    ldr r12, [r0, r2, lsl #1]
    ldr lr, [r3, r2, lsl #1]
    multiply r12, r6
    multiply lr, r6
    add r4, r4, r12
    sub r12, r4, r12, lsl #1
    add r5, r5, lr
    sub lr, r5, lr, lsl #1
    multiply r5, r8
    multiply lr, r11
    add r4, r4, r5
    sub r5, r4, r5, lsl #1
    add r12, r12, lr
    sub lr, r12, lr, lsl #1
    add r3, r0, r2
    str lr, [r3, r2, lsl #1]
    str r12, [r0, r2, lsl #1]
    str r5, [r0, r2]
    str r4, [r0], #4
    cmp r0, r1
    bne 5b
    add r0, r0, r2
    add r0, r0, r2, lsl #1
    ldr r3, [sp, #12]
    cmp r0, r3
    bne 3b
    ldr r3, [sp, #16]
    lsls r3, r3, #2
    str r3, [sp, #16]
    str r3, [sp]
    lsrs r2, r2, #2
    cmp r2, #1
    bne 2b
    pop {r3}
