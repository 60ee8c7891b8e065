//! Hash-based signatures with Bouncy Castle: SLH-DSA and HSS, both ways; SLH-DSA with the OpenSSL 3.5 inside Node, too.

mod lms;
mod node;
mod slh_dsa;

use std::sync::Arc;

use libtest_mimic::Trial;

use crate::bouncy_castle::BouncyCastle;
pub use node::trials as trials_with_openssl;

const MESSAGE: &[u8] = b"quilted linen";
const ANOTHER_MESSAGE: &[u8] = b"quilted wool";

/// Returns the tests with Bouncy Castle.
#[must_use]
pub fn trials(peer: &Arc<BouncyCastle>) -> Vec<Trial> {
    [slh_dsa::trials(peer), lms::trials(peer)].into_iter().flatten().collect()
}
