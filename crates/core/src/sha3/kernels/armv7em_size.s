// Keccak-p[1600, n] on Armv7E-M in 1.2 kB; armv7em.rs tells the plan. r0: the state, r1: round constants, two bytes each, r2: their end.
//
// Word 2(x + 5y) + h is half h of lane (x, y); column 2x + h is half h of the column x.

// The parity of column \n, in \reg.
.macro parity n, reg
    ldr \reg, [r0, #4 * \n]
    ldr r1, [r0, #4 * (\n + 10)]
    ldr r2, [r0, #4 * (\n + 20)]
    ldr r3, [r0, #4 * (\n + 30)]
    eor \reg, \reg, r1
    eor \reg, \reg, r2
    ldr r1, [r0, #4 * (\n + 40)]
    eor \reg, \reg, r3
    eor \reg, \reg, r1
.endm

// The word in \reg, of a column for which θ adds \theta, goes to place \w, turned left by \turn; what was there to \next.
.macro move next, w, reg, theta, turn
    .ifnb \next
    ldr \next, [r0, #4 * \w]
    .endif
    eor \reg, \reg, \theta
    .if \turn
    ror \reg, \reg, #32 - \turn
    .endif
    str \reg, [r0, #4 * \w]
.endm

.macro chi a, b, c, x
    bic r6, \c, \b
    eor r6, r6, \a
    str r6, [r7, #8 * \x]
.endm

// χ of half a plane, at r7.
.macro half_plane
    ldr r1, [r7]
    ldr r2, [r7, #8]
    ldr r3, [r7, #16]
    ldr r4, [r7, #24]
    ldr r5, [r7, #32]
    chi r1, r2, r3, 0
    chi r2, r3, r4, 1
    chi r3, r4, r5, 2
    chi r4, r5, r1, 3
    chi r5, r1, r2, 4
.endm

    push {r1, r2, r4-r11, lr}

    .p2align 2
2:
    parity 0, r4
    parity 1, r5
    parity 2, r6
    parity 3, r7
    parity 4, r8
    parity 5, r9
    parity 6, r10
    parity 7, r11
    parity 8, r12
    parity 9, r14

    // θ: what is added to a column takes the place of a parity that is no longer wanted.
    eor r3, r4, r9, ror #31
    eor r9, r9, r12
    eor r12, r12, r7, ror #31
    eor r7, r7, r10
    eor r10, r10, r5, ror #31
    eor r5, r5, r8
    eor r8, r8, r14, ror #31
    eor r14, r14, r6
    eor r6, r6, r11, ror #31
    eor r11, r11, r4

    // θ, ρ and π: word by word to where each belongs.
    ldr r1, [r0, #0]
    move , 0, r1, r12, 0
    ldr r1, [r0, #4]
    move , 1, r1, r14, 0
    ldr r1, [r0, #8]
    move r2, 21, r1, r3, 0
    move r1, 14, r2, r14, 2
    move r2, 22, r1, r6, 3
    move r1, 34, r2, r3, 5
    move r2, 37, r1, r6, 7
    move r1, 6, r2, r9, 11
    move r2, 10, r1, r8, 14
    move r1, 32, r2, r12, 18
    move r2, 17, r1, r3, 22
    move r1, 42, r2, r9, 28
    move r2, 48, r1, r3, 1
    move r1, 8, r2, r10, 7
    move r2, 31, r1, r10, 13
    move r1, 46, r2, r14, 21
    move r2, 38, r1, r8, 28
    move r1, 26, r2, r10, 4
    move r2, 25, r1, r8, 12
    move r1, 4, r2, r7, 22
    move r2, 40, r1, r6, 31
    move r1, 28, r2, r12, 9
    move r2, 45, r1, r10, 19
    move r1, 18, r2, r7, 31
    move r2, 12, r1, r10, 10
    move , 2, r2, r3, 22
    ldr r1, [r0, #12]
    move r2, 20, r1, r5, 1
    move r1, 15, r2, r12, 1
    move r2, 23, r1, r7, 3
    move r1, 35, r2, r5, 5
    move r2, 36, r1, r7, 8
    move r1, 7, r2, r8, 10
    move r2, 11, r1, r9, 14
    move r1, 33, r2, r14, 18
    move r2, 16, r1, r5, 23
    move r1, 43, r2, r8, 27
    move r2, 49, r1, r5, 1
    move r1, 9, r2, r11, 7
    move r2, 30, r1, r11, 14
    move r1, 47, r2, r12, 20
    move r2, 39, r1, r9, 28
    move r1, 27, r2, r11, 4
    move r2, 24, r1, r9, 13
    move r1, 5, r2, r6, 21
    move r2, 41, r1, r7, 31
    move r1, 29, r2, r14, 9
    move r2, 44, r1, r11, 20
    move r1, 19, r2, r6, 30
    move r2, 13, r1, r11, 10
    move , 3, r2, r5, 22

    mov r7, r0
    add r8, r0, #200
    .p2align 2
3:
    half_plane
    add r7, r7, #4
    half_plane
    add r7, r7, #36
    cmp r7, r8
    bne 3b

    // ι.
    pop {r3, r4}
    ldr r1, [r0]
    ldr r2, [r0, #4]
    ldrh r5, [r3], #2
    ubfx r6, r5, #2, #1
    eor r1, r1, r6
    movw r6, #0x808b
    and r6, r6, r5
    eor r2, r2, r6
    and r5, r5, #16
    eor r2, r2, r5, lsl #27
    str r1, [r0]
    str r2, [r0, #4]
    cmp r3, r4
    beq 4f
    push {r3, r4}
    b 2b
    .p2align 2
4:
    pop {r4-r11, pc}
    .purgem parity
    .purgem move
    .purgem chi
    .purgem half_plane
