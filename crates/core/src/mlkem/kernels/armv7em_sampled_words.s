// Between armv7em_sampled.s and its end: a sum of 16 bits a coefficient.

    begin_products
    .p2align 2
2:
    ldr r4, [r1], #4
    product
    ldr r5, [r0]
    uadd16 r5, r5, r4
    str r5, [r0], #4
    cmp r1, lr
    bne 2b
