//! When the calling thread got its CPU back, without privileges.
//!
//! A dummy software event records this thread's context switches with CLOCK_MONOTONIC timestamps, and `schedstat`
//! counts how long the thread was runnable and waited. Only a wait with exactly one switch-in is split; with several,
//! the delays can't be attributed.

#[cfg(target_arch = "x86_64")]
mod counter_rate;
mod ring;
mod schedstat;

use std::marker::PhantomData;

use oversleep_record::{Nanos, Unavailable};

#[cfg(target_arch = "x86_64")]
pub use counter_rate::kernel_counter_hz;

/// Other architectures state the rate of their counter.
#[cfg(not(target_arch = "x86_64"))]
pub fn kernel_counter_hz() -> Option<u64> {
    None
}

use oversleep_system::{Splitter, SwitchIn};

pub use ring::{Switch, SwitchKind, SwitchRing};
pub use schedstat::{ThreadStat, ThreadStatFile};

/// Records the switches of the thread that opened it.
pub struct SwitchWatch {
    ring: SwitchRing,
    stat: ThreadStatFile,
    armed: Option<ThreadStat>,
    _thread: PhantomData<*const ()>,
}

impl SwitchWatch {
    /// Starts recording the calling thread's switches.
    ///
    /// # Errors
    /// The reason if its switches aren't readable here.
    pub fn open() -> Result<SwitchWatch, Unavailable> {
        let stat = ThreadStatFile::open()?;
        stat.read()?;
        Ok(SwitchWatch { ring: SwitchRing::open()?, stat, armed: None, _thread: PhantomData })
    }
}

impl Splitter for SwitchWatch {
    fn arm(&mut self) {
        self.armed = self.stat.read().ok();
        // Last, so that a preemption during the read doesn't count.
        self.ring.forget();
    }

    fn last_switch_in(&mut self) -> Option<SwitchIn> {
        let switches = self.ring.take();
        let before = self.armed.take()?;
        let after = self.stat.read().ok()?;
        decide(&switches, before, after)
    }

    fn method(&self) -> &'static str {
        "perf context-switch records and /proc/thread-self/schedstat"
    }
}

/// The switch-ins of one window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Switches {
    count: u64,
    last_at: Nanos,
    lost: bool,
}

fn decide(switches: &Switches, before: ThreadStat, after: ThreadStat) -> Option<SwitchIn> {
    // If the kernel's own count disagrees, the thread was preempted between the reads and nothing is certain.
    let counted = after.switch_ins.checked_sub(before.switch_ins)?;
    if switches.lost || switches.count != 1 || counted != 1 {
        return None;
    }
    let run_queue_delay = after.run_delay - before.run_delay;
    (run_queue_delay >= Nanos::ZERO).then_some(SwitchIn { at: switches.last_at, run_queue_delay })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::linux::os;

    fn stat(run_delay: i64, switch_ins: u64) -> ThreadStat {
        ThreadStat { run_delay: Nanos(run_delay), switch_ins }
    }

    #[test]
    fn only_one_certain_switch_in_is_reported() {
        let switches = |count, lost| Switches { count, last_at: Nanos(500), lost };
        let once = Some(SwitchIn { at: Nanos(500), run_queue_delay: Nanos(30) });
        assert_eq!(decide(&switches(1, false), stat(100, 7), stat(130, 8)), once);
        assert_eq!(decide(&switches(0, false), stat(100, 7), stat(100, 7)), None, "never switched out");
        assert_eq!(decide(&switches(1, true), stat(100, 7), stat(130, 8)), None, "an event was lost");
        assert_eq!(decide(&switches(2, false), stat(100, 7), stat(130, 9)), None, "which delay was the last?");
        assert_eq!(decide(&switches(1, false), stat(100, 7), stat(130, 9)), None, "the counts disagree");
        assert_eq!(decide(&switches(1, false), stat(100, 7), stat(90, 8)), None, "a delay can't shrink");
    }

    #[test]
    fn a_switch_in_is_between_the_start_and_the_end_of_a_sleep() {
        std::thread::spawn(|| {
            let mut watch = match SwitchWatch::open() {
                Ok(watch) => watch,
                Err(why) => return oversleep_testing::skip(why),
            };
            let mut attributed = 0;
            // On a busy machine a thread may be switched more than once in many a sleep, which isn't attributed.
            while attributed < 5 {
                watch.arm();
                let before = os::monotonic_now();
                std::thread::sleep(Duration::from_micros(200));
                let after = os::monotonic_now();
                if let Some(switch) = watch.last_switch_in() {
                    attributed += 1;
                    assert!(before < switch.at && switch.at < after, "{before:?} {switch:?} {after:?}");
                    assert!(switch.run_queue_delay < after - before, "{switch:?}");
                }
            }
        })
        .join()
        .expect("no panic");
    }
}
