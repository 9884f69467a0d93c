//! How a neighbour's setting affects this process: its own sleep, the resolution that the system states, and a coarse clock.

use super::frame::{self, Frame, Key, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, time_us};
use super::{axis, stats};

const HEADING: &str = "What a neighbour's setting does to this process";
const LEFT: f64 = 42.0;
/// Room for the names at the ends of the lines; a narrow picture has them in its legend only.
const NAMES: f64 = 104.0;
const BOTTOM: f64 = 300.0;
const HEIGHT: f64 = BOTTOM + 42.0;
/// More sleeps than this per step are thinned by rank.
const CAP_PER_STEP: usize = 120;
/// Medians closer than this, µs, are the same wake-up with different noise.
const EQUAL_WITHIN_US: f64 = 300.0;

/// What was observed while a neighbour held one setting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NeighbourStep {
    /// The setting it held: `2 ms`, `nothing`.
    pub label: String,
    /// The duration of each of this process's sleeps, ms.
    pub sleep_ms: Vec<f64>,
    /// The resolution that the system stated to this process, ms.
    pub stated_ms: Option<f64>,
    /// The coarse clock's step, ms.
    pub clock_step_ms: Option<f64>,
}

/// All steps in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Neighbours {
    /// The words around it.
    pub frame: Frame,
    /// The sleep: `nanosleep of 1 ms`.
    pub wait_label: String,
    /// The coarse clock; may be empty.
    pub clock_label: String,
    /// The steps.
    pub steps: Vec<NeighbourStep>,
}

/// One line of medians.
struct Line {
    class: &'static str,
    name: String,
    /// By step; `None` if nothing is known.
    values_ms: Vec<Option<f64>>,
}

impl Neighbours {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let sleep: Vec<Option<f64>> = self.steps.iter().map(|step| stats::median(&step.sleep_ms)).collect();
        let known = sleep.iter().flatten().count();
        if known < 2 {
            return frame::without_data(&self.frame, HEADING, "fewer than two settings have sleeps");
        }
        let lines = self.lines(&sleep);
        let all = self.steps.iter().flat_map(|step| step.sleep_ms.iter().copied());
        let all = stats::sorted(
            &all.chain(lines.iter().flat_map(|line| line.values_ms.iter().flatten().copied())).collect::<Vec<_>>(),
        );
        let medians = lines.iter().flat_map(|line| line.values_ms.iter().flatten().copied()).fold(0.0, f64::max);
        let top = stats::robust_top(&all).unwrap_or(1.0).max(medians).max(1e-6);
        let y = Scale::linear(all[0].min(0.0), top * 1.06, BOTTOM, 0.0);
        let beyond = all.iter().filter(|value| **value > y.high()).count();
        let legend: Vec<Key> = lines.iter().map(|line| Key::new(line.class, &line.name)).collect();
        let height = HEIGHT + self.second_row();
        frame::figure(&self.frame, &self.words(&sleep, beyond, all[all.len() - 1]), &legend, height, |c| {
            self.draw(c, &lines, &y);
        })
    }

    fn right(&self) -> f64 {
        self.frame.width() - self.frame.either(NAMES, 8.0)
    }

    fn labels(&self) -> Vec<String> {
        self.steps.iter().map(|step| step.label.clone()).collect()
    }

    /// The width of one step, px.
    fn room(&self) -> f64 {
        (self.right() - LEFT) / self.steps.len() as f64
    }

    /// The height of a second row of labels where they are too wide to stand side by side, px.
    fn second_row(&self) -> f64 {
        if axis::rows_of_categories(&self.labels(), self.room()) > 1 { axis::CATEGORY_ROW } else { 0.0 }
    }

    fn lines(&self, sleep: &[Option<f64>]) -> Vec<Line> {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        let lines = [
            ("precise", self.wait_label.clone(), sleep.to_vec()),
            ("accent", "stated resolution".to_owned(), self.steps.iter().map(|step| finite(step.stated_ms)).collect()),
            (
                "coarse",
                format!("step of {}", if self.clock_label.is_empty() { "a coarse clock" } else { &self.clock_label }),
                self.steps.iter().map(|step| finite(step.clock_step_ms)).collect(),
            ),
        ];
        let lines = lines.into_iter().map(|(class, name, values_ms)| Line { class, name, values_ms });
        lines.filter(|line| line.values_ms.iter().any(Option::is_some)).collect()
    }

    fn words(&self, sleep: &[Option<f64>], beyond: usize, longest_ms: f64) -> Words {
        let named: Vec<(&str, f64)> = self
            .steps
            .iter()
            .zip(sleep)
            .filter_map(|(step, sleep)| Some((step.label.as_str(), (*sleep)? * 1e3)))
            .collect();
        let least = named.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied().unwrap_or_default();
        let most = named.iter().max_by(|a, b| a.1.total_cmp(&b.1)).copied().unwrap_or_default();
        let wait = if self.wait_label.is_empty() { "The sleep" } else { &self.wait_label };
        let finding = if most.1 - least.1 <= EQUAL_WITHIN_US {
            format!(
                "No neighbour's setting reaches this process: {wait} takes {} to {} whatever is held.",
                time_us(least.1),
                time_us(most.1)
            )
        } else {
            format!(
                "{wait} takes {} (neighbour holds {}) to {} ({}), although this process requests nothing.",
                time_us(least.1),
                least.0,
                time_us(most.1),
                most.0
            )
        };
        let also = |name: &str, value_ms: Option<f64>| {
            value_ms
                .filter(|value| value.is_finite())
                .map(|value| format!(", {name} {}", time_us(value * 1e3)))
                .unwrap_or_default()
        };
        let detail = self
            .steps
            .iter()
            .zip(sleep)
            .map(|(step, sleep)| {
                let sleep = sleep.map_or_else(|| "not measured".to_owned(), |sleep| time_us(sleep * 1e3));
                format!(
                    "{}: sleep {sleep}{}{}.",
                    step.label,
                    also("stated", step.stated_ms),
                    also("clock step", step.clock_step_ms)
                )
            })
            .collect::<Vec<_>>()
            .join(" ");
        let mut caveat = String::new();
        if self.steps.iter().any(|step| step.sleep_ms.len() > CAP_PER_STEP) {
            caveat = format!(
                "At most {CAP_PER_STEP} sleeps per setting are shown, evenly by rank, with both extremes; medians use all. "
            );
        }
        if beyond > 0 {
            let sleeps_lie = text::counted_lie(beyond, "sleep");
            caveat.push_str(&format!("{sleeps_lie} above the axis, up to {}.", time_us(longest_ms * 1e3)));
        }
        Words { heading: HEADING, finding, detail, caveat: caveat.trim_end().to_owned() }
    }

    fn draw(&self, c: &mut Canvas, lines: &[Line], y: &Scale) {
        let room = self.room();
        let at = |index: usize| LEFT + room * (index as f64 + 0.5);
        let right = self.right();
        axis::categories(c, &self.labels(), room, at, (right, BOTTOM + 16.0));
        axis::left(c, &y.ticks(1.0, 36.0), LEFT, right);
        c.text((LEFT, -7.0), Anchor::Start, "soft t", "ms");
        c.line((LEFT, axis::crisp(BOTTOM)), (right, axis::crisp(BOTTOM)), "axis s");
        for (index, step) in self.steps.iter().enumerate() {
            let shown = stats::thinned(&stats::sorted(&step.sleep_ms), CAP_PER_STEP);
            if shown.is_empty() {
                continue;
            }
            let tip = format!("neighbour holds {}: {}", step.label, text::counted(step.sleep_ms.len(), "sleep"));
            let spread = (room / 2.0 - 3.0).clamp(0.0, 8.0);
            let aside = |rank: usize| ((rank * 7 % 11) as f64 / 5.0 - 1.0) * spread;
            let dots: Vec<(f64, f64)> = shown
                .iter()
                .enumerate()
                .filter(|(_, sleep)| **sleep <= y.high())
                .map(|(rank, sleep)| (at(index) + aside(rank), y.px(*sleep)))
                .collect();
            c.marks("precise", &tip, |c| c.dots(&dots, "dots small"));
        }
        axis::name(c, ((LEFT + right) / 2.0, BOTTOM + 34.0 + self.second_row()), "setting the neighbour holds");
        for line in lines {
            let points = |(index, value): (usize, &Option<f64>)| value.map(|value| (at(index), y.px(value)));
            // Unknown values leave a gap in the line.
            for run in line.values_ms.iter().enumerate().map(points).collect::<Vec<_>>().split(Option::is_none) {
                let run: Vec<(f64, f64)> = run.iter().copied().flatten().collect();
                c.polyline(&run, &format!("{} s w2", line.class));
                if let [alone] = run[..] {
                    c.circle(alone, 2.5, &format!("{} f", line.class));
                }
            }
        }
        if !self.frame.is_narrow() {
            end_labels(c, lines, y, right + 10.0);
        }
    }
}

/// The name of each line beside its last value.
fn end_labels(c: &mut Canvas, lines: &[Line], y: &Scale, left: f64) {
    let mut ends: Vec<(f64, &Line)> =
        lines.iter().filter_map(|line| Some((y.px((*line.values_ms.last()?)?), line))).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = ends.iter().map(|(at, _)| *at).collect();
    for (place, (_, line)) in axis::spread(&wanted, 14.0, 0.0, BOTTOM).iter().zip(&ends) {
        let name = match line.class {
            "precise" => "own sleep",
            "accent" => "stated",
            _ => "clock step",
        };
        c.text((left, place + 4.0), Anchor::Start, &format!("{} t b", line.class), name);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::super::frame::Form;
    use super::*;

    fn picture(steps: &[(&str, f64, Option<f64>)]) -> Neighbours {
        let step = |&(label, sleep, period): &(&str, f64, Option<f64>)| NeighbourStep {
            label: label.to_owned(),
            sleep_ms: vec![sleep; 5],
            stated_ms: period,
            clock_step_ms: period,
        };
        Neighbours {
            frame: Frame::new("n"),
            wait_label: "Sleep of 1 ms".to_owned(),
            clock_label: "system-time<&>".to_owned(),
            steps: steps.iter().map(step).collect(),
        }
    }

    #[test]
    fn states_what_reaches_this_process() {
        let p = picture(&[("none", 15.625, Some(15.625)), ("1ms", 2.0, Some(1.0)), ("2ms<\">", 2.0, Some(2.0))]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(svg.contains("takes 2\u{a0}ms (neighbour holds 1ms) to 15.6\u{a0}ms (none)"), "{svg}");
        let alike = picture(&[("none", 1.066, None), ("1ms", 1.07, None)]).svg();
        well_formed(&alike);
        assert!(alike.contains("reaches this process: Sleep of 1 ms takes 1.07\u{a0}ms to 1.07\u{a0}ms whatever"));
        assert!(!alike.contains("clock step"), "what is not known is not drawn");
    }

    #[test]
    fn labels_of_many_steps_are_whole() {
        let names: Vec<String> = (1..=15).map(|held| format!("{held}\u{a0}ms")).collect();
        let held = names.iter().zip(1..).map(|(name, ms)| (name.as_str(), f64::from(ms), None));
        let p = picture(&std::iter::once(("nothing", 15.625, None)).chain(held).collect::<Vec<_>>());
        let svg = p.svg();
        well_formed(&svg);
        for label in names.iter().map(String::as_str).chain(["nothing"]) {
            assert!(svg.contains(&format!(">{label}</text>")), "{label} is cut");
        }
        assert_eq!(p.second_row(), axis::CATEGORY_ROW, "neighbours stand in two rows");
        let few = picture(&[("none", 15.625, None), ("10 ms", 10.0, None)]);
        assert_eq!(few.second_row(), 0.0, "one row is enough for two");
        let narrow = Neighbours { frame: Frame { form: Form::Narrow, ..p.frame.clone() }, ..p };
        let shown = names.iter().filter(|name| narrow.svg().contains(&format!(">{name}</text>"))).count();
        assert_eq!(shown, 7, "a phone has room for every other one");
    }

    #[test]
    fn broken_and_extreme_values() {
        for steps in
            [&[][..], &[("none", 1.0, None)], &[("none", f64::NAN, None), ("1ms", f64::INFINITY, Some(f64::NAN))]]
        {
            let svg = picture(steps).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        well_formed(&picture(&[("a", 1e-6, Some(1e-6)), ("b", 100_000.0, None), ("c", -1.0, Some(3.0))]).svg());
        let mut many = picture(&[("a", 1.0, None), ("b", 2.0, None)]);
        many.steps[0].sleep_ms = (0..10_000).map(f64::from).collect();
        let svg = many.svg();
        well_formed(&svg);
        assert!(svg.len() < 40_000 && svg.contains("evenly by rank"), "{} bytes", svg.len());
        many.steps[0].sleep_ms = vec![1.0; 1_000];
        many.steps[0].sleep_ms.push(5_000.0);
        let far = many.svg().replace('\u{a0}', " ");
        assert!(far.contains("above the axis, up to 5 s."), "{far}");
    }
}
