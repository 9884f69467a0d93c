//! The spans that a sentence may mention: those of its evidence, of what is requested alike together, of the facts, and of
//! the finding's own page.

use oversleep_record::conditions::Outcome;
use oversleep_record::environment::FactValue;
use oversleep_record::finding::Finding;
use oversleep_record::series::Quantity;
use oversleep_record::{Distribution, FactName, Nanos, ResultFile, Series};

use crate::figures::pooled;
use crate::registry::entry;
use crate::split;

/// A span as written in a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written<'a> {
    pub(super) text: &'a str,
    ns: f64,
    /// Half of its last digit.
    rounding_ns: f64,
}

/// The spans of a text: `66.1 µs`, `−200 ns`. Thousands are apart by commas.
pub(super) fn spans(text: &str) -> Vec<Written<'_>> {
    let mut found = Vec::new();
    let starts = text.char_indices().filter(|&(at, first)| {
        let before = text[..at].chars().next_back();
        first.is_ascii_digit() && !before.is_some_and(|before| before.is_alphanumeric() || "._,-/".contains(before))
    });
    for (at, _) in starts {
        let rest = &text[at..];
        let number_end =
            rest.find(|next: char| !(next.is_ascii_digit() || next == '.' || next == ',')).unwrap_or(rest.len());
        let number = rest[..number_end].trim_end_matches(['.', ',']);
        let Some(after) = rest[number.len()..].strip_prefix(' ') else { continue };
        let unit = after.split(|next: char| !next.is_alphanumeric()).next().unwrap_or_default();
        let length = match unit {
            "ns" => 1.0,
            "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => continue,
        };
        let plain = number.replace(',', "");
        let Ok(digits) = plain.parse::<f64>() else { continue };
        let decimals = plain.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let rounding = 0.5 * length / 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
        // A trailing zero of three digits is not written.
        let rounding_ns = if decimals < 2 && digits < 100.0 { rounding.min(digits * length * 0.006) } else { rounding };
        found.push(Written { text: &rest[..number.len() + 1 + unit.len()], ns: digits * length, rounding_ns });
    }
    found
}

/// The spans that a finding may mention, in ns.
pub(super) struct Known(Vec<f64>);

impl Known {
    pub(super) fn of(file: &ResultFile, finding: &Finding) -> Known {
        let mut known = Known(Vec::new());
        let cited: Vec<&Series> = finding.evidence.iter().flat_map(|one| cited(file, &one.source)).collect();
        let slack = file.environment.nanos(FactName::TimerSlack).map(|slack| slack.0 as f64);
        let mut medians = Vec::new();
        for series in cited.iter().copied().chain(&pools(&cited)) {
            medians.extend(known.series(series));
        }
        for (at, one) in medians.iter().enumerate() {
            let differences: Vec<f64> = medians[at + 1..].iter().map(|other| (one - other).abs()).collect();
            // The part of a difference that the slack doesn't explain.
            known.0.extend(slack.iter().flat_map(|slack| differences.iter().map(move |found| (found - slack).abs())));
            known.0.extend(differences);
        }
        for text in finding.evidence.iter().map(|evidence| evidence.text.as_str()) {
            known.text(text);
        }
        // A finding may repeat the constants that its page explains.
        if let Some(entry) = entry(&finding.id) {
            [entry.summary, entry.meaning, entry.how_we_know, entry.what_to_do]
                .into_iter()
                .for_each(|text| known.text(text));
        }
        for fact in file.environment.facts.values() {
            if let FactValue::Nanos(span) = fact.value {
                known.0.push(span.0.abs_diff(0) as f64);
            }
        }
        for clock in &file.clocks {
            let steps = clock.steps.as_ref();
            let spans = [clock.stated_step_ns, steps.and_then(|of| of.median_ns), steps.and_then(|of| of.smallest_ns)];
            known.0.extend(spans.into_iter().flatten().map(|span| span.0.abs_diff(0) as f64));
        }
        known
    }

    /// Adds the figures of a series; returns its median and the median duration.
    fn series(&mut self, series: &Series) -> Vec<f64> {
        let requested = series.requested_ns.unwrap_or_default();
        let mut medians = Vec::new();
        for of in [series.calls(), &series.distribution] {
            let quantile = |of: &Distribution, at: f64| of.quantile(at).map(|figure| figure as f64);
            let scale = if series.unit == oversleep_record::series::Unit::Ps { 1e-3 } else { 1.0 };
            let extremes = [of.min(), of.max()].into_iter().flatten().map(|figure| figure as f64);
            let figures: Vec<f64> =
                [0.01, 0.1, 0.5, 0.9, 0.99].into_iter().filter_map(|at| quantile(of, at)).chain(extremes).collect();
            for figure in figures {
                self.0.push((figure * scale).abs());
                // The duration that follows from a lateness, and the lateness that follows from a duration.
                match series.quantity {
                    Quantity::Lateness => self.0.push((figure + requested.0 as f64).abs()),
                    _ => self.0.push((figure - requested.0 as f64).abs()),
                }
            }
            medians.extend(of.p50().map(|p50| p50 as f64 * scale));
        }
        self.0.extend(of_split(series));
        self.0.extend([series.requested_ns, series.rounded_ns].into_iter().flatten().map(|span| span.0 as f64));
        let granted = series.conditions.outcomes.values().filter_map(|outcome| match outcome {
            Outcome::Applied { now, .. } => Some(now),
            Outcome::AlreadySo { is } => Some(is),
            Outcome::Denied { .. } => None,
        });
        series.conditions.requested.values().chain(granted).for_each(|setting| self.text(&setting.to_string()));
        // Only the key has the requests of neighbours: `neighbour=1ms`.
        let parts = series.key.as_str().split(['/', '=', '+']);
        self.0.extend(parts.filter_map(|part| part.parse::<Nanos>().ok()).map(|span| span.0 as f64));
        medians
    }

    fn text(&mut self, text: &str) {
        self.0.extend(spans(text).iter().map(|span| span.ns));
    }

    pub(super) fn has(&self, figure: Written<'_>) -> bool {
        // The figures from which another one was computed were rounded, too.
        self.0.iter().any(|known| (known - figure.ns).abs() <= figure.rounding_ns * 1.01 + known * 1e-3)
    }
}

/// Calls of which the same was requested, as one: each may have too few values alone.
fn pools(cited: &[&Series]) -> Vec<Series> {
    let is_alike = |one: &Series, other: &Series| {
        one.experiment == other.experiment
            && (one.quantity, one.requested_ns) == (other.quantity, other.requested_ns)
            && one.conditions.requested == other.conditions.requested
    };
    let mut groups: Vec<Vec<&Series>> = Vec::new();
    for &series in cited {
        match groups.iter_mut().find(|group| is_alike(group[0], series)) {
            Some(group) => group.push(series),
            None => groups.push(vec![series]),
        }
    }
    let pool = |group: &Vec<&Series>| {
        let mut pool = pooled("", group)?;
        let has_split = group.iter().any(|series| series.split.is_some());
        pool.split = has_split.then(|| split::pooled(group.iter().filter_map(|series| series.split.as_ref())));
        Some(pool)
    };
    groups.iter().filter(|group| group.len() > 1).filter_map(pool).collect()
}

/// The series that a source names: one key, or keys in a list.
fn cited<'a>(file: &'a ResultFile, source: &str) -> Vec<&'a Series> {
    let keys = source.split(" and ").flat_map(|part| part.split(", "));
    keys.filter_map(|key| file.series(key)).collect()
}

fn of_split(series: &Series) -> Vec<f64> {
    let Some(split) = &series.split else { return Vec::new() };
    let parts = [&split.total, &split.timer, &split.run_queue, &split.wake_return, &split.awake_before];
    let figures =
        |of: &&Distribution| [of.p50().map(|p50| p50 as f64), of.safe_quantile(0.99).map(|p99| p99 as f64), of.mean()];
    parts.iter().flat_map(figures).flatten().map(f64::abs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sheet, rounds};

    #[test]
    fn what_was_requested_alike_is_known_as_one() {
        let [one, other, longer] = ["B8/poll/100ms", "B8/select/100ms", "B8/select/200ms"];
        let sheet = Sheet::linux().series(rounds(one, &[100_000, 110_000], 1)).series(rounds(other, &[150_000; 3], 1));
        let sheet = sheet.series(rounds(longer, &[900_000; 3], 1));
        let cited: Vec<&Series> = [one, other, longer].iter().filter_map(|key| sheet.file.series(key)).collect();
        let pools = pools(&cited);
        assert_eq!(pools.iter().map(|pool| pool.distribution.count()).collect::<Vec<_>>(), [5]);
        assert!(Known(Vec::new()).series(&pools[0]).contains(&150_000.0));
    }

    #[test]
    fn a_span_is_known_to_half_of_its_last_digit() {
        let found: Vec<(f64, f64)> =
            spans("0.25 ms, 66.1 µs and 1,234 ns").iter().map(|span| (span.ns, span.rounding_ns)).collect();
        assert_eq!(found, [(250_000.0, 5_000.0), (66_100.0, 50.0), (1_234.0, 0.5)]);
    }

    #[test]
    fn spans_are_read_as_they_are_written() {
        let read = |text| spans(text).iter().map(|span| span.ns).collect::<Vec<_>>();
        assert_eq!(read("1.5 ms (in 1,024 of 2 s), p50 66 µs/wait, CLOCK_5 ms"), [1.5e6, 2e9, 66e3]);
        assert_eq!(read("−200 ns, 3 CPUs, 5 msec, 12.5 %"), [200.0]);
    }
}
