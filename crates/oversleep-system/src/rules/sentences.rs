//! The rules in sentences: why a wait ends when it does. Clauses without a full stop, so that others can follow.

use oversleep_record::Nanos;
use oversleep_record::words::percent;

use super::{Requester, SleepingThread, Tick, TickBase, Tier, Timing, wheel_step};
use crate::SlackRule;

/// The consequence if this process's request is ignored.
pub const IGNORED_REQUEST: &str =
    "; this process's request is ignored while its window is hidden, unless it opts out (power-throttling=off)";

/// Why the timer interrupt has its present period, and what a request would be granted.
pub fn by_request(tick: &Tick, hardware: Nanos) -> String {
    let holds = if hardware < tick.default_ns {
        format!("the shortest period that any process requests is in effect, {hardware} now")
    } else {
        format!("no process requests a shorter period than the default, {hardware}")
    };
    let granted = match tick.timer_hz {
        Some(hz) => format!(
            "a request is rounded down to a multiple of {} (128 cycles of a timer of {} MHz)",
            Nanos((128_000_000_000 / i128::from(hz.max(1))) as i64),
            hz as f64 / 1e6
        ),
        None => "a request is granted in units of 100 ns".to_owned(),
    };
    format!("{holds}; {granted}, and one for less than {0} counts as one for {0}", tick.shortest_ns)
}

/// Why a wait on the timer interrupt ends when it does: the hardware's period, whose request that is, and the period
/// for this process.
pub fn by_tick(tick: &Tick, requester: Requester, hardware: Nanos, own: Nanos) -> String {
    let from = match tick.base {
        TickBase::Call => "the wait ends at the first timer interrupt after its span has passed",
        TickBase::LastTick => {
            "the wait counts from the last timer interrupt before the call, so it can end up to one interrupt early"
        }
    };
    let served = if own == hardware {
        let because = match requester {
            Requester::Nobody => "",
            Requester::This => ", as this process requests",
            Requester::Other => " because another process requests it",
        };
        format!("interrupts come every {hardware}{because}")
    } else {
        let nth = ordinal(own.0 / hardware.0.max(1));
        let uneven = match tick.is_uneven(hardware, own) {
            true => " in the mean; beside a neighbour at 4 to 8 ms, many waits take one such interrupt less or more",
            false => "",
        };
        format!(
            "interrupts come every {hardware} because another process requests it, but this process, which has no \
             request that counts, is served only at every {nth} one, once every {own}{uneven}"
        )
    };
    let chance = if tick.p_two_tick < 1.0 {
        let share = percent(tick.p_two_tick);
        format!("; if an interrupt just misses the end of the span, {share} of waits take one more")
    } else {
        String::new()
    };
    format!("{from}; {served}{chance}")
}

/// Why a wait that the timer interrupt doesn't decide ends when it does.
pub fn by_timer(timing: &Timing, rule: SlackRule, thread: &SleepingThread, span: Nanos) -> String {
    let expiry = timing.expiry(rule, thread, Nanos::ZERO, span, |_| false);
    match timing.others_hz {
        hz if hz > 0 && expiry.hard > expiry.soft => {
            let others = "; an interrupt of something else ends it earlier, and";
            format!("{}{others} {hz} come in a second", by_own_timer(timing, rule, thread, span))
        }
        _ => by_own_timer(timing, rule, thread, span),
    }
}

fn by_own_timer(timing: &Timing, rule: SlackRule, thread: &SleepingThread, span: Nanos) -> String {
    let exact = "the wait has a timer of its own and ends when it is due; then the thread has to wake up";
    match rule {
        SlackRule::ThreadSlack | SlackRule::ThreadSlackOrShare | SlackRule::ClassShare if thread.is_real_time => {
            format!("a real-time thread has no slack: {exact}")
        }
        SlackRule::ThreadSlack => {
            format!("the wait ends within {} of timer slack after it is due, plus the wake-up", thread.slack)
        }
        SlackRule::ThreadSlackOrShare => format!(
            "the wait ends within {} of timer slack after it is due, or within {} of its span if that is more, plus \
             the wake-up",
            thread.slack,
            percent(timing.poll_share.ppm(thread) as f64 / 1e6)
        ),
        SlackRule::ClassShare => timing.tiers.get(thread.tier).map_or_else(|| exact.to_owned(), by_share),
        SlackRule::KernelShare => timing.kernel_tier.as_ref().map_or_else(
            || exact.to_owned(),
            |tier| by_share(tier) + "; the kernel makes the wait itself, so the thread's class doesn't matter",
        ),
        SlackRule::Tick => {
            let (tick, step) = (timing.wheel_ns, wheel_step(timing.wheel_ns, span));
            match step > tick {
                _ if timing.wheel_from_last_tick => format!(
                    "the span is rounded up to scheduler ticks of {tick} and counts from the last one, so the wait can end \
                     up to one tick early"
                ),
                true => format!(
                    "the span is rounded up to scheduler ticks of {tick}, and the wait ends at the next step of the timer \
                     wheel, which keeps timeouts of that length in steps of {step}"
                ),
                false => format!("the span is rounded up to scheduler ticks of {tick}, plus one more"),
            }
        }
        SlackRule::None | SlackRule::NoTimer | SlackRule::OfItsWaits | SlackRule::TimerResolution
            if timing.one_shot.grid_ns > Nanos(1) =>
        {
            let late = match timing.one_shot.p_late {
                share if share > 0.0 => format!("; {} of waits take one step more", percent(share)),
                _ => String::new(),
            };
            let grid = timing.one_shot.grid_ns;
            if timing.one_shot.ends_when_due {
                let late = late.replace("one step", &format!("{grid}"));
                return format!(
                    "the wait has a timer of its own and ends when it is due, whatever the resolution{late}"
                );
            }
            let which = match timing.one_shot.is_aligned(span) {
                true => format!("that timer's next multiple of {grid}"),
                false => format!("a grid of {grid} that can begin anywhere"),
            };
            format!("the wait has a timer of its own and ends on {which}, whatever the resolution{late}")
        }
        SlackRule::None | SlackRule::NoTimer | SlackRule::OfItsWaits | SlackRule::TimerResolution
            if timing.one_shot.slack_ns > Nanos::ZERO =>
        {
            let slack = timing.one_shot.slack_ns;
            format!(
                "the wait is one of the host's and ends within {slack} of its timer slack after it is due, plus the wake-up"
            )
        }
        SlackRule::None | SlackRule::NoTimer | SlackRule::OfItsWaits | SlackRule::TimerResolution => exact.to_owned(),
    }
}

/// From this delay on, only a program in App Nap has such timers.
const NAPPING: Nanos = Nanos::from_secs(1);

fn by_share(tier: &Tier) -> String {
    let whose = match tier.name.as_str() {
        "unspecified" if tier.max_ns >= NAPPING => "a program in App Nap",
        "unspecified" => "a thread without a latency tier",
        name => name,
    };
    format!(
        "the wait is postponed by its span {} {}, at most {} ({}), plus the wake-up",
        if tier.shift >= 0 { "divided by" } else { "times" },
        1_i64 << tier.shift.unsigned_abs().min(62),
        tier.max_ns,
        whose
    )
}

/// `1st`, `2nd`, `8th`, `31st`.
fn ordinal(number: i64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::super::{OneShot, PollShare, Reach, Tier};
    use super::*;

    fn tick() -> Tick {
        Tick { timer_hz: None, reach: Reach::Requesters, ..super::super::tick::tests::tick() }
    }

    #[test]
    fn the_tick_and_whom_it_serves() {
        let (two, sixteen) = (Nanos::from_millis(2), Nanos::from_millis(16));
        assert_eq!(
            by_tick(&tick(), Requester::Nobody, two, two),
            "the wait ends at the first timer interrupt after its span has passed; interrupts come every 2 ms"
        );
        let beside = |hardware, own| by_tick(&tick(), Requester::Other, hardware, own);
        assert!(beside(two, sixteen).contains("served only at every 8th one, once every 16 ms"));
        assert!(beside(Nanos(499_200), Nanos(15_475_200)).contains("only at every 31st one, once every 15.5 ms"));
        assert!(
            beside(Nanos::from_millis(6), Nanos::from_millis(12)).ends_with("take one such interrupt less or more")
        );
        assert!(beside(two, two).ends_with("interrupts come every 2 ms because another process requests it"));
        assert!(by_tick(&tick(), Requester::This, two, two).ends_with("every 2 ms, as this process requests"));
        assert_eq!([1, 2, 3, 11, 13, 22].map(ordinal), ["1st", "2nd", "3rd", "11th", "13th", "22nd"]);
        let old = Tick { base: TickBase::LastTick, p_two_tick: 0.68, ..tick() };
        let sentence = by_tick(&old, Requester::This, two, two);
        assert!(
            sentence.contains("one interrupt early") && sentence.ends_with("68 % of waits take one more"),
            "{sentence}"
        );
    }

    #[test]
    fn what_a_request_is_granted() {
        let fast = Tick { timer_hz: Some(100_000_000), ..tick() };
        assert_eq!(
            by_request(&fast, Nanos::from_millis(2)),
            "the shortest period that any process requests is in effect, 2 ms now; a request is rounded down to a multiple \
             of 1.28 µs (128 cycles of a timer of 100 MHz), and one for less than 500 µs counts as one for 500 µs"
        );
        let sentence = by_request(&tick(), tick().default_ns);
        assert!(sentence.starts_with("no process requests") && sentence.contains("in units of 100 ns"), "{sentence}");
    }

    #[test]
    fn slack_shares_and_grids() {
        let timing = Timing {
            default_slack_ns: Nanos(50_000),
            poll_share: PollShare { plain_ppm: 1_000, nice_ppm: 5_000, max_ns: Nanos::from_millis(100) },
            tick: None,
            one_shot: OneShot { aligned_max_ns: Nanos::ZERO, ..super::super::one_shot::tests::grid() },
            wheel_ns: Nanos::from_millis(4),
            wheel_from_last_tick: false,
            locks_keep_slack: false,
            others_hz: 0,
            tiers: vec![Tier { name: "unspecified".to_owned(), shift: 2, max_ns: Nanos::from_millis(5) }],
            kernel_tier: None,
        };
        let thread = SleepingThread { slack: Nanos(50_000), is_real_time: false, is_nice: true, tier: 0 };
        let sentence = |rule, thread: &SleepingThread| by_timer(&timing, rule, thread, Nanos::from_millis(300));
        assert!(sentence(SlackRule::Tick, &thread).ends_with("in steps of 32 ms"));
        assert!(sentence(SlackRule::ThreadSlack, &thread).contains("within 50 µs of timer slack"));
        assert!(sentence(SlackRule::ThreadSlackOrShare, &thread).contains("0.5 % of its span"));
        assert!(sentence(SlackRule::ClassShare, &thread).contains("divided by 4, at most 5 ms (a thread without a"));
        let nap = vec![Tier { shift: -15, max_ns: Nanos::from_secs(10), ..timing.tiers[0].clone() }];
        let napping = Timing { tiers: nap, ..timing.clone() };
        assert!(
            by_timer(&napping, SlackRule::ClassShare, &thread, Nanos(1))
                .contains("at most 10 s (a program in App Nap)")
        );
        let busy = Timing { others_hz: 320, ..timing.clone() };
        let by_class = by_timer(&busy, SlackRule::ClassShare, &thread, Nanos::from_millis(1));
        assert!(by_class.ends_with("ends it earlier, and 320 come in a second"), "{by_class}");
        let old = Timing { wheel_from_last_tick: true, ..timing.clone() };
        assert!(by_timer(&old, SlackRule::Tick, &thread, Nanos(1)).ends_with("up to one tick early"));
        assert!(sentence(SlackRule::None, &thread).contains("multiple of 500 µs"));
        let due = OneShot { ends_when_due: true, p_late: 0.05, ..timing.one_shot };
        let older = Timing { one_shot: due, ..timing.clone() };
        assert!(
            by_timer(&older, SlackRule::None, &thread, Nanos(1))
                .ends_with("ends when it is due, whatever the resolution; 5 % of waits take 500 µs more")
        );
        let hosted = OneShot { grid_ns: Nanos(1), slack_ns: Nanos(50_000), ..timing.one_shot };
        let wine = Timing { one_shot: hosted, ..timing.clone() };
        assert!(
            by_timer(&wine, SlackRule::TimerResolution, &thread, Nanos(1)).contains("the host's and ends within 50 µs")
        );
        let real_time = SleepingThread { is_real_time: true, ..thread };
        assert!(sentence(SlackRule::ThreadSlack, &real_time).starts_with("a real-time thread has no slack"));
    }
}
