//! Calls, the timers that they set, and who is woken by them.

use oversleep_why::calls::{Call, Form, WAKE_UP};
use oversleep_why::event::{Kind, UNSEEN_TIMER};

use super::{Converter, KEPT_MAX, Open, Point, Task, Timer, policy};

/// From this lateness on, what the CPU did before is told.
const LATE_NS: u64 = 10_000;
const ABSOLUTE: u64 = 1;
/// Operations of `futex` whose timeout is a deadline: `LOCK_PI`, `WAIT_BITSET`, `WAIT_REQUEUE_PI`, `LOCK_PI2`.
const DEADLINES_OF_FUTEX: [u64; 4] = [6, 9, 11, 13];
const FUTEX_OPERATION: u64 = 0x7f;

impl Converter {
    /// The call that a thread is in.
    pub(super) fn call(&self, tid: u32) -> Option<(u64, u32, Option<[u64; 6]>)> {
        self.threads.get(&tid).filter(|thread| thread.epoch == self.epoch)?.call
    }

    pub(super) fn on_enter(&mut self, point: &Point, number: u32, registers: Option<[u64; 6]>) {
        if !self.has_calls {
            return;
        }
        let epoch = self.epoch;
        let thread = self.thread(point.tid);
        (thread.call, thread.epoch) = (Some((point.t, number, registers)), epoch);
        let call = Call::of(self.arch, number).filter(|call| !self.has_timers && call.form == Form::Millis);
        if let Some(ms) = call.and_then(|call| milliseconds(call, registers)).filter(|&ms| ms != 0) {
            let due = point.t.saturating_add(ms);
            self.arm(point, point.tid, number, [point.t, ms, 1 | UNSEEN_TIMER << 8, due, due, 0]);
        }
    }

    /// A wait begins, or its timer is set again.
    pub(super) fn arm(&mut self, point: &Point, tid: u32, number: u32, fields: [u64; 6]) {
        let epoch = self.epoch;
        let thread = self.thread(tid);
        let before = thread.wait.filter(|open| open.epoch == epoch);
        // A call whose timer has fired doesn't set it again: its end, and what came next, are missing.
        if before.is_some_and(|open| open.has_fired) {
            thread.call = None;
            self.drop_wait(point, tid);
            return;
        }
        let [.., form, soft, _, _] = fields;
        let first_soft = before.map_or(soft, |open| open.first_soft);
        // A timer that is set again tells of a stop if it is the thread's own.
        let is_later = before.is_some() && point.t.max(soft) > first_soft && form >> 8 & 0xff != UNSEEN_TIMER;
        if is_later && !self.facts.tells_sleepers() {
            self.thread(tid).call = None;
            self.drop_wait(point, tid);
            return;
        }
        let thread = self.thread(tid);
        thread.wait = Some(Open { epoch, sent: before.map_or(0, |open| open.sent), first_soft, ..Open::default() });
        thread.has_returned = false;
        self.pending = self.pending.saturating_sub(usize::from(before.is_some_and(|open| open.is_pending)));
        self.of_wait(Kind::Arm, point, tid, |event| (event.x, event.fields) = (number, fields));
    }

    pub(super) fn on_start(&mut self, point: &Point, timer: u64, function: u64, (soft, hard): (u64, u64)) {
        let Point { t, tid, .. } = *point;
        if self.timers.len() >= KEPT_MAX {
            self.timers.clear();
        }
        let both = self.facts.by_own_clock(soft, t).zip(self.facts.by_own_clock(hard, t));
        let is_inside = !self.cpu(point.cpu).handlers.is_any() && tid != 0;
        let epoch = self.epoch;
        let known = self.timers.get(&timer).filter(|timer| timer.epoch == epoch).copied();
        let call = self.call(tid).map(|(at, number, registers)| (at, number, registers, Call::of(self.arch, number)));
        let Some((soft, hard)) = both else {
            self.timers.remove(&timer);
            return;
        };
        if is_inside && self.facts.is_sleeper(function) {
            let (entered, number, registers, call) = match (call, self.has_calls) {
                (Some(call), _) => call,
                (None, false) => (0, u32::MAX, None, None),
                // It came into its call before the recording began, or in a gap.
                (None, true) => {
                    self.timers.remove(&timer);
                    return;
                }
            };
            let span = call.and_then(|call| milliseconds(call, registers));
            let (form, requested) = match call {
                _ if span.is_some() => (1, span.unwrap_or(0)),
                Some(call) if is_deadline(call, registers) => (2, soft),
                _ => (0, 0),
            };
            self.timers.insert(timer, Timer { sleeper: Some(tid), soft, hard, epoch });
            // A number that isn't one of a 64-bit call that can arm a timer names nothing.
            let number = if call.is_some() { number } else { u32::MAX };
            self.arm(point, tid, number, [entered, requested, form, soft, hard, 0]);
            return;
        }
        let sets = |call: &Call| matches!(call.form, Form::SetsTimer | Form::SetsTimeval | Form::Seconds);
        match call {
            Some((entered, number, _, Some(call))) if is_inside && sets(call) => {
                self.timers.insert(timer, Timer { sleeper: None, soft, hard, epoch });
                let mut event = self.event(Kind::Set, t, point.cpu, tid);
                (event.x, event.fields) = (number, [entered, 0, 0, soft, hard, timer]);
                self.out.push(event);
            }
            // It goes on with its period, or belongs to the kernel now.
            _ => match known {
                Some(Timer { sleeper: None, .. }) => {
                    self.timers.insert(timer, Timer { sleeper: None, soft, hard, epoch });
                }
                _ => {
                    self.timers.remove(&timer);
                }
            },
        }
    }

    pub(super) fn on_expire(&mut self, point: &Point, timer: u64) {
        let t = point.t;
        let cpu = *self.cpu(point.cpu);
        self.cpu(point.cpu).callback = Some(timer);
        let Some(known) = self.timers.get(&timer).copied().filter(|known| known.epoch == self.epoch) else { return };
        let (running, is_idle) = (cpu.task.map_or(point.tid, |(tid, _)| tid), point.tid == 0);
        let idle = cpu.idle.filter(|_| is_idle).map_or(0, |state| u64::from(state) + 1);
        let name = self.threads.get(&running).map(|thread| thread.name).unwrap_or_default();
        let fields = |kind| [cpu.timer_in, timer, idle, known.soft, known.hard, kind];
        match known.sleeper {
            Some(tid) => {
                self.of_wait(Kind::Fire, point, tid, |event| {
                    (event.x, event.name, event.fields) = (running, name, fields(0));
                });
                self.timers.remove(&timer);
                let Some(open) = self.open(tid) else { return };
                open.has_fired = true;
            }
            None => {
                let mut event = self.event(Kind::Fire, t, point.cpu, 0);
                (event.x, event.name, event.fields) = (running, name, fields(1));
                self.out.push(event);
            }
        }
        if t.saturating_sub(known.soft) >= LATE_NS {
            let numbers = u64::from(cpu.irq.2) << 32 | u64::from(cpu.soft.2);
            // How long a handler ran isn't known where only one of its ends is told.
            let told = |names: &[&str], span: (u64, u64)| if self.facts.can.has_all(names) { span } else { (0, 0) };
            let irq = told(&["irq_handler_entry", "irq_handler_exit"], (cpu.irq.0, cpu.irq.1));
            let soft = told(&["softirq_entry", "softirq_exit"], (cpu.soft.0, cpu.soft.1));
            let mut event = self.event(Kind::Context, t, point.cpu, known.sleeper.unwrap_or(0));
            event.fields = [irq.0, irq.1, soft.0, soft.1, numbers, cpu.idle_at];
            (event.x, event.name) = (cpu.idle.unwrap_or(0), cpu.irq.3);
            self.out.push(event);
        }
    }

    pub(super) fn on_waking(&mut self, point: &Point, task: Task) {
        self.thread(task.tid).name = task.name;
        let callback = self.cpus.get(usize::from(point.cpu)).and_then(|cpu| cpu.callback);
        let timer = callback.filter(|_| self.has_callbacks).unwrap_or(0);
        let object =
            self.timers.get(&timer).filter(|known| known.epoch == self.epoch && known.sleeper.is_none()).copied();
        let epoch = self.epoch;
        let is_unknown = object.is_some() && self.open(task.tid).is_none();
        let call = self.call(task.tid);
        let (entered, number) = call.map_or((0, u32::MAX), |(at, number, _)| (at, number));
        if is_unknown {
            self.thread(task.tid).wait = Some(Open { epoch, ..Open::default() });
        }
        self.of_wait(Kind::Waking, point, task.tid, |event| {
            event.x = number;
            (event.fields[0], event.fields[1]) = (timer, entered);
        });
        self.wake(task.tid);
    }

    pub(super) fn on_wakeup(&mut self, point: &Point, task: Task, cpu: u16) {
        self.thread(task.tid).name = task.name;
        if self.is_scheduler_only() && task.tid != 0 && self.open(task.tid).is_none() {
            self.arm(point, task.tid, WAKE_UP, [0, 0, UNSEEN_TIMER << 8, point.t, point.t, 0]);
        }
        if let Some(open) = self.open(task.tid) {
            open.queued = Some((point.t, cpu));
        }
        let idle = self.cpus.get(usize::from(cpu)).filter(|cpu| cpu.task.is_some_and(|(tid, _)| tid == 0));
        let idle = idle.and_then(|cpu| cpu.idle).map_or(0, |state| u64::from(state) + 1);
        self.of_wait(Kind::Wakeup, point, task.tid, |event| {
            event.x = u32::from(cpu);
            event.fields = [idle, 0, task.prio as u64, policy(task.prio), 0, 0];
        });
        self.wake(task.tid);
    }
}

/// The span that a call requests, if it is in a register.
fn milliseconds(call: &Call, registers: Option<[u64; 6]>) -> Option<u64> {
    let ms = *registers.as_ref()?.get(usize::from(call.timeout))? as i32;
    (call.form == Form::Millis).then(|| u64::try_from(ms).ok())?.map(|ms| ms * 1_000_000)
}

/// Whether a call waits until a deadline.
fn is_deadline(call: &Call, registers: Option<[u64; 6]>) -> bool {
    let flags = registers.and_then(|registers| registers.get(usize::from(call.flags)).copied()).unwrap_or(0);
    match call.form {
        Form::ClockNanosleep => flags & ABSOLUTE != 0,
        Form::Futex => DEADLINES_OF_FUTEX.contains(&(flags & FUTEX_OPERATION)),
        Form::DeadlineTimespec | Form::Futex2 => true,
        _ => false,
    }
}
