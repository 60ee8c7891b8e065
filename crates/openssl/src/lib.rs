#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `table` | the algorithms: names, numbers, object identifiers, and since when OpenSSL has them itself |
//! | `key` | keys of all algorithms, and what can be done with them; it knows nothing of OpenSSL |
//! | `keymgmt`, `kem`, `signature`, `encoder`, `decoder` | OpenSSL's operations, over `key` |
//! | `provider`, `core` | the provider itself; what OpenSSL offers to it |
//! | `error` | what can go wrong, in OpenSSL's error queue |
//! | `abi`, `params`, `border` | the layouts of C; values by name; objects behind pointers, and where panics stop |
//! | `stack` | room for the work, where a caller has little |

mod abi;
mod border;
mod core;
mod decoder;
mod encoder;
mod error;
mod kem;
mod key;
mod keymgmt;
mod params;
mod provider;
mod signature;
mod stack;
mod table;

pub use provider::OSSL_provider_init;
