// What the transforms share in a build for size. r0: coefficients; r1: k of a block; r2: bytes between the coefficients of a butterfly;
// r4 and r5: these; r6: a factor; r3, r7: free; r9: q; r10: -q^-1 modulo 2^32; r12: the end of a block; lr: that of the coefficients. At
// sp: the coefficients, the factors, and two words of the caller's.

.macro begin
    push {r0-r11, lr}
    add lr, r0, r2
    movw r9, #0xe001
    movt r9, #0x7f
    movw r10, #0xdfff
    movt r10, #0xfc7f
.endm

// r5 times r6, divided by 2^32.
.macro multiply
    smull r3, r5, r5, r6
    mul r7, r3, r10
    smlal r3, r5, r7, r9
.endm

// The factor of block k: of the even ones each has its place, and the next one is that times the first.
.macro factor
    ldr r3, [sp, #4]
    bic r6, r1, #1
    ldr r6, [r3, r6, lsl #1]
    tst r1, #1
    beq 9f
    ldr r5, [r3, #512]
    multiply
    mov r6, r5
9:
    add r12, r0, r2
.endm
