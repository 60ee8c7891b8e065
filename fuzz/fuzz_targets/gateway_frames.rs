//! Frames of a gateway's client, from any program of the machine: what is read holds to the limits of the protocol, and nothing panics.
#![no_main]

use gambeson_slim::gateway::{Do, FromClient, MAX_CLIENT_FRAME};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let Ok(frame) = FromClient::parse(data) else { return };
    assert!(data.len() <= MAX_CLIENT_FRAME);
    match frame {
        FromClient::Call(call) => {
            assert!(call.id < 1 << 53 && call.settled < 1 << 53);
            let open = call.open.unwrap_or_default();
            assert!(open.len() < 64 && open.is_sorted() && open.iter().all(|id| *id < 1 << 53));
            match call.what {
                Do::Invite(whom) | Do::Remove(whom) => assert!((1..=1_000).contains(&whom.dids.len())),
                Do::Send(send) => assert!(send.bytes.len() < data.len()),
                _ => {}
            }
        }
        FromClient::Receive(receive) => assert!(receive.after.is_none_or(|after| after < 1 << 53)),
        _ => {}
    }
});
