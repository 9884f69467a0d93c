//! B5: every wait of the system, at six requests.

use oversleep_record::series::Quantity;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::{ExperimentId, Nanos};
use oversleep_system::{Family, Platform, SlackRule, WaitInfo, runtime_calls};

use super::choose;
use crate::composed_waits::find_wait;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::{Depth, Plan};
use crate::probe::Probe;
use crate::wait_probe::is_of_program;
use crate::{Amount, WaitProbe};

pub(super) static B5: Experiment = Experiment {
    id: ExperimentId::B5,
    title: "every wait",
    question: "How late does each wait end, for requests from 300 µs to 100 ms?",
    method: "Every wait that has a deadline is measured at 300 µs, 1 ms, 1.5 ms, 5 ms, 16 ms and 100 ms. A wait whose \
             argument can express what is left of a period runs on absolute deadlines one request apart; a deadline \
             that passed while the thread was away is recorded, never skipped. A wait that counts in milliseconds, \
             ends on a tick or is delayed by a share of its request runs call by call, because a schedule would hide \
             that. So does a runtime's call, unless it is one at a fixed rate, and this project's library on a model. What \
             was passed to the call after rounding is recorded apart from the request. At 1 ms, some additional waits \
             are observed more closely, and their lateness is split into timer, run queue and return. In a survey, \
             requests above 1 ms show how calls round, so several waits are measured at once, begun one after the other; the \
             simplest sleep and timers are measured alone, except at 100 ms, where sleeps are compared with others. \
             A series ends after three rounds if these agree; if they don't, it takes up to five.",
    quantities: &[Quantity::Lateness],
    columns: &[
        Column { name: "lateness", meaning: "End of the wait minus its deadline; below zero if it ended early." },
        Column { name: "rounded to", meaning: "What was passed to the call, after rounding to its unit." },
    ],
    commands: &[Command::Waits, Command::NamedWaits],
    probes,
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let waits: Vec<String> =
        if plan.subjects.is_empty() { choose::timed_waits(platform) } else { plan.subjects.clone() };
    let mut probes = Vec::new();
    for wait in &waits {
        let Some(found) = find_wait(platform, wait) else { continue };
        let (info, takes_tolerance) = (found.info().clone(), !found.tolerances_to_compare().is_empty());
        if !info.is_timed() {
            continue;
        }
        let is_plain_sleep = choose::simplest_sleep(platform).is_some_and(|sleep| sleep.name == info.name);
        // If a wait is late by a share of its request, one request doesn't show the share.
        let shows_share = is_plain_sleep && info.slack == SlackRule::ClassShare;
        let is_compared = info.family == Family::Sleep && info.slack == SlackRule::ThreadSlack;
        let own = own_requests(plan, info.slack == SlackRule::ThreadSlackOrShare || is_compared || is_plain_sleep);
        for requested in plan.requests_or(&own) {
            let mut amount = amount(plan, requested, shows_share);
            let is_named = !plan.subjects.is_empty() || is_of_program(platform, info.name);
            if plan.depth == Depth::Normal && platform.time_is_virtual() && is_named {
                // A question has as many.
                amount = Amount { count: runtime_calls::count(requested), time: Nanos::MAX, ..amount };
            }
            if is_survey(plan) && info.slack == SlackRule::Tick && requested < COMMON_REQUEST {
                // The same ticks end it as end the common request.
                amount = Amount { count: TICKS, rounds: 3, ..amount };
            }
            if takes_tolerance && requested == COMMON_REQUEST {
                // Findings compare it, and the tolerance adds at least two ticks to each value.
                amount.time = amount.time * 2;
            }
            let mut probe = WaitProbe::new(platform, B5.id, wait, requested, amount.limited_by(plan))
                .under(plan.conditions.clone());
            if let Some(pace) = plan.pace {
                probe = probe.paced(pace);
            }
            let is_simplest = platform.simplest(info.family).is_some_and(|simplest| simplest.info().name == info.name);
            if requested == COMMON_REQUEST {
                // Three rounds give the waits that conclusions rest on the thirty split ones that those need.
                let is_judged = is_simplest || info.family == Family::Sleep;
                probe = match is_survey(plan) {
                    true if is_judged => probe.split_in(SPLIT_ROUNDS, SPLIT_JUDGED),
                    true => probe.split_in(SPLIT_ROUNDS, SPLIT_SHOWN),
                    false => probe.split(plan.depth.pick(30, 30, 400)),
                };
                if is_simplest {
                    probe = probe.essential();
                }
            }
            if is_survey(plan) {
                if amount.count >= VALUES_MIN {
                    probe = probe.until_settled();
                }
                if may_have_company(&info, requested, is_plain_sleep) {
                    probe = probe.about_rounding();
                }
            }
            probes.push(probe.boxed());
        }
    }
    probes
}

/// The request that every experiment includes.
const COMMON_REQUEST: Nanos = Nanos::from_millis(1);
/// A request that whole milliseconds can't express.
const ROUNDED_REQUEST: Nanos = Nanos(1_500_000);
/// The longest request, at which all waits are compared with one another.
const LONGEST: Nanos = Nanos::from_millis(100);
/// The rounds of a survey in which waits are split, and how many: of the waits that conclusions rest on, and of the others.
const SPLIT_ROUNDS: u32 = 3;
const SPLIT_JUDGED: u64 = 30;
const SPLIT_SHOWN: u64 = 12;

/// Whether all waits are measured as a check does it, in as little time as its conclusions need.
fn is_survey(plan: &Plan) -> bool {
    let is_default = plan.requests.is_empty() && plan.pace.is_none() && plan.conditions.is_as_found();
    plan.depth == Depth::Normal && plan.subjects.is_empty() && plan.limit.is_none() && is_default
}

/// Whether nothing but its rounding is concluded from a wait at that request. A timer may end by a signal to the process,
/// or hold a resolution for all of it, so timers are measured alone.
fn may_have_company(info: &WaitInfo, requested: Nanos, is_plain_sleep: bool) -> bool {
    let is_quiet = matches!(info.family, Family::Sleep | Family::Poll | Family::Lock | Family::Message);
    is_quiet && (requested == LONGEST || (requested > COMMON_REQUEST && !is_plain_sleep))
}

/// Requests of 100 ms take most of the time, and are only informative if a share of the timeout is added.
fn own_requests(plan: &Plan, adds_share: bool) -> Vec<Nanos> {
    let mut requests = match plan.depth {
        Depth::Quick => vec![Nanos::from_micros(300), Nanos::from_millis(1)],
        Depth::Normal | Depth::Thorough => vec![
            Nanos::from_micros(300),
            Nanos::from_millis(1),
            ROUNDED_REQUEST,
            Nanos::from_millis(5),
            Nanos::from_millis(16),
        ],
    };
    if plan.depth == Depth::Thorough || (plan.depth == Depth::Normal && adds_share) {
        requests.push(LONGEST);
    }
    requests
}

/// Values that show how a tick rounds a request.
const TICKS: u64 = 12;
/// The number of values that a conclusion needs, and a few more.
const COUNT_JUDGED: u64 = 32;
/// The longest request whose share is judged: a leeway may have an upper bound, and long waits take time from the
/// others.
const SHARE_LONGEST: Nanos = Nanos::from_millis(5);

fn amount(plan: &Plan, requested: Nanos, shows_share: bool) -> Amount {
    // A named wait gets a close look; in a survey all waits share the time.
    let (time, count_min, count_max) = match (plan.subjects.is_empty(), plan.depth) {
        (false, Depth::Quick) => (Nanos::from_millis(500), 10, 100_000),
        (false, Depth::Normal) => (Nanos::from_millis(2_000), 10, 100_000),
        (false, Depth::Thorough) => (Nanos::from_millis(20_000), 10, 100_000),
        (true, Depth::Quick) => (Nanos::from_millis(40), 3, 40),
        (true, Depth::Normal) if requested == COMMON_REQUEST => (Nanos::from_millis(55), 3, 55),
        // What rounding makes of it shows at once.
        (true, Depth::Normal) if requested == ROUNDED_REQUEST && !shows_share => (Nanos::from_millis(18), 3, 12),
        (true, Depth::Normal) if shows_share && requested <= SHARE_LONGEST => {
            (Nanos::from_millis(30), COUNT_JUDGED, 60)
        }
        (true, Depth::Normal) => (Nanos::from_millis(30), 3, 60),
        (true, Depth::Thorough) => (Nanos::from_millis(1_500), 10, 2_000),
    };
    let count = (time.0 / requested.0.max(1)).unsigned_abs().clamp(count_min, count_max);
    let rounds_min = if requested == LONGEST { 3 } else { 1 };
    let rounds = u32::try_from(count.div_ceil(4)).unwrap_or(1).clamp(rounds_min, 5);
    // The count decides. The time limit is for machines where 1 ms takes 15.6 ms: the 30 values that a conclusion needs
    // fit in.
    Amount { count, time: time.max(requested * 3) * 8, rounds }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};
    use oversleep_record::series::Pace;

    use super::*;
    use crate::testing;

    #[test]
    fn rounding_shows_and_is_never_taken_for_earliness() {
        let machine = testing::machine()
            .with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)))
            .with_millisecond_wait("epoll-wait", Overshoot::SlackPlus(Nanos(18_000)));
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let series = |key: &str| measured.series.iter().find(|series| series.key == key).expect(key);
        let rounded = series("B5/epoll-wait/300us");
        assert_eq!(rounded.rounded_ns, Some(Nanos::from_millis(1)));
        assert_eq!(rounded.pace, Some(Pace::BackToBack));
        assert_eq!(rounded.distribution.min(), Some(768_020));
        let exact = series("B5/nanosleep/300us");
        assert_eq!(exact.rounded_ns, Some(Nanos::from_micros(300)));
        assert_eq!(exact.pace, Some(Pace::Periodic));
        assert_eq!(exact.distribution.min(), Some(64_020));
        assert!(series("B5/nanosleep/1ms").split.is_some());
        assert!(measured.series.iter().all(|series| !series.subject.contains("yield")));
    }
}
