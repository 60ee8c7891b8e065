// What the transforms for Armv7E-M share; armv7em.rs tells the plan. r0: the polynomial; r1: factors; r4 to r11: eight words of
// it, two coefficients each; r12: q, and in its upper half how many turns are left behind this one; lr: 8q; r2: a factor; r3: free.

.macro begin
    push {r1-r11, lr}
    movw r12, #3329
    lsl lr, r12, #3
.endm

.macro turns n
    movt r12, #\n - 1
.endm

// Positive as long as one is left.
.macro next_turn
    subs r12, r12, #0x10000
.endm

.macro eight_words op, stride
    \op r4, [r0]
    \op r5, [r0, #\stride]
    \op r6, [r0, #2 * \stride]
    \op r7, [r0, #3 * \stride]
    \op r8, [r0, #4 * \stride]
    \op r9, [r0, #5 * \stride]
    \op r10, [r0, #6 * \stride]
    \op r11, [r0, #7 * \stride]
.endm

// r2 times both halves of \x; \x becomes 2^16 times the upper product, \low that of the lower one.
.macro products low, x
    smulwb \low, r2, \x
    smulwt \x, r2, \x
    smlabb \low, \low, r12, lr
    smlabb \x, \x, r12, lr
.endm

.macro multiply x
    products r3, \x
    pkhtb \x, \x, r3, asr #16
.endm

.macro butterfly a, b
    products r3, \b
    pkhtb r3, \b, r3, asr #16
    usub16 \b, \a, r3
    uadd16 \a, \a, r3
.endm

.macro inverse_butterfly a, b
    usub16 r3, \b, \a
    uadd16 \a, \a, \b
    products \b, r3
    pkhtb \b, r3, \b, asr #16
.endm

.macro three_layers
    ldr r2, [r1]
    butterfly r4, r8
    butterfly r5, r9
    butterfly r6, r10
    butterfly r7, r11
    ldr r2, [r1, #4]
    butterfly r4, r6
    butterfly r5, r7
    ldr r2, [r1, #8]
    butterfly r8, r10
    butterfly r9, r11
    ldr r2, [r1, #12]
    butterfly r4, r5
    ldr r2, [r1, #16]
    butterfly r6, r7
    ldr r2, [r1, #20]
    butterfly r8, r9
    ldr r2, [r1, #24]
    butterfly r10, r11
.endm

// The factors in front of r1, from the last to the first; that of the last layer is \last bytes in front of it.
.macro three_inverse_layers last
    ldr r2, [r1, #-4]
    inverse_butterfly r4, r5
    ldr r2, [r1, #-8]
    inverse_butterfly r6, r7
    ldr r2, [r1, #-12]
    inverse_butterfly r8, r9
    ldr r2, [r1, #-16]
    inverse_butterfly r10, r11
    ldr r2, [r1, #-20]
    inverse_butterfly r4, r6
    inverse_butterfly r5, r7
    ldr r2, [r1, #-24]
    inverse_butterfly r8, r10
    inverse_butterfly r9, r11
    ldr r2, [r1, #-(\last)]
    inverse_butterfly r4, r8
    inverse_butterfly r5, r9
    inverse_butterfly r6, r10
    inverse_butterfly r7, r11
.endm
