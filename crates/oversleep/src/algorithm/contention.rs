//! Decides for how long sleeps ask the scheduler for short slices after another thread had the processor.
//!
//! A slice costs CPU time: setting and restoring it took 4 µs of each sleep on a 2-vCPU KVM guest (EPYC, Linux 6.18,
//! 2026-11-29). And it prevents no stall of the host, for which the system has no sign. So slices are kept up only where
//! sleeps with them stall less often than those without.
//!
//! Pure: sleeps and stalls in, an answer out.

/// The sleeps after a stall for which slices are asked for, at first and at most.
const FIRST: u16 = 512;
const LONGEST: u16 = 8_192;
/// Where slices didn't help, they are tried again after this many sleeps, then after twice as many, up to [`LONGEST`].
const FIRST_REST: u16 = 2_048;

/// Whether other threads seem to want the processor. All zero at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contention {
    /// How many of the next sleeps still ask for slices.
    left: u16,
    /// How many sleeps asked for them after the last stall.
    length: u16,
    /// Sleeps without a slice since the last stall.
    without: u16,
    /// How many sleeps without a slice there are for each stall: an average in which a stall weighs a quarter.
    for_a_stall: u16,
    /// The stalls of sleeps that asked for slices.
    in_spite: u16,
    /// How many of the next sleeps don't ask for slices, and how many didn't after the last vain attempt.
    rest: u16,
    rest_length: u16,
    /// Whether slices have helped twice in a row, where sleeps without any had stalled often.
    is_certain: bool,
}

impl Contention {
    pub(crate) const NONE: Contention = Contention {
        left: 0,
        length: 0,
        without: 0,
        for_a_stall: 0,
        in_spite: 0,
        rest: 0,
        rest_length: 0,
        is_certain: false,
    };
    /// For all sleeps of a test.
    #[cfg(test)]
    pub(crate) const LASTING: Contention = Contention { left: u16::MAX, is_certain: true, ..Contention::NONE };
    /// More sleeps than this for each stall are so many that a host may be the cause.
    const OFTEN: u16 = 100;

    /// Whether the sleep that has begun should ask for short slices.
    pub(crate) fn is_likely(self) -> bool {
        self.left > 0
    }

    /// Whether other threads do want the processor, since slices have helped.
    pub(crate) fn is_certain(self) -> bool {
        self.is_certain && (self.left > 0 || self.without <= FIRST)
    }

    pub(crate) fn begin_sleep(&mut self) {
        if self.left == 0 {
            self.without = self.without.saturating_add(1);
            self.rest = self.rest.saturating_sub(1);
            return;
        }
        self.left -= 1;
        if self.left == 0 {
            self.judge();
        }
    }

    /// Notes that a wait of this sleep has stalled. If that happens soon after slices were given up, the other threads are
    /// still there, and twice as many sleeps ask for slices: so beside threads that stay, only one sleep in thousands has
    /// to stall.
    pub(crate) fn stalled(&mut self) {
        if self.left > 0 {
            self.in_spite = self.in_spite.saturating_add(1);
            return;
        }
        self.for_a_stall = match self.for_a_stall {
            0 => self.without,
            average => average - average / 4 + self.without / 4,
        };
        let is_soon = self.without <= FIRST;
        self.without = 0;
        if self.rest == 0 {
            self.length = if is_soon { (2 * self.length).clamp(FIRST, LONGEST) } else { FIRST };
            (self.left, self.in_spite) = (self.length, 0);
        }
    }

    /// Compares the sleeps that asked for slices with those before them.
    fn judge(&mut self) {
        let has_helped = self.in_spite == 0 || self.length / self.in_spite / 2 >= self.for_a_stall;
        self.is_certain = has_helped && self.length > FIRST && self.for_a_stall <= Self::OFTEN;
        if has_helped {
            self.rest_length = 0;
        } else {
            self.rest_length = (2 * self.rest_length).clamp(FIRST_REST, LONGEST);
            (self.rest, self.length) = (self.rest_length, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of these sleeps stall, if one in `every` that have no slice does, and how many have one.
    fn sleeps(contention: &mut Contention, sleeps: u32, every: u32, every_with_slice: u32) -> (u32, u32) {
        let (mut stalls, mut without, mut with) = (0, 0, 0);
        for _ in 0..sleeps {
            contention.begin_sleep();
            let (count, every) = match contention.is_likely() {
                true => (&mut with, every_with_slice),
                false => (&mut without, every),
            };
            *count += 1;
            if *count % every == 0 {
                contention.stalled();
                stalls += 1;
            }
        }
        (stalls, with)
    }

    fn stalls(contention: &mut Contention, count: u32, every: u32) -> u32 {
        sleeps(contention, count, every, u32::MAX).0
    }

    #[test]
    fn beside_threads_that_stay_few_sleeps_find_that_out() {
        let mut contention = Contention::NONE;
        // 512, 1,024, … 8,192 sleeps with a slice, and 50 without one before each.
        assert_eq!(stalls(&mut contention, 5 * 50 + 512 + 1_024 + 2_048 + 4_096, 50), 5);
        assert_eq!(stalls(&mut contention, 8 * (8_192 + 50), 50), 8);
    }

    #[test]
    fn a_machine_that_is_quiet_again_is_left_alone() {
        let mut contention = Contention::NONE;
        stalls(&mut contention, 20_000, 50);
        stalls(&mut contention, 20_000, u32::MAX);
        assert!(!contention.is_likely());
        // A single stall after that counts as the first one.
        contention.stalled();
        stalls(&mut contention, u32::from(FIRST), u32::MAX);
        assert!(!contention.is_likely());
    }

    #[test]
    fn slices_that_help_are_kept_in_spite_of_some_stalls() {
        let mut contention = Contention::NONE;
        let (stalls, with) = sleeps(&mut contention, 100_000, 50, 400);
        assert!(stalls < 100_000 / 400 * 11 / 10 && with > 98_000, "{stalls} stalls, {with} slices");
        assert!(contention.is_certain());
        sleeps(&mut contention, 10_000, u32::MAX, u32::MAX);
        assert!(!contention.is_certain());
    }

    #[test]
    fn slices_that_prevent_no_stall_are_hardly_asked_for() {
        for every in [20, 133, 400] {
            let mut contention = Contention::NONE;
            let (_, with) = sleeps(&mut contention, 100_000, every, every);
            assert!(with < 10_000, "one in {every} stalls, {with} slices");
            assert!(!contention.is_certain(), "one in {every}");
            // Then other threads come, which slices keep away.
            let (stalls, with) = sleeps(&mut contention, 100_000, every, u32::MAX);
            assert!(with > 80_000, "{stalls} stalls, {with} slices");
        }
    }
}
