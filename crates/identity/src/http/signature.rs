//! The signatures of a message: which one counts, what it says of itself, and the bytes that it signs.

use super::component::{self, Component, Parsed};
use super::message::Message;
use super::{
    MAX_COMPONENTS, MAX_HEAD, MAX_SIGNATURES, OF_CONTENT, Policy, bound_components, dictionary, too_large,
};
use crate::error::bad;
use crate::{Algorithm, Did, DidUrl, Error, Reason, Result, Timestamp, VerifyingKey};
use sfv::{BareItem, Dictionary, InnerList, Item, ListEntry};

/// The longest nonce, in bytes of text.
pub(super) const MAX_NONCE: usize = 256;

/// The members of `signature-input` with this tag, or all, by their labels. Nothing else of the message is looked at.
pub(super) fn inputs(message: &Message<'_>, tag: Option<&str>) -> Result<Vec<(String, InnerList)>> {
    let all = dictionary(message, "signature-input")?;
    if all.len() > MAX_SIGNATURES {
        return Err(too_large("signatures", all.len(), MAX_SIGNATURES));
    }
    let mut found = Vec::new();
    for (label, entry) in all {
        let ListEntry::InnerList(input) = entry else {
            return Err(bad(format_args!("{label} in signature-input is not a list of components")));
        };
        if tag.is_none_or(|tag| text(&input, "tag") == Some(tag)) {
            found.push((label.into(), input));
        }
    }
    Ok(found)
}

/// A parameter of a signature that is a text.
fn text<'a>(input: &'a InnerList, name: &str) -> Option<&'a str> {
    match input.params.get(name) {
        Some(BareItem::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// The signature that a policy with this tag and signer speaks of. Of several it is the one that can be read here: with ML-DSA, by a key that a DID names.
pub(super) fn choose(
    message: &Message<'_>,
    tag: Option<&str>,
    signer: Option<&Did>,
) -> Result<(String, InnerList)> {
    let mut found = inputs(message, tag)?;
    if found.len() > 1 {
        let signatures = dictionary(message, "signature")?;
        found.retain(|(label, input)| {
            let known = match input.params.get("alg") {
                None => true,
                Some(BareItem::String(name)) => algorithm_of(name.as_str()).is_some(),
                Some(_) => false,
            };
            let key = text(input, "keyid").and_then(|id| DidUrl::of_key(id).ok());
            known
                && key.is_some_and(|it| signer.is_none_or(|did| did == it.did()))
                && bytes_of(&signatures, label).is_ok_and(has_length)
        });
    }
    match found.len() {
        0 => Err(Error::new(
            Reason::Unsecured,
            "the message has no signature by ML-DSA with the expected tag and signer",
        )),
        1 => Ok(found.swap_remove(0)),
        _ => Err(bad("several signatures match: select one by tag or signer")),
    }
}

fn algorithm_of(name: &str) -> Option<Algorithm> {
    Algorithm::ALL.into_iter().find(|algorithm| algorithm.http() == name)
}

fn bytes_of<'a>(signatures: &'a Dictionary, label: &str) -> Result<&'a [u8]> {
    match signatures.get(label) {
        Some(ListEntry::Item(Item { bare_item: BareItem::ByteSequence(bytes), .. })) => Ok(bytes),
        _ => Err(bad(format_args!("signature has no bytes for {label}"))),
    }
}

/// Returns true for as many bytes as a signature with ML-DSA has.
fn has_length(bytes: &[u8]) -> bool {
    Algorithm::ALL.into_iter().any(|algorithm| algorithm.signature_len() == bytes.len())
}

/// Refuses more components than are read, and one that is covered twice.
pub(super) fn check_components(components: &[Component]) -> Result<()> {
    check_number(components.len())?;
    match (1..components.len()).find(|at| components[..*at].contains(&components[*at])) {
        Some(at) => Err(bad(format_args!("{} is covered twice", components[at]))),
        None => Ok(()),
    }
}

fn check_number(components: usize) -> Result<()> {
    match components > MAX_COMPONENTS {
        true => Err(too_large("components", components, MAX_COMPONENTS)),
        false => Ok(()),
    }
}

/// The bytes that are signed (RFC 9421, §2.5).
pub(super) fn signature_base(
    message: &Message<'_>,
    components: &[Component],
    input: &InnerList,
    parsed: &mut Parsed,
) -> Result<String> {
    let mut base = String::new();
    for component in components {
        base += &format!("{component}: {}\n", component.value(message, parsed)?);
        if base.len() > MAX_HEAD {
            return Err(too_large("bytes of covered components", base.len(), MAX_HEAD));
        }
    }
    let parameters = component::serialize(&ListEntry::InnerList(input.clone()));
    base += &format!("\"@signature-params\": {parameters}");
    Ok(base)
}

/// A signature of a message that was read, and not verified.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature {
    label: String,
    components: Vec<Component>,
    pub(super) created: Option<Timestamp>,
    pub(super) expires: Option<Timestamp>,
    pub(super) nonce: Option<String>,
    algorithm: Option<Algorithm>,
    pub(super) key_id: Option<String>,
    tag: Option<String>,
    base: String,
    bytes: Vec<u8>,
}

impl Signature {
    /// Reads every signature of a message whose tag is this, or every one, and makes the bytes that it is of.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`]; [`Reason::BadForm`] for fields that are not those of RFC 9421, components that are not
    /// understood or not in the message, and parameters that are not known; [`Reason::BadAlgorithm`].
    pub fn read(message: &Message<'_>, tag: Option<&str>) -> Result<Vec<Self>> {
        message.check_bounds()?;
        let inputs = inputs(message, tag)?;
        let signatures = dictionary(message, "signature")?;
        let mut parsed = Parsed::default();
        let read = inputs.into_iter().map(|(label, input)| {
            let mut signature = Self::of_input(label, &input)?;
            signature.take_bytes(&signatures)?;
            signature.make_base(message, &input, &mut parsed)?;
            Ok(signature)
        });
        read.collect()
    }

    /// What a member of `signature-input` says, without bytes and base.
    pub(super) fn of_input(label: String, input: &InnerList) -> Result<Self> {
        check_number(input.items.len())?;
        let components = input.items.iter().map(Component::from_item).collect::<Result<Vec<_>>>()?;
        check_components(&components)?;
        let mut signature = Self {
            label,
            components,
            created: None,
            expires: None,
            nonce: None,
            algorithm: None,
            key_id: None,
            tag: None,
            base: String::new(),
            bytes: Vec::new(),
        };
        for (name, value) in &input.params {
            match (name.as_str(), value) {
                ("created", BareItem::Integer(seconds)) => signature.created = Some(timestamp(*seconds)?),
                ("expires", BareItem::Integer(seconds)) => signature.expires = Some(timestamp(*seconds)?),
                ("nonce", BareItem::String(nonce)) => signature.nonce = Some(nonce.as_str().to_owned()),
                ("alg", BareItem::String(name)) => {
                    let found = algorithm_of(name.as_str());
                    signature.algorithm = Some(found.ok_or_else(|| {
                        Error::new(Reason::BadAlgorithm, format_args!("{name:?} is not ML-DSA"))
                    })?);
                }
                ("keyid", BareItem::String(id)) => signature.key_id = Some(id.as_str().to_owned()),
                ("tag", BareItem::String(tag)) => signature.tag = Some(tag.as_str().to_owned()),
                _ => return Err(bad(format_args!("unknown parameter {name} of a signature"))),
            }
        }
        Ok(signature)
    }

    pub(super) fn take_bytes(&mut self, signatures: &Dictionary) -> Result<()> {
        self.bytes = bytes_of(signatures, &self.label)?.to_vec();
        Ok(())
    }

    pub(super) fn make_base(
        &mut self,
        message: &Message<'_>,
        input: &InnerList,
        parsed: &mut Parsed,
    ) -> Result<()> {
        self.base = signature_base(message, &self.components, input, parsed)?;
        Ok(())
    }

    /// Refuses a signature that leaves out what the policy asks for.
    pub(super) fn covers(&self, message: &Message<'_>, policy: &Policy) -> Result<()> {
        let mut required = policy.required.clone();
        if required.is_empty() {
            let default = bound_components(message);
            required = default.into_iter().map(str::parse).collect::<Result<_>>()?;
        }
        if message.body.is_some_and(|body| !body.is_empty()) {
            required.push("content-digest".parse()?);
            for name in OF_CONTENT.split(' ').filter(|name| message.has(name)) {
                required.push(name.parse()?);
            }
        }
        match required.iter().find(|component| !self.components.contains(component)) {
            Some(missing) => {
                Err(Error::new(Reason::Uncovered, format_args!("the signature does not cover {missing}")))
            }
            None => Ok(()),
        }
    }

    /// Refuses bytes that are no signature with ML-DSA, whatever the key.
    pub(super) fn check_length(&self) -> Result<()> {
        match has_length(&self.bytes) {
            true => Ok(()),
            false => Err(Error::new(Reason::BadSignature, "its length is not that of ML-DSA")),
        }
    }

    pub(super) fn check_algorithm(&self, key: &VerifyingKey) -> Result<()> {
        match self.algorithm {
            Some(algorithm) if algorithm != key.algorithm() => Err(Error::new(
                Reason::BadAlgorithm,
                format_args!("the signature names an algorithm other than {}", key.algorithm()),
            )),
            _ => Ok(()),
        }
    }

    /// Verifies the signature by a key that the caller chose: the bytes, and nothing about time or who may.
    ///
    /// # Errors
    ///
    /// [`Reason::BadAlgorithm`] if `alg` names another than the key's; [`Reason::BadSignature`].
    pub fn verify_with(&self, key: &VerifyingKey) -> Result<()> {
        self.check_algorithm(key)?;
        key.verify(b"", self.base.as_bytes(), &self.bytes)
    }

    /// The name among the signatures of the message.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What is covered.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// What it is for.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The key that it names.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// The bytes that are signed.
    pub fn base(&self) -> &str {
        &self.base
    }
}

impl core::fmt::Debug for Signature {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Signature")
            .field("label", &self.label)
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

fn timestamp(seconds: sfv::Integer) -> Result<Timestamp> {
    u64::try_from(i64::from(seconds)).map(Timestamp).map_err(|_| bad("a time before 1970"))
}
