//! This machine's own wake-up, which comes after the end of every emulated wait. A learned lateness has a wake-up in it
//! already, that of the other machine. So its waits end earlier by the one of this machine.

use oversleep_model::sim::{Overshoot, Spread};
use oversleep_record::Nanos;

use super::Plan;

/// The quantiles of a lateness without a wake-up.
const QUANTILES: [f64; 15] = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0];
const MEDIAN: f64 = 0.5;

/// This machine's wake-up latency, by request: of waits whose timers end at their deadlines.
#[derive(Clone, Debug, PartialEq)]
pub struct Own {
    /// From a call until the supervisor sees it: at least this long.
    pub until_seen: Nanos,
    /// By request, shortest first; never empty.
    after: Vec<(Nanos, Spread)>,
}

/// A wait that was measured on the other machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Its name.
    pub wait: &'static str,
    /// What was requested.
    pub requested: Nanos,
}

impl Own {
    /// From the times that calls took to be seen, and the lateness of each request, whose timer was armed when its call was
    /// seen; `None` without any.
    pub fn learned(mut until_seen: Vec<Nanos>, late: Vec<(Nanos, Vec<Nanos>)>) -> Option<Own> {
        until_seen.sort();
        // A timer that is armed this much earlier ends before its deadline by a few µs at most, and its thread runs later.
        let until_seen = *until_seen.get(until_seen.len() / 10)?;
        let spread = |mut late: Vec<Nanos>| {
            late.sort();
            let last = late.len().checked_sub(1)?;
            let at = |share: f64| (share, late[(share * last as f64).round() as usize] - until_seen);
            Spread::from_quantiles(QUANTILES.map(at).into()).ok()
        };
        let mut after: Vec<_> = late.into_iter().filter_map(|(request, late)| Some((request, spread(late)?))).collect();
        after.sort_by_key(|&(request, _)| request);
        (!after.is_empty()).then_some(Own { until_seen, after })
    }

    /// The requests that were measured, each with its lateness.
    pub fn after(&self) -> &[(Nanos, Spread)] {
        &self.after
    }

    /// The lateness after a request of that length: of the nearest one, by ratio.
    fn near(&self, requested: Nanos) -> &Spread {
        let distance = |at: Nanos| (at.0.max(1) as f64 / requested.0.max(1) as f64).ln().abs();
        let near = self.after.iter().min_by(|one, other| distance(one.0).total_cmp(&distance(other.0)));
        near.map_or(&self.after[0].1, |(_, late)| late)
    }
}

/// The lateness of timers after which a thread that wakes up `own` later is as late as `there`: its p10, p50 and p90 agree.
///
/// Timers are as late as there, moved by one span, and narrower on each side of the median. No timer ends before its
/// deadline, unless the other machine's did.
fn without(there: &Spread, own: &Spread) -> Spread {
    const ROUNDS: usize = 16;
    let [p10, p50, p90] = [0.1, MEDIAN, 0.9].map(|at| there.quantile(at));
    let least = there.quantile(0.0).min(Nanos::ZERO);
    let timers = |moved: Nanos, [below, above]: [f64; 2], at: f64| {
        let from_p50 = (there.quantile(at) - p50).0 as f64;
        let width = if at < MEDIAN { below } else { above };
        (p50 - moved + Nanos((from_p50 * width) as i64)).max(least)
    };
    let (mut moved, mut widths) = (own.quantile(MEDIAN), [1.0, 1.0]);
    for _ in 0..ROUNDS {
        let [sum_p10, sum_p50, sum_p90] = of_sum(|at| timers(moved, widths, at), own);
        moved += sum_p50 - p50;
        let sides = [(p50 - p10, sum_p50 - sum_p10), (p90 - p50, sum_p90 - sum_p50)];
        for (width, (wanted, sum)) in widths.iter_mut().zip(sides) {
            *width = (*width * wanted.0 as f64 / sum.0.max(1) as f64).min(1.0);
        }
    }
    let quantiles = QUANTILES.map(|at| (at, timers(moved, widths, at)));
    Spread::from_quantiles(quantiles.into()).unwrap_or_else(|_| there.clone())
}

/// The p10, p50 and p90 of the sum of two independent delays.
fn of_sum(one: impl Fn(f64) -> Nanos, other: &Spread) -> [Nanos; 3] {
    const STEPS: u32 = 50;
    let at = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
    let other: Vec<Nanos> = (0..STEPS).map(|step| other.quantile(at(step))).collect();
    let mut sums: Vec<Nanos> =
        (0..STEPS).map(|step| one(at(step))).flat_map(|one| other.iter().map(move |&other| one + other)).collect();
    sums.sort_unstable();
    [1, 5, 9].map(|tenths| sums[sums.len() * tenths / 10])
}

impl Plan {
    /// Whether the lateness of one of its waits was learned.
    pub fn is_learned(&self) -> bool {
        self.waits.iter().flatten().any(|&at| matches!(self.machine.waits[at].overshoot, Overshoot::Learned(_)))
    }

    /// Ends learned waits earlier by this machine's own wake-up. Returns those that are already this slow
    /// here at the median, which are left unchanged.
    pub fn take_off(&mut self, own: &Own) -> Vec<Measured> {
        let mut no_later = Vec::new();
        for (at, wait) in self.machine.waits.iter_mut().enumerate() {
            let Overshoot::Learned(learned) = &wait.overshoot else { continue };
            if self.waits.contains(&Some(at)) {
                let is_later =
                    |(request, late): &(Nanos, Spread)| late.quantile(MEDIAN) > own.near(*request).quantile(MEDIAN);
                let others = learned.requests().iter().filter(|measured| !is_later(measured));
                no_later.extend(others.map(|&(requested, _)| Measured { wait: wait.info.name, requested }));
            }
            wait.overshoot =
                Overshoot::Learned(learned.with_lateness(|request, late| without(late, own.near(request))));
        }
        self.until_seen = own.until_seen;
        no_later
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Learned;

    use super::super::{Class, Requested, StandsFor, Ticks};
    use super::*;

    const MILLISECOND: Nanos = Nanos::from_millis(1);

    /// With these values in µs at p0, p10, p50, p90, p99 and p100.
    fn spread(values: [i64; 6]) -> Spread {
        let shares = [0.0, 0.1, 0.5, 0.9, 0.99, 1.0];
        Spread::from_quantiles(shares.into_iter().zip(values.map(|us| Nanos(us * 1_000))).collect()).unwrap()
    }

    /// The quantiles of the sum of two independent delays.
    fn sum(one: &Spread, other: &Spread, shares: [f64; 3]) -> [f64; 3] {
        const STEPS: i32 = 400;
        let values = |spread: &Spread| -> Vec<i64> {
            (0..STEPS).map(|step| spread.quantile((f64::from(step) + 0.5) / f64::from(STEPS)).0).collect()
        };
        let other = values(other);
        let mut all: Vec<i64> = values(one).iter().flat_map(|one| other.iter().map(move |other| one + other)).collect();
        all.sort_unstable();
        shares.map(|share| all[(share * all.len() as f64) as usize - 1] as f64)
    }

    #[test]
    fn with_our_wake_up_a_wait_is_as_late_as_it_was_there() {
        let own = spread([35, 50, 58, 70, 150, 900]);
        for (there, allowed) in [
            // The same machine with slack, a wider one, one with other tails, and a much later one.
            ([85, 100, 108, 120, 200, 950], [0.02, 0.02, 0.02]),
            ([70, 80, 110, 190, 400, 2_000], [0.03, 0.02, 0.02]),
            ([60, 65, 70, 134, 140, 145], [0.2, 0.02, 0.06]),
            ([900, 1_000, 1_060, 1_300, 2_000, 9_000], [0.01, 0.01, 0.01]),
        ] {
            let (there, shares) = (spread(there), [0.1, 0.5, 0.9]);
            let p50 = there.quantile(MEDIAN);
            let got = sum(&without(&there, &own), &own, shares);
            for ((share, got), allowed) in shares.into_iter().zip(got).zip(allowed) {
                let off = got / there.quantile(share).0 as f64 - 1.0;
                assert!(off.abs() <= allowed, "p{}: {got}, {off:+.3}, where p50 is {p50}", share * 100.0);
            }
        }
    }

    #[test]
    fn no_timer_ends_before_its_deadline_unless_it_did_there() {
        let own = spread([35, 50, 58, 70, 150, 900]);
        let timers = without(&spread([20, 30, 40, 60, 100, 300]), &own);
        assert_eq!([0.0, 0.5, 0.8].map(|share| timers.quantile(share)), [Nanos::ZERO; 3]);
        let timers = without(&spread([-9, 30, 40, 60, 100, 300]), &own);
        assert_eq!([0.0, 0.5].map(|share| timers.quantile(share)), [Nanos(-9_000); 2]);
    }

    #[test]
    fn the_nearest_request_decides_and_calls_are_seen_late() {
        let micros = |of: &[i64]| of.iter().map(|us| Nanos(us * 1_000)).collect::<Vec<_>>();
        let late = vec![(Nanos::from_millis(10), micros(&[90, 100, 120])), (MILLISECOND, micros(&[50, 60, 70]))];
        let own = Own::learned(micros(&[8, 9, 30]), late).unwrap();
        assert_eq!(own.until_seen, Nanos(8_000));
        let p50 = |ms| own.near(Nanos::from_millis(ms)).quantile(MEDIAN);
        assert_eq!([1, 3, 4, 500].map(p50), [52_000, 52_000, 92_000, 92_000].map(Nanos));
        assert_eq!(Own::learned(Vec::new(), Vec::new()), None);
    }

    #[test]
    fn learned_waits_end_earlier_and_others_stay() {
        let mut machine = oversleep_model::machine("linux-hz250", &[], 1).unwrap();
        for wait in &mut machine.waits {
            let late = match wait.info.name {
                "nanosleep" => 91_000,
                "futex" => 40_000,
                _ => continue,
            };
            let measured = vec![(MILLISECOND, Spread::fixed(Nanos(late)))];
            wait.overshoot = Overshoot::Learned(Learned::new(measured, None).unwrap());
        }
        let mut plan = Plan::on(machine).unwrap();
        assert!(plan.is_learned());
        let own = Own::learned(vec![Nanos(9_000)], vec![(MILLISECOND, vec![Nanos(69_000)])]).unwrap();
        let no_later = plan.take_off(&own);
        assert_eq!(no_later, [Measured { wait: "futex", requested: MILLISECOND }]);
        // From the call on, seen at 1 ms. A wait by rule ends as before.
        for (class, end) in [(Class::Sleep, 2_022_000), (Class::Futex, 1_991_000), (Class::TimerFd, 2_000_000)] {
            let wait = plan.wait(class).unwrap();
            let ticks = Ticks { grid: None, interrupts: None, is_as_found: true };
            let began = plan.began(wait, true, MILLISECOND);
            let planned = plan.end(StandsFor::plain(wait), Requested::Span(MILLISECOND), began, ticks).unwrap();
            assert_eq!(planned.end, Nanos(end), "{class:?}");
        }
    }
}
