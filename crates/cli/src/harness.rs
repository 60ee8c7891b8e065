//! The vector harness: requests in JSON, a line each, and their answers.
//!
//! Anyone can drive the library with test vectors through it, without linking to it. It is for testing: it
//! takes and prints secrets, and its `sign` is deterministic unless the request gives `rnd`.
//!
//! # Layout
//!
//! * `request`: the fields of a request, and the codes of its refusals
//! * `signed`: the message of a request for signatures
//! * `hash`, `mlkem`, `mldsa`, `slhdsa`, `lms`, `xmss`, `xwing`, `hybrid`, `composite`, `curves`: the operations, one function each
//! * `borrowed`: operations of other crates, through the doors of ours that use them
//! * this file: the table of them, and the loop over lines

mod borrowed;
mod composite;
mod curves;
mod hash;
mod hybrid;
mod lms;
mod mldsa;
mod mlkem;
mod request;
mod signed;
mod slhdsa;
mod xmss;
mod xwing;

pub(crate) use request::{decode as from_hex, hex};

use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
use request::{Code, Fields, Refusal};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The longest line that is taken for a request, in bytes.
const MAX_LINE: usize = 64 << 20;

/// The stack that every request has, in bytes: more than any needs, also in a build with all checks.
const STACK: usize = 64 << 20;

type Result_<T> = Result<T, Refusal>;

/// The fields of a result, or why there is none.
type Answer = Result_<Map<String, Value>>;

/// One operation of one algorithm.
type Operation = fn(Fields<'_>) -> Answer;

/// One algorithm: its name, and its operations by name.
type Algorithm = (&'static str, &'static [(&'static str, Operation)]);

macro_rules! mlkem {
    ($name:literal, $set:ty) => {
        (
            $name,
            &[
                ("keygen", mlkem::keygen::<$set>),
                ("encaps", mlkem::encaps::<$set>),
                ("decaps", mlkem::decaps::<$set>),
                ("checkEk", mlkem::check_ek::<$set>),
                ("checkDk", mlkem::check_dk::<$set>),
            ],
        )
    };
}

macro_rules! hybrid {
    ($name:literal) => {
        ($name, &[("keygen", hybrid::keygen), ("encaps", hybrid::encaps), ("decaps", hybrid::decaps)])
    };
}

macro_rules! composite {
    ($name:literal) => {
        ($name, &[("pubkey", composite::pubkey), ("sign", composite::sign), ("verify", composite::verify)])
    };
}

macro_rules! mldsa {
    ($name:literal, $set:ty) => {
        (
            $name,
            &[
                ("keygen", mldsa::keygen::<$set>),
                ("sign", mldsa::sign::<$set>),
                ("verify", mldsa::verify::<$set>),
            ],
        )
    };
}

macro_rules! slhdsa {
    ($name:literal) => {
        ($name, &[("keygen", slhdsa::keygen), ("sign", slhdsa::sign), ("verify", slhdsa::verify)])
    };
}

/// Everything that the harness can do; `info` lists it.
const ALGORITHMS: &[Algorithm] = &[
    mlkem!("ML-KEM-512", MlKem512),
    mlkem!("ML-KEM-768", MlKem768),
    mlkem!("ML-KEM-1024", MlKem1024),
    mldsa!("ML-DSA-44", MlDsa44),
    mldsa!("ML-DSA-65", MlDsa65),
    mldsa!("ML-DSA-87", MlDsa87),
    slhdsa!("SLH-DSA-SHA2-128s"),
    slhdsa!("SLH-DSA-SHAKE-128s"),
    slhdsa!("SLH-DSA-SHA2-128f"),
    slhdsa!("SLH-DSA-SHAKE-128f"),
    slhdsa!("SLH-DSA-SHA2-192s"),
    slhdsa!("SLH-DSA-SHAKE-192s"),
    slhdsa!("SLH-DSA-SHA2-192f"),
    slhdsa!("SLH-DSA-SHAKE-192f"),
    slhdsa!("SLH-DSA-SHA2-256s"),
    slhdsa!("SLH-DSA-SHAKE-256s"),
    slhdsa!("SLH-DSA-SHA2-256f"),
    slhdsa!("SLH-DSA-SHAKE-256f"),
    ("LMS", &[("keygen", lms::keygen), ("sign", lms::sign), ("verify", lms::verify)]),
    ("HSS", &[("keygen", lms::hss_keygen), ("sign", lms::hss_sign), ("verify", lms::hss_verify)]),
    ("XMSS", &[("keygen", xmss::keygen), ("sign", xmss::sign), ("verify", xmss::verify)]),
    ("XMSSMT", &[("keygen", xmss::mt_keygen), ("sign", xmss::mt_sign), ("verify", xmss::mt_verify)]),
    ("X-Wing", &[("keygen", xwing::keygen), ("encaps", xwing::encaps), ("decaps", xwing::decaps)]),
    hybrid!("X25519MLKEM768"),
    hybrid!("SecP256r1MLKEM768"),
    hybrid!("SecP384r1MLKEM1024"),
    hybrid!("X448MLKEM768"),
    hybrid!("X448MLKEM1024"),
    hybrid!("MLKEM768-P256"),
    hybrid!("MLKEM1024-P384"),
    hybrid!("MLKEM768-X25519-SHA3-256"),
    hybrid!("MLKEM768-ECDH-P256-SHA3-256"),
    hybrid!("MLKEM768-ECDH-P384-SHA3-256"),
    hybrid!("MLKEM1024-ECDH-P384-SHA3-256"),
    hybrid!("MLKEM1024-X448-SHA3-256"),
    composite!("MLDSA87-Ed448-SHAKE256"),
    composite!("MLDSA87-ECDSA-P384-SHA512"),
    composite!("MLDSA65-Ed25519-SHA512"),
    composite!("MLDSA65-ECDSA-P384-SHA512"),
    composite!("MLDSA65-ECDSA-P256-SHA512"),
    composite!("MLDSA44-Ed25519-SHA512"),
    composite!("MLDSA44-ECDSA-P256-SHA256"),
    (
        "Ed448",
        &[
            ("pubkey", composite::ed448_pubkey),
            ("sign", composite::ed448_sign),
            ("verify", composite::ed448_verify),
        ],
    ),
    ("X25519", &[("dh", borrowed::x25519)]),
    ("X448", &[("dh", curves::x448)]),
    ("Ed25519", &[("verify", borrowed::ed25519_verify)]),
    ("ECDSA-P256", &[("verify", borrowed::ecdsa_p256_verify)]),
    ("ECDSA-P384", &[("verify", borrowed::ecdsa_p384_verify)]),
    ("ECDH-P256", &[("dh", borrowed::ecdh_p256), ("checkPk", borrowed::ecdh_p256_check)]),
    ("ECDH-P384", &[("dh", borrowed::ecdh_p384), ("checkPk", borrowed::ecdh_p384_check)]),
    ("AES-128-GCM", &[("encrypt", borrowed::aes128_gcm_encrypt), ("decrypt", borrowed::aes128_gcm_decrypt)]),
    ("AES-256-GCM", &[("encrypt", borrowed::aes256_gcm_encrypt), ("decrypt", borrowed::aes256_gcm_decrypt)]),
    (
        "ChaCha20-Poly1305",
        &[("encrypt", borrowed::chacha20_poly1305_encrypt), ("decrypt", borrowed::chacha20_poly1305_decrypt)],
    ),
    ("HKDF-SHA2-256", &[("derive", borrowed::hkdf_sha256)]),
    ("HKDF-SHA2-384", &[("derive", borrowed::hkdf_sha384)]),
    ("HKDF-SHA2-512", &[("derive", borrowed::hkdf_sha512)]),
    ("HMAC-SHA2-256", &[("mac", borrowed::hmac_sha256), ("verify", borrowed::hmac_sha256_verify)]),
    ("HMAC-SHA2-384", &[("mac", borrowed::hmac_sha384), ("verify", borrowed::hmac_sha384_verify)]),
    ("HMAC-SHA2-512", &[("mac", borrowed::hmac_sha512), ("verify", borrowed::hmac_sha512_verify)]),
    ("SHA3-224", &[("hash", hash::sha3_224)]),
    ("SHA3-256", &[("hash", hash::sha3_256)]),
    ("SHA3-384", &[("hash", hash::sha3_384)]),
    ("SHA3-512", &[("hash", hash::sha3_512)]),
    ("SHAKE-128", &[("hash", hash::shake128)]),
    ("SHAKE-256", &[("hash", hash::shake256)]),
    ("cSHAKE-128", &[("hash", hash::cshake128)]),
    ("cSHAKE-256", &[("hash", hash::cshake256)]),
    ("KMAC-128", &[("mac", hash::kmac128)]),
    ("KMAC-256", &[("mac", hash::kmac256)]),
];

/// Whether `info` lists the algorithm `name`.
pub(crate) fn lists(name: &str) -> bool {
    ALGORITHMS.iter().any(|(algorithm, _)| *algorithm == name)
}

/// A result of these fields.
fn answer<const N: usize, T: Into<Value>>(fields: [(&str, T); N]) -> Answer {
    Ok(fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect())
}

/// What the program is and can do.
fn info() -> Map<String, Value> {
    let algorithms: Map<String, Value> = ALGORITHMS
        .iter()
        .map(|(name, operations)| {
            let operations: Vec<&str> = operations.iter().map(|(operation, _)| *operation).collect();
            ((*name).to_owned(), json!(operations))
        })
        .collect();
    Map::from_iter([
        ("name".to_owned(), json!("gambeson")),
        ("version".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
        ("algs".to_owned(), Value::Object(algorithms)),
    ])
}

/// The result of a request.
fn result(request: &Map<String, Value>) -> Answer {
    let fields = Fields(request);
    let operation = fields.text("op")?.ok_or_else(|| Refusal::bad_request("`op` is missing"))?;
    if operation == "info" {
        return Ok(info());
    }
    let algorithm = fields.text("alg")?.ok_or_else(|| Refusal::bad_request("`alg` is missing"))?;
    let (_, operations) = ALGORITHMS
        .iter()
        .find(|(name, _)| *name == algorithm)
        .ok_or_else(|| Refusal::unsupported("unknown `alg`"))?;
    let (_, run) = operations
        .iter()
        .find(|(name, _)| *name == operation)
        .ok_or_else(|| Refusal::unsupported("unknown `op` for this `alg`"))?;
    run(fields)
}

/// The answer to the request `line`, as a line without its end. Never panics.
pub(crate) fn respond(line: &[u8]) -> String {
    respond_by(result, line)
}

fn respond_by(result: impl Fn(&Map<String, Value>) -> Answer, line: &[u8]) -> String {
    let (id, outcome) = match read(line) {
        Ok(Request { id, fields }) => {
            // A panic leaves nothing behind that a later request could see: there is no state.
            let outcome = catch_unwind(AssertUnwindSafe(|| result(&fields)));
            (id, outcome.unwrap_or_else(|_| Err(Refusal::new(Code::Internal, "the operation panicked"))))
        }
        Err(refusal) => (None, Err(refusal)),
    };
    line_of(id.as_deref(), outcome)
}

/// A line that was read.
struct Request {
    /// As it stands there, if it is a number or a string.
    id: Option<Box<RawValue>>,
    /// All else.
    fields: Map<String, Value>,
}

fn read(line: &[u8]) -> Result_<Request> {
    let no_json = || Refusal::new(Code::BadJson, "the line is not JSON");
    let mut raw: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(line).map_err(|_| match serde_json::from_slice::<Value>(line) {
            Ok(_) => Refusal::new(Code::BadJson, "the line is JSON, but not an object"),
            Err(_) => no_json(),
        })?;
    // Numbers of any size are numbers here; of all else, what is no value is no JSON.
    let id = match raw.remove("id") {
        Some(id) if id.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()) => Some(id),
        Some(id) => match serde_json::from_str(id.get()).map_err(|_| no_json())? {
            Value::String(_) => Some(id),
            _ => None,
        },
        None => None,
    };
    let fields = raw.into_iter().map(|(name, value)| Ok((name, serde_json::from_str(value.get())?)));
    let fields = fields.collect::<serde_json::Result<_>>().map_err(|_| no_json())?;
    Ok(Request { id, fields })
}

/// The line for `outcome`.
fn line_of(id: Option<&RawValue>, outcome: Answer) -> String {
    let fields = outcome.unwrap_or_else(|refusal| {
        Map::from_iter([
            ("error".to_owned(), refusal.code.name().into()),
            ("detail".to_owned(), refusal.detail.into()),
        ])
    });
    let mut line = Value::Object(fields).to_string();
    if let Some(id) = id {
        // No answer is empty: something stands before the comma.
        line.pop();
        line.push_str(",\"id\":");
        line.push_str(id.get());
        line.push('}');
    }
    line
}

/// Answers the lines of `input` on `output`, in order, until the end of `input`.
///
/// Flushes whenever no whole line is waiting.
///
/// # Errors
/// `input` cannot be read or `output` cannot be written.
pub(crate) fn serve(input: impl Read + Send, output: impl Write + Send) -> io::Result<()> {
    on_a_large_stack(|| answer_lines(BufReader::with_capacity(1 << 20, input), output))
}

/// Runs `work` on a thread whose stack suffices for every operation.
pub(crate) fn on_a_large_stack<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the worker thread panicked")))
    })
}

fn answer_lines(mut input: BufReader<impl Read>, mut output: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return output.flush();
        }
        let answer = if line.last() == Some(&b'\n') {
            respond(&line[..read - 1])
        } else if read > MAX_LINE {
            input.skip_until(b'\n')?;
            line_of(None, Err(Refusal::new(Code::BadRequest, "the line is longer than 64 MiB")))
        } else {
            respond(&line)
        };
        output.write_all(answer.as_bytes())?;
        output.write_all(b"\n")?;
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
        // One huge request does not keep its memory for the rest of the run.
        if line.capacity() > 1 << 20 {
            line = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_an_operation_is_the_error_internal() {
        let answer = respond_by(|_| panic!("planted"), br#"{"id":1}"#);
        assert_eq!(answer, r#"{"detail":"the operation panicked","error":"internal","id":1}"#);
    }

    #[test]
    fn every_hybrid_and_every_composite_is_listed() {
        use gambeson_hybrid::{composite, kem};
        assert!(kem::KEMS.iter().all(|kem| lists(kem.name())));
        assert!(composite::ALGORITHMS.iter().all(|algorithm| lists(algorithm.name())));
    }

    #[test]
    fn algorithms_and_operations_are_listed_once() {
        for (i, (name, operations)) in ALGORITHMS.iter().enumerate() {
            assert!(lists(name));
            assert!(ALGORITHMS[..i].iter().all(|(other, _)| other != name), "{name}");
            assert!(!operations.is_empty(), "{name}");
        }
        assert!(!lists("RSA"));
    }
}
