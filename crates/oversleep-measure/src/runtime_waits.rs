//! The requests for the waits of language runtimes, whether real programs or a model measure them, and the system's own
//! waits beneath them.

use oversleep_record::series::Pace;
use oversleep_record::{ExperimentId, Nanos, label};
use oversleep_system::Platform;

use crate::amount::Amount;
use crate::composed_waits::find_wait;
use crate::plan::{Depth, Limit, Plan};
use crate::probe::Probe;
use crate::wait_probe::WaitProbe;

pub use crate::experiments::tick_count::probes as tick_count;

/// Further requests that show how a runtime rounds: just below, on and between whole milliseconds. Several of them
/// distinguish any two rules, because one may have been disturbed.
pub const RULE_REQUESTS_NS: [i64; 7] = [1, 400_000, 999_000, 1_100_000, 1_999_000, 2_000_000, 2_300_000];
/// The parks of the published investigation of parkNanos.
pub const PUBLISHED_PARKS_NS: [i64; 2] = [1, 55_000];
/// The number of each.
pub const PUBLISHED_PARKS: u64 = 1_000;

/// The number of rounds.
pub fn rounds(plan: &Plan) -> u32 {
    plan.depth.pick(1, 3, 10)
}

/// Requests whose lateness is measured.
pub fn requests(plan: &Plan) -> Vec<Nanos> {
    let own: &[i64] = match plan.depth {
        Depth::Quick => &[300, 1_000, 1_500],
        Depth::Normal | Depth::Thorough => &[300, 1_000, 1_500, 5_000],
    };
    plan.requests_or(&own.iter().map(|&us| Nanos::from_micros(us)).collect::<Vec<_>>())
}

/// The number of each request per round.
pub fn count(plan: &Plan, requested: Nanos) -> u64 {
    if let Some(Limit::Count(count)) = plan.limit {
        return count.div_ceil(u64::from(rounds(plan))).max(1);
    }
    let (short, long) = (plan.depth.pick(10, 12, 50), plan.depth.pick(4, 4, 20));
    if requested <= Nanos::from_millis(2) { short } else { long }
}

/// The system calls beneath the waits of runtimes, made by oversleep itself, call by call. Each is measured once,
/// however often it is named.
pub fn beneath(platform: &dyn Platform, waits: &[String], plan: &Plan) -> Vec<Box<dyn Probe>> {
    let mut distinct: Vec<&String> = Vec::new();
    for wait in waits {
        if !distinct.contains(&wait) && find_wait(platform, wait).is_some() {
            distinct.push(wait);
        }
    }
    let rounds = rounds(plan);
    let probe = |(wait, requested): (&String, Nanos)| {
        let count = count(plan, requested) * u64::from(rounds);
        let amount = Amount { count, time: Nanos::from_secs(20), rounds };
        let probe = WaitProbe::new(platform, ExperimentId::R1, wait, requested, amount).paced(Pace::BackToBack);
        probe.under(plan.conditions.clone()).labelled(label::BENEATH, wait.clone()).boxed()
    };
    let requests = requests(plan);
    distinct.iter().flat_map(|wait| requests.iter().map(|&requested| (*wait, requested))).map(probe).collect()
}

/// One of them.
pub fn beneath_once(
    platform: &dyn Platform,
    experiment: ExperimentId,
    wait: &str,
    requested: Nanos,
    amount: Amount,
) -> Box<dyn Probe> {
    let probe = WaitProbe::new(platform, experiment, wait, requested, amount).paced(Pace::BackToBack);
    probe.labelled(label::BENEATH, wait.to_owned()).boxed()
}
