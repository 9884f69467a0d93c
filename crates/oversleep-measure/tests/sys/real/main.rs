//! Disturbances that only a real machine has: a CPU quota, and a stop. In real time, so run these tests separately:
//! `cargo test -p oversleep-measure --test real -- --ignored --test-threads=1`.
#![cfg(target_os = "linux")]

use std::process::Command;
use std::{fs, io};

use oversleep_measure::{
    Amount, Bench, Depth, Measured, Plan, Probe, Silent, StopFlag, WaitProbe, experiment, measure,
};
use oversleep_record::distinct_rounds;
use oversleep_record::{Disturbance, ExperimentId, Nanos};
use oversleep_system::SharedPlatform;
use oversleep_testing::skip;

fn run(platform: &SharedPlatform, probes: Vec<Box<dyn Probe>>) -> Measured {
    let bench = Bench::new(SharedPlatform::clone(platform), StopFlag::new(), None).expect("a clock");
    let mut measured = Measured::default();
    measure(&bench, probes, None, &mut Silent, &mut measured);
    measured
}

fn meanwhile(measured: &Measured) -> Disturbance {
    distinct_rounds(&measured.series).iter().fold(Disturbance::default(), |sum, round| sum.merged(&round.disturbance))
}

/// Puts this process into its own control group with a fifth of a CPU. It leaves the group on drop.
struct Quota(&'static str);

impl Quota {
    fn set() -> io::Result<Quota> {
        let (root, limits): (&str, &[(&str, &str)]) = if fs::metadata("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").is_ok() {
            ("/sys/fs/cgroup/cpu", &[("cpu.cfs_period_us", "50000"), ("cpu.cfs_quota_us", "10000")])
        } else {
            ("/sys/fs/cgroup", &[("cpu.max", "10000 50000")])
        };
        fs::create_dir_all(format!("{root}/oversleep-test"))?;
        let quota = Quota(root);
        for (name, value) in limits {
            fs::write(format!("{root}/oversleep-test/{name}"), value)?;
        }
        fs::write(format!("{root}/oversleep-test/cgroup.procs"), std::process::id().to_string())?;
        Ok(quota)
    }

    /// Throttled periods and time so far, as the kernel counts them.
    fn throttled(&self) -> (u64, Nanos) {
        let text = fs::read_to_string(format!("{}/oversleep-test/cpu.stat", self.0)).expect("it is there");
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.trim().parse::<i64>().ok())
        };
        let time = value("throttled_time").map(Nanos).or(value("throttled_usec").map(Nanos::from_micros));
        (value("nr_throttled").expect("a count").unsigned_abs(), time.expect("a time"))
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = fs::write(format!("{}/cgroup.procs", self.0), std::process::id().to_string());
        let _ = fs::remove_dir(format!("{}/oversleep-test", self.0));
    }
}

#[test]
#[ignore = "needs root, and takes some seconds of real time"]
fn throttling_is_what_the_kernel_counted() {
    let quota = match Quota::set() {
        Ok(quota) => quota,
        Err(why) => return skip(format!("no control group can be made: {why}")),
    };
    let platform = oversleep_native::here();
    let before = quota.throttled();
    // Two series per round, and more work than the quota allows.
    let plan = Plan { depth: Depth::Quick, ..Plan::default() };
    let probes =
        [ExperimentId::B1, ExperimentId::D1].map(|id| (experiment(id).expect("it is there").probes)(&*platform, &plan));
    let measured = run(&platform, probes.into_iter().flatten().collect());
    let after = quota.throttled();
    let (periods, time) = (after.0 - before.0, after.1 - before.1);
    drop(quota);
    let seen = meanwhile(&measured);
    println!(
        "the kernel: {periods} periods, {time}; the rounds: {:?}, {:?}",
        seen.throttled_periods, seen.throttled_ns
    );
    assert!(periods > 3, "the work was to exceed the quota");
    assert!(seen.throttled_periods <= Some(periods) && seen.throttled_periods > Some(0));
    assert!(seen.throttled_ns <= Some(time) && seen.throttled_ns > Some(Nanos::ZERO));
}

#[test]
#[ignore = "stops this process for half a second of real time"]
fn a_stop_is_seen_in_its_round() {
    let platform = oversleep_native::here();
    let amount = Amount { count: 200, time: Nanos::MAX, rounds: 2 };
    let probe = WaitProbe::new(&*platform, ExperimentId::B5, "nanosleep", Nanos::from_millis(10), amount);
    let script = format!("sleep 0.5; kill -STOP {0}; sleep 0.5; kill -CONT {0}", std::process::id());
    let mut stops = Command::new("sh").args(["-c", &script]).spawn().expect("a shell");
    let measured = run(&platform, vec![probe.boxed()]);
    assert!(stops.wait().expect("it ends").success());
    let stalled: Vec<Option<Nanos>> =
        measured.series[0].rounds.iter().map(|round| round.disturbance.stalled_ns).collect();
    println!("{stalled:?}");
    let [Some(stopped), Some(other)] = stalled[..] else { return skip("no schedstat") };
    assert!(stopped >= Nanos::from_millis(300), "{stalled:?}");
    assert!(other < stopped, "{stalled:?}");
}
