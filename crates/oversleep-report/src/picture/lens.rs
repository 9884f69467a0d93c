//! The precise clock's readings magnified: on the axis of a coarse clock they are one thin line.

use super::axis;
use super::scale::Scale;
use super::stats;
use super::svg::{Anchor, Canvas};
use super::text::{self, Unit};

const BINS: usize = 104;
const PLOT: f64 = 74.0;
/// How far a label may reach beyond the axis.
const MARGIN: f64 = 6.0;
/// Room the panel takes, with its title above and its axis beneath.
pub const HEIGHT: f64 = PLOT + 66.0;

/// Draws the durations, which ascend, from y = 0 between the two x, on their own axis from the 0.5th to the 99th
/// percentile. Draws nothing if there are none.
pub fn draw(c: &mut Canvas, sorted_us: &[f64], (left, right): (f64, f64)) {
    let at = |q| stats::quantile(sorted_us, q);
    let (Some(low), Some(median), Some(high)) = (at(0.005), at(0.5), at(0.99)) else { return };
    let span = (high - low).max(median.abs() * 1e-3).max(1e-3);
    let (from, to) = (low - 0.06 * span, high + 0.06 * span);
    let x = Scale::linear(from, to, left, right);
    let mut bins = vec![0usize; BINS];
    let (mut before, mut after) = (0usize, 0usize);
    for &us in sorted_us {
        if us < from {
            before += 1;
        } else if us > to {
            after += 1;
        } else {
            bins[(((us - from) / (to - from)) * BINS as f64).min(BINS as f64 - 1.0) as usize] += 1;
        }
    }
    let n = sorted_us.len() as f64;
    let (title, outside) = ("precise clock, magnified", outside(before, after, n));
    let is_crowded = text::width_px(title, 12.0) + text::width_px(&outside, 11.0) + 10.0 > right - left;
    let top = if is_crowded { 38.0 } else { 24.0 };
    let base = top + PLOT;
    c.text((left, 8.0), Anchor::Start, "precise t b", title);
    match is_crowded {
        true => c.text((left, 22.0), Anchor::Start, "soft t", &outside),
        false => c.text((right, 8.0), Anchor::End, "soft t", &outside),
    }

    let unit = Unit::for_us(span);
    for tick in x.ticks(unit.us, 70.0) {
        c.line((axis::crisp(tick.at), top), (axis::crisp(tick.at), base + 4.0), "grid s");
        let label = format!("{}\u{a0}{}", tick.label, unit.symbol);
        let fits = tick.at + text::width_px(&label, 11.0) / 2.0 <= right + MARGIN;
        let (at, anchor) = if fits { (tick.at, Anchor::Middle) } else { (right + MARGIN, Anchor::End) };
        c.text((at, base + 17.0), anchor, "soft t", &label);
    }
    let tallest = bins.iter().copied().max().unwrap_or(1).max(1) as f64;
    let width = (right - left) / BINS as f64;
    c.group("precise", |c| {
        for (bin, &held) in bins.iter().enumerate().filter(|(_, held)| **held > 0) {
            let height = (held as f64 / tallest * PLOT).max(1.0);
            let middle = from + (bin as f64 + 0.5) / BINS as f64 * (to - from);
            // As precise as the axis: three digits would be the same for all bars.
            let about = format!("{}\u{a0}{}", text::decimal(middle / unit.us, 1), unit.symbol);
            let tip = format!("about {about}: {} ({})", text::counted(held, "sleep"), text::share(held as f64 / n));
            let corner = (left + bin as f64 * width + 0.4, base - height);
            c.marks("", &tip, |c| c.rect(corner, (width - 0.8, height), "f"));
        }
    });
    c.line((left, axis::crisp(base)), (right, axis::crisp(base)), "axis s");
    // The label of p99 is left out if the two would touch.
    let marks = [("median", median), ("p99", high)];
    let apart = (x.px(high) - x.px(median)).abs() > 60.0;
    for (name, us) in marks.into_iter().take(if apart { 2 } else { 1 }) {
        let at = axis::crisp(x.px(us));
        c.line((at, top - 2.0), (at, base), "ink s dash");
        let anchor = if at > right - 60.0 { Anchor::End } else { Anchor::Start };
        let dx = if anchor == Anchor::End { -5.0 } else { 5.0 };
        c.text((at + dx, top + 8.0), anchor, "ink t halo", name);
    }
}

fn outside(before: usize, after: usize, n: f64) -> String {
    let share = |held: usize| text::share(held as f64 / n);
    match (before, after) {
        (0, 0) => String::new(),
        (0, _) => format!("{} further right", share(after)),
        (_, 0) => format!("{} further left", share(before)),
        _ => format!("{} further left, {} further right", share(before), share(after)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn drawn(values_us: &[f64]) -> String {
        let mut c = Canvas::default();
        c.group("test", |c| draw(c, &stats::sorted(values_us), (60.0, 680.0)));
        c.finish()
    }

    #[test]
    fn every_sleep_is_in_a_bar_or_counted_outside() {
        let mut values: Vec<f64> = (0..999).map(|i| 1060.0 + f64::from(i % 10)).collect();
        values.push(9000.0);
        let svg = drawn(&values);
        well_formed(&svg);
        let in_bars: usize =
            svg.split("µs: ").skip(1).filter_map(|s| s.split('\u{a0}').next()?.parse::<usize>().ok()).sum();
        assert_eq!(in_bars, 999);
        assert!(svg.contains("0.1\u{a0}% further right"), "{svg}");
    }

    #[test]
    fn equal_few_and_no_values() {
        well_formed(&drawn(&[1066.0; 40]));
        well_formed(&drawn(&[0.001, 1e8]));
        well_formed(&drawn(&[0.0]));
        assert_eq!(drawn(&[]), "<g class=\"test\"></g>");
    }
}
