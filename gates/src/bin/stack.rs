//! How much stack and heap each operation uses: one JSON object a line. Run by `cargo xtask stack`.

use gambeson::cpu::{self, Level};
use gambeson::mldsa::{self, ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87, PreHash, SigningKey};
use gambeson::mlkem::{
    self, DecapsulationKey, ExpandedDecapsulationKey, ExpandedKeyRef, MlKem512, MlKem768, MlKem1024,
    SharedSecret,
};
use gambeson::sha3::{Sha3_256, Shake256};
use gambeson::{Small, Workspace};
use gambeson_gates::{bytes, c, canary, heap, stack};
use std::env;
use std::sync::Mutex;

#[global_allocator]
static HEAP: heap::Watched = heap::Watched;

fn main() {
    cpu::limit(env::args().nth(1).map_or(Level::Portable, |name| name.parse().expect("a level")));
    for (alg, bytes) in [
        ("ML-KEM-512", size_of::<DecapsulationKey<MlKem512>>()),
        ("ML-KEM-768", size_of::<DecapsulationKey<MlKem768>>()),
        ("ML-KEM-1024", size_of::<DecapsulationKey<MlKem1024>>()),
        ("ML-DSA-44", size_of::<SigningKey<MlDsa44>>()),
        ("ML-DSA-65", size_of::<SigningKey<MlDsa65>>()),
        ("ML-DSA-87", size_of::<SigningKey<MlDsa87>>()),
    ] {
        println!("{{\"alg\":\"{alg}\",\"op\":\"key\",\"form\":\"compact\",\"bytes\":{bytes}}}");
    }
    measure("canary", "big frame", "planted", canary::big_frame);
    measure("SHA3-256", "hash", "oneshot", || Sha3_256::digest(&[7; 200]));
    measure("SHAKE-256", "hash", "oneshot", || {
        let mut out = [0; 200];
        Shake256::digest_into(&[7; 200], &mut out);
        out
    });
    kem::<MlKem512>();
    kem::<MlKem768>();
    kem::<MlKem1024>();
    signatures::<MlDsa44>();
    signatures::<MlDsa65>();
    signatures::<MlDsa87>();
    c::HASHES.iter().for_each(c_hash);
    c_prehash();
    c::KEMS.iter().for_each(c_kem);
    c::DSAS.iter().for_each(c_signatures);
}

fn measure<R: Send>(alg: &str, op: &str, form: &str, operation: impl Fn() -> R + Send + Sync) {
    measure_in(alg, op, form, 0, operation);
}

/// Runs the operation, which has so many bytes of workspace, once to warm up, once for the stack and once for the heap.
fn measure_in<R: Send>(
    alg: &str,
    op: &str,
    form: &str,
    workspace: usize,
    operation: impl Fn() -> R + Send + Sync,
) {
    let (depth, uses) = stack::on_fresh_stack(|| {
        drop(operation());
        let (depth, result) = stack::depth(&operation);
        drop(result);
        let (uses, result) = heap::count(&operation);
        drop(result);
        (depth, uses)
    });
    println!(
        "{{\"alg\":\"{alg}\",\"op\":\"{op}\",\"form\":\"{form}\",\"stack\":{depth},\"workspace\":{workspace},\"heap_peak\":{},\"heap_total\":{},\
         \"allocations\":{}}}",
        uses.peak, uses.total, uses.allocations
    );
}

fn kem<P: mlkem::ParameterSet>() {
    let name = P::NAME;
    let seed: [u8; 64] = bytes(name);
    let m: [u8; 32] = bytes("m");
    let compact = DecapsulationKey::<P>::from_seed(&seed);
    let expanded = ExpandedDecapsulationKey::<P>::from_seed(&seed);
    let key = compact.encapsulation_key();
    let ready = key.expand();
    let (c, _) = key.encapsulate_deterministic(&m);
    let mut wrong = c;
    wrong.as_mut()[0] ^= 1;
    let exported = expanded.to_expanded_bytes();
    measure(name, "keygen", "compact", || DecapsulationKey::<P>::from_seed(&seed));
    measure(name, "keygen", "expanded", || ExpandedDecapsulationKey::<P>::from_seed(&seed));
    measure(name, "import", "expanded", || {
        ExpandedDecapsulationKey::<P>::from_expanded_bytes(exported.expose().as_ref()).is_ok()
    });
    measure(name, "public key", "compact", || compact.encapsulation_key());
    measure(name, "encaps", "compact", || key.encapsulate_deterministic(&m));
    measure(name, "encaps", "expanded", || ready.encapsulate_deterministic(&m));
    measure(name, "decaps", "compact", || compact.decapsulate(&c));
    measure(name, "encaps", "once", || key.expand_and_encapsulate_deterministic(&m));
    measure(name, "decaps", "once", || {
        ExpandedDecapsulationKey::<P>::decapsulate_from_bytes(exported.expose(), &c)
    });
    measure(name, "encaps", "64 at once", || mlkem::encapsulate_many_deterministic(&vec![(&key, &m); 64]));
    measure(name, "decaps", "64 at once", || {
        let items = vec![(&exported.expose()[..], &c); 64];
        ExpandedDecapsulationKey::<P>::decapsulate_many_from_bytes(&items)
    });
    measure(name, "decaps", "expanded", || expanded.decapsulate(&c));
    measure(name, "rejection", "compact", || compact.decapsulate(&wrong));
    measure(name, "rejection", "expanded", || expanded.decapsulate(&wrong));
    small_kem::<P>(&seed, &m, &c, exported.expose());
}

/// The schedule of the least memory, into memory that is there.
fn small_kem<P: mlkem::ParameterSet>(seed: &[u8; 64], m: &[u8; 32], c: &P::Ciphertext, encoded: &[u8]) {
    let name = P::NAME;
    let key = DecapsulationKey::<Small<P>>::from_seed(seed);
    let encoded = ExpandedKeyRef::<Small<P>>::borrowed(encoded).expect("our own key is valid");
    let public = key.encapsulation_key();
    let ek = &Mutex::new(*public.as_bytes());
    let sent = &Mutex::new((*c, SharedSecret::new([0; 32])));
    let shared = &Mutex::new(SharedSecret::new([0; 32]));
    measure(name, "keygen", "small", || {
        drop(DecapsulationKey::<Small<P>>::from_seed_into(seed, &mut lock(ek)));
    });
    measure(name, "encaps", "small", || {
        let (c, shared) = &mut *lock(sent);
        public.encapsulate_deterministic_into(m, c, shared);
    });
    measure(name, "decaps", "small", || key.decapsulate_into(c, &mut lock(shared)));
    measure(name, "decaps, encoded", "small", || encoded.decapsulate_into(c, &mut lock(shared)));

    // The same in a workspace.
    let workspace = &Mutex::new(Workspace::<P>::new());
    let measure = |op, operation: &(dyn Fn() + Send + Sync)| {
        measure_in(name, op, "workspace", size_of::<Workspace<P>>(), operation);
    };
    measure("keygen", &|| {
        drop(DecapsulationKey::<Small<P>>::from_seed_in(seed, Some(&mut lock(ek)), &mut lock(workspace)));
    });
    measure("encaps", &|| {
        let (c, shared) = &mut *lock(sent);
        public.encapsulate_deterministic_in(m, c, shared, &mut lock(workspace));
    });
    measure("decaps", &|| key.decapsulate_in(c, &mut lock(shared), &mut lock(workspace)));
    measure("decaps, encoded", &|| encoded.decapsulate_in(c, &mut lock(shared), &mut lock(workspace)));
}

fn lock<T>(memory: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    memory.lock().expect("one thread at a time")
}

fn signatures<P: mldsa::ParameterSet>() {
    let name = P::NAME;
    let seed: [u8; 32] = bytes(name);
    let message: [u8; 100] = bytes("message");
    let compact = SigningKey::<P>::from_seed(&seed);
    let expanded = ExpandedSigningKey::<P>::from_seed(&seed);
    let public = compact.verifying_key();
    let ready = public.expand();
    let signature = compact.sign_deterministic(&message);
    let exported = expanded.to_expanded_bytes();
    measure(name, "keygen", "compact", || SigningKey::<P>::from_seed(&seed));
    measure(name, "keygen", "expanded", || ExpandedSigningKey::<P>::from_seed(&seed));
    measure(name, "import", "expanded", || {
        ExpandedSigningKey::<P>::from_expanded_bytes(exported.expose().as_ref()).is_ok()
    });
    measure(name, "public key", "compact", || compact.verifying_key());
    measure(name, "sign", "compact", || compact.sign_deterministic(&message));
    measure(name, "sign", "expanded", || expanded.sign_deterministic(&message));
    measure(name, "verify", "compact", || public.verify(&message, signature.as_ref()).is_ok());
    measure(name, "verify", "expanded", || ready.verify(&message, signature.as_ref()).is_ok());

    // The schedule of the least memory, into memory that is there.
    let small = SigningKey::<Small<P>>::from_seed(&seed);
    let encoded =
        mldsa::ExpandedKeyRef::<Small<P>>::borrowed(exported.expose()).expect("our own key is valid");
    let vk = public.as_bytes();
    let made = &Mutex::new((*vk, signature));
    measure(name, "keygen", "small", || {
        drop(SigningKey::<Small<P>>::from_seed_into(&seed, &mut lock(made).0));
    });
    measure(name, "keygen, hash only", "small", || drop(SigningKey::<Small<P>>::from_seed(&seed)));
    measure(name, "sign", "small", || small.sign_with_rnd_into(&[0; 32], &message, &mut lock(made).1));
    measure(name, "sign, encoded", "small", || {
        encoded.sign_with_rnd_into(&[0; 32], &message, &mut lock(made).1);
    });
    measure(name, "verify", "small", || {
        mldsa::VerifyingKeyRef::<Small<P>>::borrowed(vk).verify(&message, signature.as_ref()).is_ok()
    });

    // The same in a workspace.
    let workspace = &Mutex::new(Workspace::<P>::new());
    let measure = |op, operation: &(dyn Fn() + Send + Sync)| {
        measure_in(name, op, "workspace", size_of::<Workspace<P>>(), operation);
    };
    measure("keygen", &|| {
        let vk = &mut lock(made).0;
        drop(SigningKey::<Small<P>>::from_seed_in(&seed, Some(vk), &mut lock(workspace)));
    });
    measure("keygen, hash only", &|| {
        drop(SigningKey::<Small<P>>::from_seed_in(&seed, None, &mut lock(workspace)));
    });
    measure("sign", &|| {
        small.sign_with_rnd_in(&[0; 32], &message, &mut lock(made).1, &mut lock(workspace));
    });
    measure("sign, encoded", &|| {
        encoded.sign_with_rnd_in(&[0; 32], &message, &mut lock(made).1, &mut lock(workspace));
    });
    measure("verify", &|| {
        let key = mldsa::VerifyingKeyRef::<Small<P>>::borrowed(vk);
        key.verify_in(&message, signature.as_ref(), &mut lock(workspace)).expect("our own signature");
    });
}

/// Objects and buffers of a caller in C.
struct Callers {
    key: c::Key,
    hash: c::Hash,
    public: [u8; c::MOST[1]],
    private: [u8; c::MOST[1]],
    sent: [u8; c::MOST[2]],
    small: [u8; 64],
}

impl Callers {
    fn new() -> Mutex<Self> {
        let [public, private] = [[0; c::MOST[1]]; 2];
        Mutex::new(Self {
            key: [0; 96],
            hash: [0; 31],
            public,
            private,
            sent: [0; c::MOST[2]],
            small: [0; 64],
        })
    }
}

fn c_hash(calls: &c::Hasher) {
    let callers = &Callers::new();
    let name = calls.name.trim_end_matches(" in C");
    measure(name, "hash", "C", || calls.whole(&mut lock(callers).public[..calls.len], &[7; 200]));
    measure(name, "hash in pieces", "C", || {
        let callers = &mut *lock(callers);
        calls.pieces(&mut callers.hash, &mut callers.public[..calls.len], &[7; 200]);
    });
}

fn c_prehash() {
    let callers = &Callers::new();
    for (function, prehash) in c::PREHASHES {
        measure(function.name(), "hash for HashML-DSA", "C", || {
            let callers = &mut *lock(callers);
            let digest = &mut callers.small[..function.digest_len()];
            c::prehash(&mut callers.hash, prehash, &[7; 200], digest);
        });
    }
}

fn c_kem(calls: &c::Kem) {
    let form = if calls.name.contains("small") { "C, small" } else { "C" };
    let [ek_len, dk_len, c_len] = calls.sizes;
    let (seed, m): ([u8; 64], [u8; 32]) = (bytes(calls.set), bytes("m"));
    let callers = &Callers::new();
    let measure = |op: &str, work: &(dyn Fn(&mut Callers, &mut [u8; 32]) + Sync)| {
        let shared = &Mutex::new([0; 32]);
        measure(calls.set, op, form, || work(&mut lock(callers), &mut lock(shared)));
    };
    let keypair = |its: &mut Callers, _: &mut _| {
        calls.keypair_from_seed(&mut its.public[..ek_len], &mut its.private[..dk_len], &seed);
    };
    // The standard's keys have no schedule.
    if form == "C" {
        measure("keypair", &keypair)
    } else {
        keypair(&mut lock(callers), &mut [0; 32])
    }
    measure("keygen", &|its, _| calls.key_from_seed(&mut its.key, &mut its.public[..ek_len], &seed));
    measure("keygen, hash only", &|its, _| calls.key_generate_with(&mut its.key, &seed));
    measure("public key", &|its, _| calls.key_public(&its.key, &mut its.public[..ek_len]));
    measure("encaps", &|its, shared| {
        calls.encapsulate_deterministic(&mut its.sent[..c_len], shared, &its.public[..ek_len], &m);
    });
    measure("decaps", &|its, shared| calls.key_decapsulate(&its.key, shared, &its.sent[..c_len]));
    measure("check dk", &|its, _| calls.check_dk(&its.private[..dk_len]));
    measure("decaps, encoded", &|its, shared| {
        calls.decapsulate(shared, &its.sent[..c_len], &its.private[..dk_len]);
    });
}

fn c_signatures(calls: &c::Dsa) {
    let form = if calls.name.contains("small") { "C, small" } else { "C" };
    let [vk_len, sk_len, signature_len] = calls.sizes;
    let (seed, message): ([u8; 32], [u8; 100]) = (bytes(calls.set), bytes("message"));
    let digest = (c::prehash_number(PreHash::Sha2_512), &[7; 64][..]);
    let callers = &Callers::new();
    let measure = |op: &str, form: &str, work: &(dyn Fn(&mut Callers) + Sync)| {
        measure(calls.set, op, form, || work(&mut lock(callers)));
    };
    let keypair = |its: &mut Callers| {
        calls.keypair_from_seed(&mut its.public[..vk_len], &mut its.private[..sk_len], &seed);
    };
    if form == "C" {
        measure("keypair", form, &keypair)
    } else {
        keypair(&mut lock(callers))
    }
    measure("keygen", form, &|its| calls.key_from_seed(&mut its.key, &mut its.public[..vk_len], &seed));
    measure("keygen, hash only", form, &|its| calls.key_generate_with(&mut its.key, &seed));
    measure("public key", form, &|its| calls.key_public(&its.key, &mut its.public[..vk_len]));
    measure("μ in pieces", form, &|its| {
        calls.mu(&mut its.hash, &its.public[..vk_len], &message, &mut its.small);
    });
    measure("sign pre-hashed", form, &|its| {
        calls.key_sign_prehashed_with_rnd(&its.key, &mut its.sent[..signature_len], digest, &[0; 32]);
    });
    measure("verify pre-hashed", form, &|its| {
        calls.verify_prehashed(&its.sent[..signature_len], digest, &its.public[..vk_len]);
    });
    measure("sign", form, &|its| {
        calls.key_sign_with_rnd(&its.key, &mut its.sent[..signature_len], &message, &[0; 32]);
    });
    measure("verify", form, &|its| {
        calls.verify(&its.sent[..signature_len], &message, &its.public[..vk_len]);
    });
    let encoded = if form == "C" { "C, sk" } else { form };
    measure("check sk", encoded, &|its| calls.check_sk(&its.private[..sk_len]));
    measure("sign, encoded", encoded, &|its| {
        calls.sign_with_rnd(&mut its.sent[..signature_len], &message, &its.private[..sk_len], &[0; 32]);
    });
}
