//! The commands `sign` and `verify`: ML-DSA over files of any size, which are read once and never held.

use crate::args::{Context, Sign, Verify};
use crate::console::{Console, counted};
use crate::error::{Error, Status};
use crate::files::{self, Access, Input, is_stream};
use crate::keyfile::{KeyFile, PrivateKey, PublicKey};
use gambeson::mldsa::{ContextTooLong, ExpandedSigningKey, Message, MuHasher, ParameterSet, VerifyingKey};
use gambeson_pki as pki;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) fn sign(console: Console, options: &Sign) -> Result<Status, Error> {
    crate::sealing::one_standard_input([options.key.as_path(), &options.file].into_iter())?;
    let out = signature_path(options.out.as_deref(), &options.file)?;
    files::refuse_same(&options.file, &out)?;
    files::refuse_same(&options.key, &out)?;
    let context = context(&options.context)?;
    files::refuse_existing(&out, options.force)?;
    let (name, key) = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?.private()?;
    let job =
        Signing { console, file: &options.file, context: &context, deterministic: options.deterministic };
    let (signature, bytes) = match &key {
        PrivateKey::Pki(pki::PrivateKey::MlDsa44(key)) => job.sign(key)?,
        PrivateKey::Pki(pki::PrivateKey::MlDsa65(key)) => job.sign(key)?,
        PrivateKey::Pki(pki::PrivateKey::MlDsa87(key)) => job.sign(key)?,
        _ => {
            return Err(Error::usage(format!(
                "{name}: is an {} key; files are signed with ML-DSA",
                key.algorithm()
            )));
        }
    };
    files::write(&out, &signature, Access::Shared, options.force)?;
    console.report(
        format_args!(
            "signed {} ({}) with {}: {}",
            options.file.display(),
            counted(bytes, "byte"),
            key.algorithm(),
            out.display()
        ),
        json!({
            "signed": options.file.display().to_string(),
            "bytes": bytes,
            "alg": key.algorithm(),
            "signature": out.display().to_string(),
            "signature_bytes": signature.len(),
            "deterministic": options.deterministic,
        }),
    )?;
    Ok(Status::Done)
}

pub(crate) fn verify(console: Console, options: &Verify) -> Result<Status, Error> {
    let signature_path = signature_path(options.signature.as_deref(), &options.file)?;
    crate::sealing::one_standard_input([options.key.as_path(), &options.file, &signature_path].into_iter())?;
    let context = context(&options.context)?;
    let (name, key) = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?.public();
    let signature = files::read_small(&signature_path)?;
    let job = Verifying { console, file: &options.file, context: &context, signature: &signature };
    let (verified, bytes) = match &key {
        PublicKey::Pki(pki::PublicKey::MlDsa44(key)) => job.verify(key)?,
        PublicKey::Pki(pki::PublicKey::MlDsa65(key)) => job.verify(key)?,
        PublicKey::Pki(pki::PublicKey::MlDsa87(key)) => job.verify(key)?,
        _ => {
            return Err(Error::usage(format!(
                "{name}: is an {} key; files are signed with ML-DSA",
                key.algorithm()
            )));
        }
    };
    let file = options.file.display();
    console.report(
        if verified {
            format!("verified: {file} ({}) is what the holder of {name} signed", counted(bytes, "byte"))
        } else {
            format!(
                "NOT VERIFIED: the signature in {} is not one of {name} on {file}",
                signature_path.display()
            )
        },
        json!({"verified": verified, "file": file.to_string(), "bytes": bytes, "alg": key.algorithm()}),
    )?;
    Ok(if verified { Status::Done } else { Status::NotVerified })
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
    fn sign<P: ParameterSet>(&self, key: &ExpandedSigningKey<P>) -> Result<(Vec<u8>, u64), Error> {
        let (mu, bytes) = mu(self.console, self.file, key.mu_hasher(self.context))?;
        let signature = if self.deterministic {
            key.sign_deterministic(Message::mu(&mu))
        } else {
            key.sign(Message::mu(&mu)).map_err(Error::randomness)?
        };
        Ok((signature.as_ref().to_vec(), bytes))
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
    /// Whether the signature holds, and the length of the file.
    fn verify<P: ParameterSet>(&self, key: &VerifyingKey<P>) -> Result<(bool, u64), Error> {
        let (mu, bytes) = mu(self.console, self.file, key.mu_hasher(self.context))?;
        Ok((key.verify(Message::mu(&mu), self.signature).is_ok(), bytes))
    }
}

/// The representative μ of a file, read once, and its length.
fn mu(
    console: Console,
    file: &Path,
    hasher: Result<MuHasher, ContextTooLong>,
) -> Result<([u8; 64], u64), Error> {
    let mut hasher = hasher.map_err(|_| Error::usage("the context is longer than 255 bytes"))?;
    let input = Input::open(file)?;
    let bar = console.bytes_bar(input.length(), "hashing");
    let bytes = files::for_each(bar.wrap_read(input), |piece| {
        hasher.update(piece);
    })?;
    bar.finish_and_clear();
    Ok((hasher.finalize(), bytes))
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

/// Where the signature is: as given, else beside the file.
fn signature_path(given: Option<&Path>, file: &Path) -> Result<PathBuf, Error> {
    match given {
        Some(path) => Ok(path.to_path_buf()),
        None if is_stream(file) => {
            Err(Error::usage("standard input has no name to put .sig after: name the signature's file"))
        }
        None => {
            let mut path = file.as_os_str().to_owned();
            path.push(".sig");
            Ok(path.into())
        }
    }
}
