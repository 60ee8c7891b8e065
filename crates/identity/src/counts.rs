//! Counts of costly operations of this thread, for tests: a message that is refused by a cheap check causes none.

use core::cell::Cell;

/// Operations since [`take`] was called last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Hashes of the content of a message.
    pub(crate) hashes: usize,
    /// Signatures that were verified.
    pub(crate) verifications: usize,
    /// Values of components that were computed.
    pub(crate) values: usize,
    /// Fields and queries that were parsed.
    pub(crate) parses: usize,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { hashes: 0, verifications: 0, values: 0, parses: 0 }) };
}

/// Counts an operation.
pub(crate) fn add(one: impl FnOnce(&mut Counts)) {
    COUNTS.with(|counts| {
        let mut all = counts.get();
        one(&mut all);
        counts.set(all);
    });
}

/// Returns the counts and sets them to zero.
pub(crate) fn take() -> Counts {
    COUNTS.with(Cell::take)
}
