//! Whether waits are as late as waits are on a machine that has other things to do.

use oversleep_record::Nanos;
use oversleep_record::part::Part;
use oversleep_record::words::percent;

use super::share::{Share, in_words, named};
use super::{all_lateness, is_one, parts_of, pooled};
use crate::observed::{Kind, RARE_MIN_NS};

/// Waits that end earlier than this at p99 are as late as the default timer slack of 50 µs, an interrupt and a switch make
/// them; so are waits that are late by one part in so many of what most of them request.
pub(super) const ORDINARY_NS: i64 = 200_000;
const ORDINARY_OF: i64 = 50;
/// What is ordinary of timer slack: twice the default, or the share of a timeout that is the slack of poll and others.
const DEFAULT_SLACK_NS: i64 = 100_000;
const SLACK_OF: i64 = 500;
/// oversleep's own following is told from this share of the lateness on.
const FOLLOWING_MIN: f64 = 0.1;

/// Whether nothing delays these waits by much, but for oversleep's own following.
pub(super) fn is_ordinary(kinds: &[Kind<'_>]) -> bool {
    let all = pooled(kinds);
    let most = kinds.iter().max_by_key(|kind| kind.count()).map_or(0, requested);
    let usual = ORDINARY_NS.max(most / ORDINARY_OF);
    let max = all.max().unwrap_or(0);
    let is_all = max < RARE_MIN_NS && all.safe_quantile(0.99).unwrap_or(max) < usual;
    is_all || is_rest_ordinary(kinds, usual)
}

/// Whether what oversleep's own following doesn't explain is ordinary: on average, and at the longest.
fn is_rest_ordinary(kinds: &[Kind<'_>], usual: i64) -> bool {
    let following = following(kinds);
    let count: u64 = kinds.iter().map(Kind::count).sum();
    let rest = all_lateness(&parts_of(kinds)) - following;
    let blames =
        || kinds.iter().flat_map(|kind| kind.waits.blames.iter().filter(move |blame| !kind.is_follower(blame)));
    let parts = || kinds.iter().flat_map(|kind| Part::ALL.iter().map(|&part| (part, kind.max(part))));
    following > 0
        && rest < i128::from(usual) * i128::from(count)
        && blames().all(|blame| blame.max_ns < RARE_MIN_NS.unsigned_abs())
        && parts().all(|(part, max)| part == Part::Runq || max < RARE_MIN_NS)
}

/// How long oversleep ran while these waits needed a CPU.
fn following(kinds: &[Kind<'_>]) -> i128 {
    let blames = kinds.iter().flat_map(|kind| kind.waits.blames.iter().filter(move |blame| kind.is_follower(blame)));
    blames.map(|blame| i128::from(blame.total_ns)).sum()
}

/// Whether all timer slack is what Linux gives every thread.
pub(super) fn is_slack_default(kinds: &[Kind<'_>]) -> bool {
    kinds.iter().all(|kind| kind.max(Part::Slack) <= DEFAULT_SLACK_NS.max(requested(kind) / SLACK_OF))
}

fn requested(kind: &Kind<'_>) -> i64 {
    kind.identity.requested_ns.map_or(0, |requested| requested.0)
}

/// How late waits are that nothing delays by much, and of what most of that consists.
pub(super) fn in_sentence(kinds: &[Kind<'_>], shares: &[Share]) -> String {
    let all = pooled(kinds);
    let p50 = Nanos(all.p50().unwrap_or(0));
    let p99 = all.safe_quantile(0.99).map(|p99| format!(" and {} at p99", Nanos(p99))).unwrap_or_default();
    let largest = named(shares)[0];
    let mark = if all.count() < 20 { "~" } else { "" };
    let (it, its) = if is_one(kinds) { ("it", "its") } else { ("these programs", "their") };
    let following = following(kinds) as f64 / all_lateness(&parts_of(kinds)).max(1) as f64;
    let following = match following >= FOLLOWING_MIN {
        true => format!("; {} is oversleep's own following", percent(following.min(1.0))),
        false => String::new(),
    };
    format!(
        "Nothing delays {it} by much: {its} waits end {mark}{p50} late at the median{p99}; {} of that is {}{following}.",
        percent(largest.share),
        in_words(largest.part, largest.is_tick())
    )
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::culprit::Whose;
    use oversleep_record::observed::{Blame, Observation};
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;
    use oversleep_record::{ResultFile, Series};

    use super::super::Verdict;
    use crate::observed::testing::{blame, waits};

    fn verdict(requested_ms: i64, of: &[(u64, Parts)], blames: Vec<Blame>) -> Verdict {
        let mut series = waits(requested_ms, 0, Parts::default());
        for (count, parts) in of {
            for _ in 0..*count {
                series.distribution.record(parts.sum());
                series.why.as_mut().unwrap().record(parts);
            }
        }
        series.observed.as_mut().unwrap().blames = blames;
        of_result(series)
    }

    fn of_result(series: Series) -> Verdict {
        let mut file: ResultFile = Sheet::linux().file;
        (file.series, file.observation) = (vec![series], Some(Observation::default()));
        Verdict::of(&file).expect("a program was observed")
    }

    fn slack() -> Parts {
        Parts { slack: 50_000, ..Parts::default() }
    }

    #[test]
    fn what_oversleep_itself_delays_is_ordinary() {
        let late = Parts { runq: 3_000_000, ..slack() };
        let rare = |whose| {
            let of = Blame { whose, ..blame("other", 120, 2, 6_000_000) };
            verdict(10, &[(98, slack()), (2, late)], vec![of])
        };
        let own = rare(Whose::Collector);
        assert_eq!(
            own.sentence,
            "Nothing delays it by much: its waits end 50 µs late at the median; 55 % of that is waiting for a CPU; 55 % is \
             oversleep's own following."
        );
        assert_eq!(own.first_step, None);
        assert!(rare(Whose::Program).sentence.starts_with("55 % of its lateness is waiting for a CPU, behind other"));
    }

    #[test]
    fn what_is_much_depends_on_what_is_requested() {
        let of = |requested_ms| verdict(requested_ms, &[(100, Parts { irq: 350_000, ..slack() })], Vec::new());
        let is_ordinary = |requested_ms| of(requested_ms).sentence.starts_with("Nothing delays it by much");
        assert_eq!([10, 40].map(is_ordinary), [false, true]);
    }

    #[test]
    fn slack_that_all_threads_have_comes_after_what_else_is_to_be_told() {
        let parts = |slack| Parts { slack, runq: slack / 10 * 7, irq: slack / 2, ..Parts::default() };
        let long = Parts { runq: 2_000_000, ..slack() };
        let first = |slack: i64| {
            let of = blame("compile", 120, 100, 5_900_000);
            let step = verdict(1, &[(99, parts(slack)), (1, long)], vec![of]).first_step.expect("it can be cured");
            step.finding
        };
        // Either way, less than half of the lateness is slack, and it is the largest part.
        assert_eq!((first(60_000), first(170_000)), ("OVS-Y015".to_owned(), "OVS-Y001".to_owned()));
    }
}
