//! ML-DSA in every form of a key.

use super::Instrument;
use crate::marked::secret;
use crate::{bytes, secrets, valgrind};
use gambeson::mldsa::{
    Message, ParameterSet, PreHash, PreparedSet, SigningKey, SigningKeyRef, VerifyingKey, VerifyingKeyRef,
};
use gambeson::{Bytes, Compact, Small};

/// Context of the messages that have one.
pub const CONTEXT: &[u8] = b"gate";

/// Inputs of all operations of a parameter set. Secret are `seed`, `rnd` and, of `sk`, K, s1 and s2.
struct Inputs<P: ParameterSet> {
    seed: [u8; 32],
    /// Messages, each with the randomness of its signature.
    messages: Vec<([u8; 40], [u8; 32])>,
    key: VerifyingKey<Compact<P>>,
    /// The private key in the standard's encoding.
    sk: Vec<u8>,
    signatures: Vec<P::Signature>,
}

/// Walks through every operation of a parameter set.
pub fn all<P: PreparedSet>(gate: &mut impl Instrument) {
    let seed: [u8; 32] = secret(P::NAME);
    let messages = (0..gate.messages())
        .map(|round| (bytes(&format!("message {round}")), secret(&format!("rnd {round}"))))
        .collect::<Vec<_>>();
    gate.secrets(|hunt| secrets::dsa::<P>(hunt, &seed, &messages[0].1, &messages[0].0));
    let inputs = fast::<P>(gate, seed, messages);
    small(gate, &inputs);
    workspace(gate, &inputs);
    #[cfg(feature = "c")]
    for calls in crate::c::DSAS.iter().filter(|calls| calls.keys.set == P::NAME) {
        let (message, rnd) = &inputs.messages[0];
        let vk: &[u8] = AsRef::<[u8]>::as_ref(inputs.key.as_bytes());
        super::c::dsa(gate, calls, (&seed, rnd, message, &inputs.sk), vk);
    }
}

/// The schedules that are fast: compact, prepared and encoded keys.
fn fast<P: PreparedSet>(
    gate: &mut impl Instrument,
    seed: [u8; 32],
    messages: Vec<([u8; 40], [u8; 32])>,
) -> Inputs<P> {
    let name = P::NAME;
    let compact = gate.run((name, "keygen", "compact"), || SigningKey::<Compact<P>>::from_seed(&seed));
    let prepared = gate.run((name, "keygen", "prepared"), || SigningKey::<P>::from_seed(&seed));
    let own = compact.seed().expect("made from a seed");
    let grown = gate.run((name, "prepare", "prepared"), || SigningKey::<P>::from_seed(own.expose()));
    let mut encoded = (P::SigningKeyBytes::zeroed(), P::VerifyingKeyBytes::zeroed());
    gate.run_into((name, "keygen", "encoded"), &mut encoded, |(sk, vk)| {
        SigningKey::<P>::encoded_from_seed(&seed, sk, vk);
    });
    let key = gate.run((name, "public key", "compact"), || compact.verifying_key());
    let exported = gate.run((name, "export", "prepared"), || prepared.to_encoded());
    let whole: &[u8] = exported.expose().as_ref();
    let mut sk = whole.to_vec();
    valgrind::mark_public(whole);
    valgrind::mark_public(encoded.0.as_ref());
    assert!(whole == AsRef::<[u8]>::as_ref(&encoded.0) && *key.as_bytes() == encoded.1, "one key");
    // K, s1 and s2; t0 counts as public: it has 416 bytes of each row, of which a verifying key has 320.
    valgrind::mark_public(&sk);
    let t0 = sk.len() - 416 * (P::VerifyingKeyBytes::LEN / 320);
    valgrind::mark_secret(&mut sk[32..64]);
    valgrind::mark_secret(&mut sk[128..t0]);
    let import = || SigningKey::<P>::from_encoded(&sk);
    let imported = gate.run_ok((name, "import", "prepared"), import);
    let borrowed = gate.run_ok((name, "borrow", "encoded"), || SigningKeyRef::<P>::from_ref(&sk));

    let ready = VerifyingKey::<P>::from_bytes(key.as_bytes());
    ready.prepare();
    let mut signatures = Vec::new();
    for (message, rnd) in &messages {
        let mut by_bytes = P::Signature::zeroed();
        gate.run_into((name, "sign", "encoded"), &mut by_bytes, |signature| {
            borrowed.sign_with_rnd_into(rnd, message, signature);
        });
        for signature in [
            gate.run((name, "sign", "compact"), || compact.sign_with_rnd(rnd, message)),
            gate.run((name, "sign", "prepared"), || prepared.sign_with_rnd(rnd, message)),
            gate.run((name, "sign", "grown"), || grown.sign_with_rnd(rnd, message)),
            gate.run((name, "sign", "imported"), || imported.sign_with_rnd(rnd, message)),
        ] {
            valgrind::mark_public(signature.as_ref());
            valgrind::mark_public(by_bytes.as_ref());
            assert!(signature == by_bytes, "every form gives one signature");
        }
        let signature = by_bytes.as_ref();
        gate.run_ok((name, "verify", "compact"), || key.verify(message, signature));
        gate.run_ok((name, "verify", "prepared"), || ready.verify(message, signature));
        // A plain key is prepared at its second use.
        for (form, uses) in [("first use", 1), ("second use", 2), ("third use", 3)] {
            gate.run_ok((name, "verify", form), || {
                let fresh = VerifyingKey::<P>::from_bytes(key.as_bytes());
                (1..uses).try_for_each(|_| fresh.verify(message, signature))?;
                fresh.verify(message, signature)
            });
        }
        assert!(key.verify(b"another message", signature).is_err());
        signatures.push(by_bytes);
    }
    let (message, rnd) = &messages[0];
    let digest = PreHash::Sha2_512.digest(message);
    let message = || Message::prehashed(&digest, CONTEXT).expect("the context is short");
    let prehashed = gate.run((name, "sign pre-hashed", "compact"), || compact.sign_with_rnd(rnd, message()));
    valgrind::mark_public(prehashed.as_ref());
    key.verify(message(), prehashed.as_ref()).expect("our own signature is valid");
    gate.run_drop(name, (compact, prepared, grown, imported));
    Inputs { seed, messages, key, sk, signatures }
}

/// The schedule of the least memory, in memory of the caller's.
fn small<P: ParameterSet>(gate: &mut impl Instrument, inputs: &Inputs<P>) {
    let (name, seed) = (|op| (P::NAME, op, "small"), &inputs.seed);
    let mut vk = P::VerifyingKeyBytes::zeroed();
    let hashed = gate.run(name("keygen, hash only"), || SigningKey::<Small<P>>::from_seed(seed));
    let keygen = |vk: &mut _| SigningKey::<Small<P>>::from_seed_into(seed, vk);
    let key = gate.run_into(name("keygen"), &mut vk, keygen);
    assert!(vk == *inputs.key.as_bytes(), "one key");
    gate.run_into(name("public key"), &mut vk, |vk| hashed.verifying_key_into(vk));
    assert!(vk == *inputs.key.as_bytes(), "one key");
    let encoded = gate.run_ok(name("borrow"), || SigningKeyRef::<Small<P>>::from_ref(&inputs.sk));
    for ((message, rnd), expected) in inputs.messages.iter().zip(&inputs.signatures) {
        let [mut one, mut two] = [P::Signature::zeroed(); 2];
        gate.run_into(name("sign"), &mut one, |s| key.sign_with_rnd_into(rnd, message, s));
        gate.run_into(name("sign, encoded"), &mut two, |s| encoded.sign_with_rnd_into(rnd, message, s));
        for signature in [&one, &two] {
            valgrind::mark_public(signature.as_ref());
            assert!(signature == expected, "every form gives one signature");
        }
        let verify =
            |message: &[u8]| VerifyingKeyRef::<Small<P>>::from_ref(&vk).verify(message, one.as_ref()).is_ok();
        assert!(gate.run(name("verify"), || verify(message)) && !verify(b"another message"));
    }
    gate.run_drop(&format!("{} small", P::NAME), (hashed, key));
}

/// The same schedule in a workspace.
fn workspace<P: ParameterSet>(gate: &mut impl Instrument, inputs: &Inputs<P>) {
    let (name, seed) = (|op| (P::NAME, op, "workspace"), &inputs.seed);
    let mut vk = P::VerifyingKeyBytes::zeroed();
    gate.run_in(name("keygen, hash only"), &mut (), |(), workspace| {
        drop(SigningKey::<Small<P>>::from_seed_in(seed, None, workspace));
    });
    let key = gate.run_in(name("keygen"), &mut vk, |vk, workspace| {
        SigningKey::<Small<P>>::from_seed_in(seed, Some(vk), workspace)
    });
    assert!(vk == *inputs.key.as_bytes(), "one key");
    gate.run_in(name("public key"), &mut vk, |vk, workspace| key.verifying_key_in(vk, workspace));
    assert!(vk == *inputs.key.as_bytes(), "one key");
    let encoded = SigningKeyRef::<Small<P>>::from_ref(&inputs.sk).expect("our own key is valid");
    for ((message, rnd), expected) in inputs.messages.iter().zip(&inputs.signatures) {
        let [mut one, mut two] = [P::Signature::zeroed(); 2];
        gate.run_in(name("sign"), &mut one, |s, workspace| key.sign_with_rnd_in(rnd, message, s, workspace));
        gate.run_in(name("sign, encoded"), &mut two, |s, workspace| {
            encoded.sign_with_rnd_in(rnd, message, s, workspace);
        });
        for signature in [&one, &two] {
            valgrind::mark_public(signature.as_ref());
            assert!(signature == expected, "every form gives one signature");
        }
        gate.run_in(name("verify"), &mut (), |(), workspace| {
            let key = VerifyingKeyRef::<Small<P>>::from_ref(&vk);
            key.verify_in(message, one.as_ref(), workspace).expect("our own signature");
        });
    }
}
