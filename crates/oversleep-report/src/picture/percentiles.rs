//! Lateness of many waits by percentile, on an axis of nines: the further right, the rarer.
//!
//! A curve ends where its sample count no longer supports it. A logarithmic axis has no place for early wake-ups, so
//! they get their own band beneath it.

use super::distribution::{Distribution, NAMED, nines};
use super::frame::{self, Frame, Key, Words};
use super::scale::{Scale, Tick};
use super::svg::{Anchor, Canvas};
use super::text::{self, signed_us, time_us};
use super::{axis, theme};

const HEADING: &str = "Lateness by percentile";
const LEFT: f64 = 66.0;
/// The room for names of waits at the right, of which the longest has to fit; a narrow picture has numbers there, and the
/// names beneath.
const NAMES: (f64, f64) = (204.0, 20.0);
/// The room for the lines that lead to them.
const LEADERS: f64 = 26.0;
const LABEL_GAP: f64 = 14.0;
/// The most lines of names of one group.
const NAME_LINES_MAX: usize = 3;
/// Curves that are nowhere further apart, px, are one group.
const EQUAL_WITHIN_PX: f64 = 4.0;
/// The least height of the plot, px.
const PLOT_MIN: f64 = 330.0;
const BAND: f64 = 26.0;
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

/// Curves that look alike.
struct Group {
    members: Vec<usize>,
    /// Their names.
    lines: Vec<String>,
}

impl Percentiles {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let series: Vec<&PercentileSeries> = self.series.iter().filter(|s| s.lateness.clean().len() >= 2).collect();
        if series.is_empty() {
            return frame::without_data(&self.frame, HEADING, "no wait has two samples of lateness");
        }
        let values: Vec<f64> =
            series.iter().flat_map(|s| s.lateness.clean()).map(|p| p.1).filter(|v| *v > 0.0).collect();
        let high = values.iter().copied().fold(2e-3, f64::max);
        let low = floor_us(&series, &values);
        let right = self.frame.width() - self.frame.either(NAMES.0, NAMES.1) - LEADERS;
        let groups = self.groups(&series, (low, high));
        let lines = groups.iter().map(|group| group.lines.len()).sum::<usize>() as f64;
        let (beside, beneath) = if self.frame.is_narrow() { (groups.len() as f64, lines) } else { (lines, 0.0) };
        let plot = (LABEL_GAP * beside + 20.0).max(PLOT_MIN);
        let y = if values.is_empty() { Scale::log(1.0, 10.0, plot, 0.0) } else { Scale::log(low, high, plot, 0.0) };
        let any_early = series.iter().any(|s| s.lateness.clean().iter().any(|p| p.1 < 0.0));
        let band = if any_early { BAND } else { 0.0 };
        let most = series.iter().filter_map(|s| s.lateness.clean().last().map(|p| nines(p.0))).fold(1.0, f64::max);
        let x = Scale::linear(0.0, most.ceil().max(2.0), LEFT, right);
        let mut words = self.words(&series);
        if series.iter().flat_map(|s| s.lateness.clean()).any(|(_, v)| (0.0..y.low()).contains(&v)) {
            let edge = format!("Lateness from 0 to {} is drawn at the lower edge. ", time_us(y.low()));
            words.caveat.insert_str(0, &edge);
        }
        let legend: Vec<Key> =
            self.families.iter().enumerate().map(|(i, f)| Key::new(theme::series_class(i), f)).collect();
        let height = plot + band + 44.0 + LABEL_GAP * beneath;
        frame::figure_of_curves(&self.frame, &words, &legend, height, |c| {
            self.axes(c, (&x, &y), plot, band, right);
            let place = |(q, v): (f64, f64)| {
                let below = plot + band / 2.0 + 1.0;
                (x.px(nines(q)), if v < 0.0 { below } else { y.px(v) })
            };
            self.curves(c, &series, &groups, place, plot + band, right);
        })
    }

    /// The curves in groups that look alike, whose labels would cover one another.
    fn groups(&self, series: &[&PercentileSeries], (low, high): (f64, f64)) -> Vec<Group> {
        let decades = (high / low).log10().max(1.0);
        let within = decades * EQUAL_WITHIN_PX / PLOT_MIN;
        let place = |us: f64| if us < 0.0 { f64::NEG_INFINITY } else { us.max(low).log10() };
        let is_near = |a: f64, b: f64| a == b || (place(a) - place(b)).abs() <= within;
        let is_equal = |a: &PercentileSeries, b: &PercentileSeries| {
            (self.families.is_empty() || a.family == b.family)
                && NAMED.iter().all(|(_, q)| match (a.lateness.at(*q), b.lateness.at(*q)) {
                    (Some(a), Some(b)) => is_near(a, b),
                    (a, b) => a.is_none() == b.is_none(),
                })
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (index, one) in series.iter().enumerate() {
            match groups.iter_mut().find(|group| is_equal(series[group[0]], one)) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        let room = self.frame.either(NAMES.0 - 12.0, self.frame.width() - 32.0);
        let named = |members: Vec<usize>| {
            let names: Vec<&str> = members.iter().map(|&index| series[index].label.as_str()).collect();
            // The rest is in the figures in words.
            let lines = text::alike(&names, 11.0, room, NAME_LINES_MAX);
            Group { members, lines }
        };
        groups.into_iter().map(named).collect()
    }

    fn axes(&self, c: &mut Canvas, (x, y): (&Scale, &Scale), plot: f64, band: f64, right: f64) {
        axis::left(c, &y.decades(22.0, time_us), LEFT, right);
        let ticks: Vec<Tick> =
            (0..=x.high() as i32).map(|n| Tick { at: x.px(f64::from(n)), label: percentile_name(n) }).collect();
        let bottom = plot + band;
        axis::bottom(c, &ticks, bottom, 0.0);
        axis::bottom(c, &[Tick { at: x.px(nines(0.5)), label: "p50".to_owned() }], bottom, 0.0);
        if band > 0.0 {
            c.rect((LEFT, plot + 1.0), (right - LEFT, band - 1.0), "band f");
            c.text((LEFT - 8.0, plot + band / 2.0 + 5.0), Anchor::End, "warn t b", "early");
        }
        c.line((LEFT, axis::crisp(bottom)), (right, axis::crisp(bottom)), "axis s");
        c.text((LEFT, -7.0), Anchor::Start, "soft t", "lateness, log scale");
        axis::name(
            c,
            ((LEFT + right) / 2.0, bottom + 36.0),
            if self.frame.is_narrow() {
                "percentile: each step is ten times rarer"
            } else {
                "percentile of all waits; each step to the right is ten times rarer"
            },
        );
    }

    fn curves(
        &self,
        c: &mut Canvas,
        series: &[&PercentileSeries],
        groups: &[Group],
        place: impl Fn((f64, f64)) -> (f64, f64),
        bottom: f64,
        right: f64,
    ) {
        let end = |index: usize| series[index].lateness.clean().last().map(|last| place(*last)).unwrap_or_default();
        let mut order: Vec<&Group> = groups.iter().collect();
        order.sort_by(|a, b| end(a.members[0]).1.total_cmp(&end(b.members[0]).1).then(a.members.cmp(&b.members)));
        let lines = |group: &Group| if self.frame.is_narrow() { 1 } else { group.lines.len() };
        let wanted: Vec<f64> = order.iter().flat_map(|group| vec![end(group.members[0]).1; lines(group)]).collect();
        let mut places = axis::spread(&wanted, LABEL_GAP, 2.0, bottom - 2.0).into_iter();
        let (names, mut beneath) = (right + LEADERS, bottom + 44.0 + LABEL_GAP);
        c.group("lines", |c| {
            for (number, group) in (1..).zip(&order) {
                let family = if self.families.is_empty() { number - 1 } else { series[group.members[0]].family };
                let at: Vec<f64> = places.by_ref().take(lines(group)).collect();
                c.curve(theme::series_class(family), &group.lines.join(", "), |c| {
                    for &index in &group.members {
                        c.marks("", &tip(series[index]), |c| {
                            let points = series[index].lateness.clean().into_iter().map(&place);
                            c.polyline(&visible(points), "s w2");
                            c.circle(end(index), 3.0, "f");
                        });
                    }
                    let end = end(group.members[0]);
                    let middle = (at[0] + at[at.len() - 1]) / 2.0;
                    let bend = (right + 10.0).max(end.0 + 4.0);
                    c.polyline(&[(end.0 + 4.0, end.1), (bend, end.1), (names - 4.0, middle)], "s thin");
                    if self.frame.is_narrow() {
                        let number = number.to_string();
                        c.text((names, middle + 4.0), Anchor::Start, "t halo", &number);
                        c.text((8.0, beneath), Anchor::Start, "t b", &number);
                        for line in &group.lines {
                            c.text((28.0, beneath), Anchor::Start, "t", line);
                            beneath += LABEL_GAP;
                        }
                    } else {
                        for (line, y) in group.lines.iter().zip(at) {
                            c.text((names, y + 4.0), Anchor::Start, "t halo", line);
                        }
                    }
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
            assert!(text::width_px(name, 11.0) <= NAMES.0 - 12.0, "{name}");
        }
    }

    use super::super::check::well_formed;
    use super::frame::Form;
    use super::*;

    fn one(label: &str, samples_us: &[f64]) -> PercentileSeries {
        PercentileSeries { label: label.to_owned(), family: 0, lateness: Distribution::of_samples_us(samples_us) }
    }

    fn of(series: Vec<PercentileSeries>) -> Percentiles {
        Percentiles { frame: Frame::new("p"), families: Vec::new(), series }
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
    fn a_curve_ends_in_its_point_at_the_right() {
        let samples: Vec<f64> = (1..=40).map(|n| 10.0 * f64::from(n)).collect();
        let svg = of(vec![one("rising", &samples)]).svg();
        let numbers = |tag: &str, name: &str| {
            let (_, rest) = svg.split_once(&format!("<{tag} ")).expect("it is drawn");
            let (_, value) = rest.split_once(&format!(" {name}=\"")).expect("it has it");
            value.split_once('"').expect("it ends").0.to_owned()
        };
        let end = format!("L{} {}\"", numbers("circle", "cx"), numbers("circle", "cy"));
        assert!(svg.contains(&end), "{end} {svg}");
    }

    #[test]
    fn each_curve_takes_the_keyboards_focus_where_there_may_be_a_keyboard() {
        let wide = of(vec![one("fast", &[10.0, 11.0]), one("slow", &[900.0, 990.0])]);
        let narrow = Percentiles { frame: Frame { form: Form::Narrow, ..wide.frame.clone() }, ..wide.clone() };
        let stops = |picture: &Percentiles| picture.svg().matches("tabindex=\"0\" role=\"graphics-symbol\"").count();
        assert_eq!((stops(&wide), stops(&narrow)), (2, 0));
        assert!(wide.svg().contains("aria-label=\"slow"), "{}", wide.svg());
        assert!(!wide.svg().contains("role=\"img\""), "an image has no parts");
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
        assert_eq!(many.matches("<polyline").count() + many.matches("<title>wait ").count(), 25, "each has its curve");
        assert_eq!(many.matches("class=\"one ").count(), 1, "equal ones are one group");
        assert!(many.contains(" like it<"));
        let points = (0..100_000).map(|i| (f64::from(i) / 100_001.0, 1.0 + f64::from(i))).collect();
        let fine = Distribution { count: 100_000, early_count: 0, points };
        let fine = of(vec![PercentileSeries { label: "fine".to_owned(), family: 0, lateness: fine }]).svg();
        assert!(fine.len() < 30_000, "{} bytes", fine.len());
    }
}
