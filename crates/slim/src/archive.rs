//! What goes into blobs: cut where its content says, so that what did not change is not sent again, and sealed.
//!
//! Each chunk's key is the hash of the chunk under a secret of the channel: equal chunks are one blob, and who does not know the secret
//! cannot try whether a chunk is there. The list of chunks and keys is sealed under the surface's key, which changes with every removal.

use std::collections::HashMap;

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{AeadInOut, KeyInit};
use bytes::Bytes;
use futures_util::TryStreamExt;
use zeroize::{Zeroize, Zeroizing};

use crate::blobs::{BlobId, Blobs, MAX_BLOB};
use crate::error::{Error, Result};
use crate::name::Name;
use crate::wire::{Malformed, Reader, Writer};
use crate::{TOGETHER, side_by_side};

const TAG: usize = 16;
const SALT: usize = 32;
/// Where a chunk ends, in bytes: not before the first, at the first good place behind it, and at the last in any case.
const CHUNK: (usize, usize) = (16 << 10, MAX_BLOB - TAG);
/// One place of 32 Ki ends a chunk: 48 KiB in the mean.
const MASK: u64 = ((1 << 15) - 1) << 40;

/// A chunk: its blob and the key that opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) blob: BlobId,
    key: [u8; 32],
}

impl Chunk {
    pub(crate) const LEN: usize = 64;

    pub(crate) fn write(&self, to: Writer) -> Writer {
        to.put(&self.blob.0).put(&self.key)
    }

    pub(crate) fn read(from: &mut Reader) -> Result<Self, Malformed> {
        Ok(Self { blob: BlobId(from.array()?), key: from.array()? })
    }

    pub(crate) fn read_all(from: &mut Reader) -> Result<Vec<Self>, Malformed> {
        (0..from.count(Self::LEN)?).map(|_| Self::read(from)).collect()
    }
}

/// The secrets that members share beside MLS: what the channel shows to those around it is made with them.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Surface {
    /// As long as the channel is.
    chunks: [u8; 32],
    /// From the exporter, of the first epoch or after the last removal: who was removed does not know it.
    current: [u8; 32],
}

impl Drop for Surface {
    fn drop(&mut self) {
        self.chunks.zeroize();
        self.current.zeroize();
    }
}

impl Surface {
    pub(crate) const LEN: usize = 64;

    pub(crate) fn new(current: [u8; 32]) -> Result<Self> {
        Ok(Self { chunks: random()?, current })
    }

    pub(crate) fn after_removal(&self, current: [u8; 32]) -> Self {
        Self { chunks: self.chunks, current }
    }

    pub(crate) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([self.chunks, self.current].concat())
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let (chunks, current) = bytes.split_at_checked(32).ok_or(Malformed)?;
        Ok(Self {
            chunks: chunks.try_into().map_err(|_| Malformed)?,
            current: current.try_into().map_err(|_| Malformed)?,
        })
    }

    /// The name on which members listen.
    pub(crate) fn route(&self) -> Name {
        let hash = blake3::keyed_hash(&self.current, b"route");
        Name::new("gambeson", "channels", &hash.to_hex()[..32])
    }

    /// Seals for all who have this surface.
    pub(crate) fn seal(&self, label: &str, bytes: &[u8]) -> Result<Vec<u8>> {
        let salt: [u8; SALT] = random()?;
        let mut out = salt.to_vec();
        out.append(&mut seal(&self.key(label, &salt), bytes)?);
        Ok(out)
    }

    /// Opens what was sealed with this label.
    pub(crate) fn open(&self, label: &str, sealed: &[u8]) -> Option<Bytes> {
        let (salt, body) = sealed.split_at_checked(SALT)?;
        open(&self.key(label, salt), body)
    }

    fn key(&self, label: &str, salt: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_keyed(&self.current);
        hasher.update(salt).update(label.as_bytes());
        Zeroizing::new(*hasher.finalize().as_bytes())
    }

    /// Cuts and seals: the chunks, and the bytes of each.
    pub(crate) fn chunks(&self, bytes: &[u8]) -> Result<Vec<(Chunk, Bytes)>> {
        let mut rest = bytes;
        let mut chunks = Vec::with_capacity(bytes.len() / CHUNK.0 + 1);
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(cut(rest));
            let key = *blake3::keyed_hash(&self.chunks, chunk).as_bytes();
            let sealed = Bytes::from(seal(&key, chunk)?);
            chunks.push((Chunk { blob: BlobId::of(&sealed), key }, sealed));
            rest = after;
        }
        Ok(chunks)
    }

    /// Keeps bytes as chunks, of which those that are kept already are not sent.
    pub(crate) async fn keep(&self, blobs: &dyn Blobs, bytes: &[u8]) -> Result<Vec<Chunk>> {
        let chunks = self.chunks(bytes)?;
        let ids: Vec<BlobId> = chunks.iter().map(|(chunk, _)| chunk.blob).collect();
        let kept = which_are_kept(blobs, &ids).await?;
        let missing = chunks.iter().zip(kept).filter(|(_, kept)| !kept);
        let mut put = side_by_side(missing.map(|((_, sealed), _)| blobs.put(sealed.clone())));
        while put.try_next().await?.is_some() {}
        Ok(chunks.into_iter().map(|(chunk, _)| chunk).collect())
    }
}

/// [`Blobs::has`], of any number.
pub(crate) async fn which_are_kept(blobs: &dyn Blobs, ids: &[BlobId]) -> Result<Vec<bool>> {
    let mut kept = Vec::with_capacity(ids.len());
    for some in ids.chunks(1_000) {
        kept.extend(blobs.has(some).await?);
    }
    Ok(kept)
}

/// Gathers chunks again, at most `most` bytes, and [`AT_ONCE`](crate::AT_ONCE) times [`TOGETHER`] blobs on their way. `near` has sealed chunks that need not be fetched.
/// `Err(Malformed)` for a blob that its key does not open: it is the one with this hash, so it opens for nobody, and never will.
pub(crate) async fn gather(
    blobs: &dyn Blobs,
    chunks: &[Chunk],
    near: &HashMap<BlobId, Bytes>,
    most: usize,
) -> Result<Result<Bytes, Malformed>> {
    let mut out = Vec::new();
    let mut fetched = side_by_side(chunks.chunks(TOGETHER).map(|some| async move {
        let far = some.iter().map(|chunk| chunk.blob).filter(|blob| !near.contains_key(blob));
        let far = blobs.get_many(&far.collect::<Vec<_>>()).await?;
        Ok::<_, Error>((some, far))
    }));
    while let Some((some, far)) = fetched.try_next().await? {
        let mut far = far.into_iter();
        for chunk in some {
            let sealed = near.get(&chunk.blob).cloned().or_else(|| far.next().flatten());
            let sealed = sealed.ok_or(Error::BlobMissing(chunk.blob))?;
            let Some(opened) = open(&chunk.key, &sealed) else { return Ok(Err(Malformed)) };
            if out.len() + opened.len() > most {
                return Err(Error::TooLarge(out.len() + opened.len()));
            }
            out.extend_from_slice(&opened);
        }
    }
    Ok(Ok(out.into()))
}

/// The nonce is zero: a key seals one thing, for it is made of a fresh salt or of what is sealed.
fn seal(key: &[u8; 32], bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = bytes.to_vec();
    let tag = Aes256Gcm::new(key.into())
        .encrypt_inout_detached(&[0; 12].into(), &[], out.as_mut_slice().into())
        .map_err(|_| Error::TooLarge(bytes.len()))?;
    out.extend_from_slice(&tag);
    Ok(out)
}

fn open(key: &[u8; 32], sealed: &[u8]) -> Option<Bytes> {
    let (body, tag) = sealed.split_last_chunk::<TAG>()?;
    let mut body = body.to_vec();
    Aes256Gcm::new(key.into())
        .decrypt_inout_detached(&[0; 12].into(), &[], body.as_mut_slice().into(), tag.into())
        .ok()?;
    Some(body.into())
}

/// Where the first chunk ends: where a hash of the last 64 bytes says so (Xia et al., FastCDC, USENIX ATC 2016, §3.2).
fn cut(bytes: &[u8]) -> usize {
    let mut hash = 0u64;
    let most = bytes.len().min(CHUNK.1);
    for (at, byte) in bytes[..most].iter().enumerate().skip(CHUNK.0.saturating_sub(64)) {
        hash = (hash << 1).wrapping_add(GEAR[usize::from(*byte)]);
        if at >= CHUNK.0 && hash & MASK == 0 {
            return at;
        }
    }
    most
}

/// A number for each byte, by SplitMix64: any that look random will do, but all members need the same.
const GEAR: [u64; 256] = {
    let (mut table, mut state, mut at) = ([0; 256], 0u64, 0);
    while at < 256 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[at] = z ^ (z >> 31);
        at += 1;
    }
    table
};

pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::NoRandomness)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use crate::memory::MemoryService;

    fn noise(len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        blake3::Hasher::new().finalize_xof().fill(&mut bytes);
        bytes
    }

    #[test]
    fn what_was_put_in_front_changes_few_chunks_and_none_is_above_a_blob() {
        let surface = Surface::new([1; 32]).unwrap();
        let tree = noise(3 << 20);
        let before = surface.chunks(&tree).unwrap();
        let after = surface.chunks(&[&noise(6_500)[..], &tree].concat()).unwrap();
        let known: Vec<BlobId> = before.iter().map(|(chunk, _)| chunk.blob).collect();
        let new = after.iter().filter(|(chunk, _)| !known.contains(&chunk.blob)).count();
        assert!(new <= 3, "{new} of {}", after.len());
        assert!((30..=192).contains(&before.len()), "{}", before.len());
        assert!(before.iter().all(|(_, sealed)| sealed.len() <= MAX_BLOB));
    }

    #[tokio::test]
    async fn chunks_are_gathered_again_and_near_ones_are_not_fetched() {
        let (surface, service, tree) = (Surface::new([1; 32]).unwrap(), MemoryService::new(), noise(1 << 20));
        let chunks = surface.keep(&service, &tree).await.unwrap();
        let all = gather(&service, &chunks, &HashMap::new(), tree.len()).await.unwrap();
        assert_eq!(all.unwrap(), tree);
        let near = surface.chunks(&tree).unwrap().into_iter().map(|(chunk, sealed)| (chunk.blob, sealed));
        let none = MemoryService::new();
        let gathered = gather(&none, &chunks, &near.collect(), tree.len()).await.unwrap();
        assert_eq!(gathered.unwrap(), tree);
        let missing = gather(&none, &chunks, &HashMap::new(), tree.len()).await;
        assert!(matches!(missing, Err(Error::BlobMissing(_))));
        let large = gather(&service, &chunks, &HashMap::new(), tree.len() - 1).await;
        assert!(matches!(large, Err(Error::TooLarge(_))));
    }

    #[test]
    fn who_was_removed_opens_nothing_and_does_not_know_the_name() {
        let before = Surface::new([1; 32]).unwrap();
        let after = before.after_removal([2; 32]);
        let sealed = after.seal("commit", b"x").unwrap();
        assert_eq!(after.open("commit", &sealed).as_deref(), Some(&b"x"[..]));
        assert_eq!((before.open("commit", &sealed), after.open("other", &sealed)), (None, None));
        assert_ne!(before.route(), after.route());
        assert!(after.open("commit", &sealed[..SALT + TAG - 1]).is_none());
    }
}
