// Eight coefficients of a product with the challenge. r0: what is multiplied, as `Multiplicand` has it; r1: places; r2: what a place of 1
// is taken from; r3: where the sums go; on the stack: where the places of 1 end, and where those of -1 do.

    push {r3-r11, lr}
    .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
    mov \sum, #0
    .endr
    // Where the places of this sign end.
    ldr r12, [sp, #40]
    cmp r1, r12
    beq 3f
    .p2align 2
2:
    ldrb lr, [r1], #1
    ldr r12, [sp, #40]
    sub lr, r2, lr
    // Nothing up to the branch sets flags.
    cmp r1, r12
    // The sign is bit 8.
    sbfx r3, lr, #8, #1
    orr r3, r3, #1
    uxtb lr, lr
    add lr, r0, lr, lsl #1
    ldr r12, [lr, #2]
    smlabb r4, r12, r3, r4
    smlatb r5, r12, r3, r5
    ldr r12, [lr, #6]
    smlabb r6, r12, r3, r6
    smlatb r7, r12, r3, r7
    ldr r12, [lr, #10]
    smlabb r8, r12, r3, r8
    smlatb r9, r12, r3, r9
    ldr r12, [lr, #14]
    smlabb r10, r12, r3, r10
    smlatb r11, r12, r3, r11
    bne 2b
3:
    // Then those of the other, unless that is done.
    sub r2, r2, #256
    ldr r12, [sp, #44]
    str r12, [sp, #40]
    cmp r1, r12
    bne 2b
    pop {r3}
    stm r3, {r4-r11}
    pop {r4-r11, pc}
