// What the transforms share in a build for size. r0: coefficients; r2: bytes between those of a butterfly; r3, r7: free; r9: q; r10: -q^-1
// modulo 2^32. At sp: the four arguments.

.macro begin
    push {r0-r11, lr}
    movw r9, #0xe001
    movt r9, #0x7f
    movw r10, #0xdfff
    movt r10, #0xfc7f
.endm

// \x times \factor, divided by 2^32.
.macro multiply x, factor
    smull r3, \x, \x, \factor
    mul r7, r3, r10
    smlal r3, \x, r7, r9
.endm
