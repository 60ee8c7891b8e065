//! Any object as the parameters of a request and as a result: nobody signed that.
#![no_main]

use gambeson_identity::{
    CardStore, MemoryReplayCache, Timestamp,
    action::{Action, Expectations},
    json, mcp,
};
use libfuzzer_sys::fuzz_target;

const ACTION: &str = r#"{"arguments":{},"aud":"a","exp":2,"iat":1,"method":"m","name":"","nonce":"AAAAAAAAAAAAAAAAAAAAAA","v":1}"#;

fuzz_target!(|data: &[u8]| {
    let Ok(object) = json::parse_object(data, 1 << 16) else { return };
    let (known, now) = (CardStore::default(), Timestamp(1));
    let mut replay = MemoryReplayCache::new(1);
    for method in ["tools/call", "resources/read"] {
        let _ = mcp::call(method, &object);
        assert!(mcp::verify(method, &object, &Expectations::new("a"), &known, now, &mut replay).is_err());
    }
    let action = Action::from_json(ACTION.as_bytes()).expect("an action");
    let server = "did:web:a.example".parse().expect("a DID");
    assert!(mcp::verify_receipt(&object, &action, &server, &known, now).is_err());
});
