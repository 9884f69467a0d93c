//! Who has a CPU, who waits for one, and on which.

use oversleep_record::observed::Blame;
use oversleep_why::event::{Kind, UNKNOWN_CPU};

use super::{Converter, Cpu, Point, Task, policy};
use crate::linux::format;

/// In the event of a turn: the kernel's own.
const OF_THE_KERNEL: u32 = 2;

/// A turn that ends.
struct Turn {
    tid: u32,
    since: u64,
    prio: i32,
    is_runnable: bool,
}

impl Converter {
    pub(super) fn wake(&mut self, tid: u32) {
        let Some(open) = self.open(tid) else { return };
        if !open.is_woken {
            (open.is_woken, open.is_pending) = (true, true);
            self.pending += 1;
        }
    }

    pub(super) fn on_switch(&mut self, point: &Point, from: Task, is_runnable: bool, to: Task) {
        let (t, epoch) = (point.t, self.epoch);
        let since = self.cpu(point.cpu).task.filter(|(tid, _)| *tid == from.tid).map(|(_, since)| since);
        let cpu = self.cpu(point.cpu);
        (cpu.task, cpu.prio) = (Some((to.tid, t)), Some(to.prio));
        self.thread(from.tid).name = from.name;
        if let Some(since) = since {
            let turn = Turn { tid: from.tid, since, prio: from.prio, is_runnable };
            self.tell(point.cpu, t, &turn, to.tid);
        }
        let has_wait = self.of_wait(Kind::Out, point, from.tid, |event| event.x = u32::from(is_runnable));
        let thread = self.thread(from.tid);
        if std::mem::take(&mut thread.has_returned) && !has_wait {
            let event = self.event(Kind::Out, t, point.cpu, from.tid);
            self.out.push(event);
        } else if let Some(open) = thread.wait.as_mut().filter(|open| is_runnable && open.epoch == epoch) {
            open.queued = Some((t, point.cpu));
            self.pending += usize::from(!std::mem::replace(&mut open.is_pending, true));
        }
        // A thread that was woken before it had left its CPU never waited for one.
        if self.is_scheduler_only() && has_wait {
            self.drop_wait(point, from.tid);
        }
        self.thread(to.tid).name = to.name;
        let queued = self.open(to.tid).and_then(|open| open.queued.take());
        if let Some((since, _)) = queued.filter(|(_, cpu)| *cpu != point.cpu) {
            self.of_wait(Kind::Moved, point, to.tid, |event| (event.t, event.x) = (since, UNKNOWN_CPU));
        }
        self.of_wait(Kind::In, point, to.tid, |event| (event.x, event.fields[0]) = (from.tid, 1));
        let Some(open) = self.open(to.tid) else { return };
        let (was_pending, is_woken) = (std::mem::take(&mut open.is_pending), open.is_woken);
        if was_pending {
            self.pending = self.pending.saturating_sub(1);
        }
        let is_unseen = !self.has_calls && is_woken;
        if is_unseen {
            self.end(point, to.tid, 0);
        }
    }

    /// A thread moves from one run queue to another.
    pub(super) fn on_migrate(&mut self, point: &Point, tid: u32, to: u16) {
        // Whoever wakes a thread chooses its CPU first: it waited on no other one before.
        let is_placed = self.cpu(point.cpu).waking == Some(tid);
        let Some((since, from)) = self.open(tid).and_then(|open| open.queued) else { return };
        if !is_placed {
            self.end_turn(point.t, from, tid);
        }
        let t = if is_placed { since } else { point.t };
        self.of_wait(Kind::Moved, point, tid, |event| (event.t, event.x) = (t, u32::from(to)));
        self.open(tid).into_iter().for_each(|open| open.queued = Some((t, to)));
    }

    /// The turn of a thread ends as far as it had that name.
    pub(super) fn end_turn_of(&mut self, point: &Point, tid: u32) {
        if point.t != 0 && self.cpu(point.cpu).task.is_some_and(|(running, _)| running == tid) {
            self.end_turn(point.t, point.cpu, tid);
        }
    }

    /// Tells of the turn of who has a CPU up to now, while that thread waits for it; it goes on.
    fn end_turn(&mut self, t: u64, cpu: u16, waiting: u32) {
        let Cpu { task: Some((tid, since)), prio: Some(prio), .. } = *self.cpu(cpu) else { return };
        if since == t {
            return;
        }
        self.cpu(cpu).task = Some((tid, t));
        self.tell(cpu, t, &Turn { tid, since, prio, is_runnable: true }, waiting);
    }

    /// Tells of a turn, if somebody waits for a CPU; of an idle one only if that thread waits for it.
    fn tell(&mut self, cpu: u16, t: u64, turn: &Turn, waiting: u32) {
        let is_idle = turn.tid == 0;
        let is_awaited = self.pending > 0 && (!is_idle || self.is_scheduler_only() && self.is_awaited(waiting, cpu));
        if !is_awaited {
            return;
        }
        let mut event = self.event(Kind::Run, t, cpu, turn.tid);
        event.x = u32::from(turn.is_runnable);
        if is_idle {
            (event.name, event.x) = (format::name(Blame::IDLE_CPU.as_bytes()), OF_THE_KERNEL);
        }
        event.fields = [turn.since, turn.prio as u64, policy(turn.prio), 0, 0, 0];
        self.out.push(event);
    }

    /// Whether a thread waits to run on that CPU.
    fn is_awaited(&mut self, tid: u32, cpu: u16) -> bool {
        self.open(tid).is_some_and(|open| open.is_pending && open.queued.is_some_and(|(_, of)| of == cpu))
    }
}
