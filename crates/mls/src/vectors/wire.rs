//! Bytes of RFC 9420: reading them (section 2.1), and what has a label (section 5).

use mls_rs_core::crypto::{CipherSuiteProvider, HpkeCiphertext, HpkePublicKey, HpkeSecretKey};
use serde_json::Value;

use crate::SuiteProvider;

/// Whether a case holds, or why not.
pub(super) type Judged = Result<(), String>;

/// The version of the protocol, mls10.
pub(super) const VERSION: [u8; 2] = [0, 1];

/// What is left of bytes that are read from their beginning.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or("the bytes end too early")?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number of `len` bytes, at most eight.
    pub(super) fn number(&mut self, len: usize) -> Result<u64, String> {
        Ok(self.take(len)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The bytes of a vector, without its length (section 2.1.2).
    pub(super) fn vector(&mut self) -> Result<&'a [u8], String> {
        let first = self.number(1)?;
        let more = match first >> 6 {
            0 => 0,
            1 => 1,
            2 => 3,
            _ => return Err("a length that no vector has".into()),
        };
        let len = (first & 0x3f) << (8 * more) | self.number(more)?;
        self.take(usize::try_from(len).map_err(|error| error.to_string())?)
    }

    /// What `read` reads, as its bytes.
    pub(super) fn span(&mut self, read: impl FnOnce(&mut Self) -> Judged) -> Result<&'a [u8], String> {
        let before = self.0;
        read(self)?;
        Ok(&before[..before.len() - self.0.len()])
    }

    pub(super) fn end(&self) -> Judged {
        check(self.0.is_empty(), "bytes are left")
    }
}

/// A vector of RFC 9420, section 2.1.2: its length, then its bytes.
pub(super) fn vector(bytes: &[u8]) -> Vec<u8> {
    let len = bytes.len() as u32;
    let prefix = match len {
        0..0x40 => vec![len as u8],
        0x40..0x4000 => (len as u16 | 0x4000).to_be_bytes().to_vec(),
        _ => (len | 0x8000_0000).to_be_bytes().to_vec(),
    };
    [&prefix, bytes].concat()
}

pub(super) fn check(holds: bool, what: &str) -> Judged {
    if holds { Ok(()) } else { Err(what.into()) }
}

/// Whether what was found is what the member `name` says.
pub(super) fn same(of: &Value, name: &str, found: &[u8]) -> Judged {
    check(found == hex(&of[name])?, name)
}

pub(super) fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

pub(super) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "a text is missing".into())
}

pub(super) fn hex(value: &Value) -> Result<Vec<u8>, String> {
    base16ct::mixed::decode_vec(text(value)?).map_err(said)
}

pub(super) fn number(value: &Value) -> Result<usize, String> {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).ok_or_else(|| "a number is missing".into())
}

pub(super) fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| "a list is missing".into())
}

/// A private key. The files leave out the zeros before a scalar of P-521, which RFC 9180 (section 7.1.2) counts.
pub(super) fn private(suite: &SuiteProvider, value: &Value) -> Result<Vec<u8>, String> {
    let len = if suite.suite().number() == 5 { 66 } else { 0 };
    let bytes = hex(value)?;
    Ok([vec![0; usize::saturating_sub(len, bytes.len())], bytes].concat())
}

/// What is signed, and what goes with a ciphertext (sections 5.1.2 and 5.1.3).
pub(super) fn labeled(label: &str, content: &[u8]) -> Vec<u8> {
    [vector(format!("MLS 1.0 {label}").as_bytes()), vector(content)].concat()
}

/// RefHash (section 5.2).
pub(super) fn reference(suite: &SuiteProvider, label: &str, value: &[u8]) -> Result<Vec<u8>, String> {
    suite.hash(&[vector(label.as_bytes()), vector(value)].concat()).map_err(said)
}

/// ExpandWithLabel (section 8).
pub(super) fn expand(
    suite: &SuiteProvider,
    secret: &[u8],
    label: &str,
    context: &[u8],
    len: usize,
) -> Result<Vec<u8>, String> {
    let short = u16::try_from(len).map_err(said)?.to_be_bytes();
    let info = [&short[..], &labeled(label, context)].concat();
    Ok(suite.kdf_expand(secret, &info, len).map_err(said)?.to_vec())
}

/// DeriveSecret (section 8).
pub(super) fn derive(suite: &SuiteProvider, secret: &[u8], label: &str) -> Result<Vec<u8>, String> {
    expand(suite, secret, label, b"", suite.kdf_extract_size())
}

/// DeriveTreeSecret (section 9).
pub(super) fn derive_tree(
    suite: &SuiteProvider,
    secret: &[u8],
    label: &str,
    generation: u32,
    len: usize,
) -> Result<Vec<u8>, String> {
    expand(suite, secret, label, &generation.to_be_bytes(), len)
}

pub(super) fn extract(suite: &SuiteProvider, salt: &[u8], ikm: &[u8]) -> Result<Vec<u8>, String> {
    Ok(suite.kdf_extract(salt, ikm).map_err(said)?.to_vec())
}

/// VerifyWithLabel (section 5.1.2).
pub(super) fn verify(
    suite: &SuiteProvider,
    key: &[u8],
    label: &str,
    content: &[u8],
    signature: &[u8],
) -> Judged {
    let verified = suite.verify(&key.to_vec().into(), signature, &labeled(label, content));
    verified.map_err(|error| format!("the signature of {label}: {error}"))
}

/// DecryptWithLabel (section 5.1.3).
pub(super) fn decrypt(
    suite: &SuiteProvider,
    private: &[u8],
    label: &str,
    context: &[u8],
    sealed: &Sealed<'_>,
) -> Result<Vec<u8>, String> {
    let sealed =
        HpkeCiphertext { kem_output: sealed.kem_output.to_vec(), ciphertext: sealed.ciphertext.to_vec() };
    let private: HpkeSecretKey = private.to_vec().into();
    let opened = suite.hpke_open(&sealed, &private, &Vec::new().into(), &labeled(label, context), None);
    Ok(opened.map_err(|error| format!("the ciphertext for {label}: {error}"))?.to_vec())
}

/// Whether a private key of HPKE belongs to that public key.
pub(super) fn belongs(suite: &SuiteProvider, private: &[u8], public: &[u8]) -> Judged {
    let (private, public): (HpkeSecretKey, HpkePublicKey) = (private.to_vec().into(), public.to_vec().into());
    let sealed = suite.hpke_seal(&public, b"", None, b"ours").map_err(said)?;
    let opened = suite.hpke_open(&sealed, &private, &public, b"", None);
    check(opened.is_ok_and(|opened| *opened == *b"ours"), "a private key and its public key")
}

/// HPKECiphertext (section 7.6).
pub(super) struct Sealed<'a> {
    pub(super) kem_output: &'a [u8],
    pub(super) ciphertext: &'a [u8],
}

impl<'a> Sealed<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, String> {
        Ok(Self { kem_output: reader.vector()?, ciphertext: reader.vector()? })
    }
}

/// GroupContext without extensions (section 8.1).
pub(super) fn group_context(
    suite: &SuiteProvider,
    id: &[u8],
    epoch: u64,
    tree_hash: &[u8],
    transcript: &[u8],
) -> Vec<u8> {
    let number = u16::from(suite.cipher_suite()).to_be_bytes();
    let fixed = [&VERSION[..], &number, &vector(id), &epoch.to_be_bytes()].concat();
    [fixed, vector(tree_hash), vector(transcript), vector(b"")].concat()
}
