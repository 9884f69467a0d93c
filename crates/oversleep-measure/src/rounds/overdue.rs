//! Rounds that don't end: a wait never returns if something moves the clocks of this process.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{CounterReading, Platform, ThreadHandle};

use crate::pauses::{PUT_OFF_MAX, stolen};
use crate::stop::StopFlag;

/// Why a round did not end as it should.
pub(super) enum Unfinished {
    /// It has a reason, and its thread has ended.
    Ended(Unavailable),
    /// Its thread continues.
    Left(Unavailable),
}

impl From<Unavailable> for Unfinished {
    fn from(reason: Unavailable) -> Unfinished {
        Unfinished::Ended(reason)
    }
}

/// The limit for a round is this multiple of its estimate, plus a constant: waits may take a tick instead of the
/// request, and everything takes longer on a busy machine.
const OVERDUE_FACTOR: i64 = 20;
const OVERDUE_MIN: Nanos = Nanos::from_secs(10);
/// The time limit of a round with that estimate.
pub(super) fn limit(estimate: Nanos) -> Nanos {
    estimate * OVERDUE_FACTOR + OVERDUE_MIN
}

/// A pause of the whole process (a stop, a suspend) counts as no more than this.
const WATCH_SLICE: Nanos = Nanos::from_secs(1);

/// The length of a guard's waits. It doesn't notice shorter stops.
const GUARD_SLICE: Nanos = Nanos::from_millis(25);

/// The thread that waits for the end of a round. It detects stops by the lateness of its own waits, less the time in
/// the run queue.
pub(super) struct Guard {
    last: (Nanos, Option<Nanos>),
    begun: CounterReading,
    stopped: Nanos,
}

impl Guard {
    pub(super) fn new(platform: &dyn Platform) -> Guard {
        let begun = platform.counters();
        Guard { last: (platform.now(), platform.run_delay()), begun, stopped: Nanos::ZERO }
    }

    /// Notes the end of a wait of at most this length.
    fn note(&mut self, platform: &dyn Platform, slice: Nanos) {
        let now = (platform.now(), platform.run_delay());
        let before = std::mem::replace(&mut self.last, now);
        let Some(queued) = now.1.zip(before.1).map(|(after, before)| after - before) else { return };
        let unexplained = now.0 - before.0 - slice - queued;
        if unexplained > PUT_OFF_MAX {
            self.stopped += unexplained;
        }
    }

    /// How long this process was stopped; `None` if that can't be determined.
    pub(super) fn stopped(mut self, platform: &dyn Platform) -> Option<Nanos> {
        self.last.1?;
        if self.stopped == Nanos::ZERO {
            return Some(Nanos::ZERO);
        }
        let left = self.stopped - stolen(&mut self.begun, platform.counters());
        Some(if left > PUT_OFF_MAX { left } else { Nanos::ZERO })
    }
}

/// How often the waits of an overdue round are ended.
const ENDING_TRIES: u32 = 100;
const ENDING_PAUSE: Nanos = Nanos::from_millis(20);

/// Waits for a round to end, and calls `each` meanwhile with the time that has passed. Ends a round that takes far too long;
/// if that fails, its thread is abandoned.
pub(super) fn end_if_overdue(
    platform: &dyn Platform,
    thread: &dyn ThreadHandle,
    limit: Nanos,
    round_over: &StopFlag,
    mut guard: Option<&mut Guard>,
    mut each: Option<&mut dyn FnMut(Nanos)>,
) -> Option<Unfinished> {
    let longest = if guard.is_some() { GUARD_SLICE } else { WATCH_SLICE };
    let mut left = limit;
    while left > Nanos::ZERO {
        let slice = left.min(longest);
        let has_ended = thread.ended_within(slice);
        if let Some(guard) = &mut guard {
            guard.note(platform, slice);
        }
        if has_ended {
            return None;
        }
        left -= slice;
        if let Some(each) = &mut each {
            each(limit - left);
        }
    }
    let reason = Unavailable::failed(
        "measuring a round",
        format!(
            "it had not ended after {}. A wait did not return, as happens where something moves the clocks of this process \
             (faketime)",
            limit
        ),
    );
    round_over.raise();
    for _ in 0..ENDING_TRIES {
        platform.end_waits();
        if thread.ended_within(ENDING_PAUSE) {
            return Some(Unfinished::Ended(reason));
        }
    }
    Some(Unfinished::Left(reason))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use oversleep_record::Distribution;

    use super::*;
    use crate::live::LiveValues;
    use crate::testing::{self, Altered};

    #[test]
    fn a_guard_counts_stops_and_no_time_in_the_run_queue() {
        let (now, queued): (&AtomicI64, &AtomicI64) = (Box::leak(Box::default()), Box::leak(Box::default()));
        let platform = Altered::from(testing::machine())
            .showing(|_| Nanos::from_millis(now.load(Ordering::Relaxed)))
            .counting(|mut counters| {
                counters.totals.run_delay_ns = Some(Nanos::from_millis(queued.load(Ordering::Relaxed)));
                counters
            });
        let mut guard = Guard::new(&platform);
        // The duration of each wait, and its time in the run queue.
        for (duration, in_queue) in [(25, 0), (1_025, 0), (400, 380), (325, 0), (60, 0), (3, 0)] {
            now.fetch_add(duration, Ordering::Relaxed);
            queued.fetch_add(in_queue, Ordering::Relaxed);
            guard.note(&platform, GUARD_SLICE);
        }
        assert_eq!(guard.stopped(&platform), Some(Nanos::from_millis(1_300)));
    }

    #[test]
    fn the_figures_of_a_round_are_those_of_the_values_so_far() {
        /// A thread that takes three looks to end, and has measured one more value at each of them.
        struct Measuring<'a>(&'a LiveValues, std::cell::Cell<i64>);
        impl ThreadHandle for Measuring<'_> {
            fn is_finished(&self) -> bool {
                false
            }
            fn ended_within(&self, _limit: Nanos) -> bool {
                self.1.set(self.1.get() + 1);
                self.0.note(self.1.get() * 10);
                self.1.get() > 3
            }
            fn join(self: Box<Self>) {}
        }
        let live = LiveValues::after(&Distribution::new(), None, Nanos::ZERO);
        let platform = Altered::from(testing::machine());
        let thread = Measuring(&live, std::cell::Cell::new(0));
        let mut seen = Vec::new();
        let mut each = |passed: Nanos| {
            let figures = live.figures().expect("a value");
            seen.push((passed, figures.min.0, figures.newest.0, figures.max.0));
        };
        let ended = end_if_overdue(&platform, &thread, Nanos::from_secs(20), &StopFlag::new(), None, Some(&mut each));
        assert!(ended.is_none());
        let second = |count| Nanos::from_secs(count);
        assert_eq!(seen, [(second(1), 10, 10, 10), (second(2), 10, 20, 20), (second(3), 10, 30, 30)]);
    }
}
