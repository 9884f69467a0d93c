//! Decides whether this machine's counter may serve as a clock: the checks before it is used.

use super::cores;
use super::reason::{Clocksource, Reason};
use super::servo::State;
use crate::sys::{self, counter};

/// This environment variable forbids the counter if it is `os`; any other value leaves the choice to the checks.
const VARIABLE: &str = "OVERSLEEP_CLOCK";

/// What the kernel keeps time by.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(dead_code, reason = "no system gives every verdict")]
pub(crate) enum Verdict {
    /// The counter. The kernel watches it, and would have switched to something else if it were unstable.
    Counter,
    /// Something else.
    Other(Clocksource),
    /// Not available here.
    Unknown,
}

/// The input of the checks.
struct Facts {
    forced: bool,
    readable: bool,
    invariant: bool,
    is_virtual: bool,
    kernel: Verdict,
}

/// The checks that don't read the counter, cheapest first.
///
/// # Errors
///
/// The first check that failed.
pub(super) fn before_reading() -> Result<(), Reason> {
    if counter::COUNTER.is_none() {
        return Err(Reason::AnotherArchitecture);
    }
    let facts = Facts {
        forced: std::env::var_os(VARIABLE).is_some_and(|value| value == "os"),
        readable: sys::counter_is_readable(),
        invariant: counter::is_invariant(),
        is_virtual: counter::is_virtual(),
        kernel: sys::kernel_verdict(),
    };
    judge(&facts, cores::sample_skew)
}

fn judge(facts: &Facts, skew: impl FnOnce() -> Option<u64>) -> Result<(), Reason> {
    if facts.forced {
        return Err(Reason::Forced);
    }
    if !facts.readable {
        return Err(Reason::ReadForbidden);
    }
    if !facts.invariant {
        return Err(Reason::InvariantTscMissing);
    }
    if facts.kernel == Verdict::Unknown {
        return match skew() {
            None => Err(Reason::Unverifiable),
            Some(0) => Ok(()),
            Some(ticks) => Err(Reason::CrossCoreSkew { ticks }),
        };
    }
    objection(facts.kernel, facts.is_virtual).map_or(Ok(()), Err)
}

fn objection(kernel: Verdict, is_virtual: bool) -> Option<Reason> {
    match kernel {
        Verdict::Counter | Verdict::Unknown => None,
        Verdict::Other(clocksource) if is_virtual => Some(Reason::HypervisorUnstable { clocksource }),
        Verdict::Other(clocksource) => Some(Reason::KernelPrefers { clocksource }),
    }
}

/// The kernel's current objection to the counter. Its watchdog may have switched to another source since the start.
pub(super) fn kernel_objection() -> Option<Reason> {
    objection(sys::kernel_verdict(), counter::is_virtual())
}

/// If a counter read costs more than this and more than a read of the operating system's clock, the counter is emulated.
const COSTLY_NS: u64 = 100;

/// What a read costs, at best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Costs {
    pub(super) counter_ns: u64,
    pub(super) os_ns: u64,
}

/// The check of what a read costs. Kernels and hypervisors that emulate a counter take a fraction of a microsecond for
/// each read: Linux does on AArch64 where the counter has an erratum
/// (`https://docs.kernel.org/arch/arm64/silicon-errata.html`).
///
/// # Errors
///
/// The counter is emulated.
pub(super) fn costs(costs: Costs) -> Result<(), Reason> {
    let Costs { counter_ns, os_ns } = costs;
    let is_emulated = counter_ns > COSTLY_NS && counter_ns > os_ns;
    if is_emulated { Err(Reason::Emulated { read_ns: counter_ns, os_ns }) } else { Ok(()) }
}

/// The checks of the measured frequency.
///
/// # Errors
///
/// The reason of the first check that failed.
pub(super) fn after_calibration(state: Option<State>) -> Result<State, Reason> {
    let Some(state) = state else { return Err(Reason::FrequencyImplausible { hz: 0 }) };
    let hz = state.track.rate.hz();
    // The counter's width isn't checked: lines use differences, so even a counter that wraps stays right.
    if (1_000_000..=10_000_000_000).contains(&hz) { Ok(state) } else { Err(Reason::FrequencyImplausible { hz }) }
}

#[cfg(test)]
mod tests {
    use super::super::servo::{Pair, Readings};
    use super::*;

    const FINE: Facts =
        Facts { forced: false, readable: true, invariant: true, is_virtual: true, kernel: Verdict::Counter };

    fn never() -> Option<u64> {
        panic!("the cores are compared only when the kernel's verdict is unknown")
    }

    #[test]
    fn each_check_has_its_reason() {
        let hpet = Clocksource::new(b"hpet");
        let other = Verdict::Other(hpet);
        assert_eq!(judge(&FINE, never), Ok(()));
        assert_eq!(judge(&Facts { forced: true, ..FINE }, never), Err(Reason::Forced));
        assert_eq!(judge(&Facts { readable: false, ..FINE }, never), Err(Reason::ReadForbidden));
        assert_eq!(judge(&Facts { invariant: false, ..FINE }, never), Err(Reason::InvariantTscMissing));
        assert_eq!(
            judge(&Facts { kernel: other, ..FINE }, never),
            Err(Reason::HypervisorUnstable { clocksource: hpet })
        );
        let bare = Facts { kernel: other, is_virtual: false, ..FINE };
        assert_eq!(judge(&bare, never), Err(Reason::KernelPrefers { clocksource: hpet }));
    }

    #[test]
    fn cores_decide_when_the_kernel_is_silent() {
        let silent = Facts { kernel: Verdict::Unknown, ..FINE };
        assert_eq!(judge(&silent, || Some(0)), Ok(()));
        assert_eq!(judge(&silent, || Some(9)), Err(Reason::CrossCoreSkew { ticks: 9 }));
        assert_eq!(judge(&silent, || None), Err(Reason::Unverifiable));
    }

    #[test]
    fn an_emulated_counter_is_found_by_its_cost() {
        let of = |counter_ns, os_ns| costs(Costs { counter_ns, os_ns });
        assert_eq!(of(8, 18), Ok(()));
        // A slow emulator slows everything down; the counter is still the cheaper clock.
        assert_eq!(of(180, 400), Ok(()));
        assert_eq!(of(40, 20), Ok(()));
        assert_eq!(of(700, 300), Err(Reason::Emulated { read_ns: 700, os_ns: 300 }));
    }

    #[test]
    fn frequencies_are_checked() {
        let state = |hz: u64| {
            let at = |ticks, ns| {
                let pair = Pair { ticks, ns };
                Readings { pair, steady: pair, width: 0, closing: ticks, suspended_ns: 0, cpu: 0 }
            };
            after_calibration(State::calibrated(&at(0, 0), &at(hz, 1_000_000_000)))
        };
        assert!(state(2_600_000_000).is_ok());
        assert!(state(19_200_000).is_ok());
        assert_eq!(state(900_000), Err(Reason::FrequencyImplausible { hz: 900_000 }));
        assert_eq!(after_calibration(None), Err(Reason::FrequencyImplausible { hz: 0 }));
    }
}
