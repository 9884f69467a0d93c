//! Pairs of figures, measured one right after the other, and statistics of their ratios.

use oversleep_record::quantile_interval::highest_exactly;

/// Our figures and the peer's, pair by pair, in the same unit.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    ours: Vec<f64>,
    peer: Vec<f64>,
}

/// Statistics over all pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many pairs have a ratio.
    pub pairs: usize,
    /// Median of the ratios ours / peer.
    pub ratio: f64,
    /// The smallest ratio.
    pub ratio_min: f64,
    /// The largest ratio.
    pub ratio_max: f64,
    /// In how many pairs our figure is the larger one; about half of them means that neither is.
    pub larger: usize,
    /// Median of our figures.
    pub ours: f64,
    /// Median of the peer's figures.
    pub peer: f64,
}

impl Pairs {
    /// Adds a pair.
    pub fn push(&mut self, ours: f64, peer: f64) {
        self.ours.push(ours);
        self.peer.push(peer);
    }

    /// The ratios ours / peer. A pair whose peer isn't above zero has none.
    pub fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.peer).filter(|(_, peer)| **peer > 0.0).map(|(ours, peer)| ours / peer).collect()
    }

    /// The summary; `None` if no pair has a ratio.
    pub fn summary(&self) -> Option<Summary> {
        let ratios = self.ratios();
        let (ratio_min, ratio_max) = range(&ratios)?;
        Some(Summary {
            pairs: ratios.len(),
            ratio: median(&ratios)?,
            ratio_min,
            ratio_max,
            larger: ratios.iter().filter(|ratio| **ratio > 1.0).count(),
            ours: median(&self.ours)?,
            peer: median(&self.peer)?,
        })
    }

    /// Whether more than half of all pairs are beyond this ratio of the peer's figure plus this much, by a one-sided sign
    /// test at 5 %.
    pub fn are_beyond(&self, ratio: f64, more: f64) -> bool {
        let is_within = |(ours, peer): &(&f64, &f64)| **ours <= *peer * ratio + more;
        let within = self.ours.iter().zip(&self.peer).filter(is_within).count() as u64;
        highest_exactly(self.ours.len() as u64, 0.5, 0.05).is_some_and(|few| within <= few)
    }

    /// The median relative change of the peer from one run to the next: how much the same program varies on this
    /// machine right now.
    pub fn peer_variation(&self) -> Option<f64> {
        let shares: Vec<f64> =
            self.peer.windows(2).filter(|two| two[0] > 0.0).map(|two| (two[1] / two[0] - 1.0).abs()).collect();
        median(&shares)
    }
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let min = values.iter().copied().reduce(f64::min)?;
    Some((min, values.iter().copied().reduce(f64::max)?))
}

/// The median; for an even number, the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The smallest value that at least the fraction `share` of all values doesn't exceed. Sorts them.
pub fn quantile(values: &mut [i64], share: f64) -> Option<i64> {
    values.sort_unstable();
    let rank = rank(values.len() as u64, share)?;
    values.get(usize::try_from(rank - 1).ok()?).copied()
}

/// The rank of the quantile among this many values, from 1.
pub fn rank(count: u64, share: f64) -> Option<u64> {
    (count > 0).then(|| ((count as f64 * share).ceil() as u64).clamp(1, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_the_median_of_ratios_not_the_ratio_of_medians() {
        let mut pairs = Pairs::default();
        for (ours, peer) in [(10.0, 10.0), (40.0, 20.0), (30.0, 30.0)] {
            pairs.push(ours, peer);
        }
        let summary = pairs.summary().unwrap();
        assert_eq!((summary.ratio, summary.ratio_min, summary.ratio_max), (1.0, 1.0, 2.0));
        assert_eq!((summary.ours, summary.peer, summary.pairs, summary.larger), (30.0, 20.0, 3, 1));
        assert_eq!(pairs.peer_variation(), Some(0.75), "by 1, then by 0.5");
    }

    #[test]
    fn without_ratios_there_is_no_summary() {
        let mut pairs = Pairs::default();
        assert_eq!((pairs.summary(), pairs.peer_variation()), (None, None));
        pairs.push(1.0, 0.0);
        assert_eq!(pairs.summary(), None);
    }

    #[test]
    fn medians_and_quantiles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        let mut values: Vec<i64> = (1..=200).rev().collect();
        assert_eq!((quantile(&mut values, 0.5), quantile(&mut values, 0.99)), (Some(100), Some(198)));
        assert_eq!((quantile(&mut values, 0.0), quantile(&mut values, 1.0)), (Some(1), Some(200)));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
