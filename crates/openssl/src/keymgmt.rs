//! KEYMGMT: keys are made, imported, exported, compared and asked (provider-keymgmt(7)).
#![expect(unsafe_code, reason = "functions that OpenSSL calls, with pointers that it hands in")]

use std::cell::OnceCell;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use gambeson_pki::Algorithm;
use zeroize::Zeroizing;

use crate::abi::{self, Callback, Dispatch, OCTET_STRING, Opaque, Param};
use crate::border::{disown, exclusive, own, provider, release, shared};
use crate::error::{Error, Reason};
use crate::key::Key;
use crate::params::{Params, Requests, Value, Values};
use crate::provider::Provider;
use crate::table::{ROWS, Row, Scheme, TABLE, Tls, for_rows};

const PUBLIC: &CStr = c"pub";
const ENCODED_PUBLIC: &CStr = c"encoded-pub-key";
const PRIVATE: &CStr = c"priv";
const SEED: &CStr = c"seed";
const GROUP: &CStr = c"group";

/// What OpenSSL holds as a key.
pub struct Held {
    pub provider: Arc<Provider>,
    pub key: Key,
}

/// OpenSSL uses both in any thread.
const fn is_for_any_thread<T: Send + Sync>() {}
const _: () = {
    is_for_any_thread::<Held>();
    is_for_any_thread::<Provider>();
};

/// A key in the making.
struct Making {
    provider: Arc<Provider>,
    row: &'static Row,
    /// Without it, a key without bytes is wanted, which takes a peer's.
    pair: bool,
    seed: Option<Zeroizing<Vec<u8>>>,
}

/// The functions for each row of the table.
pub static FUNCTIONS: [&[Dispatch]; ROWS] = for_rows!(functions);

const fn functions<const ROW: usize>() -> &'static [Dispatch] {
    const {
        &[
            abi::KEYMGMT_NEW.entry(new::<ROW>),
            abi::KEYMGMT_FREE.entry(free),
            abi::KEYMGMT_GEN_INIT.entry(gen_init::<ROW>),
            abi::KEYMGMT_GEN_SET_PARAMS.entry(gen_set_params),
            abi::KEYMGMT_GEN_SETTABLE_PARAMS.entry(gen_settable),
            abi::KEYMGMT_GEN.entry(generate),
            abi::KEYMGMT_GEN_CLEANUP.entry(gen_cleanup),
            abi::KEYMGMT_LOAD.entry(load),
            abi::KEYMGMT_GET_PARAMS.entry(get_params),
            abi::KEYMGMT_GETTABLE_PARAMS.entry(gettable),
            abi::KEYMGMT_SET_PARAMS.entry(set_params),
            abi::KEYMGMT_SETTABLE_PARAMS.entry(settable),
            abi::KEYMGMT_HAS.entry(has),
            abi::KEYMGMT_VALIDATE.entry(validate),
            abi::KEYMGMT_MATCH.entry(matches),
            abi::KEYMGMT_IMPORT.entry(import),
            abi::KEYMGMT_IMPORT_TYPES.entry(types),
            abi::KEYMGMT_EXPORT.entry(export),
            abi::KEYMGMT_EXPORT_TYPES.entry(types),
            abi::KEYMGMT_DUP.entry(dup),
            Dispatch::END,
        ]
    }
}

unsafe extern "C" fn new<const ROW: usize>(context: Opaque) -> Opaque {
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it.
    let Some(provider) = (unsafe { provider(context) }) else { return ptr::null_mut() };
    Arc::clone(&provider).make(|| Ok(Held { provider, key: Key::empty(&TABLE[ROW]) }))
}

unsafe extern "C" fn free(key: Opaque) {
    // SAFETY: OpenSSL frees a key once, and does not use it after.
    unsafe { release::<Held>(key) };
}

unsafe extern "C" fn load(reference: *const c_void, size: usize) -> Opaque {
    if reference.is_null() || size != size_of::<Opaque>() {
        return ptr::null_mut();
    }
    // SAFETY: the reference is the one that our decoder made: the place of a pointer to a key, which goes to OpenSSL here.
    unsafe { ptr::replace(reference.cast_mut().cast::<Opaque>(), ptr::null_mut()) }
}

unsafe extern "C" fn dup(key: *const c_void, selection: c_int) -> Opaque {
    // SAFETY: OpenSSL hands in a key of ours.
    let Some(held) = (unsafe { shared::<Held>(key) }) else { return ptr::null_mut() };
    held.provider.make(|| {
        let (public, private) = selected(selection);
        Ok(Held { provider: Arc::clone(&held.provider), key: held.key.dup(public, private)? })
    })
}

/// Which halves of a key are meant.
const fn selected(selection: c_int) -> (bool, bool) {
    (selection & abi::SELECT_PUBLIC_KEY != 0, selection & abi::SELECT_PRIVATE_KEY != 0)
}

unsafe extern "C" fn has(key: *const c_void, selection: c_int) -> c_int {
    // SAFETY: OpenSSL hands in a key of ours.
    let Some(held) = (unsafe { shared::<Held>(key) }) else { return 0 };
    held.provider.answer(|| {
        let (public, private) = selected(selection);
        let pair = held.key.pair();
        (!public || pair.is_some()) && (!private || pair.is_some_and(|pair| pair.has_private()))
    })
}

unsafe extern "C" fn validate(key: *const c_void, selection: c_int, _check: c_int) -> c_int {
    // SAFETY: OpenSSL hands in a key of ours.
    let Some(held) = (unsafe { shared::<Held>(key) }) else { return 0 };
    held.provider.check(|| match selected(selection) {
        (false, false) => Ok(()),
        // What a public key has to be was looked at when its bytes came.
        (true, false) => held.key.required().map(drop),
        (_, true) => held.key.required()?.check(),
    })
}

unsafe extern "C" fn matches(one: *const c_void, other: *const c_void, selection: c_int) -> c_int {
    // SAFETY: OpenSSL hands in two keys of ours.
    let (Some(one), Some(other)) = (unsafe { (shared::<Held>(one), shared::<Held>(other)) }) else {
        return 0;
    };
    one.provider.answer(|| {
        let same = ptr::eq(one.key.row(), other.key.row());
        match (selected(selection), one.key.pair(), other.key.pair()) {
            ((false, false), _, _) => same,
            // One private key, one public key: the latter are compared.
            (_, Some(one), Some(other)) => same && one.public_bytes() == other.public_bytes(),
            _ => false,
        }
    })
}

unsafe extern "C" fn gen_init<const ROW: usize>(
    context: Opaque,
    selection: c_int,
    params: *const Param,
) -> Opaque {
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it.
    let Some(provider) = (unsafe { provider(context) }) else { return ptr::null_mut() };
    // SAFETY: OpenSSL's parameters live for the call.
    let params = unsafe { Params::new(params) };
    provider.make(|| {
        let pair = selection & abi::SELECT_KEYPAIR != 0;
        let mut making = Making { provider: Arc::clone(&provider), row: &TABLE[ROW], pair, seed: None };
        making.set(params)?;
        Ok(making)
    })
}

unsafe extern "C" fn gen_set_params(making: Opaque, params: *const Param) -> c_int {
    // SAFETY: OpenSSL hands in what `gen_init` made, and uses it in one place at a time; its parameters live for the call.
    let (making, params) = unsafe { (exclusive::<Making>(making), Params::new(params)) };
    let Some(making) = making else { return 0 };
    let provider = Arc::clone(&making.provider);
    provider.check(|| making.set(params))
}

impl Making {
    fn set(&mut self, params: Params<'_>) -> Result<(), Error> {
        if let Some(group) = params.text(GROUP)? {
            self.check_group(group)?;
        }
        if let Some(seed) = params.octets(SEED)? {
            self.seed = Some(Zeroizing::new(seed.to_vec()));
        }
        Ok(())
    }

    /// TLS names the group; it is the one that the key is of.
    fn check_group(&self, group: &str) -> Result<(), Error> {
        let known = match self.row.tls {
            Tls::Group { name, .. } => [name, self.row.name].map(|name| name.to_str().unwrap_or_default()),
            _ => [""; 2],
        };
        if known.iter().any(|name| name.eq_ignore_ascii_case(group)) {
            return Ok(());
        }
        let name = self.row.name.to_string_lossy();
        Err(Error::new(Reason::Parameter, format!("{name} is not the group {group}")))
    }
}

unsafe extern "C" fn generate(making: Opaque, _progress: Option<Callback>, _argument: Opaque) -> Opaque {
    // SAFETY: OpenSSL hands in what `gen_init` made.
    let Some(making) = (unsafe { shared::<Making>(making) }) else { return ptr::null_mut() };
    making.provider.make(|| {
        let seed = making.seed.as_ref().map(|seed| &seed[..]);
        let key = if making.pair { Key::generate(making.row, seed)? } else { Key::empty(making.row) };
        Ok(Held { provider: Arc::clone(&making.provider), key })
    })
}

unsafe extern "C" fn gen_cleanup(making: Opaque) {
    // SAFETY: OpenSSL does this once, at the end.
    unsafe { release::<Making>(making) };
}

unsafe extern "C" fn gen_settable(_making: Opaque, _context: Opaque) -> *const Param {
    static SETTABLE: [Param; 3] =
        [Param::description(GROUP, abi::UTF8_STRING), Param::description(SEED, OCTET_STRING), Param::END];
    SETTABLE.as_ptr()
}

unsafe extern "C" fn import(key: Opaque, selection: c_int, params: *const Param) -> c_int {
    // SAFETY: OpenSSL hands in a key of ours, and parameters that live for the call.
    let (held, params) = unsafe { (shared::<Held>(key), Params::new(params)) };
    let Some(held) = held else { return 0 };
    held.provider.check(|| {
        let public = params.octets(PUBLIC)?;
        match selected(selection) {
            (_, true) if params.octets(PRIVATE)?.is_some() || params.octets(SEED)?.is_some() => {
                held.key.set_private(params.octets(SEED)?, params.octets(PRIVATE)?, public)
            }
            (false, false) => Ok(()),
            _ => {
                let none = || Error::new(Reason::Parameter, "no key in the parameters");
                held.key.set_public(public.ok_or_else(none)?)
            }
        }
    })
}

/// # Safety
/// `key` is one of ours, and `callback` and `argument` came together.
pub unsafe extern "C" fn export(
    key: Opaque,
    selection: c_int,
    callback: Option<Callback>,
    argument: Opaque,
) -> c_int {
    // SAFETY: OpenSSL hands in a key of ours.
    let (Some(held), Some(callback)) = (unsafe { shared::<Held>(key) }, callback) else { return 0 };
    held.provider.check(|| {
        let pair = held.key.required()?;
        let (public, private) = selected(selection);
        let mut values = Values::new();
        if public {
            values = values.octets(PUBLIC, pair.public_bytes());
        }
        let bytes = if private { pair.private_bytes() } else { None };
        if let Some(bytes) = &bytes {
            values = values.octets(PRIVATE, bytes);
        }
        if let (true, Some(seed)) = (private, pair.seed()) {
            values = values.octets(SEED, seed);
        }
        if !public && bytes.is_none() {
            return Err(Error::new(Reason::NoKey, "there is no private key to export"));
        }
        // SAFETY: the callback and its argument came together, and the values live for the call.
        match values.give(|params| unsafe { callback(params, argument) }) {
            1 => Ok(()),
            _ => Err(Error::new(Reason::InputOutput, "the exported key was not taken")),
        }
    })
}

unsafe extern "C" fn types(selection: c_int) -> *const Param {
    static BOTH: [Param; 4] = [
        Param::description(PUBLIC, OCTET_STRING),
        Param::description(PRIVATE, OCTET_STRING),
        Param::description(SEED, OCTET_STRING),
        Param::END,
    ];
    match selected(selection) {
        (_, true) => BOTH.as_ptr(),
        (true, false) => {
            static ONE: [Param; 2] = [Param::description(PUBLIC, OCTET_STRING), Param::END];
            ONE.as_ptr()
        }
        (false, false) => ptr::null(),
    }
}

unsafe extern "C" fn get_params(key: Opaque, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL hands in a key of ours, and parameters that are ours for the call.
    let (held, mut requests) = unsafe { (shared::<Held>(key), Requests::new(params)) };
    let Some(held) = held else { return 0 };
    held.provider.check(|| {
        let (row, pair) = (held.key.row(), held.key.pair());
        // Made only when asked for: it is a secret, and of some length.
        let private = OnceCell::new();
        requests.fill(|name| {
            Ok(match name.to_bytes() {
                b"bits" => row.lengths().map(|(public, _)| Value::Number(8 * public)),
                b"security-bits" => Some(Value::Number(row.security_bits.into())),
                b"security-category" => category(row.scheme).map(Value::Number),
                b"max-size" => row.lengths().map(|(_, made)| Value::Number(made)),
                // These algorithms hash by themselves: there is none, and it cannot be chosen.
                b"default-digest" | b"mandatory-digest" if row.scheme.signs() => Some(Value::Static(c"")),
                b"pub" | b"encoded-pub-key" => pair.map(|pair| Value::Octets(pair.public_bytes())),
                b"priv" => private
                    .get_or_init(|| pair.and_then(|pair| pair.private_bytes()))
                    .as_ref()
                    .map(|bytes| Value::Octets(bytes)),
                b"seed" => pair.and_then(|pair| pair.seed()).map(Value::Octets),
                _ => None,
            })
        })
    })
}

/// NIST's category, of what FIPS 203, 204 and 205 name alone.
fn category(scheme: Scheme) -> Option<usize> {
    if let Some(set) = scheme.slh_dsa() {
        return match set.seed_len() {
            16 => Some(1),
            24 => Some(3),
            _ => Some(5),
        };
    }
    match scheme {
        Scheme::Pki(Algorithm::MlKem512) => Some(1),
        Scheme::Pki(Algorithm::MlDsa44) => Some(2),
        Scheme::Pki(Algorithm::MlKem768 | Algorithm::MlDsa65) => Some(3),
        Scheme::Pki(Algorithm::MlKem1024 | Algorithm::MlDsa87) => Some(5),
        _ => None,
    }
}

unsafe extern "C" fn gettable(_context: Opaque) -> *const Param {
    static GETTABLE: [Param; 10] = [
        Param::description(c"bits", abi::INTEGER),
        Param::description(c"security-bits", abi::INTEGER),
        Param::description(c"security-category", abi::INTEGER),
        Param::description(c"max-size", abi::INTEGER),
        Param::description(c"mandatory-digest", abi::UTF8_STRING),
        Param::description(PUBLIC, OCTET_STRING),
        Param::description(ENCODED_PUBLIC, OCTET_STRING),
        Param::description(PRIVATE, OCTET_STRING),
        Param::description(SEED, OCTET_STRING),
        Param::END,
    ];
    GETTABLE.as_ptr()
}

unsafe extern "C" fn set_params(key: Opaque, params: *const Param) -> c_int {
    // SAFETY: OpenSSL hands in a key of ours, and parameters that live for the call.
    let (held, params) = unsafe { (shared::<Held>(key), Params::new(params)) };
    let Some(held) = held else { return 0 };
    held.provider.check(|| match params.octets(ENCODED_PUBLIC)? {
        Some(public) => held.key.set_public(public),
        None => Ok(()),
    })
}

unsafe extern "C" fn settable(_context: Opaque) -> *const Param {
    static SETTABLE: [Param; 2] = [Param::description(ENCODED_PUBLIC, OCTET_STRING), Param::END];
    SETTABLE.as_ptr()
}

/// A key for the reference that a decoder hands to OpenSSL, which `load` takes.
pub fn reference(held: Held) -> Opaque {
    own(held)
}

/// Drops the key of a reference that nobody took.
///
/// # Safety
/// It is from [`reference`], and `load` has not taken it.
pub unsafe fn discard(key: Opaque) {
    // SAFETY: the caller's promise.
    drop(unsafe { disown::<Held>(key) });
}
