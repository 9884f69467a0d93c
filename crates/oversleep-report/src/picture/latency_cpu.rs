//! Latency against CPU time, a curve for each way of waiting: what a strategy costs and what it gains.

use super::axis;
use super::frame::{self, Frame, Key, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, time_us};
use super::theme::series_class;

const HEADING: &str = "Latency against CPU time";
const LEFT: f64 = 66.0;
/// The room for the labels of the curves: their names, or their numbers in the legend of a narrow picture; and the room
/// for the lines to them.
const LABELS: (f64, f64) = (118.0, 24.0);
const LEADERS: f64 = 22.0;
const BOTTOM: f64 = 340.0;
const HEIGHT: f64 = BOTTOM + 52.0;
const LABEL_PX: f64 = 11.0;
/// The lower ends of the axes: a thousandth of a CPU, ten nanoseconds.
const CPUS_MIN: f64 = 1e-3;
const LATENCY_MIN_US: f64 = 0.01;

/// One rate of one strategy.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LatencyPoint {
    /// Items per second.
    pub rate_per_s: f64,
    /// CPUs that waiting kept busy.
    pub cpus: f64,
    /// Median latency, µs.
    pub p50_us: f64,
    /// 99th percentile, µs; `None` where too few values lie beyond it.
    pub p99_us: Option<f64>,
}

/// One strategy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StrategyCurve {
    /// Its name.
    pub label: String,
    /// Its points, by rate.
    pub points: Vec<LatencyPoint>,
}

/// All strategies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LatencyCpu {
    /// The words around it.
    pub frame: Frame,
    /// A curve each.
    pub curves: Vec<StrategyCurve>,
}

impl LatencyCpu {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let curves: Vec<(&str, Vec<LatencyPoint>)> = self.curves.iter().filter_map(StrategyCurve::known).collect();
        if curves.is_empty() {
            return frame::without_data(&self.frame, HEADING, "no strategy has latencies and CPU time");
        }
        let points = || curves.iter().flat_map(|(_, points)| points);
        let range = |of: fn(&LatencyPoint) -> f64, least: f64| {
            let values = points().map(of).map(|value| value.max(least));
            values.fold((f64::INFINITY, least), |(low, high), value| (low.min(value), high.max(value)))
        };
        let (cpus, latency) = (range(|point| point.cpus, CPUS_MIN), range(|point| point.p50_us, LATENCY_MIN_US));
        let labels = self.frame.width() - self.frame.either(LABELS.0, LABELS.1);
        let x = Scale::log(cpus.0, cpus.1, LEFT, labels - LEADERS);
        let y = Scale::log(latency.0, latency.1, BOTTOM, 0.0);
        let key =
            |(index, (label, _)): (usize, &(&str, _))| Key::new(series_class(index), &format!("{} {label}", index + 1));
        let is_narrow = self.frame.is_narrow();
        let legend: Vec<Key> = curves.iter().enumerate().map(key).filter(|_| is_narrow).collect();
        frame::figure_of_curves(&self.frame, &words(&curves), &legend, HEIGHT, |c| {
            draw(c, &curves, (&x, &y), (labels, self.frame.width() - labels - 4.0), is_narrow);
        })
    }
}

impl StrategyCurve {
    /// Its name and the points that have a place; `None` if there is none.
    fn known(&self) -> Option<(&str, Vec<LatencyPoint>)> {
        let is_known = |point: &&LatencyPoint| point.cpus.is_finite() && point.p50_us.is_finite();
        let points: Vec<LatencyPoint> = self.points.iter().filter(is_known).copied().collect();
        (!points.is_empty()).then_some((self.label.as_str(), points))
    }
}

fn in_words(point: &LatencyPoint) -> String {
    let p99 = point.p99_us.map(|p99| format!(", p99 {}", time_us(p99))).unwrap_or_default();
    let rate = text::counted(point.rate_per_s.max(0.0) as usize, "item");
    format!("{rate}/s: {}{p99} at {} of a CPU", time_us(point.p50_us), text::share(point.cpus))
}

fn words(curves: &[(&str, Vec<LatencyPoint>)]) -> Words {
    let first = || curves.iter().map(|(label, points)| (*label, points[0]));
    let soonest = first().min_by(|a, b| a.1.p50_us.total_cmp(&b.1.p50_us));
    let thriftiest = first().min_by(|a, b| a.1.cpus.total_cmp(&b.1.cpus));
    let told = |(label, point): (&str, LatencyPoint)| format!("{label}, {}", in_words(&point));
    let finding = match (soonest, thriftiest) {
        (Some(soonest), Some(thriftiest)) if soonest.0 != thriftiest.0 => {
            format!("Soonest: {}. Least CPU time: {}.", told(soonest), told(thriftiest))
        }
        (Some(only), _) => format!("Soonest, with the least CPU time: {}.", told(only)),
        _ => String::new(),
    };
    let of = |(label, points): &(&str, Vec<LatencyPoint>)| {
        format!("{label}: {}.", points.iter().map(in_words).collect::<Vec<_>>().join("; "))
    };
    let detail = curves.iter().map(of).collect::<Vec<_>>().join(" ");
    let caveat = "Both axes are logarithmic; left and down is better. Larger dots are higher rates.".to_owned();
    Words { heading: HEADING, finding, detail, caveat }
}

fn draw(
    c: &mut Canvas,
    curves: &[(&str, Vec<LatencyPoint>)],
    (x, y): (&Scale, &Scale),
    (labels, room): (f64, f64),
    are_numbered: bool,
) {
    let right = labels - LEADERS;
    axis::left(c, &y.decades(22.0, time_us), LEFT, right);
    axis::bottom(c, &x.decades(60.0, text::significant), BOTTOM, 0.0);
    axis::name(c, ((LEFT + right) / 2.0, BOTTOM + 44.0), "CPUs that waiting kept busy");
    c.text((LEFT, -7.0), Anchor::Start, "soft t", "median latency of an item");
    let at = |point: &LatencyPoint| (x.px(point.cpus.max(CPUS_MIN)), y.px(point.p50_us.max(LATENCY_MIN_US)));
    let end = |points: &[LatencyPoint]| points.iter().map(at).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
    // Labels stand in the order of their curves' ends, so that the lines to them don't cross.
    let mut order: Vec<usize> = (0..curves.len()).collect();
    order.sort_by(|&a, &b| end(&curves[a].1).1.total_cmp(&end(&curves[b].1).1));
    let wanted: Vec<f64> = order.iter().map(|&index| end(&curves[index].1).1).collect();
    let places = axis::spread(&wanted, LABEL_PX + 3.0, 4.0, BOTTOM - 4.0);
    c.group("lines", |c| {
        for (&index, place) in order.iter().zip(places) {
            let (label, points) = &curves[index];
            let class = series_class(index);
            let name = format!("{label}: {}", points.iter().map(in_words).collect::<Vec<_>>().join("; "));
            c.curve(class, &name, |c| {
                c.marks("", &name, |c| {
                    let all: Vec<(f64, f64)> = points.iter().map(at).collect();
                    c.polyline(&all, "s w2");
                    all.iter()
                        .enumerate()
                        .for_each(|(number, &dot)| c.circle(dot, 3.0 + 1.5 * number.min(4) as f64, "f"));
                    c.line(end(points), (labels - 4.0, place), "s thin");
                    let number = (index + 1).to_string();
                    let shown = text::fitted(if are_numbered { &number } else { label }, LABEL_PX, room);
                    c.text((labels, place + 4.0), Anchor::Start, "t", &shown);
                });
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn point(rate_per_s: f64, cpus: f64, p50_us: f64) -> LatencyPoint {
        LatencyPoint { rate_per_s, cpus, p50_us, p99_us: Some(p50_us * 3.0) }
    }

    fn picture(curves: &[(&str, &[LatencyPoint])]) -> LatencyCpu {
        let curve = |&(label, points): &(&str, &[LatencyPoint])| StrategyCurve {
            label: label.to_owned(),
            points: points.to_vec(),
        };
        LatencyCpu { frame: Frame::new("l"), curves: curves.iter().map(curve).collect() }
    }

    #[test]
    fn each_strategy_has_its_curve_and_its_label() {
        let spin = [point(1e3, 1.0, 0.3), point(2e4, 1.0, 0.4)];
        let park = [point(1e3, 0.02, 61.0), point(2e4, 0.2, 58.0)];
        let p = picture(&[("spin", &spin), ("park<&\">", &park)]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        let plain = svg.replace('\u{a0}', " ");
        assert!(plain.contains("Soonest: spin, 1,000 items/s: 300 ns, p99 900 ns at 100 % of a CPU."), "{plain}");
        assert!(plain.contains("Least CPU time: park&lt;&amp;&quot;&gt;, 1,000 items/s: 61 µs"), "{plain}");
        let many: Vec<(String, [LatencyPoint; 1])> =
            (0..40).map(|index| (format!("strategy {index}"), [point(1e3, 0.5, 1.0)])).collect();
        let many: Vec<(&str, &[LatencyPoint])> =
            many.iter().map(|(name, points)| (name.as_str(), &points[..])).collect();
        let svg = picture(&many).svg();
        well_formed(&svg);
        assert!(svg.len() < 60_000, "{} bytes", svg.len());
    }

    #[test]
    fn broken_and_extreme_values() {
        let broken = [point(1e3, f64::NAN, 1.0), point(1e3, 1.0, f64::INFINITY)];
        for curves in [&[][..], &[("a", &[][..])], &[("a", &broken)]] {
            let svg = picture(curves).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"), "{svg}");
        }
        well_formed(
            &picture(&[("a", &[point(0.0, 0.0, 0.0), point(f64::NAN, 1e6, 1e11), point(-1.0, -1.0, -5.0)])]).svg(),
        );
        well_formed(&picture(&[("1 ns", &[point(1.0, 1.0, 0.001)]), ("100 s", &[point(1.0, 1.0, 1e8)])]).svg());
    }
}
