//! Private keys under a passphrase: PBES2 (RFC 8018) around PKCS#8.

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::consts::U16;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, BlockSizeUser, KeyInit, KeyIvInit};
use der::asn1::{AnyRef, ObjectIdentifier, OctetString, OctetStringRef};
use der::{Decode, Reader, SecretDocument};
use pbkdf2::pbkdf2_hmac;
use pkcs8::EncryptedPrivateKeyInfo;
use pkcs8::pkcs5::pbes2;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use spki::AlgorithmIdentifierRef;
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
    let encrypted = Encrypted::read(der)?;
    let mut key = Zeroizing::new([0; 32]);
    let key = &mut key[..encrypted.key_length];
    encrypted.derivation.derive(passphrase, key)?;
    decrypt_cbc(key, encrypted.iv, encrypted.data)
}

/// Checks that a file could be decrypted, so that nobody is asked for a passphrase that is of no use.
pub(crate) fn check(der: &[u8]) -> Result<(), Error> {
    Encrypted::read(der).map(drop)
}

/// An encrypted key whose parameters are known and reasonable.
struct Encrypted<'a> {
    derivation: Derivation<'a>,
    key_length: usize,
    iv: &'a [u8],
    data: &'a [u8],
}

impl<'a> Encrypted<'a> {
    fn read(der: &'a [u8]) -> Result<Self, Error> {
        let (scheme, encrypted) = read_encrypted(der).map_err(|_| Error::Der)?;
        if scheme.oid != pbes2::PBES2_OID {
            return Err(unsupported(scheme.oid));
        }
        let (kdf, cipher) = read_pbes2(&scheme).map_err(|_| Error::Der)?;
        let derivation = Derivation::read(&kdf)?;
        derivation.check()?;
        let key_length = match cipher.oid {
            pbes2::AES_128_CBC_OID => 16,
            pbes2::AES_192_CBC_OID => 24,
            pbes2::AES_256_CBC_OID => 32,
            other => return Err(unsupported(other)),
        };
        let iv = cipher.parameters.and_then(|iv| iv.decode_as::<&OctetStringRef>().ok()).ok_or(Error::Der)?;
        Ok(Self { derivation, key_length, iv: iv.as_bytes(), data: encrypted })
    }
}

/// The scheme and the encrypted bytes: `EncryptedPrivateKeyInfo` (RFC 5958, §3).
fn read_encrypted(der: &[u8]) -> der::Result<(AlgorithmIdentifierRef<'_>, &[u8])> {
    AnyRef::from_der(der)?.sequence(|reader| {
        let scheme = reader.decode()?;
        Ok((scheme, reader.decode::<&OctetStringRef>()?.as_bytes()))
    })
}

/// The derivation and the cipher: `PBES2-params` (RFC 8018, A.4).
fn read_pbes2<'a>(
    scheme: &AlgorithmIdentifierRef<'a>,
) -> der::Result<(AlgorithmIdentifierRef<'a>, AlgorithmIdentifierRef<'a>)> {
    let parameters = scheme.parameters.ok_or(der::ErrorKind::Failed)?;
    parameters.sequence(|reader| Ok((reader.decode()?, reader.decode()?)))
}

/// AES in CBC, with the padding of PKCS#7.
fn decrypt_cbc(key: &[u8], iv: &[u8], encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    fn with<C: BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit>(
        key: &[u8],
        iv: &[u8],
        buffer: &mut [u8],
    ) -> Result<usize, Error> {
        let cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).map_err(|_| Error::Der)?;
        let plain = cipher.decrypt_padded::<Pkcs7>(buffer).map_err(|_| Error::WrongPassphrase)?;
        Ok(plain.len())
    }
    let mut buffer = Zeroizing::new(encrypted.to_vec());
    let len = match key.len() {
        16 => with::<aes::Aes128Dec>(key, iv, &mut buffer)?,
        24 => with::<aes::Aes192Dec>(key, iv, &mut buffer)?,
        _ => with::<aes::Aes256Dec>(key, iv, &mut buffer)?,
    };
    buffer.truncate(len);
    Ok(buffer)
}

/// How the key comes from the passphrase, as a file says.
enum Derivation<'a> {
    /// PBKDF2 (RFC 8018, A.2)
    Pbkdf2 { salt: &'a [u8], iterations: u32, hmac: ObjectIdentifier, key_length: Option<u16> },
    /// scrypt (RFC 7914, §7)
    Scrypt { salt: &'a [u8], cost: u64, block_size: u32, parallelization: u32, key_length: Option<u16> },
}

impl<'a> Derivation<'a> {
    fn read(kdf: &AlgorithmIdentifierRef<'a>) -> Result<Self, Error> {
        let parameters = kdf.parameters.ok_or(Error::Der)?;
        let read = match kdf.oid {
            pbes2::PBKDF2_OID => parameters.sequence(|reader| {
                let salt = reader.decode::<&OctetStringRef>()?.as_bytes();
                let (iterations, key_length) = (reader.decode()?, Option::<u16>::decode(reader)?);
                let hmac = Option::<AlgorithmIdentifierRef<'_>>::decode(reader)?;
                let hmac = hmac.map_or(pbes2::HMAC_WITH_SHA1_OID, |hmac| hmac.oid);
                Ok::<_, der::Error>(Self::Pbkdf2 { salt, iterations, hmac, key_length })
            }),
            pbes2::SCRYPT_OID => parameters.sequence(|reader| {
                let salt = reader.decode::<&OctetStringRef>()?.as_bytes();
                let (cost, block_size, parallelization) =
                    (reader.decode()?, reader.decode()?, reader.decode()?);
                let key_length = Option::<u16>::decode(reader)?;
                Ok(Self::Scrypt { salt, cost, block_size, parallelization, key_length })
            }),
            other => return Err(unsupported(other)),
        };
        read.map_err(|_| Error::Der)
    }

    fn derive(&self, passphrase: &[u8], key: &mut [u8]) -> Result<(), Error> {
        let (Self::Pbkdf2 { key_length, .. } | Self::Scrypt { key_length, .. }) = self;
        if key_length.is_some_and(|length| usize::from(length) != key.len()) {
            return Err(Error::Der);
        }
        match self {
            Self::Pbkdf2 { salt, iterations, hmac, .. } => {
                let derive = match *hmac {
                    HMAC_WITH_SHA224 => pbkdf2_hmac::<Sha224>,
                    pbes2::HMAC_WITH_SHA256_OID => pbkdf2_hmac::<Sha256>,
                    HMAC_WITH_SHA384 => pbkdf2_hmac::<Sha384>,
                    HMAC_WITH_SHA512 => pbkdf2_hmac::<Sha512>,
                    other => return Err(unsupported(other)),
                };
                derive(passphrase, salt, *iterations, key);
            }
            Self::Scrypt { salt, cost, block_size, parallelization, .. } => {
                let log_n = u8::try_from(cost.ilog2()).expect("64 bits");
                let parameters = scrypt::Params::new(log_n, *block_size, *parallelization);
                scrypt::scrypt(passphrase, salt, &parameters.map_err(|_| Error::Der)?, key)
                    .map_err(|_| Error::Der)?;
            }
        }
        Ok(())
    }

    /// Refuses parameters that are not supported or make no sense, and those that would keep the reader busy for long.
    fn check(&self) -> Result<(), Error> {
        match *self {
            Self::Pbkdf2 { hmac, .. } if !HMACS.contains(&hmac) => Err(unsupported(hmac)),
            Self::Pbkdf2 { iterations, .. } => match iterations {
                0 => Err(Error::Der),
                1..=MAX_PBKDF2_ITERATIONS => Ok(()),
                _ => Err(Error::ExcessiveWork),
            },
            Self::Scrypt { cost: n, block_size, parallelization, .. } => {
                let (r, p) = (u64::from(block_size), u64::from(parallelization));
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
        }
    }
}

const HMACS: [ObjectIdentifier; 4] =
    [HMAC_WITH_SHA224, pbes2::HMAC_WITH_SHA256_OID, HMAC_WITH_SHA384, HMAC_WITH_SHA512];
const HMAC_WITH_SHA224: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.8");
const HMAC_WITH_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.10");
const HMAC_WITH_SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.11");

/// The names of what is not supported, and is met in old files (RFC 8018, appendices A and C; RFC 7292, appendix C).
const NAMES: [(&str, &str); 18] = [
    ("1.2.840.113549.1.5.1", "PBES1 (pbeWithMD2AndDES-CBC)"),
    ("1.2.840.113549.1.5.3", "PBES1 (pbeWithMD5AndDES-CBC)"),
    ("1.2.840.113549.1.5.4", "PBES1 (pbeWithMD2AndRC2-CBC)"),
    ("1.2.840.113549.1.5.6", "PBES1 (pbeWithMD5AndRC2-CBC)"),
    ("1.2.840.113549.1.5.10", "PBES1 (pbeWithSHA1AndDES-CBC)"),
    ("1.2.840.113549.1.5.11", "PBES1 (pbeWithSHA1AndRC2-CBC)"),
    ("1.2.840.113549.1.12.1.1", "PBES1 of PKCS#12 (pbeWithSHAAnd128BitRC4)"),
    ("1.2.840.113549.1.12.1.2", "PBES1 of PKCS#12 (pbeWithSHAAnd40BitRC4)"),
    ("1.2.840.113549.1.12.1.3", "PBES1 of PKCS#12 (pbeWithSHAAnd3-KeyTripleDES-CBC)"),
    ("1.2.840.113549.1.12.1.4", "PBES1 of PKCS#12 (pbeWithSHAAnd2-KeyTripleDES-CBC)"),
    ("1.2.840.113549.1.12.1.5", "PBES1 of PKCS#12 (pbeWithSHAAnd128BitRC2-CBC)"),
    ("1.2.840.113549.1.12.1.6", "PBES1 of PKCS#12 (pbeWithSHAAnd40BitRC2-CBC)"),
    ("1.2.840.113549.2.7", "PBES2 with HMAC-SHA1"),
    ("1.3.14.3.2.7", "PBES2 with DES-CBC"),
    ("1.2.840.113549.3.2", "PBES2 with RC2-CBC"),
    ("1.2.840.113549.3.7", "PBES2 with DES-EDE3-CBC"),
    ("2.16.840.1.101.3.4.1.6", "PBES2 with AES-128-GCM"),
    ("2.16.840.1.101.3.4.1.46", "PBES2 with AES-256-GCM"),
];

fn unsupported(oid: ObjectIdentifier) -> Error {
    let oid = oid.to_string();
    let known = NAMES.iter().find(|(known, _)| *known == oid);
    Error::UnsupportedEncryption { name: known.map_or(oid, |(_, name)| (*name).to_owned()) }
}
