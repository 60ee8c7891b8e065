//! Composite signatures that must not hold, put to Bouncy Castle and to us: in certificates, where both look for them. [`forged`]
//! puts them into handshakes.
//!
//! [`forged`]: crate::forged
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

/// Who makes signatures that must not hold, with one key's halves and another's.
pub struct Forger {
    halves: Halves,
    others: Halves,
    label: Vec<u8>,
}

/// What is wrong with a signature, and how it is made over a message.
pub type Forgery = (&'static str, fn(&Forger, &[u8]) -> Result<Vec<u8>>);

const ANOTHER_LABEL: &[u8] = b"COMPSIG-MLDSA65-RSA3072-PSS-SHA512";

/// All of them; README.md tells their number.
pub const FORGERIES: [Forgery; 18] = [
    ("a wrong bit in the half of ML-DSA", |forger, message| {
        let (mut m, c) = forger.halves(message)?;
        m[100] ^= 0x10;
        Ok([m, c].concat())
    }),
    ("a wrong bit at the end of the half of ML-DSA", |forger, message| {
        let (m, c) = forger.halves(message)?;
        Ok([flipped(m), c].concat())
    }),
    ("a wrong bit in the classical half", |forger, message| {
        let (m, c) = forger.halves(message)?;
        Ok([m, flipped(c)].concat())
    }),
    ("another key's half of ML-DSA", |forger, message| {
        Ok([forger.others(message)?.0, forger.halves(message)?.1].concat())
    }),
    ("another key's classical half", |forger, message| {
        Ok([forger.halves(message)?.0, forger.others(message)?.1].concat())
    }),
    ("another key", |forger, message| {
        let (m, c) = forger.others(message)?;
        Ok([m, c].concat())
    }),
    ("a half of ML-DSA over something else", |forger, message| {
        Ok([forger.halves(&moved(message))?.0, forger.halves(message)?.1].concat())
    }),
    ("a classical half over something else", |forger, message| {
        Ok([forger.halves(message)?.0, forger.halves(&moved(message))?.1].concat())
    }),
    ("the halves swapped", |forger, message| {
        let (m, c) = forger.halves(message)?;
        Ok([c, m].concat())
    }),
    ("a byte too few", |forger, message| {
        let mut whole = forger.right(message)?;
        whole.pop();
        Ok(whole)
    }),
    ("a byte too many", |forger, message| Ok([forger.right(message)?, vec![0]].concat())),
    ("no classical half", |forger, message| Ok(forger.halves(message)?.0)),
    ("no half of ML-DSA", |forger, message| Ok(forger.halves(message)?.1)),
    ("nothing", |_, _| Ok(Vec::new())),
    ("another label", |forger, message| {
        let frame = Frame { label: ANOTHER_LABEL, ml_dsa_context: ANOTHER_LABEL, context: b"" };
        forger.framed(message, &frame)
    }),
    ("another label in M′", |forger, message| {
        forger.framed(message, &Frame { label: ANOTHER_LABEL, ..forger.frame() })
    }),
    ("another label as the context of ML-DSA", |forger, message| {
        forger.framed(message, &Frame { ml_dsa_context: ANOTHER_LABEL, ..forger.frame() })
    }),
    ("another context", |forger, message| {
        forger.framed(message, &Frame { context: b"a context", ..forger.frame() })
    }),
];

impl Forger {
    /// For a composite key; it has another one of the same kind beside it.
    ///
    /// # Errors
    /// The key is no composite one.
    pub fn new(key: &PrivateKey) -> Result<Self> {
        let other = PrivateKey::generate(key.algorithm()).map_err(text)?;
        let label = [b"COMPSIG-", key.algorithm().name().as_bytes()].concat();
        Ok(Self { halves: Halves::of(key)?, others: Halves::of(&other)?, label })
    }

    /// The right signature, put together from its halves.
    ///
    /// # Errors
    /// None that is expected.
    pub fn right(&self, message: &[u8]) -> Result<Vec<u8>> {
        self.framed(message, &self.frame())
    }

    fn frame(&self) -> Frame<'_> {
        Frame { label: &self.label, ml_dsa_context: &self.label, context: b"" }
    }

    fn framed(&self, message: &[u8], frame: &Frame<'_>) -> Result<Vec<u8>> {
        let (m, c) = self.halves.sign(message, frame)?;
        Ok([m, c].concat())
    }

    fn halves(&self, message: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        self.halves.sign(message, &self.frame())
    }

    fn others(&self, message: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        self.others.sign(message, &self.frame())
    }
}

fn flipped(mut half: Vec<u8>) -> Vec<u8> {
    if let Some(last) = half.last_mut() {
        *last ^= 1;
    }
    half
}

fn moved(message: &[u8]) -> Vec<u8> {
    [message, b"!"].concat()
}

/// Certificates with forged signatures are refused by the peer and by us, and the same with right ones is taken.
///
/// # Errors
/// Which forgery was taken, or that a right signature was not.
pub fn forgeries_are_refused(peer: &BouncyCastle, algorithm: Algorithm) -> Result {
    let generate = || PrivateKey::generate(algorithm).map_err(text);
    let key = generate()?;
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
    let forger = Forger::new(&key)?;
    for whole in [forger.right(&body.signed)?, key.sign(&body.signed).map_err(text)?] {
        check(judged(&whole)? == (true, true), "a right signature is taken by both")?;
    }
    for (what, forge) in &FORGERIES {
        let (ours, its) = judged(&forge(&forger, &body.signed)?)?;
        check(!ours, format!("we take {what}"))?;
        check(!its, format!("Bouncy Castle takes {what}"))?;
    }
    Ok(())
}

/// A certificate without its signature.
pub struct Body {
    /// What is signed.
    pub signed: Vec<u8>,
    algorithm: Vec<u8>,
}

impl Body {
    /// Takes a certificate apart.
    ///
    /// # Errors
    /// It is none.
    pub fn of(der: &[u8]) -> Result<Self> {
        let outer = AnyRef::from_der(der).map_err(text)?;
        let mut reader = SliceReader::new(outer.value()).map_err(text)?;
        let signed = reader.tlv_bytes().map_err(text)?.to_vec();
        let algorithm = reader.tlv_bytes().map_err(text)?.to_vec();
        Ok(Self { signed, algorithm })
    }

    /// The certificate with this signature.
    ///
    /// # Errors
    /// It is too long for DER.
    pub fn with(&self, signature: &[u8]) -> Result<Vec<u8>> {
        let signature = BitString::from_bytes(signature).and_then(|bits| bits.to_der()).map_err(text)?;
        let inside = [&self.signed[..], &self.algorithm, &signature].concat();
        Ok(Any::new(Tag::Sequence, inside).and_then(|any| any.to_der()).map_err(text)?)
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
