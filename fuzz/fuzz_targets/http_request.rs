//! Any bytes of a client to the servers of HTTP: one answer of HTTP/1, or none, and never a panic or a wait.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let written = gambeson_cli::http_request(data);
    assert!(written.is_empty() || written.starts_with(b"HTTP/1."));
});
