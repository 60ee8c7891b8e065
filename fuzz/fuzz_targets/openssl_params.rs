//! The OpenSSL provider: any parameters for keys, signatures and encapsulation, any bytes for its decoders. Nothing panics, and a
//! key that was taken gives back what it was made of.
#![no_main]

#[path = "../../crates/openssl/tests/suite/library.rs"]
mod library;

use libfuzzer_sys::fuzz_target;
use library::{
    BOTH, DECODER, END, KEM, KEYMGMT, Keys, Library, PUBLIC, Param, Pointer, SIGNATURE, Table, errors,
};
use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::OnceLock;

/// A loaded provider, its functions, and a key of each algorithm, by its address.
struct Loaded {
    library: Library,
    /// The functions of keys, of what they do, and of the decoders of public and private keys.
    algorithms: Vec<(Table, Option<(Table, bool)>, Vec<Table>, usize)>,
}

const NAMES: [&CStr; 14] = [
    c"pub",
    c"encoded-pub-key",
    c"priv",
    c"seed",
    c"group",
    c"bits",
    c"max-size",
    c"mandatory-digest",
    c"context-string",
    c"deterministic",
    c"message-encoding",
    c"signature",
    c"algorithm-id",
    c"ikme",
];

fn load() -> Loaded {
    let library = Library::load("3.4.0", Some("0xfe12")).expect("it loads");
    let (kems, signatures) = (library.algorithms(KEM), library.algorithms(SIGNATURE));
    let decoders = library.algorithms(DECODER);
    let mut sorted: Vec<_> = library.algorithms(KEYMGMT).into_iter().collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let algorithms = sorted.into_iter().map(|(name, table)| {
        let key = Keys { module: &library, table }.generate(BOTH, &[]).expose_provenance();
        let signature = signatures.get(&name).map(|table| (*table, true));
        let operation = signature.or(kems.get(&name).map(|table| (*table, false)));
        let structures = ["SubjectPublicKeyInfo", "PrivateKeyInfo"];
        let decoder =
            |structure: &&str| decoders.get(&format!("{name},input=der,structure={structure}")).copied();
        (table, operation, structures.iter().filter_map(decoder).collect(), key)
    });
    Loaded { algorithms: algorithms.collect(), library }
}

/// Parameters out of `data`: a name, a type, a length and so many bytes each.
fn params<'a>(mut data: &'a [u8], public: &'a [u8]) -> Vec<Param> {
    let mut params = Vec::new();
    while let Some((&[name, kind, a, b], rest)) = data.split_first_chunk::<4>() {
        let len = usize::from(u16::from_le_bytes([a, b])) % 5000;
        let (bytes, rest) = rest.split_at(len.min(rest.len()));
        data = rest;
        let key = NAMES[usize::from(name) % NAMES.len()];
        // Now and then what is right, so that it goes deeper.
        let bytes = if kind & 0x80 != 0 { public } else { bytes };
        params.push(library::value(key, u32::from(kind & 7), bytes));
    }
    params.push(END);
    params
}

unsafe extern "C" fn take(_: *const Param, taken: Pointer) -> c_int {
    // SAFETY: a number is handed in.
    unsafe { *taken.cast::<u32>() += 1 };
    1
}

fuzz_target!(|data: &[u8]| {
    static LOADED: OnceLock<Loaded> = OnceLock::new();
    let Loaded { library, algorithms } = LOADED.get_or_init(load);
    let Some((&[which, what], data)) = data.split_first_chunk::<2>() else { return };
    let (table, operation, decoders, key) = &algorithms[usize::from(which) % algorithms.len()];
    let keys = Keys { module: library, table: *table };
    let full: Pointer = ptr::with_exposed_provenance_mut(*key);
    let public = keys.octets(full, c"pub").expect("a public key");
    let mut given = params(data, &public);
    match what % 5 {
        0 => {
            let made = keys.empty();
            let params = &given[..given.len() - 1];
            if keys.import(made, i32::from(data.first().copied().unwrap_or(3) & 3), params)
                && keys.has(made, PUBLIC)
            {
                let bytes = keys.octets(made, c"pub").expect("a public key");
                let again = keys.empty();
                assert!(keys.import(again, PUBLIC, &[library::octets(c"pub", &bytes)]));
                assert!(keys.matches(made, again, PUBLIC));
                keys.free(again);
            }
            keys.free(made);
        }
        1 => {
            let made = keys.generate(0, &given[..given.len() - 1]);
            if !made.is_null() {
                keys.set(made, &given[..given.len() - 1]);
                keys.free(made);
            }
        }
        2 => {
            // Places of our own for what is written: as long as is said.
            let mut places: Vec<Vec<u8>> = given.iter().map(|param| vec![0; param.data_size]).collect();
            for (param, place) in given.iter_mut().zip(&mut places).filter(|(param, _)| !param.key.is_null())
            {
                // A place for a pointer is as long as one.
                place.resize(if param.data_type > 5 { 8 } else { place.len() }, 0);
                param.data = place.as_mut_ptr().cast();
            }
            let get: unsafe extern "C" fn(Pointer, *mut Param) -> c_int = table.get(11);
            // SAFETY: a key of the provider, and an array that ends.
            unsafe { get(full, given.as_mut_ptr()) };
        }
        3 => {
            let Some((operation, signs)) = operation else { return };
            let new: unsafe extern "C" fn(Pointer, Pointer) -> Pointer = operation.get(1);
            let free: unsafe extern "C" fn(Pointer) = operation.get(if *signs { 16 } else { 6 });
            let set: unsafe extern "C" fn(Pointer, *const Param) -> c_int =
                operation.get(if *signs { 20 } else { 10 });
            // SAFETY: the calls that the manual page wants, in their order, with places of the sizes that are said.
            unsafe {
                let context = new(library.context(), ptr::null_mut());
                if *signs {
                    type Init = unsafe extern "C" fn(Pointer, *const c_char, Pointer, *const Param) -> c_int;
                    type Verify = unsafe extern "C" fn(Pointer, *const u8, usize, *const u8, usize) -> c_int;
                    let (init, verify) = (operation.get::<Init>(12), operation.get::<Verify>(15));
                    init(context, ptr::null(), full, given.as_ptr());
                    set(context, given.as_ptr());
                    assert_eq!(verify(context, data.as_ptr(), data.len(), data.as_ptr(), data.len()), 0);
                } else {
                    type Init = unsafe extern "C" fn(Pointer, Pointer, *const Param) -> c_int;
                    type Encapsulate =
                        unsafe extern "C" fn(Pointer, *mut u8, *mut usize, *mut u8, *mut usize) -> c_int;
                    let (init, encapsulate) = (operation.get::<Init>(2), operation.get::<Encapsulate>(3));
                    init(context, full, given.as_ptr());
                    set(context, given.as_ptr());
                    let ((mut out, mut secret), mut len) = (([0; 2000], [0; 100]), (2000, 100));
                    let (out, secret) = (out.as_mut_ptr(), secret.as_mut_ptr());
                    encapsulate(context, out, &raw mut len.0, secret, &raw mut len.1);
                }
                free(context);
            }
        }
        _ => {
            for decoder in decoders {
                let mut taken = 0_u32;
                library::decode(library, *decoder, data, take, ptr::from_mut(&mut taken).cast());
            }
        }
    }
    // 1 is a panic that the border caught.
    assert!(errors().iter().all(|(reason, _)| *reason != 1));
});
