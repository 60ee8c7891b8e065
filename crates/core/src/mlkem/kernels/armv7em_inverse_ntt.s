// FIPS 203, Algorithm 10 (NTT^-1), between armv7em.s and armv7em_end.s. r1: the end of the factors, whose first two are `ends` bytes
// in front of the last layer's; `reduced`: whether the coefficients are.

    begin

    // A reduction, unless there was one, and the layer of length 2.
    turns 16
    .p2align 2
2:
    eight_words ldr.w, 4
    .if !reduced
    movw r2, #0xafb8
    movt r2, #0x13
    .irp x, r4, r5, r6, r7, r8, r9, r10, r11
    multiply \x
    .endr
    .endif
    ldr r2, [r1, #-4]!
    inverse_butterfly r4, r5
    ldr r2, [r1, #-4]!
    inverse_butterfly r6, r7
    ldr r2, [r1, #-4]!
    inverse_butterfly r8, r9
    ldr r2, [r1, #-4]!
    inverse_butterfly r10, r11
    eight_words str.w, 4
    add r0, r0, #32
    next_turn
    bpl 2b
    sub r0, r0, #512

    // Layers of length 4, 8 and 16: the even words of every eighth, then the odd ones. From q + 1 on, a bound doubles where
    // sums are added to sums: 8q + 8 for the first word, a quarter of it for the second, which are reduced; less for the others.
    mov r3, #1
    str r3, [sp]
    .p2align 2
2:
    turns 8
    .p2align 2
3:
    eight_words ldr.w, 8
    three_inverse_layers 28
    movw r2, #0xafb8
    movt r2, #0x13
    multiply r4
    multiply r5
    eight_words str.w, 8
    add r0, r0, #64
    sub r1, r1, #28
    next_turn
    bpl 3b
    ldr r3, [sp]
    subs r3, r3, #1
    str r3, [sp]
    bmi 4f
    sub r0, r0, #508
    add r1, r1, #224
    b 2b
    .p2align 2
4:
    sub r0, r0, #516

    // Layers of length 32, 64 and 128; the factor of the last has 2^16 / 128 in it, and so have the words that it leaves.
    turns 16
    .p2align 2
5:
    eight_words ldr.w, 64
    three_inverse_layers ends-4
    ldr r2, [r1, #-ends]
    .irp x, r4, r5, r6, r7
    multiply \x
    .endr
    eight_words str.w, 64
    add r0, r0, #4
    next_turn
    bpl 5b
    add sp, sp, #8
    pop {r3-r11, pc}
