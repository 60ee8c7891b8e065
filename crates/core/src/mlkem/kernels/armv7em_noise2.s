// The noise of FIPS 203, Algorithm 8 (SamplePolyCBD), for η = 2, added where `adding` is 1. r0: 256 coefficients; r1: 16 lanes of a sponge, whose even bits
// stand in the first word, whose odd ones in the second.

    push {r4-r11, lr}
    add lr, r1, #128
    mov r4, #0x55555555
    mov r5, #0x33333333
    mov r6, #0x44444444
    mov r7, #0x000f000f
    mov r8, #0x00040004
2:
    ldr r2, [r1], #4
    ldr r3, [r1], #4
    // In two bits each: how many of the first two bits of a coefficient are set, and of the others.
    and r9, r2, r4
    and r10, r3, r4
    add r9, r9, r10
    and r10, r4, r2, lsr #1
    and r11, r4, r3, lsr #1
    add r10, r10, r11
    // In four bits each: 4 more than the even coefficients, and the odd ones.
    and r2, r9, r5
    and r3, r10, r5
    sub r2, r2, r3
    add r2, r2, r6
    and r9, r5, r9, lsr #2
    and r10, r5, r10, lsr #2
    sub r3, r9, r10
    add r3, r3, r6
    // Each even one below its odd one: the first four pairs, and the last.
    pkhbt r9, r2, r3, lsl #16
    pkhtb r10, r3, r2, asr #16
    .irp pairs, r9, r10
    .irp place, 0, 4, 8, 12
    .if \place
    and r12, r7, \pairs, lsr #\place
    .else
    and r12, r7, \pairs
    .endif
    usub16 r12, r12, r8
    .if adding
    ldr r11, [r0]
    uadd16 r12, r12, r11
    .endif
    str r12, [r0], #4
    .endr
    .endr
    cmp r1, lr
    bne 2b
    pop {r4-r11, pc}
