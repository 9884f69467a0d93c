//! A distribution of lateness, reduced to what a picture needs.

#[cfg(test)]
use super::stats;

/// Points per curve; values between them differ by less than a pixel.
#[cfg(test)]
pub const POINTS: usize = 220;

/// The percentiles that the text names, so curves made from samples have exact points there.
pub const NAMED: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];

/// A distribution of lateness, reduced to what a picture needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    /// How many waits it holds.
    pub count: u64,
    /// How many of them ended before their deadline.
    pub early_count: u64,
    /// (quantile from 0 up to but not including 1, lateness in µs), ascending in both.
    pub points: Vec<(f64, f64)>,
}

impl Distribution {
    /// From samples of lateness in µs, in any order; what isn't finite is left out.
    #[cfg(test)]
    pub fn of_samples_us(samples_us: &[f64]) -> Self {
        let sorted = stats::sorted(samples_us);
        let n = sorted.len();
        // The middle of each sample's step, so the largest of n stands at 1 − 1/2n and not at an infinite number of
        // nines.
        let quantile = |i: usize| (i as f64 + 0.5) / n as f64;
        let mut ranks: Vec<usize> = if n <= POINTS {
            (0..n).collect()
        } else {
            let most = nines(quantile(n - 1));
            (0..POINTS)
                .map(|k| most * k as f64 / (POINTS - 1) as f64)
                .map(|nines| ((1.0 - 10f64.powf(-nines)) * n as f64 - 0.5).round().clamp(0.0, (n - 1) as f64) as usize)
                .chain(NAMED.iter().map(|(_, q)| ((q * n as f64).ceil() as usize).clamp(1, n) - 1))
                .collect()
        };
        ranks.sort_unstable();
        ranks.dedup();
        Self {
            count: n as u64,
            early_count: sorted.partition_point(|v| *v < 0.0) as u64,
            points: ranks.into_iter().map(|i| (quantile(i), sorted[i])).collect(),
        }
    }

    pub(super) fn clean(&self) -> Vec<(f64, f64)> {
        self.points.iter().copied().filter(|(q, v)| v.is_finite() && (0.0..1.0).contains(q)).collect()
    }

    /// Lateness at the quantile (nearest rank), or `None` if there are too few samples.
    pub fn at(&self, q: f64) -> Option<f64> {
        let points = self.clean();
        if q > points.last()?.0 {
            return None;
        }
        if let Some(exact) = points.iter().find(|p| (p.0 - q).abs() < 1e-9) {
            return Some(exact.1);
        }
        // A point stands in the middle of its step; the step reaches half a sample further.
        let half_step = 0.5 / self.count.max(1) as f64;
        points.iter().find(|p| p.0 + half_step >= q - 1e-12).map(|p| p.1)
    }

    /// The share of waits that ended before their deadline.
    pub(super) fn early(&self) -> f64 {
        self.early_count as f64 / self.count.max(1) as f64
    }
}

/// The number of nines of a quantile: 0.9 has 1, 0.99 has 2.
pub fn nines(q: f64) -> f64 {
    -(1.0 - q.clamp(0.0, 1.0 - 1e-12)).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_where_its_samples_end() {
        let d = Distribution::of_samples_us(&(1..=1000).map(f64::from).collect::<Vec<_>>());
        assert_eq!(d.count, 1000);
        assert_eq!(d.points.last(), Some(&(0.9995, 1000.0)));
        assert!(
            d.points.len() <= POINTS + NAMED.len() && d.points.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1)
        );
        assert_eq!(d.at(0.9999), None);
        assert_eq!((d.at(0.5), d.at(0.99), d.at(0.999)), (Some(500.0), Some(990.0), Some(999.0)));
    }
}
