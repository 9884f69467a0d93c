//! Kinds of machines side by side: their lateness by kernel, quarter of the day and day, and what the hypervisor takes.

use std::collections::BTreeMap;

use oversleep_explain::fleet::STEAL;
use oversleep_record::words::{counted, percent};

use super::cells::Cell;
use super::judging::{Judging, QUARTER, days};
use super::model::{Figure, Finding, Group, Interval, Part};
use super::{stats, words};

/// The share of the CPU time from which steal matters, as in findings about one machine.
const STEAL_MIN: f64 = 0.005;

/// The waits of each kind under each kernel.
pub(super) fn all(judging: &Judging<'_>) -> Vec<Group> {
    let mut cells: BTreeMap<(u32, u16, u16), Vec<&Cell>> = BTreeMap::new();
    for cell in &judging.all.cells {
        let kind = judging.all.hosts[cell.host as usize].kind;
        cells.entry((kind, cell.wait, cell.kernel)).or_default().push(cell);
    }
    let days = days(judging.all);
    let group = |((kind, wait, kernel), cells): ((u32, u16, u16), Vec<&Cell>)| {
        let figure = |figure: Figure| stats::of_hosts(&by_host(&cells, |cell| figure.of(cell)), 1);
        let middle = |figure: Figure, is_meant: &dyn Fn(&Cell) -> bool| {
            let values: Vec<f64> =
                cells.iter().filter(|cell| is_meant(cell)).filter_map(|cell| figure.of(cell)).collect();
            stats::median(&values)
        };
        let by_part = |figure| Part::ALL.map(|part| middle(figure, &|cell| cell.part == part));
        let by_day = |figure| days.iter().map(|day| middle(figure, &|cell| cell.day == *day)).collect();
        let kernel = Some(&judging.all.kernels.all[kernel as usize]).filter(|kernel| !kernel.is_empty()).cloned();
        Group {
            kind: judging.all.kinds[kind as usize].clone(),
            kernel,
            wait: judging.all.waits.all[wait as usize].clone(),
            hosts: by_host(&cells, |cell| Some(cell.p50)).len() as u64,
            median_p50_ns: stats::median(&by_host(&cells, |cell| Figure::P50.of(cell))),
            median_p99_ns: stats::median(&by_host(&cells, |cell| Figure::P99.of(cell))),
            p50_ns: figure(Figure::P50),
            p99_ns: figure(Figure::P99),
            steal_share: stats::of_hosts(&by_host(&cells, |cell| cell.steal.map(f64::from)), 1),
            p50_by_part_ns: by_part(Figure::P50),
            p99_by_part_ns: by_part(Figure::P99),
            p50_by_day_ns: by_day(Figure::P50),
            p99_by_day_ns: by_day(Figure::P99),
        }
    };
    let mut groups: Vec<Group> = cells.into_iter().map(group).collect();
    groups.sort_by(|a, b| (&a.wait, &a.kind, &a.kernel).cmp(&(&b.wait, &b.kind, &b.kernel)));
    groups
}

/// A figure of each host's median cell.
fn by_host(cells: &[&Cell], figure: impl Fn(&Cell) -> Option<f64>) -> Vec<f64> {
    let mut hosts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for cell in cells {
        hosts.entry(cell.host).or_default().extend(figure(cell));
    }
    hosts.values().filter_map(|values| stats::median(values)).collect()
}

/// The stolen share of each host of each kind that is known.
pub(super) struct Steal {
    by_kind: Vec<Vec<f64>>,
    /// How many kinds are compared.
    pub comparisons: usize,
}

impl Steal {
    pub fn of(judging: &Judging<'_>) -> Steal {
        let mut cells: Vec<Vec<&Cell>> = vec![Vec::new(); judging.all.kinds.len()];
        let kind = |cell: &Cell| judging.all.hosts[cell.host as usize].kind as usize;
        judging.all.cells.iter().for_each(|cell| cells[kind(cell)].push(cell));
        let of_kind = |cells: &Vec<&Cell>| by_host(cells, |cell| cell.steal.map(f64::from));
        let by_kind: Vec<Vec<f64>> = cells.iter().map(of_kind).collect();
        // Fewer hosts have no interval even for a single comparison, so they take nothing of the error.
        let comparisons = by_kind.iter().filter(|known| known.len() >= stats::hosts_min(QUARTER)).count();
        Steal { by_kind, comparisons }
    }

    /// The fewest hosts for a kind of which so many are known.
    pub fn hosts_min_of(&self, known: usize) -> usize {
        let more = usize::from(known < stats::hosts_min(QUARTER));
        stats::hosts_min(QUARTER * (self.comparisons + more).max(1))
    }

    /// How many hosts of each kind have a known share.
    pub fn known(&self) -> impl Iterator<Item = usize> {
        self.by_kind.iter().map(Vec::len)
    }

    fn part_of_error(&self) -> usize {
        QUARTER * self.comparisons.max(1)
    }

    fn interval(&self, is_meant: impl Fn(usize) -> bool) -> Option<Interval> {
        let meant = self.by_kind.iter().enumerate().filter(|(kind, _)| is_meant(*kind));
        let shares: Vec<f64> = meant.flat_map(|(_, known)| known.iter().copied()).collect();
        stats::of_hosts(&shares, self.part_of_error())
    }

    /// One finding for each kind from which the hypervisor takes time, and more than from the other hosts.
    pub fn findings(&self, judging: &Judging<'_>, groups: &[Group]) -> Vec<Finding> {
        let part_of_error = self.part_of_error();
        let found = (0..judging.all.kinds.len()).filter_map(|kind| {
            let stolen = self.interval(|other| other == kind)?;
            let elsewhere = self.interval(|other| other != kind);
            let is_more = elsewhere.is_none_or(|elsewhere| stolen.low > elsewhere.high);
            (stolen.value >= STEAL_MIN && is_more)
                .then(|| finding(judging, groups, kind, (stolen, elsewhere), part_of_error))
        });
        found.collect()
    }
}

fn finding(
    judging: &Judging<'_>,
    groups: &[Group],
    kind: usize,
    (stolen, elsewhere): (Interval, Option<Interval>),
    part_of_error: usize,
) -> Finding {
    let days = days(judging.all);
    let on = |day: i32| {
        let is_of = |cell: &&Cell| cell.day == day && judging.all.hosts[cell.host as usize].kind as usize == kind;
        let shares = judging.all.cells.iter().filter(is_of).filter_map(|cell| cell.steal.map(f64::from));
        stats::median(&shares.collect::<Vec<f64>>())
    };
    let began = days.iter().rev().take_while(|&&day| on(day).is_some_and(|share| share > stolen.value / 2.0)).last();
    let since = began.filter(|day| Some(*day) != days.first()).map(|day| i64::from(*day) * 86_400);
    let members = judging.members(kind).count();
    // The days before it began say nothing of what it takes.
    let is_since = |cell: &&Cell| {
        began.is_none_or(|day| cell.day >= *day) && judging.all.hosts[cell.host as usize].kind as usize == kind
    };
    let cells: Vec<&Cell> = judging.all.cells.iter().filter(is_since).collect();
    let stolen = stats::of_hosts(&by_host(&cells, |cell| cell.steal.map(f64::from)), part_of_error).unwrap_or(stolen);
    let kind = &judging.all.kinds[kind];
    let others = elsewhere.map(|others| format!(", and {} from other hosts", percent(others.value)));
    let late = groups.iter().filter(|group| group.kind == *kind).filter_map(|group| {
        let (p50, p99) = (group.p50_ns?, group.p99_ns?);
        let kernel = group.kernel.as_deref().map(|kernel| format!(" under {kernel}")).unwrap_or_default();
        let (p50, p99) = (words::span(p50.value), words::span(p99.value));
        Some(format!("{}{kernel}: p50 {p50}, p99 {p99} of the median host", group.wait))
    });
    let first = i64::from(days.first().copied().unwrap_or_default()) * 86_400;
    Finding {
        since_unix_s: since,
        sentence: format!(
            "The hypervisor takes {} of the CPU time from the median of {} ({kind}) {} (99 % interval {} to {}){}.",
            percent(stolen.value),
            counted(members, "host"),
            words::since(since, first).replace("its first row", "the first row"),
            percent(stolen.low),
            percent(stolen.high),
            others.unwrap_or_default()
        ),
        evidence: late.collect(),
        ..Finding::of(&STEAL, kind)
    }
}
