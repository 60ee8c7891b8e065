//! State at rest: what an agent keeps for itself, under a key of its own seed (`m/7'`).
//!
//! `docs/spec/state.md` has the bytes: 16 of magic, 32 of salt, then ciphertext and tag. Each piece of state has a key of
//! its own out of the role's key, the salt and the label, so that no nonce can come twice: the nonce is zero.

use crate::{Agent, Error, Reason, Result, Suite};
use aes_gcm::Aes256Gcm;
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use gambeson::secret::Secret;
use hkdf::Hkdf;
use sha2::Sha384;
use zeroize::Zeroize;

/// By how many bytes sealed state is longer than the state.
pub const OVERHEAD: usize = HEADER_LEN + TAG_LEN;

const MAGIC: &[u8; 15] = b"gambeson state\x01";
const HEADER_LEN: usize = 16 + 32;
const TAG_LEN: usize = 16;

impl Agent {
    /// Encrypts a piece of state that only this agent's seed opens. `label` says what it is, such as `ledger`; it is
    /// authenticated and not in the bytes, so that one piece cannot be taken for another.
    ///
    /// ```
    /// use gambeson_identity::{Agent, Reason};
    ///
    /// let agent = Agent::generate()?;
    /// let sealed = agent.seal_state("ledger", b"3 calls")?;
    /// assert_eq!(agent.open_state("ledger", &sealed)?.expose(), b"3 calls");
    /// assert_eq!(agent.open_state("replay", &sealed).unwrap_err().reason(), Reason::CannotOpen);
    /// # Ok::<(), gambeson_identity::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`].
    pub fn seal_state(&self, label: &str, state: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(OVERHEAD + state.len());
        out.extend_from_slice(MAGIC);
        out.push(suite_byte(self.suite()));
        out.extend_from_slice(self.random(&[b"state", label.as_bytes()])?.expose());
        out.extend_from_slice(state);
        let (header, body) = out.split_at_mut(HEADER_LEN);
        let key = self.piece_key(header, label);
        let (aad, nonce) = (&*header, [0; 24]);
        let tag = match self.suite() {
            Suite::Default => XChaCha20Poly1305::new(key.expose().into())
                .encrypt_inout_detached(&nonce.into(), aad, body.into())
                .map(<[u8; TAG_LEN]>::from),
            Suite::Cnsa2 => Aes256Gcm::new(key.expose().into())
                .encrypt_inout_detached(&[0; 12].into(), aad, body.into())
                .map(<[u8; TAG_LEN]>::from),
        };
        out.extend_from_slice(&tag.map_err(|_| Error::new(Reason::TooLarge, "64 GiB are too much"))?);
        Ok(out)
    }

    /// Opens what [`Agent::seal_state`] made with the same label.
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`] for other bytes; [`Reason::CannotOpen`] if they were changed, or are another agent's or of
    /// another label.
    pub fn open_state(&self, label: &str, sealed: &[u8]) -> Result<Secret<Vec<u8>>> {
        let parts = sealed
            .split_at_checked(HEADER_LEN)
            .and_then(|(header, rest)| Some((header, rest.split_last_chunk::<TAG_LEN>()?)))
            .filter(|(header, _)| header.starts_with(MAGIC) && header[15] == suite_byte(self.suite()));
        let (header, (body, tag)) = parts
            .ok_or_else(|| Error::new(Reason::BadForm, "these bytes are not sealed state of this suite"))?;
        let key = self.piece_key(header, label);
        let mut state = Secret::new(body.to_vec());
        let (body, nonce) = (state.expose_mut().as_mut_slice().into(), [0; 24]);
        match self.suite() {
            Suite::Default => XChaCha20Poly1305::new(key.expose().into())
                .decrypt_inout_detached(&nonce.into(), header, body, tag.into())
                .map_err(|_| ()),
            Suite::Cnsa2 => Aes256Gcm::new(key.expose().into())
                .decrypt_inout_detached(&[0; 12].into(), header, body, tag.into())
                .map_err(|_| ()),
        }
        .map_err(|()| {
            Error::new(Reason::CannotOpen, "the state was changed, or belongs to another agent or label")
        })?;
        Ok(state)
    }

    /// The key of one piece: the salt stands in the header.
    fn piece_key(&self, header: &[u8], label: &str) -> Secret<[u8; 32]> {
        let mut key = Secret::new([0; 32]);
        let role_key = self.state_key(0);
        match self.suite() {
            Suite::Default => {
                let mut hasher = blake3::Hasher::new_keyed(role_key.expose());
                hasher.update(header).update(label.as_bytes());
                let mut hash = hasher.finalize();
                key.expose_mut().copy_from_slice(hash.as_bytes());
                hash.zeroize();
                hasher.zeroize();
            }
            Suite::Cnsa2 => Hkdf::<Sha384>::new(Some(header), role_key.expose())
                .expand(label.as_bytes(), key.expose_mut())
                .expect("32 bytes"),
        }
        key
    }
}

const fn suite_byte(suite: Suite) -> u8 {
    match suite {
        Suite::Default => 1,
        Suite::Cnsa2 => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MasterSeed;

    #[test]
    fn every_changed_byte_and_every_cut_is_refused_in_both_suites() {
        for suite in [Suite::Default, Suite::Cnsa2] {
            let agent = Agent::with_suite(MasterSeed::from_bytes(&[5; 32]), suite);
            let sealed = agent.seal_state("ledger", b"state").unwrap();
            assert_eq!(sealed.len(), OVERHEAD + 5);
            assert_eq!(agent.open_state("ledger", &sealed).unwrap().expose(), b"state");
            for at in 0..sealed.len() {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                let expected = if at < 16 { Reason::BadForm } else { Reason::CannotOpen };
                assert_eq!(agent.open_state("ledger", &changed).unwrap_err().reason(), expected, "byte {at}");
                assert!(agent.open_state("ledger", &sealed[..at]).is_err());
            }
            let stranger = Agent::with_suite(MasterSeed::from_bytes(&[6; 32]), suite);
            assert_eq!(stranger.open_state("ledger", &sealed).unwrap_err().reason(), Reason::CannotOpen);
        }
    }

    #[test]
    fn equal_state_is_sealed_differently_each_time() {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[5; 32]));
        assert_ne!(agent.seal_state("a", b"x").unwrap(), agent.seal_state("a", b"x").unwrap());
    }
}
