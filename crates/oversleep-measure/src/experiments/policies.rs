//! B8: scheduling policy and priority.

use oversleep_record::conditions::Setting;
use oversleep_record::series::Quantity;
use oversleep_record::{Conditions, ExperimentId, Nanos};
use oversleep_system::tunables::names;
use oversleep_system::{Platform, SlackRule};

use super::choose;
use crate::experiment::{Column, Experiment};
use crate::plan::{Depth, Plan};
use crate::probe::Probe;
use crate::{Amount, WaitProbe};

pub(super) static B8: Experiment = Experiment {
    id: ExperimentId::B8,
    title: "policy and priority",
    question: "How do scheduling policy and priority change a wait?",
    method: "The simplest sleep runs at 1 ms under every policy that this process may use, with rounds interleaved. On \
             Linux the real-time policies have no timer slack at all, so a FIFO thread wakes 50 µs earlier even on an \
             idle machine; a positive nice value raises the share that select and poll add from 0.1 % to 0.5 % of the \
             timeout, which the 100 ms series show. On Windows the priority doesn't change the tick. A policy that \
             isn't permitted is listed with the way to permit it.",
    quantities: &[Quantity::Lateness],
    columns: &[Column {
        name: "policy",
        meaning: "The policy of the measuring thread, with its priority or nice value.",
    }],
    probes,
    ..Experiment::BLANK
};

/// How many calls' timeouts are compared: one that another timer ended early leaves a conclusion then.
const CALLS_SHARING: usize = 2;

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(sleep) = choose::simplest_sleep(platform) else { return Vec::new() };
    let Some(policy) = platform.tunable(names::POLICY) else { return Vec::new() };
    let settings = policy.settings_to_compare();
    let amount = Amount {
        count: plan.depth.pick(30, 39, 1_000),
        time: plan.depth.pick(Nanos::from_millis(300), Nanos::from_secs(1), Nanos::from_secs(20)),
        rounds: 3,
    }
    .limited_by(plan);
    let probe = |wait: &str, requested, setting: &Setting, amount| {
        let conditions = plan.conditions_and(Conditions::as_found().with(names::POLICY, setting.clone()));
        WaitProbe::new(platform, B8.id, wait, requested, amount)
            .keyed(|key| key.setting(names::POLICY, setting))
            .under(conditions)
    };
    let mut probes = Vec::new();
    for requested in plan.requests_or(&[Nanos::from_millis(1)]) {
        probes.extend(settings.iter().map(|setting| probe(sleep.name, requested, setting, amount).boxed()));
    }
    // The share of the timeout shows only on long timeouts, and only for time-sharing threads of lower priority.
    let sharing =
        platform.waits().iter().map(|wait| wait.info()).filter(|info| info.slack == SlackRule::ThreadSlackOrShare);
    let is_wanted = plan.depth >= Depth::Normal && plan.requests.is_empty();
    for poll in sharing.take(if is_wanted { CALLS_SHARING } else { 0 }) {
        let plain_and_nice = settings.iter().filter(|setting| is_plain_policy(setting, &settings));
        let long = Amount { count: plan.depth.pick(3, 3, 60), time: Nanos::from_secs(20), rounds: 3 };
        // Both wait at the same time as others of 100 ms, so that they differ in nothing but the nice value.
        let poll = |setting| probe(poll.name, Nanos::from_millis(100), setting, long).about_rounding().boxed();
        probes.extend(plain_and_nice.map(poll));
    }
    probes
}

/// The first policy of the list and the same policy at a lower priority.
fn is_plain_policy(setting: &Setting, all: &[Setting]) -> bool {
    let name_of = |setting: &Setting| match setting {
        Setting::Policy { policy, .. } => Some(policy.clone()),
        _ => None,
    };
    all.first().is_some_and(|first| name_of(first) == name_of(setting))
}
