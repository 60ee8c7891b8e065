// The second layer of FIPS 204, Algorithm 41 (NTT), of half a polynomial, which is one block; as armv7em_rolled_ntt.s. r0: coefficients; r1:
// the factor.

    begin
    add r2, r0, #256
    .p2align 2
2:
    ldr r4, [r0]
    ldr r5, [r0, #256]
    multiply r5, r1
    add r4, r4, r5
    sub r5, r4, r5, lsl #1
    str r5, [r0, #256]
    str r4, [r0], #4
    cmp r0, r2
    bne 2b
