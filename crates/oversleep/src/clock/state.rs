//! The process's clock: starts it on first use, renews its line, and takes the counter out of use if it is unsteady.
//! Everything that threads share is in the statics here.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};

use crate::sys::{self, counter};

use super::latch::{Claim, Latch, Reading};
use super::reason::{Choice, Reason, Source};
use super::servo::{Pair, State, TRYING_CAUTION_NS};
use super::{calibrate, judge};

static LATCH: Latch = Latch::new();
/// Why the counter isn't in use; set once, before it goes out of use.
static REJECTED: OnceLock<Reason> = OnceLock::new();
/// Whether a thread has begun to set `REJECTED`. Others must not try: they would wait for that thread, which doesn't
/// exist in a child forked meanwhile.
static IS_REJECTED: AtomicBool = AtomicBool::new(false);
static PHASE: AtomicU8 = AtomicU8::new(UNTRIED);
/// The lower limit of time after the counter went out of use, so that time doesn't go back.
static OS_FLOOR_NS: AtomicU64 = AtomicU64::new(0);
/// The latest time returned without a line while the counter was in use or being tried.
static WITHOUT_LINE_NS: AtomicU64 = AtomicU64::new(0);

const UNTRIED: u8 = 0;
const TRYING: u8 = 1;
const DONE: u8 = 2;

/// Nanoseconds now. The processor may read the counter slightly early.
#[inline]
pub(super) fn now_ns() -> u64 {
    match LATCH.now(counter::ticks) {
        Reading::Time(ns) => ns,
        Reading::Over => renewed_ns(),
        Reading::NoCounter => without_counter_ns(),
    }
}

/// Nanoseconds now. The processor reads the counter after every earlier load.
#[inline]
pub(super) fn ordered_now_ns() -> u64 {
    // Orders the load of the sequence number after earlier loads; the counter read follows that. No instruction on
    // x86-64.
    fence(Ordering::Acquire);
    match LATCH.now(counter::ticks_ordered) {
        Reading::Time(ns) => ns,
        Reading::Over => renewed_ns(),
        Reading::NoCounter => without_counter_ns(),
    }
}

#[inline(never)]
fn without_counter_ns() -> u64 {
    match PHASE.load(Ordering::Acquire) {
        // The counter came into use after this thread found none, and the operating system's clock may be ahead of its
        // line.
        DONE if LATCH.is_started() => ordered_now_ns(),
        DONE => sys::monotonic_ns().max(OS_FLOOR_NS.load(Ordering::Relaxed)),
        _ => first_use_ns(),
    }
}

#[cold]
fn first_use_ns() -> u64 {
    if PHASE.compare_exchange(UNTRIED, TRYING, Ordering::Acquire, Ordering::Relaxed).is_err() {
        // Another thread is calibrating, or this is a signal handler that interrupted it.
        return match PHASE.load(Ordering::Acquire) {
            DONE => now_ns(),
            _ => without_line(sys::monotonic_ns().saturating_sub(TRYING_CAUTION_NS)),
        };
    }
    let _uncancelled = sys::uncancelled();
    sys::on_fork_in_child(without_other_threads);
    let judged = judge::before_reading().and_then(|()| judge::after_calibration(calibrate::first_state()));
    match judged {
        Ok(state) => LATCH.start(&state),
        Err(reason) => record_rejection(reason),
    }
    PHASE.store(DONE, Ordering::Release);
    now_ns()
}

/// Returns a time without a line, never below an earlier one, although the caution subtracted from `ns` varies.
fn without_line(ns: u64) -> u64 {
    WITHOUT_LINE_NS.fetch_max(ns, Ordering::Relaxed).max(ns)
}

/// Cleans up in a forked child, where other threads no longer finish what they had begun.
extern "C" fn without_other_threads() {
    LATCH.revoke_claim();
    // The thread that tried the counter may already have a result.
    let is_tried = LATCH.state().is_some() || IS_REJECTED.load(Ordering::Relaxed);
    let phase = if is_tried { DONE } else { UNTRIED };
    let _ = PHASE.compare_exchange(TRYING, phase, Ordering::Relaxed, Ordering::Relaxed);
}

fn record_rejection(reason: Reason) {
    if !IS_REJECTED.swap(true, Ordering::Relaxed) {
        let _ = REJECTED.set(reason);
    }
}

/// Draws the next line after the window has ended, unless another thread does or just did.
#[cold]
fn renewed_ns() -> u64 {
    let Some((state, sequence)) = LATCH.state() else { return without_counter_ns() };
    // Claim before comparing, so that only one thread pays for the comparison.
    if state.line.ns_within_window(counter::ticks_ordered()).is_none()
        && let Some(claim) = LATCH.claim(sequence)
    {
        renew(claim, &state);
    }
    loop {
        let Some((line, ticks)) = LATCH.line(counter::ticks_ordered) else { return without_counter_ns() };
        if let Some(ns) = line.ns_within_grace(ticks) {
            return ns;
        }
        // The line is overdue, unless another was drawn meanwhile.
        if let Some((state, _)) = LATCH.state()
            && state.line == line
        {
            let mut pair = Pair { ticks, ns: sys::monotonic_ns() };
            // A pause between the two readings looks like a clock that is slewed, and would cost milliseconds.
            if !state.line.has_kept(pair.ticks, pair.ns) {
                pair = calibrate::pair(calibrate::TRIES);
            }
            return without_line(state.overdue_ns(pair.ticks, pair.ns, calibrate::suspended_ns()));
        }
    }
}

fn renew(claim: Claim, state: &State) {
    let (pair, suspended_ns, closing) = calibrate::closed_pair(calibrate::TRIES);
    match state.next(pair, closing, suspended_ns) {
        Ok(next) => {
            LATCH.fill(&claim, &next);
            LATCH.publish(claim);
        }
        Err(unsteady) => {
            retire(state, claim.sequence(), Reason::DriftTooHigh { ppm: unsteady.ppm });
        }
    }
}

/// Takes the counter out of use, unless the state is no longer current.
fn retire(state: &State, sequence: u64, reason: Reason) -> bool {
    // Other threads continue with the line until the latch stops.
    OS_FLOOR_NS.fetch_max(state.line.end_ns(), Ordering::Relaxed);
    record_rejection(reason);
    LATCH.stop(sequence)
}

/// Takes the counter out of use for good, because a thorough check failed. It retries only if another thread drew or
/// claimed a line meanwhile, so it never waits for one.
pub(super) fn reject(reason: Reason) {
    // Time will stand still until the end of the line, so draw a short one first.
    if let Some((state, sequence)) = LATCH.state()
        && let Some(claim) = LATCH.claim(sequence)
    {
        let (pair, suspended_ns, closing) = calibrate::closed_pair(calibrate::TRIES);
        if let Ok(next) = state.next(pair, closing, suspended_ns) {
            LATCH.fill(&claim, &next.for_a_moment());
        } else {
            LATCH.fill(&claim, &state);
        }
        LATCH.publish(claim);
    }
    while let Some((state, sequence)) = LATCH.state() {
        if retire(&state, sequence, reason) {
            return;
        }
    }
}

/// The state of the counter if it is in use. Starts the clock.
pub(super) fn counter_state() -> Option<State> {
    now_ns();
    LATCH.state().map(|(state, _)| state)
}

/// The clock in use, and why nothing faster is. Starts the clock.
pub(super) fn choice() -> Choice {
    let state = counter_state();
    let hz = state.map(|state| state.rate.hz());
    let source = if state.is_some() { counter::COUNTER.unwrap_or(Source::Os) } else { Source::Os };
    // There is no reason yet while another thread is calibrating.
    let reason = REJECTED.get().copied();
    let why = |candidate| match counter::COUNTER {
        Some(counter) if counter == candidate => reason,
        _ => Some(Reason::AnotherArchitecture),
    };
    let rejected = [Source::Tsc, Source::Cntvct].into_iter().filter(|&candidate| candidate != source);
    Choice { source, hz, rejected: rejected.filter_map(|candidate| Some((candidate, why(candidate)?))).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::latch::following;

    /// A claim on the next line, if the counter is in use.
    fn claim() -> Option<Claim> {
        loop {
            let (_, sequence) = LATCH.state()?;
            if let Some(claim) = LATCH.claim(sequence) {
                return Some(claim);
            }
            std::thread::yield_now();
        }
    }

    /// A child forked now inherits a claim that no thread holds. It must still draw lines, and be able to stop.
    fn a_forked_child_finishes_what_its_parents_threads_began() {
        let Some(claim) = claim() else { return };
        let left = sys::forked(|| {
            let Some((_, sequence)) = LATCH.state() else { return false };
            let (start_ns, mut last_ns) = (sys::monotonic_ns(), ordered_now_ns());
            // As if the thread that tried the counter had just put it in use.
            PHASE.store(TRYING, Ordering::Relaxed);
            without_other_threads();
            if PHASE.load(Ordering::Relaxed) != DONE {
                return false;
            }
            // A line lasts 0.1 s.
            while LATCH.state().is_some_and(|(_, now)| now < following(following(sequence))) {
                let now_ns = ordered_now_ns();
                if now_ns < last_ns || sys::monotonic_ns() - start_ns > 10_000_000_000 {
                    return false;
                }
                last_ns = now_ns;
            }
            // Another claim that no thread holds, this time without a fork that would show it.
            let Some(claim) = self::claim() else { return false };
            reject(Reason::CrossCoreSkew { ticks: 7 });
            LATCH.publish(claim);
            PHASE.store(TRYING, Ordering::Relaxed);
            without_other_threads();
            LATCH.state().is_none() && PHASE.load(Ordering::Relaxed) == DONE && ordered_now_ns() >= last_ns
        });
        assert_ne!(left, Some(false));
        assert_eq!(LATCH.state().map(|(_, sequence)| sequence), Some(claim.sequence()), "the parent is unaffected");
        LATCH.revoke_claim();
    }

    /// A reader found no counter just before another thread put it in use.
    fn a_late_reader_keeps_to_the_line() {
        let Some(claim) = claim() else { return };
        let left = sys::forked(|| {
            without_other_threads();
            let Some((mut state, sequence)) = LATCH.state() else { return false };
            let Some(claim) = LATCH.claim(sequence) else { return false };
            // A line far from the operating system's clock, so that the two can't be confused.
            state.line.start.ns += 3_600_000_000_000;
            state.line.start.ticks = counter::ticks_ordered();
            state.line.window = state.rate.ticks(60_000_000_000);
            LATCH.fill(&claim, &state);
            LATCH.publish(claim);
            let before_ns = ordered_now_ns();
            without_counter_ns() >= before_ns
        });
        assert_ne!(left, Some(false));
        assert_eq!(LATCH.state().map(|(_, sequence)| sequence), Some(claim.sequence()), "the parent is unaffected");
        LATCH.revoke_claim();
    }

    /// While the counter is tried, other threads get the time minus 10 µs. The line may be overdue at once, and then
    /// they get the time minus up to 0.1 ms.
    #[test]
    fn without_a_line_no_time_is_below_an_earlier_one() {
        let tried_ns = without_line(1_000_000_000);
        assert!(tried_ns >= 1_000_000_000);
        assert!(without_line(tried_ns.saturating_sub(76_083)) >= tried_ns);
    }

    #[test]
    fn time_goes_on_when_the_counter_goes_out_of_use() {
        let before_ns = ordered_now_ns();
        // Called from here because they need the counter in use.
        a_late_reader_keeps_to_the_line();
        a_forked_child_finishes_what_its_parents_threads_began();
        let hz = choice().hz;
        assert_eq!(hz.is_some(), REJECTED.get().is_none());
        // From here on, the other tests of this process read the operating system's clock, which is just as good.
        reject(Reason::CrossCoreSkew { ticks: 5 });
        assert!(now_ns() >= before_ns);
        assert!(hz.is_none() || OS_FLOOR_NS.load(Ordering::Relaxed) >= before_ns);
        let choice = choice();
        assert_eq!((choice.source, choice.hz, choice.rejected.len()), (Source::Os, None, 2));
        if hz.is_some() {
            assert!(choice.rejected.iter().any(|&(_, reason)| reason == Reason::CrossCoreSkew { ticks: 5 }));
        }
    }
}
