//! Before anything is timed: does the peer give what we give?
//!
//! Work that is a function of its case must give our bytes. Where the peer draws randomness itself, its keys must
//! import here and match each other, we must decapsulate its ciphertexts to its secrets, and its signatures must
//! verify here; the other direction is its own decapsulation and verification of our outputs, which are exact work. So
//! it is with ours where it draws randomness. Work that encodes nothing is compared by the encoding of what the same
//! work makes.
//!
//! A stateful key is the peer's own: with its public part comes a signature by it, which must verify here. SPHINCS+ of round 3 gives
//! other outputs than SLH-DSA: the peer's round trip is what is checked.

use gambeson::mldsa::{self, SigningKey, VerifyingKey};
use gambeson::mlkem::{self, DecapsulationKey, EncapsulationKey};
use gambeson::slhdsa;

use crate::cases::{KemCases, SignatureCases, slh_dsa_set};
use crate::peers::{Answer, Family, Form, KemSet, KemVerb, PROBE, SignatureSet, SignatureVerb, Work};
use crate::stateful::Verifier;

/// Runs `work` once on every case and compares.
pub fn kem(set: KemSet, verb: KemVerb, form: Form, cases: &KemCases, work: &mut Work) -> Result<(), String> {
    let across = match set {
        KemSet::MlKem512 => kem_across::<mlkem::MlKem512>,
        KemSet::MlKem768 => kem_across::<mlkem::MlKem768>,
        KemSet::MlKem1024 => kem_across::<mlkem::MlKem1024>,
    };
    // Only decapsulation has something to say about the tampered case.
    let count = if verb == KemVerb::Decaps { cases.all.len() } else { cases.all.len() - 1 };
    let outputs = |i: usize| -> (&[u8], &[u8]) {
        let case = &cases.all[i];
        match (verb, form) {
            (KemVerb::Keygen, Form::Oneshot) => (&case.public, &case.private),
            (KemVerb::Keygen, _) => (&case.public, &[]),
            (KemVerb::Encaps, _) => (&case.ciphertext, &case.secret),
            (KemVerb::Decaps, _) => (&[], &case.secret),
        }
    };
    if work.batch > 1 {
        return batch(work, cases.all.len(), count, outputs);
    }
    let mut answer = Answer::default();
    for (i, case) in cases.all.iter().enumerate().take(count) {
        work.compared()(i, &mut answer);
        if work.random {
            across(verb, &case.private, &answer).map_err(|error| format!("case {i}: {error}"))?;
            continue;
        }
        let (public, private) = outputs(i);
        same(i, &answer, public, private)?;
    }
    Ok(())
}

/// Runs `work` once on every case and compares.
pub fn signature(
    set: SignatureSet,
    verb: SignatureVerb,
    form: Form,
    cases: &SignatureCases,
    work: &mut Work,
) -> Result<(), String> {
    let across = |public: &[u8], message: &[u8], answer: &Answer| match set {
        SignatureSet::MlDsa44 => signature_across::<mldsa::MlDsa44>(verb, public, message, answer),
        SignatureSet::MlDsa65 => signature_across::<mldsa::MlDsa65>(verb, public, message, answer),
        SignatureSet::MlDsa87 => signature_across::<mldsa::MlDsa87>(verb, public, message, answer),
        _ if set.family() == Family::SlhDsa => slh_dsa_across(set, verb, public, message, answer),
        _ => stateful_across(set, verb, message, answer),
    };
    // Only verification has something to say about the tampered case.
    let count = if verb == SignatureVerb::Verify { cases.all.len() } else { cases.all.len() - 1 };
    let outputs = |i: usize| -> (&[u8], &[u8]) {
        let (key, case) = (cases.key(i), &cases.all[i]);
        match (verb, form) {
            (SignatureVerb::Keygen, Form::Oneshot) => (&key.public, &key.private),
            (SignatureVerb::Keygen, _) => (&key.public, &[]),
            (SignatureVerb::Sign, _) => (&case.signature, &[]),
            (SignatureVerb::Verify, _) => (if case.valid { &[1] } else { &[0] }, &[]),
        }
    };
    if work.batch > 1 && work.random {
        let mut answer = Answer::default();
        (work.run)(0, &mut answer);
        let len = cases.all[0].signature.len();
        if answer.public.len() != len * work.batch {
            return Err(format!("{} bytes of signatures for a batch of {}", answer.public.len(), work.batch));
        }
        for (i, signature) in answer.public.chunks_exact(len).enumerate() {
            let one = Answer { public: signature.to_vec(), private: Vec::new() };
            across(&cases.key(i).public, &cases.all[i].message, &one)
                .map_err(|error| format!("case {i}: {error}"))?;
        }
        return Ok(());
    }
    if work.batch > 1 {
        return batch(work, cases.all.len(), count, outputs);
    }
    let mut answer = Answer::default();
    for (i, case) in cases.all.iter().enumerate().take(count) {
        work.compared()(i, &mut answer);
        let key = cases.key(i);
        if work.apart {
            same(i, &answer, &[1], &[])?;
            continue;
        }
        if work.random {
            across(&key.public, &case.message, &answer).map_err(|error| format!("case {i}: {error}"))?;
            continue;
        }
        let (public, private) = outputs(i);
        same(i, &answer, public, private)?;
    }
    Ok(())
}

/// Runs the batch with the good cases, and, if `count` says that it counts, with the tampered one as the last.
fn batch<'a>(
    work: &mut Work,
    cases: usize,
    count: usize,
    outputs: impl Fn(usize) -> (&'a [u8], &'a [u8]),
) -> Result<(), String> {
    let tampered = cases - 1;
    if tampered != work.batch {
        return Err(format!("{tampered} good cases for a batch of {}", work.batch));
    }
    let mut answer = Answer::default();
    for asked in if count == cases { vec![0, tampered] } else { vec![0] } {
        (work.run)(asked, &mut answer);
        let mut wanted = Answer::default();
        for i in 0..work.batch {
            let last = asked == tampered && i + 1 == work.batch;
            let (public, private) = outputs(if last { tampered } else { i });
            wanted.public.extend_from_slice(public);
            wanted.private.extend_from_slice(private);
        }
        same(asked, &answer, &wanted.public, &wanted.private)?;
    }
    Ok(())
}

fn same(i: usize, answer: &Answer, public: &[u8], private: &[u8]) -> Result<(), String> {
    if answer.public != public {
        return Err(format!("case {i}: the public output differs from ours"));
    }
    if answer.private != private {
        return Err(format!("case {i}: the private output differs from ours"));
    }
    Ok(())
}

fn kem_across<P: mlkem::PreparedSet>(verb: KemVerb, private: &[u8], answer: &Answer) -> Result<(), String> {
    let import = |bytes: &[u8]| {
        DecapsulationKey::<P>::from_encoded(bytes)
            .map_err(|_| "its decapsulation key is refused here".to_owned())
    };
    match verb {
        KemVerb::Keygen => {
            let private = import(&answer.private)?;
            let public = EncapsulationKey::<P>::try_from(&answer.public[..])
                .map_err(|_| "its encapsulation key is refused here".to_owned())?;
            let (c, k) = public.encapsulate_deterministic(&[7; 32]);
            if private.decapsulate(&c).expose() != k.expose() {
                return Err("its two keys do not belong together".into());
            }
        }
        KemVerb::Encaps => {
            let c = P::Ciphertext::try_from(&answer.public[..])
                .map_err(|_| "its ciphertext has another length".to_owned())?;
            if import(private)?.decapsulate(&c).expose()[..] != answer.private[..] {
                return Err("we decapsulate to another secret".into());
            }
        }
        KemVerb::Decaps => return Err("decapsulation draws no randomness".into()),
    }
    Ok(())
}

fn signature_across<P: mldsa::PreparedSet>(
    verb: SignatureVerb,
    public: &[u8],
    message: &[u8],
    answer: &Answer,
) -> Result<(), String> {
    let import = |bytes: &[u8]| {
        VerifyingKey::<P>::try_from(bytes).map_err(|_| "its verifying key has another length".to_owned())
    };
    match verb {
        SignatureVerb::Keygen => {
            let private = SigningKey::<P>::from_encoded(&answer.private)
                .map_err(|_| "its signing key is refused here".to_owned())?;
            if (import(&answer.public)?.verify(message, private.sign_deterministic(message).as_ref()))
                .is_err()
            {
                return Err("its two keys do not belong together".into());
            }
        }
        SignatureVerb::Sign => {
            if import(public)?.verify(message, &answer.public).is_err() {
                return Err("its signature does not verify here".into());
            }
        }
        SignatureVerb::Verify => return Err("verification draws no randomness".into()),
    }
    Ok(())
}

fn slh_dsa_across(
    set: SignatureSet,
    verb: SignatureVerb,
    public: &[u8],
    message: &[u8],
    answer: &Answer,
) -> Result<(), String> {
    let parameters = slh_dsa_set(set);
    match verb {
        // PK.root is made again, and PK stands at the end of the signing key.
        SignatureVerb::Keygen => match slhdsa::SigningKey::from_bytes(parameters, &answer.private) {
            Ok(key) if key.verifying_key().as_bytes() == answer.public => Ok(()),
            Ok(_) => Err("its two keys do not belong together".into()),
            Err(error) => Err(format!("its signing key is refused here: {error}")),
        },
        SignatureVerb::Sign => slhdsa::VerifyingKey::from_bytes(parameters, public)
            .map_err(|error| error.to_string())?
            .verify(message, &answer.public)
            .map_err(|_| "its signature does not verify here".into()),
        SignatureVerb::Verify => Err("verification draws no randomness".into()),
    }
}

/// Of a new key the public part and its signature of [`PROBE`]; of a signature itself and the public part.
fn stateful_across(
    set: SignatureSet,
    verb: SignatureVerb,
    message: &[u8],
    answer: &Answer,
) -> Result<(), String> {
    let (public, message, signature) = match verb {
        SignatureVerb::Keygen => (&answer.public, &PROBE[..], &answer.private),
        SignatureVerb::Sign => (&answer.private, message, &answer.public),
        SignatureVerb::Verify => return Err("verification draws no randomness".into()),
    };
    let key =
        Verifier::new(set, public).map_err(|error| format!("its verifying key is refused here: {error}"))?;
    let valid = key.verify(message, signature);
    if valid { Ok(()) } else { Err("its signature does not verify here".into()) }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::cases::{KEYS, MESSAGES};
    use crate::peers::ours::Ours;
    use crate::peers::{self, BATCH, KemPeer, Peer, SignaturePeer};

    /// `work`, but one bit of what it gives is wrong in that case.
    fn lying(work: Option<Work>, case: usize, private: bool) -> Work {
        let Work { run, random, encoded, apart, batch } = work.expect("it has the form");
        // The last byte of a decapsulation key is one of z, which no encapsulation shows.
        let first = encoded.is_some();
        let mut run = encoded.unwrap_or(run);
        let run = move |i: usize, answer: &mut Answer| {
            run(i, answer);
            if i == case {
                let bytes = if private { &mut answer.private } else { &mut answer.public };
                let byte = if first { bytes.first_mut() } else { bytes.last_mut() };
                *byte.expect("an output") ^= 1;
            }
        };
        Work { run: Box::new(run), random, encoded: None, apart, batch }
    }

    /// Every peer of this machine and, last, ours.
    fn everybody() -> Vec<Peer> {
        let mut all = peers::all(None);
        all.push(Peer {
            name: "gambeson",
            packages: &[],
            level: gambeson::cpu::detected(),
            note: "",
            kem: Some(Box::new(Ours)),
            signature: Some(Box::new(Ours)),
        });
        all
    }

    #[test]
    fn one_wrong_bit_of_one_case_is_noticed() {
        let cases = KemCases::new(KemSet::MlKem512, KEYS);
        for (verb, case, private) in [
            (KemVerb::Keygen, 3, false),
            (KemVerb::Keygen, 15, true),
            (KemVerb::Encaps, 7, false),
            (KemVerb::Encaps, 0, true),
            (KemVerb::Decaps, 16, true),
        ] {
            let work = || KemPeer::work(&Ours, KemSet::MlKem512, verb, Form::Oneshot, &cases);
            let check = |mut work| kem(KemSet::MlKem512, verb, Form::Oneshot, &cases, &mut work);
            check(work().expect("ours has it")).expect("ours agrees with itself");
            check(lying(work(), case, private)).expect_err("a lie");
        }
    }

    #[test]
    fn one_wrong_bit_is_noticed_across_as_well() {
        let cases = KemCases::new(KemSet::MlKem768, KEYS);
        let honest = || {
            let work = KemPeer::work(&Ours, KemSet::MlKem768, KemVerb::Encaps, Form::Oneshot, &cases);
            work.map(|work| Work { random: true, ..work })
        };
        let check = |mut work| kem(KemSet::MlKem768, KemVerb::Encaps, Form::Oneshot, &cases, &mut work);
        check(honest().expect("ours has it")).expect("honest work agrees");
        check(lying(honest(), 5, false)).expect_err("another ciphertext");
        check(lying(honest(), 5, true)).expect_err("another secret");

        let cases = SignatureCases::new(SignatureSet::MlDsa44, KEYS, MESSAGES);
        let set = SignatureSet::MlDsa44;
        let honest = || {
            let work = SignaturePeer::work(&Ours, set, SignatureVerb::Sign, Form::Prepared, &cases);
            work.map(|work| Work { random: true, ..work })
        };
        let check = |mut work| signature(set, SignatureVerb::Sign, Form::Prepared, &cases, &mut work);
        check(honest().expect("ours has it")).expect("honest work agrees");
        check(lying(honest(), 100, false)).expect_err("another signature");
    }

    #[test]
    fn every_example_agrees_and_one_wrong_bit_of_it_is_noticed() {
        let everybody = everybody();
        for set in KemSet::ALL {
            let cases = KemCases::new(set, 2);
            for (name, peer) in everybody.iter().filter_map(|peer| Some((peer.name, peer.kem.as_ref()?))) {
                for (verb, private) in [
                    (KemVerb::Keygen, false),
                    (KemVerb::Keygen, true),
                    (KemVerb::Encaps, false),
                    (KemVerb::Encaps, true),
                    (KemVerb::Decaps, true),
                ] {
                    let work = || peer.work(set, verb, Form::Default, &cases);
                    let check = |mut work| kem(set, verb, Form::Default, &cases, &mut work);
                    let Some(honest) = work() else {
                        assert!(name == "graviola" && set != KemSet::MlKem768, "{name} has no {verb:?}");
                        continue;
                    };
                    assert_eq!(check(honest), Ok(()), "{name}, {set:?}, {verb:?}");
                    assert!(check(lying(work(), 1, private)).is_err(), "{name}, {set:?}, {verb:?}");
                }
            }
        }
        for set in SignatureSet::ALL.into_iter().filter(|set| set.family() == Family::MlDsa) {
            let cases = SignatureCases::new(set, 2, 1);
            for (name, peer) in
                everybody.iter().filter_map(|peer| Some((peer.name, peer.signature.as_ref()?)))
            {
                for (verb, private) in [
                    (SignatureVerb::Keygen, false),
                    (SignatureVerb::Keygen, true),
                    (SignatureVerb::Sign, false),
                    (SignatureVerb::Verify, false),
                ] {
                    let work = || peer.work(set, verb, Form::Default, &cases);
                    let check = |mut work| signature(set, verb, Form::Default, &cases, &mut work);
                    assert_eq!(check(work().expect("an example")), Ok(()), "{name}, {set:?}, {verb:?}");
                    assert!(check(lying(work(), 1, private)).is_err(), "{name}, {set:?}, {verb:?}");
                }
            }
        }
    }

    #[test]
    fn every_hash_based_form_agrees_and_one_wrong_bit_of_it_is_noticed() {
        use SignatureSet as Set;
        use SignatureVerb as Verb;

        for (set, verb, form, least) in [
            (Set::SlhDsaSha2_128f, Verb::Keygen, Form::Default, 3),
            (Set::SlhDsaSha2_128f, Verb::Keygen, Form::Oneshot, 3),
            (Set::SlhDsaSha2_128f, Verb::Sign, Form::Default, 3),
            (Set::SlhDsaSha2_128f, Verb::Sign, Form::Prepared, 3),
            (Set::SlhDsaShake128f, Verb::Verify, Form::Oneshot, 3),
            (Set::LmsSha256H10W8, Verb::Keygen, Form::Oneshot, 3),
            (Set::LmsSha256H10W8, Verb::Sign, Form::Prepared, 3),
            (Set::LmsSha256H10W8, Verb::Verify, Form::Prepared, 3),
            (Set::XmssSha2_10_256, Verb::Sign, Form::Prepared, 1),
            (Set::XmssSha2_10_256, Verb::Verify, Form::Oneshot, 1),
        ] {
            let cases = SignatureCases::new(set, 1, 1);
            let mut agreed = 0;
            for (name, peer) in
                everybody().iter().filter_map(|peer| Some((peer.name, peer.signature.as_ref()?)))
            {
                let check = |mut work| signature(set, verb, form, &cases, &mut work);
                let Some(honest) = peer.work(set, verb, form, &cases) else { continue };
                assert_eq!(check(honest), Ok(()), "{name}, {set:?}, {verb:?}");
                let lie = lying(peer.work(set, verb, form, &cases), 0, false);
                assert!(check(lie).is_err(), "{name}, {set:?}, {verb:?}");
                agreed += 1;
            }
            assert!(agreed >= least, "{set:?}, {verb:?}: {agreed}");
        }
    }

    #[test]
    fn what_our_example_makes_every_peer_takes() {
        let form = Form::Default;
        let mut answer = Answer::default();
        let set = KemSet::MlKem768;
        let mut cases = KemCases::new(set, 1);
        let mut ours = KemPeer::work(&Ours, set, KemVerb::Encaps, form, &cases).expect("an example");
        (ours.run)(0, &mut answer);
        drop(ours);
        let case = &mut Rc::get_mut(&mut cases).expect("nobody else has them").all[0];
        assert_ne!(case.ciphertext, answer.public, "randomness was drawn");
        (case.ciphertext, case.secret) = (answer.public.clone(), answer.private.clone());
        for (name, peer) in everybody().iter().filter_map(|peer| Some((peer.name, peer.kem.as_ref()?))) {
            let mut work = peer.work(set, KemVerb::Decaps, form, &cases).expect("an example");
            assert_eq!(kem(set, KemVerb::Decaps, form, &cases, &mut work), Ok(()), "{name}");
        }

        let set = SignatureSet::MlDsa65;
        let mut cases = SignatureCases::new(set, 1, 1);
        let mut ours =
            SignaturePeer::work(&Ours, set, SignatureVerb::Sign, form, &cases).expect("an example");
        (ours.run)(0, &mut answer);
        drop(ours);
        let case = &mut Rc::get_mut(&mut cases).expect("nobody else has them").all[0];
        assert_ne!(case.signature, answer.public, "randomness was drawn");
        case.signature = answer.public.clone();
        for (name, peer) in everybody().iter().filter_map(|peer| Some((peer.name, peer.signature.as_ref()?)))
        {
            let mut work = peer.work(set, SignatureVerb::Verify, form, &cases).expect("an example");
            assert_eq!(signature(set, SignatureVerb::Verify, form, &cases, &mut work), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_batch_answers_for_all_its_cases() {
        let set = KemSet::MlKem512;
        let cases = KemCases::new(set, BATCH);
        let honest = |forgets_the_tampered: bool| {
            let mut one = KemPeer::work(&Ours, set, KemVerb::Decaps, Form::Oneshot, &cases).expect("a door");
            Work::batch(BATCH, move |asked, answer| {
                let mut all = Answer::default();
                for i in 0..BATCH {
                    let last = asked == BATCH && i + 1 == BATCH && !forgets_the_tampered;
                    (one.run)(if last { asked } else { i }, answer);
                    all.private.extend_from_slice(&answer.private);
                }
                *answer = all;
            })
        };
        let check = |mut work| kem(set, KemVerb::Decaps, Form::Batch64, &cases, &mut work);
        check(honest(false).expect("work")).expect("a loop is a batch");
        check(honest(true).expect("work")).expect_err("the rejection secret is not there");
        check(lying(honest(false), 0, true)).expect_err("another secret");
    }

    #[test]
    fn a_verifier_that_accepts_everything_is_noticed() {
        let cases = SignatureCases::new(SignatureSet::MlDsa65, KEYS, 1);
        let mut work = Work::exact(|_, answer| answer.set([1], [])).expect("work");
        signature(SignatureSet::MlDsa65, SignatureVerb::Verify, Form::Oneshot, &cases, &mut work)
            .expect_err("the tampered signature was accepted");
    }
}
