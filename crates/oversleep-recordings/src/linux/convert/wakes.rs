//! Who wakes up, and by what.

use oversleep_record::observed::wakes::Wakes;
use oversleep_why::wakes::{Cause, Tally, Woken};

use super::{Converter, KEPT_MAX, Point, What};

/// What a function is called that only timers of sleeping threads have, if the file names none.
const SLEEP: &str = "sleep of a thread";

impl Converter {
    /// Takes a point before anything else changes by it.
    pub(super) fn note(&mut self, point: &Point) {
        let Point { t, tid, .. } = *point;
        if !matches!(point.what, What::Named { .. } | What::Gap { .. }) {
            self.tally.saw(t);
        }
        match point.what {
            What::Gap { until, .. } => {
                self.tally.gap(t, until);
                self.threads.values_mut().for_each(|thread| (thread.is_asleep, thread.cause) = (false, None));
                return;
            }
            What::Named { .. } => return,
            // What wakes it comes before its switch: nothing else tells that it left to sleep.
            What::Switch { from, is_runnable, .. } if from.tid != 0 => {
                self.awake(point, from.tid, None);
                let thread = self.thread(from.tid);
                (thread.is_asleep, thread.cause) = (!is_runnable, None);
            }
            What::Switch { .. } => {}
            _ => self.awake(point, tid, None),
        }
        match point.what {
            What::Switch { from, to, .. } => {
                self.thread(to.tid).name = to.name;
                self.awake(point, to.tid, Some(from.tid == 0));
            }
            What::Start { timer, function, .. } => {
                if self.functions.len() >= KEPT_MAX {
                    self.functions.clear();
                }
                self.functions.insert(timer, function);
            }
            What::Expire { timer, .. } => {
                let function = self.functions.get(&timer).copied().unwrap_or(0);
                self.cpu(point.cpu).tick = (tid == 0).then_some(function);
            }
            What::Expired => {
                let has_wakings = self.has_wakings;
                if let Some(function) = self.cpu(point.cpu).tick.take().filter(|_| has_wakings) {
                    self.tally.ticked(function);
                }
            }
            What::Waking { task, .. } => {
                let cpu = self.cpu(point.cpu);
                cpu.tick = None;
                let callback = cpu.callback;
                let cause = match callback {
                    _ if !self.has_callbacks => Cause::Unseen,
                    Some(timer) => Cause::Timer(self.functions.get(&timer).copied().unwrap_or(0)),
                    None => Cause::Other,
                };
                self.thread(task.tid).cause = Some(cause);
            }
            _ => {}
        }
    }

    /// A thread runs on the CPU of a point. If it slept, it woke up. If the CPU idled, that woke up, too: for a thread that
    /// slept, that is new, or that waited for another CPU. Some kernels don't tell of its switch.
    fn awake(&mut self, point: &Point, tid: u32, was_idle: Option<bool>) {
        if tid == 0 {
            return;
        }
        let is_idle = was_idle.unwrap_or_else(|| self.cpu(point.cpu).task.is_some_and(|(tid, _)| tid == 0));
        let thread = self.thread(tid);
        let has_slept = std::mem::take(&mut thread.is_asleep);
        if !is_idle && !has_slept {
            return;
        }
        let (cause, tgid, name) =
            (thread.cause.take().unwrap_or(Cause::Unseen), thread.tgid.unwrap_or(tid), thread.name);
        let program = self.threads.get(&tgid).map(|of| of.name).filter(|name| name[0] != 0).unwrap_or(name);
        let woken = Woken { tid, tgid, thread: name, program };
        if is_idle {
            self.tally.ended_idle(woken, cause);
        }
        if has_slept {
            self.tally.woke(point.t, woken, cause);
        }
    }

    /// From the first to the last point.
    pub fn span_ns(&self) -> u64 {
        self.tally.span_ns()
    }

    /// What was counted.
    pub fn wakes(&mut self) -> Wakes {
        let facts = &self.facts;
        let timer = |function: u64| match facts.functions.get(&function) {
            Some(name) => Some(name.clone()),
            None => facts.is_sleeper(function).then(|| SLEEP.to_owned()),
        };
        std::mem::take::<Tally>(&mut self.tally).finish(timer, |_| None)
    }
}
