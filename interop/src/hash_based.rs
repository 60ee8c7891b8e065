//! Hash-based signatures with Bouncy Castle, with the raw keys of the standards: SLH-DSA, HSS, XMSS and XMSS^MT, both ways.

mod lms;
mod slh_dsa;
mod xmss;

use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;

use crate::bouncy_castle::BouncyCastle;

const MESSAGE: &[u8] = b"quilted linen";
const ANOTHER_MESSAGE: &[u8] = b"quilted wool";

/// Returns the tests with Bouncy Castle.
#[must_use]
pub fn trials(peer: &Arc<BouncyCastle>, scratch: &Path) -> Vec<Trial> {
    [slh_dsa::trials(peer), lms::trials(peer), xmss::trials(peer, scratch)].into_iter().flatten().collect()
}
