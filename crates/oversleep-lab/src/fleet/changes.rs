//! Facts that hosts changed, and their lateness before and after.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_explain::fleet::CHANGE;
use oversleep_record::words::{counted, list};

use super::cells::{Cell, KERNEL, Known};
use super::judging::{Judging, QUARTER};
use super::model::{Change, ChangeRow, Figure, Finding, Interval, Kind};
use super::{stats, words};

/// The length of a quarter of a day, s.
const QUARTER_S: i64 = 21_600;

/// When each host changed.
type Moments = Vec<(usize, i64)>;

/// A fact that hosts of a kind changed and changed back. Results don't say which values are from when.
pub(super) struct Returned {
    pub fact: String,
    pub kind: Kind,
    pub hosts: usize,
}

/// What hosts changed.
pub(super) struct Changes {
    /// That of the kernel first.
    pub all: Vec<Change>,
    pub returned: Vec<Returned>,
    /// How many figures of changes are compared.
    pub comparisons: usize,
}

impl Changes {
    /// The fewest hosts of a change, which would take its part of the error.
    pub fn hosts_min_of(&self, change: &Change) -> usize {
        let is_counted = change.rows.iter().any(|row| row.hosts as usize >= stats::hosts_min(QUARTER));
        let more = if is_counted { 0 } else { change.rows.len() };
        stats::hosts_min(QUARTER * (self.comparisons + more).max(1))
    }
}

/// A change before it is judged: each wait's figure of each host before and after it, and of the hosts without it.
struct Seen<'a> {
    key: (&'a str, u32, &'a str, &'a str),
    moments: Moments,
    times: Vec<i64>,
    returned: usize,
    sides: Vec<Sides>,
}

/// One figure of one wait, before and after.
struct Sides {
    wait: usize,
    figure: Figure,
    changed: Vec<[f64; 2]>,
    others: Vec<[f64; 2]>,
}

/// Every change that hosts of a kind have in common.
pub(super) fn all(judging: &Judging<'_>) -> Changes {
    let (seen, returned) = seen(judging);
    // Fewer hosts have no interval even for a single comparison, so they take nothing of the error.
    let may = |sides: &&Sides| sides.changed.len() >= stats::hosts_min(QUARTER);
    let comparisons = seen.iter().flat_map(|seen| &seen.sides).filter(may).count();
    let part_of_error = QUARTER * comparisons.max(1);
    let change = |one: &Seen<'_>| {
        let Seen { key: (fact, kind, from, to), times, sides, returned, .. } = one;
        Change {
            with: seen.iter().filter(|other| other.is_beside(one)).map(|other| other.words()).collect(),
            returned: *returned as u64,
            rows: sides.iter().filter_map(|sides| row(judging, sides, part_of_error)).collect(),
            fact: (*fact).to_owned(),
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            kind: judging.all.kinds[*kind as usize].clone(),
            hosts: times.len() as u64,
            first_unix_s: times[0],
            last_unix_s: times[times.len() - 1],
        }
    };
    let mut all: Vec<Change> = seen.iter().map(change).collect();
    all.sort_by_key(|change| change.fact != KERNEL);
    Changes { all, returned, comparisons }
}

impl Seen<'_> {
    /// Whether the same hosts changed both at the same times.
    fn is_beside(&self, other: &Seen<'_>) -> bool {
        self.key.0 != other.key.0 && self.moments == other.moments
    }

    fn words(&self) -> String {
        let (fact, _, from, to) = self.key;
        in_words(fact, from, to)
    }
}

fn in_words(fact: &str, from: &str, to: &str) -> String {
    format!("{fact} from {from} to {to}")
}

/// Whether a host still had one value when it already had the other.
fn is_back(one: &Known, other: &Known) -> bool {
    one.last >= other.first
}

fn seen<'a>(judging: &Judging<'a>) -> (Vec<Seen<'a>>, Vec<Returned>) {
    let mut found: BTreeMap<(&str, u32, &str, &str), Moments> = BTreeMap::new();
    let mut back: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    let mut returned: BTreeMap<(&str, u32, &str, &str), usize> = BTreeMap::new();
    for (at, host) in judging.all.hosts.iter().enumerate() {
        for (fact, values) in &host.facts {
            let mut values: Vec<_> = values.iter().collect();
            values.sort_by_key(|known| known.first);
            // Rows say under which kernel they are, so its return doesn't matter.
            if *fact != KERNEL && values.windows(2).any(|pair| is_back(pair[0], pair[1])) {
                *back.entry((*fact, host.kind)).or_default() += 1;
                continue;
            }
            for pair in values.windows(2) {
                let key = (*fact, host.kind, pair[0].value.as_str(), pair[1].value.as_str());
                found.entry(key).or_default().push((at, pair[1].first));
                *returned.entry(key).or_default() += usize::from(is_back(pair[0], pair[1]));
            }
        }
    }
    let seen = |(key, moments): ((&'a str, u32, &'a str, &'a str), Moments)| {
        let mut times: Vec<i64> = moments.iter().map(|(_, moment)| *moment).collect();
        times.sort_unstable();
        let others = unchanged(judging, key.0, times[times.len() / 2]);
        let returned = returned.get(&key).copied().unwrap_or_default();
        Seen { sides: sides(judging, key.0, (key.2, key.3), &moments, &others), key, moments, times, returned }
    };
    let back = back.into_iter().map(|((fact, kind), hosts)| Returned {
        fact: fact.to_owned(),
        kind: judging.all.kinds[kind as usize].clone(),
        hosts,
    });
    let back = back.collect();
    (found.into_iter().map(seen).collect(), back)
}

/// The hosts that didn't change that fact, at the time when others did.
fn unchanged(judging: &Judging<'_>, fact: &str, moment: i64) -> Moments {
    let hosts = judging.all.hosts.iter().enumerate();
    hosts
        .filter(|(_, host)| host.facts.get(fact).is_some_and(|all| all.len() == 1))
        .map(|(at, _)| (at, moment))
        .collect()
}

fn sides(
    judging: &Judging<'_>,
    fact: &str,
    (from, to): (&str, &str),
    moments: &Moments,
    others: &Moments,
) -> Vec<Sides> {
    let kernels = &judging.all.kernels.all;
    // The cells of a quarter in which the kernel changed are apart; those in which another fact did belong to neither side.
    let of_changed = |cell: &Cell, moment: i64| match fact == KERNEL {
        true => match &kernels[cell.kernel as usize] {
            kernel if kernel == from => Some(false),
            kernel if kernel == to => Some(true),
            _ => None,
        },
        false => by_time(cell, moment),
    };
    let waits = 0..judging.all.waits.all.len();
    let of = |wait, figure| Sides {
        wait,
        figure,
        changed: before_and_after(judging, (wait, figure), moments, of_changed),
        others: before_and_after(judging, (wait, figure), others, by_time),
    };
    waits.flat_map(|wait| Figure::ALL.map(|figure| of(wait, figure))).collect()
}

/// `None` where no host has the figure before and after.
fn row(judging: &Judging<'_>, sides: &Sides, part_of_error: usize) -> Option<ChangeRow> {
    let Sides { wait, figure, changed, others } = sides;
    let side = |at: usize| stats::median(&changed.iter().map(|pair| pair[at]).collect::<Vec<_>>());
    let (before_ns, after_ns) = side(0).zip(side(1))?;
    let ratio = |pairs: &[[f64; 2]]| {
        let ratios: Vec<f64> = pairs.iter().map(|pair| pair[1] / pair[0]).collect();
        stats::of_hosts(&ratios, part_of_error)
    };
    let other_hosts = others.len() as u64;
    let (ratio, others) = (ratio(changed), ratio(others));
    // What everybody's figures did at that time is no consequence of the change.
    let differs = ratio.zip(others).is_some_and(|(ratio, others): (Interval, Interval)| {
        stats::matters(ratio.value) && ratio.excludes(1.0) && ratio.is_apart(&others)
    });
    let (wait, hosts) = (judging.all.waits.all[*wait].clone(), changed.len() as u64);
    Some(ChangeRow { wait, figure: *figure, hosts, before_ns, after_ns, ratio, other_hosts, others, differs })
}

/// On which side of a moment a cell is, if it isn't around it.
fn by_time(cell: &Cell, moment: i64) -> Option<bool> {
    let start = i64::from(cell.day) * 86_400 + i64::from(cell.part.0) * QUARTER_S;
    match start {
        start if start + QUARTER_S <= moment => Some(false),
        start if start >= moment => Some(true),
        _ => None,
    }
}

/// The figure of each host's median cell before its moment and after it.
fn before_and_after(
    judging: &Judging<'_>,
    (wait, figure): (usize, Figure),
    moments: &Moments,
    is_after: impl Fn(&Cell, i64) -> Option<bool>,
) -> Vec<[f64; 2]> {
    let of = |&(host, moment): &(usize, i64)| {
        let mut sides = [Vec::new(), Vec::new()];
        for (_, cell) in judging.cells(host, wait) {
            if let Some((value, after)) = figure.of(cell).zip(is_after(cell, moment)) {
                sides[usize::from(after)].push(value);
            }
        }
        Some([stats::median(&sides[0])?, stats::median(&sides[1])?])
    };
    moments.iter().filter_map(of).collect()
}

/// The findings of changes that made a difference. Those that happened together are one.
pub(super) fn findings(changes: &Changes) -> Vec<Finding> {
    let (mut all, mut named) = (Vec::new(), BTreeSet::new());
    for change in &changes.all {
        let words = in_words(&change.fact, &change.from, &change.to);
        if let Some(finding) = finding(change).filter(|_| !named.contains(&(words, change.kind.clone()))) {
            named.extend(change.with.iter().map(|with| (with.clone(), change.kind.clone())));
            all.push(finding);
        }
    }
    all
}

/// The finding of a change that made a difference.
fn finding(change: &Change) -> Option<Finding> {
    let mut rows: Vec<&ChangeRow> = change.rows.iter().filter(|row| row.differs).collect();
    let size = |row: &ChangeRow| row.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
    rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let first = rows.first()?;
    let of = |row: &ChangeRow| {
        let times = row.ratio.map(|ratio| words::times(&ratio, row.hosts as usize, "host")).unwrap_or_default();
        let others = row.others.map(|others| {
            let (value, low, high) =
                (words::factor(others.value), words::factor(others.low), words::factor(others.high));
            format!("; hosts without the change: {value} ({low} to {high})")
        });
        format!(
            "{} of {} went from {} to {}, {times} as before{}",
            row.figure,
            row.wait,
            words::span(row.before_ns),
            words::span(row.after_ns),
            others.unwrap_or_default()
        )
    };
    let when = match change.first_unix_s == change.last_unix_s {
        true => format!("at {}", words::moment(change.first_unix_s)),
        false => format!("between {} and {}", words::moment(change.first_unix_s), words::moment(change.last_unix_s)),
    };
    // The largest is one of several, which their range says.
    let ratios = || rows.iter().filter_map(|row| row.ratio).map(|ratio| ratio.value);
    let most = match rows.len() {
        1 => String::new(),
        count => {
            let [least, most] = [ratios().fold(f64::MAX, f64::min), ratios().fold(0.0, f64::max)].map(words::factor);
            let range = if least == most { least } else { format!("{least} to {most}") };
            format!(
                "{count} of {} figures are {range} times as late as before, most of all this one: ",
                change.rows.len()
            )
        }
    };
    let (what, kind) = (in_words(&change.fact, &change.from, &change.to), &change.kind);
    let back = match change.returned {
        0 => String::new(),
        all if all == change.hosts => " and back later".to_owned(),
        some => format!(", {some} of them back later,"),
    };
    let with = match &change.with[..] {
        [] => String::new(),
        with => format!(
            " The same hosts changed the {} at the same time: these results can't tell which of them made the difference.",
            list(with)
        ),
    };
    Some(Finding {
        since_unix_s: Some(change.first_unix_s),
        sentence: format!(
            "{} ({kind}) changed the {what}{back} {when}: {most}{}.{with}",
            counted(change.hosts, "host"),
            of(first)
        ),
        evidence: rows.iter().map(|row| of(row)).collect(),
        ratio: first.ratio,
        ..Finding::of(&CHANGE, kind)
    })
}
