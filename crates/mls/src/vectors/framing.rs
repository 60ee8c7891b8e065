//! Messages (RFC 9420, section 6) and Welcomes (section 12.4.3.1).

use mls_rs_core::crypto::{CipherSuiteProvider, SignatureSecretKey};
use serde_json::Value;

use super::schedule::{Epoch, message_keys, sender_data_keys};
use super::wire::{
    Judged, Reader, Sealed, VERSION, check, decrypt, derive, expand, group_context, hex, labeled, private,
    reference, said, same, vector, verify,
};
use crate::SuiteProvider;

const PUBLIC: u64 = 1;
const PRIVATE: u64 = 2;
const WELCOME: u64 = 3;
const KEY_PACKAGE: u64 = 5;

/// How many leaves the group of `message-protection` has; the second one sends.
const LEAVES: usize = 2;

const APPLICATION: u8 = 1;
const PROPOSAL: u8 = 2;
const COMMIT: u8 = 3;

/// What a message carries in the clear or sealed: FramedContent, and what goes with it.
struct Content<'a> {
    group: &'a [u8],
    epoch: u64,
    leaf: u32,
    authenticated: &'a [u8],
    kind: u8,
    /// Of an application with its length, else the structure itself.
    body: &'a [u8],
}

impl Content<'_> {
    /// FramedContentTBS of a member.
    fn signed(&self, wire_format: u64, context: &[u8]) -> Vec<u8> {
        let sender = [&[1][..], &self.leaf.to_be_bytes()].concat();
        let head = [&VERSION[..], &(wire_format as u16).to_be_bytes(), &vector(self.group)].concat();
        let sent =
            [&self.epoch.to_be_bytes()[..], &sender, &vector(self.authenticated), &[self.kind]].concat();
        [&head, &sent, self.body, context].concat()
    }
}

/// `message-protection`.
pub(super) fn messages(suite: &SuiteProvider, case: &Value) -> Judged {
    let epoch = case["epoch"].as_u64().ok_or("an epoch is missing")?;
    let (group, transcript) = (hex(&case["group_id"])?, hex(&case["confirmed_transcript_hash"])?);
    let context = group_context(suite, &group, epoch, &hex(&case["tree_hash"])?, &transcript);
    let group = Group { suite, case, context };
    let application = vector(&hex(&case["application"])?);
    let (proposal, commit) = (hex(&case["proposal"])?, hex(&case["commit"])?);
    group.open_public(&hex(&case["proposal_pub"])?, PROPOSAL, &proposal)?;
    group.open_public(&hex(&case["commit_pub"])?, COMMIT, &commit)?;
    group.open_private(&hex(&case["proposal_priv"])?, PROPOSAL, &proposal)?;
    group.open_private(&hex(&case["commit_priv"])?, COMMIT, &commit)?;
    group.open_private(&hex(&case["application_priv"])?, APPLICATION, &application)?;
    let secret = SignatureSecretKey::new(private(suite, &case["signature_priv"])?);
    let ours = suite.sign(&secret, &labeled("FramedContentTBS", b"ours")).map_err(said)?;
    verify(suite, &hex(&case["signature_pub"])?, "FramedContentTBS", b"ours", &ours)
}

struct Group<'a> {
    suite: &'a SuiteProvider,
    case: &'a Value,
    context: Vec<u8>,
}

impl Group<'_> {
    fn check_signature(&self, signed: &[u8], signature: &[u8]) -> Judged {
        verify(self.suite, &hex(&self.case["signature_pub"])?, "FramedContentTBS", signed, signature)
    }

    fn open_public(&self, message: &[u8], kind: u8, body: &[u8]) -> Judged {
        let mut reader = message_of(message, PUBLIC)?;
        let (group, epoch) = (reader.vector()?, reader.number(8)?);
        check(reader.number(1)? == 1, "a member sends")?;
        let leaf = reader.number(4)? as u32;
        let authenticated = reader.vector()?;
        check(reader.number(1)? == u64::from(kind), "the kind of content")?;
        check(reader.take(body.len())? == body, "the content")?;
        let content = Content { group, epoch, leaf, authenticated, kind, body };
        let signed = content.signed(PUBLIC, &self.context);
        let mut signature: &[u8] = &[];
        let authentication = reader.span(|reader| {
            signature = reader.vector()?;
            if kind == COMMIT { reader.vector().map(drop) } else { Ok(()) }
        })?;
        let tagged = [&signed, authentication].concat();
        let tag = self.suite.mac(&hex(&self.case["membership_key"])?, &tagged).map_err(said)?;
        check(reader.vector()? == tag, "the membership tag")?;
        reader.end()?;
        self.check_signature(&signed, signature)
    }

    fn open_private(&self, message: &[u8], kind: u8, body: &[u8]) -> Judged {
        let mut reader = message_of(message, PRIVATE)?;
        let (group, epoch) = (reader.vector()?, reader.number(8)?);
        check(reader.number(1)? == u64::from(kind), "the kind of content")?;
        let (authenticated, sender, ciphertext) = (reader.vector()?, reader.vector()?, reader.vector()?);
        reader.end()?;

        let secret = hex(&self.case["sender_data_secret"])?;
        let (key, nonce) = sender_data_keys(self.suite, &secret, ciphertext)?;
        let head = [&vector(group)[..], &epoch.to_be_bytes(), &[kind]].concat();
        let sender = self.suite.aead_open(&key, sender, Some(&head), &nonce).map_err(said)?;
        let mut reader = Reader(&sender);
        let (leaf, generation) = (reader.number(4)? as u32, reader.number(4)? as u32);
        let guard = reader.take(4)?;
        reader.end()?;

        let ratchet = if kind == APPLICATION { "application" } else { "handshake" };
        let root = hex(&self.case["encryption_secret"])?;
        let (key, mut nonce) = message_keys(self.suite, &root, LEAVES, leaf as usize, ratchet, generation)?;
        nonce.iter_mut().zip(guard).for_each(|(byte, guard)| *byte ^= guard);
        let additional = [&head[..], &vector(authenticated)].concat();
        let opened = self.suite.aead_open(&key, ciphertext, Some(&additional), &nonce).map_err(said)?;
        let mut reader = Reader(&opened);
        check(reader.take(body.len())? == body, "the content")?;
        let signature = reader.vector()?;
        if kind == COMMIT {
            reader.vector()?;
        }
        check(reader.0.iter().all(|byte| *byte == 0), "the padding")?;
        let content = Content { group, epoch, leaf, authenticated, kind, body };
        self.check_signature(&content.signed(PRIVATE, &self.context), signature)
    }
}

/// What stands behind the version and the wire format.
fn message_of(message: &[u8], wire_format: u64) -> Result<Reader<'_>, String> {
    let mut reader = Reader(message);
    check(reader.take(2)? == VERSION, "the version")?;
    check(reader.number(2)? == wire_format, "the wire format")?;
    Ok(reader)
}

/// `welcome`.
pub(super) fn welcome(suite: &SuiteProvider, case: &Value) -> Judged {
    let key_package = hex(&case["key_package"])?;
    let key_package = message_of(&key_package, KEY_PACKAGE)?.0;
    let mine = reference(suite, "MLS 1.0 KeyPackage Reference", key_package)?;
    let message = hex(&case["welcome"])?;
    let mut reader = message_of(&message, WELCOME)?;
    check(reader.number(2)? == u64::from(u16::from(suite.cipher_suite())), "the suite")?;
    let (mut members, group_info) = (Reader(reader.vector()?), reader.vector()?);
    reader.end()?;
    let sealed = loop {
        let (member, sealed) = (members.vector()?, Sealed::read(&mut members)?);
        if member == mine {
            break sealed;
        }
    };
    let init = private(suite, &case["init_priv"])?;
    let secrets = decrypt(suite, &init, "Welcome", group_info, &sealed)?;
    let joiner = Reader(&secrets).vector()?;

    let no_psk = vec![0; suite.kdf_extract_size()];
    let opening = Epoch::of(suite, joiner, &no_psk, b"")?.welcome;
    let key = expand(suite, &opening, "key", b"", suite.aead_key_size())?;
    let nonce = expand(suite, &opening, "nonce", b"", suite.aead_nonce_size())?;
    let info = suite.aead_open(&key, group_info, None, &nonce).map_err(said)?;
    let mut reader = Reader(&info);
    let mut transcript: &[u8] = &[];
    let mut context: &[u8] = &[];
    let mut tag: &[u8] = &[];
    let signed = reader.span(|reader| {
        context = reader.span(|reader| {
            reader.take(4)?;
            reader.vector()?;
            reader.take(8)?;
            reader.vector()?;
            transcript = reader.vector()?;
            reader.vector().map(drop)
        })?;
        reader.vector()?;
        tag = reader.vector()?;
        reader.take(4).map(drop)
    })?;
    let signature = reader.vector()?;
    reader.end()?;
    verify(suite, &hex(&case["signer_pub"])?, "GroupInfoTBS", signed, signature)?;
    let secret = Epoch::of(suite, joiner, &no_psk, context)?.secret;
    let confirmed = suite.mac(&derive(suite, &secret, "confirm")?, transcript).map_err(said)?;
    check(confirmed == tag, "the confirmation tag")?;
    // A reference to another key package would have found another secret, or none.
    same(case, "key_package", &[&VERSION[..], &(KEY_PACKAGE as u16).to_be_bytes(), key_package].concat())
}
