//! Keeping the seed: words on paper, a file under a passphrase, shares with friends.
//!
//! The words are the form in which a seed stands outside: they are made before the agent, and no agent gives them back.

use gambeson_age as age;
use gambeson_identity::{MasterSeed, recovery};
use gambeson_keystore::Passphrase;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

use super::agent::{Agent, suite};
use super::cards::CardLog;
use super::detached;
use crate::convert::whole;
use crate::error::{USAGE, error};
use crate::input::Input;

/// The highest logarithm of scrypt's N: 4 GiB. More would end the process and not the call.
const MAX_WORK_FACTOR: u8 = 22;

/// Twenty-four new words: the seed of an agent, to be written down before the agent is made of them.
///
/// They are the whole private identity. An agent never gives them back.
#[pyfunction]
pub fn generate_words(py: Python<'_>) -> PyResult<String> {
    let words = detached(py, || Ok(recovery::words(&MasterSeed::generate()?)))?;
    Ok(words.to_string())
}

/// The seed of 24 words as a file under a passphrase, for the agent's own disk: Argon2id, or PBKDF2 in suite `cnsa2`.
///
/// It takes as long as guessing a passphrase once shall take: about a second.
#[pyfunction]
#[pyo3(signature = (words, passphrase, *, suite="default"))]
pub fn protect_words<'py>(
    py: Python<'py>,
    words: &str,
    passphrase: &str,
    suite: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let (suite, passphrase) = (self::suite(py, suite)?, self::passphrase(py, passphrase)?);
    let file = detached(py, || recovery::protect(&recovery::from_words(words)?, suite, &passphrase, None))?;
    Ok(PyBytes::new(py, &file))
}

fn passphrase(py: Python<'_>, text: &str) -> PyResult<Passphrase> {
    Passphrase::new(text).map_err(|reason| error(py, USAGE, reason))
}

/// The passphrase of an age file, with a work factor to seal with and the highest one to open.
fn age_passphrase(py: Python<'_>, text: &str, factor: Option<u8>) -> PyResult<age::Passphrase> {
    let passphrase = age::Passphrase::new(text).map_err(|reason| error(py, USAGE, reason))?;
    match factor {
        None => Ok(passphrase),
        Some(factor @ 1..=MAX_WORK_FACTOR) => Ok(passphrase.work_factor(factor).max_work_factor(factor)),
        Some(factor) => {
            let what = format_args!("a work factor from 1 to {MAX_WORK_FACTOR}, not {factor}");
            Err(error(py, USAGE, what))
        }
    }
}

/// The seed of 24 words in `count` shares of 46 words each (SSKR), `threshold` of which give it back and fewer tell nothing.
///
/// `2 <= threshold <= count <= 16`, or one of one. Tools of Blockchain Commons combine them too.
#[pyfunction]
pub fn share_words(
    py: Python<'_>,
    words: &str,
    #[pyo3(from_py_with = whole)] threshold: usize,
    #[pyo3(from_py_with = whole)] count: usize,
) -> PyResult<Vec<String>> {
    let shares = detached(py, || recovery::shares(&recovery::from_words(words)?, threshold, count))?;
    Ok(shares.iter().map(|share| share.to_string()).collect())
}

/// The 24 words in an armored age file under a passphrase, which `age -d` opens too.
///
/// `work_factor` is the logarithm of scrypt's N, 1 to 22: 18, which is usual, takes about a second and 256 MiB.
#[pyfunction]
#[pyo3(signature = (words, passphrase, *, work_factor=None))]
pub fn age_file<'py>(
    py: Python<'py>,
    words: &str,
    passphrase: &str,
    #[pyo3(from_py_with = whole)] work_factor: Option<u8>,
) -> PyResult<Bound<'py, PyBytes>> {
    let passphrase = age_passphrase(py, passphrase, work_factor)?;
    let file = detached(py, || recovery::age_file(&recovery::from_words(words)?, &passphrase))?;
    Ok(PyBytes::new(py, &file))
}

#[pymethods]
impl Agent {
    /// The agent of a file that `protect_words` or the program made, in the file's suite.
    #[staticmethod]
    #[pyo3(signature = (file, passphrase, *, cards=None))]
    fn from_protected(
        py: Python<'_>,
        file: Input<'_>,
        passphrase: &str,
        cards: Option<PyRef<'_, CardLog>>,
    ) -> PyResult<Self> {
        let (file, passphrase) = (file.as_slice(), self::passphrase(py, passphrase)?);
        let (seed, suite) = detached(py, || recovery::unprotect(file, &passphrase))?;
        Self::of_seed(py, seed, suite, cards.as_deref())
    }

    /// The agent of 24 words: as it began, or as the newest of its cards has it.
    #[staticmethod]
    #[pyo3(signature = (words, *, suite="default", cards=None))]
    fn from_words(
        py: Python<'_>,
        words: &str,
        suite: &str,
        cards: Option<PyRef<'_, CardLog>>,
    ) -> PyResult<Self> {
        let suite = self::suite(py, suite)?;
        let seed = detached(py, || recovery::from_words(words))?;
        Self::of_seed(py, seed, suite, cards.as_deref())
    }

    /// The agent of enough SSKR shares, in any order: as it began, or as the newest of its cards has it.
    #[staticmethod]
    #[pyo3(signature = (shares, *, suite="default", cards=None))]
    fn from_shares(
        py: Python<'_>,
        shares: Vec<PyBackedStr>,
        suite: &str,
        cards: Option<PyRef<'_, CardLog>>,
    ) -> PyResult<Self> {
        let suite = self::suite(py, suite)?;
        let seed = detached(py, || recovery::from_shares(&shares))?;
        Self::of_seed(py, seed, suite, cards.as_deref())
    }

    /// The agent of an age file under a passphrase with 24 words in it, such as `age_file` makes.
    ///
    /// A file that asks for more work than `max_work_factor`, at most 22, raises; each step doubles time and memory.
    #[staticmethod]
    #[pyo3(signature = (file, passphrase, *, suite="default", cards=None, max_work_factor=None))]
    fn from_age_file(
        py: Python<'_>,
        file: Input<'_>,
        passphrase: &str,
        suite: &str,
        cards: Option<PyRef<'_, CardLog>>,
        max_work_factor: Option<u8>,
    ) -> PyResult<Self> {
        let (file, suite) = (file.as_slice(), self::suite(py, suite)?);
        let passphrase = age_passphrase(py, passphrase, max_work_factor)?;
        let seed = detached(py, || recovery::from_age_file(file, &passphrase))?;
        Self::of_seed(py, seed, suite, cards.as_deref())
    }
}
