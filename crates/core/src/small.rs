//! The schedule for the least memory.

use core::marker::PhantomData;

/// A parameter set, worked in the order that takes the least stack: `DecapsulationKey<Small<MlKem768>>`.
///
/// The plain parameter set is worked in the order that takes the least time. Keys, ciphertexts and signatures are the same
/// bytes; one type or the other names its schedule, so that a program holds the code of those that it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Small<P>(PhantomData<P>);
