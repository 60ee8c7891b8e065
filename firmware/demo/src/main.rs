//! A device that runs version 7 of its firmware: it agrees on a key with a server, accepts an update that ML-DSA signed and one that LMS signed, and
//! refuses either with a flipped bit and one that is older than what runs.

#![no_std]
#![no_main]

use core::fmt::Write;
use core::panic::PanicInfo;
use gambeson::Small;
use gambeson::lms::{self, LmotsType, LmsType};
use gambeson::mldsa::VerifyingKey;
use gambeson::mlkem::{DecapsulationKey, EncapsulationKeyRef, MlKem768, SharedSecret};
use gambeson_firmware::{Console, entry, exit};
use gambeson_firmware_update::{PublicKey, Refusal, Update};

const INSTALLED: u32 = 7;

const MAKER: &[u8; 1952] = include_bytes!(concat!(env!("OUT_DIR"), "/key"));
const NEW: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/new"));
const LMS_MAKER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lms-key"));
const LMS_NEW: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lms-new"));
const OLD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/old"));

/// The schedule with the least stack, on the device.
type Set = Small<MlKem768>;

/// Tells what it does, and ends well only if all went as it should.
#[entry]
fn main() -> ! {
    let agreed = agrees();
    let updated = accepts() & accepts_lms() & refuses_a_flipped_bit() & refuses_an_older_version();
    exit(agreed && updated)
}

/// The device sends its encapsulation key, and finds the server's secret in the answer.
fn agrees() -> bool {
    // Of a demonstration: QEMU's machines have no generator. A board asks its own for these bytes.
    let (seed, m) = ([1; 64], [2; 32]);
    let mut sent = [0; 1184];
    let device = DecapsulationKey::<Set>::from_seed_into(&seed, &mut sent);

    let (mut answer, mut of_server) = ([0; 1088], SharedSecret::new([0; 32]));
    let Ok(received) = EncapsulationKeyRef::<Set>::from_ref(&sent) else { return false };
    received.encapsulate_deterministic_into(&m, &mut answer, &mut of_server);

    let mut of_device = SharedSecret::new([0; 32]);
    device.decapsulate_into(&answer, &mut of_device);
    let same = gambeson::secret::equal(of_device.expose(), of_server.expose());
    say("agreed on a key", same)
}

fn accepts() -> bool {
    match Update::verified(NEW, PublicKey::MlDsa65(&VerifyingKey::from_bytes(MAKER)), INSTALLED) {
        Ok(Update { version: 8, program: b"version 8 of a program" }) => say("accepted version 8", true),
        _ => say("version 8 should be accepted", false),
    }
}

/// The key and the types are the device's: an image does not choose them.
fn accepts_lms() -> bool {
    let Ok(key) = lms::VerifyingKey::of_types(LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W4, LMS_MAKER)
    else {
        return say("the key of LMS should be one", false);
    };
    let key = PublicKey::Lms(&key);
    let accepted = match Update::verified(LMS_NEW, key, INSTALLED) {
        Ok(Update { version: 9, program: b"version 9 of a program" }) => {
            say("accepted version 9 by LMS", true)
        }
        _ => say("version 9 should be accepted", false),
    };
    let mut image = [0; 4096];
    let image = flipped(LMS_NEW, &mut image);
    accepted & refuses("refused a flipped bit by LMS", image, key, Refusal::Signature)
}

fn refuses_a_flipped_bit() -> bool {
    let mut image = [0; 4096];
    let image = flipped(NEW, &mut image);
    let key = VerifyingKey::from_bytes(MAKER);
    refuses("refused a flipped bit", image, PublicKey::MlDsa65(&key), Refusal::Signature)
}

fn flipped<'b>(image: &[u8], buffer: &'b mut [u8; 4096]) -> &'b [u8] {
    let buffer = &mut buffer[..image.len()];
    buffer.copy_from_slice(image);
    buffer[20] ^= 1;
    buffer
}

fn refuses_an_older_version() -> bool {
    let key = VerifyingKey::from_bytes(MAKER);
    let refusal = Refusal::NotNewer { offered: 6, installed: INSTALLED };
    refuses("refused version 6", OLD, PublicKey::MlDsa65(&key), refusal)
}

fn refuses(what: &str, image: &[u8], key: PublicKey<'_>, expected: Refusal) -> bool {
    let refusal = Update::verified(image, key, INSTALLED).err();
    if let Some(refusal) = refusal {
        // The console writes all that it is given.
        _ = writeln!(Console, "{refusal}");
    }
    say(what, refusal == Some(expected))
}

fn say(what: &str, well: bool) -> bool {
    // As above.
    _ = writeln!(Console, "{}: {what}", if well { "ok" } else { "NOT SO" });
    well
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // As above.
    _ = writeln!(Console, "{info}");
    exit(false)
}
