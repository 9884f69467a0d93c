//! A loop at a fixed rate.

use oversleep::Missed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::alone::{Alone, InUse};

/// A loop at a fixed rate, on absolute deadlines. One thread uses it at a time.
#[pyclass(frozen, module = "oversleep")]
pub struct Pacer {
    pacer: Alone<oversleep::Pacer>,
}

/// A period that was delivered.
#[pyclass(frozen, get_all, module = "oversleep")]
pub struct Beat {
    /// Counted from the start; the first delivered is 1.
    period: u64,
    /// When it was due.
    deadline_ns: u64,
    /// How long after its deadline it was delivered.
    lateness_ns: u64,
    /// How many periods were skipped before it.
    missed: u64,
}

#[pymethods]
impl Beat {
    fn __repr__(&self) -> String {
        let Beat { period, deadline_ns, lateness_ns, missed } = self;
        format!("Beat(period={period}, deadline_ns={deadline_ns}, lateness_ns={lateness_ns}, missed={missed})")
    }
}

impl From<oversleep::Beat> for Beat {
    fn from(beat: oversleep::Beat) -> Beat {
        let deadline_ns = beat.deadline.as_nanos();
        Beat { period: beat.period, deadline_ns, lateness_ns: beat.lateness_ns, missed: beat.missed }
    }
}

#[pymethods]
impl Pacer {
    /// A loop that starts now, by its rate or by its period in seconds.
    #[new]
    #[pyo3(signature = (*, per_second=None, period=None, missed="skip"))]
    fn new(per_second: Option<i64>, period: Option<f64>, missed: &str) -> PyResult<Pacer> {
        let pacer = match (per_second, period) {
            (Some(rate @ 1..=1_000_000_000), None) => oversleep::Pacer::per_second(rate as u32),
            (Some(rate), None) => {
                return Err(PyValueError::new_err(format!("a rate is 1 to 10**9 per second, not {rate}")));
            }
            (None, Some(seconds)) => match crate::duration(seconds)? {
                period if period.is_zero() => return Err(PyValueError::new_err("a period is at least 1 ns")),
                period => oversleep::Pacer::every(period),
            },
            _ => return Err(PyValueError::new_err("state either per_second or period")),
        };
        let policy = match missed {
            "skip" => Missed::Skip,
            "catch-up" => Missed::CatchUp,
            "delay" => Missed::Delay,
            other => {
                let message = format!("missed is \"skip\", \"catch-up\" or \"delay\", not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(Pacer { pacer: Alone::new(pacer.on_missed(policy)) })
    }

    /// Waits for the next period.
    fn wait(&self, py: Python<'_>) -> PyResult<Beat> {
        let mut pacer = self.taken()?;
        // All but the end goes by here, so that Ctrl-C ends a long period.
        let early = pacer.next_deadline().checked_sub(crate::SIGNALS_EVERY);
        if let Some(early) = early.filter(|&early| early > oversleep::Clock::now()) {
            crate::wait_until(py, early, crate::sleep_once)?;
        }
        let alone = &mut *pacer;
        Ok(py.detach(move || alone.wait()).into())
    }

    /// The next period if it is already due.
    fn poll(&self) -> PyResult<Option<Beat>> {
        Ok(self.taken()?.poll().map(Beat::from))
    }

    /// When the next period is due.
    #[getter]
    fn next_deadline_ns(&self) -> PyResult<u64> {
        Ok(self.taken()?.next_deadline().as_nanos())
    }

    /// How many periods were skipped since the start.
    #[getter]
    fn missed(&self) -> PyResult<u64> {
        Ok(self.taken()?.missed())
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Beat> {
        self.wait(py)
    }
}

impl Pacer {
    fn taken(&self) -> PyResult<InUse<'_, oversleep::Pacer>> {
        self.pacer.take("another thread waits for this pacer; use a pacer for each thread")
    }
}
