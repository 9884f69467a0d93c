//! Computes the parts and culprits of a wait from its events.

use std::collections::VecDeque;

use super::open::{Fired, Open, Queued};
use super::supervised;
use super::{Machine, Map};
use crate::calls::{Call, Over};
use crate::culprit::{Activity, ActivityKind, Culprit, IrqCause, SOFTIRQS, Span, Task, Turn, Whose, Why, why};
use crate::event::{self, Name};
use crate::part::{Part, Splitter};
use crate::wait::{Marks, Outcome, Request, Wait, signed};

/// The timer interrupt's tracepoint may come shortly before the expiry that its handler then sees. An earlier one
/// belongs to another interrupt.
const INTERRUPT_BEFORE_NS: u64 = 100_000;
/// From this lateness on, a timer interrupt counts as late and its cause is looked for.
const LATE_NS: i64 = 10_000;
/// From this delay on, a timer interrupt can be late because of steal time around it.
const STOLEN_MIN_NS: i64 = 1_000_000;
/// The most culprits that are kept for one wait, the longest first.
const CULPRITS_MAX: usize = 16;

/// The times of one wait, in order, as far as they are known.
struct Times {
    deadline: u64,
    start: u64,
    soft: Option<u64>,
    hard: u64,
    rearmed: Option<u64>,
    interrupt: Option<u64>,
    fired: Option<u64>,
}

impl Machine {
    pub(super) fn wait_of(&self, open: &Open) -> Option<Wait> {
        let call = Call::of(self.arch, open.number);
        let by_timer = open.by_timer.filter(|_| open.fired.is_none());
        let fired = open.fired.or(by_timer.map(|by| by.fired));
        let outcome = outcome(open, call, fired.as_ref());
        let returned = open.returned.map(|(t, _)| t);
        let end = open.resumed.or(returned).or(open.suspended.map(|(t, _)| t))?;
        let request = if by_timer.is_some() { Request::Timer } else { open.request };
        let times = times(open, request, fired.as_ref())?;
        let requested_ns = match request {
            Request::Span => Some(open.requested),
            Request::Timer => by_timer.and_then(|by| by.requested),
            Request::Unknown => times.soft.and_then(|soft| soft.checked_sub(open.armed?.t)).filter(|&ns| ns != 0),
            Request::Deadline => open.entered.and_then(|entered| times.deadline.checked_sub(entered)),
        };
        // A thread that is woken before it left its CPU already has it; but the event of a switch may be missing.
        let stayed = (!open.has_slept && open.lost == 0).then(|| open.woken.map(|woken| woken.t)).flatten();
        let running = open.running.map(|(t, ..)| t).or(stayed);
        let marks = Marks {
            entered: open.entered,
            soft: times.soft.filter(|_| !open.is_unseen()),
            hard: times.soft.filter(|_| !open.is_unseen()).map(|_| times.hard).filter(|&hard| hard != u64::MAX),
            rearmed: times.rearmed,
            interrupt: times.interrupt,
            fired: times.fired,
            waking: open.waking,
            wakeup: open.woken.map(|woken| woken.t),
            running,
            returned,
        };
        let is_unseen = open.is_unseen();
        let mut wait = Wait {
            tgid: open.tgid,
            tid: open.tid,
            thread: event::text(&open.name),
            call: call.map(|call| call.name.to_owned()),
            timer: by_timer.map(|by| {
                let call = by.set_by.and_then(|number| Call::of(self.arch, number));
                call.map_or("timer", |call| call.name).to_owned()
            }),
            request,
            requested_ns,
            clock: by_timer.map_or(open.clock, |by| by.clock),
            deadline: times.deadline,
            called_late_ns: times.start - times.deadline,
            late_before_ns: None,
            end,
            lateness_ns: signed(end).saturating_sub(signed(times.start)),
            outcome,
            parts: Default::default(),
            segments: Vec::new(),
            marks,
            timer_cpu: fired.map(|fired| fired.cpu),
            timer_cpu_idle: fired.and_then(|fired| fired.idle),
            cpu: open.running.map(|(_, cpu, _)| cpu).or(open.woken.map(|woken| woken.cpu)).filter(|_| !is_unseen),
            slack_bound_ns: is_unseen.then(|| times.hard.saturating_sub(times.soft.unwrap_or(0))),
            cpu_idle: open.woken.and_then(|woken| woken.idle),
            policy: open.woken.map(|woken| woken.policy),
            prio: open.woken.map(|woken| woken.prio),
            cpus_allowed: open.woken.map(|woken| woken.cpus_allowed),
            culprits: Vec::new(),
            irq_cause: None,
            before_interrupt: Vec::new(),
            steal_ns: 0,
            lost_events: open.lost,
            restarts: open.restarts,
            interruptions: open.interruptions.clone(),
            before: open.before.clone(),
            woken_by: event::text(&open.waker),
            timer_period: by_timer.and_then(|by| by.period),
            frames: open.frames.clone(),
            stack: Default::default(),
        };
        if outcome == Outcome::Timer && is_unseen {
            supervised::split(open, (times.start, times.rearmed), &mut wait);
            wait.culprits = self.culprits(open, &wait);
        } else if outcome == Outcome::Timer {
            self.split(open, &times, &mut wait);
            wait.culprits = self.culprits(open, &wait);
            wait.before_interrupt = fired.map(|fired| activities(&fired, &times)).unwrap_or_default();
            wait.steal_ns = self.steal(&wait);
            // What the hypervisor reports needs no other cause. It reports whole intervals, in which a short delay may have
            // any other.
            let is_covered = signed(wait.steal_ns).saturating_mul(2) >= wait.parts.irq;
            let is_stolen = wait.parts.irq >= STOLEN_MIN_NS && is_covered;
            let irq_cause = |fired| if is_stolen { IrqCause::Steal } else { irq_cause(&fired, &times) };
            wait.irq_cause = fired.filter(|_| wait.parts.irq >= LATE_NS).map(irq_cause);
        }
        Some(wait)
    }

    fn split(&self, open: &Open, times: &Times, wait: &mut Wait) {
        let at = |t: Option<u64>| t.map(signed);
        let mut split = Splitter::new(signed(times.start), signed(wait.end));
        let base = times.soft.map(|soft| times.rearmed.unwrap_or(soft).max(soft));
        let interrupt = times.interrupt.or(times.fired);
        let pinned = base.zip(interrupt).map(|(base, t)| t.clamp(base, times.hard.max(base)));
        let may_precede = wait.request != Request::Deadline;
        split.first(Part::Api, at(times.soft.map(|soft| if may_precede { soft } else { soft.max(times.start) })));
        split.until(Part::Stop, at(base));
        split.until(Part::Slack, at(pinned));
        split.until(Part::Irq, at(interrupt));
        split.until(Part::Irqbody, at(times.fired));
        split.until(if open.was_frozen { Part::Stop } else { Part::Wake }, at(wait.marks.waking));
        split.until(Part::Ipi, at(wait.marks.wakeup));
        split.until(Part::Runq, at(wait.marks.running));
        split.until(Part::Ret, at(wait.marks.returned));
        split.shift(Part::Stop, Part::Signal, signed(open.by_signals));
        for of in &open.preempted {
            split.carve(Part::Ret, Part::Runq, signed(of.from), signed(of.to));
        }
        if let (Some(woken), Some((.., throttled))) = (open.woken, open.running) {
            split.shift(Part::Runq, Part::Quota, signed(throttled.saturating_sub(woken.throttled)));
        }
        (wait.parts, wait.segments) = split.finish(Part::Quota);
    }

    fn culprits(&self, open: &Open, wait: &Wait) -> Vec<Culprit> {
        let Some(woken) = open.woken else { return Vec::new() };
        let woken_to = |(to, last, _)| Queued { from: woken.t, to, first: woken.cpu, last };
        let waited = open.preempted.iter().copied().chain(open.running.map(woken_to));
        let (mut windows, mut unknown) = (Vec::new(), Vec::new());
        waited.for_each(|of| of.windows(&open.moves, &mut windows, &mut unknown));
        let mut found = self.ran(&windows, (wait.tid, wait.tgid), (woken.policy, woken.prio));
        found.extend(elsewhere(&unknown));
        found
    }

    /// Who ran on these CPUs at these times, instead of a thread of that policy and priority: the one that did for longest
    /// comes first.
    pub(super) fn ran(&self, windows: &[(u64, u64, u16)], of: (u32, u32), victim: (u32, i32)) -> Vec<Culprit> {
        let mut found: Vec<Culprit> = Vec::new();
        // Their names as the stream has them: a thread that executes another program, or gets another priority, is another.
        let mut tasks: Vec<Task> = Vec::new();
        // By task, once they are many.
        let mut places: Map<Task, usize> = Map::default();
        for &(from, to, cpu) in windows {
            // Turns are ordered by time, and most are long past.
            let since = |turns: &'_ VecDeque<Turn>| turns.partition_point(|turn| turn.to <= from);
            // The fast path: usually no other task ran.
            let turns = self.turns.get(&cpu).filter(|turns| turns.back().is_some_and(|last| last.to > from));
            let turns = turns.map(|turns| turns.range(since(turns)..)).into_iter().flatten();
            for turn in turns.filter(|turn| turn.tid != of.0) {
                let Some(span) = turn.overlap(from, to) else { continue };
                let task = turn.task();
                let known = match found.len() <= CULPRITS_MAX {
                    true => tasks.iter().position(|of| *of == task),
                    false => places.get(&task).copied(),
                };
                match known {
                    Some(at) => found[at].add(span),
                    None => {
                        let whose = if turn.tgid == of.1 { Whose::Own } else { turn.whose };
                        let process = self.process_of(turn).as_ref().map(event::text);
                        found.push(Culprit { process, whose, ..culprit(turn, span, victim) });
                        tasks.push(task);
                        if found.len() == CULPRITS_MAX + 1 {
                            places = tasks.iter().enumerate().map(|(at, task)| (*task, at)).collect();
                        } else if found.len() > CULPRITS_MAX {
                            places.insert(task, found.len() - 1);
                        }
                    }
                }
            }
        }
        found.sort_by_key(|culprit| (std::cmp::Reverse(culprit.ran_ns), culprit.tid));
        found.truncate(CULPRITS_MAX);
        found
    }

    /// The name of the process of a turn, where the thread has another. What a process is called later counts for threads
    /// that it had before it was named, and not for its first one, whose name is its own.
    fn process_of(&self, turn: &Turn) -> Option<Name> {
        let later = || self.names.get(&turn.tgid).copied().filter(|_| turn.tid != turn.tgid);
        turn.process.or_else(later).filter(|name| *name != turn.name)
    }

    /// The time that the hypervisor took around the wait's end, on the wait's CPUs; at most its lateness.
    fn steal(&self, wait: &Wait) -> u64 {
        let cpus = [wait.timer_cpu, wait.cpu];
        let other = if cpus[0] == cpus[1] { None } else { cpus[1] };
        let spans = [cpus[0], other].into_iter().flatten().filter_map(|cpu| self.steal.get(&cpu)).flatten();
        let late = spans.filter(|(from, to, _)| *from < wait.end && wait.deadline < *to);
        late.fold(0u64, |sum, (.., stolen)| sum.saturating_add(*stolen)).min(wait.lateness_ns.max(0) as u64)
    }
}

impl Queued {
    /// Adds the times on each CPU, and those when nobody knows on which one. Where no moves are told at all, those who ran
    /// on either CPU are shown by the collector, which looks at the one that the thread waits for.
    fn windows(&self, moves: &[(u64, u32)], windows: &mut Vec<(u64, u64, u16)>, unknown: &mut Vec<Unknown>) {
        let Queued { from, to, first, last } = *self;
        let within = |(t, _): &&(u64, u32)| (from..=to).contains(t);
        if first != last && !moves.iter().any(|of| within(&of)) {
            windows.extend([(from, to, last), (from, to, first)]);
            return;
        }
        let (mut since, mut cpu, mut before) = (from, u32::from(first), first);
        for &(t, next) in moves.iter().filter(within).chain([&(to, u32::from(last))]) {
            before = u16::try_from(cpu).unwrap_or(before);
            match u16::try_from(cpu) {
                _ if t <= since => {}
                Ok(cpu) => windows.push((since, t, cpu)),
                Err(_) => unknown.push((Span { from_ns: since, to_ns: t }, [before, last])),
            }
            (since, cpu) = (t.max(since), next);
        }
    }
}

/// A time when a thread waited on one of two CPUs, and nobody knows on which one.
type Unknown = (Span, [u16; 2]);

/// Stands for whoever ran then.
fn elsewhere(times: &[Unknown]) -> Option<Culprit> {
    let ((first, cpus), rest) = times.split_first()?;
    let mut all = Culprit {
        tid: 0,
        tgid: 0,
        name: Culprit::on_either(*cpus),
        process: None,
        policy: 0,
        prio: 0,
        ran_ns: first.to_ns - first.from_ns,
        why: Why::TurnNotOver,
        is_pinned: false,
        whose: Whose::Kernel,
        turns: vec![*first],
    };
    rest.iter().for_each(|&(span, _)| all.add(span));
    Some(all)
}

fn culprit(turn: &Turn, span: Span, victim: (u32, i32)) -> Culprit {
    Culprit {
        tid: turn.tid,
        tgid: turn.tgid,
        name: event::text(&turn.name),
        process: None,
        policy: turn.policy,
        prio: turn.prio,
        ran_ns: span.to_ns - span.from_ns,
        why: why((turn.policy, turn.prio), victim),
        is_pinned: turn.cpus_allowed == 1,
        whose: turn.whose,
        turns: vec![span],
    }
}

/// Why the wait ended: by the result of its call, if the timer agrees.
fn outcome(open: &Open, call: Option<&Call>, fired: Option<&Fired>) -> Outcome {
    const EINTR: i64 = -4;
    if open.by_timer.is_some() && open.fired.is_none() && open.returned.or(open.suspended).is_some() {
        return Outcome::Timer;
    }
    let Some((end, result)) = open.returned else {
        return if open.suspended.is_some() { Outcome::Signal } else { Outcome::Unknown };
    };
    let by_time = match call.map(|call| call.over) {
        Some(Over::Is(value)) => result == value,
        // The result of the restarted call decides; it isn't visible here.
        Some(Over::Any) | None => fired.is_some() && result != EINTR,
    };
    // The kernel skips tracepoints now and then, without counting that. If the call reports a timeout at a plausible
    // time, the timer's event need not have been seen.
    let is_result = matches!(call.map(|call| call.over), Some(Over::Is(_)));
    let is_due = is_result && open.first_soft.is_some_and(|soft| end >= soft);
    match (by_time, fired.is_some() || is_due) {
        (true, true) => Outcome::Timer,
        _ if result == EINTR => Outcome::Signal,
        _ => Outcome::Event,
    }
}

fn times(open: &Open, request: Request, fired: Option<&Fired>) -> Option<Times> {
    let armed = open.armed.filter(|_| request != Request::Timer);
    let is_wheel = armed.is_some_and(|armed| armed.is_wheel) || fired.is_some_and(|fired| fired.is_wheel);
    let soft = match request {
        Request::Timer => fired.map(|fired| fired.soft),
        _ => open.first_soft.or(fired.map(|fired| fired.soft).filter(|_| !is_wheel)),
    };
    // The timer wheel lets a timer expire at a tick of its own choice: the time until then is slack.
    let hard = if is_wheel { u64::MAX } else { armed.map(|armed| armed.hard).or(fired.map(|f| f.hard)).unwrap_or(0) };
    let deadline = match (request, open.entered) {
        (Request::Timer, _) => open.by_timer.and_then(|by| by.deadline).or(soft)?,
        (Request::Span, Some(entered)) => entered.saturating_add(open.requested),
        _ => soft?,
    };
    // A deadline that had passed before the call is the program's own lateness.
    let start = match (request, open.entered) {
        (Request::Deadline, Some(entered)) => deadline.max(entered),
        _ => deadline,
    };
    let earliest = soft.unwrap_or(0).saturating_sub(INTERRUPT_BEFORE_NS);
    let interrupt = fired.and_then(|fired| fired.interrupt).filter(|&t| t >= earliest);
    Some(Times { deadline, start, soft, hard, rearmed: open.rearmed, interrupt, fired: fired.map(|fired| fired.t) })
}

/// What the CPU did between the timer's latest expiry and its interrupt.
fn irq_cause(fired: &Fired, times: &Times) -> IrqCause {
    let (from, to) = (times.hard.min(fired.t), times.interrupt.unwrap_or(fired.t));
    let task = IrqCause::Task { tid: fired.interrupted.0, name: event::text(&fired.interrupted.1) };
    let idle = fired.idle.map(|state| IrqCause::Idle { state });
    let Some(context) = fired.context else { return idle.unwrap_or(task) };
    let [irq_in, irq_out, soft_in, soft_out, numbers, _] = context.fields;
    // An end of 0 means that it hasn't ended yet.
    let ran = |start: u64, end: u64| {
        let end = if end < start { to } else { end };
        if start == 0 { 0 } else { end.min(to).saturating_sub(start.max(from)) }
    };
    let (by_irq, by_soft) = (ran(irq_in, irq_out), ran(soft_in, soft_out));
    let half = to.saturating_sub(from) / 2;
    if by_irq > half {
        IrqCause::Interrupt { number: (numbers >> 32) as u32, name: event::text(&context.name), ran_ns: by_irq }
    } else if by_soft > half {
        IrqCause::Softirq { name: softirq(numbers), ran_ns: by_soft }
    } else {
        idle.unwrap_or(task)
    }
}

fn softirq(numbers: u64) -> String {
    SOFTIRQS.get((numbers & 0xff) as usize).copied().unwrap_or("unknown").to_owned()
}

/// The last interrupt, softirq and idle state of the timer's CPU, if they extend beyond the timer's earliest expiry.
fn activities(fired: &Fired, times: &Times) -> Vec<Activity> {
    let Some(context) = fired.context else { return Vec::new() };
    let [irq_in, irq_out, soft_in, soft_out, numbers, idle_at] = context.fields;
    let from = times.soft.unwrap_or(times.start);
    let to = times.interrupt.unwrap_or(fired.t);
    let span = |begin: u64, end: u64| {
        let end = if end < begin { to } else { end };
        let span = Span { from_ns: begin.max(from), to_ns: end.min(to) };
        (begin != 0 && span.from_ns < span.to_ns).then_some(span)
    };
    let idle = fired.idle.and_then(|state| Some((ActivityKind::Idle, state.to_string(), span(idle_at, to)?)));
    let irq = span(irq_in, irq_out).map(|span| (ActivityKind::Interrupt, event::text(&context.name), span));
    let soft = span(soft_in, soft_out).map(|span| (ActivityKind::Softirq, softirq(numbers), span));
    let all = [idle, irq, soft].into_iter().flatten();
    all.map(|(what, name, span)| Activity { what, name, span }).collect()
}
