//! Memory objects: bytes that are named by their hash, so that a name says what they must be.
//!
//! ```
//! use gambeson_identity::memory::{MemoryObjects, ObjectId, Objects};
//!
//! let mut memory = MemoryObjects::default();
//! let id = memory.put(b"the user prefers short answers")?;
//! assert_eq!(id.to_string().len(), 67); // b3: and 64 hexadecimal digits
//! assert_eq!(memory.get(&id)?.as_deref(), Some(&b"the user prefers short answers"[..]));
//! # Ok::<(), gambeson_identity::Error>(())
//! ```
//!
//! An object has at most [`MAX_OBJECT`] bytes. What is larger is cut into objects of that size, and a [`Manifest`] says which, in their
//! order; the manifest is an object itself. `docs/spec/memory.md` has the bytes.

use crate::{Error, Reason, Result, json};
use core::fmt;
use core::str::FromStr;
use serde_json::Value;
use std::collections::BTreeMap;

#[cfg(not(target_family = "wasm"))]
mod directory;
#[cfg(not(target_family = "wasm"))]
pub use directory::DirectoryObjects;

/// The longest object in bytes: 1 MiB.
pub const MAX_OBJECT: usize = 1 << 20;
/// The most objects of one manifest: 8 GiB, of whose names the manifest still is an object.
pub const MAX_CHUNKS: usize = 8192;

const PREFIX: &str = "b3:";
const MANIFEST: &str = "gambeson-memory-manifest-v1";

/// The name of an object: BLAKE3 of its bytes, as `b3:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId([u8; 32]);

impl ObjectId {
    /// The name of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Refuses bytes with another name.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongHash`].
    pub fn check(&self, bytes: &[u8]) -> Result<()> {
        if Self::of(bytes) == *self {
            return Ok(());
        }
        Err(Error::new(Reason::WrongHash, format_args!("the bytes are not those of {self}")))
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ObjectId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Error::new(
                Reason::BadForm,
                "the name of an object must be b3: and 64 lower-case hexadecimal digits",
            )
        };
        let digits = text.strip_prefix(PREFIX).ok_or_else(bad)?.as_bytes();
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(bad()),
        };
        let (pairs, []) = digits.as_chunks::<2>() else { return Err(bad()) };
        let pairs: &[[u8; 2]; 32] = pairs.try_into().map_err(|_| bad())?;
        let mut id = [0; 32];
        for (byte, [high, low]) in id.iter_mut().zip(pairs) {
            *byte = value(*high)? << 4 | value(*low)?;
        }
        Ok(Self(id))
    }
}

/// Where objects are kept.
pub trait Objects {
    /// Keeps an object, and gives its name.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`] for more than [`MAX_OBJECT`] bytes, [`Reason::StorageFailed`].
    fn put(&mut self, bytes: &[u8]) -> Result<ObjectId>;

    /// The object of a name, whose bytes were checked; `None` if it is not here.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongHash`] if the bytes were changed, [`Reason::StorageFailed`].
    fn get(&self, id: &ObjectId) -> Result<Option<Vec<u8>>>;

    /// The names of all objects, in their order.
    ///
    /// # Errors
    ///
    /// [`Reason::StorageFailed`].
    fn ids(&self) -> Result<Vec<ObjectId>>;
}

/// Objects in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryObjects(BTreeMap<ObjectId, Vec<u8>>);

impl Objects for MemoryObjects {
    fn put(&mut self, bytes: &[u8]) -> Result<ObjectId> {
        let id = checked_id(bytes)?;
        self.0.entry(id).or_insert_with(|| bytes.to_vec());
        Ok(id)
    }

    fn get(&self, id: &ObjectId) -> Result<Option<Vec<u8>>> {
        Ok(self.0.get(id).cloned())
    }

    fn ids(&self) -> Result<Vec<ObjectId>> {
        Ok(self.0.keys().copied().collect())
    }
}

fn checked_id(bytes: &[u8]) -> Result<ObjectId> {
    if bytes.len() > MAX_OBJECT {
        return Err(Error::new(Reason::TooLarge, format_args!("an object of {} bytes", bytes.len())));
    }
    Ok(ObjectId::of(bytes))
}

/// Which objects, one behind the other, are the bytes that are too many for one.
///
/// ```
/// use gambeson_identity::memory::{Manifest, MemoryObjects, Objects};
///
/// let mut memory = MemoryObjects::default();
/// let large = vec![7; 3_000_000];
/// let id = Manifest::store(&large, &mut memory)?;
/// assert_eq!(Manifest::load(&id, &memory, 10 << 20)?, large);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// How many bytes there are.
    pub size: u64,
    /// The objects; all but the last have [`MAX_OBJECT`] bytes.
    pub chunks: Vec<ObjectId>,
}

impl Manifest {
    /// Cuts bytes into objects, keeps these and the manifest, and gives the name of the manifest.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`], and those of [`Objects::put`].
    pub fn store(bytes: &[u8], objects: &mut impl Objects) -> Result<ObjectId> {
        if bytes.len().div_ceil(MAX_OBJECT) > MAX_CHUNKS {
            return Err(Error::new(Reason::TooLarge, format_args!("{} bytes of memory", bytes.len())));
        }
        let chunks = bytes.chunks(MAX_OBJECT).map(|chunk| objects.put(chunk)).collect::<Result<Vec<_>>>()?;
        objects.put(&Self { size: bytes.len() as u64, chunks }.to_json()?)
    }

    /// The bytes of the manifest with this name, at most `max_len`; every object is checked. A manifest of 600 KB can name
    /// one object of 1 MiB 8192 times: the bound stands before anything is gathered.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`] for more bytes than `max_len`, [`Reason::WrongHash`] if an object is missing or changed, and those of
    /// [`Manifest::parse`].
    pub fn load(id: &ObjectId, objects: &impl Objects, max_len: u64) -> Result<Vec<u8>> {
        let object = |id: &ObjectId| {
            let found = objects.get(id)?;
            found.ok_or_else(|| Error::new(Reason::WrongHash, format_args!("object {id} does not exist")))
        };
        let manifest = Self::parse(&object(id)?)?;
        if manifest.size > max_len {
            return Err(Error::new(
                Reason::TooLarge,
                format_args!("the content has {} bytes; the limit is {max_len}", manifest.size),
            ));
        }
        let mut bytes = Vec::new();
        for (index, id) in manifest.chunks.iter().enumerate() {
            let chunk = object(id)?;
            let left = manifest.size - (index * MAX_OBJECT) as u64;
            if chunk.len() as u64 != left.min(MAX_OBJECT as u64) {
                return Err(bad("an object has the wrong length for its place"));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Reads a manifest, which has one form only: the canonical one (RFC 8785).
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`], [`Reason::BadJson`], [`Reason::BadForm`].
    pub fn parse(text: &[u8]) -> Result<Self> {
        let object = json::parse_object(text, MAX_OBJECT)?;
        let size = object.get("size").and_then(Value::as_u64).ok_or_else(|| bad("the size is missing"))?;
        let chunks =
            object.get("chunks").and_then(Value::as_array).ok_or_else(|| bad("the chunks are missing"))?;
        if chunks.len() > MAX_CHUNKS || chunks.len() as u64 != size.div_ceil(MAX_OBJECT as u64) {
            return Err(bad("the number of chunks does not fit the size"));
        }
        let chunks = chunks
            .iter()
            .map(|id| id.as_str().ok_or_else(|| bad("a chunk must be named by a string"))?.parse());
        let manifest = Self { size, chunks: chunks.collect::<Result<_>>()? };
        if manifest.to_json()? == text { Ok(manifest) } else { Err(bad("it is not in its canonical form")) }
    }

    /// The canonical JSON.
    ///
    /// # Errors
    ///
    /// [`Reason::BadJson`] for a size beyond 2^53 - 1.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let chunks: Vec<String> = self.chunks.iter().map(ToString::to_string).collect();
        json::canonicalize(&serde_json::json!({"chunks": chunks, "size": self.size, "type": MANIFEST}))
    }
}

fn bad(what: &str) -> Error {
    Error::new(Reason::BadForm, format_args!("not a manifest of memory objects: {what}"))
}
