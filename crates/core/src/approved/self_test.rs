//! Known-answer tests at first use, and the state that a failure leaves for good.
//!
//! A test computes something with fixed inputs and hashes what came out. The answers were computed with
//! independent implementations; a test below computes them again.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::Bytes;
use crate::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, SigningKey, VerifyingKey};
use crate::mlkem::{self, DecapsulationKey, MlKem512, MlKem768, MlKem1024};
use crate::sha3::{Sha3_256, Sha3_512, Shake128, Shake256};
#[cfg(feature = "alloc")]
use crate::{Compact, Small};

/// A self-test failed: no service any more, in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfTestFailure {
    /// The test, such as `ML-KEM-768 decapsulation`.
    pub test: &'static str,
}

impl fmt::Display for SelfTestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the self-test “{}” failed: the module is out of service", self.test)
    }
}

impl core::error::Error for SelfTestFailure {}

type Digest = [u8; 32];

/// One known-answer test: what it computes is public.
struct Test {
    name: &'static str,
    /// With keys in each form.
    run: &'static [fn() -> Digest],
    answer: Digest,
}

/// The tests of one algorithm, run together before its first use.
struct Suite {
    algorithm: &'static str,
    passed: AtomicBool,
    tests: &'static [Test],
}

const PAIRWISE: &str = "pairwise consistency";

/// Zero, or one more than the position of the test that failed: in the order of the suites, then `PAIRWISE`.
static FAILED: AtomicUsize = AtomicUsize::new(0);

fn names() -> impl Iterator<Item = &'static str> {
    SUITES.iter().flat_map(|suite| suite.tests).map(|test| test.name).chain([PAIRWISE])
}

fn state() -> Result<(), SelfTestFailure> {
    match FAILED.load(Ordering::Acquire) {
        0 => Ok(()),
        n => Err(SelfTestFailure { test: names().nth(n - 1).unwrap_or(PAIRWISE) }),
    }
}

fn fail(name: &'static str) -> Result<(), SelfTestFailure> {
    let position = names().position(|test| test == name).map_or(usize::MAX, |position| position + 1);
    FAILED.store(position, Ordering::Release);
    Err(SelfTestFailure { test: name })
}

/// Runs every test now, whatever ran before.
///
/// # Errors
///
/// [`SelfTestFailure`] with the first test that failed, or had failed before.
pub fn self_test() -> Result<(), SelfTestFailure> {
    state()?;
    SUITES.iter().try_for_each(run)
}

fn run(suite: &Suite) -> Result<(), SelfTestFailure> {
    for test in suite.tests {
        if broken(test.name) ^ test.run.iter().any(|run| run() != test.answer) {
            return fail(test.name);
        }
    }
    suite.passed.store(true, Ordering::Release);
    Ok(())
}

/// Lets an operation of `algorithm` through if nothing has failed and its tests, and those of the hashes, have
/// passed or pass now.
pub(super) fn require(algorithm: &'static str) -> Result<(), SelfTestFailure> {
    state()?;
    for suite in SUITES.iter().filter(|suite| [SUITES[0].algorithm, algorithm].contains(&suite.algorithm)) {
        if !suite.passed.load(Ordering::Acquire) {
            run(suite)?;
        }
    }
    Ok(())
}

/// Ends the service if a new pair does not work together.
pub(super) fn pairwise(consistent: bool) -> Result<(), SelfTestFailure> {
    if consistent ^ broken(PAIRWISE) { Ok(()) } else { fail(PAIRWISE) }
}

/// Whether a test of the tests wants this one to fail.
fn broken(_name: &str) -> bool {
    #[cfg(test)]
    return tests::is_broken(_name);
    #[cfg(not(test))]
    false
}

/// The message that a consistency test encapsulates or signs.
const PAIRWISE_MESSAGE: [u8; 32] = *b"gambeson pairwise consistency 01";

pub(super) fn kem_pair_is_consistent<P: mlkem::ParameterSet>(dk: &DecapsulationKey<P>) -> bool {
    let (c, k) = dk.encapsulation_key().encapsulate_deterministic(&PAIRWISE_MESSAGE);
    crate::secret::equal(dk.decapsulate(&c).expose(), k.expose())
}

pub(super) fn signing_pair_is_consistent<P: mldsa::ParameterSet>(sk: &SigningKey<P>) -> bool {
    let signature = sk.sign_deterministic(&PAIRWISE_MESSAGE);
    sk.verifying_key().verify(&PAIRWISE_MESSAGE, signature.as_ref()).is_ok()
}

const MESSAGE: [u8; 32] = [0x6d; 32];

/// The 64-byte seed 00 01 … 3f; ML-DSA takes its first half.
const SEED: [u8; 64] = {
    let mut seed = [0; 64];
    let mut i = 0;
    while i < 64 {
        seed[i] = i as u8;
        i += 1;
    }
    seed
};

fn hashes() -> Digest {
    let mut out = [0; 400];
    Shake128::digest_into(&SEED, &mut out[..200]);
    Shake256::digest_into(&SEED, &mut out[200..]);
    Sha3_256::new().update(&Sha3_512::digest(&SEED)).update(&out).finalize()
}

fn kem_key_generation<P: mlkem::ParameterSet>() -> Digest {
    Sha3_256::digest(DecapsulationKey::<P>::from_seed(&SEED).encapsulation_key().as_bytes().as_ref())
}

fn encapsulation<P: mlkem::ParameterSet>() -> Digest {
    let ek = DecapsulationKey::<P>::from_seed(&SEED).encapsulation_key();
    // The first use of a key, and the second, which prepares it.
    let [(c, k), (again, k_again)] = [(); 2].map(|()| ek.encapsulate_deterministic(&MESSAGE));
    if again != c || k_again.expose() != k.expose() {
        return [0; 32];
    }
    Sha3_256::new().update(c.as_ref()).update(k.expose()).finalize()
}

fn decapsulation<P: mlkem::ParameterSet>() -> Digest {
    let dk = DecapsulationKey::<P>::from_seed(&SEED);
    let (c, _) = dk.encapsulation_key().encapsulate_deterministic(&MESSAGE);
    Sha3_256::digest(dk.decapsulate(&c).expose())
}

fn implicit_rejection<P: mlkem::ParameterSet>() -> Digest {
    Sha3_256::digest(DecapsulationKey::<P>::from_seed(&SEED).decapsulate(&P::Ciphertext::zeroed()).expose())
}

fn signing_key() -> [u8; 32] {
    *SEED.first_chunk().expect("32 of 64 bytes")
}

fn signing_key_generation<P: mldsa::ParameterSet>() -> Digest {
    Sha3_256::digest(SigningKey::<P>::from_seed(&signing_key()).verifying_key().as_bytes().as_ref())
}

fn signing<P: mldsa::ParameterSet>() -> Digest {
    Sha3_256::digest(SigningKey::<P>::from_seed(&signing_key()).sign_deterministic(&MESSAGE).as_ref())
}

/// Zeros, if the signature is accepted and each of two forgeries refused.
fn verification<P: mldsa::ParameterSet>() -> Digest {
    let sk = SigningKey::<P>::from_seed(&signing_key());
    let vk = VerifyingKey::<P>::from_bytes(sk.verifying_key().as_bytes());
    let mut signature = sk.sign_deterministic(&MESSAGE);
    // The first use of a key, and the second, which prepares it.
    let accepted = [(); 2].map(|()| vk.verify(&MESSAGE, signature.as_ref()).is_ok()) == [true; 2];
    let other_message = vk.verify(&PAIRWISE_MESSAGE, signature.as_ref()).is_ok();
    signature.as_mut()[0] ^= 1;
    let other_signature = vk.verify(&MESSAGE, signature.as_ref()).is_ok();
    [u8::from(!accepted | other_message | other_signature); 32]
}

/// One test with the keys of a parameter set in each form.
#[cfg(feature = "alloc")]
macro_rules! forms {
    ($test:ident, $set:ident) => {
        &[$test::<$set>, $test::<Compact<$set>>, $test::<Small<$set>>]
    };
}

/// One test. Firmware has room for one form, that of its plain keys.
#[cfg(not(feature = "alloc"))]
macro_rules! forms {
    ($test:ident, $set:ident) => {
        &[$test::<$set>]
    };
}

macro_rules! suites {
    (
        hashes: $hashes:literal;
        $(kem $kem:ident $kem_name:literal: $kg:literal $enc:literal $dec:literal $rej:literal;)*
        $(signature $set:ident $name:literal: $skg:literal $sig:literal;)*
    ) => {
        static SUITES: [Suite; 7] = [
            Suite {
                algorithm: "SHA-3",
                passed: AtomicBool::new(false),
                tests: &[Test { name: "SHA-3", run: &[hashes], answer: digest($hashes) }],
            },
            $(Suite {
                algorithm: $kem_name,
                passed: AtomicBool::new(false),
                tests: &[
                    Test { name: concat!($kem_name, " key generation"), run: forms!(kem_key_generation, $kem), answer: digest($kg) },
                    Test { name: concat!($kem_name, " encapsulation"), run: forms!(encapsulation, $kem), answer: digest($enc) },
                    Test { name: concat!($kem_name, " decapsulation"), run: forms!(decapsulation, $kem), answer: digest($dec) },
                    Test { name: concat!($kem_name, " implicit rejection"), run: forms!(implicit_rejection, $kem), answer: digest($rej) },
                ],
            },)*
            $(Suite {
                algorithm: $name,
                passed: AtomicBool::new(false),
                tests: &[
                    Test { name: concat!($name, " key generation"), run: forms!(signing_key_generation, $set), answer: digest($skg) },
                    Test { name: concat!($name, " signing"), run: forms!(signing, $set), answer: digest($sig) },
                    Test { name: concat!($name, " verification"), run: forms!(verification, $set), answer: [0; 32] },
                ],
            },)*
        ];
    };
}

/// 32 bytes from 64 hexadecimal digits.
const fn digest(hex: &str) -> Digest {
    const fn nibble(digit: u8) -> u8 {
        match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => panic!("not a hexadecimal digit"),
        }
    }
    assert!(hex.len() == 64);
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 32 {
        bytes[i] = nibble(hex.as_bytes()[2 * i]) << 4 | nibble(hex.as_bytes()[2 * i + 1]);
        i += 1;
    }
    bytes
}

suites! {
    hashes: "02ca6bd72ff9859f49163f422205e894b6d6f4fe9dc792a5612f276ee3c49e3c";
    kem MlKem512 "ML-KEM-512":
        "82f101ff648063b376e2bb6c5b7455f655a50c2feadade150efa0e0e6f365aea"
        "f118be4abd463954b1aa7d23bc6c9f7083de334c6d2389196c24c9df08205b28"
        "9926fc6f3b4869d97daadd1c282f11396b13c630b0fe0b7624622bae3d0dcef5"
        "7eb67c7af7da03f32208e14797e72a8f2736e1bf79b0f95a88832886a32b9b71";
    kem MlKem768 "ML-KEM-768":
        "a24e16d8f8f9383a95b77050f4d9fd2f5733eec1d63ef3c23ebf9918173669a7"
        "86104683ba4281912198035e27ac5adfe81112231735d38a632876a367b02c3c"
        "276bc9abb6a1341329825dab8ad1affc47cf0580dcc2753262b82b2598ac98d0"
        "f23bbabd70c9aff55fbcb96deea92aad75f0d81c133b931908f4b4e5242e6721";
    kem MlKem1024 "ML-KEM-1024":
        "61349e5c131a7e116a0463861d7d18663c5627c38c7147ddaadfd48acd7a4535"
        "31b674a7757ba6745f654ad62056c7cba465347da7de04004ad676abf0595fc3"
        "b10983faee9757bea0689b26c97ba198846c754d75166d30a22f4bd3510facf3"
        "632488026ba40e377944b811d7498b37605e6437bb52862d700a5bfacfda6de5";
    signature MlDsa44 "ML-DSA-44":
        "373c7bf2cac5bd2a6c35933bab0fa1c951f22247e1333383fcb618822080373f"
        "43c24b8854fba5959a56a11454d68191227f42588a36ed7926bdd954239117f9";
    signature MlDsa65 "ML-DSA-65":
        "1800725067e388d837d911fe4f66101cc1961b1bb755030dc574272cfb00013f"
        "d1a8f2bc8c9da281b1a62bcf8938a4e6ee4f2622d40f78b9a05dd4298763aeb2";
    signature MlDsa87 "ML-DSA-87":
        "e6cf50a9c2fa5234f59949ff61f8161db4d629532127f4aefa8bb10811ecfb1e"
        "7662d518b40f3b6b0b747f6f01e24e70b43bc585f9bd8ced7d2df3a76e483c0f";
}

#[cfg(test)]
mod tests {
    use std::string::ToString;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::vec::Vec;

    use super::super::{Approved, ApprovedError};
    use super::*;

    static BROKEN: Mutex<&str> = Mutex::new("");
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    pub(super) fn is_broken(name: &str) -> bool {
        *BROKEN.lock().unwrap_or_else(PoisonError::into_inner) == name
    }

    /// A process of its own, as far as self-tests know, in which `name` fails.
    fn fresh(name: &'static str) -> MutexGuard<'static, ()> {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        *BROKEN.lock().unwrap_or_else(PoisonError::into_inner) = name;
        FAILED.store(0, Ordering::Release);
        SUITES.iter().for_each(|suite| suite.passed.store(false, Ordering::Release));
        alone
    }

    #[test]
    fn every_known_answer_is_met() {
        let _alone = fresh("");
        assert_eq!(self_test(), Ok(()));
        assert!(SUITES.iter().all(|suite| suite.passed.load(Ordering::Acquire)));
    }

    /// The answers by RustCrypto's crates, in the order of the suites; verification answers itself.
    #[test]
    fn the_known_answers_are_those_of_independent_implementations() {
        use ml_dsa::signature::Keypair;
        use ml_kem::kem::{Decapsulate, KeyExport};
        use sha3::Digest as _;
        use shake::ExtendableOutput;

        let hash = |parts: &[&[u8]]| -> Digest {
            let mut hasher = sha3::Sha3_256::default();
            parts.iter().for_each(|part| sha3::Digest::update(&mut hasher, part));
            hasher.finalize().into()
        };
        let mut answers = std::vec![];
        let (mut out128, mut out256) = ([0; 200], [0; 200]);
        shake::Shake128::digest_xof(SEED, &mut out128);
        shake::Shake256::digest_xof(SEED, &mut out256);
        answers.push(hash(&[&sha3::Sha3_512::digest(SEED), &out128, &out256]));
        macro_rules! kem {
            ($($set:ident)*) => {$(
                let dk = ml_kem::$set::DecapsulationKey::from_seed(SEED.into());
                let ek = dk.encapsulation_key();
                let (c, k) = ek.encapsulate_deterministic(&MESSAGE.into());
                answers.push(hash(&[&ek.to_bytes()]));
                answers.push(hash(&[&c, &k]));
                answers.push(hash(&[&k]));
                answers.push(hash(&[&dk.decapsulate(&Default::default())]));
            )*};
        }
        kem!(ml_kem_512 ml_kem_768 ml_kem_1024);
        macro_rules! signature {
            ($($set:ident)*) => {$(
                let sk = ml_dsa::SigningKey::<ml_dsa::$set>::from_seed(&signing_key().into());
                answers.push(hash(&[&sk.verifying_key().encode()]));
                let signature = sk.expanded_key().sign_deterministic(&MESSAGE, b"").expect("a short context");
                answers.push(hash(&[&signature.encode()]));
                answers.push([0; 32]);
            )*};
        }
        signature!(MlDsa44 MlDsa65 MlDsa87);
        let ours: Vec<_> = SUITES.iter().flat_map(|suite| suite.tests).map(|test| test.answer).collect();
        assert_eq!(ours, answers);
    }

    #[test]
    fn each_broken_test_ends_the_service_of_every_algorithm() {
        let all: Vec<_> = SUITES.iter().flat_map(|suite| suite.tests).map(|test| test.name).collect();
        assert_eq!(all.len(), 1 + 3 * 4 + 3 * 3);
        for name in all {
            let _alone = fresh(name);
            let failure = SelfTestFailure { test: name };
            assert_eq!(self_test(), Err(failure), "{name}");
            *BROKEN.lock().expect("not poisoned") = "";
            assert_eq!(self_test(), Err(failure), "a failure is for good");
            assert_eq!(Approved::<DecapsulationKey<MlKem512>>::from_seed(&SEED).err(), Some(failure));
            assert_eq!(Approved::<SigningKey<MlDsa87>>::from_seed(&signing_key()).err(), Some(failure));
            assert!(failure.to_string().contains(name));
        }
    }

    #[test]
    fn an_operation_runs_the_tests_of_its_algorithm_first() {
        for (broken, algorithm) in
            [("SHA-3", 0), ("ML-KEM-768 implicit rejection", 2), ("ML-DSA-44 verification", 4)]
        {
            let _alone = fresh(broken);
            let kem = Approved::<DecapsulationKey<MlKem768>>::from_seed(&SEED).err();
            let failure = SelfTestFailure { test: broken };
            assert_eq!(kem, [Some(failure), None][usize::from(algorithm == 4)]);
            let signature = Approved::<SigningKey<MlDsa44>>::from_seed(&signing_key()).err();
            assert_eq!(signature, Some(failure), "either its own test failed, or another had before");
            assert!(!SUITES[6].passed.load(Ordering::Acquire), "ML-DSA-87 was not used, so not tested");
        }
    }

    #[test]
    fn an_inconsistent_pair_is_never_handed_out() {
        let failure = Some(SelfTestFailure { test: PAIRWISE });
        {
            let _alone = fresh(PAIRWISE);
            assert_eq!(Approved::<DecapsulationKey<MlKem1024>>::from_seed(&SEED).err(), failure);
            assert_eq!(self_test().err(), failure);
        }
        {
            let _alone = fresh(PAIRWISE);
            assert_eq!(Approved::<SigningKey<MlDsa44>>::from_seed(&signing_key()).err(), failure);
        }
        {
            let _alone = fresh(PAIRWISE);
            assert_eq!(Approved::<DecapsulationKey<Compact<MlKem512>>>::from_seed(&SEED).err(), failure);
        }
        {
            let _alone = fresh(PAIRWISE);
            assert_eq!(Approved::<SigningKey<Compact<MlDsa65>>>::from_seed(&signing_key()).err(), failure);
        }
    }

    #[test]
    fn a_failure_after_the_key_was_made_stops_its_operations() {
        let _alone = fresh("");
        let dk = Approved::<DecapsulationKey<MlKem512>>::from_seed(&SEED).expect("all is well");
        let ek = Approved::new(dk.key().encapsulation_key()).expect("all is well");
        let sk = Approved::<SigningKey<MlDsa44>>::from_seed(&signing_key()).expect("all is well");
        let vk = Approved::new(sk.key().verifying_key()).expect("all is well");
        let (c, k) = ek.key().encapsulate_deterministic(&MESSAGE);
        assert_eq!(dk.decapsulate(&c).expect("all is well").expose(), k.expose());
        let signature = sk.sign_deterministic(&MESSAGE).expect("all is well");
        assert_eq!(vk.verify(&MESSAGE, &signature), Ok(()));
        assert_eq!(vk.verify(&SEED, &signature), Err(ApprovedError::Operation(mldsa::InvalidSignature)));

        assert!(fail("SHA-3").is_err());
        let failure = SelfTestFailure { test: "SHA-3" };
        assert_eq!(dk.decapsulate(&c).err(), Some(failure));
        assert_eq!(sk.sign_deterministic(&MESSAGE).err(), Some(failure));
        assert_eq!(vk.verify(&MESSAGE, &signature), Err(ApprovedError::SelfTest(failure)));
        #[cfg(feature = "getrandom")]
        {
            assert_eq!(ek.encapsulate().err(), Some(ApprovedError::SelfTest(failure)));
            assert_eq!(sk.sign(&MESSAGE).err(), Some(ApprovedError::SelfTest(failure)));
            let generated = Approved::<SigningKey<MlDsa44>>::generate();
            assert_eq!(generated.err(), Some(ApprovedError::SelfTest(failure)));
        }
    }
}
