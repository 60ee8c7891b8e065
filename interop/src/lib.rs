//! Real peers over real files: see README.md.
//!
//! # Layout
//!
//! | module | peer |
//! | --- | --- |
//! | [`age`] | stock `age`, with our library and with our program |
//! | [`bogo`] | BoringSSL's test runner, with rustls between us |
//! | [`cctv`] | the age test vectors |
//! | [`proxy`] | the A2A SDK for Python, client and agent, through `gambeson tls proxy` |
//! | [`python`] | Python's `cryptography` |
//! | [`aws_lc`] | AWS-LC |
//! | [`bouncy_castle`] | Bouncy Castle for Java: keys, chains, PKCS#12, of composites too |
//! | [`hash_based`] | Bouncy Castle: SLH-DSA, HSS, XMSS and XMSS^MT with raw keys |
//! | [`composite`] | composite signatures that must not hold, put to Bouncy Castle and to us |
//! | [`mls_rs`] | mls-rs with its own provider over AWS-LC: groups with members of both providers |
//! | [`hpke_pq`] | a provider for OpenMLS with the KEMs and the derivation of draft-ietf-hpke-pq |
//! | [`openmls`] | OpenMLS: groups with members of both libraries |
//! | [`openssl`] | the program `openssl` of the machine: classical certificates |
//! | [`x509`] | chains that the peers verify, and how theirs are judged |
//! | [`forged`] | ourselves: composite signatures that must not hold, inside TLS |
//! | [`legacy`] | kinds of age identity that only the test vectors need |
//! | [`node`] | OpenSSL 3.5 inside Node: keys, signatures and certificates of SLH-DSA |
//! | [`sockets`] | Go, Node, OpenSSL, Python, Bouncy Castle, tlslite-ng and Chromium over TLS; OpenSSL 4 and wolfSSL |
//! | [`stateful`] | Bouncy Castle: signatures and certificates of HSS, XMSS and XMSS^MT |
//! | [`tls`] | rustls over AWS-LC |
//! | [`tools`] | finding, building and running the peers |

pub mod age;
pub mod aws_lc;
pub mod bogo;
pub mod bouncy_castle;
pub mod cctv;
pub mod composite;
pub mod forged;
pub mod hash_based;
pub mod hpke_pq;
pub mod legacy;
pub mod mls_rs;
pub mod node;
pub mod openmls;
pub mod openssl;
pub mod proxy;
pub mod python;
mod running;
pub mod sockets;
pub mod stateful;
pub mod tls;
pub mod tools;
pub mod x509;

/// All tests, or those with [heavy peers](sockets::heavy) where these are asked for. The peers are built below `scratch`, and
/// `bogo_shim` is the program of that name.
#[must_use]
pub fn trials(scratch: &std::path::Path, bogo_shim: &std::path::Path) -> Vec<libtest_mimic::Trial> {
    if let Some(heavy) = sockets::heavy::trials() {
        return heavy;
    }
    [
        age::trials(scratch),
        cctv::trials(scratch),
        proxy::trials(scratch),
        python::trials(scratch),
        aws_lc::trials(),
        tls::trials(),
        forged::trials(),
        sockets::trials(scratch),
        openssl::trials(scratch),
        node::trials(scratch),
        openmls::trials(),
        mls_rs::trials(),
        bogo::trials(scratch, bogo_shim),
        bouncy_castle::trials(scratch),
    ]
    .into_iter()
    .flatten()
    .collect()
}
