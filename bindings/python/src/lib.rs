//! The module `oversleep` for Python. The crate does the work; here are the conversions, and the waits release the
//! interpreter's lock.

mod alone;
mod interpreter;
mod pacer;
mod parker;
mod resolution;

use std::time::Duration;

use oversleep::{Clock, Instant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How long a wait may go on before Python looks for signals.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Nanoseconds on the system's monotonic time line, ordered across threads.
#[pyfunction]
fn monotonic_ns() -> u64 {
    Clock::now_ordered().as_nanos()
}

/// Sleeps for at least this many seconds.
#[pyfunction]
fn sleep(py: Python<'_>, seconds: f64) -> PyResult<()> {
    wait_until(py, Clock::now_ordered().saturating_add(duration(seconds)?), sleep_once).map(|_| ())
}

/// Sleeps until `monotonic_ns()` is at least this.
#[pyfunction]
fn sleep_until(py: Python<'_>, deadline_ns: i128) -> PyResult<()> {
    wait_until(py, deadline(deadline_ns), sleep_once).map(|_| ())
}

/// Which clock is read, and why no faster one.
#[pyfunction]
fn clock() -> String {
    Clock::why().to_string()
}

fn sleep_once(end: Instant) -> bool {
    oversleep::sleep_until(end);
    false
}

/// Waits until `deadline` or until `wait` returns true, and lets Python handle signals in between.
fn wait_until(py: Python<'_>, deadline: Instant, mut wait: impl FnMut(Instant) -> bool + Send) -> PyResult<bool> {
    loop {
        let now = Clock::now();
        // The last part is long enough that learning and approaching the deadline aren't disturbed.
        let is_last = deadline.duration_since(now) <= 2 * SIGNALS_EVERY;
        let end = if is_last { deadline } else { now + SIGNALS_EVERY };
        if py.detach(|| wait(end)) {
            return Ok(true);
        }
        py.check_signals()?;
        if is_last {
            return Ok(false);
        }
    }
}

/// A deadline before the first moment has passed, and the last moment is in 584 years.
fn deadline(ns: i128) -> Instant {
    Instant::from_nanos(ns.clamp(0, u64::MAX.into()) as u64)
}

fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyValueError::new_err(format!("{seconds:?} is no time in seconds: {error}")))
}

/// Sleeps that end on time, and waits with exact deadlines.
#[pymodule]
#[pyo3(name = "oversleep")]
fn oversleep_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    interpreter::refuse_others(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    for function in [
        wrap_pyfunction!(monotonic_ns, module)?,
        wrap_pyfunction!(sleep, module)?,
        wrap_pyfunction!(sleep_until, module)?,
        wrap_pyfunction!(clock, module)?,
    ] {
        module.add_function(function)?;
    }
    module.add_class::<pacer::Pacer>()?;
    module.add_class::<pacer::Beat>()?;
    module.add_class::<parker::Parker>()?;
    module.add_class::<resolution::Resolution>()
}
