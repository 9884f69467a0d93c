//! Finer timing from the system for as long as a block runs.

use std::collections::BTreeMap;

use oversleep::resolution::Held;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A context manager that holds finer timing. It belongs to the thread that enters it.
#[pyclass(unsendable)]
pub struct Resolution {
    timer_slack: Option<f64>,
    time_slice: Option<f64>,
    timer: Option<f64>,
    real_time: Option<u8>,
    multimedia: bool,
    cpu_latency: Option<f64>,
    held: Option<Held>,
}

#[pymethods]
impl Resolution {
    /// What to request, times in seconds. Nothing stated means what is harmless everywhere.
    #[new]
    #[pyo3(signature = (*, timer_slack=None, time_slice=None, timer=None, real_time=None, multimedia=false,
        cpu_latency=None))]
    fn new(
        timer_slack: Option<f64>,
        time_slice: Option<f64>,
        timer: Option<f64>,
        real_time: Option<u8>,
        multimedia: bool,
        cpu_latency: Option<f64>,
    ) -> PyResult<Resolution> {
        for seconds in [timer_slack, time_slice, timer, cpu_latency].into_iter().flatten() {
            crate::duration(seconds)?;
        }
        if real_time.is_some_and(|priority| !(1..=99).contains(&priority)) {
            return Err(PyValueError::new_err("a real-time priority is 1 to 99"));
        }
        Ok(Resolution { timer_slack, time_slice, timer, real_time, multimedia, cpu_latency, held: None })
    }

    fn __enter__(mut this: PyRefMut<'_, Self>) -> PyResult<PyRefMut<'_, Self>> {
        if this.held.is_some() {
            return Err(PyRuntimeError::new_err("it is already held; leave its block first"));
        }
        let times = [this.timer_slack, this.time_slice, this.timer, this.cpu_latency];
        let is_default = times.iter().all(Option::is_none) && this.real_time.is_none() && !this.multimedia;
        let mut request = if is_default { oversleep::Resolution::harmless() } else { oversleep::Resolution::new() };
        if let Some(seconds) = this.timer_slack {
            request = request.timer_slack(crate::duration(seconds)?);
        }
        if let Some(seconds) = this.time_slice {
            request = request.time_slice(crate::duration(seconds)?);
        }
        if this.multimedia {
            request = request.multimedia();
        }
        if let Some(seconds) = this.timer {
            request = request.timer(crate::duration(seconds)?);
        }
        if let Some(priority) = this.real_time {
            request = request.real_time(priority);
        }
        if let Some(seconds) = this.cpu_latency {
            request = request.cpu_latency(crate::duration(seconds)?);
        }
        this.held = Some(request.hold());
        Ok(this)
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&mut self, _raised: &Bound<'_, PyTuple>) {
        self.held = None;
    }

    /// What came of each request: `(whether it is in effect, a sentence)` by setting. Empty outside the block.
    #[getter]
    fn outcomes(&self) -> BTreeMap<String, (bool, String)> {
        let settings = self.held.iter().flat_map(|held| held.settings());
        settings.map(|setting| (setting.what.to_string(), (setting.outcome.holds(), setting.outcome.to_string()))).collect()
    }
}
