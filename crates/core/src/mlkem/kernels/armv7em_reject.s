// The inner loop of FIPS 203, Algorithm 7 (SampleNTT): r0: where integers below q go; r1: 24 bytes. How many there were: r0.

    push {r4-r8, lr}
    mov r7, r0
    add r8, r1, #24

    // \x, if it is below q.
    .macro accept x
    cmp \x, r12
    it lo
    strhlo \x, [r0], #2
    .endm

    movw r12, #3329
    .p2align 2
2:
    ldr r2, [r1], #4
    ldr r3, [r1], #4
    ldr r4, [r1], #4
    ubfx r5, r2, #0, #12
    accept r5
    ubfx r5, r2, #12, #12
    accept r5
    lsr r5, r2, #24
    bfi r5, r3, #8, #4
    accept r5
    ubfx r5, r3, #4, #12
    accept r5
    ubfx r5, r3, #16, #12
    accept r5
    lsr r5, r3, #28
    bfi r5, r4, #4, #8
    accept r5
    ubfx r5, r4, #8, #12
    accept r5
    lsr r5, r4, #20
    accept r5
    cmp r1, r8
    bne 2b
    sub r0, r0, r7
    lsr r0, r0, #1
    pop {r4-r8, pc}
    .purgem accept
