//! What test vectors need and the package must not have: it is in no module that is published.

use gambeson_identity::{MasterSeed, Path, Purpose, Result};

use crate::agent::suite;
use crate::border::{Answer, Input, NO_VERB, bad, object, said};

/// What needs no object.
pub fn ask_form(verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "derived" => derived(input),
        "path" => path(input),
        _ => Err(bad(NO_VERB)),
    }
}

/// What comes from a seed for a purpose, as bytes.
fn derived(input: &Input<'_>) -> Result<Answer> {
    let seed = <&[u8; 32]>::try_from(input.bytes()).map_err(|_| bad("a seed must have 32 bytes"))?;
    let (suite, name) = (suite(input)?, input.text("purpose")?);
    // The names that these have in the code, which a build without `Debug` of fields keeps.
    let purpose = Purpose::ALL.iter().copied().find(|purpose| format!("{purpose:?}") == name);
    let purpose = purpose.ok_or_else(|| bad("there is no such purpose"))?;
    let key = MasterSeed::from_bytes(seed).derived(suite, purpose, input.number("index")?);
    let context = purpose.context(suite).into();
    Ok((object(vec![("context", context), ("length", purpose.output_len(suite).into())]), key))
}

/// The parts of a path.
fn path(input: &Input<'_>) -> Result<Answer> {
    let path: Path = input.text("path")?.parse()?;
    said(object(vec![("role", path.role.into()), ("index", path.index.to_string().into())]))
}
