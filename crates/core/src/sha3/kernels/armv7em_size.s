// Keccak-p[1600, n] on Armv7E-M in 1.2 kB; armv7em.rs tells the plan. r0: the state, r1: round constants, two bytes each, r2: their end.
//
// Word 2(x + 5y) + h is half h of lane (x, y); column 2x + h is half h of the column x. sp: five parities of even halves; at 20 the
// constants, at 24 their end.

// The words in \a, and in place \w1, of columns for which θ adds \theta1 and \theta2, go to places \w1 and \w2, turned left by \turn1 and
// \turn2; what was in \w2 to \c. Two loads that follow each other take a cycle less.
.macro pair a, b, c, w1, theta1, turn1, w2, theta2, turn2, last
    ldr \b, [r0, #4 * \w1]
    .ifb \last
    ldr \c, [r0, #4 * \w2]
    .endif
    put \a, \w1, \theta1, \turn1
    put \b, \w2, \theta2, \turn2
.endm

.macro put reg, w, theta, turn
    eors \reg, \reg, \theta
    .if \turn
    ror \reg, \reg, #32 - \turn
    .endif
    str \reg, [r0, #4 * \w]
.endm

.macro fetch_half_plane
    ldr r1, [r7]
    ldr r2, [r7, #8]
    ldr r3, [r7, #16]
    ldr r4, [r7, #24]
    ldr r5, [r7, #32]
.endm

// χ of the first plane, whose results are the parities so far; and of another, whose results are added.
.macro chi_first reg, a, b, c, x
    bic \reg, \c, \b
    eor \reg, \reg, \a
    str \reg, [r7, #8 * \x]
.endm

.macro chi parity, a, b, c, x
    bic r6, \c, \b
    eors r6, r6, \a
    str r6, [r7, #8 * \x]
    eor \parity, \parity, r6
.endm

    push {r1, r2, r4-r11, lr}
    sub sp, #20

    // The parities, of odd halves first.
    adds r7, r0, #4
    .p2align 2
2:
    mov r6, sp
    add lr, sp, #20
    .p2align 2
3:
    ldr r1, [r7]
    ldr r2, [r7, #40]
    ldr r3, [r7, #80]
    ldr r4, [r7, #120]
    ldr r5, [r7, #160]
    eors r1, r1, r2
    eors r3, r3, r4
    eors r1, r1, r5
    eors r1, r1, r3
    stm r6!, {r1}
    adds r7, #8
    cmp r6, lr
    bne 3b
    subs r7, #44
    cmp r7, r0
    bne 4f
    ldm sp, {r8-r12}
    b 2b

    // A round. r8 to r12: parities of odd halves.
    .p2align 2
4:
    ldm sp, {r3-r7}
    // θ: what is added to a column takes the place of a parity that is no longer wanted.
    eor r14, r3, r10, ror #31
    eor r10, r10, r7
    eor r7, r7, r9, ror #31
    eor r9, r9, r6
    eor r6, r6, r8, ror #31
    eor r8, r8, r5
    eor r5, r5, r12, ror #31
    eor r12, r12, r4
    eor r4, r4, r11, ror #31
    eor r11, r11, r3

    // θ, ρ and π: word by word to where each belongs.
    ldr r1, [r0]
    ldr r2, [r0, #4]
    put r1, 0, r7, 0
    put r2, 1, r12, 0
    ldr r1, [r0, #8]
    pair r1, r2, r3, 21, r14, 0, 14, r12, 2
    pair r3, r1, r2, 22, r4, 3, 34, r14, 5
    pair r2, r3, r1, 37, r4, 7, 6, r10, 11
    pair r1, r2, r3, 10, r5, 14, 32, r7, 18
    pair r3, r1, r2, 17, r14, 22, 42, r10, 28
    pair r2, r3, r1, 48, r14, 1, 8, r6, 7
    pair r1, r2, r3, 31, r6, 13, 46, r12, 21
    pair r3, r1, r2, 38, r5, 28, 26, r6, 4
    pair r2, r3, r1, 25, r5, 12, 4, r9, 22
    pair r1, r2, r3, 40, r4, 31, 28, r7, 9
    pair r3, r1, r2, 45, r6, 19, 18, r9, 31
    pair r2, r3, r1, 12, r6, 10, 2, r14, 22, last
    ldr r1, [r0, #12]
    pair r1, r2, r3, 20, r8, 1, 15, r7, 1
    pair r3, r1, r2, 23, r9, 3, 35, r8, 5
    pair r2, r3, r1, 36, r9, 8, 7, r5, 10
    pair r1, r2, r3, 11, r10, 14, 33, r12, 18
    pair r3, r1, r2, 16, r8, 23, 43, r5, 27
    pair r2, r3, r1, 49, r8, 1, 9, r11, 7
    pair r1, r2, r3, 30, r11, 14, 47, r7, 20
    pair r3, r1, r2, 39, r10, 28, 27, r11, 4
    pair r2, r3, r1, 24, r10, 13, 5, r4, 21
    pair r1, r2, r3, 41, r9, 31, 29, r12, 9
    pair r3, r1, r2, 44, r11, 20, 19, r4, 30
    pair r2, r3, r1, 13, r11, 10, 3, r8, 22, last

    // χ of even halves, then of odd ones, with their parities.
    mov r7, r0
    .p2align 2
5:
    fetch_half_plane
    chi_first r8, r1, r2, r3, 0
    chi_first r9, r2, r3, r4, 1
    chi_first r10, r3, r4, r5, 2
    chi_first r11, r4, r5, r1, 3
    chi_first r12, r5, r1, r2, 4
    .rept 4
    adds r7, #40
    fetch_half_plane
    chi r8, r1, r2, r3, 0
    chi r9, r2, r3, r4, 1
    chi r10, r3, r4, r5, 2
    chi r11, r4, r5, r1, 3
    bics r2, r2, r1
    eors r2, r2, r5
    str r2, [r7, #32]
    eor r12, r12, r2
    .endr
    // 160 of even halves, 164 of odd ones.
    subs r7, r7, r0
    lsls r7, r7, #29
    bmi 6f
    stm sp, {r8-r12}
    adds r7, r0, #4
    b 5b

    // ι, of the first words and of the parities.
    .p2align 2
6:
    ldr r3, [sp, #20]
    ldr r7, [sp, #24]
    ldrh r5, [r3], #2
    str r3, [sp, #20]
    ldr r6, [sp]
    ldrd r1, r2, [r0]
    ubfx r4, r5, #2, #1
    eors r1, r1, r4
    eors r6, r6, r4
    str r6, [sp]
    movw r4, #0x808b
    ands r4, r4, r5
    and r5, r5, #16
    eor r4, r4, r5, lsl #27
    eors r2, r2, r4
    eor r8, r8, r4
    strd r1, r2, [r0]
    cmp r3, r7
    bne 4b
    add sp, #28
    pop {r4-r11, pc}
    .purgem pair
    .purgem put
    .purgem fetch_half_plane
    .purgem chi_first
    .purgem chi
