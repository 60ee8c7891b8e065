//! FIPS 202 and SP 800-185 against published digests, an independent crate, and every way to cut a message.

use gambeson::sha3::*;
use sha3::Digest;
use shake::{ExtendableOutput, Update, XofReader};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
}

/// Bytes without a pattern that a wrong position could hide in.
fn bytes(len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    Shake128::digest_into(&len.to_le_bytes(), &mut out);
    out
}

#[test]
fn digests_of_abc_are_the_published_ones() {
    // FIPS 202's examples, as NIST publishes them (csrc.nist.gov, Example Values, SHA-3).
    assert_eq!(hex(&Sha3_224::digest(b"abc")), "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf");
    assert_eq!(
        hex(&Sha3_256::digest(b"abc")),
        "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"
    );
    assert_eq!(
        hex(&Sha3_512::digest(b"abc")),
        "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
         10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0"
    );
}

#[test]
fn turboshake_gives_the_samples_of_rfc_9861() {
    // RFC 9861, section 5: no message, and 17 bytes of the pattern 0 to 250.
    let (mut short, mut long) = ([0; 32], [0; 64]);
    TurboShake128::new().finalize_xof().squeeze(&mut short);
    assert_eq!(hex(&short), "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c");
    TurboShake256::new().finalize_xof().squeeze(&mut long);
    assert_eq!(
        hex(&long),
        "367a329dafea871c7802ec67f905ae13c57695dc2c6663c61035f59a18f8e7db\
         11edc0e12e91ea60eb6b32df06dd7f002fbafabb6e13ec1cc20d995547600db0"
    );
}

#[test]
fn turboshake_is_what_an_independent_crate_makes_of_any_message_and_domain() {
    fn compare<const DOMAIN: u8>() {
        let (mut ours, mut theirs) = ([0; 400], [0; 400]);
        for len in [0, 1, 135, 136, 137, 167, 168, 169, 336, 1000] {
            let message = bytes(len);
            let (head, tail) = message.split_at(len / 3);
            let mut hasher = TurboShake128::with_domain(DOMAIN).expect("a domain");
            hasher.update(head).update(tail).finalize_xof().squeeze(&mut ours);
            let mut other = turboshake::TurboShake::<168, DOMAIN>::default();
            other.update(&message);
            other.finalize_xof().read(&mut theirs);
            assert_eq!(ours, theirs, "TurboSHAKE128, {len} bytes, domain {DOMAIN}");
            let mut hasher = TurboShake256::with_domain(DOMAIN).expect("a domain");
            hasher.update(head).update(tail).finalize_xof().squeeze(&mut ours);
            let mut other = turboshake::TurboShake::<136, DOMAIN>::default();
            other.update(&message);
            other.finalize_xof().read(&mut theirs);
            assert_eq!(ours, theirs, "TurboSHAKE256, {len} bytes, domain {DOMAIN}");
        }
    }
    compare::<0x01>();
    compare::<0x06>();
    compare::<0x1f>();
    compare::<0x7f>();
    for domain in [0x00, 0x80, 0xff] {
        assert!(TurboShake128::with_domain(domain).is_none() && TurboShake256::with_domain(domain).is_none());
    }
}

#[test]
fn cshake_and_kmac_give_the_samples_of_sp_800_185() {
    // csrc.nist.gov: cSHAKE_samples.pdf 1 and 3, KMAC_samples.pdf 1, 2 and 4.
    let data: Vec<u8> = (0..=0xc7).collect();
    let mut out = [0; 32];
    let mut cshake = CShake128::new(b"", b"Email Signature");
    cshake.update(&data[..4]).clone().finalize_xof().squeeze(&mut out);
    assert_eq!(hex(&out), "c1c36925b6409a04f1b504fcbca9d82b4017277cb5ed2b2065fc1d3814d5aaf5");
    let mut out = [0; 64];
    let mut cshake = CShake256::new(b"", b"Email Signature");
    cshake.update(&data[..4]).clone().finalize_xof().squeeze(&mut out);
    assert_eq!(
        hex(&out),
        "d008828e2b80ac9d2218ffee1d070c48b8e4c87bff32c9699d5b6896eee0edd1\
         64020e2be0560858d9c00c037e34a96937c561a74c412bb4c746469527281c8c"
    );

    let key: Vec<u8> = (0x40..0x60).collect();
    let samples = [
        ("", "e5780b0d3ea6f7d3a429c5706aa43a00fadbd7d49628839e3187243f456ee14e"),
        ("My Tagged Application", "3b1fba963cd8b0b59e8c1a6d71888b7143651af8ba0a7070c0979e2811324aa5"),
    ];
    for (customization, tag) in samples {
        let mut mac = Kmac128::new(&key, customization.as_bytes());
        mac.update(&data[..4]);
        let mut out = [0; 32];
        mac.clone().finalize_into(&mut out);
        assert_eq!(hex(&out), tag);
        assert_eq!(mac.verify(&unhex(tag)), Ok(()));
    }
    let tag = "20c570c31346f703c9ac36c61c03cb64c3970d0cfc787e9b79599d273a68d2f7\
               f69d4cc3de9d104a351689f27cf6f5951f0103f33f4f24871024d9c27773a8dd";
    let mut mac = Kmac256::new(&key, b"My Tagged Application");
    mac.update(&data[..4]);
    assert_eq!(mac.verify(&unhex(tag)), Ok(()));
}

#[test]
fn a_wrong_tag_of_any_length_is_refused() {
    let mac = |tag: &[u8]| Kmac128::new(b"key", b"").verify(tag);
    for len in [1, 16, 31, 32, 33, 64, 100] {
        let mut tag = vec![0; len];
        Kmac128::new(b"key", b"").finalize_into(&mut tag);
        assert_eq!(mac(&tag), Ok(()));
        for at in 0..len {
            tag[at] ^= 0x80;
            assert_eq!(mac(&tag), Err(InvalidTag), "byte {at} of {len}");
            tag[at] ^= 0x80;
        }
    }
    assert_eq!(mac(b""), Err(InvalidTag), "nothing authenticates nothing");
}

#[test]
fn the_mac_of_any_length_is_not_a_prefix_of_another() {
    let (mut short, mut long, mut xof) = ([0; 16], [0; 32], [0; 32]);
    Kmac256::new(b"key", b"").finalize_into(&mut short);
    Kmac256::new(b"key", b"").finalize_into(&mut long);
    Kmac256::new(b"key", b"").finalize_xof().squeeze(&mut xof);
    assert!(long[..16] != short && xof != long);
}

#[test]
fn cshake_without_a_name_is_shake() {
    let (mut ours, mut plain) = ([0; 50], [0; 50]);
    let mut cshake = CShake256::new(b"", b"");
    cshake.update(b"abc").clone().finalize_xof().squeeze(&mut ours);
    Shake256::digest_into(b"abc", &mut plain);
    assert_eq!(ours, plain);
}

/// Lengths around nothing, a lane, a block and several blocks.
fn lengths(rate: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..18).collect();
    for blocks in 1..4 {
        lengths.extend([
            blocks * rate - 9,
            blocks * rate - 8,
            blocks * rate - 1,
            blocks * rate,
            blocks * rate + 1,
        ]);
    }
    lengths
}

macro_rules! fixed {
    ($($test:ident $name:ident)*) => {$(
        #[test]
        fn $test() {
            for len in lengths($name::RATE) {
                let message = bytes(len);
                let expected = sha3::$name::digest(&message);
                assert_eq!($name::digest(&message)[..], expected[..], "{len} bytes");
                for cut in lengths($name::RATE).into_iter().filter(|cut| *cut <= len) {
                    let mut hasher = $name::new();
                    hasher.update(&message[..cut]).update(b"").update(&message[cut..]);
                    assert_eq!(hasher.finalize()[..], expected[..], "{len} bytes cut at {cut}");
                    assert_eq!(hasher.finalize(), $name::digest(b""), "the hasher starts anew");
                }
                let mut bytewise = $name::default();
                message.iter().for_each(|byte| { bytewise.update(&[*byte]); });
                assert_eq!(bytewise.finalize()[..], expected[..], "{len} bytes one by one");
            }
        }
    )*};
}

fixed! {
    sha3_224_is_the_same_however_a_message_is_cut Sha3_224
    sha3_256_is_the_same_however_a_message_is_cut Sha3_256
    sha3_384_is_the_same_however_a_message_is_cut Sha3_384
    sha3_512_is_the_same_however_a_message_is_cut Sha3_512
}

macro_rules! xof {
    ($($test:ident $name:ident)*) => {$(
        #[test]
        fn $test() {
            for len in lengths($name::RATE) {
                let message = bytes(len);
                let mut expected = vec![0; 4 * $name::RATE + 3];
                let mut theirs = shake::$name::default();
                theirs.update(&message);
                theirs.finalize_xof().read(&mut expected);
                for cut in lengths($name::RATE) {
                    let mut squeeze = $name::new().update(&message).finalize_xof();
                    let mut out = vec![0; expected.len()];
                    let (first, second) = out.split_at_mut(cut.min(expected.len()));
                    squeeze.squeeze(first);
                    squeeze.squeeze(&mut []);
                    second.chunks_mut(13).for_each(|piece| squeeze.squeeze(piece));
                    assert_eq!(out, expected, "{len} bytes, squeezed in pieces of {cut} and 13");
                }
            }
        }
    )*};
}

xof! {
    shake128_is_the_same_however_it_is_squeezed Shake128
    shake256_is_the_same_however_it_is_squeezed Shake256
}

#[test]
fn many_states_permute_as_one_by_one() {
    for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 17] {
        let states: Vec<State> = (0..n)
            .map(|i| {
                State(core::array::from_fn(|lane| {
                    ((i * 25 + lane) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                }))
            })
            .collect();
        let (mut together, mut alone) = (states.clone(), states);
        permute_many(&mut together);
        alone.iter_mut().for_each(|state| permute_portable(core::slice::from_mut(state)));
        assert_eq!(together, alone);
    }
    assert!(kernels() <= gambeson::cpu::level());
}

#[test]
fn hashers_do_not_print_what_they_absorbed() {
    let mut hasher = Sha3_256::new();
    hasher.update(b"secret");
    for text in [
        format!("{hasher:?}"),
        format!("{:?}", Shake128::new().finalize_xof()),
        format!("{:?}", Kmac128::new(b"k", b"")),
    ] {
        assert!(text.ends_with("{ .. }"), "{text}");
    }
}
