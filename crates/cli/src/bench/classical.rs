//! What post-quantum cryptography replaces, and what it is used together with, of well-kept crates, for comparison.

use super::{Case, LONG, Work};
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{Odd, U256, U2048};
use gambeson::rand_core::{Infallible, TryCryptoRng, TryRng};
use gambeson::sha3::{Shake256, Squeeze};
use p256::ecdsa::signature::{Signer, Verifier};
use p256::elliptic_curve::Generate;
use rsa::signature::RandomizedSigner;
use rsa::signature::SignatureEncoding;
use sha2::Sha256;
use std::hint::black_box;

/// Random-looking bytes for keys that only a measurement sees.
struct Stream(Squeeze);

impl Stream {
    fn new(name: &str) -> Self {
        Self(Shake256::new().update(name.as_bytes()).finalize_xof())
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.squeeze(&mut bytes);
        bytes
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.array()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.array()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.squeeze(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Stream {}

/// The message that signatures are measured with.
const MESSAGE: [u8; 32] = [0; 32];

fn rsa_key() -> rsa::RsaPrivateKey {
    rsa::RsaPrivateKey::new(&mut Stream::new("RSA-2048"), 2048).expect("2048 bits make an RSA key")
}

fn rsa_sign() -> Work {
    let key = rsa::pkcs1v15::SigningKey::<Sha256>::new(rsa_key());
    let mut rng = Stream::new("blinding");
    Box::new(move || {
        black_box(key.sign_with_rng(&mut rng, &MESSAGE).to_bytes());
    })
}

fn rsa_verify() -> Work {
    let key = rsa::pkcs1v15::SigningKey::<Sha256>::new(rsa_key());
    let signature = key.sign(&MESSAGE);
    let key = rsa::signature::Keypair::verifying_key(&key);
    Box::new(move || {
        let _ = black_box(key.verify(&MESSAGE, &signature));
    })
}

/// The prime of the 2048-bit MODP group (RFC 3526, §3).
const GROUP_14: U2048 = U2048::from_be_hex(
    "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74\
     020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
     4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
     ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf05\
     98da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb\
     9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3b\
     e39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf695581718\
     3995497cea956ae515d2261898fa051015728e5a8aacaa68ffffffffffffffff",
);

/// `base` in the group, for an exponentiation in constant time.
fn in_group(base: &U2048) -> FixedMontyForm<{ U2048::LIMBS }> {
    let prime = Odd::new(GROUP_14).expect("the prime is odd");
    FixedMontyForm::new(base, &FixedMontyParams::new(prime))
}

/// Exponents have 256 bits, twice the strength that anyone ascribes to the group.
fn dh_exponent() -> U256 {
    U256::from_be_slice(&Stream::new("DH-2048").array::<32>())
}

fn dh_keygen() -> Work {
    let (generator, exponent) = (in_group(&U2048::from_u8(2)), dh_exponent());
    Box::new(move || {
        black_box(black_box(&generator).pow(black_box(&exponent)).retrieve());
    })
}

fn dh_agree() -> Work {
    let exponent = dh_exponent();
    let peer = in_group(&U2048::from_u8(2)).pow(&exponent.wrapping_add(&U256::ONE)).retrieve();
    Box::new(move || {
        black_box(in_group(black_box(&peer)).pow(black_box(&exponent)).retrieve());
    })
}

fn p256_keygen() -> Work {
    let mut rng = Stream::new("P-256");
    Box::new(move || {
        black_box(p256::SecretKey::generate_from_rng(&mut rng).public_key());
    })
}

fn p256_agree() -> Work {
    let mut rng = Stream::new("P-256");
    let secret = p256::SecretKey::generate_from_rng(&mut rng);
    let peer = p256::SecretKey::generate_from_rng(&mut rng).public_key();
    Box::new(move || {
        black_box(p256::ecdh::diffie_hellman(secret.to_nonzero_scalar(), black_box(&peer).as_affine()));
    })
}

fn p256_sign() -> Work {
    let key = p256::ecdsa::SigningKey::generate_from_rng(&mut Stream::new("P-256"));
    Box::new(move || {
        let signature: p256::ecdsa::Signature = key.sign(black_box(&MESSAGE));
        black_box(signature);
    })
}

fn p256_verify() -> Work {
    let key = p256::ecdsa::SigningKey::generate_from_rng(&mut Stream::new("P-256"));
    let signature: p256::ecdsa::Signature = key.sign(&MESSAGE);
    let key = *key.verifying_key();
    Box::new(move || {
        let _ = black_box(key.verify(black_box(&MESSAGE), &signature));
    })
}

fn x25519_keygen() -> Work {
    let secret = x25519_dalek::StaticSecret::from(Stream::new("X25519").array());
    Box::new(move || {
        black_box(x25519_dalek::PublicKey::from(black_box(&secret)));
    })
}

fn x25519_agree() -> Work {
    let mut rng = Stream::new("X25519");
    let secret = x25519_dalek::StaticSecret::from(rng.array());
    let peer = x25519_dalek::PublicKey::from(&x25519_dalek::StaticSecret::from(rng.array()));
    Box::new(move || {
        black_box(secret.diffie_hellman(black_box(&peer)));
    })
}

fn x448_keygen() -> Work {
    let secret = Stream::new("X448").array();
    Box::new(move || {
        black_box(x448::x448(black_box(secret), x448::X448_BASEPOINT_BYTES));
    })
}

fn x448_agree() -> Work {
    let mut rng = Stream::new("X448");
    let secret = rng.array();
    let peer = x448::x448_unchecked(rng.array(), x448::X448_BASEPOINT_BYTES);
    Box::new(move || {
        black_box(x448::x448(black_box(secret), black_box(peer)));
    })
}

fn blake3() -> Work {
    let data = [0x5a; LONG as usize];
    Box::new(move || {
        black_box(blake3::hash(black_box(&data)));
    })
}

/// In place, as all that seals long data does; what is sealed is the last ciphertext, which costs the same.
fn xchacha_seal() -> Work {
    let mut rng = Stream::new("XChaCha20-Poly1305");
    let cipher = XChaCha20Poly1305::new(&rng.array().into());
    let nonce = XNonce::from(rng.array());
    let mut data = [0x5a; LONG as usize];
    Box::new(move || {
        let tag = cipher.encrypt_inout_detached(&nonce, b"", black_box(&mut data[..]).into());
        black_box(tag.expect("16 KiB are not too long"));
    })
}

/// The message comes back each time: the ciphertext is copied first, which is 1 % of the work.
fn xchacha_open() -> Work {
    let mut rng = Stream::new("XChaCha20-Poly1305");
    let cipher = XChaCha20Poly1305::new(&rng.array().into());
    let nonce = XNonce::from(rng.array());
    let mut sealed = [0x5a; LONG as usize];
    let tag = cipher.encrypt_inout_detached(&nonce, b"", (&mut sealed[..]).into());
    let tag = tag.expect("16 KiB are not too long");
    let mut data = sealed;
    Box::new(move || {
        data.copy_from_slice(&sealed);
        let opened = cipher.decrypt_inout_detached(&nonce, b"", black_box(&mut data[..]).into(), &tag);
        opened.expect("what was sealed opens");
    })
}

pub(super) fn cases() -> Vec<Case> {
    let case = |algorithm, operation, form, by, prepare| Case {
        algorithm,
        operation,
        form,
        by,
        kernels: None,
        bytes: None,
        lengths: None,
        prepare,
        published_us: None,
    };
    let long = |algorithm, operation, by, prepare| Case {
        algorithm,
        operation,
        form: "16 KiB",
        by,
        kernels: None,
        bytes: Some(LONG),
        lengths: None,
        prepare,
        published_us: None,
    };
    vec![
        long("BLAKE3", "hash", "blake3", blake3 as fn() -> Work),
        long("XChaCha20-Poly1305", "seal", "chacha20poly1305", xchacha_seal),
        long("XChaCha20-Poly1305", "open", "chacha20poly1305", xchacha_open),
        case("RSA-2048", "sign", "PKCS #1", "rsa", rsa_sign),
        case("RSA-2048", "verify", "PKCS #1", "rsa", rsa_verify),
        case("DH-2048", "keygen", "MODP", "crypto-bigint", dh_keygen),
        case("DH-2048", "agree", "MODP", "crypto-bigint", dh_agree),
        case("P-256", "keygen", "ECDH", "p256", p256_keygen),
        case("P-256", "agree", "ECDH", "p256", p256_agree),
        case("P-256", "sign", "ECDSA", "p256", p256_sign),
        case("P-256", "verify", "ECDSA", "p256", p256_verify),
        case("X25519", "keygen", "", "x25519-dalek", x25519_keygen),
        case("X25519", "agree", "", "x25519-dalek", x25519_agree),
        case("X448", "keygen", "", "x448", x448_keygen),
        case("X448", "agree", "", "x448", x448_agree),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_that_of_a_safe_prime() {
        // 2 generates the subgroup of order (p - 1) / 2, and Fermat's test to the base 2 passes for both
        // numbers; a wrong digit of the prime fails it.
        let half = GROUP_14.shr(1);
        assert_eq!(in_group(&U2048::from_u8(2)).pow(&half).retrieve(), U2048::ONE);
        let prime = FixedMontyParams::new(Odd::new(half).unwrap());
        let two = FixedMontyForm::new(&U2048::from_u8(2), &prime);
        assert_eq!(two.pow(&half.wrapping_sub(&U2048::ONE)).retrieve(), U2048::ONE);
    }

    #[test]
    fn both_sides_agree_with_x448_and_dh() {
        let mut rng = Stream::new("both sides");
        let (a, b) = (rng.array(), rng.array());
        let public = |secret| x448::x448(secret, x448::X448_BASEPOINT_BYTES).unwrap();
        assert_eq!(x448::x448(a, public(b)), x448::x448(b, public(a)));
        let (a, b) = (U256::from_be_slice(&rng.array::<32>()), U256::from_be_slice(&rng.array::<32>()));
        let two = in_group(&U2048::from_u8(2));
        assert_eq!(two.pow(&a).pow(&b).retrieve(), two.pow(&b).pow(&a).retrieve());
    }
}
