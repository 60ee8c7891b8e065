//! A service that works on threads of its own, in virtual time.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use gambeson_slim::{BlobId, Blobs, ChannelId, Entry, KeyPackages, Keys, Log, Page, Placed, Result};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// While a call is under way the clock stands: virtual time goes on when every task waits, and knows of no other threads than those
/// of `spawn_blocking`.
#[derive(Debug)]
pub struct Held<T>(Arc<T>);

impl<T: Send + Sync + 'static> Held<T> {
    pub fn new(service: T) -> Self {
        Self(Arc::new(service))
    }

    async fn during<R, F>(&self, call: impl FnOnce(Arc<T>) -> F + Send + 'static) -> R
    where
        R: Send + 'static,
        F: Future<Output = R>,
    {
        let (service, runtime) = (Arc::clone(&self.0), Handle::current());
        spawn_blocking(move || runtime.block_on(call(service))).await.unwrap()
    }
}

#[async_trait]
impl<T: Log + 'static> Log for Held<T> {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        let channel = *channel;
        self.during(move |log| async move { log.append(&channel, entry, after).await }).await
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        let channel = *channel;
        self.during(move |log| async move { log.read(&channel, from, limit).await }).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        let channel = *channel;
        self.during(move |log| async move { log.prune(&channel, before).await }).await
    }
}

#[async_trait]
impl<T: Blobs + 'static> Blobs for Held<T> {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        self.during(move |blobs| async move { blobs.put(bytes).await }).await
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        let id = *id;
        self.during(move |blobs| async move { blobs.get(&id).await }).await
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        let ids = ids.to_vec();
        self.during(move |blobs| async move { blobs.has(&ids).await }).await
    }
}

#[async_trait]
impl<T: Keys + 'static> Keys for Held<T> {
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()> {
        let did = did.to_owned();
        self.during(move |keys| async move { keys.publish(&did, packages).await }).await
    }

    async fn take(&self, did: &str) -> Result<Option<Bytes>> {
        let did = did.to_owned();
        self.during(move |keys| async move { keys.take(&did).await }).await
    }

    async fn left(&self, did: &str) -> Result<usize> {
        let did = did.to_owned();
        self.during(move |keys| async move { keys.left(&did).await }).await
    }
}
