//! The commands `seal` and `open`: age files for post-quantum recipients.

use crate::args::{Open, Seal};
use crate::console::{Console, counted};
use crate::error::{Error, Status};
use crate::files::{self, Access, Input, Output, is_stream};
use crate::identities::{self, Identities};
use crate::passphrase;
use gambeson_age::{Encryptor, Format, KeyError, KeyFileError, Recipient};
use gambeson_identity::HedgedRng;
use serde_json::json;
use std::path::Path;

/// With the system's randomness, or with that of an agent, who hedges it.
pub(crate) fn seal(console: Console, options: &Seal, rng: Option<HedgedRng<'_>>) -> Result<Status, Error> {
    one_standard_input(options.files.iter().chain([&options.file]).map(|path| path.as_path()))?;
    for input in options.files.iter().chain([&options.file]) {
        files::refuse_same(input, &options.out)?;
    }
    files::refuse_existing(&options.out, options.force)?;
    if options.under_passphrase {
        return seal_under_passphrase(console, options);
    }
    let recipients = recipients(options)?;
    let input = Input::open(&options.file)?;
    let (mut output, format) = sealed_output(options)?;
    let (name, target) = (input.name().to_owned(), output.name().to_owned());
    let bar = console.bytes_bar(input.length(), "sealing");
    let reader = bar.wrap_read(input);
    let sealed = match rng {
        Some(mut rng) => gambeson_age::seal_with(&recipients, reader, &mut output, format, &mut rng),
        None => gambeson_age::seal(&recipients, reader, &mut output, format),
    };
    let bytes = sealed.map_err(|e| age_error(&name, e))?;
    output.finish()?;
    bar.finish_and_clear();
    console.report(
        format_args!(
            "sealed {} of {name} to {} in {target}",
            counted(bytes, "byte"),
            counted(recipients.len(), "recipient")
        ),
        json!({"type": "sealed", "file": name, "out": target, "bytes": bytes, "recipients": recipients.len(), "armor": options.armor}),
    )?;
    Ok(Status::Done)
}

/// Where a sealed file goes, and in which form.
fn sealed_output(options: &Seal) -> Result<(Output, Format), Error> {
    let output = Output::create(&options.out, Access::Shared, options.force)?;
    if output.is_terminal() && !options.armor {
        return Err(Error::usage(
            "a sealed file is binary: write it to a file with -o FILE, or as text with -a",
        ));
    }
    Ok((output, if options.armor { Format::Armored } else { Format::Binary }))
}

fn seal_under_passphrase(console: Console, options: &Seal) -> Result<Status, Error> {
    let input = Input::open(&options.file)?;
    let passphrase = passphrase::new(options.passphrase.passphrase_fd, "the sealed file")?;
    let passphrase = gambeson_age::Passphrase::new(&passphrase).map_err(|e| Error::usage(e.to_string()))?;
    let (mut output, format) = sealed_output(options)?;
    let (name, target) = (input.name().to_owned(), output.name().to_owned());
    let bar = console.bytes_bar(input.length(), "sealing");
    let sealed = Encryptor::with_passphrase(&passphrase, &mut output, format).and_then(|mut sealed| {
        let bytes = std::io::copy(&mut bar.wrap_read(input), &mut sealed)?;
        sealed.finish().map(|_| bytes)
    });
    let bytes = sealed.map_err(|e| age_error(&name, e))?;
    output.finish()?;
    bar.finish_and_clear();
    console.report(
        format_args!("sealed {bytes} bytes of {name} under a passphrase in {target}"),
        json!({"type": "sealed", "file": name, "out": target, "bytes": bytes, "recipients": 0, "armor": options.armor}),
    )?;
    Ok(Status::Done)
}

pub(crate) fn open(console: Console, options: &Open) -> Result<Status, Error> {
    one_standard_input(options.identities.iter().chain([&options.file]).map(|path| path.as_path()))?;
    for input in options.identities.iter().chain([&options.file]) {
        files::refuse_same(input, &options.out)?;
    }
    files::refuse_existing(&options.out, options.force)?;
    let identities = Identities::read(options)?;
    let input = Input::open(&options.file)?;
    let mut output = Output::create(&options.out, Access::Private, options.force)?;
    let (name, target) = (input.name().to_owned(), output.name().to_owned());
    let bar = console.bytes_bar(input.length(), "opening");
    let bytes = match options.identities.is_empty() {
        true => {
            let ask = || passphrase::existing(options.passphrase.passphrase_fd, &name);
            let advice = "name the identity with -i FILE";
            identities::unlock(&name, bar.wrap_read(input), &mut output, advice, &ask)?
        }
        false => gambeson_age::open(identities.all(), bar.wrap_read(input), &mut output)
            .map_err(|error| identities.explained(&name, error))?,
    };
    output.finish()?;
    bar.finish_and_clear();
    console.report(
        format_args!("opened {name}: {} in {target}", counted(bytes, "byte")),
        json!({"type": "opened", "file": name, "out": target, "bytes": bytes}),
    )?;
    Ok(Status::Done)
}

/// Everybody that the command line names, in its order.
fn recipients(options: &Seal) -> Result<Vec<Recipient>, Error> {
    let mut recipients = Vec::new();
    for text in &options.recipients {
        // The text is not repeated: a private key pasted by mistake would go into logs.
        let wrong = |e: KeyError| {
            let file = match Path::new(text).is_file() {
                true => format!("; -R {text} reads recipients from a file"),
                false => String::new(),
            };
            Error::usage(format!("--recipient: {e}{}{file}", Wanted::Recipient.hint(e)))
        };
        recipients.push(text.parse().map_err(wrong)?);
    }
    for path in &options.files {
        let bytes = files::read_small(path)?;
        if crate::identities::is_age_file(&bytes) {
            let expected = "is an age file, where recipients are expected, one a line (age1pq1…)";
            return Err(Error::outside(format!("{}: {expected}; open it first", path.display())));
        }
        let text = text(path, &bytes)?;
        recipients
            .extend(Recipient::parse_file(&text).map_err(|e| key_file_error(path, Wanted::Recipient, e))?);
    }
    if recipients.is_empty() {
        return Err(Error::usage(
            "a recipient is missing: name one with -r or -R, or seal under a passphrase with -p",
        ));
    }
    Ok(recipients)
}

/// The text of the file `path`.
pub(crate) fn text(path: &Path, bytes: &[u8]) -> Result<zeroize::Zeroizing<String>, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(zeroize::Zeroizing::new(text.to_owned())),
        Err(_) => Err(Error::outside(format!("{}: is not text", path.display()))),
    }
}

/// The half of an age key that an option takes.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    Recipient,
    Identity,
}

impl Wanted {
    /// The expected half of an age key, and the command that makes it.
    fn hint(self, error: KeyError) -> &'static str {
        match (self, error) {
            (_, KeyError::NotPostQuantum(_) | KeyError::Unsupported(_) | KeyError::Plugin) => "",
            (_, KeyError::Case | KeyError::Checksum | KeyError::Length { .. } | KeyError::Modulus) => "",
            (Self::Recipient, _) => {
                "; expected a recipient (age1pq1…), which `gambeson key public` writes for a key of `gambeson key gen --alg x-wing`"
            }
            (Self::Identity, _) => {
                "; expected an identity (AGE-SECRET-KEY-PQ-1…), which `gambeson key gen --alg x-wing` makes"
            }
        }
    }
}

/// A file that names the wrong kind of key is the caller's choice; any other mistake is the file's.
pub(crate) fn key_file_error(path: &Path, wanted: Wanted, error: KeyFileError) -> Error {
    let hint = match error {
        KeyFileError::Line { error, .. } => wanted.hint(error),
        _ => wanted.hint(KeyError::Unknown),
    };
    let message = format!("{}: {error}{hint}", path.display());
    match error {
        KeyFileError::Line {
            error:
                KeyError::NotPostQuantum(_) | KeyError::Unsupported(_) | KeyError::Pem(_) | KeyError::Plugin,
            ..
        } => Error::usage(message),
        _ => Error::outside(message),
    }
}

/// What went wrong with the sealed file `name`, or with the streams around it, whose errors have names.
pub(crate) fn age_error(name: &str, error: gambeson_age::Error) -> Error {
    use gambeson_age::Error as Age;
    let message = format!("{name}: {error}");
    match error {
        Age::Io(error) => Error::named(&error),
        Age::Random(error) => Error::randomness(error),
        Age::NoRecipients | Age::TooManyRecipients { .. } | Age::LowOrderRecipient { .. } => {
            Error::usage(error.to_string())
        }
        Age::NoMatch | Age::HeaderMac | Age::Payload(_) => {
            Error::not_verified(message).because("cannot-open")
        }
        _ => Error::not_verified(message).because("bad-form"),
    }
}

/// Standard input can be read for one purpose only.
pub(crate) fn one_standard_input<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<(), Error> {
    if paths.filter(|path| is_stream(path)).count() > 1 {
        return Err(Error::usage("standard input (-) can be only one of the inputs"));
    }
    Ok(())
}
