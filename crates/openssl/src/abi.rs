//! What OpenSSL and a provider hand to each other: the layouts, numbers and function types of its public manual pages
//! (provider(7), provider-base(7), provider-keymgmt(7), provider-kem(7), provider-signature(7), provider-encoder(7),
//! provider-decoder(7), OSSL_PARAM(3), OSSL_DISPATCH(3)).
//!
//! A number and the type of its function are one constant, [`Id`], so that a function of the wrong type does not compile.
#![expect(
    unsafe_code,
    reason = "the border to C: function pointers without a type, and arrays that end by a mark"
)]

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void};
use std::marker::PhantomData;
use std::mem::{size_of, transmute_copy};
use std::ptr;

/// `OSSL_DISPATCH`: a function by its number; the last of an array is all zeros.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dispatch {
    id: c_int,
    function: Option<unsafe extern "C" fn()>,
}

impl Dispatch {
    /// What an array ends with.
    pub const END: Self = Self { id: 0, function: None };
}

/// The number of a function, and its type `F`.
pub struct Id<F>(c_int, PhantomData<fn() -> F>);

impl<F: Copy> Id<F> {
    const fn new(id: c_int) -> Self {
        assert!(size_of::<F>() == size_of::<unsafe extern "C" fn()>(), "F is a function pointer");
        Self(id, PhantomData)
    }

    /// An entry of a table that is handed to OpenSSL.
    pub const fn entry(&self, function: F) -> Dispatch {
        // SAFETY: `new` has seen that F has the size of a function pointer, and every F in this file is one; C, too, stores
        // functions of all types in this one. OpenSSL calls it as what the number says, which is F.
        Dispatch { id: self.0, function: Some(unsafe { transmute_copy(&function) }) }
    }

    /// The function in a table that OpenSSL handed to us, if it is there.
    ///
    /// # Safety
    /// `table` points to entries, of which the last has the number 0.
    pub unsafe fn find(&self, mut table: *const Dispatch) -> Option<F> {
        loop {
            // SAFETY: the caller's promise, and the last entry has not been passed.
            let entry = unsafe { table.read() };
            match entry.function {
                _ if entry.id == 0 => return None,
                // SAFETY: as in `entry`, the other way: OpenSSL stores a function of type F under this number.
                Some(function) if entry.id == self.0 => return Some(unsafe { transmute_copy(&function) }),
                // SAFETY: this was not the last entry.
                _ => table = unsafe { table.add(1) },
            }
        }
    }
}

/// `OSSL_ALGORITHM`: names with colons between them, properties, and functions.
#[repr(C)]
pub struct Algorithm {
    pub names: *const c_char,
    pub properties: *const c_char,
    pub functions: *const Dispatch,
    pub description: *const c_char,
}

// SAFETY: all that it points to is in statics, which nobody writes to.
unsafe impl Send for Algorithm {}
// SAFETY: the same.
unsafe impl Sync for Algorithm {}

impl Algorithm {
    /// What an array ends with.
    pub const END: Self = Self {
        names: ptr::null(),
        properties: ptr::null(),
        functions: ptr::null(),
        description: ptr::null(),
    };

    pub fn new(names: &'static CStr, properties: &'static CStr, functions: &'static [Dispatch]) -> Self {
        Self {
            names: names.as_ptr(),
            properties: properties.as_ptr(),
            functions: functions.as_ptr(),
            description: ptr::null(),
        }
    }
}

/// `OSSL_PARAM`: a value, or the place for one, by name; the last of an array has no name.
#[repr(C)]
pub struct Param {
    pub key: *const c_char,
    pub data_type: c_uint,
    pub data: *mut c_void,
    pub data_size: usize,
    pub return_size: usize,
}

// SAFETY: the only ones that threads share are descriptions in statics: no data, and nobody writes to them.
unsafe impl Sync for Param {}

pub const INTEGER: c_uint = 1;
pub const UNSIGNED_INTEGER: c_uint = 2;
pub const UTF8_STRING: c_uint = 4;
pub const OCTET_STRING: c_uint = 5;
pub const UTF8_PTR: c_uint = 6;

/// What `return_size` is before anything was returned.
const UNMODIFIED: usize = usize::MAX;

impl Param {
    /// What an array ends with.
    pub const END: Self =
        Self { key: ptr::null(), data_type: 0, data: ptr::null_mut(), data_size: 0, return_size: 0 };

    /// A name and a type without a value, as lists of what can be got or set have them.
    pub const fn description(key: &'static CStr, data_type: c_uint) -> Self {
        Self { key: key.as_ptr(), data_type, data: ptr::null_mut(), data_size: 0, return_size: UNMODIFIED }
    }
}

/// `OSSL_ITEM`: a number and a text.
#[repr(C)]
pub struct Item {
    pub id: c_uint,
    pub text: *const c_char,
}

// SAFETY: the texts are in statics.
unsafe impl Sync for Item {}

/// `OSSL_CORE_HANDLE`, `OSSL_CORE_BIO`, and what OpenSSL passes on for others: known by their addresses alone.
pub type Opaque = *mut c_void;
/// `OSSL_CALLBACK`
pub type Callback = unsafe extern "C" fn(*const Param, Opaque) -> c_int;
/// `OSSL_PASSPHRASE_CALLBACK`
pub type PassphraseCallback =
    unsafe extern "C" fn(*mut c_char, usize, *mut usize, *const Param, Opaque) -> c_int;

// The shapes that more than one function has.
type New = unsafe extern "C" fn(Opaque) -> Opaque;
type Free = unsafe extern "C" fn(Opaque);
type Params = unsafe extern "C" fn(Opaque, *const Param) -> c_int;
type ParamsOut = unsafe extern "C" fn(Opaque, *mut Param) -> c_int;
type Described = unsafe extern "C" fn(Opaque) -> *const Param;
type DescribedFor = unsafe extern "C" fn(Opaque, Opaque) -> *const Param;
type Init = unsafe extern "C" fn(Opaque, Opaque, *const Param) -> c_int;

// What OpenSSL offers (provider-base(7)).
pub const CORE_GET_PARAMS: Id<ParamsOut> = Id::new(2);
pub const CORE_NEW_ERROR: Id<Free> = Id::new(5);
pub const CORE_SET_ERROR_DEBUG: Id<unsafe extern "C" fn(Opaque, *const c_char, c_int, *const c_char)> =
    Id::new(6);
/// Its last argument is a `va_list`.
pub const CORE_VSET_ERROR: Id<unsafe extern "C" fn(Opaque, u32, *const c_char, Opaque)> = Id::new(7);
pub const CORE_OBJ_ADD_SIGID: Id<ObjectTexts> = Id::new(11);
pub const CORE_OBJ_CREATE: Id<ObjectTexts> = Id::new(12);
pub const BIO_READ_EX: Id<unsafe extern "C" fn(Opaque, *mut c_void, usize, *mut usize) -> c_int> =
    Id::new(42);
pub const BIO_WRITE_EX: Id<unsafe extern "C" fn(Opaque, *const c_void, usize, *mut usize) -> c_int> =
    Id::new(43);
pub type ObjectTexts = unsafe extern "C" fn(Opaque, *const c_char, *const c_char, *const c_char) -> c_int;

// What a provider offers (provider-base(7)).
pub const PROVIDER_TEARDOWN: Id<Free> = Id::new(1024);
pub const PROVIDER_GETTABLE_PARAMS: Id<Described> = Id::new(1025);
pub const PROVIDER_GET_PARAMS: Id<ParamsOut> = Id::new(1026);
pub const PROVIDER_QUERY_OPERATION: Id<unsafe extern "C" fn(Opaque, c_int, *mut c_int) -> *const Algorithm> =
    Id::new(1027);
pub const PROVIDER_GET_REASON_STRINGS: Id<unsafe extern "C" fn(Opaque) -> *const Item> = Id::new(1029);
pub const PROVIDER_GET_CAPABILITIES: Id<
    unsafe extern "C" fn(Opaque, *const c_char, Option<Callback>, Opaque) -> c_int,
> = Id::new(1030);

// Operations (provider(7)).
pub const OP_KEYMGMT: c_int = 10;
pub const OP_SIGNATURE: c_int = 12;
pub const OP_KEM: c_int = 14;
pub const OP_ENCODER: c_int = 20;
pub const OP_DECODER: c_int = 21;

// provider-keymgmt(7)
pub const KEYMGMT_NEW: Id<New> = Id::new(1);
pub const KEYMGMT_GEN_INIT: Id<unsafe extern "C" fn(Opaque, c_int, *const Param) -> Opaque> = Id::new(2);
pub const KEYMGMT_GEN_SET_PARAMS: Id<Params> = Id::new(4);
pub const KEYMGMT_GEN_SETTABLE_PARAMS: Id<DescribedFor> = Id::new(5);
pub const KEYMGMT_GEN: Id<unsafe extern "C" fn(Opaque, Option<Callback>, Opaque) -> Opaque> = Id::new(6);
pub const KEYMGMT_GEN_CLEANUP: Id<Free> = Id::new(7);
pub const KEYMGMT_LOAD: Id<unsafe extern "C" fn(*const c_void, usize) -> Opaque> = Id::new(8);
pub const KEYMGMT_FREE: Id<Free> = Id::new(10);
pub const KEYMGMT_GET_PARAMS: Id<ParamsOut> = Id::new(11);
pub const KEYMGMT_GETTABLE_PARAMS: Id<Described> = Id::new(12);
pub const KEYMGMT_SET_PARAMS: Id<Params> = Id::new(13);
pub const KEYMGMT_SETTABLE_PARAMS: Id<Described> = Id::new(14);
pub const KEYMGMT_HAS: Id<unsafe extern "C" fn(*const c_void, c_int) -> c_int> = Id::new(21);
pub const KEYMGMT_VALIDATE: Id<unsafe extern "C" fn(*const c_void, c_int, c_int) -> c_int> = Id::new(22);
pub const KEYMGMT_MATCH: Id<unsafe extern "C" fn(*const c_void, *const c_void, c_int) -> c_int> = Id::new(23);
pub const KEYMGMT_IMPORT: Id<unsafe extern "C" fn(Opaque, c_int, *const Param) -> c_int> = Id::new(40);
pub const KEYMGMT_IMPORT_TYPES: Id<unsafe extern "C" fn(c_int) -> *const Param> = Id::new(41);
pub const KEYMGMT_EXPORT: Id<unsafe extern "C" fn(Opaque, c_int, Option<Callback>, Opaque) -> c_int> =
    Id::new(42);
pub const KEYMGMT_EXPORT_TYPES: Id<unsafe extern "C" fn(c_int) -> *const Param> = Id::new(43);
pub const KEYMGMT_DUP: Id<unsafe extern "C" fn(*const c_void, c_int) -> Opaque> = Id::new(44);

/// What of a key is meant, in bits.
pub const SELECT_PRIVATE_KEY: c_int = 0x01;
pub const SELECT_PUBLIC_KEY: c_int = 0x02;
pub const SELECT_KEYPAIR: c_int = 0x03;

// provider-kem(7)
pub const KEM_NEWCTX: Id<New> = Id::new(1);
pub const KEM_ENCAPSULATE_INIT: Id<Init> = Id::new(2);
pub const KEM_ENCAPSULATE: Id<
    unsafe extern "C" fn(Opaque, *mut c_uchar, *mut usize, *mut c_uchar, *mut usize) -> c_int,
> = Id::new(3);
pub const KEM_DECAPSULATE_INIT: Id<Init> = Id::new(4);
pub const KEM_DECAPSULATE: Id<
    unsafe extern "C" fn(Opaque, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int,
> = Id::new(5);
pub const KEM_FREECTX: Id<Free> = Id::new(6);
pub const KEM_DUPCTX: Id<New> = Id::new(7);
pub const KEM_SET_CTX_PARAMS: Id<Params> = Id::new(10);
pub const KEM_SETTABLE_CTX_PARAMS: Id<DescribedFor> = Id::new(11);

// provider-signature(7); the last six since OpenSSL 3.4
pub type SignOneShot =
    unsafe extern "C" fn(Opaque, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
pub type VerifyOneShot = unsafe extern "C" fn(Opaque, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
type DigestInit = unsafe extern "C" fn(Opaque, *const c_char, Opaque, *const Param) -> c_int;
type Update = unsafe extern "C" fn(Opaque, *const c_uchar, usize) -> c_int;
type SignFinal = unsafe extern "C" fn(Opaque, *mut c_uchar, *mut usize, usize) -> c_int;
pub const SIGNATURE_NEWCTX: Id<unsafe extern "C" fn(Opaque, *const c_char) -> Opaque> = Id::new(1);
pub const SIGNATURE_SIGN: Id<SignOneShot> = Id::new(3);
pub const SIGNATURE_VERIFY: Id<VerifyOneShot> = Id::new(5);
pub const SIGNATURE_DIGEST_SIGN_INIT: Id<DigestInit> = Id::new(8);
pub const SIGNATURE_DIGEST_SIGN_UPDATE: Id<Update> = Id::new(9);
pub const SIGNATURE_DIGEST_SIGN_FINAL: Id<SignFinal> = Id::new(10);
pub const SIGNATURE_DIGEST_SIGN: Id<SignOneShot> = Id::new(11);
pub const SIGNATURE_DIGEST_VERIFY_INIT: Id<DigestInit> = Id::new(12);
pub const SIGNATURE_DIGEST_VERIFY_UPDATE: Id<Update> = Id::new(13);
pub const SIGNATURE_DIGEST_VERIFY_FINAL: Id<unsafe extern "C" fn(Opaque, *const c_uchar, usize) -> c_int> =
    Id::new(14);
pub const SIGNATURE_DIGEST_VERIFY: Id<VerifyOneShot> = Id::new(15);
pub const SIGNATURE_FREECTX: Id<Free> = Id::new(16);
pub const SIGNATURE_DUPCTX: Id<New> = Id::new(17);
pub const SIGNATURE_GET_CTX_PARAMS: Id<ParamsOut> = Id::new(18);
pub const SIGNATURE_GETTABLE_CTX_PARAMS: Id<DescribedFor> = Id::new(19);
pub const SIGNATURE_SET_CTX_PARAMS: Id<Params> = Id::new(20);
pub const SIGNATURE_SETTABLE_CTX_PARAMS: Id<DescribedFor> = Id::new(21);
pub const SIGNATURE_SIGN_MESSAGE_INIT: Id<Init> = Id::new(27);
pub const SIGNATURE_SIGN_MESSAGE_UPDATE: Id<Update> = Id::new(28);
pub const SIGNATURE_SIGN_MESSAGE_FINAL: Id<SignFinal> = Id::new(29);
pub const SIGNATURE_VERIFY_MESSAGE_INIT: Id<Init> = Id::new(30);
pub const SIGNATURE_VERIFY_MESSAGE_UPDATE: Id<Update> = Id::new(31);
pub const SIGNATURE_VERIFY_MESSAGE_FINAL: Id<unsafe extern "C" fn(Opaque) -> c_int> = Id::new(32);

// provider-encoder(7)
pub const ENCODER_NEWCTX: Id<New> = Id::new(1);
pub const ENCODER_FREECTX: Id<Free> = Id::new(2);
pub const ENCODER_SET_CTX_PARAMS: Id<Params> = Id::new(5);
pub const ENCODER_SETTABLE_CTX_PARAMS: Id<Described> = Id::new(6);
pub const ENCODER_DOES_SELECTION: Id<unsafe extern "C" fn(Opaque, c_int) -> c_int> = Id::new(10);
pub const ENCODER_ENCODE: Id<
    unsafe extern "C" fn(
        Opaque,
        Opaque,
        *const c_void,
        *const Param,
        c_int,
        Option<PassphraseCallback>,
        Opaque,
    ) -> c_int,
> = Id::new(11);

// provider-decoder(7)
pub const DECODER_NEWCTX: Id<New> = Id::new(1);
pub const DECODER_FREECTX: Id<Free> = Id::new(2);
pub const DECODER_DOES_SELECTION: Id<unsafe extern "C" fn(Opaque, c_int) -> c_int> = Id::new(10);
pub const DECODER_DECODE: Id<
    unsafe extern "C" fn(
        Opaque,
        Opaque,
        c_int,
        Option<Callback>,
        Opaque,
        Option<PassphraseCallback>,
        Opaque,
    ) -> c_int,
> = Id::new(11);
pub const DECODER_EXPORT_OBJECT: Id<
    unsafe extern "C" fn(Opaque, *const c_void, usize, Option<Callback>, Opaque) -> c_int,
> = Id::new(20);
/// `OSSL_OBJECT_PKEY`
pub const OBJECT_PKEY: c_int = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_ends_with_the_number_0_and_may_lack_functions() {
        unsafe extern "C" fn free(_: Opaque) {}
        let null = |id| Dispatch { id, function: None };
        let there = Dispatch { id: 0, ..CORE_NEW_ERROR.entry(free) };
        let after = CORE_NEW_ERROR.entry(free);
        // SAFETY: each table has an entry of number 0.
        let find = |table: &[Dispatch]| unsafe { CORE_NEW_ERROR.find(table.as_ptr()) }.is_some();
        assert!(find(&[null(4), null(5), after, Dispatch::END]));
        assert!(!find(&[null(5), there, after]));
        assert!(!find(&[Dispatch::END, after]));
    }
}
