//! Entries of the log and blobs, before MLS sees anything of them, and what stands beside it, from strangers and from members that keep no rules.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    gambeson_slim::fuzzing::content(&data.to_vec().into());
    gambeson_slim::fuzzing::beside_mls(data);
    let work = std::pin::pin!(gambeson_slim::fuzzing::sealed(data));
    // Blobs in memory answer at once.
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(work.poll(&mut context).is_ready());
});
