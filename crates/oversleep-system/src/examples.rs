//! Names for the examples in the help: what a user of a system would type, from the descriptions.

use oversleep_record::clock::Counts;

use crate::clock::ClockUnit;
use crate::{Family, clocks, handoffs, tunables, waits};

/// Names and settings to fill examples with.
#[derive(Clone, Copy, Debug)]
pub struct Examples {
    /// The simplest sleep, and the simplest timer.
    pub waits: [&'static str; 2],
    /// The reference clock, and a counter.
    pub clocks: [&'static str; 2],
    /// Two ways of waking a thread.
    pub handoffs: [&'static str; 2],
    /// The tunable that makes waits end closer to their time, and a setting of it.
    pub finer: (&'static str, &'static str),
    /// A policy under which a thread runs first.
    pub policy: &'static str,
}

/// Those of a system with its own catalogue, on this architecture; `None` if it lacks one of them.
pub fn of(os: &str, architecture: &str) -> Option<Examples> {
    let wait = |family| waits::simplest(waits::of(os), family).map(|info| info.name);
    let reference = clocks::reference(os);
    let counter = clocks::of(os).iter().find(|info| {
        info.unit == ClockUnit::Ticks
            && info.counts == Counts::ElapsedTime
            && info.is_on(architecture)
            && info.name != reference
    });
    let policy = tunables::of(os).iter().find(|info| info.name == "policy")?;
    // A span can be typed as an option everywhere, words such as tiers can't.
    let resolution = tunables::of(os).iter().find(|info| info.sets_resolution && !info.compared.is_empty());
    let finer = resolution.unwrap_or(policy);
    let [one, other, ..] = handoffs::of(os) else { return None };
    Some(Examples {
        waits: [wait(Family::Sleep)?, wait(Family::Timer)?],
        clocks: [reference, counter?.name],
        handoffs: [one.name, other.name],
        finer: (finer.name, finer.example),
        policy: policy.example,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own() {
        let names = |os: &str, architecture: &str| {
            let Examples { waits, clocks, handoffs, finer, policy } = of(os, architecture).expect("a catalogue");
            assert_eq!(waits.len() + handoffs.len(), 4);
            (waits[0], clocks, finer, policy)
        };
        assert_eq!(names("linux", "aarch64"), ("nanosleep", ["monotonic", "cntvct"], ("slack", "1ns"), "fifo:80"));
        let windows = ("sleep", ["qpc", "tsc"], ("resolution", "1ms"), "time-critical");
        assert_eq!(names("windows", "x86_64"), windows);
        let real_time = "time-constraint";
        let macos = ("nanosleep", ["uptime-raw", "mach-absolute"], ("policy", real_time), real_time);
        assert_eq!(names("macos", "aarch64"), macos);
        assert!(of("plan9", "x86_64").is_none());
    }
}
