//! What the vector registers hold after a call.

/// The registers, their lowest lanes first.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Vectors([[u8; 64]; 32]);

impl Vectors {
    /// All of them, one after the other.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_flattened()
    }
}

/// Runs `work`, with zeros in the registers at first, and copies them as it left them.
#[inline(never)]
pub fn after(work: impl FnOnce()) -> Vectors {
    let mut vectors = Vectors([[0; 64]; 32]);
    let wide = wide();
    zero(wide);
    call(work);
    copy(&mut vectors, wide);
    vectors
}

#[inline(never)]
fn call(work: impl FnOnce()) {
    work();
    std::hint::black_box(());
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
        ($($n:literal)*) => { concat!($("vpxord zmm", $n, ", zmm", $n, ", zmm", $n, "\n"),*) };
    }
    // SAFETY: every register is declared as overwritten; they are named only where they exist.
    unsafe {
        if wide {
            core::arch::asm!(
                "vzeroall",
                zeros!(16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
                clobber_abi("C"),
                options(nomem, nostack),
            );
        } else if std::arch::is_x86_feature_detected!("avx") {
            core::arch::asm!("vzeroall", clobber_abi("C"), options(nomem, nostack));
        } else {
            core::arch::asm!(
                "xorps xmm0, xmm0",
                "xorps xmm1, xmm1",
                "xorps xmm2, xmm2",
                "xorps xmm3, xmm3",
                "xorps xmm4, xmm4",
                "xorps xmm5, xmm5",
                "xorps xmm6, xmm6",
                "xorps xmm7, xmm7",
                "xorps xmm8, xmm8",
                "xorps xmm9, xmm9",
                "xorps xmm10, xmm10",
                "xorps xmm11, xmm11",
                "xorps xmm12, xmm12",
                "xorps xmm13, xmm13",
                "xorps xmm14, xmm14",
                "xorps xmm15, xmm15",
                clobber_abi("C"),
                options(nomem, nostack),
            );
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn copy(vectors: &mut Vectors, wide: bool) {
    macro_rules! stores {
        ($instruction:literal, $register:literal, $($n:literal)*) => {
            concat!($($instruction, " [{to} + 64*", $n, "], ", $register, $n, "\n"),*)
        };
    }
    // SAFETY: the stores stay within the 2048 bytes of `vectors`; the wider ones run only where the registers exist.
    unsafe {
        if wide {
            core::arch::asm!(
                stores!("vmovdqu64", "zmm", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
                to = in(reg) vectors.0.as_mut_ptr(), options(nostack, preserves_flags),
            );
        } else if std::arch::is_x86_feature_detected!("avx") {
            core::arch::asm!(
                stores!("vmovdqu", "ymm", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
                to = in(reg) vectors.0.as_mut_ptr(), options(nostack, preserves_flags),
            );
        } else {
            core::arch::asm!(
                stores!("movdqu", "xmm", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
                to = in(reg) vectors.0.as_mut_ptr(), options(nostack, preserves_flags),
            );
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
        core::arch::asm!(
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
        core::arch::asm!(
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
        assert!(vectors.bytes().windows(16).any(|window| window == secret));
    }
}
