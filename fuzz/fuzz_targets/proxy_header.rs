//! Any bytes to the reader of PROXY protocol headers: an answer, or a reason why not, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(reason) = gambeson_cli::proxy_header(data) {
        assert!(!reason.is_empty());
    }
});
