//! The rules by which systems decide when a timer ends: slack, the tick and its arbitration, one-shot timers, leeway.
//!
//! Pure functions over figures. What a thread and a process have asked for comes in as [`Asker`] and the period of the
//! tick from [`super::resolution`].

use oversleep_record::Nanos;

use super::spread::Random;
use super::wheel::wheel_end;
use oversleep_system::SlackRule;

/// What decides when timers end.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Timer slack of every new thread.
    pub default_slack_ns: Nanos,
    /// What `select` and `poll` add by themselves.
    pub poll_share: PollShare,
    /// A periodic interrupt that waits end on, where the system has one.
    pub tick: Option<Tick>,
    /// One-shot timers.
    pub one_shot: OneShot,
    /// Period of the scheduler's tick, for timeouts in whole ticks; zero where no wait depends on it.
    pub wheel_ns: Nanos,
    /// Shares of the request that timers are put off by, by class; the first is every thread's own.
    pub tiers: Vec<Tier>,
}

/// The share of a long timeout that Linux adds to `select`, `poll` and `epoll_wait`.
#[derive(Clone, Copy, Debug)]
pub struct PollShare {
    /// In parts per million of the timeout.
    pub plain_ppm: i64,
    /// For a thread of positive nice value.
    pub nice_ppm: i64,
    /// At most this.
    pub most_ns: Nanos,
}

/// A timer interrupt whose period programs can shorten.
#[derive(Clone, Debug)]
pub struct Tick {
    /// Period when nobody asks.
    pub default_ns: Nanos,
    /// Shortest period.
    pub shortest_ns: Nanos,
    /// Frequency of the timer behind it: periods are multiples of 128 of its cycles, rounded down. `None`: any period of
    /// 100 ns.
    pub timer_hz: Option<u64>,
    /// What a wait counts from.
    pub base: TickBase,
    /// Share of waits that a tick missed by less than [`Tick::margin_ns`] does not end: they take one tick more.
    pub p_two_tick: f64,
    /// How little before its time a tick may come and still, sometimes, end a wait.
    pub margin_ns: Nanos,
    /// Whom a request reaches.
    pub reach: Reach,
    /// Whether requests of programs whose window can't be seen are ignored.
    pub drops_hidden: bool,
    /// Whether this program's window can't be seen.
    pub is_hidden: bool,
}

/// What a wait on the tick counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickBase {
    /// The call: never early.
    Call,
    /// The tick before the call: up to one tick early.
    LastTick,
}

/// Whom a request for a resolution reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every process.
    Everyone,
    /// Processes that asked; the others are served at multiples of the period near the default.
    Asker,
}

/// Timers that are programmed for one moment.
#[derive(Clone, Copy, Debug)]
pub struct OneShot {
    /// They end on multiples of this; one nanosecond where they end when they were set to.
    pub grid_ns: Nanos,
    /// Share of waits that end one grid step later.
    pub p_late: f64,
}

/// How far one class of threads has its timers put off.
#[derive(Clone, Debug)]
pub struct Tier {
    /// Its name, as the tunable takes it.
    pub name: String,
    /// The request is shifted right by that many bits; to the left below zero.
    pub shift: i32,
    /// At most this; zero where nothing is put off.
    pub most_ns: Nanos,
}

/// Who waits, as far as it decides about timers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    pub slack: Nanos,
    pub is_real_time: bool,
    pub is_nice: bool,
    pub tier: usize,
}

/// When a timer may and when it must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expiry {
    pub soft: Nanos,
    pub hard: Nanos,
}

impl Expiry {
    pub(super) fn at(moment: Nanos) -> Expiry {
        Expiry { soft: moment, hard: moment }
    }
}

/// A grid of moments: the tick as one process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub origin: Nanos,
    pub period: Nanos,
}

impl Grid {
    /// The last point at or before that moment.
    pub(super) fn at_or_before(&self, moment: Nanos) -> Nanos {
        self.origin + (moment - self.origin).round_down_to(self.period)
    }

    /// The first point at or after that moment.
    pub(super) fn at_or_after(&self, moment: Nanos) -> Nanos {
        self.origin + (moment - self.origin).round_up_to(self.period)
    }
}

impl Timing {
    /// When a wait without a grid ends that was entered now and is due then.
    pub(super) fn expiry(&self, rule: SlackRule, asker: &Asker, now: Nanos, due: Nanos, random: &Random) -> Expiry {
        let span = (due - now).max(Nanos::ZERO);
        let slack = if asker.is_real_time { Nanos::ZERO } else { asker.slack };
        match rule {
            SlackRule::ThreadSlack => Expiry { soft: due, hard: due + slack },
            SlackRule::ThreadSlackOrShare if asker.is_real_time => Expiry::at(due),
            SlackRule::ThreadSlackOrShare => {
                let share = if asker.is_nice { self.poll_share.nice_ppm } else { self.poll_share.plain_ppm };
                let share = Nanos(span.0 / 1_000_000 * share + span.0 % 1_000_000 * share / 1_000_000);
                Expiry { soft: due, hard: due + share.min(self.poll_share.most_ns).max(slack) }
            }
            SlackRule::ClassShare => match self.tiers.get(asker.tier) {
                Some(tier) if !asker.is_real_time => Expiry { soft: due, hard: due + tier.leeway(span) },
                _ => Expiry::at(due),
            },
            SlackRule::Tick if self.wheel_ns > Nanos(1) => Expiry::at(wheel_end(self.wheel_ns, now, span)),
            SlackRule::None | SlackRule::NoTimer | SlackRule::Tick | SlackRule::TimerResolution => {
                Expiry::at(self.one_shot.end(due, random))
            }
        }
    }
}

impl Tier {
    fn leeway(&self, span: Nanos) -> Nanos {
        let shifted = match self.shift {
            right @ 0..=62 => span.0 >> right,
            left @ -30..0 => span.0.saturating_mul(1 << -left),
            _ => 0,
        };
        Nanos(shifted).min(self.most_ns)
    }
}

impl OneShot {
    /// Never early, whatever the grid.
    fn end(&self, due: Nanos, random: &Random) -> Nanos {
        if self.grid_ns.0 <= 1 {
            return due;
        }
        let end = Grid { origin: Nanos::ZERO, period: self.grid_ns }.at_or_after(due);
        if random.happens(self.p_late) { end + self.grid_ns } else { end }
    }
}

impl Grid {
    /// The first point at or after `due`, or the one before it where that misses by less than the margin and chance has
    /// it so.
    fn end(&self, now: Nanos, due: Nanos, margin: Nanos, p_two_tick: f64, random: &Random) -> Nanos {
        let end = self.at_or_after(due);
        let before = end - self.period;
        let is_near = before > now && due - before < margin && end > due;
        if is_near && !random.happens(p_two_tick) { before } else { end }
    }
}

impl Tick {
    /// When a wait of `span` on this process's grid ends that may be put off by `tolerance`.
    pub(super) fn end(&self, grid: Grid, now: Nanos, span: Nanos, tolerance: Nanos, random: &Random) -> Nanos {
        let due = match self.base {
            TickBase::Call => now + span,
            TickBase::LastTick => grid.at_or_before(now) + span,
        };
        if tolerance >= grid.period + grid.period {
            let coarse = Grid { period: tolerance.round_down_to(grid.period), ..grid };
            return coarse.at_or_after(due);
        }
        let end = grid.end(now, due, self.margin_ns, self.p_two_tick, random);
        // A span of nothing counted from the last tick is over: the wait ends at the next one nevertheless.
        if end > now { end } else { grid.at_or_after(now + Nanos(1)) }
    }

    /// What the system grants for a request: a multiple of 128 cycles of the timer below it, in units of 100 ns.
    pub(super) fn granted(&self, requested: Nanos) -> Nanos {
        let requested = requested.max(self.shortest_ns).min(self.default_ns);
        let Some(hz) = self.timer_hz else { return requested.round_down_to(Nanos(100)) };
        if requested == self.default_ns {
            return requested;
        }
        let cycles = i128::from(requested.0 / 100) * i128::from(hz);
        let multiple = (cycles - 1) / (128 * 10_000_000);
        Nanos((multiple * 128 * 10_000_000 / i128::from(hz) * 100) as i64)
    }

    /// The period at which a process is served that asked for nothing, where requests reach only those who asked.
    pub(super) fn lazy_period(&self, hardware: Nanos) -> Nanos {
        if hardware >= self.default_ns {
            return hardware;
        }
        let (default, period) = (self.default_ns.0, hardware.0);
        // The nearest multiple of a short period; of a long one, the largest that is not longer than the default.
        let multiple = if period <= 2_000_000 { (default + period / 2) / period } else { default / period };
        Nanos(period * multiple.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick() -> Tick {
        Tick {
            default_ns: Nanos(15_625_000),
            shortest_ns: Nanos(500_000),
            timer_hz: Some(24_000_000),
            base: TickBase::Call,
            p_two_tick: 1.0,
            margin_ns: Nanos(10_000),
            reach: Reach::Everyone,
            drops_hidden: false,
            is_hidden: false,
        }
    }

    fn grid(period: i64) -> Grid {
        Grid { origin: Nanos::ZERO, period: Nanos(period) }
    }

    /// Elapsed time of a wait entered 2 us after a tick.
    fn elapsed(tick: &Tick, period: i64, span: i64) -> i64 {
        let now = Nanos(1_000 * period + 2_000);
        (tick.end(grid(period), now, Nanos(span), Nanos::ZERO, &Random::seeded(1)) - now).0 + 2_000
    }

    #[test]
    fn grants_are_the_published_ones() {
        let granted = |hundreds: i64| tick().granted(Nanos(hundreds * 100)).0 / 100;
        for (asked, got) in [(5_013, 4_960), (5_014, 5_013), (5_067, 5_066), (5_121, 5_120)] {
            assert_eq!(granted(asked), got, "{asked}");
        }
        // The formula published with the table, for every request of it.
        for asked in 5_000..=6_000 {
            assert_eq!(granted(asked), (3 * asked - 1) / 160 * 160 / 3);
        }
        let faster = Tick { timer_hz: Some(100_000_000), ..tick() };
        assert_eq!(faster.granted(Nanos(500_000)), Nanos(499_200));
        assert_eq!(faster.granted(Nanos(507_000)), Nanos(506_800), "506.88 us in units of 100 ns");
        assert_eq!(faster.granted(Nanos(1_000)), Nanos(499_200), "no shorter than the shortest");
        assert_eq!(tick().granted(Nanos::from_secs(1)), Nanos(15_625_000));
        assert_eq!(Tick { timer_hz: None, ..tick() }.granted(Nanos(1_000_050)), Nanos(1_000_000));
    }

    #[test]
    fn a_wait_ends_at_the_first_tick_that_is_not_early() {
        let tick = tick();
        assert_eq!(elapsed(&tick, 15_625_000, 1_000_000), 15_625_000);
        assert_eq!(elapsed(&tick, 506_880, 1_000_000), 2 * 506_880);
        assert_eq!(elapsed(&tick, 499_200, 1_000_000), 3 * 499_200, "0.5 ms is worse than 0.507");
        assert_eq!(elapsed(&tick, 500_000, 1_000_000), 3 * 500_000);
        assert_eq!(elapsed(&tick, 1_000_000, 1_000_000), 2_000_000);
        assert_eq!(elapsed(&Tick { p_two_tick: 0.0, ..tick.clone() }, 1_000_000, 1_000_000), 1_000_000);
        let old = Tick { base: TickBase::LastTick, ..tick };
        assert_eq!(elapsed(&old, 1_000_000, 1_000_000), 1_000_000);
        assert_eq!(elapsed(&old, 15_625_000, 0), 15_625_000);
    }

    #[test]
    fn counted_from_the_last_tick_a_wait_can_end_early() {
        let old = Tick { base: TickBase::LastTick, ..tick() };
        let now = Nanos(15_000_000);
        let end = old.end(grid(15_625_000), now, Nanos::from_millis(100), Nanos::ZERO, &Random::seeded(1));
        assert_eq!(end - now, Nanos(109_375_000 - 15_000_000));
    }

    #[test]
    fn the_mixture_of_one_and_two_ticks_has_the_mean_it_states() {
        let mixed = Tick { p_two_tick: 0.68, ..tick() };
        let random = Random::seeded(3);
        let now = Nanos(1_002_000);
        let total: i64 = (0..10_000)
            .map(|_| (mixed.end(grid(1_000_000), now, Nanos(1_000_000), Nanos::ZERO, &random) - Nanos(1_000_000)).0)
            .sum();
        assert!((1_660_000..1_700_000).contains(&(total / 10_000)), "{}", total / 10_000);
    }

    #[test]
    fn who_did_not_ask_is_served_at_multiples_near_the_default() {
        let lazy = |hardware: i64| tick().lazy_period(Nanos(hardware)).0;
        for (hardware, multiple) in
            [(499_200, 31), (999_400, 16), (2_000_000, 8), (6_000_000, 2), (7_000_000, 2), (9_000_000, 1)]
        {
            assert_eq!(lazy(hardware), hardware * multiple);
        }
        assert_eq!(lazy(15_625_000), 15_625_000);
    }

    #[test]
    fn a_tolerance_puts_timers_off_to_a_coarser_grid() {
        let random = Random::seeded(1);
        let end = tick().end(grid(1_000_000), Nanos(1_500), Nanos(1_000_000), Nanos::from_millis(10), &random);
        assert_eq!(end, Nanos::from_millis(10));
    }

    #[test]
    fn linux_slack_and_shares_and_leeways_of_macos() {
        let tier = |shift, most| Tier { name: String::new(), shift, most_ns: Nanos::from_millis(most) };
        let timing = Timing {
            default_slack_ns: Nanos(50_000),
            poll_share: PollShare { plain_ppm: 1_000, nice_ppm: 5_000, most_ns: Nanos::from_millis(100) },
            tick: None,
            one_shot: OneShot { grid_ns: Nanos(1), p_late: 0.0 },
            wheel_ns: Nanos::from_millis(4),
            tiers: vec![tier(2, 5), tier(3, 1), tier(-2, 75)],
        };
        let wheel = timing.expiry(
            SlackRule::Tick,
            &Asker { slack: Nanos(50_000), is_real_time: false, is_nice: false, tier: 0 },
            Nanos(4_000_001),
            Nanos(5_000_001),
            &Random::seeded(1),
        );
        assert_eq!(wheel, Expiry::at(Nanos::from_millis(12)), "1 ms takes 4 to 8 ms at 250 Hz");
        let asker = Asker { slack: Nanos(50_000), is_real_time: false, is_nice: false, tier: 0 };
        let late = |rule, asker: Asker, span: i64| {
            let expiry = timing.expiry(rule, &asker, Nanos(7), Nanos(7 + span), &Random::seeded(1));
            assert_eq!(expiry.soft, Nanos(7 + span));
            (expiry.hard - expiry.soft).0
        };
        use SlackRule::{ClassShare, ThreadSlack, ThreadSlackOrShare};
        assert_eq!(late(ThreadSlack, asker, 1_000_000), 50_000);
        assert_eq!(late(SlackRule::None, asker, 1_000_000), 0);
        assert_eq!(late(ThreadSlackOrShare, asker, 1_000_000), 50_000);
        assert_eq!(late(ThreadSlackOrShare, asker, 300_000_000), 300_000);
        let nice = Asker { is_nice: true, ..asker };
        assert_eq!(late(ThreadSlackOrShare, nice, 100_000_000), 500_000);
        assert_eq!(late(ThreadSlackOrShare, nice, 86_400_000_000_000), 100_000_000, "capped");
        let real_time = Asker { is_real_time: true, ..asker };
        for rule in [ThreadSlack, ThreadSlackOrShare, ClassShare] {
            assert_eq!(late(rule, real_time, 500_000_000), 0);
        }
        assert_eq!(late(ClassShare, asker, 1_000_000), 250_000);
        assert_eq!(late(ClassShare, asker, 100_000_000), 5_000_000);
        assert_eq!(late(ClassShare, Asker { tier: 1, ..asker }, 1_000_000), 125_000);
        assert_eq!(late(ClassShare, Asker { tier: 2, ..asker }, 1_000_000), 4_000_000);
    }

    #[test]
    fn one_shot_timers_of_a_grid_round_up_to_it() {
        let one_shot = OneShot { grid_ns: Nanos(500_000), p_late: 0.0 };
        let end = |now: i64, span: i64| one_shot.end(Nanos(now + span), &Random::seeded(1)).0;
        assert_eq!(end(2_000, 1_000_000), 1_500_000);
        assert_eq!(end(2_000, 1_000), 500_000);
        assert_eq!(end(2_000, 498_001), 1_000_000, "a point that misses it by a hair is not taken");
        assert_eq!(OneShot { p_late: 1.0, ..one_shot }.end(Nanos(1), &Random::seeded(1)).0, 1_000_000);
    }
}
