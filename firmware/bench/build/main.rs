//! Writes the program that the environment variable `GAMBESON_ROW` asks for, `SET OPERATION PROFILE`: the type of its operation,
//! and its inputs with what must come out, made here by the core, or by the crates that stand beside ours. Several operations are joined
//! by `+`.

#[cfg(feature = "classical")]
mod classical;
mod hashes;
mod inputs;

use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// Parameter sets, by the names of the rows.
const SETS: &[(&str, &str)] = &[
    ("ml-kem-512", "gambeson::mlkem::MlKem512"),
    ("ml-kem-768", "gambeson::mlkem::MlKem768"),
    ("ml-kem-1024", "gambeson::mlkem::MlKem1024"),
    ("ml-dsa-44", "gambeson::mldsa::MlDsa44"),
    ("ml-dsa-65", "gambeson::mldsa::MlDsa65"),
    ("ml-dsa-87", "gambeson::mldsa::MlDsa87"),
];

/// The operations, with the beginning of the name of what has them.
const OPERATIONS: &[(&str, &str, &str)] = &[
    ("ml-kem", "keygen", "kem::KeyGen"),
    ("ml-kem", "encaps", "kem::Encaps"),
    ("ml-kem", "encaps-prepared", "kem::EncapsPrepared"),
    ("ml-kem", "decaps", "kem::Decaps"),
    ("ml-kem", "decaps-dk", "kem::DecapsEncoded"),
    ("ml-kem", "decaps-prepared", "kem::DecapsPrepared"),
    ("ml-dsa", "keygen", "dsa::KeyGen"),
    ("ml-dsa", "sign", "dsa::Sign"),
    ("ml-dsa", "sign-seed", "dsa::SignSeed"),
    ("ml-dsa", "sign-prepared", "dsa::SignPrepared"),
    ("ml-dsa", "verify", "dsa::Verify"),
    ("ml-dsa", "verify-prepared", "dsa::VerifyPrepared"),
    ("keccak-f[1600]", "permute", "keccak::Permute"),
    ("lms-sha256-h10-w8", "verify", "hashes::Verify<crate::hashes::LmsH10W8>"),
    ("lms-sha256-h10-w4", "verify", "hashes::Verify<crate::hashes::LmsH10W4>"),
    ("lms-shake-h10-w8", "verify", "hashes::Verify<crate::hashes::LmsShakeH10W8>"),
    ("xmss-sha2_10_256", "verify", "hashes::Verify<crate::hashes::XmssSha2H10>"),
    ("slh-dsa-sha2-128s", "verify", "hashes::Verify<crate::hashes::SlhSha2128s>"),
    ("sha-256", "digest", "hashes::Digest256"),
    ("p-256", "keygen", "classical::P256KeyGen"),
    ("p-256", "agree", "classical::P256Agree"),
    ("p-256", "sign", "classical::P256Sign"),
    ("p-256", "verify", "classical::P256Verify"),
    ("x25519", "keygen", "classical::X25519KeyGen"),
    ("x25519", "agree", "classical::X25519Agree"),
    ("rsa-2048", "sign", "classical::RsaSign"),
    ("rsa-2048", "verify", "classical::RsaVerify"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=GAMBESON_ROW");
    println!("cargo:rerun-if-changed=build");
    let row = env::var("GAMBESON_ROW").unwrap_or_else(|_| "nothing".into());
    let (image, inputs) = match row.split(' ').collect::<Vec<_>>()[..] {
        ["nothing"] => (String::from("crate::nothing::Nothing"), vec![vec![0; 64]]),
        [set, operation, profile] => (image(set, operation, profile)?, inputs_of(set, operation)?),
        _ => return Err(format!("{row:?} is not SET OPERATION PROFILE").into()),
    };
    let folder = env::var("OUT_DIR")?;
    let folder = Path::new(&folder);
    let length = inputs.first().ok_or("no input")?.len();
    fs::write(folder.join("inputs"), inputs.concat())?;
    fs::write(
        folder.join("row.rs"),
        format!(
            "pub type Row = {image};\n\
             #[unsafe(link_section = \".inputs\")]\n\
             // SAFETY: an array of arrays of bytes has the bytes of the file, in its length.\n\
             pub static INPUTS: [[u8; {length}]; {}] = unsafe {{ \
             core::mem::transmute(*include_bytes!(concat!(env!(\"OUT_DIR\"), \"/inputs\"))) }};\n",
            inputs.len()
        ),
    )?;
    Ok(())
}

/// The operations of each of `sets`, which are joined by `+` as the operations of one are; those of several sets by `,`.
fn each<'a>(sets: &'a str, operations: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let of_sets = sets.split('+').zip(operations.split(','));
    of_sets.flat_map(|(set, operations)| operations.split('+').map(move |operation| (set, operation)))
}

fn image(sets: &str, operations: &str, profile: &str) -> Result<String, Box<dyn Error>> {
    let mut image = None;
    for (set, operation) in each(sets, operations) {
        let of = |(of, name, _): &&(&str, &str, &str)| set.starts_with(of) && *name == operation;
        let (.., name) = OPERATIONS.iter().find(of).ok_or(format!("no operation {set} {operation}"))?;
        let operation = match (SETS.iter().find(|(name, _)| *name == set), profile) {
            (Some((_, set)), "small") => format!("crate::{name}<gambeson::Small<{set}>>"),
            (Some((_, set)), "fast") if operation.ends_with("-prepared") => format!("crate::{name}<{set}>"),
            (Some((_, set)), "fast") => format!("crate::{name}<gambeson::Compact<{set}>>"),
            (Some((_, set)), "workspace") => {
                format!("crate::workspace::In<crate::{name}<gambeson::Small<{set}>>>")
            }
            (None, "small" | "fast") => format!("crate::{name}"),
            _ => return Err(format!("no profile {profile:?}").into()),
        };
        image = Some(match image {
            Some(before) => format!("crate::Both<{before}, {operation}>"),
            None => operation,
        });
    }
    Ok(image.ok_or("no operation")?)
}

/// As many as each of the operations has.
fn inputs_of(sets: &str, operations: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let of_each = each(sets, operations).map(|(set, operation)| inputs_of_one(set, operation));
    let of_each = of_each.collect::<Result<Vec<_>, _>>()?;
    let joined = |one: Vec<Vec<u8>>, other: Vec<Vec<u8>>| {
        one.into_iter().zip(other).map(|(one, other)| [one, other].concat()).collect()
    };
    of_each.into_iter().reduce(joined).ok_or_else(|| "no operation".into())
}

fn inputs_of_one(set: &str, operation: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    match set {
        "ml-kem-512" => Ok(inputs::of_kem::<MlKem512>(operation)),
        "ml-kem-768" => Ok(inputs::of_kem::<MlKem768>(operation)),
        "ml-kem-1024" => Ok(inputs::of_kem::<MlKem1024>(operation)),
        "ml-dsa-44" => Ok(inputs::of_dsa::<MlDsa44>(operation)),
        "ml-dsa-65" => Ok(inputs::of_dsa::<MlDsa65>(operation)),
        "ml-dsa-87" => Ok(inputs::of_dsa::<MlDsa87>(operation)),
        "keccak-f[1600]" => Ok(inputs::of_keccak()),
        name if ["lms-", "xmss-", "slh-dsa-"].iter().any(|start| name.starts_with(start)) => {
            hashes::of_file(name)
        }
        "sha-256" => Ok(hashes::of_sha_256()),
        #[cfg(feature = "classical")]
        "p-256" | "x25519" | "rsa-2048" => classical::of(set, operation),
        _ => Err(format!("no {set:?}").into()),
    }
}
