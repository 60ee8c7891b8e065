//! ML-DSA: signing by keys in the standard's form, borrowed by both schedules, in a workspace too; and by keys on the heap, their import and
//! an attempt.
//!
//! What may differ is fixed, so that traces may not. ρ, K and tr are one for all keys, and with them the matrix, y, μ and the challenge; t0
//! is 0, so that no place of a hint depends on a key; and of many keys those are taken whose first attempt is accepted. The secrets are
//! s1 and s2.

use super::{SECRETS, begin, bytes, fail, region};
use gambeson::mldsa::{ParameterSet, PreparedSet, SigningKey, SigningKeyRef};
use gambeson::{Bytes, Compact, Small, Workspace};

/// Signing with keys that are borrowed. The message is one that key 0 signs in its first attempt.
pub fn borrowed<P: ParameterSet>(name: &str, message: u8) {
    struct Job<P: ParameterSet>(P::SigningKeyBytes, [u8; 1], P::Signature, Workspace<P>);
    extern "C" fn run<P: ParameterSet, Schedule>(Job(key, message, signature, _): &mut Job<P>)
    where
        Schedule: ParameterSet<Signature = P::Signature>,
    {
        if let Ok(key) = SigningKeyRef::<Schedule>::from_ref(key.as_ref()) {
            key.sign_with_rnd_into(&[0; 32], &*message, signature);
        }
    }
    extern "C" fn run_in<P: ParameterSet>(Job(key, message, signature, workspace): &mut Job<P>) {
        if let Ok(key) = SigningKeyRef::<Small<P>>::from_ref(key.as_ref()) {
            key.sign_with_rnd_in(&[0; 32], &*message, signature, workspace);
        }
    }
    let nothing = (P::SigningKeyBytes::zeroed(), P::Signature::zeroed());
    let mut job = Job::<P>(nothing.0, [message], nothing.1, Workspace::default());
    let keys = accepted::<P>(|number| {
        job.0 = key::<P>(number);
        run::<P, Compact<P>>(&mut job);
        job.2
    });
    let schedules: [(&str, extern "C" fn(&mut Job<P>)); 3] =
        [("plain", run::<P, Compact<P>>), ("small", run::<P, Small<P>>), ("workspace", run_in::<P>)];
    for (schedule, run) in schedules {
        begin("trace", schedule, name);
        for number in keys {
            job.0 = key::<P>(number);
            region(&mut job, run);
        }
    }
}

/// The first keys whose signatures have the challenge of key 0's.
fn accepted<P: ParameterSet>(mut sign: impl FnMut(u8) -> P::Signature) -> [u8; SECRETS as usize] {
    let c_tilde = |signature: P::Signature| signature.as_ref().first_chunk::<32>().copied();
    let expected = c_tilde(sign(0));
    let mut alike = (0..u8::MAX).filter(|number| c_tilde(sign(*number)) == expected);
    core::array::from_fn(|_| {
        alike.next().unwrap_or_else(|| fail("too few keys that sign in their first attempt"))
    })
}

/// ρ ‖ K ‖ tr ‖ s1 ‖ s2 ‖ t0 (FIPS 204, Algorithm 24 (skEncode)).
fn key<P: ParameterSet>(number: u8) -> P::SigningKeyBytes {
    let mut key = P::SigningKeyBytes::zeroed();
    let (head, rest) = key.as_mut().split_at_mut(128);
    head.copy_from_slice(&bytes::<128>(b"rho, K and tr", 0));
    // k·416 bytes of t0; of s1 and s2, what every number in -η..=η may have: ones of three bits, or of four.
    let (t0, digits): (usize, &[u8]) = match P::NAME {
        "ML-DSA-44" => (4 * 416, &[0xdb, 0xb6, 0x6d]),
        "ML-DSA-65" => (6 * 416, &[0x77]),
        _ => (8 * 416, &[0xdb, 0xb6, 0x6d]),
    };
    let (s, t0) = rest.split_at_mut(rest.len() - t0);
    let random: [u8; 1440] = bytes(b"s1 and s2", number);
    for ((to, from), digits) in s.iter_mut().zip(random).zip(digits.iter().cycle()) {
        *to = from & digits;
    }
    // 2^12 - 0, in 13 bits.
    for bit in (12..8 * t0.len()).step_by(13) {
        t0[bit >> 3] |= 1 << (bit & 7);
    }
    key
}

/// The import of such keys, by which t is made and found to be another; and, of keys that are whole, an attempt in which all but the key and y
/// are fixed, and so small that it is accepted.
pub fn on_the_heap<P: PreparedSet>(name: &str) {
    struct Importing<P: ParameterSet>(P::SigningKeyBytes, bool);
    extern "C" fn import<P: PreparedSet>(Importing(key, refused): &mut Importing<P>) {
        *refused = SigningKey::<P>::from_encoded(key.as_ref()).is_err();
    }
    begin("trace", "import of", name);
    for number in 0..SECRETS {
        let mut job = Importing::<P>(key::<P>(number), false);
        region(&mut job, import::<P>);
        if !job.1 {
            fail("a key whose t0 and tr do not follow");
        }
    }
    #[cfg(gambeson_ct)]
    attempt::<P>(name);
}

#[cfg(gambeson_ct)]
fn attempt<P: PreparedSet>(name: &str) {
    struct Attempt<P: PreparedSet> {
        key: Option<SigningKey<P>>,
        rho_second: [u8; 64],
        small: [i8; 256],
        c_tilde: [u8; 64],
        accepted: bool,
    }
    extern "C" fn run<P: PreparedSet>(job: &mut Attempt<P>) {
        let Attempt { key, rho_second, small, c_tilde, accepted } = job;
        *accepted =
            key.as_ref().is_some_and(|key| gambeson::mldsa::attempt::<P>(key, rho_second, small, c_tilde));
    }
    begin("trace", "attempt with", name);
    let c_tilde = bytes(b"challenge", 0);
    let mut job = Attempt::<P> { key: None, rho_second: [0; 64], small: [0; 256], c_tilde, accepted: false };
    for number in 0..SECRETS {
        // The last one goes first, so that all stand in the same place.
        job.key = None;
        job.key = Some(SigningKey::from_seed(&bytes(b"seed", number)));
        job.rho_second = bytes(b"rho", number);
        job.small = bytes::<256>(b"y", number).map(|byte| byte as i8);
        region(&mut job, run::<P>);
        if !job.accepted {
            fail("an attempt that is accepted by its numbers");
        }
    }
}
