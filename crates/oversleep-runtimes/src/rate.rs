//! At which rate a program's clock runs, from moments that the program states and the times at which they were heard of.
//! A line may come late, never early, and on a busy machine by milliseconds.

use oversleep_record::Nanos;

const SECOND: f64 = 1e9;
/// Fewest moments that tell a rate.
const MOMENTS_MIN: usize = 4;
/// By how much of the span the delays of the lines may differ before the rate can't be told.
const UNCERTAINTY_MAX: f64 = 0.008;

/// What the program's clock shows of a second; `None` where the lines came too irregularly to tell. The first lines of a
/// process come late, because runtimes load or compile what writes them, so the first quarter counts only where there are
/// few others.
pub fn second(moments: &[(i64, Nanos)]) -> Option<i64> {
    let late = moments.len().div_ceil(4).min(moments.len().saturating_sub(MOMENTS_MIN));
    let moments = &moments[late..];
    let (first, last) = (moments.first()?, moments.last()?);
    let span = (last.1 - first.1).0 as f64;
    if moments.len() < MOMENTS_MIN || span <= 0.0 {
        return None;
    }
    if last.0 == first.0 {
        return Some(0);
    }
    // As differences, so that a double holds them exactly.
    let points: Vec<(f64, f64)> = moments
        .iter()
        .map(|(shown, heard)| (shown.saturating_sub(first.0) as f64, (*heard - first.1).0 as f64))
        .collect();
    let mut slopes: Vec<f64> = Vec::new();
    for (at, one) in points.iter().enumerate() {
        let later = points[at + 1..].iter().filter(|other| other.1 - one.1 > span / 4.0);
        slopes.extend(later.map(|other| (other.0 - one.0) / (other.1 - one.1)));
    }
    let rate = median(&mut slopes)?;
    let mut delays: Vec<f64> = points.iter().map(|(shown, heard)| heard - shown / rate.max(1e-6)).collect();
    delays.sort_by(f64::total_cmp);
    // The usual delay varies; a few lines that came much later don't matter to the median of the slopes.
    let spread = delays[delays.len() * 3 / 4] - delays[delays.len() / 4];
    let is_plausible = rate.is_finite() && (0.0..1e6).contains(&rate);
    (is_plausible && spread / span <= UNCERTAINTY_MAX).then_some((rate * SECOND) as i64)
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments 10 ms apart of a clock at that rate, each heard of after its delay.
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
        // As measured of Mono, which took 0.8 ms to write its first line and less for each one that followed.
        let shown = second(&heard(1.0, &[840, 60, 55, 50, 52, 48, 50, 49, 51, 50])).unwrap();
        assert!((shown as f64 / 1e9 - 1.0).abs() < 1e-3, "{shown}");
    }

    #[test]
    fn lines_that_come_less_and_less_late_make_no_clock_fast() {
        // As measured of Java, which loads what builds its lines while it writes the first three.
        let late = [40_000, 21_000, 2_400, 300, 240, 180, 150, 140, 140, 130, 150, 140];
        let shown = second(&heard(1.0, &late)).unwrap();
        assert!((shown as f64 / 1e9 - 1.0).abs() < 3e-3, "{shown}");
    }

    #[test]
    fn lines_that_come_irregularly_tell_no_rate() {
        let busy = heard(1.0, &[9_000, 20, 4_000, 300, 7_000, 20, 12_000, 5_000, 40, 2_500]);
        assert_eq!(second(&busy), None);
        assert_eq!(second(&heard(1.0, &[20, 20, 20])), None, "too few");
        assert_eq!(second(&[]), None);
    }
}
