// Sums of products of polynomials (FIPS 204, Algorithm 45 (MultiplyNTT)), times 2^-32, reduced once (Montgomery). r0: the sum; r1, r2: the
// factors, the former as many bytes apart as r3 says, the latter 1,024; on the stack: where the latter end.

    push {r4-r11, lr}
    ldr r4, [sp, #36]
    add r5, r0, #1024
    // The sum, its end, the factors, the end of the second.
    push {r0, r1, r2, r4, r5}
    ldr lr, [sp, #12]

    .macro reduce low, high
    mul r1, \low, r12
    umlal \low, \high, r1, r2
    .endm
2:
    ldr r12, [r1]
    ldr r0, [r2]
    umull r4, r5, r0, r12
    ldr r12, [r1, #4]
    ldr r0, [r2, #4]
    umull r6, r7, r0, r12
    ldr r12, [r1, #8]
    ldr r0, [r2, #8]
    umull r8, r9, r0, r12
    ldr r12, [r1, #12]
    ldr r0, [r2, #12]
    umull r10, r11, r0, r12
    add r1, r1, r3
    add r2, r2, #1024
    cmp r2, lr
    beq 4f
3:
    ldr r12, [r1]
    ldr r0, [r2]
    umlal r4, r5, r0, r12
    ldr r12, [r1, #4]
    ldr r0, [r2, #4]
    umlal r6, r7, r0, r12
    ldr r12, [r1, #8]
    ldr r0, [r2, #8]
    umlal r8, r9, r0, r12
    ldr r12, [r1, #12]
    ldr r0, [r2, #12]
    umlal r10, r11, r0, r12
    add r1, r1, r3
    add r2, r2, #1024
    cmp r2, lr
    bne 3b
4:
    // -q^-1 modulo 2^32, and q.
    movw r12, #0xdfff
    movt r12, #0xfc7f
    movw r2, #0xe001
    movt r2, #0x7f
    reduce r4, r5
    reduce r6, r7
    reduce r8, r9
    reduce r10, r11
    ldr r0, [sp]
    str r5, [r0], #4
    str r7, [r0], #4
    str r9, [r0], #4
    str r11, [r0], #4
    str r0, [sp]
    // The next four coefficients of each.
    ldr r1, [sp, #4]
    ldr r2, [sp, #8]
    ldr r12, [sp, #16]
    add r1, r1, #16
    add r2, r2, #16
    add lr, lr, #16
    str r1, [sp, #4]
    str r2, [sp, #8]
    cmp r0, r12
    bne 2b
    add sp, sp, #20
    pop {r4-r11, pc}
    .purgem reduce
