//! Operations on secrets, each stepped through with eight secrets: the same instructions must run, on the same
//! addresses, with the same masks on memory.
//!
//! `gate-step [LEVEL [PROCESSOR]]` ends with status 0 if they do and if each canary does not. Run by `cargo xtask step` for the
//! tables with AVX-512, which valgrind does not know. What takes variable time on public data that comes from the secrets
//! is stepped through in parts, with those data the same for all secrets. ML-KEM key generation, and decapsulation by a seed: all of
//! a compact key's work but G of the seed, with one ρ. ML-DSA key generation: all of it but the seed's
//! hash, as an import of s1 and s2 beside one ρ; and the sampling of s, with one pattern of refusals. ML-DSA signing: a
//! whole attempt with one challenge, each check passed. Left out is that the refusals of s and of attempts say nothing of
//! the secrets, which is mathematics.

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> ExitCode {
    operations::main()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() -> ExitCode {
    println!("skipped: this machine has no AVX-512");
    ExitCode::SUCCESS
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod operations {
    use gambeson::Compact;
    use gambeson::cpu::{self, Level};
    use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, SigningKey};
    use gambeson::mlkem::{
        self, DecapsulationKey, EncapsulationKey, EncapsulationKeyRef, MlKem512, MlKem768, MlKem1024,
    };
    use gambeson::sha3::{self, Kmac256, State};
    use gambeson_gates::tracer::{Judged, SECRETS, Tracer, place, region};
    use gambeson_gates::{bytes, canary};
    use std::env;
    use std::hint::black_box;
    use std::process::ExitCode;
    use std::time::Instant;

    /// Runs everything; the last line says what was found.
    pub fn main() -> ExitCode {
        let level = env::args().nth(1).map_or(Level::Avx512, |name| name.parse().expect("a level"));
        if cpu::detected() < level {
            let lacks = if level == Level::Avx512 { "AVX-512" } else { "AVX2" };
            println!("skipped: this machine has no {lacks}");
            return ExitCode::SUCCESS;
        }
        cpu::limit(level);
        assert_eq!(sha3::kernels(), level, "the table that is to be stepped through");
        assert_eq!([mlkem::kernels(), mldsa::kernels()], [level; 2]);
        println!(
            "tables: sha3 {}, mlkem {}, mldsa {}, sha2 {}",
            sha3::kernels(),
            mlkem::kernels(),
            mldsa::kernels(),
            cpu::level()
        );

        let processor = env::args().nth(2).map_or(0, |number| number.parse().expect("a processor's number"));
        let mut gate = Gate { tracer: Tracer::new(processor), ran: 0, failed: 0 };
        keccak(&mut gate, level);
        kem::<MlKem512>(&mut gate);
        kem::<MlKem768>(&mut gate);
        kem::<MlKem1024>(&mut gate);
        signatures::<MlDsa44>(&mut gate);
        signatures::<MlDsa65>(&mut gate);
        signatures::<MlDsa87>(&mut gate);
        #[cfg(gambeson_ct)]
        kernels(&mut gate);
        #[cfg(gambeson_ct)]
        sha2(&mut gate);
        println!("{} operations, {} with different traces", gate.ran, gate.failed);

        let mut planted = Gate { ran: 0, failed: 0, ..gate };
        canaries(&mut planted);
        println!("{} of {} canaries told apart", planted.failed, planted.ran);
        ExitCode::from(u8::from(gate.failed != 0 || planted.failed != planted.ran))
    }

    struct Gate {
        tracer: Tracer,
        ran: usize,
        failed: usize,
    }

    impl Gate {
        /// `operation` makes its inputs from the secret of that number, then does its work inside `region`.
        fn run(&mut self, name: &str, operation: impl Fn(usize)) -> Judged {
            let start = Instant::now();
            // The short ones also tell whether the shortcut sees what the processor does.
            let thorough = !name.starts_with("ML-");
            let judged =
                self.tracer.judge(&operation, thorough).unwrap_or_else(|error| panic!("{name}: {error}"));
            self.ran += 1;
            let seconds = start.elapsed().as_secs_f64();
            println!("{name}: {} instructions, {} of AVX-512 ({seconds:.2} s)", judged.steps, judged.evex);
            if let Some(difference) = judged.difference {
                self.failed += 1;
                let kind = if difference.is_operand { "another operand" } else { "another way" };
                println!("  {kind} after {} instructions, at {}", difference.steps, place(difference.after));
                if difference.is_operand {
                    println!("  {:#x} and {:#x}", difference.expected, difference.found);
                } else {
                    println!("  to {}\n  and {}", place(difference.expected), place(difference.found));
                }
            }
            judged
        }
    }

    fn secret<const N: usize>(label: &str, number: usize) -> [u8; N] {
        bytes(&format!("{label} {number}"))
    }

    fn keccak(gate: &mut Gate, level: Level) {
        for count in [1, 2, 3, 4, 5, 8] {
            let judged = gate.run(&format!("permutation of {count}"), |number| {
                let content: [u8; 1600] = secret("states", number);
                let word = |at: usize| u64::from_le_bytes(*content[8 * at..].first_chunk().expect("eight"));
                let mut states: Vec<State> =
                    (0..count).map(|i| State(std::array::from_fn(|lane| word(25 * i + lane)))).collect();
                region(|| sha3::permute_many(black_box(&mut states)));
            });
            assert!(level < Level::Avx512 || count < 8 || judged.evex != 0, "no instruction of AVX-512 ran");
        }
        gate.run("KMAC256", |number| {
            let (key, mut tag): ([u8; 32], _) = (secret("key", number), [0; 64]);
            region(|| {
                let mut mac = Kmac256::new(&key, b"gate");
                mac.update(&key);
                mac.finalize_into(&mut tag);
            });
        });
    }

    fn kem<P: mlkem::PreparedSet>(gate: &mut Gate) {
        let name = P::NAME;
        // One matrix for all secrets, wherever it is sampled inside the region.
        let fixed = DecapsulationKey::<P>::from_seed(&bytes(name));
        let ready = fixed.encapsulation_key();
        let compact = EncapsulationKey::<Compact<P>>::from_bytes(ready.as_bytes()).expect("our own key");
        let once = EncapsulationKeyRef::<P>::from_ref(ready.as_bytes()).expect("our own key");
        gate.run(&format!("{name} encaps prepared"), |number| {
            let m = secret("m", number);
            region(|| _ = black_box(ready.encapsulate_deterministic(&m)));
        });
        gate.run(&format!("{name} encaps compact"), |number| {
            let m = secret("m", number);
            region(|| _ = black_box(compact.encapsulate_deterministic(&m)));
        });
        gate.run(&format!("{name} decaps prepared"), |number| {
            let key = DecapsulationKey::<P>::from_seed(&secret(name, number));
            let (c, _) = key.encapsulation_key().encapsulate_deterministic(&secret("m", number));
            let c = sometimes_wrong(c, number);
            region(|| _ = black_box(key.decapsulate(&c)));
        });
        gate.run(&format!("{name} decaps compact"), |number| {
            let mut seed: [u8; 64] = secret(name, number);
            seed[..32].copy_from_slice(&bytes::<32>(name));
            let key = DecapsulationKey::<Compact<P>>::from_seed(&seed);
            let (c, _) = key.encapsulation_key().encapsulate_deterministic(&secret("m", number));
            let c = sometimes_wrong(c, number);
            region(|| _ = black_box(key.decapsulate(&c)));
        });
        gate.run(&format!("{name} encaps once"), |number| {
            let m = secret("m", number);
            region(|| _ = black_box(once.encapsulate_deterministic(&m)));
        });
        gate.run(&format!("{name} encaps many"), |number| {
            let m: [[u8; 32]; 3] = [0, 1, 2].map(|i| secret(&format!("m {i}"), number));
            let mut sent = Vec::new();
            let items = m.each_ref().map(|m| (once, m));
            region(|| sent = black_box(mlkem::encapsulate_many_deterministic(&items)));
        });
        gate.run(&format!("{name} decaps many"), |number| {
            let keys: Vec<_> = (0..3)
                .map(|i| DecapsulationKey::<P>::from_seed(&secret(&format!("{name} {i}"), number)))
                .collect();
            let sent = mlkem::encapsulate_many_deterministic(
                &keys.iter().map(|key| (key.encapsulation_key(), &[7; 32])).collect::<Vec<_>>(),
            );
            let wrong = sent.into_iter().map(|(c, _)| sometimes_wrong(c, number)).collect::<Vec<_>>();
            let items: Vec<_> = keys.iter().zip(&wrong).collect();
            let mut secrets = Vec::new();
            region(|| secrets = black_box(mlkem::decapsulate_many(&items)));
        });
        #[cfg(gambeson_ct)]
        with_one_matrix::<P>(gate);
        let exported = fixed.to_encoded();
        // The same matrix with other secrets.
        let private = |number| {
            let mut whole = exported.expose().clone();
            let length = whole.len();
            let s_length = length - compact.as_bytes().as_ref().len() - 64;
            let random: [u8; 1536 + 32] = secret("s and z", number);
            whole[..s_length].copy_from_slice(&random[..s_length]);
            whole[length - 32..].copy_from_slice(&random[1536..]);
            whole
        };
        gate.run(&format!("{name} import"), |number| {
            let whole = private(number);
            region(|| _ = black_box(DecapsulationKey::<P>::from_encoded(&whole).is_ok()));
        });
        let right = compact.encapsulate_deterministic(&[7; 32]).0;
        gate.run(&format!("{name} decaps from bytes"), |number| {
            // With the secrets of another key, each ciphertext is wrong; with its own it is right.
            let whole = if number < 4 { private(number) } else { exported.expose().clone() };
            let c = sometimes_wrong(right, number);
            region(|| {
                _ = black_box(DecapsulationKey::<P>::decapsulate_encoded(&whole, &c).is_ok());
            });
        });
        gate.run(&format!("{name} decaps many from bytes"), |number| {
            let keys = [private(number), private(number + 100), exported.expose().clone()];
            let c = sometimes_wrong(right, number);
            let items = keys.each_ref().map(|key| (&key[..], &c));
            let mut secrets = Vec::new();
            region(|| {
                secrets = black_box(mlkem::decapsulate_many_encoded::<P>(&items));
            });
        });
        gate.run(&format!("{name} export"), |number| {
            let key = DecapsulationKey::<P>::from_seed(&secret(name, number));
            region(|| _ = black_box(key.to_encoded()));
        });
    }

    /// What keys do behind G, with other s and e for each secret.
    #[cfg(gambeson_ct)]
    fn with_one_matrix<P: mlkem::ParameterSet>(gate: &mut Gate) {
        use gambeson::sha3::Sha3_256;
        let (name, rho) = (P::NAME, bytes("rho"));
        gate.run(&format!("{name} key generation behind G"), |number| {
            let sigma = secret("sigma", number);
            region(|| _ = black_box(mlkem::gate::key_generation::<P>(&rho, &sigma)));
        });
        gate.run(&format!("{name} key generation, prepared, behind G"), |number| {
            let sigma = secret("sigma", number);
            let mut made = None;
            region(|| made = Some(black_box(mlkem::gate::prepared_key_generation::<P>(&rho, &sigma))));
            let (ek, h) = made.expect("it ran");
            assert_eq!(ek.as_ref(), mlkem::gate::key_generation::<P>(&rho, &sigma).as_ref(), "{name}");
            assert_eq!(h, Sha3_256::digest(ek.as_ref()), "{name}");
        });
        gate.run(&format!("{name} decaps compact behind G"), |number| {
            let (sigma, z) = (secret("sigma", number), secret("z", number));
            let ek = mlkem::gate::key_generation::<P>(&rho, &sigma);
            let h = Sha3_256::digest(ek.as_ref());
            let ek = EncapsulationKey::<Compact<P>>::from_bytes(&ek).expect("it was made so");
            let (c, _) = ek.encapsulate_deterministic(&secret("m", number));
            let c = sometimes_wrong(c, number);
            region(|| _ = black_box(mlkem::gate::decapsulate::<P>(&rho, &sigma, &h, &z, &c)));
        });
    }

    /// A quarter of the ciphertexts is refused.
    fn sometimes_wrong<C: AsMut<[u8]>>(mut c: C, number: usize) -> C {
        match number {
            3 => c.as_mut()[7] ^= 0x20,
            6 => *c.as_mut().last_mut().expect("a ciphertext has bytes") ^= 1,
            _ => {}
        }
        c
    }

    fn signatures<P: mldsa::PreparedSet>(gate: &mut Gate) {
        let name = P::NAME;
        gate.run(&format!("{name} export"), |number| {
            let key = SigningKey::<P>::from_seed(&secret(name, number));
            region(|| _ = black_box(key.to_encoded()));
        });
        let fixed = SigningKey::<P>::from_seed(&bytes(name)).to_encoded();
        // Bits that every number in -η..=η may have in s: ones of three bits, where η is 2, ones of four.
        let (length, digits): (usize, &[u8]) = match name {
            "ML-DSA-44" => (8 * 96, &[0xdb, 0xb6, 0x6d]),
            "ML-DSA-65" => (11 * 128, &[0x77]),
            _ => (15 * 96, &[0xdb, 0xb6, 0x6d]),
        };
        gate.run(&format!("{name} import, of which t0 and tr do not follow"), |number| {
            let mut whole = fixed.expose().clone();
            let random: [u8; 32 + 1440] = secret("K and s", number);
            whole[32..64].copy_from_slice(&random[..32]);
            let s = whole[128..][..length].iter_mut().zip(&random[32..]);
            for ((to, from), digits) in s.zip(digits.iter().cycle()) {
                *to = from & digits;
            }
            region(|| {
                let refused = SigningKey::<P>::from_encoded(&whole).err();
                assert_eq!(black_box(refused), Some(mldsa::SigningKeyError::Mismatch));
            });
        });
        #[cfg(gambeson_ct)]
        gate.run(&format!("{name} attempt at signing"), |number| {
            let key = SigningKey::<P>::from_seed(&secret(name, number));
            let (rho, small): ([u8; 64], [u8; 256]) = (secret("rho", number), secret("y", number));
            let (small, c_tilde) = (small.map(|byte| byte as i8), bytes("challenge"));
            region(|| assert!(black_box(mldsa::attempt::<P>(&key, &rho, &small, &c_tilde))));
        });
    }

    /// Each kernel by itself, so that a difference is found where it is.
    #[cfg(gambeson_ct)]
    fn kernels(gate: &mut Gate) {
        for (n, name) in mlkem::gate::NAMES.iter().enumerate() {
            gate.run(&format!("ML-KEM kernel {name}"), |number| {
                let secret = secret("polynomials", number);
                region(|| mlkem::gate::run(n, &secret));
            });
        }
        for (n, name) in mldsa::gate::NAMES.iter().enumerate() {
            gate.run(&format!("ML-DSA kernel {name}"), |number| {
                let secret = secret("polynomials", number);
                region(|| mldsa::gate::run(n, &secret));
            });
        }
    }

    /// The kernels of SHA-2 for few lanes and for all, with the processor's instructions and without.
    #[cfg(gambeson_ct)]
    fn sha2(gate: &mut Gate) {
        for allowed in [true, false] {
            cpu::allow_sha2(allowed);
            for count in [1, 6, 16] {
                gate.run(&format!("SHA-2 kernels, {count} lanes, SHA extensions {allowed}"), |number| {
                    let words = secret("words", number);
                    region(|| gambeson::sha2_kernels::on_secrets(&words, count));
                });
            }
        }
        cpu::allow_sha2(true);
    }

    /// What the gate is for; the numbers are the secrets, so that they surely differ.
    fn canaries(gate: &mut Gate) {
        const _: () = assert!(SECRETS > 1);
        type Planted = (&'static str, fn([u8; 4]) -> u32);
        let planted: [Planted; 4] = [
            ("canary branch", |secret| canary::branch(&secret)),
            ("canary index", |secret| canary::index(&secret).into()),
            ("canary division", |secret| canary::division(u32::from_le_bytes(secret), 3)),
            ("canary mask", |secret| canary::mask(&secret).into()),
        ];
        for (name, work) in planted {
            gate.run(name, |number| {
                let secret = black_box([number as u8, 1, 2, 3]);
                region(|| _ = black_box(work(secret)));
            });
        }
    }
}
