//! Hosts beside those of their kind: at all times, and at certain hours.

use std::collections::BTreeMap;

use super::cells::Cell;
use super::judging::{Judging, MEMBERS_MIN, days};
use super::kinds::{HOURS, UNLIKE};
use super::model::{Figure, Finding, HostRow, Interval, Part};
use super::{stats, words};

/// One figure of one host's wait beside its group. All are logarithms of ratios.
pub(super) struct Profile {
    pub host: usize,
    pub wait: usize,
    pub figure: Figure,
    /// How far it is from its group, of its median cell.
    pub apart: f64,
    /// That of each day.
    pub by_day: BTreeMap<i32, f64>,
    /// How much further it is in a quarter of the day than in the others, on each day.
    pub by_part: [BTreeMap<i32, f64>; Part::ALL.len()],
    /// The figure in ns, of its median cell.
    pub value_ns: f64,
    /// `apart` without what all of its group have, in deviations of the group.
    pub deviations: f64,
    /// The middle of the group, which is nearly zero.
    middle: f64,
    /// The deviations from which a member of the group is unusual.
    unusual_from: f64,
}

impl Profile {
    fn of(judging: &Judging<'_>, host: usize, wait: usize, figure: Figure) -> Option<Profile> {
        let mut by_quarter: BTreeMap<i32, [Vec<f64>; Part::ALL.len()]> = BTreeMap::new();
        let (mut all, mut values) = (Vec::new(), Vec::new());
        for (at, cell) in judging.cells(host, wait) {
            let Some(apart) = judging.apart(at, figure) else { continue };
            by_quarter.entry(cell.day).or_default()[usize::from(cell.part.0)].push(apart);
            all.push(apart);
            values.extend(figure.of(cell));
        }
        let mut by_part: [BTreeMap<i32, f64>; Part::ALL.len()] = Default::default();
        let mut by_day = BTreeMap::new();
        for (day, quarters) in by_quarter {
            by_day.extend(stats::median(&quarters.concat()).map(|median| (day, median)));
            for (part, during) in quarters.iter().enumerate() {
                let others: Vec<f64> = quarters
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != part)
                    .flat_map(|(_, all)| all.clone())
                    .collect();
                let further = stats::median(during).zip(stats::median(&others)).map(|(this, others)| this - others);
                by_part[part].extend(further.map(|further| (day, further)));
            }
        }
        let apart = stats::median(&all)?;
        let value_ns = stats::median(&values)?;
        Some(Profile {
            host,
            wait,
            figure,
            apart,
            by_day,
            by_part,
            value_ns,
            deviations: 0.0,
            middle: 0.0,
            unusual_from: f64::INFINITY,
        })
    }

    /// How many times as late as its group, by days.
    pub fn ratio(&self) -> Option<Interval> {
        let days: Vec<f64> = self.by_day.values().map(|apart| apart - self.middle).collect();
        stats::of_days(&days, 1).map(Interval::exp)
    }

    /// Whether it is unusual by an effect that matters: beside the other hosts, and beside what differs from day to day on
    /// this one, each with the error of all comparisons. Hosts are not equally steady, so neither suffices alone.
    fn is_unlike(&self, judging: &Judging<'_>) -> bool {
        let days: Vec<f64> = self.by_day.values().map(|apart| apart - self.middle).collect();
        let is_steady = stats::of_days(&days, judging.comparisons).is_some_and(|days| days.excludes(0.0));
        let matters = self.ratio().is_some_and(|ratio| stats::matters(ratio.value));
        self.deviations.abs() > self.unusual_from && is_steady && matters
    }
}

/// The profiles of all hosts, waits and figures that have enough beside them.
pub(super) fn profiles(judging: &Judging<'_>) -> Vec<Profile> {
    let mut all = Vec::new();
    for kind in 0..judging.all.kinds.len() {
        for wait in 0..judging.all.waits.all.len() {
            for figure in Figure::ALL {
                let of = |host| Profile::of(judging, host, wait, figure);
                let mut members: Vec<Profile> = judging.members(kind).filter_map(of).collect();
                let apart: Vec<f64> = members.iter().map(|member| member.apart).collect();
                let spread = stats::middle_and_spread(&apart).filter(|_| members.len() >= MEMBERS_MIN);
                if let Some((middle, spread)) = spread {
                    let unusual_from = stats::unusual_from(members.len(), judging.comparisons);
                    for member in &mut members {
                        (member.middle, member.unusual_from) = (middle, unusual_from);
                        member.deviations = (member.apart - middle) / spread;
                    }
                }
                all.append(&mut members);
            }
        }
    }
    all
}

/// The first day from which all are beyond half of the effect; `None` if that is the first of all.
fn began(by_day: &BTreeMap<i32, f64>, effect: f64) -> Option<i32> {
    let is_beyond = |value: f64| value * effect.signum() > effect.abs() / 2.0;
    let since = by_day.iter().rev().take_while(|(_, value)| is_beyond(**value)).last().map(|(day, _)| *day)?;
    (by_day.keys().next() != Some(&since)).then_some(since)
}

/// One finding for each host whose waits are unlike those of its group.
pub(super) fn unlike(judging: &Judging<'_>, profiles: &[Profile]) -> Vec<Finding> {
    let unlike = profiles.iter().filter(|profile| profile.is_unlike(judging));
    by_host(unlike.map(|profile| (profile.host, profile)))
        .into_iter()
        .map(|(host, mut profiles)| {
            profiles.sort_by(|a, b| b.deviations.abs().total_cmp(&a.deviations.abs()));
            let first = profiles[0];
            let ratio = first.ratio();
            let since = began(&first.by_day, first.apart - first.middle).map(|day| i64::from(day) * 86_400);
            let sentence = format!(
                "{} is unlike its group ({}) {}: {}.",
                name(judging, host),
                kind(judging, host),
                words::since(since, first_day(judging, host)),
                figure_in_words(judging, first)
            );
            Finding {
                id: UNLIKE.id,
                name: UNLIKE.name,
                hosts: vec![name(judging, host).to_owned()],
                kind: Some(judging.all.kinds[judging.all.hosts[host].kind as usize].clone()),
                since_unix_s: since,
                sentence,
                evidence: profiles.iter().map(|profile| figure_in_words(judging, profile)).collect(),
                next_step: UNLIKE.next_step.to_owned(),
                ratio,
            }
        })
        .collect()
}

/// `p50 of nanosleep(1 ms) is 101 µs, 1.62 times as late (…) as the median of its group, 24 deviations apart`.
pub(super) fn figure_in_words(judging: &Judging<'_>, profile: &Profile) -> String {
    let value = words::span(profile.value_ns);
    let days = profile.by_day.len();
    let wait = &judging.all.waits.all[profile.wait];
    match profile.ratio() {
        Some(ratio) => format!(
            "{} of {wait} is {value}, {} as the median of its group",
            profile.figure,
            words::times(&ratio, days, "day")
        ),
        None => format!("{} of {wait} is {value}, from {days} days, which are too few for an interval", profile.figure),
    }
}

/// What is unusual about a host in a quarter of the day.
struct AtHours<'a> {
    profile: &'a Profile,
    part: Part,
    ratio: Interval,
    deviations: f64,
}

/// One finding for each host that is late at the same hours of every day, unlike its group.
pub(super) fn at_hours(judging: &Judging<'_>, profiles: &[Profile]) -> Vec<Finding> {
    let mut all = Vec::new();
    for kind in 0..judging.all.kinds.len() {
        for wait in 0..judging.all.waits.all.len() {
            for figure in Figure::ALL {
                let is_of = |profile: &&Profile| {
                    judging.all.hosts[profile.host].kind as usize == kind
                        && (profile.wait, profile.figure) == (wait, figure)
                };
                let members: Vec<&Profile> = profiles.iter().filter(is_of).collect();
                Part::ALL.iter().for_each(|&part| all.extend(late_in(judging, &members, part)));
            }
        }
    }
    by_host(all.into_iter().map(|late| (late.profile.host, late)))
        .into_iter()
        .map(|(host, mut late)| {
            late.sort_by(|a, b| b.deviations.total_cmp(&a.deviations));
            let first = &late[0];
            let by_day = &first.profile.by_part[usize::from(first.part.0)];
            let since = began(by_day, first.ratio.value.ln())
                .map(|day| i64::from(day) * 86_400 + i64::from(first.part.0) * 21_600);
            let of = |late: &AtHours<'_>| {
                let wait = &judging.all.waits.all[late.profile.wait];
                let days = late.profile.by_part[usize::from(late.part.0)].len();
                let times = words::times(&late.ratio, days, "day");
                format!("from {} UTC {} of {wait} is {times} as at other hours", late.part, late.profile.figure)
            };
            let sentence = format!(
                "{} ({}) is late at certain hours {}: {}, and its group is not.",
                name(judging, host),
                kind(judging, host),
                words::since(since, first_day(judging, host)),
                of(first)
            );
            Finding {
                id: HOURS.id,
                name: HOURS.name,
                hosts: vec![name(judging, host).to_owned()],
                kind: Some(judging.all.kinds[judging.all.hosts[host].kind as usize].clone()),
                since_unix_s: since,
                sentence,
                evidence: late.iter().map(of).collect(),
                next_step: HOURS.next_step.to_owned(),
                ratio: Some(first.ratio),
            }
        })
        .collect()
}

/// Those of a group that are later in a part of the day than in others, by more than is usual in the group.
fn late_in<'a>(judging: &Judging<'_>, members: &[&'a Profile], part: Part) -> Vec<AtHours<'a>> {
    let of = |profile: &&'a Profile| {
        let days: Vec<f64> = profile.by_part[usize::from(part.0)].values().copied().collect();
        Some((*profile, stats::median(&days)?, days))
    };
    let known: Vec<(&Profile, f64, Vec<f64>)> = members.iter().filter_map(of).collect();
    let further: Vec<f64> = known.iter().map(|(_, further, _)| *further).collect();
    let Some((middle, spread)) = stats::middle_and_spread(&further).filter(|_| known.len() >= MEMBERS_MIN) else {
        return Vec::new();
    };
    let unusual_from = stats::unusual_from(known.len(), judging.comparisons);
    let late = known.into_iter().filter_map(|(profile, further, days)| {
        let deviations = (further - middle) / spread;
        let days: Vec<f64> = days.iter().map(|day| day - middle).collect();
        let ratio = stats::of_days(&days, 1)?.exp();
        let is_steady = stats::of_days(&days, judging.comparisons).is_some_and(|days| days.low > 0.0);
        let is_late = deviations > unusual_from && is_steady && stats::matters(ratio.value);
        is_late.then_some(AtHours { profile, part, ratio, deviations })
    });
    late.collect()
}

/// Every host with the figure that is furthest from its group, the furthest host first.
pub(super) fn rows(judging: &Judging<'_>, profiles: &[Profile]) -> Vec<HostRow> {
    let days = days(judging.all);
    let mut rows: Vec<HostRow> = by_host(profiles.iter().map(|profile| (profile.host, profile)))
        .into_iter()
        .filter_map(|(host, profiles)| {
            let furthest = profiles.into_iter().max_by(|a, b| a.deviations.abs().total_cmp(&b.deviations.abs()))?;
            let middle = |is_meant: &dyn Fn(&Cell) -> bool| {
                let cells = judging.cells(host, furthest.wait).map(|(_, cell)| cell).filter(|cell| is_meant(cell));
                stats::median(&cells.filter_map(|cell| cell.p99).collect::<Vec<f64>>())
            };
            let latest = |day: i32| {
                let cells = judging.cells(host, furthest.wait).filter(|(_, cell)| cell.day == day);
                cells.filter_map(|(_, cell)| cell.p99).max_by(f64::total_cmp)
            };
            Some(HostRow {
                host: name(judging, host).to_owned(),
                kind: judging.all.kinds[judging.all.hosts[host].kind as usize].clone(),
                wait: judging.all.waits.all[furthest.wait].clone(),
                figure: furthest.figure,
                value_ns: furthest.value_ns,
                ratio: furthest.ratio(),
                deviations: furthest.deviations.abs(),
                p99_by_part_ns: Part::ALL.map(|part| middle(&|cell| cell.part == part)),
                p99_by_day_ns: days.iter().map(|day| latest(*day)).collect(),
                findings: Vec::new(),
            })
        })
        .collect();
    rows.sort_by(|a, b| b.deviations.total_cmp(&a.deviations).then_with(|| a.host.cmp(&b.host)));
    rows
}

fn by_host<T>(all: impl Iterator<Item = (usize, T)>) -> BTreeMap<usize, Vec<T>> {
    let mut hosts: BTreeMap<usize, Vec<T>> = BTreeMap::new();
    all.for_each(|(host, one)| hosts.entry(host).or_default().push(one));
    hosts
}

fn name<'a>(judging: &Judging<'a>, host: usize) -> &'a str {
    &judging.all.hosts[host].name
}

fn kind<'a>(judging: &Judging<'a>, host: usize) -> &'a super::model::Kind {
    &judging.all.kinds[judging.all.hosts[host].kind as usize]
}

/// The start of the first day of a host.
pub(super) fn first_day(judging: &Judging<'_>, host: usize) -> i64 {
    let days = (0..judging.all.waits.all.len()).flat_map(|wait| judging.cells(host, wait)).map(|(_, cell)| cell.day);
    i64::from(days.min().unwrap_or_default()) * 86_400
}
