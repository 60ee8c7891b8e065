// FIPS 204, Algorithm 36 (Decompose), for γ2 = (q - 1) / (2m), the high bits packed as Algorithm 16 (SimpleBitPack) does: r0: 256
// coefficients, which become the low ones; r1: words; r2: a bit for each high one that is not 0.

    push {r4-r11, lr}
    add lr, r0, #1024
    movw r3, #0xe001
    movt r3, #0x7f
    lsr r12, r3, #1
    // The high bits are ((r + 127) / 128 * factor) / 2^shift, to the nearest; 2γ2.
    .if m == 44
    movw r9, #11275
    mov r10, #1 << 23
    movw r11, #59392
    movt r11, #2
    .else
    movw r9, #1025
    mov r10, #1 << 21
    movw r11, #65024
    movt r11, #7
    .endif

    .macro one
    ldr r4, [r0]
    and r5, r3, r4, asr #31
    add r4, r4, r5
    add r5, r4, #127
    lsr r5, r5, #7
    mla r5, r5, r9, r10
    .if m == 44
    lsr r5, r5, #24
    // m at most, which is 0.
    rsb r6, r5, #43
    bic r5, r5, r6, asr #31
    .else
    ubfx r5, r5, #22, #4
    .endif
    mls r4, r5, r11, r4
    sub r6, r12, r4
    and r6, r3, r6, asr #31
    sub r4, r4, r6
    str r4, [r0], #4
    // The carry says whether the high bits are at least 1.
    subs r6, r5, #1
    rrx r8, r8
    .set place, bit & 31
    .if place == 0
    mov r7, r5
    .else
    orr r7, r7, r5, lsl #place
    .endif
    .if place + bits >= 32
    str r7, [r1], #4
    .endif
    .if place + bits > 32
    lsr r7, r5, #32 - place
    .endif
    .set bit, bit + bits
    .endm
2:
    .set bit, 0
    .rept 16
    one
    .endr
    lsr r8, r8, #16
    strh r8, [r2], #2
    cmp r0, lr
    bne 2b
    pop {r4-r11, pc}
    .purgem one
