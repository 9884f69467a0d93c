//! The library's own waits on a modelled machine: its algorithm as it is, on the machine's waits, clock and settings. Real
//! machines have their own among their waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use oversleep::algorithm::{Machine, Parking, Sleeping};
use oversleep_record::clock::Counts;
use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::tunables::names::SLACK;
use oversleep_system::waits::{ASYNC_SLEEP, PACER, PARK_UNTIL, SLEEP_UNTIL};
use oversleep_system::{
    Handoff, Platform, Restore, SharedPlatform, Target, ThreadHandle, Wait, WaitEnd, WaitInfo, Waiter,
};

/// The waits of the library on that platform: none on a real one.
pub fn library_waits(platform: &dyn Platform) -> &'static [Box<dyn Wait>] {
    static ALL: LazyLock<Vec<Box<dyn Wait>>> = LazyLock::new(|| {
        let wait = |(kind, info): (Kind, WaitInfo)| -> Box<dyn Wait> { Box::new(LibraryWait { kind, info }) };
        let all =
            [(Kind::Sleep, SLEEP_UNTIL), (Kind::Pacer, PACER), (Kind::Park, PARK_UNTIL), (Kind::Async, ASYNC_SLEEP)];
        all.map(wait).into()
    });
    if platform.id().modelled.is_some() { &ALL } else { &[] }
}

/// The system's wait beneath a wait of the library on that platform; none beneath other waits.
pub fn beneath_library<'a>(platform: &'a SharedPlatform, name: &str) -> Option<&'a dyn Wait> {
    library_waits(&**platform).iter().find(|wait| wait.info().name == name)?;
    let candidates: &[&str] = match (&*platform.id().os, [PARK_UNTIL.name, ASYNC_SLEEP.name].contains(&name)) {
        ("linux", false) => &["clock-nanosleep-abs"],
        ("linux", true) => &["futex"],
        ("windows", false) => &["waitable-timer-high-resolution", "sleep"],
        ("windows", true) => &["waitable-timer-high-resolution", "waitable-timer"],
        ("macos", false) => &["mach-wait-until"],
        ("macos", true) => &["cond-timedwait-relative"],
        _ => &[],
    };
    candidates.iter().filter_map(|name| platform.wait(name)).find(|wait| wait.open(platform).is_ok())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sleep,
    Pacer,
    Park,
    Async,
}

struct LibraryWait {
    kind: Kind,
    info: WaitInfo,
}

impl Wait for LibraryWait {
    fn info(&self) -> &WaitInfo {
        &self.info
    }

    fn open(&self, platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        let beneath = beneath_library(platform, self.info.name).ok_or(Unavailable::NotOnThisPlatform)?;
        let mut clocks = platform.clocks().iter().map(|clock| clock.info());
        let cpu = clocks.find(|info| info.counts == Counts::ThreadCpuTime).map(|info| info.name);
        // What the library sets for its waits, where it can.
        let finer = match (&*platform.id().os, self.kind) {
            ("linux", _) => Some((SLACK, Setting::Nanos(Nanos(1)))),
            ("macos", Kind::Park | Kind::Async) => {
                Some(("latency", Setting::Policy { policy: "tier-0".to_owned(), priority: 0 }))
            }
            _ => None,
        };
        if self.kind == Kind::Async {
            return Ok(Box::new(AsyncWaiter::start(platform, beneath.info().name, cpu, finer)?));
        }
        let thread = Thread { platform: Arc::clone(platform), wait: beneath.open(platform)?, cpu, finer, held: None };
        Ok(match self.kind {
            Kind::Sleep => Box::new(SleepWaiter { learned: Sleeping::new(), thread }),
            Kind::Pacer => Box::new(PacerWaiter { learned: Sleeping::new(), thread, last: None }),
            Kind::Park | Kind::Async => Box::new(ParkWaiter { learned: Parking::new(), thread }),
        })
    }
}

/// The thread that waits, and its machine.
struct Thread {
    platform: SharedPlatform,
    wait: Box<dyn Waiter>,
    /// The clock of its CPU time.
    cpu: Option<&'static str>,
    finer: Option<(&'static str, Setting)>,
    held: Option<Box<dyn Restore>>,
}

fn ns(time: Nanos) -> u64 {
    u64::try_from(time.0).unwrap_or(0)
}

impl Machine for Thread {
    fn now_ns(&mut self) -> u64 {
        ns(self.platform.now())
    }

    fn system_ns(&mut self) -> u64 {
        ns(self.platform.now())
    }

    fn cpu_ns(&mut self) -> Option<u64> {
        let clock = self.platform.clock(self.cpu?)?;
        let ns = i128::from(clock.read()) * 1_000_000_000 / i128::from(clock.stated_frequency_hz()?.max(1));
        u64::try_from(ns).ok()
    }

    fn wait_until(&mut self, until_ns: u64) -> u64 {
        loop {
            let now_ns = self.now_ns();
            if now_ns >= until_ns {
                return now_ns;
            }
            let nanos = |ns: u64| Nanos(i64::try_from(ns).unwrap_or(i64::MAX));
            self.wait.wait(Target { remaining: nanos(until_ns - now_ns), deadline: nanos(until_ns) });
        }
    }

    fn begin_waits(&mut self, _wants_slice: bool) -> u64 {
        let Some((name, setting)) = &self.finer else { return 0 };
        let Some(tunable) = self.platform.tunable(name) else { return 0 };
        let was = tunable.current();
        self.held = tunable.apply(setting).1;
        match was {
            Ok(Setting::Nanos(was)) => ns(was),
            _ => 0,
        }
    }

    fn end_waits(&mut self) {
        self.held = None;
    }

    fn relax(&mut self) {
        self.platform.relax();
    }
}

struct SleepWaiter {
    learned: Sleeping,
    thread: Thread,
}

impl Waiter for SleepWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        self.learned.sleep_until(&mut self.thread, ns(target.deadline));
        WaitEnd::TimedOut
    }
}

struct PacerWaiter {
    learned: Sleeping,
    thread: Thread,
    /// The last beat and the period.
    last: Option<(Nanos, Nanos)>,
}

impl Waiter for PacerWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let (now, period) = (self.thread.platform.now(), target.remaining);
        // A caller with a schedule of its own has the same grid.
        let beat = match self.last {
            Some((last, was)) if was == period => last + period * ((now - last).0 / period.0.max(1)).max(1),
            _ => target.deadline,
        };
        self.last = Some((beat, period));
        if beat > now {
            self.learned.sleep_until(&mut self.thread, ns(beat));
        }
        WaitEnd::TimedOut
    }
}

struct ParkWaiter {
    learned: Parking,
    thread: Thread,
}

impl Waiter for ParkWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        self.learned.park_until(&mut self.thread, ns(target.deadline));
        WaitEnd::TimedOut
    }
}

/// A task of async code: the thread of its executor, and the one that waits for deadlines.
struct AsyncWaiter {
    timer: Arc<Timer>,
    _thread: Box<dyn ThreadHandle>,
}

/// What the two threads share.
struct Timer {
    /// In nanoseconds; 0 ends the thread.
    deadline_ns: AtomicU64,
    armed: Arc<dyn Handoff>,
    over: Arc<dyn Handoff>,
}

impl AsyncWaiter {
    fn start(
        platform: &SharedPlatform,
        wait: &'static str,
        cpu: Option<&'static str>,
        finer: Option<(&'static str, Setting)>,
    ) -> Result<AsyncWaiter, Unavailable> {
        let kind = platform.handoffs().first().ok_or(Unavailable::NotOnThisPlatform)?;
        let timer = Arc::new(Timer { deadline_ns: AtomicU64::new(0), armed: kind.open()?, over: kind.open()? });
        let (its, there) = (Arc::clone(&timer), Arc::clone(platform));
        let run = move || {
            let Some(Ok(wait)) = there.wait(wait).map(|wait| wait.open(&there)) else { return };
            let (mut learned, mut thread) = (Parking::new(), Thread { platform: there, wait, cpu, finer, held: None });
            loop {
                its.armed.wait();
                match its.deadline_ns.load(Ordering::Acquire) {
                    0 => return,
                    deadline_ns => learned.park_until(&mut thread, deadline_ns),
                };
                its.over.post();
            }
        };
        Ok(AsyncWaiter { _thread: platform.spawn("oversleep-timer", Box::new(run))?, timer })
    }
}

impl Waiter for AsyncWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        self.timer.deadline_ns.store(ns(target.deadline).max(1), Ordering::Release);
        self.timer.armed.post();
        self.timer.over.wait();
        WaitEnd::TimedOut
    }
}

impl Drop for AsyncWaiter {
    fn drop(&mut self) {
        // Nobody waits for its end: a model that ends may be unwinding this thread.
        self.timer.deadline_ns.store(0, Ordering::Release);
        self.timer.armed.post();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The task is late by what wakes its thread, and never early.
    #[test]
    fn a_task_is_late_by_a_wake_up_where_the_executor_s_own_timer_waits_for_a_tick() {
        for machine in oversleep_model::names() {
            let platform: SharedPlatform = oversleep_model::platform(machine, &[], 1).expect("a machine");
            let wait =
                library_waits(&*platform).iter().find(|wait| wait.info().name == ASYNC_SLEEP.name).expect("it is one");
            let there = Arc::clone(&platform);
            let body = move || {
                let mut waiter = wait.open(&there).expect("a wait beneath it");
                let late = |_| {
                    let deadline = there.now() + Nanos::from_millis(1);
                    waiter.wait(Target { remaining: Nanos::from_millis(1), deadline });
                    there.now() - deadline
                };
                let mut late: Vec<Nanos> = (0..20).map(late).collect();
                late.sort_unstable();
                assert!(late[0] >= Nanos::ZERO, "{machine}: {late:?}");
                // Elsewhere, the wait beneath it has a tick, or a machine that runs others besides.
                let is_exact = ["linux-hz250", "windows-11", "windows-10-1909", "macos-14-m1"].contains(&machine);
                assert!(!is_exact || late[10] < Nanos::from_micros(300), "{machine}: {late:?}");
            };
            platform.spawn("executor", Box::new(body)).expect("a thread").join();
        }
    }
}
