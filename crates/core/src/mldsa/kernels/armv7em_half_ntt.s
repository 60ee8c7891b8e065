// The layers of FIPS 204, Algorithm 41 (NTT), but the first, of one half, between armv7em.s and armv7em_end.s. r1: the factors;
// r2: 8 for the lower half, 12 for the upper one.

    begin
    str r2, [sp, #32]

    // Layers of length 64, 32 and 16.
    factors
    turns 28, 16
    .p2align 2
2:
    eight ldr.w, 64
    three_layers
    eight str.w, 64
    add r0, r0, #4
    next_turn 28
    bne 2b
    sub r0, r0, #64

    // Layers of length 8 and 4, for 16 coefficients. r8, r9: their factors.
    ldr r8, [sp, #36]
    ldr r2, [sp, #32]
    add r9, r8, r2, lsl #4
    add r8, r8, r2, lsl #3
    turns 40, 8
    .p2align 2
3:
    ldr r10, [r8], #4
    ldr r11, [r9], #4
    ldr r1, [r9], #4
    str r1, [sp]
    turns 28, 4
    .p2align 2
4:
    ldr r4, [r0]
    ldr r5, [r0, #16]
    ldr r6, [r0, #32]
    ldr r7, [r0, #48]
    mov r1, r10
    butterfly r4, r6
    butterfly r5, r7
    mov r1, r11
    butterfly r4, r5
    ldr r1, [sp]
    butterfly r6, r7
    str r5, [r0, #16]
    str r6, [r0, #32]
    str r7, [r0, #48]
    str r4, [r0], #4
    next_turn 28
    bne 4b
    add r0, r0, #48
    next_turn 40
    bne 3b
    sub r0, r0, #512

    ldr r8, [sp, #36]
    ldr r2, [sp, #32]
    add r9, r8, r2, lsl #6
    add r8, r8, r2, lsl #5
    last_layers 32
    end
