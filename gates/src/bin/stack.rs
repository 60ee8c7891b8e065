//! How much stack and heap each operation uses: one JSON object a line. Run by `cargo xtask stack`.

use gambeson::cpu::{self, Level};
use gambeson::mldsa::{self, ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87, SigningKey};
use gambeson::mlkem::{
    self, DecapsulationKey, ExpandedDecapsulationKey, ExpandedKeyRef, MlKem512, MlKem768, MlKem1024,
    SharedSecret,
};
use gambeson::sha3::{Sha3_256, Shake256};
use gambeson::{Small, Workspace};
use gambeson_gates::{bytes, canary, heap, stack};
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
