//! Documents of `did:web`, fetched over HTTPS when that is asked for.

use super::addresses::Addresses;
use crate::error::Error;
use gambeson_identity::{Error as Refusal, Fetch, Reason, Result};
use std::time::Duration;

/// How long one document may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Fetches without following anybody: TLS with the roots of Mozilla, no redirect, no proxy, public addresses alone, a bounded answer.
pub(super) struct Https(ureq::Agent);

impl Https {
    pub(super) fn new() -> std::result::Result<Self, Error> {
        let tls = ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(provider()?).build();
        let config = ureq::Agent::config_builder()
            .https_only(true)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .user_agent(concat!("gambeson/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build();
        let connector = ureq::unversioned::transport::DefaultConnector::default();
        Ok(Self(ureq::Agent::with_parts(config, connector, Addresses::of_environment())))
    }
}

impl Fetch for Https {
    fn get(&self, address: &str, max_len: usize) -> Result<Vec<u8>> {
        let refused = |why: &dyn std::fmt::Display| {
            Refusal::new(Reason::UnknownDid, format_args!("{address} was not fetched: {why}"))
        };
        let mut response = self.0.get(address).call().map_err(|e| refused(&e))?;
        if response.status() != 200 {
            // A redirect is among these: whoever can answer for the host can answer at the address itself.
            return Err(refused(&format_args!("status {}", response.status())));
        }
        let body = response.body_mut().with_config().limit(max_len as u64);
        body.read_to_vec().map_err(|e| refused(&e))
    }
}

/// Cryptography in Rust and assembly that needs no C compiler; with X25519MLKEM768 in the handshake.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn provider() -> std::result::Result<std::sync::Arc<rustls::crypto::CryptoProvider>, Error> {
    #[cfg(target_arch = "x86_64")]
    let able = std::arch::is_x86_feature_detected!("aes")
        && std::arch::is_x86_feature_detected!("pclmulqdq")
        && std::arch::is_x86_feature_detected!("ssse3")
        && std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("adx");
    #[cfg(target_arch = "aarch64")]
    let able = std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull")
        && std::arch::is_aarch64_feature_detected!("sha2");
    match able {
        true => Ok(std::sync::Arc::new(rustls_graviola::default_provider())),
        false => Err(Error::usage("--web: this processor lacks instructions that TLS uses here")),
    }
}

/// Elsewhere there is no TLS without a C compiler.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn provider() -> std::result::Result<std::sync::Arc<rustls::crypto::CryptoProvider>, Error> {
    Err(Error::usage("--web: there is no TLS in this program on this architecture"))
}
