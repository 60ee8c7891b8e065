//! The provider itself: what it is called, what it has, and what it is for TLS (provider-base(7)).
#![expect(unsafe_code, reason = "functions that OpenSSL calls, with pointers that it hands in")]

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::io::{self, Write};
use std::ptr;
use std::sync::Arc;

use crate::abi::{self, Algorithm, Callback, Dispatch, Opaque, Param};
use crate::border::{own, provider, release, text};
use crate::core::Core;
use crate::decoder::DECODERS;
use crate::encoder::ENCODERS;
use crate::error::{Error, Reason};
use crate::params::{Requests, Value, Values};
use crate::table::{Row, TABLE, Tls, Version, has};
use crate::{kem, keymgmt, signature};
use gambeson_hybrid::kem::Curve;

const PROPERTIES: &CStr = c"provider=gambeson";
/// The name in our section of the configuration of the number that composite signatures get in TLS; without it they have none.
const COMPOSITE_SCHEME: &CStr = c"composite-sigalg";
/// From this version on OpenSSL asks providers for signature schemes of TLS.
const SIGALG_SINCE: Version = (3, 2);

/// From this version on OpenSSL signs messages without naming a digest.
const SIGN_MESSAGE_SINCE: Version = (3, 4);

const TLS1_3: c_int = 0x0304;
/// A bound that excludes all versions.
const NEVER: c_int = -1;
/// A bound that is none.
const UNBOUNDED: c_int = 0;

/// One loaded provider.
pub struct Provider {
    core: Core,
    version: Version,
    /// What the configuration says of composite signatures in TLS.
    setting: Option<String>,
    keymgmt: Vec<Algorithm>,
    kem: Vec<Algorithm>,
    signature: Vec<Algorithm>,
    encoder: Vec<Algorithm>,
    decoder: Vec<Algorithm>,
}

/// What OpenSSL calls when it has loaded the module.
///
/// # Safety
/// OpenSSL calls it: `handle` and the table `functions` live until teardown, the last entry of the table is all zeros, and `out` and
/// `context` are places for a pointer each.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "OpenSSL looks for this name")]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: Opaque,
    functions: *const Dispatch,
    out: *mut *const Dispatch,
    context: *mut Opaque,
) -> c_int {
    if handle.is_null() || functions.is_null() || out.is_null() || context.is_null() {
        return 0;
    }
    // SAFETY: the caller's promise.
    let core = unsafe { Core::new(handle, functions) };
    let provider = core.caught(|| {
        Provider::ready(core).map(|provider| own(Arc::new(provider))).inspect_err(|error| {
            // OpenSSL 3.0 ignores providers that it cannot load, and its error queue goes unread.
            let _ = writeln!(io::stderr(), "gambeson: the provider is not active: {}", error.detail);
        })
    });
    let Some(provider) = provider else { return 0 };
    // SAFETY: the caller's promise: they are places for pointers.
    unsafe {
        out.write(FUNCTIONS.as_ptr());
        context.write(provider);
    }
    1
}

static FUNCTIONS: &[Dispatch] = &[
    abi::PROVIDER_TEARDOWN.entry(teardown),
    abi::PROVIDER_GETTABLE_PARAMS.entry(gettable),
    abi::PROVIDER_GET_PARAMS.entry(get_params),
    abi::PROVIDER_QUERY_OPERATION.entry(query),
    abi::PROVIDER_GET_REASON_STRINGS.entry(reasons),
    abi::PROVIDER_GET_CAPABILITIES.entry(capabilities),
    Dispatch::END,
];

impl Provider {
    /// A provider whose configuration holds, and whose algorithms the library knows.
    fn ready(core: Core) -> Result<Self, Error> {
        let provider = Self::new(core);
        provider.composite_scheme()?;
        provider.rows().try_for_each(|row| core.register(row))?;
        // A fork must not come while a thread makes them.
        for curve in [Curve::X448, Curve::P256, Curve::P384] {
            curve.prepare();
        }
        Ok(provider)
    }

    fn new(core: Core) -> Self {
        let version = core.version();
        let setting = core.setting(COMPOSITE_SCHEME);
        let signature =
            if version < SIGN_MESSAGE_SINCE { signature::FUNCTIONS } else { signature::FUNCTIONS_3_4 };
        let rows = || TABLE.iter().enumerate().filter(|(_, row)| !has(version, row.in_core));
        let in_files = || rows().filter(|(_, row)| row.object.is_some());
        let keymgmt = rows().map(|(index, row)| (row, PROPERTIES, keymgmt::FUNCTIONS[index]));
        let kem =
            rows().filter(|(_, row)| !row.scheme.signs()).map(|(_, row)| (row, PROPERTIES, kem::FUNCTIONS));
        let signature =
            rows().filter(|(_, row)| row.scheme.signs()).map(|(_, row)| (row, PROPERTIES, signature));
        let encoder = in_files().flat_map(|(_, row)| {
            ENCODERS.iter().map(move |(properties, functions)| (row, *properties, *functions))
        });
        let decoder = in_files().flat_map(|(index, row)| {
            DECODERS.iter().map(move |(properties, functions)| (row, *properties, functions[index]))
        });
        Self {
            keymgmt: list(keymgmt),
            kem: list(kem),
            signature: list(signature),
            encoder: list(encoder),
            decoder: list(decoder),
            core,
            version,
            setting,
        }
    }

    /// What OpenSSL offers to us.
    pub const fn core(&self) -> &Core {
        &self.core
    }

    /// The algorithms that this OpenSSL does not have itself.
    fn rows(&self) -> impl Iterator<Item = &'static Row> {
        let version = self.version;
        TABLE.iter().filter(move |row| !has(version, row.in_core))
    }

    /// The number that the configuration gives to composite signatures in TLS.
    fn composite_scheme(&self) -> Result<Option<u16>, Error> {
        let Some(text) = &self.setting else { return Ok(None) };
        let number = match text.strip_prefix("0x") {
            Some(digits) => u16::from_str_radix(digits, 16),
            None => text.parse(),
        };
        // What TLS 1.3 leaves for private use.
        match number {
            Ok(number @ 0xfe00..) => Ok(Some(number)),
            _ => Err(Error::new(
                Reason::Parameter,
                format!("composite-sigalg = {text:?}: only 0xfe00 to 0xffff are for private use"),
            )),
        }
    }

    fn groups(&self, callback: Callback, argument: Opaque) -> bool {
        TABLE.iter().all(|row| match row.tls {
            Tls::Group { name, number, in_core } if !has(self.version, in_core) => {
                let (number, security_bits): (c_uint, c_uint) = (number.into(), row.security_bits.into());
                let is_kem: c_uint = 1;
                tell(
                    Values::new()
                        .text(c"tls-group-name", name)
                        .text(c"tls-group-name-internal", row.name)
                        .unsigned(c"tls-group-id", &number)
                        .text(c"tls-group-alg", row.name)
                        .unsigned(c"tls-group-sec-bits", &security_bits)
                        .unsigned(c"tls-group-is-kem", &is_kem),
                    callback,
                    argument,
                )
            }
            _ => true,
        })
    }

    fn schemes(&self, callback: Callback, argument: Opaque) -> Result<bool, Error> {
        if self.version < SIGALG_SINCE {
            return Ok(true);
        }
        let composite = self.composite_scheme()?;
        Ok(self.rows().all(|row| {
            let (name, number) = match (&row.tls, composite) {
                (Tls::Scheme { name, number }, _) => (*name, *number),
                (Tls::PrivateScheme { name }, Some(number)) => (*name, number),
                _ => return true,
            };
            let Some(object) = &row.object else { return true };
            let (number, security_bits): (c_uint, c_uint) = (number.into(), row.security_bits.into());
            tell(
                Values::new()
                    .text(c"tls-sigalg-iana-name", name)
                    .text(c"tls-sigalg-name", row.name)
                    .text(c"tls-sigalg-oid", object.oid)
                    .unsigned(c"tls-sigalg-code-point", &number)
                    .unsigned(c"tls-sigalg-sec-bits", &security_bits),
                callback,
                argument,
            )
        }))
    }
}

/// Tells of something that TLS 1.3 has and DTLS has not; whether it was taken.
fn tell(values: Values<'_>, callback: Callback, argument: Opaque) -> bool {
    values
        .integer(c"tls-min-tls", &TLS1_3)
        .integer(c"tls-max-tls", &UNBOUNDED)
        .integer(c"tls-min-dtls", &NEVER)
        .integer(c"tls-max-dtls", &NEVER)
        // SAFETY: the callback and its argument came together, and the values live for the call.
        .give(|params| unsafe { callback(params, argument) })
        == 1
}

type Entry = (&'static Row, &'static CStr, &'static [Dispatch]);

/// What is handed to OpenSSL of one operation.
fn list(entries: impl Iterator<Item = Entry>) -> Vec<Algorithm> {
    let algorithms =
        entries.map(|(row, properties, functions)| Algorithm::new(row.names, properties, functions));
    algorithms.chain([Algorithm::END]).collect()
}

unsafe extern "C" fn teardown(context: Opaque) {
    // SAFETY: OpenSSL does this once, after it has freed all that is ours.
    unsafe { release::<Arc<Provider>>(context) };
}

unsafe extern "C" fn gettable(_context: Opaque) -> *const Param {
    static GETTABLE: [Param; 5] = [
        Param::description(c"name", abi::UTF8_PTR),
        Param::description(c"version", abi::UTF8_PTR),
        Param::description(c"buildinfo", abi::UTF8_PTR),
        Param::description(c"status", abi::INTEGER),
        Param::END,
    ];
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get_params(context: Opaque, params: *mut Param) -> c_int {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it, and parameters that are ours for the call.
    let (provider, mut requests) = unsafe { (provider(context), Requests::new(params)) };
    let Some(provider) = provider else { return 0 };
    provider.check(|| {
        requests.fill(|name| {
            Ok(match name.to_bytes() {
                b"name" => Some(Value::Static(c"gambeson: post-quantum and hybrid cryptography")),
                b"version" | b"buildinfo" => Some(Value::Static(VERSION)),
                b"status" => Some(Value::Number(1)),
                _ => None,
            })
        })
    })
}

unsafe extern "C" fn query(context: Opaque, operation: c_int, no_cache: *mut c_int) -> *const Algorithm {
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it, and a place for a number.
    let provider = unsafe {
        if !no_cache.is_null() {
            no_cache.write(0);
        }
        provider(context)
    };
    // The lists stand on the heap of the provider, which OpenSSL keeps as long as it uses them.
    let Some(provider) = provider else { return ptr::null() };
    let list = provider.core.caught(|| {
        Ok(match operation {
            abi::OP_KEYMGMT => provider.keymgmt.as_ptr(),
            abi::OP_KEM => provider.kem.as_ptr(),
            abi::OP_SIGNATURE => provider.signature.as_ptr(),
            abi::OP_ENCODER => provider.encoder.as_ptr(),
            abi::OP_DECODER => provider.decoder.as_ptr(),
            _ => ptr::null(),
        })
    });
    list.unwrap_or(ptr::null())
}

unsafe extern "C" fn reasons(_context: Opaque) -> *const abi::Item {
    Reason::TABLE.as_ptr()
}

unsafe extern "C" fn capabilities(
    context: Opaque,
    capability: *const c_char,
    callback: Option<Callback>,
    argument: Opaque,
) -> c_int {
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it, and a text.
    let (provider, capability) = unsafe { (provider(context), text(capability)) };
    let (Some(provider), Some(callback)) = (provider, callback) else { return 0 };
    let mut taken = false;
    let done = provider.check(|| {
        taken = match capability {
            Some("TLS-GROUP") => provider.groups(callback, argument),
            Some("TLS-SIGALG") => provider.schemes(callback, argument)?,
            _ => false,
        };
        Ok(())
    });
    done & c_int::from(taken)
}
