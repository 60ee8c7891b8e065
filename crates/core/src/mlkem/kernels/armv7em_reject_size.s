// What armv7em_reject.s does, three bytes at a time, in a build for size.

    push {r4, lr}
    mov r4, r0
    add r12, r1, #24
    movw lr, #3329
    .p2align 2
2:
    ldrh r2, [r1], #2
    ldrb r3, [r1], #1
    lsl r3, r3, #4
    orr r3, r3, r2, lsr #12
    bfc r2, #12, #4
    cmp r2, lr
    it lo
    strhlo r2, [r0], #2
    cmp r3, lr
    it lo
    strhlo r3, [r0], #2
    cmp r1, r12
    bne 2b
    sub r0, r0, r4
    lsr r0, r0, #1
    pop {r4, pc}
