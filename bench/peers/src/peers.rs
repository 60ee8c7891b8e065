//! The peers: one file each, every one behind the same small trait for its family.
//!
//! To add a peer: a file here that implements [`KemPeer`] or [`SignaturePeer`], and a line in [`all`].

use std::hint::black_box;
use std::rc::Rc;

use gambeson::cpu::Level;

use crate::cases::{KemCases, SignatureCases};

mod aws_lc;
mod graviola;
#[cfg(any(wolfssl, openssl4, botan))]
mod hash_based;
mod hbs_lms;
mod libcrux;
#[cfg(feature = "oqs")]
mod oqs;
pub mod ours;
mod pqcrypto;
mod rustcrypto;
#[cfg(wolfssl)]
mod wolfssl;

/// What an operation starts from and what it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The calls of the first documented example of the library, with the randomness that it draws. Ours is the one for
    /// Rust in README.md; the file of each peer cites its own. All are cut into rows in the same way:
    ///
    /// * Key generation is the call that makes the key, and its drop. Nothing is encoded.
    /// * The other operations are their call, with the key objects that the example holds since key generation: they were
    ///   made before. What the example makes for that call alone is made within the time, out of another key or of bytes
    ///   that arrive: our encapsulation key is, because README.md receives its bytes.
    /// * Messages, ciphertexts and signatures are there before, as the call takes them. The messages are those of the other
    ///   forms, with an empty context: not every peer's example has one.
    Default,
    /// From key bytes, all work included. Private keys: the standard's encoding (2400 bytes for ML-KEM-768).
    Oneshot,
    /// From the seed of the private key, all work included: for the peers that import private keys so.
    Seed,
    /// The key object was prepared before, outside the measured time.
    Prepared,
    /// Ours with the least memory: public keys stay bytes, private keys stay seeds. A peer keeps the same bytes and
    /// does what its API does with them, in whatever memory that takes.
    Compact,
    /// An operation of a batch of [`BATCH`] from key bytes, each under a key of its own. No peer has such a door: they do
    /// the same work one by one, as in `oneshot`.
    Batch64,
    /// An operation of a batch of [`EIGHT`] under one key. Its rival is our operation alone, [`SINGLE`]: a batch is no slower.
    Batch8,
}

/// The message that a stateful key signs once it has been made, so that the pair is seen to belong together.
pub const PROBE: [u8; 32] = [7; 32];

/// Operations of a batch under as many keys.
pub const BATCH: usize = 64;
/// Operations of a batch under one key.
pub const EIGHT: usize = 8;
/// The name of our operations one by one, beside those of a batch under one key.
pub const SINGLE: &str = "gambeson, one by one";

impl Form {
    /// The name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Form::Default => "default",
            Form::Oneshot => "oneshot",
            Form::Seed => "seed",
            Form::Prepared => "prepared",
            Form::Compact => "compact",
            Form::Batch64 => "batch64",
            Form::Batch8 => "batch8",
        }
    }
}

/// A parameter set of ML-KEM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KemSet {
    /// ML-KEM-512
    MlKem512,
    /// ML-KEM-768
    MlKem768,
    /// ML-KEM-1024
    MlKem1024,
}

impl KemSet {
    /// All of them.
    pub const ALL: [KemSet; 3] = [KemSet::MlKem512, KemSet::MlKem768, KemSet::MlKem1024];

    /// The standard's name.
    pub fn name(self) -> &'static str {
        match self {
            KemSet::MlKem512 => "ML-KEM-512",
            KemSet::MlKem768 => "ML-KEM-768",
            KemSet::MlKem1024 => "ML-KEM-1024",
        }
    }
}

/// What a KEM does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KemVerb {
    /// From a seed (or the peer's own randomness) to encoded keys. `oneshot`: both keys in the standard's
    /// encoding; `compact`: the public key encoded, the private one being its seed.
    Keygen,
    /// From an encapsulation key to a ciphertext and a shared secret.
    Encaps,
    /// From a decapsulation key and a ciphertext to a shared secret.
    Decaps,
}

/// A family of signature schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// ML-DSA
    MlDsa,
    /// SLH-DSA
    SlhDsa,
    /// LMS, as HSS with one level
    Lms,
    /// XMSS
    Xmss,
}

/// A parameter set of a signature scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureSet {
    /// ML-DSA-44
    MlDsa44,
    /// ML-DSA-65
    MlDsa65,
    /// ML-DSA-87
    MlDsa87,
    /// SLH-DSA-SHA2-128s
    SlhDsaSha2_128s,
    /// SLH-DSA-SHA2-128f
    SlhDsaSha2_128f,
    /// SLH-DSA-SHA2-192s
    SlhDsaSha2_192s,
    /// SLH-DSA-SHA2-256s
    SlhDsaSha2_256s,
    /// SLH-DSA-SHA2-256f
    SlhDsaSha2_256f,
    /// SLH-DSA-SHAKE-128f
    SlhDsaShake128f,
    /// LMS_SHA256_M32_H10 with LMOTS_SHA256_N32_W8
    LmsSha256H10W8,
    /// XMSS-SHA2_10_256
    XmssSha2_10_256,
}

impl SignatureSet {
    /// All of them.
    pub const ALL: [SignatureSet; 11] = [
        SignatureSet::MlDsa44,
        SignatureSet::MlDsa65,
        SignatureSet::MlDsa87,
        SignatureSet::SlhDsaSha2_128s,
        SignatureSet::SlhDsaSha2_128f,
        SignatureSet::SlhDsaSha2_192s,
        SignatureSet::SlhDsaSha2_256s,
        SignatureSet::SlhDsaSha2_256f,
        SignatureSet::SlhDsaShake128f,
        SignatureSet::LmsSha256H10W8,
        SignatureSet::XmssSha2_10_256,
    ];

    /// The standard's name.
    pub fn name(self) -> &'static str {
        match self {
            SignatureSet::MlDsa44 => "ML-DSA-44",
            SignatureSet::MlDsa65 => "ML-DSA-65",
            SignatureSet::MlDsa87 => "ML-DSA-87",
            SignatureSet::SlhDsaSha2_128s => "SLH-DSA-SHA2-128s",
            SignatureSet::SlhDsaSha2_128f => "SLH-DSA-SHA2-128f",
            SignatureSet::SlhDsaSha2_192s => "SLH-DSA-SHA2-192s",
            SignatureSet::SlhDsaSha2_256s => "SLH-DSA-SHA2-256s",
            SignatureSet::SlhDsaSha2_256f => "SLH-DSA-SHA2-256f",
            SignatureSet::SlhDsaShake128f => "SLH-DSA-SHAKE-128f",
            SignatureSet::LmsSha256H10W8 => "LMS-SHA256-H10-W8",
            SignatureSet::XmssSha2_10_256 => "XMSS-SHA2_10_256",
        }
    }

    /// The scheme.
    pub fn family(self) -> Family {
        match self {
            SignatureSet::MlDsa44 | SignatureSet::MlDsa65 | SignatureSet::MlDsa87 => Family::MlDsa,
            SignatureSet::LmsSha256H10W8 => Family::Lms,
            SignatureSet::XmssSha2_10_256 => Family::Xmss,
            _ => Family::SlhDsa,
        }
    }
}

/// What a signature scheme does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureVerb {
    /// From a seed (or the peer's own randomness) to encoded keys, as [`KemVerb::Keygen`].
    Keygen,
    /// From a signing key and a message of 32 bytes to a signature; deterministic where the peer can. With a stateful key
    /// every call signs with the next leaf.
    Sign,
    /// From a verifying key, a message and a signature to the verdict.
    Verify,
}

/// What an operation gave: what is public of it, and what is private.
#[derive(Default)]
pub struct Answer {
    /// Encoded public key, ciphertext, signature; a verdict is one byte, 1 for valid.
    pub public: Vec<u8>,
    /// Encoded private key, shared secret; else empty.
    pub private: Vec<u8>,
}

impl Answer {
    /// Replaces both parts; the buffers keep their memory, so that nobody is charged for an allocation of ours.
    pub fn set(&mut self, public: impl AsRef<[u8]>, private: impl AsRef<[u8]>) {
        self.public.clear();
        self.private.clear();
        self.add(public, private);
    }

    /// Appends to both parts.
    pub fn add(&mut self, public: impl AsRef<[u8]>, private: impl AsRef<[u8]>) {
        self.public.extend_from_slice(public.as_ref());
        self.private.extend_from_slice(private.as_ref());
    }
}

/// Does the work of the case of that number, and says what it gave.
pub type Run = dyn FnMut(usize, &mut Answer);

/// An operation, ready to run.
pub struct Work {
    /// The work itself.
    pub run: Box<Run>,
    /// Randomness is drawn here: the outputs differ from those of the cases and are checked across instead.
    pub random: bool,
    /// The work with its result encoded, where `run` encodes nothing: for the comparison alone.
    pub encoded: Option<Box<Run>>,
    /// The outputs are those of another version of the standard. What is compared is one byte, 1 if the peer's inverse operation accepts
    /// the output and refuses a tampered one.
    pub apart: bool,
    /// How many operations one run does. A batch does all good cases in one, whatever the number of the case, and gives
    /// their outputs one after the other; only asked for the tampered case it puts that in the place of the last.
    pub batch: usize,
}

impl Work {
    /// Work whose output is a function of the case.
    pub fn exact(run: impl FnMut(usize, &mut Answer) + 'static) -> Option<Self> {
        Some(Self { run: Box::new(run), random: false, encoded: None, apart: false, batch: 1 })
    }

    /// Work for which the peer draws randomness, at its own cost.
    pub fn random(run: impl FnMut(usize, &mut Answer) + 'static) -> Option<Self> {
        Some(Self { run: Box::new(run), random: true, encoded: None, apart: false, batch: 1 })
    }

    /// Work whose outputs are those of another version of the standard, and the same work with its round trip.
    pub fn apart(
        run: impl FnMut(usize) + 'static,
        mut round_trip: impl FnMut(usize) -> bool + 'static,
    ) -> Option<Self> {
        let compared = move |i: usize, answer: &mut Answer| answer.set([u8::from(round_trip(i))], []);
        Self::unencoded(run, compared).map(|work| Self { apart: true, ..work })
    }

    /// Work that draws randomness and encodes nothing, and the work with its result encoded.
    pub fn unencoded(
        mut run: impl FnMut(usize) + 'static,
        encoded: impl FnMut(usize, &mut Answer) + 'static,
    ) -> Option<Self> {
        let run = move |i: usize, _: &mut Answer| run(i);
        Some(Self {
            run: Box::new(run),
            random: true,
            encoded: Some(Box::new(encoded)),
            apart: false,
            batch: 1,
        })
    }

    /// The generation of a key object, and its drop.
    pub fn key<K>(
        generate: impl Fn() -> K + 'static,
        encode: impl Fn(&K, &mut Answer) + 'static,
    ) -> Option<Self> {
        let generate = Rc::new(generate);
        let again = generate.clone();
        Self::unencoded(
            move |_| {
                black_box(&generate());
            },
            move |_, answer| encode(&again(), answer),
        )
    }

    /// The work whose answer can be compared.
    pub fn compared(&mut self) -> &mut Run {
        self.encoded.as_mut().unwrap_or(&mut self.run)
    }

    /// A batch of that many operations whose outputs are a function of the cases.
    pub fn batch(batch: usize, run: impl FnMut(usize, &mut Answer) + 'static) -> Option<Self> {
        Some(Self { run: Box::new(run), random: false, encoded: None, apart: false, batch })
    }
}

/// A peer's ML-KEM.
pub trait KemPeer {
    /// The work of `verb` in `form` over `cases`; `None` where the peer has no such door.
    fn work(&self, set: KemSet, verb: KemVerb, form: Form, cases: &Rc<KemCases>) -> Option<Work>;
}

/// A peer's signatures.
pub trait SignaturePeer {
    /// The work of `verb` in `form` over `cases`; `None` where the peer has no such door.
    fn work(
        &self,
        set: SignatureSet,
        verb: SignatureVerb,
        form: Form,
        cases: &Rc<SignatureCases>,
    ) -> Option<Work>;
}

/// A library that does the same work as ours.
pub struct Peer {
    /// The name in the report.
    pub name: &'static str,
    /// The packages whose versions the report quotes.
    pub packages: &'static [&'static str],
    /// The instructions that it uses on this machine.
    pub level: Level,
    /// What a reader of the figures must know.
    pub note: &'static str,
    /// Its ML-KEM.
    pub kem: Option<Box<dyn KemPeer>>,
    /// Its signatures.
    pub signature: Option<Box<dyn SignaturePeer>>,
}

/// The column of our operations one by one.
pub fn single() -> Peer {
    Peer {
        name: SINGLE,
        packages: &[],
        level: gambeson::mldsa::kernels(),
        note: "the rival of `batch8`",
        kem: None,
        signature: None,
    }
}

/// Every peer that can run on this machine, at its best below `limit`.
pub fn all(limit: Option<Level>) -> Vec<Peer> {
    let mut peers =
        vec![rustcrypto::peer(), libcrux::portable(), aws_lc::peer(), pqcrypto::peer(), hbs_lms::peer()];
    #[cfg(openssl4)]
    peers.push(hash_based::openssl());
    #[cfg(botan)]
    peers.push(hash_based::botan());
    peers.extend(libcrux::avx2());
    peers.extend(graviola::peer());
    #[cfg(feature = "oqs")]
    peers.push(oqs::peer());
    #[cfg(wolfssl)]
    peers.extend(wolfssl::peer(limit));
    peers.retain(|peer| limit.is_none_or(|limit| peer.level <= limit));
    peers
}

/// The level of a peer that has vector code for this architecture and chooses it at run time.
fn vector_level() -> Level {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2") {
        return Level::Avx2;
    }
    if cfg!(target_arch = "aarch64") { Level::Neon } else { Level::Portable }
}
