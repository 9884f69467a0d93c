//! Lateness as seen on a real machine: distributions per request, to draw from.

use oversleep_record::Nanos;

use super::spread::{Random, Spread};
use super::timing::{Grid, Tick};

/// How late one wait was, by request.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Request and lateness, shortest request first; never empty.
    requests: Vec<(Nanos, Spread)>,
    /// The slack of the thread that waited, where slack is part of the lateness.
    slack: Option<Nanos>,
}

impl Learned {
    /// From what was measured; `None` where nothing was.
    pub fn new(mut requests: Vec<(Nanos, Spread)>, slack: Option<Nanos>) -> Option<Learned> {
        requests.sort_by_key(|&(request, _)| request);
        (!requests.is_empty()).then_some(Learned { requests, slack })
    }

    /// The slack that was part of what was measured: what another slack makes of it is the difference.
    pub(super) fn slack(&self) -> Option<Nanos> {
        self.slack
    }

    /// A lateness for a request of that length, under the slack it was measured with: between two measured requests, the
    /// same quantile of both, weighted by where the request lies.
    pub(super) fn draw(&self, requested: Nanos, random: &Random) -> Nanos {
        let probability = random.unit();
        let after = self.requests.iter().position(|&(at, _)| at >= requested);
        match after {
            None => self.requests[self.requests.len() - 1].1.quantile(probability),
            Some(0) => self.requests[0].1.quantile(probability),
            Some(after) => {
                let ((low_at, low), (high_at, high)) = (&self.requests[after - 1], &self.requests[after]);
                let share = (requested - *low_at).0 as f64 / (*high_at - *low_at).0 as f64;
                let (low, high) = (low.quantile(probability), high.quantile(probability));
                low + Nanos(((high - low).0 as f64 * share) as i64)
            }
        }
    }
}

impl Tick {
    /// How long a wait of that span takes at the default period when calls follow one another, each entered right after a
    /// tick: with the luck that a near miss ends it, and without.
    pub fn back_to_back(&self, span: Nanos, tolerance: Nanos) -> [Nanos; 2] {
        const AFTER_TICK: Nanos = Nanos(2_000);
        let grid = Grid { origin: Nanos::ZERO, period: self.default_ns };
        let entered = self.default_ns * 1_000 + AFTER_TICK;
        [0.0, 1.0].map(|p_two_tick| {
            let certain = Tick { p_two_tick, ..self.clone() };
            // The thread runs as long after the tick that ends it.
            certain.end(grid, entered, span, tolerance, &Random::seeded(0)) - entered + AFTER_TICK
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::timing::{Reach, TickBase};
    use super::*;

    #[test]
    fn the_rule_of_calls_back_to_back() {
        let tick = Tick {
            default_ns: Nanos(1_000_000),
            shortest_ns: Nanos(500_000),
            timer_hz: None,
            base: TickBase::Call,
            p_two_tick: 0.5,
            margin_ns: Nanos(10_000),
            reach: Reach::Asker,
            drops_hidden: false,
            is_hidden: false,
        };
        assert_eq!(tick.back_to_back(Nanos(1_000_000), Nanos::ZERO), [Nanos(1_000_000), Nanos(2_000_000)]);
        assert_eq!(tick.back_to_back(Nanos(1_500_000), Nanos::ZERO), [Nanos(2_000_000); 2]);
        assert_eq!(tick.back_to_back(Nanos(1_000_000), Nanos(10_000_000)), [Nanos(10_000_000); 2]);
    }

    #[test]
    fn requests_between_the_measured_ones_lie_between_them() {
        let fixed = |ns| Spread::fixed(Nanos(ns));
        let measured = vec![(Nanos(1_000_000), fixed(60_000)), (Nanos(3_000_000), fixed(80_000))];
        let learned = Learned::new(measured, Some(Nanos(50_000))).unwrap();
        let random = Random::seeded(1);
        let late = |request| learned.draw(Nanos(request), &random);
        assert_eq!([1_000, 2_000_000, 9_000_000].map(late), [60_000, 70_000, 80_000].map(Nanos));
        assert_eq!(learned.slack(), Some(Nanos(50_000)));
        assert_eq!(Learned::new(Vec::new(), None), None);
    }
}
