//! Keeps the counter's time line on the operating system's. Pure arithmetic; no clock is read here.
//!
//! A [`Line`] turns ticks into nanoseconds for a bounded window. When the window ends, [`State::next`] draws the next
//! line from a fresh pair of readings, so that
//!
//! * no reading is ever below an earlier one, whenever readers see the new line,
//! * the error is bounded by what one window can accumulate, however long the program runs, and
//! * a counter with an unsteady rate is detected.

use super::scale::{Scale, Slope};

/// The first window, short because the first rate comes from a short calibration. Each window doubles the baseline.
pub(crate) const FIRST_WINDOW_NS: u64 = 1_000_000;
/// The longest window. Reading the operating system's clock ten times a second costs less than 10 ppm of one thread.
const LONGEST_WINDOW_NS: u64 = 100_000_000;
/// How far a line usually runs ahead of the operating system's clock at most: adjustments of up to 500 ppm accumulate
/// 75 µs over the longest window and its grace. A larger lead comes from faster slewing or from a suspend.
pub(crate) const LEAD_MAX_NS: u64 = 100_000;
/// A line with at most that lead is slowed by at most one part in this many.
const SLEW_DIVISOR: u64 = 1000;
/// A line with a larger lead is slowed by at most one part in this many.
const FAST_SLEW_DIVISOR: u64 = 4;
/// The grace: this fraction of a window, for which readers still use a line after its end while the next one is drawn.
const GRACE_DIVISOR: u64 = 16;
/// The loss from rounding two lines down to whole nanoseconds.
const ROUNDING_NS: u64 = 1;
/// A reader that can't wait for another thread returns the operating system's time minus this. A new line starts less
/// far below that clock, so such a time is never above a later one.
const CAUTION_NS: u64 = 1_000;
/// The caution while the counter is being tried and its rate is unknown. Where reading the operating system's clock is
/// a system call, the error of two pairs grows fivefold over the first window.
pub(crate) const TRYING_CAUTION_NS: u64 = 10 * CAUTION_NS;
/// Until the next line, a line may fall behind by the error of its rate, less than one part in this many.
const CAUTION_DIVISOR: u64 = 1000;
/// The caution when the kernel has just begun to slew its clock.
const SLEWED_CAUTION_NS: u64 = LONGEST_WINDOW_NS / 1_000_000 * SLEWED_PPM * (GRACE_DIVISOR + 1) / GRACE_DIVISOR;
/// The rate is measured over one to two of these: long enough for 0.01 ppm, short enough to follow adjustments.
const BASELINE_NS: u64 = 4_000_000_000;
/// After a pause this long the rate can't be measured over it, because the machine may have been suspended meanwhile.
const STALE_NS: u64 = 60_000_000_000;
/// A steady counter stays within the kernel's usual adjustments (500 ppm) plus the noise of two readings.
const STEADY_PPM: u64 = 600;
/// The largest change of rate by slewing, from one extreme to the other. Linux warns beyond 11 % to either side
/// (`clocksource_max_adjustment` in kernel/time/clocksource.c); chrony slews by up to 8.3 %, `adjtimex` by up to 10 %.
const SLEWED_PPM: u64 = 250_000;
/// A difference between the machine's clocks of at least this is a suspend; slewing can't reach it within a window.
const SUSPEND_NS: u64 = LONGEST_WINDOW_NS / 2;
const STEADY_NS: u64 = 2_000;
/// The noise of the time between two pairs.
const PAIR_NS: u64 = 200;
/// One jump is a suspend or a migration. This many in a row mean that the counter is no clock.
const JUMPS_MAX: u64 = 4;

/// A counter reading and the operating system's time at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) ticks: u64,
    pub(crate) ns: u64,
}

/// Nanoseconds as a linear function of ticks, valid for `window` ticks from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: Pair,
    pub(crate) slope: Slope,
    pub(crate) window: u64,
}

impl Line {
    /// The time at `ticks`; `None` outside the window, including just before its start.
    #[inline]
    pub(crate) fn ns_within_window(&self, ticks: u64) -> Option<u64> {
        let since = ticks.wrapping_sub(self.start.ticks);
        (since <= self.window).then(|| self.start.ns.wrapping_add(self.slope.short_ns(since)))
    }

    /// Ticks from the start until the end of the grace, for readers that find another thread drawing the next line.
    fn grace(&self) -> u64 {
        self.window + self.window / GRACE_DIVISOR
    }

    /// Ticks from `ticks` to the end of the grace; `None` after it, or for a reading unrelated to this line.
    fn left(&self, ticks: u64) -> Option<u64> {
        self.grace().checked_sub(self.not_before(ticks).wrapping_sub(self.start.ticks))
    }

    /// The time at `ticks` for a reader that finds another thread drawing the next line; `None` after the grace.
    pub(crate) fn ns_within_grace(&self, ticks: u64) -> Option<u64> {
        Line { window: self.grace(), ..*self }.ns_within_window(self.not_before(ticks))
    }

    /// The latest time that this line may have given a reader up to `ticks`.
    pub(crate) fn latest_ns(&self, ticks: u64) -> u64 {
        let since = self.not_before(ticks).wrapping_sub(self.start.ticks).min(self.grace());
        self.start.ns.saturating_add(self.slope.saturating_ns(since))
    }

    /// The latest time that this line can ever give.
    pub(crate) fn end_ns(&self) -> u64 {
        self.latest_ns(self.start.ticks.wrapping_add(self.grace())).saturating_add(ROUNDING_NS)
    }

    /// Whether the counter and the operating system's clock have agreed on this line, up to the usual adjustments.
    pub(crate) fn has_kept(&self, ticks: u64, now_ns: u64) -> bool {
        let since_ns = now_ns.saturating_sub(self.start.ns);
        let counted_ns = self.slope.saturating_ns(self.not_before(ticks).wrapping_sub(self.start.ticks));
        counted_ns.abs_diff(since_ns) <= (CAUTION_NS + since_ns / CAUTION_DIVISOR) / 2
    }

    /// `ticks`, or the start for a reading up to a window before it: cores may differ by a few ticks, and an unordered
    /// read may come slightly before the start.
    fn not_before(&self, ticks: u64) -> u64 {
        if self.start.ticks.wrapping_sub(ticks) <= self.window { self.start.ticks } else { ticks }
    }
}

/// The counter's current line, and the readings it is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) line: Line,
    /// The measured rate. The line is slower while it gives up a lead.
    pub(crate) rate: Scale,
    /// The latest pair, from which the next is predicted.
    pub(crate) last: Pair,
    /// The pairs from which the rate is measured: `far` is one to two baselines old, `near` less than one.
    pub(crate) far: Pair,
    pub(crate) near: Pair,
    /// Consecutive jumps.
    pub(crate) jumps: u64,
    /// The machine's total suspended time, plus a constant, when the line was drawn.
    pub(crate) suspended_ns: u64,
}

/// The counter's rate isn't steady relative to the operating system's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unsteady {
    pub(crate) ppm: f64,
}

impl State {
    /// The state after calibration from two pairs.
    pub(crate) fn calibrated(first: Pair, second: Pair, suspended_ns: u64) -> Option<Self> {
        let rate = Scale::of(second.ns.checked_sub(first.ns)?, ticks_between(first.ticks, second.ticks)?)?;
        let line = Line { start: second, slope: rate.slope(), window: rate.ticks(FIRST_WINDOW_NS) };
        Some(Self { line, rate, last: second, far: first, near: second, jumps: 0, suspended_ns })
    }

    /// The earliest time that may follow what readers got up to `ticks`, when the operating system's clock reads
    /// `now_ns`.
    ///
    /// After a suspend, in which the counter ran on, the line is far ahead, but no reader got those times, so the lead
    /// bounds them. A slewed clock looks similar, but there readers did get them.
    fn floor_ns(&self, ticks: u64, now_ns: u64, suspended_ns: u64) -> u64 {
        let latest_ns = self.line.latest_ns(ticks).saturating_add(ROUNDING_NS);
        if !self.is_before_suspend(suspended_ns) {
            return latest_ns;
        }
        let lead_ns = self.line.start.ns.saturating_sub(self.last.ns);
        latest_ns.min(now_ns.saturating_add(lead_ns + LEAD_MAX_NS))
    }

    /// The time at `ticks` after the grace, when the operating system's clock reads `now_ns` and the next line is
    /// overdue. It is never below what this line gave, nor above what the next one will give. It may be below an
    /// earlier overdue time if the kernel has begun to slew its clock meanwhile.
    pub(crate) fn overdue_ns(&self, ticks: u64, now_ns: u64, suspended_ns: u64) -> u64 {
        let since_ns = now_ns.saturating_sub(self.line.start.ns).min(LONGEST_WINDOW_NS);
        let caution_ns = match self.line.has_kept(ticks, now_ns) {
            true => CAUTION_NS + since_ns / CAUTION_DIVISOR,
            false => SLEWED_CAUTION_NS,
        };
        self.floor_ns(ticks, now_ns, suspended_ns).max(now_ns.saturating_sub(caution_ns))
    }

    /// The next state, from a fresh pair. The new line starts at `closing`, a reading after `pair`.
    ///
    /// # Errors
    ///
    /// [`Unsteady`] if the counter jumped several times in a row.
    pub(crate) fn next(&self, pair: Pair, closing: u64, suspended_ns: u64) -> Result<Self, Unsteady> {
        let measured = self.measure(pair, self.is_before_suspend(suspended_ns));
        let since_pair = ticks_between(pair.ticks, closing).unwrap_or(0);
        let now_ns = pair.ns.saturating_add(measured.rate.saturating_ns(since_pair));
        if measured.jumps >= JUMPS_MAX {
            return Err(Unsteady { ppm: self.jump_ppm(pair) });
        }
        let start_ns = self.floor_ns(closing, now_ns, suspended_ns).max(now_ns);
        let lead_ns = start_ns - now_ns;
        let known_ns = pair.ns.saturating_sub(measured.far.ns);
        let window_ns = known_ns.saturating_mul(2).clamp(FIRST_WINDOW_NS, LONGEST_WINDOW_NS);
        let slewing_ns = match lead_ns > LEAD_MAX_NS {
            // Even at the end of the grace, the line must not be below the operating system's clock.
            true => (window_ns + window_ns / GRACE_DIVISOR).max(lead_ns.saturating_mul(FAST_SLEW_DIVISOR)),
            false => window_ns.max(lead_ns.saturating_mul(SLEW_DIVISOR)),
        };
        let mut line = Line {
            start: Pair { ticks: closing, ns: start_ns },
            slope: measured.rate.slower(lead_ns, slewing_ns).slope(),
            window: measured.rate.ticks(window_ns),
        };
        // Other threads may read the old line until its end. If that line is faster, the new one starts higher, so that
        // it isn't below the old one there.
        if let Some(rest) = self.line.left(closing) {
            let end_ns = now_ns.saturating_add(measured.rate.saturating_ns(rest));
            let floor_ns = self.floor_ns(closing.wrapping_add(rest), end_ns, suspended_ns);
            let reached_ns = start_ns.saturating_add(line.slope.saturating_ns(rest));
            line.start.ns = start_ns.saturating_add(floor_ns.saturating_sub(reached_ns));
        }
        Ok(Self { line, suspended_ns, ..measured })
    }

    /// This state with a line as short as the first.
    pub(crate) fn for_a_moment(mut self) -> Self {
        self.line.window = self.line.window.min(self.rate.ticks(FIRST_WINDOW_NS));
        self
    }

    /// Whether the machine was suspended after this line was drawn.
    fn is_before_suspend(&self, suspended_ns: u64) -> bool {
        suspended_ns.wrapping_sub(self.suspended_ns) as i64 >= SUSPEND_NS as i64
    }

    /// The rate and the baselines updated by `pair`; the line is still the old one.
    fn measure(&self, pair: Pair, is_resumed: bool) -> Self {
        let elapsed_ns = pair.ns.saturating_sub(self.last.ns);
        if !self.is_within(STEADY_PPM, pair, elapsed_ns) {
            // The kernel may have begun to slew its clock, which is no jump of the counter. The rate is then measured
            // only over the time since.
            let jumps = self.jumps + u64::from(is_resumed || !self.is_within(SLEWED_PPM, pair, elapsed_ns));
            if jumps > self.jumps || self.far != self.last || elapsed_ns > STALE_NS {
                return Self { last: pair, far: pair, near: pair, jumps, ..*self };
            }
        }
        if elapsed_ns > STALE_NS {
            return Self { last: pair, far: pair, near: pair, jumps: 0, ..*self };
        }
        let baseline_ticks = ticks_between(self.far.ticks, pair.ticks);
        let rate = baseline_ticks.and_then(|ticks| Scale::of(pair.ns.saturating_sub(self.far.ns), ticks));
        let renew = pair.ns.saturating_sub(self.near.ns) >= BASELINE_NS;
        Self {
            rate: rate.unwrap_or(self.rate),
            last: pair,
            far: if renew { self.near } else { self.far },
            near: if renew { pair } else { self.near },
            jumps: 0,
            ..*self
        }
    }

    /// Whether the counter advanced as predicted, within this many parts per million.
    fn is_within(&self, ppm: u64, pair: Pair, elapsed_ns: u64) -> bool {
        let Some(elapsed_ticks) = ticks_between(self.last.ticks, pair.ticks) else { return false };
        let predicted_ns = self.rate.saturating_ns(elapsed_ticks);
        predicted_ns.abs_diff(elapsed_ns) <= STEADY_NS + part(elapsed_ns, ppm, 1_000_000) + self.doubt_ns(elapsed_ns)
    }

    /// The possible error over `elapsed_ns` that comes from the pairs the rate was measured from.
    fn doubt_ns(&self, elapsed_ns: u64) -> u64 {
        let baseline_ns = self.last.ns.saturating_sub(self.far.ns);
        let tick_ns = self.rate.saturating_ns(1).saturating_add(1);
        // Without a baseline, the rate still comes from an earlier, longer one.
        if baseline_ns == 0 { 0 } else { part(elapsed_ns, tick_ns.saturating_add(PAIR_NS), baseline_ns) }
    }

    fn jump_ppm(&self, pair: Pair) -> f64 {
        let elapsed_ns = pair.ns.saturating_sub(self.last.ns).max(1);
        let ticks = pair.ticks.wrapping_sub(self.last.ticks) as i64;
        let predicted_ns = self.rate.saturating_ns(ticks.unsigned_abs()) as f64 * ticks.signum() as f64;
        (predicted_ns / elapsed_ns as f64 - 1.0) * 1e6
    }
}

/// `whole × numerator / denominator`, saturating.
fn part(whole: u64, numerator: u64, denominator: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(numerator) / u128::from(denominator)).unwrap_or(u64::MAX)
}

/// Ticks from `earlier` to `later`, even across a wrap; `None` if the counter went backwards.
fn ticks_between(earlier: u64, later: u64) -> Option<u64> {
    let ticks = later.wrapping_sub(earlier);
    (ticks <= u64::MAX / 2).then_some(ticks)
}

#[cfg(test)]
#[path = "servo_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "servo_slewed_tests.rs"]
mod slewed_tests;
