//! The rules of a modelled machine in sentences: why a wait ends when it does, and how a clock moves.

use std::cmp::Ordering;

use oversleep_record::Nanos;
use oversleep_system::rules::{IGNORED_REQUEST, SleepingThread, by_request, by_tick, by_timer};
use oversleep_system::{Family, SlackRule, WaitInfo, ZeroMeans};

use super::kernel::Kernel;
use super::kernel::State;
use super::machine::{ClockModel, ClockSource, Overshoot, WaitModel};
use super::scheduler::{OnWake, Scheduler, SchedulerKind, Standing};

/// Why a wait of the calling thread for such a span ends when it does, under the present settings.
pub(super) fn of_wait(model: &WaitModel, kernel: &Kernel, requested: Nanos) -> String {
    let state = kernel.lock();
    match in_force(model, &state, &state.sleeping_thread(kernel.me())) {
        Overshoot::ByRule => {}
        Overshoot::Learned(_) => return "it is as late as on the machine that it was learned from".to_owned(),
        _ => return "the wait is as late as the model was set to make it".to_owned(),
    }
    if model.info.family == Family::Yield {
        drop(state);
        let rule = "no timer is involved: the CPU goes to another thread that is ready, and comes back at once if there is none";
        return rule.to_owned() + &of_load(kernel);
    }
    let is_over = matches!(model.info.zero, ZeroMeans::Yields | ZeroMeans::ReturnsAtOnce);
    if is_over && model.info.rounded(requested) <= Nanos::ZERO {
        drop(state);
        return format!("a span of nothing {}{}", model.info.zero.words(), of_rounding(&model.info, requested));
    }
    let rounded = model.info.rounded(requested).max(model.shortest_ns).round_up_to(model.unit_ns);
    let on_tick = model.info.ends_at_tick() && kernel.tick().is_none_or(|tick| tick.ends_waits);
    let mut sentence = match (kernel.tick(), kernel.process_grid(&state)) {
        (Some(tick), Some(grid)) if on_tick => {
            by_tick(tick, state.requester(tick), kernel.hardware_grid.grid().period, grid.period)
        }
        _ if model.grid_ns > Nanos::ZERO && !on_tick => {
            format!(
                "the wait ends at the first multiple of {} after its span has passed, whatever the slack",
                model.grid_ns
            )
        }
        _ => {
            let thread = state.thread_in(kernel.me(), model.info.family, kernel.timing());
            by_timer(kernel.timing(), model.info.slack, &thread, rounded)
        }
    };
    if on_tick && kernel.tick().is_some_and(|tick| state.requests_are_ignored(tick)) {
        sentence += IGNORED_REQUEST;
    }
    sentence += &of_rounding(&model.info, requested);
    if model.shortest_ns > Nanos::ZERO {
        sentence += &format!("; it takes {} for any shorter span", model.shortest_ns);
    }
    if model.tolerance_ns > Nanos::ZERO {
        sentence += &format!("; it tolerates {} of delay and may get all of it", model.tolerance_ns);
    }
    if let Some(period) = model.raises_to_ns {
        sentence += &format!("; while it waits, it holds a resolution of {period} itself");
    }
    drop(state);
    sentence + &of_load(kernel)
}

/// The lateness in force. Learned lateness applies to the machine as found: once a resolution is held or the service
/// class changed, the rules apply.
pub(super) fn in_force<'a>(model: &'a WaitModel, state: &State, thread: &SleepingThread) -> &'a Overshoot {
    let is_as_found = match model.info.slack {
        SlackRule::TimerResolution => state.holds_no_resolution(),
        SlackRule::ClassShare => thread.tier == 0 && !thread.is_real_time,
        _ => true,
    };
    match &model.overshoot {
        Overshoot::Learned(_) if !is_as_found => &Overshoot::ByRule,
        other => other,
    }
}

/// The effect of load on a thread; empty if CPUs are idle.
pub(super) fn of_load(kernel: &Kernel) -> String {
    let state = kernel.lock();
    let own = state.standing_of(kernel.me());
    of_turn(kernel.scheduler(), kernel.timing().wheel_ns, &own, state.wanted_cpus()).unwrap_or_default()
}

/// The reason for the present period of the timer interrupt; `None` on a machine without a tick.
pub(super) fn of_resolution(kernel: &Kernel) -> Option<String> {
    let tick = kernel.tick()?;
    let ignored = if kernel.lock().requests_are_ignored(tick) { IGNORED_REQUEST } else { "" };
    Some(by_request(tick, kernel.hardware_grid.grid().period) + ignored)
}

/// How the call rounds a span that it can't express.
fn of_rounding(info: &WaitInfo, requested: Nanos) -> String {
    let rounded = info.rounded(requested);
    if rounded == requested {
        return String::new();
    }
    let units = match info.granularity.step.0 {
        1_000_000 => "whole milliseconds".to_owned(),
        1_000 => "whole microseconds".to_owned(),
        _ => format!("units of {}", info.granularity.step),
    };
    format!("; the call takes {units}: {requested} becomes {rounded}")
}

/// What happens to a ready thread while all CPUs run others.
fn of_turn(scheduler: &Scheduler, tick: Nanos, own: &Standing, (wanted, cpus): (usize, usize)) -> Option<String> {
    if wanted <= cpus {
        return None;
    }
    let plain = scheduler.plain();
    let then = match own.rank.cmp(&plain.rank) {
        Ordering::Greater => "it ranks above them and displaces one of them at once".to_owned(),
        Ordering::Less => format!(
            "it ranks below them, so it gets a slice only after waiting for {}{}",
            scheduler.starving.after_ns,
            if scheduler.starving.look_ns > Nanos(1) {
                format!(" (the system checks every {})", scheduler.starving.look_ns)
            } else {
                String::new()
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
            format!("it runs at once while it has had less than its share, otherwise when a slice of {slice} ends")
        }
        SchedulerKind::RoundRobin => {
            format!("it then waits until a slice of {slice} ends on one of them, which is most of its duration")
        }
        SchedulerKind::Eevdf | SchedulerKind::Cfs { .. } if own.on_wake != OnWake::Displaces => format!(
            "a thread of this policy displaces no other by waking up, so it waits until a running thread's slice ends{at_tick}{}",
            of_weight(own)
        ),
        SchedulerKind::Eevdf => format!(
            "it displaces at once a thread that has had more than its share; others are protected until their slice of \
             {slice} ends{at_tick}{}",
            of_weight(own)
        ),
        SchedulerKind::Cfs { latency_ns, wakeup_ns } => format!(
            "a thread that slept is credited {} and displaces one that has had {wakeup_ns} more than it; otherwise it waits \
             until a slice ends{at_tick}{}",
            Nanos(latency_ns.0 / 2),
            of_weight(own)
        ),
    }
}

fn of_weight(own: &Standing) -> String {
    match own.weight {
        1_024 => String::new(),
        weight => format!("; its weight is {weight} against a plain thread's 1024, so it runs that much less often"),
    }
}

/// How a clock moves while the timer interrupt has that period; `None` on a machine without one.
pub(super) fn of_clock(model: &ClockModel, interrupt: Option<Nanos>, wheel: Nanos) -> String {
    let (has_tick, interrupt) = (interrupt.is_some(), interrupt.unwrap_or(model.step_ns));
    match model.source {
        ClockSource::LastInterrupt => {
            format!("it shows the last timer interrupt, and interrupts come every {interrupt} now")
        }
        ClockSource::Elapsed | ClockSource::DefaultTick if model.step_ns >= Nanos(1_000) => {
            let why = match (has_tick, model.step_ns == wheel) {
                (true, _) => ", whatever resolution is held",
                (false, true) => ", the period of the kernel's tick (1/HZ)",
                (false, false) => "",
            };
            format!("it moves in steps of {}{why}", model.step_ns)
        }
        ClockSource::Elapsed | ClockSource::DefaultTick => "it follows elapsed time".to_owned(),
        ClockSource::ThreadCpu => format!("it counts the CPU time of the thread, in steps of {}", model.step_ns),
        ClockSource::ProcessCpu => format!("it counts the CPU time of the process, in steps of {}", model.step_ns),
    }
}
