//! Finer timing from the system for as long as a block runs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use oversleep::resolution::Held;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

thread_local! {
    /// What this thread holds, by number. A thread's settings can only be restored in it, and Python may drop a context
    /// manager anywhere, so what is held stays here: what nobody has released by then is released as the thread ends.
    static HELD: RefCell<BTreeMap<u64, Held>> = const { RefCell::new(BTreeMap::new()) };
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// Where something is held, and what came of it.
struct Holding {
    thread: ThreadId,
    number: u64,
    outcomes: BTreeMap<String, (bool, String)>,
}

impl Holding {
    fn new(held: Held) -> Holding {
        let outcomes = held
            .settings()
            .iter()
            .map(|setting| (setting.what.to_string(), (setting.outcome.holds(), setting.outcome.to_string())));
        let outcomes = outcomes.collect();
        let number = NEXT.replace(NEXT.get() + 1);
        HELD.with_borrow_mut(|all| all.insert(number, held));
        Holding { thread: thread::current().id(), number, outcomes }
    }

    /// Restores everything; false in another thread than the one that holds it.
    fn release(&self) -> bool {
        let is_mine = self.thread == thread::current().id();
        if is_mine {
            // An ending thread may have released it already.
            let held = HELD.try_with(|all| all.borrow_mut().remove(&self.number));
            drop(held);
        }
        is_mine
    }
}

/// A context manager that holds finer timing. The thread that enters its block leaves it.
#[pyclass(frozen, module = "oversleep")]
pub struct Resolution {
    timer_slack: Option<f64>,
    time_slice: Option<f64>,
    timer: Option<f64>,
    real_time: Option<u8>,
    multimedia: bool,
    cpu_latency: Option<f64>,
    holding: Mutex<Option<Holding>>,
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
        real_time: Option<i64>,
        multimedia: bool,
        cpu_latency: Option<f64>,
    ) -> PyResult<Resolution> {
        for seconds in [timer_slack, time_slice, timer, cpu_latency].into_iter().flatten() {
            crate::duration(seconds)?;
        }
        let real_time = match real_time {
            Some(priority @ 1..=99) => Some(priority as u8),
            Some(other) => {
                return Err(PyValueError::new_err(format!("a real-time priority is 1 to 99, not {other}")));
            }
            None => None,
        };
        let holding = Mutex::new(None);
        Ok(Resolution { timer_slack, time_slice, timer, real_time, multimedia, cpu_latency, holding })
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        // Nobody else enters meanwhile, also where threads run Python at once.
        let mut holding = this.holding();
        if holding.is_some() {
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
        *holding = Some(Holding::new(request.hold()));
        drop(holding);
        Ok(this)
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, PyTuple>) -> PyResult<()> {
        let mut holding = self.holding();
        if holding.as_ref().is_some_and(|holding| !holding.release()) {
            return Err(PyRuntimeError::new_err(
                "another thread entered this block, and only that thread can leave it",
            ));
        }
        *holding = None;
        Ok(())
    }

    /// What came of each request: `(whether it is in effect, a sentence)` by setting. Empty outside the block.
    #[getter]
    fn outcomes(&self) -> BTreeMap<String, (bool, String)> {
        self.holding().as_ref().map(|holding| holding.outcomes.clone()).unwrap_or_default()
    }
}

impl Resolution {
    fn holding(&self) -> MutexGuard<'_, Option<Holding>> {
        self.holding.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Resolution {
    fn drop(&mut self) {
        if let Some(holding) = self.holding().take() {
            holding.release();
        }
    }
}
