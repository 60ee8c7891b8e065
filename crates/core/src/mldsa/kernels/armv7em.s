// What the transforms for Armv7E-M share; armv7em.rs tells the plan. r0: the polynomial; r1: a factor; r2 and r3: free; r4 to r11:
// coefficients; r12: q; lr: -q^-1 modulo 2^32. At sp: seven factors, how many turns and blocks are left, all factors, 4k for a block.

.macro begin
    push {r4-r11, lr}
    sub sp, sp, #44
    str r1, [sp, #36]
    movw r12, #0xe001
    movt r12, #0x7f
    movw lr, #0xdfff
    movt lr, #0xfc7f
.endm

.macro end
    add sp, sp, #44
    pop {r4-r11, pc}
.endm

// The factors of three layers, of block k of the first and of its parts, to the stack; r2: 4k.
.macro factors
    ldr r1, [sp, #36]
    ldr r4, [r1, r2]
    add r3, r1, r2, lsl #1
    ldrd r5, r6, [r3]
    add r3, r1, r2, lsl #2
    ldm r3, {r7-r10}
    stm sp, {r4-r10}
.endm

.macro turns place, n
    mov r3, #\n
    str r3, [sp, #\place]
.endm

// Not equal as long as one is left.
.macro next_turn place
    ldr r3, [sp, #\place]
    subs r3, r3, #1
    str r3, [sp, #\place]
.endm

.macro eight op, stride
    \op r4, [r0]
    \op r5, [r0, #\stride]
    \op r6, [r0, #2 * \stride]
    \op r7, [r0, #3 * \stride]
    \op r8, [r0, #4 * \stride]
    \op r9, [r0, #5 * \stride]
    \op r10, [r0, #6 * \stride]
    \op r11, [r0, #7 * \stride]
.endm

// \x times r1, divided by 2^32.
.macro multiply x
    smull r2, \x, \x, r1
    mul r3, r2, lr
    smlal r2, \x, r3, r12
.endm

.macro butterfly a, b
    multiply \b
    add \a, \a, \b
    sub \b, \a, \b, lsl #1
.endm

.macro difference a, b
    sub \b, \b, \a
    add \a, \b, \a, lsl #1
.endm

.macro inverse_butterfly a, b
    difference \a, \b
    multiply \b
.endm

.macro three_layers
    ldr r1, [sp]
    butterfly r4, r8
    butterfly r5, r9
    butterfly r6, r10
    butterfly r7, r11
    ldr r1, [sp, #4]
    butterfly r4, r6
    butterfly r5, r7
    ldr r1, [sp, #8]
    butterfly r8, r10
    butterfly r9, r11
    ldr r1, [sp, #12]
    butterfly r4, r5
    ldr r1, [sp, #16]
    butterfly r6, r7
    ldr r1, [sp, #20]
    butterfly r8, r9
    ldr r1, [sp, #24]
    butterfly r10, r11
.endm

// All but the last of three layers.
.macro two_inverse_layers
    ldr r1, [sp, #24]
    inverse_butterfly r4, r5
    ldr r1, [sp, #20]
    inverse_butterfly r6, r7
    ldr r1, [sp, #16]
    inverse_butterfly r8, r9
    ldr r1, [sp, #12]
    inverse_butterfly r10, r11
    ldr r1, [sp, #8]
    inverse_butterfly r4, r6
    inverse_butterfly r5, r7
    ldr r1, [sp, #4]
    inverse_butterfly r8, r10
    inverse_butterfly r9, r11
.endm

// The layers of length 2 and 1 of \n times four coefficients. r8 and r9: their factors; r10: 6q, which keeps sums from being
// negative.
.macro last_layers n
    movw r10, #0x4006
    movt r10, #0x2ff
    turns 28, \n
    .p2align 2
9:
    ldr r4, [r0]
    ldr r5, [r0, #4]
    ldr r6, [r0, #8]
    ldr r7, [r0, #12]
    ldr r1, [r8], #4
    add r4, r4, r10
    butterfly r4, r6
    butterfly r5, r7
    ldr r1, [r9], #4
    butterfly r4, r5
    ldr r1, [r9], #4
    butterfly r6, r7
    str r4, [r0], #4
    str r5, [r0], #4
    str r6, [r0], #4
    str r7, [r0], #4
    next_turn 28
    bne 9b
.endm
