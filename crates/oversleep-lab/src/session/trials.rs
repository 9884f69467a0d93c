//! The trials of a run: each remedy that is harmless to try, measured without and with it.

use oversleep_explain::remedies_to_try;
use oversleep_measure::{Amount, Depth, Plan, Probe, WaitProbe};
use oversleep_record::label::{self, TrialSide};
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{Conditions, ExperimentId, Nanos, ResultFile, SeriesKey};
use oversleep_system::Platform;

/// The probes for the trials, and the trials whose pairs name the series.
#[derive(Default)]
pub(super) struct Trials {
    pub probes: Vec<Box<dyn Probe>>,
    pub trials: Vec<Trial>,
}

/// Plans a trial for each remedy that the result suggests.
pub(super) fn planned(platform: &dyn Platform, plan: &Plan, file: &ResultFile) -> Trials {
    let amount = Amount {
        count: plan.depth.pick(40, 90, 2_000),
        time: plan.depth.pick(Nanos::from_millis(150), Nanos::from_millis(400), Nanos::from_secs(10)),
        rounds: plan.depth.pick(4, 6, 20),
    };
    let mut planned = Trials::default();
    for candidate in remedies_to_try(file) {
        let (remedy, requested) = (candidate.remedy, candidate.requested);
        let mut pairs = Vec::new();
        for wait in &candidate.waits {
            let mut probe = |side, conditions: Conditions| {
                let key = SeriesKey::of_trial(remedy, wait, requested, side);
                let probe = WaitProbe::new(platform, ExperimentId::TRIAL, wait, requested, amount)
                    .keyed(|_| key.clone())
                    .labelled(label::REMEDY, remedy.to_owned())
                    .labelled(label::TRIAL_SIDE, side)
                    .under(conditions);
                let probe = if plan.depth == Depth::Thorough { probe } else { probe.until_settled() };
                planned.probes.push(probe.boxed());
                key
            };
            let before = probe(TrialSide::Before, plan.conditions.clone());
            let after = probe(TrialSide::After, plan.conditions_and(candidate.conditions.clone()));
            pairs.push(TrialPair { before, after });
        }
        planned.trials.push(Trial { remedy: remedy.to_owned(), conditions: candidate.conditions, pairs });
    }
    planned
}
