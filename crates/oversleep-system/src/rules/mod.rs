//! The rules by which systems decide when a timer ends: pure functions of typed parameters.
//!
//! A model sets the parameters to a machine's figures and draws the random events; sentences about a wait use the same
//! functions. [`Granularity`](crate::Granularity) has the rounding of a call's argument.

mod grid;
mod one_shot;
mod requests;
mod sentences;
mod slack;
mod tick;
mod wheel;

use oversleep_record::Nanos;

use crate::SlackRule;

pub use grid::Grid;
pub use one_shot::OneShot;
pub use requests::{Requester, Requests};
pub use sentences::{IGNORED_REQUEST, by_request, by_tick, by_timer};
pub use slack::{PollShare, SleepingThread, Tier};
pub use tick::{Reach, Tick, TickBase};
pub use wheel::{old_wheel_end, wheel_end, wheel_step};

/// The rules and figures that decide when timers end on a machine.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Timer slack of every new thread.
    pub default_slack_ns: Nanos,
    /// The additional slack of `select` and `poll`.
    pub poll_share: PollShare,
    /// A periodic interrupt that ends waits, if the system has one.
    pub tick: Option<Tick>,
    /// One-shot timers.
    pub one_shot: OneShot,
    /// Period of the scheduler's tick, for timeouts in whole ticks; zero if no wait depends on it.
    pub wheel_ns: Nanos,
    /// Whether a timeout in whole ticks counts from the last one, as on Linux before 4.8.
    pub wheel_from_last_tick: bool,
    /// Whether a lock's wait keeps its thread's slack under a real-time policy, as on Linux before 6.12.
    pub locks_keep_slack: bool,
    /// Interrupts per second on a CPU that have nothing to do with this program's waits; zero where none ends a wait.
    pub others_hz: u32,
    /// Leeways of timers as shares of the request, by class; the first applies to ordinary threads.
    pub tiers: Vec<Tier>,
    /// The share for waits that the kernel makes itself, whatever the thread's class.
    pub kernel_tier: Option<Tier>,
}

/// When a timer may end, and when it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// When it may end, together with others.
    pub soft: Nanos,
    /// When it must end.
    pub hard: Nanos,
}

impl Expiry {
    /// Exactly at that moment.
    pub fn at(moment: Nanos) -> Expiry {
        Expiry { soft: moment, hard: moment }
    }
}

impl Timing {
    /// When a timer ends that is set at `from` for `due`: at the tick of this process's `grid` if the machine has one
    /// that ends waits of that rule, and otherwise as in [`Timing::expiry`].
    pub fn timer_expiry(
        &self,
        grid: Option<Grid>,
        rule: SlackRule,
        thread: &SleepingThread,
        (from, due): (Nanos, Nanos),
        tolerance: Nanos,
        happens: impl FnOnce(f64) -> bool,
    ) -> Expiry {
        let on_tick = matches!(rule, SlackRule::Tick | SlackRule::TimerResolution);
        match (&self.tick, grid) {
            (Some(tick), Some(grid)) if on_tick && tick.ends_waits => {
                Expiry::at(tick.end(grid, from, due - from, tolerance, happens))
            }
            _ => self.expiry(rule, thread, from, due, happens),
        }
    }

    /// The end of a timer on a CPU whose other interrupts end it, too, once it may end: they come at random, and `unit` is a
    /// random number from 0 up to but excluding 1. Linux looks for such timers at each timer interrupt
    /// (`hrtimer_interrupt`), macOS on Intel's processors at every interrupt and before a processor idles
    /// (`interrupt_timer_coalescing_ilat_threshold_ns` and `idle_entry_timer_processing_hdeadline_threshold_ns` in
    /// <https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/i386/i386_timer.c>).
    pub fn beside_others(&self, expiry: Expiry, unit: impl FnOnce() -> f64) -> Expiry {
        if self.others_hz == 0 || expiry.hard <= expiry.soft {
            return expiry;
        }
        let until_next = Nanos((-(1.0 - unit()).ln() * 1e9 / f64::from(self.others_hz)) as i64);
        Expiry { hard: expiry.hard.min(expiry.soft + until_next), ..expiry }
    }

    /// When a wait ends that is entered `now` and due at `due`, if the timer interrupt doesn't decide ([`Tick::end`]).
    /// `happens` draws whether an event of that probability happens.
    pub fn expiry(
        &self,
        rule: SlackRule,
        thread: &SleepingThread,
        now: Nanos,
        due: Nanos,
        happens: impl FnOnce(f64) -> bool,
    ) -> Expiry {
        let span = (due - now).max(Nanos::ZERO);
        let within = |late: Nanos| Expiry { soft: due, hard: due + late };
        match rule {
            SlackRule::ThreadSlack => within(thread.slack_in_force()),
            SlackRule::ThreadSlackOrShare => within(self.poll_share.slack(thread, span)),
            SlackRule::ClassShare => match self.tiers.get(thread.tier) {
                Some(tier) if !thread.is_real_time && tier.is_rate_limited() => Expiry::at(due + tier.leeway(span)),
                Some(tier) if !thread.is_real_time => within(tier.leeway(span)),
                _ => Expiry::at(due),
            },
            SlackRule::KernelShare => match &self.kernel_tier {
                Some(tier) => within(tier.leeway(span)),
                None => Expiry::at(due),
            },
            SlackRule::Tick if self.wheel_ns > Nanos(1) && self.wheel_from_last_tick => {
                Expiry::at(old_wheel_end(self.wheel_ns, now, span))
            }
            SlackRule::Tick if self.wheel_ns > Nanos(1) => Expiry::at(wheel_end(self.wheel_ns, now, span)),
            SlackRule::None
            | SlackRule::NoTimer
            | SlackRule::OfItsWaits
            | SlackRule::Tick
            | SlackRule::TimerResolution => {
                let soft = self.one_shot.end(due, span, happens);
                Expiry { soft, hard: soft + self.one_shot.slack_ns }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_slack_and_shares_and_leeways_of_macos() {
        let tier = |shift, max| Tier { name: String::new(), shift, max_ns: Nanos::from_millis(max) };
        let timing = Timing {
            default_slack_ns: Nanos(50_000),
            poll_share: PollShare { plain_ppm: 1_000, nice_ppm: 5_000, max_ns: Nanos::from_millis(100) },
            tick: None,
            one_shot: one_shot::tests::exact(),
            wheel_ns: Nanos::from_millis(4),
            wheel_from_last_tick: false,
            locks_keep_slack: false,
            others_hz: 0,
            tiers: vec![tier(2, 5), tier(3, 1), tier(-2, 75), tier(-15, 10_000)],
            kernel_tier: Some(tier(3, 1)),
        };
        let never = |_| false;
        let thread = SleepingThread { slack: Nanos(50_000), is_real_time: false, is_nice: false, tier: 0 };
        let wheel = timing.expiry(SlackRule::Tick, &thread, Nanos(4_000_001), Nanos(5_000_001), never);
        assert_eq!(wheel, Expiry::at(Nanos::from_millis(12)), "1 ms takes 4 to 8 ms at 250 Hz");
        let old = Timing { wheel_from_last_tick: true, ..timing.clone() };
        let wheel = old.expiry(SlackRule::Tick, &thread, Nanos(7_500_000), Nanos(8_500_000), never);
        assert_eq!(wheel, Expiry::at(Nanos::from_millis(8)), "and took up to 4 ms before Linux 4.8");
        let late = |rule, thread: SleepingThread, span: i64| {
            let expiry = timing.expiry(rule, &thread, Nanos(7), Nanos(7 + span), never);
            assert_eq!(expiry.soft, Nanos(7 + span));
            (expiry.hard - expiry.soft).0
        };
        use SlackRule::{ClassShare, ThreadSlack, ThreadSlackOrShare};
        assert_eq!(late(ThreadSlack, thread, 1_000_000), 50_000);
        assert_eq!(late(SlackRule::None, thread, 1_000_000), 0);
        let on_a_host = Timing { one_shot: OneShot { slack_ns: Nanos(50_000), ..timing.one_shot }, ..timing.clone() };
        let expiry = on_a_host.expiry(SlackRule::TimerResolution, &thread, Nanos(7), Nanos(500_007), never);
        assert_eq!(expiry, Expiry { soft: Nanos(500_007), hard: Nanos(550_007) }, "a wait of Wine is one of its host");
        assert_eq!(late(ThreadSlackOrShare, thread, 1_000_000), 50_000);
        assert_eq!(late(ThreadSlackOrShare, thread, 300_000_000), 300_000);
        let nice = SleepingThread { is_nice: true, ..thread };
        assert_eq!(late(ThreadSlackOrShare, nice, 100_000_000), 500_000);
        assert_eq!(late(ThreadSlackOrShare, nice, 86_400_000_000_000), 100_000_000, "capped");
        let real_time = SleepingThread { is_real_time: true, ..thread };
        for rule in [ThreadSlack, ThreadSlackOrShare, ClassShare] {
            assert_eq!(late(rule, real_time, 500_000_000), 0);
        }
        for thread in [thread, real_time, SleepingThread { tier: 2, ..thread }] {
            assert_eq!(late(SlackRule::KernelShare, thread, 4_000_000), 500_000);
            assert_eq!(late(SlackRule::KernelShare, thread, 100_000_000), 1_000_000);
        }
        assert_eq!(late(ClassShare, thread, 1_000_000), 250_000);
        assert_eq!(late(ClassShare, thread, 100_000_000), 5_000_000);
        assert_eq!(late(ClassShare, SleepingThread { tier: 1, ..thread }, 1_000_000), 125_000);
        assert_eq!(late(ClassShare, SleepingThread { tier: 2, ..thread }, 1_000_000), 4_000_000);
        let napping = SleepingThread { tier: 3, ..thread };
        let nap = timing.expiry(ClassShare, &napping, Nanos(7), Nanos(1_000_007), never);
        assert_eq!(nap, Expiry::at(Nanos(10_001_000_007)), "no other interrupt ends it");
    }

    #[test]
    fn other_interrupts_end_a_wait_once_it_may_end() {
        let timing = Timing {
            default_slack_ns: Nanos::ZERO,
            poll_share: PollShare { plain_ppm: 0, nice_ppm: 0, max_ns: Nanos::ZERO },
            tick: None,
            one_shot: one_shot::tests::exact(),
            wheel_ns: Nanos::ZERO,
            wheel_from_last_tick: false,
            locks_keep_slack: false,
            others_hz: 1_000,
            tiers: Vec::new(),
            kernel_tier: None,
        };
        let late = Expiry { soft: Nanos(5), hard: Nanos(5_000_005) };
        let hard = |unit: f64| timing.beside_others(late, || unit).hard.0;
        assert_eq!([hard(0.0), hard(0.5), hard(0.999)], [5, 693_152, 5_000_005]);
        assert_eq!(timing.beside_others(Expiry::at(Nanos(5)), || unreachable!()), Expiry::at(Nanos(5)));
        let alone = Timing { others_hz: 0, ..timing.clone() };
        assert_eq!(alone.beside_others(late, || unreachable!()), late);
    }
}
