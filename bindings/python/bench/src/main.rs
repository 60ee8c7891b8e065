//! The native half of the Python benchmark: reads a line, does what it says, answers with a line.
//!
//! `time OPERATION COUNT` answers with nanoseconds of processor time; the other commands show what the operations give, so
//! that it is compared before anything is measured.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};

use gambeson::mldsa::{MlDsa65, SigningKey, VerifyingKey, VerifyingKeyRef};
use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, EncapsulationKeyRef, MlKem768};
use rustix::time::{ClockId, clock_gettime};

/// The message that everybody signs.
const MESSAGE: &[u8] = &[0x61; 64];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Bench {
    signing: SigningKey<MlDsa65>,
    verifying: VerifyingKey<MlDsa65>,
    signature: [u8; 3309],
    decapsulation: DecapsulationKey<MlKem768>,
    encapsulation: EncapsulationKey<MlKem768>,
    ciphertext: [u8; 1088],
}

impl Bench {
    fn new() -> Result<Self> {
        let seed: [u8; 64] = std::array::from_fn(|at| at as u8);
        let signing = SigningKey::from_seed(seed[..32].try_into()?);
        let decapsulation = DecapsulationKey::from_seed(&seed);
        let (encapsulation, verifying) = (decapsulation.encapsulation_key(), signing.verifying_key());
        verifying.prepare();
        Ok(Self {
            verifying,
            signature: signing.sign(MESSAGE)?,
            ciphertext: encapsulation.encapsulate()?.0,
            signing,
            decapsulation,
            encapsulation,
        })
    }

    fn answer(&self, line: &str) -> Result<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        Ok(match words[..] {
            ["time", operation, count] => self.time(operation, count.parse()?)?.to_string(),
            ["dsa-public"] => hex::encode(self.verifying.as_bytes()),
            ["sign"] => hex::encode(self.signing.sign(MESSAGE)?),
            ["verify", signature] => {
                self.verifying.verify(MESSAGE, &hex::decode(signature)?)?;
                String::from("ok")
            }
            ["kem-public"] => hex::encode(self.encapsulation.as_bytes()),
            ["encapsulate"] => {
                let (ciphertext, shared) = self.encapsulation.encapsulate()?;
                format!("{} {}", hex::encode(shared.expose()), hex::encode(ciphertext))
            }
            ["decapsulate", ciphertext] => {
                let ciphertext = hex::decode(ciphertext)?;
                hex::encode(self.decapsulation.decapsulate(ciphertext.as_slice().try_into()?).expose())
            }
            _ => return Err(format!("not a command: {line}").into()),
        })
    }

    fn time(&self, operation: &str, count: u32) -> Result<u128> {
        let times = |work: &dyn Fn() -> Result<()>| -> Result<u128> {
            let start = processor_time();
            for _ in 0..count {
                work()?;
            }
            Ok(processor_time() - start)
        };
        match operation {
            "dsa-keygen" => times(&|| {
                black_box(SigningKey::<MlDsa65>::generate()?);
                Ok(())
            }),
            "dsa-sign" => times(&|| {
                black_box(self.signing.sign(MESSAGE)?);
                Ok(())
            }),
            "dsa-verify" => times(&|| Ok(self.verifying.verify(MESSAGE, &self.signature)?)),
            "dsa-verify-once" => times(&|| {
                let key = VerifyingKeyRef::<MlDsa65>::from_ref(self.verifying.as_bytes());
                Ok(key.verify(MESSAGE, &self.signature)?)
            }),
            "kem-keygen" => times(&|| {
                black_box(DecapsulationKey::<MlKem768>::generate()?);
                Ok(())
            }),
            "kem-encapsulate" => times(&|| {
                black_box(self.encapsulation.encapsulate()?);
                Ok(())
            }),
            "kem-encapsulate-once" => times(&|| {
                let key = EncapsulationKeyRef::<MlKem768>::from_ref(self.encapsulation.as_bytes())?;
                black_box(key.encapsulate()?);
                Ok(())
            }),
            "kem-decapsulate" => times(&|| {
                black_box(self.decapsulation.decapsulate(&self.ciphertext));
                Ok(())
            }),
            _ => Err(format!("not an operation: {operation}").into()),
        }
    }
}

/// Nanoseconds of processor time of this thread.
fn processor_time() -> u128 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u128 * 1_000_000_000 + time.tv_nsec as u128
}

fn main() -> Result<()> {
    let bench = Bench::new()?;
    for line in stdin().lock().lines() {
        let mut out = stdout().lock();
        writeln!(out, "{}", bench.answer(&line?)?)?;
        out.flush()?;
    }
    Ok(())
}
