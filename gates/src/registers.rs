//! What the vector registers hold after a call.

use crate::stack;
use core::arch::asm;

/// The registers, their lowest lanes first.
#[repr(C, align(64))]
struct Vectors([[u8; 64]; 32]);

/// Runs `work`, with zeros in the registers at first, and returns what it left in them, one after the other.
#[inline(never)]
pub fn after(work: impl FnOnce()) -> Vec<u8> {
    let mut vectors = Vectors([[0; 64]; 32]);
    let wide = wide();
    zero(wide);
    stack::call(work);
    copy(&mut vectors, wide);
    vectors.0.as_flattened().to_vec()
}

/// Whether there are 32 registers of 64 bytes.
#[cfg(target_arch = "x86_64")]
fn wide() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn zero(wide: bool) {
    macro_rules! zeros {
        (zmm $($n:literal)*) => { concat!($("vpxord zmm", $n, ", zmm", $n, ", zmm", $n, "\n"),*) };
        (xmm $($n:literal)*) => { concat!($("xorps xmm", $n, ", xmm", $n, "\n"),*) };
    }
    // SAFETY: every register is declared as overwritten; they are named only where they exist.
    unsafe {
        if wide {
            asm!(
                "vzeroall",
                zeros!(zmm 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
                clobber_abi("C"),
                options(nomem, nostack),
            );
        } else if std::arch::is_x86_feature_detected!("avx") {
            asm!("vzeroall", clobber_abi("C"), options(nomem, nostack));
        } else {
            asm!(
                zeros!(xmm 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
                clobber_abi("C"),
                options(nomem, nostack),
            );
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn copy(vectors: &mut Vectors, wide: bool) {
    macro_rules! store {
        ($instruction:literal, $register:literal, $($n:literal)*) => {
            asm!(
                concat!($($instruction, " [{to} + 64*", $n, "], ", $register, $n, "\n"),*),
                to = in(reg) vectors.0.as_mut_ptr(), options(nostack, preserves_flags),
            )
        };
    }
    // SAFETY: the stores stay within the 2048 bytes of `vectors`; the wider ones run only where the registers exist.
    unsafe {
        if wide {
            store!("vmovdqu64", "zmm", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        } else if std::arch::is_x86_feature_detected!("avx") {
            store!("vmovdqu", "ymm", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        } else {
            store!("movdqu", "xmm", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        }
    }
}

#[cfg(target_arch = "aarch64")]
fn wide() -> bool {
    false
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn zero(_: bool) {
    macro_rules! zeros {
        ($($n:literal)*) => { concat!($("movi v", $n, ".16b, #0\n"),*) };
    }
    // SAFETY: every register is declared as overwritten.
    unsafe {
        asm!(
            zeros!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
            clobber_abi("C"),
            out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            options(nomem, nostack),
        );
    }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn copy(vectors: &mut Vectors, _: bool) {
    macro_rules! stores {
        ($($n:literal)*) => { concat!($("str q", $n, ", [{to}, #64*", $n, "]\n"),*) };
    }
    // SAFETY: the stores stay within the 2048 bytes of `vectors`.
    unsafe {
        asm!(
            stores!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
            to = in(reg) vectors.0.as_mut_ptr(), options(nostack, preserves_flags),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary;

    #[test]
    fn a_planted_secret_is_found() {
        let secret: [u8; 16] = crate::bytes("a secret");
        let vectors = after(|| canary::left_in_register(&secret));
        assert!(vectors.windows(16).any(|window| window == secret));
    }
}
