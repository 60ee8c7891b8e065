//! Any bytes as an action: what is read is written and read again as the same.
#![no_main]

use gambeson_identity::action::Action;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(action) = Action::from_json(data) {
        let canonical = action.to_json();
        let again = Action::from_json(&canonical).expect("its own canonical form");
        assert_eq!(again, action);
        assert_eq!(again.to_json(), canonical);
    }
});
