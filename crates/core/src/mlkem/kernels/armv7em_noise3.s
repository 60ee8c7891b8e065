// The noise of FIPS 203, Algorithm 8 (SamplePolyCBD), for η = 3. r0: 256 coefficients; r1: 24 lanes of a sponge, whose even bits
// stand in the first word, whose odd ones in the second.

    push {r4-r11, lr}
    add r2, r1, #192
    push {r2}
    // A bit for each of eight fields of three.
    movw lr, #0x9249
    movt lr, #0x24
    mov r12, #0x00070007
    mov r11, #0x00040004

    // Of the even bits r2 and the odd ones r3: eight coefficients.
    .macro eight
    and r9, r2, lr
    and r10, r3, lr
    add r9, r9, r10
    and r10, lr, r2, lsr #1
    add r9, r9, r10
    add r9, r9, lr, lsl #2
    and r10, lr, r3, lsr #1
    sub r9, r9, r10
    and r10, lr, r2, lsr #2
    sub r9, r9, r10
    and r10, lr, r3, lsr #2
    sub r9, r9, r10
    // r9: 4 more than each. The even ones of the first six below the odd ones, then the last two.
    pkhbt r10, r9, r9, lsl #13
    and r2, r12, r10
    put_pair
    and r2, r12, r10, lsr #6
    put_pair
    and r2, r12, r10, lsr #12
    put_pair
    lsr r10, r9, #5
    pkhtb r10, r10, r9, asr #18
    and r2, r12, r10
    put_pair
    .endm

    .macro put_pair
    usub16 r2, r2, r11
    str r2, [r0], #4
    .endm
2:
    // Three lanes: r4, r6, r8 and r5, r7 and the stack.
    ldr r2, [r1], #4
    ldr r3, [r1], #4
    ldr r4, [r1], #4
    ldr r5, [r1], #4
    ldr r6, [r1], #4
    ldr r7, [r1], #4
    lsr r8, r2, #24
    orr r8, r8, r4, lsl #8
    push {r8}
    lsr r8, r3, #24
    orr r8, r8, r5, lsl #8
    push {r8}
    eight
    pop {r3}
    pop {r2}
    eight
    lsr r2, r4, #16
    orr r2, r2, r6, lsl #16
    lsr r3, r5, #16
    orr r3, r3, r7, lsl #16
    eight
    lsr r2, r6, #8
    lsr r3, r7, #8
    eight
    ldr r2, [sp]
    cmp r1, r2
    bne 2b
    pop {r2}
    pop {r4-r11, pc}
    .purgem eight
    .purgem put_pair
