//! The compressions that an operation of a hash-based scheme needs, and the time of one on this machine: its lower bound.
//!
//! Counted are the trees, the chains and FORS, by the parameters; the hashes of the message (a few compressions) are not. Verification and
//! one-time signatures take the mean of the digits: each half of the steps of its chain. A beginning that a key or a seed fixes is hashed
//! once, and is not counted.

use gambeson::sha3::{self, State};

use crate::measure::{median, now};
use crate::peers::{EIGHT, Form, SignatureSet, SignatureVerb};

/// Numbers of compressions, by function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compressions {
    /// SHA-256.
    pub sha_256: f64,
    /// SHA-512.
    pub sha_512: f64,
    /// Keccak-f\[1600\].
    pub keccak: f64,
}

impl Compressions {
    fn times(self, count: f64) -> Self {
        Self { sha_256: self.sha_256 * count, sha_512: self.sha_512 * count, keccak: self.keccak * count }
    }

    fn and(self, other: Self) -> Self {
        Self {
            sha_256: self.sha_256 + other.sha_256,
            sha_512: self.sha_512 + other.sha_512,
            keccak: self.keccak + other.keccak,
        }
    }

    /// All of them.
    pub fn total(self) -> f64 {
        self.sha_256 + self.sha_512 + self.keccak
    }
}

/// Parameters of SLH-DSA (FIPS 205, Table 2).
struct SlhDsa {
    shake: bool,
    n: usize,
    /// The height of a tree.
    height: u32,
    d: usize,
    a: u32,
    k: usize,
}

const fn slh_dsa(set: SignatureSet) -> Option<SlhDsa> {
    let (shake, n, height, d, a, k) = match set {
        SignatureSet::SlhDsaSha2_128s => (false, 16, 9, 7, 12, 14),
        SignatureSet::SlhDsaSha2_128f => (false, 16, 3, 22, 6, 33),
        SignatureSet::SlhDsaSha2_192s => (false, 24, 9, 7, 14, 17),
        SignatureSet::SlhDsaSha2_256s => (false, 32, 8, 8, 14, 22),
        SignatureSet::SlhDsaSha2_256f => (false, 32, 4, 17, 9, 35),
        SignatureSet::SlhDsaShake128f => (true, 16, 3, 22, 6, 33),
        _ => return None,
    };
    Some(SlhDsa { shake, n, height, d, a, k })
}

impl SlhDsa {
    /// One hash of as many values of n bytes: FIPS 205, §11. Behind one value SHA-512 takes the place of SHA-256 where n > 16.
    fn hash(&self, values: usize) -> Compressions {
        let message = values * self.n;
        let one = Compressions::default();
        if self.shake {
            // SHAKE256 of PK.seed, an address of 32 bytes and the values; padding takes a byte at least.
            Compressions { keccak: ((self.n + 32 + message) / 136 + 1) as f64, ..one }
        } else if self.n > 16 && values > 1 {
            Compressions { sha_512: (22 + message + 17).div_ceil(128) as f64, ..one }
        } else {
            Compressions { sha_256: (22 + message + 9).div_ceil(64) as f64, ..one }
        }
    }

    fn chains(&self) -> usize {
        2 * self.n + 3
    }

    /// A tree of one-time keys, of which one may sign on the way.
    fn tree(&self) -> Compressions {
        let leaves = f64::from(1_u32 << self.height);
        let leaf = self.hash(1).times(16.0 * self.chains() as f64).and(self.hash(self.chains()));
        leaf.times(leaves).and(self.hash(2).times(leaves - 1.0))
    }

    /// A signature that computes as many trees of the hypertree: d, one less with a prepared key.
    fn sign(&self, trees: f64) -> Compressions {
        let leaves = f64::from(1_u32 << self.a);
        let tree = self.hash(1).times(2.0 * leaves).and(self.hash(2).times(leaves - 1.0));
        tree.times(self.k as f64).and(self.hash(self.k)).and(self.tree().times(trees))
    }

    fn verify(&self) -> Compressions {
        let fors = self.hash(1).and(self.hash(2).times(f64::from(self.a)));
        let chains = self.hash(1).times(7.5 * self.chains() as f64);
        let layer = chains.and(self.hash(self.chains())).and(self.hash(2).times(f64::from(self.height)));
        fors.times(self.k as f64).and(self.hash(self.k)).and(layer.times(self.d as f64))
    }
}

/// LMS_SHA256_M32_H10 with LMOTS_SHA256_N32_W8: every chain step and every secret is one compression, Q is 18, a leaf 1, a node 2.
fn lms(verb: SignatureVerb) -> f64 {
    let (chains, leaves) = (34.0, 1024.0);
    match verb {
        SignatureVerb::Keygen => leaves * (chains * 256.0 + 18.0 + 1.0) + (leaves - 1.0) * 2.0,
        SignatureVerb::Sign => chains * (1.0 + 127.5),
        SignatureVerb::Verify => chains * 127.5 + 18.0 + 1.0 + 10.0 * 2.0,
    }
}

/// XMSS-SHA2_10_256: a chain step has a key and a mask (a compression each) and F (two), a node of a tree three masks and H (three). A
/// secret is two compressions behind a fixed block.
fn xmss(verb: SignatureVerb) -> f64 {
    let (chains, leaves) = (67.0, 1024.0);
    let (step, node, secret) = (4.0, 6.0, 2.0);
    let leaf = (chains - 1.0) * node;
    match verb {
        SignatureVerb::Keygen => leaves * (chains * (15.0 * step + secret) + leaf) + (leaves - 1.0) * node,
        SignatureVerb::Sign => chains * (7.5 * step + secret),
        SignatureVerb::Verify => chains * 7.5 * step + leaf + 10.0 * node,
    }
}

/// The compressions of an operation in a form; nothing for schemes of lattices.
pub fn of(set: SignatureSet, verb: SignatureVerb, form: Form) -> Option<Compressions> {
    let sha_256 = |count| Some(Compressions { sha_256: count, ..Compressions::default() });
    match set {
        SignatureSet::LmsSha256H10W8 => sha_256(lms(verb)),
        SignatureSet::XmssSha2_10_256 => sha_256(xmss(verb)),
        _ => slh_dsa(set).map(|parameters| match (verb, form) {
            (SignatureVerb::Keygen, _) => parameters.tree(),
            (SignatureVerb::Sign, Form::Prepared) => parameters.sign(parameters.d as f64 - 1.0),
            // The key is prepared once.
            (SignatureVerb::Sign, Form::Batch8) => {
                parameters.sign(parameters.d as f64 - 1.0 + 1.0 / EIGHT as f64)
            }
            (SignatureVerb::Sign, _) => parameters.sign(parameters.d as f64),
            (SignatureVerb::Verify, _) => parameters.verify(),
        }),
    }
}

/// Compressions of a sample: about 100 µs with wide tables.
const SAMPLE: usize = 160;
/// Samples of each function.
const SAMPLES: usize = 15;

/// Nanoseconds that our kernels in force take for these compressions with every lane busy.
pub fn nanoseconds(count: Compressions) -> f64 {
    let time = |run: &mut dyn FnMut() -> usize| {
        let mut samples: Vec<f64> = (0..SAMPLES)
            .map(|_| {
                let before = now();
                let compressions = run();
                (now() - before) / compressions as f64
            })
            .collect();
        median(&mut samples)
    };
    let mut all = 0.0;
    if count.sha_256 > 0.0 {
        all += count.sha_256 * time(&mut || gambeson::sha2_kernels::sha_256(SAMPLE));
    }
    if count.sha_512 > 0.0 {
        all += count.sha_512 * time(&mut || gambeson::sha2_kernels::sha_512(SAMPLE));
    }
    if count.keccak > 0.0 {
        let mut states = std::array::from_fn::<_, 8, _>(|_| State::new());
        let mut run = || {
            (0..SAMPLE).for_each(|_| sha3::permute_many(&mut states[..]));
            SAMPLE * states.len()
        };
        all += count.keccak * time(&mut run);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_of_slh_dsa_take_the_published_numbers_of_compressions() {
        // Counted by slhdsa-c, in millions.
        for (set, millions) in [
            (SignatureSet::SlhDsaSha2_128s, 2.22),
            (SignatureSet::SlhDsaSha2_128f, 0.107),
            (SignatureSet::SlhDsaSha2_192s, 3.80),
            (SignatureSet::SlhDsaSha2_256s, 3.32),
            (SignatureSet::SlhDsaSha2_256f, 0.350),
        ] {
            let count = of(set, SignatureVerb::Sign, Form::Oneshot).expect("a hash-based set").total() / 1e6;
            assert!((count / millions - 1.0).abs() < 0.01, "{}: {count}", set.name());
        }
    }

    #[test]
    fn a_key_of_lms_takes_nine_million_compressions() {
        let count = of(SignatureSet::LmsSha256H10W8, SignatureVerb::Keygen, Form::Oneshot);
        let count = count.expect("a hash-based set");
        assert_eq!(count.sha_256, 8_934_398.0);
    }

    #[test]
    fn the_parameters_are_those_of_the_core() {
        for set in SignatureSet::ALL {
            let Some(SlhDsa { n, height, d, a, k, .. }) = slh_dsa(set) else { continue };
            let core = crate::cases::slh_dsa_set(set);
            let fors = k * (a as usize + 1);
            let layers = d * (2 * n + 3 + height as usize);
            assert_eq!((n, n * (1 + fors + layers)), (core.seed_len(), core.signature_len()));
        }
    }

    #[test]
    fn lattices_count_none() {
        assert_eq!(of(SignatureSet::MlDsa65, SignatureVerb::Sign, Form::Oneshot), None);
    }

    #[test]
    fn a_prepared_key_saves_one_tree() {
        let of = |verb, form| of(SignatureSet::SlhDsaSha2_128s, verb, form).expect("a hash-based set");
        let tree = of(SignatureVerb::Keygen, Form::Oneshot);
        let prepared = of(SignatureVerb::Sign, Form::Prepared);
        assert_eq!(prepared.and(tree), of(SignatureVerb::Sign, Form::Default));
    }
}
