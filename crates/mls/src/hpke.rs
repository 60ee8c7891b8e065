//! The HPKE of a suite, by bytes: what mls-rs keeps and sends.

use std::fmt;
use std::marker::PhantomData;

use gambeson::sha3::Shake256;
use gambeson_hybrid::hpke::{self, DhKemX25519, Encrypts, Kdf, Kem, Psk, XWing};
use mls_rs_core::crypto::{HpkeCiphertext, HpkeContextR, HpkeContextS};
use zeroize::Zeroizing;

use crate::door;
use crate::error::{Error, Result};
use crate::random::Random;
use crate::suite::Derivation;
use crate::symmetric::{exactly, split_tag};

/// The lowest number of a KEM of draft-ietf-hpke-pq.
const FIRST_POST_QUANTUM: u16 = 0x0040;

/// A private key and its public key.
pub(crate) type Pair = (Zeroizing<Vec<u8>>, Vec<u8>);

/// HPKE with one KEM, KDF and AEAD.
pub(crate) trait Hpke: Send + Sync {
    fn sender(
        &self,
        key: &[u8],
        info: &[u8],
        psk: Option<Psk<'_>>,
        random: &Random,
    ) -> Result<(Vec<u8>, Sender)>;
    fn receiver(&self, enc: &[u8], key: &[u8], info: &[u8], psk: Option<Psk<'_>>) -> Result<Receiver>;
    fn derive(&self, ikm: &[u8], derivation: Derivation) -> Result<Pair>;
    fn generate(&self, random: &Random) -> Result<Pair>;
    fn validate(&self, key: &[u8]) -> Result<()>;

    fn seal(
        &self,
        key: &[u8],
        info: &[u8],
        aad: &[u8],
        data: &[u8],
        psk: Option<Psk<'_>>,
        random: &Random,
    ) -> Result<HpkeCiphertext> {
        let (kem_output, mut sender) = self.sender(key, info, psk, random)?;
        Ok(HpkeCiphertext { kem_output, ciphertext: sender.0.seal(aad, data)? })
    }

    fn open(
        &self,
        sealed: &HpkeCiphertext,
        key: &[u8],
        info: &[u8],
        aad: &[u8],
        psk: Option<Psk<'_>>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.receiver(&sealed.kem_output, key, info, psk)?.0.open(aad, &sealed.ciphertext)
    }
}

/// Of any thread, whatever the types are.
type Named<K, F, A> = fn() -> (K, F, A);

/// The three types of a suite as a value.
pub(crate) struct Of<K, F, A>(PhantomData<Named<K, F, A>>);

impl<K, F, A> Of<K, F, A> {
    pub(crate) const THE: Self = Self(PhantomData);
}

impl<K: Kem, F: Kdf + 'static, A: Encrypts + 'static> Hpke for Of<K, F, A>
where
    hpke::Sender<F, A>: Send + Sync,
    hpke::Receiver<F, A>: Send + Sync,
{
    fn sender(
        &self,
        key: &[u8],
        info: &[u8],
        psk: Option<Psk<'_>>,
        random: &Random,
    ) -> Result<(Vec<u8>, Sender)> {
        let key = public::<K>(key)?;
        let (enc, sender) = match psk {
            None => hpke::setup_sender_with::<K, F, A>(&key, info, &mut &*random)?,
            Some(psk) => hpke::setup_sender_psk_with::<K, F, A>(&key, info, psk, &mut &*random)?,
        };
        Ok((enc.as_ref().to_vec(), Sender(Box::new(sender))))
    }

    fn receiver(&self, enc: &[u8], key: &[u8], info: &[u8], psk: Option<Psk<'_>>) -> Result<Receiver> {
        exactly("a KEM output", K::NENC, enc)?;
        exactly("an HPKE private key", K::NSK, key)?;
        let enc = K::Enc::try_from(enc).map_err(|_| hpke::Error::Key)?;
        let key = K::decapsulation_key(key)?;
        Ok(Receiver(Box::new(match psk {
            None => hpke::setup_receiver::<K, F, A>(&enc, &key, info)?,
            Some(psk) => hpke::setup_receiver_psk::<K, F, A>(&enc, &key, info, psk)?,
        })))
    }

    fn derive(&self, ikm: &[u8], derivation: Derivation) -> Result<Pair> {
        match derivation {
            Derivation::Plain if K::ID >= FIRST_POST_QUANTUM => {
                let mut key = Zeroizing::new(vec![0; K::NSK]);
                Shake256::digest_into(ikm, &mut key);
                pair::<K>(&K::decapsulation_key(&key)?)
            }
            _ => pair::<K>(&K::derive_key_pair(ikm)?),
        }
    }

    fn generate(&self, random: &Random) -> Result<Pair> {
        let mut ikm = Zeroizing::new(vec![0; K::NSK]);
        random.fill(&mut ikm)?;
        pair::<K>(&K::derive_key_pair(&ikm)?)
    }

    fn validate(&self, key: &[u8]) -> Result<()> {
        public::<K>(key)?;
        match K::ID {
            DhKemX25519::ID | XWing::ID if is_of_low_order(key) => Err(hpke::Error::Key.into()),
            _ => Ok(()),
        }
    }
}

/// The u-coordinates of Curve25519 and its twist whose agreement with any key is zero: 0, 1, two of order 8, and p - 1, p and p + 1, of which the
/// last two are 0 and 1 again (D. J. Bernstein, cr.yp.to/ecdh.html#validate).
const LOW_ORDER: [[u8; 32]; 7] = [
    near(0x00, 0x00, 0x00),
    near(0x01, 0x00, 0x00),
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda,
        0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04,
        0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
    ],
    near(0xec, 0xff, 0x7f),
    near(0xed, 0xff, 0x7f),
    near(0xee, 0xff, 0x7f),
];

const fn near(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let mut u = [middle; 32];
    u[0] = first;
    u[31] = last;
    u
}

/// Whether a key of X25519, or the one at the end of a key of X-Wing, agrees with all on zero. The highest bit stands for nothing (RFC 7748,
/// section 5).
fn is_of_low_order(key: &[u8]) -> bool {
    let Some((_, u)) = key.split_last_chunk::<32>() else { return false };
    let mut u = *u;
    u[31] &= 0x7f;
    LOW_ORDER.contains(&u)
}

fn public<K: Kem>(key: &[u8]) -> Result<K::EncapsulationKey> {
    exactly("an HPKE public key", K::NPK, key)?;
    Ok(K::encapsulation_key(key)?)
}

fn pair<K: Kem>(key: &K::DecapsulationKey) -> Result<Pair> {
    let (mut private, mut public) = (Zeroizing::new(vec![0; K::NSK]), vec![0; K::NPK]);
    K::private_key(key, &mut private)?;
    K::public_key(key, &mut public);
    Ok((private, public))
}

/// The sender's context of a suite.
pub struct Sender(Box<dyn Seals + Send + Sync>);

/// The recipient's context of a suite.
pub struct Receiver(Box<dyn Opens + Send + Sync>);

trait Seals {
    fn seal(&mut self, aad: &[u8], data: &[u8]) -> Result<Vec<u8>>;
    fn export(&self, context: &[u8], out: &mut [u8]) -> Result<()>;
}

trait Opens {
    fn open(&mut self, aad: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>>;
    fn export(&self, context: &[u8], out: &mut [u8]) -> Result<()>;
}

impl<F: Kdf, A: Encrypts> Seals for hpke::Sender<F, A> {
    fn seal(&mut self, aad: &[u8], data: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(data.len() + hpke::TAG_LEN);
        out.extend_from_slice(data);
        let tag = self.seal_in_place(aad, &mut out)?;
        out.extend_from_slice(&tag);
        Ok(out)
    }

    fn export(&self, context: &[u8], out: &mut [u8]) -> Result<()> {
        Ok((**self).export(context, out)?)
    }
}

impl<F: Kdf, A: Encrypts> Opens for hpke::Receiver<F, A> {
    fn open(&mut self, aad: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let (body, tag) = split_tag(sealed)?;
        let mut out = Zeroizing::new(body.to_vec());
        self.open_in_place(aad, &mut out, tag)?;
        Ok(out)
    }

    fn export(&self, context: &[u8], out: &mut [u8]) -> Result<()> {
        Ok((**self).export(context, out)?)
    }
}

impl HpkeContextS for Sender {
    type Error = Error;

    fn seal(&mut self, aad: Option<&[u8]>, data: &[u8]) -> Result<Vec<u8>> {
        door::deep(|| self.0.seal(aad.unwrap_or_default(), data))
    }

    fn export(&self, context: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        let mut out = Zeroizing::new(vec![0; len]);
        door::shallow(|| self.0.export(context, &mut out))?;
        Ok(out)
    }
}

impl HpkeContextR for Receiver {
    type Error = Error;

    fn open(&mut self, aad: Option<&[u8]>, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        door::deep(|| self.0.open(aad.unwrap_or_default(), ciphertext))
    }

    fn export(&self, context: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        let mut out = Zeroizing::new(vec![0; len]);
        door::shallow(|| self.0.export(context, &mut out))?;
        Ok(out)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mls::Sender([redacted])")
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mls::Receiver([redacted])")
    }
}
