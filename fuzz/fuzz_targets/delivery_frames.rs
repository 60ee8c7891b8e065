//! Frames for and from a delivery service, from anyone on the link: what is read is written as it was, and never panics.
#![no_main]

use gambeson_slim::delivery::frame::{Call, Reply};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let frame = data.to_vec().into();
    let call = Call::decode(&frame);
    if let Ok(call) = &call {
        assert_eq!(call.encode(), frame);
        assert_eq!(Call::origin(&frame), Some((call.id, call.caller)));
    }
    if let Ok(reply) = Reply::decode(&frame) {
        assert!(call.is_err(), "one frame, two meanings");
        assert_eq!(reply.encode(), frame);
    }
});
