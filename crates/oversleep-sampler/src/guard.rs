//! Keeps the sampler at its share of a CPU: it pauses longer where waits cost more than they may.

use oversleep_record::Nanos;

/// How long a share is measured before it decides.
const WINDOW: Nanos = Nanos::from_millis(60_000);
/// The most that a pause is stretched: a burst in four minutes.
const STRETCH_MAX: u32 = 256;
/// On battery, pauses are longer by this factor.
const ON_BATTERY: u32 = 10;

/// The guard.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The most CPU time, in millionths of the time.
    share_max_ppm: i64,
    window: Nanos,
    used: Nanos,
    /// How often the configured pause the present one is.
    stretch: u32,
    is_on_battery: bool,
}

impl Guard {
    pub fn new(share_max_ppm: i64) -> Guard {
        Guard { share_max_ppm, window: Nanos::ZERO, used: Nanos::ZERO, stretch: 1, is_on_battery: false }
    }

    /// Notes how much CPU time was used in a window.
    pub fn note(&mut self, window: Nanos, used: Nanos) {
        self.window += window;
        self.used += used;
        if self.window < WINDOW {
            return;
        }
        let most = i128::from(self.window.0) * i128::from(self.share_max_ppm) / 1_000_000;
        let used = i128::from(self.used.0);
        if used > most {
            self.stretch = (self.stretch * 2).min(STRETCH_MAX);
        } else if self.stretch > 1 && used * 4 < most {
            // Twice the rate costs about twice as much, so it stays well below.
            self.stretch /= 2;
        }
        (self.window, self.used) = (Nanos::ZERO, Nanos::ZERO);
    }

    pub fn set_on_battery(&mut self, is_on_battery: bool) {
        self.is_on_battery = is_on_battery;
    }

    /// How often the configured pause the present one is.
    pub fn stretch(&self) -> u32 {
        if self.is_on_battery { self.stretch.max(ON_BATTERY) } else { self.stretch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(guard: &mut Guard, count: u32, used_us: i64) {
        (0..count).for_each(|_| guard.note(WINDOW, Nanos(used_us * 1_000)));
    }

    #[test]
    fn more_than_a_thousandth_of_a_cpu_halves_the_rate_and_much_less_doubles_it_again() {
        let mut guard = Guard::new(1_000);
        minutes(&mut guard, 3, 60_000);
        assert_eq!(guard.stretch(), 1, "60 ms of a minute is what it may use");
        minutes(&mut guard, 1, 60_001);
        assert_eq!(guard.stretch(), 2);
        minutes(&mut guard, 5, 15_000);
        assert_eq!(guard.stretch(), 2, "a quarter: it would use half");
        minutes(&mut guard, 1, 14_999);
        assert_eq!(guard.stretch(), 1);
        minutes(&mut guard, 20, 1_000_000);
        assert_eq!(guard.stretch(), STRETCH_MAX);
        guard.set_on_battery(true);
        minutes(&mut guard, 20, 0);
        assert_eq!(guard.stretch(), 10);
    }
}
