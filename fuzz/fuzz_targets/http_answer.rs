//! Any bytes of a server to the client of HTTP: a body within the limit, or the kind of failure, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

const MAX_LEN: usize = 1 << 12;

fuzz_target!(|data: &[u8]| {
    if let Ok(body) = gambeson_cli::http_answer(data, MAX_LEN as u64) {
        assert!(body.len() <= MAX_LEN && body.len() <= data.len());
    }
});
