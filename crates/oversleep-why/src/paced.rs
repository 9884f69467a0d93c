//! The loops that the waits of one group pace: their periods together, and whether their deadlines count from one another.

use oversleep_record::observed::period::{Block, Periods};
use oversleep_record::split::PartSplit;
use oversleep_record::{Distribution, Nanos};

use crate::blame::{add_blame, blame};
use crate::periods::Period;
use crate::wait::signed;

/// The fewest periods of a loop, and the part of the distance of its deadlines that half of them may vary by.
const PERIODS_MIN: u64 = 8;
const STEADY_WITHIN: i64 = 20;
/// So many times as many periods are most of them: what few others are meant to be doesn't count.
const MOST_OF: u64 = 8;
/// The most calls that are told apart.
const BLOCKS_MAX: usize = 64;

/// What a group knows of the loops that its waits pace.
#[derive(Clone, Debug)]
pub struct Paced {
    periods: Option<Periods>,
    /// From one deadline of a thread to the next, in ns, and how many of them are on a grid, of all that tell.
    steps: Distribution,
    on_grid: (u64, u64),
}

impl Default for Paced {
    fn default() -> Paced {
        Paced { periods: None, steps: Distribution::growing(), on_grid: (0, 0) }
    }
}

impl Paced {
    /// How many periods there are.
    pub fn count(&self) -> u64 {
        self.periods.as_ref().map_or(0, |periods| periods.split.count())
    }

    /// Adds a period.
    pub fn add(&mut self, period: &Period) {
        let periods = self.periods.get_or_insert_with(|| Periods { split: PartSplit::apart(""), ..Periods::default() });
        periods.split.record(&period.parts);
        periods.missed_count = periods.missed_count.saturating_add(period.missed);
        periods.fault_count = periods.fault_count.saturating_add(period.fault_count);
        periods.intended_ns = period.timer_ns.map(|ns| Nanos(signed(ns))).or(periods.intended_ns);
        period.deadline_step.iter().for_each(|&step| self.steps.record(step));
        self.on_grid.0 += u64::from(period.is_on_grid == Some(true));
        self.on_grid.1 += u64::from(period.is_on_grid.is_some());
        if let Some(follows) = period.follows_work {
            periods.requests_changed_count = periods.requests_changed_count.saturating_add(1);
            periods.requests_follow_count = periods.requests_follow_count.saturating_add(follows.into());
        }
        for held in &period.held {
            held.culprits.iter().for_each(|culprit| add_blame(&mut periods.blames, blame(culprit)));
            held.block.iter().for_each(|block| add_block(&mut periods.blocks, block.clone()));
        }
    }

    /// Adds those of another group.
    pub fn merge(&mut self, other: Paced) {
        self.steps.merge(&other.steps);
        self.on_grid = (self.on_grid.0 + other.on_grid.0, self.on_grid.1 + other.on_grid.1);
        if let Some(periods) = other.periods {
            merge(&mut self.periods, periods);
        }
    }

    /// The distributions.
    pub fn distributions(&self) -> impl Iterator<Item = &Distribution> {
        let splits = self.periods.iter().map(|periods| &periods.split);
        splits.flat_map(|split| split.total.iter().chain(split.parts.values())).chain([&self.steps])
    }

    /// The periods, if there are enough to tell of a loop.
    pub fn finish(&mut self) -> Option<Periods> {
        let step = self.steady_step();
        let mut periods = self.periods.take().filter(|periods| periods.split.count() >= PERIODS_MIN)?;
        periods.intended_ns = periods.intended_ns.or(step);
        periods.blocks.sort_by_key(|block| std::cmp::Reverse(block.total_ns));
        Some(periods)
    }

    /// What the deadlines of a loop lie apart, if they count from one another and most of them do so evenly.
    fn steady_step(&self) -> Option<Nanos> {
        let steps = &self.steps;
        let (low, p50, high) = (steps.quantile(0.25)?, steps.p50()?, steps.quantile(0.75)?);
        let is_steady = p50 > 0 && high.wrapping_sub(low).saturating_mul(STEADY_WITHIN) <= p50;
        let is_on_grid = self.on_grid.0.saturating_mul(2) > self.on_grid.1;
        (steps.count() >= PERIODS_MIN && is_steady && is_on_grid).then_some(Nanos(p50))
    }
}

fn add_block(blocks: &mut Vec<Block>, added: Block) {
    if let Some(block) =
        blocks.iter_mut().find(|block| (&block.call, &block.woken_by) == (&added.call, &added.woken_by))
    {
        block.count = block.count.saturating_add(added.count);
        block.total_ns = block.total_ns.saturating_add(added.total_ns);
        block.max_ns = block.max_ns.max(added.max_ns);
    } else if blocks.len() < BLOCKS_MAX {
        blocks.push(added);
    }
}

fn merge(into: &mut Option<Periods>, other: Periods) {
    let Some(own) = into else {
        *into = Some(other);
        return;
    };
    let counts = [own.split.count(), other.split.count()];
    own.intended_ns = match (own.intended_ns, other.intended_ns) {
        (own, other) if own == other => own,
        // A few waits of a timer that had missed expirations count from another one.
        (own, _) if counts[0] >= counts[1].saturating_mul(MOST_OF) => own,
        (_, other) if counts[1] >= counts[0].saturating_mul(MOST_OF) => other,
        _ => None,
    };
    own.split.merge(&other.split);
    own.missed_count = own.missed_count.saturating_add(other.missed_count);
    own.fault_count = own.fault_count.saturating_add(other.fault_count);
    own.requests_changed_count = own.requests_changed_count.saturating_add(other.requests_changed_count);
    own.requests_follow_count = own.requests_follow_count.saturating_add(other.requests_follow_count);
    other.blames.into_iter().for_each(|blame| add_blame(&mut own.blames, blame));
    other.blocks.into_iter().for_each(|block| add_block(&mut own.blocks, block));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Parts;

    #[test]
    fn a_loop_has_a_period_if_most_deadlines_that_tell_are_on_a_grid() {
        let intended = |on: usize, off: usize, unknown: usize| {
            let mut paced = Paced::default();
            for (is_on_grid, count) in [(Some(true), on), (Some(false), off), (None, unknown)] {
                let period = Period {
                    parts: Parts { work: 10_000_000, ..Parts::default() },
                    held: Vec::new(),
                    fault_count: 0,
                    timer_ns: None,
                    missed: 0,
                    deadline_step: Some(10_000_000),
                    is_on_grid,
                    follows_work: None,
                };
                (0..count).for_each(|_| paced.add(&period));
            }
            paced.finish().expect("there are enough").intended_ns
        };
        let steady = Some(Nanos::from_millis(10));
        assert_eq!(
            [intended(5, 4, 0), intended(2, 1, 6), intended(4, 4, 0), intended(0, 0, 9)],
            [steady, steady, None, None]
        );
    }

    #[test]
    fn a_few_periods_of_another_length_change_nothing() {
        let of = |count: usize, timer_ms: u64| {
            let mut paced = Paced::default();
            let period = Period {
                parts: Parts { requested: 1_000_000, ..Parts::default() },
                held: Vec::new(),
                fault_count: 0,
                timer_ns: Some(timer_ms * 1_000_000),
                missed: 0,
                deadline_step: None,
                is_on_grid: None,
                follows_work: None,
            };
            (0..count).for_each(|_| paced.add(&period));
            paced
        };
        let intended = |mut one: Paced, other: Paced| {
            one.merge(other);
            one.finish().expect("there are enough").intended_ns.map(|ns| ns.0 / 1_000_000)
        };
        assert_eq!(intended(of(886, 1), of(1, 3)), Some(1));
        assert_eq!(intended(of(1, 3), of(886, 1)), Some(1));
        assert_eq!(intended(of(40, 1), of(30, 3)), None);
    }

    #[test]
    fn a_call_that_two_threads_end_is_two() {
        let block = |woken_by: &str, ns| Block {
            call: "futex".to_owned(),
            woken_by: woken_by.to_owned(),
            count: 1,
            total_ns: ns,
            max_ns: ns,
        };
        let mut blocks = Vec::new();
        for (woken_by, ns) in [("writer", 5), ("reader", 7), ("writer", 3)] {
            add_block(&mut blocks, block(woken_by, ns));
        }
        assert_eq!(blocks, [Block { count: 2, total_ns: 8, ..block("writer", 5) }, block("reader", 7)]);
    }
}
