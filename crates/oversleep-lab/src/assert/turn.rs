//! What one turn of a gate shows: the figures alone, which become the ratio of a pair.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use oversleep_record::ResultFile;
use oversleep_record::distribution::Distribution;
use oversleep_record::part::Part;

use super::judge::none;
use super::targets::{self, Target};
use super::{Assertion, Claim, Figure, Unmatched};

/// Fewest values of one turn.
pub const VALUES_MIN: u64 = 5;

/// The figure of everything that an assertion is about, by its name. What has too few values is left out.
///
/// # Errors
/// A name that matches nothing.
pub fn figures_of(file: &ResultFile, assertion: &Assertion) -> Result<Vec<(String, f64)>, Unmatched> {
    let Claim::Figure { subject, figure, .. } = &assertion.claim else { return Ok(Vec::new()) };
    let found = targets::targets(file, subject);
    if found.is_empty() && !assertion.text.ends_with("(*)") {
        none(file, assertion, subject, None)?;
    }
    // Series of one name are the same wait: its requests differ by little.
    let mut by_name: BTreeMap<String, (Distribution, Option<Distribution>)> = BTreeMap::new();
    for target in &found {
        let Some(values) = values(file, target) else { continue };
        let (name, requested) = match target {
            Target::Periods(_, periods, None) => {
                (format!("{} beyond its request", target.name()), periods.split.parts.get(&Part::Requested))
            }
            _ => (target.name(), None),
        };
        match by_name.entry(name) {
            Entry::Vacant(entry) => _ = entry.insert((values.clone(), requested.cloned())),
            Entry::Occupied(mut entry) => {
                let (all, all_requested) = entry.get_mut();
                all.merge(values);
                match (all_requested, requested) {
                    (Some(all), Some(more)) => all.merge(more),
                    (all, more) => *all = all.take().or_else(|| more.cloned()),
                }
            }
        }
    }
    let figures = by_name.into_iter().filter(|(_, (values, _))| values.count() >= VALUES_MIN);
    let figures = figures.filter_map(|(name, (values, requested))| {
        let value = match figure {
            Figure::Quantile(share) => values.quantile(*share)? as f64,
            Figure::Cost => values.p50()? as f64,
            Figure::Mean => values.mean()?,
            _ => return None,
        };
        // A request is the same on both sides, and would only hide how much the rest of the period has grown.
        let requested = requested.as_ref().and_then(Distribution::p50).unwrap_or(0);
        Some((name, value - requested as f64))
    });
    Ok(figures.collect())
}

fn values<'a>(file: &'a ResultFile, target: &'a Target) -> Option<&'a Distribution> {
    match target {
        // A wait that ends later than the next deadline would hide itself among those that it makes short.
        Target::Series(series) => Some(series.calls()),
        Target::Part(_, _, values) => *values,
        Target::Periods(_, periods, None) => periods.lengths(),
        Target::Periods(_, periods, Some(part)) => periods.split.parts.get(part),
        Target::Clock(clock) => Some(&file.series(clock.cost_series.as_ref()?)?.distribution),
        Target::Cause(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::ObservedWaits;
    use oversleep_record::observed::period::Periods;
    use oversleep_record::observed::wait::Request;
    use oversleep_record::series::{Quantity, Unit};
    use oversleep_record::testing::Sheet;
    use oversleep_record::{ExperimentId, Nanos, Series, label};

    use super::super::{Observed, Requests, Subject, names_of};
    use super::*;

    fn observed(request: i64, lateness: i64) -> Series {
        let mut series = Series::new(ExperimentId::Y1, "futex", Quantity::Lateness, Unit::Ns);
        series.key = series.key.span(Nanos(request));
        series.requested_ns = Some(Nanos(request));
        series.labels.set(label::PROGRAM, "java".to_owned());
        series.labels.set(label::THREAD, "main".to_owned());
        series.labels.set(label::REQUEST, Request::Deadline);
        (0..10).for_each(|_| series.distribution.record(lateness));
        series.observed = Some(ObservedWaits::default());
        series
    }

    #[test]
    fn requests_that_differ_by_little_are_one_wait() {
        let subject = Subject::Why(Observed { program: "*".to_owned(), ..Observed::default() });
        let claim = Claim::Figure { subject, figure: Figure::Mean, bound: None };
        let assertion = Assertion { text: "why(*)".to_owned(), place: None, claim };
        let mut requests = Requests::default();
        let mut seen = |series: Vec<Series>| {
            let mut file = Sheet::linux().file;
            file.series = series;
            names_of(&mut file, &mut requests);
            figures_of(&file, &assertion).expect("there are figures")
        };
        let name = |ms: &str| format!("java (main): futex until a deadline {ms} ms ahead");
        let both = seen(vec![observed(9_900_000, 100), observed(10_000_000, 200), observed(20_000_000, 300)]);
        assert_eq!(both, [(name("20"), 300.0), (name("9.9"), 150.0)]);
        assert_eq!(seen(vec![observed(10_000_000, 400)]), [(name("9.9"), 400.0)]);
    }

    /// A planted 1 ms of work in a loop of 10 ms would be a tenth of the period, which no gate of 25 % sees.
    #[test]
    fn a_loop_is_compared_by_what_its_period_has_beyond_its_request() {
        let figure = |length_ms: i64| {
            let mut series = observed(10_000_000, 100);
            let of = |ms: i64| {
                let mut values = Distribution::growing();
                (0..10).for_each(|_| values.record(ms * 1_000_000));
                values
            };
            let mut periods = Periods::default();
            periods.split.total = Some(of(length_ms));
            periods.split.parts.insert(Part::Requested, of(10));
            series.observed = Some(ObservedWaits { periods: Some(periods), ..ObservedWaits::default() });
            let mut file = Sheet::linux().file;
            file.series = vec![series];
            let subject = Subject::Period(Observed { program: "java".to_owned(), ..Observed::default() });
            let claim = Claim::Figure { subject, figure: Figure::Quantile(0.5), bound: None };
            figures_of(&file, &Assertion { text: "period(java).p50".to_owned(), place: None, claim })
                .expect("there are")
        };
        let ([(name, base)], [(_, new)]) = (&figure(11)[..], &figure(12)[..]) else { panic!("one loop each") };
        assert!(name.ends_with(" beyond its request"), "{name}");
        // 1 and 2 ms, in buckets of 0.1 % of the length.
        assert!((base / 1e6 - 1.0).abs() < 0.02 && (new / 1e6 - 2.0).abs() < 0.02, "{base} {new}");
    }
}
