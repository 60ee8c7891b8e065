//! KEM: encapsulation and decapsulation (provider-kem(7)).
#![expect(unsafe_code, reason = "functions that OpenSSL calls, with pointers that it hands in")]

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::abi::{self, Dispatch, Opaque, Param};
use crate::border::{Output, bytes, exclusive, provider, release, shared};
use crate::error::{Error, Reason};
use crate::key::Pair;
use crate::keymgmt::Held;
use crate::params::Params;
use crate::provider::Provider;

/// The randomness of an encapsulation that is to be repeated, in tests: m of ML-KEM, then the scalar of the curve.
const RANDOMNESS: &CStr = c"ikme";

#[derive(Clone)]
struct Context {
    provider: Arc<Provider>,
    pair: Option<Arc<Pair>>,
    randomness: Option<Zeroizing<Vec<u8>>>,
}

/// The functions, the same for all algorithms: the key knows which it is of.
pub static FUNCTIONS: &[Dispatch] = &[
    abi::KEM_NEWCTX.entry(new),
    abi::KEM_FREECTX.entry(free),
    abi::KEM_DUPCTX.entry(dup),
    abi::KEM_ENCAPSULATE_INIT.entry(init),
    abi::KEM_ENCAPSULATE.entry(encapsulate),
    abi::KEM_DECAPSULATE_INIT.entry(init),
    abi::KEM_DECAPSULATE.entry(decapsulate),
    abi::KEM_SET_CTX_PARAMS.entry(set_params),
    abi::KEM_SETTABLE_CTX_PARAMS.entry(settable),
    Dispatch::END,
];

unsafe extern "C" fn new(context: Opaque) -> Opaque {
    // SAFETY: OpenSSL hands in what `OSSL_provider_init` gave it.
    let Some(provider) = (unsafe { provider(context) }) else { return ptr::null_mut() };
    Arc::clone(&provider).make(|| Ok(Context { provider, pair: None, randomness: None }))
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

unsafe extern "C" fn init(context: Opaque, key: Opaque, params: *const Param) -> c_int {
    // SAFETY: OpenSSL hands in a context and a key of ours, and parameters that live for the call.
    let (context, held, params) =
        unsafe { (exclusive::<Context>(context), shared::<Held>(key), Params::new(params)) };
    let (Some(context), Some(held)) = (context, held) else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| {
        let pair = held.key.required()?;
        if pair.kem_lengths().is_none() {
            return Err(Error::new(Reason::OtherAlgorithm, "a key that signs does not encapsulate"));
        }
        context.pair = Some(Arc::clone(pair));
        context.randomness = None;
        context.set(params)
    })
}

impl Context {
    fn set(&mut self, params: Params<'_>) -> Result<(), Error> {
        if let Some(randomness) = params.octets(RANDOMNESS)? {
            self.randomness = Some(Zeroizing::new(randomness.to_vec()));
        }
        Ok(())
    }

    fn pair(&self) -> Result<(&Pair, usize, usize), Error> {
        let missing = || Error::new(Reason::WrongOrder, "no key was given");
        let pair = self.pair.as_deref().ok_or_else(missing)?;
        let (ciphertext, secret) = pair.kem_lengths().ok_or_else(missing)?;
        Ok((pair, ciphertext, secret))
    }
}

unsafe extern "C" fn encapsulate(
    context: Opaque,
    out: *mut u8,
    out_len: *mut usize,
    secret: *mut u8,
    secret_len: *mut usize,
) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and places with their lengths.
    let (context, out, place) = unsafe {
        (
            exclusive::<Context>(context),
            Output::new(out, out_len, None),
            Output::new(secret, secret_len, None),
        )
    };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| {
        let (pair, ciphertext_len, secret_len) = context.pair()?;
        if out.is_question() {
            if !out.is_asked() && !place.is_asked() {
                return Err(Error::new(Reason::Parameter, "no place for either length"));
            }
            out.answer_if_asked(ciphertext_len);
            place.answer_if_asked(secret_len);
            return Ok(());
        }
        if place.is_question() {
            return Err(Error::new(Reason::Parameter, "no place for the secret"));
        }
        out.check(ciphertext_len)?;
        place.check(secret_len)?;
        let (ciphertext, secret) = pair.encapsulate(context.randomness.as_ref().map(|bytes| &bytes[..]))?;
        context.randomness = None;
        out.write(&ciphertext)?;
        place.write(&secret)
    })
}

unsafe extern "C" fn decapsulate(
    context: Opaque,
    secret: *mut u8,
    secret_len: *mut usize,
    ciphertext: *const u8,
    ciphertext_len: usize,
) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, a place with its length, and bytes.
    let (context, place, ciphertext) = unsafe {
        (shared::<Context>(context), Output::new(secret, secret_len, None), bytes(ciphertext, ciphertext_len))
    };
    let Some(context) = context else { return 0 };
    context.provider.check(|| {
        let (pair, _, secret_len) = context.pair()?;
        if place.is_question() {
            return place.answer(secret_len);
        }
        place.check(secret_len)?;
        place.write(&pair.decapsulate(ciphertext)?)
    })
}

unsafe extern "C" fn set_params(context: Opaque, params: *const Param) -> c_int {
    // SAFETY: OpenSSL hands in a context of ours, and parameters that live for the call.
    let (context, params) = unsafe { (exclusive::<Context>(context), Params::new(params)) };
    let Some(context) = context else { return 0 };
    let provider = Arc::clone(&context.provider);
    provider.check(|| context.set(params))
}

unsafe extern "C" fn settable(_context: Opaque, _provider: Opaque) -> *const Param {
    static SETTABLE: [Param; 2] = [Param::description(RANDOMNESS, abi::OCTET_STRING), Param::END];
    SETTABLE.as_ptr()
}
