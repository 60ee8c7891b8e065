//! What stands beside ours: P-256, X25519 and RSA-2048 of the usual crates. Their keys are their own objects, with what these keep on
//! the heap.

use super::{Input, Operation};
use p256::ecdsa::signature::{Signer, Verifier};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey, ecdh};
use rsa::sha2::Sha256;
use rsa::signature::SignatureEncoding;
use rsa::{BoxedUint, RsaPrivateKey, RsaPublicKey, pkcs1v15};
use x25519_dalek::StaticSecret;

/// The public key of a secret, uncompressed.
pub struct P256KeyGen {
    secret: Option<SecretKey>,
    public: [u8; 65],
}

impl Operation for P256KeyGen {
    const KEY: usize = size_of::<SecretKey>();

    fn new() -> Self {
        Self { secret: None, public: [0; 65] }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.secret = SecretKey::from_slice(input.next(32)).ok();
    }

    fn run(&mut self) {
        if let Some(secret) = &self.secret {
            self.public.copy_from_slice(secret.public_key().to_sec1_point(false).as_bytes());
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(&self.public)
    }
}

/// Diffie and Hellman's agreement, with the check that the other's point is on the curve.
pub struct P256Agree {
    secret: Option<SecretKey>,
    other: [u8; 65],
    shared: [u8; 32],
}

impl Operation for P256Agree {
    const KEY: usize = size_of::<SecretKey>();

    fn new() -> Self {
        Self { secret: None, other: [0; 65], shared: [0; 32] }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.secret = SecretKey::from_slice(input.next(32)).ok();
        input.read(&mut self.other);
    }

    fn run(&mut self) {
        if let (Some(secret), Ok(other)) = (&self.secret, PublicKey::from_sec1_bytes(&self.other)) {
            let shared = ecdh::diffie_hellman(secret.to_nonzero_scalar(), other.as_affine());
            self.shared.copy_from_slice(shared.raw_secret_bytes());
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(&self.shared)
    }
}

/// ECDSA with SHA-256, without randomness (RFC 6979).
pub struct P256Sign {
    key: Option<SigningKey>,
    message: [u8; 32],
    signature: [u8; 64],
}

impl Operation for P256Sign {
    const KEY: usize = size_of::<SigningKey>();

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: [0; 64] }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.key = SigningKey::from_slice(input.next(32)).ok();
        input.read(&mut self.message);
    }

    fn run(&mut self) {
        if let Some(key) = &self.key {
            let signature: Signature = key.sign(&self.message);
            self.signature.copy_from_slice(&signature.to_bytes());
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(&self.signature)
    }
}

/// ECDSA with SHA-256.
pub struct P256Verify {
    key: Option<VerifyingKey>,
    message: [u8; 32],
    signature: [u8; 64],
    valid: bool,
}

impl Operation for P256Verify {
    const KEY: usize = size_of::<VerifyingKey>();

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: [0; 64], valid: false }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.key = VerifyingKey::from_sec1_bytes(input.next(65)).ok();
        input.read(&mut self.message);
        input.read(&mut self.signature);
    }

    fn run(&mut self) {
        if let (Some(key), Ok(signature)) = (&self.key, Signature::from_slice(&self.signature)) {
            self.valid = key.verify(&self.message, &signature).is_ok();
        }
    }

    fn check(&self, _: &mut Input) -> bool {
        self.valid
    }
}

/// RFC 7748: the public key of a secret.
pub struct X25519KeyGen {
    secret: StaticSecret,
    public: [u8; 32],
}

impl Operation for X25519KeyGen {
    const KEY: usize = size_of::<StaticSecret>();

    fn new() -> Self {
        Self { secret: StaticSecret::from([0; 32]), public: [0; 32] }
    }

    fn prepare(&mut self, input: &mut Input) {
        let mut secret = [0; 32];
        input.read(&mut secret);
        self.secret = StaticSecret::from(secret);
    }

    fn run(&mut self) {
        self.public = x25519_dalek::PublicKey::from(&self.secret).to_bytes();
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(&self.public)
    }
}

/// RFC 7748: the agreement.
pub struct X25519Agree {
    secret: StaticSecret,
    other: [u8; 32],
    shared: [u8; 32],
}

impl Operation for X25519Agree {
    const KEY: usize = size_of::<StaticSecret>();

    fn new() -> Self {
        Self { secret: StaticSecret::from([0; 32]), other: [0; 32], shared: [0; 32] }
    }

    fn prepare(&mut self, input: &mut Input) {
        let mut secret = [0; 32];
        input.read(&mut secret);
        self.secret = StaticSecret::from(secret);
        input.read(&mut self.other);
    }

    fn run(&mut self) {
        self.shared = self.secret.diffie_hellman(&self.other.into()).to_bytes();
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(&self.shared)
    }
}

/// RSASSA-PKCS1-v1_5 (RFC 8017, §8.2) with SHA-256, without blinding.
pub struct RsaSign {
    key: Option<pkcs1v15::SigningKey<Sha256>>,
    message: [u8; 32],
    signature: [u8; 256],
}

impl Operation for RsaSign {
    const KEY: usize = size_of::<pkcs1v15::SigningKey<Sha256>>();
    const HEAP: bool = true;

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: [0; 256] }
    }

    fn prepare(&mut self, input: &mut Input) {
        let [p, q] = [(); 2].map(|()| BoxedUint::from_be_slice(input.next(128), 1024).ok());
        if let (Some(p), Some(q)) = (p, q) {
            self.key = RsaPrivateKey::from_p_q(p, q, 65_537u64.into()).ok().map(pkcs1v15::SigningKey::new);
        }
        input.read(&mut self.message);
    }

    fn run(&mut self) {
        if let Some(key) = &self.key {
            self.signature.copy_from_slice(&key.sign(&self.message).to_bytes());
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(&self.signature)
    }
}

/// RSASSA-PKCS1-v1_5 (RFC 8017, §8.2) with SHA-256.
pub struct RsaVerify {
    key: Option<pkcs1v15::VerifyingKey<Sha256>>,
    message: [u8; 32],
    signature: [u8; 256],
    valid: bool,
}

impl Operation for RsaVerify {
    const KEY: usize = size_of::<pkcs1v15::VerifyingKey<Sha256>>();
    const HEAP: bool = true;

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: [0; 256], valid: false }
    }

    fn prepare(&mut self, input: &mut Input) {
        if let Ok(n) = BoxedUint::from_be_slice(input.next(256), 2048) {
            self.key = RsaPublicKey::new(n, 65_537u64.into()).ok().map(pkcs1v15::VerifyingKey::new);
        }
        input.read(&mut self.message);
        input.read(&mut self.signature);
    }

    fn run(&mut self) {
        if let (Some(key), Ok(signature)) = (&self.key, pkcs1v15::Signature::try_from(&self.signature[..])) {
            self.valid = key.verify(&self.message, &signature).is_ok();
        }
    }

    fn check(&self, _: &mut Input) -> bool {
        self.valid
    }
}
