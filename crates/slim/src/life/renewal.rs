//! New cards: of this agent, whose leaf follows, and of others, whose leaves should.

use std::sync::Arc;

use tokio::time::Instant;

use super::commit::Want;
use super::{Life, Outdated, by};
use crate::error::Result;
use crate::event::Warning;

impl Life {
    /// Follows the agent to its newest card: the leaf gets it with the next commit, which is wished for. After a restart, too.
    pub(super) fn follow_card(&mut self) {
        let present = self.shared.present();
        if std::mem::replace(&mut self.followed, true) && Arc::ptr_eq(&self.present, &present) {
            return;
        }
        self.present = present;
        match self.member.renew(&self.present.me).and_then(|()| self.member.is_renewed()) {
            Ok(true) => {}
            Ok(false) => self.wish_silently(vec![Want::Renew], None),
            Err(error) => self.shared.report(self.id, &error),
        }
    }

    /// Looks for leaves that their agents' newest cards do not stand behind any more. Who has a new card is given time to bring it, in all channels
    /// one after the other; then all who know are warned, and who may takes it out.
    pub(super) fn look_for_outdated(&mut self) -> Result<()> {
        self.renewals = self.shared.cards.renewals();
        let (now, time) = (Instant::now(), self.shared.options.renewal);
        let mut before = std::mem::take(&mut self.outdated);
        for (did, reason) in self.member.outdated(self.now())? {
            if did == self.shared.did {
                continue;
            }
            let mut leaf = before.remove(&did).unwrap_or_else(|| {
                // A restart does not forget what was learnt.
                self.shared.write_card(&did, &mut self.writes);
                Outdated { since: now, told: false, wished: false }
            });
            if leaf.since + time > now {
                by(&mut self.timers.outdated, leaf.since + time - now);
            } else {
                if !std::mem::replace(&mut leaf.told, true) {
                    self.warn(Warning::Outdated { member: did.as_str().to_owned(), reason });
                }
                if !leaf.wished && self.member.may_remove(&did)? {
                    leaf.wished = true;
                    self.wish_to_remove(did.clone());
                }
            }
            self.outdated.insert(did, leaf);
        }
        Ok(())
    }
}
