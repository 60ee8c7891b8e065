//! Any line to the vector harness: one line of JSON comes back, and never `internal`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let answer = gambeson_cli::respond(data);
    assert!(answer.starts_with('{') && answer.ends_with('}') && !answer.contains('\n'));
    assert!(!answer.contains("\"error\":\"internal\""), "{answer}");
});
