//! DECODER: keys out of DER (provider-decoder(7)). OpenSSL itself undoes PEM, PKCS#12 and encryption before.
#![expect(unsafe_code, reason = "functions that OpenSSL calls, with pointers that it hands in")]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use der::{Decode, Header, Reader, SliceReader, Tag};
use gambeson_pki::{PrivateKey, PublicKey};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use crate::abi::{self, Callback, Dispatch, Opaque, PassphraseCallback};
use crate::border::{provider, release, shared};
use crate::core::Core;
use crate::key::Key;
use crate::keymgmt::{self, Held};
use crate::params::Values;
use crate::provider::Provider;
use crate::table::{ROWS, Row, TABLE, for_rows};

/// Longest file that is read; the longest key has less than half of it.
const MAX_LEN: usize = 1 << 14;
/// Longest tag and length that such a file has.
const HEADER: usize = 4;

struct Context {
    provider: Arc<Provider>,
}

/// The properties of a decoder, and its functions for each row of the table: for public keys (`SubjectPublicKeyInfo` of RFC 5280) and
/// private ones (`PrivateKeyInfo` of RFC 5958).
pub static DECODERS: [(&CStr, [&[Dispatch]; ROWS]); 2] = [
    (c"provider=gambeson,input=der,structure=SubjectPublicKeyInfo", for_rows!(functions, false)),
    (c"provider=gambeson,input=der,structure=PrivateKeyInfo", for_rows!(functions, true)),
];

const fn functions<const ROW: usize, const PRIVATE: bool>() -> &'static [Dispatch] {
    const {
        &[
            abi::DECODER_NEWCTX.entry(new),
            abi::DECODER_FREECTX.entry(free),
            abi::DECODER_DOES_SELECTION.entry(does_selection::<PRIVATE>),
            abi::DECODER_DECODE.entry(decode::<ROW, PRIVATE>),
            abi::DECODER_EXPORT_OBJECT.entry(export_object),
            Dispatch::END,
        ]
    }
}

unsafe extern "C" fn new(context: Opaque) -> Opaque {
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it.
    let Some(provider) = (unsafe { provider(context) }) else { return ptr::null_mut() };
    Arc::clone(&provider).make(|| Ok(Context { provider }))
}

unsafe extern "C" fn free(context: Opaque) {
    // SAFETY: OpenSSL frees a context once, and does not use it after.
    unsafe { release::<Context>(context) };
}

unsafe extern "C" fn does_selection<const PRIVATE: bool>(_context: Opaque, selection: c_int) -> c_int {
    c_int::from(selects(selection, PRIVATE))
}

/// Whether a structure with a private or a public key is what is wanted; 0 asks for whatever there is.
pub const fn selects(selection: c_int, private: bool) -> bool {
    match selection {
        0 => true,
        _ if selection & abi::SELECT_PRIVATE_KEY != 0 => private,
        _ => !private && selection & abi::SELECT_PUBLIC_KEY != 0,
    }
}

unsafe extern "C" fn decode<const ROW: usize, const PRIVATE: bool>(
    context: Opaque,
    input: Opaque,
    selection: c_int,
    callback: Option<Callback>,
    argument: Opaque,
    _passphrase: Option<PassphraseCallback>,
    _passphrase_argument: Opaque,
) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours.
    let Some(context) = (unsafe { shared::<Context>(context) }) else { return 0 };
    let Some(callback) = callback else { return 0 };
    let provider = &context.provider;
    let row = &TABLE[ROW];
    let mut taken = 1;
    let done = provider.check(|| {
        let der = read(provider.core(), input);
        // What is something else is left to other decoders, without a word.
        if !selects(selection, PRIVATE) || !is_of(&der, row, PRIVATE) {
            return Ok(());
        }
        let key = if PRIVATE {
            Key::from_private(row, PrivateKey::from_pkcs8_der(&der)?)
        } else {
            Key::from_public(row, PublicKey::from_spki_der(&der)?)
        };
        let mut reference = keymgmt::reference(Held { provider: Arc::clone(provider), key });
        taken = Values::new()
            .integer(c"type", &abi::OBJECT_PKEY)
            .text(c"data-type", row.name)
            .pointer(c"reference", &mut reference)
            // SAFETY: the callback and its argument came together, and the values live for the call.
            .give(|params| unsafe { callback(params, argument) });
        // SAFETY: the key is there still if `load` has not put null into its place.
        unsafe { keymgmt::discard(reference) };
        Ok(())
    });
    done & taken
}

/// Reads one ASN.1 object, and not a byte more: others may follow.
fn read(core: &Core, input: Opaque) -> Zeroizing<Vec<u8>> {
    let none = || Zeroizing::new(Vec::new());
    let mut der = core.read(input, HEADER);
    let Ok(header) = SliceReader::new(&der).and_then(|mut reader| Header::decode(&mut reader)) else {
        return none();
    };
    let header_len = 2 + match der.get(1) {
        Some(len @ 0x81..) => usize::from(len & 0x7f),
        _ => 0,
    };
    let total = usize::try_from(header.length()).ok().and_then(|len| len.checked_add(header_len));
    match total {
        Some(total @ HEADER..=MAX_LEN) if header.tag() == Tag::Sequence => {
            let mut whole = Zeroizing::new(Vec::with_capacity(total));
            whole.append(&mut der);
            whole.extend_from_slice(&core.read(input, total - HEADER));
            whole
        }
        _ => none(),
    }
}

/// Whether this is a structure of that kind with a key of that algorithm.
fn is_of(der: &[u8], row: &Row, private: bool) -> bool {
    let identifier = || {
        let mut reader = SliceReader::new(der)?;
        let header = Header::decode(&mut reader)?;
        header.tag().assert_eq(Tag::Sequence)?;
        if private {
            u8::decode(&mut reader)?;
        }
        let identifier = AlgorithmIdentifierRef::decode(&mut reader)?;
        Ok::<_, der::Error>((identifier.oid, reader.peek_byte()))
    };
    let value = if private { 0x04 } else { 0x03 };
    match (identifier(), &row.object) {
        (Ok((oid, Some(next))), Some(object)) => {
            next == value && object.oid.to_str().is_ok_and(|text| oid.to_string() == text)
        }
        _ => false,
    }
}

unsafe extern "C" fn export_object(
    _context: Opaque,
    reference: *const c_void,
    size: usize,
    callback: Option<Callback>,
    argument: Opaque,
) -> c_int {
    if reference.is_null() || size != size_of::<Opaque>() {
        return 0;
    }
    // SAFETY: the reference is the one that `decode` made: the place of a pointer to a key.
    let key = unsafe { reference.cast::<Opaque>().read() };
    // SAFETY: this is a key of ours, and the rest came together.
    unsafe { keymgmt::export(key, abi::SELECT_KEYPAIR, callback, argument) }
}
