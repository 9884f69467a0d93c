//! Timers: slack, tick rate, resolution.

use oversleep_record::environment::FactValue;
use oversleep_record::{Nanos, Unavailable};

use super::{Answer, Entry};
use crate::linux::os;
use crate::linux::tunables::policy;
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    TimerSlack: "prctl(PR_GET_TIMERSLACK)" => |_| match os::timer_slack() {
        Ok(slack) => Ok(FactValue::Nanos(slack)),
        Err(error) => Err(Unavailable::failed("prctl(PR_GET_TIMERSLACK)", error)),
    },
    TimerDefaultSlack: "prctl(PR_SET_TIMERSLACK, 0), undone" => |_| match default_slack() {
        Ok(slack) => Ok(FactValue::Nanos(slack)),
        Err(error) => Err(Unavailable::failed("prctl(PR_SET_TIMERSLACK)", error)),
    },
    TimerRealTimeSlack: "prctl(PR_GET_TIMERSLACK) on a thread of its own, under SCHED_FIFO" => |_| real_time_slack(),
    TimerHz: "clock_getres(CLOCK_MONOTONIC_COARSE), else the kernel's configuration" =>
        |machine| hz(os::clock_step(libc::CLOCK_MONOTONIC_COARSE), || machine.configuration()),
    // The kernel states the resolution of its timers here, not of the clock: 1 ns or one tick.
    TimerHighResolution: "clock_getres(CLOCK_MONOTONIC)" =>
        |_| os::clock_step(libc::CLOCK_MONOTONIC).map(|step| FactValue::Flag(step == Nanos(1))),
    TimerCoarseStep: "clock_getres(CLOCK_MONOTONIC_COARSE)" =>
        |_| os::clock_step(libc::CLOCK_MONOTONIC_COARSE).map(FactValue::Nanos),
};

fn real_time_slack() -> Answer {
    let slack = || policy::try_real_time().and_then(|()| os::timer_slack());
    let thread = std::thread::Builder::new().name("try".to_owned()).spawn(slack);
    let thread = thread.map_err(|error| Unavailable::failed("pthread_create", error))?;
    let slack = thread.join().map_err(|_| Unavailable::failed("trying a real-time policy", "the thread panicked"))?;
    let refused = |error| os::refused("sched_setattr(SCHED_FIFO)", &error, policy::ALLOW_REAL_TIME);
    slack.map(FactValue::Nanos).map_err(refused)
}

fn default_slack() -> std::io::Result<Nanos> {
    let was = os::timer_slack()?;
    os::set_timer_slack(Nanos::ZERO)?;
    let default = os::timer_slack();
    os::set_timer_slack(was)?;
    default
}

/// The coarse clock steps by one tick, so its step shows the rate. If a sandbox's kernel states no such step, its
/// configuration is used.
fn hz<'a>(step: Result<Nanos, Unavailable>, configuration: impl FnOnce() -> Result<&'a str, Unavailable>) -> Answer {
    let by_step = step.ok().filter(|step| step.0 > 0).map(|step| (1e9 / step.0 as f64).round() as i64);
    if let Some(hz) = by_step.filter(|hz| (24..=10_000).contains(hz)) {
        return Ok(FactValue::Integer(hz));
    }
    let option = |line: &str| line.strip_prefix("CONFIG_HZ=")?.trim().parse().ok();
    let hz = configuration()?.lines().find_map(option);
    hz.map(FactValue::Integer).ok_or_else(|| Unavailable::missing("CONFIG_HZ"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_rate_comes_from_the_coarse_step_or_the_configuration() {
        let no_file = || Err(Unavailable::missing("configuration"));
        for (step, rate) in [(10_000_000, 100), (4_000_000, 250), (3_333_333, 300), (1_000_000, 1000), (999_848, 1000)]
        {
            assert_eq!(hz(Ok(Nanos(step)), no_file), Ok(FactValue::Integer(rate)));
        }
        let configuration = || Ok("CONFIG_HZ_250=y\nCONFIG_HZ=250\n");
        assert_eq!(hz(Ok(Nanos(1)), configuration), Ok(FactValue::Integer(250)));
        assert_eq!(hz(Err(Unavailable::NotMeasured), no_file), Err(Unavailable::missing("configuration")));
    }

    #[test]
    fn reading_the_default_slack_changes_nothing() {
        std::thread::spawn(|| {
            if let Err(why) = os::set_timer_slack(Nanos(77_000)) {
                return oversleep_testing::skip(why);
            }
            let found = os::timer_slack().expect("was set");
            let default = default_slack().expect("was set");
            assert_eq!(os::timer_slack().expect("was set"), found);
            assert!(found == Nanos::ZERO || default != found, "{default}");
        })
        .join()
        .expect("no panic");
    }
}
