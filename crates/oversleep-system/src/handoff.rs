//! Hand-offs: the ways one thread wakes another.

use std::sync::Arc;

use oversleep_record::Unavailable;

/// The description of a hand-off. Those of every system are in [`crate::handoffs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffInfo {
    /// Registry name: `futex`, `condvar`, `semaphore`, `eventfd`, `pipe`.
    pub name: &'static str,
    /// The calls as a programmer writes them.
    pub call: &'static str,
    /// One or two sentences about its users and its pitfalls.
    pub doc: &'static str,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
}

/// A kind of hand-off.
pub trait HandoffKind: Send + Sync {
    /// Its description.
    fn info(&self) -> &HandoffInfo;

    /// Opens a new one, unsignalled.
    ///
    /// # Errors
    /// Why it is not available here.
    fn open(&self) -> Result<Arc<dyn Handoff>, Unavailable>;
}

/// One signal between threads: counts like a semaphore with at most one waiter.
pub trait Handoff: Send + Sync {
    /// Wakes the waiter, or lets the next [`Handoff::wait`] pass.
    fn post(&self);

    /// Blocks until posted. Signals don't end it.
    fn wait(&self);
}
