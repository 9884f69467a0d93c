//! Waits of one kind together: one program, thread name, call and request. At the end each group is a series.

use oversleep_record::Identity;
use oversleep_record::environment::Os;
use oversleep_record::observed::culprit::Culprit;
use oversleep_record::observed::interruption::{self, Interrupted};
use oversleep_record::observed::{IrqBlame, ObservedWaits};
use oversleep_record::series::Round;
use oversleep_record::split::PartSplit;
use oversleep_record::{Distribution, Disturbance, Nanos, Series};

use crate::blame::{add_blame, blame};
use crate::paced::Paced;
use crate::wait::{Outcome, Wait, signed};

/// Interrupts named in one group; those with the most time stay.
const BLAMES_MAX: usize = 64;
/// What a task or interrupt takes with its name.
const BLAME_BYTES: usize = 128;
/// A slice of the time with fewer values than this is joined with its neighbour, as long as there are several.
const VALUES_OF_SLICE: u64 = 10;
/// The fewest slices that are left of many.
const SLICES_LEFT: usize = 3;

/// What the waits of a group have in common.
pub fn identity(wait: &Wait, program: &str) -> Identity {
    Identity {
        program: program.to_owned(),
        thread: wait.thread.clone(),
        call: wait.call.clone().unwrap_or_else(|| "unknown".to_owned()),
        timer: wait.timer.clone(),
        request: wait.request,
        requested_ns: wait.requested_ns.map(two_digits),
    }
}

/// Rounded to two digits: what varies below that is the same request.
fn two_digits(ns: u64) -> Nanos {
    let mut unit = 1u64;
    while ns / unit >= 100 {
        unit *= 10;
    }
    Nanos(signed(ns.saturating_add(unit / 2) / unit * unit))
}

/// Waits of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they have in common.
    pub identity: Identity,
    /// Lateness of those that ended by their timer, in ns.
    pub lateness: Distribution,
    /// Each part of it.
    pub split: PartSplit,
    /// How they ended otherwise, and who delayed them.
    pub waits: ObservedWaits,
    /// The loops that its waits pace.
    pub paced: Paced,
    /// Their lateness by slices of the time: the number of the slice, in ascending order, and its values.
    slices: Vec<(u64, Distribution)>,
}

impl Group {
    /// An empty group.
    pub fn new(identity: Identity, tgid: u32) -> Group {
        Group {
            identity,
            // There may be hundreds of groups with a dozen distributions each.
            lateness: Distribution::growing(),
            split: PartSplit::default(),
            waits: ObservedWaits { tgid, called_late: Distribution::growing(), ..ObservedWaits::default() },
            paced: Paced::default(),
            slices: Vec::new(),
        }
    }

    /// Whether a wait of that program is of this group.
    pub fn is_of(&self, wait: &Wait, program: &str) -> bool {
        let own = &self.identity;
        own.program == program
            && own.thread == wait.thread
            && own.call == wait.call.as_deref().unwrap_or("unknown")
            && own.timer == wait.timer
            && own.request == wait.request
            && match (own.requested_ns, wait.requested_ns.map(two_digits)) {
                (Some(one), Some(other)) => own.request.is_alike(one, other),
                (one, other) => one == other,
            }
    }

    /// Adds a wait that ended in that slice of the time.
    pub fn add(&mut self, wait: &Wait, slice: u64) {
        self.add_requests(wait.requested_ns.map(|ns| [Nanos(signed(ns)); 2]));
        self.add_interruptions(&wait.interruptions);
        if wait.outcome != Outcome::Timer {
            *self.waits.otherwise.entry(wait.outcome).or_default() += 1;
            return;
        }
        self.lateness.record(wait.lateness_ns);
        self.split.record(&wait.parts);
        self.in_slice(slice).record(wait.lateness_ns);
        self.waits.steal_count += u64::from(wait.steal_ns != 0);
        if wait.called_late_ns != 0 {
            self.waits.called_late.record(signed(wait.called_late_ns));
            let is_by_wait = wait.late_before_ns.is_some_and(|late| late >= signed(wait.called_late_ns));
            self.waits.late_after_late_count += u64::from(is_by_wait);
        }
        self.waits.policy = wait.policy.zip(wait.prio).or(self.waits.policy);
        self.waits.clock = wait.clock.or(self.waits.clock);
        self.waits.cpus_allowed = wait.cpus_allowed.or(self.waits.cpus_allowed);
        self.waits.slack_bound_ns = self.waits.slack_bound_ns.max(wait.slack_bound_ns);
        for culprit in &wait.culprits {
            self.blame(culprit);
        }
        if let Some(cause) = &wait.irq_cause {
            let ns = wait.parts.irq.max(0).unsigned_abs();
            self.add_irq_blame(IrqBlame { cause: cause.clone(), count: 1, total_ns: ns, max_ns: ns });
        }
    }

    /// The values of a slice, or of the last one if that is later: waits end in the order of time, nearly. Only the last
    /// one has the memory that recording needs.
    fn in_slice(&mut self, slice: u64) -> &mut Distribution {
        if self.slices.last().is_none_or(|(last, _)| *last < slice) {
            if let Some((_, ended)) = self.slices.last_mut() {
                ended.shrink();
            }
            self.slices.push((slice, Distribution::growing()));
        }
        &mut self.slices.last_mut().expect("there is one").1
    }

    /// Makes slices of twice the length.
    pub fn halve_slices(&mut self) {
        let mut halved: Vec<(u64, Distribution)> = Vec::with_capacity(self.slices.len().div_ceil(2));
        for (number, values) in std::mem::take(&mut self.slices) {
            match halved.last_mut() {
                Some((last, all)) if *last == number / 2 => {
                    let mut both = Distribution::growing();
                    both.merge(all);
                    both.merge(&values);
                    *all = both;
                }
                _ => halved.push((number / 2, values)),
            }
        }
        self.slices = halved;
        if let Some((_, ended)) = self.slices.split_last_mut() {
            ended.iter_mut().for_each(|(_, values)| values.shrink());
        }
    }

    /// The shortest and the longest request, if they differ by more than the digits that a request is shown with.
    fn requested_range(&self) -> Option<[Nanos; 2]> {
        let digits = |ns: Nanos| two_digits(ns.0.unsigned_abs());
        self.waits.requested_ns.filter(|[from, to]| digits(*from) != digits(*to))
    }

    /// Widens the range of what was requested.
    fn add_requests(&mut self, range: Option<[Nanos; 2]>) {
        let Some([from, to]) = range else { return };
        let own = self.waits.requested_ns.get_or_insert([from, to]);
        *own = [own[0].min(from), own[1].max(to)];
    }

    fn add_interruptions(&mut self, added: &[Interrupted]) {
        added.iter().for_each(|one| interruption::count(&mut self.waits.interruptions, &one.by, one.count));
    }

    fn blame(&mut self, culprit: &Culprit) {
        add_blame(&mut self.waits.blames, blame(culprit));
    }

    fn add_irq_blame(&mut self, added: IrqBlame) {
        let blames = &mut self.waits.irq_blames;
        if let Some(blame) = blames.iter_mut().find(|blame| blame.cause.is_same(&added.cause)) {
            blame.count = blame.count.saturating_add(added.count);
            blame.total_ns = blame.total_ns.saturating_add(added.total_ns);
            if added.max_ns > blame.max_ns {
                (blame.max_ns, blame.cause) = (added.max_ns, added.cause);
            }
            return;
        }
        if blames.len() >= BLAMES_MAX {
            blames.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
            blames.truncate(BLAMES_MAX / 2);
        }
        blames.push(added);
    }

    /// Adds the waits of another group.
    pub fn merge(&mut self, mut other: Group) {
        self.paced.merge(std::mem::take(&mut other.paced));
        self.lateness.merge(&other.lateness);
        self.split.merge(&other.split);
        for (number, values) in other.slices {
            match self.slices.binary_search_by_key(&number, |(own, _)| *own) {
                Ok(at) => {
                    let is_last = at + 1 == self.slices.len();
                    let both = &mut self.slices[at].1;
                    let mut merged = Distribution::growing();
                    merged.merge(both);
                    merged.merge(&values);
                    *both = merged;
                    if !is_last {
                        both.shrink();
                    }
                }
                Err(at) => self.slices.insert(at, (number, values)),
            }
        }
        let (waits, others) = (&mut self.waits, other.waits);
        for (outcome, count) in others.otherwise {
            let all = waits.otherwise.entry(outcome).or_default();
            *all = all.saturating_add(count);
        }
        waits.called_late.merge(&others.called_late);
        waits.late_after_late_count = waits.late_after_late_count.saturating_add(others.late_after_late_count);
        let own = waits.requested_ns.or(others.requested_ns);
        waits.requested_ns =
            own.zip(others.requested_ns).map(|(own, other)| [own[0].min(other[0]), own[1].max(other[1])]).or(own);
        others.interruptions.iter().for_each(|one| interruption::count(&mut waits.interruptions, &one.by, one.count));
        waits.policy = others.policy.or(waits.policy);
        waits.clock = others.clock.or(waits.clock);
        waits.cpus_allowed = others.cpus_allowed.or(waits.cpus_allowed);
        waits.slack_bound_ns = waits.slack_bound_ns.max(others.slack_bound_ns);
        waits.steal_count = waits.steal_count.saturating_add(others.steal_count);
        others.blames.into_iter().for_each(|blame| add_blame(&mut self.waits.blames, blame));
        others.irq_blames.into_iter().for_each(|blame| self.add_irq_blame(blame));
    }

    /// The memory that it takes, roughly.
    pub fn bytes(&self) -> usize {
        let waits = &self.waits;
        let values = [&self.lateness, &waits.called_late].into_iter().chain(self.split.parts.values());
        let values = values.chain(self.paced.distributions());
        let values: usize =
            values.chain(self.slices.iter().map(|(_, values)| values)).map(Distribution::heap_bytes).sum();
        let places = (self.slices.len() + self.split.parts.len()) * size_of::<(u64, Distribution)>();
        let blames = (waits.blames.len() + waits.irq_blames.len() + waits.interruptions.len()) * BLAME_BYTES;
        size_of::<Group>() + values + places + blames
    }

    /// The series. `steal` is what the hypervisor took in each slice, where that was observed.
    pub fn into_series(mut self, os: Os, slice_ns: u64, steal: Option<&[u64]>) -> Series {
        let (mut slice_ns, mut steal) = (slice_ns, steal.map(<[u64]>::to_vec));
        while self.slices.len() > SLICES_LEFT && self.lateness.count() < VALUES_OF_SLICE * self.slices.len() as u64 {
            self.halve_slices();
            slice_ns = slice_ns.saturating_mul(2);
            steal = steal.map(|steal| halved(&steal));
        }
        self.waits.requested_ns = self.requested_range();
        self.waits.periods = self.paced.finish();
        let mut series = Series::observed(&self.identity, os, self.lateness);
        let steal_of = |number: u64| {
            let taken = steal.as_ref()?.get(usize::try_from(number).ok()?).copied().unwrap_or(0);
            Some(Nanos(signed(taken)))
        };
        series.rounds =
            self.slices.iter().map(|(number, values)| round(*number, values, slice_ns, steal_of(*number))).collect();
        series.why = Some(self.split);
        series.observed = Some(self.waits);
        series.shrink();
        series
    }
}

/// Sums of neighbours.
pub(crate) fn halved(numbers: &[u64]) -> Vec<u64> {
    numbers.chunks(2).map(|pair| pair.iter().fold(0, |sum: u64, &number| sum.saturating_add(number))).collect()
}

fn round(number: u64, values: &Distribution, slice_ns: u64, steal_ns: Option<Nanos>) -> Round {
    let start_ns = Nanos(signed(number.saturating_mul(slice_ns)));
    Round::of(start_ns, values, Disturbance { window_ns: Nanos(signed(slice_ns)), steal_ns, ..Disturbance::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::Request;

    #[test]
    fn requests_are_the_same_to_two_digits() {
        let rounded = [997_834, 1_234_567, 99, 50_000, 0].map(|ns| two_digits(ns).0);
        assert_eq!(rounded, [1_000_000, 1_200_000, 99, 50_000, 0]);
    }

    #[test]
    fn slices_of_few_values_are_joined_and_lose_none() {
        let wait = Identity {
            program: "app".to_owned(),
            thread: "app".to_owned(),
            call: "nanosleep".to_owned(),
            timer: None,
            request: Request::Span,
            requested_ns: Some(Nanos::from_millis(1)),
        };
        let mut group = Group::new(wait, 7);
        for n in 0..16 {
            group.lateness.record(100 * (n as i64 + 1));
            group.in_slice(n).record(100 * (n as i64 + 1));
        }
        let rounds = group.into_series(Os::Linux, 100, Some(&[1; 16])).rounds;
        let seen: Vec<_> = rounds.iter().map(|round| (round.start_ns.0, round.count, round.median)).collect();
        assert_eq!(seen, [(0, 8, Some(400)), (800, 8, Some(1_200))]);
        assert_eq!(rounds[1].disturbance.steal_ns, Some(Nanos(8)));
    }
}
