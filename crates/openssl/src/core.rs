//! What OpenSSL offers to a provider.
#![expect(unsafe_code, reason = "calls functions of OpenSSL")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

use zeroize::Zeroizing;

use crate::abi::{self, Dispatch, Opaque, Param, PassphraseCallback};
use crate::error::{Error, Reason};
use crate::table::{Row, Version};

/// The handle that OpenSSL knows us by, and those of its functions that are used here.
#[derive(Clone, Copy)]
pub struct Core {
    handle: Opaque,
    get_params: Option<unsafe extern "C" fn(Opaque, *mut Param) -> c_int>,
    new_error: Option<unsafe extern "C" fn(Opaque)>,
    set_error_debug: Option<unsafe extern "C" fn(Opaque, *const c_char, c_int, *const c_char)>,
    vset_error: Option<unsafe extern "C" fn(Opaque, u32, *const c_char, Opaque)>,
    add_sigid: Option<abi::ObjectTexts>,
    create_object: Option<abi::ObjectTexts>,
    read: Option<unsafe extern "C" fn(Opaque, *mut std::ffi::c_void, usize, *mut usize) -> c_int>,
    write: Option<unsafe extern "C" fn(Opaque, *const std::ffi::c_void, usize, *mut usize) -> c_int>,
}

// SAFETY: OpenSSL allows its functions, and our handle, in any thread.
unsafe impl Send for Core {}
// SAFETY: the same.
unsafe impl Sync for Core {}

/// Longest passphrase that is asked for; OpenSSL's own limit.
const MAX_PASSPHRASE: usize = 1024;

impl Core {
    /// # Safety
    /// `handle` and `functions` are those that OpenSSL handed to `OSSL_provider_init`; they live until teardown.
    pub unsafe fn new(handle: Opaque, functions: *const Dispatch) -> Self {
        // SAFETY: OpenSSL's table ends with zeros.
        unsafe {
            Self {
                handle,
                get_params: abi::CORE_GET_PARAMS.find(functions),
                new_error: abi::CORE_NEW_ERROR.find(functions),
                set_error_debug: abi::CORE_SET_ERROR_DEBUG.find(functions),
                vset_error: abi::CORE_VSET_ERROR.find(functions),
                add_sigid: abi::CORE_OBJ_ADD_SIGID.find(functions),
                create_object: abi::CORE_OBJ_CREATE.find(functions),
                read: abi::BIO_READ_EX.find(functions),
                write: abi::BIO_WRITE_EX.find(functions),
            }
        }
    }

    /// A text from the core: `openssl-version`, or what stands under that name in our section of the configuration.
    pub fn setting(&self, name: &'static CStr) -> Option<String> {
        let mut text: *const c_char = ptr::null();
        let mut params = [
            Param {
                data: ptr::from_mut(&mut text).cast(),
                data_size: size_of::<*const c_char>(),
                ..Param::description(name, abi::UTF8_PTR)
            },
            Param::END,
        ];
        // SAFETY: the parameters are as OSSL_PARAM(3) wants them, and live for the call.
        let known = unsafe { self.get_params?(self.handle, params.as_mut_ptr()) };
        if known != 1 || text.is_null() {
            return None;
        }
        // SAFETY: the core has set the pointer to a text of its own, which ends with NUL.
        unsafe { CStr::from_ptr(text) }.to_str().ok().map(str::to_owned)
    }

    /// The version of the library that loads us; 3.0 if it does not tell.
    pub fn version(&self) -> Version {
        self.setting(c"openssl-version").and_then(|text| version(&text)).unwrap_or((3, 0))
    }

    /// Makes the names of an algorithm known to the library's table of objects, and that signatures are called like keys.
    pub fn register(&self, row: &Row) -> Result<(), Error> {
        let Some(object) = &row.object else { return Ok(()) };
        let (Some(create), Some(add_sigid)) = (self.create_object, self.add_sigid) else { return Ok(()) };
        let (oid, short, long) = (object.oid.as_ptr(), object.short.as_ptr(), row.name.as_ptr());
        // SAFETY: the texts are statics that end with NUL; the library copies them.
        let created = unsafe { create(self.handle, oid, short, long) };
        let added = created == 1
            && (!row.scheme.signs()
                // SAFETY: the same.
                || unsafe { add_sigid(self.handle, oid, c"".as_ptr(), oid) } == 1);
        if added {
            return Ok(());
        }
        let name = row.name.to_string_lossy();
        Err(Error::new(Reason::Internal, format!("OpenSSL does not take the object identifier of {name}")))
    }

    /// Puts an error into the library's queue.
    pub fn report(&self, error: &Error) {
        let (Some(new_error), Some(set_debug), Some(vset)) =
            (self.new_error, self.set_error_debug, self.vset_error)
        else {
            return;
        };
        // What stands there is a format: nothing in it may ask for an argument.
        let detail = error.detail.replace('%', "%%").replace('\0', "");
        let (Ok(detail), Ok(file)) = (CString::new(detail), CString::new(error.place.file())) else { return };
        let line = c_int::try_from(error.place.line()).unwrap_or(0);
        // On every platform a `va_list` is a pointer, or handed over by one; this much room holds each kind of it.
        let mut no_arguments = [0_u64; 16];
        // SAFETY: the texts end with NUL and live for the calls, which copy them; the format reads no argument.
        unsafe {
            new_error(self.handle);
            set_debug(self.handle, file.as_ptr(), line, c"gambeson".as_ptr());
            vset(self.handle, error.reason as u32, detail.as_ptr(), no_arguments.as_mut_ptr().cast());
        }
    }

    /// Reads up to `len` bytes, fewer at the end of the stream.
    pub fn read(&self, bio: Opaque, len: usize) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; len]);
        let mut filled = 0;
        while let Some(read) = self.read
            && filled < len
        {
            let mut more = 0;
            let rest = &mut bytes[filled..];
            // SAFETY: the bio is the one that the core handed in, and the place has as many bytes as is said.
            let done = unsafe { read(bio, rest.as_mut_ptr().cast(), rest.len(), &raw mut more) };
            if done != 1 || more == 0 {
                break;
            }
            filled += more.min(rest.len());
        }
        bytes.truncate(filled);
        bytes
    }

    /// Writes all bytes.
    pub fn write(&self, bio: Opaque, mut bytes: &[u8]) -> Result<(), Error> {
        let failed = || Error::new(Reason::InputOutput, "OpenSSL takes no more bytes");
        let write = self.write.ok_or_else(failed)?;
        while !bytes.is_empty() {
            let mut written = 0;
            // SAFETY: the bio is the one that the core handed in, and that many bytes are there.
            let done = unsafe { write(bio, bytes.as_ptr().cast(), bytes.len(), &raw mut written) };
            if done != 1 || written == 0 {
                return Err(failed());
            }
            bytes = bytes.get(written..).ok_or_else(failed)?;
        }
        Ok(())
    }
}

/// Asks OpenSSL for a passphrase, to encrypt with.
///
/// # Safety
/// `callback` and `argument` are those that OpenSSL handed to the running call.
pub unsafe fn passphrase(
    callback: Option<PassphraseCallback>,
    argument: Opaque,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let none = || Error::new(Reason::Passphrase, "a key is to be encrypted, and OpenSSL gives no passphrase");
    let callback = callback.ok_or_else(none)?;
    let mut text = Zeroizing::new(vec![0_u8; MAX_PASSPHRASE]);
    let mut len = 0;
    let params = [Param::END];
    // SAFETY: the place has as many bytes as is said, and the caller vouches for the callback.
    let given =
        unsafe { callback(text.as_mut_ptr().cast(), text.len(), &raw mut len, params.as_ptr(), argument) };
    if given != 1 || len > text.len() {
        return Err(none());
    }
    text.truncate(len);
    Ok(text)
}

/// `3.0` of `3.0.19`.
fn version(text: &str) -> Option<Version> {
    let mut numbers = text.split(['.', '-']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_read_with_and_without_what_follows() {
        assert_eq!(super::version("3.0.19"), Some((3, 0)));
        assert_eq!(super::version("4.1.0-dev"), Some((4, 1)));
        assert_eq!(super::version("3.5"), Some((3, 5)));
        assert_eq!(super::version("three"), None);
    }
}
