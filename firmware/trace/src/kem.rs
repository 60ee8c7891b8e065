//! ML-KEM: encapsulation of eight messages; decapsulation with eight values of z, of one ciphertext each, two of them refused; and the same
//! by keys in the standard's form, whose secret vectors differ too, borrowed and prepared on the heap.

use super::{SECRETS, begin, bytes, region};
use gambeson::mlkem::{
    DecapsulationKey, DecapsulationKeyRef, EncapsulationKey, EncapsulationKeyRef, ParameterSet, PreparedSet,
    SharedSecret,
};
use gambeson::{Bytes, Small, Workspace};

/// Every operation of a set.
pub fn all<P: ParameterSet>(name: &str) {
    let mut ek = P::EncapsulationKeyBytes::zeroed();
    _ = DecapsulationKey::<P>::from_seed_into(&seed(0), &mut ek);
    encapsulation::<P>(name, &ek);
    decapsulation::<P>(name, &ek);
    of_encoded_keys::<P>(name, &ek);
}

/// d is one for all, and with it the matrix; z is not.
fn seed(number: u8) -> [u8; 64] {
    let mut seed = [0; 64];
    let (d, z) = seed.split_at_mut(32);
    d.copy_from_slice(&bytes::<32>(b"d", 0));
    z.copy_from_slice(&bytes::<32>(b"z", number));
    seed
}

/// A ciphertext for the key, which is no encapsulation's for two of the eight.
fn ciphertext<P: ParameterSet>(ek: &P::EncapsulationKeyBytes, number: u8) -> P::Ciphertext {
    let (mut c, mut shared) = (P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
    if let Ok(ek) = EncapsulationKeyRef::<P>::from_ref(ek) {
        ek.encapsulate_deterministic_into(&bytes(b"m", number), &mut c, &mut shared);
    }
    c.as_mut()[7] ^= u8::from(number % 4 == 3);
    c
}

fn encapsulation<P: ParameterSet>(name: &str, ek: &P::EncapsulationKeyBytes) {
    struct Job<'a, P: ParameterSet>(EncapsulationKeyRef<'a, P>, [u8; 32], P::Ciphertext, SharedSecret);
    extern "C" fn run<P: ParameterSet>(Job(ek, m, c, shared): &mut Job<'_, P>) {
        ek.encapsulate_deterministic_into(m, c, shared);
    }
    begin("trace", name, "encaps");
    let Ok(ek) = EncapsulationKeyRef::<P>::from_ref(ek) else { return };
    let mut job = Job(ek, [0; 32], P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
    for number in 0..SECRETS {
        job.1 = bytes(b"m", number);
        region(&mut job, run::<P>);
    }
}

fn decapsulation<P: ParameterSet>(name: &str, ek: &P::EncapsulationKeyBytes) {
    struct Job<P: ParameterSet>(Option<DecapsulationKey<P>>, P::Ciphertext, SharedSecret);
    extern "C" fn run<P: ParameterSet>(Job(dk, c, shared): &mut Job<P>) {
        if let Some(dk) = dk {
            dk.decapsulate_into(c, shared);
        }
    }
    begin("trace", name, "decaps");
    let mut job = Job(None, P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
    for number in 0..SECRETS {
        job.0 = Some(DecapsulationKey::<P>::from_seed(&seed(number)));
        job.1 = ciphertext::<P>(ek, number);
        region(&mut job, run::<P>);
    }
}

fn of_encoded_keys<P: ParameterSet>(name: &str, ek: &P::EncapsulationKeyBytes) {
    struct Job<P: ParameterSet>(P::DecapsulationKeyBytes, P::Ciphertext, SharedSecret);
    extern "C" fn run<P: ParameterSet>(Job(dk, c, shared): &mut Job<P>) {
        if let Ok(dk) = DecapsulationKeyRef::<P>::from_ref(dk.as_ref()) {
            dk.decapsulate_into(c, shared);
        }
    }
    begin("trace", name, "decaps-dk");
    let mut job =
        Job(P::DecapsulationKeyBytes::zeroed(), P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
    for number in 0..SECRETS {
        encode::<P>(&mut job.0, ek, number);
        job.1 = ciphertext::<P>(ek, number);
        region(&mut job, run::<P>);
    }
}

/// The same in a workspace.
pub fn in_a_workspace<P: ParameterSet>(name: &str) {
    struct Job<P: ParameterSet> {
        ek: P::EncapsulationKeyBytes,
        compact: Option<DecapsulationKey<Small<P>>>,
        dk: P::DecapsulationKeyBytes,
        m: [u8; 32],
        c: P::Ciphertext,
        shared: SharedSecret,
        workspace: Workspace<P>,
    }
    extern "C" fn encaps<P: ParameterSet>(job: &mut Job<P>) {
        if let Ok(ek) = EncapsulationKeyRef::<Small<P>>::from_ref(&job.ek) {
            ek.encapsulate_deterministic_in(&job.m, &mut job.c, &mut job.shared, &mut job.workspace);
        }
    }
    extern "C" fn decaps<P: ParameterSet>(job: &mut Job<P>) {
        if let Some(dk) = &job.compact {
            dk.decapsulate_in(&job.c, &mut job.shared, &mut job.workspace);
        }
    }
    extern "C" fn decaps_dk<P: ParameterSet>(job: &mut Job<P>) {
        if let Ok(dk) = DecapsulationKeyRef::<Small<P>>::from_ref_in(job.dk.as_ref(), &mut job.workspace) {
            dk.decapsulate_in(&job.c, &mut job.shared, &mut job.workspace);
        }
    }
    let (ek, dk, c) =
        (P::EncapsulationKeyBytes::zeroed(), P::DecapsulationKeyBytes::zeroed(), P::Ciphertext::zeroed());
    let (shared, workspace) = (SharedSecret::new([0; 32]), Workspace::default());
    let mut job = Job::<P> { ek, compact: None, dk, m: [0; 32], c, shared, workspace };
    _ = DecapsulationKey::from_seed_in(&seed(0), Some(&mut job.ek), &mut job.workspace);
    let operations: [(&str, extern "C" fn(&mut Job<P>)); 3] =
        [("encaps", encaps::<P>), ("decaps", decaps::<P>), ("decaps-dk", decaps_dk::<P>)];
    for (operation, run) in operations {
        begin("trace", name, operation);
        for number in 0..SECRETS {
            job.compact = Some(DecapsulationKey::from_seed_in(&seed(number), None, &mut job.workspace));
            encode::<P>(&mut job.dk, &job.ek, number);
            job.m = bytes(b"m", number);
            job.c = ciphertext::<P>(&job.ek, number);
            region(&mut job, run);
        }
    }
}

/// Encapsulation and decapsulation by prepared keys.
pub fn on_the_heap<P: PreparedSet>(name: &str) {
    struct Sending<P: ParameterSet>(EncapsulationKey<P>, [u8; 32], P::Ciphertext, SharedSecret);
    extern "C" fn send<P: ParameterSet>(Sending(ek, m, c, shared): &mut Sending<P>) {
        (*c, *shared) = ek.encapsulate_deterministic(m);
    }
    struct Receiving<P: ParameterSet>(Option<DecapsulationKey<P>>, P::Ciphertext, SharedSecret);
    extern "C" fn receive<P: ParameterSet>(Receiving(dk, c, shared): &mut Receiving<P>) {
        if let Some(dk) = dk {
            *shared = dk.decapsulate(c);
        }
    }
    let key = DecapsulationKey::<P>::from_seed(&seed(0)).encapsulation_key();
    let ek = *key.as_bytes();
    begin("trace", name, "encaps");
    let nothing = SharedSecret::new([0; 32]);
    let mut job = Sending::<P>(key, [0; 32], P::Ciphertext::zeroed(), nothing);
    for number in 0..SECRETS {
        job.1 = bytes(b"m", number);
        region(&mut job, send::<P>);
    }
    drop(job);
    begin("trace", name, "decaps");
    let mut job = Receiving::<P>(None, P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
    let mut encoded = P::DecapsulationKeyBytes::zeroed();
    for number in 0..SECRETS {
        encode::<P>(&mut encoded, &ek, number);
        // The last one goes first, so that all stand in the same place.
        job.0 = None;
        let Ok(dk) = DecapsulationKey::from_encoded(encoded.as_ref()) else { return };
        job.0 = Some(dk);
        job.1 = ciphertext::<P>(&ek, number);
        region(&mut job, receive::<P>);
    }
}

/// dk_PKE ‖ ek ‖ H(ek) ‖ z (FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal), line 3), with a dk_PKE that is random: it fits ek no more, and
/// is as secret.
fn encode<P: ParameterSet>(dk: &mut P::DecapsulationKeyBytes, ek: &P::EncapsulationKeyBytes, number: u8) {
    let secret = P::EncapsulationKeyBytes::LEN - 32;
    let (s, rest) = dk.as_mut().split_at_mut(secret);
    for (chunk, block) in s.chunks_mut(96).zip(0..) {
        // Below q: of 12 bits, the uppermost is 0.
        let random: [u8; 96] = bytes(b"s", 32 * number + block);
        for (place, (to, from)) in chunk.iter_mut().zip(random).enumerate() {
            *to = match place % 3 {
                0 => from,
                _ => from & 0x77,
            };
        }
    }
    let (of_ek, rest) = rest.split_at_mut(P::EncapsulationKeyBytes::LEN);
    of_ek.copy_from_slice(ek.as_ref());
    let (h, z) = rest.split_at_mut(32);
    h.copy_from_slice(&gambeson::sha3::Sha3_256::digest(ek.as_ref()));
    z.copy_from_slice(&bytes::<32>(b"z", number));
}
