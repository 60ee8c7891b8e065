//! The hash-based signatures of wolfSSL, OpenSSL and Botan: one table of functions for each library, and one text of the forms for all.
//!
//! Keys are objects of the library. `oneshot` imports into a new one; `prepared` keeps one. LMS and XMSS keys are made by the library, with
//! its randomness, and stay in memory with what it caches; saving the state is a copy in memory.
//!
//! `default`, of SLH-DSA: the calls of each library's documentation generate, sign hedged and verify, with key objects that are kept: the
//! examples of `wc_slhdsa.h` of wolfSSL 5.9.4, of EVP_SIGNATURE-SLH-DSA(7) of OpenSSL 4, and of "Public Key Signature Schemes" of the
//! manual of Botan 3.13.
//!
//! The tables are in `table.h` and the C files beside it.
#![allow(unsafe_code, reason = "the libraries are C and C++")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::rc::Rc;

use super::{Family, Form, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work};
use crate::cases::SignatureCases;

/// The functions of a library: `struct bench_hash_based` of `table.h`.
#[repr(C)]
pub struct Table {
    generate: unsafe extern "C" fn(*const c_char, *const u8, usize) -> *mut c_void,
    import_private: unsafe extern "C" fn(*const c_char, *const u8, usize) -> *mut c_void,
    import_public: unsafe extern "C" fn(*const c_char, *const u8, usize) -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    export_public: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int,
    export_private: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int,
    sign: unsafe extern "C" fn(*mut c_void, c_int, *const u8, usize, *mut u8, usize) -> c_int,
    verify: unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize) -> c_int,
}

unsafe extern "C" {
    #[cfg(wolfssl)]
    static bench_wolfssl_hash_based: Table;
    #[cfg(openssl4)]
    static bench_openssl_hash_based: Table;
    #[cfg(botan)]
    static bench_botan_hash_based: Table;
}

/// wolfSSL's; the peer is in its own file.
#[cfg(wolfssl)]
pub fn wolfssl() -> Library {
    // SAFETY: a constant of the C file.
    Library { table: unsafe { &bench_wolfssl_hash_based }, stateful: Stateful::Signs }
}

/// OpenSSL 4: it has no XMSS, and verifies LMS alone.
#[cfg(openssl4)]
pub fn openssl() -> Peer {
    let library = Library {
        // SAFETY: a constant of the C file.
        table: unsafe { &bench_openssl_hash_based },
        stateful: Stateful::VerifiesLms,
    };
    peer("OpenSSL", concat!(env!("BENCH_OPENSSL"), "; hash-based signatures alone"), library)
}

/// Botan: it has all of them.
#[cfg(botan)]
pub fn botan() -> Peer {
    // SAFETY: a constant of the C++ file.
    let library = Library { table: unsafe { &bench_botan_hash_based }, stateful: Stateful::Signs };
    peer("Botan", concat!(env!("BENCH_BOTAN"), "; hash-based signatures alone"), library)
}

#[cfg(any(openssl4, botan))]
fn peer(name: &'static str, note: &'static str, library: Library) -> Peer {
    let level = super::vector_level();
    Peer { name, packages: &[], level, note, kem: None, signature: Some(Box::new(library)) }
}

/// The stateful schemes of a library.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stateful {
    /// LMS and XMSS, with signing.
    Signs,
    /// Verification of LMS.
    VerifiesLms,
}

/// A library.
#[derive(Clone, Copy)]
pub struct Library {
    table: &'static Table,
    stateful: Stateful,
}

/// A key object.
struct Key {
    table: &'static Table,
    key: NonNull<c_void>,
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the key is of this table, and is not used again.
        unsafe { (self.table.destroy)(self.key.as_ptr()) }
    }
}

impl Key {
    fn made(
        table: &'static Table,
        make: unsafe extern "C" fn(*const c_char, *const u8, usize) -> *mut c_void,
        set: SignatureSet,
        bytes: &[u8],
    ) -> Self {
        let name = CString::new(set.name()).expect("no NUL in a name");
        // SAFETY: the name ends with NUL, and the bytes are as many as the length says.
        let key = unsafe { make(name.as_ptr(), bytes.as_ptr(), bytes.len()) };
        Self { table, key: NonNull::new(key).expect("the library makes a key") }
    }

    fn public(&self, bytes: &mut [u8]) {
        // SAFETY: as many bytes as the length says are written at most.
        check(unsafe { (self.table.export_public)(self.key.as_ptr(), bytes.as_mut_ptr(), bytes.len()) });
    }

    fn private(&self, bytes: &mut [u8]) {
        // SAFETY: as many bytes as the length says are written at most.
        check(unsafe { (self.table.export_private)(self.key.as_ptr(), bytes.as_mut_ptr(), bytes.len()) });
    }

    fn sign(&self, hedged: bool, message: &[u8], signature: &mut [u8]) {
        // SAFETY: the message is read and the signature is written within their lengths; keys stay on one thread.
        check(unsafe {
            (self.table.sign)(
                self.key.as_ptr(),
                c_int::from(hedged),
                message.as_ptr(),
                message.len(),
                signature.as_mut_ptr(),
                signature.len(),
            )
        });
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        // SAFETY: both are read within their lengths; keys stay on one thread.
        let verdict = unsafe {
            (self.table.verify)(
                self.key.as_ptr(),
                message.as_ptr(),
                message.len(),
                signature.as_ptr(),
                signature.len(),
            )
        };
        verdict == 0
    }
}

fn check(error: c_int) {
    assert_eq!(error, 0, "the library refuses");
}

impl Library {
    fn import_public(self, set: SignatureSet, bytes: &[u8]) -> Key {
        Key::made(self.table, self.table.import_public, set, bytes)
    }

    fn import_private(self, set: SignatureSet, bytes: &[u8]) -> Key {
        Key::made(self.table, self.table.import_private, set, bytes)
    }

    fn generate(self, set: SignatureSet, seed: &[u8]) -> Key {
        Key::made(self.table, self.table.generate, set, seed)
    }

    fn stateless(
        self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: Rc<SignatureCases>,
    ) -> Option<Work> {
        let mut public = vec![0; cases.keys[0].public.len()];
        let mut private = vec![0; cases.keys[0].private.len()];
        let mut signature = vec![0; cases.all[0].signature.len()];
        match (verb, form) {
            (SignatureVerb::Keygen, Form::Default) => {
                let (public, private) = (public.len(), private.len());
                Work::key(
                    move || self.generate(set, &[]),
                    move |key, answer| {
                        let (mut public, mut private) = (vec![0; public], vec![0; private]);
                        key.public(&mut public);
                        key.private(&mut private);
                        answer.set(public, private);
                    },
                )
            }
            (SignatureVerb::Keygen, Form::Oneshot) => Work::exact(move |i, answer| {
                let key = self.generate(set, &cases.key(i).seed);
                key.public(&mut public);
                key.private(&mut private);
                answer.set(&public, &private);
            }),
            (SignatureVerb::Sign, Form::Oneshot) => Work::exact(move |i, answer| {
                let key = self.import_private(set, &cases.key(i).private);
                key.sign(false, &cases.all[i].message, &mut signature);
                answer.set(&signature, []);
            }),
            (SignatureVerb::Sign, Form::Default | Form::Prepared) => {
                let held: Vec<_> =
                    cases.keys.iter().map(|key| self.import_private(set, &key.private)).collect();
                let hedged = form == Form::Default;
                let run = move |i: usize, answer: &mut super::Answer| {
                    let case = &cases.all[i];
                    held[case.key].sign(hedged, &case.message, &mut signature);
                    answer.set(&signature, []);
                };
                if hedged { Work::random(run) } else { Work::exact(run) }
            }
            _ => None,
        }
    }

    /// A key of the library's own, which signs until it has no leaf left.
    fn stateful(self, set: SignatureSet, verb: SignatureVerb, cases: &Rc<SignatureCases>) -> Option<Work> {
        let (public, signature) = (cases.keys[0].public.len(), cases.all[0].signature.len());
        let public_key = move |key: &Key| {
            let mut bytes = vec![0; public];
            key.public(&mut bytes);
            bytes
        };
        match verb {
            SignatureVerb::Keygen => Work::key(
                move || self.generate(set, &[]),
                move |key, answer| {
                    let mut bytes = vec![0; signature];
                    key.sign(false, &super::PROBE, &mut bytes);
                    answer.set(public_key(key), bytes);
                },
            ),
            SignatureVerb::Sign => {
                let key = Rc::new(self.generate(set, &[]));
                let (same, cases, again) = (key.clone(), cases.clone(), cases.clone());
                let (mut bytes, mut compared) = (vec![0; signature], vec![0; signature]);
                Work::unencoded(
                    move |i| key.sign(false, &cases.all[i].message, &mut bytes),
                    move |i, answer| {
                        same.sign(false, &again.all[i].message, &mut compared);
                        answer.set(&compared, public_key(&same));
                    },
                )
            }
            SignatureVerb::Verify => None,
        }
    }
}

impl SignaturePeer for Library {
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work> {
        let library = *self;
        let verifies_alone = self.stateful == Stateful::VerifiesLms;
        match (set.family(), verb, form) {
            (Family::MlDsa, ..) => None,
            (Family::Xmss, ..) if verifies_alone => None,
            (_, SignatureVerb::Verify, Form::Oneshot) => {
                let cases = cases.clone();
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    let key = library.import_public(set, &cases.key(i).public);
                    answer.set([u8::from(key.verify(&case.message, &case.signature))], []);
                })
            }
            (_, SignatureVerb::Verify, Form::Default | Form::Prepared) => {
                let held: Vec<_> =
                    cases.keys.iter().map(|key| library.import_public(set, &key.public)).collect();
                let cases = cases.clone();
                Work::exact(move |i, answer| {
                    let case = &cases.all[i];
                    answer.set([u8::from(held[case.key].verify(&case.message, &case.signature))], []);
                })
            }
            (Family::SlhDsa, ..) => library.stateless(set, verb, form, cases.clone()),
            (Family::Lms | Family::Xmss, ..) if verifies_alone => None,
            (_, SignatureVerb::Keygen, Form::Oneshot) | (_, SignatureVerb::Sign, Form::Prepared) => {
                library.stateful(set, verb, cases)
            }
            _ => None,
        }
    }
}
