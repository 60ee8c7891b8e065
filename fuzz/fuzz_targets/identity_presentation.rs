//! Any bytes as a presentation, and as a body of the VC API.
#![no_main]

use gambeson_identity::vc::api::{Api, Form};
use gambeson_identity::vc::{Binding, Presentation, Request, Status, StatusStore};
use gambeson_identity::{Agent, CardStore, MasterSeed, Timestamp};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

static AGENT: OnceLock<Agent> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let (cards, lists, now) = (CardStore::default(), StatusStore::default(), Timestamp(1_795_330_800));
    let status = Status::Required(&lists);
    let agent = AGENT.get_or_init(|| Agent::from_seed(MasterSeed::from_bytes(&[7; 32])));
    let api = Api { agent, resolver: &cards, status, form: Form::Enveloped };
    assert_eq!(api.verify_credential(data, now).0, 400, "nobody signed that");
    assert_eq!(api.verify_presentation(data, now).0, 400, "nobody signed that");
    let Ok(text) = core::str::from_utf8(data) else { return };
    let request = Request { audience: "a", nonce: "n", max_age: 60, binding: Binding::Bearer };
    assert!(Presentation::verify(text, &cards, now, &request, status).is_err(), "nobody signed that");
});
