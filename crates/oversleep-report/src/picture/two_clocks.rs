//! The same sleeps as measured by two clocks: over time, and beside it a histogram of the durations.

use super::frame::{self, Form, Frame, Key, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, Unit, time_us};
use super::{axis, lens, stats};

const HEADING: &str = "The same sleeps, read from two clocks";
const PLOT_HEIGHT: f64 = 270.0;
/// The height of a panel with its axis.
const PANEL: f64 = PLOT_HEIGHT + 62.0;
const LEFT: f64 = 48.0;
const BINS: usize = 68;
/// More sleeps than this are shown by their extremes.
const CAP: usize = 2000;

/// One sleep with the readings of both clocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SleepSeenTwice {
    /// Its duration as the coarse clock read it, µs.
    pub coarse_us: f64,
    /// Its duration as the precise clock read it, µs.
    pub precise_us: f64,
}

/// Two clocks on one wait.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TwoClocks {
    /// The words around it.
    pub frame: Frame,
    /// The wait: `clock_nanosleep`.
    pub wait_label: String,
    /// The duration requested, µs.
    pub requested_us: f64,
    /// Name of the coarse clock.
    pub coarse_label: String,
    /// Name of the precise clock.
    pub precise_label: String,
    /// The sleeps in the order they were made.
    pub sleeps: Vec<SleepSeenTwice>,
}

/// Where things stand: the sleeps in their order, and a histogram for each clock, beside them or beneath.
struct Layout {
    series_right: f64,
    coarse_left: f64,
    precise_left: f64,
    histogram_width: f64,
    /// How much lower the histograms stand.
    lower: f64,
}

const ALONE: Layout =
    Layout { series_right: 414.0, coarse_left: 436.0, precise_left: 546.0, histogram_width: 96.0, lower: 0.0 };
const NARROW: Layout =
    Layout { series_right: 332.0, coarse_left: LEFT, precise_left: 196.0, histogram_width: 134.0, lower: PANEL + 14.0 };

impl Layout {
    /// The sleeps have less room in a form that is less wide.
    fn of(frame: &Frame) -> Layout {
        let less = Form::Alone.width() - frame.width();
        let Layout { series_right, coarse_left, precise_left, histogram_width, lower } = ALONE;
        match frame.is_narrow() {
            true => NARROW,
            false => Layout {
                series_right: series_right - less,
                coarse_left: coarse_left - less,
                precise_left: precise_left - less,
                histogram_width,
                lower,
            },
        }
    }

    fn right(&self) -> f64 {
        self.precise_left + self.histogram_width
    }
}

/// One clock's side of the picture.
struct Side {
    class: &'static str,
    word: &'static str,
    durations_us: Vec<f64>,
    peaks: Vec<Peak>,
}

/// A frequent duration.
struct Peak {
    share: f64,
    at_us: f64,
}

impl TwoClocks {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let sleeps: Vec<SleepSeenTwice> =
            self.sleeps.iter().copied().filter(|s| [s.coarse_us, s.precise_us].iter().all(|v| v.is_finite())).collect();
        if sleeps.len() < 2 {
            return frame::without_data(&self.frame, HEADING, "fewer than two sleeps were timed with both clocks");
        }
        let scale = duration_scale(&sleeps, self.requested_us);
        let coarse = Side::new("coarse", "coarse", sleeps.iter().map(|s| s.coarse_us), &scale);
        let precise = Side::new("precise", "precise", sleeps.iter().map(|s| s.precise_us), &scale);
        let shown = |pick: fn(&SleepSeenTwice) -> f64| {
            let points: Vec<(f64, f64)> = sleeps.iter().enumerate().map(|(i, s)| (i as f64 + 1.0, pick(s))).collect();
            stats::extremes(&points, CAP)
        };
        let (coarse_points, run) = shown(|s| s.coarse_us);
        let (precise_points, _) = shown(|s| s.precise_us);
        let words = self.words(&sleeps, &coarse, &precise, &scale, run);
        let legend = [
            Key::new("coarse", &format!("coarse clock: {}", self.coarse_label)),
            Key::new("precise", &format!("precise clock: {}", self.precise_label)),
        ];
        let at = &Layout::of(&self.frame);
        frame::figure(&self.frame, &words, &legend, PANEL + at.lower + lens::HEIGHT, |c| {
            let unit = Unit::for_us(scale.high());
            let ticks = scale.ticks(unit.us, 36.0);
            axis::left(c, &ticks, LEFT, at.series_right);
            c.text((LEFT - 8.0, -8.0), Anchor::End, "soft t", unit.symbol);
            let x = order_scale(sleeps.len(), at.series_right);
            order_axis(c, &x, at.series_right);
            self.request_line(c, &scale, at);
            for (side, points) in [(&coarse, &coarse_points), (&precise, &precise_points)] {
                side.draw_series(c, points, &x, &scale);
            }
            let most = coarse.bins(&scale).into_iter().chain(precise.bins(&scale)).fold(0, usize::max) as f64
                / sleeps.len() as f64;
            axis::name(c, ((LEFT + at.series_right) / 2.0, PLOT_HEIGHT + 36.0), "sleeps, in the order taken");
            c.moved(0.0, at.lower, |c| {
                if at.lower > 0.0 {
                    // The durations stand beside these histograms, too.
                    axis::left(c, &ticks, LEFT, LEFT);
                }
                for (side, x) in [(&coarse, at.coarse_left), (&precise, at.precise_left)] {
                    for tick in &ticks {
                        c.line((x, axis::crisp(tick.at)), (x + at.histogram_width, axis::crisp(tick.at)), "grid s");
                    }
                    side.draw_histogram(c, (x, at.histogram_width), most, &scale);
                }
                axis::name(c, ((at.coarse_left + at.right()) / 2.0, PLOT_HEIGHT + 18.0), "share of all sleeps");
            });
            c.moved(0.0, PANEL + at.lower, |c| {
                lens::draw(c, &stats::sorted(&precise.durations_us), (LEFT, at.right()))
            });
        })
    }

    fn request_line(&self, c: &mut Canvas, scale: &Scale, at: &Layout) {
        let (y, requested) = (axis::crisp(scale.px(self.requested_us)), time_us(self.requested_us));
        if at.lower > 0.0 {
            c.line((LEFT, y), (at.series_right, y), "ink s dash");
            // Sleeps end above the line, so beneath it is the free side.
            let base = if PLOT_HEIGHT - y > 26.0 { y + 14.0 } else { y - 5.0 };
            c.text((at.series_right - 3.0, base), Anchor::End, "ink t halo", &format!("requested {requested}"));
            return;
        }
        c.line((LEFT, y), (at.right() + 4.0, y), "ink s dash");
        c.text((at.right() + 9.0, y - 2.0), Anchor::Start, "ink t", "requested");
        c.text((at.right() + 9.0, y + 11.0), Anchor::Start, "ink t b", &requested);
    }

    fn words(&self, sleeps: &[SleepSeenTwice], coarse: &Side, precise: &Side, scale: &Scale, run: usize) -> Words {
        let n = sleeps.len();
        let request = time_us(self.requested_us);
        let precise_sorted = stats::sorted(&precise.durations_us);
        let at = |q| stats::quantile(&precise_sorted, q).map_or_else(String::new, time_us);
        let reads: Vec<String> =
            coarse.peaks.iter().map(|p| format!("{} in {}", time_us(p.at_us), text::share(p.share))).collect();
        let read = if reads.is_empty() { "many different durations".to_owned() } else { reads.join(", ") };
        let finding = format!(
            "{} of {request}, {} times. The coarse clock read {read} of them; the precise clock read {} (median) and {} at most.",
            or(&self.wait_label, "The sleep"),
            text::count(n),
            at(0.5),
            at(1.0),
        );
        let coarse_sorted = stats::sorted(&coarse.durations_us);
        let range = |v: &[f64]| format!("{} to {}", time_us(v[0]), time_us(v[v.len() - 1]));
        let detail = format!(
            "Coarse clock {}: {}. Precise clock {}: {}, median {}, at most {}.",
            self.coarse_label,
            range(&coarse_sorted),
            self.precise_label,
            range(&precise_sorted),
            at(0.5),
            at(1.0)
        );
        let mut caveat = String::new();
        if run > 1 {
            caveat.push_str(&format!(
                "Left panel: min and max of every {run} sleeps; the histograms hold all {}. ",
                text::count(n)
            ));
        }
        let beyond = sleeps.iter().filter(|s| s.coarse_us > scale.high() || s.precise_us > scale.high()).count();
        if beyond > 0 {
            let top = coarse_sorted[n - 1].max(precise_sorted[n - 1]);
            caveat.push_str(&format!(
                "{} above the axis (triangles), up to {}.",
                text::counted_lie(beyond, "sleep"),
                time_us(top)
            ));
        }
        Words { heading: HEADING, finding, detail, caveat: caveat.trim_end().to_owned() }
    }
}

impl Side {
    fn new(class: &'static str, word: &'static str, durations_us: impl Iterator<Item = f64>, scale: &Scale) -> Self {
        let mut side = Self { class, word, durations_us: durations_us.collect(), peaks: Vec::new() };
        side.peaks = side.find_peaks(scale);
        side
    }

    fn bin_of(scale: &Scale, us: f64) -> usize {
        ((PLOT_HEIGHT - scale.px(us)) / PLOT_HEIGHT * BINS as f64).clamp(0.0, BINS as f64 - 1.0) as usize
    }

    fn bins(&self, scale: &Scale) -> Vec<usize> {
        let mut bins = vec![0; BINS];
        for &us in &self.durations_us {
            bins[Self::bin_of(scale, us)] += 1;
        }
        bins
    }

    /// The bins that hold 8 % or more, largest first, at most three, none within four bins of a larger one.
    fn find_peaks(&self, scale: &Scale) -> Vec<Peak> {
        let n = self.durations_us.len() as f64;
        let bins = self.bins(scale);
        let mut order: Vec<usize> = (0..BINS).filter(|&b| bins[b] as f64 >= 0.08 * n).collect();
        order.sort_by_key(|&b| (std::cmp::Reverse(bins[b]), b));
        let mut kept: Vec<usize> = Vec::new();
        for bin in order {
            if kept.len() < 3 && kept.iter().all(|k| k.abs_diff(bin) > 4) {
                kept.push(bin);
            }
        }
        let inside =
            |bin| self.durations_us.iter().copied().filter(|&us| Self::bin_of(scale, us) == bin).collect::<Vec<_>>();
        kept.into_iter()
            .filter_map(|bin| Some(Peak { share: bins[bin] as f64 / n, at_us: stats::median(&inside(bin))? }))
            .collect()
    }

    fn draw_series(&self, c: &mut Canvas, points: &[(f64, f64)], x: &Scale, y: &Scale) {
        let tip = format!("{} clock, {}", self.word, text::counted(self.durations_us.len(), "sleep"));
        c.marks(self.class, &tip, |c| {
            let (inside, beyond): (Vec<_>, Vec<_>) = points.iter().partition(|p| p.1 <= y.high());
            let place = |p: &(f64, f64)| (x.px(p.0), y.px(p.1));
            // The first clock's dots are larger, so that they still show where the second's lie on them.
            let class = match (self.class == "coarse", points.len() > 400) {
                (true, true) => "dots under small",
                (true, false) => "dots under",
                (false, true) => "dots small",
                (false, false) => "dots",
            };
            c.dots(&inside.iter().map(place).collect::<Vec<_>>(), class);
            for at in beyond.iter().map(place) {
                c.path(&format!("M{:.1} {:.1}l4 7h-8z", at.0, at.1 - 4.0), "f");
            }
        });
    }

    fn draw_histogram(&self, c: &mut Canvas, (left, widest): (f64, f64), most: f64, scale: &Scale) {
        let n = self.durations_us.len() as f64;
        let height = PLOT_HEIGHT / BINS as f64;
        c.group(self.class, |c| {
            c.text((left, -9.0), Anchor::Start, "b t", self.word);
            for (bin, &held) in self.bins(scale).iter().enumerate().filter(|(_, held)| **held > 0) {
                let y = PLOT_HEIGHT - (bin + 1) as f64 * height;
                let share = held as f64 / n;
                let tip = format!("{}: {} ({})", self.word, text::counted(held, "sleep"), text::share(share));
                // A single sleep among thousands stays visible.
                let width = (share / most * widest).max(1.0);
                c.marks("", &tip, |c| c.rect((left, y + 0.4), (width, height - 0.6), "f"));
            }
        });
        c.line((axis::crisp(left), 0.0), (axis::crisp(left), PLOT_HEIGHT), "axis s");
        for peak in &self.peaks {
            let y = scale.px(peak.at_us);
            // Above the bar, except where the top edge is too close.
            let baseline = if y < 16.0 { y + 16.0 } else { y - 7.0 };
            let label = format!("{} at {}", text::share(peak.share), time_us(peak.at_us));
            c.text((left + 5.0, baseline), Anchor::Start, &format!("{} t halo", self.class), &label);
        }
    }
}

/// Sleeps by number: they are taken in rounds, and by time they would form as many clumps.
fn order_scale(sleeps: usize, right: f64) -> Scale {
    Scale::linear(1.0, sleeps as f64, LEFT + 5.0, right - 5.0)
}

fn order_axis(c: &mut Canvas, x: &Scale, right: f64) {
    let y = axis::crisp(PLOT_HEIGHT);
    c.line((LEFT, y), (right, y), "axis s");
    for tick in x.ticks(1.0, 60.0) {
        c.line((axis::crisp(tick.at), y), (axis::crisp(tick.at), y + 4.0), "axis s");
        c.text((tick.at, y + 17.0), Anchor::Middle, "soft t", &tick.label);
    }
}

/// From zero (or below, if a clock stepped back) to the duration of nearly all sleeps.
fn duration_scale(sleeps: &[SleepSeenTwice], requested_us: f64) -> Scale {
    let all = stats::sorted(&sleeps.iter().flat_map(|s| [s.coarse_us, s.precise_us]).collect::<Vec<_>>());
    let requested = if requested_us.is_finite() { requested_us.max(0.0) } else { 0.0 };
    let top = stats::robust_top(&all).unwrap_or(1.0).max(requested) * 1.08;
    let low = all.first().copied().unwrap_or(0.0).min(0.0);
    Scale::linear(low - 0.03 * (top - low), top, PLOT_HEIGHT, 0.0)
}

fn or<'a>(label: &'a str, other: &'a str) -> &'a str {
    if label.is_empty() { other } else { label }
}

const _: () = assert!(
    ALONE.precise_left + ALONE.histogram_width + 70.0 < Form::Alone.width(),
    "the label of the request needs room"
);

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn picture(n: usize, coarse_us: impl Fn(usize) -> f64, precise_us: impl Fn(usize) -> f64) -> TwoClocks {
        let one = |i: usize| SleepSeenTwice { coarse_us: coarse_us(i), precise_us: precise_us(i) };
        TwoClocks {
            frame: Frame::new("t"),
            wait_label: "nanosleep <&\">".to_owned(),
            requested_us: 1000.0,
            coarse_label: "COARSE".to_owned(),
            precise_label: "PRECISE".to_owned(),
            sleeps: (0..n).map(one).collect(),
        }
    }

    #[test]
    fn says_what_each_clock_read() {
        let p = picture(100, |i| if i % 4 == 0 { 4000.0 } else { 0.0 }, |_| 1066.0);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(svg.contains("read 0\u{a0}ns in 75\u{a0}%, 4\u{a0}ms in 25\u{a0}% of them"), "{svg}");
        assert!(svg.contains("1.07\u{a0}ms (median)") && svg.contains("&lt;&amp;&quot;&gt;"));
    }

    #[test]
    fn without_sleeps_it_says_so() {
        for n in [0, 1] {
            let svg = picture(n, |_| 1.0, |_| 1.0).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        well_formed(&picture(50, |_| f64::NAN, |_| f64::INFINITY).svg());
    }

    #[test]
    fn extremes_and_crowds_stay_bounded_and_are_owned_up_to() {
        well_formed(&picture(3, |i| [0.001, 1e8, -50.0][i], |i| [1e8, 0.001, 1.0][i]).svg());
        let crowd = picture(200_000, |i| (i % 2) as f64 * 4000.0, |i| if i == 777 { 90_000.0 } else { 1066.0 }).svg();
        well_formed(&crowd);
        assert!(crowd.len() < 120_000, "{} bytes", crowd.len());
        assert!(
            crowd.contains("min and max of every 200 sleeps") && crowd.contains("1\u{a0}sleep lies above the axis")
        );
    }
}
