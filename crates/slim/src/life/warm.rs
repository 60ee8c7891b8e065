//! Paths after many were added at once.
//!
//! Nodes above new leaves are blank, and a commit with a path is sealed to each leaf below a blank node: to everybody but one, in a channel to
//! which all came at once. So a few members commit a path each, one after another and in the order in which each fills most: after that,
//! a commit of anybody is sealed to tens instead of thousands.

use tokio::time::Instant;

use super::Life;
use crate::member::Changed;

/// From how many members on.
const MEMBERS: usize = 32;
/// How many leaves share one that commits a path, so long as there are not [`MOST`] of them.
const SHARE: usize = 16;
/// How many members commit a path at most.
const MOST: usize = 64;

/// When it is the turn of a leaf, the first having 0: leaves in bit-reversed order, each halving what is blank.
fn turn(leaf: u32, last: u32, members: usize) -> Option<u32> {
    let bits = u32::BITS - last.leading_zeros();
    let turn = leaf.reverse_bits().checked_shr(u32::BITS - bits).unwrap_or_default();
    let most = (members / SHARE).min(MOST);
    (members >= MEMBERS && usize::try_from(turn).is_ok_and(|turn| turn < most)).then_some(turn)
}

impl Life {
    /// Somebody was added by others or by this member, whose path is there if most are new.
    pub(super) fn warm_up_after(&mut self, changed: &Changed) {
        let mine = changed.by == self.shared.did && 2 * changed.added.len() > self.listed.len();
        if changed.added.len() >= MEMBERS && !mine {
            self.warm_up();
        }
    }

    /// Many were added, this member perhaps among them.
    pub(super) fn warm_up(&mut self) {
        let leaves = || self.listed.iter().map(|(_, member)| member.leaf);
        let mine = self.listed.iter().find(|(_, member)| member.did == self.shared.did);
        let turn =
            mine.zip(leaves().max()).and_then(|((_, me), last)| turn(me.leaf, last, self.listed.len()));
        let step = self.shared.options.warm_up;
        self.timers.warm_up =
            turn.filter(|_| !step.is_zero()).map(|turn| Instant::now() + step.saturating_mul(turn + 1));
    }

    /// It is this member's turn.
    pub(super) fn commit_a_path(&mut self) {
        let rotate = self.member.policy().policy().rotate;
        if self.member.acting(&self.shared.did).is_ok_and(|role| role >= rotate) {
            self.wish_to_rotate();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_halves_what_is_blank() {
        let order = |members: u32| {
            let mut turns: Vec<_> = (0..members)
                .filter_map(|leaf| Some((turn(leaf, members - 1, members as usize)?, leaf)))
                .collect();
            turns.sort_unstable();
            turns.into_iter().map(|(_, leaf)| leaf).collect::<Vec<_>>()
        };
        assert!(order(31).is_empty());
        assert_eq!(order(32), [0, 16]);
        assert_eq!(order(128), [0, 64, 32, 96, 16, 80, 48, 112]);
        assert_eq!(order(100), [0, 64, 32, 96, 16, 80]);
        assert_eq!(order(1_000).len(), 62);
        assert_eq!(order(5_000).len(), 40, "of 64 turns, those whose leaf is there");
        assert_eq!(turn(0, 0, 1), None);
    }
}
