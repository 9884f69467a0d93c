//! Several quantities over one span of time as stepped lines, and the processes that came and went.

use super::axis;
use super::frame::{self, Frame, Key, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, time_us};

const HEADING: &str = "What changed, over time";
const LEFT: f64 = 66.0;
const HEIGHT: f64 = 260.0;
const VISIT: f64 = 18.0;
/// More points than this are thinned; each line keeps its first and its last.
const POINTS_MAX: usize = 1_500;
const CLASSES: [&str; 4] = ["c0", "c1", "c2", "c3"];

/// One quantity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimelineLine {
    /// Its name: `sleep(1ms)`.
    pub label: String,
    /// Times in s, each with the value from then on, in µs.
    pub points: Vec<(f64, f64)>,
}

/// Something that was present for a while.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimelineVisit {
    /// What it was: `neighbour 1 requests 1 ms`.
    pub label: String,
    /// When it started, in s.
    pub from_s: f64,
    /// When it ended, in s.
    pub until_s: f64,
}

/// The picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// The words around it.
    pub frame: Frame,
    /// How long, s.
    pub duration_s: f64,
    /// The lines, at most four.
    pub lines: Vec<TimelineLine>,
    /// The visits.
    pub visits: Vec<TimelineVisit>,
}

impl Timeline {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let is_sound = |(at, value): &&(f64, f64)| at.is_finite() && *value > 0.0 && value.is_finite();
        let lines: Vec<(&str, Vec<(f64, f64)>)> = self
            .lines
            .iter()
            .take(CLASSES.len())
            .map(|line| (line.label.as_str(), line.points.iter().filter(is_sound).copied().collect::<Vec<_>>()))
            .filter(|(_, points)| !points.is_empty())
            .collect();
        if lines.is_empty() || !(self.duration_s.is_finite() && self.duration_s > 0.0) {
            return frame::without_data(&self.frame, HEADING, "nothing was seen more than once");
        }
        let all = lines.iter().flat_map(|(_, points)| points).map(|(_, value)| *value);
        let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let y = Scale::log(low * 0.8, high * 1.2, HEIGHT, 8.0);
        let right = self.frame.width() - self.frame.either(24.0, 14.0);
        let x = Scale::linear(0.0, self.duration_s, LEFT, right);
        let keys: Vec<Key> = lines.iter().zip(CLASSES).map(|((label, _), class)| Key::new(class, label)).collect();
        let lanes = VISIT * self.visits.len() as f64;
        let (unit, symbol) = time_unit(self.duration_s);
        frame::figure(&self.frame, &self.words(&lines), &keys, HEIGHT + lanes + 52.0, |c| {
            axis::left(c, &y.decades(24.0, time_us), LEFT, right);
            axis::bottom(c, &x.ticks(unit, 60.0), HEIGHT, 8.0);
            for ((_, points), class) in lines.iter().zip(CLASSES) {
                let steps = steps(points, self.duration_s, |(at, value)| (x.px(at), y.px(value)));
                c.polyline(&steps, &format!("{class} s w2"));
            }
            axis::name(c, ((LEFT + right) / 2.0, HEIGHT + 34.0), &format!("time, {symbol}"));
            for (lane, visit) in self.visits.iter().enumerate() {
                self.visit(c, visit, &x, HEIGHT + 44.0 + VISIT * lane as f64);
            }
        })
    }

    fn visit(&self, c: &mut Canvas, visit: &TimelineVisit, x: &Scale, top: f64) {
        let (from, until) = (x.px(visit.from_s), x.px(visit.until_s.min(self.duration_s)));
        c.marks("visit", &visit.label, |c| {
            c.rect((from, top), ((until - from).max(2.0), VISIT - 4.0), "band f");
            c.line((from, top), (from, top + VISIT - 4.0), "accent s w2");
            let room = x.px(x.high()) - from - 8.0;
            let (at, anchor) = if room > 120.0 { (from + 6.0, Anchor::Start) } else { (until - 6.0, Anchor::End) };
            c.text((at, top + 11.0), anchor, "ink t", &text::fitted(&visit.label, 11.0, room.max(120.0)));
        });
    }

    fn words(&self, lines: &[(&str, Vec<(f64, f64)>)]) -> Words {
        let one = |(label, points): &(&str, Vec<(f64, f64)>)| {
            let values = points.iter().map(|(_, value)| *value);
            let (low, high) =
                values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
            let range = match (time_us(low), time_us(high)) {
                (low, high) if low == high => format!("{low} throughout"),
                (low, high) => format!("{low} to {high}"),
            };
            format!("{label}: {range}.")
        };
        let finding = lines.iter().map(one).collect::<Vec<_>>().join(" ");
        let visits: Vec<String> = self
            .visits
            .iter()
            .map(|visit| format!("{} from {:.1} s to {:.1} s.", visit.label, visit.from_s, visit.until_s))
            .collect();
        Words { heading: HEADING, finding, detail: visits.join(" "), caveat: String::new() }
    }
}

/// Seconds in the unit of the axis, and its name.
fn time_unit(duration_s: f64) -> (f64, &'static str) {
    match duration_s {
        s if s > 7_200.0 => (3_600.0, "hours"),
        s if s > 180.0 => (60.0, "minutes"),
        _ => (1.0, "s"),
    }
}

/// A line that stays at each value until the next one, and to the end.
fn steps(points: &[(f64, f64)], end: f64, place: impl Fn((f64, f64)) -> (f64, f64)) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(POINTS_MAX).max(1);
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let mut last = points[0].1;
    for (index, &(at, value)) in points.iter().enumerate() {
        let is_last = index + 1 == points.len();
        // Only a change bends the line.
        if index > 0 && !is_last && (value == last || index % every != 0) {
            continue;
        }
        if index > 0 {
            steps.push(place((at, last)));
        }
        steps.push(place((at, value)));
        last = value;
    }
    steps.push(place((end, last)));
    steps
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    fn timeline() -> Timeline {
        Timeline {
            frame: Frame::new("t"),
            duration_s: 12.0,
            lines: vec![
                TimelineLine {
                    label: "resolution".to_owned(),
                    points: vec![(0.0, 15_625.0), (3.0, 2_000.0), (7.0, 15_625.0)],
                },
                TimelineLine { label: "sleep(1ms)".to_owned(), points: vec![(0.0, 15_600.0), (4.0, 2_010.0)] },
            ],
            visits: vec![TimelineVisit { label: "neighbour 1 requests 2 ms".to_owned(), from_s: 3.0, until_s: 7.0 }],
        }
    }

    #[test]
    fn says_what_it_shows() {
        let svg = timeline().svg();
        check::well_formed(&svg);
        let range = format!("resolution: {} to {}.", time_us(2_000.0), time_us(15_625.0));
        assert!(svg.contains(&range), "{svg}");
        assert!(svg.contains("neighbour 1 requests 2 ms from 3.0 s to 7.0 s."), "{svg}");
    }

    #[test]
    fn nothing_to_draw_says_so_and_a_week_stays_small() {
        assert!(Timeline { lines: Vec::new(), ..timeline() }.svg().contains("Not enough data"));
        let points = (0..600_000).map(|second| (f64::from(second), 1_000.0 + f64::from(second % 5))).collect();
        let line = TimelineLine { label: "sleep(1ms)".to_owned(), points };
        let week = Timeline { duration_s: 600_000.0, lines: vec![line], visits: Vec::new(), ..timeline() };
        let svg = week.svg();
        assert!(svg.len() < 100_000 && svg.contains("time, hours"), "{}", svg.len());
    }
}
