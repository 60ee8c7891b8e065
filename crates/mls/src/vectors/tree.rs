//! Paths through ratchet trees (RFC 9420, sections 4 and 7).

use std::collections::BTreeMap;

use mls_rs_core::crypto::{CipherSuiteProvider, SignatureSecretKey};
use serde_json::Value;

use super::wire::{
    Judged, Reader, Sealed, belongs, check, decrypt, derive, group_context, hex, labeled, list, number,
    private, said, same, vector, verify,
};
use crate::SuiteProvider;

const LEAF: u64 = 1;
const PARENT: u64 = 2;

/// The source of a leaf that came with a commit.
const COMMIT: u64 = 3;

/// LeafNode, as its bytes and what is asked of it.
#[derive(Clone)]
pub(super) struct Leaf {
    bytes: Vec<u8>,
    /// What is signed, without group and index.
    signed: Vec<u8>,
    pub(super) encryption: Vec<u8>,
    pub(super) verification: Vec<u8>,
    signature: Vec<u8>,
    /// Of a leaf that came with a commit.
    parent_hash: Option<Vec<u8>>,
}

impl Leaf {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let (mut keys, mut parent_hash, mut signature) = ([&[][..]; 2], None, &[][..]);
        let mut signed: &[u8] = &[];
        let bytes = reader.span(|reader| {
            signed = reader.span(|reader| {
                keys = [reader.vector()?, reader.vector()?];
                check(reader.number(2)? == 1, "a basic credential")?;
                reader.vector()?;
                for _ in ["versions", "suites", "extensions", "proposals", "credentials"] {
                    reader.vector()?;
                }
                match reader.number(1)? {
                    1 => reader.take(16).map(drop)?,
                    2 => {}
                    COMMIT => parent_hash = Some(reader.vector()?.to_vec()),
                    _ => return Err("a source that no leaf has".into()),
                }
                reader.vector().map(drop)
            })?;
            signature = reader.vector()?;
            Ok(())
        })?;
        let [encryption, verification] = keys.map(<[u8]>::to_vec);
        let (bytes, signed, signature) = (bytes.to_vec(), signed.to_vec(), signature.to_vec());
        Ok(Self { bytes, signed, encryption, verification, signature, parent_hash })
    }
}

#[derive(Clone, Default)]
struct Parent {
    encryption: Vec<u8>,
    parent_hash: Vec<u8>,
    unmerged: Vec<u32>,
}

impl Parent {
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let (encryption, parent_hash) = (reader.vector()?.to_vec(), reader.vector()?.to_vec());
        let (mut leaves, mut unmerged) = (Reader(reader.vector()?), Vec::new());
        while !leaves.0.is_empty() {
            unmerged.push(leaves.number(4)? as u32);
        }
        Ok(Self { encryption, parent_hash, unmerged })
    }

    fn bytes(&self) -> Vec<u8> {
        let unmerged: Vec<u8> = self.unmerged.iter().flat_map(|leaf| leaf.to_be_bytes()).collect();
        [vector(&self.encryption), vector(&self.parent_hash), vector(&unmerged)].concat()
    }
}

#[derive(Clone)]
enum Node {
    Leaf(Leaf),
    Parent(Parent),
}

/// A whole tree as an array (appendix C); blank nodes are `None`.
#[derive(Clone)]
struct Tree(Vec<Option<Node>>);

const fn level(node: usize) -> u32 {
    node.trailing_ones()
}

/// The children of a parent.
const fn children(node: usize) -> [usize; 2] {
    let below = level(node) - 1;
    [node ^ (1 << below), node ^ (3 << below)]
}

impl Tree {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = Reader(bytes);
        let (mut reader, rest) = (Reader(reader.vector()?), reader);
        rest.end()?;
        let mut nodes = Vec::new();
        while !reader.0.is_empty() {
            nodes.push(match reader.number(1)? {
                0 => None,
                _ => Some(match reader.number(1)? {
                    LEAF => Node::Leaf(Leaf::read(&mut reader)?),
                    PARENT => Node::Parent(Parent::read(&mut reader)?),
                    _ => return Err("a node that no tree has".into()),
                }),
            });
        }
        let leaves = nodes.len().div_ceil(2).next_power_of_two();
        nodes.resize(2 * leaves - 1, None);
        Ok(Self(nodes))
    }

    fn root(&self) -> usize {
        self.0.len() / 2
    }

    fn leaf(&self, index: usize) -> Result<&Leaf, String> {
        match self.0.get(2 * index) {
            Some(Some(Node::Leaf(leaf))) => Ok(leaf),
            _ => Err("no leaf is there".into()),
        }
    }

    /// The key of a node that is not blank.
    fn key(&self, node: usize) -> Result<&[u8], String> {
        match self.0.get(node) {
            Some(Some(Node::Leaf(leaf))) => Ok(&leaf.encryption),
            Some(Some(Node::Parent(parent))) => Ok(&parent.encryption),
            _ => Err("no key is there".into()),
        }
    }

    /// The nodes whose keys reach everybody below one (section 4.1.1).
    fn resolution(&self, node: usize) -> Vec<usize> {
        match &self.0[node] {
            Some(Node::Leaf(_)) => vec![node],
            Some(Node::Parent(parent)) => {
                let unmerged = parent.unmerged.iter().map(|leaf| 2 * *leaf as usize);
                std::iter::once(node).chain(unmerged).collect()
            }
            None if level(node) == 0 => Vec::new(),
            None => children(node).into_iter().flat_map(|child| self.resolution(child)).collect(),
        }
    }

    /// The parents above a leaf that its path has, from below, each with the child that is not on the path (section 4.1.2).
    fn path(&self, leaf: usize) -> Vec<(usize, usize)> {
        let (mut path, mut node) = (Vec::new(), self.root());
        while level(node) > 0 {
            let [left, right] = children(node);
            let (next, beside) = if 2 * leaf < node { (left, right) } else { (right, left) };
            if !self.resolution(beside).is_empty() {
                path.push((node, beside));
            }
            node = next;
        }
        path.reverse();
        path
    }

    /// The hash of what is below a node (section 7.8).
    fn hash(&self, suite: &SuiteProvider, node: usize) -> Result<Vec<u8>, String> {
        let content = match &self.0[node] {
            None => vec![0],
            Some(Node::Leaf(leaf)) => [&[1], &leaf.bytes[..]].concat(),
            Some(Node::Parent(parent)) => [&[1], &parent.bytes()[..]].concat(),
        };
        let input = if level(node) == 0 {
            let index = (node / 2) as u32;
            [&[LEAF as u8][..], &index.to_be_bytes(), &content].concat()
        } else {
            let [left, right] = children(node).map(|child| self.hash(suite, child));
            [&[PARENT as u8][..], &content, &vector(&left?), &vector(&right?)].concat()
        };
        suite.hash(&input).map_err(said)
    }

    /// The tree after a path, whose parents have these keys: all other nodes above the leaf become blank (section 7.5).
    fn after(&self, suite: &SuiteProvider, index: usize, update: &Update<'_>) -> Result<Self, String> {
        let mut tree = self.clone();
        let path = self.path(index);
        check(path.len() == update.nodes.len(), "the length of a path")?;
        for node in (0..self.0.len()).filter(|node| above(*node, 2 * index)) {
            tree.0[node] = None;
        }
        let mut parent_hash = Vec::new();
        for ((node, beside), (key, _)) in path.iter().zip(&update.nodes).rev() {
            let parent = Parent { encryption: key.to_vec(), parent_hash, unmerged: Vec::new() };
            let sibling = self.hash(suite, *beside)?;
            let input = [vector(&parent.encryption), vector(&parent.parent_hash), vector(&sibling)].concat();
            parent_hash = suite.hash(&input).map_err(said)?;
            tree.0[*node] = Some(Node::Parent(parent));
        }
        check(update.leaf.parent_hash.as_ref() == Some(&parent_hash), "the parent hash of the new leaf")?;
        tree.0[2 * index] = Some(Node::Leaf(update.leaf.clone()));
        Ok(tree)
    }
}

/// Whether a node is a parent above another.
const fn above(node: usize, other: usize) -> bool {
    let level = level(node);
    level > 0 && node >> (level + 1) == other >> (level + 1)
}

/// UpdatePath (section 7.6): the leaf, and for each node its key and a ciphertext for each node of the resolution beside it.
struct Update<'a> {
    leaf: Leaf,
    nodes: Vec<(&'a [u8], Vec<Sealed<'a>>)>,
}

impl<'a> Update<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut reader = Reader(bytes);
        let leaf = Leaf::read(&mut reader)?;
        let (mut list, mut nodes) = (Reader(reader.vector()?), Vec::new());
        reader.end()?;
        while !list.0.is_empty() {
            let (key, mut secrets, mut sealed) = (list.vector()?, Reader(list.vector()?), Vec::new());
            while !secrets.0.is_empty() {
                sealed.push(Sealed::read(&mut secrets)?);
            }
            nodes.push((key, sealed));
        }
        Ok(Self { leaf, nodes })
    }
}

/// `treekem`.
pub(super) fn paths(suite: &SuiteProvider, case: &Value) -> Judged {
    let bytes = hex(&case["ratchet_tree"])?;
    let tree = Tree::read(&bytes)?;
    // The private keys that each leaf has, by node.
    let mut known: BTreeMap<usize, BTreeMap<usize, Vec<u8>>> = BTreeMap::new();
    for v in list(&case["leaves_private"])? {
        let index = number(&v["index"])?;
        let leaf = tree.leaf(index)?;
        let secret = SignatureSecretKey::new(private(suite, &v["signature_priv"])?);
        let signature = suite.sign(&secret, &labeled("LeafNodeTBS", b"ours")).map_err(said)?;
        verify(suite, &leaf.verification, "LeafNodeTBS", b"ours", &signature)?;
        let encryption = private(suite, &v["encryption_priv"])?;
        belongs(suite, &encryption, &leaf.encryption)?;
        let mut keys = BTreeMap::from([(2 * index, encryption)]);
        for v in list(&v["path_secrets"])? {
            let (node, secret) = (number(&v["node"])?, hex(&v["path_secret"])?);
            keys.insert(node, node_key(suite, &secret, tree.key(node)?)?);
        }
        known.insert(index, keys);
    }
    let (group, transcript) = (hex(&case["group_id"])?, hex(&case["confirmed_transcript_hash"])?);
    let epoch = case["epoch"].as_u64().ok_or("an epoch is missing")?;
    for v in list(&case["update_paths"])? {
        let (sender, bytes) = (number(&v["sender"])?, hex(&v["update_path"])?);
        let update = Update::read(&bytes)?;
        let signed = [&update.leaf.signed, &vector(&group)[..], &(sender as u32).to_be_bytes()].concat();
        verify(suite, &update.leaf.verification, "LeafNodeTBS", &signed, &update.leaf.signature)?;
        let after = tree.after(suite, sender, &update)?;
        let tree_hash = after.hash(suite, after.root())?;
        same(v, "tree_hash_after", &tree_hash)?;
        let context = group_context(suite, &group, epoch, &tree_hash, &transcript);
        let path = tree.path(sender);
        for (index, keys) in known.iter().filter(|(index, _)| **index != sender) {
            // The lowest node of the path that is above this leaf, too.
            let at = path.iter().position(|(node, _)| above(*node, 2 * index)).ok_or("no common node")?;
            let resolution = tree.resolution(path[at].1);
            let sealed = &update.nodes[at].1;
            check(sealed.len() == resolution.len(), "a ciphertext for each of a resolution")?;
            let held =
                resolution.iter().zip(sealed).find_map(|(node, sealed)| Some((keys.get(node)?, sealed)));
            let (key, sealed) = held.ok_or("nothing is sealed to a key of this leaf")?;
            let mut secret = decrypt(suite, key, "UpdatePathNode", &context, sealed)?;
            check(hex(&v["path_secrets"][*index])? == secret, "the path secret of a leaf")?;
            for (key, _) in &update.nodes[at..] {
                node_key(suite, &secret, key)?;
                secret = derive(suite, &secret, "path")?;
            }
            same(v, "commit_secret", &secret)?;
        }
    }
    Ok(())
}

/// The private key of a node by its path secret, if its public key is that one (section 7.4).
fn node_key(suite: &SuiteProvider, path_secret: &[u8], public: &[u8]) -> Result<Vec<u8>, String> {
    let secret = derive(suite, path_secret, "node")?;
    let (private, derived) = suite.kem_derive(&secret).map_err(said)?;
    check(derived.as_ref() == public, "the key of a node")?;
    Ok(private.to_vec())
}
