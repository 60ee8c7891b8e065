//! How many operations a second each form of a key does: one JSON object a line. Run by `cargo xtask stack --massif`, whose table
//! has the stack of the small form beside it.

use gambeson::cpu::{self, Level};
use gambeson_gates::operations::{self, Instrument, Name};
use std::collections::BTreeMap;
use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Signing begins anew until a signature fits: these messages, all of them, are what every form signs.
const MESSAGES: u8 = 50;
/// Minimum time for each row.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

fn main() {
    cpu::limit(env::args().nth(1).map_or(Level::Portable, |name| name.parse().expect("a level")));
    let mut gate = Gate::default();
    operations::primitives(&mut gate);
    for ((alg, op, form), fastest) in gate.rows {
        let kops = fastest.len() as f64 / fastest.iter().sum::<Duration>().as_secs_f64() / 1000.0;
        println!("{{\"alg\":\"{alg}\",\"op\":\"{op}\",\"form\":\"{form}\",\"kops\":{kops:.3}}}");
    }
}

/// The fastest run of each row, for each message: whatever else the machine does slows the others.
#[derive(Default)]
struct Gate {
    rows: BTreeMap<(String, String, String), Vec<Duration>>,
}

impl Instrument for Gate {
    fn run<R>(&mut self, (alg, op, form): Name<'_>, work: impl Fn() -> R + Sync) -> R {
        let is_signing = ["sign", "verify"].contains(&op);
        if ["compact", "small", "prepared"].contains(&form)
            && (is_signing || ["keygen", "encaps", "decaps"].contains(&op))
        {
            let long_enough = if is_signing { LONG_ENOUGH / u32::from(MESSAGES) } else { LONG_ENOUGH };
            let (mut fastest, start) = (Duration::MAX, Instant::now());
            while fastest == Duration::MAX || start.elapsed() < long_enough {
                let one = Instant::now();
                black_box(work());
                fastest = one.elapsed().min(fastest);
            }
            self.rows.entry((alg.into(), op.into(), form.into())).or_default().push(fastest);
        }
        work()
    }

    fn messages(&self) -> u8 {
        MESSAGES
    }
}
