//! Memory objects: bytes that are named by their hash.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use gambeson_identity::memory::{DirectoryObjects, Manifest, MemoryObjects, ObjectId, Objects};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::detached;
use crate::convert::whole;
use crate::input::Input;

/// The most bytes that are loaded by a manifest, unless the caller says otherwise: 64 MiB.
const MAX_LOADED: u64 = 64 << 20;

/// The name of a memory object, by which others refer to it: `b3:` and the hash of its bytes.
#[pyfunction]
pub fn object_id(py: Python<'_>, data: Input<'_>) -> String {
    let data = data.as_slice();
    py.detach(|| ObjectId::of(data).to_string())
}

/// Memory objects in memory.
#[pyclass(frozen, module = "gambeson")]
#[derive(Default)]
pub struct ObjectStore(RwLock<MemoryObjects>);

#[pymethods]
impl ObjectStore {
    #[new]
    fn new() -> Self {
        Self::default()
    }
}

/// Memory objects in a folder, one file each, checked against their names when they are read.
#[pyclass(frozen, module = "gambeson")]
pub struct ObjectDirectory(RwLock<DirectoryObjects>);

#[pymethods]
impl ObjectDirectory {
    /// The objects of this folder, which is made when one is kept.
    #[new]
    fn new(folder: PathBuf) -> Self {
        Self(RwLock::new(DirectoryObjects::new(folder)))
    }
}

macro_rules! objects {
    ($($class:ident)*) => {$(
        #[pymethods]
        impl $class {
            /// Keeps an object of at most 1 MiB, and gives its name.
            fn put(&self, py: Python<'_>, data: Input<'_>) -> PyResult<String> {
                let data = data.as_slice();
                let id = detached(py, || self.0.write().unwrap_or_else(PoisonError::into_inner).put(data))?;
                Ok(id.to_string())
            }

            /// The object of a name, or `None` if it is not here. Bytes that were changed raise.
            fn get<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
                let found = detached(py, || {
                    self.0.read().unwrap_or_else(PoisonError::into_inner).get(&id.parse()?)
                })?;
                Ok(found.map(|data| PyBytes::new(py, &data)))
            }

            /// The names of all objects, in their order.
            fn ids(&self, py: Python<'_>) -> PyResult<Vec<String>> {
                let ids = detached(py, || self.0.read().unwrap_or_else(PoisonError::into_inner).ids())?;
                Ok(ids.iter().map(ToString::to_string).collect())
            }

            /// Keeps up to 8 GiB: cut into objects, and a manifest that names them. Gives the name of the manifest.
            fn store(&self, py: Python<'_>, data: Input<'_>) -> PyResult<String> {
                let data = data.as_slice();
                let id = detached(py, || {
                    Manifest::store(data, &mut *self.0.write().unwrap_or_else(PoisonError::into_inner))
                })?;
                Ok(id.to_string())
            }

            /// The bytes of a manifest, at most `max_len`; every object is checked. A small manifest can name one object many
            /// times: the bound stands before anything is gathered.
            #[pyo3(signature = (id, *, max_len=MAX_LOADED))]
            fn load<'py>(&self, py: Python<'py>, id: &str, #[pyo3(from_py_with = whole)] max_len: u64) -> PyResult<Bound<'py, PyBytes>> {
                let data = detached(py, || {
                    let objects = self.0.read().unwrap_or_else(PoisonError::into_inner);
                    Manifest::load(&id.parse()?, &*objects, max_len)
                })?;
                Ok(PyBytes::new(py, &data))
            }
        }
    )*};
}

objects!(ObjectStore ObjectDirectory);
