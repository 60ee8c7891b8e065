//! The accumulated runs of C2SP/CCTV: one digest over the public keys and signatures of many seeds.

use gambeson::mldsa::{Message, MlDsa44, MlDsa65, MlDsa87, PreparedSet, SigningKey};
use gambeson::sha3::Shake128;

use super::{Stream, sign_by_every_form, unhex};

/// Reads `steps` seeds from SHAKE128 of the empty string; hashes the public key and the deterministic signature of the
/// empty message of each, and verifies it.
fn accumulate<P: PreparedSet>(steps: usize, digest: &str) {
    let mut seeds = Stream::new("");
    let mut accumulator = Shake128::new();
    for step in 0..steps {
        let seed = seeds.array();
        let key = SigningKey::<P>::from_seed(&seed);
        let public = key.verifying_key();
        let signature = key.sign_deterministic(b"");
        accumulator.update(public.as_bytes().as_ref()).update(signature.as_ref());
        public.verify(b"", signature.as_ref()).expect("our own signature verifies");
        if step < 10 {
            assert_eq!(sign_by_every_form::<P>(&seed, &[0; 32], Message::from(b"")), signature);
        }
    }
    let mut out = [0; 32];
    accumulator.finalize_xof().squeeze(&mut out);
    assert_eq!(out[..], unhex(digest), "{} after {steps} steps", P::NAME);
}

#[test]
fn a_hundred_steps_give_the_published_digests() {
    accumulate::<MlDsa44>(100, "d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4");
    accumulate::<MlDsa65>(100, "8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199");
    accumulate::<MlDsa87>(100, "8c3ad714777622b8f21ce31bb35f71394f23bc0fcf3c78ace5d608990f3b061b");
}

#[test]
fn a_thousand_steps_give_the_known_digests() {
    accumulate::<MlDsa44>(1_000, "7434c9b35edb47bb57c78dabf6b98a2582e1013004054ac6dc6ee0e044663f4e");
    accumulate::<MlDsa65>(1_000, "5cdf21d72d72a5a5af71e4028f87fa340679dc1a89b7bc123fdab45cb572e84b");
    accumulate::<MlDsa87>(1_000, "842009cabe9aa4b4cf3cbb16f6428e5264da92b91ddc42270e5494b612cd9e1f");
}

#[test]
#[ignore = "ten thousand steps take some seconds in release, a minute else"]
fn ten_thousand_steps_give_the_published_digests() {
    accumulate::<MlDsa44>(10_000, "e7fd21f6a59bcba60d65adc44404bb29a7c00e5d8d3ec06a732c00a306a7d143");
    accumulate::<MlDsa65>(10_000, "5ff5e196f0b830c3b10a9eb5358e7c98a3a20136cb677f3ae3b90175c3ace329");
    accumulate::<MlDsa87>(10_000, "80a8cf39317f7d0be0e24972c51ac152bd2a3e09bc0c32ce29dd82c4e7385e60");
}
