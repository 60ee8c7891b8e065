//! How many operations a second each form of a key does: one JSON object a line. Run by `cargo xtask stack --massif`, whose table
//! has the stack of the small form beside it.

use gambeson::Small;
use gambeson::cpu::{self, Level};
use gambeson::mldsa::{self, ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87, SigningKey, VerifyingKeyRef};
use gambeson::mlkem::{
    self, DecapsulationKey, ExpandedDecapsulationKey, MlKem512, MlKem768, MlKem1024, SharedSecret,
};
use gambeson_gates::bytes;
use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Signing begins anew until a signature fits: these messages, all of them, are what every form signs.
const MESSAGES: u8 = 50;
/// How long each row is measured at least.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

fn main() {
    cpu::limit(env::args().nth(1).map_or(Level::Portable, |name| name.parse().expect("a level")));
    kem::<MlKem512>();
    kem::<MlKem768>();
    kem::<MlKem1024>();
    signatures::<MlDsa44>();
    signatures::<MlDsa65>();
    signatures::<MlDsa87>();
}

/// Thousands of operations a second of `operation`, which is given the number of the message. Of each message the fastest run
/// counts: whatever else the machine does slows the others.
fn measure<R>(alg: &str, op: &str, form: &str, mut operation: impl FnMut(u8) -> R) {
    let mut fastest = [Duration::MAX; MESSAGES as usize];
    let start = Instant::now();
    while fastest.contains(&Duration::MAX) || start.elapsed() < LONG_ENOUGH {
        for (number, fastest) in (0..MESSAGES).zip(&mut fastest) {
            let one = Instant::now();
            black_box(operation(number));
            *fastest = one.elapsed().min(*fastest);
        }
    }
    let kops = f64::from(MESSAGES) / fastest.iter().sum::<Duration>().as_secs_f64() / 1000.0;
    println!("{{\"alg\":\"{alg}\",\"op\":\"{op}\",\"form\":\"{form}\",\"kops\":{kops:.3}}}");
}

fn kem<P: mlkem::ParameterSet>() {
    let name = P::NAME;
    let seed: [u8; 64] = bytes(name);
    let m: [u8; 32] = bytes("m");
    let compact = DecapsulationKey::<P>::from_seed(&seed);
    let small = DecapsulationKey::<Small<P>>::from_seed(&seed);
    let expanded = compact.expand();
    let (key, small_key) = (compact.encapsulation_key(), small.encapsulation_key());
    let ready = key.expand();
    let (mut c, mut shared) = key.encapsulate_deterministic(&m);
    let mut ek = *key.as_bytes();

    measure(name, "keygen", "compact", |_| DecapsulationKey::<P>::from_seed_into(&seed, &mut ek));
    measure(name, "keygen", "small", |_| DecapsulationKey::<Small<P>>::from_seed_into(&seed, &mut ek));
    measure(name, "keygen", "expanded", |_| ExpandedDecapsulationKey::<P>::from_seed(&seed));
    measure(name, "encaps", "compact", |_| key.encapsulate_deterministic_into(&m, &mut c, &mut shared));
    measure(name, "encaps", "small", |_| small_key.encapsulate_deterministic_into(&m, &mut c, &mut shared));
    measure(name, "encaps", "expanded", |_| ready.encapsulate_deterministic(&m));
    let mut shared = SharedSecret::new([0; 32]);
    measure(name, "decaps", "compact", |_| compact.decapsulate_into(&c, &mut shared));
    measure(name, "decaps", "small", |_| small.decapsulate_into(&c, &mut shared));
    measure(name, "decaps", "expanded", |_| expanded.decapsulate(&c));
}

fn signatures<P: mldsa::ParameterSet>() {
    let name = P::NAME;
    let seed: [u8; 32] = bytes(name);
    let message = |number: u8| [number; 32];
    let compact = SigningKey::<P>::from_seed(&seed);
    let small = SigningKey::<Small<P>>::from_seed(&seed);
    let expanded = ExpandedSigningKey::<P>::from_seed(&seed);
    let key = compact.verifying_key();
    let ready = key.expand();
    let mut vk = *key.as_bytes();
    let mut made = expanded.sign_deterministic(&message(0));
    let signed: Vec<_> = (0..MESSAGES).map(|number| expanded.sign_deterministic(&message(number))).collect();

    measure(name, "keygen", "compact", |_| SigningKey::<P>::from_seed_into(&seed, &mut vk));
    measure(name, "keygen", "small", |_| SigningKey::<Small<P>>::from_seed_into(&seed, &mut vk));
    measure(name, "keygen", "expanded", |_| ExpandedSigningKey::<P>::from_seed(&seed));
    measure(name, "sign", "compact", |number| {
        compact.sign_with_rnd_into(&[0; 32], &message(number), &mut made);
    });
    measure(name, "sign", "small", |number| {
        small.sign_with_rnd_into(&[0; 32], &message(number), &mut made);
    });
    measure(name, "sign", "expanded", |number| expanded.sign_deterministic(&message(number)));
    let signature = |number: u8| signed[usize::from(number)].as_ref();
    measure(name, "verify", "compact", |number| key.verify(&message(number), signature(number)).is_ok());
    measure(name, "verify", "small", |number| {
        VerifyingKeyRef::<Small<P>>::borrowed(&vk).verify(&message(number), signature(number)).is_ok()
    });
    measure(name, "verify", "expanded", |number| ready.verify(&message(number), signature(number)).is_ok());
}
