//! Links without the C library, and writes the keys, ciphertexts and signatures that the operations take and must make: by the plain
//! parameter sets, whose schedule is another.

use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, SigningKey};
use gambeson::mlkem::{self, DecapsulationKey, MlKem512, MlKem768, MlKem1024};
use std::path::PathBuf;
use std::{env, fs, io};

include!("src/inputs.rs");

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=src/inputs.rs");
    for argument in ["-nostartfiles", "-nostdlib", "-static", "-no-pie"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    kem::<MlKem512>()?;
    kem::<MlKem768>()?;
    kem::<MlKem1024>()?;
    signature::<MlDsa44>()?;
    signature::<MlDsa65>()?;
    signature::<MlDsa87>()
}

fn kem<P: mlkem::ParameterSet>() -> io::Result<()> {
    let ek = DecapsulationKey::<P>::from_seed(&KEM_SEED).encapsulation_key();
    let (c, shared) = ek.encapsulate_deterministic(&M);
    write(P::NAME, "ek", ek.as_bytes().as_ref())?;
    write(P::NAME, "c", c.as_ref())?;
    write(P::NAME, "shared", shared.expose())
}

fn signature<P: mldsa::ParameterSet>() -> io::Result<()> {
    let key = SigningKey::<P>::from_seed(&DSA_SEED);
    write(P::NAME, "vk", key.verifying_key().as_bytes().as_ref())?;
    write(P::NAME, "signature", key.sign_with_rnd(&RND, MESSAGE).as_ref())
}

fn write(set: &str, what: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    fs::write(folder.join(format!("{set}.{what}")), bytes)
}
