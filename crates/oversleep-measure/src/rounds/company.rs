//! Rounds of several probes at once: waits about whose microseconds nothing is concluded keep one another company.
//!
//! On two CPUs, eight threads that began one after the other didn't delay one another: at 1 ms the median fell from 72 to 66
//! µs and p90 from 90 to 84, because the CPUs idled less deeply. So company costs nothing but the last microseconds of an
//! idle state's exit, which a series about rounding doesn't need.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Load, Target, ThreadHandle};

use super::overdue::{Guard, Unfinished, end_if_overdue, limit};
use super::{MEASURING_THREAD, lock, needs_guard, panic_message, run_on_this_thread, start_loads};
use crate::bench::Bench;
use crate::probe::Probe;
use crate::stop::StopFlag;

/// The least time between the ends of two waits. Two CPUs are then mostly idle.
const APART_MIN: Nanos = Nanos(600_000);
/// The most threads that measure at once.
const MEMBERS_MAX: i64 = 16;

/// How many probes measure at once, if each ends a wait once in that time.
pub(super) fn members_max(every: Nanos) -> usize {
    usize::try_from((every.0 / APART_MIN.0).clamp(1, MEMBERS_MAX)).unwrap_or(1)
}

/// One of those that measure at once.
struct Member {
    thread: Box<dyn ThreadHandle>,
    round_over: StopFlag,
    limit: Nanos,
    loads: Vec<Box<dyn Load>>,
}

/// Runs a round of each probe at the same time, each on a thread of its own. Their beginnings are spread over `every`, so
/// that their waits end one after the other.
pub(super) fn run_together(
    bench: &Bench,
    probes: &[Arc<Mutex<Box<dyn Probe>>>],
    every: Nanos,
) -> Vec<Result<(), Unfinished>> {
    let watched = |probe: &Arc<Mutex<Box<dyn Probe>>>| lock(probe).recorders().iter().any(|one| needs_guard(one));
    let has_guard = !bench.platform().time_is_virtual() && probes.iter().any(watched);
    let mut guard = has_guard.then(|| Guard::new(bench.platform()));
    let others = probes.len().saturating_sub(1) as u64;
    let count = i64::try_from(probes.len()).unwrap_or(1).max(1);
    let begin = |(probe, at)| start(bench, probe, others, Nanos(every.0 / count * at));
    let members: Vec<_> = probes.iter().zip(0..).map(begin).collect();
    let ended: Vec<_> = members
        .into_iter()
        .map(|member| match member? {
            None => Ok(()),
            Some(member) => end(bench, member, guard.as_mut()),
        })
        .collect();
    share_stops(probes, &ended);
    if let Some(stopped) = guard.and_then(|guard| guard.stopped(bench.platform())) {
        for (probe, ended) in probes.iter().zip(&ended) {
            // A thread that was abandoned holds its probe.
            if !matches!(ended, Err(Unfinished::Left(_))) {
                let mut probe = lock(probe);
                let recorders = probe.recorders().into_iter().filter(|recorder| needs_guard(recorder));
                recorders.for_each(|recorder| recorder.note_stopped(stopped));
            }
        }
    }
    ended
}

/// A stop of the process stops all of its threads, so what only some of them show is a wait that the system put off.
fn share_stops(probes: &[Arc<Mutex<Box<dyn Probe>>>], ended: &[Result<(), Unfinished>]) {
    let whole = || probes.iter().zip(ended).filter(|(_, ended)| ended.is_ok()).map(|(probe, _)| lock(probe));
    let stopped = |mut probe: MutexGuard<'_, Box<dyn Probe>>| {
        probe.recorders().into_iter().filter_map(|recorder| recorder.last_stopped()).min()
    };
    let Some(least) = whole().filter_map(stopped).min() else { return };
    whole().for_each(|mut probe| {
        probe.recorders().into_iter().for_each(|recorder| recorder.note_stopped_at_most(least));
    });
}

/// Starts the thread of one; `None` if all of its series are unavailable.
fn start(
    bench: &Bench,
    probe: &Arc<Mutex<Box<dyn Probe>>>,
    others: u64,
    after: Nanos,
) -> Result<Option<Member>, Unavailable> {
    let (loads, limit) = {
        let mut probe = lock(probe);
        let recorders = probe.recorders();
        if !recorders.is_empty() && recorders.iter().all(|recorder| recorder.is_unavailable()) {
            return Ok(None);
        }
        for recorder in recorders {
            recorder.series_mut().company = Some(others).filter(|&others| others > 0);
        }
        let limit = limit(probe.round_estimate() + after);
        (start_loads(bench.platform(), &probe.conditions().load)?, limit)
    };
    let (bench_there, round_over) = bench.for_a_round();
    let there = Arc::clone(probe);
    let body = Box::new(move || {
        begin_after(&bench_there, after);
        run_on_this_thread(&bench_there, &mut **lock(&there));
    });
    let thread = bench.platform().spawn_watched(MEASURING_THREAD, body)?;
    Ok(Some(Member { thread, round_over, limit, loads }))
}

/// Lets that time pass in the simplest sleep. Where it ends at a tick, the others do as well, and no order is possible.
fn begin_after(bench: &Bench, after: Nanos) {
    if after > Nanos::ZERO
        && let Ok(mut sleep) = bench.open_simplest_sleep()
    {
        let _ = sleep.wait(Target { remaining: after, deadline: bench.platform().now() + after });
    }
}

/// Waits for the end of one.
fn end(bench: &Bench, member: Member, guard: Option<&mut Guard>) -> Result<(), Unfinished> {
    let Member { thread, round_over, limit, loads } = member;
    let overdue = end_if_overdue(bench.platform(), &*thread, limit, &round_over, guard, None);
    if let Some(Unfinished::Left(reason)) = overdue {
        return Err(Unfinished::Left(reason));
    }
    let ended = catch_unwind(AssertUnwindSafe(|| thread.join()));
    drop(loads);
    ended.map_err(|panic| {
        Unavailable::failed("measuring", format!("the thread panicked ({})", panic_message(&*panic)))
    })?;
    overdue.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};
    use oversleep_record::series::Status;
    use oversleep_record::{ExperimentId, Series};

    use super::*;
    use crate::{Amount, WaitProbe, testing};

    const WAITS: [&str; 3] = ["usleep", "poll", "select"];

    /// Waits of 16 ms in company, and one alone.
    fn measured(late: Nanos) -> (Vec<Series>, Nanos) {
        let machine = ["nanosleep", "usleep", "poll", "select"]
            .into_iter()
            .fold(testing::machine(), |machine, wait| machine.with_wait(wait, Overshoot::Fixed(late)));
        let sim = Sim::start(machine.build());
        let amount = Amount { count: 9, time: Nanos::MAX, rounds: 3 };
        let probe = |wait| WaitProbe::new(&*sim, ExperimentId::B5, wait, Nanos::from_millis(16), amount);
        let alone = probe("nanosleep").boxed();
        let probes = WAITS.into_iter().map(|wait| probe(wait).about_rounding().boxed()).chain([alone]).collect();
        let series = testing::measure_on(sim.clone(), probes).series;
        (series, oversleep_system::Platform::now(&*sim))
    }

    #[test]
    fn waits_in_company_take_the_time_of_one_and_have_the_values_of_each() {
        let (series, time) = measured(Nanos(66_000));
        for one in &series[..3] {
            assert_eq!((one.company, one.counts.recorded, one.rounds.len()), (Some(2), 9, 3), "{}", one.key);
            assert_eq!((one.distribution.min(), one.distribution.max()), (Some(66_020), Some(66_020)), "{}", one.key);
            assert_eq!(one.status, Status::Complete);
        }
        assert_eq!((series[3].company, series[3].counts.recorded), (None, 9));
        // Nine waits of 16 ms together, begun within two thirds of 16 ms in each round, and nine alone.
        let longest = Nanos::from_millis(16 * 9 + 3 * 11 + 16 * 9) + Nanos::from_millis(2);
        assert!(time > Nanos::from_millis(16 * 18) && time < longest, "{time}");
    }

    #[test]
    fn they_end_one_after_the_other() {
        let (series, _) = measured(Nanos(66_000));
        let begun: Vec<i64> = series[..3].iter().map(|one| one.samples.start_ns.iter().next().unwrap()).collect();
        let apart: Vec<i64> = begun.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000_000).collect();
        assert_eq!(apart, [5, 5], "a third of 16 ms: {begun:?}");
    }

    #[test]
    fn one_that_is_not_available_holds_up_nobody() {
        let sim = Sim::start(testing::machine().with_wait("poll", Overshoot::Fixed(Nanos(1_000))).build());
        let amount = Amount { count: 6, time: Nanos::MAX, rounds: 2 };
        let probe = |wait| {
            WaitProbe::new(&*sim, ExperimentId::B5, wait, Nanos::from_millis(5), amount).about_rounding().boxed()
        };
        let series = testing::measure_on(sim.clone(), vec![probe("no-such-wait"), probe("poll")]).series;
        assert!(matches!(series[0].status, Status::Unavailable { .. }));
        assert_eq!((series[1].counts.recorded, series[1].status.clone()), (6, Status::Complete));
    }

    #[test]
    fn what_only_one_of_them_shows_is_no_stop_of_the_process() {
        let put_off = [1_000, 1_000, 1_000, 10_000_000_000].map(Nanos).to_vec();
        let machine = testing::machine().with_wait("poll", Overshoot::Cycle(put_off));
        let machine = machine.with_wait("select", Overshoot::Fixed(Nanos(1_000)));
        let sim = Sim::start(machine.build());
        let amount = Amount { count: 8, time: Nanos::MAX, rounds: 1 };
        let probe = |wait| {
            WaitProbe::new(&*sim, ExperimentId::B5, wait, Nanos::from_millis(5), amount)
                .paced(oversleep_record::series::Pace::BackToBack)
                .about_rounding()
                .boxed()
        };
        let stopped = |probes| -> Vec<Option<Nanos>> {
            let series = testing::measure_on(sim.clone(), probes).series;
            series.iter().map(|one| one.rounds[0].disturbance.stalled_ns).collect()
        };
        assert!(stopped(vec![probe("poll")])[0] > Some(Nanos::from_secs(9)), "alone, it can't be told from one");
        assert_eq!(stopped(vec![probe("poll"), probe("select")]), [Some(Nanos::ZERO); 2]);
    }

    #[test]
    fn no_more_keep_company_than_leave_the_cpus_idle_between_two_ends() {
        let members = [1, 5, 16, 100].map(|ms| members_max(Nanos::from_millis(ms)));
        assert_eq!(members, [1, 8, 16, 16]);
    }
}
