//! Private keys under a passphrase: PBES2 (RFC 8018) around PKCS#8.

use der::asn1::{OctetString, OctetStringRef};
use der::{Decode, ErrorKind, SecretDocument};
use pkcs8::pkcs5::{self, pbes2};
use pkcs8::{EncryptedPrivateKeyInfo, EncryptedPrivateKeyInfoRef};
use zeroize::Zeroizing;

use crate::error::Error;

/// Iterations of PBKDF2-HMAC-SHA256 that are written.
const PBKDF2_ITERATIONS: u32 = 600_000;
/// Cost, block size and parallelism of the scrypt that is written: 16 MiB, which OpenSSL reads with its own limits.
const SCRYPT: (u64, u16, u16) = (1 << 14, 8, 1);

/// Most iterations of PBKDF2 that are read: some seconds.
const MAX_PBKDF2_ITERATIONS: u32 = 20_000_000;
/// Most memory of a scrypt that is read: what is mixed (block size × parallelism) and what it is mixed with (block size × cost).
const MAX_SCRYPT_MEMORY: u64 = 1 << 30;
/// Most work (cost × block size × parallelism) of a scrypt that is read: some seconds.
const MAX_SCRYPT_WORK: u64 = 1 << 25;
/// The cost of PBKDF2, which makes what is mixed: that of so many steps of mixing, at least.
const SCRYPT_FIRST_STEPS: u64 = 32;

/// How a passphrase becomes the key that encrypts a private key with AES-256-CBC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encryption {
    /// PBKDF2-HMAC-SHA256 with 600,000 iterations: every reader of PKCS#8 knows it.
    #[default]
    Pbkdf2,
    /// scrypt with 16 MiB: harder to guess on special hardware; OpenSSL, Python `cryptography` and RustCrypto read it.
    Scrypt,
}

impl Encryption {
    fn parameters(self) -> Result<pbes2::Parameters, Error> {
        let (mut salt, mut iv) = ([0; 16], [0; 16]);
        for random in [&mut salt, &mut iv] {
            getrandom::fill(random).map_err(|_| gambeson::RngError)?;
        }
        let salt = pbes2::Salt::new(salt).expect("16 bytes of salt");
        let kdf = match self {
            Self::Pbkdf2 => pbes2::Kdf::Pbkdf2(pbes2::Pbkdf2Params {
                salt,
                iteration_count: PBKDF2_ITERATIONS,
                key_length: None,
                prf: pbes2::Pbkdf2Prf::HmacWithSha256,
            }),
            Self::Scrypt => pbes2::Kdf::Scrypt(pbes2::ScryptParams {
                salt,
                cost_parameter: SCRYPT.0,
                block_size: SCRYPT.1,
                parallelization: SCRYPT.2,
                key_length: None,
            }),
        };
        Ok(pbes2::Parameters { kdf, encryption: pbes2::EncryptionScheme::Aes256Cbc { iv } })
    }
}

/// Encrypts the DER of a private key.
pub(crate) fn encrypt(
    der: &[u8],
    passphrase: &[u8],
    encryption: Encryption,
) -> Result<SecretDocument, Error> {
    if passphrase.is_empty() {
        return Err(Error::EmptyPassphrase);
    }
    let parameters = encryption.parameters()?;
    let ciphertext = parameters.encrypt(passphrase, der).expect("the parameters are supported");
    let info = EncryptedPrivateKeyInfo {
        encryption_algorithm: parameters.into(),
        encrypted_data: OctetString::new(ciphertext).expect("a key is short enough for DER"),
    };
    Ok(SecretDocument::encode_msg(&info).expect("a key is short enough for DER"))
}

/// Decrypts to the DER of a private key, which has not been looked at yet.
pub(crate) fn decrypt(der: &[u8], passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(|error| match error.kind() {
        ErrorKind::OidUnknown { .. } => Error::UnsupportedEncryption,
        _ => Error::Der,
    })?;
    let pkcs5::EncryptionScheme::Pbes2(parameters) = info.encryption_algorithm else {
        return Err(Error::UnsupportedEncryption);
    };
    check_work(&parameters.kdf)?;
    let encrypted: &OctetStringRef = info.encrypted_data;
    parameters.decrypt(passphrase, encrypted.as_bytes()).map(Zeroizing::new).map_err(|error| match error {
        pkcs5::Error::DecryptFailed => Error::WrongPassphrase,
        _ => Error::UnsupportedEncryption,
    })
}

/// Refuses parameters that make no sense, and those that would keep the reader busy for long.
fn check_work(kdf: &pbes2::Kdf) -> Result<(), Error> {
    match kdf {
        pbes2::Kdf::Pbkdf2(parameters) => match parameters.iteration_count {
            0 => Err(Error::Der),
            1..=MAX_PBKDF2_ITERATIONS => Ok(()),
            _ => Err(Error::ExcessiveWork),
        },
        pbes2::Kdf::Scrypt(parameters) => {
            let (n, r, p) = (
                parameters.cost_parameter,
                u64::from(parameters.block_size),
                u64::from(parameters.parallelization),
            );
            if !n.is_power_of_two() || n == 1 || r == 0 || p == 0 {
                return Err(Error::Der);
            }
            let memory = n.saturating_add(p).saturating_mul(128 * r);
            let work = n.saturating_add(SCRYPT_FIRST_STEPS).saturating_mul(r).saturating_mul(p);
            if memory > MAX_SCRYPT_MEMORY || work > MAX_SCRYPT_WORK {
                return Err(Error::ExcessiveWork);
            }
            Ok(())
        }
        _ => Err(Error::UnsupportedEncryption),
    }
}
