//! The timer resolution: how often the timer interrupt comes that ends waits.

use std::sync::{Mutex, MutexGuard, PoisonError};

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Reached, TunableInfo, describe, tunables};

use crate::native::tunables::{Applied, Entry, held, undo};
use crate::windows::os::{self, Newer};
use crate::windows::resolution;

pub(super) struct Resolution;

type NtSetTimerResolution = unsafe extern "system" fn(desired: u32, set: u8, current: *mut u32) -> i32;

// Microsoft doesn't document it, but timeBeginPeriod is built on it.
// SAFETY: as ntdll exports it: ULONG, BOOLEAN, PULONG.
static SET: Newer<NtSetTimerResolution> = unsafe { Newer::new(c"ntdll.dll", c"NtSetTimerResolution", "Windows XP") };

/// The call, so that a test can stand in for the system.
trait System {
    /// Replaces this process's request `held` by `wanted`, or withdraws it, in units of 100 ns. Returns the period in
    /// effect then.
    fn replace(&mut self, held: Option<u32>, wanted: Option<u32>) -> Result<u32, Unavailable>;
}

struct Windows;

impl System for Windows {
    fn replace(&mut self, held: Option<u32>, wanted: Option<u32>) -> Result<u32, Unavailable> {
        let set = SET.required()?;
        let mut now = 0;
        let (desired, on) = wanted.map_or((held.unwrap_or_default(), 0), |wanted| (wanted, 1));
        // SAFETY: `now` is valid to write to; without `on` the process's request is taken back.
        let status = unsafe { set(desired, on, &raw mut now) };
        if status < 0 { Err(os::failed_status(Resolution::INFO.call, status)) } else { Ok(now) }
    }
}

/// The requests of this process that guards hold, in units of 100 ns. Windows keeps one per process: the shortest of
/// these.
#[derive(Debug)]
struct Requests(Vec<u32>);

static REQUESTS: Mutex<Requests> = Mutex::new(Requests(Vec::new()));

fn requests() -> MutexGuard<'static, Requests> {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Requests {
    fn shortest(&self) -> Option<u32> {
        self.0.iter().min().copied()
    }

    /// The period in effect by the system's answer; `None` if a request as short was held already.
    fn add(&mut self, system: &mut dyn System, requested: u32) -> Result<Option<u32>, Unavailable> {
        let before = self.shortest();
        let now = match before {
            Some(before) if before <= requested => None,
            _ => Some(system.replace(before, Some(requested))?),
        };
        self.0.push(requested);
        Ok(now)
    }

    fn remove(&mut self, system: &mut dyn System, requested: u32) {
        let before = self.shortest();
        if let Some(index) = self.0.iter().position(|&other| other == requested) {
            self.0.swap_remove(index);
        }
        let after = self.shortest();
        if after != before {
            // Withdrawing what was granted doesn't fail. A failure would have nobody to report to.
            let _ = system.replace(before, after);
        }
    }
}

/// Number of requests held.
#[cfg(test)]
pub(in crate::windows) fn outstanding() -> usize {
    requests().0.len()
}

/// Whether Windows holds a request of this process, whoever made it. The check withdraws it, so use it only in a process
/// in which nothing else holds one.
#[cfg(test)]
pub(in crate::windows) fn take_back() -> bool {
    /// STATUS_TIMER_RESOLUTION_NOT_SET
    const NOT_SET: i32 = 0xc000_0245_u32 as i32;
    let (set, mut now) = (SET.get().expect("ntdll has it"), 0);
    // SAFETY: `now` is valid to write to.
    match unsafe { set(0, 0, &raw mut now) } {
        NOT_SET => false,
        status => {
            assert!(status >= 0, "{status:#x}");
            true
        }
    }
}

impl Entry for Resolution {
    type Request = u32;

    const INFO: &'static TunableInfo = describe!(tunables::WINDOWS, "resolution");

    /// In units of 100 ns, rounded down, so that the request is never longer than the setting.
    fn parse(setting: &Setting) -> Option<u32> {
        let &Setting::Nanos(requested) = setting else { return None };
        u32::try_from(requested.0 / 100).ok().filter(|units| (1..=10_000_000).contains(units))
    }

    fn read() -> Result<Setting, Unavailable> {
        resolution::in_effect()
    }

    fn reached() -> Option<Reached> {
        Some(resolution::reached())
    }

    fn change(requested: u32, _: &Setting) -> Result<Applied, Unavailable> {
        let was = Self::read()?;
        let answered = requests().add(&mut Windows, requested)?;
        let guard = undo(move || requests().remove(&mut Windows, requested));
        let now = answered.map_or_else(|| was.clone(), |units| Setting::Nanos(Nanos(i64::from(units) * 100)));
        // The request is held even if it doesn't change the period, because another process requests one as short or
        // the machine has none shorter: since Windows 10 2004, each process must make its own request.
        Ok(held(was, now, guard))
    }
}

#[cfg(test)]
mod tests {
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn requests_are_in_the_systems_unit_and_never_longer_than_wanted() {
        let units = |ns| Resolution::parse(&Setting::Nanos(Nanos(ns)));
        assert_eq!([units(500_000), units(507_000), units(1_000_050)], [Some(5_000), Some(5_070), Some(10_000)]);
        assert_eq!([units(0), units(99), units(-1), units(i64::MAX)], [None; 4]);
    }

    /// Records the requests, and grants or refuses all of them.
    #[derive(Default)]
    struct Noted {
        requested: Vec<(Option<u32>, Option<u32>)>,
        refuses: bool,
    }

    impl System for Noted {
        fn replace(&mut self, held: Option<u32>, wanted: Option<u32>) -> Result<u32, Unavailable> {
            self.requested.push((held, wanted));
            if self.refuses { Err(Unavailable::NotMeasured) } else { Ok(wanted.unwrap_or(156_250)) }
        }
    }

    #[test]
    fn the_system_holds_the_shortest_request_and_none_after_the_last() {
        let (mut system, mut requests) = (Noted::default(), Requests(Vec::new()));
        assert_eq!(requests.add(&mut system, 10_000), Ok(Some(10_000)));
        assert_eq!(requests.add(&mut system, 20_000), Ok(None), "the shorter one stands");
        assert_eq!(requests.add(&mut system, 5_000), Ok(Some(5_000)));
        requests.remove(&mut system, 20_000);
        requests.remove(&mut system, 5_000);
        requests.remove(&mut system, 10_000);
        let [ms, half] = [Some(10_000), Some(5_000)];
        assert_eq!(system.requested, [(None, ms), (ms, half), (half, ms), (ms, None)]);
    }

    #[test]
    fn a_refused_request_is_not_held() {
        let (mut system, mut requests) = (Noted { refuses: true, ..Noted::default() }, Requests(Vec::new()));
        assert!(requests.add(&mut system, 10_000).is_err());
        assert!(requests.0.is_empty());
    }

    #[test]
    fn is_held_until_dropped_also_while_unwinding() {
        let requested = Setting::Nanos(Nanos::from_millis(3));
        let mine = || requests().0.iter().filter(|&&units| units == 30_000).count();
        let (outcome, guard) = Of(Resolution).apply(&requested);
        assert!(outcome.holds() && guard.is_some(), "{outcome:?}");
        let (_, second) = Of(Resolution).apply(&requested);
        assert_eq!(mine(), 2);
        drop(second);
        assert_eq!(mine(), 1);
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _guard = guard;
            std::panic::resume_unwind(Box::new("unwinds"));
        }));
        assert!(unwound.is_err());
        assert_eq!(mine(), 0);
    }

    #[test]
    fn what_is_out_of_range_is_refused_and_not_held() {
        for ns in [0, -1, 2_000_000_000] {
            let (outcome, guard) = Of(Resolution).apply(&Setting::Nanos(Nanos(ns)));
            assert!(!outcome.holds() && guard.is_none(), "{ns}");
        }
    }
}
