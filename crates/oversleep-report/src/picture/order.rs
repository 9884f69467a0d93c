//! Runs in the order taken, each by two clocks: red jumps where blue doesn't, as published charts show it.

use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::{axis, stats};

/// The plot of a panel, and its name above it, px.
const PLOT: f64 = 62.0;
const NAME: f64 = 30.0;
/// The title above all panels, and the axis beneath.
const TITLE: f64 = 16.0;
const AXIS: f64 = 38.0;
/// Where the plots begin, px.
const LEFT: f64 = 48.0;
/// Fewer runs than this have no order to see.
const RUNS_MIN: usize = 10;
/// Of more runs than this, each stretch is drawn by its extremes.
const CAP: usize = 400;

/// The runs of one kind.
pub struct Panel<'a> {
    /// Its name.
    pub label: &'a str,
    /// Durations by the coarse clock, ms.
    pub coarse_ms: &'a [f64],
    /// Durations by the precise clock, ms.
    pub precise_ms: &'a [f64],
}

impl Panel<'_> {
    fn runs(&self) -> usize {
        self.coarse_ms.len().max(self.precise_ms.len())
    }

    /// Whether there is an order to see.
    pub fn is_drawn(&self) -> bool {
        self.precise_ms.len() >= RUNS_MIN
    }
}

/// The room that so many panels take.
pub fn height(panels: usize) -> f64 {
    if panels == 0 { 0.0 } else { TITLE + AXIS + (NAME + PLOT) * panels as f64 }
}

/// Draws the panels from y = 0, from zero to this duration, with that unit: its name, and how many ms it is.
pub fn draw(c: &mut Canvas, panels: &[Panel<'_>], top_ms: f64, (unit, unit_ms): (&str, f64), right: f64) {
    let Some(runs) = panels.iter().map(Panel::runs).max() else { return };
    c.text((LEFT, 11.0), Anchor::Start, "soft t", &format!("each run in the order taken, {unit}"));
    let x = Scale::linear(1.0, runs as f64, LEFT + 5.0, right - 5.0);
    for (panel, place) in panels.iter().zip(0_u32..) {
        let above = TITLE + (NAME + PLOT) * f64::from(place);
        let (high, base) = (above + NAME, above + NAME + PLOT);
        let y = Scale::linear(0.0, top_ms, base, high);
        c.text((LEFT, above + 20.0), Anchor::Start, "ink t b", panel.label);
        axis::left(c, &y.ticks(unit_ms, 24.0), LEFT, right);
        for (class, values) in [("coarse s", panel.coarse_ms), ("precise s", panel.precise_ms)] {
            let points = (1..).zip(values).map(|(run, ms)| (f64::from(run), *ms)).filter(|(_, ms)| ms.is_finite());
            let points: Vec<(f64, f64)> = points.collect();
            let (points, _) = stats::extremes(&points, CAP);
            c.polyline(&points.iter().map(|&(run, ms)| (x.px(run), y.px(ms))).collect::<Vec<_>>(), class);
        }
        c.line((LEFT, axis::crisp(base)), (right, axis::crisp(base)), "axis s");
    }
    let base = TITLE + (NAME + PLOT) * panels.len() as f64;
    for tick in x.ticks(1.0, 60.0) {
        c.line((axis::crisp(tick.at), base), (axis::crisp(tick.at), base + 4.0), "axis s");
        c.text((tick.at, base + 17.0), Anchor::Middle, "soft t", &tick.label);
    }
    axis::name(c, ((LEFT + right) / 2.0, base + 32.0), "runs");
}
