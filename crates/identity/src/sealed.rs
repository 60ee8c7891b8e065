//! Payloads that one agent signs and seals to another, to be stored, forwarded and opened later, once.
//!
//! ```
//! use gambeson_identity::{
//!     Agent, CardContent, CardLog, CardStore, MemoryReplayCache, Resolver, Timestamp, sealed,
//! };
//!
//! let (alice, bob, now) = (Agent::generate()?, Agent::generate()?, Timestamp(1_795_330_800));
//! let mut cards = CardStore::default();
//! for agent in [&alice, &bob] {
//!     cards.add(CardLog::new(agent.first_card(now, now.after(86_400), &CardContent::default())?)?)?;
//! }
//!
//! let to = cards.resolve(bob.did(), now)?;
//! let envelope = sealed::seal(&alice, &to, "text/plain", b"meet at noon", now.after(3600), now)?;
//!
//! let mut seen = MemoryReplayCache::new(1000);
//! let opened = sealed::open(&bob, &envelope, &cards, &mut seen, now)?;
//! assert_eq!((opened.sender(), opened.payload()), (alice.did(), &b"meet at noon"[..]));
//! assert!(sealed::open(&bob, &envelope, &cards, &mut seen, now).is_err(), "once");
//! # Ok::<(), gambeson_identity::Error>(())
//! ```
//!
//! The sender signs, then seals: what is signed names the recipient, so that a recipient cannot forward it as if it had been
//! meant for somebody else. Nothing outside of the seal tells who sent it or for whom it is, and its length tells the
//! length of the payload to about a tenth (Padmé). There is no forward secrecy against the loss of the recipient's key.
//!
//! | suite | HPKE (RFC 9180, base mode) | payload | signature | bytes beyond the payload |
//! | --- | --- | --- | --- | --- |
//! | default | KEM 0x647a, KDF 0x0001, AEAD 0xffff | XChaCha20-Poly1305 under Export(`gambeson sealed v1`, 32) | ML-DSA-65 | about 4,800 |
//! | `cnsa2` | KEM 0x0042, KDF 0x0002, AEAD 0x0002 | AES-256-GCM, HPKE's own | ML-DSA-87 | about 6,600 |
//!
//! `docs/spec/hpke-sealed.md` has every byte.

use crate::agent::OpeningKey;
use crate::document::{Kind, Relationship};
use crate::fields::{Fields, put_long, put_short};
use crate::{
    Agent, Did, DidDocument, DidUrl, Error, Reason, ReplayCache, ReplayId, Resolver, Result, Role, Suite,
    Timestamp, Verified, encoding,
};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use core::fmt;
use gambeson::mlkem;
use gambeson::secret::Secret;
use gambeson_hybrid::hpke::{self, Aes256Gcm, ExportOnly, HkdfSha256, HkdfSha384, Kem, MlKem1024, XWing};
use gambeson_hybrid::xwing;
use zeroize::Zeroizing;

/// The longest payload in bytes: 16 MiB.
pub const MAX_PAYLOAD: usize = 16 << 20;
/// How long a payload can be opened at most, in seconds: 30 days. So long its identifier has to be kept.
pub const MAX_LIFETIME: u64 = 30 * 86_400;

const MAGIC: &[u8; 16] = b"gambeson sealed\x01";
/// The purpose: in HPKE's info, of the exported key, and the context of the signature.
const LABEL: &[u8] = b"gambeson sealed v1";
/// The kind of object in the replay cache.
const REPLAY: &str = "sealed";
/// What the type of the signed part begins with.
const TYPE: &str = "gambeson-sealed+";
const TAG_LEN: usize = 16;
/// The longest media type.
const MAX_TYPE: usize = 127;
/// The longest envelope that is read: payload, padding (an eighth at most) and all else.
const MAX_ENVELOPE: usize = MAX_PAYLOAD + MAX_PAYLOAD / 8 + (64 << 10);

/// What was sealed; inside of [`Verified`] once it was opened.
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    sender: Did,
    id: [u8; 16],
    expires: Timestamp,
    media_type: String,
    payload: Zeroizing<Vec<u8>>,
}

impl Opened {
    /// Who signed it.
    pub fn sender(&self) -> &Did {
        &self.sender
    }

    /// The identifier that the sender gave it: 16 random bytes.
    pub fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// Until when it can be opened.
    pub fn expires(&self) -> Timestamp {
        self.expires
    }

    /// What the payload is, such as `application/json`.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The payload. It is wiped when this value is dropped.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opened({} bytes of {} from {})", self.payload.len(), self.media_type, self.sender)
    }
}

/// Signs a payload and seals it to the agent of a document, which must be one that a resolver gave.
///
/// # Errors
///
/// [`Reason::UnknownKey`] if the document has no key of the sender's suite, [`Reason::BadKey`] if that key is not one,
/// [`Reason::TooLarge`], [`Reason::BadForm`] for a media type that is none, [`Reason::BadTime`] for an expiry before `now`
/// or more than [`MAX_LIFETIME`] after it, [`Reason::NoRandomness`].
pub fn seal(
    sender: &Agent,
    recipient: &DidDocument,
    media_type: &str,
    payload: &[u8],
    expires: Timestamp,
    now: Timestamp,
) -> Result<Vec<u8>> {
    if payload.len() > MAX_PAYLOAD {
        return Err(Error::new(Reason::TooLarge, format_args!("a payload of {} bytes", payload.len())));
    }
    check_lifetime(expires, now)?;
    let suite = sender.suite();
    let algorithm = Role::Sealed.agreement_algorithm(suite).unwrap_or_default();
    let (url, key) = recipient.agreement_key(algorithm, now)?;

    let id: [u8; 16] =
        *sender.random(&[b"sealed id", payload])?.expose().first_chunk().expect("16 of 32 bytes");
    let message = Message {
        sender: sender.key_url(Role::Signing),
        recipient: recipient.id().clone(),
        id,
        expires,
        media_type: media_type.to_owned(),
    };
    let mut plaintext = message.encode(payload)?;
    let signature = sender.key(Role::Signing).sign(LABEL, &plaintext)?;
    put_short(&mut plaintext, &signature).expect("a signature of at most 4627 bytes");
    let len = padded_len(plaintext.len());
    plaintext.resize(len, 0);

    let mut randomness = Secret::new([0; 64]);
    for (half, label) in randomness.expose_mut().as_chunks_mut::<32>().0.iter_mut().zip([b"kem a", b"kem b"])
    {
        half.copy_from_slice(sender.random(&[label, &plaintext])?.expose());
    }
    encrypt(suite, url, key, &plaintext, randomness.expose())
}

/// Opens what was sealed to this agent, under its present key or an earlier one, and verifies who signed it.
///
/// Anybody may be the sender: a `did:key` costs nothing, and each payload takes a place in `seen` for up to [`MAX_LIFETIME`]. Whoever may
/// fill that memory stops all others ([`Reason::CacheFull`]); an agent that strangers can reach takes [`open_from`].
///
/// # Errors
///
/// [`Reason::TooLarge`], [`Reason::BadForm`] if it is not an envelope, [`Reason::BadAlgorithm`] for one of the other suite,
/// [`Reason::CannotOpen`] if it was sealed to somebody else or changed, [`Reason::OtherRecipient`] if what is signed names another
/// recipient, [`Reason::Expired`], [`Reason::BadTime`], [`Reason::Replayed`], [`Reason::CacheFull`]; and those of the resolver, of
/// [`DidDocument::key_for`] and of the signature.
pub fn open(
    recipient: &Agent,
    envelope: &[u8],
    resolver: &impl Resolver,
    seen: &mut impl ReplayCache,
    now: Timestamp,
) -> Result<Verified<Opened>> {
    open_from(recipient, envelope, |_| true, resolver, seen, now)
}

/// [`open`] from these senders alone: of any other nothing is resolved, fetched or remembered.
///
/// # Errors
///
/// [`Reason::NotPermitted`] for another sender, and those of [`open`].
pub fn open_from(
    recipient: &Agent,
    envelope: &[u8],
    senders: impl FnOnce(&Did) -> bool,
    resolver: &impl Resolver,
    seen: &mut impl ReplayCache,
    now: Timestamp,
) -> Result<Verified<Opened>> {
    let plaintext = decrypt(recipient, envelope)?;
    let Parts { message, payload, signed, signature } = Message::decode(&plaintext)?;
    if message.recipient != *recipient.did() {
        return Err(Error::new(
            Reason::OtherRecipient,
            format_args!("it was signed for {}", message.recipient),
        ));
    }
    if !senders(message.sender.did()) {
        return Err(Error::new(
            Reason::NotPermitted,
            format_args!("{} is not a permitted sender", message.sender.did()),
        ));
    }
    now.within(None, Some(message.expires), "the payload")?;
    check_lifetime(message.expires, now)?;
    let document = resolver.resolve(message.sender.did(), now)?;
    let key = document.key_for(&message.sender, Kind::JsonWebKey, Relationship::AssertionMethod, now)?;
    if Some(key.algorithm()) != Role::Signing.algorithm(recipient.suite()) {
        return Err(Error::new(Reason::BadAlgorithm, format_args!("signed with {}", key.algorithm())));
    }
    key.verify(LABEL, signed, signature)?;

    let id = ReplayId::new(REPLAY, message.sender.did(), &encoding::encode(&message.id));
    seen.remember(&id, message.expires, now)?;
    let opened = Opened {
        sender: message.sender.did().clone(),
        id: message.id,
        expires: message.expires,
        media_type: message.media_type,
        payload: Zeroizing::new(payload.to_vec()),
    };
    Ok(Verified::new(opened, message.sender))
}

fn check_lifetime(expires: Timestamp, now: Timestamp) -> Result<()> {
    if expires < now || expires.since(now) > MAX_LIFETIME {
        return Err(Error::new(
            Reason::BadTime,
            format_args!("a payload must expire at most {MAX_LIFETIME} seconds from now, not at {expires}"),
        ));
    }
    Ok(())
}

/// What is signed besides the payload.
struct Message {
    sender: DidUrl,
    recipient: Did,
    id: [u8; 16],
    expires: Timestamp,
    media_type: String,
}

/// A plaintext taken apart.
struct Parts<'a> {
    message: Message,
    payload: &'a [u8],
    signed: &'a [u8],
    signature: &'a [u8],
}

impl Message {
    fn encode(&self, payload: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        if !is_media_type(&self.media_type) {
            return Err(Error::new(
                Reason::BadForm,
                format_args!("{:?} is not a media type", self.media_type),
            ));
        }
        // With room for the signature and the padding, so that no copy stays behind.
        let mut out = Zeroizing::new(Vec::with_capacity(padded_len(payload.len() + (16 << 10))));
        let texts =
            [&format!("{TYPE}{}", self.media_type), &self.sender.to_string(), self.recipient.as_str()];
        let written = texts.iter().try_for_each(|text| put_short(&mut out, text.as_bytes())).and_then(|()| {
            out.extend_from_slice(&self.id);
            out.extend_from_slice(&self.expires.0.to_be_bytes());
            put_long(&mut out, payload)
        });
        written.ok_or_else(|| Error::new(Reason::BadForm, "a field is too long"))?;
        Ok(out)
    }

    fn decode(plaintext: &[u8]) -> Result<Parts<'_>> {
        let bad = || Error::new(Reason::BadForm, "the sealed content is malformed");
        let mut fields = Fields(plaintext);
        let media_type = fields.text().and_then(|text| text.strip_prefix(TYPE)).ok_or_else(bad)?;
        let message = Self {
            sender: DidUrl::of_key(fields.text().ok_or_else(bad)?)?,
            recipient: fields.text().ok_or_else(bad)?.parse()?,
            id: fields.array().ok_or_else(bad)?,
            expires: Timestamp(fields.u64().ok_or_else(bad)?),
            media_type: media_type.to_owned(),
        };
        let payload = fields.long().ok_or_else(bad)?;
        let signed = &plaintext[..plaintext.len() - fields.0.len()];
        let signature = fields.short().ok_or_else(bad)?;
        let padding = fields.0;
        if !is_media_type(media_type)
            || payload.len() > MAX_PAYLOAD
            || padded_len(plaintext.len() - padding.len()) != plaintext.len()
            || padding.iter().any(|byte| *byte != 0)
        {
            return Err(bad());
        }
        Ok(Parts { message, payload, signed, signature })
    }
}

/// A type and a subtype of visible ASCII, and perhaps parameters (RFC 9110, §8.3.1).
fn is_media_type(text: &str) -> bool {
    let parts = text.split_once('/').is_some_and(|(kind, subtype)| !kind.is_empty() && !subtype.is_empty());
    parts && text.len() <= MAX_TYPE && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Padmé: the next length of which all but the leading bits are zero, as many as tell its magnitude.
fn padded_len(len: usize) -> usize {
    let Some(exponent) = len.checked_ilog2().filter(|exponent| *exponent > 0) else { return len };
    let mask = (1_usize << (exponent - (exponent.ilog2() + 1).min(exponent))) - 1;
    (len + mask) & !mask
}

/// HPKE's info: the purpose and the key to which is sealed.
fn info(url: &DidUrl) -> Vec<u8> {
    [LABEL, b"\0", url.to_string().as_bytes()].concat()
}

fn suite_byte(suite: Suite) -> u8 {
    match suite {
        Suite::Default => 1,
        Suite::Cnsa2 => 2,
    }
}

/// The envelope: magic, suite, encapsulated key, ciphertext, tag; what stands before the ciphertext is authenticated.
fn encrypt(
    suite: Suite,
    url: &DidUrl,
    key: &[u8],
    plaintext: &[u8],
    randomness: &[u8; 64],
) -> Result<Vec<u8>> {
    let bad_key = || Error::new(Reason::BadKey, format_args!("#{} is not a key to seal to", url.fragment()));
    let mut out = Vec::with_capacity(2048 + plaintext.len());
    out.extend_from_slice(MAGIC);
    out.push(suite_byte(suite));
    let tag = match suite {
        Suite::Default => {
            let key = xwing::EncapsulationKey::try_from(key).map_err(|_| bad_key())?;
            let (enc, sender) = hpke::setup_sender_deterministic::<XWing, HkdfSha256, ExportOnly>(
                &key,
                &info(url),
                randomness,
            )
            .map_err(|_| bad_key())?;
            out.extend_from_slice(&enc);
            let (cipher, header) = (exported(&sender), out.clone());
            out.extend_from_slice(plaintext);
            // The key is used once: its nonce is zero.
            cipher
                .encrypt_inout_detached(&[0; 24].into(), &header, (&mut out[header.len()..]).into())
                .map(Into::into)
                .map_err(|_| too_large())?
        }
        Suite::Cnsa2 => {
            let key = key
                .try_into()
                .ok()
                .and_then(|key| mlkem::EncapsulationKey::<MlKem1024>::from_bytes(key).ok());
            let m = randomness.first_chunk().expect("32 of 64 bytes");
            let (enc, mut sender) = hpke::setup_sender_deterministic::<MlKem1024, HkdfSha384, Aes256Gcm>(
                &key.ok_or_else(bad_key)?,
                &info(url),
                m,
            )
            .map_err(|_| bad_key())?;
            out.extend_from_slice(&enc);
            let header = out.clone();
            out.extend_from_slice(plaintext);
            sender.seal_in_place(&header, &mut out[header.len()..]).map_err(|_| too_large())?
        }
    };
    out.extend_from_slice(&tag);
    Ok(out)
}

fn decrypt(recipient: &Agent, envelope: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    if envelope.len() > MAX_ENVELOPE {
        return Err(too_large());
    }
    let bad = || Error::new(Reason::BadForm, "not a sealed payload");
    let mut fields = Fields(envelope);
    if fields.array() != Some(*MAGIC) {
        return Err(bad());
    }
    if fields.array() != Some([suite_byte(recipient.suite())]) {
        return Err(Error::new(Reason::BadAlgorithm, "it was sealed for the other suite"));
    }
    let enc = match recipient.suite() {
        Suite::Default => fields.take(xwing::CIPHERTEXT_LEN),
        Suite::Cnsa2 => fields.take(size_of::<<MlKem1024 as Kem>::Enc>()),
    }
    .ok_or_else(bad)?;
    let header = &envelope[..envelope.len() - fields.0.len()];
    let (body, tag) = fields.0.split_last_chunk::<TAG_LEN>().ok_or_else(bad)?;
    // The newest key first: earlier ones for what was under way when the key was replaced.
    for index in (0..=recipient.index(Role::Sealed)).rev() {
        let url = recipient.did().url(&format!("{}-{index}", Role::Sealed.fragment()));
        let mut plaintext = Zeroizing::new(body.to_vec());
        let opened = match recipient.opening_key(Role::Sealed, index) {
            OpeningKey::XWing(key) => hpke::setup_receiver::<XWing, HkdfSha256, ExportOnly>(
                enc.try_into().expect("1120 bytes"),
                &key,
                &info(&url),
            )
            .is_ok_and(|receiver| {
                exported(&receiver)
                    .decrypt_inout_detached(
                        &[0; 24].into(),
                        header,
                        plaintext.as_mut_slice().into(),
                        tag.into(),
                    )
                    .is_ok()
            }),
            OpeningKey::MlKem1024(key) => hpke::setup_receiver::<MlKem1024, HkdfSha384, Aes256Gcm>(
                enc.try_into().expect("1568 bytes"),
                &key,
                &info(&url),
            )
            .is_ok_and(|mut receiver| receiver.open_in_place(header, &mut plaintext, tag).is_ok()),
            OpeningKey::MlKem768(_) => false,
        };
        if opened {
            return Ok(plaintext);
        }
    }
    Err(Error::new(Reason::CannotOpen, "it was sealed to another key or was changed"))
}

/// The cipher of the default suite.
fn exported<A: hpke::Aead>(context: &hpke::Context<HkdfSha256, A>) -> XChaCha20Poly1305 {
    let mut key = Secret::new([0; 32]);
    context.export(LABEL, key.expose_mut()).expect("32 bytes are not too long");
    XChaCha20Poly1305::new(key.expose().into())
}

fn too_large() -> Error {
    Error::new(Reason::TooLarge, "the payload exceeds the limit")
}

#[cfg(test)]
mod tests;
#[cfg(all(test, feature = "test-vectors"))]
mod vectors;
