//! ML-KEM against published vectors, accumulated digests, and itself.

mod accumulated;
mod properties;
mod wycheproof;
