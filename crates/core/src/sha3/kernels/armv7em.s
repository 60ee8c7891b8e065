// Keccak-p[1600, n] on Armv7E-M; armv7em.rs tells the plan. r0: the state, r1: round constants, r2: their end.
//
// Word 2(x + 5y) + h is half h of place (x, y); column 2x + h is half h of the column x. A number of the assembler stands
// beside each value, by how much it is still to be turned right: .Lp of a word, .Lc of a parity, .Ld of what θ adds, .Lg of
// a lane in a register. r1 to r5: parities of the half that is made; r6 to r10: a plane; r11, r12, r14: what θ adds.
// sp: what θ adds to the ten columns; five even parities at 40; the constants at 60, their end at 64.

// Column \d gets the parity of \n, in \a, and that of \m, in \b, turned left by \turn.
.macro theta d, reg, n, a, m, b, turn
    eor.w \reg, \a, \b, ror #((.Lc\m - \turn - .Lc\n) & 31)
    .set .Ld\d, .Lc\n
    str.w \reg, [sp, #4 * \d]
.endm

.macro fetch reg, d
    ldr.w \reg, [sp, #4 * \d]
.endm

.macro fetch_plane a, b, c, d, e
    ldr.w r6, [r0, #4 * \a]
    ldr.w r7, [r0, #4 * \b]
    ldr.w r8, [r0, #4 * \c]
    ldr.w r9, [r0, #4 * \d]
    ldr.w r10, [r0, #4 * \e]
.endm

// θ, and ρ on paper. In the last of four rounds three lanes of a plane are turned, which settles the plane after χ.
.macro mix lane, w, d, reg, turn
    eor.w r\lane, r\lane, \reg, ror #((.Ld\d - .Lp\w) & 31)
    .set .Lg\lane, (.Lp\w - \turn) & 31
    .if .Lsettle && .Lg\lane && (\lane < 8 || \lane == 10)
    ror.w r\lane, r\lane, #.Lg\lane
    .set .Lg\lane, 0
    .endif
.endm

// χ: a ⊕ (c ∧ ¬b).
.macro chi reg, a, b, c
    bic.w \reg, r\c, r\b, ror #((.Lg\b - .Lg\c) & 31)
    .if .Lsettle && .Lg\a
    eor.w \reg, \reg, r\a, ror #((.Lg\a - .Lg\c) & 31)
    .set .Lf, .Lg\c
    .else
    eor.w \reg, r\a, \reg, ror #((.Lg\c - .Lg\a) & 31)
    .set .Lf, .Lg\a
    .endif
.endm

// ι, of the constant in \reg.
.macro iota lane, reg
    eor.w \lane, \lane, \reg, ror #((-.Lf) & 31)
.endm

.macro put reg, w
    str.w \reg, [r0, #4 * \w]
    .set .Lp\w, .Lf
.endm

// The first lane of its column is the parity so far; another is added.
.macro begin n, parity, w
    put \parity, \w
    .set .Lc\n, .Lf
.endm

.macro join n, parity, w
    put r11, \w
    eor.w \parity, \parity, r11, ror #((.Lf - .Lc\n) & 31)
.endm

.macro plane_even_1 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    mix 6, \a, 6, r14, 14
    mix 7, \b, 8, r12, 10
    mix 8, \c, 1, r5, 2
    mix 9, \d, 3, r1, 23
    mix 10, \e, 5, r2, 31
    chi r1, 6, 7, 8
    begin 0, r1, \c
    chi r2, 7, 8, 9
    begin 2, r2, \d
    chi r3, 8, 9, 10
    begin 4, r3, \e
    chi r4, 9, 10, 6
    begin 6, r4, \a
    chi r5, 10, 6, 7
    begin 8, r5, \b
.endm

.macro plane_even_2 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r11, 0
    fetch r14, 3
    mix 9, \d, 8, r12, 4
    mix 10, \e, 0, r11, 9
    mix 6, \a, 3, r14, 1
    fetch r14, 4
    fetch r12, 7
    mix 7, \b, 4, r14, 3
    mix 8, \c, 7, r12, 13
    chi r11, 6, 7, 8
    join 0, r1, \e
    chi r11, 7, 8, 9
    join 2, r2, \a
    chi r11, 8, 9, 10
    join 4, r3, \b
    chi r11, 9, 10, 6
    join 6, r4, \c
    chi r11, 10, 6, 7
    join 8, r5, \d
.endm

.macro plane_even_4 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r11, 1
    mix 6, \a, 4, r14, 31
    mix 7, \b, 7, r12, 28
    mix 9, \d, 1, r11, 21
    fetch r14, 2
    fetch r12, 9
    mix 10, \e, 2, r14, 1
    mix 8, \c, 9, r12, 20
    chi r11, 6, 7, 8
    join 0, r1, \d
    chi r11, 7, 8, 9
    join 2, r2, \e
    chi r11, 8, 9, 10
    join 4, r3, \a
    chi r11, 9, 10, 6
    join 6, r4, \b
    chi r11, 10, 6, 7
    join 8, r5, \c
.endm

.macro plane_even_3 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r11, 6
    mix 8, \c, 2, r14, 5
    mix 6, \a, 9, r12, 14
    mix 10, \e, 6, r11, 28
    fetch r12, 0
    fetch r14, 5
    mix 7, \b, 0, r12, 18
    mix 9, \d, 5, r14, 8
    chi r11, 6, 7, 8
    join 0, r1, \b
    chi r11, 7, 8, 9
    join 2, r2, \c
    chi r11, 8, 9, 10
    join 4, r3, \d
    chi r11, 9, 10, 6
    join 6, r4, \e
    chi r11, 10, 6, 7
    join 8, r5, \a
.endm

.macro plane_even_0 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r11, 2
    mix 6, \a, 0, r12, 0
    mix 8, \c, 5, r14, 22
    mix 7, \b, 2, r11, 22
    fetch r14, 7
    fetch r12, 8
    ldr.w r11, [sp, #60]
    mix 9, \d, 7, r14, 11
    mix 10, \e, 8, r12, 7
    ldr.w r14, [r11], #8
    ldr r12, [r11, #-4]
    str.w r11, [sp, #60]
    chi r11, 6, 7, 8
    iota r11, r14
    join 0, r1, \a
    chi r11, 7, 8, 9
    join 2, r2, \b
    chi r11, 8, 9, 10
    join 4, r3, \c
    chi r11, 9, 10, 6
    join 6, r4, \d
    chi r11, 10, 6, 7
    join 8, r5, \e
.endm

.macro plane_odd_0 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r1, 1
    fetch r2, 3
    fetch r3, 6
    fetch r4, 4
    fetch r14, 9
    mix 6, \a, 1, r1, 0
    mix 7, \b, 3, r2, 22
    mix 9, \d, 6, r3, 10
    mix 8, \c, 4, r4, 21
    mix 10, \e, 9, r14, 7
    chi r1, 6, 7, 8
    iota r1, r12
    begin 1, r1, \a
    chi r2, 7, 8, 9
    begin 3, r2, \b
    chi r3, 8, 9, 10
    begin 5, r3, \c
    chi r4, 9, 10, 6
    begin 7, r4, \d
    chi r5, 10, 6, 7
    begin 9, r5, \e
.endm

.macro plane_odd_1 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r11, 4
    fetch r12, 0
    mix 7, \b, 9, r14, 10
    mix 10, \e, 4, r11, 30
    mix 8, \c, 0, r12, 1
    fetch r11, 7
    fetch r12, 2
    mix 6, \a, 7, r11, 14
    mix 9, \d, 2, r12, 22
    chi r11, 6, 7, 8
    join 1, r1, \c
    chi r11, 7, 8, 9
    join 3, r2, \d
    chi r11, 8, 9, 10
    join 5, r3, \e
    chi r11, 9, 10, 6
    join 7, r4, \a
    chi r11, 10, 6, 7
    join 9, r5, \b
.endm

.macro plane_odd_2 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r11, 1
    mix 9, \d, 9, r14, 4
    mix 6, \a, 2, r12, 0
    mix 10, \e, 1, r11, 9
    fetch r14, 5
    fetch r12, 6
    mix 7, \b, 5, r14, 3
    mix 8, \c, 6, r12, 12
    chi r11, 6, 7, 8
    join 1, r1, \e
    chi r11, 7, 8, 9
    join 3, r2, \a
    chi r11, 8, 9, 10
    join 5, r3, \b
    chi r11, 9, 10, 6
    join 7, r4, \c
    chi r11, 10, 6, 7
    join 9, r5, \d
.endm

.macro plane_odd_4 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r11, 0
    mix 6, \a, 5, r14, 31
    mix 7, \b, 6, r12, 27
    mix 9, \d, 0, r11, 20
    fetch r14, 3
    fetch r12, 8
    mix 10, \e, 3, r14, 1
    mix 8, \c, 8, r12, 19
    chi r11, 6, 7, 8
    join 1, r1, \d
    chi r11, 7, 8, 9
    join 3, r2, \e
    chi r11, 8, 9, 10
    join 5, r3, \a
    chi r11, 9, 10, 6
    join 7, r4, \b
    chi r11, 10, 6, 7
    join 9, r5, \c
.endm

.macro plane_odd_3 a, b, c, d, e
    fetch_plane \a, \b, \c, \d, \e
    fetch r11, 7
    mix 8, \c, 3, r14, 5
    mix 6, \a, 8, r12, 13
    mix 10, \e, 7, r11, 28
    fetch r14, 4
    fetch r12, 1
    mix 9, \d, 4, r14, 7
    mix 7, \b, 1, r12, 18
    chi r11, 6, 7, 8
    join 1, r1, \b
    chi r11, 7, 8, 9
    join 3, r2, \c
    chi r11, 8, 9, 10
    join 5, r3, \d
    chi r11, 9, 10, 6
    join 7, r4, \e
    chi r11, 10, 6, 7
    join 9, r5, \a
.endm

.macro theta_all
    ldr.w r6, [sp, #40]
    ldr.w r7, [sp, #44]
    ldr.w r14, [sp, #48]
    ldr.w r12, [sp, #52]
    ldr.w r10, [sp, #56]
    theta 2, r11, 0, r6, 5, r3, 1
    theta 7, r3, 5, r3, 8, r10, 0
    theta 0, r10, 8, r10, 3, r2, 1
    theta 5, r2, 3, r2, 6, r12, 0
    theta 8, r12, 6, r12, 1, r1, 1
    theta 3, r1, 1, r1, 4, r14, 0
    theta 6, r14, 4, r14, 9, r5, 1
    theta 1, r5, 9, r5, 2, r7, 0
    theta 4, r7, 2, r7, 7, r4, 1
    theta 9, r4, 7, r4, 0, r6, 0
.endm

.macro keep_even_parities
    str.w r1, [sp, #40]
    str.w r2, [sp, #44]
    str.w r3, [sp, #48]
    str.w r4, [sp, #52]
    str.w r5, [sp, #56]
.endm

// The parity of column \n.
.macro parity n, reg
    ldr.w r6, [r0, #4 * \n]
    ldr.w r7, [r0, #4 * (\n + 10)]
    ldr.w r8, [r0, #4 * (\n + 20)]
    ldr.w r9, [r0, #4 * (\n + 30)]
    ldr.w r10, [r0, #4 * (\n + 40)]
    eor.w \reg, r6, r7
    eor.w \reg, \reg, r8
    eor.w \reg, \reg, r9
    eor.w \reg, \reg, r10
    .set .Lc\n, 0
.endm

    push {r1, r2, r4-r11, lr}
    sub sp, sp, #60
    parity 0, r1
    parity 2, r2
    parity 4, r3
    parity 6, r4
    parity 8, r5
    keep_even_parities
    parity 1, r1
    parity 3, r2
    parity 5, r3
    parity 7, r4
    parity 9, r5
    .irp w, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49
    .set .Lp\w, 0
    .endr

    .p2align 2
2:
    .set .Lsettle, 0
    theta_all
    plane_even_1 6, 18, 21, 33, 45
    plane_even_2 3, 14, 27, 38, 40
    plane_even_4 4, 17, 29, 31, 42
    plane_even_3 9, 10, 22, 35, 46
    plane_even_0 0, 12, 25, 37, 48
    keep_even_parities
    plane_odd_0 1, 13, 24, 36, 49
    plane_odd_1 7, 19, 20, 32, 44
    plane_odd_2 2, 15, 26, 39, 41
    plane_odd_4 5, 16, 28, 30, 43
    plane_odd_3 8, 11, 23, 34, 47
    .set .Lsettle, 0
    theta_all
    plane_even_1 37, 18, 41, 23, 5
    plane_even_2 13, 45, 26, 9, 31
    plane_even_4 25, 7, 39, 11, 42
    plane_even_3 49, 21, 3, 34, 17
    plane_even_0 0, 33, 15, 47, 29
    keep_even_parities
    plane_odd_0 1, 32, 14, 46, 28
    plane_odd_1 36, 19, 40, 22, 4
    plane_odd_2 12, 44, 27, 8, 30
    plane_odd_4 24, 6, 38, 10, 43
    plane_odd_3 48, 20, 2, 35, 16
    .set .Lsettle, 0
    theta_all
    plane_even_1 47, 18, 30, 2, 24
    plane_even_2 32, 5, 27, 49, 11
    plane_even_4 15, 36, 8, 20, 42
    plane_even_3 28, 41, 13, 35, 7
    plane_even_0 0, 23, 44, 16, 39
    keep_even_parities
    plane_odd_0 1, 22, 45, 17, 38
    plane_odd_1 46, 19, 31, 3, 25
    plane_odd_2 33, 4, 26, 48, 10
    plane_odd_4 14, 37, 9, 21, 43
    plane_odd_3 29, 40, 12, 34, 6
    .set .Lsettle, 1
    theta_all
    plane_even_1 16, 18, 10, 12, 14
    plane_even_2 22, 24, 26, 28, 20
    plane_even_4 44, 46, 48, 40, 42
    plane_even_3 38, 30, 32, 34, 36
    plane_even_0 0, 2, 4, 6, 8
    keep_even_parities
    plane_odd_0 1, 3, 5, 7, 9
    plane_odd_1 17, 19, 11, 13, 15
    plane_odd_2 23, 25, 27, 29, 21
    plane_odd_4 45, 47, 49, 41, 43
    plane_odd_3 39, 31, 33, 35, 37

    ldr.w r6, [sp, #60]
    ldr.w r7, [sp, #64]
    cmp r6, r7
    bne.w 2b
    add sp, sp, #68
    pop {r4-r11, pc}
    .purgem theta
    .purgem fetch
    .purgem fetch_plane
    .purgem mix
    .purgem chi
    .purgem iota
    .purgem put
    .purgem begin
    .purgem join
    .purgem plane_even_1
    .purgem plane_even_2
    .purgem plane_even_4
    .purgem plane_even_3
    .purgem plane_even_0
    .purgem plane_odd_0
    .purgem plane_odd_1
    .purgem plane_odd_2
    .purgem plane_odd_4
    .purgem plane_odd_3
    .purgem theta_all
    .purgem keep_even_parities
    .purgem parity
