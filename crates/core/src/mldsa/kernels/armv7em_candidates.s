// Products of candidates below q (FIPS 204, Algorithm 14 (CoeffFromThreeBytes)) and factors, times 2^-32, added to sums. r0: sums; r1: factors; r2:
// candidates, three bytes each; r3: the end of the factors; on the stack: that of the candidates. Returns in r0 which candidate is next,
// in r1 which factor. The time says which candidates were refused.

    push {r4-r9, lr}
    ldr r12, [sp, #28]
    movw r8, #0xe001
    movt r8, #0x7f
    movw r9, #0xdfff
    movt r9, #0xfc7f
    .p2align 2
2:
    ldrh r4, [r2]
    ldrb r5, [r2, #2]
    adds r2, #3
    orr r4, r4, r5, lsl #16
    bfc r4, #23, #1
    cmp r4, r8
    bcs 3f
    ldr r5, [r1], #4
    ldr r7, [r0]
    umull r4, r5, r4, r5
    mul r6, r4, r9
    umlal r4, r5, r6, r8
    add r7, r7, r5
    str r7, [r0], #4
    cmp r1, r3
    beq 4f
    .p2align 2
3:
    cmp r2, r12
    bne 2b
    .p2align 2
4:
    mov r0, r2
    pop {r4-r9, pc}
