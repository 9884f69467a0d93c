//! Detects a clock that doesn't move, so that a loop that waits for one ends.

use oversleep_record::{Nanos, Unavailable};

/// How often a clock may be read without moving. Between two ticks of 100 Hz a clock is read two million times at 5 ns
/// per read, so no working clock needs this many reads. They take from 40 ms to a few seconds. A modelled read takes at
/// least 20 ns, so tests need fewer.
pub(crate) const READS_MAX: u64 = if cfg!(test) { 1 << 19 } else { 1 << 23 };

/// The work of a loop between two readings of a clock, counted in reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reads(pub u64);

impl Reads {
    /// The reading alone.
    pub(crate) const ONE: Reads = Reads(1);
    /// A call, such as a yield or a hand-off.
    pub(crate) const CALL: Reads = Reads(64);

    /// Work of at least that duration: a read takes about 20 ns.
    pub(crate) fn of(span: Nanos) -> Reads {
        Reads((span.0.max(0) / 20).unsigned_abs().max(Reads::CALL.0))
    }
}

/// Follows the readings of one clock.
#[derive(Debug, Default)]
pub(crate) struct StillClock {
    last: Option<Nanos>,
    reads: u64,
}

impl StillClock {
    /// Notes a reading, and the work since the previous one.
    ///
    /// # Errors
    /// The clock has stood still for too long.
    #[inline]
    pub(crate) fn note(&mut self, now: Nanos, since: Reads) -> Result<(), Unavailable> {
        if self.last.replace(now) != Some(now) {
            self.reads = 0;
            return Ok(());
        }
        self.reads = self.reads.saturating_add(since.0);
        if self.reads < READS_MAX { Ok(()) } else { Err(stands_still()) }
    }
}

#[cold]
fn stands_still() -> Unavailable {
    Unavailable::failed("reading the clock", format!("the clock did not move in {READS_MAX} reads"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_follows_a_tick_moves_in_time_and_one_that_stands_is_given_up() {
        let mut ticking = StillClock::default();
        // 10 ms per tick, read every 20 ns.
        for read in 0..1_100_000_i64 {
            assert!(ticking.note(Nanos(read * 20).round_down_to(Nanos(10_000_000)), Reads::ONE).is_ok());
        }
        let mut still = StillClock::default();
        let ended = (0..).find(|_| still.note(Nanos(7), Reads::ONE).is_err());
        assert_eq!(ended, Some(READS_MAX));
        assert!(stands_still().to_string().contains(&format!("the clock did not move in {READS_MAX} reads")));
    }

    #[test]
    fn what_takes_longer_counts_for_more() {
        let after = |since| {
            let mut still = StillClock::default();
            (0..).find(|_| still.note(Nanos(7), since).is_err())
        };
        assert_eq!(after(Reads::of(Nanos::from_millis(1))), Some(READS_MAX.div_ceil(50_000)));
        assert_eq!(after(Reads::of(Nanos::MAX)), Some(1));
        assert_eq!(after(Reads::of(Nanos(-1))), after(Reads::CALL));
    }
}
