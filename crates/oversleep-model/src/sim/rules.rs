//! The rules of a modelled machine in sentences: why a wait takes what it takes there, and how a clock moves.

use std::cmp::Ordering;

use oversleep_record::Nanos;

use super::kernel::Kernel;
use super::machine::{ClockModel, ClockSource, Overshoot, WaitModel};
use super::resolution::Whose;
use super::scheduler::{OnWake, Scheduler, SchedulerKind, Standing};
use super::timing::{Asker, Tick, TickBase, Timing};
use super::waits::in_force;
use super::wheel::wheel_step;
use oversleep_system::{Family, SlackRule, WaitInfo};

/// Why a wait of the calling thread ends when it does that asks for such a span, with what is held now.
pub(super) fn of_wait(model: &WaitModel, kernel: &Kernel, requested: Nanos) -> String {
    let state = kernel.lock();
    match in_force(model, &state, &state.asker(kernel.me())) {
        Overshoot::ByRule => {}
        Overshoot::Learned(_) => return "it is as late as it was on the machine it was learned from".to_owned(),
        _ => return "it is as late as the model was told to make it".to_owned(),
    }
    if model.info.family == Family::Yield {
        drop(state);
        let rule = "no timer is involved: the CPU goes to whoever is ready for it, and comes back at once if nobody is";
        return rule.to_owned() + &of_load(kernel);
    }
    let asked = model.info.rounded(requested).max(model.shortest_ns);
    let on_tick = matches!(model.info.slack, SlackRule::Tick | SlackRule::TimerResolution);
    let mut sentence = match (kernel.tick(), kernel.process_grid(&state)) {
        (Some(tick), Some(grid)) if on_tick => {
            by_tick(tick, state.whose_period(tick), kernel.hardware_grid.grid().period, grid.period)
        }
        _ if model.grid_ns > Nanos::ZERO && !on_tick => {
            format!(
                "it ends at the first multiple of {} after the span has passed, whatever slack is held",
                model.grid_ns
            )
        }
        _ => by_timer(kernel.timing(), model.info.slack, &state.asker(kernel.me()), asked),
    };
    if on_tick && kernel.tick().is_some_and(|tick| state.requests_are_ignored(tick)) {
        sentence += IGNORED;
    }
    sentence += &of_rounding(&model.info, requested);
    if model.shortest_ns > Nanos::ZERO {
        sentence += &format!("; spans below {} are taken as that", model.shortest_ns);
    }
    if model.tolerance_ns > Nanos::ZERO {
        sentence += &format!("; it tolerates {} of delay, and gets up to that", model.tolerance_ns);
    }
    if let Some(period) = model.raises_to_ns {
        sentence += &format!("; while it waits it holds a resolution of {period} itself");
    }
    drop(state);
    sentence + &of_load(kernel)
}

/// What a thread meets while a load is on; nothing where CPUs are left.
pub(super) fn of_load(kernel: &Kernel) -> String {
    let state = kernel.lock();
    let own = state.standing_of(kernel.me());
    of_turn(kernel.scheduler(), kernel.timing().wheel_ns, &own, state.wanted_cpus()).unwrap_or_default()
}

/// Why the timer interrupt comes as often as it does now; nothing on a machine without a tick.
pub(super) fn of_resolution(kernel: &Kernel) -> Option<String> {
    let tick = kernel.tick()?;
    let ignored = if kernel.lock().requests_are_ignored(tick) { IGNORED } else { "" };
    Some(by_request(tick, kernel.hardware_grid.grid().period) + ignored)
}

/// What the call makes of a span it can't express.
fn of_rounding(info: &WaitInfo, requested: Nanos) -> String {
    let asked = info.rounded(requested);
    if asked == requested {
        return String::new();
    }
    let units = match info.granularity.step.0 {
        1_000_000 => "whole milliseconds".to_owned(),
        1_000 => "whole microseconds".to_owned(),
        _ => format!("units of {}", info.granularity.step),
    };
    format!("; the call takes {units}: {requested} is {asked}")
}

const IGNORED: &str = "; what this process asked for is ignored while its window can't be seen, unless it opts out (power-throttling=off)";

fn by_request(tick: &Tick, hardware: Nanos) -> String {
    let wins = if hardware < tick.default_ns {
        format!("the shortest period that any process asks for holds, {hardware} now")
    } else {
        format!("no process asks for a shorter period than the default, {hardware}")
    };
    let granted = match tick.timer_hz {
        Some(hz) => format!(
            "a request is granted rounded down to a multiple of {} (128 cycles of a timer of {} MHz)",
            Nanos((128_000_000_000 / i128::from(hz.max(1))) as i64),
            hz as f64 / 1e6
        ),
        None => "a request is granted as asked, in units of 100 ns".to_owned(),
    };
    format!("{wins}; {granted}, and one for less than {0} is taken as one for {0}", tick.shortest_ns)
}

/// What a thread meets that could run while the CPUs have others to run.
fn of_turn(scheduler: &Scheduler, tick: Nanos, own: &Standing, (wanted, cpus): (usize, usize)) -> Option<String> {
    if wanted <= cpus {
        return None;
    }
    let plain = scheduler.plain();
    let then = match own.rank.cmp(&plain.rank) {
        Ordering::Greater => "it ranks above them and displaces one of them at once".to_owned(),
        Ordering::Less => format!(
            "it ranks below them, so it has a slice when it has waited for {} ({})",
            scheduler.starving.after_ns,
            if scheduler.starving.look_ns > Nanos(1) {
                format!("looked at every {}", scheduler.starving.look_ns)
            } else {
                "no thread waits for ever".to_owned()
            }
        ),
        Ordering::Equal => among_equals(scheduler, tick, own),
    };
    Some(format!("; {wanted} threads share {cpus} CPUs: {then}"))
}

fn among_equals(scheduler: &Scheduler, tick: Nanos, own: &Standing) -> String {
    let slice = scheduler.slice_ns;
    let at_tick = if tick > Nanos(1) { format!(", at a tick ({tick} each)") } else { String::new() };
    match scheduler.kind {
        SchedulerKind::Fair => {
            format!("it runs at once while it has had less than its share, else when a slice of {slice} is over")
        }
        SchedulerKind::RoundRobin => {
            format!("it then waits for the end of a slice of {slice} on one of them, which is what it mostly takes")
        }
        SchedulerKind::Eevdf | SchedulerKind::Cfs { .. } if own.on_wake != OnWake::Displaces => format!(
            "a thread of this policy displaces none by waking up, so it waits until a slice of one that runs is over{at_tick}{}",
            of_weight(own)
        ),
        SchedulerKind::Eevdf => format!(
            "it displaces one that has had more than its share at once; one that hasn't is protected until its slice of \
             {slice} is over{at_tick}{}",
            of_weight(own)
        ),
        SchedulerKind::Cfs { latency_ns, wakeup_ns } => format!(
            "a thread that slept is credited {}, and displaces one that has had more than it by {wakeup_ns}; else it waits \
             until a turn is over{at_tick}{}",
            Nanos(latency_ns.0 / 2),
            of_weight(own)
        ),
    }
}

fn of_weight(own: &Standing) -> String {
    match own.weight {
        1_024 => String::new(),
        weight => format!("; it weighs {weight} against 1024 of a plain thread, and is served as seldom as that"),
    }
}

fn by_tick(tick: &Tick, whose: Whose, hardware: Nanos, own: Nanos) -> String {
    let from = match tick.base {
        TickBase::Call => "it ends at the first timer interrupt that is due after the span has passed",
        TickBase::LastTick => {
            "the span counts from the last timer interrupt before the call, so it can end early by up to one of them"
        }
    };
    let served = if own == hardware {
        let because = match whose {
            Whose::Nobody => "",
            Whose::Own => ", as this process asks",
            Whose::Other => " because another process asks for it",
        };
        format!("interrupts come every {hardware}{because}")
    } else {
        let nth = ordinal(own.0 / hardware.0.max(1));
        let disputed = match RANGE_DISPUTED.contains(&hardware) {
            true => "; of neighbours at 4 to 8 ms published figures differ by one such interrupt",
            false => "",
        };
        format!(
            "interrupts come every {hardware} because another process asks for it, but this one, whose request doesn't count \
             or that made none, is served at every {nth} only, each {own}{disputed}"
        )
    };
    let luck = if tick.p_two_tick < 1.0 {
        format!("; of waits that an interrupt misses by a hair, {:.0} % wait for one more", tick.p_two_tick * 100.0)
    } else {
        String::new()
    };
    format!("{from}; {served}{luck}")
}

/// Where measurements of who asks for nothing beside a neighbour scatter from one multiple to the next.
const RANGE_DISPUTED: std::ops::RangeInclusive<Nanos> = Nanos::from_millis(4)..=Nanos::from_millis(8);

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

fn by_timer(timing: &Timing, rule: SlackRule, asker: &Asker, span: Nanos) -> String {
    let exact = "a timer of its own ends it when it is due, and the thread has then to be woken";
    match rule {
        SlackRule::ThreadSlack | SlackRule::ThreadSlackOrShare | SlackRule::ClassShare if asker.is_real_time => {
            format!("a real-time thread has no slack: {exact}")
        }
        SlackRule::ThreadSlack => {
            format!("it ends within {} of timer slack after it is due, plus the wake-up", asker.slack)
        }
        SlackRule::ThreadSlackOrShare => {
            let share = if asker.is_nice { timing.poll_share.nice_ppm } else { timing.poll_share.plain_ppm };
            format!(
                "it ends within {} of timer slack, or {} % of its span where that is more, after it is due, plus the wake-up",
                asker.slack,
                share as f64 / 10_000.0
            )
        }
        SlackRule::ClassShare => match timing.tiers.get(asker.tier) {
            Some(tier) => format!(
                "it is put off by its span {} {}, at most {} ({}), plus the wake-up",
                if tier.shift >= 0 { "divided by" } else { "times" },
                1_i64 << tier.shift.unsigned_abs().min(62),
                tier.most_ns,
                tier.name
            ),
            None => exact.to_owned(),
        },
        SlackRule::Tick => {
            let (tick, step) = (timing.wheel_ns, wheel_step(timing.wheel_ns, span));
            match step > tick {
                true => format!(
                    "the span is rounded up to scheduler ticks of {tick}, and ends at the next step of the timer wheel, which \
                     keeps timeouts of that length in steps of {step}"
                ),
                false => format!("the span is rounded up to scheduler ticks of {tick}, and one more"),
            }
        }
        SlackRule::None | SlackRule::NoTimer | SlackRule::TimerResolution if timing.one_shot.grid_ns > Nanos(1) => {
            format!(
                "a timer of its own ends it on its next multiple of {}, whatever the resolution{}",
                timing.one_shot.grid_ns,
                match timing.one_shot.p_late {
                    share if share > 0.0 => format!("; {:.0} % take one step more", share * 100.0),
                    _ => String::new(),
                }
            )
        }
        SlackRule::None | SlackRule::NoTimer | SlackRule::TimerResolution => exact.to_owned(),
    }
}

/// How a clock moves where the timer interrupt comes at that period; nothing holds a resolution where there is none.
pub(super) fn of_clock(model: &ClockModel, interrupt: Option<Nanos>, wheel: Nanos) -> String {
    let (has_tick, interrupt) = (interrupt.is_some(), interrupt.unwrap_or(model.step_ns));
    match model.source {
        ClockSource::LastInterrupt => {
            format!("it shows the last timer interrupt, and interrupts come every {interrupt} now")
        }
        ClockSource::Elapsed if model.step_ns >= Nanos(1_000) => {
            let why = match (has_tick, model.step_ns == wheel) {
                (true, _) => ", whatever resolution is held",
                (false, true) => ", the period of the kernel's tick (1/HZ)",
                (false, false) => "",
            };
            format!("it moves in steps of {}{why}", model.step_ns)
        }
        ClockSource::Elapsed => "it follows elapsed time".to_owned(),
        ClockSource::ThreadCpu => format!("it counts the CPU time of the thread, in steps of {}", model.step_ns),
        ClockSource::ProcessCpu => format!("it counts the CPU time of the process, in steps of {}", model.step_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::timing::{OneShot, PollShare, Reach, Tier};

    fn tick() -> Tick {
        Tick {
            default_ns: Nanos(15_625_000),
            shortest_ns: Nanos(500_000),
            timer_hz: None,
            base: TickBase::Call,
            p_two_tick: 1.0,
            margin_ns: Nanos(10_000),
            reach: Reach::Asker,
            drops_hidden: false,
            is_hidden: false,
        }
    }

    #[test]
    fn the_tick_and_whom_it_serves() {
        let (two, sixteen) = (Nanos::from_millis(2), Nanos::from_millis(16));
        assert_eq!(
            by_tick(&tick(), Whose::Nobody, two, two),
            "it ends at the first timer interrupt that is due after the span has passed; interrupts come every 2 ms"
        );
        let beside = |hardware, own| by_tick(&tick(), Whose::Other, hardware, own);
        assert!(beside(two, sixteen).contains("served at every 8th only, each 16 ms"));
        assert!(beside(Nanos(499_200), Nanos(15_475_200)).contains("every 31st only, each 15.5 ms"));
        assert!(
            beside(Nanos::from_millis(6), Nanos::from_millis(12))
                .ends_with("published figures differ by one such interrupt")
        );
        assert!(beside(two, two).ends_with("interrupts come every 2 ms because another process asks for it"));
        assert!(by_tick(&tick(), Whose::Own, two, two).ends_with("interrupts come every 2 ms, as this process asks"));
        assert_eq!([1, 2, 3, 11, 13, 22].map(ordinal), ["1st", "2nd", "3rd", "11th", "13th", "22nd"]);
        let asked = Tick { timer_hz: Some(100_000_000), ..tick() };
        assert_eq!(
            by_request(&asked, two),
            "the shortest period that any process asks for holds, 2 ms now; a request is granted rounded down to a multiple \
             of 1.28 µs (128 cycles of a timer of 100 MHz), and one for less than 500 µs is taken as one for 500 µs"
        );
        let said = by_request(&tick(), tick().default_ns);
        assert!(said.starts_with("no process asks") && said.contains("as asked"));
        let old = Tick { base: TickBase::LastTick, p_two_tick: 0.68, ..tick() };
        let said = by_tick(&old, Whose::Own, two, two);
        assert!(said.contains("can end early") && said.ends_with("68 % wait for one more"), "{said}");
    }

    #[test]
    fn slack_shares_and_grids() {
        let timing = Timing {
            default_slack_ns: Nanos(50_000),
            poll_share: PollShare { plain_ppm: 1_000, nice_ppm: 5_000, most_ns: Nanos::from_millis(100) },
            tick: None,
            one_shot: OneShot { grid_ns: Nanos(500_000), p_late: 0.0 },
            wheel_ns: Nanos::from_millis(4),
            tiers: vec![Tier { name: "default".to_owned(), shift: 2, most_ns: Nanos::from_millis(5) }],
        };
        let asker = Asker { slack: Nanos(50_000), is_real_time: false, is_nice: true, tier: 0 };
        let said = |rule, asker: &Asker| by_timer(&timing, rule, asker, Nanos::from_millis(300));
        assert!(said(SlackRule::Tick, &asker).ends_with("in steps of 32 ms"), "{}", said(SlackRule::Tick, &asker));
        assert!(said(SlackRule::ThreadSlack, &asker).contains("within 50 µs of timer slack"));
        assert!(said(SlackRule::ThreadSlackOrShare, &asker).contains("0.5 % of its span"));
        assert!(said(SlackRule::ClassShare, &asker).contains("divided by 4, at most 5 ms (default)"));
        assert!(said(SlackRule::None, &asker).contains("multiple of 500 µs"));
        let real_time = Asker { is_real_time: true, ..asker };
        assert!(said(SlackRule::ThreadSlack, &real_time).starts_with("a real-time thread has no slack"));
    }
}
