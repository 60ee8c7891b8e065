// Adds c·s, in bytes as long as they hold it. r0: 256 coefficients; r1: the middle of s, -s, s, bytes; r2, r3: where the places of the
// challenge begin and end; on the stack: the bound less 1. r0: negative if a sum is not below the bound.

    push {r4-r11, lr}
    ldr r12, [sp, #36]
    mov lr, #0
    // sums so far outside; bound; places; their end; s; coefficients; blocks of 32 that are left.
    mov r4, #8
    push {r0-r3, r4, r12, lr}

    .macro check x
    sub r12, r3, \x
    orr lr, lr, r12
    add r12, r3, \x
    orr lr, lr, r12
    .endm

    .macro add_two sum, first, second
    ldr r1, [r0]
    ldr r2, [r0, #4]
    .if \first
    sxtab r1, r1, \sum, ror #\first
    .else
    sxtab r1, r1, \sum
    .endif
    sxtab r2, r2, \sum, ror #\second
    check r1
    check r2
    str r1, [r0], #4
    str r2, [r0], #4
    .endm
2:
    ldr r1, [sp, #4]
    ldr r2, [sp, #8]
    ldr r3, [sp, #12]
    .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
    mov \sum, #0
    .endr
3:
    // Of a place j, X^j·s begins j bytes in front of the middle.
    ldrh r12, [r2], #2
    sub r12, r1, r12
    ldr r0, [r12]
    ldr lr, [r12, #4]
    sadd8 r4, r4, r0
    sadd8 r5, r5, lr
    ldr r0, [r12, #8]
    ldr lr, [r12, #12]
    sadd8 r6, r6, r0
    sadd8 r7, r7, lr
    ldr r0, [r12, #16]
    ldr lr, [r12, #20]
    sadd8 r8, r8, r0
    sadd8 r9, r9, lr
    ldr r0, [r12, #24]
    ldr lr, [r12, #28]
    sadd8 r10, r10, r0
    sadd8 r11, r11, lr
    cmp r2, r3
    bne 3b
    add r1, r1, #32
    str r1, [sp, #4]
    ldr r0, [sp]
    ldr r3, [sp, #20]
    ldr lr, [sp, #24]
    .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
    add_two \sum, 0, 8
    add_two \sum, 16, 24
    .endr
    str r0, [sp]
    str lr, [sp, #24]
    ldr r1, [sp, #16]
    subs r1, r1, #1
    str r1, [sp, #16]
    bne 2b
    mov r0, lr
    add sp, sp, #28
    pop {r4-r11, pc}
    .purgem check
    .purgem add_two
