//! SIGNATURE: signing and verifying, in one call or in pieces (provider-signature(7)).
#![expect(unsafe_code, reason = "functions that OpenSSL calls, with pointers that it hands in")]

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::Arc;

use crate::abi::{self, Dispatch, Opaque, Param};
use crate::border::{Output, bytes, exclusive, provider, release, shared, text};
use crate::error::{Error, Reason};
use crate::key::{Hasher, Key, Pair};
use crate::keymgmt::Held;
use crate::params::{Params, Requests, Value};
use crate::provider::Provider;
use crate::table::Row;

const CONTEXT: &CStr = c"context-string";
const DETERMINISTIC: &CStr = c"deterministic";
const ENCODING: &CStr = c"message-encoding";
const SIGNATURE: &CStr = c"signature";
const ALGORITHM_ID: &CStr = c"algorithm-id";

#[derive(Clone)]
struct Context {
    provider: Arc<Provider>,
    key: Option<(&'static Row, Arc<Pair>)>,
    context: Vec<u8>,
    deterministic: bool,
    /// What a verification in pieces compares with.
    signature: Vec<u8>,
    /// The message so far.
    hasher: Option<Hasher>,
}

/// What every OpenSSL takes, the same for all algorithms: the key knows which it is of. And more before it, for some.
macro_rules! functions {
    ($($more:ident: $function:expr),*) => {
        &[
            $(abi::$more.entry($function),)*
            abi::SIGNATURE_NEWCTX.entry(new),
            abi::SIGNATURE_FREECTX.entry(free),
            abi::SIGNATURE_DUPCTX.entry(dup),
            abi::SIGNATURE_DIGEST_SIGN_INIT.entry(digest_init::<true>),
            abi::SIGNATURE_DIGEST_SIGN_UPDATE.entry(update),
            abi::SIGNATURE_DIGEST_SIGN_FINAL.entry(sign_final),
            abi::SIGNATURE_DIGEST_SIGN.entry(sign),
            abi::SIGNATURE_DIGEST_VERIFY_INIT.entry(digest_init::<false>),
            abi::SIGNATURE_DIGEST_VERIFY_UPDATE.entry(update),
            abi::SIGNATURE_DIGEST_VERIFY_FINAL.entry(verify_final),
            abi::SIGNATURE_DIGEST_VERIFY.entry(verify),
            abi::SIGNATURE_GET_CTX_PARAMS.entry(get_params),
            abi::SIGNATURE_GETTABLE_CTX_PARAMS.entry(gettable),
            abi::SIGNATURE_SET_CTX_PARAMS.entry(set_params),
            abi::SIGNATURE_SETTABLE_CTX_PARAMS.entry(settable),
            Dispatch::END,
        ]
    };
}

/// The functions up to OpenSSL 3.3.
pub static FUNCTIONS: &[Dispatch] = functions!();

/// The functions since OpenSSL 3.4, which can sign messages without naming a digest; before, it takes `SIGNATURE_SIGN` for half of
/// another pair, and the algorithm for broken.
pub static FUNCTIONS_3_4: &[Dispatch] = functions!(
    SIGNATURE_SIGN_MESSAGE_INIT: message_init::<true>,
    SIGNATURE_SIGN_MESSAGE_UPDATE: update,
    SIGNATURE_SIGN_MESSAGE_FINAL: sign_final,
    SIGNATURE_SIGN: sign,
    SIGNATURE_VERIFY_MESSAGE_INIT: message_init::<false>,
    SIGNATURE_VERIFY_MESSAGE_UPDATE: update,
    SIGNATURE_VERIFY_MESSAGE_FINAL: verify_message_final,
    SIGNATURE_VERIFY: verify
);

unsafe extern "C" fn new(context: Opaque, _properties: *const c_char) -> Opaque {
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it.
    let Some(provider) = (unsafe { provider(context) }) else { return ptr::null_mut() };
    Arc::clone(&provider).make(|| {
        Ok(Context {
            provider,
            key: None,
            context: Vec::new(),
            deterministic: false,
            signature: Vec::new(),
            hasher: None,
        })
    })
}

unsafe extern "C" fn free(context: Opaque) {
    // SAFETY: OpenSSL frees a context once, and does not use it after.
    unsafe { release::<Context>(context) };
}

unsafe extern "C" fn dup(context: Opaque) -> Opaque {
    // SAFETY: OpenSSL hands in a context of ours.
    let Some(context) = (unsafe { shared::<Context>(context) }) else { return ptr::null_mut() };
    context.provider.make(|| Ok(context.clone()))
}

unsafe extern "C" fn message_init<const SIGNS: bool>(
    context: Opaque,
    key: Opaque,
    params: *const Param,
) -> c_int {
    // SAFETY: the same as ours, without a digest.
    unsafe { digest_init::<SIGNS>(context, ptr::null(), key, params) }
}

unsafe extern "C" fn digest_init<const SIGNS: bool>(
    context: Opaque,
    digest: *const c_char,
    key: Opaque,
    params: *const Param,
) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, a text, a key of ours, and parameters; they live for the call.
    let (context, digest, held, params) =
        unsafe { (exclusive::<Context>(context), text(digest), shared::<Held>(key), Params::new(params)) };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| {
        if let Some(digest) = digest.filter(|digest| !digest.is_empty()) {
            let detail = format!("these algorithms hash by themselves: {digest} cannot be chosen");
            return Err(Error::new(Reason::DigestNotSupported, detail));
        }
        context.start(held.map(|held| &held.key), SIGNS)?;
        context.set(params)
    })
}

impl Context {
    /// Takes a key, or the one of the last time.
    fn start(&mut self, key: Option<&Key>, signs: bool) -> Result<(), Error> {
        if let Some(key) = key {
            self.key = Some((key.row(), Arc::clone(key.required()?)));
        }
        let pair = self.pair()?;
        if pair.max_signature_len().is_none() {
            return Err(Error::new(Reason::OtherAlgorithm, "a key that encapsulates does not sign"));
        }
        if signs && !pair.has_private() {
            return Err(Error::new(
                Reason::NoKey,
                "signing needs the private key, and there is only a public one",
            ));
        }
        self.context.clear();
        self.signature.clear();
        self.deterministic = false;
        self.hasher = None;
        Ok(())
    }

    fn pair(&self) -> Result<&Arc<Pair>, Error> {
        let missing = || Error::new(Reason::WrongOrder, "no key was given");
        self.key.as_ref().map(|(_, pair)| pair).ok_or_else(missing)
    }

    fn set(&mut self, params: Params<'_>) -> Result<(), Error> {
        if let Some(context) = params.octets(CONTEXT)? {
            if self.hasher.is_some() {
                return Err(Error::new(Reason::WrongOrder, "the context comes before the message"));
            }
            if context.len() > 255 {
                return Err(Error::new(Reason::Parameter, gambeson::mldsa::ContextTooLong));
            }
            self.context = context.to_vec();
        }
        if let Some(deterministic) = params.flag(DETERMINISTIC)? {
            self.deterministic = deterministic;
        }
        if params.flag(ENCODING)? == Some(false) {
            return Err(Error::new(
                Reason::Parameter,
                "messages are encoded as FIPS 204 and FIPS 205 say, not given encoded",
            ));
        }
        if let Some(signature) = params.octets(SIGNATURE)? {
            self.signature = signature.to_vec();
        }
        Ok(())
    }

    fn update(&mut self, message: &[u8]) -> Result<(), Error> {
        let mut hasher = match self.hasher.take() {
            Some(hasher) => hasher,
            None => self.pair()?.hasher(&self.context)?,
        };
        hasher.update(message);
        self.hasher = Some(hasher);
        Ok(())
    }

    /// Signs the message so far. Whoever asks for the length alone keeps it.
    fn sign(&mut self, out: &Output) -> Result<(), Error> {
        let longest = self.pair()?.max_signature_len().unwrap_or_default();
        if out.is_question() {
            return out.answer(longest);
        }
        out.check(longest)?;
        self.update(&[])?;
        let pair = Arc::clone(self.pair()?);
        let hasher = self.hasher.take().ok_or_else(|| Error::new(Reason::WrongOrder, "nothing to sign"))?;
        out.write(&pair.sign(hasher, self.deterministic)?)
    }

    fn verify(&mut self, signature: &[u8]) -> Result<(), Error> {
        self.update(&[])?;
        let pair = Arc::clone(self.pair()?);
        let hasher = self.hasher.take().ok_or_else(|| Error::new(Reason::WrongOrder, "nothing to verify"))?;
        pair.verify(hasher, signature)
    }
}

unsafe extern "C" fn update(context: Opaque, message: *const u8, len: usize) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and bytes.
    let (context, message) = unsafe { (exclusive::<Context>(context), bytes(message, len)) };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| context.update(message))
}

unsafe extern "C" fn sign_final(context: Opaque, out: *mut u8, out_len: *mut usize, room: usize) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and a place.
    let (context, out) = unsafe { (exclusive::<Context>(context), Output::new(out, out_len, Some(room))) };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| context.sign(&out))
}

unsafe extern "C" fn sign(
    context: Opaque,
    out: *mut u8,
    out_len: *mut usize,
    room: usize,
    message: *const u8,
    len: usize,
) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, a place, and bytes.
    let (context, out, message) = unsafe {
        (exclusive::<Context>(context), Output::new(out, out_len, Some(room)), bytes(message, len))
    };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| {
        if !out.is_question() {
            context.hasher = None;
            context.update(message)?;
        }
        context.sign(&out)
    })
}

unsafe extern "C" fn verify_final(context: Opaque, signature: *const u8, len: usize) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and bytes.
    let (context, signature) = unsafe { (exclusive::<Context>(context), bytes(signature, len)) };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| context.verify(signature))
}

unsafe extern "C" fn verify_message_final(context: Opaque) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours.
    let Some(context) = (unsafe { exclusive::<Context>(context) }) else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| {
        let signature = std::mem::take(&mut context.signature);
        context.verify(&signature)
    })
}

unsafe extern "C" fn verify(
    context: Opaque,
    signature: *const u8,
    signature_len: usize,
    message: *const u8,
    len: usize,
) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and bytes.
    let (context, signature, message) =
        unsafe { (exclusive::<Context>(context), bytes(signature, signature_len), bytes(message, len)) };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| {
        context.hasher = None;
        context.update(message)?;
        context.verify(signature)
    })
}

unsafe extern "C" fn get_params(context: Opaque, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and parameters that are ours for the call.
    let (context, mut requests) = unsafe { (shared::<Context>(context), Requests::new(params)) };
    let Some(context) = context else { return 0 };
    context.provider.check(|| {
        let identifier = context.key.as_ref().and_then(|(row, _)| row.algorithm_identifier());
        requests.fill(|name| {
            Ok(if name == ALGORITHM_ID { identifier.as_deref().map(Value::Octets) } else { None })
        })
    })
}

unsafe extern "C" fn gettable(_context: Opaque, _provider: Opaque) -> *const Param {
    static GETTABLE: [Param; 2] = [Param::description(ALGORITHM_ID, abi::OCTET_STRING), Param::END];
    GETTABLE.as_ptr()
}

unsafe extern "C" fn set_params(context: Opaque, params: *const Param) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and parameters that live for the call.
    let (context, params) = unsafe { (exclusive::<Context>(context), Params::new(params)) };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| context.set(params))
}

unsafe extern "C" fn settable(_context: Opaque, _provider: Opaque) -> *const Param {
    static SETTABLE: [Param; 5] = [
        Param::description(CONTEXT, abi::OCTET_STRING),
        Param::description(DETERMINISTIC, abi::INTEGER),
        Param::description(ENCODING, abi::INTEGER),
        Param::description(SIGNATURE, abi::OCTET_STRING),
        Param::END,
    ];
    SETTABLE.as_ptr()
}
