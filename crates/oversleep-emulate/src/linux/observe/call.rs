//! One timed call as its two stops and the records between them show it, turned into the events of a wait. Pure.

use oversleep_native::switches::{Switch, ThreadStat};
use oversleep_record::Nanos;
use oversleep_why::event::{Name, UNSEEN_TIMER};
use oversleep_why::{Event, Kind};

use super::line::Line;
use crate::plan::Requested;

/// The first byte of the form of a span, and of a deadline.
const SPAN: u64 = 1;
const DEADLINE: u64 = 2;

/// A thread's scheduling, as the kernel numbers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    pub policy: u32,
    /// Smaller goes first.
    pub priority: i32,
    pub cpus_allowed: u32,
}

/// When the wait should end, on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// As the program requested.
    Requested(Requested),
    /// The kernel restarted the call after a signal: this is the deadline of the call before.
    Restarted(Nanos),
}

/// The stop at the entry of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub number: u32,
    pub until: Until,
    /// How long the kernel may let the timer expire late.
    pub slack: Nanos,
    /// When the thread stopped at the entry.
    pub called: Nanos,
    /// Just before it was let go into its call.
    pub let_go: Nanos,
    /// The thread's counts before that, if it has any.
    pub before: Option<ThreadStat>,
    /// Its counts while it slept in the call.
    pub asleep: Option<ThreadStat>,
}

/// The stop at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub result: i64,
    /// When the supervisor noticed it.
    pub noticed: Nanos,
    pub after: Option<ThreadStat>,
    /// The thread's switches since it was let go, if these are all.
    pub switches: Option<Vec<Switch>>,
    pub scheduling: Scheduling,
}

/// Whose call it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    pub tid: u32,
    pub process: u32,
    pub name: Name,
}

/// How long the thread waited for a CPU after it was woken, by its counts alone; `None` if it was switched more than once.
fn queued(entry: &Entry, end: &End) -> Option<Nanos> {
    let (before, after) = (entry.before?, end.after?);
    if after.switch_ins == before.switch_ins + 1 {
        // It had a CPU all the time.
        return Some(Nanos::ZERO);
    }
    let asleep = entry.asleep?;
    let is_one = asleep.switch_ins == before.switch_ins + 1 && after.switch_ins == asleep.switch_ins + 1;
    is_one.then(|| after.run_delay - asleep.run_delay).filter(|&queued| queued >= Nanos::ZERO)
}

/// Appends the events of the call. Returns its deadline, which a restarted call needs.
pub fn events(who: Who, entry: &Entry, end: &End, out: &mut Vec<Event>) -> Nanos {
    let line = end.switches.as_deref().and_then(Line::through);
    let went = line.as_ref().map_or(entry.let_go, |line| line.entered);
    // The kernel counts a span from when the thread goes on, and a deadline was made before the stop.
    let entered = match entry.until {
        Until::Requested(Requested::Deadline(_)) => entry.called,
        _ => went,
    };
    let (form, requested, due) = match entry.until {
        Until::Requested(Requested::Span(span)) => (SPAN, span, went + span),
        Until::Requested(Requested::Deadline(deadline)) => (DEADLINE, deadline, deadline),
        Until::Restarted(deadline) => (0, Nanos::ZERO, deadline),
    };
    let number = |ns: Nanos| u64::try_from(ns.0).unwrap_or(0);
    let mut event = |kind, at: Nanos, x, fields| {
        let plain = Event::new(kind, number(at), who.tid);
        out.push(Event { tgid: who.process, x, fields, name: who.name, ..plain });
    };
    let form = form | UNSEEN_TIMER << 8;
    let arm = [number(entered), number(requested), form, number(due), number(due + entry.slack), 0];
    event(Kind::Arm, went, entry.number, arm);
    let Some(line) = line else {
        let queued = queued(entry, end).map_or(0, |queued| number(queued) + 1);
        event(Kind::Return, end.noticed, 0, [end.result as u64, queued, 0, 0, 0, 0]);
        return due;
    };
    let Scheduling { policy, priority, cpus_allowed } = end.scheduling;
    let wakeup = [0, 0, i64::from(priority) as u64, u64::from(policy), u64::from(cpus_allowed), 0];
    let mut back = line.entered;
    match line.slept {
        // It had a CPU, or was preempted, all the time.
        None => event(Kind::Wakeup, went, 0, wakeup),
        Some((slept, woke)) => {
            event(Kind::Out, slept, 0, [0; 6]);
            if let Some(woken) = line.woken(entry.let_go, entry.before, end.after) {
                event(Kind::Wakeup, woken, 0, wakeup);
            }
            back = woke;
        }
    }
    event(Kind::In, back, 0, [0; 6]);
    for (from, to) in line.preempted.iter().filter(|(from, _)| *from >= back) {
        event(Kind::Out, *from, 1, [0; 6]);
        event(Kind::In, *to, 0, [0; 6]);
    }
    event(Kind::Return, line.stopped, 0, [end.result as u64, 0, 0, 0, 0, 0]);
    due
}

#[cfg(test)]
mod tests {
    use oversleep_native::switches::SwitchKind;
    use oversleep_why::Machine;
    use oversleep_why::calls::Arch;
    use oversleep_why::part::Parts;
    use oversleep_why::wait::{Outcome, Wait};

    use super::*;

    const WHO: Who = Who { tid: 42, process: 40, name: *b"app\0\0\0\0\0\0\0\0\0\0\0\0\0" };
    const CLOCK_NANOSLEEP: u32 = 230;
    const MS: i64 = 1_000_000;

    fn switches(list: &[(SwitchKind, i64)]) -> Option<Vec<Switch>> {
        Some(list.iter().map(|&(kind, at)| Switch { at: Nanos(at), kind }).collect())
    }

    fn stat(run_delay: i64, switch_ins: u64) -> Option<ThreadStat> {
        Some(ThreadStat { run_delay: Nanos(run_delay), switch_ins })
    }

    /// A wait of 1 ms that is let go at 10 ms.
    fn entry() -> Entry {
        Entry {
            number: CLOCK_NANOSLEEP,
            until: Until::Requested(Requested::Span(Nanos(MS))),
            slack: Nanos(50_000),
            called: Nanos(9_996_000),
            let_go: Nanos(10 * MS),
            before: stat(700, 7),
            asleep: None,
        }
    }

    fn end(list: &[(SwitchKind, i64)], after: Option<ThreadStat>) -> End {
        let scheduling = Scheduling { policy: 0, priority: 120, cpus_allowed: 2 };
        End { result: 0, noticed: Nanos(12 * MS), after, switches: switches(list), scheduling }
    }

    fn waits(calls: &[(Entry, End)]) -> Vec<Wait> {
        let mut machine = Machine::new(Arch::X86_64);
        let mut list = Vec::new();
        for (entry, end) in calls {
            events(WHO, entry, end, &mut list);
        }
        // What a recording or a stream holds is the same.
        for event in list {
            machine.feed(&Event::of_bytes(&event.to_bytes()).expect("its own encoding"));
        }
        machine.finish();
        machine.take()
    }

    fn wait(entry: Entry, end: End) -> Wait {
        let wait = waits(&[(entry, end)]).pop().expect("a wait");
        assert_eq!(wait.parts.sum(), wait.lateness_ns, "the parts add up");
        wait
    }

    use SwitchKind::{In, Out, Preempted};

    /// Switched in at +5 µs; the deadline is 1 ms later, at 11.005 ms.
    const PLAIN: [(SwitchKind, i64); 4] = [(In, 10_005_000), (Out, 10_008_000), (In, 11_065_000), (Out, 11_068_000)];

    #[test]
    fn a_wait_is_split_where_its_thread_was_switched() {
        // 5 µs in the run queue before the call, 4 µs after the timer.
        let seen = wait(entry(), end(&PLAIN, stat(9_700, 9)));
        assert_eq!(seen.lateness_ns, 63_000);
        assert_eq!(seen.parts, Parts { timer: 56_000, runq: 4_000, ret: 3_000, ..Parts::default() });
        assert_eq!((seen.outcome, seen.requested_ns, seen.cpu), (Outcome::Timer, Some(1_000_000), None));
        assert_eq!((seen.slack_bound_ns, seen.marks.soft, seen.marks.hard), (Some(50_000), None, None));
        assert_eq!((seen.policy, seen.prio, seen.tgid, seen.tid), (Some(0), Some(120), 40, 42));
        assert_eq!(seen.thread, "app");
        assert!(seen.is_attributed());
    }

    #[test]
    fn what_preempted_it_on_the_way_out_is_the_run_queue_too() {
        let list = [PLAIN[0], PLAIN[1], PLAIN[2], (Preempted, 11_066_000), (In, 11_090_000), (Out, 11_092_000)];
        let seen = wait(entry(), end(&list, stat(33_700, 10)));
        assert_eq!(seen.parts, Parts { timer: 56_000, runq: 28_000, ret: 3_000, ..Parts::default() });
    }

    #[test]
    fn a_wait_whose_time_is_over_at_once_only_returns() {
        let entry = Entry { until: Until::Requested(Requested::Deadline(Nanos(9 * MS))), ..entry() };
        let seen = wait(entry, end(&[(In, 10_005_000), (Out, 10_009_000)], stat(5_700, 8)));
        // The stop is between the call and its end, and nothing is subtracted.
        assert_eq!((seen.lateness_ns, seen.called_late_ns), (13_000, 996_000));
        assert_eq!(seen.parts, Parts { timer: 9_000, ret: 4_000, ..Parts::default() });
    }

    #[test]
    fn a_deadline_counts_from_the_call_and_a_span_from_when_the_thread_goes_on() {
        let entry = Entry { until: Until::Requested(Requested::Deadline(Nanos(10_996_000))), ..entry() };
        let seen = wait(entry, end(&PLAIN, stat(9_700, 9)));
        assert_eq!((seen.requested_ns, seen.lateness_ns), (Some(1_000_000), 72_000));
        assert_eq!(seen.parts, Parts { timer: 65_000, runq: 4_000, ret: 3_000, ..Parts::default() });
    }

    #[test]
    fn counts_that_disagree_leave_the_time_unattributed() {
        for after in [stat(9_700, 10), None] {
            let seen = wait(entry(), end(&PLAIN, after));
            assert_eq!(seen.parts, Parts { unattributed: 63_000, ..Parts::default() });
        }
        // Woken for nothing in between: which of the delays was the last one?
        let twice = [PLAIN[0], PLAIN[1], (In, 10_500_000), (Out, 10_501_000), PLAIN[2], PLAIN[3]];
        let seen = wait(entry(), end(&twice, stat(9_700, 10)));
        assert_eq!(seen.parts, Parts { unattributed: 63_000, ..Parts::default() });
    }

    #[test]
    fn without_switches_the_run_queue_alone_is_known() {
        let end = |after, noticed| End { switches: None, noticed: Nanos(noticed), ..end(&[], after) };
        let asleep = Entry { asleep: stat(5_700, 8), ..entry() };
        let seen = wait(asleep, end(stat(9_700, 9), 11_080_000));
        assert_eq!(seen.lateness_ns, 80_000);
        assert_eq!(seen.parts, Parts { runq: 4_000, unattributed: 76_000, ..Parts::default() });
        assert_eq!(seen.slack_bound_ns, Some(50_000));
        // The thread was not seen asleep, so its two delays can't be told apart.
        let seen = wait(entry(), end(stat(9_700, 9), 11_080_000));
        assert_eq!(seen.parts, Parts { unattributed: 80_000, ..Parts::default() });
        // A switch is missing at either end.
        for list in [&PLAIN[1..], &PLAIN[..3], &PLAIN[..1], &[]] {
            let torn = End { switches: switches(list), ..end(stat(9_700, 9), 11_080_000) };
            assert_eq!(wait(asleep, torn).parts.runq, 4_000);
        }
    }

    #[test]
    fn a_stop_in_the_middle_is_a_part() {
        const RESTARTED: i64 = -516;
        let stopped = End {
            result: RESTARTED,
            ..end(&[PLAIN[0], PLAIN[1], (In, 10_400_000), (Out, 10_401_000)], stat(5_700, 9))
        };
        let again = Entry {
            number: 219,
            until: Until::Restarted(Nanos(11_005_000)),
            let_go: Nanos(20 * MS),
            before: stat(5_700, 9),
            ..entry()
        };
        let over = end(&[(In, 20_002_000), (Out, 20_003_000), (In, 20_010_000), (Out, 20_012_000)], stat(8_700, 11));
        let seen = waits(&[(entry(), stopped), (again, over)]);
        let [seen] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!((seen.lateness_ns, seen.restarts), (9_007_000, 1));
        assert_eq!(seen.parts, Parts { stop: 8_997_000, timer: 7_000, runq: 1_000, ret: 2_000, ..Parts::default() });
    }

    #[test]
    fn what_a_peer_ends_is_no_lateness() {
        let futex = Entry { number: 202, ..entry() };
        let woken = [PLAIN[0], PLAIN[1], (In, 10_300_000), (Out, 10_302_000)];
        assert_eq!(wait_of_any_outcome(futex, end(&woken, stat(9_700, 9))), Outcome::Event);
        let timeout = End { result: -110, ..end(&PLAIN, stat(9_700, 9)) };
        assert_eq!(wait_of_any_outcome(futex, timeout), Outcome::Timer);
    }

    fn wait_of_any_outcome(entry: Entry, end: End) -> Outcome {
        waits(&[(entry, end)])[0].outcome
    }
}
