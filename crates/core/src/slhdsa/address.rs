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
    /// The byte of [`bytes`](Self::bytes) that tells the type, and that of [`compressed`](Self::compressed).
    pub(super) const KIND: usize = 19;
    pub(super) const KIND_COMPRESSED: usize = 9;

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
        let Self { layer, tree, kind, words: [first, second, third] } = *self;
        // Whole words, for stores of bytes delay the loads that follow.
        let start = u128::from(layer as u8) << 120
            | u128::from(tree) << 56
            | (kind as u128) << 48
            | u128::from(first) << 16
            | u128::from(second >> 16);
        let mut bytes = [0; 22];
        bytes[..16].copy_from_slice(&start.to_be_bytes());
        bytes[16..20].copy_from_slice(&(second << 16 | third >> 16).to_be_bytes());
        bytes[20..].copy_from_slice(&(third as u16).to_be_bytes());
        bytes
    }
}
