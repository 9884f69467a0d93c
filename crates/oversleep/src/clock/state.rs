//! The process's one clock: starts it on first use, renews its line, and takes the counter out of use when it proves
//! unsteady. Everything that is shared between threads is in the statics here.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};

use crate::sys::{self, counter};

use super::latch::{Claim, Latch, Reading};
use super::reason::{Choice, Reason, Source};
use super::servo::{State, TRYING_CAUTION_NS};
use super::{calibrate, judge};

static LATCH: Latch = Latch::new();
/// Why the counter isn't in use; set once, before it goes out of use.
static REJECTED: OnceLock<Reason> = OnceLock::new();
/// Whether a thread has begun to set it. No other may try: it would wait for that one, which doesn't exist in a child
/// that was forked meanwhile.
static IS_REJECTED: AtomicBool = AtomicBool::new(false);
static PHASE: AtomicU8 = AtomicU8::new(UNTRIED);
/// The operating system's clock is held above this after the counter went out of use, so that time doesn't go back.
static OS_FLOOR_NS: AtomicU64 = AtomicU64::new(0);
/// The latest time that was handed out without a line while the counter was in use or tried.
static WITHOUT_LINE_NS: AtomicU64 = AtomicU64::new(0);

const UNTRIED: u8 = 0;
const TRYING: u8 = 1;
const DONE: u8 = 2;

/// Nanoseconds now, by a reading that the processor may take a little early.
#[inline]
pub(super) fn now_ns() -> u64 {
    match LATCH.now(counter::ticks) {
        Reading::Time(ns) => ns,
        Reading::Over => renewed_ns(),
        Reading::NoCounter => without_counter_ns(),
    }
}

/// Nanoseconds now, by a reading that the processor takes after every earlier load.
#[inline]
pub(super) fn ordered_now_ns() -> u64 {
    // The load of the sequence number follows all earlier ones, and the reading follows that. On x86-64 no instruction.
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
        // It came into use after this thread found none. The operating system's clock may be ahead of its line.
        DONE if LATCH.is_started() => ordered_now_ns(),
        DONE => sys::monotonic_ns().max(OS_FLOOR_NS.load(Ordering::Relaxed)),
        _ => first_use_ns(),
    }
}

#[cold]
fn first_use_ns() -> u64 {
    if PHASE.compare_exchange(UNTRIED, TRYING, Ordering::Acquire, Ordering::Relaxed).is_err() {
        // Another thread calibrates, or this is a signal handler that interrupted it.
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
        Err(reason) => say_why(reason),
    }
    PHASE.store(DONE, Ordering::Release);
    now_ns()
}

/// Hands out a time that no line gives, and none below an earlier one: how careful it must be changes by what is known.
fn without_line(ns: u64) -> u64 {
    WITHOUT_LINE_NS.fetch_max(ns, Ordering::Relaxed).max(ns)
}

/// In a forked child: what another thread was about to do won't be done.
extern "C" fn without_other_threads() {
    LATCH.take_back_claim();
    // The thread that tried may have come as far as a result.
    let is_tried = LATCH.state().is_some() || IS_REJECTED.load(Ordering::Relaxed);
    let phase = if is_tried { DONE } else { UNTRIED };
    let _ = PHASE.compare_exchange(TRYING, phase, Ordering::Relaxed, Ordering::Relaxed);
}

fn say_why(reason: Reason) {
    if !IS_REJECTED.swap(true, Ordering::Relaxed) {
        let _ = REJECTED.set(reason);
    }
}

/// The window is over: draws the next line, unless another thread does or has just done so.
#[cold]
fn renewed_ns() -> u64 {
    let Some((state, sequence)) = LATCH.state() else { return without_counter_ns() };
    // Claimed first and compared then, so that one thread pays for that.
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
        // What is known beside the line, unless another was drawn meanwhile.
        if let Some((state, _)) = LATCH.state()
            && state.line == line
        {
            return without_line(state.overdue_ns(ticks, sys::monotonic_ns(), calibrate::suspended_ns()));
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

/// Takes the counter out of use, unless the state isn't current any more.
fn retire(state: &State, sequence: u64, reason: Reason) -> bool {
    // Until it stops, and be that after a while, others go on with the line.
    OS_FLOOR_NS.fetch_max(state.line.end_ns(), Ordering::Relaxed);
    say_why(reason);
    LATCH.stop(sequence)
}

/// Takes the counter out of use for good, because a thorough check failed. It tries again only where another thread has
/// drawn or claimed a line meanwhile, and so never waits for one.
pub(super) fn reject(reason: Reason) {
    // Time stands still until the line's end, so a short one goes first.
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

/// The state of the counter, if it is in use; starts the clock.
pub(super) fn counter_state() -> Option<State> {
    now_ns();
    LATCH.state().map(|(state, _)| state)
}

/// What is in use now, and why nothing faster is; starts the clock.
pub(super) fn choice() -> Choice {
    let state = counter_state();
    let hz = state.map(|state| state.rate.hz());
    let source = if state.is_some() { counter::COUNTER.unwrap_or(Source::Os) } else { Source::Os };
    // Without a reason, another thread is calibrating at this moment: nothing is rejected yet.
    let here = REJECTED.get().copied();
    let why = |candidate| match counter::COUNTER {
        Some(counter) if counter == candidate => here,
        _ => Some(Reason::AnotherArchitecture),
    };
    let rejected = [Source::Tsc, Source::Cntvct].into_iter().filter(|&candidate| candidate != source);
    Choice { source, hz, rejected: rejected.filter_map(|candidate| Some((candidate, why(candidate)?))).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::latch::following;

    /// A claim on the next line, if there are lines here.
    fn claim() -> Option<Claim> {
        loop {
            let (_, sequence) = LATCH.state()?;
            if let Some(claim) = LATCH.claim(sequence) {
                return Some(claim);
            }
            std::thread::yield_now();
        }
    }

    /// A child forked now finds a claim that nobody holds: whether it goes on drawing lines, and can stop doing so.
    fn a_forked_child_does_what_its_parents_threads_were_about_to() {
        let Some(claim) = claim() else { return };
        let left = sys::forked(|| {
            let Some((_, sequence)) = LATCH.state() else { return false };
            let (start_ns, mut last_ns) = (sys::monotonic_ns(), ordered_now_ns());
            // The thread that tried the counter had just put it in use.
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
            // Again a claim that nobody holds, without a fork by which to know it.
            let Some(claim) = self::claim() else { return false };
            reject(Reason::CrossCoreSkew { ticks: 7 });
            LATCH.publish(claim);
            PHASE.store(TRYING, Ordering::Relaxed);
            without_other_threads();
            LATCH.state().is_none() && PHASE.load(Ordering::Relaxed) == DONE && ordered_now_ns() >= last_ns
        });
        assert_ne!(left, Some(false));
        assert_eq!(LATCH.state().map(|(_, sequence)| sequence), Some(claim.sequence()), "the parent goes on");
        LATCH.take_back_claim();
    }

    /// A reader that found no counter, just before another thread put it in use, and goes on from there.
    fn a_late_reader_keeps_to_the_line() {
        let Some(claim) = claim() else { return };
        let left = sys::forked(|| {
            without_other_threads();
            let Some((mut state, sequence)) = LATCH.state() else { return false };
            let Some(claim) = LATCH.claim(sequence) else { return false };
            // A line that is far from the operating system's clock, so that one isn't taken for the other.
            state.line.start.ns += 3_600_000_000_000;
            state.line.start.ticks = counter::ticks_ordered();
            state.line.window = state.rate.ticks(60_000_000_000);
            LATCH.fill(&claim, &state);
            LATCH.publish(claim);
            let before_ns = ordered_now_ns();
            without_counter_ns() >= before_ns
        });
        assert_ne!(left, Some(false));
        assert_eq!(LATCH.state().map(|(_, sequence)| sequence), Some(claim.sequence()), "the parent goes on");
        LATCH.take_back_claim();
    }

    /// While the counter is tried, others get the time less 10 µs. The line may be overdue as soon as it is there,
    /// and then they get it less up to 0.1 ms.
    #[test]
    fn without_a_line_no_time_is_below_an_earlier_one() {
        let tried_ns = without_line(1_000_000_000);
        assert!(tried_ns >= 1_000_000_000);
        assert!(without_line(tried_ns.saturating_sub(76_083)) >= tried_ns);
    }

    #[test]
    fn time_goes_on_when_the_counter_goes_out_of_use() {
        let before_ns = ordered_now_ns();
        // Here, because it takes the counter.
        a_late_reader_keeps_to_the_line();
        a_forked_child_does_what_its_parents_threads_were_about_to();
        let hz = choice().hz;
        assert_eq!(hz.is_some(), REJECTED.get().is_none());
        // The other tests of this process read the operating system's clock from here on, which is as good.
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
