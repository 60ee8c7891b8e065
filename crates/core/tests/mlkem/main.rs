//! ML-KEM against published vectors, accumulated digests, independent implementations, and itself.

mod accumulated;
mod differential;
mod properties;
mod wycheproof;
