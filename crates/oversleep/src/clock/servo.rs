//! Keeps the counter's time line on the operating system's. Pure arithmetic; no clock is read here.
//!
//! A [`Line`] turns ticks into nanoseconds for a bounded window. When the window ends, [`State::next`] draws the next
//! line from a fresh pair of readings, so that
//!
//! * no reading is ever below an earlier one, whenever readers see the new line, and
//! * the error is bounded by what one window can accumulate, however long the program runs.
//!
//! Whether the counter can still be trusted is for `watch` to say.

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
/// If the difference between the machine's clocks changes by this much or more, the machine was suspended. The kernel
/// adjusts both clocks alike.
pub(crate) const SUSPEND_NS: u64 = 1_000_000;
const STEADY_NS: u64 = 2_000;
/// The noise of the time between two pairs.
pub(crate) const PAIR_NS: u64 = 200;

/// A counter reading and the operating system's time at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) ticks: u64,
    pub(crate) ns: u64,
}

/// How much more a line may have been ahead of the operating system's clock, at most, so long before it is ahead by
/// `ahead_ns`.
pub(crate) fn lead_given_up_ns(passed_ns: u64, ahead_ns: u64) -> u64 {
    let fast_ns = passed_ns / FAST_SLEW_DIVISOR;
    if ahead_ns.saturating_add(fast_ns) > LEAD_MAX_NS { fast_ns } else { passed_ns / SLEW_DIVISOR }
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
        self.since_start(ticks).map(|since| self.ns_after(since))
    }

    /// Ticks from the start to `ticks`; `None` outside the window.
    #[inline]
    pub(crate) fn since_start(&self, ticks: u64) -> Option<u64> {
        let since = ticks.wrapping_sub(self.start.ticks);
        (since <= self.window).then_some(since)
    }

    /// The time this many ticks after the start.
    #[inline]
    pub(crate) fn ns_after(&self, since: u64) -> u64 {
        self.start.ns.wrapping_add(self.slope.short_ns(since))
    }

    /// Ticks from the start until this line gives `ns` or more; 0 before the start.
    pub(crate) fn since(&self, ns: u64) -> u64 {
        self.slope.ticks(ns.saturating_sub(self.start.ns))
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

    /// How long before the start `ticks` is, for a reading up to a window before it; 0 for any other.
    pub(crate) fn ns_before_start(&self, ticks: u64) -> u64 {
        let before = self.start.ticks.wrapping_sub(ticks);
        if before <= self.window { self.slope.saturating_ns(before) } else { 0 }
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

/// The counter's rate by another clock, and the readings it was measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    pub(crate) rate: Scale,
    /// The latest pair, from which the next is predicted.
    pub(crate) last: Pair,
    /// The pairs from which the rate is measured: `far` is one to two baselines old, `near` less than one.
    pub(crate) far: Pair,
    pub(crate) near: Pair,
}

/// The counter's current line, and the readings it is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) line: Line,
    /// The counter by the operating system's clock. The line is slower than this rate while it gives up a lead.
    pub(crate) track: Track,
    /// The counter by a clock that nobody adjusts, by which `watch` judges it.
    pub(crate) steady: Track,
    /// The machine's total suspended time, plus a constant, when the line was drawn.
    pub(crate) suspended_ns: u64,
    /// The processor on which the line was drawn.
    pub(crate) cpu: u32,
    /// The largest possible error of the steady pair.
    pub(crate) width_ns: u64,
}

/// What a thread reads to draw the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Readings {
    /// The counter and the operating system's clock.
    pub(crate) pair: Pair,
    /// The counter and the clock that nobody adjusts.
    pub(crate) steady: Pair,
    /// The time between the counter readings before and after that clock's, in ticks.
    pub(crate) width: u64,
    /// The counter, after both pairs.
    pub(crate) closing: u64,
    pub(crate) suspended_ns: u64,
    pub(crate) cpu: u32,
}

impl Track {
    /// The track after two pairs.
    pub(crate) fn of(first: Pair, second: Pair) -> Option<Self> {
        let rate = Scale::of(second.ns.checked_sub(first.ns)?, ticks_between(first.ticks, second.ticks)?)?;
        Some(Self { rate, last: second, far: first, near: second })
    }

    /// The track that keeps its rate, and measures it anew from `pair` on.
    fn restarted(self, pair: Pair) -> Self {
        Self { last: pair, far: pair, near: pair, ..self }
    }

    /// The rate and the baselines updated by `pair`.
    fn extended(&self, pair: Pair) -> Self {
        let baseline_ticks = ticks_between(self.far.ticks, pair.ticks);
        let rate = baseline_ticks.and_then(|ticks| Scale::of(pair.ns.saturating_sub(self.far.ns), ticks));
        let renew = pair.ns.saturating_sub(self.near.ns) >= BASELINE_NS;
        Self {
            rate: rate.unwrap_or(self.rate),
            last: pair,
            far: if renew { self.near } else { self.far },
            near: if renew { pair } else { self.near },
        }
    }

    /// The track after `pair`. A suspend, a long pause and a clock whose adjustment begins or ends leave the rate as it
    /// is.
    fn next(&self, pair: Pair, is_resumed: bool) -> Self {
        let elapsed_ns = pair.ns.saturating_sub(self.last.ns);
        let is_slewed = !self.is_within(STEADY_PPM, pair, elapsed_ns);
        let has_jumped = is_resumed || !self.is_within(SLEWED_PPM, pair, elapsed_ns);
        // After a change of rate, it is measured only over the time since.
        let restarts = is_slewed && (has_jumped || self.far != self.last);
        if restarts || elapsed_ns > STALE_NS { self.restarted(pair) } else { self.extended(pair) }
    }

    /// Whether the counter advanced as predicted, within this many parts per million.
    fn is_within(&self, ppm: u64, pair: Pair, elapsed_ns: u64) -> bool {
        let Some(elapsed_ticks) = ticks_between(self.last.ticks, pair.ticks) else { return false };
        let predicted_ns = self.rate.saturating_ns(elapsed_ticks);
        predicted_ns.abs_diff(elapsed_ns) <= STEADY_NS + part(elapsed_ns, ppm, 1_000_000) + self.doubt_ns(elapsed_ns)
    }

    /// The possible error over `elapsed_ns` that comes from the pairs behind the rate.
    pub(crate) fn doubt_ns(&self, elapsed_ns: u64) -> u64 {
        self.doubt_of_pairs_ns(elapsed_ns, PAIR_NS)
    }

    /// The possible error over `elapsed_ns` if each pair behind the rate may be wrong by `pair_ns`.
    pub(crate) fn doubt_of_pairs_ns(&self, elapsed_ns: u64, pair_ns: u64) -> u64 {
        let baseline_ns = self.last.ns.saturating_sub(self.far.ns);
        let tick_ns = self.rate.saturating_ns(1).saturating_add(1);
        // Without a baseline, the rate still comes from an earlier, longer one.
        if baseline_ns == 0 { 0 } else { part(elapsed_ns, tick_ns.saturating_add(pair_ns), baseline_ns) }
    }

    /// How far the counter is ahead of what this track predicts for `pair`; negative if it is behind.
    pub(crate) fn deviation_ns(&self, pair: Pair) -> i64 {
        let ticks = pair.ticks.wrapping_sub(self.last.ticks) as i64;
        let counted_ns = i128::from(self.rate.saturating_ns(ticks.unsigned_abs())) * i128::from(ticks.signum());
        let elapsed_ns = i128::from(pair.ns) - i128::from(self.last.ns);
        (counted_ns - elapsed_ns).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

impl State {
    /// The state after calibration: the same two moments by the operating system's clock and by the steady one.
    pub(crate) fn calibrated(first: &Readings, second: &Readings) -> Option<Self> {
        let track = Track::of(first.pair, second.pair)?;
        let steady = Track::of(first.steady, second.steady)?;
        let line = Line { start: second.pair, slope: track.rate.slope(), window: track.rate.ticks(FIRST_WINDOW_NS) };
        let width_ns = steady.rate.saturating_ns(first.width.max(second.width));
        Some(Self { line, track, steady, suspended_ns: second.suspended_ns, cpu: second.cpu, width_ns })
    }

    /// The earliest time that may follow what readers got up to `ticks`, when the operating system's clock reads
    /// `now_ns`.
    ///
    /// After a long suspend, in which the counter ran on, the line is far ahead, but no reader got those times, so the
    /// lead bounds them. A slewed clock and a short suspend look similar, but there readers did get them.
    fn floor_ns(&self, ticks: u64, now_ns: u64, suspended_ns: u64) -> u64 {
        let latest_ns = self.line.latest_ns(ticks).saturating_add(ROUNDING_NS);
        if !self.was_leapt_over(ticks, now_ns, suspended_ns) {
            return latest_ns;
        }
        let lead_ns = self.line.start.ns.saturating_sub(self.track.last.ns);
        latest_ns.min(now_ns.saturating_add(lead_ns + LEAD_MAX_NS))
    }

    /// Whether a suspend carried the counter past the end of the line, so that nobody read the line after it. What the
    /// counter gained on the operating system's clock must be more than the line is long, and can't be an adjustment of
    /// that clock.
    fn was_leapt_over(&self, ticks: u64, now_ns: u64, suspended_ns: u64) -> bool {
        if !self.is_before_suspend(suspended_ns) {
            return false;
        }
        let elapsed_ns = now_ns.saturating_sub(self.track.last.ns);
        let Some(elapsed_ticks) = ticks_between(self.track.last.ticks, ticks) else {
            // The counter was reset. A reading shortly before the start would still have been taken for the start.
            return self.line.start.ticks.wrapping_sub(ticks) > self.line.window;
        };
        let gained_ns = self.track.rate.saturating_ns(elapsed_ticks).saturating_sub(elapsed_ns);
        let line_ns = self.track.rate.saturating_ns(self.line.grace());
        let adjusted_ns = part(elapsed_ns.min(2 * LONGEST_WINDOW_NS), SLEWED_PPM, 1_000_000);
        gained_ns > line_ns + adjusted_ns + SUSPEND_NS
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

    /// The next state. The new line starts at the closing reading.
    pub(crate) fn next(&self, readings: &Readings) -> Self {
        let Readings { pair, closing, suspended_ns, cpu, .. } = *readings;
        let is_resumed = self.is_before_suspend(suspended_ns);
        let track = self.track.next(pair, is_resumed);
        let steady = self.steady.next(readings.steady, is_resumed);
        let since_pair = ticks_between(pair.ticks, closing).unwrap_or(0);
        let now_ns = pair.ns.saturating_add(track.rate.saturating_ns(since_pair));
        let start_ns = self.floor_ns(closing, now_ns, suspended_ns).max(now_ns);
        let lead_ns = start_ns - now_ns;
        let known_ns = pair.ns.saturating_sub(track.far.ns);
        let window_ns = known_ns.saturating_mul(2).clamp(FIRST_WINDOW_NS, LONGEST_WINDOW_NS);
        let slewing_ns = match lead_ns > LEAD_MAX_NS {
            // Even at the end of the grace, the line must not be below the operating system's clock.
            true => (window_ns + window_ns / GRACE_DIVISOR).max(lead_ns.saturating_mul(FAST_SLEW_DIVISOR)),
            false => window_ns.max(lead_ns.saturating_mul(SLEW_DIVISOR)),
        };
        let mut line = Line {
            start: Pair { ticks: closing, ns: start_ns },
            slope: track.rate.slower(lead_ns, slewing_ns).slope(),
            window: track.rate.ticks(window_ns),
        };
        // Other threads may read the old line until its end. If that line is faster, the new one starts higher, so that
        // it isn't below the old one there.
        if let Some(rest) = self.line.left(closing) {
            let end_ns = now_ns.saturating_add(track.rate.saturating_ns(rest));
            let floor_ns = self.floor_ns(closing.wrapping_add(rest), end_ns, suspended_ns);
            let reached_ns = start_ns.saturating_add(line.slope.saturating_ns(rest));
            line.start.ns = start_ns.saturating_add(floor_ns.saturating_sub(reached_ns));
        }
        Self { line, track, steady, suspended_ns, cpu, width_ns: steady.rate.saturating_ns(readings.width) }
    }

    /// This state with a line as short as the first.
    pub(crate) fn for_a_moment(mut self) -> Self {
        self.line.window = self.line.window.min(self.track.rate.ticks(FIRST_WINDOW_NS));
        self
    }

    /// This state with the steady rate of the former one, so that a rate that has changed stays suspect.
    pub(crate) fn with_former_rate(self, former: &Self, steady: Pair) -> Self {
        Self { steady: former.steady.restarted(steady), ..self }
    }

    /// Whether the machine was suspended after this line was drawn.
    pub(crate) fn is_before_suspend(&self, suspended_ns: u64) -> bool {
        suspended_ns.wrapping_sub(self.suspended_ns) as i64 >= SUSPEND_NS as i64
    }
}

/// `whole × numerator / denominator`, saturating.
pub(crate) fn part(whole: u64, numerator: u64, denominator: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(numerator) / u128::from(denominator)).unwrap_or(u64::MAX)
}

/// Ticks from `earlier` to `later`, even across a wrap; `None` if the counter went backwards.
pub(crate) fn ticks_between(earlier: u64, later: u64) -> Option<u64> {
    let ticks = later.wrapping_sub(earlier);
    (ticks <= u64::MAX / 2).then_some(ticks)
}

#[cfg(test)]
#[path = "servo_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "servo_slewed_tests.rs"]
mod slewed_tests;
