//! ML-KEM in every form of a key.

use super::Instrument;
use crate::marked::secret;
use crate::{secrets, valgrind};
use gambeson::mlkem::{
    DecapsulationKey, DecapsulationKeyRef, EncapsulationKey, EncapsulationKeyRef, ParameterSet, PreparedSet,
    SharedSecret, decapsulate_many, decapsulate_many_encoded, encapsulate_many_deterministic,
};
use gambeson::secret::Secret;
use gambeson::{Bytes, Compact, Small};

/// Inputs of all operations of a parameter set. Secret are `seed`, `m` and, of `dk`, s and z.
struct Inputs<P: ParameterSet> {
    seed: [u8; 64],
    m: [u8; 32],
    key: EncapsulationKey<Compact<P>>,
    /// The private key in the standard's encoding.
    dk: Vec<u8>,
    /// The ciphertext of `m`, and two wrong ones.
    ciphertexts: [P::Ciphertext; 3],
    shared: [u8; 32],
}

/// The operation on each of the three ciphertexts, and its name with an encoded key.
pub const OPERATIONS: [(&str, &str); 3] =
    [("decaps", "decaps, encoded"), ("rejection", "rejection, encoded"), ("rejection", "rejection, encoded")];

/// Walks through every operation of a parameter set.
pub fn all<P: PreparedSet>(gate: &mut impl Instrument) {
    let (seed, m): ([u8; 64], [u8; 32]) = (secret(P::NAME), secret("m"));
    gate.secrets(|hunt| secrets::kem::<P>(hunt, &seed, &m));
    let inputs = fast::<P>(gate, seed, m);
    small(gate, &inputs);
    workspace(gate, &inputs);
    #[cfg(feature = "c")]
    for calls in crate::c::KEMS.iter().filter(|calls| calls.keys.set == P::NAME) {
        let ciphertexts = inputs.ciphertexts.each_ref().map(P::Ciphertext::as_ref);
        let ek = AsRef::<[u8]>::as_ref(inputs.key.as_bytes());
        super::c::kem(gate, calls, (&seed, &m, &inputs.dk), ciphertexts, ek);
    }
}

/// Returns the bytes of a shared secret, as public ones.
fn published(shared: &SharedSecret) -> [u8; 32] {
    valgrind::mark_public(shared.expose());
    *shared.expose()
}

/// The schedules that are fast: compact, prepared and encoded keys, one at a time and many.
fn fast<P: PreparedSet>(gate: &mut impl Instrument, seed: [u8; 64], m: [u8; 32]) -> Inputs<P> {
    let name = P::NAME;
    let mut dk = P::DecapsulationKeyBytes::zeroed();
    gate.run_into((name, "keygen", "encoded"), &mut dk, |dk| {
        DecapsulationKey::<P>::encoded_from_seed(&seed, dk);
    });
    let compact = gate.run((name, "keygen", "compact"), || DecapsulationKey::<Compact<P>>::from_seed(&seed));
    let prepared = gate.run((name, "keygen", "prepared"), || DecapsulationKey::<P>::from_seed(&seed));
    let own = compact.seed().expect("made from a seed");
    let grown = gate.run((name, "prepare", "prepared"), || DecapsulationKey::<P>::from_seed(own.expose()));
    let key = gate.run((name, "public key", "compact"), || compact.encapsulation_key());

    let (c, shared) = gate.run((name, "encaps", "compact"), || key.encapsulate_deterministic(&m));
    valgrind::mark_public(c.as_ref());
    let shared = published(&shared);
    let once = EncapsulationKeyRef::<P>::from_ref(key.as_bytes()).expect("our own key is valid");
    let ready = EncapsulationKey::<P>::from_bytes(key.as_bytes()).expect("our own key is valid");
    ready.prepare();
    let count = gate.batch();
    let mut sent = vec![
        gate.run((name, "encaps", "prepared"), || ready.encapsulate_deterministic(&m)),
        gate.run((name, "encaps", "once"), || once.encapsulate_deterministic(&m)),
    ];
    // A plain key is prepared at its second use.
    for (form, uses) in [("first use", 1), ("second use", 2), ("third use", 3)] {
        sent.push(gate.run((name, "encaps", form), || {
            let fresh = EncapsulationKey::<P>::from_bytes(key.as_bytes()).expect("our own key is valid");
            (1..uses).for_each(|_| drop(fresh.encapsulate_deterministic(&m)));
            fresh.encapsulate_deterministic(&m)
        }));
    }
    sent.extend(
        gate.run((name, "encaps", "many"), || encapsulate_many_deterministic(&vec![(once, &m); count])),
    );
    sent.extend(gate.run((name, "encaps", "many prepared"), || {
        encapsulate_many_deterministic(&vec![(&ready, &m); count])
    }));
    for (other, other_shared) in &sent {
        valgrind::mark_public(other.as_ref());
        assert!(other.as_ref() == c.as_ref() && published(other_shared) == shared, "one ciphertext");
    }

    let exported = gate.run((name, "export", "prepared"), || prepared.to_encoded());
    let whole: &[u8] = exported.expose().as_ref();
    valgrind::mark_public(whole);
    valgrind::mark_public(dk.as_ref());
    assert!(whole == AsRef::<[u8]>::as_ref(&dk), "one encoding");
    // Of the encoded key s and z are secret; what lies between is the encapsulation key and its hash.
    let mut exported = whole.to_vec();
    let (s, z) = (exported.len() - 64 - P::EncapsulationKeyBytes::LEN, exported.len() - 32);
    valgrind::mark_secret(&mut exported[..s]);
    valgrind::mark_secret(&mut exported[z..]);
    let exported = &exported[..];
    let import = || DecapsulationKey::<P>::from_encoded(exported);
    let imported = gate.run_ok((name, "import", "prepared"), import);

    let changed = |at: usize| {
        let mut wrong = c;
        wrong.as_mut()[at] ^= 0x20;
        wrong
    };
    let ciphertexts = [c, changed(7), changed(P::Ciphertext::LEN - 1)];
    for (c, (op, _)) in ciphertexts.iter().zip(OPERATIONS) {
        let one = || DecapsulationKey::<P>::decapsulate_encoded(exported, c);
        let mut found = vec![
            gate.run((name, op, "compact"), || compact.decapsulate(c)),
            gate.run((name, op, "prepared"), || prepared.decapsulate(c)),
            gate.run((name, op, "grown"), || grown.decapsulate(c)),
            gate.run((name, op, "imported"), || imported.decapsulate(c)),
            gate.run_ok((name, op, "once"), one),
        ];
        found.extend(
            gate.run((name, op, "many prepared"), || decapsulate_many(&[(&prepared, c), (&imported, c)])),
        );
        let mut many = gate.run((name, op, "many"), || {
            let mut items = vec![(exported, c); count];
            items.push((&exported[1..], c));
            decapsulate_many_encoded::<P>(&items)
        });
        assert!(many.pop().is_some_and(|last| last.is_err()), "a short key is refused");
        found.extend(many.into_iter().map(|shared| shared.expect("our own key is valid")));
        let found: Vec<_> = found.iter().map(published).collect();
        assert!(found.iter().all(|other| *other == found[0]), "every form gives one secret");
        assert_eq!(found[0] == shared, op == "decaps");
    }
    let dk = exported.to_vec();
    gate.run_drop(name, (compact, prepared, grown, imported));
    Inputs { seed, m, key, dk, ciphertexts, shared }
}

/// The schedule of the least memory, in memory of the caller's.
fn small<P: ParameterSet>(gate: &mut impl Instrument, inputs: &Inputs<P>) {
    let (name, seed, m) = (|op| (P::NAME, op, "small"), &inputs.seed, &inputs.m);
    let (mut ek, mut c) = (P::EncapsulationKeyBytes::zeroed(), P::Ciphertext::zeroed());
    let hashed = gate.run(name("keygen, hash only"), || DecapsulationKey::<Small<P>>::from_seed(seed));
    let keygen = |ek: &mut _| DecapsulationKey::<Small<P>>::from_seed_into(seed, ek);
    let key = gate.run_into(name("keygen"), &mut ek, keygen);
    assert!(ek == *inputs.key.as_bytes(), "one key");
    gate.run_into(name("public key"), &mut ek, |ek| hashed.encapsulation_key_into(ek));
    assert!(ek == *inputs.key.as_bytes(), "one key");
    let public = EncapsulationKeyRef::<Small<P>>::from_ref(&ek).expect("our own key is valid");
    let mut sent = (&mut c, Secret::new([0; 32]));
    gate.run_into(name("encaps"), &mut sent, |(c, shared)| {
        public.encapsulate_deterministic_into(m, c, shared);
    });
    let shared = published(&sent.1);
    valgrind::mark_public(c.as_ref());
    assert!(c == inputs.ciphertexts[0] && shared == inputs.shared, "one ciphertext");
    let encoded = DecapsulationKeyRef::<Small<P>>::from_ref(&inputs.dk).expect("our own key is valid");
    for (c, (op, by_bytes)) in inputs.ciphertexts.iter().zip(OPERATIONS) {
        let (mut one, mut two) = (Secret::new([0; 32]), Secret::new([0; 32]));
        gate.run_into(name(op), &mut one, |shared| key.decapsulate_into(c, shared));
        gate.run_into(name(by_bytes), &mut two, |shared| encoded.decapsulate_into(c, shared));
        assert!(published(&one) == published(&two), "both forms give one secret");
        assert_eq!(published(&one) == inputs.shared, op == "decaps");
    }
    gate.run_drop(&format!("{} small", P::NAME), (hashed, key));
}

/// The same schedule in a workspace.
fn workspace<P: ParameterSet>(gate: &mut impl Instrument, inputs: &Inputs<P>) {
    let (name, seed, m) = (|op| (P::NAME, op, "workspace"), &inputs.seed, &inputs.m);
    let (mut ek, mut c) = (P::EncapsulationKeyBytes::zeroed(), P::Ciphertext::zeroed());
    gate.run_in(name("keygen, hash only"), &mut (), |(), workspace| {
        drop(DecapsulationKey::<Small<P>>::from_seed_in(seed, None, workspace));
    });
    let key = gate.run_in(name("keygen"), &mut ek, |ek, workspace| {
        DecapsulationKey::<Small<P>>::from_seed_in(seed, Some(ek), workspace)
    });
    assert!(ek == *inputs.key.as_bytes(), "one key");
    gate.run_in(name("public key"), &mut ek, |ek, workspace| key.encapsulation_key_in(ek, workspace));
    assert!(ek == *inputs.key.as_bytes(), "one key");
    let public = EncapsulationKeyRef::<Small<P>>::from_ref(&ek).expect("our own key is valid");
    let mut sent = (&mut c, Secret::new([0; 32]));
    gate.run_in(name("encaps"), &mut sent, |(c, shared), workspace| {
        public.encapsulate_deterministic_in(m, c, shared, workspace);
    });
    let shared = published(&sent.1);
    valgrind::mark_public(c.as_ref());
    assert!(c == inputs.ciphertexts[0] && shared == inputs.shared, "one ciphertext");
    let encoded = DecapsulationKeyRef::<Small<P>>::from_ref(&inputs.dk).expect("our own key is valid");
    for (c, (op, by_bytes)) in inputs.ciphertexts.iter().zip(OPERATIONS) {
        let (mut one, mut two) = (Secret::new([0; 32]), Secret::new([0; 32]));
        gate.run_in(name(op), &mut one, |shared, workspace| key.decapsulate_in(c, shared, workspace));
        gate.run_in(name(by_bytes), &mut two, |shared, workspace| {
            encoded.decapsulate_in(c, shared, workspace)
        });
        assert!(published(&one) == published(&two), "both forms give one secret");
        assert_eq!(published(&one) == inputs.shared, op == "decaps");
    }
}
