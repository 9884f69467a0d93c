//! What one turn of a gate shows: the figures alone, which become the ratio of a pair.

use oversleep_explain::housekeeping;
use oversleep_record::ResultFile;
use oversleep_record::distribution::Distribution;
use oversleep_record::label;

use super::judge::unmatched;
use super::targets::{self, Target};
use super::{Assertion, Claim, Figure, Unmatched};

/// Fewest values of one turn.
const VALUES_MIN: u64 = 5;

/// The figure of everything that an assertion is about, by its name. What has too few values is left out.
///
/// # Errors
/// A name that matches nothing.
pub fn figures_of(file: &ResultFile, assertion: &Assertion) -> Result<Vec<(String, f64)>, Unmatched> {
    let Claim::Figure { subject, figure, .. } = &assertion.claim else { return Ok(Vec::new()) };
    let found = targets::targets(file, subject);
    let is_any = assertion.text.ends_with("(*)");
    if found.is_empty() && !is_any {
        let (what, name, known) = targets::known(file, subject);
        return Err(unmatched(assertion, what, name, known));
    }
    let is_own = |target: &&Target| match target {
        Target::Series(series) | Target::Part(series, ..) | Target::Periods(series, ..) => {
            housekeeping::of(file, series).is_none()
        }
        Target::Clock(_) | Target::Cause(_) => true,
    };
    let figures = found.iter().filter(is_own).filter_map(|target| {
        let values = values(file, target)?;
        let value = match figure {
            Figure::Quantile(share) => values.quantile(*share)? as f64,
            Figure::Cost => values.p50()? as f64,
            Figure::Mean => values.mean()?,
            _ => return None,
        };
        (values.count() >= VALUES_MIN).then(|| (target.name(), value))
    });
    Ok(figures.collect())
}

fn values<'a>(file: &'a ResultFile, target: &'a Target) -> Option<&'a Distribution> {
    match target {
        Target::Series(series) => Some(&series.distribution),
        Target::Part(_, _, values) => *values,
        Target::Periods(_, periods, None) => periods.lengths(),
        Target::Periods(_, periods, Some(part)) => periods.split.parts.get(part),
        Target::Clock(clock) => Some(&file.series(clock.cost_series.as_ref()?)?.distribution),
        Target::Cause(_) => None,
    }
}

/// Two builds of a program may be files of different names, which their main threads have, too: both are called `program`.
pub fn names_of(file: &mut ResultFile) {
    let Some(main) = file.observation.as_ref().and_then(|observation| observation.processes.first()) else { return };
    let main = main.name.clone();
    for series in file.series.iter_mut().filter(|series| series.observed.is_some()) {
        if series.labels.get(label::PROGRAM).as_ref() == Some(&main) {
            series.labels.set(label::PROGRAM, "program".to_owned());
        }
        if series.labels.get(label::THREAD).as_ref() == Some(&main) {
            series.labels.set(label::THREAD, "program".to_owned());
        }
    }
}
