//! One member of GZIP (RFC 1952), unpacked. The inflating is `flate2`'s; around it, instead of its own reader, is what that reader
//! would do with a table of 16 KiB for CRC-32, which in WebAssembly is a twentieth of all of this crate.

use crate::fields::Fields;
use crc::{CRC_32_ISO_HDLC, Crc, Table};
use flate2::bufread::DeflateDecoder;
use std::io::Read;

const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
// The bits of FLG (§2.3.1); the first, FTEXT, changes nothing.
const HEADER_CRC: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b111 << 5;

static CRC32: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// What a member holds, and what follows it; `None` if it is not one, or was changed. Of more than `most` bytes the first `most + 1`
/// come back, unchecked, for the caller to refuse.
pub(crate) fn unpack(packed: &[u8], most: usize) -> Option<(Vec<u8>, &[u8])> {
    let mut reader = DeflateDecoder::new(&packed[header_len(packed)?..]);
    let mut bytes = Vec::new();
    (&mut reader).take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    let mut rest = Fields(reader.into_inner());
    if bytes.len() > most {
        return Some((bytes, rest.0));
    }
    let (crc, len) = (u32::from_le_bytes(rest.array()?), u32::from_le_bytes(rest.array()?));
    // ISIZE is the length modulo 2^32.
    (crc == CRC32.checksum(&bytes) && len == bytes.len() as u32).then_some((bytes, rest.0))
}

fn header_len(packed: &[u8]) -> Option<usize> {
    let mut fields = Fields(packed);
    let magic: [u8; 3] = fields.array()?;
    let [flags] = fields.array()?;
    if magic != MAGIC || flags & RESERVED != 0 {
        return None;
    }
    fields.take(6)?; // MTIME, XFL, OS
    if flags & EXTRA != 0 {
        let len = u16::from_le_bytes(fields.array()?);
        fields.take(len.into())?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let end = fields.0.iter().position(|byte| *byte == 0)?;
            fields.take(end + 1)?;
        }
    }
    if flags & HEADER_CRC != 0 {
        let crc = CRC32.checksum(&packed[..packed.len() - fields.0.len()]) as u16; // its lower half
        if u16::from_le_bytes(fields.array()?) != crc {
            return None;
        }
    }
    Some(packed.len() - fields.0.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, GzBuilder};
    use std::io::Write;

    const TEXT: &[u8] = b"what is packed, what is packed, what is packed";

    fn packed(builder: GzBuilder) -> Vec<u8> {
        let mut writer = builder.write(Vec::new(), Compression::best());
        writer.write_all(TEXT).unwrap();
        writer.finish().unwrap()
    }

    fn full() -> Vec<u8> {
        packed(GzBuilder::new().extra(&b"extra"[..]).filename("name").comment("comment").mtime(7))
    }

    #[test]
    fn every_optional_field_is_passed_over() {
        for builder in [
            GzBuilder::new(),
            GzBuilder::new().extra(&b"extra"[..]),
            GzBuilder::new().filename("name"),
            GzBuilder::new().comment("comment"),
        ] {
            assert_eq!(unpack(&packed(builder), 100), Some((TEXT.to_vec(), &[][..])));
        }
        assert_eq!(unpack(&full(), 100), Some((TEXT.to_vec(), &[][..])));
    }

    #[test]
    fn the_header_has_a_checksum_of_its_own() {
        let whole = full();
        let len = header_len(&whole).unwrap();
        let mut header = whole[..len].to_vec();
        header[3] |= HEADER_CRC;
        let crc = (CRC32.checksum(&header) as u16).to_le_bytes();
        let member = |crc: [u8; 2]| [&header[..], &crc, &whole[len..]].concat();
        assert_eq!(unpack(&member(crc), 100), Some((TEXT.to_vec(), &[][..])));
        assert_eq!(unpack(&member([crc[0] ^ 1, crc[1]]), 100), None);
    }

    #[test]
    fn what_was_cut_or_changed_is_refused() {
        let whole = packed(GzBuilder::new());
        for len in 0..whole.len() {
            assert_eq!(unpack(&whole[..len], 100), None, "{len} bytes of {}", whole.len());
        }
        // Identification, method, a reserved flag; CRC-32 and length at the end.
        for (at, bit) in [(0, 1), (1, 1), (2, 1), (3, 0x20), (whole.len() - 8, 1), (whole.len() - 4, 1)] {
            let mut changed = whole.clone();
            changed[at] ^= bit;
            assert_eq!(unpack(&changed, 100), None, "byte {at}");
        }
    }

    #[test]
    fn what_follows_is_shown_and_what_is_too_long_cut() {
        let mut whole = packed(GzBuilder::new());
        whole.extend_from_slice(b"more");
        assert_eq!(unpack(&whole, TEXT.len()), Some((TEXT.to_vec(), &b"more"[..])));
        assert_eq!(unpack(&whole, 10).unwrap().0, &TEXT[..11]);
    }
}
