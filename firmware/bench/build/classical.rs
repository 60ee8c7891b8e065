//! The inputs of what stands beside ours, with what the same crates make of them here.

use super::inputs::Stream;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey, ecdh};
use rsa::sha2::Sha256;
use rsa::signature::SignatureEncoding;
use rsa::traits::PublicKeyParts;
use rsa::{BoxedUint, RsaPrivateKey, pkcs1v15};
use std::error::Error;
use x25519_dalek::StaticSecret;

const KEYS: u64 = 10;
/// Operations of RSA take as long for every message.
const RSA_MESSAGES: u64 = 2;

/// The first primes p with gcd(p - 1, 65537) = 1 from the 128 bytes of the streams 2048 and 2049 on, their highest two bits and the lowest set.
const RSA_P: &str = "\
    df5f98d81207291ce789c79c682f8802f85afeae52cacfb254eaf44b66bfa73ed5c33c5a62f912a1ef0292af65448285aeb339d1042f29b735b2bf0ff61a3a3c\
    f8867c7937623ce99ae8b87393c3f64a13047614cca7219ba08717158fb6258fe7f44abe4142ce9a5a0699b8fc7245b1804f092ee88cfccf34931e9d39b19f0f";
const RSA_Q: &str = "\
    e4c2d01262438b8683b4d49818d2416d4c8fffe2a44122449776d9ef5fdc795c3413a7a0fcd42640d04ffcfec89b93be37caaa27b9119e42c2fb27e8d68ca577\
    b8ed8409f2ffb373a4a24dcfcb6dfac4d00f5f6177fc654d281bed06bbb832518cd0b7fa6a1e7ab749ec39649e41bb3daac185f13f3bfd7cf44080520955b87b";

/// Keys of their own for each number, and two messages for RSA's one.
pub fn of(set: &str, operation: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    match set {
        "p-256" => (0..KEYS).map(|number| of_p256(number, operation)).collect(),
        "x25519" => Ok((0..KEYS).map(|number| of_x25519(number, operation)).collect()),
        _ => (0..RSA_MESSAGES).map(|number| of_rsa(number, operation)).collect(),
    }
}

fn of_p256(number: u64, operation: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut stream = Stream::new(number);
    let (secret, other, message) = (stream.array::<32>(), stream.array::<32>(), stream.array::<32>());
    let key = SecretKey::from_slice(&secret)?;
    let point = |public: PublicKey| public.to_sec1_point(false).as_bytes().to_vec();
    let other = SecretKey::from_slice(&other)?.public_key();
    let shared = ecdh::diffie_hellman(key.to_nonzero_scalar(), other.as_affine());
    let signature: Signature = SigningKey::from(&key).sign(&message);
    let signature = signature.to_bytes();
    Ok(match operation {
        "keygen" => [&secret[..], &point(key.public_key())].concat(),
        "agree" => [&secret[..], &point(other), shared.raw_secret_bytes()].concat(),
        "sign" => [&secret[..], &message, &signature].concat(),
        _ => [&point(key.public_key()), &message[..], &signature].concat(),
    })
}

fn of_x25519(number: u64, operation: &str) -> Vec<u8> {
    let mut stream = Stream::new(number);
    let (secret, other) = (stream.array::<32>(), stream.array::<32>());
    let public = |secret| x25519_dalek::PublicKey::from(&StaticSecret::from(secret));
    let (own, other) = (public(secret), public(other));
    match operation {
        "keygen" => [&secret[..], own.as_bytes()].concat(),
        _ => {
            let shared = StaticSecret::from(secret).diffie_hellman(&other);
            [&secret[..], other.as_bytes(), shared.as_bytes()].concat()
        }
    }
}

fn of_rsa(number: u64, operation: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = |hex: &str| -> Result<Vec<u8>, Box<dyn Error>> {
        (0..hex.len()).step_by(2).map(|at| Ok(u8::from_str_radix(&hex[at..at + 2], 16)?)).collect()
    };
    let (p, q) = (bytes(RSA_P)?, bytes(RSA_Q)?);
    let uint = |bytes: &[u8]| BoxedUint::from_be_slice(bytes, 1024);
    let key = RsaPrivateKey::from_p_q(uint(&p)?, uint(&q)?, 65_537u64.into())?;
    let n = key.n().to_be_bytes();
    let message = Stream::new(number).array::<32>();
    let signature = pkcs1v15::SigningKey::<Sha256>::new(key).sign(&message).to_bytes();
    Ok(match operation {
        "sign" => [&p, &q, &message[..], &signature].concat(),
        _ => [&n, &message[..], &signature].concat(),
    })
}
