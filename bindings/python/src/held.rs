//! A private key that Python holds, until it is wiped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::error::{NOT_EXPORTABLE, USAGE, WIPED, error};

/// A secret that `wipe` takes away: what other threads began with it ends first, then it is wiped.
///
/// The lock is held for no longer than it takes to count one more user, or to change the secret, and no Python runs below it:
/// it cannot deadlock.
pub struct Held<T>(Mutex<Option<Arc<T>>>);

impl<T: Send + Sync> Held<T> {
    pub fn new(secret: T) -> Self {
        Self(Mutex::new(Some(Arc::new(secret))))
    }

    /// Works with the secret, detached.
    pub fn with<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&T) -> R + Send) -> PyResult<R> {
        py.detach(|| {
            let secret = self.lock().clone();
            secret.map(|secret| work(&secret))
        })
        .ok_or_else(|| wiped(py))
    }

    /// Changes the secret, detached, unless another thread works with it.
    pub fn with_mut<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R + Send) -> PyResult<R> {
        let changed = py.detach(|| self.lock().as_mut().map(|secret| Arc::get_mut(secret).map(work)));
        match changed {
            Some(Some(changed)) => Ok(changed),
            Some(None) => Err(error(py, USAGE, "this agent is in use by another thread")),
            None => Err(wiped(py)),
        }
    }

    /// The secret, for as long as somebody else works with it: until then, `wipe` only takes it away here.
    pub fn share(&self, py: Python<'_>) -> PyResult<Arc<T>> {
        self.lock().clone().ok_or_else(|| wiped(py))
    }

    /// Takes the secret away. A second time does nothing.
    pub fn wipe(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().take()));
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wiped(py: Python<'_>) -> PyErr {
    error(py, WIPED, "this key was wiped")
}

/// What `copy` and `pickle` get.
pub fn not_exportable(py: Python<'_>, class: &str) -> PyErr {
    error(py, NOT_EXPORTABLE, format_args!("a {class} cannot be copied, pickled or sent to other processes"))
}

/// The methods that every private key has: a context manager that wipes, and refusals to be copied.
#[macro_export]
macro_rules! private_key_methods {
    ($class:ident) => {
        #[pyo3::pymethods]
        impl $class {
            /// Wipes the key; what uses it afterwards raises, and what other threads began ends first.
            fn wipe(&self, py: Python<'_>) {
                self.0.wipe(py);
            }

            fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
                this
            }

            #[pyo3(signature = (*_exception))]
            fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
                self.0.wipe(py);
            }

            fn __copy__(&self, py: Python<'_>) -> PyResult<()> {
                Err($crate::held::not_exportable(py, stringify!($class)))
            }

            fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<()> {
                Err($crate::held::not_exportable(py, stringify!($class)))
            }

            fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
                Err($crate::held::not_exportable(py, stringify!($class)))
            }

            fn __reduce_ex__(&self, py: Python<'_>, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
                Err($crate::held::not_exportable(py, stringify!($class)))
            }

            fn __getstate__(&self, py: Python<'_>) -> PyResult<()> {
                Err($crate::held::not_exportable(py, stringify!($class)))
            }

            fn __repr__(&self) -> &'static str {
                concat!(stringify!($class), "(…)")
            }
        }
    };
}

/// The methods of a public key whose bytes alone make it again.
#[macro_export]
macro_rules! public_key_methods {
    ($class:ident) => {
        $crate::public_key_values!($class);

        #[pyo3::pymethods]
        impl $class {
            fn __reduce__<'py>(
                this: &Bound<'py, Self>,
            ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, pyo3::types::PyBytes>,))> {
                let make = this.get_type().getattr("from_public_bytes")?;
                Ok((make, (this.get().public_bytes_raw(this.py()),)))
            }
        }
    };
}

/// The methods of every public key.
#[macro_export]
macro_rules! public_key_values {
    ($class:ident) => {
        #[pyo3::pymethods]
        impl $class {
            /// The bytes of the key, as its standard encodes them.
            fn public_bytes_raw<'py>(&self, py: Python<'py>) -> Bound<'py, pyo3::types::PyBytes> {
                pyo3::types::PyBytes::new(py, self.key.as_bytes())
            }

            fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
                other.cast::<Self>().is_ok_and(|other| other.get().key == self.key)
            }

            fn __hash__(&self) -> u64 {
                use std::hash::{DefaultHasher, Hash, Hasher};
                let mut hasher = DefaultHasher::new();
                self.key.as_bytes().hash(&mut hasher);
                hasher.finish()
            }

            fn __copy__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
                this
            }

            fn __deepcopy__<'py>(this: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
                this
            }

            fn __repr__(&self) -> String {
                let shown: String =
                    self.key.as_bytes()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
                format!("{}({shown}…)", stringify!($class))
            }
        }
    };
}
