//! Lateness of many waits by percentile, on an axis of nines: the further right, the rarer.
//!
//! A curve ends where its sample count no longer supports it. A logarithmic axis has no place for early wake-ups, so
//! they get their own band beneath it.

use super::frame::{self, Frame, Key, WIDTH, Words};
use super::scale::{Scale, Tick};
#[cfg(test)]
use super::stats;
use super::svg::{Anchor, Canvas};
use super::text::{self, signed_us, time_us};
use super::{axis, theme};

const HEADING: &str = "Lateness by percentile";
const LEFT: f64 = 66.0;
/// Leaves room for the longest name of a wait.
const RIGHT: f64 = 530.0;
const LABELS_LEFT: f64 = RIGHT + 26.0;
const LABEL_GAP: f64 = 14.0;
const BAND: f64 = 26.0;
/// Points per curve; values between them differ by less than a pixel.
#[cfg(test)]
const POINTS: usize = 220;

/// The percentiles that the text names, so curves made from samples have exact points there.
const NAMED: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];

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

    fn clean(&self) -> Vec<(f64, f64)> {
        self.points.iter().copied().filter(|(q, v)| v.is_finite() && (0.0..1.0).contains(q)).collect()
    }

    /// Lateness at the quantile (nearest rank), or `None` if there are too few samples.
    pub(crate) fn at(&self, q: f64) -> Option<f64> {
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
    fn early(&self) -> f64 {
        self.early_count as f64 / self.count.max(1) as f64
    }
}

/// One curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PercentileSeries {
    /// Name of the wait.
    pub label: String,
    /// Index into [`Percentiles::families`], which gives the colour.
    pub family: usize,
    /// Its lateness.
    pub lateness: Distribution,
}

/// Lateness by percentile.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Percentiles {
    /// The words around it.
    pub frame: Frame,
    /// The names of groups of curves: `obeys timer slack`, `ignores timer slack`. Empty for one colour per curve.
    pub families: Vec<String>,
    /// The curves, any number; the labels have room for 25 before the picture grows.
    pub series: Vec<PercentileSeries>,
}

/// Where the axis begins: at the smallest lateness, but at most a decade below the smallest median, because a few waits
/// between early and late would cost a decade each; and not below a nanosecond, which no clock resolves.
fn floor_us(series: &[&PercentileSeries], positive_us: &[f64]) -> f64 {
    let least = positive_us.iter().copied().fold(f64::INFINITY, f64::min);
    let medians = series.iter().filter_map(|s| s.lateness.at(0.5)).filter(|m| *m > 0.0);
    let usual = medians.fold(f64::INFINITY, f64::min) / 10.0;
    let floor = if usual.is_finite() { least.max(usual) } else { least };
    floor.max(1e-3)
}

/// The number of nines of a quantile: 0.9 has 1, 0.99 has 2.
fn nines(q: f64) -> f64 {
    -(1.0 - q.clamp(0.0, 1.0 - 1e-12)).log10()
}

impl Percentiles {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let series: Vec<&PercentileSeries> = self.series.iter().filter(|s| s.lateness.clean().len() >= 2).collect();
        if series.is_empty() {
            return frame::without_data(&self.frame, HEADING, "no wait has two samples of lateness");
        }
        let plot = (LABEL_GAP * series.len() as f64 + 20.0).max(330.0);
        let values: Vec<f64> =
            series.iter().flat_map(|s| s.lateness.clean()).map(|p| p.1).filter(|v| *v > 0.0).collect();
        let high = values.iter().copied().fold(2e-3, f64::max);
        let low = floor_us(&series, &values);
        let y = if values.is_empty() { Scale::log(1.0, 10.0, plot, 0.0) } else { Scale::log(low, high, plot, 0.0) };
        let any_early = series.iter().any(|s| s.lateness.clean().iter().any(|p| p.1 < 0.0));
        let band = if any_early { BAND } else { 0.0 };
        let most = series.iter().filter_map(|s| s.lateness.clean().last().map(|p| nines(p.0))).fold(1.0, f64::max);
        let x = Scale::linear(0.0, most.ceil().max(2.0), LEFT, RIGHT);
        let mut words = self.words(&series);
        if series.iter().flat_map(|s| s.lateness.clean()).any(|(_, v)| (0.0..y.low()).contains(&v)) {
            let edge = format!("Lateness from 0 to {} is drawn at the lower edge. ", time_us(y.low()));
            words.caveat.insert_str(0, &edge);
        }
        let legend: Vec<Key> =
            self.families.iter().enumerate().map(|(i, f)| Key::new(theme::series_class(i), f)).collect();
        frame::figure(&self.frame, &words, &legend, plot + band + 44.0, |c| {
            self.axes(c, &x, &y, plot, band);
            let place = |(q, v): (f64, f64)| {
                let below = plot + band / 2.0 + 1.0;
                (x.px(nines(q)), if v < 0.0 { below } else { y.px(v) })
            };
            self.curves(c, &series, place, plot + band);
        })
    }

    fn axes(&self, c: &mut Canvas, x: &Scale, y: &Scale, plot: f64, band: f64) {
        axis::left(c, &y.decades(22.0, time_us), LEFT, RIGHT);
        let ticks: Vec<Tick> =
            (0..=x.high() as i32).map(|n| Tick { at: x.px(f64::from(n)), label: percentile_name(n) }).collect();
        let bottom = plot + band;
        axis::bottom(c, &ticks, bottom, 0.0);
        axis::bottom(c, &[Tick { at: x.px(nines(0.5)), label: "p50".to_owned() }], bottom, 0.0);
        if band > 0.0 {
            c.rect((LEFT, plot + 1.0), (RIGHT - LEFT, band - 1.0), "band f");
            c.text((LEFT - 8.0, plot + band / 2.0 + 5.0), Anchor::End, "warn t b", "early");
        }
        c.line((LEFT, axis::crisp(bottom)), (RIGHT, axis::crisp(bottom)), "axis s");
        c.text((LEFT, -7.0), Anchor::Start, "soft t", "lateness, log scale");
        axis::name(
            c,
            ((LEFT + RIGHT) / 2.0, bottom + 36.0),
            "percentile of all waits; each step to the right is ten times rarer",
        );
    }

    fn curves(
        &self,
        c: &mut Canvas,
        series: &[&PercentileSeries],
        place: impl Fn((f64, f64)) -> (f64, f64),
        bottom: f64,
    ) {
        let mut ends: Vec<(usize, (f64, f64))> =
            series.iter().enumerate().filter_map(|(i, s)| Some((i, place(*s.lateness.clean().last()?)))).collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1).then(a.0.cmp(&b.0)));
        let wanted: Vec<f64> = ends.iter().map(|e| e.1.1).collect();
        let places = axis::spread(&wanted, LABEL_GAP, 2.0, bottom - 2.0);
        c.group("lines", |c| {
            for ((index, end), label_y) in ends.iter().zip(&places) {
                let one = series[*index];
                let family = if self.families.is_empty() { *index } else { one.family };
                let class = theme::series_class(family);
                c.marks(&format!("one {class}"), &tip(one), |c| {
                    c.polyline(&visible(one.lateness.clean().into_iter().map(&place)), "s w2");
                    c.circle(*end, 3.0, "f");
                    let mid = RIGHT + 10.0;
                    c.polyline(
                        &[(end.0 + 4.0, end.1), (mid.max(end.0 + 4.0), end.1), (LABELS_LEFT - 4.0, *label_y)],
                        "s thin",
                    );
                    let room = WIDTH - 12.0 - LABELS_LEFT;
                    c.text(
                        (LABELS_LEFT, label_y + 4.0),
                        Anchor::Start,
                        "t halo",
                        &text::fitted(&one.label, 11.0, room),
                    );
                });
            }
        });
    }

    fn words(&self, series: &[&PercentileSeries]) -> Words {
        let mut medians: Vec<(f64, &str)> =
            series.iter().filter_map(|s| Some((s.lateness.at(0.5)?, s.label.as_str()))).collect();
        medians.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
        let mut finding = String::new();
        if let (Some(first), Some(last)) = (medians.first(), medians.last()) {
            finding = if medians.len() == 1 {
                format!("{}: median {}", first.1, signed_us(first.0))
            } else {
                format!(
                    "Median lateness from {} ({}) to {} ({})",
                    signed_us(first.0),
                    first.1,
                    signed_us(last.0),
                    last.1
                )
            };
        }
        let worst = |q: f64| {
            series
                .iter()
                .filter_map(|s| Some((s.lateness.at(q)?, s.label.as_str())))
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)))
        };
        if let Some((late, label)) = worst(0.99) {
            finding.push_str(&format!("; the worst p99 is {} ({label})", signed_us(late)));
        }
        finding.push('.');
        let early: Vec<String> = series
            .iter()
            .filter(|s| s.lateness.early() > 0.0)
            .map(|s| format!("{} {}", s.label, text::share(s.lateness.early())))
            .collect();
        if !early.is_empty() {
            let more = if early.len() > 3 { format!(" and {} more", early.len() - 3) } else { String::new() };
            finding.push_str(&format!(" Early wake-ups: {}{more}.", early[..early.len().min(3)].join(", ")));
        }
        let left_out = self.series.len() - series.len();
        let caveat = if left_out == 0 {
            String::new()
        } else {
            format!("Left out, because they have too few values: {}.", text::counted(left_out, "wait"))
        };
        let detail = series.iter().map(|s| format!("{}.", tip(s))).collect::<Vec<_>>().join(" ");
        Words { heading: HEADING, finding, detail, caveat }
    }
}

/// Drops points that lie within a pixel of the one before; the last always stays. An ascending curve thereby has at
/// most as many points as its path has pixels, however many it was given.
fn visible(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let mut last = None;
    for point in points {
        let far = kept.last().is_none_or(|k| (k.0 - point.0).abs().max((k.1 - point.1).abs()) >= 0.8);
        if far {
            kept.push(point);
        }
        last = if far { None } else { Some(point) };
    }
    kept.extend(last);
    kept
}

fn tip(series: &PercentileSeries) -> String {
    let mut text = series.label.clone();
    for (name, q) in NAMED {
        if let Some(late) = series.lateness.at(q) {
            text.push_str(&format!(", {name} {}", signed_us(late)));
        }
    }
    let early = series.lateness.early();
    if early > 0.0 {
        text.push_str(&format!(", early {}", text::share(early)));
    }
    text.push_str(&format!(", n = {}", text::count(series.lateness.count as usize)));
    text
}

/// Name of the percentile with this many nines: 0 is the smallest value, 3 is p99.9.
fn percentile_name(nines: i32) -> String {
    match nines {
        0 => "min".to_owned(),
        1 => "p90".to_owned(),
        2 => "p99".to_owned(),
        n => format!("p99.{}", "9".repeat((n - 2) as usize)),
    }
}

#[cfg(test)]
mod tests {
    /// The longest names used to be cut: `waitable-timer-high-resolut…`.
    #[test]
    fn names_of_waits_have_room() {
        for name in ["waitable-timer-high-resolution", "get-queued-completion-status", "sleep-condition-variable-srw"] {
            assert!(text::width_px(name, 11.0) <= WIDTH - 12.0 - LABELS_LEFT, "{name}");
        }
    }

    use super::super::check::well_formed;
    use super::*;

    fn one(label: &str, samples_us: &[f64]) -> PercentileSeries {
        PercentileSeries { label: label.to_owned(), family: 0, lateness: Distribution::of_samples_us(samples_us) }
    }

    fn of(series: Vec<PercentileSeries>) -> Percentiles {
        Percentiles { frame: Frame::new("p"), families: Vec::new(), series }
    }

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

    #[test]
    fn says_the_range_and_the_early_ones() {
        let p = of(vec![one("slow<&>", &[900.0; 40]), one("fast", &[-3.0, -2.0, 10.0, 10.0, 10.0, 10.0, 10.0, 11.0])]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(svg.contains("from +10\u{a0}µs (fast) to +900\u{a0}µs (slow&lt;&amp;&gt;)"), "{svg}");
        assert!(svg.contains("Early wake-ups: fast 25\u{a0}%.") && svg.contains(">early<"));
    }

    #[test]
    fn no_band_without_early_wake_ups() {
        assert!(!of(vec![one("a", &[1.0, 2.0])]).svg().contains(">early<"));
    }

    #[test]
    fn empty_broken_extreme_and_many() {
        for series in [vec![], vec![one("a", &[])], vec![one("a", &[f64::NAN, f64::INFINITY, 1.0])]] {
            let svg = of(series).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        well_formed(&of(vec![one("all early", &[-1.0, -2.0, -3.0]), one("zero", &[0.0, 0.0])]).svg());
        well_formed(&of(vec![one("wide", &[0.001, 1e8]), one("none", &[])]).svg());
        let samples: Vec<f64> = (0..50_000).map(|i| 50.0 + f64::from(i % 997)).collect();
        let many = of((0..25).map(|i| one(&format!("wait {i}"), &samples)).collect()).svg();
        well_formed(&many);
        assert!(many.len() < 150_000, "{} bytes", many.len());
        assert_eq!(many.matches("class=\"one ").count(), 25);
        let points = (0..100_000).map(|i| (f64::from(i) / 100_001.0, 1.0 + f64::from(i))).collect();
        let fine = Distribution { count: 100_000, early_count: 0, points };
        let fine = of(vec![PercentileSeries { label: "fine".to_owned(), family: 0, lateness: fine }]).svg();
        assert!(fine.len() < 30_000, "{} bytes", fine.len());
    }
}
