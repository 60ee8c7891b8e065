//! Which signatures mls-rs will ask about, read out of trees, key packages and commits before it does.
//!
//! This walks the encoding of RFC 9420 and judges nothing: what it misreads is verified in vain, and mls-rs, which reads for itself, then finds
//! nothing remembered and verifies as ever.

/// A signature and what it is over, as mls-rs will ask about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// The public key.
    pub public_key: &'a [u8],
    /// `SignContent` (RFC 9420, section 5.1.2): label and content.
    pub content: Vec<u8>,
    /// The signature.
    pub signature: &'a [u8],
}

const LEAF: &[u8] = b"MLS 1.0 LeafNodeTBS";
const KEY_PACKAGE: &[u8] = b"MLS 1.0 KeyPackageTBS";

/// `LeafNodeSource` (section 7.2).
const OF_KEY_PACKAGE: u8 = 1;
const OF_UPDATE: u8 = 2;
const OF_COMMIT: u8 = 3;

/// The leaves of a `ratchet_tree` (section 12.4.3.3) in the group of that id.
pub(crate) fn of_tree<'a>(tree: &'a [u8], group_id: &[u8]) -> Vec<Signed<'a>> {
    let mut signed = Vec::new();
    let Some(mut nodes) = Reader(tree).vector().map(Reader) else { return signed };
    for index in 0.. {
        let Some(leaf) = nodes.node() else { break };
        signed.extend(leaf.map(|leaf| leaf.signed(group_id, index / 2)));
    }
    signed
}

/// The leaf and the key package of a `KeyPackage` (section 10), alone or as an MLSMessage.
pub(crate) fn of_key_package(bytes: &[u8]) -> Vec<Signed<'_>> {
    let mut reader = Reader(bytes);
    let message = Reader(bytes).take(4).is_some_and(|start| start == [0, 1, 0, 5]);
    if message {
        reader.take(4);
    }
    reader.key_package().into_iter().flatten().collect()
}

/// The key packages that a commit or an Add in a PublicMessage (section 6.2) adds, up to the first proposal of a type that RFC 9420 lacks.
pub(crate) fn of_public_message(bytes: &[u8]) -> Vec<Signed<'_>> {
    let mut signed = Vec::new();
    // What was read before the end stays.
    let _ = Reader(bytes).public_message(&mut signed);
    signed
}

/// The HPKE key of the leaf that a `SignContent` is about, if it is about one (section 7.2).
pub(crate) fn leaf_key(content: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader(content);
    if reader.vector()? != LEAF {
        return None;
    }
    Reader(reader.vector()?).vector()
}

/// The HPKE key in a `TreeHashInput` that is hashed to so many bytes, if it is that of a parent that is not blank (section 7.8).
pub(crate) fn parent_key(input: &[u8], digest: usize) -> Option<&[u8]> {
    let mut reader = Reader(input);
    // One after the other: of what is hashed otherwise, only the first byte is looked at.
    if reader.byte()? != 2 || reader.byte()? != 1 {
        return None;
    }
    let key = reader.vector()?;
    reader.vectors(2)?; // its parent hash, its unmerged leaves
    let children = [reader.vector()?, reader.vector()?];
    (reader.0.is_empty() && children.iter().all(|hash| hash.len() == digest)).then_some(key)
}

struct Leaf<'a> {
    tbs: &'a [u8],
    source: u8,
    public_key: &'a [u8],
    signature: &'a [u8],
}

impl<'a> Leaf<'a> {
    /// `LeafNodeTBS`: all before the signature, and behind it, unless the leaf came in a key package, where it stands.
    fn signed(&self, group_id: &[u8], index: u32) -> Signed<'a> {
        let mut place = Vec::new();
        if self.source != OF_KEY_PACKAGE {
            put_vector(&mut place, &[group_id]);
            place.extend(index.to_be_bytes());
        }
        Signed {
            public_key: self.public_key,
            content: sign_content(LEAF, &[self.tbs, &place]),
            signature: self.signature,
        }
    }
}

/// `SignContent` (section 5.1.2); the content comes in parts.
fn sign_content(label: &[u8], content: &[&[u8]]) -> Vec<u8> {
    let len: usize = content.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(label.len() + len + 8);
    put_vector(&mut out, &[label]);
    put_vector(&mut out, content);
    out
}

/// A vector behind its length (section 2.1.2), from parts.
fn put_vector(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    match len {
        0..=0x3f => out.push(len as u8),
        0x40..=0x3fff => out.extend((0x4000 | len as u16).to_be_bytes()),
        _ => out.extend((0x8000_0000 | len as u32).to_be_bytes()),
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// What is left to read.
#[derive(Clone, Copy)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, len: usize) -> Option<u32> {
        Some(self.take(len)?.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn vector(&mut self) -> Option<&'a [u8]> {
        let len = match self.0.first()? >> 6 {
            0 => self.number(1)?,
            1 => self.number(2)? & 0x3fff,
            2 => self.number(4)? & 0x3fff_ffff,
            _ => return None,
        };
        self.take(len as usize)
    }

    fn vectors(&mut self, count: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.vector().map(drop))
    }

    /// The bytes since `start` was what is left.
    fn since(&self, start: &'a [u8]) -> &'a [u8] {
        &start[..start.len() - self.0.len()]
    }

    /// `optional<Node>` (section 7.8); nothing in it for a blank node and for a parent.
    fn node(&mut self) -> Option<Option<Leaf<'a>>> {
        if self.byte()? == 0 {
            return Some(None);
        }
        match self.byte()? {
            1 => self.leaf().map(Some),
            2 => self.vectors(3).map(|()| None),
            _ => None,
        }
    }

    /// `LeafNode` (section 7.2).
    fn leaf(&mut self) -> Option<Leaf<'a>> {
        let start = self.0;
        self.vector()?;
        let public_key = self.vector()?;
        self.number(2)?;
        self.vector()?; // the credential of that type
        self.vectors(5)?; // capabilities
        let source = self.byte()?;
        match source {
            OF_KEY_PACKAGE => self.take(16).map(drop)?,
            OF_UPDATE => (),
            OF_COMMIT => self.vectors(1)?,
            _ => return None,
        }
        self.vector()?;
        let tbs = self.since(start);
        Some(Leaf { tbs, source, public_key, signature: self.vector()? })
    }

    /// `KeyPackage` (section 10), and its leaf.
    fn key_package(&mut self) -> Option<[Signed<'a>; 2]> {
        let start = self.0;
        self.take(4)?;
        self.vector()?;
        let leaf = self.leaf()?;
        self.vector()?;
        let content = sign_content(KEY_PACKAGE, &[self.since(start)]);
        let signature = self.vector()?;
        Some([leaf.signed(b"", 0), Signed { public_key: leaf.public_key, content, signature }])
    }

    fn public_message(&mut self, signed: &mut Vec<Signed<'a>>) -> Option<()> {
        if self.take(4)? != [0, 1, 0, 1] {
            return None;
        }
        self.vector()?;
        self.take(8)?; // the epoch
        if matches!(self.byte()?, 1 | 2) {
            self.take(4)?; // the index of the sender
        }
        self.vector()?;
        match self.byte()? {
            2 => self.proposal(signed),
            3 => {
                let mut proposals = Reader(self.vector()?);
                while !proposals.0.is_empty() {
                    match proposals.byte()? {
                        1 => proposals.proposal(signed)?,
                        _ => proposals.vectors(1)?,
                    }
                }
                Some(())
            }
            _ => None,
        }
    }

    /// `Proposal` (section 12.1).
    fn proposal(&mut self, signed: &mut Vec<Signed<'a>>) -> Option<()> {
        match self.number(2)? {
            1 => signed.extend(self.key_package()?),
            2 => self.leaf().map(drop)?,
            3 => self.take(4).map(drop)?,
            4 => {
                if self.byte()? == 1 {
                    self.vectors(1)?;
                } else {
                    self.take(1)?;
                    self.vectors(1)?;
                    self.take(8)?;
                }
                self.vectors(1)?;
            }
            5 => {
                self.vectors(1)?;
                self.take(4)?;
                self.vectors(1)?;
            }
            6 | 7 => self.vectors(1)?,
            _ => return None,
        }
        Some(())
    }
}
