//! The maker of the firmware: signs two images, and gives the device the public key.

use gambeson::mldsa::SigningKey;
use gambeson_firmware_update::{image_length, sign};
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
    Ok(())
}
