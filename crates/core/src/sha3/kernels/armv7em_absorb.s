// Adds words to interleaved lanes. r0: lanes; r1: words, of which there is one at least; r2: their end.

    push {r4-r10, lr}
    mov r4, #0x55555555
    mov r5, #0x33333333
    mov r6, #0x0f0f0f0f
    mov r7, #0x00ff00ff
2:
    ldr r8, [r1], #4
    ldr r9, [r1], #4
    // The exchanges of interleaved.rs: of halves, bytes, and so on.
    pkhbt r10, r8, r9, lsl #16
    pkhtb r9, r9, r8, asr #16
    eor r8, r9, r10, lsr #8
    and r8, r8, r7
    eor r9, r9, r8
    eor r10, r10, r8, lsl #8
    eor r8, r9, r10, lsr #4
    and r8, r8, r6
    eor r9, r9, r8
    eor r10, r10, r8, lsl #4
    eor r8, r9, r10, lsr #2
    and r8, r8, r5
    eor r9, r9, r8
    eor r10, r10, r8, lsl #2
    eor r8, r9, r10, lsr #1
    and r8, r8, r4
    ldr r3, [r0]
    ldr r12, [r0, #4]
    eor r9, r9, r8
    eor r10, r10, r8, lsl #1
    eor r10, r10, r3
    eor r9, r9, r12
    str r10, [r0], #4
    str r9, [r0], #4
    cmp r1, r2
    bne 2b
    pop {r4-r10, pc}
