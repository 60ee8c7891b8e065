//! The command `doctor`: what this machine offers, and whether the cryptography works on it.

use crate::console::Console;
use crate::error::{Error, Status};
use gambeson::cpu::{self, Level};
use gambeson::mldsa::{self, MlDsa65};
use gambeson::mlkem::{self, MlKem768};
use gambeson::secret::Secret;
use gambeson::sha3::{self, Sha3_256, Shake256};
use gambeson_age::{Format, Identity};
use serde_json::{Value, json};

/// What an examination found, or what is wrong.
type Finding = Result<String, String>;

/// What is examined, and how.
type Examination = (&'static str, fn() -> Finding);

pub(crate) fn doctor(console: Console) -> Result<Status, Error> {
    let facts = [
        ("program", format!("gambeson {}", env!("CARGO_PKG_VERSION"))),
        ("architecture", format!("{} {}", std::env::consts::ARCH, std::env::consts::OS)),
        ("CPU level", format!("{} detected, {} in use", cpu::detected(), cpu::level())),
        ("FIPS 202 kernels", sha3::kernels().to_string()),
        ("ML-KEM kernels", mlkem::kernels().to_string()),
        ("ML-DSA kernels", mldsa::kernels().to_string()),
    ];
    for (name, fact) in &facts {
        console.say(format_args!("      {name:<24} {fact}"))?;
    }
    console.say("")?;
    let examinations: [Examination; 7] = [
        ("entropy", entropy),
        ("self-tests", self_tests),
        ("FIPS 202", hashing),
        ("ML-KEM", encapsulation),
        ("ML-DSA", signatures),
        ("X-Wing and age files", sealing),
        ("kernel tables agree", tables),
    ];
    let mut well = true;
    let mut findings = Vec::new();
    for (name, examine) in examinations {
        let finding = examine();
        let (mark, text) = match &finding {
            Ok(text) => ("ok", text),
            Err(text) => ("BAD", text),
        };
        well &= finding.is_ok();
        console.say(format_args!("{mark:>4}  {name:<24} {text}"))?;
        findings.push(json!({"name": name, "ok": finding.is_ok(), "detail": text}));
    }
    let verdict = if well { "all is well" } else { "NOT WELL: do not use the program on this machine" };
    console.report_lines(
        ["", verdict],
        json!({
            "type": "doctor",
            "version": env!("CARGO_PKG_VERSION"),
            "arch": std::env::consts::ARCH,
            "cpu": {"detected": cpu::detected().name(), "level": cpu::level().name()},
            "kernels": {
                "sha3": sha3::kernels().name(),
                "mlkem": mlkem::kernels().name(),
                "mldsa": mldsa::kernels().name(),
            },
            "checks": Value::Array(findings),
            "ok": well,
        }),
    )?;
    Ok(if well { Status::Done } else { Status::NotVerified })
}

/// That the operating system's generator answers, and not twice the same.
fn entropy() -> Finding {
    let draw =
        || mlkem::DecapsulationKey::<MlKem768>::generate().map_err(|_| "the generator fails".to_owned());
    let (first, second) = (draw()?, draw()?);
    // public: these keys are for nothing else
    let (first, second) = (first.seed().map(Secret::expose), second.seed().map(Secret::expose));
    if first == second || first == Some(&[0; 64]) {
        return Err("the operating system's generator repeats itself".to_owned());
    }
    Ok("the operating system's generator answers".to_owned())
}

/// That every known answer of the library is what this machine computes.
fn self_tests() -> Finding {
    gambeson::approved::self_test().map_err(|e| e.to_string())?;
    Ok("every known answer is computed".to_owned())
}

/// The first bytes of SHA3-256("abc").
const ABC: [u8; 8] = [0x3a, 0x98, 0x5d, 0xa7, 0x4f, 0xe2, 0x25, 0xb2];

fn hashing() -> Finding {
    holds(Sha3_256::digest(b"abc")[..8] == ABC, "SHA3-256 of abc is wrong")?;
    Ok("SHA3-256 gives the published digest".to_owned())
}

fn encapsulation() -> Finding {
    let dk = mlkem::DecapsulationKey::<MlKem768>::from_seed(&[7; 64]);
    let (mut c, k) = dk.encapsulation_key().encapsulate_deterministic(&[8; 32]);
    holds(dk.decapsulate(&c).expose() == k.expose(), "the two sides of ML-KEM-768 disagree")?;
    c[0] ^= 1;
    let rejected = dk.decapsulate(&c);
    holds(rejected.expose() != k.expose(), "ML-KEM-768 accepts a changed ciphertext")?;
    Ok("both sides agree, a changed ciphertext does not".to_owned())
}

fn signatures() -> Finding {
    let sk = mldsa::SigningKey::<MlDsa65>::from_seed(&[9; 32]);
    let mut signature = sk.sign(b"doctor").map_err(|_| "the generator fails".to_owned())?;
    let pk = sk.verifying_key();
    holds(pk.verify(b"doctor", &signature).is_ok(), "ML-DSA-65 refuses its own signature")?;
    holds(pk.verify(b"Doctor", &signature).is_err(), "ML-DSA-65 accepts another message")?;
    signature[0] ^= 1;
    holds(pk.verify(b"doctor", &signature).is_err(), "ML-DSA-65 accepts a changed signature")?;
    Ok("a signature verifies, a changed one does not".to_owned())
}

fn sealing() -> Finding {
    let identity = Identity::from_seed(&[10; 32]);
    let mut sealed = Vec::new();
    gambeson_age::seal(&[identity.recipient()], &b"doctor"[..], &mut sealed, Format::Binary)
        .map_err(|e| e.to_string())?;
    let mut opened = Vec::new();
    gambeson_age::open(&[identity], &sealed[..], &mut opened).map_err(|e| e.to_string())?;
    holds(opened == b"doctor", "a sealed file opens to something else")?;
    Ok("a sealed file opens".to_owned())
}

/// That every table of kernels that this machine can run gives what the portable one gives.
fn tables() -> Finding {
    let level = cpu::level();
    let mut digests = Vec::new();
    for other in Level::ALL.iter().copied() {
        cpu::limit(other.min(level));
        if cpu::level() == other {
            digests.push((other, fingerprint()));
        }
    }
    cpu::limit(level);
    for (level, digest) in &digests {
        holds(*digest == digests[0].1, &format!("the table {level} differs from the portable one"))?;
    }
    let levels: Vec<&str> = digests.iter().map(|(level, _)| level.name()).collect();
    Ok(format!("one result at every level: {}", levels.join(", ")))
}

/// A digest of what the primitives compute from fixed inputs.
fn fingerprint() -> [u8; 32] {
    let dk = mlkem::DecapsulationKey::<MlKem768>::from_seed(&[1; 64]);
    let ek = dk.encapsulation_key();
    let (c, k) = ek.encapsulate_deterministic(&[2; 32]);
    let sk = mldsa::SigningKey::<MlDsa65>::from_seed(&[3; 32]);
    let mut digest = [0; 32];
    let mut all = Shake256::new();
    all.update(ek.as_bytes()).update(&c).update(k.expose()).update(dk.decapsulate(&c).expose());
    all.update(sk.verifying_key().as_bytes()).update(&sk.sign_deterministic(b"doctor"));
    all.finalize_xof().squeeze(&mut digest);
    digest
}

fn holds(condition: bool, otherwise: &str) -> Result<(), String> {
    if condition { Ok(()) } else { Err(otherwise.to_owned()) }
}
