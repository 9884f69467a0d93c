//! Where the lateness of each wait comes from: one stacked bar per wait, from zero, with the signed total behind it.

use super::frame::{self, Frame, Key, Names, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, Unit, signed_us, time_us};
use super::{axis, stats, theme};

const HEADING: &str = "Where the lateness comes from";
const ROW: f64 = 25.0;
const BAR: f64 = 16.0;
const TOTAL_WIDTH: f64 = 84.0;

/// One part of the lateness, the same in every row.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitPart {
    /// Its name: `run queue`.
    pub label: String,
    /// False for the part that could not be attributed, which is hatched.
    pub attributed: bool,
}

/// One wait.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SplitRow {
    /// Its name.
    pub label: String,
    /// One value per part, µs; `None` if it is unknown. Negative parts (an early wake-up) go to the left of zero.
    pub parts_us: Vec<Option<f64>>,
    /// The lateness as measured, µs: what the parts should add up to.
    pub total_us: f64,
}

/// Stacked bars of lateness.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SplitBars {
    /// The words around it.
    pub frame: Frame,
    /// The parts, in the order they are stacked.
    pub parts: Vec<SplitPart>,
    /// The waits, in the order they are shown.
    pub rows: Vec<SplitRow>,
}

impl SplitRow {
    fn known(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.parts_us
            .iter()
            .enumerate()
            .filter_map(|(i, v)| Some((i, (*v)?)))
            .filter(|(_, v)| v.is_finite() && *v != 0.0)
    }

    /// How far the bar reaches to the left and to the right of zero.
    fn reach(&self) -> (f64, f64) {
        let sums = self.known().fold((0.0, 0.0), |(l, r), (_, v)| (l + v.min(0.0), r + v.max(0.0)));
        (sums.0.min(self.total_us), sums.1.max(self.total_us))
    }
}

impl SplitBars {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let rows: Vec<&SplitRow> =
            self.rows.iter().filter(|r| r.total_us.is_finite() && r.known().next().is_some()).collect();
        if rows.is_empty() || self.parts.is_empty() {
            return frame::without_data(&self.frame, HEADING, "no wait could be split");
        }
        let widths = rows.iter().map(|r| text::width_px(&r.label, 12.0)).chain([85.0]);
        let names = Names::new(&self.frame, widths, (14.0, 0.0, 250.0));
        let (margin, width) = (self.frame.margin(), self.frame.width());
        let (left, right) = (names.left, width - TOTAL_WIDTH - margin);
        let (low, high, clipped) = range(&rows);
        let x = Scale::linear(low, high, left, right);
        let row_height = ROW + names.above;
        let height = row_height * rows.len() as f64 + 24.0 + names.above;
        let hatch = format!("url(#{}-hatch)", self.frame.safe_id());
        let legend: Vec<Key> = self
            .parts
            .iter()
            .enumerate()
            .map(|(i, p)| Key { class: "ink".to_owned(), fill: Some(self.paint(i, &hatch)), label: p.label.clone() })
            .collect();
        let words = self.words(&rows, clipped);
        frame::figure(&self.frame, &words, &legend, height, |c| {
            frame::hatch(c, &self.frame.safe_id());
            let unit = Unit::for_us(high.max(-low));
            axis::top(c, &x.ticks(unit.us, 60.0), 18.0 + names.above, height);
            c.text((margin, 11.0), Anchor::Start, "soft t", &format!("lateness, {}", unit.symbol));
            for (i, row) in rows.iter().enumerate() {
                let top = 24.0 + names.above + row_height * i as f64;
                let y = top + names.above;
                c.marks("row", &self.tip(row), |c| {
                    names.draw(c, top, y + 12.5, "ink", &row.label);
                    self.bar(c, row, &x, y, &hatch);
                    c.text((width - margin, y + 12.5), Anchor::End, "ink b", &signed_us(row.total_us));
                });
            }
            let zero = axis::crisp(x.px(0.0));
            c.line((zero, 18.0 + names.above), (zero, height), "ink s");
        })
    }

    fn paint(&self, part: usize, hatch: &str) -> String {
        if self.parts.get(part).is_some_and(|p| p.attributed) {
            theme::part_fill(part).to_owned()
        } else {
            hatch.to_owned()
        }
    }

    fn bar(&self, c: &mut Canvas, row: &SplitRow, x: &Scale, y: f64, hatch: &str) {
        let (mut left_us, mut right_us) = (0.0, 0.0);
        for (part, us) in row.known() {
            let (from, to) = if us < 0.0 { (left_us + us, left_us) } else { (right_us, right_us + us) };
            if us < 0.0 {
                left_us = from;
            } else {
                right_us = to;
            }
            let (a, b) = (x.px(from), x.px(to));
            let name = self.parts.get(part).map_or("", |p| p.label.as_str());
            c.marks("", &format!("{}: {name} {}", row.label, signed_us(us)), |c| {
                // A part too thin to see is drawn as a hairline; the gap of 1 px separates neighbours.
                let width = (b - a - 1.0).max(0.75);
                c.rounded((a + 0.5, y), (width, BAR), 2.0, "f", Some(&self.paint(part, hatch)));
                let label = time_us(us);
                let attributed = self.parts.get(part).is_some_and(|p| p.attributed);
                if attributed && to <= x.high() && width > text::width_px(&label, 11.0) + 8.0 {
                    c.text(((a + b) / 2.0, y + 12.0), Anchor::Middle, "onfill t", &label);
                }
            });
        }
        let edge = x.px(x.high());
        if right_us.max(row.total_us) > x.high() {
            // Two slanted cuts show that the bar continues beyond the axis.
            for dx in [0.0, 6.0] {
                c.path(
                    &format!(
                        "M{:.1} {:.1}l5 -{:.1}h3l-5 {:.1}z",
                        edge - 22.0 + dx,
                        y + BAR + 2.0,
                        BAR + 4.0,
                        BAR + 4.0
                    ),
                    "paper",
                );
            }
        }
    }

    fn tip(&self, row: &SplitRow) -> String {
        let parts: Vec<String> = self
            .parts
            .iter()
            .enumerate()
            .map(|(i, p)| {
                let value = row.parts_us.get(i).copied().flatten().map_or_else(|| "unknown".to_owned(), signed_us);
                format!("{} {value}", p.label)
            })
            .collect();
        format!("{}: lateness {}; {}", row.label, signed_us(row.total_us), parts.join(", "))
    }

    fn words(&self, rows: &[&SplitRow], clipped: usize) -> Words {
        // The part that is largest in most rows, and how large it usually is.
        let largest = |row: &SplitRow| row.known().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(part, _)| part);
        let tally: Vec<usize> =
            (0..self.parts.len()).map(|p| rows.iter().filter(|r| largest(r) == Some(p)).count()).collect();
        let main = (0..tally.len()).max_by_key(|&p| (tally[p], std::cmp::Reverse(p))).unwrap_or(0);
        let sizes: Vec<f64> = rows.iter().filter_map(|r| r.parts_us.get(main).copied().flatten()).collect();
        let finding = match stats::median(&sizes) {
            Some(usual) if rows.len() == 1 => format!(
                "The largest part of {} is \u{201c}{}\u{201d}: {}.",
                rows[0].label,
                self.parts[main].label,
                time_us(usual)
            ),
            Some(usual) => format!(
                "In {} of {} the largest part is \u{201c}{}\u{201d}: {} in the median wait.",
                tally[main],
                text::counted(rows.len(), "wait"),
                self.parts[main].label,
                time_us(usual)
            ),
            None => String::new(),
        };
        let detail = rows.iter().map(|r| format!("{}.", self.tip(r))).collect::<Vec<_>>().join(" ");
        let caveat = if clipped > 0 {
            let verb = if clipped == 1 { "is" } else { "are" };
            format!("{} {verb} cut at the right edge; the label gives the whole.", text::counted(clipped, "bar"))
        } else {
            String::new()
        };
        Words { heading: HEADING, finding, detail, caveat }
    }
}

/// The axis shows all bars in full, unless a few are more than five times the median bar; those are cut. Third: how many.
fn range(rows: &[&SplitRow]) -> (f64, f64, usize) {
    let low = rows.iter().map(|r| r.reach().0).fold(0.0, f64::min);
    let reaches = stats::sorted(&rows.iter().map(|r| r.reach().1).collect::<Vec<_>>());
    let top = reaches[reaches.len() - 1];
    let usual = 5.0 * stats::quantile(&reaches, 0.5).unwrap_or(top);
    let whole = reaches.iter().copied().filter(|r| *r <= usual).fold(0.0, f64::max);
    let high = if top > usual && whole > 0.0 { whole * 1.35 } else { top };
    let clipped = reaches.iter().filter(|r| **r > high).count();
    (low, high.max(1e-3), clipped)
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn bars(rows: Vec<SplitRow>) -> SplitBars {
        let parts = [("slack <&\">", true), ("run queue", true), ("return", true), ("unattributed", false)];
        let parts = parts.map(|(label, attributed)| SplitPart { label: label.to_owned(), attributed }).to_vec();
        SplitBars { frame: Frame::new("b"), parts, rows }
    }

    fn row(label: &str, parts_us: [f64; 4]) -> SplitRow {
        SplitRow { label: label.to_owned(), parts_us: parts_us.map(Some).to_vec(), total_us: parts_us.iter().sum() }
    }

    #[test]
    fn names_the_part_that_dominates() {
        let p = bars(vec![
            row("a", [50.0, 8.0, 4.0, 4.0]),
            row("b", [52.0, 8.0, 4.0, 0.0]),
            row("c", [1.0, 8.0, 4.0, 0.0]),
        ]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(
            svg.contains(
                "In 2 of 3\u{a0}waits the largest part is \u{201c}slack &lt;&amp;&quot;&gt;\u{201d}: 50\u{a0}µs"
            ),
            "{svg}"
        );
        assert!(svg.contains("+66\u{a0}µs"));
    }

    #[test]
    fn early_waits_go_left_of_zero_and_unknown_parts_are_not_zero() {
        let mut early = row("early", [-30.0, 2.0, 0.0, 0.0]);
        early.parts_us[2] = None;
        let svg = bars(vec![early]).svg();
        well_formed(&svg);
        assert!(svg.contains("−28\u{a0}µs") && svg.contains("return unknown"));
    }

    #[test]
    fn one_giant_does_not_flatten_the_rest() {
        let mut rows: Vec<SplitRow> = (0..9).map(|i| row(&format!("w{i}"), [50.0, 8.0, 4.0, 1.0])).collect();
        rows.push(row("giant", [1e8, 0.0, 0.001, 0.0]));
        let svg = bars(rows).svg();
        well_formed(&svg);
        assert!(svg.contains("1\u{a0}bar is cut") && svg.contains("+100\u{a0}s"));
    }

    #[test]
    fn empty_and_broken() {
        for rows in [vec![], vec![row("x", [f64::NAN; 4])], vec![SplitRow::default()]] {
            let svg = bars(rows).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        well_formed(&SplitBars::default().svg());
    }
}
