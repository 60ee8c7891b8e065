//! The commands `key gen`, `key public`, `key show` and `key convert`.

use crate::args::{Algorithm, Format, KeyConvert, KeyForm, KeyGen, KeyPasswd, KeyPublic, KeyShow};
use crate::console::Console;
use crate::error::{Error, Status};
use crate::files::{self, Access, is_stream};
use crate::keyfile::{Encoding, Key, KeyFile, PrivateKey, PublicKey, pki_error};
use crate::passphrase::{self, Passphrase};
use clap::ValueEnum;
use gambeson_age::{Encryptor, Identity};
use gambeson_pki as pki;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use zeroize::Zeroizing;

pub(crate) fn generate(console: Console, options: &KeyGen) -> Result<Status, Error> {
    let algorithm = pki_algorithm(options.alg)?;
    if algorithm.is_none() && options.format.is_some() {
        return Err(Error::usage("an age identity has one form: leave out --format"));
    }
    let public_to_stdout = options.public.as_deref().is_some_and(is_stream);
    if is_stream(&options.out) && public_to_stdout {
        return Err(Error::usage("standard output (-) can be only one of the outputs"));
    }
    if let Some(public) = &options.public {
        refuse_one_name(&options.out, public)?;
    }
    // Before anybody is asked for a passphrase.
    for path in [Some(&options.out), options.public.as_ref()].into_iter().flatten() {
        files::refuse_existing(path, options.force)?;
    }
    let name = options.out.display().to_string();
    let key = match algorithm {
        Some(algorithm) => {
            PrivateKey::Pki(pki::PrivateKey::generate(algorithm).map_err(|error| pki_error(&name, error))?)
        }
        None => PrivateKey::XWing(Box::new(Identity::generate().map_err(Error::randomness)?)),
    };
    let passphrase = match options.encrypt {
        true => Some(passphrase::new(options.passphrase_fd, &name)?),
        false => None,
    };
    let private = private_file(&name, &key, options.format, pki::Form::Seed, passphrase.as_ref())?;
    let public = key.public();
    files::write(&options.out, &private, Access::Private, options.force)?;
    if let Some(path) = &options.public {
        files::write(path, &public_file(&public, options.format)?, Access::Shared, options.force)?;
    }
    let fingerprint = public.fingerprint();
    let recipient = recipient(&public);
    let mut lines =
        vec![format!("made an {} key in {name}", key.algorithm()), format!("fingerprint {fingerprint}")];
    if let (Some(text), None) = (&recipient, &options.public) {
        lines.push(format!("recipient {text}"));
    }
    console.report_lines(
        lines,
        json!({
            "type": "key",
            "alg": key.algorithm(),
            "private": name,
            "public": options.public.as_ref().map(|path| path.display().to_string()),
            "encrypted": options.encrypt,
            "fingerprint": fingerprint,
            "recipient": recipient,
        }),
    )?;
    Ok(Status::Done)
}

pub(crate) fn public(console: Console, options: &KeyPublic) -> Result<Status, Error> {
    files::refuse_same(&options.key, &options.out)?;
    files::refuse_existing(&options.out, options.force)?;
    let (name, key) = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?.public();
    files::write(&options.out, &public_file(&key, options.format)?, Access::Shared, options.force)?;
    console.report(
        format_args!("the public key of {name} is in {}", options.out.display()),
        json!({
            "type": "key",
            "alg": key.algorithm(),
            "file": name,
            "public": options.out.display().to_string(),
            "fingerprint": key.fingerprint(),
        }),
    )?;
    Ok(Status::Done)
}

pub(crate) fn show(console: Console, options: &KeyShow) -> Result<Status, Error> {
    let file = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?;
    let encrypted = file.passphrase.is_some();
    let (kind, seed) = match &file.key {
        Key::Private(PrivateKey::Pki(key)) => {
            ("private", Some(key.seed().is_some() || !key.algorithm().has_forms()))
        }
        Key::Private(PrivateKey::XWing(_)) => ("private", Some(true)),
        Key::Public(_) => ("public", None),
    };
    let encoding = file.encoding.to_string();
    let (name, key) = file.public();
    let (bytes, fingerprint, recipient) = (key.as_bytes().len(), key.fingerprint(), recipient(&key));
    let mut lines = vec![
        format!(
            "{name}: {kind} {} key, {encoding}{}{}",
            key.algorithm(),
            if encrypted { ", encrypted" } else { "" },
            if seed == Some(false) { ", expanded, without its seed" } else { "" }
        ),
        format!("public key {bytes} bytes"),
        format!("fingerprint {fingerprint}"),
    ];
    lines.extend(recipient.iter().map(|text| format!("recipient {text}")));
    console.report_lines(
        lines,
        json!({
            "type": "key",
            "file": name,
            "alg": key.algorithm(),
            "part": kind,
            "encoding": encoding,
            "encrypted": encrypted,
            "hasSeed": seed,
            "publicBytes": bytes,
            "fingerprint": fingerprint,
            "recipient": recipient,
        }),
    )?;
    Ok(Status::Done)
}

pub(crate) fn convert(console: Console, options: &KeyConvert) -> Result<Status, Error> {
    files::refuse_existing(&options.out, options.force)?;
    let file = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?;
    let name = file.name.clone();
    if file.encoding == Encoding::Age {
        return Err(Error::usage(format!("{name}: an age key has one form: leave out --format and --form")));
    }
    let target = options.out.display().to_string();
    let (algorithm, bytes, access) = match &file.key {
        Key::Public(key) => {
            if options.encrypt || options.decrypt || options.form.is_some() {
                return Err(Error::usage(format!(
                    "{name}: is a public key: leave out --form, --encrypt and --decrypt"
                )));
            }
            (key.algorithm(), Zeroizing::new(public_file(key, options.format)?), Access::Shared)
        }
        Key::Private(key) => {
            let passphrase = new_passphrase(options, &file)?;
            let form = match key {
                PrivateKey::Pki(key) => form_of(key, options.form),
                PrivateKey::XWing(_) => pki::Form::Seed,
            };
            let bytes = private_file(&name, key, options.format, form, passphrase.as_ref())?;
            (key.algorithm(), bytes, Access::Private)
        }
    };
    files::write(&options.out, &bytes, access, options.force)?;
    console.report(
        format_args!("converted {name} to {target}"),
        json!({"type": "key", "alg": algorithm, "file": name, "out": target, "encrypted": options.encrypt}),
    )?;
    Ok(Status::Done)
}

/// The passphrase of a converted private key.
fn new_passphrase(options: &KeyConvert, file: &KeyFile) -> Result<Option<Passphrase>, Error> {
    let target = options.out.display().to_string();
    match (&file.passphrase, options.encrypt) {
        (None, false) => Ok(None),
        (Some(_), false) if options.decrypt => Ok(None),
        (Some(_), false) => Err(Error::usage(format!(
            "{}: is encrypted: --encrypt keeps the copy encrypted, --decrypt writes it without a passphrase",
            file.name
        ))),
        (old, true) => {
            let (fd, new_fd) = (options.passphrase.passphrase_fd, options.new_passphrase_fd);
            passphrase::of_copy(old.as_ref(), fd, new_fd, &target).map(Some)
        }
    }
}

/// What of a key is written: what was asked for, else the seed, else, where it is not known, the expanded key.
pub(crate) fn form_of(key: &pki::PrivateKey, asked: Option<KeyForm>) -> pki::Form {
    match asked {
        Some(KeyForm::Seed) => pki::Form::Seed,
        Some(KeyForm::Expanded) => pki::Form::Expanded,
        Some(KeyForm::Both) => pki::Form::Both,
        None if key.seed().is_none() => pki::Form::Expanded,
        None => pki::Form::Seed,
    }
}

/// The algorithm of a new key in PKCS#8; none for X-Wing, whose keys are age identities.
///
/// # Errors
/// Keys of the algorithm have a state.
pub(crate) fn pki_algorithm(algorithm: Algorithm) -> Result<Option<pki::Algorithm>, Error> {
    let value = algorithm.to_possible_value().expect("no algorithm is skipped");
    match value.get_name_and_aliases().find_map(|name| name.parse::<pki::Algorithm>().ok()) {
        Some(stateful) if stateful.is_stateful() => Err(Error::usage(format!(
            "--alg: signing with {stateful} keys needs the key store, which does not exist yet; `gambeson verify` verifies their signatures"
        ))),
        found => Ok(found),
    }
}

/// The text that others seal to, for X-Wing.
fn recipient(key: &PublicKey) -> Option<String> {
    match key {
        PublicKey::Pki(_) => None,
        PublicKey::XWing(recipient) => Some(recipient.to_string()),
    }
}

fn private_file(
    name: &str,
    key: &PrivateKey,
    format: Option<Format>,
    form: pki::Form,
    passphrase: Option<&Passphrase>,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let key = match key {
        PrivateKey::Pki(key) => key,
        PrivateKey::XWing(identity) => {
            let identity_text = identity.encode();
            let text =
                Zeroizing::new(format!("# public key: {}\n{}\n", identity.recipient(), *identity_text));
            return match passphrase {
                None => Ok(Zeroizing::new(text.as_bytes().to_vec())),
                Some(passphrase) => under_passphrase(text.as_bytes(), passphrase),
            };
        }
    };
    let format = format.unwrap_or(Format::Pem);
    let bytes = match (format, passphrase) {
        (Format::Der, None) => key.to_pkcs8_der(form),
        (Format::Pem, None) => key.to_pkcs8_pem(form).map(|text| Zeroizing::new(text.as_bytes().to_vec())),
        (Format::Der, Some(passphrase)) => key
            .to_encrypted_pkcs8_der(form, passphrase.as_bytes(), pki::Encryption::default())
            .map(Zeroizing::new),
        (Format::Pem, Some(passphrase)) => key
            .to_encrypted_pkcs8_pem(form, passphrase.as_bytes(), pki::Encryption::default())
            .map(|text| Zeroizing::new(text.into_bytes())),
    };
    bytes.map_err(|e| pki_error(name, e))
}

/// An age file under a passphrase, as text.
fn under_passphrase(content: &[u8], passphrase: &Passphrase) -> Result<Zeroizing<Vec<u8>>, Error> {
    let passphrase = gambeson_age::Passphrase::new(passphrase).map_err(|e| Error::usage(e.to_string()))?;
    let sealed = Encryptor::with_passphrase(&passphrase, Vec::new(), gambeson_age::Format::Armored);
    let sealed = sealed.and_then(|mut sealed| {
        sealed.write_all(content)?;
        sealed.finish()
    });
    sealed.map(Zeroizing::new).map_err(|error| crate::sealing::age_error("the identity", error))
}

pub(crate) fn passwd(console: Console, options: &KeyPasswd) -> Result<Status, Error> {
    if is_stream(&options.key) {
        return Err(Error::usage("the passphrase of standard input cannot be changed: name a file"));
    }
    let file = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?;
    let name = file.name.clone();
    let Key::Private(key) = &file.key else {
        return Err(Error::usage(format!("{name}: is a public key, which has no passphrase")));
    };
    let form = match key {
        PrivateKey::Pki(key) => form_of(key, None),
        PrivateKey::XWing(_) => pki::Form::Seed,
    };
    let format = (file.encoding == Encoding::Der).then_some(Format::Der);
    let passphrase = passphrase::changed(options.new.new_passphrase_fd, &name)?;
    let bytes = private_file(&name, key, format, form, Some(&passphrase))?;
    files::write_own(&options.key, &bytes, Access::Private, true)?;
    console.report(
        format_args!("{name} has a new passphrase; copies of the file keep the old one"),
        json!({"type": "passphrase", "alg": key.algorithm(), "file": name}),
    )?;
    Ok(Status::Done)
}

fn public_file(key: &PublicKey, format: Option<Format>) -> Result<Vec<u8>, Error> {
    match (key, format) {
        (PublicKey::Pki(key), Some(Format::Der)) => Ok(key.to_spki_der()),
        (PublicKey::Pki(key), _) => Ok(key.to_spki_pem().into_bytes()),
        (PublicKey::XWing(recipient), None) => Ok(format!("{recipient}\n").into_bytes()),
        (PublicKey::XWing(_), Some(_)) => {
            Err(Error::usage("an age recipient has one form: leave out --format"))
        }
    }
}

fn refuse_one_name(private: &Path, public: &Path) -> Result<(), Error> {
    if !is_stream(private) && files::is_one_file(private, public) {
        return Err(Error::usage(format!(
            "{}: cannot hold both the private and the public key",
            public.display()
        )));
    }
    Ok(())
}
