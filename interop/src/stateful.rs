//! Certificates of HSS, XMSS and XMSS^MT with Bouncy Castle. Our side signs through a store in memory, which only tests do.

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier};
use der::{Decode, Encode, Reader, SliceReader, Tag};
use gambeson::lms::{HssSigningKey, LmotsType, LmsType};
use gambeson::stateful::hazmat::MemoryStore;
use gambeson::stateful::{Signer, StatefulKey, TreeOptions};
use gambeson::xmss::{ParameterSet, SigningKey};
use gambeson_pki::{Algorithm, Certificate, PrivateKey, PublicKey, Template, Verifier};
use spki::AlgorithmIdentifierRef;

use crate::bouncy_castle::{BouncyCastle, scheme};
use crate::tools::{Result, check};
use crate::x509;

const MESSAGE: &[u8] = b"quilted linen";

/// The keys of a trial.
#[derive(Clone, Copy)]
pub enum Keys {
    /// HSS with this number of levels.
    Hss(usize),
    /// XMSS with a tree of height 10.
    Xmss,
    /// XMSS^MT with four layers of trees of height 5.
    XmssMt,
}

impl Keys {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Hss(1), Self::Hss(2), Self::Hss(3), Self::Xmss, Self::XmssMt];

    /// The name in the peer's requests.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Hss(levels) => format!("HSS-{levels}"),
            other => other.algorithm().to_string(),
        }
    }

    const fn algorithm(self) -> Algorithm {
        match self {
            Self::Hss(_) => Algorithm::Hss,
            Self::Xmss => Algorithm::Xmss,
            Self::XmssMt => Algorithm::XmssMt,
        }
    }
}

/// Tries signatures and certificates of such keys, both ways.
///
/// # Errors
/// A check that failed, or a refusal that did not come.
pub fn both_ways(peer: &BouncyCastle, keys: Keys) -> Result {
    verifies_ours(peer, keys)?;
    we_verify_its(peer, keys)
}

/// Signs a message with the next leaf.
type Sign = dyn FnMut(&[u8]) -> Result<Vec<u8>>;

/// A key of ours.
struct Ours {
    sign: Box<Sign>,
    public: PublicKey,
}

impl Ours {
    fn new(keys: Keys) -> Result<Self> {
        let options = TreeOptions::new();
        let set = match keys {
            Keys::Hss(levels) => {
                // The peer refuses another hash function or length in a lower tree.
                let types = [
                    (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8),
                    (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W4),
                    (LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W2),
                ];
                let key = HssSigningKey::generate(&types[..levels], options).map_err(text)?;
                let public = key.verifying_key().to_bytes();
                return Self::with_key(Algorithm::Hss, key, &public);
            }
            Keys::Xmss => ParameterSet::SHA2_10_256,
            Keys::XmssMt => ParameterSet::MT_SHA2_20_4_256,
        };
        let key = SigningKey::generate(set, options).map_err(text)?;
        let public = key.verifying_key().to_bytes();
        Self::with_key(keys.algorithm(), key, &public)
    }

    fn with_key(algorithm: Algorithm, key: impl StatefulKey + 'static, public: &[u8]) -> Result<Self> {
        let mut signer = Signer::new(key, MemoryStore::new(0));
        let sign = move |message: &[u8]| {
            let index = signer.reserve_one().map_err(text)?;
            Ok(signer.sign(index, message).map_err(text)?)
        };
        let public = PublicKey::from_bytes(algorithm, public).map_err(text)?;
        Ok(Self { sign: Box::new(sign), public })
    }

    /// A certificate, signed with this key by an issuer of this name. A stand-in signs it with Ed25519 first; algorithm, key identifier
    /// and signature are then replaced.
    fn issue(&mut self, issuer: &str, template: &Template, subject: &PublicKey) -> Result<Certificate> {
        let key = PrivateKey::generate(Algorithm::Ed25519).map_err(text)?;
        let stand_in = Template::authority(issuer.parse().map_err(text)?).self_signed(&key).map_err(text)?;
        let own = template.issue(&self.public, &stand_in, &key).map_err(text)?;
        let certificate = template.issue(subject, &stand_in, &key).map_err(text)?;
        let oid = ObjectIdentifier::new_unwrap(self.public.algorithm().oid());
        let identifier = AlgorithmIdentifierRef { oid, parameters: None }.to_der().map_err(text)?;
        let mut body = values(values(certificate.as_der())?[0])?;
        // Version, serial number, signature.
        body[2] = &identifier;
        let mut body = sequence(&body)?;
        let (old, new) = (certificate.authority_key_identifier(), own.subject_key_identifier());
        let (old, new) = old.zip(new).ok_or("no key identifier")?;
        let place = body.windows(old.len()).position(|window| window == old).ok_or("no key identifier")?;
        body[place..][..new.len()].copy_from_slice(new);
        let signature = (self.sign)(&body)?;
        let signature = BitStringRef::from_bytes(&signature).and_then(|it| it.to_der()).map_err(text)?;
        Ok(Certificate::from_der(&sequence(&[&body, &identifier, &signature])?).map_err(text)?)
    }
}

/// The values in a SEQUENCE, each in DER.
fn values(der: &[u8]) -> Result<Vec<&[u8]>> {
    let outer = AnyRef::from_der(der).map_err(text)?;
    let mut reader = SliceReader::new(outer.value()).map_err(text)?;
    let mut values = Vec::new();
    while !reader.is_finished() {
        values.push(reader.tlv_bytes().map_err(text)?);
    }
    Ok(values)
}

fn sequence(values: &[&[u8]]) -> Result<Vec<u8>> {
    let content = values.concat();
    Ok(AnyRef::new(Tag::Sequence, &content).and_then(|it| it.to_der()).map_err(text)?)
}

fn verifies_ours(peer: &BouncyCastle, keys: Keys) -> Result {
    let mut ours = Ours::new(keys)?;
    let spki = ours.public.to_spki_der();
    let again = peer.ask("public", &[("public", &hex::encode(&spki))])?;
    check(again.bytes("public")? == spki, "its DER of our public key")?;
    let signature = (ours.sign)(MESSAGE)?;
    ours.public.verify(MESSAGE, &signature).map_err(text)?;
    check(peer.verifies(&ours.public, MESSAGE, &signature)?, "it verifies ours")?;
    check(!peer.verifies(&ours.public, b"quilted wool", &signature)?, "it refuses ours over something else")?;

    let name = |name: &str| name.parse().map_err(text);
    let (mut middle_key, leaf_key) = (Ours::new(keys)?, PrivateKey::generate(Algorithm::SlhDsaSha2_128f));
    let public = ours.public.to_spki_der();
    let public = PublicKey::from_spki_der(&public).map_err(text)?;
    let root = ours.issue("CN=Root", &Template::authority(name("CN=Root")?).path_length(1), &public)?;
    root.verify_signature(&public).map_err(text)?;
    let middle = Template::authority(name("CN=Middle")?).path_length(0);
    let middle = ours.issue("CN=Root", &middle, &middle_key.public)?;
    let leaf_key = leaf_key.map_err(text)?.public_key();
    let leaf = middle_key.issue("CN=Middle", &Template::new(name("CN=Leaf")?), &leaf_key)?;
    let path = [middle.clone()];
    Verifier::new(std::slice::from_ref(&root)).verify(&leaf, &path).map_err(text)?;
    let [root, middle, leaf] = [&root, &middle, &leaf].map(|one| hex::encode(one.as_der()));
    let path = peer.ask("path", &[("root", &root), ("middle", &middle), ("leaf", &leaf)])?;
    check(path.text("valid")? == "true", "it verifies our chain")?;
    // A leaf that the root has not signed.
    let path = peer.ask("path", &[("root", &root), ("leaf", &leaf)])?;
    check(path.text("valid")? == "false", "a truncated path")
}

fn we_verify_its(peer: &BouncyCastle, keys: Keys) -> Result {
    let (name, algorithm) = (keys.name(), keys.algorithm());
    let made = peer.ask("generate", &[("alg", &name)])?;
    let public = PublicKey::from_spki_der(&made.bytes("public")?).map_err(text)?;
    check(public.algorithm() == algorithm, "the algorithm")?;
    check(public.to_spki_der() == made.bytes("public")?, "our DER of its public key")?;
    let refused = PrivateKey::from_pkcs8_der(&made.bytes("private")?).err();
    let stateful = gambeson_pki::Error::Stateful { algorithm };
    check(refused == Some(stateful), format!("its private key is refused by name: {refused:?}"))?;
    let message = hex::encode(MESSAGE);
    let fields = [("scheme", scheme(algorithm)), ("private", made.text("private")?), ("message", &*message)];
    let signature = peer.ask("sign", &fields)?.bytes("signature")?;
    public.verify(MESSAGE, &signature).map_err(|error| format!("we verify its signature: {error}"))?;
    check(public.verify(b"quilted wool", &signature).is_err(), "we refuse its over something else")?;
    let its = peer.ask("chain", &[("alg", &name)])?;
    let file = |name: &str| its.bytes(name);
    x509::judge(algorithm, &file("root")?, &file("middle")?, &file("leaf")?, &file("crl")?, &file("request")?)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
