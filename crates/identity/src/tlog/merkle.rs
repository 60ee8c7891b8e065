//! The Merkle tree of RFC 6962, §2.1, with SHA-256.

use crate::{Error, Reason, Result};
use sha2::{Digest, Sha256};

/// A hash of the tree.
pub type Hash = [u8; 32];

/// The hash of an entry: SHA-256(0x00 ‖ entry).
#[must_use]
pub fn leaf_hash(entry: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(entry).finalize().into()
}

/// The hash of an inner node: SHA-256(0x01 ‖ left ‖ right).
pub(super) fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// The hash of the empty tree.
pub(super) fn empty_root() -> Hash {
    Sha256::digest([]).into()
}

/// Where the hashes of whole subtrees come from.
pub(super) trait Nodes {
    /// The hash of entries `index · 2^height .. (index + 1) · 2^height`, all of which are in the tree.
    fn node(&self, height: u32, index: u64) -> Result<Hash>;
}

/// `MTH(D[start:end])`.
pub(super) fn subtree(nodes: &impl Nodes, start: u64, end: u64) -> Result<Hash> {
    match end - start {
        0 => Ok(empty_root()),
        len if len.is_power_of_two() => nodes.node(len.trailing_zeros(), start >> len.trailing_zeros()),
        len => {
            let middle = start + split(len);
            Ok(node_hash(&subtree(nodes, start, middle)?, &subtree(nodes, middle, end)?))
        }
    }
}

/// `PATH(index, D[0:size])`, from the leaf's sibling upwards (§2.1.1).
pub(super) fn inclusion(nodes: &impl Nodes, index: u64, size: u64) -> Result<Vec<Hash>> {
    let (mut start, mut end) = (0, size);
    let mut path = Vec::new();
    while end - start > 1 {
        let middle = start + split(end - start);
        if index < middle {
            path.push(subtree(nodes, middle, end)?);
            end = middle;
        } else {
            path.push(subtree(nodes, start, middle)?);
            start = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// `PROOF(old, D[0:size])` (§2.1.2), for `0 < old <= size`.
pub(super) fn consistency(nodes: &impl Nodes, old: u64, size: u64) -> Result<Vec<Hash>> {
    let (mut start, mut end) = (0, size);
    let mut path = Vec::new();
    while end != old {
        let middle = start + split(end - start);
        if old <= middle {
            path.push(subtree(nodes, middle, end)?);
            end = middle;
        } else {
            path.push(subtree(nodes, start, middle)?);
            start = middle;
        }
    }
    if start != 0 {
        path.push(subtree(nodes, start, end)?); // otherwise it is the old root, which the verifier has
    }
    path.reverse();
    Ok(path)
}

/// The greatest power of two below `len`, which is at least 2.
fn split(len: u64) -> u64 {
    1 << (len - 1).ilog2()
}

/// Checks that the tree with this root has the leaf at this index (RFC 9162, §2.1.3.2).
///
/// # Errors
///
/// [`Reason::NotIncluded`].
pub fn verify_inclusion(leaf: &Hash, index: u64, size: u64, path: &[Hash], root: &Hash) -> Result<()> {
    let refused = || Error::new(Reason::NotIncluded, "the proof does not lead from this entry to the root");
    if index >= size {
        return Err(refused());
    }
    let (mut place, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for sibling in path {
        if last == 0 {
            return Err(refused());
        }
        if place & 1 == 1 || place == last {
            hash = node_hash(sibling, &hash);
            // A node at the right edge without a sibling stands for its parent too.
            while place & 1 == 0 && place != 0 {
                (place, last) = (place >> 1, last >> 1);
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    if last == 0 && hash == *root { Ok(()) } else { Err(refused()) }
}

/// Checks that the tree with the new root begins with all entries of the old one (RFC 9162, §2.1.4.2).
///
/// # Errors
///
/// [`Reason::Inconsistent`].
pub fn verify_consistency(
    (old_size, old_root): (u64, &Hash),
    (new_size, new_root): (u64, &Hash),
    path: &[Hash],
) -> Result<()> {
    let refused = || Error::new(Reason::Inconsistent, "the newer log does not begin with the older one");
    if old_size == new_size {
        return if path.is_empty() && old_root == new_root { Ok(()) } else { Err(refused()) };
    }
    if old_size == 0 {
        return if path.is_empty() && *old_root == empty_root() { Ok(()) } else { Err(refused()) };
    }
    if old_size > new_size {
        return Err(refused());
    }
    let (mut place, mut last) = (old_size - 1, new_size - 1);
    // The old tree's right edge up to the largest whole subtree that ends it.
    while place & 1 == 1 {
        (place, last) = (place >> 1, last >> 1);
    }
    let (first, rest) = match path.split_first() {
        _ if old_size.is_power_of_two() => (old_root, path),
        Some((first, rest)) => (first, rest),
        None => return Err(refused()),
    };
    let (mut old, mut new) = (*first, *first);
    for sibling in rest {
        if last == 0 {
            return Err(refused());
        }
        if place & 1 == 1 || place == last {
            old = node_hash(sibling, &old);
            new = node_hash(sibling, &new);
            while place & 1 == 0 && place != 0 {
                (place, last) = (place >> 1, last >> 1);
            }
        } else {
            new = node_hash(&new, sibling);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    if last == 0 && old == *old_root && new == *new_root { Ok(()) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaves in memory, hashed again for every node: the definition.
    struct Leaves(Vec<Hash>);

    impl Nodes for Leaves {
        fn node(&self, height: u32, index: u64) -> Result<Hash> {
            if height == 0 {
                return Ok(self.0[usize::try_from(index).expect("small")]);
            }
            Ok(node_hash(&self.node(height - 1, 2 * index)?, &self.node(height - 1, 2 * index + 1)?))
        }
    }

    fn tree(size: u64) -> (Leaves, Hash) {
        let leaves = Leaves((0..size).map(|i| leaf_hash(&i.to_be_bytes())).collect());
        let root = subtree(&leaves, 0, size).unwrap();
        (leaves, root)
    }

    /// The test tree of the Certificate Transparency implementations: eight leaves and their roots.
    #[test]
    fn known_roots() {
        let leaves: [&[u8]; 8] = [
            b"",
            b"\0",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let leaves = Leaves(leaves.iter().map(|leaf| leaf_hash(leaf)).collect());
        let roots = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        for (size, root) in (0..).zip(roots) {
            let found = subtree(&leaves, 0, size).unwrap();
            assert_eq!(found.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), root, "{size}");
        }
    }

    #[test]
    fn every_leaf_of_every_small_tree_is_proven_and_nothing_else() {
        let mut proven = 0;
        for size in 1..=40 {
            let (leaves, root) = tree(size);
            for index in 0..size {
                let leaf = leaf_hash(&index.to_be_bytes());
                let path = inclusion(&leaves, index, size).unwrap();
                verify_inclusion(&leaf, index, size, &path, &root).unwrap();
                let refused = |leaf: &Hash, index, size, path: &[Hash], root: &Hash| {
                    let error = verify_inclusion(leaf, index, size, path, root).unwrap_err();
                    assert_eq!(error.reason(), Reason::NotIncluded);
                };
                refused(&root, index, size + 40, &path, &leaf);
                refused(&leaf_hash(b"x"), index, size, &path, &root);
                refused(&leaf, size, size, &path, &root);
                refused(&leaf, u64::MAX, size, &path, &root);
                refused(&leaf, 0, 0, &path, &root);
                for other in (0..size).filter(|other| *other != index) {
                    refused(&leaf, other, size, &path, &root);
                }
                refused(&leaf, index, size, &[&path[..], &[root]].concat(), &root);
                for at in 0..path.len() {
                    let mut bad = path.clone();
                    bad[at][31] ^= 1;
                    refused(&leaf, index, size, &bad, &root);
                    bad.remove(at);
                    refused(&leaf, index, size, &bad, &root);
                }
                proven += 1;
            }
        }
        assert_eq!(proven, 40 * 41 / 2);
    }

    #[test]
    fn every_older_tree_is_a_beginning_and_no_other_is() {
        let mut proven = 0;
        for size in 0..=40 {
            let (leaves, root) = tree(size);
            for old in 0..=size {
                let (_, old_root) = tree(old);
                let path = if old == 0 { Vec::new() } else { consistency(&leaves, old, size).unwrap() };
                verify_consistency((old, &old_root), (size, &root), &path).unwrap();
                let refused = |old: (u64, &Hash), new: (u64, &Hash), path: &[Hash]| {
                    assert_eq!(
                        verify_consistency(old, new, path).unwrap_err().reason(),
                        Reason::Inconsistent
                    );
                };
                refused((old, &[1; 32]), (size, &root), &path);
                refused((old, &old_root), (size, &root), &[&path[..], &[root]].concat());
                if old > 0 {
                    refused((old, &old_root), (size, &[1; 32]), &path);
                    refused((size + 1, &old_root), (size, &root), &path);
                }
                for at in 0..path.len() {
                    let mut bad = path.clone();
                    bad[at][0] ^= 1;
                    refused((old, &old_root), (size, &root), &bad);
                    bad.remove(at);
                    refused((old, &old_root), (size, &root), &bad);
                }
                proven += 1;
            }
        }
        assert_eq!(proven, 41 * 42 / 2);
    }
}
