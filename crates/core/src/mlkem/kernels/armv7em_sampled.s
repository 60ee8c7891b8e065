// FIPS 203, Algorithm 11 (MultiplyNTTs), of pairs as they are sampled. r0: the sum; r1, r2: the factors of the product; r3: ζ of each
// pair, times 2^16; on the stack: where r1 ends, which is behind one pair at least.

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

// The next product: r4.
.macro next_product
    ldr r4, [r1], #4
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
