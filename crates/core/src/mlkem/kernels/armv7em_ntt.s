// FIPS 203, Algorithm 9 (NTT), between armv7em.s and armv7em_end.s. r1: the first factor; r2: whether the
// result is reduced, which stands at sp + 4 then.

    begin

    // Layers of length 128, 64 and 32.
    turns 16
    .p2align 2
2:
    eight_words ldr.w, 64
    three_layers
    eight_words str.w, 64
    add r0, r0, #4
    next_turn
    bpl 2b
    sub r0, r0, #64
    add r1, r1, #28

    // Layers of length 16, 8 and 4: the even words of every eighth, then the odd ones.
    mov r3, #1
    str r3, [sp]
    .p2align 2
2:
    turns 8
    .p2align 2
3:
    eight_words ldr.w, 8
    three_layers
    eight_words str.w, 8
    add r0, r0, #64
    add r1, r1, #28
    next_turn
    bpl 3b
    ldr r3, [sp]
    subs r3, r3, #1
    str r3, [sp]
    bmi 4f
    sub r0, r0, #508
    sub r1, r1, #224
    b 2b
    .p2align 2
4:
    sub r0, r0, #516

    // The layer of length 2, and the reduction.
    turns 16
    .p2align 2
5:
    eight_words ldr.w, 4
    ldr r2, [r1], #4
    butterfly r4, r5
    ldr r2, [r1], #4
    butterfly r6, r7
    ldr r2, [r1], #4
    butterfly r8, r9
    ldr r2, [r1], #4
    butterfly r10, r11
    ldr r2, [sp, #4]
    cmp r2, #0
    beq 6f
    // -2^32 / q modulo 2^32: what multiplies by 1.
    movw r2, #0xafb8
    movt r2, #0x13
    .irp x, r4, r5, r6, r7, r8, r9, r10, r11
    multiply \x
    .endr
    .p2align 2
6:
    eight_words str.w, 4
    add r0, r0, #32
    next_turn
    bpl 5b
    add sp, sp, #8
    pop {r3-r11, pc}
