//! Nothing but dependencies: `Cargo.toml` says what for.
