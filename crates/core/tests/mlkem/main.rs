//! ML-KEM against published vectors, accumulated digests, independent implementations, and itself.

mod accumulated;
// Peers take minutes to build; the gate for aarch64 leaves them out.
#[cfg(not(gambeson_without_peers))]
mod differential;
mod properties;
mod wycheproof;
