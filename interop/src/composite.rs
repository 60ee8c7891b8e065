//! Composite signatures that must not hold, put to Bouncy Castle and to us: in certificates, where both look for them.
//!
//! The halves are made here, beside the crate that is tested, so that each part of M′ can be another one.

use der::asn1::{AnyRef, BitString, OctetStringRef};
use der::{Any, Decode, Encode, Reader, SliceReader, Tag};
use gambeson::mldsa::Message;
use gambeson::sha3::Shake256;
use gambeson_hybrid::composite::{self, Classical, MlDsa, PreHash};
use gambeson_pki::{Algorithm, Certificate, Failure, PrivateKey, Template, Verifier};
use pkcs8::PrivateKeyInfoRef;
use sha2::{Digest, Sha256, Sha512};

use crate::bouncy_castle::BouncyCastle;
use crate::tools::{Result, check};

const PREFIX: &[u8] = b"CompositeAlgorithmSignatures2025";

/// The halves of a composite key, each on its own.
struct Halves {
    algorithm: &'static composite::Algorithm,
    ml_dsa: PrivateKey,
    classical: PrivateKey,
}

/// What stands around a message before it is signed.
struct Frame<'a> {
    label: &'a [u8],
    /// What ML-DSA takes for its own context: the label.
    ml_dsa_context: &'a [u8],
    context: &'a [u8],
}

impl Halves {
    fn of(key: &PrivateKey) -> Result<Self> {
        let PrivateKey::Composite(key) = key else { return Err("no composite key".into()) };
        let algorithm = key.algorithm();
        let (seed, private) = key.expose_bytes().split_at(32);
        let ml_dsa = match algorithm.ml_dsa() {
            MlDsa::MlDsa44 => Algorithm::MlDsa44,
            MlDsa::MlDsa65 => Algorithm::MlDsa65,
            _ => Algorithm::MlDsa87,
        };
        let classical = match algorithm.classical() {
            Classical::Ed25519 => PrivateKey::from_seed(Algorithm::Ed25519, private),
            Classical::Ed448 => PrivateKey::from_seed(Algorithm::Ed448, private),
            Classical::EcdsaP256 => Ok(elliptic(Algorithm::EcdsaP256, private)?),
            _ => Ok(elliptic(Algorithm::EcdsaP384, private)?),
        };
        let ml_dsa = PrivateKey::from_seed(ml_dsa, seed).map_err(text)?;
        Ok(Self { algorithm, ml_dsa, classical: classical.map_err(text)? })
    }

    fn sign(&self, message: &[u8], frame: &Frame<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
        let digest = match self.algorithm.pre_hash() {
            PreHash::Sha2_256 => Sha256::digest(message).to_vec(),
            PreHash::Shake256 => {
                let mut digest = vec![0; 64];
                Shake256::digest_into(message, &mut digest);
                digest
            }
            _ => Sha512::digest(message).to_vec(),
        };
        let length = [u8::try_from(frame.context.len()).map_err(text)?];
        let m_prime = [PREFIX, frame.label, &length, frame.context, &digest].concat();
        let framed = Message::pure(&m_prime, frame.ml_dsa_context).map_err(text)?;
        let ml_dsa = match &self.ml_dsa {
            PrivateKey::MlDsa44(key) => key.sign(framed).map_err(text)?.as_ref().to_vec(),
            PrivateKey::MlDsa65(key) => key.sign(framed).map_err(text)?.as_ref().to_vec(),
            PrivateKey::MlDsa87(key) => key.sign(framed).map_err(text)?.as_ref().to_vec(),
            _ => return Err("no key of ML-DSA".into()),
        };
        Ok((ml_dsa, self.classical.sign(&m_prime).map_err(text)?))
    }
}

/// A key of ECDSA from its `ECPrivateKey`: around that stands what stands around any key of the curve.
fn elliptic(algorithm: Algorithm, private: &[u8]) -> Result<PrivateKey> {
    let any = PrivateKey::generate(algorithm).map_err(text)?;
    let around = any.to_pkcs8_der(gambeson_pki::Form::Seed).map_err(text)?;
    let around = PrivateKeyInfoRef::from_der(&around).map_err(text)?.algorithm;
    let inside = OctetStringRef::new(private).map_err(text)?;
    let info = PrivateKeyInfoRef::new(around, inside).to_der().map_err(text)?;
    Ok(PrivateKey::from_pkcs8_der(&info).map_err(text)?)
}

/// Certificates with forged signatures are refused by the peer and by us, and the same with right ones is taken.
///
/// # Errors
/// Which forgery was taken, or that a right signature was not.
pub fn forgeries_are_refused(peer: &BouncyCastle, algorithm: Algorithm) -> Result {
    let generate = || PrivateKey::generate(algorithm).map_err(text);
    let (key, stranger) = (generate()?, generate()?);
    let name = |name: &str| name.parse().map_err(text);
    let root = Template::authority(name("CN=Root")?).self_signed(&key).map_err(text)?;
    let leaf = Template::new(name("CN=Leaf")?);
    let leaf = leaf.issue(&generate()?.public_key(), &root, &key).map_err(text)?;
    let body = Body::of(leaf.as_der())?;
    let roots = [root];
    let judged = |signature: &[u8]| -> Result<(bool, bool)> {
        let certificate = body.with(signature)?;
        let fields = [("root", &*hex::encode(roots[0].as_der())), ("leaf", &hex::encode(&certificate))];
        let its = peer.ask("path", &fields)?.text("valid")? == "true";
        let certificate = Certificate::read(&certificate).map_err(text)?;
        let ours = match Verifier::new(&roots).verify(&certificate, &[]) {
            Ok(_) => true,
            Err(error) if matches!(error.failure(), Failure::Signature) => false,
            Err(error) => return Err(format!("refused for another reason: {error}").into()),
        };
        Ok((ours, its))
    };

    let (halves, others) = (Halves::of(&key)?, Halves::of(&stranger)?);
    let label = [b"COMPSIG-", algorithm.name().as_bytes()].concat();
    let another = b"COMPSIG-MLDSA65-RSA3072-PSS-SHA512";
    let right = Frame { label: &label, ml_dsa_context: &label, context: b"" };
    let (m, c) = halves.sign(&body.signed, &right)?;
    for whole in [[&m[..], &c].concat(), key.sign(&body.signed).map_err(text)?] {
        check(judged(&whole)? == (true, true), "a right signature is taken by both")?;
    }

    let flipped = |half: &[u8]| {
        let mut half = half.to_vec();
        if let Some(last) = half.last_mut() {
            *last ^= 1;
        }
        half
    };
    let mut early = m.clone();
    early[100] ^= 0x10;
    let (other_m, other_c) = others.sign(&body.signed, &right)?;
    let (moved_m, moved_c) = halves.sign(&[&body.signed[..], b"!"].concat(), &right)?;
    let whole = |frame: Frame<'_>| -> Result<Vec<u8>> {
        let (m, c) = halves.sign(&body.signed, &frame)?;
        Ok([m, c].concat())
    };
    let forgeries = [
        ("a wrong bit in the half of ML-DSA", [&early[..], &c].concat()),
        ("a wrong bit at the end of the half of ML-DSA", [&flipped(&m)[..], &c].concat()),
        ("a wrong bit in the classical half", [&m[..], &flipped(&c)].concat()),
        ("another key's half of ML-DSA", [&other_m[..], &c].concat()),
        ("another key's classical half", [&m[..], &other_c].concat()),
        ("another key", [&other_m[..], &other_c].concat()),
        ("a half of ML-DSA over something else", [&moved_m[..], &c].concat()),
        ("a classical half over something else", [&m[..], &moved_c].concat()),
        ("the halves swapped", [&c[..], &m].concat()),
        ("a byte too few", [&m[..], &c[..c.len() - 1]].concat()),
        ("a byte too many", [&m[..], &c, &[0]].concat()),
        ("no classical half", m.clone()),
        ("no half of ML-DSA", c.clone()),
        ("nothing", Vec::new()),
        ("another label", whole(Frame { label: another, ml_dsa_context: another, context: b"" })?),
        ("another label in M′", whole(Frame { label: another, ..right })?),
        ("another label as the context of ML-DSA", whole(Frame { ml_dsa_context: another, ..right })?),
        ("another context", whole(Frame { context: b"a context", ..right })?),
    ];
    check(forgeries.len() == 18, "the number of forgeries in README.md")?;
    for (what, signature) in &forgeries {
        let (ours, its) = judged(signature)?;
        check(!ours, format!("we take {what}"))?;
        check(!its, format!("Bouncy Castle takes {what}"))?;
    }
    Ok(())
}

/// A certificate without its signature.
struct Body {
    signed: Vec<u8>,
    algorithm: Vec<u8>,
}

impl Body {
    fn of(der: &[u8]) -> Result<Self> {
        let outer = AnyRef::from_der(der).map_err(text)?;
        let mut reader = SliceReader::new(outer.value()).map_err(text)?;
        let signed = reader.tlv_bytes().map_err(text)?.to_vec();
        let algorithm = reader.tlv_bytes().map_err(text)?.to_vec();
        Ok(Self { signed, algorithm })
    }

    fn with(&self, signature: &[u8]) -> Result<Vec<u8>> {
        let signature = BitString::from_bytes(signature).and_then(|bits| bits.to_der()).map_err(text)?;
        let inside = [&self.signed[..], &self.algorithm, &signature].concat();
        Ok(Any::new(Tag::Sequence, inside).and_then(|any| any.to_der()).map_err(text)?)
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
