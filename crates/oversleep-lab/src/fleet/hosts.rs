//! Hosts beside those of their kind: what is unlike, as findings that name a host, and a row for each.

use std::collections::BTreeMap;

use oversleep_explain::FindingEntry;
use oversleep_explain::fleet::UNLIKE;

use super::cells::Cell;
use super::judging::{Judging, days};
use super::model::{Figure, Finding, HostRow, Interval, Kind, Part};
use super::profiles::Profile;
use super::{stats, words};

/// Why a finding names a host.
pub(super) struct Reason {
    pub host: usize,
    /// How unusual it is, in deviations of the group.
    pub deviations: f64,
    pub since_unix_s: Option<i64>,
    pub ratio: Option<Interval>,
    pub words: String,
}

/// One finding for each host that there are reasons for, the most unusual first. `sentence` makes it of the host, its kind,
/// since when, and the first reason.
pub(super) fn findings(
    judging: &Judging<'_>,
    entry: &'static FindingEntry,
    reasons: Vec<Reason>,
    sentence: impl Fn(&str, &Kind, &str, &str) -> String,
) -> Vec<Finding> {
    by_host(reasons.into_iter().map(|reason| (reason.host, reason)))
        .into_iter()
        .map(|(host, mut reasons)| {
            reasons.sort_by(|a, b| b.deviations.total_cmp(&a.deviations));
            let (first, name, kind) = (&reasons[0], judging.name(host), judging.kind(host));
            let since = words::since(first.since_unix_s, first_day(judging, host));
            Finding {
                hosts: vec![name.to_owned()],
                since_unix_s: first.since_unix_s,
                sentence: sentence(name, kind, &since, &first.words),
                ratio: first.ratio,
                evidence: reasons.iter().map(|reason| reason.words.clone()).collect(),
                ..Finding::of(entry, kind)
            }
        })
        .collect()
}

/// One finding for each host whose waits are unlike those of its group, all the time or since a day.
pub(super) fn unlike(judging: &Judging<'_>, profiles: &[Profile]) -> Vec<Finding> {
    let unlike = profiles.iter().filter(|profile| profile.step.is_some() || profile.is_unlike(judging));
    let reason = |profile: &Profile| Reason {
        host: profile.host,
        deviations: profile.deviations(),
        since_unix_s: profile.since().map(|day| i64::from(day) * 86_400),
        ratio: profile.ratio(),
        words: profile.in_words(judging),
    };
    findings(judging, &UNLIKE, unlike.map(reason).collect(), |name, kind, since, words| {
        format!("{name} is unlike its group ({kind}) {since}: {words}.")
    })
}

/// Every host with the figure that is furthest from its group, the furthest host first.
pub(super) fn rows(judging: &Judging<'_>, profiles: &[Profile]) -> Vec<HostRow> {
    let days = days(judging.all);
    let mut rows: Vec<HostRow> = by_host(profiles.iter().map(|profile| (profile.host, profile)))
        .into_iter()
        .filter_map(|(host, profiles)| {
            let furthest = profiles.into_iter().max_by(|a, b| a.deviations().total_cmp(&b.deviations()))?;
            let middle = |is_meant: &dyn Fn(&Cell) -> bool| {
                let cells = judging.cells(host, furthest.wait).map(|(_, cell)| cell).filter(|cell| is_meant(cell));
                stats::median(&cells.filter_map(|cell| cell.p99).collect::<Vec<f64>>())
            };
            let of_day = |day: i32| judging.cells(host, furthest.wait).filter(move |(_, cell)| cell.day == day);
            let worst = |day: i32| of_day(day).filter_map(|(_, cell)| cell.p99).max_by(f64::total_cmp);
            let apart = |day: i32| {
                let both = |(at, _)| Figure::ALL.into_iter().filter_map(move |figure| judging.apart(at, figure));
                of_day(day).flat_map(both).max_by(f64::total_cmp).map(f64::exp)
            };
            Some(HostRow {
                host: judging.name(host).to_owned(),
                kind: judging.kind(host).clone(),
                wait: judging.all.waits.all[furthest.wait].clone(),
                figure: furthest.figure,
                value_ns: furthest.value_ns(),
                ratio: furthest.ratio(),
                deviations: furthest.is_beside_enough().then(|| furthest.deviations()),
                p99_by_part_ns: Part::ALL.map(|part| middle(&|cell| cell.part == part)),
                p99_by_day_ns: days.iter().map(|day| worst(*day)).collect(),
                times_group_by_day: days.iter().map(|day| apart(*day)).collect(),
                findings: Vec::new(),
            })
        })
        .collect();
    let order = |row: &HostRow| row.deviations.unwrap_or_default();
    rows.sort_by(|a, b| order(b).total_cmp(&order(a)).then_with(|| a.host.cmp(&b.host)));
    rows
}

/// The median lateness of a host, of the wait that is furthest from its group, if it has an interval.
pub(super) fn p50_of(profiles: &[Profile], host: usize) -> Option<&Profile> {
    let own = profiles.iter().filter(|profile| profile.host == host && profile.figure == Figure::P50);
    own.filter(|profile| profile.ratio().is_some()).max_by(|a, b| a.deviations().total_cmp(&b.deviations()))
}

fn by_host<T>(all: impl Iterator<Item = (usize, T)>) -> BTreeMap<usize, Vec<T>> {
    let mut hosts: BTreeMap<usize, Vec<T>> = BTreeMap::new();
    all.for_each(|(host, one)| hosts.entry(host).or_default().push(one));
    hosts
}

/// The start of the first day of a host.
pub(super) fn first_day(judging: &Judging<'_>, host: usize) -> i64 {
    let days = (0..judging.all.waits.all.len()).flat_map(|wait| judging.cells(host, wait)).map(|(_, cell)| cell.day);
    i64::from(days.min().unwrap_or_default()) * 86_400
}
