//! The commands `sign` and `verify`. With ML-DSA files have any size, are read once and never held; SLH-DSA hashes a file twice to sign it, and
//! HSS begins with a part of the signature, so that both hold the file in memory.

use crate::args::{Context, Sign, Verify};
use crate::beside;
use crate::console::{Console, counted};
use crate::error::{Error, Status};
use crate::files::{self, Access, Input, is_stream};
use crate::keyfile::{KeyFile, PrivateKey, PublicKey};
use gambeson::mldsa::{ContextTooLong, Message, MuHasher, ParameterSet, SigningKey, VerifyingKey};
use gambeson::slhdsa;
use gambeson_pki as pki;
use serde_json::json;
use std::path::Path;

/// The end of the name of a signature.
const EXTENSION: &str = "sig";

/// The longest file that is held in memory, in bytes.
const MAX_HELD: usize = 1 << 30;

pub(crate) fn sign(console: Console, options: &Sign) -> Result<Status, Error> {
    let pairs = beside::to_sign(&options.files, options.out.as_deref(), EXTENSION)?;
    let inputs = pairs.iter().map(|(file, _)| file.as_path()).chain([options.key.as_path()]);
    crate::sealing::one_standard_input(inputs)?;
    let context = context(&options.context)?;
    for (file, out) in &pairs {
        files::refuse_same(file, out)?;
        files::refuse_same(&options.key, out)?;
        files::refuse_existing(out, options.force)?;
    }
    let (name, key) = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?.private()?;
    for (file, out) in &pairs {
        let job = Signing { console, file, context: &context, deterministic: options.deterministic };
        let (signature, bytes) = match &key {
            PrivateKey::Pki(pki::PrivateKey::MlDsa44(key)) => job.sign(key)?,
            PrivateKey::Pki(pki::PrivateKey::MlDsa65(key)) => job.sign(key)?,
            PrivateKey::Pki(pki::PrivateKey::MlDsa87(key)) => job.sign(key)?,
            PrivateKey::Pki(pki::PrivateKey::SlhDsa(key)) => job.sign_held(key)?,
            _ => return Err(not_for_files(&name, key.algorithm())),
        };
        files::write(out, &signature, Access::Shared, options.force)?;
        console.report(
            format_args!(
                "signed {} ({}) with {}: {}",
                file.display(),
                counted(bytes, "byte"),
                key.algorithm(),
                out.display()
            ),
            json!({
                "type": "signed",
                "file": file.display().to_string(),
                "bytes": bytes,
                "alg": key.algorithm(),
                "signature": out.display().to_string(),
                "signatureBytes": signature.len(),
                "deterministic": options.deterministic,
            }),
        )?;
    }
    Ok(Status::Done)
}

pub(crate) fn verify(console: Console, options: &Verify) -> Result<Status, Error> {
    let pairs = beside::to_verify(&options.files, options.signature.as_deref(), EXTENSION)?;
    let paths = pairs.iter().flat_map(|(file, signature)| [file.as_path(), signature.as_path()]);
    let keys = [&options.key, &options.cert, &options.roots].into_iter().flatten().map(|path| path.as_path());
    crate::sealing::one_standard_input(paths.chain(keys))?;
    let context = context(&options.context)?;
    let signer = match signer(options)? {
        Ok(signer) => signer,
        Err((reason, detail)) => {
            console.report(
                format_args!("NOT VERIFIED: {detail} ({reason})"),
                json!({"type": "verdict", "verified": false, "reason": reason, "detail": detail}),
            )?;
            return Ok(Status::NotVerified);
        }
    };
    let mut status = Status::Done;
    for (file, signature) in &pairs {
        if !verify_one(console, &signer, (file, signature), &context)? {
            status = Status::NotVerified;
        }
    }
    Ok(status)
}

/// The signer that a signature must be of.
struct Signer {
    key: PublicKey,
    /// The file of the key or of the certificate.
    file: String,
    /// The holder of the key, or the subject of the certificate.
    name: String,
}

/// The signer that the command line names; the inner error tells why a certificate does not hold.
fn signer(options: &Verify) -> Result<Result<Signer, (&'static str, String)>, Error> {
    if let Some(path) = &options.key {
        let (name, key) = KeyFile::read(path, options.passphrase.passphrase_fd)?.public();
        return Ok(Ok(Signer { key, name: format!("the holder of {name}"), file: name }));
    }
    let (Some(path), Some(roots)) = (&options.cert, &options.roots) else {
        return Err(Error::usage("the signer is missing: name it with --key, or with --cert and --roots"));
    };
    let roots = crate::cert::roots(roots)?;
    let mut others = crate::cert::certificates(path)?;
    let certificate = others.remove(0);
    if let Err(error) = pki::Verifier::new(&roots).verify(&certificate, &others) {
        return Ok(Err((error.failure().code(), error.to_string())));
    }
    let file = path.display().to_string();
    let key = certificate.public_key().map_err(|error| crate::keyfile::pki_error(&file, error))?;
    Ok(Ok(Signer { key: PublicKey::Pki(key), file, name: certificate.subject().to_string() }))
}

/// Verifies one file and reports; whether it holds.
fn verify_one(
    console: Console,
    signer: &Signer,
    (file, signature_path): (&Path, &Path),
    context: &[u8],
) -> Result<bool, Error> {
    let signature = files::read_small(signature_path)?;
    let job = Verifying { console, file, context, signature: &signature };
    let (verdict, bytes) = match &signer.key {
        PublicKey::Pki(pki::PublicKey::MlDsa44(key)) => job.verify(key)?,
        PublicKey::Pki(pki::PublicKey::MlDsa65(key)) => job.verify(key)?,
        PublicKey::Pki(pki::PublicKey::MlDsa87(key)) => job.verify(key)?,
        PublicKey::Pki(pki::PublicKey::SlhDsa(key)) => job.verify_slh_dsa(key)?,
        PublicKey::Pki(pki::PublicKey::Stateful(key)) => job.verify_stateful(key)?,
        _ => return Err(not_for_files(&signer.file, signer.key.algorithm())),
    };
    let (algorithm, name) = (signer.key.algorithm(), file.display());
    let mut report = json!({"type": "verdict", "verified": true, "file": name.to_string(), "bytes": bytes, "alg": algorithm});
    let text = match verdict {
        Ok(()) => format!("verified: {name} ({}) was signed by {}", counted(bytes, "byte"), signer.name),
        Err(ref refused) => {
            let detail = refused.detail(&signature_path.display().to_string(), algorithm, context);
            report["verified"] = false.into();
            report["reason"] = refused.reason().into();
            report["detail"] = detail.clone().into();
            format!("NOT VERIFIED: {name}: {detail} ({})", refused.reason())
        }
    };
    console.report(text, report)?;
    Ok(verdict.is_ok())
}

fn not_for_files(name: &str, algorithm: &str) -> Error {
    Error::usage(format!("{name}: is an {algorithm} key; files are signed with ML-DSA or SLH-DSA"))
}

/// The result of a verification.
type Verdict = Result<(), Refused>;

/// Why a signature does not hold.
enum Refused {
    /// It has so many bytes, and one by this key has so many.
    Length(usize, usize),
    /// It holds without the context that was asked for.
    WithoutContext,
    Signature,
}

impl Refused {
    fn reason(&self) -> &'static str {
        match self {
            Self::Length(..) => "signature-length",
            Self::WithoutContext => "context",
            Self::Signature => "bad-signature",
        }
    }

    fn detail(&self, signature: &str, algorithm: &str, context: &[u8]) -> String {
        match self {
            Self::Length(found, expected) => {
                let of = match found {
                    2420 => ", that of an ML-DSA-44 signature",
                    3309 => ", that of an ML-DSA-65 signature",
                    4627 => ", that of an ML-DSA-87 signature",
                    7_856 => ", that of an SLH-DSA 128s signature",
                    16_224 => ", that of an SLH-DSA 192s signature",
                    17_088 => ", that of an SLH-DSA 128f signature",
                    29_792 => ", that of an SLH-DSA 256s signature",
                    35_664 => ", that of an SLH-DSA 192f signature",
                    49_856 => ", that of an SLH-DSA 256f signature",
                    _ => "",
                };
                format!("{signature} has {found} bytes{of}; a signature by an {algorithm} key has {expected}")
            }
            Self::WithoutContext => {
                format!(
                    "the signature in {signature} was made without a context; verify it without --context"
                )
            }
            Self::Signature if context.is_empty() => format!(
                "the signature in {signature} belongs to another key, another file or a context, which --context names"
            ),
            Self::Signature => {
                format!(
                    "the signature in {signature} belongs to another key, another file or another context"
                )
            }
        }
    }
}

/// What to sign, and how.
struct Signing<'a> {
    console: Console,
    file: &'a Path,
    context: &'a [u8],
    deterministic: bool,
}

impl Signing<'_> {
    /// The signature, and the length of the file.
    fn sign<P: ParameterSet>(&self, key: &SigningKey<P>) -> Result<(Vec<u8>, u64), Error> {
        let (mu, bytes) = mu(self.console, self.file, key.mu_hasher(self.context))?;
        let signature = if self.deterministic {
            key.sign_deterministic(Message::mu(&mu))
        } else {
            key.sign(Message::mu(&mu)).map_err(Error::randomness)?
        };
        Ok((signature.as_ref().to_vec(), bytes))
    }

    /// The signature of a file that is held in memory, and the length of the file.
    fn sign_held(&self, key: &slhdsa::SigningKey) -> Result<(Vec<u8>, u64), Error> {
        let content = files::read_at_most(self.file, MAX_HELD)?;
        let message = slhdsa::Message::pure(&content, self.context).map_err(|_| too_long())?;
        let signature = match self.deterministic {
            true => key.sign_deterministic(message),
            false => key.sign(message).map_err(Error::randomness)?,
        };
        Ok((signature, content.len() as u64))
    }
}

/// What to verify.
struct Verifying<'a> {
    console: Console,
    file: &'a Path,
    context: &'a [u8],
    signature: &'a [u8],
}

impl Verifying<'_> {
    /// Verifies the signature; the reason if it does not hold, and the length of the file.
    fn verify<P: ParameterSet>(&self, key: &VerifyingKey<P>) -> Result<(Verdict, u64), Error> {
        let (is_held, bytes) = self.holds(key, self.context)?;
        let length = size_of::<P::Signature>();
        let holds_without = || Ok(!is_stream(self.file) && self.holds(key, b"")?.0);
        Ok((self.verdict(length, is_held, holds_without)?, bytes))
    }

    /// Verifies the signature of a file that is held in memory.
    fn verify_slh_dsa(&self, key: &slhdsa::VerifyingKey) -> Result<(Verdict, u64), Error> {
        let content = files::read_at_most(self.file, MAX_HELD)?;
        let holds = |context| {
            let message = slhdsa::Message::pure(&content, context).map_err(|_| too_long())?;
            Ok(key.verify(message, self.signature).is_ok())
        };
        let length = key.parameter_set().signature_len();
        Ok((self.verdict(length, holds(self.context)?, || holds(b""))?, content.len() as u64))
    }

    /// Verifies the signature of a file that is held in memory, by a key whose signatures have no context.
    fn verify_stateful(&self, key: &pki::StatefulVerifyingKey) -> Result<(Verdict, u64), Error> {
        if !self.context.is_empty() {
            return Err(Error::usage(format!(
                "{} signatures have no context: leave out --context",
                key.algorithm()
            )));
        }
        let content = files::read_at_most(self.file, MAX_HELD)?;
        let verdict = key.verify(&content, self.signature).map_err(|_| Refused::Signature);
        Ok((verdict, content.len() as u64))
    }

    /// The verdict on a signature that should have this length and holds, or does not.
    fn verdict(
        &self,
        length: usize,
        is_held: bool,
        holds_without_context: impl FnOnce() -> Result<bool, Error>,
    ) -> Result<Verdict, Error> {
        Ok(if self.signature.len() != length {
            Err(Refused::Length(self.signature.len(), length))
        } else if is_held {
            Ok(())
        } else if !self.context.is_empty() && holds_without_context()? {
            Err(Refused::WithoutContext)
        } else {
            Err(Refused::Signature)
        })
    }

    /// Returns true if the signature holds with this context, and the length of the file.
    fn holds<P: ParameterSet>(&self, key: &VerifyingKey<P>, context: &[u8]) -> Result<(bool, u64), Error> {
        let (mu, bytes) = mu(self.console, self.file, key.mu_hasher(context))?;
        Ok((key.verify(Message::mu(&mu), self.signature).is_ok(), bytes))
    }
}

/// The representative μ of a file, read once, and its length.
fn mu(
    console: Console,
    file: &Path,
    hasher: Result<MuHasher, ContextTooLong>,
) -> Result<([u8; 64], u64), Error> {
    let mut hasher = hasher.map_err(|_| too_long())?;
    let input = Input::open(file)?;
    let bar = console.bytes_bar(input.length(), "hashing");
    let bytes = files::for_each(bar.wrap_read(input), |piece| {
        hasher.update(piece);
    })?;
    bar.finish_and_clear();
    Ok((hasher.finalize(), bytes))
}

fn too_long() -> Error {
    Error::usage("the context is longer than 255 bytes")
}

/// The context, at most 255 bytes of it.
fn context(context: &Context) -> Result<Vec<u8>, Error> {
    let bytes = match (&context.context, &context.context_hex) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(hex)) => crate::harness::from_hex(hex)
            .ok_or_else(|| Error::usage("--context-hex: not an even number of hexadecimal digits"))?,
        (None, None) => Vec::new(),
    };
    if bytes.len() > 255 {
        return Err(Error::usage(format!("the context has {} bytes, more than 255", bytes.len())));
    }
    Ok(bytes)
}
