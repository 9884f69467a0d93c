//! A sweep of what was asked against what was got: a proportional line, or the tube of a coarse tick.

use super::frame::{self, Frame, Key, WIDTH, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, decimal, signed_us, time_us};
use super::{axis, stats};

const HEADING: &str = "What was asked, and what came";
const LEFT: f64 = 58.0;
const RIGHT: f64 = 640.0;
const UPPER: f64 = 250.0;
const LOWER_TOP: f64 = 300.0;
const LOWER_BOTTOM: f64 = 420.0;
const HEIGHT: f64 = LOWER_BOTTOM + 40.0;
/// More sleeps than this per duration are thinned by rank.
const CAP_PER_ASK: usize = 120;

/// One sleep of one pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepPoint {
    /// What was asked, ms.
    pub asked_ms: f64,
    /// What it took, ms.
    pub got_ms: f64,
}

/// A sweep of one wait.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweep {
    /// The words around it.
    pub frame: Frame,
    /// The wait: `clock_nanosleep`.
    pub wait_label: String,
    /// All sleeps of all passes, in any order.
    pub points: Vec<SweepPoint>,
}

/// The sleeps of one asked duration.
struct Ask {
    asked_ms: f64,
    got_ms: Vec<f64>,
    median_ms: f64,
}

impl Ask {
    fn late_us(&self, got_ms: f64) -> f64 {
        (got_ms - self.asked_ms) * 1e3
    }

    fn median_late_us(&self) -> f64 {
        self.late_us(self.median_ms)
    }
}

impl Sweep {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let asks = self.asks();
        if asks.len() < 2 {
            return frame::without_data(&self.frame, HEADING, "a sweep needs sleeps of at least two durations");
        }
        let all_late =
            stats::sorted(&asks.iter().flat_map(|a| a.got_ms.iter().map(|g| a.late_us(*g))).collect::<Vec<_>>());
        let late_top = stats::robust_top(&all_late).unwrap_or(1.0).max(1e-3);
        let late_low = all_late.first().copied().unwrap_or(0.0).min(0.0);
        let lower = Scale::linear(late_low * 1.05, late_top * 1.08, LOWER_BOTTOM, LOWER_TOP);
        let got = stats::sorted(&asks.iter().flat_map(|a| a.got_ms.iter().copied()).collect::<Vec<_>>());
        let most_asked = asks[asks.len() - 1].asked_ms;
        let got_top = stats::robust_top(&got).unwrap_or(1.0).max(most_asked);
        let upper = Scale::linear(got[0].min(0.0), got_top * 1.05, UPPER, 0.0);
        let margin = 0.035 * most_asked;
        let x = Scale::linear(0f64.min(asks[0].asked_ms), most_asked + margin, LEFT, RIGHT);
        let words =
            self.words(&asks, all_late.iter().filter(|l| **l > lower.high()).count(), all_late[all_late.len() - 1]);
        let legend = [
            Key::new("precise", "one sleep"),
            Key::new("ink", "median"),
            Key::new("accent", "ideal: exactly what was asked"),
        ];
        frame::figure(&self.frame, &words, &legend, HEIGHT, |c| {
            axes(c, &x, &upper, &lower);
            c.line((x.px(x.low()), upper.px(x.low())), (x.px(most_asked), upper.px(most_asked)), "accent s w2 dash");
            c.line((LEFT, axis::crisp(lower.px(0.0))), (RIGHT, axis::crisp(lower.px(0.0))), "accent s w2 dash");
            for ask in &asks {
                draw_ask(c, ask, &x, &upper, &lower);
            }
            let medians: Vec<(f64, f64)> = asks.iter().map(|a| (x.px(a.asked_ms), upper.px(a.median_ms))).collect();
            let late: Vec<(f64, f64)> = asks.iter().map(|a| (x.px(a.asked_ms), lower.px(a.median_late_us()))).collect();
            c.polyline(&medians, "ink s w2");
            c.polyline(&late, "ink s w2");
            end_labels(c, &asks[asks.len() - 1], &upper, &lower);
        })
    }

    /// Ascending by what was asked.
    fn asks(&self) -> Vec<Ask> {
        let mut points: Vec<SweepPoint> =
            self.points.iter().copied().filter(|p| p.asked_ms.is_finite() && p.got_ms.is_finite()).collect();
        points.sort_by(|a, b| a.asked_ms.total_cmp(&b.asked_ms).then(a.got_ms.total_cmp(&b.got_ms)));
        points
            .chunk_by(|a, b| a.asked_ms == b.asked_ms)
            .filter_map(|chunk| {
                let got_ms: Vec<f64> = chunk.iter().map(|p| p.got_ms).collect();
                Some(Ask { asked_ms: chunk[0].asked_ms, median_ms: stats::quantile(&got_ms, 0.5)?, got_ms })
            })
            .collect()
    }

    fn words(&self, asks: &[Ask], beyond: usize, latest_us: f64) -> Words {
        let late: Vec<f64> = asks.iter().map(Ask::median_late_us).collect();
        let sorted = stats::sorted(&late);
        let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
        let rise = stats::slope(&asks.iter().map(|a| (a.asked_ms, a.median_ms)).collect::<Vec<_>>()).unwrap_or(0.0);
        let wait = if self.wait_label.is_empty() { "The wait" } else { &self.wait_label };
        let verdict = verdict(asks);
        let finding = format!(
            "{wait} {verdict}: each further millisecond asked brings {} ms. Median lateness lies between {} and {}.",
            decimal(rise, 2),
            signed_us(least),
            signed_us(most)
        );
        let detail = asks
            .iter()
            .map(|a| format!("Asked {}: median {}.", time_us(a.asked_ms * 1e3), time_us(a.median_ms * 1e3)))
            .collect::<Vec<_>>()
            .join(" ");
        let mut caveat = String::new();
        if asks.iter().any(|a| a.got_ms.len() > CAP_PER_ASK) {
            let most = asks.iter().map(|a| a.got_ms.len()).max().unwrap_or(0);
            caveat.push_str(&format!(
                "Of up to {} sleeps per duration {CAP_PER_ASK} are shown, evenly by rank, with both extremes; medians use all. ",
                text::count(most)
            ));
        }
        if beyond > 0 {
            let sleeps = text::plural(beyond, "sleep", "sleeps");
            caveat.push_str(&format!(
                "{sleeps} above the lateness axis (a triangle where there is any), up to {}.",
                signed_us(latest_us)
            ));
        }
        Words { heading: HEADING, finding, detail, caveat: caveat.trim_end().to_owned() }
    }
}

/// A delay that is the same for every request moves the line but leaves it a line. Under a tick the wait ends when the tick does, so
/// lateness falls by as much as the request grows, until it jumps to the next tick. Anything else is named as neither.
fn verdict(asks: &[Ask]) -> &'static str {
    let late = || asks.iter().map(Ask::median_late_us);
    let spread_us = late().fold(f64::NEG_INFINITY, f64::max) - late().fold(f64::INFINITY, f64::min);
    let step_us = (asks[1].asked_ms - asks[0].asked_ms) * 1e3;
    if spread_us <= step_us.max(200.0) {
        return "is proportional (a line)";
    }
    let falls = |pair: &&[Ask]| {
        let grown_us = (pair[1].asked_ms - pair[0].asked_ms) * 1e3;
        pair[0].median_late_us() - pair[1].median_late_us() >= 0.5 * grown_us
    };
    if 2 * asks.windows(2).filter(falls).count() > asks.len() - 1 {
        "follows a coarse tick (a tube), not what is asked"
    } else {
        "is irregular, neither a line nor the tube of a tick"
    }
}

fn axes(c: &mut Canvas, x: &Scale, upper: &Scale, lower: &Scale) {
    axis::left(c, &upper.ticks(1.0, 36.0), LEFT, RIGHT);
    c.text((LEFT, -7.0), Anchor::Start, "soft t", "duration got, ms");
    let unit = text::Unit::for_us(lower.high().max(-lower.low()));
    axis::left(c, &lower.ticks(unit.us, 28.0), LEFT, RIGHT);
    c.text((LEFT, LOWER_TOP - 9.0), Anchor::Start, "soft t", &format!("lateness (got − asked), {}", unit.symbol));
    axis::bottom(c, &x.ticks(1.0, 30.0), LOWER_BOTTOM, LOWER_BOTTOM);
    c.line((LEFT, axis::crisp(LOWER_BOTTOM)), (RIGHT, axis::crisp(LOWER_BOTTOM)), "axis s");
    c.text(((LEFT + RIGHT) / 2.0, LOWER_BOTTOM + 34.0), Anchor::Middle, "soft t", "duration asked, ms");
}

fn draw_ask(c: &mut Canvas, ask: &Ask, x: &Scale, upper: &Scale, lower: &Scale) {
    let at = x.px(ask.asked_ms);
    let tip = format!(
        "asked {}: median {} ({}), {}",
        time_us(ask.asked_ms * 1e3),
        time_us(ask.median_ms * 1e3),
        signed_us(ask.median_late_us()),
        text::plural(ask.got_ms.len(), "sleep", "sleeps")
    );
    let shown = stats::thinned(&ask.got_ms, CAP_PER_ASK);
    c.marks("precise", &tip, |c| {
        let late: Vec<f64> = shown.iter().map(|g| ask.late_us(*g)).collect();
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

/// Moves neighbours in rank apart sideways, so that equal sleeps don't cover each other.
fn aside(rank: usize) -> f64 {
    (rank * 7 % 11) as f64 * 1.5 - 7.5
}

fn end_labels(c: &mut Canvas, last: &Ask, upper: &Scale, lower: &Scale) {
    let lines = [(upper.px(last.median_ms), "ink t b", "median"), (upper.px(last.asked_ms), "accent t b", "ideal")];
    let mut sorted = lines;
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let places = axis::spread(&[sorted[0].0, sorted[1].0], 14.0, 0.0, UPPER);
    for (place, (_, class, label)) in places.iter().zip(&sorted) {
        c.text((RIGHT + 10.0, place + 4.0), Anchor::Start, class, label);
    }
    let median = lower.px(last.median_late_us());
    c.text((RIGHT + 10.0, median + 4.0), Anchor::Start, "ink t b", &format!("{} at", signed_us(last.median_late_us())));
    c.text((RIGHT + 10.0, median + 17.0), Anchor::Start, "ink t", &format!("{} asked", time_us(last.asked_ms * 1e3)));
}

const _: () = assert!(RIGHT + 100.0 < WIDTH, "the labels at the ends of the lines need room");

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn sweep(got_ms: impl Fn(u32, u32) -> f64, passes: u32) -> Sweep {
        let points = (1..=15)
            .flat_map(|ask| (0..passes).map(move |pass| (ask, pass)))
            .map(|(ask, pass)| SweepPoint { asked_ms: f64::from(ask), got_ms: got_ms(ask, pass) })
            .collect();
        Sweep { frame: Frame::new("s"), wait_label: "nanosleep".to_owned(), points }
    }

    #[test]
    fn a_constant_delay_is_a_line() {
        let p = sweep(|ask, _| f64::from(ask) + 0.0625, 5);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(svg.contains("is proportional (a line): each further millisecond asked brings 1 ms"));
        assert!(svg.contains("between +62.5\u{a0}µs and +62.5\u{a0}µs"));
    }

    #[test]
    fn a_tick_is_a_tube() {
        let svg = sweep(|_, _| 15.625, 3).svg();
        well_formed(&svg);
        assert!(svg.contains("follows a coarse tick (a tube)") && svg.contains("brings 0 ms"));
    }

    #[test]
    fn a_short_tick_is_a_tube_and_noise_is_neither() {
        let tick = sweep(|ask, _| (f64::from(ask) / 4.0).floor() * 4.0 + 4.0, 3).svg();
        assert!(tick.contains("follows a coarse tick"));
        let noise = sweep(|ask, _| f64::from(ask) + if ask == 7 { 9.0 } else { 0.06 }, 3).svg();
        assert!(noise.contains("is irregular, neither"));
    }

    #[test]
    fn broken_and_extreme_values() {
        well_formed(&Sweep::default().svg());
        let svg = sweep(|_, _| f64::NAN, 3).svg();
        well_formed(&svg);
        assert!(svg.contains("Not enough data"));
        well_formed(&sweep(|ask, _| if ask == 3 { 100_000.0 } else { 1e-6 }, 2).svg());
        let many = sweep(|ask, pass| f64::from(ask) + f64::from(pass) * 1e-5, 10_000).svg();
        well_formed(&many);
        assert!(many.len() < 120_000 && many.contains("evenly by rank"), "{} bytes", many.len());
    }
}
