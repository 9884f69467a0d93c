//! Varying costs: distributions defined by quantiles, and the seeded random numbers for drawing from them.

use std::sync::atomic::{AtomicU64, Ordering};

use oversleep_record::Nanos;
use oversleep_system::split_mix;

/// The distribution of a span, given by its quantiles and interpolated linearly.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    quantiles: Vec<(f64, Nanos)>,
    /// The same at equidistant probabilities, in ns, to draw from; empty if there is only one value.
    table: Vec<i64>,
}

/// Steps of the table: fine enough for the 99.9th percentile.
const STEPS: u32 = 1_024;

impl Spread {
    /// Always that span.
    pub fn fixed(span: Nanos) -> Spread {
        Spread { quantiles: vec![(0.0, span)], table: Vec::new() }
    }

    /// Any span between the two, with equal probability.
    pub fn uniform(from: Nanos, to: Nanos) -> Spread {
        Spread::with_table(vec![(0.0, from), (1.0, to)])
    }

    /// From ascending quantiles: a probability from 0 to 1, and its value. The first and the last value apply beyond them.
    ///
    /// # Errors
    /// There is no quantile, a probability is outside 0 to 1, or the quantiles don't rise.
    pub fn from_quantiles(quantiles: Vec<(f64, Nanos)>) -> Result<Spread, String> {
        if quantiles.is_empty() {
            return Err("a distribution needs at least one value".to_owned());
        }
        if quantiles.iter().any(|&(probability, _)| !(0.0..=1.0).contains(&probability)) {
            return Err("a quantile must be between 0 and 100".to_owned());
        }
        if quantiles.windows(2).any(|pair| pair[1].0 <= pair[0].0 || pair[1].1 < pair[0].1) {
            return Err("quantiles must rise, and so must their values".to_owned());
        }
        Ok(Spread::with_table(quantiles))
    }

    fn with_table(quantiles: Vec<(f64, Nanos)>) -> Spread {
        let mut spread = Spread { quantiles, table: Vec::new() };
        if spread.quantiles.len() > 1 {
            let at = |step| spread.quantile(f64::from(step) / f64::from(STEPS)).0;
            spread.table = (0..=STEPS).map(at).collect();
        }
        spread
    }

    /// The value below which a share `probability` of all values lies.
    pub fn quantile(&self, probability: f64) -> Nanos {
        let last = self.quantiles.len() - 1;
        let after = self.quantiles.iter().position(|&(at, _)| at >= probability).unwrap_or(last);
        let (high_at, high) = self.quantiles[after];
        if after == 0 || probability >= high_at {
            return high;
        }
        let (low_at, low) = self.quantiles[after - 1];
        let share = (probability - low_at) / (high_at - low_at);
        low + Nanos(((high - low).0 as f64 * share) as i64)
    }

    /// The quantiles that define it, ascending.
    pub(crate) fn quantiles(&self) -> &[(f64, Nanos)] {
        &self.quantiles
    }

    /// The mean of all values, in ns.
    pub fn mean_ns(&self) -> f64 {
        let (first, last) = (self.quantiles[0], self.quantiles[self.quantiles.len() - 1]);
        let between = |pair: &[(f64, Nanos)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1).0 as f64 / 2.0;
        let inner: f64 = self.quantiles.windows(2).map(between).sum();
        inner + first.0 * first.1.0 as f64 + (1.0 - last.0) * last.1.0 as f64
    }

    /// Draws a value.
    pub(super) fn draw(&self, random: &Random) -> Nanos {
        let Some(last) = self.table.len().checked_sub(1) else { return self.quantiles[0].1 };
        let number = random.next();
        let step = (number >> (64 - STEPS.ilog2())) as usize;
        let (low, high) = (self.table[step.min(last)], self.table[(step + 1).min(last)]);
        // The next 16 bits choose a value between the two.
        let share = ((number >> (48 - STEPS.ilog2())) & 0xffff) as i64;
        Nanos(low + ((i128::from(high - low) * i128::from(share)) >> 16) as i64)
    }
}

/// Random numbers that are the same for the same seed (SplitMix64). Only the running thread draws, so the order of
/// draws is the same too.
#[derive(Debug)]
pub struct Random(AtomicU64);

impl Random {
    /// The generator with that seed.
    pub fn seeded(seed: u64) -> Random {
        Random(AtomicU64::new(seed))
    }

    fn next(&self) -> u64 {
        let state = self.0.load(Ordering::Relaxed).wrapping_add(split_mix::STEP);
        self.0.store(state, Ordering::Relaxed);
        split_mix::mixed(state)
    }

    /// From 0 up to but excluding 1.
    pub(super) fn unit(&self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with that probability. Draws no number if the answer is certain.
    pub fn happens(&self, probability: f64) -> bool {
        probability >= 1.0 || (probability > 0.0 && self.unit() < probability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_between_their_quantiles() {
        let spread = Spread::from_quantiles(vec![(0.0, Nanos(100)), (0.5, Nanos(200)), (1.0, Nanos(1_200))]).unwrap();
        assert_eq!(spread.quantile(0.25), Nanos(150));
        assert_eq!(spread.quantile(0.75), Nanos(700));
        assert_eq!(spread.quantile(1.0), Nanos(1_200));
        let random = Random::seeded(1);
        let draws: Vec<Nanos> = (0..1_000).map(|_| spread.draw(&random)).collect();
        let below = draws.iter().filter(|&&value| value < Nanos(200)).count();
        assert!((450..550).contains(&below), "{below}");
        assert!(draws.iter().all(|value| (Nanos(100)..=Nanos(1_200)).contains(value)));
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed| {
            let random = Random::seeded(seed);
            (0..5).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        // The first value of the reference implementation for seed 0.
        assert_eq!(Random::seeded(0).next(), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        for quantiles in [vec![], vec![(1.5, Nanos(1))], vec![(0.5, Nanos(2)), (0.5, Nanos(3))]] {
            assert!(Spread::from_quantiles(quantiles).is_err());
        }
        let falling = vec![(0.0, Nanos(2)), (0.5, Nanos(1))];
        assert!(Spread::from_quantiles(falling).is_err());
    }
}
