// Between armv7em_sampled.s and its end: a sum of twelve bits a coefficient, in [0, q).

    begin_products
    .p2align 2
2:
    ldr r4, [r1], #4
    product
    twelve_bits r5, r0
    uadd16 r5, r5, r4
    // From [-q, 2q) to [-q, q), to [0, q).
    ssub16 r6, r5, r9
    sel r5, r6, r5
    sadd16 r6, r5, r9
    ssub16 r8, r5, r12
    sel r5, r5, r6
    lsr r6, r5, #16
    bfi r5, r6, #12, #20
    strh r5, [r0], #2
    lsr r5, r5, #16
    strb r5, [r0], #1
    cmp r1, lr
    bne 2b
