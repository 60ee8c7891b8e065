//! Doors for fuzz targets to parsers that have none: what comes out of the log and out of blobs, before MLS sees it.

use bytes::Bytes;

use crate::archive::Surface;
use crate::bridge_news::BridgeNews;
use crate::content::{Bundle, CheckpointEntry, CommitEntry, Complaint, Mark, Peek, Published, Snapshot};
use crate::life::Note;
use crate::member::{Evidence, beside};
use crate::memory::MemoryService;
use crate::wire::Writer;

/// What stands in the log and in application messages, without a seal of the channel: what is read is written as it was.
pub fn content(bytes: &Bytes) {
    if let Ok(mark) = Mark::parse(bytes) {
        assert_eq!(mark.to_bytes(), bytes[..]);
    }
    if let Ok(bundle) = Bundle::parse(bytes.clone()) {
        assert_eq!(bundle.to_bytes(), bytes[..]);
    }
    if let Ok(complaint) = Complaint::parse(bytes.clone()) {
        assert_eq!(complaint.to_bytes(), bytes[..]);
    }
    if let Ok(published) = Published::parse(bytes) {
        assert_eq!(published.to_bytes(), bytes);
    }
    if let Ok(news) = BridgeNews::parse(bytes) {
        assert_eq!(news.to_bytes(), bytes[..]);
    }
    let _ = Peek::parse(bytes);
}

/// What stands beside MLS or inside of it for us to read: in a Welcome, in front of a tree, in a proposal.
pub fn beside_mls(bytes: &[u8]) {
    if let Ok(note) = Note::parse(bytes) {
        assert_eq!(note.to_bytes(), bytes);
    }
    if let Ok(evidence) = Evidence::from_bytes(bytes) {
        assert_eq!(evidence.to_bytes(), bytes);
    }
    if let Ok((signature, tree, _)) = beside(bytes) {
        assert_eq!(bytes.len(), 2 + signature.len() + tree.len());
    }
}

/// What members seal for each other. A member that keeps no rules can seal anything: the seal is right here, and what is in it arbitrary.
pub async fn sealed(bytes: &[u8]) {
    let (surface, blobs) = (Surface::from_bytes(&[7; Surface::LEN]), MemoryService::new());
    let (Ok(surface), Some((form, inner))) = (surface, bytes.split_first()) else { return };
    let entry = |label: &str, head: Writer| {
        surface.seal(label, inner).map(|sealed| head.put(&sealed).finish().into())
    };
    if let Ok(content) = entry(CommitEntry::LABEL, Writer::default().u8(1).u8(*form)) {
        let _ = CommitEntry::of_content(&content, &surface, &blobs, 0).await;
    }
    if let Ok(content) = entry(CheckpointEntry::LABEL, Writer::default().u8(1)) {
        let _ = CheckpointEntry::of_content(&content, &surface);
    }
    if let Ok(snapshot) = surface.seal(Snapshot::LABEL, inner) {
        let _ = Snapshot::open(&snapshot, &surface);
    }
    // And what no member sealed.
    let _ = CommitEntry::of_content(&bytes.to_vec().into(), &surface, &blobs, 0).await;
    let _ = Snapshot::open(bytes, &surface);
}
