//! Binary hash trees of LMS and XMSS: one text for roots, authentication paths and cached nodes.

use alloc::vec;
use alloc::vec::Vec;

/// The most bytes of a node of a tree that signs.
pub(crate) const MAX_NODE: usize = 32;
/// The greatest height.
const MAX_HEIGHT: usize = 25;
/// The levels of a block whose leaves are computed together: 256 leaves.
const BLOCK_LEVELS: u32 = 8;

/// A tree whose leaves and inner nodes are functions of a key.
pub(crate) trait Tree {
    /// Bytes of a node, at most [`MAX_NODE`].
    fn node_len(&self) -> usize;

    /// The levels above the leaves, at most 25.
    fn height(&self) -> u32;

    /// Computes `count` leaves from number `first` on, which go to the start of `nodes`.
    fn leaves(&self, first: u32, count: usize, nodes: &mut [u8]);

    /// Computes `count` nodes of `level` from number `first` on, from their children in `nodes`; they go to the start of `nodes`.
    fn parents(&self, level: u32, first: u32, count: usize, nodes: &mut [u8]);
}

/// Computes all nodes of the subtree of this height whose first leaf is `first`, and calls `visit` with each run of neighbours: the
/// level, the number of the first within its level of the whole tree, and the nodes. Children come before their parents.
///
/// RFC 8391, Algorithm 9 (treeHash).
fn walk(tree: &dyn Tree, first: u32, height: u32, visit: &mut dyn FnMut(u32, u32, &[u8])) {
    let n = tree.node_len();
    let levels = height.min(BLOCK_LEVELS);
    let mut nodes = [0; MAX_NODE << BLOCK_LEVELS];
    let nodes = &mut nodes[..n << levels];
    // Left siblings whose right ones are not computed yet, one for each level.
    let mut waiting = [0; MAX_HEIGHT * MAX_NODE];
    for block in 0..1_u32 << (height - levels) {
        let mut first = first + (block << levels);
        let mut count = 1 << levels;
        tree.leaves(first, count, nodes);
        visit(0, first, nodes);
        for level in 1..=levels {
            count >>= 1;
            first >>= 1;
            tree.parents(level, first, count, nodes);
            visit(level, first, &nodes[..count * n]);
        }
        let mut pair = [0; 2 * MAX_NODE];
        pair[..n].copy_from_slice(&nodes[..n]);
        for level in levels..height {
            let place = &mut waiting[level as usize * n..][..n];
            if first & 1 == 0 {
                place.copy_from_slice(&pair[..n]);
                break;
            }
            pair.copy_within(..n, n);
            pair[..n].copy_from_slice(place);
            first >>= 1;
            tree.parents(level + 1, first, 1, &mut pair);
            visit(level + 1, first, &pair[..n]);
        }
    }
}

/// The progress of computing a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Leaves computed.
    pub done: u64,
    /// Leaves of the tree.
    pub total: u64,
}

/// Options of computing the tree of a stateful key: memory for its nodes, and a callback.
///
/// ```
/// use gambeson::stateful::TreeOptions;
///
/// let mut percent = 0;
/// let mut report = |progress: gambeson::stateful::Progress| percent = 100 * progress.done / progress.total;
/// let options = TreeOptions::new().cache_bytes(1 << 20).progress(&mut report);
/// # drop(options);
/// ```
pub struct TreeOptions<'p> {
    cache_bytes: usize,
    progress: Option<&'p mut dyn FnMut(Progress)>,
}

impl<'p> TreeOptions<'p> {
    /// The default options: 4 MiB for nodes, no callback.
    #[must_use]
    pub const fn new() -> Self {
        Self { cache_bytes: 4 << 20, progress: None }
    }

    /// Sets the most memory that the nodes of a tree take, in bytes.
    ///
    /// A tree whose nodes all fit (2^(height + 1) · n bytes) signs without computing any. Otherwise the upper nodes and those of one
    /// subtree are kept, and the next subtree is computed when its first leaf signs. A budget below the least, 2^(height / 2 + 2) · n
    /// bytes, counts as the least.
    #[must_use]
    pub const fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Sets a callback, which is called after each 256 leaves of the tree.
    #[must_use]
    pub const fn progress(mut self, callback: &'p mut dyn FnMut(Progress)) -> Self {
        self.progress = Some(callback);
        self
    }
}

impl Default for TreeOptions<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for TreeOptions<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TreeOptions").field("cache_bytes", &self.cache_bytes).finish_non_exhaustive()
    }
}

/// Nodes of a tree, by the numbers of RFC 8554, §5.3: the root is 1, the children of r are 2·r and 2·r + 1.
struct Nodes(Vec<u8>);

impl Nodes {
    /// Memory for the levels above and at the one that has 2^`levels` nodes.
    fn new(levels: u32, n: usize) -> Self {
        Self(vec![0; n << (levels + 1)])
    }

    fn fill(&mut self, number: usize, nodes: &[u8], n: usize) {
        self.0[number * n..][..nodes.len()].copy_from_slice(nodes);
    }

    fn node(&self, number: usize, n: usize) -> &[u8] {
        &self.0[number * n..][..n]
    }
}

/// The nodes of a tree that are kept: all from a level on, and one subtree below that level.
pub(crate) struct Cache {
    /// The level of the roots of subtrees; 0 if every node is kept.
    lowest: u32,
    above: Nodes,
    below: Nodes,
    /// The number of the subtree in `below`.
    subtree: Option<u32>,
}

impl Cache {
    /// Computes the tree.
    pub(crate) fn new(tree: &dyn Tree, mut options: TreeOptions<'_>) -> Self {
        let (n, h) = (tree.node_len(), tree.height());
        let bytes = |lowest: u32| {
            let below = if lowest == 0 { 0 } else { n << (lowest + 1) };
            (n << (h - lowest + 1)) + below
        };
        let mut lowest = 0;
        while bytes(lowest) > options.cache_bytes && lowest < h >> 1 {
            lowest += 1;
        }
        let mut above = Nodes::new(h - lowest, n);
        let mut done = 0;
        walk(tree, 0, h, &mut |level, first, nodes| {
            if level >= lowest {
                above.fill((1 << (h - level)) + first as usize, nodes, n);
            }
            if level == 0
                && let Some(callback) = &mut options.progress
            {
                done += 1_u64 << h.min(BLOCK_LEVELS);
                callback(Progress { done, total: 1 << h });
            }
        });
        let below = Nodes(if lowest == 0 { Vec::new() } else { Nodes::new(lowest, n).0 });
        Self { lowest, above, below, subtree: None }
    }

    /// Copies the root to the start of `root`.
    pub(crate) fn root(&self, n: usize, root: &mut [u8]) {
        root[..n].copy_from_slice(self.above.node(1, n));
    }

    /// Writes the authentication path of a leaf, its own sibling first.
    pub(crate) fn path(&mut self, tree: &dyn Tree, leaf: u32, path: &mut [u8]) {
        let (n, h, lowest) = (tree.node_len(), tree.height(), self.lowest);
        let subtree = leaf >> lowest;
        if lowest > 0 && self.subtree != Some(subtree) {
            self.subtree = None;
            walk(tree, subtree << lowest, lowest, &mut |level, first, nodes| {
                let within = first as usize & ((1 << (lowest - level)) - 1);
                self.below.fill((1 << (lowest - level)) + within, nodes, n);
            });
            self.subtree = Some(subtree);
        }
        for (level, node) in (0..h).zip(path.chunks_exact_mut(n)) {
            let sibling = (leaf >> level ^ 1) as usize;
            node.copy_from_slice(if level < lowest {
                let within = sibling & ((1 << (lowest - level)) - 1);
                self.below.node((1 << (lowest - level)) + within, n)
            } else {
                self.above.node((1 << (h - level)) + sibling, n)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of numbers: a leaf is its own number plus one, a parent the sum of its children.
    struct Sums(u32);

    impl Tree for Sums {
        fn node_len(&self) -> usize {
            8
        }

        fn height(&self) -> u32 {
            self.0
        }

        fn leaves(&self, first: u32, _: usize, nodes: &mut [u8]) {
            for (number, node) in (u64::from(first) + 1..).zip(nodes.as_chunks_mut().0) {
                *node = number.to_be_bytes();
            }
        }

        fn parents(&self, level: u32, first: u32, count: usize, nodes: &mut [u8]) {
            for i in 0..count {
                let child = |j: usize| u64::from_be_bytes(nodes[16 * i + 8 * j..][..8].try_into().unwrap());
                let sum = child(0) + child(1);
                assert_eq!(sum, sum_of(level, first + i as u32));
                nodes[8 * i..][..8].copy_from_slice(&sum.to_be_bytes());
            }
        }
    }

    /// The sum of the leaves below a node.
    fn sum_of(level: u32, number: u32) -> u64 {
        let (first, count) = (u64::from(number) << level, 1_u64 << level);
        count * first + ((count * (count + 1)) >> 1)
    }

    #[test]
    fn paths_are_the_siblings_with_every_budget() {
        for h in [1, 2, 5, 8, 9, 12] {
            let tree = Sums(h);
            for budget in [0, 700, 5000, 20_000, 1 << 20] {
                let mut done = Vec::new();
                let mut report = |progress: Progress| done.push((progress.done, progress.total));
                let options = TreeOptions::new().cache_bytes(budget).progress(&mut report);
                let mut cache = Cache::new(&tree, options);
                assert_eq!(done.last(), Some(&(1 << h, 1 << h)));
                assert_eq!(done.len(), 1 << h.saturating_sub(BLOCK_LEVELS));
                let least = 8 << (h - (h >> 1) + 2);
                assert!(cache.above.0.len() + cache.below.0.len() <= budget.max(least));
                let mut root = [0; 8];
                cache.root(8, &mut root);
                assert_eq!(u64::from_be_bytes(root), sum_of(h, 0));
                for leaf in [0, 1, 1 << (h - 1), (1 << h) - 1, 0] {
                    let mut path = vec![0; 8 * h as usize];
                    cache.path(&tree, leaf, &mut path);
                    for (level, node) in (0..).zip(path.as_chunks().0) {
                        assert_eq!(u64::from_be_bytes(*node), sum_of(level, leaf >> level ^ 1), "{h} {leaf}");
                    }
                }
            }
        }
    }
}
