//! Every operation without an allocator, called through C symbols, so that nothing is left out of the object.
#![no_std]

use core::hint::black_box;
use gambeson::mldsa::{Message, MlDsa44, MlDsa65, MlDsa87, PreHash, SigningKey, VerifyingKey};
use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet};
use gambeson::sha3::{
    CShake128, CShake256, Kmac128, Kmac256, Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256,
};
use gambeson_hybrid::{composite, kem as hybrid, xwing};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Both sides of a key encapsulation.
fn kem<P: ParameterSet>(seed: &[u8; 64], m: &[u8; 32], key: &[u8]) -> u8 {
    let secret_key = DecapsulationKey::<P>::from_seed(seed);
    let (c, k) = secret_key.encapsulation_key().encapsulate_deterministic(m);
    black_box((&c, k.expose(), secret_key.decapsulate(&c).expose()));
    u8::from(EncapsulationKey::<P>::try_from(key).is_ok())
}

/// Every form of signing and of verifying.
fn signature<P: gambeson::mldsa::ParameterSet>(
    seed: &[u8; 32],
    message: &[u8],
    key: &P::VerifyingKeyBytes,
) -> u8 {
    let secret_key = SigningKey::<P>::from_seed(seed);
    let signature = secret_key.sign_with_rnd(seed, message);
    let mut verdict = secret_key.verifying_key().verify(message, signature.as_ref()).is_ok();
    for hash in [PreHash::Sha2_256, PreHash::Sha2_512, PreHash::Sha3_256, PreHash::Shake256] {
        let digest = hash.digest(message);
        if let Ok(message) = Message::prehashed(&digest, message) {
            verdict &= VerifyingKey::<P>::from_bytes(key).verify(message, signature.as_ref()).is_ok();
        }
    }
    u8::from(verdict)
}

macro_rules! sets {
    ($($name:ident = $run:ident::<$set:ty>($seed:ty, $input:ty, $key:ty);)*) => {$(
        /// Runs the set.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(seed: &$seed, input: &$input, key: &$key) -> u8 {
            $run::<$set>(seed, input, key)
        }
    )*};
}

sets! {
    gambeson_bare_mlkem512 = kem::<MlKem512>([u8; 64], [u8; 32], [u8; 1568]);
    gambeson_bare_mlkem768 = kem::<MlKem768>([u8; 64], [u8; 32], [u8; 1568]);
    gambeson_bare_mlkem1024 = kem::<MlKem1024>([u8; 64], [u8; 32], [u8; 1568]);
    gambeson_bare_mldsa44 = signature::<MlDsa44>([u8; 32], [u8; 99], [u8; 1312]);
    gambeson_bare_mldsa65 = signature::<MlDsa65>([u8; 32], [u8; 99], [u8; 1952]);
    gambeson_bare_mldsa87 = signature::<MlDsa87>([u8; 32], [u8; 99], [u8; 2592]);
}

/// All hash functions.
#[unsafe(no_mangle)]
pub extern "C" fn gambeson_bare_sha3(message: &[u8; 500], out: &mut [u8; 500]) {
    out[..28].copy_from_slice(&Sha3_224::digest(message));
    out[28..60].copy_from_slice(&Sha3_256::digest(message));
    out[60..108].copy_from_slice(&Sha3_384::digest(message));
    out[108..172].copy_from_slice(&Sha3_512::digest(message));
    Shake128::digest_into(message, &mut out[172..300]);
    Shake256::digest_into(message, &mut out[300..]);
    CShake128::new(message, message).finalize_xof().squeeze(&mut out[7..]);
    CShake256::new(message, message).finalize_xof().squeeze(&mut out[9..]);
    Kmac128::new(message, message).finalize_into(&mut out[..32]);
    Kmac256::new(message, message).finalize_into(&mut out[32..64]);
}

/// X-Wing, both sides.
#[unsafe(no_mangle)]
pub extern "C" fn gambeson_bare_xwing(seed: &[u8; 32], eseed: &[u8; 64]) -> u8 {
    let secret_key = xwing::DecapsulationKey::from_seed(seed);
    let (c, k) = secret_key.encapsulation_key().encapsulate_deterministic(eseed);
    black_box(k.expose());
    black_box(secret_key.decapsulate(&c).expose());
    u8::from(secret_key.decapsulate_contributory(&c).is_ok())
}

/// Both sides of every hybrid KEM.
#[unsafe(no_mangle)]
pub extern "C" fn gambeson_bare_hybrid(private: &[u8; 128], randomness: &[u8; 88], share: &[u8; 1665]) -> u8 {
    let mut right = 0;
    for kem in hybrid::KEMS {
        if let Ok(key) = hybrid::DecapsulationKey::from_bytes(kem, &private[..kem.private_key_len()])
            && let Ok(public) =
                hybrid::EncapsulationKey::from_bytes(kem, &share[..kem.encapsulation_key_len()])
            && let Ok((c, k)) = public.encapsulate_deterministic(&randomness[..kem.randomness_len()])
        {
            black_box(k.expose());
            right += u8::from(key.decapsulate(c.as_bytes()).is_ok());
        }
    }
    right
}

/// Signing and verification of every composite.
#[unsafe(no_mangle)]
pub extern "C" fn gambeson_bare_composite(private: &[u8; 96], message: &[u8; 99], public: &[u8; 2689]) -> u8 {
    let mut right = 0;
    for algorithm in composite::ALGORITHMS {
        let (private, public) =
            (&private[..algorithm.private_key_len()], &public[..algorithm.public_key_len()]);
        if let Ok(key) = composite::SigningKey::from_bytes(algorithm, private)
            && let Ok(public) = composite::VerifyingKey::from_bytes(algorithm, public)
            && let Ok(signature) = key.sign_deterministic(message, b"context")
        {
            right += u8::from(public.verify(message, b"context", signature.as_bytes()).is_ok());
        }
    }
    right
}

/// The mistake that the search for divisions must find.
#[unsafe(no_mangle)]
pub extern "C" fn planted_division(secret: u32, divisor: u32) -> u32 {
    secret.checked_div(divisor).unwrap_or(0)
}
