//! Writes the program that the environment variable `GAMBESON_ROW` asks for, `SET OPERATION PROFILE`: the type of its operation,
//! and its inputs with what must come out, made here by the core. Several operations are joined by `+`.

mod inputs;

use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// The operations, by the names of the rows.
const OPERATIONS: &[(&str, &str)] = &[
    ("ml-kem keygen", "kem::KeyGen"),
    ("ml-kem encaps", "kem::Encaps"),
    ("ml-kem decaps", "kem::Decaps"),
    ("ml-kem decaps-dk", "kem::DecapsEncoded"),
    ("ml-dsa keygen", "dsa::KeyGen"),
    ("ml-dsa sign", "dsa::Sign"),
    ("ml-dsa sign-seed", "dsa::SignSeed"),
    ("ml-dsa verify", "dsa::Verify"),
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

fn image(set: &str, operations: &str, profile: &str) -> Result<String, Box<dyn Error>> {
    let kind = &set[..set.len().min("ml-kem".len())];
    let set = match set {
        "ml-kem-512" => "gambeson::mlkem::MlKem512",
        "ml-kem-768" => "gambeson::mlkem::MlKem768",
        "ml-kem-1024" => "gambeson::mlkem::MlKem1024",
        "ml-dsa-44" => "gambeson::mldsa::MlDsa44",
        "ml-dsa-65" => "gambeson::mldsa::MlDsa65",
        "ml-dsa-87" => "gambeson::mldsa::MlDsa87",
        _ => return Err(format!("no parameter set {set:?}").into()),
    };
    let set = match profile {
        "fast" => set.to_owned(),
        "small" => format!("gambeson::Small<{set}>"),
        _ => return Err(format!("no profile {profile:?}").into()),
    };
    let mut image = None;
    for operation in operations.split('+') {
        let name = format!("{kind} {operation}");
        let (_, operation) =
            OPERATIONS.iter().find(|(known, _)| *known == name).ok_or(format!("no operation {name:?}"))?;
        let operation = format!("crate::{operation}<{set}>");
        image = Some(match image {
            Some(before) => format!("crate::Both<{before}, {operation}>"),
            None => operation,
        });
    }
    Ok(image.ok_or("no operation")?)
}

/// As many as each of the operations has.
fn inputs_of(set: &str, operations: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let of_each = operations.split('+').map(|operation| inputs_of_one(set, operation));
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
        _ => Err(format!("no parameter set {set:?}").into()),
    }
}
