// Compress_d and ByteEncode_d (FIPS 203, §4.2.1): r0: 256 coefficients; r1: words; r2: d; r3: whether they are written. In r0
// what differed from the words that were there.

    push {r3-r11, lr}
    // 2^42 / q: x times that, less 16 bits, is x * 2^26 / q.
    movw r3, #0xdda0
    movt r3, #0x4ebe
    rsb r4, r2, #25
    mov r6, #1
    lsl r5, r6, r4
    add r4, r4, #1
    lsl r6, r6, r2
    sub r6, r6, #1
    add r7, r0, #512
    mov r8, #0
    mov r9, #0
    mov lr, #0
    .p2align 2
2:
    ldrsh r10, [r0], #2
    smlawb r10, r3, r10, r5
    lsr r10, r10, r4
    and r10, r10, r6
    lsl r11, r10, r9
    orr r8, r8, r11
    add r9, r9, r2
    cmp r9, #32
    blo 3f
    ldr r12, [r1]
    eor r12, r12, r8
    orr lr, lr, r12
    ldr r12, [sp]
    cmp r12, #0
    it ne
    strne r8, [r1]
    add r1, r1, #4
    // What is left of the coefficient: none, or fewer bits than it has.
    sub r9, r9, #32
    sub r11, r2, r9
    lsr r8, r10, r11
    .p2align 2
3:
    cmp r0, r7
    bne 2b
    mov r0, lr
    pop {r3-r11, pc}
