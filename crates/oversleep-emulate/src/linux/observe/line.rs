//! A call as the switches of its thread show it. Pure.

use oversleep_native::switches::{Switch, SwitchKind, ThreadStat};
use oversleep_record::Nanos;

/// The thread's time line from the switch into its call to the stop at the end of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub entered: Nanos,
    /// When it left its CPU to sleep, and when it got one again.
    pub slept: Option<(Nanos, Nanos)>,
    /// How often it slept.
    sleeps: u32,
    /// When it left its CPU while it was runnable, and when it got one again.
    pub preempted: Vec<(Nanos, Nanos)>,
    pub stopped: Nanos,
}

impl Line {
    /// `None` if a switch is missing.
    pub fn through(switches: &[Switch]) -> Option<Line> {
        let (first, rest) = switches.split_first()?;
        let (last, rest) = rest.split_last()?;
        if first.kind != SwitchKind::In || last.kind == SwitchKind::In {
            return None;
        }
        let mut line = Line { entered: first.at, slept: None, sleeps: 0, preempted: Vec::new(), stopped: last.at };
        for pair in rest.chunks(2) {
            let [out, back] = pair else { return None };
            match (out.kind, back.kind) {
                (SwitchKind::Out, SwitchKind::In) => {
                    line.slept = Some((out.at, back.at));
                    line.sleeps += 1;
                }
                (SwitchKind::Preempted, SwitchKind::In) => line.preempted.push((out.at, back.at)),
                _ => return None,
            }
        }
        Some(line)
    }

    fn switch_ins(&self) -> u64 {
        1 + u64::from(self.sleeps) + self.preempted.len() as u64
    }

    /// When the sleeping thread was put into a run queue, at the latest: the kernel counts the total time in the run queue
    /// since `let_go`, and the other times in it are known. `None` if these counts don't tell.
    pub fn woken(&self, let_go: Nanos, before: Option<ThreadStat>, after: Option<ThreadStat>) -> Option<Nanos> {
        let (before, after) = (before?, after?);
        let (out, back) = self.slept.filter(|_| self.sleeps == 1)?;
        if after.switch_ins.checked_sub(before.switch_ins) != Some(self.switch_ins()) {
            return None;
        }
        let preempted = self.preempted.iter().fold(Nanos::ZERO, |sum, (from, to)| sum + (*to - *from));
        let queued = after.run_delay - before.run_delay - preempted - (self.entered - let_go);
        Some((back - queued.max(Nanos::ZERO)).max(out))
    }
}
