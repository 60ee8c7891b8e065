//! Randomness that a broken generator of the system does not break: hedged with a key from the seed (RFC 8937).

use crate::{Error, MasterSeed, Purpose, Reason, Result, Suite};
use gambeson::secret::Secret;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha384;
use zeroize::Zeroize;

#[cfg(feature = "test-vectors")]
use core::sync::atomic::{AtomicU64, Ordering};

/// A key of `m/4'` and where fresh bytes come from.
pub(crate) struct Hedge {
    key: Key,
    #[cfg(feature = "test-vectors")]
    counter: Option<AtomicU64>,
}

enum Key {
    Blake3(Secret<[u8; 32]>),
    Sha384(Secret<[u8; 48]>),
}

impl Hedge {
    /// The hedge of this purpose in this session.
    pub(crate) fn new(seed: &MasterSeed, suite: Suite, purpose: Purpose, session: u64) -> Self {
        let key = match suite {
            Suite::Default => Key::Blake3(seed.derive(suite, purpose, session)),
            Suite::Cnsa2 => Key::Sha384(seed.derive(suite, purpose, session)),
        };
        Self {
            key,
            #[cfg(feature = "test-vectors")]
            counter: None,
        }
    }

    /// The same bytes in every run, for test vectors: a counter takes the place of the system's generator.
    #[cfg(feature = "test-vectors")]
    pub(crate) fn deterministic(mut self) -> Self {
        self.counter = Some(AtomicU64::new(0));
        self
    }

    /// Whether signatures shall be the deterministic variant of FIPS 204.
    pub(crate) fn is_deterministic(&self) -> bool {
        #[cfg(feature = "test-vectors")]
        return self.counter.is_some();
        #[cfg(not(feature = "test-vectors"))]
        false
    }

    /// 32 bytes out of the key, fresh bytes of the system, and the parts; each part's length stands before it.
    pub(crate) fn draw(&self, parts: &[&[u8]]) -> Result<Secret<[u8; 32]>> {
        let mut fresh = Secret::new([0; 32]);
        self.fresh(fresh.expose_mut())?;
        let mut out = Secret::new([0; 32]);
        match &self.key {
            Key::Blake3(key) => {
                let mut hasher = blake3::Hasher::new_keyed(key.expose());
                hasher.update(fresh.expose());
                for part in parts {
                    hasher.update(&(part.len() as u64).to_be_bytes()).update(part);
                }
                let mut hash = hasher.finalize();
                out.expose_mut().copy_from_slice(hash.as_bytes());
                hash.zeroize();
                hasher.zeroize();
            }
            Key::Sha384(key) => {
                let mut mac =
                    Hmac::<Sha384>::new_from_slice(key.expose()).expect("HMAC takes keys of any length");
                mac.update(fresh.expose());
                for part in parts {
                    mac.update(&(part.len() as u64).to_be_bytes());
                    mac.update(part);
                }
                let mut tag = mac.finalize().into_bytes();
                out.expose_mut().copy_from_slice(&tag[..32]);
                tag.zeroize();
            }
        }
        Ok(out)
    }

    #[cfg(feature = "test-vectors")]
    fn fresh(&self, out: &mut [u8; 32]) -> Result<()> {
        match &self.counter {
            Some(counter) => {
                out[..8].copy_from_slice(&counter.fetch_add(1, Ordering::Relaxed).to_be_bytes());
                Ok(())
            }
            None => system(out),
        }
    }

    #[cfg(not(feature = "test-vectors"))]
    #[allow(clippy::unused_self, reason = "the other form of this function looks at the counter")]
    fn fresh(&self, out: &mut [u8; 32]) -> Result<()> {
        system(out)
    }
}

fn system(out: &mut [u8; 32]) -> Result<()> {
    getrandom::fill(out).map_err(|_| Error::new(Reason::NoRandomness, "the system's generator failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_draws_differ_in_both_suites() {
        for suite in [Suite::Default, Suite::Cnsa2] {
            let hedge = Hedge::new(&MasterSeed::from_bytes(&[1; 32]), suite, Purpose::SigningHedge, 0);
            let (a, b) = (hedge.draw(&[b"m"]).unwrap(), hedge.draw(&[b"m"]).unwrap());
            assert_ne!(a.expose(), b.expose());
        }
    }

    /// A generator of the system that is broken gives one value: the counter's first, here.
    #[cfg(feature = "test-vectors")]
    #[test]
    fn draws_of_one_value_of_the_system_differ_by_the_key_of_the_session() {
        for suite in [Suite::Default, Suite::Cnsa2] {
            let seed = MasterSeed::from_bytes(&[1; 32]);
            let draw = |purpose, session, part: &[u8]| {
                let hedge = Hedge::new(&seed, suite, purpose, session).deterministic();
                *hedge.draw(&[part]).unwrap().expose()
            };
            let first = draw(Purpose::SealingHedge, 0, b"m");
            assert_eq!(first, draw(Purpose::SealingHedge, 0, b"m"));
            assert_ne!(first, draw(Purpose::SealingHedge, 1, b"m"));
            assert_ne!(first, draw(Purpose::SigningHedge, 0, b"m"));
            assert_ne!(first, draw(Purpose::SealingHedge, 0, b"n"));
        }
    }
}
