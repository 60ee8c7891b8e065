//! Where mls-rs keeps what a member must not lose: in memory, until the member's state is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mls_rs::{GroupStateStorage, KeyPackageStorage};
use mls_rs_core::group::{EpochRecord, GroupState};
use mls_rs_core::key_package::KeyPackageData;
use zeroize::Zeroizing;

/// How many epochs that are over can still be read.
pub const PAST_EPOCHS: u64 = 3;

/// Bytes that hold secrets.
pub(super) type SecretBytes = Zeroizing<Vec<u8>>;

#[derive(Default)]
pub(super) struct Kept {
    /// The group, without its tree.
    pub(super) group: Option<SecretBytes>,
    pub(super) epochs: BTreeMap<u64, SecretBytes>,
    /// Epochs that came, changed or went since they were last looked at.
    pub(super) touched: BTreeSet<u64>,
    pub(super) key_packages: BTreeMap<Vec<u8>, KeyPackageData>,
}

impl Kept {
    /// Deletes the epochs before `oldest`.
    pub(super) fn forget_before(&mut self, oldest: u64) {
        let kept = self.epochs.split_off(&oldest);
        self.touched.extend(std::mem::replace(&mut self.epochs, kept).into_keys());
    }
}

/// The storage of one member.
#[derive(Clone, Default)]
pub(super) struct Vault(Arc<Mutex<Kept>>);

impl Vault {
    pub(super) fn hold(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault(..)")
    }
}

impl GroupStateStorage for Vault {
    type Error = Infallible;

    fn state(&self, _: &[u8]) -> Result<Option<SecretBytes>, Infallible> {
        Ok(self.hold().group.clone())
    }

    fn epoch(&self, _: &[u8], epoch: u64) -> Result<Option<SecretBytes>, Infallible> {
        Ok(self.hold().epochs.get(&epoch).cloned())
    }

    fn write(
        &mut self,
        state: GroupState,
        inserts: Vec<EpochRecord>,
        updates: Vec<EpochRecord>,
    ) -> Result<(), Infallible> {
        let mut kept = self.hold();
        kept.group = Some(state.data);
        for record in inserts.into_iter().chain(updates) {
            kept.touched.insert(record.id);
            kept.epochs.insert(record.id, record.data);
        }
        if let Some((&last, _)) = kept.epochs.last_key_value() {
            kept.forget_before((last + 1).saturating_sub(PAST_EPOCHS));
        }
        Ok(())
    }

    fn max_epoch_id(&self, _: &[u8]) -> Result<Option<u64>, Infallible> {
        Ok(self.hold().epochs.last_key_value().map(|(epoch, _)| *epoch))
    }
}

impl KeyPackageStorage for Vault {
    type Error = Infallible;

    fn delete(&mut self, id: &[u8]) -> Result<(), Infallible> {
        self.hold().key_packages.remove(id);
        Ok(())
    }

    fn insert(&mut self, id: Vec<u8>, package: KeyPackageData) -> Result<(), Infallible> {
        self.hold().key_packages.insert(id, package);
        Ok(())
    }

    fn get(&self, id: &[u8]) -> Result<Option<KeyPackageData>, Infallible> {
        Ok(self.hold().key_packages.get(id).cloned())
    }
}
