//! Decides for how long sleeps ask the scheduler for short slices after another thread had the processor.
//!
//! Pure: sleeps and stalls in, an answer out.

/// The sleeps after a stall for which slices are asked for, at first and at most.
const FIRST: u16 = 512;
const LONGEST: u16 = 8_192;

/// Whether other threads seem to want the processor. All zero at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contention {
    /// How many of the next sleeps still ask for slices.
    left: u16,
    /// How many sleeps asked for them after the last stall.
    length: u16,
    /// Sleeps without a slice since then.
    without: u16,
}

impl Contention {
    pub(crate) const NONE: Contention = Contention { left: 0, length: 0, without: 0 };

    /// Whether the sleep that begins should ask for short slices.
    pub(crate) fn is_likely(self) -> bool {
        self.left > 0
    }

    pub(crate) fn begin_sleep(&mut self) {
        match self.left {
            0 => self.without = self.without.saturating_add(1),
            _ => self.left -= 1,
        }
    }

    /// Notes a wait that has stalled. If that happens soon after slices were given up, the other threads are still there,
    /// and twice as many sleeps ask for slices: so beside threads that stay, only one sleep in thousands has to stall.
    pub(crate) fn stalled(&mut self) {
        if self.left == 0 {
            self.length = if self.without <= FIRST { (2 * self.length).clamp(FIRST, LONGEST) } else { FIRST };
            self.without = 0;
        }
        self.left = self.length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of these sleeps stall, if one in `every` that have no slice does.
    fn stalls(contention: &mut Contention, sleeps: u32, every: u32) -> u32 {
        let (mut stalls, mut without) = (0, 0);
        for _ in 0..sleeps {
            let has_slice = contention.is_likely();
            contention.begin_sleep();
            if !has_slice {
                without += 1;
                if without % every == 0 {
                    contention.stalled();
                    stalls += 1;
                }
            }
        }
        stalls
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
    fn a_stall_in_spite_of_slices_keeps_them() {
        let mut contention = Contention::NONE;
        contention.stalled();
        for _ in 0..10 {
            stalls(&mut contention, u32::from(FIRST) - 1, u32::MAX);
            assert!(contention.is_likely());
            contention.stalled();
        }
        assert_eq!(contention.length, FIRST);
    }
}
