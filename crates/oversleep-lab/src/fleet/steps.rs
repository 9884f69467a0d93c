//! Hosts that were like their group and are unlike it since a day: their days since then beside those before.
//!
//! Over the whole span such a host is neither steady nor far from its group at its median, so each day is tried as the first
//! of the change, and shares the error of the comparison with the others.

use std::collections::BTreeMap;

use super::judging::{Judging, MEMBERS_MIN};
use super::model::Interval;
use super::profiles::{Profile, Step};
use super::stats::{self, Split};

/// The fewest days before a change, and since: a single one may be a passing disturbance.
const SIDE_MIN: usize = 2;
/// With fewer days on both sides together, too little is known of how they differ.
const DAYS_MIN: usize = 5;

/// Finds the change of each profile, where it is beyond what hosts and days differ by.
pub(super) fn find(judging: &Judging<'_>, profiles: &mut [Profile]) {
    let group = |profile: &Profile| (judging.all.hosts[profile.host].kind, profile.wait, profile.figure);
    for members in profiles.chunk_by_mut(|a, b| group(a) == group(b)).filter(|members| members.len() >= MEMBERS_MIN) {
        let steps = of_group(judging, members);
        members.iter_mut().zip(steps).for_each(|(member, step)| member.step = step);
    }
}

fn of_group(judging: &Judging<'_>, members: &[Profile]) -> Vec<Option<Step>> {
    // The middle and the spread of the changes of all members at a day, and how many these are.
    let mut at_day: BTreeMap<i32, (f64, f64, usize)> = BTreeMap::new();
    let step = |member: &Profile| {
        let (since, split, comparisons) = largest(judging, member)?;
        let (middle, spread, count) = *at_day.entry(since).or_insert_with(|| {
            let changes: Vec<f64> = members.iter().filter_map(|member| change(member, since)).collect();
            let found = stats::middle_and_spread(&changes).filter(|_| changes.len() >= MEMBERS_MIN);
            let (middle, spread) = found.unwrap_or((0.0, f64::INFINITY));
            (middle, spread, changes.len())
        });
        let by = split.step - middle;
        let deviations = by / spread;
        let (before, after) = (split.before - member.middle, split.after - member.middle);
        // One that is unlike its group over the whole span has a day since when only if most of it came then.
        let before_most = if member.is_unlike(judging) { after.abs() / 2.0 } else { after.abs() };
        let is_away = before.abs() < before_most && stats::matters(after.exp()) && stats::matters(by.exp());
        if deviations.abs() <= stats::unusual_from(count, comparisons) || !is_away {
            return None;
        }
        let since_then = judging.cells(member.host, member.wait).filter(|(_, cell)| cell.day >= since);
        let values: Vec<f64> = since_then.filter_map(|(_, cell)| member.figure.of(cell)).collect();
        let half = split.half(1);
        Some(Step {
            since,
            days: member.by_day.range(since..).count(),
            by,
            apart: Interval { value: after, low: after - half, high: after + half },
            value_ns: stats::median(&values)?,
            deviations,
        })
    };
    members.iter().map(step).collect()
}

/// The day at which a member changed most surely, if it is sure.
fn largest(judging: &Judging<'_>, member: &Profile) -> Option<(i32, Split, usize)> {
    let days: Vec<f64> = member.by_day.values().copied().collect();
    if days.len() < DAYS_MIN {
        return None;
    }
    let places = SIDE_MIN..=days.len() - SIDE_MIN;
    let comparisons = judging.comparisons.saturating_mul(places.clone().count());
    let splits = stats::splits(&days).filter(|(at, _)| places.contains(at));
    let (at, split) = splits.max_by(|(_, a), (_, b)| a.certainty().total_cmp(&b.certainty()))?;
    let since = *member.by_day.keys().nth(at)?;
    (split.step.abs() > split.half_of_step(comparisons)).then_some((since, split, comparisons))
}

/// The change of a member at that day.
fn change(member: &Profile, since: i32) -> Option<f64> {
    let mean = |days: Vec<f64>| (!days.is_empty()).then(|| days.iter().sum::<f64>() / days.len() as f64);
    let before = mean(member.by_day.range(..since).map(|(_, apart)| *apart).collect())?;
    Some(mean(member.by_day.range(since..).map(|(_, apart)| *apart).collect())? - before)
}
