//! Armor: any text is read without panic, and what is armored is read back.
#![no_main]

use gambeson_age::armor::{ArmorReader, ArmorWriter};
use libfuzzer_sys::fuzz_target;
use std::io::{Read, Write};

fuzz_target!(|data: &[u8]| {
    let mut bytes = Vec::new();
    if ArmorReader::new(data).read_to_end(&mut bytes).is_ok() {
        assert!(bytes.len() < data.len(), "text is longer than what it holds");
    }
    let mut writer = ArmorWriter::new(Vec::new());
    writer.write_all(data).expect("memory can be written to");
    let text = writer.finish().expect("memory can be written to");
    bytes.clear();
    ArmorReader::new(&text[..]).read_to_end(&mut bytes).expect("our own armor is read");
    assert_eq!(bytes, data);
});
