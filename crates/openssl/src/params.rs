//! Arrays of named values: those that OpenSSL hands in, those that it wants filled, and those that we hand to it.
#![expect(unsafe_code, reason = "reads and writes through the pointers of OSSL_PARAM")]

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::{ptr, slice};

use crate::abi::{INTEGER, OCTET_STRING, Opaque, Param, UNSIGNED_INTEGER, UTF8_PTR, UTF8_STRING};
use crate::error::{Error, Reason};

/// What OpenSSL hands in.
#[derive(Clone, Copy)]
pub struct Params<'a> {
    first: *const Param,
    lifetime: PhantomData<&'a Param>,
}

impl<'a> Params<'a> {
    /// # Safety
    /// `first` is null, or points to entries of which the last has no name; names end with NUL; `data` of each, unless null, has
    /// `data_size` bytes. All that lives for `'a`, and nobody writes to it.
    pub const unsafe fn new(first: *const Param) -> Self {
        Self { first, lifetime: PhantomData }
    }

    fn find(self, name: &CStr) -> Option<&'a Param> {
        let mut next = self.first;
        if next.is_null() {
            return None;
        }
        loop {
            // SAFETY: `new`'s caller promised entries up to one without a name, which has not been passed.
            let param = unsafe { &*next };
            if param.key.is_null() {
                return None;
            }
            // SAFETY: `new`'s caller promised that names end with NUL.
            if unsafe { CStr::from_ptr(param.key) } == name {
                return Some(param);
            }
            // SAFETY: this was not the last entry.
            next = unsafe { next.add(1) };
        }
    }

    fn bytes(param: &'a Param) -> &'a [u8] {
        if param.data.is_null() {
            return &[];
        }
        // SAFETY: `new`'s caller promised `data_size` bytes.
        unsafe { slice::from_raw_parts(param.data.cast(), param.data_size) }
    }

    /// The bytes of that name.
    pub fn octets(self, name: &CStr) -> Result<Option<&'a [u8]>, Error> {
        match self.find(name) {
            None => Ok(None),
            Some(param) if param.data_type == OCTET_STRING => Ok(Some(Self::bytes(param))),
            Some(_) => Err(wrong_type(name, "bytes")),
        }
    }

    /// The text of that name, which may or may not have its NUL counted.
    pub fn text(self, name: &CStr) -> Result<Option<&'a str>, Error> {
        match self.find(name) {
            None => Ok(None),
            Some(param) if param.data_type == UTF8_STRING => {
                let bytes = Self::bytes(param);
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                str::from_utf8(&bytes[..end]).map(Some).map_err(|_| wrong_type(name, "UTF-8"))
            }
            Some(_) => Err(wrong_type(name, "a text")),
        }
    }

    /// Whether the number of that name is not zero.
    pub fn flag(self, name: &CStr) -> Result<Option<bool>, Error> {
        match self.find(name) {
            None => Ok(None),
            Some(param) if matches!(param.data_type, INTEGER | UNSIGNED_INTEGER) && param.data_size > 0 => {
                Ok(Some(Self::bytes(param).iter().any(|byte| *byte != 0)))
            }
            Some(_) => Err(wrong_type(name, "a number")),
        }
    }
}

fn wrong_type(name: &CStr, wanted: &str) -> Error {
    Error::new(Reason::Parameter, format!("the parameter {} has to be {wanted}", name.to_string_lossy()))
}

/// What OpenSSL wants filled.
pub struct Requests<'a> {
    first: *mut Param,
    lifetime: PhantomData<&'a mut Param>,
}

/// A value for [`Requests::fill`].
pub enum Value<'a> {
    /// A number that is not negative.
    Number(usize),
    Octets(&'a [u8]),
    /// A text that stays where it is.
    Static(&'static CStr),
}

impl<'a> Requests<'a> {
    /// # Safety
    /// As for [`Params::new`], but that we, and nobody else, write to the entries and the places of their values.
    pub const unsafe fn new(first: *mut Param) -> Self {
        Self { first, lifetime: PhantomData }
    }

    /// Fills each entry whose name `value` knows; the others stay as they are.
    pub fn fill<'v>(
        &mut self,
        mut value: impl FnMut(&CStr) -> Result<Option<Value<'v>>, Error>,
    ) -> Result<(), Error> {
        let mut next = self.first;
        if next.is_null() {
            return Ok(());
        }
        loop {
            // SAFETY: `new`'s caller promised entries up to one without a name, which has not been passed; they are ours.
            let param = unsafe { &mut *next };
            if param.key.is_null() {
                return Ok(());
            }
            // SAFETY: `new`'s caller promised that names end with NUL.
            let name = unsafe { CStr::from_ptr(param.key) };
            if let Some(value) = value(name)? {
                write(param, name, &value)?;
            }
            // SAFETY: this was not the last entry.
            next = unsafe { next.add(1) };
        }
    }
}

fn write(param: &mut Param, name: &CStr, value: &Value<'_>) -> Result<(), Error> {
    match (param.data_type, value) {
        (INTEGER | UNSIGNED_INTEGER, Value::Number(number)) => {
            let size = if param.data.is_null() { size_of::<usize>() } else { param.data_size };
            let mut bytes = vec![0; size.max(size_of::<usize>())];
            bytes[..size_of::<usize>()].copy_from_slice(&number.to_le_bytes());
            let lost = bytes.split_off(size);
            let negative = param.data_type == INTEGER && bytes.last().is_some_and(|byte| byte >> 7 == 1);
            if lost.iter().any(|byte| *byte != 0) || negative {
                return Err(too_small(name));
            }
            if cfg!(target_endian = "big") {
                bytes.reverse();
            }
            copy(param, name, &bytes, 0)
        }
        (UTF8_STRING, Value::Static(text)) => copy(param, name, text.to_bytes(), 1),
        (OCTET_STRING, Value::Octets(octets)) => copy(param, name, octets, 0),
        (UTF8_PTR, Value::Static(text)) => {
            param.return_size = text.to_bytes().len();
            if !param.data.is_null() {
                // SAFETY: data of this type is a place for one pointer, and it is ours.
                unsafe { param.data.cast::<*const std::ffi::c_char>().write_unaligned(text.as_ptr()) };
            }
            Ok(())
        }
        _ => Err(wrong_type(name, "of the type that is described")),
    }
}

/// Copies with `nul` zeros behind, if there is room for them; without a place, only the size is told.
fn copy(param: &mut Param, name: &CStr, bytes: &[u8], nul: usize) -> Result<(), Error> {
    param.return_size = bytes.len();
    if param.data.is_null() {
        return Ok(());
    }
    if param.data_size < bytes.len() {
        return Err(too_small(name));
    }
    // SAFETY: `data_size` bytes are ours (`Requests::new`), and that many fit.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), param.data.cast(), bytes.len()) };
    if param.data_size >= bytes.len() + nul {
        // SAFETY: so many more bytes fit, too.
        unsafe { ptr::write_bytes(param.data.cast::<u8>().add(bytes.len()), 0, nul) };
    }
    Ok(())
}

fn too_small(name: &CStr) -> Error {
    Error::new(Reason::Parameter, format!("no room for the value of {}", name.to_string_lossy()))
}

/// What we hand to OpenSSL: values that live for `'a`, up to [`Param::END`].
pub struct Values<'a> {
    params: Vec<Param>,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> Values<'a> {
    pub const fn new() -> Self {
        Self { params: Vec::new(), lifetime: PhantomData }
    }

    fn push(mut self, key: &'static CStr, data_type: c_uint, data: *const c_void, data_size: usize) -> Self {
        self.params.push(Param { data: data.cast_mut(), data_size, ..Param::description(key, data_type) });
        self
    }

    pub fn octets(self, key: &'static CStr, octets: &'a [u8]) -> Self {
        self.push(key, OCTET_STRING, octets.as_ptr().cast(), octets.len())
    }

    pub fn text(self, key: &'static CStr, text: &'a CStr) -> Self {
        self.push(key, UTF8_STRING, text.as_ptr().cast(), text.to_bytes().len())
    }

    /// A pointer that OpenSSL takes for bytes, and that may be replaced where it stands.
    pub fn pointer(self, key: &'static CStr, place: &'a mut Opaque) -> Self {
        self.push(key, OCTET_STRING, ptr::from_mut(place).cast_const().cast(), size_of::<Opaque>())
    }

    pub fn integer(self, key: &'static CStr, number: &'a c_int) -> Self {
        self.push(key, INTEGER, ptr::from_ref(number).cast(), size_of::<c_int>())
    }

    pub fn unsigned(self, key: &'static CStr, number: &'a c_uint) -> Self {
        self.push(key, UNSIGNED_INTEGER, ptr::from_ref(number).cast(), size_of::<c_uint>())
    }

    /// Calls `take` with the array.
    pub fn give<R>(mut self, take: impl FnOnce(*const Param) -> R) -> R {
        self.params.push(Param::END);
        take(self.params.as_ptr())
    }
}
