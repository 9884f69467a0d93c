//! Waiting for another thread until an exact deadline.

use oversleep::{Clock, Instant, Unparker};
use pyo3::prelude::*;

use crate::alone::Alone;

const REFUSAL: &str = "another thread is parked here; use a parker for each thread";

/// Parks one thread at a time until another one unparks it, or until a deadline.
#[pyclass(frozen, module = "oversleep")]
pub struct Parker {
    parker: Alone<oversleep::Parker>,
    unparker: Unparker,
}

#[pymethods]
impl Parker {
    #[new]
    fn new() -> Parker {
        let parker = oversleep::Parker::new();
        let unparker = parker.unparker();
        Parker { parker: Alone::new(parker), unparker }
    }

    /// Parks for this many seconds, or for as long as it takes. Returns whether another thread ended it.
    #[pyo3(signature = (timeout=None))]
    fn park(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let deadline = match timeout {
            Some(seconds) => Clock::now_ordered().saturating_add(crate::duration(seconds)?),
            None => Instant::from_nanos(u64::MAX),
        };
        self.until(py, deadline)
    }

    /// Parks until `monotonic_ns()` is at least this. Returns whether another thread ended it.
    fn park_until(&self, py: Python<'_>, deadline_ns: i128) -> PyResult<bool> {
        self.until(py, crate::deadline(deadline_ns))
    }

    /// Ends the park, or the next one at once.
    fn unpark(&self) {
        self.unparker.unpark();
    }
}

impl Parker {
    fn until(&self, py: Python<'_>, deadline: Instant) -> PyResult<bool> {
        let mut parker = self.parker.take(REFUSAL)?;
        // A parker may be used by one thread at a time, so the closure has it alone.
        let alone = &mut *parker;
        crate::wait_until(py, deadline, move |end| alone.park_until(end).is_notified())
    }
}
