//! Which interpreters may use the module.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Refuses every interpreter but the main one: the module's classes belong to the interpreter that imports it first, and
/// would outlive it. Since Python 3.12 Python itself refuses interpreters that have a lock of their own.
pub fn refuse_others(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: the thread is attached to an interpreter, as `_py` shows, so there is a current one.
    let id = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match id {
        0 => Ok(()),
        _ => Err(PyImportError::new_err("oversleep works in the main interpreter only, and this is a sub-interpreter")),
    }
}
