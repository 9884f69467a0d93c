//! Keeps a counter's line of time on the operating system's: pure arithmetic, no clock is read here.
//!
//! A [`Line`] turns ticks into nanoseconds for a bounded window. When its window is over, [`State::next`] draws the
//! next line from a fresh pair of readings, so that
//!
//! * no later reading is ever below an earlier one, whenever readers come to see the new line,
//! * the error is bounded by what one window can accumulate, however long the program runs, and
//! * a counter that doesn't keep a steady rate is found out.

use super::scale::{Scale, Slope};

/// The first window, short because the rate is known from a short calibration only. Each window doubles what is known.
pub(crate) const FIRST_WINDOW_NS: u64 = 1_000_000;
/// The longest window. Reading the operating system's clock ten times a second costs less than 10 ppm of one thread.
const LONGEST_WINDOW_NS: u64 = 100_000_000;
/// How far a line runs ahead of the operating system's clock as a rule: the usual adjustments, of at most 500 ppm,
/// accumulate 75 µs over the longest window and its grace. More than this comes of a clock that is slewed, or of a suspend.
pub(crate) const LEAD_MAX_NS: u64 = 100_000;
/// A line ahead of the operating system's clock by no more than that is slowed by at most one part in this many.
const SLEW_DIVISOR: u64 = 1000;
/// One that is further ahead is slowed by at most one part in this many.
const FAST_SLEW_DIVISOR: u64 = 4;
/// Readers go on with a line beyond its window by this part of it, while the next one is drawn.
const GRACE_DIVISOR: u64 = 16;
/// What is lost where two lines are rounded down to whole nanoseconds.
const ROUNDING_NS: u64 = 1;
/// A reader that can't wait for another thread takes the operating system's time less this, which is more than a line
/// starts below that clock, so that what it hands out is never above what comes later.
const CAUTION_NS: u64 = 1_000;
/// The same while the counter is tried, and its first rate not known: what two pairs are wrong by, where a reading of the
/// operating system's clock is a system call, is fivefold over the first window.
pub(crate) const TRYING_CAUTION_NS: u64 = 10 * CAUTION_NS;
/// A line can fall behind by its rate's error, below one part in this many, until it is drawn anew.
const CAUTION_DIVISOR: u64 = 1000;
/// The same where the kernel has just begun to slew its clock.
const SLEWED_CAUTION_NS: u64 = LONGEST_WINDOW_NS / 1_000_000 * SLEWED_PPM * (GRACE_DIVISOR + 1) / GRACE_DIVISOR;
/// Between one and two of these the rate is measured: long enough for 0.01 ppm, short enough to follow adjustments.
const BASELINE_NS: u64 = 4_000_000_000;
/// After a pause this long the past says nothing about the rate: the machine may have been suspended for a part of it.
const STALE_NS: u64 = 60_000_000_000;
/// A steady counter stays within the kernel's usual adjustment (500 ppm), plus the noise of two readings.
const STEADY_PPM: u64 = 600;
/// What a kernel can make of its clock's rate on purpose: by 11 % to either side, beyond which Linux warns
/// (`clocksource_max_adjustment` in kernel/time/clocksource.c), and so this from one side to the other. chrony slews by up
/// to 8.3 %, and `adjtimex` moves the tick by up to 10 %.
const SLEWED_PPM: u64 = 250_000;
/// A machine was suspended when its clocks say at least this: more than a window's slewing can be taken for.
const SUSPEND_NS: u64 = LONGEST_WINDOW_NS / 2;
const STEADY_NS: u64 = 2_000;
/// What the noise of two pairs can make of the time between them.
const PAIR_NS: u64 = 200;
/// One jump is a suspend or a migration. This many in a row are a counter that is no clock.
const JUMPS_MAX: u64 = 4;

/// A counter's reading and the operating system's time at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) ticks: u64,
    pub(crate) ns: u64,
}

/// Nanoseconds as a straight line of ticks, valid for `window` ticks from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: Pair,
    pub(crate) slope: Slope,
    pub(crate) window: u64,
}

impl Line {
    /// The time at `ticks`, or `None` outside the window. A reading from just before the start is outside, too.
    #[inline]
    pub(crate) fn ns_within_window(&self, ticks: u64) -> Option<u64> {
        let since = ticks.wrapping_sub(self.start.ticks);
        (since <= self.window).then(|| self.start.ns.wrapping_add(self.slope.short_ns(since)))
    }

    /// Ticks from the start at which the last reader has left this line: a little grace for those who find that another
    /// thread is drawing the next one.
    fn grace(&self) -> u64 {
        self.window + self.window / GRACE_DIVISOR
    }

    /// Ticks from `ticks` to the end of the grace; `None` behind it, or from a reading that has nothing to do with this line.
    fn left(&self, ticks: u64) -> Option<u64> {
        self.grace().checked_sub(self.not_before(ticks).wrapping_sub(self.start.ticks))
    }

    /// The time at `ticks` for a reader that finds the next line in the making, or `None` after the grace.
    pub(crate) fn ns_within_grace(&self, ticks: u64) -> Option<u64> {
        Line { window: self.grace(), ..*self }.ns_within_window(self.not_before(ticks))
    }

    /// The latest time that any reader can have been given by this line up to `ticks`.
    pub(crate) fn latest_ns(&self, ticks: u64) -> u64 {
        let since = self.not_before(ticks).wrapping_sub(self.start.ticks).min(self.grace());
        self.start.ns.saturating_add(self.slope.saturating_ns(since))
    }

    /// What readers can be given by this line at the very end: no more, however late they find out that it is over.
    pub(crate) fn end_ns(&self) -> u64 {
        self.latest_ns(self.start.ticks.wrapping_add(self.grace())).saturating_add(ROUNDING_NS)
    }

    /// Whether the counter and the operating system's clock have kept together on this line but for the usual adjustments.
    fn has_kept(&self, ticks: u64, now_ns: u64) -> bool {
        let since_ns = now_ns.saturating_sub(self.start.ns);
        let counted_ns = self.slope.saturating_ns(self.not_before(ticks).wrapping_sub(self.start.ticks));
        counted_ns.abs_diff(since_ns) <= (CAUTION_NS + since_ns / CAUTION_DIVISOR) / 2
    }

    /// `ticks`, but a reading up to a window before the start is the start: cores may differ by a few ticks, and an
    /// unordered read may have been taken a little before the line was.
    fn not_before(&self, ticks: u64) -> u64 {
        if self.start.ticks.wrapping_sub(ticks) <= self.window { self.start.ticks } else { ticks }
    }
}

/// Everything that is known about the counter: the line in use, and the readings behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) line: Line,
    /// The measured rate; the line's own is slower while it gives up a lead.
    pub(crate) rate: Scale,
    /// The latest pair, from which the next is predicted.
    pub(crate) last: Pair,
    /// The pairs the rate is measured from: `far` one to two baselines ago, `near` less than one.
    pub(crate) far: Pair,
    pub(crate) near: Pair,
    /// Jumps in a row.
    pub(crate) jumps: u64,
    /// How long the machine had been suspended in all when the line was drawn, and a constant.
    pub(crate) suspended_ns: u64,
}

/// The counter's rate isn't steady against the operating system's clock.
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

    /// The least time that may follow what readers were given up to `ticks`, when the operating system says `now_ns`.
    ///
    /// A counter that ran on while the operating system's clock stood still (a suspend) is far ahead; what was handed
    /// out before is not, and is bounded by the lead. A clock that is slewed looks alike, but there it was handed out.
    fn floor_ns(&self, ticks: u64, now_ns: u64, suspended_ns: u64) -> u64 {
        let latest_ns = self.line.latest_ns(ticks).saturating_add(ROUNDING_NS);
        if !self.is_before_suspend(suspended_ns) {
            return latest_ns;
        }
        let lead_ns = self.line.start.ns.saturating_sub(self.last.ns);
        latest_ns.min(now_ns.saturating_add(lead_ns + LEAD_MAX_NS))
    }

    /// The time at `ticks` after the grace, when the operating system says `now_ns`: the thread that draws the next line was
    /// held up. It is not below what the line gave, and not above what the next one will give, whenever it comes. It may
    /// be below an earlier such time, when the kernel has begun to slew its clock meanwhile.
    pub(crate) fn overdue_ns(&self, ticks: u64, now_ns: u64, suspended_ns: u64) -> u64 {
        let since_ns = now_ns.saturating_sub(self.line.start.ns).min(LONGEST_WINDOW_NS);
        let caution_ns = match self.line.has_kept(ticks, now_ns) {
            true => CAUTION_NS + since_ns / CAUTION_DIVISOR,
            false => SLEWED_CAUTION_NS,
        };
        self.floor_ns(ticks, now_ns, suspended_ns).max(now_ns.saturating_sub(caution_ns))
    }

    /// The next state, from a fresh pair; `closing` is the reading, taken after `pair`, at which the new line starts.
    ///
    /// # Errors
    ///
    /// [`Unsteady`] when the counter jumped several times in a row.
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
            // Not below the operating system's clock at the end of the grace, either.
            true => (window_ns + window_ns / GRACE_DIVISOR).max(lead_ns.saturating_mul(FAST_SLEW_DIVISOR)),
            false => window_ns.max(lead_ns.saturating_mul(SLEW_DIVISOR)),
        };
        let mut line = Line {
            start: Pair { ticks: closing, ns: start_ns },
            slope: measured.rate.slower(lead_ns, slewing_ns).slope(),
            window: measured.rate.ticks(window_ns),
        };
        // Others may read the old line until it ends, however soon they could have seen this one. Where that is the
        // faster, this one starts so much higher that it isn't below it there either.
        if let Some(rest) = self.line.left(closing) {
            let end_ns = now_ns.saturating_add(measured.rate.saturating_ns(rest));
            let floor_ns = self.floor_ns(closing.wrapping_add(rest), end_ns, suspended_ns);
            let reached_ns = start_ns.saturating_add(line.slope.saturating_ns(rest));
            line.start.ns = start_ns.saturating_add(floor_ns.saturating_sub(reached_ns));
        }
        Ok(Self { line, suspended_ns, ..measured })
    }

    /// The same with a line as short as the first.
    pub(crate) fn for_a_moment(mut self) -> Self {
        self.line.window = self.line.window.min(self.rate.ticks(FIRST_WINDOW_NS));
        self
    }

    /// Whether the machine was suspended after this line was drawn.
    fn is_before_suspend(&self, suspended_ns: u64) -> bool {
        suspended_ns.wrapping_sub(self.suspended_ns) as i64 >= SUSPEND_NS as i64
    }

    /// The rate and the baselines with `pair` taken in; the line is still the old one.
    fn measure(&self, pair: Pair, is_resumed: bool) -> Self {
        let elapsed_ns = pair.ns.saturating_sub(self.last.ns);
        if !self.is_within(STEADY_PPM, pair, elapsed_ns) {
            // The kernel may have begun to slew its clock. That isn't the counter's fault: its rate is measured anew, and
            // over a time that has seen nothing else.
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

    /// Whether the counter went on as predicted, but for so many parts per million.
    fn is_within(&self, ppm: u64, pair: Pair, elapsed_ns: u64) -> bool {
        let Some(elapsed_ticks) = ticks_between(self.last.ticks, pair.ticks) else { return false };
        let predicted_ns = self.rate.saturating_ns(elapsed_ticks);
        predicted_ns.abs_diff(elapsed_ns) <= STEADY_NS + part(elapsed_ns, ppm, 1_000_000) + self.doubt_ns(elapsed_ns)
    }

    /// How far the rate can be wrong over `elapsed_ns` because of the pairs it was measured from.
    fn doubt_ns(&self, elapsed_ns: u64) -> u64 {
        let baseline_ns = self.last.ns.saturating_sub(self.far.ns);
        let tick_ns = self.rate.saturating_ns(1).saturating_add(1);
        // Without a baseline the rate was kept from a longer one.
        if baseline_ns == 0 { 0 } else { part(elapsed_ns, tick_ns.saturating_add(PAIR_NS), baseline_ns) }
    }

    fn jump_ppm(&self, pair: Pair) -> f64 {
        let elapsed_ns = pair.ns.saturating_sub(self.last.ns).max(1);
        let ticks = pair.ticks.wrapping_sub(self.last.ticks) as i64;
        let predicted_ns = self.rate.saturating_ns(ticks.unsigned_abs()) as f64 * ticks.signum() as f64;
        (predicted_ns / elapsed_ns as f64 - 1.0) * 1e6
    }
}

/// `whole × numerator / denominator`, held at the end of `u64`.
fn part(whole: u64, numerator: u64, denominator: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(numerator) / u128::from(denominator)).unwrap_or(u64::MAX)
}

/// Ticks from `earlier` to `later`, also across a wrap; `None` when the counter went backwards.
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
