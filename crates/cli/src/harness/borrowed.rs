//! What the product borrows of other crates: Ed25519, ECDSA, ECDH, AEADs, HKDF and HMAC, through the doors by which its own code uses them.
//!
//! A door is named by its crate: `pki` (certificates and signed files), `mls` (messages and groups), `rustls` (handshakes) and `hybrid`
//! (halves of hybrid mechanisms). A request goes through every door that has the operation, and they must agree; with the field `through`,
//! through that one alone.

use super::request::{Code, Fields, Refusal, exactly, hex};
use super::{Answer, Result_, answer, hybrid};
use gambeson::secret::equal;
use gambeson_hybrid::kem::{DecapsulationKey, HybridKem};
use gambeson_mls::mls_rs_core::crypto::{CipherSuiteProvider, CryptoProvider};
use gambeson_mls::{Preset, Provider, SuiteProvider};
use gambeson_pki::{Algorithm, PublicKey};
use gambeson_rustls::rustls;
use rustls::crypto::CryptoProvider as Handshakes;
use rustls::pki_types::{AlgorithmIdentifier, SignatureVerificationAlgorithm, alg_id};
use rustls::{CipherSuite, NamedGroup, SupportedCipherSuite, Tls13CipherSuite};
use zeroize::Zeroizing;

/// Bytes of the nonce and of the tag of every AEAD.
const NONCE: usize = 12;
const TAG: usize = 16;

/// A door by name; `None` where it does not have the operation.
type Door<'a, T> = (&'static str, Option<&'a dyn Fn() -> Result_<T>>);

/// What all doors answer, or the one that the request names.
fn through<T: PartialEq>(fields: Fields<'_>, doors: &[Door<'_, T>]) -> Result_<T> {
    let named = fields.text("through")?;
    let mut found: Option<(&str, Result_<T>)> = None;
    for (name, door) in doors.iter().filter(|(name, _)| named.is_none_or(|named| named == *name)) {
        let Some(door) = door else { continue };
        let result = door();
        match &found {
            None => found = Some((name, result)),
            Some((_, first)) if *first == result => (),
            Some((other, _)) => {
                return Err(Refusal::new(
                    Code::Internal,
                    format!("`{other}` and `{name}` answer differently"),
                ));
            }
        }
    }
    let (_, result) =
        found.ok_or_else(|| Refusal::unsupported("unknown door, or the door lacks this operation"))?;
    result
}

/// A suite of MLS, for what it is made of.
fn suite(number: u16) -> Result_<SuiteProvider> {
    let suite = Provider::new(Preset::All).cipher_suite_provider(number.into());
    suite.ok_or_else(|| Refusal::new(Code::Internal, "`suite` is missing"))
}

/// The provider of handshakes, where it runs on this processor.
fn handshakes() -> Option<Handshakes> {
    gambeson_rustls::Preset::Default.provider().ok()
}

/// A signature scheme of one curve.
struct Scheme {
    pki: Algorithm,
    /// The suite of MLS that signs with it.
    mls: u16,
    /// The length of a public key in bytes.
    key_len: usize,
    key: AlgorithmIdentifier,
    /// The identifiers of its signatures by hash, the first as `pki` and `mls` have it.
    signatures: &'static [(&'static str, AlgorithmIdentifier)],
}

const ED25519: Scheme = Scheme {
    pki: Algorithm::Ed25519,
    mls: 1,
    key_len: 32,
    key: alg_id::ED25519,
    signatures: &[("", alg_id::ED25519)],
};
const ECDSA_P256: Scheme = Scheme {
    pki: Algorithm::EcdsaP256,
    mls: 2,
    key_len: 65,
    key: alg_id::ECDSA_P256,
    signatures: &[
        ("SHA2-256", alg_id::ECDSA_SHA256),
        ("SHA2-384", alg_id::ECDSA_SHA384),
        ("SHA2-512", alg_id::ECDSA_SHA512),
    ],
};
const ECDSA_P384: Scheme = Scheme {
    pki: Algorithm::EcdsaP384,
    mls: 7,
    key_len: 97,
    key: alg_id::ECDSA_P384,
    signatures: &[
        ("SHA2-384", alg_id::ECDSA_SHA384),
        ("SHA2-256", alg_id::ECDSA_SHA256),
        ("SHA2-512", alg_id::ECDSA_SHA512),
    ],
};

pub(super) fn ed25519_verify(fields: Fields<'_>) -> Answer {
    verify(fields, &ED25519)
}

pub(super) fn ecdsa_p256_verify(fields: Fields<'_>) -> Answer {
    verify(fields, &ECDSA_P256)
}

pub(super) fn ecdsa_p384_verify(fields: Fields<'_>) -> Answer {
    verify(fields, &ECDSA_P384)
}

fn verify(fields: Fields<'_>, scheme: &Scheme) -> Answer {
    let (pk, message, signature) =
        (fields.bytes("pk")?, fields.bytes("message")?, fields.bytes("signature")?);
    if pk.len() != scheme.key_len {
        return Err(Refusal::bad_length("pk", scheme.key_len, pk.len()));
    }
    let (pk, message, signature) = (&pk, &message, &signature);
    let hash = fields.text("hashAlg")?.unwrap_or(scheme.signatures[0].0);
    let named = scheme.signatures.iter().position(|(name, _)| *name == hash);
    let at = named.ok_or_else(|| Refusal::unsupported("`hashAlg` is of no signature of this `alg`"))?;
    let own = at == 0;
    let pki =
        || Ok(PublicKey::from_bytes(scheme.pki, pk).is_ok_and(|key| key.verify(message, signature).is_ok()));
    let mls = || Ok(suite(scheme.mls)?.verify(&pk.clone().into(), signature, message).is_ok());
    let of_handshakes = handshakes().and_then(|it| verifier(&it, scheme.key, scheme.signatures[at].1));
    let rustls =
        of_handshakes.map(|verifier| move || Ok(verifier.verify_signature(pk, message, signature).is_ok()));
    let valid = through(
        fields,
        &[
            ("pki", own.then_some(&pki)),
            ("mls", own.then_some(&mls)),
            ("rustls", rustls.as_ref().map(|it| it as &dyn Fn() -> Result_<bool>)),
        ],
    )?;
    answer([("testPassed", valid)])
}

fn verifier(
    handshakes: &Handshakes,
    key: AlgorithmIdentifier,
    signature: AlgorithmIdentifier,
) -> Option<&'static dyn SignatureVerificationAlgorithm> {
    let mut all = handshakes.signature_verification_algorithms.all.iter();
    all.find(|it| it.public_key_alg_id() == key && it.signature_alg_id() == signature).copied()
}

/// A curve in its doors.
struct Curve {
    /// The hybrid mechanism of which it is a half, and whether it is the first.
    hybrid: &'static HybridKem,
    mls: u16,
    group: NamedGroup,
}

const P256: Curve =
    Curve { hybrid: &gambeson_hybrid::kem::SECP256R1_MLKEM768, mls: 2, group: NamedGroup::secp256r1 };
const P384: Curve =
    Curve { hybrid: &gambeson_hybrid::kem::SECP384R1_MLKEM1024, mls: 7, group: NamedGroup::secp384r1 };
const X25519: Curve =
    Curve { hybrid: &gambeson_hybrid::kem::X25519_MLKEM768, mls: 1, group: NamedGroup::X25519 };

pub(super) fn x25519(fields: Fields<'_>) -> Answer {
    agree(fields, &X25519)
}

pub(super) fn ecdh_p256(fields: Fields<'_>) -> Answer {
    agree(fields, &P256)
}

pub(super) fn ecdh_p384(fields: Fields<'_>) -> Answer {
    agree(fields, &P384)
}

pub(super) fn ecdh_p256_check(fields: Fields<'_>) -> Answer {
    check_public(fields, &P256)
}

pub(super) fn ecdh_p384_check(fields: Fields<'_>) -> Answer {
    check_public(fields, &P384)
}

fn agree(fields: Fields<'_>, curve: &Curve) -> Answer {
    let (sk, pk) = (Zeroizing::new(fields.bytes("sk")?), fields.bytes("pk")?);
    let secret = through(fields, &[("hybrid", Some(&|| curve.agree(&sk, &pk)))])?;
    answer([("k", hex(&secret))])
}

impl Curve {
    /// The curve's half of the hybrid secret; the other half comes of a ciphertext that nobody made, which ML-KEM takes.
    fn agree(&self, sk: &[u8], pk: &[u8]) -> Result_<Zeroizing<Vec<u8>>> {
        let (kem, curve) = (self.hybrid, self.hybrid.curve());
        if sk.len() != curve.secret_len() {
            return Err(Refusal::bad_length("sk", curve.secret_len(), sk.len()));
        }
        let parts = Zeroizing::new([&[0; 64][..], sk].concat());
        let key = DecapsulationKey::from_parts(kem, &parts).map_err(|error| hybrid::refusal("sk", error))?;
        let share = curve.public_len();
        let of_ml_kem = kem.ciphertext_len() - share;
        if pk.len() != share {
            return Err(Refusal::bad_length("pk", share, pk.len()));
        }
        let none = vec![0; of_ml_kem];
        let ciphertext = if kem.curve_first() { [pk, &none].concat() } else { [&none, pk].concat() };
        let both = key.decapsulate(&ciphertext).map_err(|error| hybrid::refusal("pk", error))?;
        let both = both.expose();
        let of_curve = if kem.curve_first() { &both[..both.len() - 32] } else { &both[32..] };
        Ok(Zeroizing::new(of_curve.to_vec()))
    }
}

fn check_public(fields: Fields<'_>, curve: &Curve) -> Answer {
    let pk = &fields.bytes("pk")?;
    let one = {
        let mut one = vec![0; curve.hybrid.curve().secret_len()];
        *one.last_mut().ok_or_else(|| Refusal::new(Code::Internal, "the scalar is empty"))? = 1;
        one
    };
    let hybrid = || match curve.agree(&one, pk) {
        Ok(_) => Ok(true),
        Err(refusal) if refusal.code == Code::Internal => Err(refusal),
        Err(_) => Ok(false),
    };
    let mls = || Ok(suite(curve.mls)?.kem_public_key_validate(&pk.clone().into()).is_ok());
    let group =
        handshakes().and_then(|it| it.kx_groups.iter().find(|group| group.name() == curve.group).copied());
    let rustls = group.map(|group| {
        move || match group.start() {
            Ok(ours) => Ok(ours.complete(pk).is_ok()),
            Err(_) => Err(Refusal::new(Code::Internal, "the key could not be made")),
        }
    });
    let valid = through(
        fields,
        &[
            ("hybrid", Some(&hybrid)),
            ("mls", Some(&mls)),
            ("rustls", rustls.as_ref().map(|it| it as &dyn Fn() -> Result_<bool>)),
        ],
    )?;
    answer([("testPassed", valid)])
}

macro_rules! aead {
    ($($encrypt:ident, $decrypt:ident, $suite:literal;)*) => {$(
        pub(super) fn $encrypt(fields: Fields<'_>) -> Answer {
            encrypt(fields, &suite($suite)?)
        }

        pub(super) fn $decrypt(fields: Fields<'_>) -> Answer {
            decrypt(fields, &suite($suite)?)
        }
    )*};
}

aead! {
    aes128_gcm_encrypt, aes128_gcm_decrypt, 1;
    aes256_gcm_encrypt, aes256_gcm_decrypt, 7;
    chacha20_poly1305_encrypt, chacha20_poly1305_decrypt, 3;
}

/// What an AEAD works with.
struct Keyed {
    key: Zeroizing<Vec<u8>>,
    iv: [u8; NONCE],
    aad: Vec<u8>,
}

impl Keyed {
    fn read(fields: Fields<'_>, suite: &SuiteProvider) -> Result_<Self> {
        let key = Zeroizing::new(fields.bytes("key")?);
        if key.len() != suite.aead_key_size() {
            return Err(Refusal::bad_length("key", suite.aead_key_size(), key.len()));
        }
        Ok(Self { key, iv: fields.array("iv")?, aad: fields.optional("aad")?.unwrap_or_default() })
    }
}

fn encrypt(fields: Fields<'_>, suite: &SuiteProvider) -> Answer {
    let (Keyed { key, iv, aad }, pt) = (Keyed::read(fields, suite)?, fields.bytes("pt")?);
    let mls = || suite.aead_seal(&key, &pt, Some(&aad), &iv).map_err(internal);
    let sealed = through(fields, &[("mls", Some(&mls))])?;
    let (ct, tag) = sealed.split_at(pt.len());
    answer([("ct", hex(ct)), ("tag", hex(tag))])
}

fn decrypt(fields: Fields<'_>, suite: &SuiteProvider) -> Answer {
    let (Keyed { key, iv, aad }, ct) = (Keyed::read(fields, suite)?, fields.bytes("ct")?);
    let sealed = [&ct[..], &exactly::<TAG>("tag", &fields.bytes("tag")?)?].concat();
    let mls = || Ok(suite.aead_open(&key, &sealed, Some(&aad), &iv).ok());
    match through(fields, &[("mls", Some(&mls))])? {
        Some(pt) => answer([("pt", hex(&pt))]),
        None => answer([("testPassed", false)]),
    }
}

macro_rules! hash {
    ($($derive:ident, $mac:ident, $mac_verify:ident, $suite:literal, $tls:expr;)*) => {$(
        pub(super) fn $derive(fields: Fields<'_>) -> Answer {
            derive(fields, &suite($suite)?, $tls)
        }

        pub(super) fn $mac(fields: Fields<'_>) -> Answer {
            let (mac, len) = (code(fields, &suite($suite)?)?, fields.bits("macLen")?);
            let short = || Refusal::new(Code::BadLength, format!("`macLen` is more than {} bits", 8 * mac.len()));
            answer([("mac", hex(mac.get(..len).ok_or_else(short)?))])
        }

        pub(super) fn $mac_verify(fields: Fields<'_>) -> Answer {
            let (mac, given) = (code(fields, &suite($suite)?)?, fields.bytes("mac")?);
            let valid = !given.is_empty() && mac.get(..given.len()).is_some_and(|mac| equal(mac, &given));
            answer([("testPassed", valid)])
        }
    )*};
}

hash! {
    hkdf_sha256, hmac_sha256, hmac_sha256_verify, 1, Some(CipherSuite::TLS13_AES_128_GCM_SHA256);
    hkdf_sha384, hmac_sha384, hmac_sha384_verify, 7, Some(CipherSuite::TLS13_AES_256_GCM_SHA384);
    hkdf_sha512, hmac_sha512, hmac_sha512_verify, 5, None;
}

/// HKDF (RFC 5869), both stages.
fn derive(fields: Fields<'_>, suite: &SuiteProvider, tls: Option<CipherSuite>) -> Answer {
    let ikm = Zeroizing::new(fields.bytes("ikm")?);
    let (salt, info) =
        (fields.optional("salt")?.unwrap_or_default(), fields.optional("info")?.unwrap_or_default());
    let len = fields.bits("outLen")?;
    let too_long = || Refusal::new(Code::BadLength, "`outLen` is more than 255 times the hash");
    let mls = || {
        let prk = suite.kdf_extract(&salt, &ikm).map_err(internal)?;
        Ok(suite.kdf_expand(&prk, &info, len).map_err(|_| too_long())?.to_vec())
    };
    let of_handshakes = handshakes().and_then(|it| tls13(&it, tls?));
    let rustls = of_handshakes.map(|suite| {
        let (salt, ikm, info) = (&salt, &ikm, &info);
        move || {
            let mut okm = vec![0; len];
            let expander = suite.hkdf_provider.extract_from_secret(Some(salt), ikm);
            expander.expand_slice(&[info], &mut okm).map_err(|_| too_long())?;
            Ok(okm)
        }
    });
    let rustls = rustls.as_ref().map(|it| it as &dyn Fn() -> Result_<Vec<u8>>);
    answer([("okm", hex(&through(fields, &[("mls", Some(&mls)), ("rustls", rustls)])?))])
}

fn tls13(handshakes: &Handshakes, name: CipherSuite) -> Option<&'static Tls13CipherSuite> {
    handshakes.cipher_suites.iter().find_map(|suite| match suite {
        SupportedCipherSuite::Tls13(suite) if suite.common.suite == name => Some(*suite),
        _ => None,
    })
}

/// HMAC (RFC 2104), whole.
fn code(fields: Fields<'_>, suite: &SuiteProvider) -> Result_<Vec<u8>> {
    let (key, message) = (Zeroizing::new(fields.bytes("key")?), fields.bytes("message")?);
    through(fields, &[("mls", Some(&|| suite.mac(&key, &message).map_err(internal)))])
}

fn internal(error: gambeson_mls::Error) -> Refusal {
    Refusal::new(Code::Internal, error.to_string())
}
