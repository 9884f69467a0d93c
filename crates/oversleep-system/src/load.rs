//! Background load: hogs that compete with the measurement.

use oversleep_record::{Nanos, Unavailable};

/// The description of a kind of load. The catalogues are in [`crate::loads`].
#[derive(Clone, Copy, Debug)]
pub struct LoadInfo {
    /// Registry name: `spin`, `memory`, `syscalls`, `timers`.
    pub name: &'static str,
    /// One or two sentences about its effect on neighbours.
    pub doc: &'static str,
    /// The timer of its hogs, if they sleep.
    pub timer: Option<HogTimer>,
}

/// The timer that drives hogs of the load `timers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HogTimer {
    /// Registry name of the wait that resembles it.
    pub wait: &'static str,
    /// From one wake-up to the next.
    pub span: Nanos,
    /// Whether the timer restarts itself.
    pub is_periodic: bool,
}

/// More hogs than this are a typing mistake, not a load.
pub const HOGS_MAX: u32 = 1024;

/// Checks a number of hogs.
///
/// # Errors
/// The number, and which numbers are accepted.
pub fn check_hogs(hogs: u32) -> Result<(), Unavailable> {
    if (1..=HOGS_MAX).contains(&hogs) {
        return Ok(());
    }
    Err(Unavailable::Nonsense { what: format!("{hogs} hogs; give 1 to {HOGS_MAX}") })
}

/// A kind of load.
pub trait LoadKind: Send + Sync {
    /// Its description.
    fn info(&self) -> &LoadInfo;

    /// Starts that many hogs and returns when all of them run. They stop when the guard is dropped.
    ///
    /// # Errors
    /// Why they can't start.
    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable>;
}

/// A running load. Dropping it stops its hogs and waits until they have stopped.
pub trait Load: Send {}
