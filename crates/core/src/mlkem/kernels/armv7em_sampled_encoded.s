// Between armv7em_sampled.s and its end: the first factor of twelve bits a coefficient, a sum of 16.

    begin_products
    .p2align 2
2:
    twelve_bits r4, r1
    add r1, r1, #3
    product
    ldr r5, [r0]
    uadd16 r5, r5, r4
    str r5, [r0], #4
    cmp r1, lr
    bne 2b
