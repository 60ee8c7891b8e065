//! scrypt (RFC 7914) with r = 8 and p = 1: memory that is asked for before it is used, and wiped after it.

use gambeson::secret::Secret;
use sha2::Sha256;
use zeroize::Zeroizing;

/// The words of one state of Salsa20, by diagonals: so each step of a round is one operation on rows of four.
type Rows = [u32; 16];
/// What is mixed at once: 2r states, 1 KiB.
type Block = [Rows; 16];

/// Where the words of a state stand in its bytes, in the order of [`Rows`].
const DIAGONALS: [usize; 16] = [0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11];

/// There is not enough memory: 1 KiB times N.
#[derive(Debug)]
pub(crate) struct OutOfMemory;

/// 32 bytes of `scrypt(passphrase, salt, N = 2^log_n, r = 8, p = 1)` (§6).
pub(crate) fn scrypt(passphrase: &[u8], salt: &[u8], log_n: u8) -> Result<Secret<[u8; 32]>, OutOfMemory> {
    let n = 1_usize.checked_shl(log_n.into()).ok_or(OutOfMemory)?;
    let mut memory = Memory(Vec::new());
    memory.0.try_reserve_exact(n).map_err(|_| OutOfMemory)?;

    let mut bytes = Zeroizing::new([0; 1024]);
    pbkdf2::pbkdf2_hmac::<Sha256>(passphrase, salt, 1, bytes.as_mut_slice());
    ro_mix(&mut bytes, n, &mut memory.0);
    let mut key = Secret::new([0; 32]);
    pbkdf2::pbkdf2_hmac::<Sha256>(passphrase, bytes.as_slice(), 1, key.expose_mut());
    Ok(key)
}

/// `scryptROMix` (§5) in place.
fn ro_mix(bytes: &mut [u8; 1024], n: usize, memory: &mut Vec<Block>) {
    let mut block = Zeroizing::new([[0; 16]; 16]);
    let mut mixed = Zeroizing::new([[0; 16]; 16]);
    for (rows, state) in block.iter_mut().zip(bytes.as_chunks::<64>().0) {
        for (word, at) in rows.iter_mut().zip(DIAGONALS) {
            *word = u32::from_le_bytes(state.as_chunks::<4>().0[at]);
        }
    }
    for _ in 0..n {
        memory.push(*block);
        block_mix(&block, &mut mixed);
        core::mem::swap(&mut *block, &mut *mixed);
    }
    for _ in 0..n {
        let picked = &memory[block[15][0] as usize & (n - 1)]; // Integerify: N is a power of two
        for (rows, other) in block.iter_mut().zip(picked) {
            rows.iter_mut().zip(other).for_each(|(word, other)| *word ^= other);
        }
        block_mix(&block, &mut mixed);
        core::mem::swap(&mut *block, &mut *mixed);
    }
    for (rows, state) in block.iter().zip(bytes.as_chunks_mut::<64>().0) {
        for (word, at) in rows.iter().zip(DIAGONALS) {
            state.as_chunks_mut::<4>().0[at] = word.to_le_bytes();
        }
    }
}

/// `scryptBlockMix` (§4): the even states, then the odd ones.
fn block_mix(input: &Block, output: &mut Block) {
    let mut state = input[15];
    for (at, rows) in input.iter().enumerate() {
        state.iter_mut().zip(rows).for_each(|(word, other)| *word ^= other);
        salsa(&mut state);
        output[at / 2 + at % 2 * 8] = state;
    }
}

/// Salsa20/8 (§3): four times a round of columns and one of rows.
#[inline(always)]
fn salsa(state: &mut Rows) {
    let row = |at: usize| -> [u32; 4] { core::array::from_fn(|lane| state[4 * at + lane]) };
    let (mut a, mut b, mut c, mut d) = (row(0), row(1), row(2), row(3));
    for _ in 0..8 {
        b = step(b, a, d, 7);
        c = step(c, b, a, 9);
        d = step(d, c, b, 13);
        a = step(a, d, c, 18);
        // The columns become rows, and the rows columns again.
        (b, c, d) = ([d[1], d[2], d[3], d[0]], [c[2], c[3], c[0], c[1]], [b[3], b[0], b[1], b[2]]);
    }
    for (words, row) in state.chunks_exact_mut(4).zip([a, b, c, d]) {
        words.iter_mut().zip(row).for_each(|(word, other)| *word = word.wrapping_add(other));
    }
}

#[inline(always)]
fn step(out: [u32; 4], x: [u32; 4], y: [u32; 4], bits: u32) -> [u32; 4] {
    core::array::from_fn(|lane| out[lane] ^ x[lane].wrapping_add(y[lane]).rotate_left(bits))
}

/// The blocks, from each of which the passphrase could be tried at a fraction of the work; wiped.
struct Memory(Vec<Block>);

impl Drop for Memory {
    fn drop(&mut self) {
        self.0.fill([[0; 16]; 16]);
        core::hint::black_box(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7914, §12, the vector with r = 8 and p = 1 that takes 16 MiB; and two of Python's `hashlib.scrypt`.
    #[test]
    fn known_answers() {
        for (passphrase, salt, log_n, expected) in [
            (
                "pleaseletmein",
                "SodiumChloride",
                14,
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2",
            ),
            ("", "", 1, "ec57b472d742138d12501bc49372377b3b96d6a2ff9f6a53e769a63c429a1792"),
            (
                "correct horse",
                "salt of an age file",
                5,
                "86ebc744a83651295ba471685e0dbe3acf348d43cb91972e332d7591abd7de0a",
            ),
        ] {
            let key = scrypt(passphrase.as_bytes(), salt.as_bytes(), log_n).expect("16 MiB");
            let key: String = key.expose().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(key, expected, "{passphrase:?}");
        }
    }

    /// More than there is: no panic, no abort.
    #[test]
    fn memory_that_is_not_there_is_an_error() {
        assert!(scrypt(b"a", b"b", 60).is_err());
        assert!(scrypt(b"a", b"b", 200).is_err());
    }
}
