//! rustls over AWS-LC, as it comes; the cipher suite is the one that ours takes first.

use gambeson_cli::tls_bench::{Chain, Failure, Handshake, Stack, Subject, rustls};
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::crypto::aws_lc_rs::{default_provider, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};

pub const STACK: Stack = Stack { name: "rustls, aws-lc-rs", handshake };

fn handshake(subject: &Subject, chain: &Chain, verify: bool) -> Result<Option<Handshake>, Failure> {
    let default = default_provider();
    let kx_groups: Vec<&'static dyn SupportedKxGroup> = match subject.name {
        "default" => default.kx_groups.clone(),
        "ecdsa-x25519" => vec![kx_group::X25519],
        "mldsa65-x25519mlkem768" => vec![kx_group::X25519MLKEM768],
        // It has neither X448 nor Ed448.
        _ => return Ok(None),
    };
    let provider = CryptoProvider { kx_groups, cipher_suites: vec![TLS13_AES_128_GCM_SHA256], ..default };
    rustls(provider, chain, verify).map(Some)
}
