//! Age files to an agent: in the default suite its backup key is an X-Wing key, to which stock age 1.3 can seal.

use crate::{Agent, DidDocument, Error, Reason, Result, Role, Suite, Timestamp};
use gambeson_age::{FileKey, HeaderError, Identity, Recipient, Stanza, UnwrapFileKey};
use gambeson_hybrid::xwing;

impl DidDocument {
    /// The age recipient of the agent, `age1pq1…`: its backup key. The document must be one that a resolver gave.
    ///
    /// What anybody seals to it the agent opens, since an agent is an age identity:
    ///
    /// ```
    /// use gambeson_age::Format;
    /// use gambeson_identity::{Agent, CardContent, Timestamp};
    ///
    /// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
    /// let card = agent.first_card(now, now.after(86_400), &CardContent::default())?;
    /// let recipient = card.document().age_recipient(now)?;
    ///
    /// let mut file = Vec::new();
    /// gambeson_age::seal(&[recipient], &b"meet at noon"[..], &mut file, Format::Binary)?;
    ///
    /// let mut opened = Vec::new();
    /// gambeson_age::open(&[&agent], &file[..], &mut opened)?;
    /// assert_eq!(opened, b"meet at noon");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// An age file tells nobody who sealed it, and opens as often as one likes; [`sealed`](crate::sealed) is for more.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownKey`] if there is none, as for an agent of suite `cnsa2`; [`Reason::BadKey`].
    pub fn age_recipient(&self, now: Timestamp) -> Result<Recipient> {
        let algorithm = Role::Backup.agreement_algorithm(Suite::Default).unwrap_or_default();
        let (url, key) = self.agreement_key(algorithm, now)?;
        let key = xwing::EncapsulationKey::try_from(key)
            .map_err(|error| Error::new(Reason::BadKey, format_args!("#{}: {error}", url.fragment())))?;
        Ok(key.into())
    }
}

/// The agent's present backup key, then its earlier ones: what was sealed before a rotation opens too. An agent of
/// suite `cnsa2` has no key for age files, and opens none.
impl UnwrapFileKey for Agent {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> core::result::Result<Option<FileKey>, HeaderError> {
        if self.suite() != Suite::Default {
            return Ok(None);
        }
        for index in (0..=self.index(Role::Backup)).rev() {
            let identity = Identity::from_seed(self.backup_seed(index).expose());
            if let Some(file_key) = identity.unwrap_file_key(stanzas)? {
                return Ok(Some(file_key));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use crate::{CardContent, CardLog, MasterSeed, Retired};
    use gambeson_age::{Error as Age, Format};

    const NOW: Timestamp = Timestamp(1_795_330_800);

    fn agent(suite: Suite, seed: u8) -> (Agent, CardLog) {
        let agent = Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite);
        let card = agent.first_card(NOW, NOW.after(86_400), &CardContent::default()).unwrap();
        (agent, CardLog::new(card).unwrap())
    }

    fn sealed(log: &CardLog) -> Vec<u8> {
        let recipient = log.newest().document().age_recipient(NOW).unwrap();
        let mut file = Vec::new();
        gambeson_age::seal(&[recipient], &b"linen"[..], &mut file, Format::Armored).unwrap();
        file
    }

    fn opened(agent: &Agent, file: &[u8]) -> core::result::Result<Vec<u8>, Age> {
        let mut out = Vec::new();
        gambeson_age::open(&[agent], file, &mut out).map(|_| out)
    }

    #[test]
    fn an_agent_opens_what_was_sealed_to_its_keys_present_and_past() {
        let (mut alice, mut log) = agent(Suite::Default, 1);
        let first = sealed(&log);
        for retired in [Retired::Superseded(60), Retired::Compromised] {
            let window = (NOW, NOW.after(86_400));
            alice.rotate(&mut log, &[Role::Backup], retired, window, &CardContent::default()).unwrap();
        }
        let third = sealed(&log);
        for file in [&first, &third] {
            assert_eq!(opened(&alice, file).unwrap(), b"linen");
        }
        // One that never rotated does not know of the third key.
        assert_eq!(opened(&agent(Suite::Default, 1).0, &first).unwrap(), b"linen");
        assert!(matches!(opened(&agent(Suite::Default, 1).0, &third), Err(Age::NoMatch)));
        assert!(matches!(opened(&agent(Suite::Default, 2).0, &first), Err(Age::NoMatch)));
    }

    #[test]
    fn an_agent_of_suite_cnsa2_has_no_age_recipient() {
        let (alice, log) = agent(Suite::Cnsa2, 1);
        let refused = log.newest().document().age_recipient(NOW).unwrap_err();
        assert_eq!(refused.reason(), Reason::UnknownKey);
        assert!(matches!(opened(&alice, &sealed(&agent(Suite::Default, 1).1)), Err(Age::NoMatch)));
    }
}
