//! The commands `kem encaps` and `kem decaps`.

use crate::args::{Decaps, Encaps};
use crate::console::Console;
use crate::error::{Error, Status};
use crate::files::{self, Access, is_stream};
use crate::keyfile::{KeyFile, PrivateKey, PublicKey};
use gambeson::Bytes;
use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, ParameterSet, SharedSecret};
use gambeson_hybrid::xwing;
use gambeson_pki as pki;
use serde_json::json;

pub(crate) fn encaps(console: Console, options: &Encaps) -> Result<Status, Error> {
    if is_stream(&options.ciphertext) && is_stream(&options.secret) {
        return Err(Error::usage("standard output (-) can be only one of the outputs"));
    }
    if files::is_one_file(&options.ciphertext, &options.secret) {
        return Err(Error::usage("the ciphertext and the secret need two files"));
    }
    files::refuse_existing(&options.ciphertext, options.force)?;
    files::refuse_existing(&options.secret, options.force)?;
    let (name, key) = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?.public();
    let (ciphertext, secret) = match &key {
        PublicKey::Pki(pki::PublicKey::MlKem512(key)) => encapsulate(key)?,
        PublicKey::Pki(pki::PublicKey::MlKem768(key)) => encapsulate(key)?,
        PublicKey::Pki(pki::PublicKey::MlKem1024(key)) => encapsulate(key)?,
        PublicKey::XWing(recipient) => match recipient.encapsulation_key().encapsulate_contributory() {
            Ok((ciphertext, secret)) => (ciphertext.to_vec(), secret),
            Err(error) => return Err(Error::outside(format!("{name}: {error}"))),
        },
        _ => return Err(cannot(&name, key.algorithm())),
    };
    files::write(&options.ciphertext, &ciphertext, Access::Shared, options.force)?;
    files::write(&options.secret, secret.expose(), Access::Private, options.force)?;
    console.report(
        format_args!(
            "a secret for the holder of {name} is in {}, its ciphertext in {}",
            options.secret.display(),
            options.ciphertext.display()
        ),
        json!({
            "type": "shared-secret",
            "alg": key.algorithm(),
            "ciphertext": options.ciphertext.display().to_string(),
            "ciphertextBytes": ciphertext.len(),
            "secret": options.secret.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

pub(crate) fn decaps(console: Console, options: &Decaps) -> Result<Status, Error> {
    crate::sealing::one_standard_input([options.key.as_path(), &options.ciphertext].into_iter())?;
    files::refuse_same(&options.key, &options.secret)?;
    files::refuse_same(&options.ciphertext, &options.secret)?;
    files::refuse_existing(&options.secret, options.force)?;
    let (name, key) = KeyFile::read(&options.key, options.passphrase.passphrase_fd)?.private()?;
    let ciphertext = files::read_small(&options.ciphertext)?;
    let wrong = |expected| {
        Error::outside(format!(
            "{}: has {} bytes, where an {} ciphertext has {expected}",
            options.ciphertext.display(),
            ciphertext.len(),
            key.algorithm()
        ))
    };
    let secret = match &key {
        PrivateKey::Pki(pki::PrivateKey::MlKem512(key)) => decapsulate(key, &ciphertext).map_err(wrong)?,
        PrivateKey::Pki(pki::PrivateKey::MlKem768(key)) => decapsulate(key, &ciphertext).map_err(wrong)?,
        PrivateKey::Pki(pki::PrivateKey::MlKem1024(key)) => decapsulate(key, &ciphertext).map_err(wrong)?,
        PrivateKey::XWing(identity) => {
            let ciphertext: &xwing::Ciphertext =
                ciphertext.as_slice().try_into().map_err(|_| wrong(xwing::CIPHERTEXT_LEN))?;
            xwing::DecapsulationKey::from_seed(identity.seed().expose())
                .decapsulate_contributory(ciphertext)
                .map_err(|e| Error::not_verified(format!("{}: {e}", options.ciphertext.display())))?
        }
        _ => return Err(cannot(&name, key.algorithm())),
    };
    files::write(&options.secret, secret.expose(), Access::Private, options.force)?;
    console.report(
        format_args!("the secret is in {}", options.secret.display()),
        json!({"type": "shared-secret", "alg": key.algorithm(), "secret": options.secret.display().to_string()}),
    )?;
    Ok(Status::Done)
}

fn encapsulate<P: ParameterSet>(key: &EncapsulationKey<P>) -> Result<(Vec<u8>, SharedSecret), Error> {
    let (ciphertext, secret) = key.encapsulate().map_err(Error::randomness)?;
    Ok((ciphertext.as_ref().to_vec(), secret))
}

/// The secret, or the length that the ciphertext should have.
fn decapsulate<P: ParameterSet>(key: &DecapsulationKey<P>, ciphertext: &[u8]) -> Result<SharedSecret, usize> {
    let ciphertext = P::Ciphertext::try_from(ciphertext).map_err(|_| P::Ciphertext::LEN)?;
    Ok(key.decapsulate(&ciphertext))
}

fn cannot(name: &str, algorithm: &str) -> Error {
    Error::usage(format!("{name}: is an {algorithm} key, which cannot encapsulate"))
}
