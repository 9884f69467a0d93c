//! Loops: what holds a thread up between its waits, by how much of its periods that takes.

use oversleep_record::observed::period::Periods;
use oversleep_record::observed::wait::Request;
use oversleep_record::part::Part;
use oversleep_record::words::{counted, grouped};
use oversleep_record::{Distribution, Identity, Nanos, ResultFile, Series};

use super::own_series;

/// A part of all periods matters from this share of them on: 1 in so many.
const USUAL_OF: i64 = 10;
/// Work is what a loop is for: it holds the loop up if it takes half of its periods, or makes them longer than they are
/// meant to be by 1 in so many.
const TOO_LONG_OF: i64 = 20;
/// A part that is usually short matters if it is longer by this part of a period, but at least and at most so many ns …
const RARE_OF: i64 = 10;
const RARE_NS: (i64, i64) = (100_000, 1_000_000);
/// … in at least one of so many periods, or if it once takes a whole period.
const RARE_ONE_IN: u64 = 100;
/// Loops whose waits come at such different times are no pace: half of the periods within this part of the median.
const PACE_OF: i64 = 5;

/// A page fault that finds memory takes about so long, with a page to clear; faults are told if they may take this part of
/// the work.
const FAULT_NS: i64 = 1_000;
const FAULTS_OF: i64 = 4;

/// The runtime whose threads are no threads of the kernel.
const MOVES_THREADS: &str = "go";

/// One thread's loop, by the waits that pace it.
#[derive(Debug)]
pub struct Loop<'a> {
    /// These waits.
    pub series: &'a Series,
    /// What fills the time from the end of one wait to the end of the next.
    pub periods: &'a Periods,
    /// How long that is.
    pub lengths: &'a Distribution,
    /// What the waits have in common.
    pub identity: Identity,
    /// Whether its waits request different times.
    pub is_varied: bool,
}

/// How much of a loop's periods one part takes, where that matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeldUp {
    pub part: Part,
    /// Its median, if it takes much of every period.
    pub usual: Option<Nanos>,
    /// The longest of it.
    pub longest: Nanos,
    /// All of it that matters.
    pub total: Nanos,
}

/// The loops of a result: of each thread, the waits with the most periods.
pub fn loops(file: &ResultFile) -> Vec<Loop<'_>> {
    let mut all: Vec<Loop<'_>> = own_series(file).filter_map(Loop::of).collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.lengths.count()));
    let mut threads: Vec<(String, String)> = Vec::new();
    all.retain(|of| {
        let thread = (of.identity.program.clone(), of.identity.thread.clone());
        let is_new = !threads.contains(&thread);
        threads.push(thread);
        is_new
    });
    let of_any_request = |identity: &Identity| Identity { requested_ns: None, ..identity.clone() };
    for of in &mut all {
        let kinds = own_series(file).filter_map(Identity::of).map(|identity| of_any_request(&identity));
        of.is_varied |= kinds.filter(|kind| *kind == of_any_request(&of.identity)).count() > 1;
    }
    all
}

impl<'a> Loop<'a> {
    fn of(series: &'a Series) -> Option<Loop<'a>> {
        let waits = series.observed.as_ref()?;
        let (periods, is_varied) = (waits.periods.as_ref()?, waits.requested_ns.is_some());
        Some(Loop { series, periods, lengths: periods.lengths()?, identity: Identity::of(series)?, is_varied })
    }

    /// What a period is meant to be, or usually is.
    fn base(&self) -> i64 {
        self.periods.intended_ns.map_or(self.median(), |intended| intended.0).max(1)
    }

    fn median(&self) -> i64 {
        self.lengths.p50().unwrap_or(0)
    }

    /// Whether its runtime moves the program's own threads between those of the kernel: then what one of these does is no
    /// loop of the program's, and it sleeps because there is nothing to do.
    pub fn is_moved(&self) -> bool {
        let runtime = self.series.observed.as_ref().and_then(|waits| waits.runtime.as_ref());
        runtime.is_some_and(|runtime| runtime.name == MOVES_THREADS)
    }

    /// How much of the periods that part takes, if it matters.
    pub(crate) fn held_up(&self, part: Part) -> Option<HeldUp> {
        if part == Part::Blocked && self.is_moved() {
            return None;
        }
        let values = self.periods.split.parts.get(&part)?;
        let (p50, longest) = (values.p50()?, Nanos(values.max()?));
        let nanos = |ns: i128| Nanos(i64::try_from(ns).unwrap_or(i64::MAX));
        if p50 >= RARE_NS.0 && p50.saturating_mul(USUAL_OF) >= self.median() && self.is_usual(part, p50) {
            return Some(HeldUp { part, usual: Some(Nanos(p50)), longest, total: nanos(values.sum()) });
        }
        // Half as much again, at least: a part varies. Work is what a loop is for, as long as it fits into its period.
        let longer = (self.base() / RARE_OF).clamp(RARE_NS.0, RARE_NS.1).max(p50 / 2);
        let longer = match self.periods.intended_ns.filter(|_| part == Part::Work) {
            Some(intended) => longer.max(intended.0.saturating_sub(p50)),
            None => longer,
        };
        let rare = values.buckets().filter(|(value, _)| value.saturating_sub(p50) >= longer);
        let (count, total) = rare.fold((0, 0), |(count, total): (u64, i128), (value, times)| {
            (count + times, total + i128::from(value - p50) * i128::from(times))
        });
        let is_often = count.saturating_mul(RARE_ONE_IN) >= values.count();
        let takes_a_period = longest.0.saturating_sub(p50) >= self.base();
        (count > 0 && (is_often || takes_a_period)).then_some(HeldUp {
            part,
            usual: None,
            longest,
            total: nanos(total),
        })
    }

    fn is_usual(&self, part: Part, p50: i64) -> bool {
        let is_too_long =
            self.periods.intended_ns.is_some_and(|of| (self.median() - of.0).saturating_mul(TOO_LONG_OF) >= of.0);
        part != Part::Work
            || is_too_long
            || (self.periods.intended_ns.is_none() && p50.saturating_mul(2) >= self.median())
    }

    /// Whether work takes half of its periods or more, of which nobody knows how long they are meant to be.
    pub(crate) fn is_mostly_work(&self) -> bool {
        let p50 = self.periods.split.p50(Part::Work);
        self.periods.intended_ns.is_none() && p50.saturating_mul(2) >= self.median()
    }

    /// How many page faults its work has in a period, where they may be much of it.
    pub(crate) fn faults(&self) -> Option<u64> {
        let each = self.periods.fault_count / self.lengths.count().max(1);
        let ns = i64::try_from(each).unwrap_or(i64::MAX).saturating_mul(FAULT_NS);
        let work = self.periods.split.p50(Part::Work);
        (ns >= RARE_NS.0 && ns.saturating_mul(FAULTS_OF) >= work).then_some(each)
    }

    /// How many periods are longer than they are meant to be, by 1 in [`USUAL_OF`].
    pub(crate) fn longer(&self) -> Option<u64> {
        let bound = self.periods.intended_ns?.0;
        let bound = bound.saturating_add(bound / USUAL_OF);
        Some(self.lengths.buckets().filter(|(value, _)| *value > bound).map(|(_, times)| times).sum())
    }

    /// What becomes of the periods: `228 periods that are meant to take 10 ms: 57 take more than 11 ms, the longest 40 ms`.
    pub(crate) fn effect(&self) -> String {
        if self.is_moved() {
            return "Go moves what runs between threads, so how often it comes isn't told".to_owned();
        }
        let longest = Nanos(self.lengths.max().unwrap_or(0));
        let count = self.lengths.count();
        let Some(intended) = self.periods.intended_ns else {
            return format!("its periods take {} at p50, the longest {longest}", Nanos(self.median()));
        };
        let bound = Nanos(intended.0.saturating_add(intended.0 / USUAL_OF));
        let longer = self.longer().unwrap_or(0);
        let missed = match self.periods.missed_count {
            0 => String::new(),
            1 => "; 1 expiration of the timer is missed".to_owned(),
            missed => format!("; {} expirations of the timer are missed", grouped(missed)),
        };
        format!(
            "{} of {} take more than {}, the longest {longest}{missed}",
            grouped(longer),
            counted(count, "period"),
            bound
        )
    }

    /// Whether its waits for spans set a pace: the periods are alike, and each is longer than what was requested. Then by
    /// how much. A timer that the kernel starts again doesn't count from the call.
    pub(crate) fn drift(&self) -> Option<Nanos> {
        let (low, high) = (self.lengths.quantile(0.25)?, self.lengths.quantile(0.75)?);
        let is_pace = (high - low).saturating_mul(PACE_OF) <= self.median();
        let requested = self.periods.split.p50(Part::Requested);
        let drift = self.median().saturating_sub(requested);
        (!self.is_moved()
            && self.identity.request != Request::Timer
            && self.periods.intended_ns.is_none()
            && is_pace
            && requested.saturating_mul(2) >= self.median()
            && drift > 0)
            .then_some(Nanos(drift))
    }

    /// `app`, `app (worker)`.
    pub(crate) fn name(&self) -> String {
        let Identity { program, thread, .. } = &self.identity;
        if program == thread { program.clone() } else { format!("{program} ({thread})") }
    }

    /// How often it comes in a second.
    pub fn rate(&self) -> Option<f64> {
        let mean = self.lengths.mean().filter(|mean| *mean > 0.0)?;
        Some(1e9 / mean)
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::SeenRuntime;
    use oversleep_record::part::Parts;

    use super::*;
    use crate::observed::testing::periods;

    fn held_up(part: Part, intended_ms: Option<i64>, of: &[(u64, Parts)]) -> Option<(Option<i64>, i64)> {
        let series = periods(intended_ms, of);
        // Values of a distribution are exact to 1 in 1,000 or so.
        let ms = |ns: Nanos| (ns.0 + MS / 2) / MS;
        Loop::of(&series).unwrap().held_up(part).map(|held| (held.usual.map(ms), ms(held.total)))
    }

    const MS: i64 = 1_000_000;

    #[test]
    fn work_holds_a_loop_up_that_is_too_long_by_it() {
        let of = |requested: i64, work: i64| Parts { requested: requested * MS, work: work * MS, ..Parts::default() };
        assert_eq!(held_up(Part::Work, Some(10), &[(100, of(8, 2))]), None, "that is what the loop is for");
        assert_eq!(held_up(Part::Work, Some(10), &[(100, of(0, 14))]), Some((Some(14), 1_400)));
        assert_eq!(held_up(Part::Work, None, &[(100, of(16, 3))]), None);
        assert_eq!(held_up(Part::Work, None, &[(100, of(10, 35))]), Some((Some(35), 3_500)));
        assert_eq!(held_up(Part::Work, Some(10), &[(80, of(10, 0)), (20, of(5, 35))]), Some((None, 701)));
    }

    #[test]
    fn what_is_rare_matters_if_it_is_long_or_comes_often() {
        let of = |runq_us: i64| Parts { requested: 9 * MS, runq: runq_us * 1_000, ..Parts::default() };
        assert_eq!(held_up(Part::Runq, Some(10), &[(990, of(0)), (9, of(5_000))]), None, "less than 1 in 100");
        assert_eq!(held_up(Part::Runq, Some(10), &[(990, of(0)), (10, of(5_000))]), Some((None, 50)));
        assert_eq!(held_up(Part::Runq, Some(10), &[(999, of(0)), (1, of(12_000))]), Some((None, 12)));
        assert_eq!(held_up(Part::Runq, Some(10), &[(990, of(0)), (10, of(900))]), None, "shorter than matters");
        assert_eq!(held_up(Part::Runq, Some(10), &[(100, of(1_000))]), Some((Some(1), 100)));
    }

    #[test]
    fn what_becomes_of_periods_is_told_by_what_they_are_meant_to_be() {
        let of = |work: i64| Parts { requested: 10 * MS - work.min(10) * MS, work: work * MS, ..Parts::default() };
        let mut series = periods(Some(10), &[(80, of(1)), (20, of(35))]);
        series.observed.as_mut().unwrap().periods.as_mut().unwrap().missed_count = 48;
        assert_eq!(
            Loop::of(&series).unwrap().effect(),
            "20 of 100 periods take more than 11 ms, the longest 35 ms; 48 expirations of the timer are missed"
        );
        let series = periods(None, &[(100, of(1))]);
        assert_eq!(Loop::of(&series).unwrap().effect(), "its periods take 10 ms at p50, the longest 10 ms");
    }

    #[test]
    fn a_loop_of_spans_drifts_by_what_it_does_and_a_late_wait() {
        let of = |requested: i64| Parts { requested: requested * MS, work: 2 * MS, late: MS / 2, ..Parts::default() };
        let drift = |requested| Loop::of(&periods(None, &[(50, of(requested))])).unwrap().drift().map(|ns| ns.0);
        assert_eq!((drift(14), drift(1)), (Some(2_500_000), None));
    }

    #[test]
    fn threads_of_a_runtime_that_moves_its_own_between_them_are_no_loops() {
        let of = |blocked: i64| Parts { requested: 10 * MS, blocked: blocked * MS, ..Parts::default() };
        let mut series = periods(None, &[(100, of(5))]);
        assert!(Loop::of(&series).unwrap().held_up(Part::Blocked).is_some());
        let go = SeenRuntime { name: "go".to_owned(), waits_for_own_lock: false };
        series.observed.as_mut().unwrap().runtime = Some(go);
        let moved = Loop::of(&series).unwrap();
        assert_eq!((moved.held_up(Part::Blocked), moved.drift()), (None, None), "a thread that is idle waits for work");
        assert!(moved.effect().contains("Go moves what runs between threads"));
    }
}
