//! The statistics of a fleet: medians with intervals by hosts, means with intervals by days, and how far apart is unusual.

use oversleep_record::quantile_interval::highest_exactly;

use super::model::Interval;

/// The error of all comparisons together.
pub(super) const ERROR: f64 = 0.01;
/// Ratios nearer to 1 than this are the same, however certain: as in comparisons of results.
pub(super) const NEAR_ONE: f64 = 1.02;
/// The spread of a group is never taken to be below this: histograms tell values apart by a thousandth.
const SPREAD_MIN: f64 = 0.001;
/// The deviation of a normal distribution in units of its median absolute deviation.
const OF_MAD: f64 = 1.482_602;
/// Beyond this the sums of the binomial leave the range of numbers.
const EXACT_MAX: usize = 500;

/// The median; the mean of the middle two.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[sorted.len() / 2 - 1] + upper) / 2.0 })
}

/// The middle and the spread of a group, which a few of its members can't move.
pub(super) fn middle_and_spread(values: &[f64]) -> Option<(f64, f64)> {
    let middle = median(values)?;
    let away: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    Some((middle, (median(&away)? * OF_MAD).max(SPREAD_MIN)))
}

/// By how many deviations one of `members` has to be apart to be unusual among so many comparisons. A spread that few
/// members show is itself uncertain: the median absolute deviation knows as much as 37 % of them would.
pub(super) fn unusual_from(members: usize, comparisons: usize) -> f64 {
    let freedom = (0.37 * (members as f64 - 1.0)).max(3.0);
    student(ERROR / comparisons.max(1) as f64, freedom)
}

/// The median of one value for each host with its interval: the ranks between which it lies, whatever the distribution.
/// `None` for too few hosts.
pub(super) fn of_hosts(values: &[f64], comparisons: usize) -> Option<Interval> {
    let count = values.len();
    let tail = ERROR / 2.0 / comparisons.max(1) as f64;
    let outside = match count {
        0..=EXACT_MAX => usize::try_from(highest_exactly(count as u64, 0.5, tail)?).ok()?,
        _ => (count as f64 / 2.0 - normal(tail) * (count as f64).sqrt() / 2.0 - 0.5).floor().max(0.0) as usize,
    };
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(Interval { value: median(&sorted)?, low: sorted[outside], high: sorted[count - 1 - outside] })
}

/// The fewest hosts for an interval: of fewer, all lie on one side of the median more often than the error allows, which is
/// once in 2 to the power of their number.
pub(super) fn hosts_min(comparisons: usize) -> usize {
    let tail = ERROR / 2.0 / comparisons.max(1) as f64;
    (1..64).find(|&count| highest_exactly(count, 0.5, tail).is_some()).map_or(64, |count| count as usize)
}

/// The mean of one value for each day with its Student interval. `None` for fewer than three days.
pub(super) fn of_days(values: &[f64], comparisons: usize) -> Option<Interval> {
    let count = values.len() as f64;
    if values.len() < 3 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half = student(ERROR / comparisons.max(1) as f64, count - 1.0) * (squares / (count - 1.0) / count).sqrt();
    Some(Interval { value: mean, low: mean - half, high: mean + half })
}

/// The days before a place, and those from it on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    /// The mean of those before.
    pub before: f64,
    /// The mean of those since.
    pub after: f64,
    /// Their difference.
    pub step: f64,
    /// How many before, and since.
    sizes: [f64; 2],
    /// What days of one side differ by.
    deviation: f64,
}

impl Split {
    /// How sure the difference is: Student's t.
    pub fn certainty(&self) -> f64 {
        self.step.abs() / self.error_of_step()
    }

    fn error_of_step(&self) -> f64 {
        self.deviation * (self.sizes[0].recip() + self.sizes[1].recip()).sqrt()
    }

    fn student(&self, comparisons: usize) -> f64 {
        student(ERROR / comparisons.max(1) as f64, self.sizes[0] + self.sizes[1] - 2.0)
    }

    /// Half of the interval of the difference.
    pub fn half_of_step(&self, comparisons: usize) -> f64 {
        self.student(comparisons) * self.error_of_step()
    }

    /// Half of the interval of the mean of those since.
    pub fn half(&self, comparisons: usize) -> f64 {
        self.student(comparisons) * self.deviation / self.sizes[1].sqrt()
    }
}

/// Every way to split days in two, with the place of the first one since.
pub(super) fn splits(values: &[f64]) -> impl Iterator<Item = (usize, Split)> {
    let of = |values: &[f64]| [values.iter().sum::<f64>(), values.iter().map(|value| value * value).sum::<f64>()];
    let (all, mut before) = (of(values), [0.0; 2]);
    let count = values.len() as f64;
    values.iter().enumerate().skip(1).map(move |(at, _)| {
        let last = values[at - 1];
        before = [before[0] + last, before[1] + last * last];
        let sizes = [at as f64, count - at as f64];
        let means = [before[0] / sizes[0], (all[0] - before[0]) / sizes[1]];
        let squares = all[1] - sizes[0] * means[0] * means[0] - sizes[1] * means[1] * means[1];
        // Histograms tell values apart by a thousandth, so equal days are no proof.
        let deviation = (squares.max(0.0) / (count - 2.0).max(1.0)).sqrt().max(SPREAD_MIN);
        (at, Split { before: means[0], after: means[1], step: means[1] - means[0], sizes, deviation })
    })
}

impl Interval {
    /// That of the ratio, from that of its logarithm.
    pub(super) fn exp(self) -> Interval {
        Interval { value: self.value.exp(), low: self.low.exp(), high: self.high.exp() }
    }

    /// Whether all of it lies on one side of a value.
    pub(super) fn excludes(&self, value: f64) -> bool {
        self.low > value || self.high < value
    }

    /// Whether nothing is in both.
    pub(super) fn is_apart(&self, other: &Interval) -> bool {
        self.low > other.high || self.high < other.low
    }
}

/// Whether a ratio is far enough from 1 to matter.
pub(super) fn matters(ratio: f64) -> bool {
    !(1.0 / NEAR_ONE..=NEAR_ONE).contains(&ratio)
}

/// Student's t that is exceeded on either side with that probability together (G. W. Hill, Algorithm 396, CACM 13, 1970).
fn student(both_tails: f64, freedom: f64) -> f64 {
    let (p, n) = (both_tails.clamp(1e-300, 1.0), freedom.max(1.0));
    if n < 1.5 {
        return (p * std::f64::consts::FRAC_PI_2).tan().recip();
    }
    if n < 2.5 {
        return (2.0 / (p * (2.0 - p)) - 2.0).sqrt();
    }
    let a = (n - 0.5).recip();
    let b = 48.0 / (a * a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * std::f64::consts::FRAC_PI_2).sqrt() * n;
    let mut y = (d * p).powf(2.0 / n);
    if y > 0.05 + a {
        let x = -normal(p / 2.0);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        y = ((((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0).recip() + 0.5 / (n + 4.0)) * y - 1.0;
        y = y * (n + 1.0) / (n + 2.0) + ((d * p).powf(2.0 / n)).recip();
    }
    (n * y).sqrt()
}

/// The normal deviate that is exceeded with that probability, of one half at most (P. J. Acklam's rational approximation,
/// whose relative error is below 1.15e-9).
fn normal(tail: f64) -> f64 {
    let p = tail.clamp(1e-300, 0.5);
    if p < 0.024_25 {
        let q = (-2.0 * p.ln()).sqrt();
        let top = ((((-7.784_894_002_430_293e-3 * q - 3.223_964_580_411_365e-1) * q - 2.400_758_277_161_838) * q
            - 2.549_732_539_343_734)
            * q
            + 4.374_664_141_464_968)
            * q
            + 2.938_163_982_698_783;
        let below = (((7.784_695_709_041_462e-3 * q + 3.224_671_290_700_398e-1) * q + 2.445_134_137_142_996) * q
            + 3.754_408_661_907_416)
            * q
            + 1.0;
        return -top / below;
    }
    let q = p - 0.5;
    let r = q * q;
    let top = (((((-3.969_683_028_665_376e1 * r + 2.209_460_984_245_205e2) * r - 2.759_285_104_469_687e2) * r
        + 1.383_577_518_672_69e2)
        * r
        - 3.066_479_806_614_716e1)
        * r
        + 2.506_628_277_459_239)
        * q;
    let below = ((((-5.447_609_879_822_406e1 * r + 1.615_858_368_580_409e2) * r - 1.556_989_798_598_866e2) * r
        + 6.680_131_188_771_972e1)
        * r
        - 1.328_068_155_288_572e1)
        * r
        + 1.0;
    -top / below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviates_are_those_of_tables() {
        for (tail, found) in [(0.5, 0.0), (0.1, 1.281_552), (0.005, 2.575_829), (1e-6, 4.753_424)] {
            assert!((normal(tail) - found).abs() < 1e-5, "{tail}: {}", normal(tail));
        }
        // Two tails, degrees of freedom.
        for (p, n, found) in [
            (0.01, 1.0, 63.657),
            (0.01, 2.0, 9.925),
            (0.01, 6.0, 3.707),
            (0.01, 20.0, 2.845),
            (0.001, 10.0, 4.587),
            (0.000_1, 30.0, 4.482),
        ] {
            assert!((student(p, n) / found - 1.0).abs() < 2e-3, "{p} {n}: {}", student(p, n));
        }
    }

    #[test]
    fn a_median_of_hosts_lies_between_ranks() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(of_hosts(&values, 1), Some(Interval { value: 10.5, low: 4.0, high: 17.0 }));
        assert_eq!(of_hosts(&values[..7], 1), None);
        assert_eq!((hosts_min(1), hosts_min(100)), (8, 15));
        let many: Vec<f64> = (1..=1_001).map(f64::from).collect();
        let found = of_hosts(&many, 1).unwrap();
        // 500.5 ± 2.576 · √1001 / 2
        assert!((found.low - 460.0).abs() < 1.5 && (found.high - 542.0).abs() < 1.5, "{found:?}");
    }

    #[test]
    fn few_days_leave_a_wide_interval() {
        assert_eq!(of_days(&[1.0, 1.0], 1), None);
        let found = of_days(&[1.0, 2.0, 3.0], 1).unwrap();
        // 9.925 · 1 / √3
        assert!((found.high - 2.0 - 5.730).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn one_of_many_can_not_move_the_middle() {
        let mut values: Vec<f64> = (0..101).map(f64::from).collect();
        let (middle, spread) = middle_and_spread(&values).unwrap();
        values[100] = 1e9;
        assert_eq!(middle_and_spread(&values), Some((middle, spread)));
        assert!(unusual_from(10, 1_000) > 2.0 * unusual_from(1_000, 1_000));
    }
}
