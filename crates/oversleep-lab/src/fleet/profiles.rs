//! One figure of each host's wait beside its group.

use std::collections::BTreeMap;

use super::judging::{Judging, MEMBERS_MIN};
use super::model::{Figure, Interval, Part};
use super::{stats, words};

/// One figure of one host's wait beside its group. All are logarithms of ratios.
pub(super) struct Profile {
    pub host: usize,
    pub wait: usize,
    pub figure: Figure,
    /// How far it is from its group on each day.
    pub by_day: BTreeMap<i32, f64>,
    /// How much further it is in a quarter of the day than in the others, on each day.
    pub by_part: [BTreeMap<i32, f64>; Part::ALL.len()],
    /// The middle of the group, which is nearly zero.
    pub middle: f64,
    /// Since when it is unlike its group, if it was like it first.
    pub step: Option<Step>,
    /// How far it is from its group, of its median cell.
    apart: f64,
    /// The figure in ns, of its median cell.
    value_ns: f64,
    /// `apart` without what all of its group have, in deviations of the group.
    deviations: f64,
    /// The deviations from which a member of the group is unusual.
    unusual_from: f64,
}

/// A change of one host against its group. All but the value are logarithms of ratios.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The first day since.
    pub since: i32,
    /// How many days since.
    pub days: usize,
    /// By how much, without what its group changed meanwhile.
    pub by: f64,
    /// How far it is from its group since, with a 99 % interval by days.
    pub apart: Interval,
    /// The figure in ns, of the median cell since.
    pub value_ns: f64,
    /// By how many deviations of the changes of its group it changed more.
    pub deviations: f64,
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
                let is_other = |(at, _): &(usize, &Vec<f64>)| *at != part;
                let others: Vec<f64> =
                    quarters.iter().enumerate().filter(is_other).flat_map(|(_, all)| all.clone()).collect();
                let further = stats::median(during).zip(stats::median(&others)).map(|(this, others)| this - others);
                by_part[part].extend(further.map(|further| (day, further)));
            }
        }
        Some(Profile {
            host,
            wait,
            figure,
            apart: stats::median(&all)?,
            by_day,
            by_part,
            value_ns: stats::median(&values)?,
            deviations: 0.0,
            middle: 0.0,
            unusual_from: f64::INFINITY,
            step: None,
        })
    }

    /// The figure in ns: of its median cell, or of those since it is unlike its group.
    pub fn value_ns(&self) -> f64 {
        self.step.as_ref().map_or(self.value_ns, |step| step.value_ns)
    }

    /// How unusual it is beside its group, in deviations of the group.
    pub fn deviations(&self) -> f64 {
        self.step.as_ref().map_or(self.deviations, |step| step.deviations).abs()
    }

    /// Whether there are enough beside it to show what is usual.
    pub fn is_beside_enough(&self) -> bool {
        self.unusual_from.is_finite()
    }

    /// How many times as late as its group it is, by days; since it is unlike its group, if it was like it first.
    pub fn ratio(&self) -> Option<Interval> {
        match &self.step {
            Some(step) => Some(step.apart.exp()),
            None => stats::of_days(&self.days(), 1).map(Interval::exp),
        }
    }

    fn days(&self) -> Vec<f64> {
        self.by_day.values().map(|apart| apart - self.middle).collect()
    }

    /// Whether it is unusual by an effect that matters: beside the other hosts, and beside what differs from day to day on
    /// this one, each with the error of all comparisons. Hosts are not equally steady, so neither suffices alone.
    pub fn is_unlike(&self, judging: &Judging<'_>) -> bool {
        let days = self.days();
        let is_steady = stats::of_days(&days, judging.comparisons).is_some_and(|days| days.excludes(0.0));
        let matters = stats::of_days(&days, 1).is_some_and(|ratio| stats::matters(ratio.value.exp()));
        self.deviations.abs() > self.unusual_from && is_steady && matters
    }

    /// The day since which it is unlike its group; `None` if it has always been.
    pub fn since(&self) -> Option<i32> {
        match &self.step {
            Some(step) => Some(step.since),
            None => began(&self.by_day, self.apart - self.middle),
        }
    }

    /// `p50 of nanosleep(1 ms) is 101 µs, 1.62 times as late (…) as the median of its group`.
    pub fn in_words(&self, judging: &Judging<'_>) -> String {
        let value = words::span(self.value_ns());
        let (figure, wait) = (self.figure, &judging.all.waits.all[self.wait]);
        match (&self.step, self.ratio()) {
            (Some(step), Some(ratio)) => format!(
                "{figure} of {wait} is {value} since then, {} as the median of its group and {} times as late as before",
                words::times(&ratio, step.days, "day"),
                words::factor(step.by.exp())
            ),
            (None, Some(ratio)) => format!(
                "{figure} of {wait} is {value}, {} as the median of its group",
                words::times(&ratio, self.by_day.len(), "day")
            ),
            (_, None) => {
                let days = self.by_day.len();
                format!("{figure} of {wait} is {value}, from {days} days, which are too few for an interval")
            }
        }
    }
}

impl Profile {
    /// What a setting may have done, in words: whether it is later at all comes first.
    pub fn in_words_of_effect(&self, judging: &Judging<'_>) -> String {
        let Some(ratio) = self.ratio().filter(|_| self.step.is_none()) else { return self.in_words(judging) };
        let verdict = match ratio {
            ratio if ratio.high <= stats::NEAR_ONE => "is no later than the median of its group",
            ratio if ratio.low > 1.0 && stats::matters(ratio.value) => "is later than the median of its group",
            _ => "is not surely later than the median of its group",
        };
        let (figure, wait) = (self.figure, &judging.all.waits.all[self.wait]);
        let (value, days) = (words::span(self.value_ns), words::times(&ratio, self.by_day.len(), "day"));
        format!("{figure} of {wait} {verdict}: {value}, {}", days.replace(" times as late", " times"))
    }
}

/// The profiles of all hosts, waits and figures that have enough beside them.
pub(super) fn all(judging: &Judging<'_>) -> Vec<Profile> {
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
pub(super) fn began(by_day: &BTreeMap<i32, f64>, effect: f64) -> Option<i32> {
    let is_beyond = |value: f64| value * effect.signum() > effect.abs() / 2.0;
    let since = by_day.iter().rev().take_while(|(_, value)| is_beyond(**value)).last().map(|(day, _)| *day)?;
    (by_day.keys().next() != Some(&since)).then_some(since)
}
