//! FIPS 205, §4.2: addresses.

/// The types of addresses (FIPS 205, §4.2, Table 1).
#[derive(Clone, Copy)]
pub(super) enum Kind {
    WotsHash = 0,
    WotsPk = 1,
    Tree = 2,
    ForsTree = 3,
    ForsRoots = 4,
    WotsPrf = 5,
    ForsPrf = 6,
}

/// ADRS.
#[derive(Clone, Copy)]
pub(super) struct Address {
    layer: u32,
    tree: u64,
    kind: Kind,
    /// The three words that the type defines: the key pair; the chain or the height; the step or the index.
    words: [u32; 3],
}

impl Address {
    pub(super) const fn new(layer: u32, tree: u64, kind: Kind, words: [u32; 3]) -> Self {
        Self { layer, tree, kind, words }
    }

    /// The address of this tree with another type and other words.
    pub(super) const fn with(self, kind: Kind, words: [u32; 3]) -> Self {
        Self { kind, words, ..self }
    }

    /// The address of a node in the same tree.
    pub(super) const fn at(self, height: u32, index: u32) -> Self {
        Self { words: [self.words[0], height, index], ..self }
    }

    /// Its 32 bytes.
    pub(super) fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&self.layer.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.tree.to_be_bytes());
        bytes[16..20].copy_from_slice(&(self.kind as u32).to_be_bytes());
        for (bytes, word) in bytes[20..].as_chunks_mut().0.iter_mut().zip(self.words) {
            *bytes = word.to_be_bytes();
        }
        bytes
    }

    /// ADRSc, the form for SHA-2 (FIPS 205, §11.2).
    pub(super) fn compressed(&self) -> [u8; 22] {
        let mut bytes = [0; 22];
        bytes[0] = self.layer as u8;
        bytes[1..9].copy_from_slice(&self.tree.to_be_bytes());
        bytes[9] = self.kind as u8;
        for (bytes, word) in bytes[10..].as_chunks_mut().0.iter_mut().zip(self.words) {
            *bytes = word.to_be_bytes();
        }
        bytes
    }
}
