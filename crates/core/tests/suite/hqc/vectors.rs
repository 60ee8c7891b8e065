//! The published vectors of HQC: the response files of the HQC team, made again and compared by their digests.

use gambeson::hqc::{DecapsulationKey, ParameterSet, Profile};
use gambeson::sha3::{Sha3_256, Shake256, Squeeze};
use sha2::{Digest, Sha256};

/// The generator of the vectors: SHAKE256 of the seed and a byte of zero.
pub fn generator(seed: &[u8]) -> Squeeze {
    Shake256::new().update(seed).update(&[0]).finalize_xof()
}

fn drawn<const N: usize>(generator: &mut Squeeze) -> [u8; N] {
    let mut bytes = [0; N];
    generator.squeeze(&mut bytes);
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// The sets in the two profiles, with the SHA-256 of the files of a hundred vectors that the HQC team published with each version.
pub const FILES: [(ParameterSet, &str); 6] = {
    let [h1, h3, h5] = [ParameterSet::HQC_1, ParameterSet::HQC_3, ParameterSet::HQC_5];
    let v5 = Profile::V5_0_0;
    [
        (h1, "f4135530c7c6bab0d2a49eca78118310c06721518d8df3774cc5201e66ae9cd2"),
        (h3, "edbb4725ddc4e882fea460c9d04ca6499266be3d6cacd2909c05c744fc45901b"),
        (h5, "68d45adf1528f09554c452a5cde29929f73369b1d5374835252118c55541af5a"),
        (h1.with_profile(v5), "84c3812eedbddde674e0a5370ecc9bfd0f71a0006cf7bcf2b1e2e26363d638a7"),
        (h3.with_profile(v5), "ba3f3d1e70fe73c666bede150ca7dbd0f332fc02959fe5178f8de8141b712b14"),
        (h5.with_profile(v5), "43dd50d6f91d9d85085558e66e2ec0168b403ded47c6dad43cd2acfddca2f618"),
    ]
};

/// The first vector of each file: the beginnings of the SHA3-256 of pk, ct and ss.
#[rustfmt::skip]
const FIRST: [[&str; 3]; 6] = [
    ["F55A05BD74A762FA8F546A4C2EB8D5BC", "1B3F66A63CDFF4997E4B88551BB75E31", "7CF501943A60D355330B7ECD73BABC99"],
    ["1EE7A6572B1B05B49CFABFBB9D851162", "15A1D4C9B535A01BFE723D62888969A6", "4039DEAFFF6EAA97FF3ADDAD012AF929"],
    ["07A83BA1503B00F9709655D960339C6A", "74D8937217126738B75D6531D0A49F0A", "50F924C792A1AE5DF452F0FA3FD01032"],
    ["9480D2AB82C398513DD3F2509EE09127", "814A1FE14E09C42EEDA3ECA6597A26A6", "661A8FAFC5B9DE268CBF14ECCD031CB8"],
    ["74861B75C3A6B28F886D620EEBAC1672", "FCD118FC93A528C6E899101AC6480A9F", "435070BCD84E158C9C6056C75E30BE8A"],
    ["FC81CE2DC7BBA8B32B91C2E56476CDEF", "CDF4BD888FECA32F2ED2B3027DE4AF87", "C336345F9D3F63EEEE893CE7D041BEAB"],
];

/// A file of published vectors, made again.
fn file(set: ParameterSet, vectors: usize) -> (Sha256, usize, [Vec<u8>; 3]) {
    let master: [u8; 48] = core::array::from_fn(|i| i as u8);
    let mut master = generator(&master);
    let mut text = format!("# {}\n\n", set.name());
    let mut first = [const { Vec::new() }; 3];
    let (mut digest, mut ran) = (Sha256::new(), 0);
    for count in 0..vectors {
        let seed: [u8; 48] = drawn(&mut master);
        let mut draws = generator(&seed);
        let dk = DecapsulationKey::from_seed(set, &drawn(&mut draws));
        let mut m = vec![0; set.message_len()];
        draws.squeeze(&mut m);
        let ek = dk.encapsulation_key();
        let (c, shared) =
            ek.encapsulate_deterministic(&m, &drawn(&mut draws)).expect("a message of this length");
        assert_eq!(dk.decapsulate(&c).expect("our own ciphertext").expose(), shared.expose());
        text += &format!(
            "count = {count}\nseed = {}\npk = {}\nsk = {}\nct = {}\nss = {}\n\n",
            hex(&seed),
            hex(ek.as_bytes()),
            hex(dk.to_encoded().expose()),
            hex(&c),
            hex(shared.expose()),
        );
        digest.update(&text);
        text.clear();
        if count == 0 {
            first = [ek.as_bytes().to_vec(), c, shared.expose().to_vec()];
        }
        ran += 1;
    }
    (digest, ran, first)
}

/// Makes all files again, with the tables in force.
pub fn run_all() {
    let mut ran = 0;
    for ((set, expected), first) in FILES.iter().zip(FIRST) {
        let (digest, vectors, ours) = file(*set, 100);
        for (ours, first) in ours.iter().zip(first) {
            assert_eq!(hex(&Sha3_256::digest(ours)[..16]), first, "{set:?}: the first vector");
        }
        assert_eq!(hex(&digest.finalize()).to_lowercase(), *expected, "{set:?}");
        ran += vectors;
    }
    assert_eq!(ran, 600, "every vector of every set in both profiles ran");
}
