//! The inputs of hash-based signatures: files, because a build script that is not optimised takes minutes to sign. A test of the package
//! `gambeson-firmware-update` makes them again.

use super::inputs::Stream;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fs;

/// Key, message of 32 bytes and signature, twice.
pub fn of_file(name: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let file = format!("signatures/{name}");
    println!("cargo:rerun-if-changed={file}");
    let all = fs::read(file)?;
    Ok(all.chunks(all.len() / 2).map(<[u8]>::to_vec).collect())
}

/// Ten messages and their digests.
pub fn of_sha_256() -> Vec<Vec<u8>> {
    let of_message = |number| {
        let message: [u8; 64] = Stream::new(number).array();
        [&message[..], &Sha256::digest(message)].concat()
    };
    (0..10).map(of_message).collect()
}
