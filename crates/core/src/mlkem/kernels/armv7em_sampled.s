// FIPS 203, Algorithm 11 (MultiplyNTTs), of pairs as they are sampled or decoded. r0: the sum; r1, r2: the factors of the product;
// r3: ζ of each pair, times 2^16; on the stack: where r1 ends, which is behind one pair at least.

.macro begin_products
    push {r4-r11, lr}
    movw r9, #3329
    movt r9, #3329
    movw r10, #0xcff
    mov r12, #0
    ldr lr, [sp, #36]
.endm

// t * 2^-16 in the upper half, for t in \t (Montgomery).
.macro reduce t
    smulbb r8, \t, r10
    smlabb \t, r8, r9, \t
.endm

// A pair of twelve bits a coefficient.
.macro twelve_bits x, from
    ldrh \x, [\from]
    ldrb r6, [\from, #2]
    orr \x, \x, r6, lsl #16
    lsr r6, \x, #12
    bfc \x, #12, #20
    orr \x, \x, r6, lsl #16
.endm

// The product of r4 and the next pair: r4.
.macro product
    ldr r5, [r2], #4
    ldrsh r6, [r3], #2
    smultt r7, r4, r5
    reduce r7
    smulbb r8, r4, r5
    smlatb r7, r7, r6, r8
    reduce r7
    smuadx r4, r4, r5
    reduce r4
    pkhtb r4, r4, r7, asr #16
.endm
