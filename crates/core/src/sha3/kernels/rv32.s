// Keccak-p[1600, n] on RV32; rv32.rs tells the plan. x10: the state, x11: round constants, x12: their end.
//
// Word 2(x + 5y) + h is half h of place (x, y). x8: the constants, their end at 0(sp); x11 to x15: half a plane; x9 and x13 at
// times: no value that lasts. Even and odd half of each column:
//   parities       x16, x17; x18, x19; x20, x21; x22, x23; x24, x25
//   what θ adds    x26, x27; x28, x29; x30, x31; x5, x6; x7, x1

// Bit x + 5y: ρ turns lane (x, y) by an odd number, so that its halves change places.
.set .Lodd, 1 << 1 | 1 << 4 | 1 << 8 | 1 << 10 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15 | 1 << 16 | 1 << 17 | 1 << 18 | 1 << 22

.macro turn reg, places
    .if \places
    slli x9, \reg, \places
    srli \reg, \reg, 32 - (\places)
    or \reg, \reg, x9
    .endif
.endm

// θ and ρ of lane (\x, \y), which is turned by \turn. It stands where χ left it in the rounds before.
.macro fetch reg, x, y, turn, even, odd
    .set .Lh, .Lhalf ^ (\turn & 1)
    .set .Ly, \y
    .set .Lplace, .Lh
    .rept .Lround
    .set .Ly, (\x + 2 * .Ly) % 5
    .set .Lplace, .Lplace ^ (.Lodd >> (\x + 5 * .Ly) & 1)
    .endr
    .set .Lcolumn\x, 4 * (.Lplace + 2 * (\x + 5 * .Ly))
    lw \reg, .Lcolumn\x(x10)
    .if .Lh
    xor \reg, \reg, \odd
    .else
    xor \reg, \reg, \even
    .endif
    turn \reg, (\turn + 1 - .Lhalf) / 2
.endm

// χ: \a ⊕ (\b \op \c), which is lane \x of the plane, stands where the lane of that column was, and belongs to a parity.
.macro chi x, a, b, op, c, even, odd
    .if .Lhalf
    chi_half \x, \a, \b, \op, \c, \odd
    .else
    chi_half \x, \a, \b, \op, \c, \even
    .endif
.endm

.macro chi_half x, a, b, op, c, parity
    .if .Lfirst
    \op \parity, \b, \c
    xor \parity, \parity, \a
    .if \x == 0
    lw x13, 4 * .Lhalf(x8)
    xor \parity, \parity, x13
    .endif
    sw \parity, .Lcolumn\x(x10)
    .else
    \op x9, \b, \c
    xor x9, x9, \a
    sw x9, .Lcolumn\x(x10)
    xor \parity, \parity, x9
    .endif
.endm

.macro plane_0
    fetch x11, 0, 0, 0, x26, x27
    fetch x12, 1, 1, 44, x28, x29
    fetch x13, 2, 2, 43, x30, x31
    fetch x14, 3, 3, 21, x5, x6
    fetch x15, 4, 4, 14, x7, x1
    chi 4, x15, x11, and, x12, x24, x25
    chi 3, x14, x15, or, x11, x22, x23
    chi 2, x13, x14, and, x15, x20, x21
    not x9, x13
    chi 1, x12, x9, or, x14, x18, x19
    chi 0, x11, x12, or, x13, x16, x17
.endm

.macro plane_1
    fetch x11, 3, 0, 28, x5, x6
    fetch x12, 4, 1, 20, x7, x1
    fetch x13, 0, 2, 3, x26, x27
    fetch x14, 1, 3, 45, x28, x29
    fetch x15, 2, 4, 61, x30, x31
    chi 0, x11, x12, or, x13, x16, x17
    chi 1, x12, x13, and, x14, x18, x19
    not x9, x15
    chi 2, x13, x9, or, x14, x20, x21
    chi 3, x14, x15, or, x11, x22, x23
    chi 4, x15, x11, and, x12, x24, x25
.endm

.macro plane_2
    fetch x11, 1, 0, 1, x28, x29
    fetch x12, 2, 1, 6, x30, x31
    fetch x13, 3, 2, 25, x5, x6
    fetch x14, 4, 3, 8, x7, x1
    fetch x15, 0, 4, 18, x26, x27
    chi 0, x11, x12, or, x13, x16, x17
    chi 1, x12, x13, and, x14, x18, x19
    not x14, x14
    chi 2, x13, x14, and, x15, x20, x21
    chi 3, x14, x15, or, x11, x22, x23
    chi 4, x15, x11, and, x12, x24, x25
.endm

.macro plane_3
    fetch x11, 4, 0, 27, x7, x1
    fetch x12, 0, 1, 36, x26, x27
    fetch x13, 1, 2, 10, x28, x29
    fetch x14, 2, 3, 15, x30, x31
    fetch x15, 3, 4, 56, x5, x6
    chi 0, x11, x12, and, x13, x16, x17
    chi 1, x12, x13, or, x14, x18, x19
    not x14, x14
    chi 2, x13, x14, or, x15, x20, x21
    chi 3, x14, x15, and, x11, x22, x23
    chi 4, x15, x11, or, x12, x24, x25
.endm

.macro plane_4
    fetch x11, 2, 0, 62, x30, x31
    fetch x12, 3, 1, 55, x5, x6
    fetch x13, 4, 2, 39, x7, x1
    fetch x14, 0, 3, 41, x26, x27
    fetch x15, 1, 4, 2, x28, x29
    chi 4, x15, x11, and, x12, x24, x25
    not x12, x12
    chi 0, x11, x12, and, x13, x16, x17
    chi 1, x12, x13, or, x14, x18, x19
    chi 2, x13, x14, and, x15, x20, x21
    chi 3, x14, x15, or, x11, x22, x23
.endm

.macro both_halves plane
    .irp half, 0, 1
    .set .Lhalf, \half
    \plane
    .endr
.endm

// What θ adds to a column: the parity before it, and that behind it turned by one.
.macro theta even, odd, before_even, before_odd, after_even, after_odd
    slli x9, \after_odd, 1
    srli \even, \after_odd, 31
    or \even, \even, x9
    xor \even, \even, \before_even
    xor \odd, \before_odd, \after_even
.endm

// The lane of this number is kept complemented between the rounds.
.macro complement lane
    lw x11, 8 * \lane(x10)
    lw x12, 8 * \lane + 4(x10)
    not x11, x11
    not x12, x12
    sw x11, 8 * \lane(x10)
    sw x12, 8 * \lane + 4(x10)
.endm

.macro complement_all
    .irp lane, 1, 2, 8, 12, 17, 20
    complement \lane
    .endr
.endm

.macro parity reg, word
    lw \reg, 4 * \word(x10)
    .irp plane, 1, 2, 3, 4
    lw x9, 4 * (\word + 10 * \plane)(x10)
    xor \reg, \reg, x9
    .endr
.endm

    addi sp, sp, -64
    sw x1, 12(sp)
    sw x8, 16(sp)
    sw x9, 20(sp)
    sw x18, 24(sp)
    sw x19, 28(sp)
    sw x20, 32(sp)
    sw x21, 36(sp)
    sw x22, 40(sp)
    sw x23, 44(sp)
    sw x24, 48(sp)
    sw x25, 52(sp)
    sw x26, 56(sp)
    sw x27, 60(sp)
    sw x12, 0(sp)
    mv x8, x11
    complement_all
    parity x16, 0
    parity x17, 1
    parity x18, 2
    parity x19, 3
    parity x20, 4
    parity x21, 5
    parity x22, 6
    parity x23, 7
    parity x24, 8
    parity x25, 9
2:
    .irp round, 0, 1, 2, 3
    .set .Lround, \round
    theta x26, x27, x24, x25, x18, x19
    theta x28, x29, x16, x17, x20, x21
    theta x30, x31, x18, x19, x22, x23
    theta x5, x6, x20, x21, x24, x25
    theta x7, x1, x22, x23, x16, x17
    .set .Lfirst, 1
    both_halves plane_0
    .set .Lfirst, 0
    .irp plane, plane_1, plane_2, plane_3, plane_4
    both_halves \plane
    .endr
    addi x8, x8, 8
    .endr
    lw x9, 0(sp)
    beq x8, x9, 3f
    j 2b
3:
    complement_all
    lw x1, 12(sp)
    lw x8, 16(sp)
    lw x9, 20(sp)
    lw x18, 24(sp)
    lw x19, 28(sp)
    lw x20, 32(sp)
    lw x21, 36(sp)
    lw x22, 40(sp)
    lw x23, 44(sp)
    lw x24, 48(sp)
    lw x25, 52(sp)
    lw x26, 56(sp)
    lw x27, 60(sp)
    addi sp, sp, 64
    ret
    .purgem turn
    .purgem fetch
    .purgem chi
    .purgem chi_half
    .purgem plane_0
    .purgem plane_1
    .purgem plane_2
    .purgem plane_3
    .purgem plane_4
    .purgem both_halves
    .purgem theta
    .purgem complement
    .purgem complement_all
    .purgem parity
