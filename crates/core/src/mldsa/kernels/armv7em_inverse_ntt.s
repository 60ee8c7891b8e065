// FIPS 204, Algorithm 42 (NTT^-1), between armv7em.s and armv7em_end.s. r1: the factors.

    begin

    // A reduction to -q..q, and the layers of length 1 and 2. r8 and r9: the ends of their factors.
    add r9, r1, #1024
    add r8, r1, #512
    turns 28, 64
    .p2align 2
2:
    ldr r4, [r0]
    ldr r5, [r0, #4]
    ldr r6, [r0, #8]
    ldr r7, [r0, #12]
    .irp x, r4, r5, r6, r7
    lsr r1, \x, #23
    sub \x, \x, r12
    mls \x, r1, r12, \x
    .endr
    ldr r1, [r9, #-4]!
    inverse_butterfly r4, r5
    ldr r1, [r9, #-4]!
    inverse_butterfly r6, r7
    ldr r1, [r8, #-4]!
    inverse_butterfly r4, r6
    inverse_butterfly r5, r7
    str r4, [r0], #4
    str r5, [r0], #4
    str r6, [r0], #4
    str r7, [r0], #4
    next_turn 28
    bne 2b
    sub r0, r0, #1024

    // Layers of length 4, 8 and 16, for 32 coefficients.
    mov r2, #60
    str r2, [sp, #32]
    .p2align 2
3:
    factors
    turns 28, 4
    .p2align 2
4:
    eight ldr.w, 16
    two_inverse_layers
    ldr r1, [sp]
    inverse_butterfly r4, r8
    inverse_butterfly r5, r9
    inverse_butterfly r6, r10
    inverse_butterfly r7, r11
    eight str.w, 16
    add r0, r0, #4
    next_turn 28
    bne 4b
    add r0, r0, #112
    ldr r2, [sp, #32]
    sub r2, r2, #4
    str r2, [sp, #32]
    cmp r2, #28
    bne 3b
    sub r0, r0, #1024

    // Layers of length 32, 64 and 128; the factor of the last has 2^32 / 256 in it, and so have the sums that it leaves.
    mov r2, #4
    factors
    ldr r2, [r1, #1024]
    ldr r3, [r1]
    str r2, [sp]
    str r3, [sp, #32]
    turns 28, 32
    .p2align 2
5:
    eight ldr.w, 128
    two_inverse_layers
    difference r4, r8
    difference r5, r9
    difference r6, r10
    difference r7, r11
    ldr r1, [sp]
    .irp x, r8, r9, r10, r11
    multiply \x
    .endr
    ldr r1, [sp, #32]
    .irp x, r4, r5, r6, r7
    multiply \x
    .endr
    // The representative mod± q of what is between -q and q.
    lsr r1, r12, #1
    .irp x, r4, r5, r6, r7, r8, r9, r10, r11
    and r2, r12, \x, asr #31
    add \x, \x, r2
    sub r2, r1, \x
    and r2, r12, r2, asr #31
    sub \x, \x, r2
    .endr
    eight str.w, 128
    add r0, r0, #4
    next_turn 28
    bne 5b
    end
