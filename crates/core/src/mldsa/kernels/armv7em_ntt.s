// FIPS 204, Algorithm 41 (NTT), between armv7em.s and armv7em_end.s. r1: the factors.

    begin

    // Layers of length 128, 64 and 32.
    mov r2, #4
    factors
    turns 28, 32
    .p2align 2
2:
    eight ldr.w, 128
    three_layers
    eight str.w, 128
    add r0, r0, #4
    next_turn 28
    bne 2b
    sub r0, r0, #128

    // Layers of length 16, 8 and 4, for 32 coefficients.
    mov r2, #32
    str r2, [sp, #32]
    .p2align 2
3:
    factors
    turns 28, 4
    .p2align 2
4:
    eight ldr.w, 16
    three_layers
    eight str.w, 16
    add r0, r0, #4
    next_turn 28
    bne 4b
    add r0, r0, #112
    ldr r2, [sp, #32]
    add r2, r2, #4
    str r2, [sp, #32]
    cmp r2, #64
    bne 3b
    sub r0, r0, #1024

    ldr r8, [sp, #36]
    add r9, r8, #512
    add r8, r8, #256
    last_layers 64
    end
