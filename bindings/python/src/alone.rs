//! A value that one thread uses at a time, with or without the interpreter's lock.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Empty while a thread uses the value.
pub struct Alone<T>(Mutex<Option<T>>);

impl<T> Alone<T> {
    pub fn new(value: T) -> Alone<T> {
        Alone(Mutex::new(Some(value)))
    }

    /// Takes the value until the end of the use. A second thread is told how to do without.
    pub fn take(&self, refusal: &'static str) -> PyResult<InUse<'_, T>> {
        let value = self.slot().take().ok_or_else(|| PyRuntimeError::new_err(refusal))?;
        Ok(InUse { place: self, value: Some(value) })
    }

    /// Nobody holds it for long: not while another thread may run, and so not while the process forks.
    fn slot(&self) -> MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value, which is put back at the end.
pub struct InUse<'a, T> {
    place: &'a Alone<T>,
    value: Option<T>,
}

impl<T> Deref for InUse<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is here until the end")
    }
}

impl<T> DerefMut for InUse<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is here until the end")
    }
}

impl<T> Drop for InUse<'_, T> {
    fn drop(&mut self) {
        *self.place.slot() = self.value.take();
    }
}
