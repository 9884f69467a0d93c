//! The requests to one operation: those of a published experiment, those for its lateness, those that show its rule, and
//! zero at the end, which may never return.

use std::cmp::Reverse;
use std::ops::Range;

use oversleep_measure::Plan;
use oversleep_measure::runtime_waits::{RULE_REQUESTS_NS, count, requests, rounds};
use oversleep_record::probe::OpKind;
use oversleep_record::{ExperimentId, Nanos};

use crate::descriptor::Op;
use crate::engine;

/// The steps that show the lateness and the rule of a wait, in the syntax of the protocol.
pub fn rule_steps(op: &Op, plan: &Plan) -> Vec<String> {
    let is_rule = |step: &Step| matches!(step.experiment, ExperimentId::R1 | ExperimentId::R2);
    steps(op, plan).into_iter().filter(is_rule).map(|step| step.token(&op.name)).collect()
}

/// One step of a probe's plan in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The experiment that it belongs to.
    pub experiment: ExperimentId,
    /// The requested duration.
    pub requested: Nanos,
    /// The number of calls.
    pub count: u64,
}

impl Step {
    /// The step in the syntax of the protocol.
    pub fn token(self, op: &str) -> String {
        format!("{op}@{}@{}", self.requested.0, self.count)
    }
}

/// The steps of an operation's published experiment, with its number of calls.
pub fn published(op: &Op) -> Vec<Step> {
    let steps = op.published.iter().flat_map(|published| {
        let step = |&ns: &i64| Step { experiment: published.experiment, requested: Nanos(ns), count: published.count };
        published.requests_ns.iter().map(step)
    });
    steps.collect()
}

/// The duration of each wait that shows the rate of a program's clock. The delays of two lines may differ by half a
/// millisecond, so all these waits together must be much longer.
const RATE_REQUEST: Nanos = Nanos::from_millis(15);

/// Inserts steps that show the rate of the program's clock, and returns their positions. They come before the first request
/// that may never return.
pub fn with_rate(mut steps: Vec<Step>, plan: &Plan) -> (Vec<Step>, Range<usize>) {
    let is_short = |step: &Step| step.requested < Nanos::from_millis(1);
    let at = steps.iter().rposition(|step| !is_short(step)).map_or(0, |last| last + 1);
    let rate = Step { experiment: ExperimentId::R3, requested: RATE_REQUEST, count: 1 };
    let count = plan.depth.pick(8, 16, 20);
    steps.splice(at..at, std::iter::repeat_n(rate, count));
    (steps, at..at + count)
}

/// The step of an operation that passes items through an engine.
pub fn items(kind: OpKind, plan: &Plan) -> Step {
    let (requested, count) = engine::amount(kind, plan.depth);
    Step { experiment: ExperimentId::R5, requested, count }
}

/// The steps of an operation.
pub fn steps(op: &Op, plan: &Plan) -> Vec<Step> {
    let step = |experiment, requested, count| Step { experiment, requested, count };
    let published = op.published.iter().flat_map(|published| {
        let share = plan.depth.pick(10, 1, 1);
        let count = published.count.div_ceil(share).div_ceil(u64::from(rounds(plan)));
        published.requests_ns.iter().map(move |&ns| step(published.experiment, Nanos(ns), count))
    });
    match op.kind {
        OpKind::Clock => vec![step(ExperimentId::R3, Nanos::ZERO, plan.depth.pick(10, 15, 30))],
        OpKind::Work => {
            published.map(|step| Step { count: step.count.min(plan.depth.pick(4, 12, 100)), ..step }).collect()
        }
        OpKind::Rate | OpKind::Latency => vec![items(op.kind, plan)],
        OpKind::Wait if op.slow => {
            requests(plan).into_iter().take(2).map(|requested| step(ExperimentId::R1, requested, 1)).collect()
        }
        OpKind::Wait => {
            let late =
                requests(plan).into_iter().map(|requested| step(ExperimentId::R1, requested, count(plan, requested)));
            let few = plan.depth.pick(4, 4, 10);
            let rule = RULE_REQUESTS_NS.map(|ns| step(ExperimentId::R2, Nanos(ns), few));
            let zero = step(ExperimentId::R2, Nanos::ZERO, 2);
            let mut all: Vec<Step> = late.chain(rule).chain([zero]).collect();
            // The longest first: a request that is too short for a call may never return, which ends the process.
            all.sort_by_key(|step| Reverse(step.requested));
            published.chain(all).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_measure::Depth;
    use oversleep_measure::runtime_waits::{PUBLISHED_PARKS, PUBLISHED_PARKS_NS};

    use super::*;
    use crate::descriptor::descriptors;

    #[test]
    fn a_model_parks_as_published_and_as_java_does() {
        let ops = || descriptors().iter().flat_map(|one| &one.op);
        let parks = ops().filter_map(|op| op.published.as_ref()).filter(|one| one.experiment == ExperimentId::B10);
        for published in parks {
            assert_eq!((&published.requests_ns[..], published.count), (&PUBLISHED_PARKS_NS[..], PUBLISHED_PARKS));
        }
    }

    #[test]
    fn what_shows_the_rate_stands_before_what_may_never_return() {
        let plan = Plan { depth: Depth::Quick, ..Plan::default() };
        let op = descriptors().iter().flat_map(|one| &one.op).find(|op| op.name == "Object.wait(ms)").unwrap();
        let plain = steps(op, &plan);
        let (all, rate) = with_rate(plain.clone(), &plan);
        assert_eq!(all.len(), plain.len() + rate.len());
        assert!(all[rate.clone()].iter().all(|step| step.requested == RATE_REQUEST));
        assert!(all[..rate.start].iter().all(|step| step.requested >= Nanos::from_millis(1)));
        assert!(all[rate.end..].iter().all(|step| step.requested < Nanos::from_millis(1)));
    }

    #[test]
    fn zero_comes_last_and_a_round_is_short() {
        for depth in [Depth::Quick, Depth::Normal] {
            let plan = Plan { depth, ..Plan::default() };
            for op in descriptors().iter().flat_map(|one| &one.op) {
                let steps = steps(op, &plan);
                assert!(!steps.is_empty(), "{}", op.name);
                let zeros = steps.iter().filter(|step| step.requested == Nanos::ZERO).count();
                assert!(zeros <= 1 && (zeros == 0 || steps.last().is_some_and(|last| last.requested == Nanos::ZERO)));
                let span: Nanos = steps.iter().map(|step| step.requested * step.count as i64).sum();
                let is_short = span < Nanos::from_millis(170);
                assert!(op.published.is_some() || engine::passes_items(op.kind) || is_short, "{}: {span}", op.name);
            }
        }
    }
}
