//! How much stack and heap each operation uses: one JSON object a line. Run by `cargo xtask stack`.

use gambeson::cpu::{self, Level};
use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, SigningKey, VerifyingKey};
use gambeson::mlkem::{self, DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024};
use gambeson::{Bytes, Compact, Small};
use gambeson_gates::operations::{self, Instrument, Name, shown};
use gambeson_gates::{canary, heap, stack};
use std::collections::HashSet;
use std::env;

#[global_allocator]
static HEAP: heap::Watched = heap::Watched;

fn main() {
    cpu::limit(env::args().nth(1).map_or(Level::Portable, |name| name.parse().expect("a level")));
    resting_kem::<MlKem512>();
    resting_kem::<MlKem768>();
    resting_kem::<MlKem1024>();
    resting_dsa::<MlDsa44>();
    resting_dsa::<MlDsa65>();
    resting_dsa::<MlDsa87>();
    let mut gate = Gate::default();
    gate.run(("canary", "big frame", "planted"), canary::big_frame);
    operations::primitives(&mut gate);
}

/// Prints how many bytes a key has that rests: its own and those that it keeps on the heap.
fn resting<K>(alg: &str, op: &str, form: &str, make: impl FnOnce() -> K) {
    let (uses, key) = heap::count(make);
    let bytes = size_of_val(&key) + uses.kept;
    println!("{{\"alg\":\"{alg}\",\"op\":\"{op}\",\"form\":\"{form}\",\"bytes\":{bytes}}}");
}

/// The resting keys of ML-KEM, in each form.
fn resting_kem<P: mlkem::PreparedSet>() {
    let seed = [7; 64];
    let mut ek = P::EncapsulationKeyBytes::zeroed();
    DecapsulationKey::<Compact<P>>::from_seed(&seed).encapsulation_key_into(&mut ek);
    resting(P::NAME, "private key", "prepared", || DecapsulationKey::<P>::from_seed(&seed));
    resting(P::NAME, "private key", "compact", || DecapsulationKey::<Compact<P>>::from_seed(&seed));
    resting(P::NAME, "private key", "small", || DecapsulationKey::<Small<P>>::from_seed(&seed));
    resting(P::NAME, "public key", "prepared", || {
        let key = EncapsulationKey::<P>::from_bytes(&ek).expect("our own key is valid");
        key.prepare();
        key
    });
    resting(P::NAME, "public key", "compact", || {
        EncapsulationKey::<Compact<P>>::from_bytes(&ek).expect("our own key is valid")
    });
    resting(P::NAME, "public key", "small", || {
        EncapsulationKey::<Small<P>>::from_bytes(&ek).expect("our own key is valid")
    });
}

/// The resting keys of ML-DSA, in each form.
fn resting_dsa<P: mldsa::PreparedSet>() {
    let seed = [7; 32];
    let vk = *SigningKey::<Compact<P>>::from_seed(&seed).verifying_key().as_bytes();
    resting(P::NAME, "private key", "prepared", || SigningKey::<P>::from_seed(&seed));
    resting(P::NAME, "private key", "compact", || SigningKey::<Compact<P>>::from_seed(&seed));
    resting(P::NAME, "private key", "small", || SigningKey::<Small<P>>::from_seed(&seed));
    resting(P::NAME, "public key", "prepared", || {
        let key = VerifyingKey::<P>::from_bytes(&vk);
        key.prepare();
        key
    });
    resting(P::NAME, "public key", "compact", || VerifyingKey::<Compact<P>>::from_bytes(&vk));
    resting(P::NAME, "public key", "small", || VerifyingKey::<Small<P>>::from_bytes(&vk));
}

/// Measures each operation of the list once, and prints it.
#[derive(Default)]
struct Gate {
    /// The names of those that were measured.
    measured: HashSet<String>,
    /// Bytes of workspace of the next operation.
    workspace: usize,
}

impl Instrument for Gate {
    /// Runs the operation once to warm up, once for the stack and once for the heap.
    fn run<R>(&mut self, name: Name<'_>, work: impl Fn() -> R + Sync) -> R {
        let workspace = std::mem::take(&mut self.workspace);
        if self.measured.insert(shown(name)) {
            let (depth, uses) = stack::on_fresh_stack(|| {
                drop(work());
                let (depth, result) = stack::depth(&work);
                drop(result);
                let (uses, result) = heap::count(&work);
                drop(result);
                (depth, uses)
            });
            let (alg, op, form) = name;
            println!(
                "{{\"alg\":\"{alg}\",\"op\":\"{op}\",\"form\":\"{form}\",\"stack\":{depth},\"workspace\":{workspace},\
                 \"heap_peak\":{},\"heap_total\":{},\"allocations\":{}}}",
                uses.peak, uses.total, uses.allocations
            );
        }
        work()
    }

    fn workspace(&mut self, bytes: usize) {
        self.workspace = bytes;
    }

    fn batch(&self) -> usize {
        64
    }
}
