//! A sleep beside a neighbour's setting on several machines: the mean as a curve for each, and a histogram at each setting.

use super::axis;
use super::frame::{self, Frame, Key, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, time_us};

const HEADING: &str = "A sleep beside a neighbour";
const LEFT: f64 = 42.0;
const BOTTOM: f64 = 320.0;
const HEIGHT: f64 = BOTTOM + 56.0;
/// Classes of a histogram, over the whole axis.
const CLASSES: usize = 80;
/// The number of colours; machines beyond it share them.
const COLOURS: usize = 8;
/// The most machines with room for histograms, and the least width of one, px.
const WITH_HISTOGRAMS_MAX: usize = 4;
const HISTOGRAM_MIN: f64 = 6.0;

/// The sleeps of one machine at one setting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sleeps {
    /// Their mean, ms.
    pub mean_ms: f64,
    /// Durations in ms, each with how often it occurs.
    pub histogram: Vec<(f64, u64)>,
}

/// One machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineCurve {
    /// Its name.
    pub label: String,
    /// Its sleeps by setting; `None` where there are none.
    pub steps: Vec<Option<Sleeps>>,
}

/// All machines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NeighbourCurves {
    /// The words around it.
    pub frame: Frame,
    /// The sleep: `a sleep of 1 ms`.
    pub wait_label: String,
    /// What the neighbour holds: `nothing`, `2 ms`.
    pub settings: Vec<String>,
    /// A curve each.
    pub machines: Vec<MachineCurve>,
}

impl NeighbourCurves {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let known = |machine: &&MachineCurve| machine.means().flatten().count() > 1;
        let machines: Vec<&MachineCurve> = self.machines.iter().filter(known).collect();
        if machines.is_empty() {
            return frame::without_data(&self.frame, HEADING, "no machine has sleeps beside two settings");
        }
        let top = machines.iter().flat_map(|machine| machine.steps.iter().flatten()).flat_map(Sleeps::values);
        let y = Scale::linear(0.0, top.fold(1e-6, f64::max) * 1.06, BOTTOM, 0.0);
        let legend: Vec<Key> =
            machines.iter().enumerate().map(|(index, machine)| Key::new(&colour(index), &machine.label)).collect();
        frame::figure(&self.frame, &self.words(&machines), &legend, HEIGHT, |c| self.draw(c, &machines, &y))
    }

    fn words(&self, machines: &[&MachineCurve]) -> Words {
        let ends = machines.iter().map(|machine| {
            let means: Vec<f64> = machine.means().flatten().collect();
            let least = means.iter().copied().fold(f64::INFINITY, f64::min);
            let most = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!("{} to {} on {}", time_us(least * 1e3), time_us(most * 1e3), machine.label)
        });
        let wait = if self.wait_label.is_empty() { "the sleep" } else { &self.wait_label };
        let finding = format!("On average {wait} takes {}.", ends.collect::<Vec<_>>().join(", "));
        let at = |(index, setting): (usize, &String)| {
            let mean = |machine: &&MachineCurve| machine.means().nth(index).flatten();
            let mean =
                machines.iter().map(|machine| mean(machine).map_or_else(|| "–".to_owned(), |ms| time_us(ms * 1e3)));
            format!("{setting}: {}.", mean.collect::<Vec<_>>().join(", "))
        };
        let detail = self.settings.iter().enumerate().map(at).collect::<Vec<_>>().join(" ");
        let caveat = match self.has_histograms(machines) {
            false => "Curves are means; with so many machines or settings the histograms are left out.",
            true => "Curves are means. Beside each point stands a histogram of its sleeps; all are equally wide.",
        };
        Words { heading: HEADING, finding, detail, caveat: caveat.to_owned() }
    }

    fn right(&self) -> f64 {
        self.frame.width() - self.frame.either(24.0, 8.0)
    }

    fn has_histograms(&self, machines: &[&MachineCurve]) -> bool {
        machines.len() <= WITH_HISTOGRAMS_MAX && self.room() / machines.len() as f64 >= HISTOGRAM_MIN
    }

    /// The width of one setting, px.
    fn room(&self) -> f64 {
        (self.right() - LEFT) / self.settings.len().max(1) as f64
    }

    fn draw(&self, c: &mut Canvas, machines: &[&MachineCurve], y: &Scale) {
        let room = self.room();
        let at = |index: usize| LEFT + room * (index as f64 + 0.5);
        let right = self.right();
        axis::left(c, &y.ticks(1.0, 36.0), LEFT, right);
        c.text((LEFT, -7.0), Anchor::Start, "soft t", "ms");
        c.line((LEFT, axis::crisp(BOTTOM)), (right, axis::crisp(BOTTOM)), "axis s");
        axis::categories(c, &self.settings, room, at, (right, BOTTOM + 16.0));
        axis::name(c, ((LEFT + right) / 2.0, BOTTOM + 48.0), "setting the neighbour holds");
        if self.has_histograms(machines) {
            let width = (room - 4.0) / machines.len() as f64;
            for (place, machine) in machines.iter().enumerate() {
                for (index, (setting, sleeps)) in self.settings.iter().zip(&machine.steps).enumerate() {
                    let Some(sleeps) = sleeps else { continue };
                    let left = at(index) - room / 2.0 + 2.0 + width * place as f64;
                    let count = sleeps.histogram.iter().map(|(_, count)| *count as usize).sum();
                    let tip = format!(
                        "{}, {setting}: mean {}, {}",
                        machine.label,
                        time_us(sleeps.mean_ms * 1e3),
                        text::counted(count, "sleep")
                    );
                    c.marks(&colour(place), &tip, |c| draw_histogram(c, sleeps, y, (left, width - 1.0)));
                }
            }
        }
        for (place, machine) in machines.iter().enumerate() {
            let points = |(index, mean): (usize, Option<f64>)| mean.map(|mean| (at(index), y.px(mean)));
            // Unknown values leave a gap in the curve.
            for run in machine.means().enumerate().map(points).collect::<Vec<_>>().split(Option::is_none) {
                let run: Vec<(f64, f64)> = run.iter().copied().flatten().collect();
                c.polyline(&run, &format!("{} s w2", colour(place)));
                run.iter().for_each(|point| c.circle(*point, 2.5, &format!("{} f", colour(place))));
            }
        }
    }
}

impl MachineCurve {
    fn means(&self) -> impl Iterator<Item = Option<f64>> {
        self.steps.iter().map(|sleeps| sleeps.as_ref().map(|sleeps| sleeps.mean_ms).filter(|mean| mean.is_finite()))
    }
}

impl Sleeps {
    /// All durations that can be drawn, and the mean.
    fn values(&self) -> impl Iterator<Item = f64> {
        let all = self.histogram.iter().map(|(value, _)| *value).chain([self.mean_ms]);
        all.filter(|value| value.is_finite())
    }
}

fn colour(index: usize) -> String {
    format!("c{}", index % COLOURS)
}

/// An upright histogram: its bars grow to the right from `left`, the longest to the full width.
fn draw_histogram(c: &mut Canvas, sleeps: &Sleeps, y: &Scale, (left, width): (f64, f64)) {
    let class_of = |value: f64| (value / y.high() * CLASSES as f64).clamp(0.0, CLASSES as f64 - 1.0) as usize;
    let mut classes = [0_u64; CLASSES];
    for (value, count) in sleeps.histogram.iter().filter(|(value, _)| value.is_finite()) {
        classes[class_of(*value)] += count;
    }
    let most = classes.iter().copied().max().unwrap_or(1).max(1);
    let height = BOTTOM / CLASSES as f64;
    for (class, count) in classes.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        // Rare values stay visible.
        let long = (width * count as f64 / most as f64).max(1.0);
        c.rect((left, BOTTOM - height * (class as f64 + 1.0)), (long, height), "f thin");
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn curves(machines: &[(&str, &[f64])]) -> NeighbourCurves {
        let sleeps = |&mean_ms: &f64| Some(Sleeps { mean_ms, histogram: vec![(mean_ms, 9), (mean_ms + 0.5, 1)] });
        let machine = |&(label, means): &(&str, &[f64])| MachineCurve {
            label: label.to_owned(),
            steps: means.iter().map(sleeps).collect(),
        };
        NeighbourCurves {
            frame: Frame::new("n"),
            wait_label: "a sleep of 1 ms".to_owned(),
            settings: ["nothing", "1 ms", "2 ms<\">"].map(str::to_owned).to_vec(),
            machines: machines.iter().map(machine).collect(),
        }
    }

    #[test]
    fn each_machine_has_its_curve_and_its_histograms() {
        let p = curves(&[("A: 1909", &[15.6, 2.0, 2.0]), ("B: 2004<&>", &[15.6, 16.0, 16.0])]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        let says = "On average a sleep of 1 ms takes 2 ms to 15.6 ms on A: 1909, 15.6 ms to 16 ms on B: 2004";
        let plain = svg.replace('\u{a0}', " ");
        assert!(plain.contains(says), "{svg}");
        assert!(plain.contains("A: 1909, 1 ms: mean 2 ms, 10 sleeps"), "{svg}");
        let many: Vec<(String, [f64; 3])> = (0..26).map(|index| (format!("M{index}"), [1.0, 2.0, 3.0])).collect();
        let many: Vec<(&str, &[f64])> = many.iter().map(|(name, means)| (name.as_str(), &means[..])).collect();
        let svg = curves(&many).svg();
        well_formed(&svg);
        assert!(svg.len() < 60_000 && svg.contains("histograms are left out"), "{} bytes", svg.len());
    }

    #[test]
    fn broken_and_extreme_values() {
        for machines in [&[][..], &[("A", &[1.0][..])], &[("A", &[f64::NAN, f64::INFINITY])]] {
            let svg = curves(machines).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"), "{svg}");
        }
        well_formed(&curves(&[("A", &[1e-6, 100_000.0]), ("B", &[-1.0, 3.0, f64::NAN])]).svg());
        let mut gap = curves(&[("A", &[1.0, 2.0, 3.0])]);
        gap.machines[0].steps[1] = None;
        well_formed(&gap.svg());
    }
}
