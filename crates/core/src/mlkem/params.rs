//! Parameter sets and their keys, which the set selects. Each names the other, so they stand together.

use core::fmt::Debug;

use zeroize::Zeroize;

use super::SharedSecret;
use super::kernels::packed::SmallPoly;
use super::poly::Ntt;
use crate::Bytes;
use crate::filled::Holds;
use crate::secret::Secret;
use crate::workspace::{Worked, Zero};

/// The parameters that only the algorithms need.
pub trait Parameters:
    Worked + Clone + Copy + Debug + Default + PartialEq + Eq + Send + Sync + 'static
{
    /// The rank of the module: rows and columns of Â.
    const K: usize;
    /// The noise of ŝ, ê and ŷ.
    const ETA1: usize;
    /// Bits of a coefficient of u in the ciphertext.
    const DU: usize;
    /// Bits of a coefficient of v in the ciphertext.
    const DV: usize;
    /// K elements of T_q.
    type Vector: AsRef<[Ntt]> + AsMut<[Ntt]> + Zero + Zeroize + 'static;

    /// The input of encryption with a prepared key: Â by rows, then t̂.
    #[cfg(feature = "alloc")]
    type Elements: AsRef<[Ntt]> + AsMut<[Ntt]> + Zero;

    /// Whether the schedule is that of the least memory.
    const SMALL: bool = false;
    /// What K polynomials of twelve bits a coefficient need beyond a ciphertext, in whole groups of sixteen coefficients.
    type Spill: AsMut<[u8]> + Zero + Zeroize + 'static;
    /// K polynomials of noise, three bits a coefficient.
    type SmallVector: AsMut<[SmallPoly]> + Zero + Zeroize + 'static;
}

/// A parameter set of ML-KEM: [`MlKem512`](super::MlKem512), [`MlKem768`](super::MlKem768) or [`MlKem1024`](super::MlKem1024).
pub trait ParameterSet: Parameters {
    /// The name in the standard, such as `ML-KEM-768`.
    const NAME: &'static str;
    /// An encapsulation key ek as bytes.
    type EncapsulationKeyBytes: Bytes;
    /// A ciphertext c.
    type Ciphertext: Bytes;
    /// A decapsulation key dk as other libraries store it: dk_PKE ‖ ek ‖ H(ek) ‖ z.
    type DecapsulationKeyBytes: Bytes;
    /// The state of an encapsulation key beside its bytes.
    #[doc(hidden)]
    type Public: PublicForm<Self>;
    /// The content of a decapsulation key.
    #[doc(hidden)]
    type Private: PrivateForm<Self>;
}

/// An encapsulation key.
///
/// Its coefficients are below q: FIPS 203, §7.2, is checked at import. With feature `alloc`, the first encapsulation works from the
/// bytes, on the stack alone; the second keeps the matrix and the hash of the key on the heap, for all that follow:
/// 512·(k² + k) bytes. Clones that are made afterwards share them. [`prepare`](Self::prepare) makes them now. A key that is used
/// once, and has its bytes elsewhere, is an [`EncapsulationKeyRef`](super::EncapsulationKeyRef); one that never keeps anything is a key of
/// [`Compact`](crate::Compact)`<P>`.
///
/// ```
/// use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, MlKem768};
///
/// let dk = DecapsulationKey::<MlKem768>::generate()?;
/// let received = *dk.encapsulation_key().as_bytes();
///
/// let ek = EncapsulationKey::<MlKem768>::from_bytes(&received)?;
/// let (c, shared) = ek.encapsulate()?;
/// assert_eq!(dk.decapsulate(&c).expose(), shared.expose());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct EncapsulationKey<P: ParameterSet> {
    pub(super) bytes: P::EncapsulationKeyBytes,
    pub(super) form: P::Public,
}

impl<P: ParameterSet> EncapsulationKey<P> {
    /// The key with these bytes, whose coefficients are below q.
    pub(super) const fn from_reduced(bytes: P::EncapsulationKeyBytes, form: P::Public) -> Self {
        Self { bytes, form }
    }
}

/// A decapsulation key.
///
/// With feature `alloc` it is prepared when it is made: matrix, secrets and hash stand on the heap, wiped when dropped, for all
/// decapsulations. A resting key has 512·(k² + 2·k) bytes of polynomials and its encapsulation key: 4.9, 8.9 and 13.8 KiB.
/// Where many keys rest, one of [`Compact`](crate::Compact)`<P>` has 96 bytes, and makes the rest again each time, in less than
/// 10 KiB of stack; without `alloc` every key does.
///
/// ```
/// use gambeson::Compact;
/// use gambeson::mlkem::{DecapsulationKey, MlKem1024};
///
/// // The seed is what to store: 64 bytes for every parameter set.
/// let dk = DecapsulationKey::<MlKem1024>::generate()?;
/// let seed = *dk.seed().expect("it was generated here").expose();
/// let resting = DecapsulationKey::<Compact<MlKem1024>>::from_seed(&seed);
/// assert_eq!(size_of_val(&resting), 96);
///
/// let (c, shared) = dk.encapsulation_key().encapsulate()?;
/// assert_eq!(resting.decapsulate(&c).expose(), shared.expose());
/// # Ok::<(), gambeson::RngError>(())
/// ```
pub struct DecapsulationKey<P: ParameterSet> {
    pub(super) form: P::Private,
}

#[cfg(feature = "alloc")]
/// The form of an encapsulation key that an operation reads.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    Bytes(&'a [u8]),
    /// Â by rows, then t̂; and H(ek).
    Prepared {
        elements: &'a [Ntt],
        h: &'a [u8; 32],
    },
}

/// The input of decapsulation beside ŝ.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub source: Source<'a>,
    /// H(ek), as the key has it.
    pub h: &'a [u8; 32],
    /// The key of the rejection secret.
    pub z: &'a [u8; 32],
}

/// The state of an encapsulation key beside its bytes.
pub trait PublicForm<P: ParameterSet>: Clone + Send + Sync + 'static {
    /// The form of a key that was not used yet.
    const NEW: Self;

    /// The shared secret of `m` for the key `ek`, which is used once, and the ciphertext.
    fn encapsulate_once(
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    );

    /// The shared secret of `m` for the key `ek`, whose form this is, and the ciphertext.
    #[inline(always)]
    fn encapsulate(
        &self,
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        Self::encapsulate_once(ek, m, c, shared);
    }

    /// Makes now what later operations with the key `ek` need.
    fn prepare(&self, _ek: &P::EncapsulationKeyBytes) {}

    /// The form of the key `ek`.
    #[cfg(feature = "alloc")]
    fn source<'a>(&'a self, ek: &'a P::EncapsulationKeyBytes) -> Source<'a> {
        Source::Bytes(ek.as_ref())
    }
}

/// A decapsulation key.
pub trait PrivateForm<P: ParameterSet>: Sized + Send + Sync + 'static {
    /// The key of the seed d ‖ z. The whole key, which is not moved again: a move leaves a copy in the frame.
    fn from_seed<K: Holds<Self>>(seed: &[u8; 64]) -> K;

    /// The key of the seed d ‖ z, and its encapsulation key to `ek`.
    fn from_seed_into<K: Holds<Self>>(seed: &[u8; 64], ek: &mut P::EncapsulationKeyBytes) -> K;

    /// The seed d ‖ z, unless the key was imported without it.
    fn seed(&self) -> Option<&Secret<[u8; 64]>>;

    /// The bytes of the encapsulation key.
    fn encapsulation_key_into(&self, ek: &mut P::EncapsulationKeyBytes);

    /// The encapsulation key, with what is prepared of it.
    fn encapsulation_key(&self) -> EncapsulationKey<P>;

    /// The shared secret that `c` carries.
    fn decapsulate(&self, c: &P::Ciphertext, shared: &mut SharedSecret);
}
