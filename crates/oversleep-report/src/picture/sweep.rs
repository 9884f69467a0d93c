//! A sweep of requests: durations that grow with the request form a line, a coarse tick makes them flat steps.

use super::frame::{self, Frame, Key, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, decimal, signed_us, time_us};
use super::{axis, stats};

const HEADING: &str = "Duration by request";
const LEFT: f64 = 48.0;
/// Room for the labels at the ends of the lines; a narrow picture has them in its legend and its finding.
const LABELS: f64 = 112.0;
const UPPER: f64 = 250.0;
const LOWER_TOP: f64 = 300.0;
const LOWER_BOTTOM: f64 = 420.0;
const HEIGHT: f64 = LOWER_BOTTOM + 40.0;
/// More sleeps than this per duration are thinned by rank.
const CAP_PER_REQUEST: usize = 120;

/// One sleep of one pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepPoint {
    /// The duration requested, ms.
    pub requested_ms: f64,
    /// The duration measured, ms.
    pub duration_ms: f64,
}

/// A sweep of one wait.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweep {
    /// The words around it.
    pub frame: Frame,
    /// The wait: `clock_nanosleep`.
    pub wait_label: String,
    /// The clock that timed the points; may be empty.
    pub precise_label: String,
    /// The clock that timed the same sleeps coarsely.
    pub coarse_label: String,
    /// All sleeps of all passes, in any order.
    pub points: Vec<SweepPoint>,
    /// The same sleeps by the coarse clock; may be empty.
    pub coarse: Vec<SweepPoint>,
    /// The finding, if the caller knows it; otherwise it is derived from the points.
    pub finding: Option<String>,
}

/// The sleeps of one request.
struct Request {
    requested_ms: f64,
    duration_ms: Vec<f64>,
    median_ms: f64,
}

impl Request {
    fn late_us(&self, duration_ms: f64) -> f64 {
        (duration_ms - self.requested_ms) * 1e3
    }

    fn median_late_us(&self) -> f64 {
        self.late_us(self.median_ms)
    }
}

impl Sweep {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let (requests, coarse) = (requests(&self.points), requests(&self.coarse));
        if requests.len() < 2 {
            return frame::without_data(&self.frame, HEADING, "a sweep needs sleeps of at least two durations");
        }
        let all_late = stats::sorted(
            &requests.iter().flat_map(|a| a.duration_ms.iter().map(|g| a.late_us(*g))).collect::<Vec<_>>(),
        );
        let late_top = stats::robust_top(&all_late).unwrap_or(1.0).max(1e-3);
        let late_low = all_late.first().copied().unwrap_or(0.0).min(0.0);
        let lower = Scale::linear(late_low * 1.05, late_top * 1.08, LOWER_BOTTOM, LOWER_TOP);
        let by_both = requests.iter().chain(&coarse).flat_map(|a| a.duration_ms.iter().copied());
        let durations = stats::sorted(&by_both.collect::<Vec<_>>());
        let longest_request = requests[requests.len() - 1].requested_ms;
        let duration_top = stats::robust_top(&durations).unwrap_or(1.0).max(longest_request);
        let upper = Scale::linear(durations[0].min(0.0), duration_top * 1.05, UPPER, 0.0);
        let right = self.frame.width() - self.frame.either(LABELS, 8.0);
        let margin = 0.035 * longest_request;
        let x = Scale::linear(0f64.min(requests[0].requested_ms), longest_request + margin, LEFT, right);
        let words = self.words(
            &requests,
            &coarse,
            all_late.iter().filter(|l| **l > lower.high()).count(),
            all_late[all_late.len() - 1],
        );
        let sleep =
            |clock: &str| if clock.is_empty() { "one sleep".to_owned() } else { format!("one sleep by {clock}") };
        let mut legend = vec![Key::new("precise", &sleep(&self.precise_label))];
        if !coarse.is_empty() {
            legend.push(Key::new("coarse", &sleep(&self.coarse_label)));
        }
        legend.extend([Key::new("ink", "median"), Key::new("accent", "ideal: exactly the request")]);
        frame::figure(&self.frame, &words, &legend, HEIGHT, |c| {
            axes(c, &x, &upper, &lower, right);
            c.line(
                (x.px(x.low()), upper.px(x.low())),
                (x.px(longest_request), upper.px(longest_request)),
                "accent s w2 dash",
            );
            c.line((LEFT, axis::crisp(lower.px(0.0))), (right, axis::crisp(lower.px(0.0))), "accent s w2 dash");
            for request in &coarse {
                draw_coarse(c, request, &x, &upper);
            }
            for request in &requests {
                draw_request(c, request, &x, &upper, &lower);
            }
            let medians: Vec<(f64, f64)> =
                requests.iter().map(|a| (x.px(a.requested_ms), upper.px(a.median_ms))).collect();
            let late: Vec<(f64, f64)> =
                requests.iter().map(|a| (x.px(a.requested_ms), lower.px(a.median_late_us()))).collect();
            c.polyline(&medians, "ink s w2");
            c.polyline(&late, "ink s w2");
            if !self.frame.is_narrow() {
                end_labels(c, &requests[requests.len() - 1], &upper, &lower, right + 10.0);
            }
        })
    }

    fn words(&self, requests: &[Request], coarse: &[Request], beyond: usize, latest_us: f64) -> Words {
        let late: Vec<f64> = requests.iter().map(Request::median_late_us).collect();
        let sorted = stats::sorted(&late);
        let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
        let rise =
            stats::slope(&requests.iter().map(|a| (a.requested_ms, a.median_ms)).collect::<Vec<_>>()).unwrap_or(0.0);
        let wait = if self.wait_label.is_empty() { "The wait" } else { &self.wait_label };
        let verdict = verdict(requests);
        let finding = format!(
            "{wait} {verdict}: each additional millisecond requested adds {} ms. Median lateness is {} to {}.{}",
            decimal(rise, 2),
            signed_us(least),
            signed_us(most),
            self.coarsely(coarse)
        );
        let detail = requests
            .iter()
            .map(|a| format!("Requested {}: median {}.", time_us(a.requested_ms * 1e3), time_us(a.median_ms * 1e3)))
            .collect::<Vec<_>>()
            .join(" ");
        let mut caveat = String::new();
        if requests.iter().any(|a| a.duration_ms.len() > CAP_PER_REQUEST) {
            let most = requests.iter().map(|a| a.duration_ms.len()).max().unwrap_or(0);
            caveat.push_str(&format!(
                "{CAP_PER_REQUEST} of up to {} sleeps per request are shown, evenly by rank, with both extremes; medians use all. ",
                text::count(most)
            ));
        }
        if beyond > 0 {
            let sleeps_lie = text::counted_lie(beyond, "sleep");
            caveat.push_str(&format!(
                "{sleeps_lie} above the lateness axis (triangles), up to {}.",
                signed_us(latest_us)
            ));
        }
        Words {
            heading: HEADING,
            finding: self.finding.clone().unwrap_or(finding),
            detail,
            caveat: caveat.trim_end().to_owned(),
        }
    }

    /// What the coarse clock shows for the same sleeps, in a sentence.
    fn coarsely(&self, coarse: &[Request]) -> String {
        let values = || coarse.iter().flat_map(|request| &request.duration_ms).map(|ms| ms * 1e3);
        if coarse.is_empty() {
            return String::new();
        }
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let clock = if self.coarse_label.is_empty() { "the coarse clock" } else { &self.coarse_label };
        format!(" By {clock} the same sleeps take {} to {}.", time_us(least), time_us(most))
    }
}

/// The requests among these points, shortest first.
fn requests(points: &[SweepPoint]) -> Vec<Request> {
    let mut points: Vec<SweepPoint> =
        points.iter().copied().filter(|p| p.requested_ms.is_finite() && p.duration_ms.is_finite()).collect();
    points.sort_by(|a, b| a.requested_ms.total_cmp(&b.requested_ms).then(a.duration_ms.total_cmp(&b.duration_ms)));
    points
        .chunk_by(|a, b| a.requested_ms == b.requested_ms)
        .filter_map(|chunk| {
            let duration_ms: Vec<f64> = chunk.iter().map(|p| p.duration_ms).collect();
            Some(Request {
                requested_ms: chunk[0].requested_ms,
                median_ms: stats::quantile(&duration_ms, 0.5)?,
                duration_ms,
            })
        })
        .collect()
}

/// Constant lateness makes the points a line. With a coarse tick, lateness falls as the request grows, until it jumps
/// to the next tick. Anything else is neither.
fn verdict(requests: &[Request]) -> &'static str {
    let late = || requests.iter().map(Request::median_late_us);
    let spread_us = late().fold(f64::NEG_INFINITY, f64::max) - late().fold(f64::INFINITY, f64::min);
    let step_us = (requests[1].requested_ms - requests[0].requested_ms) * 1e3;
    if spread_us <= step_us.max(200.0) {
        return "is proportional to the request (a line)";
    }
    let falls = |pair: &&[Request]| {
        let grown_us = (pair[1].requested_ms - pair[0].requested_ms) * 1e3;
        pair[0].median_late_us() - pair[1].median_late_us() >= 0.5 * grown_us
    };
    if 2 * requests.windows(2).filter(falls).count() > requests.len() - 1 {
        "ends on a coarse tick (flat steps), not when requested"
    } else {
        "is irregular: neither a line nor steps"
    }
}

fn axes(c: &mut Canvas, x: &Scale, upper: &Scale, lower: &Scale, right: f64) {
    axis::left(c, &upper.ticks(1.0, 36.0), LEFT, right);
    c.text((LEFT, -7.0), Anchor::Start, "soft t", "duration, ms");
    let unit = text::Unit::for_us(lower.high().max(-lower.low()));
    axis::left(c, &lower.ticks(unit.us, 28.0), LEFT, right);
    c.text(
        (LEFT, LOWER_TOP - 9.0),
        Anchor::Start,
        "soft t",
        &format!("lateness (duration − request), {}", unit.symbol),
    );
    axis::bottom(c, &x.ticks(1.0, 30.0), LOWER_BOTTOM, LOWER_BOTTOM);
    c.line((LEFT, axis::crisp(LOWER_BOTTOM)), (right, axis::crisp(LOWER_BOTTOM)), "axis s");
    axis::name(c, ((LEFT + right) / 2.0, LOWER_BOTTOM + 34.0), "requested, ms");
}

fn draw_request(c: &mut Canvas, request: &Request, x: &Scale, upper: &Scale, lower: &Scale) {
    let at = x.px(request.requested_ms);
    let tip = format!(
        "requested {}: median {} ({}), {}",
        time_us(request.requested_ms * 1e3),
        time_us(request.median_ms * 1e3),
        signed_us(request.median_late_us()),
        text::counted(request.duration_ms.len(), "sleep")
    );
    let shown = stats::thinned(&request.duration_ms, CAP_PER_REQUEST);
    c.marks("precise", &tip, |c| {
        let late: Vec<f64> = shown.iter().map(|g| request.late_us(*g)).collect();
        let dots = |values: &[f64], scale: &Scale| -> Vec<(f64, f64)> {
            values
                .iter()
                .enumerate()
                .filter(|(_, v)| **v <= scale.high())
                .map(|(i, v)| (at + aside(i), scale.px(*v)))
                .collect()
        };
        c.dots(&dots(&shown, upper), "dots small");
        c.dots(&dots(&late, lower), "dots small");
        if late.iter().any(|l| *l > lower.high()) {
            c.path(&format!("M{at:.1} {:.1}l4 7h-8z", LOWER_TOP - 4.0), "f");
        }
        if shown.iter().any(|g| *g > upper.high()) {
            c.path(&format!("M{at:.1} -4l4 7h-8z"), "f");
        }
    });
}

/// The same sleeps by the coarse clock, in the upper part only: its lateness would show only its own steps.
fn draw_coarse(c: &mut Canvas, request: &Request, x: &Scale, upper: &Scale) {
    let at = x.px(request.requested_ms);
    let shown = stats::thinned(&request.duration_ms, CAP_PER_REQUEST);
    let dots = shown.iter().enumerate().filter(|(_, ms)| **ms <= upper.high());
    let dots: Vec<(f64, f64)> = dots.map(|(rank, ms)| (at + aside(rank), upper.px(*ms))).collect();
    let tip =
        format!("requested {}: coarsely {}", time_us(request.requested_ms * 1e3), time_us(request.median_ms * 1e3));
    c.marks("coarse", &tip, |c| c.dots(&dots, "dots under small"));
}

/// Moves points of neighbouring rank apart sideways, so that equal sleeps don't cover each other.
fn aside(rank: usize) -> f64 {
    (rank * 7 % 11) as f64 * 1.5 - 7.5
}

fn end_labels(c: &mut Canvas, last: &Request, upper: &Scale, lower: &Scale, left: f64) {
    let lines = [(upper.px(last.median_ms), "ink t b", "median"), (upper.px(last.requested_ms), "accent t b", "ideal")];
    let mut sorted = lines;
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let places = axis::spread(&[sorted[0].0, sorted[1].0], 14.0, 0.0, UPPER);
    for (place, (_, class, label)) in places.iter().zip(&sorted) {
        c.text((left, place + 4.0), Anchor::Start, class, label);
    }
    let median = lower.px(last.median_late_us());
    c.text((left, median + 4.0), Anchor::Start, "ink t b", &format!("{} at", signed_us(last.median_late_us())));
    c.text((left, median + 17.0), Anchor::Start, "ink t", &format!("{} requested", time_us(last.requested_ms * 1e3)));
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn sweep(duration_ms: impl Fn(u32, u32) -> f64, passes: u32) -> Sweep {
        let points = (1..=15)
            .flat_map(|request| (0..passes).map(move |pass| (request, pass)))
            .map(|(request, pass)| SweepPoint {
                requested_ms: f64::from(request),
                duration_ms: duration_ms(request, pass),
            })
            .collect();
        Sweep { frame: Frame::new("s"), wait_label: "nanosleep".to_owned(), points, ..Sweep::default() }
    }

    #[test]
    fn a_constant_delay_is_a_line() {
        let p = sweep(|request, _| f64::from(request) + 0.0625, 5);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(
            svg.contains("is proportional to the request (a line): each additional millisecond requested adds 1 ms")
        );
        assert!(svg.contains("Median lateness is +62.5\u{a0}µs to +62.5\u{a0}µs"));
    }

    #[test]
    fn a_tick_is_a_flat_step() {
        let svg = sweep(|_, _| 15.625, 3).svg();
        well_formed(&svg);
        assert!(svg.contains("ends on a coarse tick (flat steps)") && svg.contains("adds 0 ms"));
    }

    #[test]
    fn both_clocks_are_on_one_chart() {
        let mut p = sweep(|_, _| 15.625, 3);
        p.coarse = sweep(|_, pass| if pass == 1 { 15.0 } else { 16.0 }, 3).points;
        (p.precise_label, p.coarse_label) = ("qpc".to_owned(), "get-tick-count-64".to_owned());
        let svg = p.svg();
        well_formed(&svg);
        assert!(svg.contains("By get-tick-count-64 the same sleeps take 15\u{a0}ms to 16\u{a0}ms."), "{svg}");
        assert!(svg.contains(r#"<g class="coarse">"#) && svg.contains("one sleep by qpc"));
        p.coarse[0].duration_ms = f64::NAN;
        well_formed(&p.svg());
    }

    #[test]
    fn a_short_tick_is_steps_and_noise_is_neither() {
        let tick = sweep(|request, _| (f64::from(request) / 4.0).floor() * 4.0 + 4.0, 3).svg();
        assert!(tick.contains("ends on a coarse tick"));
        let noise = sweep(|request, _| f64::from(request) + if request == 7 { 9.0 } else { 0.06 }, 3).svg();
        assert!(noise.contains("is irregular: neither"));
    }

    #[test]
    fn broken_and_extreme_values() {
        well_formed(&Sweep::default().svg());
        let svg = sweep(|_, _| f64::NAN, 3).svg();
        well_formed(&svg);
        assert!(svg.contains("Not enough data"));
        well_formed(&sweep(|request, _| if request == 3 { 100_000.0 } else { 1e-6 }, 2).svg());
        let many = sweep(|request, pass| f64::from(request) + f64::from(pass) * 1e-5, 10_000).svg();
        well_formed(&many);
        assert!(many.len() < 120_000 && many.contains("evenly by rank"), "{} bytes", many.len());
    }
}
