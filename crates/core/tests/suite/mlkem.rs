//! ML-KEM against published vectors, accumulated digests, and itself.

mod accumulated;
mod properties;
mod wycheproof;

#[test]
fn every_wycheproof_case_has_its_published_result() {
    wycheproof::run_all();
}
