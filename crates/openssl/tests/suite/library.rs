//! A stand-in for OpenSSL that loads the provider into this process and calls its functions by number, as the library does. The
//! layouts are written here a second time, so that a mistake in the first is seen.
#![allow(dead_code, reason = "tests and the fuzz target use parts")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem::transmute_copy;
use std::ptr;

pub type Pointer = *mut c_void;

#[repr(C)]
struct Dispatch(c_int, *const c_void);

#[repr(C)]
struct Algorithm {
    names: *const c_char,
    properties: *const c_char,
    functions: *const Dispatch,
    description: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Param {
    pub key: *const c_char,
    pub data_type: c_uint,
    pub data: Pointer,
    pub data_size: usize,
    pub return_size: usize,
}

pub const INTEGER: c_uint = 1;
pub const UTF8: c_uint = 4;
pub const OCTETS: c_uint = 5;
pub const END: Param =
    Param { key: ptr::null(), data_type: 0, data: ptr::null_mut(), data_size: 0, return_size: 0 };

pub const KEYMGMT: c_int = 10;
pub const SIGNATURE: c_int = 12;
pub const KEM: c_int = 14;
pub const ENCODER: c_int = 20;
pub const DECODER: c_int = 21;
pub const PRIVATE: c_int = 1;
pub const PUBLIC: c_int = 2;
pub const BOTH: c_int = 3;

/// Octets by name; the bytes have to outlive it.
pub fn octets(key: &CStr, bytes: &[u8]) -> Param {
    value(key, OCTETS, bytes)
}

pub fn value(key: &CStr, data_type: c_uint, bytes: &[u8]) -> Param {
    let data = bytes.as_ptr().cast_mut().cast();
    Param { key: key.as_ptr(), data_type, data, data_size: bytes.len(), return_size: usize::MAX }
}

thread_local! {
    /// What the provider reported in this thread: reasons and texts.
    static ERRORS: RefCell<Vec<(u32, String)>> = const { RefCell::new(Vec::new()) };
}

/// What was reported in this thread since the last call.
pub fn errors() -> Vec<(u32, String)> {
    ERRORS.with_borrow_mut(std::mem::take)
}

/// What the library knows beside its functions: the answers to questions.
struct Settings {
    version: CString,
    composite: Option<CString>,
}

/// One loaded provider.
pub struct Library {
    settings: *mut Settings,
    functions: *const Dispatch,
    context: Pointer,
}

// SAFETY: OpenSSL uses providers in any thread, too.
unsafe impl Sync for Library {}
// SAFETY: the same.
unsafe impl Send for Library {}

type Listed = HashMap<String, Table>;

/// The functions of one algorithm.
#[derive(Clone, Copy)]
pub struct Table(*const Dispatch);

// SAFETY: it points to a static.
unsafe impl Send for Table {}
// SAFETY: the same.
unsafe impl Sync for Table {}

impl Table {
    /// The function of that number, as `F`.
    pub fn get<F: Copy>(self, id: c_int) -> F {
        self.find(id).unwrap_or_else(|| panic!("no function {id}"))
    }

    pub fn find<F: Copy>(self, id: c_int) -> Option<F> {
        let mut next = self.0;
        loop {
            // SAFETY: the table ends with zeros, which have not been passed.
            let Dispatch(found, function) = unsafe { &*next };
            match *found {
                0 => return None,
                // SAFETY: whoever calls this says what the manual says of the number.
                found if found == id => return Some(unsafe { transmute_copy::<*const c_void, F>(function) }),
                // SAFETY: this was not the last entry.
                _ => next = unsafe { next.add(1) },
            }
        }
    }
}

impl Library {
    /// Loads the provider as an OpenSSL of this version.
    pub fn load(version: &str, composite: Option<&str>) -> Option<Self> {
        let text = |text: &str| CString::new(text).expect("no NUL");
        let settings = Settings { version: text(version), composite: composite.map(text) };
        let settings = Box::into_raw(Box::new(settings));
        let functions = [
            Dispatch(2, get_params as *const c_void),
            Dispatch(5, new_error as *const c_void),
            Dispatch(6, set_error_debug as *const c_void),
            Dispatch(7, vset_error as *const c_void),
            Dispatch(11, object as *const c_void),
            Dispatch(12, object as *const c_void),
            Dispatch(42, bio_read as *const c_void),
            Dispatch(43, bio_write as *const c_void),
            Dispatch(0, ptr::null()),
        ];
        let (mut out, mut context) = (ptr::null(), ptr::null_mut());
        // The type of the real one names layouts that are its own.
        let init = gambeson_openssl::OSSL_provider_init as *const c_void;
        type Init =
            unsafe extern "C" fn(Pointer, *const Dispatch, *mut *const Dispatch, *mut Pointer) -> c_int;
        // SAFETY: this is the type of the manual page.
        let init: Init = unsafe { transmute_copy(&init) };
        // SAFETY: the table ends with zeros, and the places are there.
        let done = unsafe { init(settings.cast(), functions.as_ptr(), &raw mut out, &raw mut context) };
        if done != 1 {
            // SAFETY: it came from a box, and the provider has said that it will not ask.
            drop(unsafe { Box::from_raw(settings) });
            return None;
        }
        Some(Self { settings, functions: out, context })
    }

    pub fn context(&self) -> Pointer {
        self.context
    }

    /// What the provider has of an operation: first names, and properties behind a blank.
    pub fn algorithms(&self, operation: c_int) -> Listed {
        let query: unsafe extern "C" fn(Pointer, c_int, *mut c_int) -> *const Algorithm =
            Table(self.functions).get(1027);
        let mut no_cache = 7;
        let mut listed = Listed::new();
        // SAFETY: the provider's own context.
        let mut next = unsafe { query(self.context, operation, &raw mut no_cache) };
        assert_eq!(no_cache, 0);
        // SAFETY: the list ends without names.
        while let Some(algorithm) = unsafe { next.as_ref() }.filter(|algorithm| !algorithm.names.is_null()) {
            // SAFETY: both end with NUL.
            let (names, properties) =
                unsafe { (CStr::from_ptr(algorithm.names), CStr::from_ptr(algorithm.properties)) };
            let name = names.to_str().expect("text").split(':').next().expect("a name").to_owned();
            let properties =
                properties.to_str().expect("text").strip_prefix("provider=gambeson").expect("ours");
            listed.insert(name + properties, Table(algorithm.functions));
            // SAFETY: this was not the last.
            next = unsafe { next.add(1) };
        }
        listed
    }

    /// The numbers of a capability, in the parameter of that name, and the names beside them.
    pub fn capabilities(
        &self,
        capability: &CStr,
        name: &'static CStr,
        number: &'static CStr,
    ) -> Vec<(String, u32)> {
        struct Found(&'static CStr, &'static CStr, Vec<(String, u32)>);
        unsafe extern "C" fn take(params: *const Param, found: Pointer) -> c_int {
            // SAFETY: this is what is handed in below.
            let Found(name, number, found) = unsafe { &mut *found.cast::<Found>() };
            let (mut text, mut value) = (String::new(), 0);
            let mut next = params;
            // SAFETY: the array ends without a key; texts end with NUL, and numbers have their size.
            unsafe {
                while !(*next).key.is_null() {
                    let key = CStr::from_ptr((*next).key);
                    if key == *name {
                        text = CStr::from_ptr((*next).data.cast()).to_str().expect("text").to_owned();
                    } else if key == *number {
                        value = (*next).data.cast::<u32>().read();
                    }
                    next = next.add(1);
                }
            }
            found.push((text, value));
            1
        }
        type Capabilities = unsafe extern "C" fn(
            Pointer,
            *const c_char,
            unsafe extern "C" fn(*const Param, Pointer) -> c_int,
            Pointer,
        ) -> c_int;
        let ask: Capabilities = Table(self.functions).get(1030);
        let mut found = Found(name, number, Vec::new());
        // SAFETY: the callback fits what is handed to it.
        let done = unsafe { ask(self.context, capability.as_ptr(), take, ptr::from_mut(&mut found).cast()) };
        assert_eq!(done, 1);
        found.2
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let teardown: unsafe extern "C" fn(Pointer) = Table(self.functions).get(1024);
        // SAFETY: once, at the end, and the settings came from a box.
        unsafe {
            teardown(self.context);
            drop(Box::from_raw(self.settings));
        }
    }
}

unsafe extern "C" fn get_params(settings: Pointer, params: *mut Param) -> c_int {
    // SAFETY: the handle is ours, and the provider asks for one pointer to a text.
    unsafe {
        let settings = &*settings.cast::<Settings>();
        let text = match CStr::from_ptr((*params).key).to_bytes() {
            b"openssl-version" => Some(&settings.version),
            b"composite-sigalg" => settings.composite.as_ref(),
            _ => None,
        };
        if let Some(text) = text {
            (*params).data.cast::<*const c_char>().write(text.as_ptr());
        }
    }
    1
}

unsafe extern "C" fn new_error(_: Pointer) {}

unsafe extern "C" fn set_error_debug(_: Pointer, file: *const c_char, line: c_int, _: *const c_char) {
    // SAFETY: a text.
    assert!(unsafe { CStr::from_ptr(file) }.to_str().is_ok_and(|file| file.ends_with(".rs")) && line > 0);
}

unsafe extern "C" fn vset_error(_: Pointer, reason: u32, text: *const c_char, arguments: Pointer) {
    // SAFETY: a text.
    let text = unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8").to_owned();
    assert!(!text.replace("%%", "").contains('%') && !arguments.is_null(), "{text}");
    ERRORS.with_borrow_mut(|errors| errors.push((reason, text)));
}

unsafe extern "C" fn object(_: Pointer, _: *const c_char, _: *const c_char, _: *const c_char) -> c_int {
    1
}

/// A stream of bytes, as a bio.
pub struct Bio {
    pub bytes: Vec<u8>,
    pub at: usize,
}

unsafe extern "C" fn bio_read(bio: Pointer, data: Pointer, len: usize, read: *mut usize) -> c_int {
    // SAFETY: the bio is ours, and the place has `len` bytes.
    unsafe {
        let bio = &mut *bio.cast::<Bio>();
        let rest = &bio.bytes[bio.at..];
        // In small pieces, as it may happen.
        let len = len.min(rest.len()).min(1000);
        ptr::copy_nonoverlapping(rest.as_ptr(), data.cast(), len);
        bio.at += len;
        read.write(len);
        c_int::from(len > 0)
    }
}

unsafe extern "C" fn bio_write(bio: Pointer, data: *const c_void, len: usize, written: *mut usize) -> c_int {
    // SAFETY: the bio is ours, and that many bytes are there.
    unsafe {
        let len = len.min(1000);
        (*bio.cast::<Bio>()).bytes.extend_from_slice(std::slice::from_raw_parts(data.cast(), len));
        written.write(len);
    }
    1
}

/// What a decoder hands its findings to.
pub type Take = unsafe extern "C" fn(*const Param, Pointer) -> c_int;

/// Lets a decoder read `bytes`: whether it answered with 1, and how many it left. What it finds goes to `take`, with `place`.
pub fn decode(library: &Library, decoder: Table, bytes: &[u8], take: Take, place: Pointer) -> (bool, usize) {
    type Decode = unsafe extern "C" fn(Pointer, Pointer, c_int, Take, Pointer, Pointer, Pointer) -> c_int;
    let new: unsafe extern "C" fn(Pointer) -> Pointer = decoder.get(1);
    let free: unsafe extern "C" fn(Pointer) = decoder.get(2);
    let decode: Decode = decoder.get(11);
    let mut bio = Bio { bytes: bytes.to_vec(), at: 0 };
    // SAFETY: the calls that the manual page wants, in their order, with a stream and a callback that fits what is handed to it.
    let done = unsafe {
        let context = new(library.context());
        let input = ptr::from_mut(&mut bio).cast();
        let done = decode(context, input, 0, take, place, ptr::null_mut(), ptr::null_mut());
        free(context);
        done
    };
    (done == 1, bytes.len() - bio.at)
}

/// Functions of KEYMGMT that are called often.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    pub module: &'a Library,
    pub table: Table,
}

impl Keys<'_> {
    pub fn empty(self) -> Pointer {
        let new: unsafe extern "C" fn(Pointer) -> Pointer = self.table.get(1);
        // SAFETY: the provider's own context.
        unsafe { new(self.module.context()) }
    }

    /// A key of these parameters; null if it is refused.
    pub fn generate(self, selection: c_int, params: &[Param]) -> Pointer {
        let init: unsafe extern "C" fn(Pointer, c_int, *const Param) -> Pointer = self.table.get(2);
        let generate: unsafe extern "C" fn(Pointer, *const c_void, Pointer) -> Pointer = self.table.get(6);
        let cleanup: unsafe extern "C" fn(Pointer) = self.table.get(7);
        let params = [params, &[END]].concat();
        // SAFETY: the calls that the manual page wants, in their order.
        unsafe {
            let making = init(self.module.context(), selection, params.as_ptr());
            let key = generate(making, ptr::null(), ptr::null_mut());
            cleanup(making);
            key
        }
    }

    pub fn free(self, key: Pointer) {
        let free: unsafe extern "C" fn(Pointer) = self.table.get(10);
        // SAFETY: a key of ours that nobody uses any more.
        unsafe { free(key) };
    }

    pub fn dup(self, key: Pointer, selection: c_int) -> Pointer {
        let dup: unsafe extern "C" fn(Pointer, c_int) -> Pointer = self.table.get(44);
        // SAFETY: a key of ours.
        unsafe { dup(key, selection) }
    }

    pub fn has(self, key: Pointer, selection: c_int) -> bool {
        let has: unsafe extern "C" fn(Pointer, c_int) -> c_int = self.table.get(21);
        // SAFETY: a key of ours, or null.
        unsafe { has(key, selection) == 1 }
    }

    pub fn matches(self, one: Pointer, other: Pointer, selection: c_int) -> bool {
        let matches: unsafe extern "C" fn(Pointer, Pointer, c_int) -> c_int = self.table.get(23);
        // SAFETY: two keys of ours.
        unsafe { matches(one, other, selection) == 1 }
    }

    pub fn set(self, key: Pointer, params: &[Param]) -> bool {
        let set: unsafe extern "C" fn(Pointer, *const Param) -> c_int = self.table.get(13);
        // SAFETY: a key of ours, and an array that ends.
        unsafe { set(key, [params, &[END]].concat().as_ptr()) == 1 }
    }

    pub fn import(self, key: Pointer, selection: c_int, params: &[Param]) -> bool {
        let import: unsafe extern "C" fn(Pointer, c_int, *const Param) -> c_int = self.table.get(40);
        // SAFETY: a key of ours, and an array that ends.
        unsafe { import(key, selection, [params, &[END]].concat().as_ptr()) == 1 }
    }

    /// A number of a key; none if it does not tell.
    pub fn number(self, key: Pointer, name: &CStr) -> Option<usize> {
        let mut number = 0_usize;
        let data = ptr::from_mut(&mut number).cast();
        let param = Param { data, data_size: 8, ..value(name, 2, &[]) };
        (self.get(key, param)? == 8).then_some(number)
    }

    /// Octets of a key.
    pub fn octets(self, key: Pointer, name: &CStr) -> Option<Vec<u8>> {
        let len = self.get(key, Param { data: ptr::null_mut(), ..octets(name, &[]) })?;
        let bytes = vec![0; len];
        self.get(key, octets(name, &bytes)).map(|_| bytes)
    }

    /// Asks for one parameter; the size of what came.
    pub fn get(self, key: Pointer, param: Param) -> Option<usize> {
        let get: unsafe extern "C" fn(Pointer, *mut Param) -> c_int = self.table.get(11);
        let mut params = [param, END];
        // SAFETY: a key of ours, and an array that ends.
        let done = unsafe { get(key, params.as_mut_ptr()) };
        (done == 1 && params[0].return_size != usize::MAX).then_some(params[0].return_size)
    }
}
