//! Bounds of every figure, with the reason of each. Beyond them no machine exists, an answer means nothing, or a run doesn't
//! end, whatever the source of a figure: a profile, the user, or a result that a machine was learned from. They are wide,
//! because experiments set extreme figures on purpose.

use std::fmt;

use oversleep_record::Nanos;
use oversleep_record::words::grouped;

use super::parameters::is_of;
use super::value::Value;
use crate::sim::ClockModel;

/// The values that a figure can have, both ends included.
#[derive(Clone, Copy)]
pub(super) enum Range {
    /// Of a span, and of every span of a distribution.
    Span(Nanos, Nanos),
    /// In picoseconds.
    Cost(u64, u64),
    /// Of a whole number, and its unit.
    Number(i64, i64, &'static str),
}

/// The bounds of one figure, or of a family of them if the path ends in `*`.
pub(super) struct Bounds {
    pub path: &'static str,
    pub range: Range,
    /// Why there is nothing beyond.
    reason: &'static str,
}

const fn ms(count: i64) -> Nanos {
    Nanos::from_millis(count)
}

const fn secs(count: i64) -> Nanos {
    Nanos::from_secs(count)
}

const ZERO: Nanos = Nanos::ZERO;
const HOUR: Nanos = secs(3_600);
/// Waiting for a clock would never end if a read took no time or the clock stood still for longer than this.
const STEP_MAX: Nanos = secs(1);
const COST_MIN_PS: u64 = 100;
const COST_MAX_PS: u64 = 1_000_000_000;
/// Every loop that waits for a moment reads the reference clock.
const REFERENCE_STEP_MAX: Nanos = ms(100);
/// `sched_rt_period_us` is an `int` of microseconds.
const RT_PERIOD_MAX: Nanos = secs(i32::MAX as i64 / 1_000_000);

/// A table of bounds: the path, the range, and the reason.
macro_rules! bounds {
    ($($path:literal: $range:expr => $reason:literal,)*) => {
        &[$(Bounds { path: $path, range: $range, reason: $reason }),*]
    };
}

use Range::{Cost, Number, Span};

/// Every figure that is a number or a span. Words, flags and shares have the bounds of their kind.
#[rustfmt::skip]
pub(super) const BOUNDS: &[Bounds] = bounds! {
    "cpus.count": Number(1, 64, "CPUs") => "an affinity has 64 bits",
    "cpus.efficiency": Number(0, 64, "CPUs") => "an affinity has 64 bits",
    "cpus.mhz": Number(1, 100_000, "MHz") => "there are no slower or faster processors",
    "cpus.counter-trap": Cost(0, COST_MAX_PS) => "no change into a hypervisor and back takes a millisecond",
    // kernel/sysctl.c of Linux 5.4 bounds its granularities and its latency by 100 µs and NSEC_PER_SEC.
    // With shorter slices a run under load would do nothing but switch between threads.
    "scheduler.slice": Span(Nanos::from_micros(10), secs(1)) =>
        "a slice of less is all switching, and Linux, the scheduler with the widest range, takes up to 1 s",
    "scheduler.latency": Span(Nanos::from_micros(10), secs(1)) =>
        "a slice of less is all switching, and Linux takes up to 1 s (sched_latency_ns)",
    "scheduler.wakeup-granularity": Span(ZERO, secs(1)) => "Linux takes up to 1 s (sched_wakeup_granularity_ns)",
    "scheduler.preempt-delay": Span(ZERO, secs(1)) => "displacing a thread takes time, and milliseconds on the slowest machines",
    "scheduler.wake-cpu": Span(ZERO, secs(1)) => "a wake-up takes milliseconds on the slowest machines",
    // https://docs.kernel.org/scheduler/sched-rt-group.html: the longest period within which Linux leaves time to others.
    "scheduler.starving": Span(ms(1), RT_PERIOD_MAX) =>
        "a thread that never has its turn waits forever, and Linux gives it one within 2147 s (sched_rt_period_us)",
    "scheduler.starving-look": Span(ZERO, RT_PERIOD_MAX) =>
        "a thread that never has its turn waits forever, and Linux gives it one within 2147 s (sched_rt_period_us)",
    // prctl(2): an unsigned long of nanoseconds, so that no span of a figure is too long.
    "timers.slack": Span(ZERO, HOUR) => "no figure is longer than an hour",
    "timers.poll-share-most": Span(ZERO, secs(10)) => "Linux adds up to 100 ms (MAX_SLACK in fs/select.c)",
    // include/linux/jiffies.h refuses to be compiled with an HZ outside of 12 to 12,287.
    "timers.hz": Number(1, 1_000_000, "ticks per second") => "Linux can be built with 12 to 12,287",
    "timers.tick": Span(Nanos::from_micros(1), secs(1)) => "Windows ticks every 15.6 ms, and up to every 0.5 ms on request",
    "timers.tick-shortest": Span(Nanos::from_micros(10), secs(1)) => "Windows ticks every 0.5 ms at the shortest",
    "timers.timer-hz": Number(0, 10_000_000_000, "cycles per second") => "no timer counts faster than a processor",
    "timers.margin": Span(ZERO, secs(1)) => "it is shorter than a tick",
    "timers.held-by-others": Span(ZERO, secs(1)) => "Windows grants no resolution that is coarser than its tick, 15.6 ms",
    "timers.grid": Span(ZERO, secs(1)) => "the coarsest grids of timers are ticks, and no tick is longer",
    // A request can be of any length.
    "timers.grid-aligned-most": Span(ZERO, HOUR) => "no figure is longer than an hour",
    "timers.one-shot-slack": Span(ZERO, secs(1)) => "the hosts of Wine have a timer slack of 50 \u{b5}s (prctl(2))",
    "timers.others-hz": Number(0, 1_000_000, "interrupts per second") => "a CPU handles an interrupt in microseconds",
    // osfmk/i386/i386_timer.c of XNU.
    "timers.tiers": Span(ZERO, secs(100)) => "the longest delay of macOS is 10 s",
    "timers.kernel-tier": Span(ZERO, secs(100)) => "the longest delay of macOS is 10 s",
    // If it took hours, no run would end.
    "wake.*": Span(ZERO, secs(1)) => "waking up takes time, and milliseconds on the slowest machines",
    // A loop that takes no time never ends.
    "work.unit": Span(Nanos(1), ms(1)) => "work takes time, and experiments calibrate their work in units of it",
    "work.relax": Span(Nanos(1), ms(1)) => "a turn takes time, and at most some hundred cycles",
    "work.timer-load": Span(Nanos(1), ms(10)) => "work takes time, and the load wakes up every 0.1 to 0.5 ms",
    "costs.*": Cost(COST_MIN_PS, COST_MAX_PS) => "a read takes a cycle or more, and the slowest counters take microseconds",
    "steps.*": Span(ZERO, STEP_MAX) => "the coarsest clocks count in seconds",
    "frequencies.*": Number(1, 10_000_000_000, "ticks per second") => "no counter counts faster than a processor",
    "extra.*": Span(Nanos(-1_000_000_000), secs(1)) => "waking up takes milliseconds on the slowest machines",
    // https://www.freedesktop.org/software/systemd/man/latest/systemd.timer.html: AccuracySec=1min.
    "shortest.*": Span(ZERO, secs(60)) => "the coarsest timers, those of systemd, keep to the minute",
    "units.*": Span(ZERO, secs(60)) => "the coarsest timers, those of systemd, keep to the minute",
    "grids.*": Span(ZERO, secs(60)) => "the coarsest timers, those of systemd, keep to the minute",
    // SetCoalescableTimer takes up to 0x7FFFFFF5 ms, more than three weeks.
    "tolerance.*": Span(ZERO, HOUR) => "no figure is longer than an hour",
    "raises.*": Span(ZERO, secs(1)) => "Windows grants no resolution that is coarser than its tick, 15.6 ms",
};

/// Figures without which a run doesn't end: there is no value that switches their rule off.
pub(super) const NEEDED: [&str; 6] =
    ["cpus.count", "scheduler.slice", "scheduler.starving", "work.unit", "work.relax", "work.timer-load"];

/// The bounds of that figure; none if those of its kind suffice.
pub(super) fn bounds_of(path: &str) -> Option<&'static Bounds> {
    BOUNDS.iter().find(|bounds| is_of(bounds.path, path))
}

/// Whether the figure of that path can have that value.
///
/// # Errors
/// The values that it can have, why no others, and the next step.
pub(super) fn check(path: &str, value: &Value) -> Result<(), String> {
    let Some(bounds) = bounds_of(path) else { return Ok(()) };
    let fits = match (bounds.range, value) {
        (Cost(least, most), Value::Cost(ps)) => (least..=most).contains(ps),
        (Number(least, most, _), Value::Integer(number)) => (least..=most).contains(number),
        (Span(least, most), value) => value.ends().is_none_or(|(first, last)| first >= least && last <= most),
        _ => true,
    };
    match fits {
        true => Ok(()),
        false => Err(format!("'{path}' can be {}: {}; write a value in that range", bounds.range, bounds.reason)),
    }
}

/// What is wrong with a text that is no value of that figure, and the values that it can have.
pub(super) fn with_range(path: &str, why: String) -> String {
    match bounds_of(path) {
        Some(bounds) => format!("{why}; '{path}' can be {}", bounds.range),
        None => why,
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Span(least, most) => write!(f, "{least} to {most}"),
            Cost(least, most) => write!(f, "{} ns to {}", least as f64 / 1e3, Nanos((most / 1_000) as i64)),
            Number(least, most, unit) => write!(f, "{} to {} {unit}", grouped(least), grouped(most)),
        }
    }
}

/// Whether experiments on such a clock end.
///
/// # Errors
/// The fault of the clock.
pub(super) fn check_clock(clock: &ClockModel, reference: &str) -> Result<(), String> {
    if !(COST_MIN_PS..=COST_MAX_PS).contains(&clock.read_cost_ps) {
        return Err("reading it takes from 0.1 ns to 1 ms".to_owned());
    }
    let most = if clock.info.name == reference { REFERENCE_STEP_MAX } else { STEP_MAX };
    if !(Nanos(1)..=most).contains(&clock.step_ns) {
        return Err(format!("it steps by 1 ns to {most}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
