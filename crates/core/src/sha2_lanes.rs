//! SHA-256 and SHA-512 side by side: one text of the compression, over a word or a vector of words.
//!
//! Words stand as columns: row i has word i of every lane. A chain of hashes whose inputs are short stays so from one step to the next, and
//! its fixed beginning is a state that is computed once. Long single messages are hashed by the crate `sha2`, and single ones that begin with
//! such a state by [`Single`].

#[cfg(feature = "hazmat")]
pub mod alone;
mod kernels;
mod single;

pub(crate) use kernels::active;
pub(crate) use single::{Single, behind};

/// Machines that have tables of several lanes. On others messages are hashed one after the other, by [`Single`].
pub(crate) const SIDE_BY_SIDE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The lanes of a call with 32-bit words, and of one with 64-bit words. A table may do them in turns.
pub(crate) const LANES_32: usize = 16;
pub(crate) const LANES_64: usize = 8;

/// Rows of 32-bit words.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct Rows32<const N: usize>(pub [[u32; LANES_32]; N]);

/// Rows of 64-bit words.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct Rows64<const N: usize>(pub [[u64; LANES_64]; N]);

impl<const N: usize> Rows32<N> {
    pub(crate) const ZERO: Self = Self([[0; LANES_32]; N]);
}

impl<const N: usize> Rows64<N> {
    pub(crate) const ZERO: Self = Self([[0; LANES_64]; N]);
}

/// The inputs of steps of chains: head ‖ value, the value of whole words. The head has five words and two or three bytes more, of which the
/// last counts the steps.
pub(crate) struct Chain {
    /// The head; behind its end the last row is 0.
    pub head: Rows32<6>,
    /// The value, as many rows as it has words.
    pub value: Rows32<8>,
}

/// Chains of XMSS with SHA-256 and n = 32.
pub(crate) struct MaskedChain {
    /// The address of the next step; its last word is free.
    pub address: Rows32<8>,
    pub value: Rows32<8>,
}

/// The common form of the messages of all lanes of a chain.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// The state before the head.
    pub prefix: [u32; 8],
    /// Bytes of the message, with those that led to the state.
    pub len: u32,
    /// Words of the value.
    pub words: usize,
    /// Bits of the head's last word: 16 or 24.
    pub bits: u32,
}

/// A word, or a vector of words, of SHA-256 or SHA-512.
pub(crate) trait Word: Copy {
    /// The rounds of the function.
    const ROUNDS: usize;
    /// True if the first 16 rounds stand before the loop of the others: the compiler then leaves out the work on words that are zero, and
    /// does that on words which steps of a chain have in common once.
    const PEELED: bool;

    fn constant(round: usize) -> Self;
    fn add(self, other: Self) -> Self;
    /// FIPS 180-4, §4.1: the functions of rounds and of the message schedule.
    fn ch(self, f: Self, g: Self) -> Self;
    fn maj(self, b: Self, c: Self) -> Self;
    fn upper_sigma_0(self) -> Self;
    fn upper_sigma_1(self) -> Self;
    fn lower_sigma_0(self) -> Self;
    fn lower_sigma_1(self) -> Self;
}

/// FIPS 180-4, §6.2.2 (SHA-256) and §6.4.2 (SHA-512): the state after a block.
#[inline(always)]
pub(crate) fn compress<W: Word>(state: &[W; 8], mut w: [W; 16]) -> [W; 8] {
    let mut after = *state;
    let mut t = 0;
    if W::PEELED {
        sixteen_rounds(&mut after, &w, 0);
        schedule(&mut w);
        t = 16;
    }
    loop {
        sixteen_rounds(&mut after, &w, t);
        t += 16;
        if t == W::ROUNDS {
            break;
        }
        schedule(&mut w);
    }
    for (after, before) in after.iter_mut().zip(state) {
        *after = before.add(*after);
    }
    after
}

/// Rounds from the multiple `t` of 16 on, with their words of the schedule.
#[inline(always)]
fn sixteen_rounds<W: Word>(state: &mut [W; 8], w: &[W; 16], t: usize) {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    macro_rules! round {
        ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $i:literal) => {
            let t1 = $h.add($e.upper_sigma_1()).add($e.ch($f, $g)).add(W::constant(t + $i).add(w[$i]));
            $d = $d.add(t1);
            $h = t1.add($a.upper_sigma_0()).add($a.maj($b, $c));
        };
    }
    round!(a b c d e f g h, 0);
    round!(h a b c d e f g, 1);
    round!(g h a b c d e f, 2);
    round!(f g h a b c d e, 3);
    round!(e f g h a b c d, 4);
    round!(d e f g h a b c, 5);
    round!(c d e f g h a b, 6);
    round!(b c d e f g h a, 7);
    round!(a b c d e f g h, 8);
    round!(h a b c d e f g, 9);
    round!(g h a b c d e f, 10);
    round!(f g h a b c d e, 11);
    round!(e f g h a b c d, 12);
    round!(d e f g h a b c, 13);
    round!(c d e f g h a b, 14);
    round!(b c d e f g h a, 15);
    *state = [a, b, c, d, e, f, g, h];
}

/// The next 16 words of the schedule.
#[inline(always)]
fn schedule<W: Word>(w: &mut [W; 16]) {
    macro_rules! words {
        ($($i:literal)*) => {$(
            w[$i] = w[$i]
                .add(w[($i + 1) & 15].lower_sigma_0())
                .add(w[($i + 9) & 15].add(w[($i + 14) & 15].lower_sigma_1()));
        )*};
    }
    words!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

/// FIPS 180-4, §4.2.2.
pub(crate) static K_256: [u32; 64] = {
    let mut k = [0; 64];
    let mut i = 0;
    while i < 64 {
        k[i] = (K_512[i] >> 32) as u32;
        i += 1;
    }
    k
};

/// FIPS 180-4, §4.2.3; the upper halves of the first 64 are the constants of SHA-256.
#[rustfmt::skip]
pub(crate) static K_512: [u64; 80] = [
    0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
];

/// The initial states (FIPS 180-4, §5.3.3 and §5.3.5).
#[rustfmt::skip]
pub(crate) const INITIAL_256: [u32; 8] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
];
#[rustfmt::skip]
pub(crate) const INITIAL_512: [u64; 8] = [
    0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
];
