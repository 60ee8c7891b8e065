//! The provider called by number, as OpenSSL does, with what OpenSSL would not hand in.
use std::collections::BTreeSet;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use crate::library::{
    self, BOTH, Bio, DECODER, ENCODER, INTEGER, KEM, KEYMGMT, Keys, Library, PRIVATE, PUBLIC, Param, Pointer,
    SIGNATURE, Table, UTF8, errors, octets, value,
};

type Init = unsafe extern "C" fn(Pointer, Pointer, *const Param) -> c_int;
type Encapsulate = unsafe extern "C" fn(Pointer, *mut u8, *mut usize, *mut u8, *mut usize) -> c_int;
type Decapsulate = unsafe extern "C" fn(Pointer, *mut u8, *mut usize, *const u8, usize) -> c_int;
type DigestInit = unsafe extern "C" fn(Pointer, *const c_char, Pointer, *const Param) -> c_int;
type Sign = unsafe extern "C" fn(Pointer, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
type Verify = unsafe extern "C" fn(Pointer, *const u8, usize, *const u8, usize) -> c_int;
type Free = unsafe extern "C" fn(Pointer);
type New = unsafe extern "C" fn(Pointer) -> Pointer;

// The numbers of src/error.rs.
const PARAMETER: u32 = 2;
const INVALID_KEY: u32 = 3;
const NO_KEY: u32 = 4;
const KEY_TAKEN: u32 = 5;
const OTHER_ALGORITHM: u32 = 6;
const BUFFER_TOO_SMALL: u32 = 7;
const INVALID_CIPHERTEXT: u32 = 8;
const INVALID_SIGNATURE: u32 = 9;
const DIGEST_NOT_SUPPORTED: u32 = 10;
const WRONG_ORDER: u32 = 11;

fn library() -> Library {
    Library::load("3.0.22", None).expect("it loads")
}

/// The call before was refused for this reason alone.
#[track_caller]
fn refused(done: bool, reason: u32) {
    let errors = errors();
    assert!(!done && errors.len() == 1 && errors[0].0 == reason, "{done}, {errors:?}");
}

/// A context of KEM or SIGNATURE, which frees itself.
struct Context(Pointer, Free);

impl Context {
    fn new(library: &Library, table: Table, free: c_int) -> Self {
        let new: New = table.get(1);
        // SAFETY: the provider's own context.
        Self(unsafe { new(library.context()) }, table.get(free))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: a context of the provider, once.
        unsafe { (self.1)(self.0) };
    }
}

fn init(table: Table, number: c_int, context: &Context, key: Pointer) -> bool {
    let init: Init = table.get(number);
    // SAFETY: a context and a key of the provider.
    unsafe { init(context.0, key, ptr::null()) == 1 }
}

/// A ciphertext and its secret, in places of these sizes.
fn encapsulate(table: Table, context: &Context, sizes: (usize, usize)) -> Option<(Vec<u8>, Vec<u8>)> {
    let encapsulate: Encapsulate = table.get(3);
    let ((mut out, mut secret), mut len, mut secret_len) =
        ((vec![0; sizes.0], vec![0; sizes.1]), sizes.0, sizes.1);
    // SAFETY: a context of the provider, and places of the sizes that are said.
    let done = unsafe {
        encapsulate(context.0, out.as_mut_ptr(), &raw mut len, secret.as_mut_ptr(), &raw mut secret_len)
    };
    out.truncate(len);
    secret.truncate(secret_len);
    (done == 1).then_some((out, secret))
}

fn decapsulate(table: Table, context: &Context, ciphertext: &[u8], size: usize) -> Option<Vec<u8>> {
    let decapsulate: Decapsulate = table.get(5);
    let (mut secret, mut len) = (vec![0; size], size);
    // SAFETY: a context of the provider, a place of the size that is said, and bytes.
    let done = unsafe {
        decapsulate(context.0, secret.as_mut_ptr(), &raw mut len, ciphertext.as_ptr(), ciphertext.len())
    };
    secret.truncate(len);
    (done == 1).then_some(secret)
}

#[test]
fn each_version_gets_what_it_lacks() {
    let count = |library: &Library| {
        [KEYMGMT, KEM, SIGNATURE, ENCODER, DECODER].map(|operation| library.algorithms(operation).len())
    };
    let groups = |library: &Library| library.capabilities(c"TLS-GROUP", c"tls-group-name", c"tls-group-id");
    let schemes = |library: &Library| {
        library.capabilities(c"TLS-SIGALG", c"tls-sigalg-iana-name", c"tls-sigalg-code-point")
    };
    let old = library();
    assert_eq!(count(&old), [35, 13, 22, 30 * 7, 30 * 2]);
    let wanted = [
        ("X25519MLKEM768", 0x11ec),
        ("SecP256r1MLKEM768", 0x11eb),
        ("SecP384r1MLKEM1024", 0x11ed),
        ("X448MLKEM768", 0x2fb7),
        ("X448MLKEM1024", 0xfe48),
        ("MLKEM512", 0x200),
        ("MLKEM768", 0x201),
        ("MLKEM1024", 0x202),
    ];
    let named = |groups: &[(&str, u32)]| {
        groups.iter().map(|(name, id)| ((*name).to_owned(), *id)).collect::<Vec<_>>()
    };
    assert_eq!(groups(&old), named(&wanted));
    assert!(schemes(&old).is_empty());

    let middle = Library::load("3.2.0", None).expect("it loads");
    let ml_dsa = [("mldsa44", 0x904), ("mldsa65", 0x905), ("mldsa87", 0x906)];
    assert_eq!(schemes(&middle), named(&ml_dsa));
    let composite = Library::load("3.4.1", Some("0xfe12")).expect("it loads");
    assert_eq!(schemes(&composite)[3], ("mldsa87_ed448_shake256".to_owned(), 0xfe12));

    for version in ["3.5.0", "3.6.1", "4.0.3"] {
        let new = Library::load(version, Some("65298")).expect("it loads");
        // X448MLKEM768; the composite signatures and KEMs.
        assert_eq!(count(&new), [13, 6, 7, 12 * 7, 12 * 2], "{version}");
        assert_eq!(groups(&new), named(&wanted[3..5]));
        assert_eq!(schemes(&new), named(&[("mldsa87_ed448_shake256", 0xff12)]));
    }
}

#[test]
fn a_number_for_composites_that_is_not_for_private_use_keeps_the_module_from_loading() {
    for text in ["0x0905", "fe12", "0x1fe12", ""] {
        refused(Library::load("3.5.0", Some(text)).is_some(), PARAMETER);
    }
}

#[test]
fn messages_without_a_digest_are_signed_where_openssl_knows_how() {
    for (version, there) in [("3.0.2", false), ("3.3.9", false), ("3.4.0", true), ("4.0.0", true)] {
        let library = Library::load(version, None).expect("it loads");
        let table = library.algorithms(SIGNATURE)["MLDSA65-Ed25519-SHA512"];
        for number in [3, 5, 27, 28, 29, 30, 31, 32] {
            assert_eq!(table.find::<Free>(number).is_some(), there, "{version}: {number}");
        }
    }
}

/// Bytes of what is made with a key: of a ciphertext, or of a signature at its longest.
fn made(library: &Library, name: &str, key: Pointer) -> usize {
    let mut len = 0;
    let done = match library.algorithms(KEM).get(name) {
        Some(table) => {
            let context = Context::new(library, *table, 6);
            assert!(init(*table, 2, &context, key), "{name}");
            let encapsulate: Encapsulate = table.get(3);
            let (none, no_len) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: a context of the provider, and a place for a number.
            unsafe { encapsulate(context.0, none, &raw mut len, none, no_len) }
        }
        None => {
            let table = library.algorithms(SIGNATURE)[name];
            let context = Context::new(library, table, 16);
            let (start, sign): (DigestInit, Sign) = (table.get(8), table.get(11));
            // SAFETY: a context and a key of the provider, and a place for a number.
            unsafe {
                assert_eq!(start(context.0, ptr::null(), key, ptr::null()), 1, "{name}");
                sign(context.0, ptr::null_mut(), &raw mut len, 0, ptr::null(), 0)
            }
        }
    };
    assert_eq!(done, 1, "{name}");
    len
}

#[test]
fn whoever_asks_for_lengths_names_the_places_that_it_has() {
    let library = library();
    let (managers, table) = (library.algorithms(KEYMGMT), library.algorithms(KEM)["X448MLKEM1024"]);
    let keys = Keys { module: &library, table: managers["X448MLKEM1024"] };
    let (key, context) = (keys.generate(BOTH, &[]), Context::new(&library, table, 6));
    let (encapsulate, decapsulate): (Encapsulate, Decapsulate) = (table.get(3), table.get(5));
    let (none, no_len) = (ptr::null_mut(), ptr::null_mut());
    assert!(init(table, 2, &context, key));
    let (mut ciphertext, mut secret) = (0, 0);
    // SAFETY: a context of the provider, and places for numbers, or none.
    unsafe {
        assert_eq!(encapsulate(context.0, none, &raw mut ciphertext, none, no_len), 1);
        assert_eq!((ciphertext, secret), (1624, 0));
        assert_eq!(encapsulate(context.0, none, no_len, none, &raw mut secret), 1);
        assert_eq!((ciphertext, secret), (1624, 88));
        (ciphertext, secret) = (0, 0);
        assert_eq!(encapsulate(context.0, none, &raw mut ciphertext, none, &raw mut secret), 1);
        assert_eq!((ciphertext, secret), (1624, 88));
        refused(encapsulate(context.0, none, no_len, none, no_len) == 1, PARAMETER);
        let mut place = [0; 1624];
        refused(
            encapsulate(context.0, place.as_mut_ptr(), &raw mut ciphertext, none, &raw mut secret) == 1,
            PARAMETER,
        );
        refused(encapsulate(context.0, place.as_mut_ptr(), no_len, none, no_len) == 1, PARAMETER);
        assert!(init(table, 4, &context, key));
        secret = 0;
        assert_eq!(decapsulate(context.0, none, &raw mut secret, ptr::null(), 0), 1);
        assert_eq!(secret, 88);
        refused(decapsulate(context.0, none, no_len, ptr::null(), 0) == 1, PARAMETER);
    }
    keys.free(key);

    let table = library.algorithms(SIGNATURE)["ML-DSA-65"];
    let keys = Keys { module: &library, table: managers["ML-DSA-65"] };
    let (key, context) = (keys.generate(BOTH, &[]), Context::new(&library, table, 16));
    let (start, sign): (DigestInit, Sign) = (table.get(8), table.get(11));
    let finish: unsafe extern "C" fn(Pointer, *mut u8, *mut usize, usize) -> c_int = table.get(10);
    let mut len = 0;
    let mut place = [7; 3309];
    // SAFETY: a context and a key of the provider, and places for numbers, or none.
    unsafe {
        assert_eq!(start(context.0, ptr::null(), key, ptr::null()), 1);
        assert_eq!(sign(context.0, none, &raw mut len, 0, b"m".as_ptr(), 1), 1);
        assert_eq!(std::mem::take(&mut len), 3309);
        assert_eq!(finish(context.0, none, &raw mut len, 0), 1);
        assert_eq!(len, 3309);
        refused(sign(context.0, none, no_len, 0, b"m".as_ptr(), 1) == 1, PARAMETER);
        refused(finish(context.0, none, no_len, 0) == 1, PARAMETER);
        refused(sign(context.0, place.as_mut_ptr(), no_len, 3309, b"m".as_ptr(), 1) == 1, PARAMETER);
    }
    assert_eq!(place, [7; 3309], "nothing was written where its length cannot be told");
    keys.free(key);
}

#[test]
fn with_the_same_randomness_ciphertexts_are_those_of_the_library_byte_for_byte() {
    use gambeson_hybrid::kem::{EncapsulationKey, HybridKem};
    let library = library();
    let (managers, kems) = (library.algorithms(KEYMGMT), library.algorithms(KEM));
    let mut count = 0;
    for (name, table) in kems {
        let Some(kem) = HybridKem::by_name(&name) else { continue };
        let keys = Keys { module: &library, table: managers[&name] };
        let (key, context) = (keys.generate(BOTH, &[]), Context::new(&library, table, 6));
        let randomness = vec![0x17; kem.randomness_len()];
        let set = |randomness: &[u8]| {
            let init: Init = table.get(2);
            let params = [octets(c"ikme", randomness), library::END];
            // SAFETY: a context and a key of the provider, and an array that ends.
            unsafe { init(context.0, key, params.as_ptr()) == 1 }
        };
        assert!(set(&randomness), "{name}");
        let ours = encapsulate(table, &context, (2000, 100)).expect("a secret");
        let public = EncapsulationKey::from_bytes(kem, &keys.octets(key, c"pub").expect("a public key"));
        let theirs = public.expect("a key").encapsulate_deterministic(&randomness).expect("a secret");
        assert_eq!(ours, (theirs.0.as_bytes().to_vec(), theirs.1.expose().to_vec()), "{name}");
        // It serves once.
        assert_ne!(encapsulate(table, &context, (2000, 100)).expect("a secret"), ours, "{name}");
        assert!(set(&randomness[1..]), "{name}");
        assert!(encapsulate(table, &context, (2000, 100)).is_none() && !errors().is_empty(), "{name}");
        keys.free(key);
        count += 1;
    }
    assert_eq!(count, 10, "all but ML-KEM alone");
}

#[test]
fn keys_of_every_algorithm_are_made_copied_exported_imported_and_compared() {
    unsafe extern "C" fn take(params: *const Param, import: Pointer) -> c_int {
        // SAFETY: this is what is handed in below; the array ends without a key.
        unsafe {
            let (keys, key, selection) = *import.cast::<(Keys<'_>, Pointer, c_int)>();
            let import: unsafe extern "C" fn(Pointer, c_int, *const Param) -> c_int = keys.table.get(40);
            import(key, selection, params)
        }
    }
    type Export = unsafe extern "C" fn(
        Pointer,
        c_int,
        unsafe extern "C" fn(*const Param, Pointer) -> c_int,
        Pointer,
    ) -> c_int;
    let library = library();
    let mut names = BTreeSet::new();
    for (name, table) in library.algorithms(KEYMGMT) {
        let keys = Keys { module: &library, table };
        let (key, other) = (keys.generate(BOTH, &[]), keys.generate(BOTH, &[]));
        assert!(
            keys.has(key, BOTH) && keys.matches(key, key, BOTH) && !keys.matches(key, other, PUBLIC),
            "{name}"
        );
        let (empty, public, all) = (keys.dup(key, 0), keys.dup(key, PUBLIC), keys.dup(key, BOTH));
        assert!(keys.has(empty, 0) && !keys.has(empty, PUBLIC), "{name}");
        // What all keys of an algorithm have in common needs no bytes.
        for number in [c"bits", c"max-size", c"security-bits"] {
            assert_eq!(keys.number(empty, number), keys.number(key, number), "{name}");
        }
        assert!(keys.has(public, PUBLIC) && !keys.has(public, PRIVATE) && keys.matches(key, public, PUBLIC));
        assert!(keys.has(all, BOTH));
        let validate: unsafe extern "C" fn(Pointer, c_int, c_int) -> c_int = table.get(22);
        // SAFETY: a key of ours.
        assert_eq!(unsafe { validate(all, BOTH, 0) }, 1, "{name}");
        // SAFETY: the same.
        refused(unsafe { validate(public, BOTH, 0) } == 1, NO_KEY);
        for selection in [BOTH, PUBLIC] {
            let again = keys.empty();
            let export: Export = table.get(42);
            let mut target = (keys, again, selection);
            let target = ptr::from_mut(&mut target).cast();
            // SAFETY: the callback fits what is handed to it.
            assert_eq!(unsafe { export(key, selection, take, target) }, 1, "{name}");
            assert!(
                keys.matches(key, again, PUBLIC) && keys.has(again, PRIVATE) == (selection == BOTH),
                "{name}"
            );
            assert_eq!(keys.octets(again, c"priv").is_some(), selection == BOTH);
            keys.free(again);
        }
        let bytes = keys.octets(key, c"pub").expect("a public key");
        assert_eq!(keys.octets(key, c"encoded-pub-key").as_ref(), Some(&bytes));
        assert_eq!(keys.number(key, c"bits"), Some(8 * bytes.len()));
        assert!(keys.number(key, c"security-bits") >= Some(128));
        assert_eq!(keys.number(key, c"max-size"), Some(made(&library, &name, key)), "{name}");
        assert_eq!(keys.number(key, c"no such thing"), None);
        [key, other, empty, public, all].into_iter().for_each(|key| keys.free(key));
        names.insert(name);
    }
    assert_eq!(names.len(), 35);
    assert_eq!(errors(), []);
}

#[test]
fn keys_of_wrong_bytes_lengths_and_types_are_refused_with_the_reason() {
    let library = library();
    let mut count = 0;
    for (name, table) in library.algorithms(KEYMGMT) {
        let keys = Keys { module: &library, table };
        let full = keys.generate(BOTH, &[]);
        let public = keys.octets(full, c"pub").expect("a public key");
        let private = keys.octets(full, c"priv").expect("a private key");
        let key = keys.generate(0, &[]);
        assert!(!keys.has(key, PUBLIC));
        let set = |param: Param| keys.set(key, &[param]);
        let longer = [&public[..], &[0]].concat();
        for wrong in [&public[..public.len() - 1], &longer, &[], &[7]] {
            refused(set(octets(c"encoded-pub-key", wrong)), INVALID_KEY);
            refused(keys.import(key, PUBLIC, &[octets(c"pub", wrong)]), INVALID_KEY);
        }
        refused(set(value(c"encoded-pub-key", UTF8, &public)), PARAMETER);
        refused(set(value(c"encoded-pub-key", INTEGER, &public[..4])), PARAMETER);
        let null = Param { data: ptr::null_mut(), ..octets(c"encoded-pub-key", &public) };
        refused(set(null), INVALID_KEY);
        refused(keys.import(key, PUBLIC, &[]), PARAMETER);
        refused(keys.import(key, BOTH, &[octets(c"priv", &private[1..])]), INVALID_KEY);
        refused(keys.import(key, BOTH, &[octets(c"priv", &private), octets(c"pub", &longer)]), INVALID_KEY);
        refused(!keys.generate(BOTH, &[value(c"seed", UTF8, b"seed")]).is_null(), PARAMETER);
        refused(!keys.generate(BOTH, &[value(c"group", UTF8, b"P-256")]).is_null(), PARAMETER);
        // All that left the key as it was; a second set of bytes does, too.
        assert!(!keys.has(key, PUBLIC) && keys.set(key, &[octets(c"encoded-pub-key", &public)]), "{name}");
        refused(set(octets(c"encoded-pub-key", &public)), KEY_TAKEN);
        assert!(keys.matches(key, full, PUBLIC));
        // No room for what is asked.
        refused(keys.get(full, octets(c"pub", &[0; 10])).is_some(), PARAMETER);
        refused(keys.get(full, value(c"pub", INTEGER, &[0; 8])).is_some(), PARAMETER);
        refused(keys.get(full, value(c"bits", INTEGER, &[0; 1])).is_some(), PARAMETER);
        [full, key].into_iter().for_each(|key| keys.free(key));
        count += 1;
    }
    assert_eq!(count, 35);
    assert!(
        !Keys { module: &library, table: library.algorithms(KEYMGMT)["ML-DSA-44"] }.has(ptr::null_mut(), 0)
    );
}

#[test]
fn seeds_make_the_same_key_and_have_to_fit_what_is_beside_them() {
    let library = library();
    for (name, len) in [("ML-KEM-512", 64), ("ML-KEM-1024", 64), ("ML-DSA-44", 32), ("ML-DSA-87", 32)] {
        let keys = Keys { module: &library, table: library.algorithms(KEYMGMT)[name] };
        let seed = vec![7; len];
        let (one, other) = (keys.generate(BOTH, &[octets(c"seed", &seed)]), keys.generate(BOTH, &[]));
        assert_eq!(keys.octets(one, c"seed"), Some(seed.clone()), "{name}");
        let again = keys.empty();
        let wrong = keys.octets(other, c"priv").expect("a private key");
        refused(keys.import(again, BOTH, &[octets(c"seed", &seed), octets(c"priv", &wrong)]), INVALID_KEY);
        assert!(
            keys.import(again, BOTH, &[octets(c"seed", &seed)]) && keys.matches(one, again, BOTH),
            "{name}"
        );
        refused(!keys.generate(BOTH, &[octets(c"seed", &seed[1..])]).is_null(), INVALID_KEY);
        [one, other, again].into_iter().for_each(|key| keys.free(key));
    }
}

#[test]
fn seeds_of_slh_dsa_make_the_key_of_fips_205() {
    use gambeson::slhdsa::{ParameterSet, SigningKey};
    let library = library();
    let managers = library.algorithms(KEYMGMT);
    for set in ParameterSet::ALL {
        let (n, keys) = (set.seed_len(), Keys { module: &library, table: managers[set.name()] });
        let seed: Vec<u8> = (0..96).take(3 * n).collect();
        let key = keys.generate(BOTH, &[octets(c"seed", &seed)]);
        let expected = SigningKey::from_seeds(*set, &seed[..n], &seed[n..2 * n], &seed[2 * n..]);
        let expected = expected.expect("seeds of its length");
        assert_eq!(keys.octets(key, c"priv").as_deref(), Some(expected.expose_bytes()), "{}", set.name());
        assert_eq!(keys.octets(key, c"pub").as_deref(), Some(expected.verifying_key().as_bytes()));
        assert_eq!(keys.octets(key, c"seed"), None);
        assert_eq!(keys.number(key, c"security-bits"), Some(8 * n));
        assert_eq!(keys.number(key, c"security-category"), Some(n / 4 - 3));
        refused(!keys.generate(BOTH, &[octets(c"seed", &seed[1..])]).is_null(), INVALID_KEY);
        // PK.root is that of another key.
        let mut wrong = expected.expose_bytes().to_vec();
        wrong[4 * n - 1] ^= 1;
        let again = keys.empty();
        refused(keys.import(again, BOTH, &[octets(c"priv", &wrong)]), INVALID_KEY);
        [key, again].into_iter().for_each(|key| keys.free(key));
    }
    assert_eq!(ParameterSet::ALL.len(), 12);
}

#[test]
fn secrets_agree_and_what_cannot_be_encapsulated_is_refused() {
    let library = library();
    let (managers, kems) = (library.algorithms(KEYMGMT), library.algorithms(KEM));
    for (name, table) in &kems {
        let keys = Keys { module: &library, table: managers[name] };
        let key = keys.generate(BOTH, &[]);
        let public = keys.dup(key, PUBLIC);
        let (server, client) = (Context::new(&library, *table, 6), Context::new(&library, *table, 6));
        refused(encapsulate(*table, &server, (2000, 100)).is_some(), WRONG_ORDER);
        refused(init(*table, 2, &server, keys.generate(0, &[])), NO_KEY);
        assert!(init(*table, 2, &server, public) && init(*table, 4, &client, key), "{name}");
        let (ciphertext, secret) = encapsulate(*table, &server, (2000, 100)).expect("a secret");
        for sizes in [(ciphertext.len() - 1, 100), (2000, secret.len() - 1), (0, 0)] {
            refused(encapsulate(*table, &server, sizes).is_some(), BUFFER_TOO_SMALL);
        }
        // The private key serves again and again.
        for _ in 0..2 {
            assert_eq!(decapsulate(*table, &client, &ciphertext, 100).as_ref(), Some(&secret), "{name}");
        }
        refused(decapsulate(*table, &client, &ciphertext, secret.len() - 1).is_some(), BUFFER_TOO_SMALL);
        for wrong in [&ciphertext[1..], &[], &[&ciphertext[..], &[0]].concat()] {
            refused(decapsulate(*table, &client, wrong, 100).is_some(), INVALID_CIPHERTEXT);
        }
        assert!(init(*table, 4, &client, public));
        refused(decapsulate(*table, &client, &ciphertext, 100).is_some(), NO_KEY);
        [key, public].into_iter().for_each(|key| keys.free(key));
    }
    assert_eq!(kems.len(), 13);
    // A key that signs.
    let keys = Keys { module: &library, table: managers["ML-DSA-44"] };
    let (key, table) = (keys.generate(BOTH, &[]), kems["ML-KEM-512"]);
    refused(init(table, 2, &Context::new(&library, table, 6), key), OTHER_ALGORITHM);
    keys.free(key);
}

#[test]
fn one_key_serves_many_threads() {
    let library = library();
    let table = library.algorithms(KEM)["X448MLKEM1024"];
    let keys = Keys { module: &library, table: library.algorithms(KEYMGMT)["X448MLKEM1024"] };
    let key = keys.generate(BOTH, &[]).expose_provenance();
    let all: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let work = || {
            let key = ptr::with_exposed_provenance_mut::<c_void>(key);
            let mut secrets = Vec::new();
            for _ in 0..20 {
                let (server, client) = (Context::new(&library, table, 6), Context::new(&library, table, 6));
                assert!(init(table, 2, &server, key) && init(table, 4, &client, key));
                let (ciphertext, secret) = encapsulate(table, &server, (2000, 100)).expect("a secret");
                assert_eq!(decapsulate(table, &client, &ciphertext, 100).as_ref(), Some(&secret));
                let copy = keys.dup(key, BOTH);
                assert!(keys.matches(copy, key, BOTH));
                keys.free(copy);
                secrets.push(secret);
            }
            secrets
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    });
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 160, "no secret came twice");
    keys.free(ptr::with_exposed_provenance_mut(key));
}

/// Keys of every algorithm made, written, read and used.
fn everything(library: &Library) {
    let kems = library.algorithms(KEM);
    let signatures = library.algorithms(SIGNATURE);
    for (name, table) in library.algorithms(KEYMGMT) {
        let keys = Keys { module: library, table };
        let (key, again) = (keys.generate(BOTH, &[]), keys.empty());
        let private = keys.octets(key, c"priv").expect("a private key");
        assert!(keys.import(again, BOTH, &[octets(c"priv", &private)]), "{name}");
        if let Some(table) = kems.get(&name) {
            let context = Context::new(library, *table, 6);
            assert!(init(*table, 2, &context, again), "{name}");
            let (ciphertext, secret) = encapsulate(*table, &context, (2000, 100)).expect("a secret");
            assert_eq!(decapsulate(*table, &context, &ciphertext, 100), Some(secret), "{name}");
        } else {
            let table = signatures[&name];
            let context = Context::new(library, table, 16);
            let (starts, sign): ([DigestInit; 2], Sign) = ([table.get(8), table.get(12)], table.get(11));
            let verify: Verify = table.get(15);
            let (mut out, mut len) = (vec![0; 50_000], 0);
            // SAFETY: a context and a key of the provider, a place of that size, and bytes.
            unsafe {
                assert_eq!(starts[0](context.0, ptr::null(), again, ptr::null()), 1, "{name}");
                let room = out.len();
                assert_eq!(
                    sign(context.0, out.as_mut_ptr(), &raw mut len, room, b"m".as_ptr(), 1),
                    1,
                    "{name}"
                );
                assert_eq!(starts[1](context.0, ptr::null(), key, ptr::null()), 1, "{name}");
                assert_eq!(verify(context.0, out.as_ptr(), len, b"m".as_ptr(), 1), 1, "{name}");
            }
        }
        [key, again].into_iter().for_each(|key| keys.free(key));
    }
}

/// `NEEDED` of src/stack.rs is 96 KiB: on a little more the work is done, on less a thread does it.
#[test]
fn threads_with_little_stack_get_everything() {
    let library = library();
    for size in [112 << 10, 32 << 10] {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(size);
            thread.spawn_scoped(scope, || everything(&library)).expect("a thread").join().expect("no panic");
        });
    }
    assert_eq!(errors(), []);
}

#[test]
fn signatures_verify_for_their_message_context_and_key_alone() {
    let library = Library::load("3.4.0", None).expect("it loads");
    let (managers, tables) = (library.algorithms(KEYMGMT), library.algorithms(SIGNATURE));
    for (name, table) in &tables {
        let keys = Keys { module: &library, table: managers[name] };
        let (key, other) = (keys.generate(BOTH, &[]), keys.generate(BOTH, &[]));
        let start = |sign: bool, key: Pointer, params: &[Param]| {
            let context = Context::new(&library, *table, 16);
            let init: DigestInit = table.get(if sign { 8 } else { 12 });
            let params = [params, &[library::END]].concat();
            // SAFETY: a context and a key of the provider, and an array that ends.
            let done = unsafe { init(context.0, ptr::null(), key, params.as_ptr()) == 1 };
            (context, done)
        };
        let sign = |context: &Context, message: &[u8], room: usize| {
            let sign: Sign = table.get(11);
            let (mut out, mut len) = (vec![0; room], 0);
            // SAFETY: a context of the provider, a place of the size that is said, and bytes.
            let done = unsafe {
                sign(context.0, out.as_mut_ptr(), &raw mut len, room, message.as_ptr(), message.len())
            };
            out.truncate(len);
            (done == 1).then_some(out)
        };
        let verifies = |context: &Context, message: &[u8], signature: &[u8]| {
            let verify: Verify = table.get(15);
            let (s, m) = (signature, message);
            // SAFETY: a context of the provider, and bytes.
            unsafe { verify(context.0, s.as_ptr(), s.len(), m.as_ptr(), m.len()) == 1 }
        };
        let context =
            [octets(c"context-string", b"context"), value(c"deterministic", INTEGER, &[1, 0, 0, 0])];
        let (signer, done) = start(true, key, &context);
        assert!(done, "{name}");
        let signature = sign(&signer, b"message", 50_000).expect("a signature");
        assert_eq!(sign(&signer, b"message", 50_000).as_ref(), Some(&signature), "{name} is deterministic");
        refused(sign(&signer, b"message", 100).is_some(), BUFFER_TOO_SMALL);
        let (verifier, done) = start(false, key, &context[..1]);
        assert!(done && verifies(&verifier, b"message", &signature), "{name}");
        refused(verifies(&verifier, b"massage", &signature), INVALID_SIGNATURE);
        for wrong in [&signature[..signature.len() - 1], &[], &[&signature[..], &[0]].concat()] {
            refused(verifies(&verifier, b"message", wrong), INVALID_SIGNATURE);
        }
        let (verifier, _) = start(false, key, &[]);
        refused(verifies(&verifier, b"message", &signature), INVALID_SIGNATURE);
        let (verifier, _) = start(false, other, &context[..1]);
        refused(verifies(&verifier, b"message", &signature), INVALID_SIGNATURE);
        let (hedged, _) = start(true, key, &context[..1]);
        assert_ne!(sign(&hedged, b"message", 50_000), sign(&hedged, b"message", 50_000), "{name} is hedged");
        refused(start(true, key, &[octets(c"context-string", &[0; 256])]).1, PARAMETER);
        refused(start(true, key, &[value(c"message-encoding", INTEGER, &[0; 4])]).1, PARAMETER);
        let public = keys.dup(key, PUBLIC);
        refused(start(true, public, &[]).1, NO_KEY);
        refused(start(true, ptr::null_mut(), &[]).1, WRONG_ORDER);
        let init: DigestInit = table.get(8);
        // SAFETY: as above, with a text.
        refused(unsafe { init(signer.0, c"SHA256".as_ptr(), key, ptr::null()) } == 1, DIGEST_NOT_SUPPORTED);
        [key, other, public].into_iter().for_each(|key| keys.free(key));
    }
    assert_eq!(tables.len(), 22);
}

/// What a decoder makes of a stream: whether it answered with 1, the name of the algorithm, and what it left unread.
fn decode(library: &Library, table: Table, bytes: &[u8]) -> (bool, Option<String>, usize) {
    unsafe extern "C" fn take(params: *const Param, found: Pointer) -> c_int {
        let mut next = params;
        // SAFETY: the array ends without a key; the reference is left where it is.
        unsafe {
            while !(*next).key.is_null() {
                if std::ffi::CStr::from_ptr((*next).key) == c"data-type" {
                    let text = std::ffi::CStr::from_ptr((*next).data.cast());
                    *found.cast::<Option<String>>() = text.to_str().ok().map(str::to_owned);
                }
                next = next.add(1);
            }
        }
        1
    }
    let mut found: Option<String> = None;
    let place = ptr::from_mut(&mut found).cast();
    let (done, left) = library::decode(library, table, bytes, take, place);
    (done, found, left)
}

#[test]
fn decoders_take_what_is_theirs_leave_the_rest_and_name_what_is_damaged() {
    use gambeson_pki::{Algorithm, Form, PrivateKey};
    let library = library();
    let decoders = library.algorithms(DECODER);
    let of = |name: &str, structure: &str| decoders[&format!("{name},input=der,structure={structure}")];
    for algorithm in [Algorithm::MlDsa44, Algorithm::MlKem768, Algorithm::MlDsa65Ed25519] {
        let key = PrivateKey::generate(algorithm).expect("a key");
        let (name, other) = (algorithm.name(), "ML-DSA-87");
        let private = key.to_pkcs8_der(Form::Both).expect("a file");
        let public = key.public_key().to_spki_der();
        for (der, structure, another) in [
            (&private[..], "PrivateKeyInfo", "SubjectPublicKeyInfo"),
            (&public[..], "SubjectPublicKeyInfo", "PrivateKeyInfo"),
        ] {
            let followed = [der, b"and more"].concat();
            let taken = (true, Some(name.to_owned()), 8);
            assert_eq!(decode(&library, of(name, structure), &followed), taken, "{name} {structure}");
            for (name, structure) in [(other, structure), (name, another)] {
                let (done, found, _) = decode(&library, of(name, structure), der);
                assert!(done && found.is_none(), "left to others: {name} {structure}");
            }
            assert_eq!(errors(), []);
            for len in 0..40 {
                let (_, found, _) = decode(&library, of(name, structure), &der[..len]);
                assert!(found.is_none(), "{len} bytes are no key");
            }
            errors();
            let mut damaged = der.to_vec();
            // The last byte of a private key is one of its expanded form, or of its scalar; of a public one, see below.
            damaged.pop();
            refused(decode(&library, of(name, structure), &damaged).0, INVALID_KEY);
        }
        for junk in [&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 1, 2][..], &[0x30, 0x80, 0, 0], &[0; 100]] {
            let (done, found, _) = decode(&library, of(name, "PrivateKeyInfo"), junk);
            assert!(done && found.is_none(), "{junk:02x?}");
        }
    }
}

#[test]
fn encoders_write_only_what_has_a_form() {
    let library = library();
    let encoders = library.algorithms(ENCODER);
    assert!(!encoders.keys().any(|name| name.starts_with("X448MLKEM1024")));
    let keys = Keys { module: &library, table: library.algorithms(KEYMGMT)["ML-DSA-44"] };
    let key = keys.generate(PUBLIC, &[]);
    let public = keys.dup(key, PUBLIC);
    let encode = |properties: &str, key: Pointer| {
        type Encode =
            unsafe extern "C" fn(Pointer, Pointer, Pointer, *const Param, c_int, Pointer, Pointer) -> c_int;
        let table = encoders[&format!("ML-DSA-44,{properties}")];
        let context = Context::new(&library, table, 2);
        let encode: Encode = table.get(11);
        let mut bio = Bio { bytes: Vec::new(), at: 0 };
        let (out, none) = (ptr::from_mut(&mut bio).cast(), ptr::null_mut());
        // SAFETY: a context of the provider, a stream, and a key of ours or null.
        let done = unsafe { encode(context.0, out, key, ptr::null(), BOTH, none, none) };
        (done == 1).then_some(bio.bytes)
    };
    let pem = encode("output=pem,structure=PrivateKeyInfo", key).expect("a file");
    assert!(pem.starts_with(b"-----BEGIN PRIVATE KEY-----"));
    assert!(encode("output=pem,structure=SubjectPublicKeyInfo", public).is_some());
    refused(encode("output=pem,structure=PrivateKeyInfo", public).is_some(), NO_KEY);
    refused(encode("output=pem,structure=PrivateKeyInfo", ptr::null_mut()).is_some(), NO_KEY);
    // Nobody gives a passphrase.
    refused(encode("output=pem,structure=EncryptedPrivateKeyInfo", key).is_some(), 14);
    [key, public].into_iter().for_each(|key| keys.free(key));
}
