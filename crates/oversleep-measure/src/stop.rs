//! The flag that ends a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ctrl-C raises it, and every loop checks it between two samples.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that isn't raised.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Ends the run after the wait in progress.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
