//! The inputs of the measurement and their outputs, in the order in which an operation of `src` reads them.

use gambeson::mldsa::{self, SigningKey};
use gambeson::mlkem::{self, DecapsulationKey};
use gambeson::sha3::{self, State};

/// How many keys, and how many messages are signed. Signatures begin anew until one fits: only one list for all makes figures alike.
const KEYS: u64 = 10;
const MESSAGES: u64 = 50;

/// The bytes that every implementation drew from: xorshift64 (13, 7, 17).
pub struct Stream(u64);

impl Stream {
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    /// The next bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 32) as u8
        })
    }
}

/// Ten keys, each with a message.
pub fn of_kem<P: mlkem::PreparedSet>(operation: &str) -> Vec<Vec<u8>> {
    let of_key = |number| {
        let mut stream = Stream::new(number);
        let (seed, m): ([u8; 64], [u8; 32]) = (stream.array(), stream.array());
        let dk = DecapsulationKey::<P>::from_seed(&seed);
        let ek = dk.encapsulation_key();
        let (c, shared) = ek.encapsulate_deterministic(&m);
        let ek = ek.as_bytes().as_ref();
        let (c, shared) = (c.as_ref(), &shared.expose()[..]);
        match operation {
            "keygen" => [&seed, ek].concat(),
            "encaps" | "encaps-prepared" => [ek, &m, c, shared].concat(),
            "decaps" | "decaps-prepared" => [&seed, c, shared].concat(),
            _ => [dk.to_encoded().expose(), c, shared].concat(),
        }
    };
    (0..KEYS).map(of_key).collect()
}

/// Ten keys; or one key and fifty messages of 32 bytes, signed without randomness, of which ten are verified.
pub fn of_dsa<P: mldsa::PreparedSet>(operation: &str) -> Vec<Vec<u8>> {
    let key = |number| {
        let seed: [u8; 32] = Stream::new(number).array();
        (seed, SigningKey::<P>::from_seed(&seed))
    };
    if operation == "keygen" {
        let of_key = |(seed, key): ([u8; 32], SigningKey<P>)| {
            [&seed, key.verifying_key().as_bytes().as_ref()].concat()
        };
        return (0..KEYS).map(key).map(of_key).collect();
    }
    let (seed, key) = key(0);
    let signed = |number: u64| {
        let mut message = [0; 32];
        message[..8].copy_from_slice(&number.to_le_bytes());
        let signature = key.sign_deterministic(&message);
        let signature = signature.as_ref();
        match operation {
            "sign-seed" | "sign-prepared" => [&seed, &message[..], signature].concat(),
            "verify" | "verify-prepared" => {
                [key.verifying_key().as_bytes().as_ref(), &message, signature].concat()
            }
            _ => [key.to_encoded().expose(), &message[..], signature].concat(),
        }
    };
    (0..if operation.starts_with("verify") { KEYS } else { MESSAGES }).map(signed).collect()
}

/// Ten states, in the form that sponges have on 32-bit machines.
pub fn of_keccak() -> Vec<Vec<u8>> {
    let of_state = |number| {
        let mut stream = Stream::new(number);
        let mut states = [State(std::array::from_fn(|_| u64::from_le_bytes(stream.array())))];
        let before = bytes(&states[0]);
        sha3::permute_many(&mut states);
        [before, bytes(&states[0])].concat()
    };
    (0..KEYS).map(of_state).collect()
}

/// Even bits of a lane in its lower half, odd ones in the upper.
fn bytes(state: &State) -> Vec<u8> {
    let interleaved =
        |lane: &u64| (0..64).fold(0u64, |all, bit| all | (lane >> bit & 1) << (bit / 2 + 32 * (bit % 2)));
    state.0.iter().flat_map(|lane| interleaved(lane).to_le_bytes()).collect()
}
