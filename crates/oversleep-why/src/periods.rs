//! Periods: from the end of one wait of a thread to the end of its next one of that kind, whatever it requests. What the
//! thread did meanwhile is summed up once, and each kind remembers the sums at its last wait.

use oversleep_record::observed::period::{Between, Block, Held};

use crate::machine::Map;
use crate::part::{Part, Parts};
use crate::wait::{Outcome, Request, Wait, signed};

/// The most threads whose periods are followed, the most kinds of waits of one thread, and the most long hold-ups of one
/// period.
const THREADS_MAX: usize = 4_096;
const KINDS_MAX: usize = 6;
const HELD_MAX: usize = 32;
/// From this on, another wait in a period is told by itself, as the collector does with other calls.
const HELD_MIN_NS: u64 = 100_000;

/// One period.
#[derive(Debug)]
pub struct Period {
    /// What filled it; the sum is its length.
    pub parts: Parts,
    /// What held the thread up for longer.
    pub held: Vec<Held>,
    /// Page faults between its waits.
    pub fault_count: u64,
    /// The period of the timer that ended the wait.
    pub timer_ns: Option<u64>,
    /// Expirations that were missed.
    pub missed: u64,
    /// From the deadline before to the one that ended it.
    pub deadline_step: Option<i64>,
    /// Whether this step differs from the one before by less than the rest of the time that the program requested, and by
    /// less than the end of the wait before. If most do, deadlines count from deadlines, and not from the present time.
    pub is_on_grid: Option<bool>,
    /// If another time was requested than before: whether it is longer because there was less to do before it, or the other
    /// way round. If so, the program waits for what is left of its period.
    pub follows_work: Option<bool>,
}

/// The threads so far.
#[derive(Clone, Debug, Default)]
pub struct Loops(Map<u32, Loop>);

/// What a thread has done so far.
#[derive(Clone, Debug, Default)]
struct Loop {
    end: u64,
    total: Parts,
    fault_count: u64,
    marks: Vec<Mark>,
}

/// How far a deadline is from what came before it: the deadline before, the end of the wait before, and the call.
#[derive(Clone, Copy, Debug)]
struct Step {
    from_deadline: i64,
    from_end: i64,
    from_call: i64,
}

impl Step {
    /// Whether deadlines count from deadlines, as far as two steps tell. A span that is the same each time counts from its
    /// call.
    fn is_on_grid(self, last: Step) -> bool {
        let varies = |of: fn(Step) -> i64| of(self).abs_diff(of(last));
        let by_deadline = varies(|step| step.from_deadline);
        by_deadline < varies(|step| step.from_call) && by_deadline < varies(|step| step.from_end)
    }
}

/// The last wait of one kind.
#[derive(Clone, Debug)]
struct Mark {
    call: Option<String>,
    timer: Option<String>,
    request: Request,
    total: Parts,
    fault_count: u64,
    deadline: u64,
    last_step: Option<Step>,
    /// How late it ended.
    late: i64,
    /// What was requested, and what else the period had.
    last_rest: Option<(i64, i64)>,
    held: Vec<Held>,
}

impl Loops {
    /// Takes a wait; returns the period that it ends, if it ended by its time and isn't the first one.
    pub fn add(&mut self, wait: &Wait) -> Option<Period> {
        // Without what was requested, what a period would have been is unknown.
        if wait.request == Request::Unknown && wait.requested_ns.is_none() && wait.outcome == Outcome::Timer {
            self.0.remove(&wait.tid);
            return None;
        }
        if self.0.len() >= THREADS_MAX {
            self.0.clear();
        }
        let one = self.0.entry(wait.tid).or_default();
        // A thread waits for one thing at a time. Of a stream that says otherwise, nothing is concluded.
        if wait.end < one.end || wait.marks.entered.is_some_and(|entered| entered < one.end) {
            *one = Loop::default();
        }
        let parts = if one.end == 0 { Parts::default() } else { since(one.end, wait) };
        if one.end != 0 {
            Part::ALL.iter().for_each(|&part| {
                let sum = one.total.get_mut(part);
                *sum = sum.saturating_add(parts.get(part));
            });
        }
        one.end = wait.end;
        let held = wait.before.as_ref().map_or(&[][..], |before| &*before.held);
        one.fault_count = one.fault_count.saturating_add(wait.before.as_ref().map_or(0, |before| before.fault_count));
        let itself = slept(wait);
        for mark in &mut one.marks {
            // A signal that cuts a wait of the loop off makes it no other call.
            let is_own = matches!(wait.outcome, Outcome::Timer | Outcome::Signal) && mark.is_of(wait);
            let other = itself.iter().filter(|_| !is_own);
            let room = HELD_MAX.saturating_sub(mark.held.len());
            mark.held.extend(held.iter().chain(other).take(room).cloned());
        }
        if wait.outcome != Outcome::Timer {
            return None;
        }
        let mut now = Mark {
            call: None,
            timer: None,
            request: wait.request,
            total: one.total,
            fault_count: one.fault_count,
            deadline: wait.deadline,
            last_step: None,
            late: signed(wait.end).saturating_sub(signed(wait.deadline)),
            last_rest: None,
            held: Vec::new(),
        };
        let Some(mark) = one.marks.iter_mut().find(|mark| mark.is_of(wait)) else {
            if one.marks.len() >= KINDS_MAX {
                one.marks.remove(0);
            }
            (now.call, now.timer) = (wait.call.clone(), wait.timer.clone());
            one.marks.push(now);
            return None;
        };
        let mut all = Parts::default();
        Part::ALL.iter().for_each(|&part| *all.get_mut(part) = now.total.get(part).wrapping_sub(mark.total.get(part)));
        // Its other waits are not the pace of this loop.
        let others = all.requested.wrapping_add(all.late).wrapping_sub(parts.requested).wrapping_sub(parts.late);
        let parts =
            Parts { requested: parts.requested, late: parts.late, blocked: all.blocked.wrapping_add(others), ..all };
        now.last_step = step(wait, mark);
        let is_on_grid = now.last_step.zip(mark.last_step).map(|(step, last)| step.is_on_grid(last));
        let rest = (parts.requested, parts.sum().saturating_sub(parts.requested).saturating_sub(parts.late));
        let follows_work = mark.last_rest.and_then(|last| follows_work(last, rest));
        now.last_rest = Some(rest);
        let (timer_ns, missed) = wait.timer_period.unzip();
        let period = Period {
            parts,
            held: std::mem::take(&mut mark.held),
            fault_count: now.fault_count - mark.fault_count,
            timer_ns,
            missed: missed.unwrap_or(0),
            deadline_step: now.last_step.map(|step| step.from_deadline),
            is_on_grid,
            follows_work,
        };
        (now.call, now.timer) = (mark.call.take(), mark.timer.take());
        *mark = now;
        Some(period)
    }
}

/// How far the deadline of a wait is from what came before it. That of a span is where it ends.
fn step(wait: &Wait, before: &Mark) -> Option<Step> {
    let is_of_program = matches!(wait.request, Request::Deadline | Request::Span);
    let from_call = signed(wait.deadline).saturating_sub(signed(wait.marks.entered.filter(|_| is_of_program)?));
    let from_deadline = signed(wait.deadline).saturating_sub(signed(before.deadline));
    Some(Step { from_deadline, from_end: from_deadline.saturating_sub(before.late), from_call })
}

/// Whether what is requested changes against what else a period has; `None` if either hardly changes.
fn follows_work((requested, other): (i64, i64), (next_requested, next_other): (i64, i64)) -> Option<bool> {
    const LEAST_NS: u64 = 50_000;
    const LEAST_OTHER_NS: u64 = 20_000;
    let changes = next_requested.abs_diff(requested) >= LEAST_NS && next_other.abs_diff(other) >= LEAST_OTHER_NS;
    changes.then_some((next_requested > requested) == (next_other < other))
}

impl Mark {
    fn is_of(&self, wait: &Wait) -> bool {
        self.request == wait.request && self.call == wait.call && self.timer == wait.timer
    }
}

/// A wait as what holds up the loop that another kind of waits paces.
fn slept(wait: &Wait) -> Option<Held> {
    let slept = wait.end.saturating_sub(wait.marks.entered?);
    let call = wait.call.clone().unwrap_or_default();
    // An interrupt comes in the time of any task; a lock is released by a thread.
    let is_lock = wait.outcome == Outcome::Event && call.starts_with("futex");
    let woken_by = if is_lock { wait.woken_by.clone() } else { String::new() };
    let block = Block { call, woken_by, count: 1, total_ns: slept, max_ns: slept };
    (slept >= HELD_MIN_NS).then(|| Held { t: wait.end, stop_ns: 0, block: Some(block), culprits: Vec::new() })
}

/// What filled the time from the end of a thread's wait to the end of its next one.
fn since(end: u64, wait: &Wait) -> Parts {
    let mut parts = Parts::default();
    let entered = wait.marks.entered.or(wait.before.as_ref().map(|before| before.until_ns));
    let entered = entered.filter(|&entered| end <= entered && entered <= wait.end);
    let Some(entered) = entered else {
        parts.unattributed = signed(wait.end).saturating_sub(signed(end));
        return parts;
    };
    match &wait.before {
        Some(before) => split(end, entered, before, &mut parts),
        None => parts.unattributed = signed(entered - end),
    }
    if wait.outcome == Outcome::Timer {
        let requested = wait.deadline.clamp(entered, wait.end);
        (parts.requested, parts.late) = (signed(requested - entered), signed(wait.end - requested));
    } else {
        parts.blocked = parts.blocked.saturating_add(signed(wait.end - entered));
    }
    parts
}

/// The collector's sums begin where the call returned, which is the end of the wait, nearly.
fn split(end: u64, entered: u64, before: &Between, parts: &mut Parts) {
    const NEAR_NS: u64 = 50_000;
    (parts.runq, parts.quota) = (signed(before.runq_ns), signed(before.quota_ns));
    (parts.blocked, parts.fault) = (signed(before.blocked_ns), signed(before.fault_ns));
    // Stops are among the sleeps.
    let stopped = before.held.iter().map(|held| held.stop_ns).fold(0, u64::saturating_add);
    parts.stop = signed(stopped).min(parts.blocked);
    parts.blocked -= parts.stop;
    let rest = signed(entered - end).saturating_sub(parts.sum());
    match before.from_ns.abs_diff(end) <= NEAR_NS {
        true => parts.work = rest,
        false => parts.unattributed = rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait that was requested 10 ms from `entered` on, and what its thread did before it.
    fn wait(entered: u64, end: u64, before: Option<Between>) -> Wait {
        let deadline = entered + 10_000_000;
        let wait = serde_json::json!({
            "tgid": 7,
            "tid": 7,
            "thread": "app",
            "request": "span",
            "deadline_ns": deadline,
            "end_ns": end,
            "lateness_ns": end as i64 - deadline as i64,
            "outcome": "timer",
            "parts": {},
            "marks": { "entered_ns": entered },
        });
        Wait { before, ..serde_json::from_value(wait).expect("it is a wait") }
    }

    #[test]
    fn a_period_is_what_the_thread_did_and_how_long_it_waited() {
        let mut loops = Loops::default();
        assert!(loops.add(&wait(1_000, 10_061_000, None)).is_none(), "nothing was before it");
        let before = Between {
            from_ns: 10_061_000,
            until_ns: 45_061_000,
            runq_ns: 4_000_000,
            quota_ns: 20_000_000,
            blocked_ns: 3_000_000,
            fault_ns: 2_000_000,
            fault_count: 40,
            held: Vec::new(),
        };
        let period = loops.add(&wait(45_061_000, 55_121_000, Some(before))).expect("it is the second one");
        let parts = period.parts;
        assert_eq!(
            [parts.work, parts.runq, parts.quota, parts.blocked, parts.fault, parts.requested, parts.late],
            [6_000_000, 4_000_000, 20_000_000, 3_000_000, 2_000_000, 10_000_000, 60_000]
        );
        assert_eq!((parts.sum(), period.fault_count), (45_060_000, 40));
    }

    #[test]
    fn what_was_not_seen_is_no_work() {
        let mut loops = Loops::default();
        loops.add(&wait(1_000, 10_061_000, None));
        let parts = loops.add(&wait(15_061_000, 25_061_000, None)).expect("it is the second one").parts;
        assert_eq!((parts.unattributed, parts.work, parts.sum()), (5_000_000, 0, 15_000_000));
    }

    #[test]
    fn deadlines_that_count_from_deadlines_are_told_from_those_that_count_from_now() {
        // Each wait ends late by another time, after other work.
        let late = [50_000, 90_000, 20_000, 70_000];
        let votes = |next: fn(u64, u64) -> u64| {
            let (mut loops, mut now, mut deadline) = (Loops::default(), 1_000_000, 11_000_000);
            let mut votes = Vec::new();
            for late in late {
                let mut one = wait(now, deadline + late, None);
                (one.request, one.deadline) = (Request::Deadline, deadline);
                votes.extend(loops.add(&one).and_then(|period| period.is_on_grid));
                now = deadline + late + 3_000_000 + late / 2;
                deadline = next(deadline, now);
            }
            votes
        };
        assert_eq!(votes(|deadline, _| deadline + 10_000_000), [true, true]);
        assert_eq!(votes(|_, now| now + 10_000_000), [false, false]);
    }

    #[test]
    fn spans_until_the_next_deadline_are_told_from_those_that_count_from_the_last_end() {
        // Each wait ends late by another time, and other work follows.
        let of = [(50_000, 700_000), (90_000, 1_900_000), (20_000, 1_300_000), (70_000, 400_000)];
        let votes = |next: fn(u64, u64) -> u64| {
            let (mut loops, mut now, mut deadline) = (Loops::default(), 1_000_000, 11_000_000);
            let mut votes = Vec::new();
            for (late, work) in of {
                let mut one = wait(now, deadline + late, None);
                one.deadline = deadline;
                votes.extend(loops.add(&one).and_then(|period| period.is_on_grid));
                now = deadline + late + work;
                deadline = next(deadline, now - work).max(now);
            }
            votes
        };
        assert_eq!(votes(|deadline, _| deadline + 10_000_000), [true, true]);
        assert_eq!(votes(|_, end| end + 10_000_000), [false, false]);
    }

    #[test]
    fn times_that_no_clock_shows_are_no_reason_to_stop() {
        let mut loops = Loops::default();
        loops.add(&wait(1, 2, None));
        let far = |entered, deadline| {
            let mut wait = wait(3, 4, None);
            (wait.marks.entered, wait.deadline, wait.end) = (Some(entered), deadline, u64::MAX);
            wait.before = Some(Between { from_ns: 2, until_ns: entered, ..Between::default() });
            wait
        };
        let other = far(3, u64::MAX / 2 + 3);
        loops.add(&Wait { call: Some("futex".to_owned()), ..other });
        assert!(loops.add(&far(u64::MAX, u64::MAX)).is_some());
    }

    #[test]
    fn a_wait_of_another_kind_is_within_the_period() {
        let mut loops = Loops::default();
        loops.add(&wait(1_000, 10_061_000, None));
        let since = |from_ns| Some(Between { from_ns, ..Between::default() });
        let mut event = wait(10_061_000, 14_061_000, since(10_061_000));
        event.outcome = Outcome::Event;
        assert!(loops.add(&event).is_none());
        // A signal ends one of its own.
        let mut cut = wait(14_061_000, 14_161_000, since(14_061_000));
        cut.outcome = Outcome::Signal;
        assert!(loops.add(&cut).is_none());
        // It ends by its time, but the pace is another one.
        let mut other = wait(14_161_000, 24_061_000, since(14_161_000));
        other.call = Some("futex".to_owned());
        assert!(loops.add(&other).is_none());
        let period = loops.add(&wait(24_061_000, 34_061_000, since(24_061_000))).expect("it is the second one");
        let parts = period.parts;
        assert_eq!((parts.blocked, parts.requested, parts.sum()), (14_000_000, 10_000_000, 24_000_000));
        let blocks: Vec<&str> = period.held.iter().map(|held| &*held.block.as_ref().unwrap().call).collect();
        assert_eq!(blocks, ["", "futex"]);
    }

    #[test]
    fn a_request_follows_the_work_that_it_makes_up_for() {
        const MS: i64 = 1_000_000;
        let of = follows_work;
        assert_eq!(of((14 * MS, 2 * MS), (13 * MS, 3 * MS)), Some(true), "less is left after more work");
        assert_eq!(of((13 * MS, 3 * MS), (14 * MS, 2 * MS)), Some(true));
        assert_eq!(of((10 * MS, 4 * MS), (9 * MS, 3 * MS)), Some(false));
        assert_eq!(of((10 * MS, 4 * MS), (10 * MS, 9 * MS)), None, "the request is what it was");
        assert_eq!(of((10 * MS, 4 * MS), (9 * MS, 4 * MS + 5_000)), None, "the work is what it was, nearly");
    }
}
