//! Compares the parts of the lateness of observed waits, each for itself.

use oversleep_record::comparison::{Estimate, Interval, Judgement, PartAgainst, PartSide, Verdict};
use oversleep_record::part::Part;
use oversleep_record::{Distribution, Series};

use super::super::interval::of_quantile;
use super::{Measured, apart, by_tools, judgement, of_same_waits, step};

/// The values of a part, and what times are rounded to; a missing part was 0 in every wait.
struct Values<'a>(Option<&'a Distribution>, i64);

impl Values<'_> {
    fn of(series: &Series, part: Part, step: i64) -> Values<'_> {
        Values(series.why.as_ref().and_then(|why| why.parts.get(&part)), step)
    }

    fn median(&self) -> Estimate {
        match self.0 {
            Some(seen) => Estimate { value: seen.p50().unwrap_or(0), interval: of_quantile(seen, 0.5, self.1) },
            None => NOTHING,
        }
    }

    fn tail(&self) -> Option<Estimate> {
        match self.0 {
            Some(seen) => {
                Some(Estimate { value: seen.safe_quantile(0.99)?, interval: of_quantile(seen, 0.99, self.1) })
            }
            None => Some(NOTHING),
        }
    }

    fn mean(&self) -> f64 {
        self.0.and_then(Distribution::mean).unwrap_or(0.0)
    }
}

const NOTHING: Estimate = Estimate { value: 0, interval: Some(Interval { low: 0, high: 0 }) };

/// Whether the parts are those of the series' own waits.
fn has_parts(series: &Series) -> bool {
    series.observed.is_some() && series.why.is_some() && series.has_values()
}

/// The parts of a series.
pub(super) fn of(series: &Series, step: i64) -> Vec<PartSide> {
    let seen = |part: &&Part| has_parts(series) && Values::of(series, **part, step).0.is_some();
    let side = |&part: &Part| {
        let values = Values::of(series, part, step);
        PartSide { part, mean_ns: values.mean(), p50: values.median(), p99: values.tail() }
    };
    Part::ALL.iter().filter(seen).map(side).collect()
}

/// Each part that either result has and both can show. Followers that see different things have no parts in common.
pub(super) fn against(base: &Measured<'_>, other: &Measured<'_>, are_same_waits: bool) -> Vec<PartAgainst> {
    let by = |measured: &Measured<'_>| measured.file.observation.as_ref().map(|observation| observation.by);
    let see_alike = by(base).zip(by(other)).is_some_and(|(one, other)| one.sees_as(other));
    if !see_alike || !has_parts(base.series) || !has_parts(other.series) {
        return Vec::new();
    }
    let is_unseen = |measured: &Measured<'_>, part: &Part| {
        measured.file.observation.as_ref().is_some_and(|observation| observation.unseen.contains(part))
    };
    let tools = by_tools(base, other);
    let judged = |&part: &Part| {
        let (one, two) =
            (Values::of(base.series, part, step(base.file)), Values::of(other.series, part, step(other.file)));
        if one.0.is_none() && two.0.is_none() {
            return None;
        }
        let judge = |one: Estimate, two: Estimate| match are_same_waits {
            true => of_same_waits(one.value, two.value, tools),
            false => judge(one, two, tools),
        };
        let p99 = one.tail().zip(two.tail()).map(|(one, two)| judge(one, two));
        Some(PartAgainst { part, p50: judge(one.median(), two.median()), p99 })
    };
    let can_show = |part: &&Part| !is_unseen(base, part) && !is_unseen(other, part);
    Part::ALL.iter().filter(can_show).filter_map(judged).collect()
}

fn judge(base: Estimate, other: Estimate, by_tools: i64) -> Judgement {
    let verdict = match (base.interval, other.interval) {
        (Some(one), Some(two)) if apart(one, two, by_tools) => Verdict::Differs,
        (Some(_), Some(_)) => Verdict::Overlap,
        _ => Verdict::TooFew { why: "one of the results has too few waits for an interval".to_owned() },
    };
    judgement(Some(base), Some(other), verdict)
}
