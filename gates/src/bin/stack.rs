//! How much stack and heap each operation uses: one JSON object a line. Run by `cargo xtask stack`.

use gambeson::Compact;
use gambeson::cpu::{self, Level};
use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87, SigningKey};
use gambeson::mlkem::{DecapsulationKey, MlKem512, MlKem768, MlKem1024};
use gambeson_gates::operations::{self, Instrument, Name, shown};
use gambeson_gates::{canary, heap, stack};
use std::collections::HashSet;
use std::env;

#[global_allocator]
static HEAP: heap::Watched = heap::Watched;

fn main() {
    cpu::limit(env::args().nth(1).map_or(Level::Portable, |name| name.parse().expect("a level")));
    for (alg, bytes) in [
        ("ML-KEM-512", size_of::<DecapsulationKey<Compact<MlKem512>>>()),
        ("ML-KEM-768", size_of::<DecapsulationKey<Compact<MlKem768>>>()),
        ("ML-KEM-1024", size_of::<DecapsulationKey<Compact<MlKem1024>>>()),
        ("ML-DSA-44", size_of::<SigningKey<Compact<MlDsa44>>>()),
        ("ML-DSA-65", size_of::<SigningKey<Compact<MlDsa65>>>()),
        ("ML-DSA-87", size_of::<SigningKey<Compact<MlDsa87>>>()),
    ] {
        println!("{{\"alg\":\"{alg}\",\"op\":\"key\",\"form\":\"compact\",\"bytes\":{bytes}}}");
    }
    let mut gate = Gate::default();
    gate.run(("canary", "big frame", "planted"), canary::big_frame);
    operations::primitives(&mut gate);
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
