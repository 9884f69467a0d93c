//! How a system's waits are opened: each description paired with its call.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{SharedPlatform, TICK_TOLERANCES, Target, Wait, WaitEnd, WaitInfo, Waiter};

use super::{System, paired};

type Opened = Result<Box<dyn Waiter>, Unavailable>;

/// Opens a wait for the calling thread.
pub(crate) type Open = fn() -> Opened;
/// The name of a description and how to open its call.
pub(crate) type Call = (&'static str, Open);
/// A table of calls, which a system's `waits/mod.rs` lists: the constant that holds a description, its name, and how the
/// call is opened.
macro_rules! calls {
    ($described:path; $($info:ident = $name:literal => $open:expr,)*) => {
        $(const $info: &WaitInfo = oversleep_system::describe!($described, $name);)*

        pub(super) const CALLS: &[$crate::native::waits::Call] = &[$(($info.name, || $open)),*];
    };
}
pub(crate) use calls;

/// A wait whose call takes a tolerance.
pub(crate) type TolerantCall = (&'static str, fn(Nanos) -> Opened);

struct NativeWait {
    info: &'static WaitInfo,
    open: Open,
    open_tolerating: Option<fn(Nanos) -> Opened>,
}

impl Wait for NativeWait {
    fn info(&self) -> &WaitInfo {
        self.info
    }

    fn open(&self, _platform: &SharedPlatform) -> Opened {
        (self.open)()
    }

    fn tolerances_to_compare(&self) -> Vec<Nanos> {
        self.open_tolerating.map_or_else(Vec::new, |_| TICK_TOLERANCES.to_vec())
    }

    fn open_tolerating(&self, _platform: &SharedPlatform, tolerance: Nanos) -> Opened {
        self.open_tolerating.map_or(Err(Unavailable::NotOnThisPlatform), |open| open(tolerance))
    }
}

/// The waits of a system in the order of their descriptions, each with its call.
pub(crate) fn registry(
    described: &'static [WaitInfo],
    calls: &[&[Call]],
    tolerant: &[TolerantCall],
) -> Vec<Box<dyn Wait>> {
    paired::registry(described, calls, |info, open| -> Box<dyn Wait> {
        Box::new(NativeWait { info, open, open_tolerating: paired::call_of(&[tolerant], info.name) })
    })
}

/// A wait without state. The call is a type parameter, so that it is inlined and [`Waiter::wait`] stays the only
/// indirection.
pub(crate) struct Stateless<F>(pub(crate) F);

impl<F: Fn(Target) -> WaitEnd> Waiter for Stateless<F> {
    fn wait(&mut self, target: Target) -> WaitEnd {
        (self.0)(target)
    }
}

/// The standard library's sleep, which resumes after signals. It accepts any span; if the system's unit is coarser, the
/// library rounds.
pub(crate) fn thread_sleep(target: Target) -> WaitEnd {
    std::thread::sleep(target.remaining.to_std().unwrap_or_default());
    WaitEnd::TimedOut
}

/// Boxes `waiter` after one wait of `remaining`. A call that doesn't work here (an older system, a sandbox) fails then,
/// and not in the middle of a measurement.
pub(crate) fn proved_by<S: System>(mut waiter: impl Waiter + 'static, remaining: Nanos) -> Opened {
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
        assert_eq!(opened(WaitEnd::Failed(Unavailable::NotMeasured)), Some(Unavailable::NotMeasured));
        assert_eq!([opened(WaitEnd::TimedOut), opened(WaitEnd::Interrupted)], [None, None]);
    }
}
