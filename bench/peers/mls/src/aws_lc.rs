//! mls-rs with its own provider over AWS-LC. That one has no suite with ML-DSA: its parts of the suite of most channels are put together
//! here, and signatures are AWS-LC's.

use aws_lc_rs::encoding::AsRawBytes as _;
use aws_lc_rs::signature::{KeyPair as _, ML_DSA_65, ML_DSA_65_SIGNING, PqdsaKeyPair, UnparsedPublicKey};
use gambeson_cli::mls_bench::{
    AWS_LC, CLASSICAL, Contender, Crypto, Failure, POST_QUANTUM, Subject, subject,
};
use mls_rs::crypto::{
    HpkeCiphertext, HpkePsk, HpkePublicKey, HpkeSecretKey, SignaturePublicKey, SignatureSecretKey,
};
use mls_rs::{CipherSuite, CipherSuiteProvider, CryptoProvider};
use mls_rs_crypto_awslc::{
    AwsLcCipherSuite, AwsLcCipherSuiteBuilder, AwsLcCryptoError, AwsLcCryptoProvider, MlKem,
};
use mls_rs_crypto_traits::{AeadId, KdfId};
use zeroize::Zeroizing;

/// Its groups.
pub fn contenders() -> [Contender; 2] {
    fn of(suite: u16, members: usize) -> Result<Box<dyn Subject>, Failure> {
        subject(AwsLc, suite, members)
    }
    [
        Contender { by: AWS_LC, suite: POST_QUANTUM, make: |members| of(POST_QUANTUM, members) },
        Contender { by: AWS_LC, suite: CLASSICAL, make: |members| of(CLASSICAL, members) },
    ]
}

#[derive(Clone)]
struct AwsLc;

impl Crypto for AwsLc {}

impl CryptoProvider for AwsLc {
    type CipherSuiteProvider = Suite;

    fn supported_cipher_suites(&self) -> Vec<CipherSuite> {
        vec![POST_QUANTUM.into(), CLASSICAL.into()]
    }

    fn cipher_suite_provider(&self, suite: CipherSuite) -> Option<Suite> {
        let ml_dsa = suite == POST_QUANTUM.into();
        let parts = match ml_dsa {
            // What is not said is SHA-384, as of suite 7 of RFC 9420.
            true => AwsLcCipherSuiteBuilder::new()
                .fallback_cipher_suite(CipherSuite::P384_AES256)
                .pq_hpke(MlKem::MlKem768, KdfId::HkdfSha384, AeadId::Aes256Gcm)
                .build(suite),
            false => AwsLcCryptoProvider::new().cipher_suite_provider(suite),
        };
        parts.map(|parts| Suite { parts, ml_dsa })
    }
}

#[derive(Clone)]
struct Suite {
    parts: AwsLcCipherSuite,
    /// Whether signatures are ML-DSA-65, and not those of the parts.
    ml_dsa: bool,
}

type Result2<T> = Result<T, AwsLcCryptoError>;

impl CipherSuiteProvider for Suite {
    type Error = AwsLcCryptoError;
    type HpkeContextS = <AwsLcCipherSuite as CipherSuiteProvider>::HpkeContextS;
    type HpkeContextR = <AwsLcCipherSuite as CipherSuiteProvider>::HpkeContextR;

    fn cipher_suite(&self) -> CipherSuite {
        self.parts.cipher_suite()
    }

    fn hash(&self, data: &[u8]) -> Result2<Vec<u8>> {
        self.parts.hash(data)
    }

    fn mac(&self, key: &[u8], data: &[u8]) -> Result2<Vec<u8>> {
        self.parts.mac(key, data)
    }

    fn aead_seal(&self, key: &[u8], data: &[u8], aad: Option<&[u8]>, nonce: &[u8]) -> Result2<Vec<u8>> {
        self.parts.aead_seal(key, data, aad, nonce)
    }

    fn aead_open(
        &self,
        key: &[u8],
        sealed: &[u8],
        aad: Option<&[u8]>,
        nonce: &[u8],
    ) -> Result2<Zeroizing<Vec<u8>>> {
        self.parts.aead_open(key, sealed, aad, nonce)
    }

    fn aead_key_size(&self) -> usize {
        self.parts.aead_key_size()
    }

    fn aead_nonce_size(&self) -> usize {
        self.parts.aead_nonce_size()
    }

    fn kdf_extract(&self, salt: &[u8], ikm: &[u8]) -> Result2<Zeroizing<Vec<u8>>> {
        self.parts.kdf_extract(salt, ikm)
    }

    fn kdf_expand(&self, prk: &[u8], info: &[u8], len: usize) -> Result2<Zeroizing<Vec<u8>>> {
        self.parts.kdf_expand(prk, info, len)
    }

    fn kdf_extract_size(&self) -> usize {
        self.parts.kdf_extract_size()
    }

    fn hpke_seal(
        &self,
        to: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        message: &[u8],
    ) -> Result2<HpkeCiphertext> {
        self.parts.hpke_seal(to, info, aad, message)
    }

    fn hpke_seal_psk(
        &self,
        to: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        message: &[u8],
        psk: HpkePsk<'_>,
    ) -> Result2<HpkeCiphertext> {
        self.parts.hpke_seal_psk(to, info, aad, message, psk)
    }

    fn hpke_open(
        &self,
        sealed: &HpkeCiphertext,
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
    ) -> Result2<Zeroizing<Vec<u8>>> {
        self.parts.hpke_open(sealed, secret, public, info, aad)
    }

    fn hpke_open_psk(
        &self,
        sealed: &HpkeCiphertext,
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        psk: HpkePsk<'_>,
    ) -> Result2<Zeroizing<Vec<u8>>> {
        self.parts.hpke_open_psk(sealed, secret, public, info, aad, psk)
    }

    fn hpke_setup_s(&self, to: &HpkePublicKey, info: &[u8]) -> Result2<(Vec<u8>, Self::HpkeContextS)> {
        self.parts.hpke_setup_s(to, info)
    }

    fn hpke_setup_r(
        &self,
        enc: &[u8],
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
    ) -> Result2<Self::HpkeContextR> {
        self.parts.hpke_setup_r(enc, secret, public, info)
    }

    fn kem_derive(&self, ikm: &[u8]) -> Result2<(HpkeSecretKey, HpkePublicKey)> {
        self.parts.kem_derive(ikm)
    }

    fn kem_generate(&self) -> Result2<(HpkeSecretKey, HpkePublicKey)> {
        self.parts.kem_generate()
    }

    fn kem_public_key_validate(&self, key: &HpkePublicKey) -> Result2<()> {
        self.parts.kem_public_key_validate(key)
    }

    fn random_bytes(&self, out: &mut [u8]) -> Result2<()> {
        self.parts.random_bytes(out)
    }

    fn signature_key_generate(&self) -> Result2<(SignatureSecretKey, SignaturePublicKey)> {
        if !self.ml_dsa {
            return self.parts.signature_key_generate();
        }
        let pair = PqdsaKeyPair::generate(&ML_DSA_65_SIGNING)?;
        let secret = pair.private_key().as_raw_bytes()?.as_ref().to_vec();
        Ok((secret.into(), pair.public_key().as_ref().to_vec().into()))
    }

    fn signature_key_derive_public(&self, secret: &SignatureSecretKey) -> Result2<SignaturePublicKey> {
        if !self.ml_dsa {
            return self.parts.signature_key_derive_public(secret);
        }
        Ok(pair(secret)?.public_key().as_ref().to_vec().into())
    }

    fn sign(&self, secret: &SignatureSecretKey, data: &[u8]) -> Result2<Vec<u8>> {
        if !self.ml_dsa {
            return self.parts.sign(secret, data);
        }
        let mut signature = vec![0; ML_DSA_65_SIGNING.signature_len()];
        pair(secret)?.sign(data, &mut signature)?;
        Ok(signature)
    }

    fn verify(&self, public: &SignaturePublicKey, signature: &[u8], data: &[u8]) -> Result2<()> {
        if !self.ml_dsa {
            return self.parts.verify(public, signature, data);
        }
        let key = UnparsedPublicKey::new(&ML_DSA_65, &public[..]);
        key.verify(data, signature).map_err(|_| AwsLcCryptoError::InvalidSignature)
    }
}

fn pair(secret: &SignatureSecretKey) -> Result2<PqdsaKeyPair> {
    PqdsaKeyPair::from_raw_private_key(&ML_DSA_65_SIGNING, secret)
        .map_err(|_| AwsLcCryptoError::InvalidKeyData)
}
