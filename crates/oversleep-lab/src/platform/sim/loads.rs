//! Modelled loads: threads that compete for the CPUs, of the kinds real machines have. What a load does to caches and to
//! the memory bus is not modelled, and a load that is about nothing else is refused with that reason.

use std::sync::Arc;

use oversleep_record::{Nanos, Unavailable};

use super::kernel::{Hog, Kernel, Waking};
use super::machine::Machine;
use crate::platform::interface::{Load, LoadInfo, LoadKind, SlackRule};

/// As many as real machines start at most.
const MOST_HOGS: u32 = crate::platform::hogs::MOST_HOGS;

struct SimLoad {
    info: LoadInfo,
    hog: Result<Hog, Unavailable>,
    kernel: Arc<Kernel>,
}

struct Hogs {
    slots: Vec<usize>,
    kernel: Arc<Kernel>,
}

impl Load for Hogs {}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.kernel.remove_hogs(&self.slots);
    }
}

impl LoadKind for SimLoad {
    fn info(&self) -> &LoadInfo {
        &self.info
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        if !(1..=MOST_HOGS).contains(&hogs) {
            return Err(Unavailable::Nonsense { what: format!("{hogs} hogs; give 1 to {MOST_HOGS}") });
        }
        let hog = self.hog.as_ref().map_err(Unavailable::clone)?;
        Ok(Box::new(Hogs { slots: self.kernel.add_hogs(hogs, hog), kernel: Arc::clone(&self.kernel) }))
    }
}

/// The timers by which the `timers` load of a system lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerLoad {
    /// Registry name of the wait it resembles: where a machine hasn't got that one, it is served by the tick.
    pub wait: &'static str,
    /// From one timer to the next.
    pub span: Nanos,
    /// Whether the timer counts on by itself.
    pub is_periodic: bool,
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn LoadKind>> {
    let load = |name, doc, hog| -> Box<dyn LoadKind> {
        Box::new(SimLoad { info: LoadInfo { name, doc }, hog, kernel: Arc::clone(kernel) })
    };
    let no_caches = Unavailable::failed("modelling memory hogs", "caches and the memory bus are not modelled");
    vec![
        load(
            "spin",
            "Modelled threads that never sleep: each takes a whole CPU while the scheduler lets it.",
            Ok(Hog::Spins),
        ),
        load("memory", "Not modelled: what it does to caches and to the memory bus.", Err(no_caches)),
        load(
            "syscalls",
            "Modelled threads that never sleep. The kernels modelled can be preempted, so one that is in a system call \
             gives way as one that computes.",
            Ok(Hog::Spins),
        ),
        load(
            "timers",
            "Modelled threads that live by timers, by the rules of their system: little CPU time, but many interrupts \
             and switches.",
            Ok(Hog::Wakes(waking(machine))),
        ),
    ]
}

fn waking(machine: &Machine) -> Waking {
    let load = machine.timer_load;
    let wait = machine.waits.iter().find(|wait| wait.info.name == load.wait && wait.unavailable.is_none());
    Waking {
        rule: wait.map_or(SlackRule::TimerResolution, |wait| wait.info.slack),
        span: load.span,
        is_periodic: load.is_periodic,
        work: machine.timer_load_work_ns,
        wake: machine.wake.cost.clone(),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Setting;

    use super::*;
    use crate::machines::{names, platform};
    use crate::platform::{SharedPlatform, Target};

    fn on(name: &str, overrides: &[&str]) -> SharedPlatform {
        let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
        platform(name, &overrides, 1).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What 400 waits of a millisecond took, smallest first.
    fn waits(platform: &SharedPlatform, wait: &str) -> Vec<Nanos> {
        let mut waiter = platform.wait(wait).unwrap().open(platform).unwrap();
        let span = Nanos::from_millis(1);
        let mut took: Vec<Nanos> = (0..400)
            .map(|_| {
                let start = platform.now();
                waiter.wait(Target { remaining: span, deadline: start + span });
                platform.now() - start
            })
            .collect();
        took.sort_unstable();
        took
    }

    #[test]
    fn every_system_has_the_kinds_of_the_real_ones_and_those_not_modelled_say_why() {
        let native: Vec<&str> = crate::platform::native().loads().iter().map(|load| load.info().name).collect();
        for name in names() {
            let platform = on(name, &[]);
            let modelled: Vec<&str> = platform.loads().iter().map(|load| load.info().name).collect();
            assert!(native.is_empty() || modelled == native, "{name}: {modelled:?}, not {native:?}");
            for load in platform.loads() {
                assert!(load.start(0).is_err() && load.start(MOST_HOGS + 1).is_err(), "{name} {}", load.info().name);
                match (load.info().name, load.start(3)) {
                    ("memory", started) => {
                        let why = started.err().expect("not modelled").to_string();
                        assert!(why.contains("caches and the memory bus are not modelled"), "{why}");
                    }
                    (kind, started) => assert!(started.is_ok(), "{name} {kind}"),
                }
            }
        }
    }

    #[test]
    fn timers_of_others_end_a_wait_within_its_slack_and_take_little_of_a_cpu() {
        let linux = on("linux-hz250", &["cpus.count=1", "wake.idle-exits="]);
        let late = |took: Vec<Nanos>| (took[40] - Nanos::from_millis(1), took[360] - Nanos::from_millis(1));
        let (least, most) = late(waits(&linux, "nanosleep"));
        assert!(least >= Nanos(60_000) && most <= Nanos(80_000), "alone at the end of its slack: {least} to {most}");
        let load = linux.load("timers").unwrap().start(1).unwrap();
        // A timer every 100 us, so in half of the cases one comes within the slack of 50 us.
        let (least, most) = late(waits(&linux, "nanosleep"));
        assert!(least < Nanos(35_000) && most >= Nanos(60_000), "beside timers: {least} to {most}");
        let before = linux.now();
        linux.work(100_000);
        let taken = linux.now() - before - Nanos::from_millis(100);
        assert!((Nanos(6_500_000)..Nanos(9_500_000)).contains(&taken), "8 us of each 100: {taken} of 100 ms");
        drop(load);
        let before = linux.now();
        linux.work(10_000);
        assert!(linux.now() - before < Nanos(10_001_000), "and nothing when it has stopped");
    }

    #[test]
    fn where_a_timer_of_its_own_is_missing_the_load_lives_by_the_tick() {
        let wake_ups = |name: &str| {
            let platform = on(name, &["cpus.count=1"]);
            // Below the hog, which otherwise waits for the end of a slice.
            let lowest = Setting::Policy { policy: "lowest".to_owned(), priority: 0 };
            let (_, _held) = platform.tunable("policy").unwrap().apply(&lowest);
            let load = platform.load("timers").unwrap().start(1).unwrap();
            let before = platform.now();
            platform.work(1_000_000);
            let taken = platform.now() - before - Nanos::from_secs(1);
            drop(load);
            taken.0 / 10_000
        };
        let (seven, ten) = (wake_ups("windows-7"), wake_ups("windows-10-2004"));
        assert!((50..80).contains(&seven), "64 ticks a second, not {seven}");
        assert!((900..1_100).contains(&ten), "every second step of 0.5 ms, for it works a little past each: {ten}");
    }

    #[test]
    fn a_load_that_computes_shares_the_cpu() {
        for kind in ["spin", "syscalls"] {
            let linux = on("linux-hz250", &["cpus.count=1"]);
            let load = linux.load(kind).unwrap().start(1).unwrap();
            let before = linux.now();
            linux.work(100_000);
            let took = (linux.now() - before).0 / 1_000_000;
            assert!((190..=210).contains(&took), "{kind}: {took} ms for 100 ms of work");
            drop(load);
        }
    }
}
