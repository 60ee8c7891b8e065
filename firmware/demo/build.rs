//! The maker of the firmware: signs two images by ML-DSA and one by LMS, and gives the device the public keys.

use gambeson::lms::{self, LmotsType, LmsType};
use gambeson::mldsa::SigningKey;
use gambeson::stateful::hazmat::MemoryStore;
use gambeson::stateful::{Signer, TreeOptions};
use gambeson_firmware_update::{header, image_length, sign};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = env::var("OUT_DIR")?;
    let folder = Path::new(&folder);
    // Of a demonstration: a maker's seed is random and stays where nobody reads it.
    let key = SigningKey::from_seed(b"the seed of a demonstration only");
    for (name, version) in [("new", 8), ("old", 6)] {
        let program = format!("version {version} of a program");
        let mut image = vec![0; image_length(program.len())];
        sign(&key, version, program.as_bytes(), &mut image)?;
        fs::write(folder.join(name), image)?;
    }
    fs::write(folder.join("key"), key.verifying_key().as_bytes())?;

    // Of a demonstration: a maker's store of leaves is durable.
    let (tree, one_time) = (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W4);
    let key = lms::SigningKey::from_seed(tree, one_time, &[1; 16], &[2; 32], TreeOptions::new())?;
    fs::write(folder.join("lms-key"), key.verifying_key().to_bytes())?;
    let program = b"version 9 of a program";
    let mut image = [&header(9, program.len() as u32)[..], program].concat();
    let mut signer = Signer::new(key, MemoryStore::new(0));
    let index = signer.reserve_one().map_err(|error| format!("{error:?}"))?;
    let signature = signer.sign(index, &image).map_err(|error| format!("{error:?}"))?;
    image.extend(signature);
    fs::write(folder.join("lms-new"), image)?;
    Ok(())
}
