//! The few statistics for placing a picture's marks. Findings about a machine are computed elsewhere.

/// The finite values, in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    out.sort_by(f64::total_cmp);
    out
}

/// The q-quantile (nearest rank) of ascending values; `None` when there are none.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).checked_sub(1)?).copied()
}

/// The median of values in any order; `None` when none is finite.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// At most `cap` of the ascending values, evenly picked by rank; the smallest and the largest always stay.
pub fn thinned(sorted: &[f64], cap: usize) -> Vec<f64> {
    let n = sorted.len();
    if n <= cap || cap < 2 {
        return sorted.to_vec();
    }
    (0..cap).map(|i| sorted[i * (n - 1) / (cap - 1)]).collect()
}

/// At most about `cap` of the points, which are in x order: each run of neighbours is replaced by its lowest and its
/// highest, so no extreme is lost. The second value is how many points one run holds; 1 means that nothing was left
/// out.
pub fn extremes(points: &[(f64, f64)], cap: usize) -> (Vec<(f64, f64)>, usize) {
    if points.len() <= cap {
        return (points.to_vec(), 1);
    }
    let run = points.len().div_ceil((cap / 2).max(1));
    let mut out = Vec::with_capacity(cap);
    for chunk in points.chunks(run) {
        let low = (0..chunk.len()).min_by(|&a, &b| chunk[a].1.total_cmp(&chunk[b].1)).unwrap_or(0);
        let high = (0..chunk.len()).max_by(|&a, &b| chunk[a].1.total_cmp(&chunk[b].1)).unwrap_or(0);
        out.push(chunk[low.min(high)]);
        if low != high {
            out.push(chunk[low.max(high)]);
        }
    }
    (out, run)
}

/// The end of an axis on which a few outliers don't flatten the rest: the largest value, or somewhat above the 98th
/// percentile if the largest is more than four times that. The picture marks values beyond the end.
pub fn robust_top(sorted: &[f64]) -> Option<f64> {
    let top = *sorted.last()?;
    let usual = quantile(sorted, 0.98)?;
    Some(if usual > 0.0 && top > 4.0 * usual { 1.4 * usual } else { top })
}

/// The slope of the least-squares line; `None` with fewer than two different x.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    let shared: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    (spread > 0.0).then(|| shared / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_ranks_of_what_was_measured() {
        let v = sorted(&[4.0, f64::NAN, 1.0, 3.0, 2.0, f64::INFINITY]);
        assert_eq!(v, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(quantile(&v, 0.5), Some(2.0));
        assert_eq!(quantile(&v, 0.0), Some(1.0));
        assert_eq!(quantile(&v, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn thinning_keeps_both_ends() {
        let v: Vec<f64> = (0..1001).map(f64::from).collect();
        let t = thinned(&v, 11);
        assert_eq!((t.len(), t[0], t[10]), (11, 0.0, 1000.0));
    }

    #[test]
    fn no_extreme_is_lost() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), 1.0)).collect();
        points[7777].1 = 99.0;
        points[1234].1 = -5.0;
        let (kept, run) = extremes(&points, 1000);
        assert!(kept.len() <= 1000 && run == 20);
        assert!(kept.contains(&(7777.0, 99.0)) && kept.contains(&(1234.0, -5.0)));
        assert!(kept.windows(2).all(|w| w[0].0 < w[1].0), "order in time is kept");
    }

    #[test]
    fn an_outlier_does_not_set_the_axis() {
        let mut v: Vec<f64> = vec![1.0; 200];
        v.push(1000.0);
        assert_eq!(robust_top(&v), Some(1.4));
        assert_eq!(robust_top(&[1.0, 3.0]), Some(3.0));
        assert_eq!(robust_top(&[]), None);
    }

    #[test]
    fn slope_of_a_line_and_of_a_point() {
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]), Some(2.0));
        assert_eq!(slope(&[(1.0, 1.0)]), None);
        assert_eq!(slope(&[]), None);
    }
}
