//! What an entry in a system's table of waits is, and how it is opened.

use oversleep_record::{Nanos, Unavailable};

use super::System;
use oversleep_system::{SharedPlatform, Target, Wait, WaitEnd, WaitInfo, Waiter};

/// One entry of the table.
pub(crate) struct Entry {
    /// What is known of it.
    pub(crate) info: WaitInfo,
    /// Opens it for the calling thread.
    pub(crate) open: fn() -> Result<Box<dyn Waiter>, Unavailable>,
}

impl Wait for &'static Entry {
    fn info(&self) -> &WaitInfo {
        &self.info
    }

    fn open(&self, _platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        (self.open)()
    }
}

/// A wait that holds nothing. The call is a type of its own, so that it is inlined and [`Waiter::wait`] stays the only
/// indirection.
pub(crate) struct Stateless<F>(pub(crate) F);

impl<F: Fn(Target) -> WaitEnd> Waiter for Stateless<F> {
    fn wait(&mut self, target: Target) -> WaitEnd {
        (self.0)(target)
    }
}

/// The standard library's sleep, which goes on after signals.
pub(crate) fn thread_sleep(target: Target) -> WaitEnd {
    std::thread::sleep(target.remaining.to_std().unwrap_or_default());
    WaitEnd::TimedOut
}

/// Boxes `waiter` after one wait of `remaining`, so that a call which can't work here (an older system, a sandbox) says
/// so when it is opened and not in the middle of a measurement.
pub(crate) fn proved_by<S: System>(
    mut waiter: impl Waiter + 'static,
    remaining: Nanos,
) -> Result<Box<dyn Waiter>, Unavailable> {
    match waiter.wait(Target { remaining, deadline: S::now() + remaining }) {
        WaitEnd::Failed(reason) => Err(reason),
        WaitEnd::TimedOut | WaitEnd::Interrupted => Ok(Box::new(waiter)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Native;
    use super::*;
    use crate::native_platform;

    #[test]
    fn a_wait_that_fails_is_not_opened() {
        fn opened<S: System>(_: Native<S>, end: WaitEnd) -> Option<Unavailable> {
            proved_by::<S>(Stateless(move |_| end.clone()), Nanos(1)).err()
        }
        let opened = |end| opened(native_platform::Native::new(), end);
        assert_eq!(opened(WaitEnd::Failed(Unavailable::NotAsked)), Some(Unavailable::NotAsked));
        assert_eq!([opened(WaitEnd::TimedOut), opened(WaitEnd::Interrupted)], [None, None]);
    }
}
