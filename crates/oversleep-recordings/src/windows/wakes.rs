//! Who wakes up, and by what: `Sleep` is a timer's, for other waits that isn't recorded.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use oversleep_record::observed::wakes::Wakes;
use oversleep_why::etw::{Record, Stamped};
use oversleep_why::event::Name;
use oversleep_why::wakes::{Cause, Tally, Woken};

/// The state `Waiting` of a thread that leaves its CPU, and those of one that was made ready while it left.
const ASLEEP: [i8; 4] = [5, 2, 3, 7];
/// `DelayExecution` and `WrDelayExecution`.
const SLEEPS: [i8; 2] = [4, 11];
/// The number that stands for them, and their name.
const SLEEP: (u64, &str) = (1, "Sleep");
/// From `WrQuantumEnd` to `WrYieldExecution`: the thread lost its CPU and waits for nothing else.
const LOST_CPU: std::ops::RangeInclusive<i8> = 30..=33;
/// The most threads that are kept.
const KEPT_MAX: usize = 65_536;

#[derive(Debug, Default)]
struct Thread {
    process: Option<u32>,
    name: Name,
    /// It sleeps, and this will have woken it.
    asleep: Option<Cause>,
}

/// The threads of a trace.
#[derive(Debug, Default)]
pub struct Sleepers {
    threads: HashMap<u32, Thread, RandomState>,
    tally: Tally,
}

impl Sleepers {
    pub fn see(&mut self, stamped: &Stamped) {
        let Stamped { t, record, .. } = *stamped;
        match record {
            Record::Thread { process, thread } => self.of(thread).process = Some(process),
            Record::ThreadName { process, thread, name } => {
                let of = self.of(thread);
                (of.process, of.name) = (Some(process), name);
            }
            Record::ThreadEnd { thread } => drop(self.threads.remove(&thread)),
            Record::Switch { new, old, old_state, old_wait_reason, .. } => {
                self.tally.saw(t);
                let cause = if SLEEPS.contains(&old_wait_reason) { Cause::Timer(SLEEP.0) } else { Cause::Unseen };
                let sleeps = ASLEEP.contains(&old_state) && !LOST_CPU.contains(&old_wait_reason);
                self.of(old).asleep = sleeps.then_some(cause);
                let of = self.of(new);
                let cause = of.asleep.take();
                let woken =
                    Woken { tid: new, tgid: of.process.unwrap_or(new), thread: of.name, program: Name::default() };
                if new != 0 && old == 0 {
                    self.tally.ended_idle(woken, cause.unwrap_or(Cause::Unseen));
                }
                if let Some(cause) = cause.filter(|_| new != 0) {
                    self.tally.woke(t, woken, cause);
                }
            }
            Record::Lost { until, .. } => {
                self.tally.gap(t, until);
                self.threads.values_mut().for_each(|thread| thread.asleep = None);
            }
            _ => {}
        }
    }

    fn of(&mut self, thread: u32) -> &mut Thread {
        if self.threads.len() >= KEPT_MAX && !self.threads.contains_key(&thread) {
            self.threads.clear();
        }
        self.threads.entry(thread).or_default()
    }

    pub fn finish(self, program: impl Fn(u32) -> Option<String>) -> Wakes {
        self.tally.finish(|function| (function == SLEEP.0).then(|| SLEEP.1.to_owned()), program)
    }
}
