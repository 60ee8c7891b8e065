//! ENCODER: keys into DER, PEM and text (provider-encoder(7)).
#![expect(unsafe_code, reason = "functions that OpenSSL calls, with pointers that it hands in")]

use std::ffi::{CStr, c_int, c_void};
use std::fmt::Write;
use std::ptr;
use std::sync::Arc;

use gambeson_pki::{Encryption, Form, PrivateKey};
use zeroize::Zeroizing;

use crate::abi::{self, Dispatch, Opaque, Param, PassphraseCallback};
use crate::border::{exclusive, provider, release, shared};
use crate::core::passphrase;
use crate::decoder::selects;
use crate::error::{Error, Reason};
use crate::key::Pair;
use crate::keymgmt::Held;
use crate::params::Params;
use crate::provider::Provider;
use crate::table::Row;

const CIPHER: &CStr = c"cipher";
/// What OpenSSL may ask for. What is written is AES-256-CBC under PBKDF2, which is never weaker, and every reader knows it.
const CIPHERS: [&str; 4] = ["AES-256-CBC", "AES-192-CBC", "AES-128-CBC", "DES-EDE3-CBC"];

struct Context {
    provider: Arc<Provider>,
    encrypts: bool,
}

/// What an encoder writes.
#[derive(Clone, Copy)]
enum Structure {
    Public,
    Private,
    Encrypted,
    Text,
}

struct Output {
    structure: Structure,
    pem: bool,
}

const fn output(structure: Structure, pem: bool) -> Output {
    Output { structure, pem }
}

const OUTPUTS: [Output; 7] = [
    output(Structure::Public, false),
    output(Structure::Public, true),
    output(Structure::Private, false),
    output(Structure::Private, true),
    output(Structure::Encrypted, false),
    output(Structure::Encrypted, true),
    output(Structure::Text, false),
];

/// The properties of an encoder, and its functions, the same for all algorithms.
pub static ENCODERS: [(&CStr, &[Dispatch]); 7] = [
    (c"provider=gambeson,output=der,structure=SubjectPublicKeyInfo", functions::<0>()),
    (c"provider=gambeson,output=pem,structure=SubjectPublicKeyInfo", functions::<1>()),
    (c"provider=gambeson,output=der,structure=PrivateKeyInfo", functions::<2>()),
    (c"provider=gambeson,output=pem,structure=PrivateKeyInfo", functions::<3>()),
    (c"provider=gambeson,output=der,structure=EncryptedPrivateKeyInfo", functions::<4>()),
    (c"provider=gambeson,output=pem,structure=EncryptedPrivateKeyInfo", functions::<5>()),
    (c"provider=gambeson,output=text", functions::<6>()),
];

const fn functions<const OUTPUT: usize>() -> &'static [Dispatch] {
    const {
        &[
            abi::ENCODER_NEWCTX.entry(new),
            abi::ENCODER_FREECTX.entry(free),
            abi::ENCODER_SET_CTX_PARAMS.entry(set_params),
            abi::ENCODER_SETTABLE_CTX_PARAMS.entry(settable),
            abi::ENCODER_DOES_SELECTION.entry(does_selection::<OUTPUT>),
            abi::ENCODER_ENCODE.entry(encode::<OUTPUT>),
            Dispatch::END,
        ]
    }
}

unsafe extern "C" fn new(context: Opaque) -> Opaque {
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it.
    let Some(provider) = (unsafe { provider(context) }) else { return ptr::null_mut() };
    Arc::clone(&provider).make(|| Ok(Context { provider, encrypts: false }))
}

unsafe extern "C" fn free(context: Opaque) {
    // SAFETY: OpenSSL frees a context once, and does not use it after.
    unsafe { release::<Context>(context) };
}

unsafe extern "C" fn set_params(context: Opaque, params: *const Param) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and parameters that live for the call.
    let (context, params) = unsafe { (exclusive::<Context>(context), Params::new(params)) };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| {
        let Some(cipher) = params.text(CIPHER)? else { return Ok(()) };
        context.encrypts = !cipher.is_empty();
        if context.encrypts && !CIPHERS.iter().any(|known| known.eq_ignore_ascii_case(cipher)) {
            let detail = format!("keys are encrypted with AES-256-CBC, not {cipher}");
            return Err(Error::new(Reason::Parameter, detail));
        }
        Ok(())
    })
}

unsafe extern "C" fn settable(_context: Opaque) -> *const Param {
    static SETTABLE: [Param; 2] = [Param::description(CIPHER, abi::UTF8_STRING), Param::END];
    SETTABLE.as_ptr()
}

unsafe extern "C" fn does_selection<const OUTPUT: usize>(_context: Opaque, selection: c_int) -> c_int {
    c_int::from(match OUTPUTS[OUTPUT].structure {
        Structure::Text => true,
        Structure::Public => selects(selection, false),
        Structure::Private | Structure::Encrypted => selects(selection, true),
    })
}

unsafe extern "C" fn encode<const OUTPUT: usize>(
    context: Opaque,
    out: Opaque,
    key: *const c_void,
    _other: *const Param,
    selection: c_int,
    callback: Option<PassphraseCallback>,
    argument: Opaque,
) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and a key of ours or null.
    let (context, held) = unsafe { (shared::<Context>(context), shared::<Held>(key)) };
    let Some(context) = context else { return 0 };
    context.provider.check(|| {
        let held = held.ok_or_else(|| Error::new(Reason::NoKey, "the key is not one of this provider"))?;
        let pair = held.key.required()?;
        let Output { structure, pem } = OUTPUTS[OUTPUT];
        let encoded = match structure {
            Structure::Text => text(held.key.row(), pair, selection)?,
            Structure::Public => public(pair, pem)?,
            Structure::Private if !context.encrypts => private(pair, pem)?,
            Structure::Private | Structure::Encrypted => {
                // SAFETY: both came together, for this call.
                encrypted(pair, pem, &unsafe { passphrase(callback, argument) }?)?
            }
        };
        context.provider.core().write(out, &encoded)
    })
}

fn public(pair: &Pair, pem: bool) -> Result<Zeroizing<Vec<u8>>, Error> {
    let key = pair.public_key().ok_or_else(no_file)?;
    Ok(Zeroizing::new(if pem { key.to_spki_pem().into_bytes() } else { key.to_spki_der() }))
}

fn private(pair: &Pair, pem: bool) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (key, form) = private_key(pair)?;
    if pem {
        return Ok(Zeroizing::new(key.to_pkcs8_pem(form)?.as_bytes().to_vec()));
    }
    Ok(key.to_pkcs8_der(form)?)
}

fn encrypted(pair: &Pair, pem: bool, passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (key, form) = private_key(pair)?;
    let encryption = Encryption::Pbkdf2;
    Ok(Zeroizing::new(if pem {
        key.to_encrypted_pkcs8_pem(form, passphrase, encryption)?.into_bytes()
    } else {
        key.to_encrypted_pkcs8_der(form, passphrase, encryption)?
    }))
}

/// The private key, and the form to write: the seed where there is one, as the RFCs recommend.
fn private_key(pair: &Pair) -> Result<(&PrivateKey, Form), Error> {
    if !pair.has_private() {
        return Err(Error::new(Reason::NoKey, "there is no private key to write"));
    }
    let key = pair.private_key().ok_or_else(no_file)?;
    Ok((key, if key.seed().is_some() { Form::Seed } else { Form::Expanded }))
}

fn no_file() -> Error {
    Error::new(Reason::NotEncoded, "keys of this group exist in TLS alone, and have no form in files")
}

/// What people read: names, and bytes in hexadecimal.
fn text(row: &Row, pair: &Pair, selection: c_int) -> Result<Zeroizing<Vec<u8>>, Error> {
    let private = selection & abi::SELECT_PRIVATE_KEY != 0 && pair.has_private();
    // Room for all of it, so that no copy of a secret is left behind when it grows.
    let secret = if private { pair.private_bytes() } else { None };
    let lengths = pair.public_bytes().len() + secret.as_ref().map_or(0, |bytes| bytes.len());
    let mut text = Zeroizing::new(String::with_capacity(200 + 4 * lengths));
    let failed = |_| Error::new(Reason::Internal, "a text cannot be written");
    let kind = if private { "Private-Key" } else { "Public-Key" };
    writeln!(text, "{} {kind}:", row.name.to_string_lossy()).map_err(failed)?;
    if let (true, Some(seed)) = (private, pair.seed()) {
        hexadecimal(&mut text, "seed", seed).map_err(failed)?;
    } else if let Some(secret) = &secret {
        hexadecimal(&mut text, "priv", secret).map_err(failed)?;
    }
    hexadecimal(&mut text, "pub", pair.public_bytes()).map_err(failed)?;
    Ok(Zeroizing::new(text.as_bytes().to_vec()))
}

/// Fifteen bytes a line, as OpenSSL prints them.
fn hexadecimal(text: &mut String, name: &str, bytes: &[u8]) -> std::fmt::Result {
    writeln!(text, "{name}:")?;
    let lines = bytes.chunks(15);
    let last = lines.len().saturating_sub(1);
    for (index, line) in lines.enumerate() {
        text.push_str("    ");
        for (position, byte) in line.iter().enumerate() {
            let more = index < last || position + 1 < line.len();
            write!(text, "{byte:02x}{}", if more { ":" } else { "" })?;
        }
        text.push('\n');
    }
    Ok(())
}
