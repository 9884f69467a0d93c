//! The rate of a program's clock, from times that the program reports and the times at which its lines arrive.
//! A line can arrive late but never early, and on a busy machine it is late by milliseconds. So the lines with the shortest
//! delay determine the rate.

use oversleep_record::Nanos;

const SECOND: f64 = 1e9;
/// A rate needs at least this many lines.
const MOMENTS_MIN: usize = 4;
/// The rate is unknown if leaving out any one line changes it by more than this.
const UNCERTAINTY_MAX: f64 = 0.004;

/// When a line arrived, and the time of the program's clock in it.
type Point = (f64, f64);

/// By how many ns the program's clock advances in a second; `None` if the lines arrived too irregularly. The first lines of
/// a process arrive late, because the runtime loads or compiles the code that writes them. So the first quarter is left
/// out, unless too few lines remain.
pub fn second(moments: &[(i64, Nanos)]) -> Option<i64> {
    let late = moments.len().div_ceil(4).min(moments.len().saturating_sub(MOMENTS_MIN));
    let moments = &moments[late..];
    let (first, last) = (moments.first()?, moments.last()?);
    if moments.len() < MOMENTS_MIN || last.1 <= first.1 {
        return None;
    }
    // A double represents these differences exactly.
    let points: Vec<Point> = moments
        .iter()
        .map(|(shown, heard)| ((*heard - first.1).0 as f64, shown.saturating_sub(first.0) as f64))
        .collect();
    let rate = rate(&points)?;
    let without = |at: usize| {
        let mut others = points.clone();
        others.remove(at);
        self::rate(&others).map(|other| (other - rate).abs())
    };
    let is_certain = (0..points.len()).all(|at| without(at).is_some_and(|change| change <= UNCERTAINTY_MAX));
    let is_plausible = rate.is_finite() && (0.0..1e6).contains(&rate);
    (is_plausible && is_certain).then_some((rate * SECOND) as i64)
}

/// The slope of the straight line that is closest to the points with none above it: a delay puts a point below it. The
/// clocks of two machines are compared in this way by messages in one direction (S. Moon, P. Skelly, D. Towsley,
/// "Estimation and removal of clock skew from network delay measurements", 1999).
fn rate(points: &[Point]) -> Option<f64> {
    let slope = |one: Point, other: Point| (other.1 - one.1) / (other.0 - one.0);
    let mut hull: Vec<Point> = Vec::new();
    for &point in points {
        if hull.last().is_some_and(|last| point.0 <= last.0) {
            // Both arrived at the same time, so the later one had the shorter delay.
            hull.pop();
        }
        while let [.., before, last] = hull[..] {
            if slope(before, last) > slope(last, point) {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    let mean = points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
    let mut edges = hull.windows(2).map(|edge| (edge[0], edge[1]));
    edges.rfind(|(one, _)| one.0 <= mean).map(|(one, other)| slope(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines 10 ms apart from a clock of that rate, each with its delay.
    fn heard(rate: f64, delays_us: &[i64]) -> Vec<(i64, Nanos)> {
        let moment = |(at, delay): (usize, &i64)| {
            let real = at as i64 * 10_000_000;
            ((real as f64 * rate) as i64, Nanos(7_000_000 + real + delay * 1_000))
        };
        delays_us.iter().enumerate().map(moment).collect()
    }

    #[test]
    fn a_rate_is_told_although_some_lines_come_late() {
        for (rate, error_max) in [(1.0, 1e-4), (0.88, 1e-3), (1.1, 1e-3), (0.0, 0.0)] {
            let shown = second(&heard(rate, &[20, 22, 21, 900, 25, 20, 23, 21, 4_000, 22, 20, 24])).unwrap();
            assert!((shown as f64 / 1e9 - rate).abs() <= error_max, "{rate}: {shown}");
        }
    }

    #[test]
    fn a_first_line_that_comes_late_makes_no_clock_fast() {
        // As measured with Mono, whose first line took 0.8 ms, and each further one less.
        let shown = second(&heard(1.0, &[840, 60, 55, 50, 52, 48, 50, 49, 51, 50])).unwrap();
        assert!((shown as f64 / 1e9 - 1.0).abs() < 1e-3, "{shown}");
    }

    #[test]
    fn lines_that_come_less_and_less_late_make_no_clock_fast() {
        // As measured with Java, which loads classes while it writes its first three lines.
        let late = [40_000, 21_000, 2_400, 300, 240, 180, 150, 140, 140, 130, 150, 140];
        let shown = second(&heard(1.0, &late)).unwrap();
        assert!((shown as f64 / 1e9 - 1.0).abs() < 3e-3, "{shown}");
    }

    /// Delays as on a machine whose CPUs are all busy: most are short, the others up to `longest_us`.
    fn busy(seed: u64, longest_us: i64) -> Vec<i64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64
        };
        (0..24)
            .map(|_| if next() % 3 == 0 { next() % (longest_us * 1_000) / 1_000 } else { 40 + next() % 60 })
            .collect()
    }

    #[test]
    fn on_a_busy_machine_a_rate_that_is_told_is_right() {
        for rate in [1.0, 0.985, 0.88, 1.1] {
            for longest_us in [500, 4_000, 12_000] {
                let told: Vec<i64> =
                    (0..500).filter_map(|seed| second(&heard(rate, &busy(seed * 7 + 1, longest_us)))).collect();
                assert!(told.len() > 300, "{rate}, {longest_us} µs: told {} times", told.len());
                let worst = told.iter().map(|shown| (*shown as f64 / 1e9 - rate).abs()).fold(0.0, f64::max);
                assert!(worst <= 0.006, "{rate}, {longest_us} µs: off by {worst}");
            }
        }
    }

    #[test]
    fn lines_that_come_irregularly_tell_no_rate() {
        let busy = heard(1.0, &[9_000, 20, 4_000, 300, 7_000, 20, 12_000, 5_000, 40, 2_500]);
        assert_eq!(second(&busy), None);
        assert_eq!(second(&heard(1.0, &[20, 20, 20])), None, "too few");
        assert_eq!(second(&[]), None);
    }
}
