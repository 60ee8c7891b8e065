//! Frames of channels: any bytes are read without panic, and what is read is written as it was.
#![no_main]

use gambeson_slim::Frame;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let bytes = data.to_vec().into();
    if let Ok(frame) = Frame::parse(&bytes) {
        assert_eq!(frame.to_bytes().expect("it was as long as a frame may be"), bytes);
    }
});
