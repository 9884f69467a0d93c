//! Background load: hogs that compete with what is measured.

use oversleep_record::Unavailable;

/// What is known of a kind of load.
#[derive(Clone, Debug)]
pub struct LoadInfo {
    /// Registry name: `spin`, `memory`, `syscalls`, `timers`.
    pub name: &'static str,
    /// One or two sentences: what it does to its neighbours.
    pub doc: &'static str,
}

/// More hogs than this are a slip of the hand, not a load.
pub const HOGS_MAX: u32 = 1024;

/// Whether that many hogs make a load.
///
/// # Errors
/// The number, and the numbers that do.
pub fn check_hogs(hogs: u32) -> Result<(), Unavailable> {
    if (1..=HOGS_MAX).contains(&hogs) {
        return Ok(());
    }
    Err(Unavailable::Nonsense { what: format!("{hogs} hogs; give 1 to {HOGS_MAX}") })
}

/// A kind of load.
pub trait LoadKind: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &LoadInfo;

    /// Starts that many hogs and returns when all of them run. They stop when the guard is dropped.
    ///
    /// # Errors
    /// Why they can't be started.
    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable>;
}

/// Load that runs; stops, and waits until it has stopped, when dropped.
pub trait Load: Send {}
